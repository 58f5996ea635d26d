/* Keys are compared in a time that does not tell how much of one was right. */
#include "keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ganz/io.h"

enum { MOST_KEYS = 10000, KEY_BYTES = 128 };

struct keys {
    char (*key)[KEY_BYTES];
    int count;
};

static ganz_status add_key(keys *k, const char *line, size_t bytes, const char *path, ganz_error *err)
{
    size_t length = 0;
    while (length < bytes && !strchr(" \t\r", line[length])) length++;
    if (length == 0 || line[0] == '#') return GANZ_OK;
    *err = (ganz_error){.status = GANZ_EFORMAT};
    snprintf(err->message, sizeof err->message,
             "%.200s: a key has more than %d letters, or there are more than %d keys", path, KEY_BYTES - 1, MOST_KEYS);
    if (length >= KEY_BYTES || k->count == MOST_KEYS) return GANZ_EFORMAT;
    char(*const more)[KEY_BYTES] = realloc(k->key, (size_t)(k->count + 1) * sizeof *more);
    if (!more) return err->status = GANZ_ENOMEM;
    k->key = more;
    memset(more[k->count], 0, KEY_BYTES);
    memcpy(more[k->count++], line, length);
    return GANZ_OK;
}

ganz_status keys_open(keys **all, const char *path, ganz_error *err)
{
    ganz_lines *lines;
    *all = NULL;
    ganz_status status = ganz_lines_open(&lines, path, err);
    if (status != GANZ_OK) return status;
    keys *const k = *all = calloc(1, sizeof *k);
    if (!k) {
        *err = (ganz_error){.status = GANZ_ENOMEM, .message = "out of memory for keys"};
        status = GANZ_ENOMEM;
    }
    for (size_t mark = 3; status == GANZ_OK; mark = 0) { /* some editors begin with one of the byte order */
        const char *line;
        size_t bytes;
        status = ganz_lines_next(lines, &line, &bytes, err);
        if (status != GANZ_OK || !line) break;
        if (bytes < mark || memcmp(line, "\xEF\xBB\xBF", mark) != 0) mark = 0;
        status = add_key(k, line + mark, bytes - mark, path, err);
    }
    ganz_lines_close(&lines);
    if (status != GANZ_OK) keys_close(all);
    return status;
}

void keys_close(keys **all)
{
    keys *const k = *all;
    *all = NULL;
    if (!k) return;
    free(k->key);
    free(k);
}

bool keys_know(const keys *k, const char *key, uint64_t *client)
{
    char padded[KEY_BYTES] = "";
    const size_t bytes = strlen(key);
    bool known = false;
    if (bytes == 0 || bytes >= KEY_BYTES) return false;
    memcpy(padded, key, bytes);
    for (int i = 0; i < k->count; i++) {
        volatile unsigned char different = 0;
        for (int j = 0; j < KEY_BYTES; j++) different |= (unsigned char)(padded[j] ^ k->key[i][j]);
        if (!different) *client = UINT64_C(3) << 62 | (uint64_t)i;
        known |= !different;
    }
    return known;
}
