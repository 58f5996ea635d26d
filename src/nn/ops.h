/* The operations by name, for the network and the tests.
 *
 * A tensor that is NULL means that the pass has failed; every operation then does nothing. An operation takes the
 * memory of its result itself, in the form its readers want: values, codes, or both. */
#ifndef GANZ_NN_OPS_H
#define GANZ_NN_OPS_H

#include "nn/net.h"

/* ---- memory of a pass (tape.c) ------------------------------------------------------------------ */

void *ganz_pass_take(ganz_pass *pass, size_t count, size_t element); /* device memory; NULL: failed */
ganz_tensor *ganz_tensor_new(ganz_pass *pass, int rows, int cols, ganz_type type);
ganz_tensor *ganz_tensor_over(ganz_pass *pass, const ganz_matrix *m, const real *scale); /* memory that exists */
ganz_tensor *ganz_tensor_columns(ganz_pass *pass, ganz_tensor *parent, int col, int cols);
ganz_matrix ganz_matrix_take(ganz_pass *pass, int rows, int cols, ganz_type type); /* data NULL: failed */
ganz_matrix ganz_matrix_columns(const ganz_matrix *m, int col, int cols);
ganz_matrix ganz_matrix_rows(const ganz_matrix *m, int row, int rows); /* data NULL stays NULL */

/* Makes sure t->grad has memory. *add: something is there already. False: failed. */
bool ganz_tensor_grad(ganz_pass *pass, ganz_tensor *t, bool *add);
/* Whether anything has flowed back to it, or to the parent it is columns of. */
bool ganz_tensor_has_grad(ganz_tensor *t);
/* What has flowed back to a result: to its value or, where that exists only as codes, to use number `use`. NULL:
 * nothing. */
const ganz_matrix *ganz_tensor_back(ganz_tensor *t, int use);

/* To be called by who writes the gradient of codes and makes it zero where none passes: tells where. The maker of the
 * codes need not do it again. NULL: it passes everywhere, or the maker looks after it. */
const uint8_t *ganz_tensor_cuts(ganz_tensor *t);

/* What is taken between begin and end is given back at the end, unless a tape may still ask for it. */
typedef struct ganz_scope {
    size_t host, device;
} ganz_scope;
ganz_scope ganz_scope_begin(const ganz_pass *pass);
void ganz_scope_end(ganz_pass *pass, ganz_scope scope);

/* ---- tape (tape.c) ------------------------------------------------------------------------------ */

/* First member of what an operation remembers for its gradient. */
typedef struct ganz_node {
    void (*backward)(ganz_pass *pass, struct ganz_node *node);
    struct ganz_node *before;
} ganz_node;

/* A node at the end of the tape, `bytes` in all; NULL without a tape. */
void *ganz_record(ganz_pass *pass, size_t bytes, void (*backward)(ganz_pass *pass, ganz_node *node));

/* ---- parameters --------------------------------------------------------------------------------- */

static inline real *ganz_pass_param(const ganz_pass *pass, int index)
{
    const ganz_weights *const w = pass->weights;
    return w->master ? w->master + w->params->list[index].offset : w->value[index];
}
/* NULL: this pass does not train it. */
static inline real *ganz_pass_param_grad(const ganz_pass *pass, int index)
{
    const ganz_param *const p = &pass->weights->params->list[index];
    const bool train = p->kind == GANZ_SCALE ? pass->learn_scales : pass->train_weights;
    return train && pass->weights->grad ? pass->weights->grad + p->offset : NULL;
}

/* ---- precision (op_site.c): the one place that looks at states ----------------------------------- */

/* Room for a value that only these sites read: in the type they ask for or, where they multiply integers, or emulate it
 * with scales that do not learn, for codes that its maker writes at once (one matrix for all whose scales agree). */
ganz_tensor *ganz_tensor_for_readers(ganz_pass *pass, int rows, int cols, const ganz_readers *readers);
/* Readers multiply integers: what is made for them has the bits of integer translation, codes or not. */
bool ganz_readers_want_codes(const ganz_readers *readers);
/* Room for the residual stream after a norm: values and, as above, codes for the sites that read it. Without a tape the
 * values take the place of x. */
ganz_tensor *ganz_tensor_for_stream(ganz_pass *pass, const ganz_tensor *x, const ganz_readers *readers);
/* Room for what one product makes and one reads. */
ganz_tensor *ganz_tensor_for_hidden(ganz_pass *pass, int rows, const ganz_site *maker, const ganz_site *reader);
/* The same for an operand of an attention; codes of a pair that multiplies integers go to `into` where that is not
 * NULL. */
ganz_tensor *ganz_tensor_for_operand(ganz_pass *pass, int rows, const ganz_site *maker, const ganz_pair *pair,
                                     const ganz_scale *scale, const ganz_matrix *into);
/* Room for what an attention mixes, read by one site. */
ganz_tensor *ganz_tensor_for_mixed(ganz_pass *pass, int rows, int cols, const ganz_pair *pair, const ganz_site *reader);
/* Room for values that a product makes; for those of several products of an attention side by side. */
ganz_tensor *ganz_tensor_for_result(ganz_pass *pass, int rows, const ganz_site *site);
ganz_tensor *ganz_tensor_for_operands(ganz_pass *pass, int rows, int cols, const ganz_pair *pair);
/* To be called before t is made by an operation that drops: its codes have another scale then. */
void ganz_tensor_drops(const ganz_pass *pass, ganz_tensor *t);
/* To be called before t is made for these readers by an operation that writes codes as bytes too, where the device
 * reads such. */
void ganz_tensor_takes_bytes(ganz_pass *pass, ganz_tensor *t, const ganz_readers *readers);

/* x as the input of a product: itself (FLOAT), itself and measured (MEASURE), or its codes (FAKE, CODES). Codes go to
 * `into` where that is not NULL. */
ganz_tensor *ganz_op_site_input(ganz_pass *pass, ganz_tensor *x, const ganz_site *site);
ganz_tensor *ganz_op_pair_input(ganz_pass *pass, ganz_tensor *x, const ganz_pair *pair, const ganz_scale *scale,
                                ganz_tensor *into);

/* Operands of an attention that are kept between passes: their type, and rows of them as an operand again. */
ganz_type ganz_pair_kept_type(const ganz_pair *pair, const ganz_backend *be);
ganz_tensor *ganz_op_pair_kept(ganz_pass *pass, const ganz_pair *pair, const ganz_scale *scale, const ganz_matrix *m);
/* Each operand of the attention is rounded with a scale of its own. */
bool ganz_pair_rounds(const ganz_pair *pair);

/* The product adds to the residual stream itself. */
bool ganz_site_adds(const ganz_site *site);
/* Sites of the same input whose weights lie one after another and are not rounded: one product does for all. */
bool ganz_sites_are_one(const ganz_pass *pass, const ganz_site *const *sites, int count);
/* The weight of `count` such sites as one operand (rows: all their outputs). */
ganz_operand ganz_site_weight(const ganz_pass *pass, const ganz_site *site, int count);
const ganz_packed *ganz_site_packed(const ganz_pass *pass, const ganz_site *site); /* NULL: not in integers */
const real *ganz_site_bias(const ganz_pass *pass, const ganz_site *site);          /* NULL: none */
/* A table of embeddings: the one that the logits multiply with, in their precision, or one of its own, as values. */
typedef struct ganz_table {
    ganz_operand operand;
    bool by_row;               /* operand.scale has one for each entry */
    const ganz_packed *packed; /* NULL: not in integers */
} ganz_table;
ganz_table ganz_embedding_table(const ganz_pass *pass, const ganz_net *net, int param);

/* U inside attention. */
typedef struct ganz_pair_u {
    const real *scale; /* NULL: not rounded */
    int max;
    real *largest; /* NULL: not measured */
    bool integers; /* both products */
} ganz_pair_u;
ganz_pair_u ganz_pair_u_of(const ganz_pass *pass, const ganz_pair *pair);

/* ---- operations --------------------------------------------------------------------------------- */

/* The residual stream: x, and what the last sublayer wants added to it (the next norm adds it). Integer products add to
 * x themselves: then there is no delta. */
typedef struct ganz_stream {
    ganz_tensor *x, *delta;
    const ganz_tokens *tokens;
} ganz_stream;

/* op_rows.c */
ganz_tensor *ganz_op_embed(ganz_pass *pass, const ganz_net *net, const ganz_tokens *tokens, bool source);
/* x becomes x + drop(delta); returns its norm, for these readers, which is the new x where norm->after says so. */
ganz_tensor *ganz_op_norm(ganz_pass *pass, ganz_stream *s, const ganz_norm_layer *norm, const ganz_readers *readers);

/* op_linear.c */

/* x w^T + b, as values. */
ganz_tensor *ganz_op_linear(ganz_pass *pass, ganz_tensor *x, const ganz_site *site);
/* drop(activation(x w^T + b)), for one reader. */
ganz_tensor *ganz_op_hidden(ganz_pass *pass, ganz_tensor *x, const ganz_site *site, const ganz_tokens *tokens,
                            const ganz_site *reader);

/* A branch of the residual stream ends in a product, `last`, whose result is the stream's delta, or goes into its x.
 * What is taken between begin and end is given back, but for that result. */
typedef struct ganz_branch {
    const ganz_site *last;
    ganz_tensor *delta; /* NULL: none is needed */
    ganz_scope scope;
} ganz_branch;
ganz_branch ganz_branch_begin(ganz_pass *pass, const ganz_stream *s, const ganz_site *last);
void ganz_branch_end(ganz_pass *pass, ganz_stream *s, const ganz_branch *branch, ganz_tensor *x);

/* Operands of an attention, in the order query, key, value. */
enum { GANZ_Q, GANZ_K, GANZ_V, GANZ_OPERANDS };
/* Projections of one value: operands [first, first + count) of `attention`, k and v side by side into `into` where that
 * is not NULL. */
typedef struct ganz_projection {
    const ganz_sublayer *attention;
    int first, count;
    const ganz_matrix *into; /* (rows, count * width) */
} ganz_projection;
/* Fills made[first] to made[first + count - 1]. */
void ganz_op_project(ganz_pass *pass, ganz_tensor *x, const ganz_projection *what, ganz_tensor *made[GANZ_OPERANDS]);

/* Logits in chunks, their loss and at once its gradient into decoded->grad. */
void ganz_op_loss(ganz_pass *pass, ganz_tensor *decoded, const ganz_site *site, const ganz_goal *goal);

/* op_attention.c */
typedef struct ganz_attend {
    ganz_tensor *operand[GANZ_OPERANDS]; /* inputs already: see ganz_op_project */
    const ganz_pair *pair;
    int heads;
    const ganz_spans *see;
    const ganz_tokens *queries, *keys; /* whose slots place the mask; NULL without dropout */
} ganz_attend;
/* What the heads mix, for one reader. */
ganz_tensor *ganz_op_attention(ganz_pass *pass, const ganz_attend *what, const ganz_site *reader);

/* op_recurrence.c */
typedef struct ganz_recurrence {
    ganz_tensor *value, *gate; /* (rows, width) products */
    ganz_matrix states;        /* (rows, width) where states are kept; data NULL: nowhere, sentences are whole */
    int new_row;               /* of states: where that of row 0 goes; the others follow */
    const ganz_spans *see;     /* whose lists name the row of each state before, last but one */
} ganz_recurrence;
/* Adds what the recurrence says to the stream. Without a tape only. */
void ganz_op_recur(ganz_pass *pass, ganz_stream *s, const ganz_recurrence *what);

/* Dropout masks of `lines` lines, a new stream of the pass for each; none when rate is 0. */
ganz_drop ganz_pass_drop(ganz_pass *pass, real rate, int lines, int cols, const int32_t *group);

/* ---- instruments (instrument.c) ------------------------------------------------------------------ */

/* Show a call to all instruments of the pass. */
void ganz_see_input(const ganz_pass *pass, int place, const ganz_matrix *x, ganz_quantize_call *call);
void ganz_see_linear(const ganz_pass *pass, const ganz_site *site, ganz_linear_call *call);
void ganz_see_attention(const ganz_pass *pass, const ganz_pair *pair, ganz_attention_call *call);
/* And show it once it has been made. */
void ganz_see_linear_made(const ganz_pass *pass, const ganz_site *site, const ganz_linear_call *call);
void ganz_see_attention_made(const ganz_pass *pass, const ganz_pair *pair, const ganz_attention_call *call);
/* Some instrument wants to see inputs as values. */
bool ganz_inputs_are_seen(const ganz_pass *pass);

#endif
