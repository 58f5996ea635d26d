/* Copies of a pair that show a model text which corpora seldom hold: capitals, small letters, titles, no final mark,
 * two sentences in one line, a capital at the beginning, and words to be copied. What is made depends on the pair, the
 * seed and its place alone. */
#ifndef GANZ_TRAIN_AUGMENT_H
#define GANZ_TRAIN_AUGMENT_H

#include "ganz/corpus.h"

/* Both sides of a pair: valid UTF-8, stripped, not empty. */
typedef struct ganz_pair_text {
    const char *source, *target;
    size_t source_bytes, target_bytes;
} ganz_pair_text;

/* Lines to put beside sentences; zeroes are none. */
typedef struct ganz_inserts {
    ganz_text text;
    size_t *begin; /* (count + 1) in text */
    size_t count, capacity;
} ganz_inserts;
/* Every line of a file that is not blank; at most 16 MiB, and at least one. */
ganz_status ganz_inserts_read(ganz_inserts *inserts, const char *path, ganz_error *err);
void ganz_inserts_free(ganz_inserts *inserts);

/* The draw for one pair: `input` and `line` say where it stands. */
typedef struct ganz_draw {
    uint64_t seed, input, line;
} ganz_draw;

/* Number of a stream of random numbers. The first `count` kinds lie side by side for each input, later ones apart. */
static inline uint64_t ganz_draw_stream(const ganz_draw *draw, int kind, int count)
{
    return kind < count ? draw->input * (uint64_t)count + (uint64_t)kind : ((uint64_t)kind << 32) + draw->input;
}

typedef enum { GANZ_COPY_MADE, GANZ_COPY_NONE, GANZ_COPY_NO_MEMORY } ganz_copy_result;

/* Makes the copy of a kind in *copy (whose texts are emptied first) if the draw wants one and the pair lends itself to
 * it. `next` is the pair behind it, or NULL. */
ganz_copy_result ganz_copy_make(ganz_copy_kind kind, double rate, const ganz_draw *draw, const ganz_pair_text *pair,
                                const ganz_pair_text *next, const ganz_inserts *inserts, ganz_text copy[2]);

#endif
