#include "train/trainer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/io.h"
#include "base/rng.h"
#include "base/thread.h"

enum { CPU_TOKENS = 4096, GPU_TOKENS = 16384 };

static const uint64_t steps_stream = 0x7374657073; /* of seeds, one for each step */

double ganz_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- open --------------------------------------------------------------------------------------- */

static ganz_status open_device(ganz_trainer *t, ganz_error *err)
{
    static const char *const words[] = {[GANZ_PRECISION_AUTO] = "auto",
                                        [GANZ_PRECISION_FP32] = "fp32",
                                        [GANZ_PRECISION_TF32] = "tf32",
                                        [GANZ_PRECISION_BF16] = "bf16"};
    return ganz_device_open(&t->be, t->options.device, words[t->recipe.precision], t->options.threads, err);
}

/* The network's timing table reaches to the longest output of the longest input, as a model's does. */
static ganz_status open_net(ganz_trainer *t, ganz_error *err)
{
    const ganz_recipe *const r = &t->recipe;
    int longest = t->start ? t->info.config.max_positions : GANZ_TRAIN_POSITIONS;
    if (longest < r->slots) longest = (int)r->slots;
    t->info.config = (ganz_config){.width = (int)r->width,
                                   .ffn = (int)r->ffn,
                                   .heads = (int)r->heads,
                                   .encoder_layers = (int)r->encoder_layers,
                                   .decoder_layers = (int)r->decoder_layers,
                                   .vocab = t->corpus->vocab_size,
                                   .max_positions = longest};
    t->info.command = t->options.command;
    if (t->options.source_language) t->info.source_language = t->options.source_language;
    if (t->options.target_language) t->info.target_language = t->options.target_language;
    ganz_config config = t->info.config;
    config.max_positions = ganz_search_limit(longest);
    GANZ_TRY(ganz_config_check(&config, err));
    GANZ_TRY(ganz_net_open(&t->net, &config, err));
    ganz_phase_set_bits(&t->net, r);
    return t->start ? ganz_model_check_params(t->start, &t->net, err) : GANZ_OK;
}

/* The shape is the model's. */
static ganz_status open_start(ganz_trainer *t, ganz_error *err)
{
    ganz_recipe *const r = &t->recipe;
    GANZ_TRY(ganz_container_open(&t->start, t->options.model, err));
    GANZ_TRY(ganz_model_read_info(t->start, &t->info, err));
    GANZ_TRY(ganz_model_check_float(t->start, &t->info, err));
    GANZ_TRY(ganz_model_read_vocab(t->start, &t->info.config, &t->vocab, err));
    r->width = t->info.config.width;
    r->ffn = t->info.config.ffn;
    r->heads = t->info.config.heads;
    r->encoder_layers = t->info.config.encoder_layers;
    r->decoder_layers = t->info.config.decoder_layers;
    return GANZ_OK;
}

static ganz_status open_tutors(ganz_trainer *t, ganz_error *err)
{
    const bool taught = t->recipe.learn_from == GANZ_LEARN_FROM_MODEL;
    const ganz_train_options *const o = &t->options;
    if (!taught && o->teacher_count > 0)
        return ganz_fail(err, GANZ_EINVAL, "there is a teacher, but the corpus is learned from");
    if (!taught) return GANZ_OK;
    if (o->teacher_count == 0)
        return ganz_fail(err, GANZ_EINVAL, "learning from a float model needs that model, also to go on");
    if (!t->vocab) return ganz_fail(err, GANZ_EINVAL, "learning from a model needs the vocabulary of the corpus");
    return ganz_tutors_open(&t->tutors, o->teachers, o->teacher_count, t->be, t->vocab, t->net.config.max_positions,
                            err);
}

static double average_decay(const ganz_trainer *t)
{
    return t->options.quantize ? t->recipe.phase_average : t->recipe.average_decay;
}

static ganz_status open_weights(ganz_trainer *t, ganz_error *err)
{
    const size_t count = t->net.params.block;
    GANZ_TRY(ganz_weights_open(&t->weights, &t->net, t->be, true, err));
    real *const block = ganz_alloc(count, sizeof *block);
    if (!block) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %zu parameters", count);
    ganz_params_init(&t->net.params, (uint64_t)t->recipe.seed, block);
    const ganz_status status = t->start ? ganz_model_read_params(t->start, &t->net, block, err) : GANZ_OK;
    t->be->upload(t->be, t->weights.master, block, count * sizeof *block);
    ganz_free(block);
    GANZ_TRY(status);
    if (t->options.quantize && t->recipe.method == GANZ_METHOD_LEARNED)
        GANZ_TRY(ganz_weights_trim(&t->weights, &t->net, t->recipe.weight_range, err));
    if (average_decay(t) > 0) {
        void *average;
        GANZ_TRY(t->be->alloc(t->be, &average, count * sizeof(real), err));
        t->average = average;
        t->be->copy(t->be, t->average, t->weights.master, count * sizeof(real));
    }
    GANZ_TRY(ganz_optim_open(&t->optim, &t->net, &t->weights, &t->recipe, false, err));
    if (t->options.quantize) GANZ_TRY(ganz_optim_open(&t->scale_optim, &t->net, &t->weights, &t->recipe, true, err));
    return ganz_weights_refresh(&t->weights, &t->net, err);
}

/* Where the schedule and the optimizer of the model's own run had come to, as far as its file tells. Training begins
 * both anew. */
static ganz_status take_over(ganz_trainer *t, ganz_error *err)
{
    ganz_counters *const c = &t->counters;
    ganz_recipe noted = t->recipe;
    ganz_origin origin;
    bool slots;
    if (!t->options.quantize) return GANZ_OK;
    GANZ_TRY(ganz_checkpoint_origin(t->start, &noted, &origin, err));
    GANZ_TRY(ganz_checkpoint_slots(t->start, &t->weights, &t->optim, &slots, err));
    c->first = t->recipe.first_step > 0 ? t->recipe.first_step
               : origin.step > 0        ? origin.step
               : t->recipe.steps > 0    ? t->recipe.steps
                                        : t->recipe.decay_start;
    c->updates = slots ? origin.step : 0;
    return GANZ_OK;
}

static ganz_status open_loader(ganz_trainer *t, ganz_error *err)
{
    const ganz_recipe *const r = &t->recipe;
    ganz_loader_options o;
    ganz_loader_defaults(&o);
    o.seed = (uint64_t)r->seed;
    o.packed = r->batch == GANZ_BATCH_PACKED;
    o.rows = (int)r->rows;
    o.slots = (int)r->slots;
    o.zero_segment_start = r->zero_start;
    o.tokens = (int)r->batch_tokens;
    o.max_length = (int)(r->slots < r->batch_tokens ? r->slots : r->batch_tokens);
    GANZ_TRY(ganz_loader_open(&t->loader, t->corpus, &o, err));
    t->pass = ganz_loader_epoch_batches(t->loader);
    return GANZ_OK;
}

/* Rounding is learned best from a teacher that sees the same: there is nothing to learn by heart. */
static ganz_dropout dropout_of(const ganz_trainer *t)
{
    const ganz_recipe *const r = &t->recipe;
    if (t->options.quantize && t->tutors.count > 0) return (ganz_dropout){0};
    return (ganz_dropout){(real)r->dropout, (real)r->dropout_relu, (real)r->dropout_attention};
}

/* Never more than a whole step, and never less than one row. */
static ganz_status open_stepper(ganz_trainer *t, ganz_error *err)
{
    const ganz_recipe *const r = &t->recipe;
    const bool packed = r->batch == GANZ_BATCH_PACKED;
    const long long step = packed ? r->rows * r->slots : r->batch_tokens;
    long long tokens = r->micro_tokens ? r->micro_tokens : t->be->host ? CPU_TOKENS : GPU_TOKENS;
    if (tokens > step) tokens = step;
    if (tokens < r->slots) tokens = r->slots;
    if (tokens > INT32_MAX / 2) return ganz_fail(err, GANZ_ELIMIT, "a pass over %lld tokens is too large", tokens);
    const long long rows = packed ? r->rows : tokens;
    const ganz_stepper_options o = {.tokens = (int)tokens,
                                    .rows = (int)(rows < tokens ? rows : tokens),
                                    .slots = (int)r->slots,
                                    .dropout = dropout_of(t),
                                    .smoothing = (real)r->label_smoothing,
                                    .tutors = &t->tutors};
    /* Codes beside their values take the most memory of all states. */
    if (t->options.quantize) ganz_phase_set_states(&t->net, r, &ganz_phases[GANZ_PHASE_SCALES]);
    const ganz_status status = ganz_stepper_open(&t->stepper, &t->net, &t->weights, &o, err);
    if (status != GANZ_ENOMEM || !err) return status;
    const ganz_error why = *err;
    return ganz_fail(err, status, "%s; less than %lld micro-tokens would need less", why.message, tokens);
}

static ganz_decoder_options decoder_options(const ganz_trainer *t, int tokens)
{
    const int needed = t->valid.pairs[t->valid.count - 1].source_count; /* the longest comes last */
    return (ganz_decoder_options){.search = {.beam = (int)t->recipe.beam, .n_best = 1, .alpha = t->recipe.alpha},
                                  .batch_tokens = tokens,
                                  .max_input = needed};
}

static ganz_status open_valid(ganz_trainer *t, ganz_error *err)
{
    const int longest = t->info.config.max_positions;
    if (!t->options.valid_source) return GANZ_OK;
    GANZ_TRY(ganz_valid_open(&t->valid, t->options.valid_source, t->options.valid_target, t->vocab, longest,
                             t->stepper.options.tokens, err));
    if (!t->be->host) t->valid.group = 1024;
    const ganz_decoder_options o = decoder_options(t, t->be->host ? CPU_TOKENS : 2 * GPU_TOKENS);
    if (t->options.quantize) {
        t->best_lines = ganz_alloc((size_t)t->valid.count, sizeof *t->best_lines);
        if (!t->best_lines) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the validation set");
    }
    return ganz_decoder_open(&t->decoder, t->be, &t->net, &t->weights, &o, err);
}

/* What an integer model's inputs can hold: scale times largest code. */
static void take_ranges(real *ranges, ganz_model *m)
{
    for (int i = 0; i < m->net.sites; i++) {
        const ganz_site *const site = ganz_net_site(&m->net, i);
        ranges[site->input.place] =
            m->weights.input_scale[site->input.place] * (real)ganz_code_max(site->input_bits, true);
    }
    for (int i = 0; i < m->net.pairs; i++) {
        const ganz_pair *const pair = ganz_net_pair(&m->net, i);
        const int places[] = {pair->q.place, pair->k.place, pair->v.place};
        for (int j = 0; j < 3; j++)
            ranges[places[j]] = m->weights.input_scale[places[j]] * (real)ganz_code_max(pair->bits, true);
    }
}

static ganz_status open_ranges(ganz_trainer *t, ganz_error *err)
{
    const char *const path = t->options.scales_of;
    const size_t scales = (size_t)t->net.scales;
    ganz_status status = GANZ_OK;
    ganz_model *m;
    if (!(t->phases >> GANZ_PHASE_RANGES & 1u))
        return ganz_fail(err, GANZ_EINVAL, "only the learned method begins with the steps of another model");
    GANZ_TRY(ganz_model_open(&m, path, err));
    ganz_config config = m->info.config;
    config.max_positions = t->info.config.max_positions;
    if (m->info.bits == 0) status = ganz_fail(err, GANZ_EINVAL, "%s is no integer model: it has no steps", path);
    else if (memcmp(&config, &t->info.config, sizeof config) != 0)
        status = ganz_fail(err, GANZ_EINVAL, "%s has another shape than %s", path, t->options.model);
    else if (m->info.float_attention && t->recipe.products == GANZ_PRODUCTS_ALL)
        status = ganz_fail(err, GANZ_EINVAL, "%s has no steps for attention", path);
    else if (!(t->ranges = ganz_alloc(scales, sizeof *t->ranges)))
        status = ganz_fail(err, GANZ_ENOMEM, "out of memory for %zu ranges", scales);
    else take_ranges(t->ranges, m);
    ganz_model_close(&m);
    return status;
}

static ganz_status open_parts(ganz_trainer *t, ganz_error *err)
{
    const ganz_train_options *const o = &t->options;
    if (o->quantize)
        t->recipe.average_last = t->recipe.patience = 0; /* settings of the end of training, which phases have not */
    GANZ_TRY(ganz_recipe_check(&t->recipe, err));
    GANZ_TRY(ganz_phases_of(&t->recipe, o->quantize, &t->phases, err));
    if (!o->train) return ganz_fail(err, GANZ_EINVAL, "training needs a corpus");
    if (!o->valid_source != !o->valid_target)
        return ganz_fail(err, GANZ_EINVAL, "validation needs both a source and a target");
    if (o->model) GANZ_TRY(open_start(t, err));
    else if (o->vocab) GANZ_TRY(ganz_vocab_open(&t->vocab, o->vocab, err));
    GANZ_TRY(ganz_corpus_open(&t->corpus, o->train, err));
    if (t->vocab) GANZ_TRY(ganz_corpus_fits(t->corpus, t->vocab, err));
    GANZ_TRY(open_net(t, err));
    if (o->scales_of) GANZ_TRY(open_ranges(t, err));
    GANZ_TRY(open_device(t, err));
    GANZ_TRY(open_weights(t, err));
    GANZ_TRY(open_tutors(t, err));
    GANZ_TRY(open_loader(t, err));
    GANZ_TRY(open_stepper(t, err));
    GANZ_TRY(open_valid(t, err));
    if (t->start) GANZ_TRY(take_over(t, err));
    return ganz_trainer_enter(t, ganz_phases_next(t->phases, -1), err);
}

ganz_status ganz_trainer_open(ganz_trainer *t, const ganz_train_options *options, ganz_error *err)
{
    *t = (ganz_trainer){.options = *options, .recipe = options->recipe};
    const ganz_status status = open_parts(t, err);
    if (status != GANZ_OK) ganz_trainer_close(t);
    return status;
}

void ganz_trainer_close(ganz_trainer *t)
{
    ganz_decoder_close(&t->decoder);
    ganz_valid_close(&t->valid);
    ganz_stepper_close(&t->stepper);
    ganz_loader_close(&t->loader);
    ganz_optim_close(&t->optim);
    ganz_optim_close(&t->scale_optim);
    ganz_free(t->best_lines);
    ganz_free(t->ranges);
    if (t->average) t->be->free(t->be, t->average);
    if (t->weights.be) ganz_weights_close(&t->weights);
    ganz_tutors_close(&t->tutors);
    if (t->be) t->be->close(t->be);
    ganz_net_close(&t->net);
    ganz_corpus_close(&t->corpus);
    ganz_vocab_close(&t->vocab);
    ganz_container_close(&t->start);
    ganz_past_free(&t->past);
    *t = (ganz_trainer){0};
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

/* What fine-tuning begins with is its first candidate. */
bool ganz_trainer_chooses(const ganz_trainer *t)
{
    const int row = (int)t->counters.phase, next = ganz_phases_next(t->phases, row);
    if (narrows(t)) return clip_range(t) == t->recipe.clip[1];
    if (ganz_phases_choose(t->phases, row)) return true;
    return t->phase->inputs == GANZ_INPUTS_FAKE && ganz_phases_choose(t->phases, next) &&
           t->counters.phase_step == ganz_trainer_phase_length(t);
}

static ganz_status set_phase(ganz_trainer *t, ganz_error *err)
{
    if (t->counters.phase == GANZ_PHASE_CLIPPED) GANZ_TRY(clip_everything(t, err));
    t->phase = &ganz_phases[t->counters.phase];
    ganz_phase_set_states(&t->net, &t->recipe, t->phase);
    t->stepper.train_weights = t->phase->train_weights;
    t->stepper.learn_scales = t->phase->learn_scales;
    t->stepper.options.dropout = t->phase->dropout ? dropout_of(t) : (ganz_dropout){0};
    t->weights.drop_scale = t->recipe.drop_first ? 1 : 1 / (1 - t->stepper.options.dropout.relu);
    return ganz_weights_refresh(&t->weights, &t->net, err);
}

ganz_status ganz_trainer_enter(ganz_trainer *t, int row, ganz_error *err)
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
    if (t->phase && !ganz_trainer_chooses(t)) c->best_step = 0; /* what came before is no candidate */
    c->waited = 0;
    c->phase = row;
    c->phase_step = 0;
    t->batch = (ganz_batch){0}; /* of an older phase: not to be looked at in this one, which may be measuring */
    return set_phase(t, err);
}

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
        char was[32], is[32];
        ganz_recipe_get(before, &table[i], was);
        ganz_recipe_get(now, &table[i], is);
        if (strcmp(was, is) == 0) continue;
        n += (size_t)snprintf(text + n, bytes - n, "%s%s %s (before: %s)", n ? ", " : "", table[i].name, is, was);
    }
}

/* What is different from now on, for the log, and after what changed before, for the file. */
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

/* Gradients of the next batch. On a CPU a step may take a minute, so a stop is heeded between its parts. */
static ganz_status gradients(ganz_trainer *t, ganz_error *err)
{
    const double started = ganz_seconds();
    const ganz_position position = ganz_loader_position(t->loader);
    const uint64_t step = (uint64_t)(t->counters.first + t->counters.step);
    const uint64_t seed = ganz_random_u64((uint64_t)t->recipe.seed, steps_stream, step);
    double sums[3] = {0};
    GANZ_TRY(ganz_loader_next(t->loader, &t->batch, err));
    if (t->be->host) t->be->download(t->be, sums, t->stepper.sums, sizeof sums);
    const double loaded = ganz_seconds();
    const ganz_flag *const stop = t->be->host ? t->options.stop : NULL;
    const bool learns = t->phase->train_weights || t->phase->learn_scales;
    const ganz_status status = learns ? ganz_stepper_train(&t->stepper, &t->batch, seed, stop, err)
                                      : ganz_stepper_look(&t->stepper, &t->batch, stop, err);
    t->load_seconds += loaded - started;
    t->pass_seconds += ganz_seconds() - loaded;
    return status == GANZ_ESTOPPED ? undo_step(t, position, sums, err) : status;
}

/* The average follows quickly at first, so that it forgets the beginning. What does not learn stays as it is to the
 * bit. */
static void follow(ganz_trainer *t)
{
    const double made = (double)t->counters.phase_step, early = (1 + made) / (10 + made), decay = average_decay(t);
    const size_t z = first_z(t), begin = t->phase->train_weights ? 0 : z;
    const size_t end = t->phase->learn_scales ? z + (size_t)t->net.scales : z;
    if (begin < end)
        t->be->average(t->be, t->average + begin, t->weights.master + begin, end - begin,
                       early < decay ? early : decay);
}

static ganz_status update(ganz_trainer *t, double done, ganz_error *err)
{
    ganz_counters *const c = &t->counters;
    const ganz_recipe *const r = &t->recipe;
    const bool training = c->phase == GANZ_PHASE_FLOAT;
    const double factor = training ? 1 : ganz_cooldown(r->phase_cooldown, done);
    t->rate = 0;
    if (t->phase->train_weights) {
        t->rate = training ? ganz_rate(r, c->step, done)
                           : ganz_flat_rate(r, c->first + c->step) * ganz_tune_factor(r) * factor;
        ganz_optim_step(&t->optim, t->rate, c->updates++);
    }
    if (t->phase->learn_scales) {
        t->rate = ganz_scale_rate(r) * factor;
        ganz_optim_step(&t->scale_optim, t->rate, c->scale_updates++);
    }
    if (t->phase->train_weights || t->phase->learn_scales) GANZ_TRY(ganz_weights_refresh(&t->weights, &t->net, err));
    if (t->average) follow(t);
    return GANZ_OK;
}

ganz_status ganz_trainer_step(ganz_trainer *t, double done, ganz_error *err)
{
    GANZ_TRY(gradients(t, err));
    const double started = ganz_seconds();
    GANZ_TRY(update(t, done, err));
    t->update_seconds += ganz_seconds() - started;

    const ganz_position position = ganz_loader_position(t->loader);
    t->counters.step++;
    t->counters.phase_step++;
    if (narrows(t)) GANZ_TRY(set_phase(t, err));
    t->counters.tokens += t->batch.target_rows;
    t->counters.epoch = (int64_t)position.epoch;
    t->counters.batch = (int64_t)position.batch;
    t->source_tokens += (uint64_t)t->batch.source_rows;
    t->slots += t->recipe.batch == GANZ_BATCH_PACKED ? (uint64_t)(t->batch.packed_rows * t->recipe.slots)
                                                     : (uint64_t)t->batch.target_rows;
    return GANZ_OK;
}

static ganz_status check_loss(const ganz_trainer *t, const double sums[3], ganz_error *err)
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

ganz_status ganz_trainer_drain(ganz_trainer *t, ganz_error *err)
{
    double sums[3];
    t->be->download(t->be, sums, t->stepper.sums, sizeof sums);
    GANZ_TRY(t->be->sync(t->be, err));
    t->counters.loss = sums[0];
    t->counters.right = sums[1];
    t->counters.counted = sums[2];
    return check_loss(t, sums, err);
}

ganz_status ganz_trainer_probe(ganz_trainer *t, ganz_error *err)
{
    double sums[3] = {0};
    if (t->batch.segments == 0) return GANZ_OK;
    ganz_batch part = t->batch;
    part.segments = ganz_batch_cut(&part, 0, t->stepper.options.tokens);
    GANZ_TRY(ganz_stepper_evaluate(&t->stepper, &part, sums, err));
    return check_loss(t, sums, err);
}

/* ---- validation --------------------------------------------------------------------------------- */

const real *ganz_trainer_model(const ganz_trainer *t) { return t->average ? t->average : t->weights.master; }

static int translated(const ganz_trainer *t)
{
    return t->recipe.bleu_sentences < t->valid.count ? (int)t->recipe.bleu_sentences : t->valid.count;
}

static ganz_status measure_model(ganz_trainer *t, ganz_log_record *record, ganz_error *err)
{
    double *const loss = &record->valid_loss, *const accuracy = &record->valid_accuracy;
    GANZ_TRY(ganz_valid_loss(&t->valid, &t->stepper, t->options.stop, loss, accuracy, err));
    const int most = translated(t);
    if (most == 0) return GANZ_OK;
    return ganz_valid_bleu(&t->valid, t->decoder, most, t->options.stop, &record->valid_bleu, err);
}

/* The average takes the place of the masters: everybody looks at the weights through this one struct. The second time
 * they are back. */
static ganz_status swap_average(ganz_trainer *t, ganz_error *err)
{
    if (!t->average) return GANZ_OK;
    real *const master = t->weights.master;
    t->weights.master = t->average;
    t->average = master;
    return ganz_weights_refresh(&t->weights, &t->net, err);
}

ganz_status ganz_trainer_validate(ganz_trainer *t, ganz_log_record *record, ganz_error *err)
{
    ganz_status status = swap_average(t, err);
    if (status == GANZ_OK) status = measure_model(t, record, err);
    const ganz_status back = swap_average(t, NULL);
    return status != GANZ_OK ? status : back;
}

ganz_status ganz_trainer_save_codes(ganz_trainer *t, const char *path, ganz_error *err)
{
    ganz_status status = swap_average(t, err);
    if (status == GANZ_OK) status = ganz_model_save_codes(path, &t->info, &t->net, t->vocab, &t->weights, err);
    const ganz_status back = swap_average(t, NULL);
    return status != GANZ_OK ? status : back;
}

ganz_status ganz_trainer_check_frozen(ganz_trainer *t, const char *path, ganz_frozen *found, ganz_error *err)
{
    const int most = translated(t);
    *found = (ganz_frozen){.bleu = -1};
    if (most == 0) return GANZ_OK;
    const ganz_decoder_options o = decoder_options(t, CPU_TOKENS);
    ganz_model *model;
    ganz_backend *be = NULL;
    ganz_decoder *decoder = NULL;
    ganz_status status;
    GANZ_TRY(ganz_model_open(&model, path, err));
    GANZ_CHECK(ganz_cpu_backend_open(&be, t->options.threads > 0 ? t->options.threads : ganz_cpu_count(), err));
    GANZ_CHECK(ganz_decoder_open(&decoder, be, &model->net, &model->weights, &o, err));
    GANZ_CHECK(ganz_valid_bleu(&t->valid, decoder, most, t->options.stop, &found->bleu, err));
    found->compared = t->counters.best_step > 0 ? most : 0;
    for (int i = 0; i < found->compared; i++) found->different += t->valid.lines[i] != t->best_lines[i];
out:
    ganz_decoder_close(&decoder);
    if (be) be->close(be);
    ganz_model_close(&model);
    return status;
}

static size_t bytes_of(const ganz_weights *w, size_t block)
{
    const size_t copies = w->copy ? block * ganz_type_bytes(w->be->product) : 0;
    return (w->grad ? 2 : 1) * block * sizeof(real) + copies;
}

size_t ganz_trainer_weight_bytes(const ganz_trainer *t)
{
    const size_t block = t->net.params.block,
                 others = t->optim.slot_count + t->scale_optim.slot_count + (t->average ? block : 0);
    size_t bytes = bytes_of(&t->weights, block) + others * sizeof(real);
    for (int i = 0; i < t->tutors.count; i++)
        bytes += bytes_of(&t->tutors.all[i].weights, t->tutors.all[i].net.params.block);
    return bytes;
}
