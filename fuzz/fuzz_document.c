/* Any bytes as a document of text or lines: with translations that equal their sentences the same bytes come out,
 * between languages that write numbers and times alike; with translators that lose, double and disorder words, and with
 * links that make no sense, it ends. The first byte chooses. */
#include "documents.h"
#include "fuzz.h"
#include "ganz/io.h"

static fake_translator *const fakes[] = {fake_identity, fake_nothing, fake_twice, fake_shout, fake_reverse};

static ganz_text translated(const char *text, size_t bytes, const ganz_document_options *o, fake_translator *translate,
                            uint32_t seed)
{
    ganz_document *doc;
    ganz_text out = {0};
    FUZZ_EXPECT(ganz_document_open(&doc, text, bytes, o, NULL) == GANZ_OK);
    FUZZ_EXPECT(fake_translate_linked(doc, translate, seed, NULL) == GANZ_OK);
    size_t done;
    FUZZ_EXPECT(ganz_document_segments(doc, &done) == done);
    FUZZ_EXPECT(ganz_document_write(doc, &out, NULL) == GANZ_OK);
    ganz_document_close(&doc);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static ganz_glossary *glossary;
    static const char terms[] = "house\tHaus\nred car\trotes Auto\nX1\nanna\n";
    if (bytes < 2) return 0;
    if (!glossary) FUZZ_EXPECT(ganz_glossary_parse(&glossary, terms, sizeof terms - 1, "terms", NULL) == GANZ_OK);
    const char *const text = (const char *)data + 2;
    const size_t length = bytes - 2;
    ganz_document_options o;
    ganz_document_defaults(&o);
    o.format = data[0] & 1 ? "text" : "lines";
    o.source = data[0] & 2 ? "en" : "de";
    o.target = "fr";
    o.newlines = (ganz_newlines)((data[0] >> 2) % 3);
    ganz_text same = translated(text, length, &o, fake_identity, 0);
    FUZZ_EXPECT(same.bytes == length && (length == 0 || memcmp(same.text, text, length) == 0));
    ganz_text_free(&same);
    o.target = data[0] & 2 ? "de" : "en";
    o.glossary = data[0] & 64 ? glossary : NULL;
    o.bilingual = data[0] & 128;
    ganz_text other = translated(text, length, &o, fakes[data[1] % 5], data[1] >> 3);
    if (ganz_utf8_valid(text, length)) FUZZ_EXPECT(ganz_utf8_valid(other.text, other.bytes));
    ganz_text_free(&other);
    return 0;
}
