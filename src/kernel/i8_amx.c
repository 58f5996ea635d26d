/* Integer products with AMX: 16 x 16 results of 64 products each in one instruction, in the panels of
 * i8_avx512_vnni.c. A single row also takes a block of 16: the weights cannot be read faster than that.
 *
 * Registers: 0 to 3 sums, 2 x 2 blocks of 16 rows by 16 columns; 4, 5 inputs; 6, 7 weights. */
#ifndef GANZ_SIMDE /* there the test brings instructions of its own */
#include <immintrin.h>
#endif

#include "kernel/kernel_isa.h"

enum { NR = 64, BLOCK = 16, DEPTH = 64 };

/* Palette 1: bytes a row and rows of each tile register. */
typedef struct tile_shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} tile_shapes;

/* In memory for good: gcc's intrinsic does not say that it reads all of this, so a local one would never be written. */
static const tile_shapes shapes = {
    .palette = 1,
    .bytes = {64, 64, 64, 64, 64, 64, 64, 64},
    .rows = {BLOCK, BLOCK, BLOCK, BLOCK, BLOCK, BLOCK, BLOCK, BLOCK},
};

static void enter(void) { _tile_loadconfig(&shapes); }

static void leave(void) { _tile_release(); }

/* 16 or 32 rows from `row` on, two blocks of columns at a time. */
static void block_rows(const ganz_tile_args *t, int row, bool two)
{
    const uint8_t *const a = t->a + (size_t)row * t->lda;
    const size_t start_bytes = t->start_stride * sizeof(int32_t), bytes = t->stride * sizeof(int32_t);
    for (int col = 0; col < NR; col += 2 * BLOCK) {
        const int32_t *const start = t->start + (size_t)row * t->start_stride + col;
        int32_t *const sums = t->sums + (size_t)row * t->stride + col;
        _tile_loadd(0, start, start_bytes);
        _tile_loadd(1, start + BLOCK, start_bytes);
        if (two) {
            _tile_loadd(2, start + BLOCK * t->start_stride, start_bytes);
            _tile_loadd(3, start + BLOCK * t->start_stride + BLOCK, start_bytes);
        }
        for (int i = 0; i < t->k; i += DEPTH) {
            const int8_t *const b = t->b + (size_t)i * NR + (size_t)col * 4;
            _tile_loadd(6, b, NR * 4);
            _tile_loadd(7, b + BLOCK * 4, NR * 4);
            _tile_loadd(4, a + i, t->lda);
            _tile_dpbusd(0, 4, 6);
            _tile_dpbusd(1, 4, 7);
            if (two) {
                _tile_loadd(5, a + BLOCK * t->lda + i, t->lda);
                _tile_dpbusd(2, 5, 6);
                _tile_dpbusd(3, 5, 7);
            }
        }
        _tile_stored(0, sums, bytes);
        _tile_stored(1, sums + BLOCK, bytes);
        if (two) {
            _tile_stored(2, sums + BLOCK * t->stride, bytes);
            _tile_stored(3, sums + BLOCK * t->stride + BLOCK, bytes);
        }
    }
}

static void tile(const ganz_tile_args *t)
{
    int row = 0;
    for (; row + 2 * BLOCK <= t->rows; row += 2 * BLOCK) block_rows(t, row, true);
    if (row < t->rows) block_rows(t, row, false);
}

void ganz_kernel_init_amx(ganz_kernel *kernel)
{
    kernel->gemm.name = "amx";
    kernel->gemm.row_step = BLOCK;
    kernel->gemm.m_block = 64;
    kernel->gemm.enter = enter;
    kernel->gemm.leave = leave;
    kernel->gemm.nibbles = NULL; /* tiles are loaded from plain weights */
    kernel->gemm.route[0] = (ganz_route){.name = "amx", .tile = tile, .cost = 1.0f};
}
