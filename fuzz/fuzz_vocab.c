/* A vocabulary file that nobody vouches for. What opens must come back from its own file's text, encode any text and
 * decode to it. */
#include <string.h>

#include "fuzz.h"
#include "ganz/io.h"
#include "ganz/vocab.h"

static void expect_round_trip(const ganz_vocab *vocab, const char *text, size_t bytes)
{
    ganz_ids ids = {0};
    ganz_text back = {0};
    FUZZ_EXPECT(ganz_vocab_encode(vocab, GANZ_SOURCE, text, bytes, &ids, NULL) == GANZ_OK);
    for (size_t i = 0; i < ids.count; i++) FUZZ_EXPECT(ids.ids[i] >= 0 && ids.ids[i] < ganz_vocab_size(vocab));
    FUZZ_EXPECT(ganz_vocab_decode(vocab, GANZ_TARGET, ids.ids, ids.count, &back, NULL) == GANZ_OK);
    FUZZ_EXPECT(back.bytes == bytes && (bytes == 0 || memcmp(back.text, text, bytes) == 0));
    ganz_ids_free(&ids);
    ganz_text_free(&back);
}

/* Every id once, in order and backwards: pieces that no encoder puts together. */
static void decode_all_ids(const ganz_vocab *vocab)
{
    const int size = ganz_vocab_size(vocab);
    int32_t *const ids = malloc(((size_t)size + 1) * 2 * sizeof *ids);
    FUZZ_EXPECT(ids);
    for (int i = 0; i <= size; i++) ids[i] = ids[2 * size + 1 - i] = i;
    ganz_text out = {0};
    FUZZ_EXPECT(ganz_vocab_decode(vocab, GANZ_TARGET, ids, ((size_t)size + 1) * 2, &out, NULL) == GANZ_OK);
    FUZZ_EXPECT(ganz_utf8_valid(out.text, out.bytes));
    ganz_text_free(&out);
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char line[] = "low_er \\ newest, \xC3\xA4 \xF0\x9F\x98\x80\n3";
    const char *const text = (const char *)data;
    ganz_vocab *vocab, *again;
    ganz_error err = {0};
    if (ganz_vocab_parse(&vocab, text, bytes, "fuzz", &err) != GANZ_OK) {
        FUZZ_EXPECT(!vocab && err.status != GANZ_OK && err.message[0]);
        return 0;
    }
    size_t file_bytes, again_bytes;
    const char *const file = ganz_vocab_file(vocab, &file_bytes);
    FUZZ_EXPECT(ganz_vocab_parse(&again, file, file_bytes, "again", &err) == GANZ_OK);
    const char *const again_file = ganz_vocab_file(again, &again_bytes);
    FUZZ_EXPECT(again_bytes == file_bytes && memcmp(file, again_file, file_bytes) == 0);
    expect_round_trip(vocab, line, sizeof line - 1);
    if (ganz_utf8_valid(text, bytes)) expect_round_trip(vocab, text, bytes);
    decode_all_ids(vocab);
    ganz_vocab_close(&again);
    ganz_vocab_close(&vocab);
    return 0;
}
