/* Updates of parameters. Sums over a tensor are made block by block in double: neither size nor threads show. */
#include <math.h>

#include "backend/cpu_backend.h"
#include "backend/cpu_math.h"

/* Adafactor as Tensor2Tensor uses it: no momentum, update clipped to RMS 1, rate times the tensor's own RMS. */
#define TINY ((real)1e-30) /* added to squares */
#define LEAST_SCALE 1e-3   /* of a tensor's RMS */
#define CLIP 1.0           /* of an update's RMS */

typedef struct update_job {
    const ganz_update_call *c;
    const ganz_update_item *item;
    int rows, cols;   /* of blocks: vectors are cut into rows too */
    real *row_factor; /* (rows) 1 / sqrt(vr / mean(vr)) */
    real *col_factor; /* (cols) 1 / sqrt(vc) */
    real *col_sum;    /* (blocks, cols) */
    double *row_sum;  /* (blocks): of squares; later of updates */
    double *old_sum;  /* (blocks): of squares of old values */
    real rate;        /* of this tensor, clipping included */
} update_job;

static int last_row(const update_job *job, int block)
{
    const int end = (block + 1) * GANZ_CPU_BLOCK;
    return end < job->rows ? end : job->rows;
}

/* ---- matrices ----------------------------------------------------------------------------------- */

/* Returns the sum of g^2 + TINY; adds each to its column. */
GANZ_CLONES static real square_row(const real *g, int n, real *col_sum)
{
    real sum;
    for (int i = 0; i < n; i++) col_sum[i] += g[i] * g[i] + TINY;
    LANE_SUM(sum, n, i, g[i] * g[i] + TINY);
    return sum;
}

static void square_blocks(void *context, int64_t begin, int64_t end, int worker)
{
    const update_job *const job = context;
    const real decay = (real)job->c->decay;
    const size_t n = (size_t)job->cols;
    (void)worker;
    for (int block = (int)begin; block < (int)end; block++) {
        real *const col_sum = job->col_sum + (size_t)block * n;
        for (size_t i = 0; i < n; i++) col_sum[i] = 0;
        for (int row = block * GANZ_CPU_BLOCK; row < last_row(job, block); row++) {
            const real mean = square_row(job->item->grad + (size_t)row * n, job->cols, col_sum) / (real)n;
            job->item->slots[row] = decay * job->item->slots[row] + (1 - decay) * mean;
        }
    }
}

static void column_slots(void *context, int64_t begin, int64_t end, int worker)
{
    const update_job *const job = context;
    const real decay = (real)job->c->decay;
    real *const vc = job->item->slots + job->rows;
    (void)worker;
    for (int64_t col = begin; col < end; col++) {
        double sum = 0;
        for (int b = 0; b < ganz_cpu_blocks(job->rows); b++)
            sum += (double)job->col_sum[(size_t)b * (size_t)job->cols + (size_t)col];
        vc[col] = decay * vc[col] + (1 - decay) * (real)(sum / job->rows);
        job->col_factor[col] = 1 / real_sqrt(vc[col]);
    }
}

static void row_factors(update_job *job)
{
    const real *const vr = job->item->slots;
    double sum = 0;
    for (int row = 0; row < job->rows; row++) sum += (double)vr[row];
    const real mean = (real)(sum / job->rows);
    for (int row = 0; row < job->rows; row++) job->row_factor[row] = 1 / real_sqrt(vr[row] / mean);
}

/* Sum of the squares of a row's update. */
GANZ_CLONES static real update_square(const real *g, int n, real factor, const real *col)
{
    real sum;
    LANE_SUM(sum, n, i, (g[i] * factor * col[i]) * (g[i] * factor * col[i]));
    return sum;
}

GANZ_CLONES static real square_sum(const real *w, int n)
{
    real sum;
    LANE_SUM(sum, n, i, w[i] * w[i]);
    return sum;
}

GANZ_CLONES static void matrix_row_step(real *g, real *w, int n, real factor, const real *col, real rate)
{
    for (int i = 0; i < n; i++) {
        w[i] = w[i] - rate * (g[i] * factor * col[i]);
        g[i] = 0;
    }
}

static void matrix_sums(void *context, int64_t begin, int64_t end, int worker)
{
    const update_job *const job = context;
    (void)worker;
    for (int block = (int)begin; block < (int)end; block++) {
        job->row_sum[block] = job->old_sum[block] = 0;
        for (int row = block * GANZ_CPU_BLOCK; row < last_row(job, block); row++) {
            const size_t at = (size_t)row * (size_t)job->cols;
            job->row_sum[block] +=
                (double)update_square(job->item->grad + at, job->cols, job->row_factor[row], job->col_factor);
            job->old_sum[block] += (double)square_sum(job->item->value + at, job->cols);
        }
    }
}

static void matrix_steps(void *context, int64_t begin, int64_t end, int worker)
{
    const update_job *const job = context;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        const size_t at = (size_t)row * (size_t)job->cols;
        matrix_row_step(job->item->grad + at, job->item->value + at, job->cols, job->row_factor[row], job->col_factor,
                        job->rate);
    }
}

/* rate / max(1, RMS of the update) * max(RMS of the old values, 1e-3) */
static real clipped_rate(const update_job *job)
{
    const double count = (double)job->item->rows * job->item->cols;
    double update = 0, old = 0;
    for (int b = 0; b < ganz_cpu_blocks(job->rows); b++) {
        update += job->row_sum[b];
        old += job->old_sum[b];
    }
    const double clip = fmax(1.0, sqrt(update / count) / CLIP), scale = fmax(sqrt(old / count), LEAST_SCALE);
    return (real)(job->c->rate * scale / clip);
}

static void adafactor_matrix(ganz_cpu *cpu, update_job *job)
{
    const int blocks = ganz_cpu_blocks(job->rows);
    ganz_pool_run(cpu->pool, blocks, 1, square_blocks, job);
    ganz_pool_run(cpu->pool, job->cols, ganz_cpu_grain(blocks), column_slots, job);
    row_factors(job);
    ganz_pool_run(cpu->pool, blocks, 1, matrix_sums, job);
    job->rate = clipped_rate(job);
    ganz_pool_run(cpu->pool, job->rows, GANZ_CPU_BLOCK, matrix_steps, job);
}

/* ---- vectors ------------------------------------------------------------------------------------ */

/* Vectors are short: no threads. v = decay v + (1 - decay) (g^2 + TINY), update g / sqrt(v). */
static void adafactor_vector(update_job *job)
{
    const ganz_update_item *const item = job->item;
    const size_t count = (size_t)item->rows * (size_t)item->cols;
    const real decay = (real)job->c->decay;
    job->rows = 1; /* one block of sums */
    job->row_sum[0] = job->old_sum[0] = 0;
    for (size_t i = 0; i < count; i++) {
        real *const v = &item->slots[i];
        *v = decay * *v + (1 - decay) * (item->grad[i] * item->grad[i] + TINY);
        const double update = (double)(item->grad[i] / real_sqrt(*v));
        job->row_sum[0] += update * update;
        job->old_sum[0] += (double)item->value[i] * (double)item->value[i];
    }
    const real rate = clipped_rate(job);
    for (size_t i = 0; i < count; i++) {
        item->value[i] = item->value[i] - rate * (item->grad[i] / real_sqrt(item->slots[i]));
        item->grad[i] = 0;
    }
}

/* ---- calls -------------------------------------------------------------------------------------- */

void ganz_cpu_adafactor(ganz_backend *be, const ganz_update_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    for (int i = 0; i < c->count; i++) {
        const ganz_update_item *const item = &c->items[i];
        const size_t blocks = (size_t)ganz_cpu_blocks(item->rows), rows = (size_t)item->rows, cols = (size_t)item->cols;
        double *const sums = ganz_cpu_scratch(cpu, 2 * blocks + rows + cols + blocks * cols, sizeof(double));
        if (!sums) return;
        update_job job = {.c = c, .item = item, .rows = item->rows, .cols = item->cols};
        job.row_sum = sums;
        job.old_sum = sums + blocks;
        job.row_factor = (real *)(sums + 2 * blocks);
        job.col_factor = job.row_factor + rows;
        job.col_sum = job.col_factor + cols;
        if (item->matrix) adafactor_matrix(cpu, &job);
        else adafactor_vector(&job);
    }
}

typedef struct adam_job {
    const ganz_update_item *item;
    real beta1, beta2, epsilon, rate, unbias; /* rate / (1 - beta1^t); 1 / (1 - beta2^t) */
} adam_job;

GANZ_CLONES static void adam_run(const adam_job *job, int64_t begin, int64_t end)
{
    const int64_t count = (int64_t)job->item->rows * job->item->cols;
    real *const m = job->item->slots, *const v = m + count, *const g = job->item->grad, *const w = job->item->value;
    const real b1 = job->beta1, b2 = job->beta2, epsilon = job->epsilon, rate = job->rate, unbias = job->unbias;
    for (int64_t i = begin; i < end; i++) {
        m[i] = b1 * m[i] + (1 - b1) * g[i];
        v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
        w[i] = w[i] - rate * m[i] / (real_sqrt(v[i] * unbias) + epsilon);
        g[i] = 0;
    }
}

static void adam_elements(void *context, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    adam_run(context, begin, end);
}

void ganz_cpu_adam(ganz_backend *be, const ganz_update_call *c)
{
    adam_job job = {.beta1 = (real)c->beta1, .beta2 = (real)c->beta2, .epsilon = (real)c->epsilon};
    job.rate = (real)(c->rate / (1 - pow(c->beta1, (double)c->step)));
    job.unbias = (real)(1 / (1 - pow(c->beta2, (double)c->step)));
    for (int i = 0; i < c->count; i++) {
        job.item = &c->items[i];
        ganz_pool_run(ganz_cpu_of(be)->pool, (int64_t)job.item->rows * job.item->cols, GANZ_CPU_GRAIN, adam_elements,
                      &job);
    }
}

typedef struct average_job {
    real *to;
    const real *from;
    real keep, take;
} average_job;

GANZ_CLONES static void average_run(const average_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) job->to[i] = job->to[i] * job->keep + job->from[i] * job->take;
}

static void average_elements(void *context, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    average_run(context, begin, end);
}

void ganz_cpu_average(ganz_backend *be, real *to, const real *from, size_t count, double keep)
{
    average_job job = {to, from, (real)keep, (real)(1 - keep)};
    ganz_pool_run(ganz_cpu_of(be)->pool, (int64_t)count, GANZ_CPU_GRAIN, average_elements, &job);
}

typedef struct add_job {
    real *to;
    const real *from;
} add_job;

GANZ_CLONES static void add_run(const add_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) job->to[i] += job->from[i];
}

static void add_elements(void *context, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    add_run(context, begin, end);
}

void ganz_cpu_add(ganz_backend *be, real *to, const real *from, size_t count)
{
    add_job job = {to, from};
    ganz_pool_run(ganz_cpu_of(be)->pool, (int64_t)count, GANZ_CPU_GRAIN, add_elements, &job);
}

void ganz_cpu_add_rows(ganz_backend *be, double *to, const double *from, int rows, int cols)
{
    (void)be;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) to[c] += from[r * cols + c];
}
