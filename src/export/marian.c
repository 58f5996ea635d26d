/* A model as a folder of Marian: model.npz with its options inside, vocabularies in YAML, SentencePiece models, and
 * decoder.yml for the search. Padding is left out, as Marian has none. Positions are always Marian's own formula, by
 * which models of the OPUS project were trained, whatever road they came by. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/surroundings.h"
#include "export/folder.h"
#include "export/npz.h"
#include "export/outline.h"
#include "ganz/export.h"

enum { OPTIONS = 4096 };

typedef ganz_outline job;

/* ---- what can be said there --------------------------------------------------------------------- */

static ganz_status refuse(const job *j, const char *what)
{
    return ganz_fail(j->err, GANZ_EUNSUPPORTED, "Marian has no %s", what);
}

static ganz_status look(job *j)
{
    const ganz_net *const net = &j->model->net;
    const ganz_config *const c = &net->config;
    const double root = sqrt((double)c->width);
    GANZ_TRY(ganz_outline_model(j, GANZ_PADDING_NONE, "Marian"));
    if (net->target_space >= 0) return refuse(j, "target space: --to hf or --to ctranslate2 can express this model");
    if (!ganz_export_part(j->model->vocab, "pieces").data)
        return refuse(j, "subwords of Tensor2Tensor's kind: --to hf or --to ctranslate2 can express this model");
    if (net->start >= 0) return refuse(j, "decoder that begins with a vector of its own");
    if (c->first_position != 0) return refuse(j, "positions that begin with another number than 0");
    if (c->activation == GANZ_ACTIVATION_GELU) return refuse(j, "gelu but the one by a sigmoid");
    if (fabs(c->embedding_scale - root) > 1e-6 * root)
        return refuse(j, "embeddings with another factor than sqrt(width)");
    return GANZ_OK;
}

/* ---- tensors ------------------------------------------------------------------------------------ */

static ganz_status list_tables(const job *j, ganz_arrays *a)
{
    const ganz_net *const net = &j->model->net;
    const ganz_row_order *const source = &j->order[GANZ_SOURCE], *const target = &j->order[GANZ_TARGET];
    if (j->own_source) GANZ_TRY(ganz_arrays_table(a, "encoder_Wemb", net->source_embedding, source));
    GANZ_TRY(ganz_arrays_table(a, j->own_source ? "decoder_Wemb" : "Wemb", net->embedding, target));
    if (j->own_output) GANZ_TRY(ganz_arrays_table(a, "decoder_ff_logit_out_Wt", net->logits->weight, target));
    return ganz_arrays_logits_bias(a, "decoder_ff_logit_out_b", target);
}

/* Norms before sublayers have names of their own; those at the end of a stack do not. */
static void rename_norms(const job *j, ganz_arrays *a)
{
    for (int i = 0; i < a->count && j->model->net.config.norm == GANZ_NORM_PRE; i++) {
        char *const name = a->list[i].name;
        const size_t n = strlen(name);
        if (strstr(name, "_ln_") && !strstr(name, "_top_")) snprintf(name + n, sizeof a->list[i].name - n, "_pre");
    }
}

static const char *flag(bool value) { return value ? "true" : "false"; }

static int write_options(const job *j, char text[OPTIONS])
{
    static const char *const activations[] = {
        [GANZ_ACTIVATION_RELU] = "relu", [GANZ_ACTIVATION_SWISH] = "swish", [GANZ_ACTIVATION_GELU_SIGMOID] = "gelu"};
    const ganz_config *const c = &j->model->net.config;
    const bool pre = c->norm == GANZ_NORM_PRE, all = !j->own_source && !j->own_output;
    return snprintf(
        text, OPTIONS,
        "type: transformer\ndim-vocabs:\n  - %d\n  - %d\ndim-emb: %d\ntransformer-dim-ffn: %d\n"
        "transformer-heads: %d\nenc-depth: %d\ndec-depth: %d\ntransformer-preprocess: \"%s\"\n"
        "transformer-postprocess: %s\ntransformer-postprocess-top: \"%s\"\ntransformer-postprocess-emb: d\n"
        "transformer-ffn-activation: %s\ntransformer-ffn-depth: 2\ntransformer-decoder-autoreg: %s\n"
        "dec-cell: %s\ndec-cell-base-depth: 2\ndec-cell-high-depth: 1\ntied-embeddings-all: %s\n"
        "tied-embeddings-src: %s\ntied-embeddings: %s\ntransformer-tied-layers:\n  []\ninput-types:\n  []\n"
        "transformer-no-projection: false\ntransformer-train-position-embeddings: false\n"
        "transformer-decoder-dim-ffn: 0\ntransformer-decoder-ffn-depth: 0\ntransformer-aan-depth: 2\n"
        "transformer-dim-aan: 2048\ntransformer-aan-activation: swish\ntransformer-aan-nogate: false\n"
        "transformer-rnn-projection: false\ntransformer-no-bias: false\ntransformer-no-affine: false\n"
        "transformer-guided-alignment-layer: last\ntransformer-pool: false\ntransformer-depth-scaling: false\n"
        "layer-normalization: false\nlemma-dim-emb: 0\nlemma-dependency: \"\"\nfactors-combine: sum\n"
        "factors-dim-emb: 0\nulr: false\nright-left: false\nskip: false\noutput-omit-bias: false\nversion: v1.12.0\n",
        j->order[GANZ_SOURCE].count, j->order[GANZ_TARGET].count, c->width, c->ffn, c->heads, c->encoder_layers,
        c->decoder_layers, pre ? "n" : "", pre ? "da" : "dan", pre ? "n" : "", activations[c->activation],
        c->recurrent ? "rnn" : "self-attention", c->recurrent ? "ssru" : "gru", flag(all), flag(!j->own_source),
        flag(!j->own_output));
}

static ganz_status add_options(const job *j, ganz_npz *npz)
{
    char text[OPTIONS];
    const ganz_npy array = {.type = GANZ_NPY_I8, .rank = 1, .dims = {write_options(j, text) + 1}, .data = text};
    return ganz_npz_add(npz, "special:model.yml", &array, j->err);
}

static ganz_status add_array(const job *j, const ganz_arrays *a, const ganz_array *what, ganz_npz *npz)
{
    float *values;
    GANZ_TRY(ganz_array_values(a, what, &values));
    const ganz_npy array = {.type = GANZ_NPY_F32, .rank = 2, .dims = {what->rows, what->cols}, .data = values};
    const ganz_status status = ganz_npz_add(npz, what->name, &array, j->err);
    ganz_free(values);
    return status;
}

static ganz_status write_archive(const job *j, const ganz_arrays *a)
{
    char path[GANZ_EXPORT_PATH];
    ganz_npz *npz;
    snprintf(path, sizeof path, "%s/model.npz", j->folder);
    ganz_status status = ganz_npz_open(&npz, path, j->err);
    for (int i = 0; i < a->count && status == GANZ_OK; i++) status = add_array(j, a, &a->list[i], npz);
    if (status == GANZ_OK) status = add_options(j, npz);
    if (status == GANZ_OK) status = ganz_npz_finish(&npz, j->err);
    ganz_npz_abandon(&npz);
    return status;
}

static ganz_status write_tensors(const job *j)
{
    ganz_arrays a = {.model = j->model, .naming = &ganz_naming_marian, .vector_rank = 2, .err = j->err};
    ganz_status status = list_tables(j, &a);
    if (status == GANZ_OK) status = ganz_arrays_layers(&a);
    rename_norms(j, &a);
    if (status == GANZ_OK) status = write_archive(j, &a);
    ganz_arrays_close(&a);
    return status;
}

/* ---- text --------------------------------------------------------------------------------------- */

/* "entry": number, each on its line; quoted as in JSON, which is YAML. */
static ganz_status write_entries(const job *j, ganz_side side, const char *name)
{
    ganz_export_entries entries;
    ganz_json_writer yaml = {0};
    GANZ_TRY(ganz_export_entries_open(&entries, j->model->vocab, side, j->err));
    for (int i = 0; i < j->order[side].count; i++) {
        ganz_json_put_text(&yaml, "", entries.texts[ganz_row_of(&j->order[side], i)]);
        ganz_json_put(&yaml, ": ");
        ganz_json_put_int(&yaml, i);
        ganz_json_put(&yaml, "\n");
    }
    ganz_export_entries_close(&entries);
    return ganz_export_json(j->folder, name, &yaml, j->err);
}

static ganz_status write_text(const job *j)
{
    const bool two = j->own_source; /* Marian counts entries by its tables */
    GANZ_TRY(ganz_export_tokenizers(j->folder, j->model->vocab, false, j->err));
    if (!two) return write_entries(j, GANZ_TARGET, "vocab.yml");
    GANZ_TRY(write_entries(j, GANZ_SOURCE, "src.vocab.yml"));
    return write_entries(j, GANZ_TARGET, "trg.vocab.yml");
}

static ganz_status write_search(const job *j)
{
    const ganz_model_search *const s = &j->model->info.search;
    char text[512];
    const int n = snprintf(text, sizeof text,
                           "relative-paths: true\nmodels:\n  - model.npz\nvocabs:\n  - %s\n  - %s\nbeam-size: %d\n"
                           "normalize: %.9g\nword-penalty: 0\n",
                           j->own_source ? "src.vocab.yml" : "vocab.yml", j->own_source ? "trg.vocab.yml" : "vocab.yml",
                           s->beam > 0 ? s->beam : 4, s->by_length && s->has_alpha ? s->alpha : 1.0);
    return ganz_export_file(j->folder, "decoder.yml", text, (size_t)n, j->err);
}

static ganz_status write_all(void *context, ganz_error *err)
{
    const job *const j = context;
    GANZ_TRY(write_tensors(j));
    GANZ_TRY(write_text(j));
    GANZ_TRY(ganz_export_card(j->folder, j->model, err));
    return write_search(j);
}

ganz_status ganz_export_npz(const ganz_model *model, const char *folder, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    job j = {.model = model, .folder = folder, .err = err};
    GANZ_TRY(look(&j));
    return ganz_export_folder(folder, write_all, &j, err);
}
