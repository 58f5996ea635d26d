/* One table of options: parse, check, print. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "config.h"

int cli_fail(const cli_command *command, const ganz_error *err)
{
    if (err->status != GANZ_EPIPE) fprintf(stderr, "ganz %s: %s\n", command->name, err->message);
    return err->status == GANZ_ESTOPPED ? cli_stop_code() : CLI_FAILED;
}

int cli_fail_errno(const cli_command *command, const char *what, const char *name)
{
    fprintf(stderr, "ganz %s: cannot %s %s: %s\n", command->name, what, name, strerror(errno));
    return CLI_FAILED;
}

/* The place of a default that is being read, for messages; NULL: the command line is. */
static const char *config_path;
static int config_line;

int cli_usage(const cli_command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "ganz %s: ", command->name);
    if (config_path) fprintf(stderr, "%s:%d: ", config_path, config_line);
    vfprintf(stderr, format, args);
    fprintf(stderr, " (see ganz %s --help)\n", command->name);
    va_end(args);
    return CLI_USAGE;
}

/* ---- names that are nearly right ---------------------------------------------------------------- */

static int least(int a, int b) { return a < b ? a : b; }

/* Letters to put in, leave out, change, or swap with their neighbour, to get from one word to the other. */
static int edits(const char *a, const char *b)
{
    enum { MOST = 64 };
    int row[3][MOST + 1]; /* the last three rows of the table */
    const int m = (int)strlen(a), n = (int)strlen(b);
    if (m > MOST || n > MOST) return MOST;
    for (int j = 0; j <= n; j++) row[0][j] = j;
    for (int i = 1; i <= m; i++) {
        int *const now = row[i % 3], *const before = row[(i + 2) % 3], *const long_before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= n; j++) {
            now[j] = least(least(before[j], now[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], long_before[j - 2] + 1);
        }
    }
    return row[m % 3][n];
}

void cli_guess_add(cli_guess *guess, const char *word, const char *name)
{
    const int n = (int)strlen(word);
    const bool begins = n >= 3 && strncmp(word, name, (size_t)n) == 0;
    const int distance = begins ? 1 : edits(word, name);
    if (distance > (n < 4 ? 1 : n < 8 ? 2 : 3) || distance >= n) return;
    if (guess->best && distance >= guess->distance) return;
    guess->best = name;
    guess->distance = distance;
}

/* ---- help --------------------------------------------------------------------------------------- */

static void print_default(const cli_option *o)
{
    const char *const text = o->kind == CLI_TEXT || o->kind == CLI_CHOICE ? *(const char *const *)o->value : NULL;
    if (o->kind == CLI_INT) printf(" [%lld]", *(const long long *)o->value);
    if (o->kind == CLI_REAL) printf(" [%g]", *(const double *)o->value);
    if (text) printf(" [%s]", text);
}

bool cli_option_is_hidden(const cli_option *options, const cli_option *o)
{
    const cli_option *first = options;
    while (strcmp(first->name, o->name) != 0) first++;
    return first != o;
}

static bool takes_value(const cli_option *o) { return o->kind != CLI_FLAG && o->kind != CLI_SWITCH; }

static void print_help(const cli_command *command, const cli_option *options)
{
    printf("usage: ganz %s %s\n\n%s\n\n", command->name, command->usage, command->summary);
    for (const cli_option *o = options; o->name; o++) {
        if (cli_option_is_hidden(options, o)) continue;
        char left[96];
        snprintf(left, sizeof left, "--%s%s%s", o->name, takes_value(o) ? " " : "", takes_value(o) ? o->meta : "");
        if (o->letter) printf("  -%c, %-26s %s", o->letter, left, o->help);
        else printf("      %-26s %s", left, o->help);
        print_default(o);
        putchar('\n');
    }
    if (command->details) printf("\n%s", command->details);
}

/* ---- values ------------------------------------------------------------------------------------- */

static bool list_add(cli_list *list, const char *item)
{
    const char **const grown = realloc(list->items, sizeof *grown * ((size_t)list->count + 1));
    if (!grown) return false;
    list->items = grown;
    list->items[list->count++] = item;
    return true;
}

static int no_room(const cli_command *command)
{
    return cli_fail(command,
                    &(ganz_error){.status = GANZ_ENOMEM, .message = "out of memory for the words of the command"});
}

void cli_list_free(cli_list *list)
{
    free(list->items);
    *list = (cli_list){0};
}

static bool is_choice(const char *choices, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = choices; n > 0 && at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, word, n) == 0 && (at[n] == '|' || at[n] == '\0')) return true;
    return false;
}

static int in_range(const cli_command *command, const cli_option *o, double number)
{
    if ((o->min == 0 && o->max == 0) || (number >= o->min && number <= o->max)) return -1;
    return cli_usage(command, "--%s must be %.16g to %.16g", o->name, o->min, o->max);
}

static int set_value(const cli_command *command, const cli_option *o, const char *word)
{
    char *end;
    errno = 0;
    switch (o->kind) {
    case CLI_INT: {
        const long long number = strtoll(word, &end, 10);
        if (end == word || *end || errno) return cli_usage(command, "--%s needs a whole number, not %s", o->name, word);
        *(long long *)o->value = number;
        return in_range(command, o, (double)number);
    }
    case CLI_REAL: {
        const double number = strtod(word, &end);
        if (end == word || *end || errno || !isfinite(number))
            return cli_usage(command, "--%s needs a number, not %s", o->name, word);
        *(double *)o->value = number;
        return in_range(command, o, number);
    }
    case CLI_CHOICE:
        if (!is_choice(o->meta, word)) return cli_usage(command, "--%s is one of %s, not %s", o->name, o->meta, word);
        *(const char **)o->value = word;
        return -1;
    case CLI_LIST: return list_add(o->value, word) ? -1 : no_room(command);
    default: *(const char **)o->value = word; return -1;
    }
}

/* The option of "-x" or "-xVALUE". A long name behind one dash is a slip, not a value. */
static const cli_option *find_letter(const cli_option *options, const char *word, const char **value)
{
    for (const cli_option *o = options; o->name; o++)
        if (word[2] && strcmp(o->name, word + 1) == 0) return NULL;
    for (const cli_option *o = options; o->name; o++) {
        if (!o->letter || word[1] != o->letter || (word[2] && !takes_value(o))) continue;
        *value = word[2] ? word + 2 : NULL;
        return o;
    }
    return NULL;
}

/* Finds the option of "--name", "--name=value", "--no-flag", "-x" or "-xVALUE"; *value is what follows the "=" or the
 * letter, or NULL. */
static const cli_option *find(const cli_option *options, const char *word, const char **value, bool *negated)
{
    *value = NULL;
    *negated = false;
    if (word[1] != '-') return find_letter(options, word, value);
    const char *const name = word + 2;
    const char *const equals = strchr(name, '=');
    const size_t n = equals ? (size_t)(equals - name) : strlen(name);
    for (const cli_option *o = options; o->name; o++) {
        if (strlen(o->name) == n && strncmp(o->name, name, n) == 0) {
            *value = equals ? equals + 1 : NULL;
            return o;
        }
        if (!takes_value(o) && !equals && strncmp(name, "no-", 3) == 0 && strcmp(name + 3, o->name) == 0) {
            *negated = true;
            return o;
        }
    }
    return NULL;
}

static bool is_option(const char *word) { return word[0] == '-' && word[1] != '\0'; }

/* "unknown option WORD", and the one that was perhaps meant. */
static int unknown_option(const cli_command *command, const cli_option *options, const char *word)
{
    char name[64];
    cli_guess guess = {0};
    snprintf(name, sizeof name, "%s", word + (word[1] == '-' ? 2 : 1));
    name[strcspn(name, "=")] = '\0';
    for (const cli_option *o = options; o->name; o++) cli_guess_add(&guess, name, o->name);
    if (!guess.best) return cli_usage(command, "unknown option %s", word);
    return cli_usage(command, "unknown option %s: did you mean --%s?", word, guess.best);
}

/* One option and its value(s), from argv[*at]. */
static int take_option(const cli_command *command, const cli_option *options, int argc, char **argv, int *at)
{
    const char *value;
    bool negated;
    const char *const word = argv[*at];
    const cli_option *const o = find(options, word, &value, &negated);
    if (!o) return unknown_option(command, options, word);
    if (!takes_value(o)) {
        if (value) return cli_usage(command, "--%s takes no value", o->name);
        if (o->kind == CLI_FLAG) *(bool *)o->value = !negated;
        else *(const char **)o->value = negated ? "false" : "true";
        return -1;
    }
    if (!value) {
        if (*at + 1 >= argc) return cli_usage(command, "--%s needs a value", o->name);
        value = argv[++*at];
        const char *of_next;
        if (is_option(value) && find(options, value, &of_next, &negated))
            return cli_usage(command, "--%s needs a value, not %s", o->name, value);
    }
    if (!*value) return cli_usage(command, "--%s needs a value, not an empty word", o->name);
    int code = set_value(command, o, value);
    while (code < 0 && o->kind == CLI_LIST && *at + 1 < argc && !is_option(argv[*at + 1])) {
        code = set_value(command, o, argv[++*at]);
    }
    return code;
}

/* ---- files of defaults -------------------------------------------------------------------------- */

/* What the lists of a command line say adds to what is there, so they have no defaults; and GANZ_MODEL goes before the
 * model of a file. */
static int take_default(const cli_command *command, const cli_option *options, const char *name, const char *value)
{
    const cli_option *o = options;
    while (o->name && strcmp(o->name, name) != 0) o++;
    if (!o->name) {
        char word[80];
        snprintf(word, sizeof word, "--%.70s", name);
        return unknown_option(command, options, word);
    }
    if (o->kind == CLI_LIST) return cli_usage(command, "--%s stands on the command line only", name);
    if (strcmp(name, "model") == 0 && getenv("GANZ_MODEL")) return -1;
    if (takes_value(o)) {
        if (!value || !*value) return cli_usage(command, "--%s needs a value", name);
        return set_value(command, o, value);
    }
    const bool off = value && strcmp(value, "false") == 0;
    if (value && !off && strcmp(value, "true") != 0)
        return cli_usage(command, "--%s is true or false, not %s", name, value);
    if (o->kind == CLI_FLAG) *(bool *)o->value = !off;
    else *(const char **)o->value = off ? "false" : "true";
    return -1;
}

/* The text stays for as long as the program runs: values point into it. */
static int take_defaults(const cli_command *command, const cli_option *options, const char *path, char *text)
{
    ganz_error err;
    const char *name, *value;
    cli_config c = {.at = text};
    int code = -1;
    config_path = path;
    do {
        if (cli_config_next(&c, &name, &value, &err) != GANZ_OK) {
            config_line = c.line;
            code = cli_usage(command, "%s", err.message);
        } else if (name && strcmp(c.section, command->name) == 0) {
            config_line = c.line;
            code = take_default(command, options, name, value);
        }
    } while (code < 0 && name);
    config_path = NULL;
    return code;
}

static int read_defaults(const cli_command *command, const cli_option *options)
{
    static char paths[CLI_CONFIG_FILES][CLI_CONFIG_PATH];
    static char *texts[CLI_CONFIG_FILES];
    ganz_error err;
    const int count = cli_config_paths(paths);
    for (int i = 0; i < count; i++) {
        if (cli_config_read(paths[i], &texts[i], &err) != GANZ_OK) return cli_fail(command, &err);
        const int code = texts[i] ? take_defaults(command, options, paths[i], texts[i]) : -1;
        if (code >= 0) return code;
    }
    return -1;
}

/* ---- the command line --------------------------------------------------------------------------- */

static cli_options_reader reader;

void cli_read_options(cli_options_reader use) { reader = use; }

int cli_parse(const cli_command *command, const cli_option *options, int argc, char **argv, cli_list *rest)
{
    bool only_words = false;
    if (reader) {
        reader(command, options);
        return CLI_OK;
    }
    const int wrong = read_defaults(command, options);
    if (wrong >= 0) return wrong;
    for (int i = 1; i < argc; i++) {
        const char *const word = argv[i];
        if (!only_words && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            print_help(command, options);
            return CLI_OK;
        }
        if (!only_words && strcmp(word, "--") == 0) {
            only_words = true;
        } else if (!*word) {
            return cli_usage(command, "an empty word names no file");
        } else if (only_words || !is_option(word)) {
            if (!list_add(rest, word)) return no_room(command);
        } else {
            const int code = take_option(command, options, argc, argv, &i);
            if (code >= 0) return code;
        }
    }
    return -1;
}
