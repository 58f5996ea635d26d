/* ganz_train: the loop around the steps, with everything that goes to the folder of the run. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ganz/quantize.h"
#include "base/surroundings.h"
#include "train/folder.h"
#include "train/history.h"
#include "train/trainer.h"

enum { REPORT_LINES = 200 }; /* of the validation set */

typedef struct run {
    ganz_trainer t;
    const ganz_train_options *options;
    ganz_log log;
    ganz_folder files;
    double started;           /* now minus the seconds of earlier parts */
    double paused;            /* seconds since the last line of the log that were no training */
    double line_at;           /* when that line was written */
    int64_t line_tokens;      /* tokens at that line */
    double shown, drained;    /* when progress was last told, and the device last asked */
    double speed;             /* of the last line, or so far */
    double loss, accuracy;    /* of the last line; negative: none yet */
    double busy, busy_tokens; /* training of this part */
    bool early;
    ganz_frozen frozen; /* what the integer engine makes of the result */
    bool saved;         /* the last checkpoint holds all there is */
} run;

static bool stopping(const run *r) { return r->options->stop && *r->options->stop; }

/* ---- telling ------------------------------------------------------------------------------------ */

static double seconds_of(const run *r) { return ganz_seconds() - r->started; }

static bool quantizes(const run *r) { return r->options->quantize; }

/* Steps of the whole run; 0: unknown. */
static long long all_steps(const run *r)
{
    const ganz_recipe *const recipe = &r->t.recipe;
    long long sum = 0;
    if (!quantizes(r)) return recipe->steps;
    for (int row = -1; (row = ganz_phases_next(r->t.phases, row)) >= 0;)
        sum += ganz_phase_length(recipe, row, r->t.pass);
    return sum;
}

/* Part of the run that lies behind: by steps or by time, whichever ends it first. */
static double part_done(const run *r)
{
    const ganz_recipe *const recipe = &r->t.recipe;
    const long long steps = all_steps(r);
    const double by_steps = steps > 0 ? (double)r->t.counters.step / (double)steps : 0;
    const double by_time = recipe->time > 0 && !quantizes(r) ? seconds_of(r) / recipe->time : 0;
    return by_steps > by_time ? by_steps : by_time;
}

/* The same for the schedule of the rate, of which each phase has its own: what it ends with is a whole result. */
static double schedule_done(const run *r)
{
    if (!quantizes(r)) return part_done(r);
    return (double)r->t.counters.phase_step / (double)ganz_trainer_phase_length(&r->t);
}

static double epoch_of(const run *r)
{
    const uint64_t batches = ganz_loader_epoch_batches(r->t.loader);
    return (double)r->t.counters.epoch + (batches ? (double)r->t.counters.batch / (double)batches : 0);
}

static void tell(run *r, const char *event)
{
    const ganz_counters *const c = &r->t.counters;
    if (!r->options->progress) return;
    ganz_train_progress p = {.step = c->step, .steps = all_steps(r), .epoch = epoch_of(r), .event = event};
    p.phase = (int)c->phase;
    p.phase_name = r->t.phase->name;
    p.loss = c->counted > 0 ? c->loss / c->counted : r->loss;
    p.accuracy = c->counted > 0 ? c->right / c->counted : r->accuracy;
    p.tokens_per_second = r->speed;
    p.seconds = seconds_of(r);
    const double done = part_done(r);
    p.seconds_left = done > 0 ? p.seconds * fmax(0, 1 - done) / done : -1;
    r->options->progress(r->options->context, &p);
    r->shown = ganz_seconds();
}

/* Five times a second; the device is asked for its loss once a second only, because that makes it wait. */
static ganz_status tell_now_and_then(run *r, ganz_error *err)
{
    const double now = ganz_seconds();
    if (!r->options->progress || now - r->shown < 0.2) return GANZ_OK;
    if (now - r->drained >= 1) {
        GANZ_TRY(ganz_trainer_drain(&r->t, err));
        r->drained = now;
        const double spent = now - r->line_at - r->paused;
        if (spent > 0.5) r->speed = (double)(r->t.counters.tokens - r->line_tokens) / spent;
    }
    tell(r, NULL);
    return GANZ_OK;
}

static void tell_beginning(run *r)
{
    const ganz_trainer *const t = &r->t;
    const unsigned long long epoch = ganz_loader_epoch_batches(t->loader),
                             dropped = ganz_loader_epoch_dropped(t->loader);
    const ganz_recipe *const recipe = &t->recipe;
    const bool by_slots = recipe->batch == GANZ_BATCH_PACKED || recipe->slots < recipe->batch_tokens;
    char event[256];
    int n = snprintf(event, sizeof event, "%zu parameters on %s, %llu steps an epoch",
                     ganz_params_total(&t->net.params), t->be->name, epoch);
    if (dropped > 0)
        n += snprintf(event + n, sizeof event - (size_t)n, ", %llu pairs longer than %lld tokens left out", dropped,
                      by_slots ? recipe->slots : recipe->batch_tokens);
    if (t->counters.step > 0)
        snprintf(event + n, sizeof event - (size_t)n, ", from step %lld", (long long)t->counters.step);
    tell(r, event);
}

static void tell_phase(run *r)
{
    char event[96];
    snprintf(event, sizeof event, "phase %d: %s", (int)r->t.counters.phase, r->t.phase->name);
    tell(r, event);
}

/* ---- the log ------------------------------------------------------------------------------------ */

static void start_line(run *r)
{
    r->line_at = ganz_seconds();
    r->line_tokens = r->t.counters.tokens;
    r->paused = 0;
}

/* Training time since the last line goes to the totals of this part. */
static void settle(run *r)
{
    const double spent = ganz_seconds() - r->line_at - r->paused;
    const double tokens = (double)(r->t.counters.tokens - r->line_tokens);
    if (tokens > 0 && spent > 0) r->speed = tokens / spent;
    r->busy += spent;
    r->busy_tokens += tokens;
    start_line(r);
}

static ganz_log_record record_now(const run *r)
{
    ganz_log_record record = ganz_log_blank();
    record.step = (double)r->t.counters.step;
    record.epoch = epoch_of(r);
    record.tokens = (double)r->t.counters.tokens;
    record.seconds = seconds_of(r);
    if (quantizes(r)) record.phase = (double)r->t.counters.phase;
    return record;
}

static ganz_status log_training(run *r, ganz_error *err)
{
    ganz_counters *const c = &r->t.counters;
    GANZ_TRY(ganz_trainer_drain(&r->t, err));
    settle(r);
    ganz_log_record record = record_now(r);
    record.rate = r->t.rate;
    record.loss = r->loss = c->loss / c->counted;
    record.accuracy = r->accuracy = c->right / c->counted;
    record.speed = r->speed;
    GANZ_TRY(ganz_log_add(&r->log, &record, NULL, err));
    if (r->t.phase->learn_scales)
        GANZ_TRY(ganz_history_add(r->files.history, &r->t.net, &r->t.weights, c->step, (int)c->phase, err));
    c->log_lines = r->log.lines;
    c->logged = c->step;
    r->saved = false;
    tell(r, NULL);
    c->loss = c->right = c->counted = 0;
    r->t.be->zero(r->t.be, r->t.stepper.sums, 3 * sizeof(double));
    return GANZ_OK;
}

/* A run that goes on with other settings says so. */
static ganz_status log_changes(run *r, ganz_error *err)
{
    char event[sizeof r->t.changed + 64];
    if (!r->t.changed[0]) return GANZ_OK;
    const ganz_log_record record = record_now(r);
    GANZ_TRY(ganz_log_add(&r->log, &record, r->t.changed, err));
    r->t.counters.log_lines = r->log.lines;
    r->saved = false;
    snprintf(event, sizeof event, "goes on with %s", r->t.changed);
    tell(r, event);
    return GANZ_OK;
}

/* ---- models and checkpoints --------------------------------------------------------------------- */

static ganz_status save_checkpoint(run *r, ganz_error *err)
{
    const ganz_run_parts parts = ganz_trainer_parts(&r->t);
    const double started = ganz_seconds();
    GANZ_TRY(ganz_trainer_drain(&r->t, err));
    GANZ_TRY(ganz_trainer_probe(&r->t, err));
    GANZ_TRY(ganz_checkpoint_save(r->files.last, &parts, &r->t.counters, err));
    if (quantizes(r)) GANZ_TRY(ganz_history_plot(r->files.history, r->files.history_svg, &r->t.net, err));
    const bool taught = r->t.tutors.count > 0;
    GANZ_TRY(ganz_log_plot(r->files.log, r->files.svg, quantizes(r) ? "Quantization" : "Training", taught, err));
    r->paused += ganz_seconds() - started;
    r->saved = true;
    if (r->options->save) *r->options->save = 0;
    tell(r, NULL);
    return GANZ_OK;
}

/* The models whose mean is wanted at the end: one at each regular save, the oldest of them removed. */
static ganz_status keep_model(run *r, ganz_error *err)
{
    const ganz_run_parts parts = ganz_trainer_parts(&r->t);
    const int64_t step = r->t.counters.step, old = step - r->t.recipe.save_every * r->t.recipe.average_last;
    char path[GANZ_PATH];
    GANZ_TRY(ganz_folder_model(&r->files, step, path, err));
    GANZ_TRY(ganz_checkpoint_model(path, &parts, ganz_trainer_model(&r->t), step, err));
    if (old <= 0) return GANZ_OK;
    GANZ_TRY(ganz_folder_model(&r->files, old, path, err));
    if (unlink(path) != 0 && errno != ENOENT) return ganz_fail_errno(err, "remove", path);
    return GANZ_OK;
}

static ganz_status average_kept(const run *r, const char *out, ganz_error *err)
{
    const int most = (int)r->t.recipe.average_last;
    const int64_t every = r->t.recipe.save_every;
    char(*const paths)[GANZ_PATH] = ganz_alloc((size_t)most, sizeof *paths);
    const char **const list = ganz_alloc((size_t)most, sizeof *list);
    ganz_status status = paths && list ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory");
    int count = 0;
    int64_t step = r->t.counters.step / every * every;
    for (; status == GANZ_OK && step > 0 && count < most; step -= every) {
        status = ganz_folder_model(&r->files, step, paths[count], err);
        list[count] = paths[count];
        if (status == GANZ_OK && ganz_exists(paths[count])) count++;
    }
    if (status == GANZ_OK && count > 0) status = ganz_average_models(list, count, out, err);
    ganz_free(list);
    ganz_free(paths);
    return status;
}

/* average.safetensors: the mean of the last models, or the running average. */
static ganz_status save_average(const run *r, ganz_error *err)
{
    const ganz_run_parts parts = ganz_trainer_parts(&r->t);
    if (r->t.recipe.average_last > 0) return average_kept(r, r->files.average, err);
    if (!r->t.average) return GANZ_OK;
    return ganz_checkpoint_model(r->files.average, &parts, r->t.average, r->t.counters.step, err);
}

/* The model as it stands: of a run that quantizes, in integers. */
static ganz_status save_model(run *r, const char *path, ganz_error *err)
{
    ganz_trainer *const t = &r->t;
    const ganz_run_parts parts = ganz_trainer_parts(t);
    if (!quantizes(r)) return ganz_checkpoint_model(path, &parts, ganz_trainer_model(t), t->counters.step, err);
    return ganz_trainer_save_codes(t, path, err);
}

/* ---- validation --------------------------------------------------------------------------------- */

/* By BLEU where there is one, else by loss. */
static bool is_better(const run *r, const ganz_log_record *record)
{
    const ganz_counters *const c = &r->t.counters;
    if (!ganz_trainer_chooses(&r->t)) return false;
    if (c->best_step == 0) return true;
    return isnan(record->valid_bleu) ? record->valid_loss < c->best_loss : record->valid_bleu > c->best_bleu;
}

static void tell_validation(run *r, const ganz_log_record *record, bool better)
{
    char event[160], bleu[32] = "";
    if (!isnan(record->valid_bleu)) snprintf(bleu, sizeof bleu, ", BLEU %.2f", record->valid_bleu);
    snprintf(event, sizeof event, "step %lld: validation loss %.4f, accuracy %.1f%%%s%s", (long long)record->step,
             record->valid_loss, 100 * record->valid_accuracy, bleu, better ? ", the best so far" : "");
    tell(r, event);
}

static ganz_status keep_best(run *r, const ganz_log_record *record, ganz_error *err)
{
    ganz_counters *const c = &r->t.counters;
    GANZ_TRY(save_model(r, r->files.best, err));
    if (r->t.best_lines) memcpy(r->t.best_lines, r->t.valid.lines, (size_t)r->t.valid.count * sizeof *r->t.best_lines);
    c->best_step = c->step;
    c->best_loss = record->valid_loss;
    c->best_bleu = isnan(record->valid_bleu) ? -1 : record->valid_bleu; /* any BLEU is better than none */
    return GANZ_OK;
}

static ganz_status validate(run *r, ganz_error *err)
{
    ganz_counters *const c = &r->t.counters;
    GANZ_TRY(ganz_trainer_drain(&r->t, err));
    const double started = ganz_seconds();
    ganz_log_record record = record_now(r);
    GANZ_TRY(ganz_trainer_validate(&r->t, &record, err));
    if (!isfinite(record.valid_loss))
        return ganz_fail(err, GANZ_EINVAL, "the validation loss is not a number at step %lld", (long long)c->step);
    const bool better = is_better(r, &record);
    if (better) GANZ_TRY(keep_best(r, &record, err));
    c->waited = better ? 0 : c->waited + 1;
    c->validated = c->step;
    GANZ_TRY(ganz_log_add(&r->log, &record, NULL, err));
    c->log_lines = r->log.lines;
    r->saved = false;
    r->paused += ganz_seconds() - started;
    tell_validation(r, &record, better);
    return GANZ_OK;
}

/* ---- the loop ----------------------------------------------------------------------------------- */

static bool due(long long every, int64_t step) { return every > 0 && step % every == 0; }

/* A look at the corpus changes nothing that could be validated. */
static bool validates(const run *r) { return r->t.valid.count > 0 && r->t.phase->inputs != GANZ_INPUTS_MEASURE; }

static bool phase_over(run *r)
{
    const ganz_recipe *const recipe = &r->t.recipe;
    if (quantizes(r)) return r->t.counters.phase_step >= ganz_trainer_phase_length(&r->t);
    if (recipe->steps > 0 && r->t.counters.step >= recipe->steps) return true;
    if (recipe->time > 0 && seconds_of(r) >= recipe->time) return true;
    r->early = recipe->patience > 0 && r->t.counters.waited >= recipe->patience;
    return r->early;
}

/* What has to happen after a step, always in this order: so a run that was stopped goes on as if it had not been. */
static ganz_status after_step(run *r, ganz_error *err)
{
    const ganz_recipe *const recipe = &r->t.recipe;
    const ganz_counters *const c = &r->t.counters;
    const int64_t step = c->step;
    const bool jump = quantizes(r) && c->phase_step == 1; /* how a phase begins is worth a line of its own */
    if ((jump || due(recipe->log_every, step)) && c->logged < step) GANZ_TRY(log_training(r, err));
    if (validates(r) && due(recipe->validate_every, step) && c->validated < step) GANZ_TRY(validate(r, err));
    if (due(recipe->save_every, step)) {
        if (recipe->average_last > 0) GANZ_TRY(keep_model(r, err));
        GANZ_TRY(save_checkpoint(r, err));
    } else if (r->options->save && *r->options->save) {
        GANZ_TRY(save_checkpoint(r, err));
        tell(r, "saved a checkpoint");
    }
    return tell_now_and_then(r, err);
}

static ganz_status run_phase(run *r, ganz_error *err)
{
    const ganz_counters *const c = &r->t.counters;
    while (!phase_over(r)) {
        if (stopping(r)) return ganz_fail(err, GANZ_ESTOPPED, "stopped");
        GANZ_TRY(ganz_trainer_step(&r->t, schedule_done(r), err));
        r->saved = false;
        GANZ_TRY(after_step(r, err));
    }
    if (c->logged < c->step) GANZ_TRY(log_training(r, err));
    if (validates(r) && c->validated < c->step) GANZ_TRY(validate(r, err));
    return c->phase == GANZ_PHASE_SCALES ? save_model(r, r->files.phase3, err) : GANZ_OK;
}

static ganz_status enter_phase(run *r, int row, ganz_error *err)
{
    GANZ_TRY(ganz_trainer_enter(&r->t, row, err));
    r->saved = false;
    tell_phase(r);
    return GANZ_OK;
}

/* The result of quantization, opened as translation opens it. */
static ganz_status freeze(run *r, ganz_error *err)
{
    if (r->t.counters.best_step == 0) GANZ_TRY(save_model(r, r->files.best, err)); /* nobody could choose */
    const char *const text = r->options->valid_source;
    if (text) GANZ_TRY(ganz_quantize_report(r->files.best, text, REPORT_LINES, r->files.path, err));
    return ganz_trainer_check_frozen(&r->t, r->files.best, &r->frozen, err);
}

static ganz_status train(run *r, ganz_error *err)
{
    const ganz_counters *const c = &r->t.counters;
    /* A stop may have come in the midst of a validation. */
    if (validates(r) && c->phase_step > 0 && due(r->t.recipe.validate_every, c->step) && c->validated < c->step)
        GANZ_TRY(after_step(r, err));
    GANZ_TRY(run_phase(r, err));
    for (int row; (row = ganz_phases_next(r->t.phases, (int)c->phase)) >= 0;) {
        GANZ_TRY(enter_phase(r, row, err));
        GANZ_TRY(run_phase(r, err));
    }
    if (!r->saved) GANZ_TRY(save_checkpoint(r, err));
    return quantizes(r) ? freeze(r, err) : save_average(r, err);
}

/* A stop keeps all that was done; a failure keeps what the last checkpoint holds, and says so. */
static ganz_status end(run *r, ganz_status status, ganz_error *err)
{
    if (status == GANZ_ESTOPPED && !r->saved) {
        const ganz_status saving = save_checkpoint(r, err);
        if (saving != GANZ_OK) status = saving;
    }
    if (status == GANZ_OK) return GANZ_OK;
    const ganz_error why = *err;
    const long long step = r->t.counters.step;
    const char *const last = r->files.last;
    if (status == GANZ_ESTOPPED) return ganz_fail(err, status, "stopped at step %lld; %s holds all of it", step, last);
    return ganz_exists(last) ? ganz_fail(err, status, "%s; the last good state is in %s", why.message, last) : status;
}

static void fill_report(const run *r, ganz_train_report *report)
{
    const ganz_counters *const c = &r->t.counters;
    *report = (ganz_train_report){.step = c->step, .tokens = c->tokens, .best_step = c->best_step, .early = r->early};
    report->parameters = (long long)ganz_params_total(&r->t.net.params);
    report->seconds = seconds_of(r);
    report->tokens_per_second = r->busy > 0 ? r->busy_tokens / r->busy : 0;
    report->best_bleu = c->best_step ? c->best_bleu : -1;
    report->best_loss = c->best_step ? c->best_loss : -1;
    report->pass_bytes = r->t.stepper.device.size;
    report->weight_bytes = ganz_trainer_weight_bytes(&r->t);
    report->products = r->t.net.sites + 2 * r->t.net.pairs;
    const bool all = r->t.recipe.products == GANZ_PRODUCTS_ALL;
    report->integer_products = !quantizes(r) ? 0 : all ? report->products : r->t.net.sites;
    report->compared = r->frozen.compared;
    report->different = r->frozen.different;
    report->engine_bleu = r->frozen.compared ? r->frozen.bleu : -1;
}

static ganz_status check_options(const ganz_train_options *o, ganz_error *err)
{
    if (!o->out) return ganz_fail(err, GANZ_EINVAL, "training needs a folder for its files");
    if (o->teacher_count < 0 || (o->teacher_count > 0 && !o->teachers))
        return ganz_fail(err, GANZ_EINVAL, "%d teachers, but no names of them", o->teacher_count);
    if (!o->vocab && !o->model && !o->quantize) return ganz_fail(err, GANZ_EINVAL, "training needs a vocabulary");
    if (!o->valid_source && !o->quantize && o->recipe.patience > 0)
        return ganz_fail(err, GANZ_EINVAL, "patience counts validations and needs a text for them; 0 does without");
    return GANZ_OK;
}

/* The folder is touched last, when all else has been found in order. */
static ganz_status open_run(run *r, ganz_error *err)
{
    GANZ_TRY(check_options(r->options, err));
    GANZ_TRY(ganz_folder_name(&r->files, r->options->out, err));
    if (!r->options->resume && ganz_exists(r->files.last))
        return ganz_fail(err, GANZ_EINVAL, "%s holds a run already: resume it, or choose another folder",
                         r->options->out);
    ganz_train_options own = *r->options;
    if (own.recipe.learn_from == GANZ_LEARN_FROM_AUTO)
        own.recipe.learn_from = own.quantize || own.teacher_count > 0 ? GANZ_LEARN_FROM_MODEL : GANZ_LEARN_FROM_CORPUS;
    if (own.teacher_count == 0 && own.recipe.learn_from == GANZ_LEARN_FROM_MODEL && own.model) {
        own.teachers = &r->options->model;
        own.teacher_count = 1;
    }
    if (own.quantize && ganz_exists(r->files.last)) own.model = r->files.last; /* all of the model is there too */
    if (own.quantize && !own.model) return ganz_fail(err, GANZ_EINVAL, "quantizing needs a model");
    GANZ_TRY(ganz_trainer_open(&r->t, &own, err));
    if (ganz_exists(r->files.last)) GANZ_TRY(ganz_trainer_restore(&r->t, r->files.last, err));
    GANZ_TRY(ganz_folder_make(&r->files, err));
    GANZ_TRY(ganz_log_open(&r->log, r->files.log, r->t.counters.log_lines, err));
    if (quantizes(r)) GANZ_TRY(ganz_history_keep(r->files.history, r->t.counters.logged, err));
    ganz_folder_sweep(&r->files);
    r->saved = r->t.counters.step > 0;
    r->started = ganz_seconds() - r->log.seconds;
    start_line(r);
    tell_beginning(r);
    if (quantizes(r)) tell_phase(r);
    return log_changes(r, err);
}

void ganz_train_defaults(ganz_train_options *options)
{
    *options = (ganz_train_options){.device = "cpu", .threads = 1};
    ganz_recipe_defaults(&options->recipe);
}

ganz_status ganz_train_recipe(const char *out, ganz_recipe *recipe, bool *found, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    ganz_folder files;
    GANZ_TRY(ganz_folder_name(&files, out, err));
    *found = ganz_exists(files.last);
    return *found ? ganz_checkpoint_recipe(files.last, recipe, err) : GANZ_OK;
}

ganz_status ganz_model_recipe(const char *model, ganz_recipe *recipe, bool *found, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    ganz_container *file;
    ganz_origin origin;
    GANZ_TRY(ganz_container_open(&file, model, err));
    const ganz_status status = ganz_checkpoint_origin(file, recipe, &origin, err);
    *found = status == GANZ_OK && origin.recipe;
    ganz_container_close(&file);
    return status;
}

ganz_status ganz_train(const ganz_train_options *options, ganz_train_report *report, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    run *const r = ganz_alloc(1, sizeof *r);
    if (!r) return ganz_fail(err, GANZ_ENOMEM, "out of memory");
    ganz_error own;
    if (!err) err = &own;
    r->options = options;
    r->log.file = -1;
    r->loss = r->accuracy = -1;
    ganz_status status = open_run(r, err);
    if (status == GANZ_OK) {
        status = end(r, train(r, err), err);
        if (report) fill_report(r, report);
    }
    ganz_log_close(&r->log);
    ganz_trainer_close(&r->t);
    ganz_free(r);
    return status;
}
