/* Documents: skeletons, sentences and marks, with translators that need no model. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "document/document.h"
#include "documents.h"

/* A small markup of our own: <x> opens, </x> closes, <x/> is empty, <|> breaks, {..} is opaque, &a is an A. */
static void read_marks(ganz_skeleton *s, const char *t, size_t n)
{
    for (size_t i = 0; i < n;) {
        const char *const end = memchr(t + i, t[i] == '{' ? '}' : '>', n - i);
        const size_t length = end ? (size_t)(end - t) + 1 - i : n - i;
        if (t[i] == '<' && length > 2) {
            const ganz_mark_kind kind = t[i + 1] == '/' ? GANZ_MARK_CLOSE : t[i + 1] == '|' ? GANZ_MARK_BREAK : GANZ_MARK_OPEN;
            ganz_skeleton_mark(s, t[i + length - 2] == '/' ? GANZ_MARK_EMPTY : kind, t[i + (kind == GANZ_MARK_CLOSE) + 1], t + i, length);
            i += length;
        } else if (t[i] == '{') {
            ganz_skeleton_opaque(s, t + i + 1, length - 2, t + i, length);
            i += length;
        } else if (t[i] == '&' && i + 1 < n) {
            ganz_skeleton_text(s, "A", 1, t + i, 2);
            i += 2;
        } else {
            ganz_skeleton_text(s, t + i, 1, t + i, 1);
            i++;
        }
    }
}

static ganz_status read_markup(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                               ganz_error *err)
{
    const ganz_block_style style = {.breaks = options->breaks};
    ganz_skeleton_copy(s, bytes, 0);
    ganz_skeleton_begin(s, &style);
    read_marks(s, bytes, count);
    ganz_skeleton_end(s);
    return ganz_skeleton_status(s, err);
}

static const ganz_format markup = {.name = "markup", .suffixes = "", .read = read_markup};

static ganz_text translated(const ganz_format *format, const char *bytes, size_t count, fake_translator *translate)
{
    ganz_document *doc;
    ganz_document_options o;
    ganz_error err;
    ganz_text out = {0};
    ganz_document_defaults(&o);
    assert_int_equal(ganz_document_open_as(&doc, format, bytes, count, &o, &err), GANZ_OK);
    assert_int_equal(fake_translate(doc, translate, &err), GANZ_OK);
    assert_int_equal(ganz_document_write(doc, &out, &err), GANZ_OK);
    ganz_document_close(&doc);
    return out;
}

static void expect(const ganz_format *format, const char *in, fake_translator *translate, const char *wanted)
{
    ganz_text out = translated(format, in, strlen(in), translate);
    if (out.bytes != strlen(wanted) || memcmp(out.text ? out.text : "", wanted, out.bytes) != 0)
        fail_msg("%s became\n%.*s, not\n%s", in, (int)out.bytes, out.text, wanted);
    ganz_text_free(&out);
}

static void any_bytes_come_back(void **state)
{
    (void)state;
    static const char *const parts[] = {"Hello", " ", ". ", "\n", "\r\n", "\t", "<b>", "</b>", "<i>", "</i>", "<e/>", "{x}", "&a", "\xFF",
                                        "\xE2\x82\xAC", "\xE2\x82", "\0", "? ", "\n\n", "A", "\x01", "Dr. ", "<|>", "\xEF\xBF\xBC", "3.5 "};
    for (uint32_t i = 0; i < 20000; i++) {
        char text[256];
        size_t bytes = 0;
        const uint32_t count = ganz_random_below(1, 1, i, 20);
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t at = ganz_random_below(2, i, k, GANZ_COUNT(parts));
            const size_t length = at == 16 ? 1 : strlen(parts[at]);
            memcpy(text + bytes, parts[at], length);
            bytes += length;
        }
        const ganz_format *const formats[] = {&markup, &ganz_format_text, &ganz_format_lines};
        for (size_t f = 0; f < GANZ_COUNT(formats); f++) {
            ganz_text out = translated(formats[f], text, bytes, fake_identity);
            assert_int_equal(out.bytes, bytes);
            if (bytes > 0) assert_memory_equal(out.text, text, bytes);
            ganz_text_free(&out);
        }
    }
}

static void gaps_are_kept(void **state)
{
    (void)state;
    expect(&ganz_format_text, "  hello world\t\r\n\n \n\tyes ", fake_shout, "  HELLO WORLD\t\r\n\n \n\tYES ");
    expect(&markup, "<b>hello</b>", fake_shout, "<b>HELLO</b>");
    expect(&markup, " <b>&a hello</b> ", fake_shout, " <b>A HELLO</b> ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(gaps_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
