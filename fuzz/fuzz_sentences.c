/* Sentence ends in any valid text: sentences rise, are not empty, have no white space at their ends, and nothing but
 * white space lies between them, unless some may stay outside. The first byte chooses language, breaks and that. */
#include "document/sentences.h"
#include "fuzz.h"
#include "ganz/io.h"
#include "text/unicode.h"

static bool is_space_at(const char *text, size_t at)
{
    int32_t code;
    ganz_next_character(text + at, &code);
    return ganz_is_space(code);
}

static void expect_space(const char *text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end;) {
        int32_t code;
        at += ganz_next_character(text + at, &code);
        FUZZ_EXPECT(ganz_is_space(code) && at <= end);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const languages[] = {"en", "de", "fr", NULL};
    if (bytes == 0) return 0;
    const char *const text = (const char *)data + 1;
    ganz_sentences walk = {.text = text,
                           .bytes = bytes - 1,
                           .language = ganz_language_of(languages[data[0] & 3]),
                           .breaks = (ganz_breaks)((data[0] >> 2 & 15) % 3),
                           .outside = data[0] >> 6 & 1};
    if (!ganz_utf8_valid(text, bytes - 1)) return 0;
    size_t begin, end, last = 0;
    while (ganz_sentences_next(&walk, &begin, &end)) {
        FUZZ_EXPECT(begin < end && begin >= last && end <= bytes - 1);
        if (!walk.outside) expect_space(text, last, begin);
        size_t final = end - 1;
        while (final > begin && ((unsigned char)text[final] & 0xC0) == 0x80) final--;
        FUZZ_EXPECT(!is_space_at(text, begin) && !is_space_at(text, final));
        last = end;
    }
    if (!walk.outside) expect_space(text, last, bytes - 1);
    return 0;
}
