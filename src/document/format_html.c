/* HTML pages as a format. */
#include <string.h>

#include "document/format.h"
#include "document/html_read.h"
#include "document/html_scan.h"

/* True if the first thing that is not a comment is <!doctype html>, <html>, <head> or <body>. */
static bool recognise_html(const char *bytes, size_t count)
{
    static const char *const first[] = {"html", "head", "body"};
    ganz_html_scan scan = ganz_html_scan_over(bytes, count < 4096 ? count : 4096);
    ganz_html_token token;
    while (ganz_html_next(&scan, &token)) {
        if (token.kind == GANZ_HTML_COMMENT && token.bytes > 14 && ganz_html_is(token.raw, 14, "<!doctype html"))
            return true;
        if (token.kind == GANZ_HTML_START)
            for (size_t i = 0; i < GANZ_COUNT(first); i++)
                if (ganz_html_is(ganz_html_name(&token), token.name_bytes, first[i])) return true;
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
