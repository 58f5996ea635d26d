/* Words that are no text. */
#include "document/markdown_word.h"

#include <string.h>

#include "document/html_scan.h"

enum { SHORT_BYTES = 40, PAGE_BYTES = 200 };

static bool begins(const char *text, size_t at, size_t bytes, const char *with)
{
    const size_t need = strlen(with);
    return bytes - at >= need && memcmp(text + at, with, need) == 0;
}

static bool is_one_of(const char *set, char c) { return c != '\0' && strchr(set, c); }

static bool is_inside_word(const char *text, size_t at)
{
    return at > 0 && (ganz_ascii_alnum(text[at - 1]) || (unsigned char)text[at - 1] >= 0x80);
}

/* ---- addresses ---------------------------------------------------------------------------------- */

/* Punctuation at the end belongs to the sentence, and so does a ")" that has no "(". */
static size_t trim_address(const char *text, size_t at, size_t end)
{
    int open = 0;
    for (size_t i = at; i < end; i++) open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    while (end > at) {
        const char c = text[end - 1];
        if (c == ')' && open < 0) open++;
        else if (!is_one_of("?!.,:;*_~'", c)) break;
        end--;
    }
    return end;
}

static size_t address_length(const char *text, size_t at, size_t bytes)
{
    static const char *const schemes[] = {"https://", "http://", "www.", "ftp://"};
    size_t scheme = 0;
    for (size_t i = 0; i < GANZ_COUNT(schemes) && scheme == 0; i++)
        if (begins(text, at, bytes, schemes[i])) scheme = strlen(schemes[i]);
    if (scheme == 0 || is_inside_word(text, at)) return 0;
    size_t end = at + scheme;
    while (end < bytes && (unsigned char)text[end] > ' ' && !is_one_of("<>[]`\"\\|", text[end])) end++;
    end = trim_address(text, at, end);
    return end > at + scheme ? end - at : 0;
}

/* ---- mathematics -------------------------------------------------------------------------------- */

/* True if the "$" at `at` may end "$x$": it touches a letter, and no number follows. */
static bool ends_math(const char *text, size_t at, size_t bytes)
{
    const bool touches = at > 0 && !ganz_html_space(text[at - 1]) && text[at - 1] != '\\' && text[at - 1] != '$';
    return touches && !(at + 1 < bytes && (ganz_ascii_digit(text[at + 1]) || text[at + 1] == '$'));
}

/* The next end at or after `from`; searched for once from left to right. */
static size_t next_dollar(const char *text, size_t from, size_t bytes, size_t *known, bool twice)
{
    if (*known >= from && *known > 0) return *known;
    for (size_t at = from; at < bytes; at++) {
        const char *const hit = memchr(text + at, '$', bytes - at);
        if (!hit) break;
        at = (size_t)(hit - text);
        if (twice ? begins(text, at, bytes, "$$") : ends_math(text, at, bytes)) return *known = at;
    }
    return *known = SIZE_MAX;
}

static size_t math_length(const char *text, size_t at, size_t bytes, ganz_md_word_state *state, size_t *edge)
{
    const bool twice = begins(text, at, bytes, "$$");
    const size_t from = at + (twice ? 2 : 1);
    if (from >= bytes || (!twice && ganz_html_space(text[from]))) return 0;
    const size_t end = next_dollar(text, from + 1, bytes, twice ? &state->dollars : &state->dollar, twice);
    if (end == SIZE_MAX) return 0;
    *edge = twice ? 2 : 1;
    return end + *edge - at;
}

/* ---- the others --------------------------------------------------------------------------------- */

static size_t braced_length(const char *text, size_t at, size_t bytes, const char *end, bool *missing)
{
    for (size_t i = at + 2; !*missing && i + 1 < bytes; i++) {
        const char *const hit = memchr(text + i, end[0], bytes - i - 1);
        if (!hit) break;
        i = (size_t)(hit - text);
        if (hit[1] == end[1]) return i + 2 - at;
    }
    *missing = true;
    return 0;
}

static size_t emoji_length(const char *text, size_t at, size_t bytes)
{
    bool letter = false;
    size_t end = at + 1;
    for (; end < bytes && end - at < SHORT_BYTES && (ganz_ascii_alnum(text[end]) || is_one_of("_+-", text[end])); end++)
        letter = letter || ganz_ascii_letter(text[end]);
    const bool closed = end < bytes && text[end] == ':' && (letter || end == at + 3);
    if (!closed || end == at + 1 || is_inside_word(text, at)) return 0;
    return end + 1 < bytes && ganz_ascii_alnum(text[end + 1]) ? 0 : end + 1 - at;
}

size_t ganz_md_word_length(const char *text, size_t at, size_t bytes, ganz_md_word_state *state, size_t *before,
                           size_t *behind)
{
    size_t length = 0, edge = 0;
    switch (text[at]) {
    case 'h':
    case 'w':
    case 'f': length = address_length(text, at, bytes); break;
    case '$': length = math_length(text, at, bytes, state, &edge); break;
    case ':': length = emoji_length(text, at, bytes); break;
    case '{':
        if (begins(text, at, bytes, "{{")) length = braced_length(text, at, bytes, "}}", &state->no_braces);
        if (begins(text, at, bytes, "{%")) length = braced_length(text, at, bytes, "%}", &state->no_tag);
        break;
    default: break;
    }
    *before = *behind = edge;
    return length;
}

size_t ganz_md_note_length(const char *text, size_t at, size_t bytes)
{
    if (!begins(text, at, bytes, "[^")) return 0;
    size_t end = at + 2;
    while (end < bytes && end - at < PAGE_BYTES && !is_one_of("[]^", text[end]) && !ganz_html_space(text[end])) end++;
    return end > at + 2 && end < bytes && text[end] == ']' ? end + 1 - at : 0;
}

size_t ganz_md_page_length(const char *text, size_t at, size_t bytes)
{
    if (!begins(text, at, bytes, "[[")) return 0;
    size_t end = at + 2;
    while (end < bytes && end - at < PAGE_BYTES && !is_one_of("[]\n", text[end])) end++;
    return end > at + 2 && begins(text, end, bytes, "]]") ? end + 2 - at : 0;
}
