/* Integer products on AVX2: several exact ways, of which ganz_pack takes the cheapest for the weights at hand.
 *
 *   words   inputs and weights widened to 16 bits: exact for all codes
 *   pairsN  unsigned inputs (codes shifted up) times weights, N sums of two products added up in 16 bits before they
 *           widen to 32: exact because the packing keeps those sums in range
 *
 *   nibbles pairs8 with weights of at most 4 bits, two in a byte, which are taken apart on the way to the registers:
 * one row is bound by the memory that weights come from
 *
 * Panels of 16 columns, [k / 4][16][4]: a register holds four depths of eight columns. */
#include <immintrin.h>
#include <string.h>

#include "kernel/kernel_isa.h"

enum { NR = 16, KR = 4, K_STEP = 32, AHEAD = 3072 };

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

/* The value, hidden from the optimizer: left alone it reorders the 16-bit sums and runs out of registers. */
INLINE __m256i keep(__m256i x)
{
    __asm__("" : "+x"(x));
    return x;
}

INLINE __m256i widen(__m256i sums16) { return _mm256_madd_epi16(sums16, _mm256_set1_epi16(1)); }

INLINE __m256i load_sums(const int32_t *sums, int half) { return _mm256_loadu_si256((const void *)(sums + 8 * half)); }
INLINE void store_sums(int32_t *sums, int half, __m256i x) { _mm256_storeu_si256((void *)(sums + 8 * half), x); }

/* Weights from memory come in time if they are asked for early. Not with one row: there nothing else is read, and
 * the processor's own prefetching is faster. */
INLINE void fetch_ahead(const int8_t *b, int quad, int rows)
{
    if (rows > 1) _mm_prefetch((const char *)(b + quad * (NR * KR) + AHEAD), _MM_HINT_T0);
}

/* Where a group of rows of a tile begins. */
INLINE ganz_tile_args from_row(const ganz_tile_args *t, int row)
{
    ganz_tile_args part = *t;
    part.a += (size_t)row * t->lda;
    part.start += (size_t)row * t->start_stride;
    part.sums += (size_t)row * t->stride;
    return part;
}

#define EACH_ROW UNROLL for (int r = 0; r < rows; r++)
#define EACH_HALF UNROLL for (int h = 0; h < 2; h++)

/* One or two pairs: the 32-bit sums stay in registers. rows is a constant. */
INLINE void short_pairs(const ganz_tile_args *t, int rows, int pairs)
{
    __m256i sum[4][2];
    EACH_ROW EACH_HALF sum[r][h] = load_sums(t->start + (size_t)r * t->start_stride, h);
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += KR * pairs, b += NR * KR * pairs) {
        UNROLL
        for (int q = 0; q < pairs; q++) fetch_ahead(b, q, rows);
        EACH_ROW
        {
            const uint8_t *const a = t->a + (size_t)r * t->lda + i;
            const __m256i x = four(a);
            __m256i s[2];
            EACH_HALF s[h] = _mm256_maddubs_epi16(x, weights(b, 0, h));
            if (pairs == 2) {
                const __m256i next = four(a + KR);
                EACH_HALF s[h] = _mm256_add_epi16(s[h], _mm256_maddubs_epi16(next, weights(b, 1, h)));
            }
            EACH_HALF sum[r][h] = keep(_mm256_add_epi32(sum[r][h], widen(s[h])));
        }
    }
    EACH_ROW EACH_HALF store_sums(t->sums + (size_t)r * t->stride, h, sum[r][h]);
}

/* One quad of depth into the 16-bit sums of all rows. */
INLINE void add_quad(const ganz_tile_args *t, const int8_t *b, int i, int quad, int rows, __m256i s[6][2])
{
    const __m256i w[2] = {weights(b, quad, 0), weights(b, quad, 1)};
    fetch_ahead(b, quad, rows);
    EACH_ROW
    {
        const __m256i x = four(t->a + (size_t)r * t->lda + i + KR * quad);
        EACH_HALF
        {
            const __m256i products = _mm256_maddubs_epi16(x, w[h]);
            s[r][h] = keep(quad ? _mm256_add_epi16(s[r][h], products) : products);
        }
    }
}

/* Four or eight pairs: the 16-bit sums have the registers. The 32-bit ones find room there too up to three rows;
 * beyond, they are in memory, where they come and go less often than they would be spilled. */
INLINE void long_pairs(const ganz_tile_args *t, int rows, int pairs)
{
    const bool fit = rows <= 3;
    __m256i sum[6][2];
    if (fit) EACH_ROW EACH_HALF sum[r][h] = load_sums(t->start + (size_t)r * t->start_stride, h);
    else EACH_ROW EACH_HALF
        {
            const __m256i start = load_sums(t->start + (size_t)r * t->start_stride, h);
            store_sums(t->sums + (size_t)r * t->stride, h, start);
        }
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += KR * pairs, b += NR * KR * pairs) {
        __m256i s[6][2];
        add_quad(t, b, i, 0, rows, s);
        add_quad(t, b, i, 1, rows, s);
        add_quad(t, b, i, 2, rows, s);
        add_quad(t, b, i, 3, rows, s);
        if (pairs == 8) {
            add_quad(t, b, i, 4, rows, s);
            add_quad(t, b, i, 5, rows, s);
            add_quad(t, b, i, 6, rows, s);
            add_quad(t, b, i, 7, rows, s);
        }
        EACH_ROW
        {
            int32_t *const sums = t->sums + (size_t)r * t->stride;
            if (fit) EACH_HALF sum[r][h] = _mm256_add_epi32(sum[r][h], widen(s[r][h]));
            else EACH_HALF store_sums(sums, h, _mm256_add_epi32(load_sums(sums, h), widen(s[r][h])));
        }
    }
    if (fit) EACH_ROW EACH_HALF store_sums(t->sums + (size_t)r * t->stride, h, sum[r][h]);
}

/* Two quads of depth from one unit of nibbles into the 16-bit sums of all rows. */
INLINE void add_nibbles(const ganz_tile_args *t, const int8_t *b, int i, int unit, int rows, __m256i s[6][2])
{
    const __m256i mask = _mm256_set1_epi8(15), zero = _mm256_set1_epi8(GANZ_NIBBLE_ZERO);
    const __m256i both[2] = {weights(b, unit, 0), weights(b, unit, 1)};
    fetch_ahead(b, unit, rows);
    UNROLL
    for (int q = 0; q < 2; q++) {
        __m256i w[2];
        EACH_HALF
        {
            const __m256i part = q ? _mm256_srli_epi16(both[h], 4) : both[h];
            w[h] = _mm256_sub_epi8(_mm256_and_si256(part, mask), zero);
        }
        EACH_ROW
        {
            const __m256i x = four(t->a + (size_t)r * t->lda + i + KR * (2 * unit + q));
            EACH_HALF
            {
                const __m256i products = _mm256_maddubs_epi16(x, w[h]);
                s[r][h] = keep(unit || q ? _mm256_add_epi16(s[r][h], products) : products);
            }
        }
    }
}

/* As long_pairs with eight pairs. */
INLINE void nibble_rows(const ganz_tile_args *t, int rows)
{
    const bool fit = rows <= 2;
    __m256i sum[4][2];
    EACH_ROW EACH_HALF
    {
        sum[r][h] = load_sums(t->start + (size_t)r * t->start_stride, h);
        if (!fit) store_sums(t->sums + (size_t)r * t->stride, h, sum[r][h]);
    }
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += KR * 8, b += NR * KR * 4) {
        __m256i s[6][2];
        add_nibbles(t, b, i, 0, rows, s);
        add_nibbles(t, b, i, 1, rows, s);
        add_nibbles(t, b, i, 2, rows, s);
        add_nibbles(t, b, i, 3, rows, s);
        EACH_ROW
        {
            int32_t *const sums = t->sums + (size_t)r * t->stride;
            if (fit) EACH_HALF sum[r][h] = _mm256_add_epi32(sum[r][h], widen(s[r][h]));
            else EACH_HALF store_sums(sums, h, _mm256_add_epi32(load_sums(sums, h), widen(s[r][h])));
        }
    }
    if (fit) EACH_ROW EACH_HALF store_sums(t->sums + (size_t)r * t->stride, h, sum[r][h]);
}

/* Four input codes of 16 bits, in every column. */
INLINE __m256i four_words(const uint8_t *a)
{
    int64_t codes;
    memcpy(&codes, a, sizeof codes);
    return _mm256_set1_epi64x(codes);
}

/* rows and vectors are constants: 4 * vectors columns from `col` on. A vector holds two sums for each of four
 * columns. */
INLINE void word_columns(const ganz_tile_args *t, int rows, int col, int vectors)
{
    __m256i sum[4][4];
    EACH_ROW UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = _mm256_setzero_si256();
    const int8_t *b = t->b + KR * col;
    for (int i = 0; i < t->k; i += KR, b += NR * KR) {
        __m256i x[4];
        EACH_ROW x[r] = four_words(t->a + (size_t)r * t->lda + 2 * i);
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const __m256i w = _mm256_cvtepi8_epi16(_mm_load_si128((const void *)(b + 16 * v)));
            EACH_ROW sum[r][v] = keep(_mm256_add_epi32(sum[r][v], _mm256_madd_epi16(x[r], w)));
        }
    }
    EACH_ROW UNROLL for (int v = 0; v < vectors; v += 2)
    {
        const int half = (col + 4 * v) / 8;
        const __m256i mixed = _mm256_hadd_epi32(sum[r][v], sum[r][v + 1]); /* columns 0 1 4 5 2 3 6 7 */
        const __m256i total = _mm256_permute4x64_epi64(mixed, 0xD8);
        store_sums(t->sums + (size_t)r * t->stride, half,
                   _mm256_add_epi32(total, load_sums(t->start + (size_t)r * t->start_stride, half)));
    }
}

/* Few rows read the weights once, more of them one half after the other: so the sums stay in registers. */
INLINE void word_rows(const ganz_tile_args *t, int rows)
{
    word_columns(t, rows, 0, rows <= 2 ? 4 : 2);
    if (rows > 2) word_columns(t, rows, 8, 2);
}

/* Rows in sixes or fours; the rows left over, in fours and fewer. */
#define TILE(name, most, ROWS)                                                                    \
    static void name(const ganz_tile_args *whole)                                                 \
    {                                                                                             \
        int row = 0;                                                                              \
        for (int left = whole->rows; left > 0; left = whole->rows - row) {                        \
            const ganz_tile_args t = from_row(whole, row);                                        \
            const int take = left >= most && left != 7 && left != 8 ? most : left > 4 ? 4 : left; \
            switch (take) {                                                                       \
            case 1: ROWS(&t, 1); break;                                                           \
            case 2: ROWS(&t, 2); break;                                                           \
            case 3: ROWS(&t, 3); break;                                                           \
            case 4: ROWS(&t, 4); break;                                                           \
            default: ROWS(&t, most); break;                                                       \
            }                                                                                     \
            row += take;                                                                          \
        }                                                                                         \
    }

#define PAIRS1_ROWS(t, rows) short_pairs(t, rows, 1)
#define PAIRS2_ROWS(t, rows) short_pairs(t, rows, 2)
#define PAIRS4_ROWS(t, rows) long_pairs(t, rows, 4)
#define PAIRS8_ROWS(t, rows) long_pairs(t, rows, 8)
TILE(tile_words, 4, word_rows)
TILE(tile_pairs1, 4, PAIRS1_ROWS)
TILE(tile_pairs2, 4, PAIRS2_ROWS)
TILE(tile_pairs4, 6, PAIRS4_ROWS)
TILE(tile_pairs8, 6, PAIRS8_ROWS)
TILE(tile_nibbles, 4, nibble_rows)

/* ---- packing ------------------------------------------------------------------------------------ */

/* Up to 32 codes; zeros after the last. */
INLINE __m256i load_codes(const int8_t *codes, int n)
{
    if (n >= 32) return _mm256_loadu_si256((const void *)codes);
    int8_t whole[32] = {0};
    memcpy(whole, codes, (size_t)n);
    return _mm256_loadu_si256((const void *)whole);
}

/* Lanes of 16 bits hold the sums of a pair; a group's are every other lane of one, two, four or eight quads. */
INLINE __m256i group_sums(__m256i x, int pairs)
{
    if (pairs >= 2) x = _mm256_add_epi16(x, _mm256_shuffle_epi32(x, 0xB1));
    if (pairs >= 4) x = _mm256_add_epi16(x, _mm256_shuffle_epi32(x, 0x4E));
    if (pairs >= 8) x = _mm256_add_epi16(x, _mm256_permute4x64_epi64(x, 0x4E));
    return x;
}

/* pairs is a constant. */
INLINE int over_pairs(const int8_t *codes, int k, int pairs, int limit, uint16_t *over)
{
    const __m256i ones = _mm256_set1_epi8(1), zero = _mm256_setzero_si256(), most = _mm256_set1_epi16((short)limit);
    int count = 0;
    for (int at = 0; at < k; at += GANZ_STRETCH) {
        const __m256i w = load_codes(codes + at, k - at);
        const __m256i up = _mm256_maddubs_epi16(ones, _mm256_max_epi8(w, zero));
        const __m256i down = _mm256_sub_epi16(up, _mm256_maddubs_epi16(ones, w));
        const __m256i larger = _mm256_max_epi16(group_sums(up, pairs), group_sums(down, pairs));
        over[count] = (uint16_t)(at / GANZ_STRETCH);
        count += !_mm256_testz_si256(_mm256_cmpgt_epi16(larger, most), _mm256_cmpgt_epi16(larger, most));
    }
    return count;
}

static int over(const int8_t *codes, int k, int pairs, int limit, uint16_t *list)
{
    switch (pairs) {
    case 1: return over_pairs(codes, k, 1, limit, list);
    case 2: return over_pairs(codes, k, 2, limit, list);
    case 4: return over_pairs(codes, k, 4, limit, list);
    default: return over_pairs(codes, k, 8, limit, list);
    }
}

/* ---- attention ---------------------------------------------------------------------------------- */

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

INLINE __m256i two_weights(const uint8_t *u, bool second)
{
    return _mm256_set1_epi32(u[0] | (second ? u[1] : 0) << 16);
}

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
        .nr = NR,
        .step = NR,
        .kr = KR,
        .k_step = K_STEP,
        .k_block = 2048,
        .m_block = 60,
        .routes = 5,
        .over = over,
        .nibbles = tile_nibbles,
        .nibble_rows = 16,
        .route =
            {
                {.name = "words", .tile = tile_words, .words = true, .cost = 1.39f},
                {.name = "pairs1", .tile = tile_pairs1, .pairs = 1, .cost = 1.0f},
                {.name = "pairs2", .tile = tile_pairs2, .pairs = 2, .cost = 0.80f},
                {.name = "pairs4", .tile = tile_pairs4, .pairs = 4, .cost = 0.73f},
                {.name = "pairs8", .tile = tile_pairs8, .pairs = 8, .cost = 0.69f},
            },
    };
}
