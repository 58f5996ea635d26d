/* JSON of requests and replies: a bounded reader that makes a tree, and a writer. */
#ifndef GANZ_SERVER_JSON_H
#define GANZ_SERVER_JSON_H

#include "buffer.h"

typedef enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT } json_kind;

typedef struct json_value json_value;
struct json_value {
    json_kind kind;
    const char *name; /* of a member of an object, terminated; else NULL */
    size_t name_bytes;
    const char *text; /* of a text, terminated, perhaps with a 0 inside */
    size_t bytes;
    double number;
    json_value *first, *last, *next; /* elements or members; the one behind this */
    int count;                       /* elements or members */
};

/* Deepest nesting, and most values of one text. */
enum { JSON_DEPTH = 32, JSON_VALUES = 1 << 16 };

/* The values of a tree; start with zeroes. Texts lie in the JSON itself, or are the caller's. */
typedef struct json_tree {
    struct json_block *blocks;
    int count;
} json_tree;
void json_free(json_tree *tree);

/* A new value at the end of an array or object (NULL: of none). NULL: out of memory, or too many. */
json_value *json_add(json_tree *tree, json_value *parent, json_kind kind);

/* Reads one value. The text is changed: escapes are undone in place, ends of texts become 0. NULL: it is no JSON, or
 * beyond the bounds, or memory ran out. */
json_value *json_read(json_tree *tree, char *text, size_t bytes);

/* The last member of that name; NULL: none, or `value` is no object. */
const json_value *json_member(const json_value *value, const char *name);

/* A text in quotes with its escapes; invalid UTF-8 must not come. */
void json_put_text(buffer *out, const char *text, size_t bytes);
void json_put(buffer *out, const char *text); /* the same for a terminated text */
/* A number as short as it is exact to six places; what is not finite is null. */
void json_put_number(buffer *out, double number);

#endif
