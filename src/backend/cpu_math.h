/* Numbers in rows, for float and (in the gradient tests) double.
 *
 * Operations that integer translation shares are defined in kernel/kernel.h and followed here: sums in eight lanes
 * joined in a fixed tree, its exp, its rounding. So FAKE gives the bits of the integer path. */
#ifndef GANZ_BACKEND_CPU_MATH_H
#define GANZ_BACKEND_CPU_MATH_H

#include <math.h>

#include "backend/backend.h"
#include "kernel/kernel_math.h"

/* Two versions of a row function, chosen when the program starts. Both give the same bits: nothing is contracted, and
 * sums say their order. The loader has to call the chooser (an ifunc): glibc's does, musl's jumps into nothing, and
 * sanitizers are not ready yet when it runs. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GANZ_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define GANZ_CLONES
#endif

enum { LANES = 8 };

#ifdef GANZ_F64
static inline real real_exp(real x) { return exp(x); }
static inline real real_sqrt(real x) { return sqrt(x); }
static inline real real_exp2(real x) { return exp2(x); }
static inline real real_abs(real x) { return fabs(x); }
static inline real real_code(real y, real low, real high) { return rint(y > low ? (y < high ? y : high) : low); }
#else
static inline real real_exp(real x) { return ganz_exact_exp(x); }
static inline real real_sqrt(real x) { return sqrtf(x); }
static inline real real_exp2(real x) { return exp2f(x); }
static inline real real_abs(real x) { return fabsf(x); }
static inline real real_code(real y, real low, real high) { return (real)code_of(y, low, high); }
#endif

static inline real real_join(const real s[LANES])
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Sums the expression `term` of index i over [0, n) in eight lanes into `sum`. */
#define LANE_SUM(sum, n, i, term)                                 \
    do {                                                          \
        real lane_[LANES] = {0};                                  \
        int at_ = 0;                                              \
        for (; at_ + LANES <= (n); at_ += LANES)                  \
            for (int l_ = 0; l_ < LANES; l_++) {                  \
                const int i = at_ + l_;                           \
                lane_[l_] += (term);                              \
            }                                                     \
        for (int i = at_; i < (n); i++) lane_[i - at_] += (term); \
        (sum) = real_join(lane_);                                 \
    } while (0)

static inline real *real_row(const ganz_matrix *m, int row) { return (real *)m->data + (size_t)row * (size_t)m->ld; }

/* The value of a code is code * scale. */
static inline real scale_of(const ganz_operand *o) { return o->scale ? *o->scale : 1; }

#endif
