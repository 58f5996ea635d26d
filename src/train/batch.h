/* Batches of a corpus, in an order that depends on seed and epoch alone, from any position. */
#ifndef GANZ_TRAIN_BATCH_H
#define GANZ_TRAIN_BATCH_H

#include "train/corpus.h"

/* Sentences laid end to end, without pads. A segment is one sentence; segment s of the source and segment s of
 * the target are a pair. A row is a line of the padded matrix: a packed row of several segments, or, for
 * sentences, one segment. All arrays belong to the loader and live until its next call. */
typedef struct ganz_batch {
    int source_rows, target_rows; /* tokens */
    int segments;
    const int32_t *source_ids;                        /* (source_rows) */
    const int32_t *target_in;                         /* (target_rows) the token before in its row; -1: the start */
    const int32_t *target_out;                        /* (target_rows) label */
    const int32_t *source_position, *target_position; /* from 0 in each segment */
    const int32_t *source_row, *source_slot;          /* row in the batch, slot in the row */
    const int32_t *target_row, *target_slot;
    const int32_t *source_begin; /* (segments + 1) tokens of each segment */
    const int32_t *target_begin; /* (segments + 1) */
    int packed_rows;             /* rows of this batch: 0 <= row < packed_rows */
} ganz_batch;

typedef struct ganz_loader_options {
    uint64_t seed;
    bool packed; /* rows of `slots`, or else unpadded sentences up to `tokens` */

    int rows;                /* packed: most rows of a batch */
    int slots;               /* packed: length of a row; a longer pair is left out */
    int open_rows;           /* packed: rows that wait for a pair that fits */
    bool zero_segment_start; /* packed: no segment sees the end mark of the one before it, as if it were alone */

    int tokens;     /* sentences: most tokens of a batch, on either side */
    int max_length; /* sentences: a longer pair is left out */
    int window;     /* sentences: so many pairs are sorted by length together */
} ganz_loader_options;

/* Tensor2Tensor's packed batches: 64 rows of 256 slots, 10 rows open. For sentences: 4096 tokens, 256 at most
 * in a sentence, windows of 65,536 pairs. */
void ganz_loader_defaults(ganz_loader_options *options);

/* The batch that comes next. */
typedef struct ganz_position {
    uint64_t epoch, batch;
} ganz_position;

typedef struct ganz_loader ganz_loader;

/* Stands at epoch 0, batch 0. The corpus must outlive it. */
ganz_status ganz_loader_open(ganz_loader **loader, const ganz_corpus *corpus, const ganz_loader_options *options,
                             ganz_error *err);
void ganz_loader_close(ganz_loader **loader);

/* Fills *batch and moves on; epoch follows epoch without end. The rows of an epoch are spread evenly over its
 * batches, so that none is much smaller than the others, and each pair comes as often as its weight says. */
ganz_status ganz_loader_next(ganz_loader *loader, ganz_batch *batch, ganz_error *err);

ganz_position ganz_loader_position(const ganz_loader *loader);
/* Goes to a position that ganz_loader_position gave: the batches from there on are the same, bit for bit. */
ganz_status ganz_loader_seek(ganz_loader *loader, ganz_position position, ganz_error *err);

/* Batches of the epoch of the last batch (before the first: of the next one), and its pairs that were too long. */
uint64_t ganz_loader_epoch_batches(const ganz_loader *loader);
uint64_t ganz_loader_epoch_dropped(const ganz_loader *loader);

#endif
