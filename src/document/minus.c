/* A minus that models drop: "-5 degrees" became "5 Grad", a balance of -250 euros one of 250. */
#include "document/slip.h"

#include <string.h>

#include "document/number.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* True if a hyphen ends at a place that is a minus and no dash between two things: 3 -5, F-16. The sign itself is a
 * guard. */
static bool is_minus_before(const char *text, size_t begin, size_t at)
{
    if (at == begin || text[at - 1] != '-') return false;
    if (at - 1 == begin || text[at - 2] == '(') return true;
    return text[at - 2] == ' ' && (at - 2 == begin || !is_digit(text[at - 3]));
}

/* True if the number that begins at a place has one, perhaps before the sign of a currency: -$250. */
static bool has_minus(const char *text, size_t begin, size_t at)
{
    static const char *const currencies[] = {"", "$", "\xC2\xA3", "\xE2\x82\xAC"};
    for (size_t i = 0; i < GANZ_COUNT(currencies); i++) {
        const size_t currency = strlen(currencies[i]);
        if (at - begin < currency || memcmp(text + at - currency, currencies[i], currency) != 0) continue;
        if (is_minus_before(text, begin, at - currency)) return true;
    }
    return false;
}

/* A number somewhere in a text. */
typedef struct place {
    size_t at, length; /* length 0: there is none */
} place;

/* The next number from a place on that has these digits. */
static place next_same(const char *text, size_t end, size_t at, const char *digits, size_t count)
{
    while (at < end) {
        const size_t length = ganz_number_at(text, end, at);
        if (length > 0 && ganz_same_digits(digits, count, text + at, length)) return (place){at, length};
        at += length > 0 ? length : 1;
    }
    return (place){end, 0};
}

/* How many of them there are. */
static size_t count_same(const char *text, size_t begin, size_t end, const char *digits, size_t count)
{
    size_t same = 0;
    for (place p = {begin, 0};;) {
        p = next_same(text, end, p.at + p.length, digits, count);
        if (p.length == 0) return same;
        same++;
    }
}

static bool has_word(const ganz_slip_view *v, const char *word)
{
    const size_t bytes = strlen(word);
    for (size_t at = 0; at + bytes <= v->bytes; at++)
        if (memcmp(v->translation + at, word, bytes) == 0) return true;
    return false;
}

/* The translation may say it in words. */
static bool is_said(const ganz_slip_view *v)
{
    static const char *const words[] = {"minus", "Minus", "unter Null", "unter null", "below zero"};
    for (size_t i = 0; i < GANZ_COUNT(words); i++)
        if (has_word(v, words[i])) return true;
    return false;
}

bool ganz_minus_lost(const ganz_slip_view *v, size_t at)
{
    const char *const t = v->translation;
    if (at + 1 >= v->bytes || (t[at] != ' ' && t[at] != '(') || !is_digit(t[at + 1])) return false;
    if ((at > 0 && t[at - 1] == '-') || !memchr(v->text + v->begin, '-', v->end - v->begin)) return false;
    const size_t count = ganz_number_at(t, v->bytes, at + 1);
    const char *const digits = t + at + 1;
    const size_t all = count_same(t, 0, v->bytes, digits, count), before = count_same(t, 0, at + 1, digits, count);
    if (all != count_same(v->text, v->begin, v->end, digits, count)) return false;
    place p = {v->begin, 0};
    for (size_t i = 0; i <= before; i++) p = next_same(v->text, v->end, p.at + p.length, digits, count);
    return p.length > 0 && has_minus(v->text, v->begin, p.at) && !is_said(v);
}
