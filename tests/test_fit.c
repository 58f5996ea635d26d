/* Fitted ranges and biases: a column that is far out but always the same is clipped, and the bias makes up for it. */
#include "test.h"

#include <math.h>

#include "base/rng.h"
#include "ganz/recipe.h"
#include "translate/fit.h"

#define OK(call) assert_int_equal((call), GANZ_OK)
enum { WIDTH = 16, FFN = 32, ROWS = 400, FAR = 3 };

static const ganz_config config = {.width = WIDTH,
                                   .ffn = FFN,
                                   .heads = 2,
                                   .encoder_layers = 1,
                                   .decoder_layers = 1,
                                   .vocab = 40,
                                   .max_positions = 16,
                                   .norm = GANZ_NORM_POST,
                                   .q_bias = true,
                                   .o_bias = true,
                                   .logits_bias = true};

typedef struct fixture {
    ganz_net net;
    ganz_backend *be;
    ganz_weights weights;
    ganz_fit *fit;
    real inputs[ROWS][WIDTH];
    real before[4096]; /* biases, at the offsets of their parameters */
} fixture;

/* Between -1 and 1, but for one column, which is always 40. */
static void fill(fixture *f, real far)
{
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < WIDTH; c++)
            f->inputs[r][c] =
                c == FAR ? far : (real)ganz_random_u32(7, (uint64_t)r, (uint32_t)c) / (real)UINT32_MAX * 2 - 1;
}

static void open_all(fixture *f, real far)
{
    const ganz_scheme scheme = {
        .rule = {
            .integer = true, .weight_bits = 8, .input_bits = 8, .attention_bits = 8, .bias_bits = GANZ_BITS_FLOAT}};
    *f = (fixture){0};
    fill(f, far);
    OK(ganz_net_open(&f->net, &config, NULL));
    ganz_net_set_scheme(&f->net, &scheme);
    OK(ganz_cpu_backend_open(&f->be, 1, NULL));
    OK(ganz_weights_open(&f->weights, &f->net, f->be, false, NULL));
    ganz_params_init(&f->net.params, 5, f->weights.master);
    for (int i = 0; i < f->net.scales; i++) f->weights.largest[i] = far > 1 ? far : 1;
    OK(ganz_fit_open(&f->fit, &f->net, f->weights.largest, NULL));
}

static void close_all(fixture *f)
{
    ganz_fit_close(&f->fit);
    ganz_weights_close(&f->weights);
    f->be->close(f->be);
    ganz_net_close(&f->net);
}

static void show_to(fixture *f, const char *name)
{
    const ganz_instrument instrument = ganz_fit_instrument(f->fit);
    const ganz_matrix m = {ROWS, WIDTH, WIDTH, GANZ_REAL, f->inputs};
    instrument.input(instrument.context, ganz_net_find_site(&f->net, name)->input.place, &m, NULL);
}

/* The range that was chosen, and the change of a site's biases in `change`. */
static double fitted(fixture *f, const char *name, const char *biased, double change[FFN])
{
    const ganz_site *const site = ganz_net_find_site(&f->net, name), *const to = ganz_net_find_site(&f->net, biased);
    real *const bias = f->weights.master + f->net.params.list[to->bias].offset;
    OK(ganz_fit_ranges(f->fit, &f->weights, f->weights.largest, NULL));
    ganz_net_set_states(&f->net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE);
    OK(ganz_weights_set_scales(&f->weights, &f->net, NULL));
    OK(ganz_weights_refresh(&f->weights, &f->net, NULL));
    for (int i = 0; i < to->out; i++) f->before[i] = bias[i];
    OK(ganz_fit_biases(f->fit, &f->weights, NULL));
    for (int i = 0; i < to->out; i++) change[i] = (double)bias[i] - (double)f->before[i];
    return (double)f->weights.largest[site->input.place];
}

/* What a product of one input row loses, made here from the definition of codes, in double. */
static double lost_by(const fixture *f, const ganz_site *site, double range, int output)
{
    const real *const w = f->weights.master + f->net.params.list[site->weight].offset + (size_t)output * WIDTH;
    const real *const whole = f->weights.master + f->net.params.list[site->weight].offset;
    double largest = 0, sum = 0;
    for (int i = 0; i < site->out * WIDTH; i++) largest = fmax(largest, fabs((double)whole[i]));
    const double step = range / 127, weight_step = largest / 127;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < WIDTH; c++) {
            const double x = (double)f->inputs[r][c], code = fmax(-127, fmin(127, rint(x / step)));
            sum += (double)w[c] * x - rint((double)w[c] / weight_step) * weight_step * code * step;
        }
    return sum / ROWS;
}

static void what_is_always_the_same_is_clipped(void **state)
{
    (void)state;
    fixture f;
    double change[FFN];
    open_all(&f, 40);
    show_to(&f, "enc.0.ffn.in");
    const ganz_site *const site = ganz_net_find_site(&f.net, "enc.0.ffn.in");
    const double range = fitted(&f, "enc.0.ffn.in", "enc.0.ffn.in", change);
    assert_true(range < 1.3 && range > 0.7); /* the other columns decide */
    for (int i = 0; i < FFN; i++) {
        const double lost = lost_by(&f, site, range, i);
        assert_true(fabs(change[i] - lost) < 0.01 + 0.002 * fabs(lost));
    }
    close_all(&f);
}

/* Of columns that are all alike nothing is clipped by much, and little is to be added. */
static void ordinary_inputs_stay(void **state)
{
    (void)state;
    fixture f;
    double change[FFN];
    open_all(&f, 0);
    show_to(&f, "dec.0.cross.q");
    const double range = fitted(&f, "dec.0.cross.q", "dec.0.cross.q", change);
    assert_true(range > 0.7);
    for (int i = 0; i < WIDTH; i++) assert_true(fabs(change[i]) < 0.01);
    close_all(&f);
}

/* What values lose goes through the output projection; keys have no bias and need none. */
static void values_go_through_the_output(void **state)
{
    (void)state;
    fixture f;
    double change[FFN], lost[WIDTH];
    open_all(&f, 40);
    show_to(&f, "enc.0.self.v");
    const ganz_site *const v = ganz_net_find_site(&f.net, "enc.0.self.v"), *const o = ganz_net_find_site(
                                                                               &f.net, "enc.0.self.o");
    const double range = fitted(&f, "enc.0.self.v", "enc.0.self.o", change);
    const real *const w = f.weights.master + f.net.params.list[o->weight].offset;
    assert_true(range < 1.3);
    for (int i = 0; i < WIDTH; i++) lost[i] = lost_by(&f, v, range, i);
    for (int i = 0; i < WIDTH; i++) {
        double sum = 0;
        for (int c = 0; c < WIDTH; c++) sum += (double)w[i * WIDTH + c] * lost[c];
        assert_true(fabs(change[i] - sum) < 0.02 + 0.002 * fabs(sum));
    }
    close_all(&f);
}

/* Without a bias to take it up, what is far out is kept. */
static void without_a_bias_it_is_kept(void **state)
{
    (void)state;
    ganz_net net;
    ganz_config plain = config;
    real largest[64];
    fixture f;
    open_all(&f, 40);
    plain.q_bias = false;
    OK(ganz_net_open(&net, &plain, NULL));
    for (int i = 0; i < net.scales; i++) largest[i] = 40;
    ganz_fit_close(&f.fit);
    ganz_net_close(&f.net);
    ganz_weights_close(&f.weights);
    f.net = net;
    OK(ganz_weights_open(&f.weights, &f.net, f.be, false, NULL));
    ganz_params_init(&f.net.params, 5, f.weights.master);
    OK(ganz_fit_open(&f.fit, &f.net, largest, NULL));
    show_to(&f, "enc.0.self.q");
    OK(ganz_fit_ranges(f.fit, &f.weights, largest, NULL));
    assert_true((double)largest[ganz_net_find_site(&f.net, "enc.0.self.q")->input.place] > 30);
    close_all(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_always_the_same_is_clipped),
        cmocka_unit_test(ordinary_inputs_stay),
        cmocka_unit_test(values_go_through_the_output),
        cmocka_unit_test(without_a_bias_it_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
