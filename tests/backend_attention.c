/* Attention: CPU against CUDA. */
#include <stdlib.h>

#include "backend_case.h"

#define RUN(entry, c, g) (both.cpu->entry(both.cpu, &(c)), both.gpu->entry(both.gpu, &(g)))

typedef struct attention_kind {
    const char *name;
    const int *queries, *keys; /* lengths of the segments; keys NULL: the same */
    int segments, heads, width;
    bool causal, drop, codes, largest;
    ganz_type out, grad;
    bool to_codes;
} attention_kind;

static void sum_lengths(const int *lengths, int count, int32_t *begin, int *longest)
{
    begin[0] = 0;
    *longest = 0;
    for (int i = 0; i < count; i++) {
        begin[i + 1] = begin[i] + lengths[i];
        if (lengths[i] > *longest) *longest = lengths[i];
    }
}

static two slots_of(int rows)
{
    int32_t *slots = malloc((size_t)rows * sizeof *slots);
    for (int i = 0; i < rows; i++) slots[i] = i % 256;
    const two t = ints_of(slots, rows);
    free(slots);
    return t;
}

static double tolerance_of(const attention_kind *k)
{
    if (rounds_operands()) return 1e-2;
    if (product() == GANZ_BF16) return k->to_codes ? 3e-2 : 1e-2; /* what is clipped hangs on rounding */
    return k->codes ? 2e-3 : 1e-5;                                /* a U on the edge may round to its neighbour */
}

/* Where a gradient passes: everywhere but in one of eight fours. */
static two random_bits(const mats *m)
{
    const size_t count = (size_t)m->cpu.rows * (size_t)m->cpu.cols / 4;
    uint8_t *bits = malloc(count > 0 ? count : 1);
    for (size_t i = 0; i < count; i++) bits[i] = (uint8_t)(random_below(8) > 0 ? 15 : random_below(16));
    const two made = bytes_of(bits, count);
    free(bits);
    return made;
}

static void cut_on_cpu(const ganz_matrix *m, const uint8_t *inside)
{
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++)
            if (!(inside[((size_t)i * (size_t)m->cols + (size_t)j) / 4] >> j % 4 & 1))
                ((real *)m->data)[(size_t)i * (size_t)m->ld + (size_t)j] = 0;
}

static void attention(attention_kind k)
{
    begin("attention %s: %d segments, %d heads of %d%s%s%s%s, types %d %d", k.name, k.segments, k.heads, k.width,
          k.causal ? " causal" : "", k.drop ? " drop" : "", k.codes ? " codes" : "", k.to_codes ? " to codes" : "",
          k.out, k.grad);
    const int *keys = k.keys != NULL ? k.keys : k.queries, d = k.heads * k.width;
    int32_t query_begin[64], key_begin[64];
    ganz_spans see = {.segments = k.segments, .causal = k.causal};
    sum_lengths(k.queries, k.segments, query_begin, &see.longest_query);
    sum_lengths(keys, k.segments, key_begin, &see.longest_key);
    see.queries = query_begin[k.segments];
    see.keys = key_begin[k.segments];
    const two qb = ints_of(query_begin, k.segments + 1), kb = ints_of(key_begin, k.segments + 1);
    const two mask = random_mask(256 * 256, 0.8), query_slot = slots_of(see.queries), key_slot = slots_of(see.keys);
    /* k and v are halves of one matrix, as the projections leave them */
    const mats q =
        k.codes ? code_matrix(see.queries, d, product(), 127) : random_matrix(see.queries, d, d + 64, product(), 1);
    const mats kv =
        k.codes ? code_matrix(see.keys, 2 * d, product(), 127) : random_matrix(see.keys, 2 * d, 2 * d, product(), 1);
    const mats key = columns_of(kv, 0, d), value = columns_of(kv, d, d);
    const mats out = nan_matrix(see.queries, d, d, k.out), out_grad = random_matrix(see.queries, d, d, k.grad, 1);
    const mats q_grad = nan_matrix(see.queries, d, d + 8, product()),
               kv_grad = nan_matrix(see.keys, 2 * d, 2 * d, product());
    const mats k_grad = columns_of(kv_grad, 0, d), v_grad = columns_of(kv_grad, d, d);
    const two q_scale = equal_reals(1, 0.02), k_scale = equal_reals(1, 0.015), v_scale = equal_reals(1, 0.01);
    const two u_scale = equal_reals(1, 1.0 / 300), u_z = equal_reals(1, 0.5), largest = equal_reals(1, 0.001);
    const two stats = nan_reals((size_t)see.queries * (size_t)k.heads * 2);
    ganz_attention_call c = {.see = see, .heads = k.heads, .width = k.width, .inv_root = (real)0.125, .u_max = 255},
                        g = c;
#define SIDE(s, side)                                                                                             \
    s.see.query_begin = qb.side, s.see.key_begin = kb.side, s.q.m = q.side, s.k.m = key.side, s.v.m = value.side, \
    s.out = out.side, s.stats = stats.side, s.out_grad = out_grad.side, s.q_grad = q_grad.side,                   \
    s.k_grad = k_grad.side, s.v_grad = v_grad.side, s.u_largest = k.largest ? largest.side : NULL;                \
    if (k.codes)                                                                                                  \
        s.q.scale = q_scale.side, s.k.scale = k_scale.side, s.v.scale = v_scale.side, s.u_scale = u_scale.side,   \
        s.u_z_grad = u_z.side;                                                                                    \
    if (k.drop)                                                                                                   \
    s.mask = mask.side, s.mask_side = 256, s.mask_scale = (real)1.25, s.query_slot = query_slot.side,             \
    s.key_slot = key_slot.side
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    coded made = {0};
    if (k.to_codes) {
        made = coded_of(see.queries, d, 0.004, 127);
        g.codes = code_out_of(&made);
        g.out.data = NULL;
        g.out_grad = made.grad.gpu;
    }
    RUN(attention, c, g);
    if (k.to_codes) {
        round_on_cpu(&made, &out.cpu);
        round_back_on_cpu(&made, &out.cpu, &out_grad.cpu, false);
    }
    same_matrix("out", k.to_codes ? made.codes : out, tolerance_of(&k));
    same_reals("stats", stats, (size_t)see.queries * (size_t)k.heads * 2,
               rounds_operands()        ? 1e-2
               : product() == GANZ_BF16 ? 1e-4
                                        : 1e-5);
    same_reals("largest", largest, 1, rounds_operands() ? 1e-2 : 1e-4);
    two inside[3];
    const mats *const grads[3] = {&q_grad, &k_grad, &v_grad};
    for (int i = 0; i < 3; i++) inside[i] = random_bits(grads[i]);
    if (k.to_codes) g.q_inside = inside[0].gpu, g.k_inside = inside[1].gpu, g.v_inside = inside[2].gpu;
    RUN(attention_grad, c, g);
    for (int i = 0; i < 3 && k.to_codes; i++) cut_on_cpu(&grads[i]->cpu, inside[i].cpu);
    same_matrix("q_grad", q_grad, tolerance_of(&k));
    same_matrix("k_grad", k_grad, tolerance_of(&k));
    same_matrix("v_grad", v_grad, tolerance_of(&k));
    /* a sum of what rounding adds, which is another for each U on an edge */
    if (k.codes) same_reals("u_z_grad", u_z, 1, rounds_operands() ? 2e-1 : product() == GANZ_BF16 ? 5e-2 : 1e-2);
    expect_no_failure();
}

/* Decoding: each query has its own list of key rows, in any order, rows shared between queries. */
static void lists(int queries, int keys, int longest, int heads, int width, bool codes)
{
    const int d = heads * width;
    begin("attention lists: %d queries, %d keys, %d heads of %d%s", queries, keys, heads, width, codes ? " codes" : "");
    int32_t *begins = malloc(((size_t)queries + 1) * sizeof *begins),
            *list = malloc((size_t)queries * (size_t)longest * sizeof *list);
    begins[0] = 0;
    for (int i = 0; i < queries; i++) {
        const int count = i == 0 ? longest : 1 + random_below(longest);
        for (int j = 0; j < count; j++) list[begins[i] + j] = random_below(keys);
        begins[i + 1] = begins[i] + count;
    }
    const two list_begin = ints_of(begins, queries + 1), all = ints_of(list, begins[queries]);
    free(begins);
    free(list);
    const mats q = codes ? code_matrix(queries, d, product(), 127) : random_matrix(queries, d, d, product(), 1);
    const mats kv = codes ? code_matrix(keys, 2 * d, product(), 127) : random_matrix(keys, 2 * d, 2 * d, product(), 1);
    const mats key = columns_of(kv, 0, d), value = columns_of(kv, d, d), out = nan_matrix(queries, d, d, product());
    const two scale = equal_reals(1, 0.02), u_scale = equal_reals(1, 1.0 / 255);
    ganz_attention_call c = {.see = {.queries = queries, .keys = keys, .longest_query = 1, .longest_key = longest},
                             .heads = heads,
                             .width = width,
                             .inv_root = (real)0.125,
                             .u_max = 255},
                        g = c;
#define SIDE(s, side)                                                                                                \
    s.see.list_begin = list_begin.side, s.see.list = all.side, s.q.m = q.side, s.k.m = key.side, s.v.m = value.side, \
    s.out = out.side;                                                                                                \
    if (codes) s.q.scale = s.k.scale = s.v.scale = scale.side, s.u_scale = u_scale.side
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    RUN(attention, c, g);
    const attention_kind like = {.codes = codes};
    same_matrix("out", out, tolerance_of(&like));
    expect_no_failure();
}

void attention_cases(void)
{
    static const int few[] = {5}, one[] = {1}, mixed[] = {1, 16, 17, 31, 32, 33, 64, 3},
                     lengths[] = {65, 256, 2, 128, 100};
    static const int other[] = {3, 40, 17, 1, 64, 33, 65, 200}, hole_q[] = {3, 0, 70}, hole_k[] = {5, 20, 7};
    const ganz_type p = product(), r = GANZ_REAL;
    attention((attention_kind){"one", one, NULL, 1, 2, 64, false, false, false, true, p, p, false});
    attention((attention_kind){"few", few, NULL, 1, 8, 64, true, false, false, true, p, p, false});
    attention((attention_kind){"mixed", mixed, NULL, 8, 8, 64, false, true, false, false, p, p, false});
    attention((attention_kind){"mixed", mixed, NULL, 8, 8, 64, true, true, false, true, p, p, false});
    attention((attention_kind){"long", lengths, NULL, 5, 4, 64, true, true, false, false, p, p, false});
    attention((attention_kind){"long", lengths, NULL, 5, 4, 64, false, false, false, true, p, p, false});
    attention((attention_kind){"cross", mixed, other, 8, 8, 64, false, true, false, false, p, p, false});
    attention((attention_kind){"cross, a hole", hole_q, hole_k, 3, 2, 64, false, false, false, false, p, p, false});
    attention((attention_kind){"odd heads", mixed, other, 8, 3, 64, false, true, false, true, p, p, false});
    attention((attention_kind){"odd heads", mixed, NULL, 8, 1, 32, true, true, true, false, p, p, false});
    attention((attention_kind){"narrow", mixed, other, 8, 4, 32, false, true, false, false, p, p, false});
    attention((attention_kind){"narrow", lengths, NULL, 5, 4, 32, true, true, false, false, p, r, false});
    attention((attention_kind){"odd width", mixed, NULL, 8, 3, 16, true, true, false, false, p, p, false});
    attention((attention_kind){"odd width", mixed, other, 8, 3, 20, false, true, false, false, r, r, false});
    attention((attention_kind){"wide", mixed, other, 8, 2, 80, false, true, false, false, p, p, false});
    attention((attention_kind){"wide", lengths, NULL, 5, 1, 128, true, true, true, false, p, r, false});
    attention((attention_kind){"codes", mixed, NULL, 8, 8, 64, true, true, true, true, r, r, false});
    attention((attention_kind){"codes", mixed, other, 8, 8, 64, false, false, true, false, p, p, false});
    attention((attention_kind){"codes", lengths, NULL, 5, 2, 64, true, true, true, false, r, p, false});
    if (both.gpu->makes_codes) {
        attention((attention_kind){"codes", mixed, NULL, 8, 8, 64, true, true, true, false, r, r, true});
        attention((attention_kind){"codes", mixed, other, 8, 4, 32, false, true, true, false, r, r, true});
        attention((attention_kind){"odd width", mixed, NULL, 8, 3, 16, true, true, true, false, r, r, true});
    }
    lists(1, 1, 1, 8, 64, false);
    lists(50, 300, 90, 8, 64, false);
    lists(50, 300, 90, 8, 64, true);
    lists(7, 3000, 2500, 2, 32, false);
}
