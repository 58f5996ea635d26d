/* The service: right answers for many callers at once, turns, limits, cancelling, time limits, failures, and its end.
 */
#include "services.h"

static void one_request(void **state)
{
    (void)state;
    ganz_service *s = open_service(2, 0);
    expect_right(submit(s, 0, LINES, NULL), 0, LINES);
    expect_right(submit(s, 7, 1, NULL), 7, 1);
    expect_right(submit(s, 0, 0, NULL), 0, 0);
    ganz_service_stats stats;
    ganz_service_get_stats(s, &stats);
    assert_int_equal(stats.accepted, 3);
    assert_int_equal(stats.done, 3);
    assert_int_equal(stats.lines, LINES + 1);
    assert_true(stats.batches > 5 && stats.batches < LINES / 2);
    assert_int_equal(stats.lines_inside + stats.lines_waiting, 0);
    assert_int_equal(stats.bytes_inside, 0);
    assert_true(stats.work_seconds > 0 && stats.queue_seconds > 0);
    ganz_service_close(&s);
    assert_null(s);
    ganz_service_close(&s);
}

/* ---- many callers ------------------------------------------------------------------------------- */

typedef struct caller {
    ganz_service *service;
    pthread_t thread;
    unsigned seed;
    int wrong, cancelled;
} caller;

static int draw(caller *c, int below)
{
    c->seed = c->seed * 1103515245u + 12345u;
    return (int)(c->seed >> 16) % below;
}

static void *call_often(void *argument)
{
    caller *const c = argument;
    for (int i = 0; i < 40; i++) {
        const int first = draw(c, LINES), count = 1 + draw(c, 6);
        const bool cancel = draw(c, 4) == 0;
        const ganz_request_options o = {.client = (uint64_t)draw(c, 5), .bulk = draw(c, 3) == 0};
        ganz_line lines[8];
        ganz_request *r;
        const ganz_result *results;
        for (int k = 0; k < count; k++) lines[k] = line_of((first + k) % LINES);
        if (ganz_service_submit(c->service, lines, count, &o, &r, NULL) != GANZ_OK) {
            c->wrong++;
            continue;
        }
        if (cancel) ganz_request_cancel(r);
        const ganz_status status = ganz_request_wait(r, &results, NULL);
        c->cancelled += status == GANZ_ESTOPPED;
        c->wrong += status == GANZ_OK ? !is_right(results, first, count) : status != GANZ_ESTOPPED || !cancel;
        ganz_request_close(&r);
    }
    return NULL;
}

/* The queue has room for less than all of them want. */
static void many_callers(void **state)
{
    (void)state;
    enum { CALLERS = 8 };
    caller callers[CALLERS] = {{0}};
    ganz_service *s = open_service(3, 20);
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (caller){.service = s, .seed = (unsigned)i + 1};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
    }
    int cancelled = 0;
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].wrong, 0);
        cancelled += callers[i].cancelled;
    }
    OK(ganz_service_drain(s, -1, NULL));
    ganz_service_stats stats;
    ganz_service_get_stats(s, &stats);
    assert_int_equal(stats.accepted, CALLERS * 40);
    assert_int_equal(stats.done + stats.cancelled, CALLERS * 40);
    assert_int_equal(stats.cancelled, cancelled);
    assert_true(cancelled > 0);
    assert_int_equal(stats.lines_inside, 0);
    ganz_request *r;
    const ganz_line line = line_of(0);
    assert_int_equal(ganz_service_submit(s, &line, 1, NULL, &r, NULL), GANZ_ESTOPPED);
    ganz_service_close(&s);
}

/* ---- callbacks and turns ------------------------------------------------------------------------ */

typedef struct counter {
    atomic_int first, second, seen; /* finished requests of two clients; of the first, when the second was */
} counter;

static void count_first(void *context, ganz_request *r)
{
    counter *const c = context;
    const ganz_result *results;
    if (ganz_request_wait(r, &results, NULL) == GANZ_OK) atomic_fetch_add(&c->first, 1);
    ganz_request_close(&r);
}

static void count_second(void *context, ganz_request *r)
{
    counter *const c = context;
    atomic_store(&c->seen, atomic_load(&c->first));
    atomic_fetch_add(&c->second, 1);
    ganz_request_close(&r);
}

/* A client with one line does not wait for another one's hundreds. */
static void clients_take_turns(void **state)
{
    (void)state;
    counter c = {0};
    ganz_service *s = open_service(1, 2000);
    const ganz_request_options many = {.client = 1, .done = count_first, .context = &c};
    const ganz_request_options one = {.client = 2, .done = count_second, .context = &c};
    gate g;
    shut(&g, s);
    for (int i = 0; i < 3 * LINES; i++) submit(s, i, 1, &many);
    submit(s, 5, 1, &one);
    atomic_store(&g.open, true);
    OK(ganz_service_drain(s, -1, NULL));
    ganz_service_close(&s); /* after which no callback runs */
    assert_int_equal(atomic_load(&c.first), 3 * LINES);
    assert_int_equal(atomic_load(&c.second), 1);
    if (atomic_load(&c.seen) > 30) fail_msg("%d lines of the other client came first", atomic_load(&c.seen));
}

/* Bulk requests leave a worker to others. */
static void bulk_leaves_a_worker(void **state)
{
    (void)state;
    ganz_service *s = open_service(3, 2000);
    const ganz_request_options bulk = {.bulk = true};
    ganz_request *requests[4];
    for (int i = 0; i < 4; i++) requests[i] = submit(s, 50 * i, LINES, &bulk);
    int busy = 0;
    while (!ganz_request_is_finished(requests[3])) {
        ganz_service_stats stats;
        ganz_service_get_stats(s, &stats);
        assert_true(stats.idle >= 1);
        if (stats.idle == 1) busy++;
    }
    assert_true(busy > 0); /* but no more than one */
    for (int i = 0; i < 4; i++) expect_right(requests[i], 50 * i, LINES);
    ganz_service_close(&s);
}

static void wait_a_little(void *context, ganz_request *r)
{
    (void)r;
    nap(20);
    atomic_fetch_add((atomic_int *)context, 1);
}

/* Whoever closes a request may free what its callback uses. */
static void closing_waits_for_the_callback(void **state)
{
    (void)state;
    ganz_service *s = open_service(1, 0);
    for (int i = 0; i < 5; i++) {
        atomic_int *const called = calloc(1, sizeof *called);
        const ganz_request_options o = {.done = wait_a_little, .context = called};
        ganz_request *r = submit(s, i, 1, &o);
        const ganz_result *results;
        OK(ganz_request_wait(r, &results, NULL));
        nap(i);
        ganz_request_close(&r);
        free((void *)called);
    }
    ganz_service_close(&s);
}

/* ---- limits ------------------------------------------------------------------------------------- */

static void a_full_queue_refuses(void **state)
{
    (void)state;
    ganz_service *s = open_service(1, 100);
    const ganz_request_options hasty = {.refuse = true};
    gate g;
    shut(&g, s);
    ganz_request *const large = submit(s, 0, LINES, &hasty); /* beyond the limit, but alone */
    ganz_line lines[2] = {line_of(0), line_of(1)};
    ganz_request *r;
    ganz_error err = {0};
    assert_int_equal(ganz_service_submit(s, lines, 2, &hasty, &r, &err), GANZ_EBUSY);
    assert_null(r);
    assert_non_null(strstr(err.message, "no room"));
    atomic_store(&g.open, true);
    ganz_request *const patient = submit(s, 3, 2, NULL); /* waits for room */
    assert_true(ganz_request_is_finished(large));
    expect_right(large, 0, LINES);
    expect_right(patient, 3, 2);
    ganz_service_stats stats;
    ganz_service_get_stats(s, &stats);
    assert_int_equal(stats.refused, 1);
    ganz_service_close(&s);
}

static void count_calls(void *context, ganz_request *r)
{
    (void)r;
    atomic_fetch_add((atomic_int *)context, 1);
}

static void late_requests_fail(void **state)
{
    (void)state;
    ganz_service *s = open_service(1, 2000);
    atomic_int calls = 0;
    gate g;
    shut(&g, s);
    ganz_request *const busy = submit(s, 0, LINES, NULL);
    const ganz_request_options hasty = {.seconds = 0.01, .done = count_calls, .context = &calls};
    ganz_request *waited = submit(s, 0, LINES, &hasty), *forgotten = submit(s, 0, LINES, &hasty);
    const ganz_result *results;
    ganz_error err = {0};
    assert_int_equal(ganz_request_wait(waited, &results, &err), GANZ_ETIMEOUT);
    assert_null(results);
    assert_non_null(strstr(err.message, "too long"));
    nap(20);
    atomic_store(&g.open, true);
    expect_right(busy, 0, LINES);
    OK(ganz_service_drain(s, -1, NULL)); /* nobody waits for the other, yet it ends */
    ganz_service_stats stats;
    ganz_service_get_stats(s, &stats);
    assert_int_equal(stats.late, 2);
    assert_int_equal(ganz_request_wait(forgotten, &results, &err), GANZ_ETIMEOUT);
    ganz_request_close(&waited);
    ganz_request_close(&forgotten);
    ganz_service_close(&s);
    assert_int_equal(atomic_load(&calls), 2);
}

/* A line of half a million words, of which the only worker makes nothing more once its request is given up. */
static void unwanted_lines_are_left(void **state)
{
    (void)state;
    enum { BYTES = 2000000 };
    char *const text = malloc(BYTES);
    for (size_t i = 0; i < BYTES; i += 4) memcpy(text + i, "cat ", 4);
    const ganz_line line = {.text = text, .bytes = BYTES};
    ganz_service *s = open_service(1, 0);
    ganz_service_stats stats;
    ganz_request *r;
    OK(ganz_service_submit(s, &line, 1, NULL, &r, NULL));
    do {
        nap(1);
        ganz_service_get_stats(s, &stats);
    } while (stats.idle > 0);
    nap(20);
    ganz_request_close(&r);
    expect_right(submit(s, 0, 1, NULL), 0, 1);
    ganz_service_get_stats(s, &stats);
    assert_int_equal(stats.batches, 1); /* that of the line behind it: the other never came to its end */
    assert_int_equal(stats.cancelled, 1);
    ganz_service_close(&s);
    free(text);
}

static void draining_has_a_limit(void **state)
{
    (void)state;
    ganz_service *s = open_service(1, 0);
    gate g;
    shut(&g, s);
    ganz_request *const r = submit(s, 0, LINES, NULL);
    assert_int_equal(ganz_service_drain(s, 0.01, NULL), GANZ_ETIMEOUT);
    atomic_store(&g.open, true);
    OK(ganz_service_drain(s, 60, NULL));
    expect_right(r, 0, LINES);
    ganz_service_close(&s);
}

/* ---- failures ----------------------------------------------------------------------------------- */

static void bad_text_is_refused(void **state)
{
    (void)state;
    ganz_service *s = open_service(1, 0);
    ganz_line lines[3] = {line_of(0), {.text = "b\xFFg", .bytes = 3}, line_of(1)};
    ganz_request *r;
    ganz_error err = {0};
    assert_int_equal(ganz_service_submit(s, lines, 3, NULL, &r, &err), GANZ_EINVAL);
    assert_int_equal(err.line, 2);
    assert_string_equal(err.message, "the text is not UTF-8");
    assert_null(r);
    lines[1] = (ganz_line){.text = "b", .bytes = 1, .prefix = "\xC3", .prefix_bytes = 1};
    assert_int_equal(ganz_service_submit(s, lines, 3, NULL, &r, &err), GANZ_EINVAL);
    assert_int_equal(err.line, 2);
    assert_int_equal(ganz_service_submit(s, lines, -1, NULL, &r, &err), GANZ_EINVAL);
    expect_right(submit(s, 9, 4, NULL), 9, 4);
    ganz_service_close(&s);
}

/* A line that cannot be translated fails its request and no other of the batch. */
static void failures_stay_at_home(void **state)
{
    (void)state;
    static const char prefix[] = "a b c d e f g h i j k l m n o p q r s t u v w x y z";
    ganz_service *s = open_service(1, 2000);
    gate g;
    shut(&g, s);
    ganz_request *good[20], *bad[20];
    for (int i = 0; i < 20; i++) {
        ganz_line lines[3] = {line_of(i), line_of(i), line_of(i)};
        lines[i % 3].prefix = prefix;
        lines[i % 3].prefix_bytes = strlen(prefix);
        good[i] = submit(s, i, 2, NULL);
        OK(ganz_service_submit(s, lines, 3, NULL, &bad[i], NULL));
    }
    atomic_store(&g.open, true);
    for (int i = 0; i < 20; i++) {
        const ganz_result *results;
        ganz_error err = {0};
        expect_right(good[i], i, 2);
        assert_int_equal(ganz_request_wait(bad[i], &results, &err), GANZ_EINVAL);
        assert_int_equal(err.line, i % 3 + 1);
        assert_int_equal(strncmp(err.message, "the prefix has ", 15), 0);
        ganz_request_close(&bad[i]);
    }
    ganz_service_stats stats;
    ganz_service_get_stats(s, &stats);
    assert_int_equal(stats.failed, 20);
    ganz_service_close(&s);
}

static void options_are_checked(void **state)
{
    (void)state;
    ganz_service *s;
    ganz_service_options o;
    ganz_error err;
    ganz_service_defaults(&o);
    assert_int_equal(o.translator.beam, 0);
    o.workers = 257;
    assert_int_equal(ganz_service_open(&s, model, &o, &err), GANZ_EINVAL);
    assert_null(s);
    o.workers = 3;
    o.translator.beam = -1; /* all workers refuse; one of them is heard */
    assert_int_equal(ganz_service_open(&s, model, &o, &err), GANZ_EINVAL);
    assert_non_null(strstr(err.message, "beam must be"));
    assert_null(s);
}

/* Whatever memory is refused: a sentence, and the service goes on. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    ganz_service *s = NULL;
    ganz_service_options o;
    ganz_service_defaults(&o);
    o.workers = 2;
    o.translator.max_length = LENGTH;
    o.translator.batch_tokens = 400;
    o.remember = remember;
    long at = 0;
    ganz_status status;
    do {
        ganz_error err = {0};
        ganz_alloc_fail_at(++at);
        status = ganz_service_open(&s, model, &o, &err);
        ganz_alloc_fail_at(0);
        if (status != GANZ_OK) assert_int_equal(status, GANZ_ENOMEM);
        if (status != GANZ_OK) assert_null(s);
    } while (status != GANZ_OK && at < 500);
    OK(status);
    assert_true(at > 5);
    int failed = 0;
    for (at = 1; at < 60; at++) {
        const ganz_line lines[3] = {line_of(1), line_of(2), line_of(3)};
        const ganz_result *results;
        ganz_request *r;
        ganz_alloc_fail_at(at);
        status = ganz_service_submit(s, lines, 3, NULL, &r, NULL);
        if (status == GANZ_OK) status = ganz_request_wait(r, &results, NULL);
        ganz_alloc_fail_at(0);
        if (status == GANZ_OK) assert_true(is_right(results, 1, 3));
        else assert_int_equal(status, GANZ_ENOMEM);
        failed += status != GANZ_OK;
        ganz_request_close(&r);
        expect_right(submit(s, 1, 3, NULL), 1, 3);
    }
    assert_true(failed > 5 && failed < 59);
    ganz_service_close(&s);
}

/* ---- the end ------------------------------------------------------------------------------------ */

/* It ends within a step, with requests in all states; they are closed before it or after. */
static void closing_cancels(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        ganz_service *s = open_service(2, 2000);
        atomic_int calls = 0;
        const ganz_request_options o = {.client = 1, .done = count_calls, .context = &calls};
        ganz_request *requests[6];
        for (int k = 0; k < 6; k++) requests[k] = submit(s, k, LINES, k % 2 ? &o : NULL);
        nap(i);
        ganz_request_close(&requests[1]);
        ganz_service_close(&s);
        for (int k = 0; k < 6; k++) {
            const ganz_result *results;
            if (k == 1) continue;
            const ganz_status status = ganz_request_wait(requests[k], &results, NULL);
            if (status == GANZ_OK) assert_true(is_right(results, k, LINES));
            else assert_int_equal(status, GANZ_ESTOPPED);
            ganz_request_close(&requests[k]);
        }
        assert_true(atomic_load(&calls) == 2 || atomic_load(&calls) == 3);
    }
}

/* Many callers wait for room while it closes. */
static void *submit_until_closed(void *argument)
{
    ganz_request *r;
    const ganz_line line = line_of(3);
    while (ganz_service_submit(argument, &line, 1, NULL, &r, NULL) == GANZ_OK) {
        const ganz_result *results;
        ganz_request_wait(r, &results, NULL);
        ganz_request_close(&r);
    }
    return NULL;
}

static void draining_turns_callers_away(void **state)
{
    (void)state;
    ganz_service *s = open_service(2, 1);
    pthread_t threads[6];
    for (int i = 0; i < 6; i++) assert_int_equal(pthread_create(&threads[i], NULL, submit_until_closed, s), 0);
    nap(50);
    OK(ganz_service_drain(s, -1, NULL));
    for (int i = 0; i < 6; i++) pthread_join(threads[i], NULL);
    ganz_service_close(&s);
}

/* A translator by itself stops as well, and can be used again. */
static void a_call_can_be_stopped(void **state)
{
    (void)state;
    ganz_translator *t;
    ganz_translator_options o;
    ganz_flag stop = {0};
    const ganz_result *results;
    ganz_line lines[LINES];
    ganz_translator_defaults(&o);
    o.max_length = LENGTH;
    o.stop = &stop;
    for (int i = 0; i < LINES; i++) lines[i] = line_of(i);
    OK(ganz_translator_open(&t, model, &o, NULL));
    ganz_flag_set(&stop);
    assert_int_equal(ganz_translate(t, lines, LINES, &results, NULL), GANZ_ESTOPPED);
    assert_null(results);
    ganz_flag_clear(&stop);
    OK(ganz_translate(t, lines, LINES, &results, NULL));
    assert_true(is_right(results, 0, LINES));
    ganz_translator_close(&t);
}

/* ---- any number of lines ------------------------------------------------------------------------ */

typedef struct source {
    int given, right, ticks, most_ticks; /* most_ticks 0: any number */
} source;

static ganz_status fill(void *context, ganz_line *lines, uint64_t *numbers, int most, int *count, ganz_error *err)
{
    source *const s = context;
    (void)err;
    for (; *count < most && s->given < LINES; s->given++) {
        numbers[*count] = (uint64_t)s->given;
        lines[(*count)++] = line_of(s->given);
    }
    return GANZ_OK;
}

static ganz_status put(void *context, const uint64_t *numbers, const ganz_result *results, int count, ganz_error *err)
{
    source *const s = context;
    (void)err;
    for (int i = 0; i < count; i++) s->right += is_right(&results[i], (int)numbers[i], 1);
    return GANZ_OK;
}

static bool go_on(void *context)
{
    source *const s = context;
    s->ticks++;
    return s->most_ticks == 0 || s->ticks < s->most_ticks;
}

static void streams_end_and_stop(void **state)
{
    (void)state;
    ganz_service *s = open_service(2, 0);
    ganz_error err = {0};
    source all = {0}, some = {.most_ticks = 2};
    const ganz_line_stream stream = {fill, put, go_on, &all}, stopped = {fill, put, go_on, &some};
    const ganz_request_options late = {.seconds = 1e-6};
    OK(ganz_service_run(s, &stream, NULL, &err));
    assert_int_equal(all.right, LINES);
    assert_true(all.ticks >= 3);
    assert_int_equal(ganz_service_run(s, &stopped, NULL, &err), GANZ_ESTOPPED);
    assert_true(some.right < LINES);
    all = (source){0};
    assert_int_equal(ganz_service_run(s, &stream, &late, &err), GANZ_ETIMEOUT);
    ganz_service_close(&s);
}

/* Whatever is inside of it, a stream says which line was refused. */
static void streams_name_the_line(void **state)
{
    (void)state;
    ganz_service *s = open_service(1, 0);
    ganz_error err = {0};
    source all = {0};
    const ganz_line_stream stream = {fill, put, NULL, &all};
    char *const good = texts[150], bad[] = "\xff";
    texts[150] = bad;
    assert_int_equal(ganz_service_run(s, &stream, NULL, &err), GANZ_EINVAL);
    texts[150] = good;
    assert_int_equal(err.line, 151);
    ganz_service_close(&s);
}

/* Documents together come out as one after another through a translator. */
static void documents_go_together(void **state)
{
    (void)state;
    enum { DOCUMENTS = 3 };
    static const char *const pages[DOCUMENTS] = {"One cat sat. It slept.\n", "", "Tom ran.\n\nMary <b>saw</b> %s.\n"};
    ganz_service *s = open_service(2, 0);
    ganz_translator *t;
    ganz_translator_options o;
    ganz_document *together[DOCUMENTS], *alone;
    const ganz_documents_options how = {.line = {.unscored = true}};
    ganz_translator_defaults(&o);
    o.max_length = LENGTH;
    OK(ganz_translator_open(&t, model, &o, NULL));
    for (int i = 0; i < DOCUMENTS; i++) OK(ganz_document_open(&together[i], pages[i], strlen(pages[i]), NULL, NULL));
    OK(ganz_service_documents(s, together, DOCUMENTS, &how, NULL));
    for (int i = 0; i < DOCUMENTS; i++) {
        ganz_text expect = {0}, got = {0};
        OK(ganz_document_open(&alone, pages[i], strlen(pages[i]), NULL, NULL));
        OK(ganz_translate_document(t, alone, NULL));
        OK(ganz_document_write(alone, &expect, NULL));
        OK(ganz_document_write(together[i], &got, NULL));
        assert_int_equal(got.bytes, expect.bytes);
        if (got.bytes > 0) assert_memory_equal(got.text, expect.text, got.bytes);
        ganz_text_free(&expect);
        ganz_text_free(&got);
        ganz_document_close(&alone);
        ganz_document_close(&together[i]);
    }
    ganz_translator_close(&t);
    ganz_service_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_request),
        cmocka_unit_test(many_callers),
        cmocka_unit_test(clients_take_turns),
        cmocka_unit_test(bulk_leaves_a_worker),
        cmocka_unit_test(closing_waits_for_the_callback),
        cmocka_unit_test(a_full_queue_refuses),
        cmocka_unit_test(late_requests_fail),
        cmocka_unit_test(unwanted_lines_are_left),
        cmocka_unit_test(draining_has_a_limit),
        cmocka_unit_test(bad_text_is_refused),
        cmocka_unit_test(failures_stay_at_home),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(closing_cancels),
        cmocka_unit_test(draining_turns_callers_away),
        cmocka_unit_test(a_call_can_be_stopped),
        cmocka_unit_test(streams_end_and_stop),
        cmocka_unit_test(streams_name_the_line),
        cmocka_unit_test(documents_go_together),
    };
    const struct CMUnitTest again[] = {
        cmocka_unit_test(many_callers),
        cmocka_unit_test(late_requests_fail),
        cmocka_unit_test(failures_stay_at_home),
        cmocka_unit_test(closing_cancels),
        cmocka_unit_test(draining_turns_callers_away),
        cmocka_unit_test(every_allocation_may_fail),
    };
    const int failed = cmocka_run_group_tests(tests, open_all, close_all);
    remember = 1 << 20;
    return failed + cmocka_run_group_tests_name("with remembered lines", again, open_all, close_all);
}
