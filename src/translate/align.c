/* Alignments: the finished translation runs through the decoder once more, and attention weights are read on the
 * way. */
#include "translate/align.h"

#include <stdlib.h>
#include <string.h>

#include "nn/measure.h"
#include "text/unicode.h"

struct ganz_aligner {
    ganz_backend *be;
    const ganz_net *net;
    const ganz_weights *weights;
    ganz_arena host, device;
    int source, target, edition; /* tokens that the arenas are large enough for, and of which edition of the net */
};

ganz_status ganz_aligner_open(ganz_aligner **aligner, ganz_backend *be, const ganz_net *net,
                              const ganz_weights *weights, ganz_error *err)
{
    GANZ_ASSERT(be->host);
    *aligner = NULL;
    if (weights->packed) GANZ_TRY(ganz_cpu_backend_reads(be, weights->be, err));
    ganz_aligner *const a = *aligner = ganz_alloc(1, sizeof *a);
    if (!a) return ganz_fail(err, GANZ_ENOMEM, "out of memory for alignments");
    a->be = be;
    a->net = net;
    a->weights = weights;
    return GANZ_OK;
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

/* Both sides of one pass. */
typedef struct reading {
    const ganz_aligner *aligner;
    const ganz_sentence *source;
    const int32_t *target;
    int rows;      /* of the target */
    real *weights; /* (rows, source tokens) result: row i those of the step that says target token i */
} reading;

static void read_weights(void *context, ganz_pass *pass)
{
    reading *const r = context;
    const int count = r->source->count, longest = r->rows > count ? r->rows : count;
    const size_t cells = (size_t)r->rows * (size_t)count;
    int32_t *const positions = ganz_arena_take(pass->device, (size_t)longest, sizeof *positions);
    int32_t *const shifted = ganz_arena_take(pass->device, (size_t)r->rows, sizeof *shifted);
    ganz_watch watch = {read_pair(r->aligner->net), ganz_arena_take(pass->device, cells, sizeof(real))};
    pass->failed = !positions || !shifted || !watch.weights;
    if (pass->failed) return;
    if (!pass->counts) {
        for (int i = 0; i < longest; i++) positions[i] = i;
        shifted[0] = GANZ_START;
        memcpy(shifted + 1, r->target, (size_t)(r->rows - 1) * sizeof *shifted);
        memset(watch.weights, 0, cells * sizeof(real));
    }
    const ganz_instrument instrument = ganz_watch_instrument(&watch);
    pass->instrument = &instrument;
    const int32_t source_rows[2] = {0, count}, target_rows[2] = {0, r->rows};
    const ganz_tokens in = {.rows = count, .ids = r->source->ids, .positions = positions};
    const ganz_tokens out = {.rows = r->rows, .ids = shifted, .positions = positions};
    const ganz_spans self = one_segment(source_rows, source_rows, false);
    const ganz_spans causal = one_segment(target_rows, target_rows, true);
    const ganz_spans cross = one_segment(target_rows, source_rows, false);
    ganz_tensor *const memory = ganz_net_encode(pass, r->aligner->net, &in, &self);
    ganz_net_decode(pass, r->aligner->net, &out, &in, memory, &causal, &cross);
    r->weights = watch.weights;
}

/* Memory for this pass, and for all whose sides are no longer than those met so far. */
static ganz_status reserve(ganz_aligner *a, const reading *r, ganz_error *err)
{
    ganz_memory need;
    if (r->source->count <= a->source && r->rows <= a->target && a->edition == a->net->edition) return GANZ_OK;
    const ganz_sentence longest = {.count = r->source->count > a->source ? r->source->count : a->source};
    reading largest = {.aligner = a, .source = &longest, .rows = r->rows > a->target ? r->rows : a->target};
    GANZ_TRY(ganz_measure(a->be, a->weights, read_weights, &largest, &need, err));
    ganz_arena_close(&a->host);
    ganz_arena_close(&a->device);
    a->source = a->target = 0;
    GANZ_TRY(ganz_arena_open(&a->host, need.host, err));
    GANZ_TRY(ganz_arena_open(&a->device, need.device, err));
    a->source = longest.count;
    a->target = largest.rows;
    a->edition = a->net->edition;
    return GANZ_OK;
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
    reading r = {.aligner = a, .source = source, .target = target, .rows = count};
    GANZ_TRY(reserve(a, &r, err));
    ganz_arena_rewind(&a->host, 0);
    ganz_arena_rewind(&a->device, 0);
    ganz_pass pass = {.be = a->be, .weights = a->weights, .host = &a->host, .device = &a->device};
    read_weights(&r, &pass);
    GANZ_TRY(a->be->sync(a->be, err));
    if (pass.failed) return ganz_fail(err, GANZ_ENOMEM, "out of memory for alignments");
    const int tokens = source->count > 1 ? source->count - 1 : 1; /* without the end mark */
    for (int i = 0; i < count; i++) from[i] = largest_place(r.weights + (size_t)i * (size_t)source->count, tokens);
    return GANZ_OK;
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
