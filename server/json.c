/* A recursive reader over a text in memory. Its depth and its number of values are bounded, so that a small request
 * cannot take much memory or stack. */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ganz/io.h"

enum { BLOCK = 256 };
typedef struct json_block {
    struct json_block *next;
    json_value values[BLOCK];
} json_block;

void json_free(json_tree *tree)
{
    while (tree->blocks) {
        json_block *const b = tree->blocks;
        tree->blocks = b->next;
        free(b);
    }
    tree->count = 0;
}

json_value *json_add(json_tree *tree, json_value *parent, json_kind kind)
{
    if (tree->count == JSON_VALUES) return NULL;
    if (tree->count % BLOCK == 0) {
        json_block *const b = calloc(1, sizeof *b);
        if (!b) return NULL;
        b->next = tree->blocks;
        tree->blocks = b;
    }
    json_value *const v = &tree->blocks->values[tree->count++ % BLOCK];
    v->kind = kind;
    if (!parent) return v;
    if (parent->last) parent->last->next = v;
    else parent->first = v;
    parent->last = v;
    parent->count++;
    return v;
}

const json_value *json_member(const json_value *value, const char *name)
{
    const json_value *found = NULL;
    const size_t bytes = strlen(name);
    if (!value || value->kind != JSON_OBJECT) return NULL;
    for (const json_value *v = value->first; v; v = v->next)
        if (v->name_bytes == bytes && memcmp(v->name, name, bytes) == 0) found = v;
    return found;
}

/* ---- reading ------------------------------------------------------------------------------------ */

typedef struct reader {
    json_tree *tree;
    char *at, *end;
    int depth;
} reader;

static void skip_space(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

/* Passes over a mark behind white space. */
static bool take(reader *r, char mark)
{
    skip_space(r);
    if (r->at == r->end || *r->at != mark) return false;
    r->at++;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits behind \u; -1: they are none. */
static long read_unit(reader *r)
{
    long unit = 0;
    if (r->end - r->at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const int digit = hex_digit(*r->at++);
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static char *put_code(char *to, long code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (char)(0xe0 | code >> 12);
        } else {
            *to++ = (char)(0xf0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        }
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (code & 0x3f));
    return to;
}

/* Half a pair of units that lacks the other half becomes U+FFFD, as in browsers. */
static char *read_escaped_unit(reader *r, char *to)
{
    long code = read_unit(r);
    if (code < 0) return NULL;
    if (code >= 0xd800 && code < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u') {
        char *const before = r->at;
        r->at += 2;
        const long low = read_unit(r);
        if (low < 0) return NULL;
        if (low >= 0xdc00 && low < 0xe000) return put_code(to, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
        r->at = before;
    }
    return put_code(to, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
}

static char *read_escape(reader *r, char *to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end) return NULL;
    const char c = *r->at++;
    if (c == 'u') return read_escaped_unit(r, to);
    const char *const found = c ? strchr(names, c) : NULL;
    if (!found) return NULL;
    *to++ = values[found - names];
    return to;
}

/* A text behind its first quote; what it becomes is never longer than it was. */
static bool read_text(reader *r, const char **text, size_t *bytes)
{
    char *const begin = r->at, *to = r->at;
    while (r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at < ' ') return false;
        if (*r->at != '\\') {
            *to++ = *r->at++;
            continue;
        }
        r->at++;
        to = read_escape(r, to);
        if (!to) return false;
    }
    if (r->at == r->end) return false;
    r->at++;
    *to = '\0'; /* the quote's place at the latest */
    *text = begin;
    *bytes = (size_t)(to - begin);
    return true;
}

static bool skip_digits(reader *r)
{
    const char *const begin = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
    return r->at > begin;
}

static bool read_number(reader *r, double *number)
{
    char text[64];
    const char *const begin = r->at;
    if (*r->at == '-') r->at++;
    const bool zero = r->at < r->end && *r->at == '0';
    const char *const whole = r->at;
    if (!skip_digits(r) || (zero && r->at - whole > 1)) return false;
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        if (!skip_digits(r)) return false;
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
        if (!skip_digits(r)) return false;
    }
    const size_t bytes = (size_t)(r->at - begin);
    if (bytes >= sizeof text) return false;
    memcpy(text, begin, bytes);
    text[bytes] = '\0';
    *number = strtod(text, NULL);
    return isfinite(*number);
}

static bool read_word(reader *r, const char *word)
{
    const size_t bytes = strlen(word);
    if ((size_t)(r->end - r->at) < bytes || memcmp(r->at, word, bytes) != 0) return false;
    r->at += bytes;
    return true;
}

static json_value *read_value(reader *r, json_value *parent);

/* Elements or members up to the closing mark. */
static bool read_list(reader *r, json_value *list, char close)
{
    if (take(r, close)) return true;
    do {
        const char *name = NULL;
        size_t bytes = 0;
        if (list->kind == JSON_OBJECT && (!take(r, '"') || !read_text(r, &name, &bytes) || !take(r, ':'))) return false;
        json_value *const v = read_value(r, list);
        if (!v) return false;
        v->name = name;
        v->name_bytes = bytes;
    } while (take(r, ','));
    return take(r, close);
}

static bool fill_value(reader *r, json_value *v)
{
    switch (*r->at) {
    case '{':
    case '[': {
        v->kind = *r->at == '{' ? JSON_OBJECT : JSON_ARRAY;
        if (r->depth == JSON_DEPTH) return false;
        r->depth++;
        const char close = *r->at++ == '{' ? '}' : ']';
        const bool whole = read_list(r, v, close);
        r->depth--;
        return whole;
    }
    case '"': v->kind = JSON_TEXT; return r->at++, read_text(r, &v->text, &v->bytes);
    case 't': v->kind = JSON_TRUE; return read_word(r, "true");
    case 'f': v->kind = JSON_FALSE; return read_word(r, "false");
    case 'n': return read_word(r, "null");
    default: v->kind = JSON_NUMBER; return read_number(r, &v->number);
    }
}

static json_value *read_value(reader *r, json_value *parent)
{
    skip_space(r);
    json_value *const v = r->at < r->end ? json_add(r->tree, parent, JSON_NULL) : NULL;
    return v && fill_value(r, v) ? v : NULL;
}

json_value *json_read(json_tree *tree, char *text, size_t bytes)
{
    if (!ganz_utf8_valid(text, bytes)) return NULL;
    reader r = {.tree = tree, .at = text, .end = text + bytes};
    json_value *const v = read_value(&r, NULL);
    skip_space(&r);
    return r.at == r.end ? v : NULL;
}

/* ---- writing ------------------------------------------------------------------------------------ */

void json_put_text(buffer *out, const char *text, size_t bytes)
{
    size_t begin = 0;
    buffer_add(out, "\"", 1);
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c >= ' ' && c != '"' && c != '\\' && c != 0x7f) continue;
        buffer_add(out, text + begin, i - begin);
        if (c == '"' || c == '\\') buffer_printf(out, "\\%c", c);
        else if (c == '\n') buffer_put(out, "\\n");
        else if (c == '\t') buffer_put(out, "\\t");
        else if (c == '\r') buffer_put(out, "\\r");
        else buffer_printf(out, "\\u%04x", c);
        begin = i + 1;
    }
    buffer_add(out, text + begin, bytes - begin);
    buffer_add(out, "\"", 1);
}

void json_put(buffer *out, const char *text) { json_put_text(out, text, strlen(text)); }

void json_put_number(buffer *out, double number)
{
    if (!isfinite(number)) buffer_put(out, "null");
    else buffer_printf(out, "%.6g", number);
}
