/* Any bytes as a file of a server's keys, plain or compressed: it is refused in one line, or knows each key that a line
 * of it has, and no other. */
#define _GNU_SOURCE /* memfd_create */
#include "keys.h"

#include <string.h>

#include "memory_file.h"

enum { KEY_BYTES = 128, MOST_ASKED = 3 };

/* The key of a line by itself, or "". */
static void key_of(const char *line, size_t bytes, char key[KEY_BYTES])
{
    size_t length = 0;
    while (length < bytes && length < KEY_BYTES - 1 && line[length] && !strchr(" \t\r", line[length])) length++;
    memcpy(key, line, length);
    key[line[0] == '#' ? 0 : length] = '\0';
}

/* The keys of the first lines: to compare with all takes long on purpose. */
static void ask(const keys *all, const char *data, size_t size)
{
    const char *at = data, *const end = data + size;
    for (int i = 0; i < MOST_ASKED && at < end; i++) {
        char key[KEY_BYTES];
        uint64_t client = 0;
        const char *const stop = memchr(at, '\n', (size_t)(end - at)), *const line_end = stop ? stop : end;
        key_of(at, (size_t)(line_end - at), key);
        FUZZ_EXPECT(keys_know(all, key, &client) == (key[0] != '\0'));
        FUZZ_EXPECT(!key[0] || client >> 62 == 3);
        at = line_end + 1;
    }
}

static bool is_plain(const uint8_t *data, size_t size)
{
    static const char *const marks[] = {"\x1f\x8b", "\3757zXZ", "\x28\xb5\x2f\xfd"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (size >= strlen(marks[i]) && memcmp(data, marks[i], strlen(marks[i])) == 0) return false;
    return !memchr(data, '\0', size) && !(size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    keys *all;
    ganz_error err = {0};
    uint64_t client;
    memory_file file = memory_file_open(data, size);
    if (keys_open(&all, file.path, &err) != GANZ_OK) {
        FUZZ_EXPECT(!all && err.message[0] && !strchr(err.message, '\n'));
    } else {
        FUZZ_EXPECT(!keys_know(all, "", &client) && !keys_know(all, "not a key", &client));
        if (is_plain(data, size)) ask(all, (const char *)data, size);
    }
    keys_close(&all);
    memory_file_close(&file);
    return 0;
}
