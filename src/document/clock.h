/* Times of day, which German counts to 24 and English to 12: models write 3:30, or 15.30 a.m., for 15.30 Uhr. */
#ifndef GANZ_DOCUMENT_CLOCK_H
#define GANZ_DOCUMENT_CLOCK_H

#include "document/language.h"
#include "ganz/vocab.h"

/* True if times are written in another way in the target language, and we know how. */
bool ganz_clock_differs(const ganz_language *source, const ganz_language *target);

/* Bytes of the German time at text[at] that an English reader could mistake: "15.30 Uhr", or the first one of "8 bis 18
 * Uhr" ("8"; the other then has its own). 0: there is none. */
size_t ganz_clock_at(const char *text, size_t end, size_t at);

/* Appends the time at text[at] as English writes it: "3:30 pm", "8 am". False: memory is out. */
bool ganz_clock_write(ganz_text *out, const char *text, size_t end, size_t at);

/* Looks for the time at text[time] in an English text, from *at on, however wrong its half of the day is: "3:30",
 * "15.30 a.m."; then *at and the result are where it begins and its bytes, and *right says whether it may stay so. 0:
 * it is not there. */
size_t ganz_clock_find(const char *text, size_t end, size_t time, const char *english, size_t bytes, size_t *at,
                       bool *right);

#endif
