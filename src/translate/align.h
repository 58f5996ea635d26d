/* Which source token each token of a translation comes from, which is what the decoder looks at when it says it, and
 * how probable it was.
 *
 * One pass over the finished translation, a sentence at a time, so that both depend on the sentence alone and the
 * search pays nothing for them. */
#ifndef GANZ_TRANSLATE_ALIGN_H
#define GANZ_TRANSLATE_ALIGN_H

#include "ganz/ganz.h"
#include "nn/net.h"
#include "translate/decode.h"

typedef struct ganz_aligner ganz_aligner;

/* All is borrowed. `be` is a host backend. */
ganz_status ganz_aligner_open(ganz_aligner **aligner, ganz_backend *be, const ganz_net *net,
                              const ganz_weights *weights, ganz_error *err);
void ganz_aligner_close(ganz_aligner **aligner);

/* What a pass tells. The arrays are the caller's; NULL: not wanted. */
typedef struct ganz_aligned {
    int32_t *from; /* (target tokens) place of the source token it comes from, never the end mark or what is in front of
                    * the text if there is another */
    int32_t *to;   /* (source tokens) the target token that looks at it more than any other does */
    float *score;  /* (target tokens) logarithm of its probability, given the source and the tokens before it */
} ganz_aligned;

/* target (count), without end mark; count at most the net's positions. */
ganz_status ganz_aligner_run(ganz_aligner *aligner, const ganz_sentence *source, const int32_t *target, int count,
                             const ganz_aligned *out, ganz_error *err);

/* ---- tokens and words --------------------------------------------------------------------------- */

/* Ends of tokens from their beginnings in a text: each goes to where the next other one begins. White space at both
 * ends is taken off; what is left of a token of white space is empty. begin (count) never falls. */
void ganz_token_ends(const char *text, size_t bytes, size_t *begin, size_t *end, size_t count);

/* A walk over the words of a line, which white space separates. Start with the text and zeroes. */
typedef struct ganz_word_walk {
    const char *text; /* valid UTF-8 */
    size_t bytes, at;
    int words; /* begun so far */
    bool inside;
} ganz_word_walk;

/* Number of the word that has the first visible character at or behind `offset`, which never falls between calls; -1:
 * there is none. */
int ganz_word_at(ganz_word_walk *walk, size_t offset);

/* Sorts links between tokens by target, then source, and leaves each once; returns how many are left. */
size_t ganz_links_sort(ganz_link *links, size_t count);

#endif
