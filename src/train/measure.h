/* How much memory a pass takes, without doing it: the network is run over a backend that computes nothing. */
#ifndef GANZ_TRAIN_MEASURE_H
#define GANZ_TRAIN_MEASURE_H

#include "train/upload.h"

/* A backend that accepts every call and does nothing, with the types of `like`. */
ganz_backend ganz_null_backend(const ganz_backend *like);

/* A feed of `tokens` on each side in rows of `slots`, `rows` of them at most, without data. */
ganz_feed ganz_feed_of_size(int tokens, int rows, int slots);

#endif
