/* Products of a network by their number, in the order of the network. */
#ifndef GANZ_TRANSLATE_INSPECT_H
#define GANZ_TRANSLATE_INSPECT_H

#include "ganz/inspect.h"
#include "nn/net.h"

typedef struct ganz_product {
    ganz_product_kind kind;
    const ganz_site *site; /* of a dense one, else NULL */
    const ganz_pair *pair; /* else NULL */
    bool long_keys;        /* its keys are outputs, not inputs */
} ganz_product;

int ganz_product_count(const ganz_net *net);
ganz_product ganz_product_at(const ganz_net *net, int index);
void ganz_product_counted(const ganz_product *product, const ganz_audit *audit, ganz_product_counts *counts);

#endif
