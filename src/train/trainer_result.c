/* Results of a trainer: validation and choice of the best model, checkpoints and model files, the check of a frozen
 * model, and the sizes a run reports. */
#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "train/crew.h"
#include "train/history.h"
#include "train/trainer_state.h"

static const real *current_model(const ganz_trainer *t) { return t->average ? t->average : t->weights.master; }

static int translated(const ganz_trainer *t)
{
    return t->recipe.bleu_sentences < t->valid.count ? (int)t->recipe.bleu_sentences : t->valid.count;
}

static ganz_status measure_model(ganz_trainer *t, ganz_event *event, ganz_error *err)
{
    const ganz_valid_crew crew = {t->ranks, t->options.stop};
    GANZ_TRY(ganz_valid_loss(&t->valid, &t->stepper, &crew, &event->loss, &event->accuracy, err));
    const int most = translated(t);
    if (most == 0) return GANZ_OK;
    return ganz_valid_bleu(&t->valid, t->decoder, most, &crew, &event->bleu, err);
}

/* The average takes the place of the masters: passes and files read the weights through this one struct.
 * A second call puts the masters back. */
static ganz_status swap_average(ganz_trainer *t, ganz_error *err)
{
    if (!t->average) return GANZ_OK;
    real *const master = t->weights.master;
    t->weights.master = t->average;
    t->average = master;
    return ganz_weights_refresh(&t->weights, &t->net, err);
}

ganz_status ganz_trainer_measure(ganz_trainer *t, ganz_event *event, ganz_error *err)
{
    GANZ_TRY(ganz_crew_order(t->ranks, GANZ_ORDER_VALIDATE, 0, 0, err));
    ganz_status status = ganz_ranks_agree(t->ranks, swap_average(t, err), err);
    if (status == GANZ_OK) status = measure_model(t, event, err);
    const ganz_status back = swap_average(t, NULL);
    return status != GANZ_OK ? status : back;
}

static ganz_status save_codes(ganz_trainer *t, const char *path, ganz_error *err)
{
    ganz_status status = swap_average(t, err);
    if (status == GANZ_OK) status = ganz_model_save_codes(path, &t->info, &t->net, t->vocab, &t->weights, err);
    const ganz_status back = swap_average(t, NULL);
    return status != GANZ_OK ? status : back;
}

ganz_status ganz_trainer_save_model(ganz_trainer *t, const char *path, ganz_error *err)
{
    const ganz_run_parts parts = ganz_trainer_parts(t);
    if (t->options.quantize) return save_codes(t, path, err);
    return ganz_checkpoint_model(path, &parts, current_model(t), t->counters.step, err);
}

/* ---- validation --------------------------------------------------------------------------------- */

/* By BLEU where there is one, else by loss, which also tells models of equal BLEU apart: those of a run's beginning may
 * all have 0, and those of a small language 100. */
static bool is_better(const ganz_trainer *t, const ganz_event *event)
{
    const ganz_counters *const c = &t->counters;
    if (!ganz_trainer_chooses(t)) return false;
    if (c->best_step == 0) return true;
    if (isnan(event->bleu) || event->bleu == c->best_bleu) return event->loss < c->best_loss;
    return event->bleu > c->best_bleu;
}

static ganz_status keep_best(ganz_trainer *t, const char *path, const ganz_event *event, ganz_error *err)
{
    ganz_counters *const c = &t->counters;
    GANZ_TRY(ganz_trainer_save_model(t, path, err));
    if (t->best_lines) memcpy(t->best_lines, t->valid.lines, (size_t)t->valid.count * sizeof *t->best_lines);
    c->best_step = c->step;
    c->best_loss = event->loss;
    c->best_bleu = isnan(event->bleu) ? -1 : event->bleu; /* any BLEU is better than none */
    return GANZ_OK;
}

ganz_status ganz_trainer_validate(ganz_trainer *t, const char *best, ganz_event *event, ganz_error *err)
{
    ganz_counters *const c = &t->counters;
    ganz_event own;
    if (!event) event = &own;
    GANZ_TRY(ganz_trainer_drain(t, NULL, err));
    *event = ganz_trainer_event(t);
    GANZ_TRY(ganz_trainer_measure(t, event, err));
    if (!isfinite(event->loss))
        return ganz_fail(err, GANZ_EINVAL, "the validation loss is not a number at step %lld", (long long)c->step);
    event->better = is_better(t, event);
    if (event->better) GANZ_TRY(keep_best(t, best, event, err));
    c->waited = event->better ? 0 : c->waited + 1;
    c->validated = c->step;
    event->now = *c;
    return GANZ_OK;
}

ganz_status ganz_trainer_check_frozen(ganz_trainer *t, const char *path, ganz_frozen *found, ganz_error *err)
{
    const int most = translated(t);
    *found = (ganz_frozen){.bleu = -1};
    if (most == 0) return GANZ_OK;
    const ganz_decoder_options o = ganz_trainer_decoder_options(t, GANZ_CPU_TOKENS);
    const ganz_valid_crew alone = {.stop = t->options.stop};
    ganz_model *model;
    ganz_backend *be = NULL;
    ganz_decoder *decoder = NULL;
    ganz_status status;
    GANZ_TRY(ganz_model_open(&model, path, err));
    GANZ_CHECK(ganz_cpu_backend_open(&be, t->options.threads > 0 ? t->options.threads : ganz_cpu_count(), err));
    GANZ_CHECK(ganz_decoder_open(&decoder, be, &model->net, &model->weights, &o, err));
    GANZ_CHECK(ganz_valid_bleu(&t->valid, decoder, most, &alone, &found->bleu, err));
    found->compared = t->counters.best_step > 0 ? most : 0;
    for (int i = 0; i < found->compared; i++) found->different += t->valid.lines[i] != t->best_lines[i];
out:
    ganz_decoder_close(&decoder);
    if (be) be->close(be);
    ganz_model_close(&model);
    return status;
}

/* ---- checkpoints -------------------------------------------------------------------------------- */

/* The loss of the updated model on the batch it has just seen, refused like that of drain: the losses so far were those
 * of the models before the last update. */
static ganz_status probe(ganz_trainer *t, ganz_error *err)
{
    double sums[3] = {0};
    if (t->batch.segments == 0) return GANZ_OK;
    ganz_batch part = t->batch;
    part.segments = ganz_batch_cut(&part, 0, t->stepper.options.tokens);
    GANZ_TRY(ganz_stepper_evaluate(&t->stepper, &part, sums, err));
    return ganz_trainer_check_loss(t, sums, err);
}

ganz_status ganz_trainer_save(ganz_trainer *t, const char *path, int64_t log_lines, ganz_event *event, ganz_error *err)
{
    const ganz_run_parts parts = ganz_trainer_parts(t);
    GANZ_TRY(ganz_trainer_drain(t, event, err));
    GANZ_TRY(probe(t, err));
    GANZ_TRY(ganz_crew_compare(t->ranks, t, err));
    t->counters.log_lines = log_lines;
    GANZ_TRY(ganz_checkpoint_save(path, &parts, &t->counters, err));
    if (event) event->now = t->counters;
    return GANZ_OK;
}

ganz_status ganz_trainer_log_scales(const ganz_trainer *t, const char *path, ganz_error *err)
{
    if (!t->phase->learn_scales) return GANZ_OK;
    return ganz_history_add(path, &t->net, &t->weights, t->counters.step, (int)t->counters.phase, err);
}

ganz_status ganz_trainer_plot_scales(const ganz_trainer *t, const char *path, const char *svg, ganz_error *err)
{
    return t->options.quantize ? ganz_history_plot(path, svg, &t->net, err) : GANZ_OK;
}

/* ---- facts -------------------------------------------------------------------------------------- */

/* Steps of the whole run; 0: unknown. */
static int64_t all_steps(const ganz_trainer *t)
{
    int64_t sum = 0;
    if (!t->options.quantize) return t->recipe.steps;
    for (int row = -1; (row = ganz_phases_next(t->phases, row)) >= 0;)
        sum += ganz_phase_length(&t->recipe, row, t->pass);
    return sum;
}

static size_t bytes_of(const ganz_weights *w, size_t block)
{
    const size_t copies = w->copy ? block * ganz_type_bytes(w->be->product) : 0;
    return (w->grad ? 2 : 1) * block * sizeof(real) + copies + (w->bytes ? block : 0);
}

static size_t weight_bytes(const ganz_trainer *t)
{
    const size_t block = t->net.params.block, others = t->optim.slot_count + t->scale_optim.slot_count +
                                                       t->row_optim.slot_count + (t->average ? block : 0) +
                                                       (size_t)t->stepper.tree.waiting * block;
    size_t bytes = bytes_of(&t->weights, block) + others * sizeof(real);
    for (int i = 0; i < t->tutors.count; i++)
        bytes += bytes_of(&t->tutors.all[i].weights, t->tutors.all[i].net.params.block);
    return bytes;
}

static int integer_products(const ganz_net *net)
{
    int count = 0;
    for (int i = 0; i < net->products; i++) count += ganz_product_rule(&net->product[i])->integer;
    return count;
}

ganz_trainer_facts ganz_trainer_describe(const ganz_trainer *t)
{
    const ganz_recipe *const r = &t->recipe;
    const bool by_slots = r->batch == GANZ_BATCH_PACKED || r->slots < r->batch_tokens;
    const int products = t->net.sites + 2 * t->net.pairs;
    return (ganz_trainer_facts){.device = t->be->name,
                                .command = t->info.command,
                                .parameters = ganz_params_total(&t->net.params),
                                .pass_bytes = t->stepper.device.size,
                                .weight_bytes = weight_bytes(t),
                                .epoch_steps = ganz_loader_epoch_batches(t->loader),
                                .left_out = ganz_loader_epoch_dropped(t->loader),
                                .longest = by_slots ? r->slots : r->batch_tokens,
                                .steps = all_steps(t),
                                .products = products,
                                .integer_products = t->options.quantize ? integer_products(&t->net) : 0,
                                .taught = t->tutors.count > 0,
                                .averages = t->average != NULL};
}
