/* Glossaries: terms of the source and what they must become. */
#ifndef GANZ_DOCUMENT_GLOSSARY_H
#define GANZ_DOCUMENT_GLOSSARY_H

#include "base/base.h"
#include "ganz/document.h"

typedef struct ganz_term {
    const char *source, *target; /* UTF-8 */
    size_t source_bytes, target_bytes;
} ganz_term;

/* The longest term that begins at text[at], a place where a word begins, and ends where a word ends; NULL: none.
 * *length: bytes of text that it takes, an English plural or genitive ending included. */
const ganz_term *ganz_glossary_find(const ganz_glossary *glossary, const char *text, size_t end, size_t at,
                                    size_t *length);

#endif
