/* What a reader has to know about each element of HTML: how it stands in a text, and what ends it. */
#ifndef GANZ_DOCUMENT_HTML_ELEMENT_H
#define GANZ_DOCUMENT_HTML_ELEMENT_H

#include "base/base.h"

enum {
    GANZ_HTML_INLINE = 1,   /* stands inside a sentence; all others end it */
    GANZ_HTML_VOID = 2,     /* has no end tag: <br> */
    GANZ_HTML_RAW = 4,      /* its content is not markup and not translated: <script> */
    GANZ_HTML_PLAIN = 8,    /* its content is text without markup: <title> */
    GANZ_HTML_OPAQUE = 16,  /* its content is not translated unless asked for: <code> */
    GANZ_HTML_FOREIGN = 32, /* its content is XML: <svg> */
    GANZ_HTML_FORMAT = 64,  /* may end although elements inside of it are still open: <b> */
    GANZ_HTML_SCOPE = 128,  /* end tags of outer elements are not looked for beyond it: <td> */
    GANZ_HTML_ENDS_P = 256, /* an open paragraph ends before it */
    GANZ_HTML_LEAVES = 512, /* never inside <svg>, which it ends */
    GANZ_HTML_KEEPS = 1024  /* white space in it counts: <pre> */
};

/* Elements that end each other without an end tag. */
typedef enum ganz_html_group {
    GANZ_HTML_NO_GROUP,
    GANZ_HTML_P,
    GANZ_HTML_LI,
    GANZ_HTML_LIST,
    GANZ_HTML_TERM,    /* dt, dd */
    GANZ_HTML_TERMS,   /* dl */
    GANZ_HTML_HEADING, /* h1 ... */
    GANZ_HTML_OPTION,
    GANZ_HTML_OPTIONS, /* optgroup */
    GANZ_HTML_SELECT,
    GANZ_HTML_CELL,
    GANZ_HTML_ROW,
    GANZ_HTML_ROWS, /* tbody ... */
    GANZ_HTML_TABLE,
    GANZ_HTML_RUBY /* rt, rp */
} ganz_html_group;

typedef struct ganz_html_element {
    char name[11];
    uint8_t group;
    uint16_t flags;
} ganz_html_element;

/* In any case; never NULL: names that HTML does not know stand inside a sentence, or end it if they have a hyphen
 * (custom elements, mostly boxes of their own). */
const ganz_html_element *ganz_html_find(const char *name, size_t bytes);

/* A number for each name, equal for equal names without case. */
int ganz_html_number(const char *name, size_t bytes);

/* True if the end tag of `ended` does not reach an element that is outside of `inside`. */
bool ganz_html_stops(const ganz_html_element *inside, const ganz_html_element *ended);

/* True if a start tag of an element of this group ends an open `open`; elements in between may shield it. */
bool ganz_html_ends(ganz_html_group begun, const ganz_html_element *open);
bool ganz_html_shields(ganz_html_group begun, const ganz_html_element *between);

/* True if lang="fr" says that text is in neither of two languages, which are codes such as "en", or "". */
bool ganz_html_third_language(const char *lang, size_t bytes, const char *source, const char *target);

#endif
