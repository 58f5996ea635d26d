/* Training: from a prepared corpus to a model file, stopped and continued at any moment. */
#ifndef GANZ_TRAIN_H
#define GANZ_TRAIN_H

#include <stdbool.h>

#include "ganz/recipe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a run stands. Numbers that are not known yet are negative. */
typedef struct ganz_train_progress {
    long long step, steps;                /* done; of the whole run, 0: unknown */
    int phase;                            /* of quantization, from 1 on; 0: training */
    const char *phase_label, *phase_name; /* "phase 3", "learned steps" */
    double epoch;                         /* epochs of the corpus seen */
    double loss, accuracy;                /* training, since the last line of the log */
    double tokens_per_second;             /* real target tokens */
    double seconds, seconds_left;
    const char *event; /* NULL, or a sentence about what just happened ("saved", a validation) */
} ganz_train_progress;

typedef struct ganz_train_options {
    ganz_recipe recipe;
    const char *train;           /* corpus file */
    const char *vocab;           /* vocabulary file, the one of the corpus; not with `model` */
    const char *model;           /* float model to start from; NULL: fresh parameters */
    const char *const *teachers; /* (teacher_count) learn_from a model: these float ones, of the same vocabulary,
                                  * each for its share of the parts of batches; none: `model`. Refused where the
                                  * corpus is learned from */
    int teacher_count;
    bool quantize;         /* the recipe's phases of quantization instead of training */
    const char *scales_of; /* quantize: integer model whose scales are learned on, instead of those of the
                            * largest values, and its float biases; or NULL */
    bool compare; /* quantize, learned method, with validation: calibrates the model too, and if that does better on the
                   * validation text, keeps it as best.safetensors and the learned one as learned.safetensors */
    const char *rival;                       /* compare: this integer model, instead of calibrating one; or NULL */
    const char *valid_source, *valid_target; /* text, both or neither */
    const char *out;                         /* folder of the run; made when it is not there */
    const char *device;                      /* "cpu", "cuda" or "cuda:N" */
    const char *command;                     /* noted in the model, or NULL */
    const char *source_language, *target_language; /* noted in the model, or NULL */
    int threads;                                   /* of the CPU, 0: all cores; results are the same for any number */
    bool resume;                                   /* goes on from the folder's last checkpoint, if there is one */
    bool shared; /* with the other processes that mpirun, srun or GANZ_RANKS have started with the same options. The run
                  * has the same bytes for any number of them, up to the parts of a step. The first writes all files
                  * and tells what there is to tell; in the others the call returns GANZ_OK at the end of the run,
                  * however it ended, or says that the others have gone */

    const ganz_flag *stop; /* save and return GANZ_ESTOPPED; or NULL */
    ganz_flag *save;       /* write a checkpoint and go on (cleared then); or NULL */
    /* Called from the training thread after steps, at most a few times a second, and for each event. May be NULL. */
    void (*progress)(void *context, const ganz_train_progress *progress);
    void *context;
} ganz_train_options;

/* What a run came to. */
typedef struct ganz_train_report {
    long long step, tokens; /* of the whole run, earlier parts included */
    long long parameters;
    double seconds;              /* of this part */
    double tokens_per_second;    /* of this part, validation and saving not counted */
    double best_bleu, best_loss; /* of validations; negative: none */
    long long best_step;
    size_t pass_bytes;   /* device memory of one pass */
    size_t weight_bytes; /* of parameters, gradients, optimizers, averages and teachers */
    bool early;          /* ended because validations got no better */
    /* of a run that quantizes */
    int products, integer_products; /* matrix products of the model; of those, multiplied in integers */
    int compared, different;        /* validation sentences translated by the integer engine; otherwise than here */
    double engine_bleu;             /* of the integer engine; negative: no validation */
    double calibrated_bleu;         /* the same of the calibrated model; negative: not compared */
    bool calibrated;                /* that one is kept as best.safetensors */
} ganz_train_report;

/* Whether this process is one of several that share a run, and not the first. */
GANZ_API bool ganz_train_follows(void);
/* How many processes share a run that begins now; 1 without mpirun or srun. */
GANZ_API int ganz_train_processes(void);

/* The recipe's defaults, device "cpu", one thread. */
GANZ_API void ganz_train_defaults(ganz_train_options *options);

/* The settings with which a run's last checkpoint was made. GANZ_OK and *found false when there is none. */
GANZ_API ganz_status ganz_train_recipe(const char *out, ganz_recipe *recipe, bool *found, ganz_error *err);

/* Refuses the folder of a run of the other kind: one that trains cannot go on as one that quantizes. */
GANZ_API ganz_status ganz_train_check_kind(const char *out, bool quantize, ganz_error *err);

/* The settings that a model's file tells of its training, none of quantization, and not who taught it; *recipe is left
 * as it is when *found is false. */
GANZ_API ganz_status ganz_model_recipe(const char *model, ganz_recipe *recipe, bool *found, ganz_error *err);

/* Trains, or with options->quantize goes through the phases of quantization, by the same rules. The folder gets
 * last.safetensors (a model with all that is needed to go on), best.safetensors (the best model by validation),
 * model-STEP.safetensors and average.safetensors when asked for, log.tsv and loss.svg. Of quantization best.safetensors
 * is an integer model, chosen from the end of phase 4 on, and phase-3.safetensors the one after scales were
 * first learned; steps.tsv and quant.* tell what became of the scales and what rounding does.
 * Whatever does not fit together is refused before the first step. On failure the last checkpoint stays whole. */
GANZ_API ganz_status ganz_train(const ganz_train_options *options, ganz_train_report *report, ganz_error *err);

/* The mean of several models of one shape and vocabulary, written as a model. What the file of the first tells of its
 * training, the new one tells too. */
GANZ_API ganz_status ganz_average_models(const char *const *paths, int count, const char *out, ganz_error *err);

/* ---- measuring ---------------------------------------------------------------------------------- */

typedef struct ganz_bench_report {
    double seconds;           /* of the measured steps */
    double tokens_per_second; /* real target tokens, pads not counted */
    double source_tokens_per_second;
    double step_ms, load_ms, pass_ms, update_ms; /* of one step; the parts on a CPU only, else negative */
    double fill;                                 /* share of the slots that hold tokens */
    double loss;                                 /* mean over the measured steps */
    long long parameters;
    size_t pass_bytes, weight_bytes;
} ganz_bench_report;

/* Times `steps` whole steps (data loading, dropout, optimizer) of training (phase 0) or of a phase of quantization,
 * after `warm` others. Without options->train the corpus is made of random sentences of usual lengths, with a
 * vocabulary of `vocab_size`. Nothing is written but that temporary corpus. */
GANZ_API ganz_status ganz_bench_train(const ganz_train_options *options, int phase, int vocab_size, int warm, int steps,
                                      ganz_bench_report *report, ganz_error *err);

#ifdef __cplusplus
}
#endif
#endif
