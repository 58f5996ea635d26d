/* Gradients by central differences, in double: every operation, and the whole network. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "nn/ops.h"
#include "nn_case.h"

static const ganz_config small = NN_SHAPE(8, 12, 2, 2, 2, 13, 16);
static const nn_segment batch[] = {{0, 4, 3}, {0, 2, 5}, {1, 3, 2}, {2, 1, 1}, {2, 5, 4}};
enum { SEGMENTS = 5 };

static void close_to(double got, double want, double scale, const char *what, size_t at)
{
    if (fabs(got - want) > 1e-6 * (fabs(want) + scale))
        fail_msg("%s[%zu]: gradient %.12g, difference %.12g", what, at, got, want);
}

/* ---- the whole network -------------------------------------------------------------------------- */

static double slope(nn_case *c, real *value)
{
    const real old = *value, h = 1e-5;
    *value = old + h;
    nn_case_refresh(c);
    const double up = nn_case_loss(c, false);
    *value = old - h;
    nn_case_refresh(c);
    const double down = nn_case_loss(c, false);
    *value = old;
    return (up - down) / (2 * h);
}

/* Some elements of every parameter of the kinds that are trained. */
static void check_network(nn_case *c)
{
    const double loss = nn_case_loss(c, true);
    assert_true(loss > 0.1 && loss < 20);
    double norm = 0;
    for (size_t i = 0; i < c->net.params.block; i++) norm += c->weights.grad[i] * c->weights.grad[i];
    norm = sqrt(norm);
    for (int p = 0; p < c->net.params.count; p++) {
        const ganz_param *const param = &c->net.params.list[p];
        const bool train = param->kind == GANZ_SCALE ? c->learn_scales : c->train_weights;
        for (int i = 0; i < 6 && train; i++) {
            const size_t at = ganz_random_below(3, (uint64_t)p, (uint64_t)i, (uint32_t)ganz_param_count(param));
            close_to(c->weights.grad[param->offset + at], slope(c, &c->weights.master[param->offset + at]), 1e-2 * norm,
                     param->name, at);
        }
    }
}

static void network_gradient(void **state)
{
    (void)state;
    nn_case c;
    nn_case_open(&c, &small, 1, batch, SEGMENTS, 0);
    nn_case_init(&c, 1);
    c.smoothing = 0.1;
    check_network(&c);
    nn_case_close(&c);
}

/* Every switch of a configuration, with dropout. */
static void gradients_of_all_kinds(void **state)
{
    (void)state;
    ganz_config kind = small;
    for (int i = 1; i < NN_TRAINED_KINDS && nn_kind(i, &kind); i++, kind = small) {
        nn_case c;
        nn_case_open(&c, &kind, 1, batch, SEGMENTS, 0);
        nn_case_init(&c, 1 + (uint64_t)i);
        c.smoothing = 0.1;
        if (i > 2) c.dropout = (ganz_dropout){0.3, 0.2, 0.1};
        check_network(&c);
        nn_case_close(&c);
    }
}

static void network_gradient_with_dropout(void **state)
{
    (void)state;
    nn_case c;
    nn_case_open(&c, &small, 2, batch, SEGMENTS, 0);
    nn_case_init(&c, 2);
    c.smoothing = 0.1;
    c.dropout = (ganz_dropout){0.3, 0.2, 0.1};
    check_network(&c);
    nn_case_close(&c);
}

/* ---- every operation of the backend ------------------------------------------------------------- */

enum { MOST = 4096 };

/* Numbers an operation depends on, and the gradient it claims. */
typedef struct probe {
    const char *name;
    real *value;
    const real *grad;
    size_t count;
} probe;

static void fill(real *x, size_t count, uint64_t stream, double size)
{
    for (size_t i = 0; i < count; i++) x[i] = size * ganz_random_normal(17, stream, i);
}

static double weigh(const real *y, const real *coefficient, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += y[i] * coefficient[i];
    return sum;
}

static void check_probes(const probe *probes, size_t count, double (*objective)(void *), void *context)
{
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < probes[p].count; i++) {
            real *const value = &probes[p].value[i];
            const real old = *value, h = 1e-5;
            *value = old + h;
            const double up = objective(context);
            *value = old - h;
            const double down = objective(context);
            *value = old;
            close_to(probes[p].grad[i], (up - down) / (2 * h), 1e-2, probes[p].name, i);
        }
}

static ganz_backend *be;
static real coefficient[MOST];
static uint8_t mask[MOST];
static ganz_matrix real_matrix(void *data, int rows, int cols)
{
    return (ganz_matrix){rows, cols, cols, GANZ_REAL, data};
}

static int open_backend(void **state)
{
    (void)state;
    fill(coefficient, MOST, 1, 1);
    return ganz_cpu_backend_open(&be, 2, NULL) != GANZ_OK;
}

static int close_backend(void **state)
{
    (void)state;
    be->close(be);
    return 0;
}

static double embed_objective(void *context)
{
    const ganz_embed_call *const c = context;
    be->embed(be, c);
    return weigh(c->out, coefficient, (size_t)c->rows * (size_t)c->cols);
}

static void embed_gradient(void **state)
{
    (void)state;
    enum { ROWS = 9, COLS = 6, VOCAB = 7 };
    static const int32_t ids[ROWS] = {3, 0, 6, 3, 2, 2, 0, 3, 1}, positions[ROWS] = {0, 1, 2, 3, 0, 1, 0, 1, 2};
    static const int32_t by_id[ROWS] = {1, 6, 8, 4, 5, 0, 3, 7, 2};
    static real table[VOCAB * COLS], table_grad[VOCAB * COLS], extra[COLS], extra_grad[COLS], timing[4 * COLS],
        out[ROWS * COLS];
    fill(table, VOCAB * COLS, 2, 1);
    fill(extra, COLS, 3, 1);
    fill(timing, 4 * COLS, 4, 1);
    be->mask(be, mask, ROWS * COLS, 1, 1, 0.7f);
    ganz_embed_call c = {.rows = ROWS, .cols = COLS, .vocab = VOCAB, .ids = ids, .positions = positions};
    c.table.m = real_matrix(table, VOCAB, COLS);
    c.root = 2.5;
    c.timing = timing;
    c.extra = extra;
    c.drop = (ganz_drop){mask, NULL, 1 / 0.7};
    c.out = out;
    c.out_grad = coefficient;
    c.table_grad = table_grad;
    c.extra_grad = extra_grad;
    c.by_id = by_id;
    be->embed(be, &c);
    for (int j = 0; j < COLS; j++) /* a start token is zero, and what is added to it */
        assert_true(fabs(out[COLS + j] - mask[COLS + j] / 0.7 * (extra[j] + timing[COLS + j])) < 1e-12);
    be->embed_grad(be, &c);
    const probe probes[] = {{"table", table, table_grad, VOCAB * COLS}, {"extra", extra, extra_grad, COLS}};
    check_probes(probes, 2, embed_objective, &c);
}

/* Both the norm and the sum it makes are used. */
static double norm_objective(void *context)
{
    const ganz_norm_call *const c = context;
    const size_t count = (size_t)c->rows * (size_t)c->cols;
    be->norm(be, c);
    return weigh(c->y.data, coefficient, count) + weigh(c->sum, coefficient + count, count);
}

static void norm_gradient(void **state)
{
    (void)state;
    enum { ROWS = 70, COLS = 13, SIZE = ROWS * COLS };
    static real x[SIZE], delta[SIZE], gain[COLS], bias[COLS], sum[SIZE], y[SIZE], stats[2 * ROWS];
    static real x_grad[SIZE], delta_grad[SIZE], gain_grad[COLS], bias_grad[COLS];
    static int32_t group[ROWS];
    for (int i = 0; i < ROWS; i++) group[i] = i % 3;
    fill(x, SIZE, 5, 1);
    fill(delta, SIZE, 6, 1);
    fill(gain, COLS, 7, 1);
    fill(bias, COLS, 8, 1);
    be->mask(be, mask, 3 * COLS, 1, 2, 0.8f);
    ganz_norm_call c = {.rows = ROWS, .cols = COLS, .x = x, .delta = real_matrix(delta, ROWS, COLS), .eps = 1e-6};
    c.drop = (ganz_drop){mask, group, 1 / 0.8};
    c.gain = gain;
    c.bias = bias;
    c.sum = sum;
    c.y = real_matrix(y, ROWS, COLS);
    c.stats = stats;
    c.y_grad = real_matrix(coefficient, ROWS, COLS);
    memcpy(x_grad, coefficient + SIZE, sizeof x_grad);
    c.sum_grad = c.x_grad = x_grad;
    c.delta_grad = real_matrix(delta_grad, ROWS, COLS);
    c.gain_grad = gain_grad;
    c.bias_grad = bias_grad;
    be->norm(be, &c);
    be->norm_grad(be, &c);
    const probe probes[] = {{"x", x, x_grad, SIZE},
                            {"delta", delta, delta_grad, SIZE},
                            {"scale", gain, gain_grad, COLS},
                            {"bias", bias, bias_grad, COLS}};
    check_probes(probes, 4, norm_objective, &c);
}

static double linear_objective(void *context)
{
    const ganz_linear_call *const c = context;
    be->linear(be, c);
    return weigh(c->y.data, coefficient, (size_t)c->rows * (size_t)c->out);
}

/* Codes are numbers like others to the product; gradients are those of the values they stand for. */
static void linear_gradient(void **state)
{
    (void)state;
    enum { ROWS = 70, IN = 5, OUT = 11 };
    static real x[ROWS * IN], w[OUT * IN], bias[OUT], y[ROWS * OUT], y_grad[ROWS * OUT];
    static real x_grad[ROWS * IN], w_grad[OUT * IN], bias_grad[OUT];
    static const real x_scale = 0.5, w_scale[OUT] = {0.25, 0.1, 0.3, 0.5, 0.2, 0.15, 0.35, 0.6, 0.05, 0.4, 0.45};
    static int32_t group[ROWS];
    for (int i = 0; i < ROWS; i++) group[i] = i / 40;
    static real before[ROWS * OUT];
    static const ganz_activation activations[] = {GANZ_ACTIVATION_NONE, GANZ_ACTIVATION_RELU,
                                                  GANZ_ACTIVATION_RELU, GANZ_ACTIVATION_SWISH,
                                                  GANZ_ACTIVATION_GELU, GANZ_ACTIVATION_GELU_SIGMOID};
    for (int kind = 0; kind < 6; kind++) { /* values; codes; codes with a scale for each output; smooth activations */
        const bool codes = kind > 0;
        fill(x, ROWS * IN, 9, 1);
        fill(w, OUT * IN, 10, 1);
        fill(bias, OUT, 11, 1);
        be->mask(be, mask, 2 * OUT, 1, 3, 0.8f);
        ganz_linear_call c = {.rows = ROWS, .in = IN, .out = OUT, .bias = bias, .activation = activations[kind]};
        c.before = real_matrix(before, ROWS, OUT);
        c.x = (ganz_operand){real_matrix(x, ROWS, IN), codes ? &x_scale : NULL};
        c.w = (ganz_operand){real_matrix(w, OUT, IN), codes ? w_scale : NULL};
        c.w_by_row = kind == 2;
        if (codes) c.drop = (ganz_drop){mask, group, 1 / 0.8};
        c.y = real_matrix(y, ROWS, OUT);
        memcpy(y_grad, coefficient, sizeof y_grad);
        memset(w_grad, 0, sizeof w_grad);
        memset(bias_grad, 0, sizeof bias_grad);
        c.y_grad = real_matrix(y_grad, ROWS, OUT);
        c.x_grad = real_matrix(x_grad, ROWS, IN);
        c.w_grad = w_grad;
        c.bias_grad = bias_grad;
        be->linear(be, &c);
        be->linear_grad(be, &c);
        for (int i = 0; codes && i < ROWS * IN; i++) x_grad[i] *= x_scale; /* of codes */
        for (int i = 0; codes && i < OUT * IN; i++) w_grad[i] *= w_scale[kind == 2 ? i / IN : 0];
        const probe probes[] = {
            {"x", x, x_grad, ROWS * IN}, {"w", w, w_grad, OUT * IN}, {"bias", bias, bias_grad, OUT}};
        check_probes(probes, 3, linear_objective, &c);
    }
}

static double attention_objective(void *context)
{
    const ganz_attention_call *const c = context;
    be->attention(be, c);
    return weigh(c->out.data, coefficient, (size_t)c->see.queries * (size_t)c->out.cols);
}

static void attention_gradient(void **state)
{
    (void)state;
    enum { HEADS = 2, WIDTH = 3, COLS = HEADS * WIDTH, QUERIES = 11, KEYS = 13, SLOTS = 16 };
    static const int32_t query_begin[] = {0, 4, 9, 11}, key_begin[] = {0, 6, 9, 13}, same_begin[] = {0, 4, 9, 11};
    static real q[QUERIES * COLS], k[KEYS * COLS], v[KEYS * COLS], out[QUERIES * COLS], stats[QUERIES * HEADS * 2];
    static real q_grad[QUERIES * COLS], k_grad[KEYS * COLS], v_grad[KEYS * COLS];
    static int32_t slot[SLOTS];
    for (int i = 0; i < SLOTS; i++) slot[i] = (i * 7) % SLOTS;
    be->mask(be, mask, SLOTS * SLOTS, 1, 4, 0.8f);
    for (int causal = 0; causal < 2; causal++) {
        const int keys = causal ? QUERIES : KEYS;
        fill(q, QUERIES * COLS, 12, 1);
        fill(k, KEYS * COLS, 13, 1);
        fill(v, KEYS * COLS, 14, 1);
        ganz_attention_call c = {.heads = HEADS, .width = WIDTH, .inv_root = 0.6, .mask = mask, .mask_side = SLOTS};
        c.see = (ganz_spans){.queries = QUERIES,
                             .keys = keys,
                             .segments = 3,
                             .query_begin = query_begin,
                             .key_begin = causal ? same_begin : key_begin,
                             .longest_query = 5,
                             .longest_key = 6,
                             .causal = causal};
        c.mask_scale = 1 / 0.8;
        c.query_slot = c.key_slot = slot;
        c.q.m = real_matrix(q, QUERIES, COLS);
        c.k.m = real_matrix(k, keys, COLS);
        c.v.m = real_matrix(v, keys, COLS);
        c.out = real_matrix(out, QUERIES, COLS);
        c.stats = stats;
        c.out_grad = real_matrix(coefficient, QUERIES, COLS);
        c.q_grad = real_matrix(q_grad, QUERIES, COLS);
        c.k_grad = real_matrix(k_grad, keys, COLS);
        c.v_grad = real_matrix(v_grad, keys, COLS);
        be->attention(be, &c);
        be->attention_grad(be, &c);
        const size_t key_count = (size_t)keys * COLS;
        const probe probes[] = {
            {"q", q, q_grad, QUERIES * COLS}, {"k", k, k_grad, key_count}, {"v", v, v_grad, key_count}};
        check_probes(probes, 3, attention_objective, &c);
    }
}

typedef struct loss_case {
    ganz_loss_call call;
    const real *logits;
    real *work;
} loss_case;

static double loss_objective(void *context)
{
    loss_case *const l = context;
    double sums[3] = {0};
    memcpy(l->work, l->logits, sizeof(real) * (size_t)l->call.rows * (size_t)l->call.vocab);
    l->call.want_grad = false;
    l->call.sums = sums;
    be->loss(be, &l->call);
    return sums[0] * l->call.grad_scale;
}

static void loss_gradient(void **state)
{
    (void)state;
    enum { ROWS = 6, VOCAB = 19 };
    static const int32_t labels[ROWS] = {3, 0, 18, 1, 7, 0};
    static real logits[ROWS * VOCAB], grad[ROWS * VOCAB], work[ROWS * VOCAB];
    double sums[3] = {0};
    fill(logits, ROWS * VOCAB, 15, 2);
    memcpy(grad, logits, sizeof grad);
    loss_case l = {.call = {.rows = ROWS,
                            .vocab = VOCAB,
                            .logits = real_matrix(grad, ROWS, VOCAB),
                            .labels = labels,
                            .smoothing = 0.1,
                            .grad_scale = 0.3,
                            .want_grad = true,
                            .sums = sums},
                   .logits = logits,
                   .work = work};
    be->loss(be, &l.call);
    assert_true(sums[2] == 4);
    l.call.logits = real_matrix(work, ROWS, VOCAB);
    const probe probes[] = {{"logits", logits, grad, ROWS * VOCAB}};
    check_probes(probes, 1, loss_objective, &l);
}

/* Sum of p (log p - log q) for the softmax p of t and q of x. */
static double divergence(const real *x, const real *t, int n)
{
    double x_sum = 0, t_sum = 0, apart = 0;
    for (int i = 0; i < n; i++) x_sum += exp(x[i]), t_sum += exp(t[i]);
    for (int i = 0; i < n; i++) apart += exp(t[i]) / t_sum * (t[i] - log(t_sum) - x[i] + log(x_sum));
    return apart;
}

static void taught_gradient(void **state)
{
    (void)state;
    enum { ROWS = 6, VOCAB = 19 };
    static const int32_t labels[ROWS] = {3, 0, 18, 1, 7, 0};
    static real logits[ROWS * VOCAB], grad[ROWS * VOCAB], work[ROWS * VOCAB], taught[ROWS * VOCAB];
    double sums[3] = {0}, want = 0;
    fill(logits, ROWS * VOCAB, 15, 2);
    fill(taught, ROWS * VOCAB, 16, 3);
    memcpy(grad, logits, sizeof grad);
    loss_case l = {.call = {.rows = ROWS,
                            .vocab = VOCAB,
                            .logits = real_matrix(grad, ROWS, VOCAB),
                            .labels = labels,
                            .taught = real_matrix(taught, ROWS, VOCAB),
                            .smoothing = 0.1,
                            .grad_scale = 0.3,
                            .want_grad = true,
                            .sums = sums},
                   .logits = logits,
                   .work = work};
    be->loss(be, &l.call);
    for (int i = 0; i < ROWS; i++)
        if (labels[i]) want += divergence(logits + i * VOCAB, taught + i * VOCAB, VOCAB);
    assert_true(sums[2] == 4);
    close_to(sums[0], want, 1, "divergence", 0);
    l.call.logits = real_matrix(work, ROWS, VOCAB);
    const probe probes[] = {{"logits", logits, grad, ROWS * VOCAB}};
    check_probes(probes, 1, loss_objective, &l);
}

/* A network that learns what another one believes, in chunks that do not divide the rows; and one that knows it
 * already. */
static void network_gradient_with_a_teacher(void **state)
{
    (void)state;
    nn_case c, t;
    nn_case_open(&c, &small, 1, batch, SEGMENTS, 0);
    nn_case_open(&t, &small, 1, batch, SEGMENTS, 0);
    nn_case_init(&c, 1);
    nn_case_init(&t, 2);
    const int rows = c.target.tokens.rows, vocab = small.vocab;
    real *const mine = nn_case_logits(&c), *const taught = nn_case_logits(&t);
    double want = 0;
    for (int i = 0; i < rows; i++) want += divergence(mine + i * vocab, taught + i * vocab, vocab) / rows;
    const ganz_teacher teacher = {&t.net, &t.weights, nn_case_decoded(&t)};
    c.teacher = &teacher;
    c.chunk = 4;
    close_to(nn_case_loss(&c, true), want, 0, "divergence", 0);
    check_network(&c);
    nn_case_init(&c, 2);
    assert_true(fabs(nn_case_loss(&c, true)) < 1e-12);
    for (size_t i = 0; i < c.net.params.block; i++) assert_true(fabs(c.weights.grad[i]) < 1e-12);
    free(mine);
    free(taught);
    nn_case_close(&c);
    nn_case_close(&t);
}

/* ---- the network on integers -------------------------------------------------------------------- */

/* Rounding has no slope, so its gradient is that of a function with the noise of rounding held: inside the range
 * code = x / scale + noise, outside code = the end of the range. The forward below computes that function: the first
 * time it finds the noise, later it applies it. It takes the place of the backend's forward, whose gradients it
 * judges. */
typedef struct held {
    bool replay;
    size_t at, count;
    double *noise; /* NAN: clipped */
    nn_case *c;
    void (*refresh)(ganz_backend *, const ganz_refresh_item *, int);
    void (*attention)(ganz_backend *, const ganz_attention_call *);
    real *master, *copy, *bias, *scale;
    long inside, clipped;
} held;
static held hold;

static double hold_code(double y, double low, double high)
{
    if (!hold.replay) {
        const double code = rint(y);
        const bool out = code < low || code > high;
        assert_true(hold.at < hold.count);
        hold.noise[hold.at++] = out ? NAN : code - y;
        *(out ? &hold.clipped : &hold.inside) += 1;
        return out ? (code < low ? low : high) : code;
    }
    const double noise = hold.noise[hold.at++];
    return isnan(noise) ? (y < 0 ? low : high) : y + noise;
}

static void held_quantize(ganz_backend *b, const ganz_quantize_call *c)
{
    (void)b;
    for (int i = 0; i < c->x.rows; i++)
        for (int j = 0; j < c->x.cols; j++) {
            const real x = ((const real *)c->x.data)[(size_t)i * (size_t)c->x.ld + (size_t)j];
            ((real *)c->codes.data)[(size_t)i * (size_t)c->codes.ld + (size_t)j] =
                hold_code(x / *c->scale, -c->p, c->p);
        }
}

static double at(const ganz_operand *o, int row, int col)
{
    return ((const real *)o->m.data)[(size_t)row * (size_t)o->m.ld + (size_t)col] * (o->scale ? *o->scale : 1);
}

/* One query and head, straight from the definition. */
static void held_attend(const ganz_attention_call *c, int query, int key, int keys, int head)
{
    double u[64], sum = 0;
    const int first = head * c->width;
    for (int j = 0; j < keys; j++) {
        double score = 0;
        for (int i = first; i < first + c->width; i++) score += at(&c->q, query, i) * at(&c->k, key + j, i);
        u[j] = exp(score * c->inv_root);
        sum += u[j];
    }
    for (int j = 0; j < keys; j++) {
        u[j] /= sum;
        if (c->u_scale) u[j] = hold_code(u[j] / *c->u_scale, 0, c->u_max) * *c->u_scale;
        if (c->mask) u[j] *= c->mask[c->query_slot[query] * c->mask_side + c->key_slot[key + j]] * c->mask_scale;
    }
    for (int i = first; i < first + c->width; i++) {
        double y = 0;
        for (int j = 0; j < keys; j++) y += u[j] * at(&c->v, key + j, i);
        ((real *)c->out.data)[(size_t)query * (size_t)c->out.ld + (size_t)i] = y;
    }
}

static void held_attention(ganz_backend *b, const ganz_attention_call *c)
{
    real theirs[256];
    const size_t size = (size_t)c->see.queries * (size_t)c->out.cols;
    assert_true(size <= GANZ_COUNT(theirs) && c->out.ld == c->out.cols);
    hold.attention(b, c);
    memcpy(theirs, c->out.data, size * sizeof(real));
    for (int s = 0; s < c->see.segments; s++)
        for (int q = c->see.query_begin[s]; q < c->see.query_begin[s + 1]; q++) {
            const int key = c->see.key_begin[s], keys = c->see.key_begin[s + 1] - key,
                      own = q - c->see.query_begin[s] + 1;
            for (int h = 0; h < c->heads; h++) held_attend(c, q, key, c->see.causal && own < keys ? own : keys, h);
        }
    for (size_t i = 0; i < size && !hold.replay; i++) assert_true(fabs(theirs[i] - ((real *)c->out.data)[i]) < 1e-10);
}

/* Learned scales: code = w / scale + noise inside the range, and its end outside. */
static void held_rows(const ganz_refresh_item *item)
{
    const ganz_weights *const w = &hold.c->weights;
    const size_t offset = (size_t)(item->master - w->master), cols = item->count / (size_t)item->rows;
    const real *const before = hold.scale + (item->scale - w->weight_scale);
    for (size_t i = 0; i < item->count; i++) {
        const double code = hold.copy[offset + i], noise = code - hold.master[offset + i] / before[i / cols];
        ((real *)item->copy)[i] = fabs(noise) > 0.5 ? code : item->master[i] / item->scale[i / cols] + noise;
    }
}

/* Weights: the value of a code moves with the master, at the scale it had. */
static void held_refresh(ganz_backend *b, const ganz_refresh_item *items, int count)
{
    if (!hold.replay) {
        hold.refresh(b, items, count);
        return;
    }
    for (int n = 0; n < count; n++) {
        const size_t offset = (size_t)(items[n].master - hold.c->weights.master);
        const real *const base = items[n].values ? hold.bias : hold.copy;
        if (items[n].known) held_rows(&items[n]);
        for (size_t i = 0; !items[n].known && i < items[n].count; i++)
            ((real *)items[n].copy)[i] = base[offset + i] + (items[n].master[i] - hold.master[offset + i]) /
                                                                (items[n].values ? 1 : *items[n].scale);
    }
}

static real *copy_of(const real *x, size_t count)
{
    real *const copy = ganz_alloc(count, sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, x, count * sizeof *copy);
    return copy;
}

static double held_slope(nn_case *c, real *value)
{
    const real old = *value, h = 1e-5;
    double loss[2];
    for (int i = 0; i < 2; i++) {
        *value = i == 0 ? old + h : old - h;
        hold.at = 0;
        nn_case_refresh(c);
        loss[i] = nn_case_loss(c, false);
    }
    *value = old;
    return (loss[0] - loss[1]) / (2 * h);
}

static void hold_network(nn_case *c)
{
    const size_t block = c->net.params.block;
    hold = (held){.c = c, .count = 1 << 20, .refresh = c->be->refresh, .attention = c->be->attention};
    hold.noise = ganz_alloc(hold.count, sizeof *hold.noise);
    assert_non_null(hold.noise);
    const double plain = nn_case_loss(c, true); /* gradients of the real thing */
    ganz_weights_rows_grad(&c->weights, &c->net);
    c->be->quantize = held_quantize;
    c->be->attention = held_attention;
    c->be->refresh = held_refresh;
    nn_case_refresh(c);
    assert_true(fabs(nn_case_loss(c, false) - plain) < 1e-10);
    hold.master = copy_of(c->weights.master, block);
    hold.copy = copy_of(c->weights.copy, block);
    hold.bias = copy_of(c->weights.bias_value, block);
    hold.scale = copy_of(c->weights.weight_scale, (size_t)c->net.rows);
    hold.replay = true;
}

static void free_held(void)
{
    ganz_free(hold.noise);
    ganz_free(hold.master);
    ganz_free(hold.copy);
    ganz_free(hold.bias);
    ganz_free(hold.scale);
}

static void add_rows(nn_case *c)
{
    ganz_weights_close(&c->weights);
    assert_int_equal(GANZ_OK, ganz_net_learn_rows(&c->net, NULL));
    assert_int_equal(GANZ_OK, ganz_weights_open(&c->weights, &c->net, c->be, true, NULL));
}

/* Weights of 3 bits whose rows have learned scales, too small for some and too large for others. */
static void learn_rows(nn_case *c)
{
    ganz_scheme scheme = ganz_scheme_of_bits(8);
    scheme.rule.weight_bits = 3;
    scheme.rule.per_row = true;
    scheme.rule.weight_range = GANZ_WEIGHT_RANGE_LEARNED;
    ganz_net_set_scheme(&c->net, &scheme);
    assert_int_equal(GANZ_OK, ganz_weights_trim(&c->weights, &c->net, NULL));
    real *const z = c->weights.master + c->net.params.list[c->net.row_scales].offset;
    for (int i = 0; i < c->net.rows; i++) z[i] += 0.3 * (i % 5 - 3);
}

static void check_held_network(const ganz_config *kind, ganz_inputs_state inputs, bool rows)
{
    nn_case c;
    nn_case_open(&c, kind, 2, batch, SEGMENTS, 0);
    if (rows) add_rows(&c);
    nn_case_init(&c, 4);
    if (rows) learn_rows(&c);
    c.smoothing = 0.1;
    c.dropout = (ganz_dropout){0.1, 0.1, 0.1};
    c.weights.drop_scale = 1 / 0.9;
    c.learn_scales = inputs == GANZ_INPUTS_FAKE;
    for (int i = 0; i < c.net.scales; i++)
        c.weights.master[c.net.params.list[c.net.first_scale + i].offset] = -6.0 - 0.02 * (i % 7);
    for (int i = 0; i < c.net.pairs; i++) c.weights.master[c.net.params.list[c.net.pair[i].u.z].offset] = -8.3;
    ganz_net_set_states(&c.net, GANZ_WEIGHTS_FAKE, inputs);
    nn_case_refresh(&c);
    hold_network(&c);
    if (inputs == GANZ_INPUTS_FAKE) assert_true(hold.clipped > 100 && hold.inside > 1000);
    double norm = 0;
    for (size_t i = 0; i < c.net.params.block; i++) norm += c.weights.grad[i] * c.weights.grad[i];
    for (int p = 0; p < c.net.params.count; p++) {
        const ganz_param *const param = &c.net.params.list[p];
        const int looks = param->kind == GANZ_ROW_SCALES ? 60 : 3;
        for (int i = 0; i < looks && (param->kind != GANZ_SCALE || c.learn_scales); i++) {
            const size_t at_ = ganz_random_below(3, (uint64_t)p, (uint64_t)i, (uint32_t)ganz_param_count(param));
            const size_t place = param->offset + at_;
            close_to(c.weights.grad[place], held_slope(&c, &c.weights.master[place]), 1e-2 * sqrt(norm), param->name,
                     at_);
        }
    }
    free_held();
    nn_case_close(&c);
}

static void fake_network_gradient(void **state)
{
    (void)state;
    ganz_config kind = small;
    for (int i = 0; i < NN_TRAINED_KINDS && nn_kind(i, &kind); i++, kind = small) {
        check_held_network(&kind, GANZ_INPUTS_FLOAT, false);
        check_held_network(&kind, GANZ_INPUTS_FAKE, false);
        check_held_network(&kind, GANZ_INPUTS_FAKE, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embed_gradient),
        cmocka_unit_test(norm_gradient),
        cmocka_unit_test(linear_gradient),
        cmocka_unit_test(attention_gradient),
        cmocka_unit_test(loss_gradient),
        cmocka_unit_test(taught_gradient),
        cmocka_unit_test(network_gradient_with_a_teacher),
        cmocka_unit_test(network_gradient),
        cmocka_unit_test(network_gradient_with_dropout),
        cmocka_unit_test(gradients_of_all_kinds),
        cmocka_unit_test(fake_network_gradient),
    };
    return cmocka_run_group_tests(tests, open_backend, close_backend);
}
