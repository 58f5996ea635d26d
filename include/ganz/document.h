/* Documents: files and pasted text, taken apart into sentences and put together again with their translations.
 *
 *     ganz_document *doc;
 *     ganz_segment s;
 *     ganz_document_open(&doc, bytes, count, &options, &err);
 *     while (ganz_document_next(doc, &s, &err) == GANZ_OK && s.text)
 *         ganz_document_put(doc, s.number, <translation of s.text>, &err);
 *     ganz_document_write(doc, &out, &err);
 *     ganz_document_close(&doc);
 *
 * Everything that is not a sentence comes out byte for byte as it was. With translations that equal their sentences the
 * whole document does. What must not be translated (addresses, placeholders, marks) comes out exactly once, whatever a
 * translation says. */
#ifndef GANZ_DOCUMENT_H
#define GANZ_DOCUMENT_H

#include "ganz/ganz.h"
#include "ganz/vocab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- glossaries --------------------------------------------------------------------------------- */

/* Terms and what they must become. Immutable once open: any number of documents and threads may share one. */
typedef struct ganz_glossary ganz_glossary;

/* Reads a text file with one term a line: the source, a tab, what it becomes. A line without a tab is a term that is
 * not translated. Empty lines and those that begin with # are skipped. Small letters of a term also stand for capitals,
 * and English plurals and genitives of a term count as the term. What it becomes is taken as written, except that a
 * translation with an inflected form of it is left alone. At most 64 MiB. */
GANZ_API ganz_status ganz_glossary_open(ganz_glossary **glossary, const char *path, ganz_error *err);
/* The same from memory; `name` is for messages. The text need not outlive the call. */
GANZ_API ganz_status ganz_glossary_parse(ganz_glossary **glossary, const char *text, size_t bytes, const char *name,
                                         ganz_error *err);
GANZ_API void ganz_glossary_close(ganz_glossary **glossary);
GANZ_API size_t ganz_glossary_size(const ganz_glossary *glossary);

/* ---- documents ---------------------------------------------------------------------------------- */

/* One document: one thread at a time. */
typedef struct ganz_document ganz_document;

typedef enum ganz_newlines {
    GANZ_NEWLINE_ENDS,  /* a newline ends a sentence: lists, chat */
    GANZ_NEWLINE_SPACE, /* a single newline is white space, a blank line ends a sentence: wrapped text, e-mail */
    GANZ_NEWLINE_NEVER  /* text is not split at all */
} ganz_newlines;

typedef struct ganz_document_options {
    const char *format;            /* a name of ganz_document_formats; NULL, "auto": by the path, else the content */
    const char *path;              /* name of the file, for its suffix; NULL: none */
    const char *source, *target;   /* languages, "en"; NULL: not known */
    ganz_newlines newlines;        /* in formats that leave it open: plain text */
    bool attributes;               /* translate what a reader does not see at once, too: alt and title of HTML */
    bool bilingual;                /* each paragraph is followed by its translation */
    const ganz_glossary *glossary; /* borrowed; or NULL */
    const char *before;            /* the sentence before the first one, if that is not in the document; or NULL: */
    size_t before_bytes;           /* a name below the close of a letter stays as it is */
    const char *opening; /* how the letter opens that the document is a part of, "Hi Tom,"; NULL: as it says */
    size_t opening_bytes;
} ganz_document_options;

/* auto, English to German, newlines end sentences, with attributes, not bilingual. */
GANZ_API void ganz_document_defaults(ganz_document_options *options);

/* Names of the formats, separated by spaces: "text lines ...". */
GANZ_API const char *ganz_document_formats(void);

/* The format of a file by the suffix of its path (NULL: no path), else by its first bytes (NULL: by the suffix alone);
 * NULL: nobody knows it. */
GANZ_API const char *ganz_document_recognise(const char *path, const char *bytes, size_t count);

/* Whether files of a format, by its name, are archives (docx): text under their names would not open in any program. */
GANZ_API bool ganz_document_is_archive(const char *format);

/* Most bytes of a document; longer text is translated in parts. */
#define GANZ_DOCUMENT_BYTES ((size_t)64 << 20)

/* Takes a document apart. The bytes are borrowed until it is closed; options (NULL: the defaults) are copied, their
 * texts borrowed. GANZ_EUNSUPPORTED: nobody knows this format. */
GANZ_API ganz_status ganz_document_open(ganz_document **document, const char *bytes, size_t count,
                                        const ganz_document_options *options, ganz_error *err);
GANZ_API void ganz_document_close(ganz_document **document);

/* Name of the format it was read as. */
GANZ_API const char *ganz_document_format(const ganz_document *document);

/* A sentence to translate. */
typedef struct ganz_segment {
    size_t number; /* for ganz_document_put */
    const char
        *text; /* one line of UTF-8, terminated, without white space at its ends; lives until its translation is put */
    size_t bytes;
    bool links;               /* the translation should come with links (ganz_translator_options.alignment) */
    ganz_formality formality; /* for ganz_line: PREFER_FORMAL below "Dear Ms Jones,", PREFER_INFORMAL below "Hi Tom," */
} ganz_segment;

/* The next sentence that is to be translated, in the order of the document; its text is NULL when there is none now.
 * Several may be asked for before the first is put. A sentence whose translation has lost something comes once more in
 * another form, three times at most: ask on after the last put until there is none. */
GANZ_API ganz_status ganz_document_next(ganz_document *document, ganz_segment *segment, ganz_error *err);
/* How many sentences there are, and how many of them have their translation. */
GANZ_API size_t ganz_document_segments(const ganz_document *document, size_t *done);

/* Hands in a translation; it is copied. */
GANZ_API ganz_status ganz_document_put(ganz_document *document, size_t number, const ganz_translation *translation,
                                       ganz_error *err);

/* Has all its sentences translated. The translator should make links (alignment): without them marks are put where they
 * would be if all words kept their order. */
GANZ_API ganz_status ganz_translate_document(ganz_translator *translator, ganz_document *document, ganz_error *err);

/* Appends the document with the translations that there are; other sentences stay as they were. */
GANZ_API ganz_status ganz_document_write(ganz_document *document, ganz_text *out, ganz_error *err);

/* ---- sentences alone ---------------------------------------------------------------------------- */

/* Calls `use` for each sentence of a plain text, in their order: bytes [begin, end) of it, without white space at their
 * ends; between two of them is nothing but white space, signs of lists, quotes and speeches ("- ", "> "), and lines of
 * code. Text that is not UTF-8 has none. */
GANZ_API void ganz_each_sentence(const char *text, size_t bytes, const char *language, ganz_newlines newlines,
                                 void (*use)(void *context, size_t begin, size_t end), void *context);

/* Whether a plain text ends in code whose fence (``` or ~~~) was not closed yet: text that is read in parts should not
 * be cut there. */
GANZ_API bool ganz_ends_in_code(const char *text, size_t bytes);

/* ---- translations made earlier ------------------------------------------------------------------ */

/* A file of translations by their lines, so that a long job that was stopped goes on where it was. One thread at a
 * time. */
typedef struct ganz_cache ganz_cache;

/* Opens or makes the file. Translations by another model or with other options are not found again. What a killed
 * process left half written is cut off. GANZ_EFORMAT: the file is something else. */
GANZ_API ganz_status ganz_cache_open(ganz_cache **cache, const char *path, const char *model_path,
                                     const ganz_translator_options *options, ganz_error *err);
GANZ_API void ganz_cache_close(ganz_cache **cache);
/* The translation of a line that was in the file when it was opened; its text is NULL if there is none. It lives until
 * the next call. */
GANZ_API ganz_status ganz_cache_find(ganz_cache *cache, const ganz_line *line, ganz_translation *translation,
                                     ganz_error *err);
/* Adds a translation; it is kept in memory until the next flush. */
GANZ_API ganz_status ganz_cache_add(ganz_cache *cache, const ganz_line *line, const ganz_translation *translation,
                                    ganz_error *err);
GANZ_API ganz_status ganz_cache_flush(ganz_cache *cache, ganz_error *err);

#ifdef __cplusplus
}
#endif
#endif
