/* A model and its services for the Python module: documents and lines through them, with a word for the caller now and
 * then. Knows nothing of Python. */
#ifndef GANZ_PYTHON_ENGINE_H
#define GANZ_PYTHON_ENGINE_H

#include <sys/types.h>

#include "ganz/document.h"
#include "ganz/inspect.h"
#include "ganz/service.h"

enum { ENGINE_MOST_BEAM = 64 };

typedef struct engine {
    ganz_model *model;
    ganz_model_facts facts;
    ganz_glossary *glossary; /* or NULL */
    ganz_service_options options;
    ganz_service *services[ENGINE_MOST_BEAM + 1]; /* by n_best, [0] for documents; opened when first wanted */
    pid_t process;                                /* that the services' threads are in */
} engine;

/* Opens the model and the glossary (NULL: none); no threads yet. The options are checked when a service is opened. */
ganz_status engine_open(engine *e, const char *path, const ganz_service_options *options, const char *glossary,
                        ganz_error *err);
/* Ends the services, if they are in this process, and the model. */
void engine_close(engine *e);

/* The service for so many results of each line, or with 0 for documents. One call at a time. In a process that was
 * forked off, services are opened anew: threads do not come along. */
ganz_status engine_service(engine *e, int n_best, ganz_service **service, ganz_error *err);

/* How a call goes on. Both functions are called by the thread that made the call. */
typedef struct engine_call {
    ganz_service *service;
    bool (*tick)(void *context, size_t done,
                 size_t all); /* twenty times a second and after each part; false: give up */
    bool (*take)(void *context, int first, const ganz_result *results, int count); /* of engine_lines; false: give up */
    void *context;
} engine_call;

typedef struct engine_text {
    const char *text;
    size_t bytes;
    ganz_text out; /* freed by the caller */
} engine_text;

/* Has texts translated as documents, in the model's languages. GANZ_ESTOPPED: tick said so. */
ganz_status engine_documents(const engine *e, const engine_call *call, const ganz_document_options *options,
                             engine_text *texts, int count, ganz_error *err);

/* Has lines translated one by one; `take` gets the results in their order. */
ganz_status engine_lines(const engine_call *call, const ganz_line *lines, int count, ganz_error *err);

#endif
