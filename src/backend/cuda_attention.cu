/* Attention by plain float arithmetic: lists, and segments that no other way suits (wide heads, very long). One warp
 * for each query (or, in the backward, key): first a lane for each key and dot products along it, then a lane for each
 * column and sums. */
#include <string.h>

#include "backend/cuda_attention.cuh"

enum { THREADS = 128, WARPS = THREADS / WARP };

/* ---- typed access, decided at run time ---------------------------------------------------------- */

static __device__ inline float4 matrix4(const ganz_matrix *m, int row, int column)
{
    const size_t at = (size_t)row * m->ld + column;
    return m->type == GANZ_BF16 ? load4((const bf16 *)m->data + at) : load4((const float *)m->data + at);
}
static __device__ inline float matrix1(const ganz_matrix *m, int row, int column)
{
    const size_t at = (size_t)row * m->ld + column;
    return m->type == GANZ_BF16 ? load1((const bf16 *)m->data + at) : load1((const float *)m->data + at);
}
static __device__ inline void put1(const ganz_matrix *m, int row, int column, float v)
{
    const size_t at = (size_t)row * m->ld + column;
    if (m->type == GANZ_BF16) store1((bf16 *)m->data + at, v);
    else store1((float *)m->data + at, v);
}

/* Dot product of a vector in shared memory with one head of a row. */
template <typename T> static __device__ inline float dot(const float *vector, const T *row, int width)
{
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int i = 0; i < width; i += 4) sum = sum + *(const float4 *)(vector + i) * load4(row + i);
    return total4(sum);
}

static __device__ inline void fetch(const ganz_matrix *m, int row, int column, int width, float *to)
{
    const int lane = threadIdx.x % WARP;
    for (int i = 4 * lane; i < width; i += 4 * WARP) *(float4 *)(to + i) = matrix4(m, row, column + i);
}

static __device__ inline float keep(const ganz_attention_call *a, int query_row, int key_row)
{
    if (a->mask == NULL) return 1.0f;
    return (float)a->mask[(size_t)a->query_slot[query_row] * a->mask_side + a->key_slot[key_row]];
}

/* ---- forward ------------------------------------------------------------------------------------ */

/* The keys of one query: rows first .. first + count - 1, or those of a list. */
typedef struct seen {
    const int32_t *list;
    int first, count;
} seen;

static __device__ inline int key_row(seen s, int j) { return s.list != NULL ? s.list[j] : s.first + j; }

template <typename T>
static __device__ void attend(const ganz_attention_call *a, int query, int head, seen s, float *q, float *u)
{
    const int lane = threadIdx.x % WARP, column = head * a->width;
    const attention_numbers n = numbers_of(a);
    fetch(&a->q.m, query, column, a->width, q);
    __syncwarp();
    float most = -INFINITY, sum = 0;
    for (int j = lane; j < s.count; j += WARP) {
        u[j] = dot(q, (const T *)a->k.m.data + (size_t)key_row(s, j) * a->k.m.ld + column, a->width) * n.factor;
        most = fmaxf(most, u[j]);
    }
    most = warp_max(most);
    for (int j = lane; j < s.count; j += WARP) {
        u[j] = expf(u[j] - most);
        sum += u[j];
    }
    sum = warp_sum(sum);
    const float inverse = sum > 0 ? 1.0f / sum : 0.0f;
    for (int j = lane; j < s.count; j += WARP) u[j] = u_code(a, &n, u[j] * inverse) * keep(a, query, key_row(s, j));
    __syncwarp();
    const float worth = n.u_scale * n.v_scale * n.keep_scale;
    for (int i = lane; i < a->width; i += WARP) {
        float out = 0;
#pragma unroll 4
        for (int j = 0; j < s.count; j++)
            out += u[j] * load1((const T *)a->v.m.data + (size_t)key_row(s, j) * a->v.m.ld + column + i);
        put1(&a->out, query, column + i, out * worth);
    }
    if (lane == 0 && a->stats != NULL) {
        a->stats[2 * ((size_t)query * a->heads + head)] = most;
        a->stats[2 * ((size_t)query * a->heads + head) + 1] = sum;
    }
    if (lane == 0 && a->u_largest != NULL) raise(a->u_largest, inverse);
    __syncwarp(); /* the next query reuses the memory */
}

template <typename T> static __global__ void attend_segments(const ganz_attention_call a, int longest)
{
    extern __shared__ __align__(16) float shared[];
    const int warp = threadIdx.x / WARP;
    float *q = shared + (size_t)warp * (a.width + longest), *u = q + a.width;
    const attention_place p = place_of(&a, blockIdx.x);
    for (int i = warp; i < p.queries; i += blockDim.x / WARP) {
        const seen s = {NULL, p.key, a.see.causal ? min(i + 1, p.keys) : p.keys};
        attend<T>(&a, p.query + i, p.head, s, q, u);
    }
}

template <typename T> static __global__ void attend_lists(const ganz_attention_call a, int longest)
{
    extern __shared__ __align__(16) float shared[];
    const int warp = threadIdx.x / WARP, item = blockIdx.x * (blockDim.x / WARP) + warp;
    float *q = shared + (size_t)warp * (a.width + longest), *u = q + a.width;
    if (item >= a.see.queries * a.heads) return;
    const int query = item / a.heads, begin = a.see.list_begin[query];
    const seen s = {a.see.list + begin, 0, a.see.list_begin[query + 1] - begin};
    attend<T>(&a, query, item % a.heads, s, q, u);
}

/* Warps of a block for which `each` floats of shared memory fit; 0 (and failed) when not even one does. */
static int fitting_warps(ganz_cuda *c, size_t each, const char *where)
{
    for (int warps = WARPS; warps > 0; warps /= 2)
        if ((size_t)warps * each * sizeof(float) + 1024 <= (size_t)c->shared_bytes) return warps;
    ganz_cuda_fail(c, where, "the segments are too long for the GPU's shared memory");
    return 0;
}

static void allow_shared(const void *kernel, size_t bytes)
{
    if (bytes > 48 * 1024) (void)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

static bool fits(ganz_cuda *c, const ganz_attention_call *a)
{
    const bool good = a->width % 4 == 0 && ganz_cuda_fours(&a->q.m) && ganz_cuda_fours(&a->k.m) &&
                      ganz_cuda_fours(&a->v.m) && ganz_cuda_floats(&a->q.m) && a->k.m.type == a->q.m.type &&
                      a->v.m.type == a->q.m.type && ganz_cuda_fours(&a->out_grad);
    if (!good)
        ganz_cuda_fail(c, "attention", "q, k and v must be floats of one type, heads in aligned fours of columns");
    return good;
}

template <typename T> static void run_attention(ganz_cuda *c, const ganz_attention_call *call)
{
    const int longest = (int)ganz_round_up((size_t)call->see.longest_key, 4);
    const size_t each = (size_t)(call->width + longest);
    const int warps = fitting_warps(c, each, "attention");
    if (warps == 0) return;
    const size_t bytes = (size_t)warps * each * sizeof(float);
    if (call->see.segments > 0) {
        allow_shared((const void *)attend_segments<T>, bytes);
        attend_segments<T><<<call->see.segments * call->heads, warps * WARP, bytes, c->stream>>>(*call, longest);
        return;
    }
    allow_shared((const void *)attend_lists<T>, bytes);
    const int blocks = ganz_cuda_blocks((int64_t)call->see.queries * call->heads, warps);
    attend_lists<T><<<blocks, warps * WARP, bytes, c->stream>>>(*call, longest);
}

static void to_values(ganz_cuda *c, const ganz_attention_call *call)
{
    if (ganz_cuda_attention_plain(c, call)) return;
    GANZ_CUDA_TYPE(call->q.m.type, T, run_attention<T>(c, call));
}

/* To values in scratch, and from there to codes. */
static void attention_to_codes(ganz_cuda *c, const ganz_attention_call *call)
{
    const int rows = call->see.queries, cols = call->heads * call->width;
    float *values = (float *)ganz_cuda_scratch(c, (size_t)rows * (size_t)cols * sizeof *values);
    if (values == NULL) return;
    ganz_attention_call made = *call;
    made.out = ganz_matrix{rows, cols, cols, GANZ_REAL, values};
    to_values(c, &made);
    ganz_linear_call round;
    memset(&round, 0, sizeof round);
    round.rows = rows;
    round.out = cols;
    round.codes = call->codes;
    ganz_cuda_finish_codes(c, &round, values, 0, rows);
}

void ganz_cuda_attention(ganz_backend *be, const ganz_attention_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->see.queries == 0 || ganz_cuda_attention_tensor(c, call) || !fits(c, call)) return;
    if (call->codes.m.data != NULL) attention_to_codes(c, call);
    else to_values(c, call);
    ganz_cuda_launched(c, "attention");
}

/* ---- backward ----------------------------------------------------------------------------------- */

/* delta: (queries, heads) sum over keys of U times its gradient; z: (segments * heads) sums for the scale of U. */
template <typename T>
static __global__ void query_grads(const ganz_attention_call a, int longest, float *delta, float *z)
{
    extern __shared__ __align__(16) float shared[];
    __shared__ float room[WARP];
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    float *q = shared + (size_t)warp * (2 * a.width + 2 * longest), *g = q + a.width, *u = g + a.width,
          *du = u + longest;
    const attention_place p = place_of(&a, blockIdx.x);
    const attention_numbers n = numbers_of(&a);
    const int column = p.head * a.width;
    float z_sum = 0;
    for (int i = warp; i < p.queries; i += blockDim.x / WARP) {
        const int query = p.query + i, count = a.see.causal ? min(i + 1, p.keys) : p.keys;
        const size_t at = (size_t)query * a.heads + p.head;
        const float most = a.stats[2 * at], sum = a.stats[2 * at + 1], inverse = sum > 0 ? 1.0f / sum : 0.0f;
        fetch(&a.q.m, query, column, a.width, q);
        fetch(&a.out_grad, query, column, a.width, g);
        __syncwarp();
        float together = 0;
        for (int j = lane; j < count; j += WARP) {
            const size_t row = (size_t)(p.key + j);
            u[j] = expf(dot(q, (const T *)a.k.m.data + row * a.k.m.ld + column, a.width) * n.factor - most) * inverse;
            const float back = dot(g, (const T *)a.v.m.data + row * a.v.m.ld + column, a.width) * n.v_scale;
            du[j] = u_grad(&a, &n, u[j], back * keep(&a, query, p.key + j) * n.keep_scale, &z_sum);
            together += u[j] * du[j];
        }
        together = warp_sum(together);
        for (int j = lane; j < count; j += WARP) du[j] = u[j] * (du[j] - together);
        if (lane == 0) delta[at] = together;
        __syncwarp();
        for (int c = lane; c < a.width; c += WARP) {
            float out = 0;
#pragma unroll 4
            for (int j = 0; j < count; j++)
                out += du[j] * load1((const T *)a.k.m.data + (size_t)(p.key + j) * a.k.m.ld + column + c);
            put1(&a.q_grad, query, column + c, out * a.inv_root * n.k_scale);
        }
        __syncwarp();
    }
    if (z == NULL) return;
    z_sum = block_sum(z_sum, room);
    if (threadIdx.x == 0) z[blockIdx.x] = z_sum * n.u_scale * GANZ_LN2;
}

template <typename T> static __global__ void key_grads(const ganz_attention_call a, int longest, const float *delta)
{
    extern __shared__ __align__(16) float shared[];
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    float *k = shared + (size_t)warp * (2 * a.width + 2 * longest), *v = k + a.width, *u = v + a.width,
          *ds = u + longest;
    const attention_place p = place_of(&a, blockIdx.x);
    const attention_numbers n = numbers_of(&a);
    const int column = p.head * a.width;
    float unused = 0;
    for (int j = warp; j < p.keys; j += blockDim.x / WARP) {
        const int key = p.key + j, first = a.see.causal ? j : 0;
        fetch(&a.k.m, key, column, a.width, k);
        fetch(&a.v.m, key, column, a.width, v);
        __syncwarp();
        for (int i = first + lane; i < p.queries; i += WARP) {
            const int query = p.query + i;
            const size_t at = (size_t)query * a.heads + p.head;
            const float sum = a.stats[2 * at + 1], inverse = sum > 0 ? 1.0f / sum : 0.0f;
            const float score = dot(k, (const T *)a.q.m.data + (size_t)query * a.q.m.ld + column, a.width) * n.factor;
            const float value = expf(score - a.stats[2 * at]) * inverse, kept = keep(&a, query, key);
            float back = 0;
            for (int c = 0; c < a.width; c += 4)
                back += total4(*(const float4 *)(v + c) * matrix4(&a.out_grad, query, column + c));
            const float g = u_grad(&a, &n, value, back * n.v_scale * kept * n.keep_scale, &unused);
            u[i] = u_code(&a, &n, value) * kept;
            ds[i] = value * (g - delta[at]);
        }
        __syncwarp();
        for (int c = lane; c < a.width; c += WARP) {
            float dk = 0, dv = 0;
#pragma unroll 4
            for (int i = first; i < p.queries; i++) {
                dk += ds[i] * load1((const T *)a.q.m.data + (size_t)(p.query + i) * a.q.m.ld + column + c);
                dv += u[i] * matrix1(&a.out_grad, p.query + i, column + c);
            }
            put1(&a.k_grad, key, column + c, dk * a.inv_root * n.q_scale);
            put1(&a.v_grad, key, column + c, dv * n.u_scale * n.keep_scale);
        }
        __syncwarp();
    }
}

template <typename T> static void run_attention_grad(ganz_cuda *c, const ganz_attention_call *call)
{
    const int blocks = call->see.segments * call->heads;
    const int keys = (int)ganz_round_up((size_t)call->see.longest_key, 4);
    const int queries = (int)ganz_round_up((size_t)call->see.longest_query, 4);
    const int longest = keys > queries ? keys : queries;
    const size_t each = 2 * (size_t)(call->width + longest);
    const int warps = fitting_warps(c, each, "attention gradient");
    const bool want_z = call->u_scale != NULL && call->u_z_grad != NULL;
    const size_t room = (size_t)call->see.queries * (size_t)call->heads;
    float *delta = (float *)ganz_cuda_scratch(c, (room + (size_t)blocks) * sizeof *delta);
    if (warps == 0 || delta == NULL) return;
    float *z = want_z ? delta + room : NULL;
    const size_t bytes = (size_t)warps * each * sizeof(float);
    allow_shared((const void *)query_grads<T>, bytes);
    allow_shared((const void *)key_grads<T>, bytes);
    query_grads<T><<<blocks, warps * WARP, bytes, c->stream>>>(*call, longest, delta, z);
    key_grads<T><<<blocks, warps * WARP, bytes, c->stream>>>(*call, longest, delta);
    if (want_z) ganz_cuda_add_total(c, z, blocks, 1.0f, call->u_z_grad);
}

void ganz_cuda_attention_grad(ganz_backend *be, const ganz_attention_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->see.segments == 0) return;
    if (call->codes.inside != NULL) ganz_cuda_zero_clipped(c, &call->out_grad, call->codes.inside);
    if (ganz_cuda_attention_grad_tensor(c, call) || !fits(c, call)) return;
    if (!ganz_cuda_attention_grad_plain(c, call)) GANZ_CUDA_TYPE(call->q.m.type, T, run_attention_grad<T>(c, call));
    ganz_cuda_launched(c, "attention gradient");
    if (call->q_inside != NULL) ganz_cuda_zero_clipped(c, &call->q_grad, call->q_inside);
    if (call->k_inside != NULL) ganz_cuda_zero_clipped(c, &call->k_grad, call->k_inside);
    if (call->v_inside != NULL) ganz_cuda_zero_clipped(c, &call->v_grad, call->v_inside);
}
