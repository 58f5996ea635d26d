/* A warning when the text is not in the language that the model translates from. */
#ifndef GANZ_CLI_FOREIGN_H
#define GANZ_CLI_FOREIGN_H

#include "cli.h"

enum { CLI_FOREIGN_BYTES = 2000 };

/* One thread at a time. All zero, it says nothing. */
typedef struct cli_foreign {
    char language[8];               /* of the model; empty: unknown, or there is nothing left to say */
    char sample[CLI_FOREIGN_BYTES]; /* the first sentences */
    size_t bytes;
} cli_foreign;

/* `language` may be NULL. */
void cli_foreign_start(cli_foreign *foreign, const char *language);
void cli_foreign_take(cli_foreign *foreign, const char *sentence, size_t bytes);
/* Whether it has seen enough and wants to be asked for its warning. */
bool cli_foreign_is_full(const cli_foreign *foreign);
/* Warns, once, if what was taken is enough to be sure; to be called when the input pauses or ends. */
void cli_foreign_warn(cli_foreign *foreign, cli_progress *progress);

#endif
