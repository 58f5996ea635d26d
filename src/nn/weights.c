/* The numbers of a net on a device. */
#include <string.h>

#include "nn/net.h"
#include "nn/weights.h"

static ganz_status upload_timing(ganz_weights *w, const ganz_config *c, ganz_error *err)
{
    const size_t bytes = (size_t)c->max_positions * (size_t)c->width * sizeof(real);
    real *const timing = ganz_alloc(1, bytes);
    if (!timing) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the timing table");
    const bool made = ganz_timing(timing, c);
    if (made) w->be->upload(w->be, w->timing, timing, bytes);
    ganz_free(timing);
    return made ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for the timing table");
}

static ganz_status take(ganz_weights *w, void *pointer, size_t count, size_t element, ganz_error *err)
{
    void *memory;
    GANZ_TRY(w->be->alloc(w->be, &memory, count * element, err));
    memcpy(pointer, &memory, sizeof memory);
    return GANZ_OK;
}

ganz_status ganz_weights_shared(ganz_weights *w, const ganz_net *net, ganz_error *err)
{
    const size_t sites = (size_t)net->sites, scales = (size_t)net->scales, rows = (size_t)net->rows;
    const size_t timing = (size_t)net->config.max_positions * (size_t)net->config.width;
    GANZ_TRY(take(w, &w->weight_scale, rows, sizeof *w->weight_scale, err));
    GANZ_TRY(take(w, &w->bias_scale, sites, sizeof *w->bias_scale, err));
    GANZ_TRY(take(w, &w->input_scale, scales, sizeof *w->input_scale, err));
    GANZ_TRY(take(w, &w->largest, scales, sizeof *w->largest, err));
    GANZ_TRY(take(w, &w->clipped, scales, sizeof *w->clipped, err));
    GANZ_TRY(take(w, &w->timing, timing, sizeof *w->timing, err));
    return upload_timing(w, &net->config, err);
}

ganz_status ganz_weights_open(ganz_weights *w, const ganz_net *net, ganz_backend *be, bool training, ganz_error *err)
{
    ganz_status status;
    *w = (ganz_weights){.be = be, .params = &net->params};
    GANZ_CHECK(take(w, &w->master, net->params.block, sizeof *w->master, err));
    if (training) GANZ_CHECK(take(w, &w->grad, net->params.block, sizeof *w->grad, err));
    if (training) GANZ_CHECK(take(w, &w->dropped_scale, (size_t)net->scales, sizeof *w->dropped_scale, err));
    GANZ_CHECK(ganz_weights_shared(w, net, err));
    GANZ_CHECK(ganz_weights_refresh(w, net, err));
out:
    if (status != GANZ_OK) ganz_weights_close(w);
    return status;
}

void ganz_weights_close(ganz_weights *w)
{
    if (!w->be) return;
    void *const all[] = {w->master,       w->grad,          w->copy,        w->weight_scale,
                         w->bias_scale,   w->bias_value,    w->input_scale, w->largest,
                         w->clipped,      w->timing,        w->value_block, w->packed_block,
                         w->weight_range, w->dropped_scale, w->column_step, w->bytes};
    for (size_t i = 0; i < GANZ_COUNT(all); i++) w->be->free(w->be, all[i]);
    ganz_free(w->items);
    ganz_free(w->value);
    ganz_free(w->packed);
    *w = (ganz_weights){0};
}

ganz_status ganz_weights_set_range(ganz_weights *w, real range, ganz_error *err)
{
    if (!w->weight_range) GANZ_TRY(take(w, &w->weight_range, 1, sizeof *w->weight_range, err));
    w->be->upload(w->be, w->weight_range, &range, sizeof range);
    return GANZ_OK;
}

/* ---- refresh ------------------------------------------------------------------------------------ */

static ganz_refresh_item weight_item(const ganz_weights *w, const ganz_net *net, const ganz_site *site)
{
    const ganz_param *const p = &w->params->list[site->weight];
    const bool fake = site->weights == GANZ_WEIGHTS_FAKE;
    return (ganz_refresh_item){.master = w->master + p->offset,
                               .count = ganz_param_count(p),
                               .bytes = ganz_site_bytes(w, site),
                               .copy = (char *)w->copy + p->offset * ganz_type_bytes(w->be->product),
                               .scale = ganz_site_scales(w, site),
                               .rows = fake && site->rule.per_row ? site->out : 0,
                               .p = fake ? ganz_code_max(site->rule.weight_bits, true) : 0,
                               .power_of_two = site->rule.power_of_two,
                               .known = fake && ganz_net_learns_rows(net, site),
                               .range = w->weight_range};
}

static ganz_refresh_item bias_item(const ganz_weights *w, const ganz_site *site)
{
    const ganz_param *const p = &w->params->list[site->bias];
    return (ganz_refresh_item){.master = w->master + p->offset,
                               .count = ganz_param_count(p),
                               .copy = w->bias_value + p->offset,
                               .scale = w->bias_scale + site->place,
                               .p = ganz_code_max(site->rule.bias_bits, true),
                               .values = true,
                               .power_of_two = site->rule.power_of_two};
}

/* All z of neighbouring products with the same kind of scales in one call: mostly all of them. */
static void refresh_scales(const ganz_weights *w, const ganz_net *net, real *scales, real factor)
{
    const real *const z = w->master + net->params.list[net->first_scale].offset;
    int begin = 0, end = 0;
    for (int i = 0; i < net->products; i++) {
        const ganz_product *const p = &net->product[i];
        const ganz_scale *operands[2];
        const bool powers = ganz_product_rule(p)->power_of_two;
        end += ganz_product_scales(p, operands);
        if (i + 1 < net->products && powers == ganz_product_rule(p + 1)->power_of_two) continue;
        w->be->scales(w->be, z + begin, scales + begin, end - begin, powers, factor);
        begin = end;
    }
}

/* Attention weights that are dropped first and rounded then: a kept one is divided by the keep probability, which is
 * rounding with the scale times that probability, and dropping the code. */
static void refresh_u(const ganz_weights *w, const ganz_net *net)
{
    const real *const z = w->master + net->params.list[net->first_scale].offset;
    for (int i = 0; i < net->pairs; i++) {
        const int place = net->pair[i].u.place;
        const bool powers = net->pair[i].rule.power_of_two;
        w->be->scales(w->be, z + place, w->dropped_scale + place, 1, powers, w->u_drop_scale);
    }
}

/* All of them: what is not learned is written anew behind it. */
static void refresh_rows(const ganz_weights *w, const ganz_net *net)
{
    if (net->row_scales < 0) return;
    w->be->scales(w->be, w->master + net->params.list[net->row_scales].offset, w->weight_scale, net->rows, false, 1);
}

void ganz_weights_rows_grad(const ganz_weights *w, const ganz_net *net)
{
    for (int i = 0; net->row_scales >= 0 && i < net->sites; i++) {
        const ganz_site *const site = &net->site[i];
        const size_t weight = net->params.list[site->weight].offset;
        const ganz_rows_grad_call call = {.rows = site->out,
                                          .cols = site->in,
                                          .p = ganz_code_max(site->rule.weight_bits, true),
                                          .master = w->master + weight,
                                          .scale = ganz_site_scales(w, site),
                                          .grad = w->grad + weight,
                                          .z_grad = w->grad + net->params.list[net->row_scales].offset + site->row};
        if (ganz_net_learns_rows(net, site) && site->weights == GANZ_WEIGHTS_FAKE) w->be->rows_grad(w->be, &call);
    }
}

ganz_status ganz_weights_refresh(ganz_weights *w, const ganz_net *net, ganz_error *err)
{
    ganz_backend *const be = w->be;
    bool copies = be->product != GANZ_REAL, fakes = false;
    int count = 0;
    for (int i = 0; i < net->sites; i++) fakes = fakes || net->site[i].weights == GANZ_WEIGHTS_FAKE;
    if ((copies || fakes) && !w->copy)
        GANZ_TRY(take(w, &w->copy, net->params.block, ganz_type_bytes(be->product), err));
    if (fakes && w->grad && be->reads_bytes && !w->bytes)
        GANZ_TRY(take(w, &w->bytes, net->params.block, sizeof *w->bytes, err));
    if (fakes && !w->bias_value) GANZ_TRY(take(w, &w->bias_value, net->params.block, sizeof *w->bias_value, err));
    if (!w->items && !(w->items = ganz_alloc(2 * (size_t)net->sites, sizeof *w->items)))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for the list of copies");
    for (int i = 0; i < net->sites; i++) {
        const ganz_site *const site = &net->site[i];
        const bool fake = site->weights == GANZ_WEIGHTS_FAKE;
        if (copies || fake) w->items[count++] = weight_item(w, net, site);
        if (fake && ganz_site_codes_bias(site)) w->items[count++] = bias_item(w, site);
    }
    refresh_rows(w, net);
    if (count > 0) be->refresh(be, w->items, count);
    refresh_scales(w, net, w->input_scale, 1);
    if (w->dropped_scale) refresh_scales(w, net, w->dropped_scale, w->drop_scale > 0 ? w->drop_scale : 1);
    if (ganz_weights_drop_u_first(w)) refresh_u(w, net);
    return be->host ? be->sync(be, err) : GANZ_OK; /* a device that computes by itself is not waited for here */
}
