/* ganz quantize: a float model becomes an integer model. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "ganz/io.h"
#include "ganz/quantize.h"

/* clang-format off */
const cli_command cli_about_quantize = {
    .name = "quantize",
    .usage = "--model MODEL --train CORPUS [--calibrate TEXT] --out DIR [OPTIONS]\n"
             "       ganz quantize --model MODEL --text TEXT --out DIR [OPTIONS]\n"
             "       ganz quantize --model MODEL --calibrate TEXT --out FILE [OPTIONS]",
    .summary = "make an integer model of a float model",
    .details =
"Every matrix product of the new model multiplies integers of --bits bits: weights are rounded, and the input of\n"
"each product has a step of its own.\n"
"\n"
"--method learned (so it is with --train) trains in six phases: 1 integer parameters, 2 measured ranges, 3 learned\n"
"steps, 4 refined steps, 5 and 6 fine-tuning of the parameters. --recipe few-bits, for 6 bits and fewer, learns steps\n"
"and parameters together instead and has a step for each row of a weight. With --calibrate steps begin as --method kl\n"
"finds them on that text (DIR/first.safetensors), instead of the largest values of phase 2.\n"
"DIR gets best.safetensors (the integer model, the best from the end of phase 4 on by validation),\n"
"phase-3.safetensors (the one after phase 3), last.safetensors (to go on with --resume), log.tsv and loss.svg,\n"
"steps.tsv and steps.svg (the steps over time), and, where there is text for validation, quant.txt, quant.tsv,\n"
"quant.json and quant.svg (what rounding did to each operand, worst first).\n"
"Settings are those the model was trained with, as far as its file tells. Signals are as in ganz train.\n"
"A small model can lose more by learning than it gains. So, where there is text for validation, the model is\n"
"calibrated too, and if that has the better BLEU there it becomes best.safetensors and the learned one is\n"
"learned.safetensors; --keep learned does without.\n"
"\n"
"The corpus only says which sentences to look at: what is learned is to believe what the float model believes, or\n"
"another --teacher of the same vocabulary, so that the integer model stays near it. Of several teachers each has its\n"
"share of the batches. With --learn-from corpus the corpus is right instead.\n"
"--text needs no translations: the float model makes them. TEXT has sentences of the source language, a line each; some\n"
"thousand do. DIR/translated.tsv keeps the translations as they come, so that work that was stopped goes on, and the\n"
"last of them (a 20th) are the text for validation, unless --valid-source names another. Steps begin as those of\n"
"--method fit (DIR/first.safetensors), and settings are those of the recipe text: short phases for two cores.\n"
"\n"
"--recipe paper does all as the paper does; it goes on from the last.safetensors of a run of --recipe paper-base.\n"
"\n"
"--method max (so it is with --calibrate) takes steps from the largest magnitudes seen while the model translates a\n"
"text (or, with --calibrate-target, while it follows the given translation); some hundred sentences do. --method kl\n"
"clips them where the distribution of magnitudes suffers least. --method fit runs through the text twice, clips where\n"
"the products themselves suffer least, and adds to biases what they lose on average: mostly the best of these, and\n"
"better still with --per-row for models whose weights differ much from row to row. --method clip clips everything to one range; with\n"
"--train the parameters are tuned to that. --method dynamic gives each row of an input a step of its own as it\n"
"comes, which the model file emulates in float. These are what the learned method is compared with.\n",
};
/* clang-format on */

enum { REPORT_LINES = 200 };

typedef struct words {
    const char *recipe, *report, *budget, *text;
    ganz_own_text_files files; /* of text */
    char first[GANZ_OWN_TEXT_PATH];
    ganz_train_options run;
    ganz_calibration how;
    cli_progress progress;
    bool quiet;
    char command[2048];
} words;

/* ---- calibrated --------------------------------------------------------------------------------- */

static void show(void *context, long long lines) { cli_progress_show(&((words *)context)->progress, lines); }

static void fill_calibration(words *w)
{
    const ganz_recipe *const r = &w->run.recipe;
    w->how.command = w->command;
    w->how.progress = show;
    w->how.context = w;
    w->how.stop = cli_stop_listen(&cli_about_quantize, "with the next token; nothing is written");
    w->how.threads = w->run.threads;
    w->how.method = r->method;
    w->how.bits = (int)r->bits;
    w->how.weight_bits = (int)r->weight_bits;
    w->how.activation_bits = (int)r->activation_bits;
    w->how.attention_bits = (int)r->attention_bits;
    w->how.bias_bits = (int)r->bias_bits;
    w->how.dense = r->products == GANZ_PRODUCTS_DENSE;
    w->how.exceptions = r->exceptions[0] ? r->exceptions : NULL;
    w->how.power_of_two = r->power_of_two;
    w->how.per_row = r->per_row;
    w->how.weight_range = r->weight_range == GANZ_WEIGHT_RANGE_LEARNED ? GANZ_WEIGHT_RANGE_AUTO : r->weight_range;
    w->how.float_lookup = r->float_lookup;
    w->how.clip = r->clip[1];
}

/* Before the work, so that nothing is refused after it. *made: it was not there. */
static int make_folder(const char *path, bool *made)
{
    struct stat info;
    *made = mkdir(path, 0777) == 0;
    if (*made || (errno == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode))) return -1;
    return cli_fail_errno(&cli_about_quantize, "make the folder", path);
}

static int calibrate(words *w)
{
    ganz_calibration_report report;
    ganz_error err;
    bool made = false;
    const int code = w->report ? make_folder(w->report, &made) : -1;
    if (code >= 0) return code;
    fill_calibration(w);
    cli_progress_start(&w->progress, "measured", "lines", w->how.most_lines, w->quiet || !isatty(STDERR_FILENO));
    const ganz_status status = ganz_calibrate(w->run.model, w->run.out, &w->how, &report, &err);
    cli_progress_end(&w->progress, status == GANZ_OK ? report.lines : 0);
    if (status != GANZ_OK && made) rmdir(w->report);
    if (status != GANZ_OK) return cli_fail(&cli_about_quantize, &err);
    if (w->report && ganz_quantize_report(w->run.out, w->how.source, REPORT_LINES, w->report, &err) != GANZ_OK)
        return cli_fail(&cli_about_quantize, &err);
    if (w->quiet) return CLI_OK;
    printf("%d of %d products in %d-bit integers", report.integer_products, report.products, w->how.bits);
    if (report.lines)
        printf(", %d input steps from %lld line%s (%lld left out)", report.scales, report.lines, cli_s(report.lines),
               report.left_out);
    puts(w->how.method == GANZ_METHOD_DYNAMIC ? ", emulated in float" : "");
    return CLI_OK;
}

/* ---- learned ------------------------------------------------------------------------------------ */

static void print_report(const words *w, const ganz_train_report *r)
{
    const char *const out = w->run.out;
    fprintf(stderr, "%lld step%s, %lld target tokens, %.0f tokens/s\n", r->step, cli_s(r->step), r->tokens,
            r->tokens_per_second);
    if (r->best_step > 0) {
        cli_print_best(r);
        fputc('\n', stderr);
    }
    if (r->compared > 0)
        fprintf(stderr, "integer engine: BLEU %.2f; %d of %d validation sentences differ from training%s\n",
                r->engine_bleu, r->different, r->compared,
                r->different == 0 ? "" : " (floats around the integers are rounded otherwise there)");
    if (r->calibrated)
        fprintf(stderr,
                "calibration does better on the validation text, BLEU %.2f, and is kept; the learned model is "
                "%s/learned.safetensors\n",
                r->calibrated_bleu, out);
    else if (r->calibrated_bleu >= 0)
        fprintf(stderr, "calibration alone gives BLEU %.2f on the validation text\n", r->calibrated_bleu);
    fprintf(stderr, "%s/best.safetensors: %d of %d products in integers", out, r->integer_products, r->products);
    if (w->run.valid_source) fprintf(stderr, "; what rounding did is in %s/quant.txt", out);
    fputc('\n', stderr);
}

static int learn(words *w)
{
    ganz_train_report report;
    w->run.command = w->command;
    const int code = cli_train(&cli_about_quantize, &w->run, w->quiet, &report);
    if (code == CLI_OK && !w->quiet) print_report(w, &report);
    return code;
}

/* ---- where learning begins ----------------------------------------------------------------------- */

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* The calibrated model whose steps learning begins with, and which it has to beat: the one of a run that goes on (what
 * a run without a checkpoint has left may be of another model), or made of at most `lines` lines (0: all) of a text
 * that the method runs through `times` times. */
static int make_first(words *w, int method, long long lines, int times)
{
    ganz_recipe begun;
    ganz_error err;
    bool found;
    if (snprintf(w->first, sizeof w->first, "%s/first.safetensors", w->run.out) >= (int)sizeof w->first)
        return cli_usage(&cli_about_quantize, "%s: the name of the folder is too long", w->run.out);
    w->run.scales_of = w->first;
    w->run.rival = w->first;
    if (ganz_train_recipe(w->run.out, &begun, &found, &err) != GANZ_OK) return cli_fail(&cli_about_quantize, &err);
    if (w->run.resume && found && is_file(w->first)) return -1;
    fill_calibration(w);
    w->how.method = method;
    w->how.most_lines = lines;
    cli_progress_start(&w->progress, "measured", "lines", lines * times, w->quiet || !isatty(STDERR_FILENO));
    const ganz_status status = ganz_calibrate(w->run.model, w->first, &w->how, NULL, &err);
    cli_progress_end(&w->progress, 0);
    w->how.source = NULL;
    return status == GANZ_OK ? -1 : cli_fail(&cli_about_quantize, &err);
}

/* A folder that holds another run is left as it is, for learning to refuse. *taken: so it is. */
static int is_taken(const words *w, bool *taken)
{
    ganz_recipe begun;
    ganz_error err;
    bool found;
    if (ganz_train_recipe(w->run.out, &begun, &found, &err) != GANZ_OK) return cli_fail(&cli_about_quantize, &err);
    *taken = found && !w->run.resume;
    return -1;
}

/* Steps by KL. */
static int learn_from_first(words *w)
{
    bool taken = false, made = false;
    int code = is_taken(w, &taken);
    if (code >= 0) return code;
    if (taken) return learn(w);
    code = make_folder(w->run.out, &made);
    if (code < 0) code = make_first(w, GANZ_METHOD_KL, w->how.most_lines, 1);
    if (code >= 0 && made) rmdir(w->run.out);
    return code < 0 ? learn(w) : code;
}

/* ---- learned from a text of one language --------------------------------------------------------- */

static int translate_text(words *w)
{
    const ganz_own_text how = {.model = w->run.model,
                               .text = w->text,
                               .folder = w->run.out,
                               .threads = w->run.threads,
                               .stop = cli_stop_listen(&cli_about_quantize, "soon; --text goes on from there"),
                               .progress = show,
                               .context = w};
    ganz_error err;
    cli_progress_start(&w->progress, "translated", "lines", 0, w->quiet || !isatty(STDERR_FILENO));
    const ganz_status status = ganz_own_text_prepare(&how, &w->files, &err);
    cli_progress_end(&w->progress, status == GANZ_OK ? w->files.lines : 0);
    if (status != GANZ_OK) return cli_fail(&cli_about_quantize, &err);
    w->run.train = w->files.corpus;
    if (!w->run.valid_source && w->files.held_out > 0) {
        w->run.valid_source = w->files.valid_source;
        w->run.valid_target = w->files.valid_target;
    }
    return -1;
}

static int learn_from_text(words *w)
{
    enum { LINES = 250 };
    bool taken = false;
    int code = is_taken(w, &taken);
    if (code >= 0) return code;
    if (taken) return learn(w);
    code = translate_text(w);
    w->how.source = w->text;
    if (code < 0 && !w->run.scales_of) code = make_first(w, GANZ_METHOD_FIT, LINES, 2);
    return code < 0 ? learn(w) : code;
}

/* ---- a budget ----------------------------------------------------------------------------------- */

/* "36M", "900k", "31000000" bytes; or up to 8: bits of a weight. */
static bool parse_budget(const char *text, ganz_budget *budget)
{
    char *end;
    const double number = strtod(text, &end);
    const double unit = *end == 'k' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : 1;
    if (end == text || !(number > 0 && number * unit < 1e15)) return false;
    if (unit > 1) end++;
    *budget = (ganz_budget){0};
    if (unit == 1 && number <= 8) budget->bits = number;
    else budget->bytes = (long long)(number * unit);
    return *end == '\0';
}

static void show_rounding(void *context, int done, int of)
{
    cli_progress *const p = context;
    p->total = of;
    cli_progress_show(p, done);
}

static void print_choice(const ganz_budget_choice *choice)
{
    const char *before = "widths of weights: ";
    for (int bits = 8; bits > 0; bits--) {
        if (!choice->products[bits]) continue;
        fprintf(stderr, "%s%d product%s of %d bit%s", before, choice->products[bits], cli_s(choice->products[bits]),
                bits, cli_s(bits));
        before = ", ";
    }
    fprintf(stderr, "; %.2f bits on average, a file of at most %.1f MB, divergence %.5f nats a token\n", choice->bits,
            choice->bytes / 1e6, choice->harm);
    if (choice->exceptions[0])
        fprintf(stderr, "%d bit%s, but: %s\n", choice->weight_bits, cli_s(choice->weight_bits), choice->exceptions);
}

/* Widths for this run. One that goes on has them already; beside another one's learning refuses to begin. */
static int keep_within(words *w)
{
    const cli_command *const about = &cli_about_quantize;
    ganz_recipe *const r = &w->run.recipe, begun;
    ganz_budget budget;
    ganz_budget_choice choice;
    ganz_error err;
    bool found = false;
    if (!w->budget) return -1;
    if (!w->run.train) return cli_usage(about, "--budget goes with --train, whose text tells what each product bears");
    if (!parse_budget(w->budget, &budget))
        return cli_usage(about, "--budget is a size like 36M, or bits up to 8, not %s", w->budget);
    if (ganz_train_recipe(w->run.out, &begun, &found, &err) != GANZ_OK) return cli_fail(about, &err);
    if (found && w->run.resume && begun.weight_bits == 0) /* a choice names it */
        return cli_usage(about, "%s was begun without --budget: its widths stay as they are", w->run.out);
    if (found) return -1;
    if (r->exceptions[0] || r->weight_bits > 0)
        return cli_usage(about, "--budget chooses the widths of weights: give none");
    w->run.stop = cli_stop_listen(about, "with the next width; nothing is written");
    budget.progress = show_rounding;
    budget.context = &w->progress;
    cli_progress_start(&w->progress, "rounded alone", "widths of products", 0, w->quiet);
    const ganz_status status = ganz_budget_choose(&w->run, &budget, &choice, &err);
    cli_progress_end(&w->progress, status == GANZ_OK ? w->progress.total : 0);
    if (status != GANZ_OK) return cli_fail(about, &err);
    if (!w->quiet) print_choice(&choice);
    r->weight_bits = choice.weight_bits;
    if (ganz_recipe_set(r, "exceptions", choice.exceptions, &err) != GANZ_OK) return cli_fail(about, &err);
    return -1;
}

/* ---- words -------------------------------------------------------------------------------------- */

/* One line of a file of rules behind the text so far; # begins a remark. Returns the length, which may be too much. */
static size_t append_rule(char *text, size_t n, const char *line, size_t bytes)
{
    size_t blank = 0;
    const char *const remark = memchr(line, '#', bytes);
    if (remark) bytes = (size_t)(remark - line);
    while (blank < bytes && strchr(" \t\r", line[blank])) blank++;
    if (blank == bytes) return n;
    if (n + bytes + 3 > GANZ_EXCEPTIONS_BYTES) return GANZ_EXCEPTIONS_BYTES;
    return n + (size_t)snprintf(text + n, GANZ_EXCEPTIONS_BYTES - n, "%s%.*s", n ? "; " : "", (int)bytes, line);
}

static int read_rules(const char *path, char text[GANZ_EXCEPTIONS_BYTES])
{
    const cli_command *const about = &cli_about_quantize;
    ganz_lines *lines;
    const char *line;
    size_t bytes, n = 0;
    ganz_error err;
    ganz_status status = ganz_lines_open(&lines, path, &err);
    if (status != GANZ_OK) return cli_fail(about, &err);
    text[0] = '\0';
    while ((status = ganz_lines_next(lines, &line, &bytes, &err)) == GANZ_OK && line && n < GANZ_EXCEPTIONS_BYTES)
        n = append_rule(text, n, line, bytes);
    ganz_lines_close(&lines);
    if (status != GANZ_OK) return cli_fail(about, &err);
    if (n < GANZ_EXCEPTIONS_BYTES) return -1;
    return cli_usage(about, "%s: more than %d letters of rules", path, GANZ_EXCEPTIONS_BYTES - 1);
}

/* --products with the name of a file: its rules are the exceptions, and the setting itself is as if not given. */
static int take_products(cli_settings *settings, ganz_recipe *recipe)
{
    const char **const given = cli_settings_value(settings, "products");
    char text[GANZ_EXCEPTIONS_BYTES];
    ganz_error err;
    if (!*given || strcmp(*given, "all") == 0 || strcmp(*given, "dense") == 0) return -1;
    if (!strpbrk(*given, "/."))
        return cli_usage(&cli_about_quantize,
                         "--products is all, dense or a file whose name has a dot or a slash in it (./%s), not %s",
                         *given, *given);
    if (*cli_settings_value(settings, "exceptions"))
        return cli_usage(&cli_about_quantize, "--products with a file and --exceptions exclude each other");
    const int code = read_rules(*given, text);
    if (code >= 0) return code;
    if (ganz_recipe_set(recipe, "exceptions", text, &err) != GANZ_OK)
        return cli_usage(&cli_about_quantize, "%s: %s", *given, err.message);
    *given = NULL;
    return -1;
}

/* Settings of the model's own training (or of the run that goes on), the recipe, and options, each over the one
 * before. */
static int make_recipe(words *w, cli_settings *settings)
{
    const cli_command *const about = &cli_about_quantize;
    ganz_recipe *const r = &w->run.recipe;
    ganz_error err;
    bool found = false;
    if (w->run.resume && w->run.out &&
        (ganz_train_recipe(w->run.out, r, &found, &err) != GANZ_OK ||
         ganz_train_check_kind(w->run.out, true, &err) != GANZ_OK))
        return cli_fail(about, &err);
    if (!found && w->run.model && ganz_model_recipe(w->run.model, r, &found, &err) != GANZ_OK)
        return cli_fail(about, &err);
    const char *const recipe = w->recipe ? w->recipe : w->text && !found ? "text" : NULL;
    if (recipe && ganz_recipe_read(r, recipe, &err) != GANZ_OK) return cli_fail(about, &err);
    r->average_last = r->patience = 0; /* of training, which a recipe or the model's file may name */
    if (w->run.teacher_count > 0) r->learn_from = GANZ_LEARN_FROM_MODEL;
    int code = take_products(settings, r);
    if (code < 0) code = cli_settings_apply(about, settings, r);
    if (code >= 0) return code;
    if (ganz_recipe_check(r, &err) != GANZ_OK) return cli_usage(about, "%s", err.message);
    return -1;
}

/* --calibrate beside --train. */
static int check_first(const words *w)
{
    const cli_command *const about = &cli_about_quantize;
    const ganz_train_options *const o = &w->run;
    if (w->report || w->how.columns)
        return cli_usage(about, "--%s goes with --calibrate alone, without --train", w->report ? "report" : "columns");
    if (!w->how.source) return -1;
    if (o->scales_of)
        return cli_usage(about, "--calibrate and --steps-of both say where steps begin: give one of them");
    if (!o->model) return cli_usage(about, "--calibrate needs --model, which it measures");
    if (ganz_train_processes() > 1)
        return cli_usage(about, "--calibrate beside --train is for one process: calibrate first, then give --steps-of");
    return -1;
}

static int check_words(const words *w)
{
    const cli_command *const about = &cli_about_quantize;
    const ganz_train_options *const o = &w->run;
    const bool learns = o->train || w->text;
    if (!o->model && !o->resume) return cli_usage(about, "which model? give --model");
    if (!o->out) return cli_usage(about, "where to? give --out");
    if (w->text && (o->train || w->how.source))
        return cli_usage(about, "--text takes the place of --train and --calibrate: give one of them");
    if (w->text && !o->model) return cli_usage(about, "--text needs --model, which translates it");
    if (o->scales_of && !learns) return cli_usage(about, "--steps-of goes with --train, which learns them on");
    if (o->teacher_count > 0 && !learns)
        return cli_usage(about, "--teacher goes with --train: without it nothing is learned");
    if (o->valid_source && !learns)
        return cli_usage(about, "--valid-source goes with --train: without it nothing is chosen");
    if (o->resume && !learns)
        return cli_usage(about, "--resume goes with --train: without it there is no run to go on with");
    if (!learns && strcmp(o->device, "cpu") != 0)
        return cli_usage(about, "--device goes with --train: measuring is done on the CPU");
    if (w->how.most_lines > 0 && !w->how.source)
        return cli_usage(about, "--calibrate-lines goes with --calibrate, whose lines they are");
    if (w->how.target && !w->how.source)
        return cli_usage(about, "--calibrate-target goes with --calibrate, whose translation it is");
    if (w->how.columns && !w->how.source)
        return cli_usage(about, "--columns goes with --calibrate, whose text shows how columns differ");
    if (w->how.columns && w->report)
        return cli_usage(about, "--report and --columns exclude each other: a report has one step for each input");
    if (w->report && !w->how.source)
        return cli_usage(about, "--report goes with --calibrate, whose text it translates");
    if (!o->valid_source != !o->valid_target) return cli_usage(about, "--valid-source and --valid-target go together");
    return o->train ? check_first(w) : -1;
}

/* What the settings, now that all are known, leave without a meaning. */
static int check_settings(const words *w, const cli_settings *settings)
{
    const cli_command *const about = &cli_about_quantize;
    const ganz_train_options *const o = &w->run;
    if (o->recipe.learn_from == GANZ_LEARN_FROM_CORPUS && o->teacher_count > 0)
        return cli_usage(about, "--teacher and --learn-from corpus exclude each other");
    if (o->train && o->recipe.learn_from != GANZ_LEARN_FROM_CORPUS && o->teacher_count == 0 && !o->model)
        return cli_usage(about, "which model to learn from? give --model, or --teacher");
    if ((o->scales_of || (o->train && w->how.source)) && o->recipe.method == GANZ_METHOD_CLIP)
        return cli_usage(about, "--%s goes with --method learned: here it would change nothing",
                         o->scales_of ? "steps-of" : "calibrate");
    if (!o->train && o->recipe.clip[0] != o->recipe.clip[1])
        return cli_usage(about, "--clip with two ranges goes with --train, which narrows them");
    ganz_train_options known = *o;
    if (w->text) known.train = known.valid_source = w->text; /* the model makes both of it */
    return cli_settings_check(about, settings, &known);
}

/* The method that goes with the text, unless one is named, by an option, a recipe or the run that goes on; and whether
 * it can do with that. */
static int choose_method(words *w, bool named)
{
    const cli_command *const about = &cli_about_quantize;
    ganz_recipe *const r = &w->run.recipe;
    const bool trains = w->run.train || w->text;
    if (!named && !trains && r->method == GANZ_METHOD_LEARNED)
        r->method = w->how.columns ? GANZ_METHOD_FIT : GANZ_METHOD_MAX;
    const bool learned = r->method == GANZ_METHOD_LEARNED, clip = r->method == GANZ_METHOD_CLIP;
    const bool needs_text = !clip && r->method != GANZ_METHOD_DYNAMIC;
    if (trains && !learned && !clip)
        return cli_usage(about, "only the methods learned and clip train: give no --train");
    if (!trains && learned) return cli_usage(about, "which text? give --train, the corpus to learn from");
    if (!trains && needs_text && !w->how.source)
        return cli_usage(about, "which text? give --train, --text or --calibrate");
    if (!trains && r->method == GANZ_METHOD_DYNAMIC && w->report)
        return cli_usage(about, "--report needs steps to report on, and the dynamic method has none");
    if (!trains && !needs_text && w->how.source && !w->report)
        return cli_usage(about, "--calibrate goes with a method that measures: here it would change nothing");
    return -1;
}

static int work(words *w)
{
    if (w->text) return learn_from_text(w);
    if (!w->run.train) return calibrate(w);
    return w->how.source ? learn_from_first(w) : learn(w);
}

int cli_run_quantize(int argc, char **argv)
{
    const cli_command *const about = &cli_about_quantize;
    words w = {0};
    long long threads = 0;
    cli_settings settings = {0};
    cli_list rest = {0}, teachers = {0};
    ganz_train_defaults(&w.run);
    ganz_calibration_defaults(&w.how);
    w.run.quantize = true;
    const cli_option own[] = {
        {"model", 'm', CLI_TEXT, &w.run.model, "FILE", "the float model", 0, 0},
        {"out", 'o', CLI_TEXT, &w.run.out, "DIR|FILE", "folder of the run; with --calibrate, the integer model", 0, 0},
        {"train", 't', CLI_TEXT, &w.run.train, "CORPUS", "corpus from ganz prepare, to learn from", 0, 0},
        {"text", 0, CLI_TEXT, &w.text, "FILE", "text in the source language, to learn from: the model translates it", 0,
         0},
        {"valid-source", 0, CLI_TEXT, &w.run.valid_source, "FILE", "text for validation", 0, 0},
        {"valid-target", 0, CLI_TEXT, &w.run.valid_target, "FILE", "its translation", 0, 0},
        {"calibrate", 0, CLI_TEXT, &w.how.source, "FILE",
         "text in the source language, to measure with; with --train, where steps begin", 0, 0},
        {"calibrate-target", 0, CLI_TEXT, &w.how.target, "FILE", "its translation, instead of the model's own", 0, 0},
        {"calibrate-lines", 0, CLI_INT, &w.how.most_lines, "N", "stop after N lines; 0: take all", 0, 1e15},
        {"columns", 0, CLI_FLAG, &w.how.columns, "",
         "with --calibrate, method fit: a step and a zero for each column of an input", 0, 0},
        {"report", 0, CLI_TEXT, &w.report, "DIR", "with --calibrate: write quant.* there, as learning does", 0, 0},
        {"steps-of", 0, CLI_TEXT, &w.run.scales_of, "MODEL",
         "learning: begin with this integer model's steps, as of --method kl", 0, 0},
        {"teacher", 0, CLI_LIST, &teachers, "MODEL...",
         "learning: from these float models instead of the corpus or --model", 0, 0},
        {"budget", 0, CLI_TEXT, &w.budget, "SIZE|BITS",
         "learning: widths of weights so that the file has this size, like 36M, or so many bits on average", 0, 0},
        {"resume", 0, CLI_FLAG, &w.run.resume, "", "go on from the folder's last checkpoint, if there is one", 0, 0},
        {"device", 'd', CLI_TEXT, &w.run.device, "cpu|cuda[:N]", "where to learn", 0, 0},
        {"threads", 'j', CLI_INT, &threads, "N", "threads of the CPU, 0: all; the result is the same", 0, 1024},
        {"recipe", 'r', CLI_TEXT, &w.recipe, "FILE|NAME", "settings over those of the model", 0, 0},
        {"quiet", 'q', CLI_FLAG, &w.quiet, "", "no progress", 0, 0},
        {0},
    };
    int code = cli_settings_open(&settings, own, GANZ_USE_QUANTIZE, NULL);
    if (code < 0) code = cli_parse(about, settings.options, argc, argv, &rest);
    if (code < 0 && rest.count > 0) code = cli_usage(about, "what is %s?", rest.items[0]);
    cli_list_free(&rest);
    w.run.threads = (int)threads;
    w.run.compare = true;
    w.quiet = w.quiet || (w.run.train && ganz_train_follows());
    w.run.teachers = teachers.items;
    w.run.teacher_count = teachers.count;
    if (code < 0) code = check_words(&w);
    if (code < 0) code = make_recipe(&w, &settings);
    if (code < 0) code = choose_method(&w, cli_settings_given(&settings, "method"));
    if (code < 0) code = check_settings(&w, &settings);
    if (code < 0) code = keep_within(&w);
    cli_join_words(argc, argv, w.command, sizeof w.command);
    if (code < 0) code = work(&w);
    cli_settings_close(&settings);
    cli_list_free(&teachers);
    return code;
}
