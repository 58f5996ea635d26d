/* XML that nobody vouches for. Events follow each other without gaps, starts and ends match, text can be decoded and
 * escaped again; what is refused says where. */
#include <string.h>

#include "document/xml_tree.h"
#include "fuzz.h"
#include "text/tokenizer.h"

/* Decoded and escaped text decodes to itself. */
static void expect_text(const ganz_xml_tree *t, const ganz_xml_event *e)
{
    const size_t n = e->end - e->begin;
    char *const plain = malloc(n + 1);
    const size_t bytes = ganz_xml_decode(&t->x, t->x.text + e->begin, n, plain);
    ganz_text escaped = {0};
    FUZZ_EXPECT(bytes <= n && ganz_xml_escape_value(&escaped, plain, bytes));
    char *const again = malloc(escaped.bytes + 1);
    const size_t same = ganz_xml_decode(&t->x, escaped.text, escaped.bytes, again);
    FUZZ_EXPECT(same == bytes && memcmp(plain, again, bytes) == 0);
    free(again);
    free(plain);
    ganz_text_free(&escaped);
}

static void expect_start(const ganz_xml_tree *t, size_t i)
{
    const ganz_xml_event *const e = t->events, *const end = &e[e[i].partner];
    ganz_slice name, value;
    FUZZ_EXPECT(e[i].empty ? e[i].partner == i
                           : end->kind == GANZ_XML_END && end->partner == i && end->begin >= e[i].end);
    for (size_t at = 0; ganz_xml_next_attribute(t->x.text + e[i].begin, e[i].end - e[i].begin, &at, &name, &value);)
        FUZZ_EXPECT(name.bytes > 0 && value.at + value.bytes < t->x.text + e[i].end);
}

static void expect_tree(const uint8_t *data, size_t bytes, bool doctype)
{
    static const ganz_xml_space spaces[] = {{"urn:a", 1}, {"urn:b", 2}, {NULL, 0}};
    static const ganz_xml_name names[] = {{1, "p", 1}, {1, "*", 2}, {2, "r", 3}, {0, NULL, 0}};
    const ganz_xml_dialect dialect = {.names = names, .options = {.spaces = spaces, .doctype = doctype}};
    ganz_error err = {0};
    ganz_xml_tree t;
    if (ganz_xml_tree_open(&t, (const char *)data, bytes, "x", &dialect, &err) == GANZ_OK) {
        size_t at = 0;
        for (size_t i = 0; i < t.count; i++) {
            FUZZ_EXPECT(t.events[i].begin == at && t.events[i].end >= at);
            at = t.events[i].end;
            if (t.events[i].kind == GANZ_XML_START) expect_start(&t, i);
            if (t.events[i].kind == GANZ_XML_TEXT) expect_text(&t, &t.events[i]);
        }
        FUZZ_EXPECT(at == bytes);
    } else {
        FUZZ_EXPECT(err.message[0]);
    }
    ganz_xml_tree_close(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    expect_tree(data, bytes, false);
    expect_tree(data, bytes, true);
    return 0;
}
