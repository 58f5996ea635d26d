/* Training learns: toy languages, until nearly every word is right. Apart from test_train.c, since the thread sanitizer
 * needs minutes for it and finds nothing there that shorter runs do not show. */
#include "test.h"

#include "toy.h"

static void learns(const char *corpus, bool reverse, long long optimizer, int steps)
{
    ganz_train_options o = toy_options(corpus);
    ganz_trainer *t;
    ganz_error err;
    o.recipe.steps = steps;
    o.recipe.width = 64;
    o.recipe.ffn = 128;
    o.recipe.heads = 4;
    o.recipe.optimizer = optimizer;
    if (optimizer == GANZ_OPTIMIZER_ADAFACTOR) o.recipe.learning_rate = 1;
    if (ganz_trainer_open(&t, &o, &err) != GANZ_OK) fail_msg("%s", err.message);
    for (int i = 0; i < steps; i++) assert_int_equal(GANZ_OK, ganz_trainer_step(t, (double)i / steps, NULL, &err));
    const double right = right_tokens(t->be, &t->net, &t->weights, reverse);
    print_message("%s: %.2f%% of tokens right after %d steps\n", corpus, 100 * right, steps);
    assert_true(right > 0.99);
    ganz_trainer_close(&t);
}

static void learns_to_copy(void **state)
{
    (void)state;
    learns("copy", false, GANZ_OPTIMIZER_ADAFACTOR, 600);
}

static void learns_to_reverse(void **state)
{
    (void)state;
    learns("reverse", true, GANZ_OPTIMIZER_ADAM, 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_to_copy),
        cmocka_unit_test(learns_to_reverse),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
