/* The bench at which passes are made: memory of one pass, the way from a batch to gradients or to a loss. */
#ifndef GANZ_TRAIN_WORK_H
#define GANZ_TRAIN_WORK_H

#include <signal.h>

#include "train/measure.h"

typedef struct ganz_work_options {
    int tokens;   /* most tokens of a part, on either side */
    int rows;     /* most rows of a part */
    int slots;    /* longest row */
    ganz_dropout dropout;
    real smoothing;
} ganz_work_options;

typedef struct ganz_work {
    ganz_work_options options;
    ganz_backend *be;
    const ganz_net *net;
    const ganz_weights *weights;
    ganz_upload upload;
    ganz_arena host, device;
    double *sums; /* (6) on the device: of training (see ganz_loss_call), and of evaluation */
    bool train_weights, train_steps;
} ganz_work;

/* Takes memory for the largest part there can be, so that no later pass can run out of it. net and weights outlive the
 * bench. */
ganz_status ganz_work_open(ganz_work *work, const ganz_net *net, const ganz_weights *weights,
                           const ganz_work_options *options, ganz_error *err);
void ganz_work_close(ganz_work *work);

/* Adds the gradients of a whole batch, part by part, to weights->grad, and its losses to sums. The gradient is that of
 * the mean over all target tokens of the batch, however it is cut. GANZ_ESTOPPED when *stop (which may be NULL) was set
 * between two parts. */
ganz_status ganz_work_train(ganz_work *work, const ganz_batch *batch, uint64_t seed, const volatile sig_atomic_t *stop,
                            ganz_error *err);
/* Adds the losses of a batch, without smoothing and dropout, to `sums` (3) on the host. */
ganz_status ganz_work_evaluate(ganz_work *work, const ganz_batch *batch, double sums[3], ganz_error *err);

#endif
