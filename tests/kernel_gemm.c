/* The integer product against three plain loops: every route, odd shapes, the worst numbers. */
#include "kernel_check.h"

#include <stdlib.h>

enum { M_MAX = 170, N_MAX = 200, K_MAX = 2100 };

typedef struct product {
    int m, n, k, low, high; /* input codes in [low, high] */
    int8_t a[M_MAX * K_MAX], w[N_MAX * K_MAX];
    int32_t sums[M_MAX * N_MAX];
    float bias[N_MAX], scales[N_MAX], add[M_MAX * N_MAX], out[M_MAX * N_MAX];
    int8_t codes[M_MAX * N_MAX];
} product;

/* The definition of definitions: nothing of the library in it. */
static void multiply(product *p)
{
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            int64_t sum = 0;
            for (int k = 0; k < p->k; k++) {
                const int8_t code = p->a[i * p->k + k];
                sum += (int64_t)(p->low < 0 ? code : (uint8_t)code) * p->w[j * p->k + k];
            }
            p->sums[i * p->n + j] = (int32_t)sum;
        }
}

static void fill(check *c, product *p, int input_kind, int weight_kind, int weight_max)
{
    if (p->low < 0) {
        check_codes(c, p->a, p->m * p->k, p->low, p->high, input_kind);
    } else {
        for (int i = 0; i < p->m * p->k; i++)
            p->a[i] = (int8_t)(uint8_t)(input_kind == 1 ? p->high : check_between(c, 0, p->high));
    }
    check_codes(c, p->w, p->n * p->k, -weight_max, weight_max, weight_kind);
}

static void *aligned(size_t bytes)
{
    void *const block = ganz_alloc_aligned(bytes);
    if (!block) exit(1);
    return block;
}

/* All columns, and the same in two shares as two threads would. nibbles: two weights in a byte. */
static void compare_as(check *c, const ganz_kernel *kernel, product *p, bool nibbles)
{
    ganz_packed w;
    void *const block = aligned(ganz_pack_bytes(kernel, p->n, p->k, nibbles));
    void *const scratch = aligned(ganz_gemm_scratch(kernel, p->k));
    int8_t *const weights = check_in(c, 0, p->w, (size_t)(p->n * p->k));
    const void *const a = check_in(c, 1, p->a, (size_t)(p->m * p->k));
    ganz_pack(kernel, &w, block, &(ganz_unpacked){weights, p->n, p->k, p->low, p->high, nibbles, NULL});
    memset(weights, 0, (size_t)(p->n * p->k)); /* not needed any more */
    const size_t results = (size_t)(p->m * p->n);
    ganz_epilogue e = {.sums = check_out(c, 2, results * sizeof(int32_t)), .sums_stride = (size_t)p->n};
    ganz_gemm(kernel, &(ganz_gemm_call){&w, a, (size_t)p->k, p->m, &e}, 0, p->n, scratch);
    check_same(c, 2, p->sums, w.route.name, p->k);

    e.sums = check_out(c, 2, results * sizeof(int32_t));
    const int middle = p->n / 2 / kernel->gemm.step * kernel->gemm.step;
    ganz_gemm(kernel, &(ganz_gemm_call){&w, a, (size_t)p->k, p->m, &e}, middle, p->n, scratch);
    ganz_gemm(kernel, &(ganz_gemm_call){&w, a, (size_t)p->k, p->m, &e}, 0, middle, scratch);
    check_same(c, 2, p->sums, "two shares", p->k);
    ganz_free(scratch);
    ganz_free(block);
}

static void compare(check *c, const ganz_kernel *kernel, product *p) { compare_as(c, kernel, p, false); }

/* Weights of at most 4 bits by input codes of any width, two in a byte: few rows and many, the largest sums, and rows
 * back as codes. */
static void nibble_products(check *c, product *p)
{
    static const int ends[][2] = {{-127, 127}, {0, 255}, {-31, 31}, {0, 127}, {-7, 7}};
    static const int depths[] = {1, 7, 8, 33, 64, 100, 256, 512, K_MAX};
    for (int round = 0; round < 5 * 18; round++) {
        p->low = ends[round % 5][0];
        p->high = ends[round % 5][1];
        p->k = depths[round % (int)GANZ_COUNT(depths)];
        p->n = check_between(c, 1, 140);
        p->m = round % 3 ? check_between(c, 1, 7) : check_between(c, 8, 70);
        fill(c, p, round % 4 == 0, round % 6, round % 2 ? 7 : 3);
        multiply(p);
        compare_as(c, &c->kernel, p, true);
    }
    ganz_packed w;
    int8_t row[K_MAX];
    void *const block = aligned(ganz_pack_bytes(&c->kernel, p->n, p->k, true));
    ganz_pack(&c->kernel, &w, block, &(ganz_unpacked){p->w, p->n, p->k, p->low, p->high, true, NULL});
    for (int i = 0; i < p->n; i++) {
        ganz_unpack_row(&c->kernel, &w, i, row);
        CHECK(c, memcmp(row, p->w + i * p->k, (size_t)p->k) == 0);
    }
    CHECK(c, ganz_pack_bytes(&c->kernel, 4096, 4096, true) * 100 < ganz_pack_bytes(&c->kernel, 4096, 4096, false) * 51);
    ganz_free(block);
}

/* Each route wherever it can be taken (the first always can), then the choice by cost. */
static void each_route(check *c, product *p, int *taken)
{
    multiply(p);
    const ganz_gemm_isa *const isa = &c->kernel.gemm;
    for (int i = 0; i < isa->routes; i++) {
        ganz_kernel kernel = c->kernel;
        kernel.gemm.routes = i ? 2 : 1;
        kernel.gemm.route[1] = isa->route[i];
        kernel.gemm.route[1].cost = -1e6f;
        void *const block = aligned(ganz_pack_bytes(&kernel, p->n, p->k, false));
        ganz_packed w;
        ganz_pack(&kernel, &w, block, &(ganz_unpacked){p->w, p->n, p->k, p->low, p->high, false, NULL});
        const bool chosen = !strcmp(w.route.name, isa->route[i].name);
        ganz_free(block);
        if (!chosen) continue;
        taken[i]++;
        compare(c, &kernel, p);
    }
    compare(c, &c->kernel, p);
}

/* Depth, columns, rows and ranges at random between bounds, kinds in turn. */
static void random_products(check *c, product *p, int *taken)
{
    static const int ends[][2] = {{-127, 127}, {-63, 63}, {-31, 31}, {-7, 7}, {0, 255}, {0, 63}, {-1, 1}};
    static const int depths[] = {1, 3, 4, 31, 32, 33, 63, 64, 65, 127, 128, 200};
    for (int round = 0; round < 7 * 36; round++) {
        const int *const range = ends[round % 7];
        const int kinds = round / 7;
        p->low = range[0];
        p->high = range[1];
        p->k = depths[check_random(c) % GANZ_COUNT(depths)];
        p->n = check_between(c, 1, 70);
        p->m = check_between(c, 1, 20);
        fill(c, p, kinds % 6, kinds / 6, p->high > 127 ? 127 : p->high);
        each_route(c, p, taken);
    }
}

/* Past every block size, with the largest sums. */
static void large_products(check *c, product *p, int *taken)
{
    static const int shapes[][3] = {{1, N_MAX, K_MAX}, {70, 33, 512},     {9, 65, K_MAX}, {70, 130, 97},
                                    {33, 64, 1024},    {M_MAX, 177, 192}, {48, 64, 64}};
    for (size_t i = 0; i < GANZ_COUNT(shapes); i++)
        for (int kind = 0; kind < 5; kind += 2) {
            p->m = shapes[i][0];
            p->n = shapes[i][1];
            p->k = shapes[i][2];
            p->low = kind == 2 ? 0 : -127;
            p->high = kind == 2 ? 255 : 127;
            fill(c, p, kind == 4 ? 1 : kind / 2, kind, 127);
            each_route(c, p, taken);
        }
}

/* The greatest depth, where int32 is nearly full; sums known without a loop. */
static void deepest(check *c)
{
    enum { K = GANZ_DEPTH_MAX, N = 3 };
    int8_t *const w = aligned((size_t)K * N), *const a = aligned((size_t)2 * K);
    void *const block = aligned(ganz_pack_bytes(&c->kernel, N, K, false));
    void *const scratch = aligned(ganz_gemm_scratch(&c->kernel, K));
    for (int side = 0; side < 2; side++) {
        const int low = side ? 0 : -127, high = side ? 255 : 127;
        memset(w, 127, K);
        memset(w + K, -127, K);
        memset(w + 2 * K, 1, K);
        memset(a, side ? 255 : 127, K);
        memset(a + K, side ? 254 : -127, K);
        ganz_packed packed;
        ganz_pack(&c->kernel, &packed, block, &(ganz_unpacked){w, N, K, low, high, false, NULL});
        int32_t sums[2 * N];
        const ganz_epilogue e = {.sums = sums, .sums_stride = N};
        ganz_gemm(&c->kernel, &(ganz_gemm_call){&packed, a, K, 2, &e}, 0, N, scratch);
        const int first = high, second = side ? 254 : -127;
        CHECK(c, sums[0] == K * first * 127 && sums[1] == -K * first * 127 && sums[2] == K * first);
        CHECK(c, sums[3] == K * second * 127 && sums[4] == -K * second * 127 && sums[5] == K * second);
    }
    ganz_free(scratch);
    ganz_free(block);
    ganz_free(a);
    ganz_free(w);
}

/* So deep that the rows do not stay in a cache, and are gone through in parts. */
static void deep_and_many(check *c)
{
    enum { M = 70, N = 20, K = 1 << 14 };
    int8_t *const w = aligned((size_t)K * N), *const a = aligned((size_t)M * K);
    int32_t *const sums = aligned(sizeof *sums * M * N);
    void *const block = aligned(ganz_pack_bytes(&c->kernel, N, K, false));
    void *const scratch = aligned(ganz_gemm_scratch(&c->kernel, K));
    ganz_packed packed;
    check_codes(c, w, N * K, -127, 127, 0);
    check_codes(c, a, M * K, -127, 127, 0);
    ganz_pack(&c->kernel, &packed, block, &(ganz_unpacked){w, N, K, -127, 127, false, NULL});
    const ganz_epilogue e = {.sums = sums, .sums_stride = N};
    ganz_gemm(&c->kernel, &(ganz_gemm_call){&packed, a, K, M, &e}, 0, N, scratch);
    long wrong = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int32_t sum = 0;
            for (int k = 0; k < K; k++) sum += a[i * K + k] * w[j * K + k];
            wrong += sums[i * N + j] != sum;
        }
    CHECK(c, wrong == 0);
    ganz_free(scratch);
    ganz_free(block);
    ganz_free(sums);
    ganz_free(a);
    ganz_free(w);
}

/* Zeros of input columns are taken out of sums: small ones, and the largest that leave sums exact, with the largest
 * codes on either side. */
static void with_zeros(check *c, product *p, bool nibbles, bool largest)
{
    float zero[K_MAX];
    for (int k = 0; k < p->k; k++)
        zero[k] = largest ? (k ? 0.0f : (check_random(c) & 1 ? 8520712.0f : -8520712.0f))
                          : (float)check_between(c, -300, 300);
    CHECK(c, ganz_zeros_fit(zero, p->k));
    multiply(p);
    for (int i = 0; i < p->m * p->n; i++)
        for (int k = 0; k < p->k; k++) p->sums[i] -= (int32_t)zero[k] * p->w[i % p->n * p->k + k];
    void *const block = aligned(ganz_pack_bytes(&c->kernel, p->n, p->k, nibbles));
    void *const scratch = aligned(ganz_gemm_scratch(&c->kernel, p->k));
    ganz_packed w;
    ganz_pack(&c->kernel, &w, block, &(ganz_unpacked){p->w, p->n, p->k, p->low, p->high, nibbles, zero});
    const ganz_epilogue e = {.sums = check_out(c, 2, (size_t)(p->m * p->n) * sizeof(int32_t)),
                             .sums_stride = (size_t)p->n};
    ganz_gemm(&c->kernel, &(ganz_gemm_call){&w, p->a, (size_t)p->k, p->m, &e}, 0, p->n, scratch);
    check_same(c, 2, p->sums, "zeros", p->k);
    ganz_free(scratch);
    ganz_free(block);
}

static void zeros(check *c, product *p)
{
    static const float whole[] = {1.0f, -8520711.0f}, half[] = {0.5f}, large[] = {8520712.0f, 1.0f};
    for (int round = 0; round < 24; round++) {
        p->low = -127;
        p->high = 127;
        p->k = round % 2 ? check_between(c, 1, 130) : K_MAX;
        p->n = check_between(c, 1, 70);
        p->m = check_between(c, 1, 9);
        const bool nibbles = round % 3 == 0;
        fill(c, p, round % 4 == 0, round % 6, nibbles ? 7 : 127);
        with_zeros(c, p, nibbles, round % 5 == 0);
    }
    CHECK(c, ganz_zeros_fit(whole, 2) && !ganz_zeros_fit(half, 1) && !ganz_zeros_fit(large, 2));
    CHECK(c, !ganz_zeros_fit(&(const float){__builtin_nanf("")}, 1) && !ganz_zeros_fit(&(const float){1e30f}, 1));
}

/* Weights that look harmless wherever the packing samples them, so that it has to change its mind. */
static void deceptive(check *c, product *p)
{
    p->low = -127;
    p->high = 127;
    p->m = 5;
    p->n = 128;
    p->k = 256;
    fill(c, p, 1, 1, 127);
    for (int j = 0; j < p->n; j += 16) memset(p->w + j * p->k, 1, (size_t)p->k);
    multiply(p);
    compare(c, &c->kernel, p);
}

/* The epilogue inside the product, at strides of its own, against the scalar epilogue of known sums. */
static void through_epilogue(check *c, product *p)
{
    p->low = -127;
    p->high = 127;
    p->m = 37;
    p->n = 75;
    p->k = 130;
    fill(c, p, 0, 4, 127);
    multiply(p);
    check_floats(c, p->bias, p->n, 0);
    check_floats(c, p->scales, p->n, 2);
    check_floats(c, p->add, p->m * p->n, 0);
    for (int i = 0; i < p->n; i++) p->scales[i] = 1e-3f + p->scales[i] * 1e27f;
    ganz_epilogue e = {.scales = p->scales,
                       .bias = p->bias,
                       .add = p->add,
                       .add_stride = (size_t)p->n,
                       .activation = GANZ_ACTIVATION_SWISH,
                       .out = p->out,
                       .out_stride = (size_t)p->n,
                       .codes = p->codes,
                       .codes_stride = (size_t)p->n,
                       .inv = 3.0f,
                       .p = 127};
    c->scalar.rows.epilogue(&e, p->sums, (size_t)p->n, (ganz_block){0, p->m, 0, p->n});
    void *const block = aligned(ganz_pack_bytes(&c->kernel, p->n, p->k, false));
    void *const scratch = aligned(ganz_gemm_scratch(&c->kernel, p->k));
    ganz_packed w;
    ganz_pack(&c->kernel, &w, block, &(ganz_unpacked){p->w, p->n, p->k, p->low, p->high, false, NULL});
    const size_t results = (size_t)(p->m * p->n);
    e.out = check_in(c, 3, p->add, results * sizeof(float)); /* the residual in place */
    e.add = e.out;
    e.codes = check_out(c, 4, results);
    ganz_gemm(&c->kernel, &(ganz_gemm_call){&w, p->a, (size_t)p->k, p->m, &e}, 0, p->n, scratch);
    check_same(c, 3, p->out, "gemm out", p->k);
    check_same(c, 4, p->codes, "gemm codes", p->k);
    ganz_free(scratch);
    ganz_free(block);
}

/* Epilogues as models have them, of blocks that are full and not: each against the scalar one of known sums. */
static void usual_epilogues(check *c, product *p)
{
    enum { OUT = 1, CODES = 2, ADD = 4, BIAS = 8, SCALES = 16, RELU = 32, KINDS = 64 };
    void *const block = aligned(ganz_pack_bytes(&c->kernel, p->n, p->k, false));
    void *const scratch = aligned(ganz_gemm_scratch(&c->kernel, p->k));
    const size_t results = (size_t)(p->m * p->n), stride = (size_t)p->n;
    ganz_packed w;
    ganz_pack(&c->kernel, &w, block, &(ganz_unpacked){p->w, p->n, p->k, p->low, p->high, false, NULL});
    for (int kind = 0; kind < KINDS; kind++) {
        if (!(kind & (OUT | CODES))) continue;
        ganz_epilogue e = {.scale = 1e-3f, .add_stride = stride, .out_stride = stride, .codes_stride = stride};
        e.inv = 0.5f;
        e.p = 127;
        e.scales = kind & SCALES ? p->scales : NULL;
        e.bias = kind & BIAS ? p->bias : NULL;
        e.add = kind & ADD ? p->add : NULL;
        e.activation = kind & RELU ? GANZ_ACTIVATION_RELU : GANZ_ACTIVATION_NONE;
        e.out = kind & OUT ? p->out : NULL;
        e.codes = kind & CODES ? p->codes : NULL;
        c->scalar.rows.epilogue(&e, p->sums, stride, (ganz_block){0, p->m, 0, p->n});
        if (kind & OUT) e.out = check_out(c, 3, results * sizeof(float));
        if (kind & CODES) e.codes = check_out(c, 4, results);
        ganz_gemm(&c->kernel, &(ganz_gemm_call){&w, p->a, (size_t)p->k, p->m, &e}, 0, p->n, scratch);
        if (kind & OUT) check_same(c, 3, p->out, "gemm out", kind);
        if (kind & CODES) check_same(c, 4, p->codes, "gemm codes", kind);
    }
    ganz_free(scratch);
    ganz_free(block);
}

static void epilogues_of_shapes(check *c, product *p)
{
    static const int shapes[][3] = {{70, 80, 640}, {64, 64, 192}, {96, 64, 64}, {45, 70, 130}};
    for (size_t i = 0; i < GANZ_COUNT(shapes); i++) {
        p->m = shapes[i][0];
        p->n = shapes[i][1];
        p->k = shapes[i][2];
        p->low = i % 2 ? 0 : -127; /* unsigned inputs too */
        p->high = 127;
        fill(c, p, 0, 4, 127);
        memset(p->a + 3 * p->k, 0, (size_t)p->k); /* sums of 0, whose sign shows */
        multiply(p);
        check_floats(c, p->bias, p->n, (int)i % 2 ? 5 : 0);
        check_floats(c, p->add, p->m * p->n, (int)i % 2 ? 0 : 5);
        for (int j = 0; j < p->n; j++) p->scales[j] = 1e-3f * (float)(1 + j);
        usual_epilogues(c, p);
    }
}

/* A result so large that it is written past the caches, with a column or two too many for whole vectors. */
static void large_result(check *c)
{
    enum { M = 66, N = 8203, K = 9, LD = 8208 };
    int8_t *const w = aligned((size_t)N * K), a[M * K];
    float *const out = aligned(sizeof(float) * M * LD);
    void *const block = aligned(ganz_pack_bytes(&c->kernel, N, K, false)), *const scratch = aligned(
                                                                               ganz_gemm_scratch(&c->kernel, K));
    ganz_packed packed;
    check_codes(c, w, N * K, -127, 127, 0);
    check_codes(c, a, M * K, -127, 127, 0);
    memset(out, 0x55, sizeof(float) * M * LD);
    ganz_pack(&c->kernel, &packed, block, &(ganz_unpacked){w, N, K, -127, 127, false, NULL});
    const ganz_epilogue e = {.scale = 1e-3f, .out = out, .out_stride = LD};
    ganz_gemm(&c->kernel, &(ganz_gemm_call){&packed, a, K, M, &e}, 0, N, scratch);
    long wrong = 0;
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            int32_t sum = 0;
            for (int k = 0; k < K; k++) sum += a[i * K + k] * w[j * K + k];
            wrong += out[(size_t)i * LD + (size_t)j] != (float)sum * 1e-3f;
        }
        for (int j = N; j < LD; j++) wrong += memcmp(&out[(size_t)i * LD + (size_t)j], "UUUU", 4) != 0;
    }
    CHECK(c, wrong == 0);
    ganz_free(w);
    ganz_free(out);
    ganz_free(block);
    ganz_free(scratch);
}

void check_gemm(check *c)
{
    static product p;
    int taken[GANZ_ROUTES_MAX] = {0};
    CHECK(c, c->kernel.gemm.route[0].pairs == 0);
    random_products(c, &p, taken);
    nibble_products(c, &p);
    large_products(c, &p, taken);
    deceptive(c, &p);
    zeros(c, &p);
    deepest(c);
    deep_and_many(c);
    through_epilogue(c, &p);
    epilogues_of_shapes(c, &p);
    large_result(c);
    for (int i = 0; i < c->kernel.gemm.routes; i++)
        if (!taken[i]) check_fail(c, "route %s was never taken", c->kernel.gemm.route[i].name);
    CHECK(c, ganz_pack_bytes(&c->kernel, INT32_MAX, 64, false) == 0 &&
                 ganz_pack_bytes(&c->kernel, 8, GANZ_DEPTH_MAX + 1, false) == 0);
}
