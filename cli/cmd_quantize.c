/* ganz quantize: a float model becomes an integer model. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "ganz/quantize.h"

const cli_command cli_about_quantize = {
    "quantize", "--model MODEL --method max --calibrate TEXT --out FILE", "make an integer model of a float model",
    "Every matrix product of the new model multiplies integers of --bits bits: the weights are rounded, and the input of\n"
    "each product has a step of its own.\n"
    "\n"
    "--method max  the steps come from the largest magnitudes seen while the model translates the text of --calibrate\n"
    "              (or, with --calibrate-target, while it follows the given translation). Some hundred sentences do.\n",
};

typedef struct quantize {
    const char *model, *method, *out;
    ganz_calibration how;
    cli_progress progress;
    bool quiet;
} quantize;

static bool show(void *context, long long lines)
{
    cli_progress_show(&((quantize *)context)->progress, lines);
    return true;
}

static int run(quantize *q)
{
    ganz_calibration_report report;
    ganz_error err;
    char command[512];
    snprintf(command, sizeof command, "ganz quantize --model %.160s --method max --calibrate %.160s --bits %d", q->model,
             q->how.source, q->how.bits);
    q->how.command = command;
    q->how.progress = show;
    q->how.context = q;
    cli_progress_start(&q->progress, "measured", "lines", q->how.most_lines, q->quiet || !isatty(STDERR_FILENO));
    const ganz_status status = ganz_quantize_max(q->model, q->out, &q->how, &report, &err);
    cli_progress_end(&q->progress, status == GANZ_OK ? report.lines : 0);
    if (status != GANZ_OK) return cli_fail(&cli_about_quantize, &err);
    if (!q->quiet)
        printf("%d products in %d-bit integers, %d input steps from %lld lines (%lld left out)\n", report.products, q->how.bits,
               report.steps, report.lines, report.left_out);
    return CLI_OK;
}

int cli_run_quantize(int argc, char **argv)
{
    const cli_command *const about = &cli_about_quantize;
    quantize q = {.method = "max"};
    ganz_calibration_defaults(&q.how);
    long long bits = q.how.bits, beam = q.how.beam, threads = q.how.threads;
    const cli_option options[] = {
        {"model", 'm', CLI_TEXT, &q.model, "FILE", "the float model", 0, 0},
        {"out", 'o', CLI_TEXT, &q.out, "FILE", "where to write the integer model", 0, 0},
        {"method", 0, CLI_CHOICE, &q.method, "max", "how the steps of the inputs are found", 0, 0},
        {"bits", 0, CLI_INT, &bits, "N", "width of all codes", 2, 8},
        {"calibrate", 0, CLI_TEXT, &q.how.source, "FILE", "text in the source language", 0, 0},
        {"calibrate-target", 0, CLI_TEXT, &q.how.target, "FILE", "its translation, instead of the model's own", 0, 0},
        {"calibrate-lines", 0, CLI_INT, &q.how.most_lines, "N", "stop after N lines; 0: take all", 0, 1e15},
        {"beam", 'b', CLI_INT, &beam, "N", "beam of the model's own translations", 1, 64},
        {"threads", 't', CLI_INT, &threads, "N", "threads", 1, 1024},
        {"quiet", 'q', CLI_FLAG, &q.quiet, NULL, "say nothing", 0, 0},
        {0},
    };
    cli_list rest = {0};
    int code = cli_parse(about, options, argc, argv, &rest);
    if (code < 0 && rest.count > 0) code = cli_usage(about, "what is %s?", rest.items[0]);
    cli_list_free(&rest);
    if (code < 0 && !q.model) code = cli_usage(about, "which model? give --model");
    if (code < 0 && !q.out) code = cli_usage(about, "where to? give --out");
    if (code < 0 && !q.how.source) code = cli_usage(about, "which text? give --calibrate");
    if (code >= 0) return code;
    q.how.bits = (int)bits;
    q.how.beam = (int)beam;
    q.how.threads = (int)threads;
    return run(&q);
}
