/* A run in memory: what is trained, with what, and how far it has come. */
#ifndef GANZ_TRAIN_TRAINER_H
#define GANZ_TRAIN_TRAINER_H

#include "ganz/train.h"
#include "train/checkpoint.h"
#include "train/log.h"
#include "train/phases.h"
#include "train/validate.h"

enum { GANZ_TRAIN_POSITIONS = 1024 }; /* longest input of a model, unless its rows are longer */

typedef struct ganz_trainer {
    ganz_train_options options; /* borrowed texts */
    ganz_recipe recipe;
    ganz_backend *be;
    ganz_vocab *vocab; /* NULL when only time is measured: the corpus knows its size */
    ganz_corpus *corpus;
    ganz_loader *loader;
    ganz_container *start; /* the model to start from, or NULL */
    real *ranges;          /* (net.scales) of the inputs, by another integer model; NULL: as measured */
    ganz_model_info info;
    ganz_past past;    /* what this run goes on with; its changes are those up to now */
    char changed[512]; /* "steps 40 (before: 20), ...": by this part; empty: none */
    ganz_net net;
    ganz_weights weights;
    ganz_tutors tutors;
    ganz_optim optim;
    ganz_optim scale_optim; /* of the learned scales; count 0: nothing is quantized */
    real *average;   /* (params.block) on the device, or NULL; within a phase of quantization of what it learns */
    unsigned phases; /* set of the rows this run goes through */
    const ganz_phase *phase; /* row counters.phase */
    uint64_t pass;           /* batches of a pass over the corpus */
    ganz_stepper stepper;
    ganz_valid valid;      /* count 0: no validation */
    ganz_decoder *decoder; /* NULL without valid */
    uint64_t *best_lines;  /* (valid.count) sums of the best model's translations; NULL: nothing is quantized */
    ganz_counters counters;
    ganz_batch batch;                                  /* of the last step; no segments: none */
    double rate;                                       /* of the last step */
    double load_seconds, pass_seconds, update_seconds; /* of all steps; of a CPU, where calls wait */
    uint64_t source_tokens, slots;                     /* of all steps since open */
} ganz_trainer;

/* Opens everything and checks that it fits together; the run stands at its beginning. */
ganz_status ganz_trainer_open(ganz_trainer *trainer, const ganz_train_options *options, ganz_error *err);
void ganz_trainer_close(ganz_trainer *trainer);

/* What a checkpoint of it holds. */
ganz_run_parts ganz_trainer_parts(const ganz_trainer *trainer);
/* Goes to where a checkpoint stands. */
ganz_status ganz_trainer_restore(ganz_trainer *trainer, const char *path, ganz_error *err);

/* Begins a phase: what is rounded, what learns. What the one before has come to is its running average, where there is
 * one; after ranges were measured they become the first scales. */
ganz_status ganz_trainer_enter(ganz_trainer *trainer, int row, ganz_error *err);
/* Whether validations choose the best model here and now. */
bool ganz_trainer_chooses(const ganz_trainer *trainer);
/* Steps of the phase. */
int64_t ganz_trainer_phase_length(const ganz_trainer *trainer);

/* One step, with an update of what learns. `done`: part of its schedule that lies behind. A stop that comes in the
 * middle undoes the step and gives GANZ_ESTOPPED. */
ganz_status ganz_trainer_step(ganz_trainer *trainer, double done, ganz_error *err);

/* The loss of the updated model on the batch it has just seen, refused like that of drain: what is about to be saved
 * must be good itself, not only what it came from. */
ganz_status ganz_trainer_probe(ganz_trainer *trainer, ganz_error *err);

/* Waits for the device, takes its sums into counters, and refuses a loss that is not finite or beyond reason. */
ganz_status ganz_trainer_drain(ganz_trainer *trainer, ganz_error *err);

/* Loss, accuracy and BLEU of the model that counts (the running average, where there is one); BLEU is NaN when the
 * recipe wants none. */
ganz_status ganz_trainer_validate(ganz_trainer *trainer, ganz_log_record *record, ganz_error *err);
/* The block of that model. */
const real *ganz_trainer_model(const ganz_trainer *trainer);
/* Writes it in integers. */
ganz_status ganz_trainer_save_codes(ganz_trainer *trainer, const char *path, ganz_error *err);

/* Opens the integer model of a file as translation does and has it translate the validation set. How many sentences
 * were compared with the best model's, and how many came out otherwise: none when that was on a CPU, few on a GPU,
 * whose floats around the integers differ in their last bits. */
typedef struct ganz_frozen {
    int compared, different;
    double bleu;
} ganz_frozen;
ganz_status ganz_trainer_check_frozen(ganz_trainer *trainer, const char *path, ganz_frozen *found, ganz_error *err);

double ganz_seconds(void); /* on a clock that never goes back */

/* Bytes of the device for parameters, gradients, optimizers, averages and teachers. */
size_t ganz_trainer_weight_bytes(const ganz_trainer *trainer);

#endif
