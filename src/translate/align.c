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

/* The layer before the last looks at the word it is about to say; the last one often at the end of the sentence. */
static const ganz_pair *read_pair(const ganz_net *net)
{
    const ganz_pair *last = NULL, *before = NULL;
    for (int i = 0; i < net->decoder.count; i++) {
        const ganz_sublayer *const layer = &net->decoder.sublayer[i];
        if (layer->kind != GANZ_CROSS_ATTENTION) continue;
        before = last;
        last = layer->pair;
    }
    return before ? before : last;
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
    ganz_watch watch = {.pair = read_pair(a->net)};
    const ganz_instrument instrument = ganz_watch_instrument(&watch);
    ganz_pass pass = {
        .be = a->be, .weights = a->weights, .host = &a->host, .device = &a->device, .instrument = &instrument};
    const int longest = rows > s->count ? rows : s->count;
    int32_t *const positions = ganz_arena_take(&a->device, (size_t)longest, sizeof *positions);
    int32_t *const shifted = ganz_arena_take(&a->device, (size_t)rows, sizeof *shifted);
    const size_t cells = (size_t)rows * (size_t)s->count;
    watch.weights = ganz_arena_take(&a->device, cells, sizeof(real));
    if (!positions || !shifted || !watch.weights) return NULL;
    for (int i = 0; i < longest; i++) positions[i] = i;
    shifted[0] = 0; /* the start */
    memcpy(shifted + 1, target, (size_t)(rows - 1) * sizeof *shifted);
    memset(watch.weights, 0, cells * sizeof(real));

    const int32_t source_rows[2] = {0, s->count}, target_rows[2] = {0, rows};
    const ganz_tokens in = {.rows = s->count, .ids = s->ids, .positions = positions};
    const ganz_tokens out = {.rows = rows, .ids = shifted, .positions = positions};
    const ganz_spans self = one_segment(source_rows, source_rows, false);
    const ganz_spans causal = one_segment(target_rows, target_rows, true);
    const ganz_spans cross = one_segment(target_rows, source_rows, false);
    ganz_tensor *const memory = ganz_net_encode(&pass, a->net, &in, &self);
    ganz_net_decode(&pass, a->net, &out, &in, memory, &causal, &cross);
    return pass.failed ? NULL : watch.weights;
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

ganz_status ganz_aligner_run(ganz_aligner *a, const ganz_sentence *source, const int32_t *target, int count,
                             int32_t *from, ganz_error *err)
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
            return GANZ_OK;
        }
        GANZ_TRY(grow(a, err));
    }
}

/* ---- words -------------------------------------------------------------------------------------- */

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

static int by_source(const void *left, const void *right)
{
    const ganz_link *const a = left, *const b = right;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return (a->target > b->target) - (a->target < b->target);
}

size_t ganz_links_sort(ganz_link *links, size_t count)
{
    size_t kept = 0;
    if (count > 0) qsort(links, count, sizeof *links, by_source);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || by_source(&links[kept - 1], &links[i]) != 0) links[kept++] = links[i];
    return kept;
}
