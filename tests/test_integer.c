/* The integer network against the one training rounds in float: the same bits, in any company, on any processor. */
#include "test.h"

#include <string.h>

#include "kernel/kernel.h"
#include "nn/audit.h"
#include "nn_case.h"
#include "translate/repeat.h"

static const ganz_config config = NN_SHAPE(64, 160, 4, 2, 2, 203, 40);
static const nn_segment segments[] = {{0, 7, 9},   {0, 1, 3},   {1, 12, 6}, {2, 5, 11}, {2, 9, 1},
                                      {3, 20, 24}, {3, 33, 17}, {4, 2, 2},  {5, 16, 5}};
enum { SEGMENTS = GANZ_COUNT(segments), VOCAB = 203 };

static ganz_config kind;   /* of open_by_scheme */
static ganz_scheme scheme; /* of open_by_scheme */
static bool per_row;       /* of open_fake: a scale for each output of a weight */

/* Random weights; scales from ranges measured on the very sentences, some of them narrowed so that codes are clipped.
 */
static void open_by_scheme(nn_case *c, int threads, const nn_segment *list, int count, int first)
{
    nn_case_open(c, &kind, threads, list, count, first);
    nn_case_init(c, 11);
    ganz_net_set_scheme(&c->net, &scheme);
    real ranges[256];
    assert_true(c->net.scales <= 256);
    for (int i = 0; i < c->net.scales; i++) ranges[i] = 0.5f + (real)(i * 7 % 13) * 0.4f;
    memcpy(c->weights.largest, ranges, (size_t)c->net.scales * sizeof *ranges);
    assert_int_equal(ganz_weights_set_scales(&c->weights, &c->net, NULL), GANZ_OK);
    ganz_net_set_states(&c->net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE);
    nn_case_refresh(c);
}

static void open_fake(nn_case *c, int threads, int bits, const nn_segment *list, int count, int first)
{
    kind = config;
    scheme = ganz_scheme_of_bits(bits);
    scheme.rule.per_row = per_row;
    open_by_scheme(c, threads, list, count, first);
}

/* The same numbers as integers, in place of the case's weights. */
static void turn_to_codes(nn_case *c)
{
    ganz_weights codes;
    assert_int_equal(ganz_weights_freeze(&codes, &c->net, &c->weights, c->be, NULL), GANZ_OK);
    ganz_weights_close(&c->weights);
    c->weights = codes;
    ganz_net_set_states(&c->net, GANZ_WEIGHTS_CODES, GANZ_INPUTS_CODES);
}

static void same(const real *got, const real *want, size_t rows, const char *what)
{
    for (size_t i = 0; i < rows * VOCAB; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0)
            fail_msg("%s: row %zu, entry %zu: %.9g, not %.9g", what, i / VOCAB, i % VOCAB, (double)got[i],
                     (double)want[i]);
}

static void differs(const real *a, const real *b, size_t count) { assert_memory_not_equal(a, b, count * sizeof *a); }

static void integers_equal_fake(void **state)
{
    (void)state;
    static const struct {
        int bits;
        bool bias, lookup; /* in float */
        bool per_row;
        const char *exceptions;
    } cases[] = {
        {6, false, false, false, ""},
        {7, false, false, false, ""},
        {8, false, false, false, ""},
        {8, true, false, false, ""},
        {8, false, true, false, ""},
        {5, true, true, false, ""},
        {8, false, false, true, ""},
        {5, true, true, true, ""},
        {8, false, false, false, "enc.*.ffn.out: product=float; dec.0.self.k: weights=4 inputs=6 steps=rows"},
        {6, false, false, false, "logits: product=float; dec.1.cross: product=float; *.q: inputs=8 powers=two"},
        {7, false, true, false, "*.o: product=float; enc.0.self: attention=5; dec.0.ffn.in: biases=32"},
        {8, false, false, false, "*.q: product=float; dec.0.*.k: product=float; enc.1.self.v: product=float"},
        {6, false, false, false, "*.ffn.in: product=float"}};
    real *previous = NULL;
    for (size_t k = 0; k < GANZ_COUNT(cases); k++) {
        nn_case c;
        kind = config;
        scheme = ganz_scheme_of_bits(cases[k].bits);
        scheme.rule.per_row = cases[k].per_row;
        scheme.float_lookup = cases[k].lookup;
        if (cases[k].bias) scheme.rule.bias_bits = GANZ_BITS_FLOAT;
        assert_int_equal(ganz_scheme_parse(&scheme, cases[k].exceptions, NULL), GANZ_OK);
        open_by_scheme(&c, 1, segments, SEGMENTS, 0);
        const size_t rows = (size_t)c.target.tokens.rows;
        real *const fake = nn_case_logits(&c);
        int64_t clipped = 0;
        for (int i = 0; i < c.net.scales; i++) clipped += c.weights.clipped[i];
        assert_true(clipped > 0);
        turn_to_codes(&c);
        real *const codes = nn_case_logits(&c);
        same(codes, fake, rows, "integer against fake");
        if (previous) differs(codes, previous, rows * VOCAB); /* or the bits did nothing */
        ganz_free(previous);
        ganz_free(fake);
        previous = codes;
        nn_case_close(&c);
    }
    ganz_free(previous);
}

static bool replays(ganz_backend *be, const void *owner, int number) { return be && owner && number; }

/* Only a product of integers writes keys to rows that are numbered on the device. */
static void steps_with_keys_of_floats_are_not_recorded(void **state)
{
    static const char *const exceptions[] = {"", "*.q: product=float; enc.0.self.k: product=float",
                                             "dec.1.self.k: product=float", "dec.0.self.v: product=float",
                                             "dec.0.self: product=float"};
    const ganz_backend be = {.replay = replays};
    (void)state;
    for (size_t i = 0; i < GANZ_COUNT(exceptions); i++) {
        nn_case c;
        kind = config;
        scheme = ganz_scheme_of_bits(8);
        assert_int_equal(ganz_scheme_parse(&scheme, exceptions[i], NULL), GANZ_OK);
        open_by_scheme(&c, 1, segments, SEGMENTS, 0);
        turn_to_codes(&c);
        assert_int_equal(ganz_repeat_can(&be, &c.net, &c.weights), i < 2);
        nn_case_close(&c);
    }
}

/* Every switch of a configuration, with one scale for a weight and with many. */
static void integers_equal_fake_in_all_kinds(void **state)
{
    (void)state;
    real *previous = NULL;
    for (int i = 1; kind = config, nn_kind(i, &kind); i++)
        for (int rows_too = 0; rows_too < 2; rows_too++) {
            nn_case c;
            scheme = ganz_scheme_of_bits(8 - rows_too);
            scheme.rule.per_row = rows_too;
            open_by_scheme(&c, 1, segments, SEGMENTS, 0);
            const size_t rows = (size_t)c.target.tokens.rows;
            real *const fake = nn_case_logits(&c);
            turn_to_codes(&c);
            real *const codes = nn_case_logits(&c);
            same(codes, fake, rows, nn_kind(i, &(ganz_config){0}));
            if (previous) differs(codes, previous, rows * VOCAB);
            ganz_free(previous);
            ganz_free(fake);
            previous = codes;
            nn_case_close(&c);
        }
    ganz_free(previous);
}

/* ---- processors, threads, company --------------------------------------------------------------- */

static real *integer_logits(int threads, const nn_segment *list, int count, int first)
{
    nn_case c;
    open_fake(&c, threads, 8, list, count, first);
    turn_to_codes(&c);
    real *const logits = nn_case_logits(&c);
    nn_case_close(&c);
    return logits;
}

static size_t target_rows(int segment)
{
    size_t rows = 0;
    for (int i = 0; i < segment; i++) rows += (size_t)segments[i].target;
    return rows;
}

static void compare_processors(void)
{
    static const char *const isas[] = {"scalar", "avx2", "avxvnni", "avx512vnni", "amx", "neon", "neondot", "i8mm"};
    const unsigned have = ganz_cpu_detect();
    real *want = NULL;
    for (size_t i = 0; i < GANZ_COUNT(isas); i++) {
        unsigned flags;
        assert_true(ganz_cpu_isa(isas[i], &flags));
        if ((flags & have) != flags) continue;
        ganz_cpu_set_mask(flags);
        real *const got = integer_logits(1, segments, SEGMENTS, 0);
        if (want) same(got, want, target_rows(SEGMENTS), isas[i]);
        if (want) ganz_free(got);
        else want = got;
    }
    ganz_cpu_set_mask(GANZ_CPU_ALL);
    ganz_free(want);
}

static void processors_do_not_show(void **state)
{
    (void)state;
    compare_processors();
    per_row = true;
    compare_processors();
    per_row = false;
}

static void company_and_threads_do_not_show(void **state)
{
    (void)state;
    real *const together = integer_logits(1, segments, SEGMENTS, 0), *const shared =
                                                                         integer_logits(3, segments, SEGMENTS, 0);
    same(shared, together, target_rows(SEGMENTS), "three threads");
    for (int i = 0; i < SEGMENTS; i++) {
        if (i > 0 && segments[i].row == segments[i - 1].row) continue; /* a later one starts with its neighbour's end */
        const nn_segment only = {0, segments[i].source, segments[i].target};
        real *const alone = integer_logits(1, &only, 1, i);
        same(alone, together + target_rows(i) * VOCAB, (size_t)only.target, "alone");
        ganz_free(alone);
    }
    ganz_free(together);
    ganz_free(shared);
}

/* ---- one token at a time ------------------------------------------------------------------------ */

typedef struct step_lists {
    int32_t ids[SEGMENTS], positions[SEGMENTS], segment[SEGMENTS];
    int32_t self_begin[SEGMENTS + 1], cross_begin[SEGMENTS + 1], self[512], cross[512];
    int32_t key_row[SEGMENTS][32];
    int live;
} step_lists;

static void gather(step_lists *s, const nn_case *c, int used, int t)
{
    int self = 0, cross = 0;
    s->live = 0;
    for (int g = 0; g < c->segments; g++) {
        const int at = c->target.begin[g] + t;
        if (at >= c->target.begin[g + 1]) continue;
        const int i = s->live++;
        s->segment[i] = g;
        s->ids[i] = c->target.ids[at];
        s->positions[i] = t;
        s->key_row[g][t] = used + i;
        s->self_begin[i] = self;
        s->cross_begin[i] = cross;
        for (int j = 0; j <= t; j++) s->self[self++] = s->key_row[g][j];
        for (int j = c->source.begin[g]; j < c->source.begin[g + 1]; j++) s->cross[cross++] = j;
    }
    s->self_begin[s->live] = self;
    s->cross_begin[s->live] = cross;
}

static void steps_equal_the_whole(void **state)
{
    (void)state;
    for (int i = 0; kind = config, nn_kind(i / 2, &kind); i++) {
        const bool audited = i % 2;
        nn_case c;
        ganz_audit audit;
        static step_lists s;
        scheme = ganz_scheme_of_bits(8);
        open_by_scheme(&c, 1, segments, SEGMENTS, 0);
        turn_to_codes(&c);
        real *const want = nn_case_logits(&c);
        assert_int_equal(ganz_audit_open(&audit, &c.net, NULL), GANZ_OK);
        ganz_pass pass = nn_case_pass(&c);
        if (audited) pass.instrument = &audit.instrument;
        ganz_keys *const keys = ganz_keys_take(&pass, &c.net, c.target.tokens.rows, c.source.tokens.rows);
        assert_int_equal(ganz_keys_rows(keys, &c.net.decoder.sublayer[1], 1, 1).type, GANZ_S8);
        ganz_tensor *const memory = ganz_net_encode(&pass, &c.net, &c.source.tokens, &c.see_source);
        ganz_net_cross_keys(&pass, &c.net, memory, keys);
        for (int t = 0; t < c.target.longest; t++) {
            gather(&s, &c, keys->used, t);
            const ganz_tokens tokens = {.rows = s.live, .ids = s.ids, .positions = s.positions};
            const ganz_spans self = {.queries = s.live,
                                     .keys = keys->used + s.live,
                                     .longest_query = 1,
                                     .longest_key = t + 1,
                                     .list_begin = s.self_begin,
                                     .list = s.self};
            const ganz_spans cross = {.queries = s.live,
                                      .keys = c.source.tokens.rows,
                                      .longest_query = 1,
                                      .longest_key = c.source.longest,
                                      .list_begin = s.cross_begin,
                                      .list = s.cross};
            const ganz_tensor *const logits =
                ganz_net_logits(&pass, &c.net, ganz_net_step(&pass, &c.net, &tokens, keys, &self, &cross));
            assert_false(pass.failed);
            for (int k = 0; k < s.live; k++)
                same((const real *)logits->m.data + (size_t)k * VOCAB,
                     want + (size_t)(c.target.begin[s.segment[k]] + t) * VOCAB, 1, audited ? "audited step" : "step");
        }
        ganz_audit_close(&audit);
        ganz_free(want);
        nn_case_close(&c);
    }
}

/* ---- audit -------------------------------------------------------------------------------------- */

static void the_audit_counts(void **state)
{
    (void)state;
    nn_case c;
    ganz_audit audit;
    open_fake(&c, 1, 8, segments, SEGMENTS, 0);
    ganz_free(nn_case_logits(&c));
    int64_t fake_clipped[256];
    memcpy(fake_clipped, c.weights.clipped, (size_t)c.net.scales * sizeof *fake_clipped);
    turn_to_codes(&c);
    assert_int_equal(ganz_audit_open(&audit, &c.net, NULL), GANZ_OK);
    ganz_pass pass = nn_case_pass(&c);
    pass.instrument = &audit.instrument;
    ganz_tensor *const memory = ganz_net_encode(&pass, &c.net, &c.source.tokens, &c.see_source);
    ganz_net_logits(
        &pass, &c.net,
        ganz_net_decode(&pass, &c.net, &c.target.tokens, &c.source.tokens, memory, &c.see_target, &c.see_cross));
    assert_false(pass.failed);
    for (int i = 0; i < c.net.sites; i++) {
        const ganz_site *const site = &c.net.site[i];
        assert_true(audit.site[i].integer_runs == 1 && audit.site[i].float_runs == 0);
        assert_true(audit.site[i].largest > 0 && audit.site[i].largest <= site->in * 127 * 127);
        assert_true(audit.input[site->input.place].codes > 0);
        assert_int_equal(audit.input[site->input.place].clipped, fake_clipped[site->input.place]);
    }
    for (int i = 0; i < c.net.pairs; i++) {
        const ganz_pair *const pair = &c.net.pair[i];
        const int places[] = {pair->q.place, pair->k.place, pair->v.place};
        assert_true(audit.qk[i].integer_runs == 1 && audit.uv[i].integer_runs == 1);
        assert_true(audit.qk[i].float_runs == 0 && audit.uv[i].float_runs == 0);
        assert_true(audit.qk[i].largest > 0 && audit.qk[i].largest <= 16 * 127 * 127 && audit.uv[i].largest > 0);
        for (int j = 0; j < 3; j++) assert_int_equal(audit.input[places[j]].clipped, fake_clipped[places[j]]);
        assert_true(audit.input[pair->u.place].codes > 0 && audit.input[pair->u.place].clipped == 0);
    }
    ganz_audit_close(&audit);
    nn_case_close(&c);
}

static void audits_count_float_products_too(void **state)
{
    (void)state;
    nn_case c;
    ganz_audit audit;
    open_fake(&c, 1, 8, segments, SEGMENTS, 0);
    assert_int_equal(ganz_audit_open(&audit, &c.net, NULL), GANZ_OK);
    ganz_net_set_states(&c.net, GANZ_WEIGHTS_FLOAT, GANZ_INPUTS_FLOAT);
    ganz_pass pass = nn_case_pass(&c);
    pass.instrument = &audit.instrument;
    ganz_net_encode(&pass, &c.net, &c.source.tokens, &c.see_source);
    for (int i = 0; i < 12; i++) assert_true(audit.site[i].integer_runs == 0 && audit.site[i].float_runs == 1);
    for (int i = 0; i < 2; i++) assert_true(audit.qk[i].float_runs == 1 && audit.uv[i].float_runs == 1);
    ganz_audit_close(&audit);
    nn_case_close(&c);
}

/* Every allocation fails once, cleanly. */
static void memory_can_run_out(void **state)
{
    (void)state;
    nn_case c;
    open_fake(&c, 1, 8, segments, SEGMENTS, 0);
    for (long n = 1;; n++) {
        ganz_weights codes;
        ganz_alloc_fail_at(n);
        const ganz_status status = ganz_weights_open_codes(&codes, &c.net, c.be, NULL);
        ganz_alloc_fail_at(0);
        if (status == GANZ_OK) {
            ganz_weights_close(&codes);
            break;
        }
        assert_int_equal(status, GANZ_ENOMEM);
    }
    nn_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_equal_fake),
        cmocka_unit_test(steps_with_keys_of_floats_are_not_recorded),
        cmocka_unit_test(integers_equal_fake_in_all_kinds),
        cmocka_unit_test(processors_do_not_show),
        cmocka_unit_test(company_and_threads_do_not_show),
        cmocka_unit_test(steps_equal_the_whole),
        cmocka_unit_test(the_audit_counts),
        cmocka_unit_test(audits_count_float_products_too),
        cmocka_unit_test(memory_can_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
