/* KL calibration: magnitudes are counted in bins, and the threshold is where the distribution changes least. */
#include "translate/histogram.h"

#include <math.h>

enum { BINS = GANZ_HISTOGRAM_BINS };

/* ---- counting ----------------------------------------------------------------------------------- */

static void widen(ganz_histogram *h)
{
    for (int i = 0; i < BINS; i++) h->bin[i] = i < BINS / 2 ? h->bin[2 * i] + h->bin[2 * i + 1] : 0;
    h->range *= 2;
}

static void add_one(ganz_histogram *h, double size)
{
    if (!(size > 0) || !isfinite(size)) return;
    if (h->range == 0) h->range = size;
    while (size > h->range) widen(h);
    if (size > h->largest) h->largest = size;
    const int at = (int)(size / h->range * BINS);
    h->bin[at < BINS ? at : BINS - 1]++;
}

void ganz_histogram_add(ganz_histogram *h, const ganz_matrix *x)
{
    for (int row = 0; row < x->rows; row++) {
        const real *const values = (const real *)x->data + (size_t)row * (size_t)x->ld;
        for (int i = 0; i < x->cols; i++) add_one(h, fabs((double)values[i]));
    }
}

/* ---- the threshold ------------------------------------------------------------------------------ */

/* Divergence of the first `used` bins, what lies beyond added to the last, from the same bins (without that) made of
 * `levels` wide ones, whose counts are spread evenly over the bins that had any. */
static double divergence(const ganz_histogram *h, int used, int levels, double inside, double beyond)
{
    static const double floor_part = 1e-4; /* of a bin that rounding leaves empty though something was there */
    double sum = 0;
    for (int level = 0, at = 0; level < levels; level++) {
        const int end = (int)((int64_t)(level + 1) * used / levels);
        double count = 0;
        int kept = 0;
        for (int i = at; i < end; i++) {
            count += (double)h->bin[i];
            kept += h->bin[i] > 0;
        }
        for (; at < end; at++) {
            const double p = (double)h->bin[at] + (at == used - 1 ? beyond : 0);
            if (!(p > 0)) continue;
            const double q = h->bin[at] > 0 ? count / kept / inside : floor_part / used;
            sum += p / (inside + beyond) * log(p / (inside + beyond) / q);
        }
    }
    return sum;
}

double ganz_histogram_threshold(const ganz_histogram *h, int levels)
{
    double all = 0, inside = 0, least = INFINITY;
    int best = BINS;
    for (int i = 0; i < BINS; i++) all += (double)h->bin[i];
    if (!(all > 0)) return 0;
    for (int used = 1; used <= BINS; used++) {
        inside += (double)h->bin[used - 1];
        if (used < levels || !(inside > 0)) continue;
        const double d = divergence(h, used, levels, inside, all - inside);
        if (d >= least) continue;
        least = d;
        best = used;
    }
    const double threshold = h->range * best / BINS;
    return threshold < h->largest ? threshold : h->largest;
}
