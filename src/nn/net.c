/* The Transformer: encoder and decoder over whole sentences. */
#include "nn/net_parts.h"

/* ---- parts -------------------------------------------------------------------------------------- */

ganz_tensor *ganz_net_norm(ganz_pass *pass, ganz_stream *s, const ganz_norm_layer *norm,
                           const ganz_site *const *readers, int count)
{
    ganz_tensor *const y = ganz_tensor_for_sites(pass, s->tokens->rows, s->width, readers, count);
    const bool rounded = readers[0]->weights != GANZ_WEIGHTS_FLOAT || readers[0]->inputs != GANZ_INPUTS_FLOAT;
    if (y && count > 1 && rounded) y->grad_type = GANZ_REAL; /* they are not one product: several add to it */
    ganz_op_norm(pass, &s->x, s->delta, norm, s->tokens, y);
    return y;
}

ganz_tensor *ganz_net_delta(ganz_pass *pass, const ganz_stream *s, const ganz_site *last)
{
    if (last->inputs == GANZ_INPUTS_CODES) return NULL;
    return ganz_tensor_for_input(pass, s->tokens->rows, s->width, last->inputs);
}

void ganz_net_last(ganz_pass *pass, ganz_stream *s, ganz_tensor *x, const ganz_site *last, ganz_tensor *delta)
{
    if (delta) ganz_op_linear(pass, x, last, delta);
    else ganz_op_linear_add(pass, x, last, s->x);
    s->delta = delta;
}

/* Heads of one attention, from inputs that are what it asks for, through the output projection. */
void ganz_net_heads(ganz_pass *pass, ganz_stream *s, const ganz_attention_layer *a, const ganz_attend *what,
                    ganz_tensor *delta)
{
    if (pass->failed) return;
    const int rows = s->tokens->rows, cols = s->width;
    /* Float attention knows no codes: what reads it rounds for itself. */
    const bool values = a->pair.inputs != GANZ_INPUTS_CODES && a->o.inputs == GANZ_INPUTS_CODES;
    ganz_tensor *const mixed = values ? ganz_tensor_new(pass, rows, cols, GANZ_REAL)
                                      : ganz_tensor_for_sites(pass, rows, cols, (const ganz_site *[]){&a->o}, 1);
    ganz_op_attention(pass, what, mixed);
    ganz_net_last(pass, s, mixed, &a->o, delta);
}

ganz_tensor *ganz_net_operand(ganz_pass *pass, ganz_tensor *x, const ganz_site *site, const ganz_pair *pair,
                              const ganz_scale *scale, const ganz_matrix *into)
{
    if (pass->failed) return NULL;
    ganz_tensor *const y = ganz_tensor_for_pair(pass, x->m.rows, site->out, pair, scale, into);
    ganz_op_linear(pass, x, site, y);
    if (pass->failed) return NULL;
    return ganz_op_pair_input(pass, y, pair, scale, into ? ganz_tensor_over(pass, into, NULL) : NULL);
}

/* Queries, keys and values of whole sentences. Self attention reads y three times, cross attention the memory twice. */
static void project(ganz_pass *pass, const ganz_attention_layer *a, ganz_tensor *y, ganz_tensor *memory,
                    ganz_attend *what)
{
    const ganz_site *const all[] = {&a->q, &a->k, &a->v};
    const ganz_inputs_state state = a->pair.inputs;
    const int d = a->q.out, first = memory ? 1 : 0; /* of the sites that are projected together */
    ganz_tensor *const source = memory ? memory : y;
    if (pass->failed) return;
    if (state == GANZ_INPUTS_CODES || state == GANZ_INPUTS_FAKE) { /* each with a scale of its own */
        what->q = ganz_net_operand(pass, y, &a->q, &a->pair, &a->pair.q, NULL);
        what->k = ganz_net_operand(pass, source, &a->k, &a->pair, &a->pair.k, NULL);
        what->v = ganz_net_operand(pass, source, &a->v, &a->pair, &a->pair.v, NULL);
        return;
    }
    ganz_tensor *const together = ganz_tensor_for_input(pass, source->m.rows, (3 - first) * d, state);
    ganz_op_project(pass, source, all + first, 3 - first, together);
    ganz_tensor *const q =
        memory ? ganz_tensor_for_input(pass, y->m.rows, d, state) : ganz_tensor_columns(pass, together, 0, d);
    if (memory) ganz_op_linear(pass, y, &a->q, q);
    what->q = ganz_op_pair_input(pass, q, &a->pair, &a->pair.q, NULL);
    what->k =
        ganz_op_pair_input(pass, ganz_tensor_columns(pass, together, (1 - first) * d, d), &a->pair, &a->pair.k, NULL);
    what->v =
        ganz_op_pair_input(pass, ganz_tensor_columns(pass, together, (2 - first) * d, d), &a->pair, &a->pair.v, NULL);
}

typedef struct other_side {
    const ganz_tokens *tokens;
    ganz_tensor *memory;
} other_side;

/* x + drop(attention(norm(x))), over itself or over the memory of the other side. */
static void attend(ganz_pass *pass, ganz_stream *s, const ganz_attention_layer *a, const ganz_spans *see,
                   const other_side *other)
{
    ganz_tensor *const delta = ganz_net_delta(pass, s, &a->o);
    const ganz_scope scope = ganz_scope_begin(pass);
    ganz_attend what = {.pair = &a->pair, .heads = s->heads, .see = see, .queries = s->tokens};
    what.keys = other ? other->tokens : s->tokens;
    ganz_tensor *const y = ganz_net_norm(pass, s, &a->norm, (const ganz_site *[]){&a->q, &a->k, &a->v}, other ? 1 : 3);
    project(pass, a, y, other ? other->memory : NULL, &what);
    ganz_net_heads(pass, s, a, &what, delta);
    ganz_scope_end(pass, scope);
}

void ganz_net_ffn(ganz_pass *pass, ganz_stream *s, const ganz_ffn_layer *f)
{
    ganz_tensor *const delta = ganz_net_delta(pass, s, &f->out);
    const ganz_scope scope = ganz_scope_begin(pass);
    ganz_tensor *const y = ganz_net_norm(pass, s, &f->norm, (const ganz_site *[]){&f->in}, 1);
    ganz_tensor *const wide =
        ganz_tensor_for_sites(pass, s->tokens->rows, f->in.out, (const ganz_site *[]){&f->out}, 1);
    ganz_op_linear_relu(pass, y, &f->in, s->tokens, wide);
    ganz_net_last(pass, s, wide, &f->out, delta);
    ganz_scope_end(pass, scope);
}

ganz_stream ganz_net_start(ganz_pass *pass, const ganz_net *net, const ganz_tokens *tokens, bool source)
{
    return (ganz_stream){.x = ganz_op_embed(pass, net, tokens, source),
                         .tokens = tokens,
                         .width = net->config.width,
                         .heads = net->config.heads};
}

/* ---- the network -------------------------------------------------------------------------------- */

/* Two sites of each decoder layer read the memory, each with a scale of its own: in translation it stays as values. */
static ganz_tensor *memory_of(ganz_pass *pass, ganz_stream *s, const ganz_net *net)
{
    const ganz_site *readers[GANZ_USES_MOST];
    const int layers = net->config.decoder_layers, rows = s->tokens->rows;
    const ganz_inputs_state state = net->decoder[0].cross.k.inputs;
    const bool listed = state == GANZ_INPUTS_FAKE && 2 * layers <= GANZ_USES_MOST;
    for (int i = 0; listed && i < layers; i++) {
        readers[2 * i] = &net->decoder[i].cross.k;
        readers[2 * i + 1] = &net->decoder[i].cross.v;
    }
    ganz_tensor *const y = listed ? ganz_tensor_for_sites(pass, rows, s->width, readers, 2 * layers)
                                  : ganz_tensor_for_input(pass, rows, s->width, state);
    if (y) y->grad_type = GANZ_REAL; /* all layers add to it */
    ganz_op_norm(pass, &s->x, s->delta, &net->encoder_norm, s->tokens, y);
    return y;
}

ganz_tensor *ganz_net_encode(ganz_pass *pass, const ganz_net *net, const ganz_tokens *source, const ganz_spans *see)
{
    ganz_stream s = ganz_net_start(pass, net, source, true);
    for (int i = 0; i < net->config.encoder_layers; i++) {
        attend(pass, &s, &net->encoder[i].self, see, NULL);
        ganz_net_ffn(pass, &s, &net->encoder[i].ffn);
    }
    return memory_of(pass, &s, net);
}

ganz_tensor *ganz_net_decode(ganz_pass *pass, const ganz_net *net, const ganz_tokens *target, const ganz_tokens *source,
                             ganz_tensor *memory, const ganz_spans *self, const ganz_spans *cross)
{
    const other_side other = {source, memory};
    ganz_stream s = ganz_net_start(pass, net, target, false);
    for (int i = 0; i < net->config.decoder_layers; i++) {
        attend(pass, &s, &net->decoder[i].self, self, NULL);
        attend(pass, &s, &net->decoder[i].cross, cross, &other);
        ganz_net_ffn(pass, &s, &net->decoder[i].ffn);
    }
    return ganz_net_norm(pass, &s, &net->decoder_norm, (const ganz_site *[]){&net->logits}, 1);
}

void ganz_net_loss(ganz_pass *pass, const ganz_net *net, ganz_tensor *decoded, const ganz_goal *goal)
{
    ganz_op_loss(pass, decoded, &net->logits, goal);
}

static void cut_rows(ganz_matrix *m, int first, int rows)
{
    m->rows = rows;
    if (m->data) m->data = (char *)m->data + (size_t)first * (size_t)m->ld * ganz_type_bytes(m->type);
}

ganz_tensor ganz_net_part(const ganz_tensor *decoded, int first, int rows)
{
    ganz_tensor part = *decoded;
    cut_rows(&part.m, first, rows);
    for (int i = 0; i < part.uses; i++) cut_rows(&part.use[i].out.m, first, rows);
    return part;
}

ganz_tensor *ganz_net_logits(ganz_pass *pass, const ganz_net *net, ganz_tensor *decoded)
{
    if (pass->failed) return NULL;
    ganz_tensor *const y = ganz_tensor_for_input(pass, decoded->m.rows, net->config.vocab, net->logits.inputs);
    ganz_op_linear(pass, decoded, &net->logits, y);
    return pass->failed ? NULL : y;
}
