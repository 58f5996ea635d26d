/* gettext's PO files, read line by line into entries. Empty msgstr are filled with the text of msgid, to be translated;
 * everything else is copied. */
#include <string.h>

#include "document/po.h"
#include "document/xml_inline.h" /* ganz_goes_on */
#include "text/tokenizer.h"

enum { MOST_FORMS = 16 }; /* of a plural; languages have 6 at most */

/* Lines of a string, from its first quote to the end of its last line. */
typedef struct string {
    size_t begin, end; /* end 0: there is none */
} string;

typedef struct entry {
    size_t flags; /* place behind "#," of its line of flags; 0: there is none */
    bool begun;   /* a line that is no comment was read, which begins at ... */
    size_t keywords;
    bool fuzzy, unwrapped;
    ganz_po_arguments arguments;
    string id, plural, forms[MOST_FORMS];
    struct {
        const char *at;
        size_t bytes;
    } keyword[MOST_FORMS];
    int form_count;
    string *last; /* to which a line with a string alone belongs */
} entry;

typedef struct reader {
    ganz_skeleton *skeleton;
    const char *text;
    size_t bytes, done, line;
    entry e;
    string context; /* of the last entry that had one: not looked at */
    ganz_po_part *parts;
    size_t count, capacity, entries;
    bool begun; /* a first section */
} reader;

static ganz_status fail(const reader *r, const char *sentence, ganz_error *err)
{
    return ganz_fail(err, GANZ_EFORMAT, "line %zu: %s", r->line, sentence);
}

/* ---- arguments ---------------------------------------------------------------------------------- */

static size_t skip_digits(const char *text, size_t bytes, size_t at)
{
    while (at < bytes && text[at] >= '0' && text[at] <= '9') at++;
    return at;
}

static size_t skip_any(const char *text, size_t bytes, size_t at, const char *set)
{
    while (at < bytes && text[at] != '\0' && strchr(set, text[at])) at++;
    return at;
}

/* A width or precision, which may be an argument itself. */
static size_t skip_size(const char *text, size_t bytes, size_t at, int *taken)
{
    if (at < bytes && text[at] == '*') {
        ++*taken;
        return at + 1;
    }
    return skip_digits(text, bytes, at);
}

/* "%(name)s" of Python, "%<PRIu64>" of gettext. */
static size_t skip_name(const char *text, size_t bytes, size_t at, char open, char close)
{
    if (at >= bytes || text[at] != open) return at;
    const char *const end = memchr(text + at, close, bytes - at);
    return end ? (size_t)(end - text) + 1 : at;
}

size_t ganz_po_argument(const char *text, size_t bytes, ganz_po_arguments kind, bool *numbered, int *taken)
{
    size_t at = skip_digits(text, bytes, 1);
    *numbered = at > 1 && at < bytes && text[at] == '$';
    *taken = 0;
    at = *numbered ? at + 1 : 1;
    if (kind == GANZ_PO_ORDERED) {
        const size_t named = skip_name(text, bytes, at, '(', ')');
        *numbered |= named > at;
        at = named;
    }
    at = skip_any(text, bytes, at, "-+ #0'I");
    at = skip_size(text, bytes, at, taken);
    if (at < bytes && text[at] == '.') at = skip_size(text, bytes, at + 1, taken);
    const size_t macro = kind == GANZ_PO_NUMBERED ? skip_name(text, bytes, at, '<', '>') : at;
    if (macro > at) return ++*taken, macro;
    at = skip_any(text, bytes, at, "hlqjztLw");
    if (at >= bytes || !strchr("diouxXeEfFgGaAcCsSpnmr", text[at])) return 0;
    *taken += text[at] != 'm';
    return at + 1;
}

/* ---- strings ------------------------------------------------------------------------------------ */

/* Contents of the next line of a string; *at moves behind the line. */
static bool next_line(const reader *r, size_t *at, size_t end, size_t *from, size_t *to)
{
    if (*at >= end) return false;
    const char *const newline = memchr(r->text + *at, '\n', end - *at);
    const size_t stop = newline ? (size_t)(newline - r->text) : end;
    const char *const open = memchr(r->text + *at, '"', stop - *at);
    size_t close = stop;
    while (close > *at && r->text[close - 1] != '"') close--;
    *at = newline ? stop + 1 : end;
    *from = open ? (size_t)(open - r->text) + 1 : stop;
    *to = open && close > *from ? close - 1 : *from;
    return true;
}

static bool is_empty(const reader *r, const string *s)
{
    size_t from, to;
    for (size_t at = s->begin; next_line(r, &at, s->end, &from, &to);)
        if (to > from) return false;
    return true;
}

/* What is to be counted before a message is handed in. */
typedef struct arguments {
    int count;
    bool numbered, mixed; /* mixed: with sizes that are arguments: left alone */
} arguments;

static size_t argument_at(const reader *r, size_t at, size_t to, arguments *a)
{
    bool numbered;
    int taken;
    if (r->e.arguments == GANZ_PO_NONE || r->text[at] != '%') return 0;
    const size_t n = ganz_po_argument(r->text + at, to - at, r->e.arguments, &numbered, &taken);
    a->count += n > 0 && taken > 0;
    a->numbered |= n > 0 && numbered;
    a->mixed |= taken > 1;
    return n;
}

static arguments count_arguments(const reader *r, const string *s)
{
    arguments a = {0};
    size_t from, to;
    for (size_t at = s->begin; next_line(r, &at, s->end, &from, &to);) {
        while (from < to) {
            const size_t n = argument_at(r, from, to, &a);
            from += n > 0 ? n : r->text[from] == '%' && from + 1 < to && r->text[from + 1] == '%' ? 2 : 1;
        }
    }
    return a;
}

/* Raw bytes with the number of the argument before them. */
static const char *number_argument(ganz_skeleton *s, const char *raw, size_t *bytes, int number)
{
    char *const kept = ganz_skeleton_keep(s, *bytes + 4);
    if (!kept) return "";
    kept[0] = GANZ_PO_ARGUMENT;
    kept[1] = (char)('0' + number / 10);
    kept[2] = (char)('0' + number % 10);
    kept[3] = GANZ_PO_ARGUMENT_END;
    memcpy(kept + 4, raw, *bytes);
    *bytes += 4;
    return kept;
}

static void put_argument(const reader *r, size_t at, size_t bytes, const arguments *all, int number)
{
    const char *raw = r->text + at;
    size_t raw_bytes = bytes;
    if (all->count > 1 && !all->numbered) raw = number_argument(r->skeleton, raw, &raw_bytes, number);
    ganz_skeleton_opaque(r->skeleton, r->text + at, bytes, raw, raw_bytes);
}

/* A line break in a message, at [at, at + 2) of a line [from, to): the sentence goes on behind it if the text around it
 * looks so. */
static void put_newline(const reader *r, size_t at, size_t from, size_t to, size_t end)
{
    size_t next = at + 2, next_to = to;
    if (next >= to) { /* what follows stands in the next line */
        const char *const newline = memchr(r->text + to, '\n', end - to);
        size_t line = newline ? (size_t)(newline - r->text) + 1 : end;
        if (!next_line(r, &line, end, &next, &next_to)) next = next_to = to;
    }
    if (ganz_goes_on(r->text + from, at - from, r->text + next, next_to - next))
        ganz_skeleton_mark(r->skeleton, GANZ_MARK_BREAK, 0, r->text + at, 2);
    else ganz_skeleton_text(r->skeleton, "\n", 1, r->text + at, 2);
}

static size_t put_escape(const reader *r, size_t at, size_t from, size_t to, size_t end)
{
    static const struct {
        char letter;
        const char *meaning;
    } known[] = {{'"', "\""}, {'\\', "\\"}, {'t', "\t"}};
    if (at + 1 < to && r->text[at + 1] == 'n') return put_newline(r, at, from, to, end), 2;
    for (size_t i = 0; i < GANZ_COUNT(known) && at + 1 < to; i++)
        if (r->text[at + 1] == known[i].letter)
            return ganz_skeleton_text(r->skeleton, known[i].meaning, 1, r->text + at, 2), 2;
    const size_t n = at + 1 < to ? 2 : 1; /* digits that follow a number stay text: it is only ever copied */
    ganz_skeleton_mark(r->skeleton, GANZ_MARK_EMPTY, 0, r->text + at, n);
    return n;
}

static void put_string(const reader *r, const string *s, const arguments *all)
{
    arguments so_far = {0};
    size_t from, to;
    for (size_t line = s->begin; next_line(r, &line, s->end, &from, &to);) {
        for (size_t at = from; at < to;) {
            const char *const text = r->text + at;
            size_t n = argument_at(r, at, to, &so_far);
            if (n > 0) {
                put_argument(r, at, n, all, so_far.count);
            } else if (text[0] == '\\') {
                n = put_escape(r, at, from, to, s->end);
            } else if (r->e.arguments != GANZ_PO_NONE && text[0] == '%' && at + 1 < to && text[1] == '%') {
                ganz_skeleton_text(r->skeleton, "%", 1, text, n = 2);
            } else {
                for (n = 1; at + n < to && text[n] != '\\' && text[n] != '%'; n++) {
                }
                ganz_skeleton_text(r->skeleton, text, n, text, n);
            }
            at += n;
        }
    }
}

/* ---- entries ------------------------------------------------------------------------------------ */

static bool escape(ganz_text *out, const char *text, size_t bytes, bool percent)
{
    bool good = true;
    for (size_t i = 0; i < bytes && good; i++) {
        const char c = text[i];
        const char *const other = c == '"'              ? "\\\""
                                  : c == '\\'           ? "\\\\"
                                  : c == '\n'           ? "\\n"
                                  : c == '\t'           ? "\\t"
                                  : percent && c == '%' ? "%%"
                                                        : NULL;
        if (other) good = ganz_text_append(out, other, 2);
        else if ((unsigned char)c >= 0x20) good = ganz_text_append(out, &c, 1);
    }
    return good;
}

static bool escape_plain(ganz_text *out, const char *text, size_t bytes) { return escape(out, text, bytes, false); }
static bool escape_format(ganz_text *out, const char *text, size_t bytes) { return escape(out, text, bytes, true); }

static void add_part(reader *r, ganz_po_part part)
{
    if (!ganz_grow((void **)&r->parts, &r->capacity, r->count + 1, sizeof part)) {
        ganz_skeleton_fail(r->skeleton, GANZ_ENOMEM, "out of memory for a document");
        return;
    }
    part.entry = r->entries;
    r->parts[r->count++] = part;
    if (r->begun) ganz_skeleton_section(r->skeleton);
    r->begun = true;
}

static void copy_until(reader *r, size_t at)
{
    add_part(r, (ganz_po_part){.kind = GANZ_PO_COPY});
    if (at > r->done) ganz_skeleton_copy(r->skeleton, r->text + r->done, at - r->done);
    r->done = at;
}

static void put_message(reader *r, int form, const string *from, const arguments *all)
{
    const ganz_block_style style = {.breaks = GANZ_BREAK_LINES,
                                    .escape = r->e.arguments == GANZ_PO_NONE ? escape_plain : escape_format,
                                    .between = "\\n"};
    copy_until(r, (size_t)(r->e.keyword[form].at - r->text));
    add_part(r, (ganz_po_part){.kind = GANZ_PO_MESSAGE,
                               .keyword = r->e.keyword[form].at,
                               .keyword_bytes = r->e.keyword[form].bytes,
                               .arguments = r->e.arguments,
                               .unwrapped = r->e.unwrapped});
    ganz_skeleton_begin(r->skeleton, &style);
    put_string(r, from, all);
    ganz_skeleton_end(r->skeleton);
    r->done = r->e.forms[form].end;
}

static bool wants_translation(const reader *r)
{
    const entry *const e = &r->e;
    if (e->fuzzy || e->form_count == 0 || e->id.end == 0 || is_empty(r, &e->id)) return false;
    for (int i = 0; i < e->form_count; i++)
        if (!is_empty(r, &e->forms[i])) return false;
    return true;
}

/* The header's text names the set of characters that the file is in. */
static void check_header(const reader *r, const string *header)
{
    static const char *const good[] = {"utf-8",    "UTF-8", "utf8",  "UTF8",   "us-ascii",
                                       "US-ASCII", "ascii", "ASCII", "CHARSET"};
    static const char key[] = "charset=";
    const size_t n = sizeof key - 1;
    for (size_t at = header->begin; at + n <= header->end; at++) {
        if (memcmp(r->text + at, key, n) != 0) continue;
        for (size_t i = 0; i < GANZ_COUNT(good); i++)
            if (header->end - at - n >= strlen(good[i]) && memcmp(r->text + at + n, good[i], strlen(good[i])) == 0)
                return;
        ganz_skeleton_fail(r->skeleton, GANZ_EFORMAT,
                           "only UTF-8 is read: \"msgconv --to-code=UTF-8\" makes it of this file");
        return;
    }
}

static void end_entry(reader *r)
{
    entry *const e = &r->e;
    if (e->id.end > 0 && is_empty(r, &e->id) && e->form_count > 0) check_header(r, &e->forms[0]);
    const arguments one = count_arguments(r, &e->id), many = count_arguments(r, &e->plural);
    if (wants_translation(r) && !one.mixed && !many.mixed && one.count < 100 && many.count < 100) {
        const bool flagged = e->flags > 0;
        copy_until(r, flagged ? e->flags : e->keywords);
        add_part(r, (ganz_po_part){.kind = GANZ_PO_FLAG, .flagged = flagged});
        for (int i = 0; i < e->form_count; i++) {
            const bool single = e->plural.end == 0 || (i == 0 && e->form_count > 1);
            put_message(r, i, single ? &e->id : &e->plural, single ? &one : &many);
        }
        r->entries++;
    }
    *e = (entry){0};
}

/* ---- lines -------------------------------------------------------------------------------------- */

static bool has_word(const char *text, size_t bytes, const char *word)
{
    const size_t n = strlen(word);
    for (size_t at = 0; at + n <= bytes; at++) {
        const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == ',' || text[at - 1] == '\t';
        const bool ends = at + n == bytes || strchr(" ,\t\r", text[at + n]);
        if (begins && ends && memcmp(text + at, word, n) == 0) return true;
    }
    return false;
}

static void read_flags(entry *e, const char *text, size_t begin, size_t end)
{
    const char *const flags = text + begin;
    const size_t n = end - begin;
    if (e->flags == 0) e->flags = begin;
    e->fuzzy |= has_word(flags, n, "fuzzy");
    e->unwrapped |= has_word(flags, n, "no-wrap");
    if (has_word(flags, n, "c-format") || has_word(flags, n, "objc-format") || has_word(flags, n, "php-format"))
        e->arguments = GANZ_PO_NUMBERED;
    if (has_word(flags, n, "python-format") || has_word(flags, n, "perl-format")) e->arguments = GANZ_PO_ORDERED;
}

static void read_comment(reader *r, size_t begin, size_t end)
{
    const char kind = end - begin >= 2 ? r->text[begin + 1] : ' ';
    if (r->e.form_count > 0 || kind == '~')
        end_entry(r); /* flags before "#~" were those of an entry that is obsolete */
    if (kind == ',') read_flags(&r->e, r->text, begin + 2, end);
    r->e.last = NULL;
}

/* From the first quote of a line to its last, which must end it. */
static ganz_status check_string(const reader *r, size_t begin, size_t end, ganz_error *err)
{
    size_t at = begin + 1;
    while (at < end && r->text[at] != '"') at += r->text[at] == '\\' ? 2 : 1;
    if (at >= end) return fail(r, "a string has no end", err);
    for (at++; at < end; at++)
        if (!memchr(" \t\r", r->text[at], 3)) return fail(r, "something follows the end of a string", err);
    return GANZ_OK;
}

/* Where the string of a keyword goes; NULL: it is not kept. */
static string *place_of(reader *r, const char *word, size_t n)
{
    entry *const e = &r->e;
    if (n == 5 && memcmp(word, "msgid", n) == 0) return &e->id;
    if (n == 12 && memcmp(word, "msgid_plural", n) == 0) return &e->plural;
    if (n >= 6 && memcmp(word, "msgstr", 6) == 0 && (n == 6 || word[6] == '[') && e->form_count < MOST_FORMS) {
        e->keyword[e->form_count].at = word;
        e->keyword[e->form_count].bytes = n;
        return &e->forms[e->form_count++];
    }
    return n == 7 && memcmp(word, "msgctxt", n) == 0 ? &r->context : NULL;
}

static ganz_status read_keyword(reader *r, size_t begin, size_t end, ganz_error *err)
{
    size_t n = 0;
    while (begin + n < end && !memchr(" \t\"\r", r->text[begin + n], 4)) n++;
    const char *const word = r->text + begin;
    const bool starts = (n == 5 && memcmp(word, "msgid", n) == 0) || (n == 7 && memcmp(word, "msgctxt", n) == 0);
    if (starts && r->e.form_count > 0) end_entry(r);
    if (!r->e.begun) r->e.keywords = begin;
    r->e.begun = true;
    string *const s = place_of(r, word, n);
    const char *const quote = memchr(r->text + begin, '"', end - begin);
    if (!s || !quote) return fail(r, "no line of a PO file: neither a comment nor msgid, msgstr or a string", err);
    if (s->end > 0 && s != &r->context) return fail(r, "the second of its kind in an entry", err);
    s->begin = (size_t)(quote - r->text);
    s->end = end;
    r->e.last = s;
    return check_string(r, s->begin, end, err);
}

static ganz_status read_line(reader *r, size_t begin, size_t end, ganz_error *err)
{
    while (begin < end && memchr(" \t\r", r->text[begin], 3)) begin++;
    if (begin == end) return GANZ_OK;
    if (r->text[begin] == '#') return read_comment(r, begin, end), GANZ_OK;
    if (r->text[begin] != '"') return read_keyword(r, begin, end, err);
    if (!r->e.last) return fail(r, "a string without a keyword before it", err);
    r->e.last->end = end;
    return check_string(r, begin, end, err);
}

static ganz_status read_lines(reader *r, ganz_error *err)
{
    size_t at = r->bytes >= 3 && memcmp(r->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < r->bytes) {
        const char *const newline = memchr(r->text + at, '\n', r->bytes - at);
        const size_t stop = newline ? (size_t)(newline - r->text) : r->bytes;
        r->line++;
        GANZ_TRY(read_line(r, at, stop > at && r->text[stop - 1] == '\r' ? stop - 1 : stop, err));
        at = newline ? stop + 1 : r->bytes;
    }
    if (r->e.form_count == 0 && r->e.begun) return fail(r, "the file ends inside an entry", err);
    end_entry(r);
    copy_until(r, r->bytes);
    return ganz_skeleton_status(r->skeleton, err);
}

static ganz_status keep_state(const reader *r, ganz_error *err)
{
    ganz_po_state *const state = ganz_skeleton_keep(r->skeleton, sizeof *state);
    ganz_po_part *const parts = ganz_skeleton_keep(r->skeleton, r->count * sizeof *parts);
    if (!state || !parts) return ganz_skeleton_status(r->skeleton, err);
    memcpy(parts, r->parts, r->count * sizeof *parts);
    const char *const newline = r->bytes > 0 ? memchr(r->text, '\n', r->bytes) : NULL;
    *state = (ganz_po_state){.parts = parts, .count = r->count, .entries = r->entries};
    state->newline = newline && newline > r->text && newline[-1] == '\r' ? "\r\n" : "\n";
    ganz_skeleton_set_state(r->skeleton, state);
    return GANZ_OK;
}

static ganz_status read_po(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                           ganz_error *err)
{
    (void)options;
    reader r = {.skeleton = s, .text = bytes, .bytes = count};
    ganz_status status = read_lines(&r, err);
    if (status == GANZ_OK) status = keep_state(&r, err);
    ganz_free(r.parts);
    return status;
}

/* A header entry comes first, after comments. */
static bool is_po(const char *bytes, size_t count)
{
    static const char id[] = "msgid \"\"", text[] = "msgstr \"\"";
    size_t at = 0;
    while (at < count && (bytes[at] == '#' || bytes[at] == '\n' || bytes[at] == '\r')) {
        const char *const newline = memchr(bytes + at, '\n', count - at);
        if (!newline) return false;
        at = (size_t)(newline - bytes) + 1;
    }
    if (count - at < sizeof id + sizeof text || memcmp(bytes + at, id, sizeof id - 1) != 0) return false;
    at += sizeof id - 1;
    if (bytes[at] == '\r') at++;
    return memcmp(bytes + at + 1, text, sizeof text - 1) == 0;
}

const ganz_format ganz_format_po = {.name = "po",
                                    .suffixes = "po pot",
                                    .holds_both = true,
                                    .recognise = is_po,
                                    .read = read_po,
                                    .finish = ganz_po_finish};
