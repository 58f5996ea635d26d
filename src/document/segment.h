/* A sentence on its way: attempts to have it translated, and what is written in its place. */
#ifndef GANZ_DOCUMENT_SEGMENT_H
#define GANZ_DOCUMENT_SEGMENT_H

#include "document/attempt.h"
#include "document/place.h"

typedef enum ganz_state {
    GANZ_STATE_WAITING, /* nobody has asked for it */
    GANZ_STATE_OUT,     /* its line is being translated */
    GANZ_STATE_DONE
} ganz_state;

typedef struct ganz_sentence_part {
    ganz_stretch stretch;
    ganz_state state;
    bool links;               /* its line needs them */
    bool opens;               /* the first one of a letter, below "Dear Anna," */
    ganz_formality formality; /* as the opening of its letter has it */
    ganz_attempt *attempt;    /* while it is out */
    bool translated;          /* there is something else to write than the sentence as it was */
    char *target;
    size_t target_bytes;
    ganz_inserts inserts;
} ganz_sentence_part;

void ganz_sentence_part_free(ganz_sentence_part *part);

/* Makes the first line. The state is DONE afterwards if there is nothing to ask a model for, else OUT. `before`: the
 * sentence before this one, in bytes of its text; of no length: there is none. */
ganz_status ganz_sentence_begin(ganz_sentence_part *part, const ganz_setting *setting, const char *before,
                                size_t before_bytes, ganz_error *err);

/* Takes a translation of the line in. The state is DONE afterwards, or still OUT with another line. */
ganz_status ganz_sentence_put(ganz_sentence_part *part, const ganz_setting *setting,
                              const ganz_translation *translation, ganz_error *err);

#endif
