/* ganz COMMAND: finds the command and runs it. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

typedef struct entry {
    const cli_command *about;
    int (*run)(int argc, char **argv);
} entry;

static const entry commands[] = {
#define CLI_ENTRY(name) {&cli_about_##name, cli_run_##name},
    CLI_COMMANDS(CLI_ENTRY)
#undef CLI_ENTRY
        {NULL, NULL},
};

static void print_help(FILE *to)
{
    fputs("ganz: integer Transformer translation\n\nusage: ganz COMMAND [OPTIONS]\n\n", to);
    for (const entry *e = commands; e->about; e++) fprintf(to, "  %-10s %s\n", e->about->name, e->about->summary);
    fputs("\nganz COMMAND --help tells more about one command; ganz --version prints the version.\n", to);
}

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void print_version(void)
{
    const char *const instructions = ganz_instructions();
    printf("ganz %s\n", ganz_version());
    printf("build         %s, " COMPILER "\n", GANZ_BUILD);
    printf("instructions  %s\n", instructions ? instructions : "those of GANZ_FORCE_ISA are not there");
    printf("features      %s\n", GANZ_FEATURES);
}

static int no_command(const char *word)
{
    cli_guess guess = {0};
    for (const entry *e = commands; e->about; e++) cli_guess_add(&guess, word, e->about->name);
    fprintf(stderr, "ganz: no command named %s", word);
    if (guess.best) fprintf(stderr, ": did you mean %s?", guess.best);
    fputs(" (see ganz --help)\n", stderr);
    return CLI_USAGE;
}

/* Asked of the system: what errno said when a stream failed is long gone. */
static bool reader_has_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}

/* Output that a full disk or a closed pipe swallowed must not look like success. */
static int close_streams(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (!reader_has_gone()) fputs("ganz: cannot write standard output\n", stderr);
        return code == CLI_OK ? CLI_FAILED : code;
    }
    return code;
}

/* A file that is opened while one of the three is closed would take its number, and get what is meant for a person. */
static bool fill_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) /* the wrong way round: what is closed still fails */
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) return false;
    return true;
}

int main(int argc, char **argv)
{
    if (!fill_descriptors()) return CLI_FAILED; /* nobody to say it to */
    signal(SIGPIPE, SIG_IGN);                   /* a write to a closed pipe is an error like any other */
    signal(SIGXFSZ, SIG_IGN);                   /* and so is one beyond the largest file allowed */
    /* the work is divided before it gets to OpenBLAS: its threads would only take memory */
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2) { /* ganz help COMMAND is ganz COMMAND --help */
        argv[1] = argv[2];
        argv[2] = "--help";
        argc = 3;
    } else if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return close_streams(CLI_OK);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "version") == 0) {
        print_version();
        return close_streams(CLI_OK);
    }
    for (const entry *e = commands; e->about; e++)
        if (strcmp(argv[1], e->about->name) == 0) return close_streams(e->run(argc - 1, argv + 1));
    return no_command(argv[1]);
}
