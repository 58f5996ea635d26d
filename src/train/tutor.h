/* Float models that teach: their probabilities of each token are learned instead of the labels of the corpus. */
#ifndef GANZ_TRAIN_TUTOR_H
#define GANZ_TRAIN_TUTOR_H

#include "ganz/vocab.h"
#include "nn/net.h"

/* A net of its own, because states are a net's: these stay FLOAT. It must stay where it is while it is open. */
typedef struct ganz_tutor {
    ganz_net net;
    ganz_weights weights;
    uint64_t sum; /* of its parameters: its identity */
} ganz_tutor;

/* Each part of a batch is taught by one of them. */
typedef struct ganz_tutors {
    ganz_tutor *all; /* (count) */
    int count;       /* 0: the labels teach */
} ganz_tutors;

/* Of any shape, but with the vocabulary `vocab`, for inputs of up to `positions` tokens. */
ganz_status ganz_tutors_open(ganz_tutors *tutors, const char *const *paths, int count, ganz_backend *be,
                             const ganz_vocab *vocab, int positions, ganz_error *err);
void ganz_tutors_close(ganz_tutors *tutors);
/* A sum over all teachers in their order; 0: there are none. */
uint64_t ganz_tutors_sum(const ganz_tutors *tutors);

#endif
