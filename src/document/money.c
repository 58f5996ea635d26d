/* Amounts of money are read with what belongs to them, looked for in translations and written anew. */
#include "document/money.h"

#include <string.h>

#include "document/number.h"
#include "document/suffix.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

/* ---- currencies --------------------------------------------------------------------------------- */

/* Its sign and its code, and parts of what English and German say for it. */
static const char *const currencies[][6] = {{"$", "USD", "ollar"},
                                            {"\xE2\x82\xAC", "EUR", "uro", "ent"},
                                            {"\xC2\xA3", "GBP", "fund", "ound"},
                                            {"CHF", "CHF", "ranken", "ranc"}};

static bool has(const char *text, size_t end, size_t at, const char *word)
{
    return at <= end && end - at >= strlen(word) && memcmp(text + at, word, strlen(word)) == 0;
}

/* Their names in English, without the s, and in German, behind a multiplier in short: 500m euros. */
static const char *const names[][2] = {
    {"dollar", "Dollar"}, {"euro", "Euro"}, {"pound", "Pfund"}, {"franc", "Franken"}};

/* True if a word goes on there, or what begins with a sign: $HOME, ${x}, $999. */
static bool leads_on(const char *text, size_t end, size_t at)
{
    int32_t code = ' ';
    if (at < end) ganz_next_character(text + at, &code);
    return ganz_is_alnum(code) || code == '_' || code == '{' || code == '(';
}

static bool is_in_word(const char *text, size_t begin, size_t at)
{
    return at > begin && ((unsigned char)text[at - 1] >= 0x80 || ganz_is_alnum((unsigned char)text[at - 1]));
}

static bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }
static bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/* True if the sign that begins at a place follows a number, whose sign it is then: 100 $ 20 Mal. */
static bool follows_number(const char *text, size_t begin, size_t at)
{
    at -= at > begin && text[at - 1] == ' ';
    return at > begin && text[at - 1] >= '0' && text[at - 1] <= '9';
}

/* Bytes of a sign that ends at a place, perhaps with letters for a country (US$). */
static size_t sign_until(const char *text, size_t begin, size_t at, const char *sign)
{
    const size_t least = strlen(sign);
    if (at - begin < least || !has(text, at, at - least, sign)) return 0;
    size_t bytes = least;
    while (bytes < least + 2 && at - begin > bytes && is_capital(text[at - bytes - 1])) bytes++;
    return is_in_word(text, begin, at - bytes) ? least : bytes;
}

/* A sign before a number, or a code, with the space between them. */
static size_t currency_before(const char *text, size_t begin, size_t at, int *row)
{
    const size_t space = at > begin && text[at - 1] == ' ';
    for (size_t i = 0; i < GANZ_COUNT(currencies); i++) {
        const size_t sign = is_capital(currencies[i][0][0]) ? 0 : sign_until(text, begin, at - space, currencies[i][0]);
        *row = (int)i;
        if (sign > 0 && (space == 0 || !follows_number(text, begin, at - 1 - sign))) return sign + space;
        if (space == 1 && at - begin >= 4 && has(text, at, at - 4, currencies[i][1]) &&
            !is_in_word(text, begin, at - 4))
            return 4;
    }
    return 0;
}

/* A sign or a code behind a number, without the space before it. */
static size_t currency_behind(const char *text, size_t end, size_t at, int *row)
{
    for (size_t i = 0; i < GANZ_COUNT(currencies); i++)
        for (size_t k = 0; k < 2; k++) {
            const size_t bytes = strlen(currencies[i][k]);
            *row = (int)i;
            if (has(text, end, at, currencies[i][k]) && !leads_on(text, end, at + bytes)) return bytes;
        }
    return 0;
}

static size_t name_behind(const char *text, size_t end, size_t at, int *row)
{
    for (size_t i = 0; i < GANZ_COUNT(names); i++)
        for (size_t k = 0; k < 2; k++) {
            if (!has(text, end, at, names[i][k])) continue;
            size_t bytes = strlen(names[i][k]);
            bytes += k == 0 && has(text, end, at + bytes, "s");
            *row = (int)i;
            if (!leads_on(text, end, at + bytes)) return bytes;
        }
    return 0;
}

/* ---- multipliers -------------------------------------------------------------------------------- */

/* What multiplies by a thousand, a million, ...: whole words, which may have an ending, and letters behind digits. */
typedef struct multiplier_words {
    const char *words[3], *letters[3];
} multiplier_words;

static const multiplier_words english[] = {{{"thousand"}, {"k", "K"}},
                                           {{"million"}, {"m", "M", "mn"}},
                                           {{"billion"}, {"bn", "b", "B"}},
                                           {{"trillion"}, {"tn", "trn"}}};
static const multiplier_words german[] = {{{"Tsd.", "Tsd", "ausend"}, {"k"}},
                                          {{"Mio.", "Mio", "Million"}, {"m", "M"}},
                                          {{"Mrd.", "Mrd", "Milliard"}, {"B"}},
                                          {{"Bio.", "Billion"}, {NULL}}};
enum { MULTIPLIERS = 4, LONGEST_ENDING = 2 };

static bool is_english(const ganz_language *language) { return strcmp(language->code, "en") == 0; }

static const multiplier_words *multipliers_of(const ganz_language *language)
{
    return strcmp(language->code, "de") == 0 ? german : is_english(language) ? english : NULL;
}

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/* Bytes of the word at `at`, whatever case it begins with, with its ending. The last point of a text is no part of it.
 */
static size_t word_length(const char *text, size_t end, size_t at, const char *word)
{
    const size_t bytes = strlen(word);
    if (at >= end || (text[at] | 0x20) != (word[0] | 0x20) || !has(text, end, at + 1, word + 1)) return 0;
    if (word[bytes - 1] == '.') return at + bytes < end ? bytes : 0;
    size_t length = bytes;
    while (length < bytes + LONGEST_ENDING && at + length < end && is_lower(text[at + length])) length++;
    return leads_on(text, end, at + length) ? 0 : length;
}

/* The multiplier behind digits, with the space or hyphen before it; `letters`: one in short counts as well. */
static int multiplier_at(const ganz_language *language, const char *text, size_t end, size_t at, bool letters,
                         size_t *length)
{
    const multiplier_words *const all = multipliers_of(language);
    const size_t space = at < end && (text[at] == ' ' || text[at] == '-') ? 1 : has(text, end, at, "\xC2\xA0") ? 2 : 0;
    for (int i = 0; all && i < MULTIPLIERS; i++) {
        for (size_t k = 0; k < 3 && all[i].words[k] && space > 0; k++) {
            const size_t bytes = word_length(text, end, at + space, all[i].words[k]);
            if (bytes > 0) return *length = space + bytes, i + 1;
        }
        for (size_t k = 0; k < 3 && all[i].letters[k] && letters; k++) {
            const size_t bytes = strlen(all[i].letters[k]);
            if (has(text, end, at, all[i].letters[k]) && !leads_on(text, end, at + bytes))
                return *length = bytes, i + 1;
        }
    }
    *length = 0;
    return 0;
}

/* ---- amounts ------------------------------------------------------------------------------------ */

/* 500m euros: the name makes money of what could be metres. */
static bool read_named(ganz_amount *a, const char *text, size_t end, const ganz_language *source)
{
    size_t letters;
    const char first = a->digits_end < end ? text[a->digits_end] : ' ';
    const int multiplier = is_letter(first) ? multiplier_at(source, text, end, a->digits_end, true, &letters) : 0;
    if (multiplier == 0 || !has(text, end, a->digits_end + letters, " ")) return false;
    a->currency = a->digits_end + letters + 1;
    a->currency_bytes = name_behind(text, end, a->currency, &a->currency_row);
    if (a->currency_bytes == 0) return false;
    a->multiplier = multiplier;
    a->end = a->currency + a->currency_bytes;
    return true;
}

ganz_amount ganz_amount_around(const char *text, size_t begin, size_t end, size_t digits, size_t digits_end,
                               const ganz_language *source)
{
    ganz_amount a = {.begin = digits, .end = digits_end, .digits = digits, .digits_end = digits_end};
    const size_t before = currency_before(text, begin, digits, &a.currency_row);
    size_t multiplied;
    const int multiplier = multiplier_at(source, text, end, digits_end, before > 0, &multiplied);
    size_t behind = digits_end + multiplied;
    behind += behind < end && text[behind] == ' ';
    const size_t behind_bytes = before > 0 ? 0 : currency_behind(text, end, behind, &a.currency_row);
    if (before + behind_bytes == 0) {
        if (!read_named(&a, text, end, source)) a.end += ganz_suffix_at(text, end, digits_end, digits_end - digits);
        return a;
    }
    a.multiplier = multiplier;
    a.currency = before > 0 ? digits - before : behind;
    a.currency_bytes = before > 0 ? before : behind_bytes;
    a.begin = digits - before;
    a.end = before > 0 ? digits_end + multiplied : behind + behind_bytes;
    return a;
}

bool ganz_amount_is_multiplied(const char *text, size_t begin, size_t end, size_t digits, size_t digits_end)
{
    static const char *const languages[] = {"en", "de"};
    for (size_t i = 0; i < GANZ_COUNT(languages); i++)
        if (ganz_amount_around(text, begin, end, digits, digits_end, ganz_language_of(languages[i])).multiplier > 0)
            return true;
    return false;
}

/* ---- telling ------------------------------------------------------------------------------------ */

enum { MOST_BEFORE_WORD = 24 /* bytes between an amount and the name of its currency */ };

static size_t space_at(const char *text, size_t end, size_t at)
{
    return at < end && text[at] == ' ' ? 1 : has(text, end, at, "\xC2\xA0") ? 2 : 0;
}

/* Bytes of a sign or code of the amount's currency behind a place, with the space before it. */
static size_t sign_behind(const ganz_amount *a, const char *text, size_t end, size_t at)
{
    int row;
    const size_t space = space_at(text, end, at), bytes = currency_behind(text, end, at + space, &row);
    return bytes > 0 && row == a->currency_row ? space + bytes : 0;
}

/* The end of Dollar, US-Dollar, amerikanische Dollar before the next number; 0: it is not there. */
static size_t named_until(const ganz_amount *a, const char *text, size_t end, size_t at)
{
    const char *const *const words = currencies[a->currency_row];
    const size_t until = at + MOST_BEFORE_WORD < end ? at + MOST_BEFORE_WORD : end;
    for (; at < until && ganz_number_at(text, end, at) == 0; at++)
        for (size_t k = 2; k < GANZ_COUNT(currencies[0]) && words[k]; k++)
            if (has(text, end, at, words[k])) return at + strlen(words[k]);
    return 0;
}

/* The number that shares its currency with the one before: 5 und 7 Dollar, 10-15 Mio. $. 0: there is none. */
static size_t shared_until(const char *text, size_t end, size_t at)
{
    static const char *const joints[] = {" und ", " bis ", " oder ", " auf ",       " and ",
                                         " to ",  " or ",  "-",      "\xE2\x80\x93"};
    for (size_t i = 0; i < GANZ_COUNT(joints); i++) {
        const size_t next = at + strlen(joints[i]);
        if (!has(text, end, at, joints[i])) continue;
        const size_t length = ganz_number_at(text, end, next);
        return length > 0 ? next + length : 0;
    }
    return 0;
}

static bool is_shared(const ganz_amount *a, const ganz_language *target, const char *text, size_t end, size_t at)
{
    while ((at = shared_until(text, end, at)) > 0) {
        size_t multiplied;
        multiplier_at(target, text, end, at, true, &multiplied);
        if (sign_behind(a, text, end, at + multiplied) > 0 || named_until(a, text, end, at + multiplied) > 0)
            return true;
    }
    return false;
}

/* Bytes of a sign or code of the amount's currency before a place, with the space between them. */
static size_t sign_before(const ganz_amount *a, const char *text, size_t at)
{
    int row;
    const size_t bytes = currency_before(text, 0, at, &row);
    return bytes > 0 && row == a->currency_row ? bytes : 0;
}

/* English has signs before the number, German behind it; codes stand at either side. */
static bool is_at_right_side(const ganz_language *target, const char *text, size_t at, size_t before, size_t sign_end)
{
    if (is_capital(text[sign_end - 1])) return true;
    return is_english(target) ? before > 0 && text[at - 1] != ' ' : before == 0;
}

ganz_amount_telling ganz_amount_told(const ganz_amount *a, const ganz_language *target, const char *text, size_t bytes,
                                     size_t *begin, size_t *end)
{
    const size_t at = *begin, number = *end - at;
    const bool zeros = number >= a->digits_end - a->digits + 3; /* instead of a word */
    size_t multiplied;
    const int multiplier = multiplier_at(target, text, bytes, *end, true, &multiplied);
    const size_t until = *end + multiplied, before = sign_before(a, text, at);
    const size_t behind = before > 0 ? 0 : sign_behind(a, text, bytes, until);
    const size_t name_end = before + behind > 0 ? 0 : named_until(a, text, bytes, until);
    const bool named = name_end > 0 || (before + behind == 0 && is_shared(a, target, text, bytes, until));
    if ((a->multiplier != multiplier && !zeros) || (before + behind == 0 && !named)) return GANZ_AMOUNT_LOST;
    *begin -= before;
    *end = name_end > 0 ? name_end : until + behind;
    if (named || zeros) return GANZ_AMOUNT_TOLD;
    const size_t sign_end = before == 0 ? *end : at - (text[at - 1] == ' ');
    if (is_at_right_side(target, text, at, before, sign_end) && ganz_digits_follow(text + at, number, target))
        return GANZ_AMOUNT_TOLD;
    return GANZ_AMOUNT_FOREIGN;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static bool write_multiplied(ganz_text *out, const char *text, const ganz_amount *a, const ganz_language *source,
                             const ganz_language *target)
{
    const multiplier_words *const all = a->multiplier > 0 ? multipliers_of(target) : NULL;
    const char *const word = all ? all[a->multiplier - 1].words[0] : "";
    return ganz_digits_write(out, text + a->digits, a->digits_end - a->digits, source, target) &&
           (!all || (ganz_text_append(out, " ", 1) && ganz_text_append(out, word, strlen(word))));
}

static bool write_named(ganz_text *out, const char *text, const ganz_amount *a, const ganz_language *source,
                        const ganz_language *target)
{
    const bool in_english = is_english(target);
    const char *const name = names[a->currency_row][in_english ? 0 : 1];
    return write_multiplied(out, text, a, source, target) && ganz_text_append(out, " ", 1) &&
           ganz_text_append(out, name, strlen(name)) && (!in_english || ganz_text_append(out, "s", 1));
}

/* A sign is before the number in English, behind it and a space in German; a code always has a space. */
static bool write_amount(ganz_text *out, const char *text, const ganz_amount *a, const ganz_language *source,
                         const ganz_language *target)
{
    const char *const currency = text + a->currency;
    const size_t bytes = a->currency_bytes - (currency[a->currency_bytes - 1] == ' ');
    const bool code = is_capital(currency[bytes - 1]);
    if (is_lower(currency[bytes - 1])) return write_named(out, text, a, source, target);
    if (is_english(target))
        return ganz_text_append(out, currency, bytes) && (!code || ganz_text_append(out, " ", 1)) &&
               write_multiplied(out, text, a, source, target);
    return write_multiplied(out, text, a, source, target) && ganz_text_append(out, " ", 1) &&
           ganz_text_append(out, currency, bytes);
}

bool ganz_amount_write(ganz_text *out, const char *text, size_t bytes, const ganz_language *source,
                       const ganz_language *target)
{
    size_t digits = 0;
    while (digits < bytes && ganz_number_at(text, bytes, digits) == 0) digits++;
    const size_t digits_end = digits + ganz_number_at(text, bytes, digits);
    const ganz_amount a = ganz_amount_around(text, 0, bytes, digits, digits_end, source);
    if (a.begin > 0 || a.end < bytes) return ganz_digits_write(out, text, bytes, source, target);
    if (a.currency_bytes > 0) return write_amount(out, text, &a, source, target);
    return ganz_digits_write(out, text, digits_end, source, target) &&
           ganz_suffix_write(out, text + digits_end, bytes - digits_end, source, target);
}
