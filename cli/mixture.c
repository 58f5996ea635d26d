/* Lists of pairs of files, word by word. */
#include "mixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_mixture_free(cli_mixture *m)
{
    free(m->inputs);
    free(m->list);
    *m = (cli_mixture){0};
}

bool cli_mixture_add(cli_mixture *m, const ganz_corpus_input *input)
{
    ganz_corpus_input *const grown = realloc(m->inputs, sizeof *grown * ((size_t)m->count + 1));
    if (!grown) return false;
    m->inputs = grown;
    m->inputs[m->count++] = *input;
    return true;
}

bool cli_mixture_weight(const char *word, double *weight)
{
    char *end;
    *weight = strtod(word, &end);
    return end != word && !*end && *weight > 0 && *weight <= 1000;
}

static bool parse_share(const char *word, double *share)
{
    char *end;
    *share = strtod(word, &end);
    return end != word && !*end && *share >= 0 && *share <= 1;
}

/* A word behind the two names: a weight if it comes first, or NAME=VALUE. */
static bool parse_word(char *word, bool first, ganz_corpus_input *input)
{
    char *const equals = strchr(word, '=');
    if (!equals) return first && cli_mixture_weight(word, &input->weight);
    *equals = '\0';
    if (strcmp(word, "tag") == 0) return *(input->tag = equals + 1) != '\0';
    if (strcmp(word, "formality") == 0) return parse_share(equals + 1, &input->formality);
    for (int kind = 0; kind < GANZ_COPY_KINDS; kind++)
        if (strcmp(word, ganz_copy_name((ganz_copy_kind)kind)) == 0)
            return parse_share(equals + 1, &input->copies[kind]);
    return false;
}

/* One line of a list into *input; false when it is none. */
static bool parse_line(char *source, char **state, ganz_corpus_input *input)
{
    input->source = source;
    input->target = strtok_r(NULL, " \t\r", state);
    if (!input->target) return false;
    bool first = true;
    for (char *word = strtok_r(NULL, " \t\r", state); word; word = strtok_r(NULL, " \t\r", state), first = false)
        if (!parse_word(word, first, input)) return false;
    return true;
}

static ganz_status bad_line(const char *name, const char *source, ganz_error *err)
{
    err->status = GANZ_EFORMAT;
    snprintf(
        err->message, sizeof err->message,
        "%s: not \"SOURCE TARGET [WEIGHT] [NAME=VALUE...]\" with a weight over 0, up to 1000, and shares from 0 to 1, "
        "after %s",
        name, source);
    return GANZ_EFORMAT;
}

ganz_status cli_mixture_parse(cli_mixture *m, const char *name, const ganz_corpus_input *usual, ganz_error *err)
{
    char *line_state, *word_state;
    for (char *line = strtok_r(m->list, "\n", &line_state); line; line = strtok_r(NULL, "\n", &line_state)) {
        char *const source = strtok_r(line, " \t\r", &word_state);
        ganz_corpus_input input = *usual;
        if (!source || source[0] == '#') continue;
        if (!parse_line(source, &word_state, &input)) return bad_line(name, source, err);
        if (cli_mixture_add(m, &input)) continue;
        err->status = GANZ_ENOMEM;
        snprintf(err->message, sizeof err->message, "out of memory for the names of the files");
        return GANZ_ENOMEM;
    }
    return GANZ_OK;
}
