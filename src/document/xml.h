/* A strict scanner for XML in memory that hands out one event after the other; each has its range of bytes, and the
 * ranges follow each other without gaps, so that a reader can copy what it does not understand.
 *
 *   ganz_xml x;
 *   ganz_xml_open(&x, text, bytes, "content.xml", &options, err);
 *   do { GANZ_TRY(ganz_xml_next(&x, err)); ... } while (x.kind != GANZ_XML_STOP);
 *
 * UTF-8 only; no document type (but see options), so no entities but the five of XML and numbers; 256 levels; no
 * element crosses another. Whether an attribute is given twice is not checked. Nothing is allocated. */
#ifndef GANZ_DOCUMENT_XML_H
#define GANZ_DOCUMENT_XML_H

#include "base/base.h"

enum { GANZ_XML_DEPTH = 256, GANZ_XML_BINDINGS = 256 };

typedef enum ganz_xml_kind {
    GANZ_XML_START, /* of an element, or a whole empty one: see `empty`, no end follows then */
    GANZ_XML_END,
    GANZ_XML_TEXT,  /* inside the root; with references, see ganz_xml_decode */
    GANZ_XML_CDATA, /* text between <![CDATA[ and ]]>; the range has both */
    GANZ_XML_OTHER, /* comment, instruction, declaration, white space outside the root */
    GANZ_XML_STOP   /* after the last byte */
} ganz_xml_kind;

typedef struct ganz_slice {
    const char *at;
    size_t bytes;
} ganz_slice;

/* A namespace that the reader wants to know, by a number from 1 of its own. Two addresses may have one number. */
typedef struct ganz_xml_space {
    const char *address;
    int number;
} ganz_xml_space;

typedef struct ganz_xml_options {
    const ganz_xml_space *spaces; /* ends with address NULL; NULL: none is of interest */
    bool doctype;                 /* a document type without declarations of its own is passed over (XHTML) */
    /* Code point of a named reference, or 0 for none; NULL: the five only. */
    int32_t (*entity)(const char *name, size_t bytes);
} ganz_xml_options;

typedef struct ganz_xml {
    /* The event. */
    ganz_xml_kind kind;
    size_t begin, end; /* of its bytes */
    bool empty;        /* a start that is its own end */
    int space;         /* of an element: its namespace's number; 0: none that is known */
    ganz_slice local;  /* its name without the prefix */
    int depth;         /* elements open around the event; a start or end counts its own element */

    const char *text;
    size_t bytes;

    /* The scanner's own. */
    const char *name;
    ganz_xml_options options;
    bool rooted;
    int open;
    ganz_slice names[GANZ_XML_DEPTH];
    int numbers[GANZ_XML_DEPTH];
    int bound;
    struct {
        ganz_slice prefix;
        int number, depth;
    } bindings[GANZ_XML_BINDINGS];
} ganz_xml;

/* Everything is borrowed until the last event. name is for messages; NULL: there is but one file. options NULL: none.
 */
ganz_status ganz_xml_open(ganz_xml *x, const char *text, size_t bytes, const char *name,
                          const ganz_xml_options *options, ganz_error *err);
ganz_status ganz_xml_next(ganz_xml *x, ganz_error *err);

/* True for the element `local` of the namespace with that number. */
bool ganz_xml_is(const ganz_xml *x, int space, const char *local);
bool ganz_slice_is(ganz_slice slice, const char *text);

/* An attribute of a tag <...> that the scanner has passed, as it stands between its quotes: the first of that name with
 * any prefix. */
bool ganz_xml_attribute(const char *tag, size_t bytes, const char *local, ganz_slice *value);

/* The attributes of a tag one after the other: *at is 0 before the first. False: there are no more. */
bool ganz_xml_next_attribute(const char *tag, size_t bytes, size_t *at, ganz_slice *name, ganz_slice *value);

/* Text without references: decodes at most one reference or a run of plain bytes at raw[0..bytes), bytes > 0. Returns
 * how many bytes it took; *code is the reference's code point, or -1 for plain bytes. Only for text of an event. */
size_t ganz_xml_step(const ganz_xml *x, const char *raw, size_t bytes, int32_t *code);
/* All of it: out has room for `bytes`. Returns the length. */
size_t ganz_xml_decode(const ganz_xml *x, const char *raw, size_t bytes, char *out);

/* Fails with the place of byte `at` before the sentence. */
ganz_status ganz_xml_fail(const ganz_xml *x, size_t at, const char *sentence, ganz_error *err);

#endif
