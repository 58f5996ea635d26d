/* libganz_mpi.so, which is loaded when mpirun or srun have started several processes: the program itself needs no MPI.
 */
#define _GNU_SOURCE /* secure_getenv */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks/ranks.h"

#define LIBRARY "libganz_mpi.so"

/* From a folder that is named as seen from that of the program: installed, and in the build tree. */
static void *open_beside(const char *folder)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) return NULL;
    path[n] = '\0';
    char *const slash = strrchr(path, '/');
    if (!slash) return NULL;
    const size_t room = sizeof path - (size_t)(slash - path);
    const int written = snprintf(slash, room, "/%s/" LIBRARY, folder);
    if (written < 0 || (size_t)written >= room) return NULL;
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

/* Global, because MPI loads parts of its own that look for its symbols. */
static void *open_library(void)
{
    const char *const given = secure_getenv("GANZ_MPI");
    void *library = given ? dlopen(given, RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (given) return library;
    if (!library) library = open_beside(".");
    if (!library) library = open_beside(GANZ_MPI_INSTALLED);
    if (!library) library = open_beside("../src");
    if (!library) library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    return library;
}

static ganz_status check_size(ganz_ranks **ranks, const ganz_place *place, ganz_error *err)
{
    const int size = (*ranks)->size;
    if (size == place->size) return GANZ_OK;
    (*ranks)->close(*ranks);
    *ranks = NULL;
    return ganz_fail(err, GANZ_EINVAL,
                     "%d processes were started, but MPI knows of %d: it is another MPI than that of " LIBRARY
                     ", or srun needs --mpi=pmix",
                     place->size, size);
}

ganz_status ganz_mpi_load(ganz_ranks **ranks, const ganz_place *place, ganz_error *err)
{
    char why[256] = "";
    ganz_mpi_opener *opener = NULL;
    void *const library = open_library();
    if (!library) {
        const char *const reason = dlerror();
        return ganz_fail(err, GANZ_EUNSUPPORTED,
                         "%d processes were started to share a run, which needs " LIBRARY
                         " (or GANZ_MEET, to do without "
                         "MPI): %s",
                         place->size, reason ? reason : "it cannot be loaded");
    }
    void *const symbol = dlsym(library, GANZ_MPI_SYMBOL);
    memcpy(&opener, &symbol, sizeof opener);
    if (!opener) return ganz_fail(err, GANZ_EVERSION, LIBRARY " is of another version of ganz");
    *ranks = opener(why, sizeof why);
    if (!*ranks) return ganz_fail(err, GANZ_EUNSUPPORTED, "MPI: %s", why);
    return check_size(ranks, place, err);
}
