/* Texts of a request are documents that go through a service together, and through the next one of a chain. The library
 * does all that is about documents. */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

typedef struct run {
    const job *job;
    const server_model *model;
    bool rich;
    ganz_formality formality;
    double end; /* of the time for it; 0: none */
    job_text *texts;
    int count;
    ganz_document **documents;   /* (count) */
    ganz_document **alternative; /* (count * alternatives) */
} run;

double job_end(const job *j) { return j->end > 0 ? j->end : j->seconds > 0 ? now() + j->seconds : 0; }

/* Time that is left for a request; 0: as much as it takes. */
static double time_left(double end)
{
    const double left = end - now();
    return end == 0 ? 0 : left < 1e-3 ? 1e-3 : left;
}

/* What is given up for want of time is late, not cancelled. */
static ganz_status find_why(const job *j, double end, ganz_status status, ganz_error *err)
{
    if (status != GANZ_ESTOPPED || ganz_flag_is_set(j->gone) || end == 0 || now() < end) return status;
    return fail(err, GANZ_ETIMEOUT, "the translation takes too long");
}

/* Alternatives have documents of their own, all of whose sentences are out from the beginning. One that does not take a
 * translation, because something is lost in it, stays unfinished and is left out later. */
static ganz_status put_alternatives(void *context, int text, size_t number, const ganz_result *result, ganz_error *err)
{
    const run *const r = context;
    ganz_status status = GANZ_OK;
    for (int k = 0; k < r->job->alternatives && status == GANZ_OK; k++) {
        ganz_document *const d = r->alternative[text * r->job->alternatives + k];
        const int rank = k + 1 < result->count ? k + 1 : result->count - 1;
        status = ganz_document_put(d, number, &result->best[rank], err);
        if (status == GANZ_EINVAL) status = GANZ_OK; /* it has one from an attempt before */
    }
    return status;
}

static bool go_on(void *context, size_t done, size_t count)
{
    const run *const r = context;
    if (r->job->progress) r->job->progress(r->job->context, done, count);
    return !ganz_flag_is_set(r->job->gone);
}

static ganz_status translate(run *r, ganz_error *err)
{
    const job *const j = r->job;
    const ganz_documents_options o = {.request = {.client = j->client, .seconds = time_left(r->end), .bulk = j->bulk},
                                      .line = {.unscored = true, .n_best = r->rich ? 0 : 1, .formality = r->formality},
                                      .see = r->rich ? put_alternatives : NULL,
                                      .go_on = go_on,
                                      .context = r};
    const ganz_status status = ganz_service_documents(r->model->service, r->documents, r->count, &o, err);
    return find_why(j, r->end, status, err);
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
    o.path = j->path;
    o.source = r->model->source;
    o.target = r->model->target;
    o.newlines = j->newlines;
    o.glossary = j->glossary;
    for (int i = 0; i < r->count && status == GANZ_OK; i++) {
        const job_text *const t = &r->texts[i];
        o.format = t->format ? t->format : j->format;
        o.before = t->before;
        o.before_bytes = t->before_bytes;
        o.opening = t->opening;
        o.opening_bytes = t->opening_bytes;
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
    if (r->documents && r->alternative) status = open_documents(r, err);
    if (status == GANZ_OK) status = translate(r, err);
    if (status == GANZ_OK) status = write_documents(r, err);
    for (size_t i = 0; i < count && r->documents; i++) ganz_document_close(&r->documents[i]);
    for (size_t i = 0; i < alternatives && r->alternative; i++) ganz_document_close(&r->alternative[i]);
    free(r->documents);
    free(r->alternative);
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
    const double end = job_end(j);
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
    const double end = job_end(j);
    const ganz_request_options o = {.client = j->client, .seconds = time_left(end)};
    ganz_status status = ganz_service_submit(m->service, lines, count, &o, &request, err);
    while (status == GANZ_OK && !ganz_request_await(request, 0.05))
        if (ganz_flag_is_set(j->gone)) ganz_request_cancel(request);
    if (status == GANZ_OK) status = find_why(j, end, ganz_request_wait(request, &results, err), err);
    if (status == GANZ_OK) use(context, results);
    ganz_request_close(&request);
    return status;
}
