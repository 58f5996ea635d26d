/* Validation: loss over a set of sentence pairs, and BLEU of their sources as the real beam search translates them. */
#ifndef GANZ_TRAIN_VALIDATE_H
#define GANZ_TRAIN_VALIDATE_H

#include "ranks/ranks.h"
#include "train/stepper.h"
#include "translate/decode.h"

/* One pair: ids with end marks, and the reference as it is in the file. */
typedef struct ganz_valid_pair {
    size_t source, target, text; /* where they begin in the blocks below */
    int source_count, target_count;
    size_t text_bytes;
} ganz_valid_pair;

typedef struct ganz_valid {
    const ganz_vocab *vocab;
    ganz_valid_pair *pairs; /* (count) by rising length of the source */
    int count;
    ganz_ids sources, targets;
    char *text;
    size_t pair_capacity, text_bytes, text_capacity;
    uint64_t *lines; /* (count) sums of the last translations */
    int32_t *block;  /* arrays of one batch */
    int tokens;
    int group; /* sentences translated between two looks at the stop flag: more for faster devices, at most 1024 */
} ganz_valid;

/* Reads both files; they must have the same number of lines. Sources longer than `longest` ids are cut for translation
 * and left out of the loss, as are pairs with an empty side. `tokens`: most of a batch. */
ganz_status ganz_valid_open(ganz_valid *valid, const char *source, const char *target, const ganz_vocab *vocab,
                            int longest, int tokens, ganz_error *err);
void ganz_valid_close(ganz_valid *valid);

/* Who measures. Processes that share the work make the same call; each does every size-th batch, and all get what one
 * would have found, to the bit. They agree on how it went (ganz_ranks_agree). */
typedef struct ganz_valid_crew {
    ganz_ranks *ranks;     /* NULL: alone */
    const ganz_flag *stop; /* ends the work with GANZ_ESTOPPED; NULL: never */
} ganz_valid_crew;

/* Mean loss per target token without smoothing, and the share of tokens whose best class is right. */
ganz_status ganz_valid_loss(ganz_valid *valid, ganz_stepper *stepper, const ganz_valid_crew *crew, double *loss,
                            double *accuracy, ganz_error *err);
/* BLEU (13a, cased) of at most `most` sentences, spread over all lengths; valid->lines gets a sum of each. */
ganz_status ganz_valid_bleu(ganz_valid *valid, ganz_decoder *decoder, int most, const ganz_valid_crew *crew,
                            double *bleu, ganz_error *err);

#endif
