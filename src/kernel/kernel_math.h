/* The definition of rounding, activations, reduction and epilogue, one number at a time; shared by the scalar rows and
 * the ends of vector rows, and by the kernels of the GPU. Constants are shared by all instruction sets. */
#ifndef GANZ_KERNEL_KERNEL_MATH_H
#define GANZ_KERNEL_KERNEL_MATH_H

#include "base/exact.h"
#include "kernel/kernel.h"

/* x * sigmoid(SLOPE x) and the normal distribution function Phi. For a = |x|, t = 1 / (1 + a * PHI_T):
 *   Phi(-a) = ((((PHI_5 * t + PHI_4) * t + PHI_3) * t + PHI_2) * t + PHI_1) * t * e^(a * a * -0.5)
 * after Hastings (Abramowitz and Stegun, 26.2.17), error under 7.5e-8 before rounding. */
#define SWISH_SLOPE 1.0f
#define GELU_SLOPE 1.702f
#define PHI_T 0.2316419f
#define PHI_1 0.127414796f
#define PHI_2 (-0.142248368f)
#define PHI_3 0.710706871f
#define PHI_4 (-0.726576013f)
#define PHI_5 0.530702714f

/* low and high are whole numbers, so clamping before rounding is clamping after it. */
GANZ_HD int32_t code_of(float y, float low, float high)
{
    y = y > low ? y : low;
    y = y < high ? y : high;
    return ganz_round_even(y);
}

GANZ_HD int8_t column_code(float x, const ganz_columns *columns, int i, int p)
{
    const float scaled = x * columns->inv[i];
    return (int8_t)code_of(scaled + columns->zero[i], -(float)p, (float)p);
}

/* e^88 is the largest that exp gives, so x far below gives a tiny number and not -infinity / infinity. */
GANZ_HD float swish_of(float x, float slope) { return x / (1.0f + ganz_exact_exp(x * -slope)); }

/* The state of a recurrent unit: s was + (1 - s) value, s the sigmoid of its gate. */
GANZ_HD float recur_of(float value, float gate, float was)
{
    const float keep = 1.0f / (1.0f + ganz_exact_exp(-gate));
    return keep * was + (1.0f - keep) * value;
}

/* Phi(-|x|). */
GANZ_HD float tail_of(float x)
{
    const float size = x < 0.0f ? -x : x, t = 1.0f / (1.0f + size * PHI_T);
    float q = PHI_5;
    q = q * t + PHI_4;
    q = q * t + PHI_3;
    q = q * t + PHI_2;
    q = q * t + PHI_1;
    return (q * t) * ganz_exact_exp((size * size) * -0.5f);
}

GANZ_HD float gelu_of(float x)
{
    const float part = x * tail_of(x);
    return x < 0.0f ? part : x - part;
}

GANZ_HD float activation_of(ganz_activation activation, float x)
{
    switch (activation) {
    case GANZ_ACTIVATION_RELU: return x > 0.0f ? x : 0.0f;
    case GANZ_ACTIVATION_SWISH: return swish_of(x, SWISH_SLOPE);
    case GANZ_ACTIVATION_GELU: return gelu_of(x);
    case GANZ_ACTIVATION_GELU_SIGMOID: return swish_of(x, GELU_SLOPE);
    default: return x;
    }
}

GANZ_HD float join_lanes(const float s[8]) { return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])); }

/* Puts (x, index) into the best `count` so far, before which nothing equal may be displaced. */
GANZ_HD void top_insert(float *values, int32_t *indices, int count, float x, int32_t index)
{
    int at = count;
    for (; at > 0 && x > values[at - 1]; at--) {
        values[at] = values[at - 1];
        indices[at] = indices[at - 1];
    }
    values[at] = x;
    indices[at] = index;
}

/* One number of an embedding row; the vector versions end with it. */
GANZ_HD float embed_one(const ganz_embed_row *from, int i)
{
    float v = ((float)from->codes[i] * from->scale) * from->root;
    if (from->first) v = v + from->first[i];
    if (from->second) v = v + from->second[i];
    return v;
}

/* One element through an epilogue; the vector versions end with it. */
GANZ_HD void epilogue_one(const ganz_epilogue *e, int32_t sum, size_t row, size_t col)
{
    if (e->sums) e->sums[row * e->sums_stride + col] = sum;
    if (!e->out && !e->codes) return;
    float y = (float)sum * (e->scales ? e->scales[col] : e->scale);
    if (e->bias) y = y + e->bias[col];
    y = activation_of(e->activation, y);
    if (e->add) y = e->add[row * e->add_stride + col] + y;
    if (e->out) e->out[row * e->out_stride + col] = y;
    if (e->codes) e->codes[row * e->codes_stride + col] = (int8_t)code_of(y * e->inv, -(float)e->p, (float)e->p);
}

#endif
