/* Parts of a file by shares of its bytes, moved to the next beginning of a line. */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "bulk/bulk.h"

enum { BLOCK = 1 << 16 };

static ganz_status refuse_compressed(int file, const char *path, uint64_t bytes, ganz_error *err)
{
    unsigned char first[6] = {0};
    GANZ_TRY(ganz_file_read(file, path, 0, first, bytes < sizeof first ? (size_t)bytes : sizeof first, err));
    const bool packed = memcmp(first, "\x1F\x8B", 2) == 0 || memcmp(first, "\3757zXZ", 6) == 0 ||
                        memcmp(first, "\x28\xB5\x2F\xFD", 4) == 0;
    if (!packed) return GANZ_OK;
    return ganz_fail(err, GANZ_EINVAL, "%s is compressed: parts need a plain file", path);
}

/* The first byte at `place` or behind it that begins a line, or the end of the file. */
static ganz_status next_line(int file, const char *path, unsigned long long place, unsigned long long end,
                             unsigned long long *begin, ganz_error *err)
{
    char block[BLOCK];
    *begin = place;
    if (place == 0) return GANZ_OK;
    for (unsigned long long at = place - 1; at < end;) {
        const size_t bytes = end - at < sizeof block ? (size_t)(end - at) : sizeof block;
        GANZ_TRY(ganz_file_read(file, path, at, block, bytes, err));
        const char *const newline = memchr(block, '\n', bytes);
        *begin = at + (newline ? (size_t)(newline - block) + 1 : bytes);
        if (newline) return GANZ_OK;
        at += bytes;
    }
    *begin = end;
    return GANZ_OK;
}

/* bytes * number / count without a product that overflows. */
static unsigned long long share(unsigned long long bytes, unsigned long long number, unsigned long long count)
{
    return bytes / count * number + bytes % count * number / count;
}

ganz_status ganz_part_find(ganz_part *part, const char *input, long long number, long long count, ganz_error *err)
{
    int file;
    *part = (ganz_part){.number = number, .count = count};
    if (count < 1 || count > GANZ_BULK_PARTS || number < 1 || number > count)
        return ganz_fail(err, GANZ_EINVAL, "there is no part %lld of %lld: parts are 1 to N, N at most %d", number,
                         count, GANZ_BULK_PARTS);
    uint64_t all = 0;
    GANZ_TRY(ganz_file_open(&file, input, err));
    const unsigned long long n = (unsigned long long)number, of = (unsigned long long)count;
    ganz_status status = ganz_file_size(file, input, &all, err);
    part->input_bytes = all;
    if (status == GANZ_OK) status = refuse_compressed(file, input, all, err);
    if (status == GANZ_OK) status = next_line(file, input, share(all, n - 1, of), all, &part->begin, err);
    if (status == GANZ_OK) status = next_line(file, input, share(all, n, of), all, &part->end, err);
    ganz_file_close(&file);
    return status;
}

ganz_status ganz_part_name(const ganz_part *part, const char *stem, const char *suffix, char *name, size_t room,
                           ganz_error *err)
{
    const int length = snprintf(name, room, "%s.part-%lld-of-%lld%s", stem, part->number, part->count, suffix);
    if (length > 0 && (size_t)length < room) return GANZ_OK;
    return ganz_fail(err, GANZ_ELIMIT, "the name of a part of %s is too long", stem);
}
