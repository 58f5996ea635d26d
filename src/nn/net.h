/* The Transformer, once: encoder, decoder, logits, for training, validation and translation, float or integer. */
#ifndef GANZ_NN_NET_H
#define GANZ_NN_NET_H

#include "ganz/recipe.h"
#include "nn/config.h"
#include "nn/op.h"
#include "nn/param.h"
#include "nn/quant.h"

typedef struct ganz_norm_layer {
    int gain, bias; /* parameter numbers; gain -1: there is none */
    real epsilon;
    bool after; /* its result is the residual stream from then on */
} ganz_norm_layer;

/* Sites that read one value, as a list of pointers into the table of sites. */
typedef struct ganz_readers {
    const ganz_site *const *site; /* (count) */
    int count;
} ganz_readers;

typedef enum ganz_sublayer_kind {
    GANZ_SELF_ATTENTION,
    GANZ_CROSS_ATTENTION,
    GANZ_FEED_FORWARD,
    GANZ_RECURRENCE
} ganz_sublayer_kind;

/* One sublayer of a stack, with a residual connection around it. */
typedef struct ganz_sublayer {
    ganz_sublayer_kind kind;
    ganz_norm_layer norm; /* before it */
    ganz_readers readers; /* of its input */
    const ganz_site *q, *k, *v,
        *o;                    /* of attention. Self: the weights of q, k, v lie one after another; cross: of k, v */
    const ganz_pair *pair;     /* of attention */
    const ganz_site *in, *out; /* of feed-forward */
    const ganz_site *value, *gate; /* of a recurrence */
} ganz_sublayer;

/* Encoder or decoder: its sublayers in the order in which they run. */
typedef struct ganz_stack {
    ganz_sublayer *sublayer; /* (count) */
    int count;
    ganz_norm_layer norm; /* after the last */
    ganz_readers readers; /* of its result */
} ganz_stack;

/* One matrix product of the network: dense, or one of the two inside an attention. */
typedef struct ganz_product {
    char name[40];         /* "enc.0.self.q", "enc.0.self.qk" */
    const ganz_site *site; /* of a dense one, else NULL */
    const ganz_pair *pair; /* else NULL */
    bool uv;               /* of a pair: its second product, attention weights by values */
    bool target_keys;      /* of a pair: its keys are outputs, not inputs */
} ganz_product;

static inline const ganz_rule *ganz_product_rule(const ganz_product *p)
{
    return p->site ? &p->site->rule : &p->pair->rule;
}
/* The scales of its operands that are rounded as they come: of a dense product its input, of a pair's both. Returns how
 * many. */
static inline int ganz_product_scales(const ganz_product *p, const ganz_scale *scales[2])
{
    scales[0] = p->site ? &p->site->input : p->uv ? &p->pair->u : &p->pair->q;
    scales[1] = p->site ? NULL : p->uv ? &p->pair->v : &p->pair->k;
    return p->site ? 1 : 2;
}

/* Names, shapes and places of everything, and the state of every site; no numbers. Building it writes the order of the
 * network once, into the tables; everything else walks them. */
typedef struct ganz_net {
    ganz_config config; /* complete */
    ganz_params params;
    int embedding;           /* parameter number of the decoder's table */
    int source_embedding;    /* of the encoder's: the same unless it has its own */
    int target_space, start; /* of vectors; -1: none */
    ganz_stack encoder, decoder;
    ganz_site *site;                    /* (sites) dense products by place: encoder, decoder, logits */
    ganz_pair *pair;                    /* (pairs) attentions by place */
    ganz_product *product;              /* (products) in the order of the network */
    const ganz_site *logits;            /* the last site; its weight is the embedding, unless it has its own */
    int sites, pairs, products, scales; /* 97, 18, 133, 169 for six and six layers */
    int first_scale;          /* parameter number of z 0; all z lie one after another, in the order of their places */
    int row_scales;           /* parameter number of the learned scales of weights; -1: none are learned */
    int rows, cols;           /* outputs and inputs of all sites, each site's begun at a multiple of 16 */
    ganz_scheme scheme;       /* its rules are in the sites and pairs */
    int edition;              /* counts changes of rules and states: what was measured holds for one edition */
    const ganz_site **reader; /* memory of the lists of readers */
} ganz_net;

/* Builds the tables, all states FLOAT, 8 bits; the arrays are the net's. */
ganz_status ganz_net_open(ganz_net *net, const ganz_config *config, ganz_error *err);
void ganz_net_close(ganz_net *net);

/* A site or an attention by its name; NULL: there is none. */
ganz_site *ganz_net_find_site(const ganz_net *net, const char *name);
ganz_pair *ganz_net_find_pair(const ganz_net *net, const char *name);

/* Adds the parameter of the learned scales of weights. Called once, before there are numbers of the net. */
ganz_status ganz_net_learn_rows(ganz_net *net, ganz_error *err);
/* Whether the scales of this weight are among them. */
static inline bool ganz_net_learns_rows(const ganz_net *net, const ganz_site *site)
{
    const ganz_rule *const rule = &site->rule;
    const bool looked_up = net->scheme.float_lookup && site == net->logits; /* the values themselves matter too */
    return net->row_scales >= 0 && rule->integer && rule->per_row && !rule->power_of_two && !looked_up &&
           rule->weight_range == GANZ_WEIGHT_RANGE_LEARNED;
}

/* Gives each site and each attention its rule. States stay as they are. */
void ganz_net_set_scheme(ganz_net *net, const ganz_scheme *scheme);
/* GANZ_EINVAL when an exception is about no product of the network: a name that is mistaken would change nothing. */
ganz_status ganz_net_check_exceptions(const ganz_net *net, const ganz_scheme *scheme, ganz_error *err);
/* Puts all products that the scheme makes integer into these states, and all others into FLOAT. */
void ganz_net_set_states(ganz_net *net, ganz_weights_state weights, ganz_inputs_state inputs);

/* The numbers of a net on one device. */
typedef struct ganz_weights {
    ganz_backend *be;
    const ganz_params *params; /* the net's: it must stay where it is */
    real *master;              /* (params.block); NULL for CODES */
    real *grad;                /* (params.block) or NULL: no training */
    void *copy;         /* (params.block) operands in the product type, made by refresh; NULL while masters serve */
    int8_t *bytes;      /* (params.block) codes of FAKE weights, a byte each; NULL: the device does not read them */
    real *weight_scale; /* (rows) of FAKE and CODES weights: see ganz_site_scales */
    real *bias_scale;   /* (sites) of FAKE biases */
    real *weight_range; /* (1) what FAKE weights are clipped to; NULL: they reach to the largest */
    real *bias_value;   /* (params.block) FAKE biases, dequantized; NULL while masters serve */
    real *input_scale;  /* (scales) 2^z, made by refresh */
    const real *known_scale; /* (scales) the same in ordinary memory, of CODES on another device; NULL: not known */
    real *dropped_scale; /* (scales) the same times drop_scale, of codes that come out of dropout; in training only */
    real drop_scale;     /* set by the owner before refresh; 0 at first: as 1 */
    real u_drop_scale;   /* the same for attention weights */
    real *largest;       /* (scales) measured ranges */
    int64_t *clipped;    /* (scales) codes clipped in passes without a tape */
    real *timing;        /* (max_positions, width) */
    real *column_step, *column_inv, *column_zero; /* (net.cols) of inputs with columns; NULL: no site has them */
    ganz_refresh_item *items;                     /* (2 * sites) on the host, for refresh */
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

/* Once the gradient of all weights is whole: that of their learned scales, and none for weights beyond their range. */
void ganz_weights_rows_grad(const ganz_weights *w, const ganz_net *net);

/* Whether dropout of attention weights comes before their rounding. */
static inline bool ganz_weights_drop_u_first(const ganz_weights *w)
{
    return w->dropped_scale && w->u_drop_scale > 0 && w->u_drop_scale < 1;
}

/* FAKE weights reach to `range` from now on, and what lies beyond is clipped. To be refreshed. GANZ_ENOMEM. */
ganz_status ganz_weights_set_range(ganz_weights *w, real range, ganz_error *err);

/* Masters of weights are cut off at the range that rounds them best to the bits they are to have, one for each row
 * where scales are per_row; not those of an embedding that is looked up as it is. Where the rule's range is AUTO, it is
 * FIT for a matrix with one scale of fewer than 8 bits, and with a scale for each row of at most 4. Where it is
 * LEARNED, masters stay as they are, and that range is the first of their learned scales. To be refreshed. GANZ_ENOMEM.
 */
ganz_status ganz_weights_trim(ganz_weights *w, const ganz_net *net, ganz_error *err);
/* That range for codes up to p; power_of_two: where scales are powers of two. At most the largest magnitude. */
real ganz_trim_range(const real *x, size_t count, int p, bool power_of_two);

/* First scales from measured ranges (w->largest): largest / p of each input, 1 / (2^bits - 1) of U, kept within 2^-24
 * and 2^8. Writes the z in the masters; to be refreshed. GANZ_ENOMEM. */
ganz_status ganz_weights_set_scales(ganz_weights *w, const ganz_net *net, ganz_error *err);

/* Weights of an integer model: packed codes of integer sites; values of float weights, norms, biases and tables; no
 * masters. GANZ_EUNSUPPORTED on a device without integer kernels. The caller then fills them in: each integer site by
 * ganz_weights_pack, w->value of all that is not NULL, w->input_scale (all positive). Never refreshed. */
ganz_status ganz_weights_open_codes(ganz_weights *w, const ganz_net *net, ganz_backend *be, ganz_error *err);
/* Where the net has sites with columns: memory for them, which pack and frozen weights read. In ordinary memory only,
 * GANZ_EUNSUPPORTED elsewhere. */
ganz_status ganz_weights_take_columns(ganz_weights *w, const ganz_net *net, ganz_error *err);
/* Steps and zeros (in) of the input of a site; before its weights are packed. */
void ganz_weights_set_columns(ganz_weights *w, const ganz_site *site, const float *step, const float *zero);
/* codes (out, in) in ordinary memory, and their scales, one or (out) where per_row; not needed afterwards. */
void ganz_weights_pack(ganz_weights *w, const ganz_site *site, const int8_t *codes, const real *scales);
/* Opens, on `be`, a copy of integer weights in ordinary memory, which must outlive it. */
ganz_status ganz_weights_copy_codes(ganz_weights *to, const ganz_net *net, ganz_backend *be, const ganz_weights *from,
                                    ganz_error *err);
/* Where the scales of a site's weight are, and how many. */
static inline real *ganz_site_scales(const ganz_weights *w, const ganz_site *site)
{
    return w->weight_scale + site->row;
}
static inline int ganz_site_scale_count(const ganz_site *site) { return site->rule.per_row ? site->out : 1; }
/* Whether input and weight are codes that fit into bytes. */
static inline bool ganz_site_fits_bytes(const ganz_site *site)
{
    return site->inputs == GANZ_INPUTS_FAKE && site->weights == GANZ_WEIGHTS_FAKE && site->rule.input_bits <= 8 &&
           site->rule.weight_bits <= 8;
}
/* The weight as bytes; NULL: not kept so. */
static inline int8_t *ganz_site_bytes(const ganz_weights *w, const ganz_site *site)
{
    return w->bytes && ganz_site_fits_bytes(site) ? w->bytes + w->params->list[site->weight].offset : NULL;
}

/* What an integer model keeps of weights in state FAKE, in ordinary memory: codes and scales, each brought there once.
 * What stays a value is where it was. */
typedef struct ganz_frozen_weights {
    int8_t *codes;      /* (params.block) of weights and biases, at the offsets of their parameters */
    real *weight_scale; /* (net.rows) see ganz_site_scales */
    real *bias_scale;   /* (sites) */
    real *input_scale;  /* (scales) */
} ganz_frozen_weights;
ganz_status ganz_frozen_open(ganz_frozen_weights *frozen, const ganz_net *net, const ganz_weights *weights,
                             ganz_error *err);
void ganz_frozen_close(ganz_frozen_weights *frozen);
/* Whether the parameter is kept as codes. */
bool ganz_param_is_coded(const ganz_net *net, const ganz_param *param);

/* Opens, on `be`, integer weights of the same numbers as `fake`, in memory. The states of the net are to become CODES.
 */
ganz_status ganz_weights_freeze(ganz_weights *codes, const ganz_net *net, const ganz_weights *fake, ganz_backend *be,
                                ganz_error *err);

/* Tokens of one pass, on the device. Made from a batch by the trainer, from sentences by the search. */
typedef struct ganz_tokens {
    int rows;
    const int32_t *ids, *positions; /* (rows); GANZ_START embeds as the start vector, or as zero */
    const int32_t *row, *slot;      /* (rows) packed row and slot: coordinates of shared masks; NULL without dropout */
    int packed_rows, slots;         /* lines of a residual mask; side of an attention mask */
    const int32_t *line;            /* (rows) of the attention masks: slots times the group of its row, plus its slot;
                                     * NULL: all rows are one group */
    int groups;                     /* of rows that share attention masks; 0: as 1 */
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
    const float *share; /* (rows) of the gradient, see ganz_loss_call; NULL: alike */
    double *sums;       /* (3) on the device, added to: see ganz_loss_call */
    int chunk;          /* rows at a time */
} ganz_goal;
void ganz_net_loss(ganz_pass *pass, const ganz_net *net, ganz_tensor *decoded, const ganz_goal *goal);

/* ---- one token at a time ------------------------------------------------------------------------ */

/* Key and value rows kept between steps, for each attention of the decoder, and rows of states for each recurrence;
 * rows of self attention and of states are numbered alike in all. Hypotheses share rows by number: nothing is copied
 * when beams are reordered. */
typedef struct ganz_keys {
    const ganz_backend *be;
    int capacity, used; /* rows of self attention */
    int source_rows;    /* of cross attention */
    void **data;        /* (decoder sublayers) rows of k | v, or states; NULL: feed-forward */
} ganz_keys;

/* A key store, from the arenas of the pass (NULL when full). */
ganz_keys *ganz_keys_take(ganz_pass *pass, const ganz_net *net, int capacity, int source_rows);

/* Of the rows of self attention and of states only these, which rise, are kept and get the numbers 0, 1, ... The
 * backend is one of ordinary memory. */
void ganz_keys_keep(ganz_keys *keys, const ganz_net *net, const int32_t *rows, int count);

/* Rows [0, rows) of an attention, k | v, or states of a recurrence; sublayer: its number in the decoder. */
ganz_matrix ganz_keys_rows(const ganz_keys *keys, const ganz_sublayer *attention, int sublayer, int rows);

/* Fills the cross keys of all layers from the memory, once per batch. */
void ganz_net_cross_keys(ganz_pass *pass, const ganz_net *net, ganz_tensor *memory, ganz_keys *keys);

/* One decoder step for target->rows live hypotheses: row i's new key row is keys->used + i; then `used` grows by rows.
 * self: lists of self key rows, the new one last; cross: lists over the source rows.
 * Returns (rows, d) after the final norm. Scratch of earlier steps may be rewound by the caller, the keys not. */
ganz_tensor *ganz_net_step(ganz_pass *pass, const ganz_net *net, const ganz_tokens *target, ganz_keys *keys,
                           const ganz_spans *self, const ganz_spans *cross);

/* Rows [first, first + rows) of what was decoded, for logits in parts. */
ganz_tensor *ganz_net_part(ganz_pass *pass, const ganz_tensor *decoded, int first, int rows);
/* (rows, vocab) in REAL or the product type. */
ganz_tensor *ganz_net_logits(ganz_pass *pass, const ganz_net *net, ganz_tensor *decoded);

#endif
