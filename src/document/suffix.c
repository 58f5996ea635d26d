/* Suffixes of numbers: units stay, endings change with the language. */
#include "document/suffix.h"

#include <string.h>

#include "text/tokenizer.h"
#include "text/unicode.h"

static const char *const measures[] = {"m",   "km",  "cm",  "mm",  "nm", "ft",  "yd",  "kg",  "g",   "mg",   "lb",
                                       "lbs", "oz",  "l",   "L",   "ml", "mL",  "cl",  "mph", "kph", "km/h", "GB",
                                       "MB",  "TB",  "KB",  "kB",  "GW", "MW",  "kW",  "kWh", "W",   "V",    "mAh",
                                       "Hz",  "kHz", "MHz", "GHz", "px", "dpi", "rpm", "hp"};

/* Of less than two digits these are something else, or words in a translation. */
static const char *const others[] = {"sec", "secs", "min", "mins", "h", "hr", "hrs", "ms", "pt", "C", "F", "K", "p"};

/* Endings that a translation may leave out for a word have more digits than people write as words: not 20s, not 21st.
 */
enum { LEAST_DIGITS = 3 };
typedef struct ending {
    const char *language, *suffix, *other, *there;
} ending;
static const ending endings[] = {{"en", "s", "de", "er"}, {"en", "st", "de", "."}, {"en", "nd", "de", "."},
                                 {"en", "rd", "de", "."}, {"en", "th", "de", "."}, {"de", "er", "en", "s"}};

/* Bytes of a suffix if the word ends with it. */
static size_t ends_word(const char *text, size_t end, size_t at, const char *suffix)
{
    const size_t bytes = strlen(suffix);
    int32_t code = ' ';
    if (at > end || end - at < bytes || memcmp(text + at, suffix, bytes) != 0) return 0;
    if (at + bytes < end) ganz_next_character(text + at + bytes, &code);
    return ganz_is_alnum(code) || code == '_' || code == '/' || code == '-' ? 0 : bytes;
}

static size_t one_of(const char *const *list, size_t count, const char *text, size_t end, size_t at)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count && bytes == 0; i++) bytes = ends_word(text, end, at, list[i]);
    return bytes;
}

size_t ganz_suffix_at(const char *text, size_t end, size_t at, size_t digits)
{
    size_t bytes = one_of(measures, GANZ_COUNT(measures), text, end, at);
    if (bytes == 0 && digits >= 2) bytes = one_of(others, GANZ_COUNT(others), text, end, at);
    for (size_t i = 0; i < GANZ_COUNT(endings) && digits >= LEAST_DIGITS && bytes == 0; i++)
        bytes = ends_word(text, end, at, endings[i].suffix);
    return bytes;
}

bool ganz_suffix_write(ganz_text *out, const char *suffix, size_t bytes, const ganz_language *source,
                       const ganz_language *target)
{
    for (size_t i = 0; i < GANZ_COUNT(endings); i++) {
        const ending *const e = &endings[i];
        if (strcmp(source->code, e->language) != 0 || strcmp(target->code, e->other) != 0) continue;
        if (bytes == strlen(e->suffix) && memcmp(suffix, e->suffix, bytes) == 0)
            return ganz_text_append(out, e->there, strlen(e->there));
    }
    return ganz_text_append(out, suffix, bytes);
}
