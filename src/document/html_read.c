/* The reader of HTML. Inline elements are marks of a block of text; every other tag ends the block. An inline element
 * that is not translated is a region: nothing is handed on until it ends, and then all of it as one opaque word; a
 * region without an end tag, or with boxes in it, or with an element that is translated again, is copied between two
 * blocks instead. */
#include "document/html_read.h"

#include <string.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "document/html_attributes.h"
#include "document/html_row.h"
#include "document/html_tree.h"
#include "document/raised.h"
#include "document/row.h"
#include "text/unicode.h"

enum { SHOWN_BYTES = 64 /* of a region's text, for the model */ };

typedef struct reader {
    ganz_skeleton *out;
    ganz_html_scan scan;
    ganz_html_tree tree;
    ganz_html_charset charset;
    bool attributes; /* are translated */
    bool in_block;
    char last;          /* byte of the block's text that is not white space; 0: none */
    bool touching;      /* no white space comes after it */
    bool after_end;     /* but an end tag */
    bool appendix;      /* the element that starts is a part of the word it touches */
    int marks;          /* open in the block */
    ganz_html_row row;  /* what was found out about the tokens up to its end */
    int level;          /* elements of the row around the place */
    const char *region; /* where it begins; NULL: none is open */
    int region_number;  /* of its element */
    bool region_shows;  /* its text is shown to the model */
    bool region_raised; /* it is raised or lowered, touches a word, and would be translated otherwise */
    char shown[SHOWN_BYTES];
    size_t shown_bytes;
} reader;

/* ---- blocks ------------------------------------------------------------------------------------- */

static void begin_block(reader *r)
{
    if (r->in_block) return;
    const ganz_html_open *const around = ganz_html_innermost(&r->tree);
    ganz_block_style style = {.breaks = GANZ_BREAK_SENTENCES, .escape = ganz_html_escape(r->charset, 0)};
    style.between = around->bare || r->row.depth >= 0 ? " / " : "<br>";
    if (around->keeps) style.breaks = GANZ_BREAK_LINES, style.between = NULL;
    ganz_skeleton_begin(r->out, &style);
    r->in_block = true;
    r->touching = r->after_end = false;
    r->marks = 0;
    r->last = 0;
}

static void end_block(reader *r)
{
    if (r->in_block) ganz_skeleton_end(r->out);
    r->in_block = false;
}

/* Bytes that are not shown: a mark inside a block. */
static void add_unseen(reader *r, const char *raw, size_t bytes)
{
    if (r->in_block) ganz_skeleton_mark(r->out, GANZ_MARK_EMPTY, -1, raw, bytes);
    else ganz_skeleton_copy(r->out, raw, bytes);
}

/* ---- regions ------------------------------------------------------------------------------------ */

static bool is_raised(const ganz_html_element *element)
{
    return strcmp(element->name, "sup") == 0 || strcmp(element->name, "sub") == 0;
}

/* 2<sup>30</sup>, H<sub>2</sub>O, word<sup><a>[1]</a></sup>: what touches a word and is at most one itself would become
 * part of it, so that it is carried as it is. Looks at a few tokens. */
static bool is_appendix(const reader *r, const ganz_html_open *open)
{
    ganz_html_scan scan = r->scan;
    ganz_html_token token;
    size_t bytes = 0;
    if (!r->in_block || !r->touching || !is_raised(open->element)) return false;
    for (int i = 0; i < 8 && ganz_html_next(&scan, &token); i++) {
        if (token.kind == GANZ_HTML_COMMENT) continue;
        if (token.kind == GANZ_HTML_TEXT) {
            bytes += token.bytes;
            if (bytes > GANZ_RAISED_BYTES || !ganz_raised_is_part(token.raw, token.bytes)) return false;
            continue;
        }
        const ganz_html_element *const element = ganz_html_find(ganz_html_name(&token), token.name_bytes);
        if (element == open->element) return token.kind == GANZ_HTML_END;
        if (!(element->flags & GANZ_HTML_INLINE) || (element->flags & GANZ_HTML_RAW)) return false;
    }
    return false;
}

static void begin_region(reader *r, const ganz_html_token *token, const ganz_html_open *open)
{
    begin_block(r);
    r->region = token->raw;
    r->region_number = open->number;
    r->region_raised = r->appendix;
    r->region_shows = !(open->element->flags & GANZ_HTML_FOREIGN) && !is_raised(open->element);
    r->shown_bytes = 0;
}

/* The text of "<sup>th</sup>", which is the region up to `end`; false: the region is something else. */
static bool is_ordinal(const reader *r, const char *end, ganz_html_token *text)
{
    ganz_html_scan scan = ganz_html_scan_over(r->region, (size_t)(end - r->region));
    ganz_html_token tag;
    return r->region_raised && ganz_html_next(&scan, &tag) && ganz_html_next(&scan, text) &&
           text->kind == GANZ_HTML_TEXT && ganz_raised_is_ordinal(text->raw, text->bytes);
}

/* Ends before `end` with its own end tag, as a word of the block. */
static void end_region(reader *r, const char *end)
{
    ganz_html_token text;
    if (is_ordinal(r, end, &text)) {
        ganz_skeleton_text(r->out, text.raw, text.bytes, r->region, (size_t)(end - r->region));
        r->region = NULL;
        return;
    }
    const size_t bytes =
        r->shown_bytes > 0 && r->shown[r->shown_bytes - 1] == ' ' ? r->shown_bytes - 1 : r->shown_bytes;
    char *const shown = ganz_skeleton_keep(r->out, bytes);
    if (!shown) return;
    memcpy(shown, r->shown, bytes);
    ganz_skeleton_opaque(r->out, shown, bytes, r->region, (size_t)(end - r->region));
    r->region = NULL;
    r->last = 'x';
    r->touching = true;
}

/* It cannot be a word that is moved: the block ends before it, and it is copied. */
static void copy_region(reader *r, const char *end)
{
    end_block(r);
    ganz_skeleton_copy(r->out, r->region, (size_t)(end - r->region));
    r->region = NULL;
}

/* ---- text --------------------------------------------------------------------------------------- */

static bool is_blank(const char *text, size_t bytes)
{
    size_t at = 0;
    while (at < bytes && ganz_html_space(text[at])) at++;
    return at == bytes;
}

static void note_last(reader *r, const char *raw, size_t bytes)
{
    r->after_end = false;
    r->touching = bytes > 0 && !ganz_html_space(raw[bytes - 1]);
    while (bytes > 0 && ganz_html_space(raw[bytes - 1])) bytes--;
    if (bytes > 0) r->last = raw[bytes - 1];
}

/* One raised or lowered part at the scan's place, and the letters behind it; false: there is none. */
static bool skip_raised(ganz_html_scan *scan, bool *letters)
{
    ganz_html_token start, text, end;
    if (!ganz_html_next(scan, &start) || start.kind != GANZ_HTML_START) return false;
    const ganz_html_element *const element = ganz_html_find(ganz_html_name(&start), start.name_bytes);
    if (!is_raised(element) || !ganz_html_next(scan, &text) || text.kind != GANZ_HTML_TEXT) return false;
    if (!ganz_raised_is_part(text.raw, text.bytes)) return false;
    if (!ganz_html_next(scan, &end) || end.kind != GANZ_HTML_END) return false;
    if (ganz_html_find(ganz_html_name(&end), end.name_bytes) != element) return false;
    const size_t word = ganz_raised_word_after(scan->data + scan->at, scan->bytes - scan->at);
    *letters |= word > 0;
    scan->at += word;
    return true;
}

/* Bytes of "H<sub>2</sub>O" behind the "H" where the scan stands; 0: no such word. */
static size_t compound_bytes(const reader *r)
{
    ganz_html_scan scan = r->scan;
    bool letters = false;
    size_t end = scan.at;
    while (skip_raised(&scan, &letters)) end = scan.at;
    return letters ? end - r->scan.at : 0;
}

/* A word with parts that are not on its line is not translated. */
static void add_compound(reader *r, const char *word, size_t bytes)
{
    ganz_html_scan scan = ganz_html_scan_over(word, bytes);
    ganz_html_token token;
    char *const shown = ganz_skeleton_keep(r->out, SHOWN_BYTES);
    size_t length = 0;
    while (shown && ganz_html_next(&scan, &token))
        if (token.kind == GANZ_HTML_TEXT)
            length = ganz_html_show_text(shown, length, SHOWN_BYTES, token.raw, token.bytes);
    ganz_skeleton_opaque(r->out, shown, length, word, bytes);
    r->touching = true;
}

static void add_text(reader *r, const char *raw, size_t bytes)
{
    if (!r->in_block && is_blank(raw, bytes)) {
        ganz_skeleton_copy(r->out, raw, bytes);
        return;
    }
    const bool keeps = ganz_html_innermost(&r->tree)->keeps;
    const ganz_html_text_style style = {.charset = r->charset, .place = GANZ_ENTITY_TEXT, .keeps = keeps};
    const size_t word = bytes - ganz_raised_word_before(raw, bytes);
    const bool at_scan = raw + bytes == r->scan.data + r->scan.at;
    const size_t more = at_scan && word < bytes ? compound_bytes(r) : 0;
    begin_block(r);
    ganz_html_add_text(r->out, raw, more > 0 ? word : bytes, &style);
    note_last(r, raw, bytes);
    if (more > 0) add_compound(r, raw + word, bytes - word + more);
    r->scan.at += more;
}

/* The next "{% ... %}" of a template at or after raw[at]; its length is 0 where there is none. */
static size_t find_statement(const char *raw, size_t at, size_t bytes, size_t *length)
{
    for (*length = 0; at + 3 < bytes; at++) {
        const char *const hit = memchr(raw + at, '{', bytes - at - 3);
        if (!hit) break;
        at = (size_t)(hit - raw);
        if (hit[1] != '%') continue;
        size_t end = at + 2;
        while (end + 1 < bytes && !(raw[end] == '%' && raw[end + 1] == '}')) end++;
        if (end + 1 < bytes) *length = end + 2 - at;
        return at;
    }
    return bytes;
}

/* Statements of templates stand between blocks: they must keep their order. */
static void add_template(reader *r, const char *raw, size_t bytes)
{
    size_t at = 0, length;
    for (;;) {
        const size_t statement = find_statement(raw, at, bytes, &length);
        if (length == 0) break;
        if (statement > at) add_text(r, raw + at, statement - at);
        end_block(r);
        ganz_skeleton_copy(r->out, raw + statement, length);
        at = statement + length;
    }
    if (at < bytes) add_text(r, raw + at, bytes - at);
}

static void read_text(reader *r, const ganz_html_token *token)
{
    const char *const raw = token->raw;
    if (!r->region && ganz_html_innermost(&r->tree)->translate) add_template(r, raw, token->bytes);
    else if (!r->region) ganz_skeleton_copy(r->out, raw, token->bytes);
    else if (r->region_shows)
        r->shown_bytes = ganz_html_show_text(r->shown, r->shown_bytes, SHOWN_BYTES, raw, token->bytes);
}

/* What a server writes at this place: <?= $name ?>, <%= name %>. One without its end may not move: it would take what
 * comes behind it along. */
static bool is_output(const ganz_html_token *token)
{
    static const char *const begins[] = {"<?=", "<?php echo ", "<%=", "<%- ", "<%:"};
    const char *const raw = token->raw;
    const size_t bytes = token->bytes;
    if (bytes < 5 || raw[bytes - 1] != '>' || raw[bytes - 2] != raw[1]) return false;
    for (size_t i = 0; i < GANZ_COUNT(begins); i++)
        if (bytes > strlen(begins[i]) && memcmp(raw, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

static void read_comment(reader *r, const ganz_html_token *token)
{
    if (r->region) return;
    if (!is_output(token) || !ganz_html_innermost(&r->tree)->translate) {
        add_unseen(r, token->raw, token->bytes);
        return;
    }
    begin_block(r);
    ganz_skeleton_place(r->out, "", 0, token->raw, token->bytes);
    r->last = 'x';
    r->touching = true;
}

/* ---- line breaks -------------------------------------------------------------------------------- */

/* The first character of the next text that is shown, white space apart; 0: something else comes. *touching: there is
 * no white space before it. Looks at a few tokens. */
static int32_t next_character(ganz_html_scan scan, bool *touching)
{
    ganz_html_token token;
    int32_t code;
    *touching = true;
    for (int i = 0; i < 4 && ganz_html_next(&scan, &token); i++) {
        if (token.kind == GANZ_HTML_COMMENT) continue;
        if (token.kind != GANZ_HTML_TEXT) {
            const unsigned flags = ganz_html_find(ganz_html_name(&token), token.name_bytes)->flags;
            if (!(flags & GANZ_HTML_INLINE) || (flags & (GANZ_HTML_RAW | GANZ_HTML_OPAQUE))) return 0;
            continue;
        }
        size_t at = 0;
        while (at < token.bytes && ganz_html_space(token.raw[at])) at++;
        *touching = *touching && at == 0;
        if (at < token.bytes) return ganz_utf8_decode(token.raw + at, token.bytes - at, &code) > 0 ? code : 0;
    }
    return 0;
}

/* <br> inside a sentence is a place where it is cut; between sentences it is as good as a paragraph. */
static bool break_is_inside(const reader *r)
{
    bool touching;
    const bool goes_on = ganz_ascii_alnum(r->last) || r->last == ',' || (unsigned char)r->last >= 0x80;
    return r->in_block && goes_on && utf8proc_islower(next_character(r->scan, &touching));
}

/* <a>One</a><a>Two</a>: elements one after the other without white space between their words are no parts of a
 * sentence. */
static bool is_next_item(const reader *r)
{
    bool touching;
    if (!r->in_block || !r->touching || !r->after_end || r->marks > 0 || !ganz_ascii_alnum(r->last)) return false;
    return ganz_is_alnum(next_character(r->scan, &touching)) && touching;
}

/* ---- tags --------------------------------------------------------------------------------------- */

static void add_start(reader *r, const ganz_html_token *token, const ganz_html_open *open, ganz_mark_kind kind)
{
    const bool text = r->attributes && open->translate && ganz_html_has_text(token);
    if (r->in_block && !text) {
        ganz_skeleton_mark(r->out, kind, open->number, token->raw, token->bytes);
        return;
    }
    if (r->in_block) ganz_skeleton_mark_begin(r->out, kind, open->number);
    if (text) ganz_html_add_tag(r->out, token, r->charset);
    else ganz_skeleton_copy(r->out, token->raw, token->bytes);
    if (r->in_block) ganz_skeleton_mark_end(r->out);
}

/* Links of a menu are no parts of one sentence. */
static bool is_inline(const ganz_html_element *element, const ganz_html_open *outer)
{
    const bool menu = strcmp(element->name, "a") == 0 && strcmp(outer->element->name, "nav") == 0;
    return (element->flags & GANZ_HTML_INLINE) && !menu;
}

/* The start tag of script, style, ... becomes a tag that has the content and the end tag in it. */
static void read_raw(reader *r, ganz_html_token *token, const ganz_html_open *open)
{
    ganz_html_token content, end;
    ganz_html_raw_text(&r->scan, open->element->name, &content);
    if (ganz_html_next(&r->scan, &end) && end.kind == GANZ_HTML_END) ganz_html_end(&r->tree, &end);
    token->bytes = (size_t)(r->scan.data + r->scan.at - token->raw);
}

/* Text without markup, as a block of its own. */
static void read_plain(reader *r, const ganz_html_open *open)
{
    ganz_html_token content;
    ganz_html_raw_text(&r->scan, open->element->name, &content);
    read_text(r, &content);
    end_block(r);
}

/* What a start tag does to an open region. True: the tag is dealt with. */
static bool start_in_region(reader *r, const ganz_html_token *token, const ganz_html_open *open,
                            const ganz_html_open *outer)
{
    if (outer->translate ||
        open->translate) { /* its element has ended without an end tag, or goes on behind this one */
        copy_region(r, token->raw);
        return false;
    }
    if (!(open->element->flags & GANZ_HTML_INLINE)) copy_region(r, token->raw + token->bytes);
    return true;
}

static void add_inline(reader *r, const ganz_html_token *token, const ganz_html_open *open, bool stays)
{
    if (!open->translate && stays) {
        begin_region(r, token, open);
    } else if (stays) {
        if (is_next_item(r)) end_block(r);
        begin_block(r);
        add_start(r, token, open, GANZ_MARK_OPEN);
        r->marks++;
    } else {
        add_start(r, token, open, GANZ_MARK_EMPTY);
    }
}

static void add_outline(reader *r, const ganz_html_token *token, const ganz_html_open *open)
{
    if (strcmp(open->element->name, "br") == 0 && open->translate && break_is_inside(r)) {
        ganz_skeleton_mark(r->out, GANZ_MARK_BREAK, open->number, token->raw, token->bytes);
        return;
    }
    end_block(r);
    add_start(r, token, open, GANZ_MARK_EMPTY);
}

static bool read_start(reader *r, ganz_html_token *token)
{
    ganz_html_open open;
    bool stays;
    if (!ganz_html_start(&r->tree, token, &open, &stays)) return false;
    const ganz_html_tree outside = {.open = r->tree.open, .count = r->tree.count - stays};
    const ganz_html_open outer = *ganz_html_innermost(&outside);
    r->appendix = stays && open.translate && is_appendix(r, &open);
    if (r->appendix) r->tree.open[r->tree.count - 1].translate = open.translate = false;
    const bool plain = stays && (open.element->flags & GANZ_HTML_PLAIN),
               raw = stays && (open.element->flags & GANZ_HTML_RAW);
    if (raw) read_raw(r, token, &open);
    if (!r->region || !start_in_region(r, token, &open, &outer)) {
        if (!outer.translate) end_block(r); /* one of an element that has ended without an end tag */
        if (!outer.translate && !open.translate) ganz_skeleton_copy(r->out, token->raw, token->bytes);
        else if (is_inline(open.element, &outer)) add_inline(r, token, &open, stays && !raw);
        else add_outline(r, token, &open);
    }
    if (plain) read_plain(r, &open);
    return true;
}

static void add_end(reader *r, const ganz_html_token *token)
{
    const ganz_html_element *const element = ganz_html_find(ganz_html_name(token), token->name_bytes);
    if (r->in_block && is_inline(element, ganz_html_innermost(&r->tree))) {
        if (r->marks > 0) r->marks--;
        r->after_end = true;
        const int number = ganz_html_number(ganz_html_name(token), token->name_bytes);
        ganz_skeleton_mark(r->out, GANZ_MARK_CLOSE, number, token->raw, token->bytes);
        return;
    }
    end_block(r);
    ganz_skeleton_copy(r->out, token->raw, token->bytes);
}

static void read_end(reader *r, const ganz_html_token *token)
{
    ganz_html_end(&r->tree, token);
    const bool translate = ganz_html_innermost(&r->tree)->translate;
    if (r->region && !translate) return;
    if (r->region) {
        const bool own = ganz_html_number(ganz_html_name(token), token->name_bytes) == r->region_number;
        if (own) {
            end_region(r, token->raw + token->bytes);
            return;
        }
        copy_region(r, token->raw);
    }
    add_end(r, token);
    if (!translate) end_block(r);
}

/* ---- rows --------------------------------------------------------------------------------------- */

/* Looks for a row where a block may begin. Tokens that were looked at are not looked at again, whatever ends the block.
 */
static void look_for_row(reader *r, const ganz_html_token *token)
{
    const size_t begin = (size_t)(token->raw - r->scan.data);
    const ganz_html_open *const around = ganz_html_innermost(&r->tree);
    ganz_html_scan scan = r->scan;
    if (begin < r->row.end) return;
    if (r->row.depth >= 0 && !r->region) end_block(r);
    r->row.depth = -1;
    if (r->in_block || r->region || !around->translate || around->keeps) return;
    scan.at = begin;
    r->row = ganz_html_find_row(scan, r->tree.xml, around->element->group == GANZ_HTML_HEADING);
    r->level = 0;
}

/* A text between the items: its signs are copied, and its words are an item, too. */
static void read_between(reader *r, const ganz_html_token *token)
{
    ganz_row_text cut;
    ganz_row_cut(token->raw, token->bytes, false, &cut);
    ganz_skeleton_copy(r->out, token->raw, cut.begin);
    if (cut.begin < cut.end) add_text(r, token->raw + cut.begin, cut.end - cut.begin);
    end_block(r);
    ganz_skeleton_copy(r->out, token->raw + cut.end, token->bytes - cut.end);
}

static bool opens(const reader *r, const ganz_html_token *token)
{
    const unsigned flags = ganz_html_find(ganz_html_name(token), token->name_bytes)->flags;
    return !(flags & GANZ_HTML_VOID) && !(token->self_closing && r->tree.xml);
}

/* Follows the tokens of a row: behind each item its block ends. A region counts as one element. */
static void follow_row(reader *r, const ganz_html_token *token, bool in_region)
{
    if (r->row.depth < 0 || r->region) {
        r->level += r->row.depth >= 0 && !in_region && token->kind == GANZ_HTML_START;
        return;
    }
    if (token->kind == GANZ_HTML_START && opens(r, token)) r->level++;
    if (token->kind == GANZ_HTML_END) r->level--;
    if (r->level <= r->row.depth) end_block(r);
}

/* ---- the page ----------------------------------------------------------------------------------- */

/* False when memory is out. */
static bool read_token(reader *r, ganz_html_token *token)
{
    look_for_row(r, token);
    const bool between = r->row.depth >= 0 && r->level == r->row.depth && !r->region && !r->in_block;
    const bool in_region = r->region != NULL;
    bool memory = true;
    switch (token->kind) {
    case GANZ_HTML_TEXT:
        if (between && ganz_html_innermost(&r->tree)->translate) read_between(r, token);
        else read_text(r, token);
        break;
    case GANZ_HTML_START: memory = read_start(r, token); break;
    case GANZ_HTML_END: read_end(r, token); break;
    case GANZ_HTML_COMMENT: read_comment(r, token); break;
    }
    if (memory) follow_row(r, token, in_region);
    return memory;
}

static void read_tokens(reader *r)
{
    ganz_html_token token;
    bool memory = true;
    while (memory && (r->scan.foreign = r->tree.xml || ganz_html_foreign(&r->tree), ganz_html_next(&r->scan, &token)))
        memory = read_token(r, &token);
    if (r->region) copy_region(r, r->scan.data + r->scan.bytes);
    end_block(r);
    if (!memory) ganz_skeleton_fail(r->out, GANZ_ENOMEM, "out of memory for the elements of a page");
}

ganz_status ganz_html_read(ganz_skeleton *skeleton, const char *bytes, size_t count, const ganz_format_options *options,
                           ganz_error *err)
{
    const size_t bom = count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    reader r = {.out = skeleton, .scan = ganz_html_scan_over(bytes, count), .attributes = options->attributes};
    r.row.depth = -1;
    r.charset = ganz_html_charset_of(bytes, count);
    r.tree.source = options->source_language;
    r.tree.target = options->target_language;
    r.tree.xml = count - bom > 5 && memcmp(bytes + bom, "<?xml", 5) == 0;
    ganz_skeleton_copy(skeleton, bytes, bom);
    r.scan.at = bom;
    read_tokens(&r);
    ganz_html_tree_close(&r.tree);
    return ganz_skeleton_status(skeleton, err);
}
