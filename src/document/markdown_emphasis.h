/* Emphasis of Markdown: which "*", "_" and "~" are marks, and of what. */
#ifndef GANZ_DOCUMENT_MARKDOWN_EMPHASIS_H
#define GANZ_DOCUMENT_MARKDOWN_EMPHASIS_H

#include "base/base.h"

typedef struct ganz_md_delimiter ganz_md_delimiter;

/* The runs that may still become marks. Zero at first. */
typedef struct ganz_md_delimiters {
    ganz_md_delimiter *all; /* linked in the order of the text */
    size_t count, capacity;
    int last; /* number of the last one, from 1; 0: none */
} ganz_md_delimiters;

enum { GANZ_MD_MARK_OPENS = 1, GANZ_MD_MARK_CLOSES = 2, GANZ_MD_MARK_DOUBLE = 4 };

/* A run text[begin, end) of one character; false: memory is out. */
bool ganz_md_add_run(ganz_md_delimiters *d, const char *text, size_t bytes, size_t begin, size_t end);
/* Pairs the runs behind number `bottom` and forgets them. marks (bytes of the text): the first byte of each mark is set
 * to OPENS or CLOSES, with DOUBLE for "**". */
void ganz_md_pair_runs(ganz_md_delimiters *d, int bottom, uint8_t *marks);
void ganz_md_delimiters_close(ganz_md_delimiters *d);

#endif
