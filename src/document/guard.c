/* Finding guards: one function for each shape, tried at each place where a word may begin. All of them look a bounded
 * number of bytes ahead. */
#include "document/guard.h"

#include <string.h>

#include "document/language.h"
#include "document/number.h"
#include "text/unicode.h"

enum {
    LONGEST_ADDRESS = 2048,
    LONGEST_HOLDER = 120,
    LONGEST_MESSAGE = 2000,
    LONGEST_CODE = 400,
    LONGEST_FORMULA = 100
};

/* The text a shape is looked for in: bytes [at, end), and what is before them. */
typedef struct view {
    const char *text;
    size_t begin, at, end;
} view;

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return is_lower((char)(c | 32)); }
static bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
static bool is_one_of(char c, const char *set) { return c != 0 && strchr(set, c) != NULL; }

static char byte_at(const view *v, size_t at) { return at < v->end ? v->text[at] : 0; }
static char byte_before(const view *v, size_t at) { return at > v->begin ? v->text[at - 1] : 0; }

static int32_t code_at(const view *v, size_t at)
{
    int32_t code = 0;
    if (at < v->end) ganz_next_character(v->text + at, &code);
    return code;
}

static int32_t code_before(const view *v, size_t at)
{
    if (at == v->begin) return 0;
    do at--;
    while (((unsigned char)v->text[at] & 0xC0) == 0x80);
    return code_at(v, at);
}

static bool has(const view *v, size_t at, const char *word)
{
    const size_t bytes = strlen(word);
    return v->end - at >= bytes && memcmp(v->text + at, word, bytes) == 0;
}

/* Bytes from `at` on that are in no set of what ends a word; at most `most`. */
static size_t word_length(const view *v, size_t at, const char *ends, size_t most)
{
    size_t length = 0;
    while (length < most && at + length < v->end) {
        int32_t code;
        const size_t step = ganz_next_character(v->text + at + length, &code);
        if (ganz_is_space(code) || code == 0xFFFC || (code < 0x80 && is_one_of((char)code, ends))) break;
        length += step;
    }
    return length;
}

/* ---- addresses ---------------------------------------------------------------------------------- */

static size_t count_of(char c, const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += text[i] == c;
    return count;
}

/* Signs at the end of an address belong to the sentence; so do brackets that the address did not open. */
static size_t without_end_signs(const char *text, size_t length)
{
    while (length > 0) {
        const char c = text[length - 1], open = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : 0;
        if (open ? count_of(open, text, length) >= count_of(c, text, length) : !is_one_of(c, ".,;:!?'\"*")) break;
        length--;
    }
    return length;
}

static size_t url_length(const view *v)
{
    size_t scheme = 0;
    while (scheme < 16 && (is_name(byte_at(v, v->at + scheme)) || is_one_of(byte_at(v, v->at + scheme), "+-.")))
        scheme++;
    const bool full = scheme > 1 && is_letter(v->text[v->at]) && has(v, v->at + scheme, "://");
    const bool short_form = (has(v, v->at, "www.") && is_name(byte_at(v, v->at + 4))) || has(v, v->at, "mailto:");
    if (!full && !short_form) return 0;
    const size_t head = full ? scheme + 3 : 4;
    const size_t length = without_end_signs(v->text + v->at, word_length(v, v->at, "<>\"`", LONGEST_ADDRESS));
    return length > head ? length : 0;
}

static bool is_known_ending(const char *text, size_t bytes)
{
    static const char known[] =
        " com org net edu gov de at ch uk eu io info us fr it es nl pl ru cn jp html htm php asp aspx txt pdf doc"
        " docx odt ods odp xls xlsx ppt pptx csv tsv json xml yaml yml toml ini conf cfg log md rst tex zip gz xz bz2"
        " zst tar tgz 7z rar deb rpm exe dll msi bat cmd ps1 sh py js ts c h cc cpp hpp java rs go rb pl lua so png"
        " jpg jpeg gif svg bmp webp mp3 mp4 avi mkv ogg wav iso img bin sql db bak tmp css po pot srt vtt epub key"
        " pem crt service ";
    return ganz_listed(known, text, bytes);
}

/* name.example.org, setup.exe; with a path behind it where it is a name of the net. */
static size_t dotted_length(const view *v)
{
    size_t length = 0, dot = 0;
    while (length < 255 && (is_name(byte_at(v, v->at + length)) || is_one_of(byte_at(v, v->at + length), ".-"))) {
        if (v->text[v->at + length] == '.') dot = length;
        length++;
    }
    while (length > 0 && is_one_of(v->text[v->at + length - 1], ".-")) length--;
    if (dot >= length) { /* it was the last sign: find the one before */
        for (dot = length; dot > 0 && v->text[v->at + dot - 1] != '.'; dot--) {
        }
        dot = dot > 0 ? dot - 1 : 0;
    }
    if (dot < 2 || !is_known_ending(v->text + v->at + dot + 1, length - dot - 1)) return 0;
    if (byte_at(v, v->at + length) != '/') return length;
    return without_end_signs(v->text + v->at, word_length(v, v->at, "<>\"`", LONGEST_ADDRESS));
}

static size_t mail_length(const view *v)
{
    size_t name = 0, host = 0;
    while (name < 64 && (is_name(byte_at(v, v->at + name)) || is_one_of(byte_at(v, v->at + name), ".+-"))) name++;
    if (name == 0 || byte_at(v, v->at + name) != '@') return 0;
    const size_t at = v->at + name + 1;
    while (host < 255 && (is_name(byte_at(v, at + host)) || is_one_of(byte_at(v, at + host), ".-"))) host++;
    host = without_end_signs(v->text + at, host);
    return host > 2 && memchr(v->text + at, '.', host) ? name + 1 + host : 0;
}

/* A name with blanks in it goes on where a backslash is before the next blank: C:\Program Files\x. */
static size_t windows_path_length(const view *v)
{
    const bool drive = is_letter(v->text[v->at]) && byte_at(v, v->at + 1) == ':' && byte_at(v, v->at + 2) == '\\';
    if (!drive && !(has(v, v->at, "\\\\") && is_name(byte_at(v, v->at + 2)))) return 0;
    size_t length = word_length(v, v->at, "<>\"|?*`", LONGEST_ADDRESS);
    while (byte_at(v, v->at + length) == ' ') {
        const size_t more = word_length(v, v->at + length + 1, "<>\"|?*:`", 64);
        if (!memchr(v->text + v->at + length + 1, '\\', more)) break;
        length += 1 + more;
    }
    return without_end_signs(v->text + v->at, length);
}

static size_t unix_path_length(const view *v)
{
    const size_t dots = has(v, v->at, "../") ? 2 : has(v, v->at, "./") || has(v, v->at, "~/") ? 1 : 0;
    if (byte_at(v, v->at + dots) != '/' ||
        !(is_name(byte_at(v, v->at + dots + 1)) || byte_at(v, v->at + dots + 1) == '.'))
        return 0;
    const size_t length = without_end_signs(v->text + v->at, word_length(v, v->at, "<>\"|,;()`", LONGEST_ADDRESS));
    return length > 2 ? length : 0;
}

static size_t address_length(const view *v)
{
    size_t length = url_length(v);
    if (length == 0) length = mail_length(v);
    if (length == 0) length = windows_path_length(v);
    if (length == 0) length = unix_path_length(v);
    return length > 0 ? length : dotted_length(v);
}

/* ---- places for something ----------------------------------------------------------------------- */

/* %s, %-5.2f, %1$d, %(name)s, %1, %%, %{name} is a brace. */
static size_t percent_length(const view *v)
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
static size_t behind_brace(const view *v, size_t at, size_t most)
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
static size_t brace_length(const view *v)
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
        !has(v, kind, "time"))
        return 0;
    end = behind_brace(v, open, LONGEST_MESSAGE);
    return end > 0 ? end - v->at : 0;
}

/* $HOME, $1, $(x): not $5.00, which is money. */
static size_t dollar_length(const view *v)
{
    if (byte_at(v, v->at) != '$') return 0;
    if (byte_at(v, v->at + 1) == '(') {
        const size_t inside = word_length(v, v->at + 2, "()", 64);
        return inside > 0 && byte_at(v, v->at + 2 + inside) == ')' ? inside + 3 : 0;
    }
    size_t length = 1;
    if (!is_letter(byte_at(v, v->at + 1)) && byte_at(v, v->at + 1) != '_') return 0;
    while (length < 64 && is_name(byte_at(v, v->at + length))) length++;
    return length;
}

/* <file>, <your_name>: one word in angle brackets. */
static size_t angle_length(const view *v)
{
    size_t length = byte_at(v, v->at + 1) == '/' ? 2 : 1;
    if (byte_at(v, v->at) != '<' || !is_letter(byte_at(v, v->at + length))) return 0;
    while (length < LONGEST_HOLDER &&
           (is_name(byte_at(v, v->at + length)) || is_one_of(byte_at(v, v->at + length), "-.:/=")))
        length++;
    return byte_at(v, v->at + length) == '>' ? length + 1 : 0;
}

/* &amp;, &#39; where they are plain text. */
static size_t reference_length(const view *v)
{
    size_t length = byte_at(v, v->at + 1) == '#' ? 2 : 1;
    if (byte_at(v, v->at) != '&' || !is_name(byte_at(v, v->at + length)) || !is_name(byte_at(v, v->at + length + 1)))
        return 0;
    while (length < 12 && is_name(byte_at(v, v->at + length))) length++;
    return byte_at(v, v->at + length) == ';' ? length + 1 : 0;
}

/* <%= x %>, {% x %}, [% x %], <?php x ?>: what programs fill in. */
static size_t template_length(const view *v)
{
    static const char *const shapes[][2] = {{"<%", "%>"}, {"{%", "%}"}, {"[%", "%]"}, {"<?", "?>"}};
    for (size_t i = 0; i < GANZ_COUNT(shapes); i++) {
        if (!has(v, v->at, shapes[i][0])) continue;
        for (size_t at = v->at + 2; at < v->end && at - v->at < LONGEST_CODE; at++)
            if (has(v, at, shapes[i][1])) return at + 2 - v->at;
    }
    return 0;
}

/* \n, \t, \r where a program's text is pasted: not \name. */
static size_t escape_length(const view *v)
{
    if (byte_at(v, v->at) != '\\' || byte_before(v, v->at) == '\\') return 0;
    return is_one_of(byte_at(v, v->at + 1), "nrt") && !is_lower(byte_at(v, v->at + 2)) ? 2 : 0;
}

static size_t holder_length(const view *v)
{
    size_t length = percent_length(v);
    if (length == 0) length = template_length(v);
    if (length == 0) length = escape_length(v);
    if (length == 0) length = brace_length(v);
    if (length == 0) length = angle_length(v);
    if (length == 0) length = reference_length(v);
    return length > 0 ? length : dollar_length(v);
}

/* ---- code --------------------------------------------------------------------------------------- */

static size_t ticks_length(const view *v)
{
    size_t ticks = 0;
    while (byte_at(v, v->at + ticks) == '`') ticks++;
    if (ticks == 0 || ticks > 3) return 0;
    for (size_t i = v->at + ticks; i < v->end && i - v->at < LONGEST_CODE; i++) {
        size_t closing = 0;
        while (closing < ticks && byte_at(v, i + closing) == '`') closing++;
        if (closing == ticks && i > v->at + ticks) return i + ticks - v->at;
    }
    return 0;
}

/* --option=value */
static size_t option_length(const view *v)
{
    if (!has(v, v->at, "--") || !is_letter(byte_at(v, v->at + 2))) return 0;
    return without_end_signs(v->text + v->at, word_length(v, v->at, "<>\"`,;()", 120));
}

/* @name, #tag, :smile: */
static size_t tag_length(const view *v)
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
static size_t name_length(const view *v)
{
    size_t length = 0, joints = 0;
    if (!is_letter(v->text[v->at])) return 0;
    while (length < 120) {
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
static size_t list_length(const view *v)
{
    static const char comma[] = "\xE3\x80\x81";
    size_t length = 0, whole = 0, words = 0;
    for (; length < 120; length += sizeof comma - 1, words++) {
        const size_t begin = length;
        for (char c;
             c = byte_at(v, v->at + length), is_name(c) || (c == '.' && is_name(byte_at(v, v->at + length + 1)));)
            length++;
        if (length == begin) break;
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

/* A380, 221B, LH1234: capitals and digits in one word, of which models lose digits. Not what has one digit. */
static size_t designation_length(const view *v)
{
    size_t length = 0, capitals = 0, digits = 0;
    for (char c; length < 20 && (c = byte_at(v, v->at + length), is_capital(c) || is_digit(c)); length++) {
        capitals += is_capital(c);
        digits += is_digit(c);
    }
    if (capitals == 0 || capitals > 4 || digits < 2 || ganz_is_alnum(code_at(v, v->at + length))) return 0;
    return has_ending(v->text + v->at, length, byte_at(v, v->at + length)) ? 0 : length;
}

/* Bytes of an exponent: 2, -6, n, {ij}. */
static size_t exponent_length(const view *v, size_t at)
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
static size_t power_length(const view *v)
{
    size_t base = 0, letters = 0;
    for (; base < 8 && is_name(byte_at(v, v->at + base)); base++) letters += !is_digit(byte_at(v, v->at + base));
    if (base == 0 || letters > 2 || byte_at(v, v->at + base) != '^') return 0;
    const size_t exponent = exponent_length(v, v->at + base + 1);
    return exponent > 0 ? base + 1 + exponent : 0;
}

static size_t code_length(const view *v)
{
    size_t length = option_length(v);
    if (length == 0) length = tag_length(v);
    if (length == 0) length = list_length(v);
    if (length == 0) length = designation_length(v);
    if (length == 0) length = power_length(v);
    return length > 0 ? length : name_length(v);
}

/* ---- pictures and scripts ----------------------------------------------------------------------- */

static bool is_picture(int32_t c)
{
    return (c >= 0x1F000 && c <= 0x1FAFF) || (c >= 0x2600 && c <= 0x27BF) || (c >= 0x2B00 && c <= 0x2BFF) ||
           (c >= 0x2300 && c <= 0x23FF) || (c >= 0x2190 && c <= 0x21FF) || (c >= 0x25A0 && c <= 0x25FF) ||
           (c >= 0xE000 && c <= 0xF8FF) || c == 0x20E3 || c == 0x3030 || c == 0x303D;
}

/* Signs that models have hardly met, and write as others or not at all. They know those of the dollar, the euro and the
 * pound, which each language puts at another place, and that of trade marks. */
static bool is_rare_sign(int32_t c)
{
    static const int32_t ranges[][2] = {
        {0xA2, 0xA2},     {0xA4, 0xA5},                       /* cent, any currency, yen */
        {0xA9, 0xA9},     {0xB1, 0xB3},     {0xB9, 0xB9},     /* copyright, plus or minus, raised 1 to 3 */
        {0xB6, 0xB6},     {0x2020, 0x2021},                   /* paragraph, daggers */
        {0xF7, 0xF7},     {0x2030, 0x2030}, {0x2032, 0x2033}, /* divided by, of a thousand, feet and inches */
        {0x2070, 0x20AB}, {0x20AD, 0x20CF},                   /* raised and lowered digits, currencies; not the euro */
        {0x2100, 0x2121}, {0x2123, 0x214F},                   /* units, numbers; not the trade mark */
        {0x2200, 0x22FF}, {0x2500, 0x259F},                   /* mathematics, frames */
    };
    for (size_t i = 0; i < GANZ_COUNT(ranges); i++)
        if (ranges[i][0] <= c && c <= ranges[i][1]) return true;
    return false;
}

static bool is_sign(int32_t c) { return is_picture(c) || is_rare_sign(c); }

/* What holds the parts of an emoji together. */
static bool is_joiner(int32_t c)
{
    return c == 0x200D || (c >= 0xFE00 && c <= 0xFE0F) || c == 0x20E3 || (c >= 0xE0020 && c <= 0xE007F);
}

static size_t sign_length(const view *v)
{
    size_t at = v->at;
    int32_t code = code_at(v, at);
    const bool key = code < 0x80 && is_one_of((char)code, "0123456789#*") &&
                     (code_at(v, at + 1) == 0x20E3 || (code_at(v, at + 1) == 0xFE0F && code_at(v, at + 4) == 0x20E3));
    const bool about = code == '~' && code_at(v, at + 1) >= '0' && code_at(v, at + 1) <= '9'; /* ~1,000 */
    if (!key && !about && !is_sign(code)) return 0;
    do {
        at += ganz_next_character(v->text + at, &code);
        code = code_at(v, at);
    } while (at < v->end && (is_sign(code) || is_joiner(code)));
    return at - v->at;
}

static bool is_raised(int32_t c) { return c == 0xB2 || c == 0xB3 || c == 0xB9 || (c >= 0x2070 && c <= 0x207F); }
static bool is_lowered(int32_t c) { return c >= 0x2080 && c <= 0x209C; }

/* Formulas, as that of water: a word with lowered signs, or with raised ones inside of it, is none of a language. */
static size_t formula_length(const view *v)
{
    size_t at = v->at;
    int32_t code;
    bool lowered = false, raised = false, inside = false;
    while (at < v->end && at - v->at < LONGEST_FORMULA) {
        const size_t step = ganz_next_character(v->text + at, &code);
        const bool letter = (code < 0x80 && ganz_is_alnum(code)) || (code >= 0x391 && code <= 0x3C9); /* or Greek */
        if (is_lowered(code)) lowered = true;
        else if (is_raised(code)) raised = true;
        else if (!letter) break;
        else inside |= raised;
        at += step;
    }
    return (lowered || inside) && !is_sign(code_at(v, v->at)) ? at - v->at : 0;
}

/* A half, a quarter, 2 1/3 in one sign: models drop them. */
static size_t fraction_length(const view *v)
{
    size_t at = v->at;
    int32_t code = code_at(v, at);
    while (at - v->at < 4 && code >= '0' && code <= '9') code = code_at(v, ++at);
    if (!(code >= 0xBC && code <= 0xBE) && !(code >= 0x2150 && code <= 0x215E)) return 0;
    return at + ganz_next_character(v->text + at, &code) - v->at;
}

/* :-) and its kin, alone or before the end of a sentence. */
static size_t face_length(const view *v)
{
    static const char *const faces[] = {":-)", ":)", ";-)", ";)", ":-(", ":(", ":-D", ":D", ":-P", ":P", "<3", "^^"};
    if (v->at > v->begin && !ganz_is_space(code_before(v, v->at))) return 0;
    for (size_t i = 0; i < GANZ_COUNT(faces); i++) {
        const char after = has(v, v->at, faces[i]) ? byte_at(v, v->at + strlen(faces[i])) : 'x';
        if (after == 0 || is_one_of(after, " \t\n\r.,!?")) return strlen(faces[i]);
    }
    return 0;
}

static bool is_foreign(int32_t c)
{
    if (c < 0x370) return false;
    if ((c >= 0x1D00 && c <= 0x1DBF) || (c >= 0x1E00 && c <= 0x1EFF) || (c >= 0x2000 && c <= 0x2BFF) ||
        (c >= 0x2C60 && c <= 0x2C7F) || (c >= 0xA720 && c <= 0xA7FF) || (c >= 0xAB30 && c <= 0xAB6F) ||
        (c >= 0xFB00 && c <= 0xFB06) || c == 0xFFFC || c == 0xFFFD)
        return false;
    return ganz_is_alnum(c) || (c >= 0x3000 && c <= 0x303F) || (c >= 0xFF00 && c <= 0xFFEF);
}

/* Signs, marks and spaces that go on with the script. */
static bool goes_on(int32_t c)
{
    return c == ' ' || (c >= 0x300 && c < 0x370) || (c >= 0x483 && c <= 0x489) || (c >= 0x591 && c <= 0x5C7) ||
           (c >= 0x600 && c <= 0x1BFF && !ganz_is_alnum(c));
}

static size_t script_length(const view *v)
{
    size_t at = v->at, end = v->at;
    int32_t code = code_at(v, at);
    if (!is_foreign(code)) return 0;
    while (at < v->end && (is_foreign(code) || goes_on(code))) {
        const bool letter = code != ' ';
        at += ganz_next_character(v->text + at, &code);
        if (letter) end = at;
        code = code_at(v, at);
    }
    return end - v->at;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* 2.0.1, 192.168.0.1: not 1.234.567. */
static bool is_version(const char *text, size_t length)
{
    size_t dots = 0, digits = 0, threes = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.') dots++, digits = 0;
        else if (!is_digit(text[i])) return false;
        else threes += ++digits == 3 && dots > 0;
    }
    return dots > 1 && threes < dots;
}

/* 3/4/2024, 2024-03-04: days are written in many orders, and nobody knows which one this is. */
static size_t date_length(const view *v)
{
    size_t at = v->at, longest = 0;
    if (is_one_of(byte_before(v, at), "/-")) return 0;
    for (int part = 0; part < 3; part++) {
        const size_t begin = at;
        while (at - begin < 5 && is_digit(byte_at(v, at))) at++;
        if (at == begin || at - begin == 5) return 0;
        if (at - begin > longest) longest = at - begin;
        const char joint = part == 0 ? byte_at(v, at) : v->text[begin - 1];
        if (part < 2 && (!is_one_of(joint, "/-") || byte_at(v, at++) != joint)) return 0;
    }
    return longest == 3 || ganz_is_alnum(code_at(v, at)) || is_one_of(byte_at(v, at), "/-") ? 0 : at - v->at;
}

/* Numbers that a translation may not write as words or count anew: from 13 on, or with a point. Not those that are part
 * of a word (50s, A380), and no times of day before noon and after it. */
static size_t guarded_number_length(const view *v)
{
    const size_t length = ganz_number_at(v->text, v->end, v->at);
    const size_t joint = is_one_of(byte_before(v, v->at), ".,'") ? 1 : 0;
    if (length == 0 || ganz_is_alnum(code_before(v, v->at - joint)) || ganz_is_alnum(code_at(v, v->at + length)))
        return 0;
    if (length < 2 || (length == 2 && memcmp(v->text + v->at, "13", 2) < 0)) return 0;
    size_t after = v->at + length;
    while (byte_at(v, after) == ' ') after++;
    static const char *const clock[] = {"am", "pm", "a.m", "p.m", "AM", "PM", "A.M", "P.M", "o'clock"};
    for (size_t i = 0; i < GANZ_COUNT(clock); i++)
        if (has(v, after, clock[i])) return 0;
    return is_one_of(byte_before(v, v->at), ":") || byte_at(v, v->at + length) == ':' ? 0 : length;
}

/* ---- all ---------------------------------------------------------------------------------------- */

static bool starts_word(const view *v)
{
    const int32_t before = code_before(v, v->at);
    return !ganz_is_alnum(before) && before != '_';
}

/* The guard that begins at v->at. */
static size_t guard_length(const view *v, bool latin, ganz_guard_kind *kind)
{
    size_t length;
    if ((length = sign_length(v)) > 0 || (length = face_length(v)) > 0) return *kind = GANZ_GUARD_SIGN, length;
    if ((length = ticks_length(v)) > 0) return *kind = GANZ_GUARD_CODE, length;
    if ((length = holder_length(v)) > 0) return *kind = GANZ_GUARD_HOLDER, length;
    if (latin && (length = script_length(v)) > 0) return *kind = GANZ_GUARD_SCRIPT, length;
    if (!starts_word(v)) return 0;
    if ((length = formula_length(v)) > 0) return *kind = GANZ_GUARD_SCRIPT, length;
    if ((length = fraction_length(v)) > 0) return *kind = GANZ_GUARD_CODE, length;
    if ((length = address_length(v)) > 0) return *kind = GANZ_GUARD_ADDRESS, length;
    if ((length = code_length(v)) > 0) return *kind = GANZ_GUARD_CODE, length;
    if ((length = date_length(v)) > 0) return *kind = GANZ_GUARD_CODE, length;
    if ((length = guarded_number_length(v)) == 0) return 0;
    *kind = is_version(v->text + v->at, length) ? GANZ_GUARD_CODE : GANZ_GUARD_NUMBER;
    return length;
}

bool ganz_guards_find(ganz_guards *g, const char *text, size_t begin, size_t end, bool latin)
{
    view v = {.text = text, .begin = begin, .at = begin, .end = end};
    while (v.at < end) {
        int32_t code;
        ganz_guard_kind kind;
        const size_t step = ganz_next_character(text + v.at, &code);
        const size_t length = ganz_is_space(code) ? 0 : guard_length(&v, latin, &kind);
        if (length > 0) {
            if (!ganz_grow((void **)&g->items, &g->capacity, g->count + 1, sizeof *g->items)) return false;
            g->items[g->count++] = (ganz_guard){.kind = kind, .begin = v.at, .end = v.at + length};
        }
        v.at += length > 0 ? length : step;
    }
    return true;
}

bool ganz_guards_leave_words(const ganz_guards *g, const char *text, size_t begin, size_t end)
{
    size_t next = 0;
    for (size_t at = begin; at < end;) {
        if (next < g->count && at == g->items[next].begin) {
            at = g->items[next++].end;
            continue;
        }
        int32_t code;
        at += ganz_next_character(text + at, &code);
        if (ganz_is_alnum(code) && !(code >= '0' && code <= '9')) return true;
    }
    return false;
}
