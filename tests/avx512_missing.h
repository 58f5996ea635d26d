/* AVX-512 instructions of rows_avx512.c that SIMDe lacks (some of them by version), or has with sums that overflow, by
 * halves of 256 bits or in C. */
#ifndef GANZ_TESTS_AVX512_MISSING_H
#define GANZ_TESTS_AVX512_MISSING_H

#include <simde/x86/avx2.h>
#include <simde/x86/avx512.h>
#include <stdint.h>
#include <string.h>

typedef union missing_parts {
    __m512 f;
    __m512i i;
    float floats[16];
    int32_t ints[16];
    struct {
        __m256 f[2];
    } half;
} missing_parts;

static inline __m512i missing_cvtps_epi32(__m512 x)
{
    missing_parts p = {.f = x}, r;
    for (int h = 0; h < 2; h++) {
        const __m256i codes = _mm256_cvtps_epi32(p.half.f[h]);
        memcpy(r.ints + 8 * h, &codes, sizeof codes);
    }
    return r.i;
}

static inline __m512i missing_sub_epi32(__m512i x, __m512i y)
{
    missing_parts p = {.i = x}, q = {.i = y};
    for (int i = 0; i < 16; i++) p.ints[i] = (int32_t)((uint32_t)p.ints[i] - (uint32_t)q.ints[i]);
    return p.i;
}

static inline __m512 missing_cvtepi32_ps(__m512i x)
{
    missing_parts p = {.i = x}, r;
    for (int i = 0; i < 16; i++) r.floats[i] = (float)p.ints[i];
    return r.f;
}

static inline __m128i missing_cvtepi32_epi8(__m512i x)
{
    const missing_parts p = {.i = x};
    uint8_t bytes[16];
    __m128i r;
    for (int i = 0; i < 16; i++) bytes[i] = (uint8_t)p.ints[i];
    memcpy(&r, bytes, sizeof r);
    return r;
}

static inline __m512 missing_maskz_loadu_ps(__mmask16 mask, const void *from)
{
    missing_parts r;
    memset(&r, 0, sizeof r);
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1) memcpy(&r.floats[i], (const float *)from + i, sizeof(float));
    return r.f;
}

static inline __m512i missing_maskz_loadu_epi32(__mmask16 mask, const void *from)
{
    const missing_parts r = {.f = missing_maskz_loadu_ps(mask, from)};
    return r.i;
}

static inline void missing_mask_storeu_ps(void *to, __mmask16 mask, __m512 x)
{
    const missing_parts p = {.f = x};
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1) memcpy((float *)to + i, &p.floats[i], sizeof(float));
}

static inline void missing_mask_storeu_epi8(void *to, __mmask16 mask, __m128i x)
{
    uint8_t bytes[16];
    memcpy(bytes, &x, sizeof x);
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1) ((uint8_t *)to)[i] = bytes[i];
}

/* Pairs of floats to bfloat16: those of y, then those of x. */
static inline __m512i missing_cvtne2ps_pbh(__m512 x, __m512 y)
{
    const missing_parts p[2] = {{.f = y}, {.f = x}};
    uint16_t halves[32];
    for (int i = 0; i < 32; i++) {
        const uint32_t bits = (uint32_t)p[i / 16].ints[i % 16];
        const uint32_t rounded = bits + 0x7FFF + (bits >> 16 & 1);
        halves[i] = (uint16_t)((bits & 0x7F800000) ? rounded >> 16 : bits >> 16 & 0x8000);
    }
    __m512i r;
    memcpy(&r, halves, sizeof r);
    return r;
}

#undef _mm512_cvtne2ps_pbh
#undef _mm512_sub_epi32
#undef _mm512_cvtps_epi32
#undef _mm512_cvtepi32_ps
#undef _mm512_cvtepi32_epi8
#undef _mm512_maskz_loadu_ps
#undef _mm512_maskz_loadu_epi32
#undef _mm512_mask_storeu_ps
#undef _mm_mask_storeu_epi8
#undef _mm512_stream_ps
#define _mm512_cvtne2ps_pbh missing_cvtne2ps_pbh
#define _mm512_sub_epi32 missing_sub_epi32
#define _mm512_cvtps_epi32 missing_cvtps_epi32
#define _mm512_cvtepi32_ps missing_cvtepi32_ps
#define _mm512_cvtepi32_epi8 missing_cvtepi32_epi8
#define _mm512_maskz_loadu_ps missing_maskz_loadu_ps
#define _mm512_maskz_loadu_epi32 missing_maskz_loadu_epi32
#define _mm512_mask_storeu_ps missing_mask_storeu_ps
#define _mm_mask_storeu_epi8 missing_mask_storeu_epi8
#define _mm512_stream_ps _mm512_storeu_ps

#endif
