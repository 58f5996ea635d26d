/* The line of an attempt: the sentence's text with one space for white space, in ordinary case, each guard in its form.
 */
#include "document/attempt.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "document/short.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

void ganz_attempt_free(ganz_attempt *a)
{
    ganz_text_free(&a->line);
    ganz_free(a->places);
}

/* ---- guards ------------------------------------------------------------------------------------- */

static bool add_guard(ganz_guards *g, ganz_guard guard)
{
    if (!ganz_grow((void **)&g->items, &g->capacity, g->count + 1, sizeof guard)) return false;
    g->items[g->count++] = guard;
    return true;
}

/* A term of the glossary at a place, or a short word. */
static const ganz_term *term_at(const ganz_setting *s, const ganz_stretch *x, size_t end, size_t at, size_t *length)
{
    const char *const text = x->block->text;
    const ganz_term *const term = s->glossary ? ganz_glossary_find(s->glossary, text, end, at, length) : NULL;
    const ganz_short_view v = {text, x->begin, x->end, s->source, s->target};
    const ganz_term *const word = term ? NULL : ganz_short_term(&v, at);
    if (!word) return term;
    *length = word->source_bytes;
    return at + *length <= end ? word : NULL;
}

/* Terms in a part of a stretch without other guards. */
static bool find_terms(ganz_guards *g, const ganz_setting *s, const ganz_stretch *x, size_t begin, size_t end)
{
    const char *const text = x->block->text;
    bool inside = false; /* of a word */
    for (size_t at = begin; at < end;) {
        int32_t code;
        size_t length, step = ganz_next_character(text + at, &code);
        const bool alnum = ganz_is_alnum(code);
        const ganz_term *const term = inside && alnum ? NULL : term_at(s, x, end, at, &length);
        if (term) {
            if (!add_guard(g, (ganz_guard){.kind = GANZ_GUARD_TERM, .begin = at, .end = at + length, .term = term}))
                return false;
            step = length;
        }
        inside = alnum;
        at += step;
    }
    return true;
}

/* Guards of a stretch without opaque words and times: those by shape, and terms between them. */
static bool find_shapes(ganz_guards *g, const ganz_setting *s, const ganz_stretch *x, size_t begin, size_t end)
{
    ganz_guards shapes = {0};
    bool good = ganz_guards_find(&shapes, x->block->text, begin, end, s->latin);
    for (size_t i = 0; i <= shapes.count && good; i++) {
        const bool last = i == shapes.count;
        good = find_terms(g, s, x, begin, last ? end : shapes.items[i].begin);
        if (last || !good) break;
        begin = shapes.items[i].end;
        good = add_guard(g, shapes.items[i]);
    }
    ganz_free(shapes.items);
    return good;
}

/* True if a number cannot begin behind this character. */
static bool joins_number(int32_t code) { return ganz_is_alnum(code) || code == '.' || code == ',' || code == ':'; }

enum { LONGEST_WORD = 4000 /* bytes */ };

size_t ganz_behind_endless(const char *text, size_t begin, size_t end, size_t at)
{
    if (at > begin && text[at - 1] != ' ') return at;
    const char *const space = memchr(text + at, ' ', end - at);
    const size_t behind = space ? (size_t)(space - text) : end;
    return behind - at > LONGEST_WORD ? behind : at;
}

/* Guards of a part without opaque words: times of day, and what is between them. */
static bool find_in_part(ganz_guards *g, const ganz_setting *s, const ganz_stretch *x, size_t begin, size_t end)
{
    const char *const text = x->block->text;
    int32_t code = ' ';
    for (size_t at = begin, endless = begin, step; s->clock && at < end; at += step) {
        if (at >= endless) endless = ganz_behind_endless(text, begin, end, at);
        const bool looks = at >= endless && !joins_number(code);
        const size_t length = looks ? s->clock->at(&(ganz_clock_place){text, x->begin, x->end, at}) : 0;
        step = ganz_next_character(text + at, &code);
        if (length == 0) continue;
        const ganz_guard time = {.kind = GANZ_GUARD_CLOCK, .begin = at, .end = at + length};
        if (!find_shapes(g, s, x, begin, at) || !add_guard(g, time)) return false;
        begin = at + length;
        step = length;
    }
    return find_shapes(g, s, x, begin, end);
}

static bool find_guards(ganz_guards *g, const ganz_setting *s, const ganz_stretch *x)
{
    size_t begin = x->begin;
    for (size_t i = x->first; i < x->last; i++) {
        const ganz_run *const r = &x->block->runs[i];
        if (r->kind != GANZ_RUN_OPAQUE) continue;
        const ganz_guard word = {.kind = GANZ_GUARD_OPAQUE, .begin = r->begin, .end = r->end, .run = r};
        if (!find_in_part(g, s, x, begin, r->begin) || !add_guard(g, word)) return false;
        begin = r->end;
    }
    return find_in_part(g, s, x, begin, x->end);
}

/* ---- lists -------------------------------------------------------------------------------------- */

enum { LEAST_LIST = 8 /* guards: fewer come back one by one */, MOST_BETWEEN = 8 /* bytes between two */ };

static bool joins_lists(const ganz_guard *g)
{
    return g->kind != GANZ_GUARD_NUMBER && g->kind != GANZ_GUARD_TERM && g->kind != GANZ_GUARD_SIGN &&
           g->kind != GANZ_GUARD_CLOCK && g->kind != GANZ_GUARD_RESULTS;
}

/* True if nothing but signs and spaces is between two guards. */
static bool follows_in_list(const ganz_guard *g, const ganz_guard *next, const char *text)
{
    if (!joins_lists(next) || next->begin - g->end > MOST_BETWEEN) return false;
    for (size_t at = g->end; at < next->begin;) {
        int32_t code;
        at += ganz_next_character(text + at, &code);
        if (ganz_is_alnum(code)) return false;
    }
    return true;
}

/* True if a mark is inside of [begin, end). *run, the first run that may be there, only moves on: guards rise. */
static bool has_mark(const ganz_stretch *x, size_t begin, size_t end, size_t *run)
{
    const ganz_run *const runs = x->block->runs;
    while (*run < x->last && runs[*run].begin <= begin) ++*run;
    for (size_t i = *run; i < x->last && runs[i].begin < end; i++)
        if (runs[i].kind == GANZ_RUN_MARK) return true;
    return false;
}

/* A model that sees "X1, X2, X3, ..." counts on and on: a long list is one word for it. */
static void join_lists(ganz_guards *g, const ganz_stretch *x)
{
    size_t kept = 0, run = x->first;
    for (size_t i = 0, end; i < g->count; i = end) {
        const ganz_guard *const items = g->items;
        end = i + 1;
        while (joins_lists(&items[i]) && end < g->count &&
               follows_in_list(&items[end - 1], &items[end], x->block->text) &&
               !has_mark(x, items[end - 1].begin, items[end].end, &run))
            end++;
        const bool list = end - i >= LEAST_LIST;
        const ganz_guard whole = {.kind = GANZ_GUARD_LIST, .begin = g->items[i].begin, .end = g->items[end - 1].end};
        if (list) g->items[kept++] = whole;
        for (size_t k = i; k < end && !list; k++) g->items[kept++] = g->items[k];
    }
    g->count = kept;
}

/* ---- forms -------------------------------------------------------------------------------------- */

/* A word or a name that the model may see: letters, capital first where there are several words. */
static bool is_wordlike(const char *text, size_t bytes)
{
    bool space = false;
    if (bytes == 0 || bytes > 40) return false;
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == ' ') space = true;
        else if (c >= 0x80 || !ganz_is_alnum(c) || (c >= '0' && c <= '9')) return false;
    }
    return !space || ganz_is_upper(text[0]);
}

static bool is_part_of_word(const ganz_stretch *x, size_t at)
{
    int32_t code;
    ganz_next_character(x->block->text + at, &code);
    return ganz_is_alnum(code) || code == 0xFFFC;
}

/* True if no space or sign is between a guard and what is beside it. */
static bool touches_word(const ganz_stretch *x, const ganz_guard *guard)
{
    size_t before = guard->begin;
    if (guard->end < x->end && is_part_of_word(x, guard->end)) return true;
    if (before == x->begin) return false;
    do before--;
    while (((unsigned char)x->block->text[before] & 0xC0) == 0x80);
    return is_part_of_word(x, before);
}

/* A name that is one word with its neighbours would not come back. */
static ganz_form form_of_place(const ganz_item *item, const ganz_stretch *x)
{
    if (item->guard.run->shown_bytes > 0) return GANZ_FORM_PLAIN;
    return touches_word(x, &item->guard) ? GANZ_FORM_OUT : GANZ_FORM_NAME;
}

static ganz_form first_form(const ganz_item *item, const ganz_stretch *x)
{
    switch (item->guard.kind) {
    case GANZ_GUARD_ADDRESS:
    case GANZ_GUARD_LIST:
    case GANZ_GUARD_SCRIPT: return GANZ_FORM_NAME;
    case GANZ_GUARD_CODE: return x->block->text[item->guard.begin] == '`' ? GANZ_FORM_NAME : GANZ_FORM_PLAIN;
    case GANZ_GUARD_SIGN: return GANZ_FORM_OUT;
    case GANZ_GUARD_OPAQUE:
        if (item->guard.run->place) return form_of_place(item, x);
        if (item->guard.run->shown_bytes == 0) return GANZ_FORM_OUT;
        return is_wordlike(item->guard.run->shown, item->guard.run->shown_bytes) ? GANZ_FORM_PLAIN : GANZ_FORM_NAME;
    default: return GANZ_FORM_PLAIN;
    }
}

/* Numbers are let go first where there are too many guards. */
static void drop_numbers(ganz_guards *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->count; i++)
        if (g->items[i].kind != GANZ_GUARD_NUMBER) g->items[kept++] = g->items[i];
    g->count = kept;
}

/* A letter that no word of the sentence joins with a digit. */
static char stand_in_letter(const char *text, size_t bytes)
{
    for (const char *letter = "XQZKJWVY"; *letter; letter++) {
        bool used = false;
        for (size_t i = 0; i + 1 < bytes && !used; i++)
            used = text[i] == *letter && text[i + 1] >= '0' && text[i + 1] <= '9';
        if (!used) return *letter;
    }
    return 'X';
}

static void choose_forms(ganz_attempt *a, const ganz_guards *g, const ganz_stretch *x)
{
    const char letter = stand_in_letter(x->block->text + x->begin, x->end - x->begin);
    a->item_count = g->count;
    for (size_t i = 0; i < g->count; i++) {
        ganz_item *const item = &a->items[i];
        item->guard = g->items[i];
        item->digits = item->guard.begin;
        item->digits_end = item->guard.end;
        item->form = first_form(item, x);
        snprintf(item->name, sizeof item->name, "%c%u", letter, (unsigned)(i + 1) % 100);
    }
}

bool ganz_guard_changes(const ganz_guard *g)
{
    return g->kind == GANZ_GUARD_CLOCK || (g->kind == GANZ_GUARD_TERM && ganz_term_changes(g->term));
}

/* A sentence of nothing but terms and times is to be translated, too. */
static bool changes_guards(const ganz_guards *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (ganz_guard_changes(&g->items[i])) return true;
    return false;
}

ganz_attempt_found ganz_attempt_begin(ganz_attempt *a, const ganz_setting *s, const ganz_stretch *x)
{
    ganz_guards g = {0};
    *a = (ganz_attempt){0};
    ganz_attempt_found found = GANZ_ATTEMPT_MEMORY;
    if (find_guards(&g, s, x)) {
        join_lists(&g, x);
        if (g.count > GANZ_ITEMS) drop_numbers(&g);
        a->words = ganz_guards_leave_words(&g, x->block->text, x->begin, x->end);
        const bool wanted = g.count <= GANZ_ITEMS && (a->words || changes_guards(&g));
        found = wanted ? GANZ_ATTEMPT_WORDS : GANZ_ATTEMPT_NOTHING;
    }
    if (found == GANZ_ATTEMPT_WORDS) {
        choose_forms(a, &g, x);
        a->letters = ganz_letters_of(x->block->text, x->begin, x->end, &g);
    }
    ganz_free(g.items);
    return found;
}

/* ---- the line ----------------------------------------------------------------------------------- */

typedef struct line_maker {
    ganz_attempt *a;
    size_t begin; /* of the sentence */
    bool space;   /* one is due before what comes next */
    bool begun;   /* a word was seen */
} line_maker;

static bool add(line_maker *m, const char *bytes, size_t count, size_t from)
{
    ganz_attempt *const a = m->a;
    if (!ganz_grow((void **)&a->places, &a->place_capacity, a->line.bytes + count, sizeof *a->places)) return false;
    for (size_t i = 0; i < count; i++) a->places[a->line.bytes + i] = (uint32_t)(from - m->begin);
    return ganz_text_append(&a->line, bytes, count);
}

static bool add_space(line_maker *m, size_t from)
{
    const bool due = m->space && m->a->line.bytes > 0;
    m->space = false;
    return !due || add(m, " ", 1, from);
}

const char *ganz_item_shown(const ganz_item *item, const ganz_block *b, size_t *bytes)
{
    switch (item->form) {
    case GANZ_FORM_TERM: return *bytes = item->guard.term->target_bytes, item->guard.term->target;
    case GANZ_FORM_NAME: return *bytes = strlen(item->name), item->name;
    case GANZ_FORM_OUT: return *bytes = 0, NULL;
    default: break;
    }
    if (item->guard.run) return *bytes = item->guard.run->shown_bytes, item->guard.run->shown;
    return *bytes = item->guard.end - item->guard.begin, b->text + item->guard.begin;
}

static bool add_item(line_maker *m, ganz_item *item, const ganz_block *b)
{
    size_t bytes;
    const char *const shown = ganz_item_shown(item, b, &bytes);
    item->line_begin = item->line_end = m->a->line.bytes;
    if (bytes == 0) return true;
    if (!add_space(m, item->guard.begin)) return false;
    item->line_begin = m->a->line.bytes;
    m->begun = true;
    if (!add(m, shown, bytes, item->guard.begin)) return false;
    item->line_end = m->a->line.bytes;
    return true;
}

/* Where a word may be divided or must not be, in pasted text: models know no word that has one of these. */
static bool is_unseen(int32_t code) { return code == 0xAD || code == 0x200B || code == 0x2060 || code == 0xFEFF; }

static size_t word_end(const char *text, size_t at, size_t end)
{
    while (at < end) {
        int32_t code;
        const size_t step = ganz_next_character(text + at, &code);
        if (!ganz_is_alnum(code) && !is_unseen(code) && code != '\'' && code != 0x2019) break;
        at += step;
    }
    return at;
}

static bool add_word(line_maker *m, const ganz_setting *s, const char *text, size_t at, size_t end)
{
    const ganz_recase how = ganz_recase_word(m->a->letters, s->source, text, at, end, !m->begun);
    m->begun = true;
    for (size_t index = 0; at < end; index++) {
        int32_t code;
        char bytes[4];
        const size_t step = ganz_next_character(text + at, &code);
        if (is_unseen(code)) {
            at += step;
            continue;
        }
        const int32_t changed = ganz_recase_character(how, code, index);
        const size_t count = (size_t)ganz_utf8_encode(changed, bytes);
        if (!add(m, bytes, count, at)) return false;
        at += step;
    }
    return true;
}

/* "No. 7" at the beginning of a sentence: models read "no", and after "No" alone a number. */
static bool is_number_word(const ganz_setting *s, const char *text, size_t at, size_t end)
{
    int32_t code;
    if (strcmp(s->source->code, "en") != 0 || end - at < 5 || memcmp(text + at, "No.", 3) != 0) return false;
    const size_t space = ganz_next_character(text + at + 3, &code), next = at + 3 + space;
    return ganz_is_space(code) && next < end && text[next] >= '0' && text[next] <= '9';
}

static bool add_text(line_maker *m, const ganz_setting *s, const char *text, size_t at, size_t end)
{
    while (at < end) {
        int32_t code;
        const size_t step = ganz_next_character(text + at, &code);
        if (ganz_is_space(code) || is_unseen(code)) {
            m->space |= !is_unseen(code);
            at += step;
            continue;
        }
        const bool number = !m->begun && is_number_word(s, text, at, end);
        const size_t next = ganz_is_alnum(code) ? word_end(text, at, end) : at + step;
        if (!add_space(m, at)) return false;
        if (!(ganz_is_alnum(code) ? add_word(m, s, text, at, next) : add(m, text + at, step, at))) return false;
        at = next + number; /* the point is left out */
    }
    return true;
}

bool ganz_attempt_line(ganz_attempt *a, const ganz_setting *s, const ganz_stretch *x)
{
    line_maker m = {.a = a, .begin = x->begin};
    size_t at = x->begin;
    a->line.bytes = 0;
    for (size_t i = 0; i < a->item_count; i++) {
        ganz_item *const item = &a->items[i];
        if (!add_text(&m, s, x->block->text, at, item->guard.begin) || !add_item(&m, item, x->block)) return false;
        at = item->guard.end;
    }
    if (!add_text(&m, s, x->block->text, at, x->end) || !ganz_text_append(&a->line, "", 1)) return false;
    a->line.bytes--; /* terminated */
    return true;
}

bool ganz_attempt_needs_links(const ganz_attempt *a)
{
    for (size_t i = 0; i < a->item_count; i++) {
        const ganz_item *const item = &a->items[i];
        if (item->form == GANZ_FORM_OUT && item->line_begin > 0 && item->line_begin < a->line.bytes) return true;
    }
    return false;
}

/* ---- places ------------------------------------------------------------------------------------- */

size_t ganz_attempt_place(const ganz_attempt *a, const ganz_stretch *x, size_t at)
{
    if (a->line.bytes == 0) return x->begin;
    return x->begin + a->places[at < a->line.bytes ? at : a->line.bytes - 1];
}

size_t ganz_attempt_place_end(const ganz_attempt *a, const ganz_stretch *x, size_t at)
{
    if (at == 0 || a->line.bytes == 0) return x->begin;
    const size_t last = (at <= a->line.bytes ? at : a->line.bytes) - 1, place = x->begin + a->places[last];
    for (size_t i = 0; i < a->item_count; i++)
        if (last >= a->items[i].line_begin && last < a->items[i].line_end) return a->items[i].guard.end;
    int32_t code;
    return place + ganz_next_character(x->block->text + place, &code);
}
