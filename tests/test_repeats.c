/* Lines that come again: translated once, in bounded memory, with all that makes a line another one. */
#include "services.h"

#include <stdio.h>

#include "translate/repeats.h"

static int different_lines(void)
{
    int count = 0;
    for (int i = 0; i < LINES; i++) {
        int k = 0;
        while (strcmp(texts[k], texts[i]) != 0) k++;
        count += k == i;
    }
    return count;
}

/* Lines that were translated, by the service's own count; *all: those that have results. */
static long long translated(ganz_service *s, long long *all)
{
    ganz_service_stats stats;
    ganz_service_get_stats(s, &stats);
    *all = stats.lines + stats.repeated;
    return stats.lines;
}

/* Handed in at once, while one is on its way, and after that: each line is translated once. */
static void lines_are_translated_once(void **state)
{
    (void)state;
    for (int workers = 1; workers <= 3; workers += 2) {
        ganz_service *s = open_service(workers, 5000);
        ganz_request *requests[6];
        long long all;
        for (int i = 0; i < 6; i++) requests[i] = submit(s, 31 * i, LINES, NULL);
        for (int i = 0; i < 6; i++) expect_right(requests[i], 31 * i, LINES);
        assert_int_equal(translated(s, &all), different_lines());
        assert_int_equal(all, 6 * LINES);
        expect_right(submit(s, 11, LINES, NULL), 11, LINES);
        assert_int_equal(translated(s, &all), different_lines());
        assert_int_equal(all, 7 * LINES);
        ganz_service_close(&s);
    }
}

/* With little memory lines are forgotten, and are right as ever; with none each is translated. */
static void little_is_remembered(void **state)
{
    (void)state;
    const size_t before = remember;
    for (remember = 0; remember <= 4096; remember += 4096) {
        ganz_service *s = open_service(1, 0);
        long long all;
        for (int i = 0; i < 3; i++) expect_right(submit(s, 0, LINES, NULL), 0, LINES);
        assert_true(translated(s, &all) > 2 * different_lines());
        assert_int_equal(all, 3 * LINES);
        ganz_service_close(&s);
    }
    remember = before;
}

/* Another prefix, or links and scores that are not wanted, make another line. */
static void lines_are_more_than_text(void **state)
{
    (void)state;
    ganz_service *s = open_service(1, 0);
    ganz_line lines[6] = {line_of(0), line_of(0), line_of(0), line_of(0), line_of(0), line_of(0)}, formal = line_of(0);
    const ganz_result *results;
    ganz_request *r;
    long long all;
    lines[1].prefix = "a";
    lines[1].prefix_bytes = 1;
    lines[2].unlinked = true;
    lines[3].unscored = true;
    lines[4].n_best = 1;
    OK(ganz_service_submit(s, lines, 6, NULL, &r, NULL));
    OK(ganz_request_wait(r, &results, NULL));
    assert_int_equal(translated(s, &all), 5);
    assert_int_equal(strncmp(results[1].best[0].text, "a", 1), 0);
    for (int i = 0; i < 6; i++)
        if (i != 1) assert_string_equal(results[i].best[0].text, expected[0]);
    ganz_request_close(&r);
    ganz_service_close(&s);
    ganz_repeats *t;
    OK(ganz_repeats_open(&t, 1000, NULL));
    ganz_repeat *const e = ganz_repeats_add(t, &lines[0]);
    assert_ptr_equal(e, ganz_repeats_find(t, &formal));
    formal.formality = GANZ_FORMALITY_FORMAL;
    assert_null(ganz_repeats_find(t, &formal));
    ganz_repeats_close(&t);
}

/* The table alone: it holds no more than it may, and what was asked for last stays longest. */
static void memory_is_bounded(void **state)
{
    (void)state;
    enum { MOST = 20000, ENTRIES = 1000, RESULT = 100 };
    ganz_repeats *t;
    char text[32];
    OK(ganz_repeats_open(&t, MOST, NULL));
    for (int i = 0; i < ENTRIES; i++) {
        const ganz_line line = {.text = text, .bytes = (size_t)sprintf(text, "%d", i)};
        ganz_translation *const best = ganz_alloc(1, RESULT);
        assert_null(ganz_repeats_find(t, &line));
        ganz_repeat *const e = ganz_repeats_add(t, &line);
        assert_ptr_equal(e, ganz_repeats_find(t, &line));
        ganz_repeats_keep(t, e, (ganz_result){best, 1}, best, RESULT);
        const ganz_line first = {.text = "0", .bytes = 1};
        assert_non_null(ganz_repeats_find(t, &first));
    }
    size_t found = 0, bytes = 0;
    for (int i = 0; i < ENTRIES; i++) {
        const ganz_line line = {.text = text, .bytes = (size_t)sprintf(text, "%d", i)};
        const ganz_repeat *const e = ganz_repeats_find(t, &line);
        found += e != NULL;
        bytes += e ? e->bytes : 0;
        assert_true(i == 0 ? e != NULL : i < ENTRIES / 2 ? !e : i < ENTRIES - 10 || e);
    }
    assert_true(found > 20 && bytes <= MOST && bytes + 1000 > MOST && found * RESULT < bytes);
    ganz_repeats_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_translated_once),
        cmocka_unit_test(little_is_remembered),
        cmocka_unit_test(lines_are_more_than_text),
        cmocka_unit_test(memory_is_bounded),
    };
    remember = 1 << 20;
    return cmocka_run_group_tests(tests, open_all, close_all);
}
