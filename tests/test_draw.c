/* Tokens drawn by chance: as often as their probabilities say, which libm says here, and always the same. */
#include <math.h>
#include <string.h>

#include "test.h"
#include "translate/draw.h"

enum { TOKENS = 9, DRAWS = 200000 };

static const float logits[TOKENS] = {0.5f, -1.0f, 3.0f, 2.5f, -20.0f, 0.0f, 1.25f, -INFINITY, 2.999f};

static void count_draws(const ganz_draw_options *o, int count, int *counts)
{
    memset(counts, 0, (size_t)count * sizeof *counts);
    for (int i = 0; i < DRAWS; i++) {
        const int32_t ids[] = {i, 1};
        counts[ganz_draw_token(o, ganz_draw_stream(ids, 2), i % 50, logits, count)]++;
    }
}

/* Five standard deviations of a binomial count. */
static void check_counts(double temperature, int count)
{
    int counts[TOKENS];
    double total = 0;
    const ganz_draw_options o = {.temperature = temperature, .seed = 7};
    count_draws(&o, count, counts);
    for (int i = 0; i < count; i++) total += exp(logits[i] / temperature);
    for (int i = 0; i < count; i++) {
        const double p = exp(logits[i] / temperature) / total, mean = p * DRAWS;
        assert_true(fabs(counts[i] - mean) <= 5 * sqrt(mean * (1 - p)) + 1e-6);
    }
}

static void test_frequencies(void **state)
{
    (void)state;
    check_counts(1, TOKENS);
    check_counts(0.5, TOKENS);
    check_counts(3, TOKENS);
    check_counts(1, 4); /* what top-4 would be given */
    check_counts(1, 1);
}

static void test_cold(void **state)
{
    (void)state;
    int counts[TOKENS];
    const ganz_draw_options o = {.temperature = 1e-5, .seed = 1};
    count_draws(&o, TOKENS, counts);
    assert_int_equal(counts[2], DRAWS);
}

/* Seed, sentence and step each change what is drawn; nothing else does. */
static void test_streams(void **state)
{
    (void)state;
    const ganz_draw_options o = {.temperature = 1, .seed = 1}, other = {.temperature = 1, .seed = 2};
    const int32_t a[] = {5, 6, 7, 1}, b[] = {6, 5, 7, 1}, zeros[] = {0, 0, 0};
    int seeds = 0, steps = 0, sentences = 0;
    assert_int_not_equal(ganz_draw_stream(a, 4), ganz_draw_stream(b, 4));
    assert_int_not_equal(ganz_draw_stream(a, 3), ganz_draw_stream(a, 4));
    assert_int_not_equal(ganz_draw_stream(zeros, 2), ganz_draw_stream(zeros, 3));
    for (int step = 0; step < 100; step++) {
        const uint64_t stream = ganz_draw_stream(a, 4);
        const int drawn = ganz_draw_token(&o, stream, step, logits, TOKENS);
        assert_int_equal(drawn, ganz_draw_token(&o, stream, step, logits, TOKENS));
        seeds += drawn != ganz_draw_token(&other, stream, step, logits, TOKENS);
        steps += drawn != ganz_draw_token(&o, stream, step + 1, logits, TOKENS);
        sentences += drawn != ganz_draw_token(&o, ganz_draw_stream(b, 4), step, logits, TOKENS);
    }
    assert_true(seeds > 20 && steps > 20 && sentences > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_frequencies), cmocka_unit_test(test_cold),
                                       cmocka_unit_test(test_streams)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
