/* Slips of models that are mended in their translations without asking them again: "8-10 minutes" became "8:10
 * Minuten", "school shooting" "SchulSchießerei". */
#ifndef GANZ_DOCUMENT_SLIP_H
#define GANZ_DOCUMENT_SLIP_H

#include <stddef.h>

#include "document/language.h"

/* A sentence, bytes [begin, end) of a text, and its translation. */
typedef struct ganz_slip_view {
    const char *text;
    size_t begin, end;
    const char *translation;
    size_t bytes;
    const ganz_language *target;
} ganz_slip_view;

typedef struct ganz_slip {
    size_t bytes;   /* of the translation, ... */
    const char *by; /* ... which these take the place of */
    size_t by_bytes;
    char room[12];
} ganz_slip;

/* True if a slip begins at a place of the translation. `by` may be of the view's text, or the slip's own. */
bool ganz_slip_at(const ganz_slip_view *view, size_t at, ganz_slip *slip);

/* One of them, in a file of its own: the colon at a place stands between two numbers of a span. Bytes of the sentence's
 * own dash, which begins at *dash of the text. 0: it does not, or the sentence tells a result. */
size_t ganz_span_dash(const ganz_slip_view *view, size_t colon, size_t *dash);

/* Another one: a half of the day that the sentence does not say, "21:30 Uhr" for 9:30, "9 pm" for 9 Uhr. Bytes that are
 * to go from a place on, and *by for them, with room for 12; 0: it is none. */
size_t ganz_half_invented(const ganz_slip_view *view, size_t at, char *by);

/* And another one: a number begins behind the space or bracket at a place, and the hyphen that is its minus in the
 * sentence is gone. */
bool ganz_minus_lost(const ganz_slip_view *view, size_t at);

/* True if numbers with dashes, bytes [first, last) of text [begin, end), are results of a match: the words around say
 * so, and none beside them that they are pages, hours or the like. */
bool ganz_tells_results(const char *text, size_t begin, size_t end, size_t first, size_t last);

#endif
