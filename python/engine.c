/* Services by how many results they give, and lines and documents through them. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    if (n_best < 0 || n_best > ENGINE_MOST_BEAM) return fail(err, GANZ_EINVAL, "n_best must be 1 to beam");
    o.translator.n_best = n_best > 0 ? n_best : 1;
    o.translator.alignment = o.translator.token_scores = true; /* lines say which of them they want */
    if (n_best > 0) o.translator.split = e->facts.source_language ? e->facts.source_language : "en";
    ganz_service **const slot = &e->services[n_best];
    const ganz_status status = *slot ? GANZ_OK : ganz_service_open(slot, e->model, &o, err);
    *service = *slot;
    return status;
}

/* ---- documents ---------------------------------------------------------------------------------- */

static bool tick_documents(void *context, size_t done, size_t all)
{
    const engine_call *const call = context;
    return call->tick(call->context, done, all);
}

static ganz_status open_documents(ganz_document **documents, const engine_text *texts, int count,
                                  const ganz_document_options *options, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    int i = 0;
    for (; i < count && status == GANZ_OK; i++)
        status = ganz_document_open(&documents[i], texts[i].text, texts[i].bytes, options, err);
    if (status != GANZ_OK) err->line = i;
    return status;
}

ganz_status engine_documents(const engine *e, const engine_call *call, const ganz_document_options *options,
                             engine_text *texts, int count, ganz_error *err)
{
    const ganz_documents_options how = {
        .line = {.unscored = true}, .go_on = tick_documents, .context = (void *)(uintptr_t)call};
    ganz_document_options o = *options;
    if (e->facts.source_language) o.source = e->facts.source_language;
    if (e->facts.target_language) o.target = e->facts.target_language;
    o.glossary = e->glossary;
    ganz_document **const documents = calloc((size_t)count + 1, sizeof *documents);
    if (!documents) return fail(err, GANZ_ENOMEM, "out of memory");
    ganz_status status = open_documents(documents, texts, count, &o, err);
    if (status == GANZ_OK) status = ganz_service_documents(call->service, documents, count, &how, err);
    for (int i = 0; i < count && status == GANZ_OK; i++) status = ganz_document_write(documents[i], &texts[i].out, err);
    for (int i = 0; i < count; i++) ganz_document_close(&documents[i]);
    free(documents);
    return status;
}

/* ---- lines -------------------------------------------------------------------------------------- */

typedef struct run {
    const engine_call *call;
    const ganz_line *lines;
    int count, next, taken; /* next: the first that was not handed in */
} run;

static ganz_status fill_lines(void *context, ganz_line *lines, uint64_t *numbers, int most, int *count, ganz_error *err)
{
    run *const r = context;
    (void)err;
    for (; r->next < r->count && *count < most; r->next++) {
        numbers[*count] = (uint64_t)r->next;
        lines[(*count)++] = r->lines[r->next];
    }
    return GANZ_OK;
}

static ganz_status put_lines(void *context, const uint64_t *numbers, const ganz_result *results, int count,
                             ganz_error *err)
{
    run *const r = context;
    r->taken += count;
    if (r->call->take(r->call->context, (int)numbers[0], results, count)) return GANZ_OK;
    return fail(err, GANZ_ESTOPPED, "stopped");
}

static bool tick_lines(void *context)
{
    const run *const r = context;
    return r->call->tick(r->call->context, (size_t)r->taken, (size_t)r->count);
}

ganz_status engine_lines(const engine_call *call, const ganz_line *lines, int count, ganz_error *err)
{
    run r = {.call = call, .lines = lines, .count = count};
    const ganz_line_stream stream = {fill_lines, put_lines, tick_lines, &r};
    return ganz_service_run(call->service, &stream, NULL, err);
}
