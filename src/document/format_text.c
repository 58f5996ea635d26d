/* Plain text: one block for each paragraph, and the blank lines between them copied. */
#include <string.h>

#include "document/format.h"

static size_t line_length(const char *text, size_t bytes)
{
    const char *const newline = memchr(text, '\n', bytes);
    return newline ? (size_t)(newline - text) + 1 : bytes;
}

static bool is_blank(const char *line, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!strchr(" \t\r\n\f\v", line[i]) || line[i] == 0) return false;
    return true;
}

static void add_block(ganz_skeleton *s, const ganz_block_style *style, const char *text, size_t bytes)
{
    if (bytes == 0) return;
    ganz_skeleton_begin(s, style);
    ganz_skeleton_text(s, text, bytes, text, bytes);
    ganz_skeleton_end(s);
}

static ganz_status read_text(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                             ganz_error *err)
{
    const ganz_block_style style = {.breaks = options->breaks};
    size_t begin = 0, at = 0;
    if (count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark is no part of the sentence */
        ganz_skeleton_copy(s, bytes, 3);
        begin = at = 3;
    }
    while (at < count) {
        const size_t length = line_length(bytes + at, count - at);
        if (is_blank(bytes + at, length)) {
            add_block(s, &style, bytes + begin, at - begin);
            ganz_skeleton_copy(s, bytes + at, length);
            begin = at + length;
        }
        at += length;
    }
    add_block(s, &style, bytes + begin, count - begin);
    return ganz_skeleton_status(s, err);
}

const ganz_format ganz_format_text = {.name = "text", .suffixes = "txt text", .read = read_text};

static ganz_status read_lines(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                              ganz_error *err)
{
    ganz_format_options lines = *options;
    lines.breaks = GANZ_BREAK_LINES;
    return read_text(s, bytes, count, &lines, err);
}

/* The same for files whose lines are counted: none is joined or added. */
const ganz_format ganz_format_lines = {.name = "lines", .suffixes = "", .read = read_lines};
