/* Blocks of Markdown, line by line, as CommonMark describes it: each line first goes through the quotes and list items
 * that are open, then may begin new ones, and what is left of it belongs to a leaf. Nesting is bounded, so that each
 * line is looked at a bounded number of times. */
#include "document/markdown_block.h"

#include <string.h>

#include "document/markdown_line.h"
#include "document/markdown_link.h"

enum { NESTING = 128 /* quotes and items inside each other; deeper ones are text */, TAB = 4, CODE_INDENT = 4 };

typedef enum leaf_kind { NONE, PARAGRAPH, FENCE, INDENTED, HTML, TABLE, MATH } leaf_kind;

typedef struct container {
    bool quote;     /* else an item or a footnote */
    size_t indent;  /* columns before the content of an item */
    bool has_child; /* an item whose first line is empty may begin below, but not after a blank line */
} container;

/* A place in a line. Columns count a tab as white space up to the next multiple of four. */
typedef struct cursor {
    const char *file;
    size_t at, end; /* of the line, without its line end */
    size_t column;
    size_t rest_of_tab; /* columns of a tab before `at` that are not used up */
} cursor;

typedef struct scanner {
    ganz_md_blocks *out;
    const char *file;
    size_t count;
    container containers[NESTING];
    size_t depth;
    size_t keep; /* so many of these the line is in; the others end with the open paragraph, unless the line goes on
                    with it */
    leaf_kind leaf;
    size_t first_line; /* of an open paragraph, in out->lines */
    size_t html_begin, html_end;
    int html_kind;
    ganz_md_fence fence;
    size_t no_math; /* from here on no "$$" ends mathematics */
} scanner;

/* ---- places in a line --------------------------------------------------------------------------- */

static size_t tab_width(size_t column) { return TAB - column % TAB; }

/* Columns of white space at the cursor; *first: the place of what follows. */
static size_t indent_of(const cursor *c, size_t *first)
{
    size_t column = c->column + c->rest_of_tab, at = c->at;
    for (; at < c->end && ganz_md_space(c->file[at]); at++) column += c->file[at] == '\t' ? tab_width(column) : 1;
    *first = at;
    return column - c->column;
}

/* Moves over so many columns of white space, if there are so many. */
static void skip_columns(cursor *c, size_t columns)
{
    while (columns > 0 && (c->rest_of_tab > 0 || (c->at < c->end && ganz_md_space(c->file[c->at])))) {
        if (c->rest_of_tab == 0) c->rest_of_tab = c->file[c->at++] == '\t' ? tab_width(c->column) : 1;
        const size_t step = columns < c->rest_of_tab ? columns : c->rest_of_tab;
        c->rest_of_tab -= step;
        c->column += step;
        columns -= step;
    }
}

/* Moves over characters that are not white space. */
static void skip_marks(cursor *c, size_t first, size_t bytes)
{
    size_t ignored;
    c->column += indent_of(c, &ignored) + bytes;
    c->at = first + bytes;
    c->rest_of_tab = 0;
}

/* ---- leaves ------------------------------------------------------------------------------------- */

static void add_line(scanner *s, size_t begin, size_t end)
{
    ganz_md_blocks *const out = s->out;
    while (end > begin && ganz_md_space(s->file[end - 1])) end--;
    if (!ganz_grow((void **)&out->lines, &out->line_capacity, out->line_count + 1, sizeof *out->lines)) {
        out->failed = true;
        return;
    }
    out->lines[out->line_count++] = (ganz_md_line){begin, end};
}

/* A leaf of the lines from `first` on. */
static void add_leaf(scanner *s, ganz_md_leaf_kind kind, size_t first)
{
    ganz_md_blocks *const out = s->out;
    const size_t count = out->line_count - first;
    if (count == 0 || out->failed) return;
    if (!ganz_grow((void **)&out->leaves, &out->leaf_capacity, out->leaf_count + 1, sizeof *out->leaves)) {
        out->failed = true;
        return;
    }
    out->leaves[out->leaf_count++] = (ganz_md_leaf){kind, first, count};
}

static void add_single(scanner *s, ganz_md_leaf_kind kind, size_t begin, size_t end)
{
    const size_t first = s->out->line_count;
    add_line(s, begin, end);
    add_leaf(s, kind, first);
}

/* Definitions at the beginning of a paragraph: takes their labels, returns how many lines they are. */
static size_t take_definitions(scanner *s, const ganz_md_line *lines, size_t count)
{
    size_t bytes = 0, at = 0, taken = 0, length, label_bytes;
    const char *label;
    for (size_t i = 0; i < count; i++) bytes += lines[i].end - lines[i].begin + 1;
    char *const text = ganz_alloc(bytes, 1);
    if (!text) return s->out->failed = true, 0;
    for (size_t i = 0, to = 0; i < count; i++) {
        const size_t n = lines[i].end - lines[i].begin;
        memcpy(text + to, s->file + lines[i].begin, n);
        text[to + n] = '\n';
        to += n + 1;
    }
    while (at < bytes && (length = ganz_md_definition(text + at, bytes - at, &label, &label_bytes)) > 0) {
        if (!ganz_md_labels_add(&s->out->labels, label, label_bytes)) s->out->failed = true;
        for (size_t i = at; i < at + length; i++) taken += text[i] == '\n';
        at += length;
    }
    ganz_free(text);
    return taken;
}

static void cut_attributes(const scanner *s, ganz_md_line *line)
{
    line->end = line->begin + ganz_md_before_attributes(s->file + line->begin, line->end - line->begin);
}

static void end_paragraph(scanner *s, bool heading)
{
    ganz_md_blocks *const out = s->out;
    const size_t count = out->line_count - s->first_line;
    s->leaf = NONE;
    if (out->failed || count == 0) return;
    ganz_md_line *const lines = out->lines + s->first_line;
    const size_t taken = s->file[lines[0].begin] == '[' ? take_definitions(s, lines, count) : 0;
    if (heading) cut_attributes(s, &lines[count - 1]);
    add_leaf(s, GANZ_MD_PARAGRAPH, s->first_line + taken);
}

static bool in_quote(const scanner *s)
{
    for (size_t i = 0; i < s->depth; i++)
        if (s->containers[i].quote) return true;
    return false;
}

/* HTML inside quotes has their marks between its lines, and is only copied. */
static void end_html(scanner *s)
{
    s->leaf = NONE;
    if (!in_quote(s)) add_single(s, GANZ_MD_HTML, s->html_begin, s->html_end);
}

static void end_leaf(scanner *s)
{
    if (s->leaf == PARAGRAPH) end_paragraph(s, false);
    if (s->leaf == HTML) end_html(s);
    s->leaf = NONE;
}

/* Ends the open leaf and the containers that the line is not in. */
static void begin_leaf(scanner *s, leaf_kind kind)
{
    end_leaf(s);
    s->depth = s->keep;
    s->leaf = kind;
    if (s->depth > 0) s->containers[s->depth - 1].has_child = true;
}

/* ---- containers --------------------------------------------------------------------------------- */

/* Goes through the open containers as far as the line belongs to them; returns how many those are. */
static size_t match_containers(scanner *s, cursor *c)
{
    size_t matched = 0;
    for (; matched < s->depth; matched++) {
        const container *const open = &s->containers[matched];
        size_t first;
        const size_t indent = indent_of(c, &first);
        if (open->quote) {
            if (indent >= CODE_INDENT || first >= c->end || c->file[first] != '>') break;
            skip_marks(c, first, 1);
            skip_columns(c, 1);
        } else if (first >= c->end) {
            if (!open->has_child) break;
        } else if (indent >= open->indent) {
            skip_columns(c, open->indent);
        } else {
            break;
        }
    }
    return matched;
}

static void push(scanner *s, container new_one)
{
    begin_leaf(s, NONE);
    s->containers[s->depth++] = new_one;
    s->keep = s->depth;
}

static bool begin_quote(scanner *s, cursor *c, size_t first)
{
    if (c->file[first] != '>') return false;
    skip_marks(c, first, 1);
    skip_columns(c, 1);
    push(s, (container){.quote = true});
    return true;
}

/* An item's content begins one to four columns behind its mark. */
static bool begin_item(scanner *s, cursor *c, size_t first, bool in_paragraph)
{
    size_t after, ignored;
    const size_t marks = ganz_md_item_mark(c->file + first, c->end - first, in_paragraph);
    if (marks == 0) return false;
    const size_t before = indent_of(c, &ignored);
    skip_marks(c, first, marks);
    const size_t space = indent_of(c, &after), used = after >= c->end || space > CODE_INDENT ? 1 : space;
    skip_columns(c, used);
    push(s, (container){.indent = before + marks + used});
    c->at += c->rest_of_tab == 0 && after < c->end ? ganz_md_task(c->file + c->at, c->end - c->at) : 0;
    return true;
}

static bool begin_footnote(scanner *s, cursor *c, size_t first)
{
    const size_t marks = ganz_md_footnote(c->file + first, c->end - first);
    if (marks == 0) return false;
    skip_marks(c, first, marks);
    push(s, (container){.indent = CODE_INDENT, .has_child = true});
    return true;
}

/* ":   What it is", below a term. */
static bool begin_definition(scanner *s, cursor *c, size_t first)
{
    size_t after, ignored;
    const size_t marks = ganz_md_term_mark(c->file + first, c->end - first);
    if (marks == 0) return false;
    const size_t before = indent_of(c, &ignored);
    skip_marks(c, first, marks);
    const size_t space = indent_of(c, &after), used = space > CODE_INDENT ? 1 : space;
    skip_columns(c, used);
    push(s, (container){.indent = before + marks + used});
    return true;
}

/* The line of an admonition, with its title. */
static bool begin_admonition(scanner *s, const cursor *c, size_t first)
{
    size_t begin, end;
    if (!ganz_md_admonition(c->file + first, c->end - first, &begin, &end)) return false;
    push(s, (container){.indent = CODE_INDENT, .has_child = true});
    if (end > begin) add_single(s, GANZ_MD_PARAGRAPH, first + begin, first + end);
    return true;
}

/* ---- leaves that begin with their first line ---------------------------------------------------- */

static bool begin_html(scanner *s, const cursor *c, size_t first, bool in_paragraph)
{
    const int kind = ganz_md_html_opens(c->file + first, c->end - first, in_paragraph);
    if (kind == 0) return false;
    begin_leaf(s, HTML);
    s->html_kind = kind;
    s->html_begin = first;
    s->html_end = c->end;
    if (ganz_md_html_closes(c->file + first, c->end - first, kind)) end_html(s);
    return true;
}

/* "$$" on a line, up to the next one. If there is none it is text. */
static bool begin_math(scanner *s, const cursor *c, size_t first)
{
    const size_t length = c->end - first;
    if (length < 2 || memcmp(c->file + first, "$$", 2) != 0) return false;
    const bool alone = ganz_md_blank(c->file + first + 2, length - 2);
    if (!alone || c->end >= s->no_math) return false;
    for (size_t at = c->end; at + 1 < s->count; at++) {
        const char *const hit = memchr(s->file + at, '$', s->count - at - 1);
        if (!hit) break;
        at = (size_t)(hit - s->file);
        if (hit[1] != '$') continue;
        begin_leaf(s, MATH);
        return true;
    }
    s->no_math = first;
    return false;
}

static bool begin_single(scanner *s, const cursor *c, size_t first)
{
    const char *const line = c->file + first;
    const size_t bytes = c->end - first;
    size_t begin, end;
    if (ganz_md_heading(line, bytes, &begin, &end)) {
        begin_leaf(s, NONE);
        end = begin + ganz_md_before_attributes(line + begin, end - begin);
        if (end > begin) add_single(s, GANZ_MD_PARAGRAPH, first + begin, first + end);
        return true;
    }
    if (ganz_md_fence_opens(line, bytes, &s->fence)) return begin_leaf(s, FENCE), true;
    if (ganz_md_rule(line, bytes) || ganz_md_directive(line, bytes)) return begin_leaf(s, NONE), true;
    return false;
}

/* ---- tables ------------------------------------------------------------------------------------- */

static void add_cells(scanner *s, size_t first, size_t end)
{
    size_t begin, stop;
    for (size_t at = 0; ganz_md_cell(s->file + first, end - first, &at, &begin, &stop);)
        if (stop > begin) add_single(s, GANZ_MD_CELL, first + begin, first + stop);
}

static size_t count_cells(const char *line, size_t bytes)
{
    size_t cells = 0, begin, end;
    for (size_t at = 0; ganz_md_cell(line, bytes, &at, &begin, &end);) cells++;
    return cells;
}

/* The last line of the paragraph is the head of a table, if this one is the rule below it. */
static bool begin_table(scanner *s, const cursor *c, size_t first)
{
    const size_t columns = ganz_md_table_rule(c->file + first, c->end - first);
    if (columns == 0 || s->out->failed || s->out->line_count == s->first_line) return false;
    const ganz_md_line head = s->out->lines[s->out->line_count - 1];
    if (count_cells(s->file + head.begin, head.end - head.begin) != columns) return false;
    s->out->line_count--;
    begin_leaf(s, TABLE);
    add_cells(s, head.begin, head.end);
    return true;
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* A line of a leaf that goes on whatever the line says. */
static bool continue_leaf(scanner *s, const cursor *c)
{
    size_t first;
    const size_t indent = indent_of(c, &first);
    const char *const line = c->file + first;
    const size_t bytes = c->end - first;
    switch (s->leaf) {
    case FENCE:
        if (indent < CODE_INDENT && ganz_md_fence_closes(line, bytes, &s->fence)) s->leaf = NONE;
        return true;
    case MATH:
        for (size_t i = 0; i + 1 < bytes; i++)
            if (line[i] == '$' && line[i + 1] == '$') s->leaf = NONE;
        return true;
    case HTML:
        if (s->html_kind >= 6 && bytes == 0) return end_html(s), true;
        s->html_end = c->end;
        if (ganz_md_html_closes(line, bytes, s->html_kind)) end_html(s);
        return true;
    default: return false;
    }
}

/* Something that begins here and leaves nothing of the line. */
static bool begin_whole_line(scanner *s, const cursor *c, size_t first, bool in_paragraph)
{
    if (in_paragraph && ganz_md_underline(c->file + first, c->end - first)) return end_paragraph(s, true), true;
    if (in_paragraph && begin_table(s, c, first)) return true;
    return begin_single(s, c, first) || begin_html(s, c, first, in_paragraph) || begin_math(s, c, first);
}

/* New containers, then a new leaf. True: nothing of the line is left. */
static bool begin_blocks(scanner *s, cursor *c)
{
    for (;;) {
        size_t first;
        const size_t indent = indent_of(c, &first);
        const bool in_paragraph = s->leaf == PARAGRAPH && s->keep == s->depth;
        if (first >= c->end || indent >= CODE_INDENT) return false;
        if (begin_whole_line(s, c, first, in_paragraph)) return true;
        if (s->keep >= NESTING) return false;
        if (begin_admonition(s, c, first)) return true;
        if (!begin_quote(s, c, first) && !begin_item(s, c, first, in_paragraph) && !begin_footnote(s, c, first) &&
            !begin_definition(s, c, first))
            return false;
    }
}

/* What is left of a line when nothing special begins. */
static void read_rest(scanner *s, const cursor *c)
{
    size_t first;
    const size_t indent = indent_of(c, &first);
    if (first >= c->end) {
        if (s->leaf != INDENTED) end_leaf(s);
        s->depth = s->keep;
    } else if (s->leaf == PARAGRAPH) { /* also one in containers that the line has left out */
        add_line(s, first, c->end);
    } else if (s->leaf == TABLE) {
        add_cells(s, first, c->end);
    } else if (indent >= CODE_INDENT) {
        if (s->leaf != INDENTED) begin_leaf(s, INDENTED);
    } else {
        begin_leaf(s, PARAGRAPH);
        s->first_line = s->out->line_count;
        add_line(s, first, c->end);
    }
}

static void read_line(scanner *s, size_t begin, size_t end)
{
    cursor c = {.file = s->file, .at = begin, .end = end};
    s->keep = match_containers(s, &c);
    if (s->keep < s->depth && s->leaf != PARAGRAPH) begin_leaf(s, NONE);
    if (!continue_leaf(s, &c) && !begin_blocks(s, &c)) read_rest(s, &c);
}

/* ---- the file ----------------------------------------------------------------------------------- */

/* The end of the line at `at`, without "\n", "\r\n" or "\r"; *next: the line behind it. */
static size_t find_line_end(const char *file, size_t at, size_t count, size_t *next)
{
    while (at < count && file[at] != '\n' && file[at] != '\r') at++;
    *next = at;
    if (at < count) *next = at + (file[at] == '\r' && at + 1 < count && file[at + 1] == '\n' ? 2 : 1);
    return at;
}

/* Length of YAML or TOML before the text: from a line "---" to the next one or to "...", or between two "+++". */
static size_t front_matter(const char *file, size_t count)
{
    size_t next, end = find_line_end(file, 0, count, &next);
    const bool yaml = end >= 3 && memcmp(file, "---", 3) == 0, toml = end >= 3 && memcmp(file, "+++", 3) == 0;
    if ((!yaml && !toml) || !ganz_md_blank(file + 3, end - 3)) return 0;
    for (size_t at = next; at < count; at = next) {
        end = find_line_end(file, at, count, &next);
        if (end - at < 3 || !ganz_md_blank(file + at + 3, end - at - 3)) continue;
        if (memcmp(file + at, yaml ? "---" : "+++", 3) == 0 || (yaml && memcmp(file + at, "...", 3) == 0)) return next;
    }
    return 0;
}

void ganz_md_read_blocks(ganz_md_blocks *blocks, const char *bytes, size_t count)
{
    scanner s = {.out = blocks, .file = bytes, .count = count, .no_math = SIZE_MAX};
    const size_t bom = count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    *blocks = (ganz_md_blocks){0};
    for (size_t at = bom + front_matter(bytes + bom, count - bom), next; at < count && !blocks->failed; at = next) {
        const size_t end = find_line_end(bytes, at, count, &next);
        read_line(&s, at, end);
    }
    s.keep = 0;
    end_leaf(&s);
}

void ganz_md_blocks_close(ganz_md_blocks *blocks)
{
    ganz_free(blocks->leaves);
    ganz_free(blocks->lines);
    ganz_free(blocks->labels.slots);
    *blocks = (ganz_md_blocks){0};
}
