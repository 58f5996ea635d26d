/* How often each token occurs. */
#ifndef GANZ_TEXT_COUNTS_H
#define GANZ_TEXT_COUNTS_H

#include "ganz/vocab.h"
#include "text/unicode.h"

typedef struct ganz_count {
    size_t begin; /* in `text` */
    uint32_t bytes;
    int64_t count;
} ganz_count;

/* Starts with zeroes. `all` is in the order of first occurrence. */
typedef struct ganz_counts {
    ganz_text text;
    ganz_count *all;
    size_t size, capacity;
    uint32_t *slots; /* (slot_count) hash table of index + 1, 0: free; slot_count is a power of two */
    size_t slot_count;
} ganz_counts;

/* Adds `count` occurrences of a token; false when memory is out or there are too many different tokens. */
bool ganz_counts_add(ganz_counts *counts, const char *token, size_t bytes, int64_t count);
void ganz_counts_free(ganz_counts *counts);

#endif
