/* What networks differ in, on the CPU backend: activations, norms after a sublayer, the start vector, the pad label and
 * banned words. Expectations come from double arithmetic, or from another path that must give the same bits. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/rng.h"
#include "kernel/kernel.h"

static ganz_matrix matrix(void *data, int rows, int cols) { return (ganz_matrix){rows, cols, cols, GANZ_REAL, data}; }
static ganz_matrix bytes(void *data, int rows, int cols) { return (ganz_matrix){rows, cols, cols, GANZ_S8, data}; }

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%.10g, not %.10g", got, want);
}

static void fill(real *x, size_t count, uint64_t stream)
{
    for (size_t i = 0; i < count; i++) x[i] = (real)ganz_random_normal(6, stream, i);
}

static void draw_codes(int8_t *codes, real *same, size_t count, uint64_t stream)
{
    for (size_t i = 0; i < count; i++) same[i] = codes[i] = (int8_t)((int)ganz_random_below(6, stream, i, 255) - 127);
}

/* Calls `test` with a backend for each instruction set of this processor. */
static void each_isa(void (*test)(ganz_backend *be))
{
    static const char *const names[] = {"scalar", "avx2", "avxvnni", "avx512vnni", "amx", "neon", "neondot", "i8mm"};
    for (size_t i = 0; i < GANZ_COUNT(names); i++) {
        ganz_backend *be;
        setenv("GANZ_FORCE_ISA", names[i], 1);
        if (ganz_cpu_backend_open(&be, 2, NULL) != GANZ_OK) continue;
        test(be);
        be->close(be);
    }
    unsetenv("GANZ_FORCE_ISA");
}

static ganz_backend *open_backend(void)
{
    ganz_backend *be;
    assert_int_equal(ganz_cpu_backend_open(&be, 3, NULL), GANZ_OK);
    return be;
}

static double value_of(ganz_activation activation, double x)
{
    switch (activation) {
    case GANZ_ACTIVATION_RELU: return x > 0 ? x : 0;
    case GANZ_ACTIVATION_SWISH: return x / (1 + exp(-x));
    case GANZ_ACTIVATION_GELU: return x * 0.5 * erfc(-x / sqrt(2));
    case GANZ_ACTIVATION_GELU_SIGMOID: return x / (1 + exp(-1.702 * x));
    default: return x;
    }
}

/* By differences in double, good to 1e-9. */
static double slope_of(ganz_activation activation, double x)
{
    const double h = 1e-5;
    return (value_of(activation, x + h) - value_of(activation, x - h)) / (2 * h);
}

enum { ROWS = 5, IN = 128, OUT = 43 };

/* ---- activations -------------------------------------------------------------------------------- */

/* Values within 1e-6, and the gradient of the bias, which is that of the value before the activation, within 1e-5 of
 * double. */
static void activations_and_gradients(void **state)
{
    (void)state;
    ganz_backend *const be = open_backend();
    static const real one = 1;
    real bias[OUT], y[OUT], before[OUT], y_grad[OUT], bias_grad[OUT], zero = 0;
    static real w[OUT];
    for (int a = GANZ_ACTIVATION_NONE; a < GANZ_ACTIVATIONS; a++) {
        const ganz_activation activation = (ganz_activation)a;
        for (int i = 0; i < OUT; i++) bias[i] = (real)(i - OUT / 2) * 0.37f + 0.01f;
        for (int i = 0; i < OUT; i++) y_grad[i] = 1, bias_grad[i] = 0;
        const ganz_linear_call c = {.rows = 1,
                                    .in = 1,
                                    .out = OUT,
                                    .x = {matrix(&zero, 1, 1), &one},
                                    .w = {matrix(w, OUT, 1), &one},
                                    .bias = bias,
                                    .activation = activation,
                                    .y = matrix(y, 1, OUT),
                                    .before = matrix(before, 1, OUT),
                                    .y_grad = matrix(y_grad, 1, OUT),
                                    .bias_grad = bias_grad};
        be->linear(be, &c);
        be->linear_grad(be, &c);
        for (int i = 0; i < OUT; i++) {
            const double x = (double)bias[i];
            near(y[i], value_of(activation, x), 1e-6 * fmax(1, fabs(x)));
            near(bias_grad[i], slope_of(activation, x), 1e-5);
            assert_true(before[i] == bias[i]);
        }
    }
    be->close(be);
}

/* Codes held as floats, as training multiplies them, and integers: the same bits, values and codes. */
static void same_bits_in_integers(ganz_backend *be)
{
    static int8_t xs[ROWS * IN], ws[OUT * IN], codes[ROWS * OUT], again[ROWS * OUT];
    static real x[ROWS * IN], w[OUT * IN], bias[OUT], fake[ROWS * OUT], whole[ROWS * OUT];
    const real x_scale = 0.0371f, w_scale = 0.00113f, y_scale = 0.0213f;
    draw_codes(xs, x, ROWS * IN, 1);
    draw_codes(ws, w, OUT * IN, 2);
    fill(bias, OUT, 3);
    void *const block = ganz_alloc_aligned(be->pack_bytes(be, OUT, IN, false));
    const ganz_packed *const packed = be->pack(be, block, &(ganz_pack_call){ws, OUT, IN, -127, 127, false, NULL});
    for (int a = GANZ_ACTIVATION_NONE; a < GANZ_ACTIVATIONS; a++) {
        ganz_linear_call c = {.rows = ROWS,
                              .in = IN,
                              .out = OUT,
                              .x = {matrix(x, ROWS, IN), &x_scale},
                              .w = {matrix(w, OUT, IN), &w_scale},
                              .bias = bias,
                              .activation = (ganz_activation)a,
                              .y = matrix(fake, ROWS, OUT)};
        be->linear(be, &c);
        c.x.m = bytes(xs, ROWS, IN);
        c.packed = packed;
        c.y = matrix(whole, ROWS, OUT);
        c.codes = (ganz_code_out){.m = bytes(codes, ROWS, OUT), .scale = &y_scale, .p = 127};
        be->linear_codes(be, &c);
        assert_memory_equal(fake, whole, sizeof fake);
        const ganz_quantize_call q = {.x = matrix(fake, ROWS, OUT),
                                      .codes = bytes(again, ROWS, OUT),
                                      .scale = &y_scale,
                                      .p = 127,
                                      .is_signed = true};
        be->quantize(be, &q);
        assert_memory_equal(codes, again, sizeof codes);
    }
    ganz_free(block);
}

static void training_has_the_bits_of_integers(void **state)
{
    (void)state;
    each_isa(same_bits_in_integers);
}

/* ---- norms -------------------------------------------------------------------------------------- */

/* After a sublayer: values take the place of the residual, and codes go to as many readers as there are. */
static void same_norm_both_ways(ganz_backend *be)
{
    enum { READERS = 17, COLS = 70 };
    static int8_t codes[READERS][ROWS * COLS], want[ROWS * COLS];
    static real x[ROWS * COLS], delta[ROWS * COLS], gain[COLS], bias[COLS], y[ROWS * COLS], sum[ROWS * COLS];
    real scales[READERS];
    ganz_code_out outs[READERS] = {0};
    fill(x, ROWS * COLS, 4);
    fill(delta, ROWS * COLS, 5);
    fill(gain, COLS, 6);
    fill(bias, COLS, 7);
    for (int i = 0; i < READERS; i++) {
        scales[i] = 0.01f * (real)(i + 1);
        if (i != 3) outs[i] = (ganz_code_out){.m = bytes(codes[i], ROWS, COLS), .scale = &scales[i], .p = 127};
    }
    ganz_norm_call c = {.rows = ROWS,
                        .cols = COLS,
                        .x = x,
                        .delta = matrix(delta, ROWS, COLS),
                        .eps = 1e-5f,
                        .gain = gain,
                        .bias = bias,
                        .sum = sum,
                        .y = matrix(y, ROWS, COLS)};
    be->norm(be, &c);
    for (int i = 0; i < COLS; i++) near(sum[i], (double)x[i] + (double)delta[i], 1e-6);
    c.sum = x;
    c.y = matrix(x, ROWS, COLS);
    c.outs = READERS;
    c.codes = outs;
    be->norm_codes(be, &c);
    assert_memory_equal(x, y, sizeof y);
    for (int i = 0; i < READERS; i++) {
        if (i == 3) continue;
        const ganz_quantize_call q = {.x = matrix(y, ROWS, COLS),
                                      .codes = bytes(want, ROWS, COLS),
                                      .scale = &scales[i],
                                      .p = 127,
                                      .is_signed = true};
        be->quantize(be, &q);
        assert_memory_equal(codes[i], want, sizeof want);
    }
}

static void norm_writes_values_and_codes(void **state)
{
    (void)state;
    each_isa(same_norm_both_ways);
}

static void epsilon_is_the_calls(void **state)
{
    (void)state;
    ganz_backend *const be = open_backend();
    real x[2] = {-1, 1}, gain[2] = {1, 1}, bias[2] = {0, 0}, y[2];
    const ganz_norm_call c = {.rows = 1, .cols = 2, .x = x, .eps = 3, .gain = gain, .bias = bias, .y = matrix(y, 1, 2)};
    be->norm(be, &c); /* variance 1 */
    near(y[1], 0.5, 1e-7);
    memset(y, 0, sizeof y);
    be->norm_codes(be, &c);
    near(y[1], 0.5, 1e-7);
    be->close(be);
}

/* ---- ids ---------------------------------------------------------------------------------------- */

/* Id 2 begins a translation here, id 0 is a word like others; -1 is nothing. */
static void same_start(ganz_backend *be)
{
    enum { TOKENS = 5, COLS = 9, VOCAB = 4 };
    static const int32_t ids[TOKENS] = {2, 0, 3, -1, 2}, positions[TOKENS] = {0, 1, 2, 0, 1},
                         by_id[TOKENS] = {3, 1, 0, 4, 2};
    static int8_t codes[VOCAB * COLS];
    static real table[VOCAB * COLS], timing[3 * COLS], start[COLS], out[TOKENS * COLS], whole[TOKENS * COLS];
    static real grad[TOKENS * COLS], table_grad[VOCAB * COLS], start_grad[COLS];
    const real scale = 0.02f;
    draw_codes(codes, table, VOCAB * COLS, 8);
    fill(timing, 3 * COLS, 9);
    fill(start, COLS, 10);
    fill(grad, TOKENS * COLS, 11);
    memset(table_grad, 0, sizeof table_grad);
    memset(start_grad, 0, sizeof start_grad);
    void *const block = ganz_alloc_aligned(be->pack_bytes(be, VOCAB, COLS, false));
    ganz_embed_call c = {.rows = TOKENS,
                         .cols = COLS,
                         .vocab = VOCAB,
                         .ids = ids,
                         .positions = positions,
                         .table = {matrix(table, VOCAB, COLS), &scale},
                         .start_id = 2,
                         .start = start,
                         .root = 3,
                         .timing = timing,
                         .out = out,
                         .out_grad = grad,
                         .table_grad = table_grad,
                         .start_grad = start_grad,
                         .by_id = by_id};
    be->embed(be, &c);
    be->embed_grad(be, &c);
    for (int i = 0; i < COLS; i++) {
        near(out[i], (double)start[i] * 3 + (double)timing[i], 1e-6);
        near(out[COLS + i], (double)table[i] * 0.02 * 3 + (double)timing[COLS + i], 1e-5);
        near(out[3 * COLS + i], timing[i], 0);
        near(start_grad[i], 3 * ((double)grad[i] + (double)grad[4 * COLS + i]), 1e-5);
        near(table_grad[i], 3 * (double)grad[COLS + i], 1e-5);
        near(table_grad[2 * COLS + i], 0, 0);
    }
    c.packed = be->pack(be, block, &(ganz_pack_call){codes, VOCAB, COLS, -127, 127, false, NULL});
    c.out = whole;
    be->embed_codes(be, &c);
    assert_memory_equal(out, whole, sizeof out);
    ganz_free(block);
}

static void start_vector(void **state)
{
    (void)state;
    each_isa(same_start);
}

/* With another pad label, label 0 is a class like others. */
static void pad_label(void **state)
{
    (void)state;
    ganz_backend *const be = open_backend();
    real logits[12] = {1, 2, 3, 0, 1, 0, 2, 1, 5, 4, 3, 2};
    const int32_t labels[3] = {0, 3, -1};
    double sums[3] = {0};
    const ganz_loss_call c = {.rows = 3,
                              .vocab = 4,
                              .logits = matrix(logits, 3, 4),
                              .labels = labels,
                              .pad = 3,
                              .grad_scale = 1,
                              .want_grad = true,
                              .sums = sums};
    be->loss(be, &c);
    near(sums[0], log(exp(1) + exp(2) + exp(3) + 1) - 1, 1e-6);
    near(sums[2], 1, 0);
    assert_true(logits[0] < 0 && logits[1] > 0);
    for (int i = 4; i < 12; i++) near(logits[i], 0, 0);
    be->close(be);
}

/* Integer logits with a float bias, some words banned: they have no share of the sum, and come last. */
static void same_banned(ganz_backend *be)
{
    enum { VOCAB = 43, K = 5 };
    static int8_t xs[ROWS * IN], ws[VOCAB * IN];
    static real x[ROWS * IN], w[VOCAB * IN], bias[VOCAB], y[ROWS * VOCAB];
    const real x_scale = 0.01f, w_scale = 0.0007f;
    float value[ROWS * K], sum[ROWS];
    int32_t index[ROWS * K];
    draw_codes(xs, x, ROWS * IN, 12);
    draw_codes(ws, w, VOCAB * IN, 13);
    fill(bias, VOCAB, 14);
    for (int j = 0; j < VOCAB; j += 4) bias[j] = -INFINITY;
    void *const block = ganz_alloc_aligned(be->pack_bytes(be, VOCAB, IN, false));
    const ganz_linear_call c = {.rows = ROWS,
                                .in = IN,
                                .out = VOCAB,
                                .x = {bytes(xs, ROWS, IN), &x_scale},
                                .w = {bytes(NULL, VOCAB, IN), &w_scale},
                                .bias = bias,
                                .packed = be->pack(be, block, &(ganz_pack_call){ws, VOCAB, IN, -127, 127, false, NULL}),
                                .y = matrix(y, ROWS, VOCAB)};
    be->linear_codes(be, &c);
    const ganz_topk_call t = {
        .logits = matrix(y, ROWS, VOCAB), .k = K, .value = value, .index = index, .logsumexp = sum};
    be->topk(be, &t);
    for (int i = 0; i < ROWS; i++) {
        double all = 0, best = -1e9;
        for (int j = 0; j < VOCAB; j++) {
            int32_t dot = 0;
            for (int k = 0; k < IN; k++) dot += xs[i * IN + k] * ws[j * IN + k];
            const double logit = dot * 0.01 * 0.0007 + (double)bias[j];
            all += exp(logit);
            best = fmax(best, logit);
        }
        near(sum[i], log(all), 1e-5);
        near(value[i * K], best, 1e-5);
        for (int j = 0; j < K; j++) assert_true(index[i * K + j] % 4 != 0);
    }
    ganz_free(block);
}

static void banned_words(void **state)
{
    (void)state;
    each_isa(same_banned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_and_gradients),
        cmocka_unit_test(training_has_the_bits_of_integers),
        cmocka_unit_test(norm_writes_values_and_codes),
        cmocka_unit_test(epsilon_is_the_calls),
        cmocka_unit_test(start_vector),
        cmocka_unit_test(pad_label),
        cmocka_unit_test(banned_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
