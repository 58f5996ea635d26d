/* Float models to integer models. */
#ifndef GANZ_QUANTIZE_H
#define GANZ_QUANTIZE_H

#include <stdbool.h>

#include "ganz/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Quantization without learning.
 *
 * GANZ_METHOD_MAX: the model, its weights rounded already, runs over some text; the largest magnitude of each product's
 * input becomes its largest code.
 * GANZ_METHOD_KL: likewise, but magnitudes are counted, and the largest code goes where clipping and rounding change
 * their distribution least (Kullback-Leibler divergence over 2,048 bins, as Bhandare et al. 2019).
 * GANZ_METHOD_FIT: likewise, but the text is run through twice: first for the largest magnitudes, then for what each of
 * 18 ranges, from there down to a 50th, would take from the products, columns weighed by the weights that multiply
 * them. The range that changes a product least is taken; what it changes on average goes into the biases, which stay
 * float unless bias_bits says otherwise. GANZ_METHOD_CLIP: no text; everything, weights included, is clipped to one
 * range (Junczys-Dowmunt et al. 2018). GANZ_METHOD_DYNAMIC: no text; weights have a scale for each output, inputs one
 * for each row as it comes, and only dense products are integer (CTranslate2). The file is a float model that emulates
 * them.
 *
 * Attention weights never exceed 1, so their scale is 1 / (2^bits - 1) in all of them. */
typedef struct ganz_calibration {
    long long method; /* GANZ_METHOD_MAX, _KL, _FIT, _CLIP or _DYNAMIC */
    int bits;         /* of all codes: 2 to 8 */
    int weight_bits, activation_bits, attention_bits,
        bias_bits;          /* of one kind; 0: as bits. bias_bits 32: they stay float */
    bool dense;             /* only products with weights become integer */
    bool per_row;           /* a scale for each output of a weight, instead of one for all */
    long long weight_range; /* GANZ_WEIGHT_RANGE_*; AUTO: FIT below 8 bits, per_row below 5, with GANZ_METHOD_KL and
                             * _FIT. Neither with _CLIP nor _DYNAMIC */
    bool columns;      /* with GANZ_METHOD_FIT: each column of the input of a dense product, but for the logits', has
                        * a step and a zero of its own, and weights, a scale for each output, are rounded so that
                        * products change least. Such a model runs on CPUs */
    bool float_lookup; /* embeddings are looked up in a float table of their own */
    bool power_of_two; /* all scales are rounded up to powers of two; neither this nor float_lookup, attention_bits and
                        * bias_bits go with GANZ_METHOD_DYNAMIC, where dense and per_row are a matter of course */
    const char *exceptions; /* products that are rounded otherwise than the rest, or not at all: "logits: weights=8;
                             * dec.*.ffn.out: product=float", see docs/FORMAT.md; NULL: none. Not with _DYNAMIC */
    double clip;            /* range of GANZ_METHOD_CLIP */
    const char *source;     /* text file, one sentence a line; plain or compressed */
    const char *target;     /* its translation, line by line; NULL: what the model itself makes of the source */
    long long most_lines;   /* 0: all */
    int beam;               /* of the model's own translations */
    int threads;            /* 0: all cores; results are the same for any number */
    const char *command;    /* noted in the file, or NULL */
    const ganz_flag *stop;  /* or NULL */
    /* Called now and then with the lines done. May be NULL. */
    void (*progress)(void *context, long long lines);
    void *context;
} ganz_calibration;

typedef struct ganz_calibration_report {
    long long lines;    /* measured */
    long long left_out; /* empty, or longer than the model takes */
    int products;       /* of the model: dense ones and those of attention */
    int integer_products;
    int scales; /* of their inputs */
} ganz_calibration_report;

/* Largest magnitudes, 8 bits, a range of 2, own translations with beam 1, one thread. */
GANZ_API void ganz_calibration_defaults(ganz_calibration *how);

/* Reads a float model, writes an integer one whole or not at all. */
GANZ_API ganz_status ganz_calibrate(const char *model, const char *out, const ganz_calibration *how,
                                    ganz_calibration_report *report, ganz_error *err);

/* Has an integer model translate the first lines of a text, and writes what rounding did to each of its operands and
 * how large the sums of its products became: quant.tsv, quant.json, quant.txt (a summary, worst first) and quant.svg
 * (scales against those that would clip nothing). The folder must be there. */
GANZ_API ganz_status ganz_quantize_report(const char *model, const char *text, int lines, const char *folder,
                                          ganz_error *err);

/* ---- text of one language ---------------------------------------------------------------------- */

enum { GANZ_OWN_TEXT_PATH = 1024 };

/* A text in the source language alone, to learn from. */
typedef struct ganz_own_text {
    const char *model;     /* float model that translates it */
    const char *text;      /* file, one sentence a line, plain or compressed; with a model of several target languages
                            * each line begins with its label, >>deu<< */
    const char *folder;    /* of the run; made when it is not there */
    long long most_lines;  /* 0: all */
    int threads;           /* 0: all cores; results are the same for any number */
    const ganz_flag *stop; /* or NULL */
    /* Called now and then with the lines that have translations. May be NULL. */
    void (*progress)(void *context, long long lines);
    void *context;
} ganz_own_text;

typedef struct ganz_own_text_files {
    char corpus[GANZ_OWN_TEXT_PATH];                                         /* text.corpus */
    char valid_source[GANZ_OWN_TEXT_PATH], valid_target[GANZ_OWN_TEXT_PATH]; /* valid.source, valid.target */
    long long lines, held_out; /* of the text; of these, the last ones, which are valid.*: a 20th, at most 200 */
} ganz_own_text_files;

/* Has the model translate the text, greedily and on the CPU, and writes the files above into the folder. Translations
 * are kept in translated.tsv as they come: a call that was stopped goes on from there, and one with the same model and
 * text finds all done. */
GANZ_API ganz_status ganz_own_text_prepare(const ganz_own_text *how, ganz_own_text_files *files, ganz_error *err);

/* ---- widths within a budget --------------------------------------------------------------------- */

/* How much the weights of a model may take; one of the two. */
typedef struct ganz_budget {
    double bits;     /* of a weight on average, 3 to 8; 0: by size */
    long long bytes; /* of the model file */
    /* Called after each of so many roundings. May be NULL. */
    void (*progress)(void *context, int done, int of);
    void *context;
} ganz_budget;

typedef struct ganz_budget_choice {
    int weight_bits;                        /* of most products: for recipe.weight_bits */
    char exceptions[GANZ_EXCEPTIONS_BYTES]; /* of the others: for recipe.exceptions */
    int products[9];                        /* how many have so many bits */
    double bits;                            /* of a weight on average */
    double bytes;                           /* of the file, reckoned amply */
    double harm; /* sum of the divergences from the float model, in nats a token, that each rounding makes alone */
} ganz_budget_choice;

/* Gives the weights of each dense product the width it deserves, 3 to 8 bits: rounds each alone to each width, looks at
 * a batch of the corpus how far the model then is from the float one, and takes the widths that fit and do least harm
 * in all. By size only 8 and 4 bits are of use, because two weights of at most 4 bits lie in a byte. Of the options
 * model, train, device, threads, stop and the recipe are read. GANZ_EINVAL where no widths fit. */
GANZ_API ganz_status ganz_budget_choose(const ganz_train_options *options, const ganz_budget *budget,
                                        ganz_budget_choice *choice, ganz_error *err);

#ifdef __cplusplus
}
#endif
#endif
