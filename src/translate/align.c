/* Alignment: the pass that watches attention, and what its links are called outside. */
#include "translate/align.h"

#include <stdlib.h>
#include <string.h>

#include "text/unicode.h"

enum { HOST_BYTES = 1 << 16, DEVICE_BYTES = 1 << 20 }; /* to begin with */

struct ganz_aligner {
    ganz_backend *be;
    const ganz_net *net;
    const ganz_weights *weights;
    ganz_arena host, device;
};

ganz_status ganz_aligner_open(ganz_aligner **aligner, ganz_backend *be, const ganz_net *net,
                              const ganz_weights *weights, ganz_error *err)
{
    GANZ_ASSERT(be->host);
    *aligner = NULL;
    if (weights->packed) GANZ_TRY(ganz_cpu_backend_reads(be, weights->be, err));
    ganz_aligner *a = *aligner = ganz_alloc(1, sizeof *a);
    if (!a) return ganz_fail(err, GANZ_ENOMEM, "out of memory for alignments");
    a->be = be;
    a->net = net;
    a->weights = weights;
    ganz_status status = ganz_arena_open(&a->host, HOST_BYTES, err);
    if (status == GANZ_OK) status = ganz_arena_open(&a->device, DEVICE_BYTES, err);
    if (status != GANZ_OK) ganz_aligner_close(aligner);
    return status;
}

void ganz_aligner_close(ganz_aligner **aligner)
{
    ganz_aligner *const a = *aligner;
    *aligner = NULL;
    if (!a) return;
    ganz_arena_close(&a->host);
    ganz_arena_close(&a->device);
    ganz_free(a);
}

/* ---- the pass ----------------------------------------------------------------------------------- */

/* The layer before the last looks at the word it is about to say, but little at signs; the last one the other way
 * round. Together they are right where either alone is wrong. */
static const ganz_pair *watched_pair(const ganz_net *net, int from_end)
{
    const int layers = net->config.decoder_layers;
    return layers > from_end ? &net->decoder[layers - 1 - from_end].cross.pair : NULL;
}

static ganz_spans one_segment(const int32_t *queries, const int32_t *keys, bool causal)
{
    return (ganz_spans){.queries = queries[1],
                        .keys = keys[1],
                        .segments = 1,
                        .query_begin = queries,
                        .key_begin = keys,
                        .longest_query = queries[1],
                        .longest_key = keys[1],
                        .causal = causal};
}

/* Encoder and decoder over both sides; (rows, source tokens) of weights, row i those of the step that says target token
 * i. NULL: memory is short. */
static const real *attention_weights(ganz_aligner *a, const ganz_sentence *s, const int32_t *target, int rows)
{
    ganz_pass pass = {.be = a->be, .weights = a->weights, .host = &a->host, .device = &a->device};
    const int longest = rows > s->count ? rows : s->count;
    int32_t *const positions = ganz_arena_take(&a->device, (size_t)longest, sizeof *positions);
    int32_t *const shifted = ganz_arena_take(&a->device, (size_t)rows, sizeof *shifted);
    const size_t cells = (size_t)rows * (size_t)s->count;
    pass.watched_weights = ganz_arena_take(&a->device, cells, sizeof(real));
    if (!positions || !shifted || !pass.watched_weights) return NULL;
    for (int i = 0; i < longest; i++) positions[i] = i;
    shifted[0] = 0; /* the start */
    memcpy(shifted + 1, target, (size_t)(rows - 1) * sizeof *shifted);
    memset(pass.watched_weights, 0, cells * sizeof(real));
    for (int i = 0; i < 2; i++) pass.watched[i] = watched_pair(a->net, i);

    const int32_t source_rows[2] = {0, s->count}, target_rows[2] = {0, rows};
    const ganz_tokens in = {.rows = s->count, .ids = s->ids, .positions = positions};
    const ganz_tokens out = {.rows = rows, .ids = shifted, .positions = positions};
    const ganz_spans self = one_segment(source_rows, source_rows, false);
    const ganz_spans causal = one_segment(target_rows, target_rows, true);
    const ganz_spans cross = one_segment(target_rows, source_rows, false);
    ganz_tensor *const memory = ganz_net_encode(&pass, a->net, &in, &self);
    ganz_net_decode(&pass, a->net, &out, &in, memory, &causal, &cross);
    return pass.failed ? NULL : pass.watched_weights;
}

/* Twice the memory, or what it began with if it could not be had the last time. */
static ganz_status grow(ganz_aligner *a, ganz_error *err)
{
    const size_t host = a->host.size > 0 ? 2 * a->host.size : HOST_BYTES;
    const size_t device = a->device.size > 0 ? 2 * a->device.size : DEVICE_BYTES;
    ganz_arena_close(&a->host);
    ganz_arena_close(&a->device);
    GANZ_TRY(ganz_arena_open(&a->host, host, err));
    return ganz_arena_open(&a->device, device, err);
}

static int32_t largest_place(const real *x, int count)
{
    int32_t best = 0;
    for (int32_t i = 1; i < count; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* Column j of (rows, columns) numbers. */
static int32_t largest_row(const real *x, int rows, int columns, int j)
{
    int32_t best = 0;
    for (int32_t i = 1; i < rows; i++)
        if (x[(size_t)i * (size_t)columns + (size_t)j] > x[(size_t)best * (size_t)columns + (size_t)j]) best = i;
    return best;
}

ganz_status ganz_aligner_run(ganz_aligner *a, const ganz_sentence *source, const int32_t *target, int count,
                             int32_t *from, int32_t *to, ganz_error *err)
{
    GANZ_ASSERT(count <= a->net->config.max_positions);
    if (count == 0) return GANZ_OK;
    for (;;) {
        ganz_arena_rewind(&a->host, 0);
        ganz_arena_rewind(&a->device, 0);
        const real *const weights = attention_weights(a, source, target, count);
        GANZ_TRY(a->be->sync(a->be, err));
        if (weights) {
            const int tokens = source->count > 1 ? source->count - 1 : 1; /* without the end mark */
            for (int i = 0; i < count; i++)
                from[i] = largest_place(weights + (size_t)i * (size_t)source->count, tokens);
            for (int j = 0; to && j < source->count; j++) to[j] = largest_row(weights, count, source->count, j);
            return GANZ_OK;
        }
        GANZ_TRY(grow(a, err));
    }
}

/* ---- tokens and words --------------------------------------------------------------------------- */

void ganz_token_ends(const char *text, size_t bytes, size_t *begin, size_t *end, size_t count)
{
    size_t next = bytes;
    for (size_t i = count; i > 0; i--) {
        const size_t own = begin[i - 1];
        size_t length = (own < next ? next : own) - own;
        if (i < count && own == next) { /* another piece of the same token */
            begin[i - 1] = begin[i];
            end[i - 1] = end[i];
            continue;
        }
        const char *const visible = ganz_strip(text + own, &length);
        begin[i - 1] = (size_t)(visible - text);
        end[i - 1] = begin[i - 1] + length;
        next = own;
    }
}

int ganz_word_at(ganz_word_walk *w, size_t offset)
{
    while (w->at < w->bytes) {
        int32_t code;
        const size_t step = ganz_next_character(w->text + w->at, &code);
        const bool visible = !ganz_is_space(code);
        if (visible && !w->inside) w->words++;
        w->inside = visible;
        if (visible && w->at >= offset) return w->words - 1;
        w->at += step;
    }
    return -1;
}

/* ---- links -------------------------------------------------------------------------------------- */

enum { WEAK = INT32_MAX /* number of a word: behind all others */ };

static int compare(size_t a, size_t b) { return (a > b) - (a < b); }

static int by_target(const void *left, const void *right)
{
    const ganz_link *const a = left, *const b = right;
    const int target = compare(a->target_begin, b->target_begin), source = compare(a->source_begin, b->source_begin);
    return target ? target : source ? source : a->weak - b->weak;
}

size_t ganz_links_sort(ganz_link *links, size_t count)
{
    size_t kept = 0;
    if (count > 0) qsort(links, count, sizeof *links, by_target);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || by_target(&links[kept - 1], &links[i]) != 0) links[kept++] = links[i];
    return kept;
}

static int by_source_word(const void *left, const void *right)
{
    const ganz_word_link *const a = left, *const b = right;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return (a->target > b->target) - (a->target < b->target);
}

static int by_place(const void *left, const void *right)
{
    const ganz_link *const *const a = left, *const *const b = right;
    return compare((*a)->source_begin, (*b)->source_begin);
}

/* Both walks go forward only, so the links are taken by their places in the line. */
static void count_words(const ganz_line *line, const ganz_translation *t, const ganz_link **by_line,
                        ganz_word_link *words)
{
    ganz_word_walk source = {.text = line->text, .bytes = line->bytes}, target = {.text = t->text, .bytes = t->bytes};
    for (int i = 0; i < t->link_count; i++) {
        by_line[i] = &t->links[i];
        words[i].target = ganz_word_at(&target, t->links[i].target_begin);
    }
    qsort(by_line, (size_t)t->link_count, sizeof *by_line, by_place);
    for (int i = 0; i < t->link_count; i++) {
        ganz_word_link *const w = &words[by_line[i] - t->links];
        w->source = ganz_word_at(&source, by_line[i]->source_begin);
        if (by_line[i]->weak) w->source = WEAK;
    }
}

ganz_status ganz_word_links(const ganz_line *line, const ganz_translation *t, ganz_word_link *words, int *count,
                            ganz_error *err)
{
    *count = 0;
    if (t->link_count == 0) return GANZ_OK;
    const ganz_link **const by_line = ganz_alloc((size_t)t->link_count, sizeof *by_line);
    if (!by_line) return ganz_fail(err, GANZ_ENOMEM, "out of memory for links");
    count_words(line, t, by_line, words);
    ganz_free((void *)by_line);
    qsort(words, (size_t)t->link_count, sizeof *words, by_source_word);
    for (int i = 0; i < t->link_count && words[i].source != WEAK; i++)
        if (*count == 0 || by_source_word(&words[*count - 1], &words[i]) != 0) words[(*count)++] = words[i];
    return GANZ_OK;
}
