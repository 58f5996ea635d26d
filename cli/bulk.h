/* Parts of a large text: one by its number (--shard), or all that nobody else is at, in a shared folder (--work). */
#ifndef GANZ_CLI_BULK_H
#define GANZ_CLI_BULK_H

#include "cli.h"
#include "ganz/bulk.h"

typedef struct cli_bulk {
    const char *shard;    /* "I/N" or "slurm"; NULL: none */
    const char *work;     /* a folder; NULL: none */
    const char *input;    /* the text */
    const char *out;      /* name of the output that parts belong to (--shard) */
    long long part_bytes; /* of the parts of --work, about */
    double claim_seconds; /* without a sign of life after which another process takes a part over */
    double verify;        /* share of the parts that are translated once more and compared; 0: none */
    bool quiet;
    unsigned long long origin;
    /* Translates the lines of a part into a file; `anew`: whatever is known of them from before. */
    ganz_status (*translate)(void *context, const ganz_part *part, const char *path, bool anew, ganz_error *err);
    void *context;
} cli_bulk;

/* -1 to go on, or the exit code of options that make no sense. */
int cli_bulk_check(const cli_bulk *bulk, const cli_command *about);
ganz_status cli_bulk_run(const cli_bulk *bulk, ganz_error *err);
/* The name that parts in a folder of --work have. */
ganz_status cli_bulk_stem(const char *folder, char stem[CLI_PATH], ganz_error *err);

#endif
