/* Languages of texts: sentences of our own in the languages that are known, and what holds for any bytes. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/rng.h"
#include "ganz/detect.h"
#include "ganz/io.h"

static ganz_detector *open_detector(const char *languages)
{
    ganz_detector *d;
    ganz_error err;
    assert_int_equal(ganz_detector_open(&d, languages, &err), GANZ_OK);
    return d;
}

static void best_is(const ganz_detector *d, const char *text, const char *language, double least)
{
    ganz_guess best;
    assert_int_equal(ganz_detect(d, text, strlen(text), &best, 1), 1);
    assert_string_equal(best.language, language);
    assert_true(best.confidence >= least && best.confidence <= 1);
}

static void sentences_are_recognised(void **state)
{
    (void)state;
    ganz_detector *d = open_detector(NULL);
    ganz_lines *lines;
    ganz_error err;
    const char *text;
    size_t bytes;
    int right = 0, all = 0;
    assert_int_equal(ganz_lines_open(&lines, GANZ_TESTS_DIR "/data/languages.tsv", &err), GANZ_OK);
    while (ganz_lines_next(lines, &text, &bytes, &err) == GANZ_OK && text) {
        ganz_guess best = {"", 0};
        ganz_detect(d, text + 3, bytes - 3, &best, 1);
        const bool good = memcmp(best.language, text, 2) == 0;
        if (!good) print_message("%s %.2f: %.*s\n", best.language, best.confidence, (int)bytes, text);
        right += good;
        all++;
    }
    ganz_lines_close(&lines);
    ganz_detector_close(&d);
    print_message("%d of %d right\n", right, all);
    assert_true(all >= 60 && right * 100 >= all * 97);
}

static void the_list_is_what_opens(void **state)
{
    (void)state;
    const char *at = ganz_detector_languages();
    ganz_detector *d;
    for (; *at; at += at[2] ? 3 : 2) {
        char code[3] = {at[0], at[1], 0};
        assert_true(at[2] == ' ' || at[2] == 0);
        d = open_detector(code);
        ganz_detector_close(&d);
    }
    d = open_detector("ja,de-AT xx");
    best_is(d, "Das Wetter ist heute sehr schön, und wir gehen spazieren.", "de", 0.9);
    best_is(d, "今日は天気がいいですね。", "ja", 0.99);
    ganz_guess best;
    assert_int_equal(ganz_detect(d, "Сегодня хорошая погода", 43, &best, 1), 0); /* neither has these letters */
    ganz_detector_close(&d);
}

/* Of two languages that are both wrong the nearer one comes first, with little confidence. */
static void the_rest_counts(void **state)
{
    (void)state;
    ganz_detector *d = open_detector("de en");
    ganz_guess guesses[3];
    const char *const french = "Nous allons à la gare, parce que nos amis arrivent à sept heures.";
    assert_int_equal(ganz_detect(d, french, strlen(french), guesses, 3), 2);
    assert_true(guesses[0].confidence < 0.01);
    best_is(d, "The weather is fine", "en", 0.5);
    best_is(d, "THE WEATHER IS FINE TODAY, AND WE GO OUT.", "en", 0.9);
    best_is(d, "The word \xD0\xBC\xD0\xB8\xD1\x80 is Russian and means peace or world.", "en", 0.8);
    ganz_detector_close(&d);
}

static void nothing_is_said_about_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {"", " ", "1,234.50", "-- !! ?", "\xF0\x9F\x98\x80", "\xFF\xFE\x80", "\0\0"};
    ganz_detector *d = open_detector(NULL);
    ganz_guess best;
    for (size_t i = 0; i < GANZ_COUNT(texts); i++)
        assert_int_equal(ganz_detect(d, texts[i], strlen(texts[i]), &best, 1), 0);
    assert_int_equal(ganz_detect(d, "house", 5, &best, 0), 0);
    ganz_detector_close(&d);
}

static void any_bytes_may_come(void **state)
{
    (void)state;
    enum { BYTES = 100000 };
    ganz_detector *d = open_detector(NULL);
    char *const text = malloc(BYTES);
    ganz_guess guesses[100];
    for (int round = 0; round < 8; round++) {
        double sum = 0;
        for (size_t i = 0; i < BYTES; i++) text[i] = (char)(ganz_random_u64(1, (uint64_t)round, i) >> (round & 7) * 4);
        const size_t count = ganz_detect(d, text, BYTES, guesses, 100);
        for (size_t i = 0; i < count; i++) sum += guesses[i].confidence;
        assert_true(count <= 64 && sum <= 1.000001);
    }
    free(text);
    ganz_detector_close(&d);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    ganz_error err;
    ganz_status status = GANZ_ENOMEM;
    for (long n = 1; status != GANZ_OK; n++) {
        ganz_detector *d = NULL;
        ganz_alloc_fail_at(n);
        status = ganz_detector_open(&d, NULL, &err);
        ganz_alloc_fail_at(0);
        assert_true(status == GANZ_OK ? d != NULL : status == GANZ_ENOMEM && !d);
        ganz_detector_close(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_are_recognised), cmocka_unit_test(the_list_is_what_opens),
        cmocka_unit_test(the_rest_counts),          cmocka_unit_test(nothing_is_said_about_nothing),
        cmocka_unit_test(any_bytes_may_come),       cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
