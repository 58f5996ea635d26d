/* A model as a folder of CTranslate2: model.bin (version 6), config.json, vocabularies, SentencePiece models. Our
 * padding is left out, as theirs has none; what several products read is one matrix there; the target space is added to
 * the encoder's positions. Integer weights stay codes, with a scale for each row, unless columns have steps too. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/surroundings.h"
#include "export/folder.h"
#include "export/weights.h"
#include "ganz/export.h"
#include "ganz/io.h"

enum { VERSION = 6, REVISION = 7, VARIABLES = 2048, POSITIONS = 1024 };
enum { F32 = 0, I8 = 1, I16 = 2 }; /* their numbers of types */
#define BANNED (-1e9f)

typedef enum kind { NUMBER, WEIGHTS, SCALES, BIASES, VECTOR, TABLE, TABLE_SCALES, LOGITS_BIAS, POSITION_TABLE } kind;

typedef struct variable {
    char name[192];
    kind what;
    int type, rank;
    uint32_t dims[2];
    const ganz_site *part[3]; /* products whose matrices follow one another */
    int parts;
    int param;    /* of a vector or a table; 0 or 1 of positions: of the decoder, of the encoder */
    float number; /* of a NUMBER, whatever its type */
} variable;

typedef struct job {
    const ganz_model *model;
    const char *folder;
    variable *list; /* (VARIABLES) */
    int count;
    const char *alias[4][2]; /* names, and what they stand for */
    int aliases;
    bool codes;   /* all weights are */
    bool unknown; /* an entry for what is unknown is added to the vocabulary */
    int start;    /* id of the entry that the decoder begins with; -1: zeros */
    ganz_output *out;
    ganz_error *err;
} job;

/* ---- what there is ------------------------------------------------------------------------------ */

static variable *add(job *j, const char *name, kind what, int type, int rank)
{
    variable *const v = &j->list[j->count < VARIABLES - 1 ? j->count++ : VARIABLES - 1];
    *v = (variable){.what = what, .type = type, .rank = rank};
    snprintf(v->name, sizeof v->name, "%s", name);
    return v;
}

static void add_number(job *j, const char *name, int type, double number)
{
    add(j, name, NUMBER, type, 0)->number = (float)number;
}

static int find_param(const job *j, const char *name)
{
    const ganz_params *const params = &j->model->net.params;
    for (int i = 0; i < params->count; i++)
        if (strcmp(params->list[i].name, name) == 0) return i;
    return -1;
}

static void add_vector(job *j, const char *name, int param)
{
    variable *const v = add(j, name, VECTOR, F32, 1);
    v->param = param;
    v->dims[0] = (uint32_t)j->model->net.params.list[param].cols;
}

static void add_norm(job *j, const char *theirs, const char *ours)
{
    char name[128], param[64];
    snprintf(param, sizeof param, "%s.norm.scale", ours);
    snprintf(name, sizeof name, "%s/layer_norm/gamma", theirs);
    add_vector(j, name, find_param(j, param));
    snprintf(param, sizeof param, "%s.norm.bias", ours);
    snprintf(name, sizeof name, "%s/layer_norm/beta", theirs);
    add_vector(j, name, find_param(j, param));
}

/* One of their layers, of one to three products of ours. */
static void add_linear(job *j, const char *name, const ganz_site *const *sites, int count)
{
    char full[128];
    bool biased = false;
    variable v = {.parts = count};
    uint32_t rows = 0;
    for (int i = 0; i < count; i++) {
        v.part[i] = sites[i];
        rows += (uint32_t)sites[i]->out;
        biased = biased || sites[i]->bias >= 0;
    }
    const struct {
        const char *word;
        kind what;
        int type, rank;
        bool wanted;
    } kinds[] = {{"weight", WEIGHTS, j->codes ? I8 : F32, 2, true},
                 {"weight_scale", SCALES, F32, 1, j->codes},
                 {"bias", BIASES, F32, 1, biased}};
    for (size_t i = 0; i < GANZ_COUNT(kinds); i++) {
        if (!kinds[i].wanted) continue;
        snprintf(full, sizeof full, "%s/%s", name, kinds[i].word);
        variable *const to = add(j, full, kinds[i].what, kinds[i].type, kinds[i].rank);
        memcpy(to->part, v.part, sizeof v.part);
        to->parts = count;
        to->dims[0] = rows;
        to->dims[1] = (uint32_t)sites[0]->in;
    }
}

static void add_attention(job *j, const char *where, const ganz_sublayer *a)
{
    char name[128];
    const bool cross = a->kind == GANZ_CROSS_ATTENTION;
    const ganz_site *const three[] = {a->q, a->k, a->v};
    snprintf(name, sizeof name, "%s/linear_0", where);
    add_linear(j, name, three, cross ? 1 : 3);
    snprintf(name, sizeof name, "%s/linear_1", where);
    add_linear(j, name, cross ? three + 1 : &a->o, cross ? 2 : 1);
    if (!cross) return;
    snprintf(name, sizeof name, "%s/linear_2", where);
    add_linear(j, name, &a->o, 1);
}

static void add_sublayer(job *j, const char *side, int layer, const ganz_sublayer *s)
{
    static const char *const ours[] = {"self", "cross", "ffn"}, *const theirs[] = {"self_attention", "attention",
                                                                                   "ffn"};
    char where[64], name[128], our[32];
    snprintf(where, sizeof where, "%s/layer_%d/%s", side, layer, theirs[s->kind]);
    snprintf(our, sizeof our, "%.3s.%d.%s", side, layer, ours[s->kind]);
    add_norm(j, where, our);
    if (s->kind != GANZ_FEED_FORWARD) {
        add_attention(j, where, s);
        return;
    }
    snprintf(name, sizeof name, "%s/linear_0", where);
    add_linear(j, name, &s->in, 1);
    snprintf(name, sizeof name, "%s/linear_1", where);
    add_linear(j, name, &s->out, 1);
}

static void add_stack(job *j, const char *side, const ganz_stack *stack, int layers)
{
    const ganz_config *const c = &j->model->net.config;
    static const int activations[] = {[GANZ_ACTIVATION_RELU] = 0,
                                      [GANZ_ACTIVATION_SWISH] = 2,
                                      [GANZ_ACTIVATION_GELU] = 3,
                                      [GANZ_ACTIVATION_GELU_SIGMOID] = 4};
    char name[64], our[4];
    const struct {
        const char *word;
        int type;
        double number;
    } numbers[] = {{"num_heads", I16, c->heads},
                   {"pre_norm", I8, c->norm == GANZ_NORM_PRE},
                   {"activation", I8, activations[c->activation]},
                   {"scale_embeddings", F32, c->embedding_scale}};
    for (size_t i = 0; i < GANZ_COUNT(numbers); i++) {
        snprintf(name, sizeof name, "%s/%s", side, numbers[i].word);
        add_number(j, name, numbers[i].type, numbers[i].number);
    }
    snprintf(our, sizeof our, "%.3s", side);
    if (c->norm == GANZ_NORM_PRE) add_norm(j, side, our);
    for (int i = 0; i < stack->count; i++) add_sublayer(j, side, i / (stack->count / layers), &stack->sublayer[i]);
    snprintf(name, sizeof name, "%s/position_encodings/encodings", side);
    variable *const v = add(j, name, POSITION_TABLE, F32, 2);
    v->param = strcmp(side, "encoder") == 0;
    v->dims[0] = (uint32_t)(c->max_positions < POSITIONS ? c->max_positions : POSITIONS);
    v->dims[1] = (uint32_t)c->width;
}

/* ---- tables ------------------------------------------------------------------------------------- */

/* Entries of a table there: without padding, and perhaps with one for what is unknown. */
static uint32_t rows_of(const job *j, int param)
{
    return (uint32_t)(j->model->net.params.list[param].rows - 1 + j->unknown);
}

static bool is_coded_table(const job *j, int param) { return j->codes && param == j->model->net.logits->weight; }

/* The table that is looked up; codes where the logits' are. */
static void add_table(job *j, const char *name, int param, bool looked_up)
{
    char scale[192];
    const bool codes = is_coded_table(j, param) && !(looked_up && j->model->net.scheme.float_lookup);
    variable *const v = add(j, name, TABLE, codes ? I8 : F32, 2);
    v->param = param;
    v->dims[0] = rows_of(j, param);
    v->dims[1] = (uint32_t)j->model->net.config.width;
    if (!codes) return;
    snprintf(scale, sizeof scale, "%s_scale", name);
    variable *const s = add(j, scale, TABLE_SCALES, F32, 1);
    s->param = param;
    s->dims[0] = v->dims[0];
}

static void add_alias(job *j, const char *name, const char *of)
{
    j->alias[j->aliases][0] = name;
    j->alias[j->aliases++][1] = of;
}

/* A table that serves several is written once. */
static void add_tables(job *j)
{
    static const char *const first[] = {"decoder/embeddings/weight", "decoder/embeddings/weight_scale"},
                             *const source[] = {"encoder/embeddings_0/weight", "encoder/embeddings_0/weight_scale"},
                             *const output[] = {"decoder/projection/weight", "decoder/projection/weight_scale"};
    const ganz_net *const net = &j->model->net;
    const bool codes = is_coded_table(j, net->embedding) && !net->scheme.float_lookup;
    const bool output_alone = net->logits->weight != net->embedding || is_coded_table(j, net->embedding) != codes;
    add_table(j, first[0], net->embedding, true);
    if (net->source_embedding != net->embedding) add_table(j, source[0], net->source_embedding, true);
    else
        for (int i = 0; i < 1 + codes; i++) add_alias(j, source[i], first[i]);
    if (output_alone) add_table(j, output[0], net->logits->weight, false);
    else
        for (int i = 0; i < 1 + codes; i++) add_alias(j, output[i], first[i]);
    variable *const v = add(j, "decoder/projection/bias", LOGITS_BIAS, F32, 1);
    v->dims[0] = rows_of(j, net->logits->weight);
}

static ganz_status list_all(job *j)
{
    const ganz_net *const net = &j->model->net;
    add_stack(j, "encoder", &net->encoder, net->config.encoder_layers);
    add_stack(j, "decoder", &net->decoder, net->config.decoder_layers);
    add_number(j, "encoder/embeddings_merge", I8, 0);
    add_number(j, "decoder/start_from_zero_embedding", I8, j->start < 0);
    add_tables(j);
    return j->count < VARIABLES - 1 ? GANZ_OK : ganz_fail(j->err, GANZ_ELIMIT, "the model has too many layers");
}

/* ---- bytes -------------------------------------------------------------------------------------- */

static ganz_status put(job *j, const void *data, size_t bytes)
{
    return ganz_output_write(j->out, data, bytes, j->err);
}

static ganz_status put_number(job *j, uint32_t number, size_t bytes)
{
    const unsigned char b[4] = {(unsigned char)number, (unsigned char)(number >> 8), (unsigned char)(number >> 16),
                                (unsigned char)(number >> 24)};
    return put(j, b, bytes);
}

static ganz_status put_text(job *j, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    GANZ_TRY(put_number(j, (uint32_t)bytes, 2));
    return put(j, text, bytes);
}

static ganz_status no_memory(const job *j) { return ganz_fail(j->err, GANZ_ENOMEM, "out of memory to export a model"); }

/* A float as each of their types holds it. */
static ganz_status put_scalar(job *j, const variable *v)
{
    if (v->type == F32) return put(j, &v->number, sizeof v->number);
    return put_number(j, (uint32_t)v->number, v->type == I8 ? 1 : 2);
}

static float step_of(const job *j, const ganz_site *site, int row)
{
    return (float)ganz_site_scales(&j->model->weights, site)[site->rule.per_row ? row : 0];
}

/* A row of the product's weights, whether they are codes or not. */
static void take_row(const job *j, const ganz_site *site, const int8_t *codes, int row, float *values)
{
    const size_t n = (size_t)site->in;
    if (!codes) {
        memcpy(values, ganz_model_values(j->model, site->weight) + (size_t)row * n, n * sizeof *values);
        return;
    }
    ganz_site_row(j->model, site, codes, row, values);
}

static ganz_status put_rows(job *j, const ganz_site *site, int first, int type)
{
    const size_t n = (size_t)site->in;
    int8_t *const codes = site->weights == GANZ_WEIGHTS_CODES ? ganz_site_codes(j->model, site) : NULL;
    float *const row = ganz_alloc(n, sizeof *row);
    ganz_status status = row && (codes || site->weights != GANZ_WEIGHTS_CODES) ? GANZ_OK : no_memory(j);
    for (int i = first; i < site->out && status == GANZ_OK; i++) {
        if (type == F32) take_row(j, site, codes, i, row);
        status = type == F32 ? put(j, row, n * sizeof *row) : put(j, codes + (size_t)i * n, n);
    }
    ganz_free(row);
    ganz_free(codes);
    return status;
}

static ganz_status put_scales(job *j, const ganz_site *site, int first)
{
    for (int i = first; i < site->out; i++) {
        const float scale = 1 / step_of(j, site, i);
        GANZ_TRY(put(j, &scale, sizeof scale));
    }
    return GANZ_OK;
}

static ganz_status put_bias(job *j, const ganz_site *site)
{
    static const float zero = 0;
    if (site->bias >= 0) return put(j, ganz_model_values(j->model, site->bias), (size_t)site->out * sizeof(float));
    for (int i = 0; i < site->out; i++) GANZ_TRY(put(j, &zero, sizeof zero));
    return GANZ_OK;
}

static ganz_status put_parts(job *j, const variable *v)
{
    for (int i = 0; i < v->parts; i++)
        GANZ_TRY(v->what == WEIGHTS  ? put_rows(j, v->part[i], 0, v->type)
                 : v->what == SCALES ? put_scales(j, v->part[i], 0)
                                     : put_bias(j, v->part[i]));
    return GANZ_OK;
}

/* Zeros for the entry that was added. */
static ganz_status put_unknown_row(job *j, size_t bytes)
{
    static const char zero = 0;
    for (size_t i = 0; j->unknown && i < bytes; i++) GANZ_TRY(put(j, &zero, 1));
    return GANZ_OK;
}

static ganz_status put_table(job *j, const variable *v)
{
    const ganz_net *const net = &j->model->net;
    const ganz_param *const p = &net->params.list[v->param];
    const size_t cols = (size_t)p->cols;
    const bool of_logits = v->param == net->logits->weight && net->logits->weights == GANZ_WEIGHTS_CODES;
    const bool values = !of_logits || (v->type == F32 && net->scheme.float_lookup);
    if (values) GANZ_TRY(put(j, ganz_model_values(j->model, v->param) + cols, (size_t)(p->rows - 1) * cols * 4));
    else GANZ_TRY(put_rows(j, net->logits, 1, v->type));
    return put_unknown_row(j, cols * (v->type == F32 ? sizeof(float) : 1));
}

static ganz_status put_table_scales(job *j)
{
    static const float one = 1;
    GANZ_TRY(put_scales(j, j->model->net.logits, 1));
    return j->unknown ? put(j, &one, sizeof one) : GANZ_OK;
}

/* There is no infinity there. */
static ganz_status put_logits_bias(job *j)
{
    const ganz_site *const site = j->model->net.logits;
    const float *const bias = site->bias >= 0 ? ganz_model_values(j->model, site->bias) : NULL;
    for (int i = 1; i < site->out + j->unknown; i++) {
        float value = i == site->out ? BANNED : bias ? bias[i] : 0;
        if (value < BANNED) value = BANNED;
        GANZ_TRY(put(j, &value, sizeof value));
    }
    return GANZ_OK;
}

static ganz_status put_positions(job *j, const variable *v)
{
    const ganz_net *const net = &j->model->net;
    const size_t cols = v->dims[1];
    const float *const space =
        v->param && net->target_space >= 0 ? ganz_model_values(j->model, net->target_space) : NULL;
    for (uint32_t i = 0; i < v->dims[0]; i++)
        for (size_t c = 0; c < cols; c++) {
            const float value = (float)j->model->weights.timing[i * cols + c] + (space ? space[c] : 0);
            GANZ_TRY(put(j, &value, sizeof value));
        }
    return GANZ_OK;
}

static ganz_status put_data(job *j, const variable *v)
{
    switch (v->what) {
    case NUMBER: return put_scalar(j, v);
    case VECTOR: return put(j, ganz_model_values(j->model, v->param), v->dims[0] * sizeof(float));
    case TABLE: return put_table(j, v);
    case TABLE_SCALES: return put_table_scales(j);
    case LOGITS_BIAS: return put_logits_bias(j);
    case POSITION_TABLE: return put_positions(j, v);
    default: return put_parts(j, v);
    }
}

static ganz_status put_variable(job *j, const variable *v)
{
    size_t bytes = v->type == F32 ? 4 : v->type == I16 ? 2 : 1;
    GANZ_TRY(put_text(j, v->name));
    GANZ_TRY(put_number(j, (uint32_t)v->rank, 1));
    for (int i = 0; i < v->rank; i++) {
        GANZ_TRY(put_number(j, v->dims[i], 4));
        bytes *= v->dims[i];
    }
    if (bytes > UINT32_MAX) return ganz_fail(j->err, GANZ_ELIMIT, "%s is too large for CTranslate2", v->name);
    GANZ_TRY(put_number(j, (uint32_t)v->type, 1));
    GANZ_TRY(put_number(j, (uint32_t)bytes, 4));
    return put_data(j, v);
}

static ganz_status put_model(job *j)
{
    GANZ_TRY(put_number(j, VERSION, 4));
    GANZ_TRY(put_text(j, "TransformerSpec"));
    GANZ_TRY(put_number(j, REVISION, 4));
    GANZ_TRY(put_number(j, (uint32_t)j->count, 4));
    for (int i = 0; i < j->count; i++) GANZ_TRY(put_variable(j, &j->list[i]));
    GANZ_TRY(put_number(j, (uint32_t)j->aliases, 4));
    for (int i = 0; i < 2 * j->aliases; i++) GANZ_TRY(put_text(j, j->alias[i / 2][i % 2]));
    return GANZ_OK;
}

/* ---- texts -------------------------------------------------------------------------------------- */

/* Lists of pieces: texts with a zero behind each. */
static ganz_status write_pieces(const job *j, const char *name, const char *block, size_t bytes)
{
    ganz_json_writer json = {0};
    const char *at = block + strlen(block) + 1; /* behind the padding */
    ganz_json_put(&json, "[");
    for (const char *const first = at; at < block + bytes; at += strlen(at) + 1) {
        if (at > first) ganz_json_put(&json, ",\n");
        ganz_json_put_text(&json, "", at);
    }
    ganz_json_put(&json, "]\n");
    return ganz_export_json(j->folder, name, &json, j->err);
}

/* Subwords as they are in their file, one quoted a line; the first two are padding and the end mark. */
static ganz_status write_subwords(const job *j)
{
    size_t bytes;
    const char *const text = ganz_vocab_file(j->model->vocab, &bytes);
    ganz_lines *lines;
    const char *line;
    ganz_json_writer json = {0};
    GANZ_TRY(ganz_lines_open_text(&lines, text, bytes, "the vocabulary", j->err));
    ganz_json_put(&json, "[\"</s>\"");
    ganz_status status = GANZ_OK;
    for (int i = 0; (status = ganz_lines_next(lines, &line, &bytes, j->err)) == GANZ_OK && line; i++) {
        char entry[4096];
        if (i < 2 || bytes < 2) continue;
        snprintf(entry, sizeof entry, "%.*s", (int)bytes - 2, line + 1);
        ganz_json_put(&json, ",\n");
        ganz_json_put_text(&json, "", entry);
    }
    ganz_json_put(&json, ",\n\"<unk>\"]\n");
    ganz_lines_close(&lines);
    if (status == GANZ_OK) return ganz_export_json(j->folder, "shared_vocabulary.json", &json, j->err);
    ganz_free(json.data);
    return status;
}

static ganz_status write_vocab(const job *j)
{
    const ganz_vocab *const vocab = j->model->vocab;
    const bool two = j->model->net.config.source_vocab > 0;
    GANZ_TRY(ganz_export_tokenizers(j->folder, vocab, false, j->err));
    if (j->unknown) return write_subwords(j);
    const ganz_vocab_part target = ganz_export_part(vocab, "pieces");
    const ganz_vocab_part source = ganz_export_two_lists(vocab) ? ganz_export_part(vocab, "pieces.source") : target;
    if (two) GANZ_TRY(write_pieces(j, "source_vocabulary.json", source.data, source.bytes));
    return write_pieces(j, two ? "target_vocabulary.json" : "shared_vocabulary.json", target.data, target.bytes);
}

/* The text of an entry of the target's list. */
static const char *entry_text(const job *j, int id)
{
    const char *at = ganz_export_part(j->model->vocab, "pieces").data;
    for (; at && id > 0; id--) at += strlen(at) + 1;
    return at ? at : "</s>";
}

static ganz_status write_config(const job *j)
{
    ganz_json_writer json = {0};
    char epsilon[64];
    snprintf(epsilon, sizeof epsilon, "%g", j->model->net.config.norm_epsilon);
    ganz_json_put(&json, "{\n  \"add_source_bos\": false,\n  \"add_source_eos\": ");
    ganz_json_put(&json, j->model->vocab->bare_source ? "false" : "true");
    ganz_json_put(&json, ",\n  \"bos_token\": \"</s>\",\n  \"decoder_start_token\": ");
    ganz_json_put_text(&json, "", j->start < 0 ? "</s>" : entry_text(j, j->start));
    ganz_json_put(&json, ",\n  \"eos_token\": \"</s>\",\n  \"layer_norm_epsilon\": ");
    ganz_json_put(&json, epsilon);
    ganz_json_put(&json, ",\n  \"unk_token\": \"<unk>\"\n}\n");
    return ganz_export_json(j->folder, "config.json", &json, j->err);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

/* The entry whose row the decoder begins with. */
static ganz_status find_start(job *j)
{
    const ganz_net *const net = &j->model->net;
    const ganz_param *const table = &net->params.list[net->embedding];
    const size_t bytes = (size_t)table->cols * sizeof(float);
    j->start = -1;
    if (net->start < 0) return GANZ_OK;
    const float *const start = ganz_model_values(j->model, net->start);
    const float *const rows = is_coded_table(j, net->embedding) ? NULL : ganz_model_values(j->model, net->embedding);
    for (int i = 1; rows && i < table->rows; i++)
        if (memcmp(rows + (size_t)i * (size_t)table->cols, start, bytes) == 0) j->start = i;
    if (j->start >= 0) return GANZ_OK;
    return ganz_fail(
        j->err, GANZ_EUNSUPPORTED,
        "the decoder begins with a vector that is no entry of its table, which CTranslate2 cannot express");
}

static ganz_status look(job *j)
{
    const ganz_model *const m = j->model;
    if (m->net.config.recurrent) return ganz_fail(j->err, GANZ_EUNSUPPORTED, "CTranslate2 has no recurrent decoders");
    if (m->info.dynamic_bits)
        return ganz_fail(j->err, GANZ_EUNSUPPORTED, "this float model emulates integers: export the one it is made of");
    j->unknown = ganz_vocab_file(m->vocab, &(size_t){0}) != NULL;
    j->codes = m->info.integer && !ganz_scheme_has_columns(&m->net.scheme); /* it has no steps for columns */
    for (int i = 0; i < m->net.sites; i++) j->codes = j->codes && m->net.site[i].weights == GANZ_WEIGHTS_CODES;
    return find_start(j);
}

static ganz_status write_all(void *context, ganz_error *err)
{
    job *const j = context;
    char path[GANZ_EXPORT_PATH];
    snprintf(path, sizeof path, "%s/model.bin", j->folder);
    GANZ_TRY(ganz_output_open(&j->out, path, err));
    ganz_status status = put_model(j);
    if (status == GANZ_OK) status = ganz_output_finish(&j->out, err);
    ganz_output_abandon(&j->out);
    GANZ_TRY(status);
    GANZ_TRY(write_vocab(j));
    GANZ_TRY(ganz_export_card(j->folder, j->model, err));
    return write_config(j);
}

ganz_status ganz_export_ctranslate2(const ganz_model *model, const char *folder, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    job j = {.model = model, .folder = folder, .err = err};
    j.list = ganz_alloc(VARIABLES, sizeof *j.list);
    if (!j.list) return no_memory(&j);
    ganz_status status = look(&j);
    if (status == GANZ_OK) status = list_all(&j);
    if (status == GANZ_OK) status = ganz_export_folder(folder, write_all, &j, err);
    ganz_free(j.list);
    return status;
}
