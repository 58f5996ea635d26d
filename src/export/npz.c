/* A zip archive written from front to back: each member is in memory when it comes, so that its checksum is known
 * before its header. The directory gathers beside it. Archives of 4 GiB and more would need other headers and are
 * refused. */
#include "export/npz.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "ganz/io.h"

enum { NAME = 208, LOCAL = 30, ENTRY = 46, END = 22, MEMBERS = 65535 };

struct ganz_npz {
    ganz_output *out;
    uint64_t at; /* bytes written */
    unsigned char *directory;
    size_t bytes, capacity;
    int members;
};

static void put16(unsigned char *to, unsigned value)
{
    to[0] = (unsigned char)value;
    to[1] = (unsigned char)(value >> 8);
}

static void put32(unsigned char *to, uint32_t value)
{
    put16(to, value & 0xFFFF);
    put16(to + 2, value >> 16);
}

ganz_status ganz_npz_open(ganz_npz **npz, const char *path, ganz_error *err)
{
    ganz_npz *z = ganz_alloc(1, sizeof *z);
    *npz = NULL;
    if (!z) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    const ganz_status status = ganz_output_open(&z->out, path, err);
    if (status != GANZ_OK) ganz_npz_abandon(&z);
    *npz = z;
    return status;
}

void ganz_npz_abandon(ganz_npz **npz)
{
    ganz_npz *const z = *npz;
    *npz = NULL;
    if (!z) return;
    ganz_output_abandon(&z->out);
    ganz_free(z->directory);
    ganz_free(z);
}

static ganz_status put(ganz_npz *z, const void *data, size_t bytes, ganz_error *err)
{
    z->at += bytes;
    if (z->at > UINT32_MAX) return ganz_fail(err, GANZ_ELIMIT, "the model is too large for an archive of 4 GiB");
    return ganz_output_write(z->out, data, bytes, err);
}

/* What local headers and entries of the directory share: from the version on, 26 bytes. */
static void put_facts(unsigned char *to, uint32_t crc, uint32_t bytes, size_t name)
{
    enum { VERSION = 20, FIRST_DAY = 0x21 };
    memset(to, 0, 26);
    put16(to, VERSION);
    put16(to + 8, FIRST_DAY);
    put32(to + 10, crc);
    put32(to + 14, bytes);
    put32(to + 18, bytes);
    put16(to + 22, (unsigned)name);
}

/* The member's entry in the directory, which says where its local header is. */
static ganz_status note(ganz_npz *z, const char *name, const unsigned char *facts, ganz_error *err)
{
    const size_t n = strlen(name);
    if (z->members == MEMBERS || !ganz_grow((void **)&z->directory, &z->capacity, z->bytes + ENTRY + n, 1))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for an archive");
    unsigned char *const entry = z->directory + z->bytes;
    memset(entry, 0, ENTRY);
    put32(entry, 0x02014B50);
    put16(entry + 4, 20);
    memcpy(entry + 6, facts, 26);
    put32(entry + 42, (uint32_t)z->at);
    memcpy(entry + ENTRY, name, n);
    z->bytes += ENTRY + n;
    z->members++;
    return GANZ_OK;
}

ganz_status ganz_npz_add(ganz_npz *z, const char *name, const ganz_npy *array, ganz_error *err)
{
    char head[GANZ_NPY_HEAD], member[NAME];
    unsigned char local[LOCAL];
    size_t bytes = array->type == GANZ_NPY_F32 || array->type == GANZ_NPY_I32 ? 4 : 1;
    for (int i = 0; i < array->rank; i++) bytes *= (size_t)array->dims[i];
    if (bytes > UINT32_MAX - GANZ_NPY_HEAD) return ganz_fail(err, GANZ_ELIMIT, "%s is too large for an archive", name);
    snprintf(member, sizeof member, "%s.npy", name);
    ganz_npy_head(array, head);
    uLong crc = crc32(crc32(0, NULL, 0), (const Bytef *)head, GANZ_NPY_HEAD);
    crc = crc32(crc, array->data, (uInt)bytes);
    put32(local, 0x04034B50);
    put_facts(local + 4, (uint32_t)crc, (uint32_t)bytes + GANZ_NPY_HEAD, strlen(member));
    GANZ_TRY(note(z, member, local + 4, err));
    GANZ_TRY(put(z, local, LOCAL, err));
    GANZ_TRY(put(z, member, strlen(member), err));
    GANZ_TRY(put(z, head, GANZ_NPY_HEAD, err));
    return put(z, array->data, bytes, err);
}

ganz_status ganz_npz_finish(ganz_npz **npz, ganz_error *err)
{
    ganz_npz *const z = *npz;
    unsigned char end[END] = {0};
    put32(end, 0x06054B50);
    put16(end + 8, (unsigned)z->members);
    put16(end + 10, (unsigned)z->members);
    put32(end + 12, (uint32_t)z->bytes);
    put32(end + 16, (uint32_t)z->at);
    ganz_status status = put(z, z->directory, z->bytes, err);
    if (status == GANZ_OK) status = put(z, end, END, err);
    if (status == GANZ_OK) status = ganz_output_finish(&z->out, err);
    ganz_npz_abandon(npz);
    return status;
}
