/* From learned to integer weights: first scales from measured ranges, and codes of FAKE weights brought to ordinary
 * memory, once each. */
#include <math.h>
#include <string.h>

#include "nn/weights.h"

/* ---- first scales -------------------------------------------------------------------------------- */

/* An input that was never seen, or was always zero, gets the scale of range 1. */
real ganz_first_z(real largest, int p)
{
    const double z = log2((largest > 0 ? (double)largest : 1.0) / p);
    return (real)(z < -24 ? -24 : z > 8 ? 8 : z);
}

ganz_status ganz_weights_set_scales(ganz_weights *w, const ganz_net *net, ganz_error *err)
{
    const size_t bytes = (size_t)net->scales * sizeof(real);
    real *const z = ganz_alloc(1, bytes);
    if (!z) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %d steps", net->scales);
    w->be->download(w->be, z, w->largest, bytes);
    for (int i = 0; i < net->sites; i++) {
        const ganz_site *const site = &net->site[i];
        z[site->input.place] = ganz_first_z(z[site->input.place], ganz_code_max(site->rule.input_bits, true));
    }
    for (int i = 0; i < net->pairs; i++) {
        const ganz_pair *const pair = &net->pair[i];
        const int places[] = {pair->q.place, pair->k.place, pair->v.place},
                  p = ganz_code_max(pair->rule.input_bits, true);
        for (int j = 0; j < 3; j++) z[places[j]] = ganz_first_z(z[places[j]], p);
        z[pair->u.place] = ganz_first_z(1, ganz_code_max(pair->rule.attention_bits, false));
    }
    w->be->upload(w->be, w->master + net->params.list[net->first_scale].offset, z, bytes);
    ganz_free(z);
    return GANZ_OK;
}

/* ---- codes -------------------------------------------------------------------------------------- */

static real value_of(const void *data, ganz_type type, size_t i)
{
    uint32_t bits;
    float value;
    if (type == GANZ_REAL) return ((const real *)data)[i];
    bits = (uint32_t)((const uint16_t *)data)[i] << 16;
    memcpy(&value, &bits, sizeof value);
    return (real)value;
}

/* Weights lie on the device as codes in the product type. */
static void take_weight(const ganz_frozen_weights *f, const ganz_weights *w, const ganz_param *p, real *work)
{
    const ganz_type type = w->be->product;
    const size_t bytes = ganz_type_bytes(type), count = ganz_param_count(p);
    w->be->download(w->be, work, (const char *)w->copy + p->offset * bytes, count * bytes);
    for (size_t i = 0; i < count; i++) f->codes[p->offset + i] = (int8_t)value_of(work, type, i);
}

/* Biases lie there as values, each code * scale. */
static void take_bias(const ganz_frozen_weights *f, const ganz_weights *w, const ganz_param *p, real *work)
{
    const size_t count = ganz_param_count(p);
    const double scale = (double)f->bias_scale[p->site];
    w->be->download(w->be, work, w->bias_value + p->offset, count * sizeof *work);
    for (size_t i = 0; i < count; i++) f->codes[p->offset + i] = (int8_t)rint((double)work[i] / scale);
}

static size_t largest_param(const ganz_net *net)
{
    size_t most = 0;
    for (int i = 0; i < net->params.count; i++) {
        const size_t count = ganz_param_count(&net->params.list[i]);
        most = count > most ? count : most;
    }
    return most;
}

ganz_status ganz_frozen_open(ganz_frozen_weights *f, const ganz_net *net, const ganz_weights *w, ganz_error *err)
{
    const size_t rows = (size_t)net->rows, sites = (size_t)net->sites, scales = (size_t)net->scales;
    real *const work = ganz_alloc(largest_param(net), sizeof *work);
    *f = (ganz_frozen_weights){.codes = ganz_alloc(net->params.block, 1),
                               .weight_scale = ganz_alloc(rows, sizeof(real)),
                               .bias_scale = ganz_alloc(sites, sizeof(real)),
                               .input_scale = ganz_alloc(scales, sizeof(real))};
    if (!work || !f->codes || !f->weight_scale || !f->bias_scale || !f->input_scale) {
        ganz_free(work);
        ganz_frozen_close(f);
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for the codes of a model");
    }
    w->be->download(w->be, f->weight_scale, w->weight_scale, rows * sizeof(real));
    w->be->download(w->be, f->bias_scale, w->bias_scale, sites * sizeof(real));
    w->be->download(w->be, f->input_scale, w->input_scale, scales * sizeof(real));
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        if (!ganz_param_is_coded(net, p)) continue;
        GANZ_ASSERT(net->site[p->site].weights == GANZ_WEIGHTS_FAKE);
        if (p->kind == GANZ_BIAS) take_bias(f, w, p, work);
        else take_weight(f, w, p, work);
    }
    ganz_free(work);
    return GANZ_OK;
}

void ganz_frozen_close(ganz_frozen_weights *f)
{
    ganz_free(f->codes);
    ganz_free(f->weight_scale);
    ganz_free(f->bias_scale);
    ganz_free(f->input_scale);
    *f = (ganz_frozen_weights){0};
}

/* ---- in memory ---------------------------------------------------------------------------------- */

/* Parameters that stay values, biases turned back into them. */
static void fill_values(ganz_weights *to, const ganz_net *net, const ganz_frozen_weights *f, const ganz_weights *from)
{
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        const size_t count = ganz_param_count(p);
        if (!to->value[i]) continue;
        from->be->download(from->be, to->value[i], from->master + p->offset, count * sizeof(real));
        if (p->kind != GANZ_BIAS || !ganz_param_is_coded(net, p)) continue;
        for (size_t j = 0; j < count; j++) to->value[i][j] = (real)f->codes[p->offset + j] * f->bias_scale[p->site];
    }
}

ganz_status ganz_weights_freeze(ganz_weights *codes, const ganz_net *net, const ganz_weights *fake, ganz_backend *be,
                                ganz_error *err)
{
    ganz_frozen_weights f;
    GANZ_ASSERT(be->host);
    GANZ_TRY(ganz_frozen_open(&f, net, fake, err));
    const ganz_status status = ganz_weights_open_codes(codes, net, be, err);
    GANZ_ASSERT(!codes->column_step); /* learning knows none */
    for (int i = 0; status == GANZ_OK && i < net->sites; i++) {
        const ganz_site *const site = &net->site[i];
        const real *const scales = f.weight_scale + site->row;
        if (site->rule.integer) ganz_weights_pack(codes, site, f.codes + net->params.list[site->weight].offset, scales);
    }
    if (status == GANZ_OK) fill_values(codes, net, &f, fake);
    if (status == GANZ_OK) memcpy(codes->input_scale, f.input_scale, (size_t)net->scales * sizeof(real));
    ganz_frozen_close(&f);
    return status;
}
