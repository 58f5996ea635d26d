/* What is inside a model. */
#include "translate/inspect.h"

#include <stdio.h>

#include "model/model.h"

/* ---- the products of a network ------------------------------------------------------------------ */

enum { ATTENTION = 6, FFN = 2, ENCODER = ATTENTION + FFN, DECODER = 2 * ATTENTION + FFN };

static ganz_product dense(const ganz_site *site) { return (ganz_product){.kind = GANZ_PRODUCT_DENSE, .site = site}; }

static ganz_product of_attention(const ganz_attention_layer *a, int at, bool long_keys)
{
    switch (at) {
    case 0: return dense(&a->q);
    case 1: return dense(&a->k);
    case 2: return dense(&a->v);
    case 3: return (ganz_product){GANZ_PRODUCT_QK, NULL, &a->pair, long_keys};
    case 4: return (ganz_product){GANZ_PRODUCT_UV, NULL, &a->pair, long_keys};
    default: return dense(&a->o);
    }
}

static ganz_product of_ffn(const ganz_ffn_layer *f, int at) { return dense(at == 0 ? &f->in : &f->out); }

int ganz_product_count(const ganz_net *net)
{
    return ENCODER * net->config.encoder_layers + DECODER * net->config.decoder_layers + 1;
}

ganz_product ganz_product_at(const ganz_net *net, int index)
{
    GANZ_ASSERT_ALWAYS(index >= 0 && index < ganz_product_count(net));
    const int encoder = ENCODER * net->config.encoder_layers;
    if (index < encoder) {
        const ganz_encoder_layer *const layer = &net->encoder[index / ENCODER];
        const int at = index % ENCODER;
        return at < ATTENTION ? of_attention(&layer->self, at, false) : of_ffn(&layer->ffn, at - ATTENTION);
    }
    index -= encoder;
    if (index == DECODER * net->config.decoder_layers) return dense(&net->logits);
    const ganz_decoder_layer *const layer = &net->decoder[index / DECODER];
    const int at = index % DECODER;
    if (at < ATTENTION) return of_attention(&layer->self, at, true);
    return at < 2 * ATTENTION ? of_attention(&layer->cross, at - ATTENTION, false)
                              : of_ffn(&layer->ffn, at - 2 * ATTENTION);
}

static bool is_integer(const ganz_product *p)
{
    if (p->site) return p->site->weights == GANZ_WEIGHTS_CODES && p->site->inputs == GANZ_INPUTS_CODES;
    return p->pair->inputs == GANZ_INPUTS_CODES;
}

static void add_input(const ganz_audit *audit, const ganz_scale *scale, ganz_product_counts *counts)
{
    counts->codes += audit->input[scale->place].codes;
    counts->clipped += audit->input[scale->place].clipped;
}

void ganz_product_counted(const ganz_product *p, const ganz_audit *audit, ganz_product_counts *counts)
{
    const ganz_audit_product *const product = p->site                      ? &audit->site[p->site->place]
                                              : p->kind == GANZ_PRODUCT_QK ? &audit->qk[p->pair->place]
                                                                           : &audit->uv[p->pair->place];
    *counts = (ganz_product_counts){
        .integer_runs = product->integer_runs, .float_runs = product->float_runs, .largest = product->largest};
    if (p->site) {
        add_input(audit, &p->site->input, counts);
    } else {
        add_input(audit, p->kind == GANZ_PRODUCT_QK ? &p->pair->q : &p->pair->u, counts);
        add_input(audit, p->kind == GANZ_PRODUCT_QK ? &p->pair->k : &p->pair->v, counts);
    }
}

/* ---- a model ------------------------------------------------------------------------------------ */

const ganz_vocab *ganz_model_vocab(const ganz_model *m) { return m->vocab; }

void ganz_model_describe(const ganz_model *m, ganz_model_facts *facts)
{
    const ganz_config *const c = &m->info.config;
    *facts = (ganz_model_facts){.width = c->width,
                                .ffn = c->ffn,
                                .heads = c->heads,
                                .encoder_layers = c->encoder_layers,
                                .decoder_layers = c->decoder_layers,
                                .vocabulary = c->vocab,
                                .longest_input = c->max_positions,
                                .longest_output = m->net.config.max_positions,
                                .parameters = (long long)ganz_params_total(&m->net.params),
                                .products = ganz_product_count(&m->net),
                                .source_language = m->info.source_language,
                                .target_language = m->info.target_language,
                                .command = m->info.command};
    for (int i = 0; i < facts->products; i++) {
        const ganz_product p = ganz_product_at(&m->net, i);
        facts->integer_products += is_integer(&p);
    }
    facts->bits = m->info.bits;
    facts->input_bits = m->info.input_bits;
    facts->attention_bits = m->info.float_attention ? 0 : m->info.u_bits;
    facts->bias_bits = m->info.bias_bits == GANZ_BITS_FLOAT ? 0 : m->info.bias_bits;
    facts->float_lookup = m->info.float_lookup;
    facts->row_scales = m->info.row_scales;
    facts->dynamic_bits = m->info.dynamic_bits;
}

static ganz_code_facts codes(int bits, bool is_signed, double scale)
{
    return (ganz_code_facts){.bits = bits, .most = ganz_code_max(bits, is_signed), .scale = scale};
}

static double weight_scale(const ganz_weights *w, const ganz_site *site)
{
    const real *const scales = ganz_site_scales(w, site);
    real largest = 0;
    for (int i = 0; i < ganz_site_scale_count(site); i++) largest = scales[i] > largest ? scales[i] : largest;
    return (double)largest;
}

/* The scales of both sides. Models live in ordinary memory. */
static void describe_codes(const ganz_model *m, const ganz_product *p, ganz_product_facts *facts)
{
    const real *const input = m->weights.input_scale;
    if (p->site) {
        facts->left = codes(p->site->input_bits, true, (double)input[p->site->input.place]);
        facts->right = codes(p->site->weight_bits, true, weight_scale(&m->weights, p->site));
    } else if (p->kind == GANZ_PRODUCT_QK) {
        facts->left = codes(p->pair->bits, true, (double)input[p->pair->q.place]);
        facts->right = codes(p->pair->bits, true, (double)input[p->pair->k.place]);
    } else {
        facts->left = codes(p->pair->u_bits, false, (double)input[p->pair->u.place]);
        facts->right = codes(p->pair->bits, true, (double)input[p->pair->v.place]);
    }
}

void ganz_model_product(const ganz_model *m, int index, ganz_product_facts *facts)
{
    const ganz_product p = ganz_product_at(&m->net, index);
    const int head = m->net.config.width / m->net.config.heads;
    *facts = (ganz_product_facts){.kind = p.kind, .integer = is_integer(&p)};
    if (p.site) {
        snprintf(facts->name, sizeof facts->name, "%s", p.site->name);
        facts->out = p.site->out;
        facts->depth = p.site->in;
    } else {
        const bool qk = p.kind == GANZ_PRODUCT_QK;
        snprintf(facts->name, sizeof facts->name, "%s.%s", p.pair->name, qk ? "qk" : "uv");
        facts->out = qk ? 0 : head;
        facts->depth = qk ? head : p.long_keys ? m->net.config.max_positions : m->info.config.max_positions;
    }
    if (facts->integer) describe_codes(m, &p, facts);
    facts->worst = (long long)facts->depth * facts->left.most * facts->right.most;
}

ganz_status ganz_model_verify(const char *path, int *checked, ganz_error *err)
{
    ganz_container *file;
    *checked = 0;
    GANZ_TRY(ganz_container_open(&file, path, err));
    const bool summed = ganz_container_summed(file);
    const ganz_status status = summed ? ganz_container_verify(file, err) : GANZ_OK;
    if (summed && status == GANZ_OK) *checked = ganz_container_count(file);
    ganz_container_close(&file);
    return status;
}
