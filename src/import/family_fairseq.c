/* Checkpoints of fairseq: one file of torch.save with options and tensors, dictionaries dict.LANGUAGE.txt beside it. */
#include <stdio.h>
#include <string.h>

#include "import/draft.h"

static const ganz_name_rule rules[] = {
    {"self.q", "$.layers.#.self_attn.q_proj.@", 0, 0},
    {"self.k", "$.layers.#.self_attn.k_proj.@", 0, 0},
    {"self.v", "$.layers.#.self_attn.v_proj.@", 0, 0},
    {"self.o", "$.layers.#.self_attn.out_proj.@", 0, 0},
    {"self.norm", "$.layers.#.self_attn_layer_norm.@", 0, 0},
    {"cross.q", "$.layers.#.encoder_attn.q_proj.@", 0, 0},
    {"cross.k", "$.layers.#.encoder_attn.k_proj.@", 0, 0},
    {"cross.v", "$.layers.#.encoder_attn.v_proj.@", 0, 0},
    {"cross.o", "$.layers.#.encoder_attn.out_proj.@", 0, 0},
    {"cross.norm", "$.layers.#.encoder_attn_layer_norm.@", 0, 0},
    {"ffn.in", "$.layers.#.fc1.@", 0, 0},
    {"ffn.out", "$.layers.#.fc2.@", 0, 0},
    {"ffn.norm", "$.layers.#.final_layer_norm.@", 0, 0},
    {"norm", "$.layer_norm.@", 0, 0},
    {NULL, NULL, 0, 0},
};
static const ganz_naming naming = {rules, {"encoder", "decoder"}, {"weight", "bias"}, {"weight", "bias"}, 0, false};

/* Numbers of the special entries in every dictionary of fairseq. */
enum { BEGIN = 0, PAD = 1, END = 2, UNKNOWN = 3, FIRST = 4 };

/* ---- options ------------------------------------------------------------------------------------ */

/* Options are "args" in older checkpoints, parts of "cfg" in newer ones: the key under which this one is found. */
static const char *key_of(const ganz_draft *d, const char *option, char key[128])
{
    static const char *const places[] = {"args", "cfg.model", "cfg.task"};
    for (size_t i = 0; i < GANZ_COUNT(places); i++) {
        snprintf(key, 128, "%s.%s", places[i], option);
        if (ganz_options_text(&d->options, key)) return key;
    }
    return key;
}

static ganz_status number(const ganz_draft *d, const char *option, int *value, ganz_error *err)
{
    char key[128];
    return ganz_options_need(&d->options, key_of(d, option, key), value, err);
}

static ganz_status flag(const ganz_draft *d, const char *option, bool *value, ganz_error *err)
{
    char key[128];
    return ganz_options_flag(&d->options, key_of(d, option, key), false, value, err);
}

/* Encoder and decoder must have the same number. */
static ganz_status both(const ganz_draft *d, const char *option, int *value, ganz_error *err)
{
    char name[64];
    int other;
    snprintf(name, sizeof name, "encoder_%s", option);
    GANZ_TRY(number(d, name, value, err));
    snprintf(name, sizeof name, "decoder_%s", option);
    GANZ_TRY(number(d, name, &other, err));
    if (other == *value) return GANZ_OK;
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: encoder_%s is %d but decoder_%s is %d", d->options.name, option,
                     *value, option, other);
}

static ganz_status check_options(const ganz_draft *d, ganz_error *err)
{
    static const char *const off[] = {
        "encoder_learned_pos", "decoder_learned_pos",  "layernorm_embedding", "no_token_positional_embeddings",
        "no_cross_attention",  "cross_self_attention", "adaptive_input"};
    static const char *const no[] = {"false", "0", NULL};
    char key[128];
    for (size_t i = 0; i < GANZ_COUNT(off); i++)
        GANZ_TRY(ganz_options_require(&d->options, key_of(d, off[i], key), no, err));
    return GANZ_OK;
}

static ganz_status read_activation(const ganz_draft *d, ganz_activation *activation, ganz_error *err)
{
    static const char *const words[] = {"relu", "gelu", "gelu_accurate", "swish", NULL};
    static const ganz_activation kinds[] = {GANZ_ACTIVATION_RELU, GANZ_ACTIVATION_GELU, GANZ_ACTIVATION_GELU,
                                            GANZ_ACTIVATION_SWISH};
    char key[128];
    const char *const text = ganz_options_text(&d->options, key_of(d, "activation_fn", key));
    GANZ_TRY(ganz_options_require(&d->options, key, words, err));
    *activation = GANZ_ACTIVATION_RELU;
    for (int i = 0; text && words[i]; i++)
        if (strcmp(text, words[i]) == 0) *activation = kinds[i];
    return GANZ_OK;
}

static ganz_status read_norms(const ganz_draft *d, ganz_config *c, ganz_error *err)
{
    bool encoder, decoder;
    GANZ_TRY(flag(d, "encoder_normalize_before", &encoder, err));
    GANZ_TRY(flag(d, "decoder_normalize_before", &decoder, err));
    c->norm = encoder ? GANZ_NORM_PRE : GANZ_NORM_POST;
    c->norm_epsilon = 1e-5;
    if (encoder == decoder) return GANZ_OK;
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: encoder_normalize_before and decoder_normalize_before differ",
                     d->options.name);
}

static ganz_status read_config(ganz_draft *d, ganz_error *err)
{
    ganz_config *const c = &d->config;
    bool plain;
    char key[128];
    GANZ_TRY(check_options(d, err));
    GANZ_TRY(both(d, "embed_dim", &c->width, err));
    GANZ_TRY(both(d, "ffn_embed_dim", &c->ffn, err));
    GANZ_TRY(both(d, "attention_heads", &c->heads, err));
    GANZ_TRY(number(d, "encoder_layers", &c->encoder_layers, err));
    GANZ_TRY(number(d, "decoder_layers", &c->decoder_layers, err));
    GANZ_TRY(read_activation(d, &c->activation, err));
    GANZ_TRY(read_norms(d, c, err));
    GANZ_TRY(flag(d, "no_scale_embedding", &plain, err));
    GANZ_TRY(ganz_options_int(&d->options, key_of(d, "max_source_positions", key), 1024, &c->max_positions, err));
    if (c->max_positions > 4096) c->max_positions = 4096;
    if (plain) c->embedding_scale = 1;
    c->timing = GANZ_TIMING_T2T;
    c->first_position = PAD + 1;
    c->no_target_space = true;
    c->logits_bias = true; /* of our own: it keeps padding out */
    c->start_vector = true;
    d->start = END;
    return GANZ_OK;
}

/* ---- tables and entries ------------------------------------------------------------------------- */

static ganz_status find_tables(ganz_draft *d, ganz_error *err)
{
    ganz_view *const t = d->table;
    if (!ganz_draft_view(d, "encoder.embed_tokens.weight", &t[GANZ_DRAFT_SOURCE]) ||
        !ganz_draft_view(d, "decoder.embed_tokens.weight", &t[GANZ_DRAFT_TARGET]))
        return ganz_fail(err, GANZ_EFORMAT, "%s: no tensor of embeddings", d->options.name);
    if (!ganz_draft_view(d, "decoder.output_projection.weight", &t[GANZ_DRAFT_OUTPUT]) &&
        !ganz_draft_view(d, "decoder.embed_out", &t[GANZ_DRAFT_OUTPUT]))
        t[GANZ_DRAFT_OUTPUT] = t[GANZ_DRAFT_TARGET];
    return GANZ_OK;
}

static ganz_status read_dictionary(ganz_draft *d, int side, const char *language, ganz_error *err)
{
    static const char *const special[] = {"<s>", "<pad>", "</s>", "<unk>"};
    char name[64];
    ganz_bytes bytes;
    ganz_draft_side *const s = &d->side[side];
    const ganz_foreign *const t = d->table[side].tensor;
    snprintf(name, sizeof name, "dict.%s.txt", language);
    GANZ_TRY(ganz_files_get(d->files, name, &bytes, err));
    GANZ_TRY(ganz_words_lines(&s->words, (const char *)bytes.data, bytes.bytes, true, FIRST, name, err));
    for (int i = 0; i < FIRST; i++) GANZ_TRY(ganz_words_set(&s->words, i, special[i], name, err));
    s->pad = PAD;
    s->eos = END;
    s->unk = UNKNOWN;
    if (t->rank == 2 && t->dims[0] == s->words.count) return ganz_draft_order(s, s->words.count, err);
    return ganz_fail(err, GANZ_EFORMAT, "%s has %d entries, the model %lld", name, s->words.count,
                     (long long)(t->rank == 2 ? t->dims[0] : 0));
}

/* Languages that the options leave out are in the name of the data: "...tokenized.roman-nqo". */
static void languages_of_data(ganz_draft *d, const char *data)
{
    const char *const dash = data ? strrchr(data, '-') : NULL;
    const char *begin = dash;
    while (begin && begin > data && !strchr("./-_", begin[-1])) begin--;
    if (!dash || dash == begin || (size_t)(dash - begin) >= sizeof d->from) return;
    snprintf(d->from, sizeof d->from, "%.*s", (int)(dash - begin), begin);
    snprintf(d->to, sizeof d->to, "%.15s", dash + 1);
}

static ganz_status read_entries(ganz_draft *d, ganz_error *err)
{
    char key[128];
    const char *const from = ganz_options_text(&d->options, key_of(d, "source_lang", key)),
                      *const to = ganz_options_text(&d->options, key_of(d, "target_lang", key));
    if (from) snprintf(d->from, sizeof d->from, "%s", from);
    if (to) snprintf(d->to, sizeof d->to, "%s", to);
    if (!from || !to) languages_of_data(d, ganz_options_text(&d->options, key_of(d, "data", key)));
    if (!d->from[0] || !d->to[0])
        return ganz_fail(err, GANZ_EFORMAT, "%s: no source_lang or target_lang", d->options.name);
    GANZ_TRY(read_dictionary(d, GANZ_DRAFT_SOURCE, d->from, err));
    GANZ_TRY(read_dictionary(d, GANZ_DRAFT_TARGET, d->to, err));
    return ganz_draft_spm(d, err);
}

ganz_status ganz_draft_fairseq(ganz_draft *d, const char *file, ganz_error *err)
{
    ganz_bytes bytes;
    d->family = "fairseq";
    d->naming = &naming;
    d->penalty = 1;
    GANZ_TRY(ganz_files_get(d->files, file, &bytes, err));
    GANZ_TRY(ganz_read_torch(&d->tensors, &d->options, bytes.data, bytes.bytes, file, err));
    GANZ_TRY(read_config(d, err));
    GANZ_TRY(find_tables(d, err));
    GANZ_TRY(read_entries(d, err));
    ganz_draft_tie(d);
    ganz_draft_set_biases(d);
    return GANZ_OK;
}
