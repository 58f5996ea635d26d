/* Dense products: CPU against CUDA. */
#include <stdio.h>
#include <stdlib.h>

#include "backend_case.h"

#define RUN(entry, c, g) (both.cpu->entry(both.cpu, &(c)), both.gpu->entry(both.gpu, &(g)))

typedef struct linear_kind {
    int rows, in, out;
    ganz_activation activation;
    bool bias, drop, codes, by_row, add, w_frozen;
    ganz_type x, y, y_grad, x_grad, before;
    int gap; /* columns between rows of x and y */
} linear_kind;

/* One, or one for each output. */
static two some_scales(int out, bool by_row)
{
    real *scales = malloc((size_t)out * sizeof *scales);
    for (int i = 0; i < out; i++) scales[i] = (real)(0.001 + 0.0001 * random_below(20));
    const two made = by_row ? bytes_of(scales, (size_t)out * sizeof *scales) : equal_reals(1, 0.002);
    free(scales);
    return made;
}

static const char *const activation_names[] = {"", "relu", "swish", "gelu", "gelu of a sigmoid"};

static void linear(linear_kind k)
{
    const bool relu = k.activation == GANZ_ACTIVATION_RELU, smooth = ganz_activation_is_smooth(k.activation);
    begin("linear %d x %d -> %d%s %s%s%s%s, types %d %d %d %d, gap %d", k.rows, k.in, k.out, k.bias ? " bias" : "",
          activation_names[k.activation], k.drop ? " drop" : "", k.codes ? " codes" : "", k.add ? " add" : "", k.x, k.y,
          k.y_grad, k.x_grad, k.gap);
    const mats x = k.codes ? code_matrix(k.rows, k.in, k.x, 127) : random_matrix(k.rows, k.in, k.in + k.gap, k.x, 1);
    const mats w =
        k.codes ? code_matrix(k.out, k.in, product(), 127) : random_matrix(k.out, k.in, k.in, product(), 0.05);
    const two x_scale = equal_reals(1, 0.03), w_scale = some_scales(k.out, k.by_row),
              bias = random_reals((size_t)k.out, 1);
    const two w_grad = random_reals((size_t)k.out * (size_t)k.in, 3), bias_grad = random_reals((size_t)k.out, 3);
    const two mask = random_mask((size_t)4 * (size_t)k.out, 0.8);
    int32_t *lines = malloc((size_t)k.rows * sizeof *lines);
    for (int i = 0; i < k.rows; i++) lines[i] = random_below(4);
    const two group = ints_of(lines, k.rows);
    free(lines);
    const mats y = nan_matrix(k.rows, k.out, k.out + k.gap, k.y);
    const mats y_grad = random_matrix(k.rows, k.out, k.out + k.gap, k.y_grad, 1);
    const mats x_grad =
        k.add ? random_matrix(k.rows, k.in, k.in, k.x_grad, 1) : nan_matrix(k.rows, k.in, k.in + k.gap, k.x_grad);
    const mats before = smooth ? nan_matrix(k.rows, k.out, k.out + k.gap, k.before) : no_matrix();
    ganz_linear_call c = {.rows = k.rows, .in = k.in, .out = k.out, .activation = k.activation, .x_grad_add = k.add}, g;
    c.w_by_row = k.by_row;
    g = c;
#define SIDE(s, side)                                                                                              \
    s.x = (ganz_operand){x.side, k.codes ? x_scale.side : NULL},                                                   \
    s.w = (ganz_operand){w.side, k.codes ? w_scale.side : NULL}, s.bias = k.bias ? bias.side : NULL, s.y = y.side, \
    s.before = before.side, s.y_grad = y_grad.side, s.x_grad = x_grad.side,                                        \
    s.w_grad = k.w_frozen ? NULL : w_grad.side, s.bias_grad = k.bias && !k.w_frozen ? bias_grad.side : NULL;       \
    if (k.drop) s.drop = (ganz_drop){mask.side, group.side, (real)1.25}
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    RUN(linear, c, g);
    const bool exact = k.codes && k.y == GANZ_REAL && k.in <= 1024; /* sums of codes are whole numbers */
    same_matrix("y", y, exact && !smooth ? 1e-6 : product_tolerance());
    if (smooth) same_matrix("before", before, product_tolerance());
    /* From here on both go on from the same y: where relu cuts must not hang on rounding. */
    const size_t count = (size_t)k.rows * (size_t)(k.out + k.gap);
    if (relu) {
        real *own = malloc(count * sizeof *own);
        void *copy = snapshot(y.gpu.data, count * ganz_type_bytes(k.y));
        for (size_t i = 0; i < count; i++) {
            uint32_t bits = k.y == GANZ_BF16 ? (uint32_t)((uint16_t *)copy)[i] << 16 : ((uint32_t *)copy)[i];
            own[i] = (bits & 0x7fffffffu) > 0x7f800000u || bits >> 31 ? 0 : bits != 0;
        }
        both.cpu->upload(both.cpu, y.cpu.data, own, count * sizeof *own);
        free(own);
    }
    RUN(linear_grad, c, g);
    if ((relu || smooth) && !k.by_row)
        same_matrix("y_grad", y_grad, smooth ? product_tolerance() : row_tolerance(k.y_grad));
    same_matrix("x_grad", x_grad, product_tolerance());
    same_reals("w_grad", w_grad, (size_t)k.out * (size_t)k.in, product_tolerance());
    same_reals("bias_grad", bias_grad, (size_t)k.out, smooth ? product_tolerance() : row_tolerance(k.y_grad));
    expect_no_failure();
}

/* Codes in, codes out: more rows than one product takes at a time. */
static void linear_to_codes(int rows, int in, int out, bool bias_too, ganz_activation activation, bool by_row)
{
    const bool drop = activation != GANZ_ACTIVATION_NONE, smooth = ganz_activation_is_smooth(activation);
    begin("linear %d x %d -> %d to codes%s%s", rows, in, out, bias_too ? " bias " : " ", activation_names[activation]);
    const mats x = code_matrix(rows, in, product(), 127), w = code_matrix(out, in, product(), 127);
    const two x_scale = equal_reals(1, 0.03), w_scale = some_scales(out, by_row), bias = random_reals((size_t)out, 1);
    const two w_grad = random_reals((size_t)out * (size_t)in, 3), bias_grad = random_reals((size_t)out, 3);
    const two mask = random_mask((size_t)out, 0.8);
    int32_t *lines = calloc((size_t)rows, sizeof *lines);
    const two group = ints_of(lines, rows);
    free(lines);
    const mats y = nan_matrix(rows, out, out, GANZ_REAL), y_grad = nan_matrix(rows, out, out, GANZ_REAL);
    const mats x_grad = nan_matrix(rows, in, in, product());
    const coded k = coded_of(rows, out, 0.03, 127);
    const mats before = smooth ? nan_matrix(rows, out, out, by_row ? GANZ_REAL : product()) : no_matrix();
    ganz_linear_call c = {.rows = rows, .in = in, .out = out, .activation = activation, .w_by_row = by_row}, g = c;
#define SIDE(s, side)                                                                                               \
    s.x = (ganz_operand){x.side, x_scale.side}, s.w = (ganz_operand){w.side, w_scale.side}, s.x_grad = x_grad.side, \
    s.bias = bias_too ? bias.side : NULL, s.w_grad = w_grad.side, s.bias_grad = bias_too ? bias_grad.side : NULL;   \
    if (drop) s.drop = (ganz_drop){mask.side, group.side, (real)1.25}
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    if (both.gpu->reads_bytes) g.x_bytes = bytes_of_codes(x).gpu, g.w_bytes = bytes_of_codes(w).gpu;
    c.y = y.cpu;
    c.y_grad = y_grad.cpu;
    c.before = before.cpu;
    g.before = before.gpu;
    g.codes = code_out_of(&k);
    g.y_grad = k.grad.gpu;
    RUN(linear, c, g);
    round_on_cpu(&k, &y.cpu);
    same_matrix("codes", k.codes, 1e-3);
    same_as_bytes("bytes", &g.codes.m, g.codes.bytes);
    if (smooth) same_matrix("before", before, row_tolerance(before.gpu.type));
    round_back_on_cpu(&k, &y.cpu, &y_grad.cpu, false);
    RUN(linear_grad, c, g);
    /* Smooth activations may differ in the last bit, and then a value on the edge of the range is cut on one side. */
    const double products = smooth && product_tolerance() < 3e-3 ? 3e-3 : product_tolerance();
    same_matrix("x_grad", x_grad, products);
    same_reals("w_grad", w_grad, (size_t)out * (size_t)in, products);
    same_reals("bias_grad", bias_grad, (size_t)out, smooth ? products : row_tolerance(product()));
    expect_no_failure();
}

/* ---- codes as bytes ----------------------------------------------------------------------------- */

enum { TOGETHER = 5 }; /* calls one after another, more than run in one launch */

typedef struct bytes_kind {
    int rows, in, out;
    ganz_activation activation;
    bool bias, by_row;
} bytes_kind;

/* What a call writes. */
typedef struct written {
    void *codes, *inside, *bytes;
} written;

static written written_by(const ganz_linear_call *g, size_t count)
{
    return (written){.codes = snapshot(g->codes.m.data, count * ganz_type_bytes(product())),
                     .inside = snapshot(g->codes.inside, count / 4),
                     .bytes = snapshot(g->codes.bytes, count)};
}

static void same_writing(const written *a, const written *b, size_t count)
{
    expect_same_snapshot("codes", a->codes, b->codes, count * ganz_type_bytes(product()));
    expect_same_snapshot("inside", a->inside, b->inside, count / 4);
    expect_same_snapshot("bytes", a->bytes, b->bytes, count);
}

/* The same codes multiplied in floats and as bytes: sums are exact in both, and so are the results. Each call has a
 * weight and scales of its own; the third one may read what the first one writes. */
static void linear_as_bytes(bytes_kind k)
{
    const size_t count = (size_t)k.rows * (size_t)k.out;
    const bool relu = k.activation == GANZ_ACTIVATION_RELU;
    begin("linear %d x %d -> %d as bytes%s%s%s", k.rows, k.in, k.out, k.bias ? " bias" : "", k.by_row ? " by row" : "",
          relu ? " relu drop" : "");
    const mats x = code_matrix(k.rows, k.in, product(), 127);
    const two mask = random_mask((size_t)4 * (size_t)k.out, 0.8), x_bytes = bytes_of_codes(x);
    int32_t *lines = malloc((size_t)k.rows * sizeof *lines);
    for (int i = 0; i < k.rows; i++) lines[i] = random_below(4);
    const two group = ints_of(lines, k.rows);
    free(lines);
    ganz_linear_call g[TOGETHER];
    for (int i = 0; i < TOGETHER; i++) {
        const mats w = code_matrix(k.out, k.in, product(), 127 >> i);
        const coded to = coded_of(k.rows, k.out, 0.02 + 0.01 * i, i % 2 ? 31 : 127);
        g[i] = (ganz_linear_call){.rows = k.rows, .in = k.in, .out = k.out, .w_by_row = k.by_row};
        g[i].activation = k.activation;
        g[i].x.m = x.gpu, g[i].x.scale = equal_reals(1, 0.03 / (i + 1)).gpu, g[i].x_bytes = x_bytes.gpu;
        g[i].w.m = w.gpu, g[i].w.scale = some_scales(k.out, k.by_row).gpu, g[i].w_bytes = bytes_of_codes(w).gpu;
        if (k.bias) g[i].bias = random_reals((size_t)k.out, 1).gpu;
        if (relu) g[i].drop = (ganz_drop){mask.gpu, group.gpu, (real)1.25};
        g[i].codes = code_out_of(&to);
    }
    if (k.in == k.out) { /* reads a result, not yet launched then */
        g[2].x.m = g[0].codes.m;
        g[2].x_bytes = g[0].codes.bytes;
    }
    written as_bytes[TOGETHER];
    for (int i = 0; i < TOGETHER; i++) both.gpu->linear(both.gpu, &g[i]);
    for (int i = 0; i < TOGETHER; i++) as_bytes[i] = written_by(&g[i], count);
    for (int i = 0; i < TOGETHER; i++) {
        same_as_bytes("bytes are codes", &g[i].codes.m, g[i].codes.bytes);
        g[i].x_bytes = g[i].w_bytes = NULL;
    }
    for (int i = 0; i < TOGETHER; i++) both.gpu->linear(both.gpu, &g[i]);
    for (int i = 0; i < TOGETHER; i++) {
        const written as_floats = written_by(&g[i], count);
        same_writing(&as_floats, &as_bytes[i], count);
    }
    expect_no_failure();
}

/* Depths of up to 1,040, whose sums of codes of eight bits are exact in floats. */
static void cases_as_bytes(void)
{
    const ganz_activation relu = GANZ_ACTIVATION_RELU;
    linear_as_bytes((bytes_kind){.rows = 1, .in = 64, .out = 64});
    linear_as_bytes((bytes_kind){.rows = 1301, .in = 512, .out = 512});
    linear_as_bytes((bytes_kind){.rows = 200, .in = 512, .out = 512, .by_row = true});
    linear_as_bytes((bytes_kind){.rows = 3000, .in = 128, .out = 2048, .bias = true, .activation = relu});
    linear_as_bytes((bytes_kind){.rows = 77, .in = 256, .out = 36, .bias = true});
    linear_as_bytes((bytes_kind){.rows = 333, .in = 1024, .out = 36, .bias = true, .by_row = true});
    linear_as_bytes((bytes_kind){.rows = 259, .in = 80, .out = 132, .activation = relu, .by_row = true});
    linear_as_bytes((bytes_kind){.rows = 100, .in = 72, .out = 64}); /* lines not in pieces of 16: as floats */
}

static void smooth_cases(void)
{
    const ganz_type p = product(), r = GANZ_REAL;
    for (int a = GANZ_ACTIVATION_SWISH; a < GANZ_ACTIVATIONS; a++) {
        const ganz_activation activation = (ganz_activation)a;
        linear((linear_kind){.rows = 300,
                             .in = 512,
                             .out = 2048,
                             .bias = true,
                             .activation = activation,
                             .drop = true,
                             .x = p,
                             .y = p,
                             .y_grad = p,
                             .x_grad = p,
                             .before = p});
        linear((linear_kind){.rows = 77,
                             .in = 128,
                             .out = 192,
                             .activation = activation,
                             .x = p,
                             .y = r,
                             .y_grad = r,
                             .x_grad = r,
                             .before = r,
                             .gap = 8});
        linear((linear_kind){.rows = 600,
                             .in = 1024,
                             .out = 256,
                             .codes = true,
                             .by_row = true,
                             .bias = true,
                             .activation = activation,
                             .drop = true,
                             .x = p,
                             .y = r,
                             .y_grad = r,
                             .x_grad = p,
                             .before = r});
    }
}

void product_cases(void)
{
    if (both.gpu->reads_bytes) cases_as_bytes();
    if (both.gpu->makes_codes) {
        linear_to_codes(1, 64, 64, false, GANZ_ACTIVATION_NONE, false);
        linear_to_codes(1301, 512, 512, false, GANZ_ACTIVATION_NONE, false);
        linear_to_codes(3000, 128, 2048, true, GANZ_ACTIVATION_RELU, false);
        linear_to_codes(77, 256, 36, true, GANZ_ACTIVATION_NONE, false);
        linear_to_codes(3000, 128, 2048, true, GANZ_ACTIVATION_RELU, true);
        linear_to_codes(3000, 128, 2048, true, GANZ_ACTIVATION_SWISH, false);
        linear_to_codes(300, 128, 2048, true, GANZ_ACTIVATION_GELU, true);
        linear_to_codes(77, 256, 36, false, GANZ_ACTIVATION_GELU_SIGMOID, false);
    }
    const ganz_type p = product(), r = GANZ_REAL;
    linear((linear_kind){.rows = 1, .in = 64, .out = 64, .x = p, .y = p, .y_grad = p, .x_grad = p});
    linear((linear_kind){.rows = 33, .in = 512, .out = 512, .bias = true, .x = p, .y = p, .y_grad = p, .x_grad = r});
    linear((linear_kind){.rows = 300,
                         .in = 512,
                         .out = 2048,
                         .bias = true,
                         .activation = GANZ_ACTIVATION_RELU,
                         .drop = true,
                         .x = p,
                         .y = p,
                         .y_grad = p,
                         .x_grad = p});
    linear((linear_kind){.rows = 1301,
                         .in = 512,
                         .out = 2048,
                         .bias = true,
                         .activation = GANZ_ACTIVATION_RELU,
                         .x = p,
                         .y = p,
                         .y_grad = p,
                         .x_grad = r});
    linear((linear_kind){
        .rows = 129, .in = 2048, .out = 512, .bias = true, .add = true, .x = p, .y = p, .y_grad = p, .x_grad = p});
    linear((linear_kind){.rows = 1300, .in = 512, .out = 1536, .add = true, .x = p, .y = p, .y_grad = p, .x_grad = r});
    linear((linear_kind){.rows = 40, .in = 512, .out = 33288, .x = p, .y = p, .y_grad = p, .x_grad = p});
    linear((linear_kind){.rows = 77, .in = 128, .out = 1003, .x = p, .y = p, .y_grad = p, .x_grad = p});
    linear((linear_kind){.rows = 77, .in = 128, .out = 1003, .x = p, .y = r, .y_grad = r, .x_grad = r});
    linear((linear_kind){.rows = 513,
                         .in = 64,
                         .out = 192,
                         .bias = true,
                         .activation = GANZ_ACTIVATION_RELU,
                         .x = p,
                         .y = r,
                         .y_grad = r,
                         .x_grad = r,
                         .gap = 64});
    linear((linear_kind){.rows = 513,
                         .in = 64,
                         .out = 192,
                         .bias = true,
                         .x = r,
                         .y = p,
                         .y_grad = r,
                         .x_grad = p,
                         .gap = 8,
                         .w_frozen = true});
    linear((linear_kind){
        .rows = 1000, .in = 512, .out = 512, .codes = true, .bias = true, .x = p, .y = r, .y_grad = r, .x_grad = p});
    linear((linear_kind){.rows = 600,
                         .in = 1024,
                         .out = 256,
                         .codes = true,
                         .bias = true,
                         .activation = GANZ_ACTIVATION_RELU,
                         .drop = true,
                         .x = p,
                         .y = r,
                         .y_grad = r,
                         .x_grad = p});
    linear((linear_kind){.rows = 600,
                         .in = 1024,
                         .out = 256,
                         .codes = true,
                         .by_row = true,
                         .bias = true,
                         .activation = GANZ_ACTIVATION_RELU,
                         .drop = true,
                         .x = p,
                         .y = r,
                         .y_grad = r,
                         .x_grad = p});
    linear((linear_kind){
        .rows = 77, .in = 128, .out = 1003, .codes = true, .by_row = true, .x = p, .y = p, .y_grad = p, .x_grad = p});
    linear((linear_kind){
        .rows = 1000, .in = 2048, .out = 512, .codes = true, .x = p, .y = p, .y_grad = p, .x_grad = p, .add = true});
    smooth_cases();
}
