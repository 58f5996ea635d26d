/* Packing weights, and choosing how to multiply by them.
 *
 * A route that adds up products in 16 bits is exact as long as the positive weights of every group that is
 * added up, and the negative ones, sum to no more than limit = 32767 / largest input byte. Trained weights
 * have a few groups beyond it. There the largest weights are cut down to the limit, and what was cut is
 * kept as a list of fixes, added to the sums one by one. The cheapest route for these weights wins.
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

size_t ganz_pack_bytes(const ganz_kernel *kernel, int n, int k)
{
    const ganz_gemm_isa *const isa = &kernel->gemm;
    if (n < 1 || k < 1 || k > GANZ_DEPTH_MAX || n > INT32_MAX - isa->nr) return 0;
    const size_t columns = (size_t)panels_of(isa, n) * (size_t)isa->nr;
    size_t codes;
    if (!ganz_mul_size(columns, (size_t)stored_depth(isa, k), &codes) || codes > SIZE_MAX / 4) return 0;
    return ganz_round_up(codes, GANZ_ALIGN) + ganz_round_up(columns * sizeof(int32_t), GANZ_ALIGN) +
           ganz_round_up((columns + 1) * sizeof(uint32_t), GANZ_ALIGN) + most_fixes(n, k) * sizeof(ganz_fix);
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

/* Takes from the largest weights of one sign what is above the limit; group holds their depths. */
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

/* Blocks of 32 codes are looked at as a whole first: hardly any has a group above the limit. */
static void split_column(splitter *s)
{
    for (int block = 0; block < s->k; block += 32) {
        int8_t w[32] = {0};
        memcpy(w, s->codes + block, s->k - block < 32 ? (size_t)(s->k - block) : 32);
        int16_t up[16], down[16];
        for (int i = 0; i < 16; i++) {
            const int16_t a = w[2 * i], b = w[2 * i + 1];
            up[i] = (int16_t)((a > 0 ? a : 0) + (b > 0 ? b : 0));
            down[i] = (int16_t)(up[i] - a - b);
        }
        for (int step = 1; step < s->pairs; step *= 2)
            for (int i = 0; i + 2 * step < 16; i++) {
                up[i] = (int16_t)(up[i] + up[i + 2 * step]);
                down[i] = (int16_t)(down[i] + down[i + 2 * step]);
            }
        for (int start = 0; start < 32; start += 4 * s->pairs)
            for (int half = 0; half < 2; half++) {
                const int at = start / 2 + half;
                if (up[at] > s->limit || down[at] > s->limit) split_group(s, block + start, half);
            }
    }
}

/* ---- choosing ----------------------------------------------------------------------------------- */

static size_t count_fixes(const int8_t *codes, int n, int k, int pairs, int limit)
{
    const size_t most = most_fixes(n, k);
    splitter s = {.k = k, .pairs = pairs, .limit = limit};
    for (int j = 0; j < n && s.fixes <= most; j++) {
        s.codes = codes + (size_t)j * (size_t)k;
        split_column(&s);
    }
    return s.fixes;
}

static ganz_route choose_route(const ganz_gemm_isa *isa, const int8_t *codes, int n, int k, int limit)
{
    const float weights = (float)n * (float)k;
    ganz_route best = isa->route[0];
    float best_cost = 0.0f;
    for (int i = 0; i < isa->routes; i++) {
        const ganz_route *const route = &isa->route[i];
        float cost = route->cost * weights;
        if (i > 0 && cost >= best_cost) continue;
        if (route->pairs) {
            const size_t fixes = count_fixes(codes, n, k, route->pairs, limit);
            if (fixes > most_fixes(n, k)) continue;
            cost += GANZ_FIX_COST * (float)fixes;
        }
        if (i == 0 || cost < best_cost) {
            best = *route;
            best_cost = cost;
        }
    }
    return best;
}

/* ---- packing ------------------------------------------------------------------------------------ */

/* One panel: columns [col, col + nr) of the result, zeros where there are none. */
static void pack_panel(const ganz_gemm_isa *isa, const ganz_packed *p, const int8_t *codes, int col, int8_t *out)
{
    const int columns = p->n - col < isa->nr ? p->n - col : isa->nr, kr = isa->kr;
    for (int at = 0; at < p->k_stored; at += kr) {
        const int have = p->k - at < kr ? (p->k > at ? p->k - at : 0) : kr;
        for (int c = 0; c < isa->nr; c++, out += kr) {
            const int used = c < columns ? have : 0;
            const int8_t *const from = codes + (size_t)(used ? col + c : 0) * (size_t)p->k + (used ? at : 0);
            if (used == 4 && kr == 4) {
                memcpy(out, from, 4);
            } else {
                memset(out, 0, (size_t)kr);
                memcpy(out, from, (size_t)used);
            }
        }
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

static int32_t column_sum(const int8_t *codes, int k)
{
    int32_t sum = 0;
    for (int i = 0; i < k; i++) sum += codes[i];
    return sum;
}

void ganz_pack(const ganz_kernel *kernel, ganz_packed *packed, void *block, const int8_t *codes, int n, int k, int low,
               int high)
{
    const ganz_gemm_isa *const isa = &kernel->gemm;
    GANZ_ASSERT(n >= 1 && k >= 1 && k <= GANZ_DEPTH_MAX && low <= 0 && low >= -127 && high >= 1 && high - low <= 255);
    const int panels = panels_of(isa, n), limit = 32767 / (high - low);
    const size_t columns = (size_t)panels * (size_t)isa->nr;
    *packed = (ganz_packed){.n = n, .k = k, .k_stored = stored_depth(isa, k)};
    packed->route = choose_route(isa, codes, n, k, limit);
    packed->shift = !packed->route.is_signed ? -low : low < 0 ? 0 : -128;

    const size_t panel_bytes = (size_t)isa->nr * (size_t)packed->k_stored;
    int8_t *const out = block;
    int32_t *const base = (int32_t *)(void *)(out + ganz_round_up(panel_bytes * (size_t)panels, GANZ_ALIGN));
    uint32_t *const fix_at = (uint32_t *)(void *)((char *)base + ganz_round_up(columns * sizeof *base, GANZ_ALIGN));
    ganz_fix *const fix = (ganz_fix *)(void *)((char *)fix_at + ganz_round_up((columns + 1) * sizeof *fix_at, GANZ_ALIGN));
    splitter s = {.k = k, .pairs = packed->route.pairs, .limit = limit, .fix = fix, .room = most_fixes(n, k)};
    for (int p = 0; p < panels; p++) {
        int8_t *const panel = out + (size_t)p * panel_bytes;
        fix_at[p] = (uint32_t)s.fixes;
        pack_panel(isa, packed, codes, p * isa->nr, panel);
        for (int c = 0; c < isa->nr; c++) {
            const int j = p * isa->nr + c;
            base[j] = 0;
            if (j >= n) continue;
            s.codes = codes + (size_t)j * (size_t)k;
            s.col = (uint8_t)c;
            base[j] = -packed->shift * column_sum(s.codes, k);
            if (s.pairs) split_column(&s);
        }
        take_out(isa, panel, fix + fix_at[p], s.fixes - fix_at[p]);
    }
    fix_at[panels] = (uint32_t)s.fixes;
    packed->codes = out;
    packed->base = base;
    packed->fix_at = fix_at;
    packed->fix = fix;
}
