/* Writing a document: copied bytes, and blocks with their gaps as they were and their sentences translated. */
#include <string.h>

#include "document/document.h"
#include "text/tokenizer.h"

typedef struct writer {
    const ganz_document *document;
    ganz_text *out;      /* of the section being written */
    ganz_text *sections; /* (count) or NULL: there is but one output */
    size_t count, capacity;
    bool failed; /* memory is out */
} writer;

static void write_pieces(writer *w, const ganz_piece *piece);

static void add(writer *w, const char *bytes, size_t count)
{
    if (!w->failed && !ganz_text_append(w->out, bytes, count)) w->failed = true;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

/* A run as it was; of plain text the part within [begin, end). */
static void write_run(writer *w, const ganz_run *r, size_t begin, size_t end)
{
    if (r->kind != GANZ_RUN_TEXT) {
        if (r->inside) write_pieces(w, r->inside);
        else add(w, r->raw, r->raw_bytes);
        return;
    }
    const size_t from = begin > r->begin ? begin : r->begin, to = end < r->end ? end : r->end;
    if (from < to) add(w, r->raw + (from - r->begin), to - from);
}

static void add_escaped(writer *w, const ganz_block *b, const char *text, size_t bytes)
{
    if (!b->style.escape) add(w, text, bytes);
    else if (!w->failed && !b->style.escape(w->out, text, bytes)) w->failed = true;
}

static void write_translation(writer *w, const ganz_sentence_part *p)
{
    size_t at = 0;
    for (size_t i = 0; i < p->insert_count; i++) {
        const ganz_insert *const insert = &p->inserts[i];
        const ganz_run *const r = &p->block->runs[insert->run];
        add_escaped(w, p->block, p->target.text + at, insert->at - at);
        if (insert->space) add_escaped(w, p->block, " ", 1);
        write_run(w, r, r->begin, r->end);
        at = insert->at;
    }
    add_escaped(w, p->block, p->target.text + at, p->target.bytes - at);
}

static void write_runs(writer *w, const ganz_block *b, size_t first, size_t last, size_t begin, size_t end)
{
    for (size_t i = first; i < last; i++) write_run(w, &b->runs[i], begin, end);
}

/* Gaps are the runs, and parts of runs, that belong to no sentence. A run of text may belong to several sentences, so the
 * run a gap begins with is the last of the sentence before. */
static void write_block(writer *w, const ganz_block *b)
{
    const ganz_document *const d = w->document;
    size_t run = 0, at = 0;
    for (size_t i = d->first[b->number]; i < d->first[b->number + 1]; i++) {
        const ganz_sentence_part *const p = &d->sentences[i];
        const bool shared = p->first < b->run_count && b->runs[p->first].begin < p->begin;
        write_runs(w, b, run, p->first + shared, at, p->begin);
        if (p->translated) write_translation(w, p);
        else write_runs(w, b, p->first, p->last, p->begin, p->end);
        run = p->last;
        at = p->end;
        if (run > 0 && b->runs[run - 1].end > p->end) run--;
    }
    write_runs(w, b, run, b->run_count, at, b->bytes);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static void begin_section(writer *w)
{
    if (!w->sections || w->failed) return;
    if (!ganz_grow((void **)&w->sections, &w->capacity, w->count + 1, sizeof *w->sections)) {
        w->failed = true;
        return;
    }
    w->sections[w->count] = (ganz_text){0};
    w->out = &w->sections[w->count++];
}

static void write_pieces(writer *w, const ganz_piece *piece)
{
    for (; piece && !w->failed; piece = piece->next) {
        if (piece->raw) add(w, piece->raw, piece->bytes);
        else if (piece->block) write_block(w, piece->block);
        else begin_section(w);
    }
}

static ganz_status finish(const ganz_document *d, const writer *w, ganz_text *out, ganz_error *err)
{
    if (w->failed) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    return w->sections ? d->format->finish(ganz_skeleton_state(d->skeleton), w->sections, w->count, out, err) : GANZ_OK;
}

ganz_status ganz_document_write(ganz_document *d, ganz_text *out, ganz_error *err)
{
    writer w = {.document = d, .out = out};
    if (d->format->finish) {
        w.sections = ganz_alloc(w.capacity = 1, sizeof *w.sections);
        if (!w.sections) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
        begin_section(&w);
    }
    write_pieces(&w, ganz_skeleton_pieces(d->skeleton));
    const ganz_status status = finish(d, &w, out, err);
    for (size_t i = 0; i < w.count; i++) ganz_text_free(&w.sections[i]);
    ganz_free(w.sections);
    return status;
}
