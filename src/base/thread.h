/* A pool of worker threads that divides work the same way every time. */
#ifndef GANZ_BASE_THREAD_H
#define GANZ_BASE_THREAD_H

#include "base/base.h"

typedef struct ganz_pool ganz_pool;

/* Work on items [begin, end); `worker` is 0 .. threads-1, for scratch memory of its own. */
typedef void ganz_work(void *context, int64_t begin, int64_t end, int worker);

/* threads >= 1 counts the caller; 1 starts none. */
ganz_status ganz_pool_open(ganz_pool **pool, int threads, ganz_error *err);
void ganz_pool_close(ganz_pool **pool);
int ganz_pool_threads(const ganz_pool *pool); /* 1 for NULL */

/* Runs work over [0, n) and returns when all is done. The items are cut into at most `threads` runs of
 * whole grains (grain >= 1), run i going to worker i. Which worker does an item never changes its result,
 * so the same numbers come out for any thread count. Not to be nested. pool may be NULL. */
void ganz_pool_run(ganz_pool *pool, int64_t n, int64_t grain, ganz_work *work, void *context);

/* Cores this process may use (affinity counted), at least 1. */
int ganz_cpu_count(void);

#endif
