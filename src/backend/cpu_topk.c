/* Candidates of a beam: the largest logits of each row and its log-sum-exp, by the kernels. */
#include "backend/cpu_backend.h"
#include "backend/cpu_math.h"

typedef struct topk_job {
    const ganz_topk_call *c;
    const ganz_rows *rows;
} topk_job;

static void topk_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const topk_job *const job = context;
    const ganz_topk_call *const c = job->c;
    (void)worker;
    for (int row = (int)begin; row < (int)end; row++) {
        float *const x = real_row(&c->logits, row);
        const size_t at = (size_t)row * (size_t)c->k;
        float max, sum;
        if (c->banned > 0) x[c->banned - 1] = GANZ_NEVER;
        job->rows->top_k(x, c->logits.cols, c->k, c->value + at, c->index + at);
        job->rows->exp_sum(x, c->logits.cols, &max, &sum);
        c->logsumexp[row] = max + ganz_exact_log(sum);
    }
}

void ganz_cpu_topk(ganz_backend *be, const ganz_topk_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    topk_job job = {c, &cpu->kernel.rows};
    GANZ_ASSERT(c->k <= c->logits.cols && c->k <= GANZ_TOP_MAX);
    ganz_pool_run(cpu->pool, c->logits.rows, ganz_cpu_grain(c->logits.cols), topk_rows, &job);
}
