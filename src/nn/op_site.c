/* Precision: what a site's states make of an input and a weight. Nobody else looks at them.
 *
 * FAKE is integer arithmetic in the product type. A product of codes is worth (scale_x * scale_w) for each unit, one
 * multiplication in REAL after the sum; in attention (scale_q * scale_k) * inv_root and scale_u * scale_v. */
#include <math.h>

#include "nn/ops.h"

/* Room for a value that is used only as an input of this state. What is to be rounded stays in REAL up to there; its
 * gradient is an operand of products. */
static ganz_tensor *values_for(ganz_pass *pass, int rows, int cols, ganz_inputs_state state)
{
    ganz_tensor *const t =
        ganz_tensor_new(pass, rows, cols, state == GANZ_INPUTS_FLOAT ? pass->be->product : GANZ_REAL);
    if (t) t->grad_type = pass->be->product;
    return t;
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
    const bool inherit = !n->x->grad.data && !n->x->parent && n->x->grad_type == n->codes->grad.type;
    n->call.x_grad_add = false;
    if (inherit) n->x->grad = n->codes->grad; /* which nobody needs any more */
    else if (!ganz_tensor_grad(pass, n->x, &n->call.x_grad_add)) return;
    n->call.code_grad = n->codes->grad;
    n->call.x_grad = n->x->grad;
    pass->be->quantize_grad(pass->be, &n->call);
}

/* Codes are made first and dropped then, as translation makes them: a value that dropout has divided by its keep
 * probability is rounded with a scale divided likewise, which gives the very codes, or none, and their worth. */
static const real *scale_of(const ganz_pass *pass, const ganz_tensor *x, const ganz_scale *scale)
{
    const ganz_weights *const w = pass->weights;
    return (x->dropped ? w->dropped_scale : w->input_scale) + scale->place;
}

static ganz_tensor *quantize(ganz_pass *pass, ganz_tensor *x, const ganz_scale *scale, int bits, ganz_type type,
                             ganz_tensor *into)
{
    ganz_tensor *const codes = into ? into : ganz_tensor_new(pass, x->m.rows, x->m.cols, type);
    if (!codes) return NULL;
    ganz_quantize_call call = {.x = x->m,
                               .codes = codes->m,
                               .scale = scale_of(pass, x, scale),
                               .p = ganz_code_max(bits, true),
                               .is_signed = true,
                               .clipped = type == GANZ_S8 || pass->tape ? NULL : pass->weights->clipped + scale->place,
                               .z_grad = ganz_pass_param_grad(pass, scale->z)};
    codes->scale = call.scale;
    ganz_see_input(pass, scale->place, &x->m, &call);
    pass->be->quantize(pass->be, &call);
    quantize_node *const n = ganz_record(pass, sizeof *n, quantize_backward);
    if (n) {
        n->call = call;
        n->x = x;
        n->codes = codes;
    }
    return codes;
}

/* Codes of an input whose columns have scales of their own. */
static ganz_tensor *quantize_columns(ganz_pass *pass, const ganz_tensor *x, const ganz_site *site)
{
    const ganz_weights *const w = pass->weights;
    if (pass->failed) return NULL;
    ganz_tensor *const codes = ganz_tensor_new(pass, x->m.rows, x->m.cols, GANZ_S8);
    if (!codes) return NULL;
    GANZ_ASSERT(!pass->tape);
    ganz_quantize_call call = {.x = x->m,
                               .codes = codes->m,
                               .scale = w->input_scale + site->input.place,
                               .p = ganz_code_max(site->rule.input_bits, true),
                               .is_signed = true,
                               .column_inv = w->column_inv + site->col,
                               .column_zero = w->column_zero + site->col};
    codes->scale = call.scale;
    ganz_see_input(pass, site->input.place, &x->m, &call);
    pass->be->quantize(pass->be, &call);
    return codes;
}

/* Codes turned back into values at once: what per-row integer products would give, but for the order of float sums. */
static void round_row(const real *x, int n, int p, real *y)
{
    real largest = 0;
    for (int i = 0; i < n; i++) {
        const real size = (real)fabs((double)x[i]);
        largest = size > largest ? size : largest;
    }
    const real scale = largest > 0 ? largest / (real)p : 1, inv = 1 / scale;
    for (int i = 0; i < n; i++) y[i] = (real)rint(x[i] * inv) * scale;
}

static ganz_tensor *round_rows(ganz_pass *pass, const ganz_tensor *x, int bits)
{
    GANZ_ASSERT(pass->be->host && !pass->tape);
    ganz_tensor *const y = ganz_tensor_new(pass, x->m.rows, x->m.cols, GANZ_REAL);
    for (int row = 0; y && !pass->counts && row < x->m.rows; row++)
        round_row((const real *)x->m.data + (size_t)row * (size_t)x->m.ld, x->m.cols, ganz_code_max(bits, true),
                  (real *)y->m.data + (size_t)row * (size_t)y->m.ld);
    return y;
}

static ganz_tensor *use_as_input(ganz_pass *pass, ganz_use *use)
{
    if (use->input) return use->input;
    ganz_tensor *const t = ganz_tensor_over(pass, &use->out.m, use->out.scale);
    if (t) {
        t->bytes = use->out.bytes;
        t->inside = use->out.inside;
    }
    if (pass->tape) use->input = t;
    return t;
}

static ganz_tensor *input(ganz_pass *pass, ganz_tensor *x, ganz_inputs_state state, const ganz_scale *scale, int bits,
                          ganz_tensor *into)
{
    if (pass->failed) return NULL;
    for (int i = 0; i < x->uses; i++)
        if (x->use[i].place == scale->place) return use_as_input(pass, &x->use[i]);
    if (state == GANZ_INPUTS_CODES) return quantize(pass, x, scale, bits, GANZ_S8, into);
    if (state == GANZ_INPUTS_FAKE) return quantize(pass, x, scale, bits, pass->be->product, into);
    ganz_see_input(pass, scale->place, &x->m, NULL);
    if (state == GANZ_INPUTS_DYNAMIC) return round_rows(pass, x, bits);
    if (state == GANZ_INPUTS_MEASURE) pass->be->largest(pass->be, &x->m, pass->weights->largest + scale->place);
    return x;
}

/* ---- values that are wanted as codes only ------------------------------------------------------- */

/* The integer engine writes codes in passing for so many readers at most: for more (the memory, read by keys and values
 * of all layers) values are made once, and each reader rounds them where it wants its codes. */
enum { DIRECT_READERS = 4 };

/* Gradients of scales, and instruments, ask for the values: then codes are not written in passing. */
static bool in_passing(const ganz_pass *pass, ganz_inputs_state state)
{
    if (ganz_inputs_are_seen(pass)) return false;
    if (state == GANZ_INPUTS_FAKE) return pass->be->makes_codes && pass->tape && !pass->learn_scales;
    return state == GANZ_INPUTS_CODES;
}

static bool agree(const ganz_pass *pass, const ganz_site *a, const ganz_site *b)
{
    const real *const scale = pass->be->host ? pass->weights->input_scale : pass->weights->known_scale;
    return scale && a->rule.input_bits == b->rule.input_bits && scale[a->input.place] == scale[b->input.place];
}

static ganz_use use_of(const ganz_pass *pass, const ganz_scale *scale, int bits, const ganz_code_out *out)
{
    ganz_use use = {.out = *out, .place = scale->place};
    use.out.scale = pass->weights->input_scale + scale->place;
    use.out.p = ganz_code_max(bits, true);
    return use;
}

/* No values, codes for no use yet, room for so many uses. */
static ganz_tensor *coded(ganz_pass *pass, int rows, int cols, ganz_inputs_state state, int uses)
{
    const ganz_type type = state == GANZ_INPUTS_FAKE ? pass->be->product : GANZ_S8;
    const ganz_matrix none = {rows, cols, cols, type, NULL};
    ganz_tensor *const t = ganz_tensor_over(pass, &none, NULL);
    if (t && !(t->use = ganz_arena_take(pass->host, (size_t)uses, sizeof *t->use))) pass->failed = true;
    return pass->failed ? NULL : t;
}

/* Room for the codes of a tensor and, where gradients will come, for what they pass through. */
static ganz_code_out code_room(ganz_pass *pass, const ganz_tensor *t)
{
    ganz_code_out out = {.m = t->m};
    const size_t count = (size_t)t->m.rows * (size_t)t->m.cols;
    out.m.data = ganz_pass_take(pass, count, ganz_type_bytes(t->m.type));
    if (pass->tape) out.inside = ganz_pass_take(pass, count / 4, 1);
    return out;
}

/* What makes an input writes codes of one scale for all columns only. */
static bool has_columns(const ganz_site *site) { return site->rule.columns && site->inputs == GANZ_INPUTS_CODES; }

static bool as_codes(const ganz_pass *pass, const ganz_readers *readers)
{
    const ganz_inputs_state state = readers->site[0]->inputs;
    if (state == GANZ_INPUTS_CODES && readers->count > DIRECT_READERS) return false;
    for (int i = 0; i < readers->count; i++)
        if (readers->site[i]->inputs != state || has_columns(readers->site[i])) return false;
    return in_passing(pass, state);
}

static ganz_tensor *codes_for(ganz_pass *pass, int rows, int cols, const ganz_readers *readers)
{
    const ganz_site *const *const sites = readers->site;
    ganz_tensor *const t = coded(pass, rows, cols, sites[0]->inputs, readers->count);
    for (int i = 0; i < readers->count && !pass->failed; i++) {
        int same = 0;
        while (same < i && !agree(pass, sites[same], sites[i])) same++;
        const ganz_code_out out = same < i ? t->use[same].out : code_room(pass, t);
        t->use[t->uses++] = use_of(pass, &sites[i]->input, sites[i]->rule.input_bits, &out);
    }
    return pass->failed ? NULL : t;
}

/* FLOAT only where all readers are. */
static ganz_inputs_state roughest_state(const ganz_readers *readers)
{
    for (int i = 0; i < readers->count; i++)
        if (readers->site[i]->inputs != GANZ_INPUTS_FLOAT) return readers->site[i]->inputs;
    return GANZ_INPUTS_FLOAT;
}

bool ganz_readers_want_codes(const ganz_readers *readers) { return roughest_state(readers) == GANZ_INPUTS_CODES; }

ganz_tensor *ganz_tensor_for_readers(ganz_pass *pass, int rows, int cols, const ganz_readers *readers)
{
    ganz_tensor *const t = as_codes(pass, readers) ? codes_for(pass, rows, cols, readers)
                                                   : values_for(pass, rows, cols, roughest_state(readers));
    if (t && !ganz_sites_are_one(pass, readers->site, readers->count)) t->grad_type = GANZ_REAL; /* several add to it */
    return t;
}

ganz_tensor *ganz_tensor_for_stream(ganz_pass *pass, const ganz_tensor *x, const ganz_readers *readers)
{
    const int rows = x->m.rows, cols = x->m.cols;
    const ganz_matrix none = {rows, cols, cols, GANZ_REAL, NULL};
    ganz_tensor *const t =
        as_codes(pass, readers) ? codes_for(pass, rows, cols, readers) : ganz_tensor_over(pass, &none, NULL);
    if (!t) return NULL;
    t->m = x->m;
    if (pass->tape) t->m.data = ganz_pass_take(pass, (size_t)rows * (size_t)cols, sizeof(real));
    t->grad_type = GANZ_REAL;
    return pass->failed ? NULL : t;
}

/* Products of floats write no integer codes: their readers round for themselves. */
static bool makes_floats(const ganz_site *maker, ganz_inputs_state reader)
{
    return reader == GANZ_INPUTS_CODES && maker->weights != GANZ_WEIGHTS_CODES;
}

ganz_tensor *ganz_tensor_for_hidden(ganz_pass *pass, int rows, const ganz_site *maker, const ganz_site *reader)
{
    const ganz_readers readers = {&reader, 1};
    if (makes_floats(maker, reader->inputs)) return ganz_tensor_new(pass, rows, maker->out, GANZ_REAL);
    return ganz_tensor_for_readers(pass, rows, maker->out, &readers);
}

/* Nor does float attention. */
ganz_tensor *ganz_tensor_for_mixed(ganz_pass *pass, int rows, int cols, const ganz_pair *pair, const ganz_site *reader)
{
    const ganz_readers readers = {&reader, 1};
    if (pair->inputs != GANZ_INPUTS_CODES && reader->inputs == GANZ_INPUTS_CODES)
        return ganz_tensor_new(pass, rows, cols, GANZ_REAL);
    return ganz_tensor_for_readers(pass, rows, cols, &readers);
}

ganz_tensor *ganz_tensor_for_result(ganz_pass *pass, int rows, const ganz_site *site)
{
    return values_for(pass, rows, site->out, site->inputs);
}

ganz_tensor *ganz_tensor_for_operands(ganz_pass *pass, int rows, int cols, const ganz_pair *pair)
{
    return values_for(pass, rows, cols, pair->inputs);
}

void ganz_tensor_drops(const ganz_pass *pass, ganz_tensor *t)
{
    t->dropped = true;
    for (int i = 0; i < t->uses; i++) t->use[i].out.scale = pass->weights->dropped_scale + t->use[i].place;
}

void ganz_tensor_takes_bytes(ganz_pass *pass, ganz_tensor *t, const ganz_readers *readers)
{
    if (!pass->be->reads_bytes || !pass->tape || pass->failed) return;
    for (int i = 0; i < t->uses; i++) {
        ganz_code_out *const out = &t->use[i].out;
        int same = 0;
        while (t->use[same].out.m.data != out->m.data) same++;
        if (same < i) out->bytes = t->use[same].out.bytes; /* written once, for the first */
        else if (ganz_site_fits_bytes(readers->site[i]))
            out->bytes = ganz_pass_take(pass, (size_t)out->m.rows * (size_t)out->m.ld, 1);
    }
}

ganz_tensor *ganz_tensor_for_operand(ganz_pass *pass, int rows, const ganz_site *maker, const ganz_pair *pair,
                                     const ganz_scale *scale, const ganz_matrix *into)
{
    if (!in_passing(pass, pair->inputs) || makes_floats(maker, pair->inputs))
        return values_for(pass, rows, maker->out, pair->inputs);
    ganz_tensor *const t = coded(pass, rows, maker->out, pair->inputs, 1);
    if (!t) return NULL;
    const ganz_code_out out = into ? (ganz_code_out){.m = *into, .first = pass->first_key} : code_room(pass, t);
    if (pass->failed) return NULL;
    t->use[t->uses++] = use_of(pass, scale, pair->rule.input_bits, &out);
    return t;
}

ganz_tensor *ganz_op_site_input(ganz_pass *pass, ganz_tensor *x, const ganz_site *site)
{
    if (has_columns(site)) return quantize_columns(pass, x, site);
    return input(pass, x, site->inputs, &site->input, site->rule.input_bits, NULL);
}

ganz_tensor *ganz_op_pair_input(ganz_pass *pass, ganz_tensor *x, const ganz_pair *pair, const ganz_scale *scale,
                                ganz_tensor *into)
{
    return input(pass, x, pair->inputs, scale, pair->rule.input_bits, into);
}

/* ---- attention ---------------------------------------------------------------------------------- */

bool ganz_pair_rounds(const ganz_pair *pair)
{
    return pair->inputs == GANZ_INPUTS_FAKE || pair->inputs == GANZ_INPUTS_CODES;
}

ganz_type ganz_pair_kept_type(const ganz_pair *pair, const ganz_backend *be)
{
    const ganz_inputs_state state = pair->inputs;
    return state == GANZ_INPUTS_CODES ? GANZ_S8 : state == GANZ_INPUTS_MEASURE ? GANZ_REAL : be->product;
}

ganz_tensor *ganz_op_pair_kept(ganz_pass *pass, const ganz_pair *pair, const ganz_scale *scale, const ganz_matrix *m)
{
    return ganz_tensor_over(pass, m, ganz_pair_rounds(pair) ? pass->weights->input_scale + scale->place : NULL);
}

ganz_pair_u ganz_pair_u_of(const ganz_pass *pass, const ganz_pair *pair)
{
    const ganz_weights *const w = pass->weights;
    const bool integers = pair->inputs == GANZ_INPUTS_CODES;
    const real *const scales =
        pass->dropout.attention > 0 && ganz_weights_drop_u_first(w) ? w->dropped_scale : w->input_scale;
    return (ganz_pair_u){.integers = integers,
                         .scale = integers || pair->inputs == GANZ_INPUTS_FAKE ? scales + pair->u.place : NULL,
                         .max = ganz_code_max(pair->rule.attention_bits, false),
                         .largest = pair->inputs == GANZ_INPUTS_MEASURE ? w->largest + pair->u.place : NULL};
}

/* ---- weights ------------------------------------------------------------------------------------ */

bool ganz_site_adds(const ganz_site *site) { return site->inputs == GANZ_INPUTS_CODES; }

/* Neither has a bias, or the second one's begins where the first one's ends. */
static bool biases_touch(const ganz_pass *pass, const ganz_site *a, const ganz_site *b)
{
    if (a->bias < 0 || b->bias < 0) return a->bias < 0 && b->bias < 0;
    return ganz_pass_param(pass, a->bias) + a->out == ganz_pass_param(pass, b->bias);
}

/* Codes have a scale for each site, so what is rounded is not one product. */
bool ganz_sites_are_one(const ganz_pass *pass, const ganz_site *const *sites, int count)
{
    const real *end = NULL;
    for (int i = 0; i < count && count > 1; i++) {
        if (sites[i]->weights != GANZ_WEIGHTS_FLOAT || sites[i]->inputs != GANZ_INPUTS_FLOAT) return false;
        const real *const begin = ganz_pass_param(pass, sites[i]->weight);
        if (end && begin != end) return false;
        end = begin + (size_t)sites[i]->out * (size_t)sites[i]->in;
        if (i > 0 && !biases_touch(pass, sites[i - 1], sites[i])) return false;
    }
    return true;
}

ganz_operand ganz_site_weight(const ganz_pass *pass, const ganz_site *site, int count)
{
    const ganz_weights *const w = pass->weights;
    if (site->weights == GANZ_WEIGHTS_CODES) /* packed: see ganz_site_packed */
        return (ganz_operand){{site->out, site->in, site->in, GANZ_S8, NULL}, ganz_site_scales(w, site)};
    const size_t offset = w->params->list[site->weight].offset;
    const bool fake = site->weights == GANZ_WEIGHTS_FAKE, copy = fake || pass->be->product != GANZ_REAL;
    ganz_operand o = {.m = {site->out * count, site->in, site->in, copy ? pass->be->product : GANZ_REAL, NULL}};
    o.m.data = copy ? (char *)w->copy + offset * ganz_type_bytes(pass->be->product)
                    : (char *)ganz_pass_param(pass, site->weight);
    o.scale = fake ? ganz_site_scales(w, site) : NULL;
    return o;
}

const ganz_packed *ganz_site_packed(const ganz_pass *pass, const ganz_site *site)
{
    return site->weights == GANZ_WEIGHTS_CODES ? pass->weights->packed[site->place] : NULL;
}

const real *ganz_site_bias(const ganz_pass *pass, const ganz_site *site)
{
    const ganz_weights *const w = pass->weights;
    if (site->bias < 0) return NULL;
    if (site->weights == GANZ_WEIGHTS_FAKE && ganz_site_codes_bias(site))
        return w->bias_value + w->params->list[site->bias].offset;
    return ganz_pass_param(pass, site->bias);
}

ganz_table ganz_embedding_table(const ganz_pass *pass, const ganz_net *net, int param)
{
    const ganz_site *const logits = net->logits;
    if (param == logits->weight && logits->weights != GANZ_WEIGHTS_FLOAT && !net->scheme.float_lookup)
        return (ganz_table){ganz_site_weight(pass, logits, 1), ganz_site_by_row(logits),
                            ganz_site_packed(pass, logits)};
    const ganz_param *const p = &net->params.list[param];
    return (ganz_table){.operand.m = {p->rows, p->cols, p->cols, GANZ_REAL, ganz_pass_param(pass, param)}};
}
