/* Streets with a house number, which nobody finds under another name: 12 High Street, Goethestr. 12. */
#include "document/guard_shapes.h"

#include "document/language.h"

enum { MOST_WORDS = 4, MOST_DIGITS = 4 };

static bool begins_large(const ganz_guard_view *v, size_t at) { return ganz_is_upper(code_at(v, at)); }

/* Bytes of a word: letters, and what joins them. */
static size_t name_length(const ganz_guard_view *v, size_t at)
{
    size_t length = 0;
    for (int32_t code; length < 40 && at + length < v->end;
         length += ganz_next_character(v->text + at + length, &code)) {
        code = code_at(v, at + length);
        if (!(ganz_is_alnum(code) && !(code >= '0' && code <= '9')) && code != '\'' && code != '-' && code != 0x2019)
            break;
    }
    return length;
}

/* Bytes of 12, 221B, 3a. */
static size_t house_length(const ganz_guard_view *v, size_t at)
{
    size_t digits = 0;
    while (digits <= MOST_DIGITS && is_digit(byte_at(v, at + digits))) digits++;
    if (digits == 0 || digits > MOST_DIGITS) return 0;
    const size_t letter = is_letter(byte_at(v, at + digits)) ? 1 : 0;
    return ganz_is_alnum(code_at(v, at + digits + letter)) ? 0 : digits + letter;
}

/* Not a year: "in 2008 Wall Street". */
static bool is_year(const ganz_guard_view *v, size_t at, size_t bytes)
{
    return bytes == 4 && (has(v, at, "19") || has(v, at, "20"));
}

/* 12 High Street, 45 Park Lane. */
static size_t english_length(const ganz_guard_view *v)
{
    static const char kinds[] =
        " street st road rd avenue ave lane ln drive square court boulevard blvd crescent terrace "
        "gardens mews highway parkway ";
    const size_t house = house_length(v, v->at);
    size_t at = v->at + house;
    if (house == 0 || is_year(v, v->at, house) || is_one_of(byte_before(v, v->at), ".,:/-")) return 0;
    for (int words = 0; words < MOST_WORDS && byte_at(v, at) == ' ' && begins_large(v, at + 1); words++) {
        const size_t bytes = name_length(v, ++at);
        if (words > 0 && ganz_listed(kinds, v->text + at, bytes)) return at + bytes - v->at;
        at += bytes;
    }
    return 0;
}

static bool ends_with(const char *text, size_t bytes, const char *end)
{
    const size_t wanted = strlen(end);
    return bytes > wanted + 2 && memcmp(text + bytes - wanted, end, wanted) == 0;
}

/* Hauptstrasse, Goethestr., Rosenweg: not Weg, nor Platz, which tables have (Tabellenplatz 3). */
static bool is_german_street(const char *text, size_t bytes)
{
    static const char *const ends[] = {"stra\303\237e", "strasse", "str.", "weg", "gasse", "allee"};
    static const char ways[] = " Hinweg R\303\274ckweg Umweg Ausweg Fluchtweg ";
    for (size_t i = 0; i < GANZ_COUNT(ends); i++)
        if (ends_with(text, bytes, ends[i])) return !ganz_listed(ways, text, bytes);
    return false;
}

/* Rosenweg 12, Lange Strasse 3a. */
static size_t german_length(const ganz_guard_view *v)
{
    static const char kinds[] = " stra\303\237e strasse allee gasse ";
    size_t bytes = begins_large(v, v->at) ? name_length(v, v->at) : 0, at = v->at + bytes;
    if (bytes == 0) return 0;
    at += byte_at(v, at) == '.';
    if (!is_german_street(v->text + v->at, at - v->at)) {
        if (byte_at(v, at) != ' ' || !begins_large(v, at + 1)) return 0;
        bytes = name_length(v, ++at);
        if (!ganz_listed(kinds, v->text + at, bytes)) return 0;
        at += bytes;
    }
    const size_t house = byte_at(v, at) == ' ' ? house_length(v, at + 1) : 0, end = at + 1 + house;
    const bool counts =
        ends_with(v->text + v->at, at - v->at, "weg") && byte_at(v, end) == ' '; /* im Heimweg 3 Leute */
    return house > 0 && !counts && !is_year(v, at + 1, house) ? end - v->at : 0;
}

size_t ganz_street_length(const ganz_guard_view *v)
{
    return is_digit(byte_at(v, v->at)) ? english_length(v) : german_length(v);
}
