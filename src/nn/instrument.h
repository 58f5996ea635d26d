/* Hooks into the products of a pass, for counting, watching and recording. A pass carries a list of instruments; each
 * is shown every call before it is made, and may ask the call for more than its result (largest sums, clipped codes,
 * attention weights); and again when it has been made. Results stay the same bits. */
#ifndef GANZ_NN_INSTRUMENT_H
#define GANZ_NN_INSTRUMENT_H

#include "backend/backend.h"
#include "nn/quant.h"

/* Each function may be NULL. */
typedef struct ganz_instrument {
    /* Values (rows, cols) that the scale at `place` rounds. call: how they become codes; NULL: they stay values. A pass
     * with such a hook keeps values beside their codes, and is slower for it. */
    void (*input)(void *context, int place, const ganz_matrix *x, ganz_quantize_call *call);
    /* A dense product; in integers where call->packed is not NULL. */
    void (*linear)(void *context, const ganz_site *site, ganz_linear_call *call);
    /* Both products of an attention; in integers where call->q.m.type is GANZ_S8. */
    void (*attention)(void *context, const ganz_pair *pair, ganz_attention_call *call);
    /* The same calls, made: their results are there on a device that shares memory with the program. */
    void (*linear_made)(void *context, const ganz_site *site, const ganz_linear_call *call);
    void (*attention_made)(void *context, const ganz_pair *pair, const ganz_attention_call *call);
    void *context;
    const struct ganz_instrument *next; /* NULL: the last */
} ganz_instrument;

/* An instrument that asks for the weights of one attention. */
typedef struct ganz_watch {
    const ganz_pair *pair;
    real *weights; /* (queries, longest key) on the device, added to: see ganz_attention_call */
} ganz_watch;
/* It points at the watch, which must stay where it is. */
ganz_instrument ganz_watch_instrument(ganz_watch *watch);

#endif
