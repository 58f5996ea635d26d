/* JSON as the header of a container needs it: a strict reader that is asked token by token and builds no tree, and a
 * writer whose every failure is remembered. */
#ifndef GANZ_MODEL_JSON_H
#define GANZ_MODEL_JSON_H

#include "base/base.h"

/* ---- reading ------------------------------------------------------------------------------------ */

typedef struct ganz_json_reader {
    const char *begin, *at, *end;
    char *room;        /* where the next text goes; the caller's, as large as the JSON itself */
    const char *wrong; /* what is not valid JSON at `at`; NULL: nothing so far */
} ganz_json_reader;

/* The first byte that is no space, 0 at the end. */
char ganz_json_peek(ganz_json_reader *reader);
/* Passes over one punctuation mark; false when something else comes next. */
bool ganz_json_take(ganz_json_reader *reader, char mark);
/* A string without its escapes, in the caller's room; never with a 0 inside. False when something else comes next, or
 * when it is not valid (`wrong` says why). */
bool ganz_json_text(ganz_json_reader *reader, const char **text);
/* The same for the key of a member and its colon; here anything else is a mistake. */
bool ganz_json_key(ganz_json_reader *reader, const char **key);
/* A whole number. False when something else comes next, or when it is not valid or beyond 64 bits (`wrong`). */
bool ganz_json_int(ganz_json_reader *reader, int64_t *number);
/* The members of an object, the elements of an array: true when there is one more, with `first` for the first of them.
 * At the end `close` is passed over. `wrong` tells an end from a mistake. */
bool ganz_json_more(ganz_json_reader *reader, bool first, char close);

/* ---- writing ------------------------------------------------------------------------------------ */

typedef struct ganz_json_writer {
    char *data; /* (bytes), no 0 behind it; ganz_free */
    size_t bytes, capacity;
    bool failed; /* memory ran out: all later calls do nothing */
} ganz_json_writer;

void ganz_json_put(ganz_json_writer *writer, const char *plain);                         /* punctuation, as it is */
void ganz_json_put_text(ganz_json_writer *writer, const char *prefix, const char *text); /* one string of the two */
void ganz_json_put_int(ganz_json_writer *writer, int64_t number);

#endif
