/* Normal random numbers, by Box and Muller; the uniform ones are in rng.h. */
#include "base/rng.h"

#include <math.h>

double ganz_random_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    const double scale = 1.0 / 9007199254740992.0;                                             /* 2^-53 */
    const double u = ((double)(ganz_random_u64(seed, stream, 2 * index) >> 11) + 1.0) * scale; /* (0, 1] */
    const double v = (double)(ganz_random_u64(seed, stream, 2 * index + 1) >> 11) * scale;
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}
