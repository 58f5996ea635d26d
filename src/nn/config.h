/* What networks of the field differ in. All zero but the sizes is Tensor2Tensor's Transformer. */
#ifndef GANZ_NN_CONFIG_H
#define GANZ_NN_CONFIG_H

#include "base/activation.h"
#include "base/base.h"

/* Id of the decoder's first input, before any token was said. */
enum { GANZ_START = 0 };

typedef enum ganz_norm_place {
    GANZ_NORM_PRE, /* x + f(norm(x)), and a norm at the end of each stack */
    GANZ_NORM_POST /* norm(x + f(x)), and none at the end */
} ganz_norm_place;

/* Sines in the first half of a row, cosines in the second; the frequency of column i of a half. */
typedef enum ganz_timing_kind {
    GANZ_TIMING_T2T, /* 10000^(-i / (half - 1)): Tensor2Tensor, Marian, fairseq */
    GANZ_TIMING_HALF /* 10000^(-i / half): Hugging Face, OpenNMT */
} ganz_timing_kind;

typedef struct ganz_config {
    int width;          /* d: 512 Base, 1024 Big */
    int ffn;            /* 2048, 4096 */
    int heads;          /* 8, 16; width / heads is the head width */
    int encoder_layers; /* 6 */
    int decoder_layers; /* 6 */
    int vocab;
    int max_positions; /* length of the timing table */

    ganz_norm_place norm;
    double norm_epsilon;                 /* added to the variance; 0: 1e-6 */
    ganz_activation activation;          /* inside feed-forward; NONE: relu */
    bool q_bias, k_bias, v_bias, o_bias; /* of the projections of all attentions */
    ganz_timing_kind timing;
    int first_position;     /* number of the first token's position */
    double embedding_scale; /* factor of embeddings; 0: sqrt(width) */
    int source_vocab;       /* entries of a table of the encoder's own; 0: it shares the decoder's */
    bool own_output;        /* the logits have a matrix of their own; else it is the decoder's table */
    bool logits_bias;
    bool start_vector;    /* the decoder begins with a vector of its own; else with zeros */
    bool no_target_space; /* nothing is added to all inputs of the encoder */
    bool recurrent;       /* the decoder has recurrent units (SSRU) in place of self attention; translates and becomes
                             integers by       calibration, on the CPU, but does not train */
} ganz_config;

/* GANZ_EINVAL with a sentence when the numbers make no network, or one beyond the limits. */
ganz_status ganz_config_check(const ganz_config *config, ganz_error *err);
/* The same network, every number said. */
ganz_config ganz_config_complete(const ganz_config *config);
/* Whether two mean the same network, whatever their longest inputs. */
bool ganz_config_same(const ganz_config *a, const ganz_config *b);
/* Whether it is Tensor2Tensor's but for its sizes. */
bool ganz_config_is_plain(const ganz_config *config);

#endif
