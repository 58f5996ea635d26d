#define _GNU_SOURCE /* sched_getaffinity */
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

typedef struct worker {
    ganz_pool *pool;
    int index;
    pthread_t thread;
} worker;

struct ganz_pool {
    int threads;
    worker *workers; /* (threads - 1); the caller is worker 0 */
    pthread_mutex_t lock;
    pthread_cond_t begin, done;
    uint64_t round; /* counts calls of run; workers wait for the next */
    int busy;
    bool closing;
    ganz_work *work;
    void *context;
    int64_t n, per_run; /* items; items of one run, a multiple of the grain */
};

static void run_share(const ganz_pool *pool, int index)
{
    const int64_t begin = pool->per_run * index;
    int64_t end = begin + pool->per_run;
    if (end > pool->n) end = pool->n;
    if (begin < end) pool->work(pool->context, begin, end, index);
}

static void *worker_main(void *argument)
{
    const worker *const self = argument;
    ganz_pool *const pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->round == seen && !pool->closing) pthread_cond_wait(&pool->begin, &pool->lock);
        if (pool->closing) break;
        seen = pool->round;
        pthread_mutex_unlock(&pool->lock);
        run_share(pool, self->index);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

ganz_status ganz_pool_open(ganz_pool **out, int threads, ganz_error *err)
{
    *out = NULL;
    if (threads < 1 || threads > 1024) return ganz_fail(err, GANZ_EINVAL, "threads must be 1 to 1024, not %d", threads);
    ganz_pool *pool = ganz_alloc(1, sizeof *pool);
    if (!pool) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a thread pool");
    pool->workers = ganz_alloc((size_t)threads, sizeof *pool->workers);
    if (!pool->workers) {
        ganz_free(pool);
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for a thread pool");
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->threads = 1;
    for (int i = 1; i < threads; i++) {
        worker *const w = &pool->workers[i - 1];
        *w = (worker){.pool = pool, .index = i};
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0) {
            ganz_pool_close(&pool);
            return ganz_fail(err, GANZ_ENOMEM, "cannot start thread %d of %d", i + 1, threads);
        }
        pool->threads++;
    }
    *out = pool;
    return GANZ_OK;
}

void ganz_pool_close(ganz_pool **it)
{
    ganz_pool *const pool = *it;
    *it = NULL;
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 1; i < pool->threads; i++) pthread_join(pool->workers[i - 1].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->lock);
    ganz_free(pool->workers);
    ganz_free(pool);
}

int ganz_pool_threads(const ganz_pool *pool) { return pool ? pool->threads : 1; }

void ganz_pool_run(ganz_pool *pool, int64_t n, int64_t grain, ganz_work *work, void *context)
{
    GANZ_ASSERT(grain >= 1);
    if (n <= 0) return;
    const int64_t grains = (n + grain - 1) / grain;
    if (!pool || pool->threads == 1 || grains == 1) {
        work(context, 0, n, 0);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->context = context;
    pool->n = n;
    pool->per_run = (grains + pool->threads - 1) / pool->threads * grain;
    pool->busy = pool->threads - 1;
    pool->round++;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    run_share(pool, 0);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

int ganz_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}
