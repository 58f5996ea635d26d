/* One build: the substrings that occur often enough are the nodes of a trie, numbered breadth first, so that a loop
 * from the last node to the first meets long substrings before short ones and every node before its parent. Each of
 * the four iterations cuts the tokens with the vocabulary so far and counts, at each cut, all substrings from there:
 * that is one addition at the deepest node, handed up to its ancestors later. No later iteration can count a substring
 * more often than the text holds it, so what is below the threshold there need never become a node. */
#include "text/learn.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "text/tokenizer.h"

enum { ITERATIONS = 4, LOWEST = 1, HIGHEST = 1000 };

static const char reserved_file[] = "'<pad>_'\n'<EOS>_'\n";
static const char always[] = "<pad><EOS>" GANZ_ESCAPE_CHARACTERS; /* characters of every alphabet */

typedef struct node {
    uint32_t begin, end; /* suffixes that start with it, in the sorted order */
    uint32_t parent;     /* 0, the root, stands for the empty substring */
    uint32_t longest;    /* the longest entry that it starts with: a node on its way to the root */
    int32_t depth;       /* characters */
    bool entry;          /* in the vocabulary of the last iteration */
    int64_t count;
} node;

typedef struct build {
    const ganz_suffixes *suffixes;
    int64_t min_count;
    node *nodes;
    size_t count, capacity;
    uint32_t *deepest; /* (length) the longest substring from each position that is a node */
} build;

static ganz_status no_memory(ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "out of memory to learn a vocabulary");
}

static uint32_t first_character(const build *b, const node *n)
{
    return b->suffixes->characters[b->suffixes->order[n->begin]];
}

/* ---- nodes -------------------------------------------------------------------------------------- */

static bool add_node(build *b, uint32_t parent, size_t begin, size_t end)
{
    if (b->count >= UINT32_MAX || !ganz_grow((void **)&b->nodes, &b->capacity, b->count + 1, sizeof *b->nodes))
        return false;
    const int32_t depth = b->count == 0 ? 0 : b->nodes[parent].depth + 1;
    b->nodes[b->count] = (node){(uint32_t)begin, (uint32_t)end, parent, 0, depth, depth == 1, 0};
    for (size_t i = begin; i < end; i++) b->deepest[b->suffixes->order[i]] = (uint32_t)b->count;
    b->count++;
    return true;
}

/* Single characters become nodes whatever their count. */
static bool add_children(build *b, uint32_t parent)
{
    const ganz_suffixes *const s = b->suffixes;
    const node n = b->nodes[parent];
    const uint32_t *const next = s->characters + n.depth;
    for (size_t i = n.begin; i < n.end;) {
        const size_t begin = i;
        const uint32_t character = next[s->order[i]];
        while (i < n.end && next[s->order[i]] == character) i++;
        const bool often = n.depth == 0 || s->before[i] - s->before[begin] >= b->min_count;
        if (character != 0 && often && !add_node(b, parent, begin, i)) return false;
    }
    return true;
}

static bool add_nodes(build *b)
{
    if (!add_node(b, 0, 0, b->suffixes->size)) return false;
    for (size_t n = 0; n < b->count; n++)
        if (b->nodes[n].depth < b->suffixes->max_depth && !add_children(b, (uint32_t)n)) return false;
    return true;
}

/* ---- one iteration ------------------------------------------------------------------------------ */

static void count_from_cuts(build *b)
{
    const ganz_suffixes *const s = b->suffixes;
    for (size_t n = 1; n < b->count; n++) {
        node *const it = &b->nodes[n];
        it->longest = it->entry ? (uint32_t)n : b->nodes[it->parent].longest;
        it->count = 0;
    }
    size_t token = 0;
    for (size_t at = 0; at < s->length; at++, token++) {
        while (s->characters[at] != 0) {
            node *const deepest = &b->nodes[b->deepest[at]];
            deepest->count += s->repeats[token];
            at += (size_t)b->nodes[deepest->longest].depth;
        }
    }
    for (size_t n = b->count - 1; n > 0; n--) b->nodes[b->nodes[n].parent].count += b->nodes[n].count;
}

/* A substring that is kept takes its occurrences away from all that it starts with. */
static void choose_entries(build *b)
{
    for (size_t n = b->count - 1; n > 0; n--) {
        node *const it = &b->nodes[n];
        const bool often = it->count >= b->min_count;
        it->entry = often || it->depth == 1;
        if (!often) continue;
        for (uint32_t a = it->parent; a != 0; a = b->nodes[a].parent) b->nodes[a].count -= it->count;
    }
}

/* ---- the file ----------------------------------------------------------------------------------- */

typedef struct line {
    int64_t count;
    const uint32_t *characters; /* code points + 1 */
    int32_t length;
} line;

/* By count, then by code points, both descending. */
static int descending(const void *left, const void *right)
{
    const line *const a = left, *const b = right;
    if (a->count != b->count) return a->count < b->count ? 1 : -1;
    const int32_t most = a->length < b->length ? a->length : b->length;
    for (int32_t i = 0; i < most; i++)
        if (a->characters[i] != b->characters[i]) return a->characters[i] < b->characters[i] ? 1 : -1;
    return a->length < b->length ? 1 : -1;
}

static bool write_line(ganz_text *file, const line *l)
{
    bool good = ganz_text_append(file, "'", 1);
    for (int32_t i = 0; good && i < l->length; i++) {
        char bytes[4];
        good = ganz_text_append(file, bytes, (size_t)ganz_utf8_encode((int32_t)l->characters[i] - 1, bytes));
    }
    return good && ganz_text_append(file, "'\n", 2);
}

/* Characters of every alphabet that the tokens do not hold, as code points + 1; each with count 0. */
static size_t missing_characters(const build *b, uint32_t missing[sizeof always])
{
    size_t count = 0;
    for (const char *c = always; *c; c++) {
        const uint32_t character = (uint32_t)*c + 1;
        bool have = false;
        for (size_t n = 1; n < b->count && b->nodes[n].depth == 1 && !have; n++)
            have = first_character(b, &b->nodes[n]) == character;
        for (size_t i = 0; i < count && !have; i++) have = missing[i] == character;
        if (!have) missing[count++] = character;
    }
    return count;
}

static bool write_file(const build *b, size_t lines_count, const uint32_t *missing, size_t missing_count,
                       ganz_text *file)
{
    line *const lines = ganz_alloc(lines_count, sizeof *lines);
    if (!lines) return false;
    size_t count = 0;
    for (size_t n = 1; n < b->count; n++) {
        const node *const it = &b->nodes[n];
        const uint32_t *const characters = b->suffixes->characters + b->suffixes->order[it->begin];
        if (it->entry) lines[count++] = (line){it->count, characters, it->depth};
    }
    for (size_t i = 0; i < missing_count; i++) lines[count++] = (line){0, &missing[i], 1};
    qsort(lines, count, sizeof *lines, descending);
    bool good = ganz_text_append(file, reserved_file, sizeof reserved_file - 1);
    for (size_t i = 0; good && i < count; i++) good = write_line(file, &lines[i]);
    ganz_free(lines);
    return good;
}

ganz_status ganz_learn_build(const ganz_suffixes *s, int64_t min_count, ganz_text *file, size_t *size, ganz_error *err)
{
    build b = {.suffixes = s, .min_count = min_count};
    b.deepest = ganz_alloc(s->length, sizeof *b.deepest);
    bool good = b.deepest && add_nodes(&b);
    if (good) {
        for (int i = 0; i < ITERATIONS; i++) {
            count_from_cuts(&b);
            choose_entries(&b);
        }
        uint32_t missing[sizeof always];
        const size_t missing_count = missing_characters(&b, missing);
        size_t lines = missing_count;
        for (size_t n = 1; n < b.count; n++) lines += b.nodes[n].entry;
        *size = lines + 2;
        if (file) good = write_file(&b, lines, missing, missing_count, file);
    }
    ganz_free(b.deepest);
    ganz_free(b.nodes);
    return good ? GANZ_OK : no_memory(err);
}

/* ---- search ------------------------------------------------------------------------------------- */

static long long distance(size_t size, int target) { return llabs((long long)size - target); }

ganz_status ganz_learn_search(const ganz_suffixes *s, const ganz_vocab_learning *how, ganz_vocab_progress *progress,
                              ganz_text *file, ganz_error *err)
{
    int low = LOWEST, high = HIGHEST;
    long long best = -1;
    const size_t before = file->bytes;
    for (;;) {
        const int middle = (low + high) / 2;
        size_t size = 0;
        ganz_text now = {0};
        ganz_status status = ganz_learn_build(s, middle, &now, &size, err);
        const long long off = distance(size, how->target_size);
        if (status == GANZ_OK && (best < 0 || off < best)) { /* of equals the first stays */
            best = off;
            file->bytes = before;
            if (!ganz_text_append(file, now.text, now.bytes)) status = no_memory(err);
        }
        ganz_text_free(&now);
        GANZ_TRY(status);
        if (progress) {
            progress->tried++;
            progress->min_count = middle;
            progress->size = (int)size;
            if (how->progress) how->progress(how->context, progress);
        }
        if (ganz_flag_is_set(how->stop)) return ganz_fail(err, GANZ_ESTOPPED, "stopped");
        if (off * 100 < how->target_size || low >= high || middle < 2) return GANZ_OK;
        if (size > (size_t)how->target_size) low = middle + 1;
        else high = middle - 1;
    }
}
