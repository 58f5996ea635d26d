/* The strict XML scanner: one pass, a stack of open names, a stack of namespace bindings. Where XML leaves a choice to
 * readers (character sets, document types, external entities) this one refuses. */
#include "document/xml.h"

#include <string.h>

#include "base/utf8.h"

/* ---- places ------------------------------------------------------------------------------------- */

ganz_status ganz_xml_fail(const ganz_xml *x, size_t at, const char *sentence, ganz_error *err)
{
    size_t line = 1, begin = 0;
    for (size_t i = 0; i < at && i < x->bytes; i++) {
        if (x->text[i] != '\n') continue;
        line++;
        begin = i + 1;
    }
    return ganz_fail(err, GANZ_EFORMAT, "%s%sline %zu, byte %zu: %s", x->name ? x->name : "", x->name ? ": " : "", line,
                     at - begin + 1, sentence);
}

static bool has(const ganz_xml *x, size_t at, const char *token)
{
    const size_t n = strlen(token);
    return x->bytes - at >= n && memcmp(x->text + at, token, n) == 0;
}

/* Place of the token within [at, end); end: none. */
static size_t find(const ganz_xml *x, size_t at, size_t end, const char *token)
{
    const size_t n = strlen(token);
    while (at < end && end - at >= n) {
        const char *const hit = memchr(x->text + at, token[0], end - at - n + 1);
        if (!hit) break;
        at = (size_t)(hit - x->text);
        if (memcmp(hit, token, n) == 0) return at;
        at++;
    }
    return end;
}

/* ---- characters --------------------------------------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || (unsigned char)c >= 0x80;
}

static bool in_name(char c) { return begins_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

/* XML has no other control characters, not even as references. */
static bool is_char(int32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0xD800) || (c > 0xDFFF && c < 0xFFFE) ||
           (c >= 0x10000 && c <= 0x10FFFF);
}

static bool is_control(char c) { return (unsigned char)c < 0x20 && !is_space(c); }

/* U+FFFE and U+FFFF; the text has been found to be UTF-8. */
static bool is_no_character(const char *text)
{
    return text[0] == '\xEF' && text[1] == '\xBF' && (unsigned char)text[2] >= 0xBE;
}

static size_t skip_space(ganz_slice in, size_t at)
{
    while (at < in.bytes && is_space(in.at[at])) at++;
    return at;
}

static ganz_slice all_of(const ganz_xml *x) { return (ganz_slice){x->text, x->bytes}; }

/* ---- references --------------------------------------------------------------------------------- */

static int32_t digit_of(char c, int base)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (base == 16 && c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (base == 16 && c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static int32_t number_of(const char *digits, size_t bytes, int base)
{
    int32_t code = bytes > 0 ? 0 : -1;
    for (size_t i = 0; i < bytes && code >= 0; i++) {
        const int32_t digit = digit_of(digits[i], base);
        code = digit < 0 || code > 0x10FFFF ? -1 : code * base + digit;
    }
    return code >= 0 && is_char(code) ? code : 0;
}

static int32_t named(const ganz_xml *x, const char *name, size_t bytes)
{
    static const struct {
        const char *name;
        int32_t code;
    } five[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < GANZ_COUNT(five); i++)
        if (strlen(five[i].name) == bytes && memcmp(five[i].name, name, bytes) == 0) return five[i].code;
    return x->options.entity ? x->options.entity(name, bytes) : 0;
}

enum { REFERENCE_BYTES = 40 }; /* the longest name of HTML has 31 */

/* Bytes of the reference at raw[0] == '&', 0 when it is none; *code is what it stands for. */
static size_t reference(const ganz_xml *x, const char *raw, size_t bytes, int32_t *code)
{
    const char *const stop = memchr(raw, ';', bytes < REFERENCE_BYTES ? bytes : REFERENCE_BYTES);
    if (!stop) return 0;
    const size_t n = (size_t)(stop - raw);
    if (n >= 3 && raw[1] == '#' && raw[2] == 'x') *code = number_of(raw + 3, n - 3, 16);
    else if (n >= 2 && raw[1] == '#') *code = number_of(raw + 2, n - 2, 10);
    else *code = named(x, raw + 1, n - 1);
    return *code > 0 ? n + 1 : 0;
}

size_t ganz_xml_step(const ganz_xml *x, const char *raw, size_t bytes, int32_t *code)
{
    if (raw[0] == '&') {
        const size_t n = reference(x, raw, bytes, code);
        if (n > 0) return n;
    }
    *code = -1;
    const char *const next = bytes > 1 ? memchr(raw + 1, '&', bytes - 1) : NULL;
    return next ? (size_t)(next - raw) : bytes;
}

size_t ganz_xml_decode(const ganz_xml *x, const char *raw, size_t bytes, char *out)
{
    size_t at = 0, written = 0;
    while (at < bytes) {
        int32_t code;
        const size_t taken = ganz_xml_step(x, raw + at, bytes - at, &code);
        if (code < 0) {
            memcpy(out + written, raw + at, taken);
            written += taken;
        } else {
            written += (size_t)ganz_utf8_encode(code, out + written);
        }
        at += taken;
    }
    return written;
}

/* Checks text[begin..end) outside of markup. */
static ganz_status check_text(const ganz_xml *x, size_t begin, size_t end, ganz_error *err)
{
    for (size_t at = begin; at < end;) {
        const char c = x->text[at];
        int32_t code;
        size_t taken = 1;
        if (c == '&') {
            taken = reference(x, x->text + at, end - at, &code);
            if (taken == 0) return ganz_xml_fail(x, at, "an \"&\" begins no reference that XML knows", err);
        } else if (is_control(c) || is_no_character(x->text + at)) {
            return ganz_xml_fail(x, at, "a character that XML does not have", err);
        }
        at += taken;
    }
    return GANZ_OK;
}

/* ---- opening ------------------------------------------------------------------------------------ */

static bool word_is(const char *word, size_t bytes, const char *lower)
{
    if (strlen(lower) != bytes) return false;
    for (size_t i = 0; i < bytes; i++) {
        const char c = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] - 'A' + 'a') : word[i];
        if (c != lower[i]) return false;
    }
    return true;
}

/* The declaration may name only a set of characters that UTF-8 holds. */
static ganz_status check_declaration(const ganz_xml *x, size_t begin, size_t end, ganz_error *err)
{
    size_t at = find(x, begin, end, "encoding");
    if (at >= end) return GANZ_OK;
    at = skip_space(all_of(x), at + strlen("encoding"));
    if (at < end && x->text[at] == '=') at = skip_space(all_of(x), at + 1);
    const char quote = at < end ? x->text[at] : '\0';
    const char *const stop = quote == '"' || quote == '\'' ? memchr(x->text + at + 1, quote, end - at - 1) : NULL;
    if (!stop) return ganz_xml_fail(x, at, "the XML declaration is not closed", err);
    const char *const set = x->text + at + 1;
    const size_t n = (size_t)(stop - set);
    if (word_is(set, n, "utf-8") || word_is(set, n, "utf8") || word_is(set, n, "us-ascii")) return GANZ_OK;
    return ganz_xml_fail(x, at, "only UTF-8 is read: save the file as UTF-8 first", err);
}

static void bind(ganz_xml *x, const char *prefix, const char *address)
{
    int number = 0;
    for (const ganz_xml_space *s = x->options.spaces; s && s->address; s++)
        if (strcmp(s->address, address) == 0) number = s->number;
    x->bindings[x->bound].prefix = (ganz_slice){prefix, strlen(prefix)};
    x->bindings[x->bound].number = number;
    x->bindings[x->bound++].depth = -1;
}

ganz_status ganz_xml_open(ganz_xml *x, const char *text, size_t bytes, const char *name,
                          const ganz_xml_options *options, ganz_error *err)
{
    memset(x, 0, offsetof(ganz_xml, names));
    x->bound = 0;
    x->text = text;
    x->bytes = bytes;
    x->name = name;
    if (options) x->options = *options;
    bind(x, "xml", "http://www.w3.org/XML/1998/namespace");
    if (bytes >= 2 && (memcmp(text, "\xFE\xFF", 2) == 0 || memcmp(text, "\xFF\xFE", 2) == 0))
        return ganz_xml_fail(x, 0, "UTF-16, where only UTF-8 is read: save the file as UTF-8 first", err);
    return ganz_utf8_valid(text, bytes) ? GANZ_OK : ganz_xml_fail(x, 0, "the file is not UTF-8", err);
}

/* ---- namespaces --------------------------------------------------------------------------------- */

bool ganz_slice_is(ganz_slice slice, const char *text)
{
    return strlen(text) == slice.bytes && memcmp(slice.at, text, slice.bytes) == 0;
}

static ganz_slice split_prefix(ganz_slice *name)
{
    const char *const colon = memchr(name->at, ':', name->bytes);
    ganz_slice prefix = {name->at, colon ? (size_t)(colon - name->at) : 0};
    if (colon) {
        name->at = colon + 1;
        name->bytes -= prefix.bytes + 1;
    }
    return prefix;
}

static int number_of_prefix(const ganz_xml *x, ganz_slice prefix)
{
    for (int i = x->bound; i-- > 0;) {
        const ganz_slice p = x->bindings[i].prefix;
        if (p.bytes == prefix.bytes && memcmp(p.at, prefix.at, p.bytes) == 0) return x->bindings[i].number;
    }
    return 0;
}

static ganz_status bind_attribute(ganz_xml *x, ganz_slice name, ganz_slice address, ganz_error *err)
{
    const ganz_slice prefix = split_prefix(&name);
    const bool plain = prefix.bytes == 0 && ganz_slice_is(name, "xmlns");
    if (!plain && !ganz_slice_is(prefix, "xmlns")) return GANZ_OK;
    if (x->bound == GANZ_XML_BINDINGS)
        return ganz_xml_fail(x, (size_t)(address.at - x->text), "over 256 namespaces are in use at once", err);
    int number = 0;
    for (const ganz_xml_space *s = x->options.spaces; s && s->address && number == 0; s++)
        if (ganz_slice_is(address, s->address)) number = s->number;
    x->bindings[x->bound].prefix = plain ? prefix : name;
    x->bindings[x->bound].number = number;
    x->bindings[x->bound++].depth = x->open;
    return GANZ_OK;
}

/* ---- tags --------------------------------------------------------------------------------------- */

static ganz_slice scan_name(ganz_slice in, size_t at)
{
    size_t end = at;
    if (end < in.bytes && begins_name(in.at[end]))
        while (end < in.bytes && in_name(in.at[end])) end++;
    return (ganz_slice){in.at + at, end - at};
}

/* One attribute of a tag, from its name on; *at moves behind its closing quote. False: no attribute stands here. */
static bool scan_attribute(ganz_slice in, size_t *at, ganz_slice *name, ganz_slice *value)
{
    *name = scan_name(in, *at);
    size_t here = skip_space(in, *at + name->bytes);
    if (name->bytes == 0 || here >= in.bytes || in.at[here] != '=') return false;
    here = skip_space(in, here + 1);
    if (here >= in.bytes || (in.at[here] != '"' && in.at[here] != '\'')) return false;
    const char *const stop = memchr(in.at + here + 1, in.at[here], in.bytes - here - 1);
    if (!stop) return false;
    *value = (ganz_slice){in.at + here + 1, (size_t)(stop - in.at) - here - 1};
    *at = (size_t)(stop - in.at) + 1;
    return true;
}

static ganz_status take_attribute(ganz_xml *x, size_t *at, ganz_error *err)
{
    ganz_slice name, value;
    const size_t begin = *at;
    if (!scan_attribute(all_of(x), at, &name, &value)) return ganz_xml_fail(x, begin, "a tag is not closed", err);
    const char *const less = memchr(value.at, '<', value.bytes);
    if (less) return ganz_xml_fail(x, (size_t)(less - x->text), "a \"<\" stands inside the value of an attribute", err);
    const size_t value_at = (size_t)(value.at - x->text);
    GANZ_TRY(check_text(x, value_at, value_at + value.bytes, err));
    return bind_attribute(x, name, value, err);
}

static ganz_status take_attributes(ganz_xml *x, size_t *at, ganz_error *err)
{
    for (;;) {
        const size_t here = skip_space(all_of(x), *at);
        if (here >= x->bytes) return ganz_xml_fail(x, x->begin, "a tag is not closed", err);
        if (x->text[here] == '>' || has(x, here, "/>")) {
            *at = here;
            return GANZ_OK;
        }
        if (here == *at) return ganz_xml_fail(x, here, "white space is missing inside a tag", err);
        *at = here;
        GANZ_TRY(take_attribute(x, at, err));
    }
}

static void name_event(ganz_xml *x, ganz_slice name, int number)
{
    split_prefix(&name);
    x->local = name;
    x->space = number;
    x->depth = x->open;
}

static void leave_element(ganz_xml *x)
{
    while (x->bound > 0 && x->bindings[x->bound - 1].depth == x->open) x->bound--;
    x->open--;
}

static ganz_status scan_start(ganz_xml *x, ganz_error *err)
{
    const ganz_slice name = scan_name(all_of(x), x->begin + 1);
    if (name.bytes == 0) return ganz_xml_fail(x, x->begin, "a \"<\" begins no tag", err);
    if (x->open == 0 && x->rooted) return ganz_xml_fail(x, x->begin, "a second element follows the first", err);
    if (x->open == GANZ_XML_DEPTH) return ganz_xml_fail(x, x->begin, "elements are nested over 256 deep", err);
    x->rooted = true;
    x->open++;
    size_t at = x->begin + 1 + name.bytes;
    GANZ_TRY(take_attributes(x, &at, err));
    ganz_slice local = name;
    const int number = number_of_prefix(x, split_prefix(&local));
    x->names[x->open - 1] = name;
    x->numbers[x->open - 1] = number;
    x->kind = GANZ_XML_START;
    x->empty = x->text[at] == '/';
    x->end = at + (x->empty ? 2 : 1);
    name_event(x, name, number);
    return GANZ_OK;
}

static ganz_status scan_end(ganz_xml *x, ganz_error *err)
{
    const ganz_slice name = scan_name(all_of(x), x->begin + 2);
    const size_t at = skip_space(all_of(x), x->begin + 2 + name.bytes);
    if (name.bytes == 0 || at >= x->bytes || x->text[at] != '>')
        return ganz_xml_fail(x, x->begin, "an end tag is not closed", err);
    if (x->open == 0) return ganz_xml_fail(x, x->begin, "an end tag without its begin", err);
    const ganz_slice begun = x->names[x->open - 1];
    if (begun.bytes != name.bytes || memcmp(begun.at, name.at, name.bytes) != 0)
        return ganz_xml_fail(x, x->begin, "an end tag names another element than the one that is open", err);
    x->kind = GANZ_XML_END;
    x->end = at + 1;
    name_event(x, name, x->numbers[x->open - 1]);
    return GANZ_OK;
}

/* ---- what is not an element --------------------------------------------------------------------- */

static ganz_status scan_until(ganz_xml *x, size_t from, const char *token, const char *sentence, ganz_error *err)
{
    const size_t at = find(x, from, x->bytes, token);
    if (at == x->bytes) return ganz_xml_fail(x, x->begin, sentence, err);
    for (size_t i = from; i < at; i++)
        if (is_control(x->text[i]) || is_no_character(x->text + i))
            return ganz_xml_fail(x, i, "a character that XML does not have", err);
    x->end = at + strlen(token);
    return GANZ_OK;
}

static ganz_status scan_instruction(ganz_xml *x, size_t from, ganz_error *err)
{
    GANZ_TRY(scan_until(x, from, "?>", "an instruction is not closed", err));
    const bool declaration = has(x, from, "xml") && (is_space(x->text[from + 3]) || x->text[from + 3] == '?');
    if (!declaration) return GANZ_OK;
    if (x->begin > 0 && !(x->begin == 3 && x->text[0] != '<')) /* after a mark of the byte order */
        return ganz_xml_fail(x, x->begin, "an XML declaration stands elsewhere than at the beginning", err);
    return check_declaration(x, from, x->end, err);
}

static ganz_status scan_doctype(ganz_xml *x, ganz_error *err)
{
    if (!x->options.doctype || x->rooted)
        return ganz_xml_fail(x, x->begin, "a document type (DTD), which is not read", err);
    size_t at = x->begin + 2;
    for (; at < x->bytes && x->text[at] != '>'; at++) {
        const char c = x->text[at];
        if (c == '[' || c == '<' || is_control(c))
            return ganz_xml_fail(x, at, "a document type with declarations, which are not read", err);
        if (c != '"' && c != '\'') continue;
        const char *const stop = memchr(x->text + at + 1, c, x->bytes - at - 1);
        if (!stop) break;
        at = (size_t)(stop - x->text);
    }
    if (at >= x->bytes || x->text[at] != '>') return ganz_xml_fail(x, x->begin, "a document type is not closed", err);
    x->end = at + 1;
    return GANZ_OK;
}

static ganz_status scan_cdata(ganz_xml *x, ganz_error *err)
{
    if (x->open == 0) return ganz_xml_fail(x, x->begin, "text outside of the document's element", err);
    x->kind = GANZ_XML_CDATA;
    return scan_until(x, x->begin + 9, "]]>", "a CDATA section is not closed", err);
}

static ganz_status scan_markup(ganz_xml *x, ganz_error *err)
{
    x->kind = GANZ_XML_OTHER;
    if (has(x, x->begin, "</")) return scan_end(x, err);
    if (has(x, x->begin, "<!--")) return scan_until(x, x->begin + 4, "-->", "a comment is not closed", err);
    if (has(x, x->begin, "<![CDATA[")) return scan_cdata(x, err);
    if (has(x, x->begin, "<?")) return scan_instruction(x, x->begin + 2, err);
    if (has(x, x->begin, "<!")) return scan_doctype(x, err);
    return scan_start(x, err);
}

static ganz_status scan_text(ganz_xml *x, ganz_error *err)
{
    const char *const next = memchr(x->text + x->begin, '<', x->bytes - x->begin);
    x->end = next ? (size_t)(next - x->text) : x->bytes;
    const size_t wrong = find(x, x->begin, x->end, "]]>");
    if (wrong < x->end) return ganz_xml_fail(x, wrong, "\"]]>\" stands outside of a CDATA section", err);
    GANZ_TRY(check_text(x, x->begin, x->end, err));
    x->kind = x->open > 0 ? GANZ_XML_TEXT : GANZ_XML_OTHER;
    if (x->open == 0 && skip_space(all_of(x), x->begin) < x->end)
        return ganz_xml_fail(x, x->begin, "text outside of the document's element", err);
    return GANZ_OK;
}

/* ---- events ------------------------------------------------------------------------------------- */

static ganz_status stop(ganz_xml *x, ganz_error *err)
{
    if (x->open > 0) return ganz_xml_fail(x, x->bytes, "the file ends inside an element", err);
    if (!x->rooted) return ganz_xml_fail(x, x->bytes, "no element at all", err);
    x->kind = GANZ_XML_STOP;
    x->end = x->bytes;
    return GANZ_OK;
}

ganz_status ganz_xml_next(ganz_xml *x, ganz_error *err)
{
    if (x->end > 0 && (x->kind == GANZ_XML_END || (x->kind == GANZ_XML_START && x->empty))) leave_element(x);
    x->begin = x->end;
    x->empty = false;
    x->space = 0;
    x->local = (ganz_slice){x->text, 0};
    x->depth = x->open;
    if (x->begin == 0 && has(x, 0, "\xEF\xBB\xBF")) { /* a mark of the byte order is an event of its own */
        x->kind = GANZ_XML_OTHER;
        x->end = 3;
        return GANZ_OK;
    }
    if (x->begin == x->bytes) return stop(x, err);
    return x->text[x->begin] == '<' ? scan_markup(x, err) : scan_text(x, err);
}

bool ganz_xml_is(const ganz_xml *x, int space, const char *local)
{
    return x->space == space && ganz_slice_is(x->local, local);
}

bool ganz_xml_next_attribute(const char *tag, size_t bytes, size_t *at, ganz_slice *name, ganz_slice *value)
{
    const ganz_slice in = {tag, bytes};
    *at = skip_space(in, *at == 0 ? 1 + scan_name(in, 1).bytes : *at);
    return scan_attribute(in, at, name, value);
}

bool ganz_xml_attribute(const char *tag, size_t bytes, const char *local, ganz_slice *value)
{
    ganz_slice name;
    for (size_t at = 0; ganz_xml_next_attribute(tag, bytes, &at, &name, value);) {
        const ganz_slice prefix = split_prefix(&name);
        if (!ganz_slice_is(prefix, "xmlns") && ganz_slice_is(name, local)) return true;
    }
    return false;
}
