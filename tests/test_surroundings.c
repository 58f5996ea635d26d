/* A program around the library may use decimal commas and round as it likes: what the library reads, writes and
 * computes stays the same, and what the program has set stays set. */
#define _GNU_SOURCE /* setenv, fedisableexcept */
#include "test.h"

#include <fenv.h>
#include <locale.h>

#include "base/io.h"
#include "folder.h"
#include "ganz/recipe.h"
#include "ganz/score.h"
#include "model/container.h"
#include "tiny.h"

#define OK(call) assert_int_equal((call), GANZ_OK)

/* A locale of our own making, because none with a comma may be installed; false where it cannot be made. */
static bool set_comma(void)
{
    FILE *const source = fopen("comma.src", "w");
    fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n", source);
    fclose(source);
    if (system("localedef --no-archive -c -i comma.src ./comma 2>/dev/null >/dev/null") == -1) return false;
    char folder[4096];
    if (!getcwd(folder, sizeof folder)) return false;
    setenv("LOCPATH", folder, 1);
    return setlocale(LC_NUMERIC, "comma") != NULL;
}

static void decimal_commas_do_no_harm(void **state)
{
    (void)state;
    if (!set_comma()) skip();
    char text[32];
    snprintf(text, sizeof text, "%g", 0.5);
    assert_string_equal(text, "0,5"); /* the program has its comma */
    ganz_error err;
    ganz_recipe recipe;
    ganz_recipe_defaults(&recipe);
    const ganz_status set = ganz_recipe_set(&recipe, "dropout", "0.25", &err);
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    char shown[GANZ_VALUE_BYTES] = "";
    for (int i = 0; i < count; i++)
        if (strcmp(table[i].name, "dropout") == 0) ganz_recipe_get(&recipe, &table[i], shown);
    ganz_output *out;
    OK(ganz_output_open(&out, "numbers", &err));
    OK(ganz_output_printf(out, &err, "%.2f", 0.75));
    OK(ganz_output_finish(&out, &err));
    ganz_writer *w;
    OK(ganz_writer_open(&w, "c", true, &err));
    OK(ganz_writer_real(w, "rate", 0.1, &err));
    OK(ganz_writer_finish(&w, &err));
    ganz_container *c;
    OK(ganz_container_open(&c, "c", &err));
    double rate = 0;
    const ganz_status got = ganz_container_get_real(c, "rate", &rate, &err);
    snprintf(text, sizeof text, "%g", 0.5);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "0,5");
    assert_int_equal(set, GANZ_OK);
    assert_string_equal(shown, "0.25");
    assert_int_equal(got, GANZ_OK);
    assert_true(rate == 0.1);
    assert_string_equal(ganz_container_text(c, "rate"), "0.10000000000000001");
    ganz_container_close(&c);
    size_t bytes;
    char *const numbers = read_whole("numbers", &bytes);
    assert_int_equal(bytes, 4);
    assert_memory_equal(numbers, "0.75", 4);
    free(numbers);
}

typedef struct said {
    char text[4][512];
    double score[4];
} said;

static void translate_all(int threads, said *to)
{
    static const char *const texts[] = {"the cat sat on the mat.", "dog", "in the other thing, the dog", "a mat"};
    ganz_line lines[4] = {0};
    for (int i = 0; i < 4; i++) lines[i] = (ganz_line){.text = texts[i], .bytes = strlen(texts[i])};
    ganz_error err;
    ganz_model *m;
    ganz_translator *t;
    ganz_translator_options o;
    const ganz_result *results;
    OK(ganz_model_open(&m, "tiny", &err));
    ganz_translator_defaults(&o);
    o.threads = threads;
    OK(ganz_translator_open(&t, m, &o, &err));
    OK(ganz_translate(t, lines, 4, &results, &err));
    for (int i = 0; i < 4; i++) {
        snprintf(to->text[i], sizeof to->text[i], "%s", results[i].best[0].text);
        to->score[i] = results[i].best[0].score;
    }
    ganz_translator_close(&t);
    ganz_model_close(&m);
}

static void rounding_of_others_does_no_harm(void **state)
{
    (void)state;
    assert_true(write_tiny("tiny", 5));
    said plain = {0};
    translate_all(2, &plain);
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (size_t i = 0; i < GANZ_COUNT(modes); i++) {
        said other = {0};
        fesetround(modes[i]);
        feclearexcept(FE_ALL_EXCEPT);
        translate_all(2, &other);
        const int after = fegetround(), flags = fetestexcept(FE_ALL_EXCEPT);
        fesetround(FE_TONEAREST);
        assert_int_equal(after, modes[i]);
        assert_int_equal(flags, 0);
        assert_memory_equal(&other, &plain, sizeof plain);
    }
}

static void score_all(double scores[4])
{
    static const char *const hyps[] = {"the cat sat on a mat today", "a dog ran over the hill",
                                       "no one knows why it is so"};
    static const char *const refs[] = {"the cat sat on the mat today", "the dog ran over a hill",
                                       "nobody knows why it is so"};
    ganz_error err;
    ganz_score_settings settings = {.metric = GANZ_BLEU};
    ganz_score score;
    OK(ganz_score_texts(hyps, refs, 3, &settings, &score, &err));
    scores[0] = score.score;
    ganz_scorer *s;
    ganz_resampled sampled;
    settings.metric = GANZ_CHRF;
    OK(ganz_scorer_open(&s, &settings, &err));
    for (int i = 0; i < 3; i++) OK(ganz_scorer_add(s, hyps[i], strlen(hyps[i]), refs[i], strlen(refs[i]), &err));
    scores[1] = ganz_scorer_score(s).score;
    OK(ganz_bootstrap(&s, 1, 40, 7, &sampled, &err));
    scores[2] = sampled.mean;
    scores[3] = sampled.high;
    ganz_scorer_close(&s);
}

static void scores_are_the_same_however_others_round(void **state)
{
    (void)state;
    double plain[4], other[4];
    score_all(plain);
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (size_t i = 0; i < GANZ_COUNT(modes); i++) {
        fesetround(modes[i]);
        score_all(other);
        const int after = fegetround();
        fesetround(FE_TONEAREST);
        assert_int_equal(after, modes[i]);
        assert_memory_equal(other, plain, sizeof plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(decimal_commas_do_no_harm),
        IN_FOLDER(rounding_of_others_does_no_harm),
        cmocka_unit_test(scores_are_the_same_however_others_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
