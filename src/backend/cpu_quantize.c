/* Codes of inputs, with learned scales and their gradients, and codes of weights, with scales from their largest
 * number. Rows in blocks, so that sums do not depend on threads. */
#include <math.h>
#include <string.h>

#include "backend/cpu_backend.h"
#include "backend/cpu_codes.h"
#include "backend/cpu_math.h"

/* p is odd, so p + 1/2 rounds to the even p + 1: only numbers strictly below it are inside the range. */
#define EDGE(p) ((real)(p) + (real)0.5)
#define LN2 ((real)0.693147180559945309417)

/* ---- activations -------------------------------------------------------------------------------- */

typedef struct quantize_job {
    const ganz_quantize_call *c;
    const ganz_rows *rows;
    real inv, low, high;
    int64_t *clipped; /* (blocks) or NULL */
    real *z;          /* (blocks) or NULL: sums for the gradient of z */
} quantize_job;

static quantize_job quantize_of(const ganz_cpu *cpu, const ganz_quantize_call *c)
{
    return (quantize_job){.c = c,
                          .rows = &cpu->kernel.rows,
                          .inv = 1 / *c->scale,
                          .low = c->is_signed ? -(real)c->p : 0,
                          .high = (real)c->p};
}

GANZ_CLONES static void codes_row(const real *x, int n, real inv, real low, real high, real *codes)
{
    for (int i = 0; i < n; i++) codes[i] = real_code(x[i] * inv, low, high);
}

GANZ_CLONES static int clipped_row(const real *x, int n, real inv, real low, real high)
{
    int count = 0;
    for (int i = 0; i < n; i++) count += !(x[i] * inv < EDGE(high) && x[i] * inv > low - (real)0.5);
    return count;
}

/* The same for columns with scales of their own. */
static int clipped_columns(const ganz_quantize_call *c, const real *x)
{
    int count = 0;
    for (int i = 0; i < c->x.cols; i++) {
        const real scaled = x[i] * c->column_inv[i], code = scaled + c->column_zero[i];
        count += !(code < EDGE(c->p) && code > -EDGE(c->p));
    }
    return count;
}

/* Codes in the type asked for. */
static void quantize_row(const quantize_job *job, int row)
{
    const ganz_quantize_call *const c = job->c;
    const real *const x = real_row(&c->x, row);
#ifndef GANZ_F64
    if (c->column_inv) {
        const ganz_columns columns = {c->column_inv, c->column_zero};
        GANZ_ASSERT(c->codes.type == GANZ_S8);
        job->rows->quantize_columns(x, c->x.cols, &columns, c->p, ganz_code_row(&c->codes, row));
        return;
    }
    if (c->codes.type == GANZ_S8) {
        job->rows->quantize(x, c->x.cols, job->inv, c->p, (int8_t *)c->codes.data + (size_t)row * (size_t)c->codes.ld);
        return;
    }
#endif
    codes_row(x, c->x.cols, job->inv, job->low, job->high, real_row(&c->codes, row));
}

static void quantize_blocks(void *context, int64_t begin, int64_t end, int worker)
{
    const quantize_job *const job = context;
    const ganz_quantize_call *const c = job->c;
    (void)worker;
    for (int block = (int)begin; block < (int)end; block++) {
        int64_t count = 0;
        for (int row = block * GANZ_CPU_BLOCK; row < c->x.rows && row < (block + 1) * GANZ_CPU_BLOCK; row++) {
            const real *const x = real_row(&c->x, row);
            quantize_row(job, row);
            if (job->clipped)
                count +=
                    c->column_inv ? clipped_columns(c, x) : clipped_row(x, c->x.cols, job->inv, job->low, job->high);
        }
        if (job->clipped) job->clipped[block] = count;
    }
}

void ganz_cpu_quantize(ganz_backend *be, const ganz_quantize_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    const int blocks = ganz_cpu_blocks(c->x.rows);
    quantize_job job = quantize_of(cpu, c);
    if (c->clipped && !(job.clipped = ganz_cpu_scratch(cpu, (size_t)blocks, sizeof *job.clipped))) return;
    ganz_pool_run(cpu->pool, blocks, 1, quantize_blocks, &job);
    for (int b = 0; job.clipped && b < blocks; b++) *c->clipped += job.clipped[b];
}

/* x_grad (+)= g inside the range; returns the sum of g * d(code) / d(log2 scale), still to be scaled by scale * ln 2.
 */
GANZ_CLONES static real quantize_grad_row(const quantize_job *job, const real *x, const real *g, real *x_grad)
{
    const int n = job->c->x.cols;
    const real inv = job->inv, low = job->low, high = job->high;
    real sum;
    LANE_SUM(sum, n, i,
             g[i] * (real_code(x[i] * inv, low, high) -
                     (x[i] * inv < EDGE(high) && x[i] * inv > low - (real)0.5 ? x[i] * inv : 0)));
    if (job->c->x_grad_add) {
        for (int i = 0; i < n; i++) x_grad[i] += x[i] * inv < EDGE(high) && x[i] * inv > low - (real)0.5 ? g[i] : 0;
    } else {
        for (int i = 0; i < n; i++) x_grad[i] = x[i] * inv < EDGE(high) && x[i] * inv > low - (real)0.5 ? g[i] : 0;
    }
    return sum;
}

static void quantize_grad_blocks(void *context, int64_t begin, int64_t end, int worker)
{
    const quantize_job *const job = context;
    const ganz_quantize_call *const c = job->c;
    (void)worker;
    for (int block = (int)begin; block < (int)end; block++) {
        real sum = 0;
        for (int row = block * GANZ_CPU_BLOCK; row < c->x.rows && row < (block + 1) * GANZ_CPU_BLOCK; row++)
            sum +=
                quantize_grad_row(job, real_row(&c->x, row), real_row(&c->code_grad, row), real_row(&c->x_grad, row));
        if (job->z) job->z[block] = sum * *c->scale * LN2;
    }
}

void ganz_cpu_quantize_grad(ganz_backend *be, const ganz_quantize_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    const int blocks = ganz_cpu_blocks(c->x.rows);
    quantize_job job = quantize_of(cpu, c);
    if (c->z_grad && !(job.z = ganz_cpu_scratch(cpu, (size_t)blocks, sizeof *job.z))) return;
    ganz_pool_run(cpu->pool, blocks, 1, quantize_grad_blocks, &job);
    if (c->z_grad) ganz_cpu_join(cpu, job.z, blocks, 1, 1, c->z_grad);
}

void ganz_cpu_scales(ganz_backend *be, const real *z, real *scale, int count, bool power_of_two, real factor)
{
    (void)be;
    for (int i = 0; i < count; i++) {
        const real kept = z[i] < -24 ? -24 : z[i] > 8 ? 8 : z[i];
        scale[i] = real_exp2(power_of_two ? (real)rint(kept) : kept) * factor;
    }
}

/* ---- largest magnitude -------------------------------------------------------------------------- */

GANZ_CLONES static real largest_row(const real *x, int64_t n)
{
    real lane[LANES] = {0}, m = 0;
    int64_t at = 0;
    for (; at + LANES <= n; at += LANES)
        for (int l = 0; l < LANES; l++) lane[l] = real_abs(x[at + l]) > lane[l] ? real_abs(x[at + l]) : lane[l];
    for (; at < n; at++) m = real_abs(x[at]) > m ? real_abs(x[at]) : m;
    for (int l = 0; l < LANES; l++) m = lane[l] > m ? lane[l] : m;
    return m;
}

typedef struct largest_job {
    const ganz_matrix *x;
    real *found; /* (blocks) */
} largest_job;

static void largest_blocks(void *context, int64_t begin, int64_t end, int worker)
{
    const largest_job *const job = context;
    (void)worker;
    for (int block = (int)begin; block < (int)end; block++) {
        real m = 0;
        for (int row = block * GANZ_CPU_BLOCK; row < job->x->rows && row < (block + 1) * GANZ_CPU_BLOCK; row++) {
            const real found = largest_row(real_row(job->x, row), job->x->cols);
            m = found > m ? found : m;
        }
        job->found[block] = m;
    }
}

void ganz_cpu_largest(ganz_backend *be, const ganz_matrix *x, real *largest)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    const int blocks = ganz_cpu_blocks(x->rows);
    largest_job job = {x, ganz_cpu_scratch(cpu, (size_t)blocks, sizeof(real))};
    if (!job.found) return;
    ganz_pool_run(cpu->pool, blocks, 1, largest_blocks, &job);
    for (int b = 0; b < blocks; b++) *largest = job.found[b] > *largest ? job.found[b] : *largest;
}

/* ---- weights ------------------------------------------------------------------------------------ */

typedef struct refresh_job {
    const ganz_refresh_item *item;
    real *found; /* per worker: the largest it saw; the order of a maximum does not show */
    real inv, scale;
} refresh_job;

static void refresh_largest(void *context, int64_t begin, int64_t end, int worker)
{
    const refresh_job *const job = context;
    const real largest = largest_row(job->item->master + begin, end - begin);
    if (largest > job->found[worker]) job->found[worker] = largest;
}

GANZ_CLONES static void codes_run(const real *w, int64_t n, real inv, real high, real scale, real *codes)
{
    for (int64_t i = 0; i < n; i++) codes[i] = real_code(w[i] * inv, -high, high) * scale;
}

static void refresh_codes(void *context, int64_t begin, int64_t end, int worker)
{
    const refresh_job *const job = context;
    const ganz_refresh_item *const item = job->item;
    (void)worker;
    codes_run(item->master + begin, end - begin, job->inv, (real)item->p, item->values ? job->scale : 1,
              (real *)item->copy + begin);
}

/* The smallest power of two that is not below. */
static real next_power(real scale)
{
    int exponent;
    const double part = frexp((double)scale, &exponent); /* 0.5 to 1 */
    return (real)ldexp(1, part == 0.5 ? exponent - 1 : exponent);
}

static real scale_for(const ganz_refresh_item *item, real largest)
{
    const real range = item->range ? *item->range : largest, scale = range > 0 ? range / (real)item->p : 1;
    return item->power_of_two ? next_power(scale) : scale;
}

static void refresh_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const ganz_refresh_item *const item = context;
    const int64_t cols = (int64_t)item->count / item->rows;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        const real *const w = item->master + row * cols;
        if (!item->known) item->scale[row] = scale_for(item, largest_row(w, cols));
        codes_run(w, cols, 1 / item->scale[row], (real)item->p, 1, (real *)item->copy + row * cols);
    }
}

static void rows_grad(void *context, int64_t begin, int64_t end, int worker)
{
    const ganz_rows_grad_call *const c = context;
    const ganz_quantize_call row_call = {.x = {.cols = c->cols}};
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        const quantize_job job = {.c = &row_call, .inv = 1 / c->scale[row], .low = -(real)c->p, .high = (real)c->p};
        real *const grad = c->grad + row * c->cols;
        const real sum = quantize_grad_row(&job, c->master + row * c->cols, grad, grad);
        c->z_grad[row] += sum * c->scale[row] * LN2;
    }
}

void ganz_cpu_rows_grad(ganz_backend *be, const ganz_rows_grad_call *c)
{
    ganz_rows_grad_call own = *c;
    ganz_pool_run(ganz_cpu_of(be)->pool, c->rows, ganz_cpu_grain(c->cols), rows_grad, &own);
}

static void refresh(ganz_cpu *cpu, refresh_job *job)
{
    const ganz_refresh_item *const item = job->item;
    real largest = 0;
    for (int i = 0; i < cpu->threads; i++) job->found[i] = 0;
    ganz_pool_run(cpu->pool, (int64_t)item->count, GANZ_CPU_GRAIN, refresh_largest, job);
    for (int i = 0; i < cpu->threads; i++) largest = job->found[i] > largest ? job->found[i] : largest;
    job->scale = scale_for(item, largest);
    job->inv = 1 / job->scale;
    *item->scale = job->scale;
    ganz_pool_run(cpu->pool, (int64_t)item->count, GANZ_CPU_GRAIN, refresh_codes, job);
}

void ganz_cpu_refresh(ganz_backend *be, const ganz_refresh_item *items, int count)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    refresh_job job = {.found = ganz_cpu_scratch(cpu, (size_t)cpu->threads, sizeof(real))};
    for (int i = 0; job.found && i < count; i++) {
        job.item = &items[i];
        ganz_refresh_item own = items[i];
        if (own.rows > 0)
            ganz_pool_run(cpu->pool, own.rows, ganz_cpu_grain((int)own.count / own.rows), refresh_rows, &own);
        else if (items[i].p > 0) refresh(cpu, &job);
        else memcpy(items[i].copy, items[i].master, items[i].count * sizeof(real));
    }
}
