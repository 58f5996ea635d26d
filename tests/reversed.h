/* A translator that turns the order of the words around and says so: links are right. */
#ifndef GANZ_TESTS_REVERSED_H
#define GANZ_TESTS_REVERSED_H

#include "documents.h"

enum { REVERSED_WORDS = 512 };

/* Rising by target, so the last word of the text comes first. */
static inline int link_reversed(const char *text, size_t bytes, ganz_link *links)
{
    int count = 0;
    for (size_t end = bytes; end > 0 && count < REVERSED_WORDS;) {
        size_t begin = end;
        while (begin > 0 && text[begin - 1] != ' ') begin--;
        links[count++] = (ganz_link){
            .source_begin = begin, .source_end = end, .target_begin = bytes - end, .target_end = bytes - begin};
        end = begin > 0 ? begin - 1 : 0;
    }
    return count;
}

static inline ganz_status fake_translate_reversed(ganz_document *doc, ganz_error *err)
{
    static ganz_link links[REVERSED_WORDS];
    ganz_segment s;
    ganz_status status;
    while ((status = ganz_document_next(doc, &s, err)) == GANZ_OK && s.text) {
        ganz_text out = {0};
        fake_reverse(s.text, s.bytes, &out);
        const ganz_translation t = {
            .text = out.text, .bytes = out.bytes, .links = links, .link_count = link_reversed(s.text, s.bytes, links)};
        status = ganz_document_put(doc, s.number, &t, err);
        free(out.text);
        if (status != GANZ_OK) break;
    }
    return status;
}

#endif
