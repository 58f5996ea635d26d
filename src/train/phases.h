/* The phases of a run, as rows of a table: rounded operands, learning parameters, choice of the best model. Row 0 is
 * plain training. */
#ifndef GANZ_TRAIN_PHASES_H
#define GANZ_TRAIN_PHASES_H

#include "ganz/recipe.h"
#include "nn/net.h"

enum {
    GANZ_PHASE_FLOAT,
    GANZ_PHASE_PARAMETERS, /* 1 to 6: learned quantization */
    GANZ_PHASE_RANGES,
    GANZ_PHASE_SCALES,
    GANZ_PHASE_REFINE,
    GANZ_PHASE_TUNE,
    GANZ_PHASE_TUNE_MORE,
    GANZ_PHASE_CLIPPED, /* fine-tuning with one range for everything */
    GANZ_PHASE_JOINT,   /* scales and parameters together: not for the paper, but here it converges (docs/PAPER.md) */
    GANZ_PHASES
};

typedef struct ganz_phase {
    const char *label; /* what people call it: "phase 3", "joint" */
    const char *name;  /* what it does */
    ganz_weights_state weights;
    ganz_inputs_state inputs;
    bool train_weights, learn_scales; /* neither: only a look at the corpus */
    bool dropout;
    bool chooses; /* its validations say which model is the best */
} ganz_phase;

extern const ganz_phase ganz_phases[GANZ_PHASES];

/* The label of the phase with this number in a log, which may be any: of one that is not there "phase ?". */
const char *ganz_phase_label(double number);

/* The phases of a run as bits of a set: row 0 alone for training; else by method, those the recipe names. Refuses sets
 * that make no integer model. */
ganz_status ganz_phases_of(const ganz_recipe *recipe, bool quantize, unsigned *set, ganz_error *err);
/* The first phase of a set after row (-1: the very first); -1: none. */
int ganz_phases_next(unsigned set, int row);
/* Whether validations of this phase choose the best model: always those of the last phase. */
bool ganz_phases_choose(unsigned set, int row);

/* Steps of a phase, when a pass over the corpus takes `pass` of them. */
int64_t ganz_phase_length(const ganz_recipe *recipe, int row, uint64_t pass);

/* How the recipe's integer models are rounded. */
ganz_scheme ganz_recipe_scheme(const ganz_recipe *recipe);

#endif
