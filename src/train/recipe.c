/* The table of settings, and values from text and back. Files: recipe_file.c. */
#include "ganz/recipe.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/surroundings.h"
#include "nn/scheme.h"

#define ROW(field, name, kind, min, max, choices, standard, fixed, use, help)                                        \
    {                                                                                                                \
        name, GANZ_SETTING_##kind, offsetof(ganz_recipe, field), min, max, choices, standard, fixed, GANZ_USE_##use, \
            help, false, false                                                                                       \
    }
/* Of the network. */
#define SIZE(field, name, min, max, standard, help)                                                                 \
    {                                                                                                               \
        name, GANZ_SETTING_INT, offsetof(ganz_recipe, field), min, max, NULL, standard, true, GANZ_USE_TRAIN, help, \
            false, true                                                                                             \
    }
/* Of the network, younger than version 1 of model files. */
#define KIND(field, name, kind, min, max, choices, standard, help)                                                  \
    {                                                                                                               \
        name, GANZ_SETTING_##kind, offsetof(ganz_recipe, field), min, max, choices, standard, true, GANZ_USE_TRAIN, \
            help, true, true                                                                                        \
    }
/* Settings that are younger than most files. */
#define LATER(field, name, kind, max, choices, standard, fixed, use, help)                                         \
    {                                                                                                              \
        name, GANZ_SETTING_##kind, offsetof(ganz_recipe, field), 0, max, choices, standard, fixed, GANZ_USE_##use, \
            help, true, false                                                                                      \
    }
#define INT(field, name, min, max, standard, use, help) \
    ROW(field, name, INT, min, max, NULL, standard, false, use, help)
#define SHAPE(field, name, min, max, standard, use, help) /* decides what a checkpoint means */ \
    ROW(field, name, INT, min, max, NULL, standard, true, use, help)
#define REAL(field, name, min, max, standard, use, help) \
    ROW(field, name, REAL, min, max, NULL, standard, false, use, help)
#define CHOICE(field, name, choices, standard, fixed, use, help) \
    ROW(field, name, CHOICE, 0, 0, choices, standard, fixed, use, help)
#define FLAG(field, name, standard, fixed, use, help) ROW(field, name, FLAG, 0, 0, NULL, standard, fixed, use, help)

static const ganz_setting table[] = {
    SIZE(width, "width", 8, 8192, "512", "width of the residual stream"),
    SIZE(ffn, "ffn", 8, 65536, "2048", "width inside the feed-forward layers"),
    SIZE(heads, "heads", 1, 256, "8", "attention heads; divides the width"),
    SIZE(encoder_layers, "encoder-layers", 1, 64, "6", "layers of the encoder"),
    SIZE(decoder_layers, "decoder-layers", 1, 64, "6", "layers of the decoder"),

    KIND(norm, "norm", CHOICE, 0, 0, "pre|post", "pre", "layer norm before or after each sublayer"),
    KIND(activation, "activation", CHOICE, 0, 0, "relu|swish|gelu|gelu-sigmoid", "relu",
         "inside the feed-forward layers"),
    KIND(norm_epsilon, "norm-epsilon", REAL, 1e-12, 1, NULL, "1e-06", "added to the variance in layer norms"),
    KIND(attention_bias, "attention-bias", CHOICE, 0, 0, "none|qo|all", "none",
         "biases of the projections of attention: none, of queries and outputs, or all"),
    KIND(positions, "positions", CHOICE, 0, 0, "t2t|half", "t2t",
         "frequencies of the timing signal: 10000^(-i/(width/2-1)), or 10000^(-i/(width/2))"),
    KIND(first_position, "first-position", INT, 0, 16, NULL, "0", "number of the first token's position"),
    KIND(embedding_scale, "embedding-scale", REAL, 0, 1000000, NULL, "0",
         "factor of embeddings; 0: the root of the width"),
    KIND(tables, "tables", CHOICE, 0, 0, "one|source|output|three", "one",
         "of embeddings: one; another one for the source, or for the output; or three"),
    KIND(logits_bias, "logits-bias", FLAG, 0, 0, NULL, "false", "a bias for each word of the output"),
    KIND(start_vector, "start-vector", FLAG, 0, 0, NULL, "false",
         "the decoder begins with a learned vector, not zeros"),
    KIND(target_space, "target-space", FLAG, 0, 0, NULL, "true",
         "a learned vector is added to all inputs of the encoder"),

    REAL(dropout, "dropout", 0, 0.9, "0.1", BOTH, "dropout of embeddings and residual branches"),
    REAL(dropout_relu, "dropout-relu", 0, 0.9, "0.1", BOTH, "dropout inside the feed-forward layers"),
    REAL(dropout_attention, "dropout-attention", 0, 0.9, "0.1", BOTH, "dropout of attention weights"),
    REAL(label_smoothing, "label-smoothing", 0, 0.9, "0.1", BOTH, "probability spread over the wrong words"),

    CHOICE(optimizer, "optimizer", "adafactor|adam", "adafactor", true, BOTH, "how gradients become updates"),
    REAL(learning_rate, "learning-rate", 0, 1000, "1", BOTH, "factor of the rate 1/sqrt(max(step, decay-start))"),
    INT(warmup, "warmup", 0, 100000000, "0", TRAIN, "steps over which the rate rises from 0"),
    INT(decay_start, "decay-start", 1, 100000000, "10000", BOTH, "step up to which the rate stays flat"),
    REAL(cooldown, "cooldown", 0, 1, "0", TRAIN, "last part of the run over which the rate falls to 0"),
    REAL(adam_beta1, "adam-beta1", 0, 0.99999, "0.9", BOTH, "Adam: decay of the first moment"),
    REAL(adam_beta2, "adam-beta2", 0, 0.9999999, "0.98", BOTH, "Adam: decay of the second moment"),
    REAL(adam_epsilon, "adam-epsilon", 1e-30, 1, "1e-9", BOTH, "Adam: added to the root of the second moment"),

    CHOICE(learn_from, "learn-from", "auto|corpus|model", "auto", true, BOTH,
           "what is right: the corpus, or what a model believes; auto: the corpus to train, the model to quantize"),
    CHOICE(batch, "batch", "packed|sentences", "packed", true, BOTH, "packed rows, or sentences of like length"),
    SHAPE(rows, "rows", 1, 65536, "64", BOTH, "packed: rows of a step"),
    SHAPE(slots, "slots", 4, 4096, "256", BOTH, "tokens of a packed row; longer sentences are left out"),
    SHAPE(batch_tokens, "batch-tokens", 4, 16777216, "16384", BOTH, "sentences: most tokens of a step on either side"),
    FLAG(zero_start, "zero-start", "false", true, BOTH, "packed: each sentence starts alone, as in translation"),
    LATER(mean_rows, "mean-rows", INT, 65536, NULL, "0", true, BOTH,
          "packed: rows with a mean loss of their own, whose mean counts; 0: one mean over all tokens"),
    LATER(mask_rows, "mask-rows", INT, 65536, NULL, "0", true, BOTH,
          "packed: most rows that share dropout masks of attention; 0: all computed at a time"),
    LATER(parts, "parts", INT, 1024, NULL, "1", true, BOTH,
          "parts of a step, a power of two: so many machines at most can share it; see docs/SCALE.md"),
    INT(micro_tokens, "micro-tokens", 0, 16777216, "0", BOTH,
        "tokens computed at a time; 0: 4096 on a CPU, 16384 on a GPU"),
    CHOICE(precision, "precision", "auto|fp32|tf32|bf16", "auto", false, BOTH,
           "of products; auto: bf16 on a GPU, else fp32"),
    SHAPE(seed, "seed", 0, 9007199254740992, "1", BOTH, "of everything random"),

    INT(steps, "steps", 0, 1000000000, "300000", TRAIN, "length of the run; 0: no limit"),
    ROW(time, "time", TIME, 0, 1e9, NULL, "0", false, TRAIN, "longest time of the run (90s, 10m, 2h); 0: no limit"),
    INT(log_every, "log-every", 1, 1000000, "100", BOTH, "steps between lines of log.tsv"),
    INT(validate_every, "validate-every", 0, 1000000000, "1000", BOTH, "steps between validations; 0: only at the end"),
    INT(save_every, "save-every", 0, 1000000000, "1000", BOTH, "steps between checkpoints; 0: only at the end"),
    INT(patience, "patience", 0, 1000000, "0", TRAIN, "stop after so many validations without a better one; 0: never"),
    INT(average_last, "average-last", 0, 1000, "0", TRAIN, "average the models of the last checkpoints; 0: off"),
    REAL(average_decay, "average-decay", 0, 0.9999999, "0", TRAIN, "keep a running average with this decay; 0: off"),
    INT(bleu_sentences, "bleu-sentences", 0, 1000000000, "1000000", BOTH,
        "validation: most sentences translated for BLEU"),
    INT(beam, "beam", 1, 64, "4", BOTH, "validation: width of the beam"),
    REAL(alpha, "alpha", 0, 10, "0.6", BOTH, "validation: length penalty"),

    CHOICE(method, "method", "learned|max|kl|clip|dynamic|fit", "learned", true, QUANTIZE, "how steps are found"),
    SHAPE(bits, "bits", 2, 8, "8", QUANTIZE, "width of all codes"),
    SHAPE(weight_bits, "weight-bits", 0, 8, "0", QUANTIZE, "of weights; 0: as bits"),
    SHAPE(activation_bits, "activation-bits", 0, 8, "0", QUANTIZE, "of inputs, queries, keys and values; 0: as bits"),
    SHAPE(attention_bits, "attention-bits", 0, 8, "0", QUANTIZE, "of attention weights; 0: as bits"),
    SHAPE(bias_bits, "bias-bits", 0, 32, "0", QUANTIZE, "of biases; 0: as bits, 32: they stay float"),
    CHOICE(products, "products", "all|dense", "all", true, QUANTIZE,
           "made integer; dense: attention stays float; as an option also a FILE of exceptions"),
    LATER(exceptions, "exceptions", RULES, 0, NULL, "", true, QUANTIZE,
          "products that are rounded otherwise, by name, as 'logits: weights=8; *.ffn.out: product=float'"),
    FLAG(power_of_two, "power-of-two", "false", true, QUANTIZE, "steps are powers of two"),
    FLAG(per_row, "per-row", "false", true, QUANTIZE, "a step for each output of a weight, instead of one for all"),
    CHOICE(weight_range, "weight-range", "auto|max|fit|learned", "auto", true, QUANTIZE,
           "of a weight: its largest, what rounds it best, or by learning; auto: fit below 8 bits, per row below 5"),
    LATER(row_rate, "row-rate", REAL, 10, NULL, "0.005", false, QUANTIZE,
          "weight-range learned: rate of the steps of weights, in octaves"),
    FLAG(float_lookup, "float-lookup", "false", true, QUANTIZE,
         "embeddings are looked up in a float table of their own"),
    FLAG(drop_first, "drop-first", "false", true, QUANTIZE, "round what dropout has scaled, instead of dropping codes"),
    ROW(phases, "phases", SET, 1, 6, "joint", "1-6", false, QUANTIZE,
        "phases of learning, like 1-3 or 1,2,3; joint: steps and parameters together after phase 2"),
    INT(steps_per_phase, "steps-per-phase", 0, 100000000, "0", QUANTIZE,
        "length of a phase; 0: once through the corpus"),
    INT(measure_batches, "measure-batches", 0, 100000000, "0", QUANTIZE, "length of phase 2; 0: as the others"),
    INT(first_step, "first-step", 0, 1000000000, "0", QUANTIZE, "step of the schedule to go on from; 0: the model's"),
    REAL(rate_factor, "rate-factor", 0, 100, "0", QUANTIZE,
         "factor of the rate of weights; 0: by bits after a cooldown, else 1"),
    REAL(phase_cooldown, "phase-cooldown", 0, 1, "0.5", QUANTIZE,
         "last part of each phase over which its rate falls to 0"),
    REAL(phase_average, "phase-average", 0, 0.9999999, "0.999", QUANTIZE,
         "decay of the running average of a phase; 0: none"),
    CHOICE(scale_optimizer, "step-optimizer", "adafactor|adam", "adam", true, QUANTIZE, "how steps are learned"),
    REAL(scale_rate, "step-rate", 0, 10, "0", QUANTIZE,
         "rate of the steps; 0: by bits, 0.009 for 8, or 0.002 for Adafactor"),
    LATER(scale_schedule, "step-schedule", CHOICE, 0, "own|weights", "own", true, QUANTIZE,
          "rate of the steps: their own, or the schedule's, without rate-factor, with its step number"),
    LATER(only_tuned, "only-tuned", FLAG, 0, NULL, "false", false, QUANTIZE,
          "the model before fine-tuning is no candidate for the best"),
    LATER(keep, "keep", CHOICE, 0, "better|learned", "better", false, QUANTIZE,
          "the better one of the learned and a calibrated model, or the learned"),
    ROW(clip, "clip", PAIR, 0.001, 1000, NULL, "2", false, QUANTIZE,
        "clip: range, or FROM:TO to narrow it in training"),
};

const ganz_setting *ganz_recipe_table(int *count)
{
    *count = (int)GANZ_COUNT(table);
    return table;
}

static const ganz_setting *find(const char *name)
{
    for (size_t i = 0; i < GANZ_COUNT(table); i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}

/* Place of a word in "a|b|c", or -1. */
static int choice_place(const char *choices, const char *word)
{
    const size_t n = strlen(word);
    int place = 0;
    for (const char *at = choices; n > 0; place++) {
        if (strncmp(at, word, n) == 0 && (at[n] == '|' || at[n] == '\0')) return place;
        at = strchr(at, '|');
        if (!at) break;
        at++;
    }
    return -1;
}

static ganz_status fail_range(const ganz_setting *s, const char *value, ganz_error *err)
{
    return ganz_fail(err, GANZ_EINVAL, "%s must be %.10g to %.10g, not %s", s->name, s->min, s->max, value);
}

static ganz_status set_int(const ganz_setting *s, const char *value, long long *to, ganz_error *err)
{
    char *end;
    errno = 0;
    const long long number = strtoll(value, &end, 10);
    if (end == value || *end || errno || isspace((unsigned char)value[0]))
        return ganz_fail(err, GANZ_EINVAL, "%s needs a whole number, not %s", s->name, value);
    if ((double)number < s->min || (double)number > s->max) return fail_range(s, value, err);
    *to = number;
    return GANZ_OK;
}

/* Seconds of a unit; 0 for a letter that is none. */
static double unit_seconds(char letter)
{
    return letter == 's' ? 1 : letter == 'm' ? 60 : letter == 'h' ? 3600 : letter == 'd' ? 86400 : 0;
}

static ganz_status set_real(const ganz_setting *s, const char *value, double *to, ganz_error *err)
{
    char *end;
    double number = strtod(value, &end);
    bool good = end != value && !isspace((unsigned char)value[0]) && isfinite(number);
    if (good && *end && s->kind == GANZ_SETTING_TIME && unit_seconds(*end) > 0) number *= unit_seconds(*end++);
    good = good && *end == '\0';
    const char *const what = s->kind == GANZ_SETTING_TIME ? "time like 90s, 10m or 2h" : "number";
    if (!good) return ganz_fail(err, GANZ_EINVAL, "%s needs a %s, not %s", s->name, what, value);
    if (number < s->min || number > s->max) return fail_range(s, value, err);
    *to = number;
    return GANZ_OK;
}

/* "1-3,5": numbers and ranges from min to max. */
static ganz_status set_set(const ganz_setting *s, const char *value, long long *to, ganz_error *err)
{
    long long set = 0;
    const char *at = value;
    bool good = *at != '\0';
    if (s->choices && strcmp(value, s->choices) == 0) {
        *to = 1;
        return GANZ_OK;
    }
    while (good && *at) {
        char *end;
        const long first = isdigit((unsigned char)*at) ? strtol(at, &end, 10) : -1;
        long last = first;
        if (first >= 0 && *end == '-' && isdigit((unsigned char)end[1])) last = strtol(end + 1, &end, 10);
        good =
            first >= (long)s->min && last <= (long)s->max && first <= last && (*end == '\0' || (*end == ',' && end[1]));
        for (long i = first; good && i <= last; i++) set |= 1LL << i;
        if (good) at = *end ? end + 1 : end;
    }
    if (!good)
        return ganz_fail(err, GANZ_EINVAL, "%s are numbers from %g to %g like 1-3 or 1,2,5, not %s", s->name, s->min,
                         s->max, value);
    *to = set;
    return GANZ_OK;
}

static ganz_status check_rules(const char *text, ganz_error *err)
{
    ganz_error why;
    ganz_scheme scheme = {0};
    if (ganz_scheme_parse(&scheme, text, &why) == GANZ_OK) {
        if (!ganz_scheme_has_columns(&scheme)) return GANZ_OK;
        return ganz_fail(err, GANZ_EINVAL,
                         "exceptions: columns=own is not learned: --columns of a calibration makes it");
    }
    return ganz_fail(err, GANZ_EINVAL, "exceptions: %s", why.message);
}

static ganz_status set_rules(const char *value, char to[GANZ_EXCEPTIONS_BYTES], ganz_error *err)
{
    GANZ_TRY(check_rules(value, err));
    memset(to, 0, GANZ_EXCEPTIONS_BYTES); /* recipes are compared as bytes */
    memcpy(to, value, strlen(value));
    return GANZ_OK;
}

/* "A:B" or "A". */
static ganz_status set_pair(const ganz_setting *s, const char *value, double to[2], ganz_error *err)
{
    double pair[2];
    char *end;
    pair[0] = pair[1] = strtod(value, &end);
    bool good = end != value && !isspace((unsigned char)value[0]);
    if (good && *end == ':') {
        const char *const second = end + 1;
        pair[1] = strtod(second, &end);
        good = end != second && !isspace((unsigned char)*second);
    }
    if (!good || *end) return ganz_fail(err, GANZ_EINVAL, "%s needs a number, or two like 8:1, not %s", s->name, value);
    for (int i = 0; i < 2; i++)
        if (!(pair[i] >= s->min && pair[i] <= s->max)) return fail_range(s, value, err);
    memcpy(to, pair, sizeof pair);
    return GANZ_OK;
}

static ganz_status set_value(ganz_recipe *recipe, const ganz_setting *s, const char *value, ganz_error *err)
{
    void *const to = (char *)recipe + s->offset;
    switch (s->kind) {
    case GANZ_SETTING_INT: return set_int(s, value, to, err);
    case GANZ_SETTING_REAL:
    case GANZ_SETTING_TIME: return set_real(s, value, to, err);
    case GANZ_SETTING_CHOICE: {
        const int place = choice_place(s->choices, value);
        if (place < 0) return ganz_fail(err, GANZ_EINVAL, "%s is one of %s, not %s", s->name, s->choices, value);
        *(long long *)to = place;
        return GANZ_OK;
    }
    case GANZ_SETTING_FLAG:
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
            return ganz_fail(err, GANZ_EINVAL, "%s is true or false, not %s", s->name, value);
        *(bool *)to = value[0] == 't';
        return GANZ_OK;
    case GANZ_SETTING_SET: return set_set(s, value, to, err);
    case GANZ_SETTING_PAIR: return set_pair(s, value, to, err);
    case GANZ_SETTING_RULES: return set_rules(value, to, err);
    }
    return GANZ_OK;
}

ganz_status ganz_recipe_set(ganz_recipe *recipe, const char *name, const char *value, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    const ganz_setting *const s = find(name);
    if (!s) return ganz_fail(err, GANZ_EINVAL, "no setting is named %s", name);
    return set_value(recipe, s, value, err);
}

void ganz_recipe_defaults(ganz_recipe *recipe)
{
    GANZ_PLAIN_NUMBERS;
    *recipe = (ganz_recipe){0};
    for (size_t i = 0; i < GANZ_COUNT(table); i++) {
        const ganz_status status = set_value(recipe, &table[i], table[i].standard, NULL);
        GANZ_ASSERT(status == GANZ_OK);
        (void)status;
    }
}

/* The shortest text that reads back as the same number. */
static void print_real(double number, char text[32])
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, number);
        if (strtod(text, NULL) == number) return;
    }
}

/* Ranges where numbers follow each other. */
static void print_set(long long set, const char *word, char text[32])
{
    int n = 0;
    text[0] = '\0';
    if (set == 1 && word) n = snprintf(text, 32, "%s", word);
    if (n > 0) return;
    for (int i = 0; i < 63 && n < 24; i++) {
        if (!(set >> i & 1)) continue;
        int last = i;
        while (last < 62 && set >> (last + 1) & 1) last++;
        n += snprintf(text + n, 32 - (size_t)n, last > i ? "%s%d-%d" : "%s%d", n ? "," : "", i, last);
        i = last;
    }
}

static void print_pair(const double pair[2], char text[GANZ_VALUE_BYTES])
{
    char first[32], second[32];
    print_real(pair[0], first);
    print_real(pair[1], second);
    if (pair[0] == pair[1]) snprintf(text, 32, "%s", first);
    else snprintf(text, GANZ_VALUE_BYTES, "%s:%s", first, second);
}

/* Another process may have sent the number: one that is no choice is a question mark. */
static void print_choice(long long number, const char *word, char text[32])
{
    for (; number > 0 && word; number--) {
        word = strchr(word, '|');
        if (word) word++;
    }
    if (number < 0 || !word) word = "?";
    snprintf(text, 32, "%.*s", (int)strcspn(word, "|"), word);
}

void ganz_recipe_get(const ganz_recipe *recipe, const ganz_setting *s, char text[GANZ_VALUE_BYTES])
{
    GANZ_PLAIN_NUMBERS;
    const void *const from = (const char *)recipe + s->offset;
    switch (s->kind) {
    case GANZ_SETTING_INT: snprintf(text, 32, "%lld", *(const long long *)from); break;
    case GANZ_SETTING_REAL:
    case GANZ_SETTING_TIME: print_real(*(const double *)from, text); break;
    case GANZ_SETTING_SET: print_set(*(const long long *)from, s->choices, text); break;
    case GANZ_SETTING_PAIR: print_pair(from, text); break;
    case GANZ_SETTING_RULES:
        snprintf(text, GANZ_VALUE_BYTES, "%.*s", GANZ_EXCEPTIONS_BYTES - 1, (const char *)from);
        break;
    case GANZ_SETTING_FLAG: snprintf(text, 32, "%s", *(const unsigned char *)from ? "true" : "false"); break;
    case GANZ_SETTING_CHOICE: print_choice(*(const long long *)from, s->choices, text); break;
    }
}

static ganz_status check_bits(const ganz_recipe *r, ganz_error *err)
{
    const long long all[] = {r->weight_bits, r->activation_bits, r->attention_bits, r->bias_bits};
    for (size_t i = 0; i < GANZ_COUNT(all); i++)
        if (all[i] == 1) return ganz_fail(err, GANZ_EINVAL, "codes need at least 2 bits");
    if (r->bias_bits <= 8 || r->bias_bits == 32) return GANZ_OK;
    return ganz_fail(err, GANZ_EINVAL, "bias-bits is at most 8, or 32 for float, not %lld", r->bias_bits);
}

ganz_status ganz_recipe_check(const ganz_recipe *r, ganz_error *err)
{
    if (r->width % r->heads)
        return ganz_fail(err, GANZ_EINVAL, "width %lld cannot be divided among %lld heads", r->width, r->heads);
    if (r->steps == 0 && r->time == 0 && r->patience == 0)
        return ganz_fail(err, GANZ_EINVAL, "a run needs an end: steps, time or patience");
    if (r->cooldown > 0 && r->steps == 0 && r->time == 0)
        return ganz_fail(err, GANZ_EINVAL, "a cooldown needs a known end: steps or time");
    if (r->patience > 0 && r->validate_every == 0)
        return ganz_fail(err, GANZ_EINVAL, "patience needs validations: validate-every");
    if (r->average_last > 0 && r->save_every == 0)
        return ganz_fail(err, GANZ_EINVAL, "an average of the last checkpoints needs some: save-every");
    if (r->average_last > 0 && r->steps > 0 && r->steps < r->save_every)
        return ganz_fail(err, GANZ_EINVAL,
                         "an average of the last checkpoints needs some, but save-every %lld is beyond the %lld steps",
                         r->save_every, r->steps);
    if (r->weight_range != GANZ_WEIGHT_RANGE_AUTO &&
        (r->method == GANZ_METHOD_CLIP || r->method == GANZ_METHOD_DYNAMIC))
        return ganz_fail(
            err, GANZ_EINVAL,
            "weight-range goes with the methods learned, max, kl and fit: clip and dynamic have their own");
    if (r->weight_range == GANZ_WEIGHT_RANGE_LEARNED &&
        (r->method != GANZ_METHOD_LEARNED || !r->per_row || r->power_of_two))
        return ganz_fail(err, GANZ_EINVAL,
                         "weight-range learned goes with the method learned and per-row, and without power-of-two");
    if (r->batch == GANZ_BATCH_PACKED && r->micro_tokens > 0 && r->micro_tokens < r->slots)
        return ganz_fail(err, GANZ_EINVAL, "micro-tokens %lld holds not one row of %lld slots", r->micro_tokens,
                         r->slots);
    if (r->parts < 1 || (r->parts & (r->parts - 1)) != 0)
        return ganz_fail(err, GANZ_EINVAL, "parts is a power of two, not %lld", r->parts);
    if (memchr(r->exceptions, '\0', sizeof r->exceptions) == NULL)
        return ganz_fail(err, GANZ_EINVAL, "exceptions of more than %d letters", GANZ_EXCEPTIONS_BYTES - 1);
    GANZ_TRY(check_rules(r->exceptions, err));
    return check_bits(r, err);
}
