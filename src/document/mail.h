/* Mail that is answered or passed on: the line above what is quoted, "On Mon, 4 Mar 2024 at 10:15, Tom Miller wrote:",
 * of which models lose dates, hours and names, and the head "From: tom@example.org". */
#ifndef GANZ_DOCUMENT_MAIL_H
#define GANZ_DOCUMENT_MAIL_H

#include "document/language.h"
#include "ganz/vocab.h"

/* If a sentence is one of these lines, and both languages have one for it: appends that, and *known is true. False:
 * memory is out. */
bool ganz_mail_write(ganz_text *out, const char *text, size_t bytes, const ganz_language *source,
                     const ganz_language *target, bool *known);

#endif
