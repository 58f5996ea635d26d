/* The Transformer: encoder and decoder over whole sentences, and the decoder one token at a time. Sublayers run in the
 * order of the tables (net_build.c); what a sublayer does is written here once. */
#include "nn/ops.h"

/* ---- sublayers ---------------------------------------------------------------------------------- */

/* Where the keys and values of an attention come from. */
typedef struct key_source {
    const ganz_spans *see;
    const ganz_tokens *tokens; /* of the keys; NULL where nothing is dropped */
    ganz_tensor *memory;       /* they are made of it; NULL: of the input of the queries */
    ganz_matrix kept;          /* (rows, k | v) they are read from here; data NULL: not kept */
    int new_row;               /* of kept: where those of the queries' input go first; -1: none are made */
} key_source;

/* Keys and values of whole sentences are made and used; kept ones are read, after those of new rows were added. */
static void project(ganz_pass *pass, const ganz_sublayer *a, ganz_tensor *y, const key_source *from,
                    ganz_tensor *operand[GANZ_OPERANDS])
{
    if (pass->failed) return;
    if (!from->memory && !from->kept.data) {
        ganz_op_project(pass, y, &(ganz_projection){a, GANZ_Q, 3, NULL}, operand);
        return;
    }
    if (from->memory) ganz_op_project(pass, from->memory, &(ganz_projection){a, GANZ_K, 2, NULL}, operand);
    if (from->kept.data && from->new_row >= 0) {
        const ganz_matrix rows = ganz_matrix_rows(&from->kept, from->new_row, y->m.rows);
        ganz_op_project(pass, y, &(ganz_projection){a, GANZ_K, 2, &rows}, operand);
    }
    if (from->kept.data) {
        const int d = a->q->out;
        const ganz_matrix k = ganz_matrix_columns(&from->kept, 0, d), v = ganz_matrix_columns(&from->kept, d, d);
        operand[GANZ_K] = ganz_op_pair_kept(pass, a->pair, &a->pair->k, &k);
        operand[GANZ_V] = ganz_op_pair_kept(pass, a->pair, &a->pair->v, &v);
    }
    ganz_op_project(pass, y, &(ganz_projection){a, GANZ_Q, 1, NULL}, operand);
}

/* Begins the branch of a sublayer; returns what it reads. A norm that is the stream from here on outlives the branch.
 */
static ganz_tensor *enter(ganz_pass *pass, ganz_stream *s, const ganz_sublayer *layer, const ganz_site *last,
                          ganz_branch *branch)
{
    ganz_tensor *const stream = layer->norm.after ? ganz_op_norm(pass, s, &layer->norm, &layer->readers) : s->x;
    *branch = ganz_branch_begin(pass, s, last);
    const bool first = layer->norm.gain < 0; /* of a post-norm network: it reads the embedding itself */
    return layer->norm.after || first ? stream : ganz_op_norm(pass, s, &layer->norm, &layer->readers);
}

/* x + drop(o(attention(q(y), k(from), v(from)))), y = norm(x); or norm(...) of that with y = x */
static void attend(ganz_pass *pass, ganz_stream *s, const ganz_sublayer *a, int heads, const key_source *from)
{
    ganz_branch branch;
    ganz_attend what = {.pair = a->pair, .heads = heads, .see = from->see, .queries = s->tokens, .keys = from->tokens};
    ganz_tensor *const y = enter(pass, s, a, a->o, &branch);
    project(pass, a, y, from, what.operand);
    ganz_tensor *const mixed = ganz_op_attention(pass, &what, a->o);
    ganz_branch_end(pass, s, &branch, mixed);
}

/* x + drop(out(drop(activation(in(y))))), y = norm(x); or norm(...) of that with y = x */
static void feed_forward(ganz_pass *pass, ganz_stream *s, const ganz_sublayer *f)
{
    ganz_branch branch;
    ganz_tensor *const y = enter(pass, s, f, f->out, &branch);
    ganz_tensor *const hidden = ganz_op_hidden(pass, y, f->in, s->tokens, f->out);
    ganz_branch_end(pass, s, &branch, hidden);
}

/* x + relu(c), y = norm(x), or norm(...) of that with y = x; c = s c' + (1 - s) value(y), s = sigmoid(gate(y)), c' the
 * state before this token. `kept`: as in attention. */
static void recur(ganz_pass *pass, ganz_stream *s, const ganz_sublayer *r, const key_source *from)
{
    ganz_tensor *const stream = r->norm.after ? ganz_op_norm(pass, s, &r->norm, &r->readers) : s->x;
    const ganz_scope scope = ganz_scope_begin(pass);
    const bool first = r->norm.gain < 0;
    ganz_tensor *const y = r->norm.after || first ? stream : ganz_op_norm(pass, s, &r->norm, &r->readers);
    ganz_tensor *const value = ganz_op_linear(pass, y, r->value), *const gate = ganz_op_linear(pass, y, r->gate);
    ganz_op_recur(pass, s, &(ganz_recurrence){value, gate, from->kept, from->new_row, from->see});
    ganz_scope_end(pass, scope);
}

/* ---- stacks ------------------------------------------------------------------------------------- */

/* `keys`: where self and cross attention of the decoder read and keep keys; NULL: not kept. */
static ganz_tensor *run_stack(ganz_pass *pass, const ganz_net *net, const ganz_stack *stack, ganz_stream *s,
                              const key_source sources[2], const ganz_keys *keys)
{
    for (int i = 0; i < stack->count; i++) {
        const ganz_sublayer *const layer = &stack->sublayer[i];
        if (layer->kind == GANZ_FEED_FORWARD) {
            feed_forward(pass, s, layer);
            continue;
        }
        key_source from = sources[layer->kind == GANZ_CROSS_ATTENTION];
        if (keys) from.kept = ganz_keys_rows(keys, layer, i, from.see->keys);
        if (layer->kind == GANZ_RECURRENCE) recur(pass, s, layer, &from);
        else attend(pass, s, layer, net->config.heads, &from);
    }
    return ganz_op_norm(pass, s, &stack->norm, &stack->readers);
}

ganz_tensor *ganz_net_encode(ganz_pass *pass, const ganz_net *net, const ganz_tokens *source, const ganz_spans *see)
{
    ganz_stream s = {.x = ganz_op_embed(pass, net, source, true), .tokens = source};
    const key_source sources[2] = {{.see = see, .tokens = source}};
    return run_stack(pass, net, &net->encoder, &s, sources, NULL);
}

ganz_tensor *ganz_net_decode(ganz_pass *pass, const ganz_net *net, const ganz_tokens *target, const ganz_tokens *source,
                             ganz_tensor *memory, const ganz_spans *self, const ganz_spans *cross)
{
    ganz_stream s = {.x = ganz_op_embed(pass, net, target, false), .tokens = target};
    const key_source sources[2] = {{.see = self, .tokens = target}, {.see = cross, .tokens = source, .memory = memory}};
    return run_stack(pass, net, &net->decoder, &s, sources, NULL);
}

ganz_tensor *ganz_net_step(ganz_pass *pass, const ganz_net *net, const ganz_tokens *target, ganz_keys *keys,
                           const ganz_spans *self, const ganz_spans *cross)
{
    GANZ_ASSERT(!pass->tape && keys->used + target->rows <= keys->capacity);
    ganz_stream s = {.x = ganz_op_embed(pass, net, target, false), .tokens = target};
    const int first = pass->first_key ? 0 : keys->used; /* or added on the device */
    const key_source sources[2] = {{.see = self, .new_row = first}, {.see = cross, .new_row = -1}};
    ganz_tensor *const decoded = run_stack(pass, net, &net->decoder, &s, sources, keys);
    keys->used += target->rows;
    return decoded;
}

void ganz_net_cross_keys(ganz_pass *pass, const ganz_net *net, ganz_tensor *memory, ganz_keys *keys)
{
    for (int i = 0; i < net->decoder.count && !pass->failed; i++) {
        const ganz_sublayer *const a = &net->decoder.sublayer[i];
        if (a->kind != GANZ_CROSS_ATTENTION) continue;
        ganz_tensor *made[GANZ_OPERANDS];
        const ganz_scope scope = ganz_scope_begin(pass);
        const ganz_matrix rows = ganz_keys_rows(keys, a, i, memory->m.rows);
        ganz_op_project(pass, memory, &(ganz_projection){a, GANZ_K, 2, &rows}, made);
        ganz_scope_end(pass, scope);
    }
}

/* ---- logits ------------------------------------------------------------------------------------- */

void ganz_net_loss(ganz_pass *pass, const ganz_net *net, ganz_tensor *decoded, const ganz_goal *goal)
{
    ganz_op_loss(pass, decoded, net->logits, goal);
}

ganz_tensor *ganz_net_part(ganz_pass *pass, const ganz_tensor *decoded, int first, int rows)
{
    const ganz_matrix m = ganz_matrix_rows(&decoded->m, first, rows);
    ganz_tensor *const part = ganz_tensor_over(pass, &m, decoded->scale);
    if (!part || !decoded->uses) return part;
    part->use = ganz_arena_take(pass->host, (size_t)decoded->uses, sizeof *part->use);
    if (!part->use) pass->failed = true;
    for (int i = 0; part->use && i < decoded->uses; i++) {
        part->use[part->uses++] = decoded->use[i];
        part->use[i].out.m = ganz_matrix_rows(&decoded->use[i].out.m, first, rows);
    }
    return pass->failed ? NULL : part;
}

ganz_tensor *ganz_net_logits(ganz_pass *pass, const ganz_net *net, ganz_tensor *decoded)
{
    return ganz_op_linear(pass, decoded, net->logits);
}
