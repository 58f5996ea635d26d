/* Exponentials and logarithms that have the same bits on every machine: + - * / and conversions only, each rounded by
 * itself. Translation uses these alone; libm's last digits depend on its version and on the processor. */
#ifndef GANZ_BASE_EXACT_H
#define GANZ_BASE_EXACT_H

#include <stdint.h>
#include <string.h>

#include "base/both.h"

/* Adding 1.5 * 2^23 leaves no fraction bits: the sum's low bits are the rounded number, half to even. */
#define GANZ_ROUND_MAGIC 12582912.0f
#define GANZ_ROUND_BITS 0x4B400000u

/* e^x = 2^n * e^r, n = rint(x / ln 2), r = (x - n * LN2_HIGH) - n * LN2_LOW with n * LN2_HIGH exact.
 * e^r = 1 + r + r * (r * (EXP_2 + r * (... + r * EXP_6))): minimax in relative error, 3.1e-9 on |r| <= ln 2 / 2. */
#define GANZ_EXP_LOW (-87.0f)
#define GANZ_EXP_HIGH 88.0f
#define GANZ_EXP_LOG2E 1.44269504f
#define GANZ_EXP_LN2_HIGH 0.693359375f
#define GANZ_EXP_LN2_LOW (-2.12194440e-4f)
#define GANZ_EXP_2 0.49999994f
#define GANZ_EXP_3 0.166665211f
#define GANZ_EXP_4 0.041668389f
#define GANZ_EXP_5 0.00836874545f
#define GANZ_EXP_6 0.00138145394f

GANZ_HD uint32_t ganz_float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

GANZ_HD float ganz_float_from(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The nearest whole number, half to even; |y| < 2^22. */
GANZ_HD int32_t ganz_round_even(float y) { return (int32_t)(ganz_float_bits(y + GANZ_ROUND_MAGIC) - GANZ_ROUND_BITS); }

/* e^x, relative error under 1e-7 for -87 <= x <= 88; 0 below and for NaN, e^88 above. */
GANZ_HD float ganz_exact_exp(float x)
{
    if (!(x >= GANZ_EXP_LOW)) return 0.0f;
    x = x < GANZ_EXP_HIGH ? x : GANZ_EXP_HIGH;
    const float shifted = x * GANZ_EXP_LOG2E + GANZ_ROUND_MAGIC;
    const float n = shifted - GANZ_ROUND_MAGIC;
    const float r = (x - n * GANZ_EXP_LN2_HIGH) - n * GANZ_EXP_LN2_LOW;
    float q = GANZ_EXP_6;
    q = q * r + GANZ_EXP_5;
    q = q * r + GANZ_EXP_4;
    q = q * r + GANZ_EXP_3;
    q = q * r + GANZ_EXP_2;
    const float y = ((q * r) * r + r) + 1.0f;
    return y * ganz_float_from((ganz_float_bits(shifted) - GANZ_ROUND_BITS + 127u) << 23);
}

/* Natural logarithm of a positive normal x, rounded from double (error under 1e-7 relative):
 * log(m * 2^e) = e * ln 2 + 2 * atanh((m - 1) / (m + 1)), sqrt(1/2) <= m < sqrt(2). */
GANZ_HD float ganz_exact_log(float x)
{
    const uint32_t bits = ganz_float_bits(x);
    const int over = (bits & 0x7FFFFFu) > 0x3504F3u; /* mantissa above sqrt(2) */
    const int e = (int)(bits >> 23) - 127 + over;
    const double m = (double)ganz_float_from((bits & 0x7FFFFFu) | (over ? 0x3F000000u : 0x3F800000u));
    const double s = (m - 1.0) / (m + 1.0), s2 = s * s;
    double sum = 1.0 / 15.0;
    for (int odd = 13; odd >= 1; odd -= 2) sum = sum * s2 + 1.0 / odd;
    return (float)((double)e * 0.693147180559945309417 + 2.0 * s * sum);
}

/* e^-x in double for 0 <= x <= 10, some 1e-15 from the truth: e^(-x / 16) by its series, squared four times. */
GANZ_HD double ganz_exact_exp_minus(double x)
{
    double sum = 1, small = -x / 16;
    for (int i = 18; i >= 1; i--) sum = 1 + sum * small / i;
    for (int i = 0; i < 4; i++) sum = sum * sum;
    return sum;
}

#endif
