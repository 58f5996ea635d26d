/* Files of messages: PO, JSON, ARB and .properties, read, filled in and written again. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "hostile.h"
#include "reversed.h"
#include "skeletons.h"

typedef ganz_status translation(ganz_document *doc, ganz_error *err);
static ganz_status identity(ganz_document *doc, ganz_error *err) { return fake_translate(doc, fake_identity, err); }
static ganz_status shout(ganz_document *doc, ganz_error *err) { return fake_translate(doc, fake_shout, err); }

static ganz_text translated(const ganz_format *format, const char *text, size_t bytes, translation *translate)
{
    ganz_document *doc;
    ganz_document_options o;
    ganz_error err = {0};
    ganz_text out = {0};
    ganz_document_defaults(&o);
    if (ganz_document_open_as(&doc, format, text, bytes, &o, &err) != GANZ_OK) fail_msg("%s", err.message);
    assert_int_equal(GANZ_OK, translate(doc, &err));
    assert_int_equal(GANZ_OK, ganz_document_write(doc, &out, &err));
    ganz_document_close(&doc);
    return out;
}

static void expect(const ganz_format *format, const char *in, translation *translate, const char *wanted)
{
    ganz_text out = translated(format, in, strlen(in), translate);
    if (out.bytes != strlen(wanted) || memcmp(out.text, wanted, out.bytes) != 0)
        fail_msg("%s\nbecame\n%.*s\nnot\n%s", in, (int)out.bytes, out.text, wanted);
    ganz_text_free(&out);
}

static void expect_refused(const ganz_format *format, const char *in, const char *says)
{
    ganz_document *doc;
    ganz_document_options o;
    ganz_error err = {0};
    ganz_document_defaults(&o);
    assert_int_equal(GANZ_EFORMAT, ganz_document_open_as(&doc, format, in, strlen(in), &o, &err));
    if (strncmp(err.message, says, strlen(says)) != 0) fail_msg("%s: %s", in, err.message);
}

/* ---- PO ----------------------------------------------------------------------------------------- */

static const ganz_format *const po = &ganz_format_po;

static void empty_messages_are_filled(void **state)
{
    (void)state;
    expect(po, "msgid \"a cat\"\nmsgstr \"\"\n", shout, "#, fuzzy\nmsgid \"a cat\"\nmsgstr \"A CAT\"\n");
    expect(po, "# c\n#: a.c:1\nmsgctxt \"x\"\nmsgid \"\"\n\"a \"\n\"cat\"\nmsgstr \"\"", shout,
           "# c\n#: a.c:1\n#, fuzzy\nmsgctxt \"x\"\nmsgid \"\"\n\"a \"\n\"cat\"\nmsgstr \"A CAT\"");
    expect(po, "msgid \"a\\tb \\\"c\\\" \\\\ d\\n\"\r\nmsgstr \"\"\r\n", shout,
           "#, fuzzy\r\nmsgid \"a\\tb \\\"c\\\" \\\\ d\\n\"\r\nmsgstr \"A\\tB \\\"C\\\" \\\\ D\\n\"\r\n");
    /* Everything else is as it was. */
    static const char kept[] =
        "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\n#, fuzzy\nmsgid \"a\"\nmsgstr \"\"\n\n"
        "msgid \"b\"\nmsgstr \"B\"\n\n#, fuzzy\n#~ msgid \"c\"\n#~ msgstr \"\"\n";
    expect(po, kept, shout, kept);
    /* ... and a flag of an obsolete entry is not that of the next. */
    expect(po, "#, fuzzy\n#~ msgid \"c\"\n#~ msgstr \"x\"\n\nmsgid \"d\"\nmsgstr \"\"\n", shout,
           "#, fuzzy\n#~ msgid \"c\"\n#~ msgstr \"x\"\n\n#, fuzzy\nmsgid \"d\"\nmsgstr \"D\"\n");
}

static void plurals_and_arguments(void **state)
{
    (void)state;
    expect(po, "#, c-format\nmsgid \"%d file\"\nmsgid_plural \"%d files, 100%%\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n",
           shout,
           "#, fuzzy, c-format\nmsgid \"%d file\"\nmsgid_plural \"%d files, 100%%\"\nmsgstr[0] \"%d FILE\"\nmsgstr[1] "
           "\"%d FILES, 100%%\"\n");
    expect(po, "msgid \"file\"\nmsgid_plural \"files\"\nmsgstr[0] \"\"\n", shout,
           "#, fuzzy\nmsgid \"file\"\nmsgid_plural \"files\"\nmsgstr[0] \"FILES\"\n");
    /* Arguments that change places get numbers; Python has none, and such a message stays empty. */
    expect(po, "#, c-format\nmsgid \"Open %s with %-5ld now\"\nmsgstr \"\"\n", fake_translate_reversed,
           "#, fuzzy, c-format\nmsgid \"Open %s with %-5ld now\"\nmsgstr \"Now %2$-5ld with %1$s Open\"\n");
    expect(po, "#, python-format\nmsgid \"Open %s with %d now\"\nmsgstr \"\"\n", fake_translate_reversed,
           "#, python-format\nmsgid \"Open %s with %d now\"\nmsgstr \"\"\n");
    expect(po, "#, python-format\nmsgid \"Open %(a)s with %(b)d now\"\nmsgstr \"\"\n", fake_translate_reversed,
           "#, fuzzy, python-format\nmsgid \"Open %(a)s with %(b)d now\"\nmsgstr \"Now %(b)d with %(a)s Open\"\n");
    expect(po, "#, c-format\nmsgid \"%*d of %s\"\nmsgstr \"\"\n", shout,
           "#, c-format\nmsgid \"%*d of %s\"\nmsgstr \"\"\n");
}

/* As msgcat writes them; checked with msgcat of gettext 0.21. */
static void strings_are_wrapped(void **state)
{
    (void)state;
#define LONG "one two three four five six seven eight nine ten eleven twelve thirteen"
    expect(po, "msgid \"" LONG "\"\nmsgstr \"\"\n", identity,
           "#, fuzzy\nmsgid \"" LONG "\"\nmsgstr \"\"\n\"" LONG "\"\n");
    expect(po, "msgid \"" LONG " and more\"\nmsgstr \"\"\n", identity,
           "#, fuzzy\nmsgid \"" LONG " and more\"\nmsgstr \"\"\n\"" LONG " and \"\n\"more\"\n");
    expect(po, "#, no-wrap\nmsgid \"" LONG " and more\"\nmsgstr \"\"\n", identity,
           "#, fuzzy, no-wrap\nmsgid \"" LONG " and more\"\nmsgstr \"" LONG " and more\"\n");
    expect(po, "msgid \"a.\\nB.\\n\"\nmsgstr \"\"\n", identity,
           "#, fuzzy\nmsgid \"a.\\nB.\\n\"\nmsgstr \"\"\n\"a.\\n\"\n\"B.\\n\"\n");
}

static void wrong_po_is_refused(void **state)
{
    (void)state;
    expect_refused(po, "msgid \"a\nmsgstr \"\"\n", "line 1: a string has no end");
    expect_refused(po, "msgid \"a\" x\nmsgstr \"\"\n", "line 1: something follows");
    expect_refused(po, "\n\"a\"\n", "line 2: a string without a keyword");
    expect_refused(po, "hello\n", "line 1: no line of a PO file");
    expect_refused(po, "msgid \"a\"\nmsgid \"b\"\nmsgstr \"\"\n", "line 2: the second of its kind");
    expect_refused(po, "msgid \"a\"\n", "line 1: the file ends inside an entry");
    expect_refused(po, "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=ISO-8859-1\\n\"\n",
                   "only UTF-8 is read");
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static void values_of_json(void **state)
{
    (void)state;
    static const ganz_format *const json = &ganz_format_json;
    expect(json, "{ \"a\" : \"one two\",\t\"n\":[1.5e3,true,null , \"x y\"]}\n", shout,
           "{ \"a\" : \"ONE TWO\",\t\"n\":[1.5e3,true,null , \"X Y\"]}\n");
    expect(json, "\"a \\\"b\\\" \\\\ \\/ c\\nd\"", shout, "\"A \\\"B\\\" \\\\ / C\\nD\"");
    /* A file in ASCII stays in ASCII. */
    expect(json, "[\"der B\\u00e4r\", \"\\ud83d\\ude00 x\"]", shout, "[\"DER B\\u00e4R\", \"\\ud83d\\ude00 X\"]");
    expect(json, "[\"der B\xC3\xA4r\"]", shout, "[\"DER B\xC3\xA4R\"]");
    expect(json, "[\"You have {n, plural, =0{no files} other{# files, {x}}}\"]", shout,
           "[\"YOU HAVE {n, plural, =0{NO FILES} other{# FILES, {x}}}\"]");
    expect(&ganz_format_arb, "{\"@@locale\":\"en us\",\"a\":\"b c\",\"@a\":{\"d\":\"e f\"},\"g\":\"h i\"}", shout,
           "{\"@@locale\":\"en us\",\"a\":\"B C\",\"@a\":{\"d\":\"e f\"},\"g\":\"H I\"}");
}

static void expect_skeleton(const ganz_format *format, const char *in, const char *wanted)
{
    const ganz_format_options options = {.source_language = "en", .target_language = "de"};
    ganz_text shown = {0};
    ganz_error err = {0};
    assert_int_equal(GANZ_OK, show_skeleton(&shown, format, in, strlen(in), &options, &err));
    if (shown.bytes != strlen(wanted) || memcmp(shown.text, wanted, shown.bytes) != 0)
        fail_msg("%s\nis\n%.*s\nnot\n%s", in, (int)shown.bytes, shown.text, wanted);
    ganz_text_free(&shown);
}

static void tags_have_attributes(void **state)
{
    (void)state;
    expect_skeleton(&ganz_format_json, "[\"See <a href=\\\"/x\\\">this</a> now\"]",
                    "[\"{See [+<a href=\\\"/x\\\">]this[-</a>] now}\"]");
    expect_skeleton(&ganz_format_json, "[\"<code class=\\\"c\\\">f</code> ends\"]",
                    "[\"{[=f|<code class=\\\"c\\\">f</code>] ends}\"]");
    expect_skeleton(&ganz_format_properties, "a=See <a href\\=\"/x\">this</a>",
                    "a={See [+<a href\\=\"/x\">]this[-</a>]}");
    expect(po, "#, c-format\nmsgid \"See <a href=\\\"%s\\\">this</a>\"\nmsgstr \"\"\n", shout,
           "#, fuzzy, c-format\nmsgid \"See <a href=\\\"%s\\\">this</a>\"\nmsgstr \"SEE <a "
           "href=\\\"%s\\\">THIS</a>\"\n");
    expect_skeleton(&ganz_format_json, "[\"See \\u003cb\\u003ethis\\u003c/b>, a < b\"]",
                    "[\"{See [+\\u003cb\\u003e]this[-\\u003c/b>], a < b}\"]");
    /* Paragraphs and items are texts of their own, though no space stands between them. */
    expect_skeleton(&ganz_format_json, "[\"<p>a cat</p><ul><li class='c'>x <b>y</b></li></ul>\"]",
                    "[\"{\n\na cat\n\n\n\n\n\nx [+<b>]y[-</b>]\n\n\n\n}\"]");
    expect(&ganz_format_json, "\"<p>a cat</p><ul><li class='c'>x <b>y</b></li></ul>\"", shout,
           "\"<p>A CAT</p><ul><li class='c'>X <b>Y</b></li></ul>\"");
    /* Lines of a PO file end anywhere. */
    expect(po, "msgid \"\"\n\"See <a \"\n\"href='x'>this</a>\"\nmsgstr \"\"\n", shout,
           "#, fuzzy\nmsgid \"\"\n\"See <a \"\n\"href='x'>this</a>\"\nmsgstr \"SEE <a href='x'>THIS</a>\"\n");
}

static void fake_hashless(const char *text, size_t bytes, ganz_text *out)
{
    for (size_t i = 0; i < bytes; i++) fake_add(out, text + i, text[i] != '#');
    fake_add(out, "!", 1);
}
static ganz_status hashless(ganz_document *doc, ganz_error *err) { return fake_translate(doc, fake_hashless, err); }

/* "#" is the number in texts of plurals, and a sign everywhere else. */
static void numbers_of_plurals(void **state)
{
    (void)state;
    static const ganz_format *const json = &ganz_format_json;
    expect_skeleton(json, "[\"a # b {n, plural, one {# file} =1{a #} few {# c} other{d # {x} e}} # f\"]",
                    "[\"{a # b }{n, plural, one {{[=1|#] file}} =1{{a [=1|#]}} few {{[=53|#] c}} other{{d [=53|#] {x} "
                    "e}}}{ # f}\"]");
    expect_skeleton(json, "[\"{n,selectordinal,one{#st}two{#nd}few{#rd}other{#th}}\"]",
                    "[\"{n,selectordinal,one{{[=21|#]st}}two{{[=22|#]nd}}few{{[=23|#]rd}}other{{[=26|#]th}}}\"]");
    expect_skeleton(json, "[\"{n, plural, other {a '#' b {x, number, #.##} {s, select, other {# c}} # d}}\"]",
                    "[\"{n, plural, other {{a '#' b {x, number, #.##} }{s, select, other {{# c}}}{ [=53|#] d}}}\"]");
    expect_skeleton(&ganz_format_properties, "a={n, plural, other {b \\# c}}\n", "a={n, plural, other {{b # c}}}\n");
    expect(json, "[\"{n, plural, one {see # file} other {# files}}\"]", hashless,
           "[\"{n, plural, one {see # file!} other {# files!}}\"]");
}

static void wrong_json_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "line 1: the file ends"},
        {"{\n\"a\": \"b\n\"}", "line 2: a string has no end"},
        {"{\"a\" \"b\"}", "line 1: a colon is missing"},
        {"{a: 1}", "line 1: a key in quotes"},
        {"[1, ]", "line 1: a value is missing"},
        {"[1}", "line 1: brackets do not match"},
        {"[1] 2", "line 1: something follows"},
        {"[\"\\x\"]", "line 1: a backslash"},
        {"[\"\\u12\"]", "line 1: a backslash"},
        {"[\"a", "line 1: a string has no end"},
    };
    for (size_t i = 0; i < GANZ_COUNT(bad); i++) expect_refused(&ganz_format_json, bad[i].text, bad[i].says);
    char deep[2000];
    memset(deep, '[', 600);
    memset(deep + 600, ']', 600);
    deep[1200] = '\0';
    expect_refused(&ganz_format_json, deep, "line 1: values are nested over 512 deep");
}

/* ---- .properties -------------------------------------------------------------------------------- */

static void values_of_properties(void **state)
{
    (void)state;
    static const ganz_format *const properties = &ganz_format_properties;
    expect(properties, "# a b\n! c d\nkey = one two\nkey\\ two:x y\nkey3 three four\nempty=\n", shout,
           "# a b\n! c d\nkey = ONE TWO\nkey\\ two:X Y\nkey3 THREE FOUR\nempty=\n");
    expect(properties, "a=one \\\n   two\\\r\n\tthree\nb=x\n", shout, "a=ONE TWOTHREE\nb=X\n");
    expect(properties, "a=der B\\u00e4r \\: x\\ty\n", shout, "a=DER B\\u00e4R : X\\tY\n");
    expect(properties, "a=der B\xC3\xA4r\n", shout, "a=DER B\xC3\xA4R\n");
    expect(properties, "a=der B\xE4r\n", shout, "a=DER B\\u00e4R\n"); /* ISO 8859-1 */
    expect(properties, "a=it''s {0} o''clock\nb=it's\n", shout, "a=IT''S {0} O''CLOCK\nb=IT'S\n");
}

/* ---- all of them -------------------------------------------------------------------------------- */

static void long_files_are_quick(void **state)
{
    (void)state;
    expect_quick(po, "", "#, c-format\nmsgid \"%s a\\n\"\nmsgstr \"\"\n", "");
    expect_quick(po, "msgid \"\"\n", "\"a b\\n\"\n", "msgstr \"\"\n");
    expect_quick(&ganz_format_json, "[\"", "{n, plural, ", "\"]");
    expect_quick(&ganz_format_json, "[\"", "\\u00e4\\n", "\"]");
    expect_quick(&ganz_format_properties, "a=", "\\\n  ", "b\n");
    expect_quick(&ganz_format_properties, "a=", "''{0}", "\n");
}

static void memory_runs_out(void **state)
{
    (void)state;
    static const struct {
        const ganz_format *format;
        const char *text;
    } cases[] = {
        {&ganz_format_po,
         "#, c-format\nmsgid \"%s and %d\\n\"\nmsgid_plural \"%s or %d\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n"},
        {&ganz_format_json, "{\"a\": [\"one \\u00e4\", \"{n, plural, other{# files}}\"]}"},
        {&ganz_format_properties, "a=one \\\n  two\n"},
        {&ganz_format_srt,
         "1\n00:00:01,000 --> 00:00:02,000\nOne <i>two</i>\nthree,\n\n2\n00:00:02,000 --> 00:00:03,000\nfour.\n"},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        ganz_status status = GANZ_ENOMEM;
        for (long n = 1; status == GANZ_ENOMEM; n++) {
            ganz_error err = {0};
            ganz_text out = {0};
            ganz_alloc_fail_at(n);
            status = fake_document(&out, cases[i].format, cases[i].text, strlen(cases[i].text), true, fake_shout, &err);
            ganz_alloc_fail_at(0);
            ganz_text_free(&out);
            assert_true(n < 5000);
        }
        assert_int_equal(GANZ_OK, status);
    }
}

static void formats_are_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *text, *format;
    } cases[] = {
        {"# c\nmsgid \"\"\nmsgstr \"\"\n\"a: b\\n\"\n", "po"},
        {" [ {\n \"a\" : 1}]", "json"},
        {"{a} is a brace", "text"},
        {"[1] is a note", "text"},
        {"<xliff version=\"1.2\" xmlns=\"urn:oasis:names:tc:xliff:document:1.2\">", "xliff"},
        {"1\n00:00:01,000 --> 00:00:02,000\nHi\n", "srt"},
        {"WEBVTT\n\n", "vtt"},
        {"WEBVTTX", "text"},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++)
        assert_string_equal(cases[i].format, ganz_document_recognise(NULL, cases[i].text, strlen(cases[i].text)));
    assert_string_equal("arb", ganz_document_recognise("app_en.arb", "{}", 2));
    assert_string_equal("properties", ganz_document_recognise("a/b.properties", "", 0));
    assert_string_equal("po", ganz_document_recognise("a/de.PO", "", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_messages_are_filled),
        cmocka_unit_test(plurals_and_arguments),
        cmocka_unit_test(strings_are_wrapped),
        cmocka_unit_test(wrong_po_is_refused),
        cmocka_unit_test(values_of_json),
        cmocka_unit_test(tags_have_attributes),
        cmocka_unit_test(numbers_of_plurals),
        cmocka_unit_test(wrong_json_is_refused),
        cmocka_unit_test(values_of_properties),
        cmocka_unit_test(long_files_are_quick),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(formats_are_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
