/* Entries by their bytes, as a trie.
 *
 * Nodes are numbered breadth first, so the children of node n are first(n) .. first(n + 1) - 1, in the order
 * of their labels, and two arrays hold it all. A valid UTF-8 entry can only match whole characters of valid
 * UTF-8 text, so bytes give the same answer as code points. */
#ifndef GANZ_TEXT_TRIE_H
#define GANZ_TEXT_TRIE_H

#include <string.h>

#include "base/base.h"

typedef struct ganz_trie_entry {
    const char *text; /* not terminated */
    uint32_t bytes;   /* > 0 */
    int32_t id;       /* >= 0 */
} ganz_trie_entry;

typedef struct ganz_trie_node {
    uint32_t first;
    int32_t id; /* -1: no entry ends here */
} ganz_trie_node;

typedef struct ganz_trie {
    ganz_trie_node *nodes; /* (count + 1), the last only ends the one before it */
    unsigned char *labels; /* (count) */
    uint32_t count;
    uint32_t root[256]; /* child of node 0 by label, 0: none */
} ganz_trie;

/* Sorts the entries; they are not needed afterwards. Of equal entries the one with the highest id counts. */
ganz_status ganz_trie_open(ganz_trie *trie, ganz_trie_entry *entries, size_t count, ganz_error *err);
void ganz_trie_close(ganz_trie *trie);

/* The node below a node (0: the root) for one more byte; 0: none. nodes[node].id is the entry that ends there, or -1.
 * Most nodes have one child; the root, which has most, is looked up in its table. */
static inline uint32_t ganz_trie_child(const ganz_trie *trie, uint32_t node, unsigned char label)
{
    if (node == 0) return trie->root[label];
    const uint32_t first = trie->nodes[node].first, end = trie->nodes[node + 1].first;
    if (end - first == 1) return trie->labels[first] == label ? first : 0;
    if (first == end) return 0;
    const unsigned char *const hit = memchr(trie->labels + first, label, end - first);
    return hit ? (uint32_t)(hit - trie->labels) : 0;
}

/* The id of exactly this entry, or -1. */
int32_t ganz_trie_find(const ganz_trie *trie, const char *text, size_t bytes);

#endif
