/* Links of Markdown. Nothing here looks further than one address, one title or 1,000 bytes of a label. */
#include "document/markdown_link.h"

#include <string.h>
#include <utf8proc.h>

#include "base/io.h"
#include "base/utf8.h"
#include "document/markdown_line.h"

enum { LABEL_BYTES = 1000, PARENTHESES = 32 };

static bool is_space(char c) { return ganz_md_space(c) || c == '\n'; }

static size_t skip_space(const char *text, size_t at, size_t bytes)
{
    while (at < bytes && is_space(text[at])) at++;
    return at;
}

static bool escapes(const char *text, size_t at, size_t bytes)
{
    return text[at] == '\\' && at + 1 < bytes && ganz_md_punctuation(text[at + 1]);
}

/* ---- targets ------------------------------------------------------------------------------------ */

/* The place behind an address; 0: there is none. */
static size_t bracketed_end(const char *text, size_t at, size_t bytes)
{
    for (at++; at < bytes && text[at] != '\n' && text[at] != '<'; at++) {
        if (text[at] == '>') return at + 1;
        if (escapes(text, at, bytes)) at++;
    }
    return 0;
}

static size_t address_end(const char *text, size_t at, size_t bytes)
{
    int depth = 0;
    if (at < bytes && text[at] == '<') return bracketed_end(text, at, bytes);
    for (; at < bytes && (unsigned char)text[at] > ' ' && text[at] != 0x7F; at++) {
        if (escapes(text, at, bytes)) at++;
        else if (text[at] == '(' && ++depth > PARENTHESES) return 0;
        else if (text[at] == ')' && depth-- == 0) break;
    }
    return depth > 0 ? 0 : at;
}

/* The place behind a title, which begins with its quote; 0: it never ends. */
static size_t title_end(const char *text, size_t at, size_t bytes)
{
    const char open = text[at], close = open == '(' ? ')' : open;
    for (at++; at < bytes; at++) {
        if (escapes(text, at, bytes)) at++;
        else if (text[at] == close) return at + 1;
        else if (text[at] == '(' && open == '(') return 0;
        else if (text[at] == '\n' && at + 1 < bytes && text[at + 1] == '\n') return 0;
    }
    return 0;
}

static bool begins_title(const char *text, size_t at, size_t bytes)
{
    return at < bytes && (text[at] == '"' || text[at] == '\'' || text[at] == '(');
}

bool ganz_md_link_target(const char *text, size_t at, size_t bytes, ganz_md_target *target)
{
    if (at >= bytes || text[at] != '(') return false;
    const size_t begin = skip_space(text, at + 1, bytes), end = address_end(text, begin, bytes);
    if (end == 0) return false;
    size_t next = skip_space(text, end, bytes);
    *target = (ganz_md_target){0};
    if (next > end && begins_title(text, next, bytes)) {
        const size_t behind = title_end(text, next, bytes);
        if (behind == 0) return false;
        *target = (ganz_md_target){.title_begin = next + 1, .title_end = behind - 1, .quote = text[next]};
        next = skip_space(text, behind, bytes);
    }
    target->end = next + 1;
    return next < bytes && text[next] == ')';
}

/* ---- labels ------------------------------------------------------------------------------------- */

size_t ganz_md_label_length(const char *text, size_t at, size_t bytes)
{
    bool blank = true;
    if (at >= bytes || text[at] != '[') return 0;
    for (size_t i = at + 1; i < bytes && i - at <= LABEL_BYTES; i++) {
        if (text[i] == ']') return blank ? 0 : i + 1 - at;
        if (text[i] == '[') return 0;
        blank = blank && is_space(text[i]);
        if (escapes(text, i, bytes)) i++;
    }
    return 0;
}

/* A checksum of the label in small letters with single spaces; never 0. */
static uint64_t label_checksum(const char *label, size_t bytes)
{
    char normal[2 * LABEL_BYTES + 8];
    size_t length = 0;
    for (size_t at = 0; at < bytes && length < 2 * LABEL_BYTES;) {
        int32_t code = ' ';
        const int step = ganz_utf8_decode(label + at, bytes - at, &code);
        if (step == 0) code = (unsigned char)label[at];
        at += step > 0 ? (size_t)step : 1;
        if (code < 0x80 && is_space((char)code)) code = ' ';
        if (code == ' ' && (length == 0 || normal[length - 1] == ' ')) continue;
        length += (size_t)ganz_utf8_encode(utf8proc_tolower(code), normal + length);
    }
    if (length > 0 && normal[length - 1] == ' ') length--;
    const uint64_t sum = ganz_checksum(normal, length);
    return sum ? sum : 1;
}

/* The slot that holds the sum, or the free one where it belongs; capacity is a power of two. */
static size_t find_slot(const ganz_md_labels *l, uint64_t sum)
{
    size_t slot = (size_t)sum & (l->capacity - 1);
    while (l->slots[slot] != 0 && l->slots[slot] != sum) slot = (slot + 1) & (l->capacity - 1);
    return slot;
}

static bool grow_labels(ganz_md_labels *l)
{
    ganz_md_labels more = {.capacity = l->capacity > 0 ? 2 * l->capacity : 64, .count = l->count};
    more.slots = ganz_alloc(more.capacity, sizeof *more.slots);
    if (!more.slots) return false;
    for (size_t i = 0; i < l->capacity; i++)
        if (l->slots[i] != 0) more.slots[find_slot(&more, l->slots[i])] = l->slots[i];
    ganz_free(l->slots);
    *l = more;
    return true;
}

bool ganz_md_labels_add(ganz_md_labels *l, const char *label, size_t bytes)
{
    if (2 * (l->count + 1) > l->capacity && !grow_labels(l)) return false;
    const uint64_t sum = label_checksum(label, bytes);
    const size_t slot = find_slot(l, sum);
    l->count += l->slots[slot] == 0;
    l->slots[slot] = sum;
    return true;
}

bool ganz_md_labels_have(const ganz_md_labels *l, const char *label, size_t bytes)
{
    const uint64_t sum = l->count > 0 ? label_checksum(label, bytes) : 0;
    return l->count > 0 && l->slots[find_slot(l, sum)] == sum;
}

/* ---- definitions -------------------------------------------------------------------------------- */

/* The place behind the end of the line, if there is nothing but white space before it; 0: there is something. */
static size_t line_end(const char *text, size_t at, size_t bytes)
{
    while (at < bytes && ganz_md_space(text[at])) at++;
    if (at == bytes) return bytes;
    return text[at] == '\n' ? at + 1 : 0;
}

size_t ganz_md_definition(const char *text, size_t bytes, const char **label, size_t *label_bytes)
{
    const size_t length = ganz_md_label_length(text, 0, bytes);
    if (length == 0 || length >= bytes || text[length] != ':') return 0;
    const size_t begin = skip_space(text, length + 1, bytes), end = address_end(text, begin, bytes);
    if (end <= begin) return 0;
    *label = text + 1;
    *label_bytes = length - 2;
    const size_t next = skip_space(text, end, bytes), alone = line_end(text, end, bytes);
    if (next == end || !begins_title(text, next, bytes)) return alone;
    const size_t behind = title_end(text, next, bytes), whole = behind > 0 ? line_end(text, behind, bytes) : 0;
    return whole > 0 ? whole : alone; /* the next line is no title after all */
}
