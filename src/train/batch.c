/* The loader: follows the plan of an epoch and fills the arrays of one batch at a time. */
#include "train/batch.h"

#include "train/plan.h"

/* One side of a batch; capacity as large as any batch may need. */
typedef struct side {
    int32_t *ids, *position, *row, *slot; /* (tokens) */
    int32_t *begin;                       /* (segments + 1) */
    int count;
} side;

struct ganz_loader {
    const ganz_corpus *corpus;
    ganz_loader_options options;
    ganz_position at;
    bool planned; /* plan is that of at.epoch */
    ganz_plan plan;
    uint64_t batches;
    side source, target;
    int32_t *target_in; /* (tokens) */
    int capacity;       /* tokens */
};

void ganz_loader_defaults(ganz_loader_options *options)
{
    *options = (ganz_loader_options){
        .packed = true, .rows = 64, .slots = 256, .open_rows = 10, .tokens = 4096, .max_length = 256, .window = 65536};
}

static ganz_status check_options(const ganz_loader_options *o, ganz_error *err)
{
    if (o->packed) {
        if (o->rows < 1 || o->slots < 1 || o->open_rows < 1 || o->open_rows > 65536)
            return ganz_fail(err, GANZ_EINVAL, "packed batches need rows, slots and open rows of at least 1");
        if (o->slots > (1 << 28) / o->rows || o->slots > (1 << 28) / o->open_rows)
            return ganz_fail(err, GANZ_ELIMIT, "batches of %d rows of %d slots are too large", o->rows, o->slots);
    } else if (o->tokens < 1 || o->tokens > 1 << 28 || o->max_length < 1 || o->window < 1 || o->window > 1 << 24) {
        return ganz_fail(err, GANZ_EINVAL, "batches of %d tokens, sentences of %d, windows of %d make no sense",
                         o->tokens, o->max_length, o->window);
    }
    return GANZ_OK;
}

static bool side_open(side *s, size_t capacity)
{
    s->ids = ganz_alloc(capacity, sizeof *s->ids);
    s->position = ganz_alloc(capacity, sizeof *s->position);
    s->row = ganz_alloc(capacity, sizeof *s->row);
    s->slot = ganz_alloc(capacity, sizeof *s->slot);
    s->begin = ganz_alloc(capacity + 1, sizeof *s->begin);
    return s->ids && s->position && s->row && s->slot && s->begin;
}

static void side_close(side *s)
{
    ganz_free(s->begin);
    ganz_free(s->slot);
    ganz_free(s->row);
    ganz_free(s->position);
    ganz_free(s->ids);
}

void ganz_loader_close(ganz_loader **it)
{
    ganz_loader *const l = *it;
    *it = NULL;
    if (!l) return;
    ganz_plan_free(&l->plan);
    side_close(&l->source);
    side_close(&l->target);
    ganz_free(l->target_in);
    ganz_free(l);
}

/* ---- the plan of an epoch ----------------------------------------------------------------------- */

static ganz_status make_units(ganz_loader *l, const uint32_t *pairs, uint32_t count, ganz_error *err)
{
    const ganz_loader_options *const o = &l->options;
    const ganz_pair_list list = {l->corpus, pairs, count};
    if (o->packed) {
        GANZ_TRY(ganz_plan_pack(&list, o->slots, o->open_rows, &l->plan, err));
        ganz_plan_drop_long(l->corpus, o->slots, &l->plan);
        l->batches = ((uint64_t)l->plan.units + (uint64_t)o->rows - 1) / (uint64_t)o->rows;
        return GANZ_OK;
    }
    const int longest = o->max_length < o->tokens ? o->max_length : o->tokens;
    const ganz_buckets buckets = {o->tokens, longest, o->window, o->seed, l->at.epoch};
    GANZ_TRY(ganz_plan_bucket(&list, &buckets, &l->plan, err));
    l->batches = l->plan.units;
    return GANZ_OK;
}

static ganz_status make_plan(ganz_loader *l, ganz_error *err)
{
    if (l->planned) return GANZ_OK;
    ganz_plan_free(&l->plan);
    l->batches = 0;
    uint32_t *pairs, count;
    GANZ_TRY(ganz_plan_shuffle(l->corpus, l->options.seed, l->at.epoch, &pairs, &count, err));
    const ganz_status status = make_units(l, pairs, count, err);
    ganz_free(pairs);
    if (status != GANZ_OK) return status;
    if (l->corpus->pairs == 0)
        return ganz_fail(err, GANZ_EINVAL, "%s: the corpus has no pairs", ganz_container_name(l->corpus->file));
    if (l->batches == 0)
        return ganz_fail(err, GANZ_EINVAL, "%s: epoch %llu has no pair that fits into a batch",
                         ganz_container_name(l->corpus->file), (unsigned long long)l->at.epoch);
    l->planned = true;
    return GANZ_OK;
}

ganz_status ganz_loader_open(ganz_loader **loader, const ganz_corpus *corpus, const ganz_loader_options *options,
                             ganz_error *err)
{
    *loader = NULL;
    GANZ_TRY(check_options(options, err));
    ganz_loader *l = ganz_alloc(1, sizeof *l);
    if (!l) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a loader");
    l->corpus = corpus;
    l->options = *options;
    l->capacity = options->packed ? options->rows * options->slots : options->tokens;
    const size_t capacity = (size_t)l->capacity;
    l->target_in = ganz_alloc(capacity, sizeof *l->target_in);
    ganz_status status = GANZ_OK;
    if (!l->target_in || !side_open(&l->source, capacity) || !side_open(&l->target, capacity))
        status = ganz_fail(err, GANZ_ENOMEM, "out of memory for batches of %d tokens", l->capacity);
    if (status == GANZ_OK) status = make_plan(l, err);
    if (status != GANZ_OK) ganz_loader_close(&l);
    *loader = l;
    return status;
}

ganz_position ganz_loader_position(const ganz_loader *l) { return l->at; }
uint64_t ganz_loader_epoch_batches(const ganz_loader *l) { return l->batches; }
uint64_t ganz_loader_epoch_dropped(const ganz_loader *l) { return l->plan.dropped; }

ganz_status ganz_loader_seek(ganz_loader *l, ganz_position position, ganz_error *err)
{
    if (position.epoch != l->at.epoch) l->planned = false;
    l->at = position;
    GANZ_TRY(make_plan(l, err));
    if (position.batch < l->batches) return GANZ_OK;
    l->at.batch = 0;
    return ganz_fail(err, GANZ_EINVAL, "%s: epoch %llu has %llu batches, there is none after %llu",
                     ganz_container_name(l->corpus->file), (unsigned long long)position.epoch,
                     (unsigned long long)l->batches, (unsigned long long)position.batch);
}

/* ---- filling a batch ---------------------------------------------------------------------------- */

/* Room for a segment of n tokens whose ids are in place; *slot is the first in its row and moves on. */
static void add_segment(side *s, int segment, int n, int row, int *slot)
{
    s->begin[segment] = s->count;
    for (int i = 0; i < n; i++) {
        s->position[s->count + i] = i;
        s->row[s->count + i] = row;
        s->slot[s->count + i] = (*slot)++;
    }
    s->count += n;
}

/* The decoder sees the labels shifted by one within the row: a later segment begins with the last token of the
 * one before it, which is its end mark. */
static void shift_target(const ganz_loader *l, int from, int row_begin)
{
    for (int i = from; i < l->target.count; i++) l->target_in[i] = i > row_begin ? l->target.ids[i - 1] : -1;
    if (l->options.zero_segment_start) l->target_in[from] = -1;
}

/* Appends the pairs [from, to) of the plan as one row. */
static ganz_status add_row(ganz_loader *l, ganz_batch *b, uint32_t from, uint32_t to, ganz_error *err)
{
    int source_slot = 0, target_slot = 0;
    const int row_begin = l->target.count;
    for (uint32_t i = from; i < to; i++) {
        const uint32_t pair = l->plan.pairs[i];
        const int n = (int)ganz_corpus_source(l->corpus, pair), m = (int)ganz_corpus_target(l->corpus, pair);
        GANZ_ASSERT(l->source.count + n <= l->capacity && l->target.count + m <= l->capacity);
        GANZ_TRY(
            ganz_corpus_ids(l->corpus, pair, l->source.ids + l->source.count, l->target.ids + l->target.count, err));
        const int target_from = l->target.count;
        add_segment(&l->source, b->segments, n, b->packed_rows, &source_slot);
        add_segment(&l->target, b->segments, m, b->packed_rows, &target_slot);
        shift_target(l, target_from, row_begin);
        b->segments++;
    }
    b->packed_rows++;
    return GANZ_OK;
}

static ganz_status fill_batch(ganz_loader *l, ganz_batch *b, ganz_error *err)
{
    const ganz_plan *const plan = &l->plan;
    if (l->options.packed) { /* units spread evenly over the batches */
        const uint64_t units = plan->units;
        const uint32_t first = (uint32_t)(l->at.batch * units / l->batches);
        const uint32_t last = (uint32_t)((l->at.batch + 1) * units / l->batches);
        for (uint32_t u = first; u < last; u++) GANZ_TRY(add_row(l, b, plan->begin[u], plan->begin[u + 1], err));
        return GANZ_OK;
    }
    for (uint32_t i = plan->begin[l->at.batch]; i < plan->begin[l->at.batch + 1]; i++)
        GANZ_TRY(add_row(l, b, i, i + 1, err));
    return GANZ_OK;
}

ganz_status ganz_loader_next(ganz_loader *l, ganz_batch *batch, ganz_error *err)
{
    GANZ_TRY(make_plan(l, err));
    ganz_batch b = {0};
    l->source.count = l->target.count = 0;
    GANZ_TRY(fill_batch(l, &b, err));
    l->source.begin[b.segments] = b.source_rows = l->source.count;
    l->target.begin[b.segments] = b.target_rows = l->target.count;
    b.source_ids = l->source.ids;
    b.source_position = l->source.position;
    b.source_row = l->source.row;
    b.source_slot = l->source.slot;
    b.source_begin = l->source.begin;
    b.target_in = l->target_in;
    b.target_out = l->target.ids;
    b.target_position = l->target.position;
    b.target_row = l->target.row;
    b.target_slot = l->target.slot;
    b.target_begin = l->target.begin;
    *batch = b;
    if (++l->at.batch == l->batches) {
        l->at = (ganz_position){l->at.epoch + 1, 0};
        l->planned = false;
    }
    return GANZ_OK;
}
