/* What exports to folders of float models begin with: which tables there are, how entries are ordered there, and what
 * no such folder can express. */
#ifndef GANZ_EXPORT_OUTLINE_H
#define GANZ_EXPORT_OUTLINE_H

#include "export/arrays.h"

/* Where padding stands in their lists. */
typedef enum ganz_padding {
    GANZ_PADDING_FIRST, /* as in ours */
    GANZ_PADDING_LAST,  /* one number for both sides: the last of the shorter list; the end mark comes first */
    GANZ_PADDING_NONE   /* nowhere; the end mark comes first */
} ganz_padding;

typedef struct ganz_outline {
    const ganz_model *model;
    const char *folder;
    bool own_source, own_output; /* tables of their own */
    bool two_lists;              /* each side has its own entries */
    ganz_row_order order[2];     /* source, target */
    ganz_error *err;
} ganz_outline;

/* Fills in the rest from model, folder and err. `program` is for messages. GANZ_EUNSUPPORTED: the model emulates
 * integers, or its sources have no end mark. */
ganz_status ganz_outline_model(ganz_outline *outline, ganz_padding padding, const char *program);

#endif
