/* Ctrl-C and its relatives: the first one asks the work to stop and says at once what it still waits for, the second
 * one ends the program. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static ganz_flag stop_flag;
static volatile sig_atomic_t stop_signal;
static char notice[256]; /* written by the handler, so it is made before */
static size_t notice_bytes;

/* Only what a handler may do: flags, write, signal. */
static void on_stop(int number)
{
    stop_signal = number;
    ganz_flag_set(&stop_flag);
    signal(SIGINT, SIG_DFL);
    if (write(STDERR_FILENO, notice, notice_bytes) < 0) return; /* nobody to tell */
}

const ganz_flag *cli_stop_listen(const cli_command *command, const char *waits_for)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART}, before;
    snprintf(notice, sizeof notice, "%sganz %s: stopping %s; Ctrl-C again ends it at once\n",
             isatty(STDERR_FILENO) ? "\r\033[K" : "", command->name, waits_for);
    notice_bytes = strlen(notice);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i] != SIGHUP || (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)) /* nohup */
            sigaction(numbers[i], &action, NULL);
    return &stop_flag;
}

int cli_stop_code(void) { return stop_signal ? 128 + (int)stop_signal : CLI_FAILED; }
