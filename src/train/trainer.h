/* A run in memory. The trainer owns the network, its optimizer, the corpus and the counters; its calls return events
 * that say how far the run has come. Logs, progress, schedules and names of files are the caller's (run.c, bench.c). */
#ifndef GANZ_TRAIN_TRAINER_H
#define GANZ_TRAIN_TRAINER_H

#include "ganz/train.h"
#include "ranks/ranks.h"
#include "train/counters.h"

typedef struct ganz_trainer ganz_trainer;

/* The state of the run right after a call, and the numbers that the call measured. */
typedef struct ganz_event {
    ganz_counters now;
    int64_t phase_steps; /* length of the phase; INT64_MAX: no limit */
    const char *phase_name;
    double epoch;          /* epochs of the corpus seen, with the part of the current one */
    double rate;           /* of the last step */
    bool validates;        /* the phase and the options let the model be validated */
    double loss, accuracy; /* of training or validation: means; NaN: not measured by this call */
    double bleu;           /* of validation; NaN: not measured */
    bool better;           /* validation: the model is the best so far and was written */
} ganz_event;

/* Numbers about the run as a whole. */
typedef struct ganz_trainer_facts {
    const char *device;
    const char *command; /* that began the run, or NULL */
    size_t parameters;
    size_t pass_bytes, weight_bytes; /* on the device: of one pass; of parameters, gradients, optimizers, averages and
                                      * teachers */
    uint64_t epoch_steps;            /* of the current epoch */
    uint64_t left_out;               /* pairs of it that are longer than `longest` tokens */
    int64_t longest;
    int64_t steps;                  /* of the whole run; 0: unknown */
    int products, integer_products; /* matrix products of the network; those in integers at the end */
    bool taught;                    /* by a model instead of the corpus */
    bool averages;                  /* a running average is kept */
} ganz_trainer_facts;

/* Opens everything and checks that it fits together; the run stands at its beginning. Texts of `options` are borrowed
 * until close. close frees all and sets *trainer to NULL. */
ganz_status ganz_trainer_open(ganz_trainer **trainer, const ganz_train_options *options, ganz_error *err);
void ganz_trainer_close(ganz_trainer **trainer);
/* The same for a run that several processes share (crew.h), each of which opens it. `ranks` may be NULL, and outlives
 * the trainer. */
ganz_status ganz_trainer_open_shared(ganz_trainer **trainer, const ganz_train_options *options, ganz_ranks *ranks,
                                     ganz_error *err);

/* Wires up the devices of all processes, if that is wanted; all of them call it. */
ganz_status ganz_trainer_wire(ganz_trainer *trainer, ganz_error *err);

/* Goes to the step of a checkpoint. */
ganz_status ganz_trainer_restore(ganz_trainer *trainer, const char *path, ganz_error *err);
/* "steps 40 (before: 20), ...": settings that differ from the restored checkpoint's; empty: none. */
const char *ganz_trainer_changes(const ganz_trainer *trainer);

ganz_trainer_facts ganz_trainer_describe(const ganz_trainer *trainer);
/* The settings of the run, after those that a model decides were taken from it. */
const ganz_recipe *ganz_trainer_recipe(const ganz_trainer *trainer);
/* The state as it is, without a measurement. */
ganz_event ganz_trainer_event(const ganz_trainer *trainer);

/* ---- phases ------------------------------------------------------------------------------------- */

/* The next validated model is the best so far: the one that was is lost. */
void ganz_trainer_forget_best(ganz_trainer *trainer);
/* Row of the phase after the current one; -1: it is the last. */
int ganz_trainer_next_phase(const ganz_trainer *trainer);
/* Begins a phase: sets which operands are rounded and which parameters learn. The result of the phase before is its
 * running average, where there is one; measured ranges become the first scales. */
ganz_status ganz_trainer_enter(ganz_trainer *trainer, int row, ganz_event *event, ganz_error *err);

/* ---- steps -------------------------------------------------------------------------------------- */

/* One step with its update. `done`: finished part of the rate's schedule, 0 to 1. A stop in the middle undoes the step
 * and gives GANZ_ESTOPPED. The event has no loss: that would make the device wait. Events may be NULL here and below.
 */
ganz_status ganz_trainer_step(ganz_trainer *trainer, double done, ganz_event *event, ganz_error *err);

/* Waits for the device; the event has the mean loss since the last line of the log. Refuses a loss that is not finite
 * or beyond reason. */
ganz_status ganz_trainer_drain(ganz_trainer *trainer, ganz_event *event, ganz_error *err);
/* The same for a line of the log: the means begin anew after it. */
ganz_status ganz_trainer_log(ganz_trainer *trainer, ganz_event *event, ganz_error *err);

/* Seconds of the parts of all steps since open (on a CPU, where calls wait), and their tokens and slots. */
typedef struct ganz_trainer_times {
    double load, pass, update;
    uint64_t source_tokens, slots;
    bool host; /* the device is the CPU */
} ganz_trainer_times;
ganz_trainer_times ganz_trainer_timing(const ganz_trainer *trainer);

/* ---- results ------------------------------------------------------------------------------------ */

/* Loss, accuracy and BLEU of the current model (the running average, where there is one); BLEU is NaN when the recipe
 * wants none. A model that is better than all before, where the phase chooses, is written to `best`. */
ganz_status ganz_trainer_validate(ganz_trainer *trainer, const char *best, ganz_event *event, ganz_error *err);

/* Writes a checkpoint, after trying the model on the batch it has just seen: a diverged model never replaces a good
 * one. log_lines: lines of the log that belong to it. */
ganz_status ganz_trainer_save(ganz_trainer *trainer, const char *path, int64_t log_lines, ganz_event *event,
                              ganz_error *err);
/* Writes the current model: of a run that quantizes, in integers. */
ganz_status ganz_trainer_save_model(ganz_trainer *trainer, const char *path, ganz_error *err);

/* The table of learned scales (history.h): adds a line while scales learn; draws them. */
ganz_status ganz_trainer_log_scales(const ganz_trainer *trainer, const char *path, ganz_error *err);
ganz_status ganz_trainer_plot_scales(const ganz_trainer *trainer, const char *path, const char *svg, ganz_error *err);

/* Opens the integer model of a file as translation does and has it translate the validation set. Counts the sentences
 * that were compared with the best model's, and those that differ: none when that was on a CPU, few on a GPU, whose
 * floats around the integers differ in their last bits. */
typedef struct ganz_frozen {
    int compared, different;
    double bleu; /* negative: nothing was translated */
} ganz_frozen;
ganz_status ganz_trainer_check_frozen(ganz_trainer *trainer, const char *path, ganz_frozen *found, ganz_error *err);

double ganz_seconds(void); /* on a clock that never goes back */

#endif
