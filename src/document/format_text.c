/* Plain text. Paragraphs are what blank lines separate; blank lines and code between fences are copied. A paragraph
 * whose lines were wrapped by an editor is one block, which is wrapped again, and so are lines that are quoted alike;
 * else each line is one, and the bullets and quote signs before it are copied. */
#include <string.h>

#include "base/utf8.h"
#include "document/format.h"
#include "ganz/document.h"
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

/* Quote signs of e-mail: "> > ", with the white space before them; 0: there are none. */
static size_t quote_bytes(line l)
{
    const size_t blanks = leading_blanks(l);
    size_t at = blanks;
    while (at < l.bytes && (l.text[at] == '>' || (at > blanks && l.text[at - 1] == '>' && l.text[at] == ' '))) at++;
    return at > blanks ? at : 0;
}

static line behind(line l, size_t bytes) { return (line){l.text + bytes, l.bytes - bytes}; }

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

/* A small letter, or "<" of the address behind a name: no line begins so unless it goes on with another. */
static bool begins_small(line l)
{
    int32_t code = 0;
    const size_t begin = leading_blanks(l);
    return begin < l.bytes && ganz_utf8_decode(l.text + begin, l.bytes - begin, &code) > 0 &&
           (ganz_is_lower(code) || code == '<');
}

/* The shape of lines without their quote signs. */
static shape look_at(const char *text, size_t bytes, size_t quote)
{
    shape s = {.even = true};
    for (size_t at = 0; at < bytes; s.lines++) {
        const line l = behind(line_at(text + at, bytes - at), quote);
        const size_t columns = ganz_count_characters(l.text, visible_bytes(l));
        if (columns > s.columns) s.columns = columns;
        at += quote + l.bytes;
    }
    for (size_t at = 0, n = 0; at < bytes; n++) {
        const line l = behind(line_at(text + at, bytes - at), quote);
        at += quote + l.bytes;
        if (n == 1) s.indent = leading_blanks(l);
        if (n > 0) s.small += begins_small(l);
        if (n > 1) s.even &= leading_blanks(l) == s.indent;
        if (at == bytes) break;
        const line next = behind(line_at(text + at, bytes - at), quote);
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

/* The end and what stands before the second line, `before` bytes, are those of all others. */
static const char *newline_of(ganz_skeleton *s, const char *text, size_t bytes, size_t before)
{
    const line first = line_at(text, bytes);
    const bool dos = first.bytes > 1 && first.text[first.bytes - 2] == '\r';
    char *const newline = ganz_skeleton_keep(s, before + 3);
    if (!newline) return NULL;
    memcpy(newline, "\r\n", 2);
    const size_t end = dos ? 2 : 1;
    if (!dos) newline[0] = '\n';
    memcpy(newline + end, first.text + first.bytes, before);
    newline[end + before] = '\0';
    return newline;
}

/* Quote signs of e-mail, and the sign of a list: > > - text */
static size_t prefix_bytes(line l)
{
    const size_t quote = quote_bytes(l), at = quote > 0 ? quote : leading_blanks(l);
    const line rest = behind(l, at);
    const size_t blanks = leading_blanks(rest);
    static const char signs[][4] = {"-", "*", "+", "\xE2\x80\xA2", "\xE2\x80\x93", "\xC2\xB7"}; /* bullet, dash, dot */
    for (size_t i = 0; i < GANZ_COUNT(signs); i++) {
        const size_t bytes = strlen(signs[i]), end = blanks + bytes;
        if (rest.bytes > end && memcmp(rest.text + blanks, signs[i], bytes) == 0 && rest.text[end] == ' ')
            return at + end + 1;
    }
    return at;
}

/* Bytes of the ornament that a text begins with: "*** ", "-----". */
static size_t ornament_bytes(const char *text, size_t bytes)
{
    size_t count = 0;
    if (bytes == 0 || !memchr("*-=_#~+", text[0], 7)) return 0;
    while (count < bytes && text[count] == text[0]) count++;
    if (count < 3) return 0;
    while (count < bytes && is_blank(text[count])) count++;
    return count;
}

/* The same at the end of a line, with words between: bytes from there on; 0: there is none. */
static size_t ornament_behind(line l, size_t front)
{
    const size_t shown = visible_bytes(l);
    size_t at = shown;
    while (at > 0 && l.text[at - 1] == l.text[0]) at--;
    if (shown - at < 3) return 0;
    while (at > 0 && is_blank(l.text[at - 1])) at--;
    return at > front ? l.bytes - at : 0;
}

/* "----- Original Message -----": signs of which models write other numbers. */
static void add_text_line(ganz_skeleton *s, const ganz_block_style *style, line l)
{
    const size_t front = ornament_bytes(l.text, l.bytes), end = front > 0 ? ornament_behind(l, front) : 0;
    if (end == 0) {
        add_block(s, style, l.text, l.bytes);
        return;
    }
    ganz_skeleton_copy(s, l.text, front);
    add_block(s, style, l.text + front, l.bytes - front - end);
    ganz_skeleton_copy(s, l.text + l.bytes - end, end);
}

static void add_lines(ganz_skeleton *s, const ganz_block_style *style, const char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const line l = line_at(text + at, bytes - at);
        const size_t prefix = prefix_bytes(l);
        ganz_skeleton_copy(s, l.text, prefix);
        add_text_line(s, style, behind(l, prefix));
        at += l.bytes;
    }
}

/* Lines that are quoted alike as one block: the sign before the first is copied, the others belong to the newlines. */
static void add_quoted(ganz_skeleton *s, const ganz_block_style *style, const char *text, size_t bytes, size_t quote)
{
    ganz_skeleton_copy(s, text, quote);
    ganz_skeleton_begin(s, style);
    for (size_t at = quote; at < bytes;) {
        const line l = line_at(text + at, bytes - at);
        const bool last = at + l.bytes == bytes;
        const size_t shown = last ? l.bytes : visible_bytes(l), end = l.bytes - shown + quote;
        ganz_skeleton_text(s, l.text, shown, l.text, shown);
        if (!last) ganz_skeleton_text(s, "\n", 1, l.text + shown, end);
        at += l.bytes + (last ? 0 : quote);
    }
    ganz_skeleton_end(s);
}

/* Lines with the same quote signs, or without any. */
static void add_group(ganz_skeleton *s, const ganz_format_options *options, const char *text, size_t bytes,
                      size_t quote)
{
    ganz_block_style style = {.breaks = options->breaks};
    const shape p = look_at(text, bytes, quote);
    const bool joined = options->breaks != GANZ_BREAK_LINES;
    if (p.lines > 1 && quote <= PREFIX_BYTES &&
        (joined ? p.columns <= WIDEST && p.indent <= PREFIX_BYTES : is_wrapped(&p))) {
        style.breaks = joined ? options->breaks : GANZ_BREAK_SENTENCES;
        style.columns = (int)((p.columns < NARROWEST ? NARROWEST : p.columns) + quote);
        style.newline = newline_of(s, text, bytes, quote + p.indent);
        if (quote > 0) add_quoted(s, &style, text, bytes, quote);
        else add_block(s, &style, text, bytes);
    } else if (joined && quote == 0) {
        add_block(s, &style, text, bytes);
    } else {
        add_lines(s, &style, text, bytes);
    }
}

/* Bytes of the lines that are quoted like the first. A quote sign alone is a blank line of what is quoted. */
static size_t group_bytes(const char *text, size_t bytes, size_t *quote)
{
    line l = line_at(text, bytes);
    size_t at = l.bytes;
    *quote = quote_bytes(l);
    if (*quote > 0 && visible_bytes(l) <= *quote) return at;
    for (; at < bytes; at += l.bytes) {
        l = line_at(text + at, bytes - at);
        if (quote_bytes(l) != *quote || memcmp(l.text, text, *quote) != 0) break;
        if (*quote > 0 && visible_bytes(l) <= *quote) break;
    }
    return at;
}

static void add_paragraph(ganz_skeleton *s, const ganz_format_options *options, const char *text, size_t bytes)
{
    for (size_t at = 0, quote; at < bytes;) {
        const size_t group = group_bytes(text + at, bytes - at, &quote);
        add_group(s, options, text + at, group, quote);
        at += group;
    }
}

/* ---- fences ------------------------------------------------------------------------------------- */

/* Three signs and no more, other than in Markdown: longer rows of ~ are underlines and ornaments of plain text. */
static const char fences[][4] = {"```", "~~~"};
enum { FENCE_BYTES = 3 };

/* Whether a line begins code: ``` or ```c, but not ```code```. */
static bool opens_code(line l, const char *fence)
{
    const line rest = behind(l, leading_blanks(l));
    return rest.bytes > FENCE_BYTES && memcmp(rest.text, fence, FENCE_BYTES) == 0 &&
           !memchr(rest.text + FENCE_BYTES, fence[0], rest.bytes - FENCE_BYTES);
}

static bool closes_code(line l, const char *fence)
{
    const size_t blanks = leading_blanks(l);
    return visible_bytes(l) == blanks + FENCE_BYTES && memcmp(l.text + blanks, fence, FENCE_BYTES) == 0;
}

/* Bytes of code that begins with the first line, both fences included; 0: none does. What is never closed is text, and
 * unclosed[] remembers that of a fence, so that no text is looked through for it again. */
static size_t code_bytes(const char *text, size_t bytes, bool unclosed[2])
{
    const line first = line_at(text, bytes);
    for (int i = 0; i < 2; i++) {
        if (unclosed[i] || !opens_code(first, fences[i])) continue;
        for (size_t at = first.bytes; at < bytes;) {
            const line l = line_at(text + at, bytes - at);
            at += l.bytes;
            if (closes_code(l, fences[i])) return at;
        }
        unclosed[i] = true;
    }
    return 0;
}

static size_t mark_bytes(const char *bytes, size_t count)
{
    return count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

bool ganz_ends_in_code(const char *text, size_t bytes)
{
    bool unclosed[2] = {false, false};
    for (size_t at = mark_bytes(text, bytes); at < bytes;) {
        const size_t code = code_bytes(text + at, bytes - at, unclosed);
        at += code > 0 ? code : line_at(text + at, bytes - at).bytes;
    }
    return unclosed[0] || unclosed[1];
}

static ganz_status read_text(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                             ganz_error *err)
{
    size_t at = mark_bytes(bytes, count); /* a byte order mark is no part of the sentence */
    size_t begin = at;
    bool unclosed[2] = {false, false};
    ganz_skeleton_copy(s, bytes, at);
    while (at < count) {
        const line l = line_at(bytes + at, count - at);
        const size_t blank = leading_blanks(l) < l.bytes ? 0 : l.bytes;
        const size_t copied = blank > 0 ? blank : code_bytes(l.text, count - at, unclosed);
        at += copied > 0 ? copied : l.bytes;
        if (copied == 0) continue;
        add_paragraph(s, options, bytes + begin, at - copied - begin);
        ganz_skeleton_copy(s, l.text, copied);
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
