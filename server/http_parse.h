/* Requests of HTTP/1.0 and 1.1, read strictly: what two programs might understand in two ways is refused. */
#ifndef GANZ_SERVER_HTTP_PARSE_H
#define GANZ_SERVER_HTTP_PARSE_H

#include "buffer.h"

enum { HTTP_LINE = 8192, HTTP_HEAD = 16384 + HTTP_LINE, HTTP_HEADERS = 64 };

typedef enum http_method { HTTP_GET, HTTP_HEAD_METHOD, HTTP_POST, HTTP_OPTIONS, HTTP_DELETE, HTTP_OTHER } http_method;

typedef struct http_header {
    const char *name, *value; /* terminated */
} http_header;

typedef struct http_head {
    http_method method;
    int minor;         /* of HTTP/1.x: 0 or 1 */
    char *path;        /* without its escapes, terminated */
    const char *query; /* as it came, behind "?"; empty: none */
    http_header headers[HTTP_HEADERS];
    int header_count;
    bool has_length, chunked, keep_alive, wants_continue;
    unsigned long long length; /* of the body; 0 where has_length is false */
} http_head;

/* Where a head ends, behind its blank line, in bytes that begin with one; 0: it does not yet. *looked is how far
 * earlier calls have come, 0 at first. *status: of the reply to bytes that cannot become a head, else 0. */
size_t http_find_end(const char *bytes, size_t count, size_t *looked, int *status);

/* Takes a whole head apart, in place. 0, or the status of the reply that refuses it, with *why. */
int http_parse_head(char *text, size_t bytes, http_head *head, const char **why);

/* Value of a header by its name in small letters; NULL: there is none. */
const char *http_find_header(const http_head *head, const char *name);
/* The same for the last header of that name: the one that the nearest proxy added. */
const char *http_find_last_header(const http_head *head, const char *name);

/* A body in chunks on its way. Start with zeroes. */
typedef struct http_chunks {
    int state;
    int digits;
    unsigned long long left; /* of the chunk */
} http_chunks;

/* Takes as many of the bytes as belong to the body, and adds its content. *used: how many. 0: go on; 1: the body is
 * whole; else the status that refuses it: 400, or 413 when it has more than `most` bytes. */
int http_add_chunks(http_chunks *c, const char *bytes, size_t count, size_t *used, buffer *body, size_t most);

/* Undoes %XX in place ("+" too in a form) and terminates; false: an escape stands for 0, or is none. In a form a
 * percent sign that begins no escape is itself: people write 50% without thinking of it, and the URL Standard reads it
 * so. */
bool http_unescape(char *text, size_t *bytes, bool form);

#endif
