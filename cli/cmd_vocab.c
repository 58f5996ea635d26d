/* ganz vocab, encode, decode: learn a vocabulary, text to ids, ids to text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "ganz/io.h"
#include "ganz/vocab.h"

/* ---- lines in, lines out ------------------------------------------------------------------------ */

/* Memory of the program's own, reused from line to line. */
typedef struct buffer {
    void *data;
    size_t capacity; /* bytes */
} buffer;

typedef struct job job;
/* Turns one line into j->out. */
typedef ganz_status each_line(job *j, const char *line, size_t bytes, ganz_error *err);

struct job {
    const cli_command *about;
    const char *vocab_path, *out_path, *invalid, *language;
    bool eos;
    each_line *each;
    ganz_vocab *vocab;
    const ganz_lines *lines; /* the file being read, for messages */
    ganz_ids ids;            /* what the library encodes to */
    ganz_text text;          /* what the library decodes to */
    buffer repaired, digits, numbers;
    const char *out; /* the line to write */
    size_t out_bytes;
    long long unknown; /* ids that are not in the vocabulary */
};

static ganz_status fail(ganz_error *err, ganz_status status, const job *j, const char *what)
{
    err->status = status;
    snprintf(err->message, sizeof err->message, "%s:%lld: %s", ganz_lines_name(j->lines), ganz_lines_number(j->lines),
             what);
    return status;
}

static ganz_status run_file(job *j, const char *path, ganz_output *out, ganz_error *err)
{
    ganz_lines *lines;
    ganz_status status = ganz_lines_open(&lines, path, err);
    if (status != GANZ_OK) return status;
    j->lines = lines;
    while (status == GANZ_OK) {
        const char *line;
        size_t bytes;
        if (!ganz_lines_ready(lines)) status = ganz_output_flush(out, err);
        if (status == GANZ_OK) status = ganz_lines_next(lines, &line, &bytes, err);
        if (status != GANZ_OK || !line) break;
        j->ids.count = j->text.bytes = 0;
        status = j->each(j, line, bytes, err);
        if (status == GANZ_OK && j->out_bytes > 0) status = ganz_output_write(out, j->out, j->out_bytes, err);
        if (status == GANZ_OK) status = ganz_output_write(out, "\n", 1, err);
    }
    ganz_lines_close(&lines);
    return status;
}

static ganz_status run_files(job *j, const cli_list *files, ganz_error *err)
{
    ganz_output *out;
    ganz_status status = ganz_vocab_open_any(&j->vocab, j->vocab_path, err);
    if (status == GANZ_OK) status = ganz_output_open(&out, j->out_path, err);
    if (status != GANZ_OK) return status;
    if (files->count == 0) status = run_file(j, "-", out, err);
    for (int i = 0; i < files->count && status == GANZ_OK; i++) status = run_file(j, files->items[i], out, err);
    if (status == GANZ_OK) return ganz_output_finish(&out, err);
    ganz_output_abandon(&out);
    return status;
}

static int run_job(job *j, const cli_option *options, int argc, char **argv)
{
    cli_list files = {0};
    int code = cli_parse(j->about, options, argc, argv, &files);
    if (code < 0 && !j->vocab_path) code = cli_usage(j->about, "--vocab is needed");
    if (code < 0) {
        ganz_error err = {0};
        code = run_files(j, &files, &err) == GANZ_OK ? CLI_OK : cli_fail(j->about, &err);
    }
    cli_list_free(&files);
    ganz_vocab_close(&j->vocab);
    ganz_ids_free(&j->ids);
    ganz_text_free(&j->text);
    free(j->repaired.data);
    free(j->digits.data);
    free(j->numbers.data);
    return code;
}

/* Room for `bytes` in all; what is there stays. */
static ganz_status reserve(const job *j, buffer *b, size_t bytes, ganz_error *err)
{
    if (b->capacity >= bytes) return GANZ_OK;
    void *const grown = realloc(b->data, bytes * 2);
    if (!grown) return fail(err, GANZ_ENOMEM, j, "out of memory");
    b->data = grown;
    b->capacity = bytes * 2;
    return GANZ_OK;
}

static ganz_side side_of(const job *j) { return strcmp(j->language, "target") == 0 ? GANZ_TARGET : GANZ_SOURCE; }

/* ---- encode ------------------------------------------------------------------------------------- */

static ganz_status repair(job *j, const char **line, size_t *bytes, ganz_error *err)
{
    if (strcmp(j->invalid, "replace") != 0) return fail(err, GANZ_EINVAL, j, "not UTF-8");
    const ganz_status status = reserve(j, &j->repaired, *bytes * 3, err);
    if (status != GANZ_OK) return status;
    size_t replaced;
    *bytes = ganz_utf8_repair(*line, *bytes, j->repaired.data, &replaced);
    *line = j->repaired.data;
    return GANZ_OK;
}

enum { ID_BYTES = 11 }; /* ten digits and the space before them */

static char *put_id(char *to, int32_t id, bool first)
{
    char digits[ID_BYTES];
    size_t count = 0;
    do digits[count++] = (char)('0' + id % 10);
    while ((id /= 10) > 0);
    if (!first) *to++ = ' ';
    while (count > 0) *to++ = digits[--count];
    return to;
}

static ganz_status encode_line(job *j, const char *line, size_t bytes, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    if (!ganz_utf8_valid(line, bytes)) status = repair(j, &line, &bytes, err);
    if (status == GANZ_OK) status = ganz_vocab_encode(j->vocab, side_of(j), line, bytes, &j->ids, err);
    if (status == GANZ_OK) status = reserve(j, &j->digits, (j->ids.count + 1) * ID_BYTES, err);
    if (status != GANZ_OK) return status;
    char *to = j->digits.data;
    for (size_t i = 0; i < j->ids.count; i++) to = put_id(to, j->ids.ids[i], i == 0);
    if (j->eos) to = put_id(to, GANZ_EOS, j->ids.count == 0);
    j->out = j->digits.data;
    j->out_bytes = (size_t)(to - j->out);
    return GANZ_OK;
}

/* clang-format off */
const cli_command cli_about_encode = {
    .name = "encode",
    .usage = "--vocab V [OPTIONS] [FILE...]",
    .summary = "turn lines of text into lines of ids",
    .details =
    "Reads standard input when no FILE is given; .gz, .xz and .zst files are decompressed. One line out for each\n"
    "line in, ids in decimal, separated by single spaces.\n",
};
/* clang-format on */

int cli_run_encode(int argc, char **argv)
{
    job j = {
        .about = &cli_about_encode, .out_path = "-", .invalid = "error", .language = "source", .each = encode_line};
    const cli_option options[] = {
        {"vocab", 'v', CLI_TEXT, &j.vocab_path, "FILE", "the vocabulary, a SentencePiece model, or a model with one", 0,
         0},
        {"side", 0, CLI_CHOICE, &j.language, "source|target", "the language of the text, where a vocabulary tells two",
         0, 0},
        {"out", 'o', CLI_TEXT, &j.out_path, "FILE", "write here, - is standard output", 0, 0},
        {"eos", 0, CLI_FLAG, &j.eos, NULL, "end each line with the end mark, id 1", 0, 0},
        {"invalid", 0, CLI_CHOICE, &j.invalid, "error|replace",
         "what text that is not UTF-8 does: stop, or become U+FFFD", 0, 0},
        {0},
    };
    return run_job(&j, options, argc, argv);
}

/* ---- decode ------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The number at line[*at]; one too large for an id becomes -1, which no vocabulary has. False: no number. */
static bool take_id(const char *line, size_t bytes, size_t *at, int32_t *id)
{
    const bool negative = line[*at] == '-';
    size_t i = *at + (negative ? 1 : 0);
    const size_t first = i;
    long long number = 0;
    for (; i < bytes && line[i] >= '0' && line[i] <= '9'; i++)
        if (number <= INT32_MAX) number = number * 10 + (line[i] - '0');
    if (i == first || (i < bytes && !is_blank(line[i]))) return false;
    *id = negative || number > INT32_MAX ? -1 : (int32_t)number;
    *at = i;
    return true;
}

/* The ids of a line up to its end mark; the rest is only checked. */
static ganz_status take_ids(job *j, const char *line, size_t bytes, size_t *count, ganz_error *err)
{
    bool ended = false;
    for (size_t at = 0; at < bytes;) {
        int32_t id;
        if (is_blank(line[at])) {
            at++;
            continue;
        }
        if (!take_id(line, bytes, &at, &id)) return fail(err, GANZ_EINVAL, j, "not a line of ids");
        ended = ended || id == GANZ_EOS;
        if (ended) continue;
        const ganz_status status = reserve(j, &j->numbers, (*count + 1) * sizeof id, err);
        if (status != GANZ_OK) return status;
        ((int32_t *)j->numbers.data)[(*count)++] = id;
        if (id < 0 || id >= ganz_vocab_side_size(j->vocab, side_of(j))) j->unknown++;
    }
    return GANZ_OK;
}

static ganz_status decode_line(job *j, const char *line, size_t bytes, ganz_error *err)
{
    size_t count = 0;
    ganz_status status = take_ids(j, line, bytes, &count, err);
    if (status == GANZ_OK) status = ganz_vocab_decode(j->vocab, side_of(j), j->numbers.data, count, &j->text, err);
    for (size_t i = 0; i < j->text.bytes; i++) /* an escaped newline must not make two lines of one */
        if (j->text.text[i] == '\n') j->text.text[i] = ' ';
    j->out = j->text.text;
    j->out_bytes = j->text.bytes;
    return status;
}

/* clang-format off */
const cli_command cli_about_decode = {
    .name = "decode",
    .usage = "--vocab V [OPTIONS] [FILE...]",
    .summary = "turn lines of ids into lines of text",
    .details =
    "Reads standard input when no FILE is given. A line ends at its end mark (id 1) if it has one. Ids that the\n"
    "vocabulary does not have give no text; a warning counts them.\n",
};
/* clang-format on */

int cli_run_decode(int argc, char **argv)
{
    job j = {.about = &cli_about_decode, .out_path = "-", .language = "target", .each = decode_line};
    const cli_option options[] = {
        {"vocab", 'v', CLI_TEXT, &j.vocab_path, "FILE", "the vocabulary, a SentencePiece model, or a model with one", 0,
         0},
        {"side", 0, CLI_CHOICE, &j.language, "source|target", "the language of the text, where a vocabulary tells two",
         0, 0},
        {"out", 'o', CLI_TEXT, &j.out_path, "FILE", "write here, - is standard output", 0, 0},
        {0},
    };
    const int code = run_job(&j, options, argc, argv);
    if (code == CLI_OK && j.unknown > 0)
        fprintf(stderr, "ganz decode: warning: %lld ids are not in the vocabulary and gave no text\n", j.unknown);
    return code;
}

/* ---- vocab -------------------------------------------------------------------------------------- */

/* clang-format off */
const cli_command cli_about_vocab = {
    .name = "vocab",
    .usage = "[--size N] [--out FILE] [OPTIONS] TEXT...",
    .summary = "learn a subword vocabulary from text",
    .details =
    "Learns as Tensor2Tensor does, in its file format. From each TEXT it takes every (k+1)-th line until\n"
    "--sample-chars characters are together, k = floor(bytes / sample-chars / 2); the bytes of a compressed\n"
    "TEXT are those after decompression. Standard input (-) has no size and needs --sample-chars 0. The size\n"
    "reached is within 2% of --size: where the search finds none that near, the rarest entries of the next\n"
    "larger vocabulary are left out. --nearest takes the nearest that the search finds, as Tensor2Tensor does.\n"
    "A text with too few words gives fewer entries, which is said at the end. Entries of --reserve come on top,\n"
    "right after <pad> and <EOS>.\n",
};
/* clang-format on */

typedef struct learning {
    cli_progress progress;
    ganz_vocab_progress last;
} learning;

static void show(void *context, const ganz_vocab_progress *progress)
{
    learning *const l = context;
    l->last = *progress;
    cli_progress_show(&l->progress, progress->tried);
}

/* Why a vocabulary has not the size that was asked for. */
static const char *missed(const ganz_vocab_learning *how, int size)
{
    if (how->nearest) return "without --nearest there would be as many, if the text has them";
    if (size < how->target_size) return "more text, or a larger --sample-chars, gives more";
    return "every character of the text is one, and they are more";
}

static ganz_status learn(const cli_list *texts, ganz_vocab_learning *how, const char *out_path, bool quiet,
                         ganz_error *err)
{
    learning l = {0};
    ganz_vocab *vocab;
    ganz_output *out;
    cli_progress_start(&l.progress, "learning", "vocabularies tried", 0, quiet);
    how->progress = show;
    how->context = &l;
    how->stop = cli_stop_listen(&cli_about_vocab, "after the vocabulary that is being tried; nothing is written");
    /* Opened first: a folder that cannot be written is known before the work. */
    ganz_status status = ganz_output_open(&out, out_path, err);
    if (status != GANZ_OK) return status;
    status = ganz_vocab_learn(&vocab, texts->items, texts->count, how, err);
    cli_progress_end(&l.progress, l.last.tried);
    const int size = status == GANZ_OK ? ganz_vocab_size(vocab) : 0;
    if (status == GANZ_OK) {
        size_t bytes;
        const char *const file = ganz_vocab_file(vocab, &bytes);
        status = ganz_output_write(out, file, bytes, err);
    }
    if (status == GANZ_OK) status = ganz_output_finish(&out, err);
    else ganz_output_abandon(&out);
    ganz_vocab_close(&vocab);
    if (status == GANZ_OK && !quiet)
        fprintf(stderr, "ganz vocab: %d entries from %lld line%s, %lld characters, %lld different tokens\n", size,
                l.last.lines, cli_s(l.last.lines), l.last.characters, l.last.tokens);
    if (status == GANZ_OK && !quiet && abs(size - how->target_size) > how->target_size / 50)
        fprintf(stderr, "ganz vocab: warning: %d entries were asked for; %s\n", how->target_size, missed(how, size));
    return status;
}

enum { MOST_MARKS = 16, MARK_BYTES = 128 };

/* The words between commas; false when they are too many. They live until the program ends. */
static bool split_marks(const char *words, const char *marks[MOST_MARKS], int *count)
{
    static char text[MOST_MARKS * MARK_BYTES];
    *count = 0;
    if (!words) return true;
    if (strlen(words) >= sizeof text) return false;
    memcpy(text, words, strlen(words) + 1);
    char *state;
    for (char *word = strtok_r(text, ",", &state); word; word = strtok_r(NULL, ",", &state)) {
        if (*count == MOST_MARKS) return false;
        marks[(*count)++] = word;
    }
    return true;
}

int cli_run_vocab(int argc, char **argv)
{
    ganz_vocab_learning how;
    ganz_vocab_learning_defaults(&how);
    long long size = how.target_size, length = how.max_length;
    const char *out_path = "-", *invalid = "error";
    bool quiet = false;
    const char *reserve = NULL, *marks[MOST_MARKS];
    cli_list texts = {0};
    const cli_option options[] = {
        {"size", 0, CLI_INT, &size, "N", "entries wanted", 1, 1000000},
        {"out", 'o', CLI_TEXT, &out_path, "FILE", "write here, - is standard output", 0, 0},
        {"sample-chars", 0, CLI_INT, &how.sample_chars, "N", "characters to take of each TEXT, 0: all", 0, 1e15},
        {"reserve", 0, CLI_TEXT, &reserve, "MARK[,MARK]",
         "entries that no text becomes, like <bt>, for tags of ganz prepare", 0, 0},
        {"max-length", 0, CLI_INT, &length, "N", "entries are shorter than N characters", 2, 1000},
        {"nearest", 0, CLI_FLAG, &how.nearest, NULL, "keep the nearest size found, as Tensor2Tensor does", 0, 0},
        {"invalid", 0, CLI_CHOICE, &invalid, "error|replace",
         "what text that is not UTF-8 does: stop, or become U+FFFD", 0, 0},
        {"quiet", 'q', CLI_FLAG, &quiet, NULL, "no progress and no closing line", 0, 0},
        {0},
    };
    int code = cli_parse(&cli_about_vocab, options, argc, argv, &texts);
    if (code < 0 && !split_marks(reserve, marks, &how.mark_count))
        code = cli_usage(&cli_about_vocab, "--reserve has at most %d marks", MOST_MARKS);
    if (code < 0 && texts.count == 0) code = cli_usage(&cli_about_vocab, "which TEXT to learn from?");
    for (int i = 0; code < 0 && i < texts.count && how.sample_chars > 0; i++)
        if (strcmp(texts.items[i], "-") == 0)
            code = cli_usage(&cli_about_vocab,
                             "standard input has no size to sample by: give --sample-chars 0 to take all of it");
    if (code < 0) {
        ganz_error err = {0};
        how.target_size = (int)size;
        how.max_length = (int)length;
        how.marks = marks;
        how.replace_invalid = strcmp(invalid, "replace") == 0;
        code = learn(&texts, &how, out_path, quiet, &err) == GANZ_OK ? CLI_OK : cli_fail(&cli_about_vocab, &err);
    }
    cli_list_free(&texts);
    return code;
}
