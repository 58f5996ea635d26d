/* Subtitles, SRT and WebVTT: numbers and times are copied, the lines of a cue joined, and cues that share a sentence
 * made one block, with a break where the next cue begins. */
#include <string.h>

#include "base/utf8.h"
#include "document/format.h"
#include "document/subtitles.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

enum {
    MOST_JOINED = 8,  /* cues of one block */
    MOST_BYTES = 600, /* with the lines between them */
    MOST_PAUSE = 3000 /* milliseconds between cues that share a sentence */
};

typedef struct reader {
    ganz_skeleton *skeleton;
    ganz_subtitles in;
    size_t done; /* copied or handed to the skeleton */
    ganz_block_style style;
    bool joins; /* cues that share a sentence; not where each is followed by its translation */
    size_t cues;
} reader;

/* ---- what a cue looks like ---------------------------------------------------------------------- */

/* Sentences end with these, and so do effects and songs. */
static bool is_stop(int32_t c)
{
    static const int32_t stops[] = {'.', '!', '?',    ':',    ';',    ')',    ']',  '"',    '#',
                                    '*', '-', 0x2026, 0x266A, 0x266B, 0x201D, 0xBB, 0x2014, 0x2013};
    for (size_t i = 0; i < GANZ_COUNT(stops); i++)
        if (c == stops[i]) return true;
    return false;
}

typedef struct look {
    int32_t first, last; /* visible characters; 0: there is none */
    bool small;          /* has small letters: no shouting, no sign */
    int open;            /* tags that are not closed */
} look;

static look look_at(const reader *r, const ganz_cue *c)
{
    look k = {0};
    for (size_t at = c->begin; at < c->end;) {
        const size_t tag = ganz_subtitle_tag(&r->in, r->in.text + at, c->end - at);
        int32_t code;
        if (tag > 0) {
            if (r->in.text[at] == '<') k.open += r->in.text[at + 1] == '/' ? -1 : 1;
            if (k.open < 0) k.open = 1 << 20; /* stays open */
            at += tag;
            continue;
        }
        int step = ganz_utf8_decode(r->in.text + at, c->end - at, &code);
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
static bool shares_sentence(const reader *r, const ganz_cue *a, const ganz_cue *b)
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
    for (size_t i = text[1] == '/' ? 2 : 1; i < bytes && !memchr(" .>/\t", text[i], 5); i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
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
    } known[] = {
        {"&amp;", "&"},           {"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", "\xC2\xA0"}, {"&lrm;", "\xE2\x80\x8E"},
        {"&rlm;", "\xE2\x80\x8F"}};
    for (size_t i = 0; r->in.vtt && i < GANZ_COUNT(known); i++) {
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
        const char *const text = r->in.text + begin, *meaning;
        const size_t left = end - begin;
        size_t n = ganz_subtitle_tag(&r->in, text, left);
        if (n > 0) {
            put_tag(r, text, n);
        } else if (text[0] == '&' && (n = reference(r, text, left, &meaning)) > 0) {
            ganz_skeleton_text(r->skeleton, meaning, strlen(meaning), text, n);
        } else if ((n = newline_bytes(text, left)) > 0) {
            ganz_skeleton_text(r->skeleton, " ", 1, text, n);
        } else {
            for (n = 1; n < left && !memchr("<{&\r\n", text[n], 5); n++) {
            }
            ganz_skeleton_text(r->skeleton, text, n, text, n);
        }
        begin += n;
    }
}

static void copy_until(reader *r, size_t at)
{
    if (at > r->done) ganz_skeleton_copy(r->skeleton, r->in.text + r->done, at - r->done);
    r->done = at;
}

static void put_block(reader *r, size_t begin, size_t end)
{
    copy_until(r, begin);
    ganz_skeleton_begin(r->skeleton, &r->style);
    put_text(r, begin, end);
    ganz_skeleton_end(r->skeleton);
    r->done = end;
}

/* Several speakers in one cue: a block for each. */
static bool put_speeches(reader *r, const ganz_cue *c)
{
    size_t begin = c->begin, end = c->begin;
    bool several = false;
    for (size_t at = c->begin; at < c->end;) {
        const ganz_subtitle_line l = ganz_subtitle_line_at(&r->in, at);
        if (at > c->begin && ganz_begins_speech(&r->in, c, at)) {
            put_block(r, begin, end);
            begin = at;
            several = true;
        }
        end = l.end < c->end ? l.end : c->end;
        at = l.next;
    }
    if (several) put_block(r, begin, c->end);
    return several;
}

/* Puts a cue and those that go on with its sentence; *at moves behind them. */
static void put_cues(reader *r, ganz_cue c, size_t *at)
{
    if (put_speeches(r, &c)) return;
    copy_until(r, c.begin);
    ganz_skeleton_begin(r->skeleton, &r->style);
    const size_t first = c.begin;
    for (int joined = 1;; joined++) {
        put_text(r, c.begin, c.end);
        r->done = c.end;
        ganz_cue next;
        size_t after = *at;
        if (!r->joins || joined == MOST_JOINED || !ganz_next_cue(&r->in, &after, &next) ||
            !shares_sentence(r, &c, &next))
            break;
        if (next.end - first > MOST_BYTES) break;
        ganz_skeleton_mark(r->skeleton, GANZ_MARK_BREAK, 0, r->in.text + c.end, next.begin - c.end);
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

static size_t mark_bytes(const char *bytes, size_t count)
{
    return count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* WebVTT has comments and styles between cues, up to a blank line; they are told by their first line. */
static bool is_remark(const reader *r, const ganz_subtitle_line *l)
{
    static const char *const words[] = {"NOTE", "STYLE", "REGION", "WEBVTT"};
    for (size_t i = 0; r->in.vtt && i < GANZ_COUNT(words); i++) {
        const size_t n = strlen(words[i]);
        if (l->end - l->begin >= n && memcmp(r->in.text + l->begin, words[i], n) == 0) return true;
    }
    return false;
}

static size_t skip_remark(const reader *r, size_t at)
{
    ganz_subtitle_line l = ganz_subtitle_line_at(&r->in, at);
    if (!is_remark(r, &l)) return at;
    while (l.next < r->in.bytes && !ganz_subtitle_is_blank(&r->in, &l)) l = ganz_subtitle_line_at(&r->in, l.next);
    return l.next;
}

static ganz_status read_cues(reader *r, ganz_error *err)
{
    ganz_cue c;
    size_t at = mark_bytes(r->in.text, r->in.bytes);
    for (;;) {
        while (at < r->in.bytes && skip_remark(r, at) > at) at = skip_remark(r, at);
        if (!ganz_next_cue(&r->in, &at, &c)) break;
        r->cues++;
        put_cues(r, c, &at);
    }
    copy_until(r, r->in.bytes);
    if (r->cues == 0 && r->in.bytes > 0 && !r->in.vtt)
        return ganz_fail(err, GANZ_EFORMAT,
                         "no cue of a subtitle: no line like \"00:00:01,000 --> 00:00:02,500\" with text below it");
    return ganz_skeleton_status(r->skeleton, err);
}

static ganz_status read_subtitles(ganz_skeleton *s, const char *bytes, size_t count, bool vtt, ganz_error *err)
{
    const char *const newline = count > 0 ? memchr(bytes, '\n', count) : NULL;
    reader r = {.skeleton = s, .in = {.text = bytes, .bytes = count, .vtt = vtt}, .joins = !ganz_skeleton_bilingual(s)};
    r.style = (ganz_block_style){
        .breaks = GANZ_BREAK_SENTENCES, .escape = vtt ? escape_vtt : NULL, .between = GANZ_SUBTITLE_BETWEEN};
    ganz_subtitle_state *const state = ganz_skeleton_keep(s, sizeof *state);
    if (!state) return ganz_skeleton_status(s, err);
    *state =
        (ganz_subtitle_state){.in = r.in, .newline = newline && newline > bytes && newline[-1] == '\r' ? "\r\n" : "\n"};
    ganz_skeleton_set_state(s, state);
    return read_cues(&r, err);
}

static ganz_status read_srt(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                            ganz_error *err)
{
    (void)options;
    return read_subtitles(s, bytes, count, false, err);
}

static ganz_status read_vtt(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                            ganz_error *err)
{
    (void)options;
    const size_t mark = mark_bytes(bytes, count);
    if (count - mark < 6 || memcmp(bytes + mark, "WEBVTT", 6) != 0)
        return ganz_fail(err, GANZ_EFORMAT, "this is no WebVTT file: it does not begin with WEBVTT");
    return read_subtitles(s, bytes, count, true, err);
}

static bool is_srt(const char *bytes, size_t count)
{
    const ganz_subtitles in = {.text = bytes, .bytes = count};
    const size_t begin = mark_bytes(bytes, count);
    if (begin == count) return false;
    const ganz_subtitle_line l = ganz_subtitle_line_at(&in, begin);
    return l.end > l.begin && ganz_subtitle_is_name(&in, &l);
}

static bool is_vtt(const char *bytes, size_t count)
{
    const size_t mark = mark_bytes(bytes, count);
    return count - mark > 6 && memcmp(bytes + mark, "WEBVTT", 6) == 0 && memchr(" \t\r\n", bytes[mark + 6], 4);
}

const ganz_format ganz_format_srt = {
    .name = "srt", .suffixes = "srt", .recognise = is_srt, .read = read_srt, .finish = ganz_subtitles_finish};
const ganz_format ganz_format_vtt = {
    .name = "vtt", .suffixes = "vtt", .recognise = is_vtt, .read = read_vtt, .finish = ganz_subtitles_finish};
