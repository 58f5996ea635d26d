/* Matrix products by OpenBLAS, in `real`. */
#ifndef GANZ_BACKEND_CPU_GEMM_H
#define GANZ_BACKEND_CPU_GEMM_H

#include <cblas.h>

#include "backend/cpu_backend.h"

enum { PLAIN = CblasNoTrans, TRANSPOSED = CblasTrans };

/* Loads the library with the first call; to be asked before any product. False: the call does nothing, sync will
 * tell. */
bool ganz_cpu_blas_ready(ganz_cpu *cpu);

/* c = alpha * a b + beta * c, with a (m, k) or, transposed, (k, m), and b (k, n) or, transposed, (n, k); c (m, n). Any
 * number of threads at a time; OpenBLAS that was built to be serial gives two callers the same buffer now and then, and
 * both wrong sums, so with that they go one by one. */
void ganz_cpu_gemm(int transpose_a, int transpose_b, int m, int n, int k, real alpha, const real *a, int lda,
                   const real *b, int ldb, real beta, real *c, int ldc);

#endif
