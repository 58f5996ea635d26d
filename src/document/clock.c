/* German times are read into hours and minutes and written as English ones. */
#include "document/clock.h"

#include <stdio.h>
#include <string.h>

#include "text/tokenizer.h"
#include "text/unicode.h"

typedef struct time_of_day {
    int hour, minute; /* minute -1: none is said */
} time_of_day;

/* Which half of the day words of a sentence name. */
typedef enum { NO_HALF, MORNING, EVENING, NIGHT, SEVERAL } day_half;

/* One time, or two with a word or a dash between them. */
typedef struct clock_time {
    time_of_day times[2];
    int count;
    size_t first;  /* bytes of the first of two; of one: with "Uhr" */
    day_half half; /* that words of the sentence name, where it matters */
} clock_time;

bool ganz_clock_differs(const ganz_language *source, const ganz_language *target)
{
    return strcmp(source->code, "de") == 0 && strcmp(target->code, "en") == 0;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static bool is_digit(const char *text, size_t end, size_t at) { return at < end && text[at] >= '0' && text[at] <= '9'; }

/* One or two digits; returns their bytes, 0: there are none, or more. */
static size_t read_two(const char *text, size_t end, size_t at, int *value)
{
    size_t bytes = 0;
    *value = 0;
    while (bytes < 3 && is_digit(text, end, at + bytes)) *value = *value * 10 + (text[at + bytes++] - '0');
    return bytes < 3 ? bytes : 0;
}

/* 15, 15.30, 15:30. */
static size_t read_time(const char *text, size_t end, size_t at, time_of_day *t)
{
    const size_t hour = read_two(text, end, at, &t->hour);
    t->minute = -1;
    if (hour == 0 || t->hour > 24) return 0;
    const size_t joint = at + hour;
    if (joint >= end || (text[joint] != '.' && text[joint] != ':') || !is_digit(text, end, joint + 1)) return hour;
    if (read_two(text, end, joint + 1, &t->minute) != 2 || t->minute > 59) return 0;
    return hour + 3;
}

static bool has(const char *text, size_t end, size_t at, const char *word)
{
    return at < end && end - at >= strlen(word) && memcmp(text + at, word, strlen(word)) == 0;
}

/* White space between two words; 0: there is none. */
static size_t read_space(const char *text, size_t end, size_t at)
{
    int32_t code;
    const size_t bytes = at < end ? ganz_next_character(text + at, &code) : 0;
    return bytes > 0 && ganz_is_space(code) ? bytes : 0;
}

/* What may stand between two times, spaces included; returns its bytes. */
static size_t read_between(const char *text, size_t end, size_t at)
{
    static const char *const words[] = {"bis", "und", "oder", "\xE2\x80\x93", "-"};
    const size_t space = read_space(text, end, at);
    for (size_t i = 0; i < GANZ_COUNT(words); i++) {
        const size_t bytes = strlen(words[i]);
        if (!has(text, end, at + space, words[i])) continue;
        const size_t behind = read_space(text, end, at + space + bytes);
        return i < 3 && (space == 0 || behind == 0) ? 0 : space + bytes + behind;
    }
    return 0;
}

/* " Uhr", and the word ends there: "15-Uhr-Zug" is something else. */
static size_t read_uhr(const char *text, size_t end, size_t at)
{
    int32_t code = ' ';
    const size_t space = read_space(text, end, at), behind = at + space + 3;
    if (space == 0 || !has(text, end, at + space, "Uhr")) return 0;
    if (behind < end) ganz_next_character(text + behind, &code);
    return ganz_is_alnum(code) || code == '-' ? 0 : space + 3;
}

/* The minutes of "15 Uhr 30"; returns their bytes, with the space. */
static size_t read_minutes(const char *text, size_t end, size_t at, int *minute)
{
    int value;
    int32_t code = ' ';
    const size_t space = read_space(text, end, at);
    if (space == 0 || read_two(text, end, at + space, &value) != 2 || value > 59) return 0;
    const size_t behind = at + space + 2;
    if (behind < end) ganz_next_character(text + behind, &code);
    if (ganz_is_alnum(code) || ((code == '.' || code == ',' || code == ':') && is_digit(text, end, behind + 1)))
        return 0;
    *minute = value;
    return space + 2;
}

static day_half half_in(const char *text, size_t begin, size_t end)
{
    static const struct {
        const char *word;
        day_half half;
    } words[] = {{"Abend", EVENING},     {"abend", EVENING},       {"achmittag", EVENING},  {"mittags", EVENING},
                 {"Nacht", NIGHT},       {"nachts", NIGHT},        {"orgens", MORNING},     {"ormittag", MORNING},
                 {"am Morgen", MORNING}, {"Fr\xC3\xBCh", MORNING}, {"fr\xC3\xBCh", MORNING}};
    day_half found = NO_HALF;
    for (size_t at = begin; at < end; at++)
        for (size_t i = 0; i < GANZ_COUNT(words); i++) {
            if (text[at] != words[i].word[0] || !has(text, end, at, words[i].word)) continue;
            found = found == NO_HALF || found == words[i].half ? words[i].half : SEVERAL;
        }
    return found;
}

/* Hours up to 12 may be counted to 12: "um 6.30 Uhr abends". */
static int hour_of_day(int hour, day_half h)
{
    if (hour == 0 || hour > 12) return hour;
    if (h == EVENING && hour < 12) return hour + 12;
    if (h == NIGHT && hour > 8) return hour + 12;
    return hour;
}

static bool read_clock(const ganz_clock_place *p, clock_time *c)
{
    const char *const text = p->text;
    *c = (clock_time){.count = 1};
    c->first = read_time(text, p->end, p->at, &c->times[0]);
    if (c->first == 0) return false;
    const size_t uhr = read_uhr(text, p->end, p->at + c->first);
    if (uhr > 0) {
        c->first += uhr;
        if (c->times[0].minute < 0) c->first += read_minutes(text, p->end, p->at + c->first, &c->times[0].minute);
        c->half = c->times[0].hour <= 12 ? half_in(text, p->begin, p->end) : NO_HALF;
        c->times[0].hour = hour_of_day(c->times[0].hour, c->half);
        return true;
    }
    const size_t between = read_between(text, p->end, p->at + c->first);
    const size_t second = between > 0 ? read_time(text, p->end, p->at + c->first + between, &c->times[1]) : 0;
    c->count = 2;
    return second > 0 && read_uhr(text, p->end, p->at + c->first + between + second) > 0;
}

/* "8 Uhr" is 8 o'clock to everybody. */
static bool is_telling(const time_of_day *t) { return t->hour == 0 || t->hour > 12 || t->minute >= 0; }

size_t ganz_clock_at(const ganz_clock_place *p)
{
    clock_time c;
    if (!is_digit(p->text, p->end, p->at) || !read_clock(p, &c) || c.half == SEVERAL) return 0;
    return is_telling(&c.times[0]) || (c.count == 2 && is_telling(&c.times[1])) ? c.first : 0;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static bool is_afternoon(const time_of_day *t) { return t->hour >= 12 && t->hour < 24; }
static bool is_midnight(const time_of_day *t) { return t->hour % 24 == 0 && t->minute <= 0; }
static int hour_of_half(const time_of_day *t) { return t->hour % 12 == 0 ? 12 : t->hour % 12; }

/* Of two times in one half of the day the second alone says which. */
static bool shares_half(const clock_time *c)
{
    return c->count == 2 && is_afternoon(&c->times[0]) == is_afternoon(&c->times[1]) && !is_midnight(&c->times[1]);
}

bool ganz_clock_write(ganz_text *out, const ganz_clock_place *p)
{
    char english[32];
    clock_time c;
    if (!read_clock(p, &c)) return false;
    const time_of_day *const t = &c.times[0];
    if (is_midnight(t)) return ganz_text_append(out, "midnight", 8);
    int n = snprintf(english, sizeof english, "%d", hour_of_half(t));
    if (t->minute >= 0) n += snprintf(english + n, sizeof english - (size_t)n, ":%02d", t->minute);
    if (!shares_half(&c)) n += snprintf(english + n, sizeof english - (size_t)n, is_afternoon(t) ? " pm" : " am");
    return ganz_text_append(out, english, (size_t)n);
}

/* ---- finding ------------------------------------------------------------------------------------ */

/* "a.m.", "PM", "o'clock" and the space before; the last point of a sentence is not taken for one of a.m. */
static size_t read_half(const char *text, size_t end, size_t at)
{
    static const char *const words[] = {"a.m", "p.m", "am", "pm", "AM", "PM", "A.M", "P.M", "o'clock", "Uhr"};
    const size_t space = read_space(text, end, at);
    for (size_t i = 0; i < GANZ_COUNT(words); i++) {
        if (!has(text, end, at + space, words[i])) continue;
        size_t behind = at + space + strlen(words[i]);
        int32_t code = ' ';
        if (behind < end) ganz_next_character(text + behind, &code);
        if (ganz_is_alnum(code)) continue;
        if (code == '.' && words[i][1] == '.' && behind + 1 < end) behind++;
        return behind - at;
    }
    return 0;
}

/* A number alone may be about something else: it is the hour if it counts to 24 as the German one, or after "at". */
static bool is_hour_alone(const clock_time *c, const char *text, size_t at, const time_of_day *t)
{
    static const char *const before[] = {"at ", "until ", "till ", "by ", "from ", "between "};
    const size_t words = GANZ_COUNT(before) - (c->count == 1 ? 2 : 0); /* the last two begin a pair */
    if (t->hour == c->times[0].hour && t->hour > 12) return true;
    for (size_t i = 0; i < words; i++) {
        const size_t bytes = strlen(before[i]);
        if (at >= bytes && (text[at - bytes] | 0x20) == before[i][0] && has(text, at, at - bytes + 1, before[i] + 1))
            return true;
    }
    return false;
}

static bool is_same(const time_of_day *t, const time_of_day *wanted)
{
    const int minute = t->minute > 0 ? t->minute : 0, wanted_minute = wanted->minute > 0 ? wanted->minute : 0;
    return hour_of_half(t) == hour_of_half(wanted) && minute == wanted_minute;
}

/* Whether an English time is right: by its half of the day, by counting to 24 (15:30), or because the time behind it
 * says its half. */
static bool is_right(const clock_time *c, const time_of_day *t, bool colon, const char *half, size_t bytes)
{
    if (bytes == 0 && t->hour > 12) return colon && t->hour == c->times[0].hour;
    if (bytes == 0) return shares_half(c);
    if (half[0] == ' ') half++;
    return t->hour <= 12 && (half[0] | 0x20) == (is_afternoon(&c->times[0]) ? 'p' : 'a');
}

static bool joins(char c) { return ganz_is_alnum((unsigned char)c) || c == '.' || c == ',' || c == ':'; }

/* Bytes of the wanted time at english[at]; 0: it is not there. */
static size_t match(const clock_time *c, bool alone, const char *english, size_t bytes, size_t at, bool *right)
{
    time_of_day t;
    *right = true;
    if (is_midnight(&c->times[0]) && has(english, bytes, at, "midnight")) return 8;
    if (!is_digit(english, bytes, at) || (at > 0 && joins(english[at - 1]))) return 0;
    const size_t length = read_time(english, bytes, at, &t), end = at + length;
    if (length == 0 || !is_same(&t, &c->times[0])) return 0;
    const size_t half = read_half(english, bytes, end);
    if (half == 0 && end < bytes && (ganz_is_alnum((unsigned char)english[end]) || (unsigned char)english[end] >= 0x80))
        return 0;
    if (half == 0 && t.minute < 0 && !(alone && is_hour_alone(c, english, at, &t))) return 0;
    *right = is_right(c, &t, t.minute >= 0 && english[end - 3] == ':', english + end, half);
    return length + half;
}

size_t ganz_clock_find(const ganz_clock_place *p, bool alone, const char *english, size_t bytes, size_t *at,
                       bool *right)
{
    clock_time c;
    if (!read_clock(p, &c)) return 0;
    for (; *at < bytes; ++*at) {
        const size_t length = match(&c, alone, english, bytes, *at, right);
        if (length > 0) return length;
    }
    return 0;
}
