/* Groups of sentences through the network. */
#include "translate/decode_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ganz/vocab.h"
#include "nn/measure.h"

enum {
    EXTRA_TOKENS = 25, /* what a sentence counts in a group beside its tokens: limit = 2 * (tokens + 25) */
    LOGIT_ROWS = 60,   /* most rows of logits that exist at a time: as many as a cache likes */
    LOGIT_ROWS_LEAST = 16,
    LOGIT_NUMBERS = 1 << 21, /* where a vocabulary is large, as many as this */
    TIDY_ROWS = 512,         /* rows of keys among which it is worth looking for those that nobody reads any more */
    GPU_LOGIT_ROWS = 1024
};

/* Numbers of one step, in ordinary memory and as offsets into the block on the device. The last two are lists: self
 * attention's from a place on that follows from the number of rows, cross attention's from a fixed one on. */
typedef struct lists {
    int32_t *first_key, *ids, *positions, *self_begin, *cross_begin, *self, *cross;
    size_t head, tail; /* numbers from first_key and from cross on */
} lists;

/* ---- memory of a group -------------------------------------------------------------------------- */

static size_t found_bytes(const ganz_decoder *d)
{
    return (size_t)d->most_rows * ((size_t)d->k * (sizeof(float) + sizeof(int32_t)) + sizeof(float));
}

/* Memory of the device. A host backend would clear it all, and so make pages real that may never be used. */
static ganz_status take_block(ganz_decoder *d, void **memory, size_t bytes, ganz_error *err)
{
    if (!d->be->host) return d->be->alloc(d->be, memory, bytes, err);
    *memory = ganz_alloc_aligned(bytes);
    return *memory ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory: %zu bytes of workspace", bytes);
}

static void free_block(ganz_decoder *d, void *memory)
{
    if (memory && d->be->host) ganz_free(memory);
    else if (memory) d->be->free(d->be, memory);
}

static bool draws_from_all(const ganz_decoder *d) { return ganz_decoder_draws(d) && d->options.draw.top == 0; }

static int choose_logit_rows(const ganz_decoder *d)
{
    const int most = d->be->host ? LOGIT_ROWS : GPU_LOGIT_ROWS, fit = LOGIT_NUMBERS / d->net->config.vocab;
    if (!d->be->host) return d->most_rows < most ? d->most_rows : most;
    return fit > most ? most : fit < LOGIT_ROWS_LEAST ? LOGIT_ROWS_LEAST : fit;
}

static int most_key_rows(const ganz_decoder *d) { return 2 * d->options.search.beam * d->capacity; }

/* Largest group: rows of keys, numbers and beams follow from its count. */
static void size_group(ganz_decoder *d)
{
    const ganz_decoder_options *const o = &d->options;
    const int alone = o->max_input + EXTRA_TOKENS;
    d->capacity = o->batch_tokens > alone ? o->batch_tokens : alone;
    d->most_lanes = d->capacity / (EXTRA_TOKENS + 1);
    d->most_rows = d->most_lanes * o->search.beam;
    d->logit_rows = choose_logit_rows(d);
    d->k = ganz_decoder_draws(d) && o->draw.top > 0 ? o->draw.top : ganz_search_candidates(&o->search);
    if (d->k > d->net->config.vocab) d->k = d->net->config.vocab;
    const size_t list_rows = (size_t)o->search.beam * (size_t)d->capacity;
    d->numbers = 4 * (size_t)d->most_rows + 3 + 3 * list_rows; /* self lists: 2 * capacity a beam, cross: capacity */
}

/* Lists of one group: beams, numbers and candidates. */
static ganz_status take_lists(ganz_decoder *d, ganz_error *err)
{
    const int longest = d->net->config.max_positions;
    d->penalties = ganz_alloc((size_t)longest + 1, sizeof *d->penalties);
    for (int i = 1; d->penalties && i <= longest; i++) d->penalties[i] = ganz_length_penalty(i, &d->options.search);
    d->options.search.penalties = d->penalties;
    d->lanes = ganz_alloc((size_t)d->most_lanes, sizeof *d->lanes);
    d->host_numbers = ganz_alloc(d->numbers, sizeof *d->host_numbers);
    d->forced = ganz_alloc((size_t)d->most_rows, sizeof *d->forced);
    if (d->be->host) d->number = ganz_alloc((size_t)most_key_rows(d), sizeof *d->number);
    d->value = ganz_alloc(1, found_bytes(d));
    const size_t drawn = draws_from_all(d) ? (size_t)d->net->config.vocab : 0;
    if (drawn) d->row = ganz_alloc(drawn, sizeof *d->row), d->raw_row = ganz_alloc(drawn, sizeof *d->raw_row);
    if (!d->penalties || !d->lanes || !d->host_numbers || !d->forced || !d->value || (d->be->host && !d->number) ||
        (drawn && (!d->row || !d->raw_row)))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for a batch of %d tokens", d->capacity);
    GANZ_TRY(take_block(d, (void **)&d->device_numbers, d->numbers * sizeof *d->device_numbers, err));
    return take_block(d, (void **)&d->device_found, found_bytes(d), err);
}

/* ---- memory of the network ---------------------------------------------------------------------- */

static void take_keys(void *context, ganz_pass *pass)
{
    const ganz_decoder *const d = context;
    pass->failed = !ganz_keys_take(pass, d->net, most_key_rows(d), d->capacity);
}

static void ignore_input(void *context, int place, const ganz_matrix *x, ganz_quantize_call *call)
{
    (void)context, (void)place, (void)x, (void)call;
}

/* The largest encoder pass, the largest step and a part of its logits. */
static void dry_run(void *context, ganz_pass *pass)
{
    const ganz_decoder *const d = context;
    const ganz_instrument eye = {.input = ignore_input}; /* an instrument may ask for values */
    const int rows = d->capacity - EXTRA_TOKENS, queries = d->most_rows;
    const ganz_tokens source = {.rows = rows}, target = {.rows = queries};
    const ganz_spans encoder = {.queries = rows, .keys = rows, .segments = 1};
    const ganz_spans self = {.queries = queries, .keys = queries}, cross = {.queries = queries, .keys = rows};
    ganz_arena key_memory = ganz_counting_arena();
    ganz_pass key_pass = *pass;
    key_pass.device = &key_memory;
    ganz_keys *const keys = ganz_keys_take(&key_pass, d->net, most_key_rows(d), d->capacity);
    if (d->instrument) pass->instrument = &eye;
    const size_t host = ganz_arena_mark(pass->host);
    pass->failed = !keys;
    ganz_tensor *const memory = ganz_net_encode(pass, d->net, &source, &encoder);
    if (pass->failed) return;
    ganz_net_cross_keys(pass, d->net, memory, keys);
    ganz_arena_rewind(pass->device, 0);
    ganz_arena_rewind(pass->host, host);
    const ganz_tensor *const decoded = ganz_net_step(pass, d->net, &target, keys, &self, &cross);
    const int part = queries < d->logit_rows ? queries : d->logit_rows;
    if (!pass->failed) ganz_net_logits(pass, d->net, ganz_net_part(pass, decoded, 0, part));
}

static ganz_status set_block(ganz_decoder *d, void **block, ganz_arena *arena, size_t bytes, ganz_error *err)
{
    if (bytes <= arena->size) return GANZ_OK;
    ganz_arena_close(arena);
    free_block(d, *block);
    *block = NULL;
    GANZ_TRY(take_block(d, block, bytes, err));
    ganz_arena_over(arena, *block, bytes, d->be->host);
    return GANZ_OK;
}

static ganz_status set_host(ganz_arena *arena, size_t bytes, ganz_error *err)
{
    if (bytes <= arena->size) return GANZ_OK;
    ganz_arena_close(arena);
    return ganz_arena_open(arena, bytes, err);
}

/* Memory for the largest group, as the network is now. Beams and the list of keys live side by side. */
static ganz_status reserve(ganz_decoder *d, ganz_error *err)
{
    if (d->be->forget) d->be->forget(d->be, d);
    d->repeats = !d->instrument && ganz_repeat_can(d->be, d->net, d->weights);
    const ganz_search_options *const o = &d->options.search;
    const size_t fixed = ganz_beam_bytes(o, 0), lengths = ganz_beam_bytes(o, 2 * d->capacity) - fixed;
    ganz_memory keys, pass;
    GANZ_TRY(ganz_measure(d->be, d->weights, take_keys, d, &keys, err));
    GANZ_TRY(ganz_measure(d->be, d->weights, dry_run, d, &pass, err));
    GANZ_TRY(set_host(&d->beams, (size_t)d->most_lanes * fixed + lengths + keys.host, err));
    GANZ_TRY(set_block(d, &d->key_block, &d->keys_memory, keys.device, err));
    GANZ_TRY(set_block(d, &d->scratch_block, &d->scratch, pass.device, err));
    GANZ_TRY(set_host(&d->host_scratch, pass.host, err));
    d->edition = d->net->edition;
    return GANZ_OK;
}

/* ---- open and close ----------------------------------------------------------------------------- */

ganz_status ganz_decoder_open(ganz_decoder **decoder, ganz_backend *be, const ganz_net *net,
                              const ganz_weights *weights, const ganz_decoder_options *options, ganz_error *err)
{
    GANZ_ASSERT(options->max_input >= 1 && options->max_input <= net->config.max_positions);
    *decoder = NULL;
    if (weights->packed && be->host) GANZ_TRY(ganz_cpu_backend_reads(be, weights->be, err));
    ganz_decoder *d = ganz_alloc(1, sizeof *d);
    if (!d) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a decoder");
    d->be = be;
    d->net = net;
    d->weights = weights;
    d->options = *options;
    size_group(d);
    ganz_status status = take_lists(d, err);
    if (status == GANZ_OK) status = reserve(d, err);
    if (status != GANZ_OK) ganz_decoder_close(&d);
    *decoder = d;
    return status;
}

void ganz_decoder_close(ganz_decoder **decoder)
{
    ganz_decoder *const d = *decoder;
    *decoder = NULL;
    if (!d) return;
    if (d->be->forget) d->be->forget(d->be, d);
    ganz_arena_close(&d->beams);
    ganz_arena_close(&d->keys_memory);
    ganz_arena_close(&d->scratch);
    ganz_arena_close(&d->host_scratch);
    free_block(d, d->key_block);
    free_block(d, d->scratch_block);
    free_block(d, d->device_numbers);
    free_block(d, d->device_found);
    ganz_free(d->penalties);
    ganz_free(d->lanes);
    ganz_free(d->host_numbers);
    ganz_free(d->forced);
    ganz_free(d->number);
    ganz_free(d->value);
    ganz_free(d->row);
    ganz_free(d->raw_row);
    ganz_free(d->found);
    ganz_free(d->counts);
    ganz_free(d->offsets);
    ganz_free(d->order);
    ganz_free(d->pool);
    ganz_free(d);
}

ganz_status ganz_decoder_set_instrument(ganz_decoder *d, const ganz_instrument *instrument, ganz_error *err)
{
    d->instrument = instrument;
    return reserve(d, err);
}

int ganz_decoder_limit(const ganz_decoder *d, int source_tokens)
{
    int limit = d->options.force_length > 0 ? d->options.force_length : ganz_search_limit(source_tokens);
    if (d->options.max_length > 0 && d->options.max_length < limit) limit = d->options.max_length;
    return d->net->config.max_positions < limit ? d->net->config.max_positions : limit;
}

/* ---- results ------------------------------------------------------------------------------------ */

static ganz_status keep_results(ganz_decoder *d, const ganz_lane *l, ganz_error *err)
{
    const ganz_hypothesis *h;
    const int count = ganz_beam_results(&l->beam, &h);
    const size_t first = (size_t)l->sentence * (size_t)d->options.search.n_best;
    for (int i = 0; i < count; i++) {
        const size_t n = (size_t)h[i].length;
        if (!ganz_grow((void **)&d->pool, &d->pool_capacity, d->pool_used + n, sizeof *d->pool))
            return ganz_fail(err, GANZ_ENOMEM, "out of memory for results");
        memcpy(d->pool + d->pool_used, h[i].tokens, n * sizeof *d->pool);
        d->offsets[first + (size_t)i] = d->pool_used;
        d->found[first + (size_t)i] =
            (ganz_found){.count = h[i].length, .score = h[i].score, .finished = l->beam.finished > 0};
        d->pool_used += n;
    }
    d->counts[l->sentence] = count;
    return GANZ_OK;
}

static ganz_status make_room(ganz_decoder *d, size_t count, ganz_error *err)
{
    const size_t results = count * (size_t)d->options.search.n_best;
    d->pool_used = 0;
    if (ganz_grow((void **)&d->found, &d->found_capacity, results, sizeof *d->found) &&
        ganz_grow((void **)&d->offsets, &d->offsets_capacity, results, sizeof *d->offsets) &&
        ganz_grow((void **)&d->counts, &d->counts_capacity, count, sizeof *d->counts) &&
        ganz_grow((void **)&d->order, &d->order_capacity, count, sizeof *d->order) &&
        ganz_grow((void **)&d->pool, &d->pool_capacity, 1, sizeof *d->pool))
        return GANZ_OK;
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for %zu sentences", count);
}

/* ---- one group ---------------------------------------------------------------------------------- */

static ganz_pass new_pass(ganz_decoder *d)
{
    return (ganz_pass){.be = d->be,
                       .weights = d->weights,
                       .host = &d->host_scratch,
                       .device = &d->scratch,
                       .instrument = d->instrument};
}

/* A beam finds hypotheses that end at once where nothing else is likely, and drop the rest of their sentence. */
static int least_tokens(const ganz_decoder *d, const ganz_sentence *s, int limit)
{
    const int source = s->count - 1 - s->front, least = (int)(d->options.least_length * (source > 0 ? source : 0));
    return least < limit ? least : limit - 1;
}

/* One beam for each sentence, and the sentences end to end as one source. False when memory is short. */
static bool start_lanes(ganz_decoder *d, const ganz_sentence *sentences, const size_t *group, int count)
{
    int32_t row = 0;
    ganz_arena_rewind(&d->beams, 0);
    d->live = count;
    for (int i = 0; i < count; i++) {
        const ganz_sentence *const s = &sentences[group[i]];
        ganz_lane *const l = &d->lanes[i];
        *l = (ganz_lane){.sentence = (int)group[i], .first_row = row, .source_rows = s->count};
        if (ganz_decoder_draws(d)) l->stream = ganz_draw_stream(s->ids, s->count);
        ganz_search_options search = d->options.search;
        if (s->n_best > 0 && s->n_best < search.n_best) search.n_best = s->n_best;
        const int limit = ganz_decoder_limit(d, s->count);
        search.least = least_tokens(d, s, limit);
        search.avoided = s->avoided;
        if (!ganz_beam_start(&l->beam, &d->beams, &search, d->net->config.vocab, limit, s->prefix, s->prefix_count))
            return false;
        row += s->count;
    }
    return true;
}

static ganz_status no_scratch(ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "out of memory: a pass needs more than was measured");
}

/* Encoder and cross keys. */
static ganz_status encode_group(ganz_decoder *d, const ganz_sentence *sentences, int count, ganz_error *err)
{
    const int rows = d->lanes[count - 1].first_row + d->lanes[count - 1].source_rows;
    int32_t *const ids = d->host_numbers, *const positions = ids + rows, *const begin = positions + rows;
    int longest = 0;
    for (int i = 0; i < count; i++) {
        const ganz_sentence *const s = &sentences[d->lanes[i].sentence];
        begin[i] = d->lanes[i].first_row;
        memcpy(ids + begin[i], s->ids, (size_t)s->count * sizeof *ids);
        for (int j = 0; j < s->count; j++) positions[begin[i] + j] = j;
        if (s->count > longest) longest = s->count;
    }
    begin[count] = rows;
    d->be->upload(d->be, d->device_numbers, d->host_numbers, (size_t)(2 * rows + count + 1) * sizeof *ids);

    const int32_t *const device_begin = d->device_numbers + 2 * rows;
    const ganz_tokens source = {.rows = rows, .ids = d->device_numbers, .positions = d->device_numbers + rows};
    const ganz_spans see = {.queries = rows,
                            .keys = rows,
                            .segments = count,
                            .query_begin = device_begin,
                            .key_begin = device_begin,
                            .longest_query = longest,
                            .longest_key = longest};
    ganz_pass pass = new_pass(d);
    ganz_tensor *const memory = ganz_net_encode(&pass, d->net, &source, &see);
    if (!pass.failed) ganz_net_cross_keys(&pass, d->net, memory, d->keys);
    ganz_arena_rewind(&d->scratch, 0);
    ganz_arena_rewind(&d->host_scratch, 0);
    return pass.failed ? no_scratch(err) : GANZ_OK;
}

/* Where the numbers of a step lie. */
static lists place_lists(const ganz_decoder *d, int rows)
{
    lists at = {.first_key = d->host_numbers, .ids = d->host_numbers + 1};
    at.positions = at.ids + rows;
    at.self_begin = at.positions + rows;
    at.cross_begin = at.self_begin + rows + 1;
    at.self = at.cross_begin + rows + 1;
    at.cross = d->host_numbers + d->numbers - (size_t)d->options.search.beam * (size_t)d->capacity;
    return at;
}

/* Lays out ids, positions and key lists of all live rows; returns how many rows. */
static int fill_lists(ganz_decoder *d, lists *at, ganz_spans *self, ganz_spans *cross)
{
    int rows = 0, row = 0, longest_source = 0;
    for (int i = 0; i < d->live; i++) rows += d->lanes[i].beam.alive;
    const int step = d->lanes[0].beam.step;
    *at = place_lists(d, rows);
    *at->first_key = d->keys->used;
    int32_t *self_at = at->self, *cross_at = at->cross;
    for (int i = 0; i < d->live; i++) {
        const ganz_lane *const l = &d->lanes[i];
        if (l->source_rows > longest_source) longest_source = l->source_rows;
        for (int j = 0; j < l->beam.alive; j++, row++) {
            at->ids[row] = ganz_beam_input(&l->beam, j);
            at->positions[row] = step;
            d->forced[row] = ganz_beam_forced(&l->beam);
            at->self_begin[row] = (int32_t)(self_at - at->self);
            at->cross_begin[row] = (int32_t)(cross_at - at->cross);
            memcpy(self_at, l->beam.live[j].keys, (size_t)step * sizeof *self_at);
            self_at[step] = d->keys->used + row;
            self_at += step + 1;
            for (int s = 0; s < l->source_rows; s++) *cross_at++ = l->first_row + s;
        }
    }
    at->self_begin[rows] = (int32_t)(self_at - at->self);
    at->cross_begin[rows] = (int32_t)(cross_at - at->cross);
    at->head = (size_t)(self_at - at->first_key);
    at->tail = (size_t)(cross_at - at->cross);
    *self = (ganz_spans){.queries = rows, .keys = d->keys->used + rows, .longest_query = 1, .longest_key = step + 1};
    *cross =
        (ganz_spans){.queries = rows, .keys = d->keys->source_rows, .longest_query = 1, .longest_key = longest_source};
    return rows;
}

static const int32_t *on_device(const ganz_decoder *d, const int32_t *host)
{
    return d->device_numbers + (host - d->host_numbers);
}

static void upload_lists(ganz_decoder *d, const lists *at, ganz_spans *self, ganz_spans *cross)
{
    GANZ_ASSERT(at->head <= (size_t)(at->cross - at->first_key));
    d->be->upload(d->be, d->device_numbers, at->first_key, at->head * sizeof *at->first_key);
    d->be->upload(d->be, d->device_numbers + (at->cross - at->first_key), at->cross, at->tail * sizeof *at->cross);
    self->list_begin = on_device(d, at->self_begin);
    self->list = on_device(d, at->self);
    cross->list_begin = on_device(d, at->cross_begin);
    cross->list = on_device(d, at->cross);
}

/* One step on the device: the network, logits, candidates. */
static ganz_status run_step(ganz_decoder *d, const lists *at, const ganz_spans *self, const ganz_spans *cross,
                            bool apart, ganz_error *err)
{
    const int rows = self->queries;
    const ganz_tokens target = {.rows = rows, .ids = on_device(d, at->ids), .positions = on_device(d, at->positions)};
    ganz_pass pass = new_pass(d);
    if (d->repeats && !apart && rows <= GANZ_REPEAT_ROWS) pass.first_key = d->device_numbers;
    const ganz_tensor *const decoded = ganz_net_step(&pass, d->net, &target, d->keys, self, cross);
    if (!pass.failed) ganz_decoder_find_candidates(d, &pass, decoded, rows, apart);
    ganz_arena_rewind(&d->scratch, 0);
    ganz_arena_rewind(&d->host_scratch, 0);
    return pass.failed ? no_scratch(err) : GANZ_OK;
}

/* A step of few rows is recorded when it comes for the second time: then nothing in it is new to the device. */
static ganz_status repeat_step(ganz_decoder *d, const lists *at, ganz_spans *self, ganz_spans *cross, ganz_error *err)
{
    const int rows = self->queries, number = ganz_repeat_number(self, cross);
    if (d->be->replay(d->be, d, number)) {
        d->keys->used += rows;
        return GANZ_OK;
    }
    const bool record = d->ran[rows];
    d->ran[rows] = true;
    if (record) d->be->record(d->be);
    const ganz_status status = run_step(d, at, self, cross, false, err);
    if (record) d->be->recorded(d->be, d, number);
    return status;
}

/* The network's word on all live rows: candidates in ordinary memory. */
static ganz_status run_network(ganz_decoder *d, int *rows, ganz_error *err)
{
    lists at;
    ganz_spans self, cross;
    *rows = fill_lists(d, &at, &self, &cross);
    upload_lists(d, &at, &self, &cross);
    const bool apart = ganz_decoder_chooses(d, *rows);
    if (d->repeats && !apart && *rows <= GANZ_REPEAT_ROWS) GANZ_TRY(repeat_step(d, &at, &self, &cross, err));
    else GANZ_TRY(run_step(d, &at, &self, &cross, apart, err));
    if (!apart) ganz_decoder_fetch(d, *rows);
    return GANZ_OK;
}

static ganz_status check_candidates(const ganz_decoder *d, int rows, ganz_error *err)
{
    bool fine = true;
    for (int i = 0; i < rows; i++) fine = fine && isfinite(d->logsumexp[i]);
    for (int i = 0; i < rows * d->k; i++) fine = fine && d->index[i] >= 0 && d->index[i] < d->net->config.vocab;
    return fine ? GANZ_OK : ganz_fail(err, GANZ_EFORMAT, "the model's numbers overflow: it gives no probabilities");
}

/* Every beam takes its step; those that are done hand over their results and leave. */
static ganz_status advance_lanes(ganz_decoder *d, int32_t first_key, ganz_error *err)
{
    int row = 0, live = 0;
    for (int i = 0; i < d->live; i++) {
        ganz_lane *const l = &d->lanes[i];
        const size_t at = (size_t)row * (size_t)d->k;
        const ganz_candidates c = {.k = ganz_decoder_draws(d) || ganz_beam_forced(&l->beam) >= 0 ? 1 : d->k,
                                   .value = d->value + at,
                                   .index = d->index + at,
                                   .logsumexp = d->logsumexp + row,
                                   .first_key = first_key + row};
        row += l->beam.alive;
        ganz_beam_advance(&l->beam, &c);
        if (l->beam.done) GANZ_TRY(keep_results(d, l, err));
        else d->lanes[live++] = *l;
    }
    d->live = live;
    return GANZ_OK;
}

/* ---- keys that nobody reads any more ------------------------------------------------------------ */

/* Notes in d->number the rows that hypotheses read, and lists them in d->host_numbers. Returns how many. */
static int find_read_rows(ganz_decoder *d)
{
    int count = 0;
    memset(d->number, 0, (size_t)d->keys->used * sizeof *d->number);
    for (int i = 0; i < d->live; i++) {
        const ganz_beam *const b = &d->lanes[i].beam;
        for (int j = 0; j < b->alive; j++)
            for (int n = 0; n < b->live[j].length; n++) d->number[b->live[j].keys[n]] = 1;
    }
    for (int row = 0; row < d->keys->used; row++) {
        if (!d->number[row]) continue;
        d->host_numbers[count] = row;
        d->number[row] = count++;
    }
    return count;
}

/* Most hypotheses die soon, and sentences end: without their rows keys stay in fewer pages and nearer to the cores. */
static void tidy_keys(ganz_decoder *d)
{
    if (!d->number || d->keys->used < d->tidy_at) return;
    const int count = find_read_rows(d);
    ganz_keys_keep(d->keys, d->net, d->host_numbers, count);
    for (int i = 0; i < d->live; i++) {
        const ganz_beam *const b = &d->lanes[i].beam;
        for (int j = 0; j < b->alive; j++)
            for (int n = 0; n < b->live[j].length; n++) b->live[j].keys[n] = d->number[b->live[j].keys[n]];
    }
    d->tidy_at = 2 * count > TIDY_ROWS ? 2 * count : TIDY_ROWS;
}

static ganz_status run_group(ganz_decoder *d, const ganz_sentence *sentences, const size_t *group, int count,
                             ganz_error *err)
{
    if (!start_lanes(d, sentences, group, count)) return ganz_fail(err, GANZ_ENOMEM, "out of memory for beams");
    const ganz_lane *const last = &d->lanes[count - 1];
    ganz_arena_rewind(&d->keys_memory, 0);
    ganz_pass pass = new_pass(d);
    pass.host = &d->beams; /* both live as long as the group */
    pass.device = &d->keys_memory;
    /* of the largest group always: so all groups use the same pages */
    d->keys = ganz_keys_take(&pass, d->net, most_key_rows(d), d->capacity);
    if (!d->keys) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %d key rows", most_key_rows(d));
    d->keys->source_rows = last->first_row + last->source_rows;
    d->tidy_at = TIDY_ROWS;
    GANZ_TRY(encode_group(d, sentences, count, err));
    while (d->live > 0) {
        const int32_t first_key = d->keys->used;
        int rows;
        GANZ_TRY(run_network(d, &rows, err));
        GANZ_TRY(d->be->sync(d->be, err));
        GANZ_TRY(check_candidates(d, rows, err));
        GANZ_TRY(advance_lanes(d, first_key, err));
        tidy_keys(d);
        if (ganz_flag_is_set(d->options.stop)) return ganz_fail(err, GANZ_ESTOPPED, "stopped");
    }
    return d->be->sync(d->be, err);
}

/* ---- all of them -------------------------------------------------------------------------------- */

typedef struct place {
    int length;
    size_t sentence;
} place;

static int longest_first(const void *left, const void *right)
{
    const place *const a = left, *const b = right;
    if (a->length != b->length) return a->length > b->length ? -1 : 1;
    return (a->sentence > b->sentence) - (a->sentence < b->sentence);
}

static ganz_status sort_sentences(ganz_decoder *d, const ganz_sentence *sentences, size_t count, ganz_error *err)
{
    place *const places = ganz_alloc(count, sizeof *places);
    if (!places) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %zu sentences", count);
    for (size_t i = 0; i < count; i++) places[i] = (place){sentences[i].count, i};
    qsort(places, count, sizeof *places, longest_first);
    for (size_t i = 0; i < count; i++) d->order[i] = places[i].sentence;
    ganz_free(places);
    return GANZ_OK;
}

ganz_status ganz_decoder_run(ganz_decoder *d, const ganz_sentence *sentences, int count, const ganz_found **found,
                             const int **counts, ganz_error *err)
{
    const size_t n = (size_t)count;
    if (d->edition != d->net->edition) GANZ_TRY(reserve(d, err));
    GANZ_TRY(make_room(d, n, err));
    GANZ_TRY(sort_sentences(d, sentences, n, err));
    for (size_t first = 0, end; first < n; first = end) {
        int size = 0;
        for (end = first; end < n; end++) {
            const int more = sentences[d->order[end]].count + EXTRA_TOKENS;
            GANZ_ASSERT(more - EXTRA_TOKENS >= 1 && more - EXTRA_TOKENS <= d->options.max_input);
            if (size + more > d->capacity) break;
            size += more;
        }
        GANZ_TRY(run_group(d, sentences, d->order + first, (int)(end - first), err));
    }
    const size_t n_best = (size_t)d->options.search.n_best;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < (size_t)d->counts[i]; j++)
            d->found[i * n_best + j].ids = d->pool + d->offsets[i * n_best + j];
    *found = d->found;
    *counts = d->counts;
    return GANZ_OK;
}
