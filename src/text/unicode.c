/* Character classes by Unicode category, and stripping of white space. */
#include "text/unicode.h"

#include <utf8proc.h>

bool ganz_is_alnum_wide(int32_t code)
{
    const utf8proc_category_t c = utf8proc_category(code);
    return (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO) ||
           (c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO);
}

bool ganz_is_combining(int32_t code)
{
    const utf8proc_category_t c = code < 0x300 ? UTF8PROC_CATEGORY_LL : utf8proc_category(code);
    return c >= UTF8PROC_CATEGORY_MN && c <= UTF8PROC_CATEGORY_ME;
}

bool ganz_is_upper(int32_t code)
{
    if (code < 0x80) return code >= 'A' && code <= 'Z';
    const utf8proc_category_t c = utf8proc_category(code);
    return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LT;
}

bool ganz_is_lower(int32_t code)
{
    return code < 0x80 ? code >= 'a' && code <= 'z' : utf8proc_category(code) == UTF8PROC_CATEGORY_LL;
}

int32_t ganz_to_upper(int32_t code)
{
    if (code < 0x80) return code >= 'a' && code <= 'z' ? code - 32 : code;
    return utf8proc_toupper(code);
}

int32_t ganz_to_lower(int32_t code)
{
    if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
    return utf8proc_tolower(code);
}

bool ganz_is_space(int32_t code)
{
    if (code < 0x80) return code == 0x20 || (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x1F);
    return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

const char *ganz_strip(const char *text, size_t *bytes)
{
    const char *end = text + *bytes;
    int32_t code;
    while (text < end) {
        const size_t step = ganz_next_character(text, &code);
        if (!ganz_is_space(code)) break;
        text += step;
    }
    while (end > text) {
        const char *last = end - 1;
        while (((unsigned char)*last & 0xC0) == 0x80) last--;
        ganz_next_character(last, &code);
        if (!ganz_is_space(code)) break;
        end = last;
    }
    *bytes = (size_t)(end - text);
    return text;
}

size_t ganz_count_characters(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}
