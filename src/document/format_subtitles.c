/* Subtitles, SRT and WebVTT: numbers and times are copied, the lines of a cue joined, and cues that share a sentence made
 * one block, with a break where the next cue begins. */
#include <string.h>

#include "base/utf8.h"
#include "document/format.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

enum {
    COLUMNS = 42, /* of a line, and lines of a cue: what broadcasters ask for */
    ROWS = 2,
    MOST_JOINED = 8,       /* cues of one block */
    MOST_BYTES = 600,      /* with the lines between them */
    MOST_PAUSE = 3000,     /* milliseconds between cues that share a sentence */
    MOST_TAG = 256
};

typedef struct line {
    size_t begin, end, next; /* text [begin, end), then its newline */
} line;

typedef struct cue {
    size_t begin, end; /* text: from its first line's first byte to its last line's last */
    long long from, to; /* milliseconds */
} cue;

typedef struct reader {
    ganz_skeleton *skeleton;
    const char *text;
    size_t bytes, done; /* copied or handed to the skeleton */
    bool vtt;
    ganz_block_style style, spoken; /* of cues, and of what one of several speakers says in one */
    size_t cues;
} reader;

/* ---- lines -------------------------------------------------------------------------------------- */

static line line_at(const reader *r, size_t begin)
{
    const char *const newline = memchr(r->text + begin, '\n', r->bytes - begin);
    line l = {.begin = begin, .end = newline ? (size_t)(newline - r->text) : r->bytes};
    l.next = newline ? l.end + 1 : r->bytes;
    if (l.end > l.begin && r->text[l.end - 1] == '\r') l.end--;
    return l;
}

static bool is_blank(const reader *r, const line *l)
{
    for (size_t i = l->begin; i < l->end; i++)
        if (r->text[i] != ' ' && r->text[i] != '\t') return false;
    return true;
}

/* Digits and their separators: "00:01:02,345" or "01:02.345". Bytes of it, or 0. */
static size_t read_time(const char *text, size_t bytes, long long *milliseconds)
{
    long long whole = 0, part = 0;
    size_t at = 0;
    for (int field = 0; field < 4; field++) {
        const size_t begin = at;
        for (part = 0; at < bytes && text[at] >= '0' && text[at] <= '9' && at - begin < 9; at++) part = part * 10 + (text[at] - '0');
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

static bool is_time_line(const reader *r, const line *l, cue *c)
{
    size_t at = l->begin;
    while (at < l->end && r->text[at] == ' ') at++;
    const size_t first = read_time(r->text + at, l->end - at, &c->from);
    if (first == 0) return false;
    for (at += first; at < l->end && r->text[at] == ' '; at++) {}
    if (l->end - at < 3 || memcmp(r->text + at, "-->", 3) != 0) return false;
    for (at += 3; at < l->end && r->text[at] == ' '; at++) {}
    return read_time(r->text + at, l->end - at, &c->to) > 0;
}

static bool is_number(const reader *r, const line *l)
{
    for (size_t i = l->begin; i < l->end; i++)
        if (!memchr("0123456789 \t", r->text[i], 12)) return false;
    return true;
}

/* A line that names the cue below it: a number or, in WebVTT, anything. */
static bool is_name(const reader *r, const line *l)
{
    cue c;
    if (l->next >= r->bytes || (!r->vtt && !is_number(r, l))) return false;
    const line next = line_at(r, l->next);
    return is_time_line(r, &next, &c);
}

/* The next cue with text at or after `at`, which moves behind it; false: there is none. */
static bool next_cue(const reader *r, size_t *at, cue *c)
{
    bool timed = false;
    c->begin = c->end = 0;
    while (*at < r->bytes) {
        const line l = line_at(r, *at);
        cue other;
        if (is_time_line(r, &l, &other)) {
            if (c->end > 0) return true;
            c->from = other.from;
            c->to = other.to;
            timed = true;
        } else if (is_blank(r, &l) || is_name(r, &l)) {
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

/* ---- what a cue looks like ---------------------------------------------------------------------- */

/* Bytes of a tag or of an override in braces at text[0]; 0: it is text. */
static size_t tag_bytes(const reader *r, const char *text, size_t bytes)
{
    static const char *const known[] = {"i", "b", "u", "s", "font", "c", "v", "lang", "ruby", "rt"};
    if (bytes > MOST_TAG) bytes = MOST_TAG;
    const bool braces = bytes > 3 && text[0] == '{' && text[1] == '\\';
    if (!braces && (bytes < 3 || text[0] != '<')) return 0;
    const char *const end = memchr(text, braces ? '}' : '>', bytes);
    if (!end || memchr(text, '\n', (size_t)(end - text))) return 0;
    if (braces || r->vtt) return (size_t)(end - text) + 1;
    const char *const name = text + (text[1] == '/' ? 2 : 1);
    size_t n = 0;
    while (name + n < end && !memchr(" ./\t", name[n], 4)) n++;
    for (size_t i = 0; i < GANZ_COUNT(known); i++)
        if (strlen(known[i]) == n && memcmp(name, known[i], n) == 0) return (size_t)(end - text) + 1;
    return 0;
}

/* Sentences end with these, and so do effects and songs. */
static bool is_stop(int32_t c)
{
    static const int32_t stops[] = {'.', '!', '?', ':', ';', ')', ']', '"', '#', '*', '-', 0x2026, 0x266A, 0x266B, 0x201D, 0xBB, 0x2014, 0x2013};
    for (size_t i = 0; i < GANZ_COUNT(stops); i++)
        if (c == stops[i]) return true;
    return false;
}

typedef struct look {
    int32_t first, last; /* visible characters; 0: there is none */
    bool small;          /* has small letters: no shouting, no sign */
    int open;            /* tags that are not closed */
} look;

static look look_at(const reader *r, const cue *c)
{
    look k = {0};
    for (size_t at = c->begin; at < c->end;) {
        const size_t tag = tag_bytes(r, r->text + at, c->end - at);
        int32_t code;
        if (tag > 0) {
            if (r->text[at] == '<') k.open += r->text[at + 1] == '/' ? -1 : 1;
            if (k.open < 0) k.open = 1 << 20; /* stays open */
            at += tag;
            continue;
        }
        int step = ganz_utf8_decode(r->text + at, c->end - at, &code);
        if (step == 0) step = 1, code = 0xFFFD;
        at += (size_t)step;
        if (ganz_is_space(code)) continue;
        if (k.first == 0) k.first = code;
        k.last = code;
        k.small |= (code >= 'a' && code <= 'z') || (code >= 0xDF && code <= 0xFF);
    }
    return k;
}

/* True if a sentence of cue a goes on in cue b. */
static bool shares_sentence(const reader *r, const cue *a, const cue *b)
{
    const look x = look_at(r, a), y = look_at(r, b);
    if (x.last == 0 || y.first == 0 || is_stop(x.last) || x.open != 0 || y.open != 0) return false;
    if (b->from - a->to > MOST_PAUSE || b->from < a->from) return false;
    const bool word = ganz_is_alnum(y.first) || y.first == '\'' || y.first == 0x2019;
    return word && x.small && y.small;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

static int tag_name(const char *text, size_t bytes)
{
    uint32_t hash = 2166136261u;
    for (size_t i = text[1] == '/' ? 2 : 1; i < bytes && !memchr(" .>/\t", text[i], 5); i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return (int)(hash >> 1);
}

static void put_tag(const reader *r, const char *raw, size_t bytes)
{
    const bool plain = raw[0] == '{' || (raw[1] >= '0' && raw[1] <= '9'); /* an override, or a time inside of the cue */
    const ganz_mark_kind kind = plain ? GANZ_MARK_EMPTY : raw[1] == '/' ? GANZ_MARK_CLOSE : GANZ_MARK_OPEN;
    ganz_skeleton_mark(r->skeleton, kind, plain ? 0 : tag_name(raw, bytes), raw, bytes);
}

/* References of WebVTT: bytes of the one at text[0] == '&', and what it stands for; 0: it is none. */
static size_t reference(const reader *r, const char *text, size_t bytes, const char **meaning)
{
    static const struct {
        const char *name, *meaning;
    } known[] = {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", "\xC2\xA0"}, {"&lrm;", "\xE2\x80\x8E"}, {"&rlm;", "\xE2\x80\x8F"}};
    for (size_t i = 0; r->vtt && i < GANZ_COUNT(known); i++) {
        const size_t n = strlen(known[i].name);
        if (bytes < n || memcmp(text, known[i].name, n) != 0) continue;
        *meaning = known[i].meaning;
        return n;
    }
    return 0;
}

static size_t newline_bytes(const char *text, size_t bytes)
{
    return text[0] == '\n' ? 1 : text[0] == '\r' && bytes > 1 && text[1] == '\n' ? 2 : 0;
}

/* Text of a cue, or of a speaker's lines of it. */
static void put_text(const reader *r, size_t begin, size_t end)
{
    while (begin < end) {
        const char *const text = r->text + begin, *meaning;
        const size_t left = end - begin;
        size_t n = tag_bytes(r, text, left);
        if (n > 0) {
            put_tag(r, text, n);
        } else if (text[0] == '&' && (n = reference(r, text, left, &meaning)) > 0) {
            ganz_skeleton_text(r->skeleton, meaning, strlen(meaning), text, n);
        } else if ((n = newline_bytes(text, left)) > 0) {
            ganz_skeleton_text(r->skeleton, " ", 1, text, n);
        } else {
            for (n = 1; n < left && !memchr("<{&\r\n", text[n], 5); n++) {}
            ganz_skeleton_text(r->skeleton, text, n, text, n);
        }
        begin += n;
    }
}

static void copy_until(reader *r, size_t at)
{
    if (at > r->done) ganz_skeleton_copy(r->skeleton, r->text + r->done, at - r->done);
    r->done = at;
}

/* "- " begins what another speaker says. */
static bool begins_speech(const reader *r, const cue *c, size_t at)
{
    while (at < c->end) {
        const size_t tag = tag_bytes(r, r->text + at, c->end - at);
        if (tag == 0) break;
        at += tag;
    }
    int32_t code;
    return at < c->end && ganz_utf8_decode(r->text + at, c->end - at, &code) > 0 && (code == '-' || code == 0x2013 || code == 0x2014 || code == 0x2010);
}

static void put_block(reader *r, const ganz_block_style *style, size_t begin, size_t end)
{
    copy_until(r, begin);
    ganz_skeleton_begin(r->skeleton, style);
    put_text(r, begin, end);
    ganz_skeleton_end(r->skeleton);
    r->done = end;
}

/* Several speakers in one cue: a block for each. */
static bool put_speeches(reader *r, const cue *c)
{
    size_t begin = c->begin, end = c->begin;
    bool several = false;
    for (size_t at = c->begin; at < c->end;) {
        const line l = line_at(r, at);
        if (at > c->begin && begins_speech(r, c, at)) {
            put_block(r, &r->spoken, begin, end);
            begin = at;
            several = true;
        }
        end = l.end < c->end ? l.end : c->end;
        at = l.next;
    }
    if (several) put_block(r, &r->spoken, begin, c->end);
    return several;
}

/* Puts a cue and those that go on with its sentence; *at moves behind them. */
static void put_cues(reader *r, cue c, size_t *at)
{
    if (put_speeches(r, &c)) return;
    copy_until(r, c.begin);
    ganz_skeleton_begin(r->skeleton, &r->style);
    const size_t first = c.begin;
    for (int joined = 1;; joined++) {
        put_text(r, c.begin, c.end);
        r->done = c.end;
        cue next;
        size_t after = *at;
        if (joined == MOST_JOINED || !next_cue(r, &after, &next) || !shares_sentence(r, &c, &next)) break;
        if (next.end - first > MOST_BYTES) break;
        ganz_skeleton_mark(r->skeleton, GANZ_MARK_BREAK, 0, r->text + c.end, next.begin - c.end);
        c = next;
        *at = after;
    }
    ganz_skeleton_end(r->skeleton);
}

/* ---- files -------------------------------------------------------------------------------------- */

static bool escape_vtt(ganz_text *out, const char *text, size_t bytes)
{
    bool good = true;
    for (size_t i = 0; i < bytes && good; i++) {
        const char c = text[i];
        const char *const other = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : NULL;
        good = other ? ganz_text_append(out, other, strlen(other)) : ganz_text_append(out, text + i, 1);
    }
    return good;
}

static size_t mark_bytes(const char *bytes, size_t count) { return count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; }

/* WebVTT has comments and styles between cues, up to a blank line; they are told by their first line. */
static bool is_remark(const reader *r, const line *l)
{
    static const char *const words[] = {"NOTE", "STYLE", "REGION", "WEBVTT"};
    for (size_t i = 0; r->vtt && i < GANZ_COUNT(words); i++) {
        const size_t n = strlen(words[i]);
        if (l->end - l->begin >= n && memcmp(r->text + l->begin, words[i], n) == 0) return true;
    }
    return false;
}

static size_t skip_remark(const reader *r, size_t at)
{
    line l = line_at(r, at);
    if (!is_remark(r, &l)) return at;
    while (l.next < r->bytes && !is_blank(r, &l)) l = line_at(r, l.next);
    return l.next;
}

static ganz_status read_cues(reader *r, ganz_error *err)
{
    cue c;
    size_t at = mark_bytes(r->text, r->bytes);
    for (;;) {
        while (at < r->bytes && skip_remark(r, at) > at) at = skip_remark(r, at);
        if (!next_cue(r, &at, &c)) break;
        r->cues++;
        put_cues(r, c, &at);
    }
    copy_until(r, r->bytes);
    if (r->cues == 0 && r->bytes > 0 && !r->vtt)
        return ganz_fail(err, GANZ_EFORMAT, "no cue of a subtitle: no line like \"00:00:01,000 --> 00:00:02,500\" with text below it");
    return ganz_skeleton_status(r->skeleton, err);
}

static ganz_status read_subtitles(ganz_skeleton *s, const char *bytes, size_t count, bool vtt, ganz_error *err)
{
    const char *const newline = count > 0 ? memchr(bytes, '\n', count) : NULL;
    reader r = {.skeleton = s, .text = bytes, .bytes = count, .vtt = vtt};
    r.style = (ganz_block_style){.breaks = GANZ_BREAK_SENTENCES, .escape = vtt ? escape_vtt : NULL, .columns = COLUMNS, .rows = ROWS};
    r.style.newline = newline && newline > bytes && newline[-1] == '\r' ? "\r\n" : "\n";
    r.spoken = r.style;
    r.spoken.columns = r.spoken.rows = 0;
    return read_cues(&r, err);
}

static ganz_status read_srt(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options, ganz_error *err)
{
    (void)options;
    return read_subtitles(s, bytes, count, false, err);
}

static ganz_status read_vtt(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options, ganz_error *err)
{
    (void)options;
    const size_t mark = mark_bytes(bytes, count);
    if (count - mark < 6 || memcmp(bytes + mark, "WEBVTT", 6) != 0)
        return ganz_fail(err, GANZ_EFORMAT, "this is no WebVTT file: it does not begin with WEBVTT");
    return read_subtitles(s, bytes, count, true, err);
}

static bool is_srt(const char *bytes, size_t count)
{
    const reader r = {.text = bytes, .bytes = count};
    const size_t begin = mark_bytes(bytes, count);
    if (begin == count) return false;
    const line l = line_at(&r, begin);
    return l.end > l.begin && is_name(&r, &l);
}

static bool is_vtt(const char *bytes, size_t count)
{
    const size_t mark = mark_bytes(bytes, count);
    return count - mark > 6 && memcmp(bytes + mark, "WEBVTT", 6) == 0 && memchr(" \t\r\n", bytes[mark + 6], 4);
}

const ganz_format ganz_format_srt = {.name = "srt", .suffixes = "srt", .recognise = is_srt, .read = read_srt};
const ganz_format ganz_format_vtt = {.name = "vtt", .suffixes = "vtt", .recognise = is_vtt, .read = read_vtt};
