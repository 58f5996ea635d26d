/* Pictures, signs, formulas and words in other scripts. */
#include "document/guard_shapes.h"

#include "document/language.h"

enum { LONGEST_FORMULA = 100 };

static bool is_picture(int32_t c)
{
    return (c >= 0x1F000 && c <= 0x1FAFF) || (c >= 0x2600 && c <= 0x27BF) || (c >= 0x2B00 && c <= 0x2BFF) ||
           (c >= 0x2300 && c <= 0x23FF) || (c >= 0x2190 && c <= 0x21FF) || (c >= 0x25A0 && c <= 0x25FF) ||
           (c >= 0xE000 && c <= 0xF8FF) || c == 0x20E3 || c == 0x3030 || c == 0x303D;
}

/* Signs that models have hardly met, and write as others or not at all. They know those of the dollar, the euro and the
 * pound, which each language puts at another place, and that of trade marks. */
static bool is_rare_sign(int32_t c)
{
    static const int32_t ranges[][2] = {
        {0xA2, 0xA2},     {0xA4, 0xA5},                       /* cent, any currency, yen */
        {0xA9, 0xA9},     {0xB1, 0xB3},     {0xB9, 0xB9},     /* copyright, plus or minus, raised 1 to 3 */
        {0xB6, 0xB6},     {0x2020, 0x2021},                   /* paragraph, daggers */
        {0xF7, 0xF7},     {0x2030, 0x2030}, {0x2032, 0x2033}, /* divided by, of a thousand, feet and inches */
        {0x2070, 0x20AB}, {0x20AD, 0x20CF},                   /* raised and lowered digits, currencies; not the euro */
        {0x2100, 0x2121}, {0x2123, 0x214F},                   /* units, numbers; not the trade mark */
        {0x2200, 0x22FF}, {0x2500, 0x259F},                   /* mathematics, frames */
    };
    for (size_t i = 0; i < GANZ_COUNT(ranges); i++)
        if (ranges[i][0] <= c && c <= ranges[i][1]) return true;
    return false;
}

static bool is_sign(int32_t c) { return is_picture(c) || is_rare_sign(c); }

/* What holds the parts of an emoji together. */
static bool is_joiner(int32_t c)
{
    return c == 0x200D || (c >= 0xFE00 && c <= 0xFE0F) || c == 0x20E3 || (c >= 0xE0020 && c <= 0xE007F);
}

size_t ganz_sign_length(const ganz_guard_view *v)
{
    size_t at = v->at;
    int32_t code = code_at(v, at);
    const bool key = code < 0x80 && is_one_of((char)code, "0123456789#*") &&
                     (code_at(v, at + 1) == 0x20E3 || (code_at(v, at + 1) == 0xFE0F && code_at(v, at + 4) == 0x20E3));
    const bool about = code == '~' && code_at(v, at + 1) >= '0' && code_at(v, at + 1) <= '9'; /* ~1,000 */
    if (!key && !about && !is_sign(code)) return 0;
    do {
        at += ganz_next_character(v->text + at, &code);
        code = code_at(v, at);
    } while (at < v->end && (is_sign(code) || is_joiner(code)));
    return at - v->at;
}

/* Name: ________, Index ........ 9: a place to write on, and what leads to a page. */
size_t ganz_line_length(const ganz_guard_view *v)
{
    enum { LEAST = 5 };
    const char sign = byte_at(v, v->at);
    size_t at = v->at;
    if (!is_one_of(sign, "_.") || byte_before(v, at) == sign || ganz_is_alnum(code_before(v, at))) return 0;
    while (byte_at(v, at) == sign) at++;
    return at - v->at >= LEAST && !ganz_is_alnum(code_at(v, at)) ? at - v->at : 0;
}

static bool is_raised(int32_t c) { return c == 0xB2 || c == 0xB3 || c == 0xB9 || (c >= 0x2070 && c <= 0x207F); }
static bool is_lowered(int32_t c) { return c >= 0x2080 && c <= 0x209C; }

/* Formulas, as that of water: a word with lowered signs, or with raised ones inside of it, is none of a language. */
size_t ganz_formula_length(const ganz_guard_view *v)
{
    static const char units[] = " m km cm mm dm "; /* with a raised sign, before which models write them out */
    size_t at = v->at, letters = 0;
    int32_t code;
    bool lowered = false, raised = false, inside = false;
    while (at < v->end && at - v->at < LONGEST_FORMULA) {
        const size_t step = ganz_next_character(v->text + at, &code);
        const bool letter = (code < 0x80 && ganz_is_alnum(code)) || (code >= 0x391 && code <= 0x3C9); /* or Greek */
        if (is_lowered(code)) lowered = true;
        else if (is_raised(code)) raised = true;
        else if (!letter) break;
        else inside |= raised;
        at += step;
        if (!lowered && !raised) letters = at - v->at;
    }
    const bool unit = raised && ganz_listed(units, v->text + v->at, letters);
    return (lowered || inside || unit) && !is_sign(code_at(v, v->at)) ? at - v->at : 0;
}

/* A half, a quarter, 2 1/3 in one sign: models drop them. */
size_t ganz_fraction_length(const ganz_guard_view *v)
{
    size_t at = v->at;
    int32_t code = code_at(v, at);
    while (at - v->at < 4 && code >= '0' && code <= '9') code = code_at(v, ++at);
    if (!(code >= 0xBC && code <= 0xBE) && !(code >= 0x2150 && code <= 0x215E)) return 0;
    return at + ganz_next_character(v->text + at, &code) - v->at;
}

/* :-) and its kin, alone or before the end of a sentence. */
size_t ganz_face_length(const ganz_guard_view *v)
{
    static const char *const faces[] = {":-)", ":)", ";-)", ";)", ":-(", ":(", ":-D", ":D", ":-P", ":P", "<3", "^^"};
    if (v->at > v->begin && !ganz_is_space(code_before(v, v->at))) return 0;
    for (size_t i = 0; i < GANZ_COUNT(faces); i++) {
        const char after = has(v, v->at, faces[i]) ? byte_at(v, v->at + strlen(faces[i])) : 'x';
        if (after == 0 || is_one_of(after, " \t\n\r.,!?")) return strlen(faces[i]);
    }
    return 0;
}

static bool is_foreign(int32_t c)
{
    if (c < 0x370) return false;
    if ((c >= 0x1D00 && c <= 0x1DBF) || (c >= 0x1E00 && c <= 0x1EFF) || (c >= 0x2000 && c <= 0x2BFF) ||
        (c >= 0x2C60 && c <= 0x2C7F) || (c >= 0xA720 && c <= 0xA7FF) || (c >= 0xAB30 && c <= 0xAB6F) ||
        (c >= 0xFB00 && c <= 0xFB06) || c == 0xFFFC || c == 0xFFFD)
        return false;
    return ganz_is_alnum(c) || (c >= 0x3000 && c <= 0x303F) || (c >= 0xFF00 && c <= 0xFFEF);
}

/* Signs, marks and spaces that go on with the script. */
static bool goes_on(int32_t c)
{
    return c == ' ' || (c >= 0x300 && c < 0x370) || (c >= 0x483 && c <= 0x489) || (c >= 0x591 && c <= 0x5C7) ||
           (c >= 0x600 && c <= 0x1BFF && !ganz_is_alnum(c));
}

size_t ganz_script_length(const ganz_guard_view *v)
{
    size_t at = v->at, end = v->at;
    int32_t code = code_at(v, at);
    if (!is_foreign(code)) return 0;
    while (at < v->end && (is_foreign(code) || goes_on(code))) {
        const bool letter = code != ' ';
        at += ganz_next_character(v->text + at, &code);
        if (letter) end = at;
        code = code_at(v, at);
    }
    return end - v->at;
}
