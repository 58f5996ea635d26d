/* Where sentences begin and end in a text. */
#ifndef GANZ_DOCUMENT_SENTENCES_H
#define GANZ_DOCUMENT_SENTENCES_H

#include "document/language.h"
#include "document/skeleton.h"

/* A walk over the sentences of a text. Set the first four members, leave the rest zero. */
typedef struct ganz_sentences {
    const char *text; /* valid UTF-8 */
    size_t bytes;
    const ganz_language *language;
    ganz_breaks breaks;
    size_t at;
    bool looked, lower; /* at the whole text: it has no capitals */
} ganz_sentences;

/* The next sentence is text [begin, end): not empty, without white space at its ends, and everything between two of
 * them is white space. False: there is none. */
bool ganz_sentences_next(ganz_sentences *walk, size_t *begin, size_t *end);

#endif
