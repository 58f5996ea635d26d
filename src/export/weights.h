/* Numbers of an open model in ordinary memory, for those who write them in other formats. */
#ifndef GANZ_EXPORT_WEIGHTS_H
#define GANZ_EXPORT_WEIGHTS_H

#include "model/model.h"

/* Whether both sides of the product are codes. */
static inline bool ganz_site_is_integer(const ganz_site *site)
{
    return site->weights == GANZ_WEIGHTS_CODES && site->inputs == GANZ_INPUTS_CODES;
}

/* The codes (out, in) of an integer site's weight, taken out of the order of the kernels; freed with ganz_free. NULL:
 * out of memory. */
int8_t *ganz_site_codes(const ganz_model *model, const ganz_site *site);

/* Row `row` of the site's weights (in) as numbers: codes by the steps of the row and of the columns. codes: all of the
 * site's, as above. */
void ganz_site_row(const ganz_model *model, const ganz_site *site, const int8_t *codes, int row, float *values);

/* Where a parameter that is kept as values lies: (rows, cols). */
const float *ganz_model_values(const ganz_model *model, int param);

#endif
