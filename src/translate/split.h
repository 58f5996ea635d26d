/* Lines that are longer than a model takes: where to cut them, and words that are not translated at all. */
#ifndef GANZ_TRANSLATE_SPLIT_H
#define GANZ_TRANSLATE_SPLIT_H

#include "base/base.h"

/* Bytes of valid UTF-8 text[0..bytes), bytes > 0, that the next piece takes when about `room` bytes fit: all if they
 * fit, else up to the last sentence end within room, else the last clause end, else the last space, each only in the
 * second half of room, else to the last whole character (one at least). */
size_t ganz_split_at(const char *text, size_t bytes, size_t room);

enum { GANZ_LONGEST_WORD = 1000 }; /* characters */

/* The offset of the first word with more than GANZ_LONGEST_WORD characters, `bytes` when there is none; *length gets
 * its bytes. White space and ideographic punctuation end a word. Such a word is no language: encoded data, or a cat on
 * the keyboard. */
size_t ganz_long_word(const char *text, size_t bytes, size_t *length);

#endif
