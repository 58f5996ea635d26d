/* Shapes of guards, each a function that says how many bytes of one begin at a place; 0: none does. All of them look a
 * bounded number of bytes ahead. */
#ifndef GANZ_DOCUMENT_GUARD_SHAPES_H
#define GANZ_DOCUMENT_GUARD_SHAPES_H

#include <string.h>

#include "base/base.h"
#include "text/unicode.h"

enum { GANZ_LONGEST_GUARD_ADDRESS = 2048, GANZ_LONGEST_GUARD_CODE = 400 };

/* The text a shape is looked for in: bytes [at, end), and what is before them. */
typedef struct ganz_guard_view {
    const char *text;
    size_t begin, at, end;
} ganz_guard_view;

static inline bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool is_letter(char c) { return is_lower((char)(c | 32)); }
static inline bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
static inline bool is_one_of(char c, const char *set) { return c != 0 && strchr(set, c) != NULL; }

static inline char byte_at(const ganz_guard_view *v, size_t at) { return at < v->end ? v->text[at] : 0; }
static inline char byte_before(const ganz_guard_view *v, size_t at) { return at > v->begin ? v->text[at - 1] : 0; }

static inline int32_t code_at(const ganz_guard_view *v, size_t at)
{
    int32_t code = 0;
    if (at < v->end) ganz_next_character(v->text + at, &code);
    return code;
}

static inline int32_t code_before(const ganz_guard_view *v, size_t at)
{
    if (at == v->begin) return 0;
    do at--;
    while (((unsigned char)v->text[at] & 0xC0) == 0x80);
    return code_at(v, at);
}

static inline bool has(const ganz_guard_view *v, size_t at, const char *word)
{
    const size_t bytes = strlen(word);
    return v->end - at >= bytes && memcmp(v->text + at, word, bytes) == 0;
}

/* Bytes of a space between two words of a shape, perhaps one that no line breaks at. */
static inline size_t space_at(const ganz_guard_view *v, size_t at)
{
    return byte_at(v, at) == ' ' ? 1 : at < v->end && has(v, at, "\xC2\xA0") ? 2 : 0;
}

/* Bytes from `at` on that are in no set of what ends a word; at most `most`. */
static inline size_t word_length(const ganz_guard_view *v, size_t at, const char *ends, size_t most)
{
    size_t length = 0;
    while (length < most && at + length < v->end) {
        int32_t code;
        const size_t step = ganz_next_character(v->text + at + length, &code);
        if (ganz_is_space(code) || code == 0xFFFC || (code < 0x80 && is_one_of((char)code, ends))) break;
        length += step;
    }
    return length;
}

/* Signs at the end of an address belong to the sentence; so do brackets that the address did not open. */
size_t ganz_without_end_signs(const char *text, size_t length);

size_t ganz_address_length(const ganz_guard_view *v);  /* URL, mail, path, file name; where a word begins */
size_t ganz_holder_length(const ganz_guard_view *v);   /* a place for something: %s, {name}, ${x} */
size_t ganz_ticks_length(const ganz_guard_view *v);    /* code between ` and ` */
size_t ganz_code_length(const ganz_guard_view *v);     /* options, tags, names, designations; where a word begins */
size_t ganz_sign_length(const ganz_guard_view *v);     /* pictures and signs that models hardly know */
size_t ganz_face_length(const ganz_guard_view *v);     /* :-) */
size_t ganz_line_length(const ganz_guard_view *v);     /* a row of _ or of points */
size_t ganz_formula_length(const ganz_guard_view *v);  /* words with lowered signs */
size_t ganz_fraction_length(const ganz_guard_view *v); /* a half in one sign */
size_t ganz_street_length(const ganz_guard_view *v);   /* a street with the number of a house; where a word begins */
size_t ganz_script_length(const ganz_guard_view *v);   /* words in another script than Latin */

#endif
