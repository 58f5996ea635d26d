/* The first pass over a paragraph of runs: nothing is handed out yet, because the base format is only known at its end.
 */
#include "document/ooxml_survey.h"

#include <string.h>

typedef struct surveyor {
    ganz_ooxml_survey *s;
    ganz_ooxml_reader *r;
    const ganz_xml_event *e;
    uint32_t run;                    /* that is open; OOXML_NONE: none */
    uint32_t around[GANZ_XML_DEPTH]; /* numbers of the open frames */
    int depth;
} surveyor;

static void no_memory(ganz_skeleton *s) { ganz_skeleton_fail(s, GANZ_ENOMEM, "out of memory for a document"); }

/* The innermost element around the event. */
static ganz_ooxml_frame *here(const surveyor *p) { return &p->s->frames[p->around[p->depth]]; }

/* One format is left over when each text in another takes as many votes away as it has bytes: if one format has more
 * than half of the text, that one. */
static void vote(ganz_ooxml_frame *f, uint64_t format, uint32_t run, size_t bytes)
{
    f->has_text = true;
    if (f->base != OOXML_NONE && f->format == format) {
        f->votes += bytes;
    } else if (f->base == OOXML_NONE || f->votes < bytes) {
        f->votes = bytes - (f->base == OOXML_NONE ? 0 : f->votes);
        f->format = format;
        f->base = run;
    } else {
        f->votes -= bytes;
    }
}

static bool add_frame(surveyor *p, size_t event, size_t outer)
{
    if (!ganz_grow((void **)&p->s->frames, &p->s->frame_capacity, p->s->frame_count + 1, sizeof *p->s->frames))
        return no_memory(p->r->skeleton), false;
    p->s->frames[p->s->frame_count++] =
        (ganz_ooxml_frame){.event = (uint32_t)event, .outer = (uint32_t)outer, .base = OOXML_NONE};
    return true;
}

size_t ganz_ooxml_runs_of(const ganz_xml_tree *t, size_t event)
{
    const ganz_xml_event *const e = t->events;
    if (e[event].name == OOXML_AROUND) return event;
    for (size_t i = event + 1; e[event].name == OOXML_HOLDER && i < e[event].partner; i = ganz_xml_after(t, i))
        if (ganz_xml_starts(t, i, OOXML_CONTENT) && !e[i].empty) return i;
    return 0;
}

/* Fields whose result a reader wants to read in his language. All others are made anew by the program that opens it. */
static bool is_link(const char *instruction, size_t bytes)
{
    static const char *const kinds[] = {"HYPERLINK",   "TOC",      "INDEX",    "TOA",         "QUOTE",
                                        "MACROBUTTON", "FORMTEXT", "CITATION", "BIBLIOGRAPHY"};
    while (bytes > 0 && memchr(" \t\r\n", *instruction, 4)) instruction++, bytes--;
    for (size_t i = 0; i < GANZ_COUNT(kinds); i++) {
        const size_t n = strlen(kinds[i]);
        if (bytes >= n && memcmp(instruction, kinds[i], n) == 0) return true;
    }
    return false;
}

static bool instructs_link(const surveyor *p, const ganz_ooxml_field *f)
{
    for (size_t i = f->begin; i < f->end; i++) {
        if (!ganz_xml_starts(p->r->tree, i, OOXML_INSTRUCTION) || p->e[i + 1].kind != GANZ_XML_TEXT) continue;
        return is_link(p->r->tree->x.text + p->e[i + 1].begin, p->e[i + 1].end - p->e[i + 1].begin);
    }
    return false;
}

/* Fields that are open, by number. */
typedef struct nesting {
    uint32_t open[OOXML_FIELD_DEPTH];
    int count, lost; /* lost: fields beyond these */
} nesting;

static void begin_field(surveyor *p, nesting *n, size_t event)
{
    if (n->count == (int)GANZ_COUNT(n->open)) {
        n->lost++;
        return;
    }
    if (!ganz_grow((void **)&p->s->fields, &p->s->field_capacity, p->s->field_count + 1, sizeof *p->s->fields)) {
        no_memory(p->r->skeleton);
        return;
    }
    n->open[n->count++] = (uint32_t)p->s->field_count;
    p->s->fields[p->s->field_count++] = (ganz_ooxml_field){
        .begin = (uint32_t)event, .middle = OOXML_NONE, .end = OOXML_NONE, .frame = p->around[p->depth]};
}

static void end_field(surveyor *p, nesting *n, size_t event)
{
    if (n->lost > 0) {
        n->lost--;
        return;
    }
    if (n->count == 0) return;
    ganz_ooxml_field *const f = &p->s->fields[n->open[--n->count]];
    if (f->frame != p->around[p->depth]) return;
    f->end = (uint32_t)event;
    f->end_run = p->run;
    f->word = f->middle == OOXML_NONE || !instructs_link(p, f);
    if (f->word) p->s->last_text = event; /* a word of the sentence, too */
}

static void note_field(surveyor *p, nesting *n, size_t event)
{
    ganz_slice kind;
    if (!ganz_xml_tree_attribute(p->r->tree, event, "fldCharType", &kind)) return;
    if (ganz_slice_is(kind, "begin")) begin_field(p, n, event);
    if (ganz_slice_is(kind, "end")) end_field(p, n, event);
    if (!ganz_slice_is(kind, "separate") || n->count == 0 || n->lost > 0) return;
    ganz_ooxml_field *const f = &p->s->fields[n->open[n->count - 1]];
    if (f->frame != p->around[p->depth] || f->middle != OOXML_NONE) return;
    f->middle = (uint32_t)event;
    f->middle_run = p->run;
}

static void note_text(surveyor *p, size_t event)
{
    const size_t end = p->e[event].partner;
    if (p->run == OOXML_NONE || p->e[event].empty || p->e[end].begin == p->e[event].end) return;
    ganz_ooxml_frame *const f = &p->s->frames[p->around[p->depth]];
    /* Raised text is the base only where there is no other: words that a translation adds are none of it. */
    const size_t bytes = ganz_ooxml_is_raised(p->r->tree, p->run) ? 0 : p->e[end].begin - p->e[event].end;
    vote(f, ganz_ooxml_format_of(p->r, p->run), p->run, bytes);
    p->s->last_text = event;
}

/* A start; returns the event to go on with. */
static size_t look_at(surveyor *p, nesting *n, size_t i)
{
    const size_t after = ganz_xml_after(p->r->tree, i), runs = ganz_ooxml_runs_of(p->r->tree, i);
    if (p->e[i].empty && p->e[i].name != OOXML_FIELD_CHAR && p->e[i].name != OOXML_WORD) return after;
    switch (p->e[i].name) {
    case OOXML_AROUND:
    case OOXML_HOLDER:
        if (p->run != OOXML_NONE || runs == 0 || !add_frame(p, runs, i)) return after;
        p->around[++p->depth] = (uint32_t)p->s->frame_count - 1;
        return runs + 1;
    case OOXML_RUN:
        if (p->run != OOXML_NONE) return after;
        p->run = (uint32_t)i;
        return i + 1;
    case OOXML_FIELD_CHAR: note_field(p, n, i); return after;
    case OOXML_TEXT: note_text(p, i); return after;
    case OOXML_WORD: p->s->last_text = i; return after;
    default: return after;
    }
}

static bool look_through(surveyor *p, size_t event)
{
    nesting n = {.count = 0};
    if (!add_frame(p, event, event)) return false;
    for (size_t i = event + 1; i < p->e[event].partner;) {
        if (p->e[i].kind == GANZ_XML_START) {
            i = look_at(p, &n, i);
            continue;
        }
        if (p->e[i].kind == GANZ_XML_END && p->e[i].name == OOXML_RUN) p->run = OOXML_NONE;
        if (p->e[i].kind == GANZ_XML_END && p->e[i].partner == here(p)->event) {
            const bool has_text = p->s->frames[p->around[p->depth--]].has_text;
            p->s->frames[p->around[p->depth]].has_text |= has_text;
        }
        i++;
    }
    return true;
}

bool ganz_ooxml_survey_open(ganz_ooxml_survey *survey, ganz_ooxml_reader *reader, size_t event)
{
    surveyor p = {.s = survey, .r = reader, .e = reader->tree->events, .run = OOXML_NONE};
    *survey = (ganz_ooxml_survey){0};
    return look_through(&p, event);
}

void ganz_ooxml_survey_close(ganz_ooxml_survey *survey)
{
    ganz_free(survey->frames);
    ganz_free(survey->fields);
}
