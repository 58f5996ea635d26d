/* JSON and ARB: values that are strings are blocks, and everything else is copied. One pass with a stack of what is
 * open. */
#include <string.h>

#include "base/utf8.h"
#include "document/format.h"
#include "document/message.h"
#include "text/tokenizer.h"

enum { MOST_DEPTH = 512 };

typedef enum { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON, COMMA_OR_END, NOTHING } expected;

typedef struct reader {
    ganz_skeleton *skeleton;
    const char *text;
    size_t bytes, at, done;
    bool arb;
    ganz_block_style style;
    bool object[MOST_DEPTH]; /* else an array */
    int depth;
    int silent; /* values at this depth or deeper are not read; 0: all are. ARB: those of keys with "@" */
} reader;

static ganz_status fail(const reader *r, const char *sentence, ganz_error *err)
{
    size_t line = 1;
    for (size_t i = 0; i < r->at; i++) line += r->text[i] == '\n';
    return ganz_fail(err, GANZ_EFORMAT, "line %zu: %s", line, sentence);
}

/* ---- strings ------------------------------------------------------------------------------------ */

static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";

static size_t step(const char *raw, size_t bytes, int32_t *code)
{
    *code = -1;
    if (raw[0] != '\\' || bytes < 2) {
        const int n = ganz_utf8_decode(raw, bytes, code);
        return n > 0 ? (size_t)n : 1;
    }
    const char *const letter = strchr(letters, raw[1]);
    if (letter && raw[1] != '\0') return *code = (unsigned char)meanings[letter - letters], 2;
    const int32_t unit = bytes >= 6 && raw[1] == 'u' ? ganz_message_hex(raw + 2, 4) : -1;
    if (unit < 0) return 2; /* was refused before */
    const bool high = unit >= 0xD800 && unit < 0xDC00;
    const int32_t low = high && bytes >= 12 && raw[6] == '\\' && raw[7] == 'u' ? ganz_message_hex(raw + 8, 4) : -1;
    if (low >= 0xDC00 && low < 0xE000) return *code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), 12;
    if (unit < 0xD800 || unit >= 0xE000) *code = unit;
    return 6;
}

static bool escape_byte(ganz_text *out, char c)
{
    const char *const meaning = c != '\0' ? strchr(meanings, c) : NULL;
    if (!meaning || c == '/') return ganz_message_escape_code(out, (unsigned char)c);
    return ganz_text_append(out, "\\", 1) && ganz_text_append(out, letters + (meaning - meanings), 1);
}

static bool escape(ganz_text *out, const char *text, size_t bytes)
{
    bool good = true;
    for (size_t i = 0; i < bytes && good; i++) {
        const bool plain = (unsigned char)text[i] >= 0x20 && text[i] != '"' && text[i] != '\\';
        good = plain ? ganz_text_append(out, text + i, 1) : escape_byte(out, text[i]);
    }
    return good;
}

/* For files that have no other characters than those of ASCII. */
static bool escape_ascii(ganz_text *out, const char *text, size_t bytes)
{
    bool good = true;
    for (size_t i = 0; i < bytes && good;) {
        int32_t code;
        const int n = ganz_utf8_decode(text + i, bytes - i, &code);
        good = n > 1 ? ganz_message_escape_code(out, code) : escape(out, text + i, 1);
        i += n > 1 ? (size_t)n : 1;
    }
    return good;
}

/* Passes over the string at "; *end is its last quote. */
static ganz_status scan_string(reader *r, size_t *end, ganz_error *err)
{
    for (r->at++; r->at < r->bytes && r->text[r->at] != '"'; r->at++) {
        const unsigned char c = (unsigned char)r->text[r->at];
        if (c < 0x20) return fail(r, "a string has no end, or a control character in it", err);
        if (c != '\\') continue;
        if (++r->at >= r->bytes) break;
        const char letter = r->text[r->at];
        const bool known = letter == 'u' ? ganz_message_hex(r->text + r->at + 1, r->bytes - r->at - 1) >= 0
                                         : letter != '\0' && strchr(letters, letter);
        if (!known) return fail(r, "a backslash in a string is followed by something that JSON does not know", err);
    }
    if (r->at >= r->bytes) return fail(r, "a string has no end", err);
    *end = r->at++;
    return GANZ_OK;
}

static ganz_status read_string(reader *r, ganz_error *err)
{
    const size_t begin = r->at + 1;
    size_t end;
    GANZ_TRY(scan_string(r, &end, err));
    if (r->silent > 0) return GANZ_OK;
    ganz_skeleton_copy(r->skeleton, r->text + r->done, begin - r->done);
    ganz_message_put(r->skeleton, r->text + begin, end - begin, step, &r->style);
    r->done = end;
    return GANZ_OK;
}

/* ---- structure ---------------------------------------------------------------------------------- */

static void skip_space(reader *r)
{
    while (r->at < r->bytes && memchr(" \t\r\n", r->text[r->at], 4)) r->at++;
}

/* Numbers, true, false, null: copied. Their letters are looked at, their order is not. */
static ganz_status read_word(reader *r, ganz_error *err)
{
    const size_t begin = r->at;
    while (r->at < r->bytes && r->text[r->at] != '\0' && strchr("+-.0123456789eEtrufalsn", r->text[r->at])) r->at++;
    return r->at > begin ? GANZ_OK : fail(r, "a value is missing", err);
}

static ganz_status open_value(reader *r, expected *next, ganz_error *err)
{
    if (r->depth == MOST_DEPTH) return fail(r, "values are nested over 512 deep", err);
    const bool object = r->text[r->at] == '{';
    r->object[r->depth++] = object;
    r->at++;
    *next = object ? KEY_OR_END : VALUE_OR_END;
    return GANZ_OK;
}

static expected after_value(reader *r)
{
    if (r->silent > r->depth) r->silent = 0;
    return r->depth > 0 ? COMMA_OR_END : NOTHING;
}

static ganz_status close_value(reader *r, expected *next, ganz_error *err)
{
    if (r->text[r->at] != (r->object[r->depth - 1] ? '}' : ']')) return fail(r, "brackets do not match", err);
    r->depth--;
    r->at++;
    *next = after_value(r);
    return GANZ_OK;
}

static ganz_status read_value(reader *r, expected *next, ganz_error *err)
{
    const char c = r->text[r->at];
    if (c == '{' || c == '[') return open_value(r, next, err);
    GANZ_TRY(c == '"' ? read_string(r, err) : read_word(r, err));
    *next = after_value(r);
    return GANZ_OK;
}

static ganz_status read_key(reader *r, ganz_error *err)
{
    size_t end;
    if (r->text[r->at] != '"') return fail(r, "a key in quotes is missing", err);
    const size_t begin = r->at + 1;
    GANZ_TRY(scan_string(r, &end, err));
    if (r->arb && r->silent == 0 && end > begin && r->text[begin] == '@') r->silent = r->depth + 1;
    return GANZ_OK;
}

static ganz_status read_next(reader *r, expected *next, ganz_error *err)
{
    const char c = r->text[r->at];
    switch (*next) {
    case VALUE_OR_END:
        if (c == ']') return close_value(r, next, err);
        return read_value(r, next, err);
    case VALUE: return read_value(r, next, err);
    case KEY_OR_END:
        if (c == '}') return close_value(r, next, err);
        *next = COLON;
        return read_key(r, err);
    case KEY: *next = COLON; return read_key(r, err);
    case COLON:
        if (c != ':') return fail(r, "a colon is missing after a key", err);
        *next = VALUE;
        r->at++;
        return GANZ_OK;
    case COMMA_OR_END:
        if (c != ',') return close_value(r, next, err);
        *next = r->object[r->depth - 1] ? KEY : VALUE;
        r->at++;
        return GANZ_OK;
    default: return fail(r, "something follows the end", err);
    }
}

static ganz_status read_all(reader *r, ganz_error *err)
{
    expected next = VALUE;
    if (r->bytes >= 3 && memcmp(r->text, "\xEF\xBB\xBF", 3) == 0) r->at = 3;
    for (skip_space(r); r->at < r->bytes; skip_space(r)) GANZ_TRY(read_next(r, &next, err));
    if (next != NOTHING) return fail(r, "the file ends inside a value", err);
    ganz_skeleton_copy(r->skeleton, r->text + r->done, r->bytes - r->done);
    return ganz_skeleton_status(r->skeleton, err);
}

/* ---- files -------------------------------------------------------------------------------------- */

static bool is_ascii(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((unsigned char)bytes[i] >= 0x80) return false;
    return true;
}

static bool has_escapes(const char *bytes, size_t count)
{
    const char *at = count > 0 ? memchr(bytes, '\\', count) : NULL;
    for (; at; at = memchr(at + 1, '\\', count - (size_t)(at + 1 - bytes))) {
        if ((size_t)(at + 1 - bytes) == count) return false;
        if (at[1] == 'u') return true;
    }
    return false;
}

static ganz_status read_file(ganz_skeleton *s, const char *bytes, size_t count, bool arb, ganz_error *err)
{
    reader r = {.skeleton = s, .text = bytes, .bytes = count, .arb = arb};
    const bool ascii = has_escapes(bytes, count) && is_ascii(bytes, count);
    r.style = (ganz_block_style){
        .breaks = GANZ_BREAK_LINES, .escape = ascii ? escape_ascii : escape, .between = "\\n", .escaped_tags = true};
    return read_all(&r, err);
}

static ganz_status read_json(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                             ganz_error *err)
{
    (void)options;
    return read_file(s, bytes, count, false, err);
}

static ganz_status read_arb(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                            ganz_error *err)
{
    (void)options;
    return read_file(s, bytes, count, true, err);
}

/* An object with a key, or an array that begins with one: "{" and "[" alone may be anything. */
static bool is_json(const char *bytes, size_t count)
{
    reader r = {.text = bytes, .bytes = count};
    skip_space(&r);
    while (r.at < count && bytes[r.at] == '[') {
        r.at++;
        skip_space(&r);
    }
    if (r.at >= count || bytes[r.at] != '{') return false;
    r.at++;
    skip_space(&r);
    size_t end;
    if (r.at >= count || bytes[r.at] != '"' || scan_string(&r, &end, NULL) != GANZ_OK) return false;
    skip_space(&r);
    return r.at < count && bytes[r.at] == ':';
}

const ganz_format ganz_format_json = {.name = "json", .suffixes = "json", .recognise = is_json, .read = read_json};
const ganz_format ganz_format_arb = {.name = "arb", .suffixes = "arb", .read = read_arb};
