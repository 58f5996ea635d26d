/* A small network with random weights and a batch, shared by the tests of nn. */
#include "nn_case.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum { HOST_BYTES = 4 << 20, DEVICE_BYTES = 192 << 20, END = 1 };

const char *nn_kind(int number, ganz_config *c)
{
    switch (number) {
    case 0: return "t2t";
    case 1: c->norm = GANZ_NORM_POST; return "post";
    case 2:
        c->norm = GANZ_NORM_POST;
        c->norm_epsilon = 1e-5;
        c->activation = GANZ_ACTIVATION_SWISH;
        c->q_bias = c->k_bias = c->v_bias = c->o_bias = c->logits_bias = c->no_target_space = true;
        c->timing = GANZ_TIMING_HALF;
        return "marian";
    case 3:
        c->activation = GANZ_ACTIVATION_GELU;
        c->q_bias = c->o_bias = c->own_output = true;
        c->first_position = 2;
        c->embedding_scale = 1;
        return "gelu";
    case 4:
        c->norm = GANZ_NORM_POST;
        c->activation = GANZ_ACTIVATION_GELU_SIGMOID;
        c->v_bias = c->start_vector = c->own_output = c->logits_bias = true;
        c->source_vocab = c->vocab + 3;
        return "tables";
    case 5:
        c->activation = GANZ_ACTIVATION_SWISH;
        c->norm_epsilon = 1e-3;
        c->k_bias = c->v_bias = c->start_vector = c->logits_bias = true;
        c->first_position = 1;
        c->timing = GANZ_TIMING_HALF;
        return "swish";
    case NN_TRAINED_KINDS:
        c->norm = GANZ_NORM_POST;
        c->recurrent = c->logits_bias = c->no_target_space = true;
        c->q_bias = c->k_bias = c->v_bias = c->o_bias = true;
        return "ssru";
    case NN_TRAINED_KINDS + 1: c->recurrent = true; return "ssru_pre";
    default: return NULL;
    }
}

static int32_t *ints(int count)
{
    int32_t *const p = ganz_alloc((size_t)count + 1, sizeof *p);
    GANZ_ASSERT_ALWAYS(p);
    return p;
}

/* Labels of segment `number`, the end mark last. */
static void draw(int32_t *ids, int length, int vocab, int number, int side)
{
    for (int i = 0; i + 1 < length; i++)
        ids[i] = 2 + (int32_t)ganz_random_below(99, (uint64_t)(2 * number + side), (uint64_t)i, (uint32_t)vocab - 2);
    ids[length - 1] = END;
}

static void sort_by_id(nn_side *s)
{
    int at = 0;
    for (int id = 0, seen = 0; seen < s->tokens.rows; id++)
        for (int i = 0; i < s->tokens.rows; i++)
            if (s->ids[i] == id) s->by_id[at++] = i, seen++;
}

/* The decoder reads the whole row shifted by one: a later segment begins with the end mark before it. */
static void finish_ids(nn_side *s, bool target)
{
    for (int i = 0; i < s->tokens.rows; i++)
        s->ids[i] = !target ? s->labels[i] : s->slot[i] == 0 ? 0 : s->labels[i - 1];
    sort_by_id(s);
}

static void fill_side(nn_side *s, const nn_segment *segments, int count, int first, int vocab, bool target)
{
    int rows = 0, used = 0, last_row = -1;
    for (int i = 0; i < count; i++) rows += target ? segments[i].target : segments[i].source;
    int32_t **const all[] = {&s->ids, &s->positions, &s->row, &s->slot, &s->by_id, &s->labels};
    for (size_t i = 0; i < GANZ_COUNT(all); i++) *all[i] = ints(rows);
    s->begin = ints(count);
    s->tokens = (ganz_tokens){.rows = rows};
    int at = 0;
    for (int i = 0; i < count; i++) {
        const int length = target ? segments[i].target : segments[i].source;
        if (segments[i].row != last_row) used = 0;
        last_row = segments[i].row;
        s->begin[i] = at;
        draw(s->labels + at, length, vocab, first + i, target);
        for (int j = 0; j < length; j++, at++) {
            s->positions[at] = j;
            s->row[at] = segments[i].row;
            s->slot[at] = used++;
        }
        if (used > s->tokens.slots) s->tokens.slots = used;
        if (length > s->longest) s->longest = length;
    }
    s->begin[count] = at;
    finish_ids(s, target);
    s->tokens.ids = s->ids;
    s->tokens.positions = s->positions;
    s->tokens.row = s->row;
    s->tokens.slot = s->slot;
    s->tokens.by_id = s->by_id;
    s->tokens.packed_rows = last_row + 1;
}

static ganz_spans spans(const nn_case *c, const nn_side *query, const nn_side *key, bool causal)
{
    return (ganz_spans){.queries = query->tokens.rows,
                        .keys = key->tokens.rows,
                        .segments = c->segments,
                        .query_begin = query->begin,
                        .key_begin = key->begin,
                        .longest_query = query->longest,
                        .longest_key = key->longest,
                        .causal = causal};
}

void nn_case_open(nn_case *c, const ganz_config *config, int threads, const nn_segment *segments, int count, int first)
{
    *c = (nn_case){.segments = count, .seed = 5, .train_weights = true, .chunk = 7};
    GANZ_ASSERT_ALWAYS(ganz_net_open(&c->net, config, NULL) == GANZ_OK);
    GANZ_ASSERT_ALWAYS(ganz_cpu_backend_open(&c->be, threads, NULL) == GANZ_OK);
    GANZ_ASSERT_ALWAYS(ganz_weights_open(&c->weights, &c->net, c->be, true, NULL) == GANZ_OK);
    GANZ_ASSERT_ALWAYS(ganz_arena_open(&c->host, HOST_BYTES, NULL) == GANZ_OK);
    GANZ_ASSERT_ALWAYS(ganz_arena_open(&c->device, DEVICE_BYTES, NULL) == GANZ_OK);
    const int words = config->source_vocab > 0 ? config->source_vocab : config->vocab;
    fill_side(&c->source, segments, count, first, words, false);
    fill_side(&c->target, segments, count, first, config->vocab, true);
    c->see_source = spans(c, &c->source, &c->source, false);
    c->see_target = spans(c, &c->target, &c->target, true);
    c->see_cross = spans(c, &c->target, &c->source, false);
}

void nn_case_tokens(nn_case *c, nn_token *token, int step)
{
    nn_side *const sides[] = {&c->source, &c->target};
    for (int side = 0; side < 2; side++) {
        nn_side *const s = sides[side];
        for (int g = 0; g < c->segments; g++)
            for (int i = s->begin[g]; i + 1 < s->begin[g + 1]; i++)
                s->labels[i] = token(step, g, i - s->begin[g], side);
        finish_ids(s, side == 1);
    }
}

static void close_side(nn_side *s)
{
    int32_t *const all[] = {s->ids, s->positions, s->row, s->slot, s->by_id, s->labels, s->begin};
    for (size_t i = 0; i < GANZ_COUNT(all); i++) ganz_free(all[i]);
}

void nn_case_close(nn_case *c)
{
    close_side(&c->source);
    close_side(&c->target);
    ganz_arena_close(&c->device);
    ganz_arena_close(&c->host);
    ganz_weights_close(&c->weights);
    c->be->close(c->be);
    ganz_net_close(&c->net);
}

void nn_case_refresh(nn_case *c) { GANZ_ASSERT_ALWAYS(ganz_weights_refresh(&c->weights, &c->net, NULL) == GANZ_OK); }

void nn_case_init(nn_case *c, uint64_t seed)
{
    ganz_params_init(&c->net.params, seed, c->weights.master);
    for (int p = 0; p < c->net.params.count; p++) {
        const ganz_param *const param = &c->net.params.list[p];
        const bool flat = param->kind == GANZ_BIAS || param->kind == GANZ_NORM_GAIN || param->kind == GANZ_NORM_BIAS ||
                          param->kind == GANZ_VECTOR;
        for (size_t i = 0; flat && i < ganz_param_count(param); i++)
            c->weights.master[param->offset + i] += (real)(0.2 * ganz_random_normal(seed + 1, (uint64_t)p, i));
    }
    nn_case_refresh(c);
}

ganz_pass nn_case_pass(nn_case *c)
{
    ganz_arena_rewind(&c->host, 0);
    ganz_arena_rewind(&c->device, 0);
    return (ganz_pass){.be = c->be,
                       .weights = &c->weights,
                       .host = &c->host,
                       .device = &c->device,
                       .dropout = c->dropout,
                       .seed = c->seed,
                       .train_weights = c->train_weights,
                       .learn_scales = c->learn_scales};
}

static ganz_tensor *decode(nn_case *c, ganz_pass *pass)
{
    ganz_tensor *const memory = ganz_net_encode(pass, &c->net, &c->source.tokens, &c->see_source);
    return ganz_net_decode(pass, &c->net, &c->target.tokens, &c->source.tokens, memory, &c->see_target, &c->see_cross);
}

double nn_case_loss(nn_case *c, bool grad)
{
    ganz_pass pass = nn_case_pass(c);
    double sums[3] = {0};
    const int tokens = c->target.tokens.rows;
    if (grad) {
        memset(c->weights.grad, 0, c->net.params.block * sizeof(real));
        pass.tape = ganz_tape_open(&c->host);
    }
    ganz_tensor *const decoded = decode(c, &pass);
    const ganz_goal goal = {.labels = c->target.labels,
                            .teacher = c->teacher,
                            .smoothing = c->smoothing,
                            .grad_scale = 1 / (real)tokens,
                            .sums = sums,
                            .chunk = c->chunk};
    ganz_net_loss(&pass, &c->net, decoded, &goal);
    if (grad) ganz_tape_backward(&pass);
    GANZ_ASSERT_ALWAYS(!pass.failed && sums[2] == tokens && c->be->sync(c->be, NULL) == GANZ_OK);
    return sums[0] / tokens;
}

ganz_matrix nn_case_decoded(nn_case *c)
{
    ganz_pass pass = nn_case_pass(c);
    const ganz_tensor *const decoded = decode(c, &pass);
    GANZ_ASSERT_ALWAYS(!pass.failed);
    return decoded->m;
}

real *nn_case_logits(nn_case *c)
{
    ganz_pass pass = nn_case_pass(c);
    ganz_tensor *const logits = ganz_net_logits(&pass, &c->net, decode(c, &pass));
    GANZ_ASSERT_ALWAYS(!pass.failed);
    const size_t count = (size_t)logits->m.rows * (size_t)logits->m.cols;
    real *const copy = ganz_alloc(count, sizeof *copy);
    GANZ_ASSERT_ALWAYS(copy);
    memcpy(copy, logits->m.data, count * sizeof *copy);
    return copy;
}
