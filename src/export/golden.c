/* Records of every integer product: an instrument is shown each call before and after it is made, and writes what went
 * in and what came out. docs/GOLDEN.md describes the files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/surroundings.h"
#include "export/folder.h"
#include "export/npy.h"
#include "export/weights.h"
#include "ganz/export.h"
#include "ganz/vocab.h"
#include "model/model.h"
#include "nn/measure.h"
#include "text/vocab.h"
#include "translate/decode.h"
#include "translate/forced.h"
#include "translate/translator.h"

enum { USUAL_LINES = 4, PATH = 4096, NAME = 128 };

typedef struct recorder {
    const ganz_model *model;
    const char *folder;
    ganz_lines *lines; /* of the text */
    int most;          /* of them */
    ganz_output *index, *sources, *translations;
    ganz_golden_report report;
    ganz_backend *be;
    ganz_decoder *decoder;
    ganz_ids ids;   /* of the line at work */
    ganz_text text; /* of its translation */
    /* of the call that is being made */
    int32_t *sums;
    float *added; /* what a product adds its result to, as it was before */
    ganz_attention_trace trace;
    /* the first failure; hooks cannot return one */
    ganz_status status;
    ganz_error *err;
} recorder;

/* ---- files -------------------------------------------------------------------------------------- */

static ganz_status path_of(const recorder *r, const char *name, char path[PATH], ganz_error *err)
{
    const int n = snprintf(path, PATH, "%s/%s", r->folder, name);
    return n < PATH ? GANZ_OK : ganz_fail(err, GANZ_ELIMIT, "%s: the name of the folder is too long", r->folder);
}

static ganz_status make_folder(const char *path, ganz_error *err)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ? GANZ_OK : ganz_fail_errno(err, "make the folder", path);
}

static ganz_status make_part(const recorder *r, const char *name, ganz_error *err)
{
    char path[PATH];
    GANZ_TRY(path_of(r, name, path, err));
    return make_folder(path, err);
}

static ganz_status open_part(const recorder *r, const char *name, ganz_output **out, ganz_error *err)
{
    char path[PATH];
    GANZ_TRY(path_of(r, name, path, err));
    return ganz_output_open(out, path, err);
}

static ganz_status write_array(recorder *r, const char *name, const ganz_npy *array, ganz_error *err)
{
    char path[PATH];
    GANZ_TRY(path_of(r, name, path, err));
    return ganz_npy_write(path, array, &r->report.bytes, err);
}

/* ---- weights ------------------------------------------------------------------------------------ */

static ganz_status write_codes(recorder *r, const ganz_site *site, const char *name, ganz_error *err)
{
    int8_t *const codes = ganz_site_codes(r->model, site);
    if (!codes) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the codes of %s", site->name);
    const ganz_npy array = {.type = GANZ_NPY_I8, .rank = 2, .dims = {site->out, site->in}, .data = codes};
    const ganz_status status = write_array(r, name, &array, err);
    ganz_free(codes);
    return status;
}

static ganz_status write_vector(recorder *r, const char *name, const float *values, int count, ganz_error *err)
{
    const ganz_npy array = {.type = GANZ_NPY_F32, .rank = 1, .dims = {count}, .data = values};
    return write_array(r, name, &array, err);
}

static ganz_status write_weight(recorder *r, const ganz_site *site, bool first, ganz_error *err)
{
    const ganz_weights *const w = &r->model->weights;
    char codes[NAME], step[NAME], bias[NAME], quoted[NAME + 2] = "null";
    snprintf(codes, NAME, "weights/%s.codes.npy", site->name);
    snprintf(step, NAME, "weights/%s.step.npy", site->name);
    snprintf(bias, NAME, "weights/%s.bias.npy", site->name);
    GANZ_TRY(write_codes(r, site, codes, err));
    GANZ_TRY(write_vector(r, step, ganz_site_scales(w, site), ganz_site_scale_count(site), err));
    if (site->bias >= 0) {
        GANZ_TRY(write_vector(r, bias, w->value[site->bias], site->out, err));
        snprintf(quoted, sizeof quoted, "\"%s\"", bias);
    }
    return ganz_output_printf(r->index, err,
                              "%s\n  \"%s\": {\"bits\": %d, \"codes\": \"%s\", \"step\": \"%s\", \"bias\": %s}",
                              first ? "" : ",", site->name, site->rule.weight_bits, codes, step, quoted);
}

static ganz_status write_weights(recorder *r, ganz_error *err)
{
    const ganz_net *const net = &r->model->net;
    bool first = true;
    GANZ_TRY(make_part(r, "weights", err));
    GANZ_TRY(ganz_output_printf(r->index, err, "{\"format\": \"ganz golden\", \"version\": 1,\n \"weights\": {"));
    for (int i = 0; i < net->sites; i++) {
        if (!ganz_site_is_integer(&net->site[i])) continue;
        GANZ_TRY(write_weight(r, &net->site[i], first, err));
        first = false;
    }
    return ganz_output_printf(r->index, err, "},\n \"runs\": [");
}

/* ---- calls -------------------------------------------------------------------------------------- */

/* "KEY": "FILE" in the entry at work, and the file: a matrix of the line at work. */
static ganz_status keep_array(recorder *r, const char *product, const char *key, const ganz_npy *array, ganz_error *err)
{
    char name[NAME];
    snprintf(name, NAME, "line-%05d/%s.%s.npy", r->report.lines + 1, product, key);
    GANZ_TRY(write_array(r, name, array, err));
    return ganz_output_printf(r->index, err, ", \"%s\": \"%s\"", key, name);
}

static ganz_npy array_of(const ganz_matrix *m)
{
    return (ganz_npy){.type = m->type == GANZ_S8 ? GANZ_NPY_I8 : GANZ_NPY_F32,
                      .rank = 2,
                      .dims = {m->rows, m->cols},
                      .data = m->data,
                      .stride = (size_t)m->ld};
}

static ganz_status keep_matrix(recorder *r, const char *product, const char *key, const ganz_matrix *m, ganz_error *err)
{
    const ganz_npy array = array_of(m);
    return keep_array(r, product, key, &array, err);
}

static ganz_status keep_operand(recorder *r, const char *product, const char *key, const ganz_operand *o,
                                ganz_error *err)
{
    GANZ_TRY(keep_matrix(r, product, key, &o->m, err));
    return ganz_output_printf(r->index, err, ", \"%s_step\": %.9g", key, (double)*o->scale);
}

/* Values, codes for the product that reads them, or both. */
static ganz_status keep_results(recorder *r, const char *product, const ganz_matrix *y, const ganz_code_out *codes,
                                ganz_error *err)
{
    if (y->data) GANZ_TRY(keep_matrix(r, product, "y", y, err));
    if (!codes->m.data) return ganz_output_printf(r->index, err, "}");
    GANZ_TRY(keep_matrix(r, product, "codes", &codes->m, err));
    return ganz_output_printf(r->index, err, ", \"codes_step\": %.9g, \"codes_most\": %d}", (double)*codes->scale,
                              codes->p);
}

static ganz_status begin_entry(recorder *r, const char *name, const char *kind, ganz_error *err)
{
    return ganz_output_printf(r->index, err, "%s\n  {\"line\": %d, \"name\": \"%s\", \"kind\": \"%s\"",
                              r->report.runs++ ? "," : "", r->report.lines + 1, name, kind);
}

static void fail_memory(recorder *r)
{
    r->status = ganz_fail(r->err, GANZ_ENOMEM, "out of memory for a record of products");
}

static void drop_call(recorder *r)
{
    ganz_free(r->sums);
    ganz_free(r->added);
    ganz_free(r->trace.scores);
    ganz_free(r->trace.u);
    ganz_free(r->trace.sums);
    r->sums = NULL;
    r->added = NULL;
    r->trace = (ganz_attention_trace){0};
}

static void see_linear(void *context, const ganz_site *site, ganz_linear_call *call)
{
    recorder *const r = context;
    (void)site;
    if (r->status != GANZ_OK || !call->packed) return;
    const size_t rows = (size_t)call->rows, out = (size_t)call->out;
    r->sums = ganz_alloc(rows * out, sizeof *r->sums);
    if (call->add) r->added = ganz_alloc(rows * out, sizeof *r->added);
    if (!r->sums || (call->add && !r->added)) fail_memory(r);
    call->sums = r->sums;
    for (size_t i = 0; i < rows && r->added; i++)
        memcpy(r->added + i * out, (const float *)call->y.data + i * (size_t)call->y.ld, out * sizeof *r->added);
}

static ganz_status keep_linear(recorder *r, const ganz_site *site, const ganz_linear_call *c, ganz_error *err)
{
    const ganz_npy sums = {.type = GANZ_NPY_I32, .rank = 2, .dims = {c->rows, c->out}, .data = r->sums};
    const ganz_npy added = {.type = GANZ_NPY_F32, .rank = 2, .dims = {c->rows, c->out}, .data = r->added};
    GANZ_TRY(begin_entry(r, site->name, "dense", err));
    GANZ_TRY(ganz_output_printf(r->index, err, ", \"activation\": \"%s\"",
                                c->activation == GANZ_ACTIVATION_NONE ? "none" : ganz_activation_name(c->activation)));
    GANZ_TRY(keep_operand(r, site->name, "x", &c->x, err));
    GANZ_TRY(keep_array(r, site->name, "sums", &sums, err));
    if (r->added) GANZ_TRY(keep_array(r, site->name, "add", &added, err));
    return keep_results(r, site->name, &c->y, &c->codes, err);
}

static void linear_made(void *context, const ganz_site *site, const ganz_linear_call *call)
{
    recorder *const r = context;
    if (r->status != GANZ_OK) return;
    if (call->packed) r->status = keep_linear(r, site, call, r->err);
    else r->report.skipped++;
    drop_call(r);
}

static void see_attention(void *context, const ganz_pair *pair, ganz_attention_call *call)
{
    recorder *const r = context;
    (void)pair;
    if (r->status != GANZ_OK || call->q.m.type != GANZ_S8) return;
    const size_t queries = (size_t)call->see.queries, keys = (size_t)call->see.keys, heads = (size_t)call->heads;
    r->trace = (ganz_attention_trace){.keys = call->see.keys,
                                      .scores = ganz_alloc(heads * queries * keys, sizeof *r->trace.scores),
                                      .u = ganz_alloc(heads * queries * keys, sizeof *r->trace.u),
                                      .sums = ganz_alloc(queries * heads * (size_t)call->width, sizeof *r->trace.sums)};
    if (!r->trace.scores || !r->trace.u || !r->trace.sums) fail_memory(r);
    else call->trace = &r->trace;
}

static ganz_status keep_attention(recorder *r, const char *name, const ganz_attention_call *c, ganz_error *err)
{
    const int queries = c->see.queries, keys = c->see.keys;
    const ganz_npy scores = {GANZ_NPY_I32, 3, {c->heads, queries, keys}, r->trace.scores, 0};
    const ganz_npy u = {GANZ_NPY_U8, 3, {c->heads, queries, keys}, r->trace.u, 0};
    const ganz_npy sums = {GANZ_NPY_I32, 2, {queries, c->heads * c->width}, r->trace.sums, 0};
    GANZ_TRY(begin_entry(r, name, "attention", err));
    GANZ_TRY(ganz_output_printf(r->index, err, ", \"heads\": %d, \"causal\": %s, \"inv_root\": %.9g", c->heads,
                                c->see.causal ? "true" : "false", (double)c->inv_root));
    GANZ_TRY(keep_operand(r, name, "q", &c->q, err));
    GANZ_TRY(keep_operand(r, name, "k", &c->k, err));
    GANZ_TRY(keep_array(r, name, "scores", &scores, err));
    GANZ_TRY(keep_array(r, name, "u", &u, err));
    GANZ_TRY(ganz_output_printf(r->index, err, ", \"u_step\": %.9g, \"u_most\": %d", (double)*c->u_scale, c->u_max));
    GANZ_TRY(keep_operand(r, name, "v", &c->v, err));
    GANZ_TRY(keep_array(r, name, "sums", &sums, err));
    return keep_results(r, name, &c->out, &c->codes, err);
}

static void attention_made(void *context, const ganz_pair *pair, const ganz_attention_call *call)
{
    recorder *const r = context;
    if (r->status != GANZ_OK) return;
    if (call->trace) r->status = keep_attention(r, pair->name, call, r->err);
    else r->report.skipped++;
    drop_call(r);
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* The pass, made twice: first for the memory it takes. */
typedef struct walk {
    const ganz_net *net;
    ganz_forced forced;
    const ganz_instrument *instrument;
} walk;

static void make_pass(void *context, ganz_pass *pass)
{
    const walk *const w = context;
    if (!pass->counts) pass->instrument = w->instrument;
    ganz_tensor *const decoded = ganz_forced_decode(pass, w->net, &w->forced);
    if (!pass->failed) ganz_net_logits(pass, w->net, decoded);
}

static ganz_status record(recorder *r, const ganz_forced *forced, ganz_error *err)
{
    const ganz_instrument instrument = {.linear = see_linear,
                                        .attention = see_attention,
                                        .linear_made = linear_made,
                                        .attention_made = attention_made,
                                        .context = r};
    walk w = {&r->model->net, *forced, &instrument};
    ganz_memory need;
    ganz_arena host = {0}, device = {0};
    ganz_status status;
    r->err = err;
    GANZ_CHECK(ganz_measure(r->be, &r->model->weights, make_pass, &w, &need, err));
    GANZ_CHECK(ganz_arena_open(&host, need.host, err));
    GANZ_CHECK(ganz_arena_open(&device, need.device, err));
    ganz_pass pass = {.be = r->be, .weights = &r->model->weights, .host = &host, .device = &device};
    make_pass(&w, &pass);
    GANZ_CHECK(r->be->sync(r->be, err));
    status = pass.failed ? ganz_fail(err, GANZ_ENOMEM, "out of memory for a record of products") : r->status;
out:
    drop_call(r);
    ganz_arena_close(&host);
    ganz_arena_close(&device);
    return status;
}

static ganz_status write_ids(recorder *r, const char *which, const int32_t *ids, int count, ganz_error *err)
{
    char name[NAME];
    const ganz_npy array = {.type = GANZ_NPY_I32, .rank = 1, .dims = {count}, .data = ids};
    snprintf(name, NAME, "line-%05d/%s.ids.npy", r->report.lines + 1, which);
    return write_array(r, name, &array, err);
}

/* What the encoder and the decoder read, and the pass over it. */
static ganz_status record_pair(recorder *r, const ganz_sentence *sentence, const ganz_found *found, ganz_error *err)
{
    char name[NAME];
    const int rows = found->count + (found->finished || found->count == 0 ? 1 : 0);
    int32_t *const inputs = ganz_alloc((size_t)rows, sizeof *inputs);
    ganz_status status;
    snprintf(name, NAME, "line-%05d", r->report.lines + 1);
    GANZ_CHECK(inputs ? make_part(r, name, err) : ganz_fail(err, GANZ_ENOMEM, "out of memory for the ids of a line"));
    inputs[0] = GANZ_START;
    if (rows > 1) memcpy(inputs + 1, found->ids, (size_t)(rows - 1) * sizeof *inputs);
    GANZ_CHECK(write_ids(r, "source", sentence->ids, sentence->count, err));
    GANZ_CHECK(write_ids(r, "target", inputs, rows, err));
    status = record(r, &(ganz_forced){sentence->ids, sentence->count, found->ids, rows}, err);
out:
    ganz_free(inputs);
    return status;
}

/* The line's translation, and the products on the way to it; an empty line has none. */
static ganz_status record_line(recorder *r, const ganz_lines *lines, ganz_error *err)
{
    const ganz_found *found;
    const int *counts;
    const int longest = r->model->info.config.max_positions;
    const ganz_sentence sentence = {.ids = r->ids.ids, .count = (int)r->ids.count};
    r->text.bytes = 0;
    if (r->ids.count > (size_t)longest)
        return ganz_fail(err, GANZ_EINVAL, "%s:%lld: %zu tokens, the model takes %d", ganz_lines_name(lines),
                         ganz_lines_number(lines), r->ids.count, longest);
    if (ganz_ids_before_end(r->ids.ids, r->ids.count) > 0) {
        GANZ_TRY(ganz_decoder_run(r->decoder, &sentence, 1, &found, &counts, err));
        GANZ_TRY(record_pair(r, &sentence, found, err));
        GANZ_TRY(ganz_vocab_decode(r->model->vocab, GANZ_TARGET, found->ids, (size_t)found->count, &r->text, err));
    }
    for (size_t i = 0; i < r->text.bytes; i++)
        if (r->text.text[i] == '\n') r->text.text[i] = ' ';
    r->report.lines++;
    if (r->text.bytes > 0) GANZ_TRY(ganz_output_write(r->translations, r->text.text, r->text.bytes, err));
    return ganz_output_write(r->translations, "\n", 1, err);
}

static ganz_status record_lines(recorder *r, int most, ganz_error *err)
{
    while (r->report.lines < most) {
        const char *text;
        size_t bytes;
        GANZ_TRY(ganz_lines_next(r->lines, &text, &bytes, err));
        if (!text) break;
        r->ids.count = 0;
        GANZ_TRY(
            ganz_vocab_encode_line(r->model->vocab, r->lines, &(ganz_passage){text, bytes, GANZ_SOURCE}, &r->ids, err));
        if (bytes > 0) GANZ_TRY(ganz_output_write(r->sources, text, bytes, err));
        GANZ_TRY(ganz_output_write(r->sources, "\n", 1, err));
        GANZ_TRY(record_line(r, r->lines, err));
    }
    return GANZ_OK;
}

/* ---- the call ----------------------------------------------------------------------------------- */

static ganz_status open_decoder(recorder *r, const ganz_golden_options *options, ganz_error *err)
{
    const ganz_model *const m = r->model;
    ganz_translator_options o;
    ganz_translator_defaults(&o);
    o.beam = options->beam;
    ganz_choose_search(&o, &m->info.search);
    if (o.beam < 1 || o.beam > GANZ_BEAM_MOST)
        return ganz_fail(err, GANZ_EINVAL, "beam must be 1 to %d, not %d", GANZ_BEAM_MOST, o.beam);
    const ganz_decoder_options d = {.search = ganz_search_of(&o, &m->info.search),
                                    .least_length = o.least_length,
                                    .batch_tokens = o.batch_tokens,
                                    .max_input = m->info.config.max_positions};
    GANZ_TRY(ganz_cpu_backend_open(&r->be, options->threads > 0 ? options->threads : 1, err));
    ganz_cpu_backend_follow(r->be, m->be);
    return ganz_decoder_open(&r->decoder, r->be, &m->net, &m->weights, &d, err);
}

/* The text is opened first: a wrong name leaves no folder behind. */
static ganz_status open_recorder(recorder *r, const char *text, const ganz_golden_options *options, ganz_error *err)
{
    if (!r->model->info.integer)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "a float model has no integer products to record");
    if (ganz_scheme_has_columns(&r->model->net.scheme))
        return ganz_fail(err, GANZ_EUNSUPPORTED, "products whose inputs have steps for their columns are not recorded");
    GANZ_TRY(ganz_lines_open(&r->lines, text, err));
    return open_decoder(r, options, err);
}

static ganz_status open_parts(recorder *r, ganz_error *err)
{
    GANZ_TRY(open_part(r, "source.txt", &r->sources, err));
    GANZ_TRY(open_part(r, "translation.txt", &r->translations, err));
    return open_part(r, "index.json", &r->index, err);
}

static ganz_status finish_recorder(recorder *r, ganz_error *err)
{
    GANZ_TRY(ganz_output_printf(r->index, err, "],\n \"lines\": %d, \"float_runs\": %lld}\n", r->report.lines,
                                r->report.skipped));
    GANZ_TRY(ganz_output_finish(&r->sources, err));
    GANZ_TRY(ganz_output_finish(&r->translations, err));
    return ganz_output_finish(&r->index, err);
}

static ganz_status write_parts(recorder *r, ganz_error *err)
{
    GANZ_TRY(open_parts(r, err));
    GANZ_TRY(write_weights(r, err));
    GANZ_TRY(record_lines(r, r->most, err));
    if (r->report.lines == 0) return ganz_fail(err, GANZ_EINVAL, "%s has no lines", ganz_lines_name(r->lines));
    return finish_recorder(r, err);
}

static ganz_status write_all(void *context, ganz_error *err)
{
    recorder *const r = context;
    const ganz_status status = write_parts(r, err);
    if (r->index) ganz_output_abandon(&r->index);
    if (r->sources) ganz_output_abandon(&r->sources);
    if (r->translations) ganz_output_abandon(&r->translations);
    return status;
}

static void close_recorder(recorder *r)
{
    ganz_lines_close(&r->lines);
    ganz_decoder_close(&r->decoder);
    if (r->be) r->be->close(r->be);
    ganz_ids_free(&r->ids);
    ganz_text_free(&r->text);
}

ganz_status ganz_export_golden(const ganz_model *model, const char *text, const char *folder,
                               const ganz_golden_options *options, ganz_golden_report *report, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    const ganz_golden_options o = options ? *options : (ganz_golden_options){0};
    recorder r = {.model = model, .folder = folder, .most = o.lines > 0 ? o.lines : USUAL_LINES};
    ganz_status status = open_recorder(&r, text, &o, err);
    if (status == GANZ_OK) status = ganz_export_folder(folder, write_all, &r, err);
    if (status == GANZ_OK && report) *report = r.report;
    close_recorder(&r);
    return status;
}
