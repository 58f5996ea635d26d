/* gettext's PO files: what reading leaves for writing. Each text that is filled in is a section of the skeleton, and so
 * is what stands between two of them, because texts are wrapped and entries marked when their translations are known.
 */
#ifndef GANZ_DOCUMENT_PO_H
#define GANZ_DOCUMENT_PO_H

#include "document/format.h"

/* How places for arguments, "%s" and the like, behave in a message. */
typedef enum ganz_po_arguments {
    GANZ_PO_NONE,     /* nothing is known about them */
    GANZ_PO_NUMBERED, /* "%2$s" says which argument is meant (C) */
    GANZ_PO_ORDERED   /* they must stay in order (Python) */
} ganz_po_arguments;

typedef enum ganz_po_kind {
    GANZ_PO_COPY,
    GANZ_PO_FLAG,   /* "fuzzy", if the entry was translated */
    GANZ_PO_MESSAGE /* what stands between the quotes */
} ganz_po_kind;

typedef struct ganz_po_part {
    ganz_po_kind kind;
    size_t entry;        /* that it belongs to */
    const char *keyword; /* of a message: "msgstr" or "msgstr[1]" */
    size_t keyword_bytes;
    ganz_po_arguments arguments;
    bool unwrapped; /* of a message: in one line up to each line break */
    bool flagged;   /* of a flag: the entry has a line of flags, to whose beginning it is added; else the line is new */
} ganz_po_part;

/* The skeleton's state. */
typedef struct ganz_po_state {
    const ganz_po_part *parts; /* (count) of the sections, in order */
    size_t count, entries;
    const char *newline;
} ganz_po_state;

/* Around the number, from 1, of an argument before its place: bytes that no message has. */
enum { GANZ_PO_ARGUMENT = 1, GANZ_PO_ARGUMENT_END = 2 };

/* ganz_format.finish */
ganz_status ganz_po_finish(void *state, const ganz_text *sections, size_t count, ganz_text *out, ganz_error *err);

/* A place for an argument at text[0] == '%': its bytes, 0 for none. *numbered: it says itself which argument it takes;
 * *taken: arguments that it takes. */
size_t ganz_po_argument(const char *text, size_t bytes, ganz_po_arguments kind, bool *numbered, int *taken);

#endif
