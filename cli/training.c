/* Runs that train: signals, progress, exit codes. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* ---- signals ------------------------------------------------------------------------------------ */

static ganz_flag save_flag;

static void on_save(int number)
{
    (void)number;
    ganz_flag_set(&save_flag);
}

static void listen_for_save(void)
{
    struct sigaction action = {.sa_handler = on_save, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
}

/* ---- progress ----------------------------------------------------------------------------------- */

typedef struct showing {
    cli_progress bar;
    const char *hint; /* to be said once the run is under way, or NULL */
} showing;

static void show_progress(void *context, const ganz_train_progress *p)
{
    showing *const s = context;
    cli_progress *const bar = &s->bar;
    char detail[128];
    if (s->hint) cli_progress_say(bar, s->hint);
    s->hint = NULL;
    if (p->event) cli_progress_say(bar, p->event);
    /* a clock may end it before its steps do: the bar shows what is nearer */
    const double whole = p->seconds_left >= 0 && p->seconds > 0 ? 1 + p->seconds_left / p->seconds : 0;
    bar->total = whole > 0 ? (long long)((double)p->step * whole + 0.5) : p->steps;
    int n = snprintf(detail, sizeof detail, "steps, epoch %.2f", p->epoch);
    if (p->phase > 0) n = snprintf(detail, sizeof detail, "steps, %s (%s)", p->phase_label, p->phase_name);
    if (p->loss >= 0) n += snprintf(detail + n, sizeof detail - (size_t)n, ", loss %.4f", p->loss);
    if (p->tokens_per_second > 0)
        snprintf(detail + n, sizeof detail - (size_t)n, ", %.0f tokens/s", p->tokens_per_second);
    bar->unit = detail;
    bar->plain = true;
    bar->left = p->seconds_left;
    cli_progress_show(bar, p->step);
    bar->unit = "steps";
}

/* Products in fp32 are the default of a processor, also of one that has faster ones: bits of runs would change. */
static const char *hint_of(const ganz_train_options *o)
{
    const char *const instructions = ganz_instructions();
    if (o->recipe.precision != GANZ_PRECISION_AUTO || (o->device && strcmp(o->device, "cpu") != 0)) return NULL;
    if (!instructions || strcmp(instructions, "amx") != 0) return NULL;
    return "products in fp32: --precision bf16 is about three times as fast on this processor";
}

/* ---- the run ------------------------------------------------------------------------------------ */

int cli_train(const cli_command *command, ganz_train_options *options, bool quiet, ganz_train_report *report)
{
    showing s = {.hint = hint_of(options)};
    ganz_error err;
    *report = (ganz_train_report){0};
    listen_for_save();
    options->shared = true;
    options->stop = cli_stop_listen(command, "as soon as a checkpoint is saved");
    options->save = &save_flag;
    cli_progress_start(&s.bar, command->name, "steps", 0, quiet);
    options->progress = show_progress;
    options->context = &s;
    const ganz_status status = ganz_train(options, report, &err);
    s.bar.left = -1;
    cli_progress_end(&s.bar, report->step);
    return status == GANZ_OK ? CLI_OK : cli_fail(command, &err);
}

void cli_print_best(const ganz_train_report *r)
{
    fprintf(stderr, "best at step %lld: validation loss %.4f", r->best_step, r->best_loss);
    if (r->best_bleu >= 0) fprintf(stderr, ", BLEU %.2f", r->best_bleu);
}

void cli_join_words(int argc, char **argv, char *text, size_t bytes)
{
    size_t n = (size_t)snprintf(text, bytes, "ganz");
    for (int i = 0; i < argc && n < bytes; i++) n += (size_t)snprintf(text + n, bytes - n, " %s", argv[i]);
}
