/* The tokens of a translation with what they come from; words that were taken out are tokens of no length among them.
 */
#ifndef GANZ_DOCUMENT_TOKENS_H
#define GANZ_DOCUMENT_TOKENS_H

#include "document/place.h"

typedef struct ganz_token {
    size_t begin, end; /* of the translation */
    size_t from, to;   /* of the block's text */
    const ganz_item *item;
    bool space_before, space_after; /* to be written around an item that was taken out */
} ganz_token;

/* Text of the block that no token comes from, and the byte of the translation that it may have become all the same. */
typedef struct ganz_weak_link {
    size_t from, to, target;
} ganz_weak_link;

typedef struct ganz_token_list {
    ganz_token *items; /* rising */
    size_t count, capacity;
    ganz_weak_link *weak;
    size_t weak_count, weak_capacity;
} ganz_token_list;

void ganz_tokens_free(ganz_token_list *tokens);

/* A place between tokens: before number `index`, right behind the token before it (`behind`) or right before it. */
typedef struct ganz_slot {
    size_t index;
    bool behind;
} ganz_slot;

/* All tokens of a translation. Without links their sources are guessed by how far they are from its beginning. */
bool ganz_tokens_make(const ganz_placing *placing, ganz_token_list *tokens);

/* Where something that stands at text [begin, end) of the block goes: to the translation of its neighbours, among
 * tokens [first, last). */
ganz_slot ganz_tokens_slot(const ganz_placing *placing, const ganz_token_list *tokens, size_t begin, size_t end,
                           size_t first, size_t last);
/* The byte of a slot. */
size_t ganz_tokens_byte(const ganz_placing *placing, const ganz_token_list *tokens, ganz_slot slot);

/* Spaces to be written around something without text. */
typedef struct ganz_gap {
    bool before, after;
} ganz_gap;

/* Those that something that stood at text [begin, end) of the block needs at this byte of the translation, so that it
 * does not touch a word that it did not touch: the line has one space for the two around it. */
ganz_gap ganz_tokens_gap(const ganz_placing *placing, size_t begin, size_t end, size_t at);

#endif
