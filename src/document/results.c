/* A row is read into its numbers, which are compared. */
#include "document/results.h"

#include <string.h>

#include "document/slip.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

enum { MOST_NUMBERS = 32, MOST_DIGITS = 3 };

typedef struct row {
    int numbers[MOST_NUMBERS];
    int count, results;
} row;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t read_number(const char *text, size_t end, size_t at, int *value)
{
    size_t bytes = 0;
    for (*value = 0; at + bytes < end && is_digit(text[at + bytes]) && bytes <= MOST_DIGITS; bytes++)
        *value = *value * 10 + (text[at + bytes] - '0');
    return bytes <= MOST_DIGITS ? bytes : 0;
}

/* Bytes of the dash or colon between two numbers. */
static size_t read_joint(const char *text, size_t end, size_t at)
{
    if (at < end && (text[at] == '-' || text[at] == ':')) return 1;
    const bool dash =
        end - at >= 3 && (memcmp(text + at, "\xE2\x80\x93", 3) == 0 || memcmp(text + at, "\xE2\x80\x91", 3) == 0);
    return dash ? 3 : 0;
}

/* True if a number or a word goes on: 6-3-1, 6-3rd, 6:30.5. */
static bool goes_on(const char *text, size_t end, size_t at)
{
    int32_t code = ' ';
    if (at < end) ganz_next_character(text + at, &code);
    if (ganz_is_alnum(code) || (at < end && text[at] == '/')) return true;
    const size_t sign = at < end && strchr(".,'", text[at]) ? 1 : at < end ? read_joint(text, end, at) : 0;
    return sign > 0 && at + sign < end && is_digit(text[at + sign]);
}

/* "6-3". A colon before two digits may be that of a time of day. */
static size_t read_result(const char *text, size_t end, size_t at, row *r, bool translated)
{
    int first, second;
    const size_t one = read_number(text, end, at, &first);
    const size_t joint = one > 0 && at + one < end ? read_joint(text, end, at + one) : 0;
    const size_t two = joint > 0 ? read_number(text, end, at + one + joint, &second) : 0;
    if (two == 0 || goes_on(text, end, at + one + joint + two) || r->count + 2 > MOST_NUMBERS) return 0;
    if (!translated && text[at + one] == ':' && two > 1) return 0;
    r->numbers[r->count++] = first;
    r->numbers[r->count++] = second;
    r->results++;
    return one + joint + two;
}

/* "(7-4)", "(4)", with the space before. */
static size_t read_tie(const char *text, size_t end, size_t at, row *r)
{
    const size_t open = at < end && text[at] == ' ' ? at + 1 : at;
    if (open >= end || text[open] != '(' || r->count == MOST_NUMBERS) return 0;
    int alone;
    row inside = *r;
    size_t bytes = read_result(text, end, open + 1, &inside, true);
    if (bytes == 0 && (bytes = read_number(text, end, open + 1, &alone)) > 0) inside.numbers[inside.count++] = alone;
    const size_t close = open + 1 + bytes;
    if (bytes == 0 || close >= end || text[close] != ')') return 0;
    *r = inside;
    return close + 1 - at;
}

/* ", " and the like, before another result; in a translation also a word. */
static size_t read_gap(const char *text, size_t end, size_t at, bool words)
{
    static const char *const gaps[] = {", ", "; ", " ", " und ", " and "};
    for (size_t i = 0; i < GANZ_COUNT(gaps) - (words ? 0 : 2); i++) {
        const size_t bytes = strlen(gaps[i]);
        if (end - at > bytes && memcmp(text + at, gaps[i], bytes) == 0 && is_digit(text[at + bytes])) return bytes;
    }
    return 0;
}

static size_t read_row(const char *text, size_t end, size_t at, row *r, bool translated)
{
    size_t last = at;
    *r = (row){.count = 0};
    for (size_t next = at, bytes; (bytes = read_result(text, end, next, r, translated)) > 0;) {
        last = next + bytes;
        last += read_tie(text, end, last, r);
        const size_t gap = read_gap(text, end, last, translated);
        if (gap == 0) break;
        next = last + gap;
    }
    return r->results > 1 ? last - at : 0;
}

/* True if a number, or a word, ends before a place. */
static bool is_inside(const char *text, size_t begin, size_t at)
{
    return at > begin && ((unsigned char)text[at - 1] >= 0x80 || ganz_is_alnum((unsigned char)text[at - 1]) ||
                          strchr("-:.,/", text[at - 1]));
}

/* Numbers that rise all the way, with dashes, are spans: "sections 3-5, 8-10". */
static bool is_of_spans(const char *text, size_t bytes, const row *r)
{
    int i = 1;
    while (i < r->count && r->numbers[i - 1] < r->numbers[i]) i++;
    return i == r->count && !memchr(text, ':', bytes);
}

size_t ganz_results_at(const char *text, size_t begin, size_t end, size_t at)
{
    row r;
    if (at >= end || !is_digit(text[at]) || is_inside(text, begin, at)) return 0;
    const size_t bytes = read_row(text, end, at, &r, false);
    if (bytes == 0 || is_of_spans(text + at, bytes, &r)) return 0;
    return ganz_tells_results(text, begin, end, at, at + bytes) ? bytes : 0;
}

size_t ganz_results_find(const char *own, size_t own_bytes, const char *text, size_t bytes, size_t *at)
{
    row wanted, r;
    read_row(own, own_bytes, 0, &wanted, true);
    for (; *at < bytes; ++*at) {
        if (!is_digit(text[*at]) || is_inside(text, 0, *at)) continue;
        const size_t length = read_row(text, bytes, *at, &r, true);
        const size_t numbers = (size_t)r.count * sizeof *r.numbers;
        if (length > 0 && r.count == wanted.count && memcmp(r.numbers, wanted.numbers, numbers) == 0) return length;
    }
    return 0;
}

bool ganz_results_write(ganz_text *out, const char *own, size_t bytes, const ganz_language *target)
{
    const char *const joint = strcmp(target->code, "de") == 0 ? ":" : strcmp(target->code, "en") == 0 ? "-" : NULL;
    for (size_t at = 0; at < bytes;) {
        const size_t old = joint ? read_joint(own, bytes, at) : 0;
        if (!(old > 0 ? ganz_text_append(out, joint, 1) : ganz_text_append(out, own + at, 1))) return false;
        at += old > 0 ? old : 1;
    }
    return true;
}
