/* Documents without a model: translators that do simple and nasty things. */
#ifndef GANZ_TESTS_DOCUMENTS_H
#define GANZ_TESTS_DOCUMENTS_H

#include <stdlib.h>
#include <string.h>

#include "ganz/document.h"

/* Appends what a sentence becomes. */
typedef void fake_translator(const char *text, size_t bytes, ganz_text *out);

static inline void fake_add(ganz_text *out, const char *text, size_t bytes)
{
    out->text = realloc(out->text, out->bytes + bytes + 1);
    if (bytes > 0) memcpy(out->text + out->bytes, text, bytes);
    out->bytes += bytes;
    out->text[out->bytes] = 0;
    out->capacity = out->bytes + 1;
}

static inline void fake_identity(const char *text, size_t bytes, ganz_text *out) { fake_add(out, text, bytes); }
static inline void fake_nothing(const char *text, size_t bytes, ganz_text *out)
{
    (void)text;
    fake_add(out, "", bytes * 0);
}
static inline void fake_twice(const char *text, size_t bytes, ganz_text *out)
{
    fake_add(out, text, bytes);
    fake_add(out, " ", 1);
    fake_add(out, text, bytes);
}
/* Small letters become capitals. */
static inline void fake_shout(const char *text, size_t bytes, ganz_text *out)
{
    fake_add(out, text, bytes);
    for (size_t i = out->bytes - bytes; i < out->bytes; i++)
        if (out->text[i] >= 'a' && out->text[i] <= 'z') out->text[i] = (char)(out->text[i] - 32);
}
/* The words in reverse order. */
static inline void fake_reverse(const char *text, size_t bytes, ganz_text *out)
{
    for (size_t end = bytes; end > 0;) {
        size_t begin = end;
        while (begin > 0 && text[begin - 1] != ' ') begin--;
        fake_add(out, text + begin, end - begin);
        if (begin > 0) fake_add(out, " ", 1);
        end = begin > 0 ? begin - 1 : 0;
    }
}

/* Translates all that the document asks for; with `seed` not 0 there are links that make no sense. */
static inline ganz_status fake_translate_linked(ganz_document *doc, fake_translator *translate, uint32_t seed,
                                                ganz_error *err)
{
    ganz_segment s;
    ganz_link links[8] = {0};
    ganz_status status;
    while ((status = ganz_document_next(doc, &s, err)) == GANZ_OK && s.text) {
        ganz_text out = {0};
        translate(s.text, s.bytes, &out);
        ganz_translation t = {.text = out.text, .bytes = out.bytes, .links = links};
        for (int i = 0; seed && i < 8; i++) {
            size_t *const numbers = &links[i].source_begin;
            for (int k = 0; k < 4; k++) numbers[k] = (seed = seed * 1664525u + 1013904223u) >> 8;
            links[i].source_begin %= s.bytes + 2;
            links[i].source_end %= s.bytes + 4;
            links[i].target_begin %= out.bytes + 2;
            links[i].target_end = links[i].target_begin + links[i].target_end % 6;
            links[i].weak = seed & 256;
            t.link_count++;
        }
        status = ganz_document_put(doc, s.number, &t, err);
        free(out.text);
        if (status != GANZ_OK) break;
    }
    return status;
}

static inline ganz_status fake_translate(ganz_document *doc, fake_translator *translate, ganz_error *err)
{
    return fake_translate_linked(doc, translate, 0, err);
}

#endif
