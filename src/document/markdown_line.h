/* What one line of Markdown is: CommonMark's blocks, and tables, footnotes and mathematics as GitHub and others have
 * them. Lines come without their line end and without the white space before them. */
#ifndef GANZ_DOCUMENT_MARKDOWN_LINE_H
#define GANZ_DOCUMENT_MARKDOWN_LINE_H

#include "base/base.h"

/* White space inside a line. */
static inline bool ganz_md_space(char c) { return c == ' ' || c == '\t'; }
bool ganz_md_blank(const char *line, size_t bytes);
/* ASCII punctuation: all that a backslash can stand before. */
bool ganz_md_punctuation(char c);

/* A line across the page: "---", "* * *". */
bool ganz_md_rule(const char *line, size_t bytes);
/* "## Heading ##": the heading's text is [*begin, *end). */
bool ganz_md_heading(const char *line, size_t bytes, size_t *begin, size_t *end);
/* Where the text of a heading ends before attributes like "{#name}"; `bytes`: there are none. */
size_t ganz_md_before_attributes(const char *line, size_t bytes);
/* "===" or "---" below a paragraph, which makes a heading of it. */
bool ganz_md_underline(const char *line, size_t bytes);

typedef struct ganz_md_fence {
    char mark; /* ` or ~ */
    size_t length;
} ganz_md_fence;

/* The beginning of a block of code, and its end. */
bool ganz_md_fence_opens(const char *line, size_t bytes, ganz_md_fence *fence);
bool ganz_md_fence_closes(const char *line, size_t bytes, const ganz_md_fence *fence);

/* The beginning of HTML, as one of CommonMark's seven kinds; 0: it is not. The seventh cannot follow a paragraph's
 * line. */
int ganz_md_html_opens(const char *line, size_t bytes, bool in_paragraph);
/* Kinds 1 to 5: the line is the last. Kinds 6 and 7 end before a blank line. */
bool ganz_md_html_closes(const char *line, size_t bytes, int kind);

/* Length of "-", "+", "*", "12." or "12)" with white space or nothing behind it; 0: no item. in_paragraph: whether it
 * may follow a paragraph's line decides too. */
size_t ganz_md_item_mark(const char *line, size_t bytes, bool in_paragraph);
/* Length of ":" with white space and text behind it, the definition of the term above; 0: none. */
size_t ganz_md_term_mark(const char *line, size_t bytes);
/* True of "!!! note" and "??? tip "Title"", whose text is indented below; the title is [*begin, *end), perhaps empty.
 */
bool ganz_md_admonition(const char *line, size_t bytes, size_t *begin, size_t *end);
/* Length of "[ ] " or "[x] " with the white space behind it; 0: no task. */
size_t ganz_md_task(const char *line, size_t bytes);
/* Length of "[^name]:"; 0: no footnote. */
size_t ganz_md_footnote(const char *line, size_t bytes);
/* Lines for other programs: "[!NOTE]", "::: tip", "{: .class}", "{% if %}". */
bool ganz_md_directive(const char *line, size_t bytes);

/* Columns of "|---|:-:|"; 0: it is not the line below the head of a table. */
size_t ganz_md_table_rule(const char *line, size_t bytes);
/* The next cell of a row without the white space around it; *at is 0 at first. False: there is none. */
bool ganz_md_cell(const char *line, size_t bytes, size_t *at, size_t *begin, size_t *end);

#endif
