/* A step in parts. The rows of a batch are cut into parts; the gradients of part 2i and of part 2i + 1 are added up,
 * then those of such pairs, and so on: a binary tree, whose bits do not depend on how many processes share the parts.
 */
#ifndef GANZ_TRAIN_TREE_H
#define GANZ_TRAIN_TREE_H

#include "backend/backend.h"
#include "train/batch.h"

enum { GANZ_MOST_PARTS = 1024, GANZ_MOST_RUNS = 24, GANZ_SUMS = 3 };

/* Parts [first, last). */
typedef struct ganz_share {
    int first, last;
} ganz_share;
/* Those of one process: neighbours, as many as others have or one more. */
ganz_share ganz_share_of(int parts, int rank, int ranks);
/* First segment of a part of a batch; `parts` itself: behind the last. Parts have equal numbers of rows, or one more.
 */
int ganz_part_begin(const ganz_batch *batch, int part, int parts);

/* Parts that are a node of the tree: 2^j of them, the first a multiple of 2^j. */
typedef struct ganz_run {
    int first, count;
} ganz_run;
/* Whether two runs are the children of one node. */
bool ganz_runs_meet(ganz_run left, ganz_run right);
/* The largest runs that a share is made of, in order; returns how many. */
int ganz_runs_of(ganz_share share, ganz_run runs[GANZ_MOST_RUNS]);

/* The sums of one process. The caller sets the first three fields. */
typedef struct ganz_tree {
    int parts;         /* of a step; 1: the tree does nothing */
    ganz_share share;  /* parts made here */
    ganz_backend *be;  /* of the gradients */
    real *grad;        /* where passes add gradients; at the end of a step it holds those of the last run */
    size_t count;      /* of grad */
    bool gradients;    /* of the current step are wanted; else only losses */
    int runs, waiting; /* finished runs; most that wait at a time */
    ganz_run run[GANZ_MOST_RUNS];
    real *kept[GANZ_MOST_RUNS]; /* (count) gradients of all runs but the last */
    double *sums;               /* (parts, GANZ_SUMS) on the device: losses of each part */
} ganz_tree;

/* Takes memory; grad stays the caller's. close may be called on a tree that is all zeros. */
ganz_status ganz_tree_open(ganz_tree *tree, real *grad, size_t count, ganz_error *err);
void ganz_tree_close(ganz_tree *tree);

/* A step is: start, then enter and leave for each part of the share in order. grad is zero at the start; between enter
 * and leave passes add to grad and to the sums that enter returns. */
void ganz_tree_start(ganz_tree *tree, bool gradients);
double *ganz_tree_enter(ganz_tree *tree, int part);
void ganz_tree_leave(ganz_tree *tree, int part);

#endif
