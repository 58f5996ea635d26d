/* Cutting of long lines: at the last sentence end, clause end or space that leaves more than half of the room. */
#include "translate/split.h"

#include <string.h>

#include "text/unicode.h"

typedef enum { PLAIN, SPACE, CLAUSE, SENTENCE, CLOSING } kind;

static kind kind_of(int32_t code)
{
    switch (code) {
    case '.':
    case '!':
    case '?':
    case 0x2026: return SENTENCE; /* ... */
    case ',':
    case ';':
    case ':':
    case 0x2013:
    case 0x2014: return CLAUSE; /* dashes */
    case '"':
    case '\'':
    case ')':
    case ']':
    case 0x00BB:
    case 0x2019:
    case 0x201C:
    case 0x201D: return CLOSING;
    default: return ganz_is_space(code) ? SPACE : PLAIN;
    }
}

/* Ideographic punctuation ends a sentence or a clause without a space behind it. */
static kind wide_kind(int32_t code)
{
    if (code == 0x3002 || code == 0xFF01 || code == 0xFF1F) return SENTENCE;
    return code == 0x3001 || code == 0xFF0C || code == 0xFF1B || code == 0xFF1A ? CLAUSE : PLAIN;
}

size_t ganz_split_at(const char *text, size_t bytes, size_t room)
{
    if (bytes <= room) return bytes;
    size_t last[CLOSING + 1] = {0}, whole = 0;
    kind before = PLAIN; /* of the punctuation that a space would make an end */
    for (size_t at = 0; at < bytes;) {
        int32_t code;
        const size_t next = at + ganz_next_character(text + at, &code);
        const kind k = kind_of(code), wide = wide_kind(code);
        if (k == SPACE && at <= room) last[before] = last[SPACE] = at;
        if (next > room) break;
        if (wide != PLAIN) last[wide] = next;
        if (k != CLOSING) before = k;
        whole = at = next;
    }
    for (kind k = SENTENCE; k >= SPACE; k--)
        if (last[k] > room / 2) return last[k];
    int32_t code;
    return whole > 0 ? whole : ganz_next_character(text, &code);
}

size_t ganz_long_word(const char *text, size_t bytes, size_t *length)
{
    size_t begin = 0, at = 0;
    int characters = 0;
    *length = 0;
    for (size_t next; at < bytes; at = next) {
        int32_t code;
        next = at + ganz_next_character(text + at, &code);
        if (kind_of(code) != SPACE && wide_kind(code) == PLAIN) {
            characters++;
            continue;
        }
        if (characters > GANZ_LONGEST_WORD) break;
        begin = next;
        characters = 0;
    }
    if (characters <= GANZ_LONGEST_WORD) return bytes;
    *length = at - begin;
    return begin;
}
