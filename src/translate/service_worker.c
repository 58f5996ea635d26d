/* Workers of a service: a batch of lines goes through a translator, and each line's results to its request. If a batch
 * fails, requests are tried by themselves, so that nobody fails for another's line. */
#include <string.h>

#include "base/surroundings.h"
#include "translate/service_parts.h"
#include "translate/translator.h"

/* ---- results ------------------------------------------------------------------------------------ */

static size_t result_bytes(const ganz_result *result)
{
    size_t bytes = (size_t)result->count * sizeof *result->best;
    for (int i = 0; i < result->count; i++)
        bytes += (size_t)result->best[i].link_count * sizeof *result->best[i].links +
                 (size_t)result->best[i].token_count * sizeof *result->best[i].tokens + result->best[i].bytes + 1;
    return bytes;
}

/* Translations, then all links, all scores of tokens, all texts. */
bool ganz_result_copy(const ganz_result *from, ganz_result *to, void **block)
{
    ganz_translation *const best = *block = ganz_alloc(1, result_bytes(from));
    if (!best) return false;
    ganz_link *links = (ganz_link *)(best + from->count);
    for (int i = 0; i < from->count; i++) {
        best[i] = from->best[i];
        best[i].links = from->best[i].links ? links : NULL;
        if (best[i].link_count > 0) memcpy(links, from->best[i].links, (size_t)best[i].link_count * sizeof *links);
        links += best[i].link_count;
    }
    ganz_token_score *tokens = (ganz_token_score *)links;
    for (int i = 0; i < from->count; i++) {
        best[i].tokens = from->best[i].tokens ? tokens : NULL;
        if (best[i].token_count > 0) memcpy(tokens, from->best[i].tokens, (size_t)best[i].token_count * sizeof *tokens);
        tokens += best[i].token_count;
    }
    char *text = (char *)tokens;
    for (int i = 0; i < from->count; i++) {
        best[i].text = memcpy(text, from->best[i].text, from->best[i].bytes + 1);
        text += from->best[i].bytes + 1;
    }
    *to = (ganz_result){best, from->count};
    return true;
}

/* A line gets its result; block NULL: there is no memory for it. The lock is held. */
static bool give(const ganz_batch_line *b, ganz_result result, void *block, ganz_request **done)
{
    ganz_request *const r = b->request;
    if (block) return ganz_request_give(r, b->line, result, block, done);
    ganz_error err;
    ganz_fail_line(&err, GANZ_ENOMEM, b->line + 1, "out of memory for a translation");
    if (!r->finished) ganz_request_finish(r, &err, done);
    ganz_request_release(r);
    return false;
}

/* Lines that waited for a result get it, and it is remembered. The lock is held. */
static void repeat_result(ganz_service *s, ganz_repeat *repeat, const ganz_result *result, ganz_request **done)
{
    ganz_batch_line other = {0};
    ganz_result copy = {0};
    void *block;
    while (ganz_repeat_next(repeat, &other.request, &other.line)) {
        ganz_result_copy(result, &copy, &block);
        s->stats.repeated += give(&other, copy, block, done);
    }
    if (ganz_result_copy(result, &copy, &block))
        ganz_repeats_keep(s->repeats, repeat, copy, block, result_bytes(result));
    else ganz_repeats_drop(s->repeats, repeat);
}

static void deliver(ganz_service_worker *w, const ganz_batch_line *b, const ganz_result *result, ganz_request **done)
{
    ganz_result copy = {0};
    void *block;
    ganz_result_copy(result, &copy, &block);
    pthread_mutex_lock(&w->service->lock);
    w->service->stats.lines += give(b, copy, block, done);
    if (b->repeat) repeat_result(w->service, b->repeat, result, done);
    pthread_mutex_unlock(&w->service->lock);
}

/* ---- batches ------------------------------------------------------------------------------------ */

/* A line that waits for one that leaves the batch takes its place. False: none does. The lock is held. */
static bool promote(ganz_service *s, ganz_batch_line *b)
{
    if (!b->repeat) return false;
    while (ganz_repeat_next(b->repeat, &b->request, &b->line)) {
        if (!b->request->finished) return true;
        ganz_request_release(b->request);
    }
    ganz_repeats_drop(s->repeats, b->repeat);
    b->repeat = NULL;
    return false;
}

/* The request of line `at` of the batch fails, and its lines leave the batch. Returns how many lines are left. */
static int drop_request(ganz_service_worker *w, int at, int count, const ganz_error *err, ganz_request **done)
{
    ganz_request *const r = w->batch[at].request;
    ganz_error own = *err;
    int left = 0;
    if (err->line > 0) own.line = w->batch[at].line + 1; /* of the request, not of the batch */
    pthread_mutex_lock(&w->service->lock);
    if (!r->finished) ganz_request_finish(r, &own, done);
    for (int i = 0; i < count; i++) {
        const bool leaves = w->batch[i].request == r;
        if (!leaves || promote(w->service, &w->batch[i])) w->batch[left++] = w->batch[i];
        if (leaves) ganz_request_release(r);
    }
    pthread_mutex_unlock(&w->service->lock);
    return left;
}

/* Behind a stop: all of it if the service closes, else the requests that were finished meanwhile. */
static int drop_unwanted(ganz_service_worker *w, int count, const ganz_error *err, ganz_request **done)
{
    for (int i = 0; i < count;) {
        pthread_mutex_lock(&w->service->lock);
        const bool leaves = w->service->closing || w->batch[i].request->finished;
        pthread_mutex_unlock(&w->service->lock);
        if (leaves) {
            count = drop_request(w, i, count, err, done);
            i = 0; /* a line that waited for one of it may have come to any place before */
        } else {
            i++;
        }
    }
    return count;
}

/* Moves the lines of the first line's request to the front; returns how many these are. */
static int gather_first(ganz_service_worker *w, int count)
{
    int own = 1;
    for (int i = 1; i < count; i++) {
        if (w->batch[i].request != w->batch[0].request) continue;
        const ganz_batch_line line = w->batch[i];
        w->batch[i] = w->batch[own];
        w->batch[own++] = line;
    }
    return own;
}

/* Counts a batch that was translated, and corrects the guess of tokens by it. */
static void note_batch(const ganz_service_worker *w, int count, double seconds)
{
    ganz_service *const s = w->service;
    const double weight = 0.1, tokens = (double)ganz_translator_tokens(w->translator);
    double bytes = 0;
    for (int i = 0; i < count; i++) bytes += (double)w->lines[i].bytes;
    pthread_mutex_lock(&s->lock);
    s->stats.batches++;
    s->stats.source_tokens += (long long)tokens;
    s->stats.work_seconds += seconds;
    s->stats.line_seconds += (s->stats.line_seconds > 0 ? weight : 1) * (seconds / count - s->stats.line_seconds);
    s->bytes_per_token += weight * (bytes / (tokens + 1) - s->bytes_per_token);
    if (s->bytes_per_token < 0.25) s->bytes_per_token = 0.25;
    pthread_mutex_unlock(&s->lock);
}

static bool is_wanted(const ganz_service_worker *w)
{
    for (int i = 0; i < w->tried; i++)
        if (!w->batch[i].request->finished) return true;
    return w->tried == 0;
}

void ganz_workers_stop_unwanted(ganz_service *s)
{
    for (int i = 0; i < s->started; i++)
        if (!is_wanted(&s->workers[i])) ganz_flag_set(&s->workers[i].stop);
}

/* Says what the translator works at, so that others may stop it; 0: nothing any more. */
static void show_work(ganz_service_worker *w, int tried)
{
    pthread_mutex_lock(&w->service->lock);
    w->tried = tried;
    if (!w->service->closing && is_wanted(w)) ganz_flag_clear(&w->stop);
    else ganz_flag_set(&w->stop);
    pthread_mutex_unlock(&w->service->lock);
}

static ganz_status translate(ganz_service_worker *w, int count, ganz_request **done, ganz_error *err)
{
    const ganz_result *results;
    const double begun = ganz_service_now();
    for (int i = 0; i < count; i++) w->lines[i] = w->batch[i].request->lines[w->batch[i].line];
    show_work(w, count);
    const ganz_status status = ganz_translator_run(w->translator, w->lines, count, &results, err);
    show_work(w, 0);
    if (status != GANZ_OK) return status;
    note_batch(w, count, ganz_service_now() - begun);
    for (int i = 0; i < count; i++) deliver(w, &w->batch[i], &results[i], done);
    return GANZ_OK;
}

/* Every line of the batch gets a result, or its request an error. */
static void run_batch(ganz_service_worker *w, int count, ganz_request **done)
{
    bool together = true;
    while (count > 0) {
        ganz_error err = {0};
        const int tried = together ? count : gather_first(w, count);
        const ganz_status status = translate(w, tried, done, &err);
        if (status == GANZ_OK) {
            memmove(w->batch, w->batch + tried, (size_t)(count - tried) * sizeof *w->batch);
            count -= tried;
        } else if (err.line > 0) {
            count = drop_request(w, (int)err.line - 1, count, &err, done);
        } else if (status == GANZ_ESTOPPED) {
            count = drop_unwanted(w, count, &err, done);
        } else if (gather_first(w, tried) < tried) {
            together = false; /* it may have been any request's line */
        } else {
            count = drop_request(w, 0, count, &err, done);
        }
    }
}

/* ---- the thread --------------------------------------------------------------------------------- */

static void drop_late(ganz_service *s, ganz_request **done)
{
    ganz_error err;
    ganz_request *r;
    ganz_fail(&err, GANZ_ETIMEOUT, "the request took too long");
    while ((r = ganz_queue_late(s, ganz_service_now()))) ganz_request_finish(r, &err, done);
}

/* Takes a batch and runs it; the lock is held at both ends. False: there was none. */
static bool work_once(ganz_service_worker *w, ganz_request **done)
{
    ganz_service *const s = w->service;
    const int count = ganz_queue_take(s, w->batch, done);
    if (count == 0) return false;
    bool bulk = false;
    for (int i = 0; i < count; i++) bulk |= w->batch[i].request->options.bulk;
    s->idle--;
    s->bulk_workers += bulk;
    ganz_service_call_done(s, done); /* of requests that needed no batch */
    pthread_mutex_unlock(&s->lock);
    run_batch(w, count, done);
    pthread_mutex_lock(&s->lock);
    s->bulk_workers -= bulk;
    s->idle++;
    if (bulk && s->stats.lines_waiting > 0) pthread_cond_signal(&s->work); /* bulk lines may have waited for that */
    return true;
}

void *ganz_service_work(void *worker)
{
    GANZ_PLAIN_NUMBERS; /* a thread begins with the arithmetic of the one that made it */
    ganz_service_worker *const w = worker;
    ganz_service *const s = w->service;
    ganz_request *done = NULL;
    ganz_error err;
    ganz_translator_options o = s->options.translator;
    o.stop = &w->stop;
    const ganz_status status = ganz_translator_open(&w->translator, s->model, &o, &err);
    pthread_mutex_lock(&s->lock);
    if (status != GANZ_OK && s->err.status == GANZ_OK) s->err = err;
    s->opened++;
    s->idle++;
    pthread_cond_broadcast(&s->quiet);
    while (!s->closing) {
        drop_late(s, &done);
        const bool worked = work_once(w, &done);
        if (done) ganz_service_call_done(s, &done);
        else if (!worked && !s->closing) pthread_cond_wait(&s->work, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    ganz_translator_close(&w->translator); /* by the thread that opened it, as some devices want */
    return NULL;
}
