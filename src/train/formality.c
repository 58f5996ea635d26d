/* The words of a file are two sorted lists, one for each language, in which every word has a set of bits: the lines of
 * the file that name it. A pair is judged by one walk over each side. */
#include "train/formality.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/rng.h"
#include "text/case.h"
#include "text/tokenizer.h"

enum { MOST_BYTES = 64 << 10, MOST_WORDS = 1000 /* with those in capitals, of a language */ };

/* Where a word of the target counts, for either form; words of the source; and address in capitals, which hides what
 * it means. */
enum { ANYWHERE = 1, INSIDE = 2, ADDRESSED = 4, ALONE = 8, PLACES = 15, INFORMAL_SHIFT = 4 };
enum { YOU = 1, OTHERS = 2 };
enum { CAPITALS = 256 };

struct ganz_address_word {
    size_t at, bytes; /* in the text of the rules */
    unsigned bits;
};

/* ---- reading ------------------------------------------------------------------------------------ */

typedef struct reader {
    ganz_formality_rules *rules;
    ganz_lines *lines;
    bool has_neutral;
} reader;

static ganz_status bad_line(const reader *r, const char *why, ganz_error *err)
{
    return ganz_fail(err, GANZ_EFORMAT, "%s:%lld: %s", ganz_lines_name(r->lines), ganz_lines_number(r->lines), why);
}

static bool is_word(const char *text, const struct ganz_address_word *w, const char *word, size_t bytes)
{
    return w->bytes == bytes && memcmp(text + w->at, word, bytes) == 0;
}

/* Adds bits to a word, which need not be in the list yet. The list is sorted when all is read. */
static bool add_word(ganz_formality_rules *f, ganz_address_words *list, const char *word, size_t bytes, unsigned bits)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!is_word(f->text.text, &list->words[i], word, bytes)) continue;
        list->words[i].bits |= bits;
        return true;
    }
    if (!ganz_grow((void **)&list->words, &list->capacity, list->count + 1, sizeof *list->words)) return false;
    list->words[list->count++] = (struct ganz_address_word){f->text.bytes, bytes, bits};
    return ganz_text_append(&f->text, word, bytes);
}

/* A word of the target, and the same in capitals. */
static bool add_target(ganz_formality_rules *f, const char *word, size_t bytes, unsigned bits)
{
    ganz_text upper = {0};
    bool good = ganz_case_upper(word, bytes, &upper);
    const bool other = good && (upper.bytes != bytes || memcmp(upper.text, word, bytes) != 0);
    if (good) good = add_word(f, &f->target, word, bytes, bits);
    if (other && good) good = add_word(f, &f->target, upper.text, upper.bytes, CAPITALS);
    ganz_text_free(&upper);
    return good;
}

static bool add_source(ganz_formality_rules *f, const char *word, size_t bytes, unsigned bits)
{
    ganz_text lower = {0};
    bool good = ganz_case_lower(word, bytes, &lower);
    if (good) good = add_word(f, &f->source, lower.text, lower.bytes, bits);
    ganz_text_free(&lower);
    return good;
}

static bool is_all_letters(const char *word, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        int32_t code;
        at += ganz_next_character(word + at, &code);
        if (!ganz_is_alnum(code)) return false;
    }
    return bytes > 0;
}

/* The next word of a line; NULL at its end. */
static const char *next_word(const char *line, size_t length, size_t *at, size_t *bytes)
{
    while (*at < length && (line[*at] == ' ' || line[*at] == '\t' || line[*at] == '\r')) ++*at;
    const size_t begin = *at;
    while (*at < length && line[*at] != ' ' && line[*at] != '\t' && line[*at] != '\r') ++*at;
    *bytes = *at - begin;
    return *bytes > 0 ? line + begin : NULL;
}

static const struct {
    const char *name;
    bool target;
    unsigned bits;
} lists[] = {{"you", false, YOU},
             {"others", false, OTHERS},
             {"formal-anywhere", true, ANYWHERE},
             {"formal-inside", true, INSIDE},
             {"formal-addressed", true, ADDRESSED},
             {"formal-alone", true, ALONE},
             {"informal-anywhere", true, ANYWHERE << INFORMAL_SHIFT},
             {"informal-inside", true, INSIDE << INFORMAL_SHIFT},
             {"informal-addressed", true, ADDRESSED << INFORMAL_SHIFT},
             {"informal-alone", true, ALONE << INFORMAL_SHIFT}};

static ganz_status read_words(reader *r, size_t which, const char *line, size_t length, ganz_error *err)
{
    size_t at = 0, bytes;
    for (const char *word; (word = next_word(line, length, &at, &bytes));) {
        if (!is_all_letters(word, bytes)) return bad_line(r, "a word of address is letters and digits alone", err);
        if (!(lists[which].target ? add_target : add_source)(r->rules, word, bytes, lists[which].bits))
            return ganz_fail(err, GANZ_ENOMEM, "out of memory for words of address");
        if (r->rules->target.count > MOST_WORDS || r->rules->source.count > MOST_WORDS)
            return ganz_fail(err, GANZ_ELIMIT, "%s has over %d words of a language", ganz_lines_name(r->lines),
                             MOST_WORDS);
    }
    return GANZ_OK;
}

static ganz_status read_mark(const reader *r, int form, const char *word, size_t bytes, ganz_error *err)
{
    char *const mark = r->rules->marks[form];
    if (mark[0]) return bad_line(r, "the mark of this form was given before", err);
    if (bytes >= GANZ_MARK_BYTES) return bad_line(r, "the name of a mark has at most 31 bytes", err);
    memcpy(mark, word, bytes);
    mark[bytes] = '\0';
    return ganz_is_mark(mark) ? GANZ_OK : bad_line(r, "a mark is small letters and digits between < and >", err);
}

static ganz_status read_neutral(reader *r, const char *word, size_t bytes, ganz_error *err)
{
    char number[32] = "", *end = number;
    if (r->has_neutral) return bad_line(r, "the share of neutral pairs was given before", err);
    if (bytes < sizeof number) memcpy(number, word, bytes);
    const double share = strtod(number, &end);
    if (end == number || *end || !(share >= 0 && share <= 1))
        return bad_line(r, "the share of neutral pairs is a number from 0 to 1", err);
    r->rules->neutral = share;
    r->has_neutral = true;
    return GANZ_OK;
}

static bool is_named(const char *word, size_t bytes, const char *name)
{
    return strlen(name) == bytes && memcmp(word, name, bytes) == 0;
}

static ganz_status read_line(reader *r, const char *line, size_t length, ganz_error *err)
{
    static const char *const values[] = {"formal", "informal", "neutral"};
    size_t at = 0, bytes, value_bytes, more;
    const char *const name = next_word(line, length, &at, &bytes);
    if (!name || name[0] == '#') return GANZ_OK;
    for (size_t i = 0; i < GANZ_COUNT(lists); i++)
        if (is_named(name, bytes, lists[i].name)) return read_words(r, i, line + at, length - at, err);
    for (int i = 0; i < 3; i++) {
        if (!is_named(name, bytes, values[i])) continue;
        const char *const value = next_word(line, length, &at, &value_bytes);
        if (!value || next_word(line, length, &at, &more)) return bad_line(r, "one word is wanted here", err);
        return i < 2 ? read_mark(r, i, value, value_bytes, err) : read_neutral(r, value, value_bytes, err);
    }
    return bad_line(r, "a line begins with formal, informal, neutral, you, others or the name of a list of words", err);
}

static ganz_status read_lines(reader *r, ganz_error *err)
{
    size_t sum = 0;
    for (;;) {
        const char *line;
        size_t bytes;
        GANZ_TRY(ganz_lines_next(r->lines, &line, &bytes, err));
        if (!line) return GANZ_OK;
        if ((sum += bytes + 1) > MOST_BYTES)
            return ganz_fail(err, GANZ_ELIMIT, "%s has over %d bytes", ganz_lines_name(r->lines), MOST_BYTES);
        if (!ganz_utf8_valid(line, bytes)) return bad_line(r, "not valid UTF-8", err);
        GANZ_TRY(read_line(r, line, bytes, err));
    }
}

static ganz_status check_rules(const ganz_formality_rules *f, const char *name, ganz_error *err)
{
    unsigned target = 0, source = 0;
    for (size_t i = 0; i < f->target.count; i++) target |= f->target.words[i].bits;
    for (size_t i = 0; i < f->source.count; i++) source |= f->source.words[i].bits;
    if (!f->marks[0][0] || !f->marks[1][0])
        return ganz_fail(err, GANZ_EFORMAT, "%s: both marks are needed, \"formal <m1>\" and \"informal <m2>\"", name);
    if (strcmp(f->marks[0], f->marks[1]) == 0)
        return ganz_fail(err, GANZ_EFORMAT, "%s: the two forms need two marks", name);
    if (!(target & PLACES) || !(target >> INFORMAL_SHIFT & PLACES))
        return ganz_fail(err, GANZ_EFORMAT, "%s: both forms need words", name);
    if ((target & ((ADDRESSED | ALONE) * ((1u << INFORMAL_SHIFT) + 1))) && !(source & YOU))
        return ganz_fail(err, GANZ_EFORMAT,
                         "%s: words that count where the source addresses its reader need \"you\" words", name);
    return GANZ_OK;
}

static int compare_words(const char *text, const struct ganz_address_word *w, const char *word, size_t bytes)
{
    if (w->bytes != bytes) return w->bytes < bytes ? -1 : 1;
    return memcmp(text + w->at, word, bytes);
}

/* By insertion: the lists are short. */
static void sort_words(const ganz_formality_rules *f, const ganz_address_words *list)
{
    const char *const text = f->text.text;
    for (size_t i = 1; i < list->count; i++) {
        const struct ganz_address_word w = list->words[i];
        size_t j = i;
        for (; j > 0 && compare_words(text, &list->words[j - 1], text + w.at, w.bytes) > 0; j--)
            list->words[j] = list->words[j - 1];
        list->words[j] = w;
    }
}

ganz_status ganz_formality_read(ganz_formality_rules *rules, const char *path, ganz_error *err)
{
    *rules = (ganz_formality_rules){0};
    reader r = {.rules = rules};
    GANZ_TRY(ganz_lines_open(&r.lines, path, err));
    ganz_status status = read_lines(&r, err);
    if (status == GANZ_OK) status = check_rules(rules, ganz_lines_name(r.lines), err);
    ganz_lines_close(&r.lines);
    if (status != GANZ_OK) {
        ganz_formality_free(rules);
        return status;
    }
    sort_words(rules, &rules->source);
    sort_words(rules, &rules->target);
    return GANZ_OK;
}

void ganz_formality_free(ganz_formality_rules *rules)
{
    ganz_free(rules->source.words);
    ganz_free(rules->target.words);
    ganz_text_free(&rules->text);
    *rules = (ganz_formality_rules){0};
}

/* ---- judging ------------------------------------------------------------------------------------ */

static unsigned bits_of(const ganz_formality_rules *f, const ganz_address_words *list, const char *word, size_t bytes)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare_words(f->text.text, &list->words[middle], word, bytes);
        if (order == 0) return list->words[middle].bits;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return 0;
}

/* Whether a sentence surely goes on over what stands between two words: white space, commas, semicolons. */
static bool goes_on(const char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        int32_t code;
        at += ganz_next_character(text + at, &code);
        if (!ganz_is_space(code) && code != ',' && code != ';') return false;
    }
    return bytes > 0;
}

/* The next run of letters and digits from *at; false at the end. *between: where what stands before it begins. */
static bool next_run(const char *text, size_t bytes, size_t *at, size_t *between, size_t *begin)
{
    int32_t code;
    size_t length;
    *between = *at;
    for (; *at < bytes; *at += length) {
        length = ganz_next_character(text + *at, &code);
        if (ganz_is_alnum(code)) break;
    }
    *begin = *at;
    for (; *at < bytes; *at += length) {
        length = ganz_next_character(text + *at, &code);
        if (!ganz_is_alnum(code)) break;
    }
    return *at > *begin;
}

/* All bits of the words of a source in small letters. */
static unsigned source_bits(const ganz_formality_rules *f, const ganz_text *lower)
{
    unsigned bits = 0;
    size_t at = 0, between, begin;
    while (next_run(lower->text, lower->bytes, &at, &between, &begin))
        bits |= bits_of(f, &f->source, lower->text + begin, at - begin);
    return bits;
}

/* The places at which words count in a sentence with such a source, for a word inside it or first in it. */
static unsigned counting(unsigned source, bool inside)
{
    unsigned places = ANYWHERE;
    if (inside) places |= INSIDE;
    if (source & YOU) places |= ADDRESSED;
    if ((source & YOU) && !(source & OTHERS)) places |= ALONE;
    return places;
}

static ganz_form judge_target(const ganz_formality_rules *f, const ganz_pair_text *p, unsigned source)
{
    bool formal = false, informal = false, capitals = false;
    size_t at = 0, between, begin;
    while (next_run(p->target, p->target_bytes, &at, &between, &begin)) {
        const unsigned bits = bits_of(f, &f->target, p->target + begin, at - begin);
        if (bits == 0) continue;
        const bool inside = between > 0 && goes_on(p->target + between, begin - between);
        const unsigned places = counting(source, inside);
        formal |= (bits & places) != 0;
        informal |= (bits >> INFORMAL_SHIFT & places) != 0;
        capitals |= (bits & CAPITALS) != 0;
    }
    if (formal != informal) return formal ? GANZ_FORM_FORMAL : GANZ_FORM_INFORMAL;
    return formal || capitals || (source & YOU) ? GANZ_FORM_UNCLEAR : GANZ_FORM_NEUTRAL;
}

bool ganz_formality_judge(const ganz_formality_rules *rules, const ganz_pair_text *pair, ganz_text *lower,
                          ganz_form *form)
{
    lower->bytes = 0;
    if (!ganz_case_lower(pair->source, pair->source_bytes, lower)) return false;
    *form = judge_target(rules, pair, source_bits(rules, lower));
    return true;
}

int ganz_formality_draw(const ganz_formality_rules *rules, ganz_form form, double share, const ganz_draw *draw,
                        int copy)
{
    enum { FIRST_COPIES = 8 };                                /* the pair itself and seven kinds */
    static const uint64_t own = UINT64_C(0x666F726D616C6974); /* numbers that no copy is drawn by */
    const uint64_t stream = ganz_draw_stream(draw, copy, FIRST_COPIES);
    const uint32_t drawn = ganz_random_u32(draw->seed ^ own, stream, 2 * draw->line);
    const uint32_t either = ganz_random_u32(draw->seed ^ own, stream, 2 * draw->line + 1);
    if (form == GANZ_FORM_UNCLEAR || share <= 0) return -1;
    const double wanted = form == GANZ_FORM_NEUTRAL ? rules->neutral : share;
    if (!((double)drawn < wanted * 4294967296.0)) return -1;
    return form == GANZ_FORM_NEUTRAL ? (int)(either >> 31) : (int)form;
}
