/* Text as an array of code points, with the few habits of Python strings that scores depend on. */
#ifndef GANZ_TEXT_CODEPOINTS_H
#define GANZ_TEXT_CODEPOINTS_H

#include "base/base.h"
#include "text/unicode.h"

typedef struct ganz_codepoints {
    int32_t *at;
    size_t count, capacity;
    bool failed; /* memory ran out: what follows was dropped. Checked once, where a line is done */
} ganz_codepoints;

void ganz_codepoints_free(ganz_codepoints *codes);

static inline void ganz_codepoints_push(ganz_codepoints *codes, int32_t code)
{
    if (codes->count == codes->capacity &&
        !ganz_grow((void **)&codes->at, &codes->capacity, codes->count + 1, sizeof code))
        codes->failed = true;
    else codes->at[codes->count++] = code;
}

/* Replaces the contents by the text; false when it is not valid UTF-8. */
bool ganz_codepoints_decode(ganz_codepoints *codes, const char *text, size_t bytes);

/* out = str.lower() of in: simple mappings, U+0130 to two code points, and sigma by its place in the word. */
void ganz_codepoints_lower(const ganz_codepoints *in, ganz_codepoints *out);

/* str.rstrip() */
void ganz_codepoints_strip_right(ganz_codepoints *codes);

/* str.replace() in place; `to` is not longer than `from`, both ASCII, `from` not empty. */
void ganz_codepoints_replace(ganz_codepoints *codes, const char *from, const char *to);

#endif
