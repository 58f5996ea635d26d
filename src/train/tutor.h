/* A float model that teaches: what it believes about each token is learned instead of what the corpus says. */
#ifndef GANZ_TRAIN_TUTOR_H
#define GANZ_TRAIN_TUTOR_H

#include "ganz/vocab.h"
#include "nn/net.h"

/* A net of its own, because states are a net's: these stay FLOAT. It must stay where it is while it is open. */
typedef struct ganz_tutor {
    ganz_net net;
    ganz_weights weights; /* be NULL: nobody teaches */
    uint64_t sum;         /* of its parameters: who it is */
} ganz_tutor;

/* Of any shape, but with the vocabulary `vocab`, for inputs of up to `positions` tokens. */
ganz_status ganz_tutor_open(ganz_tutor *tutor, const char *path, ganz_backend *be, const ganz_vocab *vocab, int positions,
                            ganz_error *err);
void ganz_tutor_close(ganz_tutor *tutor);

#endif
