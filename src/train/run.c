/* ganz_train: the schedule of a run. The trainer makes steps, validations and saves; their events become lines of the
 * log, progress and files of the folder. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "ganz/quantize.h"
#include "train/checkpoint.h"
#include "train/crew.h"
#include "base/surroundings.h"
#include "train/folder.h"
#include "train/history.h"
#include "train/log.h"
#include "train/phases.h"
#include "train/trainer.h"

enum { REPORT_LINES = 200, CALIBRATION_LINES = 500 }; /* of the validation set */

typedef struct run {
    ganz_ranks *ranks; /* processes that share the run, or NULL */
    ganz_trainer *t;
    const ganz_train_options *options;
    const ganz_recipe *recipe; /* of the trainer */
    ganz_trainer_facts facts;
    ganz_event at; /* the last one */
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
    ganz_frozen frozen; /* translations of the learned model by the integer engine */
    ganz_frozen rival;  /* of the calibrated one; nothing compared: there is none */
    bool calibrated;    /* which is the better one */
    bool saved;         /* the last checkpoint holds the run as it is */
} run;

static bool stopping(const run *r) { return ganz_flag_is_set(r->options->stop); }

/* ---- telling ------------------------------------------------------------------------------------ */

static double seconds_of(const run *r) { return ganz_seconds() - r->started; }

static bool quantizes(const run *r) { return r->options->quantize; }

/* Finished part of the run: by steps or by time, whichever ends it first. */
static double part_done(const run *r)
{
    const double by_steps = r->facts.steps > 0 ? (double)r->at.now.step / (double)r->facts.steps : 0;
    const double by_time = r->recipe->time > 0 && !quantizes(r) ? seconds_of(r) / r->recipe->time : 0;
    return by_steps > by_time ? by_steps : by_time;
}

/* The same for the schedule of the rate, of which each phase has its own: each ends with a finished model. */
static double schedule_done(const run *r)
{
    if (!quantizes(r)) return part_done(r);
    return (double)r->at.now.phase_step / (double)r->at.phase_steps;
}

static void tell(run *r, const char *event)
{
    const ganz_event *const at = &r->at;
    if (!r->options->progress) return;
    ganz_train_progress p = {.step = at->now.step, .steps = r->facts.steps, .epoch = at->epoch, .event = event};
    p.phase = (int)at->now.phase;
    p.phase_label = ganz_phase_label((double)at->now.phase);
    p.phase_name = at->phase_name;
    p.loss = at->now.counted > 0 ? at->now.loss / at->now.counted : r->loss;
    p.accuracy = at->now.counted > 0 ? at->now.right / at->now.counted : r->accuracy;
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
        GANZ_TRY(ganz_trainer_drain(r->t, &r->at, err));
        r->drained = now;
        const double spent = now - r->line_at - r->paused;
        if (spent > 0.5) r->speed = (double)(r->at.now.tokens - r->line_tokens) / spent;
    }
    tell(r, NULL);
    return GANZ_OK;
}

static void tell_beginning(run *r)
{
    const ganz_trainer_facts *const f = &r->facts;
    char event[256];
    int n = snprintf(event, sizeof event, "%zu parameters on %s, %llu steps an epoch", f->parameters, f->device,
                     (unsigned long long)f->epoch_steps);
    if (f->left_out > 0)
        n += snprintf(event + n, sizeof event - (size_t)n, ", %llu pairs longer than %lld tokens left out",
                      (unsigned long long)f->left_out, (long long)f->longest);
    if (r->ranks) n += snprintf(event + n, sizeof event - (size_t)n, ", shared by %d processes", r->ranks->size);
    if (r->at.now.step > 0)
        snprintf(event + n, sizeof event - (size_t)n, ", from step %lld", (long long)r->at.now.step);
    tell(r, event);
}

static void tell_phase(run *r)
{
    char event[96];
    snprintf(event, sizeof event, "%s: %s", ganz_phase_label((double)r->at.now.phase), r->at.phase_name);
    tell(r, event);
}

/* ---- the log ------------------------------------------------------------------------------------ */

static void start_line(run *r)
{
    r->line_at = ganz_seconds();
    r->line_tokens = r->at.now.tokens;
    r->paused = 0;
}

/* Training time since the last line goes to the totals of this part. */
static void settle(run *r)
{
    const double spent = ganz_seconds() - r->line_at - r->paused;
    const double tokens = (double)(r->at.now.tokens - r->line_tokens);
    if (tokens > 0 && spent > 0) r->speed = tokens / spent;
    r->busy += spent;
    r->busy_tokens += tokens;
    start_line(r);
}

static ganz_log_record record_now(const run *r)
{
    ganz_log_record record = ganz_log_blank();
    record.step = (double)r->at.now.step;
    record.epoch = r->at.epoch;
    record.tokens = (double)r->at.now.tokens;
    record.seconds = seconds_of(r);
    if (quantizes(r)) record.phase = (double)r->at.now.phase;
    return record;
}

static ganz_status log_training(run *r, ganz_error *err)
{
    GANZ_TRY(ganz_trainer_log(r->t, &r->at, err));
    settle(r);
    ganz_log_record record = record_now(r);
    record.rate = r->at.rate;
    record.loss = r->loss = r->at.loss;
    record.accuracy = r->accuracy = r->at.accuracy;
    record.speed = r->speed;
    r->saved = false;
    GANZ_TRY(ganz_log_add(&r->log, &record, NULL, err));
    GANZ_TRY(ganz_trainer_log_scales(r->t, r->files.history, err));
    tell(r, NULL);
    r->at = ganz_trainer_event(r->t); /* the means begin anew */
    return GANZ_OK;
}

/* A run that goes on with other settings says so. */
static ganz_status log_changes(run *r, ganz_error *err)
{
    const char *const changes = ganz_trainer_changes(r->t);
    char event[640];
    if (!changes[0]) return GANZ_OK;
    const ganz_log_record record = record_now(r);
    GANZ_TRY(ganz_log_add(&r->log, &record, changes, err));
    r->saved = false;
    snprintf(event, sizeof event, "goes on with %s", changes);
    tell(r, event);
    return GANZ_OK;
}

/* ---- models and checkpoints --------------------------------------------------------------------- */

static ganz_status plot(const run *r, ganz_error *err)
{
    const char *const title = quantizes(r) ? "Quantization" : "Training";
    GANZ_TRY(ganz_trainer_plot_scales(r->t, r->files.history, r->files.history_svg, err));
    return ganz_log_plot(r->files.log, r->files.svg, title, r->facts.taught, err);
}

static ganz_status save_checkpoint(run *r, ganz_error *err)
{
    const double started = ganz_seconds();
    GANZ_TRY(ganz_trainer_save(r->t, r->files.last, r->log.lines, &r->at, err));
    GANZ_TRY(plot(r, err));
    r->paused += ganz_seconds() - started;
    r->saved = true;
    if (r->options->save) ganz_flag_clear(r->options->save);
    tell(r, NULL);
    return GANZ_OK;
}

/* The models whose mean is wanted at the end: one at each regular save, the oldest of them removed. */
static ganz_status keep_model(const run *r, ganz_error *err)
{
    const int64_t step = r->at.now.step, old = step - r->recipe->save_every * r->recipe->average_last;
    char path[GANZ_PATH];
    GANZ_TRY(ganz_folder_model(&r->files, step, path, err));
    GANZ_TRY(ganz_trainer_save_model(r->t, path, err));
    if (old <= 0) return GANZ_OK;
    GANZ_TRY(ganz_folder_model(&r->files, old, path, err));
    if (unlink(path) != 0 && errno != ENOENT) return ganz_fail_errno(err, "remove", path);
    return GANZ_OK;
}

static ganz_status average_kept(const run *r, const char *out, ganz_error *err)
{
    const int most = (int)r->recipe->average_last;
    const int64_t every = r->recipe->save_every;
    char(*const paths)[GANZ_PATH] = ganz_alloc((size_t)most, sizeof *paths);
    const char **const list = ganz_alloc((size_t)most, sizeof *list);
    ganz_status status = paths && list ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory");
    int count = 0;
    int64_t step = r->at.now.step / every * every;
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
    if (r->recipe->average_last > 0) return average_kept(r, r->files.average, err);
    return r->facts.averages ? ganz_trainer_save_model(r->t, r->files.average, err) : GANZ_OK;
}

/* ---- validation --------------------------------------------------------------------------------- */

static void tell_validation(run *r)
{
    const ganz_event *const at = &r->at;
    char event[160], bleu[32] = "";
    if (!isnan(at->bleu)) snprintf(bleu, sizeof bleu, ", BLEU %.2f", at->bleu);
    snprintf(event, sizeof event, "step %lld: validation loss %.4f, accuracy %.1f%%%s%s", (long long)at->now.step,
             at->loss, 100 * at->accuracy, bleu, at->better ? ", the best so far" : "");
    tell(r, event);
}

static ganz_status validate(run *r, ganz_error *err)
{
    const double started = ganz_seconds();
    ganz_log_record record = record_now(r);
    GANZ_TRY(ganz_trainer_validate(r->t, r->files.best, &r->at, err));
    record.valid_loss = r->at.loss;
    record.valid_accuracy = r->at.accuracy;
    record.valid_bleu = r->at.bleu;
    r->saved = false;
    GANZ_TRY(ganz_log_add(&r->log, &record, NULL, err));
    r->paused += ganz_seconds() - started;
    tell_validation(r);
    return GANZ_OK;
}

/* ---- the loop ----------------------------------------------------------------------------------- */

static bool due(long long every, int64_t step) { return every > 0 && step % every == 0; }

static bool phase_over(run *r)
{
    const ganz_counters *const now = &r->at.now;
    if (quantizes(r)) return now->phase_step >= r->at.phase_steps;
    if (r->recipe->steps > 0 && now->step >= r->recipe->steps) return true;
    if (r->recipe->time > 0 && seconds_of(r) >= r->recipe->time) return true;
    r->early = r->recipe->patience > 0 && now->waited >= r->recipe->patience;
    return r->early;
}

/* The order is always the same: so a run that was stopped between two of these goes on as if it had not been. */
static ganz_status after_step(run *r, ganz_error *err)
{
    const ganz_recipe *const recipe = r->recipe;
    const ganz_counters now = r->at.now;
    const bool jump = quantizes(r) && now.phase_step == 1; /* how a phase begins is worth a line of its own */
    if ((jump || due(recipe->log_every, now.step)) && now.logged < now.step) GANZ_TRY(log_training(r, err));
    if (r->at.validates && due(recipe->validate_every, now.step) && now.validated < now.step)
        GANZ_TRY(validate(r, err));
    if (due(recipe->save_every, now.step)) {
        if (recipe->average_last > 0) GANZ_TRY(keep_model(r, err));
        GANZ_TRY(save_checkpoint(r, err));
    } else if (ganz_flag_is_set(r->options->save)) {
        GANZ_TRY(save_checkpoint(r, err));
        tell(r, "saved a checkpoint");
    }
    return tell_now_and_then(r, err);
}

static ganz_status run_phase(run *r, ganz_error *err)
{
    while (!phase_over(r)) {
        if (stopping(r)) return ganz_fail(err, GANZ_ESTOPPED, "stopped");
        GANZ_TRY(ganz_trainer_step(r->t, schedule_done(r), &r->at, err));
        r->saved = false;
        GANZ_TRY(after_step(r, err));
    }
    if (r->at.now.logged < r->at.now.step) GANZ_TRY(log_training(r, err));
    if (r->at.validates && r->at.now.validated < r->at.now.step) GANZ_TRY(validate(r, err));
    return r->at.now.phase == GANZ_PHASE_SCALES ? ganz_trainer_save_model(r->t, r->files.phase3, err) : GANZ_OK;
}

static ganz_status enter_phase(run *r, int row, ganz_error *err)
{
    GANZ_TRY(ganz_trainer_enter(r->t, row, &r->at, err));
    r->saved = false;
    tell_phase(r);
    return GANZ_OK;
}

/* ---- learned or calibrated ---------------------------------------------------------------------- */

/* Where learning can be compared with calibration at all. */
static bool compares(const run *r)
{
    return r->options->compare && r->recipe->keep == GANZ_KEEP_BETTER && r->options->model &&
           r->recipe->method == GANZ_METHOD_LEARNED && r->frozen.compared > 0;
}

/* The same widths by measured ranges: the largest values, or below 8 bits those of KL. */
static ganz_status calibrate(const run *r, ganz_error *err)
{
    const ganz_recipe *const q = r->recipe;
    char command[2400];
    ganz_calibration_report report;
    ganz_calibration how;
    ganz_calibration_defaults(&how);
    snprintf(command, sizeof command, "%s (calibrated: on the validation text better than what was learned)",
             r->facts.command ? r->facts.command : "ganz quantize");
    how.method = q->bits < 8 ? GANZ_METHOD_KL : GANZ_METHOD_MAX;
    how.bits = (int)q->bits;
    how.weight_bits = (int)q->weight_bits;
    how.activation_bits = (int)q->activation_bits;
    how.attention_bits = (int)q->attention_bits;
    how.bias_bits = (int)q->bias_bits;
    how.dense = q->products == GANZ_PRODUCTS_DENSE;
    how.exceptions = q->exceptions;
    how.per_row = q->per_row;
    if (q->weight_range != GANZ_WEIGHT_RANGE_LEARNED) how.weight_range = q->weight_range;
    how.float_lookup = q->float_lookup;
    how.power_of_two = q->power_of_two;
    how.source = r->options->valid_source;
    how.most_lines = CALIBRATION_LINES;
    how.threads = r->options->threads;
    how.command = command;
    how.stop = r->options->stop;
    return ganz_calibrate(r->options->model, r->files.calibrated, &how, &report, err);
}

static ganz_status copy_file(const char *from, const char *to, ganz_error *err)
{
    ganz_contents file;
    ganz_output *out = NULL;
    GANZ_TRY(ganz_contents_read(&file, from, err));
    ganz_status status = ganz_output_open(&out, to, err);
    if (status == GANZ_OK) status = ganz_output_write(out, file.data, file.bytes, err);
    if (status == GANZ_OK) status = ganz_output_finish(&out, err);
    ganz_output_abandon(&out);
    ganz_contents_free(&file);
    return status;
}

static ganz_status rename_file(const char *from, const char *to, ganz_error *err)
{
    return rename(from, to) == 0 ? GANZ_OK : ganz_fail_errno(err, "rename", from);
}

/* Small models may lose by learning more than they gain: the better one by BLEU is kept, the learned one of equals. */
static ganz_status compare_with_calibration(run *r, ganz_error *err)
{
    const ganz_folder *const f = &r->files;
    char note[160];
    if (!compares(r)) return GANZ_OK;
    tell(r, "calibrating, to compare");
    GANZ_TRY(r->options->rival ? copy_file(r->options->rival, f->calibrated, err) : calibrate(r, err));
    ganz_status status = ganz_trainer_check_frozen(r->t, f->calibrated, &r->rival, err);
    r->calibrated = status == GANZ_OK && r->rival.bleu > r->frozen.bleu;
    if (!r->calibrated) unlink(f->calibrated);
    GANZ_TRY(status);
    snprintf(note, sizeof note, "BLEU %.2f by learning, %.2f by calibration: the %s model is best.safetensors",
             r->frozen.bleu, r->rival.bleu, r->calibrated ? "calibrated" : "learned");
    const ganz_log_record record = record_now(r);
    GANZ_TRY(ganz_log_add(&r->log, &record, note, err));
    tell(r, note);
    if (!r->calibrated) return GANZ_OK;
    GANZ_TRY(rename_file(f->best, f->learned, err));
    return rename_file(f->calibrated, f->best, err);
}

/* A run that goes on has its own learned model as the best again. */
static ganz_status take_learned_back(const run *r, ganz_error *err)
{
    return ganz_exists(r->files.learned) ? rename_file(r->files.learned, r->files.best, err) : GANZ_OK;
}

/* The result of quantization, opened as translation opens it. */
static ganz_status freeze(run *r, ganz_error *err)
{
    if (r->at.now.best_step == 0) /* without validation the last model is the result */
        GANZ_TRY(ganz_trainer_save_model(r->t, r->files.best, err));
    const char *const text = r->options->valid_source;
    GANZ_TRY(ganz_trainer_check_frozen(r->t, r->files.best, &r->frozen, err));
    GANZ_TRY(compare_with_calibration(r, err));
    return text ? ganz_quantize_report(r->files.best, text, REPORT_LINES, r->files.path, err) : GANZ_OK;
}

static ganz_status train(run *r, ganz_error *err)
{
    const ganz_counters now = r->at.now;
    /* A stop may have come in the middle of a validation. */
    if (r->at.validates && now.phase_step > 0 && due(r->recipe->validate_every, now.step) && now.validated < now.step)
        GANZ_TRY(after_step(r, err));
    GANZ_TRY(run_phase(r, err));
    for (int row; (row = ganz_trainer_next_phase(r->t)) >= 0;) {
        GANZ_TRY(enter_phase(r, row, err));
        GANZ_TRY(run_phase(r, err));
    }
    if (!r->saved) GANZ_TRY(save_checkpoint(r, err));
    else GANZ_TRY(plot(r, err)); /* what ended between a checkpoint and its pictures has older ones */
    return quantizes(r) ? freeze(r, err) : save_average(r, err);
}

/* A stop keeps every step made; a failure keeps the last checkpoint, and says so. */
static ganz_status end(run *r, ganz_status status, ganz_error *err)
{
    if (status == GANZ_ESTOPPED && !r->saved) {
        const ganz_status saving = save_checkpoint(r, err);
        if (saving != GANZ_OK) status = saving;
    }
    if (status == GANZ_OK) return GANZ_OK;
    const ganz_error why = *err;
    const long long step = ganz_trainer_event(r->t).now.step;
    const char *const last = r->files.last;
    if (status == GANZ_ESTOPPED) return ganz_fail(err, status, "stopped at step %lld; %s holds all of it", step, last);
    return ganz_exists(last) ? ganz_fail(err, status, "%s; the last good state is in %s", why.message, last) : status;
}

static void fill_report(const run *r, ganz_train_report *report)
{
    const ganz_counters c = ganz_trainer_event(r->t).now;
    *report = (ganz_train_report){.step = c.step, .tokens = c.tokens, .best_step = c.best_step, .early = r->early};
    report->parameters = (long long)r->facts.parameters;
    report->seconds = seconds_of(r);
    report->tokens_per_second = r->busy > 0 ? r->busy_tokens / r->busy : 0;
    report->best_bleu = c.best_step ? c.best_bleu : -1;
    report->best_loss = c.best_step ? c.best_loss : -1;
    report->pass_bytes = r->facts.pass_bytes;
    report->weight_bytes = r->facts.weight_bytes;
    report->products = r->facts.products;
    report->integer_products = r->facts.integer_products;
    report->compared = r->frozen.compared;
    report->different = r->frozen.different;
    report->engine_bleu = r->frozen.compared ? r->frozen.bleu : -1;
    report->calibrated_bleu = r->rival.compared ? r->rival.bleu : -1;
    report->calibrated = r->calibrated;
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

/* Options that follow from others: the teacher of quantization, and a checkpoint in place of its model. */
static ganz_status complete(const run *r, ganz_train_options *own, ganz_error *err)
{
    if (own->recipe.learn_from == GANZ_LEARN_FROM_AUTO)
        own->recipe.learn_from =
            own->quantize || own->teacher_count > 0 ? GANZ_LEARN_FROM_MODEL : GANZ_LEARN_FROM_CORPUS;
    if (own->teacher_count == 0 && own->recipe.learn_from == GANZ_LEARN_FROM_MODEL && own->model) {
        own->teachers = &r->options->model;
        own->teacher_count = 1;
    }
    if (own->quantize && ganz_exists(r->files.last)) own->model = r->files.last; /* the whole model is there too */
    return own->quantize && !own->model ? ganz_fail(err, GANZ_EINVAL, "quantizing needs a model") : GANZ_OK;
}

static ganz_status open_trainer(run *r, ganz_error *err)
{
    ganz_train_options own = *r->options;
    GANZ_TRY(complete(r, &own, err));
    GANZ_TRY(ganz_trainer_open_shared(&r->t, &own, r->ranks, err));
    if (ganz_exists(r->files.last)) GANZ_TRY(ganz_trainer_restore(r->t, r->files.last, err));
    r->recipe = ganz_trainer_recipe(r->t);
    r->facts = ganz_trainer_describe(r->t);
    r->at = ganz_trainer_event(r->t);
    return GANZ_OK;
}

/* A run that begins has no model yet: one in its folder is another run's, which must not pass for its result. It is
 * lost only where the folder was said to be this run's, which was killed before its first checkpoint, and `locked`. */
static ganz_status clear_models(const run *r, bool locked, ganz_error *err)
{
    const char *const models[] = {r->files.best, r->files.average, r->files.phase3, r->files.learned};
    for (size_t i = 0; i < GANZ_COUNT(models); i++) {
        if (!ganz_exists(models[i])) continue;
        if (!r->options->resume)
            return ganz_fail(err, GANZ_EINVAL, "%s is another run's: choose another folder", models[i]);
        if (locked && unlink(models[i]) != 0) return ganz_fail_errno(err, "remove", models[i]);
    }
    return GANZ_OK;
}

/* A folder that has a log may be in use: its checkpoint is read, and models are removed, only once it is not. */
static ganz_status lock_folder(run *r, ganz_error *err)
{
    if (!ganz_crew_leads(r->ranks) || !ganz_exists(r->files.log)) return GANZ_OK;
    return ganz_log_lock(&r->log, r->files.log, err);
}

/* The folder is touched last, when everything else has been found in order, and by the leader alone. */
static ganz_status open_files(run *r, ganz_error *err)
{
    GANZ_TRY(check_options(r->options, err));
    GANZ_TRY(ganz_folder_name(&r->files, r->options->out, err));
    if (!r->options->resume && ganz_exists(r->files.last))
        return ganz_fail(err, GANZ_EINVAL, "%s holds a run already: resume it, or choose another folder",
                         r->options->out);
    GANZ_TRY(lock_folder(r, err));
    GANZ_TRY(open_trainer(r, err));
    if (!ganz_crew_leads(r->ranks)) return GANZ_OK;
    if (r->at.now.step == 0) GANZ_TRY(clear_models(r, false, err));
    GANZ_TRY(ganz_folder_make(&r->files, err));
    if (!r->log.path) GANZ_TRY(ganz_log_lock(&r->log, r->files.log, err)); /* another run may have begun meanwhile */
    if (r->at.now.step == 0) GANZ_TRY(clear_models(r, true, err));
    GANZ_TRY(ganz_log_keep(&r->log, r->at.now.log_lines, err));
    if (quantizes(r)) GANZ_TRY(ganz_history_keep(r->files.history, r->at.now.logged, err));
    ganz_folder_sweep(&r->files);
    return quantizes(r) ? take_learned_back(r, err) : GANZ_OK;
}

/* The best model may have been taken away, or not have been copied with the checkpoint: then it is chosen anew, so that
 * what is called the best is there. */
static ganz_status find_best(run *r, ganz_error *err)
{
    char note[96];
    if (r->at.now.best_step == 0 || ganz_exists(r->files.best)) return GANZ_OK;
    snprintf(note, sizeof note, "best.safetensors of step %lld is not there: the best from here on will be",
             (long long)r->at.now.best_step);
    ganz_trainer_forget_best(r->t);
    r->at = ganz_trainer_event(r->t);
    tell(r, note);
    r->saved = false;
    const ganz_log_record record = record_now(r);
    return ganz_log_add(&r->log, &record, note, err);
}

static ganz_status open_run(run *r, ganz_error *err)
{
    const ganz_status opened = open_files(r, err);
    GANZ_TRY(ganz_crew_meet(r->ranks, r->t, opened, err));
    return ganz_trainer_wire(r->t, err);
}

/* The first words of the process that leads; the others wait for its orders. */
static ganz_status begin(run *r, ganz_error *err)
{
    r->saved = r->at.now.step > 0;
    r->started = ganz_seconds() - r->log.seconds;
    start_line(r);
    tell_beginning(r);
    if (quantizes(r)) tell_phase(r);
    GANZ_TRY(find_best(r, err));
    return log_changes(r, err);
}

static ganz_status meet_others(run *r, ganz_error *err)
{
    ganz_place place;
    if (!r->options->shared) return GANZ_OK;
    GANZ_TRY(ganz_place_find(&place, err));
    return ganz_ranks_open(&r->ranks, &place, err);
}

bool ganz_train_follows(void)
{
    ganz_place place;
    return ganz_place_find(&place, NULL) == GANZ_OK && place.rank > 0;
}

int ganz_train_processes(void)
{
    ganz_place place;
    return ganz_place_find(&place, NULL) == GANZ_OK ? place.size : 1;
}

/* The run of the process that leads; the others are told that it has ended. */
static ganz_status lead(run *r, ganz_train_report *report, ganz_error *err)
{
    GANZ_TRY(open_run(r, err));
    ganz_status status = begin(r, err);
    if (status == GANZ_OK) {
        status = end(r, train(r, err), err);
        if (report) fill_report(r, report);
    }
    ganz_crew_order(r->ranks, GANZ_ORDER_END, 0, 0, NULL);
    return status;
}

/* Failures of the run are the leader's to tell. */
static ganz_status follow(run *r, ganz_error *err)
{
    const ganz_status opened = open_run(r, err);
    if (opened != GANZ_OK) return r->ranks->broken ? opened : GANZ_OK;
    return ganz_crew_follow(r->ranks, r->t, err);
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

ganz_status ganz_train_check_kind(const char *out, bool quantize, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    ganz_folder files;
    GANZ_TRY(ganz_folder_name(&files, out, err));
    return ganz_exists(files.last) ? ganz_checkpoint_check_kind(files.last, quantize, err) : GANZ_OK;
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
    ganz_status status = meet_others(r, err);
    if (status == GANZ_OK) status = ganz_crew_leads(r->ranks) ? lead(r, report, err) : follow(r, err);
    ganz_log_close(&r->log);
    ganz_trainer_close(&r->t);
    ganz_ranks_close(&r->ranks);
    ganz_free(r);
    return status;
}
