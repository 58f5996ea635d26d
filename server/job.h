/* Texts and documents through the services of a chain of models. */
#ifndef GANZ_SERVER_JOB_H
#define GANZ_SERVER_JOB_H

#include "buffer.h"
#include "models.h"

/* How texts are translated; the same for all texts of a request. */
typedef struct job {
    model_chain chain;
    uint64_t client;
    double seconds;        /* for all of it; 0: no limit */
    double end;            /* when they are over, by job_end, for a part of a longer job; 0: count from now */
    const ganz_flag *gone; /* set: nobody waits any more */
    bool bulk;             /* leave room for others */
    int alternatives;      /* that are wanted beside the best, below the beam */
    const char *format;    /* of the texts: "text", "html", ...; NULL: by `path` and content */
    const char *path;      /* name of a file, or NULL */
    ganz_newlines newlines;
    const ganz_glossary *glossary;
    ganz_formality formality;                                   /* of the last model's translations, which knows it */
    void (*progress)(void *context, size_t done, size_t count); /* of sentences; or NULL */
    void *context;
} job;

typedef struct job_text {
    const char *text;
    size_t bytes;
    ganz_text *out;               /* (1 + alternatives) results; what an alternative lacks is empty */
    const char *format;           /* if it is not the job's, or NULL */
    const char *before, *opening; /* as in ganz_document_options */
    size_t before_bytes, opening_bytes;
} job_text;

/* When a job that begins now has to be over; 0: never. */
double job_end(const job *j);

/* Translates the texts. GANZ_ESTOPPED: nobody waits any more. */
ganz_status job_run(const job *j, job_text *texts, int count, ganz_error *err);

/* Translates lines as they are, without documents, by the last model. `use` gets the results before they are gone. */
ganz_status job_lines(const job *j, const ganz_line *lines, int count,
                      void (*use)(void *context, const ganz_result *results), void *context, ganz_error *err);

#endif
