/* The decoder one token at a time: keys and values are kept, and read by row number. */
#include "nn/net_parts.h"

/* ---- the store ---------------------------------------------------------------------------------- */

static ganz_type keys_type(const ganz_net *net, const ganz_backend *be)
{
    const ganz_inputs_state state = net->decoder[0].self.pair.inputs;
    return state == GANZ_INPUTS_CODES ? GANZ_S8 : state == GANZ_INPUTS_MEASURE ? GANZ_REAL : be->product;
}

size_t ganz_keys_bytes(const ganz_net *net, const ganz_backend *be, int capacity, int source_rows)
{
    const size_t line = 2 * (size_t)net->config.width * ganz_type_bytes(keys_type(net, be));
    const size_t slack = 4 * GANZ_ALIGN; /* alignment and red zones of two blocks */
    return (size_t)net->config.decoder_layers * (line * ((size_t)capacity + (size_t)source_rows) + slack);
}

ganz_keys *ganz_keys_take(ganz_pass *pass, const ganz_net *net, int capacity, int source_rows)
{
    const int layers = net->config.decoder_layers;
    ganz_keys *const keys = ganz_arena_take(pass->host, 1, sizeof *keys);
    void **const data = ganz_arena_take(pass->host, 2 * (size_t)layers, sizeof *data);
    if (!keys || !data) return NULL;
    *keys = (ganz_keys){.layers = layers,
                        .width = net->config.width,
                        .capacity = capacity,
                        .type = keys_type(net, pass->be),
                        .self = data,
                        .cross = data + layers,
                        .source_rows = source_rows};
    const size_t line = 2 * (size_t)keys->width, bytes = ganz_type_bytes(keys->type);
    for (int i = 0; i < layers; i++) {
        keys->self[i] = ganz_arena_take(pass->device, (size_t)capacity * line, bytes);
        keys->cross[i] = ganz_arena_take(pass->device, (size_t)source_rows * line, bytes);
        if (!keys->self[i] || !keys->cross[i]) return NULL;
    }
    return keys;
}

/* Rows [row, row + rows) of a layer's k (part 0), v (part 1) or both side by side (part -1). */
static ganz_matrix stored(const ganz_keys *keys, void *layer, int row, int rows, int part)
{
    const int line = 2 * keys->width;
    const size_t at = (size_t)row * (size_t)line + (part == 1 ? (size_t)keys->width : 0);
    return (ganz_matrix){rows, part < 0 ? line : keys->width, line, keys->type,
                         (char *)layer + at * ganz_type_bytes(keys->type)};
}

/* Projects k and v of x into rows of the store: straight, or by way of their codes. */
static void keep(ganz_pass *pass, const ganz_attention_layer *a, ganz_tensor *x, const ganz_keys *keys, void *layer,
                 int row)
{
    const ganz_site *const sites[] = {&a->k, &a->v};
    const ganz_scale *const scales[] = {&a->pair.k, &a->pair.v};
    if (pass->failed) return;
    const int rows = x->m.rows, d = keys->width;
    for (int part = 0; part < 2 && a->pair.inputs == GANZ_INPUTS_CODES; part++) {
        const ganz_matrix place = stored(keys, layer, row, rows, part);
        ganz_net_operand(pass, x, sites[part], &a->pair, scales[part], &place);
    }
    if (a->pair.inputs == GANZ_INPUTS_CODES) return;
    const ganz_matrix both = stored(keys, layer, row, rows, -1);
    const bool straight = a->pair.inputs != GANZ_INPUTS_FAKE;
    ganz_tensor *const made =
        straight ? ganz_tensor_over(pass, &both, NULL) : ganz_tensor_new(pass, rows, 2 * d, GANZ_REAL);
    ganz_op_project(pass, x, sites, 2, made);
    for (int part = 0; part < 2 && !pass->failed; part++) {
        const ganz_matrix place = stored(keys, layer, row, rows, part);
        ganz_op_pair_input(pass, ganz_tensor_columns(pass, made, part * d, d), &a->pair, scales[part],
                           ganz_tensor_over(pass, &place, NULL));
    }
}

void ganz_net_cross_keys(ganz_pass *pass, const ganz_net *net, ganz_tensor *memory, ganz_keys *keys)
{
    for (int i = 0; i < keys->layers; i++) {
        const ganz_scope scope = ganz_scope_begin(pass);
        keep(pass, &net->decoder[i].cross, memory, keys, keys->cross[i], 0);
        ganz_scope_end(pass, scope);
    }
}

/* ---- one step ----------------------------------------------------------------------------------- */

/* Attention of one new row for each hypothesis over rows of the store. new_row >= 0: its own keys go there first. */
static void attend_kept(ganz_pass *pass, ganz_stream *s, const ganz_attention_layer *a, const ganz_keys *keys,
                        void *layer, int new_row, const ganz_spans *see)
{
    ganz_tensor *const delta = ganz_net_delta(pass, s, &a->o);
    const ganz_scope scope = ganz_scope_begin(pass);
    ganz_attend what = {.pair = &a->pair, .heads = s->heads, .see = see};
    ganz_tensor *const y =
        ganz_net_norm(pass, s, &a->norm, (const ganz_site *[]){&a->q, &a->k, &a->v}, new_row < 0 ? 1 : 3);
    if (new_row >= 0) keep(pass, a, y, keys, layer, new_row);
    const bool codes = a->pair.inputs == GANZ_INPUTS_FAKE || a->pair.inputs == GANZ_INPUTS_CODES;
    const real *const scales = pass->weights->input_scale;
    const ganz_matrix k = stored(keys, layer, 0, see->keys, 0), v = stored(keys, layer, 0, see->keys, 1);
    what.q = ganz_net_operand(pass, y, &a->q, &a->pair, &a->pair.q, NULL);
    what.k = ganz_tensor_over(pass, &k, codes ? scales + a->pair.k.place : NULL);
    what.v = ganz_tensor_over(pass, &v, codes ? scales + a->pair.v.place : NULL);
    ganz_net_heads(pass, s, a, &what, delta);
    ganz_scope_end(pass, scope);
}

ganz_tensor *ganz_net_step(ganz_pass *pass, const ganz_net *net, const ganz_tokens *target, ganz_keys *keys,
                           const ganz_spans *self, const ganz_spans *cross)
{
    GANZ_ASSERT(!pass->tape && keys->used + target->rows <= keys->capacity);
    ganz_stream s = ganz_net_start(pass, net, target, false);
    for (int i = 0; i < keys->layers; i++) {
        const ganz_decoder_layer *const layer = &net->decoder[i];
        attend_kept(pass, &s, &layer->self, keys, keys->self[i], keys->used, self);
        attend_kept(pass, &s, &layer->cross, keys, keys->cross[i], -1, cross);
        ganz_net_ffn(pass, &s, &layer->ffn);
    }
    keys->used += target->rows;
    return ganz_net_norm(pass, &s, &net->decoder_norm, (const ganz_site *[]){&net->logits}, 1);
}
