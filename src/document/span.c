/* Spans are looked up in the sentence; its numbers and the words beside them say what is a span and what a result. */
#include "document/slip.h"

#include <string.h>

#include "document/language.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

enum { MOST_DIGITS = 4 };

typedef struct span {
    size_t begin, end; /* in the sentence */
    int first, second;
} span;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
/* Part of a word: letters other than ASCII's whole. */
static bool is_word(char c) { return (unsigned char)c >= 0x80 || ganz_is_alnum((unsigned char)c); }

/* Digits that end at a place, and that begin there. */
static size_t digits_before(const char *text, size_t begin, size_t at)
{
    size_t count = 0;
    while (at - begin > count && count <= MOST_DIGITS && is_digit(text[at - 1 - count])) count++;
    return count <= MOST_DIGITS ? count : 0;
}
static size_t digits_behind(const char *text, size_t end, size_t at)
{
    size_t count = 0;
    while (end - at > count && count <= MOST_DIGITS && is_digit(text[at + count])) count++;
    return count <= MOST_DIGITS ? count : 0;
}

static int value_of(const char *digits, size_t count)
{
    int value = 0;
    for (size_t i = 0; i < count; i++) value = value * 10 + (digits[i] - '0');
    return value;
}

/* True if numbers go on beside them: 1:2:3, 2024-10-05, 5.1-5.3, A-5-7. */
static bool is_part(const char *text, size_t begin, size_t end, size_t first, size_t last)
{
    const char before = first > begin ? text[first - 1] : ' ', behind = last < end ? text[last] : ' ';
    const bool goes_on = (behind == '.' || behind == ',') && end - last > 1 && is_digit(text[last + 1]);
    return goes_on || ganz_is_alnum((unsigned char)before) || ganz_is_alnum((unsigned char)behind) ||
           strchr(".,:-/", before) || strchr(":-/", behind);
}

/* Bytes of the dash at a place. */
static size_t dash_at(const char *text, size_t end, size_t at)
{
    static const char *const dashes[] = {"-", "\xE2\x80\x93", "\xE2\x80\x91"};
    for (size_t i = 0; i < GANZ_COUNT(dashes); i++) {
        const size_t bytes = strlen(dashes[i]);
        if (end - at >= bytes && memcmp(text + at, dashes[i], bytes) == 0) return bytes;
    }
    return 0;
}

/* ---- what it tells ------------------------------------------------------------------------------ */

static const char units[] =
    " second seconds minute minutes min mins hour hours day days night nights week weeks month months year years people "
    "persons person times percent business working page pages steps euros dollars cups tablespoons teaspoons pm am uhr "
    "sekunden minuten stunden tage tagen wochen monate monaten jahre jahren personen leute seiten prozent mal ";
static const char leads[] =
    " monday tuesday wednesday thursday friday saturday sunday weekdays weekends daily age ages aged page pages pp "
    "chapter chapters step steps question questions number numbers nos open hours from between about around for s seite seiten kapitel ";
static const char results[] =
    " score scored scores scoring result results won win wins winning beat beats beaten beating lose loses lost losing loss draw draws "
    "drew drawn defeat defeats defeated victory goal goals lead leads led leading trail trailed trailing match game games "
    "set sets half aggregate vote votes voted odds tie tied level equal equalised penalties shootout final ahead behind "
    "ergebnis ergebnisse gewann gewonnen gewannen schlug schlugen besiegte besiegten bezwang siegte sieg finale verlor verloren niederlage tor tore spiel unentschieden ";

/* Bytes of what joins the spans of a list, which end at a place: "pages 3-5, 8-10 and 12". */
static size_t joint_before(const ganz_slip_view *v, size_t at)
{
    static const char *const joints[] = {", ", "; ", " and ", " und ", " & ", ", and "};
    for (size_t i = 0; i < GANZ_COUNT(joints); i++) {
        const size_t bytes = strlen(joints[i]);
        if (at - v->begin > bytes && memcmp(v->text + at - bytes, joints[i], bytes) == 0) return bytes;
    }
    return 0;
}

/* Where the list of numbers and spans begins that goes on at a place. */
static size_t list_begin(const ganz_slip_view *v, size_t at)
{
    enum { MOST = 32 };
    for (size_t joint, n = 0; n < MOST && (joint = joint_before(v, at)) > 0; n++) {
        size_t first = at - joint;
        while (first > v->begin && (is_digit(v->text[first - 1]) || memchr("-\xE2\x80\x93", v->text[first - 1], 4)))
            first--;
        if (first == at - joint) break;
        at = first;
    }
    return at;
}

/* The word before a place, or before the list that goes on there, is in a list; the word behind a place. */
static bool follows(const ganz_slip_view *v, size_t at, const char *list)
{
    at = list_begin(v, at);
    while (at > v->begin && (v->text[at - 1] == ' ' || v->text[at - 1] == '.')) at--; /* pp. 3-5 */
    size_t first = at;
    while (first > v->begin && is_word(v->text[first - 1])) first--;
    return ganz_listed(list, v->text + first, at - first);
}
static bool leads_to(const ganz_slip_view *v, size_t at, const char *list)
{
    while (at < v->end && (v->text[at] == ' ' || v->text[at] == '-')) at++;
    size_t last = at;
    while (last < v->end && is_word(v->text[last])) last++;
    return ganz_listed(list, v->text + at, last - at);
}

/* True if a word anywhere is one of those that go with results. */
static bool speaks_of_results(const char *text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++) {
        if (at > begin && is_word(text[at - 1])) continue;
        size_t last = at;
        while (last < end && is_word(text[last])) last++;
        if (ganz_listed(results, text + at, last - at)) return true;
    }
    return false;
}

bool ganz_tells_results(const char *text, size_t begin, size_t end, size_t first, size_t last)
{
    const ganz_slip_view v = {.text = text, .begin = begin, .end = end};
    return !follows(&v, first, leads) && !leads_to(&v, last, units) && speaks_of_results(text, begin, end);
}

/* Hours may fall (open 9-5), other spans rise; results mostly name the winner first. */
static bool is_span(const ganz_slip_view *v, const span *s)
{
    if (leads_to(v, s->end, units) || follows(v, s->begin, leads)) return true;
    return s->first > 0 && s->first < s->second && !speaks_of_results(v->text, v->begin, v->end);
}

/* ---- finding ------------------------------------------------------------------------------------ */

/* The span whose dash is at a place. */
static bool read_span(const ganz_slip_view *v, size_t at, size_t dash, span *s)
{
    const size_t before = digits_before(v->text, v->begin, at), behind = digits_behind(v->text, v->end, at + dash);
    if (before == 0 || behind == 0 || is_part(v->text, v->begin, v->end, at - before, at + dash + behind)) return false;
    *s = (span){.begin = at - before,
                .end = at + dash + behind,
                .first = value_of(v->text + at - before, before),
                .second = value_of(v->text + at + dash, behind)};
    return true;
}

size_t ganz_span_dash(const ganz_slip_view *v, size_t colon, size_t *dash)
{
    const char *const text = v->translation;
    const size_t before = digits_before(text, 0, colon), behind = digits_behind(text, v->bytes, colon + 1);
    if (text[colon] != ':' || before == 0 || behind == 0) return 0;
    if (is_part(text, 0, v->bytes, colon - before, colon + 1 + behind)) return 0;
    const int first = value_of(text + colon - before, before), second = value_of(text + colon + 1, behind);
    for (*dash = v->begin; *dash < v->end; ++*dash) {
        span s;
        const size_t bytes = dash_at(v->text, v->end, *dash);
        if (bytes == 0 || !read_span(v, *dash, bytes, &s) || s.first != first || s.second != second) continue;
        return is_span(v, &s) ? bytes : 0;
    }
    return 0;
}
