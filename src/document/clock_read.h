/* What reading times of day in German and in English shares. */
#ifndef GANZ_DOCUMENT_CLOCK_READ_H
#define GANZ_DOCUMENT_CLOCK_READ_H

#include "document/clock.h"

typedef struct ganz_time_of_day {
    int hour, minute; /* minute -1: none is said */
} ganz_time_of_day;

/* Which half of the day German words name. */
typedef enum ganz_day_half { GANZ_NO_HALF, GANZ_MORNING, GANZ_EVENING, GANZ_NIGHT, GANZ_SEVERAL_HALVES } ganz_day_half;

extern const ganz_clock_way ganz_clock_from_german, ganz_clock_from_english;

/* In all of these, text ends at `end`, and the result is how many bytes of the thing are at `at`; 0: it is not there.
 */

bool ganz_clock_digit(const char *text, size_t end, size_t at);
bool ganz_clock_has(const char *text, size_t end, size_t at, const char *word);

/* One or two digits, not three. */
size_t ganz_clock_two(const char *text, size_t end, size_t at, int *value);

/* 15, 15.30, 15:30. */
size_t ganz_clock_time(const char *text, size_t end, size_t at, ganz_time_of_day *time);

/* White space between two words. */
size_t ganz_clock_space(const char *text, size_t end, size_t at);

/* "a.m.", "PM", "o'clock", "Uhr" and the space before; the last point of a sentence is not taken for one of a.m. */
size_t ganz_clock_half(const char *text, size_t end, size_t at);

/* True if a number, or a word, goes on there, or if what is behind this byte is in the middle of one. */
bool ganz_clock_joins(char before);
bool ganz_clock_goes_on(const char *text, size_t end, size_t at);

/* Hours and minutes of the same dial: 3:30 and 15.30. */
bool ganz_clock_same(const ganz_time_of_day *time, const ganz_time_of_day *wanted);

/* German: " Uhr", where the word ends ("15-Uhr-Zug" is something else); the minutes of "15 Uhr 30", with the space;
 * what may stand between two times, spaces included. */
size_t ganz_clock_uhr(const char *text, size_t end, size_t at);
size_t ganz_clock_uhr_minutes(const char *text, size_t end, size_t at, int *minute);
size_t ganz_clock_uhr_between(const char *text, size_t end, size_t at);

/* The half that German words within a text name, and an hour counted to 24 that was counted to 12: "6.30 Uhr abends".
 */
ganz_day_half ganz_clock_german_half(const char *text, size_t begin, size_t end);
int ganz_clock_hour_of_day(int hour, ganz_day_half half);

#endif
