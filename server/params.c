/* Every encoding becomes members of one JSON object, the query's first; of those with the same name the last counts,
 * and all of them can be walked over. */
#define _GNU_SOURCE /* memmem */
#include "params.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ganz/io.h"
#include "http_parse.h"

static json_value *add_member(params *p, const char *name, size_t name_bytes, const char *text, size_t bytes)
{
    json_value *const v = json_add(&p->tree, p->object, JSON_TEXT);
    if (!v) return NULL;
    v->name = name;
    v->name_bytes = name_bytes;
    v->text = text;
    v->bytes = bytes;
    return v;
}

/* ---- forms -------------------------------------------------------------------------------------- */

static bool read_pair(params *p, char *pair, size_t bytes)
{
    char *const equals = memchr(pair, '=', bytes), *value = equals ? equals + 1 : pair + bytes;
    size_t name_bytes = equals ? (size_t)(equals - pair) : bytes, value_bytes = (size_t)(pair + bytes - value);
    static char nothing[1];
    if (!equals) value = nothing;
    if (!http_unescape(pair, &name_bytes, true) || (equals && !http_unescape(value, &value_bytes, true))) return false;
    if (!ganz_utf8_valid(pair, name_bytes) || !ganz_utf8_valid(value, value_bytes)) return false;
    return add_member(p, pair, name_bytes, value, value_bytes);
}

/* a=b&c=d, terminated; in place. */
static bool read_form(params *p, char *text, size_t bytes)
{
    for (char *at = text, *const end = text + bytes; at < end;) {
        char *const mark = memchr(at, '&', (size_t)(end - at));
        const size_t length = mark ? (size_t)(mark - at) : (size_t)(end - at);
        if (length > 0 && !read_pair(p, at, length)) return false;
        at += length + 1;
    }
    return true;
}

/* ---- parts -------------------------------------------------------------------------------------- */

/* The value of name="..." or name=... in a header, and where it ends. NULL: it is not there. */
static char *find_value(char *header, const char *name, char **end)
{
    const size_t bytes = strlen(name);
    for (char *at = header; (at = strstr(at, name)); at++) {
        if (at == header || (at[-1] != ' ' && at[-1] != ';') || at[bytes] != '=') continue;
        char *const value = at + bytes + 1;
        if (*value == '"') return (*end = strchr(value + 1, '"')) ? value + 1 : NULL;
        *end = value + strcspn(value, "; \t");
        return value;
    }
    return NULL;
}

/* The name of a file in the form of RFC 5987, UTF-8''escaped; in place. NULL: it is not there, or of another set. */
static char *find_escaped(char *header, char **end)
{
    char *const value = find_value(header, "filename*", end);
    if (!value || strncasecmp(value, "utf-8'", 6) != 0) return NULL;
    char *const quote = memchr(value + 6, '\'', (size_t)(*end - value - 6));
    if (!quote) return NULL;
    size_t bytes = (size_t)(*end - quote - 1);
    if (!http_unescape(quote + 1, &bytes, false) || memchr(quote + 1, '\0', bytes)) return NULL;
    *end = quote + 1 + bytes;
    return quote + 1;
}

/* The names in the headers of a part; NULL where there is none. */
static void find_names(char *headers, char **name, char **file)
{
    char *name_end = NULL, *file_end = NULL;
    *name = *file = NULL;
    for (char *line = headers; line;) {
        char *const end = strstr(line, "\r\n");
        if (end) *end = '\0';
        if (strncasecmp(line, "content-disposition:", 20) == 0) {
            *name = find_value(line, "name", &name_end);
            *file = find_escaped(line, &file_end);
            if (!*file) *file = find_value(line, "filename", &file_end);
        }
        line = end ? end + 2 : NULL;
    }
    if (*name) *name_end = '\0';
    if (*file) *file_end = '\0';
}

/* A part between two boundaries: headers, a blank line, content. */
static bool read_part(params *p, char *part, size_t bytes)
{
    char *const blank = memmem(part, bytes, "\r\n\r\n", 4), *name, *file;
    if (!blank || memchr(part, '\0', (size_t)(blank - part))) return false;
    *blank = '\0';
    char *const content = blank + 4;
    const size_t content_bytes = (size_t)(part + bytes - content);
    find_names(part, &name, &file);
    if (!name || !ganz_utf8_valid(name, strlen(name))) return false;
    content[content_bytes] = '\0'; /* the boundary behind it begins here, and has been found */
    if (file || strcmp(name, "file") == 0) {
        p->file = content;
        p->file_bytes = content_bytes;
        p->file_name = file && ganz_utf8_valid(file, strlen(file)) ? file : "";
        return true;
    }
    return ganz_utf8_valid(content, content_bytes) && add_member(p, name, strlen(name), content, content_bytes);
}

/* The word behind boundary= of the media type; false: there is none, or it is too long. */
static bool find_boundary(const char *type, char boundary[80])
{
    const char *at = strcasestr(type, "boundary=");
    if (!at) return false;
    at += 9;
    const bool quotes = *at == '"';
    at += quotes;
    const size_t bytes = strcspn(at, quotes ? "\"" : "; \t,");
    if (bytes == 0 || bytes > 70) return false;
    memcpy(boundary, "\r\n--", 4);
    memcpy(boundary + 4, at, bytes);
    boundary[4 + bytes] = '\0';
    return true;
}

static bool read_parts(params *p, const char *type, char *body, size_t bytes)
{
    char boundary[80];
    if (!find_boundary(type, boundary)) return false;
    const size_t mark = strlen(boundary);
    const bool first = bytes >= mark && memcmp(body, boundary + 2, mark - 2) == 0;
    char *at = first ? body : memmem(body, bytes, boundary, mark); /* behind lines that say nothing */
    if (!at) return false;
    at += first ? mark - 2 : mark;
    char *const end = body + bytes;
    while (end - at >= 2 && memcmp(at, "\r\n", 2) == 0) {
        char *const part = at + 2, *const next = memmem(at, (size_t)(end - at), boundary, mark);
        if (!next) return false;
        if (next < part || !read_part(p, part, (size_t)(next - part))) return false;
        at = next + mark;
    }
    return end - at >= 2 && memcmp(at, "--", 2) == 0;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

/* application/json, or application/anything+json, whatever parameters follow. */
static bool is_json_type(const char *type)
{
    const size_t bytes = strcspn(type, "; \t");
    if (strncasecmp(type, "application/", 12) != 0 || bytes < 16) return false;
    return (bytes == 16 && strncasecmp(type + 12, "json", 4) == 0) || strncasecmp(type + bytes - 5, "+json", 5) == 0;
}

static bool read_json(params *p, char *body, size_t bytes)
{
    json_value *const v = json_read(&p->tree, body, bytes);
    if (!v || v->kind != JSON_OBJECT) return false;
    if (p->object->last) p->object->last->next = v->first;
    else p->object->first = v->first;
    if (v->last) p->object->last = v->last;
    p->object->count += v->count;
    return p->is_json = true;
}

static bool read_query(params *p, const char *query)
{
    p->query = strdup(query);
    return p->query && read_form(p, p->query, strlen(query));
}

bool params_read(params *p, const char *query, const char *type, char *body, size_t bytes, const char **why)
{
    *p = (params){.file_name = ""};
    *why = "out of memory";
    p->object = json_add(&p->tree, NULL, JSON_OBJECT);
    if (!p->object) return false;
    *why = "Invalid request: the query is not valid";
    if (!read_query(p, query)) return false;
    if (bytes == 0) return true;
    *why = "Invalid JSON format";
    if (type && is_json_type(type)) return read_json(p, body, bytes);
    *why = "Invalid request: the form is not valid";
    if (type && strncasecmp(type, "multipart/form-data", 19) == 0) return read_parts(p, type, body, bytes);
    if (!type || strncasecmp(type, "application/x-www-form-urlencoded", 33) == 0) return read_form(p, body, bytes);
    return true; /* a body of another type says nothing */
}

void params_close(params *p)
{
    json_free(&p->tree);
    free(p->query);
    *p = (params){0};
}

const json_value *params_get(const params *p, const char *name)
{
    const json_value *const v = json_member(p->object, name);
    return v && v->kind != JSON_NULL ? v : NULL;
}

const char *params_text(const params *p, const char *name)
{
    const json_value *const v = params_get(p, name);
    return v && v->kind == JSON_TEXT && strlen(v->text) == v->bytes ? v->text : NULL;
}

bool params_flag(const params *p, const char *name, bool usual)
{
    const json_value *const v = params_get(p, name);
    if (!v) return usual;
    if (v->kind == JSON_TRUE || v->kind == JSON_FALSE) return v->kind == JSON_TRUE;
    if (v->kind == JSON_NUMBER) return v->number != 0;
    if (v->kind != JSON_TEXT) return usual;
    return strcasecmp(v->text, "true") == 0 || strcmp(v->text, "1") == 0 || strcasecmp(v->text, "on") == 0 ||
           strcasecmp(v->text, "yes") == 0;
}

long params_number(const params *p, const char *name, long usual)
{
    const json_value *const v = params_get(p, name);
    if (!v || (v->kind == JSON_TEXT && v->bytes == 0)) return usual;
    if (v->kind == JSON_NUMBER)
        return v->number >= 0 && v->number <= 1e6 && v->number == (double)(long)v->number ? (long)v->number : -1;
    if (v->kind != JSON_TEXT || v->bytes > 6 || strspn(v->text, "0123456789") != v->bytes) return -1;
    return strtol(v->text, NULL, 10);
}
