/* Parallel text to a corpus. Blocks of lines are read, then judged and encoded, with their copies, by all threads, then
 * written in the order of the lines: what a thread does never depends on the others. */
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/io.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "ganz/corpus.h"
#include "text/unicode.h"
#include "text/vocab.h"
#include "train/augment.h"
#include "train/corpus.h"
#include "train/formality.h"

enum { BLOCK_PAIRS = 16384, BLOCK_BYTES = 16 << 20, GRAIN = 16 };

typedef enum { KEPT, INVALID, EMPTY, IDENTICAL, TOO_SHORT, TOO_LONG, RATIO } verdict;

/* A pair in ids. */
typedef struct encoded {
    size_t at;             /* in the ids of a worker: source, then target */
    size_t source, target; /* how many; tag, mark of formality and end marks included */
    bool marked;           /* by formality */
} encoded;

typedef struct item {
    size_t source_at, source_bytes; /* in the block's text */
    size_t target_at, target_bytes;
    verdict verdict;
    bool repaired;
    int worker; /* who holds the ids */
    encoded ids;
    size_t first_copy, copies; /* in the copies of the worker */
    uint64_t hash;             /* of both texts */
    ganz_form form;            /* UNCLEAR where no marks are given */
} item;

typedef struct scratch {
    ganz_ids ids;
    encoded *copies;
    size_t copy_count, copy_capacity;
    ganz_text repaired[4]; /* of a pair and of the one behind it */
    ganz_text copy[2];
    ganz_text lower; /* a source in small letters */
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
    ganz_inserts inserts;
    ganz_formality_rules formality; /* without words where no marks are wanted */
    int marks[2];                   /* ids of its marks */
    const ganz_corpus_input *input; /* at work */
    int number;                     /* of it */
    int tag;                        /* its id, or -1 */
    long long first;                /* line of the block's first pair */
} job;

void ganz_prepare_defaults(ganz_prepare_options *options)
{
    *options = (ganz_prepare_options){.min_length = 1, .seed = 1};
}

const char *ganz_copy_name(ganz_copy_kind kind)
{
    static const char *const names[] = {"upper", "lower", "title", "bare", "joined", "inserted", "quotes", "initial"};
    return names[kind];
}

/* ---- formality ---------------------------------------------------------------------------------- */

static ganz_draw draw_of(const job *j, const item *it)
{
    return (ganz_draw){j->options->seed, (uint64_t)j->number, (uint64_t)(j->first + (it - j->items))};
}

static ganz_form judge_form(const job *j, scratch *s, const ganz_pair_text *p)
{
    ganz_form form = GANZ_FORM_UNCLEAR;
    if (!j->options->formality || j->input->formality <= 0 || s->status != GANZ_OK) return form;
    if (!ganz_formality_judge(&j->formality, p, &s->lower, &form))
        s->status = ganz_fail(&s->err, GANZ_ENOMEM, "out of memory for a line in small letters");
    return form;
}

/* The mark of a pair, or of its copy of a kind, whose number is one more. */
static int choose_mark(const job *j, const item *it, ganz_form form, int copy)
{
    const ganz_draw draw = draw_of(j, it);
    return ganz_formality_draw(&j->formality, form, j->input->formality, &draw, copy);
}

/* ---- one pair, in any thread -------------------------------------------------------------------- */

/* A view of one side: valid UTF-8, or false. */
static bool make_valid(const job *j, scratch *s, ganz_text *out, const char **text, size_t *bytes, bool *repaired)
{
    if (ganz_utf8_valid(*text, *bytes)) return true;
    if (j->options->invalid != GANZ_INVALID_REPLACE) return false;
    size_t replaced;
    if (!ganz_grow((void **)&out->text, &out->capacity, 3 * *bytes, 1)) {
        s->status = ganz_fail(&s->err, GANZ_ENOMEM, "out of memory for a line of %zu bytes", *bytes);
        return false;
    }
    *bytes = ganz_utf8_repair(*text, *bytes, out->text, &replaced);
    *text = out->text;
    *repaired = true;
    return true;
}

/* Both sides of an item, ready to be encoded: KEPT, or why not. `room`: two texts for what must be repaired. */
static verdict view(const job *j, scratch *s, const item *it, ganz_text *room, ganz_pair_text *p, bool *repaired)
{
    *p = (ganz_pair_text){j->text.text + it->source_at, j->text.text + it->target_at, it->source_bytes,
                          it->target_bytes};
    if (!make_valid(j, s, &room[0], &p->source, &p->source_bytes, repaired) ||
        !make_valid(j, s, &room[1], &p->target, &p->target_bytes, repaired))
        return INVALID;
    p->source = ganz_strip(p->source, &p->source_bytes);
    p->target = ganz_strip(p->target, &p->target_bytes);
    return p->source_bytes == 0 || p->target_bytes == 0 ? EMPTY : KEPT;
}

static void add_id(scratch *s, int32_t id)
{
    if (s->status != GANZ_OK) return;
    if (ganz_grow((void **)&s->ids.ids, &s->ids.capacity, s->ids.count + 1, sizeof *s->ids.ids))
        s->ids.ids[s->ids.count++] = id;
    else s->status = ganz_fail(&s->err, GANZ_ENOMEM, "out of memory for the ids of a line");
}

/* Appends the ids of a text and the end mark; returns how many there are since `from`. */
static size_t encode(const job *j, scratch *s, size_t from, const ganz_passage *p)
{
    if (s->status == GANZ_OK)
        s->status = ganz_vocab_encode_sentence(j->vocab, p->side, p->text, p->bytes, &s->ids, &s->err);
    return s->ids.count - from;
}

/* `mark`: of the two of formality, or -1. */
static encoded encode_pair(const job *j, scratch *s, const ganz_pair_text *p, int mark)
{
    encoded e = {.at = s->ids.count, .marked = mark >= 0};
    if (j->tag >= 0) add_id(s, j->tag);
    if (mark >= 0) add_id(s, j->marks[mark]);
    e.source = encode(j, s, e.at, &(ganz_passage){p->source, p->source_bytes, GANZ_SOURCE});
    e.target = encode(j, s, e.at + e.source, &(ganz_passage){p->target, p->target_bytes, GANZ_TARGET});
    return e;
}

static verdict judge_lengths(const ganz_prepare_options *o, const encoded *e)
{
    const size_t shorter = e->source < e->target ? e->source : e->target,
                 longer = e->source < e->target ? e->target : e->source;
    if (shorter < (size_t)o->min_length) return TOO_SHORT;
    if (o->max_length > 0 && longer > (size_t)o->max_length) return TOO_LONG;
    if (o->max_ratio > 0 && (double)longer > o->max_ratio * (double)shorter) return RATIO;
    return KEPT;
}

static verdict judge(const job *j, scratch *s, item *it, ganz_pair_text *p)
{
    it->repaired = false;
    const verdict seen = view(j, s, it, s->repaired, p, &it->repaired);
    if (seen != KEPT) return seen;
    const bool same = p->source_bytes == p->target_bytes && memcmp(p->source, p->target, p->source_bytes) == 0;
    if (same && j->options->drop_identical) return IDENTICAL;
    if (j->options->dedupe)
        it->hash = XXH3_64bits_withSeed(p->target, p->target_bytes, XXH3_64bits(p->source, p->source_bytes));
    it->form = judge_form(j, s, p);
    it->ids = encode_pair(j, s, p, choose_mark(j, it, it->form, 0));
    const verdict fits = judge_lengths(j->options, &it->ids);
    if (fits != KEPT) s->ids.count = it->ids.at; /* not needed any more */
    return fits;
}

/* A copy has the limits that pairs have; one beyond them is not made. Its form is its pair's, which capitals would
 * hide; but two pairs are judged together. */
static void add_copy(const job *j, scratch *s, item *it, ganz_copy_kind kind)
{
    const ganz_pair_text p = {s->copy[0].text, s->copy[1].text, s->copy[0].bytes, s->copy[1].bytes};
    const ganz_form form = kind == GANZ_COPY_JOINED ? judge_form(j, s, &p) : it->form;
    const encoded e = encode_pair(j, s, &p, choose_mark(j, it, form, (int)kind + 1));
    if (s->status != GANZ_OK) return;
    if (judge_lengths(j->options, &e) != KEPT) {
        s->ids.count = e.at;
    } else if (!ganz_grow((void **)&s->copies, &s->copy_capacity, s->copy_count + 1, sizeof *s->copies)) {
        s->status = ganz_fail(&s->err, GANZ_ENOMEM, "out of memory for copies");
    } else {
        s->copies[s->copy_count++] = e;
        it->copies++;
    }
}

static void make_copies(const job *j, scratch *s, item *it, const ganz_pair_text *p)
{
    const ganz_draw draw = draw_of(j, it);
    for (int kind = 0; kind < GANZ_COPY_KINDS && s->status == GANZ_OK; kind++) {
        if (j->input->copies[kind] == 0) continue;
        ganz_pair_text next;
        bool repaired, follows = kind == GANZ_COPY_JOINED && it + 1 < j->items + j->count;
        if (follows) follows = view(j, s, it + 1, s->repaired + 2, &next, &repaired) == KEPT;
        const ganz_copy_result made = ganz_copy_make((ganz_copy_kind)kind, j->input->copies[kind], &draw, p,
                                                     follows ? &next : NULL, &j->inserts, s->copy);
        if (made == GANZ_COPY_NO_MEMORY) s->status = ganz_fail(&s->err, GANZ_ENOMEM, "out of memory for copies");
        if (made == GANZ_COPY_MADE) add_copy(j, s, it, (ganz_copy_kind)kind);
    }
}

static void judge_items(void *context, int64_t begin, int64_t end, int worker)
{
    const job *const j = context;
    scratch *const s = &j->workers[worker];
    for (int64_t i = begin; i < end && s->status == GANZ_OK; i++) {
        item *const it = &j->items[i];
        ganz_pair_text p;
        it->worker = worker;
        it->first_copy = s->copy_count;
        it->copies = 0;
        it->verdict = judge(j, s, it, &p);
        if (it->verdict == KEPT) make_copies(j, s, it, &p);
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
            return ganz_fail(err, GANZ_EFORMAT, "%s has %lld line%s, but %s has more", ganz_lines_name(shorter),
                             ganz_lines_number(shorter), ganz_lines_number(shorter) == 1 ? "" : "s",
                             ganz_lines_name(longer));
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

static ganz_status add_encoded(job *j, const scratch *s, const encoded *e, ganz_prepare_counts *counts, ganz_error *err)
{
    const int32_t *const ids = s->ids.ids + e->at;
    counts->source_tokens += (long long)e->source;
    counts->target_tokens += (long long)e->target;
    counts->marked += e->marked;
    return ganz_corpus_writer_add(j->out, ids, e->source, ids + e->source, e->target, err);
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
    const scratch *const s = &j->workers[it->worker];
    counts->kept++;
    counts->repaired += it->repaired;
    counts->formal += it->form == GANZ_FORM_FORMAL;
    counts->informal += it->form == GANZ_FORM_INFORMAL;
    counts->copies += (long long)it->copies;
    GANZ_TRY(add_encoded(j, s, &it->ids, counts, err));
    for (size_t i = 0; i < it->copies; i++) GANZ_TRY(add_encoded(j, s, &s->copies[it->first_copy + i], counts, err));
    return GANZ_OK;
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
    for (int i = 0; i < ganz_pool_threads(j->pool); i++) j->workers[i].ids.count = j->workers[i].copy_count = 0;
    ganz_pool_run(j->pool, j->count, GRAIN, judge_items, j);
    for (int i = 0; i < ganz_pool_threads(j->pool); i++) {
        if (j->workers[i].status == GANZ_OK) continue;
        if (err) *err = j->workers[i].err;
        return j->workers[i].status;
    }
    GANZ_TRY(write_block(j, source, target, counts, err));
    j->read += j->count;
    j->first += j->count;
    if (j->options->progress) j->options->progress(j->options->context, j->read);
    if (ganz_flag_is_set(j->options->stop)) return ganz_fail(err, GANZ_ESTOPPED, "stopped after %lld pairs", j->read);
    return GANZ_OK;
}

static ganz_status run_input(job *j, const ganz_corpus_input *input, ganz_prepare_counts *counts, ganz_error *err)
{
    ganz_lines *source = NULL, *target = NULL;
    bool ended = false;
    ganz_status status = GANZ_OK;
    j->input = input;
    j->first = 0;
    j->tag = input->tag ? ganz_vocab_mark(j->vocab, input->tag) : -1;
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

static ganz_status check_copies(const ganz_vocab *vocab, const ganz_corpus_input *input, const ganz_prepare_options *o,
                                ganz_error *err)
{
    if (input->tag && ganz_vocab_mark(vocab, input->tag) < 0)
        return ganz_fail(err, GANZ_EINVAL, "the vocabulary has no mark %s; ganz vocab --reserve makes one", input->tag);
    for (int kind = 0; kind < GANZ_COPY_KINDS; kind++)
        if (!(input->copies[kind] >= 0 && input->copies[kind] <= 1))
            return ganz_fail(err, GANZ_EINVAL, "the share of %s copies is 0 to 1, not %g",
                             ganz_copy_name((ganz_copy_kind)kind), input->copies[kind]);
    if (input->copies[GANZ_COPY_INSERTED] > 0 && !o->insert_from)
        return ganz_fail(err, GANZ_EINVAL, "copies with a line inserted need a file to take it from");
    if (!(input->formality >= 0 && input->formality <= 1))
        return ganz_fail(err, GANZ_EINVAL, "the share of marks of formality is 0 to 1, not %g", input->formality);
    if (input->formality > 0 && !o->formality)
        return ganz_fail(err, GANZ_EINVAL, "marks of formality need a file of words of address");
    return GANZ_OK;
}

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

static ganz_status open_formality(job *j, ganz_error *err)
{
    ganz_formality_rules *const f = &j->formality;
    if (!j->options->formality) return GANZ_OK;
    GANZ_TRY(ganz_formality_read(f, j->options->formality, err));
    for (int i = 0; i < 2; i++)
        if ((j->marks[i] = ganz_vocab_mark(j->vocab, f->marks[i])) < 0)
            return ganz_fail(err, GANZ_EINVAL, "the vocabulary has no mark %s; ganz vocab --reserve makes one",
                             f->marks[i]);
    return GANZ_OK;
}

static ganz_status open_job(job *j, const char *path, ganz_error *err)
{
    const int threads = j->options->threads ? j->options->threads : ganz_cpu_count();
    if (j->options->insert_from) GANZ_TRY(ganz_inserts_read(&j->inserts, j->options->insert_from, err));
    GANZ_TRY(open_formality(j, err));
    GANZ_TRY(ganz_pool_open(&j->pool, threads, err));
    j->workers = ganz_alloc((size_t)threads, sizeof *j->workers);
    j->items = ganz_alloc(BLOCK_PAIRS, sizeof *j->items);
    if (!j->workers || !j->items) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a block of lines");
    const ganz_corpus_vocab about = ganz_corpus_vocab_of(j->vocab);
    GANZ_TRY(ganz_corpus_writer_open(&j->out, path, &about, err));
    if (!j->options->formality) return GANZ_OK;
    return ganz_corpus_writer_marks(j->out, j->formality.marks[0], j->formality.marks[1], err);
}

static void close_job(job *j)
{
    for (int i = 0; j->workers && i < ganz_pool_threads(j->pool); i++) {
        ganz_ids_free(&j->workers[i].ids);
        for (int k = 0; k < 4; k++) ganz_text_free(&j->workers[i].repaired[k]);
        ganz_text_free(&j->workers[i].copy[0]);
        ganz_text_free(&j->workers[i].copy[1]);
        ganz_text_free(&j->workers[i].lower);
        ganz_free(j->workers[i].copies);
    }
    ganz_inserts_free(&j->inserts);
    ganz_formality_free(&j->formality);
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
    for (int i = 0; i < count; i++) GANZ_TRY(check_copies(vocab, &inputs[i], options, err));
    job j = {.vocab = vocab, .options = options};
    ganz_status status = open_job(&j, path, err);
    for (int i = 0; i < count && status == GANZ_OK; i++) {
        counts[i] = (ganz_prepare_counts){0};
        j.number = i;
        status = run_input(&j, &inputs[i], &counts[i], err);
    }
    if (status == GANZ_OK) status = ganz_corpus_writer_finish(&j.out, err);
    close_job(&j);
    return status;
}
