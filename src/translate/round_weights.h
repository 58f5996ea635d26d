/* Weights rounded so that a product changes least: not each for itself, but in turn, each making up for the errors of
 * those before it, as far as columns of the input go together. */
#ifndef GANZ_TRANSLATE_ROUND_WEIGHTS_H
#define GANZ_TRANSLATE_ROUND_WEIGHTS_H

#include "base/base.h"

typedef struct ganz_rounding {
    int out, in, p;
    float *weights; /* (out, in), by the scales of the input; become codes in [-p, p] */
    double *spread; /* (in, in) how columns of the input go together; symmetric and positive; overwritten */
    float *scales;  /* (out) of the codes */
} ganz_rounding;

/* Fills codes and scales. GANZ_ENOMEM. */
ganz_status ganz_round_weights(const ganz_rounding *r, ganz_error *err);

#endif
