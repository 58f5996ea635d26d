/* Character references of HTML ("&amp;", "&#228;", "&#xE4;"), as the standard's tokenizer reads them; also Markdown's.
 */
#ifndef GANZ_DOCUMENT_HTML_ENTITY_H
#define GANZ_DOCUMENT_HTML_ENTITY_H

#include "base/base.h"

typedef enum ganz_entity_place {
    GANZ_ENTITY_TEXT,      /* "&auml" needs no semicolon */
    GANZ_ENTITY_ATTRIBUTE, /* ... unless a letter, a digit or "=" follows: href="?a=b&copy=1" */
    GANZ_ENTITY_STRICT     /* Markdown: always with a semicolon */
} ganz_entity_place;

/* The reference that begins with the "&" at text[0]. Returns its length in bytes and sets *code to the character, or to
 * -1 for "&name;" with a name that is not in our table (rare symbols): it stands for a character, but we do not know
 * which. Returns 0 for an ampersand that is only that. */
size_t ganz_entity_decode(const char *text, size_t bytes, ganz_entity_place place, int32_t *code);

/* The character of a byte above 0x7F in windows-1252, which is how browsers read pages that are not UTF-8. */
int32_t ganz_windows_1252(unsigned char byte);

#endif
