/* Links of Markdown: what stands behind a bracket, and definitions. Texts have a "\n" between their lines. */
#ifndef GANZ_DOCUMENT_MARKDOWN_LINK_H
#define GANZ_DOCUMENT_MARKDOWN_LINK_H

#include "document/markdown_block.h"

/* Where a link leads to. */
typedef struct ganz_md_target {
    size_t end;                    /* behind it */
    size_t title_begin, title_end; /* inside the quotes; equal: no title */
    char quote;                    /* ", ' or ( */
} ganz_md_target;

/* "(address "title")" at text[at]. */
bool ganz_md_link_target(const char *text, size_t at, size_t bytes, ganz_md_target *target);

/* Length of "[label]" at text[at] with what is between the brackets; 0: none. */
size_t ganz_md_label_length(const char *text, size_t at, size_t bytes);

/* "[label]: address "title"" at text[0], the lines of a paragraph; returns its length with the last line's end, and
 * sets the label. 0: it is none. */
size_t ganz_md_definition(const char *text, size_t bytes, const char **label, size_t *label_bytes);

/* Labels are equal without case and with any white space; false: memory is out. */
bool ganz_md_labels_add(ganz_md_labels *labels, const char *label, size_t bytes);
bool ganz_md_labels_have(const ganz_md_labels *labels, const char *label, size_t bytes);

#endif
