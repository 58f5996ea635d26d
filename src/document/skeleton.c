/* Building a skeleton. Open blocks and marks are a stack of frames; a block's text and runs grow in its frame and are
 * moved to memory of the skeleton when it ends. */
#include "document/skeleton.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "document/format.h"
#include "document/parts.h"
#include "document/tags.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

#define CHUNK_BYTES ((size_t)64 << 10)
#define PARTNER_DEPTH 256
#define OPAQUE_TEXT "\xEF\xBF\xBC" /* U+FFFC */
#define LONGEST_ELEMENT 1024       /* of tags in plain text, and what they enclose */

typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    max_align_t data[];
} chunk;

typedef struct piece_list {
    ganz_piece *first, *last;
} piece_list;

/* A block with the marks of it that hold pieces themselves, one after the other. */
typedef struct frame {
    ganz_block_style style;
    ganz_text text;
    ganz_run *runs;
    size_t run_count, run_capacity;
    piece_list inside;
    bool in_mark;
} frame;

struct ganz_skeleton {
    chunk *chunks;
    piece_list pieces;
    ganz_block *first_block, *last_block;
    size_t block_count;
    frame frames[GANZ_SKELETON_DEPTH];
    int depth; /* frames in use */
    void *state;
    bool bilingual;
    ganz_error failure; /* GANZ_OK: none */
};

/* ---- open, close, failures ---------------------------------------------------------------------- */

ganz_status ganz_skeleton_open(ganz_skeleton **skeleton, ganz_error *err)
{
    *skeleton = ganz_alloc(1, sizeof **skeleton);
    return *skeleton ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
}

void ganz_skeleton_close(ganz_skeleton **skeleton)
{
    ganz_skeleton *const s = *skeleton;
    *skeleton = NULL;
    if (!s) return;
    for (chunk *c = s->chunks, *next; c; c = next) {
        next = c->next;
        ganz_free(c);
    }
    for (int i = 0; i < GANZ_SKELETON_DEPTH; i++) {
        ganz_text_free(&s->frames[i].text);
        ganz_free(s->frames[i].runs);
    }
    ganz_free(s);
}

void ganz_skeleton_fail(ganz_skeleton *s, ganz_status status, const char *format, ...)
{
    if (s->failure.status != GANZ_OK) return;
    va_list args;
    va_start(args, format);
    s->failure.status = status;
    vsnprintf(s->failure.message, sizeof s->failure.message, format, args);
    va_end(args);
}

static bool failed(const ganz_skeleton *s) { return s->failure.status != GANZ_OK; }
static void no_memory(ganz_skeleton *s) { ganz_skeleton_fail(s, GANZ_ENOMEM, "out of memory for a document"); }

/* A call out of order is a mistake of the reader, found by its tests; it must not become a broken file. */
static bool expect(ganz_skeleton *s, bool in_order, const char *call)
{
    if (!in_order) ganz_skeleton_fail(s, GANZ_EINVAL, "a document's parts are out of order at %s", call);
    return !failed(s);
}

ganz_status ganz_skeleton_status(const ganz_skeleton *s, ganz_error *err)
{
    if (failed(s)) return ganz_fail(err, s->failure.status, "%s", s->failure.message);
    return s->depth == 0 ? GANZ_OK : ganz_fail(err, GANZ_EINVAL, "a document's last block was not ended");
}

/* ---- memory ------------------------------------------------------------------------------------- */

static chunk *add_chunk(ganz_skeleton *s, size_t bytes)
{
    size_t whole;
    chunk *const c = ganz_add_size(sizeof(chunk), bytes, &whole) ? ganz_realloc(NULL, whole, 1) : NULL;
    if (!c) return no_memory(s), NULL;
    *c = (chunk){.next = s->chunks, .size = bytes};
    return s->chunks = c;
}

void *ganz_skeleton_keep(ganz_skeleton *s, size_t bytes)
{
    if (failed(s)) return NULL;
    if (bytes > SIZE_MAX / 2) return no_memory(s), NULL;
    const size_t whole = ganz_round_up(bytes ? bytes : 1, sizeof(max_align_t));
    chunk *c = s->chunks;
    if (!c || c->size - c->used < whole) c = add_chunk(s, whole > CHUNK_BYTES / 4 ? whole : CHUNK_BYTES);
    if (!c) return NULL;
    void *const memory = (char *)c->data + c->used;
    c->used += whole;
    return memory;
}

static void *keep_copy(ganz_skeleton *s, const void *data, size_t bytes)
{
    void *const copy = ganz_skeleton_keep(s, bytes);
    return copy && bytes > 0 ? memcpy(copy, data, bytes) : copy;
}

/* ---- pieces ------------------------------------------------------------------------------------- */

/* Where copies and blocks belong now: to the file, or to an open mark; NULL: into a block they cannot go. */
static piece_list *open_list(ganz_skeleton *s)
{
    if (s->depth == 0) return &s->pieces;
    frame *const f = &s->frames[s->depth - 1];
    return f->in_mark ? &f->inside : NULL;
}

static void add_piece(ganz_skeleton *s, piece_list *list, ganz_piece piece)
{
    ganz_piece *const p = keep_copy(s, &piece, sizeof piece);
    if (!p) return;
    if (list->last) list->last->next = p;
    else list->first = p;
    list->last = p;
}

void ganz_skeleton_copy(ganz_skeleton *s, const char *raw, size_t bytes)
{
    piece_list *const list = open_list(s);
    if (!expect(s, list != NULL, "a copy") || bytes == 0) return;
    ganz_piece *const last = list->last;
    if (last && last->raw && last->raw + last->bytes == raw) last->bytes += bytes;
    else add_piece(s, list, (ganz_piece){.raw = raw, .bytes = bytes});
}

void ganz_skeleton_section(ganz_skeleton *s)
{
    if (expect(s, s->depth == 0, "a section")) add_piece(s, &s->pieces, (ganz_piece){0});
}

/* ---- blocks ------------------------------------------------------------------------------------- */

void ganz_skeleton_begin(ganz_skeleton *s, const ganz_block_style *style)
{
    if (!expect(s, open_list(s) != NULL, "the beginning of a block")) return;
    if (s->depth == GANZ_SKELETON_DEPTH) {
        ganz_skeleton_fail(s, GANZ_ELIMIT, "the document is nested deeper than %d", GANZ_SKELETON_DEPTH);
        return;
    }
    frame *const f = &s->frames[s->depth++];
    f->style = *style;
    f->text.bytes = f->run_count = 0;
    f->inside = (piece_list){0};
    f->in_mark = false;
}

static frame *open_block(ganz_skeleton *s, const char *call)
{
    frame *const f = s->depth > 0 ? &s->frames[s->depth - 1] : NULL;
    return expect(s, f && !f->in_mark, call) ? f : NULL;
}

/* Appends a run with its text, whose place in the block it is given. */
static void add_run(ganz_skeleton *s, frame *f, ganz_run run, const char *text, size_t bytes)
{
    if (f->run_count == INT32_MAX / 2) {
        ganz_skeleton_fail(s, GANZ_ELIMIT, "a paragraph of the document has too many parts");
        return;
    }
    run.begin = f->text.bytes;
    run.partner = -1;
    if (!ganz_grow((void **)&f->runs, &f->run_capacity, f->run_count + 1, sizeof run) ||
        !ganz_text_append(&f->text, text, bytes)) {
        no_memory(s);
        return;
    }
    run.end = f->text.bytes;
    f->runs[f->run_count++] = run;
}

static bool is_control(int32_t code)
{
    return (code < 0x20 && !ganz_is_space(code)) || code == 0x7F || (code >= 0x80 && code < 0xA0 && code != 0x85);
}

/* Bytes from the start that can be text: valid UTF-8 without control characters. */
static size_t text_length(const char *text, size_t bytes)
{
    size_t at = 0;
    int32_t code;
    while (at < bytes) {
        const int step = ganz_utf8_decode(text + at, bytes - at, &code);
        if (step == 0 || is_control(code)) break;
        at += (size_t)step;
    }
    return at;
}

static size_t other_length(const char *text, size_t bytes)
{
    size_t at = 0;
    while (at < bytes && text_length(text + at, bytes - at > 4 ? 4 : bytes - at) == 0) at++;
    return at;
}

static void add_plain(ganz_skeleton *s, frame *f, const char *text, size_t bytes)
{
    while (bytes > 0 && !failed(s)) {
        const size_t good = text_length(text, bytes);
        ganz_run *const last = f->run_count > 0 ? &f->runs[f->run_count - 1] : NULL;
        if (good > 0 && last && last->kind == GANZ_RUN_TEXT && last->raw + last->raw_bytes == text) {
            if (!ganz_text_append(&f->text, text, good)) no_memory(s);
            last->raw_bytes += good;
            last->end = f->text.bytes;
        } else if (good > 0) {
            add_run(s, f, (ganz_run){.kind = GANZ_RUN_TEXT, .raw = text, .raw_bytes = good}, text, good);
        }
        const size_t other = other_length(text + good, bytes - good);
        if (other > 0)
            add_run(s, f,
                    (ganz_run){.kind = GANZ_RUN_MARK, .mark = GANZ_MARK_EMPTY, .raw = text + good, .raw_bytes = other},
                    "", 0);
        text += good + other;
        bytes -= good + other;
    }
}

void ganz_skeleton_text(ganz_skeleton *s, const char *text, size_t bytes, const char *raw, size_t raw_bytes)
{
    frame *const f = open_block(s, "text");
    if (!f || (bytes == 0 && raw_bytes == 0)) return;
    if (text == raw && bytes == raw_bytes) {
        add_plain(s, f, text, bytes);
        return;
    }
    const bool good = bytes > 0 && text_length(text, bytes) == bytes;
    const ganz_run atom = {.kind = GANZ_RUN_ATOM, .raw = raw, .raw_bytes = raw_bytes};
    const ganz_run mark = {.kind = GANZ_RUN_MARK, .mark = GANZ_MARK_EMPTY, .raw = raw, .raw_bytes = raw_bytes};
    add_run(s, f, good ? atom : mark, text, good ? bytes : 0);
}

static bool touches(const ganz_run *r, const ganz_run *next)
{
    return !r->inside && !next->inside && r->raw + r->raw_bytes == next->raw;
}

/* A pair around nothing but a word that is not translated, as in [`x`](y), is one such word. */
static void join_opaque(frame *f)
{
    ganz_run *const open = f->run_count >= 3 ? &f->runs[f->run_count - 3] : NULL;
    if (!open || open[1].kind != GANZ_RUN_OPAQUE || open->kind != GANZ_RUN_MARK || open->mark != GANZ_MARK_OPEN) return;
    if (open->name != open[2].name || !touches(open, &open[1]) || !touches(&open[1], &open[2])) return;
    const size_t bytes = open->raw_bytes + open[1].raw_bytes + open[2].raw_bytes;
    const char *const raw = open->raw;
    *open = open[1];
    open->raw = raw;
    open->raw_bytes = bytes;
    f->run_count -= 2;
}

static void add_mark(ganz_skeleton *s, frame *f, ganz_run run)
{
    run.kind = GANZ_RUN_MARK;
    add_run(s, f, run, " ", run.mark == GANZ_MARK_BREAK ? 1 : 0);
    if (run.mark == GANZ_MARK_CLOSE && run.raw && !failed(s)) join_opaque(f);
}

void ganz_skeleton_mark(ganz_skeleton *s, ganz_mark_kind kind, int name, const char *raw, size_t bytes)
{
    frame *const f = open_block(s, "a mark");
    if (f) add_mark(s, f, (ganz_run){.mark = kind, .name = name, .raw = raw, .raw_bytes = bytes});
}

void ganz_skeleton_mark_changing(ganz_skeleton *s, ganz_mark_kind kind, int name, const char *raw, size_t bytes,
                                 const char *changed, size_t changed_bytes)
{
    frame *const f = open_block(s, "a mark");
    if (f)
        add_mark(s, f,
                 (ganz_run){.mark = kind,
                            .name = name,
                            .raw = raw,
                            .raw_bytes = bytes,
                            .shown = changed,
                            .shown_bytes = changed_bytes});
}

void ganz_skeleton_mark_needs_text(ganz_skeleton *s)
{
    frame *const f = open_block(s, "a mark that needs text");
    ganz_run *const last = f && f->run_count > 0 ? &f->runs[f->run_count - 1] : NULL;
    if (last && expect(s, last->kind == GANZ_RUN_MARK, "a mark that needs text")) last->needs_text = true;
}

void ganz_skeleton_mark_begin(ganz_skeleton *s, ganz_mark_kind kind, int name)
{
    frame *const f = open_block(s, "the beginning of a mark");
    if (!f) return;
    add_mark(s, f, (ganz_run){.mark = kind, .name = name});
    f->inside = (piece_list){0};
    f->in_mark = true;
}

void ganz_skeleton_mark_end(ganz_skeleton *s)
{
    frame *const f = s->depth > 0 ? &s->frames[s->depth - 1] : NULL;
    if (!expect(s, f && f->in_mark, "the end of a mark")) return;
    f->runs[f->run_count - 1].inside = f->inside.first;
    f->in_mark = false;
}

static void add_opaque(ganz_skeleton *s, ganz_run run)
{
    frame *const f = open_block(s, "a word that is not translated");
    if (!f) return;
    if (run.shown_bytes > 0 && text_length(run.shown, run.shown_bytes) < run.shown_bytes) run.shown_bytes = 0;
    run.kind = GANZ_RUN_OPAQUE;
    add_run(s, f, run, OPAQUE_TEXT, sizeof OPAQUE_TEXT - 1);
}

void ganz_skeleton_opaque(ganz_skeleton *s, const char *text, size_t bytes, const char *raw, size_t raw_bytes)
{
    add_opaque(s, (ganz_run){.raw = raw, .raw_bytes = raw_bytes, .shown = text, .shown_bytes = bytes});
}

void ganz_skeleton_place(ganz_skeleton *s, const char *like, size_t bytes, const char *raw, size_t raw_bytes)
{
    add_opaque(s, (ganz_run){.raw = raw, .raw_bytes = raw_bytes, .shown = like, .shown_bytes = bytes, .place = true});
}

/* ---- tags in plain text ------------------------------------------------------------------------- */

/* "<" that is written in another way, where such a thing may begin a tag. */
static bool is_escaped_tag(const frame *f, const ganz_run *r)
{
    return f->style.escaped_tags && r->kind == GANZ_RUN_ATOM && r->end - r->begin == 1 && f->text.text[r->begin] == '<';
}

static bool has_tags(const frame *f)
{
    for (size_t i = 0; i < f->run_count; i++) {
        if (is_escaped_tag(f, &f->runs[i])) return true;
        if (f->runs[i].kind == GANZ_RUN_TEXT && memchr(f->runs[i].raw, '<', f->runs[i].raw_bytes)) return true;
    }
    return false;
}

/* Text, or in a tag also a place that is filled in: <a href="%s">. */
static bool goes_on(const ganz_run *r, bool tag)
{
    return r->kind == GANZ_RUN_TEXT || r->kind == GANZ_RUN_ATOM || (tag && r->kind == GANZ_RUN_OPAQUE);
}

/* Bytes from `at`, in run i of a block, in which a tag or an element may end: those of the runs behind, too. */
static size_t bytes_of(const frame *f, size_t i, size_t at, bool tag)
{
    while (i + 1 < f->run_count && f->runs[i].end - at < LONGEST_ELEMENT && goes_on(&f->runs[i + 1], tag)) i++;
    return f->runs[i].end - at;
}

/* What the file has for text [begin, end) of runs from i on; NULL: a character would be cut in two. */
static const char *raw_of(ganz_skeleton *s, const frame *f, size_t i, size_t begin, size_t end, size_t *bytes)
{
    ganz_text raw = {0};
    const char *copy = NULL;
    bool whole = true;
    if (end <= f->runs[i].end) return *bytes = end - begin, f->runs[i].raw + (begin - f->runs[i].begin);
    for (; i < f->run_count && f->runs[i].begin < end && whole && !failed(s); i++) {
        const ganz_run *const r = &f->runs[i];
        const size_t from = begin > r->begin ? begin - r->begin : 0, cut = end < r->end ? r->end - end : 0;
        whole = cut == 0 || r->kind == GANZ_RUN_TEXT;
        if (whole && !ganz_text_append(&raw, r->raw + from, r->raw_bytes - from - cut)) no_memory(s);
    }
    *bytes = raw.bytes;
    if (whole && !failed(s)) copy = keep_copy(s, raw.text, raw.bytes);
    ganz_text_free(&raw);
    return copy;
}

/* The tag or element of code at `at`, in run i, becomes a run; returns where it ends; 0: there is none. */
static size_t read_tag(ganz_skeleton *s, const frame *f, size_t i, size_t at, ganz_run *run)
{
    const char *const text = f->text.text + at;
    size_t begin, end, bytes;
    *run = (ganz_run){.kind = GANZ_RUN_OPAQUE};
    bytes = ganz_code_element_at(text, bytes_of(f, i, at, false), &begin, &end);
    if (bytes > 0) {
        run->shown = keep_copy(s, text + begin, end - begin);
        run->shown_bytes = run->shown ? end - begin : 0;
    } else {
        run->kind = GANZ_RUN_MARK;
        bytes = ganz_tag_at(text, bytes_of(f, i, at, true), &run->mark, &run->name);
        if (bytes > 0 && f->style.breaks != GANZ_BREAK_NOWHERE && ganz_tag_parts(text, bytes))
            run->kind = GANZ_RUN_ATOM;
    }
    if (bytes > 0) run->raw = raw_of(s, f, i, at, at + bytes, &run->raw_bytes);
    return run->raw ? at + bytes : 0;
}

/* Adds a part of a run of plain text again. */
static void add_text_again(ganz_skeleton *s, frame *f, const ganz_run *r, size_t begin, size_t end)
{
    const char *const raw = r->raw + (begin - r->begin);
    if (begin < end)
        add_run(s, f, (ganz_run){.kind = GANZ_RUN_TEXT, .raw = raw, .raw_bytes = end - begin}, raw, end - begin);
}

static void add_tag(ganz_skeleton *s, frame *f, ganz_run tag)
{
    if (tag.kind == GANZ_RUN_OPAQUE) add_run(s, f, tag, OPAQUE_TEXT, sizeof OPAQUE_TEXT - 1);
    else if (tag.kind == GANZ_RUN_ATOM) add_run(s, f, tag, "\n\n", 2);
    else add_mark(s, f, tag);
}

/* Adds run i again, which may be an escaped "<"; returns where the tag that it begins ends, 0: it begins none. */
static size_t add_with_tag(ganz_skeleton *s, frame *f, const frame *old, size_t i)
{
    const ganz_run *const r = &old->runs[i];
    ganz_run tag;
    const size_t end = is_escaped_tag(old, r) ? read_tag(s, old, i, r->begin, &tag) : 0;
    if (end > 0) add_tag(s, f, tag);
    else add_run(s, f, *r, old->text.text + r->begin, r->end - r->begin);
    return end;
}

/* Adds run i of plain text again, from `begin` on, with its tags as marks; returns where the last of them ends. */
static size_t add_with_tags(ganz_skeleton *s, frame *f, const frame *old, size_t i, size_t begin)
{
    const ganz_run *const r = &old->runs[i];
    for (size_t at = begin; at < r->end && !failed(s); at++) {
        ganz_run tag;
        const size_t end = old->text.text[at] == '<' ? read_tag(s, old, i, at, &tag) : 0;
        if (end == 0) continue;
        add_text_again(s, f, r, begin, at);
        add_tag(s, f, tag);
        begin = end;
        at = end - 1;
    }
    add_text_again(s, f, r, begin, r->end);
    return begin;
}

/* Only a whole block shows its tags, whatever pieces it was handed in: <a href=\"x\"> of JSON is five. */
static void find_tags(ganz_skeleton *s, frame *f)
{
    if (!has_tags(f)) return;
    frame old = *f;
    size_t done = 0; /* of the old text; a tag may end in a later run */
    f->text = (ganz_text){0};
    f->runs = NULL;
    f->run_count = f->run_capacity = 0;
    for (size_t i = 0; i < old.run_count && !failed(s); i++) {
        const ganz_run *const r = &old.runs[i];
        if (goes_on(r, true) && r->end <= done) continue;
        if (r->kind == GANZ_RUN_TEXT) done = add_with_tags(s, f, &old, i, done > r->begin ? done : r->begin);
        else done = add_with_tag(s, f, &old, i);
    }
    ganz_text_free(&old.text);
    ganz_free(old.runs);
}

/* ---- the end of a block ------------------------------------------------------------------------- */

/* Each CLOSE finds the last open OPEN of its name; what was opened in between is not nested and has no partner. It
 * looks at PARTNER_DEPTH of them, so that a million of either cost no more than linear time. */
static void find_partners(frame *f, int *stack)
{
    size_t open = 0;
    for (size_t i = 0; i < f->run_count; i++) {
        ganz_run *const r = &f->runs[i];
        if (r->kind != GANZ_RUN_MARK) continue;
        if (r->mark == GANZ_MARK_OPEN) stack[open++] = (int)i;
        if (r->mark == GANZ_MARK_BREAK) open = 0; /* no pair has its parts on both sides of one */
        if (r->mark != GANZ_MARK_CLOSE) continue;
        size_t at = open;
        while (at > 0 && open - at < PARTNER_DEPTH && f->runs[stack[at - 1]].name != r->name) at--;
        if (at == 0 || f->runs[stack[at - 1]].name != r->name) continue;
        open = at - 1;
        r->partner = stack[open];
        f->runs[stack[open]].partner = (int)i;
    }
}

void ganz_skeleton_end(ganz_skeleton *s)
{
    frame *const f = open_block(s, "the end of a block");
    if (!f) return;
    s->depth--;
    find_tags(s, f);
    if (failed(s)) return;
    int *const stack = ganz_alloc(f->run_count, sizeof *stack);
    if (!stack) {
        no_memory(s);
        return;
    }
    find_partners(f, stack);
    ganz_free(stack);
    ganz_block block = {
        .style = f->style, .bytes = f->text.bytes, .run_count = f->run_count, .number = s->block_count++};
    block.text = keep_copy(s, f->text.text, f->text.bytes);
    block.runs = keep_copy(s, f->runs, f->run_count * sizeof *f->runs);
    ganz_block *const b = keep_copy(s, &block, sizeof block);
    if (!b) return;
    if (s->last_block) s->last_block->next = b;
    else s->first_block = b;
    s->last_block = b;
    add_piece(s, open_list(s), (ganz_piece){.block = b});
}

/* ---- reading it --------------------------------------------------------------------------------- */

const ganz_piece *ganz_skeleton_pieces(const ganz_skeleton *s) { return s->pieces.first; }
const ganz_block *ganz_skeleton_blocks(const ganz_skeleton *s) { return s->first_block; }
size_t ganz_skeleton_block_count(const ganz_skeleton *s) { return s->block_count; }
void *ganz_skeleton_state(const ganz_skeleton *s) { return s->state; }
void ganz_skeleton_set_state(ganz_skeleton *s, void *state) { s->state = state; }
bool ganz_skeleton_bilingual(const ganz_skeleton *s) { return s->bilingual; }
void ganz_skeleton_set_bilingual(ganz_skeleton *s, bool bilingual) { s->bilingual = bilingual; }
