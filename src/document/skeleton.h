/* A document taken apart: bytes that are copied, and blocks of text to translate, in the order of the file.
 *
 * A reader of a format builds it with the calls below, from the first byte to the last:
 *
 *   <p>Two <b>red</b> cats &amp; a dog.</p>
 *
 *   copy "<p>"   begin   text "Two "   mark OPEN "<b>"   text "red"   mark CLOSE "</b>"   text " cats "
 *                text "&" from "&amp;"   text " a dog."   end   copy "</p>"
 *
 * The rest of the library splits blocks into sentences and writes the document again. What it promises to a format:
 *   - Copied bytes are written as they came. With translations equal to the sentences every byte is.
 *   - Each mark is written exactly once. Pairs stay pairs, well nested; what follows each other in a sentence may
 * change its order, as the words do.
 *   - White space at both ends of a block and between its sentences is written as it came, with the marks in it.
 *
 * All bytes that are handed in are borrowed until the skeleton is closed; what a reader has made itself it puts into
 * memory of ganz_skeleton_keep. Failures (memory, limits, calls out of order) are kept: later calls do nothing, and
 * ganz_skeleton_status tells the first. */
#ifndef GANZ_DOCUMENT_SKELETON_H
#define GANZ_DOCUMENT_SKELETON_H

#include "base/base.h"
#include "ganz/vocab.h"

enum { GANZ_SKELETON_DEPTH = 32 /* blocks inside marks of blocks */ };

typedef struct ganz_skeleton ganz_skeleton;

ganz_status ganz_skeleton_open(ganz_skeleton **skeleton, ganz_error *err);
void ganz_skeleton_close(ganz_skeleton **skeleton);

/* The first failure of all calls so far; GANZ_EINVAL also while a block or mark is open. */
ganz_status ganz_skeleton_status(const ganz_skeleton *skeleton, ganz_error *err);
/* Lets all later calls fail with this: what a reader finds wrong with the file. */
void ganz_skeleton_fail(ganz_skeleton *skeleton, ganz_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Memory that lives as long as the skeleton, aligned for any type, not zeroed; NULL: there is none, and this is kept as
 * the failure. */
void *ganz_skeleton_keep(ganz_skeleton *skeleton, size_t bytes);

/* True if translated blocks will be written twice, as they were and translated; for marks that must not be. */
bool ganz_skeleton_bilingual(const ganz_skeleton *skeleton);
void ganz_skeleton_set_bilingual(ganz_skeleton *skeleton, bool bilingual);

/* ---- copied bytes ------------------------------------------------------------------------------- */

/* Written as they are. Outside of blocks, or inside a mark (ganz_skeleton_mark_begin). */
void ganz_skeleton_copy(ganz_skeleton *skeleton, const char *raw, size_t bytes);

/* What follows is a section of its own: a member of an archive. The first is begun by opening; sections are written one
 * after the other, or handed to the format to make a file of them (ganz_format.finish). */
void ganz_skeleton_section(ganz_skeleton *skeleton);

/* ---- blocks ------------------------------------------------------------------------------------- */

typedef enum ganz_breaks {
    GANZ_BREAK_LINES,     /* sentences end at sentence ends and at newlines: lists, chat, plain text */
    GANZ_BREAK_SENTENCES, /* newlines are white space like any other: HTML, e-mail, Markdown. Several in a row (a blank
                             line) still end a sentence */
    GANZ_BREAK_NOWHERE    /* the block is one sentence; newlines are white space */
} ganz_breaks;

/* Appends text as the format writes it, "&" as "&amp;"; false when memory is out. */
typedef bool ganz_escape_text(ganz_text *out, const char *text, size_t bytes);

typedef struct ganz_block_style {
    ganz_breaks breaks;
    ganz_escape_text *escape; /* NULL: as it is */
    int columns;              /* 0, or the translation is wrapped into lines of about so many characters ... */
    int rows;                 /* ... wherever it fits, in at most so many lines (0: any number) of equal length */
    const char *newline;      /* between these lines; NULL: "\n" */
    const char *between; /* raw bytes between text and translation in a bilingual document ("<br>"); NULL: newline */
    bool escaped_tags;   /* what begins with "&lt;" may be a tag as well: in texts of programs */
} ganz_block_style;

/* Begins a block of text that belongs together: a paragraph, a cell, a cue. The style is copied; what it points to is
 * borrowed. */
void ganz_skeleton_begin(ganz_skeleton *skeleton, const ganz_block_style *style);

/* Text of the block. raw is how the file writes it. Where both are the same (same pointer, same length) sentences may
 * end anywhere in it; else text and raw bytes belong together as a whole ("&" and "&amp;"; " " and "\n> "), so that
 * such text is handed in as small as it can be. Bytes that are not UTF-8, and control characters, are carried like an
 * empty mark. */
void ganz_skeleton_text(ganz_skeleton *skeleton, const char *text, size_t bytes, const char *raw, size_t raw_bytes);

typedef enum ganz_mark_kind {
    GANZ_MARK_OPEN,  /* <b>: begins something that ends with the next CLOSE of the same name */
    GANZ_MARK_CLOSE, /* </b>. Without its partner in the block, or not nested, either is carried like EMPTY, but in
                        order */
    GANZ_MARK_EMPTY, /* <img>, a comment, a footnote's anchor: a place between two characters */
    GANZ_MARK_BREAK  /* a place where the text is cut (the next cue of a subtitle): white space for the sentence, which
                        goes on behind it. Breaks stay in order; words stand on both sides as long as they last */
} ganz_mark_kind;

/* A mark that is carried along unseen by the model. name: a number of the reader's for each kind of element. */
void ganz_skeleton_mark(ganz_skeleton *skeleton, ganz_mark_kind kind, int name, const char *raw, size_t bytes);

/* The same where the mark's bytes hold text to translate themselves: <img alt="...">, a footnote. Between the two calls
 * come copies and whole blocks, which belong to the mark. */
void ganz_skeleton_mark_begin(ganz_skeleton *skeleton, ganz_mark_kind kind, int name);
void ganz_skeleton_mark_end(ganz_skeleton *skeleton);

/* A mark whose bytes are others once a sentence of its block is translated: the end of "[text]" in Markdown, where the
 * text is also the name of the link's target, becomes "][text]". */
void ganz_skeleton_mark_changing(ganz_skeleton *skeleton, ganz_mark_kind kind, int name, const char *raw, size_t bytes,
                                 const char *changed, size_t changed_bytes);

/* The mark added last, an OPEN, must not be followed by its partner at once ("**" in Markdown): in a translation the
 * pair gets a word, and where there is none it is left out. */
void ganz_skeleton_mark_needs_text(ganz_skeleton *skeleton);

/* A word that must not be translated: a code span, translate="no". The model sees `text` or something that stands for
 * it; raw is written where it comes back, exactly once. text is UTF-8; empty for something that is no word at all. */
void ganz_skeleton_opaque(ganz_skeleton *skeleton, const char *text, size_t bytes, const char *raw, size_t raw_bytes);

/* A place that a program fills in, with a word or number that nobody knows yet. The model sees `like`, something that
 * it may become ("53"), or where there is none a name that stands for it; raw is written where it comes back, exactly
 * once. */
void ganz_skeleton_place(ganz_skeleton *skeleton, const char *like, size_t bytes, const char *raw, size_t raw_bytes);

/* Ends the block; one without anything but white space is only copied. */
void ganz_skeleton_end(ganz_skeleton *skeleton);

#endif
