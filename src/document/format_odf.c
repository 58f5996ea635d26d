/* OpenDocument text and presentations: paragraphs and headings of content.xml, headers and footers of styles.xml,
 * titles of charts. */
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "document/package.h"
#include "document/xml_inline.h"

enum { TEXT = 1, DRAW, PRESENTATION, OFFICE, STYLE, SVG, CHART };

static const ganz_xml_space spaces[] = {
    {"urn:oasis:names:tc:opendocument:xmlns:text:1.0", TEXT},
    {"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0", DRAW},
    {"urn:oasis:names:tc:opendocument:xmlns:presentation:1.0", PRESENTATION},
    {"urn:oasis:names:tc:opendocument:xmlns:office:1.0", OFFICE},
    {"urn:oasis:names:tc:opendocument:xmlns:style:1.0", STYLE},
    {"urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0", SVG},
    {"urn:oasis:names:tc:opendocument:xmlns:chart:1.0", CHART},
    {NULL, 0},
};

/* PARAGRAPH to ALTERNATIVE matter between paragraphs, the others inside them. */
enum {
    PARAGRAPH = 1, /* holds text */
    SKIPPED,       /* holds paragraphs that are not seen: what was deleted */
    PLACE,         /* of styles and charts: the only ones whose paragraphs are read */
    ALTERNATIVE,   /* what stands for a picture */
    SPAN,
    SPACE,
    TAB,
    LINE,
    NESTED,
    FROM,
    TO,
    CODE,
    FIELD,
    STYLE_OF_TEXT, /* of styles: what raised text is known by */
    TEXT_PROPERTIES
};

static const ganz_xml_name names[] = {
    {TEXT, "p", PARAGRAPH},
    {TEXT, "h", PARAGRAPH},
    {TEXT, "span", SPAN},
    {TEXT, "s", SPACE},
    {TEXT, "tab", TAB},
    {TEXT, "line-break", LINE},
    {TEXT, "a", SPAN},
    {TEXT, "meta", SPAN},
    {TEXT, "note", NESTED},
    {TEXT, "tracked-changes", SKIPPED},
    {TEXT, "script", CODE},
    {TEXT, "bookmark-start", FROM},
    {TEXT, "bookmark-end", TO},
    {TEXT, "reference-mark-start", FROM},
    {TEXT, "reference-mark-end", TO},
    {TEXT, "change-start", FROM},
    {TEXT, "change-end", TO},
    {TEXT, "alphabetical-index-mark-start", FROM},
    {TEXT, "alphabetical-index-mark-end", TO},
    {TEXT, "toc-mark-start", FROM},
    {TEXT, "toc-mark-end", TO},
    {TEXT, "user-index-mark-start", FROM},
    {TEXT, "user-index-mark-end", TO},
    {TEXT, "*", FIELD},
    {OFFICE, "annotation", NESTED},
    {OFFICE, "annotation-end", CODE},
    {DRAW, "*", NESTED},
    {PRESENTATION, "*", FIELD},
    {STYLE, "header", PLACE},
    {STYLE, "header-left", PLACE},
    {STYLE, "header-first", PLACE},
    {STYLE, "footer", PLACE},
    {STYLE, "footer-left", PLACE},
    {STYLE, "footer-first", PLACE},
    {STYLE, "style", STYLE_OF_TEXT},
    {STYLE, "text-properties", TEXT_PROPERTIES},
    {SVG, "title", ALTERNATIVE},
    {SVG, "desc", ALTERNATIVE},
    {CHART, "title", PLACE},
    {CHART, "subtitle", PLACE},
    {CHART, "footer", PLACE},
    {0, NULL, 0},
};

static const ganz_xml_dialect dialect = {.names = names, .options = {.spaces = spaces}};

/* What a member's paragraphs are read with. */
typedef struct wishes {
    bool alternatives; /* are read */
    uint64_t *raised;  /* (raised_count) checksums of the names of styles that raise or lower text, sorted */
    size_t raised_count, raised_capacity;
} wishes;

/* ---- styles ------------------------------------------------------------------------------------- */

/* "super 58%", "sub 58%", "33% 58%" and "-33% 58%"; not "0% 100%". */
static bool is_raised_position(ganz_slice value)
{
    if (value.bytes >= 3 && memcmp(value.at, "su", 2) == 0) return true;
    for (size_t i = 0; i < value.bytes && value.at[i] != '%'; i++)
        if (value.at[i] >= '1' && value.at[i] <= '9') return true;
    return false;
}

static int compare_names(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The member's own styles for text that is not on its line; a style of another member is not known here. */
static bool find_raised_styles(const ganz_xml_tree *t, wishes *w)
{
    ganz_slice name = {"", 0}, value;
    for (size_t i = 0; i < t->count; i++) {
        if (ganz_xml_starts(t, i, STYLE_OF_TEXT)) {
            const bool text = ganz_xml_tree_attribute(t, i, "family", &value) && ganz_slice_is(value, "text");
            if (!text || !ganz_xml_tree_attribute(t, i, "name", &name)) name.bytes = 0;
        }
        if (t->events[i].name == STYLE_OF_TEXT && (t->events[i].kind == GANZ_XML_END || t->events[i].empty))
            name.bytes = 0;
        if (name.bytes == 0 || !ganz_xml_starts(t, i, TEXT_PROPERTIES)) continue;
        if (!ganz_xml_tree_attribute(t, i, "text-position", &value) || !is_raised_position(value)) continue;
        if (!ganz_grow((void **)&w->raised, &w->raised_capacity, w->raised_count + 1, sizeof *w->raised)) return false;
        w->raised[w->raised_count++] = ganz_checksum(name.at, name.bytes);
    }
    if (w->raised_count > 0) qsort(w->raised, w->raised_count, sizeof *w->raised, compare_names);
    return true;
}

static bool is_raised(const ganz_inline *in, size_t event)
{
    const wishes *const w = in->data;
    ganz_slice name;
    if (w->raised_count == 0 || !ganz_xml_tree_attribute(in->tree, event, "style-name", &name)) return false;
    const uint64_t key = ganz_checksum(name.at, name.bytes);
    return bsearch(&key, w->raised, w->raised_count, sizeof key, compare_names) != NULL;
}

/* ---- inside a paragraph ------------------------------------------------------------------------- */

static ganz_inline_kind kind_of(const ganz_inline *in, size_t event)
{
    const ganz_xml_event *const e = &in->tree->events[event];
    switch (e->name) {
    case SPAN: return GANZ_INLINE_PAIR;
    case SPACE: return GANZ_INLINE_SPACE;
    case TAB: return GANZ_INLINE_STOP;
    case LINE: return GANZ_INLINE_LINE;
    case NESTED: return GANZ_INLINE_NESTED;
    case FROM: return GANZ_INLINE_FROM;
    case TO: return GANZ_INLINE_TO;
    case FIELD: return ganz_xml_has_text(in->tree, event, e->partner) ? GANZ_INLINE_OPAQUE : GANZ_INLINE_MARK;
    default: return GANZ_INLINE_MARK;
    }
}

static ganz_slice key_of(const ganz_inline *in, size_t event)
{
    ganz_slice key;
    if (ganz_xml_tree_attribute(in->tree, event, "name", &key) ||
        ganz_xml_tree_attribute(in->tree, event, "change-id", &key) ||
        ganz_xml_tree_attribute(in->tree, event, "id", &key))
        return key;
    return (ganz_slice){"", 0};
}

/* ---- between paragraphs ------------------------------------------------------------------------- */

static const ganz_block_style style = {
    .breaks = GANZ_BREAK_SENTENCES, .escape = ganz_xml_escape, .between = "<text:line-break/>"};
static const ganz_block_style bare_style = {/* no tag may stand in an alternative */
                                            .breaks = GANZ_BREAK_SENTENCES,
                                            .escape = ganz_xml_escape,
                                            .between = " / "};

static void put_paragraph(const ganz_inline *in, size_t event)
{
    const ganz_xml_event *const e = in->tree->events;
    ganz_inline inside = *in;
    inside.style = ganz_xml_starts(in->tree, event, ALTERNATIVE) ? &bare_style : &style;
    ganz_xml_copy(in->skeleton, in->tree, e[event].begin, e[event].end);
    if (e[event].empty) return;
    const size_t end = e[event].partner;
    ganz_inline_block(&inside, event + 1, end);
    ganz_xml_copy(in->skeleton, in->tree, e[end].begin, e[end].end);
}

static bool is_read(const ganz_inline *in, size_t event)
{
    const wishes *const w = in->data;
    return ganz_xml_starts(in->tree, event, PARAGRAPH) ||
           (w->alternatives && ganz_xml_starts(in->tree, event, ALTERNATIVE));
}

static void read_body(const ganz_inline *in, size_t first, size_t last)
{
    const ganz_xml_event *const e = in->tree->events;
    for (size_t i = first; i < last;) {
        const bool skipped = ganz_xml_starts(in->tree, i, SKIPPED);
        const size_t next = skipped || is_read(in, i) ? ganz_xml_after(in->tree, i) : i + 1;
        if (is_read(in, i)) put_paragraph(in, i);
        else ganz_xml_copy(in->skeleton, in->tree, e[i].begin, e[next - 1].end);
        i = next;
    }
}

static void read_places(const ganz_inline *in, size_t first, size_t last)
{
    const ganz_xml_event *const e = in->tree->events;
    for (size_t i = first; i < last;) {
        const size_t next = ganz_xml_starts(in->tree, i, PLACE) ? ganz_xml_after(in->tree, i) : i + 1;
        if (next > i + 1) read_body(in, i, next);
        else ganz_xml_copy(in->skeleton, in->tree, e[i].begin, e[i].end);
        i = next;
    }
}

/* ---- the archive -------------------------------------------------------------------------------- */

typedef void body_reader(const ganz_inline *in, size_t first, size_t last);

static const ganz_inline_rules rules = {.kind = kind_of, .nested = read_body, .key = key_of, .raised = is_raised};

static ganz_status read_member(ganz_package *p, int member, body_reader *read, bool alternatives, ganz_error *err)
{
    wishes w = {.alternatives = alternatives};
    const char *text;
    size_t bytes;
    ganz_xml_tree tree;
    if (member < 0) return GANZ_OK;
    GANZ_TRY(ganz_package_load(p, member, &text, &bytes, err));
    ganz_status status = ganz_xml_tree_open(&tree, text, bytes, ganz_zip_name(p->zip, member), &dialect, err);
    if (status == GANZ_OK && !find_raised_styles(&tree, &w))
        status = ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    if (status == GANZ_OK) {
        const ganz_inline in = {.skeleton = p->skeleton,
                                .tree = &tree,
                                .rules = &rules,
                                .style = &style,
                                .once = ganz_skeleton_bilingual(p->skeleton),
                                .data = &w};
        ganz_package_begin(p, member, text, bytes, NULL, NULL);
        read(&in, 0, tree.count);
    }
    ganz_free(w.raised);
    ganz_xml_tree_close(&tree);
    return status;
}

/* "Object 1/content.xml": a chart or another document in the document. */
static bool is_object(const char *name)
{
    const char *const slash = strchr(name, '/');
    return strncmp(name, "Object ", 7) == 0 && slash && strcmp(slash, "/content.xml") == 0;
}

static ganz_status read_members(ganz_package *p, const ganz_format_options *options, ganz_error *err)
{
    const bool alternatives = options->attributes;
    const int content = ganz_zip_find(p->zip, "content.xml");
    if (content < 0) return ganz_fail(err, GANZ_EFORMAT, "this is no OpenDocument file: content.xml is missing");
    GANZ_TRY(read_member(p, content, read_body, alternatives, err));
    GANZ_TRY(read_member(p, ganz_zip_find(p->zip, "styles.xml"), read_places, alternatives, err));
    for (int i = 0; i < ganz_zip_count(p->zip); i++)
        if (is_object(ganz_zip_name(p->zip, i))) GANZ_TRY(read_member(p, i, read_places, alternatives, err));
    return ganz_skeleton_status(p->skeleton, err);
}

static ganz_status read_odf(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                            ganz_error *err)
{
    ganz_package p;
    ganz_status status = ganz_package_open(&p, s, bytes, count, err);
    if (status == GANZ_OK) status = read_members(&p, options, err);
    ganz_package_close(&p);
    return status;
}

#define MIMETYPE "application/vnd.oasis.opendocument."

static bool is_odt(const char *bytes, size_t count) { return ganz_package_is(bytes, count, MIMETYPE "text"); }
static bool is_odp(const char *bytes, size_t count) { return ganz_package_is(bytes, count, MIMETYPE "presentation"); }

const ganz_format ganz_format_odt = {
    .name = "odt", .suffixes = "odt ott", .recognise = is_odt, .read = read_odf, .finish = ganz_package_finish};
const ganz_format ganz_format_odp = {
    .name = "odp", .suffixes = "odp otp", .recognise = is_odp, .read = read_odf, .finish = ganz_package_finish};
