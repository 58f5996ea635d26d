/* One build: the substrings that occur often enough are the nodes of a trie, numbered breadth first, so that a loop
 * from the last node to the first meets long substrings before short ones and every node before its parent. Each of
 * the four iterations cuts the tokens with the vocabulary so far and counts, at each cut, all substrings from there:
 * that is one addition at the deepest node, handed up to its ancestors later. No later iteration can count a substring
 * more often than the text holds it, so what is below the threshold there need never become a node. */
#include "text/learn.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "text/tokenizer.h"

enum { ITERATIONS = 4, LOWEST = 1, HIGHEST = 1000, NEAR = 50 }; /* sizes within 1 / NEAR of the target are near it */

enum { RESERVED = 2 };
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
    size_t most; /* entries of the file; 0: no limit */
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

/* Takes the rarest entries out of sorted lines until `most` are left. Characters stay, so that any text can still be
 * encoded. */
static size_t cut(line *lines, size_t count, size_t most)
{
    size_t left = count, kept = count;
    for (size_t i = count; i-- > 0 && left > most;)
        if (lines[i].length > 1) lines[i].length = 0, left--;
    for (size_t i = kept = 0; i < count; i++)
        if (lines[i].length > 0) lines[kept++] = lines[i];
    return kept;
}

/* The entries, at most b->most of them, after the two reserved ones; *size counts all. */
static bool write_file(const build *b, ganz_text *file, size_t *size)
{
    uint32_t missing[sizeof always];
    const size_t missing_count = missing_characters(b, missing);
    line *const lines = ganz_alloc(*size, sizeof *lines);
    if (!lines) return false;
    size_t count = 0;
    for (size_t n = 1; n < b->count; n++) {
        const node *const it = &b->nodes[n];
        const uint32_t *const characters = b->suffixes->characters + b->suffixes->order[it->begin];
        if (it->entry) lines[count++] = (line){it->count, characters, it->depth};
    }
    for (size_t i = 0; i < missing_count; i++) lines[count++] = (line){0, &missing[i], 1};
    qsort(lines, count, sizeof *lines, descending);
    if (b->most > 0) count = cut(lines, count, b->most - RESERVED);
    *size = count + RESERVED;
    bool good = ganz_text_append(file, reserved_file, sizeof reserved_file - 1);
    for (size_t i = 0; good && i < count; i++) good = write_line(file, &lines[i]);
    ganz_free(lines);
    return good;
}

static size_t count_entries(const build *b)
{
    uint32_t missing[sizeof always];
    size_t count = RESERVED + missing_characters(b, missing);
    for (size_t n = 1; n < b->count; n++) count += b->nodes[n].entry;
    return count;
}

static ganz_status run_build(build *b, ganz_text *file, size_t *size, ganz_error *err)
{
    b->deepest = ganz_alloc(b->suffixes->length, sizeof *b->deepest);
    bool good = b->deepest && add_nodes(b);
    if (good) {
        for (int i = 0; i < ITERATIONS; i++) {
            count_from_cuts(b);
            choose_entries(b);
        }
        *size = count_entries(b);
        if (file) good = write_file(b, file, size);
    }
    ganz_free(b->deepest);
    ganz_free(b->nodes);
    return good ? GANZ_OK : no_memory(err);
}

ganz_status ganz_learn_build(const ganz_suffixes *s, int64_t min_count, ganz_text *file, size_t *size, ganz_error *err)
{
    build b = {.suffixes = s, .min_count = min_count};
    return run_build(&b, file, size, err);
}

/* ---- search ------------------------------------------------------------------------------------- */

static long long distance(size_t size, int target) { return llabs((long long)size - target); }

/* Bisection over thresholds; the best vocabulary so far is the end of the file. */
typedef struct search {
    const ganz_suffixes *suffixes;
    const ganz_vocab_learning *how;
    ganz_text *file;
    size_t before;  /* bytes of the file without it */
    long long best; /* its distance from the target; negative: none yet */
    int larger;     /* highest threshold tried whose vocabulary is larger than the target; 0: none */
} search;

static ganz_status keep(search *s, const ganz_text *vocabulary, ganz_error *err)
{
    s->file->bytes = s->before;
    return ganz_text_append(s->file, vocabulary->text, vocabulary->bytes) ? GANZ_OK : no_memory(err);
}

static ganz_status try_threshold(search *s, int threshold, size_t *size, ganz_error *err)
{
    ganz_text now = {0};
    ganz_status status = ganz_learn_build(s->suffixes, threshold, &now, size, err);
    const long long off = distance(*size, s->how->target_size);
    if (status == GANZ_OK && (s->best < 0 || off < s->best)) { /* of equals the first stays */
        s->best = off;
        status = keep(s, &now, err);
    }
    if (*size > (size_t)s->how->target_size && threshold > s->larger) s->larger = threshold;
    ganz_text_free(&now);
    return status;
}

/* Between two thresholds sizes may jump by a third in a small text: the larger vocabulary is cut to the target. */
static ganz_status cut_to_target(search *s, size_t *size, ganz_error *err)
{
    ganz_text now = {0};
    build b = {.suffixes = s->suffixes, .min_count = s->larger, .most = (size_t)s->how->target_size};
    if (b.most <= RESERVED) return GANZ_OK;
    ganz_status status = run_build(&b, &now, size, err);
    if (status == GANZ_OK && distance(*size, s->how->target_size) < s->best) status = keep(s, &now, err);
    ganz_text_free(&now);
    return status;
}

static ganz_status report(const search *s, ganz_vocab_progress *progress, int threshold, size_t size, ganz_error *err)
{
    if (progress) {
        progress->tried++;
        progress->min_count = threshold;
        progress->size = (int)size;
        if (s->how->progress) s->how->progress(s->how->context, progress);
    }
    return ganz_flag_is_set(s->how->stop) ? ganz_fail(err, GANZ_ESTOPPED, "stopped") : GANZ_OK;
}

ganz_status ganz_learn_search(const ganz_suffixes *suffixes, const ganz_vocab_learning *how,
                              ganz_vocab_progress *progress, ganz_text *file, ganz_error *err)
{
    search s = {suffixes, how, file, file->bytes, -1, 0};
    const int target = how->target_size;
    size_t size = 0;
    for (int low = LOWEST, high = HIGHEST;;) {
        const int middle = (low + high) / 2;
        GANZ_TRY(try_threshold(&s, middle, &size, err));
        GANZ_TRY(report(&s, progress, middle, size, err));
        if (distance(size, target) * 100 < target || low >= high || middle < 2) break;
        if (size > (size_t)target) low = middle + 1;
        else high = middle - 1;
    }
    if (how->nearest || s.best * NEAR <= target || s.larger == 0) return GANZ_OK;
    GANZ_TRY(cut_to_target(&s, &size, err));
    return report(&s, progress, s.larger, size, err);
}
