/* XLIFF 1.2 and 2: the text of each <source> goes, translated, into a <target> that is missing or empty. */
#include <string.h>

#include "document/format.h"
#include "document/language.h"
#include "document/xml_inline.h"

enum { OLD = 1, NEW };

static const ganz_xml_space spaces[] = {
    {"urn:oasis:names:tc:xliff:document:1.2", OLD},
    {"urn:oasis:names:tc:xliff:document:1.1", OLD},
    {"urn:oasis:names:tc:xliff:document:2.0", NEW},
    {"urn:oasis:names:tc:xliff:document:2.2", NEW},
    {NULL, 0},
};

enum {
    ROOT = 1, /* of version 2: names the languages */
    FILE_,    /* of version 1 does */
    UNIT,     /* has a source and a target: <trans-unit>, <segment> */
    GROUP,    /* may say that nothing in it is translated */
    SOURCE,
    SEGMENTS, /* the source once more, in segments */
    TARGET,
    PAIR,
    MARKED,
    FROM,
    TO,
    PLACE /* stands for something, a value or a code */
};

static const ganz_xml_name names[] = {
    {OLD, "file", FILE_},
    {OLD, "trans-unit", UNIT},
    {OLD, "source", SOURCE},
    {OLD, "seg-source", SEGMENTS},
    {OLD, "target", TARGET},
    {OLD, "group", GROUP},
    {OLD, "g", PAIR},
    {OLD, "mrk", MARKED},
    {OLD, "bx", FROM},
    {OLD, "ex", TO},
    {OLD, "bpt", FROM},
    {OLD, "ept", TO},
    {OLD, "x", PLACE},
    {OLD, "ph", PLACE},
    {NEW, "xliff", ROOT},
    {NEW, "file", GROUP},
    {NEW, "group", GROUP},
    {NEW, "unit", GROUP},
    {NEW, "segment", UNIT},
    {NEW, "source", SOURCE},
    {NEW, "target", TARGET},
    {NEW, "pc", PAIR},
    {NEW, "mrk", MARKED},
    {NEW, "sc", FROM},
    {NEW, "ec", TO},
    {NEW, "sm", FROM},
    {NEW, "em", TO},
    {NEW, "ph", PLACE},
    {0, NULL, 0},
};

static const ganz_xml_dialect dialect = {.names = names, .options = {.spaces = spaces}};

typedef struct reader {
    ganz_skeleton *skeleton;
    const ganz_xml_tree *tree;
    const ganz_xml_event *e;
    const ganz_format_options *options;
    size_t done; /* bytes copied */
    bool version2;
    size_t preserved; /* up to this event white space counts, newlines too */
} reader;

/* ---- inline elements ---------------------------------------------------------------------------- */

static bool attribute_is(const ganz_xml_tree *t, size_t event, const char *name, const char *value)
{
    ganz_slice found;
    return ganz_xml_tree_attribute(t, event, name, &found) && ganz_slice_is(found, value);
}

static bool is_protected(const ganz_xml_tree *t, size_t event)
{
    return attribute_is(t, event, "mtype", "protected") || attribute_is(t, event, "translate", "no");
}

static bool has_prefix(ganz_slice s, const char *prefix)
{
    const size_t bytes = strlen(prefix);
    return s.bytes >= bytes && memcmp(s.at, prefix, bytes) == 0;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* The code of a tag, <br> or </b>, as XML writes it. */
static bool is_tag_code(ganz_slice code)
{
    const size_t at = has_prefix(code, "&lt;") ? 4 : has_prefix(code, "<") ? 1 : 0;
    return at > 0 && at < code.bytes && (is_letter(code.at[at]) || code.at[at] == '/');
}

/* Nothing but line ends and tabs. */
static bool is_space_code(ganz_slice code)
{
    static const char *const spaces_of_code[] = {" ",   "\t",   "\r",    "\n",    "\\n",   "\\r",
                                                 "\\t", "&#9;", "&#10;", "&#13;", "&#xA;", "&#xD;"};
    size_t at = 0, before = SIZE_MAX;
    while (at < code.bytes && at != before) {
        before = at;
        for (size_t i = 0; i < GANZ_COUNT(spaces_of_code); i++)
            if (has_prefix((ganz_slice){code.at + at, code.bytes - at}, spaces_of_code[i]))
                at += strlen(spaces_of_code[i]);
    }
    return code.bytes > 0 && at == code.bytes;
}

static bool is_format_code(ganz_slice code) { return is_tag_code(code) || is_space_code(code); }

/* What an element holds, if it begins with text. */
static ganz_slice content_of(const ganz_xml_tree *t, size_t event)
{
    const ganz_xml_event *const e = &t->events[event + 1];
    if (t->events[event].empty || event + 1 >= t->events[event].partner) return (ganz_slice){"", 0};
    const size_t head = e->kind == GANZ_XML_CDATA ? strlen("<![CDATA[") : 0, tail = head > 0 ? strlen("]]>") : 0;
    if (e->kind != GANZ_XML_TEXT && head == 0) return (ganz_slice){"", 0};
    return (ganz_slice){t->x.text + e->begin + head, e->end - e->begin - head - tail};
}

/* lb, x-strong: what version 1 calls a code, its own words and elements of HTML. */
static bool is_format_type(ganz_slice type)
{
    static const char own[] = " bold image italic lb link pb underlined ";
    static const char elements[] =
        " a abbr b big br center cite code del div em font h1 h2 h3 h4 h5 h6 hr i img input ins kbd li mark nobr ol p"
        " q s small span strike strong sub sup table tbody td th thead tr tt u ul wbr ";
    if (has_prefix(type, "x-")) return ganz_listed(elements, type.at + 2, type.bytes - 2);
    return ganz_listed(own, type.at, type.bytes);
}

/* Names that Angular gives to elements; those of values are others. */
static bool is_format_name(ganz_slice name)
{
    static const char *const prefixes[] = {"LINE_BREAK", "HORIZONTAL_RULE", "TAG_",        "START_TAG_",
                                           "CLOSE_TAG_", "START_BLOCK_",    "CLOSE_BLOCK_"};
    for (size_t i = 0; i < GANZ_COUNT(prefixes); i++)
        if (has_prefix(name, prefixes[i])) return true;
    return false;
}

static ganz_slice name_of(const ganz_xml_tree *t, size_t event)
{
    ganz_slice name;
    if (ganz_xml_tree_attribute(t, event, "equiv", &name) || ganz_xml_tree_attribute(t, event, "id", &name))
        return name;
    return (ganz_slice){"", 0};
}

/* True if an <x> or <ph> plainly is a code that the reader does not see as a word. */
static bool is_formatting(const ganz_xml_tree *t, size_t event)
{
    ganz_slice value;
    if (attribute_is(t, event, "type", "fmt") || attribute_is(t, event, "type", "image") ||
        attribute_is(t, event, "type", "link"))
        return true;
    if (ganz_xml_tree_attribute(t, event, "ctype", &value) && is_format_type(value)) return true;
    if (ganz_xml_tree_attribute(t, event, "equiv-text", &value) && is_format_code(value)) return true;
    if (ganz_xml_tree_attribute(t, event, "disp", &value) && is_format_code(value)) return true;
    return is_format_name(name_of(t, event)) || is_format_code(content_of(t, event));
}

/* Angular has no pairs in version 1: START_LINK and CLOSE_LINK are points that belong together. */
static ganz_inline_kind kind_of_place(const ganz_xml_tree *t, size_t event)
{
    if (!is_formatting(t, event)) return GANZ_INLINE_PLACE;
    const ganz_slice name = name_of(t, event);
    return has_prefix(name, "START_")   ? GANZ_INLINE_FROM
           : has_prefix(name, "CLOSE_") ? GANZ_INLINE_TO
                                        : GANZ_INLINE_MARK;
}

static ganz_inline_kind kind_of(const ganz_inline *in, size_t event)
{
    switch (in->tree->events[event].name) {
    case PAIR: return GANZ_INLINE_PAIR;
    case MARKED: return is_protected(in->tree, event) ? GANZ_INLINE_OPAQUE : GANZ_INLINE_PAIR;
    case FROM: return GANZ_INLINE_FROM;
    case TO: return GANZ_INLINE_TO;
    case PLACE: return kind_of_place(in->tree, event);
    default: return GANZ_INLINE_MARK; /* it, cp: with what they hold, which is code */
    }
}

/* START_LINK_1 ends with CLOSE_LINK. */
static ganz_slice key_of_place(ganz_slice name)
{
    size_t end = name.bytes;
    while (end > 0 && name.at[end - 1] >= '0' && name.at[end - 1] <= '9') end--;
    if (end > 0 && end < name.bytes && name.at[end - 1] == '_') name.bytes = end - 1;
    const size_t head = strlen("START_"); /* and of CLOSE_ */
    return name.bytes > head ? (ganz_slice){name.at + head, name.bytes - head} : name;
}

/* Version 1 joins both ends by rid or id, version 2 by the begin's id and the end's startRef. */
static ganz_slice key_of(const ganz_inline *in, size_t event)
{
    ganz_slice key;
    if (in->tree->events[event].name == PLACE) return key_of_place(name_of(in->tree, event));
    if (ganz_xml_tree_attribute(in->tree, event, "startRef", &key) ||
        ganz_xml_tree_attribute(in->tree, event, "rid", &key) || ganz_xml_tree_attribute(in->tree, event, "id", &key))
        return key;
    return (ganz_slice){"", 0};
}

static const ganz_inline_rules rules = {.kind = kind_of, .key = key_of};
static const ganz_block_style style = {.breaks = GANZ_BREAK_SENTENCES, .escape = ganz_xml_escape, .escaped_tags = true};
static const ganz_block_style style_of_lines = {
    .breaks = GANZ_BREAK_LINES, .escape = ganz_xml_escape, .escaped_tags = true};

/* ---- targets ------------------------------------------------------------------------------------ */

static void copy_until(reader *r, size_t at)
{
    ganz_xml_copy(r->skeleton, r->tree, r->done, at);
    r->done = at;
}

static void put(const reader *r, const char *text) { ganz_skeleton_copy(r->skeleton, text, strlen(text)); }

/* A start tag as it was, up to its end, but for one attribute. */
static void put_tag_without(reader *r, size_t event, const char *attribute)
{
    const char *const tag = r->tree->x.text + r->e[event].begin;
    const size_t bytes = r->e[event].end - r->e[event].begin;
    ganz_slice value;
    size_t stop = bytes - (r->e[event].empty ? 2 : 1);
    while (stop > 0 && memchr(" \t\r\n", tag[stop - 1], 4)) stop--;
    copy_until(r, r->e[event].begin);
    if (ganz_xml_attribute(tag, bytes, attribute, &value)) {
        size_t from = (size_t)(value.at - tag);
        while (tag[from - 1] != '=') from--;
        while (memchr(" \t\r\n=", tag[from - 1], 5)) from--;
        while (!memchr(" \t\r\n", tag[from - 1], 4)) from--;
        copy_until(r, r->e[event].begin + from - 1);
        r->done += (size_t)(value.at - tag) + value.bytes + 1 - (from - 1);
    }
    copy_until(r, r->e[event].begin + stop);
    r->done = r->e[event].end;
}

/* The end tag of a start, made of its name. */
static void put_end_tag(const reader *r, size_t event)
{
    const char *const name = r->tree->x.text + r->e[event].begin + 1;
    size_t n = 0;
    while (!memchr(" \t\r\n/>", name[n], 6)) n++;
    put(r, "</");
    ganz_skeleton_copy(r->skeleton, name, n);
    put(r, ">");
}

static bool is_preserved(const reader *r, size_t event) { return attribute_is(r->tree, event, "space", "preserve"); }

static void put_content(const reader *r, size_t source)
{
    const ganz_inline in = {.skeleton = r->skeleton,
                            .tree = r->tree,
                            .rules = &rules,
                            .style = source < r->preserved || is_preserved(r, source) ? &style_of_lines : &style};
    ganz_inline_block(&in, source + 1, r->e[source].partner);
}

static const char *state_of(const reader *r) { return r->version2 ? "" : " state=\"needs-review-translation\""; }

/* An empty target gets its content; version 2 has the state in the segment. */
static void fill_target(reader *r, size_t target, size_t source)
{
    if (r->version2) {
        copy_until(r, r->e[target].end - (r->e[target].empty ? 2 : 1));
        r->done = r->e[target].end;
    } else {
        put_tag_without(r, target, "state");
    }
    put(r, state_of(r));
    put(r, ">");
    put_content(r, source);
    put_end_tag(r, target);
    r->done = r->e[r->e[target].partner].end;
}

/* A new target behind the source, on a line of its own if the source has one. */
static void add_target(reader *r, size_t source, size_t behind)
{
    const ganz_xml_event *const space = &r->e[source - 1];
    copy_until(r, r->e[r->e[behind].partner].end);
    if (space->kind == GANZ_XML_TEXT)
        ganz_skeleton_copy(r->skeleton, r->tree->x.text + space->begin, space->end - space->begin);
    const char *const name = r->tree->x.text + r->e[source].begin;
    const char *const colon = memchr(name, ':', r->e[source].end - r->e[source].begin);
    const size_t prefix = colon && (size_t)(colon - name) < strcspn(name, " \t\r\n/>") ? (size_t)(colon - name) : 0;
    put(r, "<");
    if (prefix > 0) ganz_skeleton_copy(r->skeleton, name + 1, prefix);
    put(r, "target");
    put(r, state_of(r));
    put(r, ">");
    put_content(r, source);
    put(r, "</");
    if (prefix > 0) ganz_skeleton_copy(r->skeleton, name + 1, prefix);
    put(r, "target>");
}

/* ---- units -------------------------------------------------------------------------------------- */

/* True if there is nothing inside but white space. */
static bool is_empty(const reader *r, size_t event)
{
    for (size_t i = event + 1; i < r->e[event].partner; i++)
        if (r->e[i].kind != GANZ_XML_TEXT || ganz_xml_has_text(r->tree, i, i + 1)) return false;
    return true;
}

static void read_unit(reader *r, size_t unit)
{
    size_t source = 0, segments = 0, target = 0;
    for (size_t i = unit + 1; i < r->e[unit].partner; i = ganz_xml_after(r->tree, i)) {
        if (ganz_xml_starts(r->tree, i, SOURCE)) source = i;
        if (ganz_xml_starts(r->tree, i, SEGMENTS)) segments = i;
        if (ganz_xml_starts(r->tree, i, TARGET)) target = i;
    }
    const size_t from = segments ? segments : source;
    if (from == 0 || !ganz_xml_has_text(r->tree, from, r->e[from].partner) || (target && !is_empty(r, target))) return;
    if (attribute_is(r->tree, unit, "approved", "yes") || attribute_is(r->tree, unit, "state", "final")) return;
    if (attribute_is(r->tree, unit, "restype", "x-gettext-domain-header")) return;
    if (r->version2) {
        put_tag_without(r, unit, "state");
        put(r, " state=\"translated\">");
    }
    if (target) fill_target(r, target, from);
    else add_target(r, from, from);
}

/* Adds the target language where none is named. */
static void name_language(reader *r, size_t event, const char *attribute)
{
    ganz_slice value;
    const char *const language = r->options->target_language;
    if (language[0] == '\0' || ganz_xml_tree_attribute(r->tree, event, attribute, &value)) return;
    copy_until(r, r->e[event].end - 1);
    put(r, " ");
    put(r, attribute);
    put(r, "=\"");
    put(r, language);
    put(r, "\"");
}

static void read_events(reader *r)
{
    for (size_t i = 0; i < r->tree->count;) {
        const int name = r->e[i].kind == GANZ_XML_START && !r->e[i].empty ? r->e[i].name : 0;
        const bool silent = name != 0 && attribute_is(r->tree, i, "translate", "no");
        if (name == ROOT) r->version2 = true;
        if (name == ROOT) name_language(r, i, "trgLang");
        if (name == FILE_) name_language(r, i, "target-language");
        if (name != 0 && is_preserved(r, i) && r->e[i].partner > r->preserved) r->preserved = r->e[i].partner;
        if (name == UNIT && !silent) read_unit(r, i);
        i = name == UNIT || silent ? ganz_xml_after(r->tree, i) : i + 1;
    }
    copy_until(r, r->tree->x.bytes);
}

/* ---- files -------------------------------------------------------------------------------------- */

static bool is_known(const ganz_xml_tree *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->events[i].kind == GANZ_XML_START && t->events[i].name != 0) return true;
    return false;
}

static ganz_status read_xliff(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                              ganz_error *err)
{
    ganz_xml_tree tree;
    ganz_status status = ganz_xml_tree_open(&tree, bytes, count, NULL, &dialect, err);
    if (status == GANZ_OK && !is_known(&tree))
        status = ganz_fail(err, GANZ_EFORMAT, "this is no XLIFF file of version 1.1, 1.2 or 2");
    if (status == GANZ_OK) {
        reader r = {.skeleton = s, .tree = &tree, .e = tree.events, .options = options};
        read_events(&r);
        status = ganz_skeleton_status(s, err);
    }
    ganz_xml_tree_close(&tree);
    return status;
}

static bool is_xliff(const char *bytes, size_t count)
{
    static const char key[] = "urn:oasis:names:tc:xliff:document:";
    const size_t n = sizeof key - 1, most = count < 2048 ? count : 2048;
    for (size_t i = 0; i + n <= most; i++)
        if (memcmp(bytes + i, key, n) == 0) return true;
    return false;
}

const ganz_format ganz_format_xliff = {
    .name = "xliff", .suffixes = "xlf xliff", .holds_both = true, .recognise = is_xliff, .read = read_xliff};
