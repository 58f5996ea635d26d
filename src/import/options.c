/* Options as a flat list: JSON is read value by value, YAML by libyaml's events, each path becoming a key. */
#include "import/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "model/json.h"

ganz_status ganz_options_add(ganz_options *o, const char *key, const char *value, ganz_error *err)
{
    if (o->count >= GANZ_OPTIONS_MOST) return ganz_fail(err, GANZ_ELIMIT, "%s: more options than expected", o->name);
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->list[i].key, key) == 0) return GANZ_OK;
    const ganz_option option = {ganz_strdup(key), ganz_strdup(value)};
    if (option.key && option.value && ganz_grow((void **)&o->list, &o->capacity, o->count + 1, sizeof *o->list)) {
        o->list[o->count++] = option;
        return GANZ_OK;
    }
    ganz_free(option.key);
    ganz_free(option.value);
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", o->name);
}

void ganz_options_close(ganz_options *o)
{
    for (size_t i = 0; i < o->count; i++) {
        ganz_free(o->list[i].key);
        ganz_free(o->list[i].value);
    }
    ganz_free(o->list);
    *o = (ganz_options){0};
}

/* The place in nested objects, as the key that it has in the list. */
typedef struct path {
    char text[GANZ_OPTION_KEY];
    size_t length;
    int depth;
} path;

/* Appends a name; false: too deep or too long. */
static bool enter(path *p, const char *name, size_t *before)
{
    *before = p->length;
    const int n = snprintf(p->text + p->length, sizeof p->text - p->length, "%s%s", p->length ? "." : "", name);
    if (n < 0 || (size_t)n >= sizeof p->text - p->length || p->depth >= GANZ_OPTIONS_DEPTH) return false;
    p->length += (size_t)n;
    p->depth++;
    return true;
}

static void leave(path *p, size_t before)
{
    p->length = before;
    p->text[before] = '\0';
    p->depth--;
}

/* ---- JSON --------------------------------------------------------------------------------------- */

typedef struct json_job {
    ganz_options *options;
    ganz_json_reader reader;
    path at;
    ganz_error *err;
} json_job;

static ganz_status read_value(json_job *j);

static ganz_status wrong_json(const json_job *j, const char *what)
{
    return ganz_fail(j->err, GANZ_EFORMAT, "%s: not JSON as expected: %s", j->options->name,
                     j->reader.wrong ? j->reader.wrong : what);
}

/* A number, true, false or null, as it stands there. */
static ganz_status read_word(json_job *j)
{
    char word[64];
    size_t n = 0;
    for (; j->reader.at < j->reader.end && n < sizeof word - 1; n++) {
        const char c = *j->reader.at;
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("+-.", c))) break;
        word[n] = c;
        j->reader.at++;
    }
    word[n] = '\0';
    if (n == 0) return wrong_json(j, "a value is missing");
    return ganz_options_add(j->options, j->at.text, word, j->err);
}

static ganz_status read_members(json_job *j, char close)
{
    int number = 0;
    for (bool first = true; ganz_json_more(&j->reader, first, close); first = false) {
        char digits[16];
        const char *name = digits;
        size_t before;
        snprintf(digits, sizeof digits, "%d", number++);
        if (close == '}' && !ganz_json_key(&j->reader, &name)) return wrong_json(j, "a key is missing");
        if (!enter(&j->at, name, &before)) return wrong_json(j, "it is nested too deep");
        GANZ_TRY(read_value(j));
        leave(&j->at, before);
    }
    return j->reader.wrong ? wrong_json(j, "") : GANZ_OK;
}

static ganz_status read_value(json_job *j)
{
    const char *text;
    if (ganz_json_take(&j->reader, '{')) return read_members(j, '}');
    if (ganz_json_take(&j->reader, '[')) return read_members(j, ']');
    if (ganz_json_peek(&j->reader) != '"') return read_word(j);
    if (!ganz_json_text(&j->reader, &text)) return wrong_json(j, "a string is missing");
    return ganz_options_add(j->options, j->at.text, text, j->err);
}

ganz_status ganz_options_json(ganz_options *o, const char *data, size_t bytes, const char *name, ganz_error *err)
{
    o->name = name;
    char *const room = ganz_alloc(bytes + 1, 1);
    if (!room) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
    json_job j = {.options = o, .reader = {.begin = data, .at = data, .end = data + bytes, .room = room}, .err = err};
    ganz_status status = GANZ_OK;
    if (ganz_json_peek(&j.reader) != '{') status = wrong_json(&j, "it is no object");
    else status = read_value(&j);
    if (status == GANZ_OK && ganz_json_peek(&j.reader) != '\0') status = wrong_json(&j, "something follows its end");
    ganz_free(room);
    return status;
}

/* ---- YAML --------------------------------------------------------------------------------------- */

typedef struct yaml_job {
    ganz_options *options;
    yaml_parser_t parser;
    path at;
    ganz_error *err;
} yaml_job;

static ganz_status next_event(yaml_job *y, yaml_event_t *event)
{
    if (yaml_parser_parse(&y->parser, event)) return GANZ_OK;
    return ganz_fail(y->err, GANZ_EFORMAT, "%s:%zu: not YAML as expected", y->options->name,
                     y->parser.problem_mark.line + 1);
}

static ganz_status yaml_value(yaml_job *y, yaml_event_t *event);

/* A text of a mapping's key; anything else has no place in the list. */
static ganz_status read_key(yaml_job *y, const yaml_event_t *event, char *name, size_t bytes)
{
    if (event->type != YAML_SCALAR_EVENT || event->data.scalar.length >= bytes ||
        strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
        return ganz_fail(y->err, GANZ_EFORMAT, "%s:%zu: a key that is no short text", y->options->name,
                         event->start_mark.line + 1);
    memcpy(name, event->data.scalar.value, event->data.scalar.length + 1);
    return GANZ_OK;
}

/* Members of a mapping, elements of a sequence, up to its end. */
static ganz_status yaml_members(yaml_job *y, bool mapping)
{
    for (int number = 0;; number++) {
        yaml_event_t event;
        char name[GANZ_OPTION_KEY];
        size_t before;
        GANZ_TRY(next_event(y, &event));
        const bool end = event.type == (mapping ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT);
        ganz_status status = GANZ_OK;
        if (!end && mapping) status = read_key(y, &event, name, sizeof name);
        if (!mapping) snprintf(name, sizeof name, "%d", number);
        if (end || mapping || status != GANZ_OK) yaml_event_delete(&event);
        if (end || status != GANZ_OK) return status;
        if (mapping) GANZ_TRY(next_event(y, &event));
        if (!enter(&y->at, name, &before)) {
            yaml_event_delete(&event);
            return ganz_fail(y->err, GANZ_EFORMAT, "%s: nested too deep", y->options->name);
        }
        status = yaml_value(y, &event);
        yaml_event_delete(&event);
        GANZ_TRY(status);
        leave(&y->at, before);
    }
}

static ganz_status yaml_value(yaml_job *y, yaml_event_t *event)
{
    if (event->type == YAML_MAPPING_START_EVENT) return yaml_members(y, true);
    if (event->type == YAML_SEQUENCE_START_EVENT) return yaml_members(y, false);
    if (event->type != YAML_SCALAR_EVENT)
        return ganz_fail(y->err, GANZ_EFORMAT, "%s:%zu: a value is missing", y->options->name,
                         event->start_mark.line + 1);
    return ganz_options_add(y->options, y->at.text, (const char *)event->data.scalar.value, y->err);
}

static ganz_status yaml_document(yaml_job *y)
{
    for (;;) {
        yaml_event_t event;
        GANZ_TRY(next_event(y, &event));
        const yaml_event_type_t type = event.type;
        ganz_status status = GANZ_OK;
        if (type == YAML_MAPPING_START_EVENT) status = yaml_members(y, true);
        else if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT &&
                 type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT)
            status = ganz_fail(y->err, GANZ_EFORMAT, "%s: it is no mapping", y->options->name);
        yaml_event_delete(&event);
        if (status != GANZ_OK || type == YAML_STREAM_END_EVENT) return status;
    }
}

ganz_status ganz_options_yaml(ganz_options *o, const char *data, size_t bytes, const char *name, ganz_error *err)
{
    yaml_job y = {.options = o, .err = err};
    o->name = name;
    if (!yaml_parser_initialize(&y.parser)) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
    yaml_parser_set_input_string(&y.parser, (const unsigned char *)data, bytes);
    const ganz_status status = yaml_document(&y);
    yaml_parser_delete(&y.parser);
    return status;
}

/* ---- asking ------------------------------------------------------------------------------------- */

const char *ganz_options_text(const ganz_options *o, const char *key)
{
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->list[i].key, key) == 0)
            return strcmp(o->list[i].value, "null") == 0 || strcmp(o->list[i].value, "None") == 0 ? NULL
                                                                                                  : o->list[i].value;
    return NULL;
}

static ganz_status not_one(const ganz_options *o, const char *key, const char *kind, const char *text, ganz_error *err)
{
    return ganz_fail(err, GANZ_EFORMAT, "%s: %s must be %s, not \"%.40s\"", o->name, key, kind, text);
}

ganz_status ganz_options_int(const ganz_options *o, const char *key, long long standard, int *value, ganz_error *err)
{
    const char *const text = ganz_options_text(o, key);
    *value = (int)standard;
    if (!text) return GANZ_OK;
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno || number < INT32_MIN || number > INT32_MAX)
        return not_one(o, key, "a whole number", text, err);
    *value = (int)number;
    return GANZ_OK;
}

ganz_status ganz_options_need(const ganz_options *o, const char *key, int *value, ganz_error *err)
{
    if (!ganz_options_text(o, key)) return ganz_fail(err, GANZ_EFORMAT, "%s: %s is missing", o->name, key);
    return ganz_options_int(o, key, 0, value, err);
}

ganz_status ganz_options_real(const ganz_options *o, const char *key, double standard, double *value, ganz_error *err)
{
    const char *const text = ganz_options_text(o, key);
    *value = standard;
    if (!text) return GANZ_OK;
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end || !(number > -1e300 && number < 1e300)) return not_one(o, key, "a number", text, err);
    *value = number;
    return GANZ_OK;
}

ganz_status ganz_options_flag(const ganz_options *o, const char *key, bool standard, bool *value, ganz_error *err)
{
    const char *const text = ganz_options_text(o, key);
    *value = standard;
    if (!text) return GANZ_OK;
    *value = strcmp(text, "true") == 0 || strcmp(text, "True") == 0 || strcmp(text, "1") == 0;
    if (*value || strcmp(text, "false") == 0 || strcmp(text, "False") == 0 || strcmp(text, "0") == 0) return GANZ_OK;
    return not_one(o, key, "true or false", text, err);
}

ganz_status ganz_options_require(const ganz_options *o, const char *key, const char *const *words, ganz_error *err)
{
    const char *const text = ganz_options_text(o, key);
    for (int i = 0; text && words[i]; i++)
        if (strcmp(text, words[i]) == 0) return GANZ_OK;
    if (!text) return GANZ_OK;
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: %s is \"%.40s\", which ganz has no network for", o->name, key, text);
}
