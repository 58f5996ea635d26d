/* Zip archives and XML: what is read, what is refused, and what is written again. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "archives.h"
#include "document/xml_tree.h"
#include "document/zip.h"

/* ---- archives made by other programs ------------------------------------------------------------ */

static unsigned char *file_of(const char *name, size_t *bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/data/archives/%s", GANZ_TESTS_DIR, name);
    FILE *const file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    unsigned char *const data = malloc(65536);
    *bytes = fread(data, 1, 65536, file);
    fclose(file);
    return data;
}

static char *read_member(ganz_zip *zip, const char *name, size_t *bytes)
{
    ganz_error err;
    const int member = ganz_zip_find(zip, name);
    assert_true(member >= 0);
    assert_int_equal(GANZ_OK, ganz_zip_claim(zip, member, bytes, &err));
    char *const data = malloc(*bytes + 1);
    if (ganz_zip_read(zip, member, data, &err) != GANZ_OK) fail_msg("%s", err.message);
    return data;
}

static void expect_member(ganz_zip *zip, const char *name, const char *text)
{
    size_t bytes;
    char *const data = read_member(zip, name, &bytes);
    assert_string_equal(text, data);
    assert_int_equal(strlen(text), bytes);
    free(data);
}

/* Each holds "mimetype", stored, and "text/a.txt", packed, with these texts. */
static const char *const archives[] = {"infozip.zip", "python.zip", "descriptor.zip", "zip64_header.zip",
                                       "comment.zip"};
static const char mimetype[] = "application/epub+zip",
                  story[] = "Once upon a time, once upon a time, once upon a time.\n";

static void archives_of_others_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < GANZ_COUNT(archives); i++) {
        size_t bytes;
        unsigned char *const data = file_of(archives[i], &bytes);
        ganz_zip *zip;
        ganz_error err;
        if (ganz_zip_open(&zip, data, bytes, NULL, &err) != GANZ_OK) fail_msg("%s: %s", archives[i], err.message);
        assert_int_equal(2, ganz_zip_count(zip));
        assert_string_equal("mimetype", ganz_zip_name(zip, 0));
        assert_true(ganz_zip_stored(zip, 0) && !ganz_zip_stored(zip, 1));
        assert_int_equal(-1, ganz_zip_find(zip, "text/b.txt"));
        expect_member(zip, "mimetype", mimetype);
        expect_member(zip, "text/a.txt", story);
        ganz_zip_close(&zip);
        free(data);
    }
}

/* All bytes before the replaced record stay, and what follows it in the directory too. */
static void one_member_is_replaced(void **state)
{
    (void)state;
    for (size_t i = 0; i < GANZ_COUNT(archives); i++) {
        size_t bytes, written_bytes;
        unsigned char *const data = file_of(archives[i], &bytes), *written;
        ganz_zip *zip, *again;
        assert_int_equal(GANZ_OK, ganz_zip_open(&zip, data, bytes, NULL, NULL));
        assert_int_equal(GANZ_OK, ganz_zip_write(zip, &written, &written_bytes, NULL));
        assert_int_equal(bytes, written_bytes);
        assert_memory_equal(data, written, bytes);
        free(written);
        assert_int_equal(GANZ_OK, ganz_zip_replace(zip, ganz_zip_find(zip, "text/a.txt"), "Es war einmal.", 14, NULL));
        assert_int_equal(GANZ_OK, ganz_zip_write(zip, &written, &written_bytes, NULL));
        assert_memory_equal(data, written, 30 + 8 + sizeof mimetype - 1);
        assert_int_equal(GANZ_OK, ganz_zip_open(&again, written, written_bytes, NULL, NULL));
        expect_member(again, "mimetype", mimetype);
        expect_member(again, "text/a.txt", "Es war einmal.");
        assert_true(!ganz_zip_stored(again, 1));
        ganz_zip_close(&zip);
        ganz_zip_close(&again);
        free(written);
        free(data);
    }
}

/* ---- archives that are wrong -------------------------------------------------------------------- */

typedef struct change {
    const char *what;
    size_t at; /* byte to set, from the beginning of the central directory if `directory` */
    bool directory;
    unsigned char value;
    const char *says;
} change;

static void expect_refused(const unsigned char *data, size_t bytes, const ganz_zip_limits *limits, const char *what,
                           const char *says)
{
    ganz_zip *zip;
    ganz_error err = {0};
    const ganz_status status = ganz_zip_open(&zip, data, bytes, limits, &err);
    if (status == GANZ_OK) fail_msg("%s was not refused", what);
    if (!strstr(err.message, says)) fail_msg("%s: %s", what, err.message);
    assert_null(zip);
}

static void wrong_archives_are_refused(void **state)
{
    (void)state;
    const archive_member members[] = {{"one.txt", "first", 5}, {"two.txt", "second", 6}};
    const size_t directory = 2 * (30 + 7) + 11;
    static const change changes[] = {
        {"an encrypted member", 8, true, 1, "one.txt is encrypted"},
        {"another method", 10, true, 12, "packed by method 12"},
        {"two sizes of a stored member", 20, true, 4, "has two sizes"},
        {"a name with a zero", 46, true, 0, "no proper name"},
        {"an absolute name", 46, true, '/', "no proper name"},
        {"a record elsewhere", 42, true, 1, "not where the zip directory says"},
        {"another name in the header", 30, false, 'x', "disagree"},
        {"another checksum in the header", 14, false, 0x77, "disagree"},
        {"an encrypted header", 6, false, 1, "disagree"},
        {"a damaged directory", 0, true, 'x', "damaged at byte"},
        {"a part of several", 34, true, 1, "another part"},
    };
    for (size_t i = 0; i < GANZ_COUNT(changes); i++) {
        size_t bytes;
        unsigned char *const data = archive_make(members, 2, &bytes);
        data[changes[i].at + (changes[i].directory ? directory : 0)] = changes[i].value;
        expect_refused(data, bytes, NULL, changes[i].what, changes[i].says);
        free(data);
    }
}

static void archives_that_deceive_are_refused(void **state)
{
    (void)state;
    size_t bytes;
    const archive_member twins[] = {{"one.txt", "first", 5}, {"one.txt", "second", 6}},
                         pair[] = {{"one.txt", "first", 5}, {"two.txt", "2", 1}};
    unsigned char *data = archive_make(twins, 2, &bytes);
    expect_refused(data, bytes, NULL, "two of one name", "two members are called one.txt");
    free(data);
    const archive_member dots[] = {{"a/../../b", "x", 1}};
    data = archive_make(dots, 1, &bytes);
    expect_refused(data, bytes, NULL, "a way out", "no proper name");
    free(data);
    /* The first record is said to reach over the second. */
    data = archive_make(pair, 2, &bytes);
    const size_t directory = 2 * 37 + 6;
    data[18] = data[22] = data[directory + 20] = data[directory + 24] = 6;
    expect_refused(data, bytes, NULL, "overlapping records", "overlap");
    free(data);
    data = archive_make(pair, 2, &bytes);
    for (size_t n = 0; n < bytes; n++) expect_refused(data, n, NULL, "a part of an archive", "zip");
    const ganz_zip_limits one = {1 << 20, 1, 100};
    expect_refused(data, bytes, &one, "too many members", "2 members, more than the 1 allowed");
    free(data);
}

/* A member of 100 MB of zeros. Its checksum is wrong, but nothing may come so far as to look at it. */
static unsigned char *bomb(size_t *bytes)
{
    const uint32_t size = 100000000;
    unsigned char *const zeros = calloc(size, 1), *const packed = malloc(1 << 20);
    z_stream s = {.next_in = zeros, .avail_in = size, .next_out = packed, .avail_out = 1 << 20};
    assert_int_equal(Z_OK, deflateInit2(&s, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY));
    assert_int_equal(Z_STREAM_END, deflate(&s, Z_FINISH));
    const archive_member member = {"zeros", (const char *)packed, s.total_out};
    unsigned char *const data = archive_make(&member, 1, bytes);
    const size_t directory = 35 + s.total_out;
    data[8] = data[directory + 10] = 8;
    archive_put(data + 22, size, 4);
    archive_put(data + directory + 24, size, 4);
    deflateEnd(&s);
    free(packed);
    free(zeros);
    return data;
}

/* Refused by its size before memory is asked for, and by the ratio where the size would do. */
static void bombs_are_refused(void **state)
{
    (void)state;
    size_t bytes, size;
    unsigned char *const data = bomb(&bytes);
    const ganz_zip_limits wide = {(size_t)1 << 30, 10, 256};
    ganz_zip *zip;
    ganz_error err;
    assert_true(bytes < 100000);
    assert_int_equal(GANZ_OK, ganz_zip_open(&zip, data, bytes, NULL, &err));
    assert_int_equal(GANZ_ELIMIT, ganz_zip_claim(zip, 0, &size, &err));
    assert_non_null(strstr(err.message, "over 64 MiB"));
    ganz_zip_close(&zip);
    assert_int_equal(GANZ_OK, ganz_zip_open(&zip, data, bytes, &wide, &err));
    assert_int_equal(GANZ_ELIMIT, ganz_zip_claim(zip, 0, &size, &err));
    assert_non_null(strstr(err.message, "over 256 times"));
    ganz_zip_close(&zip);
    free(data);
}

static void damaged_members_are_seen(void **state)
{
    (void)state;
    size_t bytes, size;
    unsigned char *const data = file_of("python.zip", &bytes);
    char out[256];
    int damaged = 0;
    const size_t begin = 30 + 8 + sizeof mimetype - 1 + 30 + 10;
    for (size_t at = begin; at < begin + 20; at++) {
        ganz_zip *zip;
        ganz_error err = {0};
        data[at] ^= 0x10;
        assert_int_equal(GANZ_OK, ganz_zip_open(&zip, data, bytes, NULL, &err));
        assert_int_equal(GANZ_OK, ganz_zip_claim(zip, 1, &size, &err));
        damaged += ganz_zip_read(zip, 1, out, &err) == GANZ_EFORMAT && strstr(err.message, "text/a.txt is damaged");
        ganz_zip_close(&zip);
        data[at] ^= 0x10;
    }
    assert_int_equal(20, damaged);
    free(data);
}

/* ---- XML ---------------------------------------------------------------------------------------- */

static const ganz_xml_name none[] = {{0, NULL, 0}};
static const ganz_xml_dialect plain = {.names = none};

/* Events in one line: +name(space) -name(space) =text #cdata ! for others. */
static void show_events(const char *text, bool doctype, char *out, size_t room)
{
    static const ganz_xml_space spaces[] = {{"urn:a", 1}, {"urn:b", 2}, {NULL, 0}};
    static const char signs[] = "+-=#!.";
    const ganz_xml_options options = {.spaces = spaces, .doctype = doctype};
    ganz_xml x;
    ganz_error err;
    size_t n = 0;
    out[0] = '\0';
    if (ganz_xml_open(&x, text, strlen(text), "a.xml", &options, &err) != GANZ_OK) fail_msg("%s", err.message);
    do {
        if (ganz_xml_next(&x, &err) != GANZ_OK) fail_msg("%s: %s", text, err.message);
        const bool tag = x.kind == GANZ_XML_START || x.kind == GANZ_XML_END;
        n += (size_t)snprintf(out + n, room - n, "%c", signs[x.kind]);
        if (tag)
            n += (size_t)snprintf(out + n, room - n, "%.*s(%d)%s", (int)x.local.bytes, x.local.at, x.space,
                                  x.empty ? "/" : "");
        if (x.kind == GANZ_XML_TEXT)
            n += (size_t)snprintf(out + n, room - n, "%.*s", (int)(x.end - x.begin), text + x.begin);
    } while (x.kind != GANZ_XML_STOP);
}

static void events_of_xml(void **state)
{
    (void)state;
    static const struct {
        const char *text, *events;
    } cases[] = {
        {"<a/>", "+a(0)/."},
        {"\xEF\xBB\xBF<?xml version='1.0'?>\n<a>x</a>\n", "!!!+a(0)=x-a(0)!."},
        {"<b:r xmlns:b='urn:b'><p xmlns='urn:a'><q/></p><q/></b:r>", "+r(2)+p(1)+q(1)/-p(1)+q(0)/-r(2)."},
        {"<a xmlns='urn:a'><b xmlns=''/><c xmlns='urn:b' x=\"a>b\"/></a>", "+a(1)+b(0)/+c(2)/-a(1)."},
        {"<a><![CDATA[<&]]]]><!-- - -- --><?x?></a >", "+a(0)#!!-a(0)."},
        {"<a>1 &lt; 2 &amp;&#x41;&#66;</a>", "+a(0)=1 &lt; 2 &amp;&#x41;&#66;-a(0)."},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        char events[512];
        show_events(cases[i].text, false, events, sizeof events);
        assert_string_equal(cases[i].events, events);
    }
    char events[64];
    show_events("<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.1//EN\" \"a>b\"><html/>", true, events, sizeof events);
    assert_string_equal("!+html(0)/.", events);
}

static void wrong_xml_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "a.xml: line 1, byte 1: no element at all"},
        {"text", "text outside"},
        {"<a>", "line 1, byte 4: the file ends inside an element"},
        {"<a>\n<b>\n</a>", "line 3, byte 1: an end tag names another element"},
        {"<a/><b/>", "byte 5: a second element follows"},
        {"</a>", "an end tag without its begin"},
        {"<a b></a>", "a tag is not closed"},
        {"<a b='1'c='2'/>", "white space is missing inside a tag"},
        {"<a b='<'/>", "inside the value of an attribute"},
        {"<a>&nbsp;</a>", "begins no reference"},
        {"<a>&#0;</a>", "begins no reference"},
        {"<a>&#x110000;</a>", "begins no reference"},
        {"<a>& b</a>", "begins no reference"},
        {"<a>\x01</a>", "a character that XML does not have"},
        {"<a>]]></a>", "outside of a CDATA section"},
        {"<a><!-- x</a>", "a comment is not closed"},
        {"<a><![CDATA[x</a>", "a CDATA section is not closed"},
        {"<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "a document type (DTD)"},
        {"<?xml version='1.0' encoding='ISO-8859-1'?><a/>", "only UTF-8 is read"},
        {"<a>\xFF</a>", "not UTF-8"},
        {"\xFE\xFF<a/>", "UTF-16"},
        {"<a/><?xml version='1.0'?>", "elsewhere than at the beginning"},
        {"<1/>", "begins no tag"},
    };
    for (size_t i = 0; i < GANZ_COUNT(bad); i++) {
        ganz_xml_tree tree;
        ganz_error err = {0};
        const ganz_status status = ganz_xml_tree_open(&tree, bad[i].text, strlen(bad[i].text), "a.xml", &plain, &err);
        if (status != GANZ_EFORMAT || !strstr(err.message, bad[i].says)) fail_msg("%s: %s", bad[i].text, err.message);
        ganz_xml_tree_close(&tree);
    }
}

static void depth_of_xml_is_bounded(void **state)
{
    (void)state;
    for (int depth = 255; depth <= 257; depth++) {
        char text[4096] = "";
        ganz_xml_tree tree;
        ganz_error err = {0};
        for (int i = 0; i < depth; i++) strcat(text, "<a>");
        for (int i = 0; i < depth; i++) strcat(text, "</a>");
        const ganz_status status = ganz_xml_tree_open(&tree, text, strlen(text), NULL, &plain, &err);
        assert_int_equal(depth <= GANZ_XML_DEPTH ? GANZ_OK : GANZ_EFORMAT, status);
        if (status != GANZ_OK) assert_non_null(strstr(err.message, "nested over 256 deep"));
        ganz_xml_tree_close(&tree);
    }
}

static void references_are_decoded(void **state)
{
    (void)state;
    static const char raw[] = "&lt;a&gt; &amp;amp; &#228;&#x20AC; &quot;&apos;";
    const ganz_xml x = {.text = raw, .bytes = sizeof raw - 1};
    char out[sizeof raw];
    const size_t n = ganz_xml_decode(&x, raw, sizeof raw - 1, out);
    assert_int_equal(strlen("<a> &amp; \xC3\xA4\xE2\x82\xAC \"'"), n);
    assert_memory_equal("<a> &amp; \xC3\xA4\xE2\x82\xAC \"'", out, n);
    ganz_text text = {0};
    assert_true(ganz_xml_escape_value(&text, "a\x01<b>\"&\xEF\xBF\xBF'", 11));
    assert_int_equal(strlen("a&lt;b&gt;&quot;&amp;'"), text.bytes);
    assert_memory_equal("a&lt;b&gt;&quot;&amp;'", text.text, text.bytes);
    ganz_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archives_of_others_are_read),
        cmocka_unit_test(one_member_is_replaced),
        cmocka_unit_test(wrong_archives_are_refused),
        cmocka_unit_test(archives_that_deceive_are_refused),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(damaged_members_are_seen),
        cmocka_unit_test(events_of_xml),
        cmocka_unit_test(wrong_xml_is_refused),
        cmocka_unit_test(depth_of_xml_is_bounded),
        cmocka_unit_test(references_are_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
