/* Files of office documents, books and XLIFF that nobody vouches for, without the archive around them: the first byte
 * says which. With a translator that returns its input nothing changes; with others, which throw words about, and links
 * that make no sense, the result is well-formed XML again, and the text of office documents stands in runs. */
#include <string.h>

#include "archives.h"
#include "document/package.h"
#include "document/xml_tree.h"
#include "fuzz.h"
#include "skeletons.h"

#define WORD "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
#define DRAWING "http://schemas.openxmlformats.org/drawingml/2006/main"
#define TYPES(name, type)                                                                                       \
    "<Types><Override PartName=\"/" name "\" ContentType=\"application/vnd.openxmlformats-officedocument." type \
    "+xml\"/></Types>"

/* What is put around the bytes, so that a fuzzer need not find out about namespaces. */
typedef struct kind {
    const ganz_format *format;
    const char *member; /* NULL: the file is no archive */
    const char *other, *other_text;
    const char *before, *after;
} kind;

static const kind kinds[] = {
    {&ganz_format_docx, "d.xml", "[Content_Types].xml", TYPES("d.xml", "wordprocessingml.document.main"),
     "<w:d xmlns:w=\"" WORD "\" xmlns:v=\"v\">", "</w:d>"},
    {&ganz_format_pptx, "d.xml", "[Content_Types].xml", TYPES("d.xml", "presentationml.slide"),
     "<a:d xmlns:a=\"" DRAWING "\">", "</a:d>"},
    {&ganz_format_odt, "content.xml", "mimetype", "application/vnd.oasis.opendocument.text",
     "<o:d xmlns:o=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" xmlns:t=\"urn:oasis:names:tc:opendocument:xml"
     "ns:text:1.0\" xmlns:draw=\"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0\">",
     "</o:d>"},
    {&ganz_format_xliff, NULL, NULL, NULL, "<xliff xmlns=\"urn:oasis:names:tc:xliff:document:1.2\"><file>",
     "</file></xliff>"},
    {&ganz_format_xliff, NULL, NULL, NULL, "<xliff xmlns=\"urn:oasis:names:tc:xliff:document:2.0\">", "</xliff>"},
};

/* ---- what is right about a result --------------------------------------------------------------- */

enum { RUN_TEXT = 1, PARAGRAPH = 2 };

/* Counts texts that are not white space, and those outside of <w:t>, directly in a paragraph or run. */
static void count_texts(const ganz_xml_tree *t, size_t *lost)
{
    size_t open[GANZ_XML_DEPTH + 1];
    int depth = 0;
    *lost = 0;
    for (size_t i = 0; i < t->count; i++) {
        const ganz_xml_event *const e = &t->events[i];
        if (e->kind == GANZ_XML_START && !e->empty) open[depth++] = i;
        if (e->kind == GANZ_XML_END) depth--;
        if (e->kind != GANZ_XML_TEXT || depth == 0 || !ganz_xml_has_text(t, i, i + 1)) continue;
        *lost += t->events[open[depth - 1]].name == PARAGRAPH;
    }
}

static ganz_status lost_texts(const char *text, size_t bytes, size_t *lost)
{
    static const ganz_xml_space spaces[] = {{WORD, 1}, {DRAWING, 1}, {NULL, 0}};
    static const ganz_xml_name names[] = {
        {1, "t", RUN_TEXT}, {1, "p", PARAGRAPH}, {1, "r", PARAGRAPH}, {1, "hyperlink", PARAGRAPH}, {0, NULL, 0}};
    const ganz_xml_dialect dialect = {.names = names, .options = {.spaces = spaces}};
    ganz_xml_tree t;
    ganz_error err;
    const ganz_status status = ganz_xml_tree_open(&t, text, bytes, "result", &dialect, &err);
    if (status == GANZ_OK) count_texts(&t, lost);
    ganz_xml_tree_close(&t);
    return status;
}

/* The member of a result, or the result itself; to be freed. */
static char *member_of(const kind *k, const ganz_text *out, size_t *bytes)
{
    ganz_zip *zip;
    char *data;
    if (!k->member) {
        data = malloc(*bytes = out->bytes);
        return memcpy(data, out->text, out->bytes);
    }
    FUZZ_EXPECT(ganz_zip_open(&zip, out->text, out->bytes, NULL, NULL) == GANZ_OK);
    const int member = ganz_zip_find(zip, k->member);
    FUZZ_EXPECT(member >= 0 && ganz_zip_claim(zip, member, bytes, NULL) == GANZ_OK);
    data = malloc(*bytes + 1);
    FUZZ_EXPECT(ganz_zip_read(zip, member, data, NULL) == GANZ_OK);
    ganz_zip_close(&zip);
    return data;
}

static void expect_good(const kind *k, const ganz_text *out, const char *before, size_t before_bytes)
{
    size_t bytes, lost_before = 0, lost_after = 0;
    char *const member = member_of(k, out, &bytes);
    FUZZ_EXPECT(lost_texts(before, before_bytes, &lost_before) == GANZ_OK);
    FUZZ_EXPECT(lost_texts(member, bytes, &lost_after) == GANZ_OK);
    FUZZ_EXPECT(lost_after <= lost_before);
    free(member);
}

/* ---- documents ---------------------------------------------------------------------------------- */

static ganz_status translate(const kind *k, const char *file, size_t bytes, fake_translator *how, uint32_t seed,
                             ganz_text *out)
{
    ganz_document *doc;
    ganz_document_options options;
    ganz_error err = {0};
    ganz_document_defaults(&options);
    if (how == fake_identity) options.target = "fr"; /* where numbers and times are written alike */
    ganz_status status = ganz_document_open_as(&doc, k->format, file, bytes, &options, &err);
    FUZZ_EXPECT(status == GANZ_OK || err.message[0]);
    if (status == GANZ_OK) status = fake_translate_linked(doc, how, seed, &err);
    if (status == GANZ_OK) status = ganz_document_write(doc, out, &err);
    ganz_document_close(&doc);
    return status;
}

static void try_file(const kind *k, const char *file, size_t bytes, const char *member, size_t member_bytes,
                     uint32_t seed)
{
    static fake_translator *const translators[] = {fake_shout, fake_reverse, fake_twice, fake_nothing};
    ganz_text out = {0}, again = {0};
    if (translate(k, file, bytes, fake_identity, 0, &out) == GANZ_OK) {
        if (k->member) FUZZ_EXPECT(out.bytes == bytes && memcmp(out.text, file, bytes) == 0);
        else
            FUZZ_EXPECT(translate(k, out.text, out.bytes, fake_shout, 0, &again) == GANZ_OK &&
                        again.bytes == out.bytes && memcmp(again.text, out.text, out.bytes) == 0);
        out.bytes = 0;
        FUZZ_EXPECT(translate(k, file, bytes, translators[seed % 4], seed / 4 % 3 ? seed : 0, &out) == GANZ_OK);
        expect_good(k, &out, member, member_bytes);
    }
    ganz_text_free(&out);
    ganz_text_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < 2) return 0;
    const kind *const k = &kinds[data[0] % (sizeof kinds / sizeof kinds[0])];
    ganz_text member = {0};
    ganz_text_append(&member, k->before, strlen(k->before));
    ganz_text_append(&member, (const char *)data + 1, bytes - 1);
    ganz_text_append(&member, k->after, strlen(k->after));
    if (k->member) {
        const archive_member members[] = {{k->other, k->other_text, strlen(k->other_text)},
                                          {k->member, member.text, member.bytes}};
        size_t count;
        unsigned char *const archive = archive_make(members, 2, &count);
        try_file(k, (const char *)archive, count, member.text, member.bytes, (uint32_t)bytes * 2654435761u >> 8);
        free(archive);
    } else {
        try_file(k, member.text, member.bytes, member.text, member.bytes, (uint32_t)bytes * 2654435761u >> 8);
    }
    ganz_text_free(&member);
    return 0;
}
