/* The array of events, and text with references on its way into a skeleton. */
#include "document/xml_tree.h"

#include <string.h>

#include "base/utf8.h"
#include "text/tokenizer.h"

#define MOST_BYTES ((size_t)256 << 20)
enum { MOST_EVENTS = 16 << 20 };

/* ---- scanning ----------------------------------------------------------------------------------- */

static uint16_t name_of(const ganz_xml *x, const ganz_xml_name *names)
{
    for (const ganz_xml_name *n = names; n->local; n++) {
        if (n->space != x->space) continue;
        if (ganz_slice_is(x->local, n->local) || (n->local[0] == '*' && n->local[1] == '\0')) return (uint16_t)n->name;
    }
    return 0;
}

static ganz_status add_event(ganz_xml_tree *t, size_t *capacity, const ganz_xml_name *names, uint32_t *open,
                             ganz_error *err)
{
    if (t->count == MOST_EVENTS) return ganz_fail(err, GANZ_ELIMIT, "the document has over 16 million elements");
    if (!ganz_grow((void **)&t->events, capacity, t->count + 1, sizeof *t->events))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    ganz_xml_event *const e = &t->events[t->count];
    *e = (ganz_xml_event){.begin = (uint32_t)t->x.begin,
                          .end = (uint32_t)t->x.end,
                          .partner = (uint32_t)t->count,
                          .kind = (uint8_t)t->x.kind,
                          .empty = t->x.empty};
    if (e->kind == GANZ_XML_START) {
        e->name = name_of(&t->x, names);
        open[t->x.depth - 1] = (uint32_t)t->count;
    } else if (e->kind == GANZ_XML_END) {
        e->partner = open[t->x.depth - 1];
        e->name = t->events[e->partner].name;
        t->events[e->partner].partner = (uint32_t)t->count;
    }
    t->count++;
    return GANZ_OK;
}

ganz_status ganz_xml_tree_open(ganz_xml_tree *t, const char *text, size_t bytes, const char *name,
                               const ganz_xml_dialect *dialect, ganz_error *err)
{
    uint32_t open[GANZ_XML_DEPTH];
    size_t capacity = 0;
    t->events = NULL;
    t->count = 0;
    if (bytes > MOST_BYTES) return ganz_fail(err, GANZ_ELIMIT, "the document has over 256 MiB");
    GANZ_TRY(ganz_xml_open(&t->x, text, bytes, name, &dialect->options, err));
    do {
        GANZ_TRY(ganz_xml_next(&t->x, err));
        GANZ_TRY(add_event(t, &capacity, dialect->names, open, err));
    } while (t->x.kind != GANZ_XML_STOP);
    return GANZ_OK;
}

void ganz_xml_tree_close(ganz_xml_tree *tree)
{
    ganz_free(tree->events);
    tree->events = NULL;
    tree->count = 0;
}

bool ganz_xml_tree_attribute(const ganz_xml_tree *tree, size_t event, const char *local, ganz_slice *value)
{
    const ganz_xml_event *const e = &tree->events[event];
    return ganz_xml_attribute(tree->x.text + e->begin, e->end - e->begin, local, value);
}

/* ---- escapes ------------------------------------------------------------------------------------ */

/* How a character is written: NULL: as it is; "": not at all. */
static const char *escaped(unsigned char c, bool value)
{
    if (c == '&') return "&amp;";
    if (c == '<') return "&lt;";
    if (c == '>') return "&gt;";
    if (c == '"' && value) return "&quot;";
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') return "";
    return NULL;
}

/* U+FFFE and U+FFFF, which are no characters of XML. */
static bool is_no_character(const char *text, size_t bytes)
{
    return bytes >= 3 && (unsigned char)text[0] == 0xEF && (unsigned char)text[1] == 0xBF &&
           (unsigned char)text[2] >= 0xBE;
}

static bool escape(ganz_text *out, const char *text, size_t bytes, bool value)
{
    size_t begin = 0;
    for (size_t i = 0; i < bytes; i++) {
        const bool none = is_no_character(text + i, bytes - i);
        const char *const other = none ? "" : escaped((unsigned char)text[i], value);
        if (!other) continue;
        if (!ganz_text_append(out, text + begin, i - begin) || !ganz_text_append(out, other, strlen(other)))
            return false;
        if (none) i += 2;
        begin = i + 1;
    }
    return ganz_text_append(out, text + begin, bytes - begin);
}

bool ganz_xml_escape(ganz_text *out, const char *text, size_t bytes) { return escape(out, text, bytes, false); }
bool ganz_xml_escape_value(ganz_text *out, const char *text, size_t bytes) { return escape(out, text, bytes, true); }

/* ---- text --------------------------------------------------------------------------------------- */

void ganz_xml_copy(ganz_skeleton *skeleton, const ganz_xml_tree *tree, size_t begin, size_t end)
{
    if (end > begin) ganz_skeleton_copy(skeleton, tree->x.text + begin, end - begin);
}

const char *ganz_xml_character(ganz_skeleton *skeleton, int32_t code, size_t *bytes)
{
    static const char printable[] =
        " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    *bytes = 1;
    if (code >= ' ' && code <= '~') return printable + (code - ' ');
    char *const kept = ganz_skeleton_keep(skeleton, 4);
    *bytes = kept ? (size_t)ganz_utf8_encode(code, kept) : 0;
    return kept;
}

void ganz_xml_put_text(ganz_skeleton *skeleton, const ganz_xml_tree *tree, size_t begin, size_t end)
{
    const char *const text = tree->x.text;
    while (begin < end) {
        int32_t code;
        size_t bytes;
        const size_t taken = ganz_xml_step(&tree->x, text + begin, end - begin, &code);
        if (code < 0) {
            ganz_skeleton_text(skeleton, text + begin, taken, text + begin, taken);
        } else {
            const char *const character = ganz_xml_character(skeleton, code, &bytes);
            ganz_skeleton_text(skeleton, character, bytes, text + begin, taken);
        }
        begin += taken;
    }
}

enum { CDATA_BEGIN = 9, CDATA_END = 3 };

/* As text between tags has it, because a part of it may be written, or written anew, without the section's ends. */
static void put_cdata(ganz_skeleton *skeleton, const char *text, size_t bytes)
{
    size_t begin = 0;
    for (size_t i = 0; i < bytes; i++) {
        const char *const other = memchr("&<>", text[i], 3) ? escaped((unsigned char)text[i], false) : NULL;
        if (!other) continue;
        if (i > begin) ganz_skeleton_text(skeleton, text + begin, i - begin, text + begin, i - begin);
        ganz_skeleton_text(skeleton, text + i, 1, other, strlen(other));
        begin = i + 1;
    }
    if (bytes > begin) ganz_skeleton_text(skeleton, text + begin, bytes - begin, text + begin, bytes - begin);
}

void ganz_xml_put_event(ganz_skeleton *skeleton, const ganz_xml_tree *tree, size_t event)
{
    const ganz_xml_event *const e = &tree->events[event];
    if (e->kind == GANZ_XML_TEXT) ganz_xml_put_text(skeleton, tree, e->begin, e->end);
    else put_cdata(skeleton, tree->x.text + e->begin + CDATA_BEGIN, e->end - e->begin - CDATA_BEGIN - CDATA_END);
}

const char *ganz_xml_shown(ganz_skeleton *skeleton, const ganz_xml_tree *tree, size_t first, size_t last, size_t *bytes)
{
    size_t room = 0;
    *bytes = 0;
    for (size_t i = first; i < last; i++)
        if (tree->events[i].kind == GANZ_XML_TEXT) room += tree->events[i].end - tree->events[i].begin;
    char *const text = room > 0 ? ganz_skeleton_keep(skeleton, room) : NULL;
    for (size_t i = first; i < last && text; i++) {
        const ganz_xml_event *const e = &tree->events[i];
        if (e->kind == GANZ_XML_TEXT)
            *bytes += ganz_xml_decode(&tree->x, tree->x.text + e->begin, e->end - e->begin, text + *bytes);
    }
    return text;
}

const char *ganz_xml_shown_part(ganz_skeleton *skeleton, const ganz_xml_tree *tree, size_t first, size_t last,
                                size_t begin, size_t end, size_t *bytes)
{
    char *const text = ganz_skeleton_keep(skeleton, end - begin);
    *bytes = 0;
    for (size_t i = first; i < last && text; i++) {
        const ganz_xml_event *const e = &tree->events[i];
        const size_t from = e->begin > begin ? e->begin : begin, to = e->end < end ? e->end : end;
        if (e->kind == GANZ_XML_TEXT && from < to && ganz_xml_has_text(tree, i, i + 1))
            *bytes += ganz_xml_decode(&tree->x, tree->x.text + from, to - from, text + *bytes);
    }
    return text;
}

bool ganz_xml_has_text(const ganz_xml_tree *tree, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        const ganz_xml_event *const e = &tree->events[i];
        if (e->kind == GANZ_XML_CDATA && e->end - e->begin > CDATA_BEGIN + CDATA_END) return true;
        if (e->kind != GANZ_XML_TEXT) continue;
        for (size_t at = e->begin; at < e->end; at++)
            if (!memchr(" \t\r\n", tree->x.text[at], 4)) return true;
    }
    return false;
}
