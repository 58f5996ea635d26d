/* Reads zip archives: the end first, then the directory, then each record against its entry. Everything that two
 * readers could understand in two ways (duplicate names, overlapping records, headers that disagree) is refused. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "document/zip_parts.h"

const ganz_zip_limits ganz_zip_default_limits = {(size_t)64 << 20, 2000, 256};

enum { RATIO_FREE = 1 << 20 }; /* below this size any ratio is harmless */

bool ganz_zip_looks_like(const void *data, size_t bytes) { return bytes >= 4 && memcmp(data, "PK\3\4", 4) == 0; }

static bool has_signature(const ganz_zip *z, size_t at, const char *signature)
{
    return z->total >= 4 && at <= z->total - 4 && memcmp(z->bytes + at, signature, 4) == 0;
}

/* ---- the end ------------------------------------------------------------------------------------ */

/* The end stands before a comment of at most 65,535 bytes that reaches to the end of the file. */
static ganz_status find_end(ganz_zip *z, ganz_error *err)
{
    const size_t most = ZIP_END_BYTES + 65535;
    const size_t stop = z->total > most ? z->total - most : 0;
    for (size_t at = z->total < ZIP_END_BYTES ? 0 : z->total - ZIP_END_BYTES + 1; at-- > stop;) {
        if (!has_signature(z, at, "PK\5\6")) continue;
        if (at + ZIP_END_BYTES + zip_u16(z->bytes + at + END_COMMENT) != z->total) continue;
        z->end = at;
        return GANZ_OK;
    }
    return ganz_fail(err, GANZ_EFORMAT, "this is no zip archive, or one that was cut short: its directory is missing");
}

static ganz_status read_end(ganz_zip *z, ganz_error *err)
{
    const unsigned char *const end = z->bytes + z->end;
    const unsigned here = zip_u16(end + END_HERE), total = zip_u16(end + END_TOTAL);
    const uint32_t bytes = zip_u32(end + END_BYTES), offset = zip_u32(end + END_OFFSET);
    if (total == 0xFFFF || bytes == UINT32_MAX || offset == UINT32_MAX)
        return ganz_fail(err, GANZ_EUNSUPPORTED,
                         "this is a zip64 archive, which only more than 4 GiB or 65,535 members need");
    if (zip_u16(end + END_DISK) != 0 || zip_u16(end + END_START_DISK) != 0 || here != total)
        return ganz_fail(err, GANZ_EFORMAT, "this is one part of a zip archive in several parts");
    if (total > (unsigned)z->limits.members)
        return ganz_fail(err, GANZ_ELIMIT, "the zip archive has %u members, more than the %d allowed", total,
                         z->limits.members);
    if (offset > z->end || bytes > z->end - offset)
        return ganz_fail(err, GANZ_EFORMAT, "the zip directory is said to lie beyond the end of the file");
    z->directory = offset;
    z->directory_bytes = bytes;
    z->count = (int)total;
    return GANZ_OK;
}

/* ---- the directory ------------------------------------------------------------------------------ */

static bool good_segment(const char *segment, size_t bytes)
{
    return !(bytes == 2 && segment[0] == '.' && segment[1] == '.');
}

static bool good_name(const char *name, size_t bytes)
{
    if (bytes == 0 || name[0] == '/') return false;
    size_t begin = 0;
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)name[i];
        if (c < 0x20 || c == 0x7F) return false;
        if (c != '/' && c != '\\') continue;
        if (!good_segment(name + begin, i - begin)) return false;
        begin = i + 1;
    }
    return good_segment(name + begin, bytes - begin);
}

static ganz_status check_entry(const zip_member *m, const unsigned char *entry, ganz_error *err)
{
    if (m->flags & ZIP_FLAG_ENCRYPTED)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "%s is encrypted: save the document without a password", m->name);
    if (m->method != ZIP_STORED && m->method != ZIP_DEFLATED)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "%s is packed by method %u, where documents have 0 or 8", m->name,
                         m->method);
    if (m->packed == UINT32_MAX || m->size == UINT32_MAX || m->record == UINT32_MAX)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "%s has zip64 sizes, which only more than 4 GiB need", m->name);
    if (zip_u16(entry + ENTRY_DISK) != 0)
        return ganz_fail(err, GANZ_EFORMAT, "%s lies in another part of the archive", m->name);
    if (m->method == ZIP_STORED && m->packed != m->size)
        return ganz_fail(err, GANZ_EFORMAT, "%s is stored but has two sizes", m->name);
    return GANZ_OK;
}

static ganz_status read_entry(ganz_zip *z, zip_member *m, size_t *at, ganz_error *err)
{
    const size_t left = z->directory + z->directory_bytes - *at;
    const unsigned char *const entry = z->bytes + *at;
    if (left < ZIP_ENTRY_BYTES || memcmp(entry, "PK\1\2", 4) != 0)
        return ganz_fail(err, GANZ_EFORMAT, "the zip directory is damaged at byte %zu", *at);
    m->name_bytes = zip_u16(entry + ENTRY_NAME);
    m->entry = *at;
    m->entry_bytes = ZIP_ENTRY_BYTES + m->name_bytes + zip_u16(entry + ENTRY_EXTRA) + zip_u16(entry + ENTRY_COMMENT);
    if (left < m->entry_bytes || !good_name((const char *)entry + ZIP_ENTRY_BYTES, m->name_bytes))
        return ganz_fail(err, GANZ_EFORMAT, "the zip directory has no proper name at byte %zu", *at);
    m->name = ganz_alloc(m->name_bytes + 1, 1);
    if (!m->name) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    memcpy(m->name, entry + ZIP_ENTRY_BYTES, m->name_bytes);
    m->flags = zip_u16(entry + ENTRY_FLAGS);
    m->method = zip_u16(entry + ENTRY_METHOD);
    m->crc = zip_u32(entry + ENTRY_CRC);
    m->packed = zip_u32(entry + ENTRY_PACKED);
    m->size = zip_u32(entry + ENTRY_SIZE);
    m->record = zip_u32(entry + ENTRY_OFFSET);
    *at += m->entry_bytes;
    return check_entry(m, entry, err);
}

static ganz_status read_directory(ganz_zip *z, ganz_error *err)
{
    size_t at = z->directory;
    z->members = ganz_alloc((size_t)z->count, sizeof *z->members);
    z->by_name = ganz_alloc((size_t)z->count, sizeof *z->by_name);
    z->by_place = ganz_alloc((size_t)z->count, sizeof *z->by_place);
    if (!z->members || !z->by_name || !z->by_place) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    for (int i = 0; i < z->count; i++) GANZ_TRY(read_entry(z, &z->members[i], &at, err));
    if (at != z->directory + z->directory_bytes)
        return ganz_fail(err, GANZ_EFORMAT, "the zip directory is longer than its entries");
    return GANZ_OK;
}

/* ---- records ------------------------------------------------------------------------------------ */

/* A descriptor repeats checksum and sizes after the data, with or without a signature, in 32 or 64 bits. */
static size_t descriptor_bytes(const ganz_zip *z, const zip_member *m, size_t at)
{
    for (int form = 0; form < 4; form++) {
        const bool wide = form & 2;
        const size_t signature = form & 1 ? 0 : 4, number = wide ? 8 : 4, bytes = signature + 4 + 2 * number;
        if (z->directory < at || z->directory - at < bytes) continue;
        const unsigned char *const d = z->bytes + at + signature;
        if (signature && !has_signature(z, at, "PK\7\10")) continue;
        if (zip_u32(d) != m->crc || zip_u32(d + 4) != m->packed || zip_u32(d + 4 + number) != m->size) continue;
        if (wide && (zip_u32(d + 8) != 0 || zip_u32(d + 16) != 0)) continue;
        return bytes;
    }
    return 0;
}

/* Sizes in the header are zero where a descriptor follows, and all ones where a zip64 field holds them. */
static bool header_agrees(const zip_member *m, const unsigned char *header)
{
    if (zip_u16(header + LOCAL_METHOD) != m->method) return false;
    if ((zip_u16(header + LOCAL_FLAGS) ^ m->flags) & (ZIP_FLAG_ENCRYPTED | ZIP_FLAG_DESCRIPTOR)) return false;
    const uint32_t crc = zip_u32(header + LOCAL_CRC), packed = zip_u32(header + LOCAL_PACKED),
                   size = zip_u32(header + LOCAL_SIZE);
    const bool later = m->flags & ZIP_FLAG_DESCRIPTOR;
    return (crc == m->crc || (later && crc == 0)) &&
           (packed == m->packed || packed == UINT32_MAX || (later && packed == 0)) &&
           (size == m->size || size == UINT32_MAX || (later && size == 0));
}

static ganz_status read_record(const ganz_zip *z, zip_member *m, ganz_error *err)
{
    const unsigned char *const header = z->bytes + m->record;
    if (m->record > z->directory || z->directory - m->record < ZIP_LOCAL_BYTES ||
        !has_signature(z, m->record, "PK\3\4"))
        return ganz_fail(err, GANZ_EFORMAT, "%s is not where the zip directory says", m->name);
    const size_t name_bytes = zip_u16(header + LOCAL_NAME);
    const size_t before = ZIP_LOCAL_BYTES + name_bytes + zip_u16(header + LOCAL_EXTRA), room = z->directory - m->record;
    if (before > room || m->packed > room - before)
        return ganz_fail(err, GANZ_EFORMAT, "%s reaches into the zip directory", m->name);
    if (name_bytes != m->name_bytes || memcmp(header + ZIP_LOCAL_BYTES, m->name, name_bytes) != 0 ||
        !header_agrees(m, header))
        return ganz_fail(err, GANZ_EFORMAT, "the header of %s and the zip directory disagree", m->name);
    m->data = m->record + before;
    m->end = m->data + m->packed;
    if (m->flags & ZIP_FLAG_DESCRIPTOR) {
        const size_t more = descriptor_bytes(z, m, m->end);
        if (more == 0) return ganz_fail(err, GANZ_EFORMAT, "what follows the data of %s is damaged", m->name);
        m->end += more;
    }
    return GANZ_OK;
}

/* ---- order -------------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(const zip_member *const *)a)->name, (*(const zip_member *const *)b)->name);
}

static int compare_places(const void *a, const void *b)
{
    const zip_member *const x = *(const zip_member *const *)a, *const y = *(const zip_member *const *)b;
    return (x->record > y->record) - (x->record < y->record);
}

static void sort_members(const ganz_zip *z, const zip_member **order, int *numbers,
                         int (*compare)(const void *, const void *))
{
    for (int i = 0; i < z->count; i++) order[i] = &z->members[i];
    qsort(order, (size_t)z->count, sizeof(const zip_member *), compare);
    for (int i = 0; i < z->count; i++) numbers[i] = (int)(order[i] - z->members);
}

static ganz_status order_members(ganz_zip *z, ganz_error *err)
{
    const zip_member **const order = ganz_alloc((size_t)z->count, sizeof(const zip_member *));
    if (!order) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    sort_members(z, order, z->by_name, compare_names);
    ganz_status status = GANZ_OK;
    for (int i = 1; i < z->count && status == GANZ_OK; i++)
        if (strcmp(order[i - 1]->name, order[i]->name) == 0)
            status = ganz_fail(err, GANZ_EFORMAT, "two members are called %s", order[i]->name);
    sort_members(z, order, z->by_place, compare_places);
    for (int i = 1; i < z->count && status == GANZ_OK; i++)
        if (order[i]->record < order[i - 1]->end)
            status = ganz_fail(err, GANZ_EFORMAT, "%s and %s overlap", order[i - 1]->name, order[i]->name);
    ganz_free(order);
    return status;
}

/* ---- opening ------------------------------------------------------------------------------------ */

static ganz_status open_archive(ganz_zip *z, ganz_error *err)
{
    GANZ_TRY(find_end(z, err));
    GANZ_TRY(read_end(z, err));
    GANZ_TRY(read_directory(z, err));
    for (int i = 0; i < z->count; i++) GANZ_TRY(read_record(z, &z->members[i], err));
    return order_members(z, err);
}

ganz_status ganz_zip_open(ganz_zip **zip, const void *data, size_t bytes, const ganz_zip_limits *limits,
                          ganz_error *err)
{
    *zip = ganz_alloc(1, sizeof **zip);
    if (!*zip) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    (*zip)->bytes = data;
    (*zip)->total = bytes;
    (*zip)->limits = limits ? *limits : ganz_zip_default_limits;
    const ganz_status status = open_archive(*zip, err);
    if (status != GANZ_OK) ganz_zip_close(zip);
    return status;
}

void ganz_zip_close(ganz_zip **zip)
{
    if (!*zip) return;
    for (int i = 0; i < (*zip)->count && (*zip)->members; i++) {
        ganz_free((*zip)->members[i].name);
        ganz_free((*zip)->members[i].fresh);
    }
    ganz_free((*zip)->members);
    ganz_free((*zip)->by_name);
    ganz_free((*zip)->by_place);
    ganz_free(*zip);
    *zip = NULL;
}

/* ---- members ------------------------------------------------------------------------------------ */

int ganz_zip_count(const ganz_zip *zip) { return zip->count; }
const char *ganz_zip_name(const ganz_zip *zip, int member) { return zip->members[member].name; }
size_t ganz_zip_size(const ganz_zip *zip, int member) { return zip->members[member].size; }
bool ganz_zip_stored(const ganz_zip *zip, int member) { return zip->members[member].method == ZIP_STORED; }

int ganz_zip_find(const ganz_zip *zip, const char *name)
{
    int low = 0, high = zip->count - 1;
    while (low <= high) {
        const int middle = low + (high - low) / 2, order = strcmp(name, zip->members[zip->by_name[middle]].name);
        if (order == 0) return zip->by_name[middle];
        if (order < 0) high = middle - 1;
        else low = middle + 1;
    }
    return -1;
}

static ganz_status check_size(const ganz_zip *z, const zip_member *m, ganz_error *err)
{
    if (m->size > z->limits.unpacked - z->unpacked)
        return ganz_fail(err, GANZ_ELIMIT, "with %s the text to unpack is over %zu MiB", m->name,
                         z->limits.unpacked >> 20);
    if (m->size > RATIO_FREE && m->size / (size_t)z->limits.ratio > m->packed)
        return ganz_fail(err, GANZ_ELIMIT, "%s would unpack to over %d times its size", m->name, z->limits.ratio);
    return GANZ_OK;
}

/* The output has one byte more than the directory promises, so that a stream that is longer is seen to be. */
static bool inflate_member(const ganz_zip *z, const zip_member *m, char *out)
{
    z_stream s = {.next_in = (Bytef *)(uintptr_t)(z->bytes + m->data), .avail_in = (uInt)m->packed};
    if (inflateInit2(&s, -MAX_WBITS) != Z_OK) return false;
    s.next_out = (Bytef *)out;
    s.avail_out = (uInt)(m->size + 1);
    const int result = inflate(&s, Z_FINISH);
    const bool whole = result == Z_STREAM_END && s.avail_in == 0 && s.avail_out == 1;
    inflateEnd(&s);
    return whole;
}

ganz_status ganz_zip_claim(ganz_zip *zip, int member, size_t *bytes, ganz_error *err)
{
    const zip_member *const m = &zip->members[member];
    GANZ_TRY(check_size(zip, m, err));
    zip->unpacked += m->size;
    *bytes = m->size;
    return GANZ_OK;
}

static ganz_status check_sum(const zip_member *m, const void *data, bool whole, ganz_error *err)
{
    if (whole && crc32(crc32(0, NULL, 0), data, (uInt)m->size) == m->crc) return GANZ_OK;
    return ganz_fail(err, GANZ_EFORMAT, "%s is damaged: it does not unpack to what its checksum says", m->name);
}

ganz_status ganz_zip_read(const ganz_zip *zip, int member, char *out, ganz_error *err)
{
    const zip_member *const m = &zip->members[member];
    bool whole = true;
    if (m->method == ZIP_STORED) memcpy(out, zip->bytes + m->data, m->size);
    else whole = inflate_member(zip, m, out);
    GANZ_TRY(check_sum(m, out, whole, err));
    out[m->size] = '\0';
    return GANZ_OK;
}

ganz_status ganz_zip_peek(const ganz_zip *zip, int member, const unsigned char **data, ganz_error *err)
{
    const zip_member *const m = &zip->members[member];
    GANZ_ASSERT(m->method == ZIP_STORED);
    *data = zip->bytes + m->data;
    return check_sum(m, *data, true, err);
}
