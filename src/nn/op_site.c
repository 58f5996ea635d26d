/* Precision: what a site's states make of an input and a weight. Nobody else looks at them.
 *
 * FAKE is integer arithmetic in the product type. A product of codes is worth (step_x * step_w) for each unit, one
 * multiplication in REAL after the sum; in attention (step_q * step_k) * scale and step_u * step_v. */
#include "nn/ops.h"

ganz_type ganz_input_type(const ganz_pass *pass, ganz_inputs_state state)
{
    return state == GANZ_INPUTS_FLOAT ? pass->be->product : GANZ_REAL;
}

/* ---- codes of an input -------------------------------------------------------------------------- */

typedef struct quantize_node {
    ganz_node node;
    ganz_quantize_call call;
    ganz_tensor *x, *codes;
} quantize_node;

static void quantize_backward(ganz_pass *pass, ganz_node *node)
{
    quantize_node *const n = (quantize_node *)node;
    if (!ganz_tensor_has_grad(n->codes)) return;
    const ganz_type type = n->x->real_grad ? GANZ_REAL : n->x->m.type;
    const bool inherit = !n->x->grad.data && !n->x->whole && type == n->codes->grad.type;
    n->call.x_grad_add = false;
    if (inherit) n->x->grad = n->codes->grad; /* which nobody needs any more */
    else if (!ganz_tensor_grad(pass, n->x, &n->call.x_grad_add)) return;
    n->call.code_grad = n->codes->grad;
    n->call.x_grad = n->x->grad;
    pass->be->quantize_grad(pass->be, &n->call);
}

static ganz_tensor *quantize(ganz_pass *pass, ganz_tensor *x, const ganz_step *step, int bits, ganz_tensor *into)
{
    ganz_tensor *const codes = into ? into : ganz_tensor_new(pass, x->m.rows, x->m.cols, pass->be->product);
    if (!codes) return NULL;
    const ganz_weights *const w = pass->weights;
    const ganz_quantize_call call = {.x = x->m,
                                     .codes = codes->m,
                                     .step = w->input_step + step->place,
                                     .p = ganz_code_max(bits, true),
                                     .is_signed = true,
                                     .clipped = w->clipped + step->place,
                                     .z_grad = ganz_pass_param_grad(pass, step->z)};
    codes->step = call.step;
    pass->be->quantize(pass->be, &call);
    quantize_node *const n = ganz_record(pass, sizeof *n, quantize_backward);
    if (n) {
        n->call = call;
        n->x = x;
        n->codes = codes;
    }
    return codes;
}

static ganz_tensor *input(ganz_pass *pass, ganz_tensor *x, ganz_inputs_state state, const ganz_step *step, int bits,
                          ganz_tensor *into)
{
    if (pass->failed) return NULL;
    if (state == GANZ_INPUTS_FAKE) return quantize(pass, x, step, bits, into);
    if (state == GANZ_INPUTS_MEASURE) pass->be->largest(pass->be, &x->m, pass->weights->largest + step->place);
    return x;
}

ganz_tensor *ganz_op_site_input(ganz_pass *pass, ganz_tensor *x, const ganz_site *site)
{
    return input(pass, x, site->inputs, &site->input, site->input_bits, NULL);
}

ganz_tensor *ganz_op_pair_input(ganz_pass *pass, ganz_tensor *x, const ganz_pair *pair, const ganz_step *step,
                                ganz_tensor *into)
{
    return input(pass, x, pair->inputs, step, pair->bits, into);
}

ganz_pair_u ganz_pair_u_of(const ganz_pass *pass, const ganz_pair *pair)
{
    const ganz_weights *const w = pass->weights;
    return (ganz_pair_u){.step = pair->inputs == GANZ_INPUTS_FAKE ? w->input_step + pair->u.place : NULL,
                         .max = ganz_code_max(pair->u_bits, false),
                         .largest = pair->inputs == GANZ_INPUTS_MEASURE ? w->largest + pair->u.place : NULL};
}

/* ---- weights ------------------------------------------------------------------------------------ */

ganz_operand ganz_site_weight(const ganz_pass *pass, const ganz_site *site, int count)
{
    const ganz_weights *const w = pass->weights;
    const size_t offset = w->params->list[site->weight].offset;
    const bool fake = site->weights == GANZ_WEIGHTS_FAKE, copy = fake || pass->be->product != GANZ_REAL;
    ganz_operand o = {.m = {site->out * count, site->in, site->in, copy ? pass->be->product : GANZ_REAL, NULL}};
    o.m.data = copy ? (char *)w->copy + offset * ganz_type_bytes(pass->be->product) : (char *)(w->master + offset);
    o.step = fake ? w->weight_step + site->place : NULL;
    return o;
}

const real *ganz_site_bias(const ganz_pass *pass, const ganz_site *site)
{
    const ganz_weights *const w = pass->weights;
    if (site->bias < 0) return NULL;
    return (site->weights == GANZ_WEIGHTS_FAKE ? w->bias_value : w->master) + w->params->list[site->bias].offset;
}

ganz_operand ganz_embedding_table(const ganz_pass *pass, const ganz_net *net)
{
    if (net->logits.weights != GANZ_WEIGHTS_FLOAT) return ganz_site_weight(pass, &net->logits, 1);
    const int d = net->config.width;
    return (ganz_operand){.m = {net->config.vocab, d, d, GANZ_REAL, ganz_pass_param(pass, net->embedding)}};
}
