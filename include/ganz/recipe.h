/* Recipes: every setting of a training run, by one table that serves files, options and metadata alike. */
#ifndef GANZ_RECIPE_H
#define GANZ_RECIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "ganz/ganz.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GANZ_RECIPE_NORM_PRE, GANZ_RECIPE_NORM_POST };
enum { GANZ_RECIPE_RELU, GANZ_RECIPE_SWISH, GANZ_RECIPE_GELU, GANZ_RECIPE_GELU_SIGMOID };
enum { GANZ_RECIPE_BIAS_NONE, GANZ_RECIPE_BIAS_QO, GANZ_RECIPE_BIAS_ALL };
enum { GANZ_RECIPE_POSITIONS_T2T, GANZ_RECIPE_POSITIONS_HALF };
enum { GANZ_RECIPE_TABLES_ONE, GANZ_RECIPE_TABLES_SOURCE, GANZ_RECIPE_TABLES_OUTPUT, GANZ_RECIPE_TABLES_THREE };
enum { GANZ_OPTIMIZER_ADAFACTOR, GANZ_OPTIMIZER_ADAM };
enum { GANZ_BATCH_PACKED, GANZ_BATCH_SENTENCES };
enum { GANZ_METHOD_LEARNED, GANZ_METHOD_MAX, GANZ_METHOD_KL, GANZ_METHOD_CLIP, GANZ_METHOD_DYNAMIC, GANZ_METHOD_FIT };
enum { GANZ_PRODUCTS_ALL, GANZ_PRODUCTS_DENSE };
enum { GANZ_WEIGHT_RANGE_AUTO, GANZ_WEIGHT_RANGE_MAX, GANZ_WEIGHT_RANGE_FIT, GANZ_WEIGHT_RANGE_LEARNED };
enum { GANZ_LEARN_FROM_AUTO, GANZ_LEARN_FROM_CORPUS, GANZ_LEARN_FROM_MODEL };
enum { GANZ_PRECISION_AUTO, GANZ_PRECISION_FP32, GANZ_PRECISION_TF32, GANZ_PRECISION_BF16 };
enum { GANZ_SCHEDULE_OWN, GANZ_SCHEDULE_WEIGHTS };
enum { GANZ_KEEP_BETTER, GANZ_KEEP_LEARNED };
enum { GANZ_EXCEPTIONS_BYTES = 4096, GANZ_VALUE_BYTES = GANZ_EXCEPTIONS_BYTES }; /* of a value as text, at most */

/* What each means is said in the table (recipe.c, or `ganz train --help`). */
typedef struct ganz_recipe {
    /* the network */
    long long width, ffn, heads, encoder_layers, decoder_layers;
    long long norm;       /* GANZ_RECIPE_NORM_* */
    long long activation; /* GANZ_RECIPE_* */
    double norm_epsilon;
    long long attention_bias; /* GANZ_RECIPE_BIAS_* */
    long long positions;      /* GANZ_RECIPE_POSITIONS_* */
    long long first_position;
    double embedding_scale;
    long long tables; /* GANZ_RECIPE_TABLES_* */
    bool logits_bias, start_vector, target_space;
    /* what keeps it from learning by heart */
    double dropout, dropout_relu, dropout_attention, label_smoothing;
    /* how it learns */
    long long optimizer; /* GANZ_OPTIMIZER_* */
    double learning_rate;
    long long warmup, decay_start;
    double cooldown;
    double adam_beta1, adam_beta2, adam_epsilon;
    long long learn_from; /* GANZ_LEARN_FROM_* */
    /* a step */
    long long batch; /* GANZ_BATCH_* */
    long long rows, slots, batch_tokens;
    bool zero_start;
    long long mean_rows, mask_rows;
    long long parts;
    long long micro_tokens;
    long long precision; /* GANZ_PRECISION_* */
    long long seed;
    /* the run */
    long long steps;
    double time; /* seconds */
    long long log_every, validate_every, save_every, patience;
    long long average_last;
    double average_decay;
    long long bleu_sentences, beam;
    double alpha;
    /* integers */
    long long method;                                                        /* GANZ_METHOD_* */
    long long bits, weight_bits, activation_bits, attention_bits, bias_bits; /* all but the first: 0 is as `bits` */
    long long products;                                                      /* GANZ_PRODUCTS_* */
    char exceptions[GANZ_EXCEPTIONS_BYTES];                                  /* as in ganz_calibration; "": none */
    bool power_of_two, per_row, float_lookup, drop_first;
    long long weight_range; /* GANZ_WEIGHT_RANGE_* */
    double row_rate;        /* of the learned scales of weights, in octaves */
    long long phases;       /* set of numbers, a bit for each; 1 (no number): joint */
    long long steps_per_phase, measure_batches, first_step;
    double rate_factor, phase_cooldown, phase_average;
    long long scale_optimizer; /* GANZ_OPTIMIZER_* */
    double scale_rate;
    long long scale_schedule; /* GANZ_SCHEDULE_* */
    bool only_tuned;
    long long keep; /* GANZ_KEEP_* */
    double clip[2]; /* ranges at the beginning and at the end */
} ganz_recipe;

typedef enum ganz_setting_kind {
    GANZ_SETTING_INT,    /* long long */
    GANZ_SETTING_REAL,   /* double */
    GANZ_SETTING_TIME,   /* double: seconds; written 90, 90s, 10m, 2h or 1d */
    GANZ_SETTING_CHOICE, /* long long: place of the word among `choices` */
    GANZ_SETTING_FLAG,   /* bool: true or false */
    GANZ_SETTING_SET,    /* long long: bits of the numbers in a text like 1-3,5, or 1 for the word of `choices` */
    GANZ_SETTING_PAIR,   /* double[2]: written A:B, or A where both are the same */
    GANZ_SETTING_RULES   /* char[GANZ_EXCEPTIONS_BYTES]: rules of products by name, see docs/FORMAT.md */
} ganz_setting_kind;

/* Which commands a setting is an option of. */
typedef enum ganz_setting_use { GANZ_USE_BOTH, GANZ_USE_TRAIN, GANZ_USE_QUANTIZE } ganz_setting_use;

typedef struct ganz_setting {
    const char *name; /* as in a file and, after two dashes, as an option */
    ganz_setting_kind kind;
    size_t offset; /* in ganz_recipe */
    double min, max;
    const char *choices;  /* words between "|" */
    const char *standard; /* the default */
    bool fixed;           /* the same for a whole run, resumed or not */
    ganz_setting_use use;
    const char *help;
    bool quiet;   /* files do not note it while it has its default: they are older than it */
    bool network; /* it is about the network: a model that training goes on with has its own */
} ganz_setting;

/* The table, in the order of the struct. */
GANZ_API const ganz_setting *ganz_recipe_table(int *count);

/* Transformer Base as Tensor2Tensor trains it. */
GANZ_API void ganz_recipe_defaults(ganz_recipe *recipe);

/* Sets one by its name; GANZ_EINVAL with a sentence for an unknown name or a value that is none. */
GANZ_API ganz_status ganz_recipe_set(ganz_recipe *recipe, const char *name, const char *value, ganz_error *err);
/* Value of one as text that ganz_recipe_set takes back exactly. */
GANZ_API void ganz_recipe_get(const ganz_recipe *recipe, const ganz_setting *setting, char text[GANZ_VALUE_BYTES]);

/* Reads a file of "name: value" lines (YAML) over what is in *recipe. A bare word (no "/", no ".") names one of the
 * recipes that are built in: base, base-quick, big, big-quick, few-bits, paper, paper-base, paper-big, small, text,
 * tiny. */
GANZ_API ganz_status ganz_recipe_read(ganz_recipe *recipe, const char *path, ganz_error *err);
/* The same from memory; `name` is for messages. */
GANZ_API ganz_status ganz_recipe_parse(ganz_recipe *recipe, const char *text, size_t bytes, const char *name,
                                       ganz_error *err);
/* Settings that do not go together. */
GANZ_API ganz_status ganz_recipe_check(const ganz_recipe *recipe, ganz_error *err);

#ifdef __cplusplus
}
#endif
#endif
