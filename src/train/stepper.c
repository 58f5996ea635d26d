/* A pass: a part of a batch goes up to the device, through the network and, in training, backwards over the tape. */
#include "train/stepper.h"

#include <string.h>

#include "base/rng.h"

enum { HOST_CHUNK = 256, DEVICE_CHUNK = 4096 };

static const uint64_t parts_stream = 0x7061727473; /* of seeds, one for each part */

/* Rows of logits at a time: small enough for caches on a CPU, large enough to fill a GPU. */
static int chunk_of(const ganz_stepper *stepper) { return stepper->be->host ? HOST_CHUNK : DEVICE_CHUNK; }

typedef struct purpose {
    bool training;
    const ganz_tutor *tutor; /* teaches instead of the labels; NULL: none */
    real smoothing;
    uint64_t seed;
    double scale; /* of gradients */
    double *sums; /* on the device */
    const ganz_flag *stop;
} purpose;

static ganz_tensor *decode(ganz_pass *pass, const ganz_net *net, const ganz_feed *feed)
{
    ganz_tensor *const memory = ganz_net_encode(pass, net, &feed->source, &feed->encoder);
    return ganz_net_decode(pass, net, &feed->target, &feed->source, memory, &feed->decoder, &feed->cross);
}

/* Keeps the last layer of the tutor at the bottom of the arenas and gives the rest back. Returns false without memory.
 */
static bool ask_tutor(const ganz_pass *base, const ganz_feed *feed, const ganz_tutor *tutor, ganz_teacher *teacher)
{
    const size_t room = (size_t)feed->target.rows * (size_t)tutor->net.config.width * sizeof(real);
    ganz_pass pass = *base;
    pass.weights = &tutor->weights;
    void *const kept = ganz_arena_take(pass.device, room, 1);
    const size_t host = ganz_arena_mark(pass.host), device = ganz_arena_mark(pass.device);
    const ganz_tensor *const decoded = kept ? decode(&pass, &tutor->net, feed) : NULL;
    if (!decoded || pass.failed) return false;
    const ganz_matrix *const m = &decoded->m;
    *teacher = (ganz_teacher){&tutor->net, &tutor->weights, *m};
    teacher->decoded.data = kept;
    pass.be->copy(pass.be, kept, m->data, (size_t)m->rows * (size_t)m->ld * ganz_type_bytes(m->type));
    ganz_arena_rewind(pass.host, host);
    ganz_arena_rewind(pass.device, device);
    return true;
}

/* One pass over a feed; the gradients too when training. */
static void make_pass(const ganz_stepper *stepper, ganz_pass *pass, const ganz_feed *feed, const purpose *why)
{
    ganz_goal goal = {.labels = feed->labels, .sums = why->sums, .chunk = chunk_of(stepper)};
    goal.grad_scale = (real)why->scale;
    goal.smoothing = why->smoothing;
    ganz_teacher teacher;
    if (why->tutor) {
        pass->failed = !ask_tutor(pass, feed, why->tutor, &teacher);
        goal.teacher = &teacher;
    }
    if (why->training && !pass->failed) {
        pass->tape = ganz_tape_open(pass->host);
        pass->dropout = stepper->options.dropout;
        pass->seed = why->seed;
        pass->train_weights = stepper->train_weights;
        pass->learn_scales = stepper->learn_scales;
        if (!pass->tape) pass->failed = true;
    }
    ganz_tensor *const decoded = decode(pass, stepper->net, feed);
    ganz_net_loss(pass, stepper->net, decoded, &goal);
    if (why->training && pass->tape) ganz_tape_backward(pass);
}

static ganz_status run_pass(ganz_stepper *stepper, const ganz_feed *feed, const purpose *why, ganz_error *err)
{
    ganz_arena_rewind(&stepper->host, 0);
    ganz_arena_rewind(&stepper->device, 0);
    ganz_pass pass = {
        .be = stepper->be, .weights = stepper->weights, .host = &stepper->host, .device = &stepper->device};
    make_pass(stepper, &pass, feed, why);
    if (!pass.failed) return GANZ_OK;
    return ganz_fail(err, GANZ_ENOMEM, "a pass over %d source and %d target tokens needs more than its %zu MiB",
                     feed->source.rows, feed->target.rows, stepper->device.size >> 20);
}

/* Each part has one of them: over many parts all are believed alike, and none costs more than its share. */
static const ganz_tutor *draw_tutor(const ganz_stepper *stepper, uint64_t seed)
{
    const ganz_tutors *const tutors = stepper->options.tutors;
    return tutors && tutors->count > 0 ? &tutors->all[seed % (uint64_t)tutors->count] : NULL;
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* A feed of the largest part, without data. */
static ganz_feed largest_feed(const ganz_stepper_options *o)
{
    static const int32_t none[2];
    const int longest = o->slots < o->tokens ? o->slots : o->tokens;
    const ganz_tokens t = {.rows = o->tokens,
                           .ids = none,
                           .positions = none,
                           .row = none,
                           .slot = none,
                           .packed_rows = o->rows,
                           .slots = o->slots,
                           .by_id = none};
    const ganz_spans s = {.queries = o->tokens,
                          .keys = o->tokens,
                          .segments = o->rows,
                          .query_begin = none,
                          .key_begin = none,
                          .longest_query = longest,
                          .longest_key = longest};
    ganz_feed feed = {.source = t, .target = t, .labels = none, .encoder = s, .decoder = s, .cross = s};
    feed.decoder.causal = true;
    return feed;
}

/* The largest part, for training and for a look, with each tutor. */
static void dry_run(void *context, ganz_pass *base)
{
    const ganz_stepper *const stepper = context;
    const ganz_feed feed = largest_feed(&stepper->options);
    const int tutors = stepper->options.tutors ? stepper->options.tutors->count : 0;
    const bool trains = stepper->weights->grad && (stepper->train_weights || stepper->learn_scales);
    for (int i = 0; i < (tutors > 0 ? tutors : 1); i++)
        for (int training = 0; training <= (trains ? 1 : 0); training++) {
            const purpose why = {.training = training, .tutor = draw_tutor(stepper, (uint64_t)i)};
            ganz_pass pass = *base;
            ganz_arena_rewind(pass.host, 0);
            ganz_arena_rewind(pass.device, 0);
            make_pass(stepper, &pass, &feed, &why);
            base->failed = base->failed || pass.failed;
        }
}

/* More than there is, for whatever is larger now. */
static ganz_status grow(ganz_stepper *stepper, const ganz_memory *need, ganz_error *err)
{
    ganz_error reason;
    void *block;
    if (need->host > stepper->host.size) {
        ganz_arena_close(&stepper->host);
        GANZ_TRY(ganz_arena_open(&stepper->host, need->host, err));
    }
    if (need->device <= stepper->device.size) return GANZ_OK;
    if (stepper->device.base) stepper->be->free(stepper->be, stepper->device.base);
    stepper->device = (ganz_arena){0};
    if (stepper->be->alloc(stepper->be, &block, need->device, &reason) != GANZ_OK)
        return ganz_fail(err, GANZ_ENOMEM, "no %zu MiB for a pass over %d tokens (micro-tokens makes it smaller): %s",
                         need->device >> 20, stepper->options.tokens, reason.message);
    ganz_arena_over(&stepper->device, block, need->device, stepper->be->host);
    return GANZ_OK;
}

ganz_status ganz_stepper_reserve(ganz_stepper *stepper, ganz_error *err)
{
    ganz_memory need;
    GANZ_TRY(ganz_measure(stepper->be, stepper->weights, dry_run, stepper, &need, err));
    return grow(stepper, &need, err);
}

static ganz_status take_memory(ganz_stepper *stepper, ganz_error *err)
{
    void *block;
    const ganz_config *const c = &stepper->net->config;
    const int words = c->source_vocab > c->vocab ? c->source_vocab : c->vocab;
    GANZ_TRY(ganz_stepper_reserve(stepper, err));
    GANZ_TRY(stepper->be->alloc(stepper->be, &block, 6 * sizeof *stepper->sums, err));
    stepper->sums = block;
    return ganz_upload_open(&stepper->upload, stepper->be, stepper->options.tokens, words, err);
}

ganz_status ganz_stepper_open(ganz_stepper *stepper, const ganz_net *net, const ganz_weights *weights,
                              const ganz_stepper_options *options, ganz_error *err)
{
    *stepper = (ganz_stepper){.options = *options, .be = weights->be, .net = net, .weights = weights};
    stepper->train_weights = true;
    const ganz_status status = take_memory(stepper, err);
    if (status != GANZ_OK) ganz_stepper_close(stepper);
    return status;
}

void ganz_stepper_close(ganz_stepper *stepper)
{
    if (stepper->be && stepper->device.base) stepper->be->free(stepper->be, stepper->device.base);
    if (stepper->sums) stepper->be->free(stepper->be, stepper->sums);
    ganz_upload_close(&stepper->upload);
    ganz_arena_close(&stepper->host);
    *stepper = (ganz_stepper){0};
}

/* ---- groups of rows ----------------------------------------------------------------------------- */

/* Behind the last segment that is in the same group of so many rows as segment `first`. */
static int group_end(const ganz_batch *batch, int first, int rows)
{
    int end = first;
    if (rows <= 0 || !batch->target_row) return batch->segments;
    const int32_t group = batch->target_row[batch->target_begin[first]] / rows;
    while (end < batch->segments && batch->target_row[batch->target_begin[end]] / rows == group) end++;
    return end;
}

/* As ganz_batch_cut, within groups: a part has its own masks, and no share of two means. */
static int cut(const ganz_stepper *stepper, const ganz_batch *batch, int first)
{
    const int mean = group_end(batch, first, stepper->options.mean_rows),
              mask = group_end(batch, first, stepper->options.mask_rows);
    ganz_batch group = *batch;
    group.segments = mean < mask ? mean : mask;
    return ganz_batch_cut(&group, first, stepper->options.tokens);
}

/* Tensor2Tensor's cores each take the mean over their own rows, and their gradients are averaged. */
static double scale_of_group(const ganz_batch *batch, int first, int rows)
{
    const int end = group_end(batch, first, rows);
    const int tokens = batch->target_begin[end] - batch->target_begin[first];
    return 1.0 / ((batch->packed_rows + rows - 1) / rows) / (tokens > 0 ? tokens : 1);
}

/* A row longer than a part would overrun it; the loader leaves such rows out, other callers are refused. */
static ganz_status run_batch(ganz_stepper *stepper, const ganz_batch *batch, bool taught, const purpose *whole,
                             ganz_error *err)
{
    purpose part = *whole;
    ganz_feed feed;
    uint64_t parts = 0;
    const bool means = whole->training && stepper->options.mean_rows > 0 && batch->target_row;
    int mean_end = 0;
    for (int first = 0, last; first < batch->segments; first = last) {
        if (first > 0 && ganz_flag_is_set(whole->stop)) return ganz_fail(err, GANZ_ESTOPPED, "stopped");
        last = cut(stepper, batch, first);
        if (means && first == mean_end) {
            part.scale = scale_of_group(batch, first, stepper->options.mean_rows);
            mean_end = group_end(batch, first, stepper->options.mean_rows);
        }
        if (batch->source_begin[last] - batch->source_begin[first] > stepper->options.tokens ||
            batch->target_begin[last] - batch->target_begin[first] > stepper->options.tokens)
            return ganz_fail(err, GANZ_ELIMIT, "a row has more than %d tokens", stepper->options.tokens);
        ganz_upload_part(&stepper->upload, batch, first, last, stepper->options.slots, &feed);
        part.seed = ganz_random_u64(whole->seed, parts_stream, parts++);
        part.tutor = taught ? draw_tutor(stepper, part.seed) : NULL;
        GANZ_TRY(run_pass(stepper, &feed, &part, err));
    }
    return GANZ_OK;
}

ganz_status ganz_stepper_train(ganz_stepper *stepper, const ganz_batch *batch, uint64_t seed, const ganz_flag *stop,
                               ganz_error *err)
{
    const purpose why = {.training = true,
                         .smoothing = stepper->options.smoothing,
                         .seed = seed,
                         .scale = 1.0 / batch->target_rows,
                         .sums = stepper->sums,
                         .stop = stop};
    return run_batch(stepper, batch, true, &why, err);
}

ganz_status ganz_stepper_look(ganz_stepper *stepper, const ganz_batch *batch, const ganz_flag *stop, ganz_error *err)
{
    const purpose why = {.smoothing = stepper->options.smoothing, .sums = stepper->sums, .stop = stop};
    return run_batch(stepper, batch, true, &why, err);
}

ganz_status ganz_stepper_evaluate(ganz_stepper *stepper, const ganz_batch *batch, double sums[3], ganz_error *err)
{
    double found[3];
    const purpose why = {.sums = stepper->sums + 3}; /* the sums of training stay */
    stepper->be->zero(stepper->be, why.sums, sizeof found);
    GANZ_TRY(run_batch(stepper, batch, false, &why, err));
    stepper->be->download(stepper->be, found, why.sums, sizeof found);
    for (int i = 0; i < 3; i++) sums[i] += found[i];
    return GANZ_OK;
}
