/* A model as a folder of Hugging Face: config.json, model.safetensors, what a tokenizer needs. Networks with norms
 * behind sublayers are MarianMT there, those with norms before them Pegasus: both take tables of positions from the
 * file, so that the target space can be a part of the encoder's. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/surroundings.h"
#include "export/folder.h"
#include "export/outline.h"
#include "ganz/export.h"

typedef ganz_outline job;

/* ---- what can be said there --------------------------------------------------------------------- */

static ganz_status refuse(const job *j, const char *what)
{
    return ganz_fail(j->err, GANZ_EUNSUPPORTED, "transformers has no %s", what);
}

static bool is_pegasus(const job *j) { return j->model->net.config.norm == GANZ_NORM_PRE; }

static bool scale_is(const ganz_config *c, double scale) { return fabs(c->embedding_scale - scale) <= 1e-6 * scale; }

static bool scales_embeddings(const job *j)
{
    return scale_is(&j->model->net.config, sqrt((double)j->model->net.config.width));
}

static ganz_status look(job *j)
{
    const ganz_config *const c = &j->model->net.config;
    GANZ_TRY(ganz_outline_model(j, is_pegasus(j) ? GANZ_PADDING_FIRST : GANZ_PADDING_LAST, "MarianTokenizer"));
    if (c->recurrent) return refuse(j, "recurrent decoders");
    if (is_pegasus(j) && j->own_source) return refuse(j, "class with norms before sublayers and a table for each side");
    if (!scales_embeddings(j) && !scale_is(c, 1))
        return refuse(j, "embeddings with a factor other than sqrt(width) or 1");
    return GANZ_OK;
}

/* MarianMT makes its table by the formula of its own; Pegasus has the same one, but wants it in the file. */
static bool writes_positions(const job *j)
{
    const ganz_net *const net = &j->model->net;
    return is_pegasus(j) || net->config.timing != GANZ_TIMING_HALF || net->config.first_position != 0 ||
           net->target_space >= 0;
}

static int positions_of(const job *j) { return j->model->info.config.max_positions; }

/* ---- tensors ------------------------------------------------------------------------------------ */

/* Tables that are one there have one name; where the output is untied all names are said. */
static ganz_status list_tables(const job *j, ganz_arrays *a)
{
    const ganz_net *const net = &j->model->net;
    const ganz_row_order *const source = &j->order[GANZ_SOURCE], *const target = &j->order[GANZ_TARGET];
    if (!j->own_source) GANZ_TRY(ganz_arrays_table(a, "model.shared.weight", net->embedding, target));
    if (j->own_source || j->own_output) {
        GANZ_TRY(ganz_arrays_table(a, "model.encoder.embed_tokens.weight", net->source_embedding, source));
        GANZ_TRY(ganz_arrays_table(a, "model.decoder.embed_tokens.weight", net->embedding, target));
    }
    if (j->own_output) GANZ_TRY(ganz_arrays_table(a, "lm_head.weight", net->logits->weight, target));
    return ganz_arrays_logits_bias(a, "final_logits_bias", target);
}

static ganz_status list_tensors(const job *j, ganz_arrays *a)
{
    static const char *const positions[] = {"model.encoder.embed_positions.weight",
                                            "model.decoder.embed_positions.weight"};
    GANZ_TRY(list_tables(j, a));
    for (int i = 0; i < 2 && writes_positions(j); i++)
        GANZ_TRY(ganz_arrays_positions(a, positions[i], i, positions_of(j)));
    return ganz_arrays_layers(a);
}

static ganz_status declare(const job *j, const ganz_arrays *a, ganz_writer *writer)
{
    GANZ_TRY(ganz_writer_text(writer, "format", "pt", j->err));
    for (int i = 0; i < a->count; i++) {
        const ganz_array *const what = &a->list[i];
        const int64_t dims[] = {what->rank == 2 ? what->rows : what->cols, what->cols};
        GANZ_TRY(ganz_writer_declare(writer, what->name, GANZ_DTYPE_F32, what->rank, dims, j->err));
    }
    return GANZ_OK;
}

static ganz_status write_data(const job *j, const ganz_arrays *a, ganz_writer *writer)
{
    for (int i = 0; i < a->count; i++) {
        const ganz_array *const what = &a->list[i];
        float *values;
        GANZ_TRY(ganz_array_values(a, what, &values));
        const size_t bytes = (size_t)what->rows * (size_t)what->cols * sizeof *values;
        const ganz_status status = ganz_writer_write(writer, values, bytes, j->err);
        ganz_free(values);
        GANZ_TRY(status);
    }
    return GANZ_OK;
}

static ganz_status write_tensors(const job *j)
{
    char path[GANZ_EXPORT_PATH];
    ganz_writer *writer = NULL;
    ganz_arrays a = {.model = j->model, .naming = &ganz_naming_huggingface, .vector_rank = 1, .err = j->err};
    snprintf(path, sizeof path, "%s/model.safetensors", j->folder);
    ganz_status status = list_tensors(j, &a);
    if (status == GANZ_OK) status = ganz_writer_open(&writer, path, false, j->err);
    if (status == GANZ_OK) status = declare(j, &a, writer);
    if (status == GANZ_OK) status = write_data(j, &a, writer);
    if (status == GANZ_OK) status = ganz_writer_finish(&writer, j->err);
    ganz_writer_abandon(&writer);
    ganz_arrays_close(&a);
    return status;
}

/* ---- configuration ------------------------------------------------------------------------------ */

static void put_key(ganz_json_writer *json, const char *key)
{
    ganz_json_put(json, json->bytes == 0 ? "{\n  " : ",\n  ");
    ganz_json_put_text(json, "", key);
    ganz_json_put(json, ": ");
}

static void put_int(ganz_json_writer *json, const char *key, long long value)
{
    put_key(json, key);
    ganz_json_put_int(json, value);
}

static void put_flag(ganz_json_writer *json, const char *key, bool value)
{
    put_key(json, key);
    ganz_json_put(json, value ? "true" : "false");
}

static void put_text(ganz_json_writer *json, const char *key, const char *value)
{
    put_key(json, key);
    ganz_json_put_text(json, "", value);
}

static int pad_of(const job *j) { return is_pegasus(j) ? GANZ_PAD : j->order[GANZ_TARGET].pad; }
static int end_of(const job *j) { return is_pegasus(j) ? GANZ_EOS : 0; }

static void put_marks(const job *j, ganz_json_writer *json)
{
    put_int(json, "pad_token_id", pad_of(j));
    put_int(json, "eos_token_id", end_of(j));
    put_int(json, "decoder_start_token_id", pad_of(j));
    put_int(json, "forced_eos_token_id", end_of(j));
}

static ganz_status write_config(const job *j)
{
    static const char *const activations[] = {[GANZ_ACTIVATION_RELU] = "relu",
                                              [GANZ_ACTIVATION_SWISH] = "swish",
                                              [GANZ_ACTIVATION_GELU] = "gelu",
                                              [GANZ_ACTIVATION_GELU_SIGMOID] = "quick_gelu"};
    const ganz_config *const c = &j->model->net.config;
    const struct {
        const char *key;
        long long value;
    } numbers[] = {{"d_model", c->width},
                   {"encoder_layers", c->encoder_layers},
                   {"decoder_layers", c->decoder_layers},
                   {"encoder_attention_heads", c->heads},
                   {"decoder_attention_heads", c->heads},
                   {"encoder_ffn_dim", c->ffn},
                   {"decoder_ffn_dim", c->ffn},
                   {"max_position_embeddings", positions_of(j)},
                   {"vocab_size", j->order[GANZ_SOURCE].count},
                   {"decoder_vocab_size", j->order[GANZ_TARGET].count}};
    ganz_json_writer json = {0};
    put_key(&json, "architectures");
    ganz_json_put(&json, is_pegasus(j) ? "[\"PegasusForConditionalGeneration\"]" : "[\"MarianMTModel\"]");
    put_text(&json, "model_type", is_pegasus(j) ? "pegasus" : "marian");
    for (size_t i = 0; i < GANZ_COUNT(numbers); i++) put_int(&json, numbers[i].key, numbers[i].value);
    put_text(&json, "activation_function", activations[c->activation]);
    put_flag(&json, "scale_embedding", scales_embeddings(j));
    put_flag(&json, "share_encoder_decoder_embeddings", !j->own_source);
    put_flag(&json, "tie_word_embeddings", !j->own_output);
    put_flag(&json, "is_encoder_decoder", true);
    put_marks(j, &json);
    put_text(&json, "dtype", "float32");
    ganz_json_put(&json, "\n}\n");
    return ganz_export_json(j->folder, "config.json", &json, j->err);
}

/* Padding is never said, and has no part in the sum of all probabilities. */
static ganz_status write_generation(const job *j)
{
    const ganz_model_search *const s = &j->model->info.search;
    ganz_json_writer json = {0};
    char text[64];
    put_marks(j, &json);
    put_int(&json, "max_length", positions_of(j));
    put_int(&json, "num_beams", s->beam > 0 ? s->beam : 4);
    snprintf(text, sizeof text, "%.9g", s->by_length && s->has_alpha ? s->alpha : 1.0);
    put_key(&json, "length_penalty");
    ganz_json_put(&json, text);
    snprintf(text, sizeof text, "[[%d]]", pad_of(j));
    put_key(&json, "bad_words_ids");
    ganz_json_put(&json, text);
    put_flag(&json, "renormalize_logits", true);
    ganz_json_put(&json, "\n}\n");
    return ganz_export_json(j->folder, "generation_config.json", &json, j->err);
}

/* ---- text --------------------------------------------------------------------------------------- */

static ganz_status write_entries(const job *j, ganz_side side, const char *name)
{
    ganz_export_entries entries;
    ganz_json_writer json = {0};
    GANZ_TRY(ganz_export_entries_open(&entries, j->model->vocab, side, j->err));
    for (int i = 0; i < entries.count; i++) put_int(&json, entries.texts[ganz_row_of(&j->order[side], i)], i);
    ganz_json_put(&json, "\n}\n");
    const bool any = entries.count > 0;
    ganz_export_entries_close(&entries);
    if (any) return ganz_export_json(j->folder, name, &json, j->err);
    ganz_free(json.data);
    return GANZ_OK;
}

static ganz_status write_tokenizer(const job *j)
{
    const ganz_model_info *const info = &j->model->info;
    ganz_json_writer json = {0};
    put_text(&json, "tokenizer_class", "MarianTokenizer");
    if (info->source_language) put_text(&json, "source_lang", info->source_language);
    if (info->target_language) put_text(&json, "target_lang", info->target_language);
    put_text(&json, "eos_token", "</s>");
    put_text(&json, "unk_token", "<unk>");
    put_text(&json, "pad_token", "<pad>");
    put_flag(&json, "separate_vocabs", j->two_lists);
    put_int(&json, "model_max_length", positions_of(j));
    ganz_json_put(&json, "\n}\n");
    return ganz_export_json(j->folder, "tokenizer_config.json", &json, j->err);
}

/* Subwords of ganz have no tokenizer there: their file is all that can be given. */
static ganz_status write_text(const job *j)
{
    GANZ_TRY(ganz_export_tokenizers(j->folder, j->model->vocab, true, j->err));
    if (!ganz_export_part(j->model->vocab, "pieces").data) return GANZ_OK;
    GANZ_TRY(write_entries(j, j->two_lists ? GANZ_SOURCE : GANZ_TARGET, "vocab.json"));
    if (j->two_lists) GANZ_TRY(write_entries(j, GANZ_TARGET, "target_vocab.json"));
    return write_tokenizer(j);
}

static ganz_status write_all(void *context, ganz_error *err)
{
    const job *const j = context;
    GANZ_TRY(write_tensors(j));
    GANZ_TRY(write_text(j));
    GANZ_TRY(ganz_export_card(j->folder, j->model, err));
    GANZ_TRY(write_generation(j));
    return write_config(j);
}

ganz_status ganz_export_huggingface(const ganz_model *model, const char *folder, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    job j = {.model = model, .folder = folder, .err = err};
    GANZ_TRY(look(&j));
    return ganz_export_folder(folder, write_all, &j, err);
}
