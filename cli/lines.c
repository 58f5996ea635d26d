/* Lines through a service: one thread reads them and hands them in, another one writes the answers in order. */
#include "lines.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ganz/io.h"

enum { SLOT_LINES = 32, SLOT_BYTES = 1 << 18, SLOTS_A_THREAD = 64 };

typedef struct buffer {
    char *data;
    size_t bytes, capacity;
} buffer;

/* Lines that are read and handed in together; what pauses comes in smaller ones. */
typedef struct slot {
    buffer text;
    ganz_line lines[SLOT_LINES];
    size_t begin[SLOT_LINES], prefix[SLOT_LINES]; /* in text, while it may still move */
    int count;
    long long first;             /* number of the first line */
    unsigned long long position; /* in all input, in bytes */
    ganz_request *request;
} slot;

typedef struct job {
    const cli_lines_options *options;
    ganz_service *service;
    ganz_output *out;
    ganz_lines *lines, *prefixes;
    long long lines_read;
    unsigned long long total, before; /* bytes of all input, 0: unknown; of the files before this one */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    slot *ring; /* slot n is ring[n % slots] */
    long long slots, submitted, written;
    bool ended, failed;
    ganz_error err; /* of the first failure */
    cli_progress *progress;
    long long lines_written;
} job;

static ganz_status fail(ganz_error *err, ganz_status status, const char *name, const char *what)
{
    *err = (ganz_error){.status = status};
    snprintf(err->message, sizeof err->message, "%s%s", name, what);
    return status;
}

static ganz_status out_of_memory(ganz_error *err) { return fail(err, GANZ_ENOMEM, "", "out of memory"); }

/* ---- reading ------------------------------------------------------------------------------------ */

static ganz_status make_room(buffer *b, size_t more, ganz_error *err)
{
    if (b->capacity - b->bytes >= more) return GANZ_OK;
    const size_t capacity = 2 * (b->bytes + more);
    char *const data = realloc(b->data, capacity);
    if (!data) return out_of_memory(err);
    b->data = data;
    b->capacity = capacity;
    return GANZ_OK;
}

/* Appends the next line of a file; text that is not UTF-8 is repaired or refused, as the user wants. *more: there was
 * one. */
static ganz_status add_line(const job *j, slot *s, ganz_lines *from, bool *more, ganz_error *err)
{
    const char *text;
    size_t bytes, replaced;
    ganz_status status = ganz_lines_next(from, &text, &bytes, err);
    *more = status == GANZ_OK && text;
    if (!*more) return status;
    if (ganz_lines_number(from) == 1 && bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        text += 3;
        bytes -= 3;
    }
    const bool valid = ganz_utf8_valid(text, bytes);
    if (!valid && !j->options->replace_invalid) {
        err->status = GANZ_EINVAL;
        snprintf(err->message, sizeof err->message, "%s:%lld: not UTF-8", ganz_lines_name(from),
                 ganz_lines_number(from));
        return GANZ_EINVAL;
    }
    status = make_room(&s->text, valid ? bytes : 3 * bytes, err);
    if (status != GANZ_OK) return status;
    char *const end = s->text.data + s->text.bytes;
    if (!valid) bytes = ganz_utf8_repair(text, bytes, end, &replaced);
    else if (bytes > 0) memcpy(end, text, bytes);
    s->text.bytes += bytes;
    return GANZ_OK;
}

static ganz_status add_prefix(const job *j, slot *s, ganz_error *err)
{
    bool more;
    const ganz_status status = add_line(j, s, j->prefixes, &more, err);
    if (status != GANZ_OK || more) return status;
    return fail(err, GANZ_EINVAL, j->options->prefix, " has fewer lines than the input");
}

/* Fills a slot from the open file, up to where the input pauses; *more: the file has not ended. */
static ganz_status fill_slot(job *j, slot *s, bool *more, ganz_error *err)
{
    s->first = j->lines_read + 1;
    s->text.bytes = 0;
    for (s->count = 0; s->count < SLOT_LINES && s->text.bytes < SLOT_BYTES; s->count++) {
        if (s->count > 0 && !ganz_lines_ready(j->lines)) break;
        s->begin[s->count] = s->text.bytes;
        ganz_status status = add_line(j, s, j->lines, more, err);
        if (!*more) return status;
        s->prefix[s->count] = s->text.bytes;
        if (status == GANZ_OK && j->prefixes) status = add_prefix(j, s, err);
        if (status != GANZ_OK) return status;
    }
    return GANZ_OK;
}

static void point_lines(slot *s, bool prefixes)
{
    for (int i = 0; i < s->count; i++) {
        const size_t end = i + 1 < s->count ? s->begin[i + 1] : s->text.bytes;
        s->lines[i] = (ganz_line){.text = s->text.data + s->begin[i], .bytes = s->prefix[i] - s->begin[i]};
        if (prefixes && end > s->prefix[i]) {
            s->lines[i].prefix = s->text.data + s->prefix[i];
            s->lines[i].prefix_bytes = end - s->prefix[i];
        }
    }
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* Pharaoh's format: source-target, separated by spaces. */
static ganz_status write_links(job *j, const ganz_line *line, const ganz_translation *t, ganz_error *err)
{
    int count = 0;
    ganz_word_link *const words = malloc(((size_t)t->link_count + 1) * sizeof *words);
    if (!words) return out_of_memory(err);
    ganz_status status = ganz_word_links(line, t, words, &count, err);
    if (status == GANZ_OK) status = ganz_output_write(j->out, "\t", 1, err);
    for (int i = 0; i < count && status == GANZ_OK; i++)
        status = ganz_output_printf(j->out, err, "%s%d-%d", i ? " " : "", words[i].source, words[i].target);
    free(words);
    return status;
}

/* One for each word of the translation. */
static ganz_status write_word_scores(job *j, const ganz_translation *t, ganz_error *err)
{
    double *const scores = malloc((t->bytes / 2 + 1) * sizeof *scores);
    if (!scores) return out_of_memory(err);
    const int count = ganz_word_scores(t, scores);
    ganz_status status = ganz_output_write(j->out, "\t", 1, err);
    for (int i = 0; i < count && status == GANZ_OK; i++)
        status = ganz_output_printf(j->out, err, "%s%.4f", i ? " " : "", scores[i]);
    free(scores);
    return status;
}

static ganz_status write_translation(job *j, const slot *s, int line, const ganz_translation *t, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    if (j->options->service.translator.n_best > 1) status = ganz_output_printf(j->out, err, "%lld\t", s->first + line);
    if (j->options->scores && status == GANZ_OK) status = ganz_output_printf(j->out, err, "%.6f\t", t->score);
    if (status == GANZ_OK) status = ganz_output_write(j->out, t->text, t->bytes, err);
    if (j->options->service.translator.alignment && status == GANZ_OK) status = write_links(j, &s->lines[line], t, err);
    if (j->options->service.translator.token_scores && status == GANZ_OK) status = write_word_scores(j, t, err);
    return status == GANZ_OK ? ganz_output_write(j->out, "\n", 1, err) : status;
}

/* Of a line that could be read, only its prefix can be refused. */
static void name_prefix(const job *j, const slot *s, ganz_error *err)
{
    const ganz_error told = *err;
    if (!j->options->prefix || told.line == 0) return;
    snprintf(err->message, sizeof err->message, "%s:%lld: %.320s", j->options->prefix, s->first + told.line - 1,
             told.message);
}

static ganz_status write_slot(job *j, const slot *s, ganz_error *err)
{
    const ganz_result *results;
    ganz_status status = ganz_request_wait(s->request, &results, err);
    if (status != GANZ_OK) name_prefix(j, s, err);
    for (int i = 0; status == GANZ_OK && i < s->count; i++)
        for (int k = 0; status == GANZ_OK && k < results[i].count; k++)
            status = write_translation(j, s, i, &results[i].best[k], err);
    if (status == GANZ_OK && strcmp(j->options->out, "-") == 0) status = ganz_output_flush(j->out, err);
    return status;
}

/* The lock is held. */
static void fail_job(job *j, const ganz_error *err)
{
    if (!j->failed) j->err = *err;
    j->failed = true;
    pthread_cond_broadcast(&j->changed);
}

/* A thread: writes slots in order until all are written or something fails. */
static void *write_slots(void *context)
{
    job *const j = context;
    pthread_mutex_lock(&j->lock);
    for (;;) {
        while (j->written == j->submitted && !j->ended && !j->failed) pthread_cond_wait(&j->changed, &j->lock);
        if (j->failed || j->written == j->submitted) break;
        slot *const s = &j->ring[j->written % j->slots];
        pthread_mutex_unlock(&j->lock);
        ganz_error err;
        const ganz_status status = write_slot(j, s, &err);
        ganz_request_close(&s->request);
        j->lines_written += s->count;
        if (j->total > 0) j->progress->share = (double)s->position / (double)j->total;
        cli_progress_show(j->progress, j->lines_written);
        pthread_mutex_lock(&j->lock);
        if (status != GANZ_OK) fail_job(j, &err);
        j->written++;
        pthread_cond_broadcast(&j->changed);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

/* Waits until slot number `submitted` is free. False: something has failed. */
static bool wait_for_slot(job *j)
{
    pthread_mutex_lock(&j->lock);
    while (j->submitted - j->written == j->slots && !j->failed) pthread_cond_wait(&j->changed, &j->lock);
    const bool good = !j->failed;
    pthread_mutex_unlock(&j->lock);
    return good;
}

static ganz_status submit(job *j, slot *s, ganz_error *err)
{
    if (s->count == 0) return GANZ_OK;
    point_lines(s, j->prefixes != NULL);
    s->position = j->before + ganz_lines_position(j->lines);
    const ganz_status status = ganz_service_submit(j->service, s->lines, s->count, NULL, &s->request, err);
    if (status != GANZ_OK) return status;
    j->lines_read += s->count;
    pthread_mutex_lock(&j->lock);
    j->submitted++;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
    return GANZ_OK;
}

/* Hands in the lines that are open until they end or something fails. */
static ganz_status read_lines(job *j, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    for (bool more = true; more && status == GANZ_OK && wait_for_slot(j);) {
        slot *const s = &j->ring[j->submitted % j->slots];
        status = fill_slot(j, s, &more, err);
        if (status == GANZ_OK) status = submit(j, s, err);
    }
    j->before += ganz_lines_position(j->lines);
    ganz_lines_close(&j->lines);
    return status;
}

static ganz_status read_file(job *j, const char *path, ganz_error *err)
{
    const ganz_status status = ganz_lines_open(&j->lines, path, err);
    return status == GANZ_OK ? read_lines(j, err) : status;
}

static ganz_status read_text(job *j, ganz_error *err)
{
    const ganz_status status =
        ganz_lines_open_text(&j->lines, j->options->text, strlen(j->options->text), "--text", err);
    return status == GANZ_OK ? read_lines(j, err) : status;
}

static ganz_status end_prefixes(const job *j, ganz_error *err)
{
    const char *text = NULL;
    size_t bytes;
    const ganz_status status = j->prefixes ? ganz_lines_next(j->prefixes, &text, &bytes, err) : GANZ_OK;
    if (status != GANZ_OK || !text) return status;
    return fail(err, GANZ_EINVAL, j->options->prefix, " has more lines than the input");
}

static ganz_status read_all(job *j, const cli_list *files, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    if (j->options->prefix) status = ganz_lines_open(&j->prefixes, j->options->prefix, err);
    if (status == GANZ_OK && j->options->text) status = read_text(j, err);
    else if (status == GANZ_OK && files->count == 0) status = read_file(j, "-", err);
    for (int i = 0; i < files->count && status == GANZ_OK; i++) status = read_file(j, files->items[i], err);
    return status == GANZ_OK && !j->failed ? end_prefixes(j, err) : status;
}

/* One thread writes while this one reads. */
static ganz_status run_threads(job *j, const cli_list *files, ganz_error *err)
{
    pthread_t writer;
    if (pthread_create(&writer, NULL, write_slots, j) != 0) return out_of_memory(err);
    const ganz_status status = read_all(j, files, err);
    pthread_mutex_lock(&j->lock);
    if (status != GANZ_OK) fail_job(j, err);
    j->ended = true;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
    pthread_join(writer, NULL);
    if (j->failed) *err = j->err;
    return j->failed ? err->status : GANZ_OK;
}

/* Bytes of all input; 0 where a pipe or a terminal is among it. */
static unsigned long long input_bytes(const cli_list *files)
{
    unsigned long long total = 0;
    struct stat info;
    for (int i = 0; i < (files->count ? files->count : 1); i++) {
        const char *const path = files->count ? files->items[i] : "-";
        const int status = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &info) : stat(path, &info);
        if (status != 0 || !S_ISREG(info.st_mode)) return 0;
        total += (unsigned long long)info.st_size;
    }
    return total;
}

static ganz_status open_job(job *j, const ganz_model *model, ganz_error *err)
{
    const int workers = j->options->service.workers;
    j->slots = SLOTS_A_THREAD * (workers ? workers : ganz_cpu_count());
    j->ring = calloc((size_t)j->slots, sizeof *j->ring);
    if (!j->ring) return out_of_memory(err);
    const ganz_status status = ganz_output_open(&j->out, j->options->out, err);
    /* whatever is refused is refused before the input is asked for */
    return status == GANZ_OK ? ganz_service_open(&j->service, model, &j->options->service, err) : status;
}

static void close_job(job *j)
{
    for (long long i = 0; j->ring && i < j->slots; i++) {
        ganz_request_close(&j->ring[i].request);
        free(j->ring[i].text.data);
    }
    free(j->ring);
    ganz_service_close(&j->service);
    ganz_lines_close(&j->prefixes);
    ganz_output_abandon(&j->out);
    pthread_cond_destroy(&j->changed);
    pthread_mutex_destroy(&j->lock);
}

ganz_status cli_lines_run(const cli_lines_options *options, const ganz_model *model, const cli_list *files,
                          cli_progress *progress, ganz_error *err)
{
    job j = {.options = options,
             .progress = progress,
             .total = options->text ? 0 : input_bytes(files),
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .changed = PTHREAD_COND_INITIALIZER};
    ganz_status status = open_job(&j, model, err);
    if (status == GANZ_OK) status = run_threads(&j, files, err);
    cli_progress_end(progress, j.lines_written);
    if (status == GANZ_OK) status = ganz_output_finish(&j.out, err);
    close_job(&j);
    return status;
}
