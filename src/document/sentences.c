/* Rules for sentence ends. A sentence may end behind . ! ? … and closing quotes where white space follows; whether it
 * does depends on the word before (an abbreviation, an initial, a number) and on how the next word begins. */
#include "document/sentences.h"

#include <string.h>

#include "document/code.h"
#include "text/unicode.h"

enum { LONGEST_HEADLINE = 100, LONGEST_ITEM = 48, LONGEST_COUNTER = 5 /* bytes */ };

/* ---- characters --------------------------------------------------------------------------------- */

static bool is_any(int32_t code, const int32_t *set, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (set[i] == code) return true;
    return false;
}

static bool is_end(int32_t code) { return code == '.' || code == '!' || code == '?' || code == 0x2026; }

/* Ideographic ends need no white space behind them. */
static bool is_wide_end(int32_t code) { return code == 0x3002 || code == 0xFF01 || code == 0xFF1F || code == 0xFF61; }

static bool is_closing(int32_t code)
{
    static const int32_t set[] = {'"',    '\'',   ')',    ']',    '}',    0xAB,   0xBB,   0x2018, 0x2019,
                                  0x201C, 0x201D, 0x2039, 0x203A, 0x300D, 0x300F, 0x3011, 0xFF09};
    return is_any(code, set, GANZ_COUNT(set));
}

static bool is_opening(int32_t code)
{
    static const int32_t set[] = {'"',    '\'',   '(',    '[',    '{',    '-',    '*',    0xA1,
                                  0xAB,   0xBB,   0xBF,   0x2013, 0x2014, 0x2018, 0x2019, 0x201A,
                                  0x201C, 0x201D, 0x201E, 0x2022, 0x2039, 0x203A};
    return is_any(code, set, GANZ_COUNT(set));
}

static bool is_newline(int32_t code)
{
    return (code >= 0x0A && code <= 0x0D) || code == 0x85 || code == 0x2028 || code == 0x2029;
}
static bool is_digit(int32_t code) { return code >= '0' && code <= '9'; }

/* The character at `at`, 0 at the end. */
static int32_t peek(const ganz_sentences *w, size_t at)
{
    int32_t code = 0;
    if (at < w->bytes) ganz_next_character(w->text + at, &code);
    return code;
}

static size_t next_place(const ganz_sentences *w, size_t at)
{
    int32_t code;
    return at + ganz_next_character(w->text + at, &code);
}

static size_t place_before(const ganz_sentences *w, size_t at)
{
    do at--;
    while (((unsigned char)w->text[at] & 0xC0) == 0x80);
    return at;
}

static size_t skip_space(const ganz_sentences *w, size_t at)
{
    while (at < w->bytes && ganz_is_space(peek(w, at))) at = next_place(w, at);
    return at;
}

/* ---- words -------------------------------------------------------------------------------------- */

typedef struct word {
    size_t begin, end;
} word;

/* What stands before `end`, back to white space, at most to `least`; without opening quotes and brackets. */
static word word_before(const ganz_sentences *w, size_t least, size_t end)
{
    size_t begin = end;
    while (begin > least && end - begin < 64) {
        const size_t before = place_before(w, begin);
        if (ganz_is_space(peek(w, before))) break;
        begin = before;
    }
    while (begin < end && is_opening(peek(w, begin))) begin = next_place(w, begin);
    return (word){begin, end};
}

static word last_word_before(const ganz_sentences *w, size_t least, size_t end)
{
    while (end > least && ganz_is_space(peek(w, place_before(w, end)))) end = place_before(w, end);
    return word_before(w, least, end);
}

static word word_at(const ganz_sentences *w, size_t begin)
{
    size_t end = begin;
    int32_t code = peek(w, end);
    while (end < w->bytes && end - begin < 64 && (ganz_is_alnum(code) || code == '\'' || code == 0x2019)) {
        end = next_place(w, end);
        code = peek(w, end);
    }
    return (word){begin, end};
}

static bool listed(const ganz_sentences *w, const char *list, word x)
{
    return ganz_listed(list, w->text + x.begin, x.end - x.begin);
}

static bool all_of(const ganz_sentences *w, word x, const char *set)
{
    for (size_t i = x.begin; i < x.end; i++)
        if (w->text[i] == 0 || !strchr(set, w->text[i])) return false;
    return x.begin < x.end;
}

static bool is_number(const ganz_sentences *w, word x) { return all_of(w, x, "0123456789"); }
static bool is_roman(const ganz_sentences *w, word x) { return all_of(w, x, "IVXLC"); }

static bool is_letter(const ganz_sentences *w, word x)
{
    return x.begin < x.end && next_place(w, x.begin) == x.end && ganz_is_alnum(peek(w, x.begin)) &&
           !is_digit(peek(w, x.begin));
}

/* U.S, Ph.D: letters in parts of one or two between dots. */
static bool is_dotted(const ganz_sentences *w, word x)
{
    size_t letters = 0, dots = 0;
    for (size_t at = x.begin; at < x.end; at = next_place(w, at)) {
        const int32_t code = peek(w, at);
        if (code == '.' && letters > 0) dots++, letters = 0;
        else if (is_digit(code) || !ganz_is_alnum(code) || ++letters > 2) return false;
    }
    return dots > 0 && letters > 0;
}

static word behind_hyphen(const ganz_sentences *w, word x)
{
    for (size_t i = x.end; i > x.begin; i--)
        if (w->text[i - 1] == '-') return (word){i, x.end};
    return x;
}

/* ---- what follows ------------------------------------------------------------------------------- */

typedef enum { SMALL, CAPITAL, DIGIT, ELSE } beginning;

typedef struct following {
    beginning how;
    bool starter; /* a word that sentences often begin with */
    bool i;       /* the English I, a capital anywhere */
} following;

static following what_follows(const ganz_sentences *w, size_t at)
{
    at = skip_space(w, at);
    while (at < w->bytes && (is_opening(peek(w, at)) || ganz_is_space(peek(w, at)))) at = next_place(w, at);
    const int32_t code = peek(w, at);
    const word x = word_at(w, at);
    following f = {.how = ELSE};
    if (is_digit(code)) f.how = DIGIT;
    if (ganz_is_upper(code)) f.how = CAPITAL;
    if (ganz_is_lower(code)) f.how = ganz_is_upper(peek(w, next_place(w, at))) ? CAPITAL : SMALL; /* iPhone */
    f.starter = f.how == CAPITAL && listed(w, w->language->starters, x);
    f.i = code == 'I' && x.end - x.begin == 1 && strcmp(w->language->code, "en") == 0;
    return f;
}

/* ---- does it end? ------------------------------------------------------------------------------- */

static bool ends_at_number(const ganz_sentences *w, size_t begin, word x, following f)
{
    if (x.begin <= begin + 4 && last_word_before(w, begin, x.begin).begin == x.begin) return false; /* 1. of a list */
    const word before = last_word_before(w, begin, x.begin);
    if (before.begin == begin && listed(w, w->language->headings, before)) return false;
    if (!w->language->ordinals || x.end - x.begin > 3) return true;
    return f.starter || f.how == DIGIT || listed(w, w->language->clock, before);
}

static bool is_doubtful(const ganz_sentences *w, word x)
{
    const size_t bytes = x.end - x.begin;
    if (is_dotted(w, x) || listed(w, w->language->doubtful, x)) return true;
    return w->language->ordinals && ((bytes > 4 && memcmp(w->text + x.end - 3, "str", 3) == 0) || is_roman(w, x));
}

/* A dot behind the word that ends at `end`. */
static bool ends_at_dot(const ganz_sentences *w, size_t begin, size_t end, following f)
{
    const word x = word_before(w, begin, end), part = behind_hyphen(w, x);
    if (is_number(w, x)) return ends_at_number(w, begin, x, f) && f.how != SMALL;
    if (listed(w, w->language->never, x) || listed(w, w->language->never, part)) return false;
    if (is_letter(w, x)) return f.starter && ganz_is_upper(peek(w, x.begin)) && x.begin > begin;
    if (listed(w, w->language->numbered, x) && f.how == DIGIT) return false;
    if (is_doubtful(w, x)) return f.starter;
    return f.how != SMALL || w->lower;
}

typedef struct ending {
    size_t begin, after; /* the first . ! ? and what follows the last closing quote */
    int dots, marks;     /* . and …, ! and ? */
    bool wide;
} ending;

static bool ends_here(const ganz_sentences *w, size_t begin, const ending *e)
{
    const following f = what_follows(w, e->after);
    if (e->marks > 0) return f.how != SMALL || w->lower;
    if (e->dots > 1) return f.how == CAPITAL && !f.i && !(e->begin > begin && w->text[e->begin - 1] == '['); /* [...] */
    return ends_at_dot(w, begin, e->begin, f);
}

/* ". . ." is one ellipsis. */
static bool spaced_dot(const ganz_sentences *w, size_t at)
{
    if (at + 1 >= w->bytes || w->text[at] != ' ' || w->text[at + 1] != '.') return false;
    const int32_t code = peek(w, at + 2);
    return at + 2 == w->bytes || ganz_is_space(code) || is_closing(code) || is_end(code);
}

static bool is_hard_break(const ganz_sentences *w, size_t at);

/* Behind a closing quote or bracket that white space parts from the end before it, as tokenized text has it; else `at`.
 * Marks that may open as well close only where nothing comes behind them. */
static size_t skip_parted_quote(const ganz_sentences *w, size_t at)
{
    static const int32_t closes[] = {')', ']', '}', 0x201D, 0x300D, 0x300F, 0x3011, 0xFF09};
    const size_t quote = skip_space(w, at);
    if (quote == at || quote >= w->bytes || !is_closing(peek(w, quote)) || is_hard_break(w, at)) return at;
    const size_t behind = next_place(w, quote);
    if (skip_space(w, behind) == w->bytes) return behind;
    return is_any(peek(w, quote), closes, GANZ_COUNT(closes)) && ganz_is_space(peek(w, behind)) ? behind : at;
}

static ending read_ending(const ganz_sentences *w, size_t at)
{
    ending e = {.begin = at};
    for (;; at = next_place(w, at)) {
        const int32_t code = peek(w, at);
        if (at < w->bytes && is_wide_end(code)) e.wide = true;
        else if (code == '!' || code == '?') e.marks++;
        else if (code == '.') e.dots++;
        else if (code == 0x2026) e.dots += 2;
        else if (!spaced_dot(w, at) || e.marks > 0) break;
    }
    while (at < w->bytes && is_closing(peek(w, at))) at = next_place(w, at);
    e.after = skip_parted_quote(w, at);
    return e;
}

/* ---- breaks ------------------------------------------------------------------------------------- */

/* "--version" before `at`, or "-v": what it does stands behind two spaces. */
static bool is_behind_option(const ganz_sentences *w, size_t at)
{
    size_t begin = at;
    while (begin > 0 && at - begin < LONGEST_ITEM && !memchr(" \t\n", w->text[begin - 1], 3)) begin--;
    if (at - begin < 2 || w->text[begin] != '-') return false;
    const int32_t next = peek(w, begin + 1);
    return next == '-' ? at - begin > 3 : at - begin == 2 && (ganz_is_lower(next) || ganz_is_upper(next));
}

/* "Status:   single", "2019   Manager": three spaces [at, after) are enough behind a colon and before a capital. */
static bool is_column(const ganz_sentences *w, size_t at, size_t after)
{
    const int32_t next = peek(w, after);
    return w->text[at - (at > 0)] == ':' || ganz_is_upper(next) || (next >= '0' && next <= '9');
}

/* True if the white space at `at` ends a sentence whatever stands before it: newlines, and in lines also what separates
 * columns. */
static bool is_hard_break(const ganz_sentences *w, size_t at)
{
    const size_t behind = at;
    int newlines = 0, spaces = 0;
    bool tab = false, page = false;
    for (int32_t before = 0; at < w->bytes; at = next_place(w, at)) {
        const int32_t code = peek(w, at);
        if (!ganz_is_space(code)) break;
        newlines += is_newline(code) && !(code == '\n' && before == '\r');
        page |= code == '\f' || code == 0x2029;
        tab |= code == '\t';
        spaces += code == ' ';
        before = code;
    }
    if (w->breaks == GANZ_BREAK_LINES)
        return newlines > 0 || tab || spaces > 3 || (spaces == 3 && is_column(w, behind, at)) ||
               (spaces > 1 && is_behind_option(w, behind));
    return w->breaks == GANZ_BREAK_SENTENCES && (newlines > 1 || page);
}

/* A headline that was joined with the sentence below it, "... in two worlds On a recent trip": behind a small word, one
 * in capitals that names do not begin with. Films do, so that it must be near the beginning. */
static bool is_headline_end(const ganz_sentences *w, size_t begin, size_t at)
{
    const size_t next = skip_space(w, at);
    if (!ganz_is_upper(peek(w, next)) || at - begin > LONGEST_HEADLINE || w->breaks == GANZ_BREAK_NOWHERE) return false;
    const word opener = word_at(w, next);
    if (!listed(w, w->language->openers, opener)) return false;
    if (peek(w, opener.end) != ' ' || !ganz_is_lower(peek(w, opener.end + 1))) return false;
    const word before = word_before(w, begin, at);
    return before.end == at && before.end - before.begin > 2 && before.begin > begin &&
           ganz_is_lower(peek(w, before.begin)) && ganz_is_lower(peek(w, place_before(w, at))) &&
           !listed(w, w->language->starters, before);
}

/* True if what begins at `at` ends, at a bar, a line or the text, before it gets longer than an item of a row is, and
 * without the end of a sentence. */
static bool is_short_item(const ganz_sentences *w, size_t at)
{
    for (const size_t begin = at; at < w->bytes && !is_newline(peek(w, at)); at = next_place(w, at)) {
        const size_t behind = next_place(w, at);
        if (at - begin > LONGEST_ITEM) return false;
        if (peek(w, at) == '|') return true;
        if (is_end(peek(w, at)) && (behind == w->bytes || ganz_is_space(peek(w, behind)))) return false;
    }
    return true;
}

/* True behind a brace "{{" of a template that is not closed: {{ total | currency }}. */
static bool is_in_braces(const ganz_sentences *w, size_t begin, size_t at)
{
    while (at > begin + 1 && !(w->text[at - 1] == '}' && w->text[at - 2] == '}')) {
        if (w->text[at - 1] == '{' && w->text[at - 2] == '{') return true;
        at--;
    }
    return false;
}

/* "Home | About us | Contact": short items with bars between them are no sentence. A bar in a sentence ("the output of
 * ls | sort is long.") is not between two such items. */
static bool is_bar(const ganz_sentences *w, size_t begin, size_t at)
{
    const size_t bar = skip_space(w, at);
    if (peek(w, bar) != '|' || at - begin > LONGEST_ITEM || !w->outside || w->breaks == GANZ_BREAK_NOWHERE)
        return false;
    if (is_in_braces(w, begin, at)) return false;
    const size_t behind = skip_space(w, bar + 1);
    return behind > bar + 1 && behind < w->bytes && is_short_item(w, behind);
}

static void look_for_capitals(ganz_sentences *w)
{
    w->looked = w->lower = true;
    for (size_t at = 0; at < w->bytes && w->lower; at = next_place(w, at)) w->lower = !ganz_is_upper(peek(w, at));
}

static size_t end_of_sentence(const ganz_sentences *w, size_t begin)
{
    size_t cut = 0; /* where it ends if it goes on for much longer: what is left of it should be no scrap */
    for (size_t at = begin; at < w->bytes;) {
        const int32_t code = peek(w, at);
        if (ganz_is_space(code)) {
            if (is_hard_break(w, at) || is_headline_end(w, begin, at) || is_bar(w, begin, at)) return at;
            if (w->longest > 0 && cut == 0 && at - begin >= w->longest) cut = at;
            if (cut > 0 && at - begin >= w->longest + w->longest / 2) return cut;
            at = skip_space(w, at);
        } else if (w->breaks != GANZ_BREAK_NOWHERE && (is_end(code) || is_wide_end(code))) {
            const ending e = read_ending(w, at);
            const bool apart = e.wide || (e.after < w->bytes && ganz_is_space(peek(w, e.after)));
            if (apart && (e.wide || ends_here(w, begin, &e))) return e.after;
            at = e.after;
        } else {
            at = next_place(w, at);
        }
    }
    return w->bytes;
}

/* Behind "4.2" or "2.1.3." before a capital, the number of a section; but 1.5 Million, 2.5 Liters. */
static size_t skip_section(const ganz_sentences *w, size_t at)
{
    static const char measures[] =
        " million millionen mio milliarden mrd billion billionen trillion thousand tausend percent"
        " prozent per pro liter liters litern litre litres meter meters metern metre metres mile"
        " miles meilen kilometer kilometers kilometern kilometre kilometres zentimeter zentimetern"
        " millimeter millimetern quadratmeter quadratmetern quadratkilometer kubikmeter hektar"
        " sekunden hour hours stunden year years jahre jahren day days tage week weeks wochen month"
        " months monate minute minutes minuten inch inches foot feet gram grams gramm kilogramm"
        " kilogram kilograms pound pounds pfund ton tons tonne tonnes tonnen kilo kilos gallons cups"
        " stars sterne points punkte punkten mal degrees grad times euro euros eur usd dollar dollars franken"
        " watt kilowatt megawatt volt ghz mhz kwh mwh gwh hpa mbit gbit celsius"
        " zimmer acres children kinder magnitude uhr ";
    size_t end = at, parts = 0;
    for (size_t begin = end; parts < 4; begin = end + 1) {
        size_t digit = begin;
        while (digit - begin < 3 && is_digit(peek(w, digit))) digit++;
        if (digit == begin || digit - begin == 3) break;
        parts++;
        if (peek(w, end = digit) != '.') break;
    }
    if (parts < 2 || peek(w, at) == '0') return at;
    if (peek(w, end) == '.') end++;
    const size_t next = skip_space(w, end);
    const word heading = word_at(w, next);
    const bool section = next > end && ganz_is_upper(peek(w, next)) && heading.end - heading.begin > 2;
    return section && !ganz_listed(measures, w->text + heading.begin, heading.end - heading.begin) ? end : at;
}

/* Behind "a)", "iii)" or "4.2", which count; `at` itself where nothing such stands. */
static size_t skip_counter(const ganz_sentences *w, size_t at)
{
    static const int32_t numerals[] = {'i', 'v', 'x', 'I', 'V', 'X'};
    const int32_t first = peek(w, at);
    size_t end = at;
    if (is_digit(first)) return skip_section(w, at);
    if (!ganz_is_upper(first) && !ganz_is_lower(first)) return at;
    while (end < w->bytes && end - at < LONGEST_COUNTER && is_any(peek(w, end), numerals, GANZ_COUNT(numerals))) end++;
    if (end == at) end = next_place(w, at);
    return peek(w, end) == ')' ? end + 1 : at;
}

/* "..." before the first word, where a sentence goes on in subtitles. */
static bool has_dots(const ganz_sentences *w, size_t at)
{
    const int32_t next = at + 3 < w->bytes && memcmp(w->text + at, "...", 3) == 0 ? peek(w, at + 3) : 0;
    return ganz_is_lower(next) || ganz_is_upper(next);
}

/* Behind the signs at `at` of a list, of what is quoted or of what a speaker says: "- ", "> > ", "a) ", and behind the
 * bars between items. Something must follow on the same line. */
static size_t skip_signs(const ganz_sentences *w, size_t at)
{
    static const int32_t set[] = {'-', '*', '|', 0xB7, 0x2013, 0x2014, 0x2022};
    for (size_t next = at; next < w->bytes; at = next) {
        const int32_t code = peek(w, at);
        if (has_dots(w, at)) return at + 3;
        const size_t counter = skip_counter(w, at), behind = counter > at ? counter : next_place(w, at);
        if (counter == at && code != '>' && !is_any(code, set, GANZ_COUNT(set))) break;
        if (!ganz_is_space(peek(w, behind)) && !(code == '>' && peek(w, behind) == '>')) break;
        next = skip_space(w, behind);
        for (size_t i = behind; i < next; i = next_place(w, i))
            if (is_newline(peek(w, i)) || (peek(w, i) == '\t' && counter == at)) return at;
        if (next == w->bytes) break;
    }
    return at;
}

/* The end of the line of code that begins at `at`; `at` itself where none does. */
static size_t skip_code(const ganz_sentences *w, size_t at)
{
    size_t before = at, end = at;
    if (w->breaks != GANZ_BREAK_LINES) return at;
    while (before > w->at && !is_newline(peek(w, place_before(w, before)))) before = place_before(w, before);
    if (before == w->at && before > 0) return at; /* in the middle of a line */
    while (end < w->bytes && !is_newline(peek(w, end))) end = next_place(w, end);
    while (end > at && ganz_is_space(peek(w, place_before(w, end)))) end = place_before(w, end);
    return ganz_is_code_line(w->text + at, end - at) ? end : at;
}

/* Where the next sentence begins, behind all that is outside of sentences. */
static size_t next_begin(ganz_sentences *w)
{
    size_t begin = skip_space(w, w->at);
    while (w->outside && begin < w->bytes) {
        const size_t behind = skip_signs(w, begin), end = skip_code(w, behind);
        if (end == behind) return behind;
        begin = skip_space(w, w->at = end);
    }
    return begin;
}

bool ganz_sentences_next(ganz_sentences *w, size_t *begin, size_t *end)
{
    if (!w->looked) look_for_capitals(w);
    *begin = next_begin(w);
    if (*begin == w->bytes) return false;
    *end = w->at = end_of_sentence(w, *begin);
    while (ganz_is_space(peek(w, place_before(w, *end)))) *end = place_before(w, *end);
    return true;
}
