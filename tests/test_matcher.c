/* Cutting text into the longest entries: against a search through all entries at every place, on vocabularies and texts
 * that are made to mislead, and in time that does not depend on the length of entries. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/rng.h"
#include "text/matcher.h"

static void a_trie_knows_its_entries(void **state)
{
    (void)state;
    ganz_trie_entry entries[] = {{"a", 1, 5}, {"ab", 2, 3}, {"abcd", 4, 7}, {"ab", 2, 9}};
    ganz_trie trie;
    assert_int_equal(ganz_trie_open(&trie, entries, GANZ_COUNT(entries), NULL), GANZ_OK);
    assert_int_equal(ganz_trie_find(&trie, "ab", 2), 9); /* the later of two equal entries */
    assert_int_equal(ganz_trie_find(&trie, "abc", 3), -1);
    assert_int_equal(ganz_trie_find(&trie, "abcd", 4), 7);
    assert_int_equal(ganz_trie_find(&trie, "", 0), -1);
    ganz_trie_close(&trie);
}

/* By hand: "abcabd" with ab, abcabe, c, d, a, b and the underscore is ab c ab d _. */
static void a_walk_that_fails_late_is_cut_as_if_it_had_not_begun(void **state)
{
    (void)state;
    ganz_trie_entry entries[] = {{"ab", 2, 1}, {"abcabe", 6, 2}, {"c", 1, 3}, {"d", 1, 4},
                                 {"a", 1, 5},  {"b", 1, 6},      {"_", 1, 7}, {"d_", 2, 8}};
    static const int32_t expected[] = {1, 3, 1, 8};
    ganz_matcher m;
    ganz_ids ids = {0};
    assert_int_equal(ganz_matcher_open(&m, entries, GANZ_COUNT(entries), NULL), GANZ_OK);
    assert_true(ganz_matcher_cut(&m, "abcabd", 6, &ids));
    assert_int_equal(ids.count, GANZ_COUNT(expected));
    assert_memory_equal(ids.ids, expected, sizeof expected);
    ids.count = 0;
    assert_true(ganz_matcher_cut(&m, "", 0, &ids));
    assert_int_equal(ids.count, 1);
    assert_int_equal(ids.ids[0], 7);
    ganz_ids_free(&ids);
    ganz_matcher_close(&m);
}

/* ---- anything ----------------------------------------------------------------------------------- */

enum { ENTRIES = 40, MOST = 60, TEXT = 300 };

typedef struct words {
    char text[ENTRIES][MOST];
    uint32_t bytes[ENTRIES];
    int count;
} words;

typedef struct dice {
    uint64_t seed, rolled;
} dice;

static size_t roll(dice *d, size_t sides) { return ganz_random_u32(d->seed, 0, d->rolled++) % sides; }

/* Characters of one to three bytes that share their first ones. */
static const char *const letters[] = {"_", "a", "b", "\xC3\xA4", "\xC3\xB6", "\xE2\x82\xAC", "\xE2\x82\xAD"};

static void add_word(words *w, const char *text, size_t bytes)
{
    memcpy(w->text[w->count], text, bytes);
    w->bytes[w->count++] = (uint32_t)bytes;
}

/* A character, or the beginning of a word that is there, so that words go a long way together. */
static const char *draw(dice *d, const words *w, size_t *bytes)
{
    const size_t letter = roll(d, GANZ_COUNT(letters)), from = roll(d, (size_t)w->count);
    const char *const text = roll(d, 3) == 0 ? letters[letter] : w->text[from];
    const size_t all = text == letters[letter] ? strlen(text) : w->bytes[from];
    *bytes = 1 + roll(d, all);
    while (*bytes < all && ((unsigned char)text[*bytes] & 0xC0) == 0x80) ++*bytes;
    return text;
}

static size_t draw_text(dice *d, const words *w, char *to, size_t wanted, size_t most)
{
    size_t bytes = 0, more;
    while (bytes < wanted) {
        const char *const piece = draw(d, w, &more);
        if (bytes + more > most) break;
        memcpy(to + bytes, piece, more);
        bytes += more;
    }
    return bytes;
}

static void draw_words(dice *d, words *w)
{
    w->count = 0;
    for (size_t i = 0; i < GANZ_COUNT(letters); i++) add_word(w, letters[i], strlen(letters[i]));
    const int count = w->count + (int)roll(d, (size_t)(ENTRIES - w->count));
    while (w->count < count) {
        char text[MOST];
        const size_t bytes = draw_text(d, w, text, 1 + roll(d, MOST / 2), MOST);
        if (bytes > 0) add_word(w, text, bytes);
    }
}

/* The longest word that starts a text, the last of equal ones. */
static int longest(const words *w, const char *text, size_t bytes)
{
    int best = -1;
    for (int i = 0; i < w->count; i++)
        if (w->bytes[i] <= bytes && memcmp(w->text[i], text, w->bytes[i]) == 0 &&
            (best < 0 || w->bytes[i] >= w->bytes[best]))
            best = i;
    return best;
}

/* text[0..bytes) ends with an underscore, which the matcher puts there itself. */
static void expect_same(const ganz_matcher *m, const words *w, const char *text, size_t bytes)
{
    ganz_ids ids = {0};
    size_t count = 0;
    assert_true(ganz_matcher_cut(m, text, bytes - 1, &ids));
    for (size_t at = 0; at < bytes; count++) {
        const int expected = longest(w, text + at, bytes - at);
        assert_true(expected >= 0 && count < ids.count);
        assert_int_equal(ids.ids[count], expected);
        at += w->bytes[expected];
    }
    assert_int_equal(ids.count, count);
    ganz_ids_free(&ids);
}

static void any_text_is_cut_as_by_looking_at_all_words(void **state)
{
    (void)state;
    const char *const many = getenv("GANZ_VOCABULARIES");
    const int vocabularies = many ? atoi(many) : 1000;
    for (int i = 0; i < vocabularies; i++) {
        dice d = {(uint64_t)i, 0};
        words w;
        draw_words(&d, &w);
        ganz_trie_entry entries[ENTRIES];
        for (int k = 0; k < w.count; k++) entries[k] = (ganz_trie_entry){w.text[k], w.bytes[k], k};
        ganz_matcher m;
        assert_int_equal(ganz_matcher_open(&m, entries, (size_t)w.count, NULL), GANZ_OK);
        for (int k = 0; k < 10; k++) {
            char text[TEXT + 1];
            size_t bytes = draw_text(&d, &w, text, roll(&d, TEXT), TEXT);
            text[bytes++] = '_';
            expect_same(&m, &w, text, bytes);
        }
        ganz_matcher_close(&m);
    }
}

/* ---- time --------------------------------------------------------------------------------------- */

enum { LONG = 4096, HOSTILE = 1 << 19 };

static double seconds_for(const ganz_matcher *m, const char *text)
{
    double least = 1e9;
    for (int i = 0; i < 3; i++) {
        ganz_ids ids = {0};
        const clock_t began = clock();
        assert_true(ganz_matcher_cut(m, text, HOSTILE, &ids));
        const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
        if (seconds < least) least = seconds;
        ganz_ids_free(&ids);
    }
    return least;
}

/* An entry of 4,096 bytes that a text always nearly has. With a walk from every place it took a thousand times longer.
 */
static void long_entries_take_no_longer(void **state)
{
    (void)state;
    static char entry[LONG], text[HOSTILE];
    memset(entry, 'a', LONG);
    entry[LONG - 1] = 'b';
    memset(text, 'a', HOSTILE);
    ganz_trie_entry with[] = {{"a", 1, 0}, {"b", 1, 1}, {"_", 1, 2}, {entry, LONG, 3}};
    ganz_trie_entry without[] = {{"a", 1, 0}, {"b", 1, 1}, {"_", 1, 2}, {"ab", 2, 3}};
    ganz_matcher slow, fast;
    assert_int_equal(ganz_matcher_open(&slow, with, GANZ_COUNT(with), NULL), GANZ_OK);
    assert_int_equal(ganz_matcher_open(&fast, without, GANZ_COUNT(without), NULL), GANZ_OK);
    assert_true(seconds_for(&slow, text) < 20 * seconds_for(&fast, text) + 0.05);
    ganz_matcher_close(&slow);
    ganz_matcher_close(&fast);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trie_knows_its_entries),
        cmocka_unit_test(a_walk_that_fails_late_is_cut_as_if_it_had_not_begun),
        cmocka_unit_test(any_text_is_cut_as_by_looking_at_all_words),
        cmocka_unit_test(long_entries_take_no_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
