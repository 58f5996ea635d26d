/* Rows of results of a match, "6-3, 6-1", of which models lose some: "won 6-3 6-1" became "6:3:1". */
#ifndef GANZ_DOCUMENT_RESULTS_H
#define GANZ_DOCUMENT_RESULTS_H

#include "document/language.h"
#include "ganz/vocab.h"

/* Bytes of the two or more results in a row that begin at a place of text [begin, end), where that tells of a match; 0:
 * there are none. "7-6 (7-4)" and "7-6(4)" belong to it. */
size_t ganz_results_at(const char *text, size_t begin, size_t end, size_t at);

/* Looks for the same results in a translation: their place, from *at on, and bytes; 0: they are not there. */
size_t ganz_results_find(const char *row, size_t row_bytes, const char *text, size_t bytes, size_t *at);

/* Appends the results as a language writes them: 6:3 in German, 6-3 in English, else as they are. False: memory is out.
 */
bool ganz_results_write(ganz_text *out, const char *row, size_t bytes, const ganz_language *target);

#endif
