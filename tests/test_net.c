/* The network: names and counts, initial values, whole passes, one token at a time, invariances. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/net.h"
#include "nn_case.h"

static const ganz_config base = NN_SHAPE(512, 2048, 8, 6, 6, 33288, 256),
                         big = NN_SHAPE(1024, 4096, 16, 6, 6, 33288, 256);

/* ---- registry ----------------------------------------------------------------------------------- */

static void counts_are_those_of_the_paper(void **state)
{
    (void)state;
    const ganz_config configs[] = {base, big};
    const size_t totals[] = {61163520, 210407424};
    for (int i = 0; i < 2; i++) {
        ganz_net net;
        assert_int_equal(ganz_net_open(&net, &configs[i], NULL), GANZ_OK);
        assert_int_equal(ganz_params_total(&net.params), totals[i]);
        assert_int_equal(net.sites, 97);
        assert_int_equal(2 * net.pairs, 36);
        assert_int_equal(net.scales, 169);
        int scales = 0;
        for (int p = 0; p < net.params.count; p++) scales += net.params.list[p].kind == GANZ_SCALE;
        assert_int_equal(scales, 169);
        ganz_net_close(&net);
    }
}

/* Parameters whose names begin so, scales of quantization not counted. */
static size_t count_named(const ganz_net *net, const char *with)
{
    size_t sum = 0;
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        if (p->kind != GANZ_SCALE && strncmp(p->name, with, strlen(with)) == 0) sum += ganz_param_count(p);
    }
    return sum;
}

static void counts_of_the_parts(void **state)
{
    (void)state;
    const ganz_config configs[] = {base, big};
    const size_t want[2][5] = {{17043456, 16384, 3150336, 4199936, 2048}, {34086912, 32768, 12592128, 16788480, 4096}};
    for (int i = 0; i < 2; i++) {
        ganz_net net;
        assert_int_equal(ganz_net_open(&net, &configs[i], NULL), GANZ_OK);
        assert_int_equal(count_named(&net, "embedding"), want[i][0]);
        assert_int_equal(count_named(&net, "target_space"), want[i][1]);
        assert_int_equal(count_named(&net, "enc.0."), want[i][2]);
        assert_int_equal(count_named(&net, "enc.5."), want[i][2]);
        assert_int_equal(count_named(&net, "dec.0."), want[i][3]);
        assert_int_equal(count_named(&net, "dec.5."), want[i][3]);
        assert_int_equal(count_named(&net, "enc.norm.") + count_named(&net, "dec.norm."), want[i][4]);
        ganz_net_close(&net);
    }
}

static void places_are_canonical(void **state)
{
    (void)state;
    ganz_net net;
    assert_int_equal(ganz_net_open(&net, &base, NULL), GANZ_OK);
    static bool seen[169];
    int unsigned_steps = 0;
    for (int i = 0; i < net.sites; i++) {
        const ganz_site *const site = &net.site[i];
        assert_int_equal(site->place, i);
        assert_int_equal(site->input.z, net.first_scale + site->input.place);
        seen[site->input.place] = true;
        const ganz_param *const w = &net.params.list[site->weight];
        assert_int_equal(w->rows, site->out);
        assert_int_equal(w->cols, site->in);
    }
    for (int i = 0; i < net.pairs; i++) {
        const ganz_pair *const pair = &net.pair[i];
        const ganz_scale scales[] = {pair->q, pair->k, pair->u, pair->v};
        for (int j = 0; j < 4; j++) seen[scales[j].place] = true;
        unsigned_steps++;
    }
    for (int i = 0; i < net.scales; i++) assert_true(seen[i]);
    assert_int_equal(unsigned_steps, 18);
    assert_string_equal(net.site[0].name, "enc.0.self.q");
    assert_string_equal(net.site[35].name, "enc.5.ffn.out");
    assert_string_equal(net.site[41].name, "dec.0.cross.k");
    assert_string_equal(net.site[96].name, "logits");
    assert_string_equal(net.pair[5].name, "enc.5.self");
    assert_string_equal(net.pair[17].name, "dec.5.cross");
    ganz_net_close(&net);
}

static const ganz_param *find(const ganz_net *net, const char *name)
{
    for (int i = 0; i < net->params.count; i++)
        if (strcmp(net->params.list[i].name, name) == 0) return &net->params.list[i];
    return NULL;
}

static const ganz_param *named(const ganz_net *net, const char *name)
{
    const ganz_param *const param = find(net, name);
    if (!param) fail_msg("no parameter %s", name);
    return param;
}

static void names_and_neighbours(void **state)
{
    (void)state;
    ganz_net net;
    assert_int_equal(ganz_net_open(&net, &base, NULL), GANZ_OK);
    static const char *const names[] = {
        "embedding",         "target_space",     "enc.0.self.q.weight",  "enc.5.self.norm.scale",
        "enc.0.ffn.in.bias", "enc.norm.bias",    "dec.3.cross.o.weight", "dec.5.ffn.out.weight",
        "dec.norm.scale",    "enc.0.self.q.x.z", "enc.0.self.pair.u.z",  "logits.x.z"};
    for (size_t i = 0; i < GANZ_COUNT(names); i++) assert_non_null(named(&net, names[i]));
    assert_null(find(&net, "dec.6.ffn.out.weight"));
    const size_t square = 512 * 512;
    assert_int_equal(named(&net, "enc.0.self.v.weight")->offset - named(&net, "enc.0.self.q.weight")->offset,
                     2 * square);
    assert_int_equal(named(&net, "dec.1.cross.v.weight")->offset - named(&net, "dec.1.cross.k.weight")->offset, square);
    assert_int_equal(named(&net, "logits.x.z")->offset - named(&net, "enc.0.self.q.x.z")->offset, 168);
    size_t end = 0;
    for (int i = 0; i < net.params.count; i++) {
        const ganz_param *const p = &net.params.list[i];
        assert_true(p->offset >= end);
        assert_true(p->offset == end || p->offset % 64 == 0);
        end = p->offset + ganz_param_count(p);
    }
    assert_int_equal(end, net.params.block);
    ganz_net_close(&net);
}

static void bad_configurations_are_refused(void **state)
{
    (void)state;
    ganz_net net;
    ganz_error err;
    ganz_config c = base;
    c.heads = 7;
    assert_int_equal(ganz_net_open(&net, &c, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "width 512 does not divide into 7 heads");
    const ganz_config bad[] = {NN_SHAPE(0, 8, 1, 1, 1, 8, 8),  NN_SHAPE(8, 0, 1, 1, 1, 8, 8),
                               NN_SHAPE(8, 8, 0, 1, 1, 8, 8),  NN_SHAPE(8, 8, 2, 0, 1, 8, 8),
                               NN_SHAPE(8, 8, 2, 1, 65, 8, 8), NN_SHAPE(8, 8, 2, 1, 1, 1 << 21, 8),
                               NN_SHAPE(8, 8, 2, 1, 1, 8, 0),  NN_SHAPE(9, 8, 3, 1, 1, 8, 8)};
    for (size_t i = 0; i < GANZ_COUNT(bad); i++) assert_int_equal(ganz_net_open(&net, &bad[i], &err), GANZ_EINVAL);
    for (long n = 1;; n++) { /* every allocation fails once, cleanly */
        ganz_alloc_fail_at(n);
        const ganz_status status = ganz_net_open(&net, &base, &err);
        ganz_alloc_fail_at(0);
        if (status == GANZ_OK) break;
        assert_int_equal(status, GANZ_ENOMEM);
    }
    ganz_net_close(&net);
}

/* ---- initial values ----------------------------------------------------------------------------- */

static void check_uniform(const ganz_net *net, const real *block, const char *name, double bound)
{
    const ganz_param *const p = named(net, name);
    const real *const value = block + p->offset;
    const size_t count = ganz_param_count(p);
    double sum = 0, square = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        sum += value[i];
        square += (double)value[i] * value[i];
        largest = fmax(largest, fabs((double)value[i]));
    }
    assert_true(largest <= bound && largest > 0.999 * bound);
    const double deviation = bound / sqrt(3.0), root = sqrt((double)count);
    assert_true(fabs(sum / (double)count) < 4 * deviation / root);
    assert_true(fabs(sqrt(square / (double)count) / deviation - 1) < 4 / root);
}

/* Opens a net; the caller frees its first parameters. */
static real *fresh_values(ganz_net *net, const ganz_config *c)
{
    assert_int_equal(ganz_net_open(net, c, NULL), GANZ_OK);
    real *const block = ganz_alloc(net->params.block, sizeof *block);
    assert_non_null(block);
    ganz_params_init(&net->params, 7, block);
    return block;
}

static void initial_values(void **state)
{
    (void)state;
    ganz_config c = base;
    c.vocab = 1000;
    ganz_net net;
    real *const block = fresh_values(&net, &c);
    check_uniform(&net, block, "enc.0.self.q.weight", 0.0765466);
    check_uniform(&net, block, "dec.5.ffn.in.weight", 0.0484123);
    check_uniform(&net, block, "enc.3.ffn.out.weight", 0.0484123);
    check_uniform(&net, block, "target_space", 0.1050210);
    const ganz_param *const e = named(&net, "embedding");
    double square = 0, fourth = 0;
    for (size_t i = 0; i < ganz_param_count(e); i++) {
        const double x = (double)block[e->offset + i] * sqrt(512.0);
        square += x * x;
        fourth += x * x * x * x;
    }
    assert_true(fabs(square / 512000 - 1) < 0.01);
    assert_true(fabs(fourth / 512000 - 3) < 0.05); /* a normal's */
    for (int j = 0; j < 512; j++) {
        assert_true(block[named(&net, "enc.0.ffn.norm.scale")->offset + (size_t)j] == 1);
        assert_true(block[named(&net, "dec.norm.bias")->offset + (size_t)j] == 0);
        assert_true(block[named(&net, "dec.0.ffn.out.bias")->offset + (size_t)j] == 0);
    }
    const real *const q = block + named(&net, "enc.0.self.q.weight")->offset;
    assert_memory_not_equal(q, q + 512 * 512, 512 * sizeof *q); /* a stream of its own for each */
    ganz_free(block);
    ganz_net_close(&net);
}

static void initial_values_of_big(void **state)
{
    (void)state;
    ganz_config c = big;
    c.vocab = 64;
    c.encoder_layers = c.decoder_layers = 1;
    ganz_net net;
    real *const block = fresh_values(&net, &c);
    check_uniform(&net, block, "dec.0.cross.v.weight", 0.0541266);
    check_uniform(&net, block, "enc.0.ffn.in.weight", 0.0342327);
    check_uniform(&net, block, "dec.0.ffn.out.weight", 0.0342327);
    check_uniform(&net, block, "target_space", 0.0753778);
    ganz_free(block);
    ganz_net_close(&net);
}

/* ---- passes ------------------------------------------------------------------------------------- */

static const ganz_config small = NN_SHAPE(64, 96, 4, 2, 2, 50, 64);
static const nn_segment batch[] = {{0, 9, 7}, {0, 5, 8}, {0, 1, 1}, {1, 17, 20}, {2, 12, 3}, {2, 3, 11}};
enum { SEGMENTS = 6 };

/* Scales wide enough for most, narrow enough that some is clipped. */
static void set_fake(nn_case *c)
{
    for (int i = 0; i < c->net.scales; i++)
        c->weights.master[c->net.params.list[c->net.first_scale + i].offset] = -5.3f;
    for (int i = 0; i < c->net.pairs; i++) {
        const int z = c->net.pair[i].u.z;
        c->weights.master[c->net.params.list[z].offset] = -8.1f;
    }
    ganz_net_set_states(&c->net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE);
    nn_case_refresh(c);
}

static void open_small(nn_case *c, int threads, bool fake, const nn_segment *segments, int count, int first)
{
    nn_case_open(c, &small, threads, segments, count, first);
    nn_case_init(c, 3);
    if (fake) set_fake(c);
}

static void timing_table(void **state)
{
    (void)state;
    const struct {
        int width, channel;
        double value;
    } want[] = {{512, 0, 0.84147098},   {512, 1, 0.82177865},  {512, 255, 9.9999999833e-05}, {512, 256, 0.54030231},
                {512, 257, 0.56980685}, {1024, 1, 0.83168600}, {1024, 513, 0.55524624}};
    ganz_backend *be;
    assert_int_equal(ganz_cpu_backend_open(&be, 1, NULL), GANZ_OK);
    for (size_t i = 0; i < GANZ_COUNT(want); i++) {
        const ganz_config c = NN_SHAPE(want[i].width, 8, 8, 1, 1, 8, 2);
        ganz_net net;
        ganz_weights w;
        assert_int_equal(ganz_net_open(&net, &c, NULL), GANZ_OK);
        assert_int_equal(ganz_weights_open(&w, &net, be, false, NULL), GANZ_OK);
        assert_true(fabs((double)w.timing[c.width + want[i].channel] - want[i].value) < 1e-7);
        assert_true(w.timing[c.width / 2 - 1] == 0 && w.timing[c.width - 1] == 1); /* position 0 */
        ganz_weights_close(&w);
        ganz_net_close(&net);
    }
    be->close(be);
}

static void threads_do_not_show(void **state)
{
    (void)state;
    for (int fake = 0; fake < 2; fake++) {
        nn_case one, three;
        open_small(&one, 1, fake, batch, SEGMENTS, 0);
        open_small(&three, 3, fake, batch, SEGMENTS, 0);
        nn_case *const both[] = {&one, &three};
        double loss[2];
        for (int i = 0; i < 2; i++) {
            both[i]->dropout = (ganz_dropout){0.1f, 0.1f, 0.1f};
            both[i]->learn_scales = fake;
            loss[i] = nn_case_loss(both[i], true);
        }
        assert_true(loss[0] == loss[1]);
        assert_memory_equal(one.weights.grad, three.weights.grad, one.net.params.block * sizeof(real));
        nn_case_close(&one);
        nn_case_close(&three);
    }
}

static void compare(const real *got, const real *want, size_t count, bool exact)
{
    for (size_t i = 0; i < count; i++)
        if (exact ? got[i] != want[i] : fabsf(got[i] - want[i]) > 1e-4f)
            fail_msg("element %zu: %.9g, not %.9g", i, (double)got[i], (double)want[i]);
}

static void company_does_not_show(void **state)
{
    (void)state;
    for (int fake = 0; fake < 2; fake++) {
        nn_case all, alone;
        open_small(&all, 2, fake, batch, SEGMENTS, 0);
        real *const together = nn_case_logits(&all);
        const nn_segment only = {0, batch[3].source, batch[3].target};
        open_small(&alone, 1, fake, &only, 1, 3);
        real *const single = nn_case_logits(&alone);
        compare(single, together + (size_t)all.target.begin[3] * 50, (size_t)batch[3].target * 50, fake);
        ganz_free(together);
        ganz_free(single);
        nn_case_close(&all);
        nn_case_close(&alone);
    }
}

static void near_loss(double got, double want, double relative)
{
    if (!(fabs(got / want - 1) <= relative)) fail_msg("loss %.8f, not %.8f", got, want);
}

/* Ranges are measured, scales set to just hold them: then integers lose little, and hardly anything is clipped. */
static void measured_scales_hold_the_range(void **state)
{
    (void)state;
    nn_case c;
    open_small(&c, 2, false, batch, SEGMENTS, 0);
    const double plain = nn_case_loss(&c, false);
    ganz_net_set_states(&c.net, GANZ_WEIGHTS_FLOAT, GANZ_INPUTS_MEASURE);
    nn_case_refresh(&c);
    near_loss(nn_case_loss(&c, false), plain, 1e-5); /* as float: three products instead of one */
    for (int i = 0; i < c.net.scales; i++) assert_true(c.weights.largest[i] > 0);
    for (int i = 0; i < c.net.pairs; i++) {
        const real u = c.weights.largest[c.net.pair[i].u.place];
        assert_true(u <= 1.000001f && u > 1.0f / 20);
    }
    for (int i = 0; i < c.net.scales; i++)
        c.weights.master[c.net.params.list[c.net.first_scale + i].offset] = log2f(c.weights.largest[i] / 127);
    for (int i = 0; i < c.net.pairs; i++) {
        const ganz_scale u = c.net.pair[i].u;
        c.weights.master[c.net.params.list[u.z].offset] = log2f(c.weights.largest[u.place] / 255);
    }
    ganz_net_set_states(&c.net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE);
    nn_case_refresh(&c);
    near_loss(nn_case_loss(&c, false), plain, 0.01);
    int64_t clipped = 0;
    for (int i = 0; i < c.net.scales; i++) clipped += c.weights.clipped[i];
    assert_true(clipped < 200);
    for (int i = 0; i < c.net.scales; i++) /* scales half as wide clip a good deal */
        c.weights.master[c.net.params.list[c.net.first_scale + i].offset] -= 1;
    nn_case_refresh(&c);
    nn_case_loss(&c, false);
    for (int i = 0; i < c.net.scales; i++) clipped -= c.weights.clipped[i];
    assert_true(clipped < -500);
    nn_case_close(&c);
}

/* The first codes that come out of a ReLU in a pass. */
static struct {
    void (*quantize)(ganz_backend *be, const ganz_quantize_call *c);
    const real *plain; /* the scale without dropout */
    real codes[64 * 1024];
    size_t count;
    double worth; /* of a code, in plain scales */
} seen;

static void see_quantize(ganz_backend *be, const ganz_quantize_call *c)
{
    seen.quantize(be, c);
    const size_t count = (size_t)c->codes.rows * (size_t)c->codes.cols;
    if (seen.count > 0 || c->codes.cols != small.ffn) return;
    assert_true(count <= GANZ_COUNT(seen.codes));
    memcpy(seen.codes, c->codes.data, count * sizeof *seen.codes);
    seen.count = count;
    seen.worth = (double)*c->scale / (double)*seen.plain;
}

/* Dropout takes codes away and makes the others worth more; it does not change them. */
static void codes_come_before_dropout(void **state)
{
    (void)state;
    nn_case c;
    open_small(&c, 1, true, batch, SEGMENTS, 0);
    seen.quantize = c.be->quantize;
    seen.plain = c.weights.input_scale + ganz_net_find_site(&c.net, "enc.0.ffn.out")->input.place;
    c.be->quantize = see_quantize;
    seen.count = 0;
    nn_case_loss(&c, true);
    assert_true(seen.count > 0 && seen.worth == 1);
    real *const plain = ganz_alloc(seen.count, sizeof *plain);
    memcpy(plain, seen.codes, seen.count * sizeof *plain);
    const size_t count = seen.count;
    c.dropout.relu = 0.25f;
    c.weights.drop_scale = 1 / 0.75f;
    nn_case_refresh(&c);
    seen.count = 0;
    nn_case_loss(&c, true);
    assert_true(seen.count == count && fabs(seen.worth * 0.75 - 1) < 1e-6);
    size_t dropped = 0, there = 0;
    for (size_t i = 0; i < count; i++) {
        if (plain[i] == 0) continue;
        there++;
        if (seen.codes[i] == 0) dropped++;
        else assert_true(fabsf(seen.codes[i] - plain[i]) < 1e-6f);
    }
    assert_true(there > 100 && fabs((double)dropped / (double)there - 0.25) < 0.1);
    ganz_free(plain);
    nn_case_close(&c);
}

/* ---- one token at a time ------------------------------------------------------------------------ */

typedef struct stepper {
    nn_case *c;
    ganz_keys *keys;
    int32_t ids[SEGMENTS], positions[SEGMENTS], segment[SEGMENTS]; /* of live rows */
    int32_t self_begin[SEGMENTS + 1], cross_begin[SEGMENTS + 1], self[512], cross[512];
    int32_t row_of[SEGMENTS][32]; /* key row of each place */
} stepper;

/* Rows of the segments that have a token at place t, and what each sees. Live rows shrink as sentences end. */
static int gather(stepper *s, int t)
{
    const nn_case *const c = s->c;
    int live = 0, self = 0, cross = 0;
    for (int g = 0; g < c->segments; g++) {
        if (c->target.begin[g] + t >= c->target.begin[g + 1]) continue;
        s->segment[live] = g;
        s->ids[live] = c->target.ids[c->target.begin[g] + t];
        s->positions[live] = t;
        s->row_of[g][t] = s->keys->used + live;
        s->self_begin[live] = self;
        s->cross_begin[live] = cross;
        for (int i = 0; i <= t; i++) s->self[self++] = s->row_of[g][i];
        for (int i = c->source.begin[g]; i < c->source.begin[g + 1]; i++) s->cross[cross++] = i;
        live++;
    }
    s->self_begin[live] = self;
    s->cross_begin[live] = cross;
    return live;
}

static void step(stepper *s, ganz_pass *pass, int t, const real *want, bool exact)
{
    const int live = gather(s, t), vocab = s->c->net.config.vocab;
    const ganz_tokens tokens = {.rows = live, .ids = s->ids, .positions = s->positions};
    const ganz_spans self = {.queries = live,
                             .keys = s->keys->used + live,
                             .longest_query = 1,
                             .longest_key = t + 1,
                             .list_begin = s->self_begin,
                             .list = s->self};
    const ganz_spans cross = {.queries = live,
                              .keys = s->c->source.tokens.rows,
                              .longest_query = 1,
                              .longest_key = s->c->source.longest,
                              .list_begin = s->cross_begin,
                              .list = s->cross};
    const size_t host = ganz_arena_mark(pass->host), device = ganz_arena_mark(pass->device);
    ganz_tensor *const decoded = ganz_net_step(pass, &s->c->net, &tokens, s->keys, &self, &cross);
    ganz_tensor *const logits = ganz_net_logits(pass, &s->c->net, decoded);
    assert_false(pass->failed);
    for (int i = 0; i < live; i++) {
        const size_t row = (size_t)(s->c->target.begin[s->segment[i]] + t);
        compare((const real *)logits->m.data + (size_t)i * (size_t)vocab, want + row * (size_t)vocab, (size_t)vocab,
                exact);
    }
    ganz_arena_rewind(pass->host, host);
    ganz_arena_rewind(pass->device, device);
}

static void steps_equal_the_whole(void **state)
{
    (void)state;
    ganz_config kind = small;
    for (int i = 0; nn_kind(i / 2, &kind); i++, kind = small) {
        const bool fake = i % 2;
        nn_case c;
        nn_case_open(&c, &kind, 2, batch, SEGMENTS, 0);
        nn_case_init(&c, 3);
        if (fake) set_fake(&c);
        real *const want = nn_case_logits(&c);
        ganz_pass pass = nn_case_pass(&c);
        static stepper s;
        s = (stepper){.c = &c};
        s.keys = ganz_keys_take(&pass, &c.net, c.target.tokens.rows, c.source.tokens.rows);
        assert_non_null(s.keys);
        const size_t rows = (size_t)c.target.tokens.rows * (kind.recurrent ? 1 : 2) + (size_t)c.source.tokens.rows * 2;
        assert_true(pass.device->used >= rows * 2 * (size_t)c.net.config.width * sizeof(real)); /* in both layers */
        ganz_tensor *const memory = ganz_net_encode(&pass, &c.net, &c.source.tokens, &c.see_source);
        ganz_net_cross_keys(&pass, &c.net, memory, s.keys);
        for (int t = 0; t < c.target.longest; t++) step(&s, &pass, t, want, fake);
        assert_int_equal(s.keys->used, c.target.tokens.rows);
        ganz_free(want);
        nn_case_close(&c);
    }
}

static void memory_that_runs_out_fails_the_pass(void **state)
{
    (void)state;
    nn_case c;
    open_small(&c, 1, true, batch, SEGMENTS, 0);
    nn_case_loss(&c, true);
    const size_t need[] = {c.host.used, c.device.used};
    ganz_arena *const arenas[] = {&c.host, &c.device};
    for (int which = 0; which < 2; which++) {
        const size_t size = arenas[which]->size;
        for (size_t bytes = 0; bytes < need[which]; bytes += need[which] / 40 + 1) {
            double sums[3] = {0};
            ganz_pass pass = nn_case_pass(&c);
            arenas[which]->size = bytes;
            pass.tape = ganz_tape_open(&c.host);
            if (!pass.tape) continue;
            ganz_tensor *const memory = ganz_net_encode(&pass, &c.net, &c.source.tokens, &c.see_source);
            ganz_tensor *const decoded =
                ganz_net_decode(&pass, &c.net, &c.target.tokens, &c.source.tokens, memory, &c.see_target, &c.see_cross);
            const ganz_goal goal = {
                .labels = c.target.labels, .smoothing = 0.1f, .grad_scale = 1, .sums = sums, .chunk = 10};
            ganz_net_loss(&pass, &c.net, decoded, &goal);
            ganz_tape_backward(&pass);
            assert_true(pass.failed);
        }
        arenas[which]->size = size;
    }
    nn_case_close(&c);
}

/* ---- against PyTorch ---------------------------------------------------------------------------- */

/* The formulas of tests/golden/torch_transformer.py. */
static int32_t golden_token(int step, int segment, int place, int side)
{
    return 2 + (7 * segment + 3 * place * place + 5 * side * place + 11 * step + side) % 38;
}

static void golden_parameters(nn_case *c)
{
    for (int p = 0; p < c->net.params.count; p++) {
        const ganz_param *const param = &c->net.params.list[p];
        int letters = 0;
        for (const char *at = param->name; *at; at++) letters += *at;
        const bool bias = param->kind == GANZ_BIAS || param->kind == GANZ_NORM_BIAS,
                   gain = param->kind == GANZ_NORM_GAIN;
        const double size = param->kind == GANZ_EMBEDDING ? 0.25 : gain ? 0.1 : bias ? 0.05 : 0.15;
        for (size_t i = 0; i < ganz_param_count(param); i++)
            c->weights.master[param->offset + i] = (real)((gain ? 1 : 0) + size * sin(1.7 * (double)i + 0.3 * letters));
    }
    nn_case_refresh(c);
}

typedef struct optimizer {
    ganz_update_item items[128];
    real *slots;
    int count;
} optimizer;

static void open_optimizer(optimizer *o, nn_case *c)
{
    size_t at = 0;
    *o = (optimizer){.slots = ganz_alloc(2 * c->net.params.block, sizeof(real))};
    assert_non_null(o->slots);
    for (int p = 0; p < c->net.params.count; p++) {
        const ganz_param *const param = &c->net.params.list[p];
        if (param->kind == GANZ_SCALE) continue;
        assert_true(o->count < 128);
        o->items[o->count++] = (ganz_update_item){
            c->weights.master + param->offset, c->weights.grad + param->offset, o->slots + at, param->rows, param->cols,
            ganz_param_is_matrix(param)};
        at += ganz_param_is_matrix(param) ? (size_t)(param->rows + param->cols) : ganz_param_count(param);
    }
}

static FILE *golden(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/golden/%s", GANZ_TESTS_DIR, name);
    FILE *const f = fopen(path, "r");
    if (!f) fail_msg("cannot open %s", path);
    return f;
}

static void ten_losses_of_pytorch(void **state)
{
    (void)state;
    const ganz_config config = NN_SHAPE(32, 64, 4, 2, 2, 40, 16);
    const nn_segment segments[] = {{0, 5, 4}, {0, 3, 6}, {0, 2, 2}, {1, 8, 7}, {2, 1, 3}, {2, 4, 1}};
    nn_case c;
    optimizer o;
    nn_case_open(&c, &config, 2, segments, 6, 0);
    golden_parameters(&c);
    open_optimizer(&o, &c);
    c.smoothing = 0.1f;
    nn_case_tokens(&c, golden_token, 0);
    real *const logits = nn_case_logits(&c);
    FILE *f = golden("first_logits.tsv");
    double want;
    size_t count = 0;
    for (; fscanf(f, "%lf", &want) == 1; count++) assert_true(fabs((double)logits[count] - want) < 2e-5);
    assert_int_equal(count, 23 * 40);
    fclose(f);
    ganz_free(logits);
    f = golden("ten_losses.tsv");
    int step, steps = 0;
    for (; fscanf(f, "%d%lf", &step, &want) == 2; steps++) {
        assert_int_equal(step, steps);
        nn_case_tokens(&c, golden_token, step);
        const double loss = nn_case_loss(&c, true);
        if (fabs(loss / want - 1) > 1e-5) fail_msg("step %d: loss %.7f, PyTorch %.7f", step, loss, want);
        const ganz_update_call update = {
            .items = o.items, .count = o.count, .rate = 0.01, .decay = 1 - pow(step + 1, -0.8)};
        c.be->adafactor(c.be, &update);
    }
    assert_int_equal(steps, 10);
    fclose(f);
    ganz_free(o.slots);
    nn_case_close(&c);
}

/* Every switch of a configuration, against tests/golden/make_kinds.py. */
static void other_kinds_follow_their_formulas(void **state)
{
    (void)state;
    const ganz_config shape = NN_SHAPE(16, 24, 4, 2, 2, 40, 16);
    const nn_segment segments[] = {{0, 5, 4}, {1, 3, 6}, {2, 2, 2}};
    ganz_config config = shape;
    const char *name;
    char word[16];
    FILE *const f = golden("kinds.tsv");
    for (int kind = 0; config = shape, (name = nn_kind(kind, &config)); kind++) {
        nn_case c;
        nn_case_open(&c, &config, 1, segments, 3, 0);
        golden_parameters(&c);
        nn_case_tokens(&c, golden_token, 0);
        real *const logits = nn_case_logits(&c);
        for (int row = 0; row < 12; row++) {
            assert_int_equal(fscanf(f, "%15s", word), 1);
            assert_string_equal(word, name);
            for (int i = 0; i < 40; i++) {
                double want;
                assert_int_equal(fscanf(f, "%lf", &want), 1);
                const double got = (double)logits[row * 40 + i];
                if (!(fabs(got - want) < 2e-5)) fail_msg("%s, row %d, %d: %.7f, not %.7f", name, row, i, got, want);
            }
        }
        ganz_free(logits);
        nn_case_close(&c);
    }
    assert_int_equal(fscanf(f, "%15s", word), EOF);
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_paper),
        cmocka_unit_test(counts_of_the_parts),
        cmocka_unit_test(places_are_canonical),
        cmocka_unit_test(names_and_neighbours),
        cmocka_unit_test(bad_configurations_are_refused),
        cmocka_unit_test(initial_values),
        cmocka_unit_test(initial_values_of_big),
        cmocka_unit_test(timing_table),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(company_does_not_show),
        cmocka_unit_test(measured_scales_hold_the_range),
        cmocka_unit_test(codes_come_before_dropout),
        cmocka_unit_test(steps_equal_the_whole),
        cmocka_unit_test(memory_that_runs_out_fails_the_pass),
        cmocka_unit_test(ten_losses_of_pytorch),
        cmocka_unit_test(other_kinds_follow_their_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
