/* A glossary that nobody vouches for, and a text: the first byte says where one ends and the other begins. What is
 * refused is told in one line; with the rest a document is translated, by translators that lose and disorder words. */
#include <string.h>

#include "base/io.h"
#include "documents.h"
#include "fuzz.h"
#include "ganz/io.h"

static void translate(const ganz_glossary *glossary, const char *text, size_t bytes, fake_translator *how)
{
    ganz_document_options o;
    ganz_document *doc;
    ganz_text out = {0};
    ganz_document_defaults(&o);
    o.format = "text";
    o.glossary = glossary;
    FUZZ_EXPECT(ganz_document_open(&doc, text, bytes, &o, NULL) == GANZ_OK);
    FUZZ_EXPECT(fake_translate(doc, how, NULL) == GANZ_OK);
    FUZZ_EXPECT(ganz_document_write(doc, &out, NULL) == GANZ_OK);
    if (ganz_utf8_valid(text, bytes)) FUZZ_EXPECT(ganz_utf8_valid(out.text, out.bytes));
    ganz_text_free(&out);
    ganz_document_close(&doc);
}

/* A document takes most of the time: one input in four has one; a replayed one always. */
static bool translates(const uint8_t *data, size_t bytes)
{
#ifdef FUZZ_REPLAY
    (void)data, (void)bytes;
    return true;
#else
    return ganz_checksum(data, bytes) % 4 == 0;
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static fake_translator *const fakes[] = {fake_identity, fake_shout, fake_reverse, fake_nothing, fake_twice};
    if (bytes == 0) return 0;
    const char *const terms = (const char *)data + 1;
    const size_t terms_bytes = (bytes - 1) * data[0] / 255;
    ganz_glossary *glossary;
    ganz_error err = {0};
    if (ganz_glossary_parse(&glossary, terms, terms_bytes, "fuzz", &err) != GANZ_OK) {
        FUZZ_EXPECT(!glossary && err.message[0] && !strchr(err.message, '\n'));
        return 0;
    }
    FUZZ_EXPECT(ganz_glossary_size(glossary) <= terms_bytes);
    if (translates(data, bytes)) translate(glossary, terms + terms_bytes, bytes - 1 - terms_bytes, fakes[bytes % 5]);
    ganz_glossary_close(&glossary);
    return 0;
}
