/* Finding a row in a page: one look ahead over a block, with the items of the first few depths counted side by side,
 * because the row may stand in an element of its own. */
#include "document/html_row.h"

#include "base/utf8.h"
#include "document/html_element.h"
#include "document/html_entity.h"
#include "document/row.h"
#include "text/unicode.h"

enum { ROW_DEPTH = 3 /* elements around a row */, OPEN_DEPTH = 16 };

typedef struct opened {
    int number;
    bool foreign; /* svg: nothing in it is looked at */
    bool words;   /* in it */
    bool small;   /* the first begins so */
    ganz_gap before, inside;
} opened;

typedef struct finder {
    ganz_row rows[ROW_DEPTH + 1];
    opened open[OPEN_DEPTH];
    int depth;
    bool xml, heading;
    bool lost; /* this is no row */
} finder;

static ganz_row *row_here(finder *f) { return f->depth <= ROW_DEPTH ? &f->rows[f->depth] : NULL; }

/* ---- text --------------------------------------------------------------------------------------- */

/* Notes the first letter or digit of the innermost element. */
static void note_words(opened *o, const char *text, size_t bytes)
{
    for (size_t at = 0, taken; at < bytes && !o->words; at += taken) {
        int32_t code = 0;
        taken = text[at] == '&' ? ganz_entity_decode(text + at, bytes - at, GANZ_ENTITY_TEXT, &code) : 0;
        if (taken == 0) taken = (size_t)ganz_utf8_decode(text + at, bytes - at, &code);
        if (taken == 0) taken = 1, code = 'X'; /* a letter of another character set */
        o->words = ganz_is_alnum(code);
        o->small = o->words && ganz_is_lower(code);
    }
}

static void add_text(finder *f, const ganz_html_token *token)
{
    ganz_row *const row = row_here(f);
    opened *const o = f->depth > 0 ? &f->open[f->depth - 1] : NULL;
    ganz_row_text cut;
    if (row) ganz_row_add_text(row, token->raw, token->bytes, false);
    if (!o) return;
    if (ganz_row_cut(token->raw, token->bytes, false, &cut) && cut.before > o->inside) o->inside = cut.before;
    note_words(o, token->raw, token->bytes);
}

/* ---- tags --------------------------------------------------------------------------------------- */

static void open_element(finder *f, const ganz_html_token *token, const ganz_html_element *element)
{
    ganz_row *const row = row_here(f);
    if ((element->flags & GANZ_HTML_VOID) || (token->self_closing && f->xml)) {
        if (row) ganz_row_add_gap(row, GANZ_GAP_SPACE);
        return;
    }
    if (f->depth == OPEN_DEPTH || (element->flags & (GANZ_HTML_RAW | GANZ_HTML_PLAIN))) {
        f->lost = true;
        return;
    }
    f->open[f->depth++] = (opened){.number = ganz_html_number(ganz_html_name(token), token->name_bytes),
                                   .foreign = element->flags & GANZ_HTML_FOREIGN,
                                   .before = row ? row->pending : GANZ_GAP_NONE};
}

static ganz_row_kind kind_of(const finder *f, const opened *o, const ganz_html_token *end)
{
    if (ganz_html_is(ganz_html_name(end), end->name_bytes, "a")) return GANZ_ROW_LINK;
    const bool label = ganz_html_is(ganz_html_name(end), end->name_bytes, "span") && !o->small && !f->heading;
    return label ? GANZ_ROW_LABEL : GANZ_ROW_OTHER;
}

static void close_element(finder *f, const ganz_html_token *token)
{
    const opened o = f->open[f->depth - 1];
    if (o.number != ganz_html_number(ganz_html_name(token), token->name_bytes)) {
        f->lost = !o.foreign;
        return;
    }
    f->depth--;
    ganz_row *const row = row_here(f);
    opened *const outer = f->depth > 0 ? &f->open[f->depth - 1] : NULL;
    if (row && o.words) ganz_row_add_element(row, o.before, o.number, kind_of(f, &o, token));
    if (row && !o.words) ganz_row_add_gap(row, o.inside > GANZ_GAP_SPACE ? o.inside : GANZ_GAP_SPACE);
    if (!outer) return;
    if (o.words && !outer->words) outer->words = true, outer->small = o.small;
    if (o.inside > outer->inside) outer->inside = o.inside;
}

/* False: the token ends the block. */
static bool add_token(finder *f, const ganz_html_token *token)
{
    const bool foreign = f->depth > 0 && f->open[f->depth - 1].foreign;
    if (token->kind == GANZ_HTML_COMMENT) return true;
    if (token->kind == GANZ_HTML_TEXT) {
        if (!foreign) add_text(f, token);
        return true;
    }
    const ganz_html_element *const element = ganz_html_find(ganz_html_name(token), token->name_bytes);
    if (foreign && token->kind == GANZ_HTML_START) return true;
    if (!foreign && !(element->flags & GANZ_HTML_INLINE)) return false;
    if (token->kind == GANZ_HTML_START) return open_element(f, token, element), true;
    if (f->depth == 0) return false;
    return close_element(f, token), true;
}

/* ---- the block ---------------------------------------------------------------------------------- */

/* The depth of the row: an element that is alone is around it. */
static int find_depth(const finder *f)
{
    if (f->lost || f->depth > 0) return -1;
    for (int i = 0; i <= ROW_DEPTH; i++) {
        const ganz_row *const row = &f->rows[i];
        if (row->failed) return -1;
        if (row->items != 1 || row->elements != 1) return ganz_row_is(row) ? i : -1;
    }
    return -1;
}

ganz_html_row ganz_html_find_row(ganz_html_scan scan, bool xml, bool heading)
{
    finder f = {.xml = xml, .heading = heading};
    ganz_html_token token;
    size_t end = scan.at;
    for (int i = 0; i <= ROW_DEPTH; i++) f.rows[i] = ganz_row_begin();
    while (!f.lost && ganz_html_next(&scan, &token) && add_token(&f, &token)) end = scan.at;
    return (ganz_html_row){.end = end, .depth = find_depth(&f)};
}
