/* The timing table without libm, whose last digits depend on the processor: what a model says must not.
 *
 * Sines and cosines of p * f come from those of its two digits, p = 64 a + b, by the addition theorem; the digits'
 * from the series, after halving the angle often enough. All in double, some 1e-14 from the truth. */
#include "base/exact.h"
#include "nn/weights.h"

enum { LOW = 64 };

typedef struct turn {
    double sine, cosine;
} turn;

static const double ln_10000 = 9.210340371976182736, pi_half = 1.57079632679489661923;

static turn add(turn a, turn b)
{
    return (turn){a.sine * b.cosine + a.cosine * b.sine, a.cosine * b.cosine - a.sine * b.sine};
}

/* 0 <= angle <= 64: a quarter turn at a time, then the series. */
static turn turn_by(double angle)
{
    const int quarters = (int)(angle / pi_half);
    const double r = angle - quarters * pi_half, square = r * r;
    double s = 1, c = 1;
    for (int i = 24; i >= 2; i -= 2) {
        c = 1 - c * square / (i * (i - 1));
        s = 1 - s * square / (i * (i + 1));
    }
    const turn first = {s * r, c};
    switch (quarters % 4) {
    case 0: return first;
    case 1: return (turn){first.cosine, -first.sine};
    case 2: return (turn){-first.sine, -first.cosine};
    default: return (turn){-first.cosine, first.sine};
    }
}

bool ganz_timing(real *timing, const ganz_config *c)
{
    const int half = c->width / 2, first = c->first_position, end = first + c->max_positions;
    const int intervals = c->timing == GANZ_TIMING_HALF ? half : half - 1;
    const double increment = ln_10000 / (intervals > 1 ? intervals : 1);
    turn *const low = ganz_alloc((size_t)half * LOW, sizeof *low); /* (LOW, half) */
    turn *const high = ganz_alloc((size_t)half, sizeof *high), *const stride = ganz_alloc((size_t)half, sizeof *stride);
    for (int i = 0; low && high && stride && i < half; i++) {
        const double frequency = ganz_exact_exp_minus(i * increment);
        for (int b = 0; b < LOW; b++) low[(size_t)b * (size_t)half + (size_t)i] = turn_by(b * frequency);
        high[i] = (turn){0, 1};
        stride[i] = turn_by(LOW * frequency);
    }
    for (int p = 0; low && high && stride && p < end; p++) {
        const turn *const digit = low + (size_t)(p % LOW) * (size_t)half;
        for (int i = 0; p > 0 && p % LOW == 0 && i < half; i++) high[i] = add(high[i], stride[i]);
        if (p < first) continue;
        real *const row = timing + (size_t)(p - first) * (size_t)c->width;
        for (int i = 0; i < half; i++) {
            const turn t = add(high[i], digit[i]);
            row[i] = (real)t.sine;
            row[half + i] = (real)t.cosine;
        }
    }
    const bool made = low && high && stride;
    ganz_free(low);
    ganz_free(high);
    ganz_free(stride);
    return made;
}
