/* Packing weights, and choosing how to multiply by them.
 *
 * A route that adds up products in 16 bits is exact as long as the positive weights of every group that is
 * added up, and the negative ones, sum to no more than limit = 32767 / largest input byte. Trained weights
 * have a few groups beyond it. There the largest weights are cut down to the limit, and the differences are
 * kept as a list of fixes, added to the sums one by one. The cheapest route for these weights wins.
 *
 * Weights of at most 4 bits never are beyond it: 16 of them sum to no more than 112, and 32767 / 255 is 128. So they
 * need no fixes with any route.
 *
 * A group of `pairs` pairs lies as the instruction wants it: of `pairs` neighbouring quads of depth either all
 * first halves or all second halves. */
#include <string.h>

#include "kernel/kernel.h"

enum { GROUP_MAX = 16 }; /* 8 pairs */

static int panels_of(const ganz_gemm_isa *isa, int n) { return (n + isa->nr - 1) / isa->nr; }
static int stored_depth(const ganz_gemm_isa *isa, int k) { return (int)ganz_round_up((size_t)k, (size_t)isa->k_step); }

/* More fixes than this are slower than the route that needs none. */
static size_t most_fixes(int n, int k) { return (size_t)n * (size_t)k / 128; }

/* Bytes of the codes of a panel. */
static size_t panel_bytes(const ganz_gemm_isa *isa, int depth, bool nibbles)
{
    return (size_t)isa->nr * (size_t)depth / (nibbles ? 2 : 1);
}

size_t ganz_pack_bytes(const ganz_kernel *kernel, int n, int k, bool nibbles)
{
    const ganz_gemm_isa *const isa = &kernel->gemm;
    if (n < 1 || k < 1 || k > GANZ_DEPTH_MAX || n > INT32_MAX - isa->nr) return 0;
    const size_t columns = (size_t)panels_of(isa, n) * (size_t)isa->nr;
    size_t codes;
    if (!ganz_mul_size(columns, (size_t)stored_depth(isa, k), &codes) || codes > SIZE_MAX / 4) return 0;
    if (nibbles) codes /= 2;
    return ganz_round_up(codes, GANZ_ALIGN) + ganz_round_up(columns * sizeof(int32_t), GANZ_ALIGN) +
           ganz_round_up((columns + 1) * sizeof(uint32_t), GANZ_ALIGN) +
           (nibbles ? 0 : most_fixes(n, k) * sizeof(ganz_fix));
}

/* ---- splitting ---------------------------------------------------------------------------------- */

/* The codes of one result column, and where its fixes go (NULL: only counted). */
typedef struct splitter {
    const int8_t *codes;
    int k, pairs, limit;
    ganz_fix *fix;
    size_t fixes, room;
    uint8_t col;
} splitter;

/* Takes the excess over the limit from the largest weights of one sign; group holds their depths. */
static void split_side(splitter *s, const int *group, int count, int sign)
{
    int left[GROUP_MAX], sum = 0;
    for (int i = 0; i < count; i++) {
        left[i] = s->codes[group[i]] * sign;
        if (left[i] > 0) sum += left[i];
    }
    while (sum > s->limit) {
        int at = 0;
        for (int i = 1; i < count; i++)
            if (left[i] > left[at]) at = i;
        const int cut = left[at] < sum - s->limit ? left[at] : sum - s->limit;
        if (s->fix && s->fixes < s->room)
            s->fix[s->fixes] = (ganz_fix){(uint16_t)group[at], s->col, (int8_t)(cut * sign)};
        s->fixes++;
        left[at] -= cut;
        sum -= cut;
    }
}

static void split_group(splitter *s, int start, int half)
{
    int group[GROUP_MAX], count = 0;
    for (int p = 0; p < s->pairs; p++)
        for (int i = 0; i < 2; i++) {
            const int at = start + 4 * p + 2 * half + i;
            if (at < s->k) group[count++] = at;
        }
    split_side(s, group, count, 1);
    split_side(s, group, count, -1);
}

/* Few stretches have anything to split: the ISA finds them. */
static void split_column(splitter *s, const ganz_gemm_isa *isa, const int8_t *codes)
{
    uint16_t over[GANZ_DEPTH_MAX / GANZ_STRETCH];
    const int count = isa->over(codes, s->k, s->pairs, s->limit, over);
    s->codes = codes;
    for (int i = 0; i < count; i++)
        for (int at = 0; at < GANZ_STRETCH; at += 4 * s->pairs) {
            split_group(s, over[i] * GANZ_STRETCH + at, 0);
            split_group(s, over[i] * GANZ_STRETCH + at, 1);
        }
}

/* ---- choosing ----------------------------------------------------------------------------------- */

/* From a sample of the columns, as far as a route can still win: the choice is about speed only. */
static ganz_route choose_route(const ganz_gemm_isa *isa, const int8_t *codes, int n, int k, int limit)
{
    const int every = n < 64 ? 1 : 16, columns = (n + every - 1) / every;
    const float most = (float)most_fixes(n, k) / (float)every + 1;
    ganz_route best = isa->route[0];
    float best_cost = best.cost * (float)k;
    for (int i = 1; i < isa->routes; i++) {
        const ganz_route *const route = &isa->route[i];
        const float gain = (best_cost - route->cost * (float)k) * (float)columns / GANZ_FIX_COST;
        const float worth = gain < most ? gain : most; /* that many fixes */
        splitter s = {.k = k, .pairs = route->pairs, .limit = limit};
        for (int j = 0; route->pairs && j < n && (float)s.fixes < worth; j += every)
            split_column(&s, isa, codes + (size_t)j * (size_t)k);
        if ((float)s.fixes >= worth) continue;
        best = *route;
        best_cost = route->cost * (float)k + GANZ_FIX_COST * (float)s.fixes / (float)columns;
    }
    return best;
}

/* ---- packing ------------------------------------------------------------------------------------ */

/* Quads [at, at + 4 * quads) of one column of a panel. */
static void pack_quads(const ganz_gemm_isa *isa, const int8_t *column, int quads, int8_t *out)
{
    for (int q = 0; q < quads; q++) memcpy(out + (size_t)(q * 4 * isa->nr), column + 4 * q, 4);
}

/* One panel: columns [col, col + nr) of the result, zeros where there are none. Whole cache lines of a column at a
 * time: columns are often powers of two apart, and would push each other out. */
static void pack_panel(const ganz_gemm_isa *isa, const ganz_packed *p, const int8_t *codes, int col, int8_t *out)
{
    enum { LINE = 64 };
    const int columns = p->n - col < isa->nr ? p->n - col : isa->nr, kr = isa->kr;
    const int8_t *const first = codes + (size_t)col * (size_t)p->k;
    const int whole = kr == 4 && columns == isa->nr ? p->k / 4 * 4 : 0;
    for (int at = 0; at < whole; at += LINE)
        for (int c = 0; c < columns; c++)
            pack_quads(isa, first + (size_t)c * (size_t)p->k + at, (whole - at < LINE ? whole - at : LINE) / 4,
                       out + (size_t)at * (size_t)isa->nr + (size_t)(4 * c));
    out += (size_t)whole * (size_t)isa->nr;
    for (int at = whole; at < p->k_stored; at += kr) {
        const int have = p->k - at < kr ? (p->k > at ? p->k - at : 0) : kr;
        for (int c = 0; c < isa->nr; c++, out += kr) {
            memset(out, 0, (size_t)kr);
            if (c < columns && have) memcpy(out, first + (size_t)c * (size_t)p->k + at, (size_t)have);
        }
    }
}

/* Four codes each of two units, as four bytes. */
static uint32_t nibble_word(const int8_t *low, const int8_t *high)
{
    uint32_t first, second;
    memcpy(&first, low, sizeof first);
    memcpy(&second, high, sizeof second);
    return ((first & 0x0F0F0F0Fu) | (second & 0x0F0F0F0Fu) << 4) ^ 0x88888888u; /* plus 8, of four bits */
}

/* Depths [at, end) of one column of a panel of nibbles; whole pairs of units. */
static void nibble_column(const ganz_gemm_isa *isa, const int8_t *column, int at, int end, uint8_t *out)
{
    const int kr = isa->kr, unit = isa->nr * kr;
    for (; at < end; at += 2 * kr)
        for (int q = 0; q < kr; q += 4) {
            const uint32_t word = nibble_word(column + at + q, column + at + kr + q);
            memcpy(out + (size_t)(at / (2 * kr)) * (size_t)unit + q, &word, sizeof word);
        }
}

/* One panel of nibbles, of codes and of zeros where there are none. Cache lines as in pack_panel. */
static void pack_nibbles(const ganz_gemm_isa *isa, const ganz_packed *p, const int8_t *codes, int col, uint8_t *out)
{
    enum { LINE = 64 };
    const int columns = p->n - col < isa->nr ? p->n - col : isa->nr, kr = isa->kr;
    const int8_t *const first = codes + (size_t)col * (size_t)p->k;
    const int whole = p->k / LINE * LINE;
    memset(out, GANZ_NIBBLE_ZERO | GANZ_NIBBLE_ZERO << 4, panel_bytes(isa, p->k_stored, true));
    for (int at = 0; at < whole; at += LINE)
        for (int c = 0; c < columns; c++)
            nibble_column(isa, first + (size_t)c * (size_t)p->k, at, at + LINE, out + c * kr);
    for (int c = 0; c < columns && whole < p->k; c++) {
        int8_t rest[LINE] = {0};
        memcpy(rest, first + (size_t)c * (size_t)p->k + whole, (size_t)(p->k - whole));
        const int end = p->k_stored - whole < LINE ? p->k_stored - whole : LINE;
        nibble_column(isa, rest, 0, end, out + (size_t)whole * (size_t)isa->nr / 2 + (size_t)(c * kr));
    }
}

static void take_out(const ganz_gemm_isa *isa, int8_t *panel, const ganz_fix *fix, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int k = fix[i].k, kr = isa->kr;
        int8_t *const w = panel + (size_t)(k / kr) * (size_t)(isa->nr * kr) + (size_t)(fix[i].col * kr + k % kr);
        *w = (int8_t)(*w - fix[i].rest);
    }
}

/* In lanes of 16 bits, eight codes to a word, shifted to be unsigned: compilers make wide vectors of that. */
static int32_t column_sum(const int8_t *codes, int k)
{
    enum { BLOCK = 1024 }; /* codes whose sums fit the lanes */
    const uint64_t lanes = 0x00FF00FF00FF00FFu, shift = 0x8080808080808080u;
    int32_t sum = 0;
    int at = 0;
    while (k - at >= 8) {
        const int end = k - at < BLOCK ? at + (k - at) / 8 * 8 : at + BLOCK;
        uint64_t word, sums = 0;
        sum -= 128 * (end - at);
        for (; at < end; at += 8) {
            memcpy(&word, codes + at, sizeof word);
            word ^= shift;
            sums += (word & lanes) + (word >> 8 & lanes);
        }
        for (int i = 0; i < 4; i++) sum += (int32_t)(sums >> 16 * i & 0xFFFF);
    }
    for (; at < k; at++) sum += codes[at];
    return sum;
}

/* Where the sums of a column start: what the shift and the zeros of inputs add is taken out. */
static int32_t base_of(const ganz_packed *packed, const int8_t *column, const float *zero)
{
    int32_t sum = packed->shift ? packed->shift * column_sum(column, packed->k) : 0;
    for (int i = 0; zero && i < packed->k; i++) sum += (int32_t)zero[i] * column[i];
    return -sum;
}

/* Where the parts of a packed block lie. */
typedef struct parts {
    int8_t *codes;
    int32_t *base;
    uint32_t *fix_at;
    ganz_fix *fix;
} parts;

static parts parts_of(void *block, size_t columns, size_t codes)
{
    char *const start = block;
    const size_t base = ganz_round_up(codes, GANZ_ALIGN);
    const size_t fix_at = base + ganz_round_up(columns * sizeof(int32_t), GANZ_ALIGN);
    const size_t fix = fix_at + ganz_round_up((columns + 1) * sizeof(uint32_t), GANZ_ALIGN);
    const parts p = {block, (int32_t *)(void *)(start + base), (uint32_t *)(void *)(start + fix_at),
                     (ganz_fix *)(void *)(start + fix)};
    return p;
}

/* Returns false if the route needs more fixes than there is room for; the caller takes another one. */
static bool pack_by(const ganz_gemm_isa *isa, ganz_packed *packed, const parts *to, const ganz_unpacked *from,
                    int limit)
{
    const int8_t *const codes = from->codes;
    const int panels = panels_of(isa, packed->n), k = packed->k;
    const size_t bytes = panel_bytes(isa, packed->k_stored, packed->nibbles),
                 room = packed->nibbles ? 0 : most_fixes(packed->n, k);
    splitter s = {.k = k, .pairs = packed->route.pairs, .limit = limit, .fix = to->fix, .room = room};
    for (int p = 0; p < panels; p++) {
        int8_t *const panel = to->codes + (size_t)p * bytes;
        to->fix_at[p] = (uint32_t)s.fixes;
        for (int c = 0; c < isa->nr; c++) {
            const int j = p * isa->nr + c;
            const int8_t *const column = codes + (size_t)j * (size_t)k;
            s.col = (uint8_t)c;
            to->base[j] = j < packed->n ? base_of(packed, column, from->zero) : 0;
            if (j < packed->n && s.pairs) split_column(&s, isa, column);
        }
        if (s.fixes > room) return false;
        if (packed->nibbles) pack_nibbles(isa, packed, codes, p * isa->nr, (uint8_t *)panel);
        else pack_panel(isa, packed, codes, p * isa->nr, panel);
        take_out(isa, panel, to->fix + to->fix_at[p], s.fixes - to->fix_at[p]);
    }
    to->fix_at[panels] = (uint32_t)s.fixes;
    return true;
}

bool ganz_zeros_fit(const float *zero, int k)
{
    const float most = (float)(INT32_MAX / 127 - 256 * GANZ_DEPTH_MAX / 2); /* beside sums of codes in 32 bits */
    float sum = 0;
    if (k > GANZ_DEPTH_MAX / 2) return false;
    for (int i = 0; i < k; i++) {
        const float size = zero[i] < 0 ? -zero[i] : zero[i];
        if (!(size <= most) || (float)(int32_t)size < size) return false;
        sum = sum + size;
        if (sum > most) return false;
    }
    return true;
}

void ganz_pack(const ganz_kernel *kernel, ganz_packed *packed, void *block, const ganz_unpacked *from)
{
    const ganz_gemm_isa *const isa = &kernel->gemm;
    const int8_t *const codes = from->codes;
    const int n = from->n, k = from->k, low = from->low, high = from->high;
    GANZ_ASSERT(n >= 1 && k >= 1 && k <= GANZ_DEPTH_MAX && low <= 0 && low >= -127 && high >= 1 && high - low <= 255);
    const int limit = 32767 / (high - low), depth = stored_depth(isa, k);
    const size_t panels = (size_t)panels_of(isa, n);
    const parts to = parts_of(block, panels * (size_t)isa->nr, panels * panel_bytes(isa, depth, from->nibbles));
    *packed =
        (ganz_packed){.n = n,
                      .k = k,
                      .k_stored = depth,
                      .is_unsigned = low == 0,
                      .nibbles = from->nibbles,
                      .zeros = from->zero != NULL,
                      .codes = to.codes,
                      .base = to.base,
                      .fix_at = to.fix_at,
                      .fix = to.fix,
                      .route = from->nibbles ? isa->route[isa->routes - 1] : choose_route(isa, codes, n, k, limit)};
    do {
        packed->shift = packed->route.words ? 0 : !packed->route.is_signed ? -low : low < 0 ? 0 : -128;
        if (pack_by(isa, packed, &to, from, limit)) return;
        packed->route = isa->route[0]; /* the sample was too good to be true */
    } while (true);
}
