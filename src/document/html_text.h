/* Text of HTML: from its bytes to a block's text, and from a translation back to bytes. */
#ifndef GANZ_DOCUMENT_HTML_TEXT_H
#define GANZ_DOCUMENT_HTML_TEXT_H

#include "document/html_entity.h"
#include "document/skeleton.h"

/* How characters beyond ASCII are read and written. */
typedef enum ganz_html_charset {
    GANZ_HTML_UTF8,
    GANZ_HTML_ASCII, /* read as UTF-8, if there are any; written as references, which any page may have */
    GANZ_HTML_LATIN  /* read as windows-1252, likewise written */
} ganz_html_charset;

/* What the bytes of a page are. Bytes that are no UTF-8 are windows-1252, as browsers have it, unless the page says
 * that it is something that we cannot read. UTF-8 is written where the page says that it is; a part of a page need not
 * say so. */
ganz_html_charset ganz_html_charset_of(const char *page, size_t bytes);

typedef struct ganz_html_text_style {
    ganz_html_charset charset;
    ganz_entity_place place; /* text or attribute */
    bool keeps;              /* white space counts: <pre> */
} ganz_html_text_style;

/* Hands text to the open block. */
void ganz_html_add_text(ganz_skeleton *skeleton, const char *raw, size_t bytes, const ganz_html_text_style *style);

/* Appends the same as one line of UTF-8, as far as it fits into `room` bytes; for words that are only shown to the
 * model. Returns the new length. */
size_t ganz_html_show_text(char *out, size_t length, size_t room, const char *raw, size_t bytes);

/* How a translation is written: in a text (quote 0), or in an attribute that has this quote or none (quote '='). */
ganz_escape_text *ganz_html_escape(ganz_html_charset charset, char quote);

#endif
