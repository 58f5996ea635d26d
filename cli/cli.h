/* What the commands of the program share: options from a table, one-sentence errors, exit codes. */
#ifndef GANZ_CLI_H
#define GANZ_CLI_H

#include <stdbool.h>

#include "ganz/ganz.h"
#include "ganz/recipe.h"
#include "ganz/train.h"

/* Exit codes: done; refused or failed; the command line makes no sense. 128 + N: stopped by signal N. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

typedef enum {
    CLI_FLAG,   /* bool *: --name sets it, --no-name clears it */
    CLI_SWITCH, /* const char **: --name makes it "true", --no-name "false"; else it stays as it is */
    CLI_INT,    /* long long *, checked against [min, max] */
    CLI_REAL,   /* double *, checked against [min, max] */
    CLI_TEXT,   /* const char ** */
    CLI_CHOICE, /* const char **, one of the words in `choices`, separated by "|" */
    CLI_LIST    /* cli_list *: the option may be repeated, and takes several words in a row */
} cli_kind;

typedef struct cli_list {
    const char **items; /* freed by cli_list_free */
    int count;
} cli_list;

typedef struct cli_option {
    const char *name; /* long name without dashes; NULL ends the table */
    char letter;      /* short name or 0 */
    cli_kind kind;
    void *value;      /* holds the default beforehand */
    const char *meta; /* name of the value in the help, or the choices */
    const char *help; /* one line */
    double min, max;  /* for numbers; both 0: no limits */
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *usage;   /* what follows the name: "--vocab V [TEXT...]" */
    const char *summary; /* one line for `ganz --help` */
    const char *details; /* paragraphs after the options in `ganz NAME --help`, or NULL */
} cli_command;

/* Parses files of defaults (config.h) and then argv[1..argc) into the table; words that are no options go to *rest
 * (never NULL; freed by caller through cli_list_free). Returns -1 to go on, or the exit code: after --help, or after a
 * usage error that has been reported on standard error. */
int cli_parse(const cli_command *command, const cli_option *options, int argc, char **argv, cli_list *rest);
void cli_list_free(cli_list *list);

/* From now on cli_parse hands tables over in place of parsing, and returns CLI_OK; NULL: it parses again. */
typedef void (*cli_options_reader)(const cli_command *command, const cli_option *options);
void cli_read_options(cli_options_reader reader);
/* An earlier option of the same name is the one that counts. */
bool cli_option_is_hidden(const cli_option *options, const cli_option *o);

/* "ganz NAME: sentence" on standard error, but nothing about a reader that has seen enough (ganz ... | head). Each
 * returns the exit code that goes with it. */
int cli_fail(const cli_command *command, const ganz_error *err);
int cli_fail_errno(const cli_command *command, const char *what, const char *name); /* "cannot WHAT NAME: " and why */
int cli_usage(const cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored) set the flag that is returned, and say so at once:
 * "stopping WAITS_FOR". A second SIGINT ends the program. For calls that end with GANZ_ESTOPPED, which cli_fail turns
 * into the exit code. */
const ganz_flag *cli_stop_listen(const cli_command *command, const char *waits_for);
int cli_stop_code(void); /* 128 and the number of the signal */

/* The name nearest to a word that is none of them. Starts as zeroes. */
typedef struct cli_guess {
    const char *best; /* NULL: none is near */
    int distance;
} cli_guess;
void cli_guess_add(cli_guess *guess, const char *word, const char *name);

/* Progress of long work on standard error: a bar with percent, rate and time left on a terminal, a plain line with them
 * every ten seconds otherwise; nothing when quiet or when the work is short. */
typedef struct cli_progress {
    const char *label, *unit;
    long long total; /* of the units; 0: unknown */
    double share;    /* of the work that is done, where units do not tell; negative: done / total */
    double started, shown;
    bool terminal, quiet, drawn;
    bool plain;  /* `unit` has the rate in it, and the time left is `left` */
    double left; /* seconds; negative: unknown */
} cli_progress;
void cli_progress_start(cli_progress *p, const char *label, const char *unit, long long total, bool quiet);
void cli_progress_show(cli_progress *p, long long done);
void cli_progress_end(cli_progress *p, long long done);
/* A sentence of its own line, above the bar. */
void cli_progress_say(cli_progress *p, const char *sentence);

/* The settings of a recipe as options. */
typedef struct cli_settings {
    const char **given;  /* for each setting; NULL: not on the command line */
    char (*help)[128];   /* for each setting */
    cli_option *options; /* the command's own, the settings, an end */
} cli_settings;
/* Makes s->options of a command's own options, up to the end mark, and of the settings of a use. `without` names
 * settings that mean nothing to the command, up to a NULL; or is NULL. -1 to go on, or the exit code when memory is
 * out. */
int cli_settings_open(cli_settings *s, const cli_option *own, ganz_setting_use use, const char *const *without);
void cli_settings_close(cli_settings *s);
/* Whether a setting was on the command line. */
/* Where the text of one is kept; NULL there: not given. */
const char **cli_settings_value(cli_settings *s, const char *name);
bool cli_settings_given(const cli_settings *s, const char *name);
/* Puts what was given into the recipe; -1 to go on, or the exit code of a usage error. */
int cli_settings_apply(const cli_command *command, const cli_settings *s, ganz_recipe *recipe);
/* Refuses what was given and would change nothing, like --beam where nothing is validated; the recipe is
 * options->recipe. -1 to go on, or the exit code of a usage error. */
int cli_settings_check(const cli_command *command, const cli_settings *s, const ganz_train_options *options);
/* The recipe as a file, on standard output. */
void cli_settings_print(const ganz_recipe *recipe);

/* What makes a plural of a word: "1 line", "2 lines". */
static inline const char *cli_s(long long count) { return count == 1 ? "" : "s"; }

/* The model a command uses: `given`, a file or the name of a pair such as de-en (a folder may have that name, too),
 * else what GANZ_MODEL names, else the default model. Models of pairs are looked for around the program; then the name
 * is in `path`. NULL: none; cli_no_model says so, `how` being what the user could do ("give --model FILE"), and returns
 * the exit code. */
enum { CLI_PATH = 4096 };
const char *cli_find_model(const char *given, char path[CLI_PATH]);
int cli_no_model(const cli_command *command, const char *how);
/* All models around the program, at most so many; returns how many there are. */
enum { CLI_MODELS = 64 };
int cli_list_models(char (*paths)[CLI_PATH], int most);
/* The model around the program that translates from one language to another, either of which may be NULL. -1: its name
 * is in `path`; else the exit code of an error that has been reported. */
int cli_find_languages(const cli_command *command, const char *from, const char *to, char path[CLI_PATH]);
/* Refuses a model that says it is for other languages than these (NULL: any). */
ganz_status cli_check_languages(const ganz_model *model, const char *from, const char *to, ganz_error *err);

/* ganz_train with progress on standard error, stopped by SIGINT, SIGTERM and SIGHUP, saved by SIGUSR1. Reports its
 * error and returns the exit code; the report is filled unless that is CLI_FAILED. */
int cli_train(const cli_command *command, ganz_train_options *options, bool quiet, ganz_train_report *report);
/* "best at step N: validation loss X, BLEU Y" on standard error, without an end of line; the BLEU where there is
 * one. */
void cli_print_best(const ganz_train_report *report);
/* Words of a command line as one text, for the metadata of models. */
void cli_join_words(int argc, char **argv, char *text, size_t bytes);

/* Seconds on a clock that never goes back. */
double cli_seconds(void);

/* Most memory this program ever held, in MiB; 0 where the system does not tell. */
double cli_peak_mib(void);

/* One function and one description for each command; the table is in main.c. */
#ifdef GANZ_NO_TRAINING
#define CLI_LEARNING(X)
#define CLI_MEASURING(X)
#else
#define CLI_LEARNING(X) \
    X(vocab)            \
    X(prepare)          \
    X(train)            \
    X(average)          \
    X(quantize)         \
    X(import)           \
    X(export)
#define CLI_MEASURING(X) X(bench)
#endif
#define CLI_COMMANDS(X) \
    CLI_LEARNING(X)     \
    X(encode)           \
    X(decode)           \
    X(translate)        \
    X(join)             \
    X(serve)            \
    X(inspect)          \
    X(score)            \
    CLI_MEASURING(X)    \
    X(completion)

#define CLI_DECLARE(name)                      \
    extern const cli_command cli_about_##name; \
    int cli_run_##name(int argc, char **argv);
CLI_COMMANDS(CLI_DECLARE)
#ifdef GANZ_NO_TRAINING
CLI_DECLARE(vocab) /* shares a file with encode and decode; the linker leaves it out */
#endif
CLI_DECLARE(bench_translate) /* a part of bench */
#undef CLI_DECLARE

#endif
