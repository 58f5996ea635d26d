/* A small network with a packed batch on the CPU, for tests in float and in double. */
#ifndef GANZ_TESTS_NN_CASE_H
#define GANZ_TESTS_NN_CASE_H

#include "nn/net.h"

/* A configuration by its sizes. */
#define NN_SHAPE(d, wide, head_count, encoder, decoder, words, positions)                                   \
    {                                                                                                       \
        .width = d, .ffn = wide, .heads = head_count, .encoder_layers = encoder, .decoder_layers = decoder, \
        .vocab = words, .max_positions = positions                                                          \
    }

/* One sentence pair of a packed row; lengths count the end mark. Segments of one row follow each other. */
typedef struct nn_segment {
    int row, source, target;
} nn_segment;

/* Tokens of one side, on the host, which on the CPU is the device. */
typedef struct nn_side {
    ganz_tokens tokens;
    int32_t *ids, *positions, *row, *slot, *by_id, *labels, *begin; /* labels: unshifted ids */
    int longest;
} nn_side;

typedef struct nn_case {
    ganz_net net;
    ganz_weights weights;
    ganz_backend *be;
    ganz_arena host, device;
    nn_side source, target;
    ganz_spans see_source, see_target, see_cross;
    int segments;
    /* of the passes that nn_case_loss makes */
    ganz_dropout dropout;
    uint64_t seed;
    real smoothing;
    bool train_weights, learn_scales;
    int chunk;
    const ganz_teacher *teacher; /* NULL: labels teach */
} nn_case;

/* Networks of other kinds: switches of `config` set; its name, or NULL when there is no such number. Together they use
 * every switch, and every value of it, at least once. Kind 0 is Tensor2Tensor's. tests/golden/make_kinds.py has the
 * same list. */
enum { NN_TRAINED_KINDS = 6 }; /* later ones do not train */
const char *nn_kind(int number, ganz_config *config);

/* Token ids are drawn from `seed` and the segment's number alone, so that a sentence is the same in any company.
 * `first`: number of the first segment. */
void nn_case_open(nn_case *c, const ganz_config *config, int threads, const nn_segment *segments, int count, int first);
void nn_case_close(nn_case *c);

/* Other tokens in the same places: token(step, segment, place, side) where no end mark stands. */
typedef int32_t nn_token(int step, int segment, int place, int side);
void nn_case_tokens(nn_case *c, nn_token *token, int step);

/* Initial values, then everything that starts at a constant made uneven. Refreshes. */
void nn_case_init(nn_case *c, uint64_t seed);
void nn_case_refresh(nn_case *c);

/* Encoder, decoder and loss: mean over tokens. With `grad`: zeroes weights.grad first and adds the mean's gradient. */
double nn_case_loss(nn_case *c, bool grad);
/* Decoded rows (target rows, width), good until the next pass of the case. */
ganz_matrix nn_case_decoded(nn_case *c);
/* Decoded rows (target rows, width) and the logits (target rows, vocab), without a tape. Copies for the caller to
 * free. */
real *nn_case_logits(nn_case *c);

/* A pass over the arenas of the case, rewound; no tape. */
ganz_pass nn_case_pass(nn_case *c);

#endif
