/* The loops around the tiles: rows in blocks that stay in the second cache, a panel of weights at a time in
 * the first, and the epilogue while the sums are there too. */
#include <string.h>

#include "kernel/kernel.h"

enum {
    SUMS = 4096,     /* int32 of a block's sums that wait for the epilogue: half the first cache */
    STRIP_MAX = 256, /* columns, when there are few rows */
    ROW_PAD = 64,    /* keeps rows of 2^n bytes out of the same cache set */
    STREAM = 2 << 20 /* bytes of a result that do not stay in the second cache anyway */
};

/* Room for a row of input bytes, or of words. */
static size_t row_bytes(const ganz_gemm_isa *isa, int k, bool words)
{
    return ganz_round_up((size_t)k, (size_t)isa->k_step) * (words ? 2 : 1) + ROW_PAD;
}

static size_t input_bytes(const ganz_gemm_isa *isa, int k)
{
    return ganz_round_up((size_t)isa->m_block * row_bytes(isa, k, isa->route[0].words), GANZ_ALIGN);
}

/* Columns whose sums are held at once: whole panels, at least one. */
static int strip_columns(const ganz_gemm_isa *isa, int rows)
{
    const int fit = SUMS / rows < STRIP_MAX ? SUMS / rows : STRIP_MAX;
    return fit < isa->nr ? isa->nr : fit / isa->nr * isa->nr;
}

static size_t sums_bytes(const ganz_gemm_isa *isa)
{
    const size_t most = (size_t)isa->m_block * (size_t)isa->nr;
    return ganz_round_up((most > SUMS ? most : SUMS) * sizeof(int32_t), GANZ_ALIGN);
}

/* Input rows, sums, and the plain weights of a block of depth of a panel. */
size_t ganz_gemm_scratch(const ganz_kernel *kernel, int k)
{
    const ganz_gemm_isa *const isa = &kernel->gemm;
    const size_t depth = ganz_round_up((size_t)k, (size_t)isa->k_step), block = (size_t)isa->k_block;
    const size_t own = input_bytes(isa, k) + sums_bytes(isa) + (depth < block ? depth : block) * (size_t)isa->nr;
    const size_t product = isa->many ? isa->many->scratch(k) : 0;
    return own > product ? own : product;
}

static void shift_row(const uint8_t *restrict from, int k, uint8_t shift, uint8_t *restrict to)
{
    for (int i = 0; i < k; i++) to[i] = (uint8_t)(from[i] + shift);
}

static void widen_row(const uint8_t *restrict from, int k, bool is_unsigned, int16_t *restrict to)
{
    if (is_unsigned)
        for (int i = 0; i < k; i++) to[i] = from[i];
    else
        for (int i = 0; i < k; i++) to[i] = (int8_t)from[i];
}

/* Input codes of some rows as a tile reads them. */
typedef struct input_rows {
    const uint8_t *a;
    size_t lda;
    int rows;
} input_rows;

/* Where the sums of a panel go, and room for its weights made plain. */
typedef struct strip_sums {
    int32_t *sums;
    size_t stride;
    int8_t *plain;
} strip_sums;

/* Copies input codes for a tile: shifted or widened, with zeros up to the stored depth. */
static void prepare_rows(const ganz_packed *w, input_rows x, uint8_t *out, size_t stride)
{
    const size_t size = w->route.words ? 2 : 1, used = (size_t)w->k * size, all = (size_t)w->k_stored * size;
    for (int r = 0; r < x.rows; r++) {
        const uint8_t *const from = x.a + (size_t)r * x.lda;
        uint8_t *const to = out + (size_t)r * stride;
        if (w->route.words) widen_row(from, w->k, w->is_unsigned, (int16_t *)(void *)to);
        else shift_row(from, w->k, (uint8_t)w->shift, to);
        if (used < all) memset(to + used, 0, all - used);
    }
}

/* The weights outside the panel: only of routes with unsigned input bytes. */
static void apply_fixes(const ganz_packed *w, int panel, input_rows x, int32_t *sums, size_t stride)
{
    const ganz_fix *const end = w->fix + w->fix_at[panel + 1];
    for (const ganz_fix *fix = w->fix + w->fix_at[panel]; fix < end; fix++) {
        sums[fix->col] += fix->rest * x.a[fix->k];
        for (size_t r = 1; r < (size_t)x.rows; r++) sums[r * stride + fix->col] += fix->rest * x.a[r * x.lda + fix->k];
    }
}

/* Plain weights of two units of nibbles and more. */
static void widen_nibbles(const uint8_t *restrict from, size_t bytes, size_t unit, int8_t *restrict to)
{
    for (size_t at = 0; at < bytes; at += unit, to += 2 * unit)
        for (size_t i = 0; i < unit; i++) {
            to[i] = (int8_t)((from[at + i] & 15) - GANZ_NIBBLE_ZERO);
            to[unit + i] = (int8_t)((from[at + i] >> 4) - GANZ_NIBBLE_ZERO);
        }
}

/* A block of depth, times weights that lie two in a byte. Few rows read them as they are; for more of them they are
 * made plain once. `plain`: room for that. */
static void multiply_nibbles(const ganz_gemm_isa *isa, const ganz_packed *w, ganz_tile_args *t, int8_t *plain)
{
    const size_t bytes = (size_t)t->k * (size_t)isa->nr / 2;
    const int8_t *const from = t->b;
    if (isa->nibbles && t->rows <= isa->nibble_rows) isa->nibbles(t);
    else {
        widen_nibbles((const uint8_t *)from, bytes, (size_t)(isa->nr * isa->kr), plain);
        t->b = plain;
        w->route.tile(t);
    }
    t->b = from + bytes;
}

/* Sums of some rows and one panel. */
static void multiply_panel(const ganz_gemm_isa *isa, const ganz_packed *w, int panel, input_rows x, strip_sums to)
{
    const int8_t *const codes = w->codes + (size_t)panel * (size_t)isa->nr * (size_t)w->k_stored / (w->nibbles ? 2 : 1);
    const int32_t *const base = w->base + (size_t)panel * (size_t)isa->nr;
    ganz_tile_args t = {
        .a = x.a, .lda = x.lda, .rows = x.rows, .b = codes, .start = base, .sums = to.sums, .stride = to.stride};
    for (int left = w->k_stored; left > 0; left -= isa->k_block) {
        t.k = left < isa->k_block ? left : isa->k_block;
        if (w->nibbles) {
            multiply_nibbles(isa, w, &t, to.plain);
        } else {
            w->route.tile(&t);
            t.b += (size_t)t.k * (size_t)isa->nr;
        }
        t.a += w->route.words ? 2 * t.k : t.k;
        t.start = to.sums;
        t.start_stride = to.stride;
    }
    if (!w->nibbles) apply_fixes(w, panel, x, to.sums, to.stride);
}

/* Lines of a large result are scattered over its rows: fetching each before it is overwritten takes a tenth of the
 * time. */
static bool streams(const ganz_epilogue *e, int rows, int n)
{
    return e->out && !e->add && (size_t)rows * (size_t)n >= STREAM / sizeof(float) && (uintptr_t)e->out % 32 == 0 &&
           e->out_stride % 8 == 0;
}

static void gemm_tiles(const ganz_kernel *kernel, const ganz_gemm_call *c, int col, int col_end, void *scratch)
{
    const ganz_gemm_isa *const isa = &kernel->gemm;
    const ganz_packed *const w = c->w;
    uint8_t *const input = scratch;
    int32_t *const sums = (int32_t *)(void *)(input + input_bytes(isa, w->k));
    int8_t *const plain = (int8_t *)(void *)((char *)(void *)sums + sums_bytes(isa));
    const bool direct = w->shift == 0 && !w->route.words && w->k == w->k_stored;
    const size_t stride_in = direct ? c->lda : row_bytes(isa, w->k, w->route.words);
    for (int row = 0; row < c->rows; row += isa->m_block) {
        const int m = c->rows - row < isa->m_block ? c->rows - row : isa->m_block;
        const int strip = strip_columns(isa, m);
        const input_rows from = {(const uint8_t *)c->a + (size_t)row * c->lda, c->lda, m};
        if (!direct) prepare_rows(w, from, input, stride_in);
        const input_rows x = {direct ? from.a : input, stride_in, m};
        for (int at = col; at < col_end; at += strip) {
            const int end = col_end - at < strip ? col_end : at + strip;
            for (int panel = at; panel < end; panel += isa->nr)
                multiply_panel(isa, w, panel / isa->nr, x, (strip_sums){sums + (panel - at), (size_t)strip, plain});
            kernel->rows.epilogue(c->e, sums, (size_t)strip, (ganz_block){row, m, at, end - at});
        }
    }
}

void ganz_gemm(const ganz_kernel *kernel, const ganz_gemm_call *c, int col, int col_end, void *scratch)
{
    const ganz_gemm_isa *const isa = &kernel->gemm;
    GANZ_ASSERT(col % isa->step == 0 && (col_end % isa->step == 0 || col_end == c->w->n));
    ganz_epilogue finish = *c->e;
    finish.stream = streams(c->e, c->rows, c->w->n);
    ganz_gemm_call call = *c;
    call.e = &finish;
    const int least = !isa->many ? 0 : c->w->nibbles ? isa->many->nibble_rows : isa->many->rows;
    const bool many = isa->many && !c->w->zeros && c->rows >= least; /* it shifts nothing and reads no base */
    if (many) isa->many->run(kernel, &call, col, col_end, scratch);
    else gemm_tiles(kernel, &call, col, col_end, scratch);
    if (finish.stream && isa->leave) isa->leave();
}
