/* Random numbers from a counter: number i of a stream is a pure function of (seed, stream, i).
 * No state to save, any order of evaluation, and CUDA gives the same bits as the CPU.
 * Philox 4x32-10 (Salmon et al. 2011). */
#ifndef GANZ_BASE_RNG_H
#define GANZ_BASE_RNG_H

#include <stdint.h>

#include "base/both.h"

typedef struct ganz_random4 {
    uint32_t v[4];
} ganz_random4;

/* Four 32-bit numbers for one counter. */
GANZ_HD ganz_random4 ganz_philox(uint64_t seed, uint64_t stream, uint64_t counter)
{
    uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32);
    uint32_t c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        const uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        const uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        const uint32_t n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c0 = n0;
        c1 = (uint32_t)p1;
        c2 = n2;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    const ganz_random4 r = {{c0, c1, c2, c3}};
    return r;
}

/* Number `index` of a stream. */
GANZ_HD uint32_t ganz_random_u32(uint64_t seed, uint64_t stream, uint64_t index)
{
    return ganz_philox(seed, stream, index >> 2).v[index & 3];
}

GANZ_HD uint64_t ganz_random_u64(uint64_t seed, uint64_t stream, uint64_t index)
{
    const ganz_random4 r = ganz_philox(seed, stream, index >> 1);
    const int at = (int)(index & 1) * 2;
    return (uint64_t)r.v[at + 1] << 32 | r.v[at];
}

/* Uniform in [0, 1), 24 bits. */
GANZ_HD float ganz_random_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
    return (float)(ganz_random_u32(seed, stream, index) >> 8) * (1.0f / 16777216.0f);
}

/* Uniform in [0, n), n > 0, without visible bias (64-bit multiply). */
GANZ_HD uint32_t ganz_random_below(uint64_t seed, uint64_t stream, uint64_t index, uint32_t n)
{
    return (uint32_t)(((uint64_t)ganz_random_u32(seed, stream, index) * n) >> 32);
}

#ifndef __CUDACC__
/* Standard normal by Box-Muller on number pair `index`. */
double ganz_random_normal(uint64_t seed, uint64_t stream, uint64_t index);
#endif

#endif
