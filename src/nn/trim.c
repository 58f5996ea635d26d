/* Weights that lie far out are pulled in. One scale has to reach to the largest of a matrix: a few outliers make it
 * coarse for all others. Where the squares of what rounding and clipping do to all of them sum up to least, the range
 * ends. */
#include <math.h>

#include "nn/weights.h"

enum { BINS = 512, HALVES = 8 };

/* Suffix sums over bins i..511. */
typedef struct rest {
    double count, sum, squares;
} rest;

typedef struct spread {
    real largest;
    rest from[BINS + 1]; /* from[BINS]: none */
} spread;

static void count_magnitudes(spread *s, const real *x, size_t count)
{
    *s = (spread){0};
    for (size_t i = 0; i < count; i++) {
        const real size = x[i] < 0 ? -x[i] : x[i];
        if (size > s->largest) s->largest = size;
    }
    const double scale = BINS / (double)s->largest;
    for (size_t i = 0; i < count; i++) {
        const double size = fabs((double)x[i]), place = size * scale;
        if (size == 0) continue;                                          /* always a code */
        rest *const bin = &s->from[place < BINS ? (int)place : BINS - 1]; /* NaN falls into the last bin */
        bin->count++;
        bin->sum += size;
        bin->squares += size * size;
    }
    for (int i = BINS - 1; i-- > 0;) {
        s->from[i].count += s->from[i + 1].count;
        s->from[i].sum += s->from[i + 1].sum;
        s->from[i].squares += s->from[i + 1].squares;
    }
}

/* Sum of squared errors when codes of `scale` end where bin `at` begins. Within a scale all places are alike likely. */
static double error_of(const spread *s, int at, double scale)
{
    const rest *const out = &s->from[at];
    const double range = (double)s->largest * at / BINS, inside = s->from[0].count - out->count;
    return inside * scale * scale / 12 + out->squares - 2 * range * out->sum + out->count * range * range;
}

real ganz_trim_range(const real *x, size_t count, int p, bool power_of_two)
{
    spread s;
    count_magnitudes(&s, x, count);
    const double largest = (double)s.largest;
    if (largest == 0 || isinf(largest)) return s.largest;
    const double first = ldexp(1, (int)ceil(log2(largest / p)));
    double best = largest, least = error_of(&s, BINS, power_of_two ? first : largest / p);
    for (int at = BINS - 1; !power_of_two && at > 0; at--) {
        const double range = largest * at / BINS, error = error_of(&s, at, range / p);
        if (error < least) least = error, best = range;
    }
    for (int i = 1; power_of_two && i <= HALVES; i++) {
        const double scale = ldexp(first, -i), range = scale * p,
                     error = error_of(&s, (int)ceil(range / largest * BINS), scale);
        if (error < least) least = error, best = range;
    }
    return (real)best;
}

static void trim(real *x, size_t count, int p, bool power_of_two)
{
    const real range = ganz_trim_range(x, count, p, power_of_two);
    for (size_t i = 0; i < count; i++) x[i] = x[i] > range ? range : x[i] < -range ? -range : x[i];
}

/* With 8 bits outliers cost little, and to lose them costs more; likewise with a scale for each row down to 5. */
static bool is_fitted(const ganz_rule *rule)
{
    if (rule->weight_range == GANZ_WEIGHT_RANGE_MAX || rule->weight_range == GANZ_WEIGHT_RANGE_FIT)
        return rule->weight_range == GANZ_WEIGHT_RANGE_FIT;
    return rule->weight_bits < (rule->per_row ? GANZ_BITS_NIBBLE + 1 : GANZ_BITS_MOST);
}

static bool is_trimmed(const ganz_net *net, const ganz_site *site)
{
    const ganz_rule *const rule = &site->rule;
    if (!rule->integer || rule->columns || (net->scheme.float_lookup && site == net->logits)) return false;
    return is_fitted(rule);
}

/* First scales of rows, as z. */
static void set_rows(const ganz_site *site, const real *x, real *z)
{
    const int p = ganz_code_max(site->rule.weight_bits, true);
    for (int row = 0; row < site->out; row++, x += site->in) {
        real range = 0;
        for (int i = 0; i < site->in; i++) range = (real)fmax((double)range, fabs((double)x[i]));
        z[row] = ganz_first_z(is_fitted(&site->rule) ? ganz_trim_range(x, (size_t)site->in, p, false) : range, p);
    }
}

static void trim_rows(const ganz_site *site, real *x)
{
    const size_t rows = site->rule.per_row ? (size_t)site->out : 1, count = (size_t)site->out * (size_t)site->in / rows;
    for (size_t row = 0; row < rows; row++)
        trim(x + row * count, count, ganz_code_max(site->rule.weight_bits, true), site->rule.power_of_two);
}

static void trim_all(ganz_weights *w, const ganz_net *net, real *x, real *z)
{
    for (int i = 0; i < net->sites; i++) {
        const ganz_site *const site = &net->site[i];
        const ganz_param *const param = &net->params.list[site->weight];
        const bool learned = ganz_net_learns_rows(net, site);
        if (!learned && !is_trimmed(net, site)) continue;
        w->be->download(w->be, x, w->master + param->offset, ganz_param_count(param) * sizeof *x);
        if (learned) {
            set_rows(site, x, z + site->row);
            continue;
        }
        trim_rows(site, x);
        w->be->upload(w->be, w->master + param->offset, x, ganz_param_count(param) * sizeof *x);
    }
    if (net->row_scales >= 0)
        w->be->upload(w->be, w->master + net->params.list[net->row_scales].offset, z, (size_t)net->rows * sizeof *z);
}

ganz_status ganz_weights_trim(ganz_weights *w, const ganz_net *net, ganz_error *err)
{
    size_t most = 0;
    for (int i = 0; i < net->sites; i++) {
        const size_t count = ganz_param_count(&net->params.list[net->site[i].weight]);
        if (most < count) most = count;
    }
    real *const x = ganz_alloc(most, sizeof *x), *const z = ganz_alloc((size_t)net->rows, sizeof *z);
    const ganz_status status =
        x && z ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for a matrix of %zu weights", most);
    if (status == GANZ_OK) trim_all(w, net, x, z);
    ganz_free(x);
    ganz_free(z);
    return status;
}
