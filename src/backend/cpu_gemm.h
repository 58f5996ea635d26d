/* Matrix products by OpenBLAS, in `real`. */
#ifndef GANZ_BACKEND_CPU_GEMM_H
#define GANZ_BACKEND_CPU_GEMM_H

#include <cblas.h>

#include "backend/cpu_backend.h"

/* One side of a product: rows `ld` apart. */
typedef struct ganz_cpu_side {
    const real *data;
    int ld;
    CBLAS_TRANSPOSE how;
} ganz_cpu_side;

static inline ganz_cpu_side ganz_cpu_plain(const real *data, int ld) { return (ganz_cpu_side){data, ld, CblasNoTrans}; }
static inline ganz_cpu_side ganz_cpu_transposed(const real *data, int ld)
{
    return (ganz_cpu_side){data, ld, CblasTrans};
}

typedef struct ganz_cpu_product {
    int m, n, k;
    ganz_cpu_side a, b; /* a (m, k) or, transposed, (k, m); b (k, n) or, transposed, (n, k) */
    real *c;            /* (m, n) */
    int ldc;
    real alpha;
    bool add; /* c += instead of c = */
} ganz_cpu_product;

/* Loads the library with the first call; to be asked before any product. Returns false where there is none: the caller
 * then does nothing, and the next sync tells. */
bool ganz_cpu_blas_ready(ganz_cpu *cpu);

/* c = alpha * a b, or c += alpha * a b. Any number of threads at a time; OpenBLAS that was built to be serial gives two
 * callers the same buffer now and then, and both wrong sums, so with that build they go one by one. */
void ganz_cpu_gemm(const ganz_cpu_product *p);

#endif
