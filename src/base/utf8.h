/* UTF-8, one code point at a time. Whole strings: ganz/io.h. */
#ifndef GANZ_BASE_UTF8_H
#define GANZ_BASE_UTF8_H

#include "base/base.h"
#include "ganz/io.h"

/* Decodes the code point at text[0..bytes), bytes > 0. Returns its length in bytes (1 to 4), or 0 when
 * the bytes are not valid UTF-8 (overlong, surrogate, above U+10FFFF, cut short). */
static inline int ganz_utf8_decode(const char *text, size_t bytes, int32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    const int need = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || bytes < (size_t)need) return 0;
    int32_t c = s[0] & (0x7F >> need);
    for (int i = 1; i < need; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        c = c << 6 | (s[i] & 0x3F);
    }
    if (need == 3 && (c < 0x800 || (c >= 0xD800 && c <= 0xDFFF))) return 0;
    if (need == 4 && (c < 0x10000 || c > 0x10FFFF)) return 0;
    *code = c;
    return need;
}

/* Writes a valid code point; returns its length (1 to 4). */
static inline int ganz_utf8_encode(int32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* A byte of UTF-8 as it may go to a terminal, after the byte before it: a control character becomes a question mark,
 * upright (U+0000 to 1F, 7F) or turned over (U+0080 to 9F, of which the second byte is changed). */
static inline unsigned char ganz_harmless(unsigned char before, unsigned char byte)
{
    if (byte < 0x20 || byte == 0x7F) return '?';
    return before == 0xC2 && byte >= 0x80 && byte < 0xA0 ? 0xBF : byte;
}

#endif
