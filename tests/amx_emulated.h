/* The AMX instructions of i8_amx.c and bf16_amx.c in plain C, so that its loops are tested on every processor. A
 * register that is used before it was configured or loaded is a failure. */
#ifndef GANZ_TESTS_AMX_EMULATED_H
#define GANZ_TESTS_AMX_EMULATED_H

#include <simde/x86/avx2.h>
#include <simde/x86/avx512.h> /* brings the compiler's tiles */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct {
    unsigned char bytes[16][64];
    int rows, columns; /* 0: not configured */
    int loaded;
} amx_tile[8];

static inline void amx_need(int condition)
{
    if (!condition) abort();
}

static inline void amx_loadconfig(const void *config)
{
    const unsigned char *const c = config;
    amx_need(c[0] == 1);
    for (int i = 0; i < 8; i++) {
        uint16_t columns;
        memcpy(&columns, c + 16 + 2 * i, 2);
        amx_tile[i].columns = columns;
        amx_tile[i].rows = c[48 + i];
        amx_tile[i].loaded = 0;
        amx_need(columns <= 64 && c[48 + i] <= 16);
    }
}

static inline void amx_release(void) { memset(amx_tile, 0, sizeof amx_tile); }

static inline void amx_loadd(int t, const void *base, size_t stride)
{
    amx_need(amx_tile[t].rows);
    for (int r = 0; r < amx_tile[t].rows; r++)
        memcpy(amx_tile[t].bytes[r], (const char *)base + (size_t)r * stride, (size_t)amx_tile[t].columns);
    amx_tile[t].loaded = 1;
}

static inline void amx_stored(int t, void *base, size_t stride)
{
    amx_need(amx_tile[t].rows && amx_tile[t].loaded);
    for (int r = 0; r < amx_tile[t].rows; r++)
        memcpy((char *)base + (size_t)r * stride, amx_tile[t].bytes[r], (size_t)amx_tile[t].columns);
}

static inline void amx_zero(int t)
{
    amx_need(amx_tile[t].rows);
    memset(amx_tile[t].bytes, 0, sizeof amx_tile[t].bytes);
    amx_tile[t].loaded = 1;
}

/* a (rows, 64), signed or not, times signed b, quads of depth by row: b[k / 4][column][4]. */
static inline void amx_multiply(int c, int a, int b, int is_signed)
{
    amx_need(amx_tile[a].loaded && amx_tile[b].loaded && amx_tile[c].loaded);
    for (int r = 0; r < amx_tile[c].rows; r++)
        for (int col = 0; col < amx_tile[c].columns / 4; col++) {
            int32_t sum;
            memcpy(&sum, &amx_tile[c].bytes[r][4 * col], 4);
            for (int k = 0; k < amx_tile[a].columns; k++)
                sum += (is_signed ? (int8_t)amx_tile[a].bytes[r][k] : amx_tile[a].bytes[r][k]) *
                       (int8_t)amx_tile[b].bytes[k / 4][4 * col + k % 4];
            memcpy(&amx_tile[c].bytes[r][4 * col], &sum, 4);
        }
}

static inline void amx_dpbusd(int c, int a, int b) { amx_multiply(c, a, b, 0); }
static inline void amx_dpbssd(int c, int a, int b) { amx_multiply(c, a, b, 1); }

static inline float amx_bf16(const unsigned char *at)
{
    uint16_t half;
    memcpy(&half, at, 2);
    const uint32_t bits = (half & 0x7F80) ? (uint32_t)half << 16 : (uint32_t)(half & 0x8000) << 16;
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static inline float amx_flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

/* a * b + c, rounded as if exponents had no end, and then 0 where it is too small: 30 powers of two higher where that
 * makes a difference. */
static inline float amx_multiply_add(float a, float b, float c)
{
    const float y = fmaf(a, b, c), up = 0x1p30f;
    if (fabsf(y) > 0x1p-120f || !(fabsf(c) < 0x1p-90f)) return amx_flush(y);
    const float finer = fabsf(a) < fabsf(b) ? fmaf(a * up, b, c * up) : fmaf(a, b * up, c * up);
    return fabsf(finer) < 0x1p-126f * up ? copysignf(0, y) : y;
}

/* a (rows, 32) times b, pairs of depth by row: b[k / 2][column][2]. */
static inline void amx_dpbf16ps(int c, int a, int b)
{
    amx_need(amx_tile[a].loaded && amx_tile[b].loaded && amx_tile[c].loaded);
    for (int r = 0; r < amx_tile[c].rows; r++)
        for (int col = 0; col < amx_tile[c].columns / 4; col++) {
            float sum, pair[2] = {0, 0};
            memcpy(&sum, &amx_tile[c].bytes[r][4 * col], 4);
            for (int k = 0; k < amx_tile[a].columns / 4; k++)
                for (int i = 0; i < 2; i++)
                    pair[i] = amx_multiply_add(amx_bf16(&amx_tile[a].bytes[r][4 * k + 2 * i]),
                                               amx_bf16(&amx_tile[b].bytes[k][4 * col + 2 * i]), pair[i]);
            sum = amx_flush(sum + amx_flush(pair[0] + pair[1]));
            memcpy(&amx_tile[c].bytes[r][4 * col], &sum, 4);
        }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_loadd
#undef _tile_stored
#undef _tile_zero
#undef _tile_dpbusd
#undef _tile_dpbssd
#undef _tile_dpbf16ps
#define _tile_loadconfig amx_loadconfig
#define _tile_release amx_release
#define _tile_loadd amx_loadd
#define _tile_stored amx_stored
#define _tile_zero amx_zero
#define _tile_dpbusd amx_dpbusd
#define _tile_dpbssd amx_dpbssd
#define _tile_dpbf16ps amx_dpbf16ps

#endif
