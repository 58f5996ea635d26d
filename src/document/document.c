/* The calls on documents: read, split, hand out sentences, take in translations. */
#include "document/document.h"

#include <string.h>

#include "document/letter.h"
#include "document/sentences.h"
#include "ganz/io.h"

void ganz_document_defaults(ganz_document_options *o)
{
    *o = (ganz_document_options){.format = "auto", .source = "en", .target = "de", .attributes = true};
}

static ganz_status no_memory(ganz_error *err) { return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document"); }

/* ---- sentences ---------------------------------------------------------------------------------- */

/* A mark at an end of a sentence that has its partner inside of it. */
static bool reaches_in(const ganz_stretch *x, const ganz_run *r)
{
    if (r->kind != GANZ_RUN_MARK || r->partner < 0) return false;
    const ganz_run *const other = &x->block->runs[r->partner];
    return other->begin > x->begin && other->begin < x->end;
}

/* Runs of a sentence, from run *at on, where the runs of the one before ended. */
static void find_runs(ganz_stretch *x, size_t *at)
{
    const ganz_run *const runs = x->block->runs;
    x->first = *at;
    while (runs[x->first].end <= x->begin && !(runs[x->first].begin == x->begin && reaches_in(x, &runs[x->first])))
        x->first++;
    x->last = x->first;
    for (size_t i = x->first; i < x->block->run_count && runs[i].begin <= x->end; i++)
        if (runs[i].begin < x->end || reaches_in(x, &runs[i])) x->last = i + 1;
    *at = x->last > 0 && runs[x->last - 1].end > x->end ? x->last - 1 : x->last;
}

static ganz_status add_sentence(ganz_document *d, const ganz_stretch *x, ganz_error *err)
{
    if (!ganz_grow((void **)&d->sentences, &d->capacity, d->count + 1, sizeof *d->sentences)) return no_memory(err);
    d->sentences[d->count++] = (ganz_sentence_part){.stretch = *x};
    return GANZ_OK;
}

/* Characters and their ways of writing are not cut: an end inside of one moves behind it. */
static size_t whole_runs(const ganz_block *b, size_t at, size_t *run)
{
    while (*run < b->run_count && b->runs[*run].end < at) (*run)++;
    const ganz_run *const r = *run < b->run_count ? &b->runs[*run] : NULL;
    return r && r->kind == GANZ_RUN_ATOM && r->begin < at ? r->end : at;
}

static ganz_status split_block(ganz_document *d, const ganz_block *block, ganz_error *err)
{
    ganz_sentences walk = {.text = block->text,
                           .bytes = block->bytes,
                           .language = d->setting.source,
                           .breaks = block->style.breaks,
                           .longest = GANZ_LONGEST_SENTENCE,
                           .outside = true};
    ganz_stretch x = {.block = block};
    size_t begin, end, run = 0, whole = 0, last = 0;
    while (ganz_sentences_next(&walk, &begin, &end)) {
        if (begin < last) begin = last;
        end = whole_runs(block, end, &whole);
        if (begin >= end) continue;
        x.begin = begin;
        x.end = last = end;
        find_runs(&x, &run);
        GANZ_TRY(add_sentence(d, &x, err));
    }
    return GANZ_OK;
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

void ganz_each_sentence(const char *text, size_t bytes, const char *language, ganz_newlines newlines,
                        void (*use)(void *context, size_t begin, size_t end), void *context)
{
    ganz_sentences walk = {.text = text,
                           .bytes = bytes,
                           .language = ganz_language_of(language),
                           .breaks = (ganz_breaks)newlines,
                           .longest = GANZ_LONGEST_SENTENCE,
                           .outside = true};
    size_t begin, end;
    if (!ganz_utf8_valid(text, bytes)) return;
    while (ganz_sentences_next(&walk, &begin, &end)) use(context, begin, end);
}

/* ---- open and close ----------------------------------------------------------------------------- */

static ganz_status find_format(const ganz_format **format, const ganz_document_options *o, const char *bytes,
                               size_t count, ganz_error *err)
{
    const bool named = o->format && strcmp(o->format, "auto") != 0;
    *format = named ? ganz_format_named(o->format) : ganz_format_of(o->path, bytes, count);
    if (*format) return GANZ_OK;
    if (named)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "there is no format %s, only %s", o->format, ganz_document_formats());
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
        return ganz_fail(err, GANZ_ELIMIT, "the document has %zu bytes, at most %zu are taken", count,
                         GANZ_DOCUMENT_BYTES);
    GANZ_TRY(ganz_skeleton_open(&d->skeleton, err));
    ganz_skeleton_set_bilingual(d->skeleton, o->bilingual);
    GANZ_TRY(d->format->read(d->skeleton, bytes, count, &how, err));
    GANZ_TRY(ganz_skeleton_status(d->skeleton, err));
    return split_blocks(d, err);
}

/* Languages in the Latin script, as far as translation models are about. */
static bool is_latin(const char *code)
{
    return code &&
           ganz_listed(
               " en de fr es it pt nl sv da nb nn no fi is pl cs sk sl hr hu ro et lv lt tr ca eu gl ga cy mt id"
               " ms vi sw af sq bs az uz eo la lb ",
               code, strcspn(code, "-_"));
}

ganz_status ganz_document_open_as(ganz_document **document, const ganz_format *format, const char *bytes, size_t count,
                                  const ganz_document_options *options, ganz_error *err)
{
    ganz_document *d = *document = ganz_alloc(1, sizeof *d);
    if (!d) return no_memory(err);
    d->options = *options;
    if (format->holds_both) d->options.bilingual = false;
    d->format = format;
    d->begun = options->opening;
    const ganz_language *const source = ganz_language_of(options->source), *const target =
                                                                               ganz_language_of(options->target);
    d->setting = (ganz_setting){.source = source,
                                .target = target,
                                .latin = is_latin(options->source),
                                .glossary = options->glossary,
                                .clock = ganz_clock_way_of(source, target)};
    if (d->begun) d->formality = ganz_letter_formality(options->opening, options->opening_bytes, source);
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
    ganz_free(d->again);
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

static void hand_out(const ganz_document *d, size_t number, ganz_segment *segment)
{
    const ganz_sentence_part *const p = &d->sentences[number];
    const ganz_text *const line = &p->attempt->line;
    *segment = (ganz_segment){
        .number = number, .text = line->text, .bytes = line->bytes, .links = p->links, .formality = p->formality};
}

/* Not lines, each of which is alone, and not the texts of programs. */
static bool may_be_letter(const ganz_format *format)
{
    const ganz_format *const letters[] = {&ganz_format_text, &ganz_format_html, &ganz_format_markdown,
                                          &ganz_format_docx, &ganz_format_odt};
    for (size_t i = 0; i < GANZ_COUNT(letters); i++)
        if (format == letters[i]) return true;
    return false;
}

enum { LONGEST_HEAD = 16 /* sentences */ };

/* True for what is no sentence, or stands behind "Subject:" in its line. */
static bool is_above_letter(const ganz_stretch *x)
{
    const char *const text = x->block->text;
    size_t line = x->begin;
    while (line > 0 && text[line - 1] != '\n') line--;
    return ganz_is_letter_head(text + x->begin, x->end - x->begin) || ganz_is_letter_head(text + line, x->end - line);
}

/* Where the first line of a sentence ends: "Dear Ms Low,<br>are you there?" */
static size_t first_line_end(const ganz_stretch *x)
{
    for (size_t i = x->first; i < x->last; i++) {
        const ganz_run *const r = &x->block->runs[i];
        if (r->kind == GANZ_RUN_MARK && r->mark == GANZ_MARK_BREAK && r->begin > x->begin) return r->begin;
    }
    return x->end;
}

/* The opening of a letter, its first line but for its date, addresses and subject, says how the reader of all below it
 * is addressed. */
static void look_for_opening(ganz_document *d, ganz_sentence_part *p)
{
    const ganz_stretch *const x = &p->stretch;
    const size_t end = first_line_end(x);
    d->formality = ganz_letter_formality(x->block->text + x->begin, end - x->begin, d->setting.source);
    p->formality = d->formality;
    d->begun = d->formality != GANZ_FORMALITY_AUTO || d->next + 1 == LONGEST_HEAD || !is_above_letter(x);
}

static ganz_status begin_next(ganz_document *d, ganz_error *err)
{
    ganz_sentence_part *const p = &d->sentences[d->next];
    const char *before = d->options.before;
    size_t bytes = d->options.before_bytes;
    if (!may_be_letter(d->format)) return ganz_sentence_begin(p, &d->setting, NULL, 0, err);
    if (d->next > 0) {
        const ganz_stretch *const x = &d->sentences[d->next - 1].stretch;
        before = x->block->text + x->begin;
        bytes = x->end - x->begin;
    }
    p->formality = d->formality;
    if (!d->begun) look_for_opening(d, p);
    return ganz_sentence_begin(p, &d->setting, before, bytes, err);
}

ganz_status ganz_document_next(ganz_document *d, ganz_segment *segment, ganz_error *err)
{
    *segment = (ganz_segment){0};
    if (d->again_next < d->again_count) {
        hand_out(d, d->again[d->again_next++], segment);
        if (d->again_next == d->again_count) d->again_next = d->again_count = 0;
        return GANZ_OK;
    }
    while (d->next < d->count) {
        ganz_sentence_part *const p = &d->sentences[d->next];
        GANZ_TRY(begin_next(d, err));
        d->next++;
        if (p->state == GANZ_STATE_OUT) return hand_out(d, d->next - 1, segment), GANZ_OK;
        d->done++;
    }
    return GANZ_OK;
}

ganz_status ganz_document_put(ganz_document *d, size_t number, const ganz_translation *translation, ganz_error *err)
{
    ganz_sentence_part *const p = number < d->count ? &d->sentences[number] : NULL;
    if (!p || p->state != GANZ_STATE_OUT)
        return ganz_fail(err, GANZ_EINVAL, "sentence %zu is not waiting for a translation", number);
    if (!ganz_grow((void **)&d->again, &d->again_capacity, d->again_count + 1, sizeof *d->again)) return no_memory(err);
    GANZ_TRY(ganz_sentence_put(p, &d->setting, translation, err));
    if (p->state == GANZ_STATE_DONE) d->done++;
    else d->again[d->again_count++] = number;
    return GANZ_OK;
}
