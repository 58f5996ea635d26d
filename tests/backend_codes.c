/* Integer translation: CPU against CUDA, every entry of the table that it uses. Nothing may differ by a bit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend_case.h"

#define RUN(entry, c, g) (both.cpu->entry(both.cpu, &(c)), both.gpu->entry(both.gpu, &(g)))

enum { MARK = 0x5a }; /* what outputs hold before: no code, and no number that comes up */

static two marked(size_t bytes)
{
    void *const marks = malloc(bytes + 1);
    memset(marks, MARK, bytes);
    const two t = bytes_of(marks, bytes);
    free(marks);
    return t;
}

/* Codes in [low, p], some rows of the largest ones only. */
static int8_t *random_codes(size_t count, int low, int p)
{
    int8_t *const codes = malloc(count + 1);
    for (size_t i = 0; i < count; i++) {
        codes[i] = (int8_t)(random_below(p - low + 1) + low);
        if (i / 512 % 7 == 3) codes[i] = (int8_t)(i / 3584 % 2 == 0 ? p : low);
    }
    return codes;
}

static two codes_of(size_t count, int low, int p)
{
    int8_t *const codes = random_codes(count, low, p);
    const two t = bytes_of(codes, count);
    free(codes);
    return t;
}

/* Weights packed by both devices. */
typedef struct packed {
    const ganz_packed *cpu, *gpu;
} packed;

static packed packed_of(int out, int in, int bits, int low)
{
    const int p = (1 << (bits - 1)) - 1;
    int8_t *const codes = random_codes((size_t)out * (size_t)in, -p, p);
    const ganz_pack_call call = {codes, out, in, low, 127, bits <= 4, NULL};
    const two block = {bytes_of(NULL, both.cpu->pack_bytes(both.cpu, out, in, call.nibbles)).cpu,
                       bytes_of(NULL, both.gpu->pack_bytes(both.gpu, out, in, call.nibbles)).gpu};
    const packed w = {both.cpu->pack(both.cpu, block.cpu, &call), both.gpu->pack(both.gpu, block.gpu, &call)};
    int8_t *const back = malloc((size_t)in);
    both.cpu->unpack(both.cpu, w.cpu, out - 1, back);
    expect("unpacked", memcmp(back, codes + (size_t)(out - 1) * (size_t)in, (size_t)in) == 0, 0, 1);
    free(back);
    free(codes);
    return w;
}

static ganz_matrix matrix(int rows, int cols, int ld, ganz_type type, void *data)
{
    return (ganz_matrix){rows, cols, ld, type, data};
}

/* ---- products ----------------------------------------------------------------------------------- */

typedef struct linear_kind {
    int rows, in, out, bits, gap; /* gap: columns beyond the result */
    bool by_row, bias, add, values, codes, bans;
    ganz_activation activation;
    double scale; /* of a sum */
} linear_kind;

static void linear(linear_kind k)
{
    const int ld = k.out + k.gap;
    const size_t count = (size_t)k.rows * (size_t)ld;
    begin("integer product %d x %d x %d, %d bits, activation %d%s%s%s%s", k.rows, k.in, k.out, k.bits, k.activation,
          k.by_row ? ", by row" : "", k.add ? ", adding" : "", k.values ? ", values" : "", k.codes ? ", codes" : "");
    const two x = codes_of((size_t)k.rows * (size_t)k.in, -127, 127);
    const packed w = packed_of(k.out, k.in, k.bits, -127);
    const two x_scale = equal_reals(1, k.scale * 7),
              w_scale = k.by_row ? random_reals((size_t)k.out, 0.2) : equal_reals(1, 1 / 7.0);
    const two y_start = k.add ? random_reals(count, 1) : marked(count * sizeof(float)), y = y_start;
    const two codes = marked(count), code_scale = equal_reals(1, 0.037);
    two bias = random_reals((size_t)k.out, 1);
    if (k.bans) {
        float *const numbers = malloc((size_t)k.out * sizeof *numbers);
        memcpy(numbers, bias.cpu, (size_t)k.out * sizeof *numbers);
        for (int i = 0; i < k.out; i += 3) numbers[i] = -INFINITY;
        bias = bytes_of(numbers, (size_t)k.out * sizeof *numbers);
        free(numbers);
    }
    ganz_linear_call c = {.rows = k.rows,
                          .in = k.in,
                          .out = k.out,
                          .w_by_row = k.by_row,
                          .add = k.add,
                          .activation = k.activation},
                     g = c;
#define SIDE(s, side)                                                                                        \
    s.x.m = matrix(k.rows, k.in, k.in, GANZ_S8, x.side), s.x.scale = x_scale.side, s.w.scale = w_scale.side, \
    s.packed = w.side, s.bias = k.bias ? bias.side : NULL,                                                   \
    s.y = matrix(k.rows, k.out, ld, GANZ_REAL, k.values ? y.side : NULL),                                    \
    s.codes = (ganz_code_out){                                                                               \
        matrix(k.rows, k.out, ld, GANZ_S8, k.codes ? codes.side : NULL), code_scale.side, 127, NULL, NULL, NULL}
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    RUN(linear_codes, c, g);
    same_bytes("values", y, count * sizeof(float));
    same_bytes("codes", codes, count);
    expect_no_failure();
}

static void linears(void)
{
    static const int shapes[][3] = {{1, 64, 32},      {1, 512, 512},   {4, 512, 2048},   {5, 2048, 512},
                                    {17, 48, 40},     {33, 512, 1000}, {130, 256, 257},  {64, 31, 7},
                                    {3, 1024, 4096},  {7, 16, 33288},  {200, 512, 1536}, {520, 512, 512},
                                    {1300, 320, 512}, {300, 512, 9000}};
    for (size_t i = 0; i < GANZ_COUNT(shapes); i++) {
        const linear_kind k = {
            .rows = shapes[i][0], .in = shapes[i][1], .out = shapes[i][2], .bits = 8, .values = true, .scale = 0.0003};
        linear_kind o = k;
        linear(k);
        o.codes = o.bias = true;
        o.activation = GANZ_ACTIVATION_RELU;
        o.bits = 6;
        linear(o);
        o.values = false;
        o.by_row = true;
        o.bits = 4;
        linear(o);
        o = k;
        o.add = o.by_row = true;
        o.bits = 4;
        o.gap = 3;
        linear(o);
        o = k;
        o.bias = o.bans = true;
        o.gap = 8;
        linear(o);
    }
    for (int a = 0; a < GANZ_ACTIVATIONS; a++)
        linear((linear_kind){.rows = both.gpu->host ? 100 : 2441, /* ten million numbers, where that is quick */
                             .in = 16,
                             .out = 4096,
                             .bits = 8,
                             .bias = true,
                             .values = true,
                             .codes = true,
                             .activation = (ganz_activation)a,
                             .scale = 0.001});
}

/* ---- rows --------------------------------------------------------------------------------------- */

typedef struct norm_kind {
    int rows, cols, outs;
    bool values, in_place, delta;
    double size;
} norm_kind;

static void norm(norm_kind k)
{
    enum { MOST = 4 };
    const size_t count = (size_t)k.rows * (size_t)k.cols;
    begin("integer norm %d x %d, %d outs%s%s", k.rows, k.cols, k.outs, k.in_place ? ", in place" : "",
          k.delta ? ", delta" : "");
    const two x = random_reals(count, k.size), gain = random_reals((size_t)k.cols, 1),
              bias = random_reals((size_t)k.cols, 1);
    const two y = k.in_place ? x : marked(count * sizeof(float)), delta = random_reals(count, k.size),
              sum = marked(count * sizeof(float));
    two codes[MOST], scale[MOST];
    ganz_code_out c_outs[MOST], g_outs[MOST];
    for (int i = 0; i < k.outs; i++) {
        codes[i] = marked(count);
        scale[i] = equal_reals(1, 0.013 * (i + 1));
        const ganz_matrix none = matrix(k.rows, k.cols, k.cols, GANZ_S8, NULL);
        c_outs[i] = (ganz_code_out){none, scale[i].cpu, i == 2 ? 31 : 127, NULL, NULL, NULL};
        g_outs[i] = (ganz_code_out){none, scale[i].gpu, i == 2 ? 31 : 127, NULL, NULL, NULL};
        if (i != 1) c_outs[i].m.data = codes[i].cpu, g_outs[i].m.data = codes[i].gpu; /* the second is not wanted */
    }
    ganz_norm_call c = {.rows = k.rows, .cols = k.cols, .eps = (real)1e-6, .outs = k.outs}, g = c;
#define SIDE(s, side)                                                                                               \
    s.x = x.side, s.gain = gain.side, s.bias = bias.side, s.codes = s##_outs,                                       \
    s.y = matrix(k.rows, k.cols, k.cols, GANZ_REAL, k.values ? y.side : NULL), s.sum = k.delta ? sum.side : x.side, \
    s.delta = matrix(k.rows, k.cols, k.cols, GANZ_REAL, k.delta ? delta.side : NULL)
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    RUN(norm_codes, c, g);
    same_bytes("values", y, count * sizeof(float));
    same_bytes("sum", sum, count * sizeof(float));
    for (int i = 0; i < k.outs; i++) same_bytes("codes", codes[i], count);
    expect_no_failure();
}

static void norms(void)
{
    static const int cols[] = {512, 256, 1024, 64, 40, 37, 5, 2048};
    for (size_t i = 0; i < GANZ_COUNT(cols); i++) {
        norm((norm_kind){1, cols[i], 1, false, false, false, 3});
        norm((norm_kind){67, cols[i], 3, true, false, false, 0.01});
        norm((norm_kind){130, cols[i], 4, true, true, false, 30});
        norm((norm_kind){33, cols[i], 0, true, false, true, 1});
    }
    norm((norm_kind){20000, 512, 3, true, false, false, 1});
}

static void embed(int rows, int cols, bool codes, bool by_row, bool extra, int start_id)
{
    enum { VOCAB = 601, POSITIONS = 50 };
    begin("integer embed %d x %d, %s%s%s, start %d", rows, cols, codes ? "codes" : "values", by_row ? ", by row" : "",
          extra ? ", extra" : "", start_id);
    int32_t *const ids = malloc(2 * (size_t)rows * sizeof *ids);
    for (int i = 0; i < rows; i++) ids[i] = random_below(VOCAB + 2) - 2, ids[rows + i] = random_below(POSITIONS);
    const two id = ints_of(ids, rows), position = ints_of(ids + rows, rows);
    free(ids);
    const packed table = packed_of(VOCAB, cols, 8, -127);
    const two values = random_reals((size_t)VOCAB * (size_t)cols, 1), scale = random_reals(VOCAB, 0.01),
              start = random_reals((size_t)cols, 1);
    const two timing = random_reals(POSITIONS * (size_t)cols, 1), more = random_reals((size_t)cols, 1),
              out = marked((size_t)rows * (size_t)cols * sizeof(float));
    ganz_embed_call c = {.rows = rows,
                         .cols = cols,
                         .vocab = VOCAB,
                         .by_row = by_row,
                         .start_id = start_id,
                         .root = (real)22.627417},
                    g = c;
#define SIDE(s, side)                                                                                            \
    s.ids = id.side, s.positions = position.side, s.packed = codes ? table.side : NULL,                          \
    s.table = (ganz_operand){matrix(VOCAB, cols, cols, codes ? GANZ_S8 : GANZ_REAL, codes ? NULL : values.side), \
                             codes ? scale.side : NULL},                                                         \
    s.start = start_id != 0 ? start.side : NULL, s.timing = timing.side, s.extra = extra ? more.side : NULL,     \
    s.out = out.side
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    if (codes) RUN(embed_codes, c, g);
    else RUN(embed, c, g);
    same_bytes("rows", out, (size_t)rows * (size_t)cols * sizeof(float));
    expect_no_failure();
}

/* Numbers around every half, and whatever else. */
static void quantize(int rows, int cols, int p)
{
    const size_t count = (size_t)rows * (size_t)cols;
    begin("codes of values %d x %d, p %d", rows, cols, p);
    float *const numbers = malloc(count * sizeof *numbers);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = ((float)(random_below(4 * p + 1) - 2 * p) + 0.5f) * 0.0625f;
        if (i % 3 == 1) numbers[i] = nextafterf(numbers[i], (float)(random_below(3) - 1) * 100);
        if (i % 3 == 2) numbers[i] = (float)(random_below(2000001) - 1000000) * 1e-5f;
        if (i % 1001 == 0) numbers[i] = i % 2 == 0 ? -1e30f : 1e-40f;
    }
    const two x = bytes_of(numbers, count * sizeof *numbers), codes = marked(count),
              scale = equal_reals(1, p % 2 == 0 ? 0.0371 : 0.0625);
    free(numbers);
    ganz_quantize_call c = {.p = p, .is_signed = true}, g = c;
#define SIDE(s, side)                                                                                           \
    s.x = matrix(rows, cols, cols, GANZ_REAL, x.side), s.codes = matrix(rows, cols, cols, GANZ_S8, codes.side), \
    s.scale = scale.side
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    RUN(quantize, c, g);
    same_bytes("codes", codes, count);
    expect_no_failure();
}

/* ---- attention ---------------------------------------------------------------------------------- */

typedef struct attention_kind {
    int heads, width, queries, longest; /* longest list, or segment */
    bool lists, causal, values;
    int u_max;
    double sharp; /* how far scores lie apart */
} attention_kind;

/* Lists of random rows, the first of them the longest; or segments of random lengths. Returns how many segments. */
static int spans_of(const attention_kind *k, int keys, two *begins, two *list)
{
    int32_t *const begin = malloc(((size_t)k->queries + 2) * sizeof *begin), *const rows = malloc((size_t)k->queries *
                                                                                                  (size_t)k->longest *
                                                                                                  sizeof *rows);
    int count = 0, at = 0;
    begin[0] = 0;
    for (int i = 0; k->lists && i < k->queries; i++) {
        const int n = i == 0 ? k->longest : 1 + random_below(k->longest);
        for (int j = 0; j < n; j++) rows[at++] = random_below(keys);
        begin[++count] = at;
    }
    while (!k->lists && at < k->queries) {
        const int n = 1 + random_below(k->longest);
        at += n < k->queries - at ? n : k->queries - at;
        begin[++count] = at;
    }
    *begins = ints_of(begin, count + 1);
    *list = ints_of(rows, k->lists ? at : 1);
    free(begin);
    free(rows);
    return k->lists ? 0 : count;
}

static void attention(attention_kind k)
{
    const int d = k.heads * k.width, keys = k.lists ? 97 : k.queries;
    const size_t count = (size_t)k.queries * (size_t)d;
    begin("integer attention %d heads of %d, %d queries, %s to %d%s, u to %d", k.heads, k.width, k.queries,
          k.lists ? "lists" : "segments", k.longest, k.causal ? ", causal" : "", k.u_max);
    two begins, list;
    const int segments = spans_of(&k, keys, &begins, &list);
    const two q = codes_of(count, -127, 127), kv = codes_of((size_t)keys * 2 * (size_t)d, -127, 127);
    const two q_scale = equal_reals(1, 0.011 * k.sharp), k_scale = equal_reals(1, 0.017),
              v_scale = equal_reals(1, 0.023), u_scale = equal_reals(1, 1.0 / k.u_max);
    const two out = marked(count * sizeof(float)), codes = marked(count), code_scale = equal_reals(1, 0.019);
    ganz_attention_call c = {.heads = k.heads,
                             .width = k.width,
                             .inv_root = (real)(1 / sqrt(k.width)),
                             .u_max = k.u_max},
                        g = c;
#define SIDE(s, side)                                                                                 \
    s.see = (ganz_spans){.queries = k.queries,                                                        \
                         .keys = keys,                                                                \
                         .segments = segments,                                                        \
                         .longest_query = k.lists ? 1 : k.longest,                                    \
                         .longest_key = k.longest,                                                    \
                         .causal = k.causal,                                                          \
                         .query_begin = begins.side,                                                  \
                         .key_begin = begins.side,                                                    \
                         .list_begin = begins.side,                                                   \
                         .list = list.side},                                                          \
    s.q = (ganz_operand){matrix(k.queries, d, d, GANZ_S8, q.side), q_scale.side},                     \
    s.k = (ganz_operand){matrix(keys, d, 2 * d, GANZ_S8, kv.side), k_scale.side},                     \
    s.v = (ganz_operand){matrix(keys, d, 2 * d, GANZ_S8, (int8_t *)kv.side + d), v_scale.side},       \
    s.u_scale = u_scale.side, s.out = matrix(k.queries, d, d, GANZ_REAL, k.values ? out.side : NULL), \
    s.codes = (ganz_code_out){                                                                        \
        matrix(k.queries, d, d, GANZ_S8, k.values ? NULL : codes.side), code_scale.side, 127, NULL, NULL, NULL}
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    RUN(attention_codes, c, g);
    same_bytes("values", out, count * sizeof(float));
    same_bytes("codes", codes, count);
    expect_no_failure();
}

static void attentions(void)
{
    static const int shapes[][2] = {{8, 64}, {4, 64}, {16, 64}, {8, 32}, {2, 128}, {3, 24}, {1, 7}, {12, 16}};
    for (size_t i = 0; i < GANZ_COUNT(shapes); i++) {
        const int heads = shapes[i][0], width = shapes[i][1];
        attention((attention_kind){heads, width, 75, 30, false, false, false, 255, 1});
        attention((attention_kind){heads, width, 75, 30, false, true, true, 63, 0.2});
        attention((attention_kind){heads, width, 40, 70, true, false, false, 255, 0.1});
        attention((attention_kind){heads, width, 9, 333, true, false, true, 15, 0.01});
    }
    attention((attention_kind){8, 64, 5, 3000, true, false, false, 255, 0.02});
    attention((attention_kind){8, 64, 4000, 60, true, false, false, 255, 0.1});
}

/* ---- candidates --------------------------------------------------------------------------------- */

/* Values: 0: all different; 1: few, so that many are equal; 2: zeros of both signs, infinities; 3: falling; 4: rising
 * with the stride of the threads, so that one thread has the best of all. */
static void candidates(int rows, int vocab, int k, int values, int banned)
{
    const size_t count = (size_t)rows * (size_t)vocab, found = (size_t)rows * (size_t)k;
    begin("candidates: %d of %d x %d, values %d, banned %d", k, rows, vocab, values, banned);
    float *const x = malloc(count * sizeof *x);
    for (size_t i = 0; i < count; i++) {
        const int col = (int)(i % (size_t)vocab);
        x[i] = (float)(random_below(20000001) - 10000000) * 1.1e-6f;
        if (values == 1) x[i] = (float)(random_below(5) - 2);
        if (values == 2) x[i] = random_below(4) == 0 ? -0.0f : random_below(3) == 0 ? 0.0f : -INFINITY;
        if (values == 3) x[i] = -(float)col * 0.01f;
        if (values == 4) x[i] = (float)(col % 256 == 77 ? col : -col) * 0.001f;
    }
    const two logits = bytes_of(x, count * sizeof *x), value = marked(found * sizeof(float)),
              index = marked(found * sizeof(int32_t)), sum = marked((size_t)rows * sizeof(float));
    free(x);
    ganz_topk_call c = {.k = k, .banned = banned}, g = c;
#define SIDE(s, side)                                                                                          \
    s.logits = matrix(rows, vocab, vocab, GANZ_REAL, logits.side), s.value = value.side, s.index = index.side, \
    s.logsumexp = sum.side
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    RUN(topk, c, g);
    same_bytes("values", value, found * sizeof(float));
    same_bytes("places", index, found * sizeof(int32_t));
    same_bytes("log-sum-exp", sum, (size_t)rows * sizeof(float));
    expect_no_failure();
}

/* Logits by a product and at once their candidates: the device may look at the product's own notes. */
static void logits(int rows, int in, int vocab, int k, int banned)
{
    const size_t count = (size_t)rows * (size_t)vocab, found = (size_t)rows * (size_t)k;
    begin("logits and candidates: %d of %d x %d from %d, banned %d", k, rows, vocab, in, banned);
    const two x = codes_of((size_t)rows * (size_t)in, -127, 127), y = marked(count * sizeof(float)),
              x_scale = equal_reals(1, 0.002), w_scale = equal_reals(1, 0.01), value = marked(found * sizeof(float)),
              index = marked(found * sizeof(int32_t)), sum = marked((size_t)rows * sizeof(float));
    const packed w = packed_of(vocab, in, 8, -127);
    ganz_linear_call lc = {.rows = rows, .in = in, .out = vocab}, lg = lc;
    ganz_topk_call c = {.k = k, .banned = banned}, g = c;
#define SIDE(l, s, side)                                                                                            \
    l.x.m = matrix(rows, in, in, GANZ_S8, x.side), l.x.scale = x_scale.side, l.packed = w.side,                     \
    l.w.scale = w_scale.side, l.y = s.logits = matrix(rows, vocab, vocab, GANZ_REAL, y.side), s.value = value.side, \
    s.index = index.side, s.logsumexp = sum.side
    SIDE(lc, c, cpu);
    SIDE(lg, g, gpu);
#undef SIDE
    RUN(linear_codes, lc, lg);
    RUN(topk, c, g);
    same_bytes("values", value, found * sizeof(float));
    same_bytes("places", index, found * sizeof(int32_t));
    same_bytes("log-sum-exp", sum, (size_t)rows * sizeof(float));
    expect_no_failure();
}

/* ---- steps that are recorded -------------------------------------------------------------------- */

enum { STEP_ROWS = 4, STEP_IN = 512, STEP_OUT = 512, STEPS = 4, STEP_PRODUCTS = 3 };

/* Products of one input, whose codes go to rows that the device numbers: run, recorded, and run again. */
static void recorded(void)
{
    begin("%d products of the same input, recorded and run again", STEP_PRODUCTS);
    const size_t all = (size_t)STEPS * STEP_ROWS * STEP_OUT, part = (size_t)STEP_ROWS * STEP_OUT;
    const two scale = equal_reals(1, 0.01), x = codes_of((size_t)STEP_ROWS * STEP_IN, -127, 127);
    const int32_t zero = 0;
    const two first = ints_of(&zero, 1);
    two codes[STEP_PRODUCTS];
    packed w[STEP_PRODUCTS];
    for (int i = 0; i < STEP_PRODUCTS; i++) codes[i] = marked(all), w[i] = packed_of(STEP_OUT, STEP_IN, 8, -127);
    for (int step = 0; step < STEPS; step++) {
        const int32_t row = step * STEP_ROWS;
        both.gpu->upload(both.gpu, first.gpu, &row, sizeof row);
        const bool again = both.gpu->replay(both.gpu, codes, 7);
        expect("run again", again == (step > 1), again, step > 1);
        if (step == 1) both.gpu->record(both.gpu);
        for (int i = 0; i < STEP_PRODUCTS; i++) {
            ganz_linear_call c = {.rows = STEP_ROWS, .in = STEP_IN, .out = STEP_OUT}, g = c;
#define SIDE(s, side)                                                                                                 \
    s.x.m = matrix(STEP_ROWS, STEP_IN, STEP_IN, GANZ_S8, x.side), s.x.scale = s.w.scale = scale.side,                 \
    s.packed = w[i].side, s.codes.m = matrix(STEP_ROWS, STEP_OUT, STEP_OUT, GANZ_S8, codes[i].side), s.codes.p = 127, \
    s.codes.scale = scale.side
            SIDE(c, cpu);
            SIDE(g, gpu);
#undef SIDE
            c.codes.m.data = (int8_t *)codes[i].cpu + (size_t)step * part;
            g.codes.first = first.gpu;
            both.cpu->linear_codes(both.cpu, &c);
            if (!again) both.gpu->linear_codes(both.gpu, &g);
        }
        if (step == 1) both.gpu->recorded(both.gpu, codes, 7);
    }
    for (int i = 0; i < STEP_PRODUCTS; i++) same_bytes("codes", codes[i], all);
    both.gpu->forget(both.gpu, codes);
    expect("forgotten", !both.gpu->replay(both.gpu, codes, 7), 1, 0);
    expect_no_failure();
}

void code_cases(void)
{
    linears();
    norms();
    for (int kind = 0; kind < 8; kind++)
        embed(kind * 40 + 1,
              kind % 3 == 0   ? 512
              : kind % 3 == 1 ? 36
                              : 50,
              kind % 4 != 3, kind % 2 == 0 && kind % 4 != 3, kind < 4, kind % 3 == 2 ? 600 : 0);
    for (int p = 127; p > 0; p /= 2) quantize(100, 512, p), quantize(31, 1024, p - 1 + p % 2);
    attentions();
    for (int values = 0; values < 5; values++) {
        candidates(5, 33288, 8, values, 2);
        candidates(3, 32000, 1, values, 0);
        candidates(3, 300, 128, values, 1);
        candidates(2, 9, 9, values, 0);
        candidates(2, 4099, 128, values, 4099);
    }
    candidates(300, 33288, 8, 0, 0);
    logits(1, 512, 32000, 8, 2);
    logits(4, 512, 33288, 8, 2);
    logits(40, 256, 33288, 1, 33288);
    logits(300, 512, 9001, 128, 0);
    logits(700, 512, 32000, 8, 0);
    if (both.gpu->replay) recorded();
}
