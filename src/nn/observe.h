/* Somebody who is shown the inputs of products as they are made, before they are rounded. In ordinary memory only. */
#ifndef GANZ_NN_OBSERVE_H
#define GANZ_NN_OBSERVE_H

#include "backend/backend.h"
#include "nn/quant.h"

typedef struct ganz_observer {
    /* Values (rows, cols) that become codes of the scale at `place`. */
    void (*input)(void *context, int place, const ganz_matrix *x);
    /* An attention about to be computed: U exists only inside it. NULL: not wanted. */
    void (*attention)(void *context, const ganz_pair *pair, const ganz_attention_call *call);
    void *context;
} ganz_observer;

#endif
