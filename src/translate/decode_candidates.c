/* Candidates of a decoder step: the best tokens of each row and its log-sum-exp, from logits that exist a part at a
 * time; and tokens that are drawn or forced. */
#include "base/exact.h"
#include "ganz/vocab.h"
#include "translate/decode_parts.h"

/* Logits of a row, columns [col, col + count), as floats; `raw` has room for so many of any type. */
static void get_logits(const ganz_decoder *d, const ganz_matrix *m, int row, int col, int count, void *raw,
                       float *value)
{
    const size_t bytes = ganz_type_bytes(m->type), at = (size_t)row * (size_t)m->ld + (size_t)col;
    d->be->download(d->be, raw, (const unsigned char *)m->data + at * bytes, (size_t)count * bytes);
    for (int i = 0; i < count; i++) {
        if (m->type == GANZ_REAL) value[i] = (float)((const real *)raw)[i];
        else value[i] = ganz_float_from((uint32_t)((const uint16_t *)raw)[i] << 16);
    }
}

static float logit_at(const ganz_decoder *d, const ganz_matrix *m, int row, int col)
{
    real raw;
    float value;
    get_logits(d, m, row, col, 1, &raw, &value);
    return value;
}

/* Draws the token of a row, which becomes its first candidate. There is one row for each sentence. */
static void draw_token(ganz_decoder *d, const ganz_matrix *logits, int first, int i)
{
    const ganz_lane *const l = &d->lanes[first + i];
    const ganz_draw_options *const o = &d->options.draw;
    float *const value = d->value + (size_t)(first + i) * (size_t)d->k;
    int32_t *const index = d->index + (size_t)(first + i) * (size_t)d->k;
    if (d->row) get_logits(d, logits, i, 0, logits->cols, d->raw_row, d->row);
    const int at = ganz_draw_token(o, l->stream, l->beam.step, d->row ? d->row : value, d->row ? logits->cols : d->k);
    index[0] = d->row ? at : index[at];
    value[0] = d->row ? d->row[at] : value[at];
}

/* Candidates of one step: values, sums and places of all its rows, one after another. */
typedef struct candidates {
    float *value, *logsumexp;
    int32_t *index;
} candidates;

static candidates lay_out(void *block, int rows, int k)
{
    float *const value = block, *const sums = value + (size_t)rows * (size_t)k;
    return (candidates){value, sums, (int32_t *)(sums + rows)};
}

/* With a forced length no hypothesis ends before its time. */
static void take_candidates(ganz_decoder *d, const ganz_matrix *logits, int first, int all)
{
    const candidates to = lay_out(d->device_found, all, d->k);
    const size_t at = (size_t)first * (size_t)d->k;
    const ganz_topk_call call = {.logits = *logits,
                                 .k = d->k,
                                 .banned = d->options.force_length > 0 ? GANZ_EOS + 1 : 0,
                                 .value = to.value + at,
                                 .index = to.index + at,
                                 .logsumexp = to.logsumexp + first};
    d->be->topk(d->be, &call);
}

void ganz_decoder_fetch(ganz_decoder *d, int rows)
{
    const size_t bytes = (size_t)rows * (2 * (size_t)d->k + 1) * sizeof *d->value;
    const candidates to = lay_out(d->value, rows, d->k);
    d->logsumexp = to.logsumexp;
    d->index = to.index;
    d->be->download(d->be, d->value, d->device_found, bytes);
}

/* Those of some rows, while their logits are there. */
static void fetch_part(ganz_decoder *d, int first, int rows, int all)
{
    const candidates from = lay_out(d->device_found, all, d->k), to = lay_out(d->value, all, d->k);
    const size_t at = (size_t)first * (size_t)d->k, bytes = (size_t)rows * (size_t)d->k * sizeof *to.value;
    d->logsumexp = to.logsumexp;
    d->index = to.index;
    d->be->download(d->be, to.value + at, from.value + at, bytes);
    d->be->download(d->be, to.index + at, from.index + at, bytes);
    d->be->download(d->be, to.logsumexp + first, from.logsumexp + first, (size_t)rows * sizeof *to.logsumexp);
}

static void choose_tokens(ganz_decoder *d, const ganz_matrix *logits, int first)
{
    for (int i = 0; i < logits->rows; i++) {
        const size_t at = (size_t)(first + i) * (size_t)d->k;
        if (d->forced[first + i] < 0 && ganz_decoder_draws(d)) draw_token(d, logits, first, i);
        if (d->forced[first + i] < 0) continue;
        d->value[at] = logit_at(d, logits, i, d->forced[first + i]);
        d->index[at] = d->forced[first + i];
    }
}

bool ganz_decoder_chooses(const ganz_decoder *d, int rows)
{
    for (int i = 0; i < rows; i++)
        if (d->forced[i] >= 0) return true;
    return ganz_decoder_draws(d);
}

void ganz_decoder_find_candidates(ganz_decoder *d, ganz_pass *pass, const ganz_tensor *decoded, int all, bool apart)
{
    const size_t mark = ganz_arena_mark(&d->scratch), host_mark = ganz_arena_mark(&d->host_scratch);
    const int parts = (all + d->logit_rows - 1) / d->logit_rows, part = (all + parts - 1) / parts;
    for (int first = 0; first < all && !pass->failed; first += part) {
        const int rows = all - first < part ? all - first : part;
        const ganz_tensor *const logits = ganz_net_logits(pass, d->net, ganz_net_part(pass, decoded, first, rows));
        if (pass->failed) return;
        take_candidates(d, &logits->m, first, all);
        if (apart) fetch_part(d, first, rows, all);
        if (apart) choose_tokens(d, &logits->m, first);
        ganz_arena_rewind(&d->scratch, mark);
        ganz_arena_rewind(&d->host_scratch, host_mark);
    }
}
