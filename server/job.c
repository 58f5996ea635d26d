/* Sentences of all texts of a request are handed in together, some dozen at a time and three such parts at once, so
 * that workers never wait for the next one. The library does all that is about documents. */
#include "job.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PART = 48, PARTS = 3 };

static ganz_status fail(ganz_error *err, ganz_status status, const char *sentence)
{
    *err = (ganz_error){.status = status};
    snprintf(err->message, sizeof err->message, "%s", sentence);
    return status;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- waiting for a request, or for its client to go --------------------------------------------- */

typedef struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
} waiter;

static void waiter_open(waiter *w)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    w->done = false;
}

static void waiter_close(waiter *w)
{
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

static void on_done(void *context, ganz_request *request)
{
    waiter *const w = context;
    (void)request;
    pthread_mutex_lock(&w->lock);
    w->done = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* False: nobody waits for the answer any more, or its time is over (`end`; 0: never). */
static bool waiter_wait(waiter *w, const ganz_flag *gone, double end)
{
    pthread_mutex_lock(&w->lock);
    while (!w->done && !ganz_flag_is_set(gone) && (end == 0 || now() < end)) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 50 * 1000 * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->changed, &w->lock, &until);
    }
    const bool done = w->done;
    pthread_mutex_unlock(&w->lock);
    return done;
}

/* ---- parts -------------------------------------------------------------------------------------- */

/* Sentences that are handed in together. */
typedef struct part {
    ganz_request *request;
    waiter waiter;
    ganz_line lines[PART];
    int text[PART]; /* of a sentence */
    size_t numbers[PART];
    int count;
} part;

typedef struct run {
    const job *job;
    const server_model *model;
    bool rich;
    ganz_formality formality;
    double end; /* of the time for it; 0: none */
    job_text *texts;
    int count, next;             /* texts; the first that may have sentences which were never handed out */
    ganz_document **documents;   /* (count) */
    ganz_document **alternative; /* (count * alternatives) */
    part *parts;                 /* (PARTS) */
} run;

static ganz_status hand_in(const run *r, part *p, ganz_error *err)
{
    const double left = r->end > 0 ? r->end - now() : 0;
    const ganz_request_options o = {.client = r->job->client,
                                    .seconds = r->end > 0 && left < 1e-3 ? 1e-3 : left,
                                    .bulk = r->job->bulk,
                                    .done = on_done,
                                    .context = &p->waiter};
    p->waiter.done = false;
    return ganz_service_submit(r->model->service, p->lines, p->count, &o, &p->request, err);
}

/* Waits for a request; what is given up for want of time is late, not cancelled. */
static ganz_status wait_for(const job *j, double end, waiter *w, ganz_request *request, const ganz_result **results,
                            ganz_error *err)
{
    if (!waiter_wait(w, j->gone, end)) ganz_request_cancel(request);
    const ganz_status status = ganz_request_wait(request, results, err);
    if (status != GANZ_ESTOPPED || ganz_flag_is_set(j->gone) || end == 0 || now() < end) return status;
    return fail(err, GANZ_ETIMEOUT, "the translation takes too long");
}

/* The next sentences of all texts. */
static ganz_status fill(run *r, part *p, ganz_error *err)
{
    p->count = 0;
    for (int i = r->next; i < r->count && p->count < PART;) {
        ganz_segment s;
        const ganz_status status = ganz_document_next(r->documents[i], &s, err);
        if (status != GANZ_OK) return status;
        if (!s.text) {
            i++;
            continue;
        }
        p->lines[p->count] = (ganz_line){.text = s.text,
                                         .bytes = s.bytes,
                                         .unlinked = !s.links,
                                         .unscored = true,
                                         .n_best = r->rich ? 0 : 1,
                                         .formality = r->formality};
        p->text[p->count] = i;
        p->numbers[p->count++] = s.number;
    }
    return GANZ_OK;
}

/* Alternatives have documents of their own, all of whose sentences are out from the beginning. One that does not take a
 * translation, because something is lost in it, stays unfinished and is left out later. */
static ganz_status put_alternatives(run *r, int text, size_t number, const ganz_result *result, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    for (int k = 0; k < r->job->alternatives && status == GANZ_OK; k++) {
        ganz_document *const d = r->alternative[text * r->job->alternatives + k];
        const int rank = k + 1 < result->count ? k + 1 : result->count - 1;
        status = ganz_document_put(d, number, &result->best[rank], err);
        if (status == GANZ_EINVAL) status = GANZ_OK; /* it has one from an attempt before */
    }
    return status;
}

static ganz_status put(run *r, part *p, const ganz_result *results, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    for (int i = 0; i < p->count && status == GANZ_OK; i++) {
        if (r->rich) status = put_alternatives(r, p->text[i], p->numbers[i], &results[i], err);
        if (status == GANZ_OK)
            status = ganz_document_put(r->documents[p->text[i]], p->numbers[i], &results[i].best[0], err);
    }
    return status;
}

static void tell_progress(const run *r)
{
    size_t all = 0, done = 0;
    if (!r->job->progress) return;
    for (int i = 0; i < r->count; i++) {
        size_t some;
        all += ganz_document_segments(r->documents[i], &some);
        done += some;
    }
    r->job->progress(r->job->context, done, all);
}

/* Hands sentences in and takes their translations, until there is none left. */
static ganz_status translate(run *r, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    tell_progress(r);
    for (int at = 0, busy = 0; status == GANZ_OK;) {
        part *const free_part = &r->parts[(at + busy) % PARTS];
        if (busy < PARTS) status = fill(r, free_part, err);
        if (status == GANZ_OK && busy < PARTS && free_part->count > 0) {
            status = hand_in(r, free_part, err);
            busy += status == GANZ_OK;
            if (busy < PARTS) continue;
        }
        if (status != GANZ_OK || busy == 0) break;
        const ganz_result *results;
        part *const p = &r->parts[at];
        status = wait_for(r->job, r->end, &p->waiter, p->request, &results, err);
        if (status == GANZ_OK) status = put(r, p, results, err);
        ganz_request_close(&p->request);
        at = (at + 1) % PARTS;
        busy--;
        tell_progress(r);
    }
    return status;
}

/* ---- one model ---------------------------------------------------------------------------------- */

static ganz_status open_alternative(ganz_document **d, const job_text *t, const ganz_document_options *o,
                                    ganz_error *err)
{
    ganz_segment s = {.text = ""};
    ganz_status status = ganz_document_open(d, t->text, t->bytes, o, err);
    while (status == GANZ_OK && s.text) status = ganz_document_next(*d, &s, err);
    return status;
}

static ganz_status open_documents(run *r, ganz_error *err)
{
    const job *const j = r->job;
    ganz_document_options o;
    ganz_status status = GANZ_OK;
    ganz_document_defaults(&o);
    o.format = j->format;
    o.path = j->path;
    o.source = r->model->source;
    o.target = r->model->target;
    o.newlines = j->newlines;
    o.glossary = j->glossary;
    for (int i = 0; i < r->count && status == GANZ_OK; i++) {
        const job_text *const t = &r->texts[i];
        status = ganz_document_open(&r->documents[i], t->text, t->bytes, &o, err);
        for (int k = 0; k < j->alternatives && r->rich && status == GANZ_OK; k++)
            status = open_alternative(&r->alternative[i * j->alternatives + k], t, &o, err);
    }
    return status;
}

static ganz_status write_documents(run *r, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    for (int i = 0; i < r->count && status == GANZ_OK; i++) {
        r->texts[i].out[0].bytes = 0;
        status = ganz_document_write(r->documents[i], &r->texts[i].out[0], err);
        for (int k = 0; k < r->job->alternatives && r->rich && status == GANZ_OK; k++) {
            ganz_document *const d = r->alternative[i * r->job->alternatives + k];
            size_t done;
            if (ganz_document_segments(d, &done) == done) status = ganz_document_write(d, &r->texts[i].out[1 + k], err);
        }
    }
    return status;
}

static ganz_status run_model(run *r, ganz_error *err)
{
    const size_t count = (size_t)r->count, alternatives = count * (size_t)r->job->alternatives;
    ganz_status status = fail(err, GANZ_ENOMEM, "out of memory");
    r->documents = calloc(count + 1, sizeof *r->documents);
    r->alternative = calloc(alternatives + 1, sizeof *r->alternative);
    r->parts = calloc(PARTS, sizeof *r->parts);
    for (int i = 0; i < PARTS && r->parts; i++) waiter_open(&r->parts[i].waiter);
    if (r->documents && r->alternative && r->parts) status = open_documents(r, err);
    if (status == GANZ_OK) status = translate(r, err);
    if (status == GANZ_OK) status = write_documents(r, err);
    for (int i = 0; i < PARTS && r->parts; i++) {
        ganz_request_close(&r->parts[i].request);
        waiter_close(&r->parts[i].waiter);
    }
    for (size_t i = 0; i < count && r->documents; i++) ganz_document_close(&r->documents[i]);
    for (size_t i = 0; i < alternatives && r->alternative; i++) ganz_document_close(&r->alternative[i]);
    free(r->documents);
    free(r->alternative);
    free(r->parts);
    return status;
}

/* What one model has written becomes the text of the next. */
static ganz_status pass_on(job_text *texts, int count, ganz_text *middle, ganz_error *err)
{
    for (int i = 0; i < count; i++) {
        ganz_text_free(&middle[i]);
        middle[i] = texts[i].out[0];
        texts[i].out[0] = (ganz_text){0};
        texts[i].text = middle[i].text ? middle[i].text : "";
        texts[i].bytes = middle[i].bytes;
        if (texts[i].bytes > GANZ_DOCUMENT_BYTES) return fail(err, GANZ_ELIMIT, "the text has become too long");
    }
    return GANZ_OK;
}

ganz_status job_run(const job *j, job_text *texts, int count, ganz_error *err)
{
    const double end = j->seconds > 0 ? now() + j->seconds : 0;
    ganz_text *const middle = calloc((size_t)count + 1, sizeof *middle);
    ganz_status status = middle ? GANZ_OK : fail(err, GANZ_ENOMEM, "out of memory");
    for (int i = 0; i < j->chain.count && status == GANZ_OK; i++) {
        const bool last = i == j->chain.count - 1;
        run r = {.job = j, .model = j->chain.models[i], .end = end, .texts = texts, .count = count};
        r.rich = last && j->alternatives > 0;
        if (last) r.formality = j->formality;
        status = run_model(&r, err);
        if (status == GANZ_OK && !last) status = pass_on(texts, count, middle, err);
    }
    for (int i = 0; i < count && middle; i++) ganz_text_free(&middle[i]);
    free(middle);
    return status;
}

ganz_status job_lines(const job *j, const ganz_line *lines, int count,
                      void (*use)(void *context, const ganz_result *results), void *context, ganz_error *err)
{
    const server_model *const m = j->chain.models[j->chain.count - 1];
    const ganz_result *results;
    ganz_request *request = NULL;
    const double end = j->seconds > 0 ? now() + j->seconds : 0;
    waiter w;
    waiter_open(&w);
    const ganz_request_options o = {.client = j->client, .seconds = j->seconds, .done = on_done, .context = &w};
    ganz_status status = ganz_service_submit(m->service, lines, count, &o, &request, err);
    if (status == GANZ_OK) status = wait_for(j, end, &w, request, &results, err);
    if (status == GANZ_OK) use(context, results);
    ganz_request_close(&request);
    waiter_close(&w);
    return status;
}
