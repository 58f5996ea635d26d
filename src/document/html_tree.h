/* The elements that are open at a place of a page, and what holds inside of them: translated or not, white space, XML.
 */
#ifndef GANZ_DOCUMENT_HTML_TREE_H
#define GANZ_DOCUMENT_HTML_TREE_H

#include "document/html_element.h"
#include "document/html_scan.h"

typedef struct ganz_html_open {
    const ganz_html_element *element;
    int number;
    bool translate; /* the text in it */
    bool keeps;     /* its white space counts */
    bool bare;      /* no tag may stand in it: <title>, <option> */
    bool foreign;   /* it is part of an svg or math */
    bool host;      /* ... but what it holds is HTML: <foreignObject> */
} ganz_html_open;

typedef struct ganz_html_tree {
    ganz_html_open *open; /* the innermost last */
    size_t count, capacity;
    bool xml;                    /* <p/> is a whole element; nothing ends without its end tag */
    const char *source, *target; /* languages; text in a third one is not translated */
} ganz_html_tree;

void ganz_html_tree_close(ganz_html_tree *tree);

/* The innermost element; one that translates, when none is open. */
const ganz_html_open *ganz_html_innermost(const ganz_html_tree *tree);
/* Inside svg or math, where tags are XML's. */
bool ganz_html_foreign(const ganz_html_tree *tree);

/* A start tag: ends what it ends and opens the element; false when memory is out. *opened: what holds in the element,
 * also for one that is empty and does not stay open; *stays says whether it does. */
bool ganz_html_start(ganz_html_tree *tree, const ganz_html_token *token, ganz_html_open *opened, bool *stays);
/* An end tag: ends the element, if one is open that it can end, and most of those inside. */
void ganz_html_end(ganz_html_tree *tree, const ganz_html_token *token);

#endif
