/* A pass: a part of a batch goes up to the device, through the network and, in training, backwards over the tape. */
#include "train/stepper.h"

#include <string.h>

#include "base/rng.h"

enum { HOST_CHUNK = 256, DEVICE_CHUNK = 4096 };

static const uint64_t passes_stream = 0x7061727473; /* of seeds, one for each pass */
enum { PART_SHIFT = 32 }; /* pass i of part p has seed number p * 2^32 + i: neither depends on other parts */

/* Rows of logits at a time: small enough for caches on a CPU, large enough to fill a GPU. */
static int chunk_of(const ganz_stepper *stepper) { return stepper->be->host ? HOST_CHUNK : DEVICE_CHUNK; }

typedef struct purpose {
    bool training;
    bool taught;             /* by a tutor, if there are any */
    const ganz_tutor *tutor; /* teaches instead of the labels; NULL: none */
    real smoothing;
    uint64_t seed;
    double scale; /* of gradients */
    int part;     /* of the batch */
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
    goal.grad_scale = feed->shares ? 1 : (real)why->scale;
    goal.share = feed->shares;
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

/* Each pass has one of them: over many passes all are believed alike, and none costs more than its share. */
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
                           .line = o->mask_rows > 0 ? none : NULL,
                           .groups = o->mask_rows > 0 ? (o->rows - 1) / o->mask_rows + 2 : 1,
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
    stepper->tree = (ganz_tree){.parts = stepper->options.parts, .share = stepper->options.share, .be = stepper->be};
    GANZ_TRY(ganz_tree_open(&stepper->tree, stepper->weights->grad, stepper->net->params.block, err));
    return ganz_upload_open(&stepper->upload, stepper->be, stepper->options.tokens, words, err);
}

ganz_status ganz_stepper_open(ganz_stepper *stepper, const ganz_net *net, const ganz_weights *weights,
                              const ganz_stepper_options *options, ganz_error *err)
{
    *stepper = (ganz_stepper){.options = *options, .be = weights->be, .net = net, .weights = weights};
    stepper->train_weights = true;
    if (options->parts < 1) stepper->options.parts = 1;
    const ganz_status status = take_memory(stepper, err);
    if (status != GANZ_OK) ganz_stepper_close(stepper);
    return status;
}

void ganz_stepper_close(ganz_stepper *stepper)
{
    if (stepper->be && stepper->device.base) stepper->be->free(stepper->be, stepper->device.base);
    if (stepper->sums) stepper->be->free(stepper->be, stepper->sums);
    ganz_tree_close(&stepper->tree);
    ganz_upload_close(&stepper->upload);
    ganz_arena_close(&stepper->host);
    *stepper = (ganz_stepper){0};
}

/* ---- passes -------------------------------------------------------------------------------------- */

/* One pass over segments [first, last). A row longer than a pass would overrun it; the loader leaves such rows out,
 * other callers are refused. */
static ganz_status run_segments(ganz_stepper *stepper, const ganz_batch *batch, int first, int last, purpose *why,
                                ganz_error *err)
{
    ganz_feed feed;
    const ganz_stepper_options *const o = &stepper->options;
    if (batch->source_begin[last] - batch->source_begin[first] > o->tokens ||
        batch->target_begin[last] - batch->target_begin[first] > o->tokens)
        return ganz_fail(err, GANZ_ELIMIT, "a row has more than %d tokens", o->tokens);
    stepper->upload.mask_rows = o->mask_rows;
    stepper->upload.mean_rows = why->training ? o->mean_rows : 0;
    ganz_upload_part(&stepper->upload, batch, first, last, o->slots, &feed);
    why->tutor = why->taught ? draw_tutor(stepper, why->seed) : NULL;
    return run_pass(stepper, &feed, why, err);
}

/* The passes over segments [begin, end). A stop is heeded between passes. */
static ganz_status run_rows(ganz_stepper *stepper, const ganz_batch *batch, int begin, int end, const purpose *whole,
                            ganz_error *err)
{
    purpose why = *whole;
    ganz_batch rows = *batch;
    rows.segments = end;
    uint64_t passes = (uint64_t)whole->part << PART_SHIFT;
    for (int first = begin, last; first < end; first = last) {
        const bool begun = first > begin || whole->part > stepper->tree.share.first;
        if (begun && ganz_flag_is_set(whole->stop)) return ganz_fail(err, GANZ_ESTOPPED, "stopped");
        last = ganz_batch_cut(&rows, first, stepper->options.tokens);
        why.seed = ganz_random_u64(whole->seed, passes_stream, passes++);
        GANZ_TRY(run_segments(stepper, batch, first, last, &why, err));
    }
    return GANZ_OK;
}

static ganz_status run_batch(ganz_stepper *stepper, const ganz_batch *batch, const purpose *why, ganz_error *err)
{
    return run_rows(stepper, batch, 0, batch->segments, why, err);
}

/* The parts of a batch that are this process's. */
static ganz_status run_share(ganz_stepper *stepper, const ganz_batch *batch, const purpose *whole, ganz_error *err)
{
    ganz_tree *const tree = &stepper->tree;
    purpose why = *whole;
    if (tree->parts == 1) return run_batch(stepper, batch, whole, err);
    ganz_tree_start(tree, whole->training);
    for (why.part = tree->share.first; why.part < tree->share.last; why.part++) {
        const int begin = ganz_part_begin(batch, why.part, tree->parts),
                  end = ganz_part_begin(batch, why.part + 1, tree->parts);
        why.sums = ganz_tree_enter(tree, why.part);
        GANZ_TRY(run_rows(stepper, batch, begin, end, &why, err));
        ganz_tree_leave(tree, why.part);
    }
    return GANZ_OK;
}

ganz_status ganz_stepper_train(ganz_stepper *stepper, const ganz_batch *batch, uint64_t seed, const ganz_flag *stop,
                               ganz_error *err)
{
    const purpose why = {.training = true,
                         .taught = true,
                         .smoothing = stepper->options.smoothing,
                         .seed = seed,
                         .scale = 1.0 / batch->target_rows,
                         .sums = stepper->sums,
                         .stop = stop};
    return run_share(stepper, batch, &why, err);
}

ganz_status ganz_stepper_look(ganz_stepper *stepper, const ganz_batch *batch, const ganz_flag *stop, ganz_error *err)
{
    const purpose why = {.taught = true, .smoothing = stepper->options.smoothing, .sums = stepper->sums, .stop = stop};
    return run_share(stepper, batch, &why, err);
}

ganz_status ganz_stepper_evaluate(ganz_stepper *stepper, const ganz_batch *batch, double sums[3], ganz_error *err)
{
    double found[3];
    const purpose why = {.sums = stepper->sums + 3}; /* the sums of training stay */
    stepper->be->zero(stepper->be, why.sums, sizeof found);
    GANZ_TRY(run_batch(stepper, batch, &why, err));
    stepper->be->download(stepper->be, found, why.sums, sizeof found);
    for (int i = 0; i < 3; i++) sums[i] += found[i];
    return GANZ_OK;
}
