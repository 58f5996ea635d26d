/* Shared by the files of integer products on the GPU: a product, its epilogue, and copies that run ahead. */
#ifndef GANZ_BACKEND_CUDA_CODES_PRODUCT_CUH
#define GANZ_BACKEND_CUDA_CODES_PRODUCT_CUH

#include <math.h>

#include "backend/cuda_codes.cuh"

enum { PIECE = 16, TOGETHER = 4 };

typedef struct product {
    const int8_t *x, *w; /* (rows, in), (out, in) */
    int rows, in, out, x_ld, w_ld;
    const float *x_scale, *w_scale, *bias;
    bool by_row, add;
    ganz_activation activation;
    float *y; /* NULL: only codes */
    int8_t *codes;
    const float *code_scale;
    const int32_t *code_first; /* where rows of codes begin; NULL: at the first one */
    int y_ld, codes_ld, p;
    bool wide;     /* four columns of a result may be moved at a time */
    float *maxima; /* (rows, columns / GANZ_CUDA_MAXIMA) largest of so many columns of y; NULL: not wanted */
} product;

/* Products of one launch: all have the same shape. */
struct ganz_cuda_products {
    product list[TOGETHER];
    int count;
};

/* A product of training, whose codes are also kept in the product type and remember where gradients pass. Of a product
 * it uses the operands, scales, bias, activation, code_scale and p. */
typedef struct lesson : product {
    ganz_drop drop;
    ganz_matrix to;  /* codes of the results, float or bf16 */
    uint8_t *inside; /* see ganz_code_out; NULL: not wanted */
    int8_t *bytes;
} lesson;

struct ganz_cuda_lessons {
    lesson list[TOGETHER];
    int count;
};

/* Products of training begin when all before them have ended: weights and scales change there. */
static inline bool runs_in_turn(const ganz_cuda_products *) { return false; }
static inline bool runs_in_turn(const ganz_cuda_lessons *) { return true; }

/* Products of many rows by the matrix units of Hopper; false: not on this device, or too few rows. */
bool ganz_cuda_multiply_wide(ganz_cuda *c, const ganz_cuda_products *all);
bool ganz_cuda_multiply_wide(ganz_cuda *c, const ganz_cuda_lessons *all);
/* By the matrix units that all GPUs have, or by those of Hopper. */
void ganz_cuda_multiply_lessons(ganz_cuda *c, const ganz_cuda_lessons *all);

/* ---- epilogue ----------------------------------------------------------------------------------- */

/* Of a column: what its sums are worth, and what is added. */
static __device__ inline float scale_of(const product &p, int col)
{
    return p.by_row ? *p.x_scale * p.w_scale[col] : *p.x_scale * *p.w_scale;
}

static __device__ inline float code_inv(const product &p) { return p.codes != NULL ? 1 / *p.code_scale : 0.0f; }

/* Of four columns of a thread, read ahead. */
typedef struct four_columns {
    float scale[4], bias[4], inv;
} four_columns;

static __device__ inline four_columns columns_of(const product &p, int col)
{
    four_columns f;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int at = min(col + i, p.out - 1);
        f.scale[i] = scale_of(p, at);
        f.bias[i] = p.bias != NULL ? p.bias[at] : 0.0f;
    }
    f.inv = code_inv(p);
    return f;
}

/* Apart from the rest, because it would stand there for each of a thread's numbers. */
static __device__ __noinline__ float smooth_of(ganz_activation activation, float y)
{
    return activation_of(activation, y);
}

/* The same steps in the same order as epilogue_one of kernel_math.h, but for what is added to. */
static __device__ inline float finished(const product &p, int32_t sum, float scale, float bias)
{
    float y = (float)sum * scale;
    if (p.bias != NULL) y = y + bias;
    if (p.activation == GANZ_ACTIVATION_RELU) y = activation_of(GANZ_ACTIVATION_RELU, y);
    else if (p.activation != GANZ_ACTIVATION_NONE) y = smooth_of(p.activation, y);
    return y;
}

static __device__ inline int8_t *codes_at(const product &p, int row, int col)
{
    const int first = p.code_first != NULL ? *p.code_first : 0;
    return p.codes + (size_t)(first + row) * p.codes_ld + col;
}

/* One number that has come so far. */
static __device__ inline void put_one(const product &p, float value, float inv, int row, int col)
{
    float *y = p.y != NULL ? p.y + (size_t)row * p.y_ld + col : NULL;
    if (p.add) value = *y + value;
    if (y != NULL) *y = value;
    if (p.codes != NULL) *codes_at(p, row, col) = signed_code(value, inv, p.p);
}

/* Four columns of a row, all inside the result. */
static __device__ inline void put_four(const product &p, float4 value, float inv, int row, int col)
{
    float *y = p.y != NULL ? p.y + (size_t)row * p.y_ld + col : NULL;
    if (p.add) value = load4(y) + value;
    if (y != NULL) store4(y, value);
    if (p.codes == NULL) return;
    const char4 codes = make_char4(signed_code(value.x, inv, p.p), signed_code(value.y, inv, p.p),
                                   signed_code(value.z, inv, p.p), signed_code(value.w, inv, p.p));
    *(char4 *)codes_at(p, row, col) = codes;
}

/* ---- copies ------------------------------------------------------------------------------------- */

/* Copies 16 bytes to shared memory in the background, or zeros where `inside` is false. */
static __device__ inline void copy_piece(void *to, const void *from, bool inside)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(inside ? 16 : 0));
}
static __device__ inline void close_group(void) { asm volatile("cp.async.commit_group;" ::); }
/* Until at most `ahead` groups of this thread's copies are under way. */
template <int AHEAD> static __device__ inline void await_groups(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD));
}
/* ---- sums in shared memory ---------------------------------------------------------------------- */

template <typename S> static __device__ inline int4 sums_at(const int32_t *room)
{
    int4 sum = *(const int4 *)room;
#pragma unroll
    for (int i = 1; i < S::SPLIT; i++) {
        const int4 other = *(const int4 *)(room + i * S::SUMS);
        sum.x += other.x, sum.y += other.y, sum.z += other.z, sum.w += other.w;
    }
    return sum;
}

/* The largest of GANZ_CUDA_MAXIMA columns, which eight threads side by side have; col: the first of this thread. */
static __device__ inline void put_maximum(const product &p, float4 v, int row, int col)
{
    const float most[4] = {v.x, v.y, v.z, v.w};
    float best = -INFINITY;
#pragma unroll
    for (int i = 0; i < 4; i++) best = col + i < p.out && most[i] > best ? most[i] : best;
#pragma unroll
    for (int offset = 1; offset < GANZ_CUDA_MAXIMA / 4; offset *= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, best, offset);
        best = other > best ? other : best;
    }
    if (row < p.rows && col < p.out && col % GANZ_CUDA_MAXIMA == 0)
        p.maxima[(size_t)row * ganz_cuda_maxima_count(p.out) + col / GANZ_CUDA_MAXIMA] = best;
}

/* The tile through the epilogue. A thread has four columns, of every so manieth row. */
template <typename S>
static __device__ inline void finish_tile(const product &p, const four_columns &f, const int32_t *room)
{
    constexpr int FOURS = S::COLS / 4, LINES = S::THREADS / FOURS;
    const int four = threadIdx.x % FOURS * 4, col = blockIdx.x * S::COLS + four;
#pragma unroll 2
    for (int line = threadIdx.x / FOURS; line < S::ROWS; line += LINES) {
        const int row = blockIdx.y * S::ROWS + line;
        const int4 sum = sums_at<S>(room + line * S::SUMS_LD + four);
        const float4 v =
            make_float4(finished(p, sum.x, f.scale[0], f.bias[0]), finished(p, sum.y, f.scale[1], f.bias[1]),
                        finished(p, sum.z, f.scale[2], f.bias[2]), finished(p, sum.w, f.scale[3], f.bias[3]));
        if (p.maxima != NULL) put_maximum(p, v, row, col);
        if (row >= p.rows || col >= p.out) continue;
        if (p.wide && col + 4 <= p.out) {
            put_four(p, v, f.inv, row, col);
            continue;
        }
        put_one(p, v.x, f.inv, row, col);
        if (col + 1 < p.out) put_one(p, v.y, f.inv, row, col + 1);
        if (col + 2 < p.out) put_one(p, v.z, f.inv, row, col + 2);
        if (col + 3 < p.out) put_one(p, v.w, f.inv, row, col + 3);
    }
}

/* ---- epilogue of training ----------------------------------------------------------------------- */

static __device__ inline void store_four(const ganz_matrix &m, int row, int col, float4 v)
{
    const size_t at = (size_t)row * m.ld + col;
    if (m.type == GANZ_BF16) store4((bf16 *)m.data + at, v);
    else store4((float *)m.data + at, v);
}

/* Four columns of a row: the steps of finish_codes_kernel (cuda_finish.cu) in the same order. */
static __device__ inline void put_lesson(const lesson &p, float4 v, code_range r, int row, int col)
{
    const bool relu = p.activation == GANZ_ACTIVATION_RELU;
    const float4 kept = drop4(p.drop, row, p.out, col);
    if (relu) v = make_float4(fmaxf(v.x, 0), fmaxf(v.y, 0), fmaxf(v.z, 0), fmaxf(v.w, 0));
    if (p.drop.mask != NULL) v = v * kept;
    const float4 y = in_scales(v, r), codes = codes_of(y, r);
    store_four(p.to, row, col, codes);
    if (p.bytes != NULL) store4(p.bytes + (size_t)row * p.to.ld + col, codes);
    if (p.inside != NULL)
        p.inside[(size_t)row * (p.out / 4) + col / 4] = (uint8_t)(bits_inside(y, r) & above_zero(relu ? v : kept));
}

template <typename S>
static __device__ inline void finish_tile(const lesson &p, const four_columns &f, const int32_t *room)
{
    constexpr int FOURS = S::COLS / 4, LINES = S::THREADS / FOURS;
    const int four = threadIdx.x % FOURS * 4, col = blockIdx.x * S::COLS + four;
    if (col >= p.out) return;
    const code_range r = range_of(p.code_scale, p.p, true);
#pragma unroll 2
    for (int line = threadIdx.x / FOURS; line < S::ROWS; line += LINES) {
        const int row = blockIdx.y * S::ROWS + line;
        if (row >= p.rows) return;
        const int4 sum = sums_at<S>(room + line * S::SUMS_LD + four);
        const float4 v = make_float4((float)sum.x * f.scale[0] + f.bias[0], (float)sum.y * f.scale[1] + f.bias[1],
                                     (float)sum.z * f.scale[2] + f.bias[2], (float)sum.w * f.scale[3] + f.bias[3]);
        put_lesson(p, v, r, row, col);
    }
}

#endif
