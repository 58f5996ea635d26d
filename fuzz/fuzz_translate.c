/* Any bytes as lines for a small model: refused when they are not UTF-8, else one line for each line. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "ganz/io.h"
#include "tiny.h"

enum { LINES = 64 };

static ganz_translator *open_once(void)
{
    static ganz_model *model; /* both live as long as the program */
    static ganz_translator *translator;
    if (translator) return translator;
    char path[] = "/tmp/ganz_fuzz_XXXXXX";
    const int file = mkstemp(path);
    FUZZ_EXPECT(file >= 0 && close(file) == 0 && write_tiny(path, 5) && ganz_model_open(&model, path, NULL) == GANZ_OK);
    unlink(path);
    ganz_translator_options options;
    ganz_translator_defaults(&options);
    options.beam = options.n_best = 2;
    options.max_length = 4;
    options.max_input = 16;
    ganz_error err = {0};
    const ganz_status status = ganz_translator_open(&translator, model, &options, &err);
    if (status != GANZ_OK) fprintf(stderr, "%s\n", err.message); /* OpenBLAS may be missing: the machine's fault */
    FUZZ_EXPECT(status == GANZ_OK);
    return translator;
}

/* Lines end at "\n"; what follows the first tab of a line is its prefix. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    ganz_line lines[LINES];
    const char *at = (const char *)data, *const end = at + bytes;
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
    if (ganz_translate(open_once(), lines, count, &results, &err) != GANZ_OK) {
        FUZZ_EXPECT(err.status == GANZ_EINVAL && err.message[0] && !results);
        return 0;
    }
    for (int i = 0; i < count; i++) {
        FUZZ_EXPECT(results[i].count >= 1 && results[i].count <= 2);
        for (int j = 0; j < results[i].count; j++) {
            const ganz_translation *const t = &results[i].best[j];
            FUZZ_EXPECT(ganz_utf8_valid(t->text, t->bytes) && t->text[t->bytes] == '\0');
            FUZZ_EXPECT(!memchr(t->text, '\n', t->bytes));
        }
    }
    return 0;
}
