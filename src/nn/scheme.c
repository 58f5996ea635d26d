/* Rules by name, and exceptions as text: one table of words serves both directions. */
#include "nn/scheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields of a rule in their order, and what they are called: a number of bits, or one of a few words. */
static const struct {
    const char *name, *words[4]; /* words: of the values 0, 1, 2, 3; none: a number of bits */
} fields[GANZ_RULE_FIELDS] = {{"product", {"float", "integer"}},
                              {"weights", {0}},
                              {"inputs", {0}},
                              {"attention", {0}},
                              {"biases", {0}},
                              {"steps", {"one", "rows"}},
                              {"powers", {"any", "two"}},
                              {"range", {"auto", "max", "fit", "learned"}},
                              {"columns", {"one", "own"}}};
enum { PRODUCT, WEIGHTS, INPUTS, ATTENTION, BIASES, STEPS, POWERS, RANGE, COLUMNS };

static void to_values(const ganz_rule *r, int value[GANZ_RULE_FIELDS])
{
    const int all[GANZ_RULE_FIELDS] = {r->integer, r->weight_bits,  r->input_bits,   r->attention_bits, r->bias_bits,
                                       r->per_row, r->power_of_two, r->weight_range, r->columns};
    memcpy(value, all, sizeof all);
}

static ganz_rule to_rule(const int value[GANZ_RULE_FIELDS])
{
    return (ganz_rule){.integer = value[PRODUCT],
                       .weight_bits = value[WEIGHTS],
                       .input_bits = value[INPUTS],
                       .attention_bits = value[ATTENTION],
                       .bias_bits = value[BIASES],
                       .per_row = value[STEPS],
                       .power_of_two = value[POWERS],
                       .weight_range = value[RANGE],
                       .columns = value[COLUMNS]};
}

ganz_scheme ganz_scheme_of_bits(int bits)
{
    return (ganz_scheme){
        .rule = {.integer = true, .weight_bits = bits, .input_bits = bits, .attention_bits = bits, .bias_bits = bits}};
}

/* ---- by name ------------------------------------------------------------------------------------ */

static bool matches(const char *pattern, const char *name)
{
    for (; *pattern != '*'; pattern++, name++) {
        if (*pattern != *name) return false;
        if (*pattern == '\0') return true;
    }
    while (pattern[1] == '*') pattern++;
    for (; *name; name++)
        if (matches(pattern + 1, name)) return true;
    return pattern[1] == '\0';
}

ganz_rule ganz_scheme_rule(const ganz_scheme *scheme, const char *name, bool attention)
{
    int value[GANZ_RULE_FIELDS];
    to_values(&scheme->rule, value);
    if (attention && scheme->float_attention) value[PRODUCT] = 0;
    for (int i = 0; i < scheme->exceptions; i++) {
        const ganz_exception *const e = &scheme->exception[i];
        for (int f = 0; f < GANZ_RULE_FIELDS && matches(e->pattern, name); f++)
            if (e->value[f] >= 0) value[f] = e->value[f];
    }
    return to_rule(value);
}

bool ganz_scheme_names(const ganz_scheme *scheme, int exception, const char *name)
{
    return matches(scheme->exception[exception].pattern, name);
}

bool ganz_scheme_has_nibbles(const ganz_scheme *scheme)
{
    bool found = scheme->rule.weight_bits <= GANZ_BITS_NIBBLE;
    for (int i = 0; i < scheme->exceptions; i++) {
        const int bits = scheme->exception[i].value[WEIGHTS];
        found = found || (bits >= 0 && bits <= GANZ_BITS_NIBBLE);
    }
    return found;
}

bool ganz_scheme_has_columns(const ganz_scheme *scheme)
{
    bool found = scheme->rule.columns;
    for (int i = 0; i < scheme->exceptions; i++) found = found || scheme->exception[i].value[COLUMNS] == 1;
    return found;
}

static bool is_width(int field, long bits)
{
    return (bits >= GANZ_BITS_LEAST && bits <= GANZ_BITS_MOST) || (field == BIASES && bits == GANZ_BITS_FLOAT);
}

ganz_status ganz_scheme_check(const ganz_scheme *scheme, ganz_error *err)
{
    int value[GANZ_RULE_FIELDS];
    to_values(&scheme->rule, value);
    for (int f = WEIGHTS; f <= BIASES; f++)
        if (!is_width(f, value[f]))
            return ganz_fail(err, GANZ_EINVAL, "bits must be %d to %d, not %d", GANZ_BITS_LEAST, GANZ_BITS_MOST,
                             value[f]);
    return GANZ_OK;
}

/* ---- as text ------------------------------------------------------------------------------------ */

void ganz_scheme_print(const ganz_scheme *scheme, char text[GANZ_SCHEME_TEXT])
{
    size_t n = 0;
    text[0] = '\0';
    for (int i = 0; i < scheme->exceptions && n < GANZ_SCHEME_TEXT; i++) {
        const ganz_exception *const e = &scheme->exception[i];
        n += (size_t)snprintf(text + n, GANZ_SCHEME_TEXT - n, "%s%s:", i ? "; " : "", e->pattern);
        for (int f = 0; f < GANZ_RULE_FIELDS && n < GANZ_SCHEME_TEXT; f++) {
            if (e->value[f] < 0) continue;
            const char *const word = fields[f].words[0] ? fields[f].words[e->value[f]] : NULL;
            n += (size_t)(word ? snprintf(text + n, GANZ_SCHEME_TEXT - n, " %s=%s", fields[f].name, word)
                               : snprintf(text + n, GANZ_SCHEME_TEXT - n, " %s=%d", fields[f].name, e->value[f]));
        }
    }
}

static int value_of(int field, const char *word)
{
    if (!fields[field].words[0]) {
        char *end;
        const long bits = strtol(word, &end, 10);
        return end > word && *end == '\0' && is_width(field, bits) ? (int)bits : -1;
    }
    for (int i = 0; i < 4 && fields[field].words[i]; i++)
        if (strcmp(word, fields[field].words[i]) == 0) return i;
    return -1;
}

/* One "name=value". */
static ganz_status take_word(ganz_exception *e, char *word, ganz_error *err)
{
    char *const sign = strchr(word, '=');
    if (sign) *sign = '\0';
    for (int f = 0; sign && f < GANZ_RULE_FIELDS; f++)
        if (strcmp(word, fields[f].name) == 0 && (e->value[f] = value_of(f, sign + 1)) >= 0) return GANZ_OK;
    return ganz_fail(err, GANZ_EINVAL, "%s: no rule is \"%s%s%s\"", e->pattern, word, sign ? "=" : "",
                     sign ? sign + 1 : "");
}

/* One "PATTERN: name=value name=value". */
static ganz_status take_exception(ganz_scheme *scheme, char *text, ganz_error *err)
{
    text += strspn(text, " ");
    char *const colon = strchr(text, ':');
    const size_t letters = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.*");
    if (!colon || colon == text || letters != (size_t)(colon - text) || letters >= sizeof scheme->exception[0].pattern)
        return ganz_fail(err, GANZ_EINVAL, "\"%.40s\" is no rule: a name, a colon and words like weights=8", text);
    if (scheme->exceptions == GANZ_SCHEME_EXCEPTIONS)
        return ganz_fail(err, GANZ_ELIMIT, "more than %d exceptions", GANZ_SCHEME_EXCEPTIONS);
    ganz_exception *const e = &scheme->exception[scheme->exceptions++];
    for (int f = 0; f < GANZ_RULE_FIELDS; f++) e->value[f] = -1;
    *colon = '\0';
    snprintf(e->pattern, sizeof e->pattern, "%s", text);
    for (char *at = colon + 1 + strspn(colon + 1, " "); *at;) {
        const size_t bytes = strcspn(at, " ");
        char *const next = at + bytes + strspn(at + bytes, " ");
        at[bytes] = '\0';
        GANZ_TRY(take_word(e, at, err));
        at = next;
    }
    return GANZ_OK;
}

ganz_status ganz_scheme_parse(ganz_scheme *scheme, const char *text, ganz_error *err)
{
    char copy[GANZ_SCHEME_TEXT];
    if (strlen(text) >= sizeof copy)
        return ganz_fail(err, GANZ_ELIMIT, "exceptions of more than %d letters", GANZ_SCHEME_TEXT - 1);
    strcpy(copy, text);
    scheme->exceptions = 0;
    for (char *at = copy; *(at += strspn(at, " ;"));) {
        const size_t bytes = strcspn(at, ";");
        char *const next = at + bytes + (at[bytes] != '\0');
        at[bytes] = '\0';
        GANZ_TRY(take_exception(scheme, at, err));
        at = next;
    }
    return GANZ_OK;
}
