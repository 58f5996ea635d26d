/* Tokens of a translation: from its links, or its words where there are none. */
#include "document/tokens.h"

#include <string.h>

#include "text/unicode.h"

/* ---- tokens in the translation ------------------------------------------------------------------ */

void ganz_tokens_free(ganz_token_list *l)
{
    ganz_free(l->items);
    ganz_free(l->weak);
}

static bool add_token(ganz_token_list *l, ganz_token token)
{
    if (!ganz_grow((void **)&l->items, &l->capacity, l->count + 1, sizeof token)) return false;
    l->items[l->count++] = token;
    return true;
}

/* The first place from `at` on where a character begins. */
static size_t whole(const ganz_placing *p, size_t at)
{
    if (at > p->bytes) at = p->bytes;
    while (at < p->bytes && ((unsigned char)p->text[at] & 0xC0) == 0x80) at++;
    return at;
}

/* The item that came back at a place of the translation. */
static const ganz_item *item_over(const ganz_placing *p, size_t begin, size_t end)
{
    for (size_t i = 0; i < p->attempt->item_count; i++) {
        const ganz_item *const item = &p->attempt->items[i];
        if (item->found && item->target_begin < end && begin < item->target_end) return item;
    }
    return NULL;
}

static ganz_token item_token(const ganz_item *item)
{
    return (ganz_token){.begin = item->target_begin,
                        .end = item->target_end,
                        .from = item->guard.begin,
                        .to = item->guard.end,
                        .item = item};
}

/* A link with both its ranges inside of the texts. */
static ganz_link whole_link(const ganz_placing *p, ganz_link k)
{
    const size_t line = p->attempt->line.bytes;
    k.target_begin = whole(p, k.target_begin);
    k.target_end = whole(p, k.target_end);
    if (k.source_end > line) k.source_end = line;
    return k;
}

static bool add_link(const ganz_placing *p, ganz_token_list *l, ganz_link k)
{
    const size_t least = l->count > 0 ? l->items[l->count - 1].end : 0;
    const ganz_item *const item = item_over(p, k.target_begin, k.target_end);
    ganz_token t = {.begin = k.target_begin,
                    .end = k.target_end,
                    .from = ganz_attempt_place(p->attempt, p->sentence, k.source_begin),
                    .to = ganz_attempt_place_end(p->attempt, p->sentence, k.source_end)};
    if (k.weak) {
        const ganz_weak_link weak = {t.from, t.to, k.target_begin};
        if (!ganz_grow((void **)&l->weak, &l->weak_capacity, l->weak_count + 1, sizeof weak)) return false;
        l->weak[l->weak_count++] = weak;
        return true;
    }
    if (item) t = item_token(item);
    return t.begin < least || t.begin >= t.end || t.from >= t.to || add_token(l, t);
}

static size_t word_end(const char *text, size_t at, size_t end)
{
    while (at < end && text[at] != ' ') at++;
    return at;
}

/* A token of the model may be several words or signs (", !"), with a mark between them in the sentence. Where both
 * sides of its link have as many, each is a token of its own. */
static bool is_several(const ganz_placing *p, const ganz_link *k)
{
    size_t words = 0, sources = 0;
    for (size_t i = k->target_begin; i < k->target_end; i++) words += p->text[i] == ' ';
    if (words == 0 || k->weak) return false;
    for (size_t i = k->source_begin; i < k->source_end; i++) sources += p->attempt->line.text[i] == ' ';
    return words == sources;
}

static bool add_parts(const ganz_placing *p, ganz_token_list *l, ganz_link k)
{
    ganz_link part = k;
    while (part.target_begin < k.target_end) {
        part.target_end = word_end(p->text, part.target_begin, k.target_end);
        part.source_end = word_end(p->attempt->line.text, part.source_begin, k.source_end);
        if (!add_link(p, l, part)) return false;
        part.target_begin = part.target_end + 1;
        part.source_begin = part.source_end + 1;
    }
    return true;
}

/* Likewise signs that came back as they were ("/)."): a mark between two of them stays there. */
static bool is_signs(const ganz_placing *p, const ganz_link *k)
{
    const size_t bytes = k->target_end - k->target_begin;
    if (k->weak || k->target_begin >= k->target_end || bytes < 2 || bytes != k->source_end - k->source_begin)
        return false;
    const char *const signs = p->text + k->target_begin;
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)signs[i] > 126 || (unsigned char)signs[i] <= ' ' || ganz_is_alnum((unsigned char)signs[i]))
            return false;
    return memcmp(signs, p->attempt->line.text + k->source_begin, bytes) == 0;
}

static bool add_signs(const ganz_placing *p, ganz_token_list *l, ganz_link k)
{
    for (ganz_link sign = k; sign.target_begin < k.target_end; sign.target_begin++, sign.source_begin++) {
        sign.target_end = sign.target_begin + 1;
        sign.source_end = sign.source_begin + 1;
        if (!add_link(p, l, sign)) return false;
    }
    return true;
}

static bool add_linked(const ganz_placing *p, ganz_token_list *l)
{
    for (size_t i = 0; i < p->link_count; i++) {
        const ganz_link k = whole_link(p, p->links[i]);
        if (!(is_several(p, &k) ? add_parts(p, l, k) : is_signs(p, &k) ? add_signs(p, l, k) : add_link(p, l, k)))
            return false;
    }
    return true;
}

static size_t next_space(const ganz_placing *p, size_t at)
{
    while (at < p->bytes) {
        int32_t code;
        const size_t step = ganz_next_character(p->text + at, &code);
        if (ganz_is_space(code) || item_over(p, at, at + step)) break;
        at += step;
    }
    return at;
}

/* Words, and where they would come from if all words kept their order and share. */
static bool add_words(const ganz_placing *p, ganz_token_list *l)
{
    const size_t length = p->sentence->end - p->sentence->begin;
    for (size_t at = 0; at < p->bytes;) {
        int32_t code;
        const size_t step = ganz_next_character(p->text + at, &code);
        const ganz_item *const item = item_over(p, at, at + step);
        const size_t end = item ? item->target_end : next_space(p, at);
        if (item && !add_token(l, item_token(item))) return false;
        if (!item && end > at) {
            const size_t from = p->sentence->begin + length * at / p->bytes,
                         to = p->sentence->begin + length * end / p->bytes;
            if (!add_token(l, (ganz_token){.begin = at, .end = end, .from = from, .to = to > from ? to : from + 1}))
                return false;
        }
        at = end > at ? end : at + step;
    }
    return true;
}

/* Items that came back where no link is. */
static bool add_missing_items(const ganz_placing *p, ganz_token_list *l)
{
    for (size_t i = 0; i < p->attempt->item_count; i++) {
        const ganz_item *const item = &p->attempt->items[i];
        if (!item->found) continue;
        size_t at = 0;
        while (at < l->count && l->items[at].end <= item->target_begin) at++;
        if (at < l->count && l->items[at].item == item) continue;
        if (!add_token(l, (ganz_token){0})) return false;
        memmove(&l->items[at + 1], &l->items[at], (l->count - 1 - at) * sizeof *l->items);
        l->items[at] = item_token(item);
        size_t over = at + 1; /* tokens that it covers */
        while (over < l->count && l->items[over].begin < item->target_end) over++;
        memmove(&l->items[at + 1], &l->items[over], (l->count - over) * sizeof *l->items);
        l->count -= over - (at + 1);
    }
    return true;
}

/* ---- slots -------------------------------------------------------------------------------------- */

static bool is_space_at(const ganz_stretch *x, size_t at)
{
    int32_t code = ' ';
    if (at < x->end) ganz_next_character(x->block->text + at, &code);
    return ganz_is_space(code);
}

static size_t character_before(const ganz_stretch *x, size_t at)
{
    do at--;
    while (((unsigned char)x->block->text[at] & 0xC0) == 0x80);
    return at;
}

/* The visible characters of the sentence around a place; SIZE_MAX: there is none. */
static size_t neighbour_before(const ganz_stretch *x, size_t at, bool *apart)
{
    *apart = false;
    while (at > x->begin) {
        at = character_before(x, at);
        if (!is_space_at(x, at)) return at;
        *apart = true;
    }
    return SIZE_MAX;
}

static size_t neighbour_behind(const ganz_stretch *x, size_t at, bool *apart)
{
    int32_t code;
    for (*apart = false; at < x->end; *apart = true) {
        if (!is_space_at(x, at)) return at;
        at += ganz_next_character(x->block->text + at, &code);
    }
    return SIZE_MAX;
}

static size_t weak_token_of(const ganz_token_list *l, size_t place, size_t first, size_t last)
{
    for (size_t k = 0; k < l->weak_count; k++) {
        if (place < l->weak[k].from || place >= l->weak[k].to) continue;
        for (size_t i = first; i < last; i++)
            if (l->items[i].begin <= l->weak[k].target && l->weak[k].target < l->items[i].end) return i;
    }
    return SIZE_MAX;
}

static bool has_letter(const char *text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end;) {
        int32_t code;
        at += ganz_next_character(text + at, &code);
        if (ganz_is_alnum(code)) return true;
    }
    return false;
}

/* The first or last token that comes from a place. Links are guesses: an item is known to come from its own place, and
 * a word rather becomes a word than the full stop behind it. */
static size_t token_of(const ganz_placing *p, const ganz_token_list *l, size_t place, size_t first, size_t last,
                       bool last_one)
{
    int32_t code;
    size_t found = SIZE_MAX, word = SIZE_MAX;
    ganz_next_character(p->sentence->block->text + place, &code);
    for (size_t i = first; i < last; i++) {
        const ganz_token *const t = &l->items[i];
        if (place < t->from || t->to <= place) continue;
        if (t->item) return i;
        if (found == SIZE_MAX || last_one) found = i;
        if ((word == SIZE_MAX || last_one) && has_letter(p->text, t->begin, t->end)) word = i;
    }
    if (ganz_is_alnum(code) && word != SIZE_MAX) return word;
    return found != SIZE_MAX ? found : weak_token_of(l, place, first, last);
}

ganz_slot ganz_tokens_slot(const ganz_placing *p, const ganz_token_list *l, size_t begin, size_t end, size_t first,
                           size_t last)
{
    const ganz_stretch *const x = p->sentence;
    bool apart_before, apart_behind;
    const size_t before = neighbour_before(x, begin, &apart_before), behind = neighbour_behind(x, end, &apart_behind);
    if (before == SIZE_MAX) return (ganz_slot){first, false};
    if (behind == SIZE_MAX) return (ganz_slot){last, true};
    const size_t left = token_of(p, l, before, first, last, true), right = token_of(p, l, behind, first, last, false);
    if (left == SIZE_MAX && right == SIZE_MAX) { /* neither was translated: by its share */
        size_t index = first;
        while (index < last && l->items[index].to <= begin) index++;
        return (ganz_slot){index, true};
    }
    const bool glued_behind = apart_before && !apart_behind && ganz_is_alnum((unsigned char)x->block->text[behind]);
    if (left == SIZE_MAX || (right != SIZE_MAX && glued_behind)) return (ganz_slot){right, false};
    const bool next = right == left + 1; /* both agree */
    return (ganz_slot){left + 1, !(next && apart_before && !apart_behind)};
}

size_t ganz_tokens_byte(const ganz_placing *p, const ganz_token_list *l, ganz_slot slot)
{
    if (slot.behind && slot.index > 0) return l->items[slot.index - 1].end;
    if (slot.index < l->count) return l->items[slot.index].begin;
    return slot.index > 0 ? p->bytes : 0;
}

static bool space_byte(const ganz_placing *p, size_t at) { return at < p->bytes && p->text[at] == ' '; }

ganz_gap ganz_tokens_gap(const ganz_placing *p, size_t begin, size_t end, size_t at)
{
    const ganz_stretch *const x = p->sentence;
    bool apart_before, apart_behind;
    int32_t code = ' ';
    if (neighbour_before(x, begin, &apart_before) == SIZE_MAX || neighbour_behind(x, end, &apart_behind) == SIZE_MAX)
        return (ganz_gap){false, false};
    if (at < p->bytes) ganz_next_character(p->text + at, &code);
    return (ganz_gap){.before =
                          apart_before && at > 0 && p->text[at - 1] != ' ' && (apart_behind || !space_byte(p, at)),
                      .after = apart_behind && ganz_is_alnum(code)};
}

/* ---- words that were taken out ------------------------------------------------------------------ */

/* What follows at a place of the translation: a sign there goes with the word before ("CO" of "CO-Emissionen"). */
static bool starts_with_letter(const ganz_placing *p, size_t at)
{
    int32_t code = 0;
    if (at < p->bytes) ganz_next_character(p->text + at, &code);
    return ganz_is_alnum(code);
}

/* A sign that no space stands before. */
static bool starts_with_stop(const ganz_placing *p, size_t at)
{
    return at < p->bytes && memchr(".,;!?)", p->text[at], 6);
}

/* True if a space is to stand between what goes to a place and the translation behind it; alone: no text is right
 * before. */
static bool is_space_due(const ganz_placing *p, size_t at, bool alone)
{
    return !space_byte(p, at) && (alone ? !starts_with_stop(p, at) : starts_with_letter(p, at));
}

static bool add_outside(const ganz_placing *p, ganz_token_list *l, const ganz_item *item)
{
    const ganz_stretch *const x = p->sentence;
    bool apart_before, apart_behind;
    const bool has_before = neighbour_before(x, item->guard.begin, &apart_before) != SIZE_MAX;
    const bool has_behind = neighbour_behind(x, item->guard.end, &apart_behind) != SIZE_MAX;
    ganz_slot slot = ganz_tokens_slot(p, l, item->guard.begin, item->guard.end, 0, l->count);
    if (!has_before) slot = (ganz_slot){0, true};
    size_t at = ganz_tokens_byte(p, l, slot);
    if (!has_before) at = 0;
    if (!has_behind) at = p->bytes;
    const bool after_text = at > 0 || slot.index > 0, before_text = at < p->bytes || slot.index < l->count;
    const ganz_token t = {
        .begin = at,
        .end = at,
        .from = item->guard.begin,
        .to = item->guard.end,
        .item = item,
        .space_before = has_before && apart_before && after_text && !(at > 0 && p->text[at - 1] == ' '),
        .space_after = has_behind && apart_behind && before_text && is_space_due(p, at, apart_before || !has_before)};
    if (!add_token(l, t)) return false;
    memmove(&l->items[slot.index + 1], &l->items[slot.index], (l->count - 1 - slot.index) * sizeof t);
    l->items[slot.index] = t;
    return true;
}

bool ganz_tokens_make(const ganz_placing *p, ganz_token_list *l)
{
    if (!(p->link_count > 0 ? add_linked(p, l) : add_words(p, l)) || !add_missing_items(p, l)) return false;
    for (size_t i = 0; i < p->attempt->item_count; i++) {
        const ganz_item *const item = &p->attempt->items[i];
        if (item->form == GANZ_FORM_OUT && !add_outside(p, l, item)) return false;
    }
    return true;
}
