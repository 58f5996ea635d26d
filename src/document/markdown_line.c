/* Lines of Markdown by themselves. */
#include "document/markdown_line.h"

#include <string.h>

#include "document/html_scan.h"
#include "document/markdown_html.h"

static size_t skip_space(const char *line, size_t at, size_t bytes)
{
    while (at < bytes && ganz_md_space(line[at])) at++;
    return at;
}

static size_t run_length(const char *line, size_t at, size_t bytes, char c)
{
    const size_t from = at;
    while (at < bytes && line[at] == c) at++;
    return at - from;
}

bool ganz_md_blank(const char *line, size_t bytes) { return skip_space(line, 0, bytes) == bytes; }

bool ganz_md_punctuation(char c) { return c > ' ' && c < 0x7F && !ganz_ascii_alnum(c); }

/* ---- rules, headings, fences -------------------------------------------------------------------- */

bool ganz_md_rule(const char *line, size_t bytes)
{
    const char c = bytes > 0 ? line[0] : '\0';
    size_t marks = 0;
    if (c != '-' && c != '_' && c != '*') return false;
    for (size_t i = 0; i < bytes; i++) {
        if (line[i] != c && !ganz_md_space(line[i])) return false;
        marks += line[i] == c;
    }
    return marks >= 3;
}

bool ganz_md_heading(const char *line, size_t bytes, size_t *begin, size_t *end)
{
    const size_t level = run_length(line, 0, bytes, '#');
    if (level < 1 || level > 6 || (level < bytes && !ganz_md_space(line[level]))) return false;
    *begin = *end = skip_space(line, level, bytes);
    for (size_t i = *begin; i < bytes; i++)
        if (!ganz_md_space(line[i])) *end = i + 1;
    size_t closing = *end;
    while (closing > *begin && line[closing - 1] == '#') closing--;
    if (closing == *begin || ganz_md_space(line[closing - 1])) *end = closing;
    while (*end > *begin && ganz_md_space(line[*end - 1])) --*end;
    return true;
}

size_t ganz_md_before_attributes(const char *line, size_t bytes)
{
    if (bytes < 4 || line[bytes - 1] != '}') return bytes;
    size_t open = bytes - 1;
    while (open > 0 && line[open] != '{') open--;
    if (open == 0 || !ganz_md_space(line[open - 1]) || !strchr("#.:", line[open + 1])) return bytes;
    while (open > 0 && ganz_md_space(line[open - 1])) open--;
    return open;
}

bool ganz_md_underline(const char *line, size_t bytes)
{
    if (bytes == 0 || (line[0] != '=' && line[0] != '-')) return false;
    const size_t length = run_length(line, 0, bytes, line[0]);
    return ganz_md_blank(line + length, bytes - length);
}

bool ganz_md_fence_opens(const char *line, size_t bytes, ganz_md_fence *fence)
{
    if (bytes == 0 || (line[0] != '`' && line[0] != '~')) return false;
    fence->mark = line[0];
    fence->length = run_length(line, 0, bytes, line[0]);
    if (fence->length < 3) return false;
    return fence->mark == '~' || !memchr(line + fence->length, '`', bytes - fence->length);
}

bool ganz_md_fence_closes(const char *line, size_t bytes, const ganz_md_fence *fence)
{
    const size_t length = run_length(line, 0, bytes, fence->mark);
    return length >= fence->length && ganz_md_blank(line + length, bytes - length);
}

/* ---- HTML --------------------------------------------------------------------------------------- */

static bool is_any(const char *text, size_t bytes, const char *words)
{
    for (const char *w = words; *w; w += strlen(w) + 1)
        if (ganz_html_is(text, bytes, w)) return true;
    return false;
}

/* The name of a tag that begins at line[1] or line[2]. */
static size_t name_length(const char *line, size_t at, size_t bytes)
{
    const size_t from = at;
    while (at < bytes && (ganz_ascii_alnum(line[at]) || (at > from && line[at] == '-'))) at++;
    return at - from;
}

static bool ends_name(const char *line, size_t at, size_t bytes)
{
    if (at == bytes || ganz_md_space(line[at]) || line[at] == '>') return true;
    return line[at] == '/' && at + 1 < bytes && line[at + 1] == '>';
}

static bool is_box_tag(const char *line, size_t bytes)
{
    static const char boxes[] =
        "address\0article\0aside\0base\0basefont\0blockquote\0body\0caption\0center\0col\0colgroup\0dd\0details\0dial"
        "og\0dir\0"
        "div\0dl\0dt\0fieldset\0figcaption\0figure\0footer\0form\0frame\0frameset\0h1\0h2\0h3\0h4\0h5\0h6\0head\0head"
        "er\0hr\0"
        "html\0iframe\0legend\0li\0link\0main\0menu\0menuitem\0nav\0noframes\0ol\0optgroup\0option\0p\0param\0search"
        "\0section\0"
        "summary\0table\0tbody\0td\0tfoot\0th\0thead\0title\0tr\0track\0ul\0";
    const size_t name = bytes > 1 && line[1] == '/' ? 2 : 1, length = name_length(line, name, bytes);
    return length > 0 && ends_name(line, name + length, bytes) && is_any(line + name, length, boxes);
}

static bool is_raw_tag(const char *line, size_t bytes)
{
    const size_t length = name_length(line, 1, bytes), end = 1 + length;
    if (!is_any(line + 1, length, "script\0pre\0style\0textarea\0")) return false;
    return end == bytes || ganz_md_space(line[end]) || line[end] == '>';
}

/* A tag of any name with nothing behind it. */
static bool is_lone_tag(const char *line, size_t bytes)
{
    ganz_md_html_state state = {0};
    const size_t length =
        bytes > 1 && line[1] != '!' && line[1] != '?' ? ganz_md_html_length(line, 0, bytes, &state) : 0;
    return length > 0 && ganz_md_blank(line + length, bytes - length);
}

int ganz_md_html_opens(const char *line, size_t bytes, bool in_paragraph)
{
    if (bytes < 2 || line[0] != '<') return 0;
    if (is_raw_tag(line, bytes)) return 1;
    if (bytes >= 4 && memcmp(line, "<!--", 4) == 0) return 2;
    if (line[1] == '?') return 3;
    if (bytes >= 9 && memcmp(line, "<![CDATA[", 9) == 0) return 5;
    if (line[1] == '!') return bytes > 2 && ganz_ascii_letter(line[2]) ? 4 : 0;
    if (is_box_tag(line, bytes)) return 6;
    return !in_paragraph && is_lone_tag(line, bytes) ? 7 : 0;
}

static bool contains(const char *line, size_t bytes, const char *word)
{
    const size_t need = strlen(word);
    for (size_t i = 0; i + need <= bytes; i++)
        if (line[i] == word[0] && ganz_html_is(line + i, need, word)) return true;
    return false;
}

bool ganz_md_html_closes(const char *line, size_t bytes, int kind)
{
    switch (kind) {
    case 1:
        return contains(line, bytes, "</script>") || contains(line, bytes, "</pre>") ||
               contains(line, bytes, "</style>") || contains(line, bytes, "</textarea>");
    case 2: return contains(line, bytes, "-->");
    case 3: return contains(line, bytes, "?>");
    case 4: return contains(line, bytes, ">");
    case 5: return contains(line, bytes, "]]>");
    default: return false;
    }
}

/* ---- items, footnotes, directives --------------------------------------------------------------- */

size_t ganz_md_item_mark(const char *line, size_t bytes, bool in_paragraph)
{
    size_t digits = 0;
    while (digits < bytes && digits < 10 && ganz_ascii_digit(line[digits])) digits++;
    const bool bullet = bytes > 0 && (line[0] == '-' || line[0] == '+' || line[0] == '*');
    const bool number = digits > 0 && digits < 10 && digits < bytes && (line[digits] == '.' || line[digits] == ')');
    const size_t length = bullet ? 1 : number ? digits + 1 : 0;
    if (length == 0 || (length < bytes && !ganz_md_space(line[length]))) return 0;
    if (in_paragraph && ganz_md_blank(line + length, bytes - length)) return 0;
    if (in_paragraph && number && !(digits == 1 && line[0] == '1')) return 0;
    return length;
}

size_t ganz_md_term_mark(const char *line, size_t bytes)
{
    return bytes > 2 && line[0] == ':' && ganz_md_space(line[1]) && !ganz_md_blank(line + 1, bytes - 1) ? 1 : 0;
}

bool ganz_md_admonition(const char *line, size_t bytes, size_t *begin, size_t *end)
{
    size_t at = 3;
    while (bytes > 0 && ganz_md_space(line[bytes - 1])) bytes--;
    if (bytes < 5 || (memcmp(line, "!!!", 3) != 0 && memcmp(line, "???", 3) != 0)) return false;
    if (line[at] == '+') at++;
    if (line[at++] != ' ') return false;
    const size_t word = at;
    while (at < bytes && (ganz_ascii_letter(line[at]) || line[at] == '-')) at++;
    *begin = *end = at;
    if (at == word || at == bytes) return at > word;
    if (line[at++] != ' ' || line[at] != '"' || line[bytes - 1] != '"' || at + 1 >= bytes) return false;
    *begin = at + 1;
    *end = bytes - 1;
    return true;
}

size_t ganz_md_task(const char *line, size_t bytes)
{
    if (bytes < 5 || line[0] != '[' || line[2] != ']' || !ganz_md_space(line[3])) return 0;
    const size_t end = skip_space(line, 3, bytes);
    return (line[1] == ' ' || line[1] == 'x' || line[1] == 'X') && end < bytes ? end : 0;
}

size_t ganz_md_footnote(const char *line, size_t bytes)
{
    if (bytes < 5 || line[0] != '[' || line[1] != '^') return 0;
    size_t at = 2;
    while (at < bytes && line[at] != ']' && line[at] != '[' && !ganz_md_space(line[at])) at++;
    return at > 2 && at + 1 < bytes && line[at] == ']' && line[at + 1] == ':' ? at + 2 : 0;
}

static bool is_alert(const char *line, size_t bytes)
{
    size_t at = 2;
    if (bytes < 4 || line[0] != '[' || line[1] != '!') return false;
    while (at < bytes && ganz_ascii_letter(line[at])) at++;
    return at > 2 && at < bytes && line[at] == ']' && ganz_md_blank(line + at + 1, bytes - at - 1);
}

bool ganz_md_directive(const char *line, size_t bytes)
{
    while (bytes > 0 && ganz_md_space(line[bytes - 1])) bytes--;
    if (is_alert(line, bytes)) return true;
    if (bytes >= 3 && memcmp(line, ":::", 3) == 0) return true;
    if (bytes < 4 || line[0] != '{' || line[bytes - 1] != '}') return false;
    if (memchr(line, '}', bytes - 1)) return false; /* text in between */
    return line[1] == ':' || (line[1] == '%' && line[bytes - 2] == '%');
}

/* ---- tables ------------------------------------------------------------------------------------- */

bool ganz_md_cell(const char *line, size_t bytes, size_t *at, size_t *begin, size_t *end)
{
    size_t from = *at;
    if (from == 0) from = skip_space(line, 0, bytes);
    if (*at == 0 && from < bytes && line[from] == '|') from++;
    if (ganz_md_blank(line + from, bytes - from)) return false;
    size_t to = from;
    while (to < bytes && !(line[to] == '|' && (to == from || line[to - 1] != '\\'))) to++;
    *at = to < bytes ? to + 1 : bytes;
    *begin = skip_space(line, from, to);
    while (to > *begin && ganz_md_space(line[to - 1])) to--;
    *end = to;
    return true;
}

size_t ganz_md_table_rule(const char *line, size_t bytes)
{
    size_t cells = 0;
    bool bar = memchr(line, '|', bytes) != NULL;
    for (size_t at = 0, begin, end; ganz_md_cell(line, bytes, &at, &begin, &end); cells++) {
        if (begin < end && line[begin] == ':') begin++, bar = true;
        const size_t dashes = begin < end ? run_length(line, begin, end, '-') : 0;
        begin += dashes;
        if (begin < end && line[begin] == ':') begin++, bar = true;
        if (dashes == 0 || begin != end) return 0;
    }
    return bar ? cells : 0;
}
