/* Progress on standard error: lines about work that is under way. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum { BAR = 24 };

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Not getrusage: its number is also that of the process that started us. */
double cli_peak_mib(void)
{
    double kib = 0;
    char line[128];
    FILE *const status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lf", &kib) == 1) break;
    if (status) fclose(status);
    return kib / 1024;
}

void cli_progress_start(cli_progress *p, const char *label, const char *unit, long long total, bool quiet)
{
    *p = (cli_progress){.label = label, .unit = unit, .total = total, .share = -1, .quiet = quiet};
    p->terminal = isatty(STDERR_FILENO);
    p->started = cli_seconds();
    p->shown = p->started;
}

/* The share of the work that is done, 0 to 1; negative: unknown. */
static double share_of(const cli_progress *p, long long done)
{
    double share = p->share;
    if (share < 0 && p->total > 0) share = (double)done / (double)p->total;
    return share > 1 ? 1 : share;
}

static void print_bar(double share)
{
    char bar[BAR + 1];
    memset(bar, '.', BAR);
    memset(bar, '#', (size_t)(share * BAR));
    bar[BAR] = '\0';
    fprintf(stderr, "[%s] ", bar);
}

static void print_left(double seconds)
{
    const long left = (long)seconds;
    if (left >= 3600) fprintf(stderr, ", %ld:%02ld:%02ld left", left / 3600, left / 60 % 60, left % 60);
    else if (seconds >= 0) fprintf(stderr, ", %ld:%02ld left", left / 60, left % 60);
}

static void print_line(cli_progress *p, long long done, double now)
{
    const double seconds = now - p->started, share = share_of(p, done);
    const double rate = seconds > 0 ? (double)done / seconds : 0;
    if (p->terminal) fputs("\r\033[K", stderr);
    fprintf(stderr, "%s ", p->label);
    if (p->terminal && share >= 0) print_bar(share);
    if (share >= 0) fprintf(stderr, "%.0f%% ", floor(100 * share));
    fprintf(stderr, "%lld %s", done, p->unit);
    if (!p->plain) fprintf(stderr, rate < 10 ? ", %.1f/s" : ", %.0f/s", rate);
    print_left(p->plain ? p->left : share > 0 && share < 1 ? seconds * (1 - share) / share : -1);
    if (!p->terminal) fputc('\n', stderr);
    p->shown = now;
    p->drawn = true;
}

void cli_progress_show(cli_progress *p, long long done)
{
    if (p->quiet) return;
    const double now = cli_seconds();
    if (now - p->shown >= (p->terminal ? 0.2 : 10.0)) print_line(p, done, now);
}

void cli_progress_end(cli_progress *p, long long done)
{
    if (p->quiet || !p->drawn) return;
    print_line(p, done, cli_seconds());
    if (p->terminal) fputc('\n', stderr);
}

void cli_progress_say(cli_progress *p, const char *sentence)
{
    if (p->quiet) return;
    if (p->terminal) fputs("\r\033[K", stderr);
    fprintf(stderr, "%s %s\n", p->label, sentence);
}
