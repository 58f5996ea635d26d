/* Products of floats rounded to bfloat16: the definition, in the order in which matrix units add. */
#include <math.h>
#include <string.h>

#include "kernel/kernel_isa.h"

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Numbers too small for a full mantissa are zeros, before and after each operation. */
static float flushed(float x)
{
    const uint32_t bits = bits_of(x);
    return (bits & 0x7F800000u) ? x : (bits >> 31 ? -0.0f : 0.0f);
}

static float number(const ganz_bf16_side *s, int row, int depth)
{
    const size_t i = (size_t)row, k = (size_t)depth;
    return ganz_bf16_round(s->along ? s->data[i * s->ld + k] : s->data[k * s->ld + i]);
}

/* a * b + sum, rounded once. What is too small for a full mantissa only before it is rounded to the coarser steps that
 * numbers have below is too small. */
static float multiply_add(float a, float b, float sum)
{
    const float least = 0x1p-126f, up = 0x1p24f, y = fmaf(a, b, sum);
    if (fabsf(y) != least) return flushed(y);
    const bool a_is_small = fabsf(a) < 1; /* one of them is, and nothing overflows */
    const float finer = a_is_small ? fmaf(a * up, b, sum * up) : fmaf(a, b * up, sum * up);
    return fabsf(finer) < least * up ? copysignf(0, y) : y;
}

/* The even and the odd of a group are added up on their own; what is beyond the depth is 0. */
static float sum_of(const ganz_bf16_call *c, int row, int col)
{
    float sum = 0;
    for (int group = 0; group < c->k; group += GANZ_BF16_GROUP) {
        float part[2] = {0, 0};
        for (int i = 0; i < GANZ_BF16_GROUP; i++) {
            const int at = group + i;
            const float a = at < c->k ? number(&c->a, row, at) : 0, b = at < c->k ? number(&c->b, col, at) : 0;
            part[i & 1] = multiply_add(a, b, part[i & 1]);
        }
        sum = flushed(sum + flushed(part[0] + part[1]));
    }
    return sum;
}

static size_t copy_bytes(const ganz_bf16_call *c)
{
    (void)c;
    return 0;
}

static void product(const ganz_bf16_call *c, const ganz_block *part, void *scratch)
{
    (void)scratch;
    for (int i = part->row; i < part->row + part->rows; i++)
        for (int j = part->col; j < part->col + part->cols; j++) {
            float *const to = c->c + (size_t)i * c->ldc + (size_t)j;
            const float y = c->alpha * sum_of(c, i, j);
            *to = c->add ? *to + y : y;
        }
}

float ganz_bf16_round(float x)
{
    const uint32_t bits = bits_of(flushed(x));
    uint32_t rounded = bits + 0x7FFF + (bits >> 16 & 1);
    if (x != x) rounded = bits | 0x400000u; /* not a number stays none */
    rounded &= 0xFFFF0000u;
    memcpy(&x, &rounded, sizeof x);
    return x;
}

void ganz_kernel_init_bf16_scalar(ganz_kernel *kernel)
{
    kernel->bf16 = (ganz_bf16){.copy_bytes = copy_bytes, .product = product};
}
