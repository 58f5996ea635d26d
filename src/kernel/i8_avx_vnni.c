/* Integer products with dpbusd on 256 bits (VEX): four unsigned by signed products into 32 bits, which cannot overflow.
 * Panels of 16 columns, [k / 4][16][4], as for AVX2. */
#ifdef GANZ_SIMDE
#include <simde/x86/avx2.h>
#include <simde/x86/avx512/dpbusd.h>
#define DPBUSD(sum, u, s) simde_mm256_dpbusd_epi32(sum, u, s)
#else
#include <immintrin.h>
#define DPBUSD(sum, u, s) _mm256_dpbusd_avx_epi32(sum, u, s)
#endif

#include "kernel/attention_vnni.inc"

enum { NR = 16, KR = 4, MR = 6 };

VNNI_INLINE __m256i four(const uint8_t *a)
{
    int32_t codes;
    memcpy(&codes, a, sizeof codes);
    return _mm256_set1_epi32(codes);
}

#define EACH_ROW UNROLL for (int r = 0; r < rows; r++)
#define EACH_HALF UNROLL for (int h = 0; h < 2; h++)

/* rows is a constant; `row` of the tile is its first. */
VNNI_INLINE void some_rows(const ganz_tile_args *t, int row, int rows)
{
    const uint8_t *const a = t->a + (size_t)row * t->lda;
    __m256i sum[MR][2];
    const int32_t *const start = t->start + (size_t)row * t->start_stride;
    EACH_ROW EACH_HALF sum[r][h] = _mm256_loadu_si256((const void *)(start + (size_t)r * t->start_stride + 8 * h));
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += KR, b += NR * KR) {
        const __m256i w[2] = {_mm256_load_si256((const void *)b), _mm256_load_si256((const void *)(b + 32))};
        EACH_ROW
        {
            const __m256i x = four(a + (size_t)r * t->lda + i);
            EACH_HALF sum[r][h] = DPBUSD(sum[r][h], x, w[h]);
        }
    }
    EACH_ROW EACH_HALF _mm256_storeu_si256((void *)(t->sums + (size_t)(row + r) * t->stride + 8 * h), sum[r][h]);
}

/* The same with two weights in a byte. */
VNNI_INLINE void some_nibble_rows(const ganz_tile_args *t, int row, int rows)
{
    const __m256i mask = _mm256_set1_epi8(15), zero = _mm256_set1_epi8(GANZ_NIBBLE_ZERO);
    const uint8_t *const a = t->a + (size_t)row * t->lda;
    __m256i sum[MR][2];
    const int32_t *const start = t->start + (size_t)row * t->start_stride;
    EACH_ROW EACH_HALF sum[r][h] = _mm256_loadu_si256((const void *)(start + (size_t)r * t->start_stride + 8 * h));
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += 2 * KR, b += NR * KR) EACH_HALF
        {
            const __m256i both = _mm256_load_si256((const void *)(b + 32 * h));
            const __m256i low = _mm256_sub_epi8(_mm256_and_si256(both, mask), zero);
            const __m256i high = _mm256_sub_epi8(_mm256_and_si256(_mm256_srli_epi16(both, 4), mask), zero);
            EACH_ROW
            {
                const uint8_t *const x = a + (size_t)r * t->lda + i;
                sum[r][h] = DPBUSD(sum[r][h], four(x), low);
                sum[r][h] = DPBUSD(sum[r][h], four(x + KR), high);
            }
        }
    EACH_ROW EACH_HALF _mm256_storeu_si256((void *)(t->sums + (size_t)(row + r) * t->stride + 8 * h), sum[r][h]);
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

void ganz_kernel_init_avx_vnni(ganz_kernel *kernel)
{
    kernel->rows.dot_rows = dot_rows;
    kernel->rows.weighted_rows = weighted_rows;
    kernel->gemm = (ganz_gemm_isa){
        .name = "avxvnni",
        .nr = NR,
        .step = NR,
        .kr = KR,
        .k_step = 2 * KR,
        .nibbles = tile_nibbles,
        .nibble_rows = 8,
        .k_block = 1024,
        .m_block = 60,
        .routes = 1,
        .route = {{.name = "vnni256", .tile = tile, .cost = 1.0f}},
    };
}
