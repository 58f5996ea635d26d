/* Java's .properties: values are blocks; keys, comments and the newlines inside of values are copied. */
#include <string.h>

#include "base/utf8.h"
#include "document/format.h"
#include "document/message.h"
#include "document/xml_tree.h" /* ganz_xml_character */
#include "text/tokenizer.h"

typedef struct reader {
    ganz_skeleton *skeleton;
    const char *text;
    size_t bytes, done;
    bool utf8; /* there are bytes above 0x7F, and they are UTF-8: characters are written as they are; else as numbers */
} reader;

/* ---- characters --------------------------------------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\f'; }
static bool is_newline(char c) { return c == '\n' || c == '\r'; }

/* Bytes of "\", a newline and the white space that begins the next line; 0: no value goes on here. */
static size_t continuation(const char *raw, size_t bytes)
{
    if (bytes < 2 || raw[0] != '\\' || !is_newline(raw[1])) return 0;
    size_t n = raw[1] == '\r' && bytes > 2 && raw[2] == '\n' ? 3 : 2;
    while (n < bytes && is_space(raw[n])) n++;
    return n;
}

static size_t step_plain(const char *raw, size_t bytes, int32_t *code)
{
    const int n = ganz_utf8_decode(raw, bytes, code);
    if (n > 0) return (size_t)n;
    *code = (unsigned char)raw[0]; /* ISO 8859-1, since the file is not UTF-8 */
    return 1;
}

static size_t step(const char *raw, size_t bytes, int32_t *code)
{
    static const char letters[] = "tnrf", meanings[] = "\t\n\r\f";
    if (raw[0] != '\\') return step_plain(raw, bytes, code);
    *code = -1;
    size_t joined = 0, more;
    while (joined < bytes && (more = continuation(raw + joined, bytes - joined)) > 0) joined += more;
    if (joined == bytes) return joined;
    if (joined > 0) return joined + step(raw + joined, bytes - joined, code); /* leaves with the character behind it */
    if (bytes < 2) return 1;
    const char *const letter = raw[1] != '\0' ? strchr(letters, raw[1]) : NULL;
    if (letter) return *code = (unsigned char)meanings[letter - letters], 2;
    const int32_t unit = raw[1] == 'u' ? ganz_message_hex(raw + 2, bytes - 2) : -1;
    if (raw[1] == 'u' && unit < 0) return 2;
    if (unit < 0) return 1 + step_plain(raw + 1, bytes - 1, code);
    const int32_t low = unit >= 0xD800 && unit < 0xDC00 && bytes >= 12 && raw[6] == '\\' && raw[7] == 'u'
                            ? ganz_message_hex(raw + 8, 4)
                            : -1;
    if (low >= 0xDC00 && low < 0xE000) return *code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), 12;
    if (unit < 0xD800 || unit >= 0xE000) *code = unit;
    return 6;
}

/* In messages with {0} an apostrophe is written twice. */
static size_t step_message(const char *raw, size_t bytes, int32_t *code)
{
    if (bytes > 1 && raw[0] == '\'' && raw[1] == '\'') return *code = '\'', 2;
    return step(raw, bytes, code);
}

static bool escape_character(ganz_text *out, int32_t code, const char *raw, size_t bytes, bool utf8)
{
    switch (code) {
    case '\\': return ganz_text_append(out, "\\\\", 2);
    case '\n': return ganz_text_append(out, "\\n", 2);
    case '\t': return ganz_text_append(out, "\\t", 2);
    default:
        return (code < 0x80 && code >= 0x20) || (utf8 && code >= 0x80) ? ganz_text_append(out, raw, bytes)
                                                                       : ganz_message_escape_code(out, code);
    }
}

static bool escape_all(ganz_text *out, const char *text, size_t bytes, bool utf8, bool message)
{
    bool good = true;
    for (size_t i = 0; i < bytes && good;) {
        int32_t code;
        int n = ganz_utf8_decode(text + i, bytes - i, &code);
        if (n == 0) n = 1, code = (unsigned char)text[i];
        if (code == '\'' && message) good = ganz_text_append(out, "'", 1);
        good = good && escape_character(out, code, text + i, (size_t)n, utf8);
        i += (size_t)n;
    }
    return good;
}

static bool escape_ascii(ganz_text *out, const char *text, size_t bytes)
{
    return escape_all(out, text, bytes, false, false);
}
static bool escape_utf8(ganz_text *out, const char *text, size_t bytes)
{
    return escape_all(out, text, bytes, true, false);
}
static bool escape_ascii_message(ganz_text *out, const char *text, size_t bytes)
{
    return escape_all(out, text, bytes, false, true);
}
static bool escape_utf8_message(ganz_text *out, const char *text, size_t bytes)
{
    return escape_all(out, text, bytes, true, true);
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* End of the line that begins at `at`, with the lines that it goes on in. */
static size_t logical_end(const reader *r, size_t at)
{
    while (at < r->bytes && !is_newline(r->text[at])) {
        const size_t joined = continuation(r->text + at, r->bytes - at);
        at += joined > 0 ? joined : r->text[at] == '\\' && at + 1 < r->bytes ? 2 : 1;
    }
    return at;
}

static size_t natural_end(const reader *r, size_t at)
{
    while (at < r->bytes && !is_newline(r->text[at])) at++;
    return at;
}

/* The value begins behind the key, white space, and "=" or ":" if there is one. */
static size_t value_begin(const reader *r, size_t at, size_t end)
{
    while (at < end && !is_space(r->text[at]) && r->text[at] != '=' && r->text[at] != ':') {
        const size_t joined = continuation(r->text + at, end - at);
        at += joined > 0 ? joined : r->text[at] == '\\' && at + 1 < end ? 2 : 1;
    }
    while (at < end && is_space(r->text[at])) at++;
    if (at < end && (r->text[at] == '=' || r->text[at] == ':')) at++;
    for (;;) {
        const size_t joined = at < end ? continuation(r->text + at, end - at) : 0;
        if (joined == 0 && (at >= end || !is_space(r->text[at]))) return at;
        at += joined > 0 ? joined : 1;
    }
}

/* "{0}": java.text.MessageFormat. */
static bool is_message(const char *text, size_t bytes)
{
    for (size_t i = 0; i + 2 < bytes; i++)
        if (text[i] == '{' && text[i + 1] >= '0' && text[i + 1] <= '9' && (text[i + 2] == '}' || text[i + 2] == ','))
            return true;
    return false;
}

static void put_value(reader *r, size_t begin, size_t end)
{
    const bool message = is_message(r->text + begin, end - begin);
    ganz_block_style style = {.breaks = GANZ_BREAK_LINES, .between = "\\n"};
    if (message) style.escape = r->utf8 ? escape_utf8_message : escape_ascii_message;
    else style.escape = r->utf8 ? escape_utf8 : escape_ascii;
    ganz_skeleton_copy(r->skeleton, r->text + r->done, begin - r->done);
    ganz_message_put(r->skeleton, r->text + begin, end - begin, message ? step_message : step, &style);
    r->done = end;
}

static ganz_status read_properties(ganz_skeleton *s, const char *bytes, size_t count,
                                   const ganz_format_options *options, ganz_error *err)
{
    (void)options;
    reader r = {.skeleton = s, .text = bytes, .bytes = count};
    const bool valid = ganz_utf8_valid(bytes, count);
    for (size_t i = 0; i < count && valid; i++) r.utf8 |= (unsigned char)bytes[i] >= 0x80;
    size_t at = count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < count) {
        while (at < count && (is_space(bytes[at]) || is_newline(bytes[at]))) at++;
        const bool comment = at < count && (bytes[at] == '#' || bytes[at] == '!');
        const size_t end = comment ? natural_end(&r, at) : logical_end(&r, at);
        const size_t begin = comment ? end : value_begin(&r, at, end);
        if (begin < end) put_value(&r, begin, end);
        at = end;
    }
    if (count > r.done) ganz_skeleton_copy(s, bytes + r.done, count - r.done);
    return ganz_skeleton_status(s, err);
}

const ganz_format ganz_format_properties = {.name = "properties", .suffixes = "properties", .read = read_properties};
