/* Text in attributes of HTML. */
#ifndef GANZ_DOCUMENT_HTML_ATTRIBUTES_H
#define GANZ_DOCUMENT_HTML_ATTRIBUTES_H

#include "document/html_scan.h"
#include "document/html_text.h"

/* True if a start tag has an attribute that is to be translated: alt, title, placeholder, ... */
bool ganz_html_has_text(const ganz_html_token *token);

/* Copies a start tag with such attributes as blocks. Outside of blocks, or inside a mark. */
void ganz_html_add_tag(ganz_skeleton *skeleton, const ganz_html_token *token, ganz_html_charset charset);

#endif
