/* A SentencePiece model that nobody vouches for, and a line behind it. What opens must come back from its own parts,
 * encode any text to ids that exist, and decode to UTF-8. */
#include <string.h>

#include "fuzz.h"
#include "ganz/io.h"
#include "text/pieces.h"

static void try_text(const ganz_vocab *vocab, ganz_side side, const char *text, size_t bytes)
{
    const ganz_passage passage = {text, bytes, side};
    ganz_ids ids = {0};
    ganz_places places = {0};
    ganz_text back = {0};
    if (ganz_vocab_find_tokens(vocab, &passage, &ids, &places, NULL) == GANZ_OK) {
        size_t *const begin = malloc((ids.count + 1) * sizeof *begin);
        const ganz_id_span span = {ids.ids, ids.count, side};
        FUZZ_EXPECT(begin && places.count + 1 == ids.count);
        for (size_t i = 0; i < ids.count; i++) FUZZ_EXPECT(ids.ids[i] >= 0 && ids.ids[i] < ganz_vocab_size(vocab));
        for (size_t i = 0; i < places.count; i++) FUZZ_EXPECT(places.begin[i] <= bytes);
        FUZZ_EXPECT(ganz_vocab_decode_places(vocab, &span, &back, begin, NULL) == GANZ_OK);
        FUZZ_EXPECT(ganz_utf8_valid(back.text, back.bytes));
        for (size_t i = 0; i < ids.count; i++) FUZZ_EXPECT(begin[i] <= back.bytes);
        free(begin);
    } else {
        FUZZ_EXPECT(!ganz_utf8_valid(text, bytes));
    }
    ganz_ids_free(&ids);
    ganz_places_free(&places);
    ganz_text_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char line[] = "low_er <sep> newest, \xC3\xA4 \xEF\xAC\x81 \xF0\x9F\x98\x80  3";
    ganz_vocab *vocab;
    ganz_error err = {0};
    if (ganz_pieces_open_spm(&vocab, data, bytes, "fuzz", &err) != GANZ_OK) {
        FUZZ_EXPECT(!vocab && err.status != GANZ_OK && err.message[0]);
        return 0;
    }
    try_text(vocab, GANZ_SOURCE, line, sizeof line - 1);
    const size_t tail = bytes < 64 ? bytes : 64;
    try_text(vocab, GANZ_TARGET, (const char *)data + bytes - tail, tail);
    ganz_vocab_close(&vocab);
    return 0;
}
