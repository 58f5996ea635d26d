/* ganz train: a model from a corpus. ganz average: one model from several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "ganz/train.h"

/* clang-format off */
const cli_command cli_about_train = {
    .name = "train",
    .usage = "--train CORPUS --vocab V --out DIR [--recipe R] [--valid-source S --valid-target T] [OPTIONS]\n"
             "       ganz train --train CORPUS --model MODEL --out DIR [OPTIONS]",
    .summary = "train a model",
    .details =
"DIR gets last.safetensors (a model with all that is needed to go on), best.safetensors (the best model by\n"
"validation), average.safetensors (when averaging is asked for; with --average-last also the models it is made of),\n"
"log.tsv and loss.svg.\n"
"\n"
"A recipe is a file of lines \"name: value\", or one of base, base-quick, big, big-quick, paper-base, paper-big,\n"
"small, tiny; options override it, and --dump-config prints what comes out. With --resume the settings are those of\n"
"the run's last checkpoint, a recipe and options override them, and the run goes on as if it had never\n"
"stopped. So a run can branch: copy the folder of one that trains at a flat rate, and resume the copy with\n"
"other --steps and a --cooldown.\n"
"\n"
"With --model the run begins with the parameters of a float model, to fit it to other text: shape and vocabulary\n"
"are the model's, settings those it was trained with as far as its file tells, and the schedule begins anew. A\n"
"fraction of the --learning-rate, few --steps and a --cooldown of 1 do; the corpus is made with the vocabulary that\n"
"ganz inspect --vocab MODEL prints.\n"
"\n"
"With --teacher the corpus only says which sentences to look at: what is learned is to believe what the teacher\n"
"believes, a float model of any shape with the same vocabulary. Of several teachers each has its share of the\n"
"batches.\n"
"\n"
"SIGINT, SIGTERM and SIGHUP save a checkpoint and end the run (a second SIGINT ends it at once); SIGUSR1 saves\n"
"one and goes on.\n",
};
/* clang-format on */

/* clang-format off */
const cli_command cli_about_average = {
    .name = "average",
    .usage = "--out MODEL MODEL...",
    .summary = "average models of one shape",
    .details =
    "Checkpoints are models too. All must have the same shape and vocabulary. Settings that ganz quantize goes by are\n"
    "noted as in the first of them, so the newest comes first.\n",
};
/* clang-format on */

/* ---- report ------------------------------------------------------------------------------------- */

/* Whether a run that has ended wrote average.safetensors. */
static bool has_average(const ganz_train_report *r, const ganz_recipe *recipe)
{
    return recipe->average_last > 0 ? r->step >= recipe->save_every : recipe->average_decay > 0;
}

static void print_report(const ganz_train_report *r, const ganz_train_options *options, bool ended)
{
    const char *const out = options->out;
    const bool average = ended && has_average(r, &options->recipe);
    fprintf(stderr, "%lld step%s, %lld target tokens, %lld parameters, %.0f tokens/s%s\n", r->step, cli_s(r->step),
            r->tokens, r->parameters, r->tokens_per_second,
            r->early ? "; ended because validations got no better" : "");
    if (r->best_step > 0) {
        cli_print_best(r);
        fprintf(stderr, " (%s/best.safetensors)\n", out);
    } else {
        fprintf(stderr, "the model is in %s/%s.safetensors\n", out, average ? "average" : "last");
    }
    fprintf(stderr, "memory: %.0f MiB at most (%.0f MiB a pass, %.0f MiB parameters and optimizer)\n", cli_peak_mib(),
            (double)r->pass_bytes / 1048576, (double)r->weight_bytes / 1048576);
}

/* ---- train -------------------------------------------------------------------------------------- */

typedef struct train_words {
    const char *recipe, *device;
    long long threads;
    bool dump, quiet;
} train_words;

/* Checkpoint or model, recipe and options, each over the one before. */
static int make_recipe(const train_words *w, const cli_settings *settings, ganz_train_options *options)
{
    const cli_command *const about = &cli_about_train;
    ganz_error err;
    bool found = false;
    ganz_recipe *const r = &options->recipe;
    if (options->resume && options->out &&
        (ganz_train_recipe(options->out, r, &found, &err) != GANZ_OK ||
         ganz_train_check_kind(options->out, false, &err) != GANZ_OK))
        return cli_fail(about, &err);
    if (!found && options->model && ganz_model_recipe(options->model, r, &found, &err) != GANZ_OK)
        return cli_fail(about, &err);
    if (w->recipe && ganz_recipe_read(r, w->recipe, &err) != GANZ_OK) return cli_fail(about, &err);
    if (options->teacher_count > 0) r->learn_from = GANZ_LEARN_FROM_MODEL;
    const int code = cli_settings_apply(about, settings, r);
    if (code >= 0) return code;
    if (ganz_recipe_check(r, &err) != GANZ_OK) return cli_usage(about, "%s", err.message);
    return -1;
}

static int check_words(const ganz_train_options *o, const cli_settings *settings)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    const cli_command *const about = &cli_about_train;
    if (!o->train) return cli_usage(about, "--train is needed");
    if (!o->vocab && !o->model) return cli_usage(about, "--vocab is needed, or a --model to begin with");
    if (o->vocab && o->model)
        return cli_usage(about, "the vocabulary is the model's: --vocab and --model exclude each other");
    for (int i = 0; o->model && i < count; i++)
        if (table[i].network && cli_settings_given(settings, table[i].name))
            return cli_usage(about, "the network is the model's: --%s and --model exclude each other", table[i].name);
    if (!o->out) return cli_usage(about, "--out is needed");
    if (!o->valid_source != !o->valid_target) return cli_usage(about, "--valid-source and --valid-target go together");
    if (o->recipe.learn_from == GANZ_LEARN_FROM_MODEL && o->teacher_count == 0 && !o->model)
        return cli_usage(about, "which model to learn from? give --teacher");
    if (o->recipe.learn_from == GANZ_LEARN_FROM_CORPUS && o->teacher_count > 0)
        return cli_usage(about, "--teacher and --learn-from corpus exclude each other");
    return cli_settings_check(about, settings, o);
}

static int run(const train_words *w, ganz_train_options *options)
{
    ganz_train_report report;
    const int code = cli_train(&cli_about_train, options, w->quiet, &report);
    if (code != CLI_FAILED && !w->quiet) print_report(&report, options, code == CLI_OK);
    return code;
}

int cli_run_train(int argc, char **argv)
{
    const cli_command *const about = &cli_about_train;
    train_words w = {0};
    cli_settings settings = {0};
    cli_list rest = {0}, teachers = {0};
    ganz_train_options o;
    ganz_train_defaults(&o);
    const cli_option own[] = {
        {"recipe", 'r', CLI_TEXT, &w.recipe, "FILE|NAME", "recipe to start from", 0, 0},
        {"train", 't', CLI_TEXT, &o.train, "CORPUS", "corpus from ganz prepare", 0, 0},
        {"vocab", 'v', CLI_TEXT, &o.vocab, "FILE", "vocabulary of the corpus", 0, 0},
        {"model", 'm', CLI_TEXT, &o.model, "FILE", "float model to begin with, instead of fresh parameters", 0, 0},
        {"teacher", 0, CLI_LIST, &teachers, "MODEL...", "learn what these float models believe, instead of the corpus",
         0, 0},
        {"valid-source", 0, CLI_TEXT, &o.valid_source, "FILE", "text for validation", 0, 0},
        {"valid-target", 0, CLI_TEXT, &o.valid_target, "FILE", "its translation", 0, 0},
        {"out", 'o', CLI_TEXT, &o.out, "DIR", "folder of the run", 0, 0},
        {"resume", 0, CLI_FLAG, &o.resume, "", "go on from the folder's last checkpoint, if there is one", 0, 0},
        {"device", 'd', CLI_TEXT, &o.device, "cpu|cuda[:N]", "where to compute", 0, 0},
        {"threads", 'j', CLI_INT, &w.threads, "N", "threads of the CPU, 0: all; the result is the same", 0, 1024},
        {"source-language", 0, CLI_TEXT, &o.source_language, "CODE", "noted in the model", 0, 0},
        {"target-language", 0, CLI_TEXT, &o.target_language, "CODE", "noted in the model", 0, 0},
        {"dump-config", 0, CLI_FLAG, &w.dump, "", "print all settings as a recipe and end", 0, 0},
        {"quiet", 'q', CLI_FLAG, &w.quiet, "", "no progress", 0, 0},
        {0},
    };
    int code = cli_settings_open(&settings, own, GANZ_USE_TRAIN, NULL);
    if (code < 0) code = cli_parse(about, settings.options, argc, argv, &rest);
    if (code < 0 && rest.count > 0) code = cli_usage(about, "what is %s?", rest.items[0]);
    cli_list_free(&rest);
    char command[2048];
    cli_join_words(argc, argv, command, sizeof command);
    o.command = command;
    w.quiet = w.quiet || ganz_train_follows();
    o.threads = (int)w.threads;
    o.teachers = teachers.items;
    o.teacher_count = teachers.count;
    if (code < 0) code = make_recipe(&w, &settings, &o);
    if (code < 0 && w.dump) {
        cli_settings_print(&o.recipe);
        code = CLI_OK;
    }
    if (code < 0) code = check_words(&o, &settings);
    if (code < 0) code = run(&w, &o);
    cli_settings_close(&settings);
    cli_list_free(&teachers);
    return code;
}

/* ---- average ------------------------------------------------------------------------------------ */

int cli_run_average(int argc, char **argv)
{
    const cli_command *const about = &cli_about_average;
    const char *out = NULL;
    cli_list models = {0};
    ganz_error err;
    const cli_option options[] = {
        {"out", 'o', CLI_TEXT, &out, "MODEL", "file to write", 0, 0},
        {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0},
    };
    int code = cli_parse(about, options, argc, argv, &models);
    if (code < 0 && !out) code = cli_usage(about, "--out is needed");
    if (code < 0 && models.count == 0) code = cli_usage(about, "no models to average");
    if (code < 0) {
        const ganz_status status = ganz_average_models(models.items, models.count, out, &err);
        code = status == GANZ_OK ? CLI_OK : cli_fail(about, &err);
    }
    cli_list_free(&models);
    return code;
}
