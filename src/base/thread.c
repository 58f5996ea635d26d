/* The pool. Shares of a run are claimed, by the caller too: a worker that sleeps, or that the system keeps from
 * running, holds up no other thread. Workers look for the next run a little while before they sleep, as runs often
 * follow each other closely. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/thread.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    SHARES = 2,  /* for each thread: the slower one gets fewer */
    LOOKS = 2000 /* some 50 microseconds */
};

typedef struct worker {
    ganz_pool *pool;
    int index;
    pthread_t thread;
} worker;

struct ganz_pool {
    int threads;
    int looks;               /* 0 where threads do not have a core each */
    worker *workers;         /* (threads - 1); the caller is worker 0 */
    _Atomic uint64_t ticket; /* number of the run in the upper half; shares not claimed yet in the lower */
    atomic_int unfinished;   /* shares of the run */
    atomic_int sleeping;     /* workers that want `begin` */
    atomic_bool waiting;     /* the caller wants `done` */
    atomic_bool closing;
    pthread_mutex_t lock;
    pthread_cond_t begin, done;
    ganz_work *work; /* of the run, with what follows; written while no share can be claimed */
    void *context;
    int64_t n, per_share; /* items; items of one share, a multiple of the grain */
};

/* Not sched_yield: on a busy machine that gives away more than it is waiting for. */
static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool has_shares(ganz_pool *pool) { return (uint32_t)atomic_load(&pool->ticket) > 0; }

/* The number of a share that is now the caller's, or -1. */
static int claim(ganz_pool *pool)
{
    uint64_t ticket = atomic_load(&pool->ticket);
    while ((uint32_t)ticket > 0)
        if (atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket - 1)) return (int)(uint32_t)ticket - 1;
    return -1;
}

/* Shares until none is left. */
static void run_shares(ganz_pool *pool, int index)
{
    for (int share = claim(pool); share >= 0; share = claim(pool)) {
        const int64_t begin = pool->per_share * share, end = begin + pool->per_share;
        pool->work(pool->context, begin, end < pool->n ? end : pool->n, index);
        if (atomic_fetch_sub(&pool->unfinished, 1) != 1 || !atomic_load(&pool->waiting)) continue;
        pthread_mutex_lock(&pool->lock);
        pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->lock);
    }
}

static void sleep_until_called(ganz_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleeping, 1);
    while (!has_shares(pool) && !atomic_load(&pool->closing)) pthread_cond_wait(&pool->begin, &pool->lock);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void *worker_main(void *argument)
{
    const worker *const self = argument;
    ganz_pool *const pool = self->pool;
    (void)fesetenv(FE_DFL_ENV); /* a thread begins with the arithmetic of the one that made it */
    while (!atomic_load(&pool->closing)) {
        int look = 0;
        while (look < pool->looks && !has_shares(pool)) relax(), look++;
        if (look == pool->looks) sleep_until_called(pool);
        run_shares(pool, self->index);
    }
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
    pool->looks = threads <= ganz_cpu_count() ? LOOKS : 0;
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
    atomic_store(&pool->closing, true);
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

/* Returns when the last share is done. */
static void wait_for_all(ganz_pool *pool)
{
    for (int look = 0; look < pool->looks && atomic_load(&pool->unfinished) > 0; look++) relax();
    if (atomic_load(&pool->unfinished) == 0) return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->waiting, true);
    while (atomic_load(&pool->unfinished) > 0) pthread_cond_wait(&pool->done, &pool->lock);
    atomic_store(&pool->waiting, false);
    pthread_mutex_unlock(&pool->lock);
}

void ganz_pool_run(ganz_pool *pool, int64_t n, int64_t grain, ganz_work *work, void *context)
{
    GANZ_ASSERT(grain >= 1);
    if (n <= 0) return;
    const int64_t grains = (n + grain - 1) / grain;
    if (!pool || pool->threads == 1 || grains == 1) {
        work(context, 0, n, 0);
        return;
    }
    const int64_t most = (int64_t)SHARES * pool->threads;
    pool->work = work;
    pool->context = context;
    pool->n = n;
    pool->per_share = (grains + most - 1) / most * grain;
    const int64_t shares = (n + pool->per_share - 1) / pool->per_share;
    const uint64_t run = (atomic_load(&pool->ticket) >> 32) + 1;
    atomic_store(&pool->unfinished, (int)shares);
    atomic_store(&pool->ticket, run << 32 | (uint64_t)shares);
    if (atomic_load(&pool->sleeping) > 0) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->begin);
        pthread_mutex_unlock(&pool->lock);
    }
    run_shares(pool, 0);
    wait_for_all(pool);
}

int ganz_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}
