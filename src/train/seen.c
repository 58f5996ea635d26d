/* A set of checksums of the pairs seen so far: a hash table with open addressing. */
#include "train/corpus.h"

/* Where a hash is or would be. */
static size_t place(const uint64_t *slots, size_t capacity, uint64_t hash)
{
    size_t at = (size_t)hash & (capacity - 1);
    while (slots[at] && slots[at] != hash) at = (at + 1) & (capacity - 1);
    return at;
}

/* At most three quarters full: ten million hashes take 128 MiB, and 64 more while growing. */
static bool grow(ganz_seen *s)
{
    if (s->count < s->capacity / 4 * 3) return true;
    const size_t capacity = s->capacity ? s->capacity * 2 : 1024;
    uint64_t *const slots = ganz_alloc(capacity, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < s->capacity; i++)
        if (s->slots[i]) slots[place(slots, capacity, s->slots[i])] = s->slots[i];
    ganz_free(s->slots);
    s->slots = slots;
    s->capacity = capacity;
    return true;
}

bool ganz_seen_add(ganz_seen *s, uint64_t hash, bool *before)
{
    if (!grow(s)) return false;
    const uint64_t key = hash ? hash : 1; /* 0 marks a free slot */
    const size_t at = place(s->slots, s->capacity, key);
    *before = s->slots[at] == key;
    s->count += !*before;
    s->slots[at] = key;
    return true;
}

void ganz_seen_free(ganz_seen *s)
{
    ganz_free(s->slots);
    *s = (ganz_seen){0};
}
