/* A service over a small integer model, and what its answers must be: what the tests of services share. */
#ifndef GANZ_TESTS_SERVICES_H
#define GANZ_TESTS_SERVICES_H

#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "ganz/io.h"
#include "ganz/service.h"

#define OK(call) assert_int_equal((call), GANZ_OK)

enum { LINES = 200, LENGTH = 16 };

/* Lines of text, and what one translator makes of each by itself. An integer model says the same in any company. */
static char *texts[LINES], *expected[LINES];
static double scores[LINES];
static ganz_model *model;
static size_t remember; /* of services that tests open */

static inline ganz_line line_of(int i) { return (ganz_line){.text = texts[i], .bytes = strlen(texts[i])}; }

static inline int open_all(void **state)
{
    (void)state;
    ganz_lines *lines;
    ganz_translator *t;
    ganz_translator_options o;
    ganz_translator_defaults(&o);
    o.max_length = LENGTH;
    OK(ganz_model_open(&model, GANZ_TESTS_DIR "/golden/integer/int8.safetensors", NULL));
    OK(ganz_lines_open(&lines, GANZ_TESTS_DIR "/data/tatoeba.en", NULL));
    OK(ganz_translator_open(&t, model, &o, NULL));
    for (int i = 0; i < LINES; i++) {
        const char *text;
        size_t bytes;
        const ganz_result *results;
        OK(ganz_lines_next(lines, &text, &bytes, NULL));
        texts[i] = strndup(text, bytes);
        const ganz_line line = line_of(i);
        OK(ganz_translate(t, &line, 1, &results, NULL));
        expected[i] = strdup(results[0].best[0].text);
        scores[i] = results[0].best[0].score;
    }
    ganz_translator_close(&t);
    ganz_lines_close(&lines);
    return 0;
}

static inline int close_all(void **state)
{
    (void)state;
    for (int i = 0; i < LINES; i++) free(texts[i]), free(expected[i]);
    ganz_model_close(&model);
    return 0;
}

static inline ganz_service *open_service(int workers, long long max_lines)
{
    ganz_service *s;
    ganz_error err = {0};
    ganz_service_options o;
    ganz_service_defaults(&o);
    o.workers = workers;
    o.max_lines = max_lines;
    o.translator.max_length = LENGTH;
    o.translator.batch_tokens = 400; /* some ten lines */
    o.remember = remember;
    if (ganz_service_open(&s, model, &o, &err) != GANZ_OK) fail_msg("%s", err.message);
    return s;
}

static inline ganz_request *submit(ganz_service *s, int first, int count, const ganz_request_options *o)
{
    ganz_request *r;
    ganz_error err = {0};
    ganz_line lines[LINES] = {{0}};
    for (int i = 0; i < count; i++) lines[i] = line_of((first + i) % LINES);
    if (ganz_service_submit(s, lines, count, o, &r, &err) != GANZ_OK) fail_msg("%s", err.message);
    return r;
}

static inline bool is_right(const ganz_result *results, int first, int count)
{
    for (int i = 0; i < count; i++) {
        const int at = (first + i) % LINES;
        if (results[i].count != 1 || strcmp(results[i].best[0].text, expected[at]) != 0) return false;
        if (results[i].best[0].bytes != strlen(expected[at]) || results[i].best[0].score != scores[at]) return false;
    }
    return true;
}

static inline void expect_right(ganz_request *r, int first, int count)
{
    const ganz_result *results;
    ganz_error err = {0};
    if (ganz_request_wait(r, &results, &err) != GANZ_OK) fail_msg("%s", err.message);
    assert_true(ganz_request_is_finished(r));
    assert_true(is_right(results, first, count));
    ganz_request_close(&r);
    assert_null(r);
}

/* Keeps the only worker of a service in a callback, so that what is handed in meanwhile waits. */
typedef struct gate {
    atomic_bool held, open;
} gate;

static inline void nap(long milliseconds) { nanosleep(&(struct timespec){.tv_nsec = 1000000 * milliseconds}, NULL); }

static inline void hold_worker(void *context, ganz_request *r)
{
    gate *const g = context;
    ganz_request_close(&r);
    atomic_store(&g->held, true);
    while (!atomic_load(&g->open)) nap(1);
}

static inline void shut(gate *g, ganz_service *s)
{
    const ganz_request_options o = {.client = 99, .done = hold_worker, .context = g};
    atomic_init(&g->held, false);
    atomic_init(&g->open, false);
    submit(s, 0, 1, &o);
    while (!atomic_load(&g->held)) nap(1);
}

#endif
