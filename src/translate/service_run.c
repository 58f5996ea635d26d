/* Lines of a source, and documents, through a service: parts are handed in one after another and taken back in the same
 * order. */
#include "base/base.h"
#include "translate/service_parts.h"

enum { PART = 64, PARTS = 3 };
static const double TICK = 0.05;

/* Lines that are handed in together. */
typedef struct part {
    ganz_request *request;
    ganz_line lines[PART];
    uint64_t numbers[PART];
    int count;
} part;

typedef struct run {
    ganz_service *service;
    const ganz_line_stream *stream;
    ganz_request_options options;
    double end;  /* of the time for it; 0: none */
    part *parts; /* (PARTS) */
    int first, under_way;
} run;

static bool goes_on(const run *r) { return !r->stream->go_on || r->stream->go_on(r->stream->context); }

/* A failure of a line of the part becomes one of its number. */
static ganz_status locate(const part *p, ganz_status status, ganz_error *err)
{
    if (status != GANZ_OK && err->line > 0) err->line = (long long)p->numbers[err->line - 1] + 1;
    return status;
}

/* Hands in the next lines, if there are any. */
static ganz_status hand_in(run *r, part *p, ganz_error *err)
{
    ganz_request_options o = r->options;
    p->count = 0;
    GANZ_TRY(r->stream->fill(r->stream->context, p->lines, p->numbers, PART, &p->count, err));
    if (p->count == 0) return GANZ_OK;
    const double left = r->end - ganz_service_now();
    if (r->end > 0) o.seconds = left > 1e-3 ? left : 1e-3;
    return locate(p, ganz_service_submit(r->service, p->lines, p->count, &o, &p->request, err), err);
}

static ganz_status take_back(run *r, part *p, ganz_error *err)
{
    const ganz_result *results;
    while (!ganz_request_await(p->request, TICK))
        if (!goes_on(r)) ganz_request_cancel(p->request);
    ganz_status status = locate(p, ganz_request_wait(p->request, &results, err), err);
    if (status == GANZ_OK) status = r->stream->put(r->stream->context, p->numbers, results, p->count, err);
    ganz_request_close(&p->request);
    if (status == GANZ_OK && !goes_on(r)) return ganz_fail(err, GANZ_ESTOPPED, "stopped");
    return status;
}

static ganz_status go(run *r, ganz_error *err)
{
    for (;;) {
        part *const p = &r->parts[(r->first + r->under_way) % PARTS];
        if (r->under_way < PARTS) {
            GANZ_TRY(hand_in(r, p, err));
            if (p->count > 0) r->under_way++;
            if (p->count > 0 && r->under_way < PARTS) continue;
        }
        if (r->under_way == 0) return GANZ_OK;
        GANZ_TRY(take_back(r, &r->parts[r->first], err));
        r->first = (r->first + 1) % PARTS;
        r->under_way--;
    }
}

ganz_status ganz_service_run(ganz_service *service, const ganz_line_stream *stream, const ganz_request_options *options,
                             ganz_error *err)
{
    run r = {.service = service, .stream = stream, .parts = ganz_alloc(PARTS, sizeof *r.parts)};
    if (!r.parts) return ganz_fail(err, GANZ_ENOMEM, "out of memory for lines on their way");
    if (options) r.options = *options;
    r.options.done = NULL;
    if (r.options.seconds > 0) r.end = ganz_service_now() + r.options.seconds;
    ganz_error why = {0};
    const ganz_status status = go(&r, &why);
    if (status != GANZ_OK && err) *err = why;
    for (int i = 0; i < PARTS; i++) ganz_request_close(&r.parts[i].request);
    ganz_free(r.parts);
    return status;
}

/* ---- documents ---------------------------------------------------------------------------------- */

/* A sentence's number for the stream is that of its document, and behind it its own. */
enum { NUMBER_BITS = 40 };

typedef struct documents {
    ganz_document *const *documents;
    int count, next; /* next: the first that may not be finished */
    const ganz_documents_options *options;
} documents;

static ganz_status fill_sentences(void *context, ganz_line *lines, uint64_t *numbers, int most, int *count,
                                  ganz_error *err)
{
    documents *const d = context;
    size_t done;
    while (d->next < d->count && ganz_document_segments(d->documents[d->next], &done) == done) d->next++;
    for (int i = d->next; i < d->count && *count < most;) {
        ganz_segment s;
        GANZ_TRY(ganz_document_next(d->documents[i], &s, err));
        if (!s.text) {
            i++;
            continue;
        }
        ganz_line line = d->options->line;
        line.text = s.text;
        line.bytes = s.bytes;
        line.unlinked = !s.links;
        if (line.formality == GANZ_FORMALITY_AUTO) line.formality = s.formality;
        lines[*count] = line;
        numbers[(*count)++] = (uint64_t)i << NUMBER_BITS | s.number;
    }
    return GANZ_OK;
}

static ganz_status put_sentences(void *context, const uint64_t *numbers, const ganz_result *results, int count,
                                 ganz_error *err)
{
    const documents *const d = context;
    const ganz_documents_options *const o = d->options;
    for (int i = 0; i < count; i++) {
        const int document = (int)(numbers[i] >> NUMBER_BITS);
        const size_t number = numbers[i] & ((UINT64_C(1) << NUMBER_BITS) - 1);
        if (o->see) GANZ_TRY(o->see(o->context, document, number, &results[i], err));
        GANZ_TRY(ganz_document_put(d->documents[document], number, &results[i].best[0], err));
    }
    return GANZ_OK;
}

static bool tell(void *context)
{
    const documents *const d = context;
    size_t all = 0, done = 0;
    for (int i = 0; i < d->count; i++) {
        size_t some;
        all += ganz_document_segments(d->documents[i], &some);
        done += some;
    }
    return d->options->go_on(d->options->context, done, all);
}

ganz_status ganz_service_documents(ganz_service *service, ganz_document *const *all, int count,
                                   const ganz_documents_options *options, ganz_error *err)
{
    documents d = {.documents = all, .count = count, .options = options};
    const ganz_line_stream stream = {fill_sentences, put_sentences, options->go_on ? tell : NULL, &d};
    if (options->go_on && !tell(&d)) return ganz_fail(err, GANZ_ESTOPPED, "stopped");
    const ganz_status status = ganz_service_run(service, &stream, &options->request, err);
    if (status != GANZ_OK && err && err->line > 0) err->line = ((err->line - 1) >> NUMBER_BITS) + 1;
    return status;
}
