/* The settings of a recipe as options of a command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char *meta_of(const ganz_setting *setting)
{
    switch (setting->kind) {
    case GANZ_SETTING_INT: return "N";
    case GANZ_SETTING_REAL: return "X";
    case GANZ_SETTING_TIME: return "TIME";
    case GANZ_SETTING_FLAG: return "true|false";
    case GANZ_SETTING_SET: return "N,N-N|joint";
    case GANZ_SETTING_PAIR: return "X[:X]";
    case GANZ_SETTING_RULES: return "RULES";
    case GANZ_SETTING_CHOICE: break;
    }
    return setting->choices;
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (names && *names && strcmp(*names, name) != 0) names++;
    return names && *names;
}

/* Setting number i as an option. */
static cli_option option_of(cli_settings *s, const ganz_setting *setting, int i)
{
    const bool plain = setting->use == GANZ_USE_QUANTIZE && setting->kind == GANZ_SETTING_FLAG;
    snprintf(s->help[i], sizeof s->help[i], "%s [%s]", setting->help, setting->standard);
    return (cli_option){.name = setting->name,
                        .kind = plain ? CLI_SWITCH : CLI_TEXT,
                        .value = &s->given[i],
                        .meta = meta_of(setting),
                        .help = plain ? setting->help : s->help[i]};
}

int cli_settings_open(cli_settings *s, const cli_option *own, ganz_setting_use use, const char *const *without)
{
    int count, used = 0;
    const ganz_setting *const table = ganz_recipe_table(&count);
    while (own[used].name) used++;
    s->given = calloc((size_t)count, sizeof *s->given);
    s->help = calloc((size_t)count, sizeof *s->help);
    s->options = calloc((size_t)(used + count) + 1, sizeof *s->options);
    if (!s->given || !s->help || !s->options) {
        fputs("ganz: out of memory for the options\n", stderr);
        return CLI_FAILED;
    }
    memcpy(s->options, own, (size_t)used * sizeof *own);
    for (int i = 0; i < count; i++) {
        if ((table[i].use != GANZ_USE_BOTH && table[i].use != use) || is_one_of(table[i].name, without)) continue;
        s->options[used++] = option_of(s, &table[i], i);
    }
    return -1;
}

void cli_settings_close(cli_settings *s)
{
    free(s->given);
    free(s->help);
    free(s->options);
    *s = (cli_settings){0};
}

const char **cli_settings_value(cli_settings *s, const char *name)
{
    int count, place = 0;
    const ganz_setting *const table = ganz_recipe_table(&count);
    while (place + 1 < count && strcmp(table[place].name, name) != 0) place++;
    return &s->given[place];
}

bool cli_settings_given(const cli_settings *s, const char *name)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    for (int i = 0; i < count; i++)
        if (strcmp(table[i].name, name) == 0) return s->given[i] != NULL;
    return false;
}

int cli_settings_apply(const cli_command *command, const cli_settings *s, ganz_recipe *recipe)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    for (int i = 0; i < count; i++) {
        ganz_error err;
        if (s->given[i] && ganz_recipe_set(recipe, table[i].name, s->given[i], &err) != GANZ_OK)
            return cli_usage(command, "--%s", err.message);
    }
    return -1;
}

/* ---- settings that need company ------------------------------------------------------------------- */

/* What a setting needs to mean anything, by the words a message names it with. */
typedef enum company { ADAM, PACKED, SENTENCES, VALIDATION, CORPUS, LEARNED, OWN, ROWS, CLIP, ALL, NEEDS } company;

static const char *const need_words[NEEDS] = {
    [ADAM] = "--optimizer adam",       [PACKED] = "--batch packed",      [SENTENCES] = "--batch sentences",
    [VALIDATION] = "--valid-source",   [CORPUS] = "--learn-from corpus", [LEARNED] = "--method learned",
    [ROWS] = "--weight-range learned", [CLIP] = "--method clip",         [OWN] = "--step-schedule own",
    [ALL] = "--products all",
};

static const struct {
    const char *name;
    company need;
    bool quantize; /* in quantization only */
} needs[] = {
    {"adam-beta1", ADAM, false},       {"adam-beta2", ADAM, false},        {"adam-epsilon", ADAM, false},
    {"rows", PACKED, false},           {"zero-start", PACKED, false},      {"mean-rows", PACKED, false},
    {"mask-rows", PACKED, false},      {"batch-tokens", SENTENCES, false}, {"bleu-sentences", VALIDATION, false},
    {"beam", VALIDATION, false},       {"alpha", VALIDATION, false},       {"label-smoothing", CORPUS, false},
    {"dropout", CORPUS, true},         {"dropout-relu", CORPUS, true},     {"dropout-attention", CORPUS, true},
    {"drop-first", CORPUS, true},      {"phases", LEARNED, true},          {"measure-batches", LEARNED, true},
    {"step-optimizer", LEARNED, true}, {"step-rate", LEARNED, true},       {"step-schedule", LEARNED, true},
    {"only-tuned", LEARNED, true},     {"row-rate", ROWS, true},           {"clip", CLIP, true},
    {"step-rate", OWN, true},          {"attention-bits", ALL, true},
};

/* Settings of an integer model that is measured, not learned. */
static const char *const measured[] = {
    "method",       "bits",    "weight-bits",  "activation-bits", "attention-bits", "bias-bits",  "products",
    "power-of-two", "per-row", "weight-range", "float-lookup",    "clip",           "exceptions", NULL};

static bool is_met(company need, const ganz_train_options *o)
{
    const ganz_recipe *const r = &o->recipe;
    const bool taught =
        r->learn_from == GANZ_LEARN_FROM_MODEL || (r->learn_from == GANZ_LEARN_FROM_AUTO && o->quantize);
    switch (need) {
    case ADAM: return r->optimizer == GANZ_OPTIMIZER_ADAM;
    case PACKED: return r->batch == GANZ_BATCH_PACKED;
    case SENTENCES: return r->batch == GANZ_BATCH_SENTENCES;
    case VALIDATION: return o->valid_source != NULL;
    case CORPUS: return !taught;
    case LEARNED: return r->method == GANZ_METHOD_LEARNED;
    case OWN: return r->scale_schedule == GANZ_SCHEDULE_OWN;
    case ALL: return r->products == GANZ_PRODUCTS_ALL;
    case ROWS: return r->weight_range == GANZ_WEIGHT_RANGE_LEARNED;
    case CLIP: return r->method == GANZ_METHOD_CLIP;
    case NEEDS: break;
    }
    return true;
}

int cli_settings_check(const cli_command *command, const cli_settings *s, const ganz_train_options *options)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    for (int i = 0; i < count && options->quantize && !options->train; i++)
        if (s->given[i] && !is_one_of(table[i].name, measured))
            return cli_usage(command, "--%s goes with --train: without it nothing is learned", table[i].name);
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (cli_settings_given(s, needs[i].name) && (options->quantize || !needs[i].quantize) &&
            !is_met(needs[i].need, options))
            return cli_usage(command, "--%s goes with %s: here it would change nothing", needs[i].name,
                             need_words[needs[i].need]);
    return -1;
}

void cli_settings_print(const ganz_recipe *recipe)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    for (int i = 0; i < count; i++) {
        char text[GANZ_VALUE_BYTES];
        ganz_recipe_get(recipe, &table[i], text);
        printf("%s: %s\n", table[i].name, text);
    }
}
