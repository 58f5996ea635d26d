/* Dense layers: products, and what is done with their results. */
#include "backend/cpu_activation.h"
#include "backend/cpu_backend.h"
#include "backend/cpu_gemm.h"
#include "backend/cpu_math.h"

#include <string.h>

typedef struct linear_job {
    const ganz_linear_call *c;
    real factor;         /* the worth of a sum of products: the product of the scales */
    const real *factors; /* (out) or NULL: one for each column */
} linear_job;

/* ---- forward ------------------------------------------------------------------------------------ */

GANZ_CLONES static void scale_and_bias_row(real *y, int n, real factor, const real *factors, const real *bias)
{
    if (factors)
        for (int i = 0; i < n; i++) y[i] = y[i] * factors[i];
    else if (factor != 1)
        for (int i = 0; i < n; i++) y[i] = y[i] * factor;
    if (bias)
        for (int i = 0; i < n; i++) y[i] = y[i] + bias[i];
}

GANZ_CLONES static void drop_row(real *y, int n, const uint8_t *mask, real scale)
{
    for (int i = 0; i < n; i++) y[i] = y[i] * (real)mask[i] * scale;
}

static const uint8_t *mask_line(const ganz_linear_call *c, int row)
{
    return c->drop.mask + (size_t)(c->drop.group ? c->drop.group[row] : row) * (size_t)c->out;
}

static void finish_part(const void *context, const ganz_block *part)
{
    const linear_job *const job = context;
    const ganz_linear_call *const c = job->c;
    for (int row = part->row; row < part->row + part->rows; row++) {
        real *const line = real_row(&c->y, row) + part->col;
        scale_and_bias_row(line, part->cols, job->factor, job->factors ? job->factors + part->col : NULL,
                           c->bias ? c->bias + part->col : NULL);
        if (c->before.data) memcpy(real_row(&c->before, row) + part->col, line, (size_t)part->cols * sizeof *line);
        ganz_cpu_activate_row(c->activation, line, part->cols);
        if (c->drop.mask) drop_row(line, part->cols, mask_line(c, row) + part->col, c->drop.scale);
    }
}

void ganz_cpu_linear(ganz_backend *be, const ganz_linear_call *c)
{
    GANZ_ASSERT(c->x.m.type == GANZ_REAL && c->w.m.type == GANZ_REAL && c->y.type == GANZ_REAL);
    GANZ_ASSERT(c->activation != GANZ_ACTIVATION_NONE || !c->drop.mask);
    if (!ganz_cpu_gemm_ready(ganz_cpu_of(be))) return;
    linear_job job = {.c = c, .factor = scale_of(&c->x) * scale_of(&c->w)};
    if (c->w_by_row) {
        real *const factors = ganz_cpu_scratch(ganz_cpu_of(be), (size_t)c->out, sizeof *factors);
        if (!factors) return;
        for (int i = 0; i < c->out; i++) factors[i] = scale_of(&c->x) * c->w.scale[i];
        job.factors = factors;
    }
    ganz_cpu_gemm_shared(ganz_cpu_of(be),
                         &(ganz_cpu_product){.m = c->rows,
                                             .n = c->out,
                                             .k = c->in,
                                             .a = ganz_cpu_plain(c->x.m.data, c->x.m.ld),
                                             .b = ganz_cpu_transposed(c->w.m.data, c->w.m.ld),
                                             .c = c->y.data,
                                             .ldc = c->y.ld,
                                             .alpha = 1},
                         finish_part, &job);
}

/* ---- backward ----------------------------------------------------------------------------------- */

/* Results of 0 were cut by the relu or dropped. */
GANZ_CLONES static void relu_grad_row(const real *y, int n, real scale, real *grad)
{
    for (int i = 0; i < n; i++) grad[i] = y[i] > 0 ? grad[i] * scale : 0;
}

static void relu_grad_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const ganz_linear_call *const c = ((const linear_job *)context)->c;
    (void)worker;
    for (int row = (int)begin; row < (int)end; row++)
        relu_grad_row(real_row(&c->y, row), c->out, c->drop.mask ? c->drop.scale : 1, real_row(&c->y_grad, row));
}

static void smooth_grad_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const ganz_linear_call *const c = ((const linear_job *)context)->c;
    (void)worker;
    for (int row = (int)begin; row < (int)end; row++) {
        real *const grad = real_row(&c->y_grad, row);
        if (c->drop.mask) drop_row(grad, c->out, mask_line(c, row), c->drop.scale);
        ganz_cpu_activation_grad_row(c->activation, real_row(&c->before, row), c->out, grad);
    }
}

GANZ_CLONES static void add_to(real *sum, const real *x, int n)
{
    for (int i = 0; i < n; i++) sum[i] += x[i];
}

enum { BIAS_COLS = 64 };

/* An item is a strip of columns: a thread adds down all rows, in blocks so that long sums stay accurate. */
static void bias_grad_strips(void *context, int64_t begin, int64_t end, int worker)
{
    const ganz_linear_call *const c = ((const linear_job *)context)->c;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int col = (int)i * BIAS_COLS, n = c->out - col < BIAS_COLS ? c->out - col : BIAS_COLS;
        real total[BIAS_COLS] = {0};
        for (int block = 0; block < c->rows; block += GANZ_CPU_BLOCK) {
            real sum[BIAS_COLS] = {0};
            for (int row = block; row < c->rows && row < block + GANZ_CPU_BLOCK; row++)
                add_to(sum, real_row(&c->y_grad, row) + col, n);
            add_to(total, sum, n);
        }
        add_to(c->bias_grad + col, total, n);
    }
}

void ganz_cpu_bias_grad(ganz_backend *be, const ganz_linear_call *c)
{
    linear_job job = {.c = c};
    ganz_pool_run(ganz_cpu_of(be)->pool, (c->out + BIAS_COLS - 1) / BIAS_COLS, 1, bias_grad_strips, &job);
}

GANZ_CLONES static void scale_row(real *x, const real *factors, int n)
{
    for (int i = 0; i < n; i++) x[i] = x[i] * factors[i];
}

/* Gradients of sums in units of codes, where each output has a scale of its own. */
static void scale_grad_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const ganz_linear_call *const c = ((const linear_job *)context)->c;
    (void)worker;
    for (int row = (int)begin; row < (int)end; row++) scale_row(real_row(&c->y_grad, row), c->w.scale, c->out);
}

static void w_grad(ganz_cpu *cpu, const ganz_linear_call *c)
{
    ganz_cpu_gemm_shared(cpu,
                         &(ganz_cpu_product){.m = c->out,
                                             .n = c->in,
                                             .k = c->rows,
                                             .a = ganz_cpu_transposed(c->y_grad.data, c->y_grad.ld),
                                             .b = ganz_cpu_plain(c->x.m.data, c->x.m.ld),
                                             .c = c->w_grad,
                                             .ldc = c->in,
                                             .alpha = scale_of(&c->x),
                                             .add = true},
                         NULL, NULL);
}

static void x_grad(ganz_cpu *cpu, const ganz_linear_call *c)
{
    ganz_cpu_gemm_shared(cpu,
                         &(ganz_cpu_product){.m = c->rows,
                                             .n = c->in,
                                             .k = c->out,
                                             .a = ganz_cpu_plain(c->y_grad.data, c->y_grad.ld),
                                             .b = ganz_cpu_plain(c->w.m.data, c->w.m.ld),
                                             .c = c->x_grad.data,
                                             .ldc = c->x_grad.ld,
                                             .alpha = c->w_by_row ? 1 : scale_of(&c->w),
                                             .add = c->x_grad_add},
                         NULL, NULL);
}

void ganz_cpu_linear_grad(ganz_backend *be, const ganz_linear_call *c)
{
    ganz_pool *const pool = ganz_cpu_of(be)->pool;
    linear_job job = {.c = c};
    GANZ_ASSERT(c->y_grad.type == GANZ_REAL);
    if (!ganz_cpu_gemm_ready(ganz_cpu_of(be))) return;
    const bool smooth = ganz_activation_is_smooth(c->activation);
    GANZ_ASSERT(!smooth || (c->before.data && c->before.type == GANZ_REAL));
    if (c->activation != GANZ_ACTIVATION_NONE)
        ganz_pool_run(pool, c->rows, ganz_cpu_grain(c->out), smooth ? smooth_grad_rows : relu_grad_rows, &job);
    if (c->bias_grad) ganz_cpu_bias_grad(be, c);
    if (c->w_grad) w_grad(ganz_cpu_of(be), c);
    if (!c->x_grad.data) return;
    if (c->w_by_row) ganz_pool_run(pool, c->rows, ganz_cpu_grain(c->out), scale_grad_rows, &job);
    x_grad(ganz_cpu_of(be), c);
}
