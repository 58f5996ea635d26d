/* Matrix products in `real`: by OpenBLAS, or of numbers rounded to bfloat16 by the kernels. */
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
bool ganz_cpu_gemm_ready(ganz_cpu *cpu);

/* c = alpha * a b, or c += alpha * a b, by one worker of the pool; for small products. */
void ganz_cpu_gemm(const ganz_cpu *cpu, int worker, const ganz_cpu_product *p);

/* What is to be done with a part of the result as soon as it is there, by the worker who made it. */
typedef void ganz_cpu_after(const void *context, const ganz_block *part);

/* The same, shared out to the pool. Any number of threads gives the same bits. after: or NULL. */
void ganz_cpu_gemm_shared(ganz_cpu *cpu, const ganz_cpu_product *p, ganz_cpu_after *after, const void *context);

/* cpu_blas.c: by OpenBLAS; whether it is there, or why not. */
bool ganz_cpu_blas_load(const char **why);
void ganz_cpu_blas(const ganz_cpu_product *p);

#endif
