/* Python's pickles as data: a program for a small machine is followed, but where Python would call something, only a
 * note is kept of what was to be called with which arguments. */
#ifndef GANZ_IMPORT_PICKLE_H
#define GANZ_IMPORT_PICKLE_H

#include "base/base.h"

typedef enum ganz_pickle_kind {
    GANZ_PICKLE_NONE,
    GANZ_PICKLE_BOOL,
    GANZ_PICKLE_INT, /* beyond 64 bits: number is 0 and the digits are `text` */
    GANZ_PICKLE_REAL,
    GANZ_PICKLE_TEXT,   /* or bytes */
    GANZ_PICKLE_LIST,   /* or tuple, or set */
    GANZ_PICKLE_DICT,   /* items: key, value, key, value, ... */
    GANZ_PICKLE_CLASS,  /* text: "module name" */
    GANZ_PICKLE_CALL,   /* callable, args, state; items as of a list or a dictionary */
    GANZ_PICKLE_OUTSIDE /* args: what the file calls a thing that is kept elsewhere */
} ganz_pickle_kind;

typedef struct ganz_pickle_node {
    ganz_pickle_kind kind;
    int64_t number;
    double real;
    const char *text; /* (bytes), not terminated, inside the pickle or its names */
    size_t bytes;
    int callable, args, state; /* nodes; -1: none */
    int *items;                /* (count) nodes; may lead back to where one came from */
    size_t count, capacity;
} ganz_pickle_node;

typedef struct ganz_pickle {
    ganz_pickle_node *node; /* (count) */
    size_t count, capacity;
    int root;
    size_t end; /* bytes that were read */
    char **names;
    size_t name_count, name_capacity;
} ganz_pickle;

/* Reads one pickle from the beginning of a block that outlives it. classes: those that may be named, up to NULL; NULL:
 * any. `name` is for messages. To be closed in any case. */
ganz_status ganz_pickle_read(ganz_pickle *pickle, const void *data, size_t bytes, const char *const *classes,
                             const char *name, ganz_error *err);
void ganz_pickle_close(ganz_pickle *pickle);

bool ganz_pickle_is(const ganz_pickle_node *node, const char *text); /* a text or class of these letters */
/* Value of a key of a dictionary or of what has one; NULL: there is none. */
const ganz_pickle_node *ganz_pickle_get(const ganz_pickle *pickle, const ganz_pickle_node *node, const char *key);

#endif
