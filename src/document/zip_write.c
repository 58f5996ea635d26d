/* Writes a zip archive anew: bytes between changed records are copied as they are, and the directory with new places.
 */
#include <string.h>
#include <zlib.h>

#include "document/zip_parts.h"

enum { ZIP64_FIELD = 1 }; /* of a header's extra fields: holds the sizes that are all ones in the header */

/* ---- packing ------------------------------------------------------------------------------------ */

static ganz_status deflate_member(zip_member *m, const void *data, size_t bytes, ganz_error *err)
{
    z_stream s = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)bytes};
    if (deflateInit2(&s, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    const uLong room = deflateBound(&s, (uLong)bytes);
    m->fresh = ganz_alloc(room, 1);
    if (!m->fresh) {
        deflateEnd(&s);
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for %s", m->name);
    }
    s.next_out = m->fresh;
    s.avail_out = (uInt)room;
    const int result = deflate(&s, Z_FINISH);
    m->fresh_packed = s.total_out;
    deflateEnd(&s);
    GANZ_ASSERT_ALWAYS(result == Z_STREAM_END); /* the bound was wrong */
    return GANZ_OK;
}

static ganz_status store_member(zip_member *m, const void *data, size_t bytes, ganz_error *err)
{
    m->fresh = ganz_alloc(bytes, 1);
    if (!m->fresh) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %s", m->name);
    if (bytes) memcpy(m->fresh, data, bytes);
    m->fresh_packed = bytes;
    return GANZ_OK;
}

ganz_status ganz_zip_replace(ganz_zip *zip, int member, const void *data, size_t bytes, ganz_error *err)
{
    zip_member *const m = &zip->members[member];
    if (bytes > (size_t)1 << 30) return ganz_fail(err, GANZ_ELIMIT, "%s would be over 1 GiB", m->name);
    ganz_free(m->fresh);
    m->fresh = NULL;
    GANZ_TRY((m->method == ZIP_STORED ? store_member : deflate_member)(m, data, bytes, err));
    m->fresh_size = bytes;
    m->fresh_crc = (uint32_t)crc32(crc32(0, NULL, 0), data, (uInt)bytes);
    return GANZ_OK;
}

/* ---- writing ------------------------------------------------------------------------------------ */

typedef struct sink {
    unsigned char *at; /* NULL: only counts */
    size_t bytes;
} sink;

static unsigned char *put(sink *s, const void *data, size_t bytes)
{
    unsigned char *const place = s->at ? s->at + s->bytes : NULL;
    if (place && bytes) memcpy(place, data, bytes);
    s->bytes += bytes;
    return place;
}

/* Extra fields without the one that would hold sizes of old. Fields that do not add up are copied as they are. */
static size_t put_extra(sink *s, const unsigned char *extra, size_t bytes)
{
    const size_t before = s->bytes;
    size_t at = 0;
    while (bytes - at >= 4) {
        const size_t whole = 4 + (size_t)zip_u16(extra + at + 2);
        if (whole > bytes - at) break;
        if (zip_u16(extra + at) != ZIP64_FIELD) put(s, extra + at, whole);
        at += whole;
    }
    put(s, extra + at, bytes - at);
    return s->bytes - before;
}

static void put_fresh_record(sink *s, const ganz_zip *z, const zip_member *m)
{
    const unsigned char *const old = z->bytes + m->record;
    unsigned char *const header = put(s, old, ZIP_LOCAL_BYTES + m->name_bytes);
    const size_t extra = put_extra(s, old + ZIP_LOCAL_BYTES + m->name_bytes, zip_u16(old + LOCAL_EXTRA));
    put(s, m->fresh, m->fresh_packed);
    if (!header) return;
    zip_put16(header + LOCAL_FLAGS, zip_u16(old + LOCAL_FLAGS) & ~(unsigned)ZIP_FLAG_DESCRIPTOR);
    zip_put32(header + LOCAL_CRC, m->fresh_crc);
    zip_put32(header + LOCAL_PACKED, (uint32_t)m->fresh_packed);
    zip_put32(header + LOCAL_SIZE, (uint32_t)m->fresh_size);
    zip_put16(header + LOCAL_EXTRA, (unsigned)extra);
}

static void put_entry(sink *s, const ganz_zip *z, const zip_member *m, size_t place)
{
    unsigned char *const entry = put(s, z->bytes + m->entry, m->entry_bytes);
    if (!entry) return;
    zip_put32(entry + ENTRY_OFFSET, (uint32_t)place);
    if (!m->fresh) return;
    zip_put16(entry + ENTRY_FLAGS, m->flags & ~(unsigned)ZIP_FLAG_DESCRIPTOR);
    zip_put32(entry + ENTRY_CRC, m->fresh_crc);
    zip_put32(entry + ENTRY_PACKED, (uint32_t)m->fresh_packed);
    zip_put32(entry + ENTRY_SIZE, (uint32_t)m->fresh_size);
}

/* Places of the records go to places[], by member. What stands between directory and end (zip64's copy of the end)
 * would tell old places and is left out. */
static void put_archive(sink *s, const ganz_zip *z, size_t *places)
{
    size_t at = 0;
    for (int i = 0; i < z->count; i++) {
        const zip_member *const m = &z->members[z->by_place[i]];
        put(s, z->bytes + at, m->record - at);
        places[z->by_place[i]] = s->bytes;
        if (m->fresh) put_fresh_record(s, z, m);
        else put(s, z->bytes + m->record, m->end - m->record);
        at = m->end;
    }
    put(s, z->bytes + at, z->directory - at);
    const size_t directory = s->bytes;
    for (int i = 0; i < z->count; i++) put_entry(s, z, &z->members[i], places[i]);
    const size_t directory_bytes = s->bytes - directory;
    unsigned char *const end = put(s, z->bytes + z->end, z->total - z->end);
    if (!end) return;
    zip_put32(end + END_BYTES, (uint32_t)directory_bytes);
    zip_put32(end + END_OFFSET, (uint32_t)directory);
}

static bool is_changed(const ganz_zip *z)
{
    for (int i = 0; i < z->count; i++)
        if (z->members[i].fresh) return true;
    return false;
}

static void put_all(sink *s, const ganz_zip *z, size_t *places)
{
    if (is_changed(z)) put_archive(s, z, places);
    else put(s, z->bytes, z->total);
}

ganz_status ganz_zip_write(const ganz_zip *zip, unsigned char **data, size_t *bytes, ganz_error *err)
{
    sink s = {NULL, 0};
    *data = NULL;
    size_t *const places = ganz_alloc((size_t)zip->count, sizeof *places);
    if (!places) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    put_all(&s, zip, places);
    ganz_status status = GANZ_OK;
    if (s.bytes >= UINT32_MAX) status = ganz_fail(err, GANZ_ELIMIT, "the result would be over 4 GiB");
    else if (!(s.at = ganz_alloc(s.bytes, 1))) status = ganz_fail(err, GANZ_ENOMEM, "out of memory for the result");
    if (status == GANZ_OK) {
        *bytes = s.bytes;
        s.bytes = 0;
        put_all(&s, zip, places);
        *data = s.at;
    }
    ganz_free(places);
    return status;
}
