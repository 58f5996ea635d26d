/* What became of the items of an attempt. Each must be found in the translation exactly once; the longest are looked
 * for first, so that {{a}} is not taken for {a}. */
#include <string.h>

#include "document/attempt.h"
#include "document/clock_read.h"
#include "document/inflect.h"
#include "document/short.h"
#include "document/money.h"
#include "document/number.h"
#include "document/results.h"
#include "document/suffix.h"
#include "text/unicode.h"

typedef struct checker {
    ganz_attempt *a;
    const ganz_setting *setting;
    const ganz_stretch *x;
    const char *text;
    size_t bytes;
    size_t order[GANZ_ITEMS]; /* of the items, the longest first */
} checker;

/* ---- ranges ------------------------------------------------------------------------------------- */

static bool is_free(const checker *c, size_t begin, size_t end)
{
    for (size_t i = 0; i < c->a->item_count; i++) {
        const ganz_item *const item = &c->a->items[i];
        if (item->found && item->target_begin < end && begin < item->target_end) return false;
    }
    return true;
}

static bool alnum_at(const checker *c, size_t at)
{
    int32_t code = 0;
    if (at < c->bytes) ganz_next_character(c->text + at, &code);
    return ganz_is_alnum(code);
}

static bool alnum_before(const checker *c, size_t at)
{
    if (at == 0) return false;
    do at--;
    while (((unsigned char)c->text[at] & 0xC0) == 0x80);
    return alnum_at(c, at);
}

/* A word does not begin or end inside of another. */
static bool stands_alone(const checker *c, size_t begin, size_t end)
{
    return !(alnum_at(c, begin) && alnum_before(c, begin)) && !(alnum_before(c, end) && alnum_at(c, end));
}

/* The first free place of some bytes; SIZE_MAX: none. */
static size_t find(const checker *c, const char *wanted, size_t bytes)
{
    for (size_t at = 0; bytes > 0 && at + bytes <= c->bytes; at++) {
        const char *const hit = memchr(c->text + at, wanted[0], c->bytes - bytes + 1 - at);
        if (!hit) break;
        at = (size_t)(hit - c->text);
        if (memcmp(hit, wanted, bytes) == 0 && stands_alone(c, at, at + bytes) && is_free(c, at, at + bytes)) return at;
    }
    return SIZE_MAX;
}

static void take(ganz_item *item, size_t begin, size_t end)
{
    item->found = true;
    item->target_begin = begin;
    item->target_end = end;
}

/* ---- words that come back as they are ----------------------------------------------------------- */

static bool is_number(const ganz_item *item)
{
    return item->guard.kind == GANZ_GUARD_NUMBER && item->form == GANZ_FORM_PLAIN;
}
static bool is_term(const ganz_item *item)
{
    return item->guard.kind == GANZ_GUARD_TERM && (item->form == GANZ_FORM_PLAIN || item->form == GANZ_FORM_TERM);
}

static bool is_clock(const ganz_item *item)
{
    return item->guard.kind == GANZ_GUARD_CLOCK && item->form == GANZ_FORM_PLAIN;
}
static bool is_results(const ganz_item *item)
{
    return item->guard.kind == GANZ_GUARD_RESULTS && item->form == GANZ_FORM_PLAIN;
}
/* Words that are not looked for as they are. */
static bool changes(const ganz_item *item)
{
    return is_number(item) || is_term(item) || is_clock(item) || is_results(item);
}

static void sort_by_length(checker *c)
{
    size_t lengths[GANZ_ITEMS];
    for (size_t i = 0; i < c->a->item_count; i++) {
        size_t at = i;
        ganz_item_shown(&c->a->items[i], c->x->block, &lengths[i]);
        for (; at > 0 && lengths[c->order[at - 1]] < lengths[i]; at--) c->order[at] = c->order[at - 1];
        c->order[at] = i;
    }
}

static void find_words(checker *c)
{
    for (size_t i = 0; i < c->a->item_count; i++) {
        ganz_item *const item = &c->a->items[c->order[i]];
        size_t bytes;
        const char *const shown = ganz_item_shown(item, c->x->block, &bytes);
        if (bytes == 0 || changes(item)) continue;
        const size_t at = find(c, shown, bytes);
        if (at != SIZE_MAX) take(item, at, at + bytes);
    }
}

/* One that is there once more was not found exactly once. */
static void lose_doubles(checker *c)
{
    bool twice[GANZ_ITEMS] = {false};
    for (size_t i = 0; i < c->a->item_count; i++) {
        const ganz_item *const item = &c->a->items[i];
        size_t bytes;
        const char *const shown = ganz_item_shown(item, c->x->block, &bytes);
        twice[i] = item->found && !changes(item) && find(c, shown, bytes) != SIZE_MAX;
    }
    for (size_t i = 0; i < c->a->item_count; i++) c->a->items[i].found &= !twice[i];
}

static void find_results(checker *c, ganz_item *item)
{
    size_t at = 0, length;
    const char *const own = c->x->block->text + item->guard.begin;
    while ((length = ganz_results_find(own, item->guard.end - item->guard.begin, c->text, c->bytes, &at)) > 0) {
        if (is_free(c, at, at + length)) {
            take(item, at, at + length);
            return;
        }
        at += length;
    }
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* Steps to the next number; false: there is none. *at is behind the one before. Threes may be apart: 10 000. */
static bool next_number(const checker *c, size_t *at, size_t *length)
{
    while (*at < c->bytes) {
        *length = ganz_number_at(c->text, c->bytes, *at);
        if (*length > 0) return true;
        (*at)++;
    }
    return false;
}

static size_t with_threes(const checker *c, size_t at, size_t length)
{
    const size_t next = at + length;
    if (next + 4 > c->bytes || c->text[next] != ' ' || ganz_number_at(c->text, c->bytes, next + 1) != 3) return length;
    return length + 4;
}

/* One that stands alone, else one inside a word: "39" is rather found beside "TC39" than in it. */
static bool find_number_once(checker *c, ganz_item *item, bool alone)
{
    const char *const own = c->x->block->text + item->digits;
    const size_t own_bytes = item->digits_end - item->digits;
    size_t length;
    for (size_t at = 0; next_number(c, &at, &length); at += length) {
        const size_t wider = with_threes(c, at, length);
        const bool same = ganz_same_digits(own, own_bytes, c->text + at, length);
        const bool same_wider = !same && ganz_same_digits(own, own_bytes, c->text + at, wider);
        const size_t end = at + (same ? length : wider);
        if ((!same && !same_wider) || !is_free(c, at, end) || (alone && !stands_alone(c, at, end))) continue;
        take(item, at, end);
        item->kept = !ganz_digits_misread(own, own_bytes, c->setting->source, c->text + at, length, c->setting->target);
        return true;
    }
    return false;
}

static void find_number(checker *c, ganz_item *item)
{
    if (!find_number_once(c, item, true)) find_number_once(c, item, false);
}

/* True if nothing but a suffix of the number shares its word: "160er", "80m". */
static bool is_all_number(const checker *c, size_t begin, size_t end)
{
    const size_t suffix = ganz_suffix_at(c->text, c->bytes, end, end - begin);
    return stands_alone(c, begin, end + suffix);
}

/* True if the digits at a place are also elsewhere in the translation. */
static bool is_repeated(const checker *c, size_t begin, size_t end)
{
    size_t length;
    for (size_t at = 0; next_number(c, &at, &length); at += length)
        if (at != begin && ganz_same_digits(c->text + begin, end - begin, c->text + at, length)) return true;
    return false;
}

/* If but one number is missing and there is but one that nobody knows, it has wrong digits, or is a time that the
 * sentence does not have: "10,000m" became "10.00 Uhr". */
static void mend_number(checker *c, ganz_item *missing)
{
    size_t length, begin = 0, end = 0;
    int strangers = 0;
    for (size_t at = 0; next_number(c, &at, &length); at += length) {
        if (!is_free(c, at, at + length) || !is_all_number(c, at, at + length)) continue;
        begin = at;
        end = at + length;
        strangers++;
    }
    if (strangers != 1 || end - begin < 2 || is_repeated(c, begin, end)) return;
    if (ganz_clock_half(c->text, c->bytes, end) == 0) take(missing, begin, end);
}

static void find_numbers(checker *c)
{
    ganz_item *missing = NULL;
    int count = 0;
    for (size_t i = 0; i < c->a->item_count; i++) {
        ganz_item *const item = &c->a->items[i];
        if (!is_number(item)) continue;
        find_number(c, item);
        if (!item->found) missing = item, count++;
    }
    if (count == 1) mend_number(c, missing);
}

/* ---- times of day ------------------------------------------------------------------------------- */

static void find_clock(checker *c, ganz_item *item, ganz_clock_search search)
{
    const ganz_clock_place place = {c->x->block->text, c->x->begin, c->x->end, item->guard.begin};
    size_t at = 0, length;
    bool right;
    while ((length = c->setting->clock->find(&place, search, c->text, c->bytes, &at, &right))) {
        if (is_free(c, at, at + length)) {
            take(item, at, at + length);
            item->kept = right;
            return;
        }
        at += length;
    }
}

/* Hours alone, which may be any number, after all numbers that have a place. */
static void find_clocks(checker *c, ganz_clock_search search)
{
    for (size_t i = 0; i < c->a->item_count; i++)
        if (is_clock(&c->a->items[i]) && !c->a->items[i].found) find_clock(c, &c->a->items[i], search);
}

/* ---- money -------------------------------------------------------------------------------------- */

static bool knows_currencies(const ganz_language *target)
{
    return strcmp(target->code, "de") == 0 || strcmp(target->code, "en") == 0;
}

/* The amount of number i; false: it has neither a currency nor a suffix, or that of its neighbour. */
static bool is_amount(const checker *c, size_t i, ganz_amount *amount)
{
    const ganz_stretch *const x = c->x;
    const ganz_item *const items = c->a->items;
    const size_t least = i > 0 ? items[i - 1].guard.end : x->begin;
    const size_t most = i + 1 < c->a->item_count ? items[i + 1].guard.begin : x->end;
    if (items[i].guard.kind != GANZ_GUARD_NUMBER) return false;
    *amount =
        ganz_amount_around(x->block->text, x->begin, x->end, items[i].digits, items[i].digits_end, c->setting->source);
    return amount->end - amount->begin > items[i].digits_end - items[i].digits && amount->begin >= least &&
           amount->end <= most && (amount->currency_bytes == 0 || knows_currencies(c->setting->target));
}

static void widen(ganz_item *item, const ganz_amount *a)
{
    item->guard.begin = a->begin;
    item->guard.end = a->end;
}

/* Widens what a number was found as to the whole amount, so that nothing is put into it. */
static bool take_amount(const checker *c, ganz_item *item, const ganz_amount *a, size_t begin, size_t end)
{
    const size_t number = item->target_begin, number_end = item->target_end;
    if (!is_free(c, begin, number) || !is_free(c, number_end, end)) return false;
    widen(item, a);
    take(item, begin, end);
    return true;
}

/* An amount that the translation does not have whole gets a stand-in along with its currency, and with what multiplies
 * it: $150m was 150 dollars. */
static void find_amounts(checker *c)
{
    for (size_t i = 0; i < c->a->item_count; i++) {
        ganz_item *const item = &c->a->items[i];
        ganz_amount a;
        if (!is_number(item) || !is_amount(c, i, &a) || (item->found && a.currency_bytes == 0)) continue;
        size_t begin = item->target_begin, end = item->target_end;
        const ganz_amount_telling told =
            item->found ? ganz_amount_told(&a, c->setting->target, c->text, c->bytes, &begin, &end) : GANZ_AMOUNT_LOST;
        if (told == GANZ_AMOUNT_TOLD && item->kept) take_amount(c, item, &a, begin, end);
        if (told == GANZ_AMOUNT_FOREIGN && take_amount(c, item, &a, begin, end)) item->kept = false; /* written anew */
        if (told != GANZ_AMOUNT_LOST) continue;
        item->found = item->kept = false;
        widen(item, &a);
    }
}

/* Takes numbers out of the line along with what makes amounts of them. */
static void widen_amounts(checker *c)
{
    ganz_amount a;
    for (size_t i = 0; i < c->a->item_count; i++)
        if (is_amount(c, i, &a)) widen(&c->a->items[i], &a);
}

/* ---- terms -------------------------------------------------------------------------------------- */

/* Bytes at a place of a term's translation in any form, or of a word just so. */
static size_t term_length(const checker *c, const ganz_term *t, size_t at)
{
    return ganz_inflected_length(t->target, t->target_bytes, c->text, c->bytes, at);
}
static size_t word_length(const checker *c, const char *word, size_t bytes, size_t at)
{
    int32_t code = ' ';
    if (c->bytes - at < bytes || memcmp(c->text + at, word, bytes) != 0) return 0;
    if (at + bytes < c->bytes) ganz_next_character(c->text + at + bytes, &code);
    return ganz_is_alnum(code) ? 0 : bytes;
}

/* word: to be found as it is; NULL: the term's translation. */
static bool find_form(checker *c, ganz_item *item, const char *word, size_t bytes)
{
    for (size_t at = 0; at < c->bytes;) {
        int32_t code;
        const size_t step = ganz_next_character(c->text + at, &code);
        const bool begins = !ganz_is_space(code) && !(ganz_is_alnum(code) && alnum_before(c, at));
        const size_t length = !begins ? 0
                              : word  ? word_length(c, word, bytes, at)
                                      : term_length(c, item->guard.term, at);
        if (length > 0 && is_free(c, at, at + length)) {
            take(item, at, at + length);
            return true;
        }
        at += step;
    }
    return false;
}

/* A short word may have been left as it was. */
static void find_term(checker *c, ganz_item *item)
{
    const ganz_term *const t = item->guard.term;
    const bool is_short = ganz_short_is(t);
    item->kept = find_form(c, item, is_short ? t->target : NULL, t->target_bytes);
    if (is_short && !item->kept) find_form(c, item, t->source, t->source_bytes);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static ganz_form next_form(const ganz_item *item)
{
    if (item->form == GANZ_FORM_PLAIN && item->guard.kind == GANZ_GUARD_TERM && item->guard.term->target_bytes > 0)
        return GANZ_FORM_TERM;
    return item->form == GANZ_FORM_NAME ? GANZ_FORM_OUT : GANZ_FORM_NAME;
}

/* What was lost is shown in another form, and is taken out before the last attempt. In that all is; at once where only
 * guards are left. */
static bool all_found(checker *c)
{
    ganz_attempt *const a = c->a;
    bool all = true, out = false;
    for (size_t i = 0; i < a->item_count; i++) {
        ganz_item *const item = &a->items[i];
        if (item->form == GANZ_FORM_OUT || item->found) continue;
        item->form = a->round + 2 < GANZ_ATTEMPTS ? next_form(item) : GANZ_FORM_OUT;
        out |= item->form == GANZ_FORM_OUT;
        all = false;
    }
    if (all) return true;
    a->round++;
    if (a->round + 1 < GANZ_ATTEMPTS && !(out && !a->words)) return false;
    widen_amounts(c);
    for (size_t i = 0; i < a->item_count; i++) a->items[i].form = GANZ_FORM_OUT;
    return false;
}

bool ganz_attempt_check(ganz_attempt *a, const ganz_setting *s, const ganz_stretch *sentence, const char *text,
                        size_t bytes)
{
    checker c = {.a = a, .setting = s, .x = sentence, .text = text, .bytes = bytes};
    for (size_t i = 0; i < a->item_count; i++) a->items[i].found = a->items[i].kept = false;
    sort_by_length(&c);
    find_words(&c);
    lose_doubles(&c);
    for (size_t i = 0; i < a->item_count; i++)
        if (is_results(&a->items[i])) find_results(&c, &a->items[i]);
    find_clocks(&c, GANZ_CLOCK_RIGHT);
    find_clocks(&c, GANZ_CLOCK_WRONG);
    find_numbers(&c);
    find_clocks(&c, GANZ_CLOCK_ALONE);
    find_amounts(&c);
    for (size_t i = 0; i < a->item_count; i++)
        if (is_term(&a->items[i])) find_term(&c, &a->items[i]);
    return all_found(&c);
}
