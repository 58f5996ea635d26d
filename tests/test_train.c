/* Training goes on where it stopped, and nothing depends on threads or on how batches are cut. That it learns:
 * test_train_learns.c. */
#define _GNU_SOURCE /* memmem */
#include "test.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flip.h"
#include "folder.h"
#include "kernel/kernel.h"
#include "toy.h"

/* ---- files -------------------------------------------------------------------------------------- */

/* A run with everything on that has a memory: dropout, both averages, validation, several parts a step. */
static ganz_train_options full_options(const char *folder)
{
    ganz_train_options o = toy_options("reverse");
    o.recipe.steps = 60;
    o.recipe.dropout = o.recipe.dropout_relu = o.recipe.dropout_attention = 0.1;
    o.recipe.label_smoothing = 0.1;
    o.recipe.micro_tokens = 128;
    o.recipe.log_every = 7;
    o.recipe.validate_every = 21;
    o.recipe.save_every = 10;
    o.recipe.average_last = 2;
    o.recipe.average_decay = 0.9;
    o.valid_source = in_dir("valid.src");
    o.valid_target = in_dir("valid.tgt");
    o.out = in_dir(folder);
    return o;
}

/* Stops come after a step, in the midst of a validation (21), and at a save (30). */
static void resumed_is_uninterrupted(void **state)
{
    (void)state;
    ganz_train_options whole = full_options("whole"), parts = full_options("parts");
    must_train(&whole);
    static const long long stops[] = {7, 21, 28, 35, 0};
    for (size_t i = 0; i < GANZ_COUNT(stops); i++) {
        stopper s = {.at = stops[i]};
        ganz_error err = {0};
        parts.stop = &s.flag;
        parts.progress = stop_at;
        parts.context = &s;
        const ganz_status status = ganz_train(&parts, NULL, &err);
        if (status != (stops[i] ? GANZ_ESTOPPED : GANZ_OK)) fail_msg("%s", err.message);
        parts.resume = true;
    }
    assert_true(same_in(whole.out, parts.out, "last.safetensors"));
    assert_true(same_in(whole.out, parts.out, "best.safetensors"));
    assert_true(same_in(whole.out, parts.out, "average.safetensors"));
    assert_true(same_in(whole.out, parts.out, "model-50.safetensors"));
    same_log(in_dir("whole/log.tsv"), in_dir("parts/log.tsv"));
    assert_false(ganz_exists(in_dir("parts/model-40.safetensors")));
    assert_true(ganz_exists(in_dir("parts/loss.svg")));
    parts.stop = NULL;
    parts.progress = NULL;
    must_train(&parts); /* nothing is left to do */
    assert_true(same_in(whole.out, parts.out, "last.safetensors"));
}

/* ---- branches ----------------------------------------------------------------------------------- */

static bool same_parameters(const char *left, const char *right)
{
    ganz_model *a, *b;
    assert_int_equal(GANZ_OK, ganz_model_open(&a, left, NULL));
    assert_int_equal(GANZ_OK, ganz_model_open(&b, right, NULL));
    const bool same = memcmp(a->weights.master, b->weights.master, a->net.params.block * sizeof(real)) == 0;
    ganz_model_close(&a);
    ganz_model_close(&b);
    return same;
}

static void expect_changes(const char *path, const char *changes)
{
    ganz_container *file;
    assert_int_equal(GANZ_OK, ganz_container_open(&file, path, NULL));
    const char *const text = ganz_container_text(file, "changes");
    if (changes) assert_string_equal(changes, text ? text : "none");
    else assert_null(text);
    ganz_container_close(&file);
}

/* A run made longer step by step is the long run; and from any of its ends another branch cools down. */
static void a_run_can_branch(void **state)
{
    (void)state;
    ganz_train_options whole = full_options("straight"), parts = full_options("branched");
    whole.recipe.cooldown = parts.recipe.cooldown = 0;
    must_train(&whole);
    parts.recipe.steps = 30;
    must_train(&parts);
    expect_changes(in_dir("branched/last.safetensors"), NULL);
    parts.resume = true;
    parts.recipe.steps = 60;
    must_train(&parts);
    assert_true(same_parameters(in_dir("straight/last.safetensors"), in_dir("branched/last.safetensors")));
    assert_false(same_in(whole.out, parts.out, "last.safetensors"));
    expect_changes(in_dir("branched/last.safetensors"), "at step 30: steps 60 (before: 30)");

    parts.recipe.steps = 80;
    parts.recipe.cooldown = 0.25;
    must_train(&parts);
    static const char all[] =
        "at step 30: steps 60 (before: 30); at step 60: cooldown 0.25 (before: 0), steps 80 (before: 60)";
    expect_changes(in_dir("branched/last.safetensors"), all);
    expect_changes(in_dir("branched/model-80.safetensors"), all);
    ganz_log_record *records;
    int count, notes = 0;
    assert_int_equal(GANZ_OK, ganz_log_read(in_dir("branched/log.tsv"), &records, &count, NULL));
    double flat = 0, cooled = 0;
    for (int i = 0; i < count; i++) {
        if (records[i].step <= 60 && isfinite(records[i].rate)) flat = records[i].rate;
        if (isfinite(records[i].rate)) cooled = records[i].rate;
        notes += isnan(records[i].rate) && isnan(records[i].valid_loss);
    }
    ganz_free(records);
    assert_int_equal(2, notes);
    assert_float_equal((float)(cooled / flat), 1.0F / 20, 1e-6F); /* the last of 20 falling steps */

    parts.recipe.seed++;
    ganz_error err;
    assert_int_equal(GANZ_EINVAL, ganz_train(&parts, NULL, &err));
    assert_non_null(strstr(err.message, "was made with seed"));
}

/* A stop between the parts of a step leaves no trace of it. */
static void half_a_step_is_undone(void **state)
{
    (void)state;
    ganz_train_options o = full_options("half");
    ganz_trainer *t, *u;
    ganz_flag stop = {0};
    o.stop = &stop;
    assert_int_equal(GANZ_OK, ganz_trainer_open(&t, &o, NULL));
    assert_int_equal(GANZ_OK, ganz_trainer_open(&u, &o, NULL));
    for (int i = 0; i < 6; i++) {
        if (i % 2 == 1) {
            ganz_flag_set(&stop);
            assert_int_equal(GANZ_ESTOPPED, ganz_trainer_step(t, 0, NULL, NULL));
            ganz_flag_clear(&stop);
        }
        assert_int_equal(GANZ_OK, ganz_trainer_step(t, 0, NULL, NULL));
        assert_int_equal(GANZ_OK, ganz_trainer_step(u, 0, NULL, NULL));
    }
    assert_int_equal(GANZ_OK, ganz_trainer_drain(t, NULL, NULL));
    assert_int_equal(GANZ_OK, ganz_trainer_drain(u, NULL, NULL));
    assert_memory_equal(&t->counters, &u->counters, sizeof t->counters);
    assert_memory_equal(t->weights.master, u->weights.master, t->net.params.block * sizeof(real));
    ganz_trainer_close(&t);
    ganz_trainer_close(&u);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const char *const folders[] = {"one", "two", "five"};
    static const int threads[] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        ganz_train_options o = full_options(folders[i]);
        o.recipe.steps = 20;
        o.threads = threads[i];
        must_train(&o);
        if (i > 0) assert_true(same_in(in_dir("one"), o.out, "last.safetensors"));
    }
}

/* In bfloat16 not even the processor: what AMX computes is what the definition says. */
static void train_in_bf16(const char *folder, int threads)
{
    ganz_train_options o = full_options(folder);
    o.recipe.steps = 12;
    o.recipe.precision = GANZ_PRECISION_BF16;
    o.threads = threads;
    must_train(&o);
}

static void processors_change_nothing_in_bf16(void **state)
{
    (void)state;
    ganz_cpu_set_mask(0);
    train_in_bf16("bf16-scalar", 2);
    ganz_cpu_set_mask(GANZ_CPU_ALL);
    if (!(ganz_cpu_detect() & GANZ_CPU_AMXBF16)) return;
    train_in_bf16("bf16-one", 1);
    train_in_bf16("bf16-three", 3);
    assert_true(same_in(in_dir("bf16-scalar"), in_dir("bf16-one"), "last.safetensors"));
    assert_true(same_in(in_dir("bf16-scalar"), in_dir("bf16-three"), "last.safetensors"));
}

/* ---- parts of a step ---------------------------------------------------------------------------- */

/* Gradient of one batch, computed at most `tokens` at a time; the caller frees it. */
static real *gradient(int tokens, size_t *count, double *loss)
{
    ganz_train_options o = toy_options("reverse");
    ganz_trainer *t;
    ganz_batch batch;
    o.recipe.micro_tokens = tokens;
    o.recipe.rows = 8;
    assert_int_equal(GANZ_OK, ganz_trainer_open(&t, &o, NULL));
    assert_int_equal(GANZ_OK, ganz_loader_next(t->loader, &batch, NULL));
    assert_int_equal(GANZ_OK, ganz_stepper_train(&t->stepper, &batch, 1, NULL, NULL));
    assert_int_equal(GANZ_OK, ganz_trainer_drain(t, NULL, NULL));
    *count = t->net.params.block;
    *loss = t->counters.loss / t->counters.counted;
    real *const copy = malloc(*count * sizeof *copy);
    memcpy(copy, t->weights.grad, *count * sizeof *copy);
    ganz_trainer_close(&t);
    return copy;
}

static void parts_make_a_whole(void **state)
{
    (void)state;
    size_t count;
    double whole_loss, loss, size = 0, apart = 0;
    real *const whole = gradient(0, &count, &whole_loss), *const parts = gradient(64, &count, &loss);
    for (size_t i = 0; i < count; i++) {
        size += (double)whole[i] * whole[i];
        apart += ((double)whole[i] - parts[i]) * ((double)whole[i] - parts[i]);
    }
    assert_true(size > 0);
    assert_true(sqrt(apart / size) < 1e-5);
    assert_true(fabs(whole_loss - loss) < 1e-5 * loss);
    free(whole);
    free(parts);
}

/* What arrives on the device, against the batch it came from. */
static void check_feed(const ganz_batch *b, int first, int last, const ganz_feed *f)
{
    const int at = b->target_begin[first], rows = b->target_begin[last] - at;
    assert_int_equal(rows, f->target.rows);
    assert_int_equal(b->source_begin[last] - b->source_begin[first], f->source.rows);
    for (int i = 0; i < rows; i++)
        assert_int_equal(b->target_in[at + i] < 0 ? GANZ_START : b->target_in[at + i], f->target.ids[i]);
    assert_memory_equal(b->target_out + at, f->labels, sizeof(int32_t) * (size_t)rows);
    for (int i = 0; i < rows; i++) {
        assert_int_equal(b->target_row[at + i] - b->target_row[at], f->target.row[i]);
        assert_in_range(f->target.row[i], 0, f->target.packed_rows - 1);
    }
    for (int i = 1; i < rows; i++) { /* sorted by id, equal ids in their order; every token once */
        const int32_t x = f->target.by_id[i - 1], y = f->target.by_id[i];
        const int32_t before = f->target.ids[x] < 0 ? 0 : f->target.ids[x];
        const int32_t after = f->target.ids[y] < 0 ? 0 : f->target.ids[y];
        assert_true(before < after || (before == after && x < y));
    }
    assert_int_equal(last - first, f->decoder.segments);
    for (int i = first, longest = 0; i <= last; i++) {
        assert_int_equal(b->target_begin[i] - at, f->decoder.query_begin[i - first]);
        assert_int_equal(b->source_begin[i] - b->source_begin[first], f->cross.key_begin[i - first]);
        const int length = i < last ? b->target_begin[i + 1] - b->target_begin[i] : 0;
        longest = length > longest ? length : longest;
        if (i == last) assert_int_equal(longest, f->decoder.longest_query);
    }
}

static void parts_are_whole_rows(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("reverse");
    ganz_trainer *t;
    ganz_batch b;
    ganz_feed feed;
    int parts = 0;
    o.recipe.micro_tokens = 128;
    o.recipe.rows = 7;
    assert_int_equal(GANZ_OK, ganz_trainer_open(&t, &o, NULL));
    assert_int_equal(GANZ_OK, ganz_loader_next(t->loader, &b, NULL));
    for (int first = 0, last; first < b.segments; first = last, parts++) {
        last = ganz_batch_cut(&b, first, 128);
        assert_true(last > first);
        if (last < b.segments)
            assert_int_not_equal(b.target_row[b.target_begin[last]], b.target_row[b.target_begin[last] - 1]);
        ganz_upload_part(&t->stepper.upload, &b, first, last, 64, &feed);
        check_feed(&b, first, last, &feed);
    }
    assert_true(parts >= 3);
    ganz_trainer_close(&t);
}

/* ---- refusals ----------------------------------------------------------------------------------- */

static void refuses(const ganz_train_options *o, const char *says)
{
    ganz_error err = {0};
    assert_int_not_equal(GANZ_OK, ganz_train(o, NULL, &err));
    if (!strstr(err.message, says)) fail_msg("says: %s", err.message);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("other");
    o.out = in_dir("refused");
    o.recipe.steps = 10;
    refuses(&o, "vocabulary");
    assert_false(ganz_exists(o.out));
    o.train = in_dir("absent");
    refuses(&o, "absent");
    o.train = in_dir("copy");
    o.valid_source = in_dir("valid.src");
    refuses(&o, "both a source and a target");
    o.valid_target = in_dir("vocab");
    refuses(&o, "lines");
    o.valid_source = o.valid_target = NULL;
    o.device = "tpu";
    refuses(&o, "device is cpu, cuda or cuda:N, not tpu");
    o.device = "cpu";
    o.recipe.precision = GANZ_PRECISION_TF32;
    refuses(&o, "not in tf32");
    o.recipe.precision = GANZ_PRECISION_BF16;
    ganz_cpu_set_mask(GANZ_CPU_ALL & ~(unsigned)GANZ_CPU_AMXBF16);
    if (ganz_cpu_detect()) refuses(&o, "bf16 only where it has AMX-BF16; this one has ");
    if (ganz_cpu_detect()) refuses(&o, ": precision fp32 does without");
    ganz_cpu_set_mask(GANZ_CPU_ALL);
    o.recipe.precision = GANZ_PRECISION_AUTO;
    assert_false(ganz_exists(o.out));
    must_train(&o);
    refuses(&o, "holds a run already");
    o.resume = true;
    o.recipe.width = 64;
    refuses(&o, "was made with width 32, not 64");
    o.recipe.width = 32;
    o.recipe.seed = 2;
    refuses(&o, "was made with seed 1, not 2");
}

static void broken_checkpoints_are_refused(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("copy");
    char path[256];
    o.out = in_dir("broken");
    o.recipe.steps = 4;
    must_train(&o);
    o.resume = true;
    o.recipe.steps = 8;
    snprintf(path, sizeof path, "%s/last.safetensors", o.out);
    struct stat info;
    assert_int_equal(0, stat(path, &info));
    FILE *file = fopen(path, "r+b"); /* one bit, in the optimizer's numbers */
    fseek(file, -info.st_size / 2, SEEK_END);
    const int byte = fgetc(file);
    fseek(file, -1, SEEK_CUR);
    fputc(byte ^ 1, file);
    fclose(file);
    refuses(&o, "checksum");
    assert_int_equal(0, truncate(path, info.st_size - 100));
    refuses(&o, "last.safetensors");
    ganz_recipe recipe;
    bool found;
    assert_int_equal(GANZ_OK, ganz_train_recipe(in_dir("nowhere"), &recipe, &found, NULL));
    assert_false(found);
}

/* A copy of a file whose header has `text` for the number of a key, and no checksum. */
static void forge_number(const char *from, const char *to, const char *key, const char *text)
{
    size_t bytes, size = 0;
    char *const data = read_whole(from, &bytes), name[64];
    assert_non_null(data);
    unsum_header(data, bytes);
    memcpy(&size, data, 8);
    const int length = snprintf(name, sizeof name, "\"%s\":\"", key);
    char *const at = memmem(data + 8, size, name, (size_t)length);
    assert_non_null(at);
    char *const digits = at + length, *const end = strchr(digits, '"');
    const size_t before = (size_t)(digits - (data + 8)), after = size - (size_t)(end - (data + 8));
    const size_t used = before + strlen(text) + after, whole = (used + 8 + 63) / 64 * 64 - 8;
    FILE *const file = fopen(to, "wb");
    fwrite(&whole, 8, 1, file);
    fwrite(data + 8, 1, before, file);
    fputs(text, file);
    fwrite(end, 1, after, file);
    fprintf(file, "%*s", (int)(whole - used), "");
    fwrite(data + 8 + size, 1, bytes - 8 - size, file);
    assert_int_equal(fclose(file), 0);
    free(data);
}

/* A run that has not come to its first checkpoint has its best model alone; a second one must not take it away, nor
 * read a checkpoint that may be replaced while it does. */
static void folders_in_use_are_left_alone(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("copy");
    char log[256], best[256], last[256];
    o.out = in_dir("in use");
    o.recipe.steps = 1;
    snprintf(log, sizeof log, "%s/log.tsv", o.out);
    snprintf(best, sizeof best, "%s/best.safetensors", o.out);
    snprintf(last, sizeof last, "%s/last.safetensors", o.out);
    must_train(&o);
    assert_int_equal(0, rename(last, best));
    const int other = open(log, O_RDONLY | O_CLOEXEC);
    assert_int_equal(0, flock(other, LOCK_EX | LOCK_NB));
    o.resume = true;
    refuses(&o, "log.tsv is in use by another run");
    assert_true(ganz_exists(best));
    assert_int_equal(0, link(log, last)); /* no checkpoint, if it were read */
    refuses(&o, "log.tsv is in use by another run");
    assert_int_equal(0, unlink(last));
    close(other);
    must_train(&o);
    assert_true(ganz_exists(last));
}

/* Begins a run in a new folder, as another process would, while the one under test reads a pipe. */
typedef struct other_run {
    const char *pipe, *text, *folder;
    char log[256], best[256];
    int lock; /* file */
    bool good;
} other_run;

static void *begin_meanwhile(void *context)
{
    other_run *const o = context;
    size_t bytes;
    FILE *const out = fopen(o->pipe, "wb"); /* waits for its reader */
    char *const text = read_whole(o->text, &bytes);
    o->good = out && mkdir(o->folder, 0777) == 0;
    o->lock = open(o->log, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
    FILE *const best = fopen(o->best, "wb");
    o->good = o->good && best && fclose(best) == 0 && flock(o->lock, LOCK_EX | LOCK_NB) == 0;
    o->good = o->good && fwrite(text, 1, bytes, out) == bytes;
    if (out) fclose(out);
    free(text);
    return NULL;
}

static void a_folder_that_is_taken_meanwhile_is_left_alone(void **state)
{
    (void)state;
    pthread_t thread;
    ganz_train_options o = full_options("taken");
    other_run other = {.pipe = in_dir("valid.pipe"), .text = o.valid_source, .folder = o.out};
    snprintf(other.log, sizeof other.log, "%s/log.tsv", o.out);
    snprintf(other.best, sizeof other.best, "%s/best.safetensors", o.out);
    assert_int_equal(0, mkfifo(other.pipe, 0600));
    o.valid_source = other.pipe;
    o.resume = true;
    assert_int_equal(0, pthread_create(&thread, NULL, begin_meanwhile, &other));
    refuses(&o, "log.tsv is in use by another run");
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_true(other.good);
    assert_true(ganz_exists(other.best));
    close(other.lock);
    assert_int_equal(0, unlink(other.pipe));
}

/* Sums of such counts would overflow. */
static void counts_beyond_reason_are_refused(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("copy");
    char path[256], kept[256];
    o.out = in_dir("counts");
    o.recipe.steps = 2;
    must_train(&o);
    o.resume = true;
    o.recipe.steps = 3;
    snprintf(path, sizeof path, "%s/last.safetensors", o.out);
    snprintf(kept, sizeof kept, "%s/kept", o.out);
    assert_int_equal(0, rename(path, kept));
    const char *const keys[] = {"training.step", "training.tokens", "training.updates", "training.epoch"};
    for (size_t i = 0; i < GANZ_COUNT(keys); i++) {
        forge_number(kept, path, keys[i], "9223372036854775807");
        refuses(&o, "is 9223372036854775807, expected 0 to 1000000000000000");
    }
    assert_int_equal(0, rename(kept, path));
    must_train(&o);
}

/* Whatever part a model has in a run. */
static void broken_models_are_refused(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("copy"), sound = o;
    const char *const path = in_dir("sound/last.safetensors");
    sound.out = in_dir("sound");
    sound.recipe.steps = 1;
    must_train(&sound);
    o.out = in_dir("unsound");
    flip_bit(path, "enc.0.ffn.in.weight");
    o.teachers = &path;
    o.teacher_count = 1;
    refuses(&o, "sound/last.safetensors: tensor enc.0.ffn.in.weight: its data is damaged");
    o.teacher_count = 0;
    o.model = path;
    o.vocab = NULL;
    refuses(&o, "sound/last.safetensors: tensor enc.0.ffn.in.weight: its data is damaged");
    o.quantize = true;
    refuses(&o, "sound/last.safetensors: tensor enc.0.ffn.in.weight: its data is damaged");
    flip_bit(path, "enc.0.ffn.in.weight");
    flip_bit(path, "training.slots"); /* quantization goes on with them */
    refuses(&o, "sound/last.safetensors: tensor training.slots: its data is damaged");
    const char *const both[] = {path, path};
    flip_bit(path, "embedding");
    assert_int_equal(GANZ_EFORMAT, ganz_average_models(both, 2, in_dir("unsound"), NULL));
    assert_false(ganz_exists(o.out));
}

/* A run that goes wrong says so and leaves its last checkpoint alone. */
static void divergence_stops(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("copy");
    char last[256], kept[256];
    o.out = in_dir("wild");
    o.recipe.steps = 10;
    o.recipe.log_every = 2;
    must_train(&o);
    snprintf(last, sizeof last, "%s/last.safetensors", o.out);
    snprintf(kept, sizeof kept, "%s/kept", o.out);
    assert_int_equal(0, link(last, kept));
    o.resume = true;
    o.recipe.steps = 100;
    o.recipe.learning_rate = 1000;
    o.recipe.save_every = 1;
    refuses(&o, "the last good state is in");
    o.recipe.learning_rate = 0.1;
    o.recipe.save_every = 50;
    must_train(&o); /* and from there it can go on */
}

static void early_stop(void **state)
{
    (void)state;
    ganz_train_options o = full_options("early");
    ganz_train_report report;
    o.recipe.learning_rate = o.recipe.average_decay = 0; /* never gets better, not even by rounding */
    o.recipe.validate_every = 2;
    o.recipe.patience = 3;
    o.recipe.steps = 100;
    assert_int_equal(GANZ_OK, ganz_train(&o, &report, NULL));
    assert_int_equal(8, report.step);
    assert_int_equal(2, report.best_step);
    assert_true(report.early);
    o.out = in_dir("blind");
    o.valid_source = o.valid_target = NULL;
    refuses(&o, "patience");
    assert_false(ganz_exists(o.out));
}

/* A run's first models may all have a BLEU of 0: they do get better, and patience waits for them. */
static void equal_bleu_goes_by_loss(void **state)
{
    (void)state;
    ganz_train_options o = full_options("equal");
    ganz_train_report report;
    o.recipe.learning_rate = 1e-3; /* too little for other translations */
    o.recipe.validate_every = 2;
    o.recipe.patience = 3;
    o.recipe.steps = 20;
    assert_int_equal(GANZ_OK, ganz_train(&o, &report, NULL));
    assert_int_equal(20, report.step);
    assert_int_equal(20, report.best_step);
    assert_false(report.early);
}

/* A checkpoint that goes on without the model that was its best says of no file that it is there. */
static void a_lost_best_is_chosen_anew(void **state)
{
    (void)state;
    ganz_train_options o = full_options("lost");
    ganz_train_report report;
    o.recipe.learning_rate = o.recipe.average_decay = 0; /* never gets better, not even by rounding */
    o.recipe.validate_every = o.recipe.save_every = 2;
    o.recipe.steps = 4;
    assert_int_equal(GANZ_OK, ganz_train(&o, &report, NULL));
    assert_int_equal(2, report.best_step);
    assert_int_equal(0, unlink(in_dir("lost/best.safetensors")));
    o.resume = true;
    assert_int_equal(GANZ_OK, ganz_train(&o, &report, NULL));
    assert_int_equal(0, report.best_step); /* nothing more was validated */
    o.recipe.steps = 8;
    assert_int_equal(GANZ_OK, ganz_train(&o, &report, NULL));
    assert_int_equal(6, report.best_step);
    assert_true(ganz_exists(in_dir("lost/best.safetensors")));
}

static void models_are_averaged(void **state)
{
    (void)state;
    const char *const paths[] = {in_dir("whole/model-50.safetensors"), in_dir("whole/model-60.safetensors")};
    ganz_container *files[3];
    assert_int_equal(GANZ_OK, ganz_average_models(paths, 2, in_dir("mean.safetensors"), NULL));
    assert_int_equal(GANZ_OK, ganz_container_open(&files[0], paths[0], NULL));
    assert_int_equal(GANZ_OK, ganz_container_open(&files[1], paths[1], NULL));
    assert_int_equal(GANZ_OK, ganz_container_open(&files[2], in_dir("mean.safetensors"), NULL));
    for (int i = 0; i < ganz_container_count(files[2]); i++) {
        const ganz_entry *const mean = ganz_container_at(files[2], i);
        if (mean->dtype != GANZ_DTYPE_F32) continue;
        const ganz_entry *const e[] = {ganz_container_find(files[0], mean->name),
                                       ganz_container_find(files[1], mean->name), mean};
        for (int k = 0; k < 3; k++) assert_int_equal(GANZ_OK, ganz_container_check(files[k], e[k], NULL));
        const float *const a = e[0]->data, *const b = e[1]->data, *const m = mean->data;
        for (size_t j = 0; j < mean->bytes / sizeof(float); j++)
            assert_true(m[j] == (float)(((double)a[j] + b[j]) / 2));
    }
    for (int i = 0; i < 3; i++) ganz_container_close(&files[i]);
    const char *const strange[] = {paths[0], in_dir("copy")};
    assert_int_not_equal(GANZ_OK, ganz_average_models(strange, 2, in_dir("no.safetensors"), NULL));
    assert_false(ganz_exists(in_dir("no.safetensors")));
}

/* Sentences instead of packed rows. */
static void sentences_train_too(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("copy");
    ganz_train_report report;
    o.out = in_dir("sentences");
    o.recipe.batch = GANZ_BATCH_SENTENCES;
    o.recipe.batch_tokens = 256;
    o.recipe.steps = 100;
    o.recipe.dropout_attention = 0.1;
    o.valid_source = o.valid_target = in_dir("valid.src");
    assert_int_equal(GANZ_OK, ganz_train(&o, &report, NULL));
    assert_true(report.best_loss < 2.9); /* ln 18 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumed_is_uninterrupted),
        cmocka_unit_test(folders_in_use_are_left_alone),
        cmocka_unit_test(a_folder_that_is_taken_meanwhile_is_left_alone),
        cmocka_unit_test(a_run_can_branch),
        cmocka_unit_test(half_a_step_is_undone),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(processors_change_nothing_in_bf16),
        cmocka_unit_test(parts_make_a_whole),
        cmocka_unit_test(parts_are_whole_rows),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(broken_checkpoints_are_refused),
        cmocka_unit_test(counts_beyond_reason_are_refused),
        cmocka_unit_test(broken_models_are_refused),
        cmocka_unit_test(divergence_stops),
        cmocka_unit_test(early_stop),
        cmocka_unit_test(equal_bleu_goes_by_loss),
        cmocka_unit_test(a_lost_best_is_chosen_anew),
        cmocka_unit_test(models_are_averaged),
        cmocka_unit_test(sentences_train_too),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
