/* A line is code if it ends as statements and blocks do, and has a call or an operator that sentences do not have. */
#include "document/code.h"

#include <string.h>

enum { LONGEST_LINE = 400 };

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

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

/* Whether what follows a bracket is the end of a word, as in "file(s)" and "Leser(innen)". */
static bool is_plural(const char *inside, size_t bytes)
{
    static const char *const endings[] = {"s)", "es)", "n)", "en)", "e)", "r)", "er)", "in)", "innen)"};
    for (size_t i = 0; i < GANZ_COUNT(endings); i++)
        if (begins(inside, bytes, endings[i])) return true;
    return false;
}

/* name(...): not a word with its plural. */
static bool has_call(const char *line, size_t bytes)
{
    const bool words = memchr(line, ' ', bytes);
    for (size_t i = 1; i < bytes; i++)
        if (line[i] == '(' && is_name(line[i - 1]) && !(words && is_plural(line + i + 1, bytes - i - 1))) return true;
    return false;
}

static bool has_operator(const char *line, size_t bytes)
{
    static const char *const operators[] = {
        " = ", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "++", "->", "=>", "::", ":=", "*="};
    for (size_t i = 0; i < GANZ_COUNT(operators); i++)
        if (has(line, bytes, operators[i])) return true;
    return false;
}

bool ganz_is_code_line(const char *line, size_t bytes)
{
    if (bytes < 4 || bytes > LONGEST_LINE) return false;
    const char last = line[bytes - 1];
    if (last == '{' && (ends(line, bytes, ") {") || ends(line, bytes, "){") || line[0] == '}')) return true;
    if (last == ';' && begins(line, bytes, "return ")) return true;
    if (last != ';' && last != '{' && !(last == '}' && memchr(line, ';', bytes))) return false;
    return has_call(line, bytes) || has_operator(line, bytes);
}
