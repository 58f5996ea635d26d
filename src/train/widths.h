/* Widths of least harm: each of several products takes one of its widths, and all of them together cost no more than
 * they may. */
#ifndef GANZ_TRAIN_WIDTHS_H
#define GANZ_TRAIN_WIDTHS_H

#include "base/base.h"

enum { GANZ_WIDTHS = 9 }; /* 0 to 8 bits */

/* What each width of a product would cost and do. */
typedef struct ganz_product_widths {
    bool offered[GANZ_WIDTHS];
    long long cost[GANZ_WIDTHS]; /* more bits cost more */
    double harm[GANZ_WIDTHS];    /* finite; of products that do endless harm in any width the cheapest is taken */
} ganz_product_widths;

/* Into bits (count). GANZ_EINVAL, with nothing chosen, where even the cheapest cost more than `most`. Of equals the
 * wider one is taken. The answer is the best there is while costs differ by multiples of `most` / 65,536 or more, as
 * those of networks do; where they differ by less they are rounded up to such multiples. */
ganz_status ganz_widths_choose(const ganz_product_widths *products, int count, long long most, int *bits,
                               ganz_error *err);

#endif
