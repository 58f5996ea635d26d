/* What is inside a model. */
#include "translate/inspect.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/surroundings.h"
#include "model/model.h"
#include "text/vocab.h"

/* ---- products ----------------------------------------------------------------------------------- */

static bool is_integer(const ganz_product *p)
{
    if (p->site) return p->site->weights == GANZ_WEIGHTS_CODES && p->site->inputs == GANZ_INPUTS_CODES;
    return p->pair->inputs == GANZ_INPUTS_CODES;
}

static ganz_product_kind kind_of(const ganz_product *p)
{
    return p->site ? GANZ_PRODUCT_DENSE : p->uv ? GANZ_PRODUCT_UV : GANZ_PRODUCT_QK;
}

static void add_input(const ganz_audit *audit, const ganz_scale *scale, ganz_product_counts *counts)
{
    counts->codes += audit->input[scale->place].codes;
    counts->clipped += audit->input[scale->place].clipped;
}

void ganz_product_counted(const ganz_product *p, const ganz_audit *audit, ganz_product_counts *counts)
{
    const ganz_audit_product *const product = p->site  ? &audit->site[p->site->place]
                                              : !p->uv ? &audit->qk[p->pair->place]
                                                       : &audit->uv[p->pair->place];
    *counts = (ganz_product_counts){
        .integer_runs = product->integer_runs, .float_runs = product->float_runs, .largest = product->largest};
    const ganz_scale *scales[2];
    for (int i = ganz_product_scales(p, scales); i-- > 0;) add_input(audit, scales[i], counts);
}

/* ---- a model ------------------------------------------------------------------------------------ */

const ganz_vocab *ganz_model_vocab(const ganz_model *m) { return m->vocab; }

static void append(char *text, size_t bytes, bool when, const char *words, ...) __attribute__((format(printf, 4, 5)));
static void append(char *text, size_t bytes, bool when, const char *words, ...)
{
    const size_t n = strlen(text), comma = n > 0 ? 2 : 0;
    if (!when || n + comma >= bytes) return;
    va_list list;
    memcpy(text + n, ", ", comma);
    va_start(list, words);
    vsnprintf(text + n + comma, bytes - n - comma, words, list);
    va_end(list);
}

/* The switches that are set, in the order of the data's way through the network. */
static void describe_kind(const ganz_model *m, char *text, size_t bytes)
{
    const ganz_config *const c = &m->net.config;
    const ganz_config plain = ganz_config_complete(&(ganz_config){.width = c->width});
    char biases[8];
    ganz_attention_bias_names(c, biases);
    text[0] = '\0';
    append(text, bytes, c->norm == GANZ_NORM_POST, "post-norm");
    append(text, bytes, c->norm_epsilon != plain.norm_epsilon, "epsilon %g", c->norm_epsilon);
    append(text, bytes, c->activation != plain.activation, "%s", ganz_activation_name(c->activation));
    append(text, bytes, biases[0], "biases of %s", biases);
    append(text, bytes, c->timing == GANZ_TIMING_HALF, "positions by half");
    append(text, bytes, c->first_position > 0, "positions from %d", c->first_position);
    append(text, bytes, c->embedding_scale != plain.embedding_scale, "embeddings times %g", c->embedding_scale);
    append(text, bytes, c->source_vocab > 0, "a source table of %d entries", c->source_vocab);
    append(text, bytes, c->own_output, "an output table");
    append(text, bytes, c->logits_bias, "a bias of the logits");
    append(text, bytes, c->start_vector, "a start vector");
    append(text, bytes, c->no_target_space, "no target space");
    append(text, bytes, c->recurrent, "recurrent decoder (SSRU)");
    append(text, bytes, m->vocab->bare_source, "sources without an end mark");
}

static void describe_search(const ganz_model_search *s, char *text, size_t bytes)
{
    text[0] = '\0';
    append(text, bytes, s->beam > 0, "beam %d", s->beam);
    append(text, bytes, s->has_alpha, "alpha %g", s->alpha);
    append(text, bytes, s->by_length, "penalty length^alpha");
}

void ganz_model_describe(const ganz_model *m, ganz_model_facts *facts)
{
    GANZ_PLAIN_NUMBERS;
    const ganz_config *const c = &m->info.config;
    *facts = (ganz_model_facts){.width = c->width,
                                .ffn = c->ffn,
                                .heads = c->heads,
                                .encoder_layers = c->encoder_layers,
                                .decoder_layers = c->decoder_layers,
                                .vocabulary = c->vocab,
                                .source_vocabulary = c->source_vocab > 0 ? c->source_vocab : c->vocab,
                                .longest_input = c->max_positions,
                                .longest_output = m->net.config.max_positions,
                                .parameters = (long long)ganz_params_total(&m->net.params),
                                .products = m->net.products,
                                .source_language = m->info.source_language,
                                .target_language = m->info.target_language,
                                .command = m->info.command,
                                .origin = m->info.origin,
                                .licence = m->info.licence,
                                .formality = m->info.formal_mark != NULL};
    for (int i = 0; i < facts->products; i++) facts->integer_products += is_integer(&m->net.product[i]);
    const ganz_scheme *const scheme = &m->info.scheme;
    facts->bits = scheme->rule.weight_bits;
    facts->input_bits = scheme->rule.input_bits;
    facts->attention_bits = scheme->float_attention ? 0 : scheme->rule.attention_bits;
    facts->bias_bits = scheme->rule.bias_bits == GANZ_BITS_FLOAT ? 0 : scheme->rule.bias_bits;
    facts->float_lookup = scheme->float_lookup;
    facts->row_scales = scheme->rule.per_row;
    facts->column_scales = ganz_scheme_has_columns(scheme);
    facts->dynamic_bits = m->info.dynamic_bits;
    describe_kind(m, facts->kind, sizeof facts->kind);
    describe_search(&m->info.search, facts->search, sizeof facts->search);
    ganz_scheme_print(scheme, facts->exceptions);
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

/* The largest of an input with columns, else its own. */
static double input_scale(const ganz_weights *w, const ganz_site *site)
{
    real largest = w->input_scale[site->input.place];
    if (!site->rule.columns) return (double)largest;
    largest = 0;
    for (int i = 0; i < site->in; i++) {
        const real step = w->column_step[site->col + i];
        largest = step > largest ? step : largest;
    }
    return (double)largest;
}

/* What zeros of columns can add to a sum. */
static long long worst_of_zeros(const ganz_weights *w, const ganz_site *site)
{
    long long sum = 0;
    for (int i = 0; site->rule.columns && i < site->in; i++) {
        const long long zero = (long long)w->column_zero[site->col + i];
        sum += zero < 0 ? -zero : zero;
    }
    return sum * ganz_code_max(site->rule.weight_bits, true);
}

/* The scales of both sides. Models live in ordinary memory. */
static void describe_codes(const ganz_model *m, const ganz_product *p, ganz_product_facts *facts)
{
    const real *const input = m->weights.input_scale;
    if (p->site) {
        facts->left = codes(p->site->rule.input_bits, true, input_scale(&m->weights, p->site));
        facts->right = codes(p->site->rule.weight_bits, true, weight_scale(&m->weights, p->site));
    } else if (!p->uv) {
        facts->left = codes(p->pair->rule.input_bits, true, (double)input[p->pair->q.place]);
        facts->right = codes(p->pair->rule.input_bits, true, (double)input[p->pair->k.place]);
    } else {
        facts->left = codes(p->pair->rule.attention_bits, false, (double)input[p->pair->u.place]);
        facts->right = codes(p->pair->rule.input_bits, true, (double)input[p->pair->v.place]);
    }
}

void ganz_model_product(const ganz_model *m, int index, ganz_product_facts *facts)
{
    GANZ_ASSERT_ALWAYS(index >= 0 && index < m->net.products);
    const ganz_product *const p = &m->net.product[index];
    const int head = m->net.config.width / m->net.config.heads;
    *facts = (ganz_product_facts){.kind = kind_of(p), .integer = is_integer(p)};
    snprintf(facts->name, sizeof facts->name, "%s", p->name);
    if (p->site) {
        facts->out = p->site->out;
        facts->depth = p->site->in;
    } else {
        const int keys = p->target_keys ? m->net.config.max_positions : m->info.config.max_positions;
        facts->out = p->uv ? head : 0;
        facts->depth = p->uv ? keys : head;
    }
    if (facts->integer) describe_codes(m, p, facts);
    facts->worst = (long long)facts->depth * facts->left.most * facts->right.most;
    if (facts->integer && p->site) facts->worst += worst_of_zeros(&m->weights, p->site);
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
