/* Paper mode: the choices of Wu 2020 and of Tensor2Tensor, one by one and together; products by name; joint learning.
 */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "nn/ops.h"
#include "toy_quantize.h"

#define OK(call) assert_int_equal(GANZ_OK, call)

/* ---- means of groups, masks of groups ----------------------------------------------------------- */

static void add_gradient(ganz_trainer *t, const ganz_batch *batch, double factor, double *sum)
{
    OK(ganz_stepper_train(&t->stepper, batch, 1, NULL, NULL));
    for (size_t i = 0; i < t->net.params.block; i++) {
        sum[i] += factor * (double)t->weights.grad[i];
        t->weights.grad[i] = 0;
    }
}

/* The segments of so many rows as a batch of their own. */
static ganz_batch rows_of(const ganz_batch *batch, int first_row, int rows)
{
    ganz_batch part = *batch;
    int first = 0, end;
    while (first < batch->segments && batch->target_row[batch->target_begin[first]] < first_row) first++;
    for (end = first; end < batch->segments; end++)
        if (batch->target_row[batch->target_begin[end]] >= first_row + rows) break;
    part.source_begin += first;
    part.target_begin += first;
    part.segments = end - first;
    part.target_rows = batch->target_begin[end] - batch->target_begin[first];
    return part;
}

static double apart(const double *a, const double *b, size_t count)
{
    double size = 0, far = 0;
    for (size_t i = 0; i < count; i++) {
        size += a[i] * a[i];
        far += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(far / size);
}

/* Eight rows in groups of three: the mean of the means of 3, 3 and 2, and not that over all tokens, whatever the size
 * of the parts. */
static void means_of_groups(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("reverse");
    ganz_trainer *t;
    ganz_batch batch;
    o.recipe.rows = 8;
    OK(ganz_trainer_open(&t, &o, NULL));
    OK(ganz_loader_next(t->loader, &batch, NULL));
    assert_int_equal(8, batch.packed_rows);
    const size_t count = t->net.params.block;
    double *const expected = calloc(count, sizeof *expected), *const plain = calloc(count, sizeof *plain);
    for (int row = 0; row < 8; row += 3) {
        const ganz_batch group = rows_of(&batch, row, 3);
        add_gradient(t, &group, 1.0 / 3, expected);
    }
    add_gradient(t, &batch, 1, plain);
    assert_true(apart(expected, plain, count) > 1e-3);
    t->stepper.options.mean_rows = 3;
    const int tokens = t->stepper.options.tokens;
    for (int cut = 0; cut < 3; cut++) { /* passes as large as they may be, then smaller, then of single rows */
        double *const found = calloc(count, sizeof *found);
        t->stepper.options.tokens = cut == 0 ? tokens : cut == 1 ? 3 * (int)o.recipe.slots + 1 : (int)o.recipe.slots;
        add_gradient(t, &batch, 1, found);
        assert_true(apart(expected, found, count) < 1e-5);
        free(found);
    }
    free(expected);
    free(plain);
    ganz_trainer_close(&t);
}

/* Rows of one group share a mask, those of two do not: the same pairs of sentences give one gradient or two. */
static void masks_of_groups(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("reverse");
    ganz_trainer *t;
    ganz_batch batch;
    o.recipe.rows = 4;
    o.recipe.dropout_attention = 0.5;
    OK(ganz_trainer_open(&t, &o, NULL));
    OK(ganz_loader_next(t->loader, &batch, NULL));
    const size_t count = t->net.params.block;
    double *sums[3];
    for (int i = 0; i < 3; i++) {
        sums[i] = calloc(count, sizeof **sums);
        t->stepper.options.mask_rows = i == 0 ? 0 : i == 1 ? 4 : 2;
        OK(ganz_stepper_reserve(&t->stepper, NULL));
        add_gradient(t, &batch, 1, sums[i]);
    }
    assert_true(apart(sums[0], sums[1], count) < 1e-6); /* four rows are one part either way */
    assert_true(apart(sums[0], sums[2], count) > 1e-2);
    for (int i = 0; i < 3; i++) free(sums[i]);
    ganz_trainer_close(&t);
}

/* Three rows share their masks, and the next three others: lines of one matrix of masks. Shares sum up to one. */
static void lines_of_masks(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("reverse");
    ganz_trainer *t;
    ganz_batch batch;
    ganz_feed feed;
    o.recipe.rows = 8;
    OK(ganz_trainer_open(&t, &o, NULL));
    OK(ganz_loader_next(t->loader, &batch, NULL));
    const int slots = (int)o.recipe.slots;
    t->stepper.upload.mask_rows = t->stepper.upload.mean_rows = 3;
    ganz_upload_part(&t->stepper.upload, &batch, 0, batch.segments, slots, &feed);
    assert_int_equal(3, feed.target.groups);
    double sum = 0, of_group[3] = {0};
    for (int i = 0; i < feed.target.rows; i++) {
        assert_int_equal(batch.target_row[i] / 3 * slots + batch.target_slot[i], feed.target.line[i]);
        assert_true(feed.target.line[i] < 3 * slots && feed.source.line[0] == 0);
        of_group[batch.target_row[i] / 3] += (double)feed.shares[i];
        sum += (double)feed.shares[i];
    }
    assert_true(fabs(sum - 1) < 1e-5);
    for (int i = 0; i < 3; i++) assert_true(fabs(of_group[i] - 1.0 / 3) < 1e-5);
    ganz_trainer_close(&t);
}

/* ---- dropout first ------------------------------------------------------------------------------ */

enum { KEYS = 6, WIDTH = 4 };

/* One query. Expected is the paper's order, written down: softmax, dropout, rounding, product. */
static void expect_mix(const real *q, const real *k, const real *v, const uint8_t *mask, double step, double *out)
{
    double u[KEYS], sum = 0;
    for (int j = 0; j < KEYS; j++) {
        double dot = 0;
        for (int i = 0; i < WIDTH; i++) dot += (double)q[i] * (double)k[j * WIDTH + i];
        sum += u[j] = exp(dot / 2);
    }
    for (int i = 0; i < WIDTH; i++) out[i] = 0;
    for (int j = 0; j < KEYS; j++) {
        const double dropped = mask[j] ? u[j] / sum / 0.75 : 0;
        const double code = fmin(15, rint(dropped / step));
        for (int i = 0; i < WIDTH; i++) out[i] += code * step * (double)v[j * WIDTH + i];
    }
}

/* The scale that attention is given makes it the paper's order, clipped weights included. */
static void attention_weights_are_dropped_first(void **state)
{
    (void)state;
    ganz_backend *be;
    const double step = 0.05; /* 15 codes reach to 0.75 */
    real q[WIDTH], k[KEYS * WIDTH], v[KEYS * WIDTH], out[WIDTH], scale = (real)(step * 0.75);
    static const uint8_t mask[KEYS * KEYS] = {1, 1, 0, 1, 1, 1};
    static const int32_t none[KEYS] = {0}, slots[KEYS] = {0, 1, 2, 3, 4, 5}, queries[2] = {0, 1}, keys[2] = {0, KEYS};
    OK(ganz_cpu_backend_open(&be, 1, NULL));
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < WIDTH; i++) q[i] = (real)ganz_random_normal(1, (uint64_t)round, (uint64_t)i) * 2;
        for (int i = 0; i < KEYS * WIDTH; i++) {
            k[i] = (real)ganz_random_normal(2, (uint64_t)round, (uint64_t)i);
            v[i] = (real)ganz_random_normal(3, (uint64_t)round, (uint64_t)i);
        }
        const ganz_attention_call c = {.see = {.queries = 1,
                                               .keys = KEYS,
                                               .segments = 1,
                                               .query_begin = queries,
                                               .key_begin = keys,
                                               .longest_query = 1,
                                               .longest_key = KEYS},
                                       .heads = 1,
                                       .width = WIDTH,
                                       .q = {{1, WIDTH, WIDTH, GANZ_REAL, q}, NULL},
                                       .k = {{KEYS, WIDTH, WIDTH, GANZ_REAL, k}, NULL},
                                       .v = {{KEYS, WIDTH, WIDTH, GANZ_REAL, v}, NULL},
                                       .inv_root = (real)0.5,
                                       .u_scale = &scale,
                                       .u_max = 15,
                                       .mask = mask,
                                       .mask_side = KEYS,
                                       .mask_scale = (real)(1 / 0.75),
                                       .query_slot = none,
                                       .key_slot = slots,
                                       .out = {1, WIDTH, WIDTH, GANZ_REAL, out}};
        double expected[WIDTH];
        be->attention(be, &c);
        expect_mix(q, k, v, mask, step, expected);
        for (int i = 0; i < WIDTH; i++)
            if (!(fabs(expected[i] - (double)out[i]) < 1e-5)) fail_msg("%.9g, not %.9g", (double)out[i], expected[i]);
    }
    be->close(be);
}

/* The scales that a run with --drop-first has in its phases, and that passes take. */
static void drop_first_means_attention_too(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        ganz_train_options o = quantize_options("order", 8);
        ganz_trainer *t;
        o.recipe.learn_from = GANZ_LEARN_FROM_CORPUS;
        o.recipe.dropout_attention = o.recipe.dropout_relu = 0.2;
        o.recipe.drop_first = first;
        OK(ganz_trainer_open(&t, &o, NULL));
        OK(ganz_trainer_enter(t, GANZ_PHASE_TUNE, NULL, NULL));
        const ganz_pair *const pair = &t->net.pair[1];
        const ganz_pass training = {.be = t->be, .weights = &t->weights, .dropout = t->stepper.options.dropout},
                        looking = {.be = t->be, .weights = &t->weights};
        const double usual = (double)t->weights.input_scale[pair->u.place];
        assert_true(usual > 0 && t->stepper.options.dropout.attention > 0);
        assert_true((double)*ganz_pair_u_of(&looking, pair).scale == usual);
        const double used = (double)*ganz_pair_u_of(&training, pair).scale;
        assert_true(fabs(used / usual - (first ? 0.8 : 1)) < 1e-6);
        ganz_trainer_close(&t);
    }
}

/* ---- the recipe --------------------------------------------------------------------------------- */

static ganz_train_options paper_options(const char *folder)
{
    ganz_train_options o = quantize_options(folder, 8);
    ganz_train_options toy = toy_options("reverse");
    OK(ganz_recipe_read(&o.recipe, "paper", NULL));
    o.recipe.optimizer = toy.recipe.optimizer; /* that of the checkpoint, whose memory goes on */
    o.recipe.learning_rate = 0.02;
    o.recipe.decay_start = toy.recipe.decay_start;
    o.recipe.rows = 4;
    o.recipe.slots = 64;
    o.recipe.mean_rows = o.recipe.mask_rows = 2;
    o.recipe.steps_per_phase = 20;
    o.recipe.validate_every = 10;
    o.model = in_dir("float/last.safetensors");
    o.compare = true;
    return o;
}

/* The checkpoint's optimizer and schedule go on; only phases 5 and 6 have candidates; nothing is averaged. */
static void goes_on_where_training_stopped(void **state)
{
    (void)state;
    const ganz_train_options o = paper_options("goes-on");
    ganz_trainer *t;
    ganz_error err;
    if (ganz_trainer_open(&t, &o, &err) != GANZ_OK) fail_msg("%s", err.message);
    assert_int_equal(1000, t->counters.first);
    assert_int_equal(1000, t->counters.updates);
    double memory = 0;
    for (size_t i = 0; i < t->optim.slot_count; i++) memory += fabs((double)t->optim.slots[i]);
    assert_true(memory > 0);
    assert_null(t->average);
    OK(ganz_trainer_step(t, 0.9, NULL, NULL));
    assert_true(fabs(t->counters.rate / (0.02 / sqrt(1000)) - 1) < 1e-9);
    for (int row = 2; row <= 3; row++) OK(ganz_trainer_enter(t, row, NULL, NULL));
    OK(ganz_trainer_step(t, 0.9, NULL, NULL));
    assert_true(fabs(t->counters.rate / (0.02 / sqrt(1001)) - 1) < 1e-9); /* the rate of weights, for scales */
    OK(ganz_trainer_enter(t, GANZ_PHASE_REFINE, NULL, NULL));
    t->counters.phase_step = ganz_trainer_phase_length(t);
    assert_false(ganz_trainer_chooses(t));
    t->recipe.only_tuned = false;
    assert_true(ganz_trainer_chooses(t));
    ganz_trainer_close(&t);
}

static void paper_mode_runs(void **state)
{
    (void)state;
    const ganz_train_options o = paper_options("paper");
    ganz_train_report report;
    ganz_error err;
    if (ganz_train(&o, &report, &err) != GANZ_OK) fail_msg("%s", err.message);
    assert_int_equal(120, report.step);
    assert_true(report.best_step > 80);
    assert_int_equal(100, report.compared);
    assert_int_equal(0, report.different);
    assert_true(report.calibrated_bleu < 0); /* nothing but the learned model */
    assert_true(report.best_bleu > 90);
}

/* ---- joint learning, products by name ----------------------------------------------------------- */

static void joint_learns_both(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("joint", 8);
    ganz_trainer *t;
    ganz_error err;
    char text[GANZ_VALUE_BYTES];
    OK(ganz_recipe_set(&o.recipe, "phases", "joint", NULL));
    int count;
    const ganz_setting *row = ganz_recipe_table(&count);
    while (strcmp(row->name, "phases") != 0) row++;
    ganz_recipe_get(&o.recipe, row, text);
    assert_string_equal("joint", text);
    if (ganz_trainer_open(&t, &o, &err) != GANZ_OK) fail_msg("%s", err.message);
    assert_int_equal(GANZ_PHASE_RANGES, t->counters.phase);
    OK(ganz_trainer_step(t, 0, NULL, NULL));
    assert_int_equal(GANZ_PHASE_JOINT, ganz_trainer_next_phase(t));
    OK(ganz_trainer_enter(t, GANZ_PHASE_JOINT, NULL, NULL));
    assert_int_equal(200, ganz_trainer_phase_length(t));
    const size_t z = t->net.params.list[t->net.first_scale].offset;
    const real before[2] = {t->weights.master[z], t->weights.master[10]};
    OK(ganz_trainer_step(t, 0, NULL, NULL));
    assert_true(t->weights.master[z] != before[0] && t->weights.master[10] != before[1]);
    ganz_trainer_close(&t);
    ganz_train_report report;
    if (ganz_train(&o, &report, &err) != GANZ_OK) fail_msg("%s", err.message);
    assert_int_equal(210, report.step);
    assert_int_equal(0, report.different);
}

/* Bhandare's choice on two layers, and 4-bit weights behind 8-bit inputs of some products. */
static void products_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *exceptions;
        bool dense;
        int integers;
        double bleu;
    } cases[] = {{"bhandare", "*.ffn.out: product=float", true, 15, 90},
                 {"mixed", "enc.*: weights=4; dec.0.self: product=float; logits: weights=5 inputs=7", false, 21, 60}};
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        ganz_train_options o = quantize_options(cases[i].folder, 8);
        ganz_train_report report;
        ganz_error err;
        o.recipe.products = cases[i].dense ? GANZ_PRODUCTS_DENSE : GANZ_PRODUCTS_ALL;
        OK(ganz_recipe_set(&o.recipe, "exceptions", cases[i].exceptions, NULL));
        if (ganz_train(&o, &report, &err) != GANZ_OK) fail_msg("%s", err.message);
        assert_int_equal(cases[i].integers, report.integer_products);
        assert_int_equal(23, report.products);
        assert_int_equal(100, report.compared);
        assert_int_equal(0, report.different);
        assert_true(report.best_bleu > cases[i].bleu);
        ganz_recipe again;
        bool found;
        OK(ganz_train_recipe(o.out, &again, &found, NULL));
        assert_true(found);
        assert_string_equal(again.exceptions, cases[i].exceptions);
        o.resume = true;
        OK(ganz_recipe_set(&o.recipe, "exceptions", "logits: weights=4", NULL));
        refuses(&o, "was made with exceptions");
    }
}

static void rules_are_checked(void **state)
{
    (void)state;
    ganz_recipe r;
    ganz_error err;
    ganz_recipe_defaults(&r);
    assert_int_equal(GANZ_EINVAL, ganz_recipe_set(&r, "exceptions", "logits: weights=9", &err));
    assert_non_null(strstr(err.message, "no rule is \"weights=9\""));
    static const char text[] = "exceptions: 'logits: weights=8; *.ffn.out: product=float'\n";
    OK(ganz_recipe_parse(&r, text, strlen(text), "rules", &err));
    assert_string_equal("logits: weights=8; *.ffn.out: product=float", r.exceptions);
    memset(r.exceptions, 'a', sizeof r.exceptions);
    assert_int_equal(GANZ_EINVAL, ganz_recipe_check(&r, &err));
    strcpy(r.exceptions, "a: b");
    assert_int_equal(GANZ_EINVAL, ganz_recipe_check(&r, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_of_groups),
        cmocka_unit_test(masks_of_groups),
        cmocka_unit_test(lines_of_masks),
        cmocka_unit_test(attention_weights_are_dropped_first),
        cmocka_unit_test(drop_first_means_attention_too),
        cmocka_unit_test(goes_on_where_training_stopped),
        cmocka_unit_test(paper_mode_runs),
        cmocka_unit_test(joint_learns_both),
        cmocka_unit_test(products_by_name),
        cmocka_unit_test(rules_are_checked),
    };
    return cmocka_run_group_tests(tests, setup_all, teardown);
}
