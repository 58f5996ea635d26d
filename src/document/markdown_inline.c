/* One pass over the text. Brackets wait on a stack for their partners, runs of "*" in a list (markdown_emphasis.c);
 * whatever has to be searched for further on and is not there is remembered as missing, so that the pass is linear. */
#include "document/markdown_inline.h"

#include <string.h>

#include "document/html_element.h"
#include "document/html_entity.h"
#include "document/html_scan.h"
#include "document/markdown_emphasis.h"
#include "document/markdown_html.h"
#include "document/markdown_line.h"
#include "document/markdown_link.h"
#include "document/markdown_word.h"
#include "document/raised.h"

enum { BACKTICKS = 64 /* longer runs are text */, VAIN_SEARCHES = 16 };

typedef struct bracket {
    uint32_t item; /* its "[" or "![" */
    int bottom;    /* last run of "*" before it */
    bool image;
    bool inner; /* another bracket was opened after it: its text is no label */
} bracket;

typedef struct scanner {
    ganz_md_inline *in;
    const char *text;
    size_t bytes, at, plain; /* from `plain` on nothing is in an item */
    const ganz_md_labels *labels;
    bracket *brackets;
    size_t bracket_count, bracket_capacity;
    size_t inactive; /* so many outer brackets are around a link, and cannot be links */
    ganz_md_delimiters runs;
    ganz_md_html_state html;
    ganz_md_word_state words;
    size_t last_ticks[BACKTICKS + 1]; /* last run of each length, once it is known */
    bool ticks_known;
    ganz_md_item nowhere; /* when memory is out */
    int vain;             /* searches for end tags that found none */
} scanner;

/* ---- items -------------------------------------------------------------------------------------- */

static ganz_md_item *add_item(scanner *s, ganz_md_kind kind, size_t begin, size_t end)
{
    ganz_md_inline *const in = s->in;
    if (!ganz_grow((void **)&in->items, &in->capacity, in->count + 1, sizeof *in->items)) {
        in->failed = true;
        s->at = s->bytes; /* ends the pass */
        return &s->nowhere;
    }
    in->items[in->count] = (ganz_md_item){.kind = (uint8_t)kind, .begin = (uint32_t)begin, .end = (uint32_t)end};
    return &in->items[in->count++];
}

/* An item of the next `length` bytes, after the text before it. */
static ganz_md_item *take(scanner *s, ganz_md_kind kind, size_t length)
{
    const size_t begin = s->at, end = begin + length;
    if (begin > s->plain) add_item(s, GANZ_MD_TEXT, s->plain, begin);
    s->at = s->plain = end;
    return add_item(s, kind, begin, end);
}

static void take_opaque(scanner *s, size_t length, size_t before, size_t behind)
{
    ganz_md_item *const item = take(s, GANZ_MD_OPAQUE, length);
    item->inner_begin = item->begin + (uint32_t)before;
    item->inner_end = item->end - (uint32_t)behind;
}

/* ---- characters and code ------------------------------------------------------------------------ */

static void read_backslash(scanner *s)
{
    const char next = s->at + 1 < s->bytes ? s->text[s->at + 1] : ' ';
    if (next == '\n') take(s, GANZ_MD_BREAK, 2);
    else if (ganz_md_punctuation(next)) take(s, GANZ_MD_CHARACTER, 2)->value = next;
    else s->at++;
}

static void read_reference(scanner *s)
{
    int32_t code;
    const size_t length = ganz_entity_decode(s->text + s->at, s->bytes - s->at, GANZ_ENTITY_STRICT, &code);
    if (length == 0) s->at++;
    else if (code >= 0) take(s, GANZ_MD_CHARACTER, length)->value = code;
    else take_opaque(s, length, length, 0);
}

static size_t ticks_at(const scanner *s, size_t at)
{
    const size_t from = at;
    while (at < s->bytes && s->text[at] == '`') at++;
    return at - from;
}

static void find_ticks(scanner *s)
{
    for (size_t at = s->at; at < s->bytes; at++) {
        const size_t length = ticks_at(s, at);
        if (length > 0 && length <= BACKTICKS) s->last_ticks[length] = at;
        at += length;
    }
    s->ticks_known = true;
}

/* Code, if the same number of backticks comes again. */
static void read_ticks(scanner *s)
{
    const size_t length = ticks_at(s, s->at);
    if (!s->ticks_known) find_ticks(s);
    if (length > BACKTICKS || s->last_ticks[length] <= s->at) {
        s->at += length;
        return;
    }
    size_t close = s->at + length, found;
    while (found = ticks_at(s, close), found != length) close += found > 0 ? found : 1;
    take_opaque(s, close + length - s->at, length, length);
}

static void read_run(scanner *s)
{
    size_t end = s->at;
    while (end < s->bytes && s->text[end] == s->text[s->at]) end++;
    if (!ganz_md_add_run(&s->runs, s->text, s->bytes, s->at, end)) s->in->failed = true;
    take(s, GANZ_MD_RUN, end - s->at);
}

/* ---- HTML --------------------------------------------------------------------------------------- */

/* The place behind the next end tag of this name; 0: there is none. */
static size_t behind_end_tag(scanner *s, size_t at, const char *name, size_t bytes)
{
    if (s->vain >= VAIN_SEARCHES) return 0;
    for (const char *hit; at < s->bytes && (hit = memchr(s->text + at, '<', s->bytes - at)); at++) {
        at = (size_t)(hit - s->text);
        if (s->bytes - at < bytes + 3 || hit[1] != '/' || ganz_ascii_alnum(hit[2 + bytes])) continue;
        bool same = true;
        for (size_t i = 0; i < bytes && same; i++) same = ganz_ascii_lower(hit[2 + i]) == ganz_ascii_lower(name[i]);
        const size_t length = same ? ganz_md_html_length(s->text, at, s->bytes, &s->html) : 0;
        if (length > 0) return at + length;
    }
    s->vain++;
    return 0;
}

static bool is_untranslated(const ganz_html_token *token, unsigned flags)
{
    ganz_html_attribute a;
    if (flags & (GANZ_HTML_OPAQUE | GANZ_HTML_RAW)) return true;
    for (size_t at = 0; ganz_html_attribute_next(token, &at, &a);)
        if (ganz_html_is(a.name, a.name_bytes, "translate") && ganz_html_is(a.value, a.value_bytes, "no")) return true;
    return false;
}

/* The place behind "30</sup>" at text[at]; 0: it is not that. */
static size_t behind_raised(const scanner *s, size_t at)
{
    const size_t begin = at, limit = s->bytes - at > GANZ_RAISED_BYTES ? at + GANZ_RAISED_BYTES : s->bytes;
    while (at < limit && s->text[at] != '<') at++;
    if (!ganz_raised_is_part(s->text + begin, at - begin)) return 0;
    const bool end = s->bytes - at >= 6 && s->text[at] == '<' && s->text[at + 1] == '/' && s->text[at + 5] == '>';
    return end && (ganz_html_is(s->text + at + 2, 3, "sup") || ganz_html_is(s->text + at + 2, 3, "sub")) ? at + 6 : 0;
}

static bool begins_raised(const scanner *s, size_t at)
{
    if (s->bytes - at < 5 || s->text[at] != '<' || s->text[at + 4] != '>') return false;
    return ganz_html_is(s->text + at + 1, 3, "sup") || ganz_html_is(s->text + at + 1, 3, "sub");
}

/* 2<sup>30</sup>, H<sub>2</sub>O: what touches a word and is at most one itself would become part of it. Alone it is
 * carried as it is, inside a word with the word. False: it is no such thing. */
static bool take_raised(scanner *s)
{
    size_t begin = s->at, end = s->at;
    bool inside = false;
    if (s->at == 0 || ganz_html_space(s->text[s->at - 1])) return false;
    while (begins_raised(s, end)) {
        const size_t behind = behind_raised(s, end + 5);
        if (behind == 0) break;
        const size_t word = ganz_raised_word_after(s->text + behind, s->bytes - behind);
        inside |= word > 0;
        end = behind + word;
    }
    if (end == s->at) return false;
    if (inside) begin -= ganz_raised_word_before(s->text + s->plain, begin - s->plain);
    s->at = begin;
    take_opaque(s, end - begin, end - begin, 0);
    return true;
}

static void take_start_tag(scanner *s, const ganz_html_token *token)
{
    const char *const name = ganz_html_name(token);
    const unsigned flags = ganz_html_find(name, token->name_bytes)->flags;
    const bool whole = (flags & GANZ_HTML_VOID) || token->self_closing;
    if (take_raised(s)) return;
    const bool untranslated = !whole && is_untranslated(token, flags);
    const size_t end = untranslated ? behind_end_tag(s, s->at + token->bytes, name, token->name_bytes) : 0;
    if (end > 0) {
        const char *const close = memchr(s->text + s->at + token->bytes, '<', end - s->at - token->bytes);
        take_opaque(s, end - s->at, token->bytes, (size_t)(s->text + end - close));
        return;
    }
    const bool line = ganz_html_is(name, token->name_bytes, "br");
    ganz_md_item *const item = take(s, line ? GANZ_MD_BREAK : whole ? GANZ_MD_EMPTY : GANZ_MD_OPEN, token->bytes);
    item->html = true;
    item->value = ganz_html_number(name, token->name_bytes);
}

static void take_html(scanner *s, size_t length)
{
    ganz_html_scan scan = ganz_html_scan_over(s->text + s->at, length);
    ganz_html_token token = {0};
    scan.foreign = true; /* CDATA ends at "]]>" */
    const bool whole = ganz_html_next(&scan, &token) && token.bytes == length;
    if (whole && token.kind == GANZ_HTML_START) {
        take_start_tag(s, &token);
    } else if (whole && token.kind == GANZ_HTML_END) {
        take(s, GANZ_MD_CLOSE, length)->value = ganz_html_number(ganz_html_name(&token), token.name_bytes);
    } else {
        take(s, GANZ_MD_EMPTY, length)->value = GANZ_MD_NOTHING;
    }
}

static void read_angle(scanner *s)
{
    const size_t link = ganz_md_autolink(s->text, s->at, s->bytes);
    const size_t html = link > 0 ? 0 : ganz_md_html_length(s->text, s->at, s->bytes, &s->html);
    if (link > 0) take_opaque(s, link, 1, 1);
    else if (html > 0) take_html(s, html);
    else s->at++;
}

/* ---- links -------------------------------------------------------------------------------------- */

static void push_bracket(scanner *s, bool image)
{
    const bracket new_one = {.item = 0, .bottom = s->runs.last, .image = image};
    if (s->bracket_count > 0) s->brackets[s->bracket_count - 1].inner = true;
    if (!ganz_grow((void **)&s->brackets, &s->bracket_capacity, s->bracket_count + 1, sizeof *s->brackets)) {
        s->in->failed = true;
        s->at = s->bytes;
        return;
    }
    s->brackets[s->bracket_count] = new_one;
    take(s, GANZ_MD_TEXT, image ? 2 : 1);
    s->brackets[s->bracket_count++].item = (uint32_t)s->in->count - 1;
}

static void read_open_bracket(scanner *s)
{
    const size_t note = ganz_md_note_length(s->text, s->at, s->bytes);
    const size_t page = note > 0 ? 0 : ganz_md_page_length(s->text, s->at, s->bytes);
    if (note > 0) take(s, GANZ_MD_EMPTY, note)->value = GANZ_MD_NOTHING;
    else if (page > 0 && !ganz_md_labels_have(s->labels, s->text + s->at + 2, page - 4)) take_opaque(s, page, 2, 2);
    else push_bracket(s, false);
}

/* What the "]" at the scanner's place ends with its target; false: it is only that character. */
static bool find_target(const scanner *s, const bracket *open, ganz_md_item *close)
{
    const size_t behind = s->at + 1, label = s->in->items[open->item].end, label_bytes = s->at - label;
    ganz_md_target target;
    *close = (ganz_md_item){.kind = GANZ_MD_CLOSE, .value = GANZ_MD_LINK, .begin = (uint32_t)s->at};
    if (ganz_md_link_target(s->text, behind, s->bytes, &target)) {
        close->end = (uint32_t)target.end;
        close->extra = target.quote;
        close->inner_begin = (uint32_t)target.title_begin;
        close->inner_end = (uint32_t)target.title_end;
        return true;
    }
    const size_t other = ganz_md_label_length(s->text, behind, s->bytes);
    if (other > 0) {
        close->end = (uint32_t)(behind + other);
        return ganz_md_labels_have(s->labels, s->text + behind + 1, other - 2);
    }
    const bool collapsed = behind + 1 < s->bytes && s->text[behind] == '[' && s->text[behind + 1] == ']';
    close->end = (uint32_t)(behind + (collapsed ? 2 : 0));
    close->extra = ']';
    close->inner_begin = (uint32_t)label;
    close->inner_end = (uint32_t)s->at;
    return !open->inner && ganz_md_label_length(s->text, label - 1, s->bytes) == label_bytes + 2 &&
           ganz_md_labels_have(s->labels, s->text + label, label_bytes);
}

static void take_link(scanner *s, const bracket *open, const ganz_md_item *close)
{
    *take(s, GANZ_MD_CLOSE, close->end - s->at) = *close;
    if (s->in->failed) return;
    ganz_md_item *const begin = &s->in->items[open->item], *const end = &s->in->items[s->in->count - 1];
    begin->kind = open->image ? GANZ_MD_IMAGE : GANZ_MD_OPEN;
    begin->value = open->image ? (int32_t)s->in->count - 1 : GANZ_MD_LINK;
    if (open->image) end->kind = GANZ_MD_IMAGE_END;
    ganz_md_pair_runs(&s->runs, open->bottom, s->in->marks);
    if (!open->image) s->inactive = s->bracket_count;
}

static void read_close_bracket(scanner *s)
{
    ganz_md_item close;
    if (s->bracket_count == 0) {
        s->at++;
        return;
    }
    const bracket open = s->brackets[--s->bracket_count];
    const bool active = open.image || s->bracket_count >= s->inactive;
    if (s->inactive > s->bracket_count) s->inactive = s->bracket_count;
    if (active && find_target(s, &open, &close)) take_link(s, &open, &close);
    else s->at++;
}

/* ---- the pass ----------------------------------------------------------------------------------- */

static void read_word(scanner *s)
{
    size_t before = 0, behind = 0;
    const size_t length = ganz_md_word_length(s->text, s->at, s->bytes, &s->words, &before, &behind);
    if (length > 0) take_opaque(s, length, before, behind);
    else s->at++;
}

static void read_character(scanner *s)
{
    switch (s->text[s->at]) {
    case '\n': take(s, GANZ_MD_SPACE, 1); break;
    case '\\': read_backslash(s); break;
    case '&': read_reference(s); break;
    case '`': read_ticks(s); break;
    case '*':
    case '_':
    case '~': read_run(s); break;
    case '<': read_angle(s); break;
    case '[': read_open_bracket(s); break;
    case ']': read_close_bracket(s); break;
    case '!':
        if (s->at + 1 < s->bytes && s->text[s->at + 1] == '[') push_bracket(s, true);
        else s->at++;
        break;
    default: read_word(s); break;
    }
}

void ganz_md_read_inline(ganz_md_inline *in, const char *text, size_t bytes, const ganz_md_labels *labels)
{
    scanner s = {.in = in, .text = text, .bytes = bytes, .labels = labels};
    in->text = text;
    in->bytes = bytes;
    in->count = 0;
    in->failed = bytes >= UINT32_MAX || !ganz_grow((void **)&in->marks, &in->mark_capacity, bytes + 1, 1);
    if (in->failed) return;
    memset(in->marks, 0, bytes);
    while (s.at < bytes && !in->failed) read_character(&s);
    if (!in->failed && s.plain < bytes) add_item(&s, GANZ_MD_TEXT, s.plain, bytes);
    if (!in->failed) ganz_md_pair_runs(&s.runs, 0, in->marks);
    ganz_md_delimiters_close(&s.runs);
    ganz_free(s.brackets);
}

void ganz_md_inline_close(ganz_md_inline *in)
{
    ganz_free(in->items);
    ganz_free(in->marks);
    *in = (ganz_md_inline){0};
}

size_t ganz_md_mark(const ganz_md_inline *in, size_t at, bool *opens, int *name)
{
    const uint8_t mark = in->marks[at];
    const bool twice = mark & GANZ_MD_MARK_DOUBLE;
    if (mark == 0) return 0;
    *opens = mark & GANZ_MD_MARK_OPENS;
    *name = GANZ_MD_EMPHASIS - 2 * in->text[at] - twice;
    return twice ? 2 : 1;
}
