/* A sentence on its way: from a part of a block to the line that the model sees, and from the translation back. */
#ifndef GANZ_DOCUMENT_SEGMENT_H
#define GANZ_DOCUMENT_SEGMENT_H

#include "document/parts.h"

/* A run of the sentence that is written at a place of its translation: a mark, or a word that is not translated. */
typedef struct ganz_insert {
    size_t at;  /* in the translation, before it is escaped */
    int run;    /* of the block */
    bool space; /* a space comes before it */
} ganz_insert;

typedef struct ganz_sentence_part {
    const ganz_block *block;
    size_t begin, end;  /* text of the block */
    size_t first, last; /* runs [first, last) are its own: the first and the last perhaps in part, and of the marks at its
                           ends only those with a partner inside */
    ganz_text line;     /* what the model sees */
    bool links;         /* needed */
    bool translated;    /* there is something else to write than the sentence itself */
    ganz_text target;
    ganz_insert *inserts; /* (insert_count) rising */
    size_t insert_count;
} ganz_sentence_part;

void ganz_sentence_part_free(ganz_sentence_part *part);

/* Makes the line. False: memory is out. */
bool ganz_sentence_line(ganz_sentence_part *part);
/* Takes a translation in. */
ganz_status ganz_sentence_put(ganz_sentence_part *part, const ganz_translation *translation, ganz_error *err);

#endif
