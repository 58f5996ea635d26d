/* The text of a paragraph of Markdown, cut into words, marks and what must not be translated. */
#ifndef GANZ_DOCUMENT_MARKDOWN_INLINE_H
#define GANZ_DOCUMENT_MARKDOWN_INLINE_H

#include "document/markdown_block.h"

typedef enum ganz_md_kind {
    GANZ_MD_TEXT,
    GANZ_MD_CHARACTER, /* written in another way: "\*", "&amp;"; value: its code */
    GANZ_MD_SPACE,     /* the end of a line */
    GANZ_MD_OPAQUE,    /* code, addresses, mathematics; the inner part is what the model may see */
    GANZ_MD_OPEN,      /* of a link or of HTML; value: a number for each kind of element */
    GANZ_MD_CLOSE,     /* likewise; for links the inner part is the title, or the label (extra "]") */
    GANZ_MD_EMPTY,     /* a footnote's anchor, <img>, a comment */
    GANZ_MD_BREAK,     /* a line ends here for the reader, too */
    GANZ_MD_IMAGE,     /* "![": all items up to number `value` (IMAGE_END) are its text */
    GANZ_MD_IMAGE_END,
    GANZ_MD_RUN /* of "*", "_" or "~": each is text or part of a mark, see ganz_md_mark */
} ganz_md_kind;

typedef struct ganz_md_item {
    uint8_t kind;
    char extra; /* before the inner part: the quote of a title, or "]" */
    bool html;
    int32_t value;
    uint32_t begin, end, inner_begin, inner_end; /* in the text */
} ganz_md_item;

enum { GANZ_MD_LINK = -1, GANZ_MD_NOTHING = -2, GANZ_MD_EMPHASIS = -16 /* and below */ };

/* Zero at first; used for one text after the other. */
typedef struct ganz_md_inline {
    const char *text; /* with "\n" between lines */
    size_t bytes;
    ganz_md_item *items; /* in order, all of the text */
    size_t count, capacity;
    uint8_t *marks; /* (bytes) what a byte of a RUN is */
    size_t mark_capacity;
    bool failed; /* memory is out */
} ganz_md_inline;

/* The text is borrowed and shorter than 4 GiB. */
void ganz_md_read_inline(ganz_md_inline *in, const char *text, size_t bytes, const ganz_md_labels *labels);
void ganz_md_inline_close(ganz_md_inline *in);

/* Length of the mark that begins at a byte of a RUN; 0: it is text. *name: below GANZ_MD_EMPHASIS. */
size_t ganz_md_mark(const ganz_md_inline *in, size_t at, bool *opens, int *name);

#endif
