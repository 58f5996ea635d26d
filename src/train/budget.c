/* Widths within a budget: each product alone is rounded to each width, and the divergence from the float model that
 * this makes on a batch is its harm; then the widths that do least harm in all are taken, of those that fit. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ganz/quantize.h"
#include "text/vocab.h"
#include "train/trainer_state.h"
#include "train/widths.h"

enum { WIDEST = 8, NARROWEST = 3, TENSOR_BYTES = 220 /* of a header, checksum included */ };

typedef struct chooser {
    ganz_trainer *t;
    ganz_batch batch;
    real *master;                 /* of the largest weight, on the host */
    const ganz_budget *want;      /* borrowed */
    double fixed;                 /* bytes that no width changes */
    int count;                    /* of products that become integers */
    int *site;                    /* (count) theirs */
    int *bits;                    /* (count) chosen */
    ganz_product_widths *product; /* (count) cost of its weights: bits; by size half bytes. Harm: divergence in nats a
                                   * token, with this product alone rounded */
} chooser;

static const ganz_param *weight_of(const chooser *c, int site)
{
    return &c->t->net.params.list[c->t->net.site[site].weight];
}

static double count_of(const chooser *c, int product)
{
    return (double)ganz_param_count(weight_of(c, c->site[product]));
}

/* By size only the width that halves a weight is of use. */
static bool is_of_use(const ganz_budget *want, int bits)
{
    return want->bits > 0 || bits == WIDEST || bits == GANZ_BITS_NIBBLE;
}

/* Which products there are, and what their widths cost. */
static void list_products(chooser *c)
{
    for (int i = 0; i < c->t->net.sites; i++) {
        if (!c->t->net.site[i].rule.integer) continue;
        const long long count = (long long)ganz_param_count(weight_of(c, i));
        for (int bits = NARROWEST; bits <= WIDEST; bits++) {
            c->product[c->count].offered[bits] = is_of_use(c->want, bits);
            c->product[c->count].cost[bits] = count * (c->want->bits > 0 ? bits : bits <= GANZ_BITS_NIBBLE ? 1 : 2);
        }
        c->site[c->count++] = i;
    }
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
    GANZ_TRY(t->be->sync(t->be, err));
    if (isfinite(*harm)) return GANZ_OK;
    return ganz_fail(err, GANZ_EFORMAT, "the model's numbers overflow: it gives no probabilities");
}

/* Fewer bits never do better but by chance. */
static void make_falling(double harm[GANZ_WIDTHS])
{
    for (int bits = WIDEST - 1; bits >= NARROWEST; bits--) harm[bits] = fmax(harm[bits], harm[bits + 1]);
}

static void set_integer(chooser *c, bool integer)
{
    for (int i = 0; i < c->count; i++) c->t->net.site[c->site[i]].rule.integer = integer;
}

static ganz_status measure_all(chooser *c, ganz_error *err)
{
    ganz_net *const net = &c->t->net;
    int done = 0, all = 0;
    for (int i = 0; i < c->count; i++)
        for (int bits = NARROWEST; bits <= WIDEST; bits++) all += c->product[i].offered[bits];
    set_integer(c, false);
    for (int i = 0; i < net->pairs; i++) net->pair[i].rule.integer = false;
    ganz_status status = GANZ_OK;
    for (int i = 0; status == GANZ_OK && i < c->count; i++) {
        for (int bits = WIDEST; status == GANZ_OK && bits >= NARROWEST; bits--) {
            if (!c->product[i].offered[bits]) continue;
            status = measure(c, c->site[i], bits, &c->product[i].harm[bits], err);
            if (c->want->progress) c->want->progress(c->want->context, ++done, all);
            if (status == GANZ_OK && ganz_flag_is_set(c->t->options.stop))
                status = ganz_fail(err, GANZ_ESTOPPED, "stopped");
        }
        make_falling(c->product[i].harm);
    }
    set_integer(c, true);
    return status;
}

/* ---- assignment --------------------------------------------------------------------------------- */

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
    for (int i = 0; i < c->count; i++) weights += count_of(c, i);
    c->fixed = fixed_bytes(c->t);
    const double most = c->want->bits > 0 ? c->want->bits * weights : 2 * ((double)c->want->bytes - c->fixed);
    const ganz_status status = ganz_widths_choose(c->product, c->count, (long long)floor(most), c->bits, err);
    if (status != GANZ_EINVAL) return status;
    if (c->want->bits > 0)
        return ganz_fail(err, GANZ_EINVAL, "no weights of %g bits on average: %d are the fewest", c->want->bits,
                         NARROWEST);
    return ganz_fail(err, GANZ_EINVAL, "no model of %lld bytes: with two weights in each byte it has %.0f",
                     c->want->bytes, c->fixed + weights / 2);
}

/* ---- the answer --------------------------------------------------------------------------------- */

static int commonest(const int products[GANZ_WIDTHS])
{
    int best = WIDEST;
    for (int bits = NARROWEST; bits <= WIDEST; bits++)
        if (products[bits] > products[best]) best = bits;
    return best;
}

static ganz_status tell(const chooser *c, ganz_budget_choice *choice, ganz_error *err)
{
    double weights = 0, bits = 0;
    size_t n = 0;
    *choice = (ganz_budget_choice){.bytes = c->fixed};
    for (int i = 0; i < c->count; i++) choice->products[c->bits[i]]++;
    choice->weight_bits = commonest(choice->products);
    for (int i = 0; i < c->count && n < sizeof choice->exceptions; i++) {
        const double count = count_of(c, i);
        weights += count;
        bits += count * c->bits[i];
        choice->harm += c->product[i].harm[c->bits[i]];
        choice->bytes += c->bits[i] <= GANZ_BITS_NIBBLE ? count / 2 : count;
        if (c->bits[i] != choice->weight_bits)
            n += (size_t)snprintf(choice->exceptions + n, sizeof choice->exceptions - n, "%s%s: weights=%d",
                                  n ? "; " : "", c->t->net.site[c->site[i]].name, c->bits[i]);
    }
    choice->bits = weights > 0 ? bits / weights : 0;
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
    c->site = ganz_alloc(sites, sizeof *c->site);
    c->bits = ganz_alloc(sites, sizeof *c->bits);
    c->product = ganz_alloc(sites, sizeof *c->product);
    if (!c->master || !c->site || !c->bits || !c->product)
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for %zu products", sites);
    list_products(c);
    GANZ_TRY(assign(c, err)); /* what no widths fit is refused before the work */
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
    own.recipe.parts = 1; /* each process looks at all of the batch, and sums are where they are read */
    if (own.recipe.weight_range == GANZ_WEIGHT_RANGE_LEARNED) own.recipe.weight_range = GANZ_WEIGHT_RANGE_AUTO;
    own.teachers = &options->model;
    own.teacher_count = 1;
    ganz_status status = ganz_trainer_open(&c.t, &own, err);
    if (status == GANZ_OK) status = choose(&c, choice, err);
    ganz_trainer_close(&c.t);
    ganz_free(c.master);
    ganz_free(c.site);
    ganz_free(c.bits);
    ganz_free(c.product);
    return status;
}
