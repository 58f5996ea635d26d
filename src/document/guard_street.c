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

/* English dates end or begin with one: "On October 19 Wall Street", "3 March Park Lane". */
static const char months[] =
    " january february march april may june july august september october november december jan feb mar apr jun "
    "jul aug sep sept oct nov dec ";

/* Not a year: "in 2008 Wall Street". */
static bool is_year(const ganz_guard_view *v, size_t at, size_t bytes)
{
    return bytes == 4 && (has(v, at, "19") || has(v, at, "20"));
}

/* The word before a place, but for a space between them, is in a list. */
static bool is_behind(const ganz_guard_view *v, size_t at, const char *list)
{
    size_t last = at;
    while (last > v->begin && is_one_of(v->text[last - 1], " .")) last--;
    size_t first = last;
    while (first > v->begin && is_letter(v->text[first - 1])) first--;
    return ganz_listed(list, v->text + first, last - first);
}

/* The words between a number and the last of a street may say that they are none: Federal Court, USB Drive, 3 March
 * Park Lane, 10 Best Street Foods. */
static bool is_something_else(const ganz_guard_view *v, size_t begin, size_t kind)
{
    static const char courts[] =
        " supreme federal district high county crown circuit superior municipal family tax labour constitutional "
        "international ";
    static const char drives[] = " usb disk hard flash pen thumb tape optical dvd cd ssd google test ";
    static const char praise[] = " best top great greatest easy amazing famous favorite favourite worst hour hours ";
    if (has(v, kind, "Court")) return is_behind(v, kind, courts);
    const size_t first = name_length(v, begin);
    const bool dated = ganz_listed(months, v->text + begin, first) && kind > begin + first + 2;
    return dated || (has(v, kind, "Drive") && is_behind(v, kind, drives)) ||
           ganz_listed(praise, v->text + begin, first);
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
    if (is_behind(v, v->at, months)) return 0;
    const size_t first = at + space_at(v, at);
    for (size_t words = 0, space; words < MOST_WORDS && (space = space_at(v, at)) > 0; words++) {
        if (!begins_large(v, at += space)) return 0;
        const size_t bytes = name_length(v, at);
        if (words > 0 && ganz_listed(kinds, v->text + at, bytes))
            return is_something_else(v, first, at) ? 0 : at + bytes - v->at;
        at += bytes;
    }
    return 0;
}

static bool ends_with(const char *text, size_t bytes, const char *end)
{
    const size_t wanted = strlen(end);
    return bytes > wanted + 2 && memcmp(text + bytes - wanted, end, wanted) == 0;
}

/* Hauptstrasse, Goethestr., Rosenweg: not Weg, nor Platz, which tables have (Tabellenplatz 3), and not what has a
 * number of its own (Bundesstrasse 27). */
static bool is_german_street(const char *text, size_t bytes)
{
    static const char *const ends[] = {"stra\303\237e", "strasse", "str.", "weg", "gasse", "allee"};
    static const char ways[] =
        " hinweg r\303\274ckweg umweg ausweg fluchtweg heimweg schulweg arbeitsweg radweg wanderweg rechtsweg "
        "l\303\266sungsweg rechenweg rettungsweg transportweg sackgasse bundesstra\303\237e bundesstrasse "
        "landesstra\303\237e kreisstra\303\237e staatsstra\303\237e fernstra\303\237e schnellstra\303\237e "
        "waschstra\303\237e fertigungsstra\303\237e produktionsstra\303\237e montagestra\303\237e ";
    for (size_t i = 0; i < GANZ_COUNT(ends); i++)
        if (ends_with(text, bytes, ends[i])) return !ganz_listed(ways, text, bytes);
    return false;
}

/* True if a number counts what is behind it: "im Heimweg 3 Leute", "eine Strasse 2 km weiter". */
static bool counts(const ganz_guard_view *v, const char *street, size_t bytes, size_t end)
{
    static const char counted[] =
        " m km meter metern kilometer kilometern jahre jahren tage tagen stunden minuten leute menschen personen ";
    if (byte_at(v, end) != ' ') return false;
    return ends_with(street, bytes, "weg") || ganz_listed(counted, v->text + end + 1, name_length(v, end + 1));
}

/* Rosenweg 12, Lange Strasse 3a: not "die Strasse 12". */
static size_t german_length(const ganz_guard_view *v)
{
    static const char kinds[] = " stra\303\237e strasse allee gasse ";
    static const char articles[] =
        " die der eine einer diese dieser jene jede jeder keine meine deine seine ihre unsere eure welche welcher ";
    size_t bytes = begins_large(v, v->at) ? name_length(v, v->at) : 0, at = v->at + bytes;
    if (bytes == 0) return 0;
    at += byte_at(v, at) == '.';
    if (!is_german_street(v->text + v->at, at - v->at)) {
        if (byte_at(v, at) != ' ' || !begins_large(v, at + 1)) return 0;
        if (ganz_listed(articles, v->text + v->at, bytes)) return 0;
        bytes = name_length(v, ++at);
        if (!ganz_listed(kinds, v->text + at, bytes)) return 0;
        at += bytes;
    }
    const size_t space = space_at(v, at), house = space > 0 ? house_length(v, at + space) : 0, end = at + space + house;
    return house > 0 && !counts(v, v->text + v->at, at - v->at, end) && !is_year(v, at + space, house) ? end - v->at
                                                                                                       : 0;
}

size_t ganz_street_length(const ganz_guard_view *v)
{
    return is_digit(byte_at(v, v->at)) ? english_length(v) : german_length(v);
}
