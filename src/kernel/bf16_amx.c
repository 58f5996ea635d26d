/* Products of floats rounded to bfloat16, with AMX: 16 x 16 results of 32 products each in one instruction.
 *
 * Both sides are copied first, as bfloat16, to tiles in the order in which they are read: of the left side 16 rows by
 * 32 of depth, of the right one 16 pairs of depth by 16 columns. A block of 2 x 2 tiles is multiplied through the depth
 * that is copied at a time; where the product is deeper, its sums wait in scratch memory meanwhile, and going through
 * memory changes no bit of them.
 *
 * Registers: 0 to 3 sums; 4, 5 left; 6, 7 right. */
#ifdef GANZ_SIMDE /* the test brings what is missing there */
#include <simde/x86/avx2.h>
#include <simde/x86/avx512.h>
#else
#include <immintrin.h>
#endif

#include "kernel/kernel_isa.h"
#include "kernel/tiles_amx.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    SIDE = 16,              /* rows and columns of a tile of sums */
    STEP = GANZ_BF16_GROUP, /* depth of a tile */
    TILE = SIDE * STEP,     /* numbers of a tile of either side */
    LINE = 64,              /* bytes of a row of a tile */
    BLOCK = 2 * SIDE,       /* rows and columns of a block */
    ROWS = 256,             /* that are copied at a time: with the columns and their sums they fit the second cache */
    COLS = 512,
    DEPTH = 512
};

typedef struct work {
    uint16_t left[ROWS * DEPTH], right[COLS * DEPTH];
    float sums[ROWS * COLS]; /* block by block */
} work;

typedef struct range {
    int begin, count;
} range;

static inline int smaller(int a, int b) { return a < b ? a : b; }
static inline int rounded_up(int n, int to) { return (n + to - 1) / to * to; }

/* ---- copying ------------------------------------------------------------------------------------ */

static inline __mmask16 first(int n) { return (__mmask16)(n >= SIDE ? 0xFFFFu : n <= 0 ? 0u : (1u << n) - 1); }

/* What a tile is copied from: up to 16 rows by up to 32 of depth. */
typedef struct source {
    const float *data;
    size_t ld;
    int rows, depth;
} source;

/* Lines of 32 numbers along the depth, one for each row. */
INLINE void lines_along(const source *s, __m512i line[SIDE])
{
    const __mmask16 low = first(s->depth), high = first(s->depth - SIDE);
    const bool full = s->rows >= SIDE && s->depth >= STEP;
    UNROLL
    for (int i = 0; i < SIDE; i++) {
        const float *const row = s->data + (size_t)i * s->ld;
        __m512 a = _mm512_setzero_ps(), b = a;
        if (full) {
            a = _mm512_loadu_ps(row);
            b = _mm512_loadu_ps(row + SIDE);
            __builtin_prefetch(row + SIDE * s->ld);
            __builtin_prefetch(row + SIDE * s->ld + SIDE);
        } else if (i < s->rows) {
            a = _mm512_maskz_loadu_ps(low, row);
            if (high) b = _mm512_maskz_loadu_ps(high, row + SIDE);
        }
        line[i] = (__m512i)_mm512_cvtne2ps_pbh(b, a);
    }
}

/* Lines of 16 pairs, one for each two of depth, where neighbours in memory are those across. */
INLINE void lines_across(const source *s, __m512i line[SIDE])
{
    const __mmask16 all = first(s->rows);
    const __m512i pairs = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                                           21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const bool full = s->rows >= SIDE && s->depth >= STEP;
    UNROLL
    for (int i = 0; i < SIDE; i++) {
        const float *const row = s->data + (size_t)(2 * i) * s->ld;
        __m512 a = _mm512_setzero_ps(), b = a;
        if (full) {
            a = _mm512_loadu_ps(row);
            b = _mm512_loadu_ps(row + s->ld);
            __builtin_prefetch(row + STEP * s->ld);
            __builtin_prefetch(row + (STEP + 1) * s->ld);
        } else {
            if (2 * i < s->depth) a = _mm512_maskz_loadu_ps(all, row);
            if (2 * i + 1 < s->depth) b = _mm512_maskz_loadu_ps(all, row + s->ld);
        }
        line[i] = _mm512_permutexvar_epi16(pairs, (__m512i)_mm512_cvtne2ps_pbh(b, a));
    }
}

/* 16 lines of 16 pairs: rows become columns. */
INLINE void turn(__m512i x[SIDE])
{
    __m512i y[SIDE];
    UNROLL
    for (int i = 0; i < SIDE; i += 2) {
        y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    }
    UNROLL
    for (int i = 0; i < SIDE; i += 4) {
        x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
        x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
        x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
        x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
    }
    UNROLL
    for (int i = 0; i < 4; i++) { /* quarters of 4 lines each: column 4 q + i of 16 lines */
        y[i] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0x88);
        y[i + 4] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0xDD);
        y[i + 8] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0x88);
        y[i + 12] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0xDD);
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        x[i] = _mm512_shuffle_i32x4(y[i], y[i + 8], 0x88);
        x[i + 4] = _mm512_shuffle_i32x4(y[i + 4], y[i + 12], 0x88);
        x[i + 8] = _mm512_shuffle_i32x4(y[i], y[i + 8], 0xDD);
        x[i + 12] = _mm512_shuffle_i32x4(y[i + 4], y[i + 12], 0xDD);
    }
}

INLINE void store_tile(uint16_t *to, const __m512i line[SIDE])
{
    UNROLL
    for (int i = 0; i < SIDE; i++) _mm512_store_si512((void *)(to + (size_t)i * STEP), line[i]);
}

INLINE void copy_tile(const source *s, bool along, bool turned, uint16_t *to)
{
    __m512i line[SIDE];
    if (along) lines_along(s, line);
    else lines_across(s, line);
    if (turned) turn(line);
    store_tile(to, line);
}

/* Panels of 16 rows, tiles of a panel one behind the other; all that is beyond the end is 0. The tiles are gone through
 * as the numbers lie in memory. */
INLINE void copy_panels(const ganz_bf16_side *from, range rows, range depth, bool along, bool turned, uint16_t *to)
{
    const int panels = rounded_up(rows.count, BLOCK) / SIDE, steps = rounded_up(depth.count, STEP) / STEP;
    const int inner = along ? steps : panels;
    for (int i = 0; i < panels * steps; i++) {
        const int panel = along ? i / inner : i % inner, step = along ? i % inner : i / inner;
        const int row = panel * SIDE, at = step * STEP;
        source s = {from->data, from->ld, rows.count - row, depth.count - at};
        if (s.rows > 0)
            s.data += along ? (size_t)(rows.begin + row) * s.ld + (size_t)(depth.begin + at)
                            : (size_t)(depth.begin + at) * s.ld + (size_t)(rows.begin + row);
        copy_tile(&s, along, turned, to + (size_t)(panel * steps + step) * TILE);
    }
}

/* is_right: with lines for pairs of depth instead of rows. */
static void copy_side(const ganz_bf16_side *from, range rows, range depth, bool is_right, uint16_t *to)
{
    if (from->along && is_right) copy_panels(from, rows, depth, true, true, to);
    else if (from->along) copy_panels(from, rows, depth, true, false, to);
    else if (is_right) copy_panels(from, rows, depth, false, false, to);
    else copy_panels(from, rows, depth, false, true, to);
}

/* ---- multiplying -------------------------------------------------------------------------------- */

/* 32 x 32 sums through the depth that was copied; begin: they are zero before. */
static void multiply_block(const uint16_t *left, const uint16_t *right, int steps, bool begin, float *sums)
{
    const size_t stride = BLOCK * sizeof *sums, panel = (size_t)steps * TILE;
    if (begin) {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    } else {
        _tile_loadd(0, sums, stride);
        _tile_loadd(1, sums + SIDE, stride);
        _tile_loadd(2, sums + SIDE * BLOCK, stride);
        _tile_loadd(3, sums + SIDE * BLOCK + SIDE, stride);
    }
    _tile_loadd(4, left, LINE);
    _tile_loadd(6, right, LINE);
    _tile_loadd(7, right + panel, LINE);
    _tile_loadd(5, left + panel, LINE);
    for (int i = 1; i <= steps; i++) {
        const size_t next = (size_t)(i < steps ? i : 0) * TILE; /* the last loads are for nothing */
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(4, left + next, LINE);
        _tile_dpbf16ps(2, 5, 6);
        _tile_loadd(6, right + next, LINE);
        _tile_dpbf16ps(3, 5, 7);
        _tile_loadd(7, right + panel + next, LINE);
        _tile_loadd(5, left + panel + next, LINE);
    }
    _tile_stored(0, sums, stride);
    _tile_stored(1, sums + SIDE, stride);
    _tile_stored(2, sums + SIDE * BLOCK, stride);
    _tile_stored(3, sums + SIDE * BLOCK + SIDE, stride);
}

/* Sums of a block into the result. */
static void finish_block(const ganz_bf16_call *c, range rows, range cols, const float *sums)
{
    const __m512 alpha = _mm512_set1_ps(c->alpha);
    const __mmask16 mask[2] = {first(cols.count), first(cols.count - SIDE)};
    for (int r = 0; r < rows.count; r++)
        for (int half = 0; half < 2 && mask[half]; half++) {
            float *const to = c->c + (size_t)(rows.begin + r) * c->ldc + (size_t)(cols.begin + half * SIDE);
            __m512 y = _mm512_mul_ps(alpha, _mm512_loadu_ps(sums + r * BLOCK + half * SIDE));
            if (c->add) y = _mm512_add_ps(_mm512_maskz_loadu_ps(mask[half], to), y);
            _mm512_mask_storeu_ps(to, mask[half], y);
        }
}

/* Rows and columns that fit the work, for the depth that was copied. */
static void multiply_part(const ganz_bf16_call *c, range rows, range cols, range depth, const uint16_t *right, work *w)
{
    const int steps = rounded_up(depth.count, STEP) / STEP;
    const bool begin = depth.begin == 0, end = depth.begin + depth.count == c->k;
    const size_t panel = (size_t)steps * TILE;
    float *sums = w->sums;
    __asm__ volatile("" ::: "memory"); /* gcc's tile loads do not say that they read memory */
    for (int j = 0; j < cols.count; j += BLOCK)
        for (int i = 0; i < rows.count; i += BLOCK) {
            const range r = {rows.begin + i, smaller(rows.count - i, BLOCK)};
            const range q = {cols.begin + j, smaller(cols.count - j, BLOCK)};
            multiply_block(w->left + (size_t)(i / SIDE) * panel, right + (size_t)(j / SIDE) * panel, steps, begin,
                           sums);
            __asm__ volatile("" ::: "memory");
            if (end) finish_block(c, r, q, sums);
            if (!(begin && end)) sums += BLOCK * BLOCK;
        }
}

/* Where the copy of the right side has columns from `col` on, of a block of DEPTH: these lie one behind the other. */
static size_t copied_at(const ganz_bf16_call *c, int col, range depth)
{
    const size_t cols = (size_t)rounded_up(c->n, BLOCK), steps = (size_t)rounded_up(depth.count, STEP);
    return (size_t)depth.begin * cols + (size_t)col * steps;
}

static size_t copy_bytes(const ganz_bf16_call *c)
{
    size_t bytes;
    const size_t cols = ganz_round_up((size_t)c->n, BLOCK), depth = ganz_round_up((size_t)c->k, STEP);
    return ganz_mul_size(cols, depth * sizeof(uint16_t), &bytes) ? bytes : SIZE_MAX;
}

static void copy(const ganz_bf16_call *c, int col, int col_end, void *to)
{
    for (int at = 0; at < c->k; at += DEPTH) {
        const range depth = {at, smaller(c->k - at, DEPTH)};
        copy_side(&c->b, (range){col, col_end - col}, depth, true, (uint16_t *)to + copied_at(c, col, depth));
    }
}

/* The left side is copied anew for other columns only where it is deeper than what is copied at a time. */
static void multiply_rows(const ganz_bf16_call *c, range rows, range all, work *w)
{
    for (int col = 0; col < all.count; col += COLS)
        for (int at = 0; at < c->k; at += DEPTH) {
            const range cols = {all.begin + col, smaller(all.count - col, COLS)},
                        depth = {at, smaller(c->k - at, DEPTH)};
            const uint16_t *right = w->right;
            if (col == 0 || c->k > DEPTH) copy_side(&c->a, rows, depth, false, w->left);
            if (c->copied) right = (const uint16_t *)c->copied + copied_at(c, cols.begin, depth);
            else copy_side(&c->b, cols, depth, true, w->right);
            multiply_part(c, rows, cols, depth, right, w);
        }
}

static void product(const ganz_bf16_call *c, const ganz_block *part, void *scratch)
{
    _tile_loadconfig(&shapes);
    for (int row = 0; row < part->rows; row += ROWS) {
        const range rows = {part->row + row, smaller(part->rows - row, ROWS)};
        multiply_rows(c, rows, (range){part->col, part->cols}, scratch);
    }
    _tile_release();
}

void ganz_kernel_init_amx_bf16(ganz_kernel *kernel)
{
    kernel->bf16 = (ganz_bf16){.copy_bytes = copy_bytes, .copy = copy, .product = product, .scratch = sizeof(work)};
}
