/* The CPU as a device: memory is ordinary memory, calls run at once over a pool of threads. */
#include "backend/cpu_backend.h"

#include <string.h>

#include "base/rng.h"

void *ganz_cpu_scratch(ganz_cpu *cpu, size_t count, size_t element)
{
    size_t bytes;
    if (!ganz_mul_size(count, element, &bytes)) bytes = SIZE_MAX;
    if (bytes <= cpu->scratch_bytes && cpu->scratch) return cpu->scratch;
    void *const larger = bytes > SIZE_MAX / 2 ? NULL : ganz_alloc_aligned(bytes + bytes / 4);
    if (!larger) {
        cpu->out_of_memory = true;
        return NULL;
    }
    ganz_free(cpu->scratch);
    cpu->scratch = larger;
    cpu->scratch_bytes = bytes + bytes / 4;
    return larger;
}

typedef struct join_job {
    const real *partial;
    int blocks;
    size_t stride;
    real *sums;
} join_job;

static void join_columns(void *context, int64_t begin, int64_t end, int worker)
{
    const join_job *const job = context;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        double sum = 0;
        for (int b = 0; b < job->blocks; b++) sum += (double)job->partial[(size_t)b * job->stride + (size_t)c];
        job->sums[c] += (real)sum;
    }
}

void ganz_cpu_join(ganz_cpu *cpu, const real *partial, int blocks, size_t stride, int cols, real *sums)
{
    join_job job = {partial, blocks, stride, sums};
    ganz_pool_run(cpu->pool, cols, ganz_cpu_grain(blocks), join_columns, &job);
}

/* ---- memory ------------------------------------------------------------------------------------- */

enum { LARGE = 4 << 20 };

static ganz_status cpu_alloc(ganz_backend *be, void **memory, size_t bytes, ganz_error *err)
{
    (void)be;
    *memory = bytes < LARGE ? ganz_alloc_aligned(bytes) : ganz_alloc_large(bytes);
    if (!*memory) return ganz_fail(err, GANZ_ENOMEM, "out of memory: %zu bytes", bytes);
    memset(*memory, 0, bytes);
    return GANZ_OK;
}

static void cpu_free(ganz_backend *be, void *memory)
{
    (void)be;
    ganz_free(memory);
}

static void cpu_copy(ganz_backend *be, void *to, const void *from, size_t bytes)
{
    (void)be;
    memcpy(to, from, bytes);
}

static void cpu_zero(ganz_backend *be, void *memory, size_t bytes)
{
    (void)be;
    memset(memory, 0, bytes);
}

static ganz_status cpu_sync(ganz_backend *be, ganz_error *err)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    if (cpu->no_blas) return ganz_fail(err, GANZ_EUNSUPPORTED, "float products need OpenBLAS: %s", cpu->no_blas);
    if (!cpu->out_of_memory) return GANZ_OK;
    cpu->out_of_memory = false;
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for scratch of the CPU backend");
}

/* ---- masks -------------------------------------------------------------------------------------- */

typedef struct mask_job {
    uint8_t *mask;
    int64_t count;
    uint64_t seed, stream;
    float keep;
} mask_job;

/* An item is a counter of the generator: four numbers. */
static void mask_run(void *context, int64_t begin, int64_t end, int worker)
{
    const mask_job *const job = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const ganz_random4 r = ganz_philox(job->seed, job->stream, (uint64_t)i);
        for (int j = 0; j < 4 && 4 * i + j < job->count; j++)
            job->mask[4 * i + j] = (float)(r.v[j] >> 8) * (1.0f / 16777216.0f) < job->keep;
    }
}

static void cpu_mask(ganz_backend *be, uint8_t *mask, int64_t count, uint64_t seed, uint64_t stream, float keep)
{
    mask_job job = {mask, count, seed, stream, keep};
    ganz_pool_run(ganz_cpu_of(be)->pool, (count + 3) / 4, 1024, mask_run, &job);
}

/* ---- the table ---------------------------------------------------------------------------------- */

static void cpu_close(ganz_backend *be)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    ganz_pool_close(&cpu->pool);
    ganz_free(cpu->scratch);
    ganz_free(cpu->bf16_scratch);
    ganz_free(cpu->bf16_copy);
    ganz_free(cpu);
}

static const ganz_backend cpu_table = {
    .name = "cpu",
    .product = GANZ_REAL,
    .host = true,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .upload = cpu_copy,
    .download = cpu_copy,
    .copy = cpu_copy,
    .zero = cpu_zero,
    .sync = cpu_sync,
    .mask = cpu_mask,
    .embed = ganz_cpu_embed,
    .embed_grad = ganz_cpu_embed_grad,
    .norm = ganz_cpu_norm,
    .norm_grad = ganz_cpu_norm_grad,
    .linear = ganz_cpu_linear,
    .linear_grad = ganz_cpu_linear_grad,
    .attention = ganz_cpu_attention,
    .attention_grad = ganz_cpu_attention_grad,
    .loss = ganz_cpu_loss,
    .quantize = ganz_cpu_quantize,
    .quantize_grad = ganz_cpu_quantize_grad,
    .largest = ganz_cpu_largest,
    .scales = ganz_cpu_scales,
    .refresh = ganz_cpu_refresh,
    .rows_grad = ganz_cpu_rows_grad,
    .adafactor = ganz_cpu_adafactor,
    .adam = ganz_cpu_adam,
    .average = ganz_cpu_average,
    .add = ganz_cpu_add,
    .add_rows = ganz_cpu_add_rows,
    .recur = ganz_cpu_recur,
#ifndef GANZ_F64 /* the kernels are float */
    .topk = ganz_cpu_topk,
    .pack_bytes = ganz_cpu_pack_bytes,
    .pack = ganz_cpu_pack,
    .unpack = ganz_cpu_unpack,
    .embed_codes = ganz_cpu_embed_codes,
    .norm_codes = ganz_cpu_norm_codes,
    .linear_codes = ganz_cpu_linear_codes,
    .attention_codes = ganz_cpu_attention_codes,
#endif
};

ganz_status ganz_cpu_backend_open(ganz_backend **be, int threads, ganz_error *err)
{
    unsigned features;
    *be = NULL;
    GANZ_TRY(ganz_cpu_choose(&features, err));
    ganz_cpu *const cpu = ganz_alloc(1, sizeof *cpu);
    if (!cpu) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a backend");
    cpu->table = cpu_table;
    cpu->threads = threads;
    ganz_kernel_init(&cpu->kernel, features);
    const ganz_status status = ganz_pool_open(&cpu->pool, threads, err);
    if (status != GANZ_OK) {
        ganz_free(cpu);
        return status;
    }
    *be = &cpu->table;
    return GANZ_OK;
}

ganz_status ganz_cpu_backend_bf16(ganz_backend *be, ganz_error *err)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    size_t bytes;
    if (cpu->kernel.flags && !(cpu->kernel.flags & GANZ_CPU_AMXBF16))
        return ganz_fail(err, GANZ_EUNSUPPORTED,
                         "the cpu multiplies in bf16 only where it has AMX-BF16; this one has %s: precision fp32 does "
                         "without",
                         ganz_cpu_isa_name(cpu->kernel.flags));
    if (cpu->kernel.bf16.scratch) {
        const bool fits = ganz_mul_size((size_t)cpu->threads, cpu->kernel.bf16.scratch, &bytes);
        cpu->bf16_scratch = fits ? ganz_alloc_large(bytes) : NULL;
        if (!cpu->bf16_scratch) return ganz_fail(err, GANZ_ENOMEM, "out of memory for products in bf16");
    }
    cpu->bf16 = true;
    return GANZ_OK;
}

void ganz_cpu_backend_follow(ganz_backend *be, const ganz_backend *packer)
{
    ganz_kernel *const kernel = &ganz_cpu_of(be)->kernel;
    const ganz_bf16 own = kernel->bf16; /* reads nothing packed, and has its scratch memory */
    *kernel = ((const ganz_cpu *)packer)->kernel;
    kernel->bf16 = own;
}

ganz_status ganz_cpu_backend_reads(const ganz_backend *be, const ganz_backend *packer, ganz_error *err)
{
    const unsigned flags = ((const ganz_cpu *)be)->kernel.flags, packed = ((const ganz_cpu *)packer)->kernel.flags;
    if (flags == packed) return GANZ_OK;
    return ganz_fail(err, GANZ_EINVAL, "the model was packed for %s, and %s is asked for", ganz_cpu_isa_name(packed),
                     ganz_cpu_isa_name(flags));
}
