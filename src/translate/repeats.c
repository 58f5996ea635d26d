/* A table of buckets for finding lines, and a list by their last use for forgetting them. */
#include "translate/repeats.h"

#include <string.h>
#include <time.h>

#include "base/io.h"

enum { BYTES_A_BUCKET = 512, LEAST_BUCKETS = 64, OVERHEAD = 64 /* of the two blocks of an entry, about */ };

struct ganz_repeats {
    ganz_repeat **bucket;
    size_t buckets; /* a power of two */
    uint64_t salt;  /* so that nobody can write lines that all fall into one bucket */
    size_t bytes, most;
    ganz_repeat *newest, *oldest;
};

static ganz_status no_memory(ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for repeated lines");
}

ganz_status ganz_repeats_open(ganz_repeats **repeats, size_t most_bytes, ganz_error *err)
{
    struct timespec now;
    ganz_repeats *const t = *repeats = ganz_alloc(1, sizeof *t);
    if (!t) return no_memory(err);
    clock_gettime(CLOCK_MONOTONIC, &now);
    t->salt = ((uint64_t)now.tv_nsec << 32 ^ (uint64_t)(uintptr_t)t) * UINT64_C(0x9E3779B97F4A7C15);
    t->most = most_bytes;
    t->buckets = LEAST_BUCKETS;
    while (t->buckets < most_bytes / BYTES_A_BUCKET) t->buckets *= 2;
    t->bucket = ganz_alloc(t->buckets, sizeof(ganz_repeat *));
    if (t->bucket) return GANZ_OK;
    ganz_free(t);
    *repeats = NULL;
    return no_memory(err);
}

static void free_entry(ganz_repeat *e)
{
    ganz_free(e->block);
    ganz_free(e);
}

void ganz_repeats_close(ganz_repeats **repeats)
{
    ganz_repeats *const t = *repeats;
    *repeats = NULL;
    if (!t) return;
    for (size_t i = 0; i < t->buckets; i++)
        while (t->bucket[i]) {
            ganz_repeat *const e = t->bucket[i];
            t->bucket[i] = e->next;
            free_entry(e);
        }
    ganz_free(t->bucket);
    ganz_free(t);
}

/* ---- finding ------------------------------------------------------------------------------------ */

static size_t prefix_bytes(const ganz_line *line) { return line->prefix ? line->prefix_bytes : 0; }

static uint64_t hash_of(const ganz_repeats *t, const ganz_line *line)
{
    const uint64_t facts[5] = {t->salt, ganz_checksum(line->text, line->bytes),
                               ganz_checksum(line->prefix ? line->prefix : "", prefix_bytes(line)),
                               (uint64_t)line->n_best << 2 | (uint64_t)line->unlinked << 1 | line->unscored,
                               (uint64_t)line->formality};
    return ganz_checksum(facts, sizeof facts);
}

/* Every field of a line is part of the key. */
_Static_assert(sizeof(ganz_line) < offsetof(ganz_line, formality) + sizeof(ganz_formality) + sizeof(void *),
               "a new field of a line belongs into hash_of and is_same");

static bool same_bytes(const char *a, const char *b, size_t bytes) { return bytes == 0 || memcmp(a, b, bytes) == 0; }

static bool is_same(const ganz_line *a, const ganz_line *b)
{
    return a->bytes == b->bytes && prefix_bytes(a) == prefix_bytes(b) && !a->prefix == !b->prefix &&
           a->unlinked == b->unlinked && a->unscored == b->unscored && a->n_best == b->n_best &&
           a->formality == b->formality && same_bytes(a->text, b->text, a->bytes) &&
           same_bytes(a->prefix, b->prefix, prefix_bytes(a));
}

static ganz_repeat **place_of(const ganz_repeats *t, uint64_t hash) { return &t->bucket[hash & (t->buckets - 1)]; }

static void leave_list(ganz_repeats *t, ganz_repeat *e)
{
    if (e->newer) e->newer->older = e->older;
    else t->newest = e->older;
    if (e->older) e->older->newer = e->newer;
    else t->oldest = e->newer;
    t->bytes -= e->bytes;
}

static void enter_list(ganz_repeats *t, ganz_repeat *e)
{
    e->newer = NULL;
    e->older = t->newest;
    if (t->newest) t->newest->newer = e;
    else t->oldest = e;
    t->newest = e;
    t->bytes += e->bytes;
}

ganz_repeat *ganz_repeats_find(ganz_repeats *t, const ganz_line *line)
{
    if (!t) return NULL;
    const uint64_t hash = hash_of(t, line);
    ganz_repeat *e = *place_of(t, hash);
    while (e && (e->hash != hash || !is_same(&e->line, line))) e = e->next;
    if (e && e->result.best) {
        leave_list(t, e);
        enter_list(t, e);
    }
    return e;
}

/* ---- adding and forgetting ---------------------------------------------------------------------- */

ganz_repeat *ganz_repeats_add(ganz_repeats *t, const ganz_line *line)
{
    if (!t) return NULL;
    const size_t bytes = sizeof(ganz_repeat) + line->bytes + prefix_bytes(line);
    ganz_repeat *const e = ganz_alloc(1, bytes);
    if (!e) return NULL;
    char *const text = (char *)(e + 1);
    e->line = *line;
    e->line.text = text;
    if (line->bytes > 0) memcpy(text, line->text, line->bytes);
    if (line->prefix) e->line.prefix = text + line->bytes;
    if (prefix_bytes(line) > 0) memcpy(text + line->bytes, line->prefix, line->prefix_bytes);
    e->bytes = bytes;
    e->hash = hash_of(t, line);
    e->next = *place_of(t, e->hash);
    *place_of(t, e->hash) = e;
    return e;
}

void ganz_repeats_drop(ganz_repeats *t, ganz_repeat *e)
{
    ganz_repeat **at = place_of(t, e->hash);
    GANZ_ASSERT(!e->waiters);
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    if (e->result.best) leave_list(t, e);
    free_entry(e);
}

void ganz_repeats_keep(ganz_repeats *t, ganz_repeat *e, ganz_result result, void *block, size_t bytes)
{
    GANZ_ASSERT(!e->waiters && result.best);
    e->result = result;
    e->block = block;
    e->bytes += bytes + OVERHEAD;
    enter_list(t, e);
    while (t->bytes > t->most) ganz_repeats_drop(t, t->oldest);
}

/* ---- waiting ------------------------------------------------------------------------------------ */

bool ganz_repeat_wait(ganz_repeat *e, ganz_request *request, int line)
{
    ganz_waiter *const w = ganz_alloc(1, sizeof *w);
    if (!w) return false;
    *w = (ganz_waiter){request, line, e->waiters};
    e->waiters = w;
    return true;
}

bool ganz_repeat_next(ganz_repeat *e, ganz_request **request, int *line)
{
    ganz_waiter *const w = e->waiters;
    if (!w) return false;
    *request = w->request;
    *line = w->line;
    e->waiters = w->next;
    ganz_free(w);
    return true;
}
