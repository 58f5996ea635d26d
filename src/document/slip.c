/* Slips: spaces, capitals and repeated words that the sentence gives no reason for. */
#include "document/slip.h"

#include <string.h>

#include "base/utf8.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

static int32_t code_at(const char *text, size_t end, size_t at)
{
    int32_t code = 0;
    if (at < end) ganz_next_character(text + at, &code);
    return code;
}

static size_t before(const char *text, size_t at)
{
    do at--;
    while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80);
    return at;
}

static bool source_has(const ganz_slip_view *v, const char *what, size_t bytes)
{
    for (size_t at = v->begin; at + bytes <= v->end; at++)
        if (memcmp(v->text + at, what, bytes) == 0) return true;
    return false;
}

static bool is(const ganz_language *language, const char *code) { return strcmp(language->code, code) == 0; }

/* ---- spaces ------------------------------------------------------------------------------------- */

/* Bytes of "konnte,  sagte", "der 11. , sagte", "in Washington, D.C. ." that are too many: French, and what is unknown,
 * may want a space there. */
static size_t spare_space(const ganz_slip_view *v, size_t at)
{
    const char *const t = v->translation;
    if (at == 0 || at + 1 == v->bytes) return 0;
    const char stop = t[at + 1], behind = at + 2 < v->bytes ? t[at + 2] : ' ';
    if (stop == ' ') return source_has(v, "  ", 2) ? 0 : 1;
    if (!strchr(",.;?!", stop) || !strchr(" \"')", behind) || source_has(v, t + at, 2)) return 0;
    if (!is(v->target, "de") && !is(v->target, "en")) return 0;
    return stop == '.' && t[at - 1] == '.' ? 2 : 1;
}

/* ---- capitals ----------------------------------------------------------------------------------- */

static size_t word_begin(const char *text, size_t at)
{
    while (at > 0 && ganz_is_alnum(code_at(text, at, before(text, at)))) at = before(text, at);
    return at;
}

static size_t word_end(const char *text, size_t end, size_t at)
{
    int32_t code;
    while (at < end) {
        const size_t step = ganz_next_character(text + at, &code);
        if (!ganz_is_alnum(code)) break;
        at += step;
    }
    return at;
}

/* True if the sentence has these letters, large or small. */
static bool has_letters(const ganz_slip_view *v, const char *word, size_t bytes)
{
    for (size_t at = v->begin; at + bytes <= v->end; at++) {
        size_t same = 0;
        while (same < bytes && (v->text[at + same] | 0x20) == (word[same] | 0x20)) same++;
        if (same == bytes) return true;
    }
    return false;
}

/* Small letters from a place on, at least so many. */
static bool are_small(const char *text, size_t end, size_t at, int count)
{
    for (; count > 0; count--) {
        const int32_t code = code_at(text, end, at);
        if (!ganz_is_lower(code)) return false;
        at += (size_t)ganz_utf8_encode(code, (char[4]){0});
    }
    return true;
}

static bool is_small_ascii(char c) { return c >= 'a' && c <= 'z'; }

/* A sentence that writes words so itself is about programs: MoveNext. */
static bool source_has_humps(const ganz_slip_view *v)
{
    for (const char *t = v->text + v->begin; t + 5 <= v->text + v->end; t++)
        if (t[2] >= 'A' && t[2] <= 'Z' && is_small_ascii(t[0]) && is_small_ascii(t[1]) && is_small_ascii(t[3]) &&
            is_small_ascii(t[4]))
            return true;
    return false;
}

/* The capital in the middle of a German compound, which is no name of the sentence and no "LehrerInnen". */
static bool is_hump(const ganz_slip_view *v, size_t at)
{
    const char *const t = v->translation;
    if (at < 3 || ((unsigned char)t[at] & 0xC0) == 0x80 || !is(v->target, "de")) return false;
    if (!ganz_is_upper(code_at(t, v->bytes, at))) return false;
    const size_t one = before(t, at), begin = word_begin(t, at);
    if (one <= begin || !are_small(t, v->bytes, before(t, one), 2)) return false;
    if (t[at] == 'I' && at + 1 < v->bytes && t[at + 1] == 'n') return false;
    const size_t end = word_end(t, v->bytes, at);
    const size_t next = at + (size_t)ganz_utf8_encode(code_at(t, v->bytes, at), (char[4]){0});
    if (!are_small(t, v->bytes, next, 2)) return false;
    return !has_letters(v, t + begin, end - begin) && !source_has_humps(v);
}

static bool mend_hump(const ganz_slip_view *v, size_t at, ganz_slip *slip)
{
    int32_t code;
    if (!is_hump(v, at)) return false;
    slip->bytes = ganz_next_character(v->translation + at, &code);
    slip->by_bytes = (size_t)ganz_utf8_encode(ganz_to_lower(code), slip->room);
    slip->by = slip->room;
    return true;
}

/* ---- repeated words ----------------------------------------------------------------------------- */

/* Words that never come twice in a row, and words that may ("Themen, die die Zeitung hat", "give her her book"). */
typedef struct word_lists {
    const char *language, *once, *twice;
} word_lists;
static const word_lists lists[] = {
    {"de", " von vom in im mit auf zu zum zur und oder bei beim nach aus an am f\xC3\xBCr um durch ",
     " die der das den dem sie ihr es wir dass so "},
    {"en", " of in on at to the a an and or with from by for were ", " that had her you it so very is "},
    {"", "", ""}};

static const word_lists *lists_of(const ganz_language *language)
{
    const word_lists *l = lists;
    while (l->language[0] && !is(language, l->language)) l++;
    return l;
}

static bool same_bytes(const char *text, size_t a, size_t b, size_t bytes)
{
    return memcmp(text + a, text + b, bytes) == 0;
}

/* The sentence itself says a word twice: "very very". */
static bool source_repeats(const ganz_slip_view *v)
{
    for (size_t at = v->begin; at < v->end; at++) {
        size_t first = at;
        while (v->text[at] == ' ' && first > v->begin && v->text[first - 1] != ' ') first--;
        const size_t bytes = at - first;
        if (bytes > 0 && v->end - at - 1 >= bytes && same_bytes(v->text, first, at + 1, bytes)) return true;
    }
    return false;
}

/* Bytes from a space on that repeat the word before it: of three or more in a row all but one, or two that may be. */
static size_t repeated(const ganz_slip_view *v, size_t at)
{
    const char *const t = v->translation;
    const size_t first = word_begin(t, at), word = at - first, last = at + 1 + word;
    if (word == 0 || last > v->bytes || !same_bytes(t, first, at + 1, word)) return 0;
    if (word_end(t, v->bytes, at + 1) != last || (first > 0 && t[first - 1] != ' ')) return 0;
    const bool more = last + 1 + word <= v->bytes && t[last] == ' ' && same_bytes(t, first, last + 1, word) &&
                      word_end(t, v->bytes, last + 1) == last + 1 + word;
    const bool fewer = first > word + 1 && same_bytes(t, first, first - 1 - word, word) &&
                       word_begin(t, first - 1) == first - 1 - word;
    const word_lists *const l = lists_of(v->target);
    const bool twice = ganz_listed(l->twice, t + first, word), once = ganz_listed(l->once, t + first, word);
    return (more || (fewer && !twice) || once) && !source_repeats(v) ? word + 1 : 0;
}

/* ---- placeholders ------------------------------------------------------------------------------- */

/* "19 %" that became "19 %s". */
static bool is_holder_of_none(const ganz_slip_view *v, size_t at)
{
    const char *const t = v->translation + at;
    if (v->bytes - at < 2 || t[0] != '%' || t[1] != 's' || source_has(v, "%s", 2)) return false;
    return v->bytes - at == 2 || !ganz_is_alnum(code_at(v->translation, v->bytes, at + 2));
}

/* "%d files" that became "%d-Dateien": what stands for a number is no part of a word. */
static bool is_joined_count(const ganz_slip_view *v, size_t at)
{
    static const char *const counts[] = {"%d", "%u", "%i", "%ld", "{{count}}", "{count}", "{n}"};
    for (size_t i = 0; i < GANZ_COUNT(counts); i++) {
        char spaced[16];
        const size_t bytes = strlen(counts[i]);
        if (at < bytes || memcmp(v->translation + at - bytes, counts[i], bytes) != 0) continue;
        memcpy(spaced, counts[i], bytes);
        spaced[bytes] = ' ';
        return source_has(v, spaced, bytes + 1);
    }
    return false;
}

/* ---- stops -------------------------------------------------------------------------------------- */

/* "a 5 min. walk" that became "5 Minuten. zu Fuß": a unit that is written out has no stop. */
static bool is_stop_left(const ganz_slip_view *v, size_t at)
{
    static const char units[] =
        " minuten minute stunden stunde sekunden sekunde meter kilometer kilo wochen minutes hours seconds metres meters "
        "kilometres kilometers weeks pounds ounces inches feet ";
    const char *const t = v->translation;
    if (t[at] != '.' || v->bytes - at < 3 || t[at + 1] != ' ' || !is_small_ascii(t[at + 2])) return false;
    const size_t first = word_begin(t, at);
    return ganz_listed(units, t + first, at - first);
}

/* ---- any ---------------------------------------------------------------------------------------- */

bool ganz_slip_at(const ganz_slip_view *v, size_t at, ganz_slip *slip)
{
    size_t dash;
    const size_t half = ganz_half_invented(v, at, slip->room);
    if (half > 0) {
        slip->bytes = half;
        slip->by = slip->room;
        slip->by_bytes = strlen(slip->room);
        return true;
    }
    if (ganz_minus_lost(v, at)) {
        *slip = (ganz_slip){.bytes = 1, .by = v->translation[at] == ' ' ? " -" : "(-", .by_bytes = 2};
        return true;
    }
    if (is_stop_left(v, at)) {
        *slip = (ganz_slip){.bytes = 1, .by = ""};
        return true;
    }
    if (is_holder_of_none(v, at)) {
        *slip = (ganz_slip){.bytes = 2, .by = "%", .by_bytes = 1};
        return true;
    }
    if (v->translation[at] == '-' && is_joined_count(v, at)) {
        *slip = (ganz_slip){.bytes = 1, .by = " ", .by_bytes = 1};
        return true;
    }
    if (v->translation[at] == ' ') {
        const size_t spare = spare_space(v, at), bytes = spare > 0 ? spare : repeated(v, at);
        *slip = (ganz_slip){.bytes = bytes, .by = ""};
        return bytes > 0;
    }
    if (v->translation[at] != ':') return mend_hump(v, at, slip);
    const size_t count = ganz_span_dash(v, at, &dash);
    if (count == 0) return false;
    *slip = (ganz_slip){.bytes = 1, .by = v->text + dash, .by_bytes = count};
    return true;
}
