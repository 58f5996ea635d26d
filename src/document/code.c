/* A line is code if it is a call, or if it ends as statements and blocks do and has a call or an operator that
 * sentences do not have. */
#include "document/code.h"

#include <string.h>

enum { LONGEST_LINE = 400, LONGEST_ASIDE = 5 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80; /* umlauts are, too */
}

static bool is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

static bool has(const char *line, size_t bytes, const char *part)
{
    const size_t n = strlen(part);
    for (size_t i = 0; i + n <= bytes; i++)
        if (memcmp(line + i, part, n) == 0) return true;
    return false;
}

static bool begins(const char *line, size_t bytes, const char *part)
{
    return bytes >= strlen(part) && memcmp(line, part, strlen(part)) == 0;
}

static bool ends(const char *line, size_t bytes, const char *part)
{
    const size_t n = strlen(part);
    return bytes >= n && memcmp(line + bytes - n, part, n) == 0;
}

/* A word's plural, "file(s)", or a part of a law, "Article 6(1)": a few letters or digits in brackets. */
static bool is_aside(const char *inside, size_t bytes)
{
    size_t n = 0;
    while (n < bytes && n <= LONGEST_ASIDE && is_name(inside[n])) n++;
    return n > 0 && n <= LONGEST_ASIDE && n < bytes && inside[n] == ')' && !begins(inside, bytes, "void)");
}

/* name(...): a bracket right behind a small letter, and no aside between words. */
static bool has_call(const char *line, size_t bytes)
{
    const bool words = memchr(line, ' ', bytes);
    for (size_t i = 1; i < bytes; i++) {
        const char before = line[i - 1];
        if (line[i] != '(' || !((before >= 'a' && before <= 'z') || before == '_')) continue;
        if (!words || !is_aside(line + i + 1, bytes - i - 1)) return true;
    }
    return false;
}

static bool has_operator(const char *line, size_t bytes)
{
    static const char *const operators[] = {
        "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "++", "->", "=>", "::", ":=", "*="};
    for (size_t i = 0; i < GANZ_COUNT(operators); i++)
        if (has(line, bytes, operators[i])) return true;
    return false;
}

/* Whether what is assigned or returned is a value: no two words follow each other, "length of the car;", and if `sign`
 * there is more than letters in it. */
static bool is_value(const char *text, size_t bytes, bool sign)
{
    bool signs = false, word = false, space = false; /* word: the last thing but white space was one */
    for (size_t i = 0; i < bytes; i++) {
        const bool letter = is_letter(text[i]);
        if (letter && space && word) return false;
        if (text[i] != ' ') word = letter || (word && !space && is_name(text[i]));
        signs |= text[i] != ' ' && !letter;
        space = text[i] == ' ';
    }
    return signs || !sign;
}

static bool assigns(const char *line, size_t bytes)
{
    for (size_t i = bytes; i > 3; i--)
        if (memcmp(line + i - 3, " = ", 3) == 0) return is_value(line + i, bytes - i - 1, true);
    return false;
}

/* Behind the bracket that closes the one at line[at]; what stands in quotes is not looked at. 0: none does. */
static size_t behind_bracket(const char *line, size_t bytes, size_t at)
{
    int depth = 0;
    for (char quote = 0; at < bytes; at++) {
        const char c = line[at];
        if (quote) {
            if (c == '\\') at++;
            else if (c == quote) quote = 0;
            continue;
        }
        if (c == '"' || c == '\'') quote = c;
        depth += (c == '(') - (c == ')');
        if (depth == 0) return at + 1;
    }
    return 0;
}

/* The ending of a word, "file(s)", "Schüler(innen)", or a number. */
static bool is_ending(const char *inside, size_t bytes)
{
    static const char *const endings[] = {"s)", "es)", "e)", "n)", "en)", "r)", "er)", "in)", "nen)", "innen)"};
    size_t digits = 0;
    for (size_t i = 0; i < GANZ_COUNT(endings); i++)
        if (begins(inside, bytes, endings[i])) return true;
    while (digits < bytes && inside[digits] >= '0' && inside[digits] <= '9') digits++;
    return digits > 0 && begins(inside + digits, bytes - digits, ")");
}

/* Whether a word and a bracket follow at line[at], with no more than that before it: "Foo(" of class Foo(Bar). */
static bool names_bracket(const char *line, size_t bytes, size_t at)
{
    while (at < bytes && is_name(line[at])) at++;
    return at < bytes && line[at] == '(';
}

/* for x in range(5): and the like, which end as no other line with a call or an operator does. */
static bool is_head(const char *line, size_t bytes)
{
    static const char *const words[] = {"while ", "if ", "elif ", "with "};
    const char *const bracket = memchr(line, '(', bytes);
    const size_t inside = bracket ? (size_t)(bracket - line) + 1 : 0;
    const bool calls =
        inside > 1 && is_name(bracket[-1]) && ends(line, bytes, "):") && !is_ending(line + inside, bytes - inside);
    if (line[bytes - 1] != ':') return false;
    if (begins(line, bytes, "def ")) return calls && names_bracket(line, bytes, 4);
    if (begins(line, bytes, "class ")) return calls && names_bracket(line, bytes, 6);
    if (begins(line, bytes, "for ")) return has(line, bytes, " in ") && (calls || (inside && ends(line, bytes, "):")));
    for (size_t i = 0; i < GANZ_COUNT(words); i++)
        if (begins(line, bytes, words[i])) return calls || has_operator(line, bytes);
    return false;
}

/* What brackets of a call hold, and those of words do not: nothing, quotes, signs, names of programs. */
static bool is_argument(const char *inside, size_t bytes)
{
    if (bytes == 0 || (bytes == 1 && !is_ending(inside, bytes + 1))) return true;
    bool digit = false, comma = false;
    for (size_t i = 0; i < bytes; i++) {
        if (inside[i] == '"' || inside[i] == '\'' || inside[i] == '=' || inside[i] == '_' || inside[i] == '(')
            return true;
        digit |= inside[i] >= '0' && inside[i] <= '9';
        comma |= inside[i] == ',';
    }
    return digit && comma;
}

/* print("Good morning")  # with what is said about it: a call and nothing else. */
static bool is_call(const char *line, size_t bytes)
{
    size_t name = 0;
    bool joined = false;
    for (; name < bytes && (is_name(line[name]) || line[name] == '.'); name++)
        joined |= line[name] == '_' || (line[name] == '.' && name > 1 && name + 2 < bytes && is_name(line[name + 2]));
    if (name < 2 || line[0] < 'a' || line[0] > 'z' || name == bytes || line[name] != '(' || line[name - 1] == '.')
        return false;
    size_t end = behind_bracket(line, bytes, name);
    if (end == 0 || (!joined && !is_argument(line + name + 1, end - name - 2))) return false;
    while (end < bytes && line[end] == ' ') end++;
    return end == bytes || line[end] == '#' || begins(line + end, bytes - end, "//");
}

bool ganz_is_code_line(const char *line, size_t bytes)
{
    if (bytes < 4 || bytes > LONGEST_LINE || memchr(line, '\t', bytes)) return false;
    const char last = line[bytes - 1];
    if (is_call(line, bytes) || is_head(line, bytes)) return true;
    if (last == '{' && (ends(line, bytes, ") {") || ends(line, bytes, "){") || line[0] == '}')) return true;
    if (last == ';' && begins(line, bytes, "return ")) return is_value(line + 7, bytes - 8, false);
    if (last != ';' && last != '{' && !(last == '}' && memchr(line, ';', bytes))) return false;
    return has_call(line, bytes) || has_operator(line, bytes) || assigns(line, bytes);
}
