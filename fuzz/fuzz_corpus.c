/* Any bytes as a corpus: it is refused, or every pair has two sides of ids in the vocabulary, as many as it says, or is
 * refused when it is read. */
#define _GNU_SOURCE /* memfd_create */
#include "memory_file.h"
#include "train/corpus.h"

enum { MOST_TOKENS = 1 << 20 };

static void read_pair(const ganz_corpus *c, uint32_t pair)
{
    const uint32_t source = ganz_corpus_source(c, pair), target = ganz_corpus_target(c, pair);
    FUZZ_EXPECT(source > 0 && target > 0);
    if (source > MOST_TOKENS || target > MOST_TOKENS) return;
    int32_t *const ids = malloc((source + target) * sizeof *ids);
    FUZZ_EXPECT(ids);
    if (ganz_corpus_ids(c, pair, ids, ids + source, NULL) == GANZ_OK)
        for (uint32_t i = 0; i < source + target; i++)
            FUZZ_EXPECT(ids[i] >= 0 && ids[i] < (i < source ? c->source_vocab_size : c->vocab_size));
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memory_file file = memory_file_open(data, size);
    ganz_corpus *c;
    ganz_error err = {.message = ""};
    if (ganz_corpus_open(&c, file.path, &err) == GANZ_OK) {
        for (uint32_t i = 0; i < c->pairs; i++) read_pair(c, i);
        ganz_corpus_close(&c);
    } else {
        FUZZ_EXPECT(!c && err.message[0]);
    }
    memory_file_close(&file);
    return 0;
}
