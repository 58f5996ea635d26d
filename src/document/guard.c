/* Finding guards: the shapes are tried one after the other at each place where one may begin. */
#include "document/guard.h"

#include "document/guard_shapes.h"
#include "document/money.h"
#include "document/number.h"
#include "document/results.h"
#include "document/suffix.h"

enum { LONGEST_NUMBER = 1000 /* bytes: of longer ones nobody reads the digits */ };

/* 2.0.1, 192.168.0.1: not 1.234.567. */
static bool is_version(const char *text, size_t length)
{
    size_t dots = 0, digits = 0, threes = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.') dots++, digits = 0;
        else if (!is_digit(text[i])) return false;
        else threes += ++digits == 3 && dots > 0;
    }
    return dots > 1 && threes < dots;
}

/* 3/4/2024, 2024-03-04: days are written in many orders, and nobody knows which one this is. */
static size_t date_length(const ganz_guard_view *v)
{
    size_t at = v->at, longest = 0;
    if (is_one_of(byte_before(v, at), "/-")) return 0;
    for (int part = 0; part < 3; part++) {
        const size_t begin = at;
        while (at - begin < 5 && is_digit(byte_at(v, at))) at++;
        if (at == begin || at - begin == 5) return 0;
        if (at - begin > longest) longest = at - begin;
        const char joint = part == 0 ? byte_at(v, at) : v->text[begin - 1];
        if (part < 2 && (!is_one_of(joint, "/-") || byte_at(v, at++) != joint)) return 0;
    }
    return longest == 3 || ganz_is_alnum(code_at(v, at)) || is_one_of(byte_at(v, at), "/-") ? 0 : at - v->at;
}

/* 12/31, 24/7: what cannot be a fraction of a whole. */
static size_t pair_length(const ganz_guard_view *v)
{
    int values[2] = {0, 0};
    size_t at = v->at;
    if (is_one_of(byte_before(v, at), "/-.,:")) return 0;
    for (int part = 0; part < 2; part++) {
        const size_t begin = at;
        for (; at - begin < 3 && is_digit(byte_at(v, at)); at++) values[part] = values[part] * 10 + (v->text[at] - '0');
        if (at == begin || at - begin == 3 || (part == 0 && byte_at(v, at++) != '/')) return 0;
    }
    const bool goes_on =
        is_one_of(byte_at(v, at), "/-") || (is_one_of(byte_at(v, at), ".,:") && is_digit(byte_at(v, at + 1)));
    return (values[0] > 12 || values[1] > 12) && !goes_on && !ganz_is_alnum(code_at(v, at)) ? at - v->at : 0;
}

/* 1 1/2, 1-3/4: a whole and a part of one, of which models drop the first. */
static size_t mixed_length(const ganz_guard_view *v)
{
    static const char *const parts[] = {"1/2", "1/3", "2/3", "1/4", "3/4", "1/8", "3/8", "5/8", "7/8"};
    size_t at = v->at;
    if (is_one_of(byte_before(v, at), "/-.,:")) return 0;
    while (at - v->at < 3 && is_digit(byte_at(v, at))) at++;
    const size_t joint = byte_at(v, at) == '-' ? 1 : space_at(v, at);
    if (at == v->at || joint == 0) return 0;
    for (size_t i = 0; i < GANZ_COUNT(parts); i++) {
        const size_t end = at + joint + strlen(parts[i]);
        if (has(v, at + joint, parts[i]) && !ganz_is_alnum(code_at(v, end)) && byte_at(v, end) != '/')
            return end - v->at;
    }
    return 0;
}

/* 5'11": feet and inches. */
static size_t height_length(const ganz_guard_view *v)
{
    size_t at = v->at, digits = 0;
    for (; digits < 3 && is_digit(byte_at(v, at)); digits++) at++;
    if (digits == 0 || digits == 3 || byte_at(v, at++) != '\'') return 0;
    for (digits = 0; digits < 3 && is_digit(byte_at(v, at)); digits++) at++;
    return digits > 0 && digits < 3 && byte_at(v, at) == '"' ? at + 1 - v->at : 0;
}

/* Numbers that a translation may not write as words or count anew: from 13 on, or with a point. Not those that are part
 * of a word (50s, A380; but 800m, 1600s), and no times of day before noon and after it. */
static size_t guarded_number_length(const ganz_guard_view *v)
{
    const size_t most = v->end - v->at > LONGEST_NUMBER ? v->at + LONGEST_NUMBER : v->end;
    const size_t length = ganz_number_at(v->text, most, v->at);
    const size_t joint = is_one_of(byte_before(v, v->at), ".,'") ? 1 : 0;
    if (length == 0 || length + 1 >= LONGEST_NUMBER) return 0;
    if (ganz_amount_is_multiplied(v->text, v->begin, v->end, v->at, v->at + length)) return length;
    if (ganz_is_alnum(code_before(v, v->at - joint))) return 0;
    size_t after = v->at + length;
    if (ganz_is_alnum(code_at(v, after)) && ganz_suffix_at(v->text, v->end, after, length) == 0) return 0;
    const bool small = length < 2 || (length == 2 && memcmp(v->text + v->at, "13", 2) < 0);
    if (small && ganz_suffix_at(v->text, v->end, after, 1) == 0) return 0;
    while (byte_at(v, after) == ' ') after++;
    static const char *const clock[] = {"am", "pm", "a.m", "p.m", "AM", "PM", "A.M", "P.M", "o'clock"};
    for (size_t i = 0; i < GANZ_COUNT(clock); i++)
        if (has(v, after, clock[i])) return 0;
    return is_one_of(byte_before(v, v->at), ":") || byte_at(v, v->at + length) == ':' ? 0 : length;
}

static bool starts_word(const ganz_guard_view *v)
{
    const int32_t before = code_before(v, v->at);
    return !ganz_is_alnum(before) && before != '_';
}

/* The guard that begins at v->at. */
static size_t guard_length(const ganz_guard_view *v, bool latin, ganz_guard_kind *kind)
{
    size_t length;
    if ((length = ganz_sign_length(v)) > 0 || (length = ganz_face_length(v)) > 0 || (length = ganz_line_length(v)) > 0)
        return *kind = GANZ_GUARD_SIGN, length;
    if ((length = ganz_ticks_length(v)) > 0) return *kind = GANZ_GUARD_CODE, length;
    if ((length = ganz_holder_length(v)) > 0) return *kind = GANZ_GUARD_HOLDER, length;
    if (latin && (length = ganz_script_length(v)) > 0) return *kind = GANZ_GUARD_SCRIPT, length;
    if (!starts_word(v)) return 0;
    if ((length = ganz_formula_length(v)) > 0) return *kind = GANZ_GUARD_SCRIPT, length;
    if ((length = ganz_fraction_length(v)) > 0) return *kind = GANZ_GUARD_CODE, length;
    if ((length = ganz_address_length(v)) > 0) return *kind = GANZ_GUARD_ADDRESS, length;
    if ((length = ganz_street_length(v)) > 0) return *kind = GANZ_GUARD_ADDRESS, length;
    if ((length = ganz_code_length(v)) > 0) return *kind = GANZ_GUARD_CODE, length;
    if ((length = ganz_results_at(v->text, v->begin, v->end, v->at)) > 0) return *kind = GANZ_GUARD_RESULTS, length;
    if ((length = date_length(v)) > 0) return *kind = GANZ_GUARD_CODE, length;
    if ((length = mixed_length(v)) > 0) return *kind = GANZ_GUARD_CODE, length;
    if ((length = pair_length(v)) > 0 || (length = height_length(v)) > 0) return *kind = GANZ_GUARD_CODE, length;
    if ((length = guarded_number_length(v)) == 0) return 0;
    *kind = is_version(v->text + v->at, length) ? GANZ_GUARD_CODE : GANZ_GUARD_NUMBER;
    return length;
}

bool ganz_guards_find(ganz_guards *g, const char *text, size_t begin, size_t end, bool latin)
{
    ganz_guard_view v = {.text = text, .begin = begin, .at = begin, .end = end};
    while (v.at < end) {
        int32_t code;
        ganz_guard_kind kind;
        const size_t step = ganz_next_character(text + v.at, &code);
        const size_t length = ganz_is_space(code) ? 0 : guard_length(&v, latin, &kind);
        if (length > 0) {
            if (!ganz_grow((void **)&g->items, &g->capacity, g->count + 1, sizeof *g->items)) return false;
            g->items[g->count++] = (ganz_guard){.kind = kind, .begin = v.at, .end = v.at + length};
        }
        v.at += length > 0 ? length : step;
    }
    return true;
}

bool ganz_guards_leave_words(const ganz_guards *g, const char *text, size_t begin, size_t end)
{
    size_t next = 0;
    for (size_t at = begin; at < end;) {
        if (next < g->count && at == g->items[next].begin) {
            at = g->items[next++].end;
            continue;
        }
        int32_t code;
        at += ganz_next_character(text + at, &code);
        if (ganz_is_alnum(code) && !(code >= '0' && code <= '9')) return true;
    }
    return false;
}
