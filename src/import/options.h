/* Options of a foreign model as one flat list of texts, whatever file they stood in: config.json, YAML, the options of
 * a training program. Keys of nested objects are joined by dots, elements of lists are numbered: "bad_words_ids.0.0".
 */
#ifndef GANZ_IMPORT_OPTIONS_H
#define GANZ_IMPORT_OPTIONS_H

#include "base/base.h"

enum { GANZ_OPTIONS_MOST = 4096, GANZ_OPTIONS_DEPTH = 16, GANZ_OPTION_KEY = 256 };

typedef struct ganz_option {
    char *key, *value; /* numbers, true, false and null as texts */
} ganz_option;

typedef struct ganz_options { /* starts as zeroes */
    const char *name;         /* of the file, for messages; borrowed */
    ganz_option *list;
    size_t count, capacity;
} ganz_options;

/* Adds one; a key given before keeps its first value. */
ganz_status ganz_options_add(ganz_options *options, const char *key, const char *value, ganz_error *err);
void ganz_options_close(ganz_options *options);

/* Reads a whole file, adding to what is there. */
ganz_status ganz_options_json(ganz_options *options, const char *data, size_t bytes, const char *name, ganz_error *err);
ganz_status ganz_options_yaml(ganz_options *options, const char *data, size_t bytes, const char *name, ganz_error *err);

const char *ganz_options_text(const ganz_options *options, const char *key); /* NULL: missing or null */
/* A number; missing: `standard`. The second must be there. */
ganz_status ganz_options_int(const ganz_options *options, const char *key, long long standard, int *value,
                             ganz_error *err);
ganz_status ganz_options_need(const ganz_options *options, const char *key, int *value, ganz_error *err);
ganz_status ganz_options_real(const ganz_options *options, const char *key, double standard, double *value,
                              ganz_error *err);
ganz_status ganz_options_flag(const ganz_options *options, const char *key, bool standard, bool *value,
                              ganz_error *err);
/* Refuses a key that is set to anything but one of these words (up to NULL); missing is fine. */
ganz_status ganz_options_require(const ganz_options *options, const char *key, const char *const *words,
                                 ganz_error *err);

#endif
