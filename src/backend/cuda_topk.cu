/* Candidates of a beam on the GPU: the largest logits of each row and its log-sum-exp, with the CPU's bits and ties.
 *
 * A block for each row reads it twice. First each thread finds the best of its elements: the k-th best of these is a
 * bound that the k best of all reach. Then exponentials go to shared memory a chunk at a time, where eight threads add
 * them up in the order of kernel/kernel.h while the others go on, and what reaches the bound is listed and ranked. */
#include <math.h>

#include "backend/cuda_codes.cuh"

enum { THREADS = 256, CHUNK = 2048, LIST = 1024 };

/* Logits of a row; the banned one has never a chance. */
template <typename T> static __device__ inline float logit_at(const ganz_topk_call &t, int row, int i)
{
    return i + 1 == t.banned ? GANZ_NEVER : load1((const T *)t.logits.data + (size_t)row * t.logits.ld + i);
}

/* A larger key ranks before: larger logits, of equal ones that of the lower index. No element has the key 0. */
static __device__ inline uint64_t key_of(float x, int i)
{
    const uint32_t bits = __float_as_uint(x + 0.0f); /* one zero of two */
    const uint32_t rising = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (uint64_t)rising << 32 | (uint32_t)~i;
}
static __device__ inline int index_of(uint64_t key) { return (int)~(uint32_t)key; }

static __device__ inline uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The largest of all threads' keys; room holds THREADS. */
static __device__ inline uint64_t block_largest(uint64_t key, uint64_t *room)
{
    __syncthreads();
    room[threadIdx.x] = key;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) room[threadIdx.x] = larger(room[threadIdx.x], room[threadIdx.x + half]);
    }
    __syncthreads();
    return room[0];
}

/* The best of this thread's elements among those that rank behind `after`. */
template <typename T> static __device__ inline uint64_t best_behind(const ganz_topk_call &t, int row, uint64_t after)
{
    uint64_t best = 0;
    for (int i = threadIdx.x; i < t.logits.cols; i += THREADS) {
        const uint64_t key = key_of(logit_at<T>(t, row, i), i);
        if (key < after) best = larger(best, key);
    }
    return best;
}

/* How many of a list of keys are larger. */
static __device__ inline int rank_of(uint64_t key, const uint64_t *list, int count)
{
    int rank = 0;
    for (int i = 0; i < count; i++) rank += list[i] > key;
    return rank;
}

template <typename T> static __device__ inline void put(const ganz_topk_call &t, int row, int rank, uint64_t key)
{
    const int i = index_of(key);
    t.value[(size_t)row * t.k + rank] = logit_at<T>(t, row, i);
    t.index[(size_t)row * t.k + rank] = i;
}

/* One after another: where more reach the bound than the list holds. */
template <typename T> static __device__ inline void take_in_turn(const ganz_topk_call &t, int row, uint64_t *room)
{
    uint64_t after = ~(uint64_t)0;
    for (int rank = 0; rank < t.k; rank++) {
        after = block_largest(best_behind<T>(t, row, after), room);
        if (threadIdx.x == 0) put<T>(t, row, rank, after);
    }
}

template <typename T> static __global__ void __launch_bounds__(THREADS) topk_kernel(const ganz_topk_call t)
{
    __shared__ uint64_t best[THREADS], list[LIST];
    __shared__ float exps[2][CHUNK];
    __shared__ uint64_t bound;
    __shared__ int listed;
    const int row = blockIdx.x, vocab = t.logits.cols;
    const uint64_t own = best_behind<T>(t, row, ~(uint64_t)0), first = block_largest(own, best);
    const float most = logit_at<T>(t, row, index_of(first)) + 0.0f;
    __syncthreads();
    best[threadIdx.x] = own;
    if (threadIdx.x == 0) bound = 0, listed = 0;
    __syncthreads();
    if (own != 0 && rank_of(own, best, THREADS) == t.k - 1) bound = own;
    __syncthreads();
    float sum = 0;
    for (int base = 0, side = 0; base < vocab; base += CHUNK, side ^= 1) {
        const int count = min(CHUNK, vocab - base);
        for (int j = threadIdx.x; j < count; j += THREADS) {
            const float x = logit_at<T>(t, row, base + j);
            const uint64_t key = key_of(x, base + j);
            exps[side][j] = ganz_exact_exp(x - most);
            if (key < bound) continue;
            const int place = atomicAdd(&listed, 1);
            if (place < LIST) list[place] = key;
        }
        __syncthreads(); /* one a turn is enough: the other side is written next */
        if (threadIdx.x < LANES)
            for (int j = threadIdx.x; j < count; j += LANES) sum += exps[side][j];
    }
    __syncthreads();
    if (threadIdx.x < WARP) {
        sum = join_eight(sum);
        if (threadIdx.x == 0) t.logsumexp[row] = most + ganz_exact_log(sum);
    }
    if (listed > LIST) {
        take_in_turn<T>(t, row, best);
        return;
    }
    for (int i = threadIdx.x; i < listed; i += THREADS) {
        const int rank = rank_of(list[i], list, listed);
        if (rank < t.k) put<T>(t, row, rank, list[i]);
    }
}

void ganz_cuda_topk(ganz_backend *be, const ganz_topk_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->logits.rows == 0) return;
    if (!ganz_cuda_floats(&call->logits)) {
        ganz_cuda_fail(c, "candidates", "logits must be floats");
        return;
    }
    GANZ_CUDA_TYPE(call->logits.type, T, topk_kernel<T><<<call->logits.rows, THREADS, 0, c->stream>>>(*call));
    ganz_cuda_launched(c, "candidates");
}
