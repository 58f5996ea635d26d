/* Schemes: rules by name, exceptions as text, and integer models that keep them in their files. */
#include "test.h"

#include <math.h>

#include <string.h>

#include "backend/cpu_backend.h"
#include "folder.h"
#include "ganz/quantize.h"
#include "tiny.h"

#define OK(call) assert_int_equal(GANZ_OK, call)

static void rules_follow_names(void **state)
{
    (void)state;
    ganz_scheme s = ganz_scheme_of_bits(8);
    ganz_rule r = ganz_scheme_rule(&s, "enc.0.self.q", false);
    assert_true(r.integer && r.weight_bits == 8 && r.input_bits == 8 && r.attention_bits == 8 && r.bias_bits == 8);
    assert_true(!r.per_row && !r.power_of_two);
    s.float_attention = true;
    assert_false(ganz_scheme_rule(&s, "enc.0.self", true).integer);
    assert_true(ganz_scheme_rule(&s, "enc.0.self.q", false).integer);
    OK(ganz_scheme_parse(&s, "enc.*: weights=4; *.ffn.*: steps=rows; enc.*.q: weights=5 product=float", NULL));
    assert_int_equal(ganz_scheme_rule(&s, "enc.1.self.k", false).weight_bits, 4);
    assert_int_equal(ganz_scheme_rule(&s, "enc.1.self.q", false).weight_bits, 5); /* the last one holds */
    assert_false(ganz_scheme_rule(&s, "enc.1.self.q", false).integer);
    assert_int_equal(ganz_scheme_rule(&s, "dec.1.self.q", false).weight_bits, 8);
    assert_true(ganz_scheme_rule(&s, "dec.1.ffn.in", false).per_row);
    assert_false(ganz_scheme_rule(&s, "dec.1.ffn", false).per_row);
    assert_false(ganz_scheme_rule(&s, "enc.0.self", true).integer); /* an exception of weights changes nothing there */
    OK(ganz_scheme_parse(&s, "dec.0.cross: product=integer", NULL));
    assert_true(ganz_scheme_rule(&s, "dec.0.cross", true).integer);
    assert_false(ganz_scheme_rule(&s, "dec.1.cross", true).integer);
}

static void text_and_back(void **state)
{
    (void)state;
    static const char *const text =
        "logits: product=integer weights=8 biases=32; a*b: product=float inputs=2 attention=7 "
        "steps=one powers=two range=fit";
    ganz_scheme s = ganz_scheme_of_bits(4);
    char printed[GANZ_SCHEME_TEXT];
    OK(ganz_scheme_parse(&s, text, NULL));
    ganz_scheme_print(&s, printed);
    assert_string_equal(printed, text);
    OK(ganz_scheme_parse(&s, "", NULL));
    assert_int_equal(s.exceptions, 0);
    static const char *const bad[] = {"logits",
                                      ":",
                                      ": weights=4",
                                      "a: weights=1",
                                      "a: weights=9",
                                      "a: inputs=32",
                                      "a: weights",
                                      "a: width=4",
                                      "a: product=maybe",
                                      "a: steps=2",
                                      "a: weights=4,inputs=4",
                                      "a name that is much longer than any name of a product: weights=4"};
    ganz_error err;
    for (size_t i = 0; i < GANZ_COUNT(bad); i++)
        if (ganz_scheme_parse(&s, bad[i], &err) == GANZ_OK) fail_msg("\"%s\" is taken", bad[i]);
}

/* Ranges that let some values be clipped; then FAKE. */
static void round_model(ganz_model *m, const ganz_scheme *scheme)
{
    ganz_net_set_scheme(&m->net, scheme);
    for (int i = 0; i < m->net.scales; i++) m->weights.largest[i] = 0.5f + (real)(i * 7 % 13) * 0.4f;
    OK(ganz_weights_set_scales(&m->weights, &m->net, NULL));
    ganz_net_set_states(&m->net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE);
    OK(ganz_weights_refresh(&m->weights, &m->net, NULL));
}

/* The largest of a weight, or of each of its rows, is worth the largest code, beside whatever other rules there are. */
static void expect_scales(const ganz_model *m, const ganz_site *site)
{
    const int count = ganz_site_scale_count(site), per_scale = site->out * site->in / count;
    const real *w = m->weights.master + m->net.params.list[site->weight].offset;
    for (int i = 0; i < count; i++, w += per_scale) {
        double largest = 0;
        for (int j = 0; j < per_scale; j++) largest = fmax(largest, fabs((double)w[j]));
        const double scale = (double)ganz_site_scales(&m->weights, site)[i];
        if (fabs(scale * ganz_code_max(site->rule.weight_bits, true) / largest - 1) > 1e-6)
            fail_msg("%s: scale %d is %g for weights up to %g", site->name, i, scale, largest);
    }
}

/* The file keeps the exceptions, and the engine reads the numbers that were frozen. */
static void files_keep_exceptions(void **state)
{
    (void)state;
    static const char *const text = "enc.*.ffn.out: product=float; *.q: weights=5 inputs=7 steps=rows; dec.0.self: "
                                    "product=float; dec.1.ffn.in: biases=32; logits: weights=6";
    ganz_scheme scheme = ganz_scheme_of_bits(8);
    char printed[GANZ_SCHEME_TEXT];
    ganz_model *m, *codes;
    OK(ganz_scheme_parse(&scheme, text, NULL));
    assert_true(write_tiny("m", 3));
    OK(ganz_model_open(&m, "m", NULL));
    round_model(m, &scheme);
    OK(ganz_model_save_codes("i", &m->info, &m->net, m->vocab, &m->weights, NULL));
    OK(ganz_model_open(&codes, "i", NULL));
    ganz_scheme_print(&codes->info.scheme, printed);
    assert_string_equal(printed, text);
    ganz_weights frozen;
    OK(ganz_weights_freeze(&frozen, &m->net, &m->weights, m->be, NULL));
    for (int i = 0; i < m->net.sites; i++) {
        const ganz_site *const mine = &m->net.site[i], *const theirs = &codes->net.site[i];
        assert_int_equal(mine->rule.integer, theirs->rule.integer);
        assert_int_equal(mine->rule.weight_bits, theirs->rule.weight_bits);
        assert_int_equal(mine->rule.input_bits, theirs->rule.input_bits);
        assert_int_equal(mine->rule.bias_bits, theirs->rule.bias_bits);
        assert_int_equal(mine->rule.per_row, theirs->rule.per_row);
        assert_int_equal(theirs->weights, mine->rule.integer ? GANZ_WEIGHTS_CODES : GANZ_WEIGHTS_FLOAT);
        assert_true((codes->weights.packed[i] != NULL) == mine->rule.integer);
        const size_t scales = (size_t)ganz_site_scale_count(mine) * sizeof(real);
        if (mine->rule.integer) expect_scales(m, mine);
        if (mine->rule.integer)
            assert_memory_equal(ganz_site_scales(&frozen, mine), ganz_site_scales(&codes->weights, theirs), scales);
    }
    int values = 0;
    for (int i = 0; i < m->net.params.count; i++) {
        assert_true(!frozen.value[i] == !codes->weights.value[i]);
        if (!frozen.value[i]) continue;
        values++;
        assert_memory_equal(frozen.value[i], codes->weights.value[i],
                            ganz_param_count(&m->net.params.list[i]) * sizeof(real));
    }
    assert_true(values > 20);
    ganz_weights_close(&frozen);
    ganz_model_close(&codes);
    ganz_model_close(&m);
}

/* Weights of at most 4 bits are half as large in the file and in memory, and the same codes. */
static void two_weights_in_a_byte(void **state)
{
    (void)state;
    ganz_scheme scheme = ganz_scheme_of_bits(8);
    ganz_model *m, *codes;
    ganz_container *file;
    OK(ganz_scheme_parse(&scheme, "*.q: weights=4; logits: weights=3; dec.0.ffn.in: weights=5", NULL));
    assert_true(write_tiny("m", 3));
    OK(ganz_model_open(&m, "m", NULL));
    round_model(m, &scheme);
    OK(ganz_model_save_codes("i", &m->info, &m->net, m->vocab, &m->weights, NULL));
    OK(ganz_container_open(&file, "i", NULL));
    assert_string_equal(ganz_container_text(file, "version"), "3");
    OK(ganz_model_open(&codes, "i", NULL));
    ganz_frozen_weights frozen;
    OK(ganz_frozen_open(&frozen, &m->net, &m->weights, NULL));
    const ganz_kernel *const kernel = &ganz_cpu_of(codes->be)->kernel;
    for (int i = 0; i < m->net.sites; i++) {
        const ganz_site *const site = &m->net.site[i];
        const ganz_param *const p = &m->net.params.list[site->weight];
        const ganz_entry *const e = ganz_container_find(file, p->name);
        const bool half = site->rule.weight_bits <= 4;
        int8_t row[256];
        assert_int_equal(e->dtype, half ? GANZ_DTYPE_U8 : GANZ_DTYPE_I8);
        assert_int_equal(e->bytes, ganz_param_count(p) / (half ? 2 : 1));
        assert_int_equal(codes->weights.packed[i]->nibbles, half);
        for (int j = 0; j < site->out; j++) {
            ganz_unpack_row(kernel, codes->weights.packed[i], j, row);
            assert_memory_equal(row, frozen.codes + p->offset + (size_t)j * (size_t)site->in, site->in);
        }
    }
    ganz_frozen_close(&frozen);
    ganz_container_close(&file);
    ganz_model_close(&codes);
    ganz_model_close(&m);
}

/* A calibration by exceptions: products that stay float are counted so, and the file knows them. */
static void calibrations_take_exceptions(void **state)
{
    (void)state;
    ganz_calibration how;
    ganz_calibration_report report;
    ganz_model *m;
    ganz_error err;
    FILE *const text = fopen("text", "w");
    assert_non_null(text);
    fputs("the cat sat on the mat\nthe dog\n", text);
    fclose(text);
    assert_true(write_tiny("m", 3));
    ganz_calibration_defaults(&how);
    how.source = "text";
    how.exceptions = "enc.*.self: product=float; logits: weights=5";
    OK(ganz_calibrate("m", "i", &how, &report, &err));
    assert_int_equal(report.products, 33 + 12); /* two and two layers */
    assert_int_equal(report.integer_products, 33 + 12 - 4);
    assert_int_equal(report.scales, 33 + 24 - 8);
    OK(ganz_model_open(&m, "i", NULL));
    assert_int_equal(ganz_net_find_site(&m->net, "logits")->rule.weight_bits, 5);
    assert_false(ganz_net_find_pair(&m->net, "enc.1.self")->rule.integer);
    assert_true(ganz_net_find_pair(&m->net, "dec.1.self")->rule.integer);
    ganz_model_close(&m);
    how.exceptions = "logits: weights=9";
    assert_int_equal(ganz_calibrate("m", "i", &how, &report, &err), GANZ_EINVAL);
    how.exceptions = "logits: weights=5";
    how.method = GANZ_METHOD_DYNAMIC;
    assert_int_equal(ganz_calibrate("m", "i", &how, &report, &err), GANZ_EINVAL);
}

/* What version 1 can say is written as version 1. */
static void plain_files_are_of_the_first_version(void **state)
{
    (void)state;
    static const char *const exceptions[] = {"", "logits: weights=6"}, *const versions[] = {"1", "2"};
    for (int i = 0; i < 2; i++) {
        ganz_scheme scheme = ganz_scheme_of_bits(7);
        ganz_model *m;
        ganz_container *file;
        OK(ganz_scheme_parse(&scheme, exceptions[i], NULL));
        assert_true(write_tiny("m", 3));
        OK(ganz_model_open(&m, "m", NULL));
        round_model(m, &scheme);
        OK(ganz_model_save_codes("i", &m->info, &m->net, m->vocab, &m->weights, NULL));
        OK(ganz_container_open(&file, "i", NULL));
        assert_string_equal(ganz_container_text(file, "version"), versions[i]);
        ganz_container_close(&file);
        ganz_model_close(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_follow_names),    cmocka_unit_test(text_and_back),
        IN_FOLDER(files_keep_exceptions),        IN_FOLDER(two_weights_in_a_byte),
        IN_FOLDER(calibrations_take_exceptions), IN_FOLDER(plain_files_are_of_the_first_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
