/* Arrays of code points: decoding, stripping and lowercase as Python does it. */
#include "text/codepoints.h"

#include <string.h>

#include <utf8proc.h>

#include "base/utf8.h"

void ganz_codepoints_free(ganz_codepoints *codes)
{
    ganz_free(codes->at);
    *codes = (ganz_codepoints){0};
}

bool ganz_codepoints_decode(ganz_codepoints *codes, const char *text, size_t bytes)
{
    codes->count = 0;
    codes->failed = false;
    for (size_t at = 0; at < bytes;) {
        int32_t code;
        const int step = ganz_utf8_decode(text + at, bytes - at, &code);
        if (step == 0) return false;
        ganz_codepoints_push(codes, code);
        at += (size_t)step;
    }
    return true;
}

void ganz_codepoints_strip_right(ganz_codepoints *codes)
{
    while (codes->count > 0 && ganz_is_space(codes->at[codes->count - 1])) codes->count--;
}

void ganz_codepoints_replace(ganz_codepoints *codes, const char *from, const char *to)
{
    const size_t n = strlen(from), m = strlen(to);
    size_t kept = 0;
    GANZ_ASSERT(n > 0 && m <= n);
    for (size_t i = 0; i < codes->count;) {
        size_t same = 0;
        while (same < n && i + same < codes->count && codes->at[i + same] == from[same]) same++;
        if (same == n) {
            for (size_t k = 0; k < m; k++) codes->at[kept++] = to[k];
            i += n;
        } else {
            codes->at[kept++] = codes->at[i++];
        }
    }
    codes->count = kept;
}

/* ---- lowercase ---------------------------------------------------------------------------------- */

enum { CAPITAL_SIGMA = 0x3A3, SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2, DOTTED_I = 0x130, DOT_ABOVE = 0x307 };

/* Unicode's Case_Ignorable: by category, and the characters that break no word when they stand inside one. */
static bool is_case_ignorable(int32_t c)
{
    static const int32_t inside_words[] = {0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,  0x5F4,  0x2018, 0x2019,
                                           0x2024, 0x2027, 0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
    for (size_t i = 0; i < GANZ_COUNT(inside_words); i++)
        if (c == inside_words[i]) return true;
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: return false;
    }
}

/* Unicode's Cased, for characters that are not Case_Ignorable. */
static bool is_cased(int32_t c)
{
    static const struct {
        int32_t first, last;
    } others[] = {{0xAA, 0xAA},       {0xBA, 0xBA},       {0x2160, 0x217F},  {0x24B6, 0x24E9},
                  {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
    for (size_t i = 0; i < GANZ_COUNT(others); i++)
        if (c >= others[i].first && c <= others[i].last) return true;
    const utf8proc_category_t category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT;
}

/* A sigma ends a word when a cased letter comes before it and none after, ignorable characters skipped. */
static bool ends_word(const ganz_codepoints *text, size_t sigma)
{
    size_t before = sigma;
    while (before > 0 && is_case_ignorable(text->at[before - 1])) before--;
    if (before == 0 || !is_cased(text->at[before - 1])) return false;
    size_t after = sigma + 1;
    while (after < text->count && is_case_ignorable(text->at[after])) after++;
    return after == text->count || !is_cased(text->at[after]);
}

void ganz_codepoints_lower(const ganz_codepoints *in, ganz_codepoints *out)
{
    out->count = 0;
    out->failed = in->failed;
    for (size_t i = 0; i < in->count; i++) {
        const int32_t c = in->at[i];
        if (c < 0x80) {
            ganz_codepoints_push(out, c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
        } else if (c == CAPITAL_SIGMA) {
            ganz_codepoints_push(out, ends_word(in, i) ? FINAL_SIGMA : SIGMA);
        } else if (c == DOTTED_I) {
            ganz_codepoints_push(out, 'i');
            ganz_codepoints_push(out, DOT_ABOVE);
        } else {
            ganz_codepoints_push(out, utf8proc_tolower(c));
        }
    }
}
