/* The inputs of ganz translate: streams of text in pieces, documents whole, folders file by file. */
#ifndef GANZ_CLI_INPUTS_H
#define GANZ_CLI_INPUTS_H

#include "documents.h"
#include "ganz/bulk.h"

typedef struct cli_inputs {
    const cli_list *files; /* none: standard input */
    const char *text;      /* in place of files; NULL: none */
    const ganz_part *part; /* of the one file there is; NULL: all of it */
    const char *out;       /* "-", a file or a folder */
    const char *format;    /* "auto" or a name */
    bool replace_invalid;  /* bytes that are not UTF-8 become U+FFFD; else they are refused in text */
    bool quiet;
    bool talking; /* a person types: a prompt is shown before input is waited for */
} cli_inputs;

/* True if each input has an output of its own, in folder `out`. */
bool cli_inputs_to_folder(const cli_inputs *inputs);
/* Bytes of all inputs; 0: not known. */
long long cli_inputs_bytes(const cli_inputs *inputs);
/* Reads all inputs into documents. *skipped counts files that were passed over with a note. */
ganz_status cli_inputs_read(const cli_inputs *inputs, cli_documents *documents, int *skipped, ganz_error *err);

#endif
