/* Writing text as Markdown, so that nothing in it becomes a mark. */
#ifndef GANZ_DOCUMENT_MARKDOWN_ESCAPE_H
#define GANZ_DOCUMENT_MARKDOWN_ESCAPE_H

#include "document/skeleton.h"

/* Text of a paragraph or heading; it may stand at the beginning of a line. */
ganz_escape_text ganz_md_escape;
/* ... of a cell, where "|" ends it. */
ganz_escape_text ganz_md_escape_cell;
/* A title in quotes: ", ' or (. */
ganz_escape_text *ganz_md_escape_title(char quote);

#endif
