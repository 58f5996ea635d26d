/* ganz bench WHAT: measures this machine. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "ganz/train.h"

typedef struct bench {
    const cli_command *about;
    int (*run)(int argc, char **argv);
} bench;

/* ---- bench train -------------------------------------------------------------------------------- */

/* clang-format off */
static const cli_command about_train = {
    .name = "bench train",
    .usage = "[--recipe R] [--device D] [--steps N] [--train CORPUS] [OPTIONS]",
    .summary = "whole training steps: data loading, dropout, optimizer",
    .details =
        "Without --train the corpus is made of random sentences of usual lengths (27 tokens on average). Tokens are\n"
        "real target tokens; pads do not count.\n",
};
/* clang-format on */

/* Settings of a whole run: what is measured are steps. */
static const char *const of_runs[] = {"learn-from", "time",         "log-every",      "validate-every", "save-every",
                                      "patience",   "average-last", "bleu-sentences", "beam",           "alpha",
                                      NULL};
enum { VOCAB_SIZE = 33288 };

static void print_train(const ganz_bench_report *r, long long steps)
{
    printf("parameters          %lld\n", r->parameters);
    printf("target tokens/s     %.0f\n", r->tokens_per_second);
    printf("source tokens/s     %.0f\n", r->source_tokens_per_second);
    printf("ms a step           %.3f (over %lld steps)\n", r->step_ms, steps);
    if (r->load_ms >= 0)
        printf("  load %.3f, forward and backward %.3f, update %.3f\n", r->load_ms, r->pass_ms, r->update_ms);
    printf("slots filled        %.1f%%\n", 100 * r->fill);
    printf("loss                %.4f\n", r->loss);
    printf("pass memory         %.0f MiB\n", (double)r->pass_bytes / 1048576);
    printf("weights, optimizer  %.0f MiB\n", (double)r->weight_bytes / 1048576);
    printf("peak host memory    %.0f MiB\n", cli_peak_mib());
}

static int run_train(int argc, char **argv)
{
    const cli_command *const about = &about_train;
    const char *recipe = NULL;
    long long threads = 0, vocab_size = VOCAB_SIZE, phase = 0, warm = 3, steps = 20;
    bool random = false;
    cli_settings settings = {0};
    cli_list rest = {0};
    ganz_train_options o;
    ganz_error err;
    ganz_train_defaults(&o);
    const cli_option own[] = {
        {"recipe", 'r', CLI_TEXT, &recipe, "FILE|NAME", "recipe to start from", 0, 0},
        {"train", 't', CLI_TEXT, &o.train, "CORPUS", "corpus from ganz prepare", 0, 0},
        {"random", 0, CLI_FLAG, &random, "", "random sentences; so it is without --train", 0, 0},
        {"vocab-size", 0, CLI_INT, &vocab_size, "N", "vocabulary of random sentences", 16, 1000000},
        {"device", 'd', CLI_TEXT, &o.device, "cpu|cuda[:N]", "where to compute", 0, 0},
        {"threads", 'j', CLI_INT, &threads, "N", "threads of the CPU, 0: all", 0, 1024},
        {"phase", 0, CLI_INT, &phase, "N", "of quantization; 0: training", 0, 6},
        {"warm", 0, CLI_INT, &warm, "N", "steps before the clock starts", 0, 100000},
        {"steps", 'n', CLI_INT, &steps, "N", "steps that are measured", 1, 1000000},
        {0},
    };
    int code = cli_settings_open(&settings, own, GANZ_USE_TRAIN, of_runs);
    if (code < 0) code = cli_parse(about, settings.options, argc, argv, &rest);
    if (code < 0 && rest.count > 0) code = cli_usage(about, "what is %s?", rest.items[0]);
    if (code < 0 && random && o.train) code = cli_usage(about, "--random and --train exclude each other");
    if (code < 0 && vocab_size != VOCAB_SIZE && o.train)
        code = cli_usage(about, "the vocabulary is the corpus's: --vocab-size and --train exclude each other");
    cli_list_free(&rest);
    if (code < 0 && recipe && ganz_recipe_read(&o.recipe, recipe, &err) != GANZ_OK) code = cli_fail(about, &err);
    if (code < 0) code = cli_settings_apply(about, &settings, &o.recipe);
    if (code < 0) code = cli_settings_check(about, &settings, &o);
    cli_settings_close(&settings);
    if (code >= 0) return code;
    ganz_bench_report report;
    o.threads = (int)threads;
    const ganz_status status = ganz_bench_train(&o, (int)phase, (int)vocab_size, (int)warm, (int)steps, &report, &err);
    if (status != GANZ_OK) return cli_fail(about, &err);
    print_train(&report, steps);
    return CLI_OK;
}

/* ---- the table ---------------------------------------------------------------------------------- */

static const bench benches[] = {
    {&about_train, run_train},
    {&cli_about_bench_translate, cli_run_bench_translate},
};

/* clang-format off */
const cli_command cli_about_bench = {
    .name = "bench",
    .usage = "WHAT [OPTIONS]",
    .summary = "measure speed and memory on this machine",
};
/* clang-format on */

int cli_run_bench(int argc, char **argv)
{
    const cli_command *const about = &cli_about_bench;
    if (argc < 2) return cli_usage(about, "what is to be measured?");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        printf("usage: ganz bench %s\n\n%s\n\n", about->usage, about->summary);
        for (size_t i = 0; i < sizeof benches / sizeof benches[0]; i++)
            printf("  %-10s %s\n", benches[i].about->name + strlen("bench "), benches[i].about->summary);
        return CLI_OK;
    }
    for (size_t i = 0; i < sizeof benches / sizeof benches[0]; i++)
        if (strcmp(argv[1], benches[i].about->name + strlen("bench ")) == 0) return benches[i].run(argc - 1, argv + 1);
    cli_guess guess = {0};
    for (size_t i = 0; i < sizeof benches / sizeof benches[0]; i++)
        cli_guess_add(&guess, argv[1], benches[i].about->name + strlen("bench "));
    if (guess.best) return cli_usage(about, "nothing named %s can be measured: did you mean %s?", argv[1], guess.best);
    return cli_usage(about, "nothing named %s can be measured", argv[1]);
}
