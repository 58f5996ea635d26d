/* Foreign vocabularies: JSON objects and lists, YAML, lines. Texts go into one block that is as large as the file. */
#include "import/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/utf8.h"
#include "model/json.h"

static ganz_status broken(const char *name, const char *what, ganz_error *err)
{
    return ganz_fail(err, GANZ_EFORMAT, "%s: no vocabulary as expected: %s", name, what);
}

ganz_status ganz_words_set(ganz_words *w, int number, const char *text, const char *name, ganz_error *err)
{
    if (number < 0 || number >= GANZ_WORDS_MOST) return broken(name, "a number is out of range", err);
    if (!ganz_grow((void **)&w->texts, &w->capacity, (size_t)number + 1, sizeof *w->texts))
        return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
    while (w->count <= number) w->texts[w->count++] = NULL;
    if (w->texts[number]) return broken(name, "two entries have one number", err);
    w->texts[number] = text;
    return GANZ_OK;
}

int ganz_words_find(const ganz_words *w, const char *text)
{
    for (int i = 0; i < w->count; i++)
        if (w->texts[i] && strcmp(w->texts[i], text) == 0) return i;
    return -1;
}

void ganz_words_close(ganz_words *w)
{
    ganz_free(w->block);
    ganz_free(w->texts);
    *w = (ganz_words){0};
}

/* Room for all texts of a file, each with its end. */
static ganz_status take_block(ganz_words *w, size_t bytes, const char *name, ganz_error *err)
{
    ganz_words_close(w);
    w->block = ganz_alloc(bytes + 2, 1);
    return w->block ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
}

ganz_status ganz_words_reserve(ganz_words *w, size_t bytes, const char *name, ganz_error *err)
{
    GANZ_TRY(take_block(w, bytes, name, err));
    w->room = bytes;
    return GANZ_OK;
}

ganz_status ganz_words_copy(ganz_words *w, int number, const char *text, size_t bytes, const char *name,
                            ganz_error *err)
{
    if (bytes >= w->room - w->used || memchr(text, '\0', bytes)) return broken(name, "an entry is damaged", err);
    char *const copy = w->block + w->used;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    w->used += bytes + 1;
    return ganz_words_set(w, number, copy, name, err);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static ganz_status read_members(ganz_words *w, ganz_json_reader *r, bool object, const char *name, ganz_error *err)
{
    int64_t number = -1;
    for (bool first = true; ganz_json_more(r, first, object ? '}' : ']'); first = false) {
        const char *text;
        number++;
        const bool good = object ? ganz_json_key(r, &text) && ganz_json_int(r, &number) : ganz_json_text(r, &text);
        if (!good || number < 0 || number > GANZ_WORDS_MOST)
            return broken(name, r->wrong ? r->wrong : "an entry is damaged", err);
        GANZ_TRY(ganz_words_set(w, (int)number, text, name, err));
    }
    return r->wrong ? broken(name, r->wrong, err) : GANZ_OK;
}

ganz_status ganz_words_json(ganz_words *w, const char *data, size_t bytes, const char *name, ganz_error *err)
{
    GANZ_TRY(take_block(w, bytes, name, err));
    ganz_json_reader r = {.begin = data, .at = data, .end = data + bytes, .room = w->block};
    const bool object = ganz_json_take(&r, '{');
    if (!object && !ganz_json_take(&r, '[')) return broken(name, "it is neither an object nor a list", err);
    GANZ_TRY(read_members(w, &r, object, name, err));
    return ganz_json_peek(&r) == '\0' ? GANZ_OK : broken(name, "something follows its end", err);
}

/* ---- YAML --------------------------------------------------------------------------------------- */

typedef struct yaml_job {
    ganz_words *words;
    const char *name;
    char *room, *key; /* key: one that waits for its number */
    size_t left;
    ganz_error *err;
} yaml_job;

/* Escapes are longer than what they stand for, so that the file's size suffices; whatever happens, it is not passed. */
static ganz_status keep_key(yaml_job *y, const yaml_event_t *event)
{
    const size_t bytes = event->data.scalar.length;
    const char *const text = (const char *)event->data.scalar.value;
    if (bytes >= y->left || memchr(text, '\0', bytes)) return broken(y->name, "an entry is damaged", y->err);
    memcpy(y->room, text, bytes);
    y->room[bytes] = '\0';
    y->key = y->room;
    y->room += bytes + 1;
    y->left -= bytes + 1;
    return GANZ_OK;
}

static ganz_status take_scalar(yaml_job *y, const yaml_event_t *event)
{
    if (!y->key) return keep_key(y, event);
    char *end;
    errno = 0;
    const char *const text = (const char *)event->data.scalar.value;
    const long number = strtol(text, &end, 10);
    if (end == text || *end || errno || number < 0 || number > GANZ_WORDS_MOST)
        return broken(y->name, "an entry has no number", y->err);
    char *const key = y->key;
    y->key = NULL;
    return ganz_words_set(y->words, (int)number, key, y->name, y->err);
}

static ganz_status take_event(yaml_job *y, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT: return take_scalar(y, event);
    case YAML_ALIAS_EVENT:
    case YAML_SEQUENCE_START_EVENT: return broken(y->name, "it is no plain mapping", y->err);
    default: return GANZ_OK;
    }
}

static ganz_status read_yaml(yaml_job *y, yaml_parser_t *parser)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) return broken(y->name, "it is no YAML", y->err);
        const ganz_status status = take_event(y, &event);
        const bool end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (status != GANZ_OK || end) return status;
    }
}

ganz_status ganz_words_yaml(ganz_words *w, const char *data, size_t bytes, const char *name, ganz_error *err)
{
    yaml_parser_t parser;
    GANZ_TRY(take_block(w, bytes, name, err));
    yaml_job y = {.words = w, .name = name, .room = w->block, .left = bytes + 1, .err = err};
    if (!yaml_parser_initialize(&parser)) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)data, bytes);
    const ganz_status status = read_yaml(&y, &parser);
    yaml_parser_delete(&parser);
    return status;
}

/* ---- lines -------------------------------------------------------------------------------------- */

ganz_status ganz_words_lines(ganz_words *w, const char *data, size_t bytes, bool counted, int first, const char *name,
                             ganz_error *err)
{
    GANZ_TRY(take_block(w, bytes, name, err));
    memcpy(w->block, data, bytes);
    if (memchr(data, '\0', bytes) || !ganz_utf8_valid(data, bytes)) return broken(name, "it is no text", err);
    char *at = w->block;
    for (int number = first; *at; number++) {
        char *const line = at, *const end = at + strcspn(at, "\n");
        at = *end ? end + 1 : end;
        *end = '\0';
        if (end > line && end[-1] == '\r') end[-1] = '\0';
        char *const count = counted ? strrchr(line, ' ') : NULL;
        if (count) *count = '\0';
        GANZ_TRY(ganz_words_set(w, number, line, name, err));
    }
    return GANZ_OK;
}
