/* Markdown: the leaves of the block structure become blocks of text, everything else is copied. The text of a leaf is
 * put together from its lines first, because marks may reach over their ends; each part of it still knows its bytes in
 * the file, with the quote marks and indentation that stand between two lines. */
#include <string.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "document/format.h"
#include "document/html_attributes.h"
#include "document/html_element.h"
#include "document/html_entity.h"
#include "document/html_read.h"
#include "document/markdown_escape.h"
#include "document/markdown_inline.h"
#include "document/markdown_line.h"
#include "document/row.h"
#include "text/tokenizer.h"

enum { IMAGE_DEPTH = 8 /* images in the text of images; deeper ones are copied */ };

typedef struct reader {
    ganz_skeleton *out;
    const char *file;
    size_t done; /* bytes of the file that are in the skeleton */
    const ganz_format_options *options;
    ganz_md_blocks blocks;
    ganz_md_inline in;
    ganz_text text; /* of the leaf */
    size_t *starts; /* (lines of the leaf) where each begins in the text */
    size_t start_capacity;
    const ganz_md_line *lines;
    size_t line_count;
    ganz_block_style style; /* of the leaf */
    int open;               /* marks around the place */
    int images;             /* around it */
} reader;

/* ---- places in the file ------------------------------------------------------------------------- */

static const char *raw_at(const reader *r, size_t at)
{
    size_t low = 0, high = r->line_count;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (r->starts[middle] <= at) low = middle;
        else high = middle;
    }
    return r->file + r->lines[low].begin + (at - r->starts[low]);
}

static size_t raw_bytes(const reader *r, size_t begin, size_t end)
{
    return (size_t)(raw_at(r, end) - raw_at(r, begin));
}

static bool join_lines(reader *r, const ganz_md_leaf *leaf)
{
    r->lines = r->blocks.lines + leaf->first;
    r->line_count = leaf->count;
    r->text.bytes = 0;
    if (!ganz_grow((void **)&r->starts, &r->start_capacity, leaf->count, sizeof *r->starts)) return false;
    for (size_t i = 0; i < leaf->count; i++) {
        const ganz_md_line *const line = &r->lines[i];
        if (i > 0 && !ganz_text_append(&r->text, "\n", 1)) return false;
        r->starts[i] = r->text.bytes;
        if (!ganz_text_append(&r->text, r->file + line->begin, line->end - line->begin)) return false;
    }
    return true;
}

/* ---- text and breaks ---------------------------------------------------------------------------- */

static void add_text(reader *r, size_t begin, size_t end)
{
    const char *const raw = raw_at(r, begin);
    ganz_skeleton_text(r->out, raw, end - begin, raw, end - begin);
}

static void add_code(reader *r, int32_t code, size_t begin, size_t end)
{
    char *const text = ganz_skeleton_keep(r->out, 4);
    if (text) ganz_skeleton_text(r->out, text, (size_t)ganz_utf8_encode(code, text), raw_at(r, begin), end - begin);
}

/* "\!" before a link would make an image of it. */
static bool must_stay(const reader *r, const ganz_md_item *item)
{
    return item->value == '!' && item->end < r->in.bytes && r->in.text[item->end] == '[';
}

static void add_character(reader *r, const ganz_md_item *item)
{
    if (must_stay(r, item)) {
        ganz_skeleton_opaque(r->out, "", 0, raw_at(r, item->begin), raw_bytes(r, item->begin, item->end));
        return;
    }
    add_code(r, item->value, item->begin, item->end);
}

/* True if a sentence goes on behind a break: nothing ends before it, and a small letter follows. */
static bool goes_on(const reader *r, const ganz_md_item *item)
{
    int32_t code;
    size_t before = item->begin, after = item->end;
    while (before > 0 && ganz_html_space(r->in.text[before - 1])) before--;
    while (after < r->in.bytes && ganz_html_space(r->in.text[after])) after++;
    if (before == 0 || after == r->in.bytes) return false;
    const char last = r->in.text[before - 1];
    if (!ganz_ascii_alnum(last) && last != ',' && (unsigned char)last < 0x80) return false;
    return ganz_utf8_decode(r->in.text + after, r->in.bytes - after, &code) > 0 && utf8proc_islower(code);
}

/* A break inside a sentence, or of a mark, is carried along; any other ends the block. */
static void add_break(reader *r, const ganz_md_item *item)
{
    const char *const raw = raw_at(r, item->begin);
    const size_t bytes = raw_bytes(r, item->begin, item->end);
    if (r->open > 0 || r->images > 0 || goes_on(r, item)) {
        ganz_skeleton_mark(r->out, GANZ_MARK_BREAK, GANZ_MD_NOTHING, raw, bytes);
        return;
    }
    ganz_skeleton_end(r->out);
    ganz_skeleton_copy(r->out, raw, bytes);
    ganz_skeleton_begin(r->out, &r->style);
}

/* The end of a line: two spaces before it are a break. */
static void add_space(reader *r, const ganz_md_item *item)
{
    const char *const raw = raw_at(r, item->begin);
    const size_t bytes = raw_bytes(r, item->begin, item->end);
    if (bytes > 2 && raw[0] == ' ' && raw[1] == ' ') add_break(r, item);
    else ganz_skeleton_text(r->out, " ", 1, raw, bytes);
}

static void add_opaque(reader *r, const ganz_md_item *item)
{
    char *const shown = ganz_skeleton_keep(r->out, item->inner_end - item->inner_begin);
    if (!shown) return;
    size_t bytes = item->inner_end - item->inner_begin;
    memcpy(shown, r->in.text + item->inner_begin, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (shown[i] == '\n') shown[i] = ' ';
    ganz_skeleton_opaque(r->out, shown, bytes, raw_at(r, item->begin), raw_bytes(r, item->begin, item->end));
}

/* ---- marks -------------------------------------------------------------------------------------- */

static void count_mark(reader *r, ganz_mark_kind kind)
{
    if (kind == GANZ_MARK_OPEN) r->open++;
    if (kind == GANZ_MARK_CLOSE && r->open > 0) r->open--;
}

static void add_mark(reader *r, ganz_mark_kind kind, int name, size_t begin, size_t end)
{
    count_mark(r, kind);
    ganz_skeleton_mark(r->out, kind, name, raw_at(r, begin), raw_bytes(r, begin, end));
}

/* A tag with attributes that are text, if it is in one line: the file has other bytes between lines. */
static bool add_tag(reader *r, const ganz_md_item *item, ganz_mark_kind kind)
{
    ganz_html_scan scan = ganz_html_scan_over(raw_at(r, item->begin), raw_bytes(r, item->begin, item->end));
    ganz_html_token token;
    if (!item->html || !r->options->attributes || scan.bytes != item->end - item->begin) return false;
    if (!ganz_html_next(&scan, &token) || token.kind != GANZ_HTML_START || !ganz_html_has_text(&token)) return false;
    count_mark(r, kind);
    ganz_skeleton_mark_begin(r->out, kind, item->value);
    ganz_html_add_tag(r->out, &token, GANZ_HTML_UTF8);
    ganz_skeleton_mark_end(r->out);
    return true;
}

/* Titles have escapes and references, but no marks. */
static void add_title(reader *r, size_t begin, size_t end)
{
    const char *const text = r->in.text;
    size_t plain = begin;
    for (size_t at = begin, length; at < end; at += length) {
        int32_t code = -1;
        length = 1;
        if (text[at] == '\\' && at + 1 < end && ganz_md_punctuation(text[at + 1])) code = text[at + 1], length = 2;
        if (text[at] == '&') length = ganz_entity_decode(text + at, end - at, GANZ_ENTITY_STRICT, &code);
        if (length <= 1 && code < 0) {
            length = 1;
            continue;
        }
        add_text(r, plain, at);
        if (code >= 0) add_code(r, code, at, at + length);
        else ganz_skeleton_opaque(r->out, "", 0, raw_at(r, at), length);
        plain = at + length;
    }
    add_text(r, plain, end);
}

/* Copies item [begin, end) with its title as a block. Inside a mark. */
static void add_target(reader *r, const ganz_md_item *item)
{
    const char *const raw = raw_at(r, item->begin);
    const size_t bytes = raw_bytes(r, item->begin, item->end);
    const bool title = item->extra && item->extra != ']' && r->options->attributes && bytes == item->end - item->begin;
    if (!title) {
        ganz_skeleton_copy(r->out, raw, bytes);
        return;
    }
    ganz_escape_text *const escape = ganz_md_escape_title(item->extra);
    const ganz_block_style style = {.breaks = GANZ_BREAK_SENTENCES, .escape = escape, .between = " / "};
    ganz_skeleton_copy(r->out, raw, item->inner_begin - item->begin);
    ganz_skeleton_begin(r->out, &style);
    add_title(r, item->inner_begin, item->inner_end);
    ganz_skeleton_end(r->out);
    ganz_skeleton_copy(r->out, raw + (item->inner_end - item->begin), item->end - item->inner_end);
}

/* The end of "[text]", which is written "][text]" once the text is translated. */
static void add_label(reader *r, const ganz_md_item *item)
{
    const size_t label = item->inner_end - item->inner_begin;
    char *const changed = ganz_skeleton_keep(r->out, label + 3);
    if (!changed) return;
    memcpy(changed, "][", 2);
    memcpy(changed + 2, r->in.text + item->inner_begin, label);
    memcpy(changed + 2 + label, "]", 1);
    for (size_t i = 0; i < label; i++)
        if (changed[2 + i] == '\n') changed[2 + i] = ' ';
    const size_t bytes = raw_bytes(r, item->begin, item->end);
    ganz_skeleton_mark_changing(r->out, GANZ_MARK_CLOSE, item->value, raw_at(r, item->begin), bytes, changed,
                                label + 3);
}

static void add_close(reader *r, const ganz_md_item *item)
{
    if (item->extra == 0) {
        add_mark(r, GANZ_MARK_CLOSE, item->value, item->begin, item->end);
        return;
    }
    count_mark(r, GANZ_MARK_CLOSE);
    if (item->extra == ']') {
        add_label(r, item);
        return;
    }
    ganz_skeleton_mark_begin(r->out, GANZ_MARK_CLOSE, item->value);
    add_target(r, item);
    ganz_skeleton_mark_end(r->out);
}

/* "***": some of them may be marks, and some text. */
static void add_run(reader *r, const ganz_md_item *item)
{
    for (size_t at = item->begin; at < item->end;) {
        bool opens = false;
        int name = 0;
        const size_t length = ganz_md_mark(&r->in, at, &opens, &name);
        if (length > 0) add_mark(r, opens ? GANZ_MARK_OPEN : GANZ_MARK_CLOSE, name, at, at + length);
        if (length > 0 && opens) ganz_skeleton_mark_needs_text(r->out);
        if (length == 0) add_text(r, at, at + 1);
        at += length > 0 ? length : 1;
    }
}

/* ---- items -------------------------------------------------------------------------------------- */

static void add_items(reader *r, size_t first, size_t last);

/* An image is a mark whose bytes hold text. Returns the number of its last item. */
static size_t add_image(reader *r, size_t number)
{
    const ganz_md_item *const item = &r->in.items[number], *const end = &r->in.items[item->value];
    const size_t last = (size_t)item->value;
    if (r->images == IMAGE_DEPTH || !r->options->attributes ||
        end->extra == ']') { /* "![text]": the text is a name, too */
        add_mark(r, GANZ_MARK_EMPTY, GANZ_MD_NOTHING, item->begin, end->end);
        return last;
    }
    ganz_skeleton_mark_begin(r->out, GANZ_MARK_EMPTY, GANZ_MD_NOTHING);
    ganz_skeleton_copy(r->out, raw_at(r, item->begin), item->end - item->begin);
    ganz_block_style style = r->style;
    style.between = " / "; /* no tag may stand in it */
    ganz_skeleton_begin(r->out, &style);
    r->images++;
    add_items(r, number + 1, last);
    r->images--;
    ganz_skeleton_end(r->out);
    add_target(r, end);
    ganz_skeleton_mark_end(r->out);
    return last;
}

static void add_items(reader *r, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        const ganz_md_item *const item = &r->in.items[i];
        switch ((ganz_md_kind)item->kind) {
        case GANZ_MD_TEXT: add_text(r, item->begin, item->end); break;
        case GANZ_MD_CHARACTER: add_character(r, item); break;
        case GANZ_MD_SPACE: add_space(r, item); break;
        case GANZ_MD_BREAK: add_break(r, item); break;
        case GANZ_MD_OPAQUE: add_opaque(r, item); break;
        case GANZ_MD_RUN: add_run(r, item); break;
        case GANZ_MD_IMAGE: i = add_image(r, i); break;
        case GANZ_MD_OPEN:
            if (!add_tag(r, item, GANZ_MARK_OPEN)) add_mark(r, GANZ_MARK_OPEN, item->value, item->begin, item->end);
            break;
        case GANZ_MD_EMPTY:
            if (!add_tag(r, item, GANZ_MARK_EMPTY)) add_mark(r, GANZ_MARK_EMPTY, item->value, item->begin, item->end);
            break;
        case GANZ_MD_CLOSE: add_close(r, item); break;
        case GANZ_MD_IMAGE_END: break; /* with its image */
        }
    }
}

/* ---- rows --------------------------------------------------------------------------------------- */

/* Behind the item that closes what item `first` opens; 0: nothing does. */
static size_t behind_element(const reader *r, size_t first)
{
    int depth = 0;
    for (size_t i = first; i < r->in.count; i++) {
        depth += r->in.items[i].kind == GANZ_MD_OPEN;
        depth -= r->in.items[i].kind == GANZ_MD_CLOSE;
        if (depth == 0) return i + 1;
    }
    return 0;
}

/* Behind the items that stand between two elements. */
static size_t behind_gap(const reader *r, size_t first)
{
    while (first < r->in.count &&
           (r->in.items[first].kind == GANZ_MD_TEXT || r->in.items[first].kind == GANZ_MD_SPACE ||
            r->in.items[first].kind == GANZ_MD_CHARACTER))
        first++;
    return first;
}

/* Bytes of the text from the first of these items to the last. */
static size_t gap_bytes(const reader *r, size_t first, size_t last)
{
    return first < last ? r->in.items[last - 1].end - r->in.items[first].begin : 0;
}

/* True if the words of a text between elements, or none, are plain text: the part of one item. */
static bool has_plain_words(const reader *r, size_t first, size_t last)
{
    ganz_row_text cut;
    const size_t begin = r->in.items[first].begin;
    if (!ganz_row_cut(r->in.text + begin, gap_bytes(r, first, last), true, &cut)) return false;
    for (size_t i = first; i < last && cut.begin < cut.end; i++)
        if (r->in.items[i].kind == GANZ_MD_TEXT && r->in.items[i].begin <= begin + cut.begin &&
            begin + cut.end <= r->in.items[i].end)
            return true;
    return cut.begin == cut.end;
}

/* True if the leaf is a row of links, or of other elements with signs between them; see row.h. Words beside them are
 * plain text. */
static bool is_row(const reader *r)
{
    ganz_row row = ganz_row_begin();
    ganz_row_text cut;
    for (size_t i = 0; i < r->in.count && !row.failed;) {
        const size_t gap = behind_gap(r, i);
        const char *const text = r->in.text + r->in.items[i].begin;
        const size_t bytes = gap_bytes(r, i, gap);
        ganz_row_add_text(&row, text, bytes, true);
        if (!has_plain_words(r, i, gap)) return false;
        if (gap == r->in.count) break;
        const ganz_md_item *const item = &r->in.items[gap];
        i = item->kind == GANZ_MD_OPEN ? behind_element(r, gap) : 0;
        if (i == 0) return false;
        const bool link = item->value == GANZ_MD_LINK || item->value == ganz_html_number("a", 1);
        const size_t inside = r->in.items[i - 1].begin - item->end;
        if (ganz_row_cut(r->in.text + item->end, inside, true, &cut) && cut.begin < cut.end)
            ganz_row_add_element(&row, row.pending, item->value, link ? GANZ_ROW_LINK : GANZ_ROW_OTHER);
    }
    return ganz_row_is(&row);
}

static void copy_text(reader *r, size_t begin, size_t end)
{
    if (begin < end) ganz_skeleton_copy(r->out, raw_at(r, begin), raw_bytes(r, begin, end));
}

static void add_between(reader *r, size_t first, size_t last)
{
    const size_t begin = r->in.items[first].begin, bytes = gap_bytes(r, first, last);
    ganz_row_text cut;
    ganz_row_cut(r->in.text + begin, bytes, true, &cut);
    copy_text(r, begin, begin + cut.begin);
    if (cut.begin < cut.end) {
        ganz_skeleton_begin(r->out, &r->style);
        add_text(r, begin + cut.begin, begin + cut.end);
        ganz_skeleton_end(r->out);
    }
    copy_text(r, begin + cut.end, begin + bytes);
}

static void add_row(reader *r)
{
    r->style.between = " / ";
    for (size_t i = 0; i < r->in.count;) {
        const size_t gap = behind_gap(r, i);
        add_between(r, i, gap);
        if (gap == r->in.count) break;
        i = behind_element(r, gap);
        ganz_skeleton_begin(r->out, &r->style);
        add_items(r, gap, i);
        ganz_skeleton_end(r->out);
    }
}

/* ---- leaves ------------------------------------------------------------------------------------- */

static bool add_leaf_text(reader *r, const ganz_md_leaf *leaf)
{
    r->style = (ganz_block_style){.breaks = GANZ_BREAK_SENTENCES, .escape = ganz_md_escape, .between = "<br>"};
    if (leaf->kind == GANZ_MD_CELL) r->style.escape = ganz_md_escape_cell;
    if (!join_lines(r, leaf)) return false;
    ganz_md_read_inline(&r->in, r->text.text, r->text.bytes, &r->blocks.labels);
    if (r->in.failed) return false;
    r->open = 0;
    if (is_row(r)) {
        add_row(r);
        return true;
    }
    ganz_skeleton_begin(r->out, &r->style);
    add_items(r, 0, r->in.count);
    ganz_skeleton_end(r->out);
    return true;
}

static ganz_status add_leaf(reader *r, const ganz_md_leaf *leaf, ganz_error *err)
{
    const ganz_md_line *const first = &r->blocks.lines[leaf->first], *const last = first + leaf->count - 1;
    ganz_skeleton_copy(r->out, r->file + r->done, first->begin - r->done);
    r->done = last->end;
    if (leaf->kind == GANZ_MD_HTML)
        return ganz_html_read(r->out, r->file + first->begin, first->end - first->begin, r->options, err);
    return add_leaf_text(r, leaf) ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for a paragraph");
}

static ganz_status add_leaves(reader *r, size_t count, ganz_error *err)
{
    if (r->blocks.failed) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the lines of a document");
    for (size_t i = 0; i < r->blocks.leaf_count; i++) GANZ_TRY(add_leaf(r, &r->blocks.leaves[i], err));
    ganz_skeleton_copy(r->out, r->file + r->done, count - r->done);
    return ganz_skeleton_status(r->out, err);
}

static ganz_status read_markdown(ganz_skeleton *skeleton, const char *bytes, size_t count,
                                 const ganz_format_options *options, ganz_error *err)
{
    reader r = {.out = skeleton, .file = bytes, .options = options};
    ganz_md_read_blocks(&r.blocks, bytes, count);
    const ganz_status status = add_leaves(&r, count, err);
    ganz_md_blocks_close(&r.blocks);
    ganz_md_inline_close(&r.in);
    ganz_text_free(&r.text);
    ganz_free(r.starts);
    return status;
}

const ganz_format ganz_format_markdown = {
    .name = "markdown", .suffixes = "md markdown mdown mkd", .read = read_markdown};
