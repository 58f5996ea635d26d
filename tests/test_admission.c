/* Who is let in, in a simulated server: two workers that take all that waits together, a clock of its own, and requests
 * that come at a fixed rate. */
#include "admission.h"

#include <stdlib.h>

#include "test.h"

enum { WORKERS = 2, MOST = 4096, ROOM = 80 };
static const double LINE = 0.01; /* seconds that a worker takes for a line, in whatever company */

typedef struct visit {
    double came, length; /* in lines */
    int worker;          /* -1: waits */
    bool alone;
} visit;

typedef struct simulation {
    admission admission;
    visit inside[MOST];
    int count;
    double free_at[WORKERS]; /* when its batch ends */
    double latencies[200000];
    int answered, refused;
    unsigned chance;
} simulation;

/* Lengths of sentences: mostly about one line, few of up to five. */
static double draw_length(simulation *s)
{
    s->chance = s->chance * 1664525u + 1013904223u;
    const double x = (double)(s->chance >> 8) / (1 << 24);
    return 0.3 + x + (x > 0.95 ? 80 * (x - 0.95) : 0);
}

static void end_batch(simulation *s, int worker)
{
    int left = 0;
    for (int i = 0; i < s->count; i++) {
        const visit *const v = &s->inside[i];
        if (v->worker == worker) {
            const double took = s->free_at[worker] - v->came;
            s->latencies[s->answered++] = took;
            if (v->alone) admission_note_alone(&s->admission, took);
        } else {
            s->inside[left++] = *v;
        }
    }
    s->count = left;
}

static void begin_batch(simulation *s, int worker, double now)
{
    double work = 0;
    for (int i = 0; i < s->count; i++) {
        if (s->inside[i].worker >= 0) continue;
        s->inside[i].worker = worker;
        work += s->inside[i].length * LINE;
    }
    s->free_at[worker] = now + work;
}

/* Batches that end until then, in their order. */
static void go_on(simulation *s, double until)
{
    for (;;) {
        const int first = s->free_at[0] <= s->free_at[1] ? 0 : 1;
        const double at = s->free_at[first];
        bool waits = false;
        if (at > until) return;
        end_batch(s, first);
        for (int i = 0; i < s->count; i++) waits |= s->inside[i].worker < 0;
        if (waits) begin_batch(s, first, at);
        else s->free_at[first] = 1e300;
    }
}

static void arrive(simulation *s, double now)
{
    go_on(s, now);
    const double turn = s->count < WORKERS ? 0 : (s->count - WORKERS + 1) * LINE / WORKERS;
    const admission_load l = {.requests = s->count, .max_requests = ROOM, .wait = turn, .max_wait = 5, .turn = turn};
    if (!admission_admits(&s->admission, &l, now)) {
        s->refused++;
        return;
    }
    s->inside[s->count] = (visit){.came = now, .length = draw_length(s), .worker = -1, .alone = s->count == 0};
    s->count++;
    for (int w = 0; w < WORKERS; w++)
        if (s->free_at[w] > 1e200) {
            begin_batch(s, w, now);
            break;
        }
}

static int by_size(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Requests at this rate for so long; returns the latency of the slowest per cent, and forgets it. */
static double run(simulation *s, double *clock, double rate, double seconds)
{
    s->answered = s->refused = 0;
    for (const double end = *clock + seconds; *clock < end; *clock += 1 / rate) arrive(s, *clock);
    qsort(s->latencies, (size_t)s->answered, sizeof *s->latencies, by_size);
    return s->latencies[s->answered * 99 / 100];
}

static simulation *make(void)
{
    simulation *const s = calloc(1, sizeof *s);
    for (int w = 0; w < WORKERS; w++) s->free_at[w] = 1e300;
    return s;
}

static void test_overload(void **state)
{
    (void)state;
    simulation *const s = make();
    double clock = 100;
    const double alone = run(s, &clock, 5, 60);
    assert_int_equal(s->refused, 0);
    run(s, &clock, 2000, 2); /* ten times what it can */
    assert_true(s->refused > 0);
    const double under_load = run(s, &clock, 2000, 20);
    assert_true(s->refused > s->answered);
    assert_true(s->answered > 20 * 120); /* it works on, at more than half of what it can */
    assert_true(under_load <= 3 * alone);
    free(s);
}

/* The same without a memory of requests alone: as if there were no overload, they wait as long as there is room. */
static void test_room_alone_is_not_enough(void **state)
{
    (void)state;
    simulation *const s = make();
    double clock = 100;
    const double alone = run(s, &clock, 5, 60);
    for (int i = 0; i < ADMISSION_KEPT; i++) admission_note_alone(&s->admission, 1e9);
    assert_true(run(s, &clock, 2000, 10) > 3 * alone);
    free(s);
}

static void test_calm(void **state)
{
    (void)state;
    simulation *const s = make();
    double clock = 100;
    run(s, &clock, 5, 20);
    for (int i = 0; i < ROOM; i++) arrive(s, clock); /* a burst as large as the room is no overload */
    assert_int_equal(s->refused, 0);
    clock += 10;
    run(s, &clock, 2000, 3);
    assert_true(s->admission.overloaded);
    clock += 1.5; /* nobody comes */
    s->refused = 0;
    for (int i = 0; i < ROOM; i++) arrive(s, clock);
    assert_int_equal(s->refused, 0);
    clock += 10;
    run(s, &clock, 2000, 3);
    run(s, &clock, 100, 10); /* half of what it can: overload ends without a pause */
    assert_false(s->admission.overloaded);
    run(s, &clock, 100, 10);
    assert_int_equal(s->refused, 0);
    free(s);
}

static void test_patience(void **state)
{
    (void)state;
    admission a = {0};
    assert_true(admission_patience(&a) == 0);
    for (int i = 1; i <= 1000; i++) admission_note_alone(&a, i);
    assert_true(admission_patience(&a) == 995); /* of 901 to 1000 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_overload), cmocka_unit_test(test_room_alone_is_not_enough),
                                       cmocka_unit_test(test_calm), cmocka_unit_test(test_patience)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
