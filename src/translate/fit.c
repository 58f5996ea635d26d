/* For each input, each of its columns and each range of a row of them: the sum of what rounding takes away, and of its
 * squares. A column counts by the weights that multiply it; where a bias can take up the mean, only what varies counts.
 */
#include "translate/fit.h"

#include <math.h>
#include <string.h>

enum { RANGES = 18, STEPS_A_HALF = 3 }; /* from the largest magnitude down to a 50th of it */

/* The numbers that one scale rounds. */
typedef struct tally {
    int cols, p;
    int64_t rows;
    float range[RANGES];
    double *sum, *squares;     /* (cols) of the numbers */
    double *lost, *lost_twice; /* (RANGES, cols) of what rounding takes away, and of its squares */
    const ganz_site *reader;   /* whose weight multiplies it, of values that of the output; NULL: queries and keys */
    int partner;               /* place of the keys of queries, and the other way round; -1: none */
    bool centred;              /* the mean is taken up by a bias, or changes nothing */
    int chosen;
} tally;

struct ganz_fit {
    const ganz_net *net;
    tally *all; /* (net->scales) */
    double *block;
    const ganz_column_fit *columns; /* of sites that have them, or NULL */
};

/* ---- who reads what ----------------------------------------------------------------------------- */

/* The same added to all keys changes no attention; added to all values it is added to their mixture. */
static void describe_attention(ganz_fit *f, const ganz_sublayer *a)
{
    const bool output = a->o->bias >= 0;
    tally *const q = &f->all[a->pair->q.place], *const k = &f->all[a->pair->k.place];
    q->partner = a->pair->k.place;
    k->partner = a->pair->q.place;
    k->centred = f->all[a->k->input.place].centred = true;
    f->all[a->pair->v.place].reader = a->o;
    f->all[a->pair->v.place].centred = f->all[a->v->input.place].centred = output;
}

static void describe_stack(ganz_fit *f, const ganz_stack *stack)
{
    for (int i = 0; i < stack->count; i++)
        if (stack->sublayer[i].pair) describe_attention(f, &stack->sublayer[i]);
}

static void describe(ganz_fit *f)
{
    const ganz_net *const net = f->net;
    for (int i = 0; i < net->scales; i++) f->all[i].partner = -1;
    for (int i = 0; i < net->sites; i++) {
        const ganz_site *const site = &net->site[i];
        tally *const t = &f->all[site->input.place];
        t->cols = site->in;
        t->p = ganz_code_max(site->rule.input_bits, true);
        t->reader = site;
        t->centred = site->bias >= 0;
    }
    for (int i = 0; i < net->pairs; i++) {
        const ganz_pair *const pair = &net->pair[i];
        const int places[] = {pair->q.place, pair->k.place, pair->v.place};
        for (int j = 0; j < 3; j++) {
            f->all[places[j]].cols = net->config.width;
            f->all[places[j]].p = ganz_code_max(pair->rule.input_bits, true);
        }
    }
    describe_stack(f, &net->encoder);
    describe_stack(f, &net->decoder);
}

/* ---- opening ------------------------------------------------------------------------------------ */

static size_t numbers_of(const tally *t) { return (size_t)t->cols * (2 + 2 * RANGES); }

static bool take_memory(ganz_fit *f)
{
    size_t total = 0;
    for (int i = 0; i < f->net->scales; i++) total += numbers_of(&f->all[i]);
    double *at = f->block = ganz_alloc(total, sizeof *at);
    for (int i = 0; at && i < f->net->scales; i++) {
        tally *const t = &f->all[i];
        const size_t cols = (size_t)t->cols;
        t->sum = at;
        t->squares = at + cols;
        t->lost = at + 2 * cols;
        t->lost_twice = t->lost + RANGES * cols;
        at += numbers_of(t);
    }
    return at != NULL;
}

void ganz_fit_use_columns(ganz_fit *fit, const ganz_column_fit *columns) { fit->columns = columns; }

ganz_status ganz_fit_open(ganz_fit **fit, const ganz_net *net, const real *largest, ganz_error *err)
{
    ganz_fit *const f = *fit = ganz_alloc(1, sizeof *f);
    if (f) f->net = net;
    if (f) f->all = ganz_alloc((size_t)net->scales, sizeof *f->all);
    if (f && f->all) describe(f);
    if (!f || !f->all || !take_memory(f)) {
        ganz_fit_close(fit);
        return ganz_fail(err, GANZ_ENOMEM, "out of memory to fit %d steps", net->scales);
    }
    for (int i = 0; i < net->scales; i++)
        for (int r = 0; r < RANGES; r++)
            f->all[i].range[r] = (float)((double)largest[i] * exp2(-(double)r / STEPS_A_HALF));
    return GANZ_OK;
}

void ganz_fit_close(ganz_fit **fit)
{
    if (!*fit) return;
    ganz_free((*fit)->all);
    ganz_free((*fit)->block);
    ganz_free(*fit);
    *fit = NULL;
}

/* ---- counting ----------------------------------------------------------------------------------- */

#define NEAREST 12582912.0f /* added and taken away again, it rounds what is below 2^22 to the nearest whole number */

static void round_row(tally *t, int range, const real *x)
{
    const float p = (float)t->p, scale = t->range[range] / p, inv = 1 / scale;
    double *const lost = t->lost + (size_t)range * (size_t)t->cols, *const twice =
                                                                        t->lost_twice + (size_t)range * (size_t)t->cols;
    for (int i = 0; i < t->cols; i++) {
        float code = (float)x[i] * inv;
        code = code > p ? p : code;
        code = code < -p ? -p : code;
        code = (code + NEAREST) - NEAREST;
        const float left = (float)x[i] - code * scale;
        lost[i] += (double)left;
        twice[i] += (double)(left * left);
    }
}

static void count_input(void *context, int place, const ganz_matrix *x, ganz_quantize_call *call)
{
    tally *const t = &((ganz_fit *)context)->all[place];
    (void)call;
    if (x->cols != t->cols || !(t->range[0] > 0)) return;
    for (int row = 0; row < x->rows; row++) {
        const real *const values = (const real *)x->data + (size_t)row * (size_t)x->ld;
        for (int i = 0; i < t->cols; i++) {
            t->sum[i] += (double)values[i];
            t->squares[i] += (double)values[i] * (double)values[i];
        }
        for (int r = 0; r < RANGES; r++) round_row(t, r, values);
    }
    t->rows += x->rows;
}

ganz_instrument ganz_fit_instrument(ganz_fit *fit) { return (ganz_instrument){.input = count_input, .context = fit}; }

/* ---- choosing ----------------------------------------------------------------------------------- */

static const real *weight_of(const ganz_fit *f, const ganz_weights *w, const ganz_site *site)
{
    return w->master + f->net->params.list[site->weight].offset;
}

/* How much a column matters: the squares of what multiplies it. */
static void column_weights(const ganz_fit *f, const ganz_weights *w, const tally *t, double *weight)
{
    const size_t cols = (size_t)t->cols;
    for (size_t i = 0; i < cols; i++) weight[i] = t->reader ? 0 : t->partner >= 0 ? f->all[t->partner].squares[i] : 1;
    if (!t->reader) return;
    const real *const matrix = weight_of(f, w, t->reader);
    for (int row = 0; row < t->reader->out; row++)
        for (size_t i = 0; i < cols; i++)
            weight[i] += (double)matrix[(size_t)row * cols + i] * (double)matrix[(size_t)row * cols + i];
}

static double harm_of(const tally *t, int range, const double *weight)
{
    const double *const lost = t->lost + (size_t)range * (size_t)t->cols, *const twice =
                                                                              t->lost_twice +
                                                                              (size_t)range * (size_t)t->cols;
    const double rows = (double)t->rows;
    double sum = 0;
    for (int i = 0; i < t->cols; i++) {
        const double mean = lost[i] / rows;
        sum += weight[i] * (twice[i] / rows - (t->centred ? mean * mean : 0));
    }
    return sum;
}

static void choose(tally *t, const double *weight)
{
    double least = INFINITY;
    for (int r = 0; r < RANGES; r++) {
        const double harm = harm_of(t, r, weight);
        if (harm >= least) continue;
        least = harm;
        t->chosen = r;
    }
}

ganz_status ganz_fit_ranges(ganz_fit *f, const ganz_weights *w, real *largest, ganz_error *err)
{
    const ganz_config *const c = &f->net->config;
    double *const weight = ganz_alloc((size_t)(c->width > c->ffn ? c->width : c->ffn), sizeof *weight);
    if (!weight) return ganz_fail(err, GANZ_ENOMEM, "out of memory to fit steps");
    for (int i = 0; i < f->net->scales; i++) {
        tally *const t = &f->all[i];
        if (t->rows == 0) continue;
        column_weights(f, w, t, weight);
        choose(t, weight);
        largest[i] = (real)t->range[t->chosen];
    }
    ganz_free(weight);
    return GANZ_OK;
}

/* ---- biases ------------------------------------------------------------------------------------- */

/* What rounding takes from an input, and what it leaves, on average. */
static double mean_lost(const tally *t, int col)
{
    return t->lost[(size_t)t->chosen * (size_t)t->cols + (size_t)col] / (double)t->rows;
}
static double mean_left(const tally *t, int col) { return t->sum[col] / (double)t->rows - mean_lost(t, col); }

/* The product of the means minus that of what rounding makes of them, for each output. */
static void mean_change(const ganz_fit *f, const ganz_weights *w, const ganz_site *site, double *change)
{
    const tally *const t = &f->all[site->input.place];
    const size_t cols = (size_t)site->in, offset = f->net->params.list[site->weight].offset;
    const real *const exact = w->master + offset, *const codes = (const real *)w->copy + offset,
                      *const scales = ganz_site_scales(w, site);
    if (site->rule.columns) {
        ganz_column_fit_change(f->columns, w, site, change);
        return;
    }
    for (int row = 0; row < site->out; row++) {
        const double scale = (double)scales[site->rule.per_row ? row : 0];
        double sum = 0;
        for (size_t i = 0; i < cols; i++) {
            const double weight = (double)exact[(size_t)row * cols + i];
            const double rounded = (double)codes[(size_t)row * cols + i] * scale;
            sum += weight * mean_lost(t, (int)i) + (weight - rounded) * mean_left(t, (int)i);
        }
        change[row] = sum;
    }
}

static void add_to_bias(const ganz_fit *f, ganz_weights *w, const ganz_site *site, const double *change)
{
    real *const bias = w->master + f->net->params.list[site->bias].offset;
    for (int i = 0; i < site->out; i++) bias[i] = (real)((double)bias[i] + change[i]);
}

static bool is_fitted(const ganz_fit *f, const ganz_site *site)
{
    return site->weights == GANZ_WEIGHTS_FAKE && f->all[site->input.place].rows > 0;
}

/* What values lose goes through the output projection; what keys lose changes nothing. */
static void mend_values(const ganz_fit *f, ganz_weights *w, const ganz_sublayer *a, double *change, double *through)
{
    const tally *const operand = &f->all[a->pair->v.place];
    const real *const output = weight_of(f, w, a->o);
    const int d = a->o->in;
    if (a->o->bias < 0) return;
    memset(change, 0, (size_t)d * sizeof *change);
    if (is_fitted(f, a->v) && a->v->bias < 0) mean_change(f, w, a->v, change);
    for (int i = 0; i < d && operand->rows > 0 && a->pair->rule.integer; i++) change[i] += mean_lost(operand, i);
    for (int row = 0; row < a->o->out; row++) {
        through[row] = 0;
        for (int i = 0; i < d; i++) through[row] += (double)output[(size_t)row * (size_t)d + (size_t)i] * change[i];
    }
    add_to_bias(f, w, a->o, through);
}

ganz_status ganz_fit_biases(const ganz_fit *f, ganz_weights *w, ganz_error *err)
{
    const ganz_net *const net = f->net;
    const ganz_stack *const stacks[] = {&net->encoder, &net->decoder};
    double *const change = ganz_alloc((size_t)net->rows + (size_t)net->config.width, sizeof *change);
    if (!change) return ganz_fail(err, GANZ_ENOMEM, "out of memory to fit biases");
    for (int i = 0; i < net->sites; i++) {
        const ganz_site *const site = &net->site[i];
        if (site->bias < 0 || !is_fitted(f, site)) continue;
        mean_change(f, w, site, change);
        add_to_bias(f, w, site, change);
    }
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < stacks[s]->count; i++)
            if (stacks[s]->sublayer[i].pair) mend_values(f, w, &stacks[s]->sublayer[i], change, change + net->rows);
    ganz_free(change);
    return GANZ_OK;
}
