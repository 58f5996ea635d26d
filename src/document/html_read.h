/* The reader of HTML, also for formats that hold HTML inside. */
#ifndef GANZ_DOCUMENT_HTML_READ_H
#define GANZ_DOCUMENT_HTML_READ_H

#include "document/format.h"

/* Adds a page or a part of one to the skeleton: pieces and whole blocks, after which no block is open. A page that
 * begins with "<?xml" is read by XML's rules for empty elements. */
ganz_status ganz_html_read(ganz_skeleton *skeleton, const char *bytes, size_t count, const ganz_format_options *options,
                           ganz_error *err);

#endif
