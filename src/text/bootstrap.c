/* Paired bootstrap: each resample is a list of segment numbers, drawn once and used for all systems. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/surroundings.h"
#include "base/rng.h"
#include "text/metric.h"

static ganz_status check(ganz_scorer *const *systems, int count, int resamples, ganz_error *err)
{
    if (count < 1 || resamples < 1) return ganz_fail(err, GANZ_EINVAL, "resampling needs a system and a resample");
    const ganz_scorer *const first = systems[0];
    if (first->segments == 0 || first->segments > UINT32_MAX)
        return ganz_fail(err, GANZ_EINVAL, "resampling needs 1 to %u segments", UINT32_MAX);
    for (int i = 1; i < count; i++) {
        const ganz_score_settings *const a = &first->settings, *const b = &systems[i]->settings;
        if (a->metric != b->metric || a->words != b->words || a->lowercase != b->lowercase)
            return ganz_fail(err, GANZ_EINVAL, "systems %d and 1 are scored in different ways", i + 1);
        if (systems[i]->segments != first->segments)
            return ganz_fail(err, GANZ_EINVAL, "system %d has %zu segments but system 1 has %zu", i + 1,
                             systems[i]->segments, first->segments);
    }
    return GANZ_OK;
}

static double score_of_sample(const ganz_scorer *s, const uint32_t *drawn)
{
    int64_t sums[GANZ_CHRF_COUNTS] = {0};
    for (size_t i = 0; i < s->segments; i++) {
        const int32_t *const counts = s->counts + (size_t)drawn[i] * (size_t)s->width;
        for (int k = 0; k < s->width; k++) sums[k] += counts[k];
    }
    return ganz_score_of(&s->settings, sums).score;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean_of(const double *values, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += values[i];
    return sum / count;
}

/* Turns the differences of the samples into their absolute values on the way. */
static double p_value(double *differences, int count, double real_difference)
{
    int extreme = 0;
    for (int i = 0; i < count; i++) differences[i] = fabs(differences[i]);
    const double mean = mean_of(differences, count);
    for (int i = 0; i < count; i++) extreme += differences[i] - mean >= fabs(real_difference);
    return (extreme + 1.0) / (count + 1.0);
}

/* Mean and interval as sacrebleu takes them: n / 40 samples are left out at either end. Sorts the samples. */
static void fill_interval(double *samples, int count, ganz_resampled *result)
{
    result->mean = mean_of(samples, count);
    qsort(samples, (size_t)count, sizeof *samples, compare);
    result->low = samples[count / 40];
    result->high = samples[count - count / 40 - 1];
}

ganz_status ganz_bootstrap(ganz_scorer *const *systems, int count, int resamples, uint64_t seed,
                           ganz_resampled *results, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    GANZ_TRY(check(systems, count, resamples, err));
    const size_t rows = (size_t)resamples, segments = systems[0]->segments;
    size_t total;
    uint32_t *const drawn = ganz_alloc(segments, sizeof *drawn);
    double *const samples = ganz_mul_size((size_t)count + 1, rows, &total) ? ganz_alloc(total, sizeof *samples) : NULL;
    if (!drawn || !samples) {
        ganz_free(drawn);
        ganz_free(samples);
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for %d resamples of %d systems", resamples, count);
    }
    double *const difference = samples + (size_t)count * rows; /* samples is (count, resamples) */
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < segments; i++) drawn[i] = ganz_random_below(seed, r, i, (uint32_t)segments);
        for (int k = 0; k < count; k++) samples[(size_t)k * rows + r] = score_of_sample(systems[k], drawn);
    }
    const double first_score = ganz_scorer_score(systems[0]).score;
    for (int k = count - 1; k >= 0; k--) { /* the first last: sorting it would part the pairs */
        double *const own = samples + (size_t)k * rows;
        for (size_t r = 0; r < rows; r++) difference[r] = own[r] - samples[r];
        results[k].p = p_value(difference, resamples, ganz_scorer_score(systems[k]).score - first_score);
        fill_interval(own, resamples, &results[k]);
    }
    ganz_free(drawn);
    ganz_free(samples);
    return GANZ_OK;
}
