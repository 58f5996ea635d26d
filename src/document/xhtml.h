/* XHTML: HTML that is XML, as books have it. */
#ifndef GANZ_DOCUMENT_XHTML_H
#define GANZ_DOCUMENT_XHTML_H

#include "document/format.h"

/* Reads a page into copies and blocks; one that is not well-formed is read as HTML. The bytes are borrowed. */
ganz_status ganz_xhtml_read(ganz_skeleton *skeleton, const char *bytes, size_t count,
                            const ganz_format_options *options, ganz_error *err);

#endif
