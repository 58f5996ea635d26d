/* ganz translate: one thread reads lines and hands them to a service, another one writes its answers in order. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "ganz/io.h"
#include "ganz/service.h"

/* clang-format off */
const cli_command cli_about_translate = {
    "translate", "[--model MODEL] [FILE... | --text TEXT]", "translate text, one line each",
    "Reads the files, --text, or standard input, and writes one line for each line, in the same order; a blank line for a\n"
    "blank line. Compressed files are recognised; an output named .gz, .xz or .zst is compressed. Answers as soon as\n"
    "the input pauses, so that it can be talked to through pipes.\n"
    "\n"
    "The model is --model, else the file that GANZ_MODEL names, else the default model, which comes with the program.\n"
    "\n"
    "--scores puts the score and a tab before each translation: log-probability / ((5 + length) / 6)^alpha.\n"
    "--n-best N writes up to N lines for each line, with the line's number and a tab before them.\n"
    "--alignment puts a tab and links between words behind each translation, source-target, counted from 0: 0-0 1-2.\n"
    "Words are what white space separates.\n"
    "--prefix names a file with one line for each line of input: what its translation must begin with, or nothing.\n"
    "Lines longer than --max-input tokens are translated in pieces that end at sentence ends where possible.\n",
};
/* clang-format on */

enum { SLOT_LINES = 32, SLOT_BYTES = 1 << 18, SLOTS_A_THREAD = 64, MOST_THREADS = 256 };

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
    ganz_service_options options;
    const char *model_path, *out_path, *prefix_path, *invalid, *text;
    bool scores, quiet;
    bool talking; /* a person types lines and reads the answers */
    ganz_model *model;
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
    cli_progress progress;
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
    if (!valid && strcmp(j->invalid, "replace") != 0) {
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
    return fail(err, GANZ_EINVAL, j->prefix_path, " has fewer lines than the input");
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
static ganz_status write_links(job *j, const ganz_translation *t, ganz_error *err)
{
    ganz_status status = ganz_output_write(j->out, "\t", 1, err);
    for (int i = 0; i < t->link_count && status == GANZ_OK; i++)
        status = ganz_output_printf(j->out, err, "%s%d-%d", i ? " " : "", t->links[i].source, t->links[i].target);
    return status;
}

static ganz_status write_translation(job *j, long long line, const ganz_translation *t, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    if (j->options.translator.n_best > 1) status = ganz_output_printf(j->out, err, "%lld\t", line);
    if (j->scores && status == GANZ_OK) status = ganz_output_printf(j->out, err, "%.6f\t", t->score);
    if (status == GANZ_OK) status = ganz_output_write(j->out, t->text, t->bytes, err);
    if (j->options.translator.alignment && status == GANZ_OK) status = write_links(j, t, err);
    return status == GANZ_OK ? ganz_output_write(j->out, "\n", 1, err) : status;
}

/* Of a line that could be read, only its prefix can be refused. */
static void name_prefix(const job *j, const slot *s, ganz_error *err)
{
    const ganz_error told = *err;
    if (!j->prefix_path || told.line == 0) return;
    snprintf(err->message, sizeof err->message, "%s:%lld: %.320s", j->prefix_path, s->first + told.line - 1,
             told.message);
}

static ganz_status write_slot(job *j, const slot *s, ganz_error *err)
{
    const ganz_result *results;
    ganz_status status = ganz_request_wait(s->request, &results, err);
    if (status != GANZ_OK) name_prefix(j, s, err);
    for (int i = 0; status == GANZ_OK && i < s->count; i++)
        for (int k = 0; status == GANZ_OK && k < results[i].count; k++)
            status = write_translation(j, s->first + i, &results[i].best[k], err);
    if (status == GANZ_OK && strcmp(j->out_path, "-") == 0) status = ganz_output_flush(j->out, err);
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
        if (j->total > 0) j->progress.share = (double)s->position / (double)j->total;
        cli_progress_show(&j->progress, j->lines_written);
        pthread_mutex_lock(&j->lock);
        if (status != GANZ_OK) fail_job(j, &err);
        j->written++;
        pthread_cond_broadcast(&j->changed);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* ---- a conversation ----------------------------------------------------------------------------- */

/* Before input is waited for, a person sees all answers and then a prompt. */
static void prompt(job *j)
{
    if (!j->talking) return;
    pthread_mutex_lock(&j->lock);
    while (j->written < j->submitted && !j->failed) pthread_cond_wait(&j->changed, &j->lock);
    pthread_mutex_unlock(&j->lock);
    fputs("> ", stderr);
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
        if (status == GANZ_OK && more && !ganz_lines_ready(j->lines)) prompt(j);
    }
    j->before += ganz_lines_position(j->lines);
    ganz_lines_close(&j->lines);
    return status;
}

static ganz_status read_file(job *j, const char *path, ganz_error *err)
{
    prompt(j);
    const ganz_status status = ganz_lines_open(&j->lines, path, err);
    return status == GANZ_OK ? read_lines(j, err) : status;
}

static ganz_status read_text(job *j, ganz_error *err)
{
    const ganz_status status = ganz_lines_open_text(&j->lines, j->text, strlen(j->text), "--text", err);
    return status == GANZ_OK ? read_lines(j, err) : status;
}

static ganz_status end_prefixes(const job *j, ganz_error *err)
{
    const char *text = NULL;
    size_t bytes;
    const ganz_status status = j->prefixes ? ganz_lines_next(j->prefixes, &text, &bytes, err) : GANZ_OK;
    if (status != GANZ_OK || !text) return status;
    return fail(err, GANZ_EINVAL, j->prefix_path, " has more lines than the input");
}

static ganz_status read_all(job *j, const cli_list *files, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    if (j->prefix_path) status = ganz_lines_open(&j->prefixes, j->prefix_path, err);
    if (status == GANZ_OK && j->text) status = read_text(j, err);
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

static ganz_status run_job(job *j, const cli_list *files, ganz_error *err)
{
    j->slots = SLOTS_A_THREAD * (j->options.workers ? j->options.workers : ganz_cpu_count());
    j->ring = calloc((size_t)j->slots, sizeof *j->ring);
    if (!j->ring) return out_of_memory(err);
    ganz_status status = ganz_model_open(&j->model, j->model_path, err);
    if (status == GANZ_OK) status = ganz_output_open(&j->out, j->out_path, err);
    /* whatever is refused is refused before the input is asked for */
    if (status == GANZ_OK) status = ganz_service_open(&j->service, j->model, &j->options, err);
    if (status == GANZ_OK && j->talking)
        fputs("ganz translate: type a line and press Enter to see its translation; Ctrl-D ends\n", stderr);
    if (status == GANZ_OK) status = run_threads(j, files, err);
    if (j->talking) fputc('\n', stderr); /* behind the last prompt */
    cli_progress_end(&j->progress, j->lines_written);
    if (status == GANZ_OK) return ganz_output_finish(&j->out, err);
    ganz_output_abandon(&j->out);
    return status;
}

static void free_job(job *j)
{
    for (long long i = 0; j->ring && i < j->slots; i++) {
        ganz_request_close(&j->ring[i].request);
        free(j->ring[i].text.data);
    }
    free(j->ring);
    ganz_service_close(&j->service);
    ganz_lines_close(&j->prefixes);
    ganz_model_close(&j->model);
    pthread_cond_destroy(&j->changed);
    pthread_mutex_destroy(&j->lock);
}

static bool reads_input(const cli_list *files)
{
    bool found = files->count == 0;
    for (int i = 0; i < files->count; i++) found |= strcmp(files->items[i], "-") == 0;
    return found;
}

static int start_job(job *j, const cli_list *files)
{
    ganz_error err;
    char path[CLI_PATH];
    j->model_path = cli_find_model(j->model_path, path);
    if (!j->model_path) return cli_no_model(&cli_about_translate, "give --model FILE");
    const bool to_screen = strcmp(j->out_path, "-") == 0 && isatty(STDOUT_FILENO);
    j->talking = to_screen && !j->text && !j->quiet && reads_input(files) && isatty(STDIN_FILENO);
    j->total = j->text ? 0 : input_bytes(files);
    cli_progress_start(&j->progress, "translated", "lines", 0, j->quiet || to_screen || !isatty(STDERR_FILENO));
    return run_job(j, files, &err) == GANZ_OK ? CLI_OK : cli_fail(&cli_about_translate, &err);
}

/* What options cannot say one by one. -1: all is well. */
static int check_job(const job *j, const cli_list *files)
{
    const cli_command *const about = &cli_about_translate;
    const ganz_translator_options *const o = &j->options.translator;
    if (o->n_best > o->beam) return cli_usage(about, "--n-best must be at most --beam (%d)", o->beam);
    if (j->text && files->count > 0) return cli_usage(about, "--text and FILE exclude each other");
    if (j->prefix_path && strcmp(j->prefix_path, "-") == 0 && !j->text && reads_input(files))
        return cli_usage(about, "standard input can be the text or the prefixes, not both");
    return -1;
}

int cli_run_translate(int argc, char **argv)
{
    job j = {
        .out_path = "-", .invalid = "error", .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    ganz_service_defaults(&j.options);
    ganz_translator_options *const o = &j.options.translator;
    o->device = "cpu";
    o->precision = "auto";
    long long beam = o->beam, n_best = 1, batch = 0, max_input = 0, max_length = 0, threads = 0;
    const cli_option options[] = {
        {"model", 'm', CLI_TEXT, &j.model_path, "FILE", "the model", 0, 0},
        {"text", 't', CLI_TEXT, &j.text, "TEXT", "translate this instead of files", 0, 0},
        {"out", 'o', CLI_TEXT, &j.out_path, "FILE", "where to write, - is standard output", 0, 0},
        {"beam", 'b', CLI_INT, &beam, "N", "hypotheses kept at each step; 1: greedy", 1, 64},
        {"alpha", 0, CLI_REAL, &o->alpha, "A", "length penalty", 0, 10},
        {"n-best", 0, CLI_INT, &n_best, "N", "translations for each line, at most the beam", 1, 64},
        {"scores", 0, CLI_FLAG, &j.scores, NULL, "put scores before the translations", 0, 0},
        {"alignment", 0, CLI_FLAG, &o->alignment, NULL, "put links between words behind the translations", 0, 0},
        {"prefix", 0, CLI_TEXT, &j.prefix_path, "FILE", "beginnings that the translations must have", 0, 0},
        {"device", 'd', CLI_TEXT, &o->device, "cpu|cuda[:N]", "where to compute; a GPU takes float models only", 0, 0},
        {"precision", 0, CLI_CHOICE, &o->precision, "auto|fp32|tf32|bf16",
         "of products; auto: bf16 on a GPU, else fp32", 0, 0},
        {"threads", 'j', CLI_INT, &threads, "N", "lines are shared among N threads; 0: all cores, or one on a GPU", 0,
         MOST_THREADS},
        {"batch-tokens", 0, CLI_INT, &batch, "N", "a line counts its tokens and 25 more; 0: 3072, or 16384 on a GPU", 0,
         1 << 20},
        {"max-length", 0, CLI_INT, &max_length, "N", "most tokens of a translation; 0: 2 * input + 50", 0, 1 << 20},
        {"max-input", 0, CLI_INT, &max_input, "N", "longest input in tokens; 0: 256 or the model's limit", 0, 1 << 20},
        {"invalid", 0, CLI_CHOICE, &j.invalid, "error|replace", "what to do with text that is not UTF-8", 0, 0},
        {"quiet", 'q', CLI_FLAG, &j.quiet, NULL, "no progress and no prompt", 0, 0},
        {0},
    };
    cli_list files = {0};
    int code = cli_parse(&cli_about_translate, options, argc, argv, &files);
    o->beam = (int)beam;
    o->n_best = (int)n_best;
    o->batch_tokens = (int)batch;
    o->max_input = (int)max_input;
    o->max_length = (int)max_length;
    j.options.workers = (int)threads;
    if (code < 0) code = check_job(&j, &files);
    if (code < 0) code = start_job(&j, &files);
    free_job(&j);
    cli_list_free(&files);
    return code;
}
