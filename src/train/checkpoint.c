/* Checkpoints: a model file with the optimizer's memory, the counters and the settings of the run beside it. */
#include "train/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "train/phases.h"

static const char about_slots[] = "training.slots", about_average[] = "training.average", about_z[] = "training.z",
                  about_ranges[] = "training.ranges", about_scale_slots[] = "training.step_slots",
                  about_lines[] = "training.best_lines", about_trained[] = "trained_steps", about_changes[] = "changes",
                  about_teacher[] = "training.teacher", about_given[] = "training.given_ranges",
                  about_rows[] = "training.rows", about_row_slots[] = "training.row_slots";

/* More than any run can count, and far from where sums of counts overflow. */
#define MOST_COUNTED INT64_C(1000000000000000)

typedef struct field {
    const char *name;
    size_t offset;
    bool real_number;
    bool later; /* older files do not have it */
} field;

/* clang-format off */
#define COUNTER(name) {"training." #name, offsetof(ganz_counters, name), false, false}
#define NUMBER(name) {"training." #name, offsetof(ganz_counters, name), true, false}
#define LATER_NUMBER(name) {"training." #name, offsetof(ganz_counters, name), true, true}
#define SCALE_UPDATES {"training.step_updates", offsetof(ganz_counters, scale_updates), false, false} /* the key is older */
/* clang-format on */
static const field fields[] = {
    COUNTER(step),     COUNTER(first),     COUNTER(phase),  COUNTER(phase_step), COUNTER(updates),
    SCALE_UPDATES,     COUNTER(tokens),    COUNTER(epoch),  COUNTER(batch),      COUNTER(log_lines),
    COUNTER(logged),   COUNTER(validated), COUNTER(waited), COUNTER(best_step),  NUMBER(best_bleu),
    NUMBER(best_loss), NUMBER(loss),       NUMBER(right),   NUMBER(counted),     LATER_NUMBER(rate),
};

/* ---- blocks of the device ----------------------------------------------------------------------- */

/* A block in ordinary memory: itself, or a copy that the caller frees with release. */
static ganz_status fetch(const ganz_weights *w, const real *block, size_t count, const real **host, ganz_error *err)
{
    *host = block;
    if (w->be->host) return w->be->sync(w->be, err);
    real *const copy = ganz_alloc(count, sizeof *copy);
    if (!copy) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a copy of the model");
    w->be->download(w->be, copy, block, count * sizeof *copy);
    *host = copy;
    return w->be->sync(w->be, err);
}

static void release(const ganz_weights *w, const real *host)
{
    if (!w->be->host) ganz_free((real *)host);
}

/* A model that went wrong must not replace one that did not. */
static ganz_status check_finite(const real *params, size_t count, ganz_error *err)
{
    real worst = 0; /* 0 * x is 0, or NaN when x is not finite */
    for (size_t i = 0; i < count; i++) worst += 0 * params[i];
    return worst == 0 ? GANZ_OK : ganz_fail(err, GANZ_EINVAL, "parameters are not finite any more");
}

/* Files hold float whatever `real` is. */
static ganz_status write_block(ganz_writer *writer, const ganz_weights *w, const real *block, size_t count,
                               ganz_error *err)
{
    enum { CHUNK = 1 << 14 };
    real *const from = ganz_alloc(CHUNK, sizeof(real));
    float *const to = ganz_alloc(CHUNK, sizeof(float));
    ganz_status status = from && to ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for a checkpoint");
    for (size_t at = 0; status == GANZ_OK && at < count; at += CHUNK) {
        const size_t n = count - at < CHUNK ? count - at : CHUNK;
        w->be->download(w->be, from, block + at, n * sizeof *from);
        for (size_t i = 0; i < n; i++) to[i] = (float)from[i];
        status = ganz_writer_write(writer, to, n * sizeof *to, err);
    }
    ganz_free(from);
    ganz_free(to);
    return status;
}

static ganz_status read_block(const ganz_container *file, const ganz_entry *entry, const ganz_weights *w, real *block,
                              ganz_error *err)
{
    const size_t count = entry->bytes / sizeof(float);
    GANZ_TRY(ganz_container_check(file, entry, err));
    real *const values = ganz_alloc(count, sizeof *values);
    if (!values) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a checkpoint");
    const float *const from = entry->data;
    for (size_t i = 0; i < count; i++) values[i] = from[i];
    w->be->upload(w->be, block, values, count * sizeof *values);
    ganz_free(values);
    ganz_container_forget(file, entry);
    return GANZ_OK;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static ganz_status write_settings(ganz_writer *writer, const ganz_recipe *recipe, ganz_error *err)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    ganz_recipe usual;
    ganz_recipe_defaults(&usual);
    for (int i = 0; i < count; i++) {
        char key[64], text[GANZ_VALUE_BYTES], standard[GANZ_VALUE_BYTES];
        snprintf(key, sizeof key, "recipe.%s", table[i].name);
        ganz_recipe_get(recipe, &table[i], text);
        ganz_recipe_get(&usual, &table[i], standard);
        if (table[i].quiet && strcmp(text, standard) == 0) continue;
        GANZ_TRY(ganz_writer_text(writer, key, text, err));
    }
    return GANZ_OK;
}

static ganz_status write_making(ganz_writer *writer, const ganz_run_parts *p, ganz_error *err)
{
    GANZ_TRY(write_settings(writer, p->recipe, err));
    return p->changes ? ganz_writer_text(writer, about_changes, p->changes, err) : GANZ_OK;
}

static ganz_status write_counters(ganz_writer *writer, const ganz_counters *counters, ganz_error *err)
{
    for (size_t i = 0; i < GANZ_COUNT(fields); i++) {
        const void *const from = (const char *)counters + fields[i].offset;
        if (fields[i].real_number) GANZ_TRY(ganz_writer_real(writer, fields[i].name, *(const double *)from, err));
        else GANZ_TRY(ganz_writer_int(writer, fields[i].name, *(const int64_t *)from, err));
    }
    return GANZ_OK;
}

typedef struct sum_text {
    char text[20];
} sum_text;

static sum_text print_sum(uint64_t sum)
{
    sum_text hex;
    snprintf(hex.text, sizeof hex.text, "%016" PRIx64, sum);
    return hex;
}

static ganz_status write_sums(ganz_writer *writer, const ganz_run_parts *p, ganz_error *err)
{
    if (p->teacher) GANZ_TRY(ganz_writer_text(writer, about_teacher, print_sum(p->teacher).text, err));
    return p->scale_optim ? ganz_writer_text(writer, about_given, print_sum(p->ranges).text, err) : GANZ_OK;
}

/* The z are parameters, but no part of a float model. */
static const real *z_of(const ganz_run_parts *p)
{
    return p->weights->master + p->net->params.list[p->net->first_scale].offset;
}

static ganz_status declare_scales(ganz_writer *writer, const ganz_run_parts *p, ganz_error *err)
{
    const int64_t scales = p->net->scales, slots = (int64_t)p->scale_optim->slot_count;
    GANZ_TRY(ganz_writer_declare(writer, about_z, GANZ_DTYPE_F32, 1, &scales, err));
    GANZ_TRY(ganz_writer_declare(writer, about_ranges, GANZ_DTYPE_F32, 1, &scales, err));
    return ganz_writer_declare(writer, about_scale_slots, GANZ_DTYPE_F32, 1, &slots, err);
}

static ganz_status write_scales(ganz_writer *writer, const ganz_run_parts *p, ganz_error *err)
{
    const size_t scales = (size_t)p->net->scales;
    GANZ_TRY(write_block(writer, p->weights, z_of(p), scales, err));
    GANZ_TRY(write_block(writer, p->weights, p->weights->largest, scales, err));
    return write_block(writer, p->weights, p->scale_optim->slots, p->scale_optim->slot_count, err);
}

static real *rows_of(const ganz_run_parts *p)
{
    return p->weights->master + p->net->params.list[p->net->row_scales].offset;
}

static ganz_status declare_rows(ganz_writer *writer, const ganz_run_parts *p, ganz_error *err)
{
    const int64_t rows = p->net->rows, slots = (int64_t)p->row_optim->slot_count;
    GANZ_TRY(ganz_writer_declare(writer, about_rows, GANZ_DTYPE_F32, 1, &rows, err));
    return ganz_writer_declare(writer, about_row_slots, GANZ_DTYPE_F32, 1, &slots, err);
}

static ganz_status write_rows(ganz_writer *writer, const ganz_run_parts *p, ganz_error *err)
{
    GANZ_TRY(write_block(writer, p->weights, rows_of(p), (size_t)p->net->rows, err));
    return write_block(writer, p->weights, p->row_optim->slots, p->row_optim->slot_count, err);
}

static ganz_status write_all(ganz_writer *writer, const ganz_run_parts *p, const ganz_counters *counters,
                             const real *params, ganz_error *err)
{
    const int64_t slots = (int64_t)p->optim->slot_count, block = (int64_t)p->net->params.block, lines = p->lines;
    GANZ_TRY(write_making(writer, p, err));
    GANZ_TRY(write_counters(writer, counters, err));
    GANZ_TRY(write_sums(writer, p, err));
    if (p->best_lines) GANZ_TRY(ganz_writer_declare(writer, about_lines, GANZ_DTYPE_U64, 1, &lines, err));
    GANZ_TRY(ganz_writer_declare(writer, about_slots, GANZ_DTYPE_F32, 1, &slots, err));
    if (p->average) GANZ_TRY(ganz_writer_declare(writer, about_average, GANZ_DTYPE_F32, 1, &block, err));
    if (p->scale_optim) GANZ_TRY(declare_scales(writer, p, err));
    if (p->row_optim) GANZ_TRY(declare_rows(writer, p, err));
    GANZ_TRY(ganz_model_declare(writer, p->info, p->net, p->vocab, err));
    const size_t line_bytes = (size_t)p->lines * sizeof *p->best_lines;
    if (p->best_lines) GANZ_TRY(ganz_writer_write(writer, p->best_lines, line_bytes, err));
    GANZ_TRY(write_block(writer, p->weights, p->optim->slots, p->optim->slot_count, err));
    if (p->average) GANZ_TRY(write_block(writer, p->weights, p->average, p->net->params.block, err));
    if (p->scale_optim) GANZ_TRY(write_scales(writer, p, err));
    if (p->row_optim) GANZ_TRY(write_rows(writer, p, err));
    return ganz_model_write(writer, p->net, p->vocab, params, err);
}

ganz_status ganz_checkpoint_save(const char *path, const ganz_run_parts *p, const ganz_counters *counters,
                                 ganz_error *err)
{
    const real *params = NULL;
    ganz_writer *writer = NULL;
    ganz_status status;
    GANZ_CHECK(fetch(p->weights, p->weights->master, p->net->params.block, &params, err));
    GANZ_CHECK(check_finite(params, p->net->params.block, err));
    GANZ_CHECK(ganz_writer_open(&writer, path, true, err));
    GANZ_CHECK(write_all(writer, p, counters, params, err));
    status = ganz_writer_finish(&writer, err);
out:
    ganz_writer_abandon(&writer);
    release(p->weights, params);
    return status;
}

ganz_status ganz_checkpoint_model(const char *path, const ganz_run_parts *p, const real *block, int64_t step,
                                  ganz_error *err)
{
    const real *params = NULL;
    ganz_writer *writer = NULL;
    ganz_status status;
    GANZ_CHECK(fetch(p->weights, block, p->net->params.block, &params, err));
    GANZ_CHECK(check_finite(params, p->net->params.block, err));
    GANZ_CHECK(ganz_writer_open(&writer, path, true, err));
    GANZ_CHECK(write_making(writer, p, err));
    GANZ_CHECK(ganz_writer_int(writer, about_trained, step, err));
    GANZ_CHECK(ganz_model_declare(writer, p->info, p->net, p->vocab, err));
    GANZ_CHECK(ganz_model_write(writer, p->net, p->vocab, params, err));
    status = ganz_writer_finish(&writer, err);
out:
    ganz_writer_abandon(&writer);
    release(p->weights, params);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* Settings that the file has, all or those of training; the others are left as they are. */
static ganz_status read_noted(const ganz_container *file, bool all, ganz_recipe *recipe, ganz_error *err)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    for (int i = 0; i < count; i++) {
        char key[64];
        ganz_error why;
        if (!all && table[i].use == GANZ_USE_QUANTIZE) continue;
        snprintf(key, sizeof key, "recipe.%s", table[i].name);
        const char *const text = ganz_container_text(file, key);
        if (text && ganz_recipe_set(recipe, table[i].name, text, &why) != GANZ_OK)
            return ganz_fail(err, GANZ_EFORMAT, "%s: %s", ganz_container_name(file), why.message);
    }
    return GANZ_OK;
}

static ganz_status read_settings(const ganz_container *file, ganz_recipe *recipe, ganz_error *err)
{
    if (!ganz_container_text(file, "training.step"))
        return ganz_fail(err, GANZ_EFORMAT, "%s: a model, but not a checkpoint of a run", ganz_container_name(file));
    ganz_recipe_defaults(recipe);                /* settings that are younger than the file */
    recipe->learn_from = GANZ_LEARN_FROM_CORPUS; /* whatever the default is now */
    return read_noted(file, true, recipe, err);
}

/* The teacher of the model is not taken over: with its parameters but without its teacher the model would be its own.
 */
ganz_status ganz_checkpoint_origin(const ganz_container *file, ganz_recipe *recipe, ganz_origin *origin,
                                   ganz_error *err)
{
    const long long learn_from = recipe->learn_from;
    *origin = (ganz_origin){.recipe = ganz_container_text(file, "recipe.width") != NULL};
    GANZ_TRY(read_noted(file, false, recipe, err));
    recipe->learn_from = learn_from;
    const char *const key = ganz_container_text(file, "training.step") ? "training.step" : about_trained;
    if (!ganz_container_text(file, key)) return GANZ_OK;
    return ganz_container_get_int(file, key, 0, MOST_COUNTED, &origin->step, err);
}

ganz_status ganz_checkpoint_note_origin(ganz_writer *writer, const ganz_container *file, ganz_error *err)
{
    ganz_recipe recipe;
    ganz_origin origin;
    ganz_recipe_defaults(&recipe);
    GANZ_TRY(ganz_checkpoint_origin(file, &recipe, &origin, err));
    if (origin.recipe) GANZ_TRY(write_settings(writer, &recipe, err));
    const char *const changes = ganz_container_text(file, about_changes);
    if (changes) GANZ_TRY(ganz_writer_text(writer, about_changes, changes, err));
    return origin.step > 0 ? ganz_writer_int(writer, about_trained, origin.step, err) : GANZ_OK;
}

ganz_status ganz_checkpoint_slots(const ganz_container *file, const ganz_weights *weights, const ganz_optim *optim,
                                  bool *found, ganz_error *err)
{
    const ganz_entry *const e = ganz_container_find(file, about_slots);
    const char *const made_by = ganz_container_text(file, "recipe.optimizer");
    *found = e && e->dtype == GANZ_DTYPE_F32 && e->bytes == optim->slot_count * sizeof(float) && made_by &&
             (strcmp(made_by, "adam") == 0) == optim->adam;
    if (!*found) return GANZ_OK;
    return read_block(file, e, weights, optim->slots, err);
}

/* Settings that decide the shape of a run are the same from its first step to its last. */
static ganz_status compare_settings(const ganz_container *file, const ganz_recipe *recipe, ganz_recipe *made,
                                    ganz_error *err)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    GANZ_TRY(read_settings(file, made, err));
    for (int i = 0; i < count; i++) {
        char before[GANZ_VALUE_BYTES], now[GANZ_VALUE_BYTES];
        if (!table[i].fixed) continue;
        ganz_recipe_get(made, &table[i], before);
        ganz_recipe_get(recipe, &table[i], now);
        if (strcmp(before, now) != 0)
            return ganz_fail(err, GANZ_EINVAL, "%s was made with %s %s, not %s", ganz_container_name(file),
                             table[i].name, before, now);
    }
    return GANZ_OK;
}

static ganz_status compare_vocab(const ganz_container *file, const ganz_model_info *info, const ganz_vocab *vocab,
                                 ganz_error *err)
{
    bool same;
    GANZ_TRY(ganz_model_same_vocab(file, &info->config, vocab, &same, err));
    if (same) return GANZ_OK;
    return ganz_fail(err, GANZ_EINVAL, "%s was made with another vocabulary (%d entries, this one has %d)",
                     ganz_container_name(file), info->config.vocab, ganz_vocab_size(vocab));
}

static ganz_status read_counters(const ganz_container *file, ganz_counters *counters, ganz_error *err)
{
    for (size_t i = 0; i < GANZ_COUNT(fields); i++) {
        void *const to = (char *)counters + fields[i].offset;
        if (fields[i].later && !ganz_container_text(file, fields[i].name)) continue;
        if (fields[i].real_number) GANZ_TRY(ganz_container_get_real(file, fields[i].name, to, err));
        else GANZ_TRY(ganz_container_get_int(file, fields[i].name, 0, MOST_COUNTED, to, err));
    }
    if (counters->phase < GANZ_PHASES) return GANZ_OK;
    return ganz_fail(err, GANZ_EFORMAT, "%s: there is no phase %lld", ganz_container_name(file),
                     (long long)counters->phase);
}

/* A run with another teacher or other first scales would give another model. Older files have no sums. */
static ganz_status compare_sums(const ganz_container *file, const ganz_run_parts *p, const ganz_counters *at,
                                ganz_error *err)
{
    const char *const teacher = ganz_container_text(file, about_teacher), *const given =
                                                                              ganz_container_text(file, about_given);
    const char *const name = ganz_container_name(file);
    const bool used = at->phase > GANZ_PHASE_RANGES; /* they are scales by now */
    if (teacher && strcmp(teacher, print_sum(p->teacher).text) != 0)
        return ganz_fail(err, GANZ_EINVAL, "%s learns from another teacher: give the same one", name);
    if (given && (p->ranges || !used) && strcmp(given, print_sum(p->ranges).text) != 0)
        return ganz_fail(err, GANZ_EINVAL,
                         "%s was begun with other steps: give the integer model it was given, or none if it was none",
                         name);
    return GANZ_OK;
}

/* The tensors of a checkpoint that are beside the model. */
typedef struct extras {
    const ganz_entry *slots, *average, *z, *ranges, *scale_slots, *lines, *rows, *row_slots;
} extras;

/* Training and quantization hold different things: one cannot go on with the other. */
static ganz_status compare_kind(const ganz_container *file, bool quantizes, ganz_error *err)
{
    static const char *const kinds[] = {"training", "quantization"};
    const bool quantized = ganz_container_find(file, about_z) != NULL;
    if (quantized == quantizes) return GANZ_OK;
    return ganz_fail(err, GANZ_EINVAL, "%s is a checkpoint of %s, not of %s", ganz_container_name(file),
                     kinds[quantized], kinds[!quantized]);
}

/* Tensors of runs that quantize; and the sums of lines, when they are of this validation set. */
static ganz_status check_scales(const ganz_container *file, const ganz_run_parts *p, extras *found, ganz_error *err)
{
    const int64_t scales = p->net->scales;
    found->lines = ganz_container_find(file, about_lines);
    if (found->lines && (!p->best_lines || found->lines->dtype != GANZ_DTYPE_U64 ||
                         found->lines->bytes != (size_t)p->lines * sizeof *p->best_lines))
        found->lines = NULL;
    if (!p->scale_optim) return GANZ_OK;
    const int64_t slots = (int64_t)p->scale_optim->slot_count;
    GANZ_TRY(ganz_container_get(file, about_z, GANZ_DTYPE_F32, 1, &scales, &found->z, err));
    GANZ_TRY(ganz_container_get(file, about_ranges, GANZ_DTYPE_F32, 1, &scales, &found->ranges, err));
    return ganz_container_get(file, about_scale_slots, GANZ_DTYPE_F32, 1, &slots, &found->scale_slots, err);
}

static ganz_status check_rows(const ganz_container *file, const ganz_run_parts *p, extras *found, ganz_error *err)
{
    if (!p->row_optim) return GANZ_OK;
    const int64_t rows = p->net->rows, slots = (int64_t)p->row_optim->slot_count;
    GANZ_TRY(ganz_container_get(file, about_rows, GANZ_DTYPE_F32, 1, &rows, &found->rows, err));
    return ganz_container_get(file, about_row_slots, GANZ_DTYPE_F32, 1, &slots, &found->row_slots, err);
}

static ganz_status check_all(const ganz_container *file, const ganz_run_parts *p, extras *found, ganz_recipe *made,
                             ganz_error *err)
{
    ganz_model_info info;
    const int64_t slots = (int64_t)p->optim->slot_count, block = (int64_t)p->net->params.block;
    GANZ_TRY(ganz_model_read_info(file, &info, err));
    GANZ_TRY(compare_settings(file, p->recipe, made, err));
    GANZ_TRY(compare_kind(file, p->scale_optim != NULL, err));
    GANZ_TRY(compare_vocab(file, &info, p->vocab, err));
    GANZ_TRY(ganz_model_check_params(file, p->net, err));
    GANZ_TRY(ganz_container_get(file, about_slots, GANZ_DTYPE_F32, 1, &slots, &found->slots, err));
    *found = (extras){.slots = found->slots};
    GANZ_TRY(check_scales(file, p, found, err));
    GANZ_TRY(check_rows(file, p, found, err));
    if (p->average && ganz_container_find(file, about_average))
        GANZ_TRY(ganz_container_get(file, about_average, GANZ_DTYPE_F32, 1, &block, &found->average, err));
    return ganz_container_verify(file, err);
}

static ganz_status restore_scales(const ganz_container *file, const ganz_run_parts *p, const extras *found,
                                  ganz_error *err)
{
    GANZ_TRY(read_block(file, found->z, p->weights, (real *)(uintptr_t)z_of(p), err));
    GANZ_TRY(read_block(file, found->ranges, p->weights, p->weights->largest, err));
    GANZ_TRY(read_block(file, found->scale_slots, p->weights, p->scale_optim->slots, err));
    if (!found->rows) return GANZ_OK;
    GANZ_TRY(read_block(file, found->rows, p->weights, rows_of(p), err));
    return read_block(file, found->row_slots, p->weights, p->row_optim->slots, err);
}

static ganz_status restore(const ganz_container *file, const ganz_run_parts *p, const extras *found, ganz_error *err)
{
    const ganz_weights *const w = p->weights;
    const size_t count = p->net->params.block;
    real *const params = ganz_alloc(count, sizeof *params);
    if (!params) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a checkpoint");
    w->be->download(w->be, params, w->master, count * sizeof *params); /* the scales stay */
    ganz_status status;
    GANZ_CHECK(ganz_model_read_params(file, p->net, params, err));
    w->be->upload(w->be, w->master, params, count * sizeof *params);
    GANZ_CHECK(read_block(file, found->slots, w, p->optim->slots, err));
    if (found->z) GANZ_CHECK(restore_scales(file, p, found, err));
    if (found->lines) GANZ_CHECK(ganz_container_load(file, found->lines, p->best_lines, err));
    if (found->average) GANZ_CHECK(read_block(file, found->average, w, p->average, err));
    else if (p->average)
        w->be->copy(w->be, p->average, w->master, count * sizeof *params); /* the average begins here */
    status = w->be->sync(w->be, err);
out:
    ganz_free(params);
    return status;
}

static ganz_status copy_text(const ganz_container *file, const char *key, char **copy, ganz_error *err)
{
    const char *const text = ganz_container_text(file, key);
    if (!text || (*copy = ganz_strdup(text))) return GANZ_OK;
    return ganz_fail(err, GANZ_ENOMEM, "out of memory");
}

static ganz_status copy_texts(const ganz_container *file, ganz_past *past, ganz_error *err)
{
    GANZ_TRY(copy_text(file, "command", &past->command, err));
    GANZ_TRY(copy_text(file, about_changes, &past->changes, err));
    GANZ_TRY(copy_text(file, "source_language", &past->source_language, err));
    GANZ_TRY(copy_text(file, "target_language", &past->target_language, err));
    GANZ_TRY(copy_text(file, "formal_mark", &past->formal_mark, err));
    return copy_text(file, "informal_mark", &past->informal_mark, err);
}

void ganz_past_free(ganz_past *past)
{
    ganz_free(past->command);
    ganz_free(past->changes);
    ganz_free(past->source_language);
    ganz_free(past->target_language);
    ganz_free(past->formal_mark);
    ganz_free(past->informal_mark);
    *past = (ganz_past){0};
}

ganz_status ganz_checkpoint_load(const char *path, const ganz_run_parts *p, ganz_counters *counters, ganz_past *past,
                                 ganz_error *err)
{
    *past = (ganz_past){0};
    ganz_container *file;
    ganz_counters read;
    extras found;
    ganz_status status;
    GANZ_TRY(ganz_container_open(&file, path, err));
    GANZ_CHECK(check_all(file, p, &found, &past->recipe, err));
    GANZ_CHECK(read_counters(file, &read, err));
    GANZ_CHECK(compare_sums(file, p, &read, err));
    GANZ_CHECK(restore(file, p, &found, err));
    *counters = read;
    GANZ_CHECK(copy_texts(file, past, err));
out:
    if (status != GANZ_OK) ganz_past_free(past);
    ganz_container_close(&file);
    return status;
}

ganz_status ganz_checkpoint_check_kind(const char *path, bool quantizes, ganz_error *err)
{
    ganz_container *file;
    GANZ_TRY(ganz_container_open(&file, path, err));
    const ganz_status status = compare_kind(file, quantizes, err);
    ganz_container_close(&file);
    return status;
}

ganz_status ganz_checkpoint_recipe(const char *path, ganz_recipe *recipe, ganz_error *err)
{
    ganz_container *file;
    GANZ_TRY(ganz_container_open(&file, path, err));
    const ganz_status status = read_settings(file, recipe, err);
    ganz_container_close(&file);
    return status;
}
