/* A run on disk: last.safetensors is a model file with the optimizer's memory and the counters of the run in it. */
#ifndef GANZ_TRAIN_CHECKPOINT_H
#define GANZ_TRAIN_CHECKPOINT_H

#include "ganz/recipe.h"
#include "model/model.h"
#include "train/batch.h"
#include "train/counters.h"
#include "train/optim.h"

/* The parts of a run that a checkpoint holds. */
typedef struct ganz_run_parts {
    const ganz_recipe *recipe;
    const ganz_model_info *info;
    const ganz_net *net;
    const ganz_vocab *vocab;
    const ganz_weights *weights;
    const ganz_optim *optim;
    const ganz_optim *scale_optim; /* of the learned scales; NULL: nothing is quantized */
    const ganz_optim *row_optim;   /* of the learned scales of weights; NULL: they are not learned */
    real *average;                 /* (params.block) on the device, or NULL */
    uint64_t *best_lines;          /* (lines) sums of the translations of the best model; NULL: none are kept */
    int lines;
    const char *changes;      /* noted, or NULL */
    uint64_t teacher, ranges; /* sums of what is learned from instead of the corpus, and of the ranges that scales begin
                               * with instead of measured ones; 0: neither */
} ganz_run_parts;

/* Replaces the file whole, or leaves it as it was. */
ganz_status ganz_checkpoint_save(const char *path, const ganz_run_parts *parts, const ganz_counters *counters,
                                 ganz_error *err);
/* Puts a checkpoint back. Everything is checked, sums of all bytes included, before anything is changed. Settings of
 * the recipe that may not change within a run must be those of the checkpoint, and so must the teacher and, until they
 * have become scales, the given ranges. */
typedef struct ganz_past {
    ganz_recipe recipe; /* of the checkpoint */
    /* texts, or NULL; freed by ganz_past_free */
    char *command; /* that began the run */
    char *changes; /* "at step 20: steps 40 (before: 20); at step ..." */
    char *source_language, *target_language;
    char *formal_mark, *informal_mark;
} ganz_past;
void ganz_past_free(ganz_past *past);
ganz_status ganz_checkpoint_load(const char *path, const ganz_run_parts *parts, ganz_counters *counters,
                                 ganz_past *past, ganz_error *err);
/* Settings of a checkpoint alone. */
ganz_status ganz_checkpoint_recipe(const char *path, ganz_recipe *recipe, ganz_error *err);

/* Training and quantization hold different things: one cannot go on with the other. */
ganz_status ganz_checkpoint_check_kind(const char *path, bool quantizes, ganz_error *err);

/* Notes of a model file about its training. Settings it does not have, those of quantization and learn_from are left as
 * they are. */
typedef struct ganz_origin {
    bool recipe;
    int64_t step; /* trained for so many; 0: unknown */
} ganz_origin;
ganz_status ganz_checkpoint_origin(const ganz_container *file, ganz_recipe *recipe, ganz_origin *origin,
                                   ganz_error *err);
/* Copies these notes into a model that was made of that file. */
ganz_status ganz_checkpoint_note_origin(ganz_writer *writer, const ganz_container *file, ganz_error *err);
/* Takes over the optimizer's memory from a checkpoint of the same optimizer; *found false: it has none. */
ganz_status ganz_checkpoint_slots(const ganz_container *file, const ganz_weights *weights, const ganz_optim *optim,
                                  bool *found, ganz_error *err);

/* Writes a plain model from a block on the device. The recipe and the number of steps are noted. */
ganz_status ganz_checkpoint_model(const char *path, const ganz_run_parts *parts, const real *block, int64_t step,
                                  ganz_error *err);

#endif
