/* Matrix products by CBLAS, in `real`. */
#ifndef GANZ_BACKEND_CPU_GEMM_H
#define GANZ_BACKEND_CPU_GEMM_H

#include <cblas.h>

#include "base/base.h"

enum { PLAIN = CblasNoTrans, TURNED = CblasTrans };

/* OpenBLAS that was built to be serial gives two callers the same buffer now and then, and both wrong sums. Then they
 * go one by one. */
void ganz_cpu_blas_enter(void);
void ganz_cpu_blas_leave(void);

/* c = alpha * a b + beta * c, with a (m, k) or, turned, (k, m), and b (k, n) or, turned, (n, k); c (m, n). */
static inline void real_gemm(int turn_a, int turn_b, int m, int n, int k, real alpha, const real *a, int lda,
                             const real *b, int ldb, real beta, real *c, int ldc)
{
    ganz_cpu_blas_enter();
#ifdef GANZ_F64
    cblas_dgemm(CblasRowMajor, (CBLAS_TRANSPOSE)turn_a, (CBLAS_TRANSPOSE)turn_b, m, n, k, alpha, a, lda, b, ldb, beta,
                c, ldc);
#else
    cblas_sgemm(CblasRowMajor, (CBLAS_TRANSPOSE)turn_a, (CBLAS_TRANSPOSE)turn_b, m, n, k, alpha, a, lda, b, ldb, beta,
                c, ldc);
#endif
    ganz_cpu_blas_leave();
}

#endif
