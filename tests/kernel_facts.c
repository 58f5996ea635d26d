/* Fixed expectations: worked vectors, libm in double, plain loops; and one hash of everything float. */
#include "kernel_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/exact.h"

/* Worked by hand from the quantizer's definition: scale 1/2 signed, scale 1/255 unsigned, ties to even. */
static void rounding(check *c)
{
    static const float x[] = {0.25f, 0.75f, 1.25f, 63.6f, 63.75f, -64.2f, -0.25f, -0.75f};
    static const int8_t expected[] = {0, 2, 2, 127, 127, -127, 0, -2};
    int8_t codes[8];
    c->kernel.rows.quantize(x, 8, 1.0f / 0.5f, 127, codes);
    CHECK(c, !memcmp(codes, expected, 8));
    static const float y[] = {-0.25f, 0.0f, 0.3f, 7.75f, 100.0f, -9.0f}, inv[] = {2.0f, 4.0f, 10.0f, 1.0f, 1.0f, 1.0f};
    static const float zero[] = {-100.0f, -127.0f, 5.0f, -3.0f, -10.0f, -120.0f};
    static const int8_t by_column[] = {-100, -127, 8, 5, 90, -127}; /* -100.5 and 4.75 among them */
    c->kernel.rows.quantize_columns(y, 6, &(ganz_columns){inv, zero}, 127, codes);
    CHECK(c, !memcmp(codes, by_column, 6));
    static const float u[] = {0.3f, 1.2f, -0.1f, 0.5f / 255.0f, 1.5f / 255.0f};
    static const uint8_t unsigned_expected[] = {76, 255, 0, 0, 2};
    uint8_t unsigned_codes[5];
    c->kernel.rows.quantize_unsigned(u, 5, 255.0f, 255, unsigned_codes);
    CHECK(c, !memcmp(unsigned_codes, unsigned_expected, 5));
}

static void exp_and_log(check *c)
{
    enum { N = 4096 };
    static float x[N], y[N];
    double worst = 0.0, worst_log = 0.0;
    for (int round = 0; round < 16; round++) {
        for (int i = 0; i < N; i++)
            x[i] = round < 8 ? -43.5f + check_uniform(c) * 43.5f : check_uniform(c) * (round < 12 ? 1.0f : 87.0f);
        c->kernel.rows.exp(x, N, y);
        for (int i = 0; i < N; i++) {
            const double relative = fabs((double)y[i] / exp((double)x[i]) - 1.0);
            worst = relative > worst ? relative : worst;
            const double e = fabs((double)ganz_exact_log(y[i]) - log((double)y[i]));
            const double bound = 1e-7 * (fabs(log((double)y[i])) + 1e-3);
            worst_log = e / bound > worst_log ? e / bound : worst_log;
        }
    }
    CHECK(c, worst < 1e-7 && worst_log < 1.0);
    const float special[] = {-INFINITY, -87.5f, NAN, 0.0f, -0.0f, INFINITY, 1e30f, -1e30f};
    c->kernel.rows.exp(special, 8, y);
    CHECK(c, y[0] == 0.0f && y[1] == 0.0f && y[2] == 0.0f && y[3] == 1.0f && y[4] == 1.0f && y[7] == 0.0f);
    CHECK(c, y[5] > 1.6e38f && y[5] < 1.7e38f && y[6] == y[5]);
    CHECK(c,
          ganz_exact_exp(1.0f) == 2.71828183f && ganz_exact_log(1.0f) == 0.0f && ganz_exact_log(2.0f) == 0.693147181f);
}

/* Layer norm and softmax against double; tolerance is single precision's own. */
static void against_double(check *c, float epsilon)
{
    enum { N = 512 };
    static float x[N], gain[N], bias[N], y[N];
    check_floats(c, x, N, 0);
    check_floats(c, gain, N, 0);
    check_floats(c, bias, N, 0);
    double mean = 0.0, variance = 0.0, sum = 0.0, norm_error = 0.0, softmax_error = 0.0;
    for (int i = 0; i < N; i++) mean += (double)x[i] / N;
    for (int i = 0; i < N; i++) variance += ((double)x[i] - mean) * ((double)x[i] - mean) / N;
    c->kernel.rows.norm(&(ganz_norm_layout){N, epsilon, gain, bias}, x, y, NULL, 0);
    for (int i = 0; i < N; i++) {
        const double expected =
            ((double)x[i] - mean) / sqrt(variance + (double)epsilon) * (double)gain[i] + (double)bias[i];
        norm_error = fmax(norm_error, fabs(expected - (double)y[i]));
    }
    for (int i = 0; i < N; i++) sum += exp((double)x[i]);
    c->kernel.rows.softmax(x, N, y);
    for (int i = 0; i < N; i++) softmax_error = fmax(softmax_error, fabs(exp((double)x[i]) / sum - (double)y[i]));
    CHECK(c, norm_error < 1e-5 && softmax_error < 1e-8);
    float max, total;
    c->kernel.rows.exp_sum(x, N, &max, &total);
    CHECK(c, fabs((double)max + (double)ganz_exact_log(total) - log(sum)) < 1e-5);
    const float flat[4] = {7.0f, 7.0f, 7.0f, 7.0f};
    c->kernel.rows.softmax(flat, 4, y);
    CHECK(c, y[0] == 0.25f && y[3] == 0.25f);
    c->kernel.rows.norm(&(ganz_norm_layout){4, epsilon, gain, bias}, flat, y, NULL, 0);
    CHECK(c, !memcmp(y, bias, 4 * sizeof(float)));
}

static double true_activation(ganz_activation activation, double x)
{
    switch (activation) {
    case GANZ_ACTIVATION_RELU: return x > 0 ? x : 0;
    case GANZ_ACTIVATION_SWISH: return x / (1 + exp(-x));
    case GANZ_ACTIVATION_GELU: return x * 0.5 * erfc(-x / sqrt(2.0));
    case GANZ_ACTIVATION_GELU_SIGMOID: return x / (1 + exp(-1.702 * x));
    default: return x;
    }
}

/* Every activation of sums from -20 to 20, and of very large ones, against libm in double: error under 4e-7 for results
 * of size 1 and below, and 4e-7 relative above. */
static void activations(check *c)
{
    enum { N = 4001 };
    static int32_t sums[N];
    static float y[N];
    for (int i = 0; i < N; i++) sums[i] = i - N / 2;
    sums[0] = -1000000000, sums[1] = 1000000000, sums[2] = -9000, sums[3] = 9000;
    for (int a = GANZ_ACTIVATION_NONE; a < GANZ_ACTIVATIONS; a++) {
        const ganz_epilogue e = {.scale = 0.01f, .activation = (ganz_activation)a, .out = y};
        double worst = 0;
        c->kernel.rows.epilogue(&e, sums, N, (ganz_block){0, 1, 0, N});
        for (int i = 0; i < N; i++) {
            const double expected = true_activation((ganz_activation)a, (double)((float)sums[i] * 0.01f));
            worst = fmax(worst, fabs((double)y[i] - expected) / fmax(1, fabs(expected)));
        }
        CHECK(c, worst < 4e-7);
    }
}

/* A word whose bias is -infinity is banned: it comes last and has no share of the sum. */
static void banned(check *c)
{
    enum { N = 67, K = 3 };
    int32_t sums[N], indices[K];
    float bias[N], y[N], values[K], max, sum;
    double expected = 0;
    for (int i = 0; i < N; i++) {
        sums[i] = i * 37 % 50;
        bias[i] = i % 3 ? 0.25f : -INFINITY;
        if (i % 3) expected += exp(0.1 * sums[i] + 0.25);
    }
    const ganz_epilogue e = {.scale = 0.1f, .bias = bias, .out = y};
    c->kernel.rows.epilogue(&e, sums, N, (ganz_block){0, 1, 0, N});
    c->kernel.rows.exp_sum(y, N, &max, &sum);
    CHECK(c, fabs((double)max + (double)ganz_exact_log(sum) - log(expected)) < 1e-5);
    c->kernel.rows.top_k(y, N, K, values, indices);
    for (int i = 0; i < K; i++) CHECK(c, indices[i] % 3 != 0 && isfinite(values[i]));
    c->kernel.rows.softmax(y, N, y);
    CHECK(c, y[0] == 0.0f && y[3] == 0.0f && y[1] > 0.0f);
}

/* Element i in lane i % 8 and the lanes joined as kernel.h says: other orders lose other bits of this row. */
static void lanes(check *c)
{
    const float e = 1.0f / 16777216.0f; /* 2^-24: 1 + e == 1 */
    float x[16] = {0};
    /* exp_sum adds e^(x - max): one 1 and fifteen of about 2^-24 */
    for (int i = 0; i < 16; i++) x[i] = i == 0 ? 0.0f : -16.635532f;
    float y[16], max, sum;
    c->kernel.rows.exp(x, 16, y);
    CHECK(c, fabsf(y[1] / e - 1.0f) < 1e-6f);
    c->kernel.rows.exp_sum(x, 16, &max, &sum);
    const float t = y[1], l0 = 1.0f + t, l = t + t;
    const float expected = ((l0 + l) + (l + l)) + ((l + l) + (l + l));
    CHECK(c, sum == expected);
}

/* Selection by the plainest rule: k times the first of the largest that are left. */
static void selection(check *c)
{
    enum { N = 777, K = 20 };
    float x[N], values[K];
    int32_t indices[K];
    bool used[N] = {false};
    for (int i = 0; i < N; i++) x[i] = (float)check_between(c, -40, 40);
    c->kernel.rows.top_k(x, N, K, values, indices);
    for (int i = 0; i < K; i++) {
        int best = -1;
        for (int j = 0; j < N; j++)
            if (!used[j] && (best < 0 || x[j] > x[best])) best = j;
        used[best] = true;
        CHECK(c, indices[i] == best && values[i] == x[best]);
    }
}

static void small_products(check *c)
{
    const int8_t rows[3][3] = {{1, 2, 3}, {-127, 0, 127}, {5, -5, 5}}, q[3] = {-127, 1, 127};
    const int8_t *const list[] = {rows[0], rows[1], rows[2], rows[1]};
    int32_t scores[4], sums[3];
    c->kernel.rows.dot_rows(q, 3, list, 0, 4, scores);
    CHECK(c, scores[0] == 256 && scores[1] == 2 * 127 * 127 && scores[2] == -5 && scores[3] == scores[1]);
    const uint8_t u[] = {255, 255, 1, 255};
    c->kernel.rows.weighted_rows(u, list, 0, 4, 3, sums);
    CHECK(c, sums[0] == 255 - 2 * 255 * 127 + 5 && sums[1] == 510 - 5 && sums[2] == 765 + 2 * 255 * 127 + 5);

    /* y = relu(sum * 0.5 + bias) + residual; codes of scale 1/4 */
    const int32_t given[4] = {3, -8, 16777217, 1};
    const float bias[4] = {0.25f, 1.0f, 0.0f, -0.5f}, add[4] = {1.0f, -2.0f, 0.0f, 0.125f};
    float out[4];
    int8_t codes[4];
    const ganz_epilogue e = {.scale = 0.5f,
                             .bias = bias,
                             .add = add,
                             .activation = GANZ_ACTIVATION_RELU,
                             .out = out,
                             .codes = codes,
                             .inv = 4.0f,
                             .p = 31};
    c->kernel.rows.epilogue(&e, given, 4, (ganz_block){0, 1, 0, 4});
    CHECK(c, out[0] == 2.75f && out[1] == -2.0f && out[2] == 8388608.0f && out[3] == 0.125f);
    CHECK(c, codes[0] == 11 && codes[1] == -8 && codes[2] == 31 && codes[3] == 0);

    const int8_t code[2] = {-3, 7};
    const float first[2] = {1.0f, 2.0f}, second[2] = {0.5f, 0.25f};
    c->kernel.rows.embed(&(ganz_embed_row){code, 0.5f, 4.0f, first, second}, 2, out);
    CHECK(c, out[0] == -4.5f && out[1] == 16.25f);
}

/* A regression value, taken from this code once: no ISA and no compiler may change it. */
static void hash_of_rows(check *c)
{
    enum { N = 512, ROUNDS = 200 };
    static float x[N], gain[N], bias[N], y[N];
    static int8_t codes[N];
    uint64_t hash = 1469598103934665603u;
    uint64_t index = 0;
#define MIX(data, bytes) \
    for (size_t b_ = 0; b_ < (bytes); b_++) hash = (hash ^ ((const unsigned char *)(data))[b_]) * 1099511628211u
    for (int round = 0; round < ROUNDS; round++) {
        const int n = round % 4 ? N : 1 + round;
        for (int i = 0; i < n; i++, index += 3) {
            x[i] = (ganz_random_uniform(3, 1, index) - 0.5f) * 8.0f;
            gain[i] = ganz_random_uniform(3, 1, index + 1) * 2.0f;
            bias[i] = ganz_random_uniform(3, 1, index + 2) - 0.5f;
        }
        const ganz_codes outs = {codes, 25.0f, 127};
        c->kernel.rows.norm(&(ganz_norm_layout){n, 1e-6f, gain, bias}, x, y, &outs, 1);
        MIX(y, (size_t)n * sizeof(float));
        MIX(codes, (size_t)n);
        c->kernel.rows.softmax(x, n, y);
        MIX(y, (size_t)n * sizeof(float));
        float stats[3];
        c->kernel.rows.exp_sum(x, n, &stats[0], &stats[1]);
        stats[2] = ganz_exact_log(stats[1]);
        MIX(stats, sizeof stats);
    }
#undef MIX
    if (hash != 0x7738087d7540a6dfu) check_fail(c, "the hash of float rows is %016llx", (unsigned long long)hash);
}

void check_facts(check *c)
{
    rounding(c);
    exp_and_log(c);
    against_double(c, 1e-6f);
    against_double(c, 0.3f);
    activations(c);
    banned(c);
    lanes(c);
    selection(c);
    small_products(c);
    hash_of_rows(c);
}
