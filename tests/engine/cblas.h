/* In place of a BLAS: an integer model multiplies no floats, and this program would not get past one that did. */
#ifndef GANZ_TESTS_ENGINE_CBLAS_H
#define GANZ_TESTS_ENGINE_CBLAS_H

#include <stdlib.h>

typedef enum CBLAS_ORDER { CblasRowMajor = 101 } CBLAS_ORDER;
typedef enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112 } CBLAS_TRANSPOSE;
enum { OPENBLAS_SEQUENTIAL = 0 };

static inline int openblas_get_parallel(void) { return 1; }
static inline void openblas_set_num_threads(int threads) { (void)threads; }

static inline void cblas_sgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE turn_a, CBLAS_TRANSPOSE turn_b, int m, int n, int k,
                               float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c,
                               int ldc)
{
    (void)order, (void)turn_a, (void)turn_b, (void)m, (void)n, (void)k, (void)alpha;
    (void)a, (void)lda, (void)b, (void)ldb, (void)beta, (void)c, (void)ldc;
    abort();
}

#endif
