/* A pool of worker threads. */
#ifndef GANZ_BASE_THREAD_H
#define GANZ_BASE_THREAD_H

#include "base/base.h"

typedef struct ganz_pool ganz_pool;

/* Work on items [begin, end); `worker` is 0 .. threads-1, for scratch memory of its own. It is called for several
 * shares of one run, one after the other. */
typedef void ganz_work(void *context, int64_t begin, int64_t end, int worker);

/* threads >= 1 counts the caller; 1 starts none. */
ganz_status ganz_pool_open(ganz_pool **pool, int threads, ganz_error *err);
void ganz_pool_close(ganz_pool **pool);
int ganz_pool_threads(const ganz_pool *pool); /* 1 for NULL */

/* Runs work over [0, n) and returns when all is done. The items are cut into shares of whole grains (grain >= 1), one
 * or two for each thread, and no more threads take part than there are grains: so a grain is what is worth a thread. A
 * share goes to the same thread in equal runs unless that one is late: the result of an item must not depend on its
 * worker or its neighbours, so that the same numbers come out for any thread count. Threads that wait use their core
 * for some 100 microseconds before they sleep. Not to be nested, one run at a time. pool may be NULL. */
void ganz_pool_run(ganz_pool *pool, int64_t n, int64_t grain, ganz_work *work, void *context);

#endif
