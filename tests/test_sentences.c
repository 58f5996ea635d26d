/* Sentence ends: lists of cases for each language, and what holds for any text. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "document/sentences.h"
#include "ganz/io.h"

#define CUT "\xC2\xA6" /* ¦ */

/* A case without its cuts; the places where they were. */
static size_t take_cuts(const char *line, size_t bytes, char *text, size_t *cuts, size_t *cut_count)
{
    size_t length = 0;
    *cut_count = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (bytes - i >= 2 && memcmp(line + i, CUT, 2) == 0) {
            cuts[(*cut_count)++] = length;
            i++;
        } else {
            text[length++] = line[i];
        }
    }
    return length;
}

static bool is_right(const char *line, size_t bytes, const char *language)
{
    char text[1024];
    size_t cuts[64], count, begin, end, found = 0;
    bool right = true;
    ganz_sentences walk = {.text = text, .language = ganz_language_of(language), .breaks = GANZ_BREAK_LINES};
    walk.bytes = take_cuts(line, bytes, text, cuts, &count);
    while (ganz_sentences_next(&walk, &begin, &end))
        if (end < walk.bytes) right &= found < count && cuts[found] == end, found++;
    return right && found == count;
}

static void list_is_right(const char *language)
{
    char path[512];
    ganz_lines *lines;
    ganz_error err;
    const char *text;
    size_t bytes;
    int right = 0, all = 0;
    snprintf(path, sizeof path, GANZ_TESTS_DIR "/data/sentences.%s", language);
    assert_int_equal(ganz_lines_open(&lines, path, &err), GANZ_OK);
    while (ganz_lines_next(lines, &text, &bytes, &err) == GANZ_OK && text) {
        if (text[0] == '#') continue;
        const bool good = is_right(text, bytes, language);
        if (!good) print_message("wrong: %.*s\n", (int)bytes, text);
        right += good;
        all++;
    }
    ganz_lines_close(&lines);
    print_message("%s: %d of %d right\n", language, right, all);
    assert_int_equal(all, 100);
    assert_true(right >= 98);
}

static void english_list(void **state)
{
    (void)state;
    list_is_right("en");
}

/* Headlines that were joined with the text below them, and names that only look like it. */
static void headlines_end(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "Sewer contracts with inflated costs" CUT " In recent years, corruption has grown.",
        "Mexican-Americans are caught between two worlds" CUT " On a recent trip I met some of them.",
        "They gave the prize to him for On the Waterfront.",
        "He starred in nine of the popular Carry On films.",
        "The World According to Bex and Attack On Titan are series.",
        "We read In Search of Lost Time.",
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        const bool right = is_right(cases[i], strlen(cases[i]), "en");
        if (!right) print_message("wrong: %s\n", cases[i]);
        assert_true(right);
    }
}

static void german_list(void **state)
{
    (void)state;
    list_is_right("de");
}

/* A closing quote that white space parts from its sentence, as tokenized text has it, is no sentence of its own. */
static void parted_quotes(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "He left. \xE2\x80\x9D" CUT " They stayed.",
        "He left. \"",
        "He left. )" CUT " They stayed.",
        "He left." CUT " \"They stayed.\"",
        "He left." CUT " \xE2\x80\x9CThey stayed.\xE2\x80\x9D",
        "\xE4\xBB\x96\xE8\xB5\xB0\xE3\x80\x82 \xE2\x80\x9D",
        "\xE4\xBB\x96\xE8\xB5\xB0\xE3\x80\x82 \xE2\x80\x9D" CUT " \xE4\xBB\x96\xE3\x80\x82",
        "\xE4\xBB\x96\xE8\xB5\xB0\xE3\x80\x82" CUT " \xE2\x80\x9C\xE4\xBB\x96\xE3\x80\x82\xE2\x80\x9D",
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++)
        if (!is_right(cases[i], strlen(cases[i]), "en")) fail_msg("wrong: %s", cases[i]);
}

/* Signs of lists, quotes and speeches are no part of the sentence that they stand before, for models lose them. */
static void signs_stay_outside(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t begin; /* of the first sentence */
    } cases[] = {
        {"- No, I'm not.", 2},
        {"\xE2\x80\x94 No.", 4},
        {"> > - Are you sure?", 6},
        {">> Are you sure?", 3},
        {"-5 degrees", 0},
        {"-- Bob", 0},
        {"* ", 0},
        {"*bold* text", 0},
        {"-\nNo.", 0},
        {"c) the price", 3},
        {"iv)\tThe price", 4},
        {"- a) x", 5},
        {"a)", 0},
        {"ab) x", 0},
        {"4.2 Delivery", 4},
        {"2.1.3.\tPrices", 7},
        {"1.5 Million", 0},
        {"3.5 Kilometer weiter", 0},
        {"2.5 Punkte", 0},
        {"2.4 GHz band", 0},
        {"4.2 per day", 0},
        {"1. Scope", 0},
        {"12.03.2024 Berlin", 0},
        {"9.30 Uhr", 0},
        {"4.2", 0},
        {"0.5 Points", 0},
        {"...but why?", 3},
        {"- ...but why?", 5},
        {"... but why?", 0},
        {"....but why?", 0},
        {"...5", 0},
        {"a)b", 0},
        {"a)\nNo.", 0},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        const ganz_language *const english = ganz_language_of("en");
        ganz_sentences walk = {
            .text = cases[i].text, .bytes = strlen(cases[i].text), .language = english, .outside = true};
        size_t begin, end;
        assert_true(ganz_sentences_next(&walk, &begin, &end));
        if (begin != cases[i].begin) fail_msg("%s begins at %zu", cases[i].text, begin);
    }
}

static void code_stays_outside(void **state)
{
    (void)state;
    static const char *const code[] = {"for (int i = 0; i < 10; i++) printf(\"%d. Next\\n\", i);",
                                       "int main(void) { return 0; }",
                                       "System.out.println(\"Hello. World\");",
                                       "if (a) {",
                                       "} else {",
                                       "return a + b;",
                                       "return 0;",
                                       "int x = 1;",
                                       "const Foo a = new Foo('x');",
                                       "let y = a ? b : c;",
                                       "SELECT name FROM users WHERE id = 1;"};
    static const char *const prose[] = {"Bring the following item(s);",
                                        "Return the book (the red one);",
                                        "Hello {name};",
                                        "{count, plural, one {One item} other {Items}}",
                                        "He said: see below;",
                                        "f(x) = 2 is a function.",
                                        "AT&amp;T;"};
    size_t begin, end;
    for (size_t i = 0; i < GANZ_COUNT(code); i++) {
        char text[256];
        snprintf(text, sizeof text, "Look:\n    %s\nThis is it.", code[i]);
        ganz_sentences walk = {
            .text = text, .bytes = strlen(text), .language = ganz_language_of("en"), .outside = true};
        assert_true(ganz_sentences_next(&walk, &begin, &end) && end == 5);
        assert_true(ganz_sentences_next(&walk, &begin, &end));
        if (begin != strlen(text) - strlen("This is it.")) fail_msg("no code: %s", code[i]);
        assert_false(ganz_sentences_next(&walk, &begin, &end));
    }
    for (size_t i = 0; i < GANZ_COUNT(prose); i++) {
        ganz_sentences walk = {
            .text = prose[i], .bytes = strlen(prose[i]), .language = ganz_language_of("en"), .outside = true};
        if (!ganz_sentences_next(&walk, &begin, &end) || begin > 0) fail_msg("code: %s", prose[i]);
    }
}

/* Words without an end are cut at white space behind 1,000 bytes, if the end is not near and the caller wants that. */
static void endless_text_is_cut(void **state)
{
    (void)state;
    enum { WORDS = 2340, WORD = 5, PART = 201 * WORD };
    static char text[WORDS * WORD]; /* eleven parts of 201 words, and 129 */
    size_t begin, end, count = 0;
    for (size_t i = 0; i < sizeof text; i += WORD) memcpy(text + i, "word ", WORD);
    ganz_sentences walk = {.text = text, .bytes = sizeof text, .language = ganz_language_of("en"), .longest = 1000};
    while (ganz_sentences_next(&walk, &begin, &end)) {
        assert_int_equal(begin, count++ * PART);
        assert_int_equal(end, end == sizeof text - 1 ? sizeof text - 1 : begin + PART - 1);
    }
    assert_int_equal(count, 12);
    walk = (ganz_sentences){.text = text, .bytes = 280 * WORD, .language = ganz_language_of("en"), .longest = 1000};
    assert_true(ganz_sentences_next(&walk, &begin, &end));
    assert_true(begin == 0 && end == 280 * WORD - 1); /* nearly over */
    walk = (ganz_sentences){.text = text, .bytes = sizeof text, .language = ganz_language_of("en")};
    assert_true(ganz_sentences_next(&walk, &begin, &end));
    assert_true(begin == 0 && end == sizeof text - 1);
}

/* Short items with bars between them; the bars are no part of them. What an option does is an item, too. */
static void bars_part_items(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentences; /* NULL: it is one */
    } cases[] = {
        {"Home | About us | Contact", "[Home][About us][Contact]"},
        {"| Name | Price\nOne | Two", "[Name][Price][One][Two]"},
        {"The output of ls | sort is long.", NULL},
        {"Sort it with ls | sort, which gives more than an item of a row would ever be", NULL},
        {"a|b or a| b or a |b", NULL},
        {"Total: {{ total | currency }}", NULL},
        {"{{ a | b }} | Home", "[{{ a | b }}][Home]"},
        {"  -v, --version  print it", "[-v, --version][print it]"},
        {"-v  print it", "[-v][print it]"},
        {"Status:   single   Town   2", "[Status:][single][Town][2]"},
        {"a   b", NULL},
        {"Status:  single", NULL},
        {"It is well-kept  and -5  or -  so", NULL},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        const char *const text = cases[i].text;
        char found[256] = "", whole[256];
        size_t begin, end;
        ganz_sentences walk = {.text = text,
                               .bytes = strlen(text),
                               .language = ganz_language_of("en"),
                               .breaks = GANZ_BREAK_LINES,
                               .outside = true};
        while (ganz_sentences_next(&walk, &begin, &end))
            snprintf(found + strlen(found), sizeof found - strlen(found), "[%.*s]", (int)(end - begin), text + begin);
        snprintf(whole, sizeof whole, "[%s]", text);
        assert_string_equal(cases[i].sentences ? cases[i].sentences : whole, found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_part_items),     cmocka_unit_test(parted_quotes),
        cmocka_unit_test(endless_text_is_cut), cmocka_unit_test(english_list),
        cmocka_unit_test(headlines_end),       cmocka_unit_test(german_list),
        cmocka_unit_test(signs_stay_outside),  cmocka_unit_test(code_stays_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
