/* What is written right behind the digits of a number: the unit of 800m, the ending of 250th and of 1600s. Models lose
 * digits of such numbers. */
#ifndef GANZ_DOCUMENT_SUFFIX_H
#define GANZ_DOCUMENT_SUFFIX_H

#include "document/language.h"
#include "ganz/vocab.h"

/* Bytes of the suffix behind a number of so many digits; 0: none that is known is there. */
size_t ganz_suffix_at(const char *text, size_t end, size_t at, size_t digits);

/* Appends it as the target language has it: the century of 1600s is 1600er in German, the 250th the 250. False: memory
 * is out. */
bool ganz_suffix_write(ganz_text *out, const char *suffix, size_t bytes, const ganz_language *source,
                       const ganz_language *target);

#endif
