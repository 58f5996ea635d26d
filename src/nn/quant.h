/* Matmul sites: the one place where precision is decided.
 *
 * A dense site is one of the 97 products with a weight; a pair is one attention with its two products (18 x 2 = 36).
 * 97 + 4 * 18 = 169 learned scales; the 18 of U are unsigned. */
#ifndef GANZ_NN_QUANT_H
#define GANZ_NN_QUANT_H

#include "base/activation.h"
#include "nn/scheme.h"

typedef enum ganz_weights_state {
    GANZ_WEIGHTS_FLOAT,
    GANZ_WEIGHTS_FAKE, /* codes with scale = max|w| / p, made anew after each update */
    GANZ_WEIGHTS_CODES /* integers from a model file, packed for this processor */
} ganz_weights_state;

typedef enum ganz_inputs_state {
    GANZ_INPUTS_FLOAT,
    GANZ_INPUTS_MEASURE, /* float, and the largest magnitude is kept */
    GANZ_INPUTS_FAKE,    /* codes in the product type, scale 2^z */
    GANZ_INPUTS_CODES,   /* int8 codes, integer product */
    GANZ_INPUTS_DYNAMIC  /* float, each row rounded with a scale of its own; in ordinary memory only, without a tape */
} ganz_inputs_state;

static inline int ganz_code_max(int bits, bool is_signed)
{
    return is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
}

/* A learned scale: parameter number of z, and its place in the blocks of scales, measured ranges and clip counts. */
typedef struct ganz_scale {
    int z;
    int place; /* 0 .. scales-1 */
} ganz_scale;

typedef struct ganz_site {
    char name[32]; /* "enc.0.self.q" */
    int in, out;
    int weight, bias; /* parameter numbers; bias -1: none */
    int place;        /* 0 .. sites-1: place in the block of bias scales */
    int row;          /* place of the first of its outputs among all: in the block of weight scales */
    int col; /* place of the first of its inputs among all: in the blocks of column scales, where its rule has columns
              */
    ganz_rule rule;
    ganz_scale input;
    ganz_activation activation; /* of its result */
    bool after_relu;            /* input codes are in [0, p]: products may be faster */
    ganz_weights_state weights;
    ganz_inputs_state inputs;
} ganz_site;

static inline bool ganz_site_by_row(const ganz_site *site)
{
    return site->rule.per_row && site->weights != GANZ_WEIGHTS_FLOAT;
}

/* Weights that lie two in a byte, in memory and in files. */
static inline bool ganz_site_nibbles(const ganz_site *site) { return site->rule.weight_bits <= GANZ_BITS_NIBBLE; }

static inline bool ganz_site_codes_bias(const ganz_site *site)
{
    return site->bias >= 0 && site->rule.bias_bits != GANZ_BITS_FLOAT;
}

typedef struct ganz_pair {
    char name[32]; /* "enc.0.self": its products are .qk and .uv */
    int place;     /* 0 .. pairs-1 */
    ganz_scale q, k, u, v;
    ganz_rule rule;
    ganz_inputs_state inputs; /* of all four operands */
} ganz_pair;

#endif
