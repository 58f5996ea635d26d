/* Short words: models leave them ("Mon-Fri" became "Mo-Fri", "2 EL oil") or take them for others, Sun for the sun. */
#include "document/short.h"

#include <string.h>

#include "text/tokenizer.h"
#include "text/unicode.h"

enum { ENGLISH, GERMAN, LANGUAGES };

/* Each from its language to the other. */
#define TERM(from, to)                           \
    {                                            \
        from, to, sizeof from - 1, sizeof to - 1 \
    }
static const ganz_term days[LANGUAGES][7] = {
    {TERM("Mon", "Mo"), TERM("Tue", "Di"), TERM("Wed", "Mi"), TERM("Thu", "Do"), TERM("Fri", "Fr"), TERM("Sat", "Sa"),
     TERM("Sun", "So")},
    {TERM("Mo", "Mon"), TERM("Di", "Tue"), TERM("Mi", "Wed"), TERM("Do", "Thu"), TERM("Fr", "Fri"), TERM("Sa", "Sat"),
     TERM("So", "Sun")}};

/* Words beside a number. */
typedef struct beside {
    ganz_term term;
    bool before; /* the number; else behind it */
} beside;
static const beside besides[LANGUAGES][16] = {{{TERM("pp.", "S."), true},
                                               {TERM("p.", "S."), true},
                                               {TERM("Fig.", "Abb."), true},
                                               {TERM("fig.", "Abb."), true},
                                               {TERM("Vol.", "Bd."), true},
                                               {TERM("vol.", "Bd."), true},
                                               {TERM("tbsp", "EL"), false},
                                               {TERM("tsp", "TL"), false}},
                                              {{TERM("S.", "p."), true},
                                               {TERM("Abb.", "Fig."), true},
                                               {TERM("Bd.", "vol."), true},
                                               {TERM("Kap.", "ch."), true},
                                               {TERM("EL", "tbsp"), false},
                                               {TERM("TL", "tsp"), false},
                                               {TERM("Msp.", "pinch of"), false},
                                               {TERM("Std.", "h"), false}}};

/* A text that words are looked for in. */
typedef struct passage {
    const char *text;
    size_t begin, end;
} passage;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static char byte_at(const passage *p, size_t at) { return at < p->end ? p->text[at] : 0; }

/* True if a letter or digit begins, or ends, at a place. */
static bool is_word_at(const passage *p, size_t at)
{
    int32_t code = ' ';
    if (at < p->end) ganz_next_character(p->text + at, &code);
    return ganz_is_alnum(code);
}
static bool is_word_before(const passage *p, size_t at)
{
    if (at == p->begin) return false;
    do at--;
    while (at > p->begin && ((unsigned char)p->text[at] & 0xC0) == 0x80);
    return is_word_at(p, at);
}

/* The number of the day whose name begins at a place, or -1. */
static int day_at(const passage *p, size_t at, int language)
{
    for (int day = 0; day < 7; day++) {
        const ganz_term *const t = &days[language][day];
        if (p->end - at >= t->source_bytes && memcmp(p->text + at, t->source, t->source_bytes) == 0)
            return is_word_before(p, at) || is_word_at(p, at + t->source_bytes) ? -1 : day;
    }
    return -1;
}

static bool is(const ganz_language *language, const char *code) { return strcmp(language->code, code) == 0; }

static bool has(const passage *p, size_t at, const char *word)
{
    const size_t bytes = strlen(word);
    return at <= p->end && p->end - at >= bytes && memcmp(p->text + at, word, bytes) == 0;
}

static bool is_any_day(const passage *p, size_t at)
{
    return day_at(p, at, ENGLISH) >= 0 || day_at(p, at, GERMAN) >= 0;
}

/* A day of either language that ends at a place. */
static bool ends_day(const passage *p, size_t at)
{
    return (at - p->begin >= 3 && day_at(p, at - 3, ENGLISH) >= 0) ||
           (at - p->begin >= 2 && day_at(p, at - 2, GERMAN) >= 0);
}

/* What stands between two days. */
static const char *const joints[] = {"-",  "\xE2\x80\x93",  " - ",  " \xE2\x80\x93 ",  " to ",  " bis ",
                                     ".-", ".\xE2\x80\x93", ". - ", ". \xE2\x80\x93 ", ". to ", ". bis "};

static bool joins_next(const passage *p, size_t at)
{
    for (size_t i = 0; i < GANZ_COUNT(joints); i++)
        if (has(p, at, joints[i]) && is_any_day(p, at + strlen(joints[i]))) return true;
    return false;
}
static bool joins_last(const passage *p, size_t at)
{
    for (size_t i = 0; i < GANZ_COUNT(joints); i++) {
        const size_t bytes = strlen(joints[i]);
        if (at - p->begin >= bytes && has(p, at - bytes, joints[i]) && ends_day(p, at - bytes)) return true;
    }
    return false;
}

/* Hours, not just any number: So 9:30, So 10-14, but not "So 10 people". */
static bool is_time(const passage *p, size_t at)
{
    const size_t first = at;
    while (is_digit(byte_at(p, at))) at++;
    if (at == first) return false;
    const char c = byte_at(p, at);
    const size_t dash = c == '-' ? 1 : has(p, at, "\xE2\x80\x93") ? 3 : 0;
    return ((c == ':' || c == '.') && is_digit(byte_at(p, at + 1))) || (dash > 0 && is_digit(byte_at(p, at + dash)));
}

/* The name is a day's: in a span of days, or before hours. */
static bool is_meant(const passage *p, size_t at, size_t bytes, int language)
{
    size_t next = at + bytes;
    if (joins_next(p, next) || joins_last(p, at)) return true;
    if (byte_at(p, next) == '.') next++;
    if (byte_at(p, next) == ':') next++;
    if (byte_at(p, next) != ' ') return false;
    if (has(p, next + 1, language == ENGLISH ? "closed" : "geschlossen")) return true;
    return language == ENGLISH ? is_digit(byte_at(p, next + 1)) : is_time(p, next + 1);
}

/* The word with a number beside it, a space between them, that begins at a place. */
static const ganz_term *beside_number(const passage *p, size_t at, int language)
{
    for (size_t i = 0; i < GANZ_COUNT(besides[language]) && besides[language][i].term.source; i++) {
        const beside *const b = &besides[language][i];
        const size_t end = at + b->term.source_bytes;
        if (!has(p, at, b->term.source) || is_word_before(p, at) || is_word_at(p, end)) continue;
        const bool behind = byte_at(p, end) == ' ' && is_digit(byte_at(p, end + 1));
        const bool before = at - p->begin >= 2 && p->text[at - 1] == ' ' && is_digit(p->text[at - 2]);
        if (b->before ? behind : before) return &b->term;
    }
    return NULL;
}

/* The short name of a day, where what stands beside it says that it is one. */
static const ganz_term *day_name(const passage *p, size_t at, int language)
{
    const int day = day_at(p, at, language);
    if (day < 0 || !is_meant(p, at, days[language][day].source_bytes, language)) return NULL;
    return &days[language][day];
}

const ganz_term *ganz_short_term(const ganz_short_view *v, size_t at)
{
    const passage p = {v->text, v->begin, v->end};
    const bool english = is(v->source, "en") && is(v->target, "de"),
               german = is(v->source, "de") && is(v->target, "en");
    if (!english && !german) return NULL;
    const int language = english ? ENGLISH : GERMAN;
    const ganz_term *const day = day_name(&p, at, language);
    return day ? day : beside_number(&p, at, language);
}

bool ganz_short_is(const ganz_term *term)
{
    for (int language = 0; language < LANGUAGES; language++) {
        for (size_t i = 0; i < GANZ_COUNT(days[language]); i++)
            if (term == &days[language][i]) return true;
        for (size_t i = 0; i < GANZ_COUNT(besides[language]); i++)
            if (term == &besides[language][i].term) return true;
    }
    return false;
}
