/* ganz translate: documents by default (documents.h), lines where something is said about each line (lines.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bulk.h"
#include "cli.h"
#include "documents.h"
#include "ganz/inspect.h"
#include "ganz/io.h"
#include "inputs.h"
#include "lines.h"

/* clang-format off */
const cli_command cli_about_translate = {
    "translate", "[--model MODEL] [FILE... | --text TEXT]", "translate text and documents",
    "Reads the files, --text, or standard input, finds the sentences and writes the same with the sentences "
    "translated.\n"
    "White space, blank lines and markup stay as they were; so do addresses, placeholders (%s, {name}), code and "
    "emoji.\n"
    "Answers as soon as the input pauses, so that it can be talked to through pipes. Compressed files are "
    "recognised; an\n"
    "output named .gz, .xz or .zst is compressed. With -o FOLDER, and for inputs that are folders, each file has an\n"
    "output of its own.\n"
    "\n"
    "--format says what the inputs are; auto, the default, goes by the suffix, else by the content. lines is for "
    "files\n"
    "with one line for each line, like those that ganz score reads: no line is joined with another.\n"
    "--cache names a file that keeps translations: a job that was stopped goes on where it was.\n"
    "\n"
    "The model is --model, else the one for --from and --to, else the file that GANZ_MODEL names, else the default model,\n"
    "English to German. Models come with the program for en-de and de-en.\n"
    "\n"
    "--sample draws each token by the probability the model gives it, at a temperature (1: as they are, below: bolder) or\n"
    "from the K likeliest (top-10), in place of a search. A sentence has one answer for one --seed, wherever it stands\n"
    "and, with an integer model, whatever the machine. Made for back-translation; best with --format lines.\n"
    "\n"
    "--glossary names a file of terms, one a line: the term, a tab, what it becomes; without a tab it stays.\n"
    "\n"
    "--shard and --work are for large files of lines: see ganz join.\n"
    "\n"
    "--scores puts the score and a tab before each translation: log-probability / ((5 + length) / 6)^alpha, or\n"
    "/ length^alpha with models that say so. --to takes a label of models that have some (ganz inspect names them).\n"
    "--n-best N writes up to N lines for each line, with the line's number and a tab before them.\n"
    "--alignment puts a tab and links between words behind each translation, source-target, counted from 0: 0-0 1-2.\n"
    "Words are what white space separates.\n"
    "--word-scores puts a tab and a score of each word behind each translation: the logarithm of its probability, given\n"
    "the line and the words before it.\n"
    "--prefix names a file with one line for each line of input: what its translation must begin with, or nothing.\n"
    "These five are about lines: one line of output for each, or with --n-best several, and nothing is kept or put "
    "back.\n"
    "Sentences of more than --max-input tokens are translated in pieces that end at commas where possible.\n",
};
/* clang-format on */

enum { MOST_THREADS = 256 };

typedef struct job {
    cli_lines_options lines;
    ganz_document_options document;
    const char *model_path, *from, *to, *formality, *invalid, *newlines, *glossary_path, *cache_path;
    bool quiet, knows_source;
    cli_bulk bulk;
    const ganz_part *part; /* of the input, that is translated now; NULL: all of it */
    cli_progress progress;
} job;

/* Something is said about each line: no documents. */
static bool wants_lines(const job *j)
{
    const ganz_translator_options *const o = &j->lines.service.translator;
    return o->n_best > 1 || j->lines.scores || o->alignment || o->token_scores || j->lines.prefix;
}

static bool reads_input(const job *j, const cli_list *files)
{
    bool found = files->count == 0 && !j->lines.text;
    for (int i = 0; i < files->count; i++) found |= strcmp(files->items[i], "-") == 0;
    return found;
}

/* ---- documents ---------------------------------------------------------------------------------- */

/* Whether a person types and reads the answers. */
static bool is_talking(const job *j, const cli_list *files)
{
    return !j->quiet && reads_input(j, files) && isatty(STDIN_FILENO) && strcmp(j->lines.out, "-") == 0 &&
           isatty(STDOUT_FILENO);
}

static ganz_status run_documents(job *j, const ganz_model *model, const cli_list *files, int *skipped, ganz_error *err)
{
    const cli_inputs inputs = {.files = files,
                               .text = j->lines.text,
                               .part = j->part,
                               .out = j->lines.out,
                               .format = j->document.format,
                               .replace_invalid = j->lines.replace_invalid,
                               .quiet = j->quiet,
                               .talking = is_talking(j, files)};
    const cli_documents_options o = {.service = j->lines.service,
                                     .document = j->document,
                                     .bytes = cli_inputs_bytes(&inputs),
                                     .cache = j->cache_path,
                                     .model_path = j->model_path,
                                     .warn = !j->quiet && j->knows_source};
    cli_documents *documents;
    ganz_status status = cli_documents_open(&documents, model, &o, &j->progress, err);
    if (status != GANZ_OK) return status;
    j->progress.unit = "sentences";
    if (inputs.talking)
        fputs("ganz translate: type a line and press Enter to see its translation; Ctrl-D ends\n", stderr);
    status = cli_inputs_read(&inputs, documents, skipped, err);
    if (status == GANZ_OK) status = cli_documents_end(documents, err);
    if (inputs.talking) fputc('\n', stderr); /* behind the last prompt */
    cli_documents_close(&documents);
    return status;
}

static ganz_status translate_documents(job *j, const ganz_model *model, const cli_list *files, int *skipped,
                                       ganz_error *err)
{
    ganz_glossary *glossary = NULL;
    ganz_status status = j->glossary_path ? ganz_glossary_open(&glossary, j->glossary_path, err) : GANZ_OK;
    j->document.glossary = glossary;
    if (status == GANZ_OK) status = run_documents(j, model, files, skipped, err);
    ganz_glossary_close(&glossary);
    return status;
}

/* ---- parts -------------------------------------------------------------------------------------- */

typedef struct bulk_job {
    job *job;
    const ganz_model *model;
    const cli_list *files;
} bulk_job;

/* What is compared with itself out of a cache would always be the same. */
static ganz_status translate_part(void *context, const ganz_part *part, const char *path, bool anew, ganz_error *err)
{
    const bulk_job *const b = context;
    const char *const cache = b->job->cache_path;
    int skipped;
    b->job->part = part;
    b->job->lines.out = path;
    if (anew) b->job->cache_path = NULL;
    const ganz_status status = translate_documents(b->job, b->model, b->files, &skipped, err);
    b->job->cache_path = cache;
    cli_progress_end(&b->job->progress, 0);
    return status;
}

static ganz_status translate_parts(job *j, const ganz_model *model, const cli_list *files, ganz_error *err)
{
    bulk_job context = {.job = j, .model = model, .files = files};
    j->bulk.input = files->items[0];
    j->bulk.out = j->lines.out;
    j->bulk.quiet = j->quiet;
    if (j->bulk.work) j->progress.quiet = true; /* parts are told one by one */
    j->bulk.translate = translate_part;
    j->bulk.context = &context;
    const ganz_status status = ganz_part_origin(j->model_path, &j->lines.service.translator, &j->bulk.origin, err);
    return status == GANZ_OK ? cli_bulk_run(&j->bulk, err) : status;
}

static bool wants_parts(const job *j) { return j->bulk.shard || j->bulk.work; }

/* -1 to go on, or the exit code of options that do not go with parts. */
static int check_parts(job *j, const cli_list *files)
{
    const cli_command *const about = &cli_about_translate;
    const bool plain = strcmp(j->document.format, "auto") == 0 || strcmp(j->document.format, "lines") == 0;
    const int code = cli_bulk_check(&j->bulk, about);
    if (code >= 0 || !wants_parts(j)) return code;
    if (files->count != 1 || strcmp(files->items[0], "-") == 0)
        return cli_usage(about, "--shard and --work are about one FILE");
    if (wants_lines(j) || !plain || j->glossary_path || j->document.bilingual)
        return cli_usage(about, "--shard and --work are about plain lines: no other formats, --glossary, --bilingual, "
                                "--n-best, --scores, --alignment, --word-scores or --prefix");
    if (j->bulk.shard && strcmp(j->lines.out, "-") == 0)
        return cli_usage(about, "--shard needs --out FILE: it writes FILE.part-I-of-N");
    if (j->bulk.work && strcmp(j->lines.out, "-") != 0)
        return cli_usage(about, "--work writes into its folder; ganz join makes the file");
    j->document.format = "lines";
    return -1;
}

/* ---- the command -------------------------------------------------------------------------------- */

/* The languages of the text are those asked for, else the model's. */
static ganz_status choose_languages(job *j, const ganz_model *model, ganz_error *err)
{
    ganz_model_facts facts;
    const ganz_status status = cli_check_languages(model, j->from, j->to, err);
    ganz_model_describe(model, &facts);
    j->knows_source = j->from || facts.source_language;
    if (j->knows_source) j->document.source = j->from ? j->from : facts.source_language;
    if (j->to && ganz_vocab_label(ganz_model_vocab(model), 0)) j->lines.service.translator.label = j->to;
    if (j->to || facts.target_language) j->document.target = j->to ? j->to : facts.target_language;
    return status;
}

/* Whether the model can do what is asked for: -1, or the exit code of a usage error. */
static int check_formality(const job *j, const ganz_model *model)
{
    ganz_model_facts facts;
    ganz_model_describe(model, &facts);
    if (facts.formality || j->lines.service.translator.formality == GANZ_FORMALITY_AUTO) return -1;
    return cli_usage(&cli_about_translate, "%s was not taught --formality", j->model_path);
}

static int translate(job *j, ganz_model *model, const cli_list *files)
{
    ganz_error err;
    int skipped = 0;
    const int code = check_formality(j, model);
    if (code >= 0) return code;
    ganz_status status = choose_languages(j, model, &err);
    if (status == GANZ_OK && wants_lines(j)) {
        j->lines.service.translator.split = j->document.source;
        status = cli_lines_run(&j->lines, model, files, &j->progress, &err);
    } else if (status == GANZ_OK && wants_parts(j)) {
        status = translate_parts(j, model, files, &err);
    } else if (status == GANZ_OK) {
        status = translate_documents(j, model, files, &skipped, &err);
    }
    if (status != GANZ_OK) return cli_fail(&cli_about_translate, &err);
    return skipped > 0 ? CLI_FAILED : CLI_OK;
}

static int run_job(job *j, const cli_list *files)
{
    ganz_error err;
    char path[CLI_PATH];
    ganz_model *model;
    if (!j->model_path && (j->from || j->to)) {
        const int code = cli_find_languages(&cli_about_translate, j->from, j->to, path);
        if (code >= 0) return code;
        j->model_path = path;
    }
    j->model_path = cli_find_model(j->model_path, path);
    if (!j->model_path) return cli_no_model(&cli_about_translate, "give --model FILE");
    const bool to_screen = strcmp(j->lines.out, "-") == 0 && isatty(STDOUT_FILENO);
    cli_progress_start(&j->progress, "translated", "lines", 0, j->quiet || to_screen || !isatty(STDERR_FILENO));
    if (ganz_model_open(&model, j->model_path, &err) != GANZ_OK) return cli_fail(&cli_about_translate, &err);
    const int code = translate(j, model, files);
    ganz_model_close(&model);
    return code;
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

static ganz_formality formality_named(const char *name)
{
    if (strcmp(name, "formal") == 0) return GANZ_FORMALITY_FORMAL;
    return strcmp(name, "informal") == 0 ? GANZ_FORMALITY_INFORMAL : GANZ_FORMALITY_AUTO;
}

/* -1 to go on, or the exit code of options that do not go together. */
static int check_choices(const job *j, const cli_list *files)
{
    const cli_command *const about = &cli_about_translate;
    const ganz_translator_options *const o = &j->lines.service.translator;
    const bool documents = j->glossary_path || j->cache_path || j->document.bilingual || !is_plain(j->document.format);
    if (o->beam > 0 && o->n_best > o->beam) return cli_usage(about, "--n-best must be at most --beam (%d)", o->beam);
    if (j->lines.text && files->count > 0) return cli_usage(about, "--text and FILE exclude each other");
    if (!is_format(j->document.format))
        return cli_usage(about, "there is no format %s: auto %s", j->document.format, ganz_document_formats());
    if (wants_lines(j) && documents)
        return cli_usage(
            about,
            "--n-best, --scores, --alignment, --word-scores and --prefix are about lines: no --glossary, --cache, "
            "--bilingual or other formats");
    if (j->lines.prefix && strcmp(j->lines.prefix, "-") == 0 && reads_input(j, files))
        return cli_usage(about, "standard input can be the text or the prefixes, not both");
    return -1;
}

/* --sample: a temperature, or top-K. Returns -1 to go on, or the exit code of a usage error. */
static int read_sample(ganz_translator_options *o, const char *sample, long long *beam, long long n_best)
{
    char *end;
    const bool top = strncmp(sample, "top-", 4) == 0;
    const char *const number = sample + (top ? 4 : 0);
    const double value = number[0] >= '0' && number[0] <= '9' ? strtod(number, &end) : -1;
    if (value < 0 || *end || (top ? value < 1 || value > 128 || value != (int)value : value < 0.01 || value > 100))
        return cli_usage(&cli_about_translate, "--sample is a temperature (0.01 to 100) or top-1 to top-128, not %s",
                         sample);
    if ((*beam != o->beam && *beam != 1) || n_best > 1)
        return cli_usage(&cli_about_translate,
                         "--sample draws one translation: it does not go with --beam and --n-best");
    *beam = 1;
    o->sample = top ? 1 : value;
    o->sample_top = top ? (int)value : 0;
    return -1;
}

int cli_run_translate(int argc, char **argv)
{
    job j = {.lines.out = "-",
             .formality = "auto",
             .invalid = "error",
             .newlines = "end",
             .bulk = {.part_bytes = 1 << 20, .claim_seconds = 60}};
    ganz_service_defaults(&j.lines.service);
    ganz_document_defaults(&j.document);
    ganz_translator_options *const o = &j.lines.service.translator;
    o->device = "cpu";
    o->precision = "auto";
    const char *sample = NULL;
    long long beam = o->beam, n_best = 1, seed = 1, batch = 0, max_input = 0, max_length = 0, threads = 0,
              remember = 16;
    const cli_option options[] = {
        {"model", 'm', CLI_TEXT, &j.model_path, "FILE", "the model: a file, or a pair of languages such as de-en", 0,
         0},
        {"text", 't', CLI_TEXT, &j.lines.text, "TEXT", "translate this instead of files", 0, 0},
        {"out", 'o', CLI_TEXT, &j.lines.out, "FILE", "where to write: a file, a folder, or - for standard output", 0,
         0},
        {"format", 'f', CLI_TEXT, &j.document.format, "NAME", "auto, text, lines, ...: what the inputs are", 0, 0},
        {"newlines", 0, CLI_CHOICE, &j.newlines, "end|space|never",
         "what a newline of plain text is: the end of a sentence or not", 0, 0},
        {"glossary", 0, CLI_TEXT, &j.glossary_path, "FILE",
         "terms, a tab, what they become; without a tab: not translated", 0, 0},
        {"bilingual", 0, CLI_FLAG, &j.document.bilingual, NULL, "each paragraph is followed by its translation", 0, 0},
        {"cache", 0, CLI_TEXT, &j.cache_path, "FILE",
         "keep translations here, and go on with them after an interruption", 0, 0},
        {"remember", 0, CLI_INT, &remember, "MB", "of memory for sentences that come again; 0: none", 0, 1 << 20},
        {"shard", 0, CLI_TEXT, &j.bulk.shard, "I/N|slurm", "translate part I of N of the lines, to OUT.part-I-of-N", 0,
         0},
        {"work", 0, CLI_TEXT, &j.bulk.work, "FOLDER", "share the parts of FILE with all who work in this folder", 0, 0},
        {"part-bytes", 0, CLI_INT, &j.bulk.part_bytes, "N", "of the parts of --work, the same for all who share them",
         64, 1 << 30},
        {"claim-seconds", 0, CLI_REAL, &j.bulk.claim_seconds, "S",
         "without a sign of life after which --work takes a part over", 1, 86400},
        {"verify", 0, CLI_REAL, &j.bulk.verify, "X", "share of the parts of --work to translate again and compare", 0,
         1},
        {"from", 0, CLI_TEXT, &j.from, "LANGUAGE", "of the text: takes a model for it, such as de-en for de", 0, 0},
        {"to", 0, CLI_TEXT, &j.to, "LANGUAGE", "of the translation", 0, 0},
        {"formality", 0, CLI_CHOICE, &j.formality, "auto|formal|informal",
         "how the reader is addressed, by models that were taught it: Sie or du", 0, 0},
        {"beam", 'b', CLI_INT, &beam, "N", "hypotheses kept at each step; 1: greedy; 0: as the model says, mostly 4", 0,
         64},
        {"sample", 0, CLI_TEXT, &sample, "T|top-K", "draw tokens by chance, at temperature T or from the K likeliest",
         0, 0},
        {"seed", 0, CLI_INT, &seed, "N", "of --sample", 0, 0},
        {"alpha", 0, CLI_REAL, &o->alpha, "A", "length penalty; -1: as the model says, mostly 0.6", -1, 10},
        {"least-length", 0, CLI_REAL, &o->least_length, "R",
         "fewest tokens for each token of the sentence; -1: as the model says, mostly 0.5", -1, 1},
        {"n-best", 0, CLI_INT, &n_best, "N", "translations for each line, at most the beam", 1, 64},
        {"scores", 0, CLI_FLAG, &j.lines.scores, NULL, "put scores before the translations", 0, 0},
        {"alignment", 0, CLI_FLAG, &o->alignment, NULL, "put links between words behind the translations", 0, 0},
        {"word-scores", 0, CLI_FLAG, &o->token_scores, NULL, "put a score of each word behind the translations", 0, 0},
        {"prefix", 0, CLI_TEXT, &j.lines.prefix, "FILE", "beginnings that the translations must have", 0, 0},
        {"device", 'd', CLI_TEXT, &o->device, "cpu|cuda[:N]",
         "where to compute; integer models give the same bytes on both", 0, 0},
        {"precision", 0, CLI_CHOICE, &o->precision, "auto|fp32|tf32|bf16",
         "of products; auto: bf16 on a GPU, else fp32", 0, 0},
        {"threads", 'j', CLI_INT, &threads, "N", "lines are shared among N threads; 0: all cores, or three on a GPU", 0,
         MOST_THREADS},
        {"batch-tokens", 0, CLI_INT, &batch, "N", "a line counts its tokens and 25 more; 0: 3072, or 16384 on a GPU", 0,
         1 << 20},
        {"max-length", 0, CLI_INT, &max_length, "N", "most tokens of a translation; 0: 2 * input + 50", 0, 1 << 20},
        {"max-input", 0, CLI_INT, &max_input, "N", "longest sentence in tokens; 0: 96 or the model's limit", 0,
         1 << 20},
        {"invalid", 0, CLI_CHOICE, &j.invalid, "error|replace", "what to do with text that is not UTF-8", 0, 0},
        {"quiet", 'q', CLI_FLAG, &j.quiet, NULL, "no progress, no prompt, no warning", 0, 0},
        {0},
    };
    cli_list files = {0};
    int code = cli_parse(&cli_about_translate, options, argc, argv, &files);
    j.document.newlines = newlines_named(j.newlines);
    j.lines.replace_invalid = strcmp(j.invalid, "replace") == 0;
    j.lines.service.workers = (int)threads;
    j.lines.service.remember = (size_t)remember << 20;
    o->seed = (uint64_t)seed;
    o->formality = formality_named(j.formality);
    if (code < 0 && sample) code = read_sample(o, sample, &beam, n_best);
    o->beam = (int)beam;
    o->n_best = (int)n_best;
    o->batch_tokens = (int)batch;
    o->max_input = (int)max_input;
    o->max_length = (int)max_length;
    if (code < 0) code = check_choices(&j, &files);
    if (code < 0) code = check_parts(&j, &files);
    if (code < 0) code = run_job(&j, &files);
    cli_list_free(&files);
    return code;
}
