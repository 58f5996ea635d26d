/* Copies of pairs: what each kind makes of a pair, how many pairs get one, and that only the draw decides. */
#include <string.h>

#include "test.h"

#include "folder.h"
#include "text/case.h"
#include "train/augment.h"

static ganz_pair_text pair_of(const char *source, const char *target)
{
    return (ganz_pair_text){source, target, strlen(source), strlen(target)};
}

static void expect_text(const ganz_text *t, const char *expected)
{
    assert_int_equal(t->bytes, strlen(expected));
    assert_memory_equal(t->text, expected, t->bytes);
}

/* The copy of a pair that is always wanted; NULL: none is made. */
static void expect(ganz_copy_kind kind, const char *source, const char *target, const char *copy_source,
                   const char *copy_target)
{
    const ganz_pair_text p = pair_of(source, target), next = pair_of("Next one.", "Der nächste.");
    const ganz_draw draw = {.seed = 1, .input = 2, .line = 3};
    const ganz_inserts none = {0};
    ganz_text copy[2] = {{0}};
    const ganz_copy_result made = ganz_copy_make(kind, 1, &draw, &p, &next, &none, copy);
    assert_int_equal(made, copy_source ? GANZ_COPY_MADE : GANZ_COPY_NONE);
    if (copy_source) {
        expect_text(&copy[0], copy_source);
        expect_text(&copy[1], copy_target);
    }
    ganz_text_free(&copy[0]);
    ganz_text_free(&copy[1]);
}

static void test_kinds(void **state)
{
    (void)state;
    expect(GANZ_COPY_UPPER, "The café is closed.", "Die Straße ist zu.", "THE CAFÉ IS CLOSED.", "DIE STRASSE IST ZU.");
    expect(GANZ_COPY_UPPER, "NO 1", "NR. 1", NULL, NULL); /* as it was */
    expect(GANZ_COPY_LOWER, "Ärger in Rom", "Trouble in Rome", "ärger in rom", "Trouble in Rome");
    expect(GANZ_COPY_LOWER, "small", "klein", NULL, NULL);
    expect(GANZ_COPY_TITLE, "a \"new\" éclair", "x", "A \"New\" Éclair", "x");
    expect(GANZ_COPY_BARE, "Really?!", "Wirklich ?", "Really", "Wirklich");
    expect(GANZ_COPY_BARE, "Wait…", "Warte ...", "Wait", "Warte");
    expect(GANZ_COPY_BARE, "No mark", "Ein Punkt.", NULL, NULL);
    expect(GANZ_COPY_BARE, "...", "?", NULL, NULL);
    expect(GANZ_COPY_JOINED, "One.", "Eins.", "One. Next one.", "Eins. Der nächste.");
    expect(GANZ_COPY_JOINED, "A title", "Ein Titel", NULL, NULL); /* not a sentence that ends */
    expect(GANZ_COPY_INSERTED, "One.", "Eins.", NULL, NULL);      /* nothing to insert */
    expect(GANZ_COPY_QUOTES, "It’s “it’s”.", "Es ist „es“.", "It's \"it's\".", "Es ist „es“.");
    expect(GANZ_COPY_QUOTES, "It's 'it', élan's, 5'.", "x", "It’s 'it', élan’s, 5'.", "x");
    expect(GANZ_COPY_QUOTES, "No quotes", "Keine", NULL, NULL);
    expect(GANZ_COPY_INITIAL, "sold out", "ausverkauft", "Sold out", "Ausverkauft");
    expect(GANZ_COPY_INITIAL, "(the) dog", "Hund", "(The) dog", "Hund"); /* one side has its capital */
    expect(GANZ_COPY_INITIAL, "\"über\" alles", "élan vital", "\"Über\" alles", "Élan vital");
    expect(GANZ_COPY_INITIAL, "3 eggs", "drei Eier", "3 eggs", "Drei Eier"); /* a digit comes first */
    expect(GANZ_COPY_INITIAL, "Keep out", "Betreten verboten", NULL, NULL);
    expect(GANZ_COPY_INITIAL, "日本 a", "?!", NULL, NULL); /* no case, no letter */
}

/* Letters that change their length in UTF-8, and such as have no other case. */
static void test_case(void **state)
{
    (void)state;
    ganz_text out = {0};
    assert_true(ganz_case_upper("ıß ÿ 日本 ω😀", strlen("ıß ÿ 日本 ω😀"), &out));
    expect_text(&out, "ISS Ÿ 日本 Ω😀");
    out.bytes = 0;
    assert_true(ganz_case_lower("ÄÖ Ⱥ ΑΒ", strlen("ÄÖ Ⱥ ΑΒ"), &out));
    expect_text(&out, "äö ⱥ αβ");
    ganz_text_free(&out);
}

static void test_inserts(void **state)
{
    (void)state;
    ganz_inserts inserts;
    ganz_error err;
    ganz_text copy[2] = {{0}};
    const ganz_pair_text p = pair_of("One.", "Eins.");
    FILE *const f = fopen("lines", "wb");
    fputs("  \xF0\x9F\x98\x80 \n\nBob\n", f);
    fclose(f);
    assert_int_equal(ganz_inserts_read(&inserts, "lines", &err), GANZ_OK);
    assert_int_equal(inserts.count, 2);
    int before = 0, smiles = 0, count = 4000;
    for (int i = 0; i < count; i++) {
        const ganz_draw draw = {.seed = 5, .line = (uint64_t)i};
        assert_int_equal(ganz_copy_make(GANZ_COPY_INSERTED, 1, &draw, &p, NULL, &inserts, copy), GANZ_COPY_MADE);
        const bool first = copy[0].text[0] != 'O', smile = memchr(copy[0].text, '\xF0', copy[0].bytes) != NULL;
        const char *const line = smile ? "\xF0\x9F\x98\x80" : "Bob";
        char expected[64];
        if (first) snprintf(expected, sizeof expected, "%s One.", line);
        else snprintf(expected, sizeof expected, "One. %s", line);
        expect_text(&copy[0], expected);
        if (first) snprintf(expected, sizeof expected, "%s Eins.", line);
        else snprintf(expected, sizeof expected, "Eins. %s", line);
        expect_text(&copy[1], expected);
        before += first;
        smiles += smile;
    }
    assert_true(before > 850 && before < 1150 && smiles > 1800 && smiles < 2200);
    ganz_text_free(&copy[0]);
    ganz_text_free(&copy[1]);
    ganz_inserts_free(&inserts);
    FILE *const empty = fopen("empty", "wb");
    fputs(" \n\n", empty);
    fclose(empty);
    assert_int_equal(ganz_inserts_read(&inserts, "empty", &err), GANZ_EFORMAT);
    assert_non_null(strstr(err.message, "empty has nothing to insert"));
}

/* As many as the rate says, within five standard deviations; each kind, seed and file on its own. */
static void test_rates(void **state)
{
    (void)state;
    enum { PAIRS = 20000 };
    const ganz_pair_text p = pair_of("One.", "Eins.");
    const ganz_inserts none = {0};
    ganz_text copy[2] = {{0}};
    int made = 0, lower = 0, both = 0, seeds = 0;
    for (int i = 0; i < PAIRS; i++) {
        const ganz_draw draw = {.seed = 1, .line = (uint64_t)i}, other = {.seed = 2, .line = (uint64_t)i};
        const bool a = ganz_copy_make(GANZ_COPY_UPPER, 0.1, &draw, &p, NULL, &none, copy) == GANZ_COPY_MADE;
        const bool b = ganz_copy_make(GANZ_COPY_LOWER, 0.1, &draw, &p, NULL, &none, copy) == GANZ_COPY_MADE;
        const bool c = ganz_copy_make(GANZ_COPY_UPPER, 0.1, &other, &p, NULL, &none, copy) == GANZ_COPY_MADE;
        assert_int_equal(ganz_copy_make(GANZ_COPY_UPPER, 0, &draw, &p, NULL, &none, copy), GANZ_COPY_NONE);
        made += a;
        lower += b;
        both += a && b;
        seeds += a && c;
    }
    assert_true(made > 1788 && made < 2212 && lower > 1788 && lower < 2212); /* 2000, 42.4 */
    assert_true(both > 130 && both < 270 && seeds > 130 && seeds < 270);     /* 200, 14.1 */
    ganz_text_free(&copy[0]);
    ganz_text_free(&copy[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_case),
                                       IN_FOLDER(test_inserts), cmocka_unit_test(test_rates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
