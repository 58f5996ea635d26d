/* The trie is built from sorted entries, one depth after the other, so that siblings lie side by side. */
#include "text/trie.h"

#include <stdlib.h>

static int by_text(const void *left, const void *right)
{
    const ganz_trie_entry *const a = left, *const b = right;
    const int order = memcmp(a->text, b->text, a->bytes < b->bytes ? a->bytes : b->bytes);
    if (order != 0) return order;
    if (a->bytes != b->bytes) return a->bytes < b->bytes ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* What a node still has to share out among its children: sorted entries [begin, end), equal in `depth` bytes. */
typedef struct share {
    uint32_t begin, end, depth;
} share;

/* Each entry adds at most the bytes that it does not have in common with the one before it. */
static size_t count_nodes(const ganz_trie_entry *entries, size_t count)
{
    size_t nodes = 1;
    for (size_t i = 0; i < count; i++) {
        size_t common = 0;
        if (i > 0) {
            const size_t most = entries[i - 1].bytes < entries[i].bytes ? entries[i - 1].bytes : entries[i].bytes;
            while (common < most && entries[i - 1].text[common] == entries[i].text[common]) common++;
        }
        nodes += entries[i].bytes - common;
    }
    return nodes;
}

static void fill(ganz_trie *trie, const ganz_trie_entry *entries, size_t count, share *shares)
{
    uint32_t made = 1;
    shares[0] = (share){0, (uint32_t)count, 0};
    for (uint32_t n = 0; n < trie->count; n++) {
        const share s = shares[n];
        uint32_t i = s.begin;
        trie->nodes[n] = (ganz_trie_node){made, -1};
        for (; i < s.end && entries[i].bytes == s.depth; i++) trie->nodes[n].id = entries[i].id;
        while (i < s.end) {
            const uint32_t begin = i;
            const char label = entries[i].text[s.depth];
            while (i < s.end && entries[i].text[s.depth] == label) i++;
            trie->labels[made] = (unsigned char)label;
            shares[made++] = (share){begin, i, s.depth + 1};
        }
    }
    trie->nodes[trie->count] = (ganz_trie_node){made, -1};
    GANZ_ASSERT_ALWAYS(made == trie->count);
    for (uint32_t child = trie->nodes[0].first; child < trie->nodes[1].first; child++)
        trie->root[trie->labels[child]] = child;
}

ganz_status ganz_trie_open(ganz_trie *trie, ganz_trie_entry *entries, size_t count, ganz_error *err)
{
    *trie = (ganz_trie){0};
    qsort(entries, count, sizeof *entries, by_text);
    const size_t nodes = count_nodes(entries, count);
    if (nodes >= UINT32_MAX) return ganz_fail(err, GANZ_ELIMIT, "the vocabulary is too large");
    trie->count = (uint32_t)nodes;
    trie->nodes = ganz_alloc(nodes + 1, sizeof *trie->nodes);
    trie->labels = ganz_alloc(nodes, 1);
    share *const shares = ganz_alloc(nodes, sizeof *shares);
    const bool ready = trie->nodes && trie->labels && shares;
    if (ready) fill(trie, entries, count, shares);
    ganz_free(shares);
    if (ready) return GANZ_OK;
    ganz_trie_close(trie);
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for a vocabulary");
}

void ganz_trie_close(ganz_trie *trie)
{
    ganz_free(trie->nodes);
    ganz_free(trie->labels);
    *trie = (ganz_trie){0};
}

int32_t ganz_trie_find(const ganz_trie *trie, const char *text, size_t bytes)
{
    uint32_t node = 0;
    for (size_t i = 0; i < bytes; i++) {
        node = ganz_trie_child(trie, node, (unsigned char)text[i]);
        if (node == 0) return -1;
    }
    return trie->nodes[node].id;
}
