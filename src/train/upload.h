/* A batch, or a part of it, on its way to the device: everything one pass needs, as one block. */
#ifndef GANZ_TRAIN_UPLOAD_H
#define GANZ_TRAIN_UPLOAD_H

#include "nn/net.h"
#include "train/batch.h"

typedef struct ganz_upload {
    ganz_backend *be;
    int tokens, vocab;
    int32_t *device;  /* (ints) */
    int32_t *staging; /* (ints) the same on the host */
    int32_t *places;  /* (vocab + 1) for sorting by id */
    size_t ints;
    int mask_rows, mean_rows; /* rows of a group with attention masks, and with a mean loss, of its own; 0: all rows */
} ganz_upload;

/* Inputs of a pass; pointers are the device's. */
typedef struct ganz_feed {
    ganz_tokens source, target;
    const int32_t *labels;              /* (target.rows) */
    const float *shares;                /* (target.rows) of the gradient of the batch; NULL: all the same */
    ganz_spans encoder, decoder, cross; /* self attention of both sides, and of the target over the source */
} ganz_feed;

/* Room for `tokens` on each side. */
ganz_status ganz_upload_open(ganz_upload *upload, ganz_backend *be, int tokens, int vocab, ganz_error *err);
void ganz_upload_close(ganz_upload *upload);

/* Segments from `first` up to where whole rows reach `tokens` on either side: the end of the next part. A row that
 * alone is larger is a part of its own. */
int ganz_batch_cut(const ganz_batch *batch, int first, int tokens);

/* Uploads segments [first, last), which begin and end with rows. `slots`: side of attention masks. Batches without rows
 * (validation) give a feed without the arrays of training. The feed is good until the next call. */
void ganz_upload_part(ganz_upload *upload, const ganz_batch *batch, int first, int last, int slots, ganz_feed *feed);

#endif
