/* ganz join: the parts of ganz translate --shard and --work, put together after their proofs were compared. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bulk.h"
#include "cli.h"

const cli_command cli_about_join = {
    "join",
    "[--input TEXT] [--out FILE] OUT|FOLDER",
    "put the parts of a large translation together",
    "OUT is the --out of ganz translate --shard, FOLDER the one of --work; the second needs an --out.\n"
    "Each part is compared with its proof first: its bytes, its lines, the model and options it was made with. With\n"
    "--input the text is compared, too. If a part is missing or damaged nothing is written, and its number is told:\n"
    "translate it again. The parts stay; remove them when the whole is there.\n",
};

static int report(const ganz_join_result *r, const char *stem, const char *out, bool quiet)
{
    if (r->missing > 0) {
        fprintf(stderr, "ganz join: %s: %lld of %lld parts are missing or damaged: %s\n", stem, r->missing, r->parts,
                r->missing_list);
        return CLI_FAILED;
    }
    if (!quiet)
        fprintf(stderr, "ganz join: %s: %lld part%s, %lld line%s, %llu byte%s, all as proven\n",
                strcmp(out, "-") == 0 ? "standard output" : out, r->parts, cli_s(r->parts), r->lines, cli_s(r->lines),
                r->bytes, r->bytes == 1 ? "" : "s");
    return CLI_OK;
}

int cli_run_join(int argc, char **argv)
{
    const char *input = NULL, *out = NULL;
    bool quiet = false;
    const cli_option options[] = {
        {"input", 'i', CLI_TEXT, &input, "TEXT", "the text that was translated, to be compared with the proofs", 0, 0},
        {"out", 'o', CLI_TEXT, &out, "FILE", "where to write; OUT itself when absent", 0, 0},
        {"quiet", 'q', CLI_FLAG, &quiet, NULL, "say nothing when all is well", 0, 0},
        {0},
    };
    const cli_command *const about = &cli_about_join;
    cli_list rest = {0};
    ganz_error err;
    ganz_join_result result;
    struct stat facts;
    char stem[CLI_PATH];
    int code = cli_parse(about, options, argc, argv, &rest);
    if (code < 0 && rest.count != 1) code = cli_usage(about, "give one OUT or FOLDER");
    const bool folder = code < 0 && stat(rest.items[0], &facts) == 0 && S_ISDIR(facts.st_mode);
    if (code < 0 && folder && !out) code = cli_usage(about, "a folder of --work needs --out FILE");
    if (code < 0) {
        ganz_status status = GANZ_OK;
        if (folder) status = cli_bulk_stem(rest.items[0], stem, &err);
        else snprintf(stem, sizeof stem, "%s", rest.items[0]);
        if (!out) out = stem;
        if (status == GANZ_OK) status = ganz_parts_join(stem, input, out, &result, &err);
        code = status == GANZ_OK ? report(&result, stem, out, quiet) : cli_fail(about, &err);
    }
    cli_list_free(&rest);
    return code;
}
