/* ganz_bench_train: times whole steps. */
#define _GNU_SOURCE /* secure_getenv */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "train/corpus.h"
#include "train/phases.h"
#include "base/surroundings.h"
#include "train/trainer.h"

enum { MOST_PAIRS = 300000, FEWEST_PAIRS = 2000, LONGEST = 250, SEED = 27 };

/* ---- a corpus of random sentences --------------------------------------------------------------- */

/* Log-normal with a mean of 27 and the spread of news text. */
static int source_length(uint64_t pair)
{
    const double length = exp(3.116 + 0.6 * ganz_random_normal(SEED, 1, pair));
    return length < 3 ? 3 : length > LONGEST ? LONGEST : (int)length;
}

static int target_length(uint64_t pair, int source)
{
    const double length = source * exp(0.15 * ganz_random_normal(SEED, 2, pair));
    return length < 3 ? 3 : length > LONGEST ? LONGEST : (int)length;
}

/* Word frequencies fall like 1/rank, so that a few embeddings get most gradients, as with text. */
static void random_ids(uint64_t stream, int count, int vocab, int32_t *ids)
{
    for (int i = 0; i + 1 < count; i++)
        ids[i] = GANZ_FIRST_TEXT_ID +
                 (int32_t)(pow(vocab - GANZ_FIRST_TEXT_ID, ganz_random_uniform(SEED, stream, (uint64_t)i)) - 1);
    ids[count - 1] = GANZ_EOS;
}

static ganz_status write_corpus(const char *path, int vocab, uint32_t pairs, ganz_error *err)
{
    ganz_corpus_writer *writer;
    int32_t source[LONGEST], target[LONGEST];
    GANZ_TRY(ganz_corpus_writer_open(&writer, path, &(ganz_corpus_vocab){{vocab, vocab}, 0}, err));
    ganz_status status;
    GANZ_CHECK(ganz_corpus_writer_group(writer, 1, err));
    for (uint32_t i = 0; i < pairs; i++) {
        const int n = source_length(i), m = target_length(i, n);
        random_ids(16 + 2 * (uint64_t)i, n, vocab, source);
        random_ids(17 + 2 * (uint64_t)i, m, vocab, target);
        GANZ_CHECK(ganz_corpus_writer_add(writer, source, (size_t)n, target, (size_t)m, err));
    }
    return ganz_corpus_writer_finish(&writer, err);
out:
    ganz_corpus_writer_abandon(&writer);
    return status;
}

static ganz_status make_corpus(char *path, size_t bytes, const ganz_recipe *r, int vocab, int steps, ganz_error *err)
{
    const char *const folder = secure_getenv("TMPDIR");
    snprintf(path, bytes, "%s/ganz-bench-XXXXXX", folder ? folder : "/tmp");
    const int file = mkstemp(path);
    if (file < 0) return ganz_fail_errno(err, "make a temporary file", path);
    close(file);
    const double tokens = (double)(r->batch == GANZ_BATCH_PACKED ? r->rows * r->slots : r->batch_tokens) * steps;
    const double wanted = tokens / 25 + FEWEST_PAIRS;
    const ganz_status status = write_corpus(path, vocab, wanted < MOST_PAIRS ? (uint32_t)wanted : MOST_PAIRS, err);
    if (status != GANZ_OK) unlink(path);
    return status;
}

/* ---- the clock ---------------------------------------------------------------------------------- */

/* Runs steps and waits for the last one; the event has their mean loss. */
static ganz_status run_steps(ganz_trainer *t, int steps, ganz_event *event, ganz_error *err)
{
    for (int i = 0; i < steps; i++) GANZ_TRY(ganz_trainer_step(t, 0, NULL, err));
    return ganz_trainer_log(t, event, err);
}

/* All steps of a phase take the same time, once there are scales to round with. */
static ganz_status go_to_phase(ganz_trainer *t, int phase, ganz_error *err)
{
    if (phase >= GANZ_PHASE_SCALES) {
        GANZ_TRY(ganz_trainer_enter(t, GANZ_PHASE_RANGES, NULL, err));
        GANZ_TRY(run_steps(t, 1, NULL, err));
    }
    return ganz_trainer_enter(t, phase, NULL, err);
}

static ganz_status measure(ganz_trainer *t, int warm, int steps, ganz_bench_report *report, ganz_error *err)
{
    ganz_event before, after;
    GANZ_TRY(run_steps(t, warm, &before, err));
    const ganz_trainer_times begin = ganz_trainer_timing(t);
    const double started = ganz_seconds();
    GANZ_TRY(run_steps(t, steps, &after, err));
    const double seconds = ganz_seconds() - started, tokens = (double)(after.now.tokens - before.now.tokens);
    const ganz_trainer_times end = ganz_trainer_timing(t);
    const ganz_trainer_facts facts = ganz_trainer_describe(t);
    const double each = end.host ? 1000.0 / steps : -1 / seconds; /* calls of a GPU return before they are done */
    *report =
        (ganz_bench_report){.seconds = seconds,
                            .tokens_per_second = tokens / seconds,
                            .source_tokens_per_second = (double)(end.source_tokens - begin.source_tokens) / seconds,
                            .step_ms = 1000 * seconds / steps,
                            .load_ms = (end.load - begin.load) * each,
                            .pass_ms = (end.pass - begin.pass) * each,
                            .update_ms = (end.update - begin.update) * each,
                            .fill = tokens / (double)(end.slots - begin.slots),
                            .loss = after.loss,
                            .parameters = (long long)facts.parameters,
                            .pass_bytes = facts.pass_bytes,
                            .weight_bytes = facts.weight_bytes};
    return GANZ_OK;
}

ganz_status ganz_bench_train(const ganz_train_options *options, int phase, int vocab_size, int warm, int steps,
                             ganz_bench_report *report, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    ganz_train_options o = *options;
    ganz_trainer *t;
    char path[512] = "";
    o.valid_source = o.valid_target = NULL;
    o.quantize = phase > 0;
    if (!o.train) {
        GANZ_TRY(make_corpus(path, sizeof path, &o.recipe, vocab_size, warm + steps, err));
        o.train = path;
        o.vocab = NULL;
    }
    ganz_status status = ganz_trainer_open(&t, &o, err);
    if (path[0]) unlink(path); /* it is open: no end of the process leaves it behind */
    if (status == GANZ_OK) {
        if (phase > 0) status = go_to_phase(t, phase, err);
        if (status == GANZ_OK) status = measure(t, warm, steps, report, err);
        ganz_trainer_close(&t);
    }
    return status;
}
