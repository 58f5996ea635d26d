/* Words in a text of Markdown that are no text: addresses, mathematics, placeholders, emoji, footnotes. */
#ifndef GANZ_DOCUMENT_MARKDOWN_WORD_H
#define GANZ_DOCUMENT_MARKDOWN_WORD_H

#include "base/base.h"

/* What is known of the text further on. Zero at first. */
typedef struct ganz_md_word_state {
    size_t dollar;          /* the next place that may end "$x$"; 0: not known yet */
    size_t dollars;         /* of "$$x$$" */
    bool no_braces, no_tag; /* "}}" and "%}" are missing */
} ganz_md_word_state;

/* Length of such a word at text[at]: "https://x", "$x$", "{{x}}", "{% x %}", ":smile:"; 0: none. *before and *behind:
 * bytes at its ends that are not to be shown to the model. */
size_t ganz_md_word_length(const char *text, size_t at, size_t bytes, ganz_md_word_state *state, size_t *before,
                           size_t *behind);

/* Length of a footnote's anchor "[^1]", and of a page "[[name]]" of a wiki; 0: none. */
size_t ganz_md_note_length(const char *text, size_t at, size_t bytes);
size_t ganz_md_page_length(const char *text, size_t at, size_t bytes);

#endif
