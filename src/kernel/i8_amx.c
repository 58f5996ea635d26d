/* Integer products with AMX: 16 x 16 results of 64 products each in one instruction.
 *
 * Weights lie in panels of 16 columns, [k / 4][16][4], so that a tile of weights is 1 KB in one piece. Products of few
 * rows read the same panels with dpbusd. Of many rows, a strip of 32 columns of weights is multiplied with all blocks
 * of 32 rows: the strip stays near, and each tile that is loaded is used twice. While the tiles of a block multiply,
 * the processor's other units finish the sums of the block before, a row after each product; they also fetch the
 * weights of the next strip, or make them plain where two lie in a byte. Inputs are read where they lie, and as signed
 * bytes where they are signed, so nothing is shifted.
 *
 * Registers: 0 to 3 sums; 4, 5 inputs and 6, 7 weights of 2 x 2 blocks; 4 inputs and 5 to 7 weights of 1 x 4. */
#include <string.h>

#include "kernel/codes_avx512.h" /* brings the intrinsics; the test has tiles of its own */
#include "kernel/kernel_isa.h"
#include "kernel/tiles_amx.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    NR = 16,            /* columns of a panel */
    DEPTH = 64,         /* of a tile */
    TILE = 1024,        /* bytes */
    LINE = 64,          /* bytes of a row of a tile */
    FLAT = 16,          /* rows of a block of 1 x 4 tiles */
    TALL = 32,          /* rows of a block of 2 x 2, and its columns */
    WIDE = 64,          /* columns of a strip: of a flat block, or of two tall ones */
    PANELS = WIDE / NR, /* of a strip */
    SUMS = FLAT * WIDE, /* of a block */
    FEW = 4,            /* rows up to which dpbusd is faster, or as fast where weights come from far */
    NIBBLE_FEW = 8,     /* the same where two weights lie in a byte */
    FETCH = 8,          /* lines to fetch after a step, at most */
    MR = 8,             /* rows of a tile with dpbusd */
    CHAINS = 8,         /* sums for each of them */
    INPUTS = 1 << 20    /* bytes of input rows that the strips go over: half of the second cache */
};

/* Sums that wait for the epilogue. */
typedef struct waiting {
    const int32_t *sums;
    int stride;
    ganz_block block; /* no rows: none */
} waiting;

/* How sums are finished: the usual epilogues row by row between the products of the next block, others by a call. */
typedef enum finishing { BY_CALL, FLOATS, ADDED, CODES } finishing;

/* Rows of 32 columns on their way through the epilogue; pointers are those of the next row. */
typedef struct passing {
    int rows; /* left */
    const int32_t *sums;
    float *out;
    const float *add;
    int8_t *codes;
    size_t out_stride, add_stride, codes_stride;
    bool special; /* floats go past the caches, codes are those of ReLU: asked in each row, which costs less than a loop
                     more */
    __m512 scale[2], bias[2];
    limits limits;
} passing;

/* Weights of the next strip: to be fetched, or made plain. */
typedef struct feed {
    const uint8_t *from;
    int8_t *to; /* NULL: they are plain */
    int lines;  /* left */
    int each;   /* to take after a step of depth */
} feed;

/* Input rows and panels of weights of a block. */
typedef struct operands {
    const uint8_t *a; /* NULL: no block */
    size_t lda;
    const int8_t *b[4];
} operands;

/* A product under way. */
typedef struct product {
    const ganz_kernel *kernel;
    const ganz_packed *w;
    ganz_epilogue finish;
    finishing way;
    int steps;        /* of depth */
    int32_t *sums[2]; /* of the block at hand, and of the one before */
    int8_t *plain[2]; /* strips of weights made plain: the one at hand, and the next */
    uint8_t *rest;    /* rows of input that do not fill a block, with zeros */
    waiting waiting;
    feed feed;
    bool loaded; /* the first tiles of the tall block at hand */
} product;

/* ---- between the steps -------------------------------------------------------------------------- */

static void finish_block(product *p)
{
    const waiting *const w = &p->waiting;
    if (w->block.rows > 0) p->kernel->rows.epilogue(&p->finish, w->sums, (size_t)w->stride, w->block);
    p->waiting.block.rows = 0;
}

/* Inputs that are unsigned, attention weights, are few and short: the call serves them, and saves half of the loops. */
static finishing way_of(const ganz_epilogue *e, bool is_unsigned)
{
    if (is_unsigned || e->sums || !e->out == !e->codes) return BY_CALL;
    if (e->codes)
        return !e->add && (e->activation == GANZ_ACTIVATION_NONE || e->activation == GANZ_ACTIVATION_RELU) ? CODES
                                                                                                           : BY_CALL;
    if (e->activation != GANZ_ACTIVATION_NONE) return BY_CALL;
    return e->add ? ADDED : FLOATS;
}

/* Floats past the caches, or codes of ReLU. */
static bool is_special(const ganz_epilogue *e, finishing way)
{
    if (way == CODES) return e->activation == GANZ_ACTIVATION_RELU;
    return way == FLOATS && e->stream && (uintptr_t)e->out % LINE == 0 && e->out_stride % NR == 0;
}

/* The rows that wait, if they can pass between products: none wait for the call then. No bias is one of -0, which
 * changes no number. */
INLINE passing pass_rows(product *p)
{
    const ganz_epilogue *const e = &p->finish;
    const ganz_block b = p->waiting.block;
    const size_t row = (size_t)b.row, col = (size_t)b.col;
    passing s = {.rows = 0};
    if (p->way == BY_CALL || b.rows == 0 || b.cols != TALL || p->waiting.stride != TALL) return s;
    p->waiting.block.rows = 0;
    s.rows = b.rows;
    s.sums = p->waiting.sums;
    if (e->out) s.out = e->out + row * e->out_stride + col;
    if (e->add) s.add = e->add + row * e->add_stride + col;
    if (e->codes) s.codes = e->codes + row * e->codes_stride + col;
    s.out_stride = e->out_stride;
    s.add_stride = e->add_stride;
    s.codes_stride = e->codes_stride;
    for (size_t v = 0; v < 2; v++) {
        s.scale[v] = e->scales ? _mm512_loadu_ps(e->scales + col + NR * v) : _mm512_set1_ps(e->scale);
        s.bias[v] = e->bias ? _mm512_loadu_ps(e->bias + col + NR * v) : _mm512_set1_ps(-0.0f);
    }
    s.special = is_special(e, p->way);
    s.limits = limits_of(e->inv, -e->p, e->p);
    return s;
}

/* Sixteen columns; `way` is a constant. */
INLINE void pass_half(const passing *s, size_t v, finishing way)
{
    const __m512i sums = _mm512_loadu_si512((const void *)(s->sums + NR * v));
    __m512 y = _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums), s->scale[v]), s->bias[v]);
    if (way == CODES && s->special) y = _mm512_max_ps(y, _mm512_setzero_ps());
    if (way == ADDED) y = _mm512_add_ps(_mm512_loadu_ps(s->add + NR * v), y);
    if (way == FLOATS && s->special) _mm512_stream_ps(s->out + NR * v, y);
    else if (way != CODES) _mm512_storeu_ps(s->out + NR * v, y);
    else _mm_storeu_si128((void *)(s->codes + NR * v), codes16(y, s->limits));
}

INLINE void pass_row(passing *s, finishing way)
{
    if (way == BY_CALL || s->rows == 0) return;
    pass_half(s, 0, way);
    pass_half(s, 1, way);
    s->rows--;
    s->sums += TALL;
    if (way == ADDED) s->add += s->add_stride;
    if (way == CODES) s->codes += s->codes_stride;
    else s->out += s->out_stride;
}

/* Two lines of plain weights of a line where two lie in a byte. */
static void widen_line(const uint8_t *from, int8_t *to)
{
    const __m512i mask = _mm512_set1_epi8(15), zero = _mm512_set1_epi8(GANZ_NIBBLE_ZERO);
    const __m512i both = _mm512_loadu_si512((const void *)from);
    _mm512_storeu_si512((void *)to, _mm512_sub_epi8(_mm512_and_si512(both, mask), zero));
    _mm512_storeu_si512((void *)(to + LINE), _mm512_sub_epi8(_mm512_and_si512(_mm512_srli_epi16(both, 4), mask), zero));
}

/* Not inlined: it stands in the loop of each way to finish, and the call hides behind the products. */
static __attribute__((noinline)) void feed_lines(feed *f, int lines)
{
    if (lines > f->lines) lines = f->lines;
    f->lines -= lines;
    if (!f->to)
        for (; lines > 0; lines--, f->from += LINE) __builtin_prefetch(f->from, 0, 2);
    else
        for (; lines > 0; lines--, f->from += LINE, f->to += 2 * LINE) widen_line(f->from, f->to);
}

/* After each step of depth. The call of an epilogue goes in one piece: cut up, it costs more than it hides. */
static inline void between(product *p, int step)
{
    if (step == 0) finish_block(p);
    if (p->feed.lines > 0) feed_lines(&p->feed, p->feed.each);
}

/* ---- blocks ------------------------------------------------------------------------------------- */

/* The tiles that a step reads. */
typedef struct step_at {
    const uint8_t *a0, *a1;
    const int8_t *b0, *b1;
    size_t lda;
} step_at;

INLINE step_at first_step(const operands *o)
{
    const step_at at = {o->a, o->a + FLAT * o->lda, o->b[0], o->b[1], o->lda};
    return at;
}

INLINE void next_step(step_at *at)
{
    at->a0 += DEPTH;
    at->a1 += DEPTH;
    at->b0 += TILE;
    at->b1 += TILE;
}

/* Each register is loaded for the next step, `at`, as soon as this one has read it: a load takes as long as three
 * products. */
#define TALL_STEP(multiply)        \
    multiply(0, 4, 6);             \
    pass_row(&s, way);             \
    multiply(1, 4, 7);             \
    _tile_loadd(4, at.a0, at.lda); \
    pass_row(&s, way);             \
    multiply(2, 5, 6);             \
    _tile_loadd(6, at.b0, LINE);   \
    pass_row(&s, way);             \
    multiply(3, 5, 7);             \
    _tile_loadd(7, at.b1, LINE);   \
    _tile_loadd(5, at.a1, at.lda); \
    pass_row(&s, way);             \
    between(p, i)

/* All steps of a block of 32 rows by 32 columns, and a row of the block before after each product. At the end the
 * first tiles of the next block are loaded. */
INLINE void tall_steps(product *p, const operands *o, const operands *next, finishing way)
{
    const int steps = p->steps;
    step_at at = first_step(o);
    passing s = pass_rows(p);
    if (!p->loaded) {
        _tile_loadd(4, at.a0, at.lda);
        _tile_loadd(6, at.b0, LINE);
        _tile_loadd(7, at.b1, LINE);
        _tile_loadd(5, at.a1, at.lda);
    }
    if (way == BY_CALL && p->w->is_unsigned)
        for (int i = 0; i < steps; i++) {
            if (i + 1 < steps) next_step(&at);
            else at = first_step(next);
            TALL_STEP(_tile_dpbusd);
        }
    else
        for (int i = 0; i < steps; i++) {
            if (i + 1 < steps) next_step(&at);
            else at = first_step(next);
            TALL_STEP(_tile_dpbssd);
        }
    while (s.rows > 0) pass_row(&s, way); /* depth was short */
}

/* next: the block that follows, or one without input. */
static void tall_block(product *p, const operands *o, const operands *next, int32_t *sums)
{
    const size_t stride = TALL * sizeof *sums;
    const operands *const then = next->a ? next : o; /* loads that nothing reads, if there is none */
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    switch (p->way) {
    case BY_CALL: tall_steps(p, o, then, BY_CALL); break;
    case FLOATS: tall_steps(p, o, then, FLOATS); break;
    case ADDED: tall_steps(p, o, then, ADDED); break;
    case CODES: tall_steps(p, o, then, CODES); break;
    }
    _tile_stored(0, sums, stride);
    _tile_stored(1, sums + NR, stride);
    _tile_stored(2, sums + FLAT * TALL, stride);
    _tile_stored(3, sums + FLAT * TALL + NR, stride);
    p->loaded = next->a != NULL;
}

#define FLAT_STEP(multiply)                      \
    _tile_loadd(4, a + (size_t)i * DEPTH, lda);  \
    _tile_loadd(5, b0 + (size_t)i * TILE, LINE); \
    multiply(0, 4, 5);                           \
    _tile_loadd(6, b1 + (size_t)i * TILE, LINE); \
    multiply(1, 4, 6);                           \
    _tile_loadd(7, b2 + (size_t)i * TILE, LINE); \
    multiply(2, 4, 7);                           \
    _tile_loadd(5, b3 + (size_t)i * TILE, LINE); \
    multiply(3, 4, 5);                           \
    between(p, i)

/* 16 rows by 64 columns. */
static void flat_block(product *p, const operands *o, int32_t *sums)
{
    const size_t lda = o->lda, stride = WIDE * sizeof *sums;
    const uint8_t *const a = o->a;
    const int8_t *const b0 = o->b[0], *const b1 = o->b[1], *const b2 = o->b[2], *const b3 = o->b[3];
    const int steps = p->steps;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (p->w->is_unsigned)
        for (int i = 0; i < steps; i++) {
            FLAT_STEP(_tile_dpbusd);
        }
    else
        for (int i = 0; i < steps; i++) {
            FLAT_STEP(_tile_dpbssd);
        }
    _tile_stored(0, sums, stride);
    _tile_stored(1, sums + NR, stride);
    _tile_stored(2, sums + 2 * NR, stride);
    _tile_stored(3, sums + 3 * NR, stride);
}

/* The sums of a block just multiplied wait for the epilogue; those of the block before have had it. */
static void keep_waiting(product *p, ganz_block block, int stride)
{
    int32_t *const sums = p->sums[0];
    p->waiting = (waiting){.sums = sums, .stride = stride, .block = block};
    p->sums[0] = p->sums[1];
    p->sums[1] = sums;
}

/* ---- strips ------------------------------------------------------------------------------------- */

/* Rows [row, row + rows) of the input and columns [col, col_end). */
typedef struct piece {
    const ganz_gemm_call *c;
    int row, rows, col, col_end;
    int rest; /* rows at the end that are copied: they do not fill a block, or depth does not fill tiles */
} piece;

static size_t rest_stride(int k_stored) { return (size_t)k_stored + LINE; } /* out of step with the cache's sets */

/* Panels of codes as they are stored. */
static size_t panel_bytes(const ganz_packed *w) { return (size_t)w->k_stored * NR / (w->nibbles ? 2 : 1); }

/* Panels of the strip that begins at a column. */
static int panels_at(const ganz_packed *w, int col)
{
    const int left = (w->n - col + NR - 1) / NR;
    return left < PANELS ? left : PANELS;
}

static feed feed_of(const product *p, int col, int steps)
{
    const int lines = (int)((size_t)panels_at(p->w, col) * (panel_bytes(p->w) / LINE));
    if (!p->w->nibbles && lines > FETCH * steps) return (feed){.lines = 0}; /* the processor's own guess does better */
    return (feed){.from = (const uint8_t *)p->w->codes + (size_t)(col / NR) * panel_bytes(p->w),
                  .to = p->w->nibbles ? p->plain[1] : NULL,
                  .lines = lines,
                  .each = (lines + steps - 1) / steps};
}

/* Where the panels of the strip at hand are to be read; those beyond the last are the last again. */
static void set_panels(const product *p, int col, operands *o)
{
    const size_t plain = (size_t)p->w->k_stored * NR;
    const int8_t *const first = p->w->nibbles ? p->plain[0] : p->w->codes + (size_t)(col / NR) * plain;
    const int panels = panels_at(p->w, col);
    for (int i = 0; i < PANELS; i++) o->b[i] = first + (size_t)(i < panels ? i : panels - 1) * plain;
}

static int smaller(int a, int b) { return a < b ? a : b; }

static const uint8_t *row_at(const piece *x, int row) { return (const uint8_t *)x->c->a + (size_t)row * x->c->lda; }

/* Tall blocks of a strip, of its first 32 columns and then of the others. */
static int tall_blocks(const piece *x) { return (x->rows - x->rest) / TALL + (x->rest > FLAT); }

static ganz_block block_at(const piece *x, int col, int index)
{
    const int half = index / tall_blocks(x) * TALL, row = index % tall_blocks(x) * TALL;
    return (ganz_block){x->row + row, smaller(x->rows - row, TALL), col + half, smaller(x->col_end - col - half, TALL)};
}

static operands operands_at(const product *p, const piece *x, const operands *strip, int index)
{
    const int half = index / tall_blocks(x) * 2, row = index % tall_blocks(x) * TALL;
    operands o = {.a = row_at(x, x->row + row), .lda = x->c->lda, .b = {strip->b[half], strip->b[half + 1]}};
    if (row < x->rows - x->rest) return o;
    o.a = p->rest;
    o.lda = rest_stride(p->w->k_stored);
    return o;
}

/* The first tall block of the strip after this one, where nothing comes between and its weights are plain already. */
static operands after_strip(const product *p, const piece *x, int col)
{
    operands strip = {.a = NULL};
    const bool flat = x->rest > 0 && x->rest <= FLAT;
    if (flat || p->w->nibbles || col + WIDE >= x->col_end) return strip;
    set_panels(p, col + WIDE, &strip);
    return operands_at(p, x, &strip, 0);
}

static void multiply_tall(product *p, const piece *x, int col, const operands *strip)
{
    const int halves = x->col_end - col > TALL ? 2 : 1, count = halves * tall_blocks(x);
    for (int i = 0; i < count; i++) {
        const operands o = operands_at(p, x, strip, i);
        const operands next = i + 1 < count ? operands_at(p, x, strip, i + 1) : after_strip(p, x, col);
        tall_block(p, &o, &next, p->sums[0]);
        keep_waiting(p, block_at(x, col, i), TALL);
    }
}

static void multiply_strip(product *p, const piece *x, int col)
{
    operands strip;
    set_panels(p, col, &strip);
    multiply_tall(p, x, col, &strip);
    const int rest = x->rest;
    if (rest == 0 || rest > FLAT) return;
    strip.a = p->rest;
    strip.lda = rest_stride(p->w->k_stored);
    flat_block(p, &strip, p->sums[0]);
    keep_waiting(p, (ganz_block){x->row + x->rows - rest, rest, col, smaller(x->col_end - col, WIDE)}, WIDE);
}

/* Steps of depth in all blocks of a strip. */
static int steps_of(const product *p, const piece *x)
{
    return p->steps * (2 * tall_blocks(x) + (x->rest > 0 && x->rest <= FLAT));
}

/* The rest's rows, with zeros up to whole tiles. */
static void copy_rest(const product *p, const piece *x)
{
    const size_t stride = rest_stride(p->w->k_stored), used = (size_t)p->w->k, all = (size_t)p->w->k_stored;
    const int rows = x->rest == 0 ? 0 : x->rest > FLAT ? TALL : FLAT;
    for (int r = 0; r < rows; r++) {
        uint8_t *const to = p->rest + (size_t)r * stride;
        const size_t have = r < x->rest ? used : 0;
        if (have) memcpy(to, row_at(x, x->row + x->rows - x->rest + r), have);
        memset(to + have, 0, all - have);
    }
    __asm__ volatile("" ::: "memory"); /* gcc's tile loads do not say that they read memory */
}

static void swap_plain(product *p)
{
    int8_t *const now = p->plain[1];
    p->plain[1] = p->plain[0];
    p->plain[0] = now;
}

static void multiply_piece(product *p, const piece *x)
{
    copy_rest(p, x);
    p->loaded = false;
    if (p->w->nibbles) {
        p->feed = feed_of(p, x->col, 1);
        feed_lines(&p->feed, p->feed.lines);
        swap_plain(p);
    }
    for (int col = x->col; col < x->col_end; col += WIDE) {
        p->feed = (feed){.lines = 0};
        if (col + WIDE < x->col_end) p->feed = feed_of(p, col + WIDE, steps_of(p, x));
        multiply_strip(p, x, col);
        feed_lines(&p->feed, p->feed.lines);
        swap_plain(p);
    }
}

/* ---- the product -------------------------------------------------------------------------------- */

static size_t scratch_bytes(int k)
{
    const size_t depth = ganz_round_up((size_t)k, DEPTH);
    return 2 * SUMS * sizeof(int32_t) + 2 * depth * WIDE + TALL * rest_stride((int)depth);
}

static void run(const ganz_kernel *kernel, const ganz_gemm_call *c, int col, int col_end, void *scratch)
{
    const ganz_packed *const w = c->w;
    const size_t plain = (size_t)w->k_stored * WIDE;
    int32_t *const sums = scratch;
    int8_t *const codes = (int8_t *)(sums + 2 * SUMS);
    product p = {.kernel = kernel,
                 .w = w,
                 .finish = *c->e,
                 .way = way_of(c->e, w->is_unsigned),
                 .steps = w->k_stored / DEPTH,
                 .sums = {sums, sums + SUMS},
                 .plain = {codes, codes + plain},
                 .rest = (uint8_t *)codes + 2 * plain};
    const int most = w->k == w->k_stored ? INPUTS / w->k_stored / TALL * TALL : TALL;
    _tile_loadconfig(&shapes);
    for (int row = 0, rows; row < c->rows; row += rows) {
        rows = smaller(c->rows - row, most < TALL ? TALL : most);
        const int rest = w->k == w->k_stored ? rows % TALL : rows;
        multiply_piece(&p, &(piece){c, row, rows, col, col_end, rest});
    }
    _tile_release();
    finish_block(&p);
}

/* ---- few rows ----------------------------------------------------------------------------------- */

#define EACH_ROW UNROLL for (int r = 0; r < rows; r++)
#define EACH_CHAIN UNROLL for (int c = 0; c < chains; c++)

INLINE __m512i four(const uint8_t *a)
{
    int32_t codes;
    memcpy(&codes, a, sizeof codes);
    return _mm512_set1_epi32(codes);
}

/* `rows` rows by 16 columns, each in `chains` sums that do not wait for each other; both are constants. */
INLINE void some_rows(const ganz_tile_args *t, int row, int rows, int chains)
{
    const uint8_t *const a = t->a + (size_t)row * t->lda;
    const int32_t *const start = t->start + (size_t)row * t->start_stride;
    __m512i sum[MR][CHAINS];
    EACH_ROW EACH_CHAIN sum[r][c] =
        c ? _mm512_setzero_si512() : _mm512_loadu_si512((const void *)(start + (size_t)r * t->start_stride));
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += 4 * chains, b += LINE * chains) EACH_CHAIN
        {
            const __m512i w = _mm512_load_si512((const void *)(b + LINE * c));
            EACH_ROW sum[r][c] = _mm512_dpbusd_epi32(sum[r][c], four(a + (size_t)r * t->lda + i + 4 * c), w);
        }
    EACH_ROW
    {
        UNROLL
        for (int c = 1; c < chains; c++) sum[r][0] = _mm512_add_epi32(sum[r][0], sum[r][c]);
        _mm512_storeu_si512((void *)(t->sums + (size_t)(row + r) * t->stride), sum[r][0]);
    }
}

static void tile(const ganz_tile_args *t)
{
    int row = 0;
    for (; row + MR <= t->rows; row += MR) some_rows(t, row, MR, 2);
    switch (t->rows - row) {
    case 1: some_rows(t, row, 1, 8); break;
    case 2: some_rows(t, row, 2, 4); break;
    case 3: some_rows(t, row, 3, 4); break;
    case 4: some_rows(t, row, 4, 4); break;
    case 5: some_rows(t, row, 5, 2); break;
    case 6: some_rows(t, row, 6, 2); break;
    case 7: some_rows(t, row, 7, 2); break;
    default: break;
    }
}

/* The same with two weights in a byte. */
INLINE void some_nibble_rows(const ganz_tile_args *t, int row, int rows)
{
    const __m512i mask = _mm512_set1_epi8(15), zero = _mm512_set1_epi8(GANZ_NIBBLE_ZERO);
    const uint8_t *const a = t->a + (size_t)row * t->lda;
    const int32_t *const start = t->start + (size_t)row * t->start_stride;
    __m512i low[MR], high[MR];
    EACH_ROW low[r] = _mm512_loadu_si512((const void *)(start + (size_t)r * t->start_stride));
    EACH_ROW high[r] = _mm512_setzero_si512();
    const int8_t *b = t->b;
    for (int i = 0; i < t->k; i += 8, b += LINE) {
        const __m512i both = _mm512_load_si512((const void *)b);
        const __m512i first = _mm512_sub_epi8(_mm512_and_si512(both, mask), zero);
        const __m512i second = _mm512_sub_epi8(_mm512_and_si512(_mm512_srli_epi16(both, 4), mask), zero);
        EACH_ROW
        {
            const uint8_t *const x = a + (size_t)r * t->lda + i;
            low[r] = _mm512_dpbusd_epi32(low[r], four(x), first);
            high[r] = _mm512_dpbusd_epi32(high[r], four(x + 4), second);
        }
    }
    EACH_ROW _mm512_storeu_si512((void *)(t->sums + (size_t)(row + r) * t->stride), _mm512_add_epi32(low[r], high[r]));
}

static void tile_nibbles(const ganz_tile_args *t)
{
    int row = 0;
    for (; row + 4 <= t->rows; row += 4) some_nibble_rows(t, row, 4);
    for (; row < t->rows; row++) some_nibble_rows(t, row, 1);
}

void ganz_kernel_init_amx(ganz_kernel *kernel)
{
    static const ganz_many_rows many = {
        .rows = FEW + 1, .nibble_rows = NIBBLE_FEW + 1, .scratch = scratch_bytes, .run = run};
    ganz_gemm_isa *const isa = &kernel->gemm;
    isa->name = "amx";
    isa->nr = NR;
    isa->step = WIDE;
    isa->k_block = GANZ_DEPTH_MAX;
    isa->m_block = NIBBLE_FEW;
    isa->nibbles = tile_nibbles;
    isa->nibble_rows = NIBBLE_FEW;
    isa->many = &many;
    isa->route[0] = (ganz_route){.name = "amx", .tile = tile, .cost = 1.0f};
}
