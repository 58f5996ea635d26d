/* Gradients by central differences, in double: every operation, and the whole network. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "nn/ops.h"
#include "nn_case.h"

static const ganz_config small = {8, 12, 2, 2, 2, 13, 16};
static const nn_segment batch[] = {{0, 4, 3}, {0, 2, 5}, {1, 3, 2}, {2, 1, 1}, {2, 5, 4}};
enum { SEGMENTS = 5 };

static void close_to(double got, double want, double scale, const char *what, size_t at)
{
    if (fabs(got - want) > 1e-6 * (fabs(want) + scale)) fail_msg("%s[%zu]: gradient %.12g, difference %.12g", what, at, got, want);
}

/* ---- the whole network -------------------------------------------------------------------------- */

static double slope(nn_case *c, real *value)
{
    const real old = *value, h = 1e-5;
    *value = old + h;
    nn_case_refresh(c);
    const double up = nn_case_loss(c, false);
    *value = old - h;
    nn_case_refresh(c);
    const double down = nn_case_loss(c, false);
    *value = old;
    return (up - down) / (2 * h);
}

/* Some elements of every parameter of the kinds that are trained. */
static void check_network(nn_case *c)
{
    const double loss = nn_case_loss(c, true);
    assert_true(loss > 0.1 && loss < 20);
    double norm = 0;
    for (size_t i = 0; i < c->net.params.block; i++) norm += c->weights.grad[i] * c->weights.grad[i];
    norm = sqrt(norm);
    for (int p = 0; p < c->net.params.count; p++) {
        const ganz_param *const param = &c->net.params.list[p];
        const bool train = param->kind == GANZ_STEP ? c->train_steps : c->train_weights;
        for (int i = 0; i < 6 && train; i++) {
            const size_t at = ganz_random_below(3, (uint64_t)p, (uint64_t)i, (uint32_t)ganz_param_count(param));
            close_to(c->weights.grad[param->offset + at], slope(c, &c->weights.master[param->offset + at]), 1e-2 * norm, param->name, at);
        }
    }
}

static void network_gradient(void **state)
{
    (void)state;
    nn_case c;
    nn_case_open(&c, &small, 1, batch, SEGMENTS, 0);
    nn_case_init(&c, 1);
    c.smoothing = 0.1;
    check_network(&c);
    nn_case_close(&c);
}

static void network_gradient_with_dropout(void **state)
{
    (void)state;
    nn_case c;
    nn_case_open(&c, &small, 2, batch, SEGMENTS, 0);
    nn_case_init(&c, 2);
    c.smoothing = 0.1;
    c.dropout = (ganz_dropout){0.3, 0.2, 0.1};
    check_network(&c);
    nn_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(network_gradient),
        cmocka_unit_test(network_gradient_with_dropout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
