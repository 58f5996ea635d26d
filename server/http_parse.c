/* Lines end in CR LF, names are tokens right before their colon, nothing is folded, and there is one way at most to say
 * how long a body is. Texts of a head stay where they are; a 0 is written behind each. */
#include "http_parse.h"

#include <string.h>
#include <strings.h>

/* ---- characters --------------------------------------------------------------------------------- */

static bool is_token(char c)
{
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
    return c && strchr("!#$%&'*+-.^_`|~", c);
}

static bool is_visible(char c) { return c > ' ' && c < 0x7f; }

/* Of a value of a header: visible, space, tab, or a byte of another alphabet. */
static bool is_value(char c) { return is_visible(c) || c == ' ' || c == '\t' || (unsigned char)c >= 0x80; }

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool http_unescape(char *text, size_t *bytes, bool form)
{
    char *to = text;
    for (const char *at = text, *const end = text + *bytes; at < end; at++) {
        const bool escape = *at == '%';
        const int high = escape && end - at > 2 ? hex_digit(at[1]) : -1;
        const int low = escape && end - at > 2 ? hex_digit(at[2]) : -1;
        if (form && *at == '+') {
            *to++ = ' ';
        } else if (!escape || (form && (high < 0 || low < 0))) {
            *to++ = *at;
        } else {
            if (high < 0 || low < 0 || high + low == 0) return false;
            *to++ = (char)(high * 16 + low);
            at += 2;
        }
    }
    *to = '\0';
    *bytes = (size_t)(to - text);
    return true;
}

/* ---- where a head ends -------------------------------------------------------------------------- */

static int too_long(const char *bytes, size_t count)
{
    return memchr(bytes, '\n', count < HTTP_LINE ? count : HTTP_LINE) ? 431 : 414;
}

size_t http_find_end(const char *bytes, size_t count, size_t *looked, int *status)
{
    *status = 0;
    for (size_t i = *looked; i < count; i++) {
        if (i == HTTP_LINE || i == HTTP_HEAD) *status = too_long(bytes, i);
        if (i == HTTP_LINE && *status == 431) *status = 0;
        if (bytes[i] == '\0' || (bytes[i] == '\n' && (i == 0 || bytes[i - 1] != '\r')) ||
            (i > 0 && bytes[i - 1] == '\r' && bytes[i] != '\n'))
            *status = 400;
        if (*status) return 0;
        if (i >= 3 && bytes[i] == '\n' && bytes[i - 2] == '\n') return i + 1;
    }
    *looked = count;
    return 0;
}

/* ---- the request line --------------------------------------------------------------------------- */

static http_method method_named(const char *name)
{
    static const char *const names[] = {"GET", "HEAD", "POST", "OPTIONS", "DELETE"};
    for (int i = 0; i < HTTP_OTHER; i++)
        if (strcmp(name, names[i]) == 0) return (http_method)i;
    return HTTP_OTHER;
}

/* "/path?query" */
static int parse_target(http_head *head, char *target, const char **why)
{
    *why = "the target of the request is not a path";
    if (target[0] != '/') return 400;
    for (const char *c = target; *c; c++)
        if (!is_visible(*c) || *c == '#') return 400;
    char *const mark = strchr(target, '?');
    head->path = target;
    head->query = mark ? mark + 1 : "";
    if (mark) *mark = '\0';
    size_t bytes = strlen(target);
    return http_unescape(target, &bytes, false) ? 0 : 400;
}

static int parse_version(http_head *head, const char *version, const char **why)
{
    *why = "the request line is not one of HTTP";
    if (strncmp(version, "HTTP/", 5) != 0 || strlen(version) != 8 || version[6] != '.') return 400;
    *why = "only HTTP/1.0 and HTTP/1.1 are spoken here";
    if (version[5] != '1' || version[7] < '0' || version[7] > '1') return 505;
    head->minor = version[7] - '0';
    return 0;
}

static int parse_line(http_head *head, char *line, const char **why)
{
    char *const target = strchr(line, ' '), *const version = target ? strchr(target + 1, ' ') : NULL;
    *why = "the request line is not one of HTTP";
    if (!version || target == line) return 400;
    *target = *version = '\0';
    for (const char *c = line; *c; c++)
        if (!is_token(*c)) return 400;
    head->method = method_named(line);
    const int status = parse_version(head, version + 1, why);
    return status ? status : parse_target(head, target + 1, why);
}

/* ---- headers ------------------------------------------------------------------------------------ */

static int parse_header(http_head *head, char *line, const char **why)
{
    char *const colon = strchr(line, ':');
    *why = "a header is not a name, a colon and a value";
    if (!colon || colon == line) return 400;
    for (const char *c = line; c < colon; c++)
        if (!is_token(*c)) return 400;
    char *value = colon + 1, *end = value + strlen(value);
    for (const char *c = value; *c; c++)
        if (!is_value(*c)) return 400;
    while (*value == ' ' || *value == '\t') value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t')) end--;
    *end = *colon = '\0';
    *why = "the request has too many headers";
    if (head->header_count == HTTP_HEADERS) return 431;
    head->headers[head->header_count++] = (http_header){line, value};
    return 0;
}

static int count_header(const http_head *head, const char *name)
{
    int count = 0;
    for (int i = 0; i < head->header_count; i++) count += strcasecmp(head->headers[i].name, name) == 0;
    return count;
}

const char *http_find_header(const http_head *head, const char *name)
{
    for (int i = 0; i < head->header_count; i++)
        if (strcasecmp(head->headers[i].name, name) == 0) return head->headers[i].value;
    return NULL;
}

const char *http_find_last_header(const http_head *head, const char *name)
{
    for (int i = head->header_count - 1; i >= 0; i--)
        if (strcasecmp(head->headers[i].name, name) == 0) return head->headers[i].value;
    return NULL;
}

static bool parse_length(http_head *head, const char *digits)
{
    const size_t count = strlen(digits);
    if (count == 0 || count > 18 || strspn(digits, "0123456789") != count) return false;
    for (const char *c = digits; *c; c++) head->length = head->length * 10 + (unsigned)(*c - '0');
    return head->has_length = true;
}

/* There is one way at most to say how long the body is. */
static int check_body(http_head *head, const char **why)
{
    const int lengths = count_header(head, "content-length"), codings = count_header(head, "transfer-encoding");
    *why = "the request says in more than one way how long its body is";
    if (lengths > 1 || codings > 1 || (lengths && codings)) return 400;
    *why = "the length of the body is not a number";
    if (lengths && !parse_length(head, http_find_header(head, "content-length"))) return 400;
    if (!codings) return 0;
    *why = "the only transfer coding known here is chunked";
    if (strcasecmp(http_find_header(head, "transfer-encoding"), "chunked") != 0) return 501;
    *why = "HTTP/1.0 has no transfer codings";
    if (head->minor == 0) return 400;
    head->chunked = true;
    return 0;
}

/* Whether a list, separated by commas, has a word. */
static bool has_word(const char *list, const char *word)
{
    const size_t bytes = strlen(word);
    while (list && *list) {
        list += strspn(list, ", \t");
        const size_t length = strcspn(list, ", \t");
        if (length == bytes && strncasecmp(list, word, bytes) == 0) return true;
        list += length;
    }
    return false;
}

/* The client may say it in any of several headers of that name. */
static bool says_close(const http_head *head)
{
    bool found = false;
    for (int i = 0; i < head->header_count; i++)
        found |= strcasecmp(head->headers[i].name, "connection") == 0 && has_word(head->headers[i].value, "close");
    return found;
}

static int check_rest(http_head *head, const char **why)
{
    const int hosts = count_header(head, "host");
    *why = "the request has to name one host";
    if (hosts > 1 || (hosts == 0 && head->minor == 1)) return 400;
    const char *const expect = http_find_header(head, "expect");
    *why = "this expectation is not known here";
    if (expect && (strcasecmp(expect, "100-continue") != 0 || head->minor == 0)) return 417;
    head->wants_continue = expect;
    head->keep_alive = head->minor == 1 && !says_close(head);
    return 0;
}

/* The next line, terminated in place of its CR LF. */
static char *next_line(char **at, const char *end)
{
    char *const line = *at, *const newline = memchr(line, '\n', (size_t)(end - line));
    if (!newline) return NULL;
    newline[-1] = '\0';
    *at = newline + 1;
    return line;
}

int http_parse_head(char *text, size_t bytes, http_head *head, const char **why)
{
    char *at = text;
    const char *const end = text + bytes;
    *head = (http_head){0};
    int status = parse_line(head, next_line(&at, end), why);
    for (char *line; !status && (line = next_line(&at, end)) && *line;) {
        *why = "a header is folded";
        status = *line == ' ' || *line == '\t' ? 400 : parse_header(head, line, why);
    }
    if (!status) status = check_body(head, why);
    return status ? status : check_rest(head, why);
}

/* ---- chunks ------------------------------------------------------------------------------------- */

enum { SIZE, SIZE_LF, DATA, DATA_CR, DATA_LF, LAST_CR, LAST_LF };

/* A byte that is no content. 0: go on; 1: the body is whole; 400. */
static int take_mark(http_chunks *c, char byte)
{
    const int digit = hex_digit(byte);
    switch (c->state) {
    case SIZE:
        if (byte == '\r' && c->digits > 0) return c->state = SIZE_LF, 0;
        if (digit < 0 || c->digits == 8) return 400;
        c->left = c->left * 16 + (unsigned)digit;
        c->digits++;
        return 0;
    case SIZE_LF: c->state = c->left > 0 ? DATA : LAST_CR; return byte == '\n' ? 0 : 400;
    case DATA_CR: c->state = DATA_LF; return byte == '\r' ? 0 : 400;
    case DATA_LF:
        c->state = SIZE;
        c->digits = 0;
        return byte == '\n' ? 0 : 400;
    case LAST_CR: c->state = LAST_LF; return byte == '\r' ? 0 : 400;
    default: return byte == '\n' ? 1 : 400;
    }
}

int http_add_chunks(http_chunks *c, const char *bytes, size_t count, size_t *used, buffer *body, size_t most)
{
    int status = 0;
    size_t at = 0;
    while (at < count && !status) {
        if (c->state != DATA) {
            status = take_mark(c, bytes[at++]);
            if (c->state == DATA && c->left > most - body->bytes) status = 413;
            continue;
        }
        const size_t rest = count - at, part = c->left < rest ? (size_t)c->left : rest;
        buffer_add(body, bytes + at, part);
        at += part;
        c->left -= part;
        if (c->left == 0) c->state = DATA_CR;
    }
    *used = at;
    return status;
}
