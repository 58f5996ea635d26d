/* Case: what a sentence is written in, what its words become for the model, and what its translation becomes. */
#include "document/casing.h"

#include <string.h>

#include "base/utf8.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

/* ---- how a sentence is written ------------------------------------------------------------------ */

enum { LEAST_CAPITALS = 4, LEAST_SMALL_WORDS = 3 };

typedef struct tally {
    size_t upper, lower, words, long_words; /* words of two letters or more, of four or more */
} tally;

static tally count_letters(const char *text, size_t begin, size_t end, const ganz_guards *g)
{
    tally t = {0};
    size_t next = 0, run = 0;
    for (size_t at = begin; at < end;) {
        if (next < g->count && at == g->items[next].begin) {
            at = g->items[next++].end;
            run = 0;
            continue;
        }
        int32_t code;
        at += ganz_next_character(text + at, &code);
        t.upper += ganz_is_upper(code);
        t.lower += ganz_is_lower(code);
        run = ganz_is_upper(code) || ganz_is_lower(code) ? run + 1 : 0;
        t.words += run == 2;
        t.long_words += run == 4;
    }
    return t;
}

/* Then the small letter of the word behind it says nothing about how the sentence is written. */
static bool begins_with_guard(const char *text, size_t begin, const ganz_guards *g)
{
    for (size_t at = begin; g->count > 0 && at < g->items[0].begin;) {
        int32_t code;
        at += ganz_next_character(text + at, &code);
        if (ganz_is_alnum(code)) return false;
    }
    return g->count > 0;
}

ganz_letters ganz_letters_of(const char *text, size_t begin, size_t end, const ganz_guards *guards)
{
    const tally t = count_letters(text, begin, end, guards);
    const bool several = t.words > 1 || t.long_words > 0; /* than the I and an acronym */
    if (t.upper >= LEAST_CAPITALS && several && t.lower <= t.upper / 10) return GANZ_LETTERS_UPPER;
    if (t.upper == 0 && t.words >= LEAST_SMALL_WORDS && !begins_with_guard(text, begin, guards))
        return GANZ_LETTERS_LOWER;
    return GANZ_LETTERS_MIXED;
}

/* ---- for the model ------------------------------------------------------------------------------ */

/* Written in capitals in any text. */
static const char acronyms[] =
    " usa uk eu un nato uno who unesco unicef opec nasa fbi cia nsa bbc cnn abc ibm bmw sap aol ceo cfo cto gdp imf"
    " ecb fed usb cpu gpu ram rom api url ui id ip ii iii iv vi vii viii ix xi xii ok ai ussr gdr uefa fifa iaaf nba"
    " nfl ioc tv dvd cd pc aids hiv dna rna ufo ag gmbh isbn issn iban"
    " faq html http https json xml ";

/* Written with a capital: days, months, and the names that are met most. */
static const char names[] =
    " i i'm i'll i've i'd monday tuesday wednesday thursday friday saturday sunday january february april june july"
    " august september october november december english german french spanish italian russian chinese japanese"
    " american british european indian turkish greek polish dutch swiss austrian israeli iranian iraqi syrian"
    " ukrainian arab african asian canadian australian brazilian mexican irish scottish swedish norwegian danish"
    " finnish czech hungarian jewish muslim christian islamic catholic united germany france spain italy russia china"
    " japan england britain scotland ireland wales europe america africa asia australia canada mexico brazil india"
    " pakistan turkey greece poland austria switzerland israel iran iraq syria egypt ukraine sweden norway denmark"
    " finland belgium netherlands portugal hungary korea vietnam afghanistan libya london berlin paris rome madrid"
    " moscow beijing tokyo washington york chicago boston texas california florida munich hamburg frankfurt cologne"
    " vienna zurich brussels hollywood manhattan internet google microsoft apple facebook twitter amazon windows"
    " linux obama bush clinton trump merkel putin david john james robert michael william richard thomas mary peter"
    " paul mark george mr mrs ms dr prof st christmas easter god jesus bible ";

static bool has_vowel(const char *word, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)word[i] >= 0x80 || strchr("aeiouyAEIOUY", word[i])) return true;
    return false;
}

static bool has_digit(const char *word, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (word[i] >= '0' && word[i] <= '9') return true;
    return false;
}

/* United States, United Nations. */
static bool is_second_name(const char *text, size_t at, size_t end)
{
    static const char *const firsts[] = {"united ", "new ", "white ", "prime ", "european "};
    static const char *const seconds[] = {" states kingdom nations ", " york zealand orleans ", " house ", " minister ",
                                          " union parliament "};
    for (size_t i = 0; i < GANZ_COUNT(firsts); i++) {
        const size_t bytes = strlen(firsts[i]);
        if (at < bytes || !ganz_listed(seconds[i], text + at, end - at)) continue;
        size_t same = 0;
        while (same < bytes && (text[at - bytes + same] | 32) == firsts[i][same]) same++;
        if (same == bytes) return true;
    }
    return false;
}

ganz_recase ganz_recase_word(ganz_letters letters, const ganz_language *language, const char *text, size_t at,
                             size_t end, bool first)
{
    const char *const word = text + at;
    const size_t bytes = end - at;
    const bool english = strcmp(language->code, "en") == 0;
    if (letters == GANZ_LETTERS_MIXED || has_digit(word, bytes)) return GANZ_RECASE_KEEP;
    if (english && ganz_listed(acronyms, word, bytes)) return GANZ_RECASE_UPPER;
    if (first || (english && (ganz_listed(names, word, bytes) || is_second_name(text, at, end))))
        return GANZ_RECASE_FIRST;
    if (letters == GANZ_LETTERS_LOWER) return GANZ_RECASE_KEEP;
    return bytes > 1 && !has_vowel(word, bytes) ? GANZ_RECASE_KEEP : GANZ_RECASE_LOWER;
}

int32_t ganz_recase_character(ganz_recase how, int32_t code, size_t index)
{
    switch (how) {
    case GANZ_RECASE_LOWER: return ganz_to_lower(code);
    case GANZ_RECASE_FIRST: return index == 0 ? ganz_to_upper(code) : ganz_to_lower(code);
    case GANZ_RECASE_UPPER: return ganz_to_upper(code);
    default: return code;
    }
}

/* ---- for the reader ----------------------------------------------------------------------------- */

static bool add_upper(ganz_text *out, int32_t code)
{
    char bytes[4];
    if (code == 0xDF) return ganz_text_append(out, "SS", 2); /* its one-letter capital is seldom used */
    return ganz_text_append(out, bytes, (size_t)ganz_utf8_encode(ganz_to_upper(code), bytes));
}

/* The first word goes back to a small letter where it is surely no noun. */
static bool small_again(const ganz_language *language, const char *text, size_t bytes)
{
    size_t length = 0;
    int32_t code;
    while (length < bytes) {
        const size_t step = ganz_next_character(text + length, &code);
        if (!ganz_is_alnum(code)) break;
        length += step;
    }
    return ganz_listed(language->starters, text, length);
}

bool ganz_recase_translation(ganz_letters letters, const ganz_language *language, const char *text, size_t bytes,
                             const size_t *keep, size_t keep_count, ganz_text *out, size_t *moved)
{
    bool begun = false;
    size_t next = 0;
    for (size_t at = 0; at < bytes;) {
        int32_t code;
        const size_t step = ganz_next_character(text + at, &code);
        while (next < keep_count && keep[2 * next + 1] <= at) next++;
        const bool kept = next < keep_count && keep[2 * next] <= at;
        const bool first = !begun && ganz_is_alnum(code);
        for (size_t i = 0; i < step; i++) moved[at + i] = out->bytes;
        begun |= first;
        bool good;
        if (!kept && letters == GANZ_LETTERS_UPPER) {
            good = add_upper(out, code);
        } else if (!kept && letters == GANZ_LETTERS_LOWER && first && small_again(language, text + at, bytes - at)) {
            char small[4];
            good = ganz_text_append(out, small, (size_t)ganz_utf8_encode(ganz_to_lower(code), small));
        } else {
            good = ganz_text_append(out, text + at, step);
        }
        if (!good) return false;
        at += step;
    }
    moved[bytes] = out->bytes;
    return true;
}

/* The place of the first letter or digit. */
static size_t first_letter(const char *text, size_t bytes, int32_t *code)
{
    size_t at = 0;
    for (size_t step; at < bytes; at += step) {
        step = ganz_next_character(text + at, code);
        if (ganz_is_alnum(*code)) return at;
    }
    *code = 0;
    return bytes;
}

size_t ganz_missing_capital(const char *sentence, size_t sentence_bytes, const char *text, size_t bytes)
{
    int32_t code, next = 0;
    first_letter(sentence, sentence_bytes, &code);
    if (!ganz_is_upper(code)) return bytes;
    const size_t at = first_letter(text, bytes, &code);
    if (!ganz_is_lower(code)) return bytes;
    const size_t behind = at + ganz_next_character(text + at, &code);
    if (behind < bytes) ganz_next_character(text + behind, &next);
    return ganz_is_upper(next) ? bytes : at; /* eBay */
}
