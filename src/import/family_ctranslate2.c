/* Folders of CTranslate2 and packages of Argos: model.bin, config.json, vocabularies; SentencePiece models lie beside.
 */
#include <stdio.h>
#include <string.h>

#include "import/draft.h"

static const ganz_name_rule rules[] = {
    {"self.q", "$/layer_#/self_attention/linear_0/@", 0, 3},
    {"self.k", "$/layer_#/self_attention/linear_0/@", 1, 3},
    {"self.v", "$/layer_#/self_attention/linear_0/@", 2, 3},
    {"self.o", "$/layer_#/self_attention/linear_1/@", 0, 0},
    {"self.norm", "$/layer_#/self_attention/layer_norm/@", 0, 0},
    {"cross.q", "$/layer_#/attention/linear_0/@", 0, 0},
    {"cross.k", "$/layer_#/attention/linear_1/@", 0, 2},
    {"cross.v", "$/layer_#/attention/linear_1/@", 1, 2},
    {"cross.o", "$/layer_#/attention/linear_2/@", 0, 0},
    {"cross.norm", "$/layer_#/attention/layer_norm/@", 0, 0},
    {"ffn.in", "$/layer_#/ffn/linear_0/@", 0, 0},
    {"ffn.out", "$/layer_#/ffn/linear_1/@", 0, 0},
    {"ffn.norm", "$/layer_#/ffn/layer_norm/@", 0, 0},
    {"norm", "$/layer_norm/@", 0, 0},
    {NULL, NULL, 0, 0},
};
static const ganz_naming naming = {rules, {"encoder", "decoder"}, {"weight", "bias"}, {"gamma", "beta"}, 0, false};

/* Version 1 has the names of OpenNMT-tf. */
static const ganz_name_rule first_rules[] = {
    {"enc.self.q", "transformer/$/layer_#/multi_head/conv1d/@:0", 0, 3},
    {"enc.self.k", "transformer/$/layer_#/multi_head/conv1d/@:0", 1, 3},
    {"enc.self.v", "transformer/$/layer_#/multi_head/conv1d/@:0", 2, 3},
    {"enc.self.o", "transformer/$/layer_#/multi_head/conv1d_1/@:0", 0, 0},
    {"enc.self.norm", "transformer/$/layer_#/multi_head/LayerNorm/@:0", 0, 0},
    {"dec.self.q", "transformer/$/layer_#/masked_multi_head/conv1d/@:0", 0, 3},
    {"dec.self.k", "transformer/$/layer_#/masked_multi_head/conv1d/@:0", 1, 3},
    {"dec.self.v", "transformer/$/layer_#/masked_multi_head/conv1d/@:0", 2, 3},
    {"dec.self.o", "transformer/$/layer_#/masked_multi_head/conv1d_1/@:0", 0, 0},
    {"dec.self.norm", "transformer/$/layer_#/masked_multi_head/LayerNorm/@:0", 0, 0},
    {"cross.q", "transformer/$/layer_#/multi_head/conv1d/@:0", 0, 0},
    {"cross.k", "transformer/$/layer_#/multi_head/conv1d_1/@:0", 0, 2},
    {"cross.v", "transformer/$/layer_#/multi_head/conv1d_1/@:0", 1, 2},
    {"cross.o", "transformer/$/layer_#/multi_head/conv1d_2/@:0", 0, 0},
    {"cross.norm", "transformer/$/layer_#/multi_head/LayerNorm/@:0", 0, 0},
    {"ffn.in", "transformer/$/layer_#/ffn/conv1d/@:0", 0, 0},
    {"ffn.out", "transformer/$/layer_#/ffn/conv1d_1/@:0", 0, 0},
    {"ffn.norm", "transformer/$/layer_#/ffn/LayerNorm/@:0", 0, 0},
    {"norm", "transformer/$/LayerNorm/@:0", 0, 0},
    {NULL, NULL, 0, 0},
};
static const ganz_naming first_naming = {first_rules, {"encoder", "decoder"}, {"kernel", "bias"}, {"gamma", "beta"}, 0,
                                         false};
enum { OLD_SCALE = 1000 }; /* of 16-bit codes before scales were written */

/* ---- variables ---------------------------------------------------------------------------------- */

static double variable(const ganz_draft *d, const char *name, double standard)
{
    const ganz_foreign *const t = ganz_tensors_find(&d->tensors, name);
    double value = standard;
    return t && ganz_foreign_scalar(t, &value) ? value : standard;
}

/* Refuses a variable that is neither missing nor this number. */
static ganz_status require(const ganz_draft *d, const char *name, double number, ganz_error *err)
{
    const double value = variable(d, name, number);
    if (value == number) return GANZ_OK;
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: %s is %g, which ganz has no network for", ganz_files_name(d->files),
                     name, value);
}

static ganz_status check_variables(const ganz_draft *d, ganz_error *err)
{
    static const char *const zeros[] = {"encoder/embeddings_merge",      "decoder/alibi",
                                        "encoder/multi_query_attention", "decoder/multi_query_attention",
                                        "encoder/sliding_window",        "decoder/sliding_window"};
    static const char *const absent[] = {"encoder/embeddings_1/weight",
                                         "encoder/layernorm_embedding/gamma",
                                         "decoder/layernorm_embedding/gamma",
                                         "decoder/project_in/weight",
                                         "encoder/layer_0/self_attention/relative_position_keys",
                                         "encoder/layer_0/self_attention/relative_attention_bias",
                                         "encoder/layer_0/ffn/linear_0_noact/weight"};
    for (size_t i = 0; i < GANZ_COUNT(zeros); i++) GANZ_TRY(require(d, zeros[i], 0, err));
    for (size_t i = 0; i < GANZ_COUNT(absent); i++)
        if (ganz_tensors_find(&d->tensors, absent[i]))
            return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: it has %s, which ganz has no network for",
                             ganz_files_name(d->files), absent[i]);
    if (variable(d, "encoder/pre_norm", 1) == variable(d, "decoder/pre_norm", 1)) return GANZ_OK;
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: pre_norm differs between encoder and decoder",
                     ganz_files_name(d->files));
}

static ganz_status read_activation(const ganz_draft *d, ganz_activation *activation, ganz_error *err)
{
    static const ganz_activation kinds[] = {GANZ_ACTIVATION_RELU, GANZ_ACTIVATION_NONE, GANZ_ACTIVATION_SWISH,
                                            GANZ_ACTIVATION_GELU, GANZ_ACTIVATION_GELU_SIGMOID};
    const double number = variable(d, "encoder/activation", 0);
    const int kind = number >= 0 && number < (double)GANZ_COUNT(kinds) ? (int)number : 1;
    *activation = kinds[kind];
    if (*activation != GANZ_ACTIVATION_NONE && variable(d, "decoder/activation", 0) == number) return GANZ_OK;
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: encoder/activation is %g, which ganz has no network for",
                     ganz_files_name(d->files), number);
}

/* A whole number is a switch, anything else the factor itself. */
static double embedding_scale(const ganz_draft *d)
{
    const ganz_foreign *const t = ganz_tensors_find(&d->tensors, "encoder/scale_embeddings");
    double value = 1;
    if (!t || !ganz_foreign_scalar(t, &value)) return 0;
    if (t->dtype == GANZ_DTYPE_F32 || t->dtype == GANZ_DTYPE_F16) return value;
    return value != 0 ? 0 : 1;
}

static ganz_status read_config(ganz_draft *d, const ganz_ct2_file *file, ganz_error *err)
{
    ganz_config *const c = &d->config;
    const double heads = variable(d, "encoder/num_heads", strcmp(file->spec, "TransformerBig") == 0 ? 16 : 8);
    const bool pre = variable(d, "encoder/pre_norm", 1) != 0;
    GANZ_TRY(check_variables(d, err));
    GANZ_TRY(read_activation(d, &c->activation, err));
    GANZ_TRY(require(d, "decoder/num_heads", heads, err));
    c->width = (int)ganz_draft_rows(d, "enc.0.self.o.weight");
    c->ffn = (int)ganz_draft_rows(d, "enc.0.ffn.in.weight");
    c->encoder_layers = ganz_draft_layers(d, "enc");
    c->decoder_layers = ganz_draft_layers(d, "dec");
    c->heads = heads > 0 && heads < 1e6 ? (int)heads : 0;
    c->norm = pre ? GANZ_NORM_PRE : GANZ_NORM_POST;
    c->embedding_scale = embedding_scale(d);
    c->max_positions = 1024;
    c->timing = GANZ_TIMING_T2T; /* where there is no table */
    c->first_position = 1;
    c->no_target_space = true;
    c->logits_bias = true;
    return ganz_options_real(&d->options, "layer_norm_epsilon", 1e-5, &c->norm_epsilon, err);
}

/* ---- tables and entries ------------------------------------------------------------------------- */

static ganz_status find_tables(ganz_draft *d, bool first, ganz_error *err)
{
    ganz_view *const t = d->table;
    const bool source = ganz_draft_view(d, "encoder/embeddings_0/weight", &t[GANZ_DRAFT_SOURCE]) ||
                        ganz_draft_view(d, "encoder/embeddings/weight", &t[GANZ_DRAFT_SOURCE]) ||
                        ganz_draft_view(d, "transformer/encoder/w_embs:0", &t[GANZ_DRAFT_SOURCE]);
    const bool target =
        ganz_draft_view(d, first ? "transformer/decoder/w_embs:0" : "decoder/embeddings/weight", &t[GANZ_DRAFT_TARGET]);
    if (!source || !target)
        return ganz_fail(err, GANZ_EFORMAT, "%s: no tensor of embeddings", ganz_files_name(d->files));
    if (!ganz_draft_view(d, first ? "transformer/decoder/dense/kernel:0" : "decoder/projection/weight",
                         &t[GANZ_DRAFT_OUTPUT]))
        t[GANZ_DRAFT_OUTPUT] = t[GANZ_DRAFT_TARGET];
    (void)ganz_draft_view(d, first ? "transformer/decoder/dense/bias:0" : "decoder/projection/bias", &d->logits_bias);
    return GANZ_OK;
}

/* NAME_vocabulary.json, or .txt as it was before. */
static ganz_status read_vocab(ganz_draft *d, int side, const char *which, bool *found, ganz_error *err)
{
    char name[64];
    ganz_bytes bytes;
    ganz_words *const words = &d->side[side].words;
    snprintf(name, sizeof name, "%s_vocabulary.json", which);
    const bool json = ganz_files_have(d->files, name);
    if (!json) snprintf(name, sizeof name, "%s_vocabulary.txt", which);
    *found = ganz_files_have(d->files, name);
    if (!*found) return GANZ_OK;
    GANZ_TRY(ganz_files_get(d->files, name, &bytes, err));
    return json ? ganz_words_json(words, (const char *)bytes.data, bytes.bytes, name, err)
                : ganz_words_lines(words, (const char *)bytes.data, bytes.bytes, false, 0, name, err);
}

static int named(const ganz_draft *d, int side, const char *key)
{
    const char *const text = ganz_options_text(&d->options, key);
    return text ? ganz_words_find(&d->side[side].words, text) : -1;
}

/* An unknown entry that is in the table but not in the list comes last. */
static ganz_status order_side(ganz_draft *d, int side, int table, ganz_error *err)
{
    const ganz_foreign *const t = d->table[table].tensor;
    ganz_draft_side *const s = &d->side[side];
    if (t->rank != 2 || t->dims[0] > GANZ_WORDS_MOST)
        return ganz_fail(err, GANZ_EFORMAT, "tensor %.80s is no table", t->name);
    const int rows = (int)t->dims[0];
    if (s->words.count == rows - 1 && ganz_words_find(&s->words, "<unk>") < 0)
        GANZ_TRY(ganz_words_set(&s->words, rows - 1, "<unk>", ganz_files_name(d->files), err));
    if (s->words.count > rows)
        return ganz_fail(err, GANZ_EFORMAT, "%s: the vocabulary has %d entries, the model %d",
                         ganz_files_name(d->files), s->words.count, rows);
    s->eos = named(d, side, "eos_token");
    s->unk = named(d, side, "unk_token");
    GANZ_TRY(ganz_draft_marks(d, side, err));
    return ganz_draft_order(s, rows, err);
}

static ganz_status read_entries(ganz_draft *d, ganz_error *err)
{
    bool shared, target = true;
    GANZ_TRY(read_vocab(d, GANZ_DRAFT_TARGET, "shared", &shared, err));
    if (!shared) {
        bool source;
        GANZ_TRY(read_vocab(d, GANZ_DRAFT_SOURCE, "source", &source, err));
        GANZ_TRY(read_vocab(d, GANZ_DRAFT_TARGET, "target", &target, err));
        if (!source || !target)
            return ganz_fail(err, GANZ_EFORMAT, "%s: there is no shared_vocabulary.json, nor source_ and target_",
                             ganz_files_name(d->files));
        GANZ_TRY(order_side(d, GANZ_DRAFT_SOURCE, GANZ_DRAFT_SOURCE, err));
    }
    GANZ_TRY(order_side(d, GANZ_DRAFT_TARGET, GANZ_DRAFT_TARGET, err));
    return ganz_draft_spm(d, err);
}

/* A decoder that begins with zeros is Marian's, which wants the end mark on its source, whoever was to put it there. Of
 * others the configuration says it: OpenNMT's have none. */
static ganz_status find_start(ganz_draft *d, ganz_error *err)
{
    bool ended, begun;
    if (variable(d, "decoder/start_from_zero_embedding", 0) != 0) return GANZ_OK;
    GANZ_TRY(ganz_options_flag(&d->options, "add_source_eos", variable(d, "with_source_eos", 0) != 0, &ended, err));
    GANZ_TRY(ganz_options_flag(&d->options, "add_source_bos", variable(d, "with_source_bos", 0) != 0, &begun, err));
    if (begun)
        return ganz_fail(err, GANZ_EUNSUPPORTED,
                         "%s: add_source_bos is true, where no source of ganz begins with a mark",
                         ganz_files_name(d->files));
    d->bare_source = !ended;
    d->start = named(d, GANZ_DRAFT_TARGET, "decoder_start_token");
    if (d->start < 0) d->start = ganz_words_find(&d->side[GANZ_DRAFT_TARGET].words, "<s>");
    d->config.start_vector = d->start >= 0;
    return GANZ_OK;
}

/* Codes of version 1 have no scales of their own. */
static void set_old_scales(ganz_draft *d)
{
    for (int i = 0; i < d->tensors.count; i++)
        if (d->tensors.list[i].dtype == GANZ_DTYPE_I16 && d->tensors.list[i].rank == 2)
            d->tensors.list[i].multiplier = OLD_SCALE;
}

static ganz_status read_package(ganz_draft *d, ganz_error *err)
{
    ganz_bytes bytes;
    d->penalty = 1;
    if (!ganz_files_have(d->files, "metadata.json")) return GANZ_OK;
    ganz_options about = {0};
    GANZ_TRY(ganz_files_get(d->files, "metadata.json", &bytes, err));
    const ganz_status status = ganz_options_json(&about, (const char *)bytes.data, bytes.bytes, "metadata.json", err);
    const char *const from = ganz_options_text(&about, "from_code"), *const to = ganz_options_text(&about, "to_code");
    if (from) snprintf(d->from, sizeof d->from, "%s", from);
    if (to) snprintf(d->to, sizeof d->to, "%s", to);
    if (from && to) d->family = "CTranslate2, package of Argos";
    d->beam = 4;
    ganz_options_close(&about);
    return status;
}

ganz_status ganz_draft_ctranslate2(ganz_draft *d, ganz_error *err)
{
    ganz_ct2_file file;
    ganz_bytes bytes;
    d->family = "CTranslate2";
    d->options.name = "config.json";
    GANZ_TRY(ganz_files_get(d->files, "model.bin", &bytes, err));
    GANZ_TRY(ganz_read_ctranslate2(&d->tensors, &file, bytes.data, bytes.bytes, "model.bin", err));
    if (file.version > 1 && strncmp(file.spec, "Transformer", 11) != 0)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "model.bin: a %.40s, where only Transformers can be imported",
                         file.spec);
    d->naming = file.version == 1 ? &first_naming : &naming;
    if (file.version == 1) set_old_scales(d);
    if (ganz_files_have(d->files, "config.json")) {
        GANZ_TRY(ganz_files_get(d->files, "config.json", &bytes, err));
        GANZ_TRY(ganz_options_json(&d->options, (const char *)bytes.data, bytes.bytes, "config.json", err));
    }
    GANZ_TRY(read_config(d, &file, err));
    GANZ_TRY(find_tables(d, file.version == 1, err));
    GANZ_TRY(read_entries(d, err));
    GANZ_TRY(find_start(d, err));
    ganz_draft_tie(d);
    ganz_draft_set_biases(d);
    GANZ_TRY(
        ganz_draft_positions(d, "encoder/position_encodings/encodings", "decoder/position_encodings/encodings", err));
    return read_package(d, err);
}
