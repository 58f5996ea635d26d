/* The blocks of a Markdown document that hold text, with the bytes of each of their lines. */
#ifndef GANZ_DOCUMENT_MARKDOWN_BLOCK_H
#define GANZ_DOCUMENT_MARKDOWN_BLOCK_H

#include "base/base.h"

/* Part of a line: bytes [begin, end) of the file. */
typedef struct ganz_md_line {
    size_t begin, end;
} ganz_md_line;

typedef enum ganz_md_leaf_kind {
    GANZ_MD_PARAGRAPH, /* or heading: its lines are white space apart */
    GANZ_MD_CELL,      /* of a table */
    GANZ_MD_HTML       /* one "line": all bytes */
} ganz_md_leaf_kind;

typedef struct ganz_md_leaf {
    ganz_md_leaf_kind kind;
    size_t first, count; /* lines */
} ganz_md_leaf;

/* Labels of link definitions, by the checksums of their normal forms. */
typedef struct ganz_md_labels {
    uint64_t *slots; /* 0: free */
    size_t count, capacity;
} ganz_md_labels;

typedef struct ganz_md_blocks {
    ganz_md_leaf *leaves; /* in the order of the file, without overlap */
    size_t leaf_count, leaf_capacity;
    ganz_md_line *lines;
    size_t line_count, line_capacity;
    ganz_md_labels labels;
    bool failed; /* memory is out */
} ganz_md_blocks;

/* Everything that is in no leaf (marks of lists and quotes, code, definitions, front matter) is to be copied. */
void ganz_md_read_blocks(ganz_md_blocks *blocks, const char *bytes, size_t count);
void ganz_md_blocks_close(ganz_md_blocks *blocks);

#endif
