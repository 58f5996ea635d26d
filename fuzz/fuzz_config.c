/* A file of defaults that somebody else wrote. What is refused is told in one line; names and values that are taken lie
 * within the text and have no white space at their ends. */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "fuzz.h"

static void expect_word(const char *text, size_t bytes, const char *word)
{
    const size_t n = strlen(word);
    FUZZ_EXPECT(word >= text && word + n <= text + bytes && !strchr(word, '\n'));
    FUZZ_EXPECT(n == 0 || (!strchr(" \t\r", word[0]) && !strchr(" \t\r", word[n - 1])));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    ganz_error err = {0};
    const char *name, *value;
    if (bytes > CLI_CONFIG_MOST || (bytes > 0 && memchr(data, '\0', bytes))) return 0; /* refused before */
    char *const text = malloc(bytes + 1);
    if (!text) return 0;
    if (bytes > 0) memcpy(text, data, bytes);
    text[bytes] = '\0';
    cli_config c = {.at = text};
    do {
        if (cli_config_next(&c, &name, &value, &err) != GANZ_OK) {
            FUZZ_EXPECT(err.status == GANZ_EFORMAT && err.message[0] && !strchr(err.message, '\n'));
            break;
        }
        if (name) expect_word(text, bytes, name);
        if (name) FUZZ_EXPECT(name[0] && c.section && c.line > 0);
        if (value) expect_word(text, bytes, value);
    } while (name);
    free(text);
    return 0;
}
