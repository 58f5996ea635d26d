/* Times of day: the ways that are known, and what both read alike. */
#include "document/clock_read.h"

#include <string.h>

#include "text/tokenizer.h"
#include "text/unicode.h"

const ganz_clock_way *ganz_clock_way_of(const ganz_language *source, const ganz_language *target)
{
    const bool german = strcmp(source->code, "de") == 0 && strcmp(target->code, "en") == 0;
    const bool english = strcmp(source->code, "en") == 0 && strcmp(target->code, "de") == 0;
    return german ? &ganz_clock_from_german : english ? &ganz_clock_from_english : NULL;
}

bool ganz_clock_digit(const char *text, size_t end, size_t at)
{
    return at < end && text[at] >= '0' && text[at] <= '9';
}

bool ganz_clock_has(const char *text, size_t end, size_t at, const char *word)
{
    return at < end && end - at >= strlen(word) && memcmp(text + at, word, strlen(word)) == 0;
}

size_t ganz_clock_two(const char *text, size_t end, size_t at, int *value)
{
    size_t bytes = 0;
    *value = 0;
    while (bytes < 3 && ganz_clock_digit(text, end, at + bytes)) *value = *value * 10 + (text[at + bytes++] - '0');
    return bytes < 3 ? bytes : 0;
}

size_t ganz_clock_time(const char *text, size_t end, size_t at, ganz_time_of_day *t)
{
    const size_t hour = ganz_clock_two(text, end, at, &t->hour);
    t->minute = -1;
    if (hour == 0 || t->hour > 24) return 0;
    const size_t joint = at + hour;
    if (joint >= end || (text[joint] != '.' && text[joint] != ':') || !ganz_clock_digit(text, end, joint + 1))
        return hour;
    if (ganz_clock_two(text, end, joint + 1, &t->minute) != 2 || t->minute > 59) return 0;
    return hour + 3;
}

size_t ganz_clock_space(const char *text, size_t end, size_t at)
{
    int32_t code;
    const size_t bytes = at < end ? ganz_next_character(text + at, &code) : 0;
    return bytes > 0 && ganz_is_space(code) ? bytes : 0;
}

size_t ganz_clock_half(const char *text, size_t end, size_t at)
{
    static const char *const words[] = {"a.m", "p.m", "am", "pm", "AM",      "PM",
                                        "A.M", "P.M", "Am", "Pm", "o'clock", "Uhr"};
    const size_t space = ganz_clock_space(text, end, at);
    for (size_t i = 0; i < GANZ_COUNT(words); i++) {
        if (!ganz_clock_has(text, end, at + space, words[i])) continue;
        size_t behind = at + space + strlen(words[i]);
        int32_t code = ' ';
        if (behind < end) ganz_next_character(text + behind, &code);
        if (ganz_is_alnum(code)) continue;
        if (code == '.' && words[i][1] == '.' && behind + 1 < end) behind++;
        return behind - at;
    }
    return 0;
}

bool ganz_clock_joins(char c) { return ganz_is_alnum((unsigned char)c) || c == '.' || c == ',' || c == ':'; }

bool ganz_clock_goes_on(const char *text, size_t end, size_t at)
{
    int32_t code = ' ';
    if (at < end) ganz_next_character(text + at, &code);
    return ganz_is_alnum(code) || ((code == '.' || code == ',' || code == ':') && ganz_clock_digit(text, end, at + 1));
}

bool ganz_clock_same(const ganz_time_of_day *t, const ganz_time_of_day *wanted)
{
    const int minute = t->minute > 0 ? t->minute : 0, wanted_minute = wanted->minute > 0 ? wanted->minute : 0;
    return t->hour % 12 == wanted->hour % 12 && minute == wanted_minute;
}

size_t ganz_clock_uhr_between(const char *text, size_t end, size_t at)
{
    static const char *const words[] = {"bis", "und", "oder", "\xE2\x80\x93", "-"};
    const size_t space = ganz_clock_space(text, end, at);
    for (size_t i = 0; i < GANZ_COUNT(words); i++) {
        const size_t bytes = strlen(words[i]);
        if (!ganz_clock_has(text, end, at + space, words[i])) continue;
        const size_t behind = ganz_clock_space(text, end, at + space + bytes);
        return i < 3 && (space == 0 || behind == 0) ? 0 : space + bytes + behind;
    }
    return 0;
}

size_t ganz_clock_uhr(const char *text, size_t end, size_t at)
{
    int32_t code = ' ';
    const size_t space = ganz_clock_space(text, end, at), behind = at + space + 3;
    if (space == 0 || !ganz_clock_has(text, end, at + space, "Uhr")) return 0;
    if (behind < end) ganz_next_character(text + behind, &code);
    return ganz_is_alnum(code) || code == '-' ? 0 : space + 3;
}

size_t ganz_clock_uhr_minutes(const char *text, size_t end, size_t at, int *minute)
{
    int value;
    const size_t space = ganz_clock_space(text, end, at);
    if (space == 0 || ganz_clock_two(text, end, at + space, &value) != 2 || value > 59) return 0;
    if (ganz_clock_goes_on(text, end, at + space + 2)) return 0;
    *minute = value;
    return space + 2;
}

ganz_day_half ganz_clock_german_half(const char *text, size_t begin, size_t end)
{
    static const struct {
        const char *word;
        ganz_day_half half;
    } words[] = {{"Abend", GANZ_EVENING},       {"abend", GANZ_EVENING},      {"achmittag", GANZ_EVENING},
                 {"mittags", GANZ_EVENING},     {"Nacht", GANZ_NIGHT},        {"nachts", GANZ_NIGHT},
                 {"orgens", GANZ_MORNING},      {"ormittag", GANZ_MORNING},   {"am Morgen", GANZ_MORNING},
                 {"Fr\xC3\xBCh", GANZ_MORNING}, {"fr\xC3\xBCh", GANZ_MORNING}};
    ganz_day_half found = GANZ_NO_HALF;
    for (size_t at = begin; at < end; at++)
        for (size_t i = 0; i < GANZ_COUNT(words); i++) {
            if (text[at] != words[i].word[0] || !ganz_clock_has(text, end, at, words[i].word)) continue;
            found = found == GANZ_NO_HALF || found == words[i].half ? words[i].half : GANZ_SEVERAL_HALVES;
        }
    return found;
}

int ganz_clock_hour_of_day(int hour, ganz_day_half h)
{
    if (hour == 0 || hour > 12) return hour;
    if (h == GANZ_EVENING && hour < 12) return hour + 12;
    if (h == GANZ_NIGHT && hour > 8) return hour + 12;
    return hour;
}
