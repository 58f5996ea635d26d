/* OpenBLAS, which is loaded when the first float product is to be made. As soon as it is there it starts a thread for
 * each processor. Each spins for a while and reserves 128 MiB, which it demands again and again where it cannot have
 * them (ulimit -v), so that the program never ends; libgfortran, which comes with it, ends the program itself when it
 * gets no memory. So the memory is asked for once before. Programs that multiply integers only are spared all that. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "backend/cpu_gemm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef GANZ_F64
#define GEMM cblas_dgemm
#else
#define GEMM cblas_sgemm
#endif

#define THREAD_BYTES ((size_t)144 << 20)
#define CODE_BYTES ((size_t)64 << 20)

#define GANZ_TEXT_OF(x) #x
#define GANZ_TEXT(x) GANZ_TEXT_OF(x)

typedef struct library {
    __typeof__(&GEMM) gemm;
    __typeof__(&openblas_set_num_threads) set_threads;
    __typeof__(&openblas_get_parallel) kind;
} library;

static struct {
    library lib;
    bool one_by_one; /* callers take turns */
    bool ready;
    char why[256]; /* it is not */
} blas;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t blas_lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef GANZ_BLAS_NAME
static bool find_symbol(void *from, const char *name, void *to)
{
    void *const symbol = dlsym(from, name);
    memcpy(to, &symbol, sizeof symbol);
    if (!symbol) snprintf(blas.why, sizeof blas.why, "%s lacks %s", GANZ_BLAS_NAME, name);
    return symbol != NULL;
}

/* By its name, as a linked library is found, or else where the build found it. It stays until the program ends. */
static bool find_library(library *lib)
{
    void *from = dlopen(GANZ_BLAS_NAME, RTLD_NOW | RTLD_LOCAL);
    if (!from) from = dlopen(GANZ_BLAS_PATH, RTLD_NOW | RTLD_LOCAL);
    if (!from) snprintf(blas.why, sizeof blas.why, "%s", dlerror());
    return from && find_symbol(from, GANZ_TEXT(GEMM), &lib->gemm) &&
           find_symbol(from, "openblas_set_num_threads", &lib->set_threads) &&
           find_symbol(from, "openblas_get_parallel", &lib->kind);
}
#else /* linked */
static bool find_library(library *lib)
{
    *lib = (library){GEMM, openblas_set_num_threads, openblas_get_parallel};
    return true;
}
#endif

/* What OpenBLAS reserves and its code, the stacks of its threads, and the same for each thread of ours that calls. */
static bool has_memory(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN), threads = 2 * (processors > 0 ? processors : 1);
    const size_t bytes = (size_t)threads * THREAD_BYTES + CODE_BYTES;
    void *const trial = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (trial != MAP_FAILED) munmap(trial, bytes);
    else snprintf(blas.why, sizeof blas.why, "its %zu MiB of memory cannot be had (see ulimit -v)", bytes >> 20);
    return trial != MAP_FAILED;
}

static void load(void)
{
    if (!has_memory() || !find_library(&blas.lib)) return;
    blas.lib.set_threads(1); /* the pool divides the work: a BLAS that divides it again only gets in the way */
    blas.one_by_one = blas.lib.kind() == OPENBLAS_SEQUENTIAL;
    blas.ready = true;
}

bool ganz_cpu_blas_load(const char **why)
{
    pthread_once(&once, load);
    if (!blas.ready) *why = blas.why;
    return blas.ready;
}

/* Serial OpenBLAS gives two callers the same buffer now and then, and both wrong sums: they go one by one. */
void ganz_cpu_blas(const ganz_cpu_product *p)
{
    if (blas.one_by_one) pthread_mutex_lock(&blas_lock);
    blas.lib.gemm(CblasRowMajor, p->a.how, p->b.how, p->m, p->n, p->k, p->alpha, p->a.data, p->a.ld, p->b.data, p->b.ld,
                  p->add ? 1 : 0, p->c, p->ldc);
    if (blas.one_by_one) pthread_mutex_unlock(&blas_lock);
}
