/* Statistics of operands: an instrument sees inputs before they are rounded, while a text is translated. */
#include "train/operands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ganz/io.h"
#include "text/vocab.h"
#include "translate/decode.h"

enum { BATCH_TOKENS = 2048, LONGEST = 256 };

/* ---- numbers ------------------------------------------------------------------------------------ */

double ganz_operand_max_scale(const ganz_operand_stats *s) { return s->largest / s->most; }

double ganz_operand_snr(const ganz_operand_stats *s)
{
    return s->signal > 0 && s->noise > 0 ? 10 * log10(s->signal / s->noise) : NAN;
}

double ganz_operand_clip_rate(const ganz_operand_stats *s)
{
    return s->values > 0 ? (double)s->clipped / (double)s->values : 0;
}

/* As the kernels do it: in float, by the inverse of the scale. */
static void count_value(ganz_operand_stats *s, float value, float inv)
{
    const double size = fabs((double)value);
    const double low = s->kind == GANZ_OPERAND_U ? 0 : -s->most;
    const double code = rint((double)(value * inv)), kept = fmin(fmax(code, low), s->most);
    const double lost = (double)value - kept * s->scale;
    s->values++;
    s->clipped += kept != code;
    s->signal += size * size;
    s->noise += lost * lost;
    if (size > s->largest) s->largest = size;
}

static void see_input(void *context, int place, const ganz_matrix *x, ganz_quantize_call *call)
{
    (void)call;
    ganz_operands *const o = context;
    ganz_operand_stats *const s = &o->list[place];
    if (!s->integer) return;
    const float inv = 1 / (float)s->scale;
    for (int row = 0; row < x->rows; row++) {
        const real *const values = (const real *)x->data + (size_t)row * (size_t)x->ld;
        for (int i = 0; i < x->cols; i++) count_value(s, (float)values[i], inv);
    }
    ganz_histogram_add(&o->magnitudes[place], x);
}

/* ---- attention weights, which exist only here --------------------------------------------------- */

typedef struct looking {
    const ganz_attention_call *call;
    ganz_operand_stats *stats;
    ganz_histogram *magnitudes;
    double scale; /* of a product of codes */
    real *u;      /* of one query */
} looking;

/* Key row number j of a query. */
static int key_row(const ganz_spans *see, int query, int segment, int j)
{
    return see->segments ? see->key_begin[segment] + j : see->list[see->list_begin[query] + j];
}

static int key_count(const ganz_spans *see, int query, int segment)
{
    if (!see->segments) return see->list_begin[query + 1] - see->list_begin[query];
    if (see->causal) return query - see->query_begin[segment] + 1;
    return see->key_begin[segment + 1] - see->key_begin[segment];
}

static void look_at_query(const looking *l, int query, int segment, int head)
{
    const ganz_attention_call *const c = l->call;
    const int count = key_count(&c->see, query, segment), first = head * c->width;
    const int8_t *const q = (const int8_t *)c->q.m.data + (size_t)query * (size_t)c->q.m.ld + first;
    double largest = -INFINITY, sum = 0;
    for (int j = 0; j < count; j++) {
        const int row = key_row(&c->see, query, segment, j);
        const int8_t *const k = (const int8_t *)c->k.m.data + (size_t)row * (size_t)c->k.m.ld + first;
        int32_t product = 0;
        for (int i = 0; i < c->width; i++) product += q[i] * k[i];
        l->u[j] = (real)(product * l->scale);
        if ((double)l->u[j] > largest) largest = (double)l->u[j];
    }
    for (int j = 0; j < count; j++) sum += l->u[j] = (real)exp((double)l->u[j] - largest);
    const float inv = 1 / (float)l->stats->scale;
    for (int j = 0; j < count; j++) {
        l->u[j] = (real)((double)l->u[j] / sum);
        count_value(l->stats, (float)l->u[j], inv);
    }
    const ganz_matrix row = {1, count, count, GANZ_REAL, l->u};
    ganz_histogram_add(l->magnitudes, &row);
}

static void see_attention(void *context, const ganz_pair *pair, ganz_attention_call *c)
{
    ganz_operands *const o = context;
    const ganz_spans *const see = &c->see;
    if (!o->list[pair->u.place].integer) return;
    looking l = {.call = c, .stats = &o->list[pair->u.place], .magnitudes = &o->magnitudes[pair->u.place]};
    l.scale = (double)*c->q.scale * (double)*c->k.scale * (double)c->inv_root;
    l.u = ganz_alloc((size_t)see->longest_key + 1, sizeof *l.u);
    for (int query = 0, segment = 0; l.u && query < see->queries; query++) {
        while (see->segments && query >= see->query_begin[segment + 1]) segment++;
        for (int head = 0; head < c->heads; head++) look_at_query(&l, query, segment, head);
    }
    ganz_free(l.u);
}

/* ---- the operands of a model -------------------------------------------------------------------- */

static void name_operand(ganz_operands *o, const ganz_scale *scale, ganz_operand_kind kind, int bits, bool integer)
{
    const ganz_model *const m = o->model;
    ganz_operand_stats *const s = &o->list[scale->place];
    const char *const name = m->net.params.list[scale->z].name;
    snprintf(s->name, sizeof s->name, "%.*s", (int)strlen(name) - 2, name); /* without ".z" */
    s->kind = kind;
    s->integer = integer;
    s->bits = bits;
    s->most = ganz_code_max(bits, kind != GANZ_OPERAND_U);
    s->scale = (double)m->weights.input_scale[scale->place];
}

static void name_operands(ganz_operands *o)
{
    ganz_net *const net = &o->model->net;
    for (int i = 0; i < net->sites; i++) {
        const ganz_site *const site = &net->site[i];
        name_operand(o, &site->input, GANZ_OPERAND_INPUT, site->rule.input_bits, site->inputs == GANZ_INPUTS_CODES);
    }
    for (int i = 0; i < net->pairs; i++) {
        const ganz_pair *const pair = &net->pair[i];
        const bool integer = pair->inputs == GANZ_INPUTS_CODES;
        name_operand(o, &pair->q, GANZ_OPERAND_QKV, pair->rule.input_bits, integer);
        name_operand(o, &pair->k, GANZ_OPERAND_QKV, pair->rule.input_bits, integer);
        name_operand(o, &pair->v, GANZ_OPERAND_QKV, pair->rule.input_bits, integer);
        name_operand(o, &pair->u, GANZ_OPERAND_U, pair->rule.attention_bits, integer);
    }
}

/* ---- text --------------------------------------------------------------------------------------- */

/* The first `most` lines that are neither empty nor too long, as ids; `begin` has where each begins, and the end. */
static ganz_status read_text(ganz_operands *o, const char *path, int most, int longest, ganz_ids *ids, size_t *begin,
                             ganz_error *err)
{
    ganz_lines *lines;
    const char *text;
    size_t bytes;
    ganz_status status;
    GANZ_TRY(ganz_lines_open(&lines, path, err));
    begin[0] = 0;
    while (o->lines < most) {
        GANZ_CHECK(ganz_lines_next(lines, &text, &bytes, err));
        if (!text) break;
        if (!ganz_utf8_valid(text, bytes)) continue;
        GANZ_CHECK(ganz_vocab_encode_sentence(o->model->vocab, GANZ_SOURCE, text, bytes, ids, err));
        const size_t count = ids->count - begin[o->lines];
        const bool blank = ganz_ids_before_end(ids->ids + begin[o->lines], count) == 0;
        if (blank || count > (size_t)longest) ids->count = begin[o->lines];
        else begin[++o->lines] = ids->count;
    }
    status = o->lines > 0 ? GANZ_OK : ganz_fail(err, GANZ_EINVAL, "%s has no line to translate", path);
out:
    ganz_lines_close(&lines);
    return status;
}

static ganz_status translate(ganz_operands *o, const ganz_ids *ids, const size_t *begin, int longest, ganz_error *err)
{
    ganz_model *const m = o->model;
    const ganz_decoder_options options = {
        .search = {.beam = 1, .n_best = 1}, .batch_tokens = BATCH_TOKENS, .max_input = longest};
    ganz_decoder *decoder = NULL;
    const ganz_found *found;
    const int *counts;
    ganz_status status;
    ganz_sentence *const sentences = ganz_alloc((size_t)o->lines, sizeof *sentences);
    if (!sentences) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the text");
    for (int i = 0; i < (int)o->lines; i++)
        sentences[i] = (ganz_sentence){.ids = ids->ids + begin[i], .count = (int)(begin[i + 1] - begin[i])};
    GANZ_CHECK(ganz_decoder_open(&decoder, m->be, &m->net, &m->weights, &options, err));
    GANZ_CHECK(ganz_decoder_set_instrument(decoder, &o->instrument, err));
    status = ganz_decoder_run(decoder, sentences, (int)o->lines, &found, &counts, err);
out:
    ganz_decoder_close(&decoder);
    ganz_free(sentences);
    return status;
}

/* Attention weights were made again here, in double; their clipped values were counted by the engine. */
static void take_clipped(ganz_operands *o)
{
    for (int i = 0; i < o->count; i++)
        if (o->list[i].kind == GANZ_OPERAND_U) o->list[i].clipped = o->audit.input[i].clipped;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static ganz_status run(ganz_operands *o, const char *text, int lines, ganz_error *err)
{
    ganz_ids ids = {0};
    const int limit = o->model->info.config.max_positions, longest = limit < LONGEST ? limit : LONGEST;
    size_t *const begin = ganz_alloc((size_t)lines + 1, sizeof *begin);
    ganz_status status = begin ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for the text");
    if (status == GANZ_OK) status = read_text(o, text, lines, longest, &ids, begin, err);
    if (status == GANZ_OK) status = translate(o, &ids, begin, longest, err);
    if (status == GANZ_OK) take_clipped(o);
    ganz_ids_free(&ids);
    ganz_free(begin);
    return status;
}

ganz_status ganz_operands_open(ganz_operands *o, const char *model, const char *text, int lines, ganz_error *err)
{
    *o = (ganz_operands){
        .instrument = {.input = see_input, .attention = see_attention, .context = o, .next = &o->audit.instrument}};
    ganz_status status;
    GANZ_TRY(ganz_model_open(&o->model, model, err));
    if (!o->model->info.integer) {
        status = ganz_fail(err, GANZ_EINVAL, "%s: not an integer model", model);
        goto out;
    }
    if (ganz_scheme_has_columns(&o->model->net.scheme)) {
        status = ganz_fail(err, GANZ_EUNSUPPORTED, "%s: inputs with steps for their columns have no report", model);
        goto out;
    }
    o->count = o->model->net.scales;
    o->list = ganz_alloc((size_t)o->count, sizeof *o->list);
    o->magnitudes = ganz_alloc((size_t)o->count, sizeof *o->magnitudes);
    if (!o->list || !o->magnitudes) {
        status = ganz_fail(err, GANZ_ENOMEM, "out of memory for the counts of %d operands", o->count);
        goto out;
    }
    name_operands(o);
    GANZ_CHECK(ganz_audit_open(&o->audit, &o->model->net, err));
    status = run(o, text, lines, err);
out:
    if (status != GANZ_OK) ganz_operands_close(o);
    return status;
}

void ganz_operands_close(ganz_operands *o)
{
    ganz_audit_close(&o->audit);
    ganz_free(o->list);
    ganz_free(o->magnitudes);
    ganz_model_close(&o->model);
    *o = (ganz_operands){0};
}
