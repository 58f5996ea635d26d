/* Runs of alphanumeric and of other characters, and the escapes that let every text be spelled in an alphabet. */
#include "text/tokenizer.h"

#include "base/utf8.h"

bool ganz_tokenizer_next(ganz_tokenizer *t, const char **token, size_t *bytes)
{
    while (t->at < t->bytes) {
        const size_t start = t->at;
        int32_t code;
        t->at += ganz_next_character(t->text + start, &code);
        const bool alnum = ganz_is_alnum(code);
        while (t->at < t->bytes) {
            const size_t step = ganz_next_character(t->text + t->at, &code);
            if (ganz_is_alnum(code) != alnum) break;
            t->at += step;
        }
        const bool inner_space = t->at - start == 1 && t->text[start] == ' ' && start > 0 && t->at < t->bytes;
        if (inner_space) continue; /* ganz_tokenizer_join puts it back */
        *token = t->text + start;
        *bytes = t->at - start;
        return true;
    }
    return false;
}

bool ganz_tokenizer_join(ganz_text *line, const char *token, size_t bytes, bool *after_alnum)
{
    int32_t code;
    ganz_next_character(token, &code);
    const bool alnum = ganz_is_alnum(code);
    if (alnum && *after_alnum && !ganz_text_append(line, " ", 1)) return false;
    *after_alnum = alnum;
    return ganz_text_append(line, token, bytes);
}

/* A backslash, the code point in decimal, a semicolon; returns the length. */
static size_t write_decimal(char out[16], int32_t code)
{
    char digits[8];
    size_t count = 0, length = 0;
    do digits[count++] = (char)('0' + code % 10);
    while ((code /= 10) > 0);
    out[length++] = '\\';
    while (count > 0) out[length++] = digits[--count];
    out[length++] = ';';
    return length;
}

bool ganz_escape(ganz_text *out, const char *token, size_t bytes, const ganz_alphabet *alphabet)
{
    for (size_t at = 0; at < bytes;) {
        int32_t code;
        char escape[16];
        const char *piece = token + at;
        const size_t step = ganz_next_character(piece, &code);
        size_t length = step;
        if (code == '\\' || code == '_') {
            piece = code == '_' ? "\\u" : "\\\\";
            length = 2;
        } else if (code == '\n' || !ganz_alphabet_has(alphabet, code)) {
            length = write_decimal(escape, code);
            piece = escape;
        }
        if (!ganz_text_append(out, piece, length)) return false;
        at += step;
    }
    return true;
}

/* Length of a "\digits;" at the start of text, or 0; *code is what it stands for. */
static size_t decimal_escape(const char *text, size_t bytes, int32_t *code)
{
    size_t at = 1;
    int32_t number = 0;
    while (at < bytes && text[at] >= '0' && text[at] <= '9') {
        if (number < GANZ_CODE_POINTS) number = number * 10 + (text[at] - '0');
        at++;
    }
    if (at == 1 || at == bytes || text[at] != ';') return 0;
    const bool surrogate = number >= 0xD800 && number <= 0xDFFF;
    *code = number >= GANZ_CODE_POINTS || surrogate ? 0x3013 : number;
    return at + 1;
}

bool ganz_unescape(ganz_text *out, const char *escaped, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const char *const from = escaped + at;
        const char *const backslash = memchr(from, '\\', bytes - at);
        const size_t plain = backslash ? (size_t)(backslash - from) : bytes - at;
        if (!ganz_text_append(out, from, plain)) return false;
        at += plain;
        if (!backslash) break;
        char character[4] = "\\";
        size_t length = 1, used = 1; /* a lone backslash stays */
        const char next = at + 1 < bytes ? backslash[1] : '\0';
        int32_t code;
        if (next == 'u' || next == '\\') {
            character[0] = next == 'u' ? '_' : '\\';
            used = 2;
        } else {
            const size_t decimal = decimal_escape(backslash, bytes - at, &code);
            if (decimal > 0) {
                length = (size_t)ganz_utf8_encode(code, character);
                used = decimal;
            }
        }
        if (!ganz_text_append(out, character, length)) return false;
        at += used;
    }
    return true;
}
