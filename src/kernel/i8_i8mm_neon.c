/* Integer products with smmla: two rows by two columns, eight deep, in one instruction. Panels of 16 columns,
 * [k / 8][16][8]: a register holds two columns. A row that has no partner goes through sdot, which every processor with
 * smmla has: the two halves of a column's sum are then joined. */
#include <arm_neon.h>

#include "kernel/kernel_isa.h"

enum { NR = 16, KR = 8, MR = 4, K_STEP = 2 * KR, TWOS = NR / 2 };

#define INLINE static inline __attribute__((always_inline))
#define EACH_PAIR UNROLL for (int r = 0; r < pairs; r++)
#define EACH_TWO UNROLL for (int c = 0; c < TWOS; c++)

/* The first, or the second, eight codes of two rows. */
INLINE int8x16_t first_of(int8x16_t a, int8x16_t b)
{
    return vreinterpretq_s8_s64(vzip1q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}
INLINE int8x16_t second_of(int8x16_t a, int8x16_t b)
{
    return vreinterpretq_s8_s64(vzip2q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}

/* Sums of two rows and two columns, as smmla has them, from and to rows `stride` apart. */
INLINE int32x4_t load_sums(const int32_t *from, size_t stride)
{
    return vcombine_s32(vld1_s32(from), vld1_s32(from + stride));
}
INLINE void store_sums(int32x4_t sums, int32_t *to, size_t stride)
{
    vst1_s32(to, vget_low_s32(sums));
    vst1_s32(to + stride, vget_high_s32(sums));
}

/* 2 * pairs rows; pairs is a constant; `row` of the tile is its first. */
INLINE void row_pairs(const ganz_tile_args *t, int row, int pairs)
{
    const int8_t *const a = (const int8_t *)t->a + (size_t)row * t->lda;
    const int32_t *const start = t->start + (size_t)row * t->start_stride;
    int32_t *const sums = t->sums + (size_t)row * t->stride;
    int32x4_t sum[MR / 2][TWOS];
    EACH_PAIR EACH_TWO sum[r][c] = load_sums(start + (size_t)(2 * r) * t->start_stride + 2 * c, t->start_stride);
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += K_STEP, b += NR * K_STEP) {
        int8x16_t x[MR / 2][2];
        EACH_PAIR
        {
            const int8_t *const at = a + (size_t)(2 * r) * t->lda + i;
            const int8x16_t one = vld1q_s8(at), two = vld1q_s8(at + t->lda);
            x[r][0] = first_of(one, two);
            x[r][1] = second_of(one, two);
        }
        UNROLL
        for (int half = 0; half < 2; half++) EACH_TWO
            {
                const int8x16_t w = vld1q_s8(b + half * (NR * KR) + 16 * c);
                EACH_PAIR sum[r][c] = vmmlaq_s32(sum[r][c], x[r][half], w);
            }
    }
    EACH_PAIR EACH_TWO store_sums(sum[r][c], sums + (size_t)(2 * r) * t->stride + 2 * c, t->stride);
}

/* Adds the joined halves of two columns at a time to a row of sums. */
INLINE void finish_row(const ganz_tile_args *t, int row, const int32x4_t sum[TWOS])
{
    const int32_t *const start = t->start + (size_t)row * t->start_stride;
    int32_t *const sums = t->sums + (size_t)row * t->stride;
    UNROLL
    for (int c = 0; c < TWOS; c += 2)
        vst1q_s32(sums + 2 * c, vaddq_s32(vld1q_s32(start + 2 * c), vpaddq_s32(sum[c], sum[c + 1])));
}

INLINE int8x16_t twice(const int8_t *codes) { return vcombine_s8(vld1_s8(codes), vld1_s8(codes)); }

static void one_row(const ganz_tile_args *t, int row)
{
    const int8_t *const a = (const int8_t *)t->a + (size_t)row * t->lda;
    int32x4_t sum[TWOS];
    EACH_TWO sum[c] = vdupq_n_s32(0);
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += KR, b += NR * KR) {
        const int8x16_t x = twice(a + i);
        EACH_TWO sum[c] = vdotq_s32(sum[c], vld1q_s8(b + 16 * c), x);
    }
    finish_row(t, row, sum);
}

static void tile(const ganz_tile_args *t)
{
    int row = 0;
    for (; row + MR <= t->rows; row += MR) row_pairs(t, row, MR / 2);
    if (row + 2 <= t->rows) {
        row_pairs(t, row, 1);
        row += 2;
    }
    if (row < t->rows) one_row(t, row);
}

INLINE int8x16_t nibble_codes(uint8x16_t nibbles)
{
    return vsubq_s8(vreinterpretq_s8_u8(nibbles), vdupq_n_s8(GANZ_NIBBLE_ZERO));
}

/* One row by two weights in a byte. */
static void nibble_row(const ganz_tile_args *t, int row)
{
    const int8_t *const a = (const int8_t *)t->a + (size_t)row * t->lda;
    int32x4_t sum[TWOS];
    EACH_TWO sum[c] = vdupq_n_s32(0);
    const uint8_t *b = (const uint8_t *)t->b;
    for (int i = 0; i < t->k; i += 2 * KR, b += NR * KR) {
        const int8x16_t x = twice(a + i), next = twice(a + i + KR);
        EACH_TWO
        {
            const uint8x16_t both = vld1q_u8(b + 16 * c);
            sum[c] = vdotq_s32(sum[c], nibble_codes(vandq_u8(both, vdupq_n_u8(15))), x);
            sum[c] = vdotq_s32(sum[c], nibble_codes(vshrq_n_u8(both, 4)), next);
        }
    }
    finish_row(t, row, sum);
}

static void tile_nibbles(const ganz_tile_args *t)
{
    for (int row = 0; row < t->rows; row++) nibble_row(t, row);
}

void ganz_kernel_init_i8mm(ganz_kernel *kernel)
{
    kernel->gemm = (ganz_gemm_isa){
        .name = "i8mm",
        .nr = NR,
        .step = NR,
        .kr = KR,
        .k_step = K_STEP,
        .nibbles = tile_nibbles,
        .nibble_rows = 2,
        .k_block = 1024,
        .m_block = 64,
        .routes = 1,
        .route = {{.name = "smmla", .tile = tile, .is_signed = true, .cost = 1.0f}},
    };
}
