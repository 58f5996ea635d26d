/* The CPU backend against vectors of Tensor2Tensor and TQT, and against plain loops. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/rng.h"
#include "kernel/kernel.h"

static ganz_backend *be;

static int open_backend(void **state)
{
    (void)state;
    return ganz_cpu_backend_open(&be, 3, NULL) != GANZ_OK;
}

static int close_backend(void **state)
{
    (void)state;
    be->close(be);
    return 0;
}

static ganz_matrix matrix(void *data, int rows, int cols) { return (ganz_matrix){rows, cols, cols, GANZ_REAL, data}; }

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%.10g, not %.10g", got, want);
}

static void fill(real *x, size_t count, uint64_t stream)
{
    for (size_t i = 0; i < count; i++) x[i] = (real)ganz_random_normal(5, stream, i);
}

/* ---- loss --------------------------------------------------------------------------------------- */

static double loss_of(real *logits, int rows, int vocab, const int32_t *labels, double smoothing, double sums[3])
{
    sums[0] = sums[1] = sums[2] = 0;
    const ganz_loss_call c = {.rows = rows,
                              .vocab = vocab,
                              .logits = matrix(logits, rows, vocab),
                              .labels = labels,
                              .smoothing = (real)smoothing,
                              .grad_scale = 1,
                              .want_grad = false,
                              .sums = sums};
    be->loss(be, &c);
    return sums[0];
}

static void loss_vectors(void **state)
{
    (void)state;
    real logits[10] = {0.1f, 0.2f, 1.5f, -0.3f, 0.0f, 1, 2, 3, 2, 1};
    const int32_t labels[2] = {2, 0};
    double sums[3];
    near(loss_of(logits, 2, 5, labels, 0.1, sums), 0.3321113785, 1e-6); /* the second row is padding */
    near(sums[1], 1, 0);
    near(sums[2], 1, 0);
    const double plain = log(exp(0.1) + exp(0.2) + exp(1.5) + exp(-0.3) + 1) - 1.5;
    near(loss_of(logits, 2, 5, labels, 0, sums), plain, 1e-6); /* validation: no smoothing, no constant */
    enum { VOCAB = 33288 };
    static real flat[VOCAB];
    const int32_t last = VOCAB - 1, first = 1;
    near(loss_of(flat, 1, VOCAB, &last, 0.1, sums), log(VOCAB) - 1.3663751943, 1e-5);
    near(sums[1], 0, 0); /* of equals the first is best */
    static real slopes[VOCAB];
    const ganz_loss_call graded = {.rows = 1,
                                   .vocab = VOCAB,
                                   .logits = matrix(slopes, 1, VOCAB),
                                   .labels = &last,
                                   .smoothing = (real)0.1,
                                   .grad_scale = 1,
                                   .want_grad = true,
                                   .sums = sums};
    be->loss(be, &graded); /* softmax minus what is wanted: 0.9 of the label, 3.0041758e-06 of each other word */
    near(slopes[0], 1.0 / VOCAB - 3.0041758e-06, 2e-11);
    near(slopes[last], 1.0 / VOCAB - 0.9, 1e-7);
    flat[1] = 1e-3f;
    loss_of(flat, 1, VOCAB, &first, 0.1, sums);
    near(sums[1], 1, 0);
}

/* Sharp rows over a large vocabulary: most numbers are tiny beside the largest, and together they still count. */
static void small_numbers_of_wide_rows_count(void **state)
{
    (void)state;
    enum { ROWS = 3, VOCAB = 70001 };
    static const int32_t labels[ROWS] = {3, 70000, 512};
    static real logits[ROWS * VOCAB], taught[ROWS * VOCAB];
    fill(logits, ROWS * VOCAB, 31);
    fill(taught, ROWS * VOCAB, 32);
    double plain = 0, apart = 0, sums[3];
    for (int row = 0; row < ROWS; row++) {
        real *const x = logits + (size_t)row * VOCAB, *const t = taught + (size_t)row * VOCAB;
        double q = 0, p = 0, both = 0;
        for (int i = 0; i < VOCAB; i++) {
            x[i] *= 4;
            t[i] *= 4;
            q += exp((double)x[i]);
            p += exp((double)t[i]);
            both += exp((double)t[i]) * ((double)t[i] - (double)x[i]);
        }
        plain += log(q) - (double)x[labels[row]];
        apart += both / p - log(p) + log(q);
    }
    near(loss_of(logits, ROWS, VOCAB, labels, 0, sums), plain, 1e-6 * plain);
    sums[0] = 0;
    const ganz_loss_call c = {.rows = ROWS,
                              .vocab = VOCAB,
                              .logits = matrix(logits, ROWS, VOCAB),
                              .labels = labels,
                              .taught = matrix(taught, ROWS, VOCAB),
                              .grad_scale = 1,
                              .sums = sums};
    be->loss(be, &c);
    near(sums[0], apart, 1e-6 * apart);
}

/* ---- updates ------------------------------------------------------------------------------------ */

static void adafactor_vectors(void **state)
{
    (void)state;
    static const real grads[2][6] = {{0.01f, -0.02f, 0.03f, 0.002f, 0.001f, -0.004f},
                                     {0.02f, 0.01f, -0.01f, 0.003f, -0.002f, 0.05f}};
    static const double want[2][6] = {{0.097903503, -0.197864652, 0.297880740, 0.046576435, 0.399128248, -0.097692841},
                                      {0.093938706, -0.200046739, 0.298644016, 0.046097837, 0.399479453, -0.100764062}};
    static const double rows[2][2] = {{4.6666667e-4, 7e-6}, {3.13506886e-4, 4.84092717e-4}},
                        cols[3] = {5.2e-5, 2.005e-4, 4.58e-4};
    real w[6] = {0.1f, -0.2f, 0.3f, 0.05f, 0.4f, -0.1f}, g[6], slots[5] = {0};
    const ganz_update_item item = {w, g, slots, 2, 3, true};
    for (int t = 0; t < 2; t++) {
        memcpy(g, grads[t], sizeof g);
        const ganz_update_call c = {.items = &item, .count = 1, .rate = 0.01, .decay = 1 - pow(t + 1, -0.8)};
        be->adafactor(be, &c);
        for (int i = 0; i < 6; i++) near(w[i], want[t][i], 3e-8);
        for (int i = 0; i < 6; i++) near(g[i], 0, 0);
        for (int i = 0; i < 2; i++) near(slots[i] / rows[t][i], 1, 1e-6);
        for (int i = 0; i < 3 && t == 0; i++) near(slots[2 + i] / cols[i], 1, 1e-6);
    }
}

/* The same formulas in double, for a tensor that spans blocks and threads. */
static void reference_adafactor(double *w, const real *g, double *slots, int rows, int cols, double decay)
{
    double mean = 0, update = 0, old = 0;
    for (int i = 0; i < rows + cols; i++) slots[i] *= decay;
    for (int i = 0; i < rows * cols; i++) {
        slots[i / cols] += (1 - decay) * ((double)g[i] * g[i] + 1e-30) / cols;
        slots[rows + i % cols] += (1 - decay) * ((double)g[i] * g[i] + 1e-30) / rows;
        old += w[i] * w[i];
    }
    for (int i = 0; i < rows; i++) mean += slots[i] / rows;
    for (int i = 0; i < rows * cols; i++) {
        const double x = g[i] / sqrt(slots[i / cols] / mean) / sqrt(slots[rows + i % cols]);
        update += x * x;
    }
    const double rate = 0.01 * fmax(sqrt(old / (rows * cols)), 1e-3) / fmax(1, sqrt(update / (rows * cols)));
    for (int i = 0; i < rows * cols; i++)
        w[i] -= rate * g[i] / sqrt(slots[i / cols] / mean) / sqrt(slots[rows + i % cols]);
}

static void adafactor_of_a_large_matrix(void **state)
{
    (void)state;
    enum { ROWS = 333, COLS = 41, SIZE = ROWS * COLS };
    static real w[SIZE], g[SIZE], keep[SIZE], slots[ROWS + COLS];
    static double want[SIZE], want_slots[ROWS + COLS];
    fill(w, SIZE, 1);
    for (int i = 0; i < SIZE; i++) want[i] = w[i];
    const ganz_update_item item = {w, g, slots, ROWS, COLS, true};
    for (int t = 0; t < 3; t++) {
        fill(g, SIZE, (uint64_t)(2 + t));
        memcpy(keep, g, sizeof g);
        const ganz_update_call c = {.items = &item, .count = 1, .rate = 0.01, .decay = 1 - pow(t + 1, -0.8)};
        be->adafactor(be, &c);
        reference_adafactor(want, keep, want_slots, ROWS, COLS, c.decay);
        for (int i = 0; i < SIZE; i++) near(w[i], want[i], 2e-6);
    }
}

/* A vector: update g / sqrt(v) clipped to RMS 1; a tensor of zeros moves as if its RMS were 1e-3. */
static void adafactor_of_a_vector(void **state)
{
    (void)state;
    real w[3] = {0}, g[3] = {0.5f, -0.5f, 0.5f}, slots[3] = {0};
    const ganz_update_item item = {w, g, slots, 1, 3, false};
    const ganz_update_call c = {.items = &item, .count = 1, .rate = 0.01, .decay = 0};
    be->adafactor(be, &c);
    for (int i = 0; i < 3; i++) near(w[i], i == 1 ? 1e-5 : -1e-5, 1e-10);
    for (int i = 0; i < 3; i++) near(slots[i], 0.25, 1e-7);
}

static void adam_follows_its_formula(void **state)
{
    (void)state;
    enum { SIZE = 40000 };
    static real w[SIZE], g[SIZE], slots[2 * SIZE];
    static double want[SIZE], m[SIZE], v[SIZE];
    fill(w, SIZE, 9);
    for (int i = 0; i < SIZE; i++) want[i] = w[i];
    const ganz_update_item item = {w, g, slots, 1, SIZE, false};
    for (int t = 1; t <= 3; t++) {
        fill(g, SIZE, (uint64_t)(10 + t));
        for (int i = 0; i < SIZE; i++) {
            m[i] = 0.9 * m[i] + 0.1 * g[i];
            v[i] = 0.997 * v[i] + 0.003 * g[i] * g[i];
            want[i] -= 0.002 * (m[i] / (1 - pow(0.9, t))) / (sqrt(v[i] / (1 - pow(0.997, t))) + 1e-9);
        }
        const ganz_update_call c = {
            .items = &item, .count = 1, .rate = 0.002, .beta1 = 0.9, .beta2 = 0.997, .epsilon = 1e-9, .step = t};
        be->adam(be, &c);
        for (int i = 0; i < SIZE; i++) near(w[i], want[i], 2e-6);
        near(g[SIZE - 1], 0, 0);
    }
}

static void running_average(void **state)
{
    (void)state;
    real to[3] = {1, 2, 3};
    const real from[3] = {3, 2, -1};
    be->average(be, to, from, 3, 0.75);
    const double want[3] = {1.5, 2, 2};
    for (int i = 0; i < 3; i++) near(to[i], want[i], 1e-7);
}

static void sums_of_parts(void **state)
{
    (void)state;
    real to[2] = {1, -0.5f};
    const real from[2] = {0.25f, 0.5f};
    be->add(be, to, from, 2);
    assert_true(to[0] == 1.25f && to[1] == 0);
    double sum[2] = {1e16, 1};
    const double rows[3][2] = {{1, 2}, {1, 3}, {2, 4}}; /* 1e16 + 1 is rounded to 1e16, twice; 1e16 + 2 is not */
    be->add_rows(be, sum, rows[0], 3, 2);
    assert_true(sum[0] == 1e16 + 2 && sum[1] == 10);
}

/* ---- quantization ------------------------------------------------------------------------------- */

static void check_quantize(real x, real scale, int p, bool is_signed, double y, double dx, double dz, bool clips)
{
    real code, grad = 1, x_grad = 5, z_grad = 2;
    int64_t clipped = 10;
    ganz_quantize_call c = {.x = matrix(&x, 1, 1),
                            .codes = matrix(&code, 1, 1),
                            .scale = &scale,
                            .p = p,
                            .is_signed = is_signed,
                            .clipped = &clipped,
                            .code_grad = matrix(&grad, 1, 1),
                            .x_grad = matrix(&x_grad, 1, 1),
                            .z_grad = &z_grad};
    be->quantize(be, &c);
    near(code * scale, y, 1e-6);
    near((double)clipped, clips ? 11 : 10, 0);
    be->quantize_grad(be, &c);
    near(x_grad, dx, 0);
    near(z_grad - 2, dz, 1e-5);
    c.x_grad_add = true;
    c.z_grad = NULL;
    be->quantize_grad(be, &c);
    near(x_grad, 2 * dx, 0);
}

static void quantize_vectors(void **state)
{
    (void)state;
    check_quantize(0.25f, 0.5f, 127, true, 0, 1, -0.173286795, false);
    check_quantize(0.75f, 0.5f, 127, true, 1.0, 1, 0.173286795, false);
    check_quantize(1.25f, 0.5f, 127, true, 1.0, 1, -0.173286795, false);
    check_quantize(63.6f, 0.5f, 127, true, 63.5, 1, -0.069314718, false);
    check_quantize(63.75f, 0.5f, 127, true, 63.5, 0, 44.014845966, true);
    check_quantize(-64.2f, 0.5f, 127, true, -63.5, 0, -44.014845966, true);
    check_quantize(0.3f, 1 / 255.0f, 255, false, 0.2980392157, 1, -0.0013591121, false);
    check_quantize(1.2f, 1 / 255.0f, 255, false, 1.0, 0, 0.6931471806, true);
}

static void scales_are_powers(void **state)
{
    (void)state;
    const real z[4] = {0, -1, -4.7f, 3};
    real scale[4];
    be->scales(be, z, scale, 4, false, 1);
    const double want[4] = {1, 0.5, 0.03847324, 8};
    for (int i = 0; i < 4; i++) near(scale[i] / want[i], 1, 1e-6);
    const real far[4] = {-30, 9.5f, -4.4f, 2.5f}; /* kept within -24 and 8; rounded half to even */
    be->scales(be, far, scale, 4, false, 1);
    near(scale[0], 0x1p-24, 0);
    near(scale[1], 0x1p8, 0);
    be->scales(be, far, scale, 4, true, 1);
    near(scale[2], 0x1p-4, 0);
    near(scale[3], 0x1p2, 0);
}

/* Scales of weights that are powers of two, and a range that is given. */
static void weights_with_other_scales(void **state)
{
    (void)state;
    const real w[3] = {0.5f, -1.27f, 1.0f}, eighth[2] = {127 / 8.0f, 0}, range = 0.635f;
    real codes[3], even[2], clipped[3], scale[3];
    const ganz_refresh_item items[] = {
        {.master = w, .count = 3, .copy = codes, .scale = &scale[0], .p = 127, .power_of_two = true},
        {.master = eighth, .count = 2, .copy = even, .scale = &scale[1], .p = 127, .power_of_two = true},
        {.master = w, .count = 3, .copy = clipped, .scale = &scale[2], .p = 127, .range = &range}};
    be->refresh(be, items, 3);
    near(scale[0], 0x1p-6, 0); /* 1.27 / 127 = 0.01, rounded up */
    near(codes[1], -81, 0);    /* -81.28 */
    near(scale[1], 0.125, 0);  /* a power already */
    near(even[0], 127, 0);
    near(scale[2], 0.005, 1e-9);
    near(clipped[0], 100, 0);
    near(clipped[1], -127, 0);
    near(clipped[2], 127, 0);
}

/* Each row by itself; a row of zeros has the scale 1. */
static void rows_with_scales_of_their_own(void **state)
{
    (void)state;
    const real w[8] = {0.5f, -1.27f, 12.7f, 3.04f, 0, 0, -0.031f, 0.0149f}, range = 6.35f;
    real codes[8], clipped[8], scale[4], same[4];
    const ganz_refresh_item items[] = {
        {.master = w, .count = 8, .copy = codes, .scale = scale, .p = 127, .rows = 4},
        {.master = w, .count = 8, .copy = clipped, .scale = same, .p = 127, .rows = 4, .range = &range}};
    be->refresh(be, items, 2);
    const double scales[4] = {0.01, 0.1, 1, 0.031 / 127}, want[8] = {50, -127, 127, 30, 0, 0, -127, 61};
    const double cut[8] = {10, -25, 127, 61, 0, 0, -1, 0};
    for (int i = 0; i < 4; i++) {
        near(scale[i] / scales[i], 1, 1e-6);
        near(same[i], 0.05, 1e-8);
    }
    for (int i = 0; i < 8; i++) {
        near(codes[i], want[i], 0);
        near(clipped[i], cut[i], 0);
    }
}

/* Scales that are given, and their gradient: a row that is clipped, one that is not, and one in between. */
static void rows_with_learned_scales(void **state)
{
    (void)state;
    const real w[9] = {4, -5, 6, 0.4f, -0.6f, 1.2f, 3.4f, 3.6f, -9}, given[3] = {0.5f, 1, 1};
    real codes[9], scale[3], grad[9], z_grad[3] = {10, 20, 30};
    memcpy(scale, given, sizeof scale);
    for (int i = 0; i < 9; i++) grad[i] = (real)(i + 1);
    const ganz_refresh_item item = {
        .master = w, .count = 9, .copy = codes, .scale = scale, .p = 3, .rows = 3, .known = true};
    be->refresh(be, &item, 1);
    const double want[9] = {3, -3, 3, 0, -1, 1, 3, 3, -3};
    for (int i = 0; i < 9; i++) near(codes[i], want[i], 0);
    for (int i = 0; i < 3; i++) near(scale[i], given[i], 0);
    const ganz_rows_grad_call call = {
        .rows = 3, .cols = 3, .p = 3, .master = w, .scale = scale, .grad = grad, .z_grad = z_grad};
    be->rows_grad(be, &call);
    /* row 0: 0.5 * (1 * 3 - 2 * 3 + 3 * 3); row 1: 4 * -0.4 + 5 * -0.4 + 6 * -0.2; row 2: 7 * -0.4 + 8 * 3 - 9 * 3 */
    const double sums[3] = {3, -4.8, -5.8}, left[9] = {0, 0, 0, 4, 5, 6, 7, 0, 0};
    for (int i = 0; i < 3; i++) near(z_grad[i], 10 * (i + 1) + sums[i] * 0.69314718, 1e-5);
    for (int i = 0; i < 9; i++) near(grad[i], left[i], 0);
}

static void weights_become_codes(void **state)
{
    (void)state;
    const real w[5] = {0.5f, -1.27f, 0.014f, 0, 1.0f}, zeros[2] = {0, 0};
    real codes[5], values[5], none[2], scale[3], plain[5];
    const ganz_refresh_item items[] = {
        {.master = w, .count = 5, .copy = codes, .scale = &scale[0], .p = 127},
        {.master = w, .count = 5, .copy = values, .scale = &scale[1], .p = 31, .values = true},
        {.master = zeros, .count = 2, .copy = none, .scale = &scale[2], .p = 127},
        {.master = w, .count = 5, .copy = plain}};
    be->refresh(be, items, 4);
    const double want[5] = {50, -127, 1, 0, 100};
    near(scale[0], 0.01, 1e-8);
    near(scale[2], 1, 0);
    near(none[0], 0, 0);
    for (int i = 0; i < 5; i++) {
        near(codes[i], want[i], 0);
        near(values[i], rint(w[i] / (1.27 / 31)) * (1.27 / 31), 1e-6);
        near(plain[i], w[i], 0);
    }
}

static void largest_magnitude(void **state)
{
    (void)state;
    enum { ROWS = 200, COLS = 17 };
    static real x[ROWS * 20];
    fill(x, ROWS * 20, 30);
    x[150 * 20 + 16] = -9; /* the last column */
    x[10 * 20 + 18] = 50;  /* beyond it */
    ganz_matrix m = {ROWS, COLS, 20, GANZ_REAL, x};
    real largest = 0.5f;
    be->largest(be, &m, &largest);
    near(largest, 9, 0);
    m.rows = 100;
    be->largest(be, &m, &largest);
    near(largest, 9, 0); /* a running maximum */
}

/* ---- the rest ----------------------------------------------------------------------------------- */

static void masks_follow_the_counter(void **state)
{
    (void)state;
    enum { COUNT = 10007 };
    static uint8_t mask[COUNT + 1];
    mask[COUNT] = 77;
    be->mask(be, mask, COUNT, 42, 7, 0.9f);
    int kept = 0;
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(mask[i], ganz_random_uniform(42, 7, (uint64_t)i) < 0.9f);
        kept += mask[i];
    }
    assert_int_equal(mask[COUNT], 77);
    near(kept / (double)COUNT, 0.9, 0.01);
}

static void candidates(void **state)
{
    (void)state;
    real logits[2][6] = {{1, 3, 2, 3, -1, 3}, {-5, -5, -5, -5, -5, -4}};
    float value[6], lse[2];
    int32_t index[6];
    const ganz_topk_call c = {matrix(logits, 2, 6), 3, value, index, lse, 0};
    be->topk(be, &c);
    const int32_t want[6] = {1, 3, 5, 5, 0, 1};
    for (int i = 0; i < 6; i++) assert_int_equal(index[i], want[i]);
    near(value[2], 3, 0);
    near(value[4], -5, 0);
    near(lse[0], log(3 * exp(3) + exp(2) + exp(1) + exp(-1)), 1e-6);
    near(lse[1], log(5 * exp(-5) + exp(-4)), 1e-6);
}

/* Odd shapes, strides between rows, few and many threads: one thread gives the bits that three give. */
static void linear_of_odd_shapes(void **state)
{
    (void)state;
    static const int shapes[][3] = {{1, 5, 700}, {3, 64, 64}, {300, 33, 130}, {65, 17, 1}, {600, 8, 1100}};
    ganz_backend *one;
    assert_int_equal(ganz_cpu_backend_open(&one, 1, NULL), GANZ_OK);
    for (size_t s = 0; s < GANZ_COUNT(shapes); s++) {
        const int rows = shapes[s][0], in = shapes[s][1], out = shapes[s][2], ld = out + 3;
        real *const x = ganz_alloc((size_t)rows * (size_t)in, sizeof *x), *const w = ganz_alloc(
                                                                              (size_t)out * (size_t)in, sizeof *w);
        real *const y = ganz_alloc((size_t)rows * (size_t)ld, sizeof *y), *const bias =
                                                                              ganz_alloc((size_t)out, sizeof *bias);
        real *const again = ganz_alloc((size_t)rows * (size_t)ld, sizeof *again);
        fill(x, (size_t)(rows * in), 1);
        fill(w, (size_t)(out * in), 2);
        fill(bias, (size_t)out, 3);
        ganz_linear_call c = {
            .rows = rows, .in = in, .out = out, .x.m = matrix(x, rows, in), .w.m = matrix(w, out, in), .bias = bias};
        c.y = (ganz_matrix){rows, out, ld, GANZ_REAL, y};
        be->linear(be, &c);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < out; j++) {
                double sum = bias[j];
                for (int k = 0; k < in; k++) sum += (double)x[i * in + k] * w[j * in + k];
                near(y[i * ld + j], sum, 1e-4);
            }
        assert_true(y[out] == 0 && y[ld - 1] == 0); /* nothing between the rows */
        c.y.data = again;
        one->linear(one, &c);
        assert_memory_equal(y, again, (size_t)rows * (size_t)ld * sizeof *y);
        ganz_free(x);
        ganz_free(w);
        ganz_free(y);
        ganz_free(bias);
        ganz_free(again);
    }
    one->close(one);
}

/* Lists that say what segments say give the same attention. */
static void lists_equal_segments(void **state)
{
    (void)state;
    enum { HEADS = 2, WIDTH = 12, COLS = HEADS * WIDTH, ROWS = 9 };
    static const int32_t begin[] = {0, 4, 9};
    static real q[ROWS * COLS], k[ROWS * COLS], v[ROWS * COLS], by_segment[ROWS * COLS], by_list[ROWS * COLS];
    int32_t list[64], list_begin[ROWS + 1], count = 0;
    fill(q, ROWS * COLS, 1);
    fill(k, ROWS * COLS, 2);
    fill(v, ROWS * COLS, 3);
    for (int i = 0; i < ROWS; i++) {
        list_begin[i] = count;
        for (int j = i < 4 ? 0 : 4; j <= i; j++) list[count++] = j;
    }
    list_begin[ROWS] = count;
    real u[2] = {0, 0.1f}, weights[2][ROWS * 5] = {{0}};
    ganz_attention_call c = {
        .heads = HEADS, .width = WIDTH, .inv_root = 0.3f, .u_largest = &u[0], .weights = weights[0]};
    c.q.m = matrix(q, ROWS, COLS);
    c.k.m = matrix(k, ROWS, COLS);
    c.v.m = matrix(v, ROWS, COLS);
    c.out = matrix(by_segment, ROWS, COLS);
    c.see = (ganz_spans){.queries = ROWS,
                         .keys = ROWS,
                         .segments = 2,
                         .query_begin = begin,
                         .key_begin = begin,
                         .longest_query = 5,
                         .longest_key = 5,
                         .causal = true};
    be->attention(be, &c);
    near(u[0], 1, 1e-6); /* a first token sees itself alone */
    c.u_largest = &u[1];
    c.weights = weights[1];
    c.out = matrix(by_list, ROWS, COLS);
    c.see = (ganz_spans){
        .queries = ROWS, .keys = ROWS, .longest_query = 1, .longest_key = 5, .list_begin = list_begin, .list = list};
    be->attention(be, &c);
    near(u[1], 1, 1e-6);
    for (int i = 0; i < ROWS * COLS; i++) near(by_list[i], by_segment[i], 1e-5);
    for (int i = 0; i < ROWS; i++) {
        const int first = i < 4 ? 0 : 4, n = i - first + 1;
        double expected[5] = {0};
        for (int h = 0; h < HEADS; h++) {
            double e[5], sum = 0;
            for (int j = 0; j < n; j++) {
                double dot = 0;
                for (int col = h * WIDTH; col < (h + 1) * WIDTH; col++)
                    dot += (double)q[i * COLS + col] * (double)k[(first + j) * COLS + col];
                sum += e[j] = exp(dot * 0.3);
            }
            for (int j = 0; j < n; j++) expected[j] += e[j] / sum;
        }
        for (int j = 0; j < 5; j++) {
            near(weights[0][i * 5 + j], expected[j], 1e-5);
            near(weights[1][i * 5 + j], expected[j], 1e-5);
        }
    }
}

/* ---- the same bits as the integer kernels ------------------------------------------------------- */

static void draw_codes(int8_t *codes, real *same, size_t count, uint64_t stream)
{
    for (size_t i = 0; i < count; i++) same[i] = codes[i] = (int8_t)((int)ganz_random_below(3, stream, i, 255) - 127);
}

static void norm_has_the_bits_of_the_kernel(void **state)
{
    (void)state;
    ganz_kernel kernel;
    ganz_kernel_init(&kernel, ganz_cpu_detect());
    static const int widths[] = {1, 7, 8, 37, 64, 512};
    for (size_t i = 0; i < GANZ_COUNT(widths); i++) {
        real x[512], gain[512], bias[512], got[512], want[512];
        const int n = widths[i];
        fill(x, (size_t)n, 40 + i);
        fill(gain, (size_t)n, 50 + i);
        fill(bias, (size_t)n, 60 + i);
        const ganz_norm_call c = {
            .rows = 1, .cols = n, .x = x, .eps = 1e-5f, .gain = gain, .bias = bias, .y = matrix(got, 1, n)};
        be->norm(be, &c);
        kernel.rows.norm(&(ganz_norm_layout){n, 1e-5f, gain, bias}, x, want, NULL, 0);
        assert_memory_equal(got, want, (size_t)n * sizeof *got);
    }
}

static void linear_has_the_bits_of_integers(void **state)
{
    (void)state;
    enum { ROWS = 5, IN = 512, OUT = 40 };
    static int8_t xs[ROWS * IN], ws[OUT * IN];
    static real x[ROWS * IN], w[OUT * IN], bias[OUT], y[ROWS * OUT];
    const real x_scale = 0.0371f, w_scale = 0.00213f;
    draw_codes(xs, x, ROWS * IN, 1);
    draw_codes(ws, w, OUT * IN, 2);
    fill(bias, OUT, 3);
    const ganz_linear_call c = {.rows = ROWS,
                                .in = IN,
                                .out = OUT,
                                .x = {matrix(x, ROWS, IN), &x_scale},
                                .w = {matrix(w, OUT, IN), &w_scale},
                                .bias = bias,
                                .activation = GANZ_ACTIVATION_RELU,
                                .y = matrix(y, ROWS, OUT)};
    be->linear(be, &c);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < OUT; j++) {
            int32_t sum = 0;
            for (int k = 0; k < IN; k++) sum += xs[i * IN + k] * ws[j * IN + k];
            const real scaled = (real)sum * (x_scale * w_scale), want = scaled + bias[j];
            assert_true(y[i * OUT + j] == (want > 0 ? want : 0));
        }
}

static void attention_has_the_bits_of_the_kernel(void **state)
{
    (void)state;
    enum { KEYS = 29, WIDTH = 64, U_MAX = 255 };
    static const int32_t query_begin[] = {0, 1}, key_begin[] = {0, KEYS};
    static int8_t qs[WIDTH], ks[KEYS * WIDTH], vs[KEYS * WIDTH];
    static real q[WIDTH], k[KEYS * WIDTH], v[KEYS * WIDTH], out[WIDTH];
    const real q_scale = 0.031f, k_scale = 0.0173f, v_scale = 0.0421f, u_scale = 0.00311f;
    draw_codes(qs, q, WIDTH, 4);
    draw_codes(ks, k, KEYS * WIDTH, 5);
    draw_codes(vs, v, KEYS * WIDTH, 6);
    ganz_attention_call c = {.heads = 1,
                             .width = WIDTH,
                             .inv_root = 0.125f,
                             .u_scale = &u_scale,
                             .u_max = U_MAX,
                             .out = matrix(out, 1, WIDTH)};
    c.see = (ganz_spans){.queries = 1,
                         .keys = KEYS,
                         .segments = 1,
                         .query_begin = query_begin,
                         .key_begin = key_begin,
                         .longest_query = 1,
                         .longest_key = KEYS};
    c.q = (ganz_operand){matrix(q, 1, WIDTH), &q_scale};
    c.k = (ganz_operand){matrix(k, KEYS, WIDTH), &k_scale};
    c.v = (ganz_operand){matrix(v, KEYS, WIDTH), &v_scale};
    real weights[2][KEYS] = {{0}};
    c.weights = weights[0];
    be->attention(be, &c);
    c.q.m = (ganz_matrix){1, WIDTH, WIDTH, GANZ_S8, qs};
    c.k.m = (ganz_matrix){KEYS, WIDTH, WIDTH, GANZ_S8, ks};
    c.v.m = (ganz_matrix){KEYS, WIDTH, WIDTH, GANZ_S8, vs};
    real codes_out[WIDTH];
    c.out = matrix(codes_out, 1, WIDTH);
    c.weights = weights[1];
    be->attention_codes(be, &c);
    ganz_kernel kernel;
    ganz_kernel_init(&kernel, ganz_cpu_detect());
    int32_t scores[KEYS];
    uint8_t u[KEYS];
    float work[KEYS];
    for (int j = 0; j < KEYS; j++) {
        scores[j] = 0;
        for (int i = 0; i < WIDTH; i++) scores[j] += qs[i] * ks[j * WIDTH + i];
    }
    kernel.rows.softmax_codes(scores, KEYS, q_scale * k_scale * 0.125f, &(ganz_unsigned_codes){u, 1 / u_scale, U_MAX},
                              work);
    for (int i = 0; i < WIDTH; i++) {
        int32_t sum = 0;
        for (int j = 0; j < KEYS; j++) sum += u[j] * vs[j * WIDTH + i];
        assert_true(out[i] == (real)sum * (u_scale * v_scale));
        assert_true(codes_out[i] == out[i]);
    }
    for (int j = 0; j < KEYS; j++) assert_true(weights[0][j] == u[j] && weights[1][j] == u[j]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_vectors),
        cmocka_unit_test(small_numbers_of_wide_rows_count),
        cmocka_unit_test(adafactor_vectors),
        cmocka_unit_test(adafactor_of_a_large_matrix),
        cmocka_unit_test(adafactor_of_a_vector),
        cmocka_unit_test(adam_follows_its_formula),
        cmocka_unit_test(running_average),
        cmocka_unit_test(sums_of_parts),
        cmocka_unit_test(quantize_vectors),
        cmocka_unit_test(scales_are_powers),
        cmocka_unit_test(weights_become_codes),
        cmocka_unit_test(rows_with_scales_of_their_own),
        cmocka_unit_test(rows_with_learned_scales),
        cmocka_unit_test(weights_with_other_scales),
        cmocka_unit_test(largest_magnitude),
        cmocka_unit_test(masks_follow_the_counter),
        cmocka_unit_test(candidates),
        cmocka_unit_test(linear_of_odd_shapes),
        cmocka_unit_test(lists_equal_segments),
        cmocka_unit_test(norm_has_the_bits_of_the_kernel),
        cmocka_unit_test(linear_has_the_bits_of_integers),
        cmocka_unit_test(attention_has_the_bits_of_the_kernel),
    };
    return cmocka_run_group_tests(tests, open_backend, close_backend);
}
