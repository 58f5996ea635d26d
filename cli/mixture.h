/* Lists of pairs of files for ganz prepare: one pair a line, with its weight, tag and copies. */
#ifndef GANZ_CLI_MIXTURE_H
#define GANZ_CLI_MIXTURE_H

#include "ganz/corpus.h"

typedef struct cli_mixture {
    ganz_corpus_input *inputs;
    int count;
    char *list; /* text that the inputs of a list point into, or NULL */
} cli_mixture;
void cli_mixture_free(cli_mixture *m);

/* A copy of the input at the end; false when memory is out. */
bool cli_mixture_add(cli_mixture *m, const ganz_corpus_input *input);

/* How often a pair comes: a number over 0, up to 1000. */
bool cli_mixture_weight(const char *word, double *weight);

/* Reads m->list, which it cuts up: lines "SOURCE TARGET [WEIGHT] [NAME=VALUE...]", empty ones and such as begin with #.
 * What a line does not say is as in *usual. `name` is the list's, for messages. */
ganz_status cli_mixture_parse(cli_mixture *m, const char *name, const ganz_corpus_input *usual, ganz_error *err);

#endif
