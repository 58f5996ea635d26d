/* Decoding and translating: the same for any batch, as good as the network says, and safe with any text. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "folder.h"
#include "tiny.h"
#include "text/vocab.h"
#include "translate/align.h"
#include "translate/decode.h"
#include "translate/split.h"

#define OK(call) assert_int_equal((call), GANZ_OK)

/* Products of floats may round differently in batches of another size. */
static void assert_score(double expected, double actual)
{
    if (!(fabs(expected - actual) <= 2e-4)) fail_msg("expected a score of %.7f, got %.7f", expected, actual);
}

static ganz_model *open_tiny(uint64_t seed)
{
    ganz_model *model;
    assert_true(write_tiny("m", seed));
    OK(ganz_model_open(&model, "m", NULL));
    return model;
}

/* ---- the network without key rows --------------------------------------------------------------- */

/* What one sentence sees: queries [0, query[1]) all keys [0, key[1]). */
static ganz_spans spans_of(const int32_t query[2], const int32_t key[2])
{
    ganz_spans see = {.queries = query[1], .keys = key[1], .segments = 1, .query_begin = query, .key_begin = key};
    see.longest_query = query[1], see.longest_key = key[1];
    return see;
}

/* Logits of every step of a target, from a whole pass. (count + 1, vocab) */
static void watched_logits(const ganz_model *m, const ganz_sentence *s, const int32_t *target, int count, float *logits,
                           const ganz_pair *watched, real *weights)
{
    ganz_backend *const be = m->be;
    ganz_arena host, device;
    OK(ganz_arena_open(&host, 1 << 17, NULL));
    OK(ganz_arena_open(&device, 2 << 20, NULL));
    ganz_watch watch = {watched, weights};
    const ganz_instrument eye = ganz_watch_instrument(&watch);
    ganz_pass pass = {.be = be, .weights = &m->weights, .host = &host, .device = &device, .instrument = &eye};
    int32_t numbers[512], *const positions = numbers, *const shifted = numbers + 256;
    for (int i = 0; i < 256; i++) positions[i] = i;
    shifted[0] = 0;
    memcpy(shifted + 1, target, (size_t)count * sizeof *target);
    const int32_t sources[2] = {0, s->count}, targets[2] = {0, count + 1};
    const ganz_tokens in = {.rows = s->count, .ids = s->ids, .positions = positions};
    const ganz_tokens out = {.rows = count + 1, .ids = shifted, .positions = positions};
    const ganz_spans self = spans_of(sources, sources), cross = spans_of(targets, sources);
    ganz_spans causal = spans_of(targets, targets);
    causal.causal = true;
    ganz_tensor *const memory = ganz_net_encode(&pass, &m->net, &in, &self);
    ganz_tensor *const decoded = ganz_net_decode(&pass, &m->net, &out, &in, memory, &causal, &cross);
    const ganz_tensor *const all = ganz_net_logits(&pass, &m->net, decoded);
    assert_false(pass.failed);
    OK(be->sync(be, NULL));
    const int vocab = m->net.config.vocab;
    for (int i = 0; i <= count; i++)
        for (int v = 0; v < vocab; v++) logits[i * vocab + v] = (float)((const real *)all->m.data)[i * all->m.ld + v];
    ganz_arena_close(&host);
    ganz_arena_close(&device);
}

static void full_logits(const ganz_model *m, const ganz_sentence *s, const int32_t *target, int count, float *logits)
{
    watched_logits(m, s, target, count, logits, NULL, NULL);
}

static double log_sum_exp(const float *logits, int vocab)
{
    double sum = 0;
    for (int v = 0; v < vocab; v++) sum += exp(logits[v]);
    return log(sum);
}

/* Beam search where every step is a whole pass of every hypothesis. */
static void slow_search(const ganz_model *m, const ganz_sentence *s, const ganz_search_options *o, int limit,
                        ganz_beam *beam, ganz_arena *arena)
{
    enum { MOST = 8 };
    const int vocab = m->net.config.vocab, k = ganz_search_candidates(o);
    float *const logits = malloc(256 * (size_t)vocab * sizeof *logits);
    assert_true(ganz_beam_start(beam, arena, o, vocab, limit, NULL, 0));
    while (!beam->done) {
        float value[MOST * 2 * MOST], lse[MOST];
        int32_t index[MOST * 2 * MOST];
        for (int i = 0; i < beam->alive; i++) {
            const ganz_hypothesis *const h = &beam->live[i];
            full_logits(m, s, h->tokens, h->length, logits);
            float *const last = logits + h->length * vocab;
            lse[i] = (float)log_sum_exp(last, vocab);
            for (int j = 0; j < k; j++) {
                int best = 0;
                for (int v = 1; v < vocab; v++)
                    if (last[v] > last[best]) best = v;
                value[i * k + j] = last[best];
                index[i * k + j] = best;
                last[best] = -1e30f;
            }
        }
        ganz_beam_advance(beam, &(ganz_candidates){k, value, index, lse, 0});
    }
    free(logits);
}

/* ---- decoding ----------------------------------------------------------------------------------- */

enum { SENTENCES = 64 };

/* Sentences of 2 to 24 ids that look random. */
static void make_sentences(ganz_sentence *sentences, int32_t ids[SENTENCES][24], int vocab)
{
    uint32_t x = 12345;
    for (int i = 0; i < SENTENCES; i++) {
        const int count = 2 + i * 7 % 23;
        for (int j = 0; j < count - 1; j++)
            ids[i][j] = 2 + (int32_t)((x = x * 1664525u + 1013904223u) >> 8) % (vocab - 2);
        ids[i][count - 1] = GANZ_EOS;
        sentences[i] = (ganz_sentence){.ids = ids[i], .count = count};
    }
}

static ganz_decoder *open_decoder(const ganz_model *m, int beam, int n_best, int batch, int max_length)
{
    const ganz_decoder_options o = {.search = {.beam = beam, .n_best = n_best, .alpha = 0.6},
                                    .batch_tokens = batch,
                                    .max_input = 24,
                                    .max_length = max_length};
    ganz_decoder *d;
    OK(ganz_decoder_open(&d, m->be, &m->net, &m->weights, &o, NULL));
    return d;
}

static void whole_passes_agree(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(5);
    ganz_sentence sentences[SENTENCES];
    int32_t ids[SENTENCES][24];
    make_sentences(sentences, ids, m->net.config.vocab);
    for (int beam = 1; beam <= 4; beam += 3) {
        ganz_decoder *d = open_decoder(m, beam, beam, 200, 20);
        const ganz_found *found;
        const int *counts;
        OK(ganz_decoder_run(d, sentences, 8, &found, &counts, NULL));
        for (int i = 0; i < 8; i++) {
            const ganz_search_options o = {.beam = beam, .n_best = beam, .alpha = 0.6};
            const int limit = ganz_decoder_limit(d, sentences[i].count);
            assert_int_equal(limit, 20);
            ganz_arena arena;
            ganz_beam slow;
            OK(ganz_arena_open(&arena, ganz_beam_bytes(&o, limit), NULL));
            slow_search(m, &sentences[i], &o, limit, &slow, &arena);
            const ganz_hypothesis *h;
            const int count = ganz_beam_results(&slow, &h);
            assert_int_equal(counts[i], count);
            for (int j = 0; j < count; j++) {
                const ganz_found *const f = &found[i * beam + j];
                assert_score(h[j].score, f->score);
                assert_int_equal(f->count, h[j].length);
                assert_memory_equal(f->ids, h[j].tokens, (size_t)f->count * sizeof *f->ids);
                assert_int_equal(f->finished, slow.finished > 0);
            }
            ganz_arena_close(&arena);
        }
        ganz_decoder_close(&d);
    }
    ganz_model_close(&m);
}

/* The score of a result is what the network says of it when it sees it whole. */
static void scores_are_teacher_forced(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(6);
    ganz_sentence sentences[SENTENCES];
    int32_t ids[SENTENCES][24];
    const int vocab = m->net.config.vocab;
    float *const logits = malloc(256 * (size_t)vocab * sizeof *logits);
    make_sentences(sentences, ids, vocab);
    ganz_decoder *d = open_decoder(m, 4, 2, 300, 0);
    const ganz_found *found;
    const int *counts;
    OK(ganz_decoder_run(d, sentences, SENTENCES, &found, &counts, NULL));
    int finished = 0;
    for (int i = 0; i < SENTENCES; i++) {
        for (int j = 0; j < counts[i]; j++) {
            const ganz_found *const f = &found[2 * i + j];
            double sum = 0;
            full_logits(m, &sentences[i], f->ids, f->count, logits);
            const int steps = f->count + (f->finished ? 1 : 0);
            for (int t = 0; t < steps; t++)
                sum +=
                    logits[t * vocab + (t < f->count ? f->ids[t] : GANZ_EOS)] - log_sum_exp(logits + t * vocab, vocab);
            assert_score(sum / pow((5.0 + steps) / 6.0, 0.6), f->score);
            finished += f->finished;
            if (j > 0) assert_true(f[-1].score >= f->score);
        }
    }
    assert_true(finished > SENTENCES / 2);
    ganz_decoder_close(&d);
    free(logits);
    ganz_model_close(&m);
}

/* What a row looks at a key with, of all that rows look at it with. */
static double share_of_key(const real *weights, int rows, int keys, int row, int key)
{
    double all = 0;
    for (int i = 0; i < rows; i++) all += (double)weights[i * keys + key];
    return (double)weights[row * keys + key] / all;
}

/* Links are read from the last two layers at the row that says the token: the key of which it has the largest share;
 * never the end mark. Scores are the logits of these rows. */
static void links_follow_the_weights(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(6);
    ganz_sentence sentences[SENTENCES];
    int32_t ids[SENTENCES][24], from[128], to[128];
    float score[128];
    const int vocab = m->net.config.vocab;
    make_sentences(sentences, ids, vocab);
    ganz_decoder *d = open_decoder(m, 2, 1, 300, 0);
    ganz_aligner *a;
    const ganz_found *found;
    const int *counts;
    OK(ganz_aligner_open(&a, m->be, &m->net, &m->weights, NULL));
    OK(ganz_decoder_run(d, sentences, SENTENCES, &found, &counts, NULL));
    float *const logits = malloc(256 * (size_t)m->net.config.vocab * sizeof *logits);
    real *const weights = malloc(128 * 24 * sizeof *weights);
    int most_rows = 0;
    for (int i = 0; i < SENTENCES; i++) {
        const int keys = sentences[i].count, rows = found[i].count;
        memset(weights, 0, 128 * 24 * sizeof *weights);
        const ganz_aligned out = {from, to, i % 3 ? score : NULL};
        OK(ganz_aligner_run(a, &sentences[i], found[i].ids, rows, &out, NULL));
        for (int layer = 0; layer < 2; layer++) /* added up */
            watched_logits(m, &sentences[i], found[i].ids, rows, logits,
                           ganz_net_find_pair(&m->net, layer ? "dec.1.cross" : "dec.0.cross"), weights);
        for (int row = 0; row < rows; row++) {
            double sum = 0; /* each head's weights add to 1 */
            for (int k = 0; k < keys; k++) sum += (double)weights[row * keys + k];
            assert_true(fabs(sum - 8) < 1e-5);
            const double most = share_of_key(weights, rows, keys, row, from[row]) + 1e-5;
            for (int k = 0; k + 1 < keys; k++) assert_true(share_of_key(weights, rows, keys, row, k) <= most);
            assert_true(keys == 1 || from[row] < keys - 1);
            const float *const own = logits + row * vocab;
            if (out.score) assert_score((double)own[found[i].ids[row]] - log_sum_exp(own, vocab), (double)score[row]);
            most_rows = rows > most_rows ? rows : most_rows;
        }
        for (int k = 0; k < keys && rows > 0; k++)
            for (int row = 0; row < rows; row++)
                assert_true(weights[row * keys + k] <= weights[to[k] * keys + k] + (real)1e-5);
    }
    assert_true(most_rows > 60); /* logits are made in parts */
    free(logits);
    free(weights);
    ganz_aligner_close(&a);
    ganz_decoder_close(&d);
    ganz_model_close(&m);
}

static void batches_agree(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(7);
    ganz_sentence sentences[SENTENCES];
    int32_t ids[SENTENCES][24];
    make_sentences(sentences, ids, m->net.config.vocab);
    const int batches[] = {1, 7 * 38, 64 * 49};
    ganz_decoder *d[3];
    const ganz_found *found[3];
    const int *counts[3];
    for (int b = 0; b < 3; b++) {
        d[b] = open_decoder(m, 4, 4, batches[b], 0);
        assert_int_equal(ganz_decoder_limit(d[b], 7), 2 * 7 + 50);
        OK(ganz_decoder_run(d[b], sentences, SENTENCES, &found[b], &counts[b], NULL));
    }
    for (int b = 1; b < 3; b++) {
        for (int i = 0; i < SENTENCES; i++) {
            assert_int_equal(counts[b][i], counts[0][i]);
            for (int j = 0; j < counts[b][i]; j++) {
                const ganz_found *const x = &found[0][4 * i + j], *const y = &found[b][4 * i + j];
                assert_score(x->score, y->score);
                assert_int_equal(x->count, y->count);
                assert_memory_equal(x->ids, y->ids, (size_t)x->count * sizeof *x->ids);
            }
        }
    }
    for (int b = 0; b < 3; b++) ganz_decoder_close(&d[b]);
    ganz_model_close(&m);
}

static void limits_hold(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(8);
    ganz_sentence sentences[SENTENCES];
    int32_t ids[SENTENCES][24];
    make_sentences(sentences, ids, m->net.config.vocab);
    const ganz_decoder_options o = {
        .search = {.beam = 3, .n_best = 1, .alpha = 0.6}, .batch_tokens = 500, .max_input = 24, .max_length = 3};
    ganz_decoder *d;
    OK(ganz_decoder_open(&d, m->be, &m->net, &m->weights, &o, NULL));
    const ganz_found *found;
    const int *counts;
    OK(ganz_decoder_run(d, sentences, SENTENCES, &found, &counts, NULL));
    for (int i = 0; i < SENTENCES; i++) {
        assert_int_equal(counts[i], 1);
        assert_true(found[i].count <= 3);
        assert_true(found[i].finished == (found[i].count < 3));
    }
    OK(ganz_decoder_run(d, sentences, 0, &found, &counts, NULL)); /* nothing is fine too */
    ganz_decoder_close(&d);
    ganz_model_close(&m);
}

/* ---- translating -------------------------------------------------------------------------------- */

static ganz_translator *open_translator(const ganz_model *m, int beam, int n_best, int threads)
{
    ganz_translator_options o;
    ganz_translator *t;
    ganz_translator_defaults(&o);
    o.beam = beam;
    o.n_best = n_best;
    o.threads = threads;
    OK(ganz_translator_open(&t, m, &o, NULL));
    return t;
}

static ganz_line line_of(const char *text) { return (ganz_line){.text = text, .bytes = strlen(text)}; }

/* clang-format off */
static const char *const texts[] = {"the cat sat on the mat.", "", "dog", "  \t ", "in the other thing, the dog",
                                    "Caf\xC3\xA9 \xE2\x82\xAC 5", "\xC2\xA0", "the cat sat on the mat."};
/* clang-format on */
enum { TEXTS = sizeof texts / sizeof texts[0] };

static void order_and_blanks(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(9);
    ganz_translator *t = open_translator(m, 4, 1, 1), *alone = open_translator(m, 4, 1, 2);
    ganz_line lines[TEXTS];
    for (int i = 0; i < TEXTS; i++) lines[i] = line_of(texts[i]);
    const ganz_result *results, *one;
    OK(ganz_translate(t, lines, TEXTS, &results, NULL));
    for (int i = 0; i < TEXTS; i++) {
        OK(ganz_translate(alone, &lines[i], 1, &one, NULL));
        assert_int_equal(results[i].count, 1);
        assert_string_equal(results[i].best[0].text, one[0].best[0].text);
        assert_int_equal(strlen(results[i].best[0].text), results[i].best[0].bytes);
        assert_score(one[0].best[0].score, results[i].best[0].score);
        assert_null(strchr(results[i].best[0].text, '\n'));
    }
    for (int i = 1; i < TEXTS; i += i == 1 ? 2 : 3) {
        assert_string_equal(results[i].best[0].text, "");
        assert_true(results[i].best[0].score == 0);
    }
    assert_string_equal(results[0].best[0].text, results[7].best[0].text);
    OK(ganz_translate(t, lines, 0, &results, NULL));
    ganz_translator_close(&t);
    ganz_translator_close(&alone);
    assert_null(t);
    ganz_model_close(&m);
}

static void n_best_falls(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(9);
    ganz_translator *t = open_translator(m, 6, 6, 1), *single = open_translator(m, 6, 1, 1);
    ganz_line lines[TEXTS];
    const ganz_result *results, *best;
    for (int i = 0; i < TEXTS; i++) lines[i] = line_of(texts[i]);
    OK(ganz_translate(t, lines, TEXTS, &results, NULL));
    OK(ganz_translate(single, lines, TEXTS, &best, NULL));
    int more = 0;
    for (int i = 0; i < TEXTS; i++) {
        const ganz_translation *const list = results[i].best;
        assert_true(results[i].count >= 1 && results[i].count <= 6);
        for (int j = 1; j < results[i].count; j++) assert_true(list[j - 1].score >= list[j].score);
        assert_string_equal(list[0].text, best[i].best[0].text);
        more += results[i].count > 1;
    }
    assert_true(more >= 2);
    ganz_translator_close(&t);
    ganz_translator_close(&single);
    ganz_model_close(&m);
}

static void prefix_is_kept(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(10);
    ganz_translator *t = open_translator(m, 4, 4, 1);
    ganz_line lines[3] = {line_of("the cat sat"), line_of("the cat sat"), line_of("")};
    for (int i = 0; i < 3; i++) {
        lines[i].prefix = i == 1 ? "" : "the dog in ";
        lines[i].prefix_bytes = strlen(lines[i].prefix);
    }
    const ganz_result *results;
    OK(ganz_translate(t, lines, 3, &results, NULL));
    for (int i = 0; i < results[0].count; i++) assert_memory_equal(results[0].best[i].text, "the dog in", 10);
    assert_int_not_equal(strncmp(results[1].best[0].text, "the dog in", 10), 0);
    assert_string_equal(results[2].best[0].text, "");
    char much[400];
    memset(much, 'q', sizeof much);
    lines[0].prefix = much;
    lines[0].prefix_bytes = sizeof much;
    ganz_error err;
    assert_int_equal(ganz_translate(t, lines, 1, &results, &err), GANZ_EINVAL);
    assert_non_null(strstr(err.message, "line 1: the prefix has 401 tokens"));
    ganz_translator_close(&t);
    ganz_model_close(&m);
}

/* ---- links -------------------------------------------------------------------------------------- */

static bool same_link(const ganz_link *a, const ganz_link *b)
{
    return a->source_begin == b->source_begin && a->source_end == b->source_end && a->target_begin == b->target_begin &&
           a->target_end == b->target_end && a->weak == b->weak;
}

/* Every word of a translation has a link; nothing depends on company or threads. */
static void links_are_whole(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(9);
    ganz_translator_options o;
    ganz_translator *t[2];
    ganz_translator_defaults(&o);
    o.n_best = 3;
    o.alignment = true;
    OK(ganz_translator_open(&t[0], m, &o, NULL));
    o.threads = 3;
    OK(ganz_translator_open(&t[1], m, &o, NULL));
    ganz_line lines[TEXTS];
    const ganz_result *all, *one;
    for (int i = 0; i < TEXTS; i++) lines[i] = line_of(texts[i]);
    OK(ganz_translate(t[0], lines, TEXTS, &all, NULL));
    int different = 0;
    for (int i = 0; i < TEXTS; i++) {
        OK(ganz_translate(t[1], &lines[i], 1, &one, NULL));
        for (int k = 0; k < all[i].count; k++) {
            const ganz_translation *const r = &all[i].best[k];
            ganz_word_walk source = {.text = texts[i], .bytes = strlen(texts[i])};
            ganz_word_walk target = {.text = r->text, .bytes = r->bytes};
            ganz_word_at(&source, SIZE_MAX);
            ganz_word_at(&target, SIZE_MAX);
            bool seen[512] = {false};
            ganz_word_link words[512];
            int count;
            assert_true(r->link_count < 512);
            OK(ganz_word_links(&lines[i], r, words, &count, NULL));
            for (int n = 0; n < count; n++) {
                assert_in_range(words[n].source, 0, source.words - 1);
                assert_in_range(words[n].target, 0, target.words - 1);
                seen[words[n].target] = true;
                different += words[n].source > 0;
            }
            for (int n = 0; n < target.words; n++) assert_true(seen[n]);
            assert_int_equal(r->link_count, one[0].best[k].link_count);
            for (int n = 0; n < r->link_count; n++) assert_true(same_link(&r->links[n], &one[0].best[k].links[n]));
        }
    }
    assert_true(different > 5);
    assert_int_equal(all[1].best[0].link_count, 0);
    lines[0].unlinked = true;
    OK(ganz_translate(t[0], lines, TEXTS, &all, NULL));
    assert_int_equal(all[0].best[0].link_count, 0);
    assert_true(all[4].best[0].link_count > 0);
    ganz_translator_close(&t[0]);
    ganz_translator_close(&t[1]);
    t[0] = open_translator(m, 4, 1, 1);
    OK(ganz_translate(t[0], lines, 1, &all, NULL));
    assert_null(all[0].best[0].links);
    ganz_translator_close(&t[0]);
    ganz_model_close(&m);
}

static void options_are_checked(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(1);
    ganz_translator_options o;
    ganz_translator *t;
    ganz_error err;
    for (int i = 0; i < 17; i++) {
        ganz_translator_defaults(&o);
        if (i == 0) o.beam = -1;
        if (i == 1) o.beam = 65;
        if (i == 2) o.n_best = 5;
        if (i == 3) o.n_best = 0;
        if (i == 4) o.alpha = -0.1;
        if (i == 5) o.alpha = NAN;
        if (i == 6) o.batch_tokens = 0;
        if (i == 7) o.max_input = 65; /* the model takes 64 */
        if (i == 8) o.max_input = 15;
        if (i == 9) o.threads = 0;
        if (i == 10) o.max_length = -1;
        if (i == 11) o.device = "gpu";
        if (i == 12) o.device = "cuda:";
        if (i == 13) o.device = "cuda:1x";
        if (i == 14) o.device = "cuda:1024";
        if (i == 15) o.device = "cuda:-1";
        if (i == 16) o.precision = "fp16";
        assert_int_equal(ganz_translator_open(&t, m, &o, &err), GANZ_EINVAL);
        assert_null(t);
    }
    ganz_translator_defaults(&o);
    o.precision = "tf32";
    assert_int_equal(ganz_translator_open(&t, m, &o, &err), GANZ_EUNSUPPORTED);
    assert_string_equal(err.message, "the cpu multiplies in fp32 or bf16, not in tf32");
    OK(ganz_translator_open(&t, m, NULL, &err));
    const ganz_result *results;
    assert_int_equal(ganz_translate(t, NULL, 1, &results, &err), GANZ_EINVAL);
    ganz_translator_close(&t);
    ganz_model_close(&m);
}

/* ---- lines of any length and any bytes ---------------------------------------------------------- */

/* Sentences of some 40 tokens, of which the model takes 64: each becomes a piece. */
static void long_lines_are_split(void **state)
{
    (void)state;
    enum { PIECES = 6 };
    static const char *const parts[PIECES] = {
        "xyzxyzxyzxyz qrsqrsqrsqrs vwxvwxvwxvwx.", "zyxzyxzyxzyx klmklmklmklm vwxvwxvwxvwx!",
        "xyzxyzxyzxyz qrsqrsqrsqrs bcfbcfbcfbcf.", "jklmklmklmkl qrsqrsqrsqrs vwxvwxvwxvwx?",
        "xyzxyzxyzxyz bcfbcfbcfbcf vwxvwxvwxvwx.", "wxyxyzxyzxyz qrsqrsqrsqrs bcfbcfbcfbcf."};
    ganz_model *m = open_tiny(11);
    ganz_translator_options o;
    ganz_translator *t, *one;
    ganz_translator_defaults(&o);
    o.beam = o.n_best = 2;
    o.alignment = true;
    OK(ganz_translator_open(&t, m, &o, NULL));
    OK(ganz_translator_open(&one, m, &o, NULL));
    char text[512] = "", expected[4096] = "";
    ganz_line lines[PIECES];
    const ganz_result *whole, *pieces;
    for (int i = 0; i < PIECES; i++) {
        strcat(strcat(text, i ? " " : ""), parts[i]);
        lines[i] = line_of(parts[i]);
    }
    const ganz_line line = line_of(text);
    OK(ganz_translate(t, &line, 1, &whole, NULL));
    OK(ganz_translate(one, lines, PIECES, &pieces, NULL));
    double score = 0;
    int links = 0;
    size_t source = 0, target = 0; /* where the part begins */
    for (int i = 0; i < PIECES; i++) {
        const ganz_translation *const part = &pieces[i].best[0];
        for (int k = 0; k < part->link_count; k++, links++) {
            const ganz_link *const link = &part->links[k];
            const ganz_link moved = {link->source_begin + source, link->source_end + source,
                                     link->target_begin + target, link->target_end + target, link->weak};
            assert_true(same_link(&whole[0].best[0].links[links], &moved));
        }
        source += strlen(parts[i]) + 1;
        target += part->bytes + 1;
        strcat(strcat(expected, i ? " " : ""), pieces[i].best[0].text);
        score += pieces[i].best[0].score;
    }
    assert_string_equal(whole[0].best[0].text, expected);
    assert_int_equal(whole[0].best[0].link_count, links);
    assert_score(score, whole[0].best[0].score);
    ganz_translator_close(&t);
    ganz_translator_close(&one);
    ganz_model_close(&m);
}

/* A word that no language has comes back as it is, between translations of the words around it. */
static void endless_words_are_copied(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(3);
    ganz_translator *t = open_translator(m, 2, 1, 1);
    static char word[100001], line[100040];
    memset(word, 'x', sizeof word - 1);
    snprintf(line, sizeof line, "the cat %s sat", word);
    const ganz_line lines[] = {line_of(line), line_of(word), line_of("the cat"), line_of("sat")};
    const ganz_result *r;
    assert_int_equal(GANZ_OK, ganz_translate(t, lines, 4, &r, NULL));
    assert_string_equal(r[1].best[0].text, word);
    const char *const at = strstr(r[0].best[0].text, word);
    assert_non_null(at);
    assert_int_equal(at - r[0].best[0].text, (long)strlen(r[2].best[0].text) + 1);
    assert_memory_equal(r[0].best[0].text, r[2].best[0].text, strlen(r[2].best[0].text));
    assert_string_equal(at + strlen(word) + 1, r[3].best[0].text);
    ganz_translator_close(&t);
    ganz_model_close(&m);
}

static void any_bytes(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(12);
    ganz_translator *t = open_translator(m, 1, 1, 1);
    const ganz_result *results;
    ganz_error err;
    const ganz_line bad[2] = {line_of("fine"), {.text = "a\377b", .bytes = 3}};
    assert_int_equal(ganz_translate(t, bad, 2, &results, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "line 2: the text is not UTF-8");
    assert_null(results);
    /* every character alone, NUL and newline too, then a line of 100,000 of them without a space */
    char *const many = malloc(100000);
    for (int i = 0; i < 100000; i++) many[i] = (char)(i * 7 % 128);
    for (int i = 0; i < 128; i += 3) {
        const char one = (char)i;
        OK(ganz_translate(t, &(ganz_line){.text = &one, .bytes = 1}, 1, &results, &err));
    }
    ganz_translator_close(&t);
    ganz_translator_options o;
    ganz_translator_defaults(&o);
    o.beam = 1;
    o.max_length = 2;
    OK(ganz_translator_open(&t, m, &o, &err));
    OK(ganz_translate(t, &(ganz_line){.text = many, .bytes = 100000}, 1, &results, &err));
    assert_null(strchr(results[0].best[0].text, '\n'));
    memset(many, 'x', 100000);
    OK(ganz_translate(t, &(ganz_line){.text = many, .bytes = 100000}, 1, &results, &err));
    free(many);
    ganz_translator_close(&t);
    ganz_model_close(&m);
}

/* Every allocation of opening and translating fails once. */
static void no_memory(void **state)
{
    (void)state;
    ganz_model *m = open_tiny(13);
    const ganz_line lines[2] = {line_of("the cat"), line_of("the dog sat")};
    ganz_translator_options o;
    ganz_translator_defaults(&o);
    o.alignment = o.token_scores = true;
    ganz_status status = GANZ_ENOMEM;
    for (long n = 1; status != GANZ_OK && n < 1000; n++) {
        ganz_translator *t = NULL;
        const ganz_result *results;
        ganz_error err = {0};
        ganz_alloc_fail_at(n);
        status = ganz_translator_open(&t, m, &o, &err);
        if (status == GANZ_OK) status = ganz_translate(t, lines, 2, &results, &err);
        ganz_alloc_fail_at(0);
        assert_true(status == GANZ_OK || status == GANZ_ENOMEM);
        assert_true(status == GANZ_OK || err.message[0]);
        if (t) OK(ganz_translate(t, lines, 2, &results, &err)); /* it can go on afterwards */
        ganz_translator_close(&t);
    }
    OK(status);
    ganz_model_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(whole_passes_agree),
        IN_FOLDER(scores_are_teacher_forced),
        IN_FOLDER(batches_agree),
        IN_FOLDER(limits_hold),
        IN_FOLDER(order_and_blanks),
        IN_FOLDER(n_best_falls),
        IN_FOLDER(prefix_is_kept),
        IN_FOLDER(options_are_checked),
        IN_FOLDER(long_lines_are_split),
        IN_FOLDER(endless_words_are_copied),
        IN_FOLDER(any_bytes),
        IN_FOLDER(no_memory),
        IN_FOLDER(links_are_whole),
        IN_FOLDER(links_follow_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
