/* Readers of formats without a model: a skeleton written so that one can read it, and documents through fake
 * translators.
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
#include "text/unicode.h"

static inline void show_pieces(ganz_text *out, const ganz_piece *piece);

static inline void show(ganz_text *out, const char *text, size_t bytes) { ganz_text_append(out, text, bytes); }

static inline void show_mark(ganz_text *out, const ganz_run *r)
{
    const bool pair = r->mark == GANZ_MARK_OPEN || r->mark == GANZ_MARK_CLOSE;
    show(out, "[", 1);
    show(out,
         pair && r->partner < 0       ? "?"
         : r->mark == GANZ_MARK_OPEN  ? "+"
         : pair                       ? "-"
         : r->mark == GANZ_MARK_BREAK ? "/"
                                      : ".",
         1);
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

static inline void write_raw(ganz_text *out, const ganz_piece *piece)
{
    for (; piece; piece = piece->next) {
        if (piece->raw) show(out, piece->raw, piece->bytes);
        for (size_t i = 0; piece->block && i < piece->block->run_count; i++) {
            const ganz_run *const r = &piece->block->runs[i];
            if (r->inside) write_raw(out, r->inside);
            else show(out, r->raw, r->raw_bytes);
        }
    }
}

/* True if all raw bytes of the skeleton that a format makes of these bytes are these bytes; *status: that of the
 * reader. */
static inline bool skeleton_is_whole(const ganz_format *format, const char *bytes, size_t count, ganz_status *status)
{
    const ganz_format_options options = {.source_language = "en", .target_language = "de", .attributes = true};
    ganz_skeleton *skeleton;
    ganz_text raw = {0};
    *status = ganz_skeleton_open(&skeleton, NULL);
    if (*status != GANZ_OK) return false;
    *status = format->read(skeleton, bytes, count, &options, NULL);
    if (*status == GANZ_OK) *status = ganz_skeleton_status(skeleton, NULL);
    if (*status == GANZ_OK) write_raw(&raw, ganz_skeleton_pieces(skeleton));
    const bool whole = raw.bytes == count && (count == 0 || memcmp(raw.text, bytes, count) == 0);
    ganz_skeleton_close(&skeleton);
    ganz_text_free(&raw);
    return whole;
}

/* Vowels become umlauts: other words, which still say where they come from. */
static inline void fake_umlauts(const char *text, size_t bytes, ganz_text *out)
{
    static const char vowels[] = "aeiouAEIOU", umlauts[] = "\xA4\xAB\xAF\xB6\xBC\x84\x8B\x8F\x96\x9C";
    for (size_t i = 0; i < bytes; i++) {
        const char *const vowel = text[i] ? strchr(vowels, text[i]) : NULL;
        if (vowel) fake_add(out, "\xC3", 1);
        fake_add(out, vowel ? &umlauts[vowel - vowels] : &text[i], 1);
    }
}

/* The same with a link for each word and sign. */
static inline int fake_umlauts_linked(const char *text, size_t bytes, ganz_text *out, ganz_link *links)
{
    int count = 0;
    bool word = false;
    for (size_t at = 0; at < bytes;) {
        int32_t code;
        const size_t end = at + ganz_next_character(text + at, &code), from = out->bytes;
        const bool alnum = ganz_is_alnum(code);
        fake_umlauts(text + at, end - at, out);
        if (alnum && word) links[count - 1].source_end = end, links[count - 1].target_end = out->bytes;
        else if (!ganz_is_space(code)) links[count++] = (ganz_link){at, end, from, out->bytes, false};
        word = alnum;
        at = end;
    }
    return count;
}

static inline ganz_status fake_translate_umlauts(ganz_document *doc, ganz_error *err)
{
    ganz_segment s;
    ganz_status status;
    while ((status = ganz_document_next(doc, &s, err)) == GANZ_OK && s.text) {
        ganz_text out = {0};
        ganz_link *const links = malloc((s.bytes + 1) * sizeof *links);
        const int count = fake_umlauts_linked(s.text, s.bytes, &out, links);
        const ganz_translation t = {.text = out.text, .bytes = out.bytes, .links = links, .link_count = count};
        status = ganz_document_put(doc, s.number, &t, err);
        free(links);
        free(out.text);
        if (status != GANZ_OK) break;
    }
    return status;
}

/* Appends the document that a fake translator makes of these bytes; fake_umlauts gives links, too. Nothing changes what
 * fake_identity says: it is for languages that write numbers and times alike. */
static inline ganz_status fake_document(ganz_text *out, const ganz_format *format, const char *bytes, size_t count,
                                        bool attributes, fake_translator *translate, ganz_error *err)
{
    ganz_document *doc;
    ganz_document_options options;
    ganz_document_defaults(&options);
    options.attributes = attributes;
    if (translate == fake_identity) options.target = "fr";
    ganz_status status = ganz_document_open_as(&doc, format, bytes, count, &options, err);
    if (status == GANZ_OK)
        status = translate == fake_umlauts ? fake_translate_umlauts(doc, err) : fake_translate(doc, translate, err);
    if (status == GANZ_OK) status = ganz_document_write(doc, out, err);
    ganz_document_close(&doc);
    return status;
}

#endif
