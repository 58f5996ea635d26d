/* Readers of formats without a model: a skeleton written so that one can read it, and documents through fake translators.
 *
 *
 *   {text}       a block; text as the model sees it
 *   [+<b>]       a mark that opens, [-</b>] closes, [.<img>] is empty, [/<br>] breaks; [?<b>] has no partner
 *   [=x|<i>x</i>] a word that is not translated: what the model sees, and its bytes
 *   and everything outside of blocks as it is. */
#ifndef GANZ_TESTS_SKELETONS_H
#define GANZ_TESTS_SKELETONS_H

#include <string.h>

#include "document/document.h"
#include "documents.h"
#include "text/tokenizer.h"

static inline void show_pieces(ganz_text *out, const ganz_piece *piece);

static inline void show(ganz_text *out, const char *text, size_t bytes) { ganz_text_append(out, text, bytes); }

static inline void show_mark(ganz_text *out, const ganz_run *r)
{
    const bool pair = r->mark == GANZ_MARK_OPEN || r->mark == GANZ_MARK_CLOSE;
    show(out, "[", 1);
    show(out, pair && r->partner < 0 ? "?" : r->mark == GANZ_MARK_OPEN ? "+" : pair ? "-" : r->mark == GANZ_MARK_BREAK ? "/" : ".", 1);
    if (r->inside) show_pieces(out, r->inside);
    else show(out, r->raw, r->raw_bytes);
    show(out, "]", 1);
}

static inline void show_block(ganz_text *out, const ganz_block *b)
{
    show(out, "{", 1);
    for (size_t i = 0; i < b->run_count; i++) {
        const ganz_run *const r = &b->runs[i];
        if (r->kind == GANZ_RUN_MARK) {
            show_mark(out, r);
        } else if (r->kind == GANZ_RUN_OPAQUE) {
            show(out, "[=", 2);
            show(out, r->shown, r->shown_bytes);
            show(out, "|", 1);
            show(out, r->raw, r->raw_bytes);
            show(out, "]", 1);
        } else {
            show(out, b->text + r->begin, r->end - r->begin);
        }
    }
    show(out, "}", 1);
}

static inline void show_pieces(ganz_text *out, const ganz_piece *piece)
{
    for (; piece; piece = piece->next) {
        if (piece->raw) show(out, piece->raw, piece->bytes);
        else if (piece->block) show_block(out, piece->block);
    }
}

/* Appends the skeleton that a format makes of these bytes. */
static inline ganz_status show_skeleton(ganz_text *out, const ganz_format *format, const char *bytes, size_t count,
                                        const ganz_format_options *options, ganz_error *err)
{
    ganz_skeleton *skeleton;
    ganz_status status = ganz_skeleton_open(&skeleton, err);
    if (status != GANZ_OK) return status;
    status = format->read(skeleton, bytes, count, options, err);
    if (status == GANZ_OK) status = ganz_skeleton_status(skeleton, err);
    if (status == GANZ_OK) show_pieces(out, ganz_skeleton_pieces(skeleton));
    ganz_skeleton_close(&skeleton);
    return status;
}

/* Appends the document that a fake translator makes of these bytes. */
static inline ganz_status fake_document(ganz_text *out, const ganz_format *format, const char *bytes, size_t count, bool attributes,
                                        fake_translator *translate, ganz_error *err)
{
    ganz_document *doc;
    ganz_document_options options;
    ganz_document_defaults(&options);
    options.attributes = attributes;
    ganz_status status = ganz_document_open_as(&doc, format, bytes, count, &options, err);
    if (status == GANZ_OK) status = fake_translate(doc, translate, err);
    if (status == GANZ_OK) status = ganz_document_write(doc, out, err);
    ganz_document_close(&doc);
    return status;
}

#endif
