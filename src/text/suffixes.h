/* All suffixes of all escaped tokens, sorted, with the number of times each occurs in the text.
 *
 *   characters   l o w _ 0 l o w e r _ 0 ...      0 ends a token
 *   order        positions, sorted by the characters from there on (up to max_depth of them)
 *   before[i]    occurrences of the suffixes order[0] .. order[i - 1]
 *
 * A substring is then an interval of `order`, and before[end] - before[begin] says how often it occurs. */
#ifndef GANZ_TEXT_SUFFIXES_H
#define GANZ_TEXT_SUFFIXES_H

#include "text/counts.h"

typedef struct ganz_suffixes {
    uint32_t *characters; /* (length) code point + 1, or 0 */
    size_t length;
    uint32_t *order;  /* (size) */
    int64_t *before;  /* (size + 1) */
    size_t size;      /* suffixes: length less one for each token */
    int64_t *repeats; /* (tokens) how often each token occurs, in the order of `characters` */
    int max_depth;
} ganz_suffixes;

/* The counts are not needed afterwards. */
ganz_status ganz_suffixes_open(ganz_suffixes *s, const ganz_counts *counts, int max_depth, ganz_error *err);
void ganz_suffixes_close(ganz_suffixes *s);

#endif
