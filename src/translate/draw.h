/* Tokens drawn by chance: the next token is one of all, or of the likeliest, with the probability the model gives it.
 *
 * Chance is a pure function of a seed, of the sentence and of the step. So a sentence has one answer for one seed,
 * whatever it is translated with, and wherever in a text it stands. */
#ifndef GANZ_TRANSLATE_DRAW_H
#define GANZ_TRANSLATE_DRAW_H

#include <stdint.h>

enum { GANZ_DRAW_MOST = 128 }; /* largest `top` */

typedef struct ganz_draw_options {
    double temperature; /* probabilities are those of logits / temperature; 0: nothing is drawn, the search decides */
    int top;            /* only the likeliest, 1 to GANZ_DRAW_MOST; 0: all tokens */
    uint64_t seed;
} ganz_draw_options;

/* The random numbers of a source sentence. */
uint64_t ganz_draw_stream(const int32_t *ids, int count);

/* A place in logit[0..count), which are finite; count > 0. */
int ganz_draw_token(const ganz_draw_options *options, uint64_t stream, int step, const float *logit, int count);

#endif
