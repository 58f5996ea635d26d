/* The calls on documents: read, split, hand out sentences, take in translations. */
#include "document/document.h"

#include <string.h>

#include "text/unicode.h"

void ganz_document_defaults(ganz_document_options *o)
{
    *o = (ganz_document_options){.format = "auto", .source = "en", .target = "de", .attributes = true};
}

static ganz_status no_memory(ganz_error *err) { return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document"); }

/* ---- sentences ---------------------------------------------------------------------------------- */

/* A mark at the end of a part of the text that has its partner inside it. */
static bool reaches_in(const ganz_sentence_part *p, const ganz_run *r)
{
    if (r->kind != GANZ_RUN_MARK || r->partner < 0) return false;
    const ganz_run *const other = &p->block->runs[r->partner];
    return other->begin > p->begin && other->begin < p->end;
}

/* Runs of a part of the text. At its ends marks belong to it from the first to the last that reaches in. */
static void find_runs(ganz_sentence_part *p)
{
    const ganz_run *const runs = p->block->runs;
    p->first = 0;
    p->last = p->block->run_count;
    while (runs[p->first].end <= p->begin && !(runs[p->first].begin == p->begin && reaches_in(p, &runs[p->first]))) p->first++;
    while (runs[p->last - 1].begin >= p->end && !(runs[p->last - 1].end == p->end && reaches_in(p, &runs[p->last - 1]))) p->last--;
}

static ganz_status add_sentence(ganz_document *d, const ganz_block *block, size_t begin, size_t end, ganz_error *err)
{
    if (!ganz_grow((void **)&d->sentences, &d->capacity, d->count + 1, sizeof *d->sentences)) return no_memory(err);
    ganz_sentence_part *const p = &d->sentences[d->count++];
    *p = (ganz_sentence_part){.block = block, .begin = begin, .end = end};
    find_runs(p);
    return ganz_sentence_line(p) ? GANZ_OK : no_memory(err);
}

static ganz_status split_block(ganz_document *d, const ganz_block *block, ganz_error *err)
{
    size_t bytes = block->bytes;
    const char *const text = ganz_strip(block->text, &bytes);
    const size_t begin = (size_t)(text - block->text);
    return bytes > 0 ? add_sentence(d, block, begin, begin + bytes, err) : GANZ_OK;
}

static ganz_status split_blocks(ganz_document *d, ganz_error *err)
{
    d->first = ganz_alloc(ganz_skeleton_block_count(d->skeleton) + 1, sizeof *d->first);
    if (!d->first) return no_memory(err);
    for (const ganz_block *b = ganz_skeleton_blocks(d->skeleton); b; b = b->next) {
        d->first[b->number] = d->count;
        GANZ_TRY(split_block(d, b, err));
        d->first[b->number + 1] = d->count;
    }
    return GANZ_OK;
}

/* ---- open and close ----------------------------------------------------------------------------- */

static ganz_status find_format(const ganz_format **format, const ganz_document_options *o, const char *bytes, size_t count,
                               ganz_error *err)
{
    const bool named = o->format && strcmp(o->format, "auto") != 0;
    *format = named ? ganz_format_named(o->format) : ganz_format_of(o->path, bytes, count);
    if (*format) return GANZ_OK;
    if (named) return ganz_fail(err, GANZ_EUNSUPPORTED, "there is no format %s, only %s", o->format, ganz_document_formats());
    return ganz_fail(err, GANZ_EUNSUPPORTED, "the format of the document is not known");
}

static ganz_status read_document(ganz_document *d, const char *bytes, size_t count, ganz_error *err)
{
    const ganz_document_options *const o = &d->options;
    const ganz_format_options how = {.source_language = o->source ? o->source : "",
                                     .target_language = o->target ? o->target : "",
                                     .breaks = (ganz_breaks)o->newlines,
                                     .attributes = o->attributes};
    if (count > GANZ_DOCUMENT_BYTES)
        return ganz_fail(err, GANZ_ELIMIT, "the document has %zu bytes, at most %zu are taken", count, GANZ_DOCUMENT_BYTES);
    GANZ_TRY(ganz_skeleton_open(&d->skeleton, err));
    GANZ_TRY(d->format->read(d->skeleton, bytes, count, &how, err));
    GANZ_TRY(ganz_skeleton_status(d->skeleton, err));
    return split_blocks(d, err);
}

ganz_status ganz_document_open_as(ganz_document **document, const ganz_format *format, const char *bytes, size_t count,
                                  const ganz_document_options *options, ganz_error *err)
{
    ganz_document *d = *document = ganz_alloc(1, sizeof *d);
    if (!d) return no_memory(err);
    d->options = *options;
    d->format = format;
    const ganz_status status = read_document(d, bytes, count, err);
    if (status != GANZ_OK) ganz_document_close(document);
    return status;
}

ganz_status ganz_document_open(ganz_document **document, const char *bytes, size_t count,
                               const ganz_document_options *options, ganz_error *err)
{
    *document = NULL;
    ganz_document_options usual;
    const ganz_format *format;
    ganz_document_defaults(&usual);
    if (!options) options = &usual;
    GANZ_TRY(find_format(&format, options, bytes, count, err));
    return ganz_document_open_as(document, format, bytes, count, options, err);
}

void ganz_document_close(ganz_document **document)
{
    ganz_document *const d = *document;
    *document = NULL;
    if (!d) return;
    for (size_t i = 0; i < d->count; i++) ganz_sentence_part_free(&d->sentences[i]);
    ganz_free(d->sentences);
    ganz_free(d->first);
    ganz_skeleton_close(&d->skeleton);
    ganz_free(d);
}

/* ---- sentences out and in ----------------------------------------------------------------------- */

const char *ganz_document_format(const ganz_document *d) { return d->format->name; }

size_t ganz_document_segments(const ganz_document *d, size_t *done)
{
    if (done) *done = d->done;
    return d->count;
}

bool ganz_document_next(ganz_document *d, ganz_segment *segment)
{
    if (d->next == d->count) return false;
    const ganz_sentence_part *const p = &d->sentences[d->next];
    *segment = (ganz_segment){.number = d->next++, .text = p->line.text, .bytes = p->line.bytes, .links = p->links};
    return true;
}

ganz_status ganz_document_put(ganz_document *d, size_t number, const ganz_translation *translation, ganz_error *err)
{
    if (number >= d->next) return ganz_fail(err, GANZ_EINVAL, "sentence %zu was not handed out", number);
    GANZ_TRY(ganz_sentence_put(&d->sentences[number], translation, err));
    d->done++;
    return GANZ_OK;
}
