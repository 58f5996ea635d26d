/* Adafactor and Adam over all tensors in one call, and the schedule of their rate. */
#include "train/optim.h"

#include <math.h>

double ganz_flat_rate(const ganz_recipe *recipe, int64_t t)
{
    const double flat = (double)(t > recipe->decay_start ? t : recipe->decay_start);
    const double rate = recipe->learning_rate / sqrt(flat);
    return t < recipe->warmup ? rate * ((double)(t + 1) / (double)recipe->warmup) : rate;
}

double ganz_cooldown(double part, double done) { return part > 0 && done > 1 - part ? fmax(0, (1 - done) / part) : 1; }

double ganz_rate(const ganz_recipe *recipe, int64_t t, double done)
{
    return ganz_flat_rate(recipe, t) * ganz_cooldown(recipe->cooldown, done);
}

/* Adam: fewer levels need larger scales and bear them, 0.009 octaves with 8 bits and 0.018 with 6 (Jain et al. 2019).
 * Adafactor comes to about as much with 8 bits, where z lies around -5. */
double ganz_scale_rate(const ganz_recipe *recipe)
{
    const long long bits = recipe->activation_bits > 0 ? recipe->activation_bits : recipe->bits;
    if (recipe->scale_rate > 0) return recipe->scale_rate;
    return recipe->scale_optimizer == GANZ_OPTIMIZER_ADAM ? 0.1 / sqrt(ldexp(1, (int)bits - 1) - 1) : 0.002;
}

/* Rounding errors halve with each bit, updates do not: they are normalised. With 8 bits there is next to nothing to
 * repair, and a settled model would only be shaken up. Clipping hurts at any width. */
double ganz_tune_factor(const ganz_recipe *recipe)
{
    const long long bits = recipe->weight_bits > 0 ? recipe->weight_bits : recipe->bits;
    if (recipe->rate_factor > 0) return recipe->rate_factor;
    if (recipe->cooldown == 0) return 1;
    return bits > 6 && recipe->method != GANZ_METHOD_CLIP ? 0.2 * ldexp(1, 2 * (int)(6 - bits)) : 0.2;
}

double ganz_adafactor_decay(int64_t t) { return 1 - pow((double)t + 1, -0.8); }

static size_t slots_of(const ganz_param *p, bool adam)
{
    if (adam) return 2 * ganz_param_count(p);
    return ganz_param_is_matrix(p) ? (size_t)p->rows + (size_t)p->cols : ganz_param_count(p);
}

static ganz_optim_group group_of(const ganz_param *p)
{
    if (!ganz_param_is_scale(p)) return GANZ_OPTIM_PARAMETERS;
    return p->kind == GANZ_SCALE ? GANZ_OPTIM_SCALES : GANZ_OPTIM_ROWS;
}

static bool is_adam(const ganz_recipe *recipe, ganz_optim_group group)
{
    const long long kind = group == GANZ_OPTIM_SCALES ? recipe->scale_optimizer : recipe->optimizer;
    return group == GANZ_OPTIM_ROWS || kind == GANZ_OPTIMIZER_ADAM;
}

ganz_status ganz_optim_open(ganz_optim *optim, const ganz_net *net, const ganz_weights *weights,
                            const ganz_recipe *recipe, ganz_optim_group group, ganz_error *err)
{
    const size_t line = GANZ_ALIGN / sizeof(real);
    const ganz_params *const params = &net->params;
    const bool scales = group != GANZ_OPTIM_PARAMETERS;
    *optim = (ganz_optim){.be = weights->be, .adam = is_adam(recipe, group)};
    optim->beta1 = scales ? 0.9 : recipe->adam_beta1;
    optim->beta2 = scales ? 0.999 : recipe->adam_beta2;
    optim->epsilon = scales ? 1e-8 : recipe->adam_epsilon;
    optim->items = ganz_alloc((size_t)params->count, sizeof *optim->items);
    if (!optim->items) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the optimizer");

    for (int i = 0; i < params->count; i++)
        if (group_of(&params->list[i]) == group)
            optim->slot_count += ganz_round_up(slots_of(&params->list[i], optim->adam), line);
    void *block;
    const size_t bytes = (optim->slot_count ? optim->slot_count : 1) * sizeof(real);
    const ganz_status status = optim->be->alloc(optim->be, &block, bytes, err);
    if (status != GANZ_OK) {
        ganz_optim_close(optim);
        return status;
    }
    optim->slots = block;

    size_t at = 0;
    for (int i = 0; i < params->count; i++) {
        const ganz_param *const p = &params->list[i];
        if (group_of(p) != group) continue;
        optim->items[optim->count++] = (ganz_update_item){.value = weights->master + p->offset,
                                                          .grad = weights->grad + p->offset,
                                                          .slots = optim->slots + at,
                                                          .rows = p->rows,
                                                          .cols = p->cols,
                                                          .matrix = ganz_param_is_matrix(p)};
        at += ganz_round_up(slots_of(p, optim->adam), line);
    }
    return GANZ_OK;
}

void ganz_optim_close(ganz_optim *optim)
{
    if (optim->slots) optim->be->free(optim->be, optim->slots);
    ganz_free(optim->items);
    *optim = (ganz_optim){0};
}

void ganz_optim_step(const ganz_optim *optim, double rate, int64_t t)
{
    const ganz_update_call call = {.items = optim->items,
                                   .count = optim->count,
                                   .rate = rate,
                                   .decay = ganz_adafactor_decay(t),
                                   .beta1 = optim->beta1,
                                   .beta2 = optim->beta2,
                                   .epsilon = optim->epsilon,
                                   .step = t + 1};
    if (optim->adam) optim->be->adam(optim->be, &call);
    else optim->be->adafactor(optim->be, &call);
}
