/* Phases and steps of a trainer: gradients of a batch, the update, the running average, and going on from a
 * checkpoint. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/io.h"
#include "base/rng.h"
#include "train/crew.h"
#include "train/trainer_state.h"

static const uint64_t steps_stream = 0x7374657073; /* of seeds, one for each step */

double ganz_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- state -------------------------------------------------------------------------------------- */

const ganz_recipe *ganz_trainer_recipe(const ganz_trainer *t) { return &t->recipe; }
const char *ganz_trainer_changes(const ganz_trainer *t) { return t->changed; }

static double epoch_of(const ganz_trainer *t)
{
    const uint64_t batches = ganz_loader_epoch_batches(t->loader);
    return (double)t->counters.epoch + (batches ? (double)t->counters.batch / (double)batches : 0);
}

/* Ranges are measured without changing the model: there is nothing to validate. */
static bool validates(const ganz_trainer *t) { return t->valid.count > 0 && t->phase->inputs != GANZ_INPUTS_MEASURE; }

ganz_event ganz_trainer_event(const ganz_trainer *t)
{
    return (ganz_event){.now = t->counters,
                        .phase_steps = ganz_trainer_phase_length(t),
                        .phase_name = t->phase->name,
                        .epoch = epoch_of(t),
                        .rate = t->counters.rate,
                        .validates = validates(t),
                        .loss = NAN,
                        .accuracy = NAN,
                        .bleu = NAN};
}

static void tell(const ganz_trainer *t, ganz_event *event)
{
    if (event) *event = ganz_trainer_event(t);
}

static void tell_losses(const ganz_trainer *t, ganz_event *event)
{
    if (!event) return;
    *event = ganz_trainer_event(t);
    if (t->counters.counted > 0) {
        event->loss = t->counters.loss / t->counters.counted;
        event->accuracy = t->counters.right / t->counters.counted;
    }
}

ganz_trainer_times ganz_trainer_timing(const ganz_trainer *t)
{
    ganz_trainer_times times = t->times;
    times.host = t->be->host;
    return times;
}

ganz_run_parts ganz_trainer_parts(const ganz_trainer *t)
{
    const ganz_run_parts parts = {
        .recipe = &t->recipe,
        .info = &t->info,
        .net = &t->net,
        .vocab = t->vocab,
        .weights = &t->weights,
        .optim = &t->optim,
        .scale_optim = t->options.quantize ? &t->scale_optim : NULL,
        .row_optim = ganz_trainer_learns_rows(t) ? &t->row_optim : NULL,
        .average = t->average,
        .best_lines = t->best_lines,
        .lines = t->valid.count,
        .changes = t->past.changes,
        .teacher = ganz_tutors_sum(&t->tutors),
        .ranges = t->ranges ? ganz_checksum(t->ranges, (size_t)t->net.scales * sizeof *t->ranges) : 0};
    return parts;
}

/* ---- phases ------------------------------------------------------------------------------------- */

static size_t first_z(const ganz_trainer *t) { return t->net.params.list[t->net.first_scale].offset; }

static bool narrows(const ganz_trainer *t)
{
    return t->counters.phase == GANZ_PHASE_CLIPPED && t->recipe.clip[0] != t->recipe.clip[1];
}

/* The range of everything after so many steps: narrowed over the first half of the phase. */
static double clip_range(const ganz_trainer *t)
{
    const double *const clip = t->recipe.clip;
    const double part = 2 * (double)t->counters.phase_step / (double)ganz_trainer_phase_length(t);
    return part < 1 ? clip[0] + (clip[1] - clip[0]) * part : clip[1];
}

static ganz_status clip_everything(ganz_trainer *t, ganz_error *err)
{
    const real range = (real)clip_range(t);
    const size_t scales = (size_t)t->net.scales;
    real *const ranges = ganz_alloc(scales, sizeof *ranges);
    if (!ranges) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %zu ranges", scales);
    for (size_t i = 0; i < scales; i++) ranges[i] = range;
    t->be->upload(t->be, t->weights.largest, ranges, scales * sizeof *ranges);
    ganz_free(ranges);
    GANZ_TRY(ganz_weights_set_scales(&t->weights, &t->net, err));
    if (t->average) /* nothing that learns */
        t->be->copy(t->be, t->average + first_z(t), t->weights.master + first_z(t), scales * sizeof(real));
    return ganz_weights_set_range(&t->weights, range, err);
}

/* The model that fine-tuning begins with is its first candidate. */
bool ganz_trainer_chooses(const ganz_trainer *t)
{
    const int row = (int)t->counters.phase, next = ganz_phases_next(t->phases, row);
    if (narrows(t)) return clip_range(t) == t->recipe.clip[1];
    if (ganz_phases_choose(t->phases, row)) return true;
    if (t->recipe.only_tuned) return false;
    return t->phase->inputs == GANZ_INPUTS_FAKE && ganz_phases_choose(t->phases, next) &&
           t->counters.phase_step == ganz_trainer_phase_length(t);
}

static ganz_status set_phase(ganz_trainer *t, ganz_error *err)
{
    if (t->counters.phase == GANZ_PHASE_CLIPPED) GANZ_TRY(clip_everything(t, err));
    t->phase = &ganz_phases[t->counters.phase];
    ganz_trainer_apply_phase(t, t->phase);
    const ganz_dropout *const dropout = &t->stepper.options.dropout;
    t->weights.drop_scale = t->recipe.drop_first ? 1 : 1 / (1 - dropout->relu);
    t->weights.u_drop_scale = t->recipe.drop_first ? 1 - dropout->attention : 1;
    return ganz_weights_refresh(&t->weights, &t->net, err);
}

ganz_status ganz_trainer_begin(ganz_trainer *t, int row, ganz_error *err)
{
    ganz_counters *const c = &t->counters;
    const bool measured = t->phase && t->phase->inputs == GANZ_INPUTS_MEASURE;
    const size_t bytes = t->net.params.block * sizeof(real);
    if (t->average) t->be->copy(t->be, t->weights.master, t->average, bytes);
    if (measured && t->ranges)
        t->be->upload(t->be, t->weights.largest, t->ranges, (size_t)t->net.scales * sizeof *t->ranges);
    if (measured) GANZ_TRY(ganz_weights_set_scales(&t->weights, &t->net, err));
    if (t->average) t->be->copy(t->be, t->average, t->weights.master, bytes);
    if (row == GANZ_PHASE_RANGES) t->be->zero(t->be, t->weights.largest, (size_t)t->net.scales * sizeof(real));
    if (ganz_trainer_learns_rows(t)) t->be->zero(t->be, t->row_optim.slots, t->row_optim.slot_count * sizeof(real));
    if (t->phase && !ganz_trainer_chooses(t)) c->best_step = 0; /* models of the phases before are no candidates */
    c->waited = 0;
    c->phase = row;
    c->phase_step = 0;
    t->batch = (ganz_batch){0}; /* of the phase before: this one may be measuring and must not see it */
    return set_phase(t, err);
}

ganz_status ganz_trainer_enter(ganz_trainer *t, int row, ganz_event *event, ganz_error *err)
{
    GANZ_TRY(ganz_crew_order(t->ranks, GANZ_ORDER_ENTER, row, 0, err));
    GANZ_TRY(ganz_ranks_agree(t->ranks, ganz_trainer_begin(t, row, err), err));
    tell(t, event);
    return GANZ_OK;
}

void ganz_trainer_forget_best(ganz_trainer *t)
{
    t->counters.best_step = 0;
    t->counters.waited = 0;
}

int ganz_trainer_next_phase(const ganz_trainer *t) { return ganz_phases_next(t->phases, (int)t->counters.phase); }

int64_t ganz_trainer_phase_length(const ganz_trainer *t)
{
    return ganz_phase_length(&t->recipe, (int)t->counters.phase, t->pass);
}

/* ---- going on ----------------------------------------------------------------------------------- */

/* "steps 60 (before: 40), cooldown 0.4 (before: 0)", as much as there is room for. */
static void list_changes(const ganz_recipe *before, const ganz_recipe *now, char *text, size_t bytes)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    size_t n = 0;
    text[0] = '\0';
    for (int i = 0; i < count && n < bytes; i++) {
        char was[GANZ_VALUE_BYTES], is[GANZ_VALUE_BYTES];
        ganz_recipe_get(before, &table[i], was);
        ganz_recipe_get(now, &table[i], is);
        if (strcmp(was, is) == 0) continue;
        n += (size_t)snprintf(text + n, bytes - n, "%s%s %s (before: %s)", n ? ", " : "", table[i].name, is, was);
    }
}

/* Changed settings: those of now for the log, behind all earlier ones for the file. */
static ganz_status note_changes(ganz_trainer *t, ganz_error *err)
{
    list_changes(&t->past.recipe, &t->recipe, t->changed, sizeof t->changed);
    if (!t->changed[0]) return GANZ_OK;
    const char *const old = t->past.changes ? t->past.changes : "";
    const size_t bytes = strlen(old) + strlen(t->changed) + 64;
    char *const text = ganz_alloc(bytes, 1);
    if (!text) return ganz_fail(err, GANZ_ENOMEM, "out of memory");
    snprintf(text, bytes, "%s%sat step %lld: %s", old, *old ? "; " : "", (long long)t->counters.step, t->changed);
    ganz_free(t->past.changes);
    t->past.changes = text;
    return GANZ_OK;
}

ganz_status ganz_trainer_restore(ganz_trainer *t, const char *path, ganz_error *err)
{
    const ganz_run_parts parts = ganz_trainer_parts(t);
    const ganz_past *const past = &t->past;
    GANZ_TRY(ganz_checkpoint_load(path, &parts, &t->counters, &t->past, err));
    t->info.command = past->command;
    if (!t->options.source_language) t->info.source_language = past->source_language;
    if (!t->options.target_language) t->info.target_language = past->target_language;
    if (!t->info.formal_mark) t->info.formal_mark = past->formal_mark;
    if (!t->info.informal_mark) t->info.informal_mark = past->informal_mark;
    GANZ_TRY(note_changes(t, err));
    const ganz_position position = {(uint64_t)t->counters.epoch, (uint64_t)t->counters.batch};
    ganz_error why;
    if (ganz_loader_seek(t->loader, position, &why) != GANZ_OK)
        return ganz_fail(err, GANZ_EINVAL, "%s does not go on with this corpus: %s", path, why.message);
    const double sums[3] = {t->counters.loss, t->counters.right, t->counters.counted};
    t->be->upload(t->be, t->stepper.sums, sums, sizeof sums);
    if (!(t->phases >> t->counters.phase & 1u))
        return ganz_fail(err, GANZ_EINVAL, "%s stands in phase %lld, which is not among those asked for", path,
                         (long long)t->counters.phase);
    return set_phase(t, err);
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* Takes back a step that was begun: nothing but gradients and sums has been touched. */
static ganz_status undo_step(ganz_trainer *t, ganz_position position, const double sums[3], ganz_error *err)
{
    t->be->zero(t->be, t->weights.grad, t->net.params.block * sizeof(real));
    t->be->upload(t->be, t->stepper.sums, sums, 3 * sizeof *sums);
    t->batch = (ganz_batch){0};
    GANZ_TRY(ganz_loader_seek(t->loader, position, err));
    return ganz_fail(err, GANZ_ESTOPPED, "stopped");
}

/* Gradients or ranges, and losses, of all parts of a step, in their order. */
static ganz_status join_parts(ganz_trainer *t, bool learns, ganz_error *err)
{
    const ganz_tree *const tree = &t->stepper.tree;
    if (tree->parts == 1) return GANZ_OK;
    if (learns) GANZ_TRY(ganz_exchange_gradients(&t->exchange, tree, err));
    else GANZ_TRY(ganz_exchange_ranges(&t->exchange, t->be, t->weights.largest, err));
    GANZ_TRY(ganz_exchange_sums(&t->exchange, tree, err));
    t->be->add_rows(t->be, t->stepper.sums, tree->sums, tree->parts, GANZ_SUMS);
    return GANZ_OK;
}

/* This process's share of the next batch. On a CPU a step may take a minute, so a stop is heeded between its passes. */
static ganz_status make_share(ganz_trainer *t, bool learns, ganz_error *err)
{
    const uint64_t step = (uint64_t)(t->counters.first + t->counters.step);
    const uint64_t seed = ganz_random_u64((uint64_t)t->recipe.seed, steps_stream, step);
    const double started = ganz_seconds();
    GANZ_TRY(ganz_loader_next(t->loader, &t->batch, err));
    const double loaded = ganz_seconds();
    t->times.load += loaded - started;
    const ganz_flag *const stop = t->be->host ? t->options.stop : NULL;
    const ganz_status status = learns ? ganz_stepper_train(&t->stepper, &t->batch, seed, stop, err)
                                      : ganz_stepper_look(&t->stepper, &t->batch, stop, err);
    t->times.pass += ganz_seconds() - loaded;
    if (status != GANZ_OK || !t->ranks) return status;
    if (ganz_flag_is_set(t->options.stop)) return ganz_fail(err, GANZ_ESTOPPED, "stopped");
    return t->be->sync(t->be, err); /* a device that failed is told before others wait for its gradients */
}

/* Gradients of the next batch, or ranges, made by all processes. */
static ganz_status gradients(ganz_trainer *t, ganz_error *err)
{
    const ganz_position position = ganz_loader_position(t->loader);
    const bool learns = t->phase->train_weights || t->phase->learn_scales;
    double sums[GANZ_SUMS] = {0};
    if (t->be->host || t->ranks) t->be->download(t->be, sums, t->stepper.sums, sizeof sums);
    const ganz_status status = ganz_ranks_agree(t->ranks, make_share(t, learns, err), err);
    if (status == GANZ_ESTOPPED) return undo_step(t, position, sums, err);
    return status == GANZ_OK ? join_parts(t, learns, err) : status;
}

static void follow_part(ganz_trainer *t, size_t begin, size_t end)
{
    const double made = (double)t->counters.phase_step, early = (1 + made) / (10 + made),
                 decay = ganz_trainer_average_decay(t);
    if (begin < end)
        t->be->average(t->be, t->average + begin, t->weights.master + begin, end - begin,
                       early < decay ? early : decay);
}

/* The average follows quickly at first, so that it forgets the beginning. Parameters that do not learn stay the same to
 * the bit. */
static void follow(ganz_trainer *t)
{
    const size_t z = first_z(t);
    follow_part(t, t->phase->train_weights ? 0 : z, t->phase->learn_scales ? z + (size_t)t->net.scales : z);
    if (t->phase->train_weights && t->net.row_scales >= 0)
        follow_part(t, t->net.params.list[t->net.row_scales].offset, t->net.params.block);
}

/* The weights and, where they are learned, their scales. */
static void update_weights(ganz_trainer *t, double factor)
{
    ganz_counters *const c = &t->counters;
    const bool rows = ganz_trainer_learns_rows(t);
    if (rows) ganz_weights_rows_grad(&t->weights, &t->net);
    ganz_optim_step(&t->optim, t->counters.rate, c->updates++);
    if (rows) ganz_optim_step(&t->row_optim, t->recipe.row_rate * factor, c->phase_step);
}

static ganz_status update(ganz_trainer *t, double done, ganz_error *err)
{
    ganz_counters *const c = &t->counters;
    const ganz_recipe *const r = &t->recipe;
    const bool training = c->phase == GANZ_PHASE_FLOAT;
    const double factor = training ? 1 : ganz_cooldown(r->phase_cooldown, done);
    t->counters.rate = 0;
    if (t->phase->train_weights) {
        t->counters.rate = training ? ganz_rate(r, c->step, done)
                                    : ganz_flat_rate(r, c->first + c->step) * ganz_tune_factor(r) * factor;
        update_weights(t, factor);
    }
    if (t->phase->learn_scales) {
        const bool shared = r->scale_schedule == GANZ_SCHEDULE_WEIGHTS;
        t->counters.rate = (shared ? ganz_flat_rate(r, c->first + c->step) : ganz_scale_rate(r)) * factor;
        ganz_optim_step(&t->scale_optim, t->counters.rate, shared ? c->first + c->step : c->scale_updates);
        c->scale_updates++;
    }
    if (t->phase->train_weights || t->phase->learn_scales) GANZ_TRY(ganz_weights_refresh(&t->weights, &t->net, err));
    if (t->average) follow(t);
    return GANZ_OK;
}

/* The loader has moved on; counters follow it. */
static void count_step(ganz_trainer *t)
{
    const ganz_position position = ganz_loader_position(t->loader);
    t->counters.tokens += t->batch.target_rows;
    t->counters.epoch = (int64_t)position.epoch;
    t->counters.batch = (int64_t)position.batch;
    t->times.source_tokens += (uint64_t)t->batch.source_rows;
    t->times.slots += t->recipe.batch == GANZ_BATCH_PACKED ? (uint64_t)(t->batch.packed_rows * t->recipe.slots)
                                                           : (uint64_t)t->batch.target_rows;
}

ganz_status ganz_trainer_step(ganz_trainer *t, double done, ganz_event *event, ganz_error *err)
{
    GANZ_TRY(ganz_crew_order(t->ranks, GANZ_ORDER_STEP, 0, done, err));
    GANZ_TRY(gradients(t, err));
    const double started = ganz_seconds();
    GANZ_TRY(update(t, done, err));
    t->times.update += ganz_seconds() - started;
    t->counters.step++;
    t->counters.phase_step++;
    if (narrows(t)) GANZ_TRY(set_phase(t, err));
    count_step(t);
    tell(t, event);
    return GANZ_OK;
}

ganz_status ganz_trainer_check_loss(const ganz_trainer *t, const double sums[3], ganz_error *err)
{
    const long long step = t->counters.step;
    if (sums[2] == 0) return GANZ_OK;
    const double loss = sums[0] / sums[2];
    if (!isfinite(loss)) return ganz_fail(err, GANZ_EINVAL, "the loss is not a number any more at step %lld", step);
    const bool rounded = t->phase->inputs == GANZ_INPUTS_FAKE; /* first scales may be bad: they will learn */
    if (!rounded && loss > 2 * log(t->net.config.vocab) + 1)   /* far worse than knowing nothing */
        return ganz_fail(err, GANZ_EINVAL, "the loss has run away to %.3g at step %lld", loss, step);
    return GANZ_OK;
}

ganz_status ganz_trainer_drain(ganz_trainer *t, ganz_event *event, ganz_error *err)
{
    double sums[3];
    t->be->download(t->be, sums, t->stepper.sums, sizeof sums);
    GANZ_TRY(t->be->sync(t->be, err));
    t->counters.loss = sums[0];
    t->counters.right = sums[1];
    t->counters.counted = sums[2];
    GANZ_TRY(ganz_trainer_check_loss(t, sums, err));
    tell_losses(t, event);
    return GANZ_OK;
}

ganz_status ganz_trainer_log(ganz_trainer *t, ganz_event *event, ganz_error *err)
{
    GANZ_TRY(ganz_trainer_drain(t, NULL, err));
    t->counters.logged = t->counters.step;
    tell_losses(t, event);
    t->counters.loss = t->counters.right = t->counters.counted = 0;
    t->be->zero(t->be, t->stepper.sums, 3 * sizeof(double));
    return GANZ_OK;
}
