/* Numbers: digits compared, points and commas exchanged. */
#include "document/number.h"

#include <string.h>

#include "text/tokenizer.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

size_t ganz_number_at(const char *text, size_t bytes, size_t at)
{
    size_t length = 0;
    while (at + length < bytes) {
        const char c = text[at + length];
        const bool sign = c == '.' || c == ',' || c == '\'';
        const bool joint = sign && length > 0 && at + length + 1 < bytes && is_digit(text[at + length + 1]);
        if (!is_digit(c) && !joint) break;
        length++;
    }
    return length;
}

static size_t next_digit(const char *text, size_t bytes, size_t at)
{
    while (at < bytes && !is_digit(text[at])) at++;
    return at;
}

bool ganz_same_digits(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    size_t i = next_digit(a, a_bytes, 0), j = next_digit(b, b_bytes, 0), zeros = 0;
    for (; i < a_bytes && j < b_bytes; i = next_digit(a, a_bytes, i + 1), j = next_digit(b, b_bytes, j + 1))
        if (a[i] != b[j]) return false;
    for (; j < b_bytes && b[j] == '0'; j = next_digit(b, b_bytes, j + 1)) zeros++;
    return i == a_bytes && j == b_bytes && (zeros == 0 || zeros >= 3);
}

/* ---- points and commas -------------------------------------------------------------------------- */

typedef struct notation {
    char thousands, decimal;
} notation;

static notation notation_of(const ganz_language *language)
{
    if (strcmp(language->code, "de") == 0) return (notation){'.', ','};
    return strcmp(language->code, "en") == 0 ? (notation){',', '.'} : (notation){0, 0};
}

/* Digits, perhaps in threes, perhaps with a decimal part. */
static bool is_written_in(notation n, const char *number, size_t bytes)
{
    size_t group = 0, groups = 0;
    bool decimal = false;
    for (size_t i = 0; i < bytes; i++) {
        if (is_digit(number[i])) {
            group++;
            continue;
        }
        if (decimal || (groups > 0 ? group != 3 : group > 3 && number[i] == n.thousands)) return false;
        if (number[i] != n.thousands && number[i] != n.decimal) return false;
        decimal = number[i] == n.decimal;
        groups += !decimal;
        group = 0;
    }
    return decimal || groups == 0 || group == 3;
}

bool ganz_digits_follow(const char *number, size_t bytes, const ganz_language *language)
{
    const notation n = notation_of(language);
    return !n.decimal || is_written_in(n, number, bytes);
}

/* Digits behind the decimal sign. */
static size_t decimals(notation n, const char *number, size_t bytes)
{
    const char *const sign = memchr(number, n.decimal, bytes);
    return sign ? (size_t)(number + bytes - sign) - 1 : 0;
}

bool ganz_digits_misread(const char *number, size_t bytes, const ganz_language *source, const char *translated,
                         size_t translated_bytes, const ganz_language *target)
{
    const notation from = notation_of(source), to = notation_of(target);
    if (!from.decimal || !to.decimal || from.decimal == to.decimal || bytes != translated_bytes) return false;
    if (!memchr(number, from.thousands, bytes) || !is_written_in(from, number, bytes)) return false;
    const bool copied = memcmp(number, translated, bytes) == 0;
    return copied || decimals(from, number, bytes) != decimals(to, translated, bytes);
}

bool ganz_digits_write(ganz_text *out, const char *number, size_t bytes, const ganz_language *source,
                       const ganz_language *target)
{
    const notation from = notation_of(source), to = notation_of(target);
    if (!from.decimal || !to.decimal || !is_written_in(from, number, bytes))
        return ganz_text_append(out, number, bytes);
    for (size_t i = 0; i < bytes; i++) {
        const char c = number[i] == from.decimal ? to.decimal : number[i] == from.thousands ? to.thousands : number[i];
        if (!ganz_text_append(out, &c, 1)) return false;
    }
    return true;
}
