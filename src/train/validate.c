/* Validation: pairs of lines are encoded once and sorted by length; the loss runs over batches of them, and BLEU over
 * the translations of the real beam search. */
#include "train/validate.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "ganz/io.h"
#include "ganz/score.h"
#include "text/vocab.h"

enum { GROUP = 1024, BATCH_ARRAYS = 5 };

/* ---- reading ------------------------------------------------------------------------------------ */

/* Appends the ids of a line; *count says how many. */
static ganz_status encode_line(const ganz_valid *v, const ganz_lines *lines, const ganz_passage *line, ganz_ids *ids,
                               int *count, ganz_error *err)
{
    const size_t before = ids->count;
    GANZ_TRY(ganz_vocab_encode_line(v->vocab, lines, line, ids, err));
    *count = (int)(ids->count - before);
    return GANZ_OK;
}

static ganz_status keep_text(ganz_valid *v, const char *text, size_t bytes, ganz_error *err)
{
    if (!ganz_grow((void **)&v->text, &v->text_capacity, v->text_bytes + bytes + 1, 1))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for the validation set");
    memcpy(v->text + v->text_bytes, text, bytes);
    v->text_bytes += bytes;
    return GANZ_OK;
}

/* *more is false at the end of both files. */
static ganz_status read_pair(ganz_valid *v, ganz_lines *sources, ganz_lines *targets, bool *more, ganz_error *err)
{
    const char *source, *target;
    size_t source_bytes, target_bytes;
    GANZ_TRY(ganz_lines_next(sources, &source, &source_bytes, err));
    GANZ_TRY(ganz_lines_next(targets, &target, &target_bytes, err));
    *more = source && target;
    if (!source && !target) return GANZ_OK;
    if (!source || !target) {
        const ganz_lines *const shorter = source ? targets : sources, *const longer = source ? sources : targets;
        return ganz_fail(err, GANZ_EINVAL, "%s has only %lld lines, %s has more", ganz_lines_name(shorter),
                         ganz_lines_number(shorter), ganz_lines_name(longer));
    }
    if (!ganz_grow((void **)&v->pairs, &v->pair_capacity, (size_t)v->count + 1, sizeof *v->pairs))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for the validation set");
    ganz_valid_pair p = {.source = v->sources.count, .target = v->targets.count, .text = v->text_bytes};
    const ganz_passage from = {source, source_bytes, GANZ_SOURCE}, to = {target, target_bytes, GANZ_TARGET};
    GANZ_TRY(encode_line(v, sources, &from, &v->sources, &p.source_count, err));
    GANZ_TRY(encode_line(v, targets, &to, &v->targets, &p.target_count, err));
    GANZ_TRY(keep_text(v, target, target_bytes, err));
    p.text_bytes = target_bytes;
    v->pairs[v->count++] = p;
    return GANZ_OK;
}

static int by_length(const void *a, const void *b)
{
    const ganz_valid_pair *const x = a, *const y = b;
    if (x->source_count != y->source_count) return x->source_count < y->source_count ? -1 : 1;
    return x->source < y->source ? -1 : x->source > y->source;
}

static ganz_status read_files(ganz_valid *v, const char *source, const char *target, ganz_error *err)
{
    ganz_lines *sources = NULL, *targets = NULL;
    ganz_status status;
    bool more = true;
    GANZ_CHECK(ganz_lines_open(&sources, source, err));
    GANZ_CHECK(ganz_lines_open(&targets, target, err));
    while (more) GANZ_CHECK(read_pair(v, sources, targets, &more, err));
    if (v->count == 0) status = ganz_fail(err, GANZ_EINVAL, "%s has no lines", source);
out:
    ganz_lines_close(&sources);
    ganz_lines_close(&targets);
    return status;
}

ganz_status ganz_valid_open(ganz_valid *v, const char *source, const char *target, const ganz_vocab *vocab, int longest,
                            int tokens, ganz_error *err)
{
    *v = (ganz_valid){.vocab = vocab, .tokens = tokens, .group = 64};
    ganz_status status;
    GANZ_CHECK(read_files(v, source, target, err));
    qsort(v->pairs, (size_t)v->count, sizeof *v->pairs, by_length);
    for (int i = 0; i < v->count; i++) { /* too long: the first ids and the end mark */
        ganz_valid_pair *const p = &v->pairs[i];
        if (p->source_count <= longest) continue;
        p->source_count = longest;
        p->target_count = 1;
        v->sources.ids[p->source + (size_t)longest - 1] = GANZ_EOS;
    }
    v->block = ganz_alloc((size_t)BATCH_ARRAYS * (size_t)tokens + 2 * ((size_t)tokens + 1), sizeof *v->block);
    v->lines = ganz_alloc((size_t)v->count, sizeof *v->lines);
    if (!v->block || !v->lines) status = ganz_fail(err, GANZ_ENOMEM, "out of memory for the validation set");
out:
    if (status != GANZ_OK) ganz_valid_close(v);
    return status;
}

void ganz_valid_close(ganz_valid *v)
{
    ganz_ids_free(&v->sources);
    ganz_ids_free(&v->targets);
    ganz_free(v->pairs);
    ganz_free(v->text);
    ganz_free(v->block);
    ganz_free(v->lines);
    *v = (ganz_valid){0};
}

/* ---- loss --------------------------------------------------------------------------------------- */

/* Arrays of the batch that is being filled. */
typedef struct filling {
    int32_t *source_ids, *source_position, *target_in, *target_out, *target_position, *source_begin, *target_begin;
    ganz_batch batch;
} filling;

static filling fill_start(const ganz_valid *v)
{
    const size_t n = (size_t)v->tokens;
    int32_t *const b = v->block;
    const filling f = {b, b + n, b + 2 * n, b + 3 * n, b + 4 * n, b + 5 * n, b + 6 * n + 1, {0}};
    return f;
}

static void fill_add(filling *f, const ganz_valid *v, const ganz_valid_pair *p)
{
    ganz_batch *const b = &f->batch;
    f->source_begin[b->segments] = b->source_rows;
    f->target_begin[b->segments] = b->target_rows;
    for (int i = 0; i < p->source_count; i++, b->source_rows++) {
        f->source_ids[b->source_rows] = v->sources.ids[p->source + (size_t)i];
        f->source_position[b->source_rows] = i;
    }
    for (int i = 0; i < p->target_count; i++, b->target_rows++) {
        const int32_t *const ids = v->targets.ids + p->target;
        f->target_in[b->target_rows] = i > 0 ? ids[i - 1] : -1;
        f->target_out[b->target_rows] = ids[i];
        f->target_position[b->target_rows] = i;
    }
    b->segments++;
    f->source_begin[b->segments] = b->source_rows;
    f->target_begin[b->segments] = b->target_rows;
}

static ganz_status fill_end(filling *f, ganz_stepper *stepper, double sums[3], ganz_error *err)
{
    if (f->batch.segments == 0) return GANZ_OK;
    f->batch.source_ids = f->source_ids;
    f->batch.source_position = f->source_position;
    f->batch.target_in = f->target_in;
    f->batch.target_out = f->target_out;
    f->batch.target_position = f->target_position;
    f->batch.source_begin = f->source_begin;
    f->batch.target_begin = f->target_begin;
    GANZ_TRY(ganz_stepper_evaluate(stepper, &f->batch, sums, err));
    f->batch = (ganz_batch){0};
    return GANZ_OK;
}

static ganz_status fail_stopped(ganz_error *err) { return ganz_fail(err, GANZ_ESTOPPED, "validation was stopped"); }

ganz_status ganz_valid_loss(ganz_valid *v, ganz_stepper *stepper, const ganz_flag *stop, double *loss, double *accuracy,
                            ganz_error *err)
{
    double sums[3] = {0};
    filling f = fill_start(v);
    const int longest = stepper->net->config.max_positions < v->tokens ? stepper->net->config.max_positions : v->tokens;
    for (int i = 0; i < v->count; i++) {
        const ganz_valid_pair *const p = &v->pairs[i];
        if (p->source_count < 2 || p->source_count > longest) continue;
        if (p->target_count < 2 || p->target_count > longest) continue;
        if (f.batch.source_rows + p->source_count > v->tokens || f.batch.target_rows + p->target_count > v->tokens) {
            GANZ_TRY(fill_end(&f, stepper, sums, err));
            if (ganz_flag_is_set(stop)) return fail_stopped(err);
        }
        fill_add(&f, v, p);
    }
    GANZ_TRY(fill_end(&f, stepper, sums, err));
    *loss = sums[2] > 0 ? sums[0] / sums[2] : 0;
    *accuracy = sums[2] > 0 ? sums[1] / sums[2] : 0;
    return GANZ_OK;
}

/* ---- BLEU --------------------------------------------------------------------------------------- */

/* Sentence number i of `most` that are spread evenly over the sorted set. */
static const ganz_valid_pair *pick(const ganz_valid *v, int i, int most)
{
    return &v->pairs[(int64_t)i * v->count / most];
}

static ganz_status score_group(ganz_valid *v, ganz_decoder *decoder, int first, int n, int most, ganz_scorer *scorer,
                               ganz_error *err)
{
    ganz_sentence sentences[GROUP] = {{0}};
    const ganz_found *found;
    const int *counts;
    ganz_text text = {0};
    ganz_status status;
    for (int i = 0; i < n; i++) {
        const ganz_valid_pair *const p = pick(v, first + i, most);
        sentences[i] = (ganz_sentence){.ids = v->sources.ids + p->source, .count = p->source_count};
    }
    GANZ_CHECK(ganz_decoder_run(decoder, sentences, n, &found, &counts, err));
    for (int i = 0; i < n; i++) {
        const ganz_valid_pair *const p = pick(v, first + i, most);
        text.bytes = 0;
        if (p->source_count > 1 && counts[i] > 0) /* nothing is translated as nothing */
            GANZ_CHECK(ganz_vocab_decode(v->vocab, GANZ_TARGET, found[i].ids, (size_t)found[i].count, &text, err));
        v->lines[first + i] = ganz_checksum(text.text ? text.text : "", text.bytes);
        GANZ_CHECK(
            ganz_scorer_add(scorer, text.text ? text.text : "", text.bytes, v->text + p->text, p->text_bytes, err));
    }
out:
    ganz_text_free(&text);
    return status;
}

ganz_status ganz_valid_bleu(ganz_valid *v, ganz_decoder *decoder, int most, const ganz_flag *stop, double *bleu,
                            ganz_error *err)
{
    const ganz_score_settings settings = {.metric = GANZ_BLEU, .words = GANZ_WORDS_13A};
    ganz_scorer *scorer;
    ganz_status status = GANZ_OK;
    const int group = v->group < GROUP ? v->group : GROUP;
    if (most > v->count) most = v->count;
    GANZ_TRY(ganz_scorer_open(&scorer, &settings, err));
    for (int first = 0; status == GANZ_OK && first < most; first += group) {
        const int n = most - first < group ? most - first : group;
        status = ganz_flag_is_set(stop) ? fail_stopped(err) : score_group(v, decoder, first, n, most, scorer, err);
    }
    if (status == GANZ_OK) *bleu = ganz_scorer_score(scorer).score;
    ganz_scorer_close(&scorer);
    return status;
}
