/* The plan of an epoch: pairs by weight, shuffled, packed into rows or cut into batches of like length. */
#include "train/plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"

/* One random stream for each use and epoch, apart from those of initialisation and dropout. */
typedef enum { MIXTURE = 0xC1, PAIRS = 0xC2, UNITS = 0xC3 } use;
static uint64_t stream(use what, uint64_t epoch) { return (uint64_t)what << 56 | epoch; }

static ganz_status no_memory(uint32_t count, ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for the order of %u pairs", count);
}

void ganz_plan_free(ganz_plan *plan)
{
    ganz_free(plan->begin);
    ganz_free(plan->pairs);
    *plan = (ganz_plan){0};
}

static ganz_status make_room(ganz_plan *plan, uint32_t count, ganz_error *err)
{
    *plan = (ganz_plan){0};
    plan->pairs = ganz_alloc(count, sizeof *plan->pairs);
    plan->begin = ganz_alloc((size_t)count + 1, sizeof *plan->begin);
    if (plan->pairs && plan->begin) return GANZ_OK;
    ganz_plan_free(plan);
    return no_memory(count, err);
}

/* ---- which pairs, in which order ---------------------------------------------------------------- */

/* How often a pair comes in this epoch. Each pair has a place of its own in [0, 1), the same in all epochs,
 * and comes whenever place + epoch * weight passes a whole number: weights such as 0.5 or 1.5 are met exactly
 * over the epochs, and a whole weight in each of them. 32 bits behind the point. */
static uint32_t copies(uint64_t seed, uint64_t epoch, uint32_t pair, uint64_t weight)
{
    const uint64_t place = ganz_random_u32(seed, stream(MIXTURE, 0), pair);
    return (uint32_t)(((place + (epoch + 1) * weight) >> 32) - ((place + epoch * weight) >> 32));
}

static uint64_t fixed_weight(const ganz_corpus *c, int group)
{
    return (uint64_t)llrint(ldexp(c->group_weight[group], 32));
}

/* Fills pairs, or only counts them when it is NULL. */
static uint64_t list_pairs(const ganz_corpus *c, uint64_t seed, uint64_t epoch, uint32_t *pairs)
{
    uint64_t n = 0;
    for (int g = 0; g < c->groups; g++) {
        const uint64_t weight = fixed_weight(c, g);
        const bool whole = (weight & UINT32_MAX) == 0;
        for (uint64_t i = c->group_begin[g]; i < c->group_begin[g + 1]; i++) {
            const uint32_t pair = (uint32_t)i;
            uint32_t k = whole ? (uint32_t)(weight >> 32) : copies(seed, epoch, pair, weight);
            for (; k > 0; k--, n++)
                if (pairs) pairs[n] = pair;
        }
    }
    return n;
}

static void shuffle(uint64_t seed, uint64_t numbers, uint32_t *items, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        const uint32_t j = ganz_random_below(seed, numbers, i, i);
        const uint32_t swap = items[i - 1];
        items[i - 1] = items[j];
        items[j] = swap;
    }
}

ganz_status ganz_plan_shuffle(const ganz_corpus *corpus, uint64_t seed, uint64_t epoch, uint32_t **pairs,
                              uint32_t *count, ganz_error *err)
{
    *pairs = NULL;
    if (epoch >= UINT64_C(1) << 21) /* epoch * weight stays below 2^64 */
        return ganz_fail(err, GANZ_ELIMIT, "epoch %llu is beyond what a run can have", (unsigned long long)epoch);
    const uint64_t n = list_pairs(corpus, seed, epoch, NULL);
    if (n > INT32_MAX) return ganz_fail(err, GANZ_ELIMIT, "an epoch of %llu pairs is too long", (unsigned long long)n);
    *pairs = ganz_alloc((size_t)n, sizeof **pairs);
    if (!*pairs) return no_memory((uint32_t)n, err);
    *count = (uint32_t)n;
    list_pairs(corpus, seed, epoch, *pairs);
    shuffle(seed, stream(PAIRS, epoch), *pairs, *count);
    return GANZ_OK;
}

/* ---- packed rows -------------------------------------------------------------------------------- */

typedef struct row {
    uint32_t source, target; /* slots taken */
    uint32_t count;
    uint32_t *pairs; /* (slots): each takes one slot at least */
} row;

static void give_out(ganz_plan *plan, row *r)
{
    for (uint32_t i = 0; i < r->count; i++) plan->pairs[plan->count++] = r->pairs[i];
    plan->begin[++plan->units] = plan->count;
}

/* The rows are a queue in a circle: open[(first + i) % room] for i < used, oldest first. */
static void pack_all(const ganz_pair_list *list, uint32_t slots, row *open, uint32_t room, ganz_plan *plan)
{
    uint32_t first = 0, used = 0;
    for (uint32_t p = 0; p < list->count; p++) {
        const uint32_t pair = list->pairs[p];
        const uint32_t source = ganz_corpus_source(list->corpus, pair), target = ganz_corpus_target(list->corpus, pair);
        row *r = NULL;
        for (uint32_t i = 0; i < used && !r; i++) {
            row *const at = &open[(first + i) % room];
            if (at->source + source <= slots && at->target + target <= slots) r = at;
        }
        if (!r) {
            if (used == room) {
                give_out(plan, &open[first]);
                first = (first + 1) % room;
                used--;
            }
            r = &open[(first + used++) % room];
            r->source = r->target = r->count = 0;
        }
        r->pairs[r->count++] = pair;
        r->source += source;
        r->target += target;
    }
    for (uint32_t i = 0; i < used; i++) give_out(plan, &open[(first + i) % room]);
}

ganz_status ganz_plan_pack(const ganz_pair_list *list, int slots, int open_rows, ganz_plan *plan, ganz_error *err)
{
    GANZ_ASSERT(slots > 0 && open_rows > 0);
    GANZ_TRY(make_room(plan, list->count, err));
    row *const open = ganz_alloc((size_t)open_rows, sizeof *open);
    uint32_t *const items = ganz_alloc((size_t)open_rows * (size_t)slots, sizeof *items);
    if (open && items) {
        for (int i = 0; i < open_rows; i++) open[i].pairs = items + (size_t)i * (size_t)slots;
        pack_all(list, (uint32_t)slots, open, (uint32_t)open_rows, plan);
    } else {
        ganz_plan_free(plan);
    }
    const bool packed = open && items;
    ganz_free(items);
    ganz_free(open);
    return packed ? GANZ_OK : no_memory(list->count, err);
}

static bool is_long(const ganz_corpus *c, uint32_t pair, uint32_t length)
{
    return ganz_corpus_source(c, pair) > length || ganz_corpus_target(c, pair) > length;
}

void ganz_plan_drop_long(const ganz_corpus *corpus, int length, ganz_plan *plan)
{
    uint32_t units = 0, count = 0, from = 0;
    for (uint32_t u = 0; u < plan->units; u++) {
        const uint32_t to = plan->begin[u + 1];
        bool keep = true;
        for (uint32_t i = from; i < to && keep; i++) keep = !is_long(corpus, plan->pairs[i], (uint32_t)length);
        if (keep) {
            for (uint32_t i = from; i < to; i++) plan->pairs[count++] = plan->pairs[i];
            plan->begin[++units] = count;
        } else {
            plan->dropped += to - from;
        }
        from = to;
    }
    plan->units = units;
    plan->count = count;
}

/* ---- batches of sentences ----------------------------------------------------------------------- */

static int order_by_key(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Longer side first in the key, then the source, then the place in the window: no two keys are equal. */
static void sort_window(const ganz_pair_list *window, uint64_t *keys)
{
    const uint32_t most = (1u << 20) - 1;
    for (uint32_t i = 0; i < window->count; i++) {
        const uint32_t source = ganz_corpus_source(window->corpus, window->pairs[i]);
        const uint32_t target = ganz_corpus_target(window->corpus, window->pairs[i]);
        const uint32_t longer = source > target ? source : target;
        keys[i] = (uint64_t)(longer < most ? longer : most) << 44 | (uint64_t)(source < most ? source : most) << 24 | i;
    }
    qsort(keys, window->count, sizeof *keys, order_by_key);
}

/* Appends the pairs of one sorted window as units. */
static void cut_window(const ganz_pair_list *window, const uint64_t *keys, const ganz_buckets *buckets, ganz_plan *plan)
{
    const uint32_t tokens = (uint32_t)buckets->tokens, longest = (uint32_t)buckets->longest;
    uint64_t source = 0, target = 0;
    for (uint32_t i = 0; i < window->count; i++) {
        const uint32_t pair = window->pairs[keys[i] & 0xFFFFFF];
        const uint32_t s = ganz_corpus_source(window->corpus, pair), t = ganz_corpus_target(window->corpus, pair);
        if (s > longest || t > longest) {
            plan->dropped++;
            continue;
        }
        if (source > 0 && (source + s > tokens || target + t > tokens)) {
            plan->begin[++plan->units] = plan->count;
            source = target = 0;
        }
        plan->pairs[plan->count++] = pair;
        source += s;
        target += t;
    }
    if (source > 0) plan->begin[++plan->units] = plan->count;
}

/* Units in another order: first their numbers are shuffled, then the pairs are copied after them. */
static ganz_status shuffle_units(ganz_plan *plan, uint64_t seed, uint64_t epoch, ganz_error *err)
{
    ganz_plan mixed;
    GANZ_TRY(make_room(&mixed, plan->count, err));
    uint32_t *const order = ganz_alloc(plan->units, sizeof *order);
    if (!order) {
        ganz_plan_free(&mixed);
        return no_memory(plan->count, err);
    }
    for (uint32_t u = 0; u < plan->units; u++) order[u] = u;
    shuffle(seed, stream(UNITS, epoch), order, plan->units);
    for (uint32_t u = 0; u < plan->units; u++) {
        for (uint32_t i = plan->begin[order[u]]; i < plan->begin[order[u] + 1]; i++)
            mixed.pairs[mixed.count++] = plan->pairs[i];
        mixed.begin[++mixed.units] = mixed.count;
    }
    mixed.dropped = plan->dropped;
    ganz_free(order);
    ganz_plan_free(plan);
    *plan = mixed;
    return GANZ_OK;
}

ganz_status ganz_plan_bucket(const ganz_pair_list *list, const ganz_buckets *buckets, ganz_plan *plan, ganz_error *err)
{
    const uint32_t size = (uint32_t)buckets->window, count = list->count;
    GANZ_ASSERT(buckets->tokens >= buckets->longest && buckets->longest > 0);
    GANZ_ASSERT(buckets->window > 0 && buckets->window <= 1 << 24);
    GANZ_TRY(make_room(plan, count, err));
    uint64_t *const keys = ganz_alloc(size, sizeof *keys);
    ganz_status status = keys ? GANZ_OK : no_memory(count, err);
    for (uint32_t at = 0; keys && at < count; at += size) {
        const ganz_pair_list window = {list->corpus, list->pairs + at, count - at < size ? count - at : size};
        sort_window(&window, keys);
        cut_window(&window, keys, buckets, plan);
    }
    ganz_free(keys);
    if (status == GANZ_OK) status = shuffle_units(plan, buckets->seed, buckets->epoch, err);
    if (status != GANZ_OK) ganz_plan_free(plan);
    return status;
}
