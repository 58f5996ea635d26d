/* Passes over batches: memory of one pass, the way from a batch to gradients or to a loss. */
#ifndef GANZ_TRAIN_STEPPER_H
#define GANZ_TRAIN_STEPPER_H

#include "nn/measure.h"
#include "train/tree.h"
#include "train/tutor.h"
#include "train/upload.h"

typedef struct ganz_stepper_options {
    int tokens; /* most tokens of a pass, on either side */
    int rows;   /* most rows of a pass */
    int slots;  /* longest row */
    ganz_dropout dropout;
    real smoothing;
    int mean_rows; /* rows with a mean of their own, whose mean is the loss of a batch; 0: one mean over all tokens */
    int mask_rows; /* most rows that share attention masks; 0: all of a pass */
    int parts;     /* of a batch, see tree.h; 1 (or 0): no tree */
    ganz_share share;          /* of these parts, made here */
    const ganz_tutors *tutors; /* teachers instead of the labels, or NULL; outlive the stepper */
} ganz_stepper_options;

typedef struct ganz_stepper {
    ganz_stepper_options options;
    ganz_backend *be;
    const ganz_net *net;
    const ganz_weights *weights;
    ganz_upload upload;
    ganz_arena host, device;
    double *sums;   /* (6) on the device: of training (see ganz_loss_call), and of evaluation */
    ganz_tree tree; /* of more than one part: its gradients and losses, which the caller brings together */
    bool train_weights, learn_scales;
} ganz_stepper;

/* Takes memory for the largest pass there can be in the present states of the net, so that no later pass can run out of
 * it. net and weights outlive the stepper. */
ganz_status ganz_stepper_open(ganz_stepper *stepper, const ganz_net *net, const ganz_weights *weights,
                              const ganz_stepper_options *options, ganz_error *err);
void ganz_stepper_close(ganz_stepper *stepper);
/* The same for states, dropout, and parameters that learn, as they are by now. */
ganz_status ganz_stepper_reserve(ganz_stepper *stepper, ganz_error *err);

/* Adds the gradients of a whole batch, pass by pass, to weights->grad, and its losses to sums; of a batch in parts,
 * those of the share to the tree. The gradient is that of the mean over all target tokens of the batch, or of the means
 * of its groups of rows, however it is cut. GANZ_ESTOPPED when *stop (which may be NULL) was set between two passes. */
ganz_status ganz_stepper_train(ganz_stepper *stepper, const ganz_batch *batch, uint64_t seed, const ganz_flag *stop,
                               ganz_error *err);
/* The same without gradients: ranges are measured where states ask for it. */
ganz_status ganz_stepper_look(ganz_stepper *stepper, const ganz_batch *batch, const ganz_flag *stop, ganz_error *err);
/* Adds the losses of a batch, by its labels, without smoothing and dropout, to `sums` (3) on the host. */
ganz_status ganz_stepper_evaluate(ganz_stepper *stepper, const ganz_batch *batch, double sums[3], ganz_error *err);

#endif
