/* Claims on the parts of a job in a folder that several machines share. A claim is a file that only one process can
 * make; its owner touches it while it works, and one that was not touched for a while belongs to the dead. Two owners
 * of one part do no harm: both write the same bytes, and a file is whole or absent. */
#ifndef GANZ_CLI_CLAIMS_H
#define GANZ_CLI_CLAIMS_H

#include <pthread.h>

#include "cli.h"

typedef struct cli_claim {
    char path[CLI_PATH];
    pthread_t toucher;
    pthread_mutex_t lock;
    pthread_cond_t ends;
    bool held, ended;
    double seconds; /* without a touch after which a claim is void */
} cli_claim;

/* Takes the claim `path` unless another process holds it; claim->held says whether. */
ganz_status cli_claim_take(cli_claim *claim, const char *path, double seconds, ganz_error *err);
/* Gives it back. */
void cli_claim_release(cli_claim *claim);

#endif
