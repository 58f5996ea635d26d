/* Tags of HTML inside a line of Markdown, by CommonMark's stricter rules: "a <b c" is no tag. */
#ifndef GANZ_DOCUMENT_MARKDOWN_HTML_H
#define GANZ_DOCUMENT_MARKDOWN_HTML_H

#include "base/base.h"

/* What is known to be missing from some place of a text to its end, so that it is searched for once. Zero at first. */
typedef struct ganz_md_html_state {
    bool no_comment, no_instruction, no_declaration, no_data;
} ganz_md_html_state;

/* Length of the tag, comment, instruction, declaration or CDATA section that begins with the "<" at text[at]; 0: none.
 */
size_t ganz_md_html_length(const char *text, size_t at, size_t bytes, ganz_md_html_state *state);

/* Length of <https://...> or <name@host>; 0: none. */
size_t ganz_md_autolink(const char *text, size_t at, size_t bytes);

#endif
