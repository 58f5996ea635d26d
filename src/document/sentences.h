/* Where sentences begin and end in a text. */
#ifndef GANZ_DOCUMENT_SENTENCES_H
#define GANZ_DOCUMENT_SENTENCES_H

#include "document/language.h"
#include "document/skeleton.h"

/* What goes on for half as long again as so many bytes without an end has no sentences. As one piece of work it would
 * keep others waiting, so that documents cut it at the first white space behind these bytes. */
enum { GANZ_LONGEST_SENTENCE = 1000 };

/* A walk over the sentences of a text. Set the first six members, leave the rest zero. */
typedef struct ganz_sentences {
    const char *text; /* valid UTF-8 */
    size_t bytes;
    const ganz_language *language;
    ganz_breaks breaks;
    size_t longest; /* bytes of a sentence behind which it is cut if it does not end soon; 0: it never is */
    bool outside;   /* of sentences are signs of lists, quotes and speeches before them ("- ", "> "), bars between items
                       ("Home | Contact"), and lines of code */
    size_t at;
    bool looked, lower; /* at the whole text: it has no capitals */
} ganz_sentences;

/* The next sentence is text [begin, end): not empty, without white space at its ends, and everything between two of
 * them is white space, or what `outside` says. False: there is none. */
bool ganz_sentences_next(ganz_sentences *walk, size_t *begin, size_t *end);

#endif
