/* A ring of documents. The reader adds them at one end; workers take sentences from the oldest that have some, so that
 * a translator has full batches even where documents are short; whole ones are written at the other end, in order. */
#include "documents.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 256, MOST_LINES = 1024 };

typedef struct slot {
    ganz_text text; /* of the document, as it came */
    ganz_document *document;
    char *name;    /* for messages */
    char *path;    /* an output that begins with this document, or NULL */
    size_t flying; /* sentences that are being translated */
    bool done;
    ganz_text out;
} slot;

/* Sentences on their way through one translator. */
typedef struct batch {
    ganz_line lines[MOST_LINES];
    slot *slots[MOST_LINES];
    size_t numbers[MOST_LINES];
    int count;
} batch;

struct cli_documents {
    cli_documents_options options;
    const ganz_model *model;
    ganz_cache *cache;
    pthread_t threads[MOST_THREADS];
    int started, opened;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    slot *ring; /* document n lives in ring[n % slots] */
    long long slots, added, written;
    char *path; /* the output of the next document, if it is another one */
    bool ended, failed;
    ganz_error err; /* of the first failure */
    ganz_output *out;
    bool talking; /* somebody reads while we write */
    cli_progress *progress;
    long long bytes_written, sentences;
    char unit[64];
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
    if (told.status != GANZ_ENOMEM) snprintf(err->message, sizeof err->message, "%.200s: %.180s", name, told.message);
    return told.status;
}

/* ---- writing, under the lock -------------------------------------------------------------------- */

static ganz_status begin_output(cli_documents *d, slot *s, ganz_error *err)
{
    if (!s->path) return GANZ_OK;
    ganz_status status = d->out ? ganz_output_finish(&d->out, err) : GANZ_OK;
    if (status == GANZ_OK) status = ganz_output_open(&d->out, s->path, err);
    d->talking = strcmp(s->path, "-") == 0;
    free(s->path);
    s->path = NULL;
    return status;
}

static void show_progress(cli_documents *d)
{
    cli_progress *const p = d->progress;
    const double seconds = cli_seconds() - p->started;
    if (p->total > 0) {
        p->plain = true;
        p->unit = d->unit;
        p->left =
            d->bytes_written > 0 ? seconds * (double)(p->total - d->bytes_written) / (double)d->bytes_written : -1;
        snprintf(d->unit, sizeof d->unit, "sentences, %d%%", (int)(100 * d->bytes_written / p->total));
    }
    cli_progress_show(p, d->sentences);
}

static void empty_slot(slot *s)
{
    ganz_document_close(&s->document);
    ganz_text_free(&s->text);
    ganz_text_free(&s->out);
    free(s->name);
    free(s->path);
    *s = (slot){0};
}

/* Writes what is next in order. */
static ganz_status write_slots(cli_documents *d, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    while (status == GANZ_OK && d->written < d->added && d->ring[d->written % d->slots].done) {
        slot *const s = &d->ring[d->written % d->slots];
        status = begin_output(d, s, err);
        if (status == GANZ_OK) status = ganz_output_write(d->out, s->out.text, s->out.bytes, err);
        if (status == GANZ_OK && d->talking) status = ganz_output_flush(d->out, err);
        d->bytes_written += (long long)s->text.bytes;
        d->sentences += (long long)ganz_document_segments(s->document, NULL);
        empty_slot(s);
        d->written++;
        show_progress(d);
        pthread_cond_broadcast(&d->changed);
    }
    return status;
}

static ganz_status finish_if_done(slot *s, ganz_error *err)
{
    size_t done;
    if (s->flying > 0 || ganz_document_segments(s->document, &done) > done) return GANZ_OK;
    const ganz_status status = ganz_document_write(s->document, &s->out, err);
    s->done = status == GANZ_OK;
    return status == GANZ_OK ? GANZ_OK : of_file(s->name, err);
}

/* ---- sentences, under the lock ------------------------------------------------------------------ */

/* Answers a sentence from the cache; *found says whether it could. */
static ganz_status look_up(cli_documents *d, slot *s, size_t number, const ganz_line *line, bool *found,
                           ganz_error *err)
{
    ganz_translation t = {0};
    ganz_status status = d->cache ? ganz_cache_find(d->cache, line, &t, err) : GANZ_OK;
    *found = status == GANZ_OK && t.text;
    return *found ? ganz_document_put(s->document, number, &t, err) : status;
}

static ganz_status take_sentences(cli_documents *d, batch *b, slot *s, ganz_error *err)
{
    while (b->count < d->options.most_lines) {
        ganz_segment segment;
        bool found;
        ganz_status status = ganz_document_next(s->document, &segment, err);
        if (status != GANZ_OK || !segment.text) return status;
        const ganz_line line = {.text = segment.text, .bytes = segment.bytes, .unlinked = !segment.links};
        status = look_up(d, s, segment.number, &line, &found, err);
        if (status != GANZ_OK) return status;
        if (found) continue;
        b->lines[b->count] = line;
        b->slots[b->count] = s;
        b->numbers[b->count++] = segment.number;
        s->flying++;
    }
    return GANZ_OK;
}

static ganz_status fill_batch(cli_documents *d, batch *b, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    b->count = 0;
    for (long long i = d->written; i < d->added && status == GANZ_OK && b->count < d->options.most_lines; i++) {
        slot *const s = &d->ring[i % d->slots];
        if (s->done) continue;
        status = take_sentences(d, b, s, err);
        if (status == GANZ_OK) status = finish_if_done(s, err); /* nothing in it to translate, or all from the cache */
    }
    return status == GANZ_OK ? write_slots(d, err) : status;
}

static ganz_status put_results(cli_documents *d, const batch *b, const ganz_result *results, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    for (int i = 0; i < b->count && status == GANZ_OK; i++) {
        const ganz_translation *const best = &results[i].best[0];
        b->slots[i]->flying--;
        if (d->cache) status = ganz_cache_add(d->cache, &b->lines[i], best, err);
        if (status == GANZ_OK) status = ganz_document_put(b->slots[i]->document, b->numbers[i], best, err);
    }
    if (status == GANZ_OK && d->cache) status = ganz_cache_flush(d->cache, err);
    for (int i = 0; i < b->count && status == GANZ_OK; i++)
        if (!b->slots[i]->done) status = finish_if_done(b->slots[i], err);
    return status == GANZ_OK ? write_slots(d, err) : status;
}

/* ---- workers ------------------------------------------------------------------------------------ */

/* Sentences to translate, or none when there will be no more. */
static void wait_for_batch(cli_documents *d, batch *b)
{
    for (;;) {
        ganz_error err;
        b->count = 0;
        if (d->failed) return;
        if (fill_batch(d, b, &err) != GANZ_OK) fail(d, &err);
        if (b->count > 0 || d->failed || (d->ended && d->written == d->added)) return;
        pthread_cond_wait(&d->changed, &d->lock);
    }
}

static void translate_batches(cli_documents *d, ganz_translator *t, batch *b)
{
    for (wait_for_batch(d, b); b->count > 0 && !d->failed; wait_for_batch(d, b)) {
        const ganz_result *results;
        ganz_error err;
        pthread_mutex_unlock(&d->lock);
        ganz_status status = ganz_translate(t, b->lines, b->count, &results, &err);
        pthread_mutex_lock(&d->lock);
        if (status == GANZ_OK && !d->failed) status = put_results(d, b, results, &err);
        if (status != GANZ_OK) fail(d, &err);
        pthread_cond_broadcast(&d->changed);
    }
}

static void *work(void *context)
{
    cli_documents *const d = context;
    ganz_translator *t = NULL;
    ganz_error err;
    batch *const b = malloc(sizeof *b);
    ganz_status status = b ? ganz_translator_open(&t, d->model, &d->options.translator, &err) : out_of_memory(&err);
    pthread_mutex_lock(&d->lock);
    d->opened++;
    if (status != GANZ_OK) fail(d, &err);
    pthread_cond_broadcast(&d->changed);
    if (status == GANZ_OK) translate_batches(d, t, b);
    pthread_mutex_unlock(&d->lock);
    ganz_translator_close(&t);
    free(b);
    return NULL;
}

/* ---- open and close ----------------------------------------------------------------------------- */

/* Whatever is refused is refused before the input is asked for. */
static ganz_status start_workers(cli_documents *d, ganz_error *err)
{
    while (d->started < d->options.threads && pthread_create(&d->threads[d->started], NULL, work, d) == 0) d->started++;
    if (d->started == 0) return out_of_memory(err);
    pthread_mutex_lock(&d->lock);
    while (d->opened < d->started && !d->failed) pthread_cond_wait(&d->changed, &d->lock);
    if (d->failed) *err = d->err;
    const ganz_status status = d->failed ? d->err.status : GANZ_OK;
    pthread_mutex_unlock(&d->lock);
    return status;
}

ganz_status cli_documents_open(cli_documents **documents, const ganz_model *model, const cli_documents_options *options,
                               cli_progress *progress, ganz_error *err)
{
    cli_documents *const d = *documents = calloc(1, sizeof *d);
    if (!d) return out_of_memory(err);
    d->options = *options;
    d->options.translator.alignment = true; /* for marks; lines say whether they want links */
    d->model = model;
    d->progress = progress;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    d->slots = 4 * options->threads + 4;
    d->ring = calloc((size_t)d->slots, sizeof *d->ring);
    ganz_status status = d->ring ? GANZ_OK : out_of_memory(err);
    if (status == GANZ_OK && options->cache)
        status = ganz_cache_open(&d->cache, options->cache, options->model_path, &d->options.translator, err);
    if (status == GANZ_OK) status = start_workers(d, err);
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
    for (int i = 0; i < d->started; i++) pthread_join(d->threads[i], NULL);
    for (long long i = 0; d->ring && i < d->slots; i++) empty_slot(&d->ring[i]);
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

/* Takes the text over and opens the document in it. */
static ganz_status fill_slot(cli_documents *d, slot *s, ganz_text *text, const char *format, const char *name,
                             ganz_error *err)
{
    ganz_document_options o = d->options.document;
    if (format) o.format = format;
    o.path = name;
    *s = (slot){.text = *text, .path = d->path, .name = copy_of(name)};
    *text = (ganz_text){0};
    d->path = NULL;
    if (!s->name) return out_of_memory(err);
    const ganz_status status = ganz_document_open(&s->document, s->text.text, s->text.bytes, &o, err);
    return status == GANZ_OK ? GANZ_OK : of_file(name, err);
}

ganz_status cli_documents_add(cli_documents *d, ganz_text *text, const char *format, const char *name, ganz_error *err)
{
    slot s;
    ganz_status status = fill_slot(d, &s, text, format, name, err);
    if (status != GANZ_OK) {
        d->path = s.path; /* of the next one */
        s.path = NULL;
        empty_slot(&s);
        return status;
    }
    pthread_mutex_lock(&d->lock);
    while (d->added - d->written == d->slots && !d->failed) pthread_cond_wait(&d->changed, &d->lock);
    if (d->failed) {
        *err = d->err;
        status = d->err.status;
        empty_slot(&s);
    } else {
        d->ring[d->added++ % d->slots] = s;
    }
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
    return status;
}

void cli_documents_wait(cli_documents *d)
{
    pthread_mutex_lock(&d->lock);
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
