/* Inputs whose columns have steps and zeros of their own. Few columns that reach far, or a curve with a long side and a
 * short one, then cost the others nothing: steps go into the weights that multiply a column, zeros out of the sums, and
 * weights are rounded together. */
#ifndef GANZ_TRANSLATE_COLUMNS_H
#define GANZ_TRANSLATE_COLUMNS_H

#include "nn/instrument.h"
#include "nn/net.h"

typedef struct ganz_column_fit ganz_column_fit;

/* For the sites of the net whose rule has columns, which are per_row. The net is borrowed. close frees all and sets
 * *fit to NULL. */
ganz_status ganz_column_fit_open(ganz_column_fit **fit, const ganz_net *net, ganz_error *err);
void ganz_column_fit_close(ganz_column_fit **fit);

/* Looks at inputs as values, of all lines; it points at the fit. */
ganz_instrument ganz_column_fit_instrument(ganz_column_fit *fit);

/* Writes steps and zeros, codes and scales of weights, over what refresh made of the masters in state FAKE in ordinary
 * memory. GANZ_ENOMEM. */
ganz_status ganz_column_fit_write(ganz_column_fit *fit, ganz_weights *weights, ganz_error *err);

/* What its rounding takes from the outputs of a site on average; after write. */
void ganz_column_fit_change(const ganz_column_fit *fit, const ganz_weights *weights, const ganz_site *site,
                            double *change);

#endif
