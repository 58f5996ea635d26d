/* A line is read into its day, its hour and what else it says, which are written in the order of the other language. */
#include "document/mail.h"

#include <stdio.h>
#include <string.h>

#include "document/letter.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

enum { ENGLISH, GERMAN, LANGUAGES, LONGEST = 300, MOST_WORDS = 40 };

typedef struct word {
    const char *text;
    size_t bytes;
} word;

typedef struct when {
    int weekday, day, month, year, hour, minute; /* the first three from 1 on; 0: none is said */
    word date;                                   /* in digits, as it was: 12/03/2024 */
    bool timed;
} when;

/* ---- words -------------------------------------------------------------------------------------- */

static const char *const weekdays[LANGUAGES][7] = {{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"},
                                                   {"Mo.", "Di.", "Mi.", "Do.", "Fr.", "Sa.", "So."}};
static const char *const months[LANGUAGES][12] = {{"January", "February", "March", "April", "May", "June", "July",
                                                   "August", "September", "October", "November", "December"},
                                                  {"Januar", "Februar", "M\xC3\xA4rz", "April", "Mai", "Juni", "Juli",
                                                   "August", "September", "Oktober", "November", "Dezember"}};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is(word w, const char *text) { return strlen(text) == w.bytes && memcmp(w.text, text, w.bytes) == 0; }

static word without(word w, const char *signs)
{
    while (w.bytes > 0 && strchr(signs, w.text[w.bytes - 1])) w.bytes--;
    return w;
}

/* The weekday, from 1 on: whole, or in short. */
static int weekday_of(word w, int language)
{
    static const char *const whole[LANGUAGES][7] = {
        {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"},
        {"Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"}};
    w = without(w, ".");
    for (int i = 0; i < 7; i++) {
        const size_t bytes = language == ENGLISH ? 3 : 2;
        if (is(w, whole[language][i]) || (w.bytes == bytes && memcmp(w.text, weekdays[language][i], bytes) == 0))
            return i + 1;
    }
    return 0;
}

/* The month, from 1 on: whole, or its first letters. */
static int month_of(word w, int language)
{
    w = without(w, ".");
    if (language == GERMAN && is(w, "Mrz")) return 3;
    for (int i = 0; i < 12 && w.bytes > 2; i++)
        if (w.bytes <= strlen(months[language][i]) && memcmp(w.text, months[language][i], w.bytes) == 0) return i + 1;
    return 0;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* A number of so many digits at most, and nothing else; -1: it is none. */
static int number_of(word w, size_t most)
{
    int value = 0;
    if (w.bytes == 0 || w.bytes > most) return -1;
    for (size_t i = 0; i < w.bytes; i++) {
        if (!is_digit(w.text[i])) return -1;
        value = 10 * value + (w.text[i] - '0');
    }
    return value;
}

/* 10:15, 10.15, 10:15:30. */
static bool read_time(when *w, word t)
{
    const char *const colon = memchr(t.text, ':', t.bytes);
    if (!colon) return false;
    const size_t first = (size_t)(colon - t.text), left = t.bytes - first - 1;
    if (left != 2 && (left != 5 || colon[3] != ':' || number_of((word){colon + 4, 2}, 2) < 0)) return false;
    w->hour = number_of((word){t.text, first}, 2);
    w->minute = number_of((word){colon + 1, 2}, 2);
    return w->timed = w->hour >= 0 && w->hour < 24 && w->minute >= 0 && w->minute < 60;
}

/* 12/03/2024, 2024-03-12, 12.03.24. */
static bool is_date(word t)
{
    size_t signs = 0;
    for (size_t i = 0; i < t.bytes; i++) {
        if (is_digit(t.text[i])) continue;
        if (i == 0 || !strchr("/.-", t.text[i])) return false;
        signs++;
    }
    return signs == 2 && t.bytes >= 6 && t.bytes <= 10 && is_digit(t.text[t.bytes - 1]);
}

/* One word of a day and an hour. */
static bool read_word(when *w, word t, int language)
{
    t = without(t, ",");
    const word number = language == GERMAN ? without(t, ".") : t;
    const int value = number_of(number, 4);
    int found;
    if (is(t, language == ENGLISH ? "at" : "um")) return true;
    if ((found = weekday_of(t, language)) > 0) return w->weekday == 0 && (w->weekday = found);
    if ((found = month_of(t, language)) > 0) return w->month == 0 && (w->month = found);
    if (value > 0 && value < 32 && number.bytes < 3) return w->day == 0 && (w->day = value);
    if (value > 1900 && number.bytes == 4) return w->year == 0 && (w->year = value);
    if (is_date(t)) return w->date.bytes == 0 && (w->date = t, true);
    return !w->timed && read_time(w, t);
}

/* The half of the day behind an English hour, "Uhr" behind a German one; words that it takes. */
static size_t read_half(when *w, word t, int language)
{
    t = without(t, ",");
    if (language == GERMAN) return is(t, "Uhr");
    const bool noon = is(t, "PM") || is(t, "pm") || is(t, "p.m.");
    if (!noon && !is(t, "AM") && !is(t, "am") && !is(t, "a.m.")) return 0;
    w->hour = w->hour % 12 + (noon ? 12 : 0);
    return 1;
}

/* How many words tell a day and an hour; 0: they do not. */
static size_t read_when(when *w, const word *words, size_t count, int language)
{
    size_t at = 0;
    *w = (when){0};
    while (at < count && !w->timed)
        if (!read_word(w, words[at++], language)) return 0;
    if (!w->timed || (w->date.bytes == 0 ? w->day == 0 || w->month == 0 : w->day + w->month + w->year > 0)) return 0;
    return at < count ? at + read_half(w, words[at], language) : at;
}

static size_t split(const char *text, size_t bytes, word *words)
{
    size_t count = 0, begin = 0;
    for (size_t at = 0, step; at < bytes && count < MOST_WORDS; at += step) {
        int32_t code;
        step = ganz_next_character(text + at, &code);
        const size_t end = ganz_is_space(code) ? at : at + step;
        if (end > begin && (end == at || end == bytes)) words[count++] = (word){text + begin, end - begin};
        if (end == at) begin = at + step;
    }
    return count;
}

/* ---- persons ------------------------------------------------------------------------------------ */

static bool has_address(word w) { return memchr(w.text, '@', w.bytes) != NULL; }

/* Who wrote: an address, or a name, not "the chairman". */
static bool is_writer(const word *words, size_t count)
{
    static const char small[] = " von van de der den del la zu da dos via ";
    if (has_address(words[count - 1])) return true;
    for (size_t i = 0; i < count; i++) {
        const word w = without(words[i], ",");
        const bool inner = i > 0 && i + 1 < count;
        if (!ganz_is_name(w.text, w.bytes) && !(inner && ganz_listed(small, w.text, w.bytes))) return false;
    }
    return true;
}

/* Who writes or reads, with addresses: not "all members, by info@example.org". */
static bool are_persons(const word *words, size_t count)
{
    const word last = words[count - 1];
    if (!has_address(last) || last.text[0] == '<' || last.text[0] == '[') return has_address(last);
    for (size_t i = 0; i < count; i++) {
        int32_t code;
        ganz_next_character(words[i].text, &code);
        if (ganz_is_lower(code) && !has_address(words[i])) return false;
    }
    return true;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static bool add(ganz_text *out, const char *text) { return ganz_text_append(out, text, strlen(text)); }

static bool add_day(ganz_text *out, const when *w, int language)
{
    char text[64], year[16] = "";
    if (w->weekday > 0 && !(add(out, weekdays[language][w->weekday - 1]) && add(out, ", "))) return false;
    if (w->date.bytes > 0) return ganz_text_append(out, w->date.text, w->date.bytes);
    if (w->year > 0) snprintf(year, sizeof year, " %d", w->year);
    snprintf(text, sizeof text, language == GERMAN ? "%d. %s%s" : "%d %s%s", w->day, months[language][w->month - 1],
             year);
    return add(out, text);
}

static bool add_when(ganz_text *out, const when *w, int language)
{
    char text[32];
    snprintf(text, sizeof text, language == GERMAN ? " um %d:%02d Uhr" : " at %d:%02d", w->hour, w->minute);
    return add_day(out, w, language) && add(out, text);
}

/* An address may be in the line below its bracket. */
static bool add_words(ganz_text *out, const word *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((i > 0 && !is(words[i - 1], "<") && !add(out, " ")) ||
            !ganz_text_append(out, words[i].text, words[i].bytes))
            return false;
    return true;
}

static bool add_quoted(ganz_text *out, const when *w, const word *name, size_t count, int language)
{
    return add(out, language == GERMAN ? "Am " : "On ") && add_when(out, w, language) &&
           add(out, language == GERMAN ? " schrieb " : ", ") && add_words(out, name, count) &&
           add(out, language == GERMAN ? ":" : " wrote:");
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* "On Mon, 4 Mar 2024 at 10:15, Tom Miller <tom@example.org> wrote:" */
static bool write_english(ganz_text *out, word *words, size_t count, bool *known)
{
    when w;
    if (count < 4 || !is(words[0], "On") || !is(words[count - 1], "wrote:")) return true;
    const size_t at = 1 + read_when(&w, words + 1, count - 2, ENGLISH);
    *known = at > 1 && at < count - 1 && is_writer(words + at, count - 1 - at);
    return !*known || add_quoted(out, &w, words + at, count - 1 - at, GERMAN);
}

/* "Am Mo., 4. März 2024 um 10:15 Uhr schrieb Tom Miller <tom@example.org>:", and with the name first. */
static bool write_german(ganz_text *out, word *words, size_t count, bool *known)
{
    when w;
    size_t verb = 0;
    while (verb < count && !is(words[verb], "schrieb")) verb++;
    if (verb + 1 >= count || words[count - 1].text[words[count - 1].bytes - 1] != ':') return true;
    words[count - 1].bytes--;
    const bool first = is(words[0], "Am");
    if (!first && (verb == 0 || !is(words[verb + 1], "am"))) return true;
    const size_t begin = first ? 1 : verb + 2, end = first ? verb : count, name = first ? verb + 1 : 0;
    const size_t read = read_when(&w, words + begin, end - begin, GERMAN), names = first ? count - name : verb;
    *known = read > 0 && begin + read == end && is_writer(words + name, names);
    return !*known || add_quoted(out, &w, words + name, names, ENGLISH);
}

/* "From: tom@example.org", "Sent: Monday, 4 March 2024 10:15". */
static bool write_head(ganz_text *out, const word *words, size_t count, int from, bool *known)
{
    static const char *const labels[LANGUAGES][7] = {
        {"From:", "To:", "Cc:", "Bcc:", "Reply-To:", "Sent:", "Date:"},
        {"Von:", "An:", "Cc:", "Bcc:", "Antwort an:", "Gesendet:", "Datum:"}};
    enum { FIRST_DATE = 5 };
    const int to = from == ENGLISH ? GERMAN : ENGLISH;
    when w;
    for (int i = 0; i < 7; i++) {
        if (!is(words[0], labels[from][i])) continue;
        *known =
            i < FIRST_DATE ? are_persons(words + 1, count - 1) : read_when(&w, words + 1, count - 1, from) == count - 1;
        if (!*known) return true;
        return add(out, labels[to][i]) && add(out, " ") &&
               (i < FIRST_DATE ? add_words(out, words + 1, count - 1) : add_when(out, &w, to));
    }
    return true;
}

bool ganz_mail_write(ganz_text *out, const char *text, size_t bytes, const ganz_language *source,
                     const ganz_language *target, bool *known)
{
    word words[MOST_WORDS];
    const bool english = strcmp(source->code, "en") == 0 && strcmp(target->code, "de") == 0;
    const bool german = strcmp(source->code, "de") == 0 && strcmp(target->code, "en") == 0;
    *known = false;
    if ((!english && !german) || bytes > LONGEST) return true;
    const size_t count = split(text, bytes, words);
    if (count < 2 || count == MOST_WORDS) return true;
    if (!write_head(out, words, count, english ? ENGLISH : GERMAN, known)) return false;
    if (*known) return true;
    return english ? write_english(out, words, count, known) : write_german(out, words, count, known);
}
