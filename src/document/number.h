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

/* Bytes of the sign of a currency that each language puts at another side of an amount, at text[at], and of the space
 * before it, of the dollar, the euro and the pound; 0: there is none. ganz_currency_words: that sign, and what English
 * and German may write for it, as many as there are. */
size_t ganz_currency_at(const char *text, size_t bytes, size_t at);
const char *const *ganz_currency_words(const char *text, size_t bytes, size_t at);

/* Appends a number as the target language writes it: 1,234.5 becomes 1.234,5 from English to German, and $5 becomes 5
 * $. What does not look like a number of the source language stays as it is. False: memory is out. */
bool ganz_number_write(ganz_text *out, const char *number, size_t bytes, const ganz_language *source,
                       const ganz_language *target);

#endif
