/* Integer products on NEON without sdot: smull and smlal give sixteen products in 16 bits (two of 128 * 127 fit),
 * sadalp widens them. Panels of four columns, [k / 16][4][16]. */
#include <arm_neon.h>
#include <string.h>

#include "kernel/kernel_isa.h"

enum { NR = 4, KR = 16, MR = 4 };

#define INLINE static inline __attribute__((always_inline))
#define EACH_ROW UNROLL for (int r = 0; r < rows; r++)
#define EACH_COLUMN UNROLL for (int c = 0; c < NR; c++)

INLINE int32x4_t add_products(int32x4_t sum, int8x16_t a, int8x16_t b)
{
    const int16x8_t products = vmull_s8(vget_low_s8(a), vget_low_s8(b));
    return vpadalq_s16(sum, vmlal_s8(products, vget_high_s8(a), vget_high_s8(b)));
}

/* Four sums of four lanes into four lanes. */
INLINE int32x4_t join4(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d)
{
    return vpaddq_s32(vpaddq_s32(a, b), vpaddq_s32(c, d));
}

/* rows is a constant; `row` of the tile is its first. */
INLINE void some_rows(const ganz_tile_args *t, int row, int rows)
{
    const int8_t *const a = (const int8_t *)t->a + (size_t)row * t->lda;
    int32x4_t sum[MR][NR];
    EACH_ROW EACH_COLUMN sum[r][c] = vdupq_n_s32(0);
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += KR, b += NR * KR) {
        int8x16_t w[NR];
        EACH_COLUMN w[c] = vld1q_s8(b + KR * c);
        EACH_ROW
        {
            const int8x16_t x = vld1q_s8(a + (size_t)r * t->lda + i);
            EACH_COLUMN sum[r][c] = add_products(sum[r][c], x, w[c]);
        }
    }
    EACH_ROW
    {
        const int32x4_t start = vld1q_s32(t->start + (size_t)(row + r) * t->start_stride);
        const int32x4_t total = join4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
        vst1q_s32(t->sums + (size_t)(row + r) * t->stride, vaddq_s32(start, total));
    }
}

INLINE int8x16_t nibble_codes(uint8x16_t nibbles)
{
    return vsubq_s8(vreinterpretq_s8_u8(nibbles), vdupq_n_s8(GANZ_NIBBLE_ZERO));
}

/* The same with two weights in a byte, one row. */
INLINE void nibble_row(const ganz_tile_args *t, int row)
{
    const int8_t *const a = (const int8_t *)t->a + (size_t)row * t->lda;
    int32x4_t sum[NR];
    EACH_COLUMN sum[c] = vdupq_n_s32(0);
    const uint8_t *b = (const uint8_t *)t->b;
    for (int i = 0; i < t->k; i += 2 * KR, b += NR * KR) {
        const int8x16_t low = vld1q_s8(a + i), high = vld1q_s8(a + i + KR);
        EACH_COLUMN
        {
            const uint8x16_t both = vld1q_u8(b + KR * c);
            sum[c] = add_products(sum[c], low, nibble_codes(vandq_u8(both, vdupq_n_u8(15))));
            sum[c] = add_products(sum[c], high, nibble_codes(vshrq_n_u8(both, 4)));
        }
    }
    const int32x4_t start = vld1q_s32(t->start + (size_t)row * t->start_stride);
    vst1q_s32(t->sums + (size_t)row * t->stride, vaddq_s32(start, join4(sum[0], sum[1], sum[2], sum[3])));
}

static void tile_nibbles(const ganz_tile_args *t)
{
    for (int row = 0; row < t->rows; row++) nibble_row(t, row);
}

static void tile(const ganz_tile_args *t)
{
    int row = 0;
    for (; row + MR <= t->rows; row += MR) some_rows(t, row, MR);
    switch (t->rows - row) {
    case 1: some_rows(t, row, 1); break;
    case 2: some_rows(t, row, 2); break;
    case 3: some_rows(t, row, 3); break;
    default: break;
    }
}

/* ---- attention ---------------------------------------------------------------------------------- */

/* Up to 16 codes; zeros after the last. */
INLINE int8x16_t load_codes(const int8_t *codes, int n)
{
    if (n >= 16) return vld1q_s8(codes);
    int8_t all[16] = {0};
    memcpy(all, codes, (size_t)n);
    return vld1q_s8(all);
}

static void dot_rows(const int8_t *q, int n, const int8_t *const *rows, size_t offset, int count, int32_t *scores)
{
    for (int i = 0; i < count; i++) {
        int32x4_t sum = vdupq_n_s32(0);
        for (int c = 0; c < n; c += 16)
            sum = add_products(sum, load_codes(q + c, n - c), load_codes(rows[i] + offset + c, n - c));
        scores[i] = vaddvq_s32(sum);
    }
}

/* `blocks` times 16 channels from `offset` on. */
INLINE void weighted_channels(const uint8_t *u, const int8_t *const *rows, size_t offset, int count, int32_t *sums,
                              int blocks)
{
    int32x4_t sum[4][4];
    UNROLL
    for (int b = 0; b < blocks; b++) UNROLL
    for (int j = 0; j < 4; j++) sum[b][j] = vdupq_n_s32(0);
    for (int i = 0; i < count; i++) UNROLL
    for (int b = 0; b < blocks; b++) {
        const int8x16_t v = vld1q_s8(rows[i] + offset + 16 * b);
        const int16x8_t low = vmovl_s8(vget_low_s8(v)), high = vmovl_s8(vget_high_s8(v));
        sum[b][0] = vmlal_n_s16(sum[b][0], vget_low_s16(low), u[i]);
        sum[b][1] = vmlal_n_s16(sum[b][1], vget_high_s16(low), u[i]);
        sum[b][2] = vmlal_n_s16(sum[b][2], vget_low_s16(high), u[i]);
        sum[b][3] = vmlal_n_s16(sum[b][3], vget_high_s16(high), u[i]);
    }
    UNROLL
    for (int b = 0; b < blocks; b++) UNROLL
    for (int j = 0; j < 4; j++) vst1q_s32(sums + 16 * b + 4 * j, sum[b][j]);
}

static void weighted_rows(const uint8_t *u, const int8_t *const *rows, size_t offset, int count, int n, int32_t *sums)
{
    int c = 0;
    for (; c + 64 <= n; c += 64) weighted_channels(u, rows, offset + (size_t)c, count, sums + c, 4);
    for (; c + 16 <= n; c += 16) weighted_channels(u, rows, offset + (size_t)c, count, sums + c, 1);
    for (; c < n; c++) {
        int32_t sum = 0;
        for (int i = 0; i < count; i++) sum += u[i] * rows[i][offset + (size_t)c];
        sums[c] = sum;
    }
}

void ganz_kernel_init_i8_neon(ganz_kernel *kernel)
{
    kernel->rows.dot_rows = dot_rows;
    kernel->rows.weighted_rows = weighted_rows;
    kernel->gemm = (ganz_gemm_isa){
        .name = "neon",
        .nr = NR,
        .step = NR,
        .kr = KR,
        .k_step = 2 * KR,
        .nibbles = tile_nibbles,
        .nibble_rows = 2,
        .k_block = 2048,
        .m_block = 64,
        .routes = 1,
        .route = {{.name = "smull", .tile = tile, .is_signed = true, .cost = 1.0f}},
    };
}
