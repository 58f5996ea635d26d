/* How fast translation is: ids in, ids out, the search included, text not. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "base/surroundings.h"
#include "ganz/bench.h"
#include "model/model.h"
#include "translate/decode.h"
#include "translate/translator.h"

enum { WARM = 8, WARM_GPU = 1024, MOST_THREADS = 256 };

typedef struct bench {
    const ganz_translation_bench *what;
    ganz_model *model;
    int32_t *ids;
    ganz_sentence *sentences; /* (count) */
    double *times;            /* (count) seconds; single only */
    int longest;
} bench;

/* A part of the sentences on its thread. */
typedef struct share {
    const bench *b;
    ganz_backend *be;
    const ganz_weights *copy; /* on a GPU; else NULL */
    ganz_decoder *decoder;
    int first, count;
    long long tokens;
    ganz_status status;
    ganz_error err;
    pthread_t thread;
} share;

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void) { return read_clock(CLOCK_MONOTONIC); }

/* ---- sentences ---------------------------------------------------------------------------------- */

static ganz_status draw_sentences(bench *b, ganz_error *err)
{
    const ganz_translation_bench *const w = b->what;
    const int most = b->model->info.config.max_positions;
    size_t total = 0, at = 0;
    for (int i = 0; i < w->count; i++) {
        if (w->lengths[i] < 1 || w->lengths[i] >= most)
            return ganz_fail(err, GANZ_EINVAL, "a source of %d tokens: this model takes 1 to %d", w->lengths[i],
                             most - 1);
        total += (size_t)w->lengths[i] + 1;
    }
    b->ids = ganz_alloc(total, sizeof *b->ids);
    b->sentences = ganz_alloc((size_t)w->count, sizeof *b->sentences);
    b->times = ganz_alloc((size_t)w->count, sizeof *b->times);
    if (!b->ids || !b->sentences || !b->times)
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for %d sentences", w->count);
    const uint32_t words = (uint32_t)b->model->info.config.vocab - GANZ_FIRST_TEXT_ID;
    for (int i = 0; i < w->count; i++) {
        b->sentences[i] = (ganz_sentence){.ids = b->ids + at, .count = w->lengths[i] + 1};
        for (int j = 0; j < w->lengths[i]; j++)
            b->ids[at++] = GANZ_FIRST_TEXT_ID + (int32_t)ganz_random_below(2, (uint64_t)i, (uint64_t)j, words);
        b->ids[at++] = GANZ_EOS;
        if (w->lengths[i] + 1 > b->longest) b->longest = w->lengths[i] + 1;
    }
    return GANZ_OK;
}

/* ---- shares ------------------------------------------------------------------------------------- */

/* The device, and the weights on it. */
static ganz_status open_device(share *s, int threads, const ganz_weights **weights, ganz_error *err)
{
    const ganz_model *const m = s->b->model;
    const ganz_translation_bench *const w = s->b->what;
    *weights = &m->weights;
    GANZ_TRY(ganz_device_open(&s->be, w->device, w->precision, threads, err));
    if (s->be->host) ganz_cpu_backend_follow(s->be, m->be);
    if (s->be->host) return GANZ_OK;
    if (w->threads > 1 && strcmp(w->device, "cuda") != 0)
        return ganz_fail(err, GANZ_EINVAL, "%s is measured by one thread; several want \"cuda\"", w->device);
    GANZ_TRY(ganz_translator_check_device(m, w->device, err));
    GANZ_TRY(ganz_copies_borrow(m->copies, w->device, s->be, &s->copy, err));
    *weights = s->copy;
    return GANZ_OK;
}

static int usual_batch(const ganz_backend *be) { return be->host ? GANZ_BATCH_TOKENS : GANZ_BATCH_TOKENS_GPU; }

static ganz_status open_share(share *s, const bench *b, int threads, ganz_error *err)
{
    const ganz_translation_bench *const w = b->what;
    const ganz_weights *weights;
    s->b = b;
    GANZ_TRY(open_device(s, threads, &weights, err));
    const ganz_decoder_options options = {.search = {.beam = w->beam, .n_best = 1, .alpha = 0.6},
                                          .batch_tokens = w->single         ? 1
                                                          : w->batch_tokens ? w->batch_tokens
                                                                            : usual_batch(s->be),
                                          .max_input = b->longest,
                                          .force_length = w->force_length};
    return ganz_decoder_open(&s->decoder, s->be, &b->model->net, weights, &options, err);
}

static void close_share(share *s)
{
    ganz_decoder_close(&s->decoder);
    ganz_copies_return(s->b->model->copies, s->be, s->copy);
    if (s->be) s->be->close(s->be);
}

static ganz_status run_some(share *s, int first, int count, ganz_error *err)
{
    const ganz_found *found;
    const int *counts;
    GANZ_TRY(ganz_decoder_run(s->decoder, s->b->sentences + first, count, &found, &counts, err));
    for (int i = 0; i < count; i++) s->tokens += found[i].count + (found[i].finished ? 1 : 0);
    return GANZ_OK;
}

static void *run_share(void *context)
{
    share *const s = context;
    s->status = run_some(s, s->first, s->count, &s->err);
    return NULL;
}

static ganz_status run_single(share *s, ganz_error *err)
{
    const bench *const b = s->b;
    for (int i = 0; i < b->what->count; i++) {
        const double begin = now();
        GANZ_TRY(run_some(s, i, 1, err));
        b->times[i] = now() - begin;
    }
    return GANZ_OK;
}

static ganz_status run_shares(share *shares, int count, ganz_error *err)
{
    int started = 0;
    for (int i = 1; i < count; i++, started = i - 1)
        if (pthread_create(&shares[i].thread, NULL, run_share, &shares[i]) != 0) break;
    if (started == count - 1) run_share(&shares[0]);
    for (int i = 1; i <= started; i++) pthread_join(shares[i].thread, NULL);
    if (started < count - 1) return ganz_fail(err, GANZ_ENOMEM, "cannot start %d threads", count);
    for (int i = 0; i < count; i++)
        if (shares[i].status != GANZ_OK) return ganz_fail(err, shares[i].status, "%s", shares[i].err.message);
    return GANZ_OK;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static ganz_status measure(bench *b, ganz_translation_report *report, ganz_error *err)
{
    const ganz_translation_bench *const w = b->what;
    const int shares_count = w->single ? 1 : w->threads;
    share shares[MOST_THREADS] = {0};
    ganz_status status = GANZ_OK;
    for (int i = 0; i < shares_count && status == GANZ_OK; i++) {
        shares[i].first = (int)((int64_t)w->count * i / shares_count);
        shares[i].count = (int)((int64_t)w->count * (i + 1) / shares_count) - shares[i].first;
        status = open_share(&shares[i], b, w->single ? w->threads : 1, err);
        const int warm = status == GANZ_OK && !shares[i].be->host && !w->single ? WARM_GPU : WARM;
        if (status == GANZ_OK) status = run_some(&shares[i], 0, w->count < warm ? w->count : warm, err);
        shares[i].tokens = 0;
    }
    const double begin = now(), cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    if (status == GANZ_OK) status = w->single ? run_single(&shares[0], err) : run_shares(shares, shares_count, err);
    report->seconds = now() - begin;
    report->cpu_seconds = read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    for (int i = 0; i < shares_count; i++) report->tokens += shares[i].tokens;
    for (int i = 0; i < shares_count; i++) close_share(&shares[i]);
    if (status != GANZ_OK || !w->single) return status;
    qsort(b->times, (size_t)w->count, sizeof *b->times, by_time);
    report->p50_ms = 1000 * b->times[w->count / 2];
    report->p99_ms = 1000 * b->times[(int)((double)w->count * 0.99)];
    return status;
}

ganz_status ganz_bench_translate(const char *model, const ganz_translation_bench *what, ganz_translation_report *report,
                                 ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    bench b = {.what = what};
    *report = (ganz_translation_report){.p50_ms = -1, .p99_ms = -1};
    if (what->count < 1) return ganz_fail(err, GANZ_EINVAL, "no sentences to translate");
    if (what->threads < 1 || what->threads > MOST_THREADS || what->beam < 1 || what->beam > GANZ_BEAM_MOST)
        return ganz_fail(err, GANZ_EINVAL, "threads must be 1 to %d, the beam 1 to %d", MOST_THREADS, GANZ_BEAM_MOST);
    const double begin = now();
    ganz_status status = ganz_model_open(&b.model, model, err);
    report->load_seconds = now() - begin;
    if (status == GANZ_OK) status = draw_sentences(&b, err);
    if (status == GANZ_OK) status = measure(&b, report, err);
    ganz_model_close(&b.model);
    ganz_free(b.ids);
    ganz_free(b.sentences);
    ganz_free(b.times);
    return status;
}
