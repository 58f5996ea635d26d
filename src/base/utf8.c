/* UTF-8: encoding, checking and repairing, one character at a time. */
#include "base/utf8.h"

#include <string.h>

bool ganz_utf8_valid(const char *text, size_t bytes)
{
    size_t at = 0;
    while (at < bytes) {
        /* Eight ASCII bytes at a time: most text is. */
        uint64_t word;
        if (bytes - at >= sizeof word) {
            memcpy(&word, text + at, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof word;
                continue;
            }
        }
        int32_t code;
        const int step = ganz_utf8_decode(text + at, bytes - at, &code);
        if (step == 0) return false;
        at += (size_t)step;
    }
    return true;
}

/* Length of the longest prefix that could have begun a code point (Unicode's "maximal subpart"). */
static size_t invalid_part(const char *text, size_t bytes)
{
    const unsigned char *s = (const unsigned char *)text;
    const size_t need = s[0] >= 0xF0 && s[0] <= 0xF4  ? 4
                        : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
                        : s[0] >= 0xC2 && s[0] < 0xE0 ? 2
                                                      : 1;
    size_t n = 1;
    while (n < need && n < bytes && (s[n] & 0xC0) == 0x80) {
        const bool low = n == 1 && ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90));
        const bool high = n == 1 && ((s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F));
        if (low || high) break;
        n++;
    }
    return n;
}

size_t ganz_utf8_repair(const char *text, size_t bytes, char *out, size_t *replaced)
{
    size_t at = 0, written = 0;
    *replaced = 0;
    while (at < bytes) {
        int32_t code;
        const int step = ganz_utf8_decode(text + at, bytes - at, &code);
        if (step > 0) {
            memcpy(out + written, text + at, (size_t)step);
            written += (size_t)step;
            at += (size_t)step;
        } else {
            written += (size_t)ganz_utf8_encode(0xFFFD, out + written);
            at += invalid_part(text + at, bytes - at);
            ++*replaced;
        }
    }
    return written;
}
