/* Dense products by CBLAS. The result is cut into tiles whose shape depends on the shape of the result alone, and the
 * pool shares them out: never along the summed dimension, so any number of threads gives the same bits. */
#include "backend/cpu_activation.h"
#include "backend/cpu_backend.h"
#include "backend/cpu_gemm.h"
#include "backend/cpu_math.h"

#include <string.h>

typedef struct tiling {
    int rows, cols;           /* of the result */
    int tile_rows, tile_cols; /* of one tile */
    int across;               /* tiles side by side */
} tiling;

enum { TILE_ROWS = 256, TILE_COLS = 512, TILE_LEAST = 64, TILES_WANTED = 16 };

static int64_t tiles_of(const tiling *t)
{
    return (int64_t)((t->rows + t->tile_rows - 1) / t->tile_rows) * ((t->cols + t->tile_cols - 1) / t->tile_cols);
}

static tiling tile(int rows, int cols)
{
    tiling t = {rows, cols, TILE_ROWS, TILE_COLS, 0};
    while (tiles_of(&t) < TILES_WANTED && (t.tile_rows > TILE_LEAST || t.tile_cols > TILE_LEAST)) {
        if (t.tile_cols >= t.tile_rows || (t.tile_rows > rows && t.tile_cols > TILE_LEAST)) t.tile_cols /= 2;
        else t.tile_rows /= 2;
    }
    t.across = (cols + t.tile_cols - 1) / t.tile_cols;
    return t;
}

typedef struct rect {
    int row, col, rows, cols;
} rect;

static rect tile_at(const tiling *t, int64_t index)
{
    rect r = {(int)(index / t->across) * t->tile_rows, (int)(index % t->across) * t->tile_cols, t->tile_rows,
              t->tile_cols};
    if (r.rows > t->rows - r.row) r.rows = t->rows - r.row;
    if (r.cols > t->cols - r.col) r.cols = t->cols - r.col;
    return r;
}

typedef struct linear_job {
    const ganz_linear_call *c;
    tiling t;
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

static void linear_tiles(void *context, int64_t begin, int64_t end, int worker)
{
    const linear_job *const job = context;
    const ganz_linear_call *const c = job->c;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const rect r = tile_at(&job->t, i);
        real *const y = real_row(&c->y, r.row) + r.col;
        ganz_cpu_gemm(&(ganz_cpu_product){.m = r.rows,
                                          .n = r.cols,
                                          .k = c->in,
                                          .a = ganz_cpu_plain(real_row(&c->x.m, r.row), c->x.m.ld),
                                          .b = ganz_cpu_transposed(real_row(&c->w.m, r.col), c->w.m.ld),
                                          .c = y,
                                          .ldc = c->y.ld,
                                          .alpha = 1});
        for (int row = 0; row < r.rows; row++) {
            real *const line = y + (size_t)row * (size_t)c->y.ld;
            scale_and_bias_row(line, r.cols, job->factor, job->factors ? job->factors + r.col : NULL,
                               c->bias ? c->bias + r.col : NULL);
            if (c->before.data) memcpy(real_row(&c->before, r.row + row) + r.col, line, (size_t)r.cols * sizeof *line);
            ganz_cpu_activate_row(c->activation, line, r.cols);
            if (c->drop.mask) drop_row(line, r.cols, mask_line(c, r.row + row) + r.col, c->drop.scale);
        }
    }
}

void ganz_cpu_linear(ganz_backend *be, const ganz_linear_call *c)
{
    GANZ_ASSERT(c->x.m.type == GANZ_REAL && c->w.m.type == GANZ_REAL && c->y.type == GANZ_REAL);
    GANZ_ASSERT(c->activation != GANZ_ACTIVATION_NONE || !c->drop.mask);
    if (!ganz_cpu_blas_ready(ganz_cpu_of(be))) return;
    linear_job job = {.c = c, .t = tile(c->rows, c->out), .factor = scale_of(&c->x) * scale_of(&c->w)};
    if (c->w_by_row) {
        real *const factors = ganz_cpu_scratch(ganz_cpu_of(be), (size_t)c->out, sizeof *factors);
        if (!factors) return;
        for (int i = 0; i < c->out; i++) factors[i] = scale_of(&c->x) * c->w.scale[i];
        job.factors = factors;
    }
    ganz_pool_run(ganz_cpu_of(be)->pool, tiles_of(&job.t), 1, linear_tiles, &job);
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

static void x_grad_tiles(void *context, int64_t begin, int64_t end, int worker)
{
    const linear_job *const job = context;
    const ganz_linear_call *const c = job->c;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const rect r = tile_at(&job->t, i);
        ganz_cpu_gemm(&(ganz_cpu_product){.m = r.rows,
                                          .n = r.cols,
                                          .k = c->out,
                                          .a = ganz_cpu_plain(real_row(&c->y_grad, r.row), c->y_grad.ld),
                                          .b = ganz_cpu_plain((const real *)c->w.m.data + r.col, c->w.m.ld),
                                          .c = real_row(&c->x_grad, r.row) + r.col,
                                          .ldc = c->x_grad.ld,
                                          .alpha = job->factor,
                                          .add = c->x_grad_add});
    }
}

static void w_grad_tiles(void *context, int64_t begin, int64_t end, int worker)
{
    const linear_job *const job = context;
    const ganz_linear_call *const c = job->c;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const rect r = tile_at(&job->t, i);
        ganz_cpu_gemm(&(ganz_cpu_product){.m = r.rows,
                                          .n = r.cols,
                                          .k = c->rows,
                                          .a = ganz_cpu_transposed((const real *)c->y_grad.data + r.row, c->y_grad.ld),
                                          .b = ganz_cpu_plain((const real *)c->x.m.data + r.col, c->x.m.ld),
                                          .c = c->w_grad + (size_t)r.row * (size_t)c->in + r.col,
                                          .ldc = c->in,
                                          .alpha = scale_of(&c->x),
                                          .add = true});
    }
}

void ganz_cpu_linear_grad(ganz_backend *be, const ganz_linear_call *c)
{
    ganz_pool *const pool = ganz_cpu_of(be)->pool;
    linear_job job = {.c = c, .factor = c->w_by_row ? 1 : scale_of(&c->w)};
    GANZ_ASSERT(c->y_grad.type == GANZ_REAL);
    if (!ganz_cpu_blas_ready(ganz_cpu_of(be))) return;
    const bool smooth = ganz_activation_is_smooth(c->activation);
    GANZ_ASSERT(!smooth || (c->before.data && c->before.type == GANZ_REAL));
    if (c->activation != GANZ_ACTIVATION_NONE)
        ganz_pool_run(pool, c->rows, ganz_cpu_grain(c->out), smooth ? smooth_grad_rows : relu_grad_rows, &job);
    if (c->bias_grad) ganz_cpu_bias_grad(be, c);
    if (c->w_grad) {
        job.t = tile(c->out, c->in);
        ganz_pool_run(pool, tiles_of(&job.t), 1, w_grad_tiles, &job);
    }
    if (!c->x_grad.data) return;
    if (c->w_by_row) ganz_pool_run(pool, c->rows, ganz_cpu_grain(c->out), scale_grad_rows, &job);
    job.t = tile(c->rows, c->in);
    ganz_pool_run(pool, tiles_of(&job.t), 1, x_grad_tiles, &job);
}
