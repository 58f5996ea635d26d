/* Text that is wrapped into lines while it is written. */
#ifndef GANZ_DOCUMENT_FLOW_H
#define GANZ_DOCUMENT_FLOW_H

#include "base/base.h"
#include "ganz/vocab.h"

typedef enum ganz_flow_kind {
    GANZ_FLOW_TEXT,  /* has a width; lines are not broken inside */
    GANZ_FLOW_SPACE, /* a space where a line may end */
    GANZ_FLOW_RAW    /* marks: no width; a newline in them begins a line */
} ganz_flow_kind;

/* Bytes and what each of them is. Start with zeroes. */
typedef struct ganz_flow {
    ganz_text bytes, kinds;
} ganz_flow;

void ganz_flow_free(ganz_flow *flow);
bool ganz_flow_add(ganz_flow *flow, ganz_flow_kind kind, const char *bytes, size_t count);

/* Appends the flow in lines of at most `columns` characters where words allow it. With rows > 0 a stretch between two
 * newlines is not wrapped into more lines than that, and into lines of about equal length. newline ends a line. */
bool ganz_flow_wrap(const ganz_flow *flow, size_t columns, size_t rows, const char *newline, ganz_text *out);

#endif
