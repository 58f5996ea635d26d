/* DOCX and PPTX: which members of the archive have text (by their content types), and what lies between paragraphs. */
#include <string.h>

#include "base/io.h"
#include "document/ooxml.h"
#include "document/package.h"
#include "text/tokenizer.h"

enum { WORD = 1, DRAWING, MATH, PICTURE, TYPES };

static const ganz_xml_space spaces[] = {
    {"http://schemas.openxmlformats.org/wordprocessingml/2006/main", WORD},
    {"http://purl.oclc.org/ooxml/wordprocessingml/main", WORD},
    {"http://schemas.openxmlformats.org/drawingml/2006/main", DRAWING},
    {"http://purl.oclc.org/ooxml/drawingml/main", DRAWING},
    {"http://schemas.openxmlformats.org/officeDocument/2006/math", MATH},
    {"http://purl.oclc.org/ooxml/officeDocument/math", MATH},
    {"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing", PICTURE},
    {"http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing", PICTURE},
    {"http://schemas.openxmlformats.org/presentationml/2006/main", PICTURE},
    {"http://purl.oclc.org/ooxml/presentationml/main", PICTURE},
    {NULL, 0},
};

static const ganz_xml_name names_of_word[] = {
    {WORD, "p", OOXML_PARAGRAPH},
    {WORD, "r", OOXML_RUN},
    {WORD, "rPr", OOXML_FORMAT},
    {WORD, "t", OOXML_TEXT},
    {WORD, "pPr", OOXML_HIDDEN},
    {WORD, "proofErr", OOXML_NOTHING},
    {WORD, "lang", OOXML_LANGUAGE},
    {WORD, "tab", OOXML_TAB},
    {WORD, "ptab", OOXML_TAB},
    {WORD, "br", OOXML_LINE},
    {WORD, "cr", OOXML_LINE},
    {WORD, "hyperlink", OOXML_AROUND},
    {WORD, "ins", OOXML_AROUND},
    {WORD, "moveTo", OOXML_AROUND},
    {WORD, "smartTag", OOXML_AROUND},
    {WORD, "customXml", OOXML_AROUND},
    {WORD, "dir", OOXML_AROUND},
    {WORD, "bdo", OOXML_AROUND},
    {WORD, "sdt", OOXML_HOLDER},
    {WORD, "sdtContent", OOXML_CONTENT},
    {WORD, "smartTagPr", OOXML_NOTHING},
    {WORD, "customXmlPr", OOXML_NOTHING},
    {WORD, "softHyphen", OOXML_NOTHING},
    {WORD, "lastRenderedPageBreak", OOXML_NOTHING},
    {WORD, "noProof", OOXML_LANGUAGE},
    {WORD, "vertAlign", OOXML_RAISED},
    {WORD, "noBreakHyphen", OOXML_HYPHEN},
    {WORD, "fldChar", OOXML_FIELD_CHAR},
    {WORD, "instrText", OOXML_INSTRUCTION},
    {WORD, "fldSimple", OOXML_WORD},
    {WORD, "bookmarkStart", OOXML_FROM},
    {WORD, "bookmarkEnd", OOXML_TO},
    {WORD, "commentRangeStart", OOXML_FROM},
    {WORD, "commentRangeEnd", OOXML_TO},
    {WORD, "permStart", OOXML_FROM},
    {WORD, "permEnd", OOXML_TO},
    {WORD, "moveToRangeStart", OOXML_FROM},
    {WORD, "moveToRangeEnd", OOXML_TO},
    {WORD, "del", OOXML_HIDDEN},
    {WORD, "moveFrom", OOXML_HIDDEN},
    {WORD, "sdtPr", OOXML_HIDDEN},
    {MATH, "oMath", OOXML_WORD},
    {MATH, "oMathPara", OOXML_WORD},
    {PICTURE, "docPr", OOXML_DRAWING},
    {0, NULL, 0},
};

static const ganz_xml_name names_of_drawing[] = {
    {DRAWING, "p", OOXML_PARAGRAPH},   {DRAWING, "r", OOXML_RUN},
    {DRAWING, "rPr", OOXML_FORMAT},    {DRAWING, "t", OOXML_TEXT},
    {DRAWING, "br", OOXML_LINE},       {DRAWING, "fld", OOXML_WORD},
    {DRAWING, "pPr", OOXML_HIDDEN},    {DRAWING, "endParaRPr", OOXML_HIDDEN},
    {PICTURE, "cNvPr", OOXML_DRAWING}, {0, NULL, 0},
};

static const ganz_xml_dialect dialect_of_word = {.names = names_of_word, .options = {.spaces = spaces}};
static const ganz_xml_dialect dialect_of_drawing = {.names = names_of_drawing, .options = {.spaces = spaces}};

/* ---- formats of runs ---------------------------------------------------------------------------- */

size_t ganz_ooxml_format_event(const ganz_xml_tree *t, size_t run)
{
    size_t i = run + 1;
    while (t->events[i].kind == GANZ_XML_OTHER ||
           (t->events[i].kind == GANZ_XML_TEXT && !ganz_xml_has_text(t, i, i + 1)))
        i++;
    return ganz_xml_starts(t, i, OOXML_FORMAT) ? i : 0;
}

/* Attributes of a drawing's format that make no difference to readers. */
static bool is_silent(ganz_slice name)
{
    static const char *const silent[] = {"lang",     "altLang", "dirty", "err",     "noProof",
                                         "smtClean", "smtId",   "bmk",   "kumimoji"};
    for (size_t i = 0; i < GANZ_COUNT(silent); i++)
        if (ganz_slice_is(name, silent[i])) return true;
    return false;
}

static bool add_attributes(ganz_text *out, const ganz_xml_tree *t, size_t event)
{
    const ganz_xml_event *const e = &t->events[event];
    ganz_slice name, value;
    bool good = true;
    for (size_t at = 0; good && ganz_xml_next_attribute(t->x.text + e->begin, e->end - e->begin, &at, &name, &value);)
        if (!is_silent(name))
            good = ganz_text_append(out, name.at, name.bytes) && ganz_text_append(out, "=", 1) &&
                   ganz_text_append(out, value.at, value.bytes) && ganz_text_append(out, " ", 1);
    return good;
}

static bool add_format(ganz_text *out, const ganz_xml_tree *t, size_t event)
{
    const ganz_xml_event *const e = t->events;
    if (!add_attributes(out, t, event)) return false;
    for (size_t i = event + 1; i < e[event].partner;) {
        if (ganz_xml_starts(t, i, OOXML_LANGUAGE)) {
            i = ganz_xml_after(t, i);
            continue;
        }
        const bool tag = e[i].kind == GANZ_XML_START || e[i].kind == GANZ_XML_END;
        if (tag && !ganz_text_append(out, t->x.text + e[i].begin, e[i].end - e[i].begin)) return false;
        i++;
    }
    return true;
}

uint64_t ganz_ooxml_format_of(ganz_ooxml_reader *r, size_t run)
{
    if (r->run == run) return r->format;
    const size_t event = ganz_ooxml_format_event(r->tree, run);
    r->look.bytes = 0;
    if (event && !add_format(&r->look, r->tree, event))
        ganz_skeleton_fail(r->skeleton, GANZ_ENOMEM, "out of memory for a document");
    r->run = run;
    return r->format = r->look.bytes > 0 ? ganz_checksum(r->look.text, r->look.bytes) : 0;
}

/* ---- between paragraphs ------------------------------------------------------------------------- */

static void read_alternative(ganz_ooxml_reader *r, size_t event)
{
    static const ganz_block_style style = {
        .breaks = GANZ_BREAK_SENTENCES, .escape = ganz_xml_escape_value, .between = " / "};
    const ganz_xml_event *const e = &r->tree->events[event];
    const char *const text = r->tree->x.text;
    size_t done = e->begin;
    ganz_slice name, value;
    for (size_t at = 0; ganz_xml_next_attribute(text + e->begin, e->end - e->begin, &at, &name, &value);) {
        const size_t begin = (size_t)(value.at - text);
        if (value.bytes == 0 || value.at[-1] != '"' || !(ganz_slice_is(name, "descr") || ganz_slice_is(name, "title")))
            continue;
        ganz_xml_copy(r->skeleton, r->tree, done, begin);
        ganz_skeleton_begin(r->skeleton, &style);
        ganz_xml_put_text(r->skeleton, r->tree, begin, begin + value.bytes);
        ganz_skeleton_end(r->skeleton);
        done = begin + value.bytes;
    }
    ganz_xml_copy(r->skeleton, r->tree, done, e->end);
}

void ganz_ooxml_read_body(ganz_ooxml_reader *r, size_t first, size_t last)
{
    const ganz_xml_event *const e = r->tree->events;
    for (size_t i = first; i < last;) {
        size_t next = i + 1;
        if (ganz_xml_starts(r->tree, i, OOXML_PARAGRAPH)) {
            next = ganz_xml_after(r->tree, i);
            ganz_ooxml_read_paragraph(r, i);
        } else if (ganz_xml_starts(r->tree, i, OOXML_DRAWING) && r->options->attributes) {
            read_alternative(r, i);
        } else {
            if (ganz_xml_starts(r->tree, i, OOXML_HIDDEN)) next = ganz_xml_after(r->tree, i);
            ganz_xml_copy(r->skeleton, r->tree, e[i].begin, e[next - 1].end);
        }
        i = next;
    }
}

/* Marks the starts around an event, from the inside out; what is marked already has its outside marked. */
static void mark_around(bool *holds, const uint32_t *open, int depth)
{
    while (depth-- > 0 && !holds[open[depth]]) holds[open[depth]] = true;
}

static void find_holders(ganz_ooxml_reader *r)
{
    const ganz_xml_event *const e = r->tree->events;
    uint32_t open[GANZ_XML_DEPTH];
    int depth = 0;
    for (size_t i = 0; i < r->tree->count;) {
        if (ganz_xml_starts(r->tree, i, OOXML_HIDDEN)) {
            i = ganz_xml_after(r->tree, i);
            continue;
        }
        if (e[i].kind == GANZ_XML_START) open[depth++] = (uint32_t)i;
        if (ganz_xml_starts(r->tree, i, OOXML_DRAWING) && r->options->attributes) mark_around(r->holds, open, depth);
        if (ganz_xml_starts(r->tree, i, OOXML_PARAGRAPH)) mark_around(r->holds, open, depth - 1);
        if (e[i].kind == GANZ_XML_END || e[i].empty) depth--;
        i++;
    }
}

/* ---- a member ----------------------------------------------------------------------------------- */

static ganz_slice tag_name(const ganz_xml_tree *t, size_t event)
{
    const char *const tag = t->x.text + t->events[event].begin + 1;
    size_t n = 0;
    while (!memchr(" \t\r\n/>", tag[n], 6)) n++;
    return (ganz_slice){tag, n};
}

/* Names of the elements as the first ones of them are written. */
static bool find_names(ganz_ooxml_glue *g, const ganz_xml_tree *t)
{
    for (size_t i = 0; i < t->count && (g->run.bytes == 0 || g->text.bytes == 0); i++) {
        if (g->run.bytes == 0 && ganz_xml_starts(t, i, OOXML_RUN)) g->run = tag_name(t, i);
        if (g->text.bytes == 0 && ganz_xml_starts(t, i, OOXML_TEXT)) g->text = tag_name(t, i);
    }
    return g->run.bytes > 0 && g->text.bytes > 0;
}

/* Places live on the heap while they grow, and then as long as the skeleton. */
static void keep_places(ganz_skeleton *s, ganz_ooxml_glue *g)
{
    const size_t bytes = g->count * sizeof *g->places;
    ganz_ooxml_place *const kept = ganz_skeleton_keep(s, bytes);
    if (kept && bytes > 0) memcpy(kept, g->places, bytes);
    ganz_free(g->places);
    g->places = kept;
}

static ganz_status read_tree(ganz_package *p, const ganz_xml_tree *tree, ganz_ooxml_glue *glue,
                             const ganz_format_options *options, ganz_error *err)
{
    ganz_ooxml_reader r = {.skeleton = p->skeleton, .tree = tree, .options = options, .glue = glue};
    r.style = (ganz_block_style){.breaks = GANZ_BREAK_SENTENCES, .escape = ganz_xml_escape};
    r.style.between = glue->preserve ? "</w:t><w:br/><w:t xml:space=\"preserve\">" : "</a:t></a:r><a:br/><a:r><a:t>";
    r.holds = ganz_alloc(tree->count, sizeof *r.holds);
    if (!r.holds) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    find_holders(&r);
    ganz_ooxml_read_body(&r, 0, tree->count);
    keep_places(p->skeleton, glue);
    ganz_free(r.holds);
    ganz_text_free(&r.scratch);
    ganz_text_free(&r.look);
    return ganz_skeleton_status(p->skeleton, err);
}

static ganz_status read_member(ganz_package *p, int member, bool word, const ganz_format_options *options,
                               ganz_error *err)
{
    const char *text;
    size_t bytes;
    ganz_xml_tree tree;
    GANZ_TRY(ganz_package_load(p, member, &text, &bytes, err));
    ganz_ooxml_glue *const glue = ganz_skeleton_keep(p->skeleton, sizeof *glue);
    if (!glue) return ganz_skeleton_status(p->skeleton, err);
    *glue = (ganz_ooxml_glue){.preserve = word};
    ganz_status status = ganz_xml_tree_open(&tree, text, bytes, ganz_zip_name(p->zip, member),
                                            word ? &dialect_of_word : &dialect_of_drawing, err);
    if (status == GANZ_OK && find_names(glue, &tree)) {
        ganz_package_begin(p, member, text, bytes, ganz_ooxml_glue_polish, glue);
        status = read_tree(p, &tree, glue, options, err);
    }
    ganz_xml_tree_close(&tree);
    return status;
}

/* ---- the archive -------------------------------------------------------------------------------- */

/* Ends of the content types of members with text. */
static const struct {
    const char *type;
    bool word;
} types[] = {
    {"wordprocessingml.document.main+xml", true},
    {"wordprocessingml.template.main+xml", true},
    {"ms-word.document.macroEnabled.main+xml", true},
    {"ms-word.template.macroEnabledTemplate.main+xml", true},
    {"wordprocessingml.header+xml", true},
    {"wordprocessingml.footer+xml", true},
    {"wordprocessingml.footnotes+xml", true},
    {"wordprocessingml.endnotes+xml", true},
    {"wordprocessingml.comments+xml", true},
    {"presentationml.slide+xml", false},
    {"presentationml.notesSlide+xml", false},
    {"drawingml.chart+xml", false},
    {"drawingml.diagramData+xml", false},
    {"drawingml.diagramDrawing+xml", false},
};

static bool ends_with(ganz_slice text, const char *end)
{
    const size_t n = strlen(end);
    return text.bytes >= n && memcmp(text.at + text.bytes - n, end, n) == 0;
}

/* Index into types, or -1. */
static int type_of(ganz_slice type)
{
    for (size_t i = 0; i < GANZ_COUNT(types); i++)
        if (ends_with(type, types[i].type)) return (int)i;
    return -1;
}

/* The member that a part name ("/word/document.xml") means; -1: none. */
static int member_of(const ganz_zip *zip, ganz_slice part)
{
    char name[1024];
    if (part.bytes < 2 || part.bytes > sizeof name || part.at[0] != '/') return -1;
    memcpy(name, part.at + 1, part.bytes - 1);
    name[part.bytes - 1] = '\0';
    return ganz_zip_find(zip, name);
}

/* Members with text, in the order in which the table of content types names them. */
static ganz_status read_parts(ganz_package *p, const ganz_xml_tree *tree, const ganz_format_options *options,
                              ganz_error *err)
{
    bool *const seen = ganz_alloc((size_t)ganz_zip_count(p->zip), sizeof *seen);
    if (!seen) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    ganz_status status = GANZ_OK;
    for (size_t i = 0; i < tree->count && status == GANZ_OK; i++) {
        ganz_slice type, part;
        if (tree->events[i].kind != GANZ_XML_START || !ganz_xml_tree_attribute(tree, i, "ContentType", &type) ||
            !ganz_xml_tree_attribute(tree, i, "PartName", &part) || type_of(type) < 0)
            continue;
        const int member = member_of(p->zip, part);
        if (member < 0 || seen[member]) continue;
        seen[member] = true;
        status = read_member(p, member, types[type_of(type)].word, options, err);
    }
    ganz_free(seen);
    return status;
}

static ganz_status read_types(ganz_package *p, const ganz_format_options *options, ganz_error *err)
{
    static const ganz_xml_name none[] = {{0, NULL, 0}};
    static const ganz_xml_dialect dialect = {.names = none};
    const char *text;
    size_t bytes;
    ganz_xml_tree tree;
    const int member = ganz_zip_find(p->zip, "[Content_Types].xml");
    if (member < 0) return ganz_fail(err, GANZ_EFORMAT, "this is no Office document: [Content_Types].xml is missing");
    GANZ_TRY(ganz_package_load(p, member, &text, &bytes, err));
    ganz_status status = ganz_xml_tree_open(&tree, text, bytes, ganz_zip_name(p->zip, member), &dialect, err);
    if (status == GANZ_OK) status = read_parts(p, &tree, options, err);
    ganz_xml_tree_close(&tree);
    return status;
}

static ganz_status read_ooxml(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                              ganz_error *err)
{
    ganz_package p;
    ganz_status status = ganz_package_open(&p, s, bytes, count, err);
    if (status == GANZ_OK) status = read_types(&p, options, err);
    ganz_package_close(&p);
    return status;
}

/* An archive with a member whose name begins so; members of both formats lie in a folder of their own. */
static bool has_folder(const char *bytes, size_t count, const char *folder)
{
    ganz_zip *zip;
    bool found = false;
    if (!ganz_zip_looks_like(bytes, count) || ganz_zip_open(&zip, bytes, count, NULL, NULL) != GANZ_OK) return false;
    for (int i = 0; i < ganz_zip_count(zip) && ganz_zip_find(zip, "[Content_Types].xml") >= 0; i++)
        found |= strncmp(ganz_zip_name(zip, i), folder, strlen(folder)) == 0;
    ganz_zip_close(&zip);
    return found;
}

static bool is_docx(const char *bytes, size_t count) { return has_folder(bytes, count, "word/"); }
static bool is_pptx(const char *bytes, size_t count) { return has_folder(bytes, count, "ppt/"); }

const ganz_format ganz_format_docx = {.name = "docx",
                                      .suffixes = "docx docm dotx dotm",
                                      .recognise = is_docx,
                                      .read = read_ooxml,
                                      .finish = ganz_package_finish};
const ganz_format ganz_format_pptx = {.name = "pptx",
                                      .suffixes = "pptx pptm potx ppsx",
                                      .recognise = is_pptx,
                                      .read = read_ooxml,
                                      .finish = ganz_package_finish};
