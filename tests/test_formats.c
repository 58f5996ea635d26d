/* How formats are found, and what a document refuses of its caller. */
#include "test.h"

#include <string.h>

#include "ganz/document.h"

static void formats_are_found(void **state)
{
    (void)state;
    ganz_document *doc;
    ganz_document_options o;
    ganz_error err;
    assert_string_equal(ganz_document_recognise("a/b.TXT", NULL, 0), "text");
    assert_null(ganz_document_recognise("a.b/c", NULL, 0));
    assert_string_equal(ganz_document_recognise("a.b/c", "hello", 5), "text");
    assert_null(ganz_document_recognise(NULL, "a\0b", 3));
    assert_null(ganz_document_recognise(NULL, NULL, 0));
    ganz_document_defaults(&o);
    o.format = "nonsense";
    assert_int_equal(ganz_document_open(&doc, "a", 1, &o, &err), GANZ_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "there is no format nonsense, only text lines"));
    assert_null(doc);
    assert_int_equal(ganz_document_open(&doc, "hello you", 9, NULL, &err), GANZ_OK);
    assert_string_equal(ganz_document_format(doc), "text");
    const ganz_translation t = {.text = "x", .bytes = 1};
    assert_int_equal(ganz_document_put(doc, 0, &t, &err), GANZ_EINVAL); /* nobody asked */
    ganz_segment s;
    assert_int_equal(ganz_document_next(doc, &s, &err), GANZ_OK);
    const ganz_translation bad = {.text = "\xFF", .bytes = 1};
    assert_int_equal(ganz_document_put(doc, s.number, &bad, &err), GANZ_EINVAL);
    assert_int_equal(ganz_document_put(doc, s.number, &t, &err), GANZ_OK);
    assert_int_equal(ganz_document_put(doc, s.number, &t, &err), GANZ_EINVAL); /* twice */
    ganz_document_close(&doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
