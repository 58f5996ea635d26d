/* Shared by forward and backward of attention on the CPU: where the rows of a head lie. */
#ifndef GANZ_BACKEND_CPU_ATTENTION_H
#define GANZ_BACKEND_CPU_ATTENTION_H

#include "backend/backend.h"

/* One head of one segment: where its rows lie. */
typedef struct ganz_cpu_head {
    int head, query, key;  /* head; first query and key row */
    int queries, keys;     /* rows */
    const real *q, *k, *v; /* first element of each; rows are c->q.m.ld apart and so on */
} ganz_cpu_head;

ganz_cpu_head ganz_cpu_head_at(const ganz_attention_call *c, int64_t item);

/* How many keys query i of the segment sees. */
static inline int ganz_cpu_seen(const ganz_attention_call *c, const ganz_cpu_head *h, int i)
{
    return c->see.causal && i + 1 < h->keys ? i + 1 : h->keys;
}

/* Row of the attention weights of a query. Heads are added up in one order, so one worker does all queries. */
static inline real *ganz_cpu_weights_row(const ganz_attention_call *c, int query)
{
    return c->weights + (size_t)query * (size_t)c->see.longest_key;
}

/* The worth of a sum of q times k: (scale_q * scale_k) * inv_root, in this order everywhere. */
real ganz_cpu_score_factor(const ganz_attention_call *c);

/* line[0..n) of keep marks for one query of the segment times mask_scale into factor; only with c->mask. */
void ganz_cpu_keep_line(const ganz_attention_call *c, const ganz_cpu_head *h, int query, int n, real *factor);

#endif
