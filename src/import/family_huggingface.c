/* Folders of Hugging Face with a MarianMT model: config.json, tensors, vocab.json and two SentencePiece models. */
#include <stdio.h>
#include <string.h>

#include "import/draft.h"

static const ganz_name_rule rules[] = {
    {"self.q", "model.$.layers.#.self_attn.q_proj.@", 0, 0},
    {"self.k", "model.$.layers.#.self_attn.k_proj.@", 0, 0},
    {"self.v", "model.$.layers.#.self_attn.v_proj.@", 0, 0},
    {"self.o", "model.$.layers.#.self_attn.out_proj.@", 0, 0},
    {"self.norm", "model.$.layers.#.self_attn_layer_norm.@", 0, 0},
    {"cross.q", "model.$.layers.#.encoder_attn.q_proj.@", 0, 0},
    {"cross.k", "model.$.layers.#.encoder_attn.k_proj.@", 0, 0},
    {"cross.v", "model.$.layers.#.encoder_attn.v_proj.@", 0, 0},
    {"cross.o", "model.$.layers.#.encoder_attn.out_proj.@", 0, 0},
    {"cross.norm", "model.$.layers.#.encoder_attn_layer_norm.@", 0, 0},
    {"ffn.in", "model.$.layers.#.fc1.@", 0, 0},
    {"ffn.out", "model.$.layers.#.fc2.@", 0, 0},
    {"ffn.norm", "model.$.layers.#.final_layer_norm.@", 0, 0},
    {"norm", "model.$.layer_norm.@", 0, 0},
    {NULL, NULL, 0, 0},
};
const ganz_naming ganz_naming_huggingface = {rules, {"encoder", "decoder"}, {"weight", "bias"}, {"weight", "bias"}, 0,
                                             false};

/* ---- configuration ------------------------------------------------------------------------------ */

static ganz_status read_json(ganz_draft *d, const char *name, ganz_options *options, ganz_error *err)
{
    ganz_bytes bytes;
    GANZ_TRY(ganz_files_get(d->files, name, &bytes, err));
    return ganz_options_json(options, (const char *)bytes.data, bytes.bytes, name, err);
}

static ganz_status check_keys(const ganz_options *o, ganz_error *err)
{
    static const char *const no[] = {"false", NULL}, *const yes[] = {"true", NULL};
    const char *const type = ganz_options_text(o, "model_type");
    if (!type || strcmp(type, "marian") != 0)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: model_type is \"%.40s\", where only marian can be imported",
                         o->name, type ? type : "");
    GANZ_TRY(ganz_options_require(o, "normalize_embedding", no, err));
    GANZ_TRY(ganz_options_require(o, "static_position_embeddings", yes, err));
    GANZ_TRY(ganz_options_require(o, "normalize_before", no, err));
    return ganz_options_require(o, "add_final_layer_norm", no, err);
}

static ganz_status read_activation(const ganz_options *o, ganz_activation *activation, ganz_error *err)
{
    static const char *const words[] = {"relu", "swish", "silu", "gelu", "quick_gelu", NULL};
    static const ganz_activation kinds[] = {GANZ_ACTIVATION_RELU, GANZ_ACTIVATION_SWISH, GANZ_ACTIVATION_SWISH,
                                            GANZ_ACTIVATION_GELU, GANZ_ACTIVATION_GELU_SIGMOID};
    const char *const text = ganz_options_text(o, "activation_function");
    if (!text) return ganz_fail(err, GANZ_EFORMAT, "%s: activation_function is missing", o->name);
    GANZ_TRY(ganz_options_require(o, "activation_function", words, err));
    for (int i = 0; words[i]; i++)
        if (strcmp(text, words[i]) == 0) *activation = kinds[i];
    return GANZ_OK;
}

/* Two numbers that must be one. */
static ganz_status read_pair(const ganz_options *o, const char *first, const char *second, int *value, ganz_error *err)
{
    int other;
    GANZ_TRY(ganz_options_need(o, first, value, err));
    GANZ_TRY(ganz_options_int(o, second, *value, &other, err));
    if (*value == other) return GANZ_OK;
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: %s is %d but %s is %d; ganz has one number for both", o->name, first,
                     *value, second, other);
}

static ganz_status read_config(ganz_draft *d, ganz_error *err)
{
    const ganz_options *const o = &d->options;
    ganz_config *const c = &d->config;
    bool scale;
    GANZ_TRY(check_keys(o, err));
    GANZ_TRY(ganz_options_need(o, "d_model", &c->width, err));
    GANZ_TRY(ganz_options_need(o, "encoder_layers", &c->encoder_layers, err));
    GANZ_TRY(ganz_options_need(o, "decoder_layers", &c->decoder_layers, err));
    GANZ_TRY(read_pair(o, "encoder_attention_heads", "decoder_attention_heads", &c->heads, err));
    GANZ_TRY(read_pair(o, "encoder_ffn_dim", "decoder_ffn_dim", &c->ffn, err));
    GANZ_TRY(read_activation(o, &c->activation, err));
    GANZ_TRY(ganz_options_flag(o, "scale_embedding", false, &scale, err));
    GANZ_TRY(ganz_options_int(o, "max_position_embeddings", 512, &c->max_positions, err));
    if (!scale) c->embedding_scale = 1;
    c->norm = GANZ_NORM_POST;
    c->norm_epsilon = 1e-5;
    c->timing = GANZ_TIMING_HALF;
    c->no_target_space = true;
    c->logits_bias = true;
    if (c->max_positions > 4096) c->max_positions = 4096;
    return GANZ_OK;
}

/* ---- tensors ------------------------------------------------------------------------------------ */

static ganz_status read_tensors(ganz_draft *d, ganz_error *err)
{
    static const char safe[] = "model.safetensors", torch[] = "pytorch_model.bin";
    const char *const given = ganz_files_given(d->files);
    const bool older = (given && strcmp(given, torch) == 0) || !ganz_files_have(d->files, safe);
    ganz_bytes bytes;
    GANZ_TRY(ganz_files_get(d->files, older ? torch : safe, &bytes, err));
    return older ? ganz_read_torch(&d->tensors, NULL, bytes.data, bytes.bytes, torch, err)
                 : ganz_read_safetensors(&d->tensors, bytes.data, bytes.bytes, safe, err);
}

/* The name of each use, else the table that is shared; the output is tied to the decoder's. */
static ganz_status find_tables(ganz_draft *d, ganz_error *err)
{
    static const char shared[] = "model.shared.weight";
    ganz_view *const t = d->table;
    if (!ganz_draft_view(d, "model.encoder.embed_tokens.weight", &t[GANZ_DRAFT_SOURCE]) &&
        !ganz_draft_view(d, shared, &t[GANZ_DRAFT_SOURCE]))
        return ganz_fail(err, GANZ_EFORMAT, "%s: no tensor %s", ganz_files_name(d->files), shared);
    if (!ganz_draft_view(d, "model.decoder.embed_tokens.weight", &t[GANZ_DRAFT_TARGET]) &&
        !ganz_draft_view(d, shared, &t[GANZ_DRAFT_TARGET]))
        return ganz_fail(err, GANZ_EFORMAT, "%s: no tensor model.decoder.embed_tokens.weight",
                         ganz_files_name(d->files));
    if (!ganz_draft_view(d, "lm_head.weight", &t[GANZ_DRAFT_OUTPUT])) t[GANZ_DRAFT_OUTPUT] = t[GANZ_DRAFT_TARGET];
    (void)ganz_draft_view(d, "final_logits_bias", &d->logits_bias);
    return GANZ_OK;
}

static bool row_is_zero(const ganz_draft *d, int row)
{
    const ganz_foreign *const t = d->table[GANZ_DRAFT_TARGET].tensor;
    const size_t cols = (size_t)d->config.width, bytes = cols * ganz_dtype_bytes(t->dtype);
    for (size_t i = 0; i < bytes; i++)
        if (t->data[(size_t)row * bytes + i] != 0) return false;
    return true;
}

/* ---- entries ------------------------------------------------------------------------------------ */

static ganz_status read_vocab(ganz_draft *d, int side, const char *name, ganz_error *err)
{
    ganz_bytes bytes;
    GANZ_TRY(ganz_files_get(d->files, name, &bytes, err));
    return ganz_words_json(&d->side[side].words, (const char *)bytes.data, bytes.bytes, name, err);
}

/* A list of end marks has the usual one first. */
static ganz_status read_numbers(ganz_draft *d, ganz_draft_side *s, ganz_error *err)
{
    const ganz_options *const o = &d->options;
    GANZ_TRY(ganz_options_need(o, "pad_token_id", &s->pad, err));
    if (ganz_options_text(o, "eos_token_id.0")) GANZ_TRY(ganz_options_need(o, "eos_token_id.0", &s->eos, err));
    else GANZ_TRY(ganz_options_need(o, "eos_token_id", &s->eos, err));
    s->unk = ganz_words_find(&s->words, "<unk>");
    return GANZ_OK;
}

static ganz_status order_side(ganz_draft *d, int side, int table, ganz_error *err)
{
    const ganz_foreign *const t = d->table[table].tensor;
    ganz_draft_side *const s = &d->side[side];
    if (t->rank != 2 || t->dims[1] != d->config.width || t->dims[0] > GANZ_WORDS_MOST)
        return ganz_fail(err, GANZ_EFORMAT, "tensor %.80s is no table for a width of %d", t->name, d->config.width);
    GANZ_TRY(read_numbers(d, s, err));
    return ganz_draft_order(s, (int)t->dims[0], err);
}

static ganz_status read_entries(ganz_draft *d, ganz_error *err)
{
    const bool two = ganz_files_have(d->files, "target_vocab.json");
    if (two) GANZ_TRY(read_vocab(d, GANZ_DRAFT_SOURCE, "vocab.json", err));
    GANZ_TRY(read_vocab(d, GANZ_DRAFT_TARGET, two ? "target_vocab.json" : "vocab.json", err));
    GANZ_TRY(order_side(d, GANZ_DRAFT_TARGET, GANZ_DRAFT_TARGET, err));
    if (two) GANZ_TRY(order_side(d, GANZ_DRAFT_SOURCE, GANZ_DRAFT_SOURCE, err));
    return ganz_draft_spm(d, err);
}

static ganz_status find_start(ganz_draft *d, ganz_error *err)
{
    const int rows = (int)d->table[GANZ_DRAFT_TARGET].tensor->dims[0];
    int start;
    GANZ_TRY(ganz_options_int(&d->options, "decoder_start_token_id", d->side[GANZ_DRAFT_TARGET].pad, &start, err));
    if (start < 0 || start >= rows)
        return ganz_fail(err, GANZ_EFORMAT, "%s: decoder_start_token_id is %d in a table of %d rows", d->options.name,
                         start, rows);
    d->start = row_is_zero(d, start) ? -1 : start;
    d->config.start_vector = d->start >= 0;
    return GANZ_OK;
}

/* The tokenizer knows the languages, in most folders. */
static ganz_status read_languages(ganz_draft *d, ganz_error *err)
{
    static const char name[] = "tokenizer_config.json";
    ganz_options o = {0};
    if (!ganz_files_have(d->files, name)) return GANZ_OK;
    const ganz_status status = read_json(d, name, &o, err);
    const char *const from = ganz_options_text(&o, "source_lang"), *const to = ganz_options_text(&o, "target_lang");
    if (status == GANZ_OK && from && to && strlen(from) < sizeof d->from && strlen(to) < sizeof d->to) {
        snprintf(d->from, sizeof d->from, "%s", from);
        snprintf(d->to, sizeof d->to, "%s", to);
    }
    ganz_options_close(&o);
    return status;
}

static ganz_status read_search(ganz_draft *d, ganz_error *err)
{
    GANZ_TRY(ganz_options_int(&d->options, "num_beams", 0, &d->beam, err));
    return ganz_options_real(&d->options, "length_penalty", 1, &d->penalty, err);
}

ganz_status ganz_draft_huggingface(ganz_draft *d, ganz_error *err)
{
    d->family = "MarianMT of Hugging Face";
    d->naming = &ganz_naming_huggingface;
    if (ganz_files_have(d->files, "generation_config.json")) /* of two values the first counts */
        GANZ_TRY(read_json(d, "generation_config.json", &d->options, err));
    GANZ_TRY(read_json(d, "config.json", &d->options, err));
    GANZ_TRY(read_config(d, err));
    GANZ_TRY(read_tensors(d, err));
    GANZ_TRY(find_tables(d, err));
    GANZ_TRY(read_entries(d, err));
    GANZ_TRY(find_start(d, err));
    ganz_draft_tie(d);
    ganz_draft_set_biases(d);
    GANZ_TRY(
        ganz_draft_positions(d, "model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight", err));
    GANZ_TRY(read_languages(d, err));
    return read_search(d, err);
}
