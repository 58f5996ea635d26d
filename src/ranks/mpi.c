/* libganz_mpi.so: the collectives by MPI, through host memory. Failures of MPI end all processes: that is its default.
 * It is loaded by the program and shares nothing with it but the table, so it has its own memory. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "ranks/ranks.h"

typedef struct mpi_ranks {
    ganz_ranks table; /* first */
    bool own;         /* we have started MPI, and end it */
    int *counts;      /* (4, size) lengths and places, both ways */
} mpi_ranks;

GANZ_API ganz_ranks *ganz_mpi_open_1(char *why, size_t bytes);

static ganz_status refuse(ganz_ranks *r, ganz_error *err)
{
    r->broken = true;
    if (err) {
        err->status = GANZ_ELIMIT;
        err->line = 0;
        snprintf(err->message, sizeof err->message, "MPI moves at most 2 GiB at a time");
    }
    return GANZ_ELIMIT;
}

/* MPI counts in int. */
static bool fill(const size_t *at, int size, int *counts, int *places)
{
    for (int i = 0; i < size; i++) {
        counts[i] = (int)(at[i + 1] - at[i]);
        places[i] = (int)at[i];
    }
    return at[size] <= INT_MAX;
}

static ganz_status exchange(ganz_ranks *r, const void *send, const size_t *send_at, void *recv, const size_t *recv_at,
                            ganz_error *err)
{
    const int n = r->size;
    int *const counts = ((mpi_ranks *)r)->counts;
    if (!fill(send_at, n, counts, counts + n) || !fill(recv_at, n, counts + 2 * n, counts + 3 * n))
        return refuse(r, err);
    MPI_Alltoallv(send, counts, counts + n, MPI_BYTE, recv, counts + 2 * n, counts + 3 * n, MPI_BYTE, MPI_COMM_WORLD);
    return GANZ_OK;
}

static ganz_status gather(ganz_ranks *r, void *all, const size_t *at, ganz_error *err)
{
    const int n = r->size;
    int *const counts = ((mpi_ranks *)r)->counts;
    if (!fill(at, n, counts, counts + n)) return refuse(r, err);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, counts + n, MPI_BYTE, MPI_COMM_WORLD);
    return GANZ_OK;
}

static void close_mpi(ganz_ranks *r)
{
    mpi_ranks *const m = (mpi_ranks *)r;
    if (m->own && !r->broken) MPI_Finalize(); /* which waits for the others */
    free(m->counts);
    free(m);
}

ganz_ranks *ganz_mpi_open_1(char *why, size_t bytes)
{
    int started = 0, level, rank, size;
    MPI_Initialized(&started);
    if (!started && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
        snprintf(why, bytes, "it does not start");
        return NULL;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mpi_ranks *const m = calloc(1, sizeof *m);
    int *const counts = calloc(4 * (size_t)size, sizeof *counts);
    if (!m || !counts) {
        snprintf(why, bytes, "out of memory");
        free(m);
        free(counts);
        return NULL;
    }
    m->own = !started;
    m->counts = counts;
    m->table = (ganz_ranks){.rank = rank, .size = size, .exchange = exchange, .gather = gather, .close = close_mpi};
    return &m->table;
}
