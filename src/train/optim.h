/* Updates of all trained parameters, and the learning rate over a run. */
#ifndef GANZ_TRAIN_OPTIM_H
#define GANZ_TRAIN_OPTIM_H

#include "ganz/recipe.h"
#include "nn/net.h"

/* Rate of step t (from 0, before the update). `done` is the part of the run that lies behind, 0 to 1; it matters for
 * the cool-down only. */
double ganz_rate(const ganz_recipe *recipe, int64_t t, double done);
/* The same without a cooldown, and the factor of one over the last `part` of a schedule. */
double ganz_flat_rate(const ganz_recipe *recipe, int64_t t);
double ganz_cooldown(double part, double done);

/* Adafactor: share of the old second moment that is kept at step t. */
double ganz_adafactor_decay(int64_t t);

/* One group of parameters with the memory of its updates. */
typedef struct ganz_optim {
    ganz_backend *be;
    ganz_update_item *items; /* (count) */
    int count;
    real *slots; /* (slot_count) on the device, one block */
    size_t slot_count;
    bool adam;
    double beta1, beta2, epsilon;
} ganz_optim;

/* Rate of the learned scales before any cooldown: octaves of a scale for Adam, parts of z for Adafactor. */
double ganz_scale_rate(const ganz_recipe *recipe);
/* Part of the flat rate that phases tune the weights with: a model that has settled is not to be shaken up again. */
double ganz_tune_factor(const ganz_recipe *recipe);

/* The learned scales of inputs (z) and those of weights have optimizers of their own, apart from everything else. */
typedef enum ganz_optim_group { GANZ_OPTIM_PARAMETERS, GANZ_OPTIM_SCALES, GANZ_OPTIM_ROWS } ganz_optim_group;
/* The weights outlive the optimizer. */
ganz_status ganz_optim_open(ganz_optim *optim, const ganz_net *net, const ganz_weights *weights,
                            const ganz_recipe *recipe, ganz_optim_group group, ganz_error *err);
void ganz_optim_close(ganz_optim *optim);

/* One update number t (from 0) of all tensors of the group; gradients are zeroed. */
void ganz_optim_step(const ganz_optim *optim, double rate, int64_t t);

#endif
