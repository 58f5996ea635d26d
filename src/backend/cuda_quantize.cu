/* Element by element: masks, codes and their gradients, largest magnitudes, operands of weights, averages, sums. */
#include <string.h>

#include "backend/cuda_common.cuh"
#include "base/rng.h"

enum { THREADS = 128, BATCH = 4, MOST_BLOCKS = 2048, PIECE = 16384, REFRESH_THREADS = 256, KIND_REFRESH = 1 };

#define LN2 0.69314718055994530942f

/* ---- masks -------------------------------------------------------------------------------------- */

static __global__ void mask_kernel(uint8_t *mask, int64_t count, uint64_t seed, uint64_t stream, float keep)
{
    const int64_t quad = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, first = 4 * quad;
    if (first >= count) return;
    const ganz_random4 r = ganz_philox(seed, stream, (uint64_t)quad);
    uint8_t bytes[4];
#pragma unroll
    for (int i = 0; i < 4; i++) bytes[i] = (float)(r.v[i] >> 8) * (1.0f / 16777216.0f) < keep;
    if (first + 4 <= count && (size_t)mask % 4 == 0) {
        *(uchar4 *)(mask + first) = make_uchar4(bytes[0], bytes[1], bytes[2], bytes[3]);
        return;
    }
    for (int i = 0; i < 4 && first + i < count; i++) mask[first + i] = bytes[i];
}

void ganz_cuda_mask(ganz_backend *be, uint8_t *mask, int64_t count, uint64_t seed, uint64_t stream, float keep)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (count == 0) return;
    mask_kernel<<<ganz_cuda_blocks((count + 3) / 4, THREADS), THREADS, 0, c->stream>>>(mask, count, seed, stream, keep);
    ganz_cuda_launched(c, "mask");
}

/* ---- codes of activations ----------------------------------------------------------------------- */

static __device__ inline void store4(uint8_t *p, float4 v)
{
    *(uchar4 *)p = make_uchar4((uint8_t)(int)v.x, (uint8_t)(int)v.y, (uint8_t)(int)v.z, (uint8_t)(int)v.w);
}

template <typename X, typename C> static __global__ void quantize_kernel(const ganz_quantize_call q)
{
    const int column = 4 * (blockIdx.x * THREADS + threadIdx.x);
    const code_range r = range_of(q.scale, q.p, q.is_signed);
    int clipped = 0;
    for (int base = blockIdx.y * BATCH; column < q.x.cols && base < q.x.rows; base += gridDim.y * BATCH) {
        float4 x[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            if (base + i < q.x.rows) x[i] = load4((const X *)q.x.data + (size_t)(base + i) * q.x.ld + column);
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            if (base + i >= q.x.rows) continue;
            const float4 y = in_scales(x[i], r);
            store4((C *)q.codes.data + (size_t)(base + i) * q.codes.ld + column, codes_of(y, r));
            if (q.clipped != NULL) clipped += 4 - __popc(bits_inside(y, r));
        }
    }
    if (q.clipped == NULL) return;
    clipped = __reduce_add_sync(0xffffffffu, clipped);
    if (threadIdx.x % WARP == 0 && clipped > 0) atomicAdd((unsigned long long *)q.clipped, (unsigned long long)clipped);
}

static bool usable(ganz_cuda *c, const ganz_matrix *m, bool floats)
{
    const bool good = ganz_cuda_fours(m) && (!floats || ganz_cuda_floats(m));
    if (!good) ganz_cuda_fail(c, "quantize", "the CUDA backend needs matrices whose columns come in aligned fours");
    return good;
}

static dim3 rows_grid(const ganz_matrix *m)
{
    const int wide = ganz_cuda_blocks(m->cols / 4, THREADS), most = MOST_BLOCKS / wide > 0 ? MOST_BLOCKS / wide : 1;
    return dim3(wide, ganz_cuda_min(ganz_cuda_blocks(m->rows, BATCH), most));
}

void ganz_cuda_quantize(ganz_backend *be, const ganz_quantize_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->x.rows == 0) return;
    if (!usable(c, &call->x, true) || !usable(c, &call->codes, false)) return;
    const dim3 grid = rows_grid(&call->x);
    if (call->codes.type == GANZ_S8 || call->codes.type == GANZ_U8)
        GANZ_CUDA_TYPE(call->x.type, X, quantize_kernel<X, uint8_t><<<grid, THREADS, 0, c->stream>>>(*call));
    else
        GANZ_CUDA_TYPE(
            call->x.type, X,
            GANZ_CUDA_TYPE(call->codes.type, C, quantize_kernel<X, C><<<grid, THREADS, 0, c->stream>>>(*call)));
    ganz_cuda_launched(c, "quantize");
}

template <typename G, typename H>
static __device__ inline float grad_of_four(const ganz_quantize_call *q, code_range r, float4 x, int row, int column)
{
    const float4 g = load4((const G *)q->code_grad.data + (size_t)row * q->code_grad.ld + column);
    const float4 y = in_scales(x, r);
    const unsigned in = bits_inside(y, r);
    const float4 made = where(in, g);
    H *to = (H *)q->x_grad.data + (size_t)row * q->x_grad.ld + column;
    store4(to, q->x_grad_add ? load4(to) + made : made);
    return total4(g * (codes_of(y, r) + where(in, y) * -1.0f));
}

template <typename X, typename G, typename H>
static __global__ void quantize_grad_kernel(const ganz_quantize_call q, float *partial)
{
    __shared__ float room[WARP];
    const int column = 4 * (blockIdx.x * THREADS + threadIdx.x);
    const code_range r = range_of(q.scale, q.p, q.is_signed);
    float z = 0;
    for (int row = blockIdx.y; column < q.x.cols && row < q.x.rows; row += gridDim.y)
        z += grad_of_four<G, H>(&q, r, load4((const X *)q.x.data + (size_t)row * q.x.ld + column), row, column);
    if (partial == NULL) return;
    z = block_sum(z, room);
    if (threadIdx.x == 0) partial[blockIdx.y * gridDim.x + blockIdx.x] = z * *q.scale * LN2;
}

void ganz_cuda_quantize_grad(ganz_backend *be, const ganz_quantize_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->x.rows == 0) return;
    if (!usable(c, &call->x, true) || !usable(c, &call->code_grad, true) || !usable(c, &call->x_grad, true)) return;
    const dim3 grid = rows_grid(&call->x);
    float *partial = NULL;
    if (call->z_grad != NULL) {
        partial = (float *)ganz_cuda_scratch(c, (size_t)grid.x * grid.y * sizeof *partial);
        if (partial == NULL) return;
    }
    GANZ_CUDA_TYPE(
        call->x.type, X,
        GANZ_CUDA_TYPE(call->code_grad.type, G,
                       GANZ_CUDA_TYPE(call->x_grad.type, H,
                                      quantize_grad_kernel<X, G, H><<<grid, THREADS, 0, c->stream>>>(*call, partial))));
    ganz_cuda_launched(c, "quantize gradient");
    if (partial != NULL) ganz_cuda_add_total(c, partial, (int)(grid.x * grid.y), 1.0f, call->z_grad);
}

/* ---- gradients of codes written in passing ------------------------------------------------------ */

/* Little is ever clipped: nearly all threads read four bytes for sixteen columns and are done. */
template <typename G>
static __global__ void zero_clipped_kernel(const ganz_matrix grad, const uint8_t *inside, int64_t count)
{
    const int64_t first = 4 * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    const int fours = grad.cols / 4;
    if (first >= count) return;
    if (first + 4 <= count && *(const uint32_t *)(inside + first) == 0x0f0f0f0fu) return;
    for (int64_t i = first; i < min(first + 4, count); i++) {
        G *to = (G *)grad.data + (size_t)(i / fours) * grad.ld + 4 * (i % fours);
        if (inside[i] != 15) store4(to, where(inside[i], load4(to)));
    }
}

void ganz_cuda_zero_clipped(ganz_cuda *c, const ganz_matrix *grad, const uint8_t *inside)
{
    if (!usable(c, grad, true)) return;
    const int64_t count = (int64_t)grad->rows * (grad->cols / 4);
    const int blocks = ganz_cuda_blocks(count, 4 * THREADS);
    if (blocks == 0) return;
    GANZ_CUDA_TYPE(grad->type, G, zero_clipped_kernel<G><<<blocks, THREADS, 0, c->stream>>>(*grad, inside, count));
    ganz_cuda_launched(c, "gradient of codes");
}

/* ---- scales -------------------------------------------------------------------------------------- */

/* Through double, so that the result is the correctly rounded one but for a case in millions. */
static __global__ void scales_kernel(const float *z, float *scale, int count, bool power_of_two, float factor)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    const float kept = fminf(fmaxf(z[i], -24.0f), 8.0f);
    scale[i] = (float)exp2((double)(power_of_two ? rintf(kept) : kept)) * factor;
}

void ganz_cuda_scales(ganz_backend *be, const real *z, real *scale, int count, bool power_of_two, real factor)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (count == 0) return;
    scales_kernel<<<ganz_cuda_blocks(count, THREADS), THREADS, 0, c->stream>>>(z, scale, count, power_of_two, factor);
    ganz_cuda_launched(c, "steps");
}

/* ---- largest magnitude -------------------------------------------------------------------------- */

static __device__ inline float largest4(float4 v)
{
    return fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
}

template <typename X> static __global__ void largest_kernel(const ganz_matrix x, float *largest)
{
    const int column = 4 * (blockIdx.x * THREADS + threadIdx.x);
    float most = 0;
#pragma unroll 4
    for (int row = blockIdx.y; row < x.rows; row += gridDim.y)
        if (column < x.cols) most = fmaxf(most, largest4(load4((const X *)x.data + (size_t)row * x.ld + column)));
    most = warp_max(most);
    if (threadIdx.x % WARP == 0) raise(largest, most);
}

void ganz_cuda_largest(ganz_backend *be, const ganz_matrix *x, real *largest)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (x->rows == 0 || !usable(c, x, true)) return;
    GANZ_CUDA_TYPE(x->type, X, largest_kernel<X><<<rows_grid(x), THREADS, 0, c->stream>>>(*x, largest));
    ganz_cuda_launched(c, "largest");
}

/* ---- operands of weights ------------------------------------------------------------------------ */

typedef struct weight {
    const float *master;
    void *copy;
    float *scale;
    const float *range;
    int8_t *bytes;
    int64_t count;
    int p, values, power_of_two, unused;
} weight;

typedef struct piece {
    int item, part;
} piece;

static __device__ inline bool fours(const weight *w)
{
    return ((size_t)w->master | (size_t)w->copy) % 16 == 0 && (size_t)w->bytes % 4 == 0;
}

static __global__ void refresh_largest(const weight *weights, const piece *pieces, float *largest)
{
    const piece at = pieces[blockIdx.x];
    const weight w = weights[at.item];
    if (w.p == 0) return;
    const int64_t begin = (int64_t)at.part * PIECE, end = min(begin + PIECE, w.count);
    float most = 0;
    int64_t i = begin;
    if (fours(&w)) {
        const int64_t whole = begin + (end - begin) / 4 * 4;
#pragma unroll 8
        for (i = begin + 4 * threadIdx.x; i < whole; i += 4 * REFRESH_THREADS)
            most = fmaxf(most, largest4(load4(w.master + i)));
        i = whole;
    }
    for (i += threadIdx.x; i < end; i += REFRESH_THREADS) most = fmaxf(most, fabsf(w.master[i]));
    most = warp_max(most);
    if (threadIdx.x % WARP == 0) raise(&largest[at.item], most);
}

static __device__ inline float as_code(float v, float inv, float p)
{
    return p > 0 ? rintf(fminf(fmaxf(__fmul_rn(v, inv), -p), p)) + 0.0f : v; /* no -0 */
}

template <typename T>
static __device__ inline void refresh_piece(const weight *w, int64_t begin, int64_t end, float inv, float factor)
{
    T *copy = (T *)w->copy;
    const float p = (float)w->p;
    int64_t i = begin;
    if (fours(w)) {
        const int64_t whole = begin + (end - begin) / 4 * 4;
#pragma unroll 4
        for (i = begin + 4 * threadIdx.x; i < whole; i += 4 * REFRESH_THREADS) {
            const float4 v = load4(w->master + i);
            const float4 codes =
                make_float4(as_code(v.x, inv, p), as_code(v.y, inv, p), as_code(v.z, inv, p), as_code(v.w, inv, p));
            store4(copy + i, codes * factor);
            if (w->bytes != NULL) store4(w->bytes + i, codes);
        }
        i = whole;
    }
    for (i += threadIdx.x; i < end; i += REFRESH_THREADS) {
        const float code = as_code(w->master[i], inv, p);
        store1(copy + i, code * factor);
        if (w->bytes != NULL) w->bytes[i] = (int8_t)code;
    }
}

/* The smallest power of two that is not below. */
static __device__ inline float next_power(float scale)
{
    int exponent;
    const float part = frexpf(scale, &exponent); /* 0.5 to 1 */
    return ldexpf(1.0f, part == 0.5f ? exponent - 1 : exponent);
}

template <typename T>
static __global__ void refresh_kernel(const weight *weights, const piece *pieces, const float *largest)
{
    const piece at = pieces[blockIdx.x];
    const weight w = weights[at.item];
    const int64_t begin = (int64_t)at.part * PIECE, end = min(begin + PIECE, w.count);
    float scale = 1;
    const float most = w.p == 0 ? 0 : w.range != NULL ? *w.range : largest[at.item];
    if (most > 0) scale = __fdiv_rn(most, (float)w.p);
    if (w.power_of_two) scale = next_power(scale);
    if (w.p > 0 && at.part == 0 && threadIdx.x == 0) *w.scale = scale;
    const float inv = __fdiv_rn(1.0f, scale);
    if (w.values) refresh_piece<float>(&w, begin, end, inv, w.p > 0 ? scale : 1.0f);
    else refresh_piece<T>(&w, begin, end, inv, 1.0f);
}

/* A warp for each row. */
template <typename T> static __global__ void refresh_rows_kernel(const ganz_refresh_item item, int cols)
{
    const float *master = item.master;
    T *copy = (T *)item.copy;
    const int row = blockIdx.x * (REFRESH_THREADS / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= item.rows) return;
    const size_t at = (size_t)row * cols;
    float most = 0, scale = item.scale[row];
    if (!item.known) {
        for (int i = lane; i < cols; i += WARP) most = fmaxf(most, fabsf(master[at + i]));
        most = item.range != NULL ? *item.range : warp_max(most);
        scale = most > 0 ? __fdiv_rn(most, (float)item.p) : 1;
        if (item.power_of_two) scale = next_power(scale);
        if (lane == 0) item.scale[row] = scale;
    }
    const float inv = __fdiv_rn(1.0f, scale);
    for (int i = lane; i < cols; i += WARP) {
        const float code = as_code(master[at + i], inv, (float)item.p);
        store1(copy + at + i, code);
        if (item.bytes != NULL) item.bytes[at + i] = (int8_t)code;
    }
}

static void refresh_rows(ganz_cuda *c, const ganz_refresh_item *item)
{
    const int blocks = ganz_cuda_blocks(item->rows, REFRESH_THREADS / WARP),
              cols = (int)(item->count / (size_t)item->rows);
    GANZ_CUDA_TYPE(c->table.product, T, refresh_rows_kernel<T><<<blocks, REFRESH_THREADS, 0, c->stream>>>(*item, cols));
    ganz_cuda_launched(c, "refresh");
}

/* A warp for each row, whose lanes are summed in a fixed order. */
static __global__ void rows_grad_kernel(const ganz_rows_grad_call call)
{
    const int row = blockIdx.x * (REFRESH_THREADS / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= call.rows) return;
    const size_t at = (size_t)row * call.cols;
    const code_range r = range_of(call.scale + row, call.p, true);
    float sum = 0;
    for (int i = lane; i < call.cols; i += WARP) {
        const float y = __fmul_rn(call.master[at + i], r.inv), g = call.grad[at + i];
        const bool inside = is_inside(y, r);
        sum += g * (code_of(y, r) - (inside ? y : 0.0f));
        if (!inside) call.grad[at + i] = 0;
    }
    sum = warp_sum(sum);
    if (lane == 0) call.z_grad[row] += sum * call.scale[row] * LN2;
}

void ganz_cuda_rows_grad(ganz_backend *be, const ganz_rows_grad_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    const int blocks = ganz_cuda_blocks(call->rows, REFRESH_THREADS / WARP);
    if (blocks == 0) return;
    rows_grad_kernel<<<blocks, REFRESH_THREADS, 0, c->stream>>>(*call);
    ganz_cuda_launched(c, "gradient of steps");
}

static void fill_refresh(const void *list, const ganz_cuda_layout *layout, void *items, void *pieces)
{
    const weight *weights = (const weight *)list;
    piece *to = (piece *)pieces;
    memcpy(items, list, layout->item_bytes * (size_t)layout->count);
    for (int i = 0; i < layout->count; i++)
        for (int part = 0; (int64_t)part * PIECE < weights[i].count; part++) *to++ = piece{i, part};
}

/* The fields of the list that are used: the caller's structs have padding, which may hold anything. */
static weight *weights_of(const ganz_refresh_item *items, int count, ganz_cuda_layout *layout)
{
    weight *weights = (weight *)ganz_alloc((size_t)count, sizeof *weights);
    memset(layout, 0, sizeof *layout);
    if (weights == NULL) return NULL;
    for (int i = 0; i < count; i++) {
        weights[i].master = items[i].master;
        weights[i].copy = items[i].copy;
        weights[i].scale = items[i].scale;
        weights[i].count = items[i].rows > 0 ? 0 : (int64_t)items[i].count; /* refresh_rows has done it */
        weights[i].p = items[i].rows > 0 ? 0 : items[i].p;
        weights[i].values = items[i].values;
        weights[i].power_of_two = items[i].power_of_two;
        weights[i].range = items[i].range;
        weights[i].bytes = items[i].bytes;
        layout->pieces_count += ganz_cuda_blocks(weights[i].count, PIECE);
        layout->extra |= weights[i].p > 0;
    }
    layout->kind = KIND_REFRESH;
    layout->count = count;
    layout->item_bytes = sizeof(weight);
    layout->piece_bytes = sizeof(piece);
    layout->sums_count = (size_t)count;
    layout->fill = fill_refresh;
    return weights;
}

void ganz_cuda_refresh(ganz_backend *be, const ganz_refresh_item *items, int count)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (count == 0) return;
    for (int i = 0; i < count; i++)
        if (items[i].rows > 0) refresh_rows(c, &items[i]);
    ganz_cuda_layout layout;
    weight *list = weights_of(items, count, &layout);
    if (list == NULL) {
        ganz_cuda_fail(c, "refresh", "out of memory");
        return;
    }
    ganz_cuda_plan *plan = ganz_cuda_find_plan(c, KIND_REFRESH, list, (size_t)count * sizeof *list);
    if (plan == NULL) plan = ganz_cuda_make_plan(c, list, (size_t)count * sizeof *list, &layout);
    ganz_free(list);
    if (plan == NULL || plan->pieces_count == 0) return;
    const weight *weights = (const weight *)plan->items;
    const piece *pieces = (const piece *)plan->pieces;
    if (plan->extra) {
        (void)cudaMemsetAsync(plan->sums, 0, (size_t)count * sizeof(float), c->stream);
        refresh_largest<<<plan->pieces_count, REFRESH_THREADS, 0, c->stream>>>(weights, pieces, plan->sums);
    }
    GANZ_CUDA_TYPE(c->table.product, T,
                   refresh_kernel<T>
                   <<<plan->pieces_count, REFRESH_THREADS, 0, c->stream>>>(weights, pieces, plan->sums));
    ganz_cuda_launched(c, "refresh");
}

/* ---- averages ----------------------------------------------------------------------------------- */

static __global__ void average_kernel(float *to, const float *from, int64_t count, float keep, float take)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
#pragma unroll 4
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = to[i] * keep + from[i] * take;
}

void ganz_cuda_average(ganz_backend *be, real *to, const real *from, size_t count, double keep)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (count == 0) return;
    const int blocks = ganz_cuda_min(ganz_cuda_blocks((int64_t)count, 256), c->processors * 8);
    average_kernel<<<blocks, 256, 0, c->stream>>>(to, from, (int64_t)count, (float)keep, (float)(1 - keep));
    ganz_cuda_launched(c, "average");
}

/* ---- sums --------------------------------------------------------------------------------------- */

static __global__ void add_kernel(float *to, const float *from, int64_t count)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
#pragma unroll 4
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = __fadd_rn(to[i], from[i]);
}

void ganz_cuda_add(ganz_backend *be, real *to, const real *from, size_t count)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (count == 0) return;
    const int blocks = ganz_cuda_min(ganz_cuda_blocks((int64_t)count, 256), c->processors * 8);
    add_kernel<<<blocks, 256, 0, c->stream>>>(to, from, (int64_t)count);
    ganz_cuda_launched(c, "add");
}

static __global__ void add_rows_kernel(double *to, const double *from, int rows, int cols)
{
    const int col = (int)threadIdx.x;
    for (int row = 0; col < cols && row < rows; row++) to[col] = __dadd_rn(to[col], from[row * cols + col]);
}

void ganz_cuda_add_rows(ganz_backend *be, double *to, const double *from, int rows, int cols)
{
    ganz_cuda *c = ganz_cuda_of(be);
    add_rows_kernel<<<1, 32, 0, c->stream>>>(to, from, rows, cols);
    ganz_cuda_launched(c, "add_rows");
}
