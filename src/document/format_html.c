/* HTML pages as a format. */
#include <string.h>

#include "document/format.h"
#include "document/html_read.h"
#include "document/html_scan.h"

static bool is_named(const ganz_html_token *token, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ganz_html_is(ganz_html_name(token), token->name_bytes, names[i])) return true;
    return false;
}

/* A piece of a page, as it is pasted, ends with a tag; Markdown may begin with one, but goes on. */
static bool ends_with_tag(const char *bytes, size_t count)
{
    while (count > 0 && ganz_html_space(bytes[count - 1])) count--;
    return count > 0 && bytes[count - 1] == '>';
}

static bool starts_page(const ganz_html_token *token, const char *bytes, size_t count)
{
    static const char *const page[] = {"html", "head", "body"};
    static const char *const piece[] = {"p",  "div", "ul", "ol",  "dl",      "table",   "h1",  "h2",
                                        "h3", "h4",  "h5", "pre", "section", "article", "nav", "blockquote"};
    if (token->kind == GANZ_HTML_COMMENT) return token->bytes > 14 && ganz_html_is(token->raw, 14, "<!doctype html");
    if (token->kind != GANZ_HTML_START) return false;
    return is_named(token, page, GANZ_COUNT(page)) ||
           (is_named(token, piece, GANZ_COUNT(piece)) && ends_with_tag(bytes, count));
}

/* True if the first thing that is not a comment is <!doctype html>, or the tag of a page or of a piece of one. */
static bool recognise_html(const char *bytes, size_t count)
{
    ganz_html_scan scan = ganz_html_scan_over(bytes, count < 4096 ? count : 4096);
    ganz_html_token token;
    while (ganz_html_next(&scan, &token)) {
        if (starts_page(&token, bytes, count)) return true;
        size_t at = token.kind == GANZ_HTML_TEXT && scan.at == token.bytes && token.bytes >= 3 && token.raw[0] == '\xEF'
                        ? 3
                        : 0;
        while (at < token.bytes && ganz_html_space(token.raw[at])) at++;
        if (token.kind != GANZ_HTML_COMMENT && at < token.bytes) return false;
    }
    return false;
}

/* UTF-16 and UTF-32: every second byte of a tag is zero. */
static bool is_wide(const char *bytes, size_t count)
{
    size_t zeros = 0;
    const size_t near = count < 1024 ? count : 1024;
    if (count >= 2 && (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0)) return true;
    for (size_t i = 0; i < near; i++) zeros += bytes[i] == '\0';
    return near >= 16 && 3 * zeros > near;
}

static ganz_status read_page(ganz_skeleton *skeleton, const char *bytes, size_t count,
                             const ganz_format_options *options, ganz_error *err)
{
    if (is_wide(bytes, count)) return ganz_fail(err, GANZ_EFORMAT, "the page is in UTF-16: save it as UTF-8 first");
    return ganz_html_read(skeleton, bytes, count, options, err);
}

const ganz_format ganz_format_html = {
    .name = "html", .suffixes = "html htm xhtml xht shtml", .recognise = recognise_html, .read = read_page};
