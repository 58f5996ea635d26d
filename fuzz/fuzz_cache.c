/* Any bytes as a cache of translations: it is refused, or what it has is found, and what is added is found when it is
 * opened again. The first byte says whether the rest is the file, or records that get the right sums. */
#define _GNU_SOURCE /* memfd_create */
#include <string.h>

#include "base/io.h"
#include "ganz/document.h"
#include "memory_file.h"

enum { WHOLE_FILE = 255, MOST_FILE = 1 << 16, HEAD = 24, MAGIC = 16 };

/* A model's path: the same bytes each time. */
static const char *model_path(void)
{
    static char path[32];
    if (path[0]) return path;
    const int fd = memfd_create("model", MFD_CLOEXEC);
    FUZZ_EXPECT(fd >= 0 && write(fd, "model", 5) == 5);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

/* Records of at most 255 bytes: one byte says how long, the rest of a record is as it comes, its sum is right. */
static size_t make_file(const uint8_t *data, size_t bytes, uint8_t *file)
{
    size_t n = MAGIC;
    memcpy(file, "ganz cache 1\n\0\0\0", MAGIC);
    while (bytes > 1 && n + 512 < MOST_FILE) {
        const size_t room = bytes - 1, body = data[0] < room ? data[0] : room;
        memcpy(file + n, data + 1, body);
        const uint64_t sum = ganz_checksum(file + n, body);
        memcpy(file + n + body, &sum, sizeof sum);
        n += body + sizeof sum;
        data += 1 + body;
        bytes -= 1 + body;
    }
    return n;
}

/* Finds a line and uses all that is found; true if it is there. */
static int find(ganz_cache *cache, const ganz_line *line)
{
    ganz_translation t;
    size_t sum = 0;
    FUZZ_EXPECT(ganz_cache_find(cache, line, &t, NULL) == GANZ_OK);
    for (size_t i = 0; t.text && i < t.bytes; i++) sum += (unsigned char)t.text[i];
    for (int i = 0; i < t.link_count; i++) sum += t.links[i].source_begin + t.links[i].target_end;
    return t.text ? 1 + (sum == SIZE_MAX) : 0;
}

/* Adding and opening again takes most of the time: one input in four does; a replayed one always. */
static bool adds(const uint8_t *data, size_t size)
{
#ifdef FUZZ_REPLAY
    (void)data, (void)size;
    return true;
#else
    return ganz_checksum(data, size) % 4 == 0;
#endif
}

static void use(const char *path, const char *text, size_t bytes, bool add)
{
    ganz_translator_options options;
    ganz_cache *cache;
    ganz_error err = {0};
    const ganz_line line = {.text = text, .bytes = bytes, .unlinked = true};
    const ganz_translation found = {.text = text, .bytes = bytes};
    ganz_translator_defaults(&options);
    if (ganz_cache_open(&cache, path, model_path(), &options, &err) != GANZ_OK) {
        FUZZ_EXPECT(!cache && err.message[0]);
        return;
    }
    (void)find(cache, &line);
    if (!add) {
        ganz_cache_close(&cache);
        return;
    }
    FUZZ_EXPECT(ganz_cache_add(cache, &line, &found, NULL) == GANZ_OK && ganz_cache_flush(cache, NULL) == GANZ_OK);
    ganz_cache_close(&cache);
    FUZZ_EXPECT(ganz_cache_open(&cache, path, model_path(), &options, &err) == GANZ_OK);
    FUZZ_EXPECT(find(cache, &line));
    ganz_cache_close(&cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t made[MOST_FILE];
    if (size == 0) return 0;
    const bool whole = data[0] == WHOLE_FILE;
    const size_t bytes = whole ? size - 1 : make_file(data + 1, size - 1, made);
    memory_file file = memory_file_open(whole ? data + 1 : made, bytes);
    use(file.path, (const char *)data, size < HEAD ? size : HEAD, adds(data, size));
    memory_file_close(&file);
    return 0;
}
