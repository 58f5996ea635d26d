/* What a run did, product by product: an instrument that counts. */
#ifndef GANZ_NN_AUDIT_H
#define GANZ_NN_AUDIT_H

#include "nn/instrument.h"

struct ganz_net;

typedef struct ganz_audit_product {
    int64_t integer_runs, float_runs; /* calls */
    int32_t largest;                  /* largest |sum| of the integer runs */
} ganz_audit_product;

typedef struct ganz_audit_input {
    int64_t codes, clipped; /* made; of those, outside the range before clipping */
} ganz_audit_input;

typedef struct ganz_audit {
    ganz_audit_product *site;    /* (sites) by place */
    ganz_audit_product *qk, *uv; /* (pairs) by place */
    ganz_audit_input *input;     /* (scales) by place of the scale */
    ganz_instrument instrument;  /* to be given to a pass; it points at the audit, which must stay where it is */
} ganz_audit;

ganz_status ganz_audit_open(ganz_audit *audit, const struct ganz_net *net, ganz_error *err);
void ganz_audit_close(ganz_audit *audit);

#endif
