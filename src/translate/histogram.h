/* How often magnitudes occur, and where to clip them so that least is lost. */
#ifndef GANZ_TRANSLATE_HISTOGRAM_H
#define GANZ_TRANSLATE_HISTOGRAM_H

#include "backend/backend.h"

enum { GANZ_HISTOGRAM_BINS = 2048 };

/* Magnitudes above 0 and up to `range`, in bins of equal width. A larger one doubles the range. */
typedef struct ganz_histogram {
    double range; /* 0: nothing seen yet */
    double largest;
    uint64_t bin[GANZ_HISTOGRAM_BINS];
} ganz_histogram;

/* Zeros are left out: whatever the scale, they stay what they are. */
void ganz_histogram_add(ganz_histogram *h, const ganz_matrix *x);

/* Where to clip for `levels` codes above and including 0: the threshold whose rounded distribution has the least
 * Kullback-Leibler divergence from the clipped one (what lies beyond counts at the threshold). 0: nothing was seen. */
double ganz_histogram_threshold(const ganz_histogram *h, int levels);

#endif
