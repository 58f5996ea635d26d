/* BLEU: words become numbers, their n-grams are matched, and the precisions are smoothed as sacrebleu does it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/metric.h"
#include "text/words.h"

enum { ORDERS = GANZ_BLEU_ORDERS };

/* ---- counts of a segment ------------------------------------------------------------------------ */

static int compare_words(const void *a, const void *b)
{
    const ganz_word *const x = a, *const y = b;
    if (x->count != y->count) return x->count < y->count ? -1 : 1;
    return memcmp(x->at, y->at, x->count * sizeof *x->at);
}

/* Finds the words between white space: appends them to words, or only counts them when it is NULL. */
static size_t find_words(const ganz_codepoints *text, ganz_word *words)
{
    size_t found = 0;
    for (size_t i = 0; i < text->count;) {
        if (ganz_is_space(text->at[i])) {
            i++;
            continue;
        }
        const size_t begin = i;
        while (i < text->count && !ganz_is_space(text->at[i])) i++;
        if (words) words[found] = (ganz_word){text->at + begin, i - begin, NULL};
        found++;
    }
    return found;
}

/* Numbers the words of both sides so that equal words get equal numbers: ids = (hyp, then ref). */
static bool number_words(ganz_segment *s, size_t *hyp_words, size_t *ref_words)
{
    *hyp_words = find_words(&s->hyp, NULL);
    *ref_words = find_words(&s->ref, NULL);
    const size_t count = *hyp_words + *ref_words;
    if (!ganz_grow((void **)&s->words, &s->words_capacity, count + 1, sizeof *s->words) ||
        !ganz_grow((void **)&s->ids, &s->ids_capacity, count + 1, sizeof *s->ids))
        return false;
    find_words(&s->hyp, s->words);
    find_words(&s->ref, s->words + *hyp_words);
    for (size_t i = 0; i < count; i++) s->words[i].id = s->ids + i;
    qsort(s->words, count, sizeof *s->words, compare_words);
    int32_t number = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && compare_words(&s->words[i - 1], &s->words[i]) != 0) number++;
        *s->words[i].id = number;
    }
    return true;
}

bool ganz_bleu_count(ganz_segment *s, ganz_score_words words, int32_t counts[GANZ_BLEU_COUNTS])
{
    ganz_words_split(words, &s->hyp, &s->scratch);
    ganz_words_split(words, &s->ref, &s->scratch);
    size_t hyp_words, ref_words;
    int32_t matches[GANZ_NGRAM_ORDERS];
    if (s->hyp.failed || s->ref.failed || !number_words(s, &hyp_words, &ref_words) ||
        !ganz_ngram_matches(&s->ngrams, s->ids, hyp_words, s->ids + hyp_words, ref_words, matches))
        return false;
    counts[0] = (int32_t)hyp_words;
    counts[1] = (int32_t)ref_words;
    for (int n = 0; n < ORDERS; n++) {
        counts[2 + n] = matches[n];
        counts[2 + ORDERS + n] = ganz_ngram_total(hyp_words, n + 1);
    }
    return true;
}

/* ---- the score ---------------------------------------------------------------------------------- */

static double brevity_penalty(int64_t hyp, int64_t ref)
{
    if (hyp >= ref) return 1.0;
    return hyp > 0 ? exp(1.0 - (double)ref / (double)hyp) : 0.0;
}

/* An order without matches counts as half a match, the next such order as a quarter, and so on.
 * `scale` is 100 for sacrebleu, which rounds percentages, and 1 for t2t-bleu, which rounds fractions. */
static void fill_precisions(const int64_t *matches, const int64_t *totals, double scale, double *precisions)
{
    double smooth = 1.0;
    for (int n = 0; n < ORDERS && totals[n] > 0; n++) {
        if (matches[n] == 0) {
            smooth *= 2.0;
            precisions[n] = scale / (smooth * (double)totals[n]);
        } else {
            precisions[n] = scale * (double)matches[n] / (double)totals[n];
        }
    }
}

ganz_score ganz_bleu_of(const int64_t counts[GANZ_BLEU_COUNTS], ganz_score_words words)
{
    const int64_t *const matches = counts + 2, *const totals = counts + 2 + ORDERS;
    const bool t2t = words == GANZ_WORDS_T2T;
    ganz_score s = {.orders = ORDERS, .sys_len = counts[0], .ref_len = counts[1]};
    s.bp = brevity_penalty(s.sys_len, s.ref_len);
    /* Without a matching word no longer n-gram matches either. */
    if (matches[0] == 0 && !t2t) return s;
    fill_precisions(matches, totals, t2t ? 1.0 : 100.0, s.precisions);
    double sum = 0.0;
    bool empty = true, all = true;
    for (int n = 0; n < ORDERS; n++) {
        if (s.precisions[n] > 0.0) {
            sum += log(s.precisions[n]);
            empty = false;
        } else {
            all = false;
        }
    }
    /* sacrebleu takes the logarithm of an empty order as -9999999999, t2t-bleu leaves it out. */
    if (!empty && (all || t2t)) s.score = s.bp * exp(sum / ORDERS);
    if (t2t) {
        s.score *= 100.0;
        for (int n = 0; n < ORDERS; n++) s.precisions[n] *= 100.0;
    }
    return s;
}
