/* Gradients of the parts of a step, brought together from all processes: each owns a stretch of the block, gets
 * everybody's sums of it, adds them in the order of the tree, and hands the result to all. They go through the memory
 * of the host, or from device to device where there are wires. */
#ifndef GANZ_TRAIN_EXCHANGE_H
#define GANZ_TRAIN_EXCHANGE_H

#include "ranks/ranks.h"
#include "train/tree.h"

typedef struct ganz_exchange {
    ganz_ranks *ranks; /* NULL: alone */
    int runs;          /* of all processes */
    ganz_run *run;     /* (runs) in the order of the parts */
    int *first;        /* (size + 1) first run of each process */
    size_t chunk;      /* numbers of the block that are exchanged at a time */
    real *send, *recv; /* in host memory: own runs of a chunk, cut by owner; all runs of the own stretch */
    real *piece;       /* (chunk) of one run, and then of the whole sum */
    size_t *send_at, *recv_at, *all_at; /* (size + 1) */
    double *sums;                       /* (parts, GANZ_SUMS) */
    real *ranges, *all_ranges;          /* (ranges_count), (size, ranges_count) */
    size_t ranges_count;
    ganz_wires *wires; /* NULL: through the host */
    ganz_backend *be;  /* of wires and of what follows */
    real *arrived;     /* on the device: all runs of the own stretch of a chunk */
    size_t wire_chunk; /* numbers of the block that go by wire at a time */
    ganz_move *moves;
} ganz_exchange;

/* For a block of `count` gradients in `parts` parts and for `ranges` ranges. All memory is taken here: a process that
 * ran out of it later would let the others wait. ranks NULL: nothing to be done, and nothing is taken. */
ganz_status ganz_exchange_open(ganz_exchange *exchange, ganz_ranks *ranks, int parts, size_t count, size_t ranges,
                               ganz_error *err);
void ganz_exchange_close(ganz_exchange *exchange);
/* Lets gradients of `count` numbers go by wires, which are taken over. */
ganz_status ganz_exchange_wire(ganz_exchange *exchange, ganz_wires *wires, ganz_backend *be, size_t count,
                               ganz_error *err);

/* tree->grad becomes the sum over all parts of the step. */
ganz_status ganz_exchange_gradients(ganz_exchange *exchange, const ganz_tree *tree, ganz_error *err);
/* tree->sums becomes those of all parts. */
ganz_status ganz_exchange_sums(ganz_exchange *exchange, const ganz_tree *tree, ganz_error *err);
/* The ranges on the device become the largest that any process has. */
ganz_status ganz_exchange_ranges(ganz_exchange *exchange, ganz_backend *be, real *ranges, ganz_error *err);

#endif
