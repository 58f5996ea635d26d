/* Letters: how they are opened and closed, and the name below, which models take for words. "Liebe Anna," became "Love
 * Anna,", and Rose Hill below "Best regards," became Rosenberg. */
#ifndef GANZ_DOCUMENT_LETTER_H
#define GANZ_DOCUMENT_LETTER_H

#include "document/language.h"
#include "ganz/ganz.h"
#include "ganz/vocab.h"

/* True if a sentence is a name below the close of a letter, which is the sentence before. */
bool ganz_is_signature(const char *text, size_t bytes, const char *before, size_t before_bytes);

/* True if a sentence opens a letter and ends with a comma: German goes on with a small letter then, English does not.
 */
bool ganz_opens_letter(const char *text, size_t bytes);

/* True for a name: up to a few words with a capital. */
bool ganz_is_name(const char *text, size_t bytes);

/* True for what may stand above the opening of a letter: a date, an address, a subject, none of them a sentence. */
bool ganz_is_letter_head(const char *text, size_t bytes);

/* How a letter addresses its reader, by its opening: formally below "Dear Ms Jones,", informally below "Hi Tom,". */
ganz_formality ganz_letter_formality(const char *text, size_t bytes, const ganz_language *source);

/* If a sentence is all that opens or closes a letter, and both languages have words for it: appends those, and *known
 * is true. False: memory is out. */
bool ganz_letter_write(ganz_text *out, const char *text, size_t bytes, const ganz_language *source,
                       const ganz_language *target, bool *known);

#endif
