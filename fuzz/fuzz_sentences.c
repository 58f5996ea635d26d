/* Sentence ends in any valid text: sentences rise, are not empty, have no white space at their ends, and nothing but
 * white space, or signs where they are asked for, lies between them. The first byte chooses language, breaks and signs.
 */
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

static bool is_sign(int32_t code)
{
    return code == '-' || code == '*' || code == '>' || code == 0xB7 || code == 0x2013 || code == 0x2014 ||
           code == 0x2022;
}

static void expect_space(const char *text, size_t begin, size_t end, bool signs)
{
    for (size_t at = begin; at < end;) {
        int32_t code;
        at += ganz_next_character(text + at, &code);
        FUZZ_EXPECT((ganz_is_space(code) || (signs && is_sign(code))) && at <= end);
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
                           .signs = data[0] >> 6 & 1};
    if (!ganz_utf8_valid(text, bytes - 1)) return 0;
    size_t begin, end, last = 0;
    while (ganz_sentences_next(&walk, &begin, &end)) {
        FUZZ_EXPECT(begin < end && begin >= last && end <= bytes - 1);
        expect_space(text, last, begin, walk.signs);
        size_t final = end - 1;
        while (final > begin && ((unsigned char)text[final] & 0xC0) == 0x80) final--;
        FUZZ_EXPECT(!is_space_at(text, begin) && !is_space_at(text, final));
        last = end;
    }
    expect_space(text, last, bytes - 1, false);
    return 0;
}
