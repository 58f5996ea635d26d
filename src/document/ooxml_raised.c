/* Runs that are raised or lowered, and words with such runs inside: see raised.h. */
#include "document/raised.h"

#include "document/ooxml_survey.h"

enum { RAISED_EVENTS = 8 }; /* of a run behind its format */

static bool has_digit(ganz_slice value)
{
    for (size_t i = 0; i < value.bytes; i++)
        if (value.at[i] >= '1' && value.at[i] <= '9') return true;
    return false;
}

bool ganz_ooxml_is_raised(const ganz_xml_tree *t, size_t run)
{
    const size_t format = ganz_ooxml_format_event(t, run);
    ganz_slice value;
    if (format == 0) return false;
    if (ganz_xml_tree_attribute(t, format, "baseline", &value)) return has_digit(value); /* of a drawing */
    for (size_t i = format + 1; i < t->events[format].partner; i = ganz_xml_after(t, i))
        if (ganz_xml_starts(t, i, OOXML_RAISED) && ganz_xml_tree_attribute(t, i, "val", &value))
            return ganz_slice_is(value, "superscript") || ganz_slice_is(value, "subscript");
    return false;
}

static ganz_slice text_of(const ganz_xml_tree *t, size_t event)
{
    return (ganz_slice){t->x.text + t->events[event].begin, t->events[event].end - t->events[event].begin};
}

/* An element of text with nothing but text in it. */
static bool is_text(const ganz_xml_tree *t, size_t event)
{
    const ganz_xml_event *const e = t->events;
    return ganz_xml_starts(t, event, OOXML_TEXT) && e[event].partner == event + 2 && e[event + 1].kind == GANZ_XML_TEXT;
}

/* Behind what is nothing to a reader, from `event` on. */
static size_t skip_nothing(const ganz_xml_tree *t, size_t event)
{
    while (ganz_xml_starts(t, event, OOXML_NOTHING) || t->events[event].kind == GANZ_XML_OTHER ||
           (t->events[event].kind == GANZ_XML_TEXT && !ganz_xml_has_text(t, event, event + 1)))
        event = ganz_xml_after(t, event);
    return event;
}

/* The first event of a run that is not its format. */
static size_t inside_run(const ganz_xml_tree *t, size_t run)
{
    const size_t format = ganz_ooxml_format_event(t, run);
    return skip_nothing(t, format > 0 ? ganz_xml_after(t, format) : run + 1);
}

static bool starts_run(const ganz_xml_tree *t, size_t event)
{
    return ganz_xml_starts(t, event, OOXML_RUN) && !t->events[event].empty;
}

size_t ganz_ooxml_behind_raised(const ganz_xml_tree *t, size_t run)
{
    if (!starts_run(t, run)) return 0;
    const size_t first = inside_run(t, run), end = t->events[run].partner;
    size_t bytes = 0;
    if (first >= end || end - first > RAISED_EVENTS || !ganz_ooxml_is_raised(t, run)) return 0;
    for (size_t i = first; i < end; i = skip_nothing(t, ganz_xml_after(t, i))) {
        if (!is_text(t, i)) return 0;
        const ganz_slice text = text_of(t, i + 1);
        if (!ganz_raised_is_part(text.at, text.bytes)) return 0;
        bytes += text.bytes;
    }
    return bytes > 0 && bytes <= GANZ_RAISED_BYTES ? end + 1 : 0;
}

const char *ganz_ooxml_ordinal(const ganz_xml_tree *t, size_t run)
{
    const size_t first = inside_run(t, run);
    const ganz_slice text = text_of(t, first + 1);
    return is_text(t, first) && ganz_raised_is_ordinal(text.at, text.bytes) ? text.at : NULL;
}

/* Takes the letters in that the run at `run` begins with. Returns the event to go on with; 0: the word ends. */
static size_t take_letters(ganz_ooxml_reader *r, size_t run, uint64_t format, ganz_ooxml_compound *c)
{
    const ganz_xml_tree *const t = r->tree;
    if (!starts_run(t, run)) return 0;
    const size_t first = inside_run(t, run);
    if (!is_text(t, first) || ganz_ooxml_format_of(r, run) != format) return 0;
    const ganz_slice text = text_of(t, first + 1);
    const size_t bytes = ganz_raised_word_after(text.at, text.bytes);
    if (bytes == 0) return 0;
    c->run = (uint32_t)run;
    c->text = first;
    c->end = t->events[first + 1].begin + bytes;
    c->tail = 0;
    return bytes == text.bytes ? ganz_xml_after(t, first) : 0;
}

bool ganz_ooxml_find_compound(ganz_ooxml_reader *r, size_t text, uint64_t format, ganz_ooxml_compound *c)
{
    const ganz_xml_tree *const t = r->tree;
    *c = (ganz_ooxml_compound){.run = OOXML_NONE};
    if (!is_text(t, text)) return false;
    const ganz_slice before = text_of(t, text + 1);
    const size_t word = ganz_raised_word_before(before.at, before.bytes);
    c->begin = t->events[text + 1].end - word;
    for (size_t i = ganz_xml_after(t, text); word > 0 && i > 0;) {
        i = skip_nothing(t, i);
        if (t->events[i].kind != GANZ_XML_END || t->events[i].name != OOXML_RUN) break;
        size_t behind, raised = 0;
        i = skip_nothing(t, i + 1);
        while ((behind = ganz_ooxml_behind_raised(t, i)) > 0) {
            raised = behind - 1;
            i = skip_nothing(t, behind);
        }
        if (raised == 0) break;
        c->tail = raised;
        i = take_letters(r, i, format, c);
    }
    return c->run != OOXML_NONE;
}
