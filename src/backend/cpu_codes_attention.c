/* Attention in integers around a float softmax: one query row at a time, all its heads. */
#include <string.h>

#include "backend/cpu_attention.h"
#include "backend/cpu_backend.h"
#include "backend/cpu_codes.h"
#include "backend/cpu_math.h"

typedef struct attention_job {
    const ganz_attention_call *c;
    const ganz_rows *rows;
    ganz_epilogue e;
    float score, u_inv; /* worth of a sum of q times k; 1 / u_scale */
    char *scratch;      /* per worker */
    size_t scratch_each;
} attention_job;

/* Scratch of one worker; n: longest list of keys. */
typedef struct worker_scratch {
    const int8_t **k, **v; /* (n) rows of the keys that the query at hand sees */
    int32_t *scores;       /* (n) */
    float *work;           /* (n) */
    uint8_t *u;            /* (n) */
    int32_t *sums;         /* (heads * width) */
} worker_scratch;

static size_t worker_scratch_bytes(const ganz_attention_call *c)
{
    const size_t n = ganz_round_up((size_t)c->see.longest_key, GANZ_ALIGN), d = (size_t)c->heads * (size_t)c->width;
    return ganz_round_up(n * (2 * sizeof(int8_t *) + sizeof(int32_t) + sizeof(float) + 1) + d * sizeof(int32_t),
                         GANZ_ALIGN);
}

static worker_scratch worker_scratch_at(const attention_job *job, int worker)
{
    const size_t n = ganz_round_up((size_t)job->c->see.longest_key, GANZ_ALIGN);
    char *const base = job->scratch + job->scratch_each * (size_t)worker;
    worker_scratch at = {.k = (const int8_t **)(void *)base};
    at.v = at.k + n;
    at.scores = (int32_t *)(void *)(at.v + n);
    at.work = (float *)(void *)(at.scores + n);
    at.sums = (int32_t *)(void *)(at.work + n);
    at.u = (uint8_t *)(at.sums + (size_t)job->c->heads * (size_t)job->c->width);
    return at;
}

/* U with its codes counted: softmax_codes in two steps. */
static void audited_u(const attention_job *job, const worker_scratch *at, int n)
{
    const ganz_attention_call *const c = job->c;
    job->rows->softmax_scores(at->scores, n, job->score, at->work);
    job->rows->quantize_unsigned(at->work, n, job->u_inv, c->u_max, at->u);
    for (int i = 0; i < n; i++) *c->u_clipped += at->work[i] * job->u_inv >= (float)c->u_max + 0.5f;
    *c->u_codes += n;
    ganz_raise_largest(c->largest_qk, at->scores, (size_t)n);
}

static void add_weights(const ganz_attention_call *c, const worker_scratch *at, int query, int n)
{
    real *const row = ganz_cpu_weights_row(c, query);
    for (int i = 0; i < n; i++) row[i] += at->u[i];
}

static void keep_head(const ganz_attention_call *c, const worker_scratch *at, int query, int head, int n)
{
    const ganz_attention_trace *const t = c->trace;
    const size_t line = ((size_t)head * (size_t)c->see.queries + (size_t)query) * (size_t)t->keys;
    memcpy(t->scores + line, at->scores, (size_t)n * sizeof *t->scores);
    memcpy(t->u + line, at->u, (size_t)n);
}

static void attend_row(const attention_job *job, const worker_scratch *at, int query, int n)
{
    const ganz_attention_call *const c = job->c;
    const int8_t *const q = ganz_code_row(&c->q.m, query);
    const int d = c->heads * c->width;
    const ganz_unsigned_codes u = {at->u, job->u_inv, c->u_max};
    for (int col = 0; col < d; col += c->width) {
        job->rows->dot_rows(q + col, c->width, at->k, (size_t)col, n, at->scores);
        if (c->u_codes) audited_u(job, at, n);
        else job->rows->softmax_codes(at->scores, n, job->score, &u, at->work);
        if (c->weights) add_weights(c, at, query, n);
        if (c->trace) keep_head(c, at, query, col / c->width, n);
        job->rows->weighted_rows(at->u, at->v, (size_t)col, n, c->width, at->sums + col);
    }
    if (c->trace) memcpy(c->trace->sums + (size_t)query * (size_t)d, at->sums, (size_t)d * sizeof *at->sums);
    if (c->largest_uv) ganz_raise_largest(c->largest_uv, at->sums, (size_t)d);
    job->rows->epilogue(&job->e, at->sums, (size_t)d, (ganz_block){query, 1, 0, d});
}

static void attend_lists(void *context, int64_t begin, int64_t end, int worker)
{
    const attention_job *const job = context;
    const ganz_attention_call *const c = job->c;
    const worker_scratch at = worker_scratch_at(job, worker);
    for (int query = (int)begin; query < (int)end; query++) {
        const int32_t *const list = c->see.list + c->see.list_begin[query];
        const int n = c->see.list_begin[query + 1] - c->see.list_begin[query];
        for (int i = 0; i < n; i++) {
            at.k[i] = ganz_code_row(&c->k.m, list[i]);
            at.v[i] = ganz_code_row(&c->v.m, list[i]);
        }
        attend_row(job, &at, query, n);
    }
}

static void attend_segments(void *context, int64_t begin, int64_t end, int worker)
{
    const attention_job *const job = context;
    const ganz_attention_call *const c = job->c;
    const worker_scratch at = worker_scratch_at(job, worker);
    int segment = 0, query = (int)begin;
    for (; query < (int)end; segment++) {
        const int first = c->see.query_begin[segment], last = c->see.query_begin[segment + 1];
        if (query >= last) continue;
        const int key = c->see.key_begin[segment], keys = c->see.key_begin[segment + 1] - key;
        for (int i = 0; i < keys; i++) {
            at.k[i] = ganz_code_row(&c->k.m, key + i);
            at.v[i] = ganz_code_row(&c->v.m, key + i);
        }
        for (; query < last && query < (int)end; query++) {
            const int seen = query - first + 1;
            attend_row(job, &at, query, c->see.causal && seen < keys ? seen : keys);
        }
    }
}

void ganz_cpu_attention_codes(ganz_backend *be, const ganz_attention_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    GANZ_ASSERT(c->q.m.type == GANZ_S8 && c->k.m.type == GANZ_S8 && c->v.m.type == GANZ_S8 && c->u_scale && !c->mask);
    attention_job job = {.c = c,
                         .rows = &cpu->kernel.rows,
                         .e = ganz_code_epilogue(*c->u_scale * *c->v.scale, &c->out, &c->codes),
                         .score = ganz_cpu_score_factor(c),
                         .u_inv = 1 / *c->u_scale,
                         .scratch_each = worker_scratch_bytes(c)};
    job.scratch = ganz_cpu_scratch(cpu, (size_t)cpu->threads, job.scratch_each);
    if (!job.scratch) return;
    const int rows = c->see.queries;
    const int64_t grain = c->u_codes ? rows : ganz_cpu_grain(c->see.longest_key * c->heads * c->width / 4 + 1);
    ganz_pool_run(cpu->pool, rows, grain > 0 ? grain : 1, c->see.segments ? attend_segments : attend_lists, &job);
}
