/* Glue between marks: what becomes of it when a document is written. */
#include <stdio.h>
#include <string.h>

#include "document/ooxml.h"
#include "text/tokenizer.h"

#define MOST_BYTES \
    ((size_t)1 << 30) /* of a polished section: formats of hostile files are long, and glue repeats them */

bool ganz_ooxml_glue_add(ganz_ooxml_glue *glue, ganz_ooxml_place place, size_t *number)
{
    if (!ganz_grow((void **)&glue->places, &glue->capacity, glue->count + 1, sizeof place)) return false;
    *number = glue->count;
    glue->places[glue->count++] = place;
    return true;
}

typedef struct polisher {
    const ganz_ooxml_glue *glue;
    const char *at, *end;
    ganz_text *out;
    ganz_status status;
} polisher;

static void add(polisher *p, const char *bytes, size_t count)
{
    if (p->status != GANZ_OK) return;
    if (p->out->bytes + count > MOST_BYTES) p->status = GANZ_ELIMIT;
    else if (!ganz_text_append(p->out, bytes, count)) p->status = GANZ_ENOMEM;
}

static void add_text(polisher *p, const char *text) { add(p, text, strlen(text)); }

static void add_tag(polisher *p, const char *before, ganz_slice name, const char *after)
{
    add_text(p, before);
    add(p, name.at, name.bytes);
    add_text(p, after);
}

static void leave(polisher *p, const ganz_ooxml_place *place)
{
    if (place->enter.bytes > 0) add_tag(p, "</", p->glue->run, ">");
}

static void enter(polisher *p, const ganz_ooxml_place *place) { add(p, place->enter.at, place->enter.bytes); }

static void begin_text(polisher *p, const ganz_ooxml_place *place)
{
    leave(p, place);
    if (place->base.bytes > 0) add(p, place->base.at, place->base.bytes);
    else add_tag(p, "<", p->glue->run, ">");
    add_tag(p, "<", p->glue->text, p->glue->preserve ? " xml:space=\"preserve\">" : ">");
}

static void end_text(polisher *p, const ganz_ooxml_place *place)
{
    add_tag(p, "</", p->glue->text, ">");
    add_tag(p, "</", p->glue->run, ">");
    enter(p, place);
}

/* The number of glue that begins at p->at with this byte, which it moves behind; NULL: no such glue stands there. */
static const ganz_ooxml_place *take(polisher *p, int kind)
{
    size_t number = 0;
    if (p->at >= p->end || *p->at != kind) return NULL;
    while (++p->at < p->end && *p->at != OOXML_GLUE_END) number = number * 10 + (size_t)(*p->at - '0');
    p->at++;
    return &p->glue->places[number];
}

/* Text begins and, perhaps, ends again at once: then only the way from one place to the other is left. */
static void polish_in(polisher *p)
{
    const ganz_ooxml_place *const from = take(p, OOXML_GLUE_IN), *const to = take(p, OOXML_GLUE_OUT);
    if (from == to) return;
    if (to) {
        leave(p, from);
        enter(p, to);
    } else {
        begin_text(p, from);
    }
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* At the ">" of a text element: looks how its text begins and ends. */
static void polish_space(polisher *p)
{
    const char *const text = ++p->at + 1, *end = text;
    while (end < p->end && *end != '<' && *end != OOXML_GLUE_OUT && *end != OOXML_GLUE_IN) end++;
    if (text < end && (is_space(*text) || is_space(end[-1]))) add_text(p, " xml:space=\"preserve\"");
}

ganz_status ganz_ooxml_glue_polish(const void *data, const ganz_text *written, ganz_text *out, ganz_error *err)
{
    polisher p = {.glue = data, .at = written->text, .end = written->text + written->bytes, .out = out};
    while (p.at < p.end && p.status == GANZ_OK) {
        const char *const begin = p.at;
        while (p.at < p.end && (unsigned char)*p.at > OOXML_GLUE_SPACE) p.at++;
        add(&p, begin, (size_t)(p.at - begin));
        if (p.at >= p.end) break;
        if (*p.at == OOXML_GLUE_IN) polish_in(&p);
        else if (*p.at == OOXML_GLUE_OUT) end_text(&p, take(&p, OOXML_GLUE_OUT));
        else polish_space(&p);
    }
    if (p.status == GANZ_ELIMIT) return ganz_fail(err, GANZ_ELIMIT, "a part of the document would be over 1 GiB");
    return p.status == GANZ_OK ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
}
