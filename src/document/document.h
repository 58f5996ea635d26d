/* What a document is inside: its skeleton and its sentences. */
#ifndef GANZ_DOCUMENT_DOCUMENT_H
#define GANZ_DOCUMENT_DOCUMENT_H

#include "document/format.h"
#include "document/parts.h"
#include "document/segment.h"
#include "ganz/document.h"

struct ganz_document {
    ganz_document_options options;
    ganz_setting setting;
    const ganz_format *format;
    ganz_skeleton *skeleton;
    ganz_sentence_part *sentences; /* (count) block after block */
    size_t count, capacity;
    size_t *first;            /* (blocks + 1) first sentence of each block */
    ganz_formality formality; /* of what is below the opening of a letter */
    bool begun;               /* the opening is behind us, or there is none */
    size_t next, done;        /* first that was never handed out; how many are done */
    size_t *again;            /* (again_count) out for another attempt, from again_next on not yet handed out */
    size_t again_next, again_count, again_capacity;
};

/* ganz_document_open of a format that need not be in the table: for tests of skeletons. */
ganz_status ganz_document_open_as(ganz_document **document, const ganz_format *format, const char *bytes, size_t count,
                                  const ganz_document_options *options, ganz_error *err);

#endif
