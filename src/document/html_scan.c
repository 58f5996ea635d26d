/* The tokenizer. Every search for an end (of a comment, a quoted value, a raw text) that fails takes the rest of the
 * input with it, as the standard says, so that no byte is searched twice; only "?>" and "%>" are remembered as missing,
 * and in tags not looked for far away.
 */
#include <string.h>

#include "document/html_scan.h"

ganz_html_scan ganz_html_scan_over(const char *data, size_t bytes)
{
    const ganz_html_scan scan = {.data = data, .bytes = bytes, .no_php = bytes, .no_asp = bytes};
    return scan;
}

bool ganz_html_is(const char *text, size_t bytes, const char *word)
{
    for (size_t i = 0; i < bytes; i++)
        if (word[i] == '\0' || ganz_ascii_lower(text[i]) != word[i]) return false;
    return word[bytes] == '\0';
}

static bool begins(const char *text, size_t bytes, const char *with)
{
    const size_t need = strlen(with);
    return bytes >= need && memcmp(text, with, need) == 0;
}

static size_t skip_space(const char *text, size_t at, size_t bytes)
{
    while (at < bytes && ganz_html_space(text[at])) at++;
    return at;
}

/* ---- attributes --------------------------------------------------------------------------------- */

enum { LONGEST_OUTPUT = 256 /* bytes: of a program within a tag */ };

/* The place behind what is at text[at]: a character, or a program that a server runs there, <?= $name ?>, <% x %>. */
static size_t behind_part(const char *text, size_t at, size_t bytes)
{
    const size_t last = bytes - at > LONGEST_OUTPUT ? at + LONGEST_OUTPUT : bytes;
    if (text[at] != '<' || last - at < 4 || (text[at + 1] != '?' && text[at + 1] != '%')) return at + 1;
    for (size_t i = at + 2; i + 1 < last; i++)
        if (text[i] == text[at + 1] && text[i + 1] == '>') return i + 2;
    return at + 1;
}

/* The value behind the "=" at text[at]; returns the place after it, or `bytes` + 1 when its quote is never closed. */
static size_t scan_value(const char *text, size_t at, size_t bytes, ganz_html_attribute *a)
{
    at = skip_space(text, at + 1, bytes);
    if (at >= bytes) return bytes + 1;
    if (text[at] == '"' || text[at] == '\'') {
        size_t close = at + 1;
        while (close < bytes && text[close] != text[at]) close = behind_part(text, close, bytes);
        if (close >= bytes) return bytes + 1;
        a->quote = text[at];
        a->value = text + at + 1;
        a->value_bytes = close - at - 1;
        return close + 1;
    }
    const size_t from = at;
    while (at < bytes && !ganz_html_space(text[at]) && text[at] != '>') at = behind_part(text, at, bytes);
    a->value = text + from;
    a->value_bytes = at - from;
    return at;
}

/* One attribute at or after text[at]; at the end of the tag it has no name. */
static size_t scan_attribute(const char *text, size_t at, size_t bytes, ganz_html_attribute *a)
{
    *a = (ganz_html_attribute){0};
    while (at < bytes && (ganz_html_space(text[at]) || text[at] == '/')) at++;
    if (at >= bytes || text[at] == '>') return at;
    const size_t from = at;
    at = behind_part(text, at, bytes); /* also a "=" */
    while (at < bytes && !ganz_html_space(text[at]) && text[at] != '/' && text[at] != '>' && text[at] != '=')
        at = behind_part(text, at, bytes);
    a->name = text + from;
    a->name_bytes = at - from;
    const size_t next = skip_space(text, at, bytes);
    return next < bytes && text[next] == '=' ? scan_value(text, next, bytes, a) : at;
}

bool ganz_html_attribute_next(const ganz_html_token *token, size_t *at, ganz_html_attribute *attribute)
{
    const size_t from = *at > 0 ? *at : 1 + token->name_bytes;
    *at = scan_attribute(token->raw, from, token->bytes, attribute);
    return attribute->name != NULL;
}

/* ---- tags and comments -------------------------------------------------------------------------- */

/* Length of the tag at text[0], whose name begins at `name`; 0: it never ends. */
static size_t scan_tag(const char *text, size_t name, size_t bytes, ganz_html_token *token)
{
    size_t at = name;
    while (at < bytes && !ganz_html_space(text[at]) && text[at] != '/' && text[at] != '>') at++;
    token->name_bytes = at - name;
    size_t before = at;
    for (ganz_html_attribute a = {.name = text}; a.name && at <= bytes;) {
        before = at;
        at = scan_attribute(text, at, bytes, &a);
    }
    if (at >= bytes) return 0;
    token->self_closing = at > before && text[at - 1] == '/'; /* not that of <a href=/> */
    return at + 1;
}

/* The place behind `end` at or after text[from], or `bytes`. */
static size_t behind(const char *text, size_t from, size_t bytes, const char *end)
{
    const size_t need = strlen(end);
    for (const char *hit; from < bytes && (hit = memchr(text + from, end[0], bytes - from)); from++) {
        from = (size_t)(hit - text);
        if (begins(hit, bytes - from, end)) return from + need;
    }
    return bytes;
}

static size_t scan_comment(const char *text, size_t bytes)
{
    const char *const content = text + 4, *const end = text + bytes;
    if (content < end && content[0] == '>') return 5;
    if (begins(content, bytes - 4, "->")) return 6;
    for (const char *hit = content; hit < end && (hit = memchr(hit, '>', (size_t)(end - hit))); hit++) {
        const size_t before = (size_t)(hit - content);
        if (before >= 2 && memcmp(hit - 2, "--", 2) == 0) return (size_t)(hit - text) + 1;
        if (before >= 3 && memcmp(hit - 3, "--!", 3) == 0) return (size_t)(hit - text) + 1;
    }
    return bytes;
}

/* <?php ... ?> and <% ... %>: 0 when there is no end. */
static size_t scan_program(const ganz_html_scan *scan, const char *end, size_t *missing)
{
    const char *const text = scan->data + scan->at;
    if (scan->at >= *missing) return 0;
    const size_t bytes = scan->bytes - scan->at, length = behind(text, 2, bytes, end);
    const bool found = length >= 4 && memcmp(text + length - 2, end, 2) == 0;
    if (!found) *missing = scan->at;
    return found ? length : 0;
}

static size_t scan_declaration(const ganz_html_scan *scan, const char *text, size_t bytes)
{
    if (begins(text, bytes, "<!--")) return scan_comment(text, bytes);
    if (scan->foreign && begins(text, bytes, "<![CDATA[")) return behind(text, 9, bytes, "]]>");
    return behind(text, 2, bytes, ">");
}

/* Length of what begins with the "<" at the scan's place; 0: nothing but that character. */
static size_t scan_markup(ganz_html_scan *scan, ganz_html_token *token)
{
    const char *const text = scan->data + scan->at;
    const size_t bytes = scan->bytes - scan->at;
    const char next = bytes > 1 ? text[1] : ' ', second = bytes > 2 ? text[2] : ' ';
    *token = (ganz_html_token){.kind = GANZ_HTML_COMMENT, .raw = text};
    if (ganz_ascii_letter(next) || (next == '/' && ganz_ascii_letter(second))) {
        const size_t length = scan_tag(text, next == '/' ? 2 : 1, bytes, token);
        if (length > 0) token->kind = next == '/' ? GANZ_HTML_END : GANZ_HTML_START;
        return length > 0 ? length : bytes;
    }
    if (next == '!') return scan_declaration(scan, text, bytes);
    if (next == '%') return scan_program(scan, "%>", &scan->no_asp);
    if (next == '/' && bytes > 2) return behind(text, 2, bytes, ">");
    if (next != '?') return 0;
    const bool php = begins(text, bytes, "<?php") || begins(text, bytes, "<?=");
    const size_t program = php ? scan_program(scan, "?>", &scan->no_php) : 0;
    return program > 0 ? program : behind(text, 2, bytes, ">");
}

bool ganz_html_next(ganz_html_scan *scan, ganz_html_token *token)
{
    const size_t from = scan->at;
    if (from >= scan->bytes) return false;
    while (scan->at < scan->bytes) {
        const char *const hit = memchr(scan->data + scan->at, '<', scan->bytes - scan->at);
        scan->at = hit ? (size_t)(hit - scan->data) : scan->bytes;
        if (!hit) break;
        const size_t length = scan_markup(scan, token);
        if (length > 0 && scan->at == from) {
            token->bytes = length;
            scan->at += length;
            return true;
        }
        if (length > 0) break;
        scan->at++;
    }
    *token = (ganz_html_token){.kind = GANZ_HTML_TEXT, .raw = scan->data + from, .bytes = scan->at - from};
    return true;
}

/* ---- content that is not markup ----------------------------------------------------------------- */

/* True if a tag of this name begins at text[0]: its name ends where the word does. */
static bool tag_named(const char *text, size_t bytes, const char *open, const char *name)
{
    const size_t before = strlen(open), need = before + strlen(name);
    if (bytes <= need || memcmp(text, open, before) != 0 || !ganz_html_is(text + before, need - before, name))
        return false;
    return ganz_html_space(text[need]) || text[need] == '/' || text[need] == '>';
}

/* "<!--" in a script hides one script element: <script><!-- <script></script> --></script>. */
enum hiding { PLAIN, ESCAPED, DOUBLE };

static enum hiding hidden_by(const char *text, size_t bytes, enum hiding now)
{
    if (text[0] == '-') return begins(text, bytes, "-->") ? PLAIN : now;
    if (begins(text, bytes, "<!--")) return now == PLAIN ? ESCAPED : now;
    if (now == ESCAPED && tag_named(text, bytes, "<", "script")) return DOUBLE;
    return now == DOUBLE && tag_named(text, bytes, "</", "script") ? ESCAPED : now;
}

static size_t script_bytes(const char *text, size_t bytes)
{
    enum hiding hiding = PLAIN;
    for (size_t at = 0; at < bytes; at++) {
        if (text[at] != '<' && text[at] != '-') continue;
        if (hiding != DOUBLE && tag_named(text + at, bytes - at, "</", "script")) return at;
        hiding = hidden_by(text + at, bytes - at, hiding);
    }
    return bytes;
}

static size_t raw_bytes(const char *text, size_t bytes, const char *name)
{
    for (size_t at = 0; at < bytes; at++) {
        const char *const hit = memchr(text + at, '<', bytes - at);
        if (!hit) return bytes;
        at = (size_t)(hit - text);
        if (tag_named(hit, bytes - at, "</", name)) return at;
    }
    return bytes;
}

void ganz_html_raw_text(ganz_html_scan *scan, const char *name, ganz_html_token *token)
{
    const char *const text = scan->data + scan->at;
    const size_t bytes = scan->bytes - scan->at;
    const size_t length = strcmp(name, "script") == 0 ? script_bytes(text, bytes) : raw_bytes(text, bytes, name);
    *token = (ganz_html_token){.kind = GANZ_HTML_TEXT, .raw = text, .bytes = length};
    scan->at += length;
}
