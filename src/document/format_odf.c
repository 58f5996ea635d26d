/* OpenDocument text and presentations: paragraphs and headings of content.xml, headers and footers of styles.xml,
 * titles of charts. */
#include <string.h>

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
    FIELD
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
    {SVG, "title", ALTERNATIVE},
    {SVG, "desc", ALTERNATIVE},
    {CHART, "title", PLACE},
    {CHART, "subtitle", PLACE},
    {CHART, "footer", PLACE},
    {0, NULL, 0},
};

static const ganz_xml_dialect dialect = {.names = names, .options = {.spaces = spaces}};

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

/* Whether alternatives are read. */
typedef struct wishes {
    bool alternatives;
} wishes;

static void put_paragraph(const ganz_inline *in, size_t event)
{
    const ganz_xml_event *const e = in->tree->events;
    ganz_xml_copy(in->skeleton, in->tree, e[event].begin, e[event].end);
    if (e[event].empty) return;
    const size_t end = e[event].partner;
    ganz_inline_block(in, event + 1, end);
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

static const ganz_inline_rules rules = {.kind = kind_of, .nested = read_body, .key = key_of};
static const ganz_block_style style = {
    .breaks = GANZ_BREAK_SENTENCES, .escape = ganz_xml_escape, .between = "<text:line-break/>"};

static ganz_status read_member(ganz_package *p, int member, body_reader *read, const wishes *w, ganz_error *err)
{
    const char *text;
    size_t bytes;
    ganz_xml_tree tree;
    if (member < 0) return GANZ_OK;
    GANZ_TRY(ganz_package_load(p, member, &text, &bytes, err));
    const ganz_status status = ganz_xml_tree_open(&tree, text, bytes, ganz_zip_name(p->zip, member), &dialect, err);
    if (status == GANZ_OK) {
        const ganz_inline in = {.skeleton = p->skeleton,
                                .tree = &tree,
                                .rules = &rules,
                                .style = &style,
                                .once = ganz_skeleton_bilingual(p->skeleton),
                                .data = w};
        ganz_package_begin(p, member, text, bytes, NULL, NULL);
        read(&in, 0, tree.count);
    }
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
    const wishes w = {.alternatives = options->attributes};
    const int content = ganz_zip_find(p->zip, "content.xml");
    if (content < 0) return ganz_fail(err, GANZ_EFORMAT, "this is no OpenDocument file: content.xml is missing");
    GANZ_TRY(read_member(p, content, read_body, &w, err));
    GANZ_TRY(read_member(p, ganz_zip_find(p->zip, "styles.xml"), read_places, &w, err));
    for (int i = 0; i < ganz_zip_count(p->zip); i++)
        if (is_object(ganz_zip_name(p->zip, i))) GANZ_TRY(read_member(p, i, read_places, &w, err));
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
