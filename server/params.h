/* What a request asks for, in whatever of four ways it was sent: JSON, a form, a form in parts, or the query. */
#ifndef GANZ_SERVER_PARAMS_H
#define GANZ_SERVER_PARAMS_H

#include "json.h"

/* Texts are those of the body, which is changed, and of a copy of the query. */
typedef struct params {
    json_tree tree;
    json_value *object; /* the members */
    char *query;        /* a copy */
    const char *file;   /* bytes of the part "file"; NULL: none */
    size_t file_bytes;
    const char *file_name; /* its name, terminated; "" if it has none */
    bool is_json;
} params;

/* Reads the query and the body by the media type (NULL: a form). False: *why it is not valid. To be closed either way.
 */
bool params_read(params *p, const char *query, const char *type, char *body, size_t bytes, const char **why);
void params_close(params *p);

/* The last value of a name that is not null; NULL: none. */
const json_value *params_get(const params *p, const char *name);
/* Its text; NULL: none, or no text. */
const char *params_text(const params *p, const char *name);
/* Whether it is true, "true", "1", 1, "on" or "yes"; `usual` if it is not there. */
bool params_flag(const params *p, const char *name, bool usual);
/* A whole number from 0 on, as a number or in a text; `usual` if it is not there or empty; -1: it is no such number. */
long params_number(const params *p, const char *name, long usual);

#endif
