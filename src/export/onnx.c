/* The network as two ONNX graphs, encoder and decoder, of one sentence each. Rounding is written out as pairs of
 * QuantizeLinear and DequantizeLinear (QDQ) around every product, with a Clip before, because codes end at p and not at
 * -128, nor, with fewer than 8 bits, at 127. */
#include <stdio.h>
#include <string.h>

#include "base/surroundings.h"
#include "export/folder.h"
#include "export/onnx_write.h"
#include "export/weights.h"
#include "ganz/export.h"

typedef ganz_onnx_value value;

typedef struct maker {
    const ganz_model *model;
    ganz_onnx g;
    value zero_signed, zero_unsigned; /* of the codes */
    value positions;                  /* (rows) 0, 1, ... of the stack at work */
    value sees;                       /* (rows, rows) which keys a row of the decoder sees */
    bool causal;
} maker;

static const value none = {""};

/* ---- small nodes -------------------------------------------------------------------------------- */

static value one(maker *m, const char *op, value a)
{
    return ganz_onnx_node(&m->g, op, (value[3]){a, none, none}, NULL);
}

static value two(maker *m, const char *op, value a, value b)
{
    return ganz_onnx_node(&m->g, op, (value[3]){a, b, none}, NULL);
}

static value three(maker *m, const char *op, value a, value b, value c)
{
    return ganz_onnx_node(&m->g, op, (value[3]){a, b, c}, NULL);
}

static value transpose(maker *m, value x, int a, int b, int c)
{
    const ganz_onnx_attribute order[] = {{"perm", GANZ_ONNX_INTS, 0, {a, b, c}, 3}, {0}};
    return ganz_onnx_node(&m->g, "Transpose", (value[3]){x, none, none}, order);
}

static value cast(maker *m, value x, ganz_onnx_type type)
{
    const ganz_onnx_attribute to[] = {{"to", GANZ_ONNX_INT, 0, {type}, 1}, {0}};
    return ganz_onnx_node(&m->g, "Cast", (value[3]){x, none, none}, to);
}

/* A list of whole numbers, for shapes and axes. */
static value list(maker *m, const char *name, int count, const int64_t *numbers)
{
    char unique[64];
    snprintf(unique, sizeof unique, "%s_%d", name, m->g.values++);
    return ganz_onnx_constant(&m->g, unique, &(ganz_onnx_array){GANZ_ONNX_I64, 1, {count}, numbers});
}

static value reshape(maker *m, value x, int count, const int64_t *shape)
{
    return two(m, "Reshape", x, list(m, "shape", count, shape));
}

static value unsqueeze(maker *m, value x, int64_t axis) { return two(m, "Unsqueeze", x, list(m, "axis", 1, &axis)); }

static value vector(maker *m, const char *name, const float *numbers, int count)
{
    return ganz_onnx_constant(&m->g, name, &(ganz_onnx_array){GANZ_ONNX_F32, 1, {count}, numbers});
}

static value param(maker *m, int index)
{
    const ganz_param *const p = &m->model->net.params.list[index];
    return vector(m, p->name, ganz_model_values(m->model, index), p->cols);
}

/* ---- products ----------------------------------------------------------------------------------- */

/* x rounded to codes of a step, and back. */
static value rounded(maker *m, value x, float step, int low, int high)
{
    const value scale = ganz_onnx_number(&m->g, step), zero = low < 0 ? m->zero_signed : m->zero_unsigned;
    const value least = ganz_onnx_number(&m->g, (float)low * step), most = ganz_onnx_number(&m->g, (float)high * step);
    const value codes = three(m, "QuantizeLinear", three(m, "Clip", x, least, most), scale, zero);
    return three(m, "DequantizeLinear", codes, scale, zero);
}

/* Codes of a weight and their steps; a table that is looked up too is in the graph once. */
static value site_codes(maker *m, const ganz_site *site)
{
    const char *const name = m->model->net.params.list[site->weight].name;
    int8_t *const codes = ganz_site_codes(m->model, site);
    if (!codes) m->g.failed = true;
    const ganz_onnx_array array = {GANZ_ONNX_I8, 2, {site->out, site->in}, codes};
    const value v = codes ? ganz_onnx_constant(&m->g, name, &array) : none;
    ganz_free(codes);
    return v;
}

static value site_steps(maker *m, const ganz_site *site)
{
    char name[64];
    snprintf(name, sizeof name, "%s.step", m->model->net.params.list[site->weight].name);
    const ganz_onnx_array array = {
        GANZ_ONNX_F32, ganz_site_by_row(site), {site->out}, ganz_site_scales(&m->model->weights, site)};
    return ganz_onnx_constant(&m->g, name, &array);
}

static value integer_weight(maker *m, const ganz_site *site, value codes, value steps)
{
    const ganz_onnx_attribute axis[] = {{"axis", GANZ_ONNX_INT, 0, {0}, 1}, {0}};
    return ganz_onnx_node(&m->g, "DequantizeLinear", (value[3]){codes, steps, none},
                          ganz_site_by_row(site) ? axis : NULL);
}

static value float_weight(maker *m, const ganz_site *site)
{
    const ganz_onnx_array array = {GANZ_ONNX_F32, 2, {site->out, site->in}, ganz_model_values(m->model, site->weight)};
    return ganz_onnx_constant(&m->g, m->model->net.params.list[site->weight].name, &array);
}

/* x w^T + b. w: NULL: made here. */
static value product(maker *m, value x, const ganz_site *site, const value *w)
{
    const ganz_onnx_attribute turned[] = {{"transB", GANZ_ONNX_INT, 0, {1}, 1}, {0}};
    const bool integer = ganz_site_is_integer(site);
    const int p = ganz_code_max(site->rule.input_bits, true);
    const value weight = w         ? *w
                         : integer ? integer_weight(m, site, site_codes(m, site), site_steps(m, site))
                                   : float_weight(m, site);
    if (integer) x = rounded(m, x, m->model->weights.input_scale[site->input.place], -p, p);
    return ganz_onnx_node(&m->g, "Gemm", (value[3]){x, weight, site->bias < 0 ? none : param(m, site->bias)}, turned);
}

static value activate(maker *m, value x, ganz_activation activation)
{
    switch (activation) {
    case GANZ_ACTIVATION_RELU: return one(m, "Relu", x);
    case GANZ_ACTIVATION_SWISH: return two(m, "Mul", x, one(m, "Sigmoid", x));
    case GANZ_ACTIVATION_GELU_SIGMOID:
        return two(m, "Mul", x, one(m, "Sigmoid", two(m, "Mul", x, ganz_onnx_number(&m->g, 1.702f))));
    case GANZ_ACTIVATION_GELU: {
        const value part = one(m, "Erf", two(m, "Mul", x, ganz_onnx_number(&m->g, 0.707106781f)));
        const value share = two(m, "Add", part, ganz_onnx_number(&m->g, 1));
        return two(m, "Mul", two(m, "Mul", x, ganz_onnx_number(&m->g, 0.5f)), share);
    }
    default: return x;
    }
}

/* ---- sublayers ---------------------------------------------------------------------------------- */

static value norm(maker *m, value x, const ganz_norm_layer *layer)
{
    if (layer->gain < 0) return x;
    const ganz_onnx_attribute numbers[] = {
        {"axis", GANZ_ONNX_INT, 0, {-1}, 1}, {"epsilon", GANZ_ONNX_FLOAT, layer->epsilon, {0}, 0}, {0}};
    return ganz_onnx_node(&m->g, "LayerNormalization", (value[3]){x, param(m, layer->gain), param(m, layer->bias)},
                          numbers);
}

/* An operand of an attention, rounded where its products are integer: (rows, heads, width). */
static value operand(maker *m, value x, const ganz_site *site, const ganz_pair *pair, const ganz_scale *scale)
{
    const int heads = m->model->net.config.heads, p = ganz_code_max(pair->rule.input_bits, true);
    value y = product(m, x, site, NULL);
    if (pair->inputs == GANZ_INPUTS_CODES) y = rounded(m, y, m->model->weights.input_scale[scale->place], -p, p);
    return reshape(m, y, 3, (const int64_t[]){0, heads, site->out / heads});
}

static value soft(maker *m, value scores, const ganz_pair *pair)
{
    const ganz_onnx_attribute axis[] = {{"axis", GANZ_ONNX_INT, 0, {-1}, 1}, {0}};
    const value u = ganz_onnx_node(&m->g, "Softmax", (value[3]){scores, none, none}, axis);
    if (pair->inputs != GANZ_INPUTS_CODES) return u;
    return rounded(m, u, m->model->weights.input_scale[pair->u.place], 0,
                   ganz_code_max(pair->rule.attention_bits, false));
}

/* 1 / sqrt of a width, by Newton's steps: no libm decides its last bit. */
static float inverse_root(int width)
{
    double root = width;
    for (int i = 0; i < 64; i++) root = 0.5 * (root + width / root);
    return (float)(1 / root);
}

static value attention(maker *m, value y, const ganz_sublayer *a, const value *memory)
{
    const ganz_pair *const pair = a->pair;
    const value from = memory ? *memory : y;
    const value q = transpose(m, operand(m, y, a->q, pair, &pair->q), 1, 0, 2);
    const value k = transpose(m, operand(m, from, a->k, pair, &pair->k), 1, 2, 0);
    const value v = transpose(m, operand(m, from, a->v, pair, &pair->v), 1, 0, 2);
    const float root = inverse_root(m->model->net.config.width / m->model->net.config.heads);
    value scores = two(m, "Mul", two(m, "MatMul", q, k), ganz_onnx_number(&m->g, root));
    if (m->causal && !memory) scores = three(m, "Where", m->sees, scores, ganz_onnx_number(&m->g, -3e38f));
    const value mixed = transpose(m, two(m, "MatMul", soft(m, scores, pair), v), 1, 0, 2);
    return product(m, reshape(m, mixed, 2, (const int64_t[]){0, -1}), a->o, NULL);
}

static value feed_forward(maker *m, value y, const ganz_sublayer *f)
{
    return product(m, activate(m, product(m, y, f->in, NULL), f->in->activation), f->out, NULL);
}

/* memory: what cross attention reads; NULL in the encoder. */
static value run_stack(maker *m, const ganz_stack *stack, value x, const value *memory)
{
    for (int i = 0; i < stack->count; i++) {
        const ganz_sublayer *const layer = &stack->sublayer[i];
        const value y = norm(m, x, &layer->norm);
        const value done = layer->kind == GANZ_FEED_FORWARD
                               ? feed_forward(m, y, layer)
                               : attention(m, y, layer, layer->kind == GANZ_CROSS_ATTENTION ? memory : NULL);
        x = two(m, "Add", layer->norm.after ? y : x, done);
    }
    return norm(m, x, &stack->norm);
}

/* ---- both graphs -------------------------------------------------------------------------------- */

/* Rows of a table by their ids. */
static value looked_up(maker *m, value ids, int table, value *codes, value *steps)
{
    const ganz_net *const net = &m->model->net;
    const ganz_param *const p = &net->params.list[table];
    if (table != net->logits->weight || !ganz_site_is_integer(net->logits) || net->scheme.float_lookup) {
        char name[64];
        snprintf(name, sizeof name, "%s.lookup", p->name);
        const ganz_onnx_array array = {GANZ_ONNX_F32, 2, {p->rows, p->cols}, ganz_model_values(m->model, table)};
        return two(m, "Gather", ganz_onnx_constant(&m->g, name, &array), ids);
    }
    *codes = site_codes(m, net->logits);
    *steps = site_steps(m, net->logits);
    const value rows = cast(m, two(m, "Gather", *codes, ids), GANZ_ONNX_F32);
    if (!ganz_site_by_row(net->logits)) return two(m, "Mul", rows, *steps);
    return two(m, "Mul", rows, unsqueeze(m, two(m, "Gather", *steps, ids), 1));
}

/* The id that begins a translation looks up the start vector, or zeros. */
static value with_start(maker *m, value ids, value rows)
{
    const ganz_net *const net = &m->model->net;
    const value is_start = unsqueeze(m, two(m, "Equal", ids, ganz_onnx_whole(&m->g, GANZ_START)), 1);
    value start = ganz_onnx_number(&m->g, 0);
    if (net->start >= 0)
        start = two(m, "Mul", param(m, net->start), ganz_onnx_number(&m->g, (float)net->config.embedding_scale));
    return three(m, "Where", is_start, start, rows);
}

static value embed(maker *m, value ids, bool source, value *codes, value *steps)
{
    const ganz_net *const net = &m->model->net;
    const int width = net->config.width;
    const ganz_onnx_array timing = {GANZ_ONNX_F32, 2, {net->config.max_positions, width}, m->model->weights.timing};
    value rows = looked_up(m, ids, source ? net->source_embedding : net->embedding, codes, steps);
    rows = two(m, "Mul", rows, ganz_onnx_number(&m->g, (float)net->config.embedding_scale));
    if (!source) rows = with_start(m, ids, rows);
    if (source && net->target_space >= 0)
        rows = two(m, "Add", rows, vector(m, "target_space", ganz_model_values(m->model, net->target_space), width));
    const value shape = one(m, "Shape", ids);
    const value count = two(m, "Squeeze", shape, list(m, "axis", 1, (const int64_t[]){0}));
    m->positions = three(m, "Range", ganz_onnx_whole(&m->g, 0), count, ganz_onnx_whole(&m->g, 1));
    return two(m, "Add", rows, two(m, "Gather", ganz_onnx_constant(&m->g, "timing", &timing), m->positions));
}

static maker begin(const ganz_model *model)
{
    static const int8_t zero = 0;
    maker m = {.model = model};
    m.zero_signed = ganz_onnx_constant(&m.g, "zero_signed", &(ganz_onnx_array){GANZ_ONNX_I8, 0, {0}, &zero});
    m.zero_unsigned = ganz_onnx_constant(&m.g, "zero_unsigned", &(ganz_onnx_array){GANZ_ONNX_U8, 0, {0}, &zero});
    return m;
}

static ganz_status save_encoder(const ganz_model *model, const char *path, ganz_error *err)
{
    const ganz_onnx_shape rows = {{"source"}, {0}}, out = {{"source"}, {0, model->net.config.width}};
    maker m = begin(model);
    value codes, steps;
    const value ids = ganz_onnx_input(&m.g, "source", GANZ_ONNX_I64, &rows);
    const value memory = run_stack(&m, &model->net.encoder, embed(&m, ids, true, &codes, &steps), NULL);
    ganz_onnx_output(&m.g, "memory", &memory, &out);
    const ganz_status status = ganz_onnx_save(&m.g, path, "encoder", err);
    ganz_onnx_free(&m.g);
    return status;
}

static ganz_status save_decoder(const ganz_model *model, const char *path, ganz_error *err)
{
    const ganz_net *const net = &model->net;
    const ganz_onnx_shape rows = {{"target"}, {0}}, in = {{"source"}, {0, net->config.width}};
    const ganz_onnx_shape out = {{"target"}, {0, net->config.vocab}};
    maker m = begin(model);
    value codes = none, steps = none;
    const value memory = ganz_onnx_input(&m.g, "memory", GANZ_ONNX_F32, &in);
    const value ids = ganz_onnx_input(&m.g, "target", GANZ_ONNX_I64, &rows);
    const value x = embed(&m, ids, false, &codes, &steps);
    m.causal = true;
    m.sees = two(&m, "LessOrEqual", unsqueeze(&m, m.positions, 0), unsqueeze(&m, m.positions, 1));
    const value decoded = run_stack(&m, &net->decoder, x, &memory);
    const value table = codes.name[0] ? integer_weight(&m, net->logits, codes, steps) : none;
    const value logits = product(&m, decoded, net->logits, codes.name[0] ? &table : NULL);
    ganz_onnx_output(&m.g, "logits", &logits, &out);
    const ganz_status status = ganz_onnx_save(&m.g, path, "decoder", err);
    ganz_onnx_free(&m.g);
    return status;
}

typedef struct job {
    const ganz_model *model;
    const char *folder;
} job;

static ganz_status write_all(void *context, ganz_error *err)
{
    const job *const j = context;
    char path[4096];
    snprintf(path, sizeof path, "%s/encoder.onnx", j->folder);
    GANZ_TRY(save_encoder(j->model, path, err));
    snprintf(path, sizeof path, "%s/decoder.onnx", j->folder);
    return save_decoder(j->model, path, err);
}

ganz_status ganz_export_onnx(const ganz_model *model, const char *folder, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    job j = {model, folder};
    if (model->info.config.recurrent)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "decoders with recurrent units are not written as ONNX");
    if (model->info.dynamic_bits)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "models whose rows are rounded one by one are not written as ONNX");
    if (ganz_scheme_has_columns(&model->net.scheme))
        return ganz_fail(err, GANZ_EUNSUPPORTED, "models with steps for columns of inputs are not written as ONNX");
    return ganz_export_folder(folder, write_all, &j, err);
}
