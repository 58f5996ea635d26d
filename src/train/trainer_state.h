/* The inside of a trainer, for its own files and for tests. */
#ifndef GANZ_TRAIN_TRAINER_STATE_H
#define GANZ_TRAIN_TRAINER_STATE_H

#include "ranks/ranks.h"
#include "train/checkpoint.h"
#include "train/exchange.h"
#include "train/phases.h"
#include "train/trainer.h"
#include "train/validate.h"

enum { GANZ_TRAIN_POSITIONS = 1024 }; /* longest input of a model, unless its rows are longer */
enum { GANZ_CPU_TOKENS = 4096, GANZ_GPU_TOKENS = 16384 };

struct ganz_trainer {
    ganz_train_options options; /* borrowed texts */
    ganz_recipe recipe;
    ganz_ranks *ranks; /* processes that share the run, or NULL; borrowed */
    ganz_exchange exchange;
    ganz_backend *be;
    ganz_vocab *vocab; /* NULL when only time is measured: the corpus knows its size */
    ganz_corpus *corpus;
    ganz_loader *loader;
    ganz_container *start; /* the model to start from, or NULL */
    real *ranges;          /* (net.scales) of the inputs, by another integer model; NULL: as measured */
    ganz_model_info info;
    ganz_past past;    /* of the restored checkpoint; its changes are those up to now */
    char changed[512]; /* by this part of the run; see ganz_trainer_changes */
    ganz_net net;
    ganz_weights weights;
    ganz_tutors tutors;
    ganz_optim optim;
    ganz_optim scale_optim; /* of the learned scales; count 0: nothing is quantized */
    ganz_optim row_optim;   /* of those of weights, begun anew with each phase; count 0: they are not learned */
    real *average;   /* (params.block) on the device, or NULL; within a phase of quantization of its parameters */
    unsigned phases; /* set of the rows this run goes through */
    const ganz_phase *phase; /* row counters.phase */
    uint64_t pass;           /* batches of a pass over the corpus */
    ganz_stepper stepper;
    ganz_valid valid;      /* count 0: no validation */
    ganz_decoder *decoder; /* NULL without valid */
    uint64_t *best_lines;  /* (valid.count) sums of the best model's translations; NULL: nothing is quantized */
    ganz_counters counters;
    ganz_batch batch; /* of the last step; no segments: none */
    ganz_trainer_times times;
};

/* Whether scales of weights are learned, together with the weights. */
static inline bool ganz_trainer_learns_rows(const ganz_trainer *trainer)
{
    return trainer->options.quantize && trainer->recipe.weight_range == GANZ_WEIGHT_RANGE_LEARNED;
}

/* trainer_open.c */
/* Sets which operands are rounded, which parameters learn and the dropout of a phase. */
void ganz_trainer_apply_phase(ganz_trainer *trainer, const ganz_phase *phase);
double ganz_trainer_average_decay(const ganz_trainer *trainer);
ganz_decoder_options ganz_trainer_decoder_options(const ganz_trainer *trainer, int tokens);

/* trainer.c */
/* Begins a phase in this process, without a word to others. */
ganz_status ganz_trainer_begin(ganz_trainer *trainer, int row, ganz_error *err);
ganz_run_parts ganz_trainer_parts(const ganz_trainer *trainer); /* for a checkpoint */
int64_t ganz_trainer_phase_length(const ganz_trainer *trainer);
/* Whether validations choose the best model at this step. */
bool ganz_trainer_chooses(const ganz_trainer *trainer);
/* Loss, accuracy and BLEU of the current model for an event, by all processes. (trainer_result.c) */
ganz_status ganz_trainer_measure(ganz_trainer *trainer, ganz_event *event, ganz_error *err);
/* Refuses sums {loss, right, counted} of a model that has diverged. */
ganz_status ganz_trainer_check_loss(const ganz_trainer *trainer, const double sums[3], ganz_error *err);

#endif
