/* The table of phases, and which of them a recipe asks for. */
#include "train/phases.h"

#include <stdio.h>

/* In the paper's phases weights and scales learn in turns: together, as in JOINT, it found them not to converge. Here
 * they do, behind measured ranges, and with a float model as teacher keep most with few bits (docs/PAPER.md). Dropout
 * is off where no weight learns: a few scales need no regulariser, and ranges are to be those of translation. */
const ganz_phase ganz_phases[GANZ_PHASES] = {
    [GANZ_PHASE_FLOAT] = {"training", "training", GANZ_WEIGHTS_FLOAT, GANZ_INPUTS_FLOAT, true, false, true, true},
    [GANZ_PHASE_PARAMETERS] = {"phase 1", "integer parameters", GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FLOAT, true, false, true,
                               false},
    [GANZ_PHASE_RANGES] = {"phase 2", "measured ranges", GANZ_WEIGHTS_FAKE, GANZ_INPUTS_MEASURE, false, false, false,
                           false},
    [GANZ_PHASE_SCALES] = {"phase 3", "learned steps", GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE, false, true, false, false},
    [GANZ_PHASE_REFINE] = {"phase 4", "refined steps", GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE, false, true, false, false},
    [GANZ_PHASE_TUNE] = {"phase 5", "fine-tuning", GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE, true, false, true, true},
    [GANZ_PHASE_TUNE_MORE] = {"phase 6", "more fine-tuning", GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE, true, false, true,
                              true},
    [GANZ_PHASE_JOINT] = {"joint", "steps and parameters", GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE, true, true, true, true},
    [GANZ_PHASE_CLIPPED] = {"clipped", "clipped ranges", GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE, true, false, true, true},
};

enum { JOINED = 5 }; /* phases 1 and 3 to 6 are as long together */

static bool holds(unsigned set, int row) { return set >> row & 1u; }

ganz_status ganz_phases_of(const ganz_recipe *recipe, bool quantize, unsigned *set, ganz_error *err)
{
    *set = quantize ? (unsigned)recipe->phases : 1u << GANZ_PHASE_FLOAT;
    if (quantize && recipe->method != GANZ_METHOD_LEARNED && recipe->method != GANZ_METHOD_CLIP)
        return ganz_fail(err, GANZ_EINVAL, "only the methods learned and clip train");
    if (quantize && recipe->method == GANZ_METHOD_CLIP) *set = 1u << GANZ_PHASE_CLIPPED;
    else if (quantize && *set == 1) *set = 1u << GANZ_PHASE_RANGES | 1u << GANZ_PHASE_JOINT;
    else if (quantize && !(holds(*set, GANZ_PHASE_RANGES) && holds(*set, GANZ_PHASE_SCALES)))
        return ganz_fail(err, GANZ_EINVAL, "phases 2 and 3 are needed: ranges are measured, then steps are learned");
    return GANZ_OK;
}

int ganz_phases_next(unsigned set, int row)
{
    for (int next = row + 1; next < GANZ_PHASES; next++)
        if (holds(set, next)) return next;
    return -1;
}

const char *ganz_phase_label(double number)
{
    return number >= 0 && number < GANZ_PHASES ? ganz_phases[(int)number].label : "phase ?";
}

bool ganz_phases_choose(unsigned set, int row) { return ganz_phases[row].chooses || ganz_phases_next(set, row) < 0; }

int64_t ganz_phase_length(const ganz_recipe *recipe, int row, uint64_t pass)
{
    if (row == GANZ_PHASE_FLOAT) return recipe->steps > 0 ? recipe->steps : INT64_MAX;
    if (row == GANZ_PHASE_RANGES && recipe->measure_batches > 0) return recipe->measure_batches;
    const int64_t steps = recipe->steps_per_phase > 0 ? recipe->steps_per_phase : (int64_t)pass;
    return row == GANZ_PHASE_JOINT ? JOINED * steps : steps;
}

static int bits_of(long long own, const ganz_recipe *recipe) { return (int)(own > 0 ? own : recipe->bits); }

ganz_scheme ganz_recipe_scheme(const ganz_recipe *recipe)
{
    ganz_scheme scheme = {.rule = {.integer = true,
                                   .weight_bits = bits_of(recipe->weight_bits, recipe),
                                   .input_bits = bits_of(recipe->activation_bits, recipe),
                                   .attention_bits = bits_of(recipe->attention_bits, recipe),
                                   .bias_bits = bits_of(recipe->bias_bits, recipe),
                                   .per_row = recipe->per_row,
                                   .power_of_two = recipe->power_of_two,
                                   .weight_range = (int)recipe->weight_range},
                          .float_attention = recipe->products == GANZ_PRODUCTS_DENSE,
                          .float_lookup = recipe->float_lookup};
    const ganz_status status = ganz_scheme_parse(&scheme, recipe->exceptions, NULL);
    GANZ_ASSERT(status == GANZ_OK); /* by ganz_recipe_check */
    (void)status;
    return scheme;
}
