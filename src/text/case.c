/* Case of a whole text, one character at a time through utf8proc's tables. */
#include "text/case.h"

#include <utf8proc.h>

#include "base/utf8.h"
#include "text/tokenizer.h"

enum { SHARP_S = 0xDF };

static bool append_code(ganz_text *out, int32_t code)
{
    char bytes[4];
    return ganz_text_append(out, bytes, (size_t)ganz_utf8_encode(code, bytes));
}

static bool append_upper(ganz_text *out, int32_t code)
{
    return code == SHARP_S ? ganz_text_append(out, "SS", 2) : append_code(out, utf8proc_toupper(code));
}

bool ganz_case_upper(const char *text, size_t bytes, ganz_text *out)
{
    bool good = true;
    for (size_t at = 0; good && at < bytes;) {
        int32_t code;
        at += ganz_next_character(text + at, &code);
        good = append_upper(out, code);
    }
    return good;
}

bool ganz_case_lower(const char *text, size_t bytes, ganz_text *out)
{
    bool good = true;
    for (size_t at = 0; good && at < bytes;) {
        int32_t code;
        at += ganz_next_character(text + at, &code);
        good = append_code(out, utf8proc_tolower(code));
    }
    return good;
}

/* A capital for the first letter of each word, or of the first one. */
static bool append_capitals(const char *text, size_t bytes, bool each, ganz_text *out)
{
    bool good = true, begins = true; /* no letter of this word so far */
    for (size_t at = 0; good && at < bytes;) {
        int32_t code;
        at += ganz_next_character(text + at, &code);
        good = append_code(out, begins && ganz_is_alnum(code) ? utf8proc_totitle(code) : code);
        begins = (each && ganz_is_space(code)) || (begins && !ganz_is_alnum(code));
    }
    return good;
}

bool ganz_case_title(const char *text, size_t bytes, ganz_text *out) { return append_capitals(text, bytes, true, out); }

bool ganz_case_initial(const char *text, size_t bytes, ganz_text *out)
{
    return append_capitals(text, bytes, false, out);
}
