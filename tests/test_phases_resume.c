/* Runs of quantization that stop and go on, and those that are refused. */
#include "test.h"

#include <sys/stat.h>

#include "toy_quantize.h"

/* ---- resumed runs ------------------------------------------------------------------------------- */

static ganz_train_options resumable(const char *folder)
{
    ganz_train_options o = quantize_options(folder, 8);
    o.recipe.steps_per_phase = 12;
    o.recipe.measure_batches = 1;
    o.recipe.validate_every = 8;
    o.recipe.log_every = 5;
    o.recipe.save_every = 7;
    o.recipe.dropout = o.recipe.dropout_relu = o.recipe.dropout_attention = 0.1;
    o.recipe.micro_tokens = 128;
    return o;
}

/* Sets the stop flag where phase -at begins, or as stop_at does. */
static void stop_here(void *context, const ganz_train_progress *p)
{
    stopper *const s = context;
    if (s->at > 0) stop_at(context, p);
    else if (p->event && strncmp(p->event, "phase", 5) == 0 && p->phase == -s->at) ganz_flag_set(&s->flag);
}

/* Stops within phases, at their borders, in validations and in the measuring of ranges. */
static void stop_and_go_on(long long learn_from, long long weight_range)
{
    const bool taught = learn_from == GANZ_LEARN_FROM_MODEL;
    ganz_train_options whole = resumable(taught ? "taught" : "whole"), parts = resumable(taught ? "lessons" : "parts");
    whole.recipe.learn_from = parts.recipe.learn_from = learn_from;
    whole.recipe.weight_range = parts.recipe.weight_range = weight_range;
    whole.recipe.per_row = parts.recipe.per_row = weight_range == GANZ_WEIGHT_RANGE_LEARNED;
    must_train(&whole);
    static const long long stops[] = {5, 8, -2, -3, 16, 25, -4, 36, -5, 40, -6, 51, 61, 0};
    for (size_t i = 0; i < GANZ_COUNT(stops); i++) {
        stopper s = {.at = stops[i]};
        ganz_error err = {0};
        parts.stop = &s.flag;
        parts.progress = stop_here;
        parts.context = &s;
        const ganz_status status = ganz_train(&parts, NULL, &err);
        if (status != (stops[i] ? GANZ_ESTOPPED : GANZ_OK)) fail_msg("stop %lld: %s", stops[i], err.message);
        parts.resume = true;
        if (!taught) parts.model = NULL; /* the folder has all of it */
    }
    assert_true(same_in(whole.out, parts.out, "last.safetensors"));
    assert_true(same_in(whole.out, parts.out, "best.safetensors"));
    assert_true(same_in(whole.out, parts.out, "phase-3.safetensors"));
    same_log(in_dir(taught ? "taught/log.tsv" : "whole/log.tsv"), in_dir(taught ? "lessons/log.tsv" : "parts/log.tsv"));
}

static void resumed_is_uninterrupted(void **state)
{
    (void)state;
    stop_and_go_on(GANZ_LEARN_FROM_CORPUS, GANZ_WEIGHT_RANGE_LEARNED);
    stop_and_go_on(GANZ_LEARN_FROM_MODEL, GANZ_WEIGHT_RANGE_AUTO);
}

static void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    FILE *const in = fopen(from, "rb"), *const out = fopen(to, "wb");
    assert_true(in && out);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;) fwrite(bytes, 1, n, out);
    fclose(in);
    fclose(out);
}

typedef struct kept {
    const char *last; /* a run's checkpoint */
    bool done;
} kept;

/* What a kill right behind the first checkpoint would leave. */
static void keep_first(void *context, const ganz_train_progress *p)
{
    kept *const k = context;
    (void)p;
    if (k->done || !ganz_exists(k->last)) return;
    k->done = true;
    copy_file(k->last, in_dir("killed/last.safetensors"));
    copy_file(in_dir("saved/log.tsv"), in_dir("killed/log.tsv"));
}

/* A checkpoint that comes before the line of its step: the line says the rate of that step, too. */
static void killed_between_checkpoint_and_line(void **state)
{
    kept k = {.last = in_dir("saved/last.safetensors")};
    (void)state;
    ganz_train_options whole = resumable("saved"), killed = resumable("killed");
    whole.recipe.save_every = killed.recipe.save_every = whole.recipe.steps_per_phase;
    whole.recipe.log_every = killed.recipe.log_every = whole.recipe.steps_per_phase + 1;
    whole.progress = keep_first;
    whole.context = &k;
    assert_int_equal(0, mkdir(killed.out, 0777));
    must_train(&whole);
    assert_true(k.done);
    killed.resume = true;
    must_train(&killed);
    assert_true(same_in(whole.out, killed.out, "last.safetensors"));
    same_log(in_dir("saved/log.tsv"), in_dir("killed/log.tsv"));
}

static void must_stop(ganz_train_options *o, long long at)
{
    stopper s = {.at = at};
    ganz_error err = {0};
    o->stop = &s.flag;
    o->progress = stop_here;
    o->context = &s;
    if (ganz_train(o, NULL, &err) != GANZ_ESTOPPED) fail_msg("no stop: %s", err.message);
    o->resume = true;
    o->stop = NULL;
    o->progress = NULL;
}

/* A run would end otherwise with another teacher, or without the scales it was to begin with. */
static void resumed_with_what_it_began_with(void **state)
{
    (void)state;
    ganz_train_options o = resumable("one_teacher");
    const char *const teacher = in_dir("taught/last.safetensors"), *const scales = in_dir("taught/best.safetensors");
    o.recipe.learn_from = GANZ_LEARN_FROM_MODEL;
    const char *const teachers[] = {teacher, o.model}, *const turned[] = {o.model, teacher};
    o.teachers = teachers;
    o.teacher_count = 2;
    must_stop(&o, 5);
    o.teacher_count = 0;
    refuses(&o, "another teacher");
    o.teacher_count = 1;
    refuses(&o, "another teacher");
    o.teacher_count = 2;
    o.teachers = turned;
    refuses(&o, "another teacher");
    o.teachers = NULL;
    refuses(&o, "no names of them");
    o.teachers = teachers;
    must_stop(&o, 8);

    ganz_train_options whole = resumable("steps_at_once"), parts = resumable("steps_in_parts");
    whole.recipe.phases = parts.recipe.phases = 0xE;
    whole.recipe.per_row = parts.recipe.per_row = true;
    whole.scales_of = parts.scales_of = scales;
    must_train(&whole);
    must_stop(&parts, 5);
    parts.scales_of = NULL;
    refuses(&parts, "begun with other steps");
    parts.scales_of = scales;
    must_stop(&parts, -3);
    parts.scales_of = in_dir("whole/best.safetensors");
    refuses(&parts, "begun with other steps");
    parts.scales_of = NULL; /* they are its own now */
    must_train(&parts);
    assert_true(same_in(whole.out, parts.out, "best.safetensors"));
    parts = resumable("own_steps");
    parts.recipe.phases = 0xE;
    must_stop(&parts, -3);
    parts.scales_of = scales;
    refuses(&parts, "begun with other steps");
}

/* Three phases now and the others later are six at once, but for the step of the border. */
static void phases_can_be_added(void **state)
{
    (void)state;
    ganz_train_options o = resumable("added");
    ganz_train_report report;
    o.recipe.phases = 0xE; /* 1 to 3 */
    assert_int_equal(GANZ_OK, ganz_train(&o, &report, NULL));
    assert_int_equal(25, report.step);
    assert_true(report.best_step > 13 && report.different == 0);
    o.recipe.phases = 0x7E;
    o.resume = true;
    assert_int_equal(GANZ_OK, ganz_train(&o, &report, NULL));
    assert_int_equal(61, report.step);
    assert_true(report.best_step >= 37 && report.different == 0);
}

/* ---- refusals ----------------------------------------------------------------------------------- */

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("refused", 8);
    o.model = in_dir("whole/best.safetensors");
    refuses(&o, "integer model");
    o.model = in_dir("vocab");
    refuses(&o, "vocab");
    o.model = NULL;
    refuses(&o, "needs a model");
    o = quantize_options("refused", 8);
    o.train = in_dir("other");
    refuses(&o, "vocabulary");
    o = quantize_options("refused", 8);
    o.recipe.phases = 2 | 8;
    refuses(&o, "phases 2 and 3 are needed");
    o = quantize_options("refused", 8);
    o.recipe.weight_bits = 1;
    refuses(&o, "2 bits");
    assert_false(ganz_exists(o.out));
    o = resumable("whole");
    o.recipe.learn_from = GANZ_LEARN_FROM_CORPUS;
    o.recipe.bits = 6;
    o.resume = true;
    refuses(&o, "was made with bits 8, not 6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumed_is_uninterrupted),        cmocka_unit_test(killed_between_checkpoint_and_line),
        cmocka_unit_test(resumed_with_what_it_began_with), cmocka_unit_test(phases_can_be_added),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, setup_all, teardown);
}
