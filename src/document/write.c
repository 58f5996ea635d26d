/* Writing a document: copied bytes, and blocks with their gaps as they were and their sentences translated. */
#include <string.h>

#include "document/document.h"
#include "document/flow.h"
#include "document/results.h"
#include "document/money.h"
#include "text/tokenizer.h"

typedef struct writer {
    const ganz_document *document;
    ganz_text *out;      /* of the section being written */
    ganz_text *sections; /* (count) or NULL: there is but one output */
    size_t count, capacity;
    ganz_flow *flow; /* of a block that is wrapped, or NULL */
    bool translated; /* a sentence of the block being written is */
    bool failed;     /* memory is out */
} writer;

static void write_pieces(writer *w, const ganz_piece *piece);

static void add_as(writer *w, ganz_flow_kind kind, const char *bytes, size_t count)
{
    if (w->failed) return;
    w->failed = !(w->flow ? ganz_flow_add(w->flow, kind, bytes, count) : ganz_text_append(w->out, bytes, count));
}

/* Bytes as they are. */
static void add(writer *w, const char *bytes, size_t count) { add_as(w, GANZ_FLOW_RAW, bytes, count); }

/* ---- blocks ------------------------------------------------------------------------------------- */

/* A run as it was; of plain text the part within [begin, end). */
static void write_run(writer *w, const ganz_run *r, size_t begin, size_t end)
{
    const ganz_flow_kind kind = r->kind == GANZ_RUN_MARK ? GANZ_FLOW_RAW : GANZ_FLOW_TEXT;
    const size_t from = begin > r->begin ? begin : r->begin, to = end < r->end ? end : r->end;
    if (r->inside) write_pieces(w, r->inside);
    else if (r->kind == GANZ_RUN_MARK && r->shown && w->translated) add(w, r->shown, r->shown_bytes);
    else if (r->kind != GANZ_RUN_TEXT) add_as(w, kind, r->raw, r->raw_bytes);
    else if (from < to) add_as(w, kind, r->raw + (from - r->begin), to - from);
}

static void write_runs(writer *w, const ganz_block *b, size_t first, size_t last, size_t begin, size_t end)
{
    for (size_t i = first; i < last; i++) write_run(w, &b->runs[i], begin, end);
}

static void add_word(writer *w, const ganz_block *b, const char *text, size_t bytes)
{
    ganz_text escaped = {0};
    if (bytes == 0 || w->failed) return;
    if (b->style.escape && !b->style.escape(&escaped, text, bytes)) w->failed = true;
    if (b->style.escape) add_as(w, GANZ_FLOW_TEXT, escaped.text, escaped.bytes);
    else add_as(w, GANZ_FLOW_TEXT, text, bytes);
    ganz_text_free(&escaped);
}

/* Text as the format writes it; word by word where lines may be broken. */
static void add_escaped(writer *w, const ganz_block *b, const char *text, size_t bytes)
{
    while (w->flow && bytes > 0) {
        const char *const space = memchr(text, ' ', bytes);
        const size_t word = space ? (size_t)(space - text) : bytes;
        add_word(w, b, text, word);
        if (!space) return;
        add_as(w, GANZ_FLOW_SPACE, " ", 1);
        text += word + 1;
        bytes -= word + 1;
    }
    add_word(w, b, text, bytes);
}

static bool has_mark_inside(const ganz_stretch *x, size_t begin, size_t end)
{
    for (size_t i = x->first; i < x->last; i++) {
        const ganz_run *const r = &x->block->runs[i];
        if (r->kind == GANZ_RUN_MARK && r->begin > begin && r->begin < end) return true;
    }
    return false;
}

/* Text of a sentence as it was written, without the marks in it; where there were any, bytes that did not touch would
 * do so now ("<" and "b"), and it is written anew. */
static void write_source(writer *w, const ganz_stretch *x, size_t begin, size_t end)
{
    if (has_mark_inside(x, begin, end)) {
        add_escaped(w, x->block, x->block->text + begin, end - begin);
        return;
    }
    for (size_t i = x->first; i < x->last; i++) {
        const ganz_run *const r = &x->block->runs[i];
        if (r->kind != GANZ_RUN_MARK && r->begin < end && begin < r->end) write_run(w, r, begin, end);
    }
}

static void write_number(writer *w, const ganz_stretch *x, size_t begin, size_t end)
{
    const ganz_setting *const s = &w->document->setting;
    ganz_text number = {0};
    if (!ganz_amount_write(&number, x->block->text + begin, end - begin, s->source, s->target)) w->failed = true;
    add_escaped(w, x->block, number.text, number.bytes);
    ganz_text_free(&number);
}

static void write_results(writer *w, const ganz_stretch *x, size_t begin, size_t end)
{
    ganz_text row = {0};
    if (!ganz_results_write(&row, x->block->text + begin, end - begin, w->document->setting.target)) w->failed = true;
    add_escaped(w, x->block, row.text, row.bytes);
    ganz_text_free(&row);
}

static void write_clock(writer *w, const ganz_sentence_part *p, const ganz_insert *insert)
{
    const ganz_stretch *const x = &p->stretch;
    const ganz_clock_place place = {x->block->text, x->begin, x->end, insert->begin};
    ganz_text time = {0};
    if (!w->document->setting.clock->write(&time, &place, p->target + insert->until, p->target_bytes - insert->until))
        w->failed = true;
    add_escaped(w, x->block, time.text, time.bytes);
    ganz_text_free(&time);
}

static void write_insert(writer *w, const ganz_sentence_part *p, const ganz_insert *insert)
{
    const ganz_stretch *const x = &p->stretch;
    if (insert->space_before) add_escaped(w, x->block, " ", 1);
    switch (insert->kind) {
    case GANZ_INSERT_RUN: write_run(w, insert->run, insert->run->begin, insert->run->end); break;
    case GANZ_INSERT_SOURCE: write_source(w, x, insert->begin, insert->end); break;
    case GANZ_INSERT_NUMBER: write_number(w, x, insert->begin, insert->end); break;
    case GANZ_INSERT_RESULTS: write_results(w, x, insert->begin, insert->end); break;
    case GANZ_INSERT_CLOCK: write_clock(w, p, insert); break;
    case GANZ_INSERT_TERM: add_escaped(w, x->block, insert->term->target, insert->term->target_bytes); break;
    }
    if (insert->space_after) add_escaped(w, x->block, " ", 1);
}

static void write_translation(writer *w, const ganz_sentence_part *p)
{
    size_t at = 0;
    for (size_t i = 0; i < p->inserts.count; i++) {
        const ganz_insert *const insert = &p->inserts.items[i];
        add_escaped(w, p->stretch.block, p->target + at, insert->at - at);
        write_insert(w, p, insert);
        at = insert->until;
    }
    add_escaped(w, p->stretch.block, p->target + at, p->target_bytes - at);
}

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* A gap between two sentences of a block that is wrapped: a space, unless a paragraph ends in it or it has a sign. */
static bool is_soft_gap(const ganz_block *b, size_t begin, size_t end)
{
    int newlines = 0;
    for (size_t i = begin; i < end; i++) newlines += b->text[i] == '\n' ? 1 : is_blank(b->text[i]) ? 0 : 2;
    return begin > 0 && end < b->bytes && begin < end && newlines < 2;
}

static void write_gap(writer *w, const ganz_block *b, size_t first, size_t last, size_t begin, size_t end)
{
    if (!w->flow || !is_soft_gap(b, begin, end)) {
        write_runs(w, b, first, last, begin, end);
        return;
    }
    for (size_t i = first; i < last; i++)
        if (b->runs[i].kind == GANZ_RUN_MARK) write_run(w, &b->runs[i], begin, end);
    add_as(w, GANZ_FLOW_SPACE, " ", 1);
}

static size_t word_length(const char *text, size_t bytes)
{
    size_t length = 0;
    while (length < bytes && !is_blank(text[length])) length++;
    return length;
}

/* A sentence that stays as it was, in a block that is wrapped. */
static void write_flowing(writer *w, const ganz_stretch *x)
{
    for (size_t i = x->first; i < x->last; i++) {
        const ganz_run *const r = &x->block->runs[i];
        if (r->kind != GANZ_RUN_TEXT) {
            const bool space = r->kind == GANZ_RUN_ATOM && r->end == r->begin + 1 && is_blank(x->block->text[r->begin]);
            if (space) add_as(w, GANZ_FLOW_SPACE, " ", 1);
            else write_run(w, r, x->begin, x->end);
            continue;
        }
        const size_t from = x->begin > r->begin ? x->begin : r->begin, to = x->end < r->end ? x->end : r->end;
        for (size_t at = from; at < to;) {
            const size_t word = word_length(x->block->text + at, to - at);
            add_as(w, GANZ_FLOW_TEXT, r->raw + (at - r->begin), word);
            at += word;
            const size_t before = at;
            while (at < to && is_blank(x->block->text[at])) at++;
            if (at > before) add_as(w, GANZ_FLOW_SPACE, " ", 1);
        }
    }
}

/* Gaps are the runs, and parts of runs, that belong to no sentence. A run of text may belong to several sentences, so
 * the run a gap begins with may be the last of the sentence before. */
static void write_sentences(writer *w, const ganz_block *b)
{
    const ganz_document *const d = w->document;
    size_t run = 0, at = 0;
    for (size_t i = d->first[b->number]; i < d->first[b->number + 1]; i++) {
        const ganz_sentence_part *const p = &d->sentences[i];
        const ganz_stretch *const x = &p->stretch;
        const bool shared = b->runs[x->first].begin < x->begin;
        write_gap(w, b, run, x->first + shared, at, x->begin);
        if (p->translated) write_translation(w, p);
        else if (w->flow) write_flowing(w, x);
        else write_runs(w, b, x->first, x->last, x->begin, x->end);
        run = b->runs[x->last - 1].end > x->end ? x->last - 1 : x->last;
        at = x->end;
    }
    write_runs(w, b, run, b->run_count, at, b->bytes);
}

static bool is_translated(const ganz_document *d, const ganz_block *b)
{
    for (size_t i = d->first[b->number]; i < d->first[b->number + 1]; i++)
        if (d->sentences[i].translated) return true;
    return false;
}

static void write_wrapped(writer *w, const ganz_block *b)
{
    ganz_flow flow = {0}, *const outer = w->flow;
    const ganz_block_style *const style = &b->style;
    w->flow = &flow;
    write_sentences(w, b);
    w->flow = outer;
    ganz_text lines = {0};
    if (!w->failed)
        w->failed = !ganz_flow_wrap(&flow, (size_t)style->columns, (size_t)style->rows,
                                    style->newline ? style->newline : "\n", &lines);
    add(w, lines.text, lines.bytes);
    ganz_text_free(&lines);
    ganz_flow_free(&flow);
}

/* What stands between a text and its translation: the format's own, else a newline if there is none yet. */
static void write_between(writer *w, const ganz_block *b)
{
    const char *const own = b->style.between;
    if (own) add(w, own, strlen(own));
    else if (b->bytes > 0 && b->text[b->bytes - 1] != '\n') add(w, "\n", 1);
}

static void write_block(writer *w, const ganz_block *b)
{
    const bool outer = w->translated, translated = is_translated(w->document, b), both = w->document->options.bilingual;
    w->translated = false;
    if (!translated || both) write_runs(w, b, 0, b->run_count, 0, b->bytes);
    if (translated && both) write_between(w, b);
    w->translated = translated;
    if (translated && b->style.columns > 0) write_wrapped(w, b);
    else if (translated) write_sentences(w, b);
    w->translated = outer; /* of the block whose mark this one is in */
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
