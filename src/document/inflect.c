/* German endings: two words agree if they are equal, umlauts and the case of letters aside, once the endings of
 * declension are taken off. Short words must agree as they are. */
#include "document/inflect.h"

#include <string.h>

#include "base/utf8.h"
#include "text/unicode.h"

enum { WORD_BYTES = 96, LEAST_STEM = 3 };

typedef struct folded {
    char text[WORD_BYTES + 8];
    size_t bytes;
} folded;

static int32_t without_umlaut(int32_t code)
{
    return code == 0xE4 ? 'a' : code == 0xF6 ? 'o' : code == 0xFC ? 'u' : code;
}

/* The word at text[at]: letters, digits, hyphens; one sign if there is none. Returns its length. */
static size_t fold_word(const char *text, size_t bytes, size_t at, folded *out)
{
    const size_t begin = at;
    out->bytes = 0;
    while (at < bytes) {
        int32_t code;
        const size_t step = ganz_next_character(text + at, &code);
        const bool part = ganz_is_alnum(code) || (code == '-' && at > begin);
        if (!part && at > begin) break;
        if (out->bytes <= WORD_BYTES)
            out->bytes += (size_t)ganz_utf8_encode(without_umlaut(ganz_to_lower(code)), out->text + out->bytes);
        at += step;
        if (!part) break;
    }
    return at - begin;
}

static size_t stem_length(const folded *w)
{
    static const char *const endings[] = {"ern", "ens", "en", "er", "es", "em", "e", "n", "s"};
    for (size_t i = 0; i < GANZ_COUNT(endings); i++) {
        const size_t length = strlen(endings[i]);
        if (w->bytes >= length + LEAST_STEM && memcmp(w->text + w->bytes - length, endings[i], length) == 0)
            return w->bytes - length;
    }
    return w->bytes;
}

static bool same(const folded *a, size_t a_bytes, const folded *b, size_t b_bytes)
{
    return a_bytes == b_bytes && memcmp(a->text, b->text, a_bytes) == 0;
}

static bool agree(const folded *a, const folded *b)
{
    const size_t as = stem_length(a), bs = stem_length(b);
    return same(a, a->bytes, b, b->bytes) || same(a, as, b, b->bytes) || same(a, a->bytes, b, bs) || same(a, as, b, bs);
}

static size_t skip_space(const char *text, size_t bytes, size_t at)
{
    int32_t code;
    while (at < bytes) {
        const size_t step = ganz_next_character(text + at, &code);
        if (!ganz_is_space(code)) break;
        at += step;
    }
    return at;
}

size_t ganz_inflected_length(const char *term, size_t term_bytes, const char *text, size_t bytes, size_t at)
{
    const size_t begin = at;
    size_t end = at;
    for (size_t i = 0; i < term_bytes; i = skip_space(term, term_bytes, i)) {
        folded wanted, found;
        at = skip_space(text, bytes, end);
        if (at >= bytes) return 0;
        i += fold_word(term, term_bytes, i, &wanted);
        end = at + fold_word(text, bytes, at, &found);
        if (!agree(&wanted, &found)) return 0;
    }
    return end - begin;
}
