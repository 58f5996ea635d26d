/* Writing PO files: which entries have a whole translation, and strings in lines as gettext's own tools break them. */
#include <stdio.h>
#include <string.h>

#include "document/po.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

enum { COLUMNS = 79, MOST_ARGUMENTS = 100 }; /* columns: of a line, with its quotes */

/* ---- arguments ---------------------------------------------------------------------------------- */

/* At an argument's number: its bytes, and the number. */
static size_t number_at(const char *text, size_t bytes, int *number)
{
    if (bytes < 4 || text[0] != GANZ_PO_ARGUMENT || text[3] != GANZ_PO_ARGUMENT_END) return 0;
    *number = (text[1] - '0') * 10 + (text[2] - '0');
    return 4;
}

static bool in_order(const ganz_text *t)
{
    int next = 1, number;
    for (size_t at = 0; at < t->bytes; at++)
        if (number_at(t->text + at, t->bytes - at, &number) > 0 && number != next++) return false;
    return true;
}

/* Takes the numbers out or, where they are not in order any more, makes them part of the places. False: memory is out.
 */
static bool settle_arguments(const ganz_text *t, ganz_text *out)
{
    const bool plain = in_order(t);
    bool good = true;
    for (size_t at = 0; at < t->bytes && good;) {
        int number;
        size_t n = number_at(t->text + at, t->bytes - at, &number);
        char place[16];
        if (n == 0) {
            good = ganz_text_append(out, t->text + at, n = 1);
        } else if (!plain) { /* "%" and the number, and the rest of the place */
            const int length = snprintf(place, sizeof place, "%%%d$", number);
            good = ganz_text_append(out, place, (size_t)length);
            n++;
        }
        at += n;
    }
    return good;
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* Bytes of a character of a string, an escape being one that is not cut. */
static size_t unit(const char *text, size_t bytes)
{
    if (text[0] == '\\' && bytes > 1) return 2;
    size_t n = 1;
    while (n < bytes && ((unsigned char)text[n] & 0xC0) == 0x80) n++;
    return n;
}

static bool is_newline(const char *text, size_t bytes) { return bytes > 1 && text[0] == '\\' && text[1] == 'n'; }

/* Columns of a string up to its first line break. */
static size_t line_columns(const char *text, size_t bytes, size_t *end)
{
    size_t at = 0, columns = 0;
    while (at < bytes) {
        const bool newline = is_newline(text + at, bytes - at);
        const size_t n = unit(text + at, bytes - at);
        columns += text[at] == '\\' ? 2 : 1;
        at += n;
        if (newline) break;
    }
    *end = at;
    return columns;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80; }

/* True if a line may end between the character at text[at - 1] and the one at text[at]. */
static bool may_end(const char *text, size_t bytes, size_t at)
{
    if (at >= bytes || is_newline(text + at, bytes - at)) return false;
    if (text[at - 1] == ' ') return text[at] != ' ';
    return text[at - 1] == '-' && is_letter(text[at]);
}

/* Bytes of the next line of at most `room` columns: up to a line break, else to the last place that fits, else to the
 * first one. */
static size_t line_bytes(const char *text, size_t bytes, size_t room)
{
    size_t at = 0, columns = 0, cut = 0;
    while (at < bytes) {
        const bool newline = is_newline(text + at, bytes - at);
        columns += text[at] == '\\' ? 2 : 1;
        if (columns > room && cut > 0) return cut;
        at += unit(text + at, bytes - at);
        if (newline) return at;
        if (may_end(text, bytes, at)) cut = at;
    }
    return bytes;
}

static bool append(ganz_text *out, const char *text) { return ganz_text_append(out, text, strlen(text)); }

static bool append_line(ganz_text *out, const char *text, size_t bytes, const char *before)
{
    return append(out, before) && append(out, "\"") && ganz_text_append(out, text, bytes) && append(out, "\"");
}

static bool write_string(ganz_text *out, const ganz_po_part *part, const char *text, size_t bytes, const char *newline)
{
    size_t end;
    const size_t columns = line_columns(text, bytes, &end);
    if (!ganz_text_append(out, part->keyword, part->keyword_bytes)) return false;
    if (end == bytes && (part->unwrapped || part->keyword_bytes + 3 + columns <= COLUMNS))
        return append_line(out, text, bytes, " ");
    bool good = append(out, " \"\"");
    for (size_t at = 0; at < bytes && good;) {
        const size_t n = line_bytes(text + at, bytes - at, part->unwrapped ? SIZE_MAX : COLUMNS - 2);
        good = append_line(out, text + at, n, newline);
        at += n;
    }
    return good;
}

static bool write_message(ganz_text *out, const ganz_po_part *part, const ganz_text *section, const char *newline)
{
    ganz_text text = {0};
    const bool good = settle_arguments(section, &text) && write_string(out, part, text.text, text.bytes, newline);
    ganz_text_free(&text);
    return good;
}

/* ---- entries ------------------------------------------------------------------------------------ */

/* Python's places have no numbers; a translation that needs them stays empty. */
static bool is_usable(const ganz_po_part *part, const ganz_text *section)
{
    return section->bytes > 0 && (part->arguments != GANZ_PO_ORDERED || in_order(section));
}

static bool write_part(ganz_text *out, const ganz_po_state *s, const ganz_po_part *part, const ganz_text *section,
                       bool whole)
{
    switch (part->kind) {
    case GANZ_PO_FLAG:
        if (!whole) return true;
        return part->flagged ? append(out, " fuzzy,") : append(out, "#, fuzzy") && append(out, s->newline);
    case GANZ_PO_MESSAGE:
        if (whole) return write_message(out, part, section, s->newline);
        return ganz_text_append(out, part->keyword, part->keyword_bytes) && append(out, " \"\"");
    default: return ganz_text_append(out, section->text, section->bytes);
    }
}

ganz_status ganz_po_finish(void *state, const ganz_text *sections, size_t count, ganz_text *out, ganz_error *err)
{
    const ganz_po_state *const s = state;
    bool *const broken = ganz_alloc(s->entries + 1, sizeof *broken);
    bool good = broken != NULL;
    GANZ_ASSERT_ALWAYS(count == s->count);
    for (size_t i = 0; i < count && good; i++)
        if (s->parts[i].kind == GANZ_PO_MESSAGE) broken[s->parts[i].entry] |= !is_usable(&s->parts[i], &sections[i]);
    for (size_t i = 0; i < count && good; i++)
        good = write_part(out, s, &s->parts[i], &sections[i], !broken[s->parts[i].entry]);
    ganz_free(broken);
    return good ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
}
