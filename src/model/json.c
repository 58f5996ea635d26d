/* JSON token by token: whoever asks knows what may come next, so that nothing is kept that nobody asked for. */
#include "model/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* ---- reading ------------------------------------------------------------------------------------ */

static bool say(ganz_json_reader *r, const char *wrong)
{
    if (!r->wrong) r->wrong = wrong;
    return false;
}

char ganz_json_peek(ganz_json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
    return r->at < r->end ? *r->at : '\0';
}

bool ganz_json_take(ganz_json_reader *r, char mark)
{
    if (r->wrong || ganz_json_peek(r) != mark || r->at == r->end) return false;
    r->at++;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits behind \u; -1 when they are not. */
static int32_t hex4(ganz_json_reader *r)
{
    int32_t value = 0;
    if (r->end - r->at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const int digit = hex_digit(*r->at++);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool is_high(int32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
static bool is_low(int32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

/* The character of \uXXXX, or of the two that stand for one beyond 16 bits; 0 when there is none. */
static int32_t escaped_character(ganz_json_reader *r)
{
    const int32_t high = hex4(r);
    if (high <= 0 || is_low(high)) return 0;
    if (!is_high(high)) return high;
    if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u') return 0;
    r->at += 2;
    const int32_t low = hex4(r);
    return is_low(low) ? 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00) : 0;
}

static bool unescape(ganz_json_reader *r, char **to)
{
    static const char marks[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char mark = r->at < r->end ? *r->at++ : '\0';
    const char *const found = mark ? strchr(marks, mark) : NULL;
    if (found) {
        *(*to)++ = meant[found - marks];
        return true;
    }
    const int32_t c = mark == 'u' ? escaped_character(r) : 0;
    if (!c) return say(r, "an impossible escape");
    *to += ganz_utf8_encode(c, *to); /* never longer than its escape */
    return true;
}

bool ganz_json_text(ganz_json_reader *r, const char **text)
{
    if (!ganz_json_take(r, '"')) return false;
    char *const begin = r->room, *to = begin;
    while (r->at < r->end && *r->at != '"') {
        const char c = *r->at++;
        if ((unsigned char)c < 0x20) return say(r, "a control character in a string");
        if (c != '\\') *to++ = c;
        else if (!unescape(r, &to)) return false;
    }
    if (r->at == r->end) return say(r, "a string without end");
    r->at++;
    if (!ganz_utf8_valid(begin, (size_t)(to - begin))) return say(r, "a string that is not UTF-8");
    *to++ = '\0'; /* two quotes are gone: there is room */
    r->room = to;
    *text = begin;
    return true;
}

bool ganz_json_key(ganz_json_reader *r, const char **key)
{
    if (!ganz_json_text(r, key)) return say(r, "a key is missing");
    return ganz_json_take(r, ':') || say(r, "a colon is missing");
}

static bool is_digit(const ganz_json_reader *r) { return r->at < r->end && *r->at >= '0' && *r->at <= '9'; }

/* The digits that come next, as a negative number, of which there is one more. */
static bool read_digits(ganz_json_reader *r, int64_t *negative)
{
    *negative = 0;
    const bool zero = *r->at == '0';
    while (is_digit(r)) {
        if (__builtin_mul_overflow(*negative, 10, negative) ||
            __builtin_sub_overflow(*negative, *r->at - '0', negative))
            return say(r, "a number beyond 64 bits");
        r->at++;
        if (zero && is_digit(r)) return say(r, "a number that begins with 0");
    }
    return true;
}

bool ganz_json_int(ganz_json_reader *r, int64_t *number)
{
    const char first = ganz_json_peek(r);
    if (r->wrong) return false;
    const char *const begin = r->at;
    if (first == '-') r->at++;
    if (!is_digit(r)) {
        r->at = begin;
        return false;
    }
    int64_t value;
    if (!read_digits(r, &value)) return false;
    if (first != '-' && value == INT64_MIN) return say(r, "a number beyond 64 bits");
    *number = first == '-' ? value : -value;
    return r->at == r->end || !strchr(".eE", *r->at); /* then it is no whole number */
}

bool ganz_json_more(ganz_json_reader *r, bool first, char close)
{
    if (ganz_json_take(r, close)) return false;
    if (first || ganz_json_take(r, ',')) return !r->wrong;
    return say(r, r->at == r->end ? "it ends too early" : "a comma or an end is missing");
}

/* ---- writing ------------------------------------------------------------------------------------ */

static void put_bytes(ganz_json_writer *w, const char *bytes, size_t count)
{
    if (w->failed || count == 0) return;
    size_t need;
    if (!ganz_add_size(w->bytes, count, &need) || !ganz_grow((void **)&w->data, &w->capacity, need, 1)) {
        w->failed = true;
        return;
    }
    memcpy(w->data + w->bytes, bytes, count);
    w->bytes = need;
}

void ganz_json_put(ganz_json_writer *w, const char *plain) { put_bytes(w, plain, strlen(plain)); }

/* The short escapes where JSON has them. */
static void put_escaped(ganz_json_writer *w, char c)
{
    static const char marks[] = "\"\\bfnrt", meant[] = "\"\\\b\f\n\r\t";
    const char *const found = strchr(meant, c);
    char text[8];
    if (found) snprintf(text, sizeof text, "\\%c", marks[found - meant]);
    else snprintf(text, sizeof text, "\\u%04x", (unsigned)(unsigned char)c);
    ganz_json_put(w, text);
}

static void put_inside(ganz_json_writer *w, const char *text)
{
    while (*text) {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= 0x20 && text[plain] != '"' && text[plain] != '\\') plain++;
        put_bytes(w, text, plain);
        text += plain;
        if (*text) put_escaped(w, *text++);
    }
}

void ganz_json_put_text(ganz_json_writer *w, const char *prefix, const char *text)
{
    ganz_json_put(w, "\"");
    put_inside(w, prefix);
    put_inside(w, text);
    ganz_json_put(w, "\"");
}

void ganz_json_put_int(ganz_json_writer *w, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    ganz_json_put(w, text);
}
