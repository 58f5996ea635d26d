/* HTML inside a line of Markdown. */
#include "document/markdown_html.h"

#include <string.h>

#include "document/html_scan.h"

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static size_t skip_space(const char *text, size_t at, size_t bytes)
{
    while (at < bytes && is_space(text[at])) at++;
    return at;
}

/* The place behind the next `end`; 0: there is none, which is then known. */
static size_t behind(const char *text, size_t at, size_t bytes, const char *end, bool *missing)
{
    const size_t need = strlen(end);
    for (const char *hit; !*missing && at < bytes && (hit = memchr(text + at, end[0], bytes - at)); at++) {
        at = (size_t)(hit - text);
        if (bytes - at >= need && memcmp(hit, end, need) == 0) return at + need;
    }
    *missing = true;
    return 0;
}

static size_t name_end(const char *text, size_t at, size_t bytes)
{
    if (at >= bytes || !ganz_ascii_letter(text[at])) return 0;
    while (at < bytes && (ganz_ascii_alnum(text[at]) || text[at] == '-')) at++;
    return at;
}

/* The place behind the value at text[at]; 0: it is none. */
static size_t value_end(const char *text, size_t at, size_t bytes)
{
    if (at >= bytes) return 0;
    if (text[at] == '"' || text[at] == '\'') {
        const char *const close = memchr(text + at + 1, text[at], bytes - at - 1);
        return close ? (size_t)(close - text) + 1 : 0;
    }
    const size_t from = at;
    while (at < bytes && !is_space(text[at]) && !strchr("\"'=<>`", text[at])) at++;
    return at > from ? at : 0;
}

static bool begins_attribute(char c) { return ganz_ascii_letter(c) || c == '_' || c == ':'; }

/* The place behind the attribute at text[at]; 0: it is none. */
static size_t attribute_end(const char *text, size_t at, size_t bytes)
{
    if (at >= bytes || !begins_attribute(text[at])) return 0;
    while (at < bytes &&
           (begins_attribute(text[at]) || ganz_ascii_digit(text[at]) || text[at] == '.' || text[at] == '-'))
        at++;
    const size_t equals = skip_space(text, at, bytes);
    if (equals >= bytes || text[equals] != '=') return at;
    return value_end(text, skip_space(text, equals + 1, bytes), bytes);
}

static size_t start_tag_end(const char *text, size_t at, size_t bytes)
{
    at = name_end(text, at, bytes);
    while (at > 0) {
        const size_t next = skip_space(text, at, bytes);
        if (next >= bytes) return 0;
        if (text[next] == '>') return next + 1;
        if (text[next] == '/') return next + 1 < bytes && text[next + 1] == '>' ? next + 2 : 0;
        if (next == at) return 0; /* attributes have white space before them */
        at = attribute_end(text, next, bytes);
    }
    return 0;
}

static size_t end_tag_end(const char *text, size_t at, size_t bytes)
{
    at = name_end(text, at, bytes);
    if (at == 0) return 0;
    at = skip_space(text, at, bytes);
    return at < bytes && text[at] == '>' ? at + 1 : 0;
}

static size_t declaration_end(const char *text, size_t at, size_t bytes, ganz_md_html_state *state)
{
    const char *const here = text + at;
    const size_t left = bytes - at;
    if (left >= 5 && memcmp(here, "<!-->", 5) == 0) return at + 5;
    if (left >= 6 && memcmp(here, "<!--->", 6) == 0) return at + 6;
    if (left >= 4 && memcmp(here, "<!--", 4) == 0) return behind(text, at + 4, bytes, "-->", &state->no_comment);
    if (left >= 9 && memcmp(here, "<![CDATA[", 9) == 0) return behind(text, at + 9, bytes, "]]>", &state->no_data);
    if (left >= 3 && ganz_ascii_letter(here[2])) return behind(text, at + 3, bytes, ">", &state->no_declaration);
    return 0;
}

static size_t html_end(const char *text, size_t at, size_t bytes, ganz_md_html_state *state)
{
    if (at + 1 >= bytes) return 0;
    switch (text[at + 1]) {
    case '!': return declaration_end(text, at, bytes, state);
    case '?': return behind(text, at + 2, bytes, "?>", &state->no_instruction);
    case '/': return end_tag_end(text, at + 2, bytes);
    default: return start_tag_end(text, at + 1, bytes);
    }
}

size_t ganz_md_html_length(const char *text, size_t at, size_t bytes, ganz_md_html_state *state)
{
    const size_t end = html_end(text, at, bytes, state);
    return end > 0 ? end - at : 0;
}

static bool is_in_scheme(char c) { return ganz_ascii_alnum(c) || c == '+' || c == '.' || c == '-'; }

/* The place of the ">" of "<scheme:...>"; 0: it is no such address. */
static size_t address_end(const char *text, size_t at, size_t bytes)
{
    size_t colon = at + 1;
    while (colon < bytes && colon - at <= 32 && is_in_scheme(text[colon])) colon++;
    if (colon - at < 3 || colon >= bytes || text[colon] != ':' || !ganz_ascii_letter(text[at + 1])) return 0;
    size_t end = colon;
    while (end < bytes && (unsigned char)text[end] > ' ' && text[end] != '<' && text[end] != '>') end++;
    return end < bytes && text[end] == '>' ? end : 0;
}

static size_t mail_end(const char *text, size_t at, size_t bytes)
{
    size_t mark = at + 1;
    while (mark < bytes && text[mark] && (ganz_ascii_alnum(text[mark]) || strchr(".!#$%&'*+/=?^_`{|}~-", text[mark])))
        mark++;
    if (mark == at + 1 || mark >= bytes || text[mark] != '@') return 0;
    size_t end = mark + 1;
    while (end < bytes && (ganz_ascii_alnum(text[end]) || text[end] == '-' || text[end] == '.')) end++;
    return end > mark + 1 && end < bytes && text[end] == '>' ? end : 0;
}

size_t ganz_md_autolink(const char *text, size_t at, size_t bytes)
{
    size_t end = address_end(text, at, bytes);
    if (end == 0) end = mail_end(text, at, bytes);
    return end > 0 ? end + 1 - at : 0;
}
