/* Checkpoints of Tensor2Tensor (names of version 1.12): model.ckpt-N.index with its data, hparams.json, and the file of
 * subwords. Our own network is theirs, so that numbers only change their direction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/draft.h"

static const ganz_name_rule rules[] = {
    {"self.q", "transformer/body/$/layer_#/self_attention/multihead_attention/q/@", 0, 0},
    {"self.k", "transformer/body/$/layer_#/self_attention/multihead_attention/k/@", 0, 0},
    {"self.v", "transformer/body/$/layer_#/self_attention/multihead_attention/v/@", 0, 0},
    {"self.o", "transformer/body/$/layer_#/self_attention/multihead_attention/output_transform/@", 0, 0},
    {"self.norm", "transformer/body/$/layer_#/self_attention/layer_prepostprocess/layer_norm/layer_norm_@", 0, 0},
    {"cross.q", "transformer/body/$/layer_#/encdec_attention/multihead_attention/q/@", 0, 0},
    {"cross.k", "transformer/body/$/layer_#/encdec_attention/multihead_attention/k/@", 0, 0},
    {"cross.v", "transformer/body/$/layer_#/encdec_attention/multihead_attention/v/@", 0, 0},
    {"cross.o", "transformer/body/$/layer_#/encdec_attention/multihead_attention/output_transform/@", 0, 0},
    {"cross.norm", "transformer/body/$/layer_#/encdec_attention/layer_prepostprocess/layer_norm/layer_norm_@", 0, 0},
    {"ffn.in", "transformer/body/$/layer_#/ffn/conv1/@", 0, 0},
    {"ffn.out", "transformer/body/$/layer_#/ffn/conv2/@", 0, 0},
    {"ffn.norm", "transformer/body/$/layer_#/ffn/layer_prepostprocess/layer_norm/layer_norm_@", 0, 0},
    {"norm", "transformer/body/$/layer_prepostprocess/layer_norm/layer_norm_@", 0, 0},
    {NULL, NULL, 0, 0},
};
static const ganz_naming naming = {rules, {"encoder", "decoder"}, {"kernel", "bias"}, {"scale", "bias"}, 0, true};

/* ---- configuration ------------------------------------------------------------------------------ */

static ganz_status check_keys(const ganz_options *o, ganz_error *err)
{
    static const struct {
        const char *key, *words[4];
    } wanted[] = {{"layer_preprocess_sequence", {"n"}},
                  {"layer_postprocess_sequence", {"da", "a"}},
                  {"norm_type", {"layer"}},
                  {"pos", {"timing"}},
                  {"shared_embedding_and_softmax_weights", {"true"}},
                  {"multiply_embedding_mode", {"sqrt_depth"}},
                  {"self_attention_type", {"dot_product"}},
                  {"ffn_layer", {"dense_relu_dense", "conv_hidden_relu"}},
                  {"max_relative_position", {"0"}},
                  {"attention_key_channels", {"0"}},
                  {"attention_value_channels", {"0"}},
                  {"factored_logits", {"false"}},
                  {"prepend_mode", {"none"}},
                  {"use_target_space_embedding", {"true"}},
                  {"proximity_bias", {"false"}}};
    for (size_t i = 0; i < GANZ_COUNT(wanted); i++)
        GANZ_TRY(ganz_options_require(o, wanted[i].key, wanted[i].words, err));
    return GANZ_OK;
}

/* 0 layers of a side: as many as are said for both. */
static ganz_status read_layers(const ganz_options *o, const char *key, int *layers, ganz_error *err)
{
    GANZ_TRY(ganz_options_int(o, key, 0, layers, err));
    return *layers > 0 ? GANZ_OK : ganz_options_need(o, "num_hidden_layers", layers, err);
}

static ganz_status read_config(ganz_draft *d, ganz_error *err)
{
    const ganz_options *const o = &d->options;
    ganz_config *const c = &d->config;
    GANZ_TRY(check_keys(o, err));
    GANZ_TRY(ganz_options_need(o, "hidden_size", &c->width, err));
    GANZ_TRY(ganz_options_need(o, "filter_size", &c->ffn, err));
    GANZ_TRY(ganz_options_need(o, "num_heads", &c->heads, err));
    GANZ_TRY(read_layers(o, "num_encoder_layers", &c->encoder_layers, err));
    GANZ_TRY(read_layers(o, "num_decoder_layers", &c->decoder_layers, err));
    GANZ_TRY(ganz_options_real(o, "norm_epsilon", 1e-6, &c->norm_epsilon, err));
    c->max_positions = 1024; /* as of our own models: sines go on */
    return GANZ_OK;
}

/* ---- files -------------------------------------------------------------------------------------- */

/* Of several checkpoints in a folder the file "checkpoint" names the last: model_checkpoint_path: "model.ckpt-7". */
static ganz_status last_index(const ganz_draft *d, char *name, size_t bytes, ganz_error *err)
{
    static const char key[] = "model_checkpoint_path: \"";
    ganz_bytes file;
    char text[512];
    if (ganz_files_given(d->files) || !ganz_files_have(d->files, "checkpoint")) return GANZ_OK;
    GANZ_TRY(ganz_files_get(d->files, "checkpoint", &file, err));
    snprintf(text, sizeof text, "%.*s", (int)(file.bytes < sizeof text ? file.bytes : sizeof text - 1),
             (const char *)file.data);
    char *path = strstr(text, key);
    if (!path) return GANZ_OK;
    path += sizeof key - 1;
    path[strcspn(path, "\"")] = '\0';
    char *const slash = strrchr(path, '/');
    char index[512 + 8];
    snprintf(index, sizeof index, "%s.index", slash ? slash + 1 : path);
    if (ganz_files_have(d->files, index) && strlen(index) < bytes) memcpy(name, index, strlen(index) + 1);
    return GANZ_OK;
}

/* PREFIX.data-00000-of-00002: as many as the names say. */
static ganz_status open_shards(ganz_draft *d, const char *index, ganz_bytes shard[GANZ_BUNDLE_SHARDS], int *count,
                               ganz_error *err)
{
    char name[512];
    const int stem = (int)(strlen(index) - strlen(".index"));
    for (int of = 1; of <= GANZ_BUNDLE_SHARDS; of++) {
        snprintf(name, sizeof name, "%.*s.data-00000-of-%05d", stem, index, of);
        if (!ganz_files_have(d->files, name)) continue;
        for (*count = 0; *count < of; ++*count) {
            snprintf(name, sizeof name, "%.*s.data-%05d-of-%05d", stem, index, *count, of);
            GANZ_TRY(ganz_files_get(d->files, name, &shard[*count], err));
        }
        return GANZ_OK;
    }
    return ganz_fail(err, GANZ_EFORMAT, "%s: no file of data beside %.200s", ganz_files_name(d->files), index);
}

static ganz_status read_tensors(ganz_draft *d, const char *file, ganz_error *err)
{
    char index[256];
    ganz_bytes shard[GANZ_BUNDLE_SHARDS];
    ganz_bundle bundle = {.shard = shard};
    snprintf(index, sizeof index, "%s", file);
    GANZ_TRY(last_index(d, index, sizeof index, err));
    GANZ_TRY(ganz_files_get(d->files, index, &bundle.index, err));
    GANZ_TRY(open_shards(d, index, shard, &bundle.shards, err));
    return ganz_read_bundle(&d->tensors, &bundle, index, err);
}

/* ---- the table ---------------------------------------------------------------------------------- */

/* Parts weights_0, weights_1, ... of the table, by rows. */
static const ganz_foreign *part_of_table(const ganz_draft *d, int part)
{
    char ending[64];
    snprintf(ending, sizeof ending, "/shared/weights_%d", part);
    const size_t m = strlen(ending);
    static const char beginning[] = "transformer/symbol_modality_";
    for (int i = 0; i < d->tensors.count; i++) {
        const ganz_foreign *const t = &d->tensors.list[i];
        const size_t n = strlen(t->name);
        if (n > m && strcmp(t->name + n - m, ending) == 0 && strncmp(t->name, beginning, sizeof beginning - 1) == 0)
            return t;
    }
    return NULL;
}

static bool is_part(const ganz_draft *d, const ganz_foreign *t)
{
    return t->rank == 2 && t->dims[1] == d->config.width && t->dtype == GANZ_DTYPE_F32;
}

static ganz_status join_table(ganz_draft *d, ganz_error *err)
{
    size_t bytes = 0;
    ganz_foreign whole = {.name = (char[]){"ganz table"}, .dtype = GANZ_DTYPE_F32, .rank = 2};
    const ganz_foreign *t;
    for (int i = 0; (t = part_of_table(d, i)); i++) {
        if (!is_part(d, t)) return ganz_fail(err, GANZ_EFORMAT, "tensor %.80s is no part of a table", t->name);
        bytes += t->bytes;
        whole.dims[0] += t->dims[0];
    }
    if (bytes == 0)
        return ganz_fail(err, GANZ_EFORMAT, "%s: no tensor transformer/symbol_modality_.../shared/weights_0",
                         ganz_files_name(d->files));
    unsigned char *const block = ganz_tensors_block(&d->tensors, bytes);
    if (!block) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a table");
    for (int i = 0; (t = part_of_table(d, i)); i++) {
        memcpy(block + whole.bytes, t->data, t->bytes);
        whole.bytes += t->bytes;
    }
    whole.data = block;
    whole.dims[1] = d->config.width;
    GANZ_TRY(ganz_tensors_add(&d->tensors, &whole, err));
    (void)ganz_draft_view(d, whole.name, &d->table[GANZ_DRAFT_TARGET]);
    return GANZ_OK;
}

/* Padding and end mark have our numbers already. */
static ganz_status read_entries(ganz_draft *d, ganz_error *err)
{
    ganz_draft_side *const s = &d->side[GANZ_DRAFT_TARGET];
    const int64_t rows = d->table[GANZ_DRAFT_TARGET].tensor->dims[0];
    const char *const name = ganz_files_ending(d->files, ".subwords");
    if (!name)
        return ganz_fail(err, GANZ_EFORMAT, "%s: no vocabulary beside it, vocab.*.subwords", ganz_files_name(d->files));
    GANZ_TRY(ganz_files_get(d->files, name, &d->subwords, err));
    if (rows > GANZ_WORDS_MOST - 1) return ganz_fail(err, GANZ_EFORMAT, "the table has too many rows");
    s->order = ganz_alloc((size_t)rows, sizeof *s->order);
    if (!s->order) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a vocabulary");
    for (s->entries = 0; s->entries < rows; s->entries++) s->order[s->entries] = s->entries;
    return GANZ_OK;
}

ganz_status ganz_draft_tensor2tensor(ganz_draft *d, const char *file, ganz_error *err)
{
    static const char hparams[] = "hparams.json";
    ganz_bytes bytes;
    d->family = "Tensor2Tensor";
    d->naming = &naming;
    GANZ_TRY(ganz_files_get(d->files, hparams, &bytes, err));
    GANZ_TRY(ganz_options_json(&d->options, (const char *)bytes.data, bytes.bytes, hparams, err));
    GANZ_TRY(read_config(d, err));
    GANZ_TRY(read_tensors(d, file, err));
    GANZ_TRY(join_table(d, err));
    if (!ganz_draft_view(d, "transformer/body/target_space_embedding/kernel", &d->target_space))
        return ganz_fail(err, GANZ_EFORMAT, "%s: no tensor target_space_embedding", ganz_files_name(d->files));
    return read_entries(d, err);
}
