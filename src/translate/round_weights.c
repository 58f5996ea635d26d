/* Nearest plane after Babai (as GPTQ does it): with the spread of the input as R R^T, R upper triangular, the change of
 * a product is |(w - codes) R|, whose element j depends on the first j errors only. So columns are rounded from the
 * first to the last, each to what makes its element smallest; those that vary most come first, as others can still make
 * up for their errors. */
#include "translate/round_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu_math.h"

enum { TOGETHER = 64, RANGES = 12 }; /* outputs at a time; ranges that are tried: 1, 0.95, ... */

typedef struct column {
    double spread;
    int at;
} column;

typedef struct work {
    const ganz_rounding *r;
    column *order;  /* (in) */
    float *root;    /* (in, in) R */
    float *pending; /* (in, TOGETHER) what earlier errors ask of a column */
    double *room;   /* (in) */
} work;

/* ---- order -------------------------------------------------------------------------------------- */

static int by_spread(const void *a, const void *b)
{
    const column *const x = a, *const y = b;
    if (x->spread != y->spread) return x->spread < y->spread ? 1 : -1;
    return x->at - y->at;
}

static void put_in_order(const work *w)
{
    const size_t n = (size_t)w->r->in;
    for (size_t i = 0; i < n; i++) w->order[i] = (column){w->r->spread[i * n + i], (int)i};
    qsort(w->order, n, sizeof *w->order, by_spread);
}

/* The spread of columns in that order, first rows, then columns of each. The root has room for a while. */
static void permute(const work *w)
{
    const size_t n = (size_t)w->r->in;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            w->root[i * n + j] = (float)w->r->spread[(size_t)w->order[i].at * n + (size_t)w->order[j].at];
    for (size_t i = 0; i < n * n; i++) w->r->spread[i] = (double)w->root[i];
}

/* ---- root --------------------------------------------------------------------------------------- */

GANZ_CLONES static double dot(const double *a, const double *b, int n)
{
    double lane[LANES] = {0}, sum = 0;
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) lane[l] += a[i + l] * b[i + l];
    for (; i < n; i++) sum += a[i] * b[i];
    for (int l = 0; l < LANES; l++) sum += lane[l];
    return sum;
}

/* R from the last column to the first, over the upper half of the spread. */
static void take_root(const work *w)
{
    const int n = w->r->in;
    double *const m = w->r->spread;
    for (int j = n - 1; j >= 0; j--) {
        double *const row = m + (size_t)j * (size_t)n;
        const int after = n - 1 - j;
        const double rest = row[j] - dot(row + j + 1, row + j + 1, after);
        row[j] = sqrt(rest > 1e-6 * w->order[j].spread ? rest : 1e-6 * w->order[j].spread);
        for (int i = 0; i < j; i++) {
            double *const above = m + (size_t)i * (size_t)n;
            above[j] = (above[j] - dot(above + j + 1, row + j + 1, after)) / row[j];
        }
    }
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++) w->root[i] = (float)m[i];
}

/* ---- scales ------------------------------------------------------------------------------------- */

static double harm_of(const work *w, const float *weights, float scale)
{
    const float p = (float)w->r->p, inv = 1 / scale;
    double sum = 0;
    for (int i = 0; i < w->r->in; i++) {
        float code = rintf(weights[i] * inv);
        code = code > p ? p : code < -p ? -p : code;
        const double left = (double)(weights[i] - code * scale);
        sum += left * left * w->room[i];
    }
    return sum;
}

/* The range that rounds a row best, columns by how much they vary. */
static float best_scale(const work *w, const float *weights)
{
    float largest = 0, best = 1;
    double least = INFINITY;
    for (int i = 0; i < w->r->in; i++) largest = fabsf(weights[i]) > largest ? fabsf(weights[i]) : largest;
    if (!(largest > 0)) return 1;
    for (int k = 0; k < RANGES; k++) {
        const float scale = largest * (1.0f - 0.05f * (float)k) / (float)w->r->p;
        const double harm = harm_of(w, weights, scale);
        if (harm >= least) continue;
        least = harm;
        best = scale;
    }
    return best;
}

static void choose_scales(const work *w)
{
    for (int i = 0; i < w->r->in; i++) w->room[w->order[i].at] = w->order[i].spread;
    for (int row = 0; row < w->r->out; row++)
        w->r->scales[row] = best_scale(w, w->r->weights + (size_t)row * (size_t)w->r->in);
}

/* ---- rounding ----------------------------------------------------------------------------------- */

/* What the errors of a column ask of all after it. */
GANZ_CLONES static void pass_on(const float *root, int count, const float *error, float *pending)
{
    for (int k = 0; k < count; k++)
        for (int o = 0; o < TOGETHER; o++) pending[(size_t)k * TOGETHER + (size_t)o] += root[k] * error[o];
}

/* Column number j of some outputs. */
static void round_column(const work *w, int first, int count, int j, float error[TOGETHER])
{
    const ganz_rounding *const r = w->r;
    const float own = w->root[(size_t)j * (size_t)r->in + (size_t)j], p = (float)r->p;
    for (int o = 0; o < count; o++) {
        float *const weight = r->weights + (size_t)(first + o) * (size_t)r->in + (size_t)w->order[j].at;
        const float scale = r->scales[first + o], asked = w->pending[(size_t)j * TOGETHER + (size_t)o] / own;
        float code = rintf((*weight + asked) / scale);
        code = code > p ? p : code < -p ? -p : code;
        error[o] = *weight - code * scale;
        *weight = code;
    }
}

static void round_outputs(const work *w, int first, int count)
{
    const int n = w->r->in;
    float error[TOGETHER] = {0};
    memset(w->pending, 0, (size_t)n * TOGETHER * sizeof *w->pending);
    for (int j = 0; j < n; j++) {
        const float *const row = w->root + (size_t)j * (size_t)n;
        round_column(w, first, count, j, error);
        pass_on(row + j + 1, n - 1 - j, error, w->pending + (size_t)(j + 1) * TOGETHER);
    }
}

ganz_status ganz_round_weights(const ganz_rounding *r, ganz_error *err)
{
    const size_t n = (size_t)r->in;
    work w = {.r = r,
              .order = ganz_alloc(n, sizeof *w.order),
              .root = ganz_alloc(n * n, sizeof *w.root),
              .pending = ganz_alloc(n * TOGETHER, sizeof *w.pending),
              .room = ganz_alloc(n, sizeof *w.room)};
    const bool all = w.order && w.root && w.pending && w.room;
    if (all) {
        put_in_order(&w);
        choose_scales(&w);
        permute(&w);
        take_root(&w);
        for (int row = 0; row < r->out; row += TOGETHER)
            round_outputs(&w, row, r->out - row < TOGETHER ? r->out - row : TOGETHER);
    }
    ganz_free(w.order);
    ganz_free(w.root);
    ganz_free(w.pending);
    ganz_free(w.room);
    return all ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory to round weights");
}
