/* The order of one epoch: which pairs, in which units (packed rows, or batches of sentences). */
#ifndef GANZ_TRAIN_PLAN_H
#define GANZ_TRAIN_PLAN_H

#include "train/corpus.h"

typedef struct ganz_plan {
    uint32_t *pairs; /* (count) of the corpus, unit after unit */
    uint32_t *begin; /* (units + 1) in pairs */
    uint32_t count, units;
    uint32_t dropped; /* pairs too long for any unit */
} ganz_plan;

/* Lists the pairs of an epoch, each as often as its group's weight says, and shuffles them. With a weight
 * of w a pair comes floor(w) or ceil(w) times in an epoch and e * w times in e epochs, give or take one.
 * The result depends on corpus, seed and epoch alone; *pairs is freed by the caller. */
ganz_status ganz_plan_shuffle(const ganz_corpus *corpus, uint64_t seed, uint64_t epoch, uint32_t **pairs,
                              uint32_t *count, ganz_error *err);

/* Pairs of a corpus in some order. */
typedef struct ganz_pair_list {
    const ganz_corpus *corpus;
    const uint32_t *pairs; /* (count) */
    uint32_t count;
} ganz_pair_list;

/* Packs pairs in this order as Tensor2Tensor does: each goes into the oldest of the open rows where both of
 * its sides still fit into `slots`; if there is none it opens a row, after the oldest of `open_rows` has been
 * given out. A pair that is too long for any row gets one for itself. */
ganz_status ganz_plan_pack(const ganz_pair_list *list, int slots, int open_rows, ganz_plan *plan, ganz_error *err);

/* Sorts each `window` of pairs by length, cuts it into units of at most `tokens` on either side, and shuffles
 * all units. A pair with more than `longest` (<= tokens) on a side is left out. */
typedef struct ganz_buckets {
    int tokens, longest, window;
    uint64_t seed, epoch; /* of the order of units */
} ganz_buckets;
ganz_status ganz_plan_bucket(const ganz_pair_list *list, const ganz_buckets *buckets, ganz_plan *plan, ganz_error *err);

/* Takes out the units that hold a pair of more than `length` tokens on a side. */
void ganz_plan_drop_long(const ganz_corpus *corpus, int length, ganz_plan *plan);

void ganz_plan_free(ganz_plan *plan);

#endif
