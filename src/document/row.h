/* Rows of items: the links of a menu, the path to a page ("Home » Books » Novels"), labels side by side. They stand in
 * one block like the words of a sentence, but as one sentence they lose their texts to each other, so that each is
 * translated on its own. What must not be taken for a row is a sentence whose words have marks of their own. */
#ifndef GANZ_DOCUMENT_ROW_H
#define GANZ_DOCUMENT_ROW_H

#include "base/base.h"

/* What stands between two items, from what says the least to what says the most. */
typedef enum ganz_gap {
    GANZ_GAP_NONE,
    GANZ_GAP_SPACE,
    GANZ_GAP_WEAK,  /* a sign that sentences have, too: "/" and "," */
    GANZ_GAP_STRONG /* one that separates items wherever it stands alone between elements: "|", "»", ">" */
} ganz_gap;

/* A text between elements: [0, begin) and [end, bytes) are gaps, what is between them is an item without an element. */
typedef struct ganz_row_text {
    size_t begin, end;
    ganz_gap before, behind; /* without words all of it is `before` */
} ganz_row_text;

/* Cuts a text, which may have references of HTML and, with `escapes`, Markdown's. False: it has signs but no words. */
bool ganz_row_cut(const char *text, size_t bytes, bool escapes, ganz_row_text *cut);

/* How sure it is that an element is an item by itself. */
typedef enum ganz_row_kind {
    GANZ_ROW_OTHER, /* only with signs around it: <b> */
    GANZ_ROW_LABEL, /* if all are of its kind: <span> that does not begin with a small letter */
    GANZ_ROW_LINK   /* no sentence is made of links and nothing else */
} ganz_row_kind;

/* What was found so far. */
typedef struct ganz_row {
    int items, elements;
    int name; /* of the first element */
    bool mixed;
    bool after_text;
    bool failed;
    ganz_gap pending; /* since the last item */
    ganz_gap weakest;
    ganz_row_kind kind; /* the least sure of all */
} ganz_row;

static inline ganz_row ganz_row_begin(void) { return (ganz_row){.weakest = GANZ_GAP_STRONG, .kind = GANZ_ROW_LINK}; }

/* The next text, and the next element with words in it; before: what was pending at its beginning. */
void ganz_row_add_text(ganz_row *row, const char *text, size_t bytes, bool escapes);
void ganz_row_add_element(ganz_row *row, ganz_gap before, int name, ganz_row_kind kind);
/* Something without words stands in the gap: an icon. */
void ganz_row_add_gap(ganz_row *row, ganz_gap gap);

/* At the end: they are a row. */
bool ganz_row_is(const ganz_row *row);

#endif
