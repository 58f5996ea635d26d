/* Zip archives made in memory by the shortest code there is, without compression: an independent writer for tests. */
#ifndef GANZ_TESTS_ARCHIVES_H
#define GANZ_TESTS_ARCHIVES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct archive_member {
    const char *name, *data;
    size_t bytes;
} archive_member;

static inline unsigned char *archive_put(unsigned char *at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) *at++ = (unsigned char)(value >> 8 * i);
    return at;
}

/* Fields that a local header and an entry of the directory share, from the version needed to the length of extra
 * fields. */
static inline unsigned char *archive_fields(unsigned char *at, const archive_member *m)
{
    at = archive_put(at, 20, 2);         /* version */
    at = archive_put(at, 0, 2);          /* flags */
    at = archive_put(at, 0, 2);          /* stored */
    at = archive_put(at, 0x5A215000, 4); /* time and date */
    at = archive_put(at, (uint32_t)crc32(crc32(0, NULL, 0), (const unsigned char *)m->data, (unsigned)m->bytes), 4);
    at = archive_put(at, (uint32_t)m->bytes, 4);
    at = archive_put(at, (uint32_t)m->bytes, 4);
    at = archive_put(at, (uint32_t)strlen(m->name), 2);
    return archive_put(at, 0, 2);
}

/* The archive is the caller's, to be freed. */
static inline unsigned char *archive_make(const archive_member *members, int count, size_t *bytes)
{
    size_t room = 22;
    uint32_t offsets[64];
    for (int i = 0; i < count; i++) room += 76 + 2 * strlen(members[i].name) + members[i].bytes;
    unsigned char *const archive = malloc(room), *at = archive;
    if (!archive) abort();
    for (int i = 0; i < count; i++) {
        offsets[i] = (uint32_t)(at - archive);
        at = archive_fields(archive_put(at, 0x04034B50, 4), &members[i]);
        memcpy(at, members[i].name, strlen(members[i].name));
        at += strlen(members[i].name);
        if (members[i].bytes > 0) memcpy(at, members[i].data, members[i].bytes);
        at += members[i].bytes;
    }
    const uint32_t directory = (uint32_t)(at - archive);
    for (int i = 0; i < count; i++) {
        at = archive_fields(archive_put(archive_put(at, 0x02014B50, 4), 20, 2), &members[i]);
        memset(at, 0, 10); /* comment, disk, attributes */
        at = archive_put(at + 10, offsets[i], 4);
        memcpy(at, members[i].name, strlen(members[i].name));
        at += strlen(members[i].name);
    }
    const uint32_t directory_bytes = (uint32_t)(at - archive) - directory;
    at = archive_put(archive_put(at, 0x06054B50, 4), 0, 4);
    at = archive_put(archive_put(at, (uint32_t)count, 2), (uint32_t)count, 2);
    at = archive_put(archive_put(archive_put(at, directory_bytes, 4), directory, 4), 0, 2);
    *bytes = (size_t)(at - archive);
    return archive;
}

#endif
