/* The least length of results, by a decoder with a network. */
#include "test.h"

#include "folder.h"
#include "ganz/ganz.h"
#include "model/model.h"
#include "tiny.h"
#include "translate/decode.h"

#define OK(call) assert_int_equal((call), GANZ_OK)
enum { SENTENCES = 20, LONGEST = 24 };

static void make_sentences(ganz_sentence *sentences, int32_t ids[SENTENCES][LONGEST], int vocab)
{
    for (int i = 0; i < SENTENCES; i++) {
        const int count = 2 + 7 * i % (LONGEST - 1);
        for (int j = 0; j + 1 < count; j++) ids[i][j] = 2 + (31 * i + 17 * j * j) % (vocab - 2);
        ids[i][count - 1] = 1;
        sentences[i] = (ganz_sentence){.ids = ids[i], .count = count};
    }
}

/* Results that are shorter than their share of the source, or than the limit allows. */
static int count_short(const ganz_model *m, double least_length, int max_length)
{
    const ganz_decoder_options o = {.search = {.beam = 4, .n_best = 2, .alpha = 0.6},
                                    .least_length = least_length,
                                    .batch_tokens = 200,
                                    .max_input = LONGEST,
                                    .max_length = max_length};
    ganz_sentence sentences[SENTENCES];
    int32_t ids[SENTENCES][LONGEST];
    ganz_decoder *d;
    const ganz_found *found;
    const int *counts;
    int shorter = 0;
    make_sentences(sentences, ids, m->net.config.vocab);
    OK(ganz_decoder_open(&d, m->be, &m->net, &m->weights, &o, NULL));
    OK(ganz_decoder_run(d, sentences, SENTENCES, &found, &counts, NULL));
    for (int i = 0; i < SENTENCES; i++) {
        const int share = (sentences[i].count - 1) / 2, least = share < max_length ? share : max_length - 1;
        for (int j = 0; j < counts[i]; j++) shorter += found[2 * i + j].count < least;
    }
    ganz_decoder_close(&d);
    return shorter;
}

static void results_are_long_enough(void **state)
{
    (void)state;
    ganz_model *m;
    int shorter = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        assert_true(write_tiny("m", seed));
        OK(ganz_model_open(&m, "m", NULL));
        assert_int_equal(count_short(m, 0.5, 20), 0);
        assert_int_equal(count_short(m, 0.5, 4), 0);
        shorter += count_short(m, 0, 20);
        ganz_model_close(&m);
    }
    assert_true(shorter > 0); /* without it there are some */
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(results_are_long_enough)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
