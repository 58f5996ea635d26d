/* Attention, forward: all queries of a segment and head at once, or one query with a list of keys. */
#include "backend/cpu_attention.h"

#include "backend/cpu_backend.h"
#include "backend/cpu_gemm.h"
#include "backend/cpu_math.h"

ganz_cpu_head ganz_cpu_head_at(const ganz_attention_call *c, int64_t item)
{
    const int segment = (int)(item / c->heads), head = (int)(item % c->heads);
    const int query = c->see.query_begin[segment], key = c->see.key_begin[segment];
    const int col = head * c->width;
    return (ganz_cpu_head){
        .head = head,
        .query = query,
        .key = key,
        .queries = c->see.query_begin[segment + 1] - query,
        .keys = c->see.key_begin[segment + 1] - key,
        .q = real_row(&c->q.m, query) + col,
        .k = real_row(&c->k.m, key) + col,
        .v = real_row(&c->v.m, key) + col,
    };
}

real ganz_cpu_score_factor(const ganz_attention_call *c) { return scale_of(&c->q) * scale_of(&c->k) * c->inv_root; }

void ganz_cpu_keep_line(const ganz_attention_call *c, const ganz_cpu_head *h, int query, int n, real *factor)
{
    const uint8_t *const line = c->mask + (size_t)c->query_slot[h->query + query] * (size_t)c->mask_side;
    for (int j = 0; j < n; j++) factor[j] = (real)line[c->key_slot[h->key + j]] * c->mask_scale;
}

/* scores become U; stats: largest score, sum of exp. */
GANZ_CLONES static void softmax_row(real *x, int n, real factor, real stats[2])
{
    real max = x[0] * factor, sum;
    for (int i = 0; i < n; i++) {
        x[i] = x[i] * factor;
        max = x[i] > max ? x[i] : max;
    }
    for (int i = 0; i < n; i++) x[i] = real_exp(x[i] - max);
    LANE_SUM(sum, n, i, x[i]);
    const real r = 1 / sum;
    for (int i = 0; i < n; i++) x[i] = x[i] * r;
    stats[0] = max;
    stats[1] = sum;
}

GANZ_CLONES static void code_row(real *x, int n, real inv, real high)
{
    for (int i = 0; i < n; i++) x[i] = real_code(x[i] * inv, 0, high);
}

/* The worth of a sum of U times v: scale_u * scale_v (dropout's scale is in U). */
static real value_factor(const ganz_attention_call *c) { return (c->u_scale ? *c->u_scale : 1) * scale_of(&c->v); }

GANZ_CLONES static void scale_row(real *x, int n, real factor)
{
    for (int i = 0; i < n; i++) x[i] = x[i] * factor;
}

typedef struct attention_job {
    const ganz_attention_call *c;
    const ganz_cpu *cpu;
    real factor, value, inv; /* of scores; of values; 1 / u_scale */
    real *scratch;           /* per worker */
    size_t scratch_each;
    real *largest; /* per worker: the largest U it saw */
} attention_job;

/* From raw sums to U, rounded and dropped as asked; returns the largest U of the row. */
static real finish_u(const attention_job *job, real *u, int n, real *stats)
{
    real own[2];
    real *const kept = stats ? stats : own;
    softmax_row(u, n, job->factor, kept);
    if (job->c->u_scale) code_row(u, n, job->inv, (real)job->c->u_max);
    return 1 / kept[1];
}

static void add_weights(const ganz_attention_call *c, int query, const real *u, int n)
{
    if (!c->weights) return;
    real *const row = ganz_cpu_weights_row(c, query);
    for (int i = 0; i < n; i++) row[i] += u[i];
}

static void raise_largest(const attention_job *job, int worker, real u)
{
    if (u > job->largest[worker]) job->largest[worker] = u;
}

/* ---- segments ----------------------------------------------------------------------------------- */

static void attend_segment(const attention_job *job, const ganz_cpu_head *h, int worker)
{
    const ganz_attention_call *const c = job->c;
    const int keys = h->keys;
    real *const u = job->scratch + job->scratch_each * (size_t)worker, *const keep =
                                                                           u + (size_t)h->queries * (size_t)keys;
    ganz_cpu_gemm(job->cpu, worker,
                  &(ganz_cpu_product){h->queries, keys, c->width, ganz_cpu_plain(h->q, c->q.m.ld),
                                      ganz_cpu_transposed(h->k, c->k.m.ld), u, keys, 1, false});
    for (int i = 0; i < h->queries; i++) {
        real *const line = u + (size_t)i * (size_t)keys;
        const int n = ganz_cpu_seen(c, h, i);
        real *const stats =
            c->stats ? c->stats + ((size_t)(h->query + i) * (size_t)c->heads + (size_t)h->head) * 2 : NULL;
        raise_largest(job, worker, finish_u(job, line, n, stats));
        add_weights(c, h->query + i, line, n);
        if (c->mask) {
            ganz_cpu_keep_line(c, h, i, n, keep);
            for (int j = 0; j < n; j++) line[j] = line[j] * keep[j];
        }
        for (int j = n; j < keys; j++) line[j] = 0;
    }
    real *const out = real_row(&c->out, h->query) + h->head * c->width;
    ganz_cpu_gemm(job->cpu, worker,
                  &(ganz_cpu_product){h->queries, c->width, keys, ganz_cpu_plain(u, keys),
                                      ganz_cpu_plain(h->v, c->v.m.ld), out, c->out.ld, 1, false});
    if (job->value != 1)
        for (int i = 0; i < h->queries; i++) scale_row(out + (size_t)i * (size_t)c->out.ld, c->width, job->value);
}

static void attend_segments(void *context, int64_t begin, int64_t end, int worker)
{
    const attention_job *const job = context;
    for (int64_t item = begin; item < end; item++) {
        const ganz_cpu_head h = ganz_cpu_head_at(job->c, item);
        if (h.queries > 0 && h.keys > 0) attend_segment(job, &h, worker);
    }
}

/* ---- lists -------------------------------------------------------------------------------------- */

/* The rows that one query sees, and the columns of one head. */
typedef struct seen_rows {
    const int32_t *list; /* (n) row numbers */
    int n;
    int col, width;
} seen_rows;

GANZ_CLONES static void dot_list(const real *q, const ganz_matrix *k, const seen_rows *see, real *scores)
{
    for (int j = 0; j < see->n; j++) {
        const real *const row = real_row(k, see->list[j]) + see->col;
        LANE_SUM(scores[j], see->width, i, q[i] * row[i]);
    }
}

GANZ_CLONES static void mix_list(const real *u, const ganz_matrix *v, const seen_rows *see, real *out)
{
    const int width = see->width;
    for (int i = 0; i < width; i++) out[i] = 0;
    for (int j = 0; j < see->n; j++) {
        const real *const row = real_row(v, see->list[j]) + see->col;
        for (int i = 0; i < width; i++) out[i] += u[j] * row[i];
    }
}

static void attend_lists(void *context, int64_t begin, int64_t end, int worker)
{
    const attention_job *const job = context;
    const ganz_attention_call *const c = job->c;
    real *const u = job->scratch + job->scratch_each * (size_t)worker;
    for (int64_t item = begin; item < end; item++) {
        const int query = (int)(item / c->heads), head = (int)(item % c->heads), col = head * c->width;
        const int n = c->see.list_begin[query + 1] - c->see.list_begin[query];
        const seen_rows see = {c->see.list + c->see.list_begin[query], n, col, c->width};
        real *const out = real_row(&c->out, query) + col;
        dot_list(real_row(&c->q.m, query) + col, &c->k.m, &see, u);
        raise_largest(job, worker, finish_u(job, u, n, c->stats ? c->stats + (size_t)item * 2 : NULL));
        add_weights(c, query, u, n);
        mix_list(u, &c->v.m, &see, out);
        if (job->value != 1) scale_row(out, c->width, job->value);
    }
}

/* ---- call --------------------------------------------------------------------------------------- */

void ganz_cpu_attention(ganz_backend *be, const ganz_attention_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    const bool lists = c->see.segments == 0;
    const size_t workers = (size_t)cpu->threads, keys = (size_t)c->see.longest_key;
    GANZ_ASSERT(c->q.m.type == GANZ_REAL && c->k.m.type == GANZ_REAL && c->v.m.type == GANZ_REAL);
    GANZ_ASSERT(!lists || !c->mask);
    if (!lists && !ganz_cpu_gemm_ready(cpu)) return;
    attention_job job = {.c = c,
                         .cpu = cpu,
                         .factor = ganz_cpu_score_factor(c),
                         .value = value_factor(c),
                         .inv = c->u_scale ? 1 / *c->u_scale : 1};
    job.scratch_each =
        ganz_round_up(lists ? keys : ((size_t)c->see.longest_query + 1) * keys, GANZ_ALIGN / sizeof(real));
    job.scratch = ganz_cpu_scratch(cpu, workers * (job.scratch_each + 1), sizeof(real));
    if (!job.scratch) return;
    job.largest = job.scratch + workers * job.scratch_each;
    for (size_t i = 0; i < workers; i++) job.largest[i] = 0;
    const int64_t items = (int64_t)(lists ? c->see.queries : c->see.segments) * c->heads;
    const int64_t grain = c->weights ? items : lists ? ganz_cpu_grain((int)(keys + 1) * c->width) : 1;
    ganz_pool_run(cpu->pool, items, grain, lists ? attend_lists : attend_segments, &job);
    for (size_t i = 0; c->u_largest && i < workers; i++)
        *c->u_largest = job.largest[i] > *c->u_largest ? job.largest[i] : *c->u_largest;
}
