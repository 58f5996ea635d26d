/* ganz bench translate. */
#define _GNU_SOURCE /* secure_getenv */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "ganz/bench.h"
#include "ganz/io.h"

/* clang-format off */
const cli_command cli_about_bench_translate = {
    .name = "bench translate",
    .usage = "[--model FILE | --random small|base|big] [OPTIONS]",
    .summary = "translation: tokens/s, latency, memory, load time",
    .details =
    "Sources are random tokens, of the lengths in --lengths (one number a line) or of usual ones. With --force-length\n"
    "every sentence takes exactly that many steps, so that systems can be compared; what is said means nothing.\n"
    "--random makes a model in a temporary file first; its making counts for nothing. Without it and --model, the\n"
    "model is the file that GANZ_MODEL names, else the default model. Peak memory is that of the whole process.\n",
};
/* clang-format on */

typedef struct options {
    const char *model, *random, *lengths, *device, *precision;
    long long vocab_size, bits, threads, beam, force, batch, sentences;
    bool single, json;
} options;

/* ---- lengths ------------------------------------------------------------------------------------ */

/* About the lengths of news: 5 to 60 tokens, 27 on average. */
static int usual_length(int i) { return 5 + (i * 37 % 45 + i * 11 % 12) * (i % 7 ? 4 : 5) / 5; }

static int no_memory(void)
{
    return cli_fail(&cli_about_bench_translate,
                    &(ganz_error){.status = GANZ_ENOMEM, .message = "out of memory for the lengths"});
}

static int make_lengths(const options *o, int **lengths, int *count)
{
    *count = (int)o->sentences;
    *lengths = malloc((size_t)*count * sizeof **lengths);
    for (int i = 0; *lengths && i < *count; i++) (*lengths)[i] = usual_length(i);
    return *lengths ? -1 : no_memory();
}

static int not_a_length(const char *path, long long line)
{
    ganz_error err = {.status = GANZ_EFORMAT};
    snprintf(err.message, sizeof err.message, "%s:%lld: not a length of 1 to 100000 tokens", path, line);
    return cli_fail(&cli_about_bench_translate, &err);
}

static int read_lengths(const options *o, int **lengths, int *count)
{
    const cli_command *const about = &cli_about_bench_translate;
    ganz_lines *lines;
    ganz_error err;
    const char *text;
    size_t bytes, capacity = 0;
    if (ganz_lines_open(&lines, o->lengths, &err) != GANZ_OK) return cli_fail(about, &err);
    int code = -1;
    while (code < 0) {
        if (ganz_lines_next(lines, &text, &bytes, &err) != GANZ_OK) code = cli_fail(about, &err);
        if (code >= 0 || !text) break;
        char number[16], *end;
        snprintf(number, sizeof number, "%.*s", bytes < 15 ? (int)bytes : 15, text);
        const long value = strtol(number, &end, 10);
        if (end == number || *end || value < 1 || value > 100000)
            code = not_a_length(o->lengths, ganz_lines_number(lines));
        if ((size_t)*count == capacity) {
            int *const more = realloc(*lengths, (capacity = 2 * capacity + 64) * sizeof *more);
            if (!more) code = no_memory();
            else *lengths = more;
        }
        if (code < 0) (*lengths)[(*count)++] = (int)value;
    }
    ganz_lines_close(&lines);
    return code;
}

/* ---- random models ------------------------------------------------------------------------------ */

/* The file, and who makes it: a signal takes both with it. */
static char random_path[512];
static volatile sig_atomic_t maker;

static void on_signal(int number)
{
    if (maker > 0 && kill((pid_t)maker, SIGKILL) == 0)
        waitpid((pid_t)maker, NULL, 0); /* else it may name the file yet */
    unlink(random_path);
    signal(number, SIG_DFL);
    raise(number);
}

/* Not by signal(), which in C11 lets a second one in that kills before all is tidied up (timeout sends two). */
static void listen(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction ours = {.sa_handler = on_signal}, before;
    sigfillset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup and the like */
            sigaction(numbers[i], &ours, NULL);
}

/* In a process of its own, so that its memory does not count. */
static int make_model(const options *o, const char *path)
{
    ganz_error err;
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) return cli_fail_errno(&cli_about_bench_translate, "start", "a process");
    maker = child;
    if (child == 0) {
        const ganz_status status = ganz_random_model(path, o->random, (int)o->vocab_size, (int)o->bits, &err);
        _exit(status == GANZ_OK ? 0 : cli_fail(&cli_about_bench_translate, &err));
    }
    int status;
    const bool ended = waitpid(child, &status, 0) == child && WIFEXITED(status);
    maker = 0;
    if (!ended)
        return cli_fail(&cli_about_bench_translate,
                        &(ganz_error){.status = GANZ_EIO, .message = "the process that makes the model was killed"});
    return WEXITSTATUS(status) == 0 ? -1 : WEXITSTATUS(status);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static void print_report(const options *o, const ganz_translation_report *r)
{
    const double rate = (double)r->tokens / r->seconds, peak = cli_peak_mib();
    if (o->json) {
        printf("{\"tokens_per_s\": %.2f, \"tokens\": %lld, \"seconds\": %.4f, \"cpu_s\": %.4f, "
               "\"load_s\": %.4f, \"peak_mib\": %.1f",
               rate, r->tokens, r->seconds, r->cpu_seconds, r->load_seconds, peak);
        if (o->single) printf(", \"p50_ms\": %.3f, \"p99_ms\": %.3f", r->p50_ms, r->p99_ms);
        printf("}\n");
        return;
    }
    printf("tokens/s     %.0f (%lld in %.2f s, %.2f s of CPU time)\n", rate, r->tokens, r->seconds, r->cpu_seconds);
    if (o->single) printf("ms/sentence  %.1f median, %.1f for 99 of 100\n", r->p50_ms, r->p99_ms);
    printf("load         %.0f ms\n", 1000 * r->load_seconds);
    printf("peak memory  %.0f MiB\n", peak);
}

static int measure(const options *o, const char *model)
{
    ganz_translation_bench what = {.threads = (int)o->threads,
                                   .beam = (int)o->beam,
                                   .force_length = (int)o->force,
                                   .batch_tokens = (int)o->batch,
                                   .single = o->single,
                                   .device = o->device,
                                   .precision = o->precision};
    ganz_translation_report report;
    ganz_error err;
    int *lengths = NULL;
    int code = o->lengths ? read_lengths(o, &lengths, &what.count) : make_lengths(o, &lengths, &what.count);
    what.lengths = lengths;
    if (code < 0 && ganz_bench_translate(model, &what, &report, &err) != GANZ_OK)
        code = cli_fail(&cli_about_bench_translate, &err);
    free(lengths);
    if (code >= 0) return code;
    print_report(o, &report);
    return CLI_OK;
}

static int run(const options *o)
{
    char path[CLI_PATH];
    if (!o->random) {
        const char *const model = cli_find_model(o->model, path);
        return model ? measure(o, model)
                     : cli_no_model(&cli_about_bench_translate, "give --model FILE or --random SHAPE");
    }
    const char *const folder = secure_getenv("TMPDIR");
    snprintf(random_path, sizeof random_path, "%s/ganz_bench_XXXXXX", folder && *folder ? folder : "/tmp");
    const int file = mkstemp(random_path);
    if (file < 0) return cli_fail_errno(&cli_about_bench_translate, "make a temporary file", random_path);
    listen();
    close(file);
    int code = make_model(o, random_path);
    if (code < 0) code = measure(o, random_path);
    unlink(random_path);
    return code;
}

static const options standard = {
    .vocab_size = 32000, .bits = 8, .threads = 1, .beam = 4, .sentences = 200, .device = "cpu", .precision = "auto"};

static int check(const options *o, const cli_list *rest)
{
    const cli_command *const about = &cli_about_bench_translate;
    if (rest->count > 0) return cli_usage(about, "what is %s?", rest->items[0]);
    if (o->model && o->random) return cli_usage(about, "give either --model or --random");
    if (!o->random && o->bits != standard.bits)
        return cli_usage(about, "--bits goes with --random: a model has its own");
    if (!o->random && o->vocab_size != standard.vocab_size)
        return cli_usage(about, "--vocab-size goes with --random: a model has its own");
    if (o->lengths && o->sentences != standard.sentences)
        return cli_usage(about, "--sentences and --lengths exclude each other: there is a sentence for each length");
    return -1;
}

int cli_run_bench_translate(int argc, char **argv)
{
    const cli_command *const about = &cli_about_bench_translate;
    options o = standard;
    const cli_option table[] = {
        {"model", 'm', CLI_TEXT, &o.model, "FILE", "the model", 0, 0},
        {"random", 0, CLI_CHOICE, &o.random, "small|base|big", "a model with random weights", 0, 0},
        {"vocab-size", 0, CLI_INT, &o.vocab_size, "N", "of the random model", 64, 1 << 20},
        {"bits", 0, CLI_INT, &o.bits, "N", "of the random model; 0: float", 0, 8},
        {"threads", 'j', CLI_INT, &o.threads, "N", "threads", 1, 256},
        {"beam", 'b', CLI_INT, &o.beam, "N", "hypotheses kept at each step", 1, 64},
        {"batch-tokens", 0, CLI_INT, &o.batch, "N", "size of a batch; 0: the usual one", 0, 1 << 20},
        {"force-length", 0, CLI_INT, &o.force, "N", "steps of every sentence; 0: as the model wants", 0, 4096},
        {"lengths", 0, CLI_TEXT, &o.lengths, "FILE", "source lengths", 0, 0},
        {"sentences", 'n', CLI_INT, &o.sentences, "N", "sentences, without --lengths", 1, 1000000},
        {"single", 0, CLI_FLAG, &o.single, NULL, "one sentence at a time", 0, 0},
        {"device", 'd', CLI_TEXT, &o.device, "cpu|cuda[:N]", "where to compute", 0, 0},
        {"precision", 0, CLI_CHOICE, &o.precision, "auto|fp32|tf32|bf16", "of products of float models", 0, 0},
        {"json", 0, CLI_FLAG, &o.json, NULL, "the report as JSON", 0, 0},
        {0},
    };
    cli_list rest = {0};
    int code = cli_parse(about, table, argc, argv, &rest);
    if (code < 0) code = check(&o, &rest);
    cli_list_free(&rest);
    return code < 0 ? run(&o) : code;
}
