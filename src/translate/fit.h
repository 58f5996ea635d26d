/* Ranges by what rounding does to the products themselves, and biases that take up the mean of what is left. An input
 * that is clipped by much, or whose numbers all lie on one side, changes a product by nearly the same each time: that
 * much can be added again. */
#ifndef GANZ_TRANSLATE_FIT_H
#define GANZ_TRANSLATE_FIT_H

#include "nn/instrument.h"
#include "nn/net.h"
#include "translate/columns.h"

typedef struct ganz_fit ganz_fit;

/* For inputs that reach to largest (net->scales). The net is borrowed. close frees all and sets *fit to NULL. */
ganz_status ganz_fit_open(ganz_fit **fit, const ganz_net *net, const real *largest, ganz_error *err);
void ganz_fit_close(ganz_fit **fit);

/* For biases: sites with columns have been written by this one, which is borrowed. */
void ganz_fit_use_columns(ganz_fit *fit, const ganz_column_fit *columns);

/* Counts what each of some ranges would do to the inputs that it is shown; it points at the fit. */
ganz_instrument ganz_fit_instrument(ganz_fit *fit);

/* The ranges that change products least, into largest (net->scales). */
ganz_status ganz_fit_ranges(ganz_fit *fit, const ganz_weights *weights, real *largest, ganz_error *err);
/* Adds to the masters of biases what rounding takes from products on average, with weights in state FAKE in ordinary
 * memory. To be refreshed. */
ganz_status ganz_fit_biases(const ganz_fit *fit, ganz_weights *weights, ganz_error *err);

#endif
