/* What a skeleton is made of. For the files of this folder that read it; readers of formats use skeleton.h. */
#ifndef GANZ_DOCUMENT_PARTS_H
#define GANZ_DOCUMENT_PARTS_H

#include "document/skeleton.h"

typedef struct ganz_block ganz_block;
typedef struct ganz_piece ganz_piece;

/* Copied bytes, a block, or the beginning of a section, in the order of the file. */
struct ganz_piece {
    ganz_piece *next;
    const char *raw; /* NULL: a block, or a section */
    size_t bytes;
    ganz_block *block; /* NULL: a section */
};

typedef enum ganz_run_kind {
    GANZ_RUN_TEXT,  /* raw bytes are the text's own */
    GANZ_RUN_ATOM,  /* text written in another way: never cut */
    GANZ_RUN_MARK,  /* a mark between two characters: text of no length, except for BREAK, which is a space */
    GANZ_RUN_OPAQUE /* U+FFFC in the text, for a word that is not translated */
} ganz_run_kind;

typedef struct ganz_run {
    ganz_run_kind kind;
    ganz_mark_kind mark;
    int name;
    int partner;       /* run of the other mark of a pair; -1: none */
    size_t begin, end; /* in the block's text */
    const char *raw;
    size_t raw_bytes;
    const ganz_piece *inside; /* of a mark that is not raw bytes alone */
    const char *shown;        /* text of an opaque word; of a mark: its bytes in a translated block, NULL: raw */
    size_t shown_bytes;
    bool needs_text; /* an OPEN that cannot be without */
    bool place;      /* an opaque word that a program fills in: `shown` is not its text but one that it may have */
} ganz_run;

struct ganz_block {
    ganz_block *next; /* in the order they ended */
    ganz_block_style style;
    const char *text; /* valid UTF-8 */
    size_t bytes;
    ganz_run *runs; /* (run_count) without gaps */
    size_t run_count;
    size_t number; /* from 0, in the order of the list */
};

/* A part of a block, mostly a sentence: text [begin, end) of it. Runs [first, last) are its own: the first and the last
 * perhaps in part, and of the marks at its ends only those from the first to the last with a partner inside. */
typedef struct ganz_stretch {
    const ganz_block *block;
    size_t begin, end;
    size_t first, last;
} ganz_stretch;

/* The parts of a finished skeleton. */
const ganz_piece *ganz_skeleton_pieces(const ganz_skeleton *skeleton);
const ganz_block *ganz_skeleton_blocks(const ganz_skeleton *skeleton);
size_t ganz_skeleton_block_count(const ganz_skeleton *skeleton);
void *ganz_skeleton_state(const ganz_skeleton *skeleton);

#endif
