/* A hash table from tokens to their numbers of occurrences, with open addressing. */
#include "text/counts.h"

#include <string.h>

#include "base/io.h"
#include "text/tokenizer.h"

/* The slot of a token, or the free one where it belongs. */
static size_t find_slot(const ganz_counts *c, const char *token, size_t bytes)
{
    size_t slot = ganz_checksum(token, bytes) & (c->slot_count - 1);
    while (c->slots[slot] != 0) {
        const ganz_count *const have = &c->all[c->slots[slot] - 1];
        if (have->bytes == bytes && memcmp(c->text.text + have->begin, token, bytes) == 0) break;
        slot = (slot + 1) & (c->slot_count - 1);
    }
    return slot;
}

/* Keeps the table at most half full. */
static bool make_room(ganz_counts *c)
{
    if (c->size + 1 <= c->slot_count / 2) return true;
    if (c->size >= UINT32_MAX / 2) return false;
    const size_t more = c->slot_count ? c->slot_count * 2 : 1024;
    uint32_t *const slots = ganz_alloc(more, sizeof *slots);
    if (!slots) return false;
    ganz_free(c->slots);
    c->slots = slots;
    c->slot_count = more;
    for (size_t i = 0; i < c->size; i++)
        slots[find_slot(c, c->text.text + c->all[i].begin, c->all[i].bytes)] = (uint32_t)i + 1;
    return true;
}

bool ganz_counts_add(ganz_counts *c, const char *token, size_t bytes, int64_t count)
{
    if (bytes > UINT32_MAX || !make_room(c)) return false;
    const size_t slot = find_slot(c, token, bytes);
    if (c->slots[slot] == 0) {
        const size_t begin = c->text.bytes;
        if (!ganz_grow((void **)&c->all, &c->capacity, c->size + 1, sizeof *c->all)) return false;
        if (!ganz_text_append(&c->text, token, bytes)) return false;
        c->all[c->size++] = (ganz_count){begin, (uint32_t)bytes, 0};
        c->slots[slot] = (uint32_t)c->size;
    }
    c->all[c->slots[slot] - 1].count += count;
    return true;
}

void ganz_counts_free(ganz_counts *c)
{
    ganz_text_free(&c->text);
    ganz_free(c->all);
    ganz_free(c->slots);
    *c = (ganz_counts){0};
}
