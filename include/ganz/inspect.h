/* What is inside a model: its configuration, each of its matrix products, and what these did in a translation. */
#ifndef GANZ_INSPECT_H
#define GANZ_INSPECT_H

#include <stdbool.h>

#include "ganz/ganz.h"
#include "ganz/vocab.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ganz_model_facts {
    int width, ffn, heads, encoder_layers, decoder_layers;
    int vocabulary, source_vocabulary; /* entries; of sources, where they have a list of their own */
    int longest_input, longest_output; /* tokens, end mark included */
    int bits;                          /* of the codes of weights; 0: they are float */
    int input_bits, attention_bits;    /* of the codes of inputs and of attention weights; 0: these are float */
    int bias_bits;                     /* of the codes of biases; 0: these are float */
    bool row_scales;                   /* each output of a weight has a scale of its own */
    bool column_scales;                /* columns of inputs have scales and zeros of their own, mostly */
    bool float_lookup;                 /* embeddings come from a float table of their own; no product does that */
    int dynamic_bits;                  /* of a float model: inputs of dense products are rounded row by row; 0: not */
    long long parameters;              /* numbers that training changed; scales do not count */
    int products, integer_products;    /* 133 for six and six layers */
    const char *source_language, *target_language, *command; /* the model's; NULL: unknown */
    const char *origin, *licence;                            /* of a model of another program; NULL: unknown */
    bool formality; /* it translates formally or informally as it is told (ganz_formality) */
    /* in words, where the network is not Tensor2Tensor's ("post-norm, swish, ...") and where products are rounded
     * otherwise than most ("logits: weights=8; ..."); empty: nowhere */
    char kind[256], exceptions[4096];
    char search[96]; /* how the model wants to be searched, in words; empty: as usual */
} ganz_model_facts;

GANZ_API void ganz_model_describe(const ganz_model *model, ganz_model_facts *facts);
/* The vocabulary within, as long as the model is open. */
GANZ_API const ganz_vocab *ganz_model_vocab(const ganz_model *model);

typedef enum ganz_product_kind {
    GANZ_PRODUCT_DENSE, /* input (rows, depth) by weight (out, depth) */
    GANZ_PRODUCT_QK,    /* queries by keys, for each head */
    GANZ_PRODUCT_UV     /* attention weights by values, for each head; left codes are 0 or more */
} ganz_product_kind;

/* Codes of one side of a product: value = code * scale, |code| <= most; of row_scales and column_scales the largest.
 * All 0 where it is float. */
typedef struct ganz_code_facts {
    int bits, most;
    double scale;
} ganz_code_facts;

typedef struct ganz_product_facts {
    char name[40]; /* "enc.0.self.q", "enc.0.self.qk", "logits" */
    ganz_product_kind kind;
    bool integer;
    int out;                     /* columns of the result; 0: as many as there are keys */
    int depth;                   /* numbers in a sum; most there can be, where it is the keys that are summed */
    ganz_code_facts left, right; /* input and weight; queries and keys; attention weights and values */
    long long worst;             /* no sum exceeds it: depth * left.most * right.most */
} ganz_product_facts;

/* 0 <= index < products, in the order of the network. */
GANZ_API void ganz_model_product(const ganz_model *model, int index, ganz_product_facts *facts);

/* Compares the data of a file with the checksums in it. *checked: tensors that were compared, all or (in a file of
 * another program) none. */
GANZ_API ganz_status ganz_model_verify(const char *path, int *checked, ganz_error *err);

/* ---- what the products did ---------------------------------------------------------------------- */

typedef struct ganz_product_counts {
    long long integer_runs, float_runs; /* matrix products computed either way */
    long long codes, clipped;           /* codes made for its inputs; of those, cut at the end of their range */
    long long largest;                  /* largest magnitude of a sum of codes */
} ganz_product_counts;

/* From now on all products of this translator are counted, from 0. Slower; the translations are the same. */
GANZ_API ganz_status ganz_translator_enable_counters(ganz_translator *translator, ganz_error *err);
/* Zeroes when nothing is counted. */
GANZ_API void ganz_translator_get_counters(const ganz_translator *translator, int product, ganz_product_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
