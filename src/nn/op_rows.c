/* Embedding and norm, forward and backward side by side. */
#include <math.h>
#include <string.h>

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
    const int d = net->config.width;
    ganz_tensor *const y = ganz_tensor_new(pass, tokens->rows, d, GANZ_REAL);
    const ganz_drop drop = ganz_pass_drop(pass, pass->dropout.residual, tokens->rows, d, NULL);
    if (pass->failed) return NULL;
    const ganz_embed_call call = {.rows = tokens->rows,
                                  .cols = d,
                                  .vocab = net->config.vocab,
                                  .ids = tokens->ids,
                                  .positions = tokens->positions,
                                  .table = ganz_embedding_table(pass, net),
                                  .by_row = !net->float_lookup && ganz_site_by_row(&net->logits),
                                  .packed = net->float_lookup ? NULL : ganz_site_packed(pass, &net->logits),
                                  .root = (real)sqrt((double)d),
                                  .timing = pass->weights->timing,
                                  .extra = source ? ganz_pass_param(pass, net->target_space) : NULL,
                                  .drop = drop,
                                  .out = y->m.data,
                                  .table_grad = ganz_pass_param_grad(pass, net->embedding),
                                  .extra_grad = source ? ganz_pass_param_grad(pass, net->target_space) : NULL,
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
    ganz_code_out codes[GANZ_USES_MOST];
    ganz_matrix code_grad[GANZ_USES_MOST];
    ganz_tensor *x, *delta, *sum, *y;
} norm_node;

/* What came back to y, or to each of its uses. False: nothing. */
static bool norm_back(norm_node *n)
{
    ganz_tensor *const y = n->y;
    bool any = false;
    for (int i = 0; i < (y->uses ? y->uses : 1); i++) {
        const ganz_matrix *const back = ganz_tensor_back(y, i);
        if (back) *(y->uses ? &n->code_grad[i] : &n->call.y_grad) = *back;
        any = any || back;
    }
    return any;
}

/* The residual's gradient lives in one memory from the last layer to the first: sum's becomes x's. */
static void norm_backward(ganz_pass *pass, ganz_node *node)
{
    norm_node *const n = (norm_node *)node;
    bool add;
    if (!norm_back(n)) return;
    n->call.codes = n->codes;
    n->call.code_grad = n->code_grad;
    n->call.sum_grad = n->sum->grad.data;
    if (n->sum->grad.data) n->x->grad = n->sum->grad;
    else if (!ganz_tensor_grad(pass, n->x, &add)) return;
    n->call.x_grad = n->x->grad.data;
    if (n->delta) {
        if (!ganz_tensor_grad(pass, n->delta, &add)) return;
        n->call.delta_grad = n->delta->grad;
    }
    pass->be->norm_grad(pass->be, &n->call);
}

/* Every code matrix once: uses whose scales agree share theirs. */
static void code_outs(const ganz_tensor *y, ganz_code_out *outs)
{
    for (int i = 0; i < y->uses; i++) {
        int same = 0;
        while (same < i && y->use[same].out.m.data != y->use[i].out.m.data) same++;
        if (same == i) outs[i] = y->use[i].out;
    }
}

void ganz_op_norm(ganz_pass *pass, ganz_tensor **x, ganz_tensor *delta, const ganz_norm_layer *norm,
                  const ganz_tokens *tokens, ganz_tensor *y)
{
    if (pass->failed) return;
    ganz_tensor *const before = *x;
    const int rows = before->m.rows, d = before->m.cols;
    const ganz_drop drop =
        delta ? ganz_pass_drop(pass, pass->dropout.residual, tokens->packed_rows, d, tokens->row) : (ganz_drop){0};
    real *const stats = pass->tape ? ganz_pass_take(pass, 2 * (size_t)rows, sizeof(real)) : NULL;
    if (delta && pass->tape) *x = ganz_tensor_new(pass, rows, d, GANZ_REAL);
    if (pass->failed) return;
    ganz_norm_call call = {.rows = rows,
                           .cols = d,
                           .x = before->m.data,
                           .delta = delta ? delta->m : (ganz_matrix){0},
                           .drop = drop,
                           .eps = (real)1e-6,
                           .gain = ganz_pass_param(pass, norm->gain),
                           .bias = ganz_pass_param(pass, norm->bias),
                           .sum = (*x)->m.data,
                           .y = y->m,
                           .stats = stats,
                           .gain_grad = ganz_pass_param_grad(pass, norm->gain),
                           .bias_grad = ganz_pass_param_grad(pass, norm->bias)};
    ganz_code_out codes[GANZ_USES_MOST] = {0};
    code_outs(y, codes);
    call.outs = y->uses;
    call.codes = codes;
    if (y->uses && y->use[0].out.m.type == GANZ_S8) pass->be->norm_codes(pass->be, &call);
    else pass->be->norm(pass->be, &call);
    norm_node *const n = ganz_record(pass, sizeof *n, norm_backward);
    if (!n) return;
    n->call = call;
    memcpy(n->codes, codes, sizeof codes);
    memset(n->code_grad, 0, sizeof n->code_grad);
    n->x = before;
    n->delta = delta;
    n->sum = *x;
    n->y = y;
}
