/* Plain text. Paragraphs are what blank lines separate; blank lines are copied. A paragraph whose lines were wrapped by
 * an editor is one block, which is wrapped again; else each line is one, and the bullets and quote signs before it are
 * copied. */
#include <string.h>

#include "base/utf8.h"
#include "document/format.h"
#include "text/unicode.h"

enum { NARROWEST = 40, WIDEST = 160 /* columns of wrapped text */, FEW_LINES = 5, PREFIX_BYTES = 64 };

typedef struct line {
    const char *text;
    size_t bytes; /* with its newline */
} line;

static line line_at(const char *text, size_t bytes)
{
    const char *const newline = memchr(text, '\n', bytes);
    return (line){text, newline ? (size_t)(newline - text) + 1 : bytes};
}

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static size_t leading_blanks(line l)
{
    size_t count = 0;
    while (count < l.bytes && is_blank(l.text[count])) count++;
    return count;
}

/* Without white space at its end. */
static size_t visible_bytes(line l)
{
    size_t bytes = l.bytes;
    while (bytes > 0 && is_blank(l.text[bytes - 1])) bytes--;
    return bytes;
}

/* ---- wrapped? ----------------------------------------------------------------------------------- */

typedef struct shape {
    size_t lines, columns; /* how many, the longest */
    size_t indent;         /* bytes before the second line */
    size_t loose, ends,
        small; /* lines that the next word would have fitted on; that end a sentence; that begin small */
    bool even; /* all lines but the first have one indent */
} shape;

static size_t first_word_columns(line l)
{
    size_t begin = leading_blanks(l), end = begin;
    while (end < l.bytes && !is_blank(l.text[end])) end++;
    return ganz_count_characters(l.text + begin, end - begin);
}

static bool ends_sentence(line l)
{
    const size_t bytes = visible_bytes(l);
    return bytes > 0 && memchr(".!?:;", l.text[bytes - 1], 5);
}

static bool begins_small(line l)
{
    int32_t code = 0;
    const size_t begin = leading_blanks(l);
    return begin < l.bytes && ganz_utf8_decode(l.text + begin, l.bytes - begin, &code) > 0 && ganz_is_lower(code);
}

static shape look_at(const char *text, size_t bytes)
{
    shape s = {.even = true};
    for (size_t at = 0; at < bytes; s.lines++) {
        const line l = line_at(text + at, bytes - at);
        const size_t columns = ganz_count_characters(l.text, visible_bytes(l));
        if (columns > s.columns) s.columns = columns;
        at += l.bytes;
    }
    for (size_t at = 0, n = 0; at < bytes; n++) {
        const line l = line_at(text + at, bytes - at);
        at += l.bytes;
        if (n == 1) s.indent = leading_blanks(l);
        if (n > 0) s.small += begins_small(l);
        if (n > 1) s.even &= leading_blanks(l) == s.indent;
        if (at == bytes) break;
        const line next = line_at(text + at, bytes - at);
        s.loose += ganz_count_characters(l.text, visible_bytes(l)) + 1 + first_word_columns(next) <= s.columns;
        s.ends += ends_sentence(l);
    }
    return s;
}

/* An editor begins a line only where the next word does not fit any more. A few lines may look like that by chance. */
static bool is_wrapped(const shape *s)
{
    if (s->lines < 2 || s->columns < NARROWEST || s->columns > WIDEST || !s->even || s->indent > PREFIX_BYTES)
        return false;
    if (s->loose > 0 || 2 * s->ends > s->lines - 1) return false;
    return s->lines >= FEW_LINES || s->small > 0;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

static void add_block(ganz_skeleton *s, const ganz_block_style *style, const char *text, size_t bytes)
{
    if (bytes == 0) return;
    ganz_skeleton_begin(s, style);
    ganz_skeleton_text(s, text, bytes, text, bytes);
    ganz_skeleton_end(s);
}

/* The end and the indent of the second line are those of all others. */
static const char *newline_of(ganz_skeleton *s, const char *text, size_t bytes, const shape *p)
{
    const line first = line_at(text, bytes);
    const bool dos = first.bytes > 1 && first.text[first.bytes - 2] == '\r';
    char *const newline = ganz_skeleton_keep(s, p->indent + 3);
    if (!newline) return NULL;
    memcpy(newline, "\r\n", 2);
    const size_t end = dos ? 2 : 1;
    if (!dos) newline[0] = '\n';
    memcpy(newline + end, first.text + first.bytes, p->indent);
    newline[end + p->indent] = '\0';
    return newline;
}

/* Quote signs of e-mail, and the sign of a list: > > - text */
static size_t prefix_bytes(line l)
{
    size_t at = leading_blanks(l);
    while (at < l.bytes && (l.text[at] == '>' || (at > 0 && l.text[at - 1] == '>' && l.text[at] == ' '))) at++;
    const line rest = {l.text + at, l.bytes - at};
    const size_t blanks = leading_blanks(rest);
    static const char *const signs[] = {"-",       "*", "+", "\xE2\x80\xA2", "\xE2\x80\x93",
                                        "\xC2\xB7"}; /* bullet, dash, dot */
    for (size_t i = 0; i < GANZ_COUNT(signs); i++) {
        const size_t bytes = strlen(signs[i]), end = blanks + bytes;
        if (rest.bytes > end && memcmp(rest.text + blanks, signs[i], bytes) == 0 && rest.text[end] == ' ')
            return at + end + 1;
    }
    return at;
}

static void add_lines(ganz_skeleton *s, const ganz_block_style *style, const char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const line l = line_at(text + at, bytes - at);
        const size_t prefix = prefix_bytes(l);
        ganz_skeleton_copy(s, l.text, prefix);
        add_block(s, style, l.text + prefix, l.bytes - prefix);
        at += l.bytes;
    }
}

static void add_paragraph(ganz_skeleton *s, const ganz_format_options *options, const char *text, size_t bytes)
{
    ganz_block_style style = {.breaks = options->breaks};
    const shape p = look_at(text, bytes);
    const bool joined = options->breaks != GANZ_BREAK_LINES;
    if (p.lines > 1 && (joined ? p.columns <= WIDEST && p.indent <= PREFIX_BYTES : is_wrapped(&p))) {
        style.breaks = joined ? options->breaks : GANZ_BREAK_SENTENCES;
        style.columns = (int)(p.columns < NARROWEST ? NARROWEST : p.columns);
        style.newline = newline_of(s, text, bytes, &p);
        add_block(s, &style, text, bytes);
    } else if (joined) {
        add_block(s, &style, text, bytes);
    } else {
        add_lines(s, &style, text, bytes);
    }
}

static size_t mark_bytes(const char *bytes, size_t count)
{
    return count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

static ganz_status read_text(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                             ganz_error *err)
{
    size_t at = mark_bytes(bytes, count); /* a byte order mark is no part of the sentence */
    size_t begin = at;
    ganz_skeleton_copy(s, bytes, at);
    while (at < count) {
        const line l = line_at(bytes + at, count - at);
        at += l.bytes;
        if (leading_blanks(l) < l.bytes) continue;
        add_paragraph(s, options, bytes + begin, at - l.bytes - begin);
        ganz_skeleton_copy(s, l.text, l.bytes);
        begin = at;
    }
    add_paragraph(s, options, bytes + begin, count - begin);
    return ganz_skeleton_status(s, err);
}

const ganz_format ganz_format_text = {.name = "text", .suffixes = "txt text", .read = read_text};

/* Lines that are counted: none is joined with another. Their translations can stand beside them. */
static ganz_status read_lines(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                              ganz_error *err)
{
    const ganz_block_style style = {.breaks = GANZ_BREAK_LINES, .between = "\t"};
    (void)options;
    size_t at = mark_bytes(bytes, count);
    ganz_skeleton_copy(s, bytes, at);
    while (at < count) {
        const line l = line_at(bytes + at, count - at);
        const size_t visible = visible_bytes(l);
        add_block(s, &style, l.text, visible);
        ganz_skeleton_copy(s, l.text + visible, l.bytes - visible);
        at += l.bytes;
    }
    return ganz_skeleton_status(s, err);
}

const ganz_format ganz_format_lines = {.name = "lines", .suffixes = "", .read = read_lines};
