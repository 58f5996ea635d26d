/* Learned quantization: the table of phases, six phases over a toy task, and what the engine makes of it. */
#include "test.h"

#include <math.h>
#include <unistd.h>

#include "ganz/quantize.h"
#include "toy_quantize.h"
#include "train/operands.h"

/* ---- the table ---------------------------------------------------------------------------------- */

static void rows_of_the_table(void **state)
{
    (void)state;
    static const struct {
        ganz_inputs_state inputs;
        bool weights, scales, dropout;
    } paper[] = {{GANZ_INPUTS_FLOAT, true, false, true}, {GANZ_INPUTS_MEASURE, false, false, false},
                 {GANZ_INPUTS_FAKE, false, true, false}, {GANZ_INPUTS_FAKE, false, true, false},
                 {GANZ_INPUTS_FAKE, true, false, true},  {GANZ_INPUTS_FAKE, true, false, true}};
    for (int i = 0; i < 6; i++) {
        const ganz_phase *const p = &ganz_phases[1 + i];
        assert_int_equal(GANZ_WEIGHTS_FAKE, p->weights);
        assert_int_equal(paper[i].inputs, p->inputs);
        assert_int_equal(paper[i].weights, p->train_weights);
        assert_int_equal(paper[i].scales, p->learn_scales);
        assert_int_equal(paper[i].dropout, p->dropout);
        assert_int_equal(i >= 4, p->chooses);
    }
}

/* A log is a file: whatever number stands there has a label. */
static void labels_of_phases(void **state)
{
    (void)state;
    assert_string_equal("phase 1", ganz_phase_label(1));
    assert_string_equal("phase 6", ganz_phase_label(6));
    assert_string_equal("joint", ganz_phase_label(GANZ_PHASE_JOINT));
    assert_string_equal("clipped", ganz_phase_label(GANZ_PHASE_CLIPPED));
    static const double none[] = {-1, GANZ_PHASES, 1e300, -1e300};
    for (int i = 0; i < 4; i++) assert_string_equal("phase ?", ganz_phase_label(none[i]));
}

static void sets_of_phases(void **state)
{
    (void)state;
    ganz_recipe r;
    unsigned set;
    ganz_recipe_defaults(&r);
    assert_int_equal(GANZ_OK, ganz_phases_of(&r, false, &set, NULL));
    assert_int_equal(1u << GANZ_PHASE_FLOAT, set);
    assert_int_equal(GANZ_OK, ganz_phases_of(&r, true, &set, NULL));
    assert_int_equal(0x7E, set);
    assert_false(ganz_phases_choose(set, 4));
    assert_true(ganz_phases_choose(set, 5) && ganz_phases_choose(set, 6));
    assert_int_equal(90, ganz_phase_length(&r, 6, 90));
    r.measure_batches = 7;
    r.steps_per_phase = 11;
    assert_int_equal(7, ganz_phase_length(&r, 2, 90));
    assert_int_equal(11, ganz_phase_length(&r, 3, 90));
    assert_int_equal(GANZ_OK, ganz_recipe_set(&r, "phases", "1-3", NULL));
    assert_int_equal(GANZ_OK, ganz_phases_of(&r, true, &set, NULL));
    assert_true(ganz_phases_choose(set, 3));
    assert_int_equal(-1, ganz_phases_next(set, 3));
    ganz_error err;
    assert_int_equal(GANZ_OK, ganz_recipe_set(&r, "phases", "1,3-6", NULL));
    assert_int_equal(GANZ_EINVAL, ganz_phases_of(&r, true, &set, &err));
    assert_non_null(strstr(err.message, "phases 2 and 3 are needed"));
}

/* ---- six phases --------------------------------------------------------------------------------- */

/* Share of right tokens of an integer model, by the engine. */
static double right_of(const char *path)
{
    ganz_model *m;
    ganz_error err;
    if (ganz_model_open(&m, path, &err) != GANZ_OK) fail_msg("%s", err.message);
    const double right = right_tokens(m->be, &m->net, &m->weights, true);
    ganz_model_close(&m);
    return right;
}

static void keeps_accuracy(void **state)
{
    (void)state;
    static const struct {
        int bits;
        double right;
    } cases[] = {{8, 0.99}, {6, 0.98}, {4, 0.8}};
    print_message("float: %.2f%% of tokens right\n", 100 * right_of(in_dir("float/best.safetensors")));
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        char folder[16];
        ganz_train_report report;
        ganz_error err;
        snprintf(folder, sizeof folder, "int%d", cases[i].bits);
        const ganz_train_options o = quantize_options(folder, cases[i].bits);
        if (ganz_train(&o, &report, &err) != GANZ_OK) fail_msg("%s", err.message);
        char best[256], first[256];
        snprintf(best, sizeof best, "%s/best.safetensors", o.out);
        snprintf(first, sizeof first, "%s/phase-3.safetensors", o.out);
        const double right = right_of(best), early = right_of(first);
        print_message("%d bits: %.2f%% of tokens right after phase 3, %.2f%% after phase 6\n", cases[i].bits,
                      100 * early, 100 * right);
        assert_true(right > cases[i].right);
        assert_int_equal(210, report.step);
        assert_int_equal(100, report.compared);
        assert_int_equal(0, report.different);
        assert_true(fabs(report.engine_bleu - report.best_bleu) < 1e-9);
        assert_int_equal(report.products, report.integer_products);
        assert_true(report.best_step >= 130); /* of the last two phases, their beginning included */
    }
}

static ganz_model *open_best(const ganz_train_options *o)
{
    ganz_model *m;
    ganz_error err;
    char path[256];
    snprintf(path, sizeof path, "%s/best.safetensors", o->out);
    if (ganz_model_open(&m, path, &err) != GANZ_OK) fail_msg("%s", err.message);
    return m;
}

/* Runs it, and demands that the engine says what training said. */
static void must_agree(const ganz_train_options *o, double least, int integer_products)
{
    ganz_train_report report;
    ganz_error err;
    if (ganz_train(o, &report, &err) != GANZ_OK) fail_msg("%s", err.message);
    assert_int_equal(100, report.compared);
    assert_int_equal(0, report.different);
    assert_int_equal(integer_products, report.integer_products);
    ganz_model *m = open_best(o);
    const double right = right_tokens(m->be, &m->net, &m->weights, true);
    print_message("%s: %.2f%% of tokens right\n", strrchr(o->out, '/') + 1, 100 * right);
    assert_true(right > least);
    ganz_model_close(&m);
}

static bool is_power(real scale)
{
    int exponent;
    return frexp((double)scale, &exponent) == 0.5;
}

static void powers_of_two(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("shifts", 8);
    o.recipe.power_of_two = true;
    must_agree(&o, 0.98, 23);
    ganz_model *m = open_best(&o);
    for (int i = 0; i < m->net.scales; i++) assert_true(is_power(m->weights.input_scale[i]));
    for (int i = 0; i < m->net.sites; i++) assert_true(is_power(*ganz_site_scales(&m->weights, &m->net.site[i])));
    ganz_model_close(&m);
}

/* Weights, inputs and attention weights of different widths. */
static void bits_of_each_kind(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("kinds", 8);
    o.recipe.weight_bits = 7;
    o.recipe.activation_bits = 6;
    o.recipe.attention_bits = 5;
    o.recipe.bias_bits = 8;
    must_agree(&o, 0.97, 23);
    ganz_model *m = open_best(&o);
    assert_int_equal(7, m->info.scheme.rule.weight_bits);
    assert_int_equal(6, ganz_net_find_site(&m->net, "dec.0.cross.k")->rule.input_bits);
    assert_int_equal(6, m->net.pair[0].rule.input_bits);
    assert_int_equal(5, m->net.pair[0].rule.attention_bits);
    assert_int_equal(8, ganz_net_find_site(&m->net, "enc.0.ffn.in")->rule.bias_bits);
    ganz_model_close(&m);
}

/* A scale for each output of a weight. */
static void scales_of_rows(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("rows", 4);
    o.recipe.per_row = true;
    must_agree(&o, 0.85, 23);
    ganz_model *m = open_best(&o);
    const ganz_site *const site = ganz_net_find_site(&m->net, "enc.0.ffn.in");
    const real *const scales = ganz_site_scales(&m->weights, site);
    int others = 0;
    assert_true(m->info.scheme.rule.per_row && ganz_site_scale_count(site) == 128);
    for (int i = 1; i < site->out; i++) others += scales[i] != scales[0];
    assert_true(others > 100);
    ganz_model_close(&m);
}

/* Scales of weights that learn with them, also beside a matrix with one scale, end apart from where they began. */
static void scales_of_rows_learn(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("learned_rows", 8);
    o.recipe.weight_bits = 3;
    o.recipe.per_row = true;
    o.recipe.weight_range = GANZ_WEIGHT_RANGE_LEARNED;
    o.recipe.row_rate = 0.01;
    assert_int_equal(GANZ_OK, ganz_recipe_set(&o.recipe, "exceptions", "logits: steps=one", NULL));
    ganz_trainer *t;
    ganz_error err;
    if (ganz_trainer_open(&t, &o, &err) != GANZ_OK) fail_msg("%s", err.message);
    const ganz_site *const site = ganz_net_find_site(&t->net, "enc.0.ffn.in");
    real first[128];
    assert_int_equal(128, site->out);
    memcpy(first, ganz_site_scales(&t->weights, site), sizeof first);
    ganz_trainer_close(&t);
    must_agree(&o, 0.7, 23);
    ganz_model *m = open_best(&o);
    const real *const scales = ganz_site_scales(&m->weights, ganz_net_find_site(&m->net, "enc.0.ffn.in"));
    int up = 0, down = 0;
    for (int i = 0; i < 128; i++) {
        const double octaves = log2((double)scales[i] / (double)first[i]);
        assert_true(fabs(octaves) < 1.2); /* three phases of 40 steps */
        up += octaves > 0.002;
        down += octaves < -0.002;
    }
    print_message("%d of 128 scales grew, %d fell\n", up, down);
    assert_true(up + down > 100 && up > 5 && down > 5);
    ganz_model_close(&m);
    o.recipe.per_row = false;
    o.out = in_dir("refused_rows");
    refuses(&o, "weight-range learned goes with");
}

/* What is no product may stay float: biases, and the table that embeddings are looked up in. */
static void values_beside_products(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("values", 4);
    o.recipe.bias_bits = 32;
    o.recipe.float_lookup = true;
    must_agree(&o, 0.8, 23);
    ganz_model *m = open_best(&o);
    assert_int_equal(GANZ_BITS_FLOAT, m->info.scheme.rule.bias_bits);
    assert_true(m->info.scheme.float_lookup);
    const real *const table = m->weights.value[m->net.embedding],
                      *const bias = m->weights.value[ganz_net_find_site(&m->net, "enc.0.ffn.in")->bias];
    int levels = 0; /* 4 bits have 15 */
    for (int i = 1; i < 64; i++) levels += bias[i] != bias[i - 1] && table[64 * 5 + i] != table[64 * 5 + i - 1];
    assert_true(levels > 40);
    ganz_model_close(&m);
}

/* Dense products in integers between float attentions. */
static void attention_may_stay_float(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("dense", 8);
    o.recipe.products = GANZ_PRODUCTS_DENSE;
    must_agree(&o, 0.98, 17);
    ganz_model *m = open_best(&o);
    assert_true(m->info.scheme.float_attention);
    assert_int_equal(GANZ_INPUTS_FLOAT, ganz_net_find_pair(&m->net, "dec.0.self")->inputs);
    assert_int_equal(GANZ_INPUTS_CODES, ganz_net_find_site(&m->net, "dec.0.self.o")->inputs);
    ganz_model_close(&m);
}

/* The report's counts are the engine's, those of attention weights too. */
static void reported_counts(void **state)
{
    (void)state;
    ganz_operands o;
    ganz_error err;
    int64_t clipped[3] = {0};
    if (ganz_operands_open(&o, in_dir("int4/best.safetensors"), in_dir("unseen.src"), 60, &err) != GANZ_OK)
        fail_msg("%s", err.message);
    for (int i = 0; i < o.count; i++) {
        assert_true(o.list[i].values == o.audit.input[i].codes && o.list[i].clipped == o.audit.input[i].clipped);
        clipped[o.list[i].kind] += o.list[i].clipped;
    }
    print_message("clipped: %lld of inputs, %lld of q, k and v, %lld of u\n", (long long)clipped[GANZ_OPERAND_INPUT],
                  (long long)clipped[GANZ_OPERAND_QKV], (long long)clipped[GANZ_OPERAND_U]);
    assert_true(clipped[GANZ_OPERAND_INPUT] > 0 && clipped[GANZ_OPERAND_QKV] > 0 && clipped[GANZ_OPERAND_U] > 0);
    ganz_operands_close(&o);
}

/* ---- what learning is compared with ------------------------------------------------------------- */

static void without_learning(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        long long method;
        int bits;
        bool dense;
        double clip, right;
        int integers;
    } cases[] = {
        {"max8", GANZ_METHOD_MAX, 8, false, 0, 0.95, 23},      {"kl8", GANZ_METHOD_KL, 8, false, 0, 0.95, 23},
        {"kl8-dense", GANZ_METHOD_KL, 8, true, 0, 0.95, 17},   {"clip8", GANZ_METHOD_CLIP, 8, false, 4, 0.8, 23},
        {"clip8-2", GANZ_METHOD_CLIP, 8, false, 0.02, 0, 23},  {"dynamic8", GANZ_METHOD_DYNAMIC, 8, false, 0, 0.95, 17},
        {"dynamic3", GANZ_METHOD_DYNAMIC, 3, false, 0, 0, 17}, {"fit8", GANZ_METHOD_FIT, 8, false, 0, 0.95, 23},
    };
    double right[GANZ_COUNT(cases)];
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        ganz_calibration how;
        ganz_calibration_report report;
        ganz_error err;
        ganz_calibration_defaults(&how);
        how.method = cases[i].method;
        how.bits = cases[i].bits;
        how.dense = cases[i].dense;
        if (cases[i].clip > 0) how.clip = cases[i].clip;
        if (how.method != GANZ_METHOD_CLIP && how.method != GANZ_METHOD_DYNAMIC) how.source = in_dir("unseen.src");
        if (ganz_calibrate(in_dir("float/best.safetensors"), in_dir(cases[i].name), &how, &report, &err) != GANZ_OK)
            fail_msg("%s", err.message);
        assert_int_equal(23, report.products);
        assert_int_equal(cases[i].integers, report.integer_products);
        right[i] = right_of(in_dir(cases[i].name));
        print_message("%s: %.2f%% of tokens right\n", cases[i].name, 100 * right[i]);
        assert_true(right[i] >= cases[i].right);
    }
    assert_true(right[4] < 0.5 && right[6] < right[5]); /* too narrow, and too few bits: they do round */
}

/* Fine-tuning makes up for a range that alone would be too narrow. */
static void clipped_ranges_are_learned(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("clipped", 8);
    o.recipe.method = GANZ_METHOD_CLIP;
    o.recipe.clip[0] = 4;
    o.recipe.clip[1] = 1.5;
    o.recipe.steps_per_phase = 80;
    must_agree(&o, 0.9, 23);
    ganz_model *m = open_best(&o);
    assert_true(fabs((double)m->weights.input_scale[0] * 127 / 1.5 - 1) < 1e-6);
    assert_true(fabs((double)*ganz_site_scales(&m->weights, &m->net.site[3]) * 127 / 1.5 - 1) < 1e-6);
    ganz_model_close(&m);
}

/* ---- the average of a phase --------------------------------------------------------------------- */

/* Steps of a phase beside an average made here, in double. Leaves that average in `mean`. */
static void follow_phase(ganz_trainer *t, int steps, double *mean)
{
    ganz_error err;
    const size_t count = t->net.params.block;
    for (size_t i = 0; i < count; i++) mean[i] = (double)t->weights.master[i];
    for (int s = 0; s < steps; s++) {
        if (ganz_trainer_step(t, (double)s / steps, NULL, &err) != GANZ_OK) fail_msg("%s", err.message);
        const double keep = fmin(0.8, (1 + s) / (10.0 + s));
        for (size_t i = 0; i < count; i++) mean[i] = keep * mean[i] + (1 - keep) * (double)t->weights.master[i];
    }
    for (size_t i = 0; i < count; i++) assert_true(fabs(mean[i] - (double)t->average[i]) < 1e-5);
}

static bool same_numbers(const real *a, const real *b, size_t count) { return memcmp(a, b, count * sizeof *a) == 0; }

/* Each phase learns with an average of its own, and hands it on. What does not learn stays as it is to the bit. */
static void phases_end_with_their_average(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("averaged", 8);
    o.recipe.phase_average = 0.8; /* from the 35th step of a phase on */
    ganz_trainer *t;
    ganz_error err;
    if (ganz_trainer_open(&t, &o, &err) != GANZ_OK) fail_msg("%s", err.message);
    const size_t z = t->net.params.list[t->net.first_scale].offset, scales = (size_t)t->net.scales;
    double *const mean = ganz_alloc(t->net.params.block, sizeof *mean);
    real *const old = ganz_alloc(t->net.params.block, sizeof *old);
    follow_phase(t, 40, mean);
    assert_false(same_numbers(t->weights.master, t->average, z));
    memcpy(old, t->average, t->net.params.block * sizeof *old);
    assert_int_equal(GANZ_OK, ganz_trainer_enter(t, GANZ_PHASE_RANGES, NULL, NULL));
    assert_true(same_numbers(t->weights.master, old, z));
    assert_int_equal(GANZ_OK, ganz_trainer_step(t, 0, NULL, NULL));
    assert_true(same_numbers(t->weights.master, old, z + scales));
    assert_int_equal(GANZ_OK, ganz_trainer_enter(t, GANZ_PHASE_SCALES, NULL, NULL));
    assert_true(same_numbers(t->weights.master, t->average, z + scales));
    assert_false(same_numbers(t->weights.master + z, old + z, scales)); /* measured */
    follow_phase(t, 12, mean);
    assert_true(same_numbers(t->weights.master, old, z) && same_numbers(t->average, old, z));
    memcpy(old + z, t->average + z, scales * sizeof *old);
    assert_int_equal(GANZ_OK, ganz_trainer_enter(t, GANZ_PHASE_TUNE, NULL, NULL));
    assert_true(same_numbers(t->weights.master, old, z + scales));
    follow_phase(t, 3, mean);
    assert_true(same_numbers(t->weights.master + z, old + z, scales) && same_numbers(t->average + z, old + z, scales));
    ganz_free(old);
    ganz_free(mean);
    ganz_trainer_close(&t);
}

/* ---- the float model as a teacher --------------------------------------------------------------- */

/* Loss of training in the log: mean of the first line of a phase, and of its last. */
static void losses_of_phase(const char *path, int phase, double *first, double *last)
{
    char line[512];
    FILE *const f = fopen(path, "r");
    assert_non_null(f);
    *first = *last = -1;
    while (fgets(line, sizeof line, f)) {
        char *field = line, *fields[12] = {0};
        for (int i = 0; i < 12 && field; i++) {
            fields[i] = field;
            field = strchr(field, '\t');
            if (field) *field++ = '\0';
        }
        if (!fields[11] || atoi(fields[11]) != phase || fields[5][0] == '\0') continue;
        *last = atof(fields[5]);
        if (*first < 0) *first = *last;
    }
    fclose(f);
}

/* With few bits it is far from what it was, and comes nearer; the corpus says nothing but which tokens to look at. */
static void learns_from_the_float_model(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("pupil", 4);
    double before, after, tuned_first, tuned;
    must_agree(&o, 0.9, 23);
    losses_of_phase(in_dir("pupil/log.tsv"), GANZ_PHASE_SCALES, &before, &after);
    losses_of_phase(in_dir("pupil/log.tsv"), GANZ_PHASE_TUNE_MORE, &tuned_first, &tuned);
    print_message("divergence: %.4f, %.4f after phase 3, %.4f after phase 6\n", before, after, tuned);
    assert_true(after > 0 && after < before && tuned < after);
    o = quantize_options("orphan", 4);
    o.recipe.steps_per_phase = 2;
    o.recipe.validate_every = 0;
    must_train(&o);
    o.resume = true;
    o.model = NULL;
    ganz_error err;
    assert_int_equal(GANZ_EINVAL, ganz_train(&o, NULL, &err));
    assert_non_null(strstr(err.message, "needs that model"));
}

/* Two that are the same one teach as one does; another beside it is believed too. */
static void learns_from_several(void **state)
{
    (void)state;
    ganz_train_options one = quantize_options("one", 6), two = quantize_options("two", 6),
                       both = quantize_options("both", 6);
    const char *const same[] = {one.model, one.model}, *const others[] = {one.model, in_dir("elder/last.safetensors")};
    ganz_train_options other = toy_options("reverse");
    other.recipe.steps = 10;
    other.recipe.width = 128; /* the wider one needs more memory */
    other.out = in_dir("elder");
    must_train(&other);
    ganz_train_options *const all[] = {&one, &two, &both};
    for (size_t i = 0; i < GANZ_COUNT(all); i++) {
        all[i]->recipe.steps_per_phase = 10;
        all[i]->recipe.micro_tokens = 128;
        all[i]->recipe.validate_every = 0;
    }
    two.teachers = same;
    both.teachers = others;
    two.teacher_count = both.teacher_count = 2;
    for (size_t i = 0; i < GANZ_COUNT(all); i++) must_train(all[i]);
    same_log(in_dir("one/log.tsv"), in_dir("two/log.tsv"));
    double first[2], last[2];
    losses_of_phase(in_dir("one/log.tsv"), GANZ_PHASE_SCALES, &first[0], &last[0]);
    losses_of_phase(in_dir("both/log.tsv"), GANZ_PHASE_SCALES, &first[1], &last[1]);
    assert_true(first[1] > first[0]);
}

/* ---- scales of another model --------------------------------------------------------------------- */

/* Scales that hardly learn stay those of the model they were taken from, whatever its bits. */
static void scales_begin_where_another_model_has_them(void **state)
{
    (void)state;
    ganz_calibration how;
    ganz_error err;
    ganz_calibration_defaults(&how);
    how.method = GANZ_METHOD_KL;
    how.source = in_dir("unseen.src");
    if (ganz_calibrate(in_dir("float/best.safetensors"), in_dir("kl"), &how, NULL, &err) != GANZ_OK)
        fail_msg("%s", err.message);
    ganz_train_options o = quantize_options("from_kl", 6);
    o.scales_of = in_dir("kl");
    o.recipe.phases = 4 | 8;
    o.recipe.steps_per_phase = o.recipe.measure_batches = 2;
    o.recipe.scale_rate = 1e-9;
    if (ganz_train(&o, NULL, &err) != GANZ_OK) fail_msg("%s", err.message);
    ganz_model *given, *learned = open_best(&o);
    assert_int_equal(GANZ_OK, ganz_model_open(&given, o.scales_of, &err));
    for (int i = 0; i < given->net.scales; i++) {
        const bool u = strstr(given->net.params.list[given->net.first_scale + i].name, ".u.") != NULL;
        const double ratio = (double)learned->weights.input_scale[i] / (double)given->weights.input_scale[i];
        assert_true(fabs(ratio * (u ? 63.0 / 255 : 31.0 / 127) - 1) < 1e-5);
    }
    ganz_model_close(&given);
    ganz_model_close(&learned);
    o = quantize_options("refused", 6);
    o.scales_of = o.model;
    refuses(&o, "it has no steps");
    o.scales_of = in_dir("nothing");
    refuses(&o, "nothing");
    o.scales_of = in_dir("kl");
    o.recipe.method = GANZ_METHOD_CLIP;
    refuses(&o, "only the learned method");
    assert_false(ganz_exists(o.out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_the_table),
        cmocka_unit_test(labels_of_phases),
        cmocka_unit_test(sets_of_phases),
        cmocka_unit_test(keeps_accuracy),
        cmocka_unit_test(powers_of_two),
        cmocka_unit_test(bits_of_each_kind),
        cmocka_unit_test(scales_of_rows),
        cmocka_unit_test(scales_of_rows_learn),
        cmocka_unit_test(values_beside_products),
        cmocka_unit_test(attention_may_stay_float),
        cmocka_unit_test(reported_counts),
        cmocka_unit_test(without_learning),
        cmocka_unit_test(clipped_ranges_are_learned),
        cmocka_unit_test(phases_end_with_their_average),
        cmocka_unit_test(learns_from_the_float_model),
        cmocka_unit_test(learns_from_several),
        cmocka_unit_test(scales_begin_where_another_model_has_them),
    };
    return cmocka_run_group_tests(tests, setup_all, teardown);
}
