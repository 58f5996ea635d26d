/* Around a dense product: scales, bias, activation, dropout and codes after it; and before the products of its
 * backward, the gradient through all of these. A thread owns four columns of a batch of rows. */
#include "backend/cuda_activation.cuh"
#include "backend/cuda_common.cuh"

enum { THREADS = 128, BATCH = GANZ_CUDA_BATCH };

/* ---- forward ------------------------------------------------------------------------------------ */

template <typename T> static __global__ void finish_kernel(const ganz_linear_call l)
{
    const int column = 4 * (blockIdx.x * THREADS + threadIdx.x), base = blockIdx.y * BATCH;
    if (column >= l.out) return;
    const float4 bias = l.bias != NULL ? load4(l.bias + column) : make_float4(0, 0, 0, 0);
    T *y = (T *)l.y.data + (size_t)base * l.y.ld + column;
    float4 v[BATCH];
#pragma unroll
    for (int r = 0; r < BATCH; r++)
        if (base + r < l.rows) v[r] = load4(y + (size_t)r * l.y.ld);
#pragma unroll
    for (int r = 0; r < BATCH; r++) {
        if (base + r >= l.rows) continue;
        float4 s = v[r] + bias;
        if (l.activation == GANZ_ACTIVATION_RELU)
            s = make_float4(fmaxf(s.x, 0), fmaxf(s.y, 0), fmaxf(s.z, 0), fmaxf(s.w, 0));
        store4(y + (size_t)r * l.y.ld, s * drop4(l.drop, base + r, l.out, column));
    }
}

/* y = drop(activation(from + bias)) for smooth activations; `from` keeps the sum where it is not y itself. */
template <typename F, typename T> static __global__ void smooth_kernel(const ganz_linear_call l, const ganz_matrix from)
{
    const int column = 4 * (blockIdx.x * THREADS + threadIdx.x), base = blockIdx.y * BATCH;
    if (column >= l.out) return;
    const float4 bias = l.bias != NULL ? load4(l.bias + column) : make_float4(0, 0, 0, 0);
    for (int row = base; row < base + BATCH && row < l.rows; row++) {
        F *x = (F *)from.data + (size_t)row * from.ld + column;
        const float4 s = load4(x) + bias;
        if (from.data != l.y.data) store4(x, s);
        store4((T *)l.y.data + (size_t)row * l.y.ld + column,
               activate4(l.activation, s) * drop4(l.drop, row, l.out, column));
    }
}

void ganz_cuda_finish_rows(ganz_cuda *c, const ganz_linear_call *call)
{
    const bool smooth = ganz_activation_is_smooth(call->activation);
    const ganz_matrix from = smooth && call->before.data != NULL ? call->before : call->y;
    const bool good =
        ganz_cuda_fours(&call->y) && ganz_cuda_floats(&call->y) && ganz_cuda_fours(&from) && ganz_cuda_floats(&from);
    if (!ganz_cuda_four_columns(c, "linear", good)) return;
    const dim3 blocks(ganz_cuda_blocks(call->out / 4, THREADS), ganz_cuda_blocks(call->rows, BATCH));
    if (smooth)
        GANZ_CUDA_TYPE(
            from.type, F,
            GANZ_CUDA_TYPE(call->y.type, T, smooth_kernel<F, T><<<blocks, THREADS, 0, c->stream>>>(*call, from)));
    else GANZ_CUDA_TYPE(call->y.type, T, finish_kernel<T><<<blocks, THREADS, 0, c->stream>>>(*call));
    ganz_cuda_launched(c, "linear");
}

static __device__ inline float4 plus(float4 a, float4 b)
{
    return make_float4(__fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y), __fadd_rn(a.z, b.z), __fadd_rn(a.w, b.w));
}
static __device__ inline float4 times(float4 a, float4 b)
{
    return make_float4(__fmul_rn(a.x, b.x), __fmul_rn(a.y, b.y), __fmul_rn(a.z, b.z), __fmul_rn(a.w, b.w));
}
/* The worth of a unit of the sums of four columns. */
static __device__ inline float4 worth_of(const ganz_linear_call *l, int column)
{
    const float x = l->x.scale != NULL ? *l->x.scale : 1.0f;
    if (l->w_by_row) return times(make_float4(x, x, x, x), load4(l->w.scale + column));
    const float all = __fmul_rn(x, l->w.scale != NULL ? *l->w.scale : 1.0f);
    return make_float4(all, all, all, all);
}

/* Each product and sum is rounded by itself, as where integers are multiplied. B: the type of `before`. */
template <typename C, typename B, bool SMOOTH>
static __global__ void finish_codes_kernel(const ganz_linear_call l, const float *sums, int first, int rows)
{
    const int column = 4 * (blockIdx.x * THREADS + threadIdx.x), base = blockIdx.y * BATCH;
    if (column >= l.out) return;
    const float4 worth = worth_of(&l, column);
    const code_range r = range_of(l.codes.scale, l.codes.p, true);
    const float4 bias = l.bias != NULL ? load4(l.bias + column) : make_float4(0, 0, 0, 0);
    const int fours = l.out / 4;
    float4 v[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++)
        if (base + i < rows) v[i] = load4(sums + (size_t)(base + i) * l.out + column);
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
        const int row = first + base + i;
        if (base + i >= rows) continue;
        const float4 kept = drop4(l.drop, row, l.out, column);
        float4 s = plus(times(v[i], worth), bias);
        if (SMOOTH) {
            if (l.before.data != NULL) store4((B *)l.before.data + (size_t)row * l.before.ld + column, s);
            s = activate4(l.activation, s);
        } else if (l.activation == GANZ_ACTIVATION_RELU)
            s = make_float4(fmaxf(s.x, 0), fmaxf(s.y, 0), fmaxf(s.z, 0), fmaxf(s.w, 0));
        if (l.drop.mask != NULL) s = s * kept;
        const float4 y = in_scales(s, r);
        store4((C *)l.codes.m.data + (size_t)row * l.codes.m.ld + column, codes_of(y, r));
        if (l.codes.bytes != NULL) store4(l.codes.bytes + (size_t)row * l.codes.m.ld + column, codes_of(y, r));
        if (l.codes.inside != NULL)
            l.codes.inside[(size_t)row * fours + column / 4] =
                (uint8_t)(bits_inside(y, r) & above_zero(!SMOOTH && l.activation == GANZ_ACTIVATION_RELU ? s : kept));
    }
}

void ganz_cuda_finish_codes(ganz_cuda *c, const ganz_linear_call *call, const float *sums, int first, int rows)
{
    const bool good = ganz_cuda_fours(&call->codes.m) && ganz_cuda_floats(&call->codes.m) && call->out % 4 == 0 &&
                      ganz_cuda_fours(&call->before) && ganz_cuda_floats(&call->before);
    if (!ganz_cuda_four_columns(c, "linear", good)) return;
    const dim3 blocks(ganz_cuda_blocks(call->out / 4, THREADS), ganz_cuda_blocks(rows, BATCH));
    if (ganz_activation_is_smooth(call->activation))
        GANZ_CUDA_TYPE(call->codes.m.type, C,
                       GANZ_CUDA_TYPE(call->before.type, B,
                                      finish_codes_kernel<C, B, true>
                                      <<<blocks, THREADS, 0, c->stream>>>(*call, sums, first, rows)));
    else
        GANZ_CUDA_TYPE(call->codes.m.type, C,
                       finish_codes_kernel<C, float, false>
                       <<<blocks, THREADS, 0, c->stream>>>(*call, sums, first, rows));
    ganz_cuda_launched(c, "linear");
}

/* ---- backward ----------------------------------------------------------------------------------- */

template <typename Y, typename G> static __global__ void back_kernel(const ganz_linear_call l, int each, float *partial)
{
    const int column = 4 * (blockIdx.x * THREADS + threadIdx.x);
    if (column >= l.out) return;
    const int begin = blockIdx.y * each, end = min(begin + each, l.rows);
    const float scale = l.drop.mask != NULL ? l.drop.scale : 1.0f;
    G *grad = (G *)l.y_grad.data + column;
    const Y *y = (const Y *)l.y.data + column;
    const uint8_t *inside = l.codes.inside != NULL ? l.codes.inside + column / 4 : NULL;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int base = begin; base < end; base += BATCH) {
        float4 g[BATCH], v[BATCH];
        unsigned bits[BATCH];
#pragma unroll
        for (int r = 0; r < BATCH; r++) {
            if (base + r >= end) continue;
            g[r] = load4(grad + (size_t)(base + r) * l.y_grad.ld);
            if (inside != NULL) bits[r] = inside[(size_t)(base + r) * (l.out / 4)];
            else if (l.activation == GANZ_ACTIVATION_RELU) v[r] = load4(y + (size_t)(base + r) * l.y.ld);
        }
#pragma unroll
        for (int r = 0; r < BATCH; r++) {
            if (base + r >= end) continue;
            float4 d = g[r];
            if (inside != NULL) d = where(bits[r], d) * scale;
            else if (l.activation == GANZ_ACTIVATION_RELU)
                d = make_float4(v[r].x > 0 ? d.x * scale : 0, v[r].y > 0 ? d.y * scale : 0,
                                v[r].z > 0 ? d.z * scale : 0, v[r].w > 0 ? d.w * scale : 0);
            else d = d * drop4(l.drop, base + r, l.out, column);
            if (l.activation == GANZ_ACTIVATION_RELU || l.drop.mask != NULL || inside != NULL)
                store4(grad + (size_t)(base + r) * l.y_grad.ld, d);
            sum = sum + d;
        }
    }
    if (partial != NULL) store4(partial + (size_t)blockIdx.y * l.out + column, sum);
}

/* The same for bf16, eight columns a thread, so that a load is 16 bytes: where relu let through, where codes say that
 * gradients pass, or sums alone. */
typedef enum passes { EVERYWHERE, ABOVE_ZERO, INSIDE } passes;
typedef struct eight {
    float v[8];
} eight;

static __device__ inline eight open_eight(uint4 raw)
{
    const uint32_t pairs[4] = {raw.x, raw.y, raw.z, raw.w};
    eight e;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        e.v[2 * i] = __uint_as_float(pairs[i] << 16);
        e.v[2 * i + 1] = __uint_as_float(pairs[i] & 0xffff0000u);
    }
    return e;
}

static __device__ inline uint4 close_eight(const eight &e)
{
    return make_uint4(pack2(e.v[0], e.v[1]), pack2(e.v[2], e.v[3]), pack2(e.v[4], e.v[5]), pack2(e.v[6], e.v[7]));
}

template <passes PASS> static __global__ void back_eight_kernel(const ganz_linear_call l, int each, float *partial)
{
    const int column = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (column >= l.out) return;
    const int begin = blockIdx.y * each, end = min(begin + each, l.rows);
    const float scale = l.drop.mask != NULL ? l.drop.scale : 1.0f;
    bf16 *grad = (bf16 *)l.y_grad.data + column;
    const bf16 *y = (const bf16 *)l.y.data + column;
    const uint8_t *inside = l.codes.inside + column / 4;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int base = begin; base < end; base += BATCH) {
        uint4 g[BATCH], v[BATCH];
        unsigned bits[BATCH];
#pragma unroll
        for (int r = 0; r < BATCH; r++) {
            if (base + r >= end) continue;
            g[r] = *(const uint4 *)(grad + (size_t)(base + r) * l.y_grad.ld);
            if (PASS == INSIDE) bits[r] = *(const uint16_t *)(inside + (size_t)(base + r) * (l.out / 4));
            if (PASS == ABOVE_ZERO) v[r] = *(const uint4 *)(y + (size_t)(base + r) * l.y.ld);
        }
#pragma unroll
        for (int r = 0; r < BATCH; r++) {
            if (base + r >= end) continue;
            eight d = open_eight(g[r]);
            if (PASS == ABOVE_ZERO) {
                const eight was = open_eight(v[r]);
#pragma unroll
                for (int i = 0; i < 8; i++) d.v[i] = was.v[i] > 0 ? d.v[i] * scale : 0;
            }
            if (PASS == INSIDE) {
#pragma unroll
                for (int i = 0; i < 8; i++) d.v[i] = (bits[r] >> (i / 4 * 8 + i % 4) & 1 ? d.v[i] : 0) * scale;
            }
            if (PASS != EVERYWHERE) *(uint4 *)(grad + (size_t)(base + r) * l.y_grad.ld) = close_eight(d);
#pragma unroll
            for (int i = 0; i < 8; i++) sum[i] = sum[i] + d.v[i];
        }
    }
    if (partial == NULL) return;
    float *to = partial + (size_t)blockIdx.y * l.out + column;
    store4(to, make_float4(sum[0], sum[1], sum[2], sum[3]));
    store4(to + 4, make_float4(sum[4], sum[5], sum[6], sum[7]));
}

static bool in_eights(const ganz_matrix *m)
{
    return m->type == GANZ_BF16 && m->ld % 8 == 0 && (size_t)m->data % 16 == 0;
}

/* Whether the kernel above does it. */
static bool takes_eight(const ganz_linear_call *call)
{
    if (call->out % 8 != 0 || !in_eights(&call->y_grad) || ganz_activation_is_smooth(call->activation)) return false;
    if (call->codes.inside != NULL) return (size_t)call->codes.inside % 2 == 0;
    if (call->activation == GANZ_ACTIVATION_RELU) return in_eights(&call->y);
    return call->activation == GANZ_ACTIVATION_NONE && call->drop.mask == NULL;
}

static void back_eight(ganz_cuda *c, const ganz_linear_call *call, int each, float *partial)
{
    const int threads = call->out / 8 < THREADS ? (int)ganz_round_up((size_t)call->out / 8, WARP) : THREADS;
    const dim3 blocks(ganz_cuda_blocks(call->out / 8, threads), ganz_cuda_blocks(call->rows, each));
    if (call->codes.inside != NULL) back_eight_kernel<INSIDE><<<blocks, threads, 0, c->stream>>>(*call, each, partial);
    else if (call->activation == GANZ_ACTIVATION_RELU)
        back_eight_kernel<ABOVE_ZERO><<<blocks, threads, 0, c->stream>>>(*call, each, partial);
    else back_eight_kernel<EVERYWHERE><<<blocks, threads, 0, c->stream>>>(*call, each, partial);
}

/* The same for smooth activations, whose derivative is that at `before`. */
template <typename B, typename G>
static __global__ void smooth_back_kernel(const ganz_linear_call l, int each, float *partial)
{
    const int column = 4 * (blockIdx.x * THREADS + threadIdx.x);
    if (column >= l.out) return;
    const int begin = blockIdx.y * each, end = min(begin + each, l.rows);
    const float scale = l.drop.mask != NULL ? l.drop.scale : 1.0f;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int row = begin; row < end; row++) {
        G *grad = (G *)l.y_grad.data + (size_t)row * l.y_grad.ld + column;
        float4 d = load4(grad);
        if (l.codes.inside != NULL) d = where(l.codes.inside[(size_t)row * (l.out / 4) + column / 4], d) * scale;
        else d = d * drop4(l.drop, row, l.out, column);
        d = d * slope4(l.activation, load4((const B *)l.before.data + (size_t)row * l.before.ld + column));
        store4(grad, d);
        sum = sum + d;
    }
    if (partial != NULL) store4(partial + (size_t)blockIdx.y * l.out + column, sum);
}

/* Whether the matrices of a backward have the shapes and types that its kernels take. */
static bool back_fits(const ganz_linear_call *call)
{
    bool good = ganz_cuda_fours(&call->y_grad) && ganz_cuda_floats(&call->y_grad);
    if (call->activation == GANZ_ACTIVATION_RELU && call->codes.inside == NULL)
        good = good && ganz_cuda_fours(&call->y) && ganz_cuda_floats(&call->y);
    if (ganz_activation_is_smooth(call->activation))
        good = good && call->before.data != NULL && ganz_cuda_fours(&call->before) && ganz_cuda_floats(&call->before);
    return good;
}

void ganz_cuda_back_rows(ganz_cuda *c, const ganz_linear_call *call)
{
    if (call->activation == GANZ_ACTIVATION_NONE && call->drop.mask == NULL && call->bias_grad == NULL) {
        if (call->codes.inside != NULL) ganz_cuda_zero_clipped(c, &call->y_grad, call->codes.inside);
        return;
    }
    if (!ganz_cuda_four_columns(c, "linear gradient", back_fits(call))) return;
    const int each = ganz_cuda_part_rows(call->rows), parts = ganz_cuda_blocks(call->rows, each);
    float *partial = NULL;
    if (call->bias_grad != NULL) {
        partial = (float *)ganz_cuda_scratch(c, (size_t)parts * (size_t)call->out * sizeof(float));
        if (partial == NULL) return;
    }
    const dim3 blocks(ganz_cuda_blocks(call->out / 4, THREADS), parts);
    if (takes_eight(call)) back_eight(c, call, each, partial);
    else if (ganz_activation_is_smooth(call->activation))
        GANZ_CUDA_TYPE(call->before.type, B,
                       GANZ_CUDA_TYPE(call->y_grad.type, G,
                                      smooth_back_kernel<B, G>
                                      <<<blocks, THREADS, 0, c->stream>>>(*call, each, partial)));
    else
        GANZ_CUDA_TYPE(call->y.type, Y,
                       GANZ_CUDA_TYPE(call->y_grad.type, G,
                                      back_kernel<Y, G><<<blocks, THREADS, 0, c->stream>>>(*call, each, partial)));
    ganz_cuda_launched(c, "linear gradient");
    const ganz_cuda_columns sums = {partial, parts, call->out, call->out, {call->bias_grad}};
    if (partial != NULL) ganz_cuda_add_columns(c, &sums);
}

/* ---- scales and types --------------------------------------------------------------------------- */

template <typename T>
static __global__ void scale_kernel(const ganz_matrix m, const float *factors, const float *factor)
{
    const int column = blockIdx.x * THREADS + threadIdx.x;
    if (column >= m.cols) return;
    const float by = factor != NULL ? __fmul_rn(*factor, factors[column]) : factors[column];
    for (int row = blockIdx.y; row < m.rows; row += gridDim.y) {
        T *x = (T *)m.data + (size_t)row * m.ld + column;
        store1(x, __fmul_rn(load1(x), by));
    }
}

void ganz_cuda_scale_columns(ganz_cuda *c, const ganz_matrix *m, const float *factors, const float *factor)
{
    const dim3 blocks(ganz_cuda_blocks(m->cols, THREADS), ganz_cuda_min(m->rows, 1024));
    GANZ_CUDA_TYPE(m->type, T, scale_kernel<T><<<blocks, THREADS, 0, c->stream>>>(*m, factors, factor));
    ganz_cuda_launched(c, "steps of rows");
}

template <typename F, typename T>
static __global__ void convert_kernel(const F *from, int rows, int cols, int ld, T *to)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (int64_t)rows * cols) return;
    store1(to + i, load1(from + (size_t)(i / cols) * ld + i % cols));
}

void ganz_cuda_convert(ganz_cuda *c, const ganz_matrix *from, ganz_type type, void *to)
{
    const int blocks = ganz_cuda_blocks((int64_t)from->rows * from->cols, THREADS);
    if (blocks == 0) return;
    GANZ_CUDA_TYPE(from->type, F,
                   GANZ_CUDA_TYPE(type, T,
                                  convert_kernel<F, T><<<blocks, THREADS, 0, c->stream>>>(
                                      (const F *)from->data, from->rows, from->cols, from->ld, (T *)to)));
    ganz_cuda_launched(c, "conversion");
}
