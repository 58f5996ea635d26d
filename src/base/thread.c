/* The pool. A run's items are cut into shares, and the same share of equal runs is the same thread's each time: what it
 * read the last time may still be in its core's cache. Each thread looks for its shares in a line of memory of its own,
 * so looking disturbs no other thread. The caller takes what others have not begun, so a thread that sleeps, or that
 * the system keeps from running, holds up no run; where shares are many, all threads do. Threads look for the next run
 * a little while before they sleep, as runs often follow each other closely. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/thread.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    LINE = 64,
    SHARES = 2,  /* for each thread, where there is enough to do: the slower one gets fewer */
    ENOUGH = 4,  /* grains for each thread */
    LOOKS = 4000 /* some 100 to 200 microseconds */
};

/* What a thread waits for, in a line of its own. */
typedef struct worker {
    _Alignas(LINE) atomic_int shares; /* of the run, its own, not claimed yet */
    atomic_bool sleeping;             /* it wants `begin` */
    int index;
    ganz_pool *pool;
    pthread_t thread;
    pthread_cond_t begin;
} worker;

struct ganz_pool {
    int threads;
    int looks;       /* 0 where threads do not have a core each */
    worker *workers; /* (threads); the caller is worker 0 */
    pthread_mutex_t lock;
    pthread_cond_t done;
    atomic_bool closing;
    _Alignas(LINE) ganz_work *work; /* of the run, with what follows; written while no share can be claimed */
    void *context;
    int64_t n, per_share;                 /* items; items of one share, a multiple of the grain */
    int each, active;                     /* shares of a thread; threads that have some */
    _Alignas(LINE) atomic_int unfinished; /* shares of the run */
    atomic_bool waiting;                  /* the caller wants `done` */
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

static bool has_shares(worker *w) { return atomic_load(&w->shares) > 0; }

/* The number of a share of w's that is now the caller's, or -1. */
static int claim(ganz_pool *pool, worker *w)
{
    int left = atomic_load(&w->shares);
    while (left > 0)
        if (atomic_compare_exchange_weak(&w->shares, &left, left - 1)) return w->index * pool->each + left - 1;
    return -1;
}

/* All shares of `of` that are left, by worker `index`. Returns the threads of the run whose shares are many, or 0: the
 * run's facts may be read only before the share is done. */
static int run_shares(ganz_pool *pool, worker *of, int index)
{
    int many = 0;
    for (int share = claim(pool, of); share >= 0; share = claim(pool, of)) {
        const int64_t begin = pool->per_share * share, end = begin + pool->per_share;
        many = pool->each > 1 ? pool->active : 0;
        pool->work(pool->context, begin, end < pool->n ? end : pool->n, index);
        if (atomic_fetch_sub(&pool->unfinished, 1) != 1 || !atomic_load(&pool->waiting)) continue;
        pthread_mutex_lock(&pool->lock);
        pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->lock);
    }
    return many;
}

/* Shares of other threads, from the next one on. */
static void run_others(ganz_pool *pool, int index, int active)
{
    for (int i = 1; i < active; i++) (void)run_shares(pool, &pool->workers[(index + i) % active], index);
}

static void sleep_until_called(worker *self)
{
    ganz_pool *const pool = self->pool;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&self->sleeping, true);
    while (!has_shares(self) && !atomic_load(&pool->closing)) pthread_cond_wait(&self->begin, &pool->lock);
    atomic_store(&self->sleeping, false);
    pthread_mutex_unlock(&pool->lock);
}

static void *worker_main(void *argument)
{
    worker *const self = argument;
    ganz_pool *const pool = self->pool;
    (void)fesetenv(FE_DFL_ENV); /* a thread begins with the arithmetic of the one that made it */
    while (!atomic_load(&pool->closing)) {
        int look = 0;
        while (look < pool->looks && !has_shares(self)) relax(), look++;
        if (look == pool->looks) sleep_until_called(self);
        run_others(pool, self->index, run_shares(pool, self, self->index));
    }
    return NULL;
}

ganz_status ganz_pool_open(ganz_pool **out, int threads, ganz_error *err)
{
    *out = NULL;
    if (threads < 1 || threads > 1024) return ganz_fail(err, GANZ_EINVAL, "threads must be 1 to 1024, not %d", threads);
    ganz_pool *pool = ganz_alloc_aligned(sizeof *pool);
    worker *const workers = ganz_alloc_aligned((size_t)threads * sizeof *workers);
    if (!pool || !workers) {
        ganz_free(workers);
        ganz_free(pool);
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for a thread pool");
    }
    *pool = (ganz_pool){.workers = workers};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->looks = threads <= ganz_cpu_count() ? LOOKS : 0;
    for (int i = 0; i < threads; i++) {
        worker *const w = &workers[i];
        *w = (worker){.pool = pool, .index = i};
        pthread_cond_init(&w->begin, NULL);
    }
    pool->threads = 1;
    for (int i = 1; i < threads; i++) {
        if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0) {
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
    for (int i = 1; i < pool->threads; i++) pthread_cond_signal(&pool->workers[i].begin);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 1; i < pool->threads; i++) pthread_join(pool->workers[i].thread, NULL);
    for (int i = 0; i < pool->threads; i++) pthread_cond_destroy(&pool->workers[i].begin);
    pthread_cond_destroy(&pool->done);
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

/* Cuts the run into shares; returns how many. */
static int cut(ganz_pool *pool, int64_t n, int64_t grain)
{
    const int64_t grains = (n + grain - 1) / grain;
    const int64_t most = grains < pool->threads ? grains : pool->threads;
    const int64_t each = grains >= most * ENOUGH ? SHARES : 1;
    pool->n = n;
    pool->per_share = (grains + most * each - 1) / (most * each) * grain;
    const int64_t shares = (n + pool->per_share - 1) / pool->per_share;
    pool->each = (int)each;
    pool->active = (int)((shares + each - 1) / each);
    return (int)shares;
}

static void call_worker(ganz_pool *pool, worker *w, int shares)
{
    atomic_store(&w->shares, shares);
    if (!atomic_load(&w->sleeping)) return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&w->begin);
    pthread_mutex_unlock(&pool->lock);
}

void ganz_pool_run(ganz_pool *pool, int64_t n, int64_t grain, ganz_work *work, void *context)
{
    GANZ_ASSERT(grain >= 1);
    if (n <= 0) return;
    if (!pool || pool->threads == 1 || n <= grain) {
        work(context, 0, n, 0);
        return;
    }
    pool->work = work;
    pool->context = context;
    const int shares = cut(pool, n, grain), each = pool->each, active = pool->active;
    atomic_store(&pool->unfinished, shares);
    for (int i = active - 1; i >= 0; i--)
        call_worker(pool, &pool->workers[i], shares - i * each < each ? shares - i * each : each);
    (void)run_shares(pool, &pool->workers[0], 0);
    run_others(pool, 0, active);
    wait_for_all(pool);
}

int ganz_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}
