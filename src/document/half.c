/* Halves of the day that models invent: the sentence has the time without one, and no word that names one. */
#include <stdio.h>
#include <string.h>

#include "document/clock_read.h"
#include "document/slip.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

static bool is(const ganz_language *language, const char *code) { return strcmp(language->code, code) == 0; }

/* True if a word of the sentence is in a list. */
static bool has_word(const ganz_slip_view *v, const char *list)
{
    size_t word = v->begin;
    for (size_t at = v->begin, step; at < v->end; at += step) {
        int32_t code;
        step = ganz_next_character(v->text + at, &code);
        if (ganz_is_alnum(code)) continue;
        if (ganz_listed(list, v->text + word, at - word)) return true;
        word = at + step;
    }
    return ganz_listed(list, v->text + word, v->end - word);
}

/* ---- to German ---------------------------------------------------------------------------------- */

/* True if the sentence has the time just as it is counted to 12, nowhere as it is counted to 24, and behind no later
 * one: "9:30 to 5:30" ends in the afternoon. */
static bool has_time(const ganz_slip_view *v, const ganz_time_of_day *counted)
{
    bool found = false;
    int latest = 0; /* minutes */
    for (size_t at = v->begin; at < v->end; at++) {
        ganz_time_of_day t;
        if (at > v->begin && ganz_clock_joins(v->text[at - 1])) continue;
        const size_t bytes = ganz_clock_digit(v->text, v->end, at) ? ganz_clock_time(v->text, v->end, at, &t) : 0;
        if (bytes == 0 || t.minute < 0) continue;
        const int minutes = 60 * t.hour + t.minute;
        const bool same = t.minute == counted->minute && t.hour % 12 == counted->hour % 12;
        if (same && (t.hour != counted->hour - 12 || ganz_clock_half(v->text, v->end, at + bytes) > 0)) return false;
        if (same && latest > minutes) return false;
        if (minutes > latest) latest = minutes;
        found |= same;
    }
    return found;
}

/* "21:30" for 9:30: the hour alone is written anew. */
static size_t invented_in_german(const ganz_slip_view *v, size_t at, char *by)
{
    static const char halves[] =
        " pm p evening evenings tonight night nights afternoon afternoons noon midday dinner supper "
        "lunch sunset ";
    ganz_time_of_day t;
    if (at > 0 && ganz_clock_joins(v->translation[at - 1])) return 0;
    if (ganz_clock_time(v->translation, v->bytes, at, &t) != 5 || t.hour < 13 || t.hour > 23) return 0;
    if (ganz_clock_goes_on(v->translation, v->bytes, at + 5) || !has_time(v, &t) || has_word(v, halves)) return 0;
    snprintf(by, 12, "%d", t.hour - 12);
    return 2;
}

/* ---- to English --------------------------------------------------------------------------------- */

/* How often an hour stands alone in a German sentence, "9 Uhr" or "9 bis 5 Uhr", and behind which one. */
static int count_hour(const ganz_slip_view *v, int hour, size_t *behind)
{
    int count = 0;
    for (size_t at = v->begin; at < v->end; at++) {
        ganz_time_of_day t;
        if (at > v->begin && ganz_clock_joins(v->text[at - 1])) continue;
        const size_t bytes = ganz_clock_digit(v->text, v->end, at) ? ganz_clock_time(v->text, v->end, at, &t) : 0;
        if (bytes == 0 || t.minute >= 0 || t.hour != hour) continue;
        const size_t uhr = ganz_clock_uhr(v->text, v->end, at + bytes);
        if (uhr == 0 && ganz_clock_uhr_between(v->text, v->end, at + bytes) == 0) continue;
        *behind = at + bytes + uhr;
        count++;
    }
    return count;
}

/* True if the words right behind an hour name the other half: "9 Uhr morgens" is no 9 pm. */
static bool is_contrary(const ganz_slip_view *v, int hour, size_t behind, char letter)
{
    enum { NEAR = 16 };
    const size_t end = v->end - behind > NEAR ? behind + NEAR : v->end;
    const ganz_day_half half = ganz_clock_german_half(v->text, behind, end);
    return letter == 'p' && (half == GANZ_MORNING || (half == GANZ_NIGHT && hour < 9));
}

/* The hour whose half of the day is at a place: "9", "9:00". 0: there is none. */
static int hour_before(const ganz_slip_view *v, size_t at)
{
    const char *const t = v->translation;
    int hour;
    if (at >= 3 && memcmp(t + at - 3, ":00", 3) == 0) at -= 3;
    size_t first = at;
    while (first > 0 && at - first < 3 && ganz_clock_digit(t, at, first - 1)) first--;
    if (first == at || (first > 0 && ganz_clock_joins(t[first - 1]))) return 0;
    return ganz_clock_two(t, at, first, &hour) > 0 && hour <= 12 ? hour : 0;
}

/* " pm" for nothing but Uhr, or for one in the morning. */
static size_t invented_in_english(const ganz_slip_view *v, size_t at, char *by)
{
    const size_t half = ganz_clock_half(v->translation, v->bytes, at);
    const char letter =
        half > 0 ? (char)(v->translation[at + ganz_clock_space(v->translation, v->bytes, at)] | 0x20) : 0;
    const int hour = letter == 'p' || letter == 'a' ? hour_before(v, at) : 0;
    size_t behind;
    const int count = hour > 0 ? count_hour(v, hour, &behind) : 0;
    if (count == 0 || count_hour(v, hour + 12, &(size_t){0}) > 0) return 0;
    if (count == 1 && is_contrary(v, hour, behind, letter)) return strcpy(by, " am"), half;
    if (ganz_clock_german_half(v->text, v->begin, v->end) != GANZ_NO_HALF) return 0;
    if (has_word(v, " mittag mitternacht ")) return 0;
    const bool minutes = at >= 3 && memcmp(v->translation + at - 3, ":00", 3) == 0;
    strcpy(by, minutes ? "" : " o'clock");
    return half;
}

size_t ganz_half_invented(const ganz_slip_view *v, size_t at, char *by)
{
    const bool digit = ganz_clock_digit(v->translation, v->bytes, at);
    if (digit && is(v->target, "de")) return invented_in_german(v, at, by);
    const bool behind = at > 0 && ganz_clock_digit(v->translation, v->bytes, at - 1);
    return behind && !digit && is(v->target, "en") ? invented_in_english(v, at, by) : 0;
}
