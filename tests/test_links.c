/* Links between tokens and between words, without a model. */
#include "test.h"

#include <string.h>

#include "tiny.h"
#include "text/tokenizer.h"
#include "text/vocab.h"
#include "translate/align.h"

#define OK(call) assert_int_equal((call), GANZ_OK)

static void words_are_counted(void **state)
{
    (void)state;
    const char text[] = " \xC3\xA4 b,\xC2\xA0(c  d\n";
    static const struct {
        size_t offset;
        int word;
    } expected[] = {{0, 0}, {1, 0}, {3, 1}, {4, 1}, {5, 1}, {5, 1}, {6, 2}, {9, 2}, {10, 3}, {13, -1}};
    ganz_word_walk walk = {.text = text, .bytes = sizeof text - 1};
    for (size_t i = 0; i < GANZ_COUNT(expected); i++)
        assert_int_equal(ganz_word_at(&walk, expected[i].offset), expected[i].word);
}

static bool same_link(const ganz_link *a, const ganz_link *b)
{
    return a->source_begin == b->source_begin && a->source_end == b->source_end && a->target_begin == b->target_begin &&
           a->target_end == b->target_end && a->weak == b->weak;
}

static void links_are_sorted(void **state)
{
    (void)state;
    ganz_link links[] = {
        {4, 5, 2, 3, false}, {0, 1, 6, 8, false}, {4, 5, 0, 1, true}, {0, 1, 6, 8, false}, {2, 3, 2, 3, false}};
    assert_int_equal(ganz_links_sort(links, 5), 4);
    const ganz_link sorted[] = {{4, 5, 0, 1, true}, {2, 3, 2, 3, false}, {4, 5, 2, 3, false}, {0, 1, 6, 8, false}};
    for (int i = 0; i < 4; i++) assert_true(same_link(&links[i], &sorted[i]));
    assert_int_equal(ganz_links_sort(links, 0), 0);
}

/* (a b, c) and (x  y!): "a" is word 0, "b" and "," word 1, "c" word 2; "x" 0, "y" and "!" 1. */
static void words_are_linked(void **state)
{
    (void)state;
    const ganz_line line = {.text = "a b, c", .bytes = 6};
    const ganz_link links[] = {
        {0, 1, 0, 1, true}, {5, 6, 0, 1, false}, {2, 3, 3, 4, false}, {3, 4, 4, 5, false}, {0, 1, 4, 5, false}};
    const ganz_translation t = {.text = "x  y!", .bytes = 5, .links = links, .link_count = 5};
    ganz_word_link words[5];
    int count;
    OK(ganz_word_links(&line, &t, words, &count, NULL));
    static const ganz_word_link expected[] = {{0, 1}, {1, 1}, {2, 0}};
    assert_int_equal(count, 3);
    assert_memory_equal(words, expected, sizeof expected);
}

/* "the cat, (dog" with tokens: the | cat in two pieces | ", (" | dog */
static void tokens_have_ends(void **state)
{
    (void)state;
    size_t begin[] = {0, 4, 4, 7, 10}, end[5];
    static const size_t begins[] = {0, 4, 4, 7, 10}, ends[] = {3, 7, 7, 10, 13};
    ganz_token_ends("the cat, (dog", 13, begin, end, 5);
    assert_memory_equal(begin, begins, sizeof begins);
    assert_memory_equal(end, ends, sizeof ends);
    size_t space_begin[] = {0, 1, 4}, space_end[3]; /* a | white space | b */
    ganz_token_ends("a \t b", 5, space_begin, space_end, 3);
    assert_int_equal(space_begin[1], space_end[1]);
    assert_int_equal(space_end[0], 1);
}

/* Ids know where the token that they belong to begins. */
static void tokens_have_places(void **state)
{
    (void)state;
    ganz_vocab *vocab = tiny_vocab();
    const char line[] = "the thx, \xC3\xA4 cat";
    ganz_ids ids = {0};
    ganz_text text = {0};
    OK(ganz_vocab_encode(vocab, GANZ_SOURCE, line, strlen(line), &ids, NULL));
    size_t begin[64];
    assert_true(ids.count < 64);
    const ganz_id_span span = {ids.ids, ids.count, GANZ_SOURCE};
    OK(ganz_vocab_decode_places(vocab, &span, &text, begin, NULL));
    assert_int_equal(text.bytes, strlen(line));
    assert_memory_equal(text.text, line, text.bytes);
    /* the | th x _ | ", " | \ 2 2 8 ; _ | cat */
    static const size_t expected[] = {0, 4, 4, 4, 7, 9, 9, 9, 9, 9, 9, 12};
    assert_int_equal(ids.count, GANZ_COUNT(expected));
    for (size_t i = 0; i < ids.count; i++) assert_int_equal(begin[i], expected[i]);
    /* the same places are known where the ids are made, white space before the sentence counted */
    const char spaced[] = " \xC2\xA0the thx, \xC3\xA4 cat \t";
    ganz_places places = {0};
    ids.count = 0;
    OK(ganz_vocab_find_tokens(vocab, &(ganz_passage){spaced, strlen(spaced), GANZ_SOURCE}, &ids, &places, NULL));
    assert_int_equal(ids.count, GANZ_COUNT(expected) + 1);
    assert_int_equal(ids.ids[ids.count - 1], GANZ_EOS);
    assert_int_equal(places.count, GANZ_COUNT(expected));
    for (size_t i = 0; i < places.count; i++) assert_int_equal(places.begin[i], expected[i] + 3);
    ganz_places_free(&places);
    ganz_ids_free(&ids);
    ganz_text_free(&text);
    ganz_vocab_close(&vocab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_counted), cmocka_unit_test(links_are_sorted),   cmocka_unit_test(words_are_linked),
        cmocka_unit_test(tokens_have_ends),  cmocka_unit_test(tokens_have_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
