#include "train/work.h"

#include <string.h>

#include "base/rng.h"

enum { HOST_BYTES = 64 << 20, HOST_CHUNK = 256, DEVICE_CHUNK = 4096 };

static const uint64_t parts_stream = 0x7061727473; /* of seeds, one for each part */

/* Rows of logits at a time: small enough for caches on a CPU, large enough to fill a GPU. */
static int chunk_of(const ganz_work *work) { return work->be->host ? HOST_CHUNK : DEVICE_CHUNK; }

typedef struct purpose {
    bool training;
    uint64_t seed;
    double scale; /* of gradients */
    double *sums; /* on the device */
    const volatile sig_atomic_t *stop;
} purpose;

/* One pass over a feed; the gradients too when training. */
static ganz_status run_pass(ganz_work *work, ganz_backend *be, const ganz_feed *feed, const purpose *why, ganz_error *err)
{
    ganz_arena_rewind(&work->host, 0);
    ganz_arena_rewind(&work->device, 0);
    ganz_pass pass = {.be = be, .weights = work->weights, .host = &work->host, .device = &work->device};
    ganz_goal goal = {.labels = feed->labels, .sums = why->sums, .chunk = chunk_of(work), .grad_scale = (real)why->scale};
    if (why->training) {
        pass.tape = ganz_tape_open(&work->host);
        pass.dropout = work->options.dropout;
        pass.seed = why->seed;
        pass.train_weights = work->train_weights;
        pass.train_steps = work->train_steps;
        goal.smoothing = work->options.smoothing;
        if (!pass.tape) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the tape");
    }
    ganz_tensor *const memory = ganz_net_encode(&pass, work->net, &feed->source, &feed->encoder);
    ganz_tensor *const decoded =
        ganz_net_decode(&pass, work->net, &feed->target, &feed->source, memory, &feed->decoder, &feed->cross);
    ganz_net_loss(&pass, work->net, decoded, &goal);
    if (why->training) ganz_tape_backward(&pass);
    if (!pass.failed) return GANZ_OK;
    return ganz_fail(err, GANZ_ENOMEM, "a pass over %d source and %d target tokens needs more than its %zu MiB",
                     feed->source.rows, feed->target.rows, work->device.size >> 20);
}

/* Runs the largest pass over a backend that does nothing and an arena without memory. */
static ganz_status measure(ganz_work *work, size_t *bytes, ganz_error *err)
{
    ganz_backend null = ganz_null_backend(work->be);
    const ganz_feed feed = ganz_feed_of_size(work->options.tokens, work->options.rows, work->options.slots);
    static unsigned char nowhere[GANZ_ALIGN] __attribute__((aligned(GANZ_ALIGN)));
    const purpose why = {.training = work->weights->grad != NULL};
    ganz_arena_over(&work->device, nowhere, SIZE_MAX / 4, false);
    const ganz_status status = run_pass(work, &null, &feed, &why, err);
    *bytes = work->device.peak;
    work->device = (ganz_arena){0};
    return status;
}

static ganz_status take_memory(ganz_work *work, ganz_error *err)
{
    size_t bytes;
    void *block;
    GANZ_TRY(ganz_arena_open(&work->host, HOST_BYTES, err));
    GANZ_TRY(measure(work, &bytes, err));
    ganz_error reason;
    if (work->be->alloc(work->be, &block, bytes, &reason) != GANZ_OK)
        return ganz_fail(err, GANZ_ENOMEM, "no %zu MiB for a pass over %d tokens (micro-tokens makes it smaller): %s",
                         bytes >> 20, work->options.tokens, reason.message);
    ganz_arena_over(&work->device, block, bytes, work->be->host);
    GANZ_TRY(work->be->alloc(work->be, &block, 6 * sizeof *work->sums, err));
    work->sums = block;
    return ganz_upload_open(&work->upload, work->be, work->options.tokens, work->net->config.vocab, err);
}

ganz_status ganz_work_open(ganz_work *work, const ganz_net *net, const ganz_weights *weights,
                           const ganz_work_options *options, ganz_error *err)
{
    *work = (ganz_work){.options = *options, .be = weights->be, .net = net, .weights = weights, .train_weights = true};
    const ganz_status status = take_memory(work, err);
    if (status != GANZ_OK) ganz_work_close(work);
    return status;
}

void ganz_work_close(ganz_work *work)
{
    if (work->be && work->device.base) work->be->free(work->be, work->device.base);
    if (work->sums) work->be->free(work->be, work->sums);
    ganz_upload_close(&work->upload);
    ganz_arena_close(&work->host);
    *work = (ganz_work){0};
}

/* A row longer than a part would overrun it; the loader leaves those out, and so must everyone. */
static ganz_status run_batch(ganz_work *work, const ganz_batch *batch, const purpose *whole, ganz_error *err)
{
    purpose part = *whole;
    ganz_feed feed;
    uint64_t parts = 0;
    for (int first = 0, last; first < batch->segments; first = last) {
        if (first > 0 && whole->stop && *whole->stop) return ganz_fail(err, GANZ_ESTOPPED, "stopped");
        last = ganz_batch_cut(batch, first, work->options.tokens);
        if (batch->source_begin[last] - batch->source_begin[first] > work->options.tokens ||
            batch->target_begin[last] - batch->target_begin[first] > work->options.tokens)
            return ganz_fail(err, GANZ_ELIMIT, "a row has more than %d tokens", work->options.tokens);
        ganz_upload_part(&work->upload, batch, first, last, work->options.slots, &feed);
        part.seed = ganz_random_u64(whole->seed, parts_stream, parts++);
        GANZ_TRY(run_pass(work, work->be, &feed, &part, err));
    }
    return GANZ_OK;
}

ganz_status ganz_work_train(ganz_work *work, const ganz_batch *batch, uint64_t seed, const volatile sig_atomic_t *stop,
                            ganz_error *err)
{
    const purpose why = {.training = true, .seed = seed, .scale = 1.0 / batch->target_rows, .sums = work->sums, .stop = stop};
    return run_batch(work, batch, &why, err);
}

ganz_status ganz_work_evaluate(ganz_work *work, const ganz_batch *batch, double sums[3], ganz_error *err)
{
    double found[3];
    const purpose why = {.sums = work->sums + 3}; /* what training has summed stays as it is */
    work->be->zero(work->be, why.sums, sizeof found);
    GANZ_TRY(run_batch(work, batch, &why, err));
    work->be->download(work->be, found, why.sums, sizeof found);
    for (int i = 0; i < 3; i++) sums[i] += found[i];
    return GANZ_OK;
}
