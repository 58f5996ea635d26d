/* Integer products with dpbusd on 512 bits. Panels of 64 columns, [k / 4][64][4]: four registers across. */
#ifdef GANZ_SIMDE
#include <simde/x86/avx2.h>
#include <simde/x86/avx512.h>
#else
#include <immintrin.h>
#endif
#define DPBUSD(sum, u, s) _mm256_dpbusd_epi32(sum, u, s)

#include "kernel/attention_vnni.inc"

enum { NR = 64, KR = 4, MR = 6, K_STEP = 64 };

VNNI_INLINE __m512i four(const uint8_t *a)
{
    int32_t codes;
    memcpy(&codes, a, sizeof codes);
    return _mm512_set1_epi32(codes);
}

#define EACH_ROW UNROLL for (int r = 0; r < rows; r++)
#define EACH_QUARTER UNROLL for (int h = 0; h < 4; h++)

/* rows is a constant; `row` of the tile is its first. */
VNNI_INLINE void some_rows(const ganz_tile_args *t, int row, int rows)
{
    const uint8_t *const a = t->a + (size_t)row * t->lda;
    __m512i sum[MR][4];
    const int32_t *const start = t->start + (size_t)row * t->start_stride;
    EACH_ROW EACH_QUARTER sum[r][h] = _mm512_loadu_si512((const void *)(start + (size_t)r * t->start_stride + 16 * h));
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += KR, b += NR * KR) {
        __m512i w[4];
        EACH_QUARTER w[h] = _mm512_load_si512((const void *)(b + 64 * h));
        EACH_ROW
        {
            const __m512i x = four(a + (size_t)r * t->lda + i);
            EACH_QUARTER sum[r][h] = _mm512_dpbusd_epi32(sum[r][h], x, w[h]);
        }
    }
    EACH_ROW EACH_QUARTER _mm512_storeu_si512((void *)(t->sums + (size_t)(row + r) * t->stride + 16 * h), sum[r][h]);
}

/* The same with two weights in a byte. */
VNNI_INLINE void some_nibble_rows(const ganz_tile_args *t, int row, int rows)
{
    const __m512i mask = _mm512_set1_epi8(15), zero = _mm512_set1_epi8(GANZ_NIBBLE_ZERO);
    const uint8_t *const a = t->a + (size_t)row * t->lda;
    __m512i sum[MR][4];
    const int32_t *const start = t->start + (size_t)row * t->start_stride;
    EACH_ROW EACH_QUARTER sum[r][h] = _mm512_loadu_si512((const void *)(start + (size_t)r * t->start_stride + 16 * h));
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += 2 * KR, b += NR * KR) EACH_QUARTER
        {
            const __m512i both = _mm512_load_si512((const void *)(b + 64 * h));
            const __m512i low = _mm512_sub_epi8(_mm512_and_si512(both, mask), zero);
            const __m512i high = _mm512_sub_epi8(_mm512_and_si512(_mm512_srli_epi16(both, 4), mask), zero);
            EACH_ROW
            {
                const uint8_t *const x = a + (size_t)r * t->lda + i;
                sum[r][h] = _mm512_dpbusd_epi32(sum[r][h], four(x), low);
                sum[r][h] = _mm512_dpbusd_epi32(sum[r][h], four(x + KR), high);
            }
        }
    EACH_ROW EACH_QUARTER _mm512_storeu_si512((void *)(t->sums + (size_t)(row + r) * t->stride + 16 * h), sum[r][h]);
}

static void tile_nibbles(const ganz_tile_args *t)
{
    int row = 0;
    for (; row + 4 <= t->rows; row += 4) some_nibble_rows(t, row, 4);
    for (; row < t->rows; row++) some_nibble_rows(t, row, 1);
}

static void tile(const ganz_tile_args *t)
{
    int row = 0;
    for (; row + MR <= t->rows; row += MR) some_rows(t, row, MR);
    switch (t->rows - row) {
    case 1: some_rows(t, row, 1); break;
    case 2: some_rows(t, row, 2); break;
    case 3: some_rows(t, row, 3); break;
    case 4: some_rows(t, row, 4); break;
    case 5: some_rows(t, row, 5); break;
    default: break;
    }
}

static void leave(void) { _mm_sfence(); }

void ganz_kernel_init_avx512_vnni(ganz_kernel *kernel)
{
    kernel->rows.dot_rows = dot_rows;
    kernel->rows.weighted_rows = weighted_rows;
    kernel->gemm = (ganz_gemm_isa){
        .name = "avx512vnni",
        .nr = NR,
        .step = NR,
        .kr = KR,
        .k_step = K_STEP,
        .k_block = 512,
        .m_block = 60,
        .leave = leave,
        .nibbles = tile_nibbles,
        .nibble_rows = 8,
        .routes = 1,
        .route = {{.name = "vnni512", .tile = tile, .cost = 1.0f}},
    };
}
