/* One line of output, or several of an n-best list, for each line of input; the other way is documents.h. */
#ifndef GANZ_CLI_LINES_H
#define GANZ_CLI_LINES_H

#include "cli.h"
#include "ganz/service.h"

typedef struct cli_lines_options {
    ganz_service_options service;
    const char *out, *prefix, *text; /* the output; a file of prefixes or NULL; a text in place of files or NULL */
    bool scores, replace_invalid;
} cli_lines_options;

/* Translates the files (none: standard input). The output is whole or absent. */
ganz_status cli_lines_run(const cli_lines_options *options, const ganz_model *model, const cli_list *files,
                          cli_progress *progress, ganz_error *err);

#endif
