/* Rows as long as the vocabulary: the loss with its gradient.
 *
 * One block for each row, 16 bytes a thread and turn. A row that fits is kept in shared memory, so that the loss reads
 * it once and writes its gradient once; a thread reads only elements that it put there itself. */
#include <math.h>

#include "backend/cuda_common.cuh"

enum { LOSS_THREADS = 512, AHEAD = 3, CACHED_BYTES = 110 * 1024 };

template <typename T> struct lane_row {
    static constexpr int N = 16 / (int)sizeof(T);
    float v[N];
};

static __device__ inline void unpack(uint4 raw, lane_row<bf16> *to)
{
    const uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        to->v[2 * i] = __uint_as_float(words[i] << 16);
        to->v[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    }
}
static __device__ inline void unpack(uint4 raw, lane_row<float> *to)
{
    to->v[0] = __uint_as_float(raw.x);
    to->v[1] = __uint_as_float(raw.y);
    to->v[2] = __uint_as_float(raw.z);
    to->v[3] = __uint_as_float(raw.w);
}
static __device__ inline uint4 repack(const lane_row<bf16> *from)
{
    return make_uint4(pack2(from->v[0], from->v[1]), pack2(from->v[2], from->v[3]), pack2(from->v[4], from->v[5]),
                      pack2(from->v[6], from->v[7]));
}
static __device__ inline uint4 repack(const lane_row<float> *from)
{
    return make_uint4(__float_as_uint(from->v[0]), __float_as_uint(from->v[1]), __float_as_uint(from->v[2]),
                      __float_as_uint(from->v[3]));
}
static __device__ inline float exp_like(float x, const float *) { return expf(x); }
static __device__ inline float exp_like(float x, const bf16 *) { return __expf(x); }

/* A running softmax: largest value and its place, sum of exp(value - largest), sum of the values. */
typedef struct running {
    float most, exps, total;
    int best;
} running;

template <typename T> static __device__ inline void take(running *r, const lane_row<T> *x, int first)
{
    constexpr int N = lane_row<T>::N;
    float most = x->v[0], sum = 0, total = 0;
    int at = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        total += x->v[i];
        if (x->v[i] > most) {
            most = x->v[i];
            at = i;
        }
    }
    if (most > r->most) {
        r->exps *= exp_like(r->most - most, (const T *)NULL);
        r->most = most;
        r->best = first + at;
    }
#pragma unroll
    for (int i = 0; i < N; i++) sum += exp_like(x->v[i] - r->most, (const T *)NULL);
    r->exps += sum;
    r->total += total;
}

static __device__ inline void better(float *value, int *place, float other, int other_place)
{
    if (other > *value || (other == *value && other_place < *place)) {
        *value = other;
        *place = other_place;
    }
}

/* Largest (value, then lower place) of a block; all threads get it. */
static __device__ inline void block_best(float *value, int *place, float *room, int *room_place)
{
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, *value, offset);
        better(value, place, other, __shfl_xor_sync(0xffffffffu, *place, offset));
    }
    __syncthreads();
    if (threadIdx.x % WARP == 0) {
        room[threadIdx.x / WARP] = *value;
        room_place[threadIdx.x / WARP] = *place;
    }
    __syncthreads();
    *value = room[0];
    *place = room_place[0];
    for (int w = 1; w < (int)blockDim.x / WARP; w++) better(value, place, room[w], room_place[w]);
}

/* Largest value and sum of exp(value - largest) of a row in a block; all threads get them. */
template <typename T> static __device__ inline void block_softmax(running *r, float *room, int *room_place)
{
    float most = r->most;
    int best = r->best;
    block_best(&most, &best, room, room_place);
    r->exps = block_sum(r->exps > 0 ? r->exps * exp_like(r->most - most, (const T *)NULL) : 0.0f, room);
    r->most = most;
    r->best = best;
}

template <typename T> static __device__ inline void take1(running *r, float value, int place)
{
    if (value > r->most) {
        r->exps *= exp_like(r->most - value, (const T *)NULL);
        r->most = value;
        r->best = place;
    }
    r->exps += exp_like(value - r->most, (const T *)NULL);
    r->total += value;
}

/* ---- loss --------------------------------------------------------------------------------------- */

typedef struct loss_row {
    float loss;
    int counted, hit;
} loss_row;

typedef struct loss_constants {
    float sure, other, constant; /* weight of the label, of each other class, and the number subtracted */
} loss_constants;

template <typename T, bool WIDE> static __device__ inline void clear_row(T *row, int vocab)
{
    const int wide = WIDE ? vocab / lane_row<T>::N : 0;
    for (int i = threadIdx.x; i < wide; i += LOSS_THREADS) ((uint4 *)row)[i] = make_uint4(0, 0, 0, 0);
    for (int i = wide * lane_row<T>::N + threadIdx.x; i < vocab; i += LOSS_THREADS) store1(row + i, 0.0f);
}

/* Of the gradient of this block's row. */
static __device__ inline float grad_scale_of(const ganz_loss_call *l)
{
    return l->share != NULL ? l->grad_scale * l->share[blockIdx.x] : l->grad_scale;
}

/* WIDE: rows start at multiples of 16 bytes. CACHED: the row fits in shared memory. */
template <typename T, bool WIDE, bool CACHED>
static __global__ void __launch_bounds__(LOSS_THREADS)
    loss_kernel(const ganz_loss_call l, const loss_constants k, loss_row *results)
{
    extern __shared__ uint4 cache[];
    __shared__ float room[WARP];
    __shared__ int room_place[WARP];
    constexpr int N = lane_row<T>::N;
    const int wide = WIDE ? l.vocab / N : 0, label = l.labels[blockIdx.x];
    T *row = (T *)l.logits.data + (size_t)blockIdx.x * l.logits.ld;
    if (label < 0 || label == l.pad || label >= l.vocab) {
        if (l.want_grad) clear_row<T, WIDE>(row, l.vocab);
        if (threadIdx.x == 0) results[blockIdx.x] = loss_row{0.0f, 0, 0};
        return;
    }
    const float at_label = load1(row + label);
    running r = {-INFINITY, 0.0f, 0.0f, l.vocab};
    lane_row<T> x;
    for (int first = threadIdx.x; first < wide; first += AHEAD * LOSS_THREADS) {
        uint4 raw[AHEAD]; /* several loads under way before the first is used */
#pragma unroll
        for (int j = 0; j < AHEAD; j++)
            if (first + j * LOSS_THREADS < wide) raw[j] = ((const uint4 *)row)[first + j * LOSS_THREADS];
#pragma unroll
        for (int j = 0; j < AHEAD; j++) {
            const int i = first + j * LOSS_THREADS;
            if (i >= wide) continue;
            if (CACHED) cache[i] = raw[j];
            unpack(raw[j], &x);
            take<T>(&r, &x, i * N);
        }
    }
    for (int i = wide * N + threadIdx.x; i < l.vocab; i += LOSS_THREADS) take1<T>(&r, load1(row + i), i);
    block_softmax<T>(&r, room, room_place);
    const float most = r.most, exps = r.exps, total = block_sum(r.total, room), lse = most + logf(exps);
    if (threadIdx.x == 0) {
        const float loss = -((k.sure - k.other) * (at_label - lse) + k.other * (total - l.vocab * lse)) - k.constant;
        results[blockIdx.x] = loss_row{loss, 1, r.best == label};
    }
    if (!l.want_grad) return;
    const float scale = grad_scale_of(&l), share = scale / exps, other = k.other * scale,
                extra = (k.sure - k.other) * scale;
    for (int i = threadIdx.x; i < wide; i += LOSS_THREADS) {
        unpack(CACHED ? cache[i] : ((const uint4 *)row)[i], &x);
#pragma unroll
        for (int j = 0; j < N; j++) x.v[j] = exp_like(x.v[j] - most, (const T *)NULL) * share - other;
        const int place = label - i * N;
        if (place >= 0 && place < N)
#pragma unroll
            for (int j = 0; j < N; j++)
                if (j == place) x.v[j] -= extra;
        ((uint4 *)row)[i] = repack(&x);
    }
    for (int i = wide * N + threadIdx.x; i < l.vocab; i += LOSS_THREADS)
        store1(row + i, exp_like(load1(row + i) - most, (const T *)NULL) * share - other - (i == label ? extra : 0.0f));
}

/* ---- loss with a teacher ------------------------------------------------------------------------ */

/* The target is the softmax of l.taught; the loss is the divergence from it. WIDE: as above, of both matrices. */
template <typename T, bool WIDE>
static __global__ void __launch_bounds__(LOSS_THREADS) taught_kernel(const ganz_loss_call l, loss_row *results)
{
    __shared__ float room[WARP];
    __shared__ int room_place[WARP];
    constexpr int N = lane_row<T>::N;
    const int wide = WIDE ? l.vocab / N : 0, label = l.labels[blockIdx.x];
    T *row = (T *)l.logits.data + (size_t)blockIdx.x * l.logits.ld;
    const T *taught = (const T *)l.taught.data + (size_t)blockIdx.x * l.taught.ld;
    if (label < 0 || label == l.pad || label >= l.vocab) {
        if (l.want_grad) clear_row<T, WIDE>(row, l.vocab);
        if (threadIdx.x == 0) results[blockIdx.x] = loss_row{0.0f, 0, 0};
        return;
    }
    running r = {-INFINITY, 0.0f, 0.0f, l.vocab}, t = r;
    lane_row<T> x, y;
    for (int i = threadIdx.x; i < wide; i += LOSS_THREADS) {
        unpack(((const uint4 *)row)[i], &x);
        unpack(((const uint4 *)taught)[i], &y);
        take<T>(&r, &x, i * N);
        take<T>(&t, &y, i * N);
    }
    for (int i = wide * N + threadIdx.x; i < l.vocab; i += LOSS_THREADS) {
        take1<T>(&r, load1(row + i), i);
        take1<T>(&t, load1(taught + i), i);
    }
    block_softmax<T>(&r, room, room_place);
    block_softmax<T>(&t, room, room_place);
    const float scale = grad_scale_of(&l), share = scale / r.exps, believed = scale / t.exps;
    float apart = 0;
    for (int i = threadIdx.x; i < wide; i += LOSS_THREADS) {
        unpack(((const uint4 *)row)[i], &x);
        unpack(((const uint4 *)taught)[i], &y);
#pragma unroll
        for (int j = 0; j < N; j++) {
            const float from = x.v[j] - r.most, to = y.v[j] - t.most, e = exp_like(to, (const T *)NULL);
            apart += e * (to - from);
            x.v[j] = exp_like(from, (const T *)NULL) * share - e * believed;
        }
        if (l.want_grad) ((uint4 *)row)[i] = repack(&x);
    }
    for (int i = wide * N + threadIdx.x; i < l.vocab; i += LOSS_THREADS) {
        const float from = load1(row + i) - r.most, to = load1(taught + i) - t.most, e = exp_like(to, (const T *)NULL);
        apart += e * (to - from);
        if (l.want_grad) store1(row + i, exp_like(from, (const T *)NULL) * share - e * believed);
    }
    apart = block_sum(apart, room);
    if (threadIdx.x == 0)
        results[blockIdx.x] = loss_row{apart / t.exps - logf(t.exps) + logf(r.exps), 1, r.best == label};
}

template <typename T> static void run_taught(ganz_cuda *c, const ganz_loss_call *call, loss_row *results)
{
    const bool wide = (size_t)call->logits.data % 16 == 0 && (size_t)call->logits.ld * sizeof(T) % 16 == 0 &&
                      (size_t)call->taught.data % 16 == 0 && (size_t)call->taught.ld * sizeof(T) % 16 == 0;
    if (wide) taught_kernel<T, true><<<call->rows, LOSS_THREADS, 0, c->stream>>>(*call, results);
    else taught_kernel<T, false><<<call->rows, LOSS_THREADS, 0, c->stream>>>(*call, results);
}

/* ---- all rows ----------------------------------------------------------------------------------- */

/* Adds the rows up in double, in an order that depends on their number alone. */
static __global__ void loss_total(const loss_row *results, int rows, double *sums)
{
    __shared__ double room[3][256];
    double sum[3] = {0, 0, 0};
    for (int i = threadIdx.x; i < rows; i += 256) {
        sum[0] += results[i].loss;
        sum[1] += results[i].hit;
        sum[2] += results[i].counted;
    }
    for (int j = 0; j < 3; j++) room[j][threadIdx.x] = sum[j];
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            for (int j = 0; j < 3; j++) room[j][threadIdx.x] += room[j][threadIdx.x + half];
    }
    __syncthreads(); /* thread 0 has made the last sums */
    if (threadIdx.x < 3) sums[threadIdx.x] += room[threadIdx.x][0];
}

template <typename T>
static void run_loss(ganz_cuda *c, const ganz_loss_call *call, const loss_constants k, loss_row *results)
{
    const size_t bytes = (size_t)call->vocab * sizeof(T);
    const bool wide = (size_t)call->logits.data % 16 == 0 && (size_t)call->logits.ld * sizeof(T) % 16 == 0;
    if (wide && bytes <= CACHED_BYTES && bytes + 1024 <= (size_t)c->shared_bytes) {
        (void)cudaFuncSetAttribute(loss_kernel<T, true, true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   CACHED_BYTES);
        loss_kernel<T, true, true><<<call->rows, LOSS_THREADS, bytes, c->stream>>>(*call, k, results);
    } else if (wide) {
        loss_kernel<T, true, false><<<call->rows, LOSS_THREADS, 0, c->stream>>>(*call, k, results);
    } else {
        loss_kernel<T, false, false><<<call->rows, LOSS_THREADS, 0, c->stream>>>(*call, k, results);
    }
}

void ganz_cuda_loss(ganz_backend *be, const ganz_loss_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->rows == 0) return;
    if (!ganz_cuda_floats(&call->logits)) {
        ganz_cuda_fail(c, "loss", "logits must be floats");
        return;
    }
    if (call->taught.data && call->taught.type != call->logits.type) {
        ganz_cuda_fail(c, "loss", "a teacher's logits must have the type of the others");
        return;
    }
    const double sure = 1.0 - (double)call->smoothing, other = (double)call->smoothing / (call->vocab - 1);
    loss_constants k;
    k.sure = (float)sure;
    k.other = (float)other;
    k.constant = (float)-(sure * log(sure > 0 ? sure : 1.0) + (call->vocab - 1) * other * log(other + 1e-20));
    loss_row *results = (loss_row *)ganz_cuda_scratch(c, (size_t)call->rows * sizeof *results);
    if (results == NULL) return;
    if (call->taught.data) GANZ_CUDA_TYPE(call->logits.type, T, run_taught<T>(c, call, results));
    else GANZ_CUDA_TYPE(call->logits.type, T, run_loss<T>(c, call, k, results));
    loss_total<<<1, 256, 0, c->stream>>>(results, call->rows, call->sums);
    ganz_cuda_launched(c, "loss");
}
