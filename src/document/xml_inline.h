/* Paragraphs of XML formats in which text and inline elements stand side by side (ODF, XHTML, XLIFF), as blocks. */
#ifndef GANZ_DOCUMENT_XML_INLINE_H
#define GANZ_DOCUMENT_XML_INLINE_H

#include "document/xml_tree.h"

typedef enum ganz_inline_kind {
    GANZ_INLINE_PAIR,   /* around text that belongs to the sentence */
    GANZ_INLINE_MARK,   /* with all that is in it, a place between two characters */
    GANZ_INLINE_NESTED, /* the same, but with paragraphs of its own inside, see ganz_inline_rules.nested */
    GANZ_INLINE_OPAQUE, /* a word that is not translated */
    GANZ_INLINE_PLACE,  /* one that a program fills in: what is in the element is code */
    GANZ_INLINE_SPACE,  /* a space */
    GANZ_INLINE_LINE,   /* a line break: ends a sentence, unless the next line plainly goes on with it */
    GANZ_INLINE_STOP,   /* ends a sentence in any case: a tab */
    GANZ_INLINE_FROM,   /* begins a range that ends elsewhere, with GANZ_INLINE_TO of the same ganz_inline_rules.key */
    GANZ_INLINE_TO
} ganz_inline_kind;

typedef struct ganz_inline ganz_inline;

typedef struct ganz_inline_rules {
    /* What a start (or empty element) is. Ends follow their starts. */
    ganz_inline_kind (*kind)(const ganz_inline *in, size_t event);
    /* Reads the inside of a NESTED element: copies and blocks for events [first, last). NULL: there are none. */
    void (*nested)(const ganz_inline *in, size_t first, size_t last);
    /* What the two ends of a range have in common. NULL: there are no ranges. */
    ganz_slice (*key)(const ganz_inline *in, size_t event);
    /* True if the start tag of a PAIR or MARK has text in its attributes; then put_tag copies it, with blocks. NULL:
     * none. */
    bool (*tag_has_text)(const ganz_inline *in, size_t event);
    void (*put_tag)(const ganz_inline *in, size_t event);
    /* True if the text of a PAIR is raised or lowered; see raised.h. NULL: none is. */
    bool (*raised)(const ganz_inline *in, size_t event);
} ganz_inline_rules;

/* All borrowed. */
struct ganz_inline {
    ganz_skeleton *skeleton;
    const ganz_xml_tree *tree;
    const ganz_inline_rules *rules;
    const ganz_block_style *style;
    bool once;        /* ranges do not occur again in the second half of a bilingual block: their names are unique */
    const void *data; /* the reader's */
};

/* Events [first, last), which are whole elements, text and comments, as one block; copied where there is no text. */
void ganz_inline_block(const ganz_inline *in, size_t first, size_t last);

/* The same into a block that is open. */
void ganz_inline_content(const ganz_inline *in, size_t first, size_t last);

/* True if a line break between the texts before and after it stands inside a sentence: no sentence end before, a small
 * letter after. */
bool ganz_goes_on(const char *before, size_t before_bytes, const char *after, size_t after_bytes);

#endif
