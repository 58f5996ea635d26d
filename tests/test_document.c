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

static ganz_text translated_linked(const ganz_format *format, const char *bytes, size_t count, fake_translator *translate, uint32_t seed)
{
    ganz_document *doc;
    ganz_document_options o;
    ganz_error err;
    ganz_text out = {0};
    ganz_document_defaults(&o);
    assert_int_equal(ganz_document_open_as(&doc, format, bytes, count, &o, &err), GANZ_OK);
    assert_int_equal(fake_translate_linked(doc, translate, seed, &err), GANZ_OK);
    assert_int_equal(ganz_document_write(doc, &out, &err), GANZ_OK);
    ganz_document_close(&doc);
    return out;
}

static ganz_text translated(const ganz_format *format, const char *bytes, size_t count, fake_translator *translate)
{
    return translated_linked(format, bytes, count, translate, 0);
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

/* ---- marks and guards with translators that do what they want ----------------------------------- */

static size_t occurrences(const ganz_text *text, const char *what)
{
    size_t count = 0;
    const size_t bytes = strlen(what);
    for (size_t at = 0; at + bytes <= text->bytes; at++) count += memcmp(text->text + at, what, bytes) == 0;
    return count;
}

static void fake_noise(const char *text, size_t bytes, ganz_text *out)
{
    for (size_t i = 0; i < bytes; i++) fake_add(out, i % 7 == 3 ? " %s {name} X1 X2 https://a.example/b " : text + i, i % 7 == 3 ? 37 : (unsigned char)text[i] < 0x80);
}
static void fake_first_word(const char *text, size_t bytes, ganz_text *out)
{
    const char *const space = memchr(text, ' ', bytes);
    fake_add(out, text, space ? (size_t)(space - text) : bytes);
    fake_add(out, "!", 1);
}
static fake_translator *const fakes[] = {fake_nothing, fake_twice, fake_shout, fake_reverse, fake_noise, fake_first_word};

/* A text with marks of all kinds, numbered; partner[n] is the opening mark of closing mark n, else -1; closed[n]: it is one
 * that is closed. */
typedef struct marked {
    char text[1024];
    int marks, partner[64];
    bool closed[64];
} marked;

static void make_marked(marked *m, uint32_t seed)
{
    static const char *const words[] = {"the", " ", "house", ". ", " is", "red", ", ", "A", "\n", "! ", "42.5 ", "%s", "http://a.example/b "};
    int open[64], depth = 0;
    *m = (marked){0};
    const uint32_t count = 1 + ganz_random_below(3, 1, seed, 30);
    for (uint32_t k = 0; k < count; k++) {
        char *const end = m->text + strlen(m->text);
        const uint32_t what = ganz_random_below(4, seed, k, 8);
        m->partner[m->marks] = -1;
        if (what == 0) {
            sprintf(end, "<%c%d>", 'a' + m->marks % 3, m->marks);
            open[depth++] = m->marks++;
        } else if (what == 1 && depth > 0) {
            m->partner[m->marks] = open[--depth];
            m->closed[open[depth]] = true;
            sprintf(end, "</%c%d>", 'a' + open[depth] % 3, m->marks++);
        } else if (what == 2) {
            sprintf(end, "<e%d/>", m->marks++);
        } else if (what == 3) {
            sprintf(end, "{o%d}", m->marks++);
        } else {
            strcpy(end, words[ganz_random_below(5, seed, k, GANZ_COUNT(words))]);
        }
    }
}

static void expect_once(const ganz_text *out, const marked *m)
{
    for (const char *at = strpbrk(m->text, "<{"); at; at = strpbrk(at + 1, "<{")) {
        char mark[32] = "";
        strncat(mark, at, strcspn(at, ">}") + 1);
        if (occurrences(out, mark) != 1) fail_msg("%s is not once in\n%.*s\nof\n%s", mark, (int)out->bytes, out->text, m->text);
    }
}

static void expect_nested(const ganz_text *out, const marked *m)
{
    int open[64], depth = 0;
    for (size_t at = 0; at + 2 < out->bytes; at++) {
        if (out->text[at] != '<' || out->text[at + 1] == 'e') continue;
        const bool closing = out->text[at + 1] == '/';
        const int number = atoi(out->text + at + 2 + closing);
        if (!closing && m->closed[number]) open[depth++] = number;
        if (!closing || (depth > 0 && open[depth - 1] == m->partner[number] && depth-- > 0)) continue;
        fail_msg("mark %d is not nested in\n%.*s\nof\n%s", number, (int)out->bytes, out->text, m->text);
    }
}

static void marks_survive(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        marked m;
        make_marked(&m, i);
        for (size_t f = 0; f < GANZ_COUNT(fakes); f++) {
            ganz_text out = translated_linked(&markup, m.text, strlen(m.text), fakes[f], i % 2 * (i + 1));
            fake_add(&out, "", 0);
            expect_once(&out, &m);
            expect_nested(&out, &m);
            ganz_text_free(&out);
        }
    }
}

/* ---- guards ------------------------------------------------------------------------------------- */

static const char *const guarded[] = {
    "https://www.example.org/a?b=1&c=%20d", "www.example.com", "jane.doe@example.org", "C:\\Users\\Public\\a.txt", "/usr/bin/env",
    "%s", "%1$d", "%-5.2f", "{name}", "{{team}}", "${HOME}", "{0}", "`x + 1`", "some_name", "--verbose", "\xF0\x9F\x8D\x95",
    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB", "\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82", "\xE6\x9D\xB1\xE4\xBA\xAC", "2.0.1", "@jane", "printf()"};

/* Each guard comes out as often as it went in, whatever the translator does; and nothing stands in for it. */
static void guards_survive(void **state)
{
    (void)state;
    static const char *const words[] = {"Please", "send", "the", "file", "to", "now", "and", "wait", "for", "it,"};
    for (uint32_t i = 0; i < 20000; i++) {
        char text[1024] = "Well";
        const uint32_t count = 1 + ganz_random_below(6, 1, i, 12);
        size_t expected[GANZ_COUNT(guarded)] = {0};
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t what = ganz_random_below(7, i, k, 3 * GANZ_COUNT(guarded));
            if (what < GANZ_COUNT(guarded)) expected[what]++;
            strcat(strcat(text, " "), what < GANZ_COUNT(guarded) ? guarded[what] : words[what % GANZ_COUNT(words)]);
        }
        for (size_t f = 0; f < GANZ_COUNT(fakes); f++) {
            ganz_text out = translated_linked(&ganz_format_text, text, strlen(text), fakes[f], i % 2 * (i + 1));
            for (size_t g = 0; g < GANZ_COUNT(guarded); g++)
                if (expected[g] > 0 && occurrences(&out, guarded[g]) != expected[g])
                    fail_msg("%s is not %zu times in\n%.*s\nof\n%s (%zu)", guarded[g], expected[g], (int)out.bytes, out.text, text, f);
            ganz_text_free(&out);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(gaps_are_kept),
        cmocka_unit_test(marks_survive),
        cmocka_unit_test(guards_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
