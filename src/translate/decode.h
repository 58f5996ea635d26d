/* Sentences of ids in, n-best lists of ids out, on any backend, with the network in whatever state it is in.
 *
 * Sentences are sorted by length and go through the network in groups: one encoder pass, then one decoder step at a
 * time for all live hypotheses of all sentences of the group, one row each. A sentence that is done leaves, and the
 * matrices shrink. Translation and the trainer's validation share this. */
#ifndef GANZ_TRANSLATE_DECODE_H
#define GANZ_TRANSLATE_DECODE_H

#include "nn/net.h"
#include "translate/draw.h"
#include "translate/search.h"

enum { GANZ_BATCH_TOKENS = 3072 }; /* the usual size of a group */

typedef struct ganz_decoder_options {
    ganz_search_options search;
    ganz_draw_options draw; /* with a temperature: tokens are drawn, and the beam of the search is 1 */
    int batch_tokens;    /* size of a group; a sentence counts its tokens and 25 more, half of the steps it may take */
    int max_input;       /* longest source, end mark included; at most the net's positions */
    int max_length;      /* steps of a sentence, at most; 0: its own limit only */
    double least_length; /* fewest tokens of a result for each token of its source, 0 to 1 */
    int force_length;    /* steps of every sentence, no fewer and no more: for measuring; 0: as the model wants */
    const ganz_flag *stop; /* looked at before each step: a run ends with GANZ_ESTOPPED; or NULL */
} ganz_decoder_options;

/* Borrowed by ganz_decoder_run. */
typedef struct ganz_sentence {
    const int32_t *ids; /* (count) end mark included; below the net's vocabulary */
    int count;          /* 1 to max_input */
    const int32_t *prefix;
    int prefix_count; /* below ganz_decoder_limit */
    int n_best;       /* results wanted, if fewer than those of the search; 0: as many */
    int front;        /* ids before those of the text, which no token comes from */
    ganz_avoided avoided;
} ganz_sentence;

typedef struct ganz_found {
    const int32_t *ids; /* (count) without end mark */
    int count;
    float score;
    bool finished; /* false: cut by the limit */
} ganz_found;

typedef struct ganz_decoder ganz_decoder;

/* All is borrowed but the options. `weights` live in memory of `be` (for a host backend, in anybody's). */
ganz_status ganz_decoder_open(ganz_decoder **decoder, ganz_backend *be, const ganz_net *net,
                              const ganz_weights *weights, const ganz_decoder_options *options, ganz_error *err);
void ganz_decoder_close(ganz_decoder **decoder);

/* Later runs show their products to these instruments, which are borrowed; NULL: to none. */
ganz_status ganz_decoder_set_instrument(ganz_decoder *decoder, const ganz_instrument *instrument, ganz_error *err);

/* Steps a source of so many ids may take: its own limit, max_length, the net's positions. */
int ganz_decoder_limit(const ganz_decoder *decoder, int source_tokens);

/* Decodes them all. Results of sentence i are found[i * n_best + 0 .. counts[i]), best first; they belong to the
 * decoder and live until its next run or end. */
ganz_status ganz_decoder_run(ganz_decoder *decoder, const ganz_sentence *sentences, int count, const ganz_found **found,
                             const int **counts, ganz_error *err);

#endif
