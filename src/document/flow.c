/* Wrapping: the bytes between two newlines are laid out in turn, greedily; for lines of equal length with the smallest
 * width that does not need more of them. */
#include "document/flow.h"

#include <string.h>

#include "text/tokenizer.h"

void ganz_flow_free(ganz_flow *f)
{
    ganz_text_free(&f->bytes);
    ganz_text_free(&f->kinds);
}

bool ganz_flow_add(ganz_flow *f, ganz_flow_kind kind, const char *bytes, size_t count)
{
    const char byte = (char)kind;
    if (!ganz_text_append(&f->bytes, bytes, count)) return false;
    for (size_t i = 0; i < count; i++)
        if (!ganz_text_append(&f->kinds, &byte, 1)) return false;
    return true;
}

static size_t width_of(const ganz_flow *f, size_t at)
{
    const unsigned char c = (unsigned char)f->bytes.text[at];
    return f->kinds.text[at] != GANZ_FLOW_RAW && (c & 0xC0) != 0x80 && c != '\n' && c != '\r' ? 1 : 0;
}

/* Lines that a stretch takes with some width. */
static size_t count_lines(const ganz_flow *f, size_t begin, size_t end, size_t width)
{
    size_t lines = 1, column = 0, word = 0;
    for (size_t at = begin; at < end; at++) {
        if (f->kinds.text[at] == GANZ_FLOW_SPACE) {
            column += 1;
            word = 0;
            continue;
        }
        word += width_of(f, at);
        column += width_of(f, at);
        if (column > width && word < column) {
            lines++;
            column = word;
        }
    }
    return lines;
}

static size_t total_width(const ganz_flow *f, size_t begin, size_t end)
{
    size_t sum = 0;
    for (size_t at = begin; at < end; at++) sum += width_of(f, at);
    return sum;
}

static size_t choose_width(const ganz_flow *f, size_t begin, size_t end, size_t columns, size_t rows)
{
    const size_t all = total_width(f, begin, end);
    if (rows == 0 || all <= columns) return columns;
    size_t lines = (all + columns - 1) / columns;
    if (lines > rows) lines = rows;
    size_t low = all / lines, high = all; /* the smallest width that does */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (count_lines(f, begin, end, middle) <= lines) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* The end of the word that begins at `at`, and its width. */
static size_t word_end(const ganz_flow *f, size_t at, size_t end, size_t *width)
{
    for (*width = 0; at < end && f->kinds.text[at] != GANZ_FLOW_SPACE; at++) *width += width_of(f, at);
    return at;
}

/* Columns that a new line begins with. */
static size_t indent_of(const char *newline)
{
    const char *const last = strrchr(newline, '\n');
    return last ? strlen(last + 1) : 0;
}

static bool wrap_stretch(const ganz_flow *f, size_t begin, size_t end, size_t width, const char *newline,
                         ganz_text *out)
{
    size_t column = 0;
    const size_t indent = indent_of(newline);
    for (size_t at = begin; at < end;) {
        size_t next, spaces = at, word;
        while (spaces < end && f->kinds.text[spaces] == GANZ_FLOW_SPACE) spaces++;
        next = word_end(f, spaces, end, &word);
        const bool wrap = column > 0 && spaces > at && word > 0 && column + (spaces - at) + word > width;
        if (wrap ? !ganz_text_append(out, newline, strlen(newline))
                 : !ganz_text_append(out, f->bytes.text + at, spaces - at))
            return false;
        if (!ganz_text_append(out, f->bytes.text + spaces, next - spaces)) return false;
        column = wrap ? indent + word : column + (spaces - at) + word;
        at = next;
    }
    return true;
}

bool ganz_flow_wrap(const ganz_flow *f, size_t columns, size_t rows, const char *newline, ganz_text *out)
{
    size_t begin = 0;
    while (begin < f->bytes.bytes) {
        const char *const cut = memchr(f->bytes.text + begin, '\n', f->bytes.bytes - begin);
        const size_t end = cut ? (size_t)(cut - f->bytes.text) + 1 : f->bytes.bytes;
        if (!wrap_stretch(f, begin, end, choose_width(f, begin, end, columns, rows), newline, out)) return false;
        begin = end;
    }
    return true;
}
