/* Parallel text to a corpus. Blocks of lines are read, then judged and encoded by all threads, then written in
 * the order of the lines: what a thread does never depends on the others. */
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/io.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "ganz/corpus.h"
#include "text/unicode.h"
#include "text/vocab.h"
#include "train/corpus.h"

enum { BLOCK_PAIRS = 16384, BLOCK_BYTES = 16 << 20, GRAIN = 16 };

typedef enum { KEPT, INVALID, EMPTY, IDENTICAL, TOO_SHORT, TOO_LONG, RATIO } verdict;

typedef struct item {
    size_t source_at, source_bytes; /* in the block's text */
    size_t target_at, target_bytes;
    verdict verdict;
    bool repaired;
    int worker;                    /* who holds the ids */
    size_t ids_at;                 /* source, then target */
    size_t source_ids, target_ids; /* end marks included */
    uint64_t hash;                 /* of both texts */
} item;

typedef struct scratch {
    ganz_ids ids;
    ganz_text repaired[2];
    ganz_status status;
    ganz_error err;
} scratch;

typedef struct job {
    const ganz_vocab *vocab;
    const ganz_prepare_options *options;
    ganz_pool *pool;
    scratch *workers; /* (threads) */
    ganz_text text;
    item *items; /* (BLOCK_PAIRS) */
    int count;
    ganz_seen seen;
    ganz_corpus_writer *out;
    long long read; /* pairs of all inputs so far */
} job;

void ganz_prepare_defaults(ganz_prepare_options *options) { *options = (ganz_prepare_options){.min_length = 1}; }

/* ---- one pair, in any thread -------------------------------------------------------------------- */

/* A view of one side: valid UTF-8, or false. */
static bool make_valid(const job *j, scratch *s, int side, const char **text, size_t *bytes, item *it)
{
    if (ganz_utf8_valid(*text, *bytes)) return true;
    if (j->options->invalid != GANZ_INVALID_REPLACE) return false;
    ganz_text *const out = &s->repaired[side];
    size_t replaced;
    if (!ganz_grow((void **)&out->text, &out->capacity, 3 * *bytes, 1)) {
        s->status = ganz_fail(&s->err, GANZ_ENOMEM, "out of memory for a line of %zu bytes", *bytes);
        return false;
    }
    *bytes = ganz_utf8_repair(*text, *bytes, out->text, &replaced);
    *text = out->text;
    it->repaired = true;
    return true;
}

/* Appends the ids of a text and the end mark; returns how many. */
static size_t encode(const job *j, scratch *s, ganz_side side, const char *text, size_t bytes)
{
    const size_t before = s->ids.count;
    if (s->status == GANZ_OK) s->status = ganz_vocab_encode_sentence(j->vocab, side, text, bytes, &s->ids, &s->err);
    return s->ids.count - before;
}

static verdict judge_lengths(const ganz_prepare_options *o, size_t source, size_t target)
{
    const size_t shorter = source < target ? source : target, longer = source < target ? target : source;
    if (shorter < (size_t)o->min_length) return TOO_SHORT;
    if (o->max_length > 0 && longer > (size_t)o->max_length) return TOO_LONG;
    if (o->max_ratio > 0 && (double)longer > o->max_ratio * (double)shorter) return RATIO;
    return KEPT;
}

static verdict judge(const job *j, scratch *s, item *it)
{
    const char *source = j->text.text + it->source_at, *target = j->text.text + it->target_at;
    size_t source_bytes = it->source_bytes, target_bytes = it->target_bytes;
    it->repaired = false;
    if (!make_valid(j, s, 0, &source, &source_bytes, it) || !make_valid(j, s, 1, &target, &target_bytes, it))
        return INVALID;
    source = ganz_strip(source, &source_bytes);
    target = ganz_strip(target, &target_bytes);
    if (source_bytes == 0 || target_bytes == 0) return EMPTY;
    const bool same = source_bytes == target_bytes && memcmp(source, target, source_bytes) == 0;
    if (same && j->options->drop_identical) return IDENTICAL;
    if (j->options->dedupe) it->hash = XXH3_64bits_withSeed(target, target_bytes, XXH3_64bits(source, source_bytes));
    it->ids_at = s->ids.count;
    it->source_ids = encode(j, s, GANZ_SOURCE, source, source_bytes);
    it->target_ids = encode(j, s, GANZ_TARGET, target, target_bytes);
    return judge_lengths(j->options, it->source_ids, it->target_ids);
}

static void judge_items(void *context, int64_t begin, int64_t end, int worker)
{
    const job *const j = context;
    scratch *const s = &j->workers[worker];
    for (int64_t i = begin; i < end && s->status == GANZ_OK; i++) {
        item *const it = &j->items[i];
        it->worker = worker;
        it->verdict = judge(j, s, it);
        if (it->verdict != KEPT && it->verdict >= TOO_SHORT) s->ids.count = it->ids_at; /* not needed any more */
    }
}

/* ---- blocks ------------------------------------------------------------------------------------- */

static ganz_status store_line(job *j, const char *line, size_t bytes, size_t *at, ganz_error *err)
{
    ganz_text *const t = &j->text;
    if (!ganz_grow((void **)&t->text, &t->capacity, t->bytes + bytes, 1))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for a block of lines");
    if (bytes > 0) memcpy(t->text + t->bytes, line, bytes);
    *at = t->bytes;
    t->bytes += bytes;
    return GANZ_OK;
}

/* Fills the block; fewer pairs than it has room for only at the end of the files, or when lines are long. */
static ganz_status read_block(job *j, ganz_lines *source, ganz_lines *target, bool *ended, ganz_error *err)
{
    j->count = 0;
    j->text.bytes = 0;
    while (j->count < BLOCK_PAIRS && j->text.bytes < BLOCK_BYTES) {
        item *const it = &j->items[j->count];
        const char *text;
        GANZ_TRY(ganz_lines_next(source, &text, &it->source_bytes, err));
        const bool source_ended = !text;
        if (text) GANZ_TRY(store_line(j, text, it->source_bytes, &it->source_at, err));
        GANZ_TRY(ganz_lines_next(target, &text, &it->target_bytes, err));
        if (source_ended != !text) {
            const ganz_lines *const longer = text ? target : source, *const shorter = text ? source : target;
            return ganz_fail(err, GANZ_EFORMAT, "%s has %lld lines, but %s has more", ganz_lines_name(shorter),
                             ganz_lines_number(shorter), ganz_lines_name(longer));
        }
        *ended = source_ended;
        if (source_ended) break;
        GANZ_TRY(store_line(j, text, it->target_bytes, &it->target_at, err));
        j->count++;
    }
    return GANZ_OK;
}

static ganz_status not_utf8(const job *j, const item *it, const ganz_lines *source, const ganz_lines *target,
                            ganz_error *err)
{
    const bool in_source = !ganz_utf8_valid(j->text.text + it->source_at, it->source_bytes);
    const ganz_lines *const file = in_source ? source : target;
    const long long line = ganz_lines_number(source) - j->count + (it - j->items) + 1;
    return ganz_fail(err, GANZ_EFORMAT, "%s:%lld: not valid UTF-8", ganz_lines_name(file), line);
}

static ganz_status keep_pair(job *j, const item *it, ganz_prepare_counts *counts, ganz_error *err)
{
    bool before = false;
    if (j->options->dedupe && !ganz_seen_add(&j->seen, it->hash, &before))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory to find duplicates");
    if (before) {
        counts->duplicate++;
        return GANZ_OK;
    }
    counts->kept++;
    counts->repaired += it->repaired;
    counts->source_tokens += (long long)it->source_ids;
    counts->target_tokens += (long long)it->target_ids;
    const int32_t *const ids = j->workers[it->worker].ids.ids + it->ids_at;
    return ganz_corpus_writer_add(j->out, ids, it->source_ids, ids + it->source_ids, it->target_ids, err);
}

static ganz_status write_block(job *j, ganz_lines *source, ganz_lines *target, ganz_prepare_counts *counts,
                               ganz_error *err)
{
    long long *const tally[] = {
        [INVALID] = &counts->invalid,     [EMPTY] = &counts->empty,       [IDENTICAL] = &counts->identical,
        [TOO_SHORT] = &counts->too_short, [TOO_LONG] = &counts->too_long, [RATIO] = &counts->ratio};
    for (int i = 0; i < j->count; i++) {
        const item *const it = &j->items[i];
        counts->read++;
        if (it->verdict == INVALID && j->options->invalid == GANZ_INVALID_ERROR)
            return not_utf8(j, it, source, target, err);
        if (it->verdict == KEPT) GANZ_TRY(keep_pair(j, it, counts, err));
        else ++*tally[it->verdict];
    }
    return GANZ_OK;
}

static ganz_status run_block(job *j, ganz_lines *source, ganz_lines *target, ganz_prepare_counts *counts,
                             ganz_error *err)
{
    for (int i = 0; i < ganz_pool_threads(j->pool); i++) j->workers[i].ids.count = 0;
    ganz_pool_run(j->pool, j->count, GRAIN, judge_items, j);
    for (int i = 0; i < ganz_pool_threads(j->pool); i++) {
        if (j->workers[i].status == GANZ_OK) continue;
        if (err) *err = j->workers[i].err;
        return j->workers[i].status;
    }
    GANZ_TRY(write_block(j, source, target, counts, err));
    j->read += j->count;
    if (j->options->progress) j->options->progress(j->options->context, j->read);
    if (ganz_flag_is_set(j->options->stop)) return ganz_fail(err, GANZ_ESTOPPED, "stopped after %lld pairs", j->read);
    return GANZ_OK;
}

static ganz_status run_input(job *j, const ganz_corpus_input *input, ganz_prepare_counts *counts, ganz_error *err)
{
    ganz_lines *source = NULL, *target = NULL;
    bool ended = false;
    ganz_status status = GANZ_OK;
    GANZ_CHECK(ganz_lines_open(&source, input->source, err));
    GANZ_CHECK(ganz_lines_open(&target, input->target, err));
    GANZ_CHECK(ganz_corpus_writer_group(j->out, input->weight, err));
    while (!ended) {
        GANZ_CHECK(read_block(j, source, target, &ended, err));
        GANZ_CHECK(run_block(j, source, target, counts, err));
    }
out:
    ganz_lines_close(&source);
    ganz_lines_close(&target);
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

/* Mistakes that can be found before hours of work are found here. */
static ganz_status check_inputs(const ganz_corpus_input *inputs, int count, ganz_error *err)
{
    int from_stdin = 0;
    if (count < 1) return ganz_fail(err, GANZ_EINVAL, "no text to prepare");
    for (int i = 0; i < 2 * count; i++) {
        const char *const path = i % 2 ? inputs[i / 2].target : inputs[i / 2].source;
        if (strcmp(path, "-") == 0) from_stdin++;
        else if (access(path, R_OK) != 0) return ganz_fail_errno(err, "open", path);
    }
    if (from_stdin > 1) return ganz_fail(err, GANZ_EINVAL, "standard input can be only one of the files");
    return GANZ_OK;
}

static ganz_status check_options(const ganz_prepare_options *o, ganz_error *err)
{
    if (o->min_length < 0 || o->max_length < 0 || (o->max_length > 0 && o->max_length < o->min_length))
        return ganz_fail(err, GANZ_EINVAL, "lengths from %d to %d leave no pair", o->min_length, o->max_length);
    if (!(o->max_ratio == 0 || o->max_ratio >= 1))
        return ganz_fail(err, GANZ_EINVAL, "a ratio of the longer side to the shorter is at least 1, not %g",
                         o->max_ratio);
    return GANZ_OK;
}

static ganz_status open_job(job *j, const char *path, ganz_error *err)
{
    const int threads = j->options->threads ? j->options->threads : ganz_cpu_count();
    GANZ_TRY(ganz_pool_open(&j->pool, threads, err));
    j->workers = ganz_alloc((size_t)threads, sizeof *j->workers);
    j->items = ganz_alloc(BLOCK_PAIRS, sizeof *j->items);
    if (!j->workers || !j->items) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a block of lines");
    return ganz_corpus_writer_open(&j->out, path, ganz_vocab_size(j->vocab), ganz_vocab_checksum(j->vocab), err);
}

static void close_job(job *j)
{
    for (int i = 0; j->workers && i < ganz_pool_threads(j->pool); i++) {
        ganz_ids_free(&j->workers[i].ids);
        ganz_text_free(&j->workers[i].repaired[0]);
        ganz_text_free(&j->workers[i].repaired[1]);
    }
    ganz_pool_close(&j->pool);
    ganz_free(j->workers);
    ganz_free(j->items);
    ganz_text_free(&j->text);
    ganz_seen_free(&j->seen);
    ganz_corpus_writer_abandon(&j->out);
}

ganz_status ganz_corpus_prepare(const char *path, const ganz_vocab *vocab, const ganz_corpus_input *inputs, int count,
                                const ganz_prepare_options *options, ganz_prepare_counts *counts, ganz_error *err)
{
    GANZ_TRY(check_inputs(inputs, count, err));
    GANZ_TRY(check_options(options, err));
    job j = {.vocab = vocab, .options = options};
    ganz_status status = open_job(&j, path, err);
    for (int i = 0; i < count && status == GANZ_OK; i++) {
        counts[i] = (ganz_prepare_counts){0};
        status = run_input(&j, &inputs[i], &counts[i], err);
    }
    if (status == GANZ_OK) status = ganz_corpus_writer_finish(&j.out, err);
    close_job(&j);
    return status;
}
