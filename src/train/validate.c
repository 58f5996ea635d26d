/* Validation: pairs of lines are encoded once and sorted by length; the loss runs over batches of them, and BLEU over
 * the translations of the real beam search. Processes share batches and groups as they are, never parts of them:
 * floats may round otherwise in a batch of another size. */
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
        return ganz_fail(err, GANZ_EINVAL, "%s has only %lld line%s, %s has more", ganz_lines_name(shorter),
                         ganz_lines_number(shorter), ganz_lines_number(shorter) == 1 ? "" : "s",
                         ganz_lines_name(longer));
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
    for (int i = 0; i < v->count; i++) { /* too long: the first ids, and the end mark where sources have one */
        ganz_valid_pair *const p = &v->pairs[i];
        if (p->source_count <= longest) continue;
        p->source_count = longest;
        p->target_count = 1;
        if (!vocab->bare_source) v->sources.ids[p->source + (size_t)longest - 1] = GANZ_EOS;
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

static int size_of(const ganz_valid_crew *crew) { return crew->ranks ? crew->ranks->size : 1; }

/* Whether a batch or a group is this process's. */
static bool is_own(const ganz_valid_crew *crew, int number)
{
    return !crew->ranks || number % crew->ranks->size == crew->ranks->rank;
}

/* Sums of the batches, as far as they are this process's; the others stay zero. */
typedef struct losses {
    double (*sums)[3]; /* (pairs) */
    int batches;
} losses;

static ganz_status end_batch(filling *f, ganz_stepper *stepper, const ganz_valid_crew *crew, losses *l, ganz_error *err)
{
    const int batch = l->batches++;
    if (ganz_flag_is_set(crew->stop)) return fail_stopped(err);
    if (is_own(crew, batch)) return fill_end(f, stepper, l->sums[batch], err);
    f->batch = (ganz_batch){0};
    return GANZ_OK;
}

static bool is_blank(const ganz_valid *v, const ganz_valid_pair *p)
{
    return ganz_ids_before_end(v->sources.ids + p->source, (size_t)p->source_count) == 0;
}

static ganz_status own_losses(ganz_valid *v, ganz_stepper *stepper, const ganz_valid_crew *crew, losses *l,
                              ganz_error *err)
{
    filling f = fill_start(v);
    const int longest = stepper->net->config.max_positions < v->tokens ? stepper->net->config.max_positions : v->tokens;
    for (int i = 0; i < v->count; i++) {
        const ganz_valid_pair *const p = &v->pairs[i];
        if (is_blank(v, p) || p->source_count > longest) continue;
        if (p->target_count < 2 || p->target_count > longest) continue;
        if (f.batch.source_rows + p->source_count > v->tokens || f.batch.target_rows + p->target_count > v->tokens)
            GANZ_TRY(end_batch(&f, stepper, crew, l, err));
        fill_add(&f, v, p);
    }
    return f.batch.segments > 0 ? end_batch(&f, stepper, crew, l, err) : GANZ_OK;
}

/* The sums of all batches, in their order. */
static ganz_status join_losses(const losses *l, const ganz_valid_crew *crew, double sums[3], ganz_error *err)
{
    const size_t count = (size_t)l->batches;
    double(*const all)[3] = ganz_alloc(count * (size_t)size_of(crew), sizeof *all);
    ganz_status status = all ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for the losses of validation");
    status = ganz_ranks_agree(crew->ranks, status, err);
    if (status == GANZ_OK && crew->ranks)
        status = ganz_ranks_gather(crew->ranks, l->sums, all, count * sizeof *all, err);
    else if (status == GANZ_OK && count > 0) memcpy(all, l->sums, count * sizeof *all);
    for (size_t i = 0; status == GANZ_OK && i < count; i++)
        for (int j = 0; j < 3; j++) sums[j] += all[i % (size_t)size_of(crew) * count + i][j];
    ganz_free(all);
    return status;
}

ganz_status ganz_valid_loss(ganz_valid *v, ganz_stepper *stepper, const ganz_valid_crew *crew, double *loss,
                            double *accuracy, ganz_error *err)
{
    double sums[3] = {0};
    losses l = {.sums = ganz_alloc((size_t)v->count, sizeof *l.sums)};
    ganz_status status = l.sums ? own_losses(v, stepper, crew, &l, err)
                                : ganz_fail(err, GANZ_ENOMEM, "out of memory for the losses of validation");
    status = ganz_ranks_agree(crew->ranks, status, err);
    if (status == GANZ_OK) status = join_losses(&l, crew, sums, err);
    ganz_free(l.sums);
    *loss = sums[2] > 0 ? sums[0] / sums[2] : 0;
    *accuracy = sums[2] > 0 ? sums[1] / sums[2] : 0;
    return status;
}

/* ---- translations ------------------------------------------------------------------------------- */

/* Sentence number i of `most` that are spread evenly over the sorted set. */
static const ganz_valid_pair *pick(const ganz_valid *v, int i, int most)
{
    return &v->pairs[(int64_t)i * v->count / most];
}

/* What was translated: one block for each process, with the lines of its groups in their order. */
typedef struct translations {
    int most, group;
    uint32_t *bytes;   /* (most) of each line; of this process's lines before they are joined */
    uint32_t *all;     /* (size, most) the same of all processes */
    ganz_text own;     /* this process's block */
    char *text;        /* all blocks */
    size_t *at, *next; /* (size + 1) where each block begins; where its next line begins */
} translations;

static ganz_status open_translations(translations *t, const ganz_valid *v, int most, const ganz_valid_crew *crew,
                                     ganz_error *err)
{
    const size_t size = (size_t)size_of(crew);
    *t = (translations){.most = most < v->count ? most : v->count, .group = v->group < GROUP ? v->group : GROUP};
    t->bytes = ganz_alloc((size_t)t->most, sizeof *t->bytes);
    t->all = ganz_alloc((size_t)t->most * size, sizeof *t->all);
    t->at = ganz_alloc(size + 1, sizeof *t->at);
    t->next = ganz_alloc(size + 1, sizeof *t->next);
    if (t->bytes && t->all && t->at && t->next) return GANZ_OK;
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for the translations of validation");
}

static void close_translations(translations *t)
{
    ganz_text_free(&t->own);
    ganz_free(t->bytes);
    ganz_free(t->all);
    ganz_free(t->text);
    ganz_free(t->at);
    ganz_free(t->next);
}

static ganz_status translate_group(const ganz_valid *v, ganz_decoder *decoder, int first, translations *t,
                                   ganz_error *err)
{
    const int n = t->most - first < t->group ? t->most - first : t->group;
    ganz_sentence sentences[GROUP] = {{0}};
    const ganz_found *found;
    const int *counts;
    for (int i = 0; i < n; i++) {
        const ganz_valid_pair *const p = pick(v, first + i, t->most);
        sentences[i] = (ganz_sentence){.ids = v->sources.ids + p->source, .count = p->source_count};
    }
    GANZ_TRY(ganz_decoder_run(decoder, sentences, n, &found, &counts, err));
    for (int i = 0; i < n; i++) {
        const size_t before = t->own.bytes;
        if (!is_blank(v, pick(v, first + i, t->most)) && counts[i] > 0) /* nothing is translated as nothing */
            GANZ_TRY(ganz_vocab_decode(v->vocab, GANZ_TARGET, found[i].ids, (size_t)found[i].count, &t->own, err));
        t->bytes[first + i] = (uint32_t)(t->own.bytes - before);
    }
    return GANZ_OK;
}

static ganz_status translate_own(const ganz_valid *v, ganz_decoder *decoder, const ganz_valid_crew *crew,
                                 translations *t, ganz_error *err)
{
    for (int first = 0; first < t->most; first += t->group) {
        if (ganz_flag_is_set(crew->stop)) return fail_stopped(err);
        if (is_own(crew, first / t->group)) GANZ_TRY(translate_group(v, decoder, first, t, err));
    }
    return GANZ_OK;
}

/* The lengths of all lines, and the places of all blocks. */
static ganz_status join_lengths(translations *t, const ganz_valid_crew *crew, ganz_error *err)
{
    const size_t bytes = (size_t)t->most * sizeof *t->bytes;
    const int size = size_of(crew);
    if (crew->ranks) GANZ_TRY(ganz_ranks_gather(crew->ranks, t->bytes, t->all, bytes, err));
    else memcpy(t->all, t->bytes, bytes);
    for (int rank = 0; rank < size; rank++) {
        t->at[rank + 1] = t->at[rank];
        for (int i = 0; i < t->most; i++) t->at[rank + 1] += t->all[(size_t)rank * (size_t)t->most + (size_t)i];
    }
    memcpy(t->next, t->at, ((size_t)size + 1) * sizeof *t->at);
    t->text = ganz_alloc(t->at[size] + 1, 1);
    return t->text ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for the translations of validation");
}

static ganz_status join_translations(translations *t, const ganz_valid_crew *crew, ganz_error *err)
{
    GANZ_TRY(ganz_ranks_agree(crew->ranks, join_lengths(t, crew, err), err));
    const int rank = crew->ranks ? crew->ranks->rank : 0;
    if (t->own.bytes > 0) memcpy(t->text + t->at[rank], t->own.text, t->own.bytes);
    return crew->ranks ? crew->ranks->gather(crew->ranks, t->text, t->at, err) : GANZ_OK;
}

static ganz_status score(ganz_valid *v, translations *t, int size, ganz_scorer *scorer, ganz_error *err)
{
    for (int i = 0; i < t->most; i++) {
        const int rank = i / t->group % size;
        const ganz_valid_pair *const p = pick(v, i, t->most);
        const char *const text = t->text + t->next[rank];
        const size_t bytes = t->all[(size_t)rank * (size_t)t->most + (size_t)i];
        t->next[rank] += bytes;
        v->lines[i] = ganz_checksum(text, bytes);
        GANZ_TRY(ganz_scorer_add(scorer, text, bytes, v->text + p->text, p->text_bytes, err));
    }
    return GANZ_OK;
}

ganz_status ganz_valid_bleu(ganz_valid *v, ganz_decoder *decoder, int most, const ganz_valid_crew *crew, double *bleu,
                            ganz_error *err)
{
    const ganz_score_settings settings = {.metric = GANZ_BLEU, .words = GANZ_WORDS_13A};
    ganz_scorer *scorer = NULL;
    translations t;
    ganz_status status = open_translations(&t, v, most, crew, err);
    if (status == GANZ_OK) status = ganz_scorer_open(&scorer, &settings, err);
    if (status == GANZ_OK) status = translate_own(v, decoder, crew, &t, err);
    status = ganz_ranks_agree(crew->ranks, status, err);
    if (status == GANZ_OK) status = join_translations(&t, crew, err);
    if (status == GANZ_OK) status = score(v, &t, size_of(crew), scorer, err);
    if (status == GANZ_OK) *bleu = ganz_scorer_score(scorer).score;
    ganz_scorer_close(&scorer);
    close_translations(&t);
    return status;
}
