/* XHTML pages: what stands in one line of text between two tags of boxes is a block. Elements are HTML's, but each ends
 * where XML says, which a reader of HTML would get wrong for <script/> or <a id="x"/>. */
#include "document/xhtml.h"

#include <string.h>

#include "document/html_attributes.h"
#include "document/html_element.h"
#include "document/html_read.h"
#include "document/xml_inline.h"

typedef struct page {
    ganz_inline in;
    ganz_inline bare; /* for text that no tag may stand in */
    bool attributes;
    const char *source, *target; /* languages */
    bool *holds;                 /* (events) of a start: there are boxes in it */
} page;

/* ---- elements ----------------------------------------------------------------------------------- */

static ganz_slice name_of(const ganz_xml_tree *t, size_t event)
{
    const char *name = t->x.text + t->events[event].begin + 1;
    size_t n = 0;
    while (!memchr(" \t\r\n/>", name[n], 6)) n++;
    const char *const colon = memchr(name, ':', n);
    return colon ? (ganz_slice){colon + 1, n - (size_t)(colon + 1 - name)} : (ganz_slice){name, n};
}

static unsigned flags_of(const ganz_xml_tree *t, size_t event)
{
    const ganz_slice name = name_of(t, event);
    return ganz_html_find(name.at, name.bytes)->flags;
}

static bool has_class(ganz_slice classes, const char *word)
{
    const size_t n = strlen(word);
    for (size_t at = 0; at + n <= classes.bytes; at++)
        if ((at == 0 || classes.at[at - 1] == ' ') && memcmp(classes.at + at, word, n) == 0 &&
            (at + n == classes.bytes || classes.at[at + n] == ' '))
            return true;
    return false;
}

static bool is_kept(const ganz_inline *in, size_t event)
{
    const page *const p = in->data;
    const ganz_xml_tree *const t = in->tree;
    const ganz_slice name = name_of(t, event);
    ganz_slice value;
    if (ganz_xml_tree_attribute(t, event, "lang", &value) && !ganz_slice_is(name, "html") &&
        !ganz_slice_is(name, "body") && ganz_html_third_language(value.at, value.bytes, p->source, p->target))
        return true;
    if (ganz_xml_tree_attribute(t, event, "translate", &value) && ganz_slice_is(value, "no")) return true;
    return ganz_xml_tree_attribute(t, event, "class", &value) && has_class(value, "notranslate");
}

static ganz_inline_kind kind_of(const ganz_inline *in, size_t event)
{
    const unsigned flags = flags_of(in->tree, event);
    if (flags & (GANZ_HTML_RAW | GANZ_HTML_VOID)) return GANZ_INLINE_MARK;
    if ((flags & (GANZ_HTML_OPAQUE | GANZ_HTML_FOREIGN)) || is_kept(in, event)) return GANZ_INLINE_OPAQUE;
    return GANZ_INLINE_PAIR;
}

/* ---- attributes --------------------------------------------------------------------------------- */

static bool token_of(const ganz_inline *in, size_t event, ganz_html_token *token)
{
    const ganz_xml_event *const e = &in->tree->events[event];
    ganz_html_scan scan = ganz_html_scan_over(in->tree->x.text + e->begin, e->end - e->begin);
    return ganz_html_next(&scan, token) && token->bytes == e->end - e->begin;
}

static bool tag_has_text(const ganz_inline *in, size_t event)
{
    const page *const p = in->data;
    ganz_html_token token;
    return p->attributes && token_of(in, event, &token) && ganz_html_has_text(&token);
}

static void put_tag(const ganz_inline *in, size_t event)
{
    ganz_html_token token;
    if (token_of(in, event, &token)) ganz_html_add_tag(in->skeleton, &token, GANZ_HTML_UTF8);
}

static bool is_raised(const ganz_inline *in, size_t event)
{
    const ganz_slice name = name_of(in->tree, event);
    return ganz_slice_is(name, "sup") || ganz_slice_is(name, "sub");
}

static const ganz_inline_rules rules = {
    .kind = kind_of, .tag_has_text = tag_has_text, .put_tag = put_tag, .raised = is_raised};
static const ganz_block_style style = {.breaks = GANZ_BREAK_SENTENCES, .escape = ganz_xml_escape, .between = "<br/>"};
static const ganz_block_style bare_style = {
    .breaks = GANZ_BREAK_SENTENCES, .escape = ganz_xml_escape, .between = " / "};

/* ---- boxes -------------------------------------------------------------------------------------- */

static bool is_box(const ganz_xml_tree *t, size_t event) { return !(flags_of(t, event) & GANZ_HTML_INLINE); }

static void find_boxes(const ganz_xml_tree *t, bool *holds)
{
    uint32_t open[GANZ_XML_DEPTH];
    int depth = 0;
    for (size_t i = 0; i < t->count; i++) {
        const ganz_xml_event *const e = &t->events[i];
        if (e->kind == GANZ_XML_START) {
            for (int k = depth; is_box(t, i) && k-- > 0 && !holds[open[k]];) holds[open[k]] = true;
            open[depth++] = (uint32_t)i;
        }
        if (e->kind == GANZ_XML_END || e->empty) depth--;
    }
}

/* The event behind an event, or element, that stands in a line of text; 0: none that does. */
static size_t inline_end(const page *p, size_t i)
{
    const ganz_xml_tree *const t = p->in.tree;
    switch (t->events[i].kind) {
    case GANZ_XML_TEXT:
    case GANZ_XML_CDATA:
    case GANZ_XML_OTHER: return i + 1;
    case GANZ_XML_START: return is_box(t, i) || p->holds[i] ? 0 : ganz_xml_after(t, i);
    default: return 0;
    }
}

static void copy_tag(const page *p, size_t i)
{
    const ganz_xml_event *const e = &p->in.tree->events[i];
    if (e->kind == GANZ_XML_START && tag_has_text(&p->in, i)) put_tag(&p->in, i);
    else ganz_xml_copy(p->in.skeleton, p->in.tree, e->begin, e->end);
}

/* A box that is copied with all that is in it. */
static bool is_silent(const page *p, size_t i)
{
    const ganz_xml_tree *const t = p->in.tree;
    return t->events[i].kind == GANZ_XML_START &&
           ((flags_of(t, i) & (GANZ_HTML_RAW | GANZ_HTML_OPAQUE | GANZ_HTML_FOREIGN)) || is_kept(&p->in, i));
}

/* <title> and <option>, which hold text and nothing else. */
static bool is_bare(const ganz_xml_tree *t, size_t i)
{
    if (t->events[i].kind != GANZ_XML_START) return false;
    const ganz_slice name = name_of(t, i);
    return ganz_slice_is(name, "title") || ganz_slice_is(name, "option");
}

static void read_flow(const page *p)
{
    const ganz_xml_tree *const t = p->in.tree;
    for (size_t i = 0; i < t->count;) {
        size_t end = i, next;
        while (end < t->count && (next = inline_end(p, end)) > 0) end = next;
        if (end > i) {
            ganz_inline_block(i > 0 && is_bare(t, i - 1) ? &p->bare : &p->in, i, end);
            i = end;
        } else if (is_silent(p, i)) {
            end = ganz_xml_after(t, i);
            ganz_xml_copy(p->in.skeleton, t, t->events[i].begin, t->events[end - 1].end);
            i = end;
        } else {
            copy_tag(p, i++);
        }
    }
}

/* ---- pages -------------------------------------------------------------------------------------- */

static int32_t entity(const char *name, size_t bytes)
{
    char text[48] = "&";
    int32_t code;
    if (bytes > sizeof text - 2) return 0;
    memcpy(text + 1, name, bytes);
    text[bytes + 1] = ';';
    return ganz_entity_decode(text, bytes + 2, GANZ_ENTITY_STRICT, &code) == bytes + 2 && code > 0 ? code : 0;
}

static ganz_status read_tree(ganz_skeleton *s, const ganz_xml_tree *tree, const ganz_format_options *options,
                             ganz_error *err)
{
    page p = {
        .attributes = options->attributes, .source = options->source_language, .target = options->target_language};
    p.in = (ganz_inline){.skeleton = s, .tree = tree, .rules = &rules, .style = &style, .data = &p};
    p.bare = p.in;
    p.bare.style = &bare_style;
    p.holds = ganz_alloc(tree->count, sizeof *p.holds);
    if (!p.holds) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    find_boxes(tree, p.holds);
    read_flow(&p);
    ganz_free(p.holds);
    return ganz_skeleton_status(s, err);
}

ganz_status ganz_xhtml_read(ganz_skeleton *skeleton, const char *bytes, size_t count,
                            const ganz_format_options *options, ganz_error *err)
{
    static const ganz_xml_name none[] = {{0, NULL, 0}};
    static const ganz_xml_dialect dialect = {.names = none, .options = {.doctype = true, .entity = entity}};
    ganz_xml_tree tree;
    ganz_status status = ganz_xml_tree_open(&tree, bytes, count, NULL, &dialect, err);
    if (status == GANZ_OK) status = read_tree(skeleton, &tree, options, err);
    else if (status == GANZ_EFORMAT) status = ganz_html_read(skeleton, bytes, count, options, err);
    ganz_xml_tree_close(&tree);
    return status;
}
