/* Glossaries: terms of the source and what they must become. */
#ifndef GANZ_DOCUMENT_GLOSSARY_H
#define GANZ_DOCUMENT_GLOSSARY_H

#include <string.h>

#include "base/base.h"
#include "ganz/document.h"

typedef struct ganz_term {
    const char *source, *target; /* UTF-8 */
    size_t source_bytes, target_bytes;
} ganz_term;

/* False: the term is to stay as it is. */
static inline bool ganz_term_changes(const ganz_term *term)
{
    return term->source_bytes != term->target_bytes || memcmp(term->source, term->target, term->source_bytes) != 0;
}

/* The longest term that begins at text[at], a place where a word begins, and ends where a word ends; NULL: none.
 * *length: bytes of text that it takes, an English plural or genitive ending included. */
const ganz_term *ganz_glossary_find(const ganz_glossary *glossary, const char *text, size_t end, size_t at,
                                    size_t *length);

#endif
