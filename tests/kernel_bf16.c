/* Products of floats in bfloat16: every ISA against the scalar code, bit for bit, and that against what it says. */
#include <math.h>
#include <stdlib.h>

#include "kernel_check.h"

enum { LEAST_ROOM = 200000, SLACK = 3 };

typedef struct shape {
    int m, n, k;
} shape;

/* Where the numbers of a side lie; `rows` by `depth` of them, in rows a little longer than needed. */
static size_t side_floats(bool along, int rows, int depth)
{
    const size_t lines = (size_t)(along ? rows : depth), line = (size_t)(along ? depth : rows);
    return (lines - 1) * (line + SLACK) + line;
}

static ganz_bf16_side side_in(check *c, int slot, const float *x, bool along, int rows, int depth)
{
    const size_t floats = side_floats(along, rows, depth);
    return (ganz_bf16_side){check_in(c, slot, x, floats * sizeof *x), (size_t)(along ? depth : rows) + SLACK, along};
}

typedef struct numbers {
    float a[LEAST_ROOM], b[LEAST_ROOM], before[LEAST_ROOM], expected[LEAST_ROOM];
} numbers;

static void *aligned(size_t bytes)
{
    void *const block = ganz_alloc_aligned(bytes ? bytes : 1);
    if (!block) exit(1);
    return block;
}

static void whole(const ganz_kernel *kernel, const ganz_bf16_call *call)
{
    void *const scratch = aligned(kernel->bf16.scratch);
    kernel->bf16.product(call, &(ganz_block){0, call->m, 0, call->n}, scratch);
    ganz_free(scratch);
}

/* With a copy that two threads make, and four parts. */
static void in_parts(check *c, ganz_bf16_call *call)
{
    const ganz_bf16 *const bf16 = &c->kernel.bf16;
    const int row = call->m / 3, col = call->n / 2 / GANZ_BF16_COLS * GANZ_BF16_COLS;
    const size_t bytes = bf16->copy_bytes(call);
    void *const scratch = aligned(bf16->scratch), *const copy = aligned(bytes);
    if (bytes) {
        if (col < call->n) bf16->copy(call, col, call->n, copy);
        if (col > 0) bf16->copy(call, 0, col, copy);
        call->copied = copy;
    }
    for (int part = 0; part < 4; part++) {
        const ganz_block b = {part & 1 ? row : 0, part & 1 ? call->m - row : row, part & 2 ? col : 0,
                              part & 2 ? call->n - col : col};
        if (b.rows > 0 && b.cols > 0) bf16->product(call, &b, scratch);
    }
    ganz_free(copy);
    ganz_free(scratch);
}

/* One product; between the rows of the result is what was there before. */
static void compare(check *c, numbers *x, shape s, unsigned way)
{
    const bool a_along = way & 1, b_along = way & 2;
    ganz_bf16_call call = {.m = s.m, .n = s.n, .k = s.k, .ldc = (size_t)s.n + SLACK, .add = way & 4};
    const size_t results = ((size_t)s.m - 1) * call.ldc + (size_t)s.n, bytes = results * sizeof(float);
    call.alpha = way & 8 ? 0.37f : 1.0f;
    call.a = side_in(c, 0, x->a, a_along, s.m, s.k);
    call.b = side_in(c, 1, x->b, b_along, s.n, s.k);
    memcpy(x->expected, x->before, bytes);
    call.c = x->expected;
    c->scalar.bf16.product(&call, &(ganz_block){0, s.m, 0, s.n}, NULL);
    call.c = check_in(c, 2, x->before, bytes);
    if (way & 16) in_parts(c, &call);
    else whole(&c->kernel, &call);
    check_same(c, 2, x->expected, "bf16", s.k);
}

/* The worst case of sums in float, in another order: products are exact there. */
static void near_the_truth(check *c, numbers *x)
{
    enum { N = 40, K = 300 };
    check_floats(c, x->a, N * K, 0);
    check_floats(c, x->b, N * K, 0);
    whole(&c->kernel, &(ganz_bf16_call){.m = N,
                                        .n = N,
                                        .k = K,
                                        .a = {x->a, K, true},
                                        .b = {x->b, K, true},
                                        .c = x->expected,
                                        .ldc = N,
                                        .alpha = 1});
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0, all = 0;
            for (int k = 0; k < K; k++) {
                const double one = (double)ganz_bf16_round(x->a[i * K + k]) * (double)ganz_bf16_round(x->b[j * K + k]);
                sum += one;
                all += fabs(one);
            }
            CHECK(c, fabs((double)x->expected[i * N + j] - sum) <= all * K * 0x1p-24);
        }
}

/* bfloat16 has eight bits: 1 and 7 behind the point, half to even. */
static void rounding(check *c)
{
    CHECK(c, ganz_bf16_round(1.0f) == 1.0f && ganz_bf16_round(255.0f) == 255.0f && ganz_bf16_round(-256.0f) == -256.0f);
    CHECK(c, ganz_bf16_round(257.0f) == 256.0f && ganz_bf16_round(259.0f) == 260.0f);
    CHECK(c, ganz_bf16_round(257.5f) == 258.0f && ganz_bf16_round(-1.00390625f) == -1.0f);
    CHECK(c, ganz_bf16_round(3.4e38f) == INFINITY && ganz_bf16_round(-INFINITY) == -INFINITY);
    CHECK(c, ganz_bf16_round(0x1p-126f) == 0x1p-126f && ganz_bf16_round(0x1p-127f) == 0);
    CHECK(c, signbit(ganz_bf16_round(-0x1p-130f)) && ganz_bf16_round(NAN) != ganz_bf16_round(NAN));
}

/* 0x1p-126 and one more product: it is too small if, rounded to 24 bits, it is less. */
static void least(check *c)
{
    static const struct {
        float a, b, expected;
    } cases[] = {{-0x1p-75f, 0x1p-75f, 0},         {-0x1.8p-76f, 0x1p-75f, 0},
                 {-0x1p-25f, 0x1p-125f, 0},        {0x1p-126f, -0x1p-24f, 0},
                 {-0x1p-76f, 0x1p-75f, 0x1p-126f}, {-0x1p-77f, 0x1p-75f, 0x1p-126f},
                 {0x1p-76f, 0x1p-75f, 0x1p-126f},  {0x1p-74f, 0x1p-75f, 0x1.000002p-126f}};
    for (size_t i = 0; i < GANZ_COUNT(cases); i++)
        for (int negative = 0; negative < 2; negative++) {
            const float sign = negative ? -1.0f : 1.0f, expected = sign * cases[i].expected;
            float a[3] = {sign * 0x1p-63f, 0, sign * cases[i].a}, b[3] = {0x1p-63f, 0, cases[i].b}, sum[2];
            ganz_bf16_call call = {.m = 1, .n = 1, .k = 3, .a = {a, 3, true}, .b = {b, 3, true}, .ldc = 1, .alpha = 1};
            call.c = &sum[0];
            whole(&c->scalar, &call);
            call.c = &sum[1];
            whole(&c->kernel, &call);
            CHECK(c, sum[0] == expected && sum[1] == expected);
        }
}

/* Scalar code takes long: of a large product some ways are enough, and it needs no comparison with itself. */
static bool is_left_out(const check *c, shape s, unsigned way)
{
    if (c->kernel.bf16.product == c->scalar.bf16.product) return s.m * s.n > 1000;
    return s.m * s.n * s.k > 100000 && way % 5;
}

void check_bf16(check *c)
{
    static const shape shapes[] = {{1, 1, 1},     {1, 17, 2},    {16, 16, 32},  {17, 15, 33},  {32, 32, 64},
                                   {33, 31, 65},  {30, 30, 64},  {5, 100, 511}, {64, 48, 513}, {3, 2, 1100},
                                   {257, 40, 70}, {20, 513, 40}, {300, 550, 17}};
    numbers *const x = malloc(sizeof *x);
    if (!x) exit(1);
    rounding(c);
    least(c);
    near_the_truth(c, x);
    for (size_t i = 0; i < GANZ_COUNT(shapes); i++)
        for (unsigned way = 0; way < 32; way++) {
            if (is_left_out(c, shapes[i], way)) continue;
            const shape s = shapes[i];
            check_floats(c, x->a, (s.m + SLACK) * (s.k + SLACK), (int)(way + i) % FLOAT_KINDS);
            check_floats(c, x->b, (s.n + SLACK) * (s.k + SLACK), (int)(i % 3));
            check_floats(c, x->before, s.m * (s.n + SLACK), 0);
            compare(c, x, s, way);
        }
    free(x);
}
