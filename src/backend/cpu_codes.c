/* Integer products on the CPU, and the float rows between them: everything by the kernels, which give the same bits on
 * every processor. */
#include <string.h>

#include "backend/cpu_backend.h"
#include "backend/cpu_codes.h"
#include "backend/cpu_math.h"

/* A share of a product is worth a thread when it takes a microsecond or two: to read so many bytes of weights, and to
 * multiply so many rows with them, sixteen in the time of reading. */
enum { SHARE = 1 << 15, ROWS_READ = 16 };

/* ---- weights ------------------------------------------------------------------------------------ */

size_t ganz_cpu_pack_bytes(const ganz_backend *be, int out, int in, bool nibbles)
{
    const size_t bytes = ganz_pack_bytes(&((const ganz_cpu *)be)->kernel, out, in, nibbles);
    return bytes ? bytes + ganz_round_up(sizeof(ganz_packed), GANZ_ALIGN) : 0;
}

const ganz_packed *ganz_cpu_pack(ganz_backend *be, void *block, const ganz_pack_call *c)
{
    const ganz_unpacked from = {c->codes, c->out, c->in, c->low, c->p, c->nibbles, c->zero};
    ganz_packed *const packed = block;
    char *const rest = (char *)block + ganz_round_up(sizeof *packed, GANZ_ALIGN);
    ganz_pack(&((const ganz_cpu *)be)->kernel, packed, rest, &from);
    return packed;
}

void ganz_cpu_unpack(const ganz_backend *be, const ganz_packed *packed, int row, int8_t *codes)
{
    ganz_unpack_row(&((const ganz_cpu *)be)->kernel, packed, row, codes);
}

/* ---- rows --------------------------------------------------------------------------------------- */

typedef struct embed_job {
    const ganz_embed_call *c;
    const ganz_kernel *kernel;
    int8_t *codes; /* (workers, stride) */
    size_t stride;
} embed_job;

/* A row that is not in the table: the start vector, or zeros. */
static void start_row(const ganz_rows *rows, const ganz_embed_call *c, int row, float *out)
{
    const float *const timing = c->timing + (size_t)c->positions[row] * (size_t)c->cols;
    if (c->start && c->ids[row] == c->start_id) rows->scale(c->start, c->cols, c->root, out);
    else memset(out, 0, (size_t)c->cols * sizeof *out);
    if (c->extra) rows->add(out, c->extra, c->cols, out);
    rows->add(out, timing, c->cols, out);
}

static void embed_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const embed_job *const job = context;
    const ganz_embed_call *const c = job->c;
    int8_t *const codes = job->codes + job->stride * (size_t)worker;
    for (int row = (int)begin; row < (int)end; row++) {
        const int id = c->ids[row];
        const float *const timing = c->timing + (size_t)c->positions[row] * (size_t)c->cols;
        float *const out = c->out + (size_t)row * (size_t)c->cols;
        GANZ_ASSERT(id < c->vocab);
        if (id < 0 || id == c->start_id) {
            start_row(&job->kernel->rows, c, row, out);
            continue;
        }
        ganz_unpack_row(job->kernel, c->packed, id, codes);
        const ganz_embed_row from = {.codes = codes,
                                     .scale = c->by_row ? c->table.scale[id] : *c->table.scale,
                                     .root = c->root,
                                     .first = c->extra ? c->extra : timing,
                                     .second = c->extra ? timing : NULL};
        job->kernel->rows.embed(&from, c->cols, out);
    }
}

void ganz_cpu_embed_codes(ganz_backend *be, const ganz_embed_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    embed_job job = {c, &cpu->kernel, NULL, ganz_round_up((size_t)c->cols, GANZ_ALIGN)};
    job.codes = ganz_cpu_scratch(cpu, (size_t)cpu->threads, job.stride);
    if (job.codes) ganz_pool_run(cpu->pool, c->rows, ganz_cpu_grain(c->cols), embed_rows, &job);
}

typedef struct norm_job {
    const ganz_norm_call *c;
    const ganz_rows *rows;
    ganz_norm_layout layout;
    int count;             /* outs that are wanted */
    ganz_codes *outs;      /* (count) of the first row, then (count) for each worker */
    const ganz_matrix **m; /* (count) */
} norm_job;

static void norm_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const norm_job *const job = context;
    const ganz_norm_call *const c = job->c;
    ganz_codes *const outs = job->outs + (size_t)(worker + 1) * (size_t)job->count;
    for (int i = 0; i < job->count; i++) outs[i] = job->outs[i];
    for (int row = (int)begin; row < (int)end; row++) {
        const size_t at = (size_t)row * (size_t)c->cols;
        const float *x = c->x + at;
        for (int i = 0; i < job->count; i++) outs[i].codes = ganz_code_row(job->m[i], row);
        if (c->delta.data) {
            job->rows->add(x, real_row(&c->delta, row), c->cols, c->sum + at);
            x = c->sum + at;
        }
        job->rows->norm(&job->layout, x, c->y.data ? real_row(&c->y, row) : NULL, outs, job->count);
    }
}

/* Room for the outs of all workers, scales filled in. Returns false if there is no memory; sync then tells. */
static bool norm_outs(ganz_cpu *cpu, norm_job *job)
{
    const ganz_norm_call *const c = job->c;
    const size_t most = (size_t)c->outs + 1, sets = (size_t)cpu->threads + 1;
    job->outs = ganz_cpu_scratch(cpu, most, sets * sizeof *job->outs + sizeof *job->m);
    if (!job->outs) return false;
    job->m = (const ganz_matrix **)(void *)(job->outs + most * sets);
    for (int i = 0; i < c->outs; i++) {
        if (!c->codes[i].m.data) continue;
        job->m[job->count] = &c->codes[i].m;
        job->outs[job->count++] = (ganz_codes){NULL, 1 / *c->codes[i].scale, c->codes[i].p};
    }
    return true;
}

void ganz_cpu_norm_codes(ganz_backend *be, const ganz_norm_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    norm_job job = {.c = c,
                    .rows = &cpu->kernel.rows,
                    .layout = {.n = c->cols, .epsilon = c->eps, .gain = c->gain, .bias = c->bias}};
    GANZ_ASSERT(!c->drop.mask && !c->stats);
    if (norm_outs(cpu, &job)) ganz_pool_run(cpu->pool, c->rows, ganz_cpu_grain(c->cols), norm_rows, &job);
}

/* ---- dense products ----------------------------------------------------------------------------- */

typedef struct linear_job {
    const ganz_linear_call *c;
    const ganz_kernel *kernel;
    ganz_epilogue e;
    char *scratch; /* per worker */
    size_t scratch_each;
} linear_job;

/* An item is a panel: columns that lie together in the packed weights. */
static void linear_panels(void *context, int64_t begin, int64_t end, int worker)
{
    const linear_job *const job = context;
    const ganz_linear_call *const c = job->c;
    const int nr = job->kernel->gemm.step, last = (int)end * nr;
    const ganz_gemm_call call = {c->packed, c->x.m.data, (size_t)c->x.m.ld, c->rows, &job->e};
    ganz_gemm(job->kernel, &call, (int)begin * nr, last < c->out ? last : c->out,
              job->scratch + job->scratch_each * (size_t)worker);
}

void ganz_raise_largest(int32_t *largest, const int32_t *sums, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int32_t size = sums[i] < 0 ? -sums[i] : sums[i];
        if (size > *largest) *largest = size;
    }
}

ganz_epilogue ganz_code_epilogue(float scale, const ganz_matrix *y, const ganz_code_out *codes)
{
    ganz_epilogue e = {.scale = scale, .out = y->data, .out_stride = (size_t)y->ld};
    if (!codes->m.data) return e;
    e.codes = codes->m.data;
    e.codes_stride = (size_t)codes->m.ld;
    e.inv = 1 / *codes->scale;
    e.p = codes->p;
    return e;
}

void ganz_cpu_linear_codes(ganz_backend *be, const ganz_linear_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    GANZ_ASSERT(c->x.m.type == GANZ_S8 && c->packed->n == c->out && c->packed->k == c->in && !c->drop.mask);
    linear_job job = {
        .c = c, .kernel = &cpu->kernel, .e = ganz_code_epilogue(*c->x.scale * *c->w.scale, &c->y, &c->codes)};
    job.e.bias = c->bias;
    job.e.activation = c->activation;
    if (c->add) {
        job.e.add = c->y.data;
        job.e.add_stride = (size_t)c->y.ld;
    }
    job.scratch_each = ganz_round_up(ganz_gemm_scratch(job.kernel, c->in), GANZ_ALIGN);
    const size_t all = (size_t)c->rows * (size_t)c->out, sums = c->largest && !c->sums ? all : 0;
    const size_t own = job.scratch_each * (size_t)cpu->threads;
    const size_t scales = c->w_by_row ? ganz_round_up((size_t)c->out * sizeof(float), GANZ_ALIGN) : 0;
    job.scratch = ganz_cpu_scratch(cpu, 1, scales + own + sums * sizeof(int32_t));
    if (!job.scratch) return;
    if (scales) {
        float *const each = (float *)(void *)job.scratch;
        for (int i = 0; i < c->out; i++) each[i] = *c->x.scale * c->w.scale[i];
        job.e.scales = each;
        job.scratch += scales;
    }
    job.e.sums = sums ? (int32_t *)(void *)(job.scratch + own) : c->sums;
    job.e.sums_stride = (size_t)c->out;
    const int nr = job.kernel->gemm.step;
    const int64_t panel = (int64_t)(ROWS_READ + c->rows) * c->in * nr / ROWS_READ;
    const int64_t grain = panel < SHARE ? (SHARE + panel / 2) / panel : 1;
    ganz_pool_run(cpu->pool, (c->out + nr - 1) / nr, grain, linear_panels, &job);
    if (c->largest) ganz_raise_largest(c->largest, job.e.sums, all);
}
