/* Inline elements as marks. One loop over the events, because well-formed XML nests by itself: a start of a pair opens
 * a mark that its end closes. */
#include "document/xml_inline.h"

#include <string.h>

#include "base/io.h"
#include "base/utf8.h"
#include "document/raised.h"

/* ---- line breaks -------------------------------------------------------------------------------- */

static bool ends_sentence(char c) { return c != '\0' && strchr(".!?:;", c) != NULL; }

/* Small letters beyond ASCII: the Latin ones of UTF-8's two-byte range are enough for a guess. */
static bool begins_small(const char *text, size_t bytes)
{
    int32_t c;
    if (bytes == 0 || ganz_utf8_decode(text, bytes, &c) == 0) return false;
    return (c >= 'a' && c <= 'z') || (c >= 0xDF && c <= 0xFF && c != 0xF7);
}

bool ganz_goes_on(const char *before, size_t before_bytes, const char *after, size_t after_bytes)
{
    while (before_bytes > 0 && memchr(" \t\r\n", before[before_bytes - 1], 4)) before_bytes--;
    while (after_bytes > 0 && memchr(" \t\r\n", after[0], 4)) after++, after_bytes--;
    return before_bytes > 0 && !ends_sentence(before[before_bytes - 1]) && begins_small(after, after_bytes);
}

#define NO_PAIR SIZE_MAX
enum { MOST_RANGES = 64 };
enum { NEAR = 8 }; /* events looked at on both sides of a line break */

static ganz_slice text_of(const ganz_xml_tree *t, size_t event)
{
    return (ganz_slice){t->x.text + t->events[event].begin, t->events[event].end - t->events[event].begin};
}

static bool line_goes_on(const ganz_inline *in, size_t event, size_t first, size_t last)
{
    const ganz_xml_tree *const t = in->tree;
    ganz_slice before = {"", 0}, after = {"", 0};
    const size_t end = ganz_xml_after(t, event);
    for (size_t i = event; i > first && event - i < NEAR && before.bytes == 0; i--)
        if (t->events[i - 1].kind == GANZ_XML_TEXT) before = text_of(t, i - 1);
    for (size_t i = end; i < last && i - end < NEAR && after.bytes == 0; i++)
        if (t->events[i].kind == GANZ_XML_TEXT) after = text_of(t, i);
    return ganz_goes_on(before.at, before.bytes, after.at, after.bytes);
}

/* ---- elements ----------------------------------------------------------------------------------- */

/* Both ends of a range get one name if they stand in the same element; others are carried on their own. */
static int range_name(const ganz_inline *in, size_t event, size_t parent)
{
    const ganz_slice key = in->rules->key(in, event);
    const uint64_t hash = ganz_checksum(key.at, key.bytes) ^ (uint64_t)parent * UINT64_C(0x9E3779B97F4A7C15);
    return (int)(hash >> 34) | 1 << 30; /* beyond the numbers of events */
}

static void put_nested(const ganz_inline *in, size_t event, size_t end)
{
    const ganz_xml_event *const e = in->tree->events;
    ganz_skeleton_mark_begin(in->skeleton, GANZ_MARK_EMPTY, (int)event);
    ganz_xml_copy(in->skeleton, in->tree, e[event].begin, e[event].end);
    if (!e[event].empty) {
        in->rules->nested(in, event + 1, end - 1);
        ganz_xml_copy(in->skeleton, in->tree, e[end - 1].begin, e[end - 1].end);
    }
    ganz_skeleton_mark_end(in->skeleton);
}

/* A start tag, and for a MARK all that follows up to its end. */
static void put_tag(const ganz_inline *in, ganz_mark_kind kind, size_t event, size_t end)
{
    const ganz_xml_event *const e = in->tree->events;
    if (!in->rules->tag_has_text || !in->rules->tag_has_text(in, event)) {
        ganz_skeleton_mark(in->skeleton, kind, (int)event, in->tree->x.text + e[event].begin,
                           e[end - 1].end - e[event].begin);
        return;
    }
    ganz_skeleton_mark_begin(in->skeleton, kind, (int)event);
    in->rules->put_tag(in, event);
    ganz_xml_copy(in->skeleton, in->tree, e[event].end, e[end - 1].end);
    ganz_skeleton_mark_end(in->skeleton);
}

static void put_opaque(const ganz_inline *in, size_t event, size_t end, const char *raw, size_t bytes)
{
    size_t shown_bytes;
    const char *const shown = ganz_xml_shown(in->skeleton, in->tree, event, end, &shown_bytes);
    ganz_skeleton_opaque(in->skeleton, shown ? shown : "", shown_bytes, raw, bytes);
}

/* Ranges beyond the first ones of a block are points, so that ends that never come do not hide the pairs around them.
 */
static void put_range(const ganz_inline *in, ganz_inline_kind kind, int name, const char *raw, size_t bytes,
                      int *ranges)
{
    const ganz_mark_kind mark = kind == GANZ_INLINE_FROM ? GANZ_MARK_OPEN : GANZ_MARK_CLOSE;
    *ranges += kind == GANZ_INLINE_FROM;
    ganz_skeleton_mark_changing(in->skeleton, *ranges > MOST_RANGES ? GANZ_MARK_EMPTY : mark, name, raw, bytes, raw,
                                in->once ? 0 : bytes);
}

/* ---- raised text -------------------------------------------------------------------------------- */

enum { RAISED_EVENTS = 8 }; /* text with an element or two around it */

/* The event behind a raised element that is at most one word; 0: the event starts no such thing. */
static size_t behind_raised(const ganz_inline *in, size_t event, size_t last)
{
    const ganz_xml_event *const e = in->tree->events;
    size_t bytes = 0;
    if (!in->rules->raised || event >= last || e[event].kind != GANZ_XML_START || e[event].empty) return 0;
    if (e[event].partner - event > RAISED_EVENTS || in->rules->kind(in, event) != GANZ_INLINE_PAIR) return 0;
    if (!in->rules->raised(in, event)) return 0;
    for (size_t i = event + 1; i < e[event].partner; i++) {
        const ganz_slice text = text_of(in->tree, i);
        if (e[i].kind == GANZ_XML_END) continue;
        if (e[i].kind == GANZ_XML_START && in->rules->kind(in, i) == GANZ_INLINE_PAIR) continue;
        if (e[i].kind != GANZ_XML_TEXT || !ganz_raised_is_part(text.at, text.bytes)) return 0;
        bytes += text.bytes;
    }
    return bytes > 0 && bytes <= GANZ_RAISED_BYTES ? e[event].partner + 1 : 0;
}

/* A raised element that touches the word before it, up to event `end`. */
static void put_raised(const ganz_inline *in, size_t event, size_t end)
{
    const ganz_slice text = text_of(in->tree, event + 1);
    const char *const raw = in->tree->x.text + in->tree->events[event].begin;
    const size_t bytes = in->tree->events[end - 1].end - in->tree->events[event].begin;
    if (ganz_raised_is_ordinal(text.at, text.bytes)) ganz_skeleton_text(in->skeleton, text.at, text.bytes, raw, bytes);
    else ganz_skeleton_opaque(in->skeleton, "", 0, raw, bytes);
}

/* A word with raised parts inside of it. */
typedef struct compound {
    size_t begin, end; /* bytes */
    size_t next;       /* the event that `end` is in or before */
} compound;

/* "H<sub>2</sub>O" at the end of a text event; false: the text does not end with such a word. */
static bool find_compound(const ganz_inline *in, size_t event, size_t last, compound *c)
{
    const ganz_xml_event *const e = in->tree->events;
    const ganz_slice text = text_of(in->tree, event);
    const size_t word = ganz_raised_word_before(text.at, text.bytes);
    bool letters = false;
    *c = (compound){.begin = e[event].end - word, .end = e[event].end, .next = event + 1};
    for (size_t behind; word > 0 && (behind = behind_raised(in, c->next, last)) > 0;) {
        c->next = behind;
        c->end = e[behind - 1].end;
        if (behind >= last || e[behind].kind != GANZ_XML_TEXT) continue;
        const ganz_slice more = text_of(in->tree, behind);
        const size_t bytes = ganz_raised_word_after(more.at, more.bytes);
        letters |= bytes > 0;
        c->end += bytes;
        if (bytes < more.bytes) break;
        c->next++;
    }
    return letters;
}

/* Text of an event from byte *done on, and the rest of a word that it ends with. Returns the event to go on with. */
static size_t put_text(const ganz_inline *in, size_t event, size_t last, size_t *done)
{
    const ganz_xml_event *const e = in->tree->events;
    const size_t from = *done > e[event].begin ? *done : e[event].begin;
    compound c;
    size_t bytes;
    if (e[event].kind == GANZ_XML_CDATA) return ganz_xml_put_event(in->skeleton, in->tree, event), event + 1;
    if (!find_compound(in, event, last, &c) || c.begin < from) {
        ganz_xml_put_text(in->skeleton, in->tree, from, e[event].end);
        return event + 1;
    }
    ganz_xml_put_text(in->skeleton, in->tree, from, c.begin);
    const char *const shown =
        ganz_xml_shown_part(in->skeleton, in->tree, event, c.next < last ? c.next + 1 : last, c.begin, c.end, &bytes);
    if (shown) ganz_skeleton_opaque(in->skeleton, shown, bytes, in->tree->x.text + c.begin, c.end - c.begin);
    *done = c.end;
    return c.next;
}

/* A start or empty element; returns the event to go on with. parent: the start of the pair around it, or NO_PAIR.
 * Inside a pair a line break always ends the sentence. */
static size_t put_element(const ganz_inline *in, size_t event, size_t first, size_t last, size_t parent, int *ranges)
{
    const ganz_xml_event *const e = in->tree->events;
    const size_t end = ganz_xml_after(in->tree, event);
    const char *const raw = in->tree->x.text + e[event].begin;
    const size_t bytes = e[end - 1].end - e[event].begin;
    ganz_skeleton *const s = in->skeleton;
    const ganz_inline_kind kind = in->rules->kind(in, event);
    switch (kind) {
    case GANZ_INLINE_PAIR:
        put_tag(in, e[event].empty ? GANZ_MARK_EMPTY : GANZ_MARK_OPEN, event, event + 1);
        return event + 1;
    case GANZ_INLINE_NESTED: put_nested(in, event, end); break;
    case GANZ_INLINE_OPAQUE: put_opaque(in, event, end, raw, bytes); break;
    case GANZ_INLINE_PLACE: ganz_skeleton_place(s, "", 0, raw, bytes); break;
    case GANZ_INLINE_SPACE: ganz_skeleton_text(s, " ", 1, raw, bytes); break;
    case GANZ_INLINE_STOP: ganz_skeleton_text(s, "\n\n", 2, raw, bytes); break;
    case GANZ_INLINE_LINE:
        if (parent == NO_PAIR && line_goes_on(in, event, first, last))
            ganz_skeleton_mark(s, GANZ_MARK_BREAK, (int)event, raw, bytes);
        else ganz_skeleton_text(s, "\n\n", 2, raw, bytes);
        break;
    case GANZ_INLINE_FROM:
    case GANZ_INLINE_TO: put_range(in, kind, range_name(in, event, parent), raw, bytes, ranges); break;
    case GANZ_INLINE_MARK: put_tag(in, GANZ_MARK_EMPTY, event, end); break;
    }
    return end;
}

/* Whether a word stands right before what comes behind an element. */
static bool touches_behind(const ganz_inline *in, size_t event, bool touching)
{
    switch (in->rules->kind(in, event)) {
    case GANZ_INLINE_OPAQUE: return true;
    case GANZ_INLINE_SPACE:
    case GANZ_INLINE_LINE:
    case GANZ_INLINE_STOP: return false;
    default: return touching;
    }
}

static bool ends_with_word(const ganz_inline *in, size_t end)
{
    return !memchr(" \t\r\n", in->tree->x.text[end - 1], 4);
}

void ganz_inline_content(const ganz_inline *in, size_t first, size_t last)
{
    const ganz_xml_event *const e = in->tree->events;
    size_t parents[GANZ_XML_DEPTH + 1], done = 0, next, behind;
    int depth = 0, ranges = 0;
    bool touching = false;
    parents[0] = NO_PAIR;
    for (size_t i = first; i < last; i = next) {
        const char *const raw = in->tree->x.text + e[i].begin;
        const size_t bytes = e[i].end - e[i].begin;
        next = i + 1;
        if (touching && (behind = behind_raised(in, i, last)) > 0) {
            next = behind;
            put_raised(in, i, behind);
        } else if (e[i].kind == GANZ_XML_START) {
            next = put_element(in, i, first, last, parents[depth], &ranges);
            if (next == i + 1 && !e[i].empty) parents[++depth] = i;
            touching = touches_behind(in, i, touching);
        } else if (e[i].kind == GANZ_XML_END) {
            depth--;
            ganz_skeleton_mark(in->skeleton, GANZ_MARK_CLOSE, (int)e[i].partner, raw, bytes);
        } else if (e[i].kind == GANZ_XML_TEXT || e[i].kind == GANZ_XML_CDATA) {
            next = put_text(in, i, last, &done);
            touching = ends_with_word(in, done > e[i].end ? done : e[i].end);
        } else {
            ganz_skeleton_mark(in->skeleton, GANZ_MARK_EMPTY, (int)i, raw, bytes);
        }
    }
}

void ganz_inline_block(const ganz_inline *in, size_t first, size_t last)
{
    if (first >= last) return;
    ganz_skeleton_begin(in->skeleton, in->style);
    ganz_inline_content(in, first, last);
    ganz_skeleton_end(in->skeleton);
}
