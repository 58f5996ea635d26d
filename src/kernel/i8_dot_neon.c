/* Integer products with sdot: four products into each 32-bit lane. Panels of 16 columns, [k / 4][16][4]. */
#include <arm_neon.h>
#include <string.h>

#include "kernel/kernel_isa.h"

enum { NR = 16, KR = 4, MR = 4, K_STEP = 16 };

#define INLINE static inline __attribute__((always_inline))
#define EACH_ROW UNROLL for (int r = 0; r < rows; r++)
#define EACH_QUARTER UNROLL for (int h = 0; h < 4; h++)

/* One quad of depth: 16 columns of weights by codes 4 * quad .. 4 * quad + 3 of each row. */
#define ADD_QUAD(quad)                                                                  \
    do {                                                                                \
        int8x16_t w[4];                                                                 \
        EACH_QUARTER w[h] = vld1q_s8(b + (quad) * (NR * KR) + 16 * h);                  \
        EACH_ROW EACH_QUARTER sum[r][h] = vdotq_laneq_s32(sum[r][h], w[h], x[r], quad); \
    } while (0)

/* rows is a constant; `row` of the tile is its first. */
INLINE void some_rows(const ganz_tile_args *t, int row, int rows)
{
    const int8_t *const a = (const int8_t *)t->a + (size_t)row * t->lda;
    int32x4_t sum[MR][4];
    EACH_ROW EACH_QUARTER sum[r][h] = vld1q_s32(t->start + (size_t)(row + r) * t->start_stride + 4 * h);
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += K_STEP, b += NR * K_STEP) {
        int8x16_t x[MR];
        EACH_ROW x[r] = vld1q_s8(a + (size_t)r * t->lda + i);
        ADD_QUAD(0);
        ADD_QUAD(1);
        ADD_QUAD(2);
        ADD_QUAD(3);
    }
    EACH_ROW EACH_QUARTER vst1q_s32(t->sums + (size_t)(row + r) * t->stride + 4 * h, sum[r][h]);
}

INLINE int8x16_t nibble_codes(uint8x16_t nibbles)
{
    return vsubq_s8(vreinterpretq_s8_u8(nibbles), vdupq_n_s8(GANZ_NIBBLE_ZERO));
}

/* One unit of nibbles: quads `quad` and `quad` + 1 of depth, which are constants. */
#define ADD_NIBBLES(quad)                                                                     \
    EACH_QUARTER                                                                              \
    {                                                                                         \
        const uint8x16_t both = vld1q_u8(b + (quad) / 2 * (NR * KR) + 16 * h);                \
        const int8x16_t low = nibble_codes(vandq_u8(both, vdupq_n_u8(15)));                   \
        const int8x16_t high = nibble_codes(vshrq_n_u8(both, 4));                             \
        sum[h] = vdotq_laneq_s32(vdotq_laneq_s32(sum[h], low, x, quad), high, x, (quad) + 1); \
    }

/* The same with two weights in a byte, one row. */
INLINE void nibble_row(const ganz_tile_args *t, int row)
{
    const int8_t *const a = (const int8_t *)t->a + (size_t)row * t->lda;
    int32x4_t sum[4];
    EACH_QUARTER sum[h] = vld1q_s32(t->start + (size_t)row * t->start_stride + 4 * h);
    const uint8_t *b = (const uint8_t *)t->b;
    for (int i = 0; i < t->k; i += K_STEP, b += NR * K_STEP / 2) {
        const int8x16_t x = vld1q_s8(a + i);
        ADD_NIBBLES(0)
        ADD_NIBBLES(2)
    }
    EACH_QUARTER vst1q_s32(t->sums + (size_t)row * t->stride + 4 * h, sum[h]);
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
            sum = vdotq_s32(sum, load_codes(q + c, n - c), load_codes(rows[i] + offset + c, n - c));
        scores[i] = vaddvq_s32(sum);
    }
}

void ganz_kernel_init_i8_dot_neon(ganz_kernel *kernel)
{
    kernel->rows.dot_rows = dot_rows;
    kernel->gemm = (ganz_gemm_isa){
        .name = "neondot",
        .nr = NR,
        .step = NR,
        .kr = KR,
        .k_step = K_STEP,
        .nibbles = tile_nibbles,
        .nibble_rows = 2,
        .k_block = 1024,
        .m_block = 64,
        .routes = 1,
        .route = {{.name = "sdot", .tile = tile, .is_signed = true, .cost = 1.0f}},
    };
}
