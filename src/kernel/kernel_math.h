/* The definition of rounding, exp and reduction, one number at a time; shared by the scalar rows and the
 * ends of vector rows. Constants are shared by all. */
#ifndef GANZ_KERNEL_KERNEL_MATH_H
#define GANZ_KERNEL_KERNEL_MATH_H

#include <stdint.h>
#include <string.h>

#include "kernel/kernel.h"

/* Adding 1.5 * 2^23 leaves no fraction bits: the sum's low bits are the rounded number, half to even. */
#define ROUND_MAGIC 12582912.0f
#define ROUND_BITS 0x4B400000u

/* e^x = 2^n * e^r, n = rint(x / ln 2), r = (x - n * LN2_HIGH) - n * LN2_LOW with n * LN2_HIGH exact.
 * e^r = 1 + r + r * (r * (EXP_2 + r * (... + r * EXP_6))): minimax in relative error, 3.1e-9 on |r| <= ln 2 / 2. */
#define EXP_LOW (-87.0f)
#define EXP_HIGH 88.0f
#define EXP_LOG2E 1.44269504f
#define EXP_LN2_HIGH 0.693359375f
#define EXP_LN2_LOW (-2.12194440e-4f)
#define EXP_2 0.49999994f
#define EXP_3 0.166665211f
#define EXP_4 0.041668389f
#define EXP_5 0.00836874545f
#define EXP_6 0.00138145394f

static inline uint32_t float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_from(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* |y| < 2^22. */
static inline int32_t round_even(float y) { return (int32_t)(float_bits(y + ROUND_MAGIC) - ROUND_BITS); }

/* low and high are whole numbers, so clamping before rounding is clamping after it. */
static inline int32_t code_of(float y, float low, float high)
{
    y = y > low ? y : low;
    y = y < high ? y : high;
    return round_even(y);
}

static inline float exp_of(float x)
{
    if (!(x >= EXP_LOW)) return 0.0f;
    x = x < EXP_HIGH ? x : EXP_HIGH;
    const float shifted = x * EXP_LOG2E + ROUND_MAGIC;
    const float n = shifted - ROUND_MAGIC;
    const float r = (x - n * EXP_LN2_HIGH) - n * EXP_LN2_LOW;
    float q = EXP_6;
    q = q * r + EXP_5;
    q = q * r + EXP_4;
    q = q * r + EXP_3;
    q = q * r + EXP_2;
    const float y = ((q * r) * r + r) + 1.0f;
    return y * float_from((float_bits(shifted) - ROUND_BITS + 127u) << 23);
}

static inline float join_lanes(const float s[8])
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Puts (x, index) into the best `count` so far, before which nothing equal may be displaced. */
static inline void top_insert(float *values, int32_t *indices, int count, float x, int32_t index)
{
    int at = count;
    for (; at > 0 && x > values[at - 1]; at--) {
        values[at] = values[at - 1];
        indices[at] = indices[at - 1];
    }
    values[at] = x;
    indices[at] = index;
}

/* One element through an epilogue; the vector versions end with it. */
static inline void epilogue_one(const ganz_epilogue *e, int32_t sum, size_t row, size_t col)
{
    if (e->sums) e->sums[row * e->sums_stride + col] = sum;
    if (!e->out && !e->codes) return;
    float y = (float)sum * (e->scales ? e->scales[col] : e->scale);
    if (e->bias) y = y + e->bias[col];
    if (e->relu) y = y > 0.0f ? y : 0.0f;
    if (e->add) y = e->add[row * e->add_stride + col] + y;
    if (e->out) e->out[row * e->out_stride + col] = y;
    if (e->codes) e->codes[row * e->codes_stride + col] = (int8_t)code_of(y * e->inv, -(float)e->p, (float)e->p);
}

#endif
