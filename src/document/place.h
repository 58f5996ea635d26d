/* Putting back into a translation what its line did not hold: marks, words that were taken out, what stand-ins stand
 * for.
 *
 * Links say which token of the sentence each token of the translation comes from. A pair of marks goes around the
 * tokens that come from what it was around, one unbroken range of them; a mark between two words goes to the
 * translation of the word it stood at. Ranges nest as they did in the sentence. */
#ifndef GANZ_DOCUMENT_PLACE_H
#define GANZ_DOCUMENT_PLACE_H

#include "document/attempt.h"
#include "ganz/ganz.h"

typedef enum ganz_insert_kind {
    GANZ_INSERT_RUN,     /* a run of the block as it is */
    GANZ_INSERT_SOURCE,  /* bytes [begin, end) of the block's text, as they were written */
    GANZ_INSERT_NUMBER,  /* the same, a number, in the way of the target language */
    GANZ_INSERT_RESULTS, /* the same, results of a match */
    GANZ_INSERT_CLOCK,   /* the same, a time of day */
    GANZ_INSERT_TERM     /* what the glossary has for a term */
} ganz_insert_kind;

/* Written instead of bytes [at, until) of a translation. */
typedef struct ganz_insert {
    ganz_insert_kind kind;
    size_t at, until;
    const ganz_run *run;
    const ganz_term *term;
    size_t begin, end;
    bool space_before, space_after; /* one is written around it */
} ganz_insert;

typedef struct ganz_inserts {
    ganz_insert *items; /* rising, apart from each other */
    size_t count, capacity;
} ganz_inserts;

/* A translation whose items have all been found; its links, if any, are between the attempt's line and this text. */
typedef struct ganz_placing {
    const ganz_attempt *attempt;
    const ganz_stretch *sentence;
    const char *text;
    size_t bytes;
    const ganz_link *links; /* checked by ganz_place: no range may hurt */
    size_t link_count;
} ganz_placing;

/* Appends the inserts of a translation: each mark of the sentence's runs and each item that is not the translation's
 * own, exactly once. False: memory is out. */
bool ganz_place(const ganz_placing *placing, ganz_inserts *inserts);

#endif
