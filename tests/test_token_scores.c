/* Scores of tokens and of words; results that lines ask for. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "folder.h"
#include "tiny.h"
#include "ganz/ganz.h"

#define OK(call) assert_int_equal((call), GANZ_OK)

/* Products of floats may round differently in batches of another size. */
static void assert_score(double expected, double actual)
{
    if (!(fabs(expected - actual) <= 2e-4)) fail_msg("expected a score of %.7f, got %.7f", expected, actual);
}

/* clang-format off */
static const char *const texts[] = {"the cat sat on the mat.", "", "dog", "  \t ", "in the other thing, the dog",
                                    "Caf\xC3\xA9 \xE2\x82\xAC 5"};
/* clang-format on */
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* Tokens are all that is visible, each once and in order; sums of their scores are what the search says, but for the
 * end mark; nothing depends on company, threads or the number of results. */
static void tokens_have_scores(void **state)
{
    (void)state;
    ganz_model *m;
    assert_true(write_tiny("m", 9));
    OK(ganz_model_open(&m, "m", NULL));
    ganz_translator_options o;
    ganz_translator *t[2];
    ganz_translator_defaults(&o);
    o.alpha = 0;
    o.n_best = 3;
    o.token_scores = true;
    OK(ganz_translator_open(&t[0], m, &o, NULL));
    o.threads = 3;
    o.alignment = true;
    OK(ganz_translator_open(&t[1], m, &o, NULL));
    ganz_line lines[TEXTS];
    const ganz_result *all, *one;
    for (int i = 0; i < TEXTS; i++) lines[i] = (ganz_line){.text = texts[i], .bytes = strlen(texts[i])};
    OK(ganz_translate(t[0], lines, TEXTS, &all, NULL));
    for (int i = 0; i < TEXTS; i++) {
        lines[i].n_best = 2;
        OK(ganz_translate(t[1], &lines[i], 1, &one, NULL));
        assert_int_equal(one[0].count, all[i].count < 2 ? all[i].count : 2);
        for (int k = 0; k < one[0].count; k++) {
            const ganz_translation *const r = &all[i].best[k], *const same = &one[0].best[k];
            size_t at = 0;
            double sum = 0;
            assert_null(r->links);
            assert_string_equal(same->text, r->text);
            assert_int_equal(same->token_count, r->token_count);
            for (int n = 0; n < r->token_count; n++) {
                for (; at < r->tokens[n].begin; at++) assert_int_equal(r->text[at], ' ');
                assert_true(r->tokens[n].end > at && r->tokens[n].score <= 0);
                assert_memory_equal(&same->tokens[n], &r->tokens[n], 2 * sizeof(size_t));
                assert_score(same->tokens[n].score, r->tokens[n].score);
                at = r->tokens[n].end;
                sum += r->tokens[n].score;
            }
            for (; at < r->bytes; at++) assert_int_equal(r->text[at], ' ');
            assert_true(sum >= r->score - 1e-3);
        }
    }
    ganz_translator_close(&t[1]);
    o.alpha = -1; /* the best are longer */
    OK(ganz_translator_open(&t[1], m, &o, NULL));
    lines[4].unscored = true;
    OK(ganz_translate(t[1], lines, TEXTS, &all, NULL));
    assert_int_equal(all[4].best[0].token_count, 0);
    assert_true(all[4].best[0].link_count > 0);
    lines[4].unscored = false;
    OK(ganz_translate(t[1], lines, TEXTS, &all, NULL));
    assert_true(all[4].best[0].token_count > 0);
    lines[0].n_best = -1;
    assert_int_equal(ganz_translate(t[1], lines, 1, &all, NULL), GANZ_EINVAL);
    ganz_translator_close(&t[0]);
    ganz_translator_close(&t[1]);
    ganz_model_close(&m);
}

/* A token counts for the word that it begins in. */
static void words_have_scores(void **state)
{
    (void)state;
    const ganz_token_score tokens[] = {{0, 2, -1}, {2, 3, -0.5}, {4, 5, -0.25}, {5, 8, -2}, {8, 10, -4}};
    const ganz_translation t = {.text = "ab, c\" (\xC3\xA4", .bytes = 10, .tokens = tokens, .token_count = 5};
    double scores[6];
    assert_int_equal(ganz_word_scores(&t, scores), 3);
    assert_true(scores[0] == -1.5 && scores[1] == -2.25 && scores[2] == -4);
    assert_int_equal(ganz_word_scores(&(ganz_translation){.text = ""}, scores), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(tokens_have_scores), cmocka_unit_test(words_have_scores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
