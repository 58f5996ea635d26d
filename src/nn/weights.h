/* Inside the weights of a net. */
#ifndef GANZ_NN_WEIGHTS_H
#define GANZ_NN_WEIGHTS_H

#include "nn/net.h"

/* What weights of all states have: scales, counts, and the timing table. On failure the caller closes w. */
ganz_status ganz_weights_shared(ganz_weights *w, const ganz_net *net, ganz_error *err);

/* The timing table (max_positions, width) in ordinary memory: sines in the first half of a row, cosines in the second,
 * wavelengths from 2 pi to 10000 * 2 pi. The same bits on every machine. False when memory is out. */
bool ganz_timing(real *timing, const ganz_config *config);

/* log2 of the scale whose code p is worth `largest`, within the bounds of learned ones. */
real ganz_first_z(real largest, int p);

#endif
