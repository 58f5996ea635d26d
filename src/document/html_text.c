/* Text of HTML. References become characters of their own; blank lines, which mean nothing in HTML, become spaces; a
 * soft hyphen goes along with the character before it, so that it is gone from a translation, whose words break
 * elsewhere. */
#include "document/html_text.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "document/html_scan.h"
#include "text/tokenizer.h"

#define SOFT_HYPHEN 0xAD

/* ---- the character set -------------------------------------------------------------------------- */

static bool is_one_of(const char *set, char c) { return c != '\0' && strchr(set, c) != NULL; }

/* The value of the first "charset=" or "encoding=" near the page's beginning. */
static size_t declared_charset(const char *page, size_t bytes, const char **name)
{
    const size_t end = bytes < 1024 ? bytes : 1024;
    for (size_t at = 0; at + 8 < end; at++) {
        const size_t word = ganz_html_is(page + at, 7, "charset") ? 7 : ganz_html_is(page + at, 8, "encoding") ? 8 : 0;
        size_t from = at + word;
        if (word == 0) continue;
        while (from < end && (ganz_html_space(page[from]) || is_one_of("=\"'", page[from]))) from++;
        size_t to = from;
        while (to < end && (ganz_ascii_alnum(page[to]) || is_one_of("-_:", page[to]))) to++;
        *name = page + from;
        return to - from;
    }
    return 0;
}

static bool is_any(const char *text, size_t bytes, const char *const *words)
{
    for (; *words; words++)
        if (ganz_html_is(text, bytes, *words)) return true;
    return false;
}

/* True if there is a head, or at least the place for one, where the page could say what it is. */
static bool is_whole(const char *page, size_t bytes)
{
    static const char *const first[] = {"html", "head", "body", "meta", "title", NULL};
    ganz_html_scan scan = ganz_html_scan_over(page, bytes);
    ganz_html_token token;
    for (int i = 0; i < 8 && ganz_html_next(&scan, &token); i++) {
        if (token.kind == GANZ_HTML_START && is_any(ganz_html_name(&token), token.name_bytes, first)) return true;
        if (token.kind == GANZ_HTML_COMMENT && token.bytes > 9 && ganz_html_is(token.raw, 9, "<!doctype")) return true;
    }
    return false;
}

ganz_html_charset ganz_html_charset_of(const char *page, size_t bytes)
{
    static const char *const unicode[] = {"utf-8", "utf8", NULL};
    static const char *const latin[] = {"us-ascii",    "ascii",        "iso-8859-1", "iso8859-1", "latin1",
                                        "iso-8859-15", "windows-1252", "cp1252",     NULL};
    const char *name = "";
    const size_t length = declared_charset(page, bytes, &name);
    const bool says_unicode = is_any(name, length, unicode), may_be_latin = length == 0 || is_any(name, length, latin);
    size_t right = 0, wrong = 0;
    int32_t code;
    for (size_t at = 0; at < bytes;) {
        const int step = ganz_utf8_decode(page + at, bytes - at, &code);
        if (step == 0) wrong++;
        if (step > 1) right++;
        at += step > 0 ? (size_t)step : 1;
    }
    if (wrong > right) return may_be_latin || says_unicode ? GANZ_HTML_LATIN : GANZ_HTML_ASCII;
    const bool xml = length == 0 && bytes > 5 && memcmp(page, "<?xml", 5) == 0;
    const bool marked = bytes > 3 && memcmp(page, "\xEF\xBB\xBF", 3) == 0;
    return says_unicode || xml || marked || !is_whole(page, bytes) ? GANZ_HTML_UTF8 : GANZ_HTML_ASCII;
}

/* ---- bytes to text ------------------------------------------------------------------------------ */

typedef struct source {
    ganz_skeleton *out;
    const char *raw;
    size_t bytes, plain; /* from `plain` on nothing has been handed in */
    const ganz_html_text_style *style;
} source;

static size_t space_length(const source *s, size_t at, int *newlines)
{
    const size_t from = at;
    for (*newlines = 0; at < s->bytes && ganz_html_space(s->raw[at]); at++) *newlines += s->raw[at] == '\n';
    return at - from;
}

/* The character at raw[at], where it is not written as itself: returns its length and sets *code (-1: not known); 0: it
 * is. */
static size_t special(const source *s, size_t at, int32_t *code)
{
    const unsigned char c = (unsigned char)s->raw[at];
    int newlines;
    if (c == '&') return ganz_entity_decode(s->raw + at, s->bytes - at, s->style->place, code);
    if (c >= 0x80 && s->style->charset == GANZ_HTML_LATIN) return *code = ganz_windows_1252(c), 1;
    if (c == 0xC2 && at + 1 < s->bytes && s->raw[at + 1] == (char)SOFT_HYPHEN) return *code = SOFT_HYPHEN, 2;
    if (!ganz_html_space(s->raw[at]) || s->style->keeps) return 0;
    const size_t length = space_length(s, at, &newlines);
    return newlines > 1 ? (*code = ' ', length) : 0;
}

static void flush_plain(source *s, size_t at)
{
    ganz_skeleton_text(s->out, s->raw + s->plain, at - s->plain, s->raw + s->plain, at - s->plain);
    s->plain = at;
}

static void add_code(source *s, int32_t code, size_t at, size_t length)
{
    char *const text = ganz_skeleton_keep(s->out, 4);
    if (text) ganz_skeleton_text(s->out, text, (size_t)ganz_utf8_encode(code, text), s->raw + at, length);
}

/* The plain text before a soft hyphen, whose last character is written with it. */
static void add_hyphenated(source *s, size_t at, size_t length)
{
    size_t last = at;
    while (last > s->plain && ((unsigned char)s->raw[--last] & 0xC0) == 0x80) {
    }
    if (last == at) { /* nothing before it */
        ganz_skeleton_text(s->out, "", 0, s->raw + at, length);
        return;
    }
    flush_plain(s, last);
    ganz_skeleton_text(s->out, s->raw + last, at - last, s->raw + last, at - last + length);
}

void ganz_html_add_text(ganz_skeleton *skeleton, const char *raw, size_t bytes, const ganz_html_text_style *style)
{
    source s = {.out = skeleton, .raw = raw, .bytes = bytes, .style = style};
    int newlines;
    for (size_t at = 0; at < bytes;) {
        int32_t code = 0;
        const size_t length = special(&s, at, &code);
        if (length == 0) { /* white space that is plain: all of it, so that none is looked at twice */
            at += ganz_html_space(raw[at]) ? space_length(&s, at, &newlines) : 1;
            continue;
        }
        if (code == SOFT_HYPHEN) {
            add_hyphenated(&s, at, length);
        } else {
            flush_plain(&s, at);
            if (code >= 0) add_code(&s, code, at, length);
            else ganz_skeleton_opaque(skeleton, "", 0, raw + at, length);
        }
        at = s.plain = at + length;
    }
    flush_plain(&s, bytes);
}

size_t ganz_html_show_text(char *out, size_t length, size_t room, const char *raw, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        char text[4] = {' '};
        int32_t code = 0;
        size_t step = raw[at] == '&' ? ganz_entity_decode(raw + at, bytes - at, GANZ_ENTITY_TEXT, &code) : 0;
        if (step == 0) step = (size_t)ganz_utf8_decode(raw + at, bytes - at, &code);
        const bool space = code < ' ' || step == 0; /* also what is not UTF-8 */
        const size_t count = space ? 1 : (size_t)ganz_utf8_encode(code, text);
        at += step > 0 ? step : 1;
        if (length + count > room) return length;
        if (count == 1 && text[0] == ' ' && (length == 0 || out[length - 1] == ' ')) continue;
        memcpy(out + length, text, count);
        length += count;
    }
    return length;
}

/* ---- text to bytes ------------------------------------------------------------------------------ */

/* What a character becomes; NULL: itself. quote: 0 in a text, else the quote around it, or "=" for none. */
static const char *reference(unsigned char c, char quote)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return quote == '"' || quote == '=' ? "&quot;" : NULL;
    case '\'': return quote == '\'' || quote == '=' ? "&#39;" : NULL;
    case ' ': return quote == '=' ? "&#32;" : NULL;
    case '\t': return quote == '=' ? "&#9;" : NULL;
    case '\n': return quote == '=' ? "&#10;" : NULL;
    case '\f': return quote == '=' ? "&#12;" : NULL;
    case '\r': return quote == '=' ? "&#13;" : NULL;
    case '=': return quote == '=' ? "&#61;" : NULL;
    case '`': return quote == '=' ? "&#96;" : NULL;
    default: return NULL;
    }
}

static bool escape(ganz_text *out, const char *text, size_t bytes, ganz_html_charset charset, char quote)
{
    size_t plain = 0;
    for (size_t at = 0; at < bytes;) {
        char number[16];
        int32_t code = 0;
        const int step = ganz_utf8_decode(text + at, bytes - at, &code);
        const char *as = step == 1 ? reference((unsigned char)text[at], quote) : NULL;
        if (step > 1 && charset != GANZ_HTML_UTF8) as = number, snprintf(number, sizeof number, "&#%d;", (int)code);
        const size_t next = at + (step > 0 ? (size_t)step : 1);
        if (as) {
            if (!ganz_text_append(out, text + plain, at - plain) || !ganz_text_append(out, as, strlen(as)))
                return false;
            plain = next;
        }
        at = next;
    }
    return ganz_text_append(out, text + plain, bytes - plain);
}

static bool utf8_text(ganz_text *out, const char *t, size_t n) { return escape(out, t, n, GANZ_HTML_UTF8, 0); }
static bool utf8_double(ganz_text *out, const char *t, size_t n) { return escape(out, t, n, GANZ_HTML_UTF8, '"'); }
static bool utf8_single(ganz_text *out, const char *t, size_t n) { return escape(out, t, n, GANZ_HTML_UTF8, '\''); }
static bool utf8_bare(ganz_text *out, const char *t, size_t n) { return escape(out, t, n, GANZ_HTML_UTF8, '='); }
static bool ascii_text(ganz_text *out, const char *t, size_t n) { return escape(out, t, n, GANZ_HTML_ASCII, 0); }
static bool ascii_double(ganz_text *out, const char *t, size_t n) { return escape(out, t, n, GANZ_HTML_ASCII, '"'); }
static bool ascii_single(ganz_text *out, const char *t, size_t n) { return escape(out, t, n, GANZ_HTML_ASCII, '\''); }
static bool ascii_bare(ganz_text *out, const char *t, size_t n) { return escape(out, t, n, GANZ_HTML_ASCII, '='); }

ganz_escape_text *ganz_html_escape(ganz_html_charset charset, char quote)
{
    const bool ascii = charset != GANZ_HTML_UTF8;
    switch (quote) {
    case '"': return ascii ? ascii_double : utf8_double;
    case '\'': return ascii ? ascii_single : utf8_single;
    case '=': return ascii ? ascii_bare : utf8_bare;
    default: return ascii ? ascii_text : utf8_text;
    }
}
