/* Clipped n-gram matches of two sequences of symbols, for all orders at once. */
#ifndef GANZ_TEXT_NGRAM_H
#define GANZ_TEXT_NGRAM_H

#include "base/base.h"

enum { GANZ_NGRAM_ORDERS = 6 };

/* Room to work in; start with zeroes, reuse freely. */
typedef struct ganz_ngrams {
    int32_t *symbols;
    const int32_t **sorted;
    size_t symbols_capacity, sorted_capacity;
} ganz_ngrams;

void ganz_ngrams_free(ganz_ngrams *work);

/* matches[n - 1] = sum over the distinct n-grams of min(count in hyp, count in ref), n = 1 .. GANZ_NGRAM_ORDERS.
 * Symbols are >= 0. False when memory is out. */
bool ganz_ngram_matches(ganz_ngrams *work, const int32_t *hyp, size_t hyp_count, const int32_t *ref, size_t ref_count,
                        int32_t matches[GANZ_NGRAM_ORDERS]);

/* Number of n-grams in a sequence. */
static inline int32_t ganz_ngram_total(size_t count, int n)
{
    return count < (size_t)n ? 0 : (int32_t)(count - (size_t)n + 1);
}

#endif
