/* Translation for many callers: their requests wait in a bounded queue, and workers take lines of several together.
 *
 *     ganz_service *service;
 *     ganz_request *request;
 *     const ganz_result *results;
 *     ganz_service_open(&service, model, NULL, &err);
 *     ganz_service_submit(service, lines, count, NULL, &request, &err);
 *     ganz_request_wait(request, &results, &err);
 *     ...
 *     ganz_request_close(&request);
 *     ganz_service_close(&service);
 *
 * A free worker never waits for company: it takes the line whose turn it is, and with it lines of similar length, as
 * many as make a batch. Lines of different clients take turns. A line's translation depends on the line alone (with a
 * float model, but for the last digits of scores): not on the other lines of its batch, and not on the number of
 * workers. All calls may come from any thread. */
#ifndef GANZ_SERVICE_H
#define GANZ_SERVICE_H

#include "ganz/document.h"
#include "ganz/ganz.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ganz_service ganz_service;
/* Some lines of one caller, and their translations. */
typedef struct ganz_request ganz_request;

typedef struct ganz_service_options {
    /* Of each worker. batch_tokens 0: 3072, or 16384 on a GPU. `stop` is not used: see ganz_service_close. */
    ganz_translator_options translator;
    int workers;         /* each with a thread and a translator, at most 256; 0: one for each core, on a GPU three */
    long long max_lines; /* most lines inside, waiting or being translated; 0: 1024 for each worker */
    size_t max_bytes;    /* most bytes of their text; 0: 4 MiB for each worker */
    /* Bytes of memory for lines and their translations: a line that comes again is not translated again, with the same
     * result. Models that are not of integers throughout are asked each time. 0: nothing is remembered. */
    size_t remember;
} ganz_service_options;

/* The translator's defaults, and zeroes. */
GANZ_API void ganz_service_defaults(ganz_service_options *options);

/* Opens the translators and starts the workers. The model is borrowed; options may be NULL: the defaults. */
GANZ_API ganz_status ganz_service_open(ganz_service **service, const ganz_model *model,
                                       const ganz_service_options *options, ganz_error *err);
/* Refuses requests from now on, with GANZ_ESTOPPED, and waits until all that were accepted are finished, at most so
 * many seconds (negative: as long as it takes). GANZ_ETIMEOUT: some are not. */
GANZ_API ganz_status ganz_service_drain(ganz_service *service, double seconds, ganz_error *err);
/* Cancels the requests that are not finished, and returns when no worker runs any more, within a step of a search.
 * Requests stay valid until they are closed, before or after. */
GANZ_API void ganz_service_close(ganz_service **service);

typedef struct ganz_request_options {
    uint64_t client; /* who asks: lines of different clients take turns, those of one go in the order they came */
    double seconds;  /* after which the request fails with GANZ_ETIMEOUT; 0: never */
    bool refuse;     /* where there is no room fail with GANZ_EBUSY, instead of waiting for it */
    bool bulk;       /* where there are several workers, leave one of them to requests that are not */
    /* Called once when the request is finished: translated, failed, cancelled or late. It may close the request; it
     * must neither wait for another nor close the service. It runs in a worker, or in the thread whose call finished
     * the request, possibly before ganz_service_submit returns. May be NULL. */
    void (*done)(void *context, ganz_request *request);
    void *context;
} ganz_request_options;

/* Hands in lines, which are copied. Text that is not UTF-8 is GANZ_EINVAL, with its line in err->line. A request that
 * would exceed the service's limits waits for room or is refused with GANZ_EBUSY; one that is beyond them by itself is
 * accepted when nothing else is inside. options may be NULL: client 0, no time limit, wait for room. */
GANZ_API ganz_status ganz_service_submit(ganz_service *service, const ganz_line *lines, int count,
                                         const ganz_request_options *options, ganz_request **request, ganz_error *err);

/* Waits until the request is finished. *results has one for each of its lines and lives until the request is closed. If
 * one line fails the request does: err->line says which, counted from 1. GANZ_ESTOPPED: it was cancelled. */
GANZ_API ganz_status ganz_request_wait(ganz_request *request, const ganz_result **results, ganz_error *err);
/* Waits at most so many seconds; whether ganz_request_wait would now return at once. */
GANZ_API bool ganz_request_await(ganz_request *request, double seconds);
/* Whether ganz_request_wait would return at once. */
GANZ_API bool ganz_request_is_finished(ganz_request *request);
/* Finishes the request with GANZ_ESTOPPED unless it is finished. Its lines leave the queue; those that a worker has
 * already are translated for nothing. */
GANZ_API void ganz_request_cancel(ganz_request *request);
/* Cancels if need be, without calling `done`; waits for `done` where it is running in another thread. */
GANZ_API void ganz_request_close(ganz_request **request);

/* ---- any number of lines ------------------------------------------------------------------------ */

/* Lines from a source, which are handed in some dozen at a time and several such parts at once, so that workers never
 * wait for the next one. All three functions are called by the thread that calls ganz_service_run. */
typedef struct ganz_line_stream {
    /* Gives up to `most` lines, each with a number of the caller's; *count 0: there is none now. Their texts live until
     * their results are put. Asked once more after every put. */
    ganz_status (*fill)(void *context, ganz_line *lines, uint64_t *numbers, int most, int *count, ganz_error *err);
    /* Takes the results of some lines, in the order they were given; they live until it returns. */
    ganz_status (*put)(void *context, const uint64_t *numbers, const ganz_result *results, int count, ganz_error *err);
    bool (*go_on)(void *context); /* twenty times a second, and after each put; false: give up. May be NULL */
    void *context;
} ganz_line_stream;

/* Has all lines of a source translated. Of the options (NULL: as for ganz_service_submit) `seconds` is for all of it,
 * and `done` is not used. GANZ_ESTOPPED: go_on said so. Where a line failed, err->line is one more than its number. */
GANZ_API ganz_status ganz_service_run(ganz_service *service, const ganz_line_stream *stream,
                                      const ganz_request_options *options, ganz_error *err);

typedef struct ganz_documents_options {
    ganz_request_options request; /* as for ganz_service_run */
    ganz_line line; /* what is wanted of all sentences: n_best, unscored, formality; the rest is not used */
    /* Gets all results of a sentence before the best one goes into its document; may be NULL. */
    ganz_status (*see)(void *context, int document, size_t number, const ganz_result *result, ganz_error *err);
    bool (*go_on)(void *context, size_t done, size_t count); /* of all sentences; as for ganz_service_run */
    void *context;
} ganz_documents_options;

/* Has all sentences of some documents translated, together. The service should make links (alignment). Where a sentence
 * failed, err->line is the number of its document, from 1. */
GANZ_API ganz_status ganz_service_documents(ganz_service *service, ganz_document *const *documents, int count,
                                            const ganz_documents_options *options, ganz_error *err);

/* ---- what it does ------------------------------------------------------------------------------- */

/* What a service has done since it was opened, and what it is doing. */
typedef struct ganz_service_stats {
    long long accepted, refused;             /* requests; refused: for want of room */
    long long done, failed, cancelled, late; /* of those accepted */
    long long lines, batches;                /* translated; how many lines shared a batch is their ratio */
    long long source_tokens;                 /* of the lines translated, end marks included */
    double queue_seconds;                    /* sum over lines, from handing in to the beginning of their batch */
    double work_seconds;                     /* sum over workers, of their batches */
    double line_seconds;                   /* that a worker took for a line, over its last dozen batches; 0: none yet */
    long long lines_waiting, lines_inside; /* now; inside: waiting or being translated */
    long long bulk_inside;                 /* those of them that belong to bulk requests */
    size_t bytes_inside;
    int workers, idle;
    long long repeated; /* lines that got the translation of an equal line; they are not among `lines` */
} ganz_service_stats;

GANZ_API void ganz_service_get_stats(ganz_service *service, ganz_service_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
