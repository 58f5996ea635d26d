/* Products of the CPU backend in bfloat16: the same bytes however they are shared out and whoever computes them. */
#include "test.h"

#include <string.h>

#include "backend/backend.h"
#include "base/rng.h"
#include "kernel/kernel.h"

enum { IN = 70, OUT = 330, ROWS = 150 };

static float x[ROWS * IN], w[OUT * IN], y_grad[ROWS * OUT], before[OUT * IN];

typedef struct results {
    float y[ROWS * OUT], x_grad[ROWS * IN], w_grad[OUT * IN];
} results;

static void fill(float *to, size_t count, uint64_t stream)
{
    for (size_t i = 0; i < count; i++) to[i] = (float)ganz_random_normal(7, stream, i);
}

static int fill_all(void **state)
{
    (void)state;
    fill(x, GANZ_COUNT(x), 1);
    fill(w, GANZ_COUNT(w), 2);
    fill(y_grad, GANZ_COUNT(y_grad), 3);
    fill(before, GANZ_COUNT(before), 4);
    return 0;
}

static ganz_matrix matrix(float *data, int rows, int cols) { return (ganz_matrix){rows, cols, cols, GANZ_REAL, data}; }

/* NULL: this processor cannot. */
static ganz_backend *open_bf16(int threads)
{
    ganz_backend *be;
    assert_int_equal(ganz_cpu_backend_open(&be, threads, NULL), GANZ_OK);
    if (ganz_cpu_backend_bf16(be, NULL) == GANZ_OK) return be;
    be->close(be);
    return NULL;
}

static ganz_backend *open_scalar(int threads)
{
    ganz_cpu_set_mask(0);
    ganz_backend *const be = open_bf16(threads);
    ganz_cpu_set_mask(GANZ_CPU_ALL);
    assert_non_null(be);
    return be;
}

/* Forward and backward. */
static ganz_status run(ganz_backend *be, int rows, results *r, ganz_error *err)
{
    memset(r, 0, sizeof *r);
    memcpy(r->w_grad, before, sizeof before);
    ganz_linear_call c = {.rows = rows, .in = IN, .out = OUT, .w_grad = r->w_grad};
    c.x.m = matrix(x, rows, IN);
    c.w.m = matrix(w, OUT, IN);
    c.y = matrix(r->y, rows, OUT);
    c.y_grad = matrix(y_grad, rows, OUT);
    c.x_grad = matrix(r->x_grad, rows, IN);
    be->linear(be, &c);
    be->linear_grad(be, &c);
    return be->sync(be, err);
}

/* By the definition, which is slow. */
static const results *expected_of(int rows)
{
    static results r;
    static int known = -1;
    if (rows == known) return &r;
    ganz_backend *const be = open_scalar(2);
    assert_int_equal(run(be, rows, &r, NULL), GANZ_OK);
    be->close(be);
    known = rows;
    return &r;
}

static void expect(ganz_backend *be, int rows)
{
    static results r;
    assert_int_equal(run(be, rows, &r, NULL), GANZ_OK);
    assert_memory_equal(&r, expected_of(rows), sizeof r);
}

/* Also without rows. */
static void threads_change_nothing(void **state)
{
    (void)state;
    for (int rows = 0; rows <= ROWS; rows += ROWS / 3)
        for (int threads = 1; threads <= 5; threads += 2) {
            ganz_backend *const be = open_bf16(threads);
            if (!be) continue;
            expect(be, rows);
            be->close(be);
        }
}

/* Who reads the weights of another backend need not have been opened under its instructions. */
static void it_follows_any_other(void **state)
{
    (void)state;
    ganz_backend *other, *const be = open_scalar(2);
    assert_int_equal(ganz_cpu_backend_open(&other, 1, NULL), GANZ_OK);
    ganz_cpu_backend_follow(be, other);
    assert_int_equal(ganz_cpu_backend_reads(be, other, NULL), GANZ_OK);
    expect(be, ROWS);
    be->close(be);
    other->close(other);
}

/* Every allocation fails once. */
static void no_memory(void **state)
{
    (void)state;
    static results r;
    ganz_backend *be = open_bf16(2);
    if (!be) return;
    ganz_status status = GANZ_ENOMEM;
    for (long n = 1; status != GANZ_OK && n < 100; n++) {
        ganz_error err = {0};
        be->close(be);
        ganz_alloc_fail_at(n);
        status = ganz_cpu_backend_open(&be, 2, &err);
        if (status == GANZ_OK) status = ganz_cpu_backend_bf16(be, &err);
        if (status == GANZ_OK) status = run(be, ROWS, &r, &err);
        ganz_alloc_fail_at(0);
        assert_true(status == GANZ_OK || status == GANZ_ENOMEM);
        assert_true(status == GANZ_OK || err.message[0]);
        if (!be) be = open_bf16(2);
    }
    assert_int_equal(status, GANZ_OK);
    expect(be, ROWS);
    be->close(be);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(it_follows_any_other),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, fill_all, NULL);
}
