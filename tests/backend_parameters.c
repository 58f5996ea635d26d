/* Codes, operands of weights, updates: CPU against CUDA, and Adafactor against worked numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend_case.h"

#define RUN(entry, c, g) (both.cpu->entry(both.cpu, &(c)), both.gpu->entry(both.gpu, &(g)))

/* ---- codes -------------------------------------------------------------------------------------- */

typedef struct quantize_kind {
    int rows, cols, p;
    bool is_signed, add, frozen;
    ganz_type x, codes, code_grad, x_grad;
    double z;
} quantize_kind;

static void quantize(quantize_kind k)
{
    begin("quantize %d x %d, p %d%s, types %d %d %d %d", k.rows, k.cols, k.p, k.is_signed ? "" : " unsigned", k.x,
          k.codes, k.code_grad, k.x_grad);
    const mats x = random_matrix(k.rows, k.cols, k.cols + 8, k.x, 1),
               codes = nan_matrix(k.rows, k.cols, k.cols, k.codes);
    const mats code_grad = random_matrix(k.rows, k.cols, k.cols, k.code_grad, 1);
    const mats x_grad =
        k.add ? random_matrix(k.rows, k.cols, k.cols, k.x_grad, 1) : nan_matrix(k.rows, k.cols, k.cols, k.x_grad);
    const two z = equal_reals(1, k.z), scale = nan_reals(1), z_grad = equal_reals(1, 0.25);
    const int64_t before = 3;
    const two clipped = bytes_of(&before, sizeof before);
    both.cpu->scales(both.cpu, z.cpu, scale.cpu, 1, false, 1);
    both.gpu->scales(both.gpu, z.gpu, scale.gpu, 1, false, 1);
    same_bytes("step", scale, sizeof(real));
    ganz_quantize_call c = {.p = k.p, .is_signed = k.is_signed, .x_grad_add = k.add}, g = c;
#define SIDE(s, side)                                                                                                 \
    s.x = x.side, s.codes = codes.side, s.scale = scale.side, s.clipped = clipped.side, s.code_grad = code_grad.side, \
    s.x_grad = x_grad.side, s.z_grad = k.frozen ? NULL : z_grad.side
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    RUN(quantize, c, g);
    same_matrix("codes", codes, 0);
    same_bytes("clipped", clipped, sizeof before);
    RUN(quantize_grad, c, g);
    same_matrix("x_grad", x_grad, k.add || k.code_grad != k.x_grad ? row_tolerance(k.x_grad) : 0);
    same_reals("z_grad", z_grad, 1, 1e-3); /* terms of both signs cancel */
    expect_no_failure();
}

static void largest(int rows, int cols, ganz_type type)
{
    begin("largest of %d x %d, type %d", rows, cols, type);
    const mats x = random_matrix(rows, cols, cols + 4, type, 2);
    const two low = equal_reals(1, 0.1), high = equal_reals(1, 100);
    both.cpu->largest(both.cpu, &x.cpu, low.cpu);
    both.gpu->largest(both.gpu, &x.gpu, low.gpu);
    both.cpu->largest(both.cpu, &x.cpu, high.cpu);
    both.gpu->largest(both.gpu, &x.gpu, high.gpu);
    same_bytes("raised", low, sizeof(real));
    same_bytes("kept", high, sizeof(real));
    expect_no_failure();
}

static void scales(void)
{
    begin("steps");
    real z[200];
    for (int i = 0; i < 200; i++) z[i] = (real)(-26 + 0.1937 * i); /* beyond both ends too */
    const two from = bytes_of(z, sizeof z), to = nan_reals(200);
    for (int turn = 0; turn < 4; turn++) {
        const bool power_of_two = turn % 2 == 1;
        const real factor = turn < 2 ? 1 : 1 / (real)0.9;
        both.cpu->scales(both.cpu, from.cpu, to.cpu, 200, power_of_two, factor);
        both.gpu->scales(both.gpu, from.gpu, to.gpu, 200, power_of_two, factor);
        same_bytes(power_of_two ? "2^rint(z)" : "2^z", to, sizeof z);
    }
    expect_no_failure();
}

/* ---- operands of weights ------------------------------------------------------------------------ */

static void refresh(void)
{
    enum { COUNT = 8 };
    const int sizes[COUNT] = {1, 5, 512 * 512, 100003, 64, 2048, 1003 * 64, 37 * 100},
              rows[COUNT] = {[6] = 1003, [7] = 37};
    const int p[COUNT] = {0, 127, 127, 0, 31, 127, 31, 127};
    const bool values[COUNT] = {[5] = true};
    begin("refresh");
    const two range = equal_reals(1, 0.07);
    for (int turn = 0; turn < 2; turn++) { /* the second goes by the same plan with other numbers */
        ganz_refresh_item c[COUNT], g[COUNT];
        mats copy[COUNT];
        two scale[COUNT];
        memset(c, turn, sizeof c); /* padding must not matter */
        for (int i = 0; i < COUNT; i++) {
            const size_t count = (size_t)sizes[i];
            const two master = i == 4 ? equal_reals(count, 0) : random_reals(count, 0.1);
            copy[i] = nan_matrix(1, sizes[i], sizes[i], values[i] ? GANZ_REAL : product());
            scale[i] = equal_reals(rows[i] > 0 ? (size_t)rows[i] : 1, 9);
            c[i].rows = rows[i];
            c[i].master = master.cpu, c[i].count = count, c[i].copy = copy[i].cpu.data, c[i].scale = scale[i].cpu;
            c[i].p = p[i], c[i].values = values[i];
            c[i].power_of_two = i == 2 || i == 5 || i == 7, c[i].range = i == 1 ? range.cpu : NULL;
            g[i] = c[i];
            g[i].master = master.gpu, g[i].copy = copy[i].gpu.data, g[i].scale = scale[i].gpu;
            if (c[i].range) g[i].range = range.gpu;
            c[i].bytes = NULL;
            g[i].bytes = both.gpu->reads_bytes && p[i] > 0 && !values[i] ? bytes_of(NULL, count).gpu : NULL;
        }
        for (int again = 0; again < 2; again++) {
            both.cpu->refresh(both.cpu, c, COUNT);
            both.gpu->refresh(both.gpu, g, COUNT);
        }
        for (int i = 0; i < COUNT; i++) {
            same_matrix(p[i] > 0 ? "codes" : "copy", copy[i], p[i] > 0 || product() == GANZ_REAL ? 0 : 4e-3);
            same_as_bytes("bytes", &copy[i].gpu, g[i].bytes);
            same_bytes("step", scale[i], (rows[i] > 0 ? (size_t)rows[i] : 1) * sizeof(real));
        }
    }
    expect_no_failure();
}

/* Scales that are given, and their gradients. */
static void learned_rows(int rows, int cols, int p)
{
    begin("learned steps of %d rows of %d weights, p %d", rows, cols, p);
    const size_t count = (size_t)rows * (size_t)cols;
    const two master = random_reals(count, 0.1), grad = random_reals(count, 1), z_grad = random_reals((size_t)rows, 1);
    const two z = equal_reals((size_t)rows, log2(0.15 / p)), scale = nan_reals((size_t)rows); /* some are clipped */
    const mats copy = nan_matrix(rows, cols, cols, product());
    both.cpu->scales(both.cpu, z.cpu, scale.cpu, rows, false, 1);
    both.gpu->scales(both.gpu, z.gpu, scale.gpu, rows, false, 1);
    const ganz_refresh_item items[2] = {{.master = master.cpu,
                                         .count = count,
                                         .copy = copy.cpu.data,
                                         .scale = scale.cpu,
                                         .rows = rows,
                                         .p = p,
                                         .known = true},
                                        {.master = master.gpu,
                                         .count = count,
                                         .copy = copy.gpu.data,
                                         .scale = scale.gpu,
                                         .rows = rows,
                                         .p = p,
                                         .known = true}};
    both.cpu->refresh(both.cpu, &items[0], 1);
    both.gpu->refresh(both.gpu, &items[1], 1);
    same_matrix("codes", copy, 0);
    const ganz_rows_grad_call c = {rows, cols, p, master.cpu, scale.cpu, grad.cpu, z_grad.cpu},
                              g = {rows, cols, p, master.gpu, scale.gpu, grad.gpu, z_grad.gpu};
    RUN(rows_grad, c, g);
    same_bytes("gradient", grad, count * sizeof(real));
    same_reals("gradient of steps", z_grad, (size_t)rows, 1e-4);
    expect_no_failure();
}

/* ---- updates ------------------------------------------------------------------------------------ */

enum { TENSORS = 9 };
static const int shapes[TENSORS][3] = {{512, 512, 1}, {1, 512, 0},  {1003, 64, 1}, {3, 5, 1},     {32, 512, 1},
                                       {1, 1, 0},     {40, 300, 1}, {1, 2048, 0},  {600, 2048, 1}};

typedef struct tensors {
    ganz_update_item cpu[TENSORS], gpu[TENSORS];
    two value[TENSORS], grad[TENSORS], slots[TENSORS];
} tensors;

static tensors make_tensors(bool adam)
{
    tensors t;
    for (int i = 0; i < TENSORS; i++) {
        const int rows = shapes[i][0], cols = shapes[i][1];
        const size_t count = (size_t)rows * (size_t)cols;
        const size_t slots = adam ? 2 * count : shapes[i][2] ? (size_t)(rows + cols) : count;
        t.value[i] = i == 1 ? equal_reals(count, 0) : random_reals(count, 0.1);
        t.grad[i] = random_reals(count, 0.01);
        t.slots[i] = equal_reals(slots, 0);
        t.cpu[i] = (ganz_update_item){t.value[i].cpu, t.grad[i].cpu, t.slots[i].cpu, rows, cols, shapes[i][2] != 0};
        t.gpu[i] = (ganz_update_item){t.value[i].gpu, t.grad[i].gpu, t.slots[i].gpu, rows, cols, shapes[i][2] != 0};
    }
    return t;
}

static void updates(bool adam)
{
    begin("%s, %d tensors, 3 steps", adam ? "adam" : "adafactor", TENSORS);
    tensors t = make_tensors(adam);
    for (int step = 0; step < 3; step++) {
        ganz_update_call c = {.items = t.cpu,
                              .count = TENSORS,
                              .rate = 0.01,
                              .decay = 1 - pow(step + 1, -0.8),
                              .beta1 = 0.9,
                              .beta2 = 0.98,
                              .epsilon = 1e-9,
                              .step = step + 1},
                         g = c;
        g.items = t.gpu;
        if (adam) RUN(adam, c, g);
        else RUN(adafactor, c, g);
        for (int i = 0; i < TENSORS; i++) {
            const size_t count = (size_t)shapes[i][0] * (size_t)shapes[i][1];
            const size_t slots = adam ? 2 * count : shapes[i][2] ? (size_t)(shapes[i][0] + shapes[i][1]) : count;
            same_reals("value", t.value[i], count, 1e-6);
            same_reals("grad is zero", t.grad[i], count, 0);
            same_reals("slots", t.slots[i], slots, 1e-5);
            real *fresh = malloc(count * sizeof *fresh); /* the next gradient, the same on both */
            for (size_t j = 0; j < count; j++)
                fresh[j] = (real)(0.01 * sin((double)(j * 7 + (size_t)step * 3 + (size_t)i)));
            both.cpu->upload(both.cpu, t.grad[i].cpu, fresh, count * sizeof *fresh);
            both.gpu->upload(both.gpu, t.grad[i].gpu, fresh, count * sizeof *fresh);
            free(fresh);
        }
    }
    expect_no_failure();
}

/* Two steps worked out in double precision from Tensor2Tensor's formula. */
static void adafactor_worked(void)
{
    static const real start[6] = {0.1f, -0.2f, 0.3f, 0.05f, 0.4f, -0.1f};
    static const real grads[2][6] = {{0.01f, -0.02f, 0.03f, 0.002f, 0.001f, -0.004f},
                                     {0.02f, 0.01f, -0.01f, 0.003f, -0.002f, 0.05f}};
    static const double wanted[2][6] = {
        {0.097903503, -0.197864652, 0.297880740, 0.046576435, 0.399128248, -0.097692841},
        {0.093938706, -0.200046739, 0.298644016, 0.046097837, 0.399479453, -0.100764062}};
    begin("adafactor, worked example");
    const two value = bytes_of(start, sizeof start), grad = nan_reals(6), slots = equal_reals(5, 0);
    const ganz_update_item item = {value.gpu, grad.gpu, slots.gpu, 2, 3, true};
    for (int t = 0; t < 2; t++) {
        real got[6];
        both.gpu->upload(both.gpu, grad.gpu, grads[t], sizeof grads[t]);
        const ganz_update_call call = {.items = &item, .count = 1, .rate = 0.01, .decay = 1 - pow(t + 1, -0.8)};
        both.gpu->adafactor(both.gpu, &call);
        both.gpu->download(both.gpu, got, value.gpu, sizeof got);
        for (int i = 0; i < 6; i++)
            expect("value", fabs((double)got[i] - wanted[t][i]) < 2e-8, (double)got[i], wanted[t][i]);
    }
    expect_no_failure();
}

static void average(void)
{
    begin("average");
    const two to = random_reals(100003, 1), from = random_reals(100003, 1);
    both.cpu->average(both.cpu, to.cpu, from.cpu, 100003, 0.875);
    both.gpu->average(both.gpu, to.gpu, from.gpu, 100003, 0.875);
    same_reals("to", to, 100003, 1e-6);
    expect_no_failure();
}

static void add(void)
{
    begin("add");
    const two to = random_reals(100003, 1), from = random_reals(100003, 1);
    both.cpu->add(both.cpu, to.cpu, from.cpu, 100003);
    both.gpu->add(both.gpu, to.gpu, from.gpu, 100003);
    same_bytes("to", to, 100003 * sizeof(real));
    expect_no_failure();
}

void parameter_cases(void)
{
    const ganz_type p = product(), r = GANZ_REAL;
    quantize((quantize_kind){1, 64, 127, true, false, false, r, p, p, r, -5.3});
    quantize((quantize_kind){300, 512, 127, true, true, false, r, p, p, r, -6.1});
    quantize((quantize_kind){1001, 2048, 31, true, false, false, p, p, p, p, -3.7});
    quantize((quantize_kind){70, 36, 255, false, false, true, p, r, r, p, -7});
    if (!both.gpu->host) quantize((quantize_kind){70, 64, 127, true, false, false, r, GANZ_S8, r, r, -5});
    if (!both.gpu->host) quantize((quantize_kind){70, 64, 255, false, false, false, r, GANZ_U8, r, r, -8});
    largest(1, 4, r);
    largest(3000, 512, p);
    scales();
    refresh();
    learned_rows(1003, 64, 7);
    learned_rows(37, 101, 127);
    learned_rows(512, 2048, 7);
    updates(false);
    updates(true);
    adafactor_worked();
    average();
    add();
}
