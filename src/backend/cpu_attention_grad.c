/* Attention, backward: U is made again from the scores, and from the largest score and sum that the forward kept. */
#include "backend/cpu_attention.h"
#include "backend/cpu_backend.h"
#include "backend/cpu_gemm.h"
#include "backend/cpu_math.h"

typedef struct grad_job {
    const ganz_attention_call *c;
    const ganz_cpu *cpu;
    real factor, inv; /* of scores; 1 / u_scale */
    real *scratch;    /* per worker: u, u as it was used (rounded, dropped), its gradient, and a line of marks */
    size_t scratch_each;
    real *z; /* (items) sums for the gradient of z of u, or NULL */
} grad_job;

GANZ_CLONES static void u_row(real *x, int n, real factor, const real stats[2])
{
    const real r = 1 / stats[1], max = stats[0];
    for (int i = 0; i < n; i++) x[i] = real_exp(x[i] * factor - max) * r;
}

/* From u (values) and the gradient g of its rounded self: g where inside the range; returns the sum for z. */
GANZ_CLONES static real round_grad_row(const real *u, int n, real inv, real high, real *g)
{
    real sum;
    const real edge = high + (real)0.5;
    LANE_SUM(sum, n, i, g[i] * (real_code(u[i] * inv, 0, high) - (u[i] * inv < edge ? u[i] * inv : 0)));
    for (int i = 0; i < n; i++) g[i] = u[i] * inv < edge ? g[i] : 0;
    return sum;
}

/* Gradient of U becomes that of the raw scores (times factor / scales, which the products after it add). */
GANZ_CLONES static void softmax_grad_row(const real *u, int n, real scale, real *g)
{
    real dot;
    LANE_SUM(dot, n, i, u[i] * g[i]);
    for (int i = 0; i < n; i++) g[i] = u[i] * (g[i] - dot) * scale;
}

GANZ_CLONES static void used_row(const grad_job *job, const real *u, int n, const real *keep, real *used)
{
    const real inv = job->inv, high = (real)job->c->u_max;
    if (job->c->u_scale) {
        const real scale = *job->c->u_scale;
        for (int i = 0; i < n; i++) used[i] = real_code(u[i] * inv, 0, high) * scale;
    } else {
        for (int i = 0; i < n; i++) used[i] = u[i];
    }
    if (keep)
        for (int i = 0; i < n; i++) used[i] = used[i] * keep[i];
}

/* Rows of one query. */
typedef struct grad_rows {
    real *u;     /* raw scores, then U */
    real *used;  /* U as v was multiplied with it */
    real *g;     /* gradient of `used`, then of the scores */
    real *marks; /* dropout */
} grad_rows;

/* One query; returns its part of the gradient of z. */
static real grad_line(const grad_job *job, const ganz_cpu_head *h, int i, const grad_rows *rows)
{
    real *const u = rows->u, *const used = rows->used, *const g = rows->g, *const marks = rows->marks;
    const ganz_attention_call *const c = job->c;
    const int n = ganz_cpu_seen(c, h, i);
    real z = 0;
    u_row(u, n, job->factor, c->stats + ((size_t)(h->query + i) * (size_t)c->heads + (size_t)h->head) * 2);
    if (c->mask) {
        ganz_cpu_keep_line(c, h, i, n, marks);
        for (int j = 0; j < n; j++) g[j] = g[j] * marks[j];
    }
    used_row(job, u, n, c->mask ? marks : NULL, used);
    if (c->u_scale) z = round_grad_row(u, n, job->inv, (real)c->u_max, g);
    softmax_grad_row(u, n, c->inv_root, g);
    for (int j = n; j < h->keys; j++) used[j] = g[j] = 0;
    return z;
}

static void grad_segment(const grad_job *job, const ganz_cpu_head *h, int worker, real *z)
{
    const ganz_attention_call *const c = job->c;
    const int keys = h->keys, queries = h->queries, w = c->width, col = h->head * w;
    const size_t size = (size_t)queries * (size_t)keys;
    real *const u = job->scratch + job->scratch_each * (size_t)worker, *const used = u + size, *const g = used + size,
                *const marks = g + size;
    const real *const out_grad = real_row(&c->out_grad, h->query) + col;
    real *const q_grad = real_row(&c->q_grad, h->query) + col;
    real *const k_grad = real_row(&c->k_grad, h->key) + col, *const v_grad = real_row(&c->v_grad, h->key) + col;
    real sum = 0;
    const ganz_cpu_side out_side = ganz_cpu_plain(out_grad, c->out_grad.ld);
    ganz_cpu_gemm(job->cpu, worker,
                  &(ganz_cpu_product){queries, keys, w, ganz_cpu_plain(h->q, c->q.m.ld),
                                      ganz_cpu_transposed(h->k, c->k.m.ld), u, keys, 1, false});
    ganz_cpu_gemm(job->cpu, worker,
                  &(ganz_cpu_product){queries, keys, w, out_side, ganz_cpu_transposed(h->v, c->v.m.ld), g, keys,
                                      scale_of(&c->v), false});
    for (int i = 0; i < queries; i++) {
        const size_t at = (size_t)i * (size_t)keys;
        sum += grad_line(job, h, i, &(grad_rows){u + at, used + at, g + at, marks});
    }
    if (z) *z = sum * *c->u_scale * (real)0.693147180559945309417;
    ganz_cpu_gemm(job->cpu, worker,
                  &(ganz_cpu_product){keys, w, queries, ganz_cpu_transposed(used, keys), out_side, v_grad, c->v_grad.ld,
                                      1, false});
    ganz_cpu_gemm(job->cpu, worker,
                  &(ganz_cpu_product){queries, w, keys, ganz_cpu_plain(g, keys), ganz_cpu_plain(h->k, c->k.m.ld),
                                      q_grad, c->q_grad.ld, scale_of(&c->k), false});
    ganz_cpu_gemm(job->cpu, worker,
                  &(ganz_cpu_product){keys, w, queries, ganz_cpu_transposed(g, keys), ganz_cpu_plain(h->q, c->q.m.ld),
                                      k_grad, c->k_grad.ld, scale_of(&c->q), false});
}

static void zero_rows(const ganz_matrix *m, int row, int rows, int col, int cols)
{
    for (int i = row; i < row + rows; i++)
        for (int j = col; j < col + cols; j++) real_row(m, i)[j] = 0;
}

static void grad_segments(void *context, int64_t begin, int64_t end, int worker)
{
    const grad_job *const job = context;
    const ganz_attention_call *const c = job->c;
    for (int64_t item = begin; item < end; item++) {
        const ganz_cpu_head h = ganz_cpu_head_at(c, item);
        if (job->z) job->z[item] = 0;
        if (h.queries > 0 && h.keys > 0) {
            grad_segment(job, &h, worker, job->z ? job->z + item : NULL);
        } else { /* one side is empty: nothing came from the other */
            zero_rows(&c->q_grad, h.query, h.queries, h.head * c->width, c->width);
            zero_rows(&c->k_grad, h.key, h.keys, h.head * c->width, c->width);
            zero_rows(&c->v_grad, h.key, h.keys, h.head * c->width, c->width);
        }
    }
}

void ganz_cpu_attention_grad(ganz_backend *be, const ganz_attention_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    const size_t keys = (size_t)c->see.longest_key, queries = (size_t)c->see.longest_query;
    const int64_t items = (int64_t)c->see.segments * c->heads;
    GANZ_ASSERT(c->see.segments > 0 && c->stats);
    if (!ganz_cpu_gemm_ready(cpu)) return;
    grad_job job = {.c = c, .cpu = cpu, .factor = ganz_cpu_score_factor(c), .inv = c->u_scale ? 1 / *c->u_scale : 1};
    job.scratch_each = ganz_round_up((3 * queries + 1) * keys, GANZ_ALIGN / sizeof(real));
    job.scratch = ganz_cpu_scratch(cpu, (size_t)cpu->threads * job.scratch_each + (size_t)items, sizeof(real));
    if (!job.scratch) return;
    const bool want_z = c->u_scale && c->u_z_grad;
    if (want_z) job.z = job.scratch + (size_t)cpu->threads * job.scratch_each;
    ganz_pool_run(cpu->pool, items, 1, grad_segments, &job);
    double sum = 0;
    for (int64_t i = 0; want_z && i < items; i++) sum += (double)job.z[i];
    if (want_z) *c->u_z_grad += (real)sum;
}
