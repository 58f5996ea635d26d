/* A ring of documents. The reader adds them at one end and hands their sentences to a service, which makes full batches
 * even where documents are short; a second thread puts the answers in, and writes whole documents in order. */
#include "documents.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"

enum { CHUNK = 64, SLOTS_A_THREAD = 4, CHUNKS_A_THREAD = 32 };

/* Sentences of a document that are handed in together. */
typedef struct chunk {
    struct chunk *next;
    ganz_request *request;
    ganz_line lines[CHUNK]; /* their texts are the document's until they are put */
    size_t numbers[CHUNK];
    int count;
} chunk;

/* What a part of a text needs to know of the one before it. */
typedef struct passage {
    ganz_formality formality; /* of its last sentence */
    char before[96];          /* that sentence, if it is short enough to close a letter; terminated */
} passage;

typedef struct slot {
    ganz_text text;           /* of the document, as it came */
    ganz_formality formality; /* of the part before, or AUTO */
    char *before;             /* its last sentence, or NULL */
    passage end;              /* for the part behind */
    ganz_document *document;
    char *name;          /* for messages */
    char *path;          /* an output that begins with this document, or NULL */
    chunk *first, *last; /* handed in, in order */
    bool whole;          /* no more of them come from the reader */
    ganz_text out;
} slot;

struct cli_documents {
    cli_documents_options options;
    ganz_service *service;
    ganz_cache *cache;
    pthread_t writer;
    bool writes;          /* the writer was started */
    pthread_mutex_t lock; /* of what follows, of documents in the ring, and of the cache */
    pthread_cond_t changed;
    slot *ring; /* document n lives in ring[n % slots] */
    long long slots, added, written;
    long long under_way; /* chunks handed in whose answers nobody has taken yet */
    char *path;          /* the output of the next document, if it is another one */
    passage last;        /* of the last document that was added whole; the reader's */
    bool ended, failed;
    ganz_error err; /* of the first failure */
    ganz_output *out;
    bool to_stream; /* the output is read while we write */
    cli_progress *progress;
    long long bytes_written, sentences;
    cli_foreign foreign;
};

/* ---- failures ----------------------------------------------------------------------------------- */

static ganz_status out_of_memory(ganz_error *err)
{
    err->status = GANZ_ENOMEM;
    snprintf(err->message, sizeof err->message, "out of memory");
    return GANZ_ENOMEM;
}

static void fail(cli_documents *d, const ganz_error *err)
{
    if (!d->failed) d->err = *err;
    d->failed = true;
    pthread_cond_broadcast(&d->changed);
}

/* "name: sentence" */
static ganz_status of_file(const char *name, ganz_error *err)
{
    const ganz_error told = *err;
    if (strcmp(name, "-") == 0) name = "standard input";
    if (told.status != GANZ_ENOMEM) snprintf(err->message, sizeof err->message, "%.200s: %.180s", name, told.message);
    return told.status;
}

/* ---- sentences ---------------------------------------------------------------------------------- */

static void free_chunk(chunk *c)
{
    ganz_request_close(&c->request);
    free(c);
}

static void empty_slot(slot *s)
{
    while (s->first) {
        chunk *const c = s->first;
        s->first = c->next;
        free_chunk(c);
    }
    ganz_document_close(&s->document);
    ganz_text_free(&s->text);
    ganz_text_free(&s->out);
    free(s->name);
    free(s->path);
    free(s->before);
    *s = (slot){0};
}

/* Answers a sentence from the cache; *found says whether it could. */
static ganz_status look_up(cli_documents *d, slot *s, size_t number, const ganz_line *line, bool *found,
                           ganz_error *err)
{
    ganz_translation t = {0};
    ganz_status status = d->cache ? ganz_cache_find(d->cache, line, &t, err) : GANZ_OK;
    *found = status == GANZ_OK && t.text;
    return *found ? ganz_document_put(s->document, number, &t, err) : status;
}

/* A letter goes on as it opened, in whatever part that was. */
static void follow(slot *s, ganz_segment *segment)
{
    const size_t bytes = segment->bytes < sizeof s->end.before ? segment->bytes : 0;
    if (segment->formality == GANZ_FORMALITY_AUTO) segment->formality = s->formality;
    s->end.formality = segment->formality;
    memcpy(s->end.before, segment->text, bytes);
    s->end.before[bytes] = '\0';
}

/* The next sentences of a document that the cache does not know; none when there are no more now. */
static ganz_status fill_chunk(cli_documents *d, slot *s, chunk *c, ganz_error *err)
{
    while (c->count < CHUNK) {
        ganz_segment segment;
        bool found;
        ganz_status status = ganz_document_next(s->document, &segment, err);
        if (status != GANZ_OK || !segment.text) return status;
        cli_foreign_take(&d->foreign, segment.text, segment.bytes);
        follow(s, &segment);
        const ganz_line line = {
            .text = segment.text, .bytes = segment.bytes, .unlinked = !segment.links, .formality = segment.formality};
        status = look_up(d, s, segment.number, &line, &found, err);
        if (status != GANZ_OK) return status;
        if (found) continue;
        c->lines[c->count] = line;
        c->numbers[c->count++] = segment.number;
    }
    return GANZ_OK;
}

/* Takes sentences of a document and hands them in. *taken is NULL when there were none. */
static ganz_status submit_chunk(cli_documents *d, slot *s, chunk **taken, ganz_error *err)
{
    chunk *const c = *taken = calloc(1, sizeof *c);
    if (!c) return out_of_memory(err);
    pthread_mutex_lock(&d->lock);
    ganz_status status = fill_chunk(d, s, c, err);
    if (cli_foreign_is_full(&d->foreign)) cli_foreign_warn(&d->foreign, d->progress);
    pthread_mutex_unlock(&d->lock);
    if (status == GANZ_OK && c->count > 0)
        status = ganz_service_submit(d->service, c->lines, c->count, NULL, &c->request, err);
    if (status == GANZ_OK && c->count > 0) return GANZ_OK;
    free_chunk(c);
    *taken = NULL;
    return status;
}

/* A chunk that was handed in, or NULL after the last, for the writer. */
static ganz_status pass_on(cli_documents *d, slot *s, chunk *c, ganz_error *err)
{
    pthread_mutex_lock(&d->lock);
    const bool failed = d->failed;
    if (failed) *err = d->err;
    if (c) d->under_way++;
    if (!c) s->whole = true;
    else if (s->first) s->last = s->last->next = c;
    else s->first = s->last = c;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
    return failed ? err->status : GANZ_OK;
}

/* Waits for the translations of a chunk and puts them in the document. */
static ganz_status put_chunk(cli_documents *d, slot *s, chunk *c, ganz_error *err)
{
    const ganz_result *results;
    ganz_status status = ganz_request_wait(c->request, &results, err);
    pthread_mutex_lock(&d->lock);
    for (int i = 0; i < c->count && status == GANZ_OK; i++) {
        const ganz_translation *const best = &results[i].best[0];
        if (d->cache) status = ganz_cache_add(d->cache, &c->lines[i], best, err);
        if (status == GANZ_OK) status = ganz_document_put(s->document, c->numbers[i], best, err);
    }
    if (status == GANZ_OK && d->cache) status = ganz_cache_flush(d->cache, err);
    pthread_mutex_unlock(&d->lock);
    free_chunk(c);
    return status;
}

/* ---- the writer --------------------------------------------------------------------------------- */

static ganz_status begin_output(cli_documents *d, slot *s, ganz_error *err)
{
    if (!s->path) return GANZ_OK;
    ganz_status status = d->out ? ganz_output_finish(&d->out, err) : GANZ_OK;
    if (status == GANZ_OK) status = ganz_output_open(&d->out, s->path, err);
    d->to_stream = strcmp(s->path, "-") == 0;
    free(s->path);
    s->path = NULL;
    return status;
}

static bool has_failed(cli_documents *d)
{
    pthread_mutex_lock(&d->lock);
    const bool failed = d->failed;
    pthread_mutex_unlock(&d->lock);
    return failed;
}

/* The next chunk of a document; NULL: it is whole, or something has failed. */
static chunk *wait_for_chunk(cli_documents *d, slot *s)
{
    pthread_mutex_lock(&d->lock);
    while (!s->first && !s->whole && !d->failed) pthread_cond_wait(&d->changed, &d->lock);
    chunk *const c = d->failed ? NULL : s->first;
    if (c) s->first = c->next;
    if (c) d->under_way--;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
    return c;
}

/* Hands in the sentences that a document wants once more, after the reader is through with it. */
static ganz_status submit_again(cli_documents *d, slot *s, ganz_error *err)
{
    pthread_mutex_lock(&d->lock);
    const bool whole = s->whole;
    pthread_mutex_unlock(&d->lock);
    ganz_status status = GANZ_OK;
    for (chunk *c = NULL; whole && status == GANZ_OK;) {
        status = submit_chunk(d, s, &c, err);
        if (status != GANZ_OK || !c) break;
        status = pass_on(d, s, c, err);
    }
    return status;
}

/* Whether a document has chunks whose answers are still to be taken. */
static bool has_more(cli_documents *d, const slot *s)
{
    pthread_mutex_lock(&d->lock);
    const bool more = s->first && !d->failed;
    pthread_mutex_unlock(&d->lock);
    return more;
}

/* Puts all translations in as they come. */
static ganz_status complete(cli_documents *d, slot *s, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    do {
        for (chunk *c; status == GANZ_OK && (c = wait_for_chunk(d, s));) {
            status = put_chunk(d, s, c, err);
            if (status == GANZ_OK) status = submit_again(d, s, err);
        }
        if (status == GANZ_OK) status = submit_again(d, s, err);
    } while (status == GANZ_OK && has_more(d, s));
    return status;
}

static ganz_status write_document(cli_documents *d, slot *s, ganz_error *err)
{
    ganz_status status = ganz_document_write(s->document, &s->out, err);
    if (status != GANZ_OK) return of_file(s->name, err);
    status = begin_output(d, s, err);
    if (status == GANZ_OK) status = ganz_output_write(d->out, s->out.text, s->out.bytes, err);
    if (status == GANZ_OK && d->to_stream) status = ganz_output_flush(d->out, err);
    d->bytes_written += (long long)s->text.bytes;
    d->sentences += (long long)ganz_document_segments(s->document, NULL);
    if (d->options.bytes > 0) d->progress->share = (double)d->bytes_written / (double)d->options.bytes;
    cli_progress_show(d->progress, d->sentences);
    return status;
}

static void *write_documents(void *context)
{
    cli_documents *const d = context;
    pthread_mutex_lock(&d->lock);
    for (;;) {
        while (d->written == d->added && !d->ended && !d->failed) pthread_cond_wait(&d->changed, &d->lock);
        if (d->failed || d->written == d->added) break;
        slot *const s = &d->ring[d->written % d->slots];
        ganz_error err;
        pthread_mutex_unlock(&d->lock);
        ganz_status status = complete(d, s, &err);
        if (status == GANZ_OK && !has_failed(d)) status = write_document(d, s, &err);
        pthread_mutex_lock(&d->lock);
        if (status != GANZ_OK) fail(d, &err);
        if (d->failed) break;
        empty_slot(s);
        d->written++;
        pthread_cond_broadcast(&d->changed);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* ---- open and close ----------------------------------------------------------------------------- */

static ganz_status open_parts(cli_documents *d, const ganz_model *model, ganz_error *err)
{
    const cli_documents_options *const o = &d->options;
    d->slots = SLOTS_A_THREAD * ((o->service.workers ? o->service.workers : ganz_cpu_count()) + 1);
    d->ring = calloc((size_t)d->slots, sizeof *d->ring);
    if (!d->ring) return out_of_memory(err);
    ganz_status status = GANZ_OK;
    if (o->cache) status = ganz_cache_open(&d->cache, o->cache, o->model_path, &o->service.translator, err);
    /* whatever is refused is refused before the input is asked for */
    if (status == GANZ_OK) status = ganz_service_open(&d->service, model, &o->service, err);
    if (status != GANZ_OK) return status;
    d->writes = pthread_create(&d->writer, NULL, write_documents, d) == 0;
    return d->writes ? GANZ_OK : out_of_memory(err);
}

ganz_status cli_documents_open(cli_documents **documents, const ganz_model *model, const cli_documents_options *options,
                               cli_progress *progress, ganz_error *err)
{
    cli_documents *const d = *documents = calloc(1, sizeof *d);
    if (!d) return out_of_memory(err);
    d->options = *options;
    d->options.service.translator.alignment = true; /* for marks; lines say whether they want links */
    d->progress = progress;
    cli_foreign_start(&d->foreign, options->warn ? options->document.source : NULL);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    const ganz_status status = open_parts(d, model, err);
    if (status != GANZ_OK) cli_documents_close(documents);
    return status;
}

void cli_documents_close(cli_documents **documents)
{
    cli_documents *const d = *documents;
    *documents = NULL;
    if (!d) return;
    pthread_mutex_lock(&d->lock);
    d->failed |= d->written < d->added;
    d->ended = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
    if (d->writes) pthread_join(d->writer, NULL);
    for (long long i = 0; d->ring && i < d->slots; i++) empty_slot(&d->ring[i]);
    ganz_service_close(&d->service);
    free(d->ring);
    free(d->path);
    ganz_output_abandon(&d->out);
    ganz_cache_close(&d->cache);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* ---- adding ------------------------------------------------------------------------------------- */

static char *copy_of(const char *text)
{
    char *const copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

ganz_status cli_documents_output(cli_documents *d, const char *path, ganz_error *err)
{
    free(d->path);
    d->path = copy_of(path);
    return d->path ? GANZ_OK : out_of_memory(err);
}

void cli_documents_no_output(cli_documents *d)
{
    free(d->path);
    d->path = NULL;
}

/* A slot goes on where the document before it ended. */
static ganz_status go_on(const cli_documents *d, slot *s, ganz_error *err)
{
    s->formality = d->last.formality;
    s->end = d->last; /* of a part without sentences */
    s->before = copy_of(d->last.before);
    return s->before ? GANZ_OK : out_of_memory(err);
}

/* Takes the text over and opens the document in it. */
static ganz_status fill_slot(cli_documents *d, slot *s, ganz_text *text, const cli_document *what, ganz_error *err)
{
    ganz_document_options o = d->options.document;
    if (what->format) o.format = what->format;
    o.path = what->name;
    *s = (slot){.text = *text, .path = d->path, .name = copy_of(what->name)};
    *text = (ganz_text){0};
    d->path = NULL;
    if (!s->name) return out_of_memory(err);
    ganz_status status = what->goes_on ? go_on(d, s, err) : GANZ_OK;
    if (status != GANZ_OK) return status;
    if (what->goes_on) {
        o.opening = ""; /* whatever opened it is not in this part */
        o.before = s->before;
        o.before_bytes = strlen(s->before);
    }
    status = ganz_document_open(&s->document, s->text.text, s->text.bytes, &o, err);
    return status == GANZ_OK ? GANZ_OK : of_file(what->name, err);
}

/* Puts an open document into the ring. NULL: something has failed. */
static slot *enter(cli_documents *d, const slot *s, ganz_error *err)
{
    slot *place = NULL;
    pthread_mutex_lock(&d->lock);
    while (d->added - d->written == d->slots && !d->failed) pthread_cond_wait(&d->changed, &d->lock);
    if (d->failed) {
        *err = d->err;
    } else {
        place = &d->ring[d->added++ % d->slots];
        *place = *s;
        pthread_cond_broadcast(&d->changed);
    }
    pthread_mutex_unlock(&d->lock);
    return place;
}

/* Waits while so many answers are not taken yet that memory would grow. */
static void wait_for_answers(cli_documents *d)
{
    const long long most = CHUNKS_A_THREAD * (d->slots / SLOTS_A_THREAD);
    pthread_mutex_lock(&d->lock);
    while (d->under_way >= most && !d->failed) pthread_cond_wait(&d->changed, &d->lock);
    pthread_mutex_unlock(&d->lock);
}

ganz_status cli_documents_add(cli_documents *d, ganz_text *text, const cli_document *what, ganz_error *err)
{
    slot s;
    ganz_status status = fill_slot(d, &s, text, what, err);
    if (status != GANZ_OK) {
        d->path = s.path; /* of the next one */
        s.path = NULL;
        empty_slot(&s);
        return status;
    }
    slot *const place = enter(d, &s, err);
    if (!place) {
        empty_slot(&s);
        return err->status;
    }
    for (chunk *c = NULL;;) {
        wait_for_answers(d);
        status = submit_chunk(d, place, &c, err);
        if (!c) d->last = place->end; /* before the writer is through with it */
        if (status == GANZ_OK) status = pass_on(d, place, c, err);
        if (status != GANZ_OK || !c) return status;
    }
}

void cli_documents_wait(cli_documents *d)
{
    pthread_mutex_lock(&d->lock);
    cli_foreign_warn(&d->foreign, d->progress);
    while (d->written < d->added && !d->failed) pthread_cond_wait(&d->changed, &d->lock);
    pthread_mutex_unlock(&d->lock);
}

ganz_status cli_documents_end(cli_documents *d, ganz_error *err)
{
    cli_documents_wait(d);
    pthread_mutex_lock(&d->lock);
    const bool failed = d->failed;
    if (failed) *err = d->err;
    pthread_mutex_unlock(&d->lock);
    if (failed) return err->status;
    slot last = {.path = d->path}; /* an output that nothing was written to */
    d->path = NULL;
    const ganz_status status = begin_output(d, &last, err);
    return status == GANZ_OK && d->out ? ganz_output_finish(&d->out, err) : status;
}
