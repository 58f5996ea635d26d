/* The beam search against Tensor2Tensor's worked example, against its algorithm written the long way, and against
 * trying everything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "ganz/vocab.h"
#include "translate/search.h"

enum { VOCAB_MOST = 64 };

/* A model that knows the step and the last token. */
typedef void toy(void *context, int step, int32_t last, float *logits, int vocab);

static float log_sum_exp(const float *logits, int vocab)
{
    double sum = 0;
    for (int i = 0; i < vocab; i++) sum += exp(logits[i]);
    return (float)log(sum);
}

/* The k largest, falling, ties to the lower index. */
static void top(const float *logits, int vocab, int k, float *value, int32_t *index)
{
    bool used[VOCAB_MOST] = {false};
    for (int j = 0; j < k; j++) {
        int best = -1;
        for (int i = 0; i < vocab; i++)
            if (!used[i] && (best < 0 || logits[i] > logits[best])) best = i;
        used[best] = true;
        value[j] = logits[best];
        index[j] = best;
    }
}

/* Steps in which the model knows no end mark. */
static int no_end_before;

static void step_beam(ganz_beam *beam, toy *model, void *context)
{
    static float value[GANZ_BEAM_MOST * VOCAB_MOST], lse[GANZ_BEAM_MOST];
    static int32_t index[GANZ_BEAM_MOST * VOCAB_MOST];
    const int want = ganz_search_candidates(&beam->options);
    const int k = ganz_beam_forced(beam) >= 0 ? 1 : want < beam->vocab ? want : beam->vocab;
    for (int i = 0; i < beam->alive; i++) {
        float logits[VOCAB_MOST];
        model(context, beam->step, ganz_beam_input(beam, i), logits, beam->vocab);
        lse[i] = log_sum_exp(logits, beam->vocab);
        if (beam->step < no_end_before) logits[GANZ_EOS] = -1e30f;
        if (ganz_beam_forced(beam) >= 0) {
            index[i] = ganz_beam_forced(beam);
            value[i] = logits[index[i]];
        } else {
            top(logits, beam->vocab, k, value + i * k, index + i * k);
        }
    }
    const ganz_candidates c = {k, value, index, lse, 1000 * beam->step};
    ganz_beam_advance(beam, &c);
}

static int open_beam(ganz_beam *beam, ganz_arena *arena, const ganz_search_options *o, int vocab, int limit)
{
    assert_int_equal(ganz_arena_open(arena, ganz_beam_bytes(o, limit), NULL), GANZ_OK);
    assert_true(ganz_beam_start(beam, arena, o, vocab, limit, NULL, 0));
    return 0;
}

/* ---- Tensor2Tensor's example -------------------------------------------------------------------- */

static void example_logits(void *context, int step, int32_t last, float *logits, int vocab)
{
    static const float table[4][4] = {{-2, 0, 1, 0.8f}, {0}, {-3, 0.5f, 0.2f, 1}, {-3, 1, 0.9f, 0.1f}};
    (void)context, (void)step;
    memcpy(logits, table[last], (size_t)vocab * sizeof *logits);
}

static void assert_close(double expected, double actual)
{
    if (!(fabs(expected - actual) <= 2e-6)) fail_msg("expected %.7f, got %.7f", expected, actual);
}

static void assert_tokens(const ganz_hypothesis *h, int count, const int32_t *tokens)
{
    assert_int_equal(h->length, count);
    for (int i = 0; i < count; i++) assert_int_equal(h->tokens[i], tokens[i]);
}

static void test_example(void **state)
{
    (void)state;
    const ganz_search_options o = {.beam = 2, .n_best = 1, .alpha = 0.6};
    ganz_arena arena;
    ganz_beam beam;
    open_beam(&beam, &arena, &o, 4, 6);
    step_beam(&beam, example_logits, NULL);
    assert_int_equal(beam.alive, 2);
    assert_tokens(&beam.live[0], 1, (int32_t[]){2});
    assert_close(-0.804866, beam.live[0].log_prob);
    assert_tokens(&beam.live[1], 1, (int32_t[]){3});
    assert_close(-1.004866, beam.live[1].log_prob);
    assert_int_equal(beam.finished, 1);
    assert_tokens(&beam.ended[0], 0, NULL);
    assert_close(-1.804866, beam.ended[0].score);
    step_beam(&beam, example_logits, NULL);
    assert_tokens(&beam.live[0], 2, (int32_t[]){2, 3});
    assert_close(-1.534430, beam.live[0].log_prob);
    assert_tokens(&beam.live[1], 2, (int32_t[]){3, 2});
    assert_close(-1.950615, beam.live[1].log_prob);
    assert_int_equal(beam.finished, 2);
    assert_tokens(&beam.ended[0], 1, (int32_t[]){3});
    assert_close(-1.687128, beam.ended[0].score);
    assert_tokens(&beam.ended[1], 0, NULL);
    assert_false(beam.done);
    /* the key rows of the inputs: start in row 0, then hypothesis 0 of step 1 in row 1000 */
    assert_int_equal(beam.live[0].keys[0], 0);
    assert_int_equal(beam.live[0].keys[1], 1000);
    assert_int_equal(beam.live[1].keys[1], 1001);
    step_beam(&beam, example_logits, NULL);
    assert_true(beam.done);
    const ganz_hypothesis *best;
    assert_int_equal(ganz_beam_results(&beam, &best), 1);
    assert_tokens(best, 1, (int32_t[]){3});
    assert_close(-1.6871283, best->score);
    ganz_arena_close(&arena);
}

static float penalty(int length, double alpha, bool by_length)
{
    return ganz_length_penalty(length, &(ganz_search_options){.alpha = alpha, .by_length = by_length});
}

static void test_penalty(void **state)
{
    (void)state;
    assert_true(penalty(1, 0.6, false) == 1.0f);
    assert_true(fabs(penalty(10, 0.6, false) - 1.73286211) < 1e-7);
    assert_true(fabs(penalty(50, 0.6, false) - 3.77856470) < 2e-7);
    for (int length = 1; length < 2000; length += 7) {
        assert_true(penalty(length, 0, false) == 1.0f && penalty(length, 0, true) == 1.0f);
        assert_true(penalty(length, 1, true) == (float)length);
        for (double alpha = 0.1; alpha < 2; alpha += 0.3) {
            const double exact = pow((5.0 + length) / 6.0, alpha);
            assert_true(fabs(penalty(length, alpha, false) / exact - 1) < 6.1e-8);
            assert_true(fabs(penalty(length, alpha, true) / pow(length, alpha) - 1) < 6.1e-8);
        }
    }
}

/* ---- the algorithm written the long way --------------------------------------------------------- */

static uint32_t mix(const uint32_t words[4])
{
    uint32_t h = 2166136261u;
    for (int i = 0; i < 4; i++)
        for (int shift = 0; shift < 32; shift += 8) h = (h ^ (words[i] >> shift & 255)) * 16777619u;
    return h;
}

static void hashed_logits(void *context, int step, int32_t last, float *logits, int vocab)
{
    for (int t = 0; t < vocab; t++) {
        const uint32_t words[4] = {*(const uint32_t *)context, (uint32_t)step, (uint32_t)last, (uint32_t)t};
        logits[t] = (float)((int)((mix(words) >> 7) % 65) - 32) / 8.0f;
    }
}

static void check_results(const ganz_beam *beam, char *expected)
{
    const ganz_hypothesis *h;
    const int count = ganz_beam_results(beam, &h);
    int seen = 0;
    for (char *cell = strtok(expected, " \n"); cell; cell = strtok(NULL, " \n"), seen++) {
        assert_true(seen < count);
        uint32_t bits;
        memcpy(&bits, &h[seen].score, sizeof bits);
        char *at;
        assert_int_equal(bits, strtoul(cell, &at, 16));
        int n = 0;
        while (*at && at[1]) assert_true(n < h[seen].length && h[seen].tokens[n++] == strtol(at + 1, &at, 10));
        assert_int_equal(n, h[seen].length);
    }
    assert_int_equal(seen, count);
}

static int run_golden(const char *path, bool by_length)
{
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    char line[4096];
    int cases = 0;
    while (fgets(line, sizeof line, file)) {
        uint32_t seed;
        int vocab, limit, used;
        ganz_search_options o = {.by_length = by_length};
        if (line[0] == '#') continue;
        assert_int_equal(
            sscanf(line, "%u %d %d %lf %d %d%n", &seed, &vocab, &o.beam, &o.alpha, &limit, &o.n_best, &used), 6);
        ganz_arena arena;
        ganz_beam beam;
        open_beam(&beam, &arena, &o, vocab, limit);
        while (!beam.done) step_beam(&beam, hashed_logits, &seed);
        check_results(&beam, line + used);
        ganz_arena_close(&arena);
        cases++;
    }
    fclose(file);
    return cases;
}

static void test_golden(void **state)
{
    (void)state;
    assert_int_equal(run_golden(GANZ_TESTS_DIR "/golden/search.tsv", false), 120);
}

/* length^alpha, and the search that goes with it (tests/golden/make_search_length.py). */
static void test_golden_by_length(void **state)
{
    (void)state;
    assert_int_equal(run_golden(GANZ_TESTS_DIR "/golden/search_length.tsv", true), 120);
}

/* ---- trying everything -------------------------------------------------------------------------- */

typedef struct everything {
    uint32_t seed;
    int vocab, limit, count;
    double alpha;
    double score[512]; /* of every finished sequence */
} everything;

static void try_all(everything *e, int step, int32_t last, double log_prob)
{
    float logits[VOCAB_MOST];
    hashed_logits(&e->seed, step, last, logits, e->vocab);
    double sum = 0;
    for (int t = 0; t < e->vocab; t++) sum += exp(logits[t]);
    for (int t = 0; t < e->vocab; t++) {
        const double total = log_prob + logits[t] - log(sum);
        if (t == 1) e->score[e->count++] = total / pow((6.0 + step) / 6.0, e->alpha);
        else if (step + 1 < e->limit) try_all(e, step + 1, t, total);
    }
}

static int fall(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void test_exhaustive(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 60; seed++) {
        static everything e;
        e = (everything){.seed = seed, .vocab = seed % 2 ? 3 : 4, .limit = seed % 2 ? 6 : 4, .alpha = 0.6};
        try_all(&e, 0, 0, 0);
        qsort(e.score, (size_t)e.count, sizeof e.score[0], fall);
        ganz_search_options o = {.beam = 64, .n_best = seed % 3 ? 30 : 1, .alpha = 0.6};
        ganz_arena arena;
        ganz_beam beam;
        open_beam(&beam, &arena, &o, e.vocab, e.limit);
        while (!beam.done) step_beam(&beam, hashed_logits, &e.seed);
        const ganz_hypothesis *h;
        const int count = ganz_beam_results(&beam, &h);
        assert_int_equal(count, o.n_best);
        for (int i = 0; i < count; i++) assert_true(fabs(h[i].score - e.score[i]) < 1e-5);
        ganz_arena_close(&arena);
    }
}

/* ---- corners ------------------------------------------------------------------------------------ */

static void flat_logits(void *context, int step, int32_t last, float *logits, int vocab)
{
    (void)step, (void)last;
    for (int t = 0; t < vocab; t++) logits[t] = t == 1 ? *(const float *)context : 0;
}

/* Equal scores: lower hypothesis first, then lower token. */
static void test_ties(void **state)
{
    (void)state;
    const ganz_search_options o = {.beam = 3, .n_best = 1, .alpha = 0.6};
    const int lowest[3] = {0, 2, 3};
    float end = -20;
    ganz_arena arena;
    ganz_beam beam;
    open_beam(&beam, &arena, &o, 9, 4);
    step_beam(&beam, flat_logits, &end);
    for (int i = 0; i < 3; i++) assert_int_equal(beam.live[i].tokens[0], lowest[i]);
    step_beam(&beam, flat_logits, &end);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(beam.live[i].tokens[0], 0);
        assert_int_equal(beam.live[i].tokens[1], lowest[i]);
    }
    ganz_arena_close(&arena);
}

/* Nothing ends by itself: the limit does it, and the live hypotheses are the results. */
static void test_limit(void **state)
{
    (void)state;
    float never = -1e6f;
    for (int beams = 1; beams <= 4; beams++) {
        const ganz_search_options o = {.beam = beams, .n_best = beams, .alpha = 1};
        ganz_arena arena;
        ganz_beam beam;
        open_beam(&beam, &arena, &o, 9, 7);
        while (!beam.done) step_beam(&beam, flat_logits, &never);
        assert_int_equal(beam.step, 7);
        const ganz_hypothesis *h;
        assert_int_equal(ganz_beam_results(&beam, &h), beams);
        for (int i = 0; i < beams; i++) {
            assert_int_equal(h[i].length, 7);
            assert_close(-7 * log(8) / 2, h[i].score);
        }
        ganz_arena_close(&arena);
    }
    assert_int_equal(ganz_search_limit(2), 54);
}

/* The end mark is sure: done after one step, with an empty result. */
static void test_end_at_once(void **state)
{
    (void)state;
    float sure = 50;
    for (int beams = 1; beams <= 4; beams++) {
        const ganz_search_options o = {.beam = beams, .n_best = 1, .alpha = 0.6};
        ganz_arena arena;
        ganz_beam beam;
        open_beam(&beam, &arena, &o, 9, 100);
        while (!beam.done) step_beam(&beam, flat_logits, &sure);
        assert_int_equal(beam.step, 1);
        const ganz_hypothesis *h;
        assert_int_equal(ganz_beam_results(&beam, &h), 1);
        assert_int_equal(h->length, 0);
        ganz_arena_close(&arena);
    }
}

static void test_prefix(void **state)
{
    (void)state;
    const int32_t prefix[3] = {5, 0, 8};
    uint32_t seed = 77;
    for (int beams = 1; beams <= 4; beams++) {
        const ganz_search_options o = {.beam = beams, .n_best = beams, .alpha = 0.6};
        ganz_arena arena;
        ganz_beam beam;
        assert_int_equal(ganz_arena_open(&arena, ganz_beam_bytes(&o, 12), NULL), GANZ_OK);
        assert_true(ganz_beam_start(&beam, &arena, &o, 12, 12, prefix, 3));
        while (!beam.done) step_beam(&beam, hashed_logits, &seed);
        const ganz_hypothesis *h;
        const int count = ganz_beam_results(&beam, &h);
        assert_true(count >= 1);
        for (int i = 0; i < count; i++) {
            assert_true(h[i].length >= 3);
            for (int j = 0; j < 3; j++) assert_int_equal(h[i].tokens[j], prefix[j]);
            /* the log-probability is that of the whole, the prefix counted */
            double sum = 0;
            float logits[VOCAB_MOST];
            const bool cut = beam.finished == 0;
            for (int j = 0; j < h[i].length + !cut; j++) {
                hashed_logits(&seed, j, j ? h[i].tokens[j - 1] : 0, logits, 12);
                sum += (double)logits[j < h[i].length ? h[i].tokens[j] : 1] - log_sum_exp(logits, 12);
            }
            assert_true(fabs(sum - h[i].log_prob) < 1e-5);
        }
        ganz_arena_close(&arena);
    }
}

/* What may not end early is found as if the model had no end mark until then, with the same scores. */
static void test_least(void **state)
{
    (void)state;
    int longer = 0;
    for (uint32_t seed = 1; seed <= 60; seed++)
        for (int beams = 1; beams <= 4; beams++) {
            const int least = (int)(seed % 6);
            ganz_search_options o = {.beam = beams, .n_best = beams, .alpha = 0.6};
            ganz_arena arenas[3];
            ganz_beam found[3];
            for (int way = 0; way < 3; way++) { /* as it is, by its own rule, by a model without end marks */
                o.least = way == 1 ? least : 0;
                no_end_before = way == 2 && beams > 1 ? least : 0;
                open_beam(&found[way], &arenas[way], &o, 12, 14);
                while (!found[way].done) step_beam(&found[way], hashed_logits, &seed);
            }
            no_end_before = 0;
            const ganz_hypothesis *h[3];
            int count[3];
            for (int way = 0; way < 3; way++) count[way] = ganz_beam_results(&found[way], &h[way]);
            assert_int_equal(count[1], count[2]);
            for (int i = 0; i < count[1]; i++) {
                assert_tokens(&h[1][i], h[2][i].length, h[2][i].tokens);
                assert_true(h[1][i].score == h[2][i].score && h[1][i].log_prob == h[2][i].log_prob);
                assert_true(beams == 1 || h[1][i].length >= least);
            }
            longer += h[1]->length > h[0]->length;
            for (int way = 0; way < 3; way++) ganz_arena_close(&arenas[way]);
        }
    assert_true(longer > 20);
}

/* What is avoided is taken where nothing else is there, where it is forced, and at the beginning where it may be. */
static void avoided_logits(void *context, int step, int32_t last, float *logits, int vocab)
{
    (void)context, (void)last;
    for (int i = 0; i < vocab; i++) logits[i] = i == GANZ_EOS ? (step < 3 ? -99.0f : 9.0f) : (float)-i;
}

static void expect_avoided(ganz_avoided avoided, int beams, const int32_t *prefix, int prefix_count,
                           const int32_t *tokens)
{
    const ganz_search_options o = {.beam = beams, .n_best = 1, .alpha = 0.6, .avoided = avoided};
    const ganz_hypothesis *best;
    ganz_arena arena;
    ganz_beam beam;
    assert_int_equal(ganz_arena_open(&arena, ganz_beam_bytes(&o, 9), NULL), GANZ_OK);
    assert_true(ganz_beam_start(&beam, &arena, &o, 6, 9, prefix, prefix_count));
    while (!beam.done) step_beam(&beam, avoided_logits, NULL);
    assert_int_equal(ganz_beam_results(&beam, &best), 1);
    assert_tokens(best, 3, tokens);
    ganz_arena_close(&arena);
}

static void test_avoided(void **state)
{
    (void)state;
    const int32_t first[] = {0}, two[] = {2, 0}, all[] = {0, 2, 3, 4, 5};
    expect_avoided((ganz_avoided){NULL, 0, 0}, 2, NULL, 0, (int32_t[]){0, 0, 0});
    expect_avoided((ganz_avoided){first, 1, 0}, 2, NULL, 0, (int32_t[]){2, 2, 2});
    expect_avoided((ganz_avoided){first, 1, 1}, 2, NULL, 0, (int32_t[]){0, 2, 2});
    expect_avoided((ganz_avoided){two, 2, 1}, 3, NULL, 0, (int32_t[]){2, 3, 3});
    expect_avoided((ganz_avoided){first, 1, 0}, 2, (int32_t[]){0, 0}, 2, (int32_t[]){0, 0, 2});
    expect_avoided((ganz_avoided){all, 5, 0}, 2, NULL, 0, (int32_t[]){0, 0, 0});
    expect_avoided((ganz_avoided){first, 1, 0}, 1, NULL, 0, (int32_t[]){0, 0, 0});
}

static void test_small_arena(void **state)
{
    (void)state;
    const ganz_search_options o = {.beam = 4, .n_best = 1, .alpha = 0.6};
    ganz_arena arena;
    ganz_beam beam;
    assert_int_equal(ganz_arena_open(&arena, 1024, NULL), GANZ_OK);
    assert_false(ganz_beam_start(&beam, &arena, &o, 100, 200, NULL, 0));
    ganz_arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),     cmocka_unit_test(test_penalty),
        cmocka_unit_test(test_golden),      cmocka_unit_test(test_golden_by_length),
        cmocka_unit_test(test_exhaustive),  cmocka_unit_test(test_ties),
        cmocka_unit_test(test_limit),       cmocka_unit_test(test_end_at_once),
        cmocka_unit_test(test_prefix),      cmocka_unit_test(test_least),
        cmocka_unit_test(test_small_arena), cmocka_unit_test(test_avoided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
