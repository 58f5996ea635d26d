/* Products, shared out: never along the summed dimension, so any number of threads gives the same bits. */
#include "backend/cpu_gemm.h"

#include "backend/cpu_backend.h"

typedef struct shared_job {
    const ganz_cpu *cpu;
    const ganz_cpu_product *p;
    ganz_cpu_after *after;
    const void *context;
    int part_rows, part_cols;
    int across; /* parts side by side */
#ifndef GANZ_F64
    ganz_bf16_call call;
    void *copy;
#endif
} shared_job;

static int parts(int n, int each) { return (n + each - 1) / each; }

static int64_t parts_of(const shared_job *job)
{
    return (int64_t)parts(job->p->m, job->part_rows) * parts(job->p->n, job->part_cols);
}

static ganz_block part_at(const shared_job *job, int64_t index)
{
    ganz_block b = {(int)(index / job->across) * job->part_rows, job->part_rows,
                    (int)(index % job->across) * job->part_cols, job->part_cols};
    if (b.rows > job->p->m - b.row) b.rows = job->p->m - b.row;
    if (b.cols > job->p->n - b.col) b.cols = job->p->n - b.col;
    return b;
}

/* ---- by OpenBLAS -------------------------------------------------------------------------------- */

enum { TILE_ROWS = 256, TILE_COLS = 512, TILE_LEAST = 64, TILES_WANTED = 16 };

/* By the shape of the result alone: OpenBLAS adds up in another order in other tiles. */
static void choose_tiles(shared_job *job)
{
    job->part_rows = TILE_ROWS;
    job->part_cols = TILE_COLS;
    while (parts_of(job) < TILES_WANTED && (job->part_rows > TILE_LEAST || job->part_cols > TILE_LEAST)) {
        if (job->part_cols >= job->part_rows || (job->part_rows > job->p->m && job->part_cols > TILE_LEAST))
            job->part_cols /= 2;
        else job->part_rows /= 2;
    }
}

static ganz_cpu_side moved(ganz_cpu_side side, int by, bool is_left)
{
    side.data += (size_t)by * ((side.how == CblasNoTrans) == is_left ? (size_t)side.ld : 1);
    return side;
}

static void tiles(void *context, int64_t begin, int64_t end, int worker)
{
    const shared_job *const job = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const ganz_block b = part_at(job, i);
        ganz_cpu_product p = *job->p;
        p.m = b.rows;
        p.n = b.cols;
        p.a = moved(p.a, b.row, true);
        p.b = moved(p.b, b.col, false);
        p.c += (size_t)b.row * (size_t)p.ldc + (size_t)b.col;
        ganz_cpu_blas(&p);
        if (job->after) job->after(job->context, &b);
    }
}

/* ---- in bfloat16 -------------------------------------------------------------------------------- */

#ifndef GANZ_F64
enum { PART_ROWS = 256, PART_COLS = 2048, PART_LEAST = 128, EACH = 4, COPY_COLS = 64 };

static ganz_bf16_call call_of(const ganz_cpu_product *p)
{
    return (ganz_bf16_call){.m = p->m,
                            .n = p->n,
                            .k = p->k,
                            .a = {p->a.data, (size_t)p->a.ld, p->a.how == CblasNoTrans},
                            .b = {p->b.data, (size_t)p->b.ld, p->b.how == CblasTrans},
                            .c = p->c,
                            .ldc = (size_t)p->ldc,
                            .alpha = p->alpha,
                            .add = p->add};
}

static void *scratch_of(const ganz_cpu *cpu, int worker)
{
    return (char *)cpu->bf16_scratch + (size_t)worker * cpu->kernel.bf16.scratch;
}

/* Some for each thread, as wide as they may be: rows are copied once for each part. */
static void choose_parts(shared_job *job)
{
    const int64_t wanted = (int64_t)EACH * job->cpu->threads;
    job->part_rows = PART_ROWS;
    job->part_cols = PART_COLS;
    while (job->part_cols > PART_LEAST && (job->part_cols / 2 >= job->p->n || parts_of(job) < wanted))
        job->part_cols /= 2;
    while (job->part_rows > PART_LEAST / 2 && parts_of(job) < wanted) job->part_rows /= 2;
}

/* Room for the right side in the kernel's order. */
static bool has_copy(ganz_cpu *cpu, size_t bytes)
{
    if (bytes <= cpu->bf16_copy_bytes) return true;
    ganz_free(cpu->bf16_copy);
    cpu->bf16_copy = bytes > SIZE_MAX / 2 ? NULL : ganz_alloc_large(bytes);
    cpu->bf16_copy_bytes = cpu->bf16_copy ? bytes : 0;
    if (!cpu->bf16_copy) cpu->out_of_memory = true;
    return cpu->bf16_copy != NULL;
}

static void copy_strips(void *context, int64_t begin, int64_t end, int worker)
{
    const shared_job *const job = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int col = (int)i * COPY_COLS, left = job->p->n - col;
        job->cpu->kernel.bf16.copy(&job->call, col, left < COPY_COLS ? job->p->n : col + COPY_COLS, job->copy);
    }
}

static void bf16_parts(void *context, int64_t begin, int64_t end, int worker)
{
    const shared_job *const job = context;
    for (int64_t i = begin; i < end; i++) {
        const ganz_block b = part_at(job, i);
        job->cpu->kernel.bf16.product(&job->call, &b, scratch_of(job->cpu, worker));
        if (job->after) job->after(job->context, &b);
    }
}

static void share_bf16(ganz_cpu *cpu, shared_job *job)
{
    job->call = call_of(job->p);
    const size_t bytes = cpu->kernel.bf16.copy_bytes(&job->call);
    if (bytes) {
        if (!has_copy(cpu, bytes)) return;
        job->copy = cpu->bf16_copy;
        ganz_pool_run(cpu->pool, parts(job->p->n, COPY_COLS), 1, copy_strips, job);
        job->call.copied = job->copy;
    }
    choose_parts(job);
    job->across = parts(job->p->n, job->part_cols);
    ganz_pool_run(cpu->pool, parts_of(job), 1, bf16_parts, job);
}
#endif

/* ---- either ------------------------------------------------------------------------------------- */

bool ganz_cpu_gemm_ready(ganz_cpu *cpu) { return cpu->bf16 || ganz_cpu_blas_load(&cpu->no_blas); }

void ganz_cpu_gemm(const ganz_cpu *cpu, int worker, const ganz_cpu_product *p)
{
#ifndef GANZ_F64
    if (cpu->bf16) {
        const ganz_bf16_call call = call_of(p);
        cpu->kernel.bf16.product(&call, &(ganz_block){0, p->m, 0, p->n}, scratch_of(cpu, worker));
        return;
    }
#endif
    (void)cpu;
    (void)worker;
    ganz_cpu_blas(p);
}

void ganz_cpu_gemm_shared(ganz_cpu *cpu, const ganz_cpu_product *p, ganz_cpu_after *after, const void *context)
{
    shared_job job = {.cpu = cpu, .p = p, .after = after, .context = context};
#ifndef GANZ_F64
    if (cpu->bf16) {
        share_bf16(cpu, &job);
        return;
    }
#endif
    choose_tiles(&job);
    job.across = parts(p->n, job.part_cols);
    ganz_pool_run(cpu->pool, parts_of(&job), 1, tiles, &job);
}
