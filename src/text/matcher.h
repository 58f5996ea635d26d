/* Cuts text into the longest entries of a trie, from left to right, in time that grows with the text alone.
 *
 * The walk goes down the trie byte by byte. Where it can go no further, the bytes behind it are known: they are the
 * node's. So each node knows beforehand into which entries its bytes are cut as far as that is decided, and the node of
 * the bytes that are left, where the walk goes on. No byte of the text is read twice. */
#ifndef GANZ_TEXT_MATCHER_H
#define GANZ_TEXT_MATCHER_H

#include "ganz/vocab.h"
#include "text/trie.h"

/* A list of entries, from the last to the first; cell 0 is the end of all lists. */
typedef struct ganz_matcher_cell {
    int32_t id;
    uint32_t before;
} ganz_matcher_cell;

typedef struct ganz_matcher_link {
    uint32_t cut;  /* the last cell of the entries that the node's bytes begin with */
    uint32_t rest; /* the node of the bytes behind them */
} ganz_matcher_link;

typedef struct ganz_matcher {
    ganz_trie trie;
    ganz_matcher_link *links; /* (trie.count) */
    ganz_matcher_cell *cells;
    size_t count, capacity; /* of cells */
} ganz_matcher;

/* Sorts the entries; they are not needed afterwards. Of equal entries the one with the highest id counts. */
ganz_status ganz_matcher_open(ganz_matcher *matcher, ganz_trie_entry *entries, size_t count, ganz_error *err);
void ganz_matcher_close(ganz_matcher *matcher);

/* Appends the ids of text[0..bytes) followed by one underscore: always the longest entry that comes next. Entries must
 * be there for every character; false when there is no memory. */
bool ganz_matcher_cut(const ganz_matcher *matcher, const char *text, size_t bytes, ganz_ids *out);

#endif
