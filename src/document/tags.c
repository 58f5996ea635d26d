/* Tags of inline elements: names that are known, attributes that look like some. */
#include "document/tags.h"

#include <string.h>

#include "document/language.h"

enum { LONGEST_TAG = 400 };

static const char pairs[] =
    " a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike"
    " strong sub sup time tt u var p div li ul ol h1 h2 h3 h4 td th tr g mrk bpt ept ph it sc ec ";
static const char empties[] = " br hr img input wbr x bx ex ";
static const char breaks[] = " br hr ";
static const char boxes[] = " p div li ul ol h1 h2 h3 h4 td th tr ";

static bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/* Attributes: name="value", name='value', name=value. */
static bool are_attributes(const char *text, size_t bytes)
{
    bool equals = false, seen = false;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '<' || text[i] == '\n') return false;
        equals |= text[i] == '=';
        seen |= text[i] != ' ' && text[i] != '/';
    }
    return equals || !seen;
}

size_t ganz_tag_at(const char *text, size_t bytes, ganz_mark_kind *kind, int *name)
{
    if (bytes < 3 || text[0] != '<') return 0;
    const size_t begin = text[1] == '/' ? 2 : 1;
    size_t end = begin;
    while (end < bytes && end - begin < 8 && is_name(text[end])) end++;
    const bool pair = ganz_listed(pairs, text + begin, end - begin),
               empty = ganz_listed(empties, text + begin, end - begin);
    const char *const close = memchr(text, '>', bytes < LONGEST_TAG ? bytes : LONGEST_TAG);
    if ((!pair && !empty) || !close || (text[end] != '>' && text[end] != ' ' && text[end] != '/')) return 0;
    if (!are_attributes(text + end, (size_t)(close - text) - end)) return 0;
    const bool cut = ganz_listed(breaks, text + begin, end - begin);
    *kind = cut                         ? GANZ_MARK_BREAK
            : empty || close[-1] == '/' ? GANZ_MARK_EMPTY
            : begin == 2                ? GANZ_MARK_CLOSE
                                        : GANZ_MARK_OPEN;
    *name = 0;
    for (size_t i = begin; i < end; i++) *name = (*name * 31 + (text[i] | 32)) % 65521;
    return (size_t)(close - text) + 1;
}

bool ganz_tag_parts(const char *text, size_t bytes)
{
    const size_t begin = bytes > 1 && text[1] == '/' ? 2 : 1;
    size_t end = begin;
    while (end < bytes && is_name(text[end])) end++;
    return end < bytes && ganz_listed(boxes, text + begin, end - begin);
}

size_t ganz_code_element_at(const char *text, size_t bytes, size_t *begin, size_t *end)
{
    static const char codes[] = " code kbd samp var tt ";
    ganz_mark_kind kind;
    int name, closing;
    *begin = ganz_tag_at(text, bytes, &kind, &name);
    if (*begin == 0 || kind != GANZ_MARK_OPEN || !ganz_listed(codes, text + 1, strcspn(text + 1, " >"))) return 0;
    const size_t most = bytes - *begin < LONGEST_TAG ? bytes - *begin : LONGEST_TAG;
    const char *const close = memchr(text + *begin, '<', most);
    if (!close) return 0;
    *end = (size_t)(close - text);
    const size_t tag = ganz_tag_at(close, bytes - *end, &kind, &closing);
    return tag > 0 && kind == GANZ_MARK_CLOSE && closing == name ? *end + tag : 0;
}
