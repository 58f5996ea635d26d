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

static void linear(ganz_pass *pass, const ganz_linear_call *what, ganz_tensor *x, ganz_tensor *y)
{
    ganz_linear_call call = *what;
    call.y = y->m;
    if (y->uses) call.codes = y->use[0].out;
    run(pass, &call);
    linear_node *const n = ganz_record(pass, sizeof *n, linear_backward);
    if (!n) return;
    n->call = call;
    n->x = x;
    n->y = y;
}

/* Counts a product, and asks for its largest sum. */
static void audit(const ganz_pass *pass, const ganz_site *site, ganz_linear_call *call)
{
    if (!pass->audit) return;
    ganz_audit_product *const product = &pass->audit->site[site->place];
    if (!call->packed) {
        product->float_runs++;
        return;
    }
    product->integer_runs++;
    call->largest = &product->largest;
}

void ganz_op_linear(ganz_pass *pass, ganz_tensor *x, const ganz_site *site, ganz_tensor *y)
{
    ganz_tensor *const in = ganz_op_site_input(pass, x, site);
    if (pass->failed) return;
    ganz_linear_call call = linear_call(pass, in, site, 1);
    audit(pass, site, &call);
    linear(pass, &call, in, y);
}

void ganz_op_linear_add(ganz_pass *pass, ganz_tensor *x, const ganz_site *site, ganz_tensor *y)
{
    ganz_tensor *const in = ganz_op_site_input(pass, x, site);
    if (pass->failed) return;
    ganz_linear_call call = linear_call(pass, in, site, 1);
    GANZ_ASSERT(call.packed && !pass->tape);
    audit(pass, site, &call);
    call.add = true;
    linear(pass, &call, in, y);
}

void ganz_op_linear_relu(ganz_pass *pass, ganz_tensor *x, const ganz_site *site, const ganz_tokens *tokens,
                         ganz_tensor *y)
{
    ganz_tensor *const in = ganz_op_site_input(pass, x, site);
    const ganz_drop drop = ganz_pass_drop(pass, pass->dropout.relu, tokens->packed_rows, site->out, tokens->row);
    if (pass->failed) return;
    ganz_linear_call call = linear_call(pass, in, site, 1);
    audit(pass, site, &call);
    call.activation = GANZ_ACTIVATION_RELU;
    call.drop = drop;
    if (drop.mask) ganz_tensor_drops(pass, y);
    linear(pass, &call, in, y);
}

/* Sites are one matrix when nothing is rounded: codes have a scale for each. */
static bool one_matrix(const ganz_pass *pass, const ganz_site *const *sites, int count)
{
    const ganz_param *const list = pass->weights->params->list;
    for (int i = 0; i < count; i++) {
        if (sites[i]->weights != GANZ_WEIGHTS_FLOAT || sites[i]->inputs != GANZ_INPUTS_FLOAT) return false;
        if (i > 0 && list[sites[i]->weight].offset !=
                         list[sites[i - 1]->weight].offset + ganz_param_count(&list[sites[i - 1]->weight]))
            return false;
    }
    return true;
}

void ganz_op_project(ganz_pass *pass, ganz_tensor *x, const ganz_site *const *sites, int count, ganz_tensor *y)
{
    if (pass->failed) return;
    if (one_matrix(pass, sites, count)) {
        ganz_linear_call call = linear_call(pass, x, sites[0], count);
        for (int i = 0; i < count; i++) audit(pass, sites[i], &call);
        linear(pass, &call, x, y);
        return;
    }
    int col = 0;
    for (int i = 0; i < count; col += sites[i]->out, i++) {
        ganz_tensor *const part = ganz_tensor_columns(pass, y, col, sites[i]->out);
        ganz_op_linear(pass, x, sites[i], part);
    }
}

/* ---- loss --------------------------------------------------------------------------------------- */

static ganz_matrix rows_of(const ganz_matrix *m, int row, int rows)
{
    ganz_matrix part = *m;
    part.rows = rows;
    part.data = (char *)m->data + (size_t)row * (size_t)m->ld * ganz_type_bytes(m->type);
    return part;
}

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
    ganz_linear_call call = linear_call(&other, &decoded, &teacher->net->logits, 1);
    call.y = logits_of(pass, chunk, call.out);
    return call;
}

/* Logits of some rows. */
static ganz_linear_call make_chunk(ganz_pass *pass, const ganz_linear_call *whole, int row, int rows)
{
    ganz_linear_call call = *whole;
    call.rows = call.y.rows = rows;
    call.x.m = rows_of(&whole->x.m, row, rows);
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
                                 .want_grad = pass->tape != NULL,
                                 .sums = goal->sums};
    pass->be->loss(pass->be, &loss);
    if (!pass->tape) return;
    call.y_grad = call.y;
    call.x_grad = rows_of(&whole->x_grad, row, rows);
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
