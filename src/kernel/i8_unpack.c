/* One row of packed weights back as plain codes: the embedding is looked up in the table that logits multiply with. */
#include <string.h>

#include "kernel/kernel.h"

void ganz_unpack_row(const ganz_kernel *kernel, const ganz_packed *w, int row, int8_t *codes)
{
    const int nr = kernel->gemm.nr, kr = kernel->gemm.kr, panel = row / nr, col = row % nr;
    const int8_t *from = w->codes + (size_t)panel * (size_t)nr * (size_t)w->k_stored + (size_t)(col * kr);
    GANZ_ASSERT(row >= 0 && row < w->n);
    for (int k = 0; k < w->k; k += kr, from += nr * kr)
        memcpy(codes + k, from, (size_t)(w->k - k < kr ? w->k - k : kr));
    for (uint32_t i = w->fix_at[panel]; i < w->fix_at[panel + 1]; i++)
        if (w->fix[i].col == col) codes[w->fix[i].k] = (int8_t)(codes[w->fix[i].k] + w->fix[i].rest);
}
