/* Weights as integer codes: from the FAKE weights of training, and packed for a processor. */
#include <math.h>
#include <string.h>

#include "nn/net.h"
#include "nn/weights.h"

/* ---- packed ------------------------------------------------------------------------------------- */

static bool is_value(const ganz_net *net, const ganz_param *p)
{
    return p->kind == GANZ_BIAS || p->kind == GANZ_NORM_GAIN || p->kind == GANZ_NORM_BIAS || p->kind == GANZ_TABLE ||
           (p->kind == GANZ_EMBEDDING && net->float_lookup);
}

/* One block for all that stays a value. */
static ganz_status take_values(ganz_weights *w, const ganz_net *net, ganz_error *err)
{
    const ganz_params *const params = w->params;
    size_t total = 0;
    void *block;
    for (int i = 0; i < params->count; i++)
        if (is_value(net, &params->list[i])) total += ganz_round_up(ganz_param_count(&params->list[i]), GANZ_ALIGN);
    GANZ_TRY(w->be->alloc(w->be, &block, total * sizeof(real), err));
    w->value_block = block;
    total = 0;
    for (int i = 0; i < params->count; i++) {
        if (!is_value(net, &params->list[i])) continue;
        w->value[i] = w->value_block + total;
        total += ganz_round_up(ganz_param_count(&params->list[i]), GANZ_ALIGN);
    }
    return GANZ_OK;
}

static ganz_status take_packed(ganz_weights *w, const ganz_net *net, ganz_error *err)
{
    size_t total = 0;
    for (int i = 0; i < net->sites; i++) {
        const ganz_site *const site = ganz_net_site((ganz_net *)(uintptr_t)net, i);
        const size_t bytes = w->be->pack_bytes(w->be, site->out, site->in);
        if (bytes == 0 || !ganz_add_size(total, ganz_round_up(bytes, GANZ_ALIGN), &total))
            return ganz_fail(err, GANZ_ELIMIT, "%s: a product of depth %d and width %d is too large", site->name,
                             site->in, site->out);
    }
    if (!w->be->host) return w->be->alloc(w->be, &w->packed_block, total, err);
    w->packed_block = ganz_alloc_large(total); /* not cleared: packing writes all that is read */
    return w->packed_block ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory: %zu bytes of weights", total);
}

ganz_status ganz_weights_open_codes(ganz_weights *w, const ganz_net *net, ganz_backend *be, ganz_error *err)
{
    ganz_status status;
    *w = (ganz_weights){.be = be, .params = &net->params};
    if (!be->pack) return ganz_fail(err, GANZ_EUNSUPPORTED, "the %s backend has no integer products", be->name);
    w->value = ganz_alloc((size_t)net->params.count, sizeof *w->value);
    w->packed = ganz_alloc((size_t)net->sites, sizeof *w->packed);
    if (!w->value || !w->packed) {
        ganz_weights_close(w);
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for the list of weights");
    }
    GANZ_CHECK(ganz_weights_shared(w, net, err));
    GANZ_CHECK(take_values(w, net, err));
    GANZ_CHECK(take_packed(w, net, err));
out:
    if (status != GANZ_OK) ganz_weights_close(w);
    return status;
}

void ganz_weights_pack(ganz_weights *w, const ganz_site *site, const int8_t *codes, const real *scales)
{
    ganz_backend *const be = w->be;
    char *const block = (char *)w->packed_block + w->packed_used;
    const int p = ganz_code_max(site->input_bits, true);
    const ganz_pack_call from = {codes, site->out, site->in, site->after_relu ? 0 : -p, p};
    w->packed[site->place] = be->pack(be, block, &from);
    w->packed_used += ganz_round_up(be->pack_bytes(be, site->out, site->in), GANZ_ALIGN);
    be->upload(be, ganz_site_scales(w, site), scales, (size_t)ganz_site_scale_count(site) * sizeof *scales);
}

/* ---- from training ------------------------------------------------------------------------------ */

static real value_of(const void *data, ganz_type type, size_t i)
{
    uint32_t bits;
    float value;
    if (type == GANZ_REAL) return ((const real *)data)[i];
    bits = (uint32_t)((const uint16_t *)data)[i] << 16;
    memcpy(&value, &bits, sizeof value);
    return (real)value;
}

void ganz_weights_codes(const ganz_weights *w, const ganz_site *site, int8_t *codes, real *scales, real *work)
{
    const ganz_param *const p = &w->params->list[site->weight];
    const ganz_type type = w->be->product;
    const size_t bytes = ganz_type_bytes(type), count = ganz_param_count(p);
    GANZ_ASSERT(site->weights == GANZ_WEIGHTS_FAKE);
    w->be->download(w->be, work, (const char *)w->copy + p->offset * bytes, count * bytes);
    w->be->download(w->be, scales, ganz_site_scales(w, site), (size_t)ganz_site_scale_count(site) * sizeof *scales);
    for (size_t i = 0; i < count; i++) codes[i] = (int8_t)value_of(work, type, i);
}

real ganz_weights_bias_codes(const ganz_weights *w, const ganz_site *site, int8_t *codes, real *work)
{
    const ganz_param *const p = &w->params->list[site->bias];
    const size_t count = ganz_param_count(p);
    real scale;
    GANZ_ASSERT(site->weights == GANZ_WEIGHTS_FAKE);
    w->be->download(w->be, work, w->bias_value + p->offset, count * sizeof *work);
    w->be->download(w->be, &scale, w->bias_scale + site->place, sizeof scale);
    for (size_t i = 0; i < count; i++)
        codes[i] = (int8_t)rint((double)work[i] / (double)scale); /* value is code * scale */
    return scale;
}

/* ---- first scales -------------------------------------------------------------------------------- */

/* An input that was never seen, or was always zero, gets the scale of range 1. */
static real z_of(real largest, int p)
{
    const double z = log2((largest > 0 ? (double)largest : 1.0) / p);
    return (real)(z < -24 ? -24 : z > 8 ? 8 : z);
}

ganz_status ganz_weights_set_scales(ganz_weights *w, const ganz_net *net, ganz_error *err)
{
    ganz_net *const changeless = (ganz_net *)(uintptr_t)net;
    const size_t bytes = (size_t)net->scales * sizeof(real);
    real *const z = ganz_alloc(1, bytes);
    if (!z) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %d steps", net->scales);
    w->be->download(w->be, z, w->largest, bytes);
    for (int i = 0; i < net->sites; i++) {
        const ganz_site *const site = ganz_net_site(changeless, i);
        z[site->input.place] = z_of(z[site->input.place], ganz_code_max(site->input_bits, true));
    }
    for (int i = 0; i < net->pairs; i++) {
        const ganz_pair *const pair = ganz_net_pair(changeless, i);
        const int places[] = {pair->q.place, pair->k.place, pair->v.place}, p = ganz_code_max(pair->bits, true);
        for (int j = 0; j < 3; j++) z[places[j]] = z_of(z[places[j]], p);
        z[pair->u.place] = z_of(1, ganz_code_max(pair->u_bits, false));
    }
    w->be->upload(w->be, w->master + net->params.list[net->first_scale].offset, z, bytes);
    ganz_free(z);
    return GANZ_OK;
}
