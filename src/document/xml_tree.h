/* All events of an XML text as one array, for readers that look ahead: each start knows its end. Also what every reader
 * of an XML format needs to hand text to a skeleton. */
#ifndef GANZ_DOCUMENT_XML_TREE_H
#define GANZ_DOCUMENT_XML_TREE_H

#include "document/skeleton.h"
#include "document/xml.h"

/* An element that the reader wants to know, by a number from 1 of its own. */
typedef struct ganz_xml_name {
    int space;         /* of its namespace; 0: none, or one that is not known */
    const char *local; /* "*": any other of the namespace; NULL ends the table */
    int name;
} ganz_xml_name;

/* What a reader knows of a format. */
typedef struct ganz_xml_dialect {
    const ganz_xml_name *names;
    ganz_xml_options options;
} ganz_xml_dialect;

typedef struct ganz_xml_event {
    uint32_t begin, end; /* bytes of the text */
    uint32_t partner;    /* of a start: its end; of an end: its start; of all others, and of empty elements: itself */
    uint16_t name;       /* of a start or end; 0: not known */
    uint8_t kind;        /* ganz_xml_kind; the last is GANZ_XML_STOP */
    bool empty;
} ganz_xml_event;

typedef struct ganz_xml_tree {
    ganz_xml x; /* where scanning ended; for references and places in messages */
    ganz_xml_event *events;
    size_t count;
} ganz_xml_tree;

/* Scans all of the text (at most 256 MiB, 16 million events), which is borrowed. name: see ganz_xml_open. Tables end
 * with a NULL. To be closed also after a failure. */
ganz_status ganz_xml_tree_open(ganz_xml_tree *tree, const char *text, size_t bytes, const char *name,
                               const ganz_xml_dialect *dialect, ganz_error *err);
void ganz_xml_tree_close(ganz_xml_tree *tree);

static inline bool ganz_xml_starts(const ganz_xml_tree *t, size_t event, int name)
{
    return t->events[event].kind == GANZ_XML_START && t->events[event].name == name;
}

/* The event after an element or other event. */
static inline size_t ganz_xml_after(const ganz_xml_tree *t, size_t event)
{
    return t->events[event].kind == GANZ_XML_START ? t->events[event].partner + 1 : event + 1;
}

bool ganz_xml_tree_attribute(const ganz_xml_tree *tree, size_t event, const char *local, ganz_slice *value);

/* ---- to a skeleton ------------------------------------------------------------------------------ */

/* ganz_escape_text for text between tags, and for values between double quotes: without the characters XML has not. */
bool ganz_xml_escape(ganz_text *out, const char *text, size_t bytes);
bool ganz_xml_escape_value(ganz_text *out, const char *text, size_t bytes);

/* Bytes [begin, end) of the text: copied. */
void ganz_xml_copy(ganz_skeleton *skeleton, const ganz_xml_tree *tree, size_t begin, size_t end);
/* Bytes [begin, end) of a text event: text of the open block. */
void ganz_xml_put_text(ganz_skeleton *skeleton, const ganz_xml_tree *tree, size_t begin, size_t end);
/* A whole event of text or CDATA. */
void ganz_xml_put_event(ganz_skeleton *skeleton, const ganz_xml_tree *tree, size_t event);

/* All text between two events, in memory of the skeleton; *bytes 0 when there is none, or memory is out. */
const char *ganz_xml_shown(ganz_skeleton *skeleton, const ganz_xml_tree *tree, size_t first, size_t last,
                           size_t *bytes);

/* The same for bytes [begin, end) of them, without texts that are all white space: those between elements. */
const char *ganz_xml_shown_part(ganz_skeleton *skeleton, const ganz_xml_tree *tree, size_t first, size_t last,
                                size_t begin, size_t end, size_t *bytes);

/* True if one of these events is text that is not all white space. */
bool ganz_xml_has_text(const ganz_xml_tree *tree, size_t first, size_t last);

/* One or two characters for a code point of a reference: in static memory, or in the skeleton's. */
const char *ganz_xml_character(ganz_skeleton *skeleton, int32_t code, size_t *bytes);

#endif
