/* One check for each entry of ganz_rows: the name in the list makes the compiler ask for it. */
#include "kernel_check.h"

enum { N_MAX = 1100 };
static const int sizes[] = {1,  2,  3,  4,  5,  7,   8,   9,   15,  16,  17,  24,  31,
                            32, 33, 63, 64, 65, 100, 127, 128, 129, 512, 513, 1000};

typedef struct numbers {
    float x[N_MAX], a[N_MAX], b[N_MAX], y[N_MAX], work[N_MAX];
    int32_t scores[N_MAX], sums[N_MAX];
    int8_t codes[4][N_MAX];
    uint8_t u[N_MAX];
} numbers;

#define BYTES(n, type) ((size_t)(n) * sizeof(type))

static void check_norm(check *c, numbers *v, int n, int kind)
{
    check_floats(c, v->x, n, kind);
    check_floats(c, v->a, n, 0);
    check_floats(c, v->b, n, 0);
    for (int count = 0; count <= 3; count++) {
        ganz_codes outs[3], guarded[3];
        const float *const x = check_in(c, 0, v->x, BYTES(n, float));
        const float *const a = check_in(c, 1, v->a, BYTES(n, float));
        const float *const b = check_in(c, 2, v->b, BYTES(n, float));
        float *const y = check_out(c, 3, BYTES(n, float));
        for (int i = 0; i < count; i++) {
            outs[i] = (ganz_codes){v->codes[i], 10.0f + 17.3f * (float)i, i == 1 ? 31 : 127};
            guarded[i] = outs[i];
            guarded[i].codes = check_out(c, 4 + i, (size_t)n);
        }
        const float epsilon = count == 1 ? 1e-5f : 1e-6f;
        const ganz_norm_layout plain = {n, epsilon, v->a, v->b}, layout = {n, epsilon, a, b};
        c->scalar.rows.norm(&plain, v->x, v->y, outs, count);
        c->kernel.rows.norm(&layout, x, count == 2 ? NULL : y, guarded, count);
        if (count != 2) check_same(c, 3, v->y, "norm", n);
        for (int i = 0; i < count; i++) check_same(c, 4 + i, v->codes[i], "norm codes", n);
    }
    float *const inplace = check_in(c, 0, v->x, BYTES(n, float));
    c->kernel.rows.norm(&(ganz_norm_layout){n, 1e-6f, v->a, v->b}, inplace, inplace, NULL, 0);
    check_same(c, 0, v->y, "norm in place", n);
}

static void check_quantize(check *c, numbers *v, int n, int kind)
{
    static const int p[] = {127, 63, 31, 1};
    check_floats(c, v->x, n, kind);
    if (n > 4) v->x[3] = __builtin_nanf("");
    if (n > 5) v->x[4] = __builtin_inff();
    if (n > 6) v->x[5] = -__builtin_inff();
    for (int i = 0; i < 4; i++) {
        const float *const x = check_in(c, 0, v->x, BYTES(n, float));
        int8_t *const codes = check_out(c, 1, (size_t)n);
        c->scalar.rows.quantize(v->x, n, i & 1 ? 2.0f : 13.7f, p[i], v->codes[0]);
        c->kernel.rows.quantize(x, n, i & 1 ? 2.0f : 13.7f, p[i], codes);
        check_same(c, 1, v->codes[0], "quantize", n);
    }
}

/* Columns with inverse steps and zeros of all sizes; numbers that are none become the lower end. */
static void check_quantize_columns(check *c, numbers *v, int n, int kind)
{
    static const int p[] = {127, 31, 1};
    check_floats(c, v->x, n, kind);
    for (int i = 0; i < n; i++) {
        v->a[i] = (float)check_between(c, 1, 4000) / 64.0f;
        v->b[i] = (float)check_between(c, -4000, 4000) / (float)(i % 2 ? 1 : 4000);
        v->b[i] = (float)(int)v->b[i];
    }
    if (n > 4) v->x[3] = __builtin_nanf("");
    if (n > 5) v->x[4] = __builtin_inff();
    if (n > 6) v->x[5] = -__builtin_inff();
    for (int i = 0; i < 3; i++) {
        const float *const x = check_in(c, 0, v->x, BYTES(n, float));
        const ganz_columns columns = {check_in(c, 2, v->a, BYTES(n, float)), check_in(c, 3, v->b, BYTES(n, float))};
        int8_t *const codes = check_out(c, 1, (size_t)n);
        c->scalar.rows.quantize_columns(v->x, n, &(ganz_columns){v->a, v->b}, p[i], v->codes[0]);
        c->kernel.rows.quantize_columns(x, n, &columns, p[i], codes);
        check_same(c, 1, v->codes[0], "quantize_columns", n);
    }
}

static void check_quantize_unsigned(check *c, numbers *v, int n, int kind)
{
    check_floats(c, v->x, n, kind);
    if (n > 4) v->x[3] = __builtin_nanf("");
    for (int i = 0; i < 2; i++) {
        const float *const x = check_in(c, 0, v->x, BYTES(n, float));
        uint8_t *const codes = check_out(c, 1, (size_t)n);
        c->scalar.rows.quantize_unsigned(v->x, n, i ? 2.0f : 97.1f, i ? 63 : 255, v->u);
        c->kernel.rows.quantize_unsigned(x, n, i ? 2.0f : 97.1f, i ? 63 : 255, codes);
        check_same(c, 1, v->u, "quantize_unsigned", n);
    }
}

static void check_exp(check *c, numbers *v, int n, int kind)
{
    check_floats(c, v->x, n, kind);
    for (int i = 0; i < n; i += 3) v->x[i] = check_uniform(c) * 90.0f;
    if (n > 6) v->x[3] = __builtin_nanf(""), v->x[4] = __builtin_inff(), v->x[5] = -__builtin_inff();
    const float *const x = check_in(c, 0, v->x, BYTES(n, float));
    c->scalar.rows.exp(v->x, n, v->y);
    c->kernel.rows.exp(x, n, check_out(c, 1, BYTES(n, float)));
    check_same(c, 1, v->y, "exp", n);
}

static void check_softmax(check *c, numbers *v, int n, int kind)
{
    check_floats(c, v->x, n, kind);
    const float *const x = check_in(c, 0, v->x, BYTES(n, float));
    c->scalar.rows.softmax(v->x, n, v->y);
    c->kernel.rows.softmax(x, n, check_out(c, 1, BYTES(n, float)));
    check_same(c, 1, v->y, "softmax", n);
    float *const inplace = check_in(c, 2, v->x, BYTES(n, float));
    c->kernel.rows.softmax(inplace, n, inplace);
    check_same(c, 2, v->y, "softmax in place", n);
}

static void fill_scores(check *c, numbers *v, int n, int kind)
{
    const int most = kind == 1 ? 64 * 127 * 127 : kind == 2 ? 3 : 20000;
    for (int i = 0; i < n; i++) v->scores[i] = kind == 4 ? most : check_between(c, -most, most);
}

static void check_softmax_scores(check *c, numbers *v, int n, int kind)
{
    fill_scores(c, v, n, kind);
    const int32_t *const scores = check_in(c, 0, v->scores, BYTES(n, int32_t));
    c->scalar.rows.softmax_scores(v->scores, n, 3.1e-4f, v->y);
    c->kernel.rows.softmax_scores(scores, n, 3.1e-4f, check_out(c, 1, BYTES(n, float)));
    check_same(c, 1, v->y, "softmax_scores", n);
}

static void check_softmax_codes(check *c, numbers *v, int n, int kind)
{
    fill_scores(c, v, n, kind);
    for (int i = 0; i < 2; i++) {
        const int32_t *const scores = check_in(c, 0, v->scores, BYTES(n, int32_t));
        const ganz_unsigned_codes plain = {v->u, i ? 63.0f : 400.0f, i ? 63 : 255};
        const ganz_unsigned_codes out = {check_out(c, 1, (size_t)n), plain.inv, plain.max};
        c->scalar.rows.softmax_codes(v->scores, n, 2.3e-4f, &plain, v->work);
        c->kernel.rows.softmax_codes(scores, n, 2.3e-4f, &out, check_out(c, 2, BYTES(n, float)));
        check_same(c, 1, v->u, "softmax_codes", n);
    }
}

static void check_exp_sum(check *c, numbers *v, int n, int kind)
{
    check_floats(c, v->x, n, kind);
    const float *const x = check_in(c, 0, v->x, BYTES(n, float));
    float max, sum;
    c->scalar.rows.exp_sum(v->x, n, &max, &sum);
    c->kernel.rows.exp_sum(x, n, check_out(c, 1, sizeof max), check_out(c, 2, sizeof sum));
    check_same(c, 1, &max, "exp_sum max", n);
    check_same(c, 2, &sum, "exp_sum sum", n);
}

static void check_top_k(check *c, numbers *v, int n, int kind)
{
    static const int ks[] = {1, 2, 5, 8, 64, GANZ_TOP_MAX};
    check_floats(c, v->x, n, kind);
    for (size_t i = 0; i < GANZ_COUNT(ks) && ks[i] <= n; i++) {
        const float *const x = check_in(c, 0, v->x, BYTES(n, float));
        float *const values = check_out(c, 1, BYTES(ks[i], float));
        int32_t *const indices = check_out(c, 2, BYTES(ks[i], int32_t));
        c->scalar.rows.top_k(v->x, n, ks[i], v->y, v->sums);
        c->kernel.rows.top_k(x, n, ks[i], values, indices);
        check_same(c, 1, v->y, "top_k values", n);
        check_same(c, 2, v->sums, "top_k indices", n);
    }
}

static void check_add(check *c, numbers *v, int n, int kind)
{
    check_floats(c, v->a, n, kind);
    check_floats(c, v->b, n, 0);
    const float *const a = check_in(c, 0, v->a, BYTES(n, float)), *const b = check_in(c, 1, v->b, BYTES(n, float));
    c->scalar.rows.add(v->a, v->b, n, v->y);
    c->kernel.rows.add(a, b, n, check_out(c, 2, BYTES(n, float)));
    check_same(c, 2, v->y, "add", n);
}

static void check_scale(check *c, numbers *v, int n, int kind)
{
    check_floats(c, v->x, n, kind);
    const float *const x = check_in(c, 0, v->x, BYTES(n, float));
    c->scalar.rows.scale(v->x, n, -1.7f, v->y);
    c->kernel.rows.scale(x, n, -1.7f, check_out(c, 1, BYTES(n, float)));
    check_same(c, 1, v->y, "scale", n);
}

static void check_embed(check *c, numbers *v, int n, int kind)
{
    check_codes(c, v->codes[0], n, -127, 127, kind);
    check_floats(c, v->a, n, 0);
    check_floats(c, v->b, n, 0);
    for (int with = 0; with < 4; with++) {
        const int8_t *const codes = check_in(c, 0, v->codes[0], (size_t)n);
        const float *const a = check_in(c, 1, v->a, BYTES(n, float)), *const b = check_in(c, 2, v->b, BYTES(n, float));
        float *const y = check_out(c, 3, BYTES(n, float));
        const ganz_embed_row plain = {v->codes[0], 0.0123f, 22.627417f, with & 1 ? v->a : NULL, with & 2 ? v->b : NULL};
        const ganz_embed_row from = {codes, 0.0123f, 22.627417f, with & 1 ? a : NULL, with & 2 ? b : NULL};
        c->scalar.rows.embed(&plain, n, v->y);
        c->kernel.rows.embed(&from, n, y);
        check_same(c, 3, v->y, "embed", n);
    }
}

/* Three rows, of which the middle one and columns from 2 on are asked for; every mix of steps and activations. */
static void check_epilogue(check *c, numbers *v, int n, int kind)
{
    enum { COL = 2, ROW = 1, ACTIVATIONS = GANZ_ACTIVATIONS };
    const int cols = n + COL;
    if (cols > N_MAX / 3) return;
    for (int i = 0; i < n; i++)
        v->scores[i] = kind == 1 ? (int32_t)check_random(c) / 2 : check_between(c, -50000, 50000);
    check_floats(c, v->a, 3 * cols, 0);
    check_floats(c, v->b, 3 * cols, 0);
    for (int i = 0; i < 3 * cols; i++) v->work[i] = (1.5f + check_uniform(c)) * 1e-4f;
    for (int mix = 0; mix < 64 * ACTIVATIONS; mix++) {
        const size_t bytes = BYTES(3 * cols, float);
        ganz_epilogue e = {
            .scale = 3.3e-4f, .activation = (ganz_activation)(mix / 64), .inv = 11.0f, .p = mix & 2 ? 31 : 127};
        e.add_stride = e.out_stride = e.codes_stride = e.sums_stride = (size_t)cols;
        ganz_epilogue guarded = e;
        memset(v->y, 1, sizeof v->y);
        memset(v->codes, 1, sizeof v->codes);
        memset(v->sums, 1, sizeof v->sums);
        if (mix & 2) e.bias = v->a, guarded.bias = check_in(c, 0, v->a, BYTES(cols, float));
        if (mix & 4) e.scales = v->work, guarded.scales = check_in(c, 1, v->work, BYTES(cols, float));
        if (mix & 8) e.add = v->b, guarded.add = check_in(c, 2, v->b, bytes);
        if (mix & 16 || !(mix & 32)) e.out = v->y, guarded.out = check_in(c, 3, v->y, bytes);
        if (mix & 32) e.codes = v->codes[0], guarded.codes = check_in(c, 4, v->codes[0], (size_t)(3 * cols));
        if (mix % 5 == 0) e.sums = v->sums, guarded.sums = check_in(c, 5, v->sums, bytes);
        const int32_t *const sums = check_in(c, 6, v->scores, BYTES(n, int32_t));
        c->scalar.rows.epilogue(&e, v->scores, (size_t)n, (ganz_block){ROW, 1, COL, n});
        c->kernel.rows.epilogue(&guarded, sums, (size_t)n, (ganz_block){ROW, 1, COL, n});
        if (e.out) check_same(c, 3, v->y, "epilogue out", n);
        if (e.codes) check_same(c, 4, v->codes[0], "epilogue codes", n);
        if (e.sums) check_same(c, 5, v->sums, "epilogue sums", n);
    }
}

/* Key rows of n codes each, of which the last lies against the guard; some are shared. The pointers stand
 * OFFSET before the rows, as for a head in the middle of a token's row. */
enum { OFFSET = 7 };
static int fill_rows(check *c, int n, int kind, const int8_t **rows, int8_t *data, int count)
{
    const int distinct = count > 2 ? count - 1 : count;
    check_codes(c, data, distinct * n, -127, 127, kind);
    const int8_t *const guarded = check_in(c, 0, data, (size_t)(distinct * n));
    for (int i = 0; i < count; i++)
        rows[i] = (const int8_t *)((uintptr_t)guarded + (size_t)((i % distinct) * n) - OFFSET);
    return count;
}

enum { LIST_MAX = 70 };
static int8_t row_data[LIST_MAX * N_MAX];

static void check_dot_rows(check *c, numbers *v, int n, int kind)
{
    static const int counts[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 33, LIST_MAX};
    const int8_t *rows[LIST_MAX];
    for (size_t i = 0; i < GANZ_COUNT(counts); i++) {
        if (n > 128 && counts[i] > 9) break;
        const int count = fill_rows(c, n, kind, rows, row_data, counts[i]);
        check_codes(c, v->codes[0], n, -127, 127, kind == 4 ? 0 : kind);
        const int8_t *const q = check_in(c, 1, v->codes[0], (size_t)n);
        c->scalar.rows.dot_rows(v->codes[0], n, rows, OFFSET, count, v->sums);
        c->kernel.rows.dot_rows(q, n, rows, OFFSET, count, check_out(c, 2, BYTES(count, int32_t)));
        check_same(c, 2, v->sums, "dot_rows", n);
    }
}

static void check_weighted_rows(check *c, numbers *v, int n, int kind)
{
    static const int counts[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 33, LIST_MAX};
    const int8_t *rows[LIST_MAX];
    for (size_t i = 0; i < GANZ_COUNT(counts); i++) {
        if (n > 128 && counts[i] > 9) break;
        const int count = fill_rows(c, n, kind, rows, row_data, counts[i]);
        for (int j = 0; j < count; j++) v->u[j] = (uint8_t)(kind == 1 || kind == 2 ? 255 : check_between(c, 0, 255));
        const uint8_t *const u = check_in(c, 1, v->u, (size_t)count);
        c->scalar.rows.weighted_rows(v->u, rows, OFFSET, count, n, v->sums);
        c->kernel.rows.weighted_rows(u, rows, OFFSET, count, n, check_out(c, 2, BYTES(n, int32_t)));
        check_same(c, 2, v->sums, "weighted_rows", n);
    }
}

void check_rows(check *c)
{
    typedef void entry_check(check *, numbers *, int, int);
#define ENTRY(name) check_##name,
    static entry_check *const entries[] = {GANZ_ROWS_LIST(ENTRY)};
#undef ENTRY
    _Static_assert(sizeof(ganz_rows) == sizeof entries, "every entry of ganz_rows is in GANZ_ROWS_LIST");
    static numbers v;
    for (size_t e = 0; e < GANZ_COUNT(entries); e++)
        for (size_t i = 0; i < GANZ_COUNT(sizes); i++)
            for (int kind = 0; kind < FLOAT_KINDS; kind++) entries[e](c, &v, sizes[i], kind);
}
