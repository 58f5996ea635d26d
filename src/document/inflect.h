/* Words that differ in their endings only. */
#ifndef GANZ_DOCUMENT_INFLECT_H
#define GANZ_DOCUMENT_INFLECT_H

#include "base/base.h"

/* Bytes of text from `at`, a place where a word begins, that are the term or an inflected form of it, word for word:
 * "Haus" also stands for "Hauses" and "Häuser". They end where a word ends; 0: they are something else. */
size_t ganz_inflected_length(const char *term, size_t term_bytes, const char *text, size_t bytes, size_t at);

#endif
