/* Sentences are handed in some hundred at a time, two such parts at once, so that workers never wait for the next one;
 * while a part is waited for, the caller is asked ten times a second whether it still wants the answer. */
#include "engine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PART = 128, PARTS = 2, TICK_NANOSECONDS = 100 * 1000 * 1000, SECOND = 1000 * 1000 * 1000 };

static ganz_status fail(ganz_error *err, ganz_status status, const char *sentence)
{
    *err = (ganz_error){.status = status};
    snprintf(err->message, sizeof err->message, "%s", sentence);
    return status;
}

/* ---- model and services ------------------------------------------------------------------------- */

ganz_status engine_open(engine *e, const char *path, const ganz_service_options *options, const char *glossary,
                        ganz_error *err)
{
    *e = (engine){.options = *options, .process = getpid()};
    ganz_status status = ganz_model_open(&e->model, path, err);
    if (status == GANZ_OK && glossary)
        status = ganz_glossary_parse(&e->glossary, glossary, strlen(glossary), "glossary", err);
    if (status == GANZ_OK) ganz_model_describe(e->model, &e->facts);
    if (status == GANZ_OK && options->translator.formality != GANZ_FORMALITY_AUTO && !e->facts.formality)
        status = fail(err, GANZ_EINVAL, "the model was not taught to translate formally or informally");
    if (status != GANZ_OK) engine_close(e);
    return status;
}

/* Services of another process have no threads here, and their locks may be held for ever: they are left behind. */
static void follow_fork(engine *e)
{
    if (e->process == getpid()) return;
    memset(e->services, 0, sizeof e->services);
    e->process = getpid();
}

void engine_close(engine *e)
{
    follow_fork(e);
    for (int i = 0; i <= ENGINE_MOST_BEAM; i++) ganz_service_close(&e->services[i]);
    ganz_glossary_close(&e->glossary);
    ganz_model_close(&e->model);
}

ganz_status engine_service(engine *e, int n_best, ganz_service **service, ganz_error *err)
{
    ganz_service_options o = e->options;
    follow_fork(e);
    if (n_best < 0 || n_best > o.translator.beam) return fail(err, GANZ_EINVAL, "n_best must be 1 to beam");
    o.translator.n_best = n_best > 0 ? n_best : 1;
    o.translator.alignment = o.translator.token_scores = true; /* lines say which of them they want */
    if (n_best > 0) o.translator.split = e->facts.source_language ? e->facts.source_language : "en";
    ganz_service **const slot = &e->services[n_best];
    const ganz_status status = *slot ? GANZ_OK : ganz_service_open(slot, e->model, &o, err);
    *service = *slot;
    return status;
}

/* ---- parts -------------------------------------------------------------------------------------- */

/* Lines that are handed in together. */
typedef struct part {
    ganz_request *request;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
    ganz_line lines[PART];
    int text[PART]; /* that a line belongs to, or its number */
    size_t numbers[PART];
    int count;
} part;

static void part_open(part *p)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void part_close(part *p)
{
    ganz_request_close(&p->request);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

static void on_done(void *context, ganz_request *request)
{
    part *const p = context;
    (void)request;
    pthread_mutex_lock(&p->lock);
    p->done = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

/* Waits for one tick at most; true: the part is done. */
static bool part_wait(part *p)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TICK_NANOSECONDS;
    until.tv_sec += until.tv_nsec / SECOND;
    until.tv_nsec %= SECOND;
    pthread_mutex_lock(&p->lock);
    while (!p->done && pthread_cond_timedwait(&p->changed, &p->lock, &until) == 0) {
    }
    const bool done = p->done;
    pthread_mutex_unlock(&p->lock);
    return done;
}

/* What both kinds of calls share: where lines come from and where their translations go. */
typedef struct run {
    const engine_call *call;
    ganz_status (*fill)(struct run *run, part *p, ganz_error *err); /* none: p->count 0 */
    ganz_status (*put)(struct run *run, const part *p, const ganz_result *results, ganz_error *err);
    void (*count)(const struct run *run, size_t *done, size_t *all);
    part parts[PARTS];
    engine_text *texts; /* documents */
    ganz_document **documents;
    int text_count;
    const ganz_line *lines; /* lines */
    int line_count, taken;
    int next; /* the first document that may not be finished; the first line that was not handed in */
} run;

static bool tick(const run *r)
{
    size_t done, all;
    r->count(r, &done, &all);
    return r->call->tick(r->call->context, done, all);
}

static ganz_status hand_in(const run *r, part *p, ganz_error *err)
{
    const ganz_request_options o = {.done = on_done, .context = p};
    p->done = false;
    return ganz_service_submit(r->call->service, p->lines, p->count, &o, &p->request, err);
}

static ganz_status take(run *r, part *p, ganz_error *err)
{
    const ganz_result *results;
    while (!part_wait(p))
        if (!tick(r)) ganz_request_cancel(p->request);
    ganz_status status = ganz_request_wait(p->request, &results, err);
    if (status != GANZ_OK && err->line > 0) err->line = p->text[err->line - 1] + 1;
    if (status == GANZ_OK) status = r->put(r, p, results, err);
    ganz_request_close(&p->request);
    if (status == GANZ_OK && !tick(r)) status = fail(err, GANZ_ESTOPPED, "stopped");
    return status;
}

/* Hands lines in and takes their translations, until there is none left. */
static ganz_status go(run *r, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    for (int i = 0; i < PARTS; i++) part_open(&r->parts[i]);
    for (int at = 0, busy = 0; status == GANZ_OK;) {
        part *const p = &r->parts[(at + busy) % PARTS];
        if (busy < PARTS) {
            p->count = 0;
            status = r->fill(r, p, err);
            if (status == GANZ_OK && p->count > 0) status = hand_in(r, p, err);
            if (status != GANZ_OK) break;
            busy += p->count > 0;
            if (p->count > 0 && busy < PARTS) continue;
        }
        if (busy == 0) break;
        status = take(r, &r->parts[at], err);
        at = (at + 1) % PARTS;
        busy--;
    }
    for (int i = 0; i < PARTS; i++) part_close(&r->parts[i]);
    return status;
}

/* ---- documents ---------------------------------------------------------------------------------- */

static bool is_finished(const ganz_document *d)
{
    size_t done;
    return ganz_document_segments(d, &done) == done;
}

/* The next sentences of all texts. */
static ganz_status fill_sentences(run *r, part *p, ganz_error *err)
{
    while (r->next < r->text_count && is_finished(r->documents[r->next])) r->next++;
    for (int i = r->next; i < r->text_count && p->count < PART;) {
        ganz_segment s;
        const ganz_status status = ganz_document_next(r->documents[i], &s, err);
        if (status != GANZ_OK) return status;
        if (!s.text) {
            i++;
            continue;
        }
        p->lines[p->count] = (ganz_line){.text = s.text, .bytes = s.bytes, .unlinked = !s.links, .unscored = true};
        p->text[p->count] = i;
        p->numbers[p->count++] = s.number;
    }
    return GANZ_OK;
}

static ganz_status put_sentences(run *r, const part *p, const ganz_result *results, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    for (int i = 0; i < p->count && status == GANZ_OK; i++)
        status = ganz_document_put(r->documents[p->text[i]], p->numbers[i], &results[i].best[0], err);
    return status;
}

static void count_sentences(const run *r, size_t *done, size_t *all)
{
    *done = *all = 0;
    for (int i = 0; i < r->text_count; i++) {
        size_t some;
        *all += ganz_document_segments(r->documents[i], &some);
        *done += some;
    }
}

static ganz_status open_documents(run *r, const ganz_document_options *options, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    int i = 0;
    for (; i < r->text_count && status == GANZ_OK; i++)
        status = ganz_document_open(&r->documents[i], r->texts[i].text, r->texts[i].bytes, options, err);
    if (status != GANZ_OK) err->line = i;
    return status;
}

ganz_status engine_documents(const engine *e, const engine_call *call, const ganz_document_options *options,
                             engine_text *texts, int count, ganz_error *err)
{
    ganz_document_options o = *options;
    if (e->facts.source_language) o.source = e->facts.source_language;
    if (e->facts.target_language) o.target = e->facts.target_language;
    o.glossary = e->glossary;
    run *const r = calloc(1, sizeof *r);
    ganz_document **const documents = calloc((size_t)count + 1, sizeof *documents);
    ganz_status status = r && documents ? GANZ_OK : fail(err, GANZ_ENOMEM, "out of memory");
    if (status == GANZ_OK) {
        *r = (run){.call = call, .fill = fill_sentences, .put = put_sentences, .count = count_sentences};
        r->texts = texts;
        r->documents = documents;
        r->text_count = count;
        status = open_documents(r, &o, err);
    }
    if (status == GANZ_OK) status = go(r, err);
    for (int i = 0; i < count && status == GANZ_OK; i++) status = ganz_document_write(documents[i], &texts[i].out, err);
    for (int i = 0; documents && i < count; i++) ganz_document_close(&documents[i]);
    free(documents);
    free(r);
    return status;
}

/* ---- lines -------------------------------------------------------------------------------------- */

static ganz_status fill_lines(run *r, part *p, ganz_error *err)
{
    (void)err;
    for (; r->next < r->line_count && p->count < PART; r->next++) {
        p->text[p->count] = r->next;
        p->lines[p->count++] = r->lines[r->next];
    }
    return GANZ_OK;
}

static ganz_status put_lines(run *r, const part *p, const ganz_result *results, ganz_error *err)
{
    r->taken += p->count;
    if (r->call->take(r->call->context, p->text[0], results, p->count)) return GANZ_OK;
    return fail(err, GANZ_ESTOPPED, "stopped");
}

static void count_lines(const run *r, size_t *done, size_t *all)
{
    *done = (size_t)r->taken;
    *all = (size_t)r->line_count;
}

ganz_status engine_lines(const engine_call *call, const ganz_line *lines, int count, ganz_error *err)
{
    run *const r = calloc(1, sizeof *r);
    if (!r) return fail(err, GANZ_ENOMEM, "out of memory");
    *r = (run){.call = call, .fill = fill_lines, .put = put_lines, .count = count_lines};
    r->lines = lines;
    r->line_count = count;
    const ganz_status status = go(r, err);
    free(r);
    return status;
}
