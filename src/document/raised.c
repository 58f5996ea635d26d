/* The rule for raised and lowered text. */
#include "document/raised.h"

#include "document/html_scan.h"

bool ganz_raised_is_part(const char *text, size_t bytes)
{
    if (bytes > GANZ_RAISED_BYTES) return false;
    for (size_t i = 0; i < bytes; i++)
        if (ganz_html_space(text[i])) return false;
    return true;
}

bool ganz_raised_is_ordinal(const char *text, size_t bytes)
{
    static const char *const ends[] = {"st", "nd", "rd", "th"};
    for (size_t i = 0; i < GANZ_COUNT(ends); i++)
        if (ganz_html_is(text, bytes, ends[i])) return true;
    return false;
}

size_t ganz_raised_word_before(const char *text, size_t bytes)
{
    size_t begin = bytes;
    while (begin > 0 && ganz_ascii_alnum(text[begin - 1])) begin--;
    return bytes - begin;
}

size_t ganz_raised_word_after(const char *text, size_t bytes)
{
    size_t end = 0;
    while (end < bytes && ganz_ascii_alnum(text[end])) end++;
    return end;
}
