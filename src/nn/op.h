/* The operations the network is written in. Each computes at once through the backend and, when the pass records,
 * leaves a node on the tape; walking the tape backwards is the gradient. Forward and backward stand side by side. */
#ifndef GANZ_NN_OP_H
#define GANZ_NN_OP_H

#include "backend/backend.h"
#include "base/arena.h"
#include "nn/instrument.h"
#include "nn/quant.h"

struct ganz_weights;

/* Codes of a value that the operation that makes it writes beside it, or instead of it. */
typedef struct ganz_use {
    ganz_code_out out;
    int place;                 /* of the scale */
    struct ganz_tensor *input; /* with a tape: the codes as an input, which has the gradient; NULL until asked for */
} ganz_use;

/* A value of the network: a matrix and, in training, its gradient. */
typedef struct ganz_tensor {
    ganz_matrix m; /* data NULL: only the codes of its uses exist */
    ganz_use *use; /* (uses) */
    int uses;
    const real *scale;     /* of integer codes; NULL: plain values */
    const int8_t *bytes;   /* the same codes, a byte each; NULL: there are none */
    const uint8_t *inside; /* where a gradient passes on to the maker of these codes; NULL: that one looks after it */
    bool cut;              /* and has been made zero elsewhere: see ganz_tensor_cuts */
    bool dropped;          /* values that come out of dropout */
    ganz_matrix grad;      /* data NULL until something flows back */
    ganz_type grad_type;   /* the value's, unless its maker knows better */
    real *bias_grad;       /* where the sums of the gradient over the rows belong; NULL: nowhere, or they are there */
    struct ganz_tensor *parent; /* this one is columns of that one, the gradient too; NULL: stands alone */
} ganz_tensor;

typedef struct ganz_tape ganz_tape;

/* Dropout rates of one pass; all zero outside training. */
typedef struct ganz_dropout {
    real residual, relu, attention; /* residual is also the input's */
} ganz_dropout;

/* One run of the network. Memory that runs out sets `failed`: results are then void, nothing is overrun. */
typedef struct ganz_pass {
    ganz_backend *be;
    const struct ganz_weights *weights;
    ganz_arena *host;   /* tensors and nodes */
    ganz_arena *device; /* their data */
    ganz_tape *tape;    /* NULL: nothing is recorded */
    ganz_dropout dropout;
    uint64_t seed;                     /* of this step's masks */
    uint64_t stream;                   /* counts masks within the pass */
    bool train_weights, learn_scales;  /* which parameters get gradients */
    const ganz_instrument *instrument; /* the first of a list; NULL: nobody looks */
    const int32_t *first_key;          /* (1) on the device: where new rows of keys begin; NULL: known */
    bool counts;                       /* memory of the device is only counted: nothing may touch it */
    bool failed;
} ganz_pass;

ganz_tape *ganz_tape_open(ganz_arena *host); /* NULL when the arena is full */
/* Runs all nodes from last to first; parameter gradients are added to weights->grad. */
void ganz_tape_backward(ganz_pass *pass);

#endif
