/* Weights as integer codes, packed for a processor. */
#include <string.h>

#include "nn/net.h"
#include "nn/weights.h"

/* ---- packed ------------------------------------------------------------------------------------- */

bool ganz_param_is_coded(const ganz_net *net, const ganz_param *p)
{
    const ganz_site *const site = p->site < 0 ? NULL : &net->site[p->site];
    if (!site || !site->rule.integer) return false;
    return p->kind != GANZ_BIAS || site->rule.bias_bits != GANZ_BITS_FLOAT;
}

/* Biases become values again when they are read. */
static bool is_value(const ganz_net *net, const ganz_param *p)
{
    if (ganz_param_is_scale(p)) return false;
    if (p->kind == GANZ_BIAS || !ganz_param_is_coded(net, p)) return true;
    return p->kind == GANZ_EMBEDDING && net->scheme.float_lookup;
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
        const ganz_site *const site = &net->site[i];
        if (!site->rule.integer) continue;
        const size_t bytes = w->be->pack_bytes(w->be, site->out, site->in, ganz_site_nibbles(site));
        if (bytes == 0 || !ganz_add_size(total, ganz_round_up(bytes, GANZ_ALIGN), &total))
            return ganz_fail(err, GANZ_ELIMIT, "%s: a product of depth %d and width %d is too large", site->name,
                             site->in, site->out);
    }
    if (!w->be->host) return w->be->alloc(w->be, &w->packed_block, total, err);
    w->packed_block = ganz_alloc_large(total); /* not cleared: packing writes all that is read */
    return w->packed_block ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory: %zu bytes of weights", total);
}

static bool has_columns(const ganz_net *net)
{
    for (int i = 0; i < net->sites; i++)
        if (net->site[i].rule.integer && net->site[i].rule.columns) return true;
    return false;
}

ganz_status ganz_weights_take_columns(ganz_weights *w, const ganz_net *net, ganz_error *err)
{
    const size_t cols = (size_t)net->cols;
    void *block;
    if (!has_columns(net) || w->column_step) return GANZ_OK;
    if (!w->be->host)
        return ganz_fail(err, GANZ_EUNSUPPORTED,
                         "inputs with steps for their columns are multiplied on a CPU only, not on %s", w->be->name);
    GANZ_TRY(w->be->alloc(w->be, &block, 3 * cols * sizeof(real), err));
    w->column_step = block;
    w->column_inv = w->column_step + cols;
    w->column_zero = w->column_inv + cols;
    return GANZ_OK;
}

void ganz_weights_set_columns(ganz_weights *w, const ganz_site *site, const float *step, const float *zero)
{
    for (int i = 0; i < site->in; i++) {
        w->column_step[site->col + i] = (real)step[i];
        w->column_inv[site->col + i] = (real)(1.0f / step[i]);
        w->column_zero[site->col + i] = (real)zero[i];
    }
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
    GANZ_CHECK(ganz_weights_take_columns(w, net, err));
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
    const int p = ganz_code_max(site->rule.input_bits, true);
    ganz_pack_call from = {codes, site->out, site->in, site->after_relu ? 0 : -p, p, ganz_site_nibbles(site), NULL};
    if (site->rule.columns) {
        from.low = -p;
        from.zero = w->column_zero + site->col;
    }
    w->packed[site->place] = be->pack(be, block, &from);
    w->packed_used += ganz_round_up(be->pack_bytes(be, site->out, site->in, ganz_site_nibbles(site)), GANZ_ALIGN);
    be->upload(be, ganz_site_scales(w, site), scales, (size_t)ganz_site_scale_count(site) * sizeof *scales);
}

/* ---- copied ------------------------------------------------------------------------------------- */

static size_t largest_weight(const ganz_net *net)
{
    size_t most = 0;
    for (int i = 0; i < net->sites; i++) {
        const size_t count = (size_t)net->site[i].out * (size_t)net->site[i].in;
        most = count > most ? count : most;
    }
    return most;
}

static void copy_site(ganz_weights *to, const ganz_site *site, const ganz_weights *from, int8_t *room)
{
    for (int row = 0; row < site->out; row++)
        from->be->unpack(from->be, from->packed[site->place], row, room + (size_t)row * (size_t)site->in);
    ganz_weights_pack(to, site, room, ganz_site_scales(from, site));
}

ganz_status ganz_weights_copy_codes(ganz_weights *to, const ganz_net *net, ganz_backend *be, const ganz_weights *from,
                                    ganz_error *err)
{
    GANZ_ASSERT(from->be->host);
    GANZ_TRY(ganz_weights_open_codes(to, net, be, err));
    int8_t *const room = ganz_alloc(largest_weight(net), 1);
    if (!room) {
        ganz_weights_close(to);
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for a copy of the weights");
    }
    for (int i = 0; i < net->params.count; i++)
        if (to->value[i])
            be->upload(be, to->value[i], from->value[i], ganz_param_count(&net->params.list[i]) * sizeof(real));
    be->upload(be, to->input_scale, from->input_scale, (size_t)net->scales * sizeof(real));
    to->known_scale = from->input_scale;
    if (to->column_step) memcpy(to->column_step, from->column_step, 3 * (size_t)net->cols * sizeof(real));
    for (int i = 0; i < net->sites; i++)
        if (net->site[i].rule.integer) copy_site(to, &net->site[i], from, room);
    ganz_free(room);
    return GANZ_OK;
}
