/* Rows of items in a page; see row.h. */
#ifndef GANZ_DOCUMENT_HTML_ROW_H
#define GANZ_DOCUMENT_HTML_ROW_H

#include "document/html_scan.h"

/* What the tokens up to byte `end` of the page are: the items of a row, inside so many elements (0: of none), or, with
 * depth -1, nothing of the kind. */
typedef struct ganz_html_row {
    size_t end;
    int depth;
} ganz_html_row;

/* Looks at all tokens from the scan's place up to the next one that ends a block. xml: <a/> is a whole element;
 * heading: around it is one, where labels are words. */
ganz_html_row ganz_html_find_row(ganz_html_scan scan, bool xml, bool heading);

#endif
