/* The CPU's functions: integer products, and the float rows around them.
 *
 * Every function here is pure: it knows no tensor, no thread and no allocation, and neither reads nor
 * writes outside its arguments. Results are the same bits on every processor. The scalar code is the
 * definition; faster versions for the processor at hand replace it, entry by entry (ganz_kernel_init).
 *
 * Numbers
 *   codes     int8 in [-p, p], p <= 127: -128 never occurs. Attention weights: uint8 in [0, umax].
 *   quantize  code = clamp(rint(x * inv)), half to even, inv = 1 / scale. NaN becomes the lower end.
 *   columns   code = clamp(rint(x * inv[c] + zero[c])): the product and the sum are rounded each.
 *   sums      int32, exact: depth <= GANZ_DEPTH_MAX.
 *   scaling   (float)sum * scale, the conversion rounding to nearest, scale = s_x * s_w in float.
 *   row sums  eight lanes, element i in lane i % 8, lanes joined as
 *             ((0+4) + (2+6)) + ((1+5) + (3+7)).
 *   floats    + - * / and square root of IEEE single precision, each rounded, never contracted; exp is
 *             ours (base/exact.h). A row function that reads x and writes y allows y == x. Rows are finite: a NaN
 *             may come out with other bits on other processors, and that is all that may differ. Logits may be
 *             -infinity (banned words): softmax, exp_sum and top_k take it as e^x = 0. */
#ifndef GANZ_KERNEL_KERNEL_H
#define GANZ_KERNEL_KERNEL_H

#include "base/activation.h"
#include "base/base.h"

#define GANZ_DEPTH_MAX 65536 /* 65536 * 255 * 127 < 2^31 */
#define GANZ_TOP_MAX 128     /* largest k of top_k */

/* ---- processor ---------------------------------------------------------------------------------- */

enum {
    GANZ_CPU_AVX2 = 1 << 0,
    GANZ_CPU_AVXVNNI = 1 << 1,    /* dpbusd on 256 bits, VEX */
    GANZ_CPU_AVX512VNNI = 1 << 2, /* F, BW, VL and VNNI */
    GANZ_CPU_AMX = 1 << 3,        /* int8 tiles, granted by the system */
    GANZ_CPU_NEON = 1 << 4,
    GANZ_CPU_NEONDOT = 1 << 5, /* sdot */
    GANZ_CPU_I8MM = 1 << 6,    /* smmla, with sdot */
    GANZ_CPU_AMXBF16 = 1 << 7, /* bfloat16 tiles, with AMX, and AVX-512's conversion */
    GANZ_CPU_ALL = (1 << 8) - 1
};

/* Features that this processor has and this build contains. */
unsigned ganz_cpu_detect(void);

/* Features detected, less those that the mask below and the environment take away: GANZ_FORCE_ISA is one of scalar,
 * avx2, avxvnni, avx512vnni, amx, neon, neondot, i8mm. Fails on an unknown name and on a missing ISA. */
ganz_status ganz_cpu_choose(unsigned *flags, ganz_error *err);

/* Takes features away from every later ganz_cpu_choose of the process. For tests and fuzzers. */
void ganz_cpu_set_mask(unsigned mask);

/* The features that GANZ_FORCE_ISA=name leaves; false when there is no such name. "scalar" gives 0. */
bool ganz_cpu_isa(const char *name, unsigned *flags);

/* The best of the ISAs above that lies in flags. */
const char *ganz_cpu_isa_name(unsigned flags);

/* ---- rows --------------------------------------------------------------------------------------- */

/* Where codes of a row go: codes[i] = clamp(rint(x[i] * inv), -p, p). */
typedef struct ganz_codes {
    int8_t *codes; /* (n) */
    float inv;
    int p;
} ganz_codes;

/* A layer norm: all that its rows have in common. */
typedef struct ganz_norm_layout {
    int n; /* >= 1 */
    float epsilon;
    const float *gain, *bias; /* (n) */
} ganz_norm_layout;

/* The epilogue of integer sums (rows, n):
 *   y = (float)sum * scale;  y = y + bias;  y = activation(y);  y = add + y
 * each step only where asked for. Strides count elements. Any mix of the three outputs. */
typedef struct ganz_epilogue {
    float scale;
    const float *scales; /* (n) one a column, in place of scale; or NULL */
    const float *bias;   /* (n) or NULL */
    const float *add;    /* (rows, n) or NULL; may be out itself */
    size_t add_stride;
    ganz_activation activation;
    float *out; /* (rows, n) y, or NULL */
    size_t out_stride;
    bool stream;   /* out is large: it goes past the caches where the ISA can. Rows of out begin at 32 bytes */
    int8_t *codes; /* (rows, n) clamp(rint(y * inv), -p, p), or NULL */
    size_t codes_stride;
    float inv;
    int p;
    int32_t *sums; /* (rows, n) the sums themselves, or NULL */
    size_t sums_stride;
} ganz_epilogue;

/* Rows [row, row + rows) and columns [col, col + cols) of a result. */
typedef struct ganz_block {
    int row, rows, col, cols;
} ganz_block;

/* Where unsigned codes of a row go: codes[i] = clamp(rint(x[i] * inv), 0, max), max <= 255. */
typedef struct ganz_unsigned_codes {
    uint8_t *codes; /* (n) */
    float inv;
    int max;
} ganz_unsigned_codes;

/* A row of the embedding: y = ((float)code * scale) * root, then + first, then + second where not NULL. */
typedef struct ganz_embed_row {
    const int8_t *codes; /* (n) */
    float scale, root;
    const float *first, *second; /* (n) */
} ganz_embed_row;

/* Inputs whose columns have scales of their own: code c stands for (c - zero) / inv. Zeros are whole numbers. */
typedef struct ganz_columns {
    const float *inv, *zero; /* (n) */
} ganz_columns;

typedef struct ganz_rows {
    /* Layer norm: mean = sum(x) / n, d = x - mean, r = 1 / sqrt(sum(d * d) / n + epsilon),
     * y = (d * r) * gain + bias. Writes y where it is not NULL, and codes of y for each of `count` outs (one row feeds
     * q, k and v; after a sublayer y is also the residual). */
    void (*norm)(const ganz_norm_layout *layout, const float *x, float *y, const ganz_codes *outs, int count);
    void (*quantize)(const float *x, int n, float inv, int p, int8_t *codes);
    void (*quantize_columns)(const float *x, int n, const ganz_columns *columns, int p, int8_t *codes);
    /* [0, umax], umax <= 255. */
    void (*quantize_unsigned)(const float *x, int n, float inv, int umax, uint8_t *codes);
    void (*exp)(const float *x, int n, float *y);
    /* m = max(x), e = exp(x - m), y = e * (1 / sum(e)). n >= 1. */
    void (*softmax)(const float *x, int n, float *y);
    /* The same on x = (float)scores * scale; scale > 0. */
    void (*softmax_scores)(const int32_t *scores, int n, float scale, float *y);
    /* And its codes; work: n floats, left undefined. */
    void (*softmax_codes)(const int32_t *scores, int n, float scale, const ganz_unsigned_codes *out, float *work);
    /* *max = max(x), *sum = sum(exp(x - max)): log-softmax of x[i] is (x[i] - max) - ganz_exact_log(sum). n >= 1. */
    void (*exp_sum)(const float *x, int n, float *max, float *sum);
    /* The k largest of x, largest first, equal ones by lower index. 1 <= k <= min(n, GANZ_TOP_MAX). */
    void (*top_k)(const float *x, int n, int k, float *values, int32_t *indices);
    void (*add)(const float *a, const float *b, int n, float *y); /* a + b */
    void (*scale)(const float *x, int n, float factor, float *y);
    void (*embed)(const ganz_embed_row *from, int n, float *y);
    /* Applies e to the sums of a block of the whole result; sums points at the first of them, its rows are `stride`
     * apart. */
    void (*epilogue)(const ganz_epilogue *e, const int32_t *sums, size_t stride, ganz_block block);
    /* Attention, one query and one head: scores[i] = sum over c of q[c] * (rows[i] + offset)[c], c < n.
     * Key rows hold all heads, so the list is made once and `offset` picks the head. */
    void (*dot_rows)(const int8_t *q, int n, const int8_t *const *rows, size_t offset, int count, int32_t *scores);
    /* sums[c] = sum over i of u[i] * (rows[i] + offset)[c], c < n; count <= GANZ_DEPTH_MAX. */
    void (*weighted_rows)(const uint8_t *u, const int8_t *const *rows, size_t offset, int count, int n, int32_t *sums);
} ganz_rows;

/* Every entry of ganz_rows; the test has a check for each. */
#define GANZ_ROWS_LIST(X) \
    X(norm)               \
    X(quantize)           \
    X(quantize_columns)   \
    X(quantize_unsigned)  \
    X(exp)                \
    X(softmax)            \
    X(softmax_scores)     \
    X(softmax_codes) X(exp_sum) X(top_k) X(add) X(scale) X(embed) X(epilogue) X(dot_rows) X(weighted_rows)

/* ---- integer products --------------------------------------------------------------------------- */

/* Rows of input bytes times (part of the depth of) one panel:
 *   sums[r][j] = start[r][j] + sum over i < k of a[r][i] * b[i][j],  r < rows, j < nr */
typedef struct ganz_tile_args {
    const uint8_t *a; /* uint8, int8 or int16, as the route says; rows lda bytes apart */
    size_t lda;
    int rows, k;
    const int8_t *b;      /* [k / kr][nr][kr] */
    const int32_t *start; /* may be sums itself */
    size_t start_stride;  /* 0: one row for all */
    int32_t *sums;
    size_t stride;
} ganz_tile_args;

typedef void ganz_tile(const ganz_tile_args *t);

/* One way to multiply. Routes with `pairs` add up `pairs` products of two in 16 bits before they widen:
 * weights that could pass 16 bits there are taken out at load and applied on their own (ganz_fix). */
typedef struct ganz_route {
    const char *name;
    ganz_tile *tile;
    bool is_signed; /* the tile reads input codes as int8 and not as uint8 */
    bool words;     /* it reads them as int16 */
    int pairs;      /* 0: cannot overflow */
    float cost;     /* time for a weight, in units of its own; one extra weight costs GANZ_FIX_COST */
} ganz_route;

/* Weights of at most 4 bits lie two in a byte: a unit of a panel, nr * kr bytes, holds the codes of two neighbouring
 * units of plain weights, those of the first in the lower halves, each code plus 8. A tile for them reads `b` so. */
enum { GANZ_NIBBLE_MAX = 7, GANZ_NIBBLE_ZERO = 8 };

#define GANZ_ROUTES_MAX 6
#define GANZ_FIX_COST 70.0f
#define GANZ_STRETCH 32 /* codes; a whole number of groups of any route */

/* Finds the stretches of a column where the positive weights of a group of `pairs` pairs, or the negative ones, sum to
 * more than the limit. Writes their numbers, lowest first, and returns how many. 1 <= k <= GANZ_DEPTH_MAX. */
typedef int ganz_over(const int8_t *codes, int k, int pairs, int limit, uint16_t *over);

struct ganz_kernel;
struct ganz_gemm_call;

/* Products of many rows in a way of their own, without tiles; arguments as ganz_gemm has them, `stream` decided. */
typedef struct ganz_many_rows {
    int rows, nibble_rows; /* from so many on; where two weights lie in a byte */
    size_t (*scratch)(int k);
    void (*run)(const struct ganz_kernel *kernel, const struct ganz_gemm_call *c, int col, int col_end, void *scratch);
} ganz_many_rows;

/* The integer product of one ISA. */
typedef struct ganz_gemm_isa {
    const char *name;
    int nr, kr;  /* columns of a panel; codes of one column that lie together */
    int step;    /* columns by which callers share out, a multiple of nr */
    int k_step;  /* stored depth is a multiple of this, of 2 * kr and of every route's 4 * pairs */
    int k_block; /* depth a panel is worked through at a time, multiple of k_step */
    int m_block; /* rows worked through at a time */
    int routes;  /* the first has no pairs, it takes any weights; no other one has words */
    ganz_route route[GANZ_ROUTES_MAX];
    ganz_over *over;            /* where a route has pairs */
    ganz_tile *nibbles;         /* for two weights in a byte, with inputs as the last route has them; NULL: none */
    int nibble_rows;            /* with more rows than this, plain weights are made of a panel first, once for all */
    const ganz_many_rows *many; /* or NULL */
    void (*leave)(void);        /* after a product whose epilogue streamed, or NULL: other threads will read it */
} ganz_gemm_isa;

/* A weight, or the rest of one, outside the panels. */
typedef struct ganz_fix {
    uint16_t k;  /* depth */
    uint8_t col; /* column in its panel */
    int8_t rest;
} ganz_fix;

/* The weights of one product in the order of one table's tiles; points into the block it was packed to. */
typedef struct ganz_packed {
    int n, k;               /* columns of the result, depth: files hold codes as (n, k) */
    int k_stored;           /* depth with padding */
    int shift;              /* added to input codes, modulo 256 */
    bool is_unsigned;       /* input codes are uint8 */
    bool nibbles;           /* two codes in a byte; no fixes then */
    bool zeros;             /* base takes zeros of inputs out too: without it sums are none, whatever the shift */
    ganz_route route;       /* chosen for these weights */
    const int8_t *codes;    /* [panel][k_stored / kr][nr][kr], or nibbles in half of the bytes */
    const int32_t *base;    /* (panels * nr) where sums start: takes the shift back out */
    const uint32_t *fix_at; /* (panels + 1) */
    const ganz_fix *fix;
} ganz_packed;

/* ---- products of floats in bfloat16 -------------------------------------------------------------- */

#define GANZ_BF16_GROUP 32

/* One side of a product: number k of row i is data[i * ld + k] if rows lie along the depth, else data[k * ld + i]. */
typedef struct ganz_bf16_side {
    const float *data;
    size_t ld;
    bool along;
} ganz_bf16_side;

/* c = alpha * a b', or c = c + alpha * a b': a has m rows, b has n, all of depth k. Numbers of both sides are rounded
 * to bfloat16, half to even. Of each group of GANZ_BF16_GROUP of depth the even and the odd products are added up on
 * their own, each by a fused multiply-add, then the two, then their sum to the sum so far, in float. Numbers too small
 * for a full mantissa count as zeros in all of it. */
typedef struct ganz_bf16_call {
    int m, n, k; /* >= 1 */
    ganz_bf16_side a, b;
    const void *copied; /* b by `copy`, all of it; NULL: there is none, which costs more the more rows there are */
    float *c;           /* (m, n) */
    size_t ldc;
    float alpha;
    bool add;
} ganz_bf16_call;

/* Columns by which callers share out; parts of a result begin at a multiple of it. */
#define GANZ_BF16_COLS 32

typedef struct ganz_bf16 {
    /* b in the order in which it is read: bytes of the copy, aligned to GANZ_ALIGN (0: none is made), and columns [col,
     * col_end) of it. */
    size_t (*copy_bytes)(const ganz_bf16_call *c);
    void (*copy)(const ganz_bf16_call *c, int col, int col_end, void *copy);
    /* A part of the result. Any parts give the same numbers. */
    void (*product)(const ganz_bf16_call *c, const ganz_block *part, void *scratch);
    size_t scratch; /* bytes that a thread needs, aligned to GANZ_ALIGN */
} ganz_bf16;

float ganz_bf16_round(float x); /* to the nearest bfloat16 */

/* ---- the table ---------------------------------------------------------------------------------- */

typedef struct ganz_kernel {
    unsigned flags;
    ganz_rows rows;
    ganz_gemm_isa gemm;
    ganz_bf16 bf16;
} ganz_kernel;

/* Scalar functions first, then those of the features in flags (of ganz_cpu_detect). Weights that a table packed are
 * read by tables of the same flags. */
void ganz_kernel_init(ganz_kernel *kernel, unsigned flags);

/* Bytes of a block for weights (n, k), before their values are known; nibbles: none is beyond GANZ_NIBBLE_MAX, and two
 * are to lie in a byte. 0 when that overflows. */
size_t ganz_pack_bytes(const ganz_kernel *kernel, int n, int k, bool nibbles);

/* Weights to be packed: (n, k), rows of `k` codes in [-127, 127], and the range of the input codes they will be
 * multiplied with: [-p, p], or [0, high] for unsigned ones. */
typedef struct ganz_unpacked {
    const int8_t *codes;
    int n, k;
    int low, high;
    bool nibbles;      /* as in ganz_pack_bytes */
    const float *zero; /* (k) of ganz_columns: sums are those of code - zero; NULL: none. See ganz_zeros_fit */
} ganz_unpacked;

/* Whether sums of depth k stay exact with these zeros, whatever the codes: all are whole, and they add up to little
 * enough. */
bool ganz_zeros_fit(const float *zero, int k);

/* Packs into the block (aligned to GANZ_ALIGN, of ganz_pack_bytes). The codes are not needed afterwards. */
void ganz_pack(const ganz_kernel *kernel, ganz_packed *packed, void *block, const ganz_unpacked *from);

/* Codes of one row of packed weights (k of them). */
void ganz_unpack_row(const ganz_kernel *kernel, const ganz_packed *packed, int row, int8_t *codes);

/* Bytes of scratch a thread needs for products of depth up to k (aligned to GANZ_ALIGN). */
size_t ganz_gemm_scratch(const ganz_kernel *kernel, int k);

/* (rows, k) input codes times weights, through the epilogue, whose pointers are those of the whole result. */
typedef struct ganz_gemm_call {
    const ganz_packed *w;
    const void *a; /* int8 or uint8 codes as packed for, rows lda apart */
    size_t lda;
    int rows;
    const ganz_epilogue *e; /* its `stream` is not read */
} ganz_gemm_call;

/* Columns [col, col_end) of the result. col is a multiple of kernel->gemm.step, and so is col_end unless it is n: that
 * is how threads share out columns. They may share out rows by moving the pointers. Any split gives the same numbers.
 */
void ganz_gemm(const ganz_kernel *kernel, const ganz_gemm_call *c, int col, int col_end, void *scratch);

#endif
