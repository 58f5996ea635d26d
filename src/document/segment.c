/* One sentence: its attempts, and the last touches to a translation that was found whole. */
#include "document/segment.h"

#include <string.h>

#include "base/utf8.h"
#include "document/letter.h"
#include "document/mail.h"
#include "document/slip.h"
#include "ganz/io.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

static ganz_status no_memory(ganz_error *err) { return ganz_fail(err, GANZ_ENOMEM, "out of memory for a sentence"); }

static void end_attempt(ganz_sentence_part *p)
{
    if (p->attempt) ganz_attempt_free(p->attempt);
    ganz_free(p->attempt);
    p->attempt = NULL;
}

void ganz_sentence_part_free(ganz_sentence_part *p)
{
    end_attempt(p);
    ganz_free(p->target);
    ganz_free(p->inserts.items);
}

/* ---- lines -------------------------------------------------------------------------------------- */

static bool has_marks(const ganz_stretch *x)
{
    for (size_t i = x->first; i < x->last; i++)
        if (x->block->runs[i].kind == GANZ_RUN_MARK) return true;
    return false;
}

static ganz_status make_line(ganz_sentence_part *p, const ganz_setting *s, ganz_error *err)
{
    if (!ganz_attempt_line(p->attempt, s, &p->stretch)) return no_memory(err);
    p->links = has_marks(&p->stretch) || ganz_attempt_needs_links(p->attempt);
    return GANZ_OK;
}

ganz_status ganz_sentence_begin(ganz_sentence_part *p, const ganz_setting *s, const char *before, size_t before_bytes,
                                ganz_error *err)
{
    const ganz_stretch *const x = &p->stretch;
    if (ganz_is_signature(x->block->text + x->begin, x->end - x->begin, before, before_bytes))
        return p->state = GANZ_STATE_DONE, GANZ_OK;
    p->opens = ganz_opens_letter(before, before_bytes);
    p->attempt = ganz_alloc(1, sizeof *p->attempt);
    if (!p->attempt) return no_memory(err);
    p->state = GANZ_STATE_OUT;
    switch (ganz_attempt_begin(p->attempt, s, x)) {
    case GANZ_ATTEMPT_MEMORY: return no_memory(err);
    case GANZ_ATTEMPT_WORDS: return make_line(p, s, err);
    default: break;
    }
    p->state = GANZ_STATE_DONE;
    end_attempt(p);
    return GANZ_OK;
}

/* ---- translations ------------------------------------------------------------------------------- */

/* A translation that may be changed, and its links along with it. */
typedef struct draft {
    ganz_text text;
    ganz_link *links;
    size_t link_count;
} draft;

static void free_draft(draft *d)
{
    ganz_text_free(&d->text);
    ganz_free(d->links);
}

static bool make_draft(draft *d, const ganz_translation *t)
{
    const size_t count = t->links && t->link_count > 0 ? (size_t)t->link_count : 0;
    if (!ganz_text_append(&d->text, t->text, t->bytes)) return false;
    d->links = count > 0 ? ganz_alloc(count, sizeof *d->links) : NULL;
    if (count > 0 && !d->links) return false;
    if (count > 0) memcpy(d->links, t->links, count * sizeof *d->links);
    d->link_count = count;
    return true;
}

/* Another text takes the draft's place; byte i of the old one is byte moved[i] of the new one. */
static void exchange(draft *d, ganz_attempt *a, ganz_text *text, const size_t *moved)
{
    const size_t old = d->text.bytes;
    for (size_t i = 0; i < d->link_count; i++) {
        ganz_link *const k = &d->links[i];
        k->target_begin = moved[k->target_begin < old ? k->target_begin : old];
        k->target_end = moved[k->target_end < old ? k->target_end : old];
    }
    for (size_t i = 0; i < a->item_count; i++) {
        if (!a->items[i].found) continue;
        a->items[i].target_begin = moved[a->items[i].target_begin];
        a->items[i].target_end = moved[a->items[i].target_end];
    }
    ganz_text_free(&d->text);
    d->text = *text;
}

/* ---- case --------------------------------------------------------------------------------------- */

/* Ranges of the items that came back as they are, in order. */
static size_t kept_ranges(const ganz_attempt *a, size_t *keep)
{
    size_t count = 0;
    for (size_t i = 0; i < a->item_count; i++) {
        const ganz_item *const item = &a->items[i];
        if (!item->found) continue;
        size_t at = count++;
        for (; at > 0 && keep[2 * (at - 1)] > item->target_begin; at--)
            memcpy(&keep[2 * at], &keep[2 * (at - 1)], 2 * sizeof *keep);
        keep[2 * at] = item->target_begin;
        keep[2 * at + 1] = item->target_end;
    }
    return count;
}

static bool inside_found(const ganz_attempt *a, size_t at)
{
    for (size_t i = 0; i < a->item_count; i++)
        if (a->items[i].found && a->items[i].target_begin <= at && at < a->items[i].target_end) return true;
    return false;
}

/* True if nothing that was found is in a range. */
static bool is_apart(const ganz_attempt *a, size_t begin, size_t end)
{
    while (begin < end && !inside_found(a, begin)) begin++;
    return begin == end;
}

/* Models write "ein Apfel" for the heading "One apple". A capital takes as many bytes, or it is left alone. */
static void begin_alike(draft *d, const ganz_attempt *a, const char *sentence, size_t bytes_of_sentence)
{
    char capital[4];
    int32_t code;
    const size_t at = ganz_missing_capital(sentence, bytes_of_sentence, d->text.text, d->text.bytes);
    if (at == d->text.bytes || inside_found(a, at)) return;
    const size_t bytes = ganz_next_character(d->text.text + at, &code);
    if ((size_t)ganz_utf8_encode(ganz_to_upper(code), capital) == bytes) memcpy(d->text.text + at, capital, bytes);
}

static bool recase(draft *d, const ganz_sentence_part *p, const ganz_setting *s)
{
    ganz_attempt *const a = p->attempt;
    const ganz_stretch *const x = &p->stretch;
    if (a->letters == GANZ_LETTERS_MIXED) return begin_alike(d, a, x->block->text + x->begin, x->end - x->begin), true;
    size_t keep[2 * GANZ_ITEMS];
    const size_t count = kept_ranges(a, keep);
    size_t *const moved = ganz_alloc(d->text.bytes + 1, sizeof *moved);
    ganz_text out = {0};
    const bool good =
        moved && ganz_recase_translation(a->letters, s->target, d->text.text, d->text.bytes, keep, count, &out, moved);
    if (good) exchange(d, a, &out, moved);
    else ganz_text_free(&out);
    ganz_free(moved);
    return good;
}

/* ---- strays ------------------------------------------------------------------------------------- */

/* What was not in the line and is in the translation all the same is not wanted there: it comes once, and not here.
 * Numbers, times and terms may well be there for another reason. */
static const char *stray_text(const ganz_item *item, const ganz_block *b, size_t *bytes)
{
    *bytes = 0;
    const ganz_guard_kind kind = item->guard.kind;
    if (item->form == GANZ_FORM_PLAIN) return NULL;
    if (kind == GANZ_GUARD_NUMBER || kind == GANZ_GUARD_CLOCK || kind == GANZ_GUARD_TERM) return NULL;
    if (item->guard.run && item->guard.run->place) return NULL; /* nobody knows what it will be */
    if (item->guard.run) return *bytes = item->guard.run->shown_bytes, item->guard.run->shown;
    return *bytes = item->guard.end - item->guard.begin, b->text + item->guard.begin;
}

/* What is also a word of the line itself has its place in the translation: a code span "npm" beside the word npm. */
static bool in_line(const ganz_text *line, const char *text, size_t bytes)
{
    for (size_t at = 0; at + bytes <= line->bytes; at++) {
        const char *const hit = memchr(line->text + at, text[0], line->bytes - bytes + 1 - at);
        if (!hit) return false;
        at = (size_t)(hit - line->text);
        if (memcmp(hit, text, bytes) == 0) return true;
    }
    return false;
}

typedef struct strays {
    const char *text[GANZ_ITEMS];
    size_t bytes[GANZ_ITEMS];
    size_t count;
} strays;

static void find_strays(strays *s, const ganz_sentence_part *p)
{
    for (size_t i = 0; i < p->attempt->item_count; i++) {
        const ganz_item *const item = &p->attempt->items[i];
        size_t bytes;
        const char *const text = stray_text(item, p->stretch.block, &bytes);
        const bool common = item->guard.run || item->guard.kind == GANZ_GUARD_SIGN;
        if (bytes == 0 || (common && in_line(&p->attempt->line, text, bytes))) continue;
        s->text[s->count] = text;
        s->bytes[s->count++] = bytes;
    }
}

static bool is_stray(const strays *s, const ganz_text *text, size_t at, size_t *length)
{
    for (size_t i = 0; i < s->count; i++) {
        *length = s->bytes[i];
        if (text->bytes - at >= *length && memcmp(text->text + at, s->text[i], *length) == 0) return true;
    }
    return false;
}

static bool drop_strays(ganz_attempt *a, const strays *unwanted, draft *d, bool *dropped)
{
    const size_t before = d->text.bytes;
    size_t *const moved = ganz_alloc(d->text.bytes + 1, sizeof *moved);
    ganz_text out = {0};
    bool good = moved && ganz_text_append(&out, "", 0);
    for (size_t at = 0; at < d->text.bytes && good;) {
        size_t length;
        const bool stray = is_stray(unwanted, &d->text, at, &length) && is_apart(a, at, at + length);
        if (!stray) length = 1;
        for (size_t i = 0; i < length; i++) moved[at + i] = out.bytes;
        if (!stray) good = ganz_text_append(&out, d->text.text + at, 1);
        at += length;
    }
    if (good) moved[d->text.bytes] = out.bytes;
    if (good) exchange(d, a, &out, moved);
    else ganz_text_free(&out);
    ganz_free(moved);
    *dropped = good && d->text.bytes < before;
    return good;
}

/* What is left may make up another stray. */
static bool drop_all_strays(const ganz_sentence_part *p, draft *d)
{
    strays unwanted = {.count = 0};
    bool good = true, dropped = true;
    find_strays(&unwanted, p);
    while (unwanted.count > 0 && good && dropped) good = drop_strays(p->attempt, &unwanted, d, &dropped);
    return good;
}

/* ---- slips -------------------------------------------------------------------------------------- */

static bool mend_slips(const ganz_sentence_part *p, const ganz_setting *s, draft *d)
{
    const ganz_stretch *const x = &p->stretch;
    const ganz_slip_view view = {x->block->text, x->begin, x->end, d->text.text, d->text.bytes, s->target};
    size_t *const moved = ganz_alloc(d->text.bytes + 1, sizeof *moved);
    ganz_text out = {0};
    bool good = moved && ganz_text_append(&out, "", 0);
    for (size_t at = 0, endless = 0; at < d->text.bytes && good;) {
        ganz_slip slip;
        if (at >= endless) endless = ganz_behind_endless(d->text.text, 0, d->text.bytes, at);
        const bool found = at >= endless && ganz_slip_at(&view, at, &slip) && is_apart(p->attempt, at, at + slip.bytes);
        const size_t bytes = found ? slip.bytes : 1;
        for (size_t i = 0; i < bytes; i++) moved[at + i] = out.bytes;
        good = found ? ganz_text_append(&out, slip.by, slip.by_bytes) : ganz_text_append(&out, d->text.text + at, 1);
        at += bytes;
    }
    if (good) moved[d->text.bytes] = out.bytes;
    if (good) exchange(d, p->attempt, &out, moved);
    else ganz_text_free(&out);
    ganz_free(moved);
    return good;
}

/* ---- the end ------------------------------------------------------------------------------------ */

/* A sentence has its white space around it: none of the translation's own is wanted at its ends. */
static void trim(draft *d, ganz_attempt *a)
{
    ganz_text *const t = &d->text;
    size_t lead = 0;
    while (t->bytes > 0 && t->text[t->bytes - 1] == ' ' && !inside_found(a, t->bytes - 1)) t->bytes--;
    while (lead < t->bytes && t->text[lead] == ' ' && !inside_found(a, lead)) lead++;
    if (lead == 0) return;
    memmove(t->text, t->text + lead, t->bytes -= lead);
    for (size_t i = 0; i < d->link_count; i++) {
        ganz_link *const k = &d->links[i];
        k->target_begin -= k->target_begin < lead ? k->target_begin : lead;
        k->target_end -= k->target_end < lead ? k->target_end : lead;
    }
    for (size_t i = 0; i < a->item_count; i++) {
        if (!a->items[i].found) continue;
        a->items[i].target_begin -= lead;
        a->items[i].target_end -= lead;
    }
}

static bool keep_target(ganz_sentence_part *p, const draft *d)
{
    const ganz_placing placing = {.attempt = p->attempt,
                                  .sentence = &p->stretch,
                                  .text = d->text.text,
                                  .bytes = d->text.bytes,
                                  .links = d->links,
                                  .link_count = d->link_count};
    p->inserts.count = 0;
    if (!ganz_place(&placing, &p->inserts)) return false;
    p->target = ganz_alloc(d->text.bytes, 1);
    if (!p->target) return false;
    if (d->text.bytes > 0) memcpy(p->target, d->text.text, d->text.bytes);
    p->target_bytes = d->text.bytes;
    p->translated = true;
    return true;
}

static ganz_status finish(ganz_sentence_part *p, const ganz_setting *s, const ganz_translation *t, ganz_error *err)
{
    draft d = {0};
    bool good = make_draft(&d, t) && drop_all_strays(p, &d) && mend_slips(p, s, &d);
    if (good) trim(&d, p->attempt);
    good = good && recase(&d, p, s);
    if (good && p->opens && strcmp(s->target->code, "en") == 0) begin_alike(&d, p->attempt, "A", 1);
    good = good && keep_target(p, &d);
    free_draft(&d);
    if (!good) return no_memory(err);
    p->state = GANZ_STATE_DONE;
    end_attempt(p);
    return GANZ_OK;
}

/* True if a translation leaves the sentence as it was. */
static bool is_unchanged(const ganz_attempt *a, const ganz_translation *t)
{
    for (size_t i = 0; i < a->item_count; i++)
        if (ganz_guard_changes(&a->items[i].guard)) return false;
    return t->bytes == a->line.bytes && memcmp(t->text, a->line.text, t->bytes) == 0;
}

/* Lines of letters and mail whose words are known: not what the model says. */
static ganz_status write_letter(ganz_sentence_part *p, const ganz_setting *s, bool *known, ganz_error *err)
{
    const ganz_stretch *const x = &p->stretch;
    ganz_text out = {0};
    *known = false;
    if (s->glossary || has_marks(x)) return GANZ_OK;
    const char *const text = x->block->text + x->begin;
    bool good = ganz_letter_write(&out, text, x->end - x->begin, s->source, s->target, known);
    if (good && !*known) good = ganz_mail_write(&out, text, x->end - x->begin, s->source, s->target, known);
    if (good && *known) {
        p->target = ganz_alloc(out.bytes, 1);
        good = p->target;
        if (good) memcpy(p->target, out.text, p->target_bytes = out.bytes);
        p->translated = good;
    }
    ganz_text_free(&out);
    return good ? GANZ_OK : no_memory(err);
}

ganz_status ganz_sentence_put(ganz_sentence_part *p, const ganz_setting *s, const ganz_translation *t, ganz_error *err)
{
    if (!ganz_utf8_valid(t->text, t->bytes)) return ganz_fail(err, GANZ_EINVAL, "the translation is not UTF-8");
    if (is_unchanged(p->attempt, t)) {
        p->state = GANZ_STATE_DONE;
        end_attempt(p);
        return GANZ_OK;
    }
    bool known;
    GANZ_TRY(write_letter(p, s, &known, err));
    if (known) {
        p->state = GANZ_STATE_DONE;
        end_attempt(p);
        return GANZ_OK;
    }
    if (ganz_attempt_check(p->attempt, s, &p->stretch, t->text, t->bytes)) return finish(p, s, t, err);
    GANZ_TRY(make_line(p, s, err));
    if (p->attempt->line.bytes > 0) return GANZ_OK;
    /* nothing is left of a sentence that was all guards: what was found in the last translation is not in this one */
    ganz_attempt_check(p->attempt, s, &p->stretch, "", 0);
    return finish(p, s, &(ganz_translation){.text = ""}, err);
}
