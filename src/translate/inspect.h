/* Counts of one product of a network. */
#ifndef GANZ_TRANSLATE_INSPECT_H
#define GANZ_TRANSLATE_INSPECT_H

#include "ganz/inspect.h"
#include "nn/audit.h"
#include "nn/net.h"

void ganz_product_counted(const ganz_product *product, const ganz_audit *audit, ganz_product_counts *counts);

#endif
