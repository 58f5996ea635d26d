/* English times are read into hours and minutes and written as German ones. */
#include "document/clock_read.h"

#include <stdio.h>
#include <string.h>

#include "document/slip.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

/* What stands between two times. */
typedef enum { NO_JOINT, DASH, TO, AND, OR } clock_joint;

/* One time, or two that one word or dash makes a span, counted to 24. */
typedef struct clock_time {
    ganz_time_of_day times[2];
    clock_joint joint; /* NO_JOINT: there is but one */
    bool ends;         /* it is the end of something: midnight is 24 Uhr then */
    size_t bytes;
} clock_time;

/* ---- reading ------------------------------------------------------------------------------------ */

/* The letter of "pm", with the space before it: 'p'. 0: another word is there. */
static char read_half(const char *text, size_t end, size_t at, size_t *bytes)
{
    *bytes = ganz_clock_half(text, end, at);
    if (*bytes == 0) return 0;
    const char letter = (char)(text[at + ganz_clock_space(text, end, at)] | 0x20);
    return letter == 'a' || letter == 'p' ? letter : 0;
}

/* Counts to 24; false: there is no such time. "15:30 pm" is as clear as 15:30. */
static bool count_to_24(ganz_time_of_day *t, char half)
{
    if (t->hour > 12) return half == 'p' && t->hour < 24;
    t->hour = t->hour % 12 + (half == 'p' ? 12 : 0);
    return true;
}

static int minutes_of(const ganz_time_of_day *t) { return 60 * t->hour + (t->minute > 0 ? t->minute : 0); }

/* Of 10-11 am the first is before noon as well, of 11-2 pm it is not. */
static void count_by_second(ganz_time_of_day *t, const ganz_time_of_day *second)
{
    const int half = second->hour / 12 * 12;
    if (t->hour > 12) return;
    t->hour = t->hour % 12 + half;
    if (minutes_of(t) >= minutes_of(second)) t->hour = t->hour % 12 + 12 - half;
}

/* What is between two times, spaces included. */
static size_t read_joint(const char *text, size_t end, size_t at, clock_joint *joint)
{
    static const struct {
        const char *word;
        clock_joint joint;
    } words[] = {{"-", DASH},  {"\xE2\x80\x93", DASH}, {"\xE2\x80\x94", DASH}, {"to", TO}, {"until", TO},
                 {"till", TO}, {"through", TO},        {"and", AND},           {"or", OR}};
    const size_t space = ganz_clock_space(text, end, at);
    for (size_t i = 0; i < GANZ_COUNT(words); i++) {
        const size_t bytes = strlen(words[i].word);
        if (!ganz_clock_has(text, end, at + space, words[i].word)) continue;
        const size_t behind = ganz_clock_space(text, end, at + space + bytes);
        if (words[i].joint != DASH && (space == 0 || behind == 0)) continue;
        *joint = words[i].joint;
        return space + bytes + behind;
    }
    return 0;
}

/* True if the word before a number is in the list, or begins as one of a list of beginnings. */
static bool follows_one_of(const ganz_clock_place *p, const char *list, size_t letters)
{
    size_t last = p->at;
    while (last > p->begin && (p->text[last - 1] == ' ' || p->text[last - 1] == '.' || p->text[last - 1] == ':'))
        last--;
    size_t first = last;
    while (first > p->begin && ganz_is_alnum((unsigned char)p->text[first - 1])) first--;
    const size_t bytes = last - first;
    return bytes >= letters && ganz_listed(list, p->text + first, letters > 0 ? letters : bytes);
}

/* A number before a word such as "and" is an hour after "between", not everywhere. */
static bool leads_hours(const ganz_clock_place *p)
{
    static const char before[] = " from between at around about after before by until till open hours daily weekdays ";
    static const char days[] = " mon tue wed thu fri sat sun ";
    return p->at == p->begin || p->text[p->at - 1] == '(' || follows_one_of(p, before, 0) || follows_one_of(p, days, 3);
}

/* True if what follows is no thing that is counted: between 10 and 5 years ago. */
static bool counts_nothing(const ganz_clock_place *p, size_t at)
{
    static const char after[] = " on every each daily weekdays weekends to for if or and in at we you the local ";
    at += ganz_clock_space(p->text, p->end, at);
    size_t last = at;
    while (last < p->end && ganz_is_alnum((unsigned char)p->text[last])) last++;
    const bool name = last > at && p->text[at] >= 'A' && p->text[at] <= 'Z'; /* of a day */
    return (last == at && (at == p->end || p->text[at] != '%')) || name || ganz_listed(after, p->text + at, last - at);
}

/* "8:30-5:30", "open 9-5" and "between 9 and 5" end in the afternoon: no half of the day is said, but hours fall. */
static bool falls(const ganz_clock_place *p, const clock_time *c, clock_joint joint, size_t last)
{
    static const char before[] =
        " from open opens closed hours daily weekdays weekends served breakfast brunch lunch dinner appointments ";
    static const char days[] = " mon tue wed thu fri sat sun ";
    const ganz_time_of_day *const first = &c->times[0], *const second = &c->times[1];
    if (first->hour < 6 || first->hour > 12 || second->hour < 1 || second->hour > 11) return false;
    if (minutes_of(second) >= minutes_of(first)) return false;
    if (first->minute % 5 > 0 || second->minute % 5 > 0) return false; /* chapter and verse */
    const bool between = joint == AND && follows_one_of(p, " between ", 0);
    const bool said = first->minute >= 0 && second->minute >= 0;
    if (joint != DASH && !between) return false;
    if (!said && !counts_nothing(p, last)) return false;
    if (!said && !between && !follows_one_of(p, before, 0) && !follows_one_of(p, days, 3)) return false;
    return !ganz_clock_goes_on(p->text, p->end, last) && !ganz_tells_results(p->text, p->begin, p->end, p->at, last);
}

/* "9 am-noon", "9 to midnight". */
static size_t read_noon(const ganz_clock_place *p, size_t at, ganz_time_of_day *t)
{
    const bool noon = ganz_clock_has(p->text, p->end, at, "noon");
    const size_t bytes = noon ? 4 : ganz_clock_has(p->text, p->end, at, "midnight") ? 8 : 0;
    *t = (ganz_time_of_day){noon ? 12 : 0, -1};
    return ganz_clock_goes_on(p->text, p->end, at + bytes) ? 0 : bytes;
}

/* The second time of a span whose first one ends at `at`. */
static bool read_second(const ganz_clock_place *p, size_t at, bool half_said, clock_time *c)
{
    clock_joint joint = NO_JOINT;
    size_t half;
    const size_t between = read_joint(p->text, p->end, at, &joint);
    const bool tight = joint == DASH && between <= 3 && !ganz_clock_space(p->text, p->end, at);
    if (between == 0 || (half_said && joint != DASH && joint != TO)) return false;
    if (!half_said && c->times[0].minute < 0 && !tight && !leads_hours(p)) return false;
    size_t second = ganz_clock_time(p->text, p->end, at + between, &c->times[1]);
    if (second == 0 && (second = read_noon(p, at + between, &c->times[1])) > 0) {
        c->joint = joint;
        c->bytes = at - p->at + between + second;
        return true;
    }
    if (second == 0) return false;
    char letter = read_half(p->text, p->end, at + between + second, &half);
    if (letter == 0 && !half_said && falls(p, c, joint, at + between + second)) letter = 'p';
    if (letter == 0 || !count_to_24(&c->times[1], letter)) return false;
    c->joint = joint;
    c->bytes = at - p->at + between + second + half;
    return true;
}

/* Two numbers that are one after the other with a dash, as in 2024-10-5 pm, are no hours. */
static bool is_in_row(const ganz_clock_place *p)
{
    const size_t at = p->at;
    const bool sign = at > p->begin && (p->text[at - 1] == '-' || p->text[at - 1] == '/');
    return sign && at > p->begin + 1 && ganz_clock_digit(p->text, p->end, at - 2);
}

static bool read_clock(const ganz_clock_place *p, clock_time *c)
{
    size_t half;
    *c = (clock_time){.joint = NO_JOINT};
    const size_t first = ganz_clock_time(p->text, p->end, p->at, &c->times[0]);
    if (first == 0 || is_in_row(p)) return false;
    const char letter = read_half(p->text, p->end, p->at + first, &half);
    c->ends = follows_one_of(p, " until till to ", 0);
    if (letter == 0) {
        if (!read_second(p, p->at + first, false, c)) return false;
        return count_by_second(&c->times[0], &c->times[1]), true;
    }
    if (!count_to_24(&c->times[0], letter)) return false;
    if (!read_second(p, p->at + first + half, true, c)) c->bytes = first + half;
    return true;
}

static size_t english_at(const ganz_clock_place *p)
{
    clock_time c;
    return ganz_clock_digit(p->text, p->end, p->at) && read_clock(p, &c) ? c.bytes : 0;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static size_t write_time(char *out, size_t room, const ganz_time_of_day *t, bool ends)
{
    const int hour = t->hour == 0 && t->minute <= 0 && ends ? 24 : t->hour;
    const int n = t->minute < 0 ? snprintf(out, room, "%d", hour) : snprintf(out, room, "%d:%02d", hour, t->minute);
    return (size_t)n;
}

/* The unit may be in the translation already: "um X1 Uhr", "zwischen X1 und 17 Uhr". */
static bool has_unit(const char *text, size_t bytes)
{
    ganz_time_of_day t;
    const size_t between = ganz_clock_uhr_between(text, bytes, 0);
    const size_t second = between > 0 ? ganz_clock_time(text, bytes, between, &t) : 0;
    const size_t at = second > 0 ? between + second : 0, word = at + ganz_clock_space(text, bytes, at);
    return word > at && (ganz_clock_has(text, bytes, word, "Uhr") || ganz_clock_has(text, bytes, word, "UHR"));
}

static bool write_german(ganz_text *out, const ganz_clock_place *p, const char *after, size_t bytes)
{
    static const char *const joints[] = {[DASH] = "\xE2\x80\x93", [TO] = " bis ", [AND] = " und ", [OR] = " oder "};
    char german[48];
    clock_time c;
    if (!read_clock(p, &c)) return false;
    size_t n = write_time(german, sizeof german, &c.times[0], c.ends);
    if (c.joint != NO_JOINT) {
        n += (size_t)snprintf(german + n, sizeof german - n, "%s", joints[c.joint]);
        n += write_time(german + n, sizeof german - n, &c.times[1], true);
    }
    return ganz_text_append(out, german, n) && (has_unit(after, bytes) || ganz_text_append(out, " Uhr", 4));
}

/* ---- finding ------------------------------------------------------------------------------------ */

/* A German text that a time is looked for in. */
typedef struct german_text {
    const char *text;
    size_t bytes;
    ganz_clock_search search;
} german_text;

typedef struct german_time {
    ganz_time_of_day time;
    bool said; /* by minutes or its unit, so that it is no other number */
    bool half; /* "AM" or the like is behind it, which is no German */
    bool word; /* it has no digits */
} german_time;

static const char *const hours[] = {"null",   "ein",  "zwei", "drei", "vier", "f\xC3\xBCnf", "sechs",
                                    "sieben", "acht", "neun", "zehn", "elf",  "zw\xC3\xB6lf"};

/* True if hours, rather than other numbers, follow the words before. */
static bool follows_hour_word(const german_text *g, size_t at)
{
    static const char *const before[] = {"um ",   "gegen ",    "ab ",   "bis ",    "vor ",
                                         "nach ", "zwischen ", "seit ", "jeweils "};
    for (size_t i = 0; i < GANZ_COUNT(before); i++) {
        const size_t bytes = strlen(before[i]);
        if (at >= bytes && (g->text[at - bytes] | 0x20) == before[i][0] &&
            ganz_clock_has(g->text, at, at - bytes + 1, before[i] + 1))
            return true;
    }
    return false;
}

/* An hour or a time of the day in letters: "zwölf Uhr", "um acht", "Mitternacht". */
static size_t read_word(const german_text *g, size_t at, german_time *t)
{
    const bool midnight = ganz_clock_has(g->text, g->bytes, at, "Mitternacht");
    const bool noon =
        ganz_clock_has(g->text, g->bytes, at, "Mittag") || ganz_clock_has(g->text, g->bytes, at, "mittags");
    if (at > 0 && ganz_clock_joins(g->text[at - 1])) return 0;
    *t = (german_time){.time = {midnight ? 0 : 12, -1}, .said = true, .word = true};
    if (midnight || noon) return midnight ? 11 : ganz_clock_has(g->text, g->bytes, at, "mittags") ? 7 : 6;
    for (int hour = 1; hour <= 12; hour++) {
        const size_t bytes = strlen(hours[hour]);
        if (!ganz_clock_has(g->text, g->bytes, at, hours[hour]) || ganz_clock_goes_on(g->text, g->bytes, at + bytes))
            continue;
        if (!follows_hour_word(g, at) && ganz_clock_uhr(g->text, g->bytes, at + bytes) == 0) return 0;
        t->time.hour = hour;
        return bytes;
    }
    return 0;
}

/* A time at a place of the text, without its "Uhr". */
static size_t read_german(const german_text *g, size_t at, german_time *t)
{
    if (!ganz_clock_digit(g->text, g->bytes, at)) return read_word(g, at, t);
    *t = (german_time){.said = true};
    size_t length = ganz_clock_time(g->text, g->bytes, at, &t->time);
    if (length == 0 || (at > 0 && ganz_clock_joins(g->text[at - 1]))) return 0;
    const size_t uhr = ganz_clock_uhr(g->text, g->bytes, at + length),
                 half = ganz_clock_half(g->text, g->bytes, at + length);
    const size_t minutes = uhr > 0 && t->time.minute < 0
                               ? ganz_clock_uhr_minutes(g->text, g->bytes, at + length + uhr, &t->time.minute)
                               : 0;
    if (minutes > 0) return length + uhr + minutes;
    t->said = uhr > 0 || half > 0 || t->time.minute >= 0;
    t->half = uhr == 0 && half > 0;
    if (t->half) length += half;
    return ganz_clock_goes_on(g->text, g->bytes, at + length) ? 0 : length;
}

enum { WORDS_BEFORE = 24, WORDS_BEHIND = 20 /* bytes in which a half of the day is named */ };

/* Whether German has this time as it should be: counted to 24, or to 12 beside a word for the half of the day. */
static bool is_right(const german_text *g, const german_time *t, const ganz_time_of_day *wanted, size_t at, size_t end)
{
    if (t->half) return false;
    if (t->time.hour % 24 == wanted->hour) return true;
    const size_t from = at > WORDS_BEFORE ? at - WORDS_BEFORE : 0;
    const size_t to = g->bytes - end > WORDS_BEHIND ? end + WORDS_BEHIND : g->bytes;
    const ganz_day_half half = ganz_clock_german_half(g->text, from, to);
    return ganz_clock_hour_of_day(t->time.hour, half) % 24 == wanted->hour;
}

/* Bytes of a wanted time at a place; *right is false where it is not as it should be, else as it was. */
static size_t match_one(const german_text *g, size_t at, const ganz_time_of_day *wanted, bool span, bool *right)
{
    german_time t;
    const size_t length = read_german(g, at, &t);
    if (length == 0 || !ganz_clock_same(&t.time, wanted)) return 0;
    if (!t.said && !span && (g->search != GANZ_CLOCK_ALONE || !follows_hour_word(g, at))) return 0;
    if (!is_right(g, &t, wanted, at, at + length)) *right = false;
    return length;
}

/* "9:5" for 9-5: models take it for a result. */
static size_t match_result(const german_text *g, const clock_time *c, size_t at)
{
    char result[16];
    if (c->joint != DASH || c->times[0].minute >= 0 || c->times[1].minute >= 0) return 0;
    snprintf(result, sizeof result, "%d:%d", c->times[0].hour, c->times[1].hour % 12);
    const size_t bytes = strlen(result);
    if (!ganz_clock_has(g->text, g->bytes, at, result) || ganz_clock_goes_on(g->text, g->bytes, at + bytes)) return 0;
    return at > 0 && ganz_clock_joins(g->text[at - 1]) ? 0 : bytes;
}

/* Two with a word or a dash between them: the unit of the first, if it has any, goes with it. */
static size_t match(const german_text *g, const clock_time *c, size_t at, bool *right)
{
    const size_t result = match_result(g, c, at);
    *right = result == 0;
    if (result > 0) return result;
    const size_t first = match_one(g, at, &c->times[0], c->joint != NO_JOINT, right);
    if (first == 0 || c->joint == NO_JOINT) return first;
    const size_t end = at + first, uhr = ganz_clock_uhr(g->text, g->bytes, end);
    const size_t between = ganz_clock_uhr_between(g->text, g->bytes, end + uhr);
    const size_t second = between > 0 ? match_one(g, end + uhr + between, &c->times[1], true, right) : 0;
    return second > 0 ? first + uhr + between + second : 0;
}

static size_t find_german(const ganz_clock_place *p, ganz_clock_search search, const char *text, size_t bytes,
                          size_t *at, bool *right)
{
    clock_time c;
    const german_text g = {text, bytes, search};
    if (!read_clock(p, &c)) return 0;
    for (; *at < bytes; ++*at) {
        const size_t length = match(&g, &c, *at, right);
        if (length > 0 && (*right || search != GANZ_CLOCK_RIGHT)) return length;
    }
    return 0;
}

const ganz_clock_way ganz_clock_from_english = {.at = english_at, .find = find_german, .write = write_german};
