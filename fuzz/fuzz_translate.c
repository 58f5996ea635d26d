/* Any bytes as lines for a small model: refused when they are not UTF-8, else one line for each line. */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "ganz/io.h"
#include "model_parts.h"
#include "tiny.h"

enum { LINES = 5, SHORT = 8, BEAM = 2 };

/* An integer model, which needs no OpenBLAS; it lives as long as the program. */
static ganz_model *make_model(void)
{
    ganz_vocab *vocab = tiny_vocab();
    size_t bytes, header;
    const ganz_config c = {.width = 4,
                           .ffn = 4,
                           .heads = 1,
                           .encoder_layers = 1,
                           .decoder_layers = 1,
                           .vocab = ganz_vocab_size(vocab),
                           .max_positions = 64};
    model_parts m;
    ganz_model *model;
    const char *const words = ganz_vocab_file(vocab, &bytes);
    char text[4096] = "";
    FUZZ_EXPECT(bytes < sizeof text);
    memcpy(text, words, bytes);
    parts_make(&m, &c, 8, text);
    parts_fill(&m, 8);
    ganz_error err = {0};
    static unsigned char
        *volatile file; /* the model's numbers stay in it; volatile, or compilers see that it is never read */
    file = parts_join(&m, &bytes, &header);
    const ganz_status status = ganz_model_parse(&model, file, bytes, "fixed", &err);
    if (status != GANZ_OK) fprintf(stderr, "%s\n", err.message);
    FUZZ_EXPECT(status == GANZ_OK);
    parts_free(&m);
    ganz_vocab_close(&vocab);
    return model;
}

/* Two translators of one model, opened once: greedy, and with a beam. */
static ganz_translator *open_once(int beam)
{
    static ganz_translator *translator[BEAM];
    static ganz_model *model;
    ganz_translator **const t = &translator[beam - 1];
    if (*t) return *t;
    if (!model) model = make_model();
    ganz_translator_options options;
    ganz_translator_defaults(&options);
    options.beam = options.n_best = beam;
    options.max_length = 2;
    options.max_input = 16;
    FUZZ_EXPECT(ganz_translator_open(t, model, &options, NULL) == GANZ_OK);
    return *t;
}

/* Lines end at "\n"; what follows the first tab of a line is its prefix. Translating takes longer than reading: most
 * inputs are cut short and translated greedily. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    ganz_line lines[LINES];
    const size_t most = bytes % 32 == 0 ? bytes : bytes % 8 == 0 ? 4 * SHORT : SHORT;
    const size_t used = bytes < most ? bytes : most;
    const char *at = (const char *)data, *const end = at + used;
    const int beam = bytes % 4 == 0 ? BEAM : 1;
    int count = 0;
    while (at < end && count < LINES) {
        const char *const stop = memchr(at, '\n', (size_t)(end - at)), *const line_end = stop ? stop : end;
        const char *const tab = memchr(at, '\t', (size_t)(line_end - at));
        lines[count++] = (ganz_line){.text = at,
                                     .bytes = (size_t)((tab ? tab : line_end) - at),
                                     .prefix = tab ? tab + 1 : NULL,
                                     .prefix_bytes = tab ? (size_t)(line_end - tab - 1) : 0};
        at = line_end + 1;
    }
    const ganz_result *results;
    ganz_error err = {0};
    if (ganz_translate(open_once(beam), lines, count, &results, &err) != GANZ_OK) {
        FUZZ_EXPECT(err.status == GANZ_EINVAL && err.message[0] && !results);
        return 0;
    }
    for (int i = 0; i < count; i++) {
        FUZZ_EXPECT(results[i].count >= 1 && results[i].count <= beam);
        for (int j = 0; j < results[i].count; j++) {
            const ganz_translation *const t = &results[i].best[j];
            FUZZ_EXPECT(ganz_utf8_valid(t->text, t->bytes) && t->text[t->bytes] == '\0');
            FUZZ_EXPECT(!memchr(t->text, '\n', t->bytes));
        }
    }
    return 0;
}
