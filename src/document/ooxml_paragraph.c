/* A paragraph of runs as a block: the second pass over it, which hands out text, marks and glue; see ooxml.h. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "document/ooxml_survey.h"
#include "document/xml_inline.h"
#include "text/tokenizer.h"

#define NONE OOXML_NONE
enum { MOST_RANGES = 64, LOOK_AHEAD = 16 };

typedef struct paragraph {
    ganz_ooxml_reader *r;
    const ganz_xml_event *e;
    ganz_ooxml_survey s;
    bool open;         /* the block has begun */
    bool touching;     /* no white space comes behind its last word */
    size_t done;       /* bytes handed to the skeleton */
    uint32_t run;      /* the run around `done`; NONE: outside */
    uint32_t last_run; /* that text was read from */
    bool glued;        /* glue was written: for the skeleton this is text in the base format */
    size_t place;      /* number of that glue */
    uint64_t format;   /* of the text, for the skeleton */
    size_t space;      /* place of a ">" that is to be asked about white space; 0: none */
    size_t next_frame, next_field;
    uint32_t around[GANZ_XML_DEPTH]; /* numbers of the open frames */
    int depth;
    const ganz_ooxml_field *fields_open[OOXML_FIELD_DEPTH]; /* whose end is to come */
    int fields_depth;
    int ranges; /* begun so far */
} paragraph;

static void no_memory(ganz_skeleton *s) { ganz_skeleton_fail(s, GANZ_ENOMEM, "out of memory for a document"); }

/* The innermost element around the event. */
static ganz_ooxml_frame *here(const paragraph *p) { return &p->s.frames[p->around[p->depth]]; }

/* ---- bytes and glue ----------------------------------------------------------------------------- */

static void scratch(paragraph *p, const char *bytes, size_t count)
{
    if (!ganz_text_append(&p->r->scratch, bytes, count)) no_memory(p->r->skeleton);
}

static void scratch_glue(paragraph *p, char kind)
{
    char text[32];
    const int n = snprintf(text, sizeof text, "%c%zu%c", kind, p->place, OOXML_GLUE_END);
    scratch(p, text, (size_t)n);
}

/* Start tag and format of a run. */
static ganz_slice run_start(const paragraph *p, uint32_t run)
{
    const size_t format = ganz_ooxml_format_event(p->r->tree, run);
    const size_t end = p->e[format ? p->e[format].partner : run].end;
    return (ganz_slice){p->r->tree->x.text + p->e[run].begin, end - p->e[run].begin};
}

static void take(paragraph *p, size_t upto)
{
    const char *const text = p->r->tree->x.text;
    if (p->space >= p->done && p->space < upto && p->space > 0) {
        scratch(p, text + p->done, p->space - p->done);
        scratch(p, (const char[]){OOXML_GLUE_SPACE}, 1);
        p->done = p->space;
        p->space = 0;
    }
    scratch(p, text + p->done, upto - p->done);
    p->done = upto;
}

/* Begins what one call to the skeleton will have: from text in the base format to the place where the file is. */
static void begin_raw(paragraph *p)
{
    p->r->scratch.bytes = 0;
    if (p->glued) scratch_glue(p, OOXML_GLUE_OUT);
    p->glued = false;
}

/* From the place where the file is to text in the base format. */
static void add_glue(paragraph *p)
{
    const ganz_ooxml_frame *const f = here(p);
    const ganz_slice none = {"", 0};
    const ganz_ooxml_place place = {.base = f->base == NONE ? none : run_start(p, f->base),
                                    .enter = p->run == NONE ? none : run_start(p, p->run)};
    if (!ganz_ooxml_glue_add(p->r->glue, place, &p->place)) {
        no_memory(p->r->skeleton);
        return;
    }
    scratch_glue(p, OOXML_GLUE_IN);
    p->glued = true;
    p->format = f->format;
}

/* White space at the ends of a text without xml:space="preserve" does not count, and neither would ours. */
static bool asks_for_space(const paragraph *p, size_t event)
{
    ganz_slice value;
    const char *const text = p->r->tree->x.text + p->e[event].end;
    const size_t bytes = p->e[p->e[event].partner].begin - p->e[event].end;
    if (!p->r->glue->preserve || p->e[event].partner != event + 2 ||
        ganz_xml_tree_attribute(p->r->tree, event, "space", &value))
        return false;
    return !memchr(" \t\r\n", text[0], 4) && !memchr(" \t\r\n", text[bytes - 1], 4);
}

/* The first text behind an event, if nothing but tags of runs stands in between, and it is in the base format. */
static size_t next_base_text(paragraph *p, size_t event)
{
    const uint32_t run = p->run;
    size_t i = event + 1, found = 0;
    for (int steps = 0; steps < LOOK_AHEAD && found == 0; steps++) {
        const int name = p->e[i].name;
        if (p->e[i].kind == GANZ_XML_END && name != OOXML_RUN) break;
        if (p->e[i].kind == GANZ_XML_END) p->run = NONE;
        if (p->e[i].kind != GANZ_XML_START) {
            i++;
            continue;
        }
        if (name == OOXML_RUN && p->run == NONE && !p->e[i].empty) {
            p->run = (uint32_t)i++;
        } else if (name == OOXML_FORMAT || name == OOXML_NOTHING) {
            i = ganz_xml_after(p->r->tree, i);
        } else {
            const bool text =
                name == OOXML_TEXT && p->run != NONE && p->e[i + 1].kind == GANZ_XML_TEXT && !p->e[i].empty;
            if (text && ganz_ooxml_format_of(p->r, p->run) == here(p)->format) found = i;
            break;
        }
    }
    p->run = run;
    return found;
}

/* Ends what one call to the skeleton has, behind an event: in text in the base format, the file's own if it comes next.
 */
static void end_raw(paragraph *p, size_t event)
{
    const size_t text = next_base_text(p, event);
    if (text == 0) {
        add_glue(p);
        return;
    }
    if (asks_for_space(p, text)) p->space = p->e[text].end - 1;
    take(p, p->e[text].end);
    p->format = here(p)->format;
}

static const char *keep_raw(paragraph *p, size_t *bytes)
{
    *bytes = p->r->scratch.bytes;
    char *const kept = ganz_skeleton_keep(p->r->skeleton, *bytes);
    if (kept && *bytes > 0) memcpy(kept, p->r->scratch.text, *bytes);
    if (!kept) *bytes = 0;
    return kept ? kept : "";
}

static void put_mark(paragraph *p, ganz_mark_kind kind, int name)
{
    size_t bytes;
    const char *const raw = keep_raw(p, &bytes);
    ganz_skeleton_mark(p->r->skeleton, kind, name, raw, bytes);
}

/* A mark that leads from text in the base format to such text: where a block is written twice it is left out the second
 * time, because notes and bookmarks have numbers of their own. */
static void put_mark_once(paragraph *p, ganz_mark_kind kind, int name)
{
    size_t bytes;
    const char *const raw = keep_raw(p, &bytes);
    const bool again = !ganz_skeleton_bilingual(p->r->skeleton) || kind == GANZ_MARK_BREAK;
    ganz_skeleton_mark_changing(p->r->skeleton, kind, name, raw, bytes, raw, again ? bytes : 0);
}

static void put_copy(paragraph *p)
{
    size_t bytes;
    const char *const raw = keep_raw(p, &bytes);
    ganz_skeleton_copy(p->r->skeleton, raw, bytes);
}

/* ---- text ---------------------------------------------------------------------------------------- */

enum { FORMAT_MARK = 1 << 29 }; /* a name that no event has */

/* Begins the block where the file is at `upto`, outside of text. */
static void begin_block(paragraph *p, size_t upto)
{
    begin_raw(p);
    take(p, upto);
    add_glue(p);
    put_copy(p);
    ganz_skeleton_begin(p->r->skeleton, &p->r->style);
    p->open = true;
}

/* Ends the pair of another format that is open, if there is one. */
static void end_format(paragraph *p, size_t upto)
{
    if (p->format == here(p)->format) return;
    begin_raw(p);
    take(p, upto);
    add_glue(p);
    put_mark(p, GANZ_MARK_CLOSE, FORMAT_MARK);
}

/* From text in one format to text in another, which begins at `begin` in the run that is open. */
static void change_format(paragraph *p, uint64_t format, size_t begin)
{
    const bool back = format == here(p)->format;
    const uint32_t run = p->run;
    if (!back) {
        p->run = NONE; /* between the runs */
        end_format(p, p->e[run].begin);
        p->run = run;
    }
    begin_raw(p);
    take(p, begin);
    p->format = format;
    put_mark(p, back ? GANZ_MARK_CLOSE : GANZ_MARK_OPEN, FORMAT_MARK);
}

static void begin_with_text(paragraph *p, uint64_t format, size_t begin)
{
    if (format == here(p)->format) {
        begin_raw(p);
        take(p, begin);
        put_copy(p);
        ganz_skeleton_begin(p->r->skeleton, &p->r->style);
        p->open = true;
        p->format = format;
    } else {
        const uint32_t run = p->run;
        p->run = NONE;
        begin_block(p, p->e[run].begin);
        p->run = run;
        change_format(p, format, begin);
    }
}

/* The first character of a text whose run looks like the one before: it takes the tags between them along, which leave
 * with it when the sentence is translated. */
static size_t put_joined(paragraph *p, size_t begin, size_t end)
{
    const ganz_xml_tree *const t = p->r->tree;
    int32_t code;
    size_t bytes, raw_bytes;
    size_t taken = ganz_xml_step(&t->x, t->x.text + begin, end - begin, &code);
    if (code < 0) taken = (size_t)ganz_utf8_decode(t->x.text + begin, end - begin, &code);
    const char *const text = ganz_xml_character(p->r->skeleton, code, &bytes);
    begin_raw(p);
    take(p, begin + taken);
    const char *const raw = keep_raw(p, &raw_bytes);
    ganz_skeleton_text(p->r->skeleton, text, bytes, raw, raw_bytes);
    return begin + taken;
}

/* Bytes [begin, end) of an event of text. None: only what leads to them, which goes along with what comes there. */
static void put_text(paragraph *p, size_t event, size_t begin, size_t end, uint64_t format)
{
    const ganz_xml_event *const e = &p->e[event];
    if (!p->open) begin_with_text(p, format, begin);
    else if (format != p->format) change_format(p, format, begin);
    else if ((p->glued || p->done < begin) && begin < end && e->kind == GANZ_XML_TEXT)
        begin = put_joined(p, begin, end);
    if (begin >= end && p->done < end) return;
    if (p->done < begin || (p->glued && begin < end)) { /* only before CDATA */
        begin_raw(p);
        take(p, begin);
        put_mark(p, GANZ_MARK_EMPTY, (int)event);
    }
    if (e->kind == GANZ_XML_TEXT) ganz_xml_put_text(p->r->skeleton, p->r->tree, begin, end);
    else ganz_xml_put_event(p->r->skeleton, p->r->tree, event);
    p->done = end;
    p->touching = !memchr(" \t\r\n", p->r->tree->x.text[end - 1], 4);
}

/* A word with raised runs inside, as one that is not translated. Returns the event to go on with if it ends outside of
 * text; 0: it ends in the compound's text. */
static size_t put_compound(paragraph *p, size_t event, const ganz_ooxml_compound *c)
{
    const bool tail = c->tail > 0 && p->format == here(p)->format; /* no glue leads from one format to another here */
    const size_t last = tail ? c->tail : c->text + 1, end = tail ? p->e[c->tail].end : c->end;
    size_t bytes, shown_bytes;
    const char *const shown =
        ganz_xml_shown_part(p->r->skeleton, p->r->tree, event, last + 1, c->begin, end, &shown_bytes);
    begin_raw(p);
    if (asks_for_space(p, c->text)) p->space = p->e[c->text].end - 1;
    take(p, end);
    p->run = tail ? NONE : c->run;
    p->last_run = c->run;
    if (tail) end_raw(p, last);
    const char *const raw = keep_raw(p, &bytes);
    ganz_skeleton_opaque(p->r->skeleton, shown ? shown : "", shown_bytes, raw, bytes);
    p->touching = true;
    return tail ? c->tail + 1 : 0;
}

/* Texts of an element from byte `from` on, up to byte `to`. */
static void put_part(paragraph *p, size_t event, size_t from, size_t to, uint64_t format)
{
    for (size_t i = event + 1; i < p->e[event].partner; i = ganz_xml_after(p->r->tree, i)) {
        if (p->e[i].kind != GANZ_XML_TEXT && p->e[i].kind != GANZ_XML_CDATA) continue;
        put_text(p, i, p->e[i].begin > from ? p->e[i].begin : from, p->e[i].end < to ? p->e[i].end : to, format);
    }
}

/* An element of text, and others that a word of it reaches into. Returns the event to go on with. */
static size_t put_texts(paragraph *p, size_t event)
{
    ganz_ooxml_compound c;
    for (size_t from = 0;; from = c.end, event = c.text) {
        if (p->run == NONE || p->e[event].empty || p->e[event].partner == event + 1) break;
        const uint64_t format = ganz_ooxml_format_of(p->r, p->run);
        p->last_run = p->run;
        if (from == 0 && asks_for_space(p, event)) p->space = p->e[event].end - 1;
        const bool compound = ganz_ooxml_find_compound(p->r, event, format, &c) && c.begin >= from;
        put_part(p, event, from, compound ? c.begin : SIZE_MAX, format);
        if (!compound) break;
        const size_t next = put_compound(p, event, &c);
        if (next > 0) return next;
    }
    return ganz_xml_after(p->r->tree, event);
}

/* ---- what is not text --------------------------------------------------------------------------- */

/* Leads from the text before to the first byte of events that become a mark, and begins it. */
static void begin_feature(paragraph *p, size_t event)
{
    end_format(p, p->e[event].begin);
    begin_raw(p);
}

static void put_nested(paragraph *p, size_t event, size_t after)
{
    begin_feature(p, event);
    take(p, p->e[event].begin);
    ganz_skeleton_mark_begin(p->r->skeleton, GANZ_MARK_EMPTY, (int)event);
    put_copy(p);
    ganz_ooxml_read_body(p->r, event, after);
    p->done = p->e[after - 1].end;
    p->r->scratch.bytes = 0;
    end_raw(p, after - 1);
    put_copy(p);
    ganz_skeleton_mark_end(p->r->skeleton);
}

static void put_feature(paragraph *p, ganz_mark_kind kind, int name, size_t event, size_t last)
{
    begin_feature(p, event);
    take(p, p->e[last].end);
    end_raw(p, last);
    put_mark_once(p, kind, name);
}

/* Something that is text to the model in another way than it is written. */
static void put_atom_of(paragraph *p, const char *text, size_t text_bytes, size_t event, size_t last)
{
    size_t bytes;
    begin_feature(p, event);
    take(p, p->e[last].end);
    end_raw(p, last);
    const char *const raw = keep_raw(p, &bytes);
    ganz_skeleton_text(p->r->skeleton, text, text_bytes, raw, bytes);
    p->touching = text[0] != '\n';
}

/* A word, or white space. */
static void put_atom(paragraph *p, const char *text, size_t event, size_t last)
{
    put_atom_of(p, text, strlen(text), event, last);
}

/* Something that is not translated. shown: what the model may see of it. */
static void put_opaque(paragraph *p, const char *shown, size_t shown_bytes, size_t event, size_t last)
{
    size_t bytes;
    begin_feature(p, event);
    take(p, p->e[last].end);
    end_raw(p, last);
    const char *const raw = keep_raw(p, &bytes);
    ganz_skeleton_opaque(p->r->skeleton, shown, shown_bytes, raw, bytes);
    p->touching = true;
}

/* A raised run that touches the word before it. */
static void put_raised(paragraph *p, size_t event, size_t last)
{
    const char *const ordinal = ganz_ooxml_ordinal(p->r->tree, event);
    if (ordinal) put_atom_of(p, ordinal, 2, event, last);
    else put_opaque(p, "", 0, event, last);
}

static void put_word(paragraph *p, size_t event, size_t last)
{
    size_t bytes;
    const char *const shown = ganz_xml_shown(p->r->skeleton, p->r->tree, event, last, &bytes);
    put_opaque(p, shown ? shown : "", bytes, event, last);
}

/* Texts of the events nearest to a line break, on both sides. */
static bool line_goes_on(const paragraph *p, size_t event)
{
    const ganz_xml_tree *const t = p->r->tree;
    ganz_slice before = {"", 0}, after = {"", 0};
    const size_t end = p->e[here(p)->event].partner;
    for (size_t i = event; i > here(p)->event && event - i < 16 && before.bytes == 0; i--)
        if (p->e[i].kind == GANZ_XML_TEXT)
            before = (ganz_slice){t->x.text + p->e[i].begin, p->e[i].end - p->e[i].begin};
    for (size_t i = event; i < end && i - event < 24 && after.bytes == 0; i++)
        if (p->e[i].kind == GANZ_XML_TEXT) after = (ganz_slice){t->x.text + p->e[i].begin, p->e[i].end - p->e[i].begin};
    return ganz_goes_on(before.at, before.bytes, after.at, after.bytes);
}

static void put_line(paragraph *p, size_t event)
{
    ganz_slice type;
    const bool page = ganz_xml_tree_attribute(p->r->tree, event, "type", &type) && !ganz_slice_is(type, "textWrapping");
    const bool plain = p->depth + p->fields_depth == 0; /* inside a pair the sentence ends in any case */
    if (!page && plain && line_goes_on(p, event))
        put_feature(p, GANZ_MARK_BREAK, (int)event, event, p->e[event].partner);
    else put_atom(p, "\n\n", event, p->e[event].partner);
    p->touching = false;
}

/* Bookmarks and comments have numbers of their own, so the name's first letters count too. */
static int range_name(const paragraph *p, size_t event)
{
    ganz_slice id = {"", 0};
    const char *const tag = p->r->tree->x.text + p->e[event].begin, *const colon = memchr(
                                                                        tag, ':', p->e[event].end - p->e[event].begin);
    uint32_t hash = 2166136261u + p->around[p->depth];
    ganz_xml_tree_attribute(p->r->tree, event, "id", &id);
    for (size_t i = 0; i < id.bytes; i++) hash = (hash ^ (unsigned char)id.at[i]) * 16777619u;
    for (size_t i = 1; i <= 4; i++) hash = (hash ^ (unsigned char)(colon ? colon : tag)[i]) * 16777619u;
    return (int)(hash >> 2) | 1 << 30;
}

/* Ranges beyond the first ones are points, so that ends that never come do not hide the pairs around them. */
static void put_range(paragraph *p, size_t event, size_t last)
{
    const ganz_mark_kind kind = p->e[event].name == OOXML_FROM ? GANZ_MARK_OPEN : GANZ_MARK_CLOSE;
    p->ranges += kind == GANZ_MARK_OPEN;
    put_feature(p, p->ranges > MOST_RANGES ? GANZ_MARK_EMPTY : kind, range_name(p, event), event, last);
}

/* ---- fields and frames -------------------------------------------------------------------------- */

/* The field that begins with this event and is whole; NULL: there is none. */
static const ganz_ooxml_field *field_of(paragraph *p, size_t event)
{
    while (p->next_field < p->s.field_count && p->s.fields[p->next_field].begin < event) p->next_field++;
    if (p->next_field == p->s.field_count) return NULL;
    const ganz_ooxml_field *const f = &p->s.fields[p->next_field];
    return f->begin == event && f->end != NONE ? f : NULL;
}

/* Returns the event to go on with. */
static size_t put_field(paragraph *p, const ganz_ooxml_field *f)
{
    const size_t to = p->e[f->word ? f->end : f->middle].partner;
    if (!p->open) begin_block(p, p->e[f->begin].begin);
    end_format(p, p->e[f->begin].begin);
    p->run = f->word ? f->end_run : f->middle_run; /* where the mark leaves the file */
    if (f->word) {
        put_word(p, f->begin, to);
    } else {
        put_feature(p, GANZ_MARK_OPEN, (int)f->begin, f->begin, to);
        p->fields_open[p->fields_depth++] = f;
    }
    return to + 1;
}

static bool ends_field(const paragraph *p, size_t event)
{
    return p->fields_depth > 0 && p->fields_open[p->fields_depth - 1]->end == event;
}

static void enter_frame(paragraph *p)
{
    const ganz_ooxml_frame *const f = &p->s.frames[p->next_frame];
    const size_t begin = p->e[f->outer].begin;
    if (!p->open) begin_block(p, begin);
    end_format(p, begin);
    begin_raw(p);
    take(p, p->e[f->event].end);
    p->around[++p->depth] = (uint32_t)p->next_frame;
    end_raw(p, f->event);
    put_mark(p, GANZ_MARK_OPEN, (int)f->event);
}

static void leave_frame(paragraph *p, size_t end)
{
    const ganz_ooxml_frame *const f = here(p);
    end_format(p, p->e[end].begin);
    begin_raw(p);
    take(p, p->e[p->e[f->outer].partner].end);
    p->depth--;
    end_raw(p, p->e[f->outer].partner);
    put_mark(p, GANZ_MARK_CLOSE, (int)f->event);
}

static bool frame_has_text(paragraph *p, size_t event)
{
    while (p->next_frame < p->s.frame_count && p->s.frames[p->next_frame].event < event) p->next_frame++;
    return p->next_frame < p->s.frame_count && p->s.frames[p->next_frame].event == event &&
           p->s.frames[p->next_frame].has_text;
}

/* ---- event by event ----------------------------------------------------------------------------- */

static void end_block(paragraph *p)
{
    if (!p->open) return;
    p->run = NONE;
    end_format(p, p->e[p->e[p->last_run].partner].end);
    ganz_skeleton_end(p->r->skeleton);
    p->open = false;
}

/* What stands before the first text or after the last is copied; paragraphs in it are read. */
static void put_outside(paragraph *p, size_t event, size_t after)
{
    if (!p->r->holds[event]) return;
    const uint32_t run = p->run;
    end_block(p);
    p->run = run;
    begin_raw(p);
    take(p, p->e[event].begin);
    put_copy(p);
    ganz_ooxml_read_body(p->r, event, after);
    p->done = p->e[after - 1].end;
}

static void put_other(paragraph *p, size_t event, size_t after)
{
    switch (p->e[event].name) {
    case OOXML_TAB: put_atom(p, "\n\n", event, after - 1); break;
    case OOXML_HYPHEN: put_atom(p, "-", event, after - 1); break;
    case OOXML_LINE: put_line(p, event); break;
    case OOXML_WORD: put_word(p, event, after - 1); break;
    case OOXML_FROM:
    case OOXML_TO: put_range(p, event, after - 1); break;
    default:
        if (p->r->holds[event]) put_nested(p, event, after);
        else put_feature(p, GANZ_MARK_EMPTY, (int)event, event, after - 1);
    }
}

/* A start; returns the event to go on with. */
static size_t put_start(paragraph *p, size_t i)
{
    const size_t after = ganz_xml_after(p->r->tree, i);
    const int name = p->e[i].name;
    const bool late = i > p->s.last_text;
    if (name == OOXML_RUN && p->run == NONE && !p->e[i].empty) {
        const size_t behind = p->open && p->touching ? ganz_ooxml_behind_raised(p->r->tree, i) : 0;
        if (behind > 0) return put_raised(p, i, behind - 1), behind;
        return p->run = (uint32_t)i, i + 1;
    }
    if (name == OOXML_FORMAT || name == OOXML_NOTHING) return after;
    if (name == OOXML_TEXT) return put_texts(p, i);
    if (p->run == NONE && ganz_ooxml_runs_of(p->r->tree, i) > 0 && frame_has_text(p, ganz_ooxml_runs_of(p->r->tree, i)))
        return enter_frame(p), here(p)->event + 1;
    if (name == OOXML_FIELD_CHAR && !late) {
        const ganz_ooxml_field *const f = field_of(p, i);
        if (f) return put_field(p, f);
    }
    if (name == OOXML_FIELD_CHAR && ends_field(p, i)) {
        put_feature(p, GANZ_MARK_CLOSE, (int)p->fields_open[--p->fields_depth]->begin, i, after - 1);
    } else if (p->open && (!late || (p->depth + p->fields_depth > 0 && p->r->holds[i]))) {
        put_other(p, i, after);
    } else if (name == OOXML_WORD && !late) {
        begin_block(p, p->e[i].begin);
        put_other(p, i, after);
    } else {
        put_outside(p, i, after);
    }
    return after;
}

static void put_all(paragraph *p, size_t event)
{
    const size_t end = p->e[event].partner;
    p->done = p->e[event].end;
    p->run = NONE;
    p->depth = 0;
    for (size_t i = event + 1; i < end;) {
        if (p->e[i].kind == GANZ_XML_START) {
            i = put_start(p, i);
            continue;
        }
        if (p->e[i].kind == GANZ_XML_END && p->e[i].name == OOXML_RUN) p->run = NONE;
        if (p->e[i].kind == GANZ_XML_END && p->e[i].partner == here(p)->event) leave_frame(p, i);
        i++;
    }
    end_block(p);
    begin_raw(p);
    take(p, p->e[end].end);
    put_copy(p);
}

void ganz_ooxml_read_paragraph(ganz_ooxml_reader *r, size_t event)
{
    paragraph p = {.r = r, .e = r->tree->events, .run = NONE};
    const ganz_xml_event *const e = &r->tree->events[event];
    ganz_xml_copy(r->skeleton, r->tree, e->begin, e->end);
    if (e->empty) return;
    if (ganz_ooxml_survey_open(&p.s, r, event) && p.s.frames[0].has_text) {
        put_all(&p, event);
    } else {
        ganz_ooxml_read_body(r, event + 1, e->partner);
        ganz_xml_copy(r->skeleton, r->tree, r->tree->events[e->partner].begin, r->tree->events[e->partner].end);
    }
    ganz_ooxml_survey_close(&p.s);
}
