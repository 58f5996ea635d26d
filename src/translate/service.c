/* The public calls of a service: opening and closing it, and the life of a request, from handing it in to its results.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"
#include "ganz/io.h"
#include "translate/decode.h"
#include "translate/service_parts.h"
#include "translate/translator.h"

enum { GPU_WORKERS = 3, MOST_WORKERS = 256, LINES_A_WORKER = 1024, BYTES_A_WORKER = 4 << 20 };

double ganz_service_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* pthread_cond_wait, at most until `deadline` of our clock; 0: as long as it takes. */
static void wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, double deadline)
{
    if (!(deadline > 0)) {
        pthread_cond_wait(cond, lock);
        return;
    }
    const double whole = floor(deadline);
    const struct timespec until = {.tv_sec = (time_t)whole, .tv_nsec = (long)((deadline - whole) * 1e9)};
    pthread_cond_timedwait(cond, lock, &until);
}

static void open_condition(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* ---- open and close ----------------------------------------------------------------------------- */

void ganz_service_defaults(ganz_service_options *o)
{
    *o = (ganz_service_options){.workers = 0};
    ganz_translator_defaults(&o->translator);
    o->translator.batch_tokens = 0;
}

static ganz_status check_options(ganz_service_options *o, ganz_error *err)
{
    const bool gpu = o->translator.device && strcmp(o->translator.device, "cpu") != 0;
    if (o->translator.batch_tokens == 0) o->translator.batch_tokens = gpu ? GANZ_BATCH_TOKENS_GPU : GANZ_BATCH_TOKENS;
    /* While the search of one batch runs on the CPU, the GPU works on the others. */
    if (o->workers == 0)
        o->workers = gpu ? GPU_WORKERS : ganz_cpu_count() < MOST_WORKERS ? ganz_cpu_count() : MOST_WORKERS;
    if (o->workers < 1 || o->workers > MOST_WORKERS)
        return ganz_fail(err, GANZ_EINVAL, "workers must be 1 to %d, not %d", MOST_WORKERS, o->workers);
    if (o->max_lines < 0) return ganz_fail(err, GANZ_EINVAL, "a queue cannot hold %lld lines", o->max_lines);
    if (o->max_lines == 0) o->max_lines = (long long)LINES_A_WORKER * o->workers;
    if (o->max_bytes == 0) o->max_bytes = (size_t)BYTES_A_WORKER * (size_t)o->workers;
    return GANZ_OK;
}

/* One reference less; the last one frees the service. The lock is held, and released. */
static void release_service(ganz_service *s)
{
    const bool last = --s->references == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last) return;
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->room);
    pthread_cond_destroy(&s->quiet);
    pthread_mutex_destroy(&s->lock);
    ganz_repeats_close(&s->repeats);
    ganz_free(s->workers);
    ganz_free(s);
}

/* A model whose sums are floats may say a score's last digits otherwise in another batch: it is asked each time. */
static ganz_status open_repeats(ganz_service *s, ganz_error *err)
{
    const ganz_net *const net = &s->model->net;
    if (s->options.remember == 0) return GANZ_OK;
    for (int i = 0; i < net->products; i++)
        if (!s->model->info.integer || !ganz_product_rule(&net->product[i])->integer) return GANZ_OK;
    return ganz_repeats_open(&s->repeats, s->options.remember, err);
}

static ganz_status start_workers(ganz_service *s, ganz_error *err)
{
    s->workers = ganz_alloc((size_t)s->options.workers, sizeof *s->workers);
    if (!s->workers) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %d workers", s->options.workers);
    for (; s->started < s->options.workers; s->started++) {
        ganz_service_worker *const w = &s->workers[s->started];
        w->service = s;
        if (pthread_create(&w->thread, NULL, ganz_service_work, w) != 0)
            return ganz_fail(err, GANZ_ENOMEM, "cannot start worker %d of %d", s->started + 1, s->options.workers);
    }
    pthread_mutex_lock(&s->lock);
    while (s->opened < s->started) pthread_cond_wait(&s->quiet, &s->lock);
    const ganz_error why = s->err;
    pthread_mutex_unlock(&s->lock);
    return why.status == GANZ_OK ? GANZ_OK : ganz_fail(err, why.status, "%s", why.message);
}

ganz_status ganz_service_open(ganz_service **service, const ganz_model *model, const ganz_service_options *options,
                              ganz_error *err)
{
    ganz_service_options o;
    ganz_service_defaults(&o);
    if (options) o = *options;
    *service = NULL;
    GANZ_TRY(check_options(&o, err));
    ganz_service *s = ganz_alloc(1, sizeof *s);
    if (!s) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a service");
    *s = (ganz_service){.model = model, .options = o, .references = 1, .bytes_per_token = 4};
    pthread_mutex_init(&s->lock, NULL);
    open_condition(&s->work);
    open_condition(&s->room);
    open_condition(&s->quiet);
    ganz_status status = open_repeats(s, err);
    if (status == GANZ_OK) status = start_workers(s, err);
    if (status != GANZ_OK) ganz_service_close(&s);
    *service = s;
    return status;
}

ganz_status ganz_service_drain(ganz_service *s, double seconds, ganz_error *err)
{
    const double deadline = seconds >= 0 ? ganz_service_now() + seconds : 0;
    pthread_mutex_lock(&s->lock);
    s->draining = true;
    pthread_cond_broadcast(&s->room);
    while (s->unfinished > 0 && !(deadline > 0 && ganz_service_now() >= deadline))
        wait_until(&s->quiet, &s->lock, deadline);
    const long long left = s->unfinished;
    pthread_mutex_unlock(&s->lock);
    return left == 0 ? GANZ_OK : ganz_fail(err, GANZ_ETIMEOUT, "%lld requests are not finished", left);
}

/* Requests that still wait; those that workers have end with their batches. */
static void cancel_waiting(ganz_service *s, ganz_request **done)
{
    ganz_error err;
    ganz_fail(&err, GANZ_ESTOPPED, "the service was closed");
    while (s->turn) ganz_request_finish(s->turn->first, &err, done);
}

void ganz_service_close(ganz_service **service)
{
    ganz_service *const s = *service;
    ganz_request *done = NULL;
    *service = NULL;
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->draining = s->closing = true;
    for (int i = 0; i < s->started; i++) ganz_flag_set(&s->workers[i].stop);
    pthread_cond_broadcast(&s->work);
    pthread_cond_broadcast(&s->room);
    cancel_waiting(s, &done);
    ganz_service_call_done(s, &done);
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < s->started; i++) pthread_join(s->workers[i].thread, NULL);
    pthread_mutex_lock(&s->lock);
    release_service(s);
}

void ganz_service_get_stats(ganz_service *s, ganz_service_stats *stats)
{
    pthread_mutex_lock(&s->lock);
    *stats = s->stats;
    stats->workers = s->options.workers;
    stats->idle = s->idle;
    pthread_mutex_unlock(&s->lock);
}

/* ---- handing in --------------------------------------------------------------------------------- */

static void free_request(ganz_request *r)
{
    for (int i = 0; r->blocks && i < r->count; i++) ganz_free(r->blocks[i]);
    pthread_cond_destroy(&r->changed);
    ganz_free((void *)(uintptr_t)r->lines);
    ganz_free(r->results);
    ganz_free(r->blocks);
    ganz_free(r->taken);
    ganz_free(r);
}

static ganz_status check_lines(const ganz_line *lines, int count, size_t *bytes, ganz_error *err)
{
    *bytes = 0;
    if (count < 0 || (count > 0 && !lines)) return ganz_fail(err, GANZ_EINVAL, "no lines to translate");
    for (int i = 0; i < count; i++) {
        const ganz_line *const l = &lines[i];
        if (!ganz_utf8_valid(l->text, l->bytes))
            return ganz_fail_line(err, GANZ_EINVAL, i + 1, "the text is not UTF-8");
        if (l->prefix && !ganz_utf8_valid(l->prefix, l->prefix_bytes))
            return ganz_fail_line(err, GANZ_EINVAL, i + 1, "the prefix is not UTF-8");
        *bytes += l->bytes + (l->prefix ? l->prefix_bytes : 0);
    }
    return GANZ_OK;
}

/* The lines, with their texts behind them in the same block. NULL: out of memory. */
static ganz_line *copy_lines(const ganz_line *lines, int count, size_t bytes)
{
    ganz_line *const copy = ganz_alloc(1, (size_t)count * sizeof *copy + bytes);
    char *text = (char *)(copy + count);
    for (int i = 0; copy && i < count; i++) {
        copy[i] = lines[i];
        if (lines[i].bytes > 0) memcpy(text, lines[i].text, lines[i].bytes);
        copy[i].text = text;
        text += lines[i].bytes;
        if (!lines[i].prefix) continue;
        if (lines[i].prefix_bytes > 0) memcpy(text, lines[i].prefix, lines[i].prefix_bytes);
        copy[i].prefix = text;
        text += lines[i].prefix_bytes;
    }
    return copy;
}

static ganz_status make_request(ganz_request **request, const ganz_line *lines, int count,
                                const ganz_request_options *options, ganz_error *err)
{
    size_t bytes;
    GANZ_TRY(check_lines(lines, count, &bytes, err));
    ganz_request *const r = ganz_alloc(1, sizeof *r);
    if (!r) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a request");
    *r = (ganz_request){.count = count, .bytes = bytes, .waiting = count, .left = count, .holders = 1};
    if (options) r->options = *options;
    open_condition(&r->changed);
    r->lines = copy_lines(lines, count, bytes);
    r->results = ganz_alloc((size_t)count, sizeof *r->results);
    r->blocks = ganz_alloc((size_t)count, sizeof *r->blocks);
    r->taken = ganz_alloc((size_t)count, sizeof *r->taken);
    *request = r;
    if (r->lines && r->results && r->blocks && r->taken) return GANZ_OK;
    free_request(r);
    *request = NULL;
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for a request of %d lines", count);
}

static bool has_room(const ganz_service *s, const ganz_request *r)
{
    const ganz_service_stats *const now = &s->stats;
    if (now->lines_inside == 0) return true;
    return now->lines_inside + r->count <= s->options.max_lines && now->bytes_inside + r->bytes <= s->options.max_bytes;
}

/* Waits for room, if the request wants that. The lock is held. */
static ganz_status find_room(ganz_service *s, const ganz_request *r, ganz_error *err)
{
    for (;;) {
        if (s->draining) return ganz_fail(err, GANZ_ESTOPPED, "the service is closing");
        if (has_room(s, r)) return GANZ_OK;
        if (r->options.refuse) break;
        if (r->deadline > 0 && ganz_service_now() >= r->deadline)
            return ganz_fail(err, GANZ_ETIMEOUT, "the request took too long to get in");
        wait_until(&s->room, &s->lock, r->deadline);
    }
    s->stats.refused++;
    return ganz_fail(err, GANZ_EBUSY, "no room: %lld lines are waiting or being translated", s->stats.lines_inside);
}

/* The lock is held. */
static ganz_status admit(ganz_service *s, ganz_request *r, ganz_request **done, ganz_error *err)
{
    r->service = s;
    r->submitted = ganz_service_now();
    r->deadline = r->options.seconds > 0 ? r->submitted + r->options.seconds : 0;
    GANZ_TRY(find_room(s, r, err));
    if (r->count > 0 && !ganz_queue_add(s, r)) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a client");
    s->references++;
    s->unfinished++;
    s->stats.accepted++;
    s->stats.lines_inside += r->count;
    s->stats.bulk_inside += r->options.bulk ? r->count : 0;
    s->stats.bytes_inside += r->bytes;
    if (r->count == 0) ganz_request_finish(r, NULL, done);
    if (r->count > 1) pthread_cond_broadcast(&s->work);
    else pthread_cond_signal(&s->work);
    return GANZ_OK;
}

ganz_status ganz_service_submit(ganz_service *s, const ganz_line *lines, int count, const ganz_request_options *options,
                                ganz_request **request, ganz_error *err)
{
    ganz_request *r, *done = NULL;
    *request = NULL;
    GANZ_TRY(make_request(&r, lines, count, options, err));
    pthread_mutex_lock(&s->lock);
    s->references++;
    const ganz_status status = admit(s, r, &done, err);
    if (status == GANZ_OK) *request = r;
    ganz_service_call_done(s, &done);
    release_service(s);
    if (status != GANZ_OK) free_request(r);
    return status;
}

/* ---- finishing ---------------------------------------------------------------------------------- */

static long long *counter_of(ganz_service_stats *stats, ganz_status status)
{
    switch (status) {
    case GANZ_OK: return &stats->done;
    case GANZ_ESTOPPED: return &stats->cancelled;
    case GANZ_ETIMEOUT: return &stats->late;
    default: return &stats->failed;
    }
}

void ganz_request_finish(ganz_request *r, const ganz_error *err, ganz_request **done)
{
    ganz_service *const s = r->service;
    ganz_queue_remove(s, r);
    if (err) r->err = *err;
    r->finished = true;
    ++*counter_of(&s->stats, r->err.status);
    s->unfinished--;
    s->stats.lines_inside -= r->count;
    s->stats.bulk_inside -= r->options.bulk ? r->count : 0;
    s->stats.bytes_inside -= r->bytes;
    pthread_cond_broadcast(&r->changed);
    pthread_cond_broadcast(&s->room);
    if (s->unfinished == 0) pthread_cond_broadcast(&s->quiet);
    if (err) ganz_workers_stop_unwanted(s);
    if (!r->options.done || r->closed) return;
    r->holders++;
    r->next_done = *done;
    *done = r;
}

bool ganz_request_give(ganz_request *r, int line, ganz_result result, void *block, ganz_request **done)
{
    const bool wanted = !r->finished;
    if (wanted) {
        r->results[line] = result;
        r->blocks[line] = block;
        if (--r->left == 0) ganz_request_finish(r, NULL, done);
    } else {
        ganz_free(block);
    }
    ganz_request_release(r);
    return wanted;
}

void ganz_request_release(ganz_request *r)
{
    if (--r->holders == 0) {
        r->service->references--; /* not the last: whoever calls this has one, or is a worker of it */
        free_request(r);
    }
}

void ganz_service_call_done(ganz_service *s, ganz_request **done)
{
    while (*done) {
        ganz_request *const r = *done;
        *done = r->next_done;
        if (!r->closed) {
            r->calling = true;
            r->caller = pthread_self();
            pthread_mutex_unlock(&s->lock);
            r->options.done(r->options.context, r);
            pthread_mutex_lock(&s->lock);
            r->calling = false;
            pthread_cond_broadcast(&r->changed);
        }
        ganz_request_release(r);
    }
}

/* ---- requests ----------------------------------------------------------------------------------- */

/* Finishes a request whose time is over. */
static void end_late(ganz_request *r, ganz_request **done)
{
    ganz_error err;
    if (r->finished || !(r->deadline > 0) || ganz_service_now() < r->deadline) return;
    ganz_fail(&err, GANZ_ETIMEOUT, "the request took too long");
    ganz_request_finish(r, &err, done);
}

ganz_status ganz_request_wait(ganz_request *r, const ganz_result **results, ganz_error *err)
{
    ganz_service *const s = r->service;
    ganz_request *done = NULL;
    *results = NULL;
    pthread_mutex_lock(&s->lock);
    s->references++;
    for (;;) {
        end_late(r, &done);
        if (r->finished) break;
        wait_until(&r->changed, &s->lock, r->deadline);
    }
    const ganz_status status = r->err.status;
    if (status == GANZ_OK) *results = r->results;
    else if (err) *err = r->err;
    ganz_service_call_done(s, &done);
    release_service(s);
    return status;
}

bool ganz_request_await(ganz_request *r, double seconds)
{
    ganz_service *const s = r->service;
    ganz_request *done = NULL;
    const double until = ganz_service_now() + seconds;
    pthread_mutex_lock(&s->lock);
    s->references++;
    for (;;) {
        end_late(r, &done);
        if (r->finished || ganz_service_now() >= until) break;
        wait_until(&r->changed, &s->lock, r->deadline > 0 && r->deadline < until ? r->deadline : until);
    }
    const bool finished = r->finished;
    ganz_service_call_done(s, &done);
    release_service(s);
    return finished;
}

bool ganz_request_is_finished(ganz_request *r)
{
    pthread_mutex_lock(&r->service->lock);
    const bool finished = r->finished;
    pthread_mutex_unlock(&r->service->lock);
    return finished;
}

static void cancel(ganz_request *r, ganz_request **done)
{
    ganz_error err;
    if (r->finished) return;
    ganz_fail(&err, GANZ_ESTOPPED, "the request was cancelled");
    ganz_request_finish(r, &err, done);
}

void ganz_request_cancel(ganz_request *r)
{
    ganz_request *done = NULL;
    ganz_service *const s = r->service;
    pthread_mutex_lock(&s->lock);
    s->references++; /* `done` may close the request */
    cancel(r, &done);
    ganz_service_call_done(s, &done);
    release_service(s);
}

void ganz_request_close(ganz_request **request)
{
    ganz_request *const r = *request;
    ganz_request *done = NULL;
    *request = NULL;
    if (!r) return;
    ganz_service *const s = r->service;
    pthread_mutex_lock(&s->lock);
    s->references++;
    while (r->calling && !pthread_equal(r->caller, pthread_self())) pthread_cond_wait(&r->changed, &s->lock);
    r->closed = true;
    cancel(r, &done);
    ganz_request_release(r);
    release_service(s);
}
