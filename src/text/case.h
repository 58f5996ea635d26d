/* Capital and small letters of a valid UTF-8 text, by Unicode's simple mappings, but that ß becomes SS. Each call
 * appends to `out`; false when memory is out. */
#ifndef GANZ_TEXT_CASE_H
#define GANZ_TEXT_CASE_H

#include "ganz/vocab.h"

bool ganz_case_upper(const char *text, size_t bytes, ganz_text *out);
bool ganz_case_lower(const char *text, size_t bytes, ganz_text *out);
/* The first letter of each word as a capital, the rest as it is. Words are what white space separates; what stands
 * before the first letter of one, like a quotation mark, is passed over. */
bool ganz_case_title(const char *text, size_t bytes, ganz_text *out);
/* The same for the first word alone. */
bool ganz_case_initial(const char *text, size_t bytes, ganz_text *out);

#endif
