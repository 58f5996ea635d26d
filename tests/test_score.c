/* Scores: words, BLEU and chrF against sacrebleu and t2t-bleu, resampling. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/io.h"
#include "base/utf8.h"
#include "text/codepoints.h"
#include "text/ngram.h"
#include "text/words.h"

#define FOLDER GANZ_TESTS_DIR "/golden/score/"

/* ---- helpers ------------------------------------------------------------------------------------ */

/* The words of a text with one space between, as UTF-8; returns their length. */
static size_t words_of(ganz_score_words how, const char *text, size_t bytes, char *out)
{
    ganz_codepoints codes = {0}, scratch = {0};
    assert_true(ganz_codepoints_decode(&codes, text, bytes));
    ganz_words_split(how, &codes, &scratch);
    assert_false(codes.failed);
    size_t at = 0;
    bool gap = false;
    for (size_t i = 0; i < codes.count; i++) {
        if (ganz_is_space(codes.at[i])) {
            gap = at > 0;
        } else {
            if (gap) out[at++] = ' ';
            gap = false;
            at += (size_t)ganz_utf8_encode(codes.at[i], out + at);
        }
    }
    out[at] = '\0';
    ganz_codepoints_free(&codes);
    ganz_codepoints_free(&scratch);
    return at;
}

static size_t lower_of(const char *text, size_t bytes, char *out)
{
    ganz_codepoints codes = {0}, lower = {0};
    size_t at = 0;
    assert_true(ganz_codepoints_decode(&codes, text, bytes));
    ganz_codepoints_lower(&codes, &lower);
    for (size_t i = 0; i < lower.count; i++) at += (size_t)ganz_utf8_encode(lower.at[i], out + at);
    ganz_codepoints_free(&codes);
    ganz_codepoints_free(&lower);
    return at;
}

static ganz_score_words words_named(const char *name)
{
    if (strcmp(name, "intl") == 0) return GANZ_WORDS_INTL;
    return strcmp(name, "t2t") == 0 ? GANZ_WORDS_T2T : GANZ_WORDS_13A;
}

static void expect_words(ganz_score_words how, const char *text, const char *expected)
{
    char out[256];
    words_of(how, text, strlen(text), out);
    assert_string_equal(out, expected);
}

static double bleu(const char *hyp, const char *ref, ganz_score_words how)
{
    ganz_score s;
    const ganz_score_settings settings = {GANZ_BLEU, how, false};
    assert_int_equal(ganz_score_texts(&hyp, &ref, 1, &settings, &s, NULL), GANZ_OK);
    return s.score;
}

static ganz_scorer *scorer(ganz_metric metric, ganz_score_words words, bool lowercase)
{
    const ganz_score_settings settings = {metric, words, lowercase};
    ganz_scorer *s;
    assert_int_equal(ganz_scorer_open(&s, &settings, NULL), GANZ_OK);
    return s;
}

static void add(ganz_scorer *s, const char *hyp, const char *ref)
{
    assert_int_equal(ganz_scorer_add(s, hyp, strlen(hyp), ref, strlen(ref), NULL), GANZ_OK);
}

#define assert_near(a, b, tolerance)                                                 \
    do {                                                                             \
        const double a_ = (a), b_ = (b);                                             \
        if (!(fabs(a_ - b_) <= (tolerance))) fail_msg("%.17g is not %.17g", a_, b_); \
    } while (0)

/* ---- words and counts --------------------------------------------------------------------------- */

static void t2t_words(void **state)
{
    (void)state;
    const ganz_score_words t2t = GANZ_WORDS_T2T;
    expect_words(t2t, "It cost 3,500.5 $ (US-style).", "It cost 3,500.5 $ ( US - style ) .");
    expect_words(t2t, "5.-", "5 . -");
    expect_words(t2t, "U.S.A. 1990-1995", "U . S . A . 1990-1995");
    expect_words(t2t, "In 2014.", "In 2014.");
    expect_words(t2t, "2014. ", "2014 ."); /* white space at the end stays, and splits */
    expect_words(GANZ_WORDS_INTL, "2014. ", "2014.");
    expect_words(t2t, "10% .5", "10 % . 5"); /* "%" before a space is punctuation before no digit */
    expect_words(t2t, "10%", "10%");
    expect_words(t2t, "a\\b", "a\\b");
    expect_words(GANZ_WORDS_INTL, "a\\b", "a \\ b");
    expect_words(t2t, "²,³", "² , ³"); /* superscripts are numbers but no decimal digits */
    expect_words(GANZ_WORDS_INTL, "²,³", "²,³");
}

/* Undoes \xHH of the golden files. */
static size_t unescape(char *text)
{
    size_t n = 0;
    for (const char *s = text; *s; n++) {
        if (*s == '\\') {
            const char hex[3] = {s[2], s[3], '\0'};
            text[n] = (char)strtol(hex, NULL, 16);
            s += 4;
        } else {
            text[n] = *s++;
        }
    }
    text[n] = '\0';
    return n;
}

/* Cuts a line at its tabs; the fields end in NUL. */
static int cut_fields(const char *text, size_t bytes, char *copy, char **fields, int most)
{
    int count = 1;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    for (int i = 0; i < most; i++) fields[i] = i == 0 ? copy : copy + bytes;
    for (char *s = copy; (s = strchr(s, '\t')) && count < most; fields[count++] = s) *s++ = '\0';
    return count;
}

static void golden_words(void **state)
{
    (void)state;
    ganz_lines *lines;
    const char *text;
    char copy[4096], out[4096], *field[3];
    size_t bytes, rows = 0;
    assert_int_equal(ganz_lines_open(&lines, FOLDER "words.tsv", NULL), GANZ_OK);
    while (ganz_lines_next(lines, &text, &bytes, NULL) == GANZ_OK && text) {
        assert_true(bytes < sizeof copy);
        assert_int_equal(cut_fields(text, bytes, copy, field, 3), 3);
        const size_t in = unescape(field[1]), expected = unescape(field[2]);
        const size_t made = strcmp(field[0], "lower") == 0 ? lower_of(field[1], in, out)
                                                           : words_of(words_named(field[0]), field[1], in, out);
        if (made != expected || memcmp(out, field[2], expected) != 0)
            fail_msg("line %lld: %s", ganz_lines_number(lines), field[1]);
        rows++;
    }
    ganz_lines_close(&lines);
    assert_true(rows > 150);
}

/* Against counting by hand over all pairs of positions. */
static void ngrams_match_brute_force(void **state)
{
    (void)state;
    ganz_ngrams work = {0};
    uint32_t random = 1;
    for (int round = 0; round < 300; round++) {
        int32_t hyp[24], ref[24], got[GANZ_NGRAM_ORDERS];
        const size_t hn = (size_t)round % 25, rn = (size_t)(round * 7) % 25;
        for (int i = 0; i < 24; i++) {
            hyp[i] = (int32_t)((random = random * 1664525u + 1013904223u) >> 24) % (1 + round % 4);
            ref[i] = (int32_t)((random = random * 1664525u + 1013904223u) >> 24) % (1 + round % 4);
        }
        assert_true(ganz_ngram_matches(&work, hyp, hn, ref, rn, got));
        for (size_t n = 1; n <= GANZ_NGRAM_ORDERS; n++) {
            bool used[24] = {false};
            int32_t matches = 0;
            for (size_t i = 0; i + n <= hn; i++) {
                for (size_t j = 0; j + n <= rn; j++) {
                    if (used[j] || memcmp(hyp + i, ref + j, n * sizeof *hyp) != 0) continue;
                    used[j] = true; /* every n-gram of the reference serves once: that is the clipping */
                    matches++;
                    break;
                }
            }
            assert_int_equal(got[n - 1], matches);
        }
    }
    ganz_ngrams_free(&work);
}

/* ---- scores ------------------------------------------------------------------------------------- */

static void t2t_scores(void **state)
{
    (void)state;
    const char *const refs[] = {"The cat sat on the mat .", "A quick brown fox , 3.5 % faster."};
    const char *const hyps[] = {"The cat is on the mat .", "A quick fox , 3.5 % faster than."};
    ganz_score s;
    const ganz_score_settings settings = {GANZ_BLEU, GANZ_WORDS_T2T, false};
    assert_int_equal(ganz_score_texts(hyps, refs, 2, &settings, &s, NULL), GANZ_OK);
    assert_near(s.score, 51.49417860, 5e-9);
    assert_near(bleu("a x y z w", "a b c d", GANZ_WORDS_T2T), 10.68217516, 5e-9);
    assert_near(bleu("a b c d", "a b c d e", GANZ_WORDS_T2T), 77.88007831, 5e-9);
    assert_near(bleu("a b", "a b", GANZ_WORDS_T2T), 100.0, 1e-12);
    assert_near(bleu("a b", "a b", GANZ_WORDS_13A), 0.0, 0.0); /* empty orders count here */
    assert_near(bleu("", "", GANZ_WORDS_T2T), 0.0, 0.0);
    assert_near(bleu("", "a", GANZ_WORDS_T2T), 0.0, 0.0);
    assert_near(bleu("a", "", GANZ_WORDS_13A), 0.0, 0.0);
}

static void score_pair(ganz_scorer *s, const char *hyp_name, const char *ref_name)
{
    char path[512];
    ganz_lines *hyp, *ref;
    snprintf(path, sizeof path, FOLDER "%s", hyp_name);
    assert_int_equal(ganz_lines_open(&hyp, path, NULL), GANZ_OK);
    snprintf(path, sizeof path, FOLDER "%s", ref_name);
    assert_int_equal(ganz_lines_open(&ref, path, NULL), GANZ_OK);
    for (;;) {
        const char *h, *r;
        size_t hn, rn;
        assert_int_equal(ganz_lines_next(hyp, &h, &hn, NULL), GANZ_OK);
        assert_int_equal(ganz_lines_next(ref, &r, &rn, NULL), GANZ_OK);
        assert_int_equal(!h, !r);
        if (!h) break;
        assert_int_equal(ganz_scorer_add(s, h, hn, r, rn, NULL), GANZ_OK);
    }
    ganz_lines_close(&hyp);
    ganz_lines_close(&ref);
}

static void golden_scores(void **state)
{
    (void)state;
    ganz_lines *lines;
    const char *text;
    char copy[1024], *field[13];
    size_t bytes, rows = 0;
    assert_int_equal(ganz_lines_open(&lines, FOLDER "scores.tsv", NULL), GANZ_OK);
    while (ganz_lines_next(lines, &text, &bytes, NULL) == GANZ_OK && text) {
        assert_true(bytes < sizeof copy);
        const bool chrf = cut_fields(text, bytes, copy, field, 13) == 9;
        assert_int_equal(strcmp(field[2], "chrf") == 0, chrf);
        ganz_scorer *s = scorer(chrf ? GANZ_CHRF : GANZ_BLEU, words_named(field[3]), strcmp(field[4], "lc") == 0);
        score_pair(s, field[0], field[1]);
        const ganz_score got = ganz_scorer_score(s);
        assert_near(got.score, strtod(field[5], NULL), 1e-10);
        assert_near(got.bp, strtod(field[6], NULL), 1e-12);
        if (!chrf) {
            assert_int_equal(got.sys_len, atoll(field[7]));
            assert_int_equal(got.ref_len, atoll(field[8]));
            for (int n = 0; n < 4; n++) assert_near(got.precisions[n], strtod(field[9 + n], NULL), 1e-10);
        }
        ganz_scorer_close(&s);
        rows++;
    }
    ganz_lines_close(&lines);
    assert_true(rows >= 100);
}

static void text_must_be_utf8(void **state)
{
    (void)state;
    ganz_error err;
    ganz_scorer *s = scorer(GANZ_CHRF, GANZ_WORDS_13A, false);
    add(s, "good", "good");
    assert_int_equal(ganz_scorer_add(s, "bad\xff", 4, "good", 4, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "hypothesis 2 is not valid UTF-8");
    assert_int_equal(ganz_scorer_add(s, "good", 4, "\xc3", 1, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "reference 2 is not valid UTF-8");
    assert_int_equal(ganz_scorer_segments(s), 1);
    assert_near(ganz_scorer_score(s).score, 100.0, 1e-12);
    ganz_scorer_close(&s);
    const ganz_score_settings wrong = {(ganz_metric)7, GANZ_WORDS_13A, false};
    assert_int_equal(ganz_scorer_open(&s, &wrong, &err), GANZ_EINVAL);
    assert_null(s);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    const char *const hyps[] = {"Ein Satz, der nicht sehr lang ist.", "Σ ist ein Buchstabe ."};
    const char *const refs[] = {"Ein Satz, der auch nicht lang ist!", "Sigma ist einer."};
    const ganz_score_settings settings[] = {{GANZ_BLEU, GANZ_WORDS_13A, true}, {GANZ_CHRF, GANZ_WORDS_13A, true}};
    for (size_t k = 0; k < GANZ_COUNT(settings); k++) {
        for (long n = 1, done = 0; !done; n++) {
            ganz_scorer *s = NULL;
            ganz_resampled results[1];
            ganz_alloc_fail_at(n);
            ganz_status status = ganz_scorer_open(&s, &settings[k], NULL);
            for (int i = 0; i < 2 && status == GANZ_OK; i++)
                status = ganz_scorer_add(s, hyps[i], strlen(hyps[i]), refs[i], strlen(refs[i]), NULL);
            if (status == GANZ_OK) status = ganz_bootstrap(&s, 1, 10, 1, results, NULL);
            if (status == GANZ_OK) status = ganz_bootstrap_mean((ganz_scorer *[]){s, s}, 2, 10, 1, results, NULL);
            ganz_alloc_fail_at(0);
            ganz_scorer_close(&s);
            assert_true(status == GANZ_OK || status == GANZ_ENOMEM);
            done = status == GANZ_OK;
            assert_true(n < 1000);
            if (done) assert_true(n > 5);
        }
    }
}

static void signatures(void **state)
{
    (void)state;
    char got[GANZ_SIGNATURE_BYTES], expected[GANZ_SIGNATURE_BYTES];
    ganz_score_settings settings = {GANZ_BLEU, GANZ_WORDS_INTL, false};
    ganz_score_signature(&settings, 0, 1, got);
    snprintf(expected, sizeof expected, "nrefs:1|case:mixed|eff:no|tok:intl|smooth:exp|version:ganz-%s",
             ganz_version());
    assert_string_equal(got, expected);
    settings = (ganz_score_settings){GANZ_CHRF, GANZ_WORDS_13A, true};
    ganz_score_signature(&settings, 1000, UINT64_MAX, got);
    snprintf(expected, sizeof expected,
             "nrefs:1|bs:1000|seed:18446744073709551615|case:lc|eff:yes|nc:6|nw:0|space:no|version:ganz-%s",
             ganz_version());
    assert_string_equal(got, expected);
}

/* ---- resampling --------------------------------------------------------------------------------- */

static void resampling_tells_systems_apart(void **state)
{
    (void)state;
    const char *const files[] = {"text.drop", "text.drop", "text.ref", "text.swap"};
    ganz_scorer *s[4];
    ganz_resampled a[4], b[4];
    for (int i = 0; i < 4; i++) score_pair(s[i] = scorer(GANZ_BLEU, GANZ_WORDS_13A, false), files[i], "text.ref");
    assert_int_equal(ganz_bootstrap(s, 4, 1000, 7, a, NULL), GANZ_OK);
    assert_near(a[0].p, 1.0, 0.0);
    assert_near(a[1].p, 1.0, 0.0); /* the same translations */
    assert_near(a[2].p, 1.0 / 1001.0, 1e-12);
    for (int i = 0; i < 4; i++) {
        const double score = ganz_scorer_score(s[i]).score;
        assert_true(a[i].low <= score && score <= a[i].high);
        assert_true(fabs(a[i].mean - score) < 2.0);
    }
    assert_near(a[2].mean, 100.0, 1e-9);
    assert_near(a[0].mean, a[1].mean, 0.0);

    assert_int_equal(ganz_bootstrap(s, 4, 1000, 7, b, NULL), GANZ_OK);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(ganz_bootstrap(s, 1, 1000, 7, b, NULL), GANZ_OK); /* other systems change nothing */
    assert_memory_equal(a, b, sizeof *a);
    assert_int_equal(ganz_bootstrap(s, 4, 1000, 8, b, NULL), GANZ_OK);
    assert_true(a[0].mean != b[0].mean);
    for (int i = 0; i < 4; i++) ganz_scorer_close(&s[i]);
}

/* Two segments, one perfect and one without any match: scores of the three possible resamples are known. */
static void resampling_follows_the_binomial(void **state)
{
    (void)state;
    ganz_scorer *s = scorer(GANZ_CHRF, GANZ_WORDS_13A, false);
    add(s, "abcdefgh", "abcdefgh");
    add(s, "abcdefgh", "ijklmnop");
    ganz_resampled r;
    const int n = 20000;
    assert_int_equal(ganz_bootstrap(&s, 1, n, 3, &r, NULL), GANZ_OK);
    assert_near(ganz_scorer_score(s).score, 50.0, 1e-12);
    assert_near(r.low, 0.0, 0.0);
    assert_near(r.high, 100.0, 1e-12);
    assert_near(r.mean, 50.0, 4.0 * 35.36 / sqrt(n)); /* 0, 50, 100 with chances 1/4, 1/2, 1/4 */
    ganz_scorer_close(&s);
}

/* ganz_bootstrap_mean of the files with t2t's words, and in *score the mean of the runs' scores. */
static ganz_resampled mean_of_runs(char *const *files, int count, int resamples, uint64_t seed, double *score)
{
    ganz_scorer *s[4];
    ganz_resampled got, each[4];
    assert_true(count >= 2 && count <= 4);
    *score = 0.0;
    for (int i = 0; i < count; i++) {
        score_pair(s[i] = scorer(GANZ_BLEU, GANZ_WORDS_T2T, false), files[i], "text.ref");
        if (i > 0) *score += ganz_scorer_score(s[i]).score / (count - 1);
    }
    assert_int_equal(ganz_bootstrap_mean(s, count, resamples, seed, &got, NULL), GANZ_OK);
    assert_int_equal(ganz_bootstrap(s, count, resamples, seed, each, NULL), GANZ_OK);
    if (count == 2) assert_memory_equal(&got, &each[1], sizeof got); /* one run is its own mean */
    for (int i = 0; i < count; i++) ganz_scorer_close(&s[i]);
    return got;
}

static void golden_means_of_runs(void **state)
{
    (void)state;
    ganz_lines *lines;
    const char *text;
    char copy[1024], *field[11];
    size_t bytes, rows = 0;
    assert_int_equal(ganz_lines_open(&lines, FOLDER "seeds.tsv", NULL), GANZ_OK);
    while (ganz_lines_next(lines, &text, &bytes, NULL) == GANZ_OK && text) {
        assert_true(bytes < sizeof copy);
        const int files = cut_fields(text, bytes, copy, field, 11) - 7;
        double score;
        const ganz_resampled got = mean_of_runs(field + 7, files, atoi(field[0]), strtoull(field[1], NULL, 10), &score);
        const double numbers[] = {score, got.mean, got.low, got.high, got.p};
        for (int i = 0; i < 5; i++) assert_near(numbers[i], strtod(field[2 + i], NULL), 1e-10);
        rows++;
    }
    ganz_lines_close(&lines);
    assert_int_equal(rows, 4);
}

static void resampling_wants_pairs(void **state)
{
    (void)state;
    ganz_error err;
    ganz_resampled r[2];
    ganz_scorer *s[2] = {scorer(GANZ_BLEU, GANZ_WORDS_13A, false), scorer(GANZ_BLEU, GANZ_WORDS_13A, false)};
    assert_int_equal(ganz_bootstrap(s, 2, 10, 1, r, &err), GANZ_EINVAL);
    add(s[0], "a", "a");
    assert_int_equal(ganz_bootstrap(s, 2, 10, 1, r, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "system 2 has 0 segments but system 1 has 1");
    assert_int_equal(ganz_bootstrap_mean(s, 2, 10, 1, r, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "system 2 has 0 segments but system 1 has 1");
    assert_int_equal(ganz_bootstrap(s, 1, 0, 1, r, &err), GANZ_EINVAL);
    assert_int_equal(ganz_bootstrap_mean(s, 1, 10, 1, r, &err), GANZ_EINVAL); /* no run */
    assert_string_equal(err.message, "too few systems or resamples");
    ganz_scorer_close(&s[1]);
    s[1] = scorer(GANZ_BLEU, GANZ_WORDS_13A, true);
    add(s[1], "a", "a");
    assert_int_equal(ganz_bootstrap(s, 2, 10, 1, r, &err), GANZ_EINVAL);
    ganz_scorer_close(&s[0]);
    ganz_scorer_close(&s[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t2t_words),
        cmocka_unit_test(golden_words),
        cmocka_unit_test(ngrams_match_brute_force),
        cmocka_unit_test(t2t_scores),
        cmocka_unit_test(golden_scores),
        cmocka_unit_test(text_must_be_utf8),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(signatures),
        cmocka_unit_test(resampling_tells_systems_apart),
        cmocka_unit_test(resampling_follows_the_binomial),
        cmocka_unit_test(golden_means_of_runs),
        cmocka_unit_test(resampling_wants_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
