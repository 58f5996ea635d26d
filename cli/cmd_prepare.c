/* ganz prepare: parallel text to a training corpus. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "ganz/corpus.h"
#include "ganz/io.h"
#include "mixture.h"

/* clang-format off */
const cli_command cli_about_prepare = {
    .name = "prepare",
    .usage = "--vocab V --source FILE... --target FILE... --out CORPUS [OPTIONS]",
    .summary = "turn parallel text into a training corpus",
    .details =
    "Line i of a source file and line i of its target file are a pair: the first source goes with the first target,\n"
    "and so on. .gz, .xz and .zst files are decompressed; one of the files may be -, standard input. Both sides are\n"
    "stripped; a pair with an empty side is dropped. Lengths are in tokens and count the end mark.\n"
    "\n"
    "Weights say how often each pair comes in an epoch of training: with 6 it comes six times, with 0.5 in every\n"
    "other epoch. There is one for each pair of files; without --weight all are 1. The list of --list has a line\n"
    "\"SOURCE TARGET [WEIGHT] [NAME=VALUE...]\" for each pair of files; lines that begin with # are comments.\n"
    "\n"
    "--tag puts a mark of the vocabulary (ganz vocab --reserve) before each source, so that a model can tell text\n"
    "that was made by a machine from text that was not. There is one for each pair of files, - is none.\n"
    "\n"
    "Copies of pairs teach text that corpora seldom hold: in capitals, in small letters, without the final mark, and\n"
    "so on. Their options give the share of pairs that get a copy, which comes beside the pair. Which pairs these are\n"
    "depends on --seed and their place in the files. --inserted takes lines of the file --insert: emoji, names and\n"
    "words that are to be copied. In a list, tag=<bt>, upper=0.1, lower=, title=, bare=, joined=, inserted=,\n"
    "quotes= and initial= hold for one pair of files, instead of the options.\n"
    "\n"
    "--formality teaches a model to say Sie or du as it is told: pairs whose target is plainly formal or informal, by\n"
    "the words of a file (recipes/formality-en-de.txt is one), get one of two marks before their source, in\n"
    "--formality-share of the cases; formality= in a list holds for one pair of files. The corpus notes the marks, and\n"
    "models trained on it follow ganz translate --formality.\n",
};
/* clang-format on */

/* What was given for each pair of files. */
typedef struct names {
    cli_list sources, targets, weights, tags;
    const char *list;
} names;

static void show_progress(void *context, long long pairs) { cli_progress_show(context, pairs); }

/* ---- which files -------------------------------------------------------------------------------- */

static int no_memory(void)
{
    const ganz_error err = {.status = GANZ_ENOMEM, .message = "out of memory for the names of the files"};
    return cli_fail(&cli_about_prepare, &err);
}

static int sets_of_options(cli_mixture *s, const names *n, const ganz_corpus_input *usual)
{
    const cli_command *const about = &cli_about_prepare;
    const cli_list *const sources = &n->sources, *const targets = &n->targets, *const weights = &n->weights;
    if (sources->count == 0) return cli_usage(about, "--source and --target, or --list, are needed");
    if (sources->count != targets->count)
        return cli_usage(about, "%d source files, but %d target files", sources->count, targets->count);
    if (weights->count != 0 && weights->count != sources->count)
        return cli_usage(about, "%d weights for %d pairs of files", weights->count, sources->count);
    if (n->tags.count != 0 && n->tags.count != sources->count)
        return cli_usage(about, "%d tags for %d pairs of files", n->tags.count, sources->count);
    for (int i = 0; i < sources->count; i++) {
        ganz_corpus_input input = *usual;
        input.source = sources->items[i];
        input.target = targets->items[i];
        if (weights->count && !cli_mixture_weight(weights->items[i], &input.weight))
            return cli_usage(about, "--weight needs numbers over 0, up to 1000, not %s", weights->items[i]);
        if (n->tags.count && strcmp(n->tags.items[i], "-") != 0) input.tag = n->tags.items[i];
        if (!cli_mixture_add(s, &input)) return no_memory();
    }
    return -1;
}

/* All of a text file, with an end; NULL and a sentence when it cannot be read. */
static char *read_text(const char *path, ganz_error *err)
{
    ganz_lines *lines;
    char *text = NULL;
    size_t bytes = 0, n;
    const char *line;
    if (ganz_lines_open(&lines, path, err) != GANZ_OK) return NULL;
    while (ganz_lines_next(lines, &line, &n, err) == GANZ_OK) {
        char *const grown = realloc(text, bytes + (line ? n + 1 : 1));
        if (!grown) break;
        text = grown;
        text[bytes] = '\0';
        if (!line) {
            ganz_lines_close(&lines);
            return text;
        }
        memcpy(text + bytes, line, n);
        bytes += n;
        text[bytes++] = '\n';
    }
    ganz_lines_close(&lines);
    free(text);
    return NULL;
}

static int sets_of_list(cli_mixture *s, const char *path, const ganz_corpus_input *usual)
{
    const cli_command *const about = &cli_about_prepare;
    ganz_error err = {.message = "out of memory for the list"};
    s->list = read_text(path, &err);
    if (!s->list || cli_mixture_parse(s, path, usual, &err) != GANZ_OK) return cli_fail(about, &err);
    return s->count ? -1 : cli_usage(about, "%s names no files", path);
}

/* ---- the closing table -------------------------------------------------------------------------- */

static void add_counts(ganz_prepare_counts *sum, const ganz_prepare_counts *c)
{
    sum->read += c->read;
    sum->invalid += c->invalid;
    sum->empty += c->empty;
    sum->identical += c->identical;
    sum->too_short += c->too_short;
    sum->too_long += c->too_long;
    sum->ratio += c->ratio;
    sum->duplicate += c->duplicate;
    sum->kept += c->kept;
    sum->repaired += c->repaired;
    sum->copies += c->copies;
    sum->formal += c->formal;
    sum->informal += c->informal;
    sum->marked += c->marked;
    sum->source_tokens += c->source_tokens;
    sum->target_tokens += c->target_tokens;
}

static void print_row(const char *label, long long count, long long read)
{
    printf("%-28s%14lld%9.2f%%\n", label, count, read ? 100.0 * (double)count / (double)read : 0.0);
}

static void print_table(const cli_mixture *s, const ganz_prepare_counts *counts)
{
    ganz_prepare_counts sum = {0};
    for (int i = 0; i < s->count; i++) add_counts(&sum, &counts[i]);
    if (s->count > 1) {
        printf("%14s%14s%10s  %s\n", "pairs", "kept", "weight", "source");
        for (int i = 0; i < s->count; i++)
            printf("%14lld%14lld%10g  %s\n", counts[i].read, counts[i].kept, s->inputs[i].weight, s->inputs[i].source);
        putchar('\n');
    }
    print_row("pairs read", sum.read, sum.read);
    print_row("  dropped, not UTF-8", sum.invalid, sum.read);
    print_row("  dropped, empty side", sum.empty, sum.read);
    print_row("  dropped, identical sides", sum.identical, sum.read);
    print_row("  dropped, too short", sum.too_short, sum.read);
    print_row("  dropped, too long", sum.too_long, sum.read);
    print_row("  dropped, length ratio", sum.ratio, sum.read);
    print_row("  dropped, duplicate", sum.duplicate, sum.read);
    print_row("pairs kept", sum.kept, sum.read);
    if (sum.copies) print_row("  copies of them", sum.copies, sum.read);
    if (sum.formal + sum.informal + sum.marked) {
        print_row("  of formal address", sum.formal, sum.read);
        print_row("  of informal address", sum.informal, sum.read);
        print_row("  marked, copies too", sum.marked, sum.read);
    }
    if (sum.repaired) print_row("  of them repaired", sum.repaired, sum.read);
    printf("%-28s%14lld\n%-28s%14lld\n", "source tokens", sum.source_tokens, "target tokens", sum.target_tokens);
}

/* ---- the command -------------------------------------------------------------------------------- */

static int prepare(const cli_mixture *s, const char *vocab_path, const char *out, ganz_prepare_options *how, bool quiet)
{
    const cli_command *const about = &cli_about_prepare;
    ganz_error err = {.message = "out of memory"};
    ganz_vocab *vocab = NULL;
    cli_progress progress;
    ganz_prepare_counts *const counts = calloc((size_t)s->count, sizeof *counts);
    ganz_status status = counts ? ganz_vocab_open_any(&vocab, vocab_path, &err) : GANZ_ENOMEM;
    if (status == GANZ_OK) {
        how->stop = cli_stop_listen(about, "after this block of lines"); /* the temporary file goes before we do */
        cli_progress_start(&progress, "prepare", "pairs", 0, quiet);
        how->progress = show_progress;
        how->context = &progress;
        status = ganz_corpus_prepare(out, vocab, s->inputs, s->count, how, counts, &err);
    }
    if (status == GANZ_OK) {
        long long read = 0;
        for (int i = 0; i < s->count; i++) read += counts[i].read;
        cli_progress_end(&progress, read);
        if (!quiet) print_table(s, counts);
    }
    ganz_vocab_close(&vocab);
    free(counts);
    return status == GANZ_OK ? CLI_OK : cli_fail(about, &err);
}

static int choose_sets(cli_mixture *s, const names *n, const ganz_corpus_input *usual)
{
    if (!n->list) return sets_of_options(s, n, usual);
    if (n->sources.count || n->targets.count || n->weights.count || n->tags.count)
        return cli_usage(&cli_about_prepare, "--list stands for --source, --target, --weight and --tag");
    return sets_of_list(s, n->list, usual);
}

int cli_run_prepare(int argc, char **argv)
{
    const char *vocab = NULL, *out = NULL, *invalid = "error";
    names n = {0};
    cli_list rest = {0};
    ganz_corpus_input usual = {.weight = 1};
    ganz_prepare_options how;
    ganz_prepare_defaults(&how);
    long long min_length = how.min_length, max_length = how.max_length, threads = how.threads,
              seed = (long long)how.seed;
    double *const copies = usual.copies, formality = 0.5;
    bool quiet = false;
    const cli_option options[] = {
        {"vocab", 'v', CLI_TEXT, &vocab, "FILE", "the vocabulary, a SentencePiece model, or a model with one", 0, 0},
        {"source", 's', CLI_LIST, &n.sources, "FILE...", "source text", 0, 0},
        {"target", 't', CLI_LIST, &n.targets, "FILE...", "its translation, line by line", 0, 0},
        {"weight", 'w', CLI_LIST, &n.weights, "X...", "how often each pair of the files comes in an epoch", 0, 0},
        {"tag", 0, CLI_LIST, &n.tags, "MARK...", "put before each source of the files, - is none", 0, 0},
        {"list", 'l', CLI_TEXT, &n.list, "FILE", "files, weights and more from a list", 0, 0},
        {"out", 'o', CLI_TEXT, &out, "FILE", "the corpus to write", 0, 0},
        {"min-length", 0, CLI_INT, &min_length, "N", "drop pairs with fewer tokens on a side", 0, 1e9},
        {"max-length", 0, CLI_INT, &max_length, "N", "drop pairs with more tokens on a side, 0: keep all", 0, 1e9},
        {"max-ratio", 0, CLI_REAL, &how.max_ratio, "X",
         "drop pairs whose longer side has over X times the tokens of the other, 0: keep all", 0, 1e9},
        {"dedupe", 0, CLI_FLAG, &how.dedupe, NULL, "drop pairs that came before", 0, 0},
        {"drop-identical", 0, CLI_FLAG, &how.drop_identical, NULL, "drop pairs whose target is their source", 0, 0},
        {"upper", 0, CLI_REAL, &copies[GANZ_COPY_UPPER], "X", "share of pairs copied in capitals", 0, 1},
        {"lower", 0, CLI_REAL, &copies[GANZ_COPY_LOWER], "X", "share copied with the source in small letters", 0, 1},
        {"title", 0, CLI_REAL, &copies[GANZ_COPY_TITLE], "X", "share copied with capitals at the words of the source",
         0, 1},
        {"bare", 0, CLI_REAL, &copies[GANZ_COPY_BARE], "X", "share copied without the marks that end both sides", 0, 1},
        {"joined", 0, CLI_REAL, &copies[GANZ_COPY_JOINED], "X", "share copied with the next pair behind", 0, 1},
        {"inserted", 0, CLI_REAL, &copies[GANZ_COPY_INSERTED], "X",
         "share copied with a line of --insert on both sides", 0, 1},
        {"quotes", 0, CLI_REAL, &copies[GANZ_COPY_QUOTES], "X",
         "share copied with the other kind, straight or curly, of apostrophes and quotes in the source", 0, 1},
        {"initial", 0, CLI_REAL, &copies[GANZ_COPY_INITIAL], "X",
         "share copied with a capital at the beginning of both sides, as on signs", 0, 1},
        {"insert", 0, CLI_TEXT, &how.insert_from, "FILE", "lines for --inserted", 0, 0},
        {"formality", 0, CLI_TEXT, &how.formality, "FILE", "words of address, by which pairs get marks of formality", 0,
         0},
        {"formality-share", 0, CLI_REAL, &formality, "X", "share of formal and informal pairs that get their mark", 0,
         1},
        {"seed", 0, CLI_INT, &seed, "N", "which pairs are copied and marked", 0, 9e15},
        {"invalid", 0, CLI_CHOICE, &invalid, "error|drop|replace",
         "what text that is not UTF-8 does: stop, drop its pair, or become U+FFFD", 0, 0},
        {"threads", 'j', CLI_INT, &threads, "N", "threads, 0: one for each core; the corpus is the same for any number",
         0, 1024},
        {"quiet", 'q', CLI_FLAG, &quiet, NULL, "no progress and no table", 0, 0},
        {0},
    };
    const cli_command *const about = &cli_about_prepare;
    cli_mixture s = {0};
    int code = cli_parse(about, options, argc, argv, &rest);
    if (code < 0 && rest.count > 0) code = cli_usage(about, "what is %s?", rest.items[0]);
    if (code < 0 && !vocab) code = cli_usage(about, "--vocab is needed");
    if (code < 0 && !out) code = cli_usage(about, "--out is needed");
    usual.formality = how.formality ? formality : 0;
    if (code < 0) code = choose_sets(&s, &n, &usual);
    if (code < 0) {
        how.min_length = (int)min_length;
        how.max_length = (int)max_length;
        how.threads = (int)threads;
        how.seed = (uint64_t)seed;
        how.invalid = invalid[0] == 'd'   ? GANZ_INVALID_DROP
                      : invalid[0] == 'r' ? GANZ_INVALID_REPLACE
                                          : GANZ_INVALID_ERROR;
        code = prepare(&s, vocab, out, &how, quiet);
    }
    cli_mixture_free(&s);
    cli_list_free(&n.sources);
    cli_list_free(&n.targets);
    cli_list_free(&n.weights);
    cli_list_free(&n.tags);
    cli_list_free(&rest);
    return code;
}
