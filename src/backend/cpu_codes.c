/* Integer products on the CPU, and the float rows between them: everything by the kernels, which give the same bits on
 * every processor. */
#include <string.h>

#include "backend/cpu_backend.h"
#include "backend/cpu_codes.h"
#include "backend/cpu_math.h"

/* Products are shared out when a share is worth waking a thread for. */
enum { SHARE = 1 << 18 };

/* ---- weights ------------------------------------------------------------------------------------ */

size_t ganz_cpu_pack_bytes(const ganz_backend *be, int out, int in)
{
    const size_t bytes = ganz_pack_bytes(&((const ganz_cpu *)be)->kernel, out, in);
    return bytes ? bytes + ganz_round_up(sizeof(ganz_packed), GANZ_ALIGN) : 0;
}

const ganz_packed *ganz_cpu_pack(const ganz_backend *be, void *block, const int8_t *codes, int out, int in, int low,
                                 int p)
{
    ganz_packed *const packed = block;
    char *const rest = (char *)block + ganz_round_up(sizeof *packed, GANZ_ALIGN);
    ganz_pack(&((const ganz_cpu *)be)->kernel, packed, rest, codes, out, in, low, p);
    return packed;
}

/* ---- rows --------------------------------------------------------------------------------------- */

typedef struct embed_job {
    const ganz_embed_call *c;
    const ganz_kernel *kernel;
    int8_t *codes; /* (workers, stride) */
    size_t stride;
} embed_job;

static void embed_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const embed_job *const job = context;
    const ganz_embed_call *const c = job->c;
    int8_t *const codes = job->codes + job->stride * (size_t)worker;
    for (int row = (int)begin; row < (int)end; row++) {
        const int id = c->ids[row];
        const float *const timing = c->timing + (size_t)c->positions[row] * (size_t)c->cols;
        GANZ_ASSERT(id < c->vocab);
        if (id < 1) memset(codes, 0, (size_t)c->cols);
        else ganz_unpack_row(job->kernel, c->packed, id, codes);
        const float scale = c->by_row && id >= 1 ? c->table.scale[id] : *c->table.scale;
        job->kernel->rows.embed(codes, c->cols, scale, c->root, c->extra ? c->extra : timing, c->extra ? timing : NULL,
                                c->out + (size_t)row * (size_t)c->cols);
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
} norm_job;

static void norm_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const norm_job *const job = context;
    const ganz_norm_call *const c = job->c;
    (void)worker;
    for (int row = (int)begin; row < (int)end; row++) {
        const size_t at = (size_t)row * (size_t)c->cols;
        const float *x = c->x + at;
        ganz_codes outs[GANZ_CODE_OUTS];
        int count = 0;
        for (int i = 0; i < GANZ_CODE_OUTS; i++)
            if (c->codes[i].m.data)
                outs[count++] = (ganz_codes){ganz_code_row(&c->codes[i].m, row), 1 / *c->codes[i].scale, c->codes[i].p};
        if (c->delta.data) {
            job->rows->add(x, real_row(&c->delta, row), c->cols, c->sum + at);
            x = c->sum + at;
        }
        job->rows->norm(x, c->cols, c->gain, c->bias, c->y.data ? real_row(&c->y, row) : NULL, outs, count);
    }
}

void ganz_cpu_norm_codes(ganz_backend *be, const ganz_norm_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    norm_job job = {c, &cpu->kernel.rows};
    GANZ_ASSERT(c->eps == GANZ_NORM_EPSILON && !c->drop.mask && !c->stats);
    ganz_pool_run(cpu->pool, c->rows, ganz_cpu_grain(c->cols), norm_rows, &job);
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
    const int nr = job->kernel->gemm.nr, last = (int)end * nr;
    ganz_gemm(job->kernel, c->packed, c->x.m.data, (size_t)c->x.m.ld, c->rows, (int)begin * nr,
              last < c->out ? last : c->out, &job->e, job->scratch + job->scratch_each * (size_t)worker);
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
    job.e.relu = c->relu;
    if (c->add) {
        job.e.add = c->y.data;
        job.e.add_stride = (size_t)c->y.ld;
    }
    job.scratch_each = ganz_round_up(ganz_gemm_scratch(job.kernel, c->in), GANZ_ALIGN);
    const size_t sums = c->largest ? (size_t)c->rows * (size_t)c->out : 0,
                 own = job.scratch_each * (size_t)cpu->threads;
    const size_t scales = c->w_by_row ? ganz_round_up((size_t)c->out * sizeof(float), GANZ_ALIGN) : 0;
    job.scratch = ganz_cpu_scratch(cpu, 1, scales + own + sums * sizeof(int32_t));
    if (!job.scratch) return;
    if (scales) {
        float *const each = (float *)(void *)job.scratch;
        for (int i = 0; i < c->out; i++) each[i] = *c->x.scale * c->w.scale[i];
        job.e.scales = each;
        job.scratch += scales;
    }
    if (sums) {
        job.e.sums = (int32_t *)(void *)(job.scratch + own);
        job.e.sums_stride = (size_t)c->out;
    }
    const int nr = job.kernel->gemm.nr;
    const int64_t panel = (int64_t)c->rows * c->in * nr, grain = panel < SHARE ? (SHARE + panel - 1) / panel : 1;
    ganz_pool_run(cpu->pool, (c->out + nr - 1) / nr, grain, linear_panels, &job);
    if (sums) ganz_raise_largest(c->largest, job.e.sums, sums);
}
