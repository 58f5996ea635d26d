/* Office Open XML (DOCX, PPTX): text stands in runs, <w:r><w:rPr>format</w:rPr><w:t>text</w:t></w:r>, and nowhere else.
 *
 * So that marks may be moved by a translation and text still ends up in runs, a paragraph has a *base format*, and
 * every mark leads from text in the base format back to it (or, if it opens a pair, into the pair's format, and back
 * with its end). Where the file itself has no such text, because one run follows another, the mark has *glue* at its
 * ends: a number that stands for "begin a run in the base format" or "end it". When the document is written, glue that
 * meets its own counterpart falls out, so that nothing is changed where nothing was moved; all other glue becomes tags.
 */
#ifndef GANZ_DOCUMENT_OOXML_H
#define GANZ_DOCUMENT_OOXML_H

#include "document/format.h"
#include "document/xml_tree.h"

/* Names of the elements that readers must know, of text documents and of drawings alike. */
enum {
    OOXML_PARAGRAPH = 1,
    OOXML_RUN,
    OOXML_FORMAT, /* of a run */
    OOXML_TEXT,
    OOXML_TAB,
    OOXML_LINE,        /* a line break */
    OOXML_HYPHEN,      /* one that does not end a line */
    OOXML_NOTHING,     /* leaves with the words around it: soft hyphens, places of spelling mistakes */
    OOXML_FIELD_CHAR,  /* begin, middle and end of a field whose parts stand in runs of their own */
    OOXML_INSTRUCTION, /* of such a field */
    OOXML_AROUND,      /* an element around runs: a hyperlink, inserted text */
    OOXML_HOLDER,      /* one that has its runs in a content of its own, beside properties */
    OOXML_CONTENT,
    OOXML_WORD, /* not translated: a field with its result inside */
    OOXML_FROM, /* ends of ranges */
    OOXML_TO,
    OOXML_HIDDEN,   /* deleted text, properties: of no interest to a reader */
    OOXML_DRAWING,  /* properties of a picture, with an alternative text among its attributes */
    OOXML_LANGUAGE, /* in a format: makes no difference to readers */
    OOXML_RAISED    /* in a format: the text is raised or lowered */
};

/* ---- glue --------------------------------------------------------------------------------------- */

/* A place in the file between pieces of text, and the base format around it. */
typedef struct ganz_ooxml_place {
    ganz_slice base;  /* start tag and format of a run in the base format; empty: one without any format */
    ganz_slice enter; /* the same of the run whose inside the place is; empty: it is outside of runs */
} ganz_ooxml_place;

typedef struct ganz_ooxml_glue {
    ganz_slice run, text;     /* names of the elements, with their prefix */
    bool preserve;            /* text elements need xml:space="preserve" to keep white space at their ends */
    ganz_ooxml_place *places; /* (count) by the number that stands in the text; on the heap until kept */
    size_t count, capacity;
} ganz_ooxml_glue;

/* Bytes that no XML file has. RUN n END: text in the base format begins here; OUT n END: it ends. SPACE, before the ">"
 * of a text element: xml:space="preserve" belongs here if the text begins or ends with white space. */
enum { OOXML_GLUE_IN = 1, OOXML_GLUE_OUT = 2, OOXML_GLUE_END = 3, OOXML_GLUE_SPACE = 4 };

/* Adds a place and gives its number; false when memory is out. */
bool ganz_ooxml_glue_add(ganz_ooxml_glue *glue, ganz_ooxml_place place, size_t *number);

/* ganz_polish of a section with glue; data: the ganz_ooxml_glue. */
ganz_status ganz_ooxml_glue_polish(const void *data, const ganz_text *written, ganz_text *out, ganz_error *err);

/* ---- paragraphs --------------------------------------------------------------------------------- */

typedef struct ganz_ooxml_reader {
    ganz_skeleton *skeleton;
    const ganz_xml_tree *tree;
    const ganz_format_options *options;
    ganz_ooxml_glue *glue;
    ganz_block_style style;
    bool *holds;       /* (tree->count) of a start: there are paragraphs in it, or alternative texts to translate */
    ganz_text scratch; /* for what is put together of bytes and glue */
    ganz_text look;    /* for comparing formats */
    size_t run;        /* the last whose format was asked for; 0: none */
    uint64_t format;   /* of it */
} ganz_ooxml_reader;

/* Copies events [first, last), with their paragraphs as blocks. */
void ganz_ooxml_read_body(ganz_ooxml_reader *reader, size_t first, size_t last);

/* The paragraph that starts with this event. */
void ganz_ooxml_read_paragraph(ganz_ooxml_reader *reader, size_t event);

/* The event of a run's format; 0: it has none. */
size_t ganz_ooxml_format_event(const ganz_xml_tree *tree, size_t run);
/* Format of a run (its start), as a number that is equal for formats which look alike. */
uint64_t ganz_ooxml_format_of(ganz_ooxml_reader *reader, size_t run);

/* ---- raised text -------------------------------------------------------------------------------- */

/* True if the format of a run raises or lowers its text. */
bool ganz_ooxml_is_raised(const ganz_xml_tree *tree, size_t run);

/* The event behind a raised run that is at most one word; 0: the event starts no such run. */
size_t ganz_ooxml_behind_raised(const ganz_xml_tree *tree, size_t run);

/* The text of such a run that is the end of an ordinal; NULL: it is something else. It is two bytes long. */
const char *ganz_ooxml_ordinal(const ganz_xml_tree *tree, size_t run);

/* A word with raised runs inside of it, which ends in another text of the same format. */
typedef struct ganz_ooxml_compound {
    size_t begin, end; /* bytes */
    size_t text;       /* start of the element of text that `end` is in */
    uint32_t run;      /* around it */
    size_t tail;       /* end of the last raised run where more of them follow the text at once; 0: none does */
} ganz_ooxml_compound;

/* The one that begins at the end of an element of text (its start), in a run of this format; false: there is none. */
bool ganz_ooxml_find_compound(ganz_ooxml_reader *reader, size_t text, uint64_t format, ganz_ooxml_compound *compound);

#endif
