/* Emphasis, by CommonMark's method of delimiter runs: runs are a list; each one that can close looks back for one that
 * can open, and what was searched in vain is not searched again, which makes it linear. */
#include "document/markdown_emphasis.h"

#include <string.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "document/markdown_line.h"

struct ganz_md_delimiter {
    char mark;
    bool opens, closes;
    uint32_t begin, end; /* what is left of the run */
    uint32_t length;     /* of the whole run */
    int before, after;   /* in the list, from 1; 0: none */
};

void ganz_md_delimiters_close(ganz_md_delimiters *d)
{
    ganz_free(d->all);
    *d = (ganz_md_delimiters){0};
}

/* ---- runs --------------------------------------------------------------------------------------- */

typedef enum char_class { SPACE, PUNCTUATION, OTHER } char_class;

static char_class classify(int32_t code)
{
    if (code < 0x80) return code <= ' ' ? SPACE : ganz_md_punctuation((char)code) ? PUNCTUATION : OTHER;
    switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_ZS: return SPACE;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO: return PUNCTUATION;
    default: return OTHER;
    }
}

static char_class class_after(const char *text, size_t bytes, size_t at)
{
    int32_t code = 'x';
    if (at >= bytes) return SPACE;
    return ganz_utf8_decode(text + at, bytes - at, &code) > 0 ? classify(code) : OTHER;
}

static char_class class_before(const char *text, size_t at)
{
    if (at == 0) return SPACE;
    size_t begin = at - 1;
    while (begin > 0 && at - begin < 4 && ((unsigned char)text[begin] & 0xC0) == 0x80) begin--;
    return class_after(text, at, begin);
}

bool ganz_md_add_run(ganz_md_delimiters *d, const char *text, size_t bytes, size_t begin, size_t end)
{
    const char_class before = class_before(text, begin), after = class_after(text, bytes, end);
    const bool left = after != SPACE && (after == OTHER || before != OTHER);
    const bool right = before != SPACE && (before == OTHER || after != OTHER);
    const bool strict = text[begin] == '_'; /* not inside of words */
    ganz_md_delimiter new_one = {.mark = text[begin], .begin = (uint32_t)begin, .end = (uint32_t)end};
    new_one.length = new_one.end - new_one.begin;
    new_one.opens = left && (!strict || !right || before == PUNCTUATION);
    new_one.closes = right && (!strict || !left || after == PUNCTUATION);
    if ((!new_one.opens && !new_one.closes) || (new_one.mark == '~' && new_one.length > 2)) return true;
    if (!ganz_grow((void **)&d->all, &d->capacity, d->count + 1, sizeof *d->all)) return false;
    new_one.before = d->last;
    d->all[d->count++] = new_one;
    if (d->last > 0) d->all[d->last - 1].after = (int)d->count;
    d->last = (int)d->count;
    return true;
}

/* ---- pairs -------------------------------------------------------------------------------------- */

static ganz_md_delimiter *get(const ganz_md_delimiters *d, int number) { return &d->all[number - 1]; }

static void unlink_run(ganz_md_delimiters *d, int number)
{
    const ganz_md_delimiter *const r = get(d, number);
    if (r->before > 0) get(d, r->before)->after = r->after;
    if (r->after > 0) get(d, r->after)->before = r->before;
    else d->last = r->before;
}

static bool fits(const ganz_md_delimiter *opener, const ganz_md_delimiter *closer)
{
    if (opener->mark != closer->mark || !opener->opens) return false;
    if (closer->mark == '~') return opener->length == closer->length;
    const bool both = opener->closes || closer->opens;
    return !(both && closer->length % 3 != 0 && (opener->length + closer->length) % 3 == 0);
}

/* Which searches are alike: they fail for the same reason. */
static size_t search_kind(const ganz_md_delimiter *closer)
{
    const size_t mark = closer->mark == '*' ? 0 : closer->mark == '_' ? 1 : 2 + closer->length;
    return (mark * 2 + closer->opens) * 3 + closer->length % 3;
}

static int find_opener(const ganz_md_delimiters *d, int closer, int floor)
{
    int at = get(d, closer)->before;
    while (at > floor && !fits(get(d, at), get(d, closer))) at = get(d, at)->before;
    return at > floor ? at : 0;
}

static void set_marks(ganz_md_delimiter *opener, ganz_md_delimiter *closer, uint8_t *marks)
{
    const bool twice = opener->end - opener->begin >= 2 && closer->end - closer->begin >= 2;
    const uint32_t length = twice ? 2 : 1;
    opener->end -= length;
    marks[opener->end] = (uint8_t)(GANZ_MD_MARK_OPENS | (twice ? GANZ_MD_MARK_DOUBLE : 0));
    marks[closer->begin] = (uint8_t)(GANZ_MD_MARK_CLOSES | (twice ? GANZ_MD_MARK_DOUBLE : 0));
    closer->begin += length;
}

/* Pairs two runs; returns the run that is to be looked at next. */
static int pair(ganz_md_delimiters *d, int opener, int closer, uint8_t *marks)
{
    ganz_md_delimiter *const o = get(d, opener), *const c = get(d, closer);
    set_marks(o, c, marks);
    o->after = closer; /* what was between them is text */
    c->before = opener;
    if (o->begin == o->end) unlink_run(d, opener);
    if (c->begin < c->end) return closer;
    const int next = c->after;
    unlink_run(d, closer);
    return next;
}

static int first_behind(const ganz_md_delimiters *d, int bottom)
{
    int first = 0;
    for (int at = d->last; at > bottom; at = get(d, at)->before) first = at;
    return first;
}

void ganz_md_pair_runs(ganz_md_delimiters *d, int bottom, uint8_t *marks)
{
    int floors[30];
    for (size_t i = 0; i < GANZ_COUNT(floors); i++) floors[i] = bottom;
    for (int closer = first_behind(d, bottom); closer > 0;) {
        const ganz_md_delimiter *const c = get(d, closer);
        if (!c->closes) {
            closer = c->after;
            continue;
        }
        int *const floor = &floors[search_kind(c)];
        const int opener = find_opener(d, closer, *floor);
        if (opener > 0) {
            closer = pair(d, opener, closer, marks);
            continue;
        }
        *floor = c->before > *floor ? c->before : *floor;
        const int next = c->after;
        if (!c->opens) unlink_run(d, closer);
        closer = next;
    }
    while (d->last > bottom) unlink_run(d, d->last);
}
