/* Configurations: limits, standard values, comparison. */
#include "nn/config.h"

#include <math.h>

enum {
    MAX_WIDTH = 8192,
    MAX_FFN = 65536,
    MAX_LAYERS = 64,
    MAX_VOCAB = 1 << 20,
    MAX_POSITIONS = 1 << 16,
    MAX_FIRST = 16
};

static ganz_status in_range(const char *what, int value, int low, int high, ganz_error *err)
{
    if (value >= low && value <= high) return GANZ_OK;
    return ganz_fail(err, GANZ_EINVAL, "%s must be %d to %d, not %d", what, low, high, value);
}

static ganz_status check_kind(const ganz_config *c, ganz_error *err)
{
    GANZ_TRY(in_range("place of norms", (int)c->norm, GANZ_NORM_PRE, GANZ_NORM_POST, err));
    GANZ_TRY(in_range("activation", (int)c->activation, 0, GANZ_ACTIVATIONS - 1, err));
    GANZ_TRY(in_range("positions", (int)c->timing, GANZ_TIMING_T2T, GANZ_TIMING_HALF, err));
    GANZ_TRY(in_range("first position", c->first_position, 0, MAX_FIRST, err));
    GANZ_TRY(in_range("source vocabulary", c->source_vocab, 0, MAX_VOCAB, err));
    if (!(c->norm_epsilon >= 0 && c->norm_epsilon <= 1))
        return ganz_fail(err, GANZ_EINVAL, "epsilon of norms must be 0 to 1, not %g", c->norm_epsilon);
    if (!(c->embedding_scale >= 0 && c->embedding_scale <= 1e6))
        return ganz_fail(err, GANZ_EINVAL, "factor of embeddings must be 0 to 1000000, not %g", c->embedding_scale);
    return GANZ_OK;
}

ganz_status ganz_config_check(const ganz_config *c, ganz_error *err)
{
    GANZ_TRY(in_range("width", c->width, 2, MAX_WIDTH, err));
    GANZ_TRY(in_range("ffn", c->ffn, 1, MAX_FFN, err));
    GANZ_TRY(in_range("heads", c->heads, 1, c->width, err));
    GANZ_TRY(in_range("encoder layers", c->encoder_layers, 1, MAX_LAYERS, err));
    GANZ_TRY(in_range("decoder layers", c->decoder_layers, 1, MAX_LAYERS, err));
    GANZ_TRY(in_range("vocabulary", c->vocab, 2, MAX_VOCAB, err));
    GANZ_TRY(in_range("positions", c->max_positions, 1, MAX_POSITIONS, err));
    if (c->width % 2 != 0) return ganz_fail(err, GANZ_EINVAL, "width must be even, not %d", c->width);
    if (c->width % c->heads != 0)
        return ganz_fail(err, GANZ_EINVAL, "width %d does not divide into %d heads", c->width, c->heads);
    return check_kind(c, err);
}

ganz_config ganz_config_complete(const ganz_config *config)
{
    ganz_config c = *config;
    if (c.norm_epsilon == 0) c.norm_epsilon = 1e-6;
    if (c.activation == GANZ_ACTIVATION_NONE) c.activation = GANZ_ACTIVATION_RELU;
    if (c.embedding_scale == 0) c.embedding_scale = sqrt((double)c.width);
    return c;
}

static bool same_kind(const ganz_config *a, const ganz_config *b)
{
    return a->norm == b->norm && a->norm_epsilon == b->norm_epsilon && a->activation == b->activation &&
           a->q_bias == b->q_bias && a->k_bias == b->k_bias && a->v_bias == b->v_bias && a->o_bias == b->o_bias &&
           a->timing == b->timing && a->first_position == b->first_position &&
           a->embedding_scale == b->embedding_scale && a->source_vocab == b->source_vocab &&
           a->own_output == b->own_output && a->logits_bias == b->logits_bias && a->start_vector == b->start_vector &&
           a->no_target_space == b->no_target_space && a->recurrent == b->recurrent;
}

bool ganz_config_same(const ganz_config *left, const ganz_config *right)
{
    const ganz_config a = ganz_config_complete(left), b = ganz_config_complete(right);
    return a.width == b.width && a.ffn == b.ffn && a.heads == b.heads && a.encoder_layers == b.encoder_layers &&
           a.decoder_layers == b.decoder_layers && a.vocab == b.vocab && same_kind(&a, &b);
}

bool ganz_config_is_plain(const ganz_config *config)
{
    const ganz_config plain = ganz_config_complete(&(ganz_config){.width = config->width});
    const ganz_config c = ganz_config_complete(config);
    return same_kind(&c, &plain);
}
