/* Recipes from YAML: one mapping of plain values. Anything else is refused with its line. */
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/base.h"
#include "base/io.h"
#include "ganz/recipe.h"
#include "train/recipes.h"

enum { RECIPE_BYTES = 1 << 20, NAME_BYTES = 64 };

/* A walk over the events of one file. */
typedef struct walk {
    yaml_parser_t parser;
    yaml_event_t event;
    bool holds; /* event is to be freed */
    const char *name;
    ganz_error *err;
} walk;

static ganz_status advance(walk *w)
{
    if (w->holds) yaml_event_delete(&w->event);
    w->holds = yaml_parser_parse(&w->parser, &w->event) != 0;
    if (w->holds) return GANZ_OK;
    return ganz_fail(w->err, GANZ_EFORMAT, "%s:%zu: %s", w->name, w->parser.problem_mark.line + 1,
                     w->parser.problem ? w->parser.problem : "not YAML");
}

static size_t line(const walk *w) { return w->event.start_mark.line + 1; }

/* The scalar at hand as a C string of less than `room` bytes. */
static ganz_status scalar(const walk *w, const char *what, char *text, size_t room)
{
    if (w->event.type != YAML_SCALAR_EVENT)
        return ganz_fail(w->err, GANZ_EFORMAT, "%s:%zu: %s is one word or number here, nothing deeper", w->name,
                         line(w), what);
    const size_t bytes = w->event.data.scalar.length;
    const char *const from = (const char *)w->event.data.scalar.value;
    if (bytes >= room || memchr(from, '\0', bytes))
        return ganz_fail(w->err, GANZ_EFORMAT, "%s:%zu: %s is too long", w->name, line(w), what);
    memcpy(text, from, bytes);
    text[bytes] = '\0';
    return GANZ_OK;
}

/* One "name: value"; the event at hand is the name. `seen` has a flag for each setting. */
static ganz_status take_pair(walk *w, ganz_recipe *recipe, bool *seen)
{
    char name[NAME_BYTES], value[GANZ_VALUE_BYTES];
    const size_t at = line(w);
    GANZ_TRY(scalar(w, "a setting", name, sizeof name));
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    for (int i = 0; i < count; i++) {
        if (strcmp(table[i].name, name) != 0) continue;
        if (seen[i]) return ganz_fail(w->err, GANZ_EFORMAT, "%s:%zu: %s is set twice", w->name, at, name);
        seen[i] = true;
    }
    GANZ_TRY(advance(w));
    GANZ_TRY(scalar(w, "a value", value, sizeof value));
    ganz_error why = {0};
    if (ganz_recipe_set(recipe, name, value, &why) != GANZ_OK)
        return ganz_fail(w->err, GANZ_EFORMAT, "%s:%zu: %s", w->name, at, why.message);
    return advance(w);
}

/* `seen` has a flag for each setting, all false. */
static ganz_status take_file(walk *w, ganz_recipe *recipe, bool *seen)
{
    GANZ_TRY(advance(w)); /* the stream's start */
    GANZ_TRY(advance(w)); /* the document's, or the end of an empty file */
    if (w->event.type == YAML_STREAM_END_EVENT) return GANZ_OK;
    GANZ_TRY(advance(w));
    if (w->event.type != YAML_MAPPING_START_EVENT)
        return ganz_fail(w->err, GANZ_EFORMAT, "%s:%zu: a recipe is a list of lines \"name: value\"", w->name, line(w));
    GANZ_TRY(advance(w));
    while (w->event.type != YAML_MAPPING_END_EVENT) GANZ_TRY(take_pair(w, recipe, seen));
    GANZ_TRY(advance(w)); /* the document's end */
    GANZ_TRY(advance(w));
    if (w->event.type != YAML_STREAM_END_EVENT)
        return ganz_fail(w->err, GANZ_EFORMAT, "%s:%zu: more than one document", w->name, line(w));
    return GANZ_OK;
}

ganz_status ganz_recipe_parse(ganz_recipe *recipe, const char *text, size_t bytes, const char *name, ganz_error *err)
{
    if (bytes > RECIPE_BYTES) return ganz_fail(err, GANZ_ELIMIT, "%s: a recipe of more than a megabyte", name);
    walk w = {.name = name, .err = err};
    if (!yaml_parser_initialize(&w.parser)) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
    yaml_parser_set_input_string(&w.parser, (const unsigned char *)text, bytes);
    yaml_parser_set_encoding(&w.parser, YAML_UTF8_ENCODING);
    ganz_recipe fresh = *recipe; /* a file that is refused changes nothing */
    int settings;
    ganz_recipe_table(&settings);
    bool *const seen = ganz_alloc((size_t)settings, sizeof *seen);
    const ganz_status status =
        seen ? take_file(&w, &fresh, seen) : ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
    ganz_free(seen);
    if (w.holds) yaml_event_delete(&w.event);
    yaml_parser_delete(&w.parser);
    if (status == GANZ_OK) *recipe = fresh;
    return status;
}

static ganz_status no_such_recipe(const char *name, ganz_error *err)
{
    char names[256] = "";
    for (const ganz_builtin_recipe *b = ganz_builtin_recipes; b->name; b++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", b->name);
    }
    return ganz_fail(err, GANZ_EINVAL, "no recipe is named %.40s, only %s (a file needs a dot or a slash in its name)",
                     name, names);
}

ganz_status ganz_recipe_read(ganz_recipe *recipe, const char *path, ganz_error *err)
{
    if (!strpbrk(path, "/.")) {
        for (const ganz_builtin_recipe *b = ganz_builtin_recipes; b->name; b++)
            if (strcmp(b->name, path) == 0)
                return ganz_recipe_parse(recipe, (const char *)b->text, b->bytes, path, err);
        return no_such_recipe(path, err);
    }
    ganz_contents contents;
    GANZ_TRY(ganz_contents_read(&contents, path, err));
    const ganz_status status =
        ganz_recipe_parse(recipe, contents.data ? (const char *)contents.data : "", contents.bytes, path, err);
    ganz_contents_free(&contents);
    return status;
}
