/* Messages of programs as values of files (JSON, ARB, .properties): how their characters are written, and the argument
 * syntax of ICU, {count, plural, one{a file} other{# files}}. */
#ifndef GANZ_DOCUMENT_MESSAGE_H
#define GANZ_DOCUMENT_MESSAGE_H

#include "document/skeleton.h"

/* One character of a value at raw[0..bytes), bytes > 0: returns how many bytes it is written with; *code is the
 * character, or -1 for one that is only copied. */
typedef size_t ganz_message_step(const char *raw, size_t bytes, int32_t *code);

/* A value as one block or, where it has ICU's choices, one for each of their texts. The bytes are borrowed. */
void ganz_message_put(ganz_skeleton *skeleton, const char *raw, size_t bytes, ganz_message_step *step,
                      const ganz_block_style *style);

/* Text into the block that is open, character by character where they are written otherwise than they are. */
void ganz_message_text(ganz_skeleton *skeleton, const char *raw, size_t bytes, ganz_message_step *step);

/* "\u00e4", in two parts above U+FFFF. False: memory is out. */
bool ganz_message_escape_code(ganz_text *out, int32_t code);
/* Four hexadecimal digits; -1: they are none. */
int32_t ganz_message_hex(const char *digits, size_t bytes);

#endif
