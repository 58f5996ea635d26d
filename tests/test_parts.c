/* Steps in parts: the cutting, the order of sums, and that nothing of it depends on who makes which part. */
#include "toy.h"
#include "train/tree.h"

/* ---- cutting ------------------------------------------------------------------------------------ */

static void shares_are_whole(void **state)
{
    (void)state;
    for (int parts = 1; parts <= 64; parts *= 2)
        for (int ranks = 1; ranks <= parts; ranks++) {
            int next = 0;
            for (int rank = 0; rank < ranks; rank++) {
                const ganz_share s = ganz_share_of(parts, rank, ranks);
                assert_int_equal(next, s.first);
                assert_in_range(s.last - s.first, parts / ranks, (parts + ranks - 1) / ranks);
                next = s.last;
            }
            assert_int_equal(parts, next);
        }
}

/* Runs are nodes of the tree, in order and without gaps; and no two are the children of one. */
static void runs_are_nodes(void **state)
{
    (void)state;
    for (int first = 0; first < 32; first++)
        for (int last = first; last <= 32; last++) {
            ganz_run runs[GANZ_MOST_RUNS];
            const int count = ganz_runs_of((ganz_share){first, last}, runs);
            int next = first;
            for (int i = 0; i < count; i++) {
                assert_int_equal(next, runs[i].first);
                assert_int_equal(0, runs[i].count & (runs[i].count - 1));
                assert_int_equal(0, runs[i].first % runs[i].count);
                if (i > 0) assert_false(ganz_runs_meet(runs[i - 1], runs[i]));
                next += runs[i].count;
            }
            assert_int_equal(last, next);
        }
}

static void parts_are_rows(void **state)
{
    (void)state;
    const int32_t begin[] = {0, 2, 3, 5, 6, 9}, row[] = {0, 0, 0, 1, 1, 3, 4, 4, 4}; /* row 2 has no segment */
    const ganz_batch batch = {
        .segments = 5, .target_rows = 9, .target_begin = begin, .target_row = row, .packed_rows = 5};
    const int wanted[] = {0, 2, 3, 3, 5}; /* rows from 0, 1, 2, 3 on, and the end */
    for (int part = 0; part <= 4; part++) assert_int_equal(wanted[part], ganz_part_begin(&batch, part, 4));
    const int many[] = {0, 0, 2, 2, 3, 3, 3, 4, 5}; /* rows from 0, 0, 1, 1, 2, 3, 3, 4 on */
    for (int part = 0; part <= 8; part++) assert_int_equal(many[part], ganz_part_begin(&batch, part, 8));
}

/* ---- sums --------------------------------------------------------------------------------------- */

static ganz_trainer *open_toy(int parts)
{
    ganz_train_options o = toy_options("reverse");
    ganz_trainer *t;
    ganz_error err;
    o.recipe.parts = parts;
    o.recipe.micro_tokens = 128; /* several passes for each part */
    o.recipe.dropout = o.recipe.dropout_relu = o.recipe.dropout_attention = 0.2;
    if (ganz_trainer_open(&t, &o, &err) != GANZ_OK) fail_msg("%s", err.message);
    return t;
}

/* Gradients of some parts of the first batch, by a share of their own; the caller frees them. Adds up losses. */
static real *gradients_of(ganz_trainer *t, const ganz_batch *batch, ganz_share share, double sums[3])
{
    const size_t count = t->net.params.block, bytes = count * sizeof(real);
    real *const grad = malloc(bytes);
    t->stepper.tree.share = share;
    t->be->zero(t->be, t->weights.grad, bytes);
    assert_int_equal(GANZ_OK, ganz_stepper_train(&t->stepper, batch, 7, NULL, NULL));
    assert_int_equal(1, t->stepper.tree.runs);
    t->be->download(t->be, grad, t->weights.grad, bytes);
    for (int part = share.first; part < share.last; part++)
        for (int i = 0; i < 3; i++) sums[i] += t->stepper.tree.sums[3 * part + i];
    return grad;
}

static void add_to(real *left, const real *right, size_t count)
{
    for (size_t i = 0; i < count; i++) left[i] += right[i];
}

/* ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), to the bit, whether made by one process or part by part. */
static void gradients_are_a_tree(void **state)
{
    (void)state;
    ganz_trainer *const t = open_toy(8);
    const size_t count = t->net.params.block;
    ganz_batch batch;
    double whole_sums[3] = {0}, sums[3] = {0};
    real *part[8];
    assert_int_equal(GANZ_OK, ganz_loader_next(t->loader, &batch, NULL));
    real *const whole = gradients_of(t, &batch, (ganz_share){0, 8}, whole_sums);
    for (int i = 0; i < 8; i++) part[i] = gradients_of(t, &batch, (ganz_share){i, i + 1}, sums);
    for (int width = 1; width < 8; width *= 2)
        for (int i = 0; i < 8; i += 2 * width) add_to(part[i], part[i + width], count);
    assert_memory_equal(whole, part[0], count * sizeof *whole);
    assert_memory_equal(whole_sums, sums, sizeof sums);
    assert_true(sums[2] == batch.target_rows);
    for (int i = 0; i < 8; i++) free(part[i]);
    free(whole);
    ganz_trainer_close((ganz_trainer **)&t);
}

static void near_reals(const real *a, const real *b, size_t count)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        difference += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        size += (double)b[i] * b[i];
    }
    assert_true(size > 0 && difference < 1e-10 * size);
}

/* Parts change the order of sums and nothing else. */
static void parts_sum_to_the_whole(void **state)
{
    (void)state;
    double sums[3] = {0}, plain_sums[3];
    ganz_trainer *t = open_toy(4), *u = open_toy(1);
    t->stepper.options.dropout = u->stepper.options.dropout = (ganz_dropout){0};
    ganz_batch batch;
    assert_int_equal(GANZ_OK, ganz_loader_next(t->loader, &batch, NULL));
    real *const parts = gradients_of(t, &batch, (ganz_share){0, 4}, sums);
    assert_int_equal(GANZ_OK, ganz_loader_next(u->loader, &batch, NULL));
    assert_int_equal(GANZ_OK, ganz_stepper_train(&u->stepper, &batch, 7, NULL, NULL));
    near_reals(parts, u->weights.grad, u->net.params.block);
    u->be->download(u->be, plain_sums, u->stepper.sums, sizeof plain_sums);
    for (int i = 0; i < 3; i++) assert_true(sums[i] - plain_sums[i] < 1e-3 && plain_sums[i] - sums[i] < 1e-3);
    free(parts);
    ganz_trainer_close(&t);
    ganz_trainer_close(&u);
}

/* ---- runs --------------------------------------------------------------------------------------- */

static void steps_in_parts_go_on(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("reverse");
    stopper s = {.at = 0};
    ganz_error err;
    o.recipe.parts = 4;
    o.recipe.steps = 12;
    o.recipe.log_every = 4;
    o.recipe.dropout = 0.1;
    o.out = in_dir("parts");
    o.threads = 2;
    must_train(&o);
    o.out = in_dir("parts-stopped");
    o.threads = 1;
    o.resume = true;
    o.recipe.save_every = 5;
    o.stop = &s.flag;
    ganz_flag_set(&s.flag);
    for (int i = 0; i < 2; i++) { /* a stop before the first step, and a run after it */
        const ganz_status status = ganz_train(&o, NULL, &err);
        assert_int_equal(i ? GANZ_OK : GANZ_ESTOPPED, status);
        ganz_flag_clear(&s.flag);
    }
    same_log(in_dir("parts/log.tsv"), in_dir("parts-stopped/log.tsv"));
    o.recipe.parts = 2;
    assert_int_equal(GANZ_EINVAL, ganz_train(&o, NULL, &err));
    assert_non_null(strstr(err.message, "was made with parts 4, not 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_whole),       cmocka_unit_test(runs_are_nodes),
        cmocka_unit_test(parts_are_rows),         cmocka_unit_test(gradients_are_a_tree),
        cmocka_unit_test(parts_sum_to_the_whole), cmocka_unit_test(steps_in_parts_go_on),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
