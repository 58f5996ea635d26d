/* How much memory passes take, without making them: the network is run over a backend that computes nothing and an
 * arena that only counts. What is measured is the very path that will run, so nothing has to be guessed. */
#ifndef GANZ_NN_MEASURE_H
#define GANZ_NN_MEASURE_H

#include "nn/net.h"

/* Largest use of the two arenas of a pass, in bytes. */
typedef struct ganz_memory {
    size_t host, device;
} ganz_memory;

/* Makes passes with the backend, weights and arenas of *pass; sets pass->failed if those made of copies of it have. It
 * touches no memory of the device: pass->counts is set. */
typedef void ganz_dry_run(void *context, ganz_pass *pass);

/* Memory that `run` needs on a backend like this one. GANZ_ENOMEM. */
ganz_status ganz_measure(const ganz_backend *like, const ganz_weights *weights, ganz_dry_run *run, void *context,
                         ganz_memory *need, ganz_error *err);

/* An arena that counts: addresses of no memory. */
ganz_arena ganz_counting_arena(void);

#endif
