/* Attention between inputs that are projected (and rounded) already, forward and backward side by side. */
#include <math.h>

#include "nn/ops.h"

typedef struct attention_node {
    ganz_node node;
    ganz_attention_call call;
    ganz_tensor *q, *k, *v, *y;
} attention_node;

static void attention_backward(ganz_pass *pass, ganz_node *node)
{
    attention_node *const n = (attention_node *)node;
    const ganz_matrix *const back = ganz_tensor_back(n->y, 0);
    bool add;
    if (!back || !ganz_tensor_grad(pass, n->q, &add) || !ganz_tensor_grad(pass, n->k, &add) ||
        !ganz_tensor_grad(pass, n->v, &add))
        return;
    n->call.out_grad = *back;
    n->call.q_grad = n->q->grad;
    n->call.k_grad = n->k->grad;
    n->call.v_grad = n->v->grad;
    n->call.q_inside = ganz_tensor_cuts(n->q);
    n->call.k_inside = ganz_tensor_cuts(n->k);
    n->call.v_inside = ganz_tensor_cuts(n->v);
    pass->be->attention_grad(pass->be, &n->call);
}

/* One mask for all heads and the rows of a group, by slots: those of all groups are the lines of one matrix. */
static void attention_mask(ganz_pass *pass, const ganz_attend *what, ganz_attention_call *call)
{
    if (!(pass->dropout.attention > 0)) return;
    const int side = what->queries->slots > what->keys->slots ? what->queries->slots : what->keys->slots;
    const int groups = what->queries->groups > 1 ? what->queries->groups : 1;
    const ganz_drop drop = ganz_pass_drop(pass, pass->dropout.attention, groups * side, side, NULL);
    call->mask = drop.mask;
    call->mask_side = side;
    call->mask_scale = drop.scale;
    call->query_slot = what->queries->line ? what->queries->line : what->queries->slot;
    call->key_slot = what->keys->slot;
}

ganz_tensor *ganz_op_attention(ganz_pass *pass, const ganz_attend *what, const ganz_site *reader)
{
    if (pass->failed) return NULL;
    ganz_tensor *const q = what->operand[GANZ_Q], *const k = what->operand[GANZ_K], *const v = what->operand[GANZ_V];
    const ganz_pair_u u = ganz_pair_u_of(pass, what->pair);
    const int rows = q->m.rows, width = q->m.cols / what->heads;
    ganz_tensor *const y = ganz_tensor_for_mixed(pass, rows, q->m.cols, what->pair, reader);
    if (pass->failed) return NULL;
    ganz_attention_call call = {.see = *what->see,
                                .heads = what->heads,
                                .width = width,
                                .q = {q->m, q->scale},
                                .k = {k->m, k->scale},
                                .v = {v->m, v->scale},
                                .inv_root = (real)(1 / sqrt((double)width)),
                                .u_scale = u.scale,
                                .u_max = u.max,
                                .u_largest = u.largest,
                                .out = y->m,
                                .u_z_grad = ganz_pass_param_grad(pass, what->pair->u.z)};
    attention_mask(pass, what, &call);
    if (y->uses) call.codes = y->use[0].out;
    if (pass->tape) call.stats = ganz_pass_take(pass, (size_t)rows * (size_t)what->heads * 2, sizeof(real));
    if (pass->failed) return NULL;
    ganz_see_attention(pass, what->pair, &call);
    if (u.integers) pass->be->attention_codes(pass->be, &call);
    else pass->be->attention(pass->be, &call);
    ganz_see_attention_made(pass, what->pair, &call);
    attention_node *const n = ganz_record(pass, sizeof *n, attention_backward);
    if (n) {
        n->call = call;
        n->q = q;
        n->k = k;
        n->v = v;
        n->y = y;
    }
    return pass->failed ? NULL : y;
}
