/* Values that are messages: text between escapes, and the texts inside of ICU's choices. */
#include "document/message.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "document/xml_tree.h" /* ganz_xml_character */
#include "text/tokenizer.h"

enum { MOST_DEPTH = 16 }; /* of braces; deeper ones are copied */

/* ---- escapes ------------------------------------------------------------------------------------ */

int32_t ganz_message_hex(const char *digits, size_t bytes)
{
    int32_t code = 0;
    if (bytes < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const char c = digits[i];
        const int32_t digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                     : -1;
        if (digit < 0) return -1;
        code = code * 16 + digit;
    }
    return code;
}

bool ganz_message_escape_code(ganz_text *out, int32_t code)
{
    char text[16];
    int n;
    if (code < 0x10000) n = snprintf(text, sizeof text, "\\u%04x", (unsigned)code);
    else
        n = snprintf(text, sizeof text, "\\u%04x\\u%04x", (unsigned)(0xD800 + ((code - 0x10000) >> 10)),
                     (unsigned)(0xDC00 + ((code - 0x10000) & 0x3FF)));
    return ganz_text_append(out, text, (size_t)n);
}

/* ---- text --------------------------------------------------------------------------------------- */

/* A character is plain if it is written as it is. */
static bool is_plain(const char *raw, size_t taken, int32_t code)
{
    char utf8[4];
    return code >= 0 && ganz_utf8_encode(code, utf8) == (int)taken && memcmp(utf8, raw, taken) == 0;
}

void ganz_message_text(ganz_skeleton *s, const char *raw, size_t bytes, ganz_message_step *step)
{
    size_t begin = 0, at = 0;
    while (at < bytes) {
        int32_t code;
        size_t n;
        const size_t taken = step(raw + at, bytes - at, &code);
        if (!is_plain(raw + at, taken, code)) {
            if (at > begin) ganz_skeleton_text(s, raw + begin, at - begin, raw + begin, at - begin);
            const char *const text = code >= 0 ? ganz_xml_character(s, code, &n) : NULL;
            if (text) ganz_skeleton_text(s, text, n, raw + at, taken);
            else ganz_skeleton_mark(s, GANZ_MARK_EMPTY, 0, raw + at, taken);
            begin = at + taken;
        }
        at += taken;
    }
    if (at > begin) ganz_skeleton_text(s, raw + begin, at - begin, raw + begin, at - begin);
}

/* ---- choices ------------------------------------------------------------------------------------ */

static size_t skip_space(const char *raw, size_t bytes, size_t at)
{
    while (at < bytes && raw[at] == ' ') at++;
    return at;
}

static size_t skip_word(const char *raw, size_t bytes, size_t at)
{
    while (at < bytes && !memchr(" ,{}", raw[at], 4)) at++;
    return at;
}

typedef enum brace_kind { TEXT, PLACE, SELECT, PLURAL, ORDINAL } brace_kind;

static bool holds_choices(brace_kind kind) { return kind >= SELECT; }

/* At "{": bytes of "{name, plural," or the like; 0: no choice begins here. */
static size_t choice_bytes(const char *raw, size_t bytes, brace_kind *kind)
{
    static const struct {
        const char *word;
        brace_kind kind;
    } kinds[] = {{"plural", PLURAL}, {"select", SELECT}, {"selectordinal", ORDINAL}};
    size_t at = skip_word(raw, bytes, skip_space(raw, bytes, 1));
    at = skip_space(raw, bytes, at);
    if (at >= bytes || raw[at] != ',') return 0;
    at = skip_space(raw, bytes, at + 1);
    const size_t end = skip_word(raw, bytes, at), comma = skip_space(raw, bytes, end);
    if (comma >= bytes || raw[comma] != ',') return 0;
    for (size_t i = 0; i < GANZ_COUNT(kinds); i++) {
        if (strlen(kinds[i].word) != end - at || memcmp(kinds[i].word, raw + at, end - at) != 0) continue;
        *kind = kinds[i].kind;
        return comma + 1;
    }
    return 0;
}

/* A number as "#" may be in the text whose brace is at raw[brace], by the word before the brace: one that English and
 * German write in digits and that fits the noun (1 file, 53 files) or the ending (22nd). */
static const char *number_like(const char *raw, size_t brace, brace_kind kind)
{
    static const struct {
        const char *word, *plural, *ordinal;
    } likes[] = {{"one", "1", "21"}, {"=1", "1", "21"}, {"two", "53", "22"}, {"few", "53", "23"}};
    while (brace > 0 && raw[brace - 1] == ' ') brace--;
    for (size_t i = 0; i < GANZ_COUNT(likes); i++) {
        const size_t bytes = strlen(likes[i].word);
        if (brace <= bytes || memcmp(raw + brace - bytes, likes[i].word, bytes) != 0) continue;
        if (memchr(" ,}", raw[brace - bytes - 1], 3)) return kind == ORDINAL ? likes[i].ordinal : likes[i].plural;
    }
    return kind == ORDINAL ? "26" : "53";
}

/* Walks through a value with choices. Braces are a stack of what they hold. */
typedef struct walk {
    ganz_skeleton *skeleton;
    const char *raw;
    size_t bytes, done;
    ganz_message_step *step;
    const ganz_block_style *style;
    struct {
        brace_kind kind;
        const char *number; /* what "#" is like in this text; NULL: a sign as any other */
    } inside[MOST_DEPTH + 1];
    int depth;
} walk;

/* The next "#" that stands for the number of a plural: not one behind a quote or as part of an escape, nor in the
 * format of another argument. */
static size_t next_number(const walk *w, size_t at, size_t end)
{
    int depth = 0;
    for (; at < end; at++) {
        depth += w->raw[at] == '{' ? 1 : w->raw[at] == '}' ? -1 : 0;
        if (w->raw[at] == '#' && depth == 0 && (at == w->done || !memchr("'\\", w->raw[at - 1], 2))) break;
    }
    return at;
}

/* Text of the open block up to a place; `number`: see walk. */
static void put_text(walk *w, size_t end, const char *number)
{
    size_t at = w->done;
    while (at < end) {
        const size_t next = number ? next_number(w, at, end) : end;
        if (next > at) ganz_message_text(w->skeleton, w->raw + at, next - at, w->step);
        if (next < end) ganz_skeleton_place(w->skeleton, number, strlen(number), w->raw + next, 1);
        at = next + 1;
    }
}

static void put_block_until(walk *w, size_t at, const char *number)
{
    if (at > w->done) {
        ganz_skeleton_begin(w->skeleton, w->style);
        put_text(w, at, number);
        ganz_skeleton_end(w->skeleton);
    }
    w->done = at;
}

static void copy_until(walk *w, size_t at)
{
    if (at > w->done) ganz_skeleton_copy(w->skeleton, w->raw + w->done, at - w->done);
    w->done = at;
}

/* At "{"; returns where to go on. */
static size_t open_brace(walk *w, size_t at)
{
    const brace_kind around = w->inside[w->depth].kind;
    const bool is_text = holds_choices(around);
    brace_kind kind = is_text ? TEXT : PLACE;
    const size_t choice = around == TEXT ? choice_bytes(w->raw + at, w->bytes - at, &kind) : 0;
    if (choice > 0) put_block_until(w, at, w->inside[w->depth].number);
    if (is_text) copy_until(w, at + 1);
    w->depth++;
    w->inside[w->depth].kind = kind;
    w->inside[w->depth].number = is_text && around != SELECT ? number_like(w->raw, at, around) : NULL;
    return at + (choice > 0 ? choice : 1);
}

static void close_brace(walk *w, size_t at)
{
    const brace_kind kind = w->inside[w->depth].kind;
    if (kind == TEXT) put_block_until(w, at, w->inside[w->depth].number);
    if (holds_choices(kind)) copy_until(w, at + 1);
    w->depth--;
}

/* False: braces do not match, or are too deep; then nothing is put. */
static bool braces_match(const char *raw, size_t bytes)
{
    int depth = 0;
    for (size_t i = 0; i < bytes && depth >= 0 && depth <= MOST_DEPTH; i++)
        depth += raw[i] == '{' ? 1 : raw[i] == '}' ? -1 : 0;
    return depth == 0;
}

static bool has_choice(const char *raw, size_t bytes)
{
    const char *brace = memchr(raw, '{', bytes);
    brace_kind kind;
    for (; brace; brace = memchr(brace + 1, '{', bytes - (size_t)(brace + 1 - raw)))
        if (choice_bytes(brace, bytes - (size_t)(brace - raw), &kind) > 0) return true;
    return false;
}

void ganz_message_put(ganz_skeleton *skeleton, const char *raw, size_t bytes, ganz_message_step *step,
                      const ganz_block_style *style)
{
    walk w = {.skeleton = skeleton, .raw = raw, .bytes = bytes, .step = step, .style = style};
    if (bytes > 0 && has_choice(raw, bytes) && braces_match(raw, bytes)) {
        for (size_t at = 0; at < bytes;) {
            if (raw[at] == '{') {
                at = open_brace(&w, at);
                continue;
            }
            if (raw[at] == '}') close_brace(&w, at);
            at++;
        }
    }
    put_block_until(&w, bytes, NULL);
}
