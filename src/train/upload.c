/* A batch on its way to the device: its arrays are packed into one block and copied at once. */
#include "train/upload.h"

#include <string.h>

/* Arrays of one pass: six of the source, eight of the target, two of segment begins. */
enum { SOURCE_ARRAYS = 6, TARGET_ARRAYS = 8, BEGIN_ARRAYS = 2 };

ganz_status ganz_upload_open(ganz_upload *upload, ganz_backend *be, int tokens, int vocab, ganz_error *err)
{
    *upload = (ganz_upload){.be = be, .tokens = tokens, .vocab = vocab};
    upload->ints = (size_t)(SOURCE_ARRAYS + TARGET_ARRAYS) * (size_t)tokens + BEGIN_ARRAYS * ((size_t)tokens + 1);
    upload->staging = ganz_alloc(upload->ints, sizeof *upload->staging);
    upload->places = ganz_alloc((size_t)vocab + 1, sizeof *upload->places);
    void *block = NULL;
    ganz_status status = GANZ_OK;
    if (!upload->staging || !upload->places)
        status = ganz_fail(err, GANZ_ENOMEM, "out of memory for batches of %d tokens", tokens);
    else status = be->alloc(be, &block, upload->ints * sizeof *upload->device, err);
    upload->device = block;
    if (status != GANZ_OK) ganz_upload_close(upload);
    return status;
}

void ganz_upload_close(ganz_upload *upload)
{
    if (upload->device) upload->be->free(upload->be, upload->device);
    ganz_free(upload->staging);
    ganz_free(upload->places);
    *upload = (ganz_upload){0};
}

int ganz_batch_cut(const ganz_batch *batch, int first, int tokens)
{
    int last = first;
    while (last < batch->segments) {
        int end = last + 1; /* behind the row that begins here */
        const int32_t row = batch->target_row ? batch->target_row[batch->target_begin[last]] : 0;
        while (batch->target_row && end < batch->segments && batch->target_row[batch->target_begin[end]] == row) end++;
        const int source = batch->source_begin[end] - batch->source_begin[first];
        const int target = batch->target_begin[end] - batch->target_begin[first];
        if (last > first && (source > tokens || target > tokens)) break;
        last = end;
    }
    return last;
}

/* Where the next array goes, in both blocks. */
typedef struct cursor {
    const ganz_upload *upload;
    size_t at;
} cursor;

static int32_t *next(cursor *c, size_t count, const int32_t **device)
{
    GANZ_ASSERT(c->at + count <= c->upload->ints);
    int32_t *const host = c->upload->staging + c->at;
    *device = c->upload->device + c->at;
    c->at += count;
    return host;
}

static const int32_t *put(cursor *c, const int32_t *from, int count, int32_t less)
{
    const int32_t *device;
    int32_t *const to = next(c, (size_t)count, &device);
    for (int i = 0; i < count; i++) to[i] = from[i] - less;
    return device;
}

/* A batch says -1 where the decoder begins. */
static const int32_t *put_ids(cursor *c, const int32_t *ids, int count)
{
    const int32_t *device;
    int32_t *const to = next(c, (size_t)count, &device);
    for (int i = 0; i < count; i++) to[i] = ids[i] < 0 ? GANZ_START : ids[i];
    return device;
}

/* Token numbers by rising id, equal ids in rising order: a counting sort. Ids below 1 come first. */
static const int32_t *put_by_id(cursor *c, const int32_t *ids, int count)
{
    const int32_t *device;
    int32_t *const to = next(c, (size_t)count, &device), *const places = c->upload->places;
    memset(places, 0, sizeof *places * ((size_t)c->upload->vocab + 1));
    for (int i = 0; i < count; i++) places[(ids[i] < 0 ? 0 : ids[i]) + 1]++;
    for (int v = 0; v < c->upload->vocab; v++) places[v + 1] += places[v];
    for (int i = 0; i < count; i++) to[places[ids[i] < 0 ? 0 : ids[i]]++] = i;
    return device;
}

typedef struct side {
    const int32_t *ids, *position, *row, *slot, *begin;
    int slots;
} side;

/* Groups of rows that share attention masks, counted from the batch's first row. */
static void put_lines(cursor *c, const side *s, int at, ganz_tokens *t)
{
    const int rows = c->upload->mask_rows;
    if (rows <= 0) return;
    const int32_t first = s->row[at] / rows;
    int32_t *const to = next(c, (size_t)t->rows, &t->line);
    for (int i = 0; i < t->rows; i++) to[i] = (s->row[at + i] / rows - first) * s->slots + s->slot[at + i];
    t->groups = s->row[at + t->rows - 1] / rows - first + 1;
}

static ganz_tokens put_tokens(cursor *c, const side *s, int first, int last)
{
    const int at = s->begin[first], rows = s->begin[last] - at;
    ganz_tokens t = {.rows = rows, .slots = s->slots};
    t.ids = put_ids(c, s->ids + at, rows);
    t.positions = put(c, s->position + at, rows, 0);
    if (!s->row) return t;
    t.row = put(c, s->row + at, rows, s->row[at]);
    t.slot = put(c, s->slot + at, rows, 0);
    t.packed_rows = s->row[at + rows - 1] - s->row[at] + 1;
    t.by_id = put_by_id(c, s->ids + at, rows);
    put_lines(c, s, at, &t);
    return t;
}

/* Behind the last segment whose row is in the same group of so many rows as that of segment `first`. */
static int group_end(const ganz_batch *batch, int first, int rows)
{
    int end = first;
    const int32_t group = batch->target_row[batch->target_begin[first]] / rows;
    while (end < batch->segments && batch->target_row[batch->target_begin[end]] / rows == group) end++;
    return end;
}

/* Tensor2Tensor's cores each take the mean over their own rows, and their gradients are averaged: a token has its share
 * of the mean of its group, whatever part of the group is in this pass. */
static const float *put_shares(cursor *c, const ganz_batch *batch, int first, int last)
{
    const int rows = c->upload->mean_rows, groups = rows > 0 ? (batch->packed_rows + rows - 1) / rows : 0;
    const int32_t *device;
    if (rows <= 0 || !batch->target_row) return NULL;
    const int32_t begin = batch->target_begin[first];
    int32_t *const to = next(c, (size_t)(batch->target_begin[last] - begin), &device);
    for (int segment = 0, end; segment < last; segment = end) {
        end = group_end(batch, segment, rows);
        const int32_t from = batch->target_begin[segment], behind = batch->target_begin[end];
        const float share = (float)(1.0 / groups / (behind - from));
        for (int32_t i = from < begin ? begin : from; i < behind && i < batch->target_begin[last]; i++)
            memcpy(&to[i - begin], &share, sizeof share);
    }
    return (const float *)device;
}

static int longest(const int32_t *begin, int first, int last)
{
    int most = 0;
    for (int i = first; i < last; i++) most = begin[i + 1] - begin[i] > most ? begin[i + 1] - begin[i] : most;
    return most;
}

void ganz_upload_part(ganz_upload *upload, const ganz_batch *batch, int first, int last, int slots, ganz_feed *feed)
{
    cursor c = {upload, 0};
    const side source = {batch->source_ids,  batch->source_position, batch->source_row,
                         batch->source_slot, batch->source_begin,    slots};
    const side target = {batch->target_in,   batch->target_position, batch->target_row,
                         batch->target_slot, batch->target_begin,    slots};
    const int begins = last - first + 1;
    feed->source = put_tokens(&c, &source, first, last);
    feed->target = put_tokens(&c, &target, first, last);
    feed->labels = put(&c, batch->target_out + batch->target_begin[first], feed->target.rows, 0);
    feed->shares = put_shares(&c, batch, first, last);
    const int32_t *const sources = put(&c, batch->source_begin + first, begins, batch->source_begin[first]);
    const int32_t *const targets = put(&c, batch->target_begin + first, begins, batch->target_begin[first]);
    upload->be->upload(upload->be, upload->device, upload->staging, c.at * sizeof *upload->staging);

    const int n = last - first;
    const int long_source = longest(batch->source_begin, first, last);
    const int long_target = longest(batch->target_begin, first, last);
    feed->encoder = (ganz_spans){.queries = feed->source.rows,
                                 .keys = feed->source.rows,
                                 .segments = n,
                                 .query_begin = sources,
                                 .key_begin = sources,
                                 .longest_query = long_source,
                                 .longest_key = long_source};
    feed->decoder = (ganz_spans){.queries = feed->target.rows,
                                 .keys = feed->target.rows,
                                 .segments = n,
                                 .query_begin = targets,
                                 .key_begin = targets,
                                 .causal = true,
                                 .longest_query = long_target,
                                 .longest_key = long_target};
    feed->cross = (ganz_spans){.queries = feed->target.rows,
                               .keys = feed->source.rows,
                               .segments = n,
                               .query_begin = targets,
                               .key_begin = sources,
                               .longest_query = long_target,
                               .longest_key = long_source};
}
