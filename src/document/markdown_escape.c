/* Writing text as Markdown. A backslash goes before what could be a mark where it stands; each piece of text is taken
 * to stand at the beginning of a line, since the end of the line before it may have been kept. */
#include "document/markdown_escape.h"

#include <string.h>

#include "document/html_scan.h"
#include "document/markdown_line.h"
#include "text/tokenizer.h"

typedef struct place {
    const char *text;
    size_t bytes, at;
    int dollars; /* in the text */
} place;

static char char_at(const place *p, size_t at) { return at < p->bytes ? p->text[at] : ' '; }
static bool is_word(char c) { return ganz_ascii_alnum(c) || (unsigned char)c >= 0x80; }

/* "12." or "12)" at the beginning, which would be an item: the place of its last character, else 0. */
static size_t number_end(const place *p)
{
    size_t digits = 0;
    while (digits < p->bytes && digits < 10 && ganz_ascii_digit(p->text[digits])) digits++;
    const char end = char_at(p, digits);
    return digits > 0 && (end == '.' || end == ')') && ganz_html_space(char_at(p, digits + 1)) ? digits : 0;
}

/* "&" that could be read as the beginning of a reference. */
static bool refers(const place *p)
{
    size_t end = p->at + 1;
    if (char_at(p, end) == '#') end++;
    while (end < p->bytes && ganz_ascii_alnum(p->text[end])) end++;
    return end == p->bytes ? end > p->at + 1 : p->text[end] == ';';
}

/* Characters that are marks only at the beginning of a line. */
static bool begins_line(const place *p)
{
    const char next = char_at(p, 1);
    switch (p->text[0]) {
    case '-':
    case '+': return ganz_html_space(next) || next == p->text[0];
    case '>':
    case '=': return true;
    case ':': return next == ':' && char_at(p, 2) == ':';
    case '{': return next == ':' || next == '%';
    default: return false;
    }
}

/* "#" and "##" as a word of their own, which is the end of a heading. */
static bool ends_heading(const place *p)
{
    size_t end = p->at;
    while (char_at(p, end) == '#') end++;
    return ganz_html_space(char_at(p, end));
}

static bool needs_backslash(const place *p, char c)
{
    const char before = p->at > 0 ? p->text[p->at - 1] : ' ', after = char_at(p, p->at + 1);
    if (p->at == 0 && begins_line(p)) return true;
    switch (c) {
    case '\\': return p->at + 1 == p->bytes || ganz_md_punctuation(after);
    case '`':
    case '[':
    case ']':
    case '~': return true;
    case '*': return !(p->at > 0 && p->at + 1 < p->bytes && ganz_html_space(before) && ganz_html_space(after));
    case '_': return !(p->at > 0 && p->at + 1 < p->bytes && is_word(before) && is_word(after));
    case '<': return p->at + 1 == p->bytes || ganz_ascii_letter(after) || after == '/' || after == '!' || after == '?';
    case '#': return ganz_html_space(before) && ends_heading(p);
    case '&': return refers(p);
    case '$': return p->dollars > 1;
    default: return false;
    }
}

static bool escape(ganz_text *out, const char *text, size_t bytes, bool cell)
{
    place p = {.text = text, .bytes = bytes};
    size_t plain = 0;
    for (size_t i = 0; i < bytes; i++) p.dollars += text[i] == '$';
    const size_t number = number_end(&p);
    for (; p.at < bytes; p.at++) {
        const char c = text[p.at];
        const bool mark = (number > 0 && p.at == number) || (cell && c == '|');
        if (!mark && !(ganz_md_punctuation(c) && needs_backslash(&p, c))) continue;
        if (!ganz_text_append(out, text + plain, p.at - plain) || !ganz_text_append(out, "\\", 1)) return false;
        plain = p.at;
    }
    return ganz_text_append(out, text + plain, bytes - plain);
}

bool ganz_md_escape(ganz_text *out, const char *text, size_t bytes) { return escape(out, text, bytes, false); }
bool ganz_md_escape_cell(ganz_text *out, const char *text, size_t bytes) { return escape(out, text, bytes, true); }

/* ---- titles ------------------------------------------------------------------------------------- */

static bool ends_title(const place *p, const char *quotes)
{
    const char c = p->text[p->at];
    if (c == '\\') return p->at + 1 == p->bytes || ganz_md_punctuation(p->text[p->at + 1]);
    return c == '&' ? refers(p) : c && strchr(quotes, c);
}

static bool escape_title(ganz_text *out, const char *text, size_t bytes, const char *quotes)
{
    for (place p = {.text = text, .bytes = bytes}; p.at < bytes; p.at++)
        if ((ends_title(&p, quotes) && !ganz_text_append(out, "\\", 1)) || !ganz_text_append(out, text + p.at, 1))
            return false;
    return true;
}

static bool escape_double(ganz_text *out, const char *text, size_t bytes)
{
    return escape_title(out, text, bytes, "\"|");
}
static bool escape_single(ganz_text *out, const char *text, size_t bytes)
{
    return escape_title(out, text, bytes, "'|");
}
static bool escape_round(ganz_text *out, const char *text, size_t bytes)
{
    return escape_title(out, text, bytes, "()|");
}

ganz_escape_text *ganz_md_escape_title(char quote)
{
    return quote == '"' ? escape_double : quote == '\'' ? escape_single : escape_round;
}
