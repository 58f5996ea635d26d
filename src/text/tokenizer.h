/* Tensor2Tensor's reversible tokenizer and the escapes of its subword encoder. All text here is valid UTF-8.
 *
 *   line     Die 2 Häuser_        tokens   Die | 2 | Häuser | _
 *   escaped (no ä in the alphabet)         Die_  2_  H\228;user_  \u_
 */
#ifndef GANZ_TEXT_TOKENIZER_H
#define GANZ_TEXT_TOKENIZER_H

#include <string.h>

#include "ganz/vocab.h"
#include "text/unicode.h"

/* ---- line to tokens ----------------------------------------------------------------------------- */

typedef struct ganz_tokenizer {
    const char *text;
    size_t bytes, at;
} ganz_tokenizer;

/* The next token: a longest run of alphanumeric or of other characters. A run that is one space between two
 * others is left out. False at the end of the line. */
bool ganz_tokenizer_next(ganz_tokenizer *tokens, const char **token, size_t *bytes);

/* ---- tokens to line ----------------------------------------------------------------------------- */

/* Appends a token (not empty) to a line; *after_alnum says whether the token before it began alphanumeric,
 * false at the start of the line. False when memory is out. */
bool ganz_tokenizer_join(ganz_text *line, const char *token, size_t bytes, bool *after_alnum);

/* ---- escapes ------------------------------------------------------------------------------------ */

typedef struct ganz_alphabet {
    uint32_t bits[GANZ_CODE_POINTS / 32];
} ganz_alphabet;

static inline bool ganz_alphabet_has(const ganz_alphabet *a, int32_t code)
{
    return a->bits[code >> 5] >> (code & 31) & 1;
}
static inline void ganz_alphabet_add(ganz_alphabet *a, int32_t code)
{
    a->bits[code >> 5] |= UINT32_C(1) << (code & 31);
}

/* Backslash, underscore and the characters of decimal escapes: part of every alphabet. */
#define GANZ_ESCAPE_CHARACTERS "\\_u;0123456789"

/* Appends the token escaped against the alphabet, without the final underscore. False when memory is out. */
bool ganz_escape(ganz_text *out, const char *token, size_t bytes, const ganz_alphabet *alphabet);

/* Appends what an escaped token, already without its final underscore, stands for. A decimal escape that is
 * no code point gives U+3013, and so does a surrogate, which UTF-8 cannot hold. */
bool ganz_unescape(ganz_text *out, const char *escaped, size_t bytes);

/* Whether this names a mark: <, small letters and digits, >. The tokenizer cuts such a text in three, so no line can be
 * encoded to the entry that it names. */
bool ganz_is_mark(const char *name);

/* ---- growing text ------------------------------------------------------------------------------- */

static inline bool ganz_text_append(ganz_text *t, const char *more, size_t bytes)
{
    size_t need;
    if (!ganz_add_size(t->bytes, bytes, &need)) return false;
    if (!ganz_grow((void **)&t->text, &t->capacity, need, 1)) return false;
    if (bytes > 0) memcpy(t->text + t->bytes, more, bytes);
    t->bytes = need;
    return true;
}

#endif
