/* Settings of a recipe to the configuration of a network and back. */
#include "train/shape.h"

ganz_config ganz_recipe_config(const ganz_recipe *r, int vocab, int positions)
{
    const bool all = r->attention_bias == GANZ_RECIPE_BIAS_ALL, some = r->attention_bias != GANZ_RECIPE_BIAS_NONE;
    const bool three = r->tables == GANZ_RECIPE_TABLES_THREE, source = three || r->tables == GANZ_RECIPE_TABLES_SOURCE;
    return (ganz_config){.width = (int)r->width,
                         .ffn = (int)r->ffn,
                         .heads = (int)r->heads,
                         .encoder_layers = (int)r->encoder_layers,
                         .decoder_layers = (int)r->decoder_layers,
                         .vocab = vocab,
                         .max_positions = positions,
                         .norm = r->norm == GANZ_RECIPE_NORM_POST ? GANZ_NORM_POST : GANZ_NORM_PRE,
                         .norm_epsilon = r->norm_epsilon,
                         .activation = (ganz_activation)(GANZ_ACTIVATION_RELU + r->activation),
                         .q_bias = some,
                         .k_bias = all,
                         .v_bias = all,
                         .o_bias = some,
                         .timing = r->positions == GANZ_RECIPE_POSITIONS_HALF ? GANZ_TIMING_HALF : GANZ_TIMING_T2T,
                         .first_position = (int)r->first_position,
                         .embedding_scale = r->embedding_scale,
                         .source_vocab = source ? vocab : 0,
                         .own_output = three || r->tables == GANZ_RECIPE_TABLES_OUTPUT,
                         .logits_bias = r->logits_bias,
                         .start_vector = r->start_vector,
                         .no_target_space = !r->target_space};
}

void ganz_recipe_note_config(ganz_recipe *r, const ganz_config *config)
{
    const ganz_config c = ganz_config_complete(config), plain = ganz_config_complete(&(ganz_config){.width = c.width});
    const bool source = c.source_vocab > 0;
    r->width = c.width;
    r->ffn = c.ffn;
    r->heads = c.heads;
    r->encoder_layers = c.encoder_layers;
    r->decoder_layers = c.decoder_layers;
    r->norm = c.norm == GANZ_NORM_POST ? GANZ_RECIPE_NORM_POST : GANZ_RECIPE_NORM_PRE;
    r->norm_epsilon = c.norm_epsilon;
    r->activation = (long long)c.activation - GANZ_ACTIVATION_RELU;
    r->attention_bias = c.k_bias || c.v_bias   ? GANZ_RECIPE_BIAS_ALL
                        : c.q_bias || c.o_bias ? GANZ_RECIPE_BIAS_QO
                                               : GANZ_RECIPE_BIAS_NONE;
    r->positions = c.timing == GANZ_TIMING_HALF ? GANZ_RECIPE_POSITIONS_HALF : GANZ_RECIPE_POSITIONS_T2T;
    r->first_position = c.first_position;
    r->embedding_scale = c.embedding_scale == plain.embedding_scale ? 0 : c.embedding_scale;
    r->tables = source && c.own_output ? GANZ_RECIPE_TABLES_THREE
                : source               ? GANZ_RECIPE_TABLES_SOURCE
                : c.own_output         ? GANZ_RECIPE_TABLES_OUTPUT
                                       : GANZ_RECIPE_TABLES_ONE;
    r->logits_bias = c.logits_bias;
    r->start_vector = c.start_vector;
    r->target_space = !c.no_target_space;
}

/* A trillionth of a word with the logit 0, and not far from where biases lie: those who look at the size of the whole
 * vector, as Adafactor does, hardly see it. */
void ganz_soften_bans(const ganz_net *net, real *block)
{
    static const real banned = -30;
    const int number = net->logits->bias;
    if (number < 0) return;
    const ganz_param *const p = &net->params.list[number];
    for (size_t i = 0; i < ganz_param_count(p); i++)
        if (block[p->offset + i] < banned) block[p->offset + i] = banned;
}
