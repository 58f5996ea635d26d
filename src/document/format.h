/* The formats of documents: how each is recognised, taken apart and put together. */
#ifndef GANZ_DOCUMENT_FORMAT_H
#define GANZ_DOCUMENT_FORMAT_H

#include "document/skeleton.h"

/* What readers may want to know beside the bytes. Languages are codes such as "en", or "" when they are not known. */
typedef struct ganz_format_options {
    const char *source_language, *target_language;
    ganz_breaks breaks; /* of formats that do not decide this themselves (text) */
    bool attributes;    /* also text that is not seen at once: alt, title, placeholder, ... */
} ganz_format_options;

typedef struct ganz_format {
    const char *name;     /* "html" */
    const char *suffixes; /* "html htm xhtml", lower case; "": by name only */
    bool holds_both;      /* its files have text and translation side by side; bilingual means nothing to them */
    /* True if a file of unknown name is surely of this format by its content; NULL: never. */
    bool (*recognise)(const char *bytes, size_t count);
    /* Builds the skeleton. Whatever bytes are handed in, it ends; what it cannot use is GANZ_EFORMAT or, better,
     * copied. A failure may also be left in the skeleton. */
    ganz_status (*read)(ganz_skeleton *skeleton, const char *bytes, size_t count, const ganz_format_options *options,
                        ganz_error *err);
    /* Makes the file of its sections, in the order they were begun; NULL: one after the other. state: what the reader
     * has left with ganz_skeleton_set_state. Appends to out. */
    ganz_status (*finish)(void *state, const ganz_text *sections, size_t count, ganz_text *out, ganz_error *err);
} ganz_format;

/* For finish; lives in memory of ganz_skeleton_keep or of the input. */
void ganz_skeleton_set_state(ganz_skeleton *skeleton, void *state);

/* The format of a name ("html"), else of the suffix of a path, else of the content; never NULL for the last two, which
 * fall back to plain text if the bytes look like text; NULL: unknown. */
const ganz_format *ganz_format_named(const char *name);
const ganz_format *ganz_format_of(const char *path, const char *bytes, size_t count);

/* Each defined in a file of its own, src/document/format_<name>.c, and listed in format.c. */
extern const ganz_format ganz_format_html, ganz_format_markdown, ganz_format_text, ganz_format_lines;
extern const ganz_format ganz_format_docx, ganz_format_pptx, ganz_format_odt, ganz_format_odp, ganz_format_epub;
extern const ganz_format ganz_format_xliff, ganz_format_po, ganz_format_json, ganz_format_arb, ganz_format_properties;
extern const ganz_format ganz_format_srt, ganz_format_vtt;

#endif
