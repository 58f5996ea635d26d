/* Sentences in capitals and sentences without any: shown to the model like ordinary ones, and given their case back. */
#ifndef GANZ_DOCUMENT_CASING_H
#define GANZ_DOCUMENT_CASING_H

#include "document/guard.h"
#include "document/language.h"
#include "ganz/vocab.h"

typedef enum ganz_letters { GANZ_LETTERS_MIXED, GANZ_LETTERS_UPPER, GANZ_LETTERS_LOWER } ganz_letters;

/* How text [begin, end) is written, guards aside. */
ganz_letters ganz_letters_of(const char *text, size_t begin, size_t end, const ganz_guards *guards);

typedef enum ganz_recase { GANZ_RECASE_KEEP, GANZ_RECASE_LOWER, GANZ_RECASE_FIRST, GANZ_RECASE_UPPER } ganz_recase;

/* What is done to the word [at, end) of such a sentence for the model; first: it begins the sentence. */
ganz_recase ganz_recase_word(ganz_letters letters, const ganz_language *language, const char *text, size_t at,
                             size_t end, bool first);
/* The character at place `index` of the word after that. */
int32_t ganz_recase_character(ganz_recase how, int32_t code, size_t index);

/* Appends the translation in the case of its sentence. keep (2 * keep_count): begins and ends of ranges that stay as
 * they are. moved (bytes + 1): where each byte of the translation went. False: memory is out. */
bool ganz_recase_translation(ganz_letters letters, const ganz_language *language, const char *text, size_t bytes,
                             const size_t *keep, size_t keep_count, ganz_text *out, size_t *moved);

/* Where the first letter of a translation should be a capital and is not, because its sentence begins with one;
 * `bytes`: nowhere. */
size_t ganz_missing_capital(const char *sentence, size_t sentence_bytes, const char *text, size_t bytes);

#endif
