/* Weights of a model on devices: one copy for all translators of a device. */
#ifndef GANZ_MODEL_COPIES_H
#define GANZ_MODEL_COPIES_H

#include "nn/net.h"

typedef struct ganz_copies ganz_copies;

/* An empty list of copies of `from`, the weights of `net` in ordinary memory; both are borrowed, and may be filled
 * later. */
ganz_status ganz_copies_open(ganz_copies **copies, const ganz_net *net, const ganz_weights *from, ganz_error *err);
void ganz_copies_close(ganz_copies **copies);

/* The copy on the device that `be` computes on, made if it is the first that is asked for. `device` is its name. Any
 * number of threads may ask. To be given back by ganz_copies_return. */
ganz_status ganz_copies_borrow(ganz_copies *copies, const char *device, ganz_backend *be, const ganz_weights **copy,
                               ganz_error *err);
/* `be`: any backend of that device; the last one to return frees the copy through it. copy may be NULL. */
void ganz_copies_return(ganz_copies *copies, ganz_backend *be, const ganz_weights *copy);

#endif
