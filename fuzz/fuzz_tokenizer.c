/* Any bytes through a small fixed vocabulary: text that is UTF-8 comes back unchanged, other text is refused, and the
 * same bytes read as ids decode to valid text. */
#include <string.h>

#include "fuzz.h"
#include "ganz/io.h"
#include "ganz/vocab.h"
#include "text/tokenizer.h"

/* Entries that end inside escapes and in the middle of tokens. */
static const char file[] =
    "<pad>_\n<EOS>_\nthe_\nth\ne_\n', _'\n'. _'\n\\u_\n\\2\n28\n8;\n8;_\n\xC3\xA4u\n\xE4\xB8\xAD\xE6\x96\x87_\n\\\\_\n"
    " ' '\na_\n'\\'\n'_'\nu\n;\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n<\n>\np\na\nd\nE\nO\nS\nt\nh\ne\n,\n.\n"
    "' '\n\xC3\xA4\n\xE4\xB8\xAD\n\xE6\x96\x87\n";

static ganz_vocab *open_once(void)
{
    static ganz_vocab *vocab;
    if (!vocab) FUZZ_EXPECT(ganz_vocab_parse(&vocab, file, sizeof file - 1, "fixed", NULL) == GANZ_OK);
    return vocab;
}

static void expect_round_trip(const ganz_vocab *vocab, const char *text, size_t bytes)
{
    ganz_ids ids = {0};
    ganz_text back = {0};
    FUZZ_EXPECT(ganz_vocab_encode(vocab, GANZ_SOURCE, text, bytes, &ids, NULL) == GANZ_OK);
    FUZZ_EXPECT((ids.count == 0) == (bytes == 0));
    FUZZ_EXPECT(ganz_vocab_decode(vocab, GANZ_TARGET, ids.ids, ids.count, &back, NULL) == GANZ_OK);
    FUZZ_EXPECT(back.bytes == bytes && (bytes == 0 || memcmp(back.text, text, bytes) == 0));
    ganz_ids_free(&ids);
    ganz_text_free(&back);
}

/* Tokens alternate in class, are never empty, and lie in the text in order with at most one space between. */
static void expect_tokens(const char *text, size_t bytes)
{
    ganz_tokenizer tokens = {text, bytes, 0};
    const char *token, *end = text;
    size_t length;
    while (ganz_tokenizer_next(&tokens, &token, &length)) {
        FUZZ_EXPECT(length > 0 && (token == end || (token == end + 1 && *end == ' ' && end > text)));
        int32_t code;
        ganz_next_character(token, &code);
        const bool alnum = ganz_is_alnum(code);
        for (size_t at = 0; at < length; at += ganz_next_character(token + at, &code)) {
            ganz_next_character(token + at, &code);
            FUZZ_EXPECT(ganz_is_alnum(code) == alnum);
        }
        end = token + length;
    }
    FUZZ_EXPECT(end == text + bytes);
}

static void decode_bytes_as_ids(const ganz_vocab *vocab, const uint8_t *data, size_t bytes)
{
    int32_t *const ids = malloc((bytes + 1) * sizeof *ids);
    FUZZ_EXPECT(ids);
    for (size_t i = 0; i < bytes; i++) ids[i] = data[i] % (ganz_vocab_size(vocab) + 2) - 1;
    ganz_text out = {0};
    FUZZ_EXPECT(ganz_vocab_decode(vocab, GANZ_TARGET, ids, bytes, &out, NULL) == GANZ_OK);
    FUZZ_EXPECT(out.bytes == 0 || ganz_utf8_valid(out.text, out.bytes));
    ganz_text_free(&out);
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const ganz_vocab *const vocab = open_once();
    const char *const text = (const char *)data;
    decode_bytes_as_ids(vocab, data, bytes);
    if (ganz_utf8_valid(text, bytes)) {
        expect_round_trip(vocab, text, bytes);
        expect_tokens(text, bytes);
        return 0;
    }
    ganz_ids none = {0};
    FUZZ_EXPECT(ganz_vocab_encode(vocab, GANZ_SOURCE, text, bytes, &none, NULL) == GANZ_EINVAL && none.count == 0);
    char *const repaired = malloc(bytes * 3);
    size_t replaced;
    FUZZ_EXPECT(repaired);
    const size_t length = ganz_utf8_repair(text, bytes, repaired, &replaced);
    FUZZ_EXPECT(replaced > 0 && ganz_utf8_valid(repaired, length));
    expect_round_trip(vocab, repaired, length);
    free(repaired);
    return 0;
}
