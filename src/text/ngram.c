/* All positions of both sequences are sorted by the six symbols that begin there. Positions with the same n-gram then
 * stand together, for every n: one walk over the sorted list counts all orders, without hashing. */
#include "text/ngram.h"

#include <stdlib.h>
#include <string.h>

enum { N = GANZ_NGRAM_ORDERS, END = -1 };

void ganz_ngrams_free(ganz_ngrams *work)
{
    ganz_free(work->symbols);
    ganz_free(work->sorted);
    *work = (ganz_ngrams){0};
}

static int compare(const void *a, const void *b)
{
    const int32_t *const x = *(const int32_t *const *)a, *const y = *(const int32_t *const *)b;
    for (int i = 0; i < N; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int common_prefix(const int32_t *x, const int32_t *y)
{
    int n = 0;
    while (n < N && x[n] == y[n]) n++;
    return n;
}

/* Copies a sequence with N end marks behind it, so that every position has N symbols to compare. */
static int32_t *lay_out(int32_t *to, const int32_t *symbols, size_t count, const int32_t **positions)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = symbols[i];
        positions[i] = to + i;
    }
    for (int i = 0; i < N; i++) to[count + (size_t)i] = END;
    return to + count + N;
}

bool ganz_ngram_matches(ganz_ngrams *work, const int32_t *hyp, size_t hyp_count, const int32_t *ref, size_t ref_count,
                        int32_t matches[GANZ_NGRAM_ORDERS])
{
    const size_t count = hyp_count + ref_count;
    if (!ganz_grow((void **)&work->symbols, &work->symbols_capacity, count + 2 * N, sizeof *work->symbols) ||
        !ganz_grow((void **)&work->sorted, &work->sorted_capacity, count + 1, sizeof *work->sorted))
        return false;
    const int32_t **const sorted = work->sorted;
    const int32_t *const ref_begin = lay_out(work->symbols, hyp, hyp_count, sorted);
    lay_out(work->symbols + hyp_count + N, ref, ref_count, sorted + hyp_count);
    qsort(sorted, count, sizeof *sorted, compare);

    int32_t in_hyp[N] = {0}, in_ref[N] = {0}; /* of the n-gram at hand, for each n */
    memset(matches, 0, N * sizeof *matches);
    for (size_t i = 0; i <= count; i++) {
        const int same = i == 0 || i == count ? 0 : common_prefix(sorted[i - 1], sorted[i]);
        for (int n = same; n < N; n++) {
            matches[n] += in_hyp[n] < in_ref[n] ? in_hyp[n] : in_ref[n];
            in_hyp[n] = in_ref[n] = 0;
        }
        if (i == count) break;
        int32_t *const seen = sorted[i] < ref_begin ? in_hyp : in_ref;
        for (int n = 0; n < N && sorted[i][n] != END; n++) seen[n]++;
    }
    return true;
}
