/* One table of numbers for each value that sites read: how far its columns reach, how they go together, and a sample of
 * its rows. A column's step is the one that rounds the sample best; where all of a site's are then made wider again in
 * favour of its weights, by how much is chosen by the noise of both. */
#include "translate/columns.h"

#include <math.h>
#include <string.h>

#include "backend/cpu_math.h"
#include "kernel/kernel.h"
#include "translate/round_weights.h"

enum { SAMPLE = 768, EVERY = 3, RANGES = 8, WIDTHS = 6 };

/* A value, and what was seen of it. */
typedef struct table {
    int cols;
    int64_t rows;
    int kept;          /* rows of the sample */
    float *low, *high; /* (cols) */
    float *sum;        /* (cols) */
    float *pairs;      /* (cols, cols) sums of products of two columns; the upper half */
    float *sample;     /* (SAMPLE, cols) */
} table;

struct ganz_column_fit {
    const ganz_net *net;
    table *all;    /* (net->scales) by the place of the first reader's input */
    int *of_site;  /* (net->sites) that place */
    bool *centred; /* (net->sites) see choice */
    real *blank;   /* a row of zeros */
};

/* What one site is given. */
typedef struct choice {
    const table *t;
    const ganz_site *site;
    float *weights;     /* (out, in) */
    float *step, *zero; /* (in); zero: at first the middle of the range */
    double *spread;     /* (in, in) */
    double *size;       /* (3, in) of a column of weights the largest, and squares; steps that are tried */
    bool centred;       /* the mean of what rounding takes away is made good, or changes nothing */
} choice;

/* ---- opening ------------------------------------------------------------------------------------ */

/* All sites of a list read one value: the first stands for it. */
static void join(ganz_column_fit *f, const ganz_readers *readers)
{
    for (int i = 0; i < readers->count; i++) f->of_site[readers->site[i]->place] = readers->site[0]->input.place;
}

static void join_stack(ganz_column_fit *f, const ganz_stack *stack)
{
    for (int i = 0; i < stack->count; i++) {
        const ganz_sublayer *const layer = &stack->sublayer[i];
        join(f, &layer->readers);
        if (!layer->pair) continue;
        f->centred[layer->k->place] = true; /* the same added to all keys changes no attention */
        f->centred[layer->v->place] = layer->v->bias >= 0 || layer->o->bias >= 0; /* and to all values, their mixture */
    }
    join(f, &stack->readers);
}

static bool open_table(table *t, int cols)
{
    const size_t n = (size_t)cols;
    if (t->low) return true;
    t->cols = cols;
    t->low = ganz_alloc(n * (3 + n + SAMPLE), sizeof *t->low);
    if (!t->low) return false;
    t->high = t->low + n;
    t->sum = t->high + n;
    t->pairs = t->sum + n;
    t->sample = t->pairs + n * n;
    for (size_t i = 0; i < n; i++) {
        t->low[i] = INFINITY;
        t->high[i] = -INFINITY;
    }
    return true;
}

static bool has_columns(const ganz_site *site) { return site->rule.integer && site->rule.columns; }

static bool open_tables(ganz_column_fit *f)
{
    const ganz_net *const net = f->net;
    for (int i = 0; i < net->sites; i++) {
        f->of_site[i] = net->site[i].input.place;
        f->centred[i] = net->site[i].bias >= 0;
    }
    join_stack(f, &net->encoder);
    join_stack(f, &net->decoder);
    for (int i = 0; i < net->sites; i++)
        if (has_columns(&net->site[i]) && !open_table(&f->all[f->of_site[i]], net->site[i].in)) return false;
    return true;
}

ganz_status ganz_column_fit_open(ganz_column_fit **fit, const ganz_net *net, ganz_error *err)
{
    ganz_column_fit *const f = *fit = ganz_alloc(1, sizeof *f);
    if (f) f->net = net;
    if (f) f->all = ganz_alloc((size_t)net->scales, sizeof *f->all);
    if (f) f->of_site = ganz_alloc((size_t)net->sites, sizeof *f->of_site);
    if (f)
        f->blank = ganz_alloc((size_t)(net->config.width > net->config.ffn ? net->config.width : net->config.ffn),
                              sizeof *f->blank);
    if (f) f->centred = ganz_alloc((size_t)net->sites, sizeof *f->centred);
    if (f && f->all && f->of_site && f->centred && f->blank && open_tables(f)) return GANZ_OK;
    ganz_column_fit_close(fit);
    return ganz_fail(err, GANZ_ENOMEM, "out of memory to look at the columns of inputs");
}

void ganz_column_fit_close(ganz_column_fit **fit)
{
    if (!*fit) return;
    for (int i = 0; (*fit)->all && i < (*fit)->net->scales; i++) ganz_free((*fit)->all[i].low);
    ganz_free((*fit)->all);
    ganz_free((*fit)->of_site);
    ganz_free((*fit)->centred);
    ganz_free((*fit)->blank);
    ganz_free(*fit);
    *fit = NULL;
}

/* ---- looking ------------------------------------------------------------------------------------ */

static void see_row(table *t, const real *x)
{
    for (int i = 0; i < t->cols; i++) {
        const float value = (float)x[i];
        t->low[i] = value < t->low[i] ? value : t->low[i];
        t->high[i] = value > t->high[i] ? value : t->high[i];
        t->sum[i] += value;
    }
    if (t->rows++ % EVERY || t->kept == SAMPLE) return;
    float *const kept = t->sample + (size_t)t->kept++ * (size_t)t->cols;
    for (int i = 0; i < t->cols; i++) kept[i] = (float)x[i];
}

/* Products of two numbers of a row, of four rows at once; of the upper half only. */
GANZ_CLONES static void see_pairs(float *pairs, int n, const real *const x[4])
{
    for (int i = 0; i < n; i++) {
        float *const to = pairs + (size_t)i * (size_t)n;
        const float a = (float)x[0][i], b = (float)x[1][i], c = (float)x[2][i], d = (float)x[3][i];
        for (int j = i; j < n; j++)
            to[j] += (a * (float)x[0][j] + b * (float)x[1][j]) + (c * (float)x[2][j] + d * (float)x[3][j]);
    }
}

static void see_input(void *context, int place, const ganz_matrix *x, ganz_quantize_call *call)
{
    const ganz_column_fit *const f = context;
    table *const t = &f->all[place];
    (void)call;
    if (!t->low || x->cols != t->cols) return;
    const real *const data = x->data;
    const size_t ld = (size_t)x->ld;
    for (int row = 0; row < x->rows; row++) see_row(t, data + (size_t)row * ld);
    for (int row = 0; row < x->rows; row += 4) {
        const real *four[4];
        for (int i = 0; i < 4; i++) four[i] = row + i < x->rows ? data + (size_t)(row + i) * ld : f->blank;
        see_pairs(t->pairs, t->cols, four);
    }
}

ganz_instrument ganz_column_fit_instrument(ganz_column_fit *fit)
{
    return (ganz_instrument){.input = see_input, .context = fit};
}

/* ---- steps -------------------------------------------------------------------------------------- */

static float mean_of(const table *t, int col) { return t->sum[col] / (float)t->rows; }

static float moment_of(const table *t, int a, int b)
{
    const float both =
        a < b ? t->pairs[(size_t)a * (size_t)t->cols + (size_t)b] : t->pairs[(size_t)b * (size_t)t->cols + (size_t)a];
    return both / (float)t->rows - mean_of(t, a) * mean_of(t, b);
}

/* Of a column that hardly changes the difference of two sums is mostly their rounding, and may be below zero. */
static float variance_of(const table *t, int col)
{
    const float moment = moment_of(t, col, col);
    return moment > 0 ? moment : 0;
}

/* No more than two columns can vary together. */
static float spread_of(const table *t, int a, int b)
{
    const float moment = moment_of(t, a, b), most = sqrtf(variance_of(t, a) * variance_of(t, b));
    return moment > most ? most : moment < -most ? -most : moment;
}

static float left_of(float x, float step, float zero, float p)
{
    float code = rintf(x / step + zero);
    code = code > p ? p : code < -p ? -p : code;
    return x - (code - zero) * step;
}

/* What rounding with a step takes from the sample of a column, and from its ends, which the sample may not have. */
static double harm_of(const table *t, int col, float step, float zero, float p)
{
    double sum = 0;
    for (int row = 0; row < t->kept; row++) {
        const double left = (double)left_of(t->sample[(size_t)row * (size_t)t->cols + (size_t)col], step, zero, p);
        sum += left * left;
    }
    const double low = (double)left_of(t->low[col], step, zero, p), high = (double)left_of(t->high[col], step, zero, p);
    return sum / t->kept + (low * low + high * high) / (double)t->rows;
}

/* From end to end, or less on both sides of the mean. A column that never changes has a step to hold it. */
static void choose_step(const choice *c, int col)
{
    const table *const t = c->t;
    const float p = (float)ganz_code_max(c->site->rule.input_bits, true), mean = mean_of(t, col);
    double least = INFINITY;
    for (int r = 0; r < RANGES; r++) {
        const float part = 1.0f - 0.1f * (float)r, low = mean + part * (t->low[col] - mean);
        const float high = mean + part * (t->high[col] - mean),
                    size = fabsf(low) > fabsf(high) ? fabsf(low) : fabsf(high);
        const float reach = high - low, least_reach = size * 0x1p-10f > 1e-6f ? size * 0x1p-10f : 1e-6f;
        const float step = (reach > least_reach ? reach : least_reach) / (2 * p),
                    zero = rintf(-0.5f * (low + high) / step);
        const double harm = harm_of(t, col, step, zero, p);
        if (harm >= least) continue;
        least = harm;
        c->step[col] = step;
        c->zero[col] = 0.5f * (low + high);
    }
}

/* ---- steps against weights ---------------------------------------------------------------------- */

/* Steps made wider, column by column, with its step s and its largest weight w, in proportion to (s w)^(share - 1);
 * none narrower. Into the third row of size. */
static void widen(const choice *c, double share)
{
    const int n = c->t->cols;
    double *const wide = c->size + 2 * n, least = INFINITY;
    for (int i = 0; i < n; i++) {
        wide[i] = pow((double)c->step[i] * c->size[i], share - 1);
        least = wide[i] < least ? wide[i] : least;
    }
    for (int i = 0; i < n; i++) wide[i] *= (double)c->step[i] / least;
}

static double largest_of(const float *weights, const double *steps, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs((double)weights[i]) * steps[i]);
    return largest;
}

/* Noise of the outputs from both roundings. That of weights is less by half or so, as they make up for each other. */
static double noise_of(const choice *c, double share)
{
    const double p = ganz_code_max(c->site->rule.weight_bits, true), *const wide = c->size + 2 * c->t->cols;
    const int n = c->t->cols;
    double input = 0, weights = 0, codes = 0;
    widen(c, share);
    for (int i = 0; i < n; i++) {
        codes += (double)variance_of(c->t, i) / (wide[i] * wide[i]);
        input += wide[i] * wide[i] * c->size[n + i];
    }
    for (int row = 0; row < c->site->out; row++) {
        const double largest = largest_of(c->weights + (size_t)row * (size_t)n, wide, n);
        weights += largest * largest / (p * p);
    }
    return input + 0.5 * weights * codes;
}

static void measure_weights(const choice *c)
{
    const int n = c->t->cols;
    for (int i = 0; i < n; i++) {
        double largest = 1e-9, squares = 0;
        for (int row = 0; row < c->site->out; row++) {
            const double weight = (double)c->weights[(size_t)row * (size_t)n + (size_t)i];
            largest = fmax(largest, fabs(weight));
            squares += weight * weight;
        }
        c->size[i] = largest;
        c->size[n + i] = squares;
    }
}

static void choose_steps(const choice *c)
{
    double best = 1, least = INFINITY;
    for (int i = 0; i < c->t->cols; i++) choose_step(c, i);
    measure_weights(c);
    for (int k = 0; k < WIDTHS; k++) {
        const double share = 1 - 0.1 * k, noise = noise_of(c, share);
        if (noise >= least) continue;
        least = noise;
        best = share;
    }
    widen(c, best);
    for (int i = 0; i < c->t->cols; i++) {
        c->step[i] = (float)c->size[2 * c->t->cols + i];
        c->zero[i] = rintf(-c->zero[i] / c->step[i]);
    }
}

/* ---- weights ------------------------------------------------------------------------------------ */

/* How codes of the input vary together; their own rounding is noise of a 12th in each. */
static void fill_spread(const choice *c)
{
    const int n = c->t->cols;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const float mean = c->centred ? 0 : mean_of(c->t, i) * mean_of(c->t, j);
            const double both = (double)(spread_of(c->t, i, j) + mean) / ((double)c->step[i] * (double)c->step[j]);
            c->spread[(size_t)i * (size_t)n + (size_t)j] = both + (i == j ? 1.0 / 12 : 0);
        }
}

static ganz_status round_site(const choice *c, real *codes, real *scales, ganz_error *err)
{
    const size_t n = (size_t)c->site->in, out = (size_t)c->site->out;
    float *const each = ganz_alloc(out, sizeof *each);
    if (!each) return ganz_fail(err, GANZ_ENOMEM, "out of memory to round weights");
    const ganz_rounding r = {c->site->out, c->site->in, ganz_code_max(c->site->rule.weight_bits, true),
                             c->weights,   c->spread,   each};
    for (size_t i = 0; i < out * n; i++) c->weights[i] *= c->step[i % n];
    fill_spread(c);
    const ganz_status status = ganz_round_weights(&r, err);
    for (size_t i = 0; i < out * n && status == GANZ_OK; i++) codes[i] = (real)c->weights[i];
    for (size_t i = 0; i < out && status == GANZ_OK; i++) scales[i] = (real)each[i];
    ganz_free(each);
    return status;
}

static ganz_status write_site(const choice *c, const ganz_net *net, ganz_weights *w, ganz_error *err)
{
    const ganz_param *const param = &net->params.list[c->site->weight];
    const real *const master = w->master + param->offset;
    for (size_t i = 0; i < ganz_param_count(param); i++) c->weights[i] = (float)master[i];
    choose_steps(c);
    if (!ganz_zeros_fit(c->zero, c->site->in))
        return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: columns of its input are too far from zero", c->site->name);
    ganz_weights_set_columns(w, c->site, c->step, c->zero);
    return round_site(c, (real *)w->copy + param->offset, ganz_site_scales(w, c->site), err);
}

static size_t largest_product(const ganz_net *net)
{
    size_t most = 0;
    for (int i = 0; i < net->sites; i++) {
        const size_t count = (size_t)net->site[i].in * (size_t)net->site[i].out;
        if (has_columns(&net->site[i]) && count > most) most = count;
    }
    return most;
}

ganz_status ganz_column_fit_write(ganz_column_fit *f, ganz_weights *w, ganz_error *err)
{
    const ganz_net *const net = f->net;
    const size_t wide = (size_t)(net->config.width > net->config.ffn ? net->config.width : net->config.ffn);
    choice c = {.weights = ganz_alloc(largest_product(net) + 1, sizeof *c.weights),
                .step = ganz_alloc(2 * wide, sizeof *c.step),
                .spread = ganz_alloc(wide * wide, sizeof *c.spread),
                .size = ganz_alloc(3 * wide, sizeof *c.size)};
    ganz_status status = c.weights && c.step && c.spread && c.size
                             ? ganz_weights_take_columns(w, net, err)
                             : ganz_fail(err, GANZ_ENOMEM, "out of memory to round weights");
    c.zero = c.step + wide;
    for (int i = 0; status == GANZ_OK && i < net->sites; i++) {
        c.site = &net->site[i];
        c.t = &f->all[f->of_site[i]];
        c.centred = f->centred[i];
        if (has_columns(c.site) && c.t->rows > 0) status = write_site(&c, net, w, err);
        else if (has_columns(c.site))
            status = ganz_fail(err, GANZ_EINVAL, "%s: the text shows it no input", c.site->name);
    }
    ganz_free(c.weights);
    ganz_free(c.step);
    ganz_free(c.spread);
    ganz_free(c.size);
    return status;
}

void ganz_column_fit_change(const ganz_column_fit *f, const ganz_weights *w, const ganz_site *site, double *change)
{
    const table *const t = &f->all[f->of_site[site->place]];
    const size_t cols = (size_t)site->in, offset = f->net->params.list[site->weight].offset;
    const real *const exact = w->master + offset, *const codes = (const real *)w->copy + offset;
    const real *const step = w->column_step + site->col, *const scales = ganz_site_scales(w, site);
    for (int row = 0; row < site->out; row++) {
        change[row] = 0;
        for (size_t i = 0; i < cols; i++) {
            const size_t at = (size_t)row * cols + i;
            const double rounded = (double)codes[at] * (double)scales[row] / (double)step[i];
            change[row] += ((double)exact[at] - rounded) * (double)mean_of(t, (int)i);
        }
    }
}
