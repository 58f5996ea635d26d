/* How a network is rounded to integers: one rule for all its products, and exceptions by name. Recipes and calibrations
 * make a scheme, nets follow it, model files keep it. */
#ifndef GANZ_NN_SCHEME_H
#define GANZ_NN_SCHEME_H

#include "base/base.h"

/* How one dense product, or both products of one attention, are rounded. */
typedef struct ganz_rule {
    bool integer;                /* false: in float, and nothing else here matters */
    int weight_bits, input_bits; /* of codes; input_bits also of queries, keys and values */
    int attention_bits;          /* of attention weights */
    int bias_bits;               /* GANZ_BITS_FLOAT: biases are no codes */
    bool per_row;                /* each output of a weight has a scale of its own */
    bool power_of_two;           /* scales are powers of two */
    int weight_range;            /* GANZ_WEIGHT_RANGE_* (ganz/recipe.h) */
    bool columns;                /* each column of a dense product's input has a scale and a zero of its own */
} ganz_rule;

enum { GANZ_BITS_LEAST = 2, GANZ_BITS_MOST = 8, GANZ_BITS_FLOAT = 32 };
enum { GANZ_BITS_NIBBLE = 4 /* and fewer: two weights in a byte */ };
enum { GANZ_RULE_FIELDS = 9, GANZ_SCHEME_EXCEPTIONS = 160, GANZ_SCHEME_TEXT = 4096 };

/* What is different for the products of some names. */
typedef struct ganz_exception {
    char pattern[32];            /* a name, in which * stands for any letters: "logits", "enc.*.ffn.out" */
    int value[GANZ_RULE_FIELDS]; /* in the order of ganz_rule; -1: as for all others */
} ganz_exception;

typedef struct ganz_scheme {
    ganz_rule rule;
    bool float_attention; /* products inside attention stay float */
    bool float_lookup;    /* embeddings are looked up in float even where logits are integer */
    ganz_exception exception[GANZ_SCHEME_EXCEPTIONS];
    int exceptions;
} ganz_scheme;

/* All products in integers of so many bits. */
ganz_scheme ganz_scheme_of_bits(int bits);
/* The rule of a dense product, or of an attention, of this name. Of several exceptions the last one holds. */
ganz_rule ganz_scheme_rule(const ganz_scheme *scheme, const char *name, bool attention);
/* Whether an exception, by its number, is about a product of this name. */
bool ganz_scheme_names(const ganz_scheme *scheme, int exception, const char *name);
/* Whether weights of any product may have so few bits that two lie in a byte. */
bool ganz_scheme_has_nibbles(const ganz_scheme *scheme);
/* Whether inputs of any product may have scales for their columns: calibration makes them, learning does not. */
bool ganz_scheme_has_columns(const ganz_scheme *scheme);
/* GANZ_EINVAL with a sentence when widths are none. */
ganz_status ganz_scheme_check(const ganz_scheme *scheme, ganz_error *err);

/* Exceptions as text, "logits: weights=8 biases=32; enc.*.ffn.out: product=float; ...", and back. Words:
 * product=integer or float, weights=, inputs=, attention= and biases= with a number of bits, steps=one or rows,
 * powers=two or any, range=auto, max, fit or learned, columns=one or own. */
void ganz_scheme_print(const ganz_scheme *scheme, char text[GANZ_SCHEME_TEXT]);
ganz_status ganz_scheme_parse(ganz_scheme *scheme, const char *text, ganz_error *err);

#endif
