/* Masks, embedding, norm, loss, candidates: CPU against CUDA. */
#include <stdlib.h>
#include <string.h>

#include "backend_case.h"

#define RUN(entry, c, g) (both.cpu->entry(both.cpu, &(c)), both.gpu->entry(both.gpu, &(g)))

/* ---- masks -------------------------------------------------------------------------------------- */

static void masks(void)
{
    const int64_t counts[] = {1, 3, 4, 5, 4096, 100003};
    begin("masks");
    for (size_t i = 0; i < GANZ_COUNT(counts); i++)
        for (int shift = 0; shift < 2; shift++) {
            const two t = bytes_of(NULL, (size_t)counts[i] + 8);
            both.cpu->mask(both.cpu, (uint8_t *)t.cpu + shift, counts[i], 12345678901ull, 77 + i, 0.9f);
            both.gpu->mask(both.gpu, (uint8_t *)t.gpu + shift, counts[i], 12345678901ull, 77 + i, 0.9f);
            same_bytes("mask", t, (size_t)counts[i] + 8);
        }
    expect_no_failure();
}

/* Groups for shared masks: tokens of a packed row follow each other. */
static two groups_of(int rows, int groups)
{
    int32_t *group = malloc((size_t)rows * sizeof *group);
    for (int i = 0; i < rows; i++) group[i] = (int32_t)((int64_t)i * groups / rows);
    const two t = ints_of(group, rows);
    free(group);
    return t;
}

/* Dropout of the two devices, shared by groups of rows or (groups 0) not. */
static void drop_of(int rows, int cols, int groups, ganz_drop *c, ganz_drop *g)
{
    const two mask = random_mask((size_t)(groups > 0 ? groups : rows) * (size_t)cols, 0.7);
    *c = (ganz_drop){mask.cpu, NULL, (real)(1 / 0.7)};
    *g = (ganz_drop){mask.gpu, NULL, (real)(1 / 0.7)};
    if (groups == 0) return;
    const two group = groups_of(rows, groups);
    c->group = group.cpu;
    g->group = group.gpu;
}

/* ---- embedding ---------------------------------------------------------------------------------- */

static int32_t *sorted_ids; /* for compare_tokens */

static int compare_tokens(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    if (sorted_ids[x] != sorted_ids[y]) return sorted_ids[x] < sorted_ids[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* One id in `often` is a common one, so that runs of equal ids cross many groups of 32. */
static void make_ids(int rows, int vocab, int often, two *ids, two *by_id, two *positions)
{
    int32_t *all = malloc(3 * (size_t)rows * sizeof *all), *order = all + rows, *place = order + rows;
    for (int i = 0; i < rows; i++) {
        all[i] = random_below(often) == 0 ? random_below(vocab) : random_below(3) - 1; /* -1, 0 and 1 are common */
        order[i] = i;
        place[i] = random_below(50);
    }
    sorted_ids = all;
    qsort(order, (size_t)rows, sizeof *order, compare_tokens);
    *ids = ints_of(all, rows);
    *by_id = ints_of(order, rows);
    *positions = ints_of(place, rows);
    free(all);
}

typedef struct embed_kind {
    int rows, cols;
    int often;  /* one id in so many is a rare one */
    int groups; /* of dropout; -1: none */
    bool codes, by_row;
    int start_id; /* 0: zeros; other ids look up a vector */
} embed_kind;

static void embedding(embed_kind k)
{
    const int vocab = 601, rows = k.rows, cols = k.cols, often = k.often, groups = k.groups;
    const bool codes = k.codes, by_row = k.by_row;
    const ganz_type type = codes ? product() : GANZ_REAL;
    two ids, by_id, positions;
    begin("embed %d x %d, one in %d rare, %s, start %d", rows, cols, often, codes ? "codes" : "values", k.start_id);
    make_ids(rows, vocab, often, &ids, &by_id, &positions);
    const mats table = codes ? code_matrix(vocab, cols, type, 127) : random_matrix(vocab, cols, cols, type, 1);
    const two scale = by_row ? random_reals((size_t)vocab, 0.01) : equal_reals(1, 0.0123),
              timing = random_reals(50 * (size_t)cols, 1), extra = random_reals((size_t)cols, 1);
    const two out = nan_reals((size_t)rows * (size_t)cols), grad = random_reals((size_t)rows * (size_t)cols, 1);
    const two table_grad = random_reals((size_t)vocab * (size_t)cols, 1), extra_grad = random_reals((size_t)cols, 1);
    const two start = random_reals((size_t)cols, 1), start_grad = random_reals((size_t)cols, 1);
    ganz_embed_call c = {.rows = rows, .cols = cols, .vocab = vocab, .root = (real)22.5, .by_row = by_row}, g;
    c.start_id = k.start_id;
    ganz_drop c_drop, g_drop;
    drop_of(rows, cols, groups, &c_drop, &g_drop);
    g = c;
#define SIDE(s, side)                                                                                                  \
    s.ids = ids.side, s.positions = positions.side, s.table.m = table.side, s.table.scale = codes ? scale.side : NULL, \
    s.timing = timing.side, s.extra = groups != 1 ? extra.side : NULL, s.out = out.side, s.out_grad = grad.side,       \
    s.table_grad = table_grad.side, s.extra_grad = groups != 1 ? extra_grad.side : NULL, s.by_id = by_id.side,         \
    s.start = k.start_id ? start.side : NULL, s.start_grad = k.start_id ? start_grad.side : NULL,                      \
    s.drop = groups >= 0 ? s##_drop : (ganz_drop){0}
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    RUN(embed, c, g);
    same_reals("out", out, (size_t)rows * (size_t)cols, 1e-6);
    RUN(embed_grad, c, g);
    same_reals("table_grad", table_grad, (size_t)vocab * (size_t)cols, 1e-6);
    same_reals("extra_grad", extra_grad, (size_t)cols, 1e-6);
    same_reals("start_grad", start_grad, (size_t)cols, 1e-6);
    expect_no_failure();
}

/* ---- norm --------------------------------------------------------------------------------------- */

typedef struct norm_kind {
    bool delta, back, frozen;
    int groups; /* -1: no dropout */
    ganz_type type, grad_type;
} norm_kind;

static void norm(int rows, int cols, norm_kind k)
{
    const size_t count = (size_t)rows * (size_t)cols;
    begin("norm %d x %d%s%s%s, types %d %d", rows, cols, k.delta ? " delta" : "", k.back ? " back" : "",
          k.frozen ? " frozen" : "", k.type, k.grad_type);
    const two x = random_reals(count, 3), gain = random_reals((size_t)cols, 1), bias = random_reals((size_t)cols, 1);
    const two sum = nan_reals(count), stats = nan_reals(2 * (size_t)rows),
              x_grad = k.back ? random_reals(count, 1) : nan_reals(count);
    const two gain_grad = random_reals((size_t)cols, 1), bias_grad = random_reals((size_t)cols, 1),
              delta_sums = random_reals((size_t)cols, 1);
    const mats delta = k.delta ? random_matrix(rows, cols, cols + 8, k.type, 1) : no_matrix();
    const mats delta_grad = k.delta ? nan_matrix(rows, cols, cols + 16, k.type) : no_matrix();
    const mats y = nan_matrix(rows, cols, cols + 8, k.type),
               y_grad = random_matrix(rows, cols, cols + 4, k.grad_type, 1);
    ganz_norm_call c = {.rows = rows, .cols = cols, .eps = (real)1e-6}, g;
    ganz_drop c_drop = {0}, g_drop = {0};
    if (k.groups >= 0) drop_of(rows, cols, k.groups, &c_drop, &g_drop);
    g = c;
#define SIDE(s, side)                                                                                                \
    s.x = x.side, s.delta = delta.side, s.drop = s##_drop, s.gain = gain.side, s.bias = bias.side, s.sum = sum.side, \
    s.y = y.side, s.stats = stats.side, s.y_grad = y_grad.side, s.sum_grad = k.back ? x_grad.side : NULL,            \
    s.x_grad = x_grad.side, s.delta_grad = delta_grad.side, s.gain_grad = k.frozen ? NULL : gain_grad.side,          \
    s.bias_grad = k.frozen ? NULL : bias_grad.side, s.delta_sums = k.delta && k.back ? delta_sums.side : NULL
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    RUN(norm, c, g);
    same_matrix("y", y, row_tolerance(k.type));
    same_reals("stats", stats, 2 * (size_t)rows, 1e-5);
    if (k.delta) same_reals("sum", sum, count, 1e-6);
    RUN(norm_grad, c, g);
    same_reals("x_grad", x_grad, count, 1e-5);
    if (k.delta) same_matrix("delta_grad", delta_grad, row_tolerance(k.type));
    same_reals("scale_grad", gain_grad, (size_t)cols, 1e-5);
    same_reals("bias_grad", bias_grad, (size_t)cols, 1e-5);
    same_reals("sums of delta_grad", delta_sums, (size_t)cols, 1e-4);
    expect_no_failure();
}

/* To codes of several scales at once, and back. The last out gets no gradient. values: to values too, and a gradient
 * of theirs, as after a sublayer. */
enum { OUTS_MOST = 30 };
static void norm_to_codes(int rows, int cols, int outs, bool values)
{
    const size_t count = (size_t)rows * (size_t)cols;
    begin("norm %d x %d to codes for %d%s", rows, cols, outs, values ? " and values" : "");
    const two x = random_reals(count, 3), gain = random_reals((size_t)cols, 1), bias = random_reals((size_t)cols, 1);
    const two sum = nan_reals(count), stats = nan_reals(2 * (size_t)rows), x_grad = nan_reals(count);
    const two gain_grad = random_reals((size_t)cols, 1), bias_grad = random_reals((size_t)cols, 1);
    const mats delta = random_matrix(rows, cols, cols, GANZ_REAL, 1),
               delta_grad = nan_matrix(rows, cols, cols, product());
    const mats y = nan_matrix(rows, cols, cols, GANZ_REAL);
    const mats y_grad =
        values ? random_matrix(rows, cols, cols, GANZ_REAL, 1) : nan_matrix(rows, cols, cols, GANZ_REAL);
    coded k[OUTS_MOST];
    ganz_code_out codes[OUTS_MOST] = {0};
    ganz_matrix code_grad[OUTS_MOST] = {0};
    ganz_norm_call c = {.rows = rows, .cols = cols, .eps = (real)1e-6}, g;
    ganz_drop c_drop, g_drop;
    drop_of(rows, cols, 1, &c_drop, &g_drop);
    g = c;
#define SIDE(s, side)                                                                                                \
    s.x = x.side, s.delta = delta.side, s.drop = s##_drop, s.gain = gain.side, s.bias = bias.side, s.sum = sum.side, \
    s.stats = stats.side, s.x_grad = x_grad.side, s.delta_grad = delta_grad.side, s.gain_grad = gain_grad.side,      \
    s.bias_grad = bias_grad.side
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    c.y = y.cpu;
    c.y_grad = y_grad.cpu;
    for (int i = 0; i < outs; i++) {
        k[i] = coded_of(rows, cols, 0.004 * (i + 1), 127);
        codes[i] = code_out_of(&k[i]);
        if (i + 1 < outs || outs == 1) code_grad[i] = k[i].grad.gpu;
    }
    g.outs = outs;
    g.codes = codes;
    g.code_grad = code_grad;
    if (values) g.y = y.gpu, g.y_grad = y_grad.gpu;
    RUN(norm, c, g);
    same_reals("stats", stats, 2 * (size_t)rows, 1e-5);
    same_reals("sum", sum, count, 1e-6);
    for (int i = 0; i < outs; i++) {
        round_on_cpu(&k[i], &y.cpu);
        same_matrix("codes", k[i].codes, 1e-3); /* a value on the edge may round to its neighbour */
        same_as_bytes("bytes", &codes[i].m, codes[i].bytes);
        if (code_grad[i].data) round_back_on_cpu(&k[i], &y.cpu, &y_grad.cpu, values || i > 0);
    }
    if (values) same_matrix("y", y, 1e-5);
    RUN(norm_grad, c, g);
    same_reals("x_grad", x_grad, count, 1e-3);
    same_matrix("delta_grad", delta_grad, values || outs > 12 ? 5e-3 : row_tolerance(product()));
    same_reals("scale_grad", gain_grad, (size_t)cols, 1e-3);
    same_reals("bias_grad", bias_grad, (size_t)cols, 1e-3);
    expect_no_failure();
}

/* After a sublayer without codes: values for the residual, and copies in the product type for two readers. */
static void norm_to_copies(int rows, int cols)
{
    const size_t count = (size_t)rows * (size_t)cols;
    begin("norm %d x %d to values and copies", rows, cols);
    const two x = random_reals(count, 3), gain = random_reals((size_t)cols, 1), bias = random_reals((size_t)cols, 1);
    const two stats = nan_reals(2 * (size_t)rows), x_grad = nan_reals(count);
    const two gain_grad = random_reals((size_t)cols, 1), bias_grad = random_reals((size_t)cols, 1);
    const mats y = nan_matrix(rows, cols, cols, GANZ_REAL), y_grad = random_matrix(rows, cols, cols, GANZ_REAL, 1);
    const mats copy[2] = {nan_matrix(rows, cols, cols + 8, product()), nan_matrix(rows, cols, cols, product())};
    const mats grad[2] = {random_matrix(rows, cols, cols + 8, product(), 1),
                          random_matrix(rows, cols, cols, product(), 1)};
    const ganz_code_out outs[2] = {{.m = copy[0].gpu}, {.m = copy[1].gpu}};
    const ganz_matrix code_grad[2] = {grad[0].gpu, grad[1].gpu};
    ganz_norm_call c = {.rows = rows, .cols = cols, .eps = (real)1e-5}, g = c;
#define SIDE(s, side)                                                                                                 \
    s.x = x.side, s.gain = gain.side, s.bias = bias.side, s.y = y.side, s.stats = stats.side, s.y_grad = y_grad.side, \
    s.x_grad = x_grad.side, s.gain_grad = gain_grad.side, s.bias_grad = bias_grad.side
    SIDE(c, cpu);
    SIDE(g, gpu);
#undef SIDE
    g.outs = 2;
    g.codes = outs;
    g.code_grad = code_grad;
    RUN(norm, c, g);
    same_matrix("y", y, 1e-5);
    for (int o = 0; o < 2; o++)
        for (int i = 0; i < rows; i++) {
            const size_t bytes = (size_t)cols * sizeof(real);
            real *const to = (real *)copy[o].cpu.data + (size_t)i * (size_t)copy[o].cpu.ld;
            const real *const from = (const real *)grad[o].cpu.data + (size_t)i * (size_t)grad[o].cpu.ld;
            real *const sum = (real *)y_grad.cpu.data + (size_t)i * (size_t)cols;
            memcpy(to, (const real *)y.cpu.data + (size_t)i * (size_t)cols, bytes);
            for (int j = 0; j < cols; j++) sum[j] += from[j];
        }
    same_matrix("first copy", copy[0], row_tolerance(product()));
    same_matrix("second copy", copy[1], row_tolerance(product()));
    RUN(norm_grad, c, g);
    same_reals("x_grad", x_grad, count, 1e-5);
    same_reals("scale_grad", gain_grad, (size_t)cols, 1e-5);
    same_reals("bias_grad", bias_grad, (size_t)cols, 1e-5);
    expect_no_failure();
}

static void norms(void)
{
    const int shapes[][2] = {{1, 64}, {3, 512}, {1000, 512}, {257, 1024}, {33, 16}, {5000, 36}};
    for (size_t i = 0; i < GANZ_COUNT(shapes); i++) {
        const int rows = shapes[i][0], cols = shapes[i][1], some = rows < 4 ? 1 : 4;
        norm(rows, cols, (norm_kind){true, true, false, some, product(), product()});
        norm(rows, cols, (norm_kind){true, false, false, -1, product(), GANZ_REAL});
        norm(rows, cols, (norm_kind){false, true, false, -1, product(), GANZ_REAL});
        norm(rows, cols, (norm_kind){true, true, true, 0, GANZ_REAL, product()});
    }
}

/* ---- loss and candidates ------------------------------------------------------------------------ */

typedef struct loss_kind {
    int rows, vocab, ld;
    ganz_type type;
    double smoothing;
    bool want_grad, teach;
    int pad;
} loss_kind;

static void loss(loss_kind k)
{
    const int rows = k.rows, vocab = k.vocab, ld = k.ld;
    const ganz_type type = k.type;
    const bool want_grad = k.want_grad, teach = k.teach;
    begin("loss %d x %d (ld %d) type %d%s%s", rows, vocab, ld, type, want_grad ? "" : ", value only",
          teach ? ", a teacher" : "");
    const mats logits = random_matrix(rows, vocab, ld, type, 4);
    const mats taught = teach ? random_matrix(rows, vocab, ld, type, 4) : no_matrix();
    int32_t *labels = malloc((size_t)rows * sizeof *labels);
    for (int i = 0; i < rows; i++) { /* some labels are the best class, some are pads */
        const real *line = (const real *)logits.cpu.data + (size_t)i * (size_t)ld;
        int best = 0;
        for (int j = 1; j < vocab; j++)
            if (line[j] > line[best]) best = j;
        labels[i] = i % 10 == 9 ? -1 : i % 5 == 4 ? k.pad : i % 3 == 0 ? best : random_below(vocab);
    }
    const two label = ints_of(labels, rows);
    const double before[3] = {1.5, 2, 3};
    const two sums = bytes_of(before, sizeof before), share = random_reals((size_t)rows, 1);
    const ganz_loss_call c = {.rows = rows,
                              .vocab = vocab,
                              .logits = logits.cpu,
                              .taught = taught.cpu,
                              .labels = label.cpu,
                              .pad = k.pad,
                              .smoothing = (real)k.smoothing,
                              .grad_scale = (real)0.01,
                              .share = k.smoothing > 0 ? share.cpu : NULL,
                              .want_grad = want_grad,
                              .sums = sums.cpu};
    ganz_loss_call g = c;
    g.logits = logits.gpu;
    g.taught = taught.gpu;
    g.labels = label.gpu;
    g.share = c.share ? share.gpu : NULL;
    g.sums = sums.gpu;
    RUN(loss, c, g);
    same_doubles("sums", sums, 3, 1e-5);
    same_matrix("gradient", logits, want_grad ? row_tolerance(type) : 0);
    expect_no_failure();
    free(labels);
}

static void topk(int rows, int vocab, int k, ganz_type type, int distinct)
{
    begin("candidates: %d of %d x %d, type %d, %d values", k, rows, vocab, type, distinct);
    const mats logits =
        distinct > 0 ? code_matrix(rows, vocab, type, distinct / 2) : random_matrix(rows, vocab, vocab, type, 3);
    const two value = nan_reals((size_t)rows * (size_t)k), sum = nan_reals((size_t)rows);
    const two index = bytes_of(NULL, (size_t)rows * (size_t)k * sizeof(int32_t));
    const ganz_topk_call c = {
        .logits = logits.cpu, .k = k, .value = value.cpu, .index = index.cpu, .logsumexp = sum.cpu};
    const ganz_topk_call g = {
        .logits = logits.gpu, .k = k, .value = value.gpu, .index = index.gpu, .logsumexp = sum.gpu};
    RUN(topk, c, g);
    same_bytes("value", value, (size_t)rows * (size_t)k * sizeof(float));
    same_bytes("index", index, (size_t)rows * (size_t)k * sizeof(int32_t));
    same_bytes("logsumexp", sum, (size_t)rows * sizeof(float));
    expect_no_failure();
}

void rows_cases(void)
{
    masks();
    embedding((embed_kind){1, 64, 1, -1, false, false, 0});
    embedding((embed_kind){37, 512, 2, 3, false, false, 0});
    embedding((embed_kind){700, 512, 10, 0, true, false, 0});
    embedding((embed_kind){700, 512, 10, 0, true, true, 0});
    embedding((embed_kind){3001, 36, 100, 1, true, false, 0});
    embedding((embed_kind){6000, 1024, 4, 8, false, false, 0});
    embedding((embed_kind){700, 512, 10, 2, false, false, 1});
    embedding((embed_kind){700, 64, 1, 0, true, true, 600});
    norms();
    for (int outs = 1; outs <= OUTS_MOST && both.gpu->makes_codes; outs += outs == 1 ? 1 : 5) {
        norm_to_codes(outs == 2 ? 1001 : 70, outs == 1 ? 36 : 512, outs, false);
        norm_to_codes(outs == 2 ? 1001 : 70, outs == 1 ? 36 : 512, outs, true);
    }
    if (both.gpu->makes_codes) norm_to_codes(333, 256, 3, false);
    if (both.gpu->makes_codes) norm_to_copies(301, 512);
    loss((loss_kind){1, 50, 50, product(), 0.1, true, false, 0});
    loss((loss_kind){40, 1003, 1003, product(), 0.1, true, false, 0});
    loss((loss_kind){30, 33288, 33288, product(), 0.1, true, false, 0});
    loss((loss_kind){17, 33288, 33288, GANZ_REAL, 0.0, true, false, 0});
    loss((loss_kind){30, 1003, 1008, GANZ_REAL, 0.1, true, false, 0});
    loss((loss_kind){30, 1003, 1008, product(), 0.1, false, false, 0});
    loss((loss_kind){3, 70001, 70001, product(), 0.1, true, false, 0});
    loss((loss_kind){1, 50, 50, product(), 0.1, true, true, 0});
    loss((loss_kind){30, 33288, 33288, product(), 0.1, true, true, 0});
    loss((loss_kind){17, 33288, 33288, GANZ_REAL, 0.1, true, true, 0});
    loss((loss_kind){30, 1003, 1008, GANZ_REAL, 0.1, true, true, 0});
    loss((loss_kind){41, 1003, 1003, product(), 0.1, false, true, 0});
    loss((loss_kind){3, 70001, 70001, product(), 0.1, true, true, 0});
    loss((loss_kind){40, 1003, 1003, product(), 0.1, true, false, 1002});
    loss((loss_kind){40, 1003, 1008, GANZ_REAL, 0.1, true, true, 7});
    topk(1, 9, 8, product(), 0);
    topk(40, 33288, 8, product(), 0);
    topk(5, 33288, 16, GANZ_REAL, 0);
    topk(50, 1003, 16, product(), 5);
    topk(3, 70001, 8, GANZ_REAL, 9);
}
