#include "base/rng.h"

#include <math.h>

double ganz_random_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    const double scale = 1.0 / 9007199254740992.0; /* 2^-53 */
    const double u = ((double)(ganz_random_u64(seed, stream, 2 * index) >> 11) + 1.0) * scale; /* (0, 1] */
    const double v = (double)(ganz_random_u64(seed, stream, 2 * index + 1) >> 11) * scale;
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

void ganz_random_order(uint64_t seed, uint64_t stream, uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        const uint32_t j = ganz_random_below(seed, stream, i, i);
        const uint32_t swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}
