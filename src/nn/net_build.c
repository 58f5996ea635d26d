/* The registry of a network: every parameter, site and scale by name. */
#include <stdio.h>
#include <string.h>

#include "nn/net.h"

enum {
    MAX_WIDTH = 8192,
    MAX_FFN = 65536,
    MAX_LAYERS = 64,
    MAX_VOCAB = 1 << 20,
    MAX_POSITIONS = 1 << 16,
    TARGET_SPACES = 32
};
enum { ENCODER_SITES = 6, DECODER_SITES = 10, BITS = 8 };

static ganz_status in_range(const char *what, int value, int low, int high, ganz_error *err)
{
    if (value >= low && value <= high) return GANZ_OK;
    return ganz_fail(err, GANZ_EINVAL, "%s must be %d to %d, not %d", what, low, high, value);
}

ganz_status ganz_config_check(const ganz_config *c, ganz_error *err)
{
    GANZ_TRY(in_range("width", c->width, 2, MAX_WIDTH, err));
    GANZ_TRY(in_range("ffn", c->ffn, 1, MAX_FFN, err));
    GANZ_TRY(in_range("heads", c->heads, 1, c->width, err));
    GANZ_TRY(in_range("encoder layers", c->encoder_layers, 1, MAX_LAYERS, err));
    GANZ_TRY(in_range("decoder layers", c->decoder_layers, 1, MAX_LAYERS, err));
    GANZ_TRY(in_range("vocabulary", c->vocab, 2, MAX_VOCAB, err));
    GANZ_TRY(in_range("positions", c->max_positions, 1, MAX_POSITIONS, err));
    if (c->width % 2 != 0) return ganz_fail(err, GANZ_EINVAL, "width must be even, not %d", c->width);
    if (c->width % c->heads != 0)
        return ganz_fail(err, GANZ_EINVAL, "width %d does not divide into %d heads", c->width, c->heads);
    return GANZ_OK;
}

/* ---- pieces ------------------------------------------------------------------------------------- */

typedef struct builder {
    ganz_net *net;
    ganz_error *err;
    ganz_status status; /* of the first failure; later calls do nothing */
} builder;

static int add(builder *b, const char *where, const char *what, ganz_param shape, bool contiguous_with_previous)
{
    int index = -1;
    if (b->status != GANZ_OK) return index;
    snprintf(shape.name, sizeof shape.name, "%s%s%s", where, *where ? "." : "", what);
    b->status = ganz_params_add(&b->net->params, &shape, contiguous_with_previous, &index, b->err);
    return index;
}

static ganz_norm_layer add_norm(builder *b, const char *where)
{
    const int d = b->net->config.width;
    ganz_norm_layer norm;
    norm.gain = add(b, where, "norm.scale", (ganz_param){.kind = GANZ_NORM_GAIN, .rows = 1, .cols = d}, false);
    norm.bias = add(b, where, "norm.bias", (ganz_param){.kind = GANZ_NORM_BIAS, .rows = 1, .cols = d}, false);
    return norm;
}

/* Scales get their places here and their parameters at the end (add_scales), so that all z lie one after another. */
static ganz_scale next_scale(builder *b) { return (ganz_scale){.z = -1, .place = b->net->scales++}; }

static ganz_site new_site(builder *b, const char *where, const char *name, int out, int in)
{
    ganz_site site = {.in = in, .out = out, .weight = -1, .bias = -1, .place = b->net->sites++, .input = next_scale(b)};
    site.weight_bits = site.input_bits = site.bias_bits = BITS;
    site.row = b->net->rows;
    b->net->rows += (int)ganz_round_up((size_t)out, GANZ_ALIGN / sizeof(float));
    snprintf(site.name, sizeof site.name, "%s%s%s", where, *where ? "." : "", name);
    return site;
}

static ganz_site add_dense(builder *b, const char *where, const char *name, int out, int in,
                           bool contiguous_with_previous)
{
    ganz_site site = new_site(b, where, name, out, in);
    site.weight = add(b, site.name, "weight", (ganz_param){.kind = GANZ_WEIGHT, .rows = out, .cols = in},
                      contiguous_with_previous);
    return site;
}

static ganz_site add_dense_bias(builder *b, const char *where, const char *name, int out, int in)
{
    ganz_site site = add_dense(b, where, name, out, in, false);
    site.bias = add(b, site.name, "bias", (ganz_param){.kind = GANZ_BIAS, .rows = 1, .cols = out}, false);
    return site;
}

static ganz_attention_layer add_attention(builder *b, const char *side, int layer, const char *name, bool cross)
{
    const int d = b->net->config.width;
    char where[24];
    snprintf(where, sizeof where, "%s.%d.%s", side, layer, name);
    ganz_attention_layer a = {.norm = add_norm(b, where)};
    a.q = add_dense(b, where, "q", d, d, false);
    a.k = add_dense(b, where, "k", d, d, !cross); /* what reads the same rows is also one matrix */
    a.v = add_dense(b, where, "v", d, d, true);
    a.pair.q = next_scale(b);
    a.pair.k = next_scale(b);
    a.pair.u = next_scale(b);
    a.pair.v = next_scale(b);
    a.pair.bits = a.pair.u_bits = BITS;
    snprintf(a.pair.name, sizeof a.pair.name, "%s", where);
    a.pair.place = b->net->pairs;
    a.o = add_dense(b, where, "o", d, d, false);
    b->net->pairs++;
    return a;
}

static ganz_ffn_layer add_ffn(builder *b, const char *side, int layer)
{
    const int d = b->net->config.width, wide = b->net->config.ffn;
    char where[24];
    snprintf(where, sizeof where, "%s.%d.ffn", side, layer);
    ganz_ffn_layer f = {.norm = add_norm(b, where)};
    f.in = add_dense_bias(b, where, "in", wide, d);
    f.out = add_dense_bias(b, where, "out", d, wide);
    f.out.after_relu = true;
    return f;
}

static void add_scale(builder *b, const char *where, const char *name, ganz_scale *scale)
{
    scale->z = add(b, where, name, (ganz_param){.kind = GANZ_SCALE, .rows = 1, .cols = 1}, scale->place > 0);
    if (scale->place == 0) b->net->first_scale = scale->z;
    GANZ_ASSERT(b->status != GANZ_OK || scale->z == b->net->first_scale + scale->place);
}

static void add_attention_scales(builder *b, ganz_attention_layer *a)
{
    char pair[40];
    snprintf(pair, sizeof pair, "%s.pair", a->pair.name);
    add_scale(b, a->q.name, "x.z", &a->q.input);
    add_scale(b, a->k.name, "x.z", &a->k.input);
    add_scale(b, a->v.name, "x.z", &a->v.input);
    add_scale(b, pair, "q.z", &a->pair.q);
    add_scale(b, pair, "k.z", &a->pair.k);
    add_scale(b, pair, "u.z", &a->pair.u);
    add_scale(b, pair, "v.z", &a->pair.v);
    add_scale(b, a->o.name, "x.z", &a->o.input);
}

static void add_ffn_scales(builder *b, ganz_ffn_layer *f)
{
    add_scale(b, f->in.name, "x.z", &f->in.input);
    add_scale(b, f->out.name, "x.z", &f->out.input);
}

/* In the order in which next_scale gave out the places. */
static void add_scales(builder *b)
{
    ganz_net *const net = b->net;
    for (int i = 0; i < net->config.encoder_layers; i++) {
        add_attention_scales(b, &net->encoder[i].self);
        add_ffn_scales(b, &net->encoder[i].ffn);
    }
    for (int i = 0; i < net->config.decoder_layers; i++) {
        add_attention_scales(b, &net->decoder[i].self);
        add_attention_scales(b, &net->decoder[i].cross);
        add_ffn_scales(b, &net->decoder[i].ffn);
    }
    add_scale(b, net->logits.name, "x.z", &net->logits.input);
}

/* ---- the net ------------------------------------------------------------------------------------ */

static void build(builder *b)
{
    ganz_net *const net = b->net;
    const ganz_config *const c = &net->config;
    net->embedding =
        add(b, "", "embedding", (ganz_param){.kind = GANZ_EMBEDDING, .rows = c->vocab, .cols = c->width}, false);
    net->target_space =
        add(b, "", "target_space", (ganz_param){.kind = GANZ_TABLE, .rows = TARGET_SPACES, .cols = c->width}, false);
    for (int i = 0; i < c->encoder_layers; i++) {
        net->encoder[i].self = add_attention(b, "enc", i, "self", false);
        net->encoder[i].ffn = add_ffn(b, "enc", i);
    }
    net->encoder_norm = add_norm(b, "enc");
    for (int i = 0; i < c->decoder_layers; i++) {
        net->decoder[i].self = add_attention(b, "dec", i, "self", false);
        net->decoder[i].cross = add_attention(b, "dec", i, "cross", true);
        net->decoder[i].ffn = add_ffn(b, "dec", i);
    }
    net->decoder_norm = add_norm(b, "dec");
    net->logits = new_site(b, "", "logits", c->vocab, c->width);
    net->logits.weight = net->embedding;
    add_scales(b);
}

ganz_status ganz_net_open(ganz_net *net, const ganz_config *config, ganz_error *err)
{
    *net = (ganz_net){.config = *config};
    GANZ_TRY(ganz_config_check(config, err));
    net->encoder = ganz_alloc((size_t)config->encoder_layers, sizeof *net->encoder);
    net->decoder = ganz_alloc((size_t)config->decoder_layers, sizeof *net->decoder);
    builder b = {.net = net, .err = err};
    if (net->encoder && net->decoder) build(&b);
    else b.status = ganz_fail(err, GANZ_ENOMEM, "out of memory for the layers of a network");
    if (b.status != GANZ_OK) ganz_net_close(net);
    return b.status;
}

void ganz_net_close(ganz_net *net)
{
    ganz_params_free(&net->params);
    ganz_free(net->encoder);
    ganz_free(net->decoder);
    *net = (ganz_net){0};
}

static ganz_site *attention_site(ganz_attention_layer *a, int index)
{
    ganz_site *const sites[] = {&a->q, &a->k, &a->v, &a->o};
    return sites[index];
}

static ganz_site *ffn_site(ganz_ffn_layer *f, int index) { return index == 0 ? &f->in : &f->out; }

ganz_site *ganz_net_site(ganz_net *net, int place)
{
    const int encoder_sites = ENCODER_SITES * net->config.encoder_layers;
    GANZ_ASSERT(place >= 0 && place < net->sites);
    if (place < encoder_sites) {
        ganz_encoder_layer *const layer = &net->encoder[place / ENCODER_SITES];
        const int at = place % ENCODER_SITES;
        return at < 4 ? attention_site(&layer->self, at) : ffn_site(&layer->ffn, at - 4);
    }
    place -= encoder_sites;
    if (place == DECODER_SITES * net->config.decoder_layers) return &net->logits;
    ganz_decoder_layer *const layer = &net->decoder[place / DECODER_SITES];
    const int at = place % DECODER_SITES;
    if (at < 4) return attention_site(&layer->self, at);
    return at < 8 ? attention_site(&layer->cross, at - 4) : ffn_site(&layer->ffn, at - 8);
}

ganz_pair *ganz_net_pair(ganz_net *net, int index)
{
    GANZ_ASSERT(index >= 0 && index < net->pairs);
    if (index < net->config.encoder_layers) return &net->encoder[index].self.pair;
    index -= net->config.encoder_layers;
    ganz_decoder_layer *const layer = &net->decoder[index / 2];
    return index % 2 == 0 ? &layer->self.pair : &layer->cross.pair;
}

void ganz_net_set_states(ganz_net *net, ganz_weights_state weights, ganz_inputs_state inputs)
{
    for (int i = 0; i < net->sites; i++) {
        ganz_site *const site = ganz_net_site(net, i);
        site->weights = weights;
        site->inputs = inputs;
    }
    for (int i = 0; i < net->pairs; i++) ganz_net_pair(net, i)->inputs = inputs;
}

void ganz_net_set_row_scales(ganz_net *net, bool by_row)
{
    for (int i = 0; i < net->sites; i++) ganz_net_site(net, i)->by_row = by_row;
}

void ganz_net_set_widths(ganz_net *net, ganz_widths widths)
{
    for (int i = 0; i < net->sites; i++) {
        ganz_site *const site = ganz_net_site(net, i);
        site->weight_bits = widths.weights;
        site->bias_bits = widths.biases;
        site->input_bits = widths.inputs;
    }
    for (int i = 0; i < net->pairs; i++) {
        ganz_pair *const pair = ganz_net_pair(net, i);
        pair->bits = widths.inputs;
        pair->u_bits = widths.u;
    }
}

void ganz_net_set_bits(ganz_net *net, int bits) { ganz_net_set_widths(net, (ganz_widths){bits, bits, bits, bits}); }
