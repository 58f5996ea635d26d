/* Cues of subtitle files: where their text is, and the lines that a changed text is wrapped into. */
#include "document/subtitles.h"

#include <string.h>

#include "base/utf8.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

enum { MOST_TAG = 256 };

/* ---- lines -------------------------------------------------------------------------------------- */

ganz_subtitle_line ganz_subtitle_line_at(const ganz_subtitles *in, size_t begin)
{
    const char *const newline = memchr(in->text + begin, '\n', in->bytes - begin);
    ganz_subtitle_line l = {.begin = begin, .end = newline ? (size_t)(newline - in->text) : in->bytes};
    l.next = newline ? l.end + 1 : in->bytes;
    if (l.end > l.begin && in->text[l.end - 1] == '\r') l.end--;
    return l;
}

bool ganz_subtitle_is_blank(const ganz_subtitles *in, const ganz_subtitle_line *l)
{
    for (size_t i = l->begin; i < l->end; i++)
        if (in->text[i] != ' ' && in->text[i] != '\t') return false;
    return true;
}

/* Digits and their separators: "00:01:02,345" or "01:02.345". Bytes of it, or 0. */
static size_t read_time(const char *text, size_t bytes, long long *milliseconds)
{
    long long whole = 0, part = 0;
    size_t at = 0;
    for (int field = 0; field < 4; field++) {
        const size_t begin = at;
        for (part = 0; at < bytes && text[at] >= '0' && text[at] <= '9' && at - begin < 9; at++)
            part = part * 10 + (text[at] - '0');
        if (at == begin || at >= bytes) return 0;
        whole = whole * 60 + part;
        if (text[at] == ':') {
            at++;
            continue;
        }
        if (field == 0 || (text[at] != ',' && text[at] != '.') || at + 4 > bytes) return 0;
        *milliseconds = whole * 1000 + (text[at + 1] - '0') * 100 + (text[at + 2] - '0') * 10 + (text[at + 3] - '0');
        return at + 4;
    }
    return 0;
}

static bool is_time_line(const ganz_subtitles *in, const ganz_subtitle_line *l, ganz_cue *c)
{
    size_t at = l->begin;
    while (at < l->end && in->text[at] == ' ') at++;
    const size_t first = read_time(in->text + at, l->end - at, &c->from);
    if (first == 0) return false;
    for (at += first; at < l->end && in->text[at] == ' '; at++) {
    }
    if (l->end - at < 3 || memcmp(in->text + at, "-->", 3) != 0) return false;
    for (at += 3; at < l->end && in->text[at] == ' '; at++) {
    }
    return read_time(in->text + at, l->end - at, &c->to) > 0;
}

static bool is_number(const ganz_subtitles *in, const ganz_subtitle_line *l)
{
    for (size_t i = l->begin; i < l->end; i++)
        if (!memchr("0123456789 \t", in->text[i], 12)) return false;
    return true;
}

/* A line that names the cue below it: a number or, in WebVTT, anything. */
bool ganz_subtitle_is_name(const ganz_subtitles *in, const ganz_subtitle_line *l)
{
    if (l->next >= in->bytes || (!in->vtt && !is_number(in, l))) return false;
    const ganz_subtitle_line next = ganz_subtitle_line_at(in, l->next);
    return ganz_subtitle_has_arrow(in, &next);
}

/* Times that are not written well are times nevertheless: such a line is never text. */
bool ganz_subtitle_has_arrow(const ganz_subtitles *in, const ganz_subtitle_line *l)
{
    for (size_t i = l->begin; i + 3 <= l->end; i++)
        if (memcmp(in->text + i, "-->", 3) == 0) return true;
    return false;
}

/* The next cue with text at or after `at`, which moves behind it; false: there is none. */
bool ganz_next_cue(const ganz_subtitles *in, size_t *at, ganz_cue *c)
{
    bool timed = false;
    c->begin = c->end = 0;
    while (*at < in->bytes) {
        const ganz_subtitle_line l = ganz_subtitle_line_at(in, *at);
        ganz_cue other;
        if (ganz_subtitle_has_arrow(in, &l)) {
            if (!is_time_line(in, &l, &other)) other.from = other.to = 0;
            if (c->end > 0) return true;
            c->number++;
            c->from = other.from;
            c->to = other.to;
            timed = true;
        } else if (ganz_subtitle_is_blank(in, &l) || ganz_subtitle_is_name(in, &l)) {
            if (c->end > 0) return true;
            timed = false;
        } else if (timed) {
            if (c->end == 0) c->begin = l.begin;
            c->end = l.end;
        }
        *at = l.next;
    }
    return c->end > 0;
}

/* Bytes of a tag or of an override in braces at text[0]; 0: it is text. */
size_t ganz_subtitle_tag(const ganz_subtitles *in, const char *text, size_t bytes)
{
    static const char *const known[] = {"i", "b", "u", "s", "font", "c", "v", "lang", "ruby", "rt"};
    if (bytes > MOST_TAG) bytes = MOST_TAG;
    const bool braces = bytes > 3 && text[0] == '{' && text[1] == '\\';
    if (!braces && (bytes < 3 || text[0] != '<')) return 0;
    const char *const end = memchr(text, braces ? '}' : '>', bytes);
    if (!end || memchr(text, '\n', (size_t)(end - text))) return 0;
    if (braces || in->vtt) return (size_t)(end - text) + 1;
    const char *const name = text + (text[1] == '/' ? 2 : 1);
    size_t n = 0;
    while (name + n < end && !memchr(" ./\t", name[n], 4)) n++;
    for (size_t i = 0; i < GANZ_COUNT(known); i++)
        if (strlen(known[i]) == n && memcmp(name, known[i], n) == 0) return (size_t)(end - text) + 1;
    return 0;
}

/* "JOHN: ", and what is heard: "[door slams]". */
static bool begins_part(const char *text, size_t bytes)
{
    enum { LONGEST_NAME = 24 };
    size_t letters = 0, at = 0;
    if (bytes > 0 && text[0] == '[') return true;
    while (at < bytes && at < LONGEST_NAME) {
        int32_t code;
        const int n = ganz_utf8_decode(text + at, bytes - at, &code);
        if (n <= 0 || !(ganz_is_upper(code) || memchr(" .'-0123456789", text[at], 14))) break;
        letters += ganz_is_upper(code);
        at += (size_t)n;
    }
    return letters > 1 && bytes - at > 1 && text[at] == ':' && text[at + 1] == ' ';
}

/* True behind a line that has brackets around it, which is no part of what is said. */
static bool is_behind_bracket(const ganz_subtitles *in, size_t begin, size_t at)
{
    while (at > begin && memchr(" \r\n", in->text[at - 1], 3)) at--;
    if (at == begin || in->text[at - 1] != ']') return false;
    while (at > begin && in->text[at - 1] != '\n' && in->text[at - 1] != '[') at--;
    while (at > begin && memchr("[ -", in->text[at - 1], 3)) at--;
    return at == begin || in->text[at - 1] == '\n';
}

/* "- " begins what another speaker says. */
bool ganz_begins_speech(const ganz_subtitles *in, const ganz_cue *c, size_t at)
{
    if (is_behind_bracket(in, c->begin, at)) return true;
    while (at < c->end) {
        const size_t tag = ganz_subtitle_tag(in, in->text + at, c->end - at);
        if (tag == 0) break;
        at += tag;
    }
    int32_t code;
    if (begins_part(in->text + at, c->end - at)) return true;
    return at < c->end && ganz_utf8_decode(in->text + at, c->end - at, &code) > 0 &&
           (code == '-' || code == 0x2013 || code == 0x2014 || code == 0x2010);
}

/* ---- wrapping ----------------------------------------------------------------------------------- */

enum { COLUMNS = 42 }; /* of a line; a cue has two: what broadcasters ask for */

typedef struct wrapper {
    const ganz_subtitle_state *state;
    ganz_subtitles in; /* as written so far */
    ganz_text *out;
    bool good;
} wrapper;

static void add(wrapper *w, const char *text, size_t bytes)
{
    w->good = w->good && ganz_text_append(w->out, text, bytes);
}

/* Bytes that are white space at `at`; 0: none. */
static size_t space_bytes(const wrapper *w, size_t at, size_t end)
{
    size_t n = 0;
    while (at + n < end && strchr(" \t\r\n", w->in.text[at + n]) && w->in.text[at + n] != '\0') n++;
    return n;
}

/* Bytes of a tag or of one character, and how many characters are seen of it. */
static size_t unit_bytes(const wrapper *w, size_t at, size_t end, size_t *seen)
{
    const size_t tag = ganz_subtitle_tag(&w->in, w->in.text + at, end - at);
    int32_t code;
    *seen = tag == 0;
    if (tag > 0) return tag;
    const int n = ganz_utf8_decode(w->in.text + at, end - at, &code);
    return n > 0 ? (size_t)n : 1;
}

/* Characters of a text when its white space is single spaces. */
static size_t columns_of(const wrapper *w, size_t at, size_t end)
{
    size_t columns = 0, seen;
    while (at < end) {
        const size_t space = space_bytes(w, at, end);
        at += space > 0 ? space : unit_bytes(w, at, end, &seen);
        columns += space > 0 ? 1 : seen;
    }
    return columns;
}

static bool is_pause(char c) { return c == ',' || c == '.' || c == '!' || c == '?' || c == ':' || c == ';'; }

/* Where the first of two lines ends: at the space that leaves the lines as even as can be, rather behind a comma. */
static size_t best_cut(const wrapper *w, size_t begin, size_t end, size_t total)
{
    size_t best = end, least = SIZE_MAX, columns = 0, seen;
    for (size_t at = begin; at < end;) {
        const size_t space = space_bytes(w, at, end);
        if (space > 0) {
            const size_t rest = total - columns - 1, longer = columns > rest ? columns : rest;
            const size_t cost = 4 * longer - (is_pause(w->in.text[at - 1]) && longer <= COLUMNS ? 24 : 0);
            if (at > begin && at + space < end && cost < least) least = cost, best = at;
        }
        const size_t n = space > 0 ? space : unit_bytes(w, at, end, &seen);
        columns += space > 0 ? 1 : seen;
        at += n;
    }
    return best;
}

/* A part of a text with single spaces, and no space at its ends. */
static void add_line(wrapper *w, size_t begin, size_t end)
{
    begin += space_bytes(w, begin, end);
    while (begin < end) {
        const size_t space = space_bytes(w, begin, end);
        size_t n = space;
        if (space == 0)
            while (begin + n < end && space_bytes(w, begin + n, begin + n + 1) == 0) n++;
        if (space == 0) add(w, w->in.text + begin, n);
        else if (begin + space < end) add(w, " ", 1);
        begin += n;
    }
}

static void wrap(wrapper *w, size_t begin, size_t end)
{
    const size_t total = columns_of(w, begin, end), cut = total > COLUMNS ? best_cut(w, begin, end, total) : end;
    add_line(w, begin, cut);
    if (cut == end) return;
    add(w, w->state->newline, strlen(w->state->newline));
    add_line(w, cut, end);
}

/* Speeches keep their lines, and so do the two languages of a bilingual file. */
static void wrap_cue(wrapper *w, const ganz_cue *c)
{
    size_t begin = c->begin;
    bool speech = false;
    for (size_t at = begin; at < c->end && !speech; at = ganz_subtitle_line_at(&w->in, at).next)
        speech = at > begin && ganz_begins_speech(&w->in, c, at);
    const bool bilingual = !memchr(w->state->in.text, GANZ_SUBTITLE_BETWEEN[0], w->state->in.bytes);
    for (size_t at = begin; bilingual && at < c->end; at++) {
        if (w->in.text[at] != GANZ_SUBTITLE_BETWEEN[0]) continue;
        add(w, w->in.text + begin, at - begin);
        add(w, w->state->newline, strlen(w->state->newline));
        begin = at + 1;
    }
    if (speech) add(w, w->in.text + begin, c->end - begin);
    else wrap(w, begin, c->end);
}

static bool is_same(const wrapper *w, const ganz_cue *now, const ganz_cue *before)
{
    const size_t n = now->end - now->begin;
    return n == before->end - before->begin &&
           memcmp(w->in.text + now->begin, w->state->in.text + before->begin, n) == 0;
}

static void write_cues(wrapper *w)
{
    ganz_cue now = {0}, before = {0};
    size_t at = 0, at_before = 0, done = 0;
    while (w->good && ganz_next_cue(&w->in, &at, &now)) {
        while (before.number < now.number && ganz_next_cue(&w->state->in, &at_before, &before)) {
        }
        if (before.number == now.number && is_same(w, &now, &before)) continue;
        add(w, w->in.text + done, now.begin - done);
        wrap_cue(w, &now);
        done = now.end;
    }
    add(w, w->in.text + done, w->in.bytes - done);
}

ganz_status ganz_subtitles_finish(void *state, const ganz_text *sections, size_t count, ganz_text *out, ganz_error *err)
{
    const ganz_subtitle_state *const s = state;
    GANZ_ASSERT_ALWAYS(count == 1);
    wrapper w = {.state = s,
                 .in = {.text = sections[0].text, .bytes = sections[0].bytes, .vtt = s->in.vtt},
                 .out = out,
                 .good = true};
    if (w.in.bytes > 0) write_cues(&w);
    return w.good ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
}
