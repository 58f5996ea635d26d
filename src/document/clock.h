/* Times of day, which German counts to 24 and English to 12: models write 3:30, or 15.30 a.m., for 15.30 Uhr, and 21:15
 * Uhr for 9:15 AM. */
#ifndef GANZ_DOCUMENT_CLOCK_H
#define GANZ_DOCUMENT_CLOCK_H

#include "document/language.h"
#include "ganz/vocab.h"

/* A place in a sentence, or in its translation. */
typedef struct ganz_clock_place {
    const char *text;
    size_t begin, end; /* of the sentence: words beside the time say which half of the day is meant */
    size_t at;
} ganz_clock_place;

/* What is looked for in a translation, where a number may be about something else: the least doubtful comes first. */
typedef enum ganz_clock_search {
    GANZ_CLOCK_RIGHT, /* the time as it should be */
    GANZ_CLOCK_WRONG, /* also with another half of the day: "3:30", "15.30 a.m." */
    GANZ_CLOCK_ALONE  /* also an hour without anything */
} ganz_clock_search;

/* How times of one language become those of another. */
typedef struct ganz_clock_way {
    /* Bytes of the time that begins there and that readers of the other language could mistake: "15.30 Uhr", or the
     * first one of "8 bis 18 Uhr" ("8"; the other then has its own), "9:15 AM", "9 am-5 pm". 0: there is none. */
    size_t (*at)(const ganz_clock_place *place);

    /* Looks for that time in a translation, from *at on. Then *at and the result are where it begins and its bytes, and
     * *right says whether it may stay so. 0: it is not there. */
    size_t (*find)(const ganz_clock_place *place, ganz_clock_search search, const char *text, size_t bytes, size_t *at,
                   bool *right);

    /* Appends that time as the other language writes it, "3:30 pm", "9:15 Uhr", before what follows it in the
     * translation, which may have its unit. False: memory is out. */
    bool (*write)(ganz_text *out, const ganz_clock_place *place, const char *after, size_t bytes);
} ganz_clock_way;

/* NULL: times are written alike, or nobody knows how. */
const ganz_clock_way *ganz_clock_way_of(const ganz_language *source, const ganz_language *target);

#endif
