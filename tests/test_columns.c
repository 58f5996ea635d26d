/* Steps for columns: rounding together by hand and against all choices, and a product that one step cannot serve. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "ganz/recipe.h"
#include "translate/columns.h"
#include "translate/round_weights.h"

#define OK(call) assert_int_equal((call), GANZ_OK)

static float uniform(uint64_t stream, uint32_t i)
{
    return (float)((double)ganz_random_u32(11, stream, i) / (double)UINT32_MAX * 2 - 1);
}

/* ---- rounding ----------------------------------------------------------------------------------- */

/* Columns that have nothing to do with each other are rounded each for itself. */
static void alone(void **state)
{
    (void)state;
    const float exact[] = {1.0f, 0.5f, -0.5f, 0.49f, -1.0f, 0.12f};
    float weights[6], scales[2];
    double spread[] = {4, 0, 0, 0, 1, 0, 0, 0, 2};
    const ganz_rounding r = {2, 3, 2, weights, spread, scales};
    memcpy(weights, exact, sizeof weights);
    OK(ganz_round_weights(&r, NULL));
    assert_true(scales[0] == 0.5f && weights[0] == 2 && weights[1] == 1 && weights[2] == -1);
    for (int i = 0; i < 6; i++) assert_true(weights[i] == fminf(2, fmaxf(-2, rintf(exact[i] / scales[i / 3]))));
}

static double change(const float *exact, const float *codes, float scale, const double *spread, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sum += (double)(exact[i] - codes[i] * scale) * spread[i * n + j] * (double)(exact[j] - codes[j] * scale);
    return sum;
}

/* Columns that go together: less change than by rounding each, and near the least of all choices. */
static void together(void **state)
{
    (void)state;
    enum { N = 5, CODES = 5 };
    double ours = 0, plain = 0, best = 0;
    for (uint32_t round = 0; round < 40; round++) {
        double spread[N * N], copy[N * N];
        float exact[N], codes[N], each[N], scale;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) spread[i * N + j] = (i == j ? 0.1 : 0) + (1 + 0.1 * i) * (1 + 0.1 * j);
        for (uint32_t i = 0; i < N; i++) exact[i] = codes[i] = uniform(round, i);
        memcpy(copy, spread, sizeof copy);
        OK(ganz_round_weights(&(ganz_rounding){1, N, 2, codes, copy, &scale}, NULL));
        ours += change(exact, codes, scale, spread, N);
        for (int i = 0; i < N; i++) each[i] = fminf(2, fmaxf(-2, rintf(exact[i] / scale)));
        plain += change(exact, each, scale, spread, N);
        double least = INFINITY;
        for (int k = 0; k < CODES * CODES * CODES * CODES * CODES; k++) {
            for (int i = 0, rest = k; i < N; i++, rest /= CODES) each[i] = (float)(rest % CODES - 2);
            least = fmin(least, change(exact, each, scale, spread, N));
        }
        best += least;
    }
    assert_true(ours < 0.7 * plain);
    assert_true(ours < 2.2 * best);
}

/* ---- products ----------------------------------------------------------------------------------- */

enum { WIDTH = 16, FFN = 32, ROWS = 600 };

/* Of the hidden layer: all columns are small and lie on one side, but for one that reaches to 60. */
static float hidden(int row, int col)
{
    const float u = uniform((uint64_t)row + 1000, (uint32_t)col);
    return col == 7 ? (row % 50 ? 1.0f : 60.0f) * u * u : 0.3f + 0.2f * u;
}

static double integer_product(const ganz_weights *w, const ganz_site *site, const ganz_param *param, int row, int out)
{
    const real *const codes = (const real *)w->copy + param->offset + (size_t)(out * FFN);
    double sum = 0;
    for (int i = 0; i < FFN; i++) {
        const double zero = (double)w->column_zero[site->col + i];
        double code = rint((double)hidden(row, i) * (double)w->column_inv[site->col + i] + zero);
        code = fmin(127, fmax(-127, code));
        sum += (code - zero) * (double)codes[i];
    }
    return sum * (double)ganz_site_scales(w, site)[out];
}

static double float_product(const ganz_weights *w, const ganz_param *param, int row, int out)
{
    double sum = 0;
    for (int i = 0; i < FFN; i++)
        sum += (double)hidden(row, i) * (double)w->master[param->offset + (size_t)(out * FFN + i)];
    return sum;
}

/* With one step for all columns, and weights as they are. */
static double one_step_noise(const ganz_weights *w, const ganz_param *param)
{
    double noise = 0;
    for (int row = 0; row < ROWS; row++)
        for (int out = 0; out < WIDTH; out++) {
            double left = 0;
            for (int i = 0; i < FFN; i++) {
                const double x = (double)hidden(row, i), step = 60.0 / 127;
                left += (x - rint(x / step) * step) * (double)w->master[param->offset + (size_t)(out * FFN + i)];
            }
            noise += left * left;
        }
    return noise;
}

static void columns_serve_all(void **state)
{
    (void)state;
    const ganz_config config = {.width = WIDTH,
                                .ffn = FFN,
                                .heads = 2,
                                .encoder_layers = 1,
                                .decoder_layers = 1,
                                .vocab = 40,
                                .max_positions = 16,
                                .norm = GANZ_NORM_POST,
                                .o_bias = true};
    ganz_scheme scheme = {.rule = {.integer = true,
                                   .weight_bits = 8,
                                   .input_bits = 8,
                                   .attention_bits = 8,
                                   .bias_bits = GANZ_BITS_FLOAT,
                                   .per_row = true}};
    ganz_net net;
    ganz_backend *be;
    ganz_weights w;
    ganz_column_fit *fit;
    OK(ganz_scheme_parse(&scheme, "enc.0.ffn.out: columns=own", NULL));
    OK(ganz_net_open(&net, &config, NULL));
    ganz_net_set_scheme(&net, &scheme);
    ganz_net_set_states(&net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE);
    OK(ganz_cpu_backend_open(&be, 1, NULL));
    OK(ganz_weights_open(&w, &net, be, false, NULL));
    ganz_params_init(&net.params, 5, w.master);
    OK(ganz_weights_refresh(&w, &net, NULL));
    const ganz_site *const site = ganz_net_find_site(&net, "enc.0.ffn.out");
    const ganz_param *const param = &net.params.list[site->weight];
    OK(ganz_column_fit_open(&fit, &net, NULL));
    assert_int_not_equal(ganz_column_fit_write(fit, &w, &(ganz_error){0}), GANZ_OK); /* nothing was seen */
    const ganz_instrument eye = ganz_column_fit_instrument(fit);
    for (int row = 0; row < ROWS; row += 6) {
        real x[6][FFN];
        for (int i = 0; i < 6 * FFN; i++) x[i / FFN][i % FFN] = (real)hidden(row + i / FFN, i % FFN);
        eye.input(eye.context, site->input.place, &(ganz_matrix){6, FFN, FFN, GANZ_REAL, x}, NULL);
    }
    OK(ganz_column_fit_write(fit, &w, NULL));
    double noise = 0, signal = 0, means[WIDTH] = {0}, said[WIDTH];
    for (int row = 0; row < ROWS; row++)
        for (int out = 0; out < WIDTH; out++) {
            const double exact = float_product(&w, param, row, out);
            const double left = exact - integer_product(&w, site, param, row, out);
            noise += left * left;
            signal += exact * exact;
            means[out] += left / ROWS;
        }
    assert_true(10 * log10(signal / noise) > 28); /* dB */
    assert_true(noise < 0.1 * one_step_noise(&w, param));
    ganz_column_fit_change(fit, &w, site, said);
    for (int out = 0; out < WIDTH; out++) assert_true(fabs(said[out] - means[out]) < 0.01);
    ganz_column_fit_close(&fit);
    ganz_weights_close(&w);
    be->close(be);
    ganz_net_close(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(together),
        cmocka_unit_test(columns_serve_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
