/* Glossaries: terms in a hash table of their first words, the longest of each first. */
#include "document/glossary.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/utf8.h"
#include "text/unicode.h"

enum { MOST_BYTES = 64 << 20, FIRST_WORD = 64 /* bytes of it that are looked at */ };

struct ganz_glossary {
    char *text;       /* of all terms */
    ganz_term *terms; /* (count) by hash, then the longest first */
    uint64_t *hashes; /* (count) of their first words, rising */
    size_t count, capacity;
};

static ganz_status no_memory(ganz_error *err) { return ganz_fail(err, GANZ_ENOMEM, "out of memory for a glossary"); }

/* ---- first words -------------------------------------------------------------------------------- */

/* Of the letters and digits from the start, or of the first sign, whatever their case. */
static uint64_t hash_first_word(const char *text, size_t bytes)
{
    char word[FIRST_WORD + 4];
    size_t length = 0, at = 0;
    while (at < bytes && length < FIRST_WORD) {
        int32_t code;
        const size_t step = ganz_next_character(text + at, &code);
        if (at > 0 && !ganz_is_alnum(code)) break;
        length += (size_t)ganz_utf8_encode(ganz_to_lower(code), word + length);
        at += step;
        if (!ganz_is_alnum(code)) break;
    }
    return ganz_checksum(word, length);
}

/* An English ending of a term is part of the word that is found in a text. */
static uint64_t hash_without(const char *text, size_t bytes, const char *ending)
{
    const size_t length = strlen(ending);
    size_t word = 0;
    int32_t code;
    while (word < bytes) {
        const size_t step = ganz_next_character(text + word, &code);
        if (!ganz_is_alnum(code)) break;
        word += step;
    }
    return word > length && memcmp(text + word - length, ending, length) == 0 ? hash_first_word(text, word - length)
                                                                              : 0;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static ganz_status add_term(ganz_glossary *g, const char *line, size_t bytes, ganz_error *err)
{
    const char *const tab = memchr(line, '\t', bytes);
    ganz_term t = {.source = line, .source_bytes = tab ? (size_t)(tab - line) : bytes};
    t.target = tab ? tab + 1 : line;
    t.target_bytes = tab ? bytes - t.source_bytes - 1 : bytes;
    const char *const second = memchr(t.target, '\t', t.target_bytes); /* further columns are notes */
    if (second) t.target_bytes = (size_t)(second - t.target);
    t.source = ganz_strip(t.source, &t.source_bytes);
    t.target = ganz_strip(t.target, &t.target_bytes);
    if (t.source_bytes == 0) return GANZ_OK;
    if (!ganz_grow((void **)&g->terms, &g->capacity, g->count + 1, sizeof t)) return no_memory(err);
    g->terms[g->count++] = t;
    return GANZ_OK;
}

static ganz_status add_lines(ganz_glossary *g, size_t bytes, const char *name, ganz_error *err)
{
    long long number = 1;
    for (size_t at = 0; at < bytes; number++) {
        const char *const line = g->text + at, *const newline = memchr(line, '\n', bytes - at);
        size_t length = newline ? (size_t)(newline - line) : bytes - at;
        at += length + 1;
        if (length > 0 && line[length - 1] == '\r') length--;
        if (!ganz_utf8_valid(line, length)) return ganz_fail(err, GANZ_EFORMAT, "%s:%lld: not UTF-8", name, number);
        if (length > 0 && line[0] != '#') GANZ_TRY(add_term(g, line, length, err));
    }
    return GANZ_OK;
}

typedef struct hashed {
    uint64_t hash;
    ganz_term term;
} hashed;

static int by_hash(const void *left, const void *right)
{
    const hashed *const a = left, *const b = right;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    if (a->term.source_bytes != b->term.source_bytes) return a->term.source_bytes > b->term.source_bytes ? -1 : 1;
    return (a->term.source > b->term.source) - (a->term.source < b->term.source); /* the earlier line */
}

static ganz_status sort_terms(ganz_glossary *g, ganz_error *err)
{
    hashed *const sorted = ganz_alloc(g->count, sizeof *sorted);
    g->hashes = ganz_alloc(g->count, sizeof *g->hashes);
    if (!sorted || !g->hashes) return ganz_free(sorted), no_memory(err);
    for (size_t i = 0; i < g->count; i++)
        sorted[i] = (hashed){hash_first_word(g->terms[i].source, g->terms[i].source_bytes), g->terms[i]};
    if (g->count > 0) qsort(sorted, g->count, sizeof *sorted, by_hash);
    for (size_t i = 0; i < g->count; i++) {
        g->hashes[i] = sorted[i].hash;
        g->terms[i] = sorted[i].term;
    }
    ganz_free(sorted);
    return GANZ_OK;
}

ganz_status ganz_glossary_parse(ganz_glossary **glossary, const char *text, size_t bytes, const char *name,
                                ganz_error *err)
{
    *glossary = NULL;
    if (bytes > MOST_BYTES) return ganz_fail(err, GANZ_ELIMIT, "%s has more than %d bytes", name, MOST_BYTES);
    const size_t mark = bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* some editors begin with one */
    ganz_glossary *g = ganz_alloc(1, sizeof *g);
    if (!g) return no_memory(err);
    g->text = ganz_alloc(bytes, 1);
    ganz_status status = g->text ? GANZ_OK : no_memory(err);
    if (status == GANZ_OK && bytes > mark) memcpy(g->text, text + mark, bytes - mark);
    if (status == GANZ_OK) status = add_lines(g, bytes - mark, name, err);
    if (status == GANZ_OK) status = sort_terms(g, err);
    if (status != GANZ_OK) ganz_glossary_close(&g);
    *glossary = g;
    return status;
}

ganz_status ganz_glossary_open(ganz_glossary **glossary, const char *path, ganz_error *err)
{
    ganz_contents contents;
    *glossary = NULL;
    GANZ_TRY(ganz_contents_read(&contents, path, err));
    const ganz_status status = ganz_glossary_parse(glossary, (const char *)contents.data, contents.bytes, path, err);
    ganz_contents_free(&contents);
    return status;
}

void ganz_glossary_close(ganz_glossary **glossary)
{
    ganz_glossary *const g = *glossary;
    *glossary = NULL;
    if (!g) return;
    ganz_free(g->text);
    ganz_free(g->terms);
    ganz_free(g->hashes);
    ganz_free(g);
}

size_t ganz_glossary_size(const ganz_glossary *g) { return g->count; }

/* ---- finding ------------------------------------------------------------------------------------ */

/* Bytes of text that the term takes; 0: it does not fit. A small letter of the term stands for both cases, a space for
 * any white space. */
static size_t term_length(const ganz_term *t, const char *text, size_t bytes)
{
    size_t at = 0;
    for (size_t i = 0; i < t->source_bytes;) {
        int32_t wanted, found;
        if (at >= bytes) return 0;
        i += ganz_next_character(t->source + i, &wanted);
        at += ganz_next_character(text + at, &found);
        if (wanted != found && wanted != ganz_to_lower(found) && !(ganz_is_space(wanted) && ganz_is_space(found)))
            return 0;
    }
    return at;
}

static bool word_ends(const char *text, size_t bytes, size_t at)
{
    int32_t code;
    if (at >= bytes) return true;
    ganz_next_character(text + at, &code);
    return !ganz_is_alnum(code);
}

/* The length with an English ending, where one stands; 0: the word goes on. */
static size_t with_ending(const char *text, size_t bytes, size_t at)
{
    static const char *const endings[] = {"'s", "\xE2\x80\x99s", "es", "s"};
    for (size_t i = 0; i < GANZ_COUNT(endings); i++) {
        const size_t length = strlen(endings[i]);
        if (bytes - at >= length && memcmp(text + at, endings[i], length) == 0 && word_ends(text, bytes, at + length))
            return at + length;
    }
    return word_ends(text, bytes, at) ? at : 0;
}

static const ganz_term *find_hashed(const ganz_glossary *g, uint64_t hash, const char *text, size_t bytes,
                                    size_t *length)
{
    size_t low = 0, high = g->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (g->hashes[middle] < hash) low = middle + 1;
        else high = middle;
    }
    for (; low < g->count && g->hashes[low] == hash; low++) {
        const size_t own = term_length(&g->terms[low], text, bytes);
        *length = own > 0 ? with_ending(text, bytes, own) : 0;
        if (*length > 0) return &g->terms[low];
    }
    return NULL;
}

const ganz_term *ganz_glossary_find(const ganz_glossary *g, const char *text, size_t end, size_t at, size_t *length)
{
    const char *const from = text + at;
    const size_t bytes = end - at;
    const uint64_t tries[] = {hash_first_word(from, bytes), hash_without(from, bytes, "s"),
                              hash_without(from, bytes, "es")};
    for (size_t i = 0; i < GANZ_COUNT(tries); i++) {
        const ganz_term *const found = tries[i] || i == 0 ? find_hashed(g, tries[i], from, bytes, length) : NULL;
        if (found) return found;
    }
    return NULL;
}
