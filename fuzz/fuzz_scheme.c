/* Exceptions of a scheme that nobody vouches for. What is refused says why; what is taken has only values of the table,
 * comes back from its own text, and gives every name a rule. */
#include <string.h>

#include "fuzz.h"
#include "nn/scheme.h"

static void expect_rule(const ganz_scheme *scheme, const char *name)
{
    const ganz_rule r = ganz_scheme_rule(scheme, name, false);
    FUZZ_EXPECT(r.weight_bits >= GANZ_BITS_LEAST && r.weight_bits <= GANZ_BITS_MOST);
    FUZZ_EXPECT(r.input_bits >= GANZ_BITS_LEAST && r.input_bits <= GANZ_BITS_MOST);
    FUZZ_EXPECT(r.bias_bits == GANZ_BITS_FLOAT || (r.bias_bits >= GANZ_BITS_LEAST && r.bias_bits <= GANZ_BITS_MOST));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char text[2 * GANZ_SCHEME_TEXT], printed[GANZ_SCHEME_TEXT], again[GANZ_SCHEME_TEXT];
    ganz_scheme scheme = ganz_scheme_of_bits(8), second = ganz_scheme_of_bits(8);
    ganz_error err = {0};
    if (bytes >= sizeof text) bytes = sizeof text - 1;
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    if (ganz_scheme_parse(&scheme, text, &err) != GANZ_OK) {
        FUZZ_EXPECT(err.message[0]);
        return 0;
    }
    FUZZ_EXPECT(scheme.exceptions <= GANZ_SCHEME_EXCEPTIONS);
    expect_rule(&scheme, "enc.0.self.q");
    expect_rule(&scheme, "logits");
    expect_rule(&scheme, "");
    ganz_scheme_print(&scheme, printed);
    if (strlen(printed) + 1 == sizeof printed) return 0; /* cut off */
    FUZZ_EXPECT(ganz_scheme_parse(&second, printed, &err) == GANZ_OK);
    ganz_scheme_print(&second, again);
    FUZZ_EXPECT(strcmp(printed, again) == 0);
    return 0;
}
