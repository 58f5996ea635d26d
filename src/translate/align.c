/* Alignments: the finished translation runs through the decoder once more, attention weights are read on the way, and
 * at its end probabilities. */
#include "translate/align.h"

#include <stdlib.h>
#include <string.h>

#include "nn/measure.h"
#include "text/unicode.h"
#include "text/vocab.h"
#include "translate/forced.h"

enum { LOGIT_ROWS = 60 /* that exist at a time: as many as a cache likes */ };

struct ganz_aligner {
    ganz_backend *be;
    const ganz_net *net;
    const ganz_weights *weights;
    ganz_arena host, device;
    int source, target, edition; /* tokens that the arenas are large enough for, and of which edition of the net */
    bool scored;                 /* and whether for logits too */
};

ganz_status ganz_aligner_open(ganz_aligner **aligner, ganz_backend *be, const ganz_net *net,
                              const ganz_weights *weights, ganz_error *err)
{
    GANZ_ASSERT(be->host);
    *aligner = NULL;
    if (weights->packed) GANZ_TRY(ganz_cpu_backend_reads(be, weights->be, err));
    ganz_aligner *const a = *aligner = ganz_alloc(1, sizeof *a);
    if (!a) return ganz_fail(err, GANZ_ENOMEM, "out of memory for alignments");
    a->be = be;
    a->net = net;
    a->weights = weights;
    return GANZ_OK;
}

void ganz_aligner_close(ganz_aligner **aligner)
{
    ganz_aligner *const a = *aligner;
    *aligner = NULL;
    if (!a) return;
    ganz_arena_close(&a->host);
    ganz_arena_close(&a->device);
    ganz_free(a);
}

/* ---- the pass ----------------------------------------------------------------------------------- */

/* The layer before the last looks at the word it is about to say, but little at signs; the last one the other way
 * round. Together they are right where either alone is wrong. */
static const ganz_pair *watched_pair(const ganz_net *net, int from_end)
{
    const ganz_pair *last[2] = {NULL, NULL};
    for (int i = 0; i < net->decoder.count; i++) {
        const ganz_sublayer *const layer = &net->decoder.sublayer[i];
        if (layer->kind != GANZ_CROSS_ATTENTION) continue;
        last[1] = last[0];
        last[0] = layer->pair;
    }
    return last[from_end];
}

/* Both sides of one pass. */
typedef struct reading {
    const ganz_aligner *aligner;
    const ganz_sentence *source;
    const int32_t *target;
    int rows;      /* of the target */
    bool scored;   /* logits are made */
    real *weights; /* (rows, source tokens) result: row i those of the step that says target token i */
    float *score;  /* (rows) result */
} reading;

/* Logits of target tokens [first, first + rows), and their scores from them. */
static void score_part(const reading *r, ganz_pass *pass, const ganz_tensor *decoded, int first, int rows)
{
    float *const largest = ganz_arena_take(pass->device, 2 * (size_t)rows, sizeof *largest);
    int32_t *const index = ganz_arena_take(pass->device, (size_t)rows, sizeof *index);
    pass->failed |= !largest || !index;
    if (pass->failed) return;
    const ganz_tensor *const logits = ganz_net_logits(pass, r->aligner->net, ganz_net_part(pass, decoded, first, rows));
    if (pass->failed || pass->counts) return;
    GANZ_ASSERT(logits->m.type == GANZ_REAL);
    const ganz_topk_call call = {
        .logits = logits->m, .k = 1, .value = largest, .index = index, .logsumexp = largest + rows};
    pass->be->topk(pass->be, &call);
    for (int i = 0; i < rows; i++) {
        const real *const row = (const real *)logits->m.data + (size_t)i * (size_t)logits->m.ld;
        r->score[first + i] = (float)row[r->target[first + i]] - call.logsumexp[i];
    }
}

static void read_scores(const reading *r, ganz_pass *pass, const ganz_tensor *decoded)
{
    const size_t device = ganz_arena_mark(pass->device), host = ganz_arena_mark(pass->host);
    for (int first = 0; first < r->rows && !pass->failed; first += LOGIT_ROWS) {
        score_part(r, pass, decoded, first, r->rows - first < LOGIT_ROWS ? r->rows - first : LOGIT_ROWS);
        ganz_arena_rewind(pass->device, device);
        ganz_arena_rewind(pass->host, host);
    }
}

static void read_weights(void *context, ganz_pass *pass)
{
    reading *const r = context;
    const int count = r->source->count;
    const size_t cells = (size_t)r->rows * (size_t)count;
    real *const weights = ganz_arena_take(pass->device, cells, sizeof *weights); /* both watches add to it */
    ganz_watch watch[2] = {{watched_pair(r->aligner->net, 0), weights}, {watched_pair(r->aligner->net, 1), weights}};
    pass->failed = !weights;
    if (pass->failed) return;
    if (!pass->counts) memset(weights, 0, cells * sizeof *weights);
    ganz_instrument last = ganz_watch_instrument(&watch[0]), before = ganz_watch_instrument(&watch[1]);
    last.next = &before;
    pass->instrument = &last;
    const ganz_forced forced = {r->source->ids, count, r->target, r->rows};
    const ganz_tensor *const decoded = ganz_forced_decode(pass, r->aligner->net, &forced);
    pass->instrument = NULL;
    if (r->scored && !pass->failed) read_scores(r, pass, decoded);
    r->weights = weights;
}

/* Memory for this pass, and for all whose sides are no longer than those met so far. */
static ganz_status reserve(ganz_aligner *a, const reading *r, ganz_error *err)
{
    ganz_memory need;
    const bool fits = r->source->count <= a->source && r->rows <= a->target && (a->scored || !r->scored);
    if (fits && a->edition == a->net->edition) return GANZ_OK;
    const ganz_sentence longest = {.count = r->source->count > a->source ? r->source->count : a->source};
    reading largest = {.aligner = a, .source = &longest, .rows = r->rows > a->target ? r->rows : a->target};
    largest.scored = r->scored || a->scored;
    GANZ_TRY(ganz_measure(a->be, a->weights, read_weights, &largest, &need, err));
    ganz_arena_close(&a->host);
    ganz_arena_close(&a->device);
    a->source = a->target = 0;
    GANZ_TRY(ganz_arena_open(&a->host, need.host, err));
    GANZ_TRY(ganz_arena_open(&a->device, need.device, err));
    a->source = longest.count;
    a->target = largest.rows;
    a->scored = largest.scored;
    a->edition = a->net->edition;
    return GANZ_OK;
}

static int32_t largest_place(const real *x, int first, int count)
{
    int32_t best = first;
    for (int32_t i = first + 1; i < count; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* Column j of (rows, columns) numbers. */
static int32_t largest_row(const real *x, int rows, int columns, int j)
{
    int32_t best = 0;
    for (int32_t i = 1; i < rows; i++)
        if (x[(size_t)i * (size_t)columns + (size_t)j] > x[(size_t)best * (size_t)columns + (size_t)j]) best = i;
    return best;
}

/* A full stop or the end mark gets a share of attention from words that look at nothing, so a source token counts by
 * how much more a row looks at it than the others do: each column is divided by its sum. */
static void divide_columns(real *x, int rows, int columns)
{
    for (int j = 0; j < columns; j++) {
        real sum = 0;
        for (int i = 0; i < rows; i++) sum += x[(size_t)i * (size_t)columns + (size_t)j];
        for (int i = 0; i < rows && sum > 0; i++) x[(size_t)i * (size_t)columns + (size_t)j] /= sum;
    }
}

ganz_status ganz_aligner_run(ganz_aligner *a, const ganz_sentence *source, const int32_t *target, int count,
                             const ganz_aligned *out, ganz_error *err)
{
    GANZ_ASSERT(count <= a->net->config.max_positions);
    if (count == 0) return GANZ_OK;
    reading r = {.aligner = a, .source = source, .target = target, .rows = count};
    r.scored = out->score;
    r.score = out->score;
    GANZ_TRY(reserve(a, &r, err));
    ganz_arena_rewind(&a->host, 0);
    ganz_arena_rewind(&a->device, 0);
    ganz_pass pass = {.be = a->be, .weights = a->weights, .host = &a->host, .device = &a->device};
    read_weights(&r, &pass);
    GANZ_TRY(a->be->sync(a->be, err));
    if (pass.failed) return ganz_fail(err, GANZ_ENOMEM, "out of memory for alignments");
    divide_columns(r.weights, count, source->count);
    const int text = (int)ganz_ids_before_end(source->ids, (size_t)source->count), tokens = text > 0 ? text : 1;
    const int first = source->front < tokens ? source->front : 0;
    for (int i = 0; out->from && i < count; i++)
        out->from[i] = largest_place(r.weights + (size_t)i * (size_t)source->count, first, tokens);
    for (int j = 0; out->to && j < source->count; j++) out->to[j] = largest_row(r.weights, count, source->count, j);
    return GANZ_OK;
}

/* ---- tokens and words --------------------------------------------------------------------------- */

void ganz_token_ends(const char *text, size_t bytes, size_t *begin, size_t *end, size_t count)
{
    size_t next = bytes;
    for (size_t i = count; i > 0; i--) {
        const size_t own = begin[i - 1];
        size_t length = (own < next ? next : own) - own;
        if (i < count && own == next) { /* another piece of the same token */
            begin[i - 1] = begin[i];
            end[i - 1] = end[i];
            continue;
        }
        const char *const visible = ganz_strip(text + own, &length);
        begin[i - 1] = (size_t)(visible - text);
        end[i - 1] = begin[i - 1] + length;
        next = own;
    }
}

int ganz_word_at(ganz_word_walk *w, size_t offset)
{
    while (w->at < w->bytes) {
        int32_t code;
        const size_t step = ganz_next_character(w->text + w->at, &code);
        const bool visible = !ganz_is_space(code);
        if (visible && !w->inside) w->words++;
        w->inside = visible;
        if (visible && w->at >= offset) return w->words - 1;
        w->at += step;
    }
    return -1;
}

int ganz_word_scores(const ganz_translation *t, double *scores)
{
    ganz_word_walk walk = {.text = t->text, .bytes = t->bytes}, all = walk;
    ganz_word_at(&all, SIZE_MAX);
    for (int i = 0; i < all.words; i++) scores[i] = 0;
    for (int i = 0; i < t->token_count; i++) {
        const int word = ganz_word_at(&walk, t->tokens[i].begin);
        if (word >= 0) scores[word] += t->tokens[i].score;
    }
    return all.words;
}

/* ---- links -------------------------------------------------------------------------------------- */

enum { WEAK = INT32_MAX /* number of a word: behind all others */ };

static int compare(size_t a, size_t b) { return (a > b) - (a < b); }

static int by_target(const void *left, const void *right)
{
    const ganz_link *const a = left, *const b = right;
    const int target = compare(a->target_begin, b->target_begin), source = compare(a->source_begin, b->source_begin);
    return target ? target : source ? source : a->weak - b->weak;
}

size_t ganz_links_sort(ganz_link *links, size_t count)
{
    size_t kept = 0;
    if (count > 0) qsort(links, count, sizeof *links, by_target);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || by_target(&links[kept - 1], &links[i]) != 0) links[kept++] = links[i];
    return kept;
}

static int by_source_word(const void *left, const void *right)
{
    const ganz_word_link *const a = left, *const b = right;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return (a->target > b->target) - (a->target < b->target);
}

static int by_place(const void *left, const void *right)
{
    const ganz_link *const *const a = left, *const *const b = right;
    return compare((*a)->source_begin, (*b)->source_begin);
}

/* Both walks go forward only, so the links are taken by their places in the line. */
static void count_words(const ganz_line *line, const ganz_translation *t, const ganz_link **by_line,
                        ganz_word_link *words)
{
    ganz_word_walk source = {.text = line->text, .bytes = line->bytes}, target = {.text = t->text, .bytes = t->bytes};
    for (int i = 0; i < t->link_count; i++) {
        by_line[i] = &t->links[i];
        words[i].target = ganz_word_at(&target, t->links[i].target_begin);
    }
    qsort(by_line, (size_t)t->link_count, sizeof *by_line, by_place);
    for (int i = 0; i < t->link_count; i++) {
        ganz_word_link *const w = &words[by_line[i] - t->links];
        w->source = ganz_word_at(&source, by_line[i]->source_begin);
        if (by_line[i]->weak) w->source = WEAK;
    }
}

ganz_status ganz_word_links(const ganz_line *line, const ganz_translation *t, ganz_word_link *words, int *count,
                            ganz_error *err)
{
    *count = 0;
    if (t->link_count == 0) return GANZ_OK;
    const ganz_link **const by_line = ganz_alloc((size_t)t->link_count, sizeof *by_line);
    if (!by_line) return ganz_fail(err, GANZ_ENOMEM, "out of memory for links");
    count_words(line, t, by_line, words);
    ganz_free((void *)by_line);
    qsort(words, (size_t)t->link_count, sizeof *words, by_source_word);
    for (int i = 0; i < t->link_count && words[i].source != WEAK; i++)
        if (*count == 0 || by_source_word(&words[*count - 1], &words[i]) != 0) words[(*count)++] = words[i];
    return GANZ_OK;
}
