/* Lines that a service has translated, and lines that its workers have right now: what comes again is answered by the
 * translation of the first. A service has one model and one set of options, so that the line itself is the key, all
 * bytes of it. Memory is bounded: the line that was not asked for longest is forgotten first. Nothing is locked here.
 */
#ifndef GANZ_TRANSLATE_REPEATS_H
#define GANZ_TRANSLATE_REPEATS_H

#include "base/base.h"
#include "ganz/service.h"

/* A line that waits for the translation of an equal one. */
typedef struct ganz_waiter {
    ganz_request *request;
    int line;
    struct ganz_waiter *next;
} ganz_waiter;

typedef struct ganz_repeat {
    ganz_line line;       /* with its texts behind this struct */
    ganz_result result;   /* best NULL: a worker has the line */
    void *block;          /* memory of the result */
    ganz_waiter *waiters; /* while a worker has the line */
    uint64_t hash;
    size_t bytes;
    struct ganz_repeat *next;          /* of its bucket */
    struct ganz_repeat *newer, *older; /* of those with results */
} ganz_repeat;

typedef struct ganz_repeats ganz_repeats;

/* Room for so many bytes of lines with results. close may be called on NULL; nobody waits any more then. */
ganz_status ganz_repeats_open(ganz_repeats **repeats, size_t most_bytes, ganz_error *err);
void ganz_repeats_close(ganz_repeats **repeats);

/* What is known of a line, which counts as asking for it; NULL: nothing, or `repeats` is NULL. */
ganz_repeat *ganz_repeats_find(ganz_repeats *repeats, const ganz_line *line);
/* A line that a worker takes. NULL: out of memory, or `repeats` is NULL; it is not remembered then. */
ganz_repeat *ganz_repeats_add(ganz_repeats *repeats, const ganz_line *line);
/* Its result, in a block of `bytes` that is taken over. Nobody may wait any more. The entry may be gone after that. */
void ganz_repeats_keep(ganz_repeats *repeats, ganz_repeat *repeat, ganz_result result, void *block, size_t bytes);
/* It has come to nothing, and nobody waits. */
void ganz_repeats_drop(ganz_repeats *repeats, ganz_repeat *repeat);

/* False: out of memory. */
bool ganz_repeat_wait(ganz_repeat *repeat, ganz_request *request, int line);
/* Takes one of those that wait out of the list. False: none does. */
bool ganz_repeat_next(ganz_repeat *repeat, ganz_request **request, int *line);

#endif
