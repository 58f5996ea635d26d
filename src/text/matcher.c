/* Links between nodes are made in the order of the nodes, by depth, each from its parent's (LinMaxMatch, Song et al.
 * 2021). Lists of entries share their beginnings: along an entry no more cells are added than it has bytes. */
#include "text/matcher.h"

#define NOWHERE UINT32_MAX

/* A list and the entries of another behind it: its last cell, or NOWHERE when there is no memory. */
static uint32_t append(ganz_matcher *m, uint32_t list, uint32_t other)
{
    size_t count = 0;
    for (uint32_t cell = other; cell != 0; cell = m->cells[cell].before) count++;
    const size_t first = m->count;
    if (first + count >= NOWHERE) return NOWHERE;
    if (!ganz_grow((void **)&m->cells, &m->capacity, first + count, sizeof *m->cells)) return NOWHERE;
    m->count += count;
    for (size_t i = first + count; i > first; i--) {
        m->cells[i - 1] = (ganz_matcher_cell){m->cells[other].id, i - 1 > first ? (uint32_t)i - 2 : list};
        other = m->cells[other].before;
    }
    return count > 0 ? (uint32_t)(m->count - 1) : list;
}

static bool link_entry(ganz_matcher *m, uint32_t node)
{
    if (m->count + 1 >= NOWHERE) return false;
    if (!ganz_grow((void **)&m->cells, &m->capacity, m->count + 1, sizeof *m->cells)) return false;
    m->cells[m->count] = (ganz_matcher_cell){m->trie.nodes[node].id, 0};
    m->links[node] = (ganz_matcher_link){(uint32_t)m->count++, 0};
    return true;
}

/* A node that is no entry: its parent's cut, then those of the rests that do not go on with the node's label. */
static bool link_between(ganz_matcher *m, uint32_t parent, uint32_t node)
{
    const unsigned char label = m->trie.labels[node];
    ganz_matcher_link link = m->links[parent];
    if (parent == 0) link.rest = NOWHERE; /* the beginning of a character */
    while (link.rest != NOWHERE) {
        const uint32_t next = ganz_trie_child(&m->trie, link.rest, label);
        if (next != 0) {
            link.rest = next;
            break;
        }
        link.cut = append(m, link.cut, m->links[link.rest].cut);
        if (link.cut == NOWHERE) return false;
        link.rest = m->links[link.rest].rest;
    }
    m->links[node] = link;
    return true;
}

static bool link_all(ganz_matcher *m)
{
    const ganz_trie *const t = &m->trie;
    m->links = ganz_alloc(t->count, sizeof *m->links);
    if (!m->links || !ganz_grow((void **)&m->cells, &m->capacity, 1, sizeof *m->cells)) return false;
    m->cells[m->count++] = (ganz_matcher_cell){-1, 0};
    m->links[0].rest = NOWHERE;
    for (uint32_t parent = 0; parent < t->count; parent++)
        for (uint32_t node = t->nodes[parent].first; node < t->nodes[parent + 1].first; node++)
            if (!(t->nodes[node].id >= 0 ? link_entry(m, node) : link_between(m, parent, node))) return false;
    return true;
}

ganz_status ganz_matcher_open(ganz_matcher *matcher, ganz_trie_entry *entries, size_t count, ganz_error *err)
{
    *matcher = (ganz_matcher){0};
    GANZ_TRY(ganz_trie_open(&matcher->trie, entries, count, err));
    if (link_all(matcher)) return GANZ_OK;
    ganz_matcher_close(matcher);
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for a vocabulary");
}

void ganz_matcher_close(ganz_matcher *matcher)
{
    ganz_trie_close(&matcher->trie);
    ganz_free(matcher->links);
    ganz_free(matcher->cells);
    *matcher = (ganz_matcher){0};
}

/* The entries of a list, the first of them first. */
static bool add_list(const ganz_matcher *m, uint32_t list, ganz_ids *out)
{
    size_t count = 0;
    for (uint32_t cell = list; cell != 0; cell = m->cells[cell].before) count++;
    if (!ganz_grow((void **)&out->ids, &out->capacity, out->count + count, sizeof *out->ids)) return false;
    out->count += count;
    for (size_t i = out->count; list != 0; list = m->cells[list].before) out->ids[--i] = m->cells[list].id;
    return true;
}

bool ganz_matcher_cut(const ganz_matcher *m, const char *text, size_t bytes, ganz_ids *out)
{
    uint32_t node = 0;
    for (size_t at = 0; at <= bytes; at++) {
        const unsigned char label = at < bytes ? (unsigned char)text[at] : '_';
        uint32_t next;
        while ((next = ganz_trie_child(&m->trie, node, label)) == 0) {
            if (!add_list(m, m->links[node].cut, out)) return false;
            node = m->links[node].rest;
            GANZ_ASSERT_ALWAYS(node != NOWHERE);
        }
        node = next;
    }
    for (; node != 0; node = m->links[node].rest) {
        GANZ_ASSERT_ALWAYS(node != NOWHERE);
        if (!add_list(m, m->links[node].cut, out)) return false;
    }
    return true;
}
