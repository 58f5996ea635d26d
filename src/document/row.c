/* Which texts and elements are a row. */
#include "document/row.h"

#include "base/utf8.h"
#include "document/html_entity.h"
#include "document/html_scan.h"
#include "document/markdown_line.h"
#include "text/unicode.h"

/* ---- texts -------------------------------------------------------------------------------------- */

/* The character at text[0] as a reader sees it; returns its bytes. */
static size_t step(const char *text, size_t bytes, bool escapes, int32_t *code)
{
    size_t taken = text[0] == '&' ? ganz_entity_decode(text, bytes, GANZ_ENTITY_TEXT, code) : 0;
    if (taken > 0) return taken;
    if (escapes && bytes > 1 && text[0] == '\\' && ganz_md_punctuation(text[1])) return *code = text[1], 2;
    taken = (size_t)ganz_utf8_decode(text, bytes, code);
    if (taken > 0) return taken;
    *code = (unsigned char)text[0] >= 0x80 ? ganz_windows_1252((unsigned char)text[0]) : text[0];
    return 1;
}

static ganz_gap gap_of(int32_t code)
{
    switch (code) {
    case '|':
    case '>':
    case 0xB7:   /* · */
    case 0xBB:   /* » */
    case 0x2022: /* • */
    case 0x203A: /* › */ return GANZ_GAP_STRONG;
    case '/':
    case ',': return GANZ_GAP_WEAK;
    default: return ganz_is_space(code) ? GANZ_GAP_SPACE : GANZ_GAP_NONE;
    }
}

typedef struct cutter {
    ganz_row_text *cut;
    ganz_gap last; /* of the character before */
    bool words;    /* have begun */
    bool alnum;    /* and there is a letter or digit */
} cutter;

/* A character of the gap before the words, or the first one of them. One sign is a gap, more of them are not. */
static void add_before(cutter *c, ganz_gap gap, size_t at)
{
    const bool sign = gap > GANZ_GAP_SPACE;
    if (gap != GANZ_GAP_NONE && !(sign && c->cut->before > GANZ_GAP_SPACE)) {
        if (gap > c->cut->before) c->cut->before = gap;
        return;
    }
    c->words = true;
    c->cut->begin = at;
}

/* Characters of the words, and of the gap behind them: white space, and one sign with white space before it. */
static void add_behind(cutter *c, ganz_gap gap, size_t at, size_t after)
{
    const bool sign = gap > GANZ_GAP_SPACE && c->last == GANZ_GAP_SPACE && c->cut->behind <= GANZ_GAP_SPACE;
    if (gap == GANZ_GAP_SPACE || sign) {
        if (c->cut->behind == GANZ_GAP_NONE) c->cut->end = at;
        if (gap > c->cut->behind) c->cut->behind = gap;
        return;
    }
    c->cut->behind = GANZ_GAP_NONE;
    c->cut->end = after;
}

bool ganz_row_cut(const char *text, size_t bytes, bool escapes, ganz_row_text *cut)
{
    cutter c = {.cut = cut};
    *cut = (ganz_row_text){.begin = bytes, .end = bytes};
    for (size_t at = 0, after; at < bytes; at = after) {
        int32_t code = 0;
        after = at + step(text + at, bytes - at, escapes, &code);
        const ganz_gap gap = gap_of(code);
        if (!c.words) add_before(&c, gap, at);
        if (c.words) add_behind(&c, gap, at, after);
        c.alnum |= ganz_is_alnum(code);
        c.last = gap;
    }
    return !c.words || c.alnum;
}

/* ---- items -------------------------------------------------------------------------------------- */

void ganz_row_add_gap(ganz_row *row, ganz_gap gap)
{
    if (gap > row->pending) row->pending = gap;
}

/* A text is an item only between signs that leave no doubt: "See <a>this</a>" is none. */
static void add_item(ganz_row *row, ganz_gap before, bool text)
{
    if (row->items > 0 && (text || row->after_text) && before != GANZ_GAP_STRONG) row->failed = true;
    if (row->items > 0 && before < row->weakest) row->weakest = before;
    row->items++;
    row->after_text = text;
    row->pending = GANZ_GAP_NONE;
}

void ganz_row_add_text(ganz_row *row, const char *text, size_t bytes, bool escapes)
{
    ganz_row_text cut;
    if (!ganz_row_cut(text, bytes, escapes, &cut)) row->failed = true;
    ganz_row_add_gap(row, cut.before);
    if (cut.begin == cut.end) return;
    add_item(row, row->pending, true);
    row->pending = cut.behind;
}

void ganz_row_add_element(ganz_row *row, ganz_gap before, int name, ganz_row_kind kind)
{
    add_item(row, before, false);
    if (row->elements++ == 0) row->name = name;
    row->mixed |= row->name != name;
    if (kind < row->kind) row->kind = kind;
}

/* "Home | <b>About</b>" is a row whatever the elements are. With weaker signs, or none, they must be of one kind, for
 * "<b>Very</b> <i>important</i>" is not, and with none that kind must be one that words of sentences have not. */
bool ganz_row_is(const ganz_row *row)
{
    if (row->failed || row->items < 2 || row->elements == 0) return false;
    switch (row->weakest) {
    case GANZ_GAP_STRONG: return true;
    case GANZ_GAP_WEAK: return !row->mixed;
    case GANZ_GAP_SPACE: return !row->mixed && row->kind >= GANZ_ROW_LABEL;
    default: return !row->mixed && row->kind == GANZ_ROW_LINK;
    }
}
