/* Candidates of a beam on the GPU: the largest logits of each row and its log-sum-exp, with the CPU's bits and ties.
 *
 * A block for each row. First each thread finds the best of its elements, or of the maxima that the product left: the
 * k-th best of these is a bound that the k best of all reach. Then exponentials go to shared memory a chunk at a time,
 * where one warp adds them up in the order of kernel/kernel.h while the others go on, and what reaches the bound is
 * listed and ranked. */
#include <math.h>

#include "backend/cuda_codes.cuh"

/* A thread has EACH elements of a chunk, in fours. Exponentials lie where place_of says. */
enum {
    MAKERS = 256,
    THREADS = MAKERS + WARP,
    EACH = 8,
    CHUNK = MAKERS * EACH,
    GROUPS = CHUNK / GROUP,
    SIDE = GROUPS * GROUP_ROOM,
    BATCH = 8, /* groups that are read ahead */
    LIST = 1024
};

typedef struct row_of_logits {
    const void *data;
    int vocab, banned; /* the index that has never a chance, or -1 */
    bool fours;        /* four at a time may be read */
} row_of_logits;

template <typename T> static __device__ inline float logit_at(const row_of_logits &r, int i)
{
    return i == r.banned ? GANZ_NEVER : load1((const T *)r.data + i);
}

/* Elements i to i + 3; beyond the end -infinity, whose exponential is 0. */
template <typename T> static __device__ inline float4 four_at(const row_of_logits &r, int i)
{
    if (r.fours && i + 4 <= r.vocab) {
        float4 v = load4((const T *)r.data + i);
        if (i == r.banned) v.x = GANZ_NEVER;
        if (i + 1 == r.banned) v.y = GANZ_NEVER;
        if (i + 2 == r.banned) v.z = GANZ_NEVER;
        if (i + 3 == r.banned) v.w = GANZ_NEVER;
        return v;
    }
    return make_float4(i < r.vocab ? logit_at<T>(r, i) : -INFINITY, i + 1 < r.vocab ? logit_at<T>(r, i + 1) : -INFINITY,
                       i + 2 < r.vocab ? logit_at<T>(r, i + 2) : -INFINITY,
                       i + 3 < r.vocab ? logit_at<T>(r, i + 3) : -INFINITY);
}

static __device__ inline float most_of(float a, float b) { return b > a ? b : a; }
static __device__ inline float most4(float a, float4 v)
{
    return most_of(most_of(most_of(most_of(a, v.x), v.y), v.z), v.w);
}

/* ---- order -------------------------------------------------------------------------------------- */

/* A larger key ranks before: larger logits, of equal ones that of the lower index. No element has the key 0. */
static __device__ inline uint64_t key_of(float x, int i)
{
    const uint32_t bits = __float_as_uint(x + 0.0f); /* one zero of two */
    const uint32_t rising = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (uint64_t)rising << 32 | (uint32_t)~i;
}
static __device__ inline int index_of(uint64_t key) { return (int)~(uint32_t)key; }

/* How many of a list of keys are larger. */
static __device__ inline int rank_of(uint64_t key, const uint64_t *list, int count)
{
    int rank = 0;
    for (int i = 0; i < count; i++) rank += list[i] > key;
    return rank;
}

/* How many of the makers' numbers rank before that of this thread. */
static __device__ inline int rank_among(float own, const float *all)
{
    int rank = 0;
#pragma unroll 4
    for (int i = 0; i < MAKERS; i += 4) {
        const float4 v = *(const float4 *)(all + i);
        const int at = threadIdx.x;
        rank += (v.x > own || (v.x == own && i < at)) + (v.y > own || (v.y == own && i + 1 < at)) +
                (v.z > own || (v.z == own && i + 2 < at)) + (v.w > own || (v.w == own && i + 3 < at));
    }
    return rank;
}

/* ---- the bound ---------------------------------------------------------------------------------- */

/* The best of this thread's elements. */
template <typename T> static __device__ inline float best_of_row(const row_of_logits &r)
{
    float best = -INFINITY;
#pragma unroll 4
    for (int i = 4 * threadIdx.x; i < r.vocab; i += 4 * MAKERS) best = most4(best, four_at<T>(r, i));
    return best;
}

/* The same from the largest of each GANZ_CUDA_MAXIMA columns; those of the banned one are looked at again. */
template <typename T> static __device__ inline float best_of_maxima(const row_of_logits &r, const float *maxima)
{
    const int count = ganz_cuda_maxima_count(r.vocab);
    const int again = r.banned >= 0 ? r.banned / GANZ_CUDA_MAXIMA : -1;
    float best = -INFINITY;
    for (int i = threadIdx.x; i < count; i += MAKERS) {
        if (i != again) {
            best = most_of(best, maxima[i]);
            continue;
        }
        const int first = i * GANZ_CUDA_MAXIMA, end = min(first + (int)GANZ_CUDA_MAXIMA, r.vocab);
        for (int j = first; j < end; j++) best = most_of(best, logit_at<T>(r, j));
    }
    return best;
}

/* ---- results ------------------------------------------------------------------------------------ */

template <typename T>
static __device__ inline void put(const ganz_topk_call &t, const row_of_logits &r, int rank, uint64_t key)
{
    const int i = index_of(key);
    t.value[(size_t)blockIdx.x * t.k + rank] = logit_at<T>(r, i);
    t.index[(size_t)blockIdx.x * t.k + rank] = i;
}

/* The largest key of the block, for all of its threads; room: one for each warp. */
static __device__ inline uint64_t block_largest(uint64_t key, uint64_t *room)
{
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        const uint64_t other = __shfl_xor_sync(0xffffffffu, key, offset);
        key = other > key ? other : key;
    }
    __syncthreads();
    if (threadIdx.x % WARP == 0) room[threadIdx.x / WARP] = key;
    __syncthreads();
    for (int i = 0; i < THREADS / WARP; i++) key = room[i] > key ? room[i] : key;
    return key;
}

/* One after another: where more reach the bound than the list holds. */
template <typename T>
static __device__ inline void take_in_turn(const ganz_topk_call &t, const row_of_logits &r, uint64_t *room)
{
    uint64_t after = ~(uint64_t)0;
    for (int rank = 0; rank < t.k; rank++) {
        uint64_t best = 0;
        for (int i = threadIdx.x; i < r.vocab; i += THREADS) {
            const uint64_t key = key_of(logit_at<T>(r, i), i);
            if (key < after && key > best) best = key;
        }
        after = block_largest(best, room);
        if (threadIdx.x == 0) put<T>(t, r, rank, after);
    }
}

/* ---- sums --------------------------------------------------------------------------------------- */

/* What this thread shares of a chunk: exponentials, and those that reach the bound. */
typedef struct making {
    float most, bound;
    int vocab;
    uint64_t *list;
    int *listed;
} making;

static __device__ inline void list_one(const making &m, float x, int i)
{
    if (!(x >= m.bound) || i >= m.vocab) return;
    const int place = atomicAdd(m.listed, 1);
    if (place < LIST) m.list[place] = key_of(x, i);
}

static __device__ inline void make_four(const making &m, float *exps, float4 v, int base, int i)
{
    float *to = exps + place_of(i);
    to[0] = ganz_exact_exp(v.x - m.most);
    to[4] = ganz_exact_exp(v.y - m.most);
    to[8] = ganz_exact_exp(v.z - m.most);
    to[12] = ganz_exact_exp(v.w - m.most);
    if (!(most4(-INFINITY, v) >= m.bound)) return;
    list_one(m, v.x, base + i);
    list_one(m, v.y, base + i + 1);
    list_one(m, v.z, base + i + 2);
    list_one(m, v.w, base + i + 3);
}

/* sum + the exponentials of a lane, in their order. */
static __device__ inline float add_chunk(float sum, const float *exps)
{
    const float4 *from = (const float4 *)(exps + threadIdx.x % LANES * 4);
    float4 now[BATCH], next[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++) now[i] = from[i * (GROUP_ROOM / 4)];
#pragma unroll
    for (int group = BATCH; group <= GROUPS; group += BATCH) {
        if (group < GROUPS)
#pragma unroll
            for (int i = 0; i < BATCH; i++) next[i] = from[(group + i) * (GROUP_ROOM / 4)];
#pragma unroll
        for (int i = 0; i < BATCH; i++) sum = (((sum + now[i].x) + now[i].y) + now[i].z) + now[i].w;
#pragma unroll
        for (int i = 0; i < BATCH; i++) now[i] = next[i];
    }
    return sum;
}

/* ---- the kernel --------------------------------------------------------------------------------- */

/* maxima: (rows, vocab / GANZ_CUDA_MAXIMA rounded up), or NULL. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) topk_kernel(const ganz_topk_call t, const float *maxima)
{
    __shared__ __align__(16) float exps[2][SIDE], best[MAKERS];
    __shared__ uint64_t list[LIST], room[WARP];
    __shared__ float bound, most;
    __shared__ int listed;
    let_next_begin();
    await_before();
    const bool makes = threadIdx.x < MAKERS;
    const int vocab = t.logits.cols;
    const T *data = (const T *)t.logits.data + (size_t)blockIdx.x * t.logits.ld;
    const row_of_logits r = {data, vocab, t.banned - 1, (size_t)data % (4 * sizeof(T)) == 0};
    float own = -INFINITY;
    if (makes && maxima == NULL) own = best_of_row<T>(r);
    if (makes && maxima != NULL)
        own = best_of_maxima<T>(r, maxima + (size_t)blockIdx.x * (ganz_cuda_maxima_count(vocab)));
    if (makes) best[threadIdx.x] = own;
    if (threadIdx.x == 0) listed = 0, bound = -INFINITY, most = -INFINITY;
    float4 ahead[EACH / 4]; /* the next chunk, on its way while other things are done */
#pragma unroll
    for (int j = 0; j < EACH / 4; j++)
        ahead[j] = makes ? four_at<T>(r, 4 * (threadIdx.x + j * MAKERS)) : make_float4(0, 0, 0, 0);
    __syncthreads();
    if (makes) {
        const int rank = rank_among(own, best);
        if (rank == 0) most = own + 0.0f; /* one zero of two */
        if (rank == min(t.k, (int)MAKERS) - 1 && t.k <= MAKERS) bound = own;
    }
    __syncthreads();
    const making m = {most, bound, vocab, list, &listed};
    float sum = 0;
    int side = 0;
    for (int base = 0; base < vocab; base += CHUNK, side ^= 1) {
        if (makes) {
            float4 now[EACH / 4];
#pragma unroll
            for (int j = 0; j < EACH / 4; j++) {
                now[j] = ahead[j];
                ahead[j] = four_at<T>(r, base + CHUNK + 4 * (threadIdx.x + j * MAKERS));
            }
#pragma unroll
            for (int j = 0; j < EACH / 4; j++) make_four(m, exps[side], now[j], base, 4 * (threadIdx.x + j * MAKERS));
        } else if (base > 0) {
            sum = add_chunk(sum, exps[side ^ 1]);
        }
        __syncthreads(); /* this side is full, the other one read */
    }
    if (!makes) {
        sum = join_eight(add_chunk(sum, exps[side ^ 1]));
        if (threadIdx.x == MAKERS) t.logsumexp[blockIdx.x] = m.most + ganz_exact_log(sum);
    }
    if (listed > LIST) {
        take_in_turn<T>(t, r, room);
        return;
    }
    for (int i = threadIdx.x; i < listed; i += THREADS) {
        const int rank = rank_of(list[i], list, listed);
        if (rank < t.k) put<T>(t, r, rank, list[i]);
    }
    for (int i = listed + threadIdx.x; i < t.k; i += THREADS)
        t.index[(size_t)blockIdx.x * t.k + i] = -1; /* not numbers */
}

void ganz_cuda_topk(ganz_backend *be, const ganz_topk_call *call)
{
    const float *maxima = ganz_cuda_maxima_of(be, &call->logits);
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->logits.rows == 0) return;
    if (!ganz_cuda_floats(&call->logits)) {
        ganz_cuda_fail(c, "candidates", "logits must be floats");
        return;
    }
    GANZ_CUDA_TYPE(call->logits.type, T,
                   launch(c, {dim3(call->logits.rows), THREADS, 0}, topk_kernel<T>, *call, maxima));
    ganz_cuda_launched(c, "candidates");
}
