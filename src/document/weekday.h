/* Short names of weekdays in a sentence, which are terms: Mon is Mo. */
#ifndef GANZ_DOCUMENT_WEEKDAY_H
#define GANZ_DOCUMENT_WEEKDAY_H

#include "document/glossary.h"
#include "document/language.h"

/* A sentence: bytes [begin, end) of a text. */
typedef struct ganz_weekday_view {
    const char *text;
    size_t begin, end;
    const ganz_language *source, *target;
} ganz_weekday_view;

/* The name that begins at a place, where what stands beside it says that it is one: Mon-Fri, Sat 10-4, but neither "So
 * 10 people" nor the Sun-Times. NULL: none does, or the languages are others. */
const ganz_term *ganz_weekday_term(const ganz_weekday_view *view, size_t at);

/* True if a term is one of these. */
bool ganz_weekday_is(const ganz_term *term);

#endif
