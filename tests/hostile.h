/* Input that makes bad parsers slow: one part, a million bytes of it. */
#ifndef GANZ_TESTS_HOSTILE_H
#define GANZ_TESTS_HOSTILE_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "document/format.h"

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

#endif
