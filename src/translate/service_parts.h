/* Inside of a service: requests, the clients they wait under, and workers. Everything is guarded by the service's lock
 * unless it says otherwise.
 *
 *     service.c        the public calls
 *     service_queue.c  whose turn it is, and which lines make a batch
 *     service_worker.c batches through a translator, results to their requests
 *     service_run.c    any number of lines and documents, over the public calls */
#ifndef GANZ_TRANSLATE_SERVICE_PARTS_H
#define GANZ_TRANSLATE_SERVICE_PARTS_H

#include <pthread.h>

#include "base/base.h"
#include "ganz/service.h"
#include "translate/repeats.h"

enum { GANZ_SERVICE_WINDOW = 1024 }; /* most lines among which a worker looks for those of similar length */

/* Requests of one client that have lines waiting. */
typedef struct ganz_client {
    uint64_t id;
    ganz_request *first, *last;
    struct ganz_client *next; /* a ring */
    ganz_request *scan;       /* while lines are collected: where the next one is looked for */
    int scan_line;
} ganz_client;

struct ganz_request {
    ganz_service *service;
    ganz_request_options options;
    double submitted, deadline; /* seconds of the clock; deadline 0: none */
    const ganz_line *lines;     /* (count) with the texts in one block; not guarded, they never change */
    int count;
    size_t bytes;
    ganz_client *client;   /* NULL: no line of it waits */
    ganz_request *next;    /* of the same client */
    bool *taken;           /* (count) a worker has the line, or had it */
    int first_waiting;     /* lines before it are taken */
    int waiting, left;     /* lines not taken; lines without results */
    int holders;           /* the caller, each line that a worker has, and whoever calls `done` */
    bool finished, closed; /* closed: the caller has let go */
    bool calling;          /* `done` is running, in `caller` */
    pthread_t caller;
    pthread_cond_t changed;  /* finished, or not calling any more */
    ganz_error err;          /* of a finished request; status GANZ_OK: it has results */
    ganz_result *results;    /* (count) */
    void **blocks;           /* (count) memory of each result */
    ganz_request *next_done; /* in a list of requests whose `done` is to be called */
};

/* A line of a request on its way through a worker. */
typedef struct ganz_batch_line {
    ganz_request *request;
    int line;
    int tokens;          /* guessed from its bytes */
    int order;           /* in which lines would be taken if lengths were all the same */
    ganz_repeat *repeat; /* that others wait for, or will ask for; NULL: it is not remembered */
} ganz_batch_line;

typedef struct ganz_service_worker {
    ganz_service *service;
    pthread_t thread;
    ganz_translator *translator;
    ganz_flag stop; /* of the translator: nobody wants what it works at, or the service closes */
    int tried;      /* lines at the front of the batch that the translator works at: they stay as they are meanwhile */
    ganz_batch_line batch[GANZ_SERVICE_WINDOW]; /* the worker's own, as is all that follows */
    ganz_line lines[GANZ_SERVICE_WINDOW];
} ganz_service_worker;

struct ganz_service {
    const ganz_model *model;
    ganz_service_options options;
    pthread_mutex_t lock;
    pthread_cond_t work;  /* lines wait, or it closes */
    pthread_cond_t room;  /* lines have left, or it closes */
    pthread_cond_t quiet; /* workers have opened, or requests have finished */
    ganz_client *turn;    /* ring of clients; the one whose turn it is */
    ganz_service_worker *workers;
    int started, opened;    /* workers */
    int idle, bulk_workers; /* workers without a batch; workers with lines of bulk requests */
    long long unfinished;   /* requests */
    long long references;   /* the caller, requests, and callers inside of ganz_service_submit */
    bool draining, closing;
    ganz_error err; /* of opening a translator */
    double bytes_per_token;
    ganz_repeats *repeats; /* NULL: nothing is remembered */
    ganz_service_stats stats;
};

double ganz_service_now(void);

/* ---- service_queue.c ---------------------------------------------------------------------------- */

/* Puts a request with lines at the end of its client's. False: out of memory. */
bool ganz_queue_add(ganz_service *service, ganz_request *request);
/* Takes it out, if it is there. */
void ganz_queue_remove(ganz_service *service, ganz_request *request);
/* Takes lines for a batch: the first is the line whose turn it is, the others those of the window that are nearest to
 * it in length, up to the size of a batch and up to a fair share for each idle worker. The window is a quarter larger
 * than a batch, so that lines go nearly in the order they came, whatever their lengths. Lines that are remembered get
 * their results, those that a worker has already wait for it. Returns how many are left for the batch; 0: none waits.
 * Requests that are finished by that and have a `done` are put in *done. */
int ganz_queue_take(ganz_service *service, ganz_batch_line batch[GANZ_SERVICE_WINDOW], ganz_request **done);
/* The first request, of any client, whose time is over. NULL: none. */
ganz_request *ganz_queue_late(ganz_service *service, double now);

/* ---- service.c ---------------------------------------------------------------------------------- */

/* Finishes a request that is not, with *err or, for NULL, with its results. It is put in *done if its `done` is to be
 * called. */
void ganz_request_finish(ganz_request *request, const ganz_error *err, ganz_request **done);
/* One holder less; the last one frees it. */
void ganz_request_release(ganz_request *request);
/* Calls `done` of all in the list, which becomes empty. The lock is held, but not during the calls. */
void ganz_service_call_done(ganz_service *service, ganz_request **done);

/* A line of a request gets its result, in a block of its own; the line's holder lets go of the request. False: it was
 * finished before. */
bool ganz_request_give(ganz_request *request, int line, ganz_result result, void *block, ganz_request **done);

/* ---- service_worker.c --------------------------------------------------------------------------- */

/* Stops translators whose lines are all of requests that are finished. */
void ganz_workers_stop_unwanted(ganz_service *service);
/* A thread: opens its translator, then takes batches until the service closes. */
void *ganz_service_work(void *worker);
/* A copy of a result in one block. False: out of memory. */
bool ganz_result_copy(const ganz_result *from, ganz_result *to, void **block);

#endif
