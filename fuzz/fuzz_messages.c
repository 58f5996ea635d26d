/* Files of messages that nobody vouches for; the first byte says JSON, ARB, .properties or PO. With a translator that
 * returns its input every byte comes back, but for what PO files have filled in: those are whole after the first time.
 * What other translators make of a file can be read again. */
#include <string.h>

#include "fuzz.h"
#include "skeletons.h"

static void expect_same(const ganz_text *out, const char *file, size_t bytes)
{
    FUZZ_EXPECT(out->bytes == bytes && (bytes == 0 || memcmp(out->text, file, bytes) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static fake_translator *const translators[] = {fake_shout, fake_reverse, fake_twice, fake_nothing};
    static const ganz_format *const formats[] = {&ganz_format_json, &ganz_format_arb, &ganz_format_properties,
                                                 &ganz_format_po};
    if (bytes == 0) return 0;
    const ganz_format *const format = formats[data[0] % 4];
    const char *const file = (const char *)data + 1;
    const size_t count = bytes - 1;
    ganz_text out = {0}, again = {0};
    ganz_error err = {0};
    const ganz_status status = fake_document(&out, format, file, count, true, fake_identity, &err);
    FUZZ_EXPECT(status == GANZ_OK || (status == GANZ_EFORMAT && err.message[0]));
    if (status == GANZ_OK && format != &ganz_format_po) expect_same(&out, file, count);
    if (status == GANZ_OK && format == &ganz_format_po) {
        FUZZ_EXPECT(fake_document(&again, format, out.text, out.bytes, true, fake_identity, &err) == GANZ_OK);
        expect_same(&again, out.text, out.bytes);
    }
    if (status == GANZ_OK) {
        out.bytes = again.bytes = 0;
        FUZZ_EXPECT(fake_document(&out, format, file, count, true, translators[bytes % 4], &err) == GANZ_OK);
        FUZZ_EXPECT(fake_document(&again, format, out.text, out.bytes, true, fake_identity, &err) == GANZ_OK);
        if (format != &ganz_format_po) expect_same(&again, out.text, out.bytes);
    }
    ganz_text_free(&out);
    ganz_text_free(&again);
    return 0;
}
