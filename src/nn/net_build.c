/* The tables of a network: every parameter, site, attention, product and scale, in the one order of its sublayers. */
#include <stdio.h>
#include <string.h>

#include "nn/net.h"

enum { TARGET_SPACES = 32 };

/* ---- sublayers ---------------------------------------------------------------------------------- */

/* The order of the network. */
static const ganz_sublayer_kind encoder_layer[] = {GANZ_SELF_ATTENTION, GANZ_FEED_FORWARD};
static const ganz_sublayer_kind decoder_layer[] = {GANZ_SELF_ATTENTION, GANZ_CROSS_ATTENTION, GANZ_FEED_FORWARD};
static const ganz_sublayer_kind recurrent_layer[] = {GANZ_RECURRENCE, GANZ_CROSS_ATTENTION, GANZ_FEED_FORWARD};
enum { DECODER_KINDS = GANZ_COUNT(decoder_layer) };
static const ganz_sublayer_kind *decoder_order(const ganz_config *c)
{
    return c->recurrent ? recurrent_layer : decoder_layer;
}

/* What a sublayer adds to the tables. */
static const struct {
    const char *name;
    int sites, pairs, readers;
} sizes[] = {[GANZ_SELF_ATTENTION] = {"self", 4, 1, 3},
             [GANZ_CROSS_ATTENTION] = {"cross", 4, 1, 1 + 2 /* of the memory */},
             [GANZ_FEED_FORWARD] = {"ffn", 2, 0, 1},
             [GANZ_RECURRENCE] = {"rnn", 2, 0, 2}};

typedef struct builder {
    ganz_net *net;
    int readers; /* in net->reader so far */
    ganz_error *err;
    ganz_status status; /* of the first failure; later calls do nothing */
} builder;

static int add(builder *b, const char *where, const char *what, ganz_param shape, bool contiguous_with_previous)
{
    int index = -1;
    if (b->status != GANZ_OK) return index;
    if (shape.kind != GANZ_WEIGHT && shape.kind != GANZ_BIAS) shape.site = -1;
    snprintf(shape.name, sizeof shape.name, "%s%s%s", where, *where ? "." : "", what);
    b->status = ganz_params_add(&b->net->params, &shape, contiguous_with_previous, &index, b->err);
    return index;
}

static ganz_norm_layer add_norm(builder *b, const char *where)
{
    const int d = b->net->config.width;
    ganz_norm_layer norm = {.epsilon = (real)b->net->config.norm_epsilon,
                            .after = b->net->config.norm == GANZ_NORM_POST};
    norm.gain = add(b, where, "norm.scale", (ganz_param){.kind = GANZ_NORM_GAIN, .rows = 1, .cols = d}, false);
    norm.bias = add(b, where, "norm.bias", (ganz_param){.kind = GANZ_NORM_BIAS, .rows = 1, .cols = d}, false);
    return norm;
}

static ganz_product *next_product(builder *b, const char *name, const char *second)
{
    ganz_product *const product = &b->net->product[b->net->products++];
    snprintf(product->name, sizeof product->name, "%s%s", name, second);
    return product;
}

/* Scales get their parameters at the end (add_scales), so that all z lie one after another. */
static ganz_site *next_site(builder *b, const char *where, const char *name, int out, int in)
{
    ganz_net *const net = b->net;
    ganz_site *const site = &net->site[net->sites];
    *site = (ganz_site){.in = in, .out = out, .weight = -1, .bias = -1, .place = net->sites++, .row = net->rows};
    site->col = net->cols;
    net->rows += (int)ganz_round_up((size_t)out, GANZ_ALIGN / sizeof(float));
    net->cols += (int)ganz_round_up((size_t)in, GANZ_ALIGN / sizeof(float));
    snprintf(site->name, sizeof site->name, "%s%s%s", where, *where ? "." : "", name);
    next_product(b, site->name, "")->site = site;
    return site;
}

static ganz_site *add_dense(builder *b, const char *where, const char *name, int out, int in,
                            bool contiguous_with_previous)
{
    ganz_site *const site = next_site(b, where, name, out, in);
    const ganz_param shape = {.kind = GANZ_WEIGHT, .rows = out, .cols = in, .site = site->place};
    site->weight = add(b, site->name, "weight", shape, contiguous_with_previous);
    return site;
}

static void add_bias(builder *b, ganz_site *site, bool contiguous_with_previous)
{
    const ganz_param shape = {.kind = GANZ_BIAS, .rows = 1, .cols = site->out, .site = site->place};
    site->bias = add(b, site->name, "bias", shape, contiguous_with_previous);
}

static ganz_pair *add_pair(builder *b, const char *where, bool target_keys)
{
    ganz_net *const net = b->net;
    ganz_pair *const pair = &net->pair[net->pairs];
    *pair = (ganz_pair){.place = net->pairs++};
    snprintf(pair->name, sizeof pair->name, "%s", where);
    for (int uv = 0; uv < 2; uv++) {
        ganz_product *const product = next_product(b, pair->name, uv ? ".uv" : ".qk");
        product->pair = pair;
        product->uv = uv;
        product->target_keys = target_keys;
    }
    return pair;
}

/* The next `count` places in the lists of readers. */
static const ganz_site **take_readers(builder *b, int count, ganz_readers *readers)
{
    const ganz_site **const list = b->net->reader + b->readers;
    b->readers += count;
    *readers = (ganz_readers){list, count};
    return list;
}

/* Biases of q, k and v lie one after another, as their weights do where they read the same rows. */
static void add_attention_biases(builder *b, ganz_site *const sites[3])
{
    const ganz_config *const c = &b->net->config;
    const bool wanted[3] = {c->q_bias, c->k_bias, c->v_bias};
    for (int i = 0; i < 3; i++)
        if (wanted[i]) add_bias(b, sites[i], i > 0 && wanted[i - 1]);
}

static void add_attention(builder *b, const char *where, bool target_keys, ganz_sublayer *a)
{
    const int d = b->net->config.width;
    const bool cross = a->kind == GANZ_CROSS_ATTENTION;
    ganz_site *const q = add_dense(b, where, "q", d, d, false);
    ganz_site *const k = add_dense(b, where, "k", d, d, !cross); /* what reads the same rows is also one matrix */
    ganz_site *const v = add_dense(b, where, "v", d, d, true);
    add_attention_biases(b, (ganz_site *const[]){q, k, v});
    a->pair = add_pair(b, where, target_keys);
    ganz_site *const o = add_dense(b, where, "o", d, d, false);
    if (b->net->config.o_bias) add_bias(b, o, false);
    const ganz_site **const readers = take_readers(b, cross ? 1 : 3, &a->readers);
    readers[0] = a->q = q;
    a->k = k;
    a->v = v;
    a->o = o;
    if (cross) return;
    readers[1] = k;
    readers[2] = v;
}

static void add_feed_forward(builder *b, const char *where, ganz_sublayer *f)
{
    const ganz_config *const c = &b->net->config;
    ganz_site *const in = add_dense(b, where, "in", c->ffn, c->width, false);
    add_bias(b, in, false);
    in->activation = c->activation;
    ganz_site *const out = add_dense(b, where, "out", c->width, c->ffn, false);
    add_bias(b, out, false);
    out->after_relu = c->activation == GANZ_ACTIVATION_RELU;
    f->in = in;
    f->out = out;
    take_readers(b, 1, &f->readers)[0] = in;
}

/* What goes into the state, and the gate that lets it in. */
static void add_recurrence(builder *b, const char *where, ganz_sublayer *r)
{
    const int d = b->net->config.width;
    ganz_site *const value = add_dense(b, where, "value", d, d, false);
    ganz_site *const gate = add_dense(b, where, "gate", d, d, true);
    add_bias(b, gate, false);
    const ganz_site **const readers = take_readers(b, 2, &r->readers);
    readers[0] = r->value = value;
    readers[1] = r->gate = gate;
}

/* Its own norm goes to whoever reads the stream next where norms come after sublayers: *next. */
static void add_sublayer(builder *b, const char *side, int layer, ganz_sublayer *s, ganz_norm_layer *next)
{
    char where[24];
    snprintf(where, sizeof where, "%s.%d.%s", side, layer, sizes[s->kind].name);
    const ganz_norm_layer norm = add_norm(b, where);
    s->norm = norm.after ? *next : norm;
    *next = norm;
    const bool target = strcmp(side, "dec") == 0;
    if (s->kind == GANZ_FEED_FORWARD) add_feed_forward(b, where, s);
    else if (s->kind == GANZ_RECURRENCE) add_recurrence(b, where, s);
    else add_attention(b, where, target && s->kind == GANZ_SELF_ATTENTION, s);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static void add_stack(builder *b, const char *side, const ganz_sublayer_kind *order, int kinds, ganz_stack *stack)
{
    ganz_norm_layer next = {.gain = -1, .bias = -1};
    for (int i = 0; i < stack->count; i++) {
        stack->sublayer[i].kind = order[i % kinds];
        add_sublayer(b, side, i / kinds, &stack->sublayer[i], &next);
    }
    stack->norm = next.after ? next : add_norm(b, side);
}

/* Keys and values of all cross attentions read the memory. */
static void list_memory_readers(builder *b)
{
    ganz_net *const net = b->net;
    const ganz_site **const list = take_readers(b, 2 * net->config.decoder_layers, &net->encoder.readers);
    int count = 0;
    for (int i = 0; i < net->decoder.count; i++) {
        const ganz_sublayer *const a = &net->decoder.sublayer[i];
        if (a->kind != GANZ_CROSS_ATTENTION) continue;
        list[count++] = a->k;
        list[count++] = a->v;
    }
}

static void add_scale(builder *b, const char *where, const char *name, ganz_scale *scale)
{
    ganz_net *const net = b->net;
    scale->place = net->scales++;
    scale->z = add(b, where, name, (ganz_param){.kind = GANZ_SCALE, .rows = 1, .cols = 1}, scale->place > 0);
    if (scale->place == 0) net->first_scale = scale->z;
    GANZ_ASSERT(b->status != GANZ_OK || scale->z == net->first_scale + scale->place);
}

/* In the order of the products: of a dense one its input, of a pair both operands. */
static void add_scales(builder *b)
{
    ganz_net *const net = b->net;
    char where[40];
    for (int i = 0; i < net->products; i++) {
        const ganz_product *const p = &net->product[i];
        if (p->site) {
            add_scale(b, p->site->name, "x.z", &net->site[p->site->place].input);
            continue;
        }
        ganz_pair *const pair = &net->pair[p->pair->place];
        snprintf(where, sizeof where, "%s.pair", pair->name);
        add_scale(b, where, p->uv ? "u.z" : "q.z", p->uv ? &pair->u : &pair->q);
        add_scale(b, where, p->uv ? "v.z" : "k.z", p->uv ? &pair->v : &pair->k);
    }
}

static int add_table(builder *b, const char *name, int rows)
{
    return add(b, "", name, (ganz_param){.kind = GANZ_EMBEDDING, .rows = rows, .cols = b->net->config.width}, false);
}

static void add_tables(builder *b)
{
    ganz_net *const net = b->net;
    const ganz_config *const c = &net->config;
    const ganz_param spaces = {.kind = GANZ_TABLE, .rows = TARGET_SPACES, .cols = c->width};
    const ganz_param start = {.kind = GANZ_VECTOR, .rows = 1, .cols = c->width};
    net->embedding = net->source_embedding = add_table(b, "embedding", c->vocab);
    if (c->source_vocab > 0) net->source_embedding = add_table(b, "embedding.source", c->source_vocab);
    net->target_space = c->no_target_space ? -1 : add(b, "", "target_space", spaces, false);
    net->start = c->start_vector ? add(b, "", "start", start, false) : -1;
}

static void add_logits(builder *b)
{
    ganz_net *const net = b->net;
    const ganz_config *const c = &net->config;
    ganz_site *const logits = next_site(b, "", "logits", c->vocab, c->width);
    logits->weight = c->own_output ? add_table(b, "embedding.output", c->vocab) : net->embedding;
    if (b->status == GANZ_OK) net->params.list[logits->weight].site = logits->place;
    if (c->logits_bias) add_bias(b, logits, false);
    net->logits = logits;
    take_readers(b, 1, &net->decoder.readers)[0] = logits;
}

static void build(builder *b)
{
    ganz_net *const net = b->net;
    add_tables(b);
    add_stack(b, "enc", encoder_layer, GANZ_COUNT(encoder_layer), &net->encoder);
    add_stack(b, "dec", decoder_order(&net->config), DECODER_KINDS, &net->decoder);
    add_logits(b);
    list_memory_readers(b);
    add_scales(b);
}

/* Memory for all tables; false: out of it. */
static bool take_tables(ganz_net *net)
{
    size_t sites = 1, pairs = 0, readers = 1;
    const size_t encoder = (size_t)net->config.encoder_layers, decoder = (size_t)net->config.decoder_layers;
    for (size_t i = 0; i < GANZ_COUNT(encoder_layer) + DECODER_KINDS; i++) {
        const bool target = i >= GANZ_COUNT(encoder_layer);
        const size_t layers = target ? decoder : encoder;
        const ganz_sublayer_kind kind =
            target ? decoder_order(&net->config)[i - GANZ_COUNT(encoder_layer)] : encoder_layer[i];
        sites += layers * (size_t)sizes[kind].sites;
        pairs += layers * (size_t)sizes[kind].pairs;
        readers += layers * (size_t)sizes[kind].readers;
    }
    net->encoder.count = (int)(encoder * GANZ_COUNT(encoder_layer));
    net->decoder.count = (int)(decoder * DECODER_KINDS);
    net->encoder.sublayer = ganz_alloc((size_t)net->encoder.count, sizeof *net->encoder.sublayer);
    net->decoder.sublayer = ganz_alloc((size_t)net->decoder.count, sizeof *net->decoder.sublayer);
    net->site = ganz_alloc(sites, sizeof *net->site);
    net->pair = ganz_alloc(pairs, sizeof *net->pair);
    net->product = ganz_alloc(sites + 2 * pairs, sizeof *net->product);
    net->reader = ganz_alloc(readers, sizeof *net->reader);
    return net->encoder.sublayer && net->decoder.sublayer && net->site && net->pair && net->product && net->reader;
}

ganz_status ganz_net_open(ganz_net *net, const ganz_config *config, ganz_error *err)
{
    *net = (ganz_net){.config = ganz_config_complete(config), .row_scales = -1};
    GANZ_TRY(ganz_config_check(config, err));
    builder b = {.net = net, .err = err};
    const ganz_scheme plain = ganz_scheme_of_bits(GANZ_BITS_MOST);
    if (take_tables(net)) build(&b);
    else b.status = ganz_fail(err, GANZ_ENOMEM, "out of memory for the layers of a network");
    if (b.status != GANZ_OK) ganz_net_close(net);
    else ganz_net_set_scheme(net, &plain);
    return b.status;
}

ganz_status ganz_net_learn_rows(ganz_net *net, ganz_error *err)
{
    const ganz_param all = {.name = "rows.z", .kind = GANZ_ROW_SCALES, .rows = 1, .cols = net->rows, .site = -1};
    return ganz_params_add(&net->params, &all, false, &net->row_scales, err);
}

void ganz_net_close(ganz_net *net)
{
    ganz_params_free(&net->params);
    ganz_free(net->encoder.sublayer);
    ganz_free(net->decoder.sublayer);
    ganz_free(net->site);
    ganz_free(net->pair);
    ganz_free(net->product);
    ganz_free(net->reader);
    *net = (ganz_net){0};
}

ganz_site *ganz_net_find_site(const ganz_net *net, const char *name)
{
    for (int i = 0; i < net->sites; i++)
        if (strcmp(net->site[i].name, name) == 0) return &net->site[i];
    return NULL;
}

ganz_pair *ganz_net_find_pair(const ganz_net *net, const char *name)
{
    for (int i = 0; i < net->pairs; i++)
        if (strcmp(net->pair[i].name, name) == 0) return &net->pair[i];
    return NULL;
}

void ganz_net_set_scheme(ganz_net *net, const ganz_scheme *scheme)
{
    net->scheme = *scheme;
    net->edition++;
    for (int i = 0; i < net->sites; i++) net->site[i].rule = ganz_scheme_rule(scheme, net->site[i].name, false);
    for (int i = 0; i < net->pairs; i++) net->pair[i].rule = ganz_scheme_rule(scheme, net->pair[i].name, true);
    net->site[net->logits->place].rule.bias_bits = GANZ_BITS_FLOAT; /* log-probabilities of words: they reach far */
}

ganz_status ganz_net_check_exceptions(const ganz_net *net, const ganz_scheme *scheme, ganz_error *err)
{
    for (int e = 0; e < scheme->exceptions; e++) {
        bool found = false;
        for (int i = 0; i < net->sites && !found; i++) found = ganz_scheme_names(scheme, e, net->site[i].name);
        for (int i = 0; i < net->pairs && !found; i++) found = ganz_scheme_names(scheme, e, net->pair[i].name);
        if (!found)
            return ganz_fail(err, GANZ_EINVAL, "exceptions: no product is named %s", scheme->exception[e].pattern);
    }
    return GANZ_OK;
}

void ganz_net_set_states(ganz_net *net, ganz_weights_state weights, ganz_inputs_state inputs)
{
    net->edition++;
    for (int i = 0; i < net->sites; i++) {
        ganz_site *const site = &net->site[i];
        site->weights = site->rule.integer ? weights : GANZ_WEIGHTS_FLOAT;
        site->inputs = site->rule.integer ? inputs : GANZ_INPUTS_FLOAT;
    }
    for (int i = 0; i < net->pairs; i++) net->pair[i].inputs = net->pair[i].rule.integer ? inputs : GANZ_INPUTS_FLOAT;
}
