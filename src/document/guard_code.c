/* Code, names and designations within a sentence. */
#include "document/guard_shapes.h"

#include "document/language.h"

enum { LONGEST_SERIAL = 160, LONGEST_NAME = 120 };

size_t ganz_ticks_length(const ganz_guard_view *v)
{
    size_t ticks = 0;
    while (ticks < 4 && byte_at(v, v->at + ticks) == '`') ticks++;
    if (ticks == 0 || ticks > 3) return 0;
    for (size_t i = v->at + ticks; i < v->end && i - v->at < GANZ_LONGEST_GUARD_CODE; i++) {
        size_t closing = 0;
        while (closing < ticks && byte_at(v, i + closing) == '`') closing++;
        if (closing == ticks && i > v->at + ticks) return i + ticks - v->at;
    }
    return 0;
}

/* -o with white space or a bracket around it; in dialogues "-I know" and "-A man?" are what somebody says. */
static bool is_short_option(const ganz_guard_view *v)
{
    const char letter = byte_at(v, v->at + 1), after = byte_at(v, v->at + 2), next = byte_at(v, v->at + 3);
    if (v->text[v->at] != '-' || !is_letter(letter)) return false;
    if (v->at > v->begin && !is_one_of(byte_before(v, v->at), " \t\n([")) return false;
    if (is_one_of(letter, "AIO") && after == ' ' && next >= 'a' && next <= 'z') return false;
    return v->at + 2 == v->end || is_one_of(after, " ,\t\n)]");
}

/* --option=value, -o */
static size_t option_length(const ganz_guard_view *v)
{
    if (is_short_option(v)) return 2;
    if (!has(v, v->at, "--") || !is_letter(byte_at(v, v->at + 2))) return 0;
    return ganz_without_end_signs(v->text + v->at, word_length(v, v->at, "<>\"`,;()", 120));
}

/* @name, #tag, :smile: */
static size_t tag_length(const ganz_guard_view *v)
{
    const char first = v->text[v->at];
    size_t length = 1, letters = 0;
    if (!is_one_of(first, "@#:")) return 0;
    for (; length < 64 && is_name(byte_at(v, v->at + length)); length++) letters += is_letter(v->text[v->at + length]);
    if (letters < 2 || (unsigned char)byte_at(v, v->at + length) >= 0x80) return 0;
    if (first != ':') return length;
    return byte_at(v, v->at + length) == ':' ? length + 1 : 0;
}

/* some_name, module.name(), space::name: names that are joined as no sentence joins them. */
static size_t name_length(const ganz_guard_view *v)
{
    size_t length = 0, joints = 0;
    if (!is_letter(v->text[v->at])) return 0;
    while (length < LONGEST_NAME) {
        const char c = byte_at(v, v->at + length), next = byte_at(v, v->at + length + 1);
        const bool colons = c == ':' && next == ':' && is_letter(byte_at(v, v->at + length + 2));
        if (!is_name(c) && !(c == '.' && is_name(next)) && !colons) break;
        joints += colons || (c == '_' && is_name(next));
        length += colons ? 2 : 1;
    }
    if ((unsigned char)byte_at(v, v->at + length) >= 0x80) return 0; /* a word with other letters */
    if (has(v, v->at + length, "()")) return length + 2;
    return joints > 0 ? length : 0;
}

/* "py3.10", an ideographic comma, "py3.9": words that are joined without a space stay as they are. */
static size_t list_length(const ganz_guard_view *v)
{
    static const char comma[] = "\xE3\x80\x81";
    size_t length = 0, whole = 0, words = 0;
    for (; length < LONGEST_NAME; length += sizeof comma - 1, words++) {
        const size_t begin = length;
        for (char c;
             length - begin < LONGEST_NAME &&
             (c = byte_at(v, v->at + length), is_name(c) || (c == '.' && is_name(byte_at(v, v->at + length + 1))));)
            length++;
        if (length == begin || length - begin == LONGEST_NAME) break;
        whole = length;
        if (!has(v, v->at + length, comma)) return words > 0 ? whole : 0;
    }
    return words > 1 ? whole : 0;
}

static bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/* Digits with an ending in capitals: 21ST, 1990S, 80ER, 11P.M. */
static bool has_ending(const char *word, size_t bytes, char after)
{
    static const char endings[] = " st nd rd th s er am pm ";
    size_t digits = 0;
    while (digits < bytes && is_digit(word[digits])) digits++;
    if (digits == 0) return false;
    if (bytes - digits == 1 && is_one_of(word[digits], "AP") && after == '.') return true;
    return ganz_listed(endings, word + digits, bytes - digits);
}

/* A380, 221B, LH1234, SAVE20: capitals and digits in one word, of which models lose digits. Not what has one digit. */
static size_t designation_length(const ganz_guard_view *v)
{
    size_t length = 0, capitals = 0, digits = 0;
    for (char c; length < 24 && (c = byte_at(v, v->at + length), is_capital(c) || is_digit(c)); length++) {
        capitals += is_capital(c);
        digits += is_digit(c);
    }
    if (capitals == 0 || digits < 2 || ganz_is_alnum(code_at(v, v->at + length))) return 0;
    return has_ending(v->text + v->at, length, byte_at(v, v->at + length)) ? 0 : length;
}

/* 0x80070057, d41d8cd98f00: letters and digits in turn, as no word has them, or digits of base 16. */
static size_t serial_length(const ganz_guard_view *v)
{
    size_t length = 0, digits = 0, turns = 0;
    for (char c; length < LONGEST_SERIAL && (c = byte_at(v, v->at + length), is_letter(c) || is_digit(c)); length++) {
        turns += length > 0 && is_digit(c) != is_digit(v->text[v->at + length - 1]);
        digits += is_digit(c);
    }
    if (ganz_is_alnum(code_at(v, v->at + length)) || byte_at(v, v->at + length) == '_') return 0;
    if (has(v, v->at, "0x") && length > 2) return length;
    return turns > 2 && digits > 2 ? length : 0;
}

/* Bytes of an exponent: 2, -6, n, {ij}. */
static size_t exponent_length(const ganz_guard_view *v, size_t at)
{
    const bool braces = byte_at(v, at) == '{';
    size_t length = braces || is_one_of(byte_at(v, at), "+-");
    const size_t first = length;
    while (length < 16 && (is_name(byte_at(v, at + length)) || (braces && is_one_of(byte_at(v, at + length), "+-,"))))
        length++;
    if (length == first) return 0;
    return !braces ? length : byte_at(v, at + length) == '}' ? length + 1 : 0;
}

/* x^2, 10^-6, a^{ij}: a number or a letter or two, since a word^1 may have a note. */
static size_t power_length(const ganz_guard_view *v)
{
    size_t base = 0, letters = 0;
    for (; base < 8 && is_name(byte_at(v, v->at + base)); base++) letters += !is_digit(byte_at(v, v->at + base));
    if (base == 0 || letters > 2 || byte_at(v, v->at + base) != '^') return 0;
    const size_t exponent = exponent_length(v, v->at + base + 1);
    return exponent > 0 ? base + 1 + exponent : 0;
}

size_t ganz_code_length(const ganz_guard_view *v)
{
    size_t length = option_length(v);
    if (length == 0) length = tag_length(v);
    if (length == 0) length = list_length(v);
    if (length == 0) length = designation_length(v);
    if (length == 0) length = serial_length(v);
    if (length == 0) length = power_length(v);
    return length > 0 ? length : name_length(v);
}
