/* Opening a trainer: model or fresh parameters, corpus, device, teachers, memory of a pass, validation text. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "train/shape.h"
#include "train/trainer_state.h"

/* Several processes of a machine share its GPUs by their number there, where none is named, and its cores, unless each
 * has been given some already. */
static void share_machine(const ganz_trainer *t, char device[32], int *threads)
{
    const ganz_ranks *const r = t->ranks;
    const int gpus = strcmp(device, "cuda") == 0 ? ganz_cuda_devices() : 0;
    if (gpus > 0) snprintf(device, 32, "cuda:%d", r->local % gpus);
    if (*threads == 0 && ganz_cpu_count() >= sysconf(_SC_NPROCESSORS_ONLN))
        *threads = ganz_cpu_count() > r->locals ? ganz_cpu_count() / r->locals : 1;
}

static ganz_status open_device(ganz_trainer *t, ganz_error *err)
{
    static const char *const words[] = {[GANZ_PRECISION_AUTO] = "auto",
                                        [GANZ_PRECISION_FP32] = "fp32",
                                        [GANZ_PRECISION_TF32] = "tf32",
                                        [GANZ_PRECISION_BF16] = "bf16"};
    char device[32];
    int threads = t->options.threads;
    snprintf(device, sizeof device, "%s", t->options.device ? t->options.device : "cpu");
    if (t->ranks) share_machine(t, device, &threads);
    return ganz_device_open(&t->be, device, words[t->recipe.precision], threads, err);
}

/* The shape of a model to begin with is its own; a fresh one is Tensor2Tensor's in the sizes of the recipe. */
static ganz_config config_of(const ganz_trainer *t)
{
    const ganz_recipe *const r = &t->recipe;
    if (t->start) return t->info.config;
    ganz_config config = ganz_recipe_config(r, t->corpus->vocab_size, GANZ_TRAIN_POSITIONS);
    if (t->corpus->source_vocab_size != config.vocab) config.source_vocab = t->corpus->source_vocab_size;
    return config;
}

/* The network's timing table reaches to the longest output of the longest input, as a model's does. */
static ganz_status open_net(ganz_trainer *t, ganz_error *err)
{
    const ganz_recipe *const r = &t->recipe;
    t->info.config = config_of(t);
    if (t->info.config.max_positions < r->slots) t->info.config.max_positions = (int)r->slots;
    t->info.command = t->options.command;
    if (t->options.source_language) t->info.source_language = t->options.source_language;
    if (t->options.target_language) t->info.target_language = t->options.target_language;
    if (t->corpus->formal_mark) t->info.formal_mark = t->corpus->formal_mark;
    if (t->corpus->informal_mark) t->info.informal_mark = t->corpus->informal_mark;
    ganz_config config = t->info.config;
    config.max_positions = ganz_search_limit(t->info.config.max_positions);
    GANZ_TRY(ganz_config_check(&config, err));
    if (config.recurrent)
        return ganz_fail(
            err, GANZ_EUNSUPPORTED,
            "models with recurrent decoders do not train; ganz quantize --calibrate makes integers of them");
    GANZ_TRY(ganz_net_open(&t->net, &config, err));
    const ganz_scheme scheme = ganz_recipe_scheme(r);
    if (t->options.quantize) GANZ_TRY(ganz_net_check_exceptions(&t->net, &scheme, err));
    ganz_net_set_scheme(&t->net, &scheme);
    if (ganz_trainer_learns_rows(t)) GANZ_TRY(ganz_net_learn_rows(&t->net, err));
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
    ganz_recipe_note_config(r, &t->info.config);
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

double ganz_trainer_average_decay(const ganz_trainer *t)
{
    return t->options.quantize ? t->recipe.phase_average : t->recipe.average_decay;
}

/* Ranges of an integer model's inputs: scale times largest code. */
static void take_ranges(real *ranges, ganz_model *m)
{
    for (int i = 0; i < m->net.sites; i++) {
        const ganz_site *const site = &m->net.site[i];
        ranges[site->input.place] =
            m->weights.input_scale[site->input.place] * (real)ganz_code_max(site->rule.input_bits, true);
    }
    for (int i = 0; i < m->net.pairs; i++) {
        const ganz_pair *const pair = &m->net.pair[i];
        const int places[] = {pair->q.place, pair->k.place, pair->v.place};
        for (int j = 0; j < 3; j++)
            ranges[places[j]] = m->weights.input_scale[places[j]] * (real)ganz_code_max(pair->rule.input_bits, true);
    }
}

/* Its biases too, where they are no codes: they may hold what its rounding takes away on average. */
static void take_biases(const ganz_trainer *t, const ganz_model *m)
{
    for (int i = 0; i < m->net.sites; i++) {
        const ganz_site *const site = &m->net.site[i];
        if (site->bias < 0 || !site->rule.integer || ganz_site_codes_bias(site) || !t->net.site[i].rule.integer)
            continue;
        if (site == m->net.logits) continue; /* its bans are softer here, and its inputs the best of all */
        t->be->upload(t->be, t->weights.master + t->net.params.list[t->net.site[i].bias].offset,
                      m->weights.value[site->bias], (size_t)site->out * sizeof(real));
    }
}

/* Whether every product that is to be learned has one step for its input there. */
static bool has_all_steps(const ganz_trainer *t, const ganz_model *m)
{
    bool all = !ganz_scheme_has_columns(&m->info.scheme);
    for (int i = 0; i < m->net.sites; i++) all &= m->net.site[i].rule.integer || !t->net.site[i].rule.integer;
    for (int i = 0; i < m->net.pairs; i++) all &= m->net.pair[i].rule.integer || !t->net.pair[i].rule.integer;
    return all;
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
    if (!m->info.integer) status = ganz_fail(err, GANZ_EINVAL, "%s is no integer model: it has no steps", path);
    else if (!ganz_config_same(&m->info.config, &t->info.config))
        status = ganz_fail(err, GANZ_EINVAL, "%s has another shape than %s", path, t->options.model);
    else if (m->info.scheme.float_attention && t->recipe.products == GANZ_PRODUCTS_ALL)
        status = ganz_fail(err, GANZ_EINVAL, "%s has no steps for attention", path);
    else if (!has_all_steps(t, m))
        status =
            ganz_fail(err, GANZ_EINVAL, "%s lacks steps: products in it are float, or have steps for columns", path);
    else if (!(t->ranges = ganz_alloc(scales, sizeof *t->ranges)))
        status = ganz_fail(err, GANZ_ENOMEM, "out of memory for %zu ranges", scales);
    else {
        take_ranges(t->ranges, m);
        take_biases(t, m);
    }
    ganz_model_close(&m);
    return status;
}

static ganz_status open_weights(ganz_trainer *t, ganz_error *err)
{
    const size_t count = t->net.params.block;
    GANZ_TRY(ganz_weights_open(&t->weights, &t->net, t->be, true, err));
    real *const block = ganz_alloc(count, sizeof *block);
    if (!block) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %zu parameters", count);
    ganz_params_init(&t->net.params, (uint64_t)t->recipe.seed, block);
    const ganz_status status = t->start ? ganz_model_read_params(t->start, &t->net, block, err) : GANZ_OK;
    ganz_soften_bans(&t->net, block);
    t->be->upload(t->be, t->weights.master, block, count * sizeof *block);
    ganz_free(block);
    GANZ_TRY(status);
    if (t->options.quantize && t->recipe.method == GANZ_METHOD_LEARNED)
        GANZ_TRY(ganz_weights_trim(&t->weights, &t->net, err));
    if (t->options.scales_of) GANZ_TRY(open_ranges(t, err));
    if (ganz_trainer_average_decay(t) > 0) {
        void *average;
        GANZ_TRY(t->be->alloc(t->be, &average, count * sizeof(real), err));
        t->average = average;
        t->be->copy(t->be, t->average, t->weights.master, count * sizeof(real));
    }
    GANZ_TRY(ganz_optim_open(&t->optim, &t->net, &t->weights, &t->recipe, GANZ_OPTIM_PARAMETERS, err));
    if (t->options.quantize)
        GANZ_TRY(ganz_optim_open(&t->scale_optim, &t->net, &t->weights, &t->recipe, GANZ_OPTIM_SCALES, err));
    if (ganz_trainer_learns_rows(t))
        GANZ_TRY(ganz_optim_open(&t->row_optim, &t->net, &t->weights, &t->recipe, GANZ_OPTIM_ROWS, err));
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

void ganz_trainer_apply_phase(ganz_trainer *t, const ganz_phase *phase)
{
    ganz_net_set_states(&t->net, phase->weights, phase->inputs);
    t->stepper.train_weights = phase->train_weights;
    t->stepper.learn_scales = phase->learn_scales;
    t->stepper.options.dropout = phase->dropout ? dropout_of(t) : (ganz_dropout){0};
}

static ganz_share share_of(const ganz_trainer *t)
{
    return ganz_share_of((int)t->recipe.parts, t->ranks ? t->ranks->rank : 0, t->ranks ? t->ranks->size : 1);
}

/* Never more than a whole step, and never less than one row. */
static ganz_status open_stepper(ganz_trainer *t, ganz_error *err)
{
    const ganz_recipe *const r = &t->recipe;
    const bool packed = r->batch == GANZ_BATCH_PACKED;
    const long long step = packed ? r->rows * r->slots : r->batch_tokens;
    long long tokens = r->micro_tokens ? r->micro_tokens : t->be->host ? GANZ_CPU_TOKENS : GANZ_GPU_TOKENS;
    if (tokens > step) tokens = step;
    if (tokens < r->slots) tokens = r->slots;
    if (tokens > INT32_MAX / 2) return ganz_fail(err, GANZ_ELIMIT, "a pass over %lld tokens is too large", tokens);
    const long long rows = packed ? r->rows : tokens;
    const ganz_stepper_options o = {.tokens = (int)tokens,
                                    .rows = (int)(rows < tokens ? rows : tokens),
                                    .slots = (int)r->slots,
                                    .dropout = dropout_of(t),
                                    .smoothing = (real)r->label_smoothing,
                                    .mean_rows = packed ? (int)r->mean_rows : 0,
                                    .mask_rows = packed ? (int)r->mask_rows : 0,
                                    .parts = (int)r->parts,
                                    .share = share_of(t),
                                    .tutors = &t->tutors};
    ganz_status status = ganz_stepper_open(&t->stepper, &t->net, &t->weights, &o, err);
    for (int row = -1; status == GANZ_OK && (row = ganz_phases_next(t->phases, row)) >= 0;) {
        ganz_trainer_apply_phase(t, &ganz_phases[row]);
        status = ganz_stepper_reserve(&t->stepper, err);
    }
    if (status != GANZ_ENOMEM || !err) return status;
    const ganz_error why = *err;
    return ganz_fail(err, status, "%s; less than %lld micro-tokens would need less", why.message, tokens);
}

ganz_decoder_options ganz_trainer_decoder_options(const ganz_trainer *t, int tokens)
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
    const ganz_decoder_options o = ganz_trainer_decoder_options(t, t->be->host ? GANZ_CPU_TOKENS : 2 * GANZ_GPU_TOKENS);
    if (t->options.quantize) {
        t->best_lines = ganz_alloc((size_t)t->valid.count, sizeof *t->best_lines);
        if (!t->best_lines) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the validation set");
    }
    return ganz_decoder_open(&t->decoder, t->be, &t->net, &t->weights, &o, err);
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
    else if (o->vocab) GANZ_TRY(ganz_vocab_open_any(&t->vocab, o->vocab, err));
    GANZ_TRY(ganz_corpus_open(&t->corpus, o->train, err));
    if (t->vocab) GANZ_TRY(ganz_corpus_fits(t->corpus, t->vocab, err));
    if (t->vocab)
        GANZ_TRY(ganz_model_check_marks(t->corpus->formal_mark, t->corpus->informal_mark, t->vocab, o->train, err));
    GANZ_TRY(open_net(t, err));
    GANZ_TRY(open_device(t, err));
    GANZ_TRY(open_weights(t, err));
    GANZ_TRY(open_tutors(t, err));
    GANZ_TRY(open_loader(t, err));
    GANZ_TRY(ganz_exchange_open(&t->exchange, t->ranks, (int)t->recipe.parts, t->net.params.block,
                                (size_t)t->net.scales, err));
    GANZ_TRY(open_stepper(t, err));
    GANZ_TRY(open_valid(t, err));
    if (t->start) GANZ_TRY(take_over(t, err));
    return ganz_trainer_begin(t, ganz_phases_next(t->phases, -1), err);
}

ganz_status ganz_trainer_wire(ganz_trainer *t, ganz_error *err)
{
    ganz_wires *wires;
    if (!t->ranks) return GANZ_OK;
    GANZ_TRY(ganz_nccl_open(&wires, t->ranks, t->be->stream, err));
    if (!wires) return GANZ_OK;
    return ganz_ranks_agree(t->ranks, ganz_exchange_wire(&t->exchange, wires, t->be, t->net.params.block, err), err);
}

ganz_status ganz_trainer_open(ganz_trainer **trainer, const ganz_train_options *options, ganz_error *err)
{
    return ganz_trainer_open_shared(trainer, options, NULL, err);
}

ganz_status ganz_trainer_open_shared(ganz_trainer **trainer, const ganz_train_options *options, ganz_ranks *ranks,
                                     ganz_error *err)
{
    ganz_trainer *t = *trainer = ganz_alloc(1, sizeof *t);
    if (!t) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a trainer");
    t->options = *options;
    t->ranks = ranks;
    t->recipe = options->recipe;
    const ganz_status status = open_parts(t, err);
    if (status != GANZ_OK) ganz_trainer_close(trainer);
    return status;
}

void ganz_trainer_close(ganz_trainer **trainer)
{
    ganz_trainer *const t = *trainer;
    if (!t) return;
    ganz_decoder_close(&t->decoder);
    ganz_valid_close(&t->valid);
    ganz_stepper_close(&t->stepper);
    ganz_exchange_close(&t->exchange);
    ganz_loader_close(&t->loader);
    ganz_optim_close(&t->optim);
    ganz_optim_close(&t->scale_optim);
    ganz_optim_close(&t->row_optim);
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
    ganz_free(t);
    *trainer = NULL;
}
