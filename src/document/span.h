/* Spans of numbers, which models take for results of matches: "8-10 minutes" became "8:10 Minuten". */
#ifndef GANZ_DOCUMENT_SPAN_H
#define GANZ_DOCUMENT_SPAN_H

#include <stddef.h>

/* A sentence, bytes [begin, end) of a text, and its translation. */
typedef struct ganz_span_view {
    const char *text;
    size_t begin, end;
    const char *translation;
    size_t bytes;
} ganz_span_view;

/* The colon at a place of the translation stands between two numbers of a span: then bytes of the sentence's own dash,
 * which begins at *dash of the text. 0: it does not, or the sentence tells a result. */
size_t ganz_span_dash(const ganz_span_view *view, size_t colon, size_t *dash);

#endif
