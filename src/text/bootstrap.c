/* Paired bootstrap: each resample is a list of segment numbers, drawn once and used for all systems. Runs are compared
 * with the first system by their mean in each resample; a system alone is the mean of one run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/surroundings.h"
#include "base/rng.h"
#include "text/metric.h"

typedef struct table {
    ganz_scorer *const *systems; /* (count) */
    int count, resamples;
    int runs;        /* systems that are compared with the first as one, by their mean */
    size_t columns;  /* resamples + 1 */
    double *scores;  /* (count, columns): each system's in each resample, and last that of all segments once */
    double *scratch; /* (columns) */
    uint32_t *drawn; /* (segments): the resample at hand */
} table;

static ganz_status check(const table *t, ganz_error *err)
{
    if (t->count < 1 || t->runs < 1 || t->resamples < 1)
        return ganz_fail(err, GANZ_EINVAL, "too few systems or resamples");
    const ganz_scorer *const first = t->systems[0];
    if (first->segments == 0 || first->segments > UINT32_MAX)
        return ganz_fail(err, GANZ_EINVAL, "resampling needs 1 to %u segments", UINT32_MAX);
    for (int i = 1; i < t->count; i++) {
        const ganz_score_settings *const a = &first->settings, *const b = &t->systems[i]->settings;
        if (a->metric != b->metric || a->words != b->words || a->lowercase != b->lowercase)
            return ganz_fail(err, GANZ_EINVAL, "systems %d and 1 are scored in different ways", i + 1);
        if (t->systems[i]->segments != first->segments)
            return ganz_fail(err, GANZ_EINVAL, "system %d has %zu segments but system 1 has %zu", i + 1,
                             t->systems[i]->segments, first->segments);
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

static void close_table(table *t)
{
    ganz_free(t->drawn);
    ganz_free(t->scores);
}

static ganz_status open_table(table *t, ganz_error *err)
{
    size_t total;
    t->columns = (size_t)t->resamples + 1;
    t->drawn = ganz_alloc(t->systems[0]->segments, sizeof *t->drawn);
    t->scores = ganz_mul_size((size_t)t->count + 1, t->columns, &total) ? ganz_alloc(total, sizeof *t->scores) : NULL;
    if (!t->drawn || !t->scores) {
        close_table(t);
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for %d resamples of %d systems", t->resamples, t->count);
    }
    t->scratch = t->scores + (size_t)t->count * t->columns;
    return GANZ_OK;
}

static void fill_table(const table *t, uint64_t seed)
{
    const size_t segments = t->systems[0]->segments;
    for (size_t r = 0; r < t->columns; r++) {
        const bool last = r + 1 == t->columns;
        for (size_t i = 0; i < segments; i++)
            t->drawn[i] = last ? (uint32_t)i : ganz_random_below(seed, r, i, (uint32_t)segments);
        for (int k = 0; k < t->count; k++)
            t->scores[(size_t)k * t->columns + r] = score_of_sample(t->systems[k], t->drawn);
    }
}

/* What the mean of the runs from system `at` on has over `base` in a column. It is the mean of differences, so that
 * runs equal to the base differ by exactly 0. */
static double mean_over(const table *t, int at, size_t column, double base)
{
    double sum = 0.0;
    for (int k = at; k < at + t->runs; k++) sum += t->scores[(size_t)k * t->columns + column] - base;
    return sum / t->runs;
}

static void compare_with_first(const table *t, int at, ganz_resampled *result)
{
    const size_t last = t->columns - 1;
    for (size_t r = 0; r <= last; r++) t->scratch[r] = mean_over(t, at, r, t->scores[r]);
    result->p = p_value(t->scratch, t->resamples, t->scratch[last]);
    for (size_t r = 0; r < last; r++) t->scratch[r] = mean_over(t, at, r, 0.0);
    fill_interval(t->scratch, t->resamples, result);
}

/* From system `at` on, t->runs at a time. */
static ganz_status compare_all(table *t, int at, uint64_t seed, ganz_resampled *results, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    GANZ_TRY(check(t, err));
    GANZ_TRY(open_table(t, err));
    fill_table(t, seed);
    for (; at < t->count; at += t->runs) compare_with_first(t, at, results++);
    close_table(t);
    return GANZ_OK;
}

ganz_status ganz_bootstrap(ganz_scorer *const *systems, int count, int resamples, uint64_t seed,
                           ganz_resampled *results, ganz_error *err)
{
    table t = {.systems = systems, .count = count, .resamples = resamples, .runs = 1};
    return compare_all(&t, 0, seed, results, err);
}

ganz_status ganz_bootstrap_mean(ganz_scorer *const *systems, int count, int resamples, uint64_t seed,
                                ganz_resampled *result, ganz_error *err)
{
    table t = {.systems = systems, .count = count, .resamples = resamples, .runs = count - 1};
    return compare_all(&t, 1, seed, result, err);
}
