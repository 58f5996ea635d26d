/* Integer translation on the GPU, row by row: weights, embedding and norm. Eight threads work on a row of a norm, so
 * that its sums have the order that kernel/kernel.h defines. */
#include <string.h>

#include "backend/cuda_codes.cuh"

enum { THREADS = 128, NORM_ROWS = THREADS / LANES, OUTS = 8 };

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
    embed_kernel<<<call->rows, THREADS, 0, c->stream>>>(*call);
    ganz_cuda_launched(c, "embed");
}

/* ---- norm --------------------------------------------------------------------------------------- */

/* Readers of one launch. */
typedef struct code_outs {
    ganz_code_out out[OUTS];
    int count;
} code_outs;

/* Number `turn` of a thread's elements of its row. */
static __device__ inline float element(const ganz_norm_call &n, size_t at)
{
    if (n.delta.data == NULL) return n.x[at];
    return n.sum[at];
}

/* sum = x + delta, where there is one: before anything reads it. A thread reads what it wrote itself. */
static __device__ inline void add_delta(const ganz_norm_call &n, int row, int lane)
{
    if (n.delta.data == NULL) return;
    const float *delta = (const float *)n.delta.data + (size_t)row * n.delta.ld;
    for (int i = lane; i < n.cols; i += LANES) {
        const size_t at = (size_t)row * n.cols + i;
        n.sum[at] = n.x[at] + delta[i];
    }
}

/* inv: 1 / scale of each reader. */
static __device__ inline void write_norm(const ganz_norm_call &n, const code_outs &outs, const float *inv, size_t row,
                                         int i, float v)
{
    if (n.y.data != NULL) ((float *)n.y.data)[row * n.y.ld + i] = v;
    for (int o = 0; o < outs.count; o++) {
        const ganz_code_out &out = outs.out[o];
        ((int8_t *)out.m.data)[row * out.m.ld + i] = signed_code(v, inv[o], out.p);
    }
}

/* EACH: elements of a thread, kept in registers; 0: as many as there are, read anew each time. Rows beyond the end
 * repeat the last one, because all threads of a warp take part in its sums, and write nothing. */
template <int EACH> static __global__ void norm_kernel(const ganz_norm_call n, const code_outs outs)
{
    __shared__ float inv[OUTS];
    if (threadIdx.x < outs.count) inv[threadIdx.x] = 1 / *outs.out[threadIdx.x].scale;
    __syncthreads();
    const int place = blockIdx.x * NORM_ROWS + threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const bool wanted = place < n.rows;
    const int row = wanted ? place : n.rows - 1, count = EACH > 0 ? EACH : (n.cols - lane + LANES - 1) / LANES;
    const size_t first = (size_t)row * n.cols + lane;
    float kept[EACH > 0 ? EACH : 1], sum = 0;
    if (wanted) add_delta(n, row, lane);
#pragma unroll
    for (int i = 0; i < EACH; i++) kept[i] = element(n, first + (size_t)LANES * i);
#pragma unroll
    for (int i = 0; i < count; i++) sum += EACH > 0 ? kept[EACH > 0 ? i : 0] : element(n, first + (size_t)LANES * i);
    const float mean = join_eight(sum) / (float)n.cols;
    sum = 0;
#pragma unroll
    for (int i = 0; i < count; i++) {
        const float d = (EACH > 0 ? kept[EACH > 0 ? i : 0] : element(n, first + (size_t)LANES * i)) - mean;
        sum += d * d;
    }
    const float r = 1.0f / sqrtf(join_eight(sum) / (float)n.cols + n.eps);
    if (!wanted) return;
#pragma unroll
    for (int i = 0; i < count; i++) {
        const int column = lane + LANES * i;
        const float x = EACH > 0 ? kept[EACH > 0 ? i : 0] : element(n, first + (size_t)LANES * i);
        write_norm(n, outs, inv, row, column, ((x - mean) * r) * n.gain[column] + n.bias[column]);
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
    if (!take_outs(call, &outs) || (call->delta.data != NULL && call->delta.type != GANZ_REAL)) {
        ganz_cuda_fail(c, "norm", "so many readers, or such values, are not supported on CUDA");
        return;
    }
    const int blocks = ganz_cuda_blocks(call->rows, NORM_ROWS);
    if (call->cols == 256) norm_kernel<32><<<blocks, THREADS, 0, c->stream>>>(*call, outs);
    else if (call->cols == 512) norm_kernel<64><<<blocks, THREADS, 0, c->stream>>>(*call, outs);
    else if (call->cols == 1024) norm_kernel<128><<<blocks, THREADS, 0, c->stream>>>(*call, outs);
    else norm_kernel<0><<<blocks, THREADS, 0, c->stream>>>(*call, outs);
    ganz_cuda_launched(c, "norm");
}
