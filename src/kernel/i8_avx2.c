/* Integer products on AVX2: several exact ways, of which ganz_pack takes the cheapest for the weights at hand.
 *
 *   sign    |a| * sign(b, a) with maddubs: exact for all codes; two products of 127 * 127 fit 16 bits
 *   pairsN  unsigned inputs (codes shifted up) times weights, N sums of two products added up in 16 bits before they
 *           widen to 32: exact because the packing keeps those sums in range
 *
 * Panels of 16 columns, [k / 4][16][4]: a register holds four depths of eight columns. */
#include <immintrin.h>
#include <string.h>

#include "kernel/kernel_isa.h"

enum { NR = 16, KR = 4, K_STEP = 32 };

#define INLINE static inline __attribute__((always_inline))

/* Four input codes of a row, in every column. */
INLINE __m256i four(const uint8_t *a)
{
    int32_t codes;
    memcpy(&codes, a, sizeof codes);
    return _mm256_set1_epi32(codes);
}

INLINE __m256i weights(const int8_t *b, int quad, int half)
{
    return _mm256_load_si256((const void *)(b + quad * (NR * KR) + half * 32));
}

/* Sum over `pairs` quads of products, 16 bits, added as a tree. */
INLINE __m256i sum16(const uint8_t *a, const int8_t *b, int half, int pairs)
{
    __m256i t[8];
    UNROLL
    for (int q = 0; q < pairs; q++) t[q] = _mm256_maddubs_epi16(four(a + KR * q), weights(b, q, half));
    UNROLL
    for (int width = 1; width < 8; width *= 2)
        UNROLL
        for (int q = 0; q + width < pairs; q += 2 * width) t[q] = _mm256_add_epi16(t[q], t[q + width]);
    return t[0];
}

/* rows (a constant) times 16 columns. */
INLINE void pairs_rows(const uint8_t *a, size_t lda, const int8_t *b, int k, int32_t *sums, size_t stride, int rows,
                       int pairs)
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sum[6][2];
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
        for (int h = 0; h < 2; h++) sum[r][h] = _mm256_loadu_si256((const void *)(sums + (size_t)r * stride + 8 * h));
    for (int i = 0; i < k; i += KR * pairs, b += NR * KR * pairs)
        UNROLL
        for (int r = 0; r < rows; r++)
            UNROLL
            for (int h = 0; h < 2; h++) {
                const __m256i wide = _mm256_madd_epi16(sum16(a + (size_t)r * lda + i, b, h, pairs), ones);
                sum[r][h] = _mm256_add_epi32(sum[r][h], wide);
            }
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
        for (int h = 0; h < 2; h++) _mm256_storeu_si256((void *)(sums + (size_t)r * stride + 8 * h), sum[r][h]);
}

INLINE void sign_rows(const uint8_t *a, size_t lda, const int8_t *b, int k, int32_t *sums, size_t stride, int rows)
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sum[4][2];
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
        for (int h = 0; h < 2; h++) sum[r][h] = _mm256_loadu_si256((const void *)(sums + (size_t)r * stride + 8 * h));
    for (int i = 0; i < k; i += KR, b += NR * KR)
        UNROLL
        for (int r = 0; r < rows; r++) {
            const __m256i x = four(a + (size_t)r * lda + i), size = _mm256_abs_epi8(x);
            UNROLL
            for (int h = 0; h < 2; h++) {
                const __m256i products = _mm256_maddubs_epi16(size, _mm256_sign_epi8(weights(b, 0, h), x));
                sum[r][h] = _mm256_add_epi32(sum[r][h], _mm256_madd_epi16(products, ones));
            }
        }
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
        for (int h = 0; h < 2; h++) _mm256_storeu_si256((void *)(sums + (size_t)r * stride + 8 * h), sum[r][h]);
}

/* A tile of any number of rows out of one for 1 .. most rows. */
#define TILE(name, most, ROWS)                                                                                       \
    static void name(const uint8_t *a, size_t lda, int rows, const int8_t *b, int k, int32_t *sums, size_t stride)   \
    {                                                                                                                \
        for (; rows >= most; rows -= most, a += most * lda, sums += most * stride) ROWS(most);                       \
        switch (rows) {                                                                                              \
        case 5: ROWS(5 < most ? 5 : 1); break;                                                                       \
        case 4: ROWS(4 < most ? 4 : 1); break;                                                                       \
        case 3: ROWS(3); break;                                                                                      \
        case 2: ROWS(2); break;                                                                                      \
        case 1: ROWS(1); break;                                                                                      \
        default: break;                                                                                              \
        }                                                                                                            \
    }

#define SIGN_ROWS(rows) sign_rows(a, lda, b, k, sums, stride, rows)
#define PAIRS1_ROWS(rows) pairs_rows(a, lda, b, k, sums, stride, rows, 1)
#define PAIRS2_ROWS(rows) pairs_rows(a, lda, b, k, sums, stride, rows, 2)
#define PAIRS4_ROWS(rows) pairs_rows(a, lda, b, k, sums, stride, rows, 4)
#define PAIRS8_ROWS(rows) pairs_rows(a, lda, b, k, sums, stride, rows, 8)
TILE(tile_sign, 4, SIGN_ROWS)
TILE(tile_pairs1, 6, PAIRS1_ROWS)
TILE(tile_pairs2, 4, PAIRS2_ROWS)
TILE(tile_pairs4, 4, PAIRS4_ROWS)
TILE(tile_pairs8, 4, PAIRS8_ROWS)

/* ---- attention ---------------------------------------------------------------------------------- */

/* Up to 32 codes; zeros after the last. */
INLINE __m256i load_codes(const int8_t *codes, int n)
{
    if (n >= 32) return _mm256_loadu_si256((const void *)codes);
    int8_t whole[32] = {0};
    memcpy(whole, codes, (size_t)n);
    return _mm256_loadu_si256((const void *)whole);
}

INLINE __m256i dot32(__m256i q, __m256i size, __m256i key)
{
    return _mm256_madd_epi16(_mm256_maddubs_epi16(size, _mm256_sign_epi8(key, q)), _mm256_set1_epi16(1));
}

INLINE int32_t join(__m256i s)
{
    __m128i x = _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
    x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(x, _mm_shuffle_epi32(x, 0xB1)));
}

/* Four sums of eight lanes into four lanes. */
INLINE __m128i join4(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i x = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    return _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
}

/* A head of 64 channels: the query stays in registers, four keys at a time. */
static int dot_rows_64(const int8_t *q, const int8_t *const *rows, size_t offset, int count, int32_t *scores)
{
    const __m256i q0 = load_codes(q, 32), q1 = load_codes(q + 32, 32);
    const __m256i size0 = _mm256_abs_epi8(q0), size1 = _mm256_abs_epi8(q1);
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        __m256i s[4];
        UNROLL
        for (int j = 0; j < 4; j++) {
            const int8_t *const key = rows[i + j] + offset;
            s[j] = _mm256_add_epi32(dot32(q0, size0, load_codes(key, 32)), dot32(q1, size1, load_codes(key + 32, 32)));
        }
        _mm_storeu_si128((void *)(scores + i), join4(s[0], s[1], s[2], s[3]));
    }
    return i;
}

static void dot_rows(const int8_t *q, int n, const int8_t *const *rows, size_t offset, int count, int32_t *scores)
{
    int i = n == 64 ? dot_rows_64(q, rows, offset, count, scores) : 0;
    for (; i < count; i++) {
        __m256i sum = _mm256_setzero_si256();
        for (int c = 0; c < n; c += 32) {
            const __m256i part = load_codes(q + c, n - c);
            sum = _mm256_add_epi32(sum, dot32(part, _mm256_abs_epi8(part), load_codes(rows[i] + offset + c, n - c)));
        }
        scores[i] = join(sum);
    }
}

/* 16 channels of two value rows, widened and paired: madd with (u0, u1) adds both. */
INLINE void add_two(const int8_t *v0, const int8_t *v1, __m256i u, __m256i sum[2])
{
    const __m256i a = _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)v0));
    const __m256i b = _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)v1));
    sum[0] = _mm256_add_epi32(sum[0], _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), u));
    sum[1] = _mm256_add_epi32(sum[1], _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), u));
}

INLINE __m256i two_weights(const uint8_t *u, bool second) { return _mm256_set1_epi32(u[0] | (second ? u[1] : 0) << 16); }

/* `blocks` times 16 channels: accumulators stay in registers over all rows. */
INLINE void weighted_channels(const uint8_t *u, const int8_t *const *rows, size_t offset, int count, int32_t *sums,
                              int blocks)
{
    __m256i sum[4][2];
    UNROLL
    for (int j = 0; j < blocks; j++) sum[j][0] = sum[j][1] = _mm256_setzero_si256();
    for (int i = 0; i < count; i += 2) {
        const bool second = i + 1 < count;
        const __m256i pair = two_weights(u + i, second);
        const int8_t *const v0 = rows[i] + offset, *const v1 = second ? rows[i + 1] + offset : v0;
        UNROLL
        for (int j = 0; j < blocks; j++) add_two(v0 + 16 * j, v1 + 16 * j, pair, sum[j]);
    }
    UNROLL
    for (int j = 0; j < blocks; j++) {
        const __m256i low = _mm256_permute2x128_si256(sum[j][0], sum[j][1], 0x20);
        const __m256i high = _mm256_permute2x128_si256(sum[j][0], sum[j][1], 0x31);
        _mm256_storeu_si256((void *)(sums + 16 * j), low);
        _mm256_storeu_si256((void *)(sums + 16 * j + 8), high);
    }
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

void ganz_kernel_init_i8_avx2(ganz_kernel *kernel)
{
    kernel->rows.dot_rows = dot_rows;
    kernel->rows.weighted_rows = weighted_rows;
    kernel->gemm = (ganz_gemm_isa){
        .name = "avx2",
        .nr = NR, .kr = KR, .k_step = K_STEP, .k_block = 1024, .m_block = 60,
        .routes = 5,
        .route = {
            {.name = "sign", .tile = tile_sign, .is_signed = true, .pairs = 0, .cost = 1.45f},
            {.name = "pairs1", .tile = tile_pairs1, .pairs = 1, .cost = 1.0f},
            {.name = "pairs2", .tile = tile_pairs2, .pairs = 2, .cost = 0.75f},
            {.name = "pairs4", .tile = tile_pairs4, .pairs = 4, .cost = 0.65f},
            {.name = "pairs8", .tile = tile_pairs8, .pairs = 8, .cost = 0.62f},
        },
    };
}
