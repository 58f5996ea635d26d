/* Widths within a budget: each product alone is rounded to each width, and the divergence from the float model that
 * this makes on a batch is its harm; then, from the widest on, always the step that saves most for its harm. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ganz/quantize.h"
#include "text/vocab.h"
#include "train/trainer_state.h"

enum { WIDEST = 8, NARROWEST = 3, TENSOR_BYTES = 220 /* of a header, checksum included */ };

typedef struct chooser {
    ganz_trainer *t;
    ganz_batch batch;
    real *master;            /* of the largest weight, on the host */
    double (*harm)[9];       /* (sites) by width: divergence in nats a token, of this product alone */
    int *bits;               /* (sites) chosen so far */
    const ganz_budget *want; /* borrowed */
    double most;             /* bits of all weights together, or bytes of the file */
    double fixed;            /* bytes that no width changes */
} chooser;

static const ganz_param *weight_of(const chooser *c, int site)
{
    return &c->t->net.params.list[c->t->net.site[site].weight];
}

/* A width that is asked about: by size only the one that halves a weight is of use. */
static bool is_asked(const chooser *c, int bits)
{
    return c->want->bits > 0 || bits == WIDEST || bits == GANZ_BITS_NIBBLE;
}

/* What the weights of a product cost with so many bits. */
static double cost_of(const chooser *c, int site, int bits)
{
    const double count = (double)ganz_param_count(weight_of(c, site));
    return c->want->bits > 0 ? count * bits : bits <= GANZ_BITS_NIBBLE ? count / 2 : count;
}

static double cost_of_all(const chooser *c)
{
    double sum = 0;
    for (int i = 0; i < c->t->net.sites; i++)
        if (c->t->net.site[i].rule.integer) sum += cost_of(c, i, c->bits[i]);
    return sum;
}

/* ---- sensitivity -------------------------------------------------------------------------------- */

/* Divergence with one product rounded. The masters come back as they were: narrow ones may be trimmed. */
static ganz_status measure(chooser *c, int number, int bits, double *harm, ganz_error *err)
{
    ganz_trainer *const t = c->t;
    ganz_site *const site = &t->net.site[number];
    const ganz_param *const p = weight_of(c, number);
    const size_t bytes = ganz_param_count(p) * sizeof(real);
    double sums[3] = {0};
    site->rule.integer = true;
    site->rule.weight_bits = bits;
    ganz_net_set_states(&t->net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FLOAT);
    t->be->download(t->be, c->master, t->weights.master + p->offset, bytes);
    ganz_status status = ganz_weights_trim(&t->weights, &t->net, err);
    if (status == GANZ_OK) status = ganz_weights_refresh(&t->weights, &t->net, err);
    t->be->zero(t->be, t->stepper.sums, sizeof sums);
    if (status == GANZ_OK) status = ganz_stepper_look(&t->stepper, &c->batch, t->options.stop, err);
    t->be->download(t->be, sums, t->stepper.sums, sizeof sums);
    t->be->upload(t->be, t->weights.master + p->offset, c->master, bytes);
    site->rule.integer = false;
    *harm = sums[2] > 0 ? sums[0] / sums[2] : 0;
    GANZ_TRY(status);
    return t->be->sync(t->be, err);
}

/* Fewer bits never do better but by chance. */
static void make_falling(double harm[9])
{
    for (int bits = WIDEST - 1; bits >= NARROWEST; bits--) harm[bits] = fmax(harm[bits], harm[bits + 1]);
}

static ganz_status measure_all(chooser *c, ganz_error *err)
{
    ganz_net *const net = &c->t->net;
    bool *const integer = ganz_alloc((size_t)net->sites, sizeof *integer);
    if (!integer) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %d products", net->sites);
    for (int i = 0; i < net->sites; i++) integer[i] = net->site[i].rule.integer, net->site[i].rule.integer = false;
    for (int i = 0; i < net->pairs; i++) net->pair[i].rule.integer = false;
    ganz_status status = GANZ_OK;
    for (int i = 0; status == GANZ_OK && i < net->sites; i++) {
        for (int bits = WIDEST; integer[i] && status == GANZ_OK && bits >= NARROWEST; bits--)
            if (is_asked(c, bits)) status = measure(c, i, bits, &c->harm[i][bits], err);
        make_falling(c->harm[i]);
    }
    for (int i = 0; i < net->sites; i++) net->site[i].rule.integer = integer[i];
    ganz_free(integer);
    return status;
}

/* ---- assignment --------------------------------------------------------------------------------- */

/* The step down that saves most for its harm. False: there is none left. */
static bool step_down(chooser *c)
{
    double best = INFINITY;
    int at = -1, to = 0;
    for (int i = 0; i < c->t->net.sites; i++)
        for (int bits = c->bits[i] - 1; c->t->net.site[i].rule.integer && bits >= NARROWEST; bits--) {
            const double saved = cost_of(c, i, c->bits[i]) - cost_of(c, i, bits);
            const double price = (c->harm[i][bits] - c->harm[i][c->bits[i]]) / saved;
            if (!is_asked(c, bits) || !(saved > 0) || price >= best) continue;
            best = price;
            at = i;
            to = bits;
        }
    if (at >= 0) c->bits[at] = to;
    return at >= 0;
}

/* Numbers of a file beside its weights; what a header takes is reckoned amply. */
static double fixed_bytes(const ganz_trainer *t)
{
    const ganz_net *const net = &t->net;
    ganz_vocab_part parts[GANZ_VOCAB_PARTS];
    double sum = TENSOR_BYTES * 20.0;
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        const bool coded = ganz_param_is_coded(net, p);
        const double count = (double)ganz_param_count(p);
        sum += (coded ? 2 : 1) * TENSOR_BYTES;
        if (p->kind == GANZ_SCALE) sum += sizeof(float);
        else if (!coded) sum += count * sizeof(float);
        else if (p->kind == GANZ_BIAS) sum += count + sizeof(float);
        else sum += (net->site[p->site].rule.per_row ? p->rows : 1) * (double)sizeof(float);
        if (p->kind == GANZ_EMBEDDING && net->scheme.float_lookup) sum += count * sizeof(float);
    }
    for (int i = t->vocab ? t->vocab->kind->parts(t->vocab, parts) : 0; i-- > 0;)
        sum += (double)parts[i].bytes + TENSOR_BYTES;
    return sum;
}

static ganz_status assign(chooser *c, ganz_error *err)
{
    double weights = 0;
    for (int i = 0; i < c->t->net.sites; i++) {
        c->bits[i] = WIDEST;
        if (c->t->net.site[i].rule.integer) weights += (double)ganz_param_count(weight_of(c, i));
    }
    c->fixed = fixed_bytes(c->t);
    c->most = c->want->bits > 0 ? c->want->bits * weights : (double)c->want->bytes - c->fixed;
    while (cost_of_all(c) > c->most)
        if (!step_down(c)) {
            if (c->want->bits > 0)
                return ganz_fail(err, GANZ_EINVAL, "no weights of %g bits on average: %d are the fewest", c->want->bits,
                                 NARROWEST);
            return ganz_fail(err, GANZ_EINVAL, "no model of %lld bytes: with two weights in each byte it has %.0f",
                             c->want->bytes, c->fixed + cost_of_all(c));
        }
    return GANZ_OK;
}

/* ---- the answer --------------------------------------------------------------------------------- */

static int commonest(const chooser *c)
{
    int count[WIDEST + 1] = {0}, best = WIDEST;
    for (int i = 0; i < c->t->net.sites; i++)
        if (c->t->net.site[i].rule.integer) count[c->bits[i]]++;
    for (int bits = NARROWEST; bits <= WIDEST; bits++)
        if (count[bits] > count[best]) best = bits;
    return best;
}

static ganz_status tell(const chooser *c, ganz_budget_choice *choice, ganz_error *err)
{
    const ganz_net *const net = &c->t->net;
    double weights = 0, bits = 0;
    size_t n = 0;
    *choice = (ganz_budget_choice){.weight_bits = commonest(c)};
    for (int i = 0; i < net->sites && n < sizeof choice->exceptions; i++) {
        const double count = (double)ganz_param_count(weight_of(c, i));
        if (!net->site[i].rule.integer) continue;
        weights += count;
        bits += count * c->bits[i];
        choice->products[c->bits[i]]++;
        choice->harm += c->harm[i][c->bits[i]];
        choice->bytes += c->bits[i] <= GANZ_BITS_NIBBLE ? count / 2 : count;
        if (c->bits[i] != choice->weight_bits)
            n += (size_t)snprintf(choice->exceptions + n, sizeof choice->exceptions - n, "%s%s: weights=%d",
                                  n ? "; " : "", net->site[i].name, c->bits[i]);
    }
    choice->bits = weights > 0 ? bits / weights : 0;
    choice->bytes += c->fixed;
    return n < sizeof choice->exceptions
               ? GANZ_OK
               : ganz_fail(err, GANZ_ELIMIT, "more products with widths of their own than fit");
}

static ganz_status choose(chooser *c, ganz_budget_choice *choice, ganz_error *err)
{
    const size_t sites = (size_t)c->t->net.sites;
    size_t largest = 1;
    for (int i = 0; i < c->t->net.sites; i++) {
        const size_t count = ganz_param_count(weight_of(c, i));
        if (count > largest) largest = count;
    }
    c->master = ganz_alloc(largest, sizeof *c->master);
    c->harm = ganz_alloc(sites, sizeof *c->harm);
    c->bits = ganz_alloc(sites, sizeof *c->bits);
    if (!c->master || !c->harm || !c->bits) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %zu products", sites);
    GANZ_TRY(ganz_loader_next(c->t->loader, &c->batch, err));
    GANZ_TRY(measure_all(c, err));
    GANZ_TRY(assign(c, err));
    return tell(c, choice, err);
}

ganz_status ganz_budget_choose(const ganz_train_options *options, const ganz_budget *want, ganz_budget_choice *choice,
                               ganz_error *err)
{
    ganz_train_options own = *options;
    chooser c = {.want = want};
    if (!own.model || !own.train) return ganz_fail(err, GANZ_EINVAL, "a budget needs a model and a corpus");
    own.quantize = true;
    own.valid_source = own.valid_target = own.scales_of = NULL;
    own.recipe.method = GANZ_METHOD_LEARNED;
    own.recipe.learn_from = GANZ_LEARN_FROM_MODEL;
    own.recipe.weight_bits = WIDEST; /* at which nothing is trimmed */
    own.recipe.exceptions[0] = '\0';
    if (own.recipe.weight_range == GANZ_WEIGHT_RANGE_LEARNED) own.recipe.weight_range = GANZ_WEIGHT_RANGE_AUTO;
    own.teachers = &options->model;
    own.teacher_count = 1;
    ganz_status status = ganz_trainer_open(&c.t, &own, err);
    if (status == GANZ_OK) status = choose(&c, choice, err);
    ganz_trainer_close(&c.t);
    ganz_free(c.master);
    ganz_free(c.harm);
    ganz_free(c.bits);
    return status;
}
