/* One row of packed weights back as plain codes: the embedding is looked up in the table that logits multiply with. */
#include <string.h>

#include "kernel/kernel.h"

static void unpack_nibbles(const ganz_gemm_isa *isa, const ganz_packed *w, int row, int8_t *codes)
{
    const int nr = isa->nr, kr = isa->kr, col = row % nr;
    const uint8_t *const panel = (const uint8_t *)w->codes + (size_t)(row / nr) * (size_t)nr * (size_t)w->k_stored / 2;
    for (int k = 0; k < w->k; k++) {
        const int byte = panel[k / (2 * kr) * nr * kr + col * kr + k % kr];
        codes[k] = (int8_t)((k / kr % 2 ? byte >> 4 : byte & 15) - GANZ_NIBBLE_ZERO);
    }
}

void ganz_unpack_row(const ganz_kernel *kernel, const ganz_packed *w, int row, int8_t *codes)
{
    const int nr = kernel->gemm.nr, kr = kernel->gemm.kr, panel = row / nr, col = row % nr;
    const int8_t *from = w->codes + (size_t)panel * (size_t)nr * (size_t)w->k_stored + (size_t)(col * kr);
    GANZ_ASSERT(row >= 0 && row < w->n);
    if (w->nibbles) {
        unpack_nibbles(&kernel->gemm, w, row, codes);
        return;
    }
    for (int k = 0; k < w->k; k += kr, from += nr * kr)
        memcpy(codes + k, from, (size_t)(w->k - k < kr ? w->k - k : kr));
    for (uint32_t i = w->fix_at[panel]; i < w->fix_at[panel + 1]; i++)
        if (w->fix[i].col == col) codes[w->fix[i].k] = (int8_t)(codes[w->fix[i].k] + w->fix[i].rest);
}
