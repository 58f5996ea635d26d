/* Documents through a service, in the order they come. */
#ifndef GANZ_CLI_DOCUMENTS_H
#define GANZ_CLI_DOCUMENTS_H

#include "cli.h"
#include "ganz/document.h"
#include "ganz/io.h"
#include "ganz/service.h"

typedef struct cli_documents cli_documents;

typedef struct cli_documents_options {
    ganz_service_options service;
    ganz_document_options document;
    long long bytes;   /* of all documents, for progress; 0: unknown */
    const char *cache; /* file of translations made earlier; NULL: none */
    const char *model_path;
    bool warn; /* when the text is not in the language of the document options */
} cli_documents_options;

typedef struct cli_document {
    const char *format; /* NULL: as the options say */
    const char *name;   /* for messages */
    bool goes_on;       /* it is a part of the same text as the one before */
} cli_document;

/* The options' texts are borrowed. Refuses what a translator refuses before anything is read. */
ganz_status cli_documents_open(cli_documents **documents, const ganz_model *model, const cli_documents_options *options,
                               cli_progress *progress, ganz_error *err);
/* Ends all threads; what was not written is lost. */
void cli_documents_close(cli_documents **documents);

/* What follows goes to this output, which is finished when all of it is written. */
ganz_status cli_documents_output(cli_documents *documents, const char *path, ganz_error *err);
/* Takes that back, as long as nothing was handed over since: the output stays as it is. */
void cli_documents_no_output(cli_documents *documents);
/* Hands over a document; waits while too many are under way. The text is emptied. */
ganz_status cli_documents_add(cli_documents *documents, ganz_text *text, const cli_document *what, ganz_error *err);
/* Waits until all that was added is written, or something has failed. */
void cli_documents_wait(cli_documents *documents);
/* Waits until all is written, and finishes the last output. */
ganz_status cli_documents_end(cli_documents *documents, ganz_error *err);

#endif
