/* Dense products, and the loss, whose logits are one: forward and backward side by side. */
#include "nn/ops.h"

typedef struct linear_node {
    ganz_node node;
    ganz_linear_call call;
    ganz_tensor *x, *y;
} linear_node;

static void linear_backward(ganz_pass *pass, ganz_node *node)
{
    linear_node *const n = (linear_node *)node;
    const ganz_matrix *const back = ganz_tensor_back(n->y, 0);
    if (!back || !ganz_tensor_grad(pass, n->x, &n->call.x_grad_add)) return;
    n->call.y_grad = *back;
    n->call.x_grad = n->x->grad;
    n->call.bias_grad = n->y->bias_grad;
    if (n->y->uses && n->y->use[0].input->cut) n->call.codes.inside = NULL; /* operands of attention: no activation */
    pass->be->linear_grad(pass->be, &n->call);
}

/* A call for `count` sites that lie one after another; x is an input already. */
static ganz_linear_call linear_call(const ganz_pass *pass, const ganz_tensor *x, const ganz_site *site, int count)
{
    return (ganz_linear_call){.rows = x->m.rows,
                              .in = site->in,
                              .out = site->out * count,
                              .x = {x->m, x->scale},
                              .w = ganz_site_weight(pass, site, count),
                              .w_by_row = ganz_site_by_row(site),
                              .x_bytes = x->bytes,
                              .w_bytes = x->bytes ? ganz_site_bytes(pass->weights, site) : NULL,
                              .packed = ganz_site_packed(pass, site),
                              .bias = ganz_site_bias(pass, site),
                              .w_grad = ganz_pass_param_grad(pass, site->weight),
                              .bias_grad = site->bias < 0 ? NULL : ganz_pass_param_grad(pass, site->bias)};
}

static void run(ganz_pass *pass, const ganz_linear_call *call)
{
    if (call->packed) pass->be->linear_codes(pass->be, call);
    else pass->be->linear(pass->be, call);
}

/* Where the result goes. */
static void write_to(ganz_linear_call *call, const ganz_tensor *y)
{
    call->y = y->m;
    if (y->uses) call->codes = y->use[0].out;
}

static void linear(ganz_pass *pass, const ganz_linear_call *call, ganz_tensor *x, ganz_tensor *y)
{
    run(pass, call);
    linear_node *const n = ganz_record(pass, sizeof *n, linear_backward);
    if (!n) return;
    n->call = *call;
    n->x = x;
    n->y = y;
    y->bias_grad = call->bias_grad;
}

/* One product into y. `how`: what is asked of it beyond x w^T + b. */
static void product(ganz_pass *pass, ganz_tensor *x, const ganz_site *site, const ganz_linear_call *how, ganz_tensor *y)
{
    ganz_tensor *const in = ganz_op_site_input(pass, x, site);
    if (pass->failed) return;
    ganz_linear_call call = linear_call(pass, in, site, 1);
    call.activation = how->activation;
    call.before = how->before;
    call.drop = how->drop;
    call.add = how->add;
    write_to(&call, y);
    ganz_see_linear(pass, site, &call);
    linear(pass, &call, in, y);
    ganz_see_linear_made(pass, site, &call);
}

ganz_tensor *ganz_op_linear(ganz_pass *pass, ganz_tensor *x, const ganz_site *site)
{
    if (pass->failed) return NULL;
    ganz_tensor *const y = ganz_tensor_for_result(pass, x->m.rows, site);
    product(pass, x, site, &(ganz_linear_call){0}, y);
    return pass->failed ? NULL : y;
}

ganz_tensor *ganz_op_hidden(ganz_pass *pass, ganz_tensor *x, const ganz_site *site, const ganz_tokens *tokens,
                            const ganz_site *reader)
{
    if (pass->failed) return NULL;
    ganz_tensor *const y = ganz_tensor_for_hidden(pass, x->m.rows, site, reader);
    ganz_linear_call how = {.activation = site->activation};
    if (pass->tape && ganz_activation_is_smooth(site->activation)) /* its gradient is that at the value before it */
        how.before = ganz_matrix_take(pass, x->m.rows, site->out, GANZ_REAL);
    how.drop = ganz_pass_drop(pass, pass->dropout.relu, tokens->packed_rows, site->out, tokens->row);
    if (pass->failed) return NULL;
    if (how.drop.mask) ganz_tensor_drops(pass, y);
    product(pass, x, site, &how, y);
    return pass->failed ? NULL : y;
}

/* ---- the residual stream ------------------------------------------------------------------------ */

ganz_branch ganz_branch_begin(ganz_pass *pass, const ganz_stream *s, const ganz_site *last)
{
    ganz_branch branch = {.last = last};
    if (!ganz_site_adds(last)) branch.delta = ganz_tensor_for_result(pass, s->tokens->rows, last);
    branch.scope = ganz_scope_begin(pass);
    return branch;
}

void ganz_branch_end(ganz_pass *pass, ganz_stream *s, const ganz_branch *branch, ganz_tensor *x)
{
    const ganz_linear_call how = {.add = !branch->delta};
    if (!pass->failed) product(pass, x, branch->last, &how, branch->delta ? branch->delta : s->x);
    s->delta = branch->delta;
    ganz_scope_end(pass, branch->scope);
}

/* ---- operands of attention ---------------------------------------------------------------------- */

/* One product, rounded with the operand's own scale; codes go to `into` where that is not NULL. */
static ganz_tensor *operand(ganz_pass *pass, ganz_tensor *x, const ganz_site *site, const ganz_pair *pair,
                            const ganz_scale *scale, const ganz_matrix *into)
{
    if (pass->failed) return NULL;
    ganz_tensor *const y = ganz_tensor_for_operand(pass, x->m.rows, site, pair, scale, into);
    product(pass, x, site, &(ganz_linear_call){0}, y);
    if (pass->failed) return NULL;
    return ganz_op_pair_input(pass, y, pair, scale, into ? ganz_tensor_over(pass, into, NULL) : NULL);
}

static ganz_tensor *part_of(ganz_pass *pass, ganz_tensor *all, int number, int width)
{
    return all->m.cols == width ? all : ganz_tensor_columns(pass, all, number * width, width);
}

/* Outputs of `count` sites of the same input side by side in y. */
static void products(ganz_pass *pass, ganz_tensor *x, const ganz_site *const *sites, int count, ganz_tensor *y)
{
    if (pass->failed) return;
    if (count > 1 && ganz_sites_are_one(pass, sites, count)) {
        ganz_linear_call call = linear_call(pass, x, sites[0], count);
        write_to(&call, y);
        for (int i = 0; i < count; i++) ganz_see_linear(pass, sites[i], &call);
        linear(pass, &call, x, y);
        return;
    }
    for (int i = 0; i < count && !pass->failed; i++) {
        ganz_tensor *const part = part_of(pass, y, i, sites[i]->out);
        product(pass, x, sites[i], &(ganz_linear_call){0}, part);
    }
}

void ganz_op_project(ganz_pass *pass, ganz_tensor *x, const ganz_projection *what, ganz_tensor *made[GANZ_OPERANDS])
{
    const ganz_sublayer *const a = what->attention;
    const ganz_pair *const pair = a->pair;
    const ganz_site *const sites[GANZ_OPERANDS] = {a->q, a->k, a->v};
    const ganz_scale *const scales[GANZ_OPERANDS] = {&pair->q, &pair->k, &pair->v};
    const int first = what->first, end = first + what->count, d = a->q->out;
    if (pass->failed) return;
    const bool together = !ganz_pair_rounds(pair);
    ganz_tensor *const all = !together    ? NULL
                             : what->into ? ganz_tensor_over(pass, what->into, NULL)
                                          : ganz_tensor_for_operands(pass, x->m.rows, what->count * d, pair);
    if (together) products(pass, x, sites + first, what->count, all);
    for (int i = first; i < end && !pass->failed; i++) {
        const ganz_matrix place = what->into ? ganz_matrix_columns(what->into, (i - first) * d, d) : (ganz_matrix){0};
        if (!together) made[i] = operand(pass, x, sites[i], pair, scales[i], what->into ? &place : NULL);
        else made[i] = ganz_op_pair_input(pass, part_of(pass, all, i - first, d), pair, scales[i], NULL);
    }
}

/* ---- loss --------------------------------------------------------------------------------------- */

/* A matrix for the logits of a chunk. Nobody reads them but the loss, and they are large. */
static ganz_matrix logits_of(ganz_pass *pass, int rows, int cols)
{
    const ganz_type type = pass->be->product;
    return (ganz_matrix){rows, cols, cols, type,
                         ganz_pass_take(pass, (size_t)rows * (size_t)cols, ganz_type_bytes(type))};
}

/* What the teacher says about all rows, to be cut into chunks; `y` NULL where there is none. */
static ganz_linear_call lesson_call(ganz_pass *pass, const ganz_teacher *teacher, int chunk)
{
    if (!teacher) return (ganz_linear_call){0};
    const ganz_pass other = {.be = pass->be, .weights = teacher->weights};
    const ganz_tensor decoded = {.m = teacher->decoded};
    ganz_linear_call call = linear_call(&other, &decoded, teacher->net->logits, 1);
    call.y = logits_of(pass, chunk, call.out);
    return call;
}

/* Logits of some rows. */
static ganz_linear_call make_chunk(ganz_pass *pass, const ganz_linear_call *whole, int row, int rows)
{
    ganz_linear_call call = *whole;
    call.rows = call.y.rows = rows;
    call.x.m = ganz_matrix_rows(&whole->x.m, row, rows);
    if (whole->x_bytes) call.x_bytes += (size_t)row * (size_t)whole->x.m.ld;
    run(pass, &call);
    return call;
}

/* Logits of some rows: made, judged and, with a tape, turned into gradients of input and weight. */
static void loss_chunk(ganz_pass *pass, const ganz_linear_call *whole, const ganz_linear_call *lesson,
                       const ganz_goal *goal, int row)
{
    const int rows = whole->y.rows;
    ganz_linear_call call = make_chunk(pass, whole, row, rows);
    const ganz_loss_call loss = {.rows = rows,
                                 .vocab = call.out,
                                 .logits = call.y,
                                 .taught = lesson->y.data ? make_chunk(pass, lesson, row, rows).y : (ganz_matrix){0},
                                 .labels = goal->labels + row,
                                 .smoothing = goal->smoothing,
                                 .grad_scale = goal->grad_scale,
                                 .share = goal->share ? goal->share + row : NULL,
                                 .want_grad = pass->tape != NULL,
                                 .sums = goal->sums};
    pass->be->loss(pass->be, &loss);
    if (!pass->tape) return;
    call.y_grad = call.y;
    call.x_grad = ganz_matrix_rows(&whole->x_grad, row, rows);
    pass->be->linear_grad(pass->be, &call);
}

void ganz_op_loss(ganz_pass *pass, ganz_tensor *decoded, const ganz_site *site, const ganz_goal *goal)
{
    ganz_tensor *const in = ganz_op_site_input(pass, decoded, site);
    bool add = false;
    if (pass->failed || (pass->tape && !ganz_tensor_grad(pass, in, &add))) return;
    const int rows = in->m.rows, chunk = goal->chunk < rows ? goal->chunk : rows;
    const size_t mark = ganz_arena_mark(pass->device);
    ganz_linear_call call = linear_call(pass, in, site, 1);
    call.x_grad = in->grad;
    call.x_grad_add = add;
    call.y = logits_of(pass, chunk, site->out);
    const ganz_linear_call lesson = lesson_call(pass, goal->teacher, chunk);
    for (int row = 0; row < rows && !pass->failed; row += chunk) {
        if (call.y.rows > rows - row) call.y.rows = rows - row;
        loss_chunk(pass, &call, &lesson, goal, row);
    }
    ganz_arena_rewind(pass->device, mark); /* the gradient is where it belongs: the logits can go */
}
