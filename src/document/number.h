/* Numbers in sentences: their digits stay, their points and commas follow the language. */
#ifndef GANZ_DOCUMENT_NUMBER_H
#define GANZ_DOCUMENT_NUMBER_H

#include "document/language.h"
#include "ganz/vocab.h"

/* Length of the number at text[at]: digits with points, commas or apostrophes between them; 0: there is none. */
size_t ganz_number_at(const char *text, size_t bytes, size_t at);

/* True if both have the same digits in the same order, whatever stands between them. The translation may have zeros for
 * a word: 14 thousand, 14.000. */
bool ganz_same_digits(const char *number, size_t bytes, const char *translated, size_t translated_bytes);

/* True if points and commas are where the language has them; of languages not written up yet, anywhere. */
bool ganz_digits_follow(const char *number, size_t bytes, const ganz_language *language);

/* True if a number with its thousands apart is another one in the target language, where its signs were copied, all of
 * them (1,500) or some (1,000.000). */
bool ganz_digits_misread(const char *number, size_t bytes, const ganz_language *source, const char *translated,
                         size_t translated_bytes, const ganz_language *target);

/* Appends the digits of a number as the target language writes them: 1,234.5 becomes 1.234,5 from English to German.
 * What does not look like a number of the source language stays as it is. False: memory is out. */
bool ganz_digits_write(ganz_text *out, const char *number, size_t bytes, const ganz_language *source,
                       const ganz_language *target);

#endif
