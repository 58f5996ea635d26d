/* One list of a vocabulary of pieces: texts by id and ids by text, and what each id does in a text. */
#ifndef GANZ_TEXT_PIECE_LIST_H
#define GANZ_TEXT_PIECE_LIST_H

#include "text/pieces.h"
#include "text/spm.h"

typedef enum ganz_entry_role {
    GANZ_ENTRY_TEXT,
    GANZ_ENTRY_NOTHING, /* padding, end mark, unknown, control pieces: no text becomes one, and none becomes text */
    GANZ_ENTRY_BYTE,    /* <0x41>: a byte of a character that has no piece */
    GANZ_ENTRY_LABEL    /* >>deu<<: asks for a language */
} ganz_entry_role;

typedef struct ganz_listed {
    const char *text; /* in the list's block, terminated */
    uint32_t bytes;
    ganz_entry_role role;
} ganz_listed;

typedef struct ganz_listing {
    char *block; /* texts, each terminated: what model files keep */
    size_t bytes;
    ganz_listed *entries; /* (count) */
    size_t count;
    int32_t unknown;
    ganz_trie trie;
} ganz_listing;

/* Makes the block of a list; a sentence that names the entry where it is wrong. */
ganz_status ganz_listing_join(ganz_listing *listing, const ganz_piece_list *list, const char *name, ganz_error *err);
/* Copies a block. */
ganz_status ganz_listing_copy(ganz_listing *listing, const char *block, size_t bytes, const char *name,
                              ganz_error *err);
/* Reads the block. spm (or NULL) tells which entries are control pieces and bytes. */
ganz_status ganz_listing_read(ganz_listing *listing, const ganz_spm *spm, const char *name, ganz_error *err);
void ganz_listing_close(ganz_listing *listing);

/* The id of a text in this role; the unknown one's if there is none. */
int32_t ganz_listing_find(const ganz_listing *listing, const char *text, size_t bytes, ganz_entry_role role);

#endif
