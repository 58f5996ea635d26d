/* Processes that share a run, on one machine or on many: who they are, and two collectives that move bytes and compute
 * nothing, so that no library's order of sums can show. Every process makes the same calls in the same order.
 *
 * Transports fill the table: sockets (sockets.c), MPI (a library of its own, mpi.c, so that the program needs none).
 * Beside either of them devices may be wired up with each other (nccl.c). */
#ifndef GANZ_RANKS_RANKS_H
#define GANZ_RANKS_RANKS_H

#include "base/base.h"

enum { GANZ_MOST_RANKS = 4096, GANZ_HOST_BYTES = 64 };

typedef struct ganz_ranks ganz_ranks;
struct ganz_ranks {
    int rank, size; /* this process: 0 <= rank < size */
    /* set by ganz_ranks_open, whatever the transport */
    int local, locals;             /* the same among the processes of its machine */
    char (*host)[GANZ_HOST_BYTES]; /* (size) names of machines */
    bool broken;                   /* a call failed: there is nobody to talk to any more */
    size_t *at;                    /* (size + 1) scratch of the calls below, so that none of them needs memory */
    int32_t *words;                /* (size) the same */

    /* Bytes [send_at[r], send_at[r + 1]) of send go to process r; what process r sends comes to recv_at[r]. */
    ganz_status (*exchange)(ganz_ranks *ranks, const void *send, const size_t *send_at, void *recv,
                            const size_t *recv_at, ganz_error *err);
    /* Process r gives bytes [at[r], at[r + 1]) of all, and gets those of the others. */
    ganz_status (*gather)(ganz_ranks *ranks, void *all, const size_t *at, ganz_error *err);
    /* Whether nobody has gone, without waiting; NULL: whoever started us ends all when one has. */
    ganz_status (*alive)(ganz_ranks *ranks, ganz_error *err);
    void (*close)(ganz_ranks *ranks);
};

/* ---- devices ------------------------------------------------------------------------------------ */

/* A stretch of a device's memory that goes to a process, perhaps this one, or comes from it. */
typedef struct ganz_move {
    int rank;
    bool out;
    void *data;
    size_t bytes;
} ganz_move;

/* Ways from device to device that do without the host's memory. Calls are put behind the work of the device and do not
 * wait for it. */
typedef struct ganz_wires ganz_wires;
struct ganz_wires {
    /* All at once. Those between two processes belong to each other by their order. */
    ganz_status (*move)(ganz_wires *wires, const ganz_move *moves, int count, ganz_error *err);
    /* As gather of ganz_ranks. */
    ganz_status (*gather)(ganz_wires *wires, void *all, const size_t *at, ganz_error *err);
    /* Whether what was put there can still come to an end; asked while the device is waited for. */
    ganz_status (*check)(ganz_wires *wires, ganz_error *err);
    void (*close)(ganz_wires *wires);
};

/* Wires by NCCL if GANZ_NCCL of the first process says so: it names the library ("" for libnccl.so.2). Else *wires is
 * NULL. `stream` is that of a CUDA device, which outlives the wires as `ranks` does. All processes call it, and agree.
 */
ganz_status ganz_nccl_open(ganz_wires **wires, ganz_ranks *ranks, void *stream, ganz_error *err);

/* What the program that started us says in the environment: mpirun, srun, or GANZ_RANKS, GANZ_RANK and GANZ_MEET. */
typedef struct ganz_place {
    int rank, size;   /* 0 of 1: alone */
    const char *meet; /* "HOST:PORT" where process 0 waits for the others; NULL: through MPI */
} ganz_place;
ganz_status ganz_place_find(ganz_place *place, ganz_error *err);

/* Meets the others. *ranks is NULL for a process that is alone (unless it shall try NCCL with itself: GANZ_NCCL with
 * GANZ_RANKS of 1). Other versions of ganz are refused. All calls of these
 * functions are made from one thread. close may be called on NULL. */
ganz_status ganz_ranks_open(ganz_ranks **ranks, const ganz_place *place, ganz_error *err);
void ganz_ranks_close(ganz_ranks **ranks);

/* Process 0 gives, the others get. */
ganz_status ganz_ranks_share(ganz_ranks *ranks, void *data, size_t bytes, ganz_error *err);
/* `bytes` of each process, in the order of the processes. */
ganz_status ganz_ranks_gather(ganz_ranks *ranks, const void *own, void *all, size_t bytes, ganz_error *err);
/* How a work went that all did, each with a status and, if that is a failure, a sentence: GANZ_OK if all did well; else
 * the first failure, with the name of its machine; GANZ_ESTOPPED if there was no other. Without others: own status. */
ganz_status ganz_ranks_agree(ganz_ranks *ranks, ganz_status own, ganz_error *err);

/* ---- transports --------------------------------------------------------------------------------- */

ganz_status ganz_sockets_open(ganz_ranks **ranks, const ganz_place *place, ganz_error *err);
/* Loads libganz_mpi.so: from the path in GANZ_MPI, from beside the program, or as the system finds libraries. */
ganz_status ganz_mpi_load(ganz_ranks **ranks, const ganz_place *place, ganz_error *err);

/* The one symbol of that library. It fills what transports fill; returns NULL with a sentence in `why`. */
#define GANZ_MPI_SYMBOL "ganz_mpi_open_1"
typedef ganz_ranks *ganz_mpi_opener(char *why, size_t bytes);

#endif
