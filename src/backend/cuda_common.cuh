/* Shared by the CUDA files: the device, typed access to memory, sums of fixed order.
 *
 * Nothing here adds floating-point numbers in an order that could vary: a sum over rows is made of partial sums per
 * block, which a second kernel adds in a fixed order. Integer and maximum atomics do not depend on order. */
#ifndef GANZ_BACKEND_CUDA_COMMON_CUH
#define GANZ_BACKEND_CUDA_COMMON_CUH

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

extern "C" {
#include "backend/backend.h"
}

static_assert(sizeof(real) == sizeof(float), "the CUDA backend works in float");

typedef __nv_bfloat16 bf16;

enum { GANZ_CUDA_MAXIMA = 32 }; /* columns of logits that have their largest kept */
static __host__ __device__ inline int ganz_cuda_maxima_count(int columns)
{
    return (columns + GANZ_CUDA_MAXIMA - 1) / GANZ_CUDA_MAXIMA;
}

enum {
    WARP = 32,
    PLANS = 8,
    RING_PARTS = 16,
    RING_BYTES = 2 << 20,
    LANDING_BYTES = 1 << 20,
    RECORDS = 128,
    CACHE_SLOTS = 4096
};

/* The algorithm of one product, kept by shape. */
typedef struct ganz_cuda_shape {
    int m, n, k, lda, ldb, ldd;
    int ta, tb, type, type_d, epilogue, alpha_on_device, add, alignment;
} ganz_cuda_shape;

typedef struct ganz_cuda_algo {
    ganz_cuda_shape shape;
    cublasLtMatmulAlgo_t algo;
    size_t workspace;
    bool used, works;
} ganz_cuda_algo;

/* A list of tensors cut into equal pieces, on the device: made once, found again by its contents. */
typedef struct ganz_cuda_plan {
    void *key; /* host copy of the caller's list */
    size_t key_bytes;
    int kind;
    void *memory; /* on the device, all that follows */
    void *items;  /* (count) */
    void *pieces; /* (pieces) */
    float *sums;  /* partial sums, or one number for each item */
    int count, pieces_count, extra;
    uint64_t age;
} ganz_cuda_plan;

/* Calls that were recorded, to be run again. */
typedef struct ganz_cuda_record {
    const void *owner; /* NULL: none */
    int number;
    cudaGraphExec_t calls;
    uint64_t age;
} ganz_cuda_record;

/* cuBLASLt is loaded when a GPU is opened: a program without one neither needs the library nor waits for it. */
typedef struct ganz_cuda_blas {
    void *library;
    decltype(&cublasLtCreate) create;
    decltype(&cublasLtDestroy) destroy;
    decltype(&cublasLtMatmul) matmul;
    decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
    decltype(&cublasLtMatmulDescInit_internal) desc_init;
    decltype(&cublasLtMatmulDescSetAttribute) desc_set;
    decltype(&cublasLtMatrixLayoutInit_internal) layout_init;
    decltype(&cublasLtMatmulPreferenceInit_internal) preference_init;
    decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
} ganz_cuda_blas;
/* False with a reason in `why`. */
bool ganz_cuda_blas_open(ganz_cuda_blas *blas, char *why, size_t why_bytes);
void ganz_cuda_blas_close(ganz_cuda_blas *blas);

typedef struct ganz_cuda {
    ganz_backend table; /* first: a ganz_backend * is a ganz_cuda * */
    int device, processors, shared_bytes;
    bool early; /* a kernel may be set up while the one before runs */
    ganz_precision precision;
    cudaStream_t stream;
    ganz_cuda_blas blas;
    cublasLtHandle_t lt;
    void *workspace; /* of the products */
    size_t workspace_bytes;
    void *scratch; /* of one call */
    size_t scratch_bytes;
    float *numbers; /* on the device: 0, 1, product of two scales */
    unsigned char *ring;
    cudaEvent_t ring_free[RING_PARTS];
    int ring_part;
    size_t ring_used;
    unsigned char *landing; /* pinned: downloads of up to LANDING_BYTES */
    ganz_cuda_algo *algos;  /* (CACHE_SLOTS) */
    int algos_used;
    ganz_cuda_plan plans[PLANS];
    uint64_t age;
    struct ganz_cuda_products *waiting; /* integer products that are not launched yet */
    struct ganz_cuda_lessons *lessons;  /* the same in training */
    bool waits;                         /* there are some */
    float *maxima; /* of the logits `maxima_of`, if the call before made them: the largest of some columns each */
    size_t maxima_room;
    ganz_cuda_record records[RECORDS];
    ganz_matrix maxima_of; /* data NULL: none */
    bool failed;
    char failure[256];
} ganz_cuda;

/* Launches the products that wait. */
void ganz_cuda_flush(ganz_cuda *c);
void ganz_cuda_products_free(ganz_cuda *c);
/* A product of training by integers; false: not for this call. As with those of translation, it may wait for the next
 * call of another kind. */
bool ganz_cuda_linear_bytes(ganz_cuda *c, const ganz_linear_call *call);
/* The device, for a call that comes after all others. */
static inline ganz_cuda *ganz_cuda_of(ganz_backend *be)
{
    ganz_cuda *c = (ganz_cuda *)be;
    if (c->waits) ganz_cuda_flush(c);
    c->maxima_of.data = NULL;
    return c;
}
/* Room for `count` maxima of logits that are made next; NULL when there is none. */
float *ganz_cuda_take_maxima(ganz_cuda *c, const ganz_matrix *logits, size_t count);
/* Those of logits, (rows, ganz_cuda_maxima_count(cols)), if the call before made them; NULL: it did not. To be asked
 * before ganz_cuda_of. */
const float *ganz_cuda_maxima_of(const ganz_backend *be, const ganz_matrix *logits);

/* Keeps the first failure, for the next sync. */
void ganz_cuda_fail(ganz_cuda *c, const char *where, const char *why);
/* To be called after every launch. */
static inline void ganz_cuda_launched(ganz_cuda *c, const char *where)
{
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) ganz_cuda_fail(c, where, cudaGetErrorString(error));
}
/* Memory until the next call of the table; NULL (and failed) when there is none. */
void *ganz_cuda_scratch(ganz_cuda *c, size_t bytes);

/* to[i][0..each) += sums over the rows of columns i * each and on of partial (count, width). */
typedef struct ganz_cuda_columns {
    const float *partial;
    int count, width, each;
    float *to[3]; /* (width / each); any may be NULL */
} ganz_cuda_columns;
void ganz_cuda_add_columns(ganz_cuda *c, const ganz_cuda_columns *sums);
/* *to += factor * sum of partial[0..count). */
void ganz_cuda_add_total(ganz_cuda *c, const float *partial, int count, float factor, float *to);

/* Finds or makes the plan of a list. `fill` writes items and pieces to host memory of the sizes asked for. */
typedef struct ganz_cuda_layout {
    int kind, count, pieces_count, extra;
    size_t item_bytes, piece_bytes, sums_count;
    void (*fill)(const void *list, const struct ganz_cuda_layout *layout, void *items, void *pieces);
} ganz_cuda_layout;
ganz_cuda_plan *ganz_cuda_find_plan(ganz_cuda *c, int kind, const void *list, size_t list_bytes);
ganz_cuda_plan *ganz_cuda_make_plan(ganz_cuda *c, const void *list, size_t list_bytes, const ganz_cuda_layout *layout);

/* The table's entries. */
void ganz_cuda_upload(ganz_backend *be, void *to, const void *from, size_t bytes);
void ganz_cuda_mask(ganz_backend *be, uint8_t *mask, int64_t count, uint64_t seed, uint64_t stream, float keep);
void ganz_cuda_embed(ganz_backend *be, const ganz_embed_call *call);
void ganz_cuda_embed_grad(ganz_backend *be, const ganz_embed_call *call);
void ganz_cuda_norm(ganz_backend *be, const ganz_norm_call *call);
void ganz_cuda_norm_grad(ganz_backend *be, const ganz_norm_call *call);
void ganz_cuda_linear(ganz_backend *be, const ganz_linear_call *call);
void ganz_cuda_linear_grad(ganz_backend *be, const ganz_linear_call *call);
void ganz_cuda_attention(ganz_backend *be, const ganz_attention_call *call);
void ganz_cuda_attention_grad(ganz_backend *be, const ganz_attention_call *call);
void ganz_cuda_loss(ganz_backend *be, const ganz_loss_call *call);
void ganz_cuda_quantize(ganz_backend *be, const ganz_quantize_call *call);
void ganz_cuda_quantize_grad(ganz_backend *be, const ganz_quantize_call *call);
void ganz_cuda_largest(ganz_backend *be, const ganz_matrix *x, real *largest);
void ganz_cuda_scales(ganz_backend *be, const real *z, real *scale, int count, bool power_of_two, real factor);
void ganz_cuda_refresh(ganz_backend *be, const ganz_refresh_item *items, int count);
void ganz_cuda_rows_grad(ganz_backend *be, const ganz_rows_grad_call *c);
void ganz_cuda_adafactor(ganz_backend *be, const ganz_update_call *call);
void ganz_cuda_adam(ganz_backend *be, const ganz_update_call *call);
void ganz_cuda_topk(ganz_backend *be, const ganz_topk_call *call);
size_t ganz_cuda_pack_bytes(const ganz_backend *be, int out, int in, bool nibbles);
const ganz_packed *ganz_cuda_pack(ganz_backend *be, void *block, const ganz_pack_call *call);
void ganz_cuda_embed_codes(ganz_backend *be, const ganz_embed_call *call);
void ganz_cuda_norm_codes(ganz_backend *be, const ganz_norm_call *call);
void ganz_cuda_linear_codes(ganz_backend *be, const ganz_linear_call *call);
void ganz_cuda_attention_codes(ganz_backend *be, const ganz_attention_call *call);
void ganz_cuda_average(ganz_backend *be, real *to, const real *from, size_t count, double keep);
void ganz_cuda_add(ganz_backend *be, real *to, const real *from, size_t count);
void ganz_cuda_add_rows(ganz_backend *be, double *to, const double *from, int rows, int cols);
void ganz_cuda_algos_free(ganz_cuda *c);
void ganz_cuda_plans_free(ganz_cuda *c);

/* After a product: y = drop(activation(y + bias)), in place, or from and to `before` where a smooth activation keeps
 * it. */
void ganz_cuda_finish_rows(ganz_cuda *c, const ganz_linear_call *call);
/* The same from sums (rows, out contiguous) that are not yet worth their scales, to codes of rows `first` and on. */
void ganz_cuda_finish_codes(ganz_cuda *c, const ganz_linear_call *call, const float *sums, int first, int rows);
/* A gradient becomes zero where none passes. */
void ganz_cuda_zero_clipped(ganz_cuda *c, const ganz_matrix *grad, const uint8_t *inside);
/* Before the products of the backward: y_grad through dropout and activation, in place, and the bias's gradient. */
void ganz_cuda_back_rows(ganz_cuda *c, const ganz_linear_call *call);
/* m[row][col] *= factors[col], or *factor * factors[col]; factor may be NULL. */
void ganz_cuda_scale_columns(ganz_cuda *c, const ganz_matrix *m, const float *factors, const float *factor);
/* to (rows, cols contiguous) = from, in another type. */
void ganz_cuda_convert(ganz_cuda *c, const ganz_matrix *from, ganz_type type, void *to);

static inline int ganz_cuda_blocks(int64_t work, int each) { return (int)((work + each - 1) / each); }
static inline int ganz_cuda_min(int a, int b) { return a < b ? a : b; }

/* Row kernels take four columns at a time. */
static inline bool ganz_cuda_fours(const ganz_matrix *m)
{
    const size_t bytes = 4 * ganz_type_bytes(m->type);
    return m->data == NULL || (m->cols % 4 == 0 && m->ld % 4 == 0 && (size_t)m->data % bytes == 0);
}
/* Returns `good`; where it is false, the next sync tells that `where` was called with other matrices. */
static inline bool ganz_cuda_four_columns(ganz_cuda *c, const char *where, bool good)
{
    if (!good) ganz_cuda_fail(c, where, "the CUDA backend needs float matrices whose columns come in aligned fours");
    return good;
}
/* Rows of one part of a sum: at most GANZ_CUDA_MOST_PARTS parts, whole batches. */
enum { GANZ_CUDA_BATCH = 8, GANZ_CUDA_MOST_PARTS = 1024 };
static inline int ganz_cuda_part_rows(int rows)
{
    const int each = 4 * GANZ_CUDA_BATCH, parts = GANZ_CUDA_MOST_PARTS;
    return rows <= each * parts ? each : (int)ganz_round_up((size_t)ganz_cuda_blocks(rows, parts), GANZ_CUDA_BATCH);
}
static inline bool ganz_cuda_floats(const ganz_matrix *m)
{
    return m->data == NULL || m->type == GANZ_REAL || m->type == GANZ_BF16;
}

/* Calls `...` with T the element type of a float matrix. */
#define GANZ_CUDA_TYPE(type_, T, ...) \
    do {                              \
        if ((type_) == GANZ_BF16) {   \
            typedef bf16 T;           \
            __VA_ARGS__;              \
        } else {                      \
            typedef float T;          \
            __VA_ARGS__;              \
        }                             \
    } while (0)

/* ---- device side -------------------------------------------------------------------------------- */

static __device__ inline float4 load4(const float *p) { return *(const float4 *)p; }
static __device__ inline float4 load4(const bf16 *p)
{
    const uint2 raw = *(const uint2 *)p;
    return make_float4(__uint_as_float(raw.x << 16), __uint_as_float(raw.x & 0xffff0000u), __uint_as_float(raw.y << 16),
                       __uint_as_float(raw.y & 0xffff0000u));
}
static __device__ inline float load1(const float *p) { return *p; }
static __device__ inline float load1(const bf16 *p) { return __bfloat162float(*p); }

static __device__ inline uint32_t pack2(float low, float high)
{
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *(const uint32_t *)&pair;
}
static __device__ inline void store4(float *p, float4 v) { *(float4 *)p = v; }
static __device__ inline void store4(bf16 *p, float4 v) { *(uint2 *)p = make_uint2(pack2(v.x, v.y), pack2(v.z, v.w)); }
/* Codes, which are whole numbers. */
static __device__ inline void store4(int8_t *p, float4 v)
{
    *(char4 *)p = make_char4((signed char)v.x, (signed char)v.y, (signed char)v.z, (signed char)v.w);
}
static __device__ inline void store1(float *p, float v) { *p = v; }
static __device__ inline void store1(bf16 *p, float v) { *p = __float2bfloat16_rn(v); }

static __device__ inline float4 operator+(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
static __device__ inline float4 operator*(float4 a, float4 b)
{
    return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
static __device__ inline float4 operator*(float4 a, float b) { return make_float4(a.x * b, a.y * b, a.z * b, a.w * b); }
static __device__ inline float4 operator-(float4 a, float b) { return make_float4(a.x - b, a.y - b, a.z - b, a.w - b); }
static __device__ inline float total4(float4 a) { return (a.x + a.y) + (a.z + a.w); }

/* Rounding in units of the scale; a product is rounded by itself, as on the CPU. */
typedef struct code_range {
    float inv, low, high;
} code_range;

static __device__ inline code_range range_of(const float *scale, int p, bool is_signed)
{
    return code_range{__fdiv_rn(1.0f, *scale), is_signed ? -(float)p : 0.0f, (float)p};
}
static __device__ inline float code_of(float y, code_range r)
{
    return rintf(fminf(fmaxf(y, r.low), r.high)) + 0.0f; /* no -0 */
}
static __device__ inline bool is_inside(float y, code_range r) { return y < r.high + 0.5f && y > r.low - 0.5f; }
static __device__ inline float4 in_scales(float4 v, code_range r)
{
    return make_float4(__fmul_rn(v.x, r.inv), __fmul_rn(v.y, r.inv), __fmul_rn(v.z, r.inv), __fmul_rn(v.w, r.inv));
}
static __device__ inline float4 codes_of(float4 y, code_range r)
{
    return make_float4(code_of(y.x, r), code_of(y.y, r), code_of(y.z, r), code_of(y.w, r));
}
/* A bit for each of four: inside the range. */
static __device__ inline unsigned bits_inside(float4 y, code_range r)
{
    return (unsigned)is_inside(y.x, r) | (unsigned)is_inside(y.y, r) << 1 | (unsigned)is_inside(y.z, r) << 2 |
           (unsigned)is_inside(y.w, r) << 3;
}
static __device__ inline unsigned above_zero(float4 v)
{
    return (unsigned)(v.x > 0) | (unsigned)(v.y > 0) << 1 | (unsigned)(v.z > 0) << 2 | (unsigned)(v.w > 0) << 3;
}
static __device__ inline float4 where(unsigned bits, float4 v)
{
    return make_float4(bits & 1 ? v.x : 0, bits & 2 ? v.y : 0, bits & 4 ? v.z : 0, bits & 8 ? v.w : 0);
}

/* Factors of four columns of a token: scale or 0, all 1 without dropout. */
static __device__ inline float4 drop4(const ganz_drop drop, int row, int cols, int column)
{
    if (drop.mask == NULL) return make_float4(1, 1, 1, 1);
    const int line = drop.group != NULL ? drop.group[row] : row;
    const uchar4 keep = *(const uchar4 *)(drop.mask + (size_t)line * cols + column);
    return make_float4(keep.x ? drop.scale : 0, keep.y ? drop.scale : 0, keep.z ? drop.scale : 0,
                       keep.w ? drop.scale : 0);
}

static __device__ inline float warp_sum(float v)
{
    for (int offset = WARP / 2; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
    return v;
}
static __device__ inline float warp_max(float v)
{
    for (int offset = WARP / 2; offset > 0; offset /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, offset));
    return v;
}

/* Sum over a block in a fixed order; all threads get it. `room` holds 32 floats; the block must be whole warps. */
static __device__ inline float block_sum(float v, float *room)
{
    v = warp_sum(v);
    __syncthreads();
    if (threadIdx.x % WARP == 0) room[threadIdx.x / WARP] = v;
    __syncthreads();
    const int warps = blockDim.x / WARP, lane = threadIdx.x % WARP;
    return warp_sum(lane < warps ? room[lane] : 0.0f);
}

/* Raises *to, which is never negative, to v >= 0: the bits of such floats are ordered like integers. */
static __device__ inline void raise(float *to, float v)
{
    if (v > *(volatile float *)to) atomicMax((int *)to, __float_as_int(v));
}

#endif
