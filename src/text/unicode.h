/* Classes of characters: the two that Tensor2Tensor's text rules know, and case. Categories come from utf8proc. */
#ifndef GANZ_TEXT_UNICODE_H
#define GANZ_TEXT_UNICODE_H

#include "base/base.h"

enum { GANZ_CODE_POINTS = 0x110000 };

/* Alphanumeric: the general category starts with L or N. Any other code point, of any value, is not. */
bool ganz_is_alnum_wide(int32_t code);
static inline bool ganz_is_alnum(int32_t code)
{
    const uint32_t c = (uint32_t)code;
    return c < 0x80 ? (c | 0x20) - 'a' < 26 || c - '0' < 10 : ganz_is_alnum_wide(code);
}

/* A mark that belongs to the character before it: the general category starts with M. */
bool ganz_is_combining(int32_t code);

/* Case, one character at a time. Title case is upper; what has no other case stays as it is. */
bool ganz_is_upper(int32_t code);
bool ganz_is_lower(int32_t code);
int32_t ganz_to_upper(int32_t code);
int32_t ganz_to_lower(int32_t code);

/* What Python's str.strip() takes away. */
bool ganz_is_space(int32_t code);

/* The part of a valid UTF-8 text that str.strip() leaves: returns its start and sets *bytes to its length. */
const char *ganz_strip(const char *text, size_t *bytes);

/* The code point at the start of a valid UTF-8 text; returns its length. Without the checks of ganz_utf8_decode. */
static inline size_t ganz_next_character(const char *text, int32_t *code)
{
    const unsigned char *const s = (const unsigned char *)text;
    if (s[0] < 0x80) return *code = s[0], 1;
    if (s[0] < 0xE0) return *code = (s[0] & 0x1F) << 6 | (s[1] & 0x3F), 2;
    if (s[0] < 0xF0) return *code = (s[0] & 0x0F) << 12 | (s[1] & 0x3F) << 6 | (s[2] & 0x3F), 3;
    return *code = (s[0] & 0x07) << 18 | (s[1] & 0x3F) << 12 | (s[2] & 0x3F) << 6 | (s[3] & 0x3F), 4;
}

/* Code points of a valid UTF-8 text. */
size_t ganz_count_characters(const char *text, size_t bytes);

#endif
