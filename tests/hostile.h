/* Input that makes bad parsers slow, one part, a million bytes of it; and documents of random parts. */
#ifndef GANZ_TESTS_HOSTILE_H
#define GANZ_TESTS_HOSTILE_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "document/format.h"
#include "skeletons.h"

/* Reads before + part * n + after. What takes quadratic time takes minutes; ten seconds of the processor are enough for
 * any build on any machine otherwise. */
static inline void expect_quick(const ganz_format *format, const char *before, const char *part, const char *after)
{
    const ganz_format_options options = {"en", "de", GANZ_BREAK_LINES, true};
    const size_t bytes = 1000000, length = strlen(part);
    char *const text = malloc(bytes + strlen(before) + length + strlen(after) + 1);
    ganz_skeleton *skeleton;
    ganz_error err;
    size_t at = strlen(before);
    memcpy(text, before, at);
    for (; at < bytes; at += length) memcpy(text + at, part, length);
    memcpy(text + at, after, strlen(after));
    assert_int_equal(ganz_skeleton_open(&skeleton, &err), GANZ_OK);
    const clock_t begin = clock();
    assert_int_equal(format->read(skeleton, text, at + strlen(after), &options, &err), GANZ_OK);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (seconds > 10) fail_msg("a million bytes of \"%s\" took %.1f s", part, seconds);
    ganz_skeleton_close(&skeleton);
    free(text);
}

/* Documents of a format made of random parts come back byte for byte. */
static inline void expect_any_bytes_come_back(const ganz_format *format, const char *const *parts, uint32_t part_count)
{
    for (uint32_t i = 0; i < 20000; i++) {
        char text[1024];
        size_t bytes = 0;
        const uint32_t count = ganz_random_below(1, 1, i, 24);
        for (uint32_t k = 0; k < count; k++) {
            const char *const part = parts[ganz_random_below(2, i, k, part_count)];
            memcpy(text + bytes, part, strlen(part));
            bytes += strlen(part);
        }
        ganz_text out = {0};
        ganz_error err;
        if (fake_document(&out, format, text, bytes, i % 2, fake_identity, &err) != GANZ_OK)
            fail_msg("%.*s: %s", (int)bytes, text, err.message);
        assert_int_equal(out.bytes, bytes);
        if (bytes > 0) assert_memory_equal(out.text, text, bytes);
        ganz_text_free(&out);
    }
}

#endif
