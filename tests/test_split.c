/* Lines before they are translated: where they are cut, and words that are too long to be any. */
#include "test.h"

#include <string.h>

#include "folder.h"
#include "tiny.h"
#include "translate/split.h"

static void cuts_are_good(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t room, expected;
    } cases[] = {
        {"all of it", 100, 9},
        {"One is here. Two is, as it were, there", 20, 12},                      /* sentence */
        {"One is \"here.\" Two is, as it were", 20, 14},                         /* with its quote */
        {"One is 3.14, and two is more than that", 14, 12},                      /* clause; the point is none */
        {"One is here and two is there", 14, 11},                                /* space */
        {"a bcdefghijklmnopqrstuvwxyz", 10, 10},                                 /* the space is too early */
        {"a. bcdefghi jklmnopqrstuvwxyz", 13, 11},                               /* and so is the sentence */
        {"\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", 5, 4},                              /* whole characters */
        {"\xF0\x9F\x98\x80\xF0\x9F\x98\x80", 1, 4},                              /* one at least */
        {"\xE4\xBD\xA0\xE5\xA5\xBD\xE3\x80\x82\xE4\xBD\xA0\xE5\xA5\xBD", 13, 9}, /* ideographic full stop */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(ganz_split_at(cases[i].text, strlen(cases[i].text), cases[i].room), cases[i].expected);
}

/* A thousand characters are a word, one more are not; spaces and ideographic punctuation end words. */
static void long_words_are_found(void **state)
{
    (void)state;
    enum { LONGEST = GANZ_LONGEST_WORD };
    static char text[8 * LONGEST];
    static const struct {
        const char *before, *unit, *after;
        int units;
        bool found;
    } cases[] = {
        {"", "x", "", LONGEST, false},
        {"", "x", "", LONGEST + 1, true},
        {"a b  ", "x", " c", LONGEST + 1, true},
        {"", "ab ", "", LONGEST, false},
        {"a ", "\xC3\xA4", "", LONGEST, false}, /* characters, not bytes */
        {"a ", "\xC3\xA4", "\xC2\xA0z", LONGEST + 5, true},
        {"", "\xE4\xBD\xA0\xE3\x80\x82", "", LONGEST, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t before = strlen(cases[i].before), unit = strlen(cases[i].unit);
        strcpy(text, cases[i].before);
        for (int j = 0; j < cases[i].units; j++) strcat(text, cases[i].unit);
        strcat(text, cases[i].after);
        size_t length;
        const size_t at = ganz_long_word(text, strlen(text), &length);
        assert_int_equal(at, cases[i].found ? before : strlen(text));
        assert_int_equal(length, cases[i].found ? unit * (size_t)cases[i].units : 0);
    }
}

/* A sentence that fits is one piece, however many tokens the bytes of the sentence before it gave. */
static void sentences_that_fit_stay_whole(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "xyz!", "the cat sat on the mat the cat sat on the mat the cat sat on the mat the cat sat on the mat.",
        "xyz! the cat sat on the mat the cat sat on the mat the cat sat on the mat the cat sat on the mat."};
    ganz_model *m;
    ganz_translator *t;
    ganz_translator_options o;
    ganz_line lines[3];
    const ganz_result *r;
    char expected[4096];
    ganz_translator_defaults(&o);
    o.split = "en";
    assert_true(write_tiny("m", 11));
    assert_int_equal(ganz_model_open(&m, "m", NULL), GANZ_OK);
    assert_int_equal(ganz_translator_open(&t, m, &o, NULL), GANZ_OK);
    for (int i = 0; i < 3; i++) lines[i] = (ganz_line){.text = texts[i], .bytes = strlen(texts[i])};
    assert_int_equal(ganz_translate(t, lines, 3, &r, NULL), GANZ_OK);
    snprintf(expected, sizeof expected, "%s %s", r[0].best[0].text, r[1].best[0].text);
    assert_string_equal(r[2].best[0].text, expected);
    ganz_translator_close(&t);
    ganz_model_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_are_good),
        cmocka_unit_test(long_words_are_found),
        IN_FOLDER(sentences_that_fit_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
