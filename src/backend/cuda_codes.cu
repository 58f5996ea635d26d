/* Integer translation on the GPU, row by row: weights, embedding and norm. A norm adds in eight lanes, so that its sums
 * have the order that kernel/kernel.h defines. */
#include <string.h>

#include "backend/cuda_codes.cuh"

enum { THREADS = 128, OUTS = 8, PLAIN_SHARED = 48 * 1024 };

/* ---- weights ------------------------------------------------------------------------------------ */

size_t ganz_cuda_pack_bytes(const ganz_backend *be, int out, int in, bool nibbles)
{
    (void)be;
    (void)nibbles; /* memory is plentiful: codes lie in bytes */
    size_t bytes;
    if (out < 1 || in < 1 || in > GANZ_DEPTH_MAX) return 0;
    return ganz_mul_size((size_t)out, (size_t)ganz_cuda_weight_ld(in), &bytes) ? bytes : 0;
}

/* The block is memory of the device, and is the packed weights. */
const ganz_packed *ganz_cuda_pack(ganz_backend *be, void *block, const ganz_pack_call *call)
{
    const size_t ld = (size_t)ganz_cuda_weight_ld(call->in), in = (size_t)call->in;
    if (ld == in) {
        be->upload(be, block, call->codes, (size_t)call->out * in);
        return (const ganz_packed *)block;
    }
    be->zero(be, block, (size_t)call->out * ld);
    for (int row = 0; row < call->out; row++)
        be->upload(be, (int8_t *)block + (size_t)row * ld, call->codes + (size_t)row * in, in);
    return (const ganz_packed *)block;
}

/* ---- embedding ---------------------------------------------------------------------------------- */

/* A number of a row that is in the table: of codes, or of values. */
static __device__ inline float entry_at(const ganz_embed_call &e, int id, int i)
{
    if (e.packed == NULL) return ((const float *)e.table.m.data)[(size_t)id * e.table.m.ld + i] * e.root;
    const int8_t *codes = (const int8_t *)e.packed + (size_t)id * ganz_cuda_weight_ld(e.cols);
    const ganz_embed_row from = {codes, e.by_row ? e.table.scale[id] : *e.table.scale, e.root, NULL, NULL};
    return embed_one(&from, i);
}

static __global__ void embed_kernel(const ganz_embed_call e)
{
    let_next_begin();
    await_before();
    const int row = blockIdx.x, id = e.ids[row];
    const float *timing = e.timing + (size_t)e.positions[row] * e.cols;
    const bool start = e.start != NULL && id == e.start_id, known = id >= 0 && id != e.start_id && id < e.vocab;
    for (int i = threadIdx.x; i < e.cols; i += blockDim.x) {
        float v = known ? entry_at(e, id, i) : start ? e.start[i] * e.root : 0.0f;
        if (e.extra != NULL) v = v + e.extra[i];
        e.out[(size_t)row * e.cols + i] = v + timing[i];
    }
}

void ganz_cuda_embed_codes(ganz_backend *be, const ganz_embed_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->rows == 0) return;
    launch(c, {dim3(call->rows), THREADS, 0}, embed_kernel, *call);
    ganz_cuda_launched(c, "embed");
}

/* ---- norm --------------------------------------------------------------------------------------- */

/* Readers of one launch. */
typedef struct code_outs {
    ganz_code_out out[OUTS];
    int count;
} code_outs;

/* A row into shared memory: x, or sum = x + delta, which is also written. */
static __device__ inline void take_row(const ganz_norm_call &n, int row, int lane, float *to)
{
    const size_t first = (size_t)row * n.cols;
    const float *x = n.x + first, *delta = (const float *)n.delta.data;
    if (delta == NULL) {
#pragma unroll 8
        for (int i = lane; i < n.cols; i += WARP) to[i] = x[i];
        return;
    }
    delta += (size_t)row * n.delta.ld;
#pragma unroll 4
    for (int i = lane; i < n.cols; i += WARP) {
        const float v = x[i] + delta[i];
        n.sum[first + i] = v;
        to[i] = v;
    }
}

/* Mean and 1 / deviation, by the sums of eight lanes. Four threads of a warp do the same. */
static __device__ inline float2 moments(const float *x, int cols, int lane, float eps)
{
    float sum = 0;
#pragma unroll 16
    for (int i = lane % LANES; i < cols; i += LANES) sum += x[i];
    const float mean = join_eight(sum) / (float)cols;
    sum = 0;
#pragma unroll 16
    for (int i = lane % LANES; i < cols; i += LANES) {
        const float d = x[i] - mean;
        sum += d * d;
    }
    return make_float2(mean, 1.0f / sqrtf(join_eight(sum) / (float)cols + eps));
}

/* A warp for each row. Loops stay loops: a kernel that runs for a microsecond must not wait for its own code. */
static __global__ void norm_kernel(const ganz_norm_call n, const code_outs outs)
{
    extern __shared__ float room[];
    let_next_begin();
    await_before();
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, row = blockIdx.x * (blockDim.x / WARP) + warp;
    float *x = room + (size_t)warp * n.cols;
    if (row >= n.rows) return;
    take_row(n, row, lane, x);
    __syncwarp();
    const float2 m = moments(x, n.cols, lane, n.eps);
    __syncwarp();
    float *y = n.y.data != NULL ? (float *)n.y.data + (size_t)row * n.y.ld : NULL;
#pragma unroll 4
    for (int i = lane; i < n.cols; i += WARP) {
        const float v = ((x[i] - m.x) * m.y) * n.gain[i] + n.bias[i];
        x[i] = v;
        if (y != NULL) y[i] = v;
    }
#pragma unroll 1
    for (int o = 0; o < outs.count; o++) {
        int8_t *codes = (int8_t *)outs.out[o].m.data + (size_t)row * outs.out[o].m.ld;
        const float inv = 1 / *outs.out[o].scale;
        const int p = outs.out[o].p;
#pragma unroll 4
        for (int i = lane; i < n.cols; i += WARP) codes[i] = signed_code(x[i], inv, p);
    }
}

/* The same for rows of EACH times 32 columns, with all that does not come from the kernel before read ahead. */
template <int EACH> static __device__ inline float2 moments_of(const float *room, int lane, float eps)
{
    const float4 *x = (const float4 *)(room + lane % LANES * 4);
    constexpr int COLS = EACH * WARP, STEP = GROUP_ROOM / 4;
    float sum = 0;
#pragma unroll 8
    for (int i = 0; i < EACH; i++) {
        const float4 v = x[i * STEP];
        sum = (((sum + v.x) + v.y) + v.z) + v.w;
    }
    const float mean = join_eight(sum) / (float)COLS;
    sum = 0;
#pragma unroll 8
    for (int i = 0; i < EACH; i++) {
        const float4 d = x[i * STEP] - mean;
        sum = (((sum + d.x * d.x) + d.y * d.y) + d.z * d.z) + d.w * d.w;
    }
    return make_float2(mean, 1.0f / sqrtf(join_eight(sum) / (float)COLS + eps));
}

/* v[i]: column lane + 32 i of the row, or of sum = x + delta, which is also written. */
template <int EACH> static __device__ inline void take_columns(const ganz_norm_call &n, int row, int lane, float *v)
{
    const size_t first = (size_t)row * n.cols + lane;
#pragma unroll
    for (int i = 0; i < EACH; i++) v[i] = n.x[first + i * WARP];
    if (n.delta.data == NULL) return;
    const float *delta = (const float *)n.delta.data + (size_t)row * n.delta.ld + lane;
#pragma unroll
    for (int i = 0; i < EACH; i++) v[i] = v[i] + delta[i * WARP];
#pragma unroll
    for (int i = 0; i < EACH; i++) n.sum[first + i * WARP] = v[i];
}

template <int EACH>
static __global__ void __launch_bounds__(THREADS) norm_columns_kernel(const ganz_norm_call n, const code_outs outs)
{
    __shared__ __align__(16) float room[THREADS / WARP][EACH * GROUP_ROOM];
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, row = blockIdx.x * (THREADS / WARP) + warp;
    float v[EACH], gain[EACH], bias[EACH];
    let_next_begin();
#pragma unroll
    for (int i = 0; i < EACH; i++) gain[i] = n.gain[lane + i * WARP], bias[i] = n.bias[lane + i * WARP];
    const float own_inv = lane < outs.count ? 1 / *outs.out[lane < OUTS ? lane : 0].scale : 0.0f;
    await_before();
    if (row >= n.rows) return;
    take_columns<EACH>(n, row, lane, v);
#pragma unroll
    for (int i = 0; i < EACH; i++) room[warp][place_of(lane + i * WARP)] = v[i];
    __syncwarp();
    const float2 m = moments_of<EACH>(room[warp], lane, n.eps);
#pragma unroll
    for (int i = 0; i < EACH; i++) v[i] = ((v[i] - m.x) * m.y) * gain[i] + bias[i];
    if (n.y.data != NULL)
#pragma unroll
        for (int i = 0; i < EACH; i++) ((float *)n.y.data)[(size_t)row * n.y.ld + lane + i * WARP] = v[i];
#pragma unroll 1
    for (int o = 0; o < outs.count; o++) {
        int8_t *codes = (int8_t *)outs.out[o].m.data + (size_t)row * outs.out[o].m.ld + lane;
        const float inv = __shfl_sync(0xffffffffu, own_inv, o);
#pragma unroll
        for (int i = 0; i < EACH; i++) codes[i * WARP] = signed_code(v[i], inv, outs.out[o].p);
    }
}

static bool take_outs(const ganz_norm_call *n, code_outs *outs)
{
    outs->count = 0;
    for (int i = 0; i < n->outs; i++) {
        if (n->codes[i].m.data == NULL) continue;
        if (outs->count == OUTS) return false;
        outs->out[outs->count++] = n->codes[i];
    }
    return true;
}

void ganz_cuda_norm_codes(ganz_backend *be, const ganz_norm_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    code_outs outs;
    if (call->rows == 0) return;
    const size_t line = (size_t)call->cols * sizeof(float);
    if (!take_outs(call, &outs) || (call->delta.data != NULL && call->delta.type != GANZ_REAL) || line > PLAIN_SHARED) {
        ganz_cuda_fail(c, "norm", "so many readers or columns, or such values, are not supported on CUDA");
        return;
    }
    int warps = THREADS / WARP;
    const launch_shape whole = {dim3(ganz_cuda_blocks(call->rows, warps)), THREADS, 0};
    if (call->cols == 512) launch(c, whole, norm_columns_kernel<16>, *call, outs);
    else if (call->cols == 1024) launch(c, whole, norm_columns_kernel<32>, *call, outs);
    else if (call->cols == 256) launch(c, whole, norm_columns_kernel<8>, *call, outs);
    if (call->cols == 512 || call->cols == 1024 || call->cols == 256) {
        ganz_cuda_launched(c, "norm");
        return;
    }
    while (warps > 1 && (size_t)warps * line > PLAIN_SHARED) warps /= 2;
    launch(c, {dim3(ganz_cuda_blocks(call->rows, warps)), warps * WARP, (size_t)warps * line}, norm_kernel, *call,
           outs);
    ganz_cuda_launched(c, "norm");
}
