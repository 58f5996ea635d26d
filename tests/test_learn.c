/* Learning a vocabulary. Expectations: the worked example of the reference, and tests/golden/text. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ganz/io.h"
#include "text/learn.h"
#include "text/tokenizer.h"

static const char *const texts[] = {GANZ_TESTS_DIR "/data/tatoeba.en", GANZ_TESTS_DIR "/data/tatoeba.de"};

static void example_counts(ganz_counts *counts)
{
    static const struct {
        const char *token;
        int count;
    } example[] = {{"low", 5}, {"lower", 2}, {"newest", 6}, {"widest", 3}, {", ", 4}};
    *counts = (ganz_counts){0};
    for (size_t i = 0; i < GANZ_COUNT(example); i++)
        assert_true(ganz_counts_add(counts, example[i].token, strlen(example[i].token), example[i].count));
}

static void counts_add_up(void **state)
{
    (void)state;
    ganz_counts c = {0};
    char token[16];
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 5000; i++) assert_true(ganz_counts_add(&c, token, (size_t)sprintf(token, "t%d", i), i));
    assert_true(ganz_counts_add(&c, "", 0, 7)); /* any bytes are a key, also none */
    assert_int_equal(c.size, 5001);
    for (int i = 0; i < 5000; i++) {
        const size_t bytes = (size_t)sprintf(token, "t%d", i);
        assert_int_equal(c.all[i].count, 3 * i);
        assert_int_equal(c.all[i].bytes, bytes);
        assert_memory_equal(c.text.text + c.all[i].begin, token, bytes);
    }
    ganz_counts_free(&c);
}

static void suffixes_are_sorted_and_counted(void **state)
{
    (void)state;
    ganz_counts counts;
    ganz_suffixes s;
    example_counts(&counts);
    assert_int_equal(ganz_suffixes_open(&s, &counts, 199, NULL), GANZ_OK);
    assert_int_equal(s.length, 4 + 6 + 7 + 7 + 3 + 5);
    assert_int_equal(s.size, 4 + 6 + 7 + 7 + 3);
    assert_int_equal(s.before[s.size], 4 * 5 + 6 * 2 + 7 * 6 + 7 * 3 + 3 * 4);
    for (size_t i = 1; i < s.size; i++) {
        const uint32_t *a = s.characters + s.order[i - 1], *b = s.characters + s.order[i];
        while (*a == *b && *a != 0) a++, b++;
        assert_true(*a <= *b);
    }
    ganz_suffixes_close(&s);
    ganz_counts_free(&counts);
}

static void the_worked_example(void **state)
{
    (void)state;
    static const char expected[] =
        "'<pad>_'\n'<EOS>_'\n'newest_'\n'low_'\n', _'\n'widest_'\n'w'\n'r'\n'o'\n'l'\n'e'\n'_'\n'u'\n't'\n's'\n'p'\n"
        "'n'\n'i'\n'd'\n'a'\n'\\'\n'S'\n'O'\n'E'\n'>'\n'<'\n';'\n'9'\n'8'\n'7'\n'6'\n'5'\n'4'\n'3'\n'2'\n'1'\n"
        "'0'\n','\n' '\n";
    ganz_counts counts;
    ganz_suffixes s;
    ganz_text file = {0};
    size_t size;
    example_counts(&counts);
    assert_int_equal(ganz_suffixes_open(&s, &counts, 199, NULL), GANZ_OK);
    assert_int_equal(ganz_learn_build(&s, 3, &file, &size, NULL), GANZ_OK);
    assert_int_equal(size, 39);
    assert_int_equal(file.bytes, sizeof expected - 1);
    assert_memory_equal(file.text, expected, file.bytes);

    file.bytes = 0;
    assert_int_equal(ganz_learn_build(&s, 8, &file, &size, NULL), GANZ_OK);
    assert_int_equal(size, 37);
    assert_true(ganz_text_append(&file, "", 1));
    int longer = 0;
    for (const char *line = strtok(file.text, "\n"); line; line = strtok(NULL, "\n"), longer++) {
        while (line && strlen(line) <= 3) line = strtok(NULL, "\n");
        if (!line) break;
        static const char *const entries[] = {"'<pad>_'", "'<EOS>_'", "'st_'", "'we'"};
        assert_true(longer < 4);
        assert_string_equal(line, entries[longer]);
    }
    assert_int_equal(longer, 4);
    assert_int_equal(ganz_learn_build(&s, 8, NULL, &size, NULL), GANZ_OK);
    assert_int_equal(size, 37);
    ganz_text_free(&file);
    ganz_suffixes_close(&s);
    ganz_counts_free(&counts);
}

static void note(void *context, const ganz_vocab_progress *p)
{
    ganz_vocab_progress *const seen = context;
    assert_true(p->tried == 0 || p->tried == seen->tried + 1);
    *seen = *p;
}

typedef struct stopper {
    ganz_flag stop;
    int tried;
} stopper;

static void stop_at_third(void *context, const ganz_vocab_progress *p)
{
    stopper *const s = context;
    s->tried = p->tried;
    if (p->tried == 3) ganz_flag_set(&s->stop);
}

static void learning_reports_and_stops(void **state)
{
    (void)state;
    ganz_vocab_learning how;
    ganz_vocab_progress seen = {0};
    ganz_vocab *v;
    ganz_error err;
    ganz_vocab_learning_defaults(&how);
    assert_int_equal(how.target_size, 32768);
    assert_int_equal(how.sample_chars, 1000000);
    assert_int_equal(how.max_length, 200);
    how.target_size = 2000;
    how.nearest = true;
    how.progress = note;
    how.context = &seen;
    assert_int_equal(ganz_vocab_learn(&v, texts, 2, &how, NULL), GANZ_OK);
    assert_int_equal(seen.lines, 2000);
    assert_int_equal(seen.tried, 10); /* 500 250 125 62 31 15 7 3 5 4 */
    assert_int_equal(seen.min_count, 4);
    assert_int_equal(seen.size, 1950);
    assert_int_equal(ganz_vocab_size(v), 1950); /* 2.5% off: the search ended with its interval */
    ganz_vocab_close(&v);

    stopper s = {{0}, 0};
    how.progress = stop_at_third;
    how.context = &s;
    how.stop = &s.stop;
    assert_int_equal(ganz_vocab_learn(&v, texts, 2, &how, &err), GANZ_ESTOPPED);
    assert_null(v);
    assert_int_equal(s.tried, 3);
    s.tried = -1; /* set from the beginning, it stops before the first file is told of */
    assert_int_equal(ganz_vocab_learn(&v, texts, 2, &how, &err), GANZ_ESTOPPED);
    assert_int_equal(s.tried, -1);
}

/* Three words that are equally often: a threshold has all of them or none, and one is wanted. The vocabulary with all
 * is cut: it keeps the first of them in its file, and every character. */
static void sizes_are_met(void **state)
{
    (void)state;
    static const char *const words[] = {"kjkj", "qzqz", "vxvx"};
    ganz_counts counts = {0};
    ganz_suffixes s;
    ganz_text none = {0}, all = {0}, cut = {0};
    size_t without, with;
    for (int i = 0; i < 3; i++) assert_true(ganz_counts_add(&counts, words[i], 4, 1000));
    assert_int_equal(ganz_suffixes_open(&s, &counts, 199, NULL), GANZ_OK);
    assert_int_equal(ganz_learn_build(&s, 2001, &none, &without, NULL), GANZ_OK);
    assert_int_equal(ganz_learn_build(&s, 1000, &all, &with, NULL), GANZ_OK);
    assert_int_equal(with, without + 3);
    ganz_vocab_learning how = {.target_size = (int)without + 1};
    assert_int_equal(ganz_learn_search(&s, &how, NULL, &cut, NULL), GANZ_OK);
    assert_true(ganz_text_append(&cut, "", 1));
    assert_non_null(strstr(cut.text, "'vxvx_'\n"));
    assert_int_equal(cut.bytes - 1, none.bytes + strlen("'vxvx_'\n"));
    for (const char *c = "kjqzvx_"; *c; c++) {
        const char line[] = {'\n', '\'', *c, '\'', '\n', '\0'};
        assert_non_null(strstr(cut.text, line));
    }
    how.nearest = true; /* thresholds end at 1000, where all three still stay */
    cut.bytes = 0;
    assert_int_equal(ganz_learn_search(&s, &how, NULL, &cut, NULL), GANZ_OK);
    assert_int_equal(cut.bytes, all.bytes);
    ganz_text_free(&none);
    ganz_text_free(&all);
    ganz_text_free(&cut);
    ganz_suffixes_close(&s);
    ganz_counts_free(&counts);
}

static void a_budget_ends_the_sample(void **state)
{
    (void)state;
    ganz_vocab_learning how;
    ganz_vocab_progress seen = {0};
    ganz_vocab *v;
    char name[] = "/tmp/ganz_learn_XXXXXX";
    const int fd = mkstemp(name);
    assert_true(fd >= 0);
    const char *const path = name;
    /* Nine characters between spaces, ä counting one: 13 bytes with the newline, 156 in all. */
    for (int i = 0; i < 12; i++) assert_int_equal(write(fd, " a b c d ä \n", 13), 13);
    close(fd);
    ganz_vocab_learning_defaults(&how);
    how.target_size = 40;
    how.progress = note;
    how.context = &seen;
    how.sample_chars = 20; /* skip = floor(156 / 20 / 2) = 3: lines 4, 8, 12, each 9 characters when stripped */
    assert_int_equal(ganz_vocab_learn(&v, &path, 1, &how, NULL), GANZ_OK);
    assert_int_equal(seen.lines, 3);
    assert_int_equal(seen.characters, 27);
    ganz_vocab_close(&v);
    how.sample_chars = 100; /* skip 0; the 12th line is seen with 1 left and still taken */
    seen = (ganz_vocab_progress){0};
    assert_int_equal(ganz_vocab_learn(&v, &path, 1, &how, NULL), GANZ_OK);
    assert_int_equal(seen.lines, 12);
    ganz_vocab_close(&v);
    how.sample_chars = 99; /* spent with the 11th line */
    seen = (ganz_vocab_progress){0};
    assert_int_equal(ganz_vocab_learn(&v, &path, 1, &how, NULL), GANZ_OK);
    assert_int_equal(seen.lines, 11);
    assert_int_equal(seen.characters, 99);
    ganz_vocab_close(&v);
    unlink(name);
}

static void wrong_wishes_are_refused(void **state)
{
    (void)state;
    ganz_vocab_learning how;
    ganz_vocab *v;
    ganz_error err;
    const char *const nowhere = "/no/such/file", *const nothing = "/dev/null", *const input = "-";
    ganz_vocab_learning_defaults(&how);
    assert_int_equal(ganz_vocab_learn(&v, &nowhere, 1, &how, &err), GANZ_EIO);
    assert_null(v);
    assert_int_equal(ganz_vocab_learn(&v, &input, 1, &how, &err), GANZ_EINVAL);
    assert_non_null(strstr(err.message, "standard input has no size"));
    assert_int_equal(ganz_vocab_learn(&v, NULL, 0, &how, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "no text to learn a vocabulary from");
    how.sample_chars = 0;
    assert_int_equal(ganz_vocab_learn(&v, &nothing, 1, &how, &err), GANZ_EINVAL);
    how.target_size = 0;
    assert_int_equal(ganz_vocab_learn(&v, texts, 2, &how, &err), GANZ_EINVAL);
    how.target_size = 100;
    how.max_length = 1;
    assert_int_equal(ganz_vocab_learn(&v, texts, 2, &how, &err), GANZ_EINVAL);
    how.max_length = 200;
    how.sample_chars = -1;
    assert_int_equal(ganz_vocab_learn(&v, texts, 2, &how, &err), GANZ_EINVAL);
    assert_null(v);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    ganz_vocab_learning how;
    ganz_vocab_learning_defaults(&how);
    how.target_size = 80;
    how.sample_chars = 500;
    ganz_status status = GANZ_ENOMEM;
    long n = 0;
    while (status != GANZ_OK) {
        ganz_vocab *v;
        ganz_error err = {0};
        ganz_alloc_fail_at(++n);
        status = ganz_vocab_learn(&v, texts, 1, &how, &err);
        ganz_alloc_fail_at(0);
        assert_true(status == GANZ_OK || (status == GANZ_ENOMEM && strstr(err.message, "out of memory")));
        assert_true((status == GANZ_OK) == (v != NULL));
        ganz_vocab_close(&v);
    }
    assert_true(n > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_add_up),
        cmocka_unit_test(suffixes_are_sorted_and_counted),
        cmocka_unit_test(the_worked_example),
        cmocka_unit_test(learning_reports_and_stops),
        cmocka_unit_test(sizes_are_met),
        cmocka_unit_test(a_budget_ends_the_sample),
        cmocka_unit_test(wrong_wishes_are_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
