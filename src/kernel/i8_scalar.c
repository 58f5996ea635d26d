/* The definition of the integer products: plain loops, which the files of the ISAs must equal. */
#include "kernel/kernel_isa.h"

enum { NR = 8, KR = 4 };

/* Input codes as int8; weights [k / KR][NR][KR]. */
static void tile(const ganz_tile_args *t)
{
    for (int r = 0; r < t->rows; r++) {
        const int8_t *const codes = (const int8_t *)(t->a + (size_t)r * t->lda);
        int32_t *const sums = t->sums + (size_t)r * t->stride;
        for (int c = 0; c < NR; c++) {
            int32_t sum = t->start[(size_t)r * t->start_stride + (size_t)c];
            for (int i = 0; i < t->k; i += KR)
                for (int q = 0; q < KR; q++) sum += codes[i + q] * t->b[i * NR + c * KR + q];
            sums[c] = sum;
        }
    }
}

/* The same with two weights in a byte. */
static void tile_nibbles(const ganz_tile_args *t)
{
    for (int r = 0; r < t->rows; r++) {
        const int8_t *const codes = (const int8_t *)(t->a + (size_t)r * t->lda);
        int32_t *const sums = t->sums + (size_t)r * t->stride;
        for (int c = 0; c < NR; c++) {
            int32_t sum = t->start[(size_t)r * t->start_stride + (size_t)c];
            for (int i = 0; i < t->k; i += 2 * KR)
                for (int q = 0; q < KR; q++) {
                    const int byte = (uint8_t)t->b[i / 2 * NR + c * KR + q];
                    sum += codes[i + q] * ((byte & 15) - GANZ_NIBBLE_ZERO);
                    sum += codes[i + KR + q] * ((byte >> 4) - GANZ_NIBBLE_ZERO);
                }
            sums[c] = sum;
        }
    }
}

static void dot_rows(const int8_t *q, int n, const int8_t *const *rows, size_t offset, int count, int32_t *scores)
{
    for (int i = 0; i < count; i++) {
        const int8_t *const key = rows[i] + offset;
        int32_t sum = 0;
        for (int c = 0; c < n; c++) sum += q[c] * key[c];
        scores[i] = sum;
    }
}

static void weighted_rows(const uint8_t *u, const int8_t *const *rows, size_t offset, int count, int n, int32_t *sums)
{
    for (int c = 0; c < n; c++) sums[c] = 0;
    for (int i = 0; i < count; i++) {
        const int8_t *const value = rows[i] + offset;
        for (int c = 0; c < n; c++) sums[c] += u[i] * value[c];
    }
}

void ganz_kernel_init_i8_scalar(ganz_kernel *kernel)
{
    kernel->rows.dot_rows = dot_rows;
    kernel->rows.weighted_rows = weighted_rows;
    kernel->gemm = (ganz_gemm_isa){
        .name = "scalar",
        .nr = NR,
        .step = NR,
        .kr = KR,
        .k_step = 2 * KR,
        .nibbles = tile_nibbles,
        .nibble_rows = 64,
        .k_block = 2048,
        .m_block = 64,
        .routes = 1,
        .route = {{.name = "scalar", .tile = tile, .is_signed = true, .pairs = 0, .cost = 1.0f}},
    };
}
