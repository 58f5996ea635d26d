/* The loss and its gradient, row by row: cross entropy with smoothed labels, or divergence from a teacher. */
#include <math.h>
#include <string.h>

#include "backend/cpu_backend.h"
#include "backend/cpu_math.h"

/* Most numbers of a row are tiny beside its largest and would be lost in one long sum, all on one side: lanes sum up a
 * block, blocks are added in double. */
enum { BLOCK = 1024 };

static int block_of(int n, int begin) { return n - begin < BLOCK ? n - begin : BLOCK; }

/* What softmax divides by. */
typedef struct whole {
    real max;
    double exps; /* sum(exp(x - max)) */
} whole;

GANZ_CLONES static whole whole_of(const real *x, int n)
{
    real lane[LANES], m;
    double sum = 0;
    for (int l = 0; l < LANES; l++) lane[l] = x[0];
    int at = 0;
    for (; at + LANES <= n; at += LANES)
        for (int l = 0; l < LANES; l++) lane[l] = x[at + l] > lane[l] ? x[at + l] : lane[l];
    for (; at < n; at++) lane[0] = x[at] > lane[0] ? x[at] : lane[0];
    m = lane[0];
    for (int l = 1; l < LANES; l++) m = lane[l] > m ? lane[l] : m;
    for (at = 0; at < n; at += BLOCK) {
        real part;
        LANE_SUM(part, block_of(n, at), i, real_exp(x[at + i] - m));
        sum += (double)part;
    }
    return (whole){m, sum};
}

/* Where x has its largest value first. */
static int first_of(const real *x, real max)
{
    int first = 0;
    while (x[first] < max) first++;
    return first;
}

/* ---- loss --------------------------------------------------------------------------------------- */

typedef struct loss_job {
    const ganz_loss_call *c;
    double constant;
    double *sums; /* (rows, 3) */
} loss_job;

/* Cross entropy of soft targets (1 - s on the label, s / (vocab - 1) elsewhere) against the minimum it can reach. */
static double loss_constant(double smoothing, int vocab)
{
    const double right = 1 - smoothing, other = smoothing / (vocab - 1);
    return -(right * log(right) + (vocab - 1) * other * log(other + 1e-20));
}

GANZ_CLONES static double loss_row(const ganz_loss_call *c, const real *x, whole w, int label)
{
    const int n = c->vocab;
    real sum;
    LANE_SUM(sum, n, i, x[i]);
    const double other = (double)c->smoothing / (n - 1), right = 1 - (double)c->smoothing;
    return (double)w.max + log(w.exps) - (right - other) * (double)x[label] - other * (double)sum;
}

/* logits become (softmax - soft targets) * grad_scale */
GANZ_CLONES static void loss_grad_row(const ganz_loss_call *c, real *x, whole w, int label, real grad_scale)
{
    const int n = c->vocab;
    const real scale = grad_scale / (real)w.exps, max = w.max, other = c->smoothing / (real)(n - 1) * grad_scale;
    const real right = (1 - c->smoothing) * grad_scale;
    const real at_label = real_exp(x[label] - max) * scale - right;
    for (int i = 0; i < n; i++) x[i] = real_exp(x[i] - max) * scale - other;
    x[label] = at_label;
}

/* ---- a teacher ---------------------------------------------------------------------------------- */

/* The divergence of softmax(x) from softmax(t): sum of p (log p - log q). */
GANZ_CLONES static double taught_row(const ganz_loss_call *c, const real *x, whole w, const real *t, whole v)
{
    const int n = c->vocab;
    const real max = w.max, most = v.max;
    double sum = 0;
    for (int at = 0; at < n; at += BLOCK) {
        real part;
        LANE_SUM(part, block_of(n, at), i, real_exp(t[at + i] - most) * ((t[at + i] - most) - (x[at + i] - max)));
        sum += (double)part;
    }
    return sum / v.exps - log(v.exps) + log(w.exps);
}

/* logits become (softmax - the teacher's) * grad_scale */
GANZ_CLONES static void taught_grad_row(const ganz_loss_call *c, real *x, whole w, const real *t, whole v,
                                        real grad_scale)
{
    const int n = c->vocab;
    const real scale = grad_scale / (real)w.exps, believed = grad_scale / (real)v.exps, max = w.max, most = v.max;
    for (int i = 0; i < n; i++) x[i] = real_exp(x[i] - max) * scale - real_exp(t[i] - most) * believed;
}

/* ---- all rows ----------------------------------------------------------------------------------- */

static void loss_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const loss_job *const job = context;
    const ganz_loss_call *const c = job->c;
    (void)worker;
    for (int row = (int)begin; row < (int)end; row++) {
        real *const x = real_row(&c->logits, row);
        const real *const t = c->taught.data ? real_row(&c->taught, row) : NULL;
        double *const sums = job->sums + 3 * (size_t)row;
        const int label = c->labels[row];
        GANZ_ASSERT(label < c->vocab);
        const bool counts = label >= 0 && label != c->pad;
        sums[0] = sums[1] = 0;
        sums[2] = counts;
        if (!counts && c->want_grad) memset(x, 0, (size_t)c->vocab * sizeof *x);
        if (!counts) continue;
        const whole w = whole_of(x, c->vocab), v = t ? whole_of(t, c->vocab) : w;
        sums[0] = t ? taught_row(c, x, w, t, v) : loss_row(c, x, w, label) - job->constant;
        sums[1] = first_of(x, w.max) == label;
        if (!c->want_grad) continue;
        const real grad_scale = c->share ? c->grad_scale * (real)c->share[row] : c->grad_scale;
        if (t) taught_grad_row(c, x, w, t, v, grad_scale);
        else loss_grad_row(c, x, w, label, grad_scale);
    }
}

void ganz_cpu_loss(ganz_backend *be, const ganz_loss_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    loss_job job = {c, loss_constant((double)c->smoothing, c->vocab),
                    ganz_cpu_scratch(cpu, 3 * (size_t)c->rows, sizeof(double))};
    if (!job.sums) return;
    ganz_pool_run(cpu->pool, c->rows, ganz_cpu_grain(c->vocab), loss_rows, &job);
    for (int row = 0; row < c->rows; row++)
        for (int i = 0; i < 3; i++) c->sums[i] += job.sums[3 * (size_t)row + (size_t)i];
}
