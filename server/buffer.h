/* Bytes that grow: bodies, replies. A failed request for memory is remembered, so that it is asked for once. */
#ifndef GANZ_SERVER_BUFFER_H
#define GANZ_SERVER_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Start with zeroes. */
typedef struct buffer {
    char *data; /* (bytes), and a 0 behind them once anything was added */
    size_t bytes, capacity;
    bool failed; /* memory ran out: later calls add nothing */
} buffer;

void buffer_add(buffer *b, const void *data, size_t bytes);
void buffer_put(buffer *b, const char *text);
void buffer_printf(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Room for `bytes` more, which the caller writes and counts; NULL: none. */
char *buffer_room(buffer *b, size_t bytes);
void buffer_free(buffer *b);

#endif
