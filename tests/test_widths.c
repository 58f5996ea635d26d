/* Widths of least harm against all that can be chosen, tried one after the other. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "train/widths.h"

enum { MOST = 7 };

typedef struct problem {
    int count;
    ganz_product_widths product[MOST];
} problem;

static ganz_status choose(const problem *p, long long most, int *bits)
{
    ganz_error err;
    return ganz_widths_choose(p->product, p->count, most, bits, &err);
}

static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* Sizes as of networks (multiples of `unit`), harm that falls with the bits, now and then level. */
static problem random_problem(uint32_t *state, int unit, bool two_widths)
{
    problem p = {.count = 1 + (int)draw(state, two_widths ? MOST : 4)};
    for (int i = 0; i < p.count; i++) {
        const long long count = (1 + (long long)draw(state, 60)) * unit;
        double harm = 0;
        for (int bits = 8; bits >= 3; bits--) {
            if (draw(state, 4)) harm += draw(state, 1000) / 1000.0;
            p.product[i].harm[bits] = harm;
            p.product[i].offered[bits] = !two_widths || bits == 8 || bits == 4;
            p.product[i].cost[bits] = two_widths ? count * (bits > 4 ? 2 : 1) : count * bits;
        }
    }
    return p;
}

static double harm_of(const problem *p, const int *bits, long long *cost)
{
    double harm = 0;
    *cost = 0;
    for (int i = 0; i < p->count; i++) {
        assert_true(p->product[i].offered[bits[i]]);
        harm += p->product[i].harm[bits[i]];
        *cost += p->product[i].cost[bits[i]];
    }
    return harm;
}

/* The least harm of everything that fits: infinity where nothing does. */
static double tried(const problem *p, int product, long long room)
{
    double least = INFINITY;
    if (room < 0) return INFINITY;
    if (product == p->count) return 0;
    for (int bits = 0; bits < GANZ_WIDTHS; bits++)
        if (p->product[product].offered[bits])
            least = fmin(least,
                         p->product[product].harm[bits] + tried(p, product + 1, room - p->product[product].cost[bits]));
    return least;
}

static long long dearest(const problem *p)
{
    long long sum = 0;
    for (int i = 0; i < p->count; i++) sum += p->product[i].cost[8];
    return sum;
}

static void nothing_that_fits_does_less_harm(void **unused)
{
    (void)unused;
    static const int units[] = {1, 7, 1024, 131072};
    uint32_t state = 1;
    int refused = 0, chosen = 0;
    for (int round = 0; round < 800; round++) {
        const problem p = random_problem(&state, units[round % 4], round % 3 == 0);
        const long long most = dearest(&p) / 100 * (20 + (long long)draw(&state, 90)) + draw(&state, 50);
        const double least = tried(&p, 0, most);
        int bits[MOST];
        long long cost;
        if (isinf(least)) {
            assert_int_equal(GANZ_EINVAL, choose(&p, most, bits));
            refused++;
            continue;
        }
        assert_int_equal(GANZ_OK, choose(&p, most, bits));
        assert_true(fabs(harm_of(&p, bits, &cost) - least) < 1e-12);
        assert_true(cost <= most);
        chosen++;
    }
    print_message("%d chosen, %d refused\n", chosen, refused);
    assert_true(refused > 20 && chosen > 400);
}

/* What taking the best step down again and again leaves: the large product goes last, and then there is room for both.
 */
static void room_is_used(void **unused)
{
    (void)unused;
    problem p = {.count = 3};
    static const long long counts[] = {10, 10, 100};
    static const double harms[] = {1, 1, 11};
    for (int i = 0; i < p.count; i++) {
        p.product[i].offered[4] = p.product[i].offered[8] = true;
        p.product[i].harm[4] = harms[i];
        p.product[i].cost[4] = counts[i];
        p.product[i].cost[8] = 2 * counts[i];
    }
    int bits[MOST];
    assert_int_equal(GANZ_OK, choose(&p, 220, bits)); /* of 240 */
    assert_int_equal(4, bits[0]);
    assert_int_equal(4, bits[1]);
    assert_int_equal(8, bits[2]);
    assert_int_equal(GANZ_OK, choose(&p, 219, bits));
    assert_int_equal(8, bits[0]);
    assert_int_equal(8, bits[1]);
    assert_int_equal(4, bits[2]);
}

/* Costs that have no common multiple, of more cells than there may be: what is chosen fits, and all of it where all
 * may. */
static void odd_costs_fit(void **unused)
{
    (void)unused;
    uint32_t state = 5;
    for (int round = 0; round < 40; round++) {
        problem p = random_problem(&state, 1000003, round % 2);
        for (int i = 0; i < p.count; i++)
            for (int bits = 3; bits <= 8; bits++) p.product[i].cost[bits] += (long long)bits * draw(&state, 3);
        const long long most = dearest(&p) - 1 - (long long)draw(&state, (uint32_t)(dearest(&p) / 3));
        const double least = tried(&p, 0, most), with_less = tried(&p, 0, most - most / 4096);
        int bits[MOST];
        long long cost;
        assert_int_equal(GANZ_OK, choose(&p, dearest(&p), bits));
        for (int i = 0; i < p.count; i++) assert_int_equal(8, bits[i]);
        if (isinf(with_less)) continue;
        assert_int_equal(GANZ_OK, choose(&p, most, bits));
        const double harm = harm_of(&p, bits, &cost);
        assert_true(cost <= most);
        assert_true(harm >= least - 1e-12 && harm <= with_less + 1e-12);
    }
}

/* A product that does endless harm in any width, as one may whose sums overflow, gets one that is offered. */
static void endless_harm_is_chosen_too(void **unused)
{
    (void)unused;
    uint32_t state = 7;
    for (int round = 0; round < 40; round++) {
        problem p = random_problem(&state, 64, round % 2);
        for (int bits = 3; bits <= 8; bits++) p.product[round % p.count].harm[bits] = INFINITY;
        int bits[MOST];
        long long cost;
        const long long most = dearest(&p) * 3 / 4;
        assert_int_equal(GANZ_OK, choose(&p, most, bits));
        harm_of(&p, bits, &cost);
        assert_true(cost <= most);
    }
}

static void no_memory_is_said(void **unused)
{
    (void)unused;
    uint32_t state = 3;
    const problem p = random_problem(&state, 64, false);
    int bits[MOST];
    for (int n = 1; n <= 2; n++) {
        ganz_alloc_fail_at(n);
        const ganz_status status = choose(&p, dearest(&p), bits);
        ganz_alloc_fail_at(0);
        assert_int_equal(GANZ_ENOMEM, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_that_fits_does_less_harm),
        cmocka_unit_test(room_is_used),
        cmocka_unit_test(odd_costs_fit),
        cmocka_unit_test(endless_harm_is_chosen_too),
        cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
