/* ganz completion: words that shells offer, from the same tables of options that parse and print. Each command is run
 * with cli_parse handing its table over instead of parsing. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* clang-format off */
const cli_command cli_about_completion = {
"completion", "bash|zsh|fish", "print completions for a shell",
"Prints what makes a shell complete the commands and options of ganz. It is installed with ganz where shells look for\n"
"it; else, for the shell at hand:\n"
"\n"
"  bash:  source <(ganz completion bash)\n"
"  zsh:   ganz completion zsh >\"${fpath[1]}/_ganz\"\n"
"  fish:  ganz completion fish >~/.config/fish/completions/ganz.fish\n",
};
/* clang-format on */

typedef struct entry {
    const cli_command *about;
    int (*run)(int argc, char **argv);
    char *words[2]; /* of its command line */
} entry;

#define ENTRY(name) {&cli_about_##name, cli_run_##name, {#name, NULL}},
static const entry commands[] = {CLI_COMMANDS(ENTRY){0}};
static const entry benches[] = {
#ifndef GANZ_NO_TRAINING
    {&cli_about_bench, cli_run_bench, {"bench", "train"}},
    {&cli_about_bench, cli_run_bench, {"bench", "translate"}},
#endif
    {0}};
#undef ENTRY

/* Calls `use` with the table of a command. */
static void with_options(const entry *e, cli_options_reader use)
{
    char *words[] = {e->words[0], e->words[1], NULL};
    cli_read_options(use);
    if (e->run != cli_run_completion) e->run(words[1] ? 2 : 1, words);
    cli_read_options(NULL);
}

/* Calls `use` with all tables, those of bench one by one. */
static void with_all_options(cli_options_reader use)
{
    for (const entry *e = commands; e->about; e++)
        if (strcmp(e->about->name, "bench") != 0) with_options(e, use);
    for (const entry *e = benches; e->about; e++) with_options(e, use);
}

static bool takes_value(const cli_option *o) { return o->kind != CLI_FLAG && o->kind != CLI_SWITCH; }

/* Whether the name of a value is a list of words to choose from: "end|space|never". */
static bool has_choices(const cli_option *o)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-|";
    return takes_value(o) && strchr(o->meta, '|') && strspn(o->meta, letters) == strlen(o->meta);
}

static void print_choices(const char *meta)
{
    for (; *meta; meta++) putchar(*meta == '|' ? ' ' : *meta);
}

/* A text with a backslash before each of some characters; single quotes as shells want them in single quotes. */
static void print_quoted(const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
            continue;
        }
        if (strchr(special, *text)) putchar('\\');
        putchar(*text);
    }
}

/* The names of all commands, with spaces between them. */
static void print_names(void)
{
    for (const entry *e = commands; e->about; e++) printf("%s%s", e == commands ? "" : " ", e->about->name);
}

/* ---- bash --------------------------------------------------------------------------------------- */

static void print_bash_table(const cli_command *command, const cli_option *options)
{
    printf("    '%s')\n        options='--help", command->name);
    for (const cli_option *o = options; o->name; o++)
        if (!cli_option_is_hidden(options, o)) printf(" --%s", o->name);
    puts("'\n        case $prev in");
    for (const cli_option *o = options; o->name; o++) {
        if (!has_choices(o) || cli_option_is_hidden(options, o)) continue;
        fputs("        ", stdout);
        if (o->letter) printf("-%c|", o->letter);
        printf("--%s) choices='", o->name);
        print_choices(o->meta);
        puts("' ;;");
    }
    puts("        esac ;;");
}

static void print_bash(void)
{
    puts("# Completions of ganz for bash; ganz completion bash prints them.\n"
         "_ganz()\n{\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}\n"
         "    local options= choices= commands=\n"
         "    COMPREPLY=()\n"
         "    [ \"$cur\" = = ] && cur= # bash makes three words of --name=value\n"
         "    [ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD - 2]}");
    fputs("    commands='", stdout);
    print_names();
    puts("'\n"
         "    [ \"$COMP_CWORD\" = 1 ] && choices=\"$commands help --help --version\"\n"
         "    [ \"$COMP_CWORD\" = 2 ] && [ \"$command\" = help ] && choices=$commands\n"
         "    [ \"$COMP_CWORD\" = 2 ] && [ \"$command\" = completion ] && choices='bash zsh fish'\n"
         "    if [ \"$command\" = bench ]; then\n"
         "        [ \"$COMP_CWORD\" = 2 ] && choices='train translate'\n"
         "        command=\"bench ${COMP_WORDS[2]}\"\n"
         "    fi\n"
         "    case $command in");
    with_all_options(print_bash_table);
    puts("    esac\n"
         "    if [ -n \"$choices\" ]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$cur\")\n"
         "    elif [[ $cur == -* ]]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
         "    fi\n"
         "}\n"
         "complete -o bashdefault -o default -F _ganz ganz");
}

/* ---- zsh ---------------------------------------------------------------------------------------- */

static void print_zsh_option(const cli_option *o)
{
    static const char special[] = "[]:\\";
    fputs("        ", stdout);
    if (o->kind == CLI_LIST) fputs("'*'", stdout);
    else if (o->letter) printf("'(-%c --%s)'", o->letter, o->name);
    if (o->letter) printf("{-%c,--%s}", o->letter, o->name);
    else printf("--%s", o->name);
    putchar('\'');
    if (takes_value(o) && !o->letter) putchar('=');
    putchar('[');
    print_quoted(o->help, special);
    putchar(']');
    if (takes_value(o)) {
        putchar(':');
        print_quoted(o->meta, special);
        putchar(':');
        if (has_choices(o)) {
            putchar('(');
            print_choices(o->meta);
            putchar(')');
        } else {
            fputs("_files", stdout);
        }
    }
    puts("' \\");
}

static void print_zsh_table(const cli_command *command, const cli_option *options)
{
    printf("    '%s') _arguments -s \\\n", command->name);
    for (const cli_option *o = options; o->name; o++)
        if (!cli_option_is_hidden(options, o)) print_zsh_option(o);
    puts("        '*:file:_files' ;;");
}

static void print_zsh(void)
{
    puts("#compdef ganz\n"
         "# Completions of ganz for zsh; ganz completion zsh prints them.\n"
         "_ganz()\n{\n"
         "    local -a commands\n"
         "    commands=(");
    for (const entry *e = commands; e->about; e++) {
        printf("        '%s:", e->about->name);
        print_quoted(e->about->summary, ":\\");
        puts("'");
    }
    puts("    )\n"
         "    (( CURRENT == 2 )) && { _describe -t commands command commands; return }\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    local command=$words[1]\n"
         "    [[ $command == help ]] && { _describe -t commands command commands; return }\n"
         "    [[ $command == completion ]] && { compadd bash zsh fish; return }\n"
         "    if [[ $command == bench ]]; then\n"
         "        (( CURRENT == 2 )) && { compadd train translate; return }\n"
         "        shift words\n"
         "        (( CURRENT-- ))\n"
         "        command=\"bench $words[1]\"\n"
         "    fi\n"
         "    case $command in");
    with_all_options(print_zsh_table);
    puts("    esac\n}\n_ganz \"$@\"");
}

/* ---- fish --------------------------------------------------------------------------------------- */

static void print_fish_table(const cli_command *command, const cli_option *options)
{
    const char *const what = strchr(command->name, ' ');
    const int name = what ? (int)(what - command->name) : (int)strlen(command->name);
    for (const cli_option *o = options; o->name; o++) {
        if (cli_option_is_hidden(options, o)) continue;
        printf("complete -c ganz -n '__fish_seen_subcommand_from %.*s", name, command->name);
        if (what) printf("; and __fish_seen_subcommand_from %s", what + 1);
        printf("' -l %s", o->name);
        if (o->letter) printf(" -s %c", o->letter);
        if (has_choices(o)) {
            fputs(" -x -a '", stdout);
            print_choices(o->meta);
            putchar('\'');
        } else if (takes_value(o)) {
            fputs(" -r", stdout);
        }
        fputs(" -d '", stdout);
        for (const char *c = o->help; *c; c++) printf("%s%c", *c == '\'' || *c == '\\' ? "\\" : "", *c);
        puts("'");
    }
}

static void print_fish(void)
{
    puts("# Completions of ganz for fish; ganz completion fish prints them.");
    for (const entry *e = commands; e->about; e++) {
        printf("complete -c ganz -n __fish_use_subcommand -f -a %s -d '", e->about->name);
        for (const char *c = e->about->summary; *c; c++) printf("%s%c", *c == '\'' || *c == '\\' ? "\\" : "", *c);
        puts("'");
    }
    fputs("complete -c ganz -n '__fish_seen_subcommand_from help' -f -a '", stdout);
    print_names();
    puts("'\n"
         "complete -c ganz -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n"
         "complete -c ganz -n '__fish_seen_subcommand_from bench; and not __fish_seen_subcommand_from train translate' "
         "-f -a 'train translate'");
    with_all_options(print_fish_table);
}

int cli_run_completion(int argc, char **argv)
{
    const cli_command *const about = &cli_about_completion;
    const cli_option none[] = {{0}};
    cli_list rest = {0};
    int code = cli_parse(about, none, argc, argv, &rest);
    if (code < 0 && rest.count != 1) code = cli_usage(about, "name one shell: bash, zsh or fish");
    if (code < 0) {
        const char *const shell = rest.items[0];
        code = CLI_OK;
        if (strcmp(shell, "bash") == 0) print_bash();
        else if (strcmp(shell, "zsh") == 0) print_zsh();
        else if (strcmp(shell, "fish") == 0) print_fish();
        else code = cli_usage(about, "the shell is bash, zsh or fish, not %s", shell);
    }
    cli_list_free(&rest);
    return code;
}
