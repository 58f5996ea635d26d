/* Codes of sixteen floats with AVX-512; shared by the rows and the epilogue between tiles. */
#ifndef GANZ_KERNEL_CODES_AVX512_H
#define GANZ_KERNEL_CODES_AVX512_H

#ifdef GANZ_SIMDE /* the test brings what is missing there */
#include <simde/x86/avx2.h>
#include <simde/x86/avx512.h>
#else
#include <immintrin.h>
#endif

typedef struct limits {
    __m512 inv, low, high;
} limits;

static inline __attribute__((always_inline)) limits limits_of(float inv, int low, int high)
{
    const limits l = {_mm512_set1_ps(inv), _mm512_set1_ps((float)low), _mm512_set1_ps((float)high)};
    return l;
}

/* Codes are in range, so their low bytes are what is wanted, signed or not. */
static inline __attribute__((always_inline)) __m128i codes16(__m512 x, limits l)
{
    return _mm512_cvtepi32_epi8(
        _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(_mm512_mul_ps(x, l.inv), l.low), l.high)));
}

#endif
