/* German times are read into hours and minutes and written as English ones. */
#include "document/clock_read.h"

#include <stdio.h>
#include <string.h>

#include "text/tokenizer.h"
#include "text/unicode.h"

/* One time, or two with a word or a dash between them. */
typedef struct clock_time {
    ganz_time_of_day times[2];
    int count;
    size_t first;       /* bytes of the first of two; of one: with "Uhr" */
    ganz_day_half half; /* that words beside it name, where it matters */
    bool second;        /* of two, of which another guard has the first */
} clock_time;

enum { WORDS_BEFORE = 40, WORDS_BEHIND = 24 /* bytes in which words say which half of the day is meant */ };

static ganz_day_half half_around(const ganz_clock_place *p, size_t end)
{
    const size_t from = p->at - p->begin > WORDS_BEFORE ? p->at - WORDS_BEFORE : p->begin;
    return ganz_clock_german_half(p->text, from, p->end - end > WORDS_BEHIND ? end + WORDS_BEHIND : p->end);
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* True if the time at a place is the second of two: then the first one has its half of the day. */
static bool is_second(const ganz_clock_place *p)
{
    const size_t least = p->at - p->begin > 8 ? p->at - 8 : p->begin;
    for (size_t at = least; at < p->at; at++)
        if (ganz_clock_digit(p->text, p->at, at) && at + 1 + ganz_clock_uhr_between(p->text, p->end, at + 1) == p->at)
            return true;
    return false;
}

static bool read_clock(const ganz_clock_place *p, clock_time *c)
{
    const char *const text = p->text;
    *c = (clock_time){.count = 1, .second = is_second(p)};
    c->first = ganz_clock_time(text, p->end, p->at, &c->times[0]);
    if (c->first == 0) return false;
    const size_t uhr = ganz_clock_uhr(text, p->end, p->at + c->first);
    if (uhr > 0) {
        c->first += uhr;
        if (c->times[0].minute < 0)
            c->first += ganz_clock_uhr_minutes(text, p->end, p->at + c->first, &c->times[0].minute);
        c->half = c->times[0].hour <= 12 ? half_around(p, p->at + c->first) : GANZ_NO_HALF;
        c->times[0].hour = ganz_clock_hour_of_day(c->times[0].hour, c->half);
        return true;
    }
    const size_t between = ganz_clock_uhr_between(text, p->end, p->at + c->first);
    const size_t second = between > 0 ? ganz_clock_time(text, p->end, p->at + c->first + between, &c->times[1]) : 0;
    c->count = 2;
    return second > 0 && ganz_clock_uhr(text, p->end, p->at + c->first + between + second) > 0;
}

/* "8 Uhr" is 8 o'clock to everybody. */
static bool is_telling(const ganz_time_of_day *t) { return t->hour == 0 || t->hour > 12 || t->minute >= 0; }

static size_t german_at(const ganz_clock_place *p)
{
    clock_time c;
    if (!ganz_clock_digit(p->text, p->end, p->at) || !read_clock(p, &c) || c.half == GANZ_SEVERAL_HALVES) return 0;
    return is_telling(&c.times[0]) || (c.count == 2 && is_telling(&c.times[1])) ? c.first : 0;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static bool is_afternoon(const ganz_time_of_day *t) { return t->hour >= 12 && t->hour < 24; }
static bool is_midnight(const ganz_time_of_day *t) { return t->hour % 24 == 0 && t->minute <= 0; }
static int hour_of_half(const ganz_time_of_day *t) { return t->hour % 12 == 0 ? 12 : t->hour % 12; }

/* Of two times in one half of the day the second alone says which. */
static bool shares_half(const clock_time *c)
{
    return c->count == 2 && is_afternoon(&c->times[0]) == is_afternoon(&c->times[1]) && !is_midnight(&c->times[1]);
}

static bool write_english(ganz_text *out, const ganz_clock_place *p, const char *after, size_t bytes)
{
    (void)after, (void)bytes;
    char english[32];
    clock_time c;
    if (!read_clock(p, &c)) return false;
    const ganz_time_of_day *const t = &c.times[0];
    if (is_midnight(t)) return ganz_text_append(out, "midnight", 8);
    int n = snprintf(english, sizeof english, "%d", hour_of_half(t));
    if (t->minute >= 0) n += snprintf(english + n, sizeof english - (size_t)n, ":%02d", t->minute);
    if (!shares_half(&c)) n += snprintf(english + n, sizeof english - (size_t)n, is_afternoon(t) ? " pm" : " am");
    return ganz_text_append(out, english, (size_t)n);
}

/* ---- finding ------------------------------------------------------------------------------------ */

/* A number alone may be about something else: it is the hour if it counts to 24 as the German one, or after "at". */
static bool is_hour_alone(const clock_time *c, const char *text, size_t at, const ganz_time_of_day *t)
{
    static const char *const before[] = {"at ", "until ", "till ", "by ", "from ", "between "};
    const size_t words = GANZ_COUNT(before) - (c->count == 1 ? 2 : 0); /* the last two begin a pair */
    if (t->hour == c->times[0].hour && t->hour > 12) return true;
    for (size_t i = 0; i < words; i++) {
        const size_t bytes = strlen(before[i]);
        if (at >= bytes && (text[at - bytes] | 0x20) == before[i][0] &&
            ganz_clock_has(text, at, at - bytes + 1, before[i] + 1))
            return true;
    }
    return false;
}

/* Whether an English time is right: by its half of the day, by counting to 24 (15:30), or because the time behind it
 * says its half. */
static bool is_right(const clock_time *c, const ganz_time_of_day *t, bool colon, const char *half, size_t bytes)
{
    if (bytes == 0 && t->hour > 12) return colon && t->hour == c->times[0].hour && !c->second;
    if (bytes == 0) return shares_half(c);
    if (half[0] == ' ') half++;
    return t->hour <= 12 && (half[0] | 0x20) == (is_afternoon(&c->times[0]) ? 'p' : 'a');
}

/* Bytes of the wanted time at english[at]; 0: it is not there. */
static size_t match(const clock_time *c, bool alone, const char *english, size_t bytes, size_t at, bool *right)
{
    ganz_time_of_day t;
    *right = true;
    if (is_midnight(&c->times[0]) && ganz_clock_has(english, bytes, at, "midnight")) return 8;
    if (!ganz_clock_digit(english, bytes, at) || (at > 0 && ganz_clock_joins(english[at - 1]))) return 0;
    const size_t length = ganz_clock_time(english, bytes, at, &t), end = at + length;
    if (length == 0 || !ganz_clock_same(&t, &c->times[0])) return 0;
    const size_t half = ganz_clock_half(english, bytes, end);
    if (half == 0 && end < bytes && (ganz_is_alnum((unsigned char)english[end]) || (unsigned char)english[end] >= 0x80))
        return 0;
    if (half == 0 && t.minute < 0 && !(alone && is_hour_alone(c, english, at, &t))) return 0;
    *right = is_right(c, &t, t.minute >= 0 && english[end - 3] == ':', english + end, half);
    return length + half;
}

static size_t find_english(const ganz_clock_place *p, ganz_clock_search search, const char *english, size_t bytes,
                           size_t *at, bool *right)
{
    clock_time c;
    if (!read_clock(p, &c)) return 0;
    for (; *at < bytes; ++*at) {
        const size_t length = match(&c, search == GANZ_CLOCK_ALONE, english, bytes, *at, right);
        if (length > 0 && (*right || search != GANZ_CLOCK_RIGHT)) return length;
    }
    return 0;
}

const ganz_clock_way ganz_clock_from_german = {.at = german_at, .find = find_english, .write = write_english};
