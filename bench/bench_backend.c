/* Whole training steps of the Transformer on one backend, and where their time goes.
 *
 *   bench_backend [--device cuda|cpu] [--precision bf16|tf32|fp32] [--model base|big|small|tiny] [--rows 64] [--steps
 * 20]
 *                 [--chunk 8192] [--profile] [--fake] [--memory GiB] [--threads N]
 *
 * A batch is `rows` packed rows of 256 slots with random tokens in sentences of 27 on average, dropout as in the
 * recipes, Adafactor at the end. Counted are the real target tokens. --profile then runs one step call by call, waiting
 * after each, and adds up the time by kind of call. --fake times float steps and steps in codes with fixed ranges
 * (phase 5 of learned quantization) in turns, and prints the ratio; with --profile it is a step in codes that is looked
 * into. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "base/thread.h"
#include "nn/net.h"

enum { SLOTS = 256, MEAN = 27, KINDS = 96 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(ganz_status status, const ganz_error *err)
{
    if (status == GANZ_OK) return;
    printf("bench_backend: %s\n", err->message);
    exit(status == GANZ_EUNSUPPORTED ? 77 : 1);
}

/* ---- settings ----------------------------------------------------------------------------------- */

typedef struct settings {
    const char *device, *precision, *model;
    int rows, steps, chunk, threads;
    double memory; /* GiB for activations */
    bool profile, fake;
} settings;

static _Noreturn void usage(const char *word)
{
    fprintf(stderr,
            "bench_backend: what is %s?\nusage: bench_backend [--device D] [--precision P] [--model small|base|big] "
            "[--rows N] [--steps N] [--chunk N] [--threads N] [--memory GIB] [--profile] [--fake]\n",
            word);
    exit(2);
}

static settings read_settings(int argc, char **argv)
{
    settings s = {"cuda", "bf16", "base", 64, 20, 8192, 1, 60, false, false};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--profile") == 0) {
            s.profile = true;
            continue;
        }
        if (strcmp(argv[i], "--fake") == 0) {
            s.fake = true;
            continue;
        }
        if (strcmp(argv[i], "--device") == 0) s.device = value;
        else if (strcmp(argv[i], "--precision") == 0) s.precision = value;
        else if (strcmp(argv[i], "--model") == 0) s.model = value;
        else if (strcmp(argv[i], "--rows") == 0) s.rows = atoi(value);
        else if (strcmp(argv[i], "--steps") == 0) s.steps = atoi(value);
        else if (strcmp(argv[i], "--chunk") == 0) s.chunk = atoi(value);
        else if (strcmp(argv[i], "--threads") == 0) s.threads = atoi(value);
        else if (strcmp(argv[i], "--memory") == 0) s.memory = atof(value);
        else usage(argv[i]);
        i++;
    }
    return s;
}

static ganz_config config_of(const char *model)
{
    ganz_config c = {.width = 512,
                     .ffn = 2048,
                     .heads = 8,
                     .encoder_layers = 6,
                     .decoder_layers = 6,
                     .vocab = 33288,
                     .max_positions = SLOTS};
    if (strcmp(model, "big") == 0) c.width = 1024, c.ffn = 4096, c.heads = 16;
    if (strcmp(model, "small") == 0) c.width = 256, c.heads = 4, c.decoder_layers = 2, c.vocab = 16384;
    if (strcmp(model, "tiny") == 0)
        c.width = 64, c.ffn = 128, c.heads = 2, c.encoder_layers = c.decoder_layers = 2, c.vocab = 1000;
    return c;
}

static ganz_backend *open_backend(const settings *s)
{
    ganz_error err;
    ganz_backend *be;
    const ganz_precision p = strcmp(s->precision, "fp32") == 0   ? GANZ_FP32
                             : strcmp(s->precision, "tf32") == 0 ? GANZ_TF32
                                                                 : GANZ_BF16_PRODUCTS;
    if (strcmp(s->device, "cpu") == 0) must(ganz_cpu_backend_open(&be, s->threads, &err), &err);
    else must(ganz_cuda_backend_open(&be, 0, p, &err), &err);
    return be;
}

/* ---- a batch ------------------------------------------------------------------------------------ */

typedef struct side {
    int rows, longest;
    int32_t *ids, *labels, *positions, *row, *slot, *by_id, *begin; /* host */
    ganz_tokens tokens;                                             /* device */
    int32_t *device_labels, *device_begin;
} side;

typedef struct batch {
    side source, target;
    int segments;
} batch;

static int32_t *ints(size_t count)
{
    int32_t *p = ganz_alloc(count + 1, sizeof *p);
    if (p == NULL) exit(1);
    return p;
}

static void side_room(side *s, int rows)
{
    const size_t most = (size_t)rows * SLOTS;
    int32_t **const all[] = {&s->ids, &s->labels, &s->positions, &s->row, &s->slot, &s->by_id, &s->begin};
    for (size_t i = 0; i < GANZ_COUNT(all); i++) *all[i] = ints(most);
}

static void side_add(side *s, int row, int *used, int length, int vocab)
{
    for (int i = 0; i < length; i++, s->rows++) {
        const uint32_t place = (uint32_t)s->rows;
        /* a third of the tokens are a few frequent ones, as in text */
        const uint32_t kind = ganz_random_below(3, 1, place, 3), range = kind == 0 ? 20 : (uint32_t)vocab - 2;
        s->labels[s->rows] =
            i + 1 == length ? 1
                            : 2 + (int32_t)ganz_random_below(3, 2, place,
                                                             range < (uint32_t)vocab - 2 ? range : (uint32_t)vocab - 2);
        s->positions[s->rows] = i;
        s->row[s->rows] = row;
        s->slot[s->rows] = (*used)++;
    }
    if (length > s->longest) s->longest = length;
}

static void side_finish(side *s, int vocab, bool target)
{
    int32_t *count = ints((size_t)vocab + 1);
    for (int i = 0; i < s->rows; i++) s->ids[i] = !target ? s->labels[i] : s->slot[i] == 0 ? 0 : s->labels[i - 1];
    for (int i = 0; i < s->rows; i++) count[s->ids[i] + 1]++;
    for (int i = 0; i < vocab; i++) count[i + 1] += count[i];
    for (int i = 0; i < s->rows; i++) s->by_id[count[s->ids[i]]++] = i;
    ganz_free(count);
}

/* Sentences of 1 to about 2 * MEAN tokens (some four times as long) fill the rows from left to right. */
static void make_batch(batch *b, int rows, int vocab)
{
    uint64_t draw = 0;
    side_room(&b->source, rows);
    side_room(&b->target, rows);
    for (int row = 0; row < rows; row++) {
        int used[2] = {0, 0};
        for (;;) {
            int length = 2 + (int)ganz_random_below(5, 1, draw++, 2 * MEAN - 10);
            if (ganz_random_below(5, 2, draw++, 40) == 0) length *= 4;
            int other = length + (int)ganz_random_below(5, 3, draw++, 7) - 3;
            if (other < 2) other = 2;
            if (used[0] + length > SLOTS || used[1] + other > SLOTS) break;
            b->source.begin[b->segments] = b->source.rows;
            b->target.begin[b->segments++] = b->target.rows;
            side_add(&b->source, row, &used[0], length, vocab);
            side_add(&b->target, row, &used[1], other, vocab);
        }
    }
    b->source.begin[b->segments] = b->source.rows;
    b->target.begin[b->segments] = b->target.rows;
    side_finish(&b->source, vocab, false);
    side_finish(&b->target, vocab, true);
}

static const int32_t *send(ganz_backend *be, const int32_t *from, int count)
{
    ganz_error err;
    void *to;
    must(be->alloc(be, &to, (size_t)count * sizeof *from, &err), &err);
    be->upload(be, to, from, (size_t)count * sizeof *from);
    return to;
}

static void send_side(ganz_backend *be, side *s, int rows, int segments)
{
    s->tokens = (ganz_tokens){.rows = s->rows, .packed_rows = rows, .slots = SLOTS};
    s->tokens.ids = send(be, s->ids, s->rows);
    s->tokens.positions = send(be, s->positions, s->rows);
    s->tokens.row = send(be, s->row, s->rows);
    s->tokens.slot = send(be, s->slot, s->rows);
    s->tokens.by_id = send(be, s->by_id, s->rows);
    s->device_labels = (int32_t *)(uintptr_t)send(be, s->labels, s->rows);
    s->device_begin = (int32_t *)(uintptr_t)send(be, s->begin, segments + 1);
}

static ganz_spans spans(const batch *b, const side *query, const side *key, bool causal)
{
    return (ganz_spans){.queries = query->rows,
                        .keys = key->rows,
                        .segments = b->segments,
                        .query_begin = query->device_begin,
                        .key_begin = key->device_begin,
                        .longest_query = query->longest,
                        .longest_key = key->longest,
                        .causal = causal};
}

/* ---- a step ------------------------------------------------------------------------------------- */

typedef struct trainer {
    ganz_backend *be;
    ganz_net net;
    ganz_weights weights;
    ganz_arena host, device;
    ganz_update_item *items;
    int count;
    double *sums; /* device */
    batch b;
    int chunk, step;
    ganz_dropout dropout;
} trainer;

static void open_optimizer(trainer *t)
{
    ganz_error err;
    size_t used = 0, total = 0;
    t->items = ganz_alloc((size_t)t->net.params.count, sizeof *t->items);
    for (int turn = 0; turn < 2; turn++) {
        void *slots = NULL;
        if (turn == 1) must(t->be->alloc(t->be, &slots, total * sizeof(real), &err), &err);
        for (int i = 0; i < t->net.params.count; i++) {
            const ganz_param *p = &t->net.params.list[i];
            const bool matrix = ganz_param_is_matrix(p);
            const size_t room = ganz_round_up(matrix ? (size_t)(p->rows + p->cols) : ganz_param_count(p), 16);
            if (p->kind == GANZ_SCALE) continue;
            if (turn == 0) {
                total += room;
                continue;
            }
            t->items[t->count++] = (ganz_update_item){t->weights.master + p->offset,
                                                      t->weights.grad + p->offset,
                                                      (real *)slots + used,
                                                      p->rows,
                                                      p->cols,
                                                      matrix};
            used += room;
        }
    }
}

static void open_trainer(trainer *t, const settings *s)
{
    ganz_error err;
    const ganz_config config = config_of(s->model);
    const size_t bytes = (size_t)(s->memory * 1073741824.0);
    void *memory;
    *t = (trainer){.be = open_backend(s), .chunk = s->chunk, .dropout = {(real)0.1, (real)0.1, (real)0.1}};
    if (strcmp(s->model, "big") == 0) t->dropout.residual = (real)0.3;
    must(ganz_net_open(&t->net, &config, &err), &err);
    must(ganz_weights_open(&t->weights, &t->net, t->be, true, &err), &err);
    t->weights.drop_scale = 1 / (1 - t->dropout.relu);
    real *block = ganz_alloc(t->net.params.block, sizeof *block);
    ganz_params_init(&t->net.params, 1, block);
    t->be->upload(t->be, t->weights.master, block, t->net.params.block * sizeof *block);
    ganz_free(block);
    must(ganz_weights_refresh(&t->weights, &t->net, &err), &err);
    must(ganz_arena_open(&t->host, (size_t)64 << 20, &err), &err);
    must(t->be->alloc(t->be, &memory, bytes, &err), &err);
    ganz_arena_over(&t->device, memory, bytes, t->be->host);
    must(t->be->alloc(t->be, &memory, 3 * sizeof(double), &err), &err);
    t->sums = memory;
    open_optimizer(t);
    make_batch(&t->b, s->rows, config.vocab);
    send_side(t->be, &t->b.source, s->rows, t->b.segments);
    send_side(t->be, &t->b.target, s->rows, t->b.segments);
}

/* One pass over the batch; `training`: with dropout, and the gradients too. */
static void one_pass(trainer *t, bool training)
{
    const batch *b = &t->b;
    const ganz_spans self_source = spans(b, &b->source, &b->source, false),
                     cross = spans(b, &b->target, &b->source, false);
    const ganz_spans self_target = spans(b, &b->target, &b->target, true);
    ganz_arena_rewind(&t->host, 0);
    ganz_arena_rewind(&t->device, 0);
    ganz_pass pass = {.be = t->be,
                      .weights = &t->weights,
                      .host = &t->host,
                      .device = &t->device,
                      .seed = (uint64_t)t->step,
                      .train_weights = training};
    if (training) {
        pass.dropout = t->dropout;
        pass.tape = ganz_tape_open(&t->host);
    }
    ganz_tensor *memory = ganz_net_encode(&pass, &t->net, &b->source.tokens, &self_source);
    ganz_tensor *decoded =
        ganz_net_decode(&pass, &t->net, &b->target.tokens, &b->source.tokens, memory, &self_target, &cross);
    const ganz_goal goal = {.labels = b->target.device_labels,
                            .smoothing = (real)0.1,
                            .grad_scale = 1 / (real)b->target.rows,
                            .sums = t->sums,
                            .chunk = t->chunk};
    ganz_net_loss(&pass, &t->net, decoded, &goal);
    if (training) ganz_tape_backward(&pass);
    if (pass.failed) printf("bench_backend: out of memory for a step (--memory)\n"), exit(1);
}

static void one_step(trainer *t)
{
    ganz_error err;
    one_pass(t, true);
    const ganz_update_call update = {
        .items = t->items, .count = t->count, .rate = 0.01, .decay = 1 - pow(t->step + 1, -0.8)};
    t->be->adafactor(t->be, &update);
    must(ganz_weights_refresh(&t->weights, &t->net, &err), &err);
    t->step++;
}

static double take_loss(trainer *t)
{
    ganz_error err;
    double sums[3];
    t->be->download(t->be, sums, t->sums, sizeof sums);
    t->be->zero(t->be, t->sums, sizeof sums);
    must(t->be->sync(t->be, &err), &err);
    return sums[0] / sums[2];
}

/* ---- profile ------------------------------------------------------------------------------------ */

typedef struct kind {
    char name[64];
    int calls;
    double seconds, flops, bytes;
} kind;

static kind kinds[KINDS];
static ganz_backend plain; /* the entries as they were */
static double empty;       /* seconds of a sync with nothing to wait for */

static kind *kind_named(const char *name)
{
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].name[0] == 0) snprintf(kinds[i].name, sizeof kinds[i].name, "%s", name);
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    }
    return &kinds[KINDS - 1];
}

static void book(const char *name, double started, ganz_backend *be, double flops, double bytes)
{
    ganz_error err;
    must(plain.sync(be, &err), &err);
    kind *k = kind_named(name);
    k->seconds += now() - started - empty;
    k->calls++;
    k->flops += flops;
    k->bytes += bytes;
}

static double size_of(const ganz_matrix *m)
{
    return m->data ? (double)m->rows * m->cols * (double)ganz_type_bytes(m->type) : 0;
}

/* TIMED(entry, call type, name of the kind, operations, bytes): a wrapper of one entry. */
static char label[64];
#define TIMED(entry, type, name, flops, bytes)                 \
    static void timed_##entry(ganz_backend *be, const type *c) \
    {                                                          \
        const double start = now();                            \
        name;                                                  \
        plain.entry(be, c);                                    \
        book(label, start, be, flops, bytes);                  \
    }
#define SAY(...) snprintf(label, sizeof label, __VA_ARGS__)

TIMED(embed, ganz_embed_call, SAY("embed"), 0, (double)c->rows * c->cols * 12)
TIMED(embed_grad, ganz_embed_call, SAY("embed_grad"), 0, (double)c->rows * c->cols * 12)
TIMED(norm, ganz_norm_call, SAY("norm"), 0,
      (double)c->rows * c->cols * (c->delta.data ? 8 : 4) + size_of(&c->delta) + size_of(&c->y))
TIMED(norm_grad, ganz_norm_call, SAY("norm_grad"), 0,
      (double)c->rows * c->cols * (c->sum_grad ? 12 : 8) + size_of(&c->y_grad) + size_of(&c->delta_grad))
TIMED(linear, ganz_linear_call, SAY("linear %d->%d%s", c->in, c->out, c->drop.mask ? " relu drop" : ""),
      2.0 * c->rows * c->in * c->out, 0)
TIMED(linear_grad, ganz_linear_call, SAY("linear_grad %d->%d%s", c->in, c->out, c->drop.mask ? " relu drop" : ""),
      4.0 * c->rows * c->in * c->out, 0)
TIMED(attention, ganz_attention_call, SAY("attention%s", c->see.causal ? " causal" : ""), 0,
      size_of(&c->q.m) + size_of(&c->k.m) + size_of(&c->v.m) + size_of(&c->out))
TIMED(attention_grad, ganz_attention_call, SAY("attention_grad%s", c->see.causal ? " causal" : ""), 0,
      2 * (size_of(&c->q.m) + size_of(&c->k.m) + size_of(&c->v.m)) + size_of(&c->out_grad))
TIMED(loss, ganz_loss_call, SAY("loss"), 0, 2 * size_of(&c->logits))
TIMED(quantize, ganz_quantize_call, SAY("quantize"), 0, size_of(&c->x) + size_of(&c->codes))
TIMED(quantize_grad, ganz_quantize_call, SAY("quantize_grad"), 0,
      size_of(&c->x) + size_of(&c->code_grad) + size_of(&c->x_grad))

static double parameter_bytes(const ganz_update_call *c)
{
    double sum = 0;
    for (int i = 0; i < c->count; i++) sum += (double)c->items[i].rows * c->items[i].cols;
    return sum * 28; /* three passes over gradients, two over values, both written */
}
TIMED(adafactor, ganz_update_call, SAY("adafactor"), 0, parameter_bytes(c))

static void timed_refresh(ganz_backend *be, const ganz_refresh_item *items, int count)
{
    const double start = now();
    double bytes = 0;
    for (int i = 0; i < count; i++) bytes += (double)items[i].count * 6;
    plain.refresh(be, items, count);
    book("refresh", start, be, 0, bytes);
}

static void timed_mask(ganz_backend *be, uint8_t *mask, int64_t count, uint64_t seed, uint64_t stream, float keep)
{
    const double start = now();
    plain.mask(be, mask, count, seed, stream, keep);
    book("mask", start, be, 0, (double)count);
}

static void profile(trainer *t)
{
    ganz_backend *be = t->be;
    ganz_error err;
    must(be->sync(be, &err), &err);
    const double start = now();
    for (int i = 0; i < 100; i++) must(be->sync(be, &err), &err);
    empty = (now() - start) / 100;
    plain = *be;
    be->embed = timed_embed, be->embed_grad = timed_embed_grad, be->norm = timed_norm, be->norm_grad = timed_norm_grad;
    be->linear = timed_linear, be->linear_grad = timed_linear_grad, be->attention = timed_attention;
    be->attention_grad = timed_attention_grad, be->loss = timed_loss, be->adafactor = timed_adafactor;
    be->quantize = timed_quantize, be->quantize_grad = timed_quantize_grad, be->refresh = timed_refresh,
    be->mask = timed_mask;
    one_step(t);
    *be = plain;
    double total = 0;
    int calls = 0;
    printf("%-34s %6s %10s %10s %9s %9s\n", "call", "calls", "total us", "us each", "TFLOP/s", "GB/s");
    for (int i = 0; i < KINDS && kinds[i].calls > 0; i++) {
        const kind *k = &kinds[i];
        printf("%-34s %6d %10.0f %10.1f %9.1f %9.0f\n", k->name, k->calls, 1e6 * k->seconds,
               1e6 * k->seconds / k->calls, k->flops / k->seconds / 1e12, k->bytes / k->seconds / 1e9);
        total += k->seconds;
        calls += k->calls;
    }
    printf("%-34s %6d %10.0f   (each call waited for, %.1f us of waiting taken off)\n", "sum", calls, 1e6 * total,
           1e6 * empty);
}

/* ---- float against codes ------------------------------------------------------------------------ */

static void set_states(trainer *t, ganz_weights_state weights, ganz_inputs_state inputs)
{
    ganz_error err;
    ganz_net_set_states(&t->net, weights, inputs);
    must(ganz_weights_refresh(&t->weights, &t->net, &err), &err);
}

/* Scales from measured ranges, as after phase 2. */
static void measure_scales(trainer *t)
{
    ganz_error err;
    set_states(t, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_MEASURE);
    one_pass(t, false);
    must(ganz_weights_set_scales(&t->weights, &t->net, &err), &err);
    (void)take_loss(t);
}

static double time_steps(trainer *t, int steps, double *loss)
{
    one_step(t); /* the products of these states ask for their algorithms */
    one_step(t);
    (void)take_loss(t);
    const double start = now();
    for (int i = 0; i < steps; i++) one_step(t);
    *loss = take_loss(t);
    return (now() - start) / steps;
}

/* How codes are made and multiplied: by calls of their own, in passing, or in passing and as bytes too. */
typedef enum way { OWN_CALLS, IN_PASSING, AS_BYTES } way;

/* Gradients (params.block, of the caller) and loss of one pass. */
static float *grads_of(trainer *t, way how, double *loss)
{
    const bool able = t->be->makes_codes, reads = t->be->reads_bytes;
    const size_t bytes = t->net.params.block * sizeof(float);
    float *grads = ganz_alloc(1, bytes);
    if (grads == NULL) exit(1);
    t->be->zero(t->be, t->weights.grad, bytes);
    t->be->makes_codes = able && how != OWN_CALLS;
    t->be->reads_bytes = reads && how == AS_BYTES;
    one_pass(t, true);
    t->be->makes_codes = able;
    t->be->reads_bytes = reads;
    *loss = take_loss(t);
    t->be->download(t->be, grads, t->weights.grad, bytes);
    t->be->zero(t->be, t->weights.grad, bytes);
    return grads;
}

static double difference_of(const float *one, const float *other, size_t count)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        difference += ((double)one[i] - other[i]) * ((double)one[i] - other[i]);
        size += (double)one[i] * one[i];
    }
    return sqrt(difference / size);
}

/* All ways must lead to the same gradients, but for codes on the edge. */
static void check_ways(trainer *t)
{
    static const char *const names[] = {"by calls of their own", "in passing", "as bytes"};
    double loss[3];
    float *grads[3];
    for (int i = 0; i < 3; i++) grads[i] = grads_of(t, (way)i, &loss[i]);
    for (int i = 1; i < 3; i++) {
        const double difference = difference_of(grads[i - 1], grads[i], t->net.params.block);
        const bool good = difference < 0.1 && fabs(loss[i - 1] - loss[i]) < 1e-3 * loss[0];
        printf("codes %s and %s: losses %.9f and %.9f, gradients differ by %.2e%s\n", names[i - 1], names[i],
               loss[i - 1], loss[i], difference, good ? "" : ": FAILED");
        if (!good) exit(1);
    }
    for (int i = 0; i < 3; i++) ganz_free(grads[i]);
}

static void compare(trainer *t, const settings *s)
{
    double best[2] = {1e9, 1e9}, loss[2];
    measure_scales(t);
    set_states(t, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE);
    check_ways(t);
    for (int turn = 0; turn < 3; turn++)
        for (int fake = 0; fake < 2; fake++) {
            set_states(t, fake ? GANZ_WEIGHTS_FAKE : GANZ_WEIGHTS_FLOAT, fake ? GANZ_INPUTS_FAKE : GANZ_INPUTS_FLOAT);
            best[fake] = fmin(best[fake], time_steps(t, s->steps, &loss[fake]));
        }
    printf("%s %s: float %.3f ms a step (loss %.4f), in codes %.3f ms (loss %.4f): ratio %.3f; activations %.2f GiB\n",
           t->be->name, s->model, 1e3 * best[0], loss[0], 1e3 * best[1], loss[1], best[1] / best[0],
           (double)t->device.peak / 1073741824.0);
}

static void time_training(trainer *t, const settings *s)
{
    for (int i = 0; i < 3; i++) {
        one_step(t);
        printf("step %d loss %.6f\n", i, take_loss(t));
    }
    const double start = now();
    for (int i = 0; i < s->steps; i++) one_step(t);
    const double queued = now() - start, loss = take_loss(t), seconds = now() - start;
    printf("%d steps: %.3f ms a step (host %.3f ms), %.0f target tokens/s; mean loss %.6f; activations %.2f GiB\n",
           s->steps, 1e3 * seconds / s->steps, 1e3 * queued / s->steps, (double)t->b.target.rows * s->steps / seconds,
           loss, (double)t->device.peak / 1073741824.0);
}

int main(int argc, char **argv)
{
    const settings s = read_settings(argc, argv);
    static trainer t;
    open_trainer(&t, &s);
    printf("%s %s: %d source and %d target tokens in %d sentences, %d rows of %d (%.1f%% full), longest %d\n",
           t.be->name, s.model, t.b.source.rows, t.b.target.rows, t.b.segments, s.rows, SLOTS,
           100.0 * t.b.target.rows / ((double)s.rows * SLOTS), t.b.target.longest);
    if (s.fake) compare(&t, &s);
    else time_training(&t, &s);
    if (s.profile) profile(&t);
    t.be->close(t.be);
    return 0;
}
