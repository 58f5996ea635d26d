/* A page that nobody vouches for. With a translator that returns its input every byte comes back; with others, which
 * throw words about, lose or double them, each tag and comment still comes out exactly once. */
#include <string.h>

#include "document/format.h"
#include "document/html_tree.h"
#include "fuzz.h"
#include "skeletons.h"

/* The next token, with the content of script, title and others as text. */
static bool next_token(ganz_html_scan *scan, ganz_html_tree *tree, const char **raw_name, ganz_html_token *token)
{
    ganz_html_open open;
    bool stays;
    const char *const name = *raw_name;
    *raw_name = NULL;
    scan->foreign = tree->xml || ganz_html_foreign(tree);
    if (name) return ganz_html_raw_text(scan, name, token), true;
    if (!ganz_html_next(scan, token)) return false;
    if (token->kind == GANZ_HTML_END) ganz_html_end(tree, token);
    if (token->kind != GANZ_HTML_START) return true;
    FUZZ_EXPECT(ganz_html_start(tree, token, &open, &stays));
    if (stays && (open.element->flags & (GANZ_HTML_RAW | GANZ_HTML_PLAIN))) *raw_name = open.element->name;
    return true;
}

/* A sum over all tags and comments of a page that does not depend on their order, and their number. */
static uint64_t sum_of_tags(const char *page, size_t bytes, bool xml, size_t *count)
{
    ganz_html_scan scan = ganz_html_scan_over(page, bytes);
    ganz_html_tree tree = {.xml = xml};
    const char *raw_name = NULL;
    ganz_html_token token;
    uint64_t sum = 0;
    *count = 0;
    while (next_token(&scan, &tree, &raw_name, &token)) {
        if (token.kind == GANZ_HTML_TEXT) continue;
        uint64_t hash = 14695981039346656037u;
        for (size_t i = 0; i < token.bytes; i++) hash = (hash ^ (unsigned char)token.raw[i]) * 1099511628211u;
        sum += hash;
        ++*count;
    }
    ganz_html_tree_close(&tree);
    return sum;
}

static void expect_tags(const char *page, size_t bytes, fake_translator *translate)
{
    ganz_text out = {0};
    size_t before, after;
    FUZZ_EXPECT(fake_document(&out, &ganz_format_html, page, bytes, false, translate, NULL) == GANZ_OK);
    const size_t bom = bytes >= 3 && memcmp(page, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    const bool xml = bytes - bom > 5 && memcmp(page + bom, "<?xml", 5) == 0;
    const uint64_t sum = sum_of_tags(page, bytes, xml, &before);
    FUZZ_EXPECT(sum_of_tags(out.text, out.bytes, xml, &after) == sum && before == after);
    ganz_text_free(&out);
}

/* Every eighth page, because sentences take longer than reading. */
static bool is_chosen(const char *page, size_t bytes)
{
    unsigned sum = 0;
    for (size_t i = 0; i < bytes; i++) sum = sum * 31 + (unsigned char)page[i];
    return sum % 8 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static fake_translator *const translators[] = {fake_shout, fake_reverse, fake_twice, fake_nothing};
    const char *const page = (const char *)data;
    ganz_status status;
    const bool whole = skeleton_is_whole(&ganz_format_html, page, bytes, &status);
    if (status == GANZ_EFORMAT) { /* UTF-16 */
        FUZZ_EXPECT(memchr(page, 0, bytes) || data[0] >= 0xFE);
        return 0;
    }
    FUZZ_EXPECT(status == GANZ_OK && whole);
    if (!is_chosen(page, bytes)) return 0;
    ganz_text out = {0};
    FUZZ_EXPECT(fake_document(&out, &ganz_format_html, page, bytes, true, fake_identity, NULL) == GANZ_OK);
    FUZZ_EXPECT(out.bytes == bytes && (bytes == 0 || memcmp(out.text, page, bytes) == 0));
    ganz_text_free(&out);
    expect_tags(page, bytes, translators[bytes % 4]);
    return 0;
}
