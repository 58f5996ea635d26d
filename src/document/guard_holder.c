/* Places that a program fills in. */
#include "document/guard_shapes.h"

enum { LONGEST_HOLDER = 120, LONGEST_MESSAGE = 2000 };

/* %s, %-5.2f, %1$d, %(name)s, %1, %%, %{name} is a brace. */
static size_t percent_length(const ganz_guard_view *v)
{
    size_t at = v->at + 1;
    if (byte_at(v, v->at) != '%' || is_digit(byte_before(v, v->at))) return 0;
    if (byte_at(v, at) == '%' || byte_at(v, at) == '@') return 2;
    if (byte_at(v, at) == '(') {
        const size_t name = word_length(v, at + 1, ")%(", 64);
        at += 1 + name;
        if (name == 0 || byte_at(v, at++) != ')') return 0;
    }
    const size_t digits = at;
    while (is_digit(byte_at(v, at)) || is_one_of(byte_at(v, at), "-+#.*$'")) {
        if (at++ - v->at > 24) return 0;
    }
    const size_t sizes = at;
    while (at - sizes < 2 && is_one_of(byte_at(v, at), "hlLqjzt")) at++;
    const bool done = is_one_of(byte_at(v, at), "diouxXeEfFgGaAcspnmDUSC") && !is_letter(byte_at(v, at + 1));
    if (done) return at + 1 - v->at;
    if (sizes > digits && is_digit(v->text[digits]) && is_digit(v->text[sizes - 1])) return sizes - v->at; /* %1 */
    return 0;
}

/* The place behind the brace that closes the one at `at`; 0: none within `most` bytes. */
static size_t behind_brace(const ganz_guard_view *v, size_t at, size_t most)
{
    int depth = 0;
    for (size_t i = at; i < v->end && i - at < most; i++) {
        if (v->text[i] == '{') depth++;
        if (v->text[i] == '}' && --depth == 0) return i + 1;
    }
    return 0;
}

/* A name, perhaps of a part of something; in a template's expression spaces stand between its words as well. */
static bool is_plain_name(const char *text, size_t bytes, bool expression)
{
    while (bytes > 0 && *text == ' ') text++, bytes--;
    while (bytes > 0 && text[bytes - 1] == ' ') bytes--;
    for (size_t i = 0; i < bytes; i++)
        if (!is_name(text[i]) && !is_one_of(text[i], ".:-,#/@$|+%^&!?[]()'\"*=>") && !(expression && text[i] == ' '))
            return false;
    return true;
}

/* {name}, {0}, {{name}}, {{ name | filter }}, ${x}, #{x}, %{x}, and whole messages of ICU: {n, plural, one {...} other
 * {...}}. */
static size_t brace_length(const ganz_guard_view *v)
{
    const size_t sign = is_one_of(byte_at(v, v->at), "$#%@") ? 1 : 0;
    if (byte_at(v, v->at + sign) != '{') return 0;
    const size_t open = v->at + sign;
    size_t end = behind_brace(v, open, LONGEST_HOLDER);
    if (end > 0) {
        size_t begin = open + 1, last = end - 1;
        while (begin < last && v->text[begin] == '{' && v->text[last - 1] == '}') begin++, last--;
        if (begin < last && is_plain_name(v->text + begin, last - begin, begin > open + 1)) return end - v->at;
    }
    const size_t name = word_length(v, open + 1, "{},", 64);
    if (name == 0 || byte_at(v, open + 1 + name) != ',') return 0;
    size_t kind = open + 1 + name + 1;
    while (byte_at(v, kind) == ' ') kind++;
    if (!has(v, kind, "plural") && !has(v, kind, "select") && !has(v, kind, "number") && !has(v, kind, "date") &&
        !has(v, kind, "time") && !has(v, kind, "choice"))
        return 0;
    end = behind_brace(v, open, LONGEST_MESSAGE);
    return end > 0 ? end - v->at : 0;
}

/* $HOME, $1, $(x), $t(x): not $5.00, which is money. */
static size_t dollar_length(const ganz_guard_view *v)
{
    if (byte_at(v, v->at) != '$') return 0;
    if (byte_at(v, v->at + 1) == '(') {
        const size_t inside = word_length(v, v->at + 2, "()", 64);
        return inside > 0 && byte_at(v, v->at + 2 + inside) == ')' ? inside + 3 : 0;
    }
    size_t length = 1;
    if (!is_letter(byte_at(v, v->at + 1)) && byte_at(v, v->at + 1) != '_') return 0;
    while (length < 64 && is_name(byte_at(v, v->at + length))) length++;
    if (byte_at(v, v->at + length) != '(') return length;
    const size_t inside = word_length(v, v->at + length + 1, "()", 64);
    return inside > 0 && byte_at(v, v->at + length + 1 + inside) == ')' ? length + inside + 2 : length;
}

/* <file>, <your_name>: one word in angle brackets. */
static size_t angle_length(const ganz_guard_view *v)
{
    size_t length = byte_at(v, v->at + 1) == '/' ? 2 : 1;
    if (byte_at(v, v->at) != '<' || !is_letter(byte_at(v, v->at + length))) return 0;
    while (length < LONGEST_HOLDER &&
           (is_name(byte_at(v, v->at + length)) || is_one_of(byte_at(v, v->at + length), "-.:/=")))
        length++;
    return byte_at(v, v->at + length) == '>' ? length + 1 : 0;
}

/* &amp;, &#39; where they are plain text. */
static size_t reference_length(const ganz_guard_view *v)
{
    size_t length = byte_at(v, v->at + 1) == '#' ? 2 : 1;
    if (byte_at(v, v->at) != '&' || !is_name(byte_at(v, v->at + length)) || !is_name(byte_at(v, v->at + length + 1)))
        return 0;
    while (length < 12 && is_name(byte_at(v, v->at + length))) length++;
    return byte_at(v, v->at + length) == ';' ? length + 1 : 0;
}

/* <%= x %>, {% x %}, [% x %], <?php x ?>: what programs fill in. */
static size_t template_length(const ganz_guard_view *v)
{
    static const char *const shapes[][2] = {{"<%", "%>"}, {"{%", "%}"}, {"[%", "%]"}, {"<?", "?>"}};
    for (size_t i = 0; i < GANZ_COUNT(shapes); i++) {
        if (!has(v, v->at, shapes[i][0])) continue;
        for (size_t at = v->at + 2; at < v->end && at - v->at < GANZ_LONGEST_GUARD_CODE; at++)
            if (has(v, at, shapes[i][1])) return at + 2 - v->at;
    }
    return 0;
}

/* \n, \t, \r where a program's text is pasted: not \name. */
static size_t escape_length(const ganz_guard_view *v)
{
    if (byte_at(v, v->at) != '\\' || byte_before(v, v->at) == '\\') return 0;
    return is_one_of(byte_at(v, v->at + 1), "nrt") && !is_lower(byte_at(v, v->at + 2)) ? 2 : 0;
}

size_t ganz_holder_length(const ganz_guard_view *v)
{
    size_t length = percent_length(v);
    if (length == 0) length = template_length(v);
    if (length == 0) length = escape_length(v);
    if (length == 0) length = brace_length(v);
    if (length == 0) length = angle_length(v);
    if (length == 0) length = reference_length(v);
    return length > 0 ? length : dollar_length(v);
}
