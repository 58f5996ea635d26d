/* Where to cut a line that is longer than the model takes. */
#ifndef GANZ_TRANSLATE_SPLIT_H
#define GANZ_TRANSLATE_SPLIT_H

#include "base/base.h"

/* Bytes of valid UTF-8 text[0..bytes), bytes > 0, that the next piece takes when about `room` bytes fit: all if they
 * fit, else up to the last sentence end within room, else the last clause end, else the last space, each only in the
 * second half of room, else to the last whole character (one at least). */
size_t ganz_split_at(const char *text, size_t bytes, size_t room);

#endif
