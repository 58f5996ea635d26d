/* Ten training losses of the network in PyTorch (tests/golden/torch_transformer.py), through the trainer's own steps,
 * on any device: test_golden cpu|cuda [fp32|tf32|bf16] [FOLDER of ten_losses.tsv]. Skipped where there is no such
 * device. Then networks of other kinds, against the CPU. No cmocka: it also runs where there is little else than a GPU.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn_case.h"
#include "train/optim.h"
#include "train/stepper.h"

enum { SKIPPED = 77, SEGMENTS = 6, STEPS = 10, TOKENS = 32 };

/* Packed row, source and target length, the end mark counted. */
static const int segments[SEGMENTS][3] = {{0, 5, 4}, {0, 3, 6}, {0, 2, 2}, {1, 8, 7}, {2, 1, 3}, {2, 4, 1}};

/* How far a loss may be off, as a part of it: each precision rounds, and each step learns from what was rounded. */
static double tolerance(const char *precision)
{
    return strcmp(precision, "bf16") == 0 ? 3e-2 : strcmp(precision, "tf32") == 0 ? 5e-3 : 1e-5;
}

static int32_t token(int step, int segment, int place, int side)
{
    return 2 + (7 * segment + 3 * place * place + 5 * side * place + 11 * step + side) % 38;
}

/* ---- one batch ---------------------------------------------------------------------------------- */

typedef struct side {
    int32_t ids[TOKENS], before[TOKENS], position[TOKENS], row[TOKENS], slot[TOKENS], begin[SEGMENTS + 1];
    int count;
} side;

static void fill(side *s, int step, int which)
{
    int row = -1, slot = 0;
    s->count = 0;
    for (int i = 0; i < SEGMENTS; i++) {
        const int length = segments[i][1 + which];
        s->begin[i] = s->count;
        if (segments[i][0] != row) slot = 0;
        row = segments[i][0];
        for (int j = 0; j < length; j++, slot++, s->count++) {
            s->ids[s->count] = j + 1 < length ? token(step, i, j, which) : GANZ_EOS;
            s->before[s->count] = slot > 0 ? s->ids[s->count - 1] : -1;
            s->position[s->count] = j;
            s->row[s->count] = row;
            s->slot[s->count] = slot;
        }
    }
    s->begin[SEGMENTS] = s->count;
}

static ganz_batch batch_of(const side *source, const side *target)
{
    return (ganz_batch){.source_rows = source->count,
                        .target_rows = target->count,
                        .segments = SEGMENTS,
                        .source_ids = source->ids,
                        .target_in = target->before,
                        .target_out = target->ids,
                        .source_position = source->position,
                        .target_position = target->position,
                        .source_row = source->row,
                        .source_slot = source->slot,
                        .target_row = target->row,
                        .target_slot = target->slot,
                        .source_begin = source->begin,
                        .target_begin = target->begin,
                        .packed_rows = 3};
}

/* ---- the run ------------------------------------------------------------------------------------ */

typedef struct golden {
    ganz_backend *be;
    ganz_net net;
    ganz_weights weights;
    ganz_optim optim;
    ganz_stepper stepper;
} golden;

static ganz_status set_parameters(golden *g, ganz_error *err)
{
    const ganz_params *const all = &g->net.params;
    real *const block = ganz_alloc(all->block, sizeof *block);
    if (!block) return ganz_fail(err, GANZ_ENOMEM, "out of memory");
    for (int p = 0; p < all->count; p++) {
        const ganz_param *const param = &all->list[p];
        int letters = 0;
        for (const char *at = param->name; *at; at++) letters += *at;
        const bool bias = param->kind == GANZ_BIAS || param->kind == GANZ_NORM_BIAS,
                   gain = param->kind == GANZ_NORM_GAIN;
        const double size = param->kind == GANZ_EMBEDDING ? 0.25 : gain ? 0.1 : bias ? 0.05 : 0.15;
        for (size_t i = 0; i < ganz_param_count(param); i++)
            block[param->offset + i] = (real)((gain ? 1 : 0) + size * sin(1.7 * (double)i + 0.3 * letters));
        if (param->kind == GANZ_SCALE) block[param->offset] = strstr(param->name, ".u.z") ? -8 : -5;
    }
    g->be->upload(g->be, g->weights.master, block, all->block * sizeof *block);
    ganz_free(block);
    return ganz_weights_refresh(&g->weights, &g->net, err);
}

static const ganz_config shape = NN_SHAPE(32, 64, 4, 2, 2, 40, 16);

static ganz_status open_golden(golden *g, const char *device, const char *precision, const ganz_config *config,
                               bool fake, ganz_error *err)
{
    const ganz_stepper_options options = {.tokens = TOKENS, .rows = 3, .slots = 16, .smoothing = (real)0.1};
    ganz_recipe recipe;
    ganz_recipe_defaults(&recipe);
    GANZ_TRY(ganz_device_open(&g->be, device, precision, 1, err));
    GANZ_TRY(ganz_net_open(&g->net, config, err));
    if (fake) ganz_net_set_states(&g->net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE);
    GANZ_TRY(ganz_weights_open(&g->weights, &g->net, g->be, true, err));
    GANZ_TRY(set_parameters(g, err));
    GANZ_TRY(ganz_optim_open(&g->optim, &g->net, &g->weights, &recipe, GANZ_OPTIM_PARAMETERS, err));
    GANZ_TRY(ganz_stepper_open(&g->stepper, &g->net, &g->weights, &options, err));
    g->stepper.train_weights = true;
    return GANZ_OK;
}

static void close_golden(golden *g)
{
    ganz_stepper_close(&g->stepper);
    ganz_optim_close(&g->optim);
    ganz_weights_close(&g->weights);
    ganz_net_close(&g->net);
    if (g->be) g->be->close(g->be);
}

static ganz_status step_golden(golden *g, int step, double *loss, ganz_error *err)
{
    side source, target;
    double sums[3];
    fill(&source, step, 0);
    fill(&target, step, 1);
    const ganz_batch batch = batch_of(&source, &target);
    g->be->zero(g->be, g->stepper.sums, sizeof sums);
    GANZ_TRY(ganz_stepper_train(&g->stepper, &batch, 1, NULL, err));
    g->be->download(g->be, sums, g->stepper.sums, sizeof sums);
    ganz_optim_step(&g->optim, 0.01, step);
    *loss = sums[0] / sums[2];
    GANZ_TRY(ganz_weights_refresh(&g->weights, &g->net, err));
    return g->be->sync(g->be, err);
}

/* ---- against the file --------------------------------------------------------------------------- */

static int read_losses(const char *folder, double losses[STEPS])
{
    char path[512];
    int count = 0, step;
    snprintf(path, sizeof path, "%s/ten_losses.tsv", folder);
    FILE *const file = fopen(path, "r");
    while (file && count < STEPS && fscanf(file, "%d%lf", &step, &losses[count]) == 2) count++;
    if (file) fclose(file);
    if (count < STEPS) printf("FAILED %s: not ten losses\n", path);
    return count;
}

static int compare(golden *g, const char *precision, const double wanted[STEPS])
{
    ganz_error err;
    double worst = 0, loss;
    for (int step = 0; step < STEPS; step++) {
        if (step_golden(g, step, &loss, &err) != GANZ_OK) {
            printf("FAILED step %d: %s\n", step, err.message);
            return 1;
        }
        printf("step %d: loss %.7f, PyTorch %.7f\n", step, loss, wanted[step]);
        const double off = fabs(loss / wanted[step] - 1);
        if (!(off <= worst)) worst = off;
    }
    const bool good = worst <= tolerance(precision);
    printf("%s: off by %.2g of the loss at most, %.2g allowed%s\n", g->be->name, worst, tolerance(precision),
           good ? "" : ": FAILED");
    return good ? 0 : 1;
}

/* ---- other kinds of networks, against the CPU ---------------------------------------------------- */

static ganz_status learn(const char *device, const char *precision, const ganz_config *config, bool fake,
                         double losses[STEPS], ganz_error *err)
{
    golden g = {0};
    ganz_status status = open_golden(&g, device, precision, config, fake, err);
    for (int step = 0; status == GANZ_OK && step < STEPS; step++) status = step_golden(&g, step, &losses[step], err);
    close_golden(&g);
    return status;
}

/* Ten losses of each kind, in float and rounded: those of the CPU. There they have to fall. */
static int compare_kind(const char *name, const char *device, const char *precision, const ganz_config *config,
                        bool fake)
{
    ganz_error err;
    double here[STEPS], there[STEPS], worst = 0;
    if (learn("cpu", "fp32", config, fake, here, &err) != GANZ_OK ||
        learn(device, precision, config, fake, there, &err) != GANZ_OK) {
        printf("FAILED %s: %s\n", name, err.message);
        return 1;
    }
    for (int i = 0; i < STEPS; i++) {
        const double off = fabs(there[i] / here[i] - 1);
        if (!(off <= worst)) worst = off;
    }
    const double allowed = fake ? 5e-3 + tolerance(precision) : tolerance(precision); /* some codes turn */
    const bool good = worst <= allowed && here[STEPS - 1] < here[0];
    printf("%s%s: loss %.4f to %.4f, off by %.2g at most, %.2g allowed%s\n", name, fake ? ", rounded" : "", here[0],
           here[STEPS - 1], worst, allowed, good ? "" : ": FAILED");
    return good ? 0 : 1;
}

static int compare_kinds(const char *device, const char *precision)
{
    int code = 0;
    ganz_config config = shape;
    const char *name;
    for (int kind = 0; config = shape, kind < NN_TRAINED_KINDS && (name = nn_kind(kind, &config)); kind++)
        for (int fake = 0; fake < 2; fake++) code |= compare_kind(name, device, precision, &config, fake);
    return code;
}

int main(int argc, char **argv)
{
    const char *const device = argc > 1 ? argv[1] : "cpu", *const precision = argc > 2 ? argv[2] : "fp32";
    double wanted[STEPS];
    golden g = {0};
    ganz_error err;
    int code = read_losses(argc > 3 ? argv[3] : GANZ_TESTS_DIR "/golden", wanted) == STEPS ? 0 : 1;
    const ganz_status status = code == 0 ? open_golden(&g, device, precision, &shape, false, &err) : GANZ_OK;
    if (status != GANZ_OK) {
        printf("%s: %s\n", status == GANZ_EUNSUPPORTED ? "skipped" : "FAILED", err.message);
        code = status == GANZ_EUNSUPPORTED ? SKIPPED : 1;
    } else if (code == 0) {
        code = compare(&g, precision, wanted) | compare_kinds(device, precision);
    }
    close_golden(&g);
    return code;
}
