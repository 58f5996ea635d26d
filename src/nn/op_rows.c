/* Embedding and norm, forward and backward side by side. */

#include "nn/ops.h"

ganz_drop ganz_pass_drop(ganz_pass *pass, real rate, int lines, int cols, const int32_t *group)
{
    if (!(rate > 0)) return (ganz_drop){0};
    uint8_t *const mask = ganz_pass_take(pass, (size_t)lines * (size_t)cols, 1);
    if (!mask) return (ganz_drop){0};
    pass->be->mask(pass->be, mask, (int64_t)lines * cols, pass->seed, pass->stream++, (float)(1 - rate));
    return (ganz_drop){mask, group, 1 / (1 - rate)};
}

/* ---- embedding ---------------------------------------------------------------------------------- */

typedef struct embed_node {
    ganz_node node;
    ganz_embed_call call;
    ganz_tensor *y;
} embed_node;

static void embed_backward(ganz_pass *pass, ganz_node *node)
{
    embed_node *const n = (embed_node *)node;
    if (!ganz_tensor_has_grad(n->y)) return;
    n->call.out_grad = n->y->grad.data;
    pass->be->embed_grad(pass->be, &n->call);
}

ganz_tensor *ganz_op_embed(ganz_pass *pass, const ganz_net *net, const ganz_tokens *tokens, bool source)
{
    const int d = net->config.width, table = source ? net->source_embedding : net->embedding;
    const int extra = source ? net->target_space : -1, start = source ? -1 : net->start;
    ganz_tensor *const y = ganz_tensor_new(pass, tokens->rows, d, GANZ_REAL);
    const ganz_drop drop = ganz_pass_drop(pass, pass->dropout.residual, tokens->rows, d, NULL);
    if (pass->failed) return NULL;
    const ganz_table from = ganz_embedding_table(pass, net, table);
    const ganz_embed_call call = {.rows = tokens->rows,
                                  .cols = d,
                                  .vocab = net->params.list[table].rows,
                                  .ids = tokens->ids,
                                  .positions = tokens->positions,
                                  .table = from.operand,
                                  .by_row = from.by_row,
                                  .packed = from.packed,
                                  .start_id = GANZ_START,
                                  .start = start < 0 ? NULL : ganz_pass_param(pass, start),
                                  .root = (real)net->config.embedding_scale,
                                  .timing = pass->weights->timing,
                                  .extra = extra < 0 ? NULL : ganz_pass_param(pass, extra),
                                  .drop = drop,
                                  .out = y->m.data,
                                  .table_grad = ganz_pass_param_grad(pass, table),
                                  .extra_grad = extra < 0 ? NULL : ganz_pass_param_grad(pass, extra),
                                  .start_grad = start < 0 ? NULL : ganz_pass_param_grad(pass, start),
                                  .by_id = tokens->by_id};
    if (call.packed) pass->be->embed_codes(pass->be, &call);
    else pass->be->embed(pass->be, &call);
    embed_node *const n = pass->train_weights ? ganz_record(pass, sizeof *n, embed_backward) : NULL;
    if (n) {
        n->call = call;
        n->y = y;
    }
    return y;
}

/* ---- residual add and norm ---------------------------------------------------------------------- */

typedef struct norm_node {
    ganz_node node;
    ganz_norm_call call;
    ganz_tensor *x, *delta, *sum, *y;
} norm_node;

/* Gradients of y and of each of its uses, as far as any came back. False: none did, or memory is out. */
static bool norm_back(ganz_pass *pass, ganz_tensor *y, ganz_norm_call *call)
{
    const size_t uses = (size_t)y->uses;
    ganz_matrix *const grads = uses ? ganz_arena_take(pass->host, uses, sizeof *grads) : NULL;
    if (uses && !grads) pass->failed = true;
    bool any = ganz_tensor_has_grad(y);
    if (any) call->y_grad = y->grad;
    for (int i = 0; i < y->uses && grads; i++) {
        const ganz_matrix *const back = ganz_tensor_back(y, i);
        grads[i] = back ? *back : (ganz_matrix){0};
        any = any || back;
    }
    call->code_grad = grads;
    return any && !pass->failed;
}

/* The residual's gradient lives in one memory from the last layer to the first: sum's becomes x's. */
static void norm_backward(ganz_pass *pass, ganz_node *node)
{
    norm_node *const n = (norm_node *)node;
    bool add;
    if (!norm_back(pass, n->y, &n->call)) return;
    n->call.sum_grad = n->sum->grad.data;
    if (n->sum->grad.data) n->x->grad = n->sum->grad;
    else if (!ganz_tensor_grad(pass, n->x, &add)) return;
    n->call.x_grad = n->x->grad.data;
    if (n->delta) {
        if (!ganz_tensor_grad(pass, n->delta, &add)) return;
        n->call.delta_grad = n->delta->grad;
        n->call.delta_sums = n->delta->bias_grad; /* all of delta's gradient is made here */
        n->delta->bias_grad = NULL;
    }
    pass->be->norm_grad(pass->be, &n->call);
}

/* Every code matrix once: uses whose scales agree share theirs. NULL: there are none, or memory is out. */
static const ganz_code_out *code_outs(ganz_pass *pass, const ganz_tensor *y)
{
    ganz_code_out *const outs = y->uses ? ganz_arena_take(pass->host, (size_t)y->uses, sizeof *outs) : NULL;
    if (y->uses && !outs) pass->failed = true;
    for (int i = 0; outs && i < y->uses; i++) {
        int same = 0;
        while (same < i && y->use[same].out.m.data != y->use[i].out.m.data) same++;
        outs[i] = same == i ? y->use[i].out : (ganz_code_out){0};
    }
    return outs;
}

/* Tensors of one norm, all taken; and its call, but for what is dropped. */
static norm_node norm_of(ganz_pass *pass, const ganz_stream *s, const ganz_norm_layer *norm, ganz_tensor *y)
{
    const int rows = s->x->m.rows, d = s->x->m.cols;
    norm_node n = {.x = s->x, .delta = s->delta, .sum = s->x, .y = y};
    n.call = (ganz_norm_call){.rows = rows,
                              .cols = d,
                              .x = s->x->m.data,
                              .delta = s->delta ? s->delta->m : (ganz_matrix){0},
                              .eps = norm->epsilon,
                              .gain = ganz_pass_param(pass, norm->gain),
                              .bias = ganz_pass_param(pass, norm->bias),
                              .y = y->m,
                              .outs = y->uses,
                              .gain_grad = ganz_pass_param_grad(pass, norm->gain),
                              .bias_grad = ganz_pass_param_grad(pass, norm->bias)};
    if (pass->tape) n.call.stats = ganz_pass_take(pass, 2 * (size_t)rows, sizeof(real));
    if (pass->tape && s->delta) n.sum = ganz_tensor_new(pass, rows, d, GANZ_REAL);
    n.call.codes = code_outs(pass, y);
    if (!pass->failed) n.call.sum = n.sum->m.data;
    return n;
}

ganz_tensor *ganz_op_norm(ganz_pass *pass, ganz_stream *s, const ganz_norm_layer *norm, const ganz_readers *readers)
{
    if (pass->failed) return NULL;
    const int rows = s->x->m.rows, d = s->x->m.cols;
    const ganz_tokens *const tokens = s->tokens;
    ganz_tensor *const y =
        norm->after ? ganz_tensor_for_stream(pass, s->x, readers) : ganz_tensor_for_readers(pass, rows, d, readers);
    if (y) ganz_tensor_takes_bytes(pass, y, readers);
    const real rate = s->delta ? pass->dropout.residual : 0;
    const ganz_drop drop = ganz_pass_drop(pass, rate, tokens->packed_rows, d, tokens->row);
    if (pass->failed) return NULL;
    norm_node made = norm_of(pass, s, norm, y);
    if (pass->failed) return NULL;
    made.call.drop = drop;
    if (ganz_readers_want_codes(readers)) pass->be->norm_codes(pass->be, &made.call);
    else pass->be->norm(pass->be, &made.call);
    norm_node *const n = ganz_record(pass, sizeof *n, norm_backward);
    if (n) {
        made.node = n->node;
        *n = made;
    }
    s->x = norm->after ? y : made.sum;
    s->delta = NULL;
    return pass->failed ? NULL : y;
}
