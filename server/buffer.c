/* Growing by halves, so that adding takes time in proportion to what is added. */
#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *buffer_room(buffer *b, size_t bytes)
{
    if (b->failed || bytes > ((size_t)-1) / 4 - b->bytes) {
        b->failed = true;
        return NULL;
    }
    const size_t wanted = b->bytes + bytes + 1;
    if (wanted > b->capacity) {
        const size_t grown = b->capacity + b->capacity / 2, capacity = wanted > grown ? wanted : grown;
        char *const data = realloc(b->data, capacity);
        if (!data) {
            b->failed = true;
            return NULL;
        }
        b->data = data;
        b->capacity = capacity;
    }
    return b->data + b->bytes;
}

void buffer_add(buffer *b, const void *data, size_t bytes)
{
    char *const room = buffer_room(b, bytes);
    if (!room) return;
    if (bytes > 0) memcpy(room, data, bytes);
    b->bytes += bytes;
    b->data[b->bytes] = '\0';
}

void buffer_put(buffer *b, const char *text) { buffer_add(b, text, strlen(text)); }

void buffer_printf(buffer *b, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    const int bytes = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (bytes > 0) buffer_add(b, text, (size_t)bytes < sizeof text ? (size_t)bytes : sizeof text - 1);
}

void buffer_free(buffer *b)
{
    free(b->data);
    *b = (buffer){0};
}
