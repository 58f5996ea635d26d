/* Copies of pairs. Each kind has its own stream of random numbers, so that asking for one more kind leaves the others.
 */
#include "train/augment.h"

#include <string.h>

#include "base/io.h"
#include "base/rng.h"
#include "text/case.h"
#include "text/tokenizer.h"

enum { MOST_INSERTS = 16 << 20 };
enum { FIRST_KINDS = 7 }; /* of the first version: the same pairs get copies of these as ever */

/* ---- lines to insert ---------------------------------------------------------------------------- */

static bool add_insert(ganz_inserts *i, const char *line, size_t bytes)
{
    if (!ganz_grow((void **)&i->begin, &i->capacity, i->count + 2, sizeof *i->begin)) return false;
    i->begin[i->count++] = i->text.bytes;
    if (!ganz_text_append(&i->text, line, bytes)) return false;
    i->begin[i->count] = i->text.bytes;
    return true;
}

static ganz_status read_inserts(ganz_inserts *i, ganz_lines *lines, ganz_error *err)
{
    for (;;) {
        const char *line;
        size_t bytes;
        GANZ_TRY(ganz_lines_next(lines, &line, &bytes, err));
        if (!line) break;
        if (!ganz_utf8_valid(line, bytes))
            return ganz_fail(err, GANZ_EFORMAT, "%s:%lld: not valid UTF-8", ganz_lines_name(lines),
                             ganz_lines_number(lines));
        line = ganz_strip(line, &bytes);
        if (i->text.bytes + bytes > MOST_INSERTS)
            return ganz_fail(err, GANZ_ELIMIT, "%s has over %d bytes to insert", ganz_lines_name(lines), MOST_INSERTS);
        if (bytes > 0 && !add_insert(i, line, bytes))
            return ganz_fail(err, GANZ_ENOMEM, "out of memory for lines to insert");
    }
    return i->count > 0 ? GANZ_OK : ganz_fail(err, GANZ_EFORMAT, "%s has nothing to insert", ganz_lines_name(lines));
}

ganz_status ganz_inserts_read(ganz_inserts *inserts, const char *path, ganz_error *err)
{
    ganz_lines *lines;
    *inserts = (ganz_inserts){0};
    GANZ_TRY(ganz_lines_open(&lines, path, err));
    const ganz_status status = read_inserts(inserts, lines, err);
    ganz_lines_close(&lines);
    if (status != GANZ_OK) ganz_inserts_free(inserts);
    return status;
}

void ganz_inserts_free(ganz_inserts *inserts)
{
    ganz_text_free(&inserts->text);
    ganz_free(inserts->begin);
    *inserts = (ganz_inserts){0};
}

/* ---- the end of a sentence ---------------------------------------------------------------------- */

static bool ends_sentence(int32_t code)
{
    static const int32_t marks[] = {'.', '!', '?', 0x2026 /* … */, 0x3002, 0xFF01, 0xFF1F, 0x061F, 0x0964};
    for (size_t i = 0; i < GANZ_COUNT(marks); i++)
        if (code == marks[i]) return true;
    return false;
}

/* What is left of a text without the marks at its end, and without the spaces before them. */
static size_t without_end(const char *text, size_t bytes)
{
    for (;;) {
        size_t last = bytes;
        int32_t code = 0;
        while (last > 0 && ((unsigned char)text[last - 1] & 0xC0) == 0x80) last--;
        if (last > 0) ganz_next_character(text + --last, &code);
        if (last == 0 || !ends_sentence(code)) break;
        bytes = last;
    }
    ganz_strip(text, &bytes);
    return bytes;
}

/* ---- the kinds ---------------------------------------------------------------------------------- */

static bool put(ganz_text *out, const char *text, size_t bytes) { return ganz_text_append(out, text, bytes); }

static bool put_target(const ganz_pair_text *p, ganz_text copy[2]) { return put(&copy[1], p->target, p->target_bytes); }

static bool is_bare(const ganz_pair_text *p, size_t *source, size_t *target)
{
    *source = without_end(p->source, p->source_bytes);
    *target = without_end(p->target, p->target_bytes);
    return *source == p->source_bytes || *target == p->target_bytes || *source == 0 || *target == 0;
}

/* Without the final mark, where both sides have one. */
static bool make_bare(const ganz_pair_text *p, ganz_text copy[2])
{
    size_t source, target;
    if (is_bare(p, &source, &target)) return true;
    return put(&copy[0], p->source, source) && put(&copy[1], p->target, target);
}

/* With the next pair, where this one ends a sentence on both sides. */
static bool make_joined(const ganz_pair_text *p, const ganz_pair_text *next, ganz_text copy[2])
{
    size_t source, target;
    if (!next || is_bare(p, &source, &target)) return true;
    return put(&copy[0], p->source, p->source_bytes) && put(&copy[0], " ", 1) &&
           put(&copy[0], next->source, next->source_bytes) && put_target(p, copy) && put(&copy[1], " ", 1) &&
           put(&copy[1], next->target, next->target_bytes);
}

static bool put_beside(ganz_text *out, const char *text, size_t bytes, const char *insert, size_t insert_bytes,
                       bool before)
{
    if (before) return put(out, insert, insert_bytes) && put(out, " ", 1) && put(out, text, bytes);
    return put(out, text, bytes) && put(out, " ", 1) && put(out, insert, insert_bytes);
}

/* With a line beside both sides: before them one time in four, else behind them. */
static bool make_inserted(const ganz_pair_text *p, const ganz_inserts *inserts, uint64_t random, ganz_text copy[2])
{
    if (inserts->count == 0) return true;
    const size_t which = (size_t)((random >> 32) * inserts->count >> 32);
    const char *const line = inserts->text.text + inserts->begin[which];
    const size_t bytes = inserts->begin[which + 1] - inserts->begin[which];
    const bool before = (random & 3) == 0;
    return put_beside(&copy[0], p->source, p->source_bytes, line, bytes, before) &&
           put_beside(&copy[1], p->target, p->target_bytes, line, bytes, before);
}

/* Curly quotes and their straight forms. */
static const struct {
    int32_t curly;
    char straight;
} quotes[] = {{0x2018, '\''}, {0x201A, '\''}, {0x2019, '\''}, {0x201C, '"'}, {0x201E, '"'}, {0x201D, '"'}};

/* The straight form of a character, or 0. */
static char straight_quote(int32_t code)
{
    for (size_t i = 0; i < GANZ_COUNT(quotes); i++)
        if (quotes[i].curly == code) return quotes[i].straight;
    return 0;
}

/* Straight quotes for curly ones; *found says whether there was one. */
static bool straighten(const char *text, size_t bytes, ganz_text *out, bool *found)
{
    for (size_t at = 0, length; at < bytes; at += length) {
        int32_t code;
        length = ganz_next_character(text + at, &code);
        const char straight = straight_quote(code);
        *found |= straight != 0;
        if (!(straight ? put(out, &straight, 1) : put(out, text + at, length))) return false;
    }
    return true;
}

static bool is_letter_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80); }

/* Curly apostrophes for straight ones between letters, the only place where the right one is certain. */
static bool curl(const char *text, size_t bytes, ganz_text *out)
{
    for (size_t at = 0; at < bytes; at++) {
        const bool inside = text[at] == '\'' && at > 0 && at + 1 < bytes && is_letter_byte(text[at - 1]) &&
                            is_letter_byte(text[at + 1]);
        if (!(inside ? put(out, "\xE2\x80\x99", 3) : put(out, text + at, 1))) return false;
    }
    return true;
}

static bool make_quotes(const ganz_pair_text *p, ganz_text copy[2])
{
    bool found = false;
    if (!straighten(p->source, p->source_bytes, &copy[0], &found)) return false;
    if (!found) copy[0].bytes = 0;
    return (found || curl(p->source, p->source_bytes, &copy[0])) && put_target(p, copy);
}

static bool make(ganz_copy_kind kind, const ganz_pair_text *p, const ganz_pair_text *next, const ganz_inserts *inserts,
                 uint64_t random, ganz_text copy[2])
{
    switch (kind) {
    case GANZ_COPY_UPPER:
        return ganz_case_upper(p->source, p->source_bytes, &copy[0]) &&
               ganz_case_upper(p->target, p->target_bytes, &copy[1]);
    case GANZ_COPY_LOWER: return ganz_case_lower(p->source, p->source_bytes, &copy[0]) && put_target(p, copy);
    case GANZ_COPY_TITLE: return ganz_case_title(p->source, p->source_bytes, &copy[0]) && put_target(p, copy);
    case GANZ_COPY_BARE: return make_bare(p, copy);
    case GANZ_COPY_JOINED: return make_joined(p, next, copy);
    case GANZ_COPY_INSERTED: return make_inserted(p, inserts, random, copy);
    case GANZ_COPY_QUOTES: return make_quotes(p, copy);
    case GANZ_COPY_INITIAL:
        return ganz_case_initial(p->source, p->source_bytes, &copy[0]) &&
               ganz_case_initial(p->target, p->target_bytes, &copy[1]);
    default: return true;
    }
}

static bool same(const ganz_text *copy, const char *text, size_t bytes)
{
    return copy->bytes == bytes && memcmp(copy->text, text, bytes) == 0;
}

ganz_copy_result ganz_copy_make(ganz_copy_kind kind, double rate, const ganz_draw *draw, const ganz_pair_text *pair,
                                const ganz_pair_text *next, const ganz_inserts *inserts, ganz_text copy[2])
{
    const uint64_t stream = ganz_draw_stream(draw, (int)kind, FIRST_KINDS);
    const uint32_t drawn = ganz_random_u32(draw->seed, stream, 4 * draw->line);
    copy[0].bytes = copy[1].bytes = 0;
    if (!((double)drawn < rate * 4294967296.0)) return GANZ_COPY_NONE;
    if (!make(kind, pair, next, inserts, ganz_random_u64(draw->seed, stream, 2 * draw->line + 1), copy))
        return GANZ_COPY_NO_MEMORY;
    if (copy[0].bytes == 0 || copy[1].bytes == 0) return GANZ_COPY_NONE;
    if (same(&copy[0], pair->source, pair->source_bytes) && same(&copy[1], pair->target, pair->target_bytes))
        return GANZ_COPY_NONE;
    return GANZ_COPY_MADE;
}
