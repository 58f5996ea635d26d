/* Integer attention on the GPU around a float softmax: a block for each query, a warp for each head.
 *
 * Scores: a thread takes a key, and holds the head's query in registers. The softmax adds in the order of
 * kernel/kernel.h, from shared memory. Mixing: a thread takes four columns, and every second key. */
#include <math.h>

#include "backend/cuda_codes.cuh"

enum { MOST_WARPS = 8, KEY_BYTES = sizeof(float) + 1, PLAIN_SHARED = 48 * 1024 };

/* The keys of a query: rows from `first` on, or those of a list. */
typedef struct keys {
    const int32_t *list; /* NULL: they lie side by side */
    int first, count;
} keys;

/* The segment that a query is in: the last one that begins at or before it and is not empty. */
static __device__ inline int segment_of(const ganz_spans &see, int query)
{
    int low = 0, high = see.segments - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (see.query_begin[middle] <= query) low = middle;
        else high = middle - 1;
    }
    return low;
}

static __device__ inline keys keys_of(const ganz_spans &see, int query)
{
    keys k;
    k.list = NULL;
    if (see.segments == 0) {
        k.first = 0;
        k.list = see.list + see.list_begin[query];
        k.count = see.list_begin[query + 1] - see.list_begin[query];
        return k;
    }
    const int segment = segment_of(see, query), seen = query - see.query_begin[segment] + 1;
    k.first = see.key_begin[segment];
    k.count = see.key_begin[segment + 1] - k.first;
    if (see.causal && seen < k.count) k.count = seen;
    return k;
}

static __device__ inline const int8_t *row_of(const ganz_matrix &m, const keys &k, int i)
{
    return (const int8_t *)m.data + (size_t)(k.list != NULL ? k.list[i] : k.first + i) * m.ld;
}

/* What sums are worth: never changes, so that it can be read ahead. */
typedef struct steps {
    float score, u_inv, mixed, code_inv;
} steps;

static __device__ inline steps steps_of(const ganz_attention_call &a)
{
    steps s;
    s.score = *a.q.scale * *a.k.scale * a.inv_root;
    s.u_inv = 1 / *a.u_scale;
    s.mixed = *a.u_scale * *a.v.scale;
    s.code_inv = a.codes.m.data != NULL ? 1 / *a.codes.scale : 0.0f;
    return s;
}

/* ---- scores ------------------------------------------------------------------------------------- */

/* Sum of WIDTH products of codes; both begin at 16 bytes. */
template <int WIDTH> static __device__ inline int32_t dot(const int4 *q, const int8_t *key)
{
    int32_t sum = 0;
#pragma unroll
    for (int i = 0; i < WIDTH / 16; i++) {
        const int4 k = ((const int4 *)key)[i];
        sum = __dp4a(q[i].x, k.x, sum);
        sum = __dp4a(q[i].y, k.y, sum);
        sum = __dp4a(q[i].z, k.z, sum);
        sum = __dp4a(q[i].w, k.w, sum);
    }
    return sum;
}

static __device__ inline int32_t plain_dot(const int8_t *q, const int8_t *key, int width)
{
    int32_t sum = 0;
    for (int i = 0; i < width; i++) sum += (int32_t)q[i] * (int32_t)key[i];
    return sum;
}

/* scores[i] = (float)(q . key i) * factor. */
template <int WIDTH>
static __device__ inline void score(const ganz_attention_call &a, const int8_t *q, const keys &k, int col, float factor,
                                    float *scores)
{
    int4 held[WIDTH > 0 ? WIDTH / 16 : 1];
#pragma unroll
    for (int i = 0; i < WIDTH / 16; i++) held[i] = ((const int4 *)q)[i];
    for (int i = threadIdx.x % WARP; i < k.count; i += WARP) {
        const int8_t *key = row_of(a.k.m, k, i) + col;
        scores[i] = (float)(WIDTH > 0 ? dot<WIDTH>(held, key) : plain_dot(q, key, a.width)) * factor;
    }
}

/* ---- softmax ------------------------------------------------------------------------------------ */

/* scores become codes u of their softmax. Reads and writes of other threads' numbers have a barrier between them. */
static __device__ inline void round_softmax(float *scores, int n, float u_inv, int u_max, uint8_t *u)
{
    const int lane = threadIdx.x % WARP;
    float most = -INFINITY, sum = 0;
    for (int i = lane; i < n; i += WARP) most = scores[i] > most ? scores[i] : most;
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, most, offset);
        most = other > most ? other : most;
    }
    most = most + 0.0f; /* one zero of two, whichever came first */
    for (int i = lane; i < n; i += WARP) scores[i] = ganz_exact_exp(scores[i] - most);
    __syncwarp();
    for (int i = lane % LANES; i < n; i += LANES) sum += scores[i];
    const float r = 1.0f / join_eight(sum);
    for (int i = lane; i < n; i += WARP) u[i] = (uint8_t)code_of((scores[i] * r) * u_inv, 0.0f, (float)u_max);
    __syncwarp();
}

/* ---- mixing ------------------------------------------------------------------------------------- */

static __device__ inline void put(const ganz_attention_call &a, int query, int column, int32_t sum, float scale,
                                  float inv)
{
    const float y = (float)sum * scale;
    if (a.out.data != NULL) ((float *)a.out.data)[(size_t)query * a.out.ld + column] = y;
    if (a.codes.m.data != NULL)
        ((int8_t *)a.codes.m.data)[(size_t)query * a.codes.m.ld + column] = signed_code(y, inv, a.codes.p);
}

/* Four columns of a head; the threads of a warp that have the same take turns with the keys. */
template <int FOURS>
static __device__ inline void mix_four(const ganz_attention_call &a, const keys &k, const uint8_t *u, int column,
                                       int32_t sums[4])
{
#pragma unroll 8
    for (int i = threadIdx.x % WARP / FOURS; i < k.count; i += WARP / FOURS) {
        const char4 v = *(const char4 *)(row_of(a.v.m, k, i) + column);
        const int32_t weight = u[i];
        sums[0] += weight * v.x;
        sums[1] += weight * v.y;
        sums[2] += weight * v.z;
        sums[3] += weight * v.w;
    }
}

/* WIDTH: 32, 64 or 128 columns; 0: any. */
template <int WIDTH>
static __device__ inline void mix(const ganz_attention_call &a, const steps &s, int query, const keys &k,
                                  const uint8_t *u, int col)
{
    const int lane = threadIdx.x % WARP;
    const float scale = s.mixed, inv = s.code_inv;
    if (WIDTH == 0) {
        for (int i = lane; i < a.width; i += WARP) {
            int32_t sum = 0;
            for (int j = 0; j < k.count; j++) sum += (int32_t)u[j] * (int32_t)row_of(a.v.m, k, j)[col + i];
            put(a, query, col + i, sum, scale, inv);
        }
        return;
    }
    constexpr int FOURS = WIDTH > 0 ? WIDTH / 4 : WARP;
    const int column = col + lane % FOURS * 4;
    int32_t sums[4] = {0, 0, 0, 0};
    mix_four<FOURS>(a, k, u, column, sums);
#pragma unroll
    for (int offset = WARP / 2; offset >= FOURS; offset /= 2)
        for (int i = 0; i < 4; i++) sums[i] += __shfl_xor_sync(0xffffffffu, sums[i], offset);
    if (lane < FOURS)
        for (int i = 0; i < 4; i++) put(a, query, column + i, sums[i], scale, inv);
}

/* ---- the call ----------------------------------------------------------------------------------- */

/* room: row numbers of as many keys as a query can have; for each warp, scores and codes of so many. */
template <int WIDTH> static __global__ void attention_kernel(const ganz_attention_call a, int room_keys)
{
    extern __shared__ float room[];
    const int query = blockIdx.x, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    let_next_begin();
    const steps s = steps_of(a);
    keys k = keys_of(a.see, query); /* lists are uploaded: they were there before any kernel began */
    float *scores = room + (size_t)(1 + warp) * room_keys;
    uint8_t *u = (uint8_t *)(room + (size_t)(1 + warps) * room_keys) + (size_t)warp * room_keys;
    if (k.list != NULL) {
        int32_t *rows = (int32_t *)room;
        for (int i = threadIdx.x; i < k.count; i += blockDim.x) rows[i] = k.list[i];
        __syncthreads();
        k.list = rows;
    }
    await_before();
    const int8_t *q = (const int8_t *)a.q.m.data + (size_t)query * a.q.m.ld;
    for (int head = warp; head < a.heads; head += warps) {
        const int col = head * a.width;
        score<WIDTH>(a, q + col, k, col, s.score, scores);
        __syncwarp();
        round_softmax(scores, k.count, s.u_inv, a.u_max, u);
        mix<WIDTH>(a, s, query, k, u, col);
        __syncwarp();
    }
}

/* Whether rows of a head begin at 16 bytes. */
static bool is_aligned(const ganz_matrix *m) { return ((size_t)m->data | (size_t)m->ld) % 16 == 0; }

static size_t shared_bytes(int warps, int most) { return (size_t)most * (sizeof(int32_t) + (size_t)warps * KEY_BYTES); }

template <int WIDTH> static void attend(ganz_cuda *c, const ganz_attention_call *call)
{
    const int most = (int)ganz_round_up((size_t)call->see.longest_key + 1, 16);
    int warps = ganz_cuda_min(call->heads, MOST_WARPS);
    while (warps > 1 && shared_bytes(warps, most) > (size_t)PLAIN_SHARED) warps--;
    const size_t shared = shared_bytes(warps, most);
    if (shared > PLAIN_SHARED)
        (void)cudaFuncSetAttribute(attention_kernel<WIDTH>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    launch(c, {dim3(call->see.queries), warps * WARP, shared}, attention_kernel<WIDTH>, *call, most);
}

void ganz_cuda_attention_codes(ganz_backend *be, const ganz_attention_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->see.queries == 0) return;
    if (call->weights != NULL || call->largest_qk != NULL || call->u_codes != NULL || call->mask != NULL) {
        ganz_cuda_fail(c, "integer attention", "such a call is for the CPU only");
        return;
    }
    const bool aligned = is_aligned(&call->q.m) && is_aligned(&call->k.m) && is_aligned(&call->v.m);
    if (aligned && call->width == 64) attend<64>(c, call);
    else if (aligned && call->width == 32) attend<32>(c, call);
    else if (aligned && call->width == 128) attend<128>(c, call);
    else attend<0>(c, call);
    ganz_cuda_launched(c, "integer attention");
}
