/* Short words of a sentence, which are terms: Mon is Mo, 2 EL are 2 tbsp. */
#ifndef GANZ_DOCUMENT_SHORT_H
#define GANZ_DOCUMENT_SHORT_H

#include "document/glossary.h"
#include "document/language.h"

/* A sentence: bytes [begin, end) of a text. */
typedef struct ganz_short_view {
    const char *text;
    size_t begin, end;
    const ganz_language *source, *target;
} ganz_short_view;

/* The word that begins at a place, where what stands beside it says that it is one: the day in Mon-Fri and Sat 10-4,
 * but not in "So 10 people" and the Sun-Times. NULL: none does, or the languages are others. */
const ganz_term *ganz_short_term(const ganz_short_view *view, size_t at);

/* True if a term is one of these. */
bool ganz_short_is(const ganz_term *term);

#endif
