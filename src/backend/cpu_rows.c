/* Embedding, and residual add with layer norm: row by row, forward and backward side by side. */
#include "backend/cpu_backend.h"
#include "backend/cpu_math.h"

/* Line of the mask for a token; NULL when nothing is dropped. */
static const uint8_t *mask_line(const ganz_drop *drop, int row, int cols)
{
    if (!drop->mask) return NULL;
    return drop->mask + (size_t)(drop->group ? drop->group[row] : row) * (size_t)cols;
}

/* y = mask * x * scale; y may be x. */
GANZ_CLONES static void drop_row(const real *x, int n, const uint8_t *mask, real scale, real *y)
{
    for (int i = 0; i < n; i++) y[i] = x[i] * (real)mask[i] * scale;
}

GANZ_CLONES static void add_row(const real *a, const real *b, int n, real *y)
{
    for (int i = 0; i < n; i++) y[i] = a[i] + b[i];
}

GANZ_CLONES static void add_dropped_row(const real *x, const real *delta, int n, const uint8_t *mask, real scale,
                                        real *y)
{
    for (int i = 0; i < n; i++) y[i] = x[i] + delta[i] * (real)mask[i] * scale;
}

/* ---- embedding ---------------------------------------------------------------------------------- */

GANZ_CLONES static void embed_row(const ganz_embed_call *c, int row)
{
    const int id = c->ids[row], n = c->cols;
    real *const out = c->out + (size_t)row * (size_t)n;
    const real *const timing = c->timing + (size_t)c->positions[row] * (size_t)n;
    const real *const start = id == c->start_id ? c->start : NULL;
    if (id < 0 || id == c->start_id) {
        for (int i = 0; i < n; i++) out[i] = start ? start[i] * c->root : 0;
    } else {
        const real *const entry = real_row(&c->table.m, id);
        const real scale = c->by_row ? c->table.scale[id] : scale_of(&c->table), root = c->root;
        for (int i = 0; i < n; i++) out[i] = (entry[i] * scale) * root;
    }
    if (c->extra)
        for (int i = 0; i < n; i++) out[i] = out[i] + c->extra[i];
    for (int i = 0; i < n; i++) out[i] = out[i] + timing[i];
}

static void embed_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const ganz_embed_call *const c = context;
    (void)worker;
    for (int row = (int)begin; row < (int)end; row++) {
        GANZ_ASSERT(c->ids[row] < c->vocab);
        embed_row(c, row);
        const uint8_t *const mask = mask_line(&c->drop, row, c->cols);
        real *const out = c->out + (size_t)row * (size_t)c->cols;
        if (mask) drop_row(out, c->cols, mask, c->drop.scale, out);
    }
}

void ganz_cpu_embed(ganz_backend *be, const ganz_embed_call *c)
{
    ganz_embed_call call = *c;
    ganz_pool_run(ganz_cpu_of(be)->pool, c->rows, ganz_cpu_grain(c->cols), embed_rows, &call);
}

/* to += drop(grad of one token) * scale. */
GANZ_CLONES static void embed_add(const ganz_embed_call *c, int row, real scale, real *to)
{
    const real *const grad = c->out_grad + (size_t)row * (size_t)c->cols;
    const uint8_t *const mask = mask_line(&c->drop, row, c->cols);
    if (mask) {
        const real factor = c->drop.scale * scale;
        for (int i = 0; i < c->cols; i++) to[i] += grad[i] * (real)mask[i] * factor;
    } else {
        for (int i = 0; i < c->cols; i++) to[i] += grad[i] * scale;
    }
}

/* Where the gradients of an id are added up; NULL: nowhere. */
static real *embed_grad_of(const ganz_embed_call *c, int id)
{
    if (id == c->start_id) return c->start_grad;
    return id < 0 || !c->table_grad ? NULL : c->table_grad + (size_t)id * (size_t)c->cols;
}

/* Equal ids lie together in by_id. The share that holds the first place of a run adds up all of it, so one thread adds
 * to a row of the table, and in the order of the tokens. Negative ids, which may differ, have no gradient. */
static void embed_runs(void *context, int64_t begin, int64_t end, int worker)
{
    const ganz_embed_call *const c = context;
    (void)worker;
    int i = (int)begin;
    while (i < c->rows && i > 0 && c->ids[c->by_id[i]] == c->ids[c->by_id[i - 1]]) i++;
    while (i < (int)end) {
        const int id = c->ids[c->by_id[i]];
        real *const to = embed_grad_of(c, id);
        for (; i < c->rows && c->ids[c->by_id[i]] == id; i++)
            if (to) embed_add(c, c->by_id[i], c->root, to);
    }
}

typedef struct extra_job {
    const ganz_embed_call *c;
    real *partial; /* (blocks, cols) */
} extra_job;

static void extra_blocks(void *context, int64_t begin, int64_t end, int worker)
{
    const extra_job *const job = context;
    const ganz_embed_call *const c = job->c;
    (void)worker;
    for (int block = (int)begin; block < (int)end; block++) {
        real *const sum = job->partial + (size_t)block * (size_t)c->cols;
        for (int i = 0; i < c->cols; i++) sum[i] = 0;
        for (int row = block * GANZ_CPU_BLOCK; row < c->rows && row < (block + 1) * GANZ_CPU_BLOCK; row++)
            embed_add(c, row, 1, sum);
    }
}

void ganz_cpu_embed_grad(ganz_backend *be, const ganz_embed_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    ganz_embed_call call = *c;
    if (c->table_grad || c->start_grad) ganz_pool_run(cpu->pool, c->rows, ganz_cpu_grain(c->cols), embed_runs, &call);
    if (!c->extra_grad) return;
    const int blocks = ganz_cpu_blocks(c->rows);
    extra_job job = {c, ganz_cpu_scratch(cpu, (size_t)blocks * (size_t)c->cols, sizeof(real))};
    if (!job.partial) return;
    ganz_pool_run(cpu->pool, blocks, 1, extra_blocks, &job);
    ganz_cpu_join(cpu, job.partial, blocks, (size_t)c->cols, c->cols, c->extra_grad);
}

/* ---- norm --------------------------------------------------------------------------------------- */

GANZ_CLONES static void norm_row(const ganz_norm_call *c, const real *x, real *y, real *stats)
{
    const int n = c->cols;
    real sum, square;
    LANE_SUM(sum, n, i, x[i]);
    const real mean = sum / (real)n;
    LANE_SUM(square, n, i, (x[i] - mean) * (x[i] - mean));
    const real r = 1 / real_sqrt(square / (real)n + c->eps);
    for (int i = 0; i < n; i++) y[i] = ((x[i] - mean) * r) * c->gain[i] + c->bias[i];
    if (stats) {
        stats[0] = mean;
        stats[1] = r;
    }
}

static void norm_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const ganz_norm_call *const c = context;
    (void)worker;
    for (int row = (int)begin; row < (int)end; row++) {
        const size_t at = (size_t)row * (size_t)c->cols;
        const real *x = c->x + at;
        if (c->delta.data) {
            const uint8_t *const mask = mask_line(&c->drop, row, c->cols);
            const real *const delta = real_row(&c->delta, row);
            if (mask) add_dropped_row(x, delta, c->cols, mask, c->drop.scale, c->sum + at);
            else add_row(x, delta, c->cols, c->sum + at);
            x = c->sum + at;
        }
        norm_row(c, x, real_row(&c->y, row), c->stats ? c->stats + 2 * (size_t)row : NULL);
    }
}

void ganz_cpu_norm(ganz_backend *be, const ganz_norm_call *c)
{
    ganz_norm_call call = *c;
    ganz_pool_run(ganz_cpu_of(be)->pool, c->rows, ganz_cpu_grain(c->cols), norm_rows, &call);
}

/* With h = (x - mean) * r and g = y_grad * gain: x_grad = r * (g - mean(g) - h * mean(g * h)). */
GANZ_CLONES static void norm_grad_row(const ganz_norm_call *c, int row, const real *x, real *partial)
{
    const int n = c->cols;
    const size_t at = (size_t)row * (size_t)n;
    const real *const g = real_row(&c->y_grad, row), *const back = c->sum_grad ? c->sum_grad + at : NULL;
    const real *const gain = c->gain;
    const real mean = c->stats[2 * (size_t)row], r = c->stats[2 * (size_t)row + 1];
    real *const out = c->x_grad + at;
    real sum, dot;
    LANE_SUM(sum, n, i, g[i] * gain[i]);
    LANE_SUM(dot, n, i, g[i] * gain[i] * ((x[i] - mean) * r));
    sum /= (real)n;
    dot /= (real)n;
    if (partial)
        for (int i = 0; i < n; i++) {
            partial[i] += g[i] * ((x[i] - mean) * r);
            partial[n + i] += g[i];
        }
    if (back)
        for (int i = 0; i < n; i++) out[i] = back[i] + r * (g[i] * gain[i] - sum - (x[i] - mean) * r * dot);
    else
        for (int i = 0; i < n; i++) out[i] = r * (g[i] * gain[i] - sum - (x[i] - mean) * r * dot);
}

typedef struct norm_grad_job {
    const ganz_norm_call *c;
    real *partial; /* (blocks, 2, cols): gradients of gain and bias; NULL: frozen */
} norm_grad_job;

static void norm_grad_blocks(void *context, int64_t begin, int64_t end, int worker)
{
    const norm_grad_job *const job = context;
    const ganz_norm_call *const c = job->c;
    const size_t n = (size_t)c->cols;
    (void)worker;
    for (int block = (int)begin; block < (int)end; block++) {
        real *const partial = job->partial ? job->partial + (size_t)block * 2 * n : NULL;
        for (size_t i = 0; partial && i < 2 * n; i++) partial[i] = 0;
        for (int row = block * GANZ_CPU_BLOCK; row < c->rows && row < (block + 1) * GANZ_CPU_BLOCK; row++) {
            norm_grad_row(c, row, (c->delta.data ? c->sum : c->x) + (size_t)row * n, partial);
            if (!c->delta.data) continue;
            const uint8_t *const mask = mask_line(&c->drop, row, c->cols);
            const real *const from = c->x_grad + (size_t)row * n;
            real *const to = real_row(&c->delta_grad, row);
            if (mask) drop_row(from, c->cols, mask, c->drop.scale, to);
            else
                for (size_t i = 0; i < n; i++) to[i] = from[i];
        }
    }
}

void ganz_cpu_norm_grad(ganz_backend *be, const ganz_norm_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    const int blocks = ganz_cpu_blocks(c->rows);
    const size_t stride = 2 * (size_t)c->cols;
    norm_grad_job job = {.c = c};
    if (c->gain_grad) {
        job.partial = ganz_cpu_scratch(cpu, (size_t)blocks * stride, sizeof(real));
        if (!job.partial) return;
    }
    ganz_pool_run(cpu->pool, blocks, 1, norm_grad_blocks, &job);
    if (c->delta_sums)
        ganz_cpu_bias_grad(
            be,
            &(ganz_linear_call){.rows = c->rows, .out = c->cols, .y_grad = c->delta_grad, .bias_grad = c->delta_sums});
    if (!c->gain_grad) return;
    ganz_cpu_join(cpu, job.partial, blocks, stride, c->cols, c->gain_grad);
    ganz_cpu_join(cpu, job.partial + c->cols, blocks, stride, c->cols, c->bias_grad);
}
