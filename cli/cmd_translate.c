/* ganz translate: lines in, translations out, in order, on several threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "documents.h"
#include "ganz/io.h"
#include "inputs.h"

/* clang-format off */
const cli_command cli_about_translate = {
    "translate", "[--model MODEL] [FILE...]", "translate text and documents",
    "Reads the files, or standard input, finds the sentences in them and writes the same with the sentences translated.\n"
    "White space, blank lines and markup stay as they were; so do addresses, placeholders (%s, {name}), code and emoji.\n"
    "Answers as soon as the input pauses, so that it can be talked to through pipes. Compressed files are recognised; an\n"
    "output named .gz, .xz or .zst is compressed. With -o FOLDER, and for inputs that are folders, each file has an\n"
    "output of its own.\n"
    "\n"
    "--format says what the inputs are; auto, the default, goes by the suffix, else by the content. lines is for files\n"
    "with one line for each line, like those that ganz score reads: no line is joined with another.\n"
    "--cache names a file that keeps translations: a job that was stopped goes on where it was.\n"
    "\n"
    "The model is --model, else the file that GANZ_MODEL names, else the default model, which comes with the program.\n"
    "\n"
    "--scores puts the score and a tab before each translation: log-probability / ((5 + length) / 6)^alpha.\n"
    "--n-best N writes up to N lines for each line, with the line's number and a tab before them.\n"
    "--alignment puts a tab and links between words behind each translation, source-target, counted from 0: 0-0 1-2.\n"
    "Words are what white space separates.\n"
    "--prefix names a file with one line for each line of input: what its translation must begin with, or nothing.\n"
    "These four are about lines: one line of output for each, or with --n-best several, and nothing is kept or put back.\n"
    "Sentences of more than --max-input tokens are translated in pieces that end at commas where possible.\n",
};
/* clang-format on */

enum {
    FIRST_LINES = 16,
    MOST_LINES = 256,
    GPU_LINES = 1024,
    CPU_TOKENS = 3072,
    GPU_TOKENS = 16384,
    BLOCK_BYTES = 1 << 20,
    MOST_THREADS = 256
};

typedef struct buffer {
    char *data;
    size_t bytes, capacity;
} buffer;

/* Lines that go through one translator together. Which lines share a block depends on the input alone, not on
 * threads. */
typedef struct block {
    buffer text, out;
    ganz_line lines[GPU_LINES];
    size_t begin[GPU_LINES], prefix[GPU_LINES]; /* in text, while it may still move */
    int count;
    long long first; /* number of the first line */
    bool done;
} block;

typedef struct job {
    ganz_translator_options options;
    ganz_document_options document;
    const char *model_path, *out_path, *prefix_path, *invalid, *newlines, *glossary_path, *cache_path;
    bool scores, quiet;
    long long threads;
    int most_lines; /* of a block */
    ganz_model *model;
    ganz_output *out;
    ganz_lines *lines, *prefixes;
    long long lines_read;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    block *ring; /* block n lives in ring[n % slots] */
    long long slots, filled, taken, written, opened;
    bool ended, failed;
    ganz_error err; /* of the first failure */
    cli_progress progress;
    long long lines_written;
} job;

/* ---- buffers ------------------------------------------------------------------------------------ */

static ganz_status out_of_memory(ganz_error *err)
{
    err->status = GANZ_ENOMEM;
    snprintf(err->message, sizeof err->message, "out of memory");
    return GANZ_ENOMEM;
}

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

static ganz_status add(buffer *b, const char *text, size_t bytes, ganz_error *err)
{
    const ganz_status status = make_room(b, bytes, err);
    if (status != GANZ_OK) return status;
    if (bytes > 0) memcpy(b->data + b->bytes, text, bytes);
    b->bytes += bytes;
    return GANZ_OK;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* Appends a line to the block's text; text that is not UTF-8 is repaired or refused, as the user wants. */
static ganz_status add_line(const job *j, block *b, const ganz_lines *from, const char *text, size_t bytes,
                            ganz_error *err)
{
    if (ganz_utf8_valid(text, bytes)) return add(&b->text, text, bytes, err);
    if (strcmp(j->invalid, "replace") == 0) {
        const ganz_status status = make_room(&b->text, 3 * bytes, err);
        size_t replaced;
        if (status == GANZ_OK) b->text.bytes += ganz_utf8_repair(text, bytes, b->text.data + b->text.bytes, &replaced);
        return status;
    }
    err->status = GANZ_EINVAL;
    snprintf(err->message, sizeof err->message, "%s:%lld: not UTF-8", ganz_lines_name(from), ganz_lines_number(from));
    return GANZ_EINVAL;
}

/* Editors of some systems begin a file with a byte order mark, which is no part of the sentence. */
static void skip_mark(const ganz_lines *from, const char **text, size_t *bytes)
{
    if (ganz_lines_number(from) != 1 || *bytes < 3 || memcmp(*text, "\xEF\xBB\xBF", 3) != 0) return;
    *text += 3;
    *bytes -= 3;
}

static ganz_status add_prefix(const job *j, block *b, ganz_error *err)
{
    const char *text;
    size_t bytes;
    const ganz_status status = ganz_lines_next(j->prefixes, &text, &bytes, err);
    if (status != GANZ_OK) return status;
    if (text) skip_mark(j->prefixes, &text, &bytes);
    if (text) return add_line(j, b, j->prefixes, text, bytes, err);
    err->status = GANZ_EINVAL;
    snprintf(err->message, sizeof err->message, "%s has fewer lines than the input", j->prefix_path);
    return GANZ_EINVAL;
}

/* Fills a block from the open file; *more: the file has not ended. */
static ganz_status fill_block(job *j, block *b, bool *more, ganz_error *err)
{
    long long size = FIRST_LINES << (j->filled < 6 ? j->filled : 6); /* the first results come soon */
    if (size > j->most_lines) size = j->most_lines;
    b->first = j->lines_read + 1;
    b->text.bytes = 0;
    for (b->count = 0; b->count < size && b->text.bytes < BLOCK_BYTES; b->count++) {
        const char *text;
        size_t bytes;
        if (b->count > 0 && !ganz_lines_ready(j->lines)) break;
        ganz_status status = ganz_lines_next(j->lines, &text, &bytes, err);
        *more = status == GANZ_OK && text;
        if (!*more) return status;
        skip_mark(j->lines, &text, &bytes);
        b->begin[b->count] = b->text.bytes;
        status = add_line(j, b, j->lines, text, bytes, err);
        b->prefix[b->count] = b->text.bytes;
        if (status == GANZ_OK && j->prefixes) status = add_prefix(j, b, err);
        if (status != GANZ_OK) return status;
    }
    return GANZ_OK;
}

static void point_lines(block *b, bool prefixes)
{
    for (int i = 0; i < b->count; i++) {
        const size_t end = i + 1 < b->count ? b->begin[i + 1] : b->text.bytes;
        b->lines[i] = (ganz_line){.text = b->text.data + b->begin[i], .bytes = b->prefix[i] - b->begin[i]};
        if (prefixes && end > b->prefix[i]) {
            b->lines[i].prefix = b->text.data + b->prefix[i];
            b->lines[i].prefix_bytes = end - b->prefix[i];
        }
    }
}

/* ---- translating -------------------------------------------------------------------------------- */

/* Pharaoh's format: source-target, separated by spaces. */
static ganz_status add_links(block *b, int line, const ganz_translation *t, ganz_error *err)
{
    char link[32];
    int count;
    ganz_word_link *const words = malloc(((size_t)t->link_count + 1) * sizeof *words);
    if (!words) return out_of_memory(err);
    ganz_status status = ganz_word_links(&b->lines[line], t, words, &count, err);
    if (status == GANZ_OK) status = add(&b->out, "\t", 1, err);
    for (int i = 0; i < count && status == GANZ_OK; i++) {
        const int bytes = snprintf(link, sizeof link, "%s%d-%d", i ? " " : "", words[i].source, words[i].target);
        status = add(&b->out, link, (size_t)bytes, err);
    }
    free(words);
    return status;
}

static ganz_status add_result(const job *j, block *b, int line, const ganz_translation *t, ganz_error *err)
{
    char head[96] = "";
    size_t bytes = 0;
    if (j->options.n_best > 1) bytes = (size_t)snprintf(head, sizeof head, "%lld\t", b->first + line);
    if (j->scores) bytes += (size_t)snprintf(head + bytes, sizeof head - bytes, "%.6f\t", t->score);
    ganz_status status = add(&b->out, head, bytes, err);
    if (status == GANZ_OK) status = add(&b->out, t->text, t->bytes, err);
    if (j->options.alignment && status == GANZ_OK) status = add_links(b, line, t, err);
    return status == GANZ_OK ? add(&b->out, "\n", 1, err) : status;
}

/* What is refused about a line that could be read is its prefix: the library counts lines of the block. */
static void name_line(const job *j, const block *b, ganz_error *err)
{
    ganz_error told = *err;
    int line, at = 0;
    if (!j->prefixes || sscanf(told.message, "line %d: %n", &line, &at) != 1 || at == 0) return;
    snprintf(err->message, sizeof err->message, "%s:%lld: %s", j->prefix_path, b->first + line - 1, told.message + at);
}

static ganz_status translate_block(const job *j, ganz_translator *t, block *b, ganz_error *err)
{
    const ganz_result *results;
    point_lines(b, j->prefixes != NULL);
    b->out.bytes = 0;
    ganz_status status = ganz_translate(t, b->lines, b->count, &results, err);
    if (status != GANZ_OK) name_line(j, b, err);
    for (int i = 0; i < b->count && status == GANZ_OK; i++)
        for (int k = 0; k < results[i].count && status == GANZ_OK; k++)
            status = add_result(j, b, i, &results[i].best[k], err);
    return status;
}

/* Under the lock: writes what is next in order. */
static ganz_status write_blocks(job *j, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    while (status == GANZ_OK && j->written < j->filled && j->ring[j->written % j->slots].done) {
        block *const b = &j->ring[j->written % j->slots];
        status = ganz_output_write(j->out, b->out.data, b->out.bytes, err);
        if (status == GANZ_OK && strcmp(j->out_path, "-") == 0) status = ganz_output_flush(j->out, err);
        b->done = false;
        j->written++;
        j->lines_written += b->count;
        cli_progress_show(&j->progress, j->lines_written);
    }
    return status;
}

static void fail_job(job *j, const ganz_error *err)
{
    if (!j->failed) j->err = *err;
    j->failed = true;
}

static void *work(void *context)
{
    job *const j = context;
    ganz_translator *t;
    ganz_error err;
    ganz_status status = ganz_translator_open(&t, j->model, &j->options, &err);
    pthread_mutex_lock(&j->lock);
    j->opened++;
    for (;;) {
        if (status != GANZ_OK) fail_job(j, &err);
        pthread_cond_broadcast(&j->changed);
        while (j->taken == j->filled && !j->ended && !j->failed) pthread_cond_wait(&j->changed, &j->lock);
        if (j->failed || j->taken == j->filled) break;
        block *const b = &j->ring[j->taken++ % j->slots];
        pthread_mutex_unlock(&j->lock);
        status = translate_block(j, t, b, &err);
        pthread_mutex_lock(&j->lock);
        b->done = true;
        if (status == GANZ_OK && !j->failed) status = write_blocks(j, &err);
    }
    pthread_mutex_unlock(&j->lock);
    ganz_translator_close(&t);
    return NULL;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

/* Reads blocks into free places of the ring until the file ends or something fails. */
static ganz_status read_file(job *j, const char *path, ganz_error *err)
{
    ganz_status status = ganz_lines_open(&j->lines, path, err);
    bool more = status == GANZ_OK;
    while (more) {
        pthread_mutex_lock(&j->lock);
        while (j->filled - j->written == j->slots && !j->failed) pthread_cond_wait(&j->changed, &j->lock);
        const bool failed = j->failed;
        pthread_mutex_unlock(&j->lock);
        if (failed) break;
        block *const b = &j->ring[j->filled % j->slots];
        status = fill_block(j, b, &more, err);
        if (status != GANZ_OK) break;
        if (b->count == 0) continue;
        j->lines_read += b->count;
        pthread_mutex_lock(&j->lock);
        j->filled++;
        pthread_cond_broadcast(&j->changed);
        pthread_mutex_unlock(&j->lock);
    }
    ganz_lines_close(&j->lines);
    return status;
}

static ganz_status end_prefixes(const job *j, ganz_error *err)
{
    const char *text = NULL;
    size_t bytes;
    const ganz_status status = j->prefixes ? ganz_lines_next(j->prefixes, &text, &bytes, err) : GANZ_OK;
    if (status != GANZ_OK || !text) return status;
    err->status = GANZ_EINVAL;
    snprintf(err->message, sizeof err->message, "%s has more lines than the input", j->prefix_path);
    return GANZ_EINVAL;
}

static ganz_status read_files(job *j, const cli_list *files, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    if (j->prefix_path) status = ganz_lines_open(&j->prefixes, j->prefix_path, err);
    if (status == GANZ_OK && files->count == 0) status = read_file(j, "-", err);
    for (int i = 0; i < files->count && status == GANZ_OK; i++) status = read_file(j, files->items[i], err);
    return status == GANZ_OK && !j->failed ? end_prefixes(j, err) : status;
}

/* Whatever is refused is refused before the input is asked for. */
static bool wait_until_open(job *j, int started)
{
    pthread_mutex_lock(&j->lock);
    while (j->opened < started && !j->failed) pthread_cond_wait(&j->changed, &j->lock);
    const bool good = !j->failed;
    pthread_mutex_unlock(&j->lock);
    return good;
}

/* Workers translate and write while this thread reads. */
static ganz_status run_workers(job *j, const cli_list *files, ganz_error *err)
{
    pthread_t threads[MOST_THREADS];
    int started = 0;
    while (started < j->threads && pthread_create(&threads[started], NULL, work, j) == 0) started++;
    ganz_status status = started > 0 ? GANZ_OK : out_of_memory(err);
    if (started > 0 && wait_until_open(j, started)) status = read_files(j, files, err);
    pthread_mutex_lock(&j->lock);
    if (status != GANZ_OK) fail_job(j, err);
    j->ended = true;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    if (j->failed) *err = j->err;
    return j->failed ? err->status : GANZ_OK;
}

static ganz_status run_job(job *j, const cli_list *files, ganz_error *err)
{
    j->slots = 2 * j->threads + 2;
    j->ring = calloc((size_t)j->slots, sizeof *j->ring);
    if (!j->ring) return out_of_memory(err);
    ganz_status status = ganz_model_open(&j->model, j->model_path, err);
    if (status == GANZ_OK) status = ganz_output_open(&j->out, j->out_path, err);
    if (status == GANZ_OK) status = run_workers(j, files, err);
    cli_progress_end(&j->progress, j->lines_written);
    if (status == GANZ_OK) return ganz_output_finish(&j->out, err);
    ganz_output_abandon(&j->out);
    return status;
}

static void free_job(job *j)
{
    for (long long i = 0; j->ring && i < j->slots; i++) {
        free(j->ring[i].text.data);
        free(j->ring[i].out.data);
    }
    free(j->ring);
    ganz_lines_close(&j->prefixes);
    ganz_model_close(&j->model);
    pthread_cond_destroy(&j->changed);
    pthread_mutex_destroy(&j->lock);
}

/* ---- documents ---------------------------------------------------------------------------------- */

static ganz_status run_documents(job *j, const cli_list *files, int *skipped, ganz_error *err)
{
    const cli_inputs inputs = {.files = files,
                               .out = j->out_path,
                               .format = j->document.format,
                               .replace_invalid = strcmp(j->invalid, "replace") == 0,
                               .quiet = j->quiet};
    const cli_documents_options o = {.translator = j->options,
                                     .document = j->document,
                                     .threads = (int)j->threads,
                                     .most_lines = j->most_lines,
                                     .cache = j->cache_path,
                                     .model_path = j->model_path};
    cli_documents *documents;
    ganz_status status = cli_documents_open(&documents, j->model, &o, &j->progress, err);
    if (status != GANZ_OK) return status;
    j->progress.unit = "sentences";
    j->progress.total = cli_inputs_bytes(&inputs);
    status = cli_inputs_read(&inputs, documents, skipped, err);
    if (status == GANZ_OK) status = cli_documents_end(documents, err);
    cli_documents_close(&documents);
    return status;
}

static int translate_documents(job *j, const cli_list *files)
{
    ganz_error err;
    ganz_glossary *glossary = NULL;
    int skipped = 0;
    ganz_status status = j->glossary_path ? ganz_glossary_open(&glossary, j->glossary_path, &err) : GANZ_OK;
    j->document.glossary = glossary;
    if (status == GANZ_OK) status = ganz_model_open(&j->model, j->model_path, &err);
    if (status == GANZ_OK) status = run_documents(j, files, &skipped, &err);
    ganz_glossary_close(&glossary);
    if (status != GANZ_OK) return cli_fail(&cli_about_translate, &err);
    return skipped > 0 ? CLI_FAILED : CLI_OK;
}

/* What is said about each line needs one line of output for each: no documents. */
static bool wants_lines(const job *j)
{
    return j->options.n_best > 1 || j->scores || j->options.alignment || j->prefix_path;
}

static int start_job(job *j, const cli_list *files)
{
    ganz_error err;
    char path[CLI_PATH];
    j->model_path = cli_find_model(j->model_path, path);
    if (!j->model_path) return cli_no_model(&cli_about_translate, "give --model FILE");
    const bool gpu = strcmp(j->options.device, "cpu") != 0;
    j->most_lines = gpu ? GPU_LINES : MOST_LINES;
    if (j->options.batch_tokens == 0) j->options.batch_tokens = gpu ? GPU_TOKENS : CPU_TOKENS;
    if (j->threads == 0) j->threads = gpu ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
    if (j->threads < 1 || j->threads > MOST_THREADS) j->threads = j->threads < 1 ? 1 : MOST_THREADS;
    const bool talking = strcmp(j->out_path, "-") == 0 && isatty(STDOUT_FILENO);
    cli_progress_start(&j->progress, "translated", "lines", 0, j->quiet || talking || !isatty(STDERR_FILENO));
    if (!wants_lines(j)) return translate_documents(j, files);
    j->options.split = j->document.source;
    return run_job(j, files, &err) == GANZ_OK ? CLI_OK : cli_fail(&cli_about_translate, &err);
}

static bool reads_input(const cli_list *files)
{
    bool found = files->count == 0;
    for (int i = 0; i < files->count; i++) found |= strcmp(files->items[i], "-") == 0;
    return found;
}

static bool is_plain(const char *format)
{
    return strcmp(format, "auto") == 0 || strcmp(format, "text") == 0 || strcmp(format, "lines") == 0;
}

static bool is_format(const char *name)
{
    const size_t bytes = strlen(name);
    for (const char *at = ganz_document_formats(); *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == bytes && memcmp(at, name, bytes) == 0) return true;
    return strcmp(name, "auto") == 0;
}

static ganz_newlines newlines_named(const char *name)
{
    if (strcmp(name, "end") == 0) return GANZ_NEWLINE_ENDS;
    return strcmp(name, "space") == 0 ? GANZ_NEWLINE_SPACE : GANZ_NEWLINE_NEVER;
}

/* -1 to go on, or the exit code of options that do not go together. */
static int check_choices(const job *j, const cli_list *files)
{
    const cli_command *const about = &cli_about_translate;
    const bool documents = j->glossary_path || j->cache_path || j->document.bilingual || !is_plain(j->document.format);
    if (j->options.n_best > j->options.beam)
        return cli_usage(about, "--n-best must be at most --beam (%d)", j->options.beam);
    if (!is_format(j->document.format))
        return cli_usage(about, "there is no format %s: auto %s", j->document.format, ganz_document_formats());
    if (wants_lines(j) && documents)
        return cli_usage(about, "--n-best, --scores, --alignment and --prefix are about lines: no --glossary, --cache, "
                                "--bilingual or other formats");
    if (j->prefix_path && strcmp(j->prefix_path, "-") == 0 && reads_input(files))
        return cli_usage(about, "standard input can be the text or the prefixes, not both");
    return -1;
}

int cli_run_translate(int argc, char **argv)
{
    job j = {.out_path = "-",
             .invalid = "error",
             .newlines = "end",
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .changed = PTHREAD_COND_INITIALIZER};
    ganz_translator_defaults(&j.options);
    ganz_document_defaults(&j.document);
    j.options.device = "cpu";
    j.options.precision = "auto";
    long long beam = j.options.beam, n_best = 1, batch = 0, max_input = 0, max_length = 0;
    const cli_option options[] = {
        {"model", 'm', CLI_TEXT, &j.model_path, "FILE", "the model", 0, 0},
        {"out", 'o', CLI_TEXT, &j.out_path, "FILE", "where to write: a file, a folder, or - for standard output", 0, 0},
        {"format", 'f', CLI_TEXT, &j.document.format, "NAME", "auto, text, lines, ...: what the inputs are", 0, 0},
        {"newlines", 0, CLI_CHOICE, &j.newlines, "end|space|never",
         "what a newline of plain text is: the end of a sentence or not", 0, 0},
        {"glossary", 0, CLI_TEXT, &j.glossary_path, "FILE",
         "terms, a tab, what they become; without a tab: not translated", 0, 0},
        {"bilingual", 0, CLI_FLAG, &j.document.bilingual, NULL, "each paragraph is followed by its translation", 0, 0},
        {"cache", 0, CLI_TEXT, &j.cache_path, "FILE",
         "keep translations here, and go on with them after an interruption", 0, 0},
        {"from", 0, CLI_TEXT, &j.document.source, "LANGUAGE", "of the text, for sentence ends, case and numbers", 0, 0},
        {"to", 0, CLI_TEXT, &j.document.target, "LANGUAGE", "of the translation", 0, 0},
        {"beam", 'b', CLI_INT, &beam, "N", "hypotheses kept at each step; 1: greedy", 1, 64},
        {"alpha", 0, CLI_REAL, &j.options.alpha, "A", "length penalty", 0, 10},
        {"n-best", 0, CLI_INT, &n_best, "N", "translations for each line, at most the beam", 1, 64},
        {"scores", 0, CLI_FLAG, &j.scores, NULL, "put scores before the translations", 0, 0},
        {"alignment", 0, CLI_FLAG, &j.options.alignment, NULL, "put links between words behind the translations", 0, 0},
        {"prefix", 0, CLI_TEXT, &j.prefix_path, "FILE", "beginnings that the translations must have", 0, 0},
        {"device", 'd', CLI_TEXT, &j.options.device, "cpu|cuda[:N]", "where to compute; a GPU takes float models only",
         0, 0},
        {"precision", 0, CLI_CHOICE, &j.options.precision, "auto|fp32|tf32|bf16",
         "of products; auto: bf16 on a GPU, else fp32", 0, 0},
        {"threads", 'j', CLI_INT, &j.threads, "N", "lines are shared among N threads; 0: all cores, or one on a GPU", 0,
         MOST_THREADS},
        {"batch-tokens", 0, CLI_INT, &batch, "N", "a line counts its tokens and 25 more; 0: 3072, or 16384 on a GPU", 0,
         1 << 20},
        {"max-length", 0, CLI_INT, &max_length, "N", "most tokens of a translation; 0: 2 * input + 50", 0, 1 << 20},
        {"max-input", 0, CLI_INT, &max_input, "N", "longest sentence in tokens; 0: 96 or the model's limit", 0,
         1 << 20},
        {"invalid", 0, CLI_CHOICE, &j.invalid, "error|replace", "what to do with text that is not UTF-8", 0, 0},
        {"quiet", 'q', CLI_FLAG, &j.quiet, NULL, "no progress", 0, 0},
        {0},
    };
    cli_list files = {0};
    int code = cli_parse(&cli_about_translate, options, argc, argv, &files);
    j.document.newlines = newlines_named(j.newlines);
    j.options.beam = (int)beam;
    j.options.n_best = (int)n_best;
    j.options.batch_tokens = (int)batch;
    j.options.max_input = (int)max_input;
    j.options.max_length = (int)max_length;
    if (code < 0) code = check_choices(&j, &files);
    if (code < 0) code = start_job(&j, &files);
    free_job(&j);
    cli_list_free(&files);
    return code;
}
