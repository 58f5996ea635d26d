/* Configurations in the metadata of model files: the network's, and how it wants to be searched. Keys of switches are
 * written only where a network differs from Tensor2Tensor's, so that files of such networks stay as older programs know
 * them. */
#include <string.h>

#include "model/model.h"

static const char *const activations[] = {[GANZ_ACTIVATION_RELU] = "relu",
                                          [GANZ_ACTIVATION_SWISH] = "swish",
                                          [GANZ_ACTIVATION_GELU] = "gelu",
                                          [GANZ_ACTIVATION_GELU_SIGMOID] = "gelu-sigmoid"};

const char *ganz_activation_name(ganz_activation activation) { return activations[activation]; }

void ganz_attention_bias_names(const ganz_config *c, char text[8])
{
    const bool have[] = {c->q_bias, c->k_bias, c->v_bias, c->o_bias};
    size_t n = 0;
    for (int i = 0; i < 4; i++) {
        if (!have[i]) continue;
        if (n > 0) text[n++] = ' ';
        text[n++] = "qkvo"[i];
    }
    text[n] = '\0';
}

/* ---- writing ------------------------------------------------------------------------------------ */

static ganz_status write_flag(ganz_writer *w, bool said, const char *key, const char *value, ganz_error *err)
{
    return said ? ganz_writer_text(w, key, value, err) : GANZ_OK;
}

static ganz_status write_switches(ganz_writer *w, const ganz_config *config, ganz_error *err)
{
    const ganz_config c = ganz_config_complete(config);
    const ganz_config plain = ganz_config_complete(&(ganz_config){.width = c.width});
    char biases[8];
    ganz_attention_bias_names(&c, biases);
    GANZ_TRY(write_flag(w, c.norm == GANZ_NORM_POST, "norm", "post", err));
    if (c.norm_epsilon != plain.norm_epsilon) GANZ_TRY(ganz_writer_real(w, "norm_epsilon", c.norm_epsilon, err));
    GANZ_TRY(write_flag(w, c.activation != plain.activation, "activation", activations[c.activation], err));
    GANZ_TRY(write_flag(w, biases[0], "attention_bias", biases, err));
    GANZ_TRY(write_flag(w, c.timing == GANZ_TIMING_HALF, "positions", "half", err));
    if (c.first_position > 0) GANZ_TRY(ganz_writer_int(w, "first_position", c.first_position, err));
    if (c.embedding_scale != plain.embedding_scale)
        GANZ_TRY(ganz_writer_real(w, "embedding_scale", c.embedding_scale, err));
    if (c.source_vocab > 0) GANZ_TRY(ganz_writer_int(w, "source_vocab_size", c.source_vocab, err));
    GANZ_TRY(write_flag(w, c.own_output, "output", "own", err));
    GANZ_TRY(write_flag(w, c.logits_bias, "logits_bias", "true", err));
    GANZ_TRY(write_flag(w, c.start_vector, "start", "vector", err));
    GANZ_TRY(write_flag(w, c.recurrent, "decoder", "ssru", err));
    return write_flag(w, c.no_target_space, "target_space", "none", err);
}

ganz_status ganz_model_write_config(ganz_writer *w, const ganz_config *c, ganz_error *err)
{
    GANZ_TRY(ganz_writer_int(w, "width", c->width, err));
    GANZ_TRY(ganz_writer_int(w, "ffn", c->ffn, err));
    GANZ_TRY(ganz_writer_int(w, "heads", c->heads, err));
    GANZ_TRY(ganz_writer_int(w, "encoder_layers", c->encoder_layers, err));
    GANZ_TRY(ganz_writer_int(w, "decoder_layers", c->decoder_layers, err));
    GANZ_TRY(ganz_writer_int(w, "vocab_size", c->vocab, err));
    GANZ_TRY(ganz_writer_int(w, "max_positions", c->max_positions, err));
    return write_switches(w, c, err);
}

/* ---- reading ------------------------------------------------------------------------------------ */

static ganz_status read_number(const ganz_container *file, const char *key, int64_t most, int *value, ganz_error *err)
{
    int64_t number;
    GANZ_TRY(ganz_container_get_int(file, key, 1, most, &number, err));
    *value = (int)number;
    return GANZ_OK;
}

/* Place of a word among `count`; missing: the first. */
static ganz_status read_choice(const ganz_container *file, const char *key, const char *const *words, int count,
                               int *choice, ganz_error *err)
{
    const char *const text = ganz_container_text(file, key);
    for (*choice = 0; text && *choice < count; ++*choice)
        if (strcmp(text, words[*choice]) == 0) return GANZ_OK;
    if (!text) return GANZ_OK;
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: this build knows no %s \"%.40s\"", ganz_container_name(file), key,
                     text);
}

static ganz_status read_switch(const ganz_container *file, const char *key, const char *off, const char *on,
                               bool *is_on, ganz_error *err)
{
    const char *const words[] = {off, on};
    int choice;
    GANZ_TRY(read_choice(file, key, words, 2, &choice, err));
    *is_on = choice == 1;
    return GANZ_OK;
}

static ganz_status read_biases(const ganz_container *file, ganz_config *c, ganz_error *err)
{
    const char *const text = ganz_container_text(file, "attention_bias");
    bool *const have[] = {&c->q_bias, &c->k_bias, &c->v_bias, &c->o_bias};
    for (const char *at = text; at && *at; at++) {
        const char *const letter = strchr("qkvo", *at);
        if (letter) *have[letter - "qkvo"] = true;
        else if (*at != ' ')
            return ganz_fail(err, GANZ_EFORMAT, "%s: attention_bias is \"%.40s\", not some of q k v o",
                             ganz_container_name(file), text);
    }
    return GANZ_OK;
}

/* A number that may be missing: then it stays 0, which means the usual one. */
static ganz_status read_real(const ganz_container *file, const char *key, double *value, ganz_error *err)
{
    if (!ganz_container_text(file, key)) return GANZ_OK;
    GANZ_TRY(ganz_container_get_real(file, key, value, err));
    if (*value > 0) return GANZ_OK;
    return ganz_fail(err, GANZ_EFORMAT, "%s: %s must be more than 0, not %g", ganz_container_name(file), key, *value);
}

static ganz_status read_switches(const ganz_container *file, ganz_config *c, ganz_error *err)
{
    bool post, half;
    int activation;
    GANZ_TRY(read_switch(file, "norm", "pre", "post", &post, err));
    GANZ_TRY(read_real(file, "norm_epsilon", &c->norm_epsilon, err));
    GANZ_TRY(read_choice(file, "activation", activations + 1, (int)GANZ_COUNT(activations) - 1, &activation, err));
    GANZ_TRY(read_biases(file, c, err));
    GANZ_TRY(read_switch(file, "positions", "t2t", "half", &half, err));
    if (ganz_container_text(file, "first_position"))
        GANZ_TRY(read_number(file, "first_position", INT32_MAX, &c->first_position, err));
    GANZ_TRY(read_real(file, "embedding_scale", &c->embedding_scale, err));
    if (ganz_container_text(file, "source_vocab_size"))
        GANZ_TRY(read_number(file, "source_vocab_size", INT32_MAX, &c->source_vocab, err));
    GANZ_TRY(read_switch(file, "output", "shared", "own", &c->own_output, err));
    GANZ_TRY(read_switch(file, "logits_bias", "false", "true", &c->logits_bias, err));
    GANZ_TRY(read_switch(file, "start", "zero", "vector", &c->start_vector, err));
    GANZ_TRY(read_switch(file, "decoder", "attention", "ssru", &c->recurrent, err));
    c->norm = post ? GANZ_NORM_POST : GANZ_NORM_PRE;
    c->timing = half ? GANZ_TIMING_HALF : GANZ_TIMING_T2T;
    if (activation > 0) c->activation = (ganz_activation)(GANZ_ACTIVATION_RELU + activation);
    return read_switch(file, "target_space", "learned", "none", &c->no_target_space, err);
}

ganz_status ganz_model_read_config(const ganz_container *file, ganz_config *c, ganz_error *err)
{
    *c = (ganz_config){0};
    GANZ_TRY(read_number(file, "width", INT32_MAX, &c->width, err));
    GANZ_TRY(read_number(file, "ffn", INT32_MAX, &c->ffn, err));
    GANZ_TRY(read_number(file, "heads", INT32_MAX, &c->heads, err));
    GANZ_TRY(read_number(file, "encoder_layers", INT32_MAX, &c->encoder_layers, err));
    GANZ_TRY(read_number(file, "decoder_layers", INT32_MAX, &c->decoder_layers, err));
    GANZ_TRY(read_number(file, "vocab_size", INT32_MAX, &c->vocab, err));
    GANZ_TRY(read_number(file, "max_positions", GANZ_MODEL_POSITIONS, &c->max_positions, err));
    GANZ_TRY(read_switches(file, c, err));
    ganz_error why;
    if (ganz_config_check(c, &why) == GANZ_OK) return GANZ_OK;
    return ganz_fail(err, GANZ_EFORMAT, "%s: %s", ganz_container_name(file), why.message);
}

/* ---- search ------------------------------------------------------------------------------------- */

enum { MOST_BEAM = 64, MOST_ALPHA = 10 };

ganz_status ganz_model_write_search(ganz_writer *w, const ganz_model_search *s, ganz_error *err)
{
    if (s->beam > 0) GANZ_TRY(ganz_writer_int(w, "beam", s->beam, err));
    if (s->has_alpha) GANZ_TRY(ganz_writer_real(w, "alpha", s->alpha, err));
    return write_flag(w, s->by_length, "penalty", "length", err);
}

ganz_status ganz_model_read_search(const ganz_container *file, ganz_model_search *s, ganz_error *err)
{
    *s = (ganz_model_search){.has_alpha = ganz_container_text(file, "alpha")};
    if (ganz_container_text(file, "beam")) GANZ_TRY(read_number(file, "beam", MOST_BEAM, &s->beam, err));
    if (s->has_alpha) GANZ_TRY(ganz_container_get_real(file, "alpha", &s->alpha, err));
    if (!(s->alpha >= 0 && s->alpha <= MOST_ALPHA))
        return ganz_fail(err, GANZ_EFORMAT, "%s: alpha must be 0 to %d, not %g", ganz_container_name(file), MOST_ALPHA,
                         s->alpha);
    return read_switch(file, "penalty", "t2t", "length", &s->by_length, err);
}
