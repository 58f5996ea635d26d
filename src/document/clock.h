/* Times of day, which German counts to 24 and English to 12: models write 3:30, or 15.30 a.m., for 15.30 Uhr. */
#ifndef GANZ_DOCUMENT_CLOCK_H
#define GANZ_DOCUMENT_CLOCK_H

#include "document/language.h"
#include "ganz/vocab.h"

/* True if times are written in another way in the target language, and we know how. */
bool ganz_clock_differs(const ganz_language *source, const ganz_language *target);

/* A place in a German sentence. */
typedef struct ganz_clock_place {
    const char *text;
    size_t begin, end; /* of the sentence: other words in it say which half of the day is meant */
    size_t at;
} ganz_clock_place;

/* Bytes of the time that begins there and that an English reader could mistake: "15.30 Uhr", or the first one of "8 bis
 * 18 Uhr" ("8"; the other then has its own). 0: there is none. */
size_t ganz_clock_at(const ganz_clock_place *place);

/* Appends that time as English writes it: "3:30 pm", "8 am". False: memory is out. */
bool ganz_clock_write(ganz_text *out, const ganz_clock_place *place);

/* Looks for that time in an English text, from *at on, however wrong its half of the day is: "3:30", "15.30 a.m.", or,
 * if `alone`, an hour without anything. Then *at and the result are where it begins and its bytes, and *right says
 * whether it may stay so. 0: it is not there. */
size_t ganz_clock_find(const ganz_clock_place *place, bool alone, const char *english, size_t bytes, size_t *at,
                       bool *right);

#endif
