/* HTML cut into tags, comments and text by the rules of the standard's tokenizer. Any bytes are HTML; each byte belongs
 * to exactly one token, and no byte is looked at more than a fixed number of times. */
#ifndef GANZ_DOCUMENT_HTML_SCAN_H
#define GANZ_DOCUMENT_HTML_SCAN_H

#include "base/base.h"

typedef enum ganz_html_kind {
    GANZ_HTML_TEXT,
    GANZ_HTML_START,  /* <b> */
    GANZ_HTML_END,    /* </b> */
    GANZ_HTML_COMMENT /* and everything else that is not shown: <!doctype>, <?php ?>, <% %>, a tag that never ends */
} ganz_html_kind;

typedef struct ganz_html_token {
    ganz_html_kind kind;
    const char *raw;
    size_t bytes;
    size_t name_bytes; /* START, END: of the name, which begins at raw + 1 or raw + 2 */
    bool self_closing; /* <br/> */
} ganz_html_token;

typedef struct ganz_html_scan {
    const char *data;
    size_t bytes, at;
    bool foreign;          /* inside svg or math, where CDATA sections exist; set by the caller */
    size_t no_php, no_asp; /* from here on "?>" (or "%>") is known to be missing; not more than one search for either */
} ganz_html_scan;

ganz_html_scan ganz_html_scan_over(const char *data, size_t bytes);

/* The next token; false at the end. */
bool ganz_html_next(ganz_html_scan *scan, ganz_html_token *token);

/* After the start tag of script, style, textarea, title and others whose content is not markup: all bytes up to the
 * matching end tag (or the end), as a text. May be empty. The name is in lower case. */
void ganz_html_raw_text(ganz_html_scan *scan, const char *name, ganz_html_token *token);

/* Of a START or END, as it is written; name_bytes long. */
static inline const char *ganz_html_name(const ganz_html_token *token)
{
    return token->raw + (token->kind == GANZ_HTML_END ? 2 : 1);
}

typedef struct ganz_html_attribute {
    const char *name;
    size_t name_bytes;
    const char *value; /* without quotes; NULL: none */
    size_t value_bytes;
    char quote; /* ", ' or 0 */
} ganz_html_attribute;

/* Attributes of a START token one after the other: *at is 0 at first. */
bool ganz_html_attribute_next(const ganz_html_token *token, size_t *at, ganz_html_attribute *attribute);

/* Equal without case; `word` is in lower case. */
bool ganz_html_is(const char *text, size_t bytes, const char *word);

static inline bool ganz_html_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }
static inline bool ganz_ascii_letter(char c) { return (unsigned char)((c | 0x20) - 'a') < 26; }
static inline bool ganz_ascii_digit(char c) { return (unsigned char)(c - '0') < 10; }
static inline bool ganz_ascii_alnum(char c) { return ganz_ascii_letter(c) || ganz_ascii_digit(c); }
static inline char ganz_ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

#endif
