/* Shared by the two ways attention runs on the GPU: by plain arithmetic, and by tensor cores. */
#ifndef GANZ_BACKEND_CUDA_ATTENTION_CUH
#define GANZ_BACKEND_CUDA_ATTENTION_CUH

#include "backend/cuda_common.cuh"

#define GANZ_LN2 0.69314718055994530942f

/* Tensor cores: bf16, segments, head widths of 32 and 64. Returns false if the call is unsupported; the caller falls
 * back. */
bool ganz_cuda_attention_tensor(ganz_cuda *c, const ganz_attention_call *call);
bool ganz_cuda_attention_grad_tensor(ganz_cuda *c, const ganz_attention_call *call);

/* Plain arithmetic in tiles of shared memory: segments, heads of at most 64 columns. Returns false if the call is
 * unsupported; the caller falls back. */
bool ganz_cuda_attention_plain(ganz_cuda *c, const ganz_attention_call *call);
bool ganz_cuda_attention_grad_plain(ganz_cuda *c, const ganz_attention_call *call);

/* Numbers every kernel starts from. */
typedef struct attention_numbers {
    float factor;           /* worth of a sum of q times k */
    float k_scale, q_scale; /* with `inv_root`: worth of gradients of scores for q and k */
    float v_scale;
    float u_scale, u_inv, u_high; /* u_scale is 1 where U is not rounded */
    float keep_scale;
} attention_numbers;

static __device__ inline attention_numbers numbers_of(const ganz_attention_call *a)
{
    attention_numbers n;
    n.q_scale = a->q.scale != NULL ? *a->q.scale : 1.0f;
    n.k_scale = a->k.scale != NULL ? *a->k.scale : 1.0f;
    n.v_scale = a->v.scale != NULL ? *a->v.scale : 1.0f;
    n.factor = n.q_scale * n.k_scale * a->inv_root;
    n.u_scale = a->u_scale != NULL ? *a->u_scale : 1.0f;
    n.u_inv = __fdiv_rn(1.0f, n.u_scale);
    n.u_high = (float)a->u_max;
    n.keep_scale = a->mask != NULL ? a->mask_scale : 1.0f;
    return n;
}

/* U as it is multiplied with v, in units of u_scale, before dropout. */
static __device__ inline float u_code(const ganz_attention_call *a, const attention_numbers *n, float u)
{
    return a->u_scale != NULL ? rintf(fminf(u * n->u_inv, n->u_high)) : u;
}

/* Gradient of U from that of its rounded self; *z gathers the gradient of log2 of the scale, without scale * ln 2. */
static __device__ inline float u_grad(const ganz_attention_call *a, const attention_numbers *n, float u, float g,
                                      float *z)
{
    if (a->u_scale == NULL) return g;
    const float y = u * n->u_inv;
    const bool in = y < n->u_high + 0.5f;
    *z += g * (rintf(fminf(y, n->u_high)) - (in ? y : 0.0f));
    return in ? g : 0.0f;
}

/* Rows of one head in a matrix: the first row and column, and how many rows. */
typedef struct head_rows {
    int row, column, count;
} head_rows;

/* The segment and head of a block. */
typedef struct attention_place {
    int head, query, key, queries, keys;
} attention_place;

static __device__ inline attention_place place_of(const ganz_attention_call *a, int block)
{
    attention_place p;
    const int segment = block / a->heads;
    p.head = block - segment * a->heads;
    p.query = a->see.query_begin[segment];
    p.key = a->see.key_begin[segment];
    p.queries = a->see.query_begin[segment + 1] - p.query;
    p.keys = a->see.key_begin[segment + 1] - p.key;
    return p;
}

#endif
