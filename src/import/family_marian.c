/* Marian's own models: .npz, or .bin with the integer codes of Bergamot and Firefox; options are inside, in YAML. */
#include <stdio.h>
#include <string.h>

#include "import/draft.h"
#include "text/spm.h"

static const ganz_name_rule rules[] = {
    {"self.q", "$_l#_self_@q", 0, 0},
    {"self.k", "$_l#_self_@k", 0, 0},
    {"self.v", "$_l#_self_@v", 0, 0},
    {"self.o", "$_l#_self_@o", 0, 0},
    {"self.norm", "$_l#_self_Wo_ln_@", 0, 0},
    {"self.norm", "$_l#_self_Wo_ln_@_pre", 0, 0},
    {"self.norm", "$_l#_self_ln_@_pre", 0, 0},
    {"cross.q", "$_l#_context_@q", 0, 0},
    {"cross.k", "$_l#_context_@k", 0, 0},
    {"cross.v", "$_l#_context_@v", 0, 0},
    {"cross.o", "$_l#_context_@o", 0, 0},
    {"cross.norm", "$_l#_context_Wo_ln_@", 0, 0},
    {"cross.norm", "$_l#_context_Wo_ln_@_pre", 0, 0},
    {"ffn.in", "$_l#_ffn_@1", 0, 0},
    {"ffn.out", "$_l#_ffn_@2", 0, 0},
    {"ffn.norm", "$_l#_ffn_ffn_ln_@", 0, 0},
    {"ffn.norm", "$_l#_ffn_ffn_ln_@_pre", 0, 0},
    {"rnn.gate", "$_l#_rnn_@f", 0, 0},
    {"rnn.value", "$_l#_rnn_@", 0, 0},
    {"rnn.norm", "$_l#_rnn_ffn_ln_@", 0, 0},
    {"norm", "$_top_ln_@", 0, 0},
    {NULL, NULL, 0, 0},
};
const ganz_naming ganz_naming_marian = {rules, {"encoder", "decoder"}, {"W", "b"}, {"scale", "bias"}, 1, true};

/* ---- options ------------------------------------------------------------------------------------ */

static ganz_status read_options(ganz_draft *d, ganz_error *err)
{
    const ganz_foreign *const t = ganz_tensors_find(&d->tensors, "special:model.yml");
    if (!t) return ganz_fail(err, GANZ_EFORMAT, "%s: no special:model.yml inside", ganz_files_name(d->files));
    size_t bytes = t->bytes;
    while (bytes > 0 && t->data[bytes - 1] == '\0') bytes--;
    return ganz_options_yaml(&d->options, (const char *)t->data, bytes, "special:model.yml", err);
}

static bool is_recurrent(const ganz_options *o)
{
    const char *const decoder = ganz_options_text(o, "transformer-decoder-autoreg");
    return decoder && strcmp(decoder, "rnn") == 0;
}

static ganz_status check_options(const ganz_options *o, ganz_error *err)
{
    static const char *const no[] = {"false", NULL}, *const transformer[] = {"transformer", NULL},
                             *const decoders[] = {"self-attention", "rnn", NULL}, *const cells[] = {"ssru", NULL},
                             *const two[] = {"2", NULL}, *const zero[] = {"0", NULL}, *const plain[] = {"d", "", NULL};
    static const char *const off[] = {"transformer-no-projection",
                                      "transformer-train-position-embeddings",
                                      "transformer-train-positions",
                                      "ulr",
                                      "right-left",
                                      "layer-normalization",
                                      "transformer-pool",
                                      "transformer-rnn-projection"};
    GANZ_TRY(ganz_options_require(o, "type", transformer, err));
    GANZ_TRY(ganz_options_require(o, "transformer-decoder-autoreg", decoders, err));
    if (is_recurrent(o)) GANZ_TRY(ganz_options_require(o, "dec-cell", cells, err));
    GANZ_TRY(ganz_options_require(o, "transformer-ffn-depth", two, err));
    GANZ_TRY(ganz_options_require(o, "transformer-postprocess-emb", plain, err));
    GANZ_TRY(ganz_options_require(o, "lemma-dim-emb", zero, err));
    GANZ_TRY(ganz_options_require(o, "transformer-decoder-dim-ffn", zero, err));
    for (size_t i = 0; i < GANZ_COUNT(off); i++) GANZ_TRY(ganz_options_require(o, off[i], no, err));
    static const char *const lists[] = {"transformer-tied-layers.0", "input-types.0"};
    for (size_t i = 0; i < GANZ_COUNT(lists); i++)
        GANZ_TRY(ganz_options_require(o, lists[i], (const char *const[]){NULL}, err));
    return GANZ_OK;
}

/* Where the n stands says where norms are; d means nothing when translating. */
static ganz_status read_norms(const ganz_options *o, ganz_config *c, ganz_error *err)
{
    static const char *const befores[] = {"", "d", "n", "nd", NULL}, *const afters[] = {"dan", "an", "da", "a", NULL};
    const char *const before = ganz_options_text(o, "transformer-preprocess"), *const after = ganz_options_text(
                                                                                   o, "transformer-postprocess");
    GANZ_TRY(ganz_options_require(o, "transformer-preprocess", befores, err));
    GANZ_TRY(ganz_options_require(o, "transformer-postprocess", afters, err));
    const bool pre = before && strchr(before, 'n'), post = !after || strchr(after, 'n');
    if (pre == post)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: transformer-preprocess is \"%.20s\" and -postprocess \"%.20s\"",
                         o->name, before ? before : "", after ? after : "dan");
    static const char *const tops[][4] = {{"", "d", NULL}, {"n", "nd", "dn", NULL}};
    c->norm = pre ? GANZ_NORM_PRE : GANZ_NORM_POST;
    return ganz_options_require(o, "transformer-postprocess-top", tops[pre], err);
}

static ganz_status read_config(ganz_draft *d, ganz_error *err)
{
    static const char *const words[] = {"swish", "relu", "gelu", NULL};
    static const ganz_activation kinds[] = {GANZ_ACTIVATION_SWISH, GANZ_ACTIVATION_RELU, GANZ_ACTIVATION_GELU_SIGMOID};
    const ganz_options *const o = &d->options;
    ganz_config *const c = &d->config;
    const char *const activation = ganz_options_text(o, "transformer-ffn-activation");
    GANZ_TRY(check_options(o, err));
    GANZ_TRY(read_norms(o, c, err));
    GANZ_TRY(ganz_options_need(o, "dim-emb", &c->width, err));
    GANZ_TRY(ganz_options_need(o, "transformer-dim-ffn", &c->ffn, err));
    GANZ_TRY(ganz_options_need(o, "transformer-heads", &c->heads, err));
    GANZ_TRY(ganz_options_need(o, "enc-depth", &c->encoder_layers, err));
    GANZ_TRY(ganz_options_need(o, "dec-depth", &c->decoder_layers, err));
    GANZ_TRY(ganz_options_require(o, "transformer-ffn-activation", words, err));
    c->activation = GANZ_ACTIVATION_SWISH;
    for (int i = 0; activation && words[i]; i++)
        if (strcmp(activation, words[i]) == 0) c->activation = kinds[i];
    c->recurrent = is_recurrent(o);
    c->norm_epsilon = 1e-6;
    c->timing = GANZ_TIMING_T2T;
    c->max_positions = 512;
    c->no_target_space = true;
    c->logits_bias = true;
    return GANZ_OK;
}

/* ---- tables and entries ------------------------------------------------------------------------- */

static ganz_status find_tables(ganz_draft *d, ganz_error *err)
{
    ganz_view *const t = d->table;
    const bool source =
        ganz_draft_view(d, "encoder_Wemb", &t[GANZ_DRAFT_SOURCE]) || ganz_draft_view(d, "Wemb", &t[GANZ_DRAFT_SOURCE]);
    const bool target =
        ganz_draft_view(d, "decoder_Wemb", &t[GANZ_DRAFT_TARGET]) || ganz_draft_view(d, "Wemb", &t[GANZ_DRAFT_TARGET]);
    if (!source || !target) return ganz_fail(err, GANZ_EFORMAT, "%s: no tensor Wemb", ganz_files_name(d->files));
    t[GANZ_DRAFT_OUTPUT] = t[GANZ_DRAFT_TARGET];
    ganz_view output;
    if (ganz_draft_view(d, "decoder_ff_logit_out_Wt", &output)) t[GANZ_DRAFT_OUTPUT] = output;
    else if (ganz_draft_view(d, "decoder_ff_logit_out_W", &output)) {
        output.turned = output.tensor->multiplier == 0;
        t[GANZ_DRAFT_OUTPUT] = output;
    }
    (void)ganz_draft_view(d, "decoder_ff_logit_out_b", &d->logits_bias);
    return GANZ_OK;
}

static ganz_status read_vocab(ganz_draft *d, int side, const char *name, ganz_error *err)
{
    ganz_bytes bytes;
    ganz_words *const words = &d->side[side].words;
    const size_t n = strlen(name);
    GANZ_TRY(ganz_files_get(d->files, name, &bytes, err));
    const char *const text = (const char *)bytes.data;
    if (n > 4 && (strcmp(name + n - 4, ".yml") == 0 || strcmp(name + n - 5, ".yaml") == 0))
        return ganz_words_yaml(words, text, bytes.bytes, name, err);
    if (n > 5 && strcmp(name + n - 5, ".json") == 0) return ganz_words_json(words, text, bytes.bytes, name, err);
    return ganz_words_lines(words, text, bytes.bytes, false, 0, name, err);
}

static ganz_status order_side(ganz_draft *d, int side, int table, ganz_error *err)
{
    const ganz_foreign *const t = d->table[table].tensor;
    if (t->rank != 2 || t->dims[0] > GANZ_WORDS_MOST)
        return ganz_fail(err, GANZ_EFORMAT, "tensor %.80s is no table", t->name);
    GANZ_TRY(ganz_draft_marks(d, side, err));
    return ganz_draft_order(&d->side[side], (int)t->dims[0], err);
}

/* The pieces of a SentencePiece model by their numbers. */
static ganz_status read_pieces(ganz_draft *d, int side, const char *name, ganz_error *err)
{
    ganz_draft_side *const s = &d->side[side];
    ganz_spm *spm;
    GANZ_TRY(ganz_files_get(d->files, name, &s->spm, err));
    GANZ_TRY(ganz_spm_open(&spm, s->spm.data, s->spm.bytes, name, err));
    ganz_status status = ganz_words_reserve(&s->words, s->spm.bytes + spm->count, name, err);
    for (size_t i = 0; i < spm->count && status == GANZ_OK; i++)
        status = ganz_words_copy(&s->words, (int)i, spm->pieces[i].text, spm->pieces[i].bytes, name, err);
    s->eos = spm->end;
    s->unk = spm->unknown;
    ganz_spm_close(&spm);
    return status;
}

/* Firefox's models have SentencePiece models for vocabularies: one, or one for each side. */
static ganz_status read_spm_entries(ganz_draft *d, bool *found, ganz_error *err)
{
    const char *shared = ganz_files_starting(d->files, "vocab.", ".spm"),
               *const source = ganz_files_starting(d->files, "srcvocab.", ".spm"),
               *const target = ganz_files_starting(d->files, "trgvocab.", ".spm");
    *found = shared || (source && target);
    if (!*found) return GANZ_OK;
    if (!shared) GANZ_TRY(read_pieces(d, GANZ_DRAFT_SOURCE, source, err));
    if (!shared) GANZ_TRY(order_side(d, GANZ_DRAFT_SOURCE, GANZ_DRAFT_SOURCE, err));
    GANZ_TRY(read_pieces(d, GANZ_DRAFT_TARGET, shared ? shared : target, err));
    if (shared) d->side[GANZ_DRAFT_SOURCE].spm = d->side[GANZ_DRAFT_TARGET].spm;
    return order_side(d, GANZ_DRAFT_TARGET, GANZ_DRAFT_TARGET, err);
}

static ganz_status read_entries(ganz_draft *d, ganz_error *err)
{
    bool found;
    GANZ_TRY(read_spm_entries(d, &found, err));
    if (found) return GANZ_OK;
    static const char *const endings[][2] = {{"src.vocab.yml", "trg.vocab.yml"}, {"src.vocab", "trg.vocab"}};
    for (size_t i = 0; i < GANZ_COUNT(endings); i++) {
        const char *const source = ganz_files_ending(d->files, endings[i][0]), *const target = ganz_files_ending(
                                                                                   d->files, endings[i][1]);
        if (!source || !target) continue;
        GANZ_TRY(read_vocab(d, GANZ_DRAFT_SOURCE, source, err));
        GANZ_TRY(read_vocab(d, GANZ_DRAFT_TARGET, target, err));
        GANZ_TRY(order_side(d, GANZ_DRAFT_SOURCE, GANZ_DRAFT_SOURCE, err));
        return order_side(d, GANZ_DRAFT_TARGET, GANZ_DRAFT_TARGET, err);
    }
    const char *shared = ganz_files_ending(d->files, "vocab.yml");
    if (!shared) shared = ganz_files_ending(d->files, "vocab.json");
    if (!shared) return ganz_fail(err, GANZ_EFORMAT, "%s: there is no *vocab.yml beside it", ganz_files_name(d->files));
    GANZ_TRY(read_vocab(d, GANZ_DRAFT_TARGET, shared, err));
    return order_side(d, GANZ_DRAFT_TARGET, GANZ_DRAFT_TARGET, err);
}

/* decoder.yml beside the model says how it is to be searched. */
static ganz_status read_search(ganz_draft *d, ganz_error *err)
{
    ganz_bytes bytes;
    d->penalty = 1;
    if (!ganz_files_have(d->files, "decoder.yml")) return GANZ_OK;
    ganz_options o = {0};
    GANZ_TRY(ganz_files_get(d->files, "decoder.yml", &bytes, err));
    ganz_status status = ganz_options_yaml(&o, (const char *)bytes.data, bytes.bytes, "decoder.yml", err);
    if (status == GANZ_OK) status = ganz_options_int(&o, "beam-size", 0, &d->beam, err);
    if (status == GANZ_OK) status = ganz_options_real(&o, "normalize", 1, &d->penalty, err);
    ganz_options_close(&o);
    return status;
}

ganz_status ganz_draft_marian(ganz_draft *d, const char *file, ganz_error *err)
{
    const size_t n = strlen(file);
    const bool npz = n > 4 && strcmp(file + n - 4, ".npz") == 0;
    ganz_bytes bytes;
    d->family = npz ? "Marian (.npz)" : "Marian (.bin)";
    d->naming = &ganz_naming_marian;
    GANZ_TRY(ganz_files_get(d->files, file, &bytes, err));
    GANZ_TRY(npz ? ganz_read_npz(&d->tensors, bytes.data, bytes.bytes, file, err)
                 : ganz_read_marian(&d->tensors, bytes.data, bytes.bytes, file, err));
    GANZ_TRY(read_options(d, err));
    GANZ_TRY(read_config(d, err));
    GANZ_TRY(find_tables(d, err));
    GANZ_TRY(read_entries(d, err));
    if (!d->side[GANZ_DRAFT_SOURCE].spm.data) GANZ_TRY(ganz_draft_spm(d, err));
    ganz_draft_tie(d);
    ganz_draft_set_biases(d);
    return read_search(d, err);
}
