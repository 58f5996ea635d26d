/* Quantization without learning: by measured ranges, by counted magnitudes, by errors of products, by one
 * range, row by row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/surroundings.h"
#include "base/thread.h"
#include "ganz/io.h"
#include "ganz/quantize.h"
#include "model/model.h"
#include "text/vocab.h"
#include "translate/columns.h"
#include "translate/decode.h"
#include "translate/fit.h"
#include "translate/histogram.h"

enum { BATCH_LINES = 128, BATCH_TOKENS = 2048, LONGEST = 256 };

typedef struct calibrator {
    const ganz_calibration *how;
    ganz_scheme scheme;
    ganz_calibration_report *report;
    ganz_model *model; /* ours alone: its states change */
    ganz_backend *be;
    ganz_decoder *decoder;
    ganz_lines *source, *target;
    ganz_instrument counter;
    ganz_histogram *counts;   /* (scales) for KL, else NULL */
    ganz_fit *fit;            /* of GANZ_METHOD_FIT, else NULL */
    ganz_column_fit *columns; /* where inputs have them, else NULL */
    int longest;
    ganz_ids ids; /* of a batch */
    size_t source_at[BATCH_LINES], target_at[BATCH_LINES];
    ganz_sentence sentences[BATCH_LINES];
    int count;
} calibrator;

void ganz_calibration_defaults(ganz_calibration *how)
{
    *how = (ganz_calibration){.method = GANZ_METHOD_MAX, .bits = 8, .clip = 2, .beam = 1, .threads = 1};
}

static bool needs_text(const ganz_calibration *how)
{
    return how->method == GANZ_METHOD_MAX || how->method == GANZ_METHOD_KL || how->method == GANZ_METHOD_FIT;
}

/* With the range of weights that goes with the method: KL and FIT make one of their own; and FIT puts into biases what
 * is finer than codes. Without exceptions. */
static ganz_scheme plain_scheme(const ganz_calibration *how)
{
    const int bits = how->bits, biases = how->method == GANZ_METHOD_FIT ? GANZ_BITS_FLOAT : bits;
    const bool largest =
        how->weight_range == GANZ_WEIGHT_RANGE_AUTO && how->method != GANZ_METHOD_KL && how->method != GANZ_METHOD_FIT;
    return (ganz_scheme){.rule = {.integer = true,
                                  .weight_bits = how->weight_bits ? how->weight_bits : bits,
                                  .input_bits = how->activation_bits ? how->activation_bits : bits,
                                  .attention_bits = how->attention_bits ? how->attention_bits : bits,
                                  .bias_bits = how->bias_bits ? how->bias_bits : biases,
                                  .per_row = how->per_row || how->columns,
                                  .power_of_two = how->power_of_two,
                                  .weight_range = largest ? GANZ_WEIGHT_RANGE_MAX : (int)how->weight_range},
                         .float_attention = how->dense,
                         .float_lookup = how->float_lookup};
}

/* Columns are for all products of both stacks; logits multiply with a table that is looked up too. */
static ganz_status take_exceptions(const ganz_calibration *how, ganz_scheme *scheme, ganz_error *err)
{
    static const char columns[] = "enc.*: columns=own; dec.*: columns=own; ";
    char text[GANZ_SCHEME_TEXT];
    if (!how->exceptions && !how->columns) return GANZ_OK;
    if (snprintf(text, sizeof text, "%s%s", how->columns ? columns : "", how->exceptions ? how->exceptions : "") >=
        (int)sizeof text)
        return ganz_fail(err, GANZ_ELIMIT, "exceptions of more than %d letters", GANZ_SCHEME_TEXT - 1);
    GANZ_TRY(ganz_scheme_parse(scheme, text, err));
    if (!how->columns && ganz_scheme_has_columns(scheme))
        return ganz_fail(err, GANZ_EINVAL,
                         "exceptions cannot say columns=own: steps for columns are asked for as such");
    return GANZ_OK;
}

static ganz_status make_scheme(const ganz_calibration *how, ganz_scheme *scheme, ganz_error *err)
{
    const ganz_scheme one = ganz_scheme_of_bits(how->bits);
    *scheme = plain_scheme(how);
    GANZ_TRY(ganz_scheme_check(&one, err));
    GANZ_TRY(ganz_scheme_check(scheme, err));
    return take_exceptions(how, scheme, err);
}

static ganz_status check(const ganz_calibration *how, ganz_error *err)
{
    if (how->method < GANZ_METHOD_MAX || how->method > GANZ_METHOD_FIT)
        return ganz_fail(err, GANZ_EINVAL, "there is no such method without learning");
    if (how->method == GANZ_METHOD_CLIP && !(how->clip > 0 && how->clip <= 1e6))
        return ganz_fail(err, GANZ_EINVAL, "a range to clip to is positive, not %g", how->clip);
    if (how->method == GANZ_METHOD_DYNAMIC &&
        (how->power_of_two || how->float_lookup || how->attention_bits || how->bias_bits || how->exceptions))
        return ganz_fail(err, GANZ_EINVAL,
                         "the dynamic method has bits of weights and of inputs, and nothing else to choose");
    if (how->weight_range != GANZ_WEIGHT_RANGE_AUTO && !needs_text(how))
        return ganz_fail(err, GANZ_EINVAL, "the methods clip and dynamic have a range of weights of their own");
    if (how->columns && (how->method != GANZ_METHOD_FIT || how->power_of_two))
        return ganz_fail(err, GANZ_EINVAL, "steps for columns go with the method fit, and are no powers of two");
    if (how->columns && how->bias_bits && how->bias_bits != GANZ_BITS_FLOAT)
        return ganz_fail(err, GANZ_EINVAL, "with steps for columns biases stay float");
    if (how->beam < 1 || how->beam > GANZ_BEAM_MOST)
        return ganz_fail(err, GANZ_EINVAL, "beam must be 1 to %d, not %d", GANZ_BEAM_MOST, how->beam);
    if (needs_text(how) && !how->source) return ganz_fail(err, GANZ_EINVAL, "no text to calibrate with");
    return GANZ_OK;
}

/* ---- text --------------------------------------------------------------------------------------- */

/* Ids of a line, as models read it, at the end of c->ids; returns how many, 1 for a blank line. */
static ganz_status encode(calibrator *c, const ganz_lines *from, const ganz_passage *line, int *count, ganz_error *err)
{
    const size_t before = c->ids.count;
    GANZ_TRY(ganz_vocab_encode_line(c->model->vocab, from, line, &c->ids, err));
    *count = c->ids.count - before > INT32_MAX ? INT32_MAX : (int)(c->ids.count - before);
    return GANZ_OK;
}

/* The next line of the translation, which must be there when the source has one. */
static ganz_status next_target(calibrator *c, int *count, ganz_error *err)
{
    const char *text;
    size_t bytes;
    *count = 0;
    if (!c->target) return GANZ_OK;
    GANZ_TRY(ganz_lines_next(c->target, &text, &bytes, err));
    if (!text) return ganz_fail(err, GANZ_EINVAL, "%s has fewer lines than %s", c->how->target, c->how->source);
    return encode(c, c->target, &(ganz_passage){text, bytes, GANZ_TARGET}, count, err);
}

/* Where the source ends, its translation does. */
static ganz_status end_target(calibrator *c, ganz_error *err)
{
    const char *text = NULL;
    size_t bytes;
    if (c->target) GANZ_TRY(ganz_lines_next(c->target, &text, &bytes, err));
    return text ? ganz_fail(err, GANZ_EINVAL, "%s has more lines than %s", c->how->target, c->how->source) : GANZ_OK;
}

/* One line of both sides into the batch, unless it is empty or too long. *more: there was one. */
static ganz_status add_line(calibrator *c, bool *more, ganz_error *err)
{
    const char *text;
    size_t bytes;
    GANZ_TRY(ganz_lines_next(c->source, &text, &bytes, err));
    *more = text != NULL;
    if (!text) return end_target(c, err);
    const size_t source_at = c->ids.count;
    int source, target;
    GANZ_TRY(encode(c, c->source, &(ganz_passage){text, bytes, GANZ_SOURCE}, &source, err));
    const size_t target_at = c->ids.count;
    GANZ_TRY(next_target(c, &target, err));
    const bool blank = ganz_ids_before_end(c->ids.ids + source_at, (size_t)source) == 0;
    const bool fits = !blank && source <= c->longest && target < ganz_decoder_limit(c->decoder, source);
    if (!fits) {
        c->report->left_out++;
        c->ids.count = source_at;
        return GANZ_OK;
    }
    c->source_at[c->count] = source_at;
    c->target_at[c->count] = target_at;
    c->sentences[c->count++] = (ganz_sentence){.count = source, .prefix_count = target};
    return GANZ_OK;
}

/* A given translation is a beginning that leaves nothing open: the end mark is its last token. */
static ganz_status run_batch(calibrator *c, ganz_error *err)
{
    const ganz_found *found;
    const int *counts;
    for (int i = 0; i < c->count; i++) {
        c->sentences[i].ids = c->ids.ids + c->source_at[i];
        c->sentences[i].prefix = c->ids.ids + c->target_at[i];
    }
    GANZ_TRY(ganz_decoder_run(c->decoder, c->sentences, c->count, &found, &counts, err));
    c->report->lines += c->count;
    c->ids.count = 0;
    c->count = 0;
    if (c->how->progress) c->how->progress(c->how->context, c->report->lines);
    return GANZ_OK;
}

static ganz_status measure(calibrator *c, ganz_error *err)
{
    const long long most = c->how->most_lines;
    bool more = true;
    while (more) {
        while (more && c->count < BATCH_LINES && (most == 0 || c->report->lines + c->count < most))
            GANZ_TRY(add_line(c, &more, err));
        if (c->count == 0) break;
        GANZ_TRY(run_batch(c, err));
    }
    if (c->report->lines == 0) return ganz_fail(err, GANZ_EINVAL, "%s has no line to calibrate with", c->how->source);
    return GANZ_OK;
}

/* ---- methods ------------------------------------------------------------------------------------ */

static void count_input(void *context, int place, const ganz_matrix *x, ganz_quantize_call *call)
{
    const calibrator *const c = context;
    (void)call;
    ganz_histogram_add(&c->counts[place], x);
}

static ganz_status start_counting(calibrator *c, ganz_error *err)
{
    c->counts = ganz_alloc((size_t)c->model->net.scales, sizeof *c->counts);
    if (!c->counts) return ganz_fail(err, GANZ_ENOMEM, "out of memory for histograms");
    c->counter = (ganz_instrument){.input = count_input, .context = c};
    return ganz_decoder_set_instrument(c->decoder, &c->counter, err);
}

static ganz_status start_columns(calibrator *c, ganz_error *err)
{
    GANZ_TRY(ganz_column_fit_open(&c->columns, &c->model->net, err));
    c->counter = ganz_column_fit_instrument(c->columns);
    return ganz_decoder_set_instrument(c->decoder, &c->counter, err);
}

/* Counted magnitudes become ranges. */
static void choose_thresholds(calibrator *c)
{
    const ganz_net *const net = &c->model->net;
    real *const largest = c->model->weights.largest;
    for (int i = 0; i < net->products; i++) {
        const ganz_product *const p = &net->product[i];
        const int levels = ganz_code_max(ganz_product_rule(p)->input_bits, true) + 1;
        const ganz_scale *scales[2];
        for (int j = ganz_product_scales(p, scales); j-- > 0;)
            largest[scales[j]->place] = (real)ganz_histogram_threshold(&c->counts[scales[j]->place], levels);
    }
}

/* The text once more, now that it is known how far each input reaches. */
static ganz_status fit_ranges(calibrator *c, ganz_error *err)
{
    const ganz_calibration *const how = c->how;
    ganz_weights *const w = &c->model->weights;
    ganz_lines_close(&c->source);
    ganz_lines_close(&c->target);
    GANZ_TRY(ganz_lines_open(&c->source, how->source, err));
    if (how->target) GANZ_TRY(ganz_lines_open(&c->target, how->target, err));
    GANZ_TRY(ganz_fit_open(&c->fit, &c->model->net, w->largest, err));
    c->counter = ganz_fit_instrument(c->fit);
    GANZ_TRY(ganz_decoder_set_instrument(c->decoder, &c->counter, err));
    c->report->lines = c->report->left_out = 0;
    GANZ_TRY(measure(c, err));
    return ganz_fit_ranges(c->fit, w, w->largest, err);
}

static ganz_status clip_everything(calibrator *c, ganz_error *err)
{
    for (int i = 0; i < c->model->net.scales; i++) c->model->weights.largest[i] = (real)c->how->clip;
    return ganz_weights_set_range(&c->model->weights, (real)c->how->clip, err);
}

/* Each row of a weight as codes of its own scale would have it. */
static void round_rows(real *weights, int rows, int cols, int p)
{
    for (int row = 0; row < rows; row++) {
        real *const w = weights + (size_t)row * (size_t)cols;
        double largest = 0;
        for (int i = 0; i < cols; i++) largest = fmax(largest, fabs((double)w[i]));
        const real scale = largest > 0 ? (real)largest / (real)p : 1;
        for (int i = 0; i < cols; i++) w[i] = (real)rint((double)(w[i] / scale)) * scale;
    }
}

static ganz_status save_dynamic(const calibrator *c, const char *out, ganz_error *err)
{
    ganz_model *const m = c->model;
    ganz_model_info info = m->info;
    if (c->how->command) info.command = c->how->command;
    info.dynamic_bits = m->net.scheme.rule.input_bits;
    for (int i = 0; i < m->net.sites; i++) {
        const ganz_site *const site = &m->net.site[i];
        real *const weight = m->weights.master + m->net.params.list[site->weight].offset;
        round_rows(weight, site->out, site->in, ganz_code_max(site->rule.weight_bits, true));
    }
    c->report->integer_products = m->net.sites;
    return ganz_model_save(out, &info, &m->net, m->vocab, m->weights.master, err);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static ganz_status open_all(calibrator *c, const char *path, ganz_error *err)
{
    const ganz_calibration *const how = c->how;
    GANZ_TRY(ganz_model_open(&c->model, path, err));
    if (c->model->info.integer) return ganz_fail(err, GANZ_EINVAL, "%s: an integer model already", path);
    if (c->model->info.dynamic_bits) return ganz_fail(err, GANZ_EINVAL, "%s: emulates an integer model already", path);
    ganz_scheme measured = c->scheme;
    measured.float_attention = false; /* the scales of all attention are kept, whatever multiplies it */
    ganz_net_set_scheme(&c->model->net, &measured);
    c->report->products = c->model->net.sites + 2 * c->model->net.pairs;
    if (!needs_text(how)) return GANZ_OK;
    GANZ_TRY(ganz_lines_open(&c->source, how->source, err));
    if (how->target) GANZ_TRY(ganz_lines_open(&c->target, how->target, err));
    GANZ_TRY(ganz_cpu_backend_open(&c->be, how->threads > 0 ? how->threads : ganz_cpu_count(), err));
    ganz_net_set_states(&c->model->net, how->columns ? GANZ_WEIGHTS_FLOAT : GANZ_WEIGHTS_FAKE, GANZ_INPUTS_MEASURE);
    GANZ_TRY(ganz_weights_trim(&c->model->weights, &c->model->net, err));
    GANZ_TRY(ganz_weights_refresh(&c->model->weights, &c->model->net, err));
    c->longest = c->model->info.config.max_positions < LONGEST ? c->model->info.config.max_positions : LONGEST;
    const ganz_decoder_options d = {.search = {.beam = how->beam, .n_best = 1, .alpha = 0.6},
                                    .batch_tokens = BATCH_TOKENS,
                                    .max_input = c->longest,
                                    .stop = how->stop};
    GANZ_TRY(ganz_decoder_open(&c->decoder, c->be, &c->model->net, &c->model->weights, &d, err));
    if (how->columns) return start_columns(c, err);
    return how->method == GANZ_METHOD_KL ? start_counting(c, err) : GANZ_OK;
}

static void close_all(calibrator *c)
{
    ganz_decoder_close(&c->decoder);
    ganz_fit_close(&c->fit);
    ganz_column_fit_close(&c->columns);
    if (c->be) c->be->close(c->be);
    ganz_lines_close(&c->source);
    ganz_lines_close(&c->target);
    ganz_model_close(&c->model);
    ganz_ids_free(&c->ids);
    ganz_free(c->counts);
    ganz_free(c);
}

/* Powers of two that clip nothing. */
static void round_up_scales(ganz_model *m)
{
    real *const z = m->weights.master + m->net.params.list[m->net.first_scale].offset;
    for (int i = 0; i < m->net.scales; i++) z[i] = (real)ceil((double)z[i]);
}

/* Inputs with steps for their columns have none for all: 1, whose logarithm is 0. */
static void forget_scales(ganz_model *m, const ganz_scheme *scheme)
{
    real *const z = m->weights.master + m->net.params.list[m->net.first_scale].offset;
    for (int i = 0; i < m->net.sites; i++) {
        const ganz_rule rule = ganz_scheme_rule(scheme, m->net.site[i].name, false);
        if (rule.integer && rule.columns) z[m->net.site[i].input.place] = 0;
    }
}

/* With columns biases are float, masters serve, and what was written of weights stays. */
static ganz_status fit_biases(const calibrator *c, ganz_error *err)
{
    ganz_model *const m = c->model;
    ganz_fit_use_columns(c->fit, c->columns);
    GANZ_TRY(ganz_fit_biases(c->fit, &m->weights, err));
    return c->columns ? GANZ_OK : ganz_weights_refresh(&m->weights, &m->net, err);
}

static ganz_status save(const calibrator *c, const char *out, ganz_error *err)
{
    ganz_model *const m = c->model;
    ganz_model_info info = m->info;
    if (c->how->command) info.command = c->how->command;
    GANZ_TRY(ganz_weights_set_scales(&m->weights, &m->net, err));
    if (c->how->power_of_two) round_up_scales(m);
    if (c->columns) forget_scales(m, &c->scheme);
    ganz_net_set_scheme(&m->net, &c->scheme);
    ganz_net_set_states(&m->net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE);
    GANZ_TRY(ganz_weights_refresh(&m->weights, &m->net, err));
    if (c->columns) GANZ_TRY(ganz_column_fit_write(c->columns, &m->weights, err));
    if (c->fit) GANZ_TRY(fit_biases(c, err));
    for (int i = 0; i < m->net.products; i++) {
        const ganz_scale *scales[2];
        if (!ganz_product_rule(&m->net.product[i])->integer) continue;
        c->report->integer_products++;
        c->report->scales += ganz_product_scales(&m->net.product[i], scales);
    }
    return ganz_model_save_codes(out, &info, &m->net, m->vocab, &m->weights, err);
}

static ganz_status run(calibrator *c, const char *out, ganz_error *err)
{
    if (c->how->method == GANZ_METHOD_DYNAMIC) return save_dynamic(c, out, err);
    if (needs_text(c->how)) GANZ_TRY(measure(c, err));
    if (c->how->method == GANZ_METHOD_KL) choose_thresholds(c);
    if (c->how->method == GANZ_METHOD_FIT) GANZ_TRY(fit_ranges(c, err));
    if (c->how->method == GANZ_METHOD_CLIP) GANZ_TRY(clip_everything(c, err));
    return save(c, out, err);
}

ganz_status ganz_calibrate(const char *model, const char *out, const ganz_calibration *how,
                           ganz_calibration_report *report, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    ganz_calibration_report unwanted;
    ganz_scheme scheme;
    GANZ_TRY(make_scheme(how, &scheme, err));
    GANZ_TRY(check(how, err));
    calibrator *const c = ganz_alloc(1, sizeof *c);
    if (!c) return ganz_fail(err, GANZ_ENOMEM, "out of memory");
    c->how = how;
    c->scheme = scheme;
    c->report = report ? report : &unwanted;
    *c->report = (ganz_calibration_report){0};
    ganz_status status = open_all(c, model, err);
    if (status == GANZ_OK) status = ganz_net_check_exceptions(&c->model->net, &c->scheme, err);
    if (status == GANZ_OK) status = run(c, out, err);
    close_all(c);
    return status;
}
