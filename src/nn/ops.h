/* The operations by name, for the network and the tests.
 *
 * A tensor that is NULL means that the pass has failed; every operation then does nothing. Results are written to a
 * tensor the caller made, so that it decides where they live. */
#ifndef GANZ_NN_OPS_H
#define GANZ_NN_OPS_H

#include "nn/net.h"

/* ---- memory of a pass (tape.c) ------------------------------------------------------------------ */

void *ganz_pass_take(ganz_pass *pass, size_t count, size_t element); /* device memory; NULL: failed */
ganz_tensor *ganz_tensor_new(ganz_pass *pass, int rows, int cols, ganz_type type);
ganz_tensor *ganz_tensor_over(ganz_pass *pass, const ganz_matrix *m, const real *scale); /* memory of somebody else */
ganz_tensor *ganz_tensor_columns(ganz_pass *pass, ganz_tensor *parent, int col, int cols);

/* Makes sure t->grad has memory. *add: something is there already. False: failed. */
bool ganz_tensor_grad(ganz_pass *pass, ganz_tensor *t, bool *add);
/* Whether anything has flowed back to it, or to the parent it is columns of. */
bool ganz_tensor_has_grad(ganz_tensor *t);
/* What has flowed back to a result: to its value or, where that exists only as codes, to use number `use`. NULL:
 * nothing. */
const ganz_matrix *ganz_tensor_back(ganz_tensor *t, int use);

/* What is taken between begin and end is given back at the end, unless a tape may still ask for it. */
typedef struct ganz_scope {
    size_t host, device;
} ganz_scope;
ganz_scope ganz_scope_begin(const ganz_pass *pass);
void ganz_scope_end(ganz_pass *pass, ganz_scope scope);

/* ---- tape (tape.c) ------------------------------------------------------------------------------ */

/* First member of what an operation remembers for its gradient. */
typedef struct ganz_node {
    void (*backward)(ganz_pass *pass, struct ganz_node *node);
    struct ganz_node *before;
} ganz_node;

/* A node at the end of the tape, `bytes` in all; NULL without a tape. */
void *ganz_record(ganz_pass *pass, size_t bytes, void (*backward)(ganz_pass *pass, ganz_node *node));

/* ---- parameters --------------------------------------------------------------------------------- */

static inline real *ganz_pass_param(const ganz_pass *pass, int index)
{
    const ganz_weights *const w = pass->weights;
    return w->master ? w->master + w->params->list[index].offset : w->value[index];
}
/* NULL: this pass does not train it. */
static inline real *ganz_pass_param_grad(const ganz_pass *pass, int index)
{
    const ganz_param *const p = &pass->weights->params->list[index];
    const bool train = p->kind == GANZ_SCALE ? pass->learn_scales : pass->train_weights;
    return train && pass->weights->grad ? pass->weights->grad + p->offset : NULL;
}

/* ---- precision (op_site.c): the one place that looks at states ----------------------------------- */

/* A tensor whose only use is as an input of this state; its gradient is an operand of products. */
ganz_tensor *ganz_tensor_for_input(ganz_pass *pass, int rows, int cols, ganz_inputs_state state);

/* A tensor for a value that only these sites read: in the type they ask for or, where they multiply integers, or play
 * at it with scales that do not learn, as codes that its maker writes at once (one matrix for all whose scales agree).
 * For many or unlike sites: values. */
ganz_tensor *ganz_tensor_for_sites(ganz_pass *pass, int rows, int cols, const ganz_site *const *sites, int count);
/* To be called before t is made by an operation that drops: its codes have another scale then. */
void ganz_tensor_drops(const ganz_pass *pass, ganz_tensor *t);
/* The same for an operand of a pair; codes of a pair that multiplies integers go to `into` where that is not NULL. */
ganz_tensor *ganz_tensor_for_pair(ganz_pass *pass, int rows, int cols, const ganz_pair *pair, const ganz_scale *scale,
                                  const ganz_matrix *into);

/* x as the input of a product: itself (FLOAT), itself and measured (MEASURE), or its codes (FAKE, CODES). Codes go to
 * `into` where that is not NULL. */
ganz_tensor *ganz_op_site_input(ganz_pass *pass, ganz_tensor *x, const ganz_site *site);
ganz_tensor *ganz_op_pair_input(ganz_pass *pass, ganz_tensor *x, const ganz_pair *pair, const ganz_scale *scale,
                                ganz_tensor *into);

/* The weight of `count` sites that lie one after another, as one operand (rows: all their outputs). */
ganz_operand ganz_site_weight(const ganz_pass *pass, const ganz_site *site, int count);
const ganz_packed *ganz_site_packed(const ganz_pass *pass, const ganz_site *site); /* NULL: not in integers */
const real *ganz_site_bias(const ganz_pass *pass, const ganz_site *site);          /* NULL: none */
/* The embedding reads the table that the logits multiply with. */
ganz_operand ganz_embedding_table(const ganz_pass *pass, const ganz_net *net);

/* U inside attention. */
typedef struct ganz_pair_u {
    const real *scale; /* NULL: not rounded */
    int max;
    real *largest; /* NULL: not measured */
    bool integers; /* both products */
} ganz_pair_u;
ganz_pair_u ganz_pair_u_of(const ganz_pass *pass, const ganz_pair *pair);

/* ---- operations --------------------------------------------------------------------------------- */

/* op_rows.c */
ganz_tensor *ganz_op_embed(ganz_pass *pass, const ganz_net *net, const ganz_tokens *tokens, bool source);
/* *x becomes *x + drop(delta) (delta may be NULL at the start); y its norm. */
void ganz_op_norm(ganz_pass *pass, ganz_tensor **x, ganz_tensor *delta, const ganz_norm_layer *norm,
                  const ganz_tokens *tokens, ganz_tensor *y);

/* op_linear.c */
void ganz_op_linear(ganz_pass *pass, ganz_tensor *x, const ganz_site *site, ganz_tensor *y);
/* y += x w^T + b, for integer products outside training. */
void ganz_op_linear_add(ganz_pass *pass, ganz_tensor *x, const ganz_site *site, ganz_tensor *y);
/* y = drop(relu(x w^T + b)) */
void ganz_op_linear_relu(ganz_pass *pass, ganz_tensor *x, const ganz_site *site, const ganz_tokens *tokens,
                         ganz_tensor *y);
/* y = the outputs of `count` sites of the same input side by side: one product where they are one matrix. */
void ganz_op_project(ganz_pass *pass, ganz_tensor *x, const ganz_site *const *sites, int count, ganz_tensor *y);
/* Logits in chunks, their loss and at once its gradient into decoded->grad. */
void ganz_op_loss(ganz_pass *pass, ganz_tensor *decoded, const ganz_site *site, const ganz_goal *goal);

/* op_attention.c */
typedef struct ganz_attend {
    ganz_tensor *q, *k, *v; /* inputs already: see ganz_op_pair_input */
    const ganz_pair *pair;
    int heads;
    const ganz_spans *see;
    const ganz_tokens *queries, *keys; /* whose slots place the mask; NULL without dropout */
} ganz_attend;
void ganz_op_attention(ganz_pass *pass, const ganz_attend *what, ganz_tensor *y);

/* Dropout masks of `lines` lines, a new stream of the pass for each; none when rate is 0. */
ganz_drop ganz_pass_drop(ganz_pass *pass, real rate, int lines, int cols, const int32_t *group);

#endif
