/* The Transformer, once: encoder, decoder, logits, for training, validation and translation, float or integer. */
#ifndef GANZ_NN_NET_H
#define GANZ_NN_NET_H

#include "nn/observe.h"
#include "nn/op.h"
#include "nn/param.h"
#include "nn/quant.h"

typedef struct ganz_config {
    int width;          /* d: 512 Base, 1024 Big */
    int ffn;            /* 2048, 4096 */
    int heads;          /* 8, 16; width / heads is the head width */
    int encoder_layers; /* 6 */
    int decoder_layers; /* 6 */
    int vocab;
    int max_positions; /* length of the timing table */
} ganz_config;

/* GANZ_EINVAL with a sentence when the numbers make no network, or one beyond the limits. */
ganz_status ganz_config_check(const ganz_config *config, ganz_error *err);

typedef struct ganz_norm_layer {
    int gain, bias; /* parameter numbers */
} ganz_norm_layer;

typedef struct ganz_attention_layer {
    ganz_norm_layer norm; /* before it */
    ganz_site q, k, v, o; /* self: q, k, v weights lie one after another; cross: k, v weights lie one after another */
    ganz_pair pair;
} ganz_attention_layer;

typedef struct ganz_ffn_layer {
    ganz_norm_layer norm;
    ganz_site in, out;
} ganz_ffn_layer;

typedef struct ganz_encoder_layer {
    ganz_attention_layer self;
    ganz_ffn_layer ffn;
} ganz_encoder_layer;

typedef struct ganz_decoder_layer {
    ganz_attention_layer self, cross;
    ganz_ffn_layer ffn;
} ganz_decoder_layer;

/* Names, shapes and places of everything, and the state of every site; no numbers. */
typedef struct ganz_net {
    ganz_config config;
    ganz_params params;
    int embedding, target_space;                /* parameter numbers */
    ganz_encoder_layer *encoder;                /* (encoder_layers) */
    ganz_decoder_layer *decoder;                /* (decoder_layers) */
    ganz_norm_layer encoder_norm, decoder_norm; /* the final ones */
    ganz_site logits;                           /* its weight is the embedding */
    int first_scale;          /* parameter number of z 0; all z lie one after another, in the order of their places */
    int sites, pairs, scales; /* 97, 18, 169 for six and six layers */
    int rows;                 /* outputs of all sites, each site's begun at a multiple of 16 */
    bool power_of_two;        /* all scales are powers of two */
    bool float_lookup;        /* embeddings are looked up in float even where logits are integer */
} ganz_net;

/* Builds the registry, all states FLOAT, 8 bits; the arrays are the net's. */
ganz_status ganz_net_open(ganz_net *net, const ganz_config *config, ganz_error *err);
void ganz_net_close(ganz_net *net);

/* Dense sites and pairs in canonical order (encoder, decoder, logits). */
ganz_site *ganz_net_site(ganz_net *net, int place);
ganz_pair *ganz_net_pair(ganz_net *net, int index);
/* Width of all codes, or of each kind. */
void ganz_net_set_bits(ganz_net *net, int bits);
void ganz_net_set_widths(ganz_net *net, ganz_widths widths);
/* A scale for each weight matrix, or for each of its outputs. */
void ganz_net_set_row_scales(ganz_net *net, bool by_row);
void ganz_net_set_states(ganz_net *net, ganz_weights_state weights, ganz_inputs_state inputs);

/* The numbers of a net on one device. */
typedef struct ganz_weights {
    ganz_backend *be;
    const ganz_params *params; /* the net's: it must stay where it is */
    real *master;              /* (params.block); NULL for CODES */
    real *grad;                /* (params.block) or NULL: no training */
    void *copy;          /* (params.block) operands in the product type, made by refresh; NULL while masters serve */
    real *weight_scale;  /* (rows) of FAKE and CODES weights: see ganz_site_scales */
    real *bias_scale;    /* (sites) of FAKE biases */
    real *weight_range;  /* (1) what FAKE weights are clipped to; NULL: they reach to the largest */
    real *bias_value;    /* (params.block) FAKE biases, dequantized; NULL while masters serve */
    real *input_scale;   /* (scales) 2^z, made by refresh */
    real *dropped_scale; /* (scales) the same times drop_scale, of codes that come out of dropout; in training only */
    real drop_scale;     /* set by the owner before refresh; 0 at first: as 1 */
    real *largest;       /* (scales) measured ranges */
    int64_t *clipped;    /* (scales) codes clipped in passes without a tape */
    const ganz_observer *observer; /* shown every input; NULL: none. In ordinary memory only */
    real *timing;                  /* (max_positions, width) */
    ganz_refresh_item *items;      /* (2 * sites) on the host, for refresh */
    real *
        *value; /* (params.count) on the host, for CODES: where a parameter that stays a value lies, NULL for weights */
    real *value_block;
    const ganz_packed **packed; /* (sites) on the host, for CODES */
    void *packed_block;
    size_t packed_used;
} ganz_weights;

ganz_status ganz_weights_open(ganz_weights *w, const ganz_net *net, ganz_backend *be, bool training, ganz_error *err);
void ganz_weights_close(ganz_weights *w);
/* To be called after the masters or the states changed and before the next pass. Fails only when it first needs memory
 * for copies and there is none. */
ganz_status ganz_weights_refresh(ganz_weights *w, const ganz_net *net, ganz_error *err);

/* FAKE weights reach to `range` from now on, and what lies beyond is clipped. To be refreshed. GANZ_ENOMEM. */
ganz_status ganz_weights_set_range(ganz_weights *w, real range, ganz_error *err);

/* Masters of weights are cut off at the range that rounds them best to the bits they are to have, one for each row
 * where scales are by_row; not those of an embedding that is looked up as it is. range: GANZ_WEIGHT_RANGE_*; AUTO is
 * FIT where a matrix has one scale of fewer than 8 bits. To be refreshed. GANZ_ENOMEM. */
ganz_status ganz_weights_trim(ganz_weights *w, ganz_net *net, long long range, ganz_error *err);
/* That range for codes up to p; power_of_two: where scales are powers of two. At most the largest magnitude. */
real ganz_trim_range(const real *x, size_t count, int p, bool power_of_two);

/* First scales from measured ranges (w->largest): largest / p of each input, 1 / (2^bits - 1) of U, kept within 2^-24
 * and 2^8. Writes the z in the masters; to be refreshed. GANZ_ENOMEM. */
ganz_status ganz_weights_set_scales(ganz_weights *w, const ganz_net *net, ganz_error *err);

/* Weights of a net whose states are all CODES: packed codes, norms, biases and the target space as values, no masters.
 * GANZ_EUNSUPPORTED on a device without integer kernels. The caller then fills them in: each site by ganz_weights_pack,
 * w->value of what is not a weight, w->input_scale (all positive). Never refreshed. */
ganz_status ganz_weights_open_codes(ganz_weights *w, const ganz_net *net, ganz_backend *be, ganz_error *err);
/* codes (out, in) in ordinary memory, and their scales, one or (out) where by_row; not needed afterwards. */
void ganz_weights_pack(ganz_weights *w, const ganz_site *site, const int8_t *codes, const real *scales);
/* Where the scales of a site's weight are, and how many. */
static inline real *ganz_site_scales(const ganz_weights *w, const ganz_site *site)
{
    return w->weight_scale + (site->by_row ? site->row : site->place);
}
static inline int ganz_site_scale_count(const ganz_site *site) { return site->by_row ? site->out : 1; }

/* Codes of FAKE weights (site->out * site->in) or of its bias (site->out), brought to ordinary memory; the scales that
 * make values of them, one or (out) where by_row; of a bias, one. `work`: as many `real` as codes. */
void ganz_weights_codes(const ganz_weights *w, const ganz_site *site, int8_t *codes, real *scales, real *work);
real ganz_weights_bias_codes(const ganz_weights *w, const ganz_site *site, int8_t *codes, real *work);

/* Tokens of one pass, on the device. Made from a batch by the trainer, from sentences by the search. */
typedef struct ganz_tokens {
    int rows;
    const int32_t *ids, *positions; /* (rows); an id < 1 embeds as zero */
    const int32_t *row, *slot;      /* (rows) packed row and slot: coordinates of shared masks; NULL without dropout */
    int packed_rows, slots;         /* lines of a residual mask; side of an attention mask */
    const int32_t *by_id;           /* (rows) for the embedding's gradient; NULL without a tape */
} ganz_tokens;

/* Encoder: (source rows, d) after the final norm. `see`: self attention of the source. */
ganz_tensor *ganz_net_encode(ganz_pass *pass, const ganz_net *net, const ganz_tokens *source, const ganz_spans *see);

/* Decoder over whole targets (teacher forcing): (target rows, d) after the final norm. */
ganz_tensor *ganz_net_decode(ganz_pass *pass, const ganz_net *net, const ganz_tokens *target, const ganz_tokens *source,
                             ganz_tensor *memory, const ganz_spans *self, const ganz_spans *cross);

/* Who is believed instead of the labels: a net in the state FLOAT and what it decoded from the same tokens. */
typedef struct ganz_teacher {
    const ganz_net *net;
    const ganz_weights *weights;
    ganz_matrix decoded; /* (rows, width) */
} ganz_teacher;

/* Loss of all rows and, when the pass records, its gradient: logits are made, used and forgotten in chunks of rows, so
 * that (rows, vocab) never exists whole. */
typedef struct ganz_goal {
    const int32_t *labels;       /* (rows) */
    const ganz_teacher *teacher; /* NULL: labels teach */
    real smoothing, grad_scale;
    double *sums; /* (3) on the device, added to: see ganz_loss_call */
    int chunk;    /* rows at a time */
} ganz_goal;
void ganz_net_loss(ganz_pass *pass, const ganz_net *net, ganz_tensor *decoded, const ganz_goal *goal);

/* ---- one token at a time ------------------------------------------------------------------------ */

/* Key and value rows kept between steps, per decoder layer; rows are numbered alike in all layers. Hypotheses share
 * rows by number: nothing is copied when beams are reordered. */
typedef struct ganz_keys {
    int layers, width, capacity, used; /* rows */
    ganz_type type;                    /* REAL or product type; S8 where inputs are CODES */
    void **self;                       /* per layer (capacity, 2 * width): k | v */
    void **cross;                      /* per layer (source_rows, 2 * width): k | v of the memory */
    int source_rows;
} ganz_keys;

/* Bytes of device memory a key store needs, and the store itself, from the arenas of the pass (NULL when full). */
size_t ganz_keys_bytes(const ganz_net *net, const ganz_backend *be, int capacity, int source_rows);
ganz_keys *ganz_keys_take(ganz_pass *pass, const ganz_net *net, int capacity, int source_rows);

/* Fills the cross keys of all layers from the memory, once per batch. */
void ganz_net_cross_keys(ganz_pass *pass, const ganz_net *net, ganz_tensor *memory, ganz_keys *keys);

/* One decoder step for target->rows live hypotheses: row i's new key row is keys->used + i; then `used` grows by rows.
 * self: lists of self key rows, the new one last; cross: lists over the source rows.
 * Returns (rows, d) after the final norm. Scratch of earlier steps may be rewound by the caller, the keys not. */
ganz_tensor *ganz_net_step(ganz_pass *pass, const ganz_net *net, const ganz_tokens *target, ganz_keys *keys,
                           const ganz_spans *self, const ganz_spans *cross);

/* Rows [first, first + rows) of what was decoded, for logits in parts. */
ganz_tensor ganz_net_part(const ganz_tensor *decoded, int first, int rows);
/* (rows, vocab) in REAL or the product type. */
ganz_tensor *ganz_net_logits(ganz_pass *pass, const ganz_net *net, ganz_tensor *decoded);

#endif
