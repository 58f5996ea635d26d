/* A device: memory, and the two dozen coarse operations a Transformer is made of.
 *
 * Every activation is a matrix, rows = tokens, sentences laid end to end without padding. A query row sees a
 * span of key rows. All pointers inside calls are memory of the device (`alloc`), except the call structs themselves.
 * Calls are ordered; none can fail by itself: a device that broke says so at the next `sync`.
 *
 * Three element types matter: REAL (float; double in the gradient tests) for the residual stream, statistics, master
 * weights and all parameter gradients; `product`, the type of the operands of matrix products (REAL on the CPU; REAL or
 * BF16 on CUDA); S8/U8 for integer codes.
 *
 * FAKE quantization is integer arithmetic in float clothes: operands hold integer codes in the product type (exact in
 * BF16 up to 256) and the product is scaled once after the sum by scale_x * scale_w. Sums stay exact below 2^24. */
#ifndef GANZ_BACKEND_BACKEND_H
#define GANZ_BACKEND_BACKEND_H

#include "base/activation.h"
#include "base/base.h"

typedef enum ganz_type { GANZ_REAL, GANZ_BF16, GANZ_S8, GANZ_U8, GANZ_I32 } ganz_type;

static inline size_t ganz_type_bytes(ganz_type type)
{
    return type == GANZ_REAL ? sizeof(real) : type == GANZ_BF16 ? 2 : type == GANZ_I32 ? 4 : 1;
}

/* A matrix of the device with a row stride (in elements), so that [q|k|v] can be seen as three. */
typedef struct ganz_matrix {
    int rows, cols, ld;
    ganz_type type;
    void *data;
} ganz_matrix;

/* One side of a product: values, or codes with the scale that turns them back into values. */
typedef struct ganz_operand {
    ganz_matrix m;
    const real *scale; /* (1) on the device, (rows) where each has its own; NULL: plain values */
} ganz_operand;

/* Where codes of a result go while it is made: clip(rint(y * (1 / scale))) in [-p, p]. In S8 by the integer operations;
 * in the product type, and with `inside`, by the float ones of a device that has `makes_codes`. A norm of such a device
 * also takes outs without a scale: copies of its values in the product type, for readers that multiply floats.
 * `inside` is (rows, cols / 4), a bit for each of four columns, the first lowest: 1 where a gradient passes, that is
 * where nothing was clipped and where relu and dropout let through. Written forwards, read backwards. */
typedef struct ganz_code_out {
    ganz_matrix m;     /* of the result's shape; data NULL: none */
    const real *scale; /* (1) on the device */
    int p;
    uint8_t *inside;      /* NULL: gradients pass everywhere */
    int8_t *bytes;        /* the same codes once more, a byte each, in rows of m.ld; NULL: not wanted. Only where codes
                           * are written in the product type, by a device that has `reads_bytes` */
    const int32_t *first; /* (1) on the device: row i goes to row *first + i of m; NULL: to row i. Only by linear_codes
                           * of a device that records */
} ganz_code_out;

/* Weights in the order of a device's integer kernels; only the device reads the inside. */
typedef struct ganz_packed ganz_packed;

/* Dropout with masks made beforehand: 1 keep, 0 drop. Tensor2Tensor shares a mask over all tokens of a row, so a mask
 * has one line for each group of tokens. */
typedef struct ganz_drop {
    const uint8_t *mask;  /* (groups, cols); NULL: no dropout */
    const int32_t *group; /* (rows) line of the mask for each token; NULL: token i uses line i */
    real scale;           /* 1 / keep probability */
} ganz_drop;

/* ---- embedding ---------------------------------------------------------------------------------- */

/* out[i] = drop(table[ids[i]] * root + extra + timing[positions[i]]). The id `start_id` looks up `start`
 * and not the table; negative ids look up zeros. */
typedef struct ganz_embed_call {
    int rows, cols, vocab;
    const int32_t *ids, *positions; /* (rows) */
    ganz_operand table;             /* (vocab, cols) */
    bool by_row;                    /* table.scale is (vocab) */
    int start_id;                   /* the decoder begins with it */
    const real *start;              /* (cols); NULL: zeros */
    real root;
    const real *timing; /* (positions, cols) */
    const real *extra;  /* (cols) or NULL */
    ganz_drop drop;
    const ganz_packed *packed; /* embed_codes: the table in the order of the kernels; table.scale holds for it */
    real *out;                 /* (rows, cols) */
    /* backward */
    const real *out_grad;
    real *table_grad;     /* (vocab, cols), added to in an order that never varies */
    real *extra_grad;     /* (cols), added to; NULL with extra */
    real *start_grad;     /* (cols), added to; NULL: not wanted */
    const int32_t *by_id; /* (rows) token numbers sorted by id, equal ids in rising order */
} ganz_embed_call;

/* ---- residual add and layer norm ---------------------------------------------------------------- */

/* sum = x + drop(delta);  y = (sum - mean) * rsqrt(var + eps) * gain + bias. Without delta, sum is x itself.
 * Before a sublayer (pre-norm) sum goes on as the residual and y, or its codes, feed the sublayer. After one
 * (post-norm) y is the new residual, and its codes feed the next sublayer: then both are written, and the gradient of y
 * is the sum of y_grad and of the gradients of the codes. */
typedef struct ganz_norm_call {
    int rows, cols;
    const real *x;     /* (rows, cols) */
    ganz_matrix delta; /* (rows, cols); data NULL: none */
    ganz_drop drop;
    real eps;
    const real *gain, *bias;    /* (cols) */
    real *sum;                  /* (rows, cols); may be x itself; not used when delta is none */
    ganz_matrix y;              /* (rows, cols); data NULL where only codes are wanted; REAL where both are. Without a
                                 * backward it may be the memory of sum (or x) */
    int outs;                   /* readers that want codes of y */
    const ganz_code_out *codes; /* (outs) in host memory; those with data are written */
    real *stats;                /* (rows, 2): mean, 1/deviation; kept for the backward; NULL: not wanted */
    /* backward: reads sum (or x), stats, y_grad, code_grad, and the gradient that later layers added to sum */
    ganz_matrix y_grad;           /* (rows, cols); data NULL where only codes have gradients; REAL where both have */
    const ganz_matrix *code_grad; /* (outs) in host memory: of the values the codes stand for; data NULL: none. Only on
                                   * devices with `makes_codes`; NULL: none at all */
    const real *sum_grad;         /* (rows, cols) or NULL: nothing came back */
    real *x_grad;                 /* (rows, cols) written; may be the same memory as sum_grad */
    ganz_matrix delta_grad;       /* (rows, cols) written */
    real *gain_grad, *bias_grad;  /* (cols), added to; NULL: frozen */
    real *delta_sums; /* (cols), added to: sums of delta_grad over the rows, which are the gradient of a bias
                       * that was added to delta last; NULL: not wanted */
} ganz_norm_call;

/* ---- dense products ----------------------------------------------------------------------------- */

/* y = drop(activation(x w^T * (scale_x * scale_w) + bias)). w is (out, in); w_by_row: a scale_w for each output. A bias
 * of -infinity bans an output (logits). */
typedef struct ganz_linear_call {
    int rows, in, out;
    ganz_operand x; /* (rows, in) */
    ganz_operand w; /* (out, in) */
    bool w_by_row;  /* w.scale is (out) */
    /* The codes of x and w once more, a byte each, in rows of x.m.ld and w.m.ld; NULL: there are none. `linear` of a
     * device that has `reads_bytes` may multiply them instead, which gives the same sums. */
    const int8_t *x_bytes, *w_bytes;
    const real *bias; /* (out) or NULL */
    ganz_activation activation;
    ganz_drop drop;     /* after the activation; only with one */
    ganz_matrix y;      /* (rows, out); data NULL where only codes are wanted */
    ganz_matrix before; /* (rows, out) values before the activation, written where data is not NULL: the backward of a
                         * smooth activation reads them. REAL, or the product type */
    ganz_code_out codes;
    /* linear_codes: x is S8, w has no data but a scale */
    const ganz_packed *packed;
    bool add;         /* y += instead of y = */
    int32_t *largest; /* (1) raised to the largest |sum|; NULL: not wanted */
    int32_t *sums;    /* (rows, out) the sums themselves; NULL: not wanted */
    /* backward: y_grad is overwritten where the activation, codes or w_by_row ask for it (where relu let through, y > 0
     * or the codes' `inside` tells) */
    ganz_matrix y_grad; /* (rows, out) */
    ganz_matrix x_grad; /* (rows, in): gradient of the values x stands for; data NULL: not wanted */
    bool x_grad_add;    /* add instead of write */
    real *w_grad;       /* (out, in), added to; NULL: not wanted */
    real *bias_grad;    /* (out), added to; NULL: not wanted */
} ganz_linear_call;

/* ---- attention ---------------------------------------------------------------------------------- */

/* The keys that query rows see. Training and encoding: `segments` pairs of ranges, all keys of the pair or, causally,
 * those up to the query's own place. Decoding: a list of key rows for each query. */
typedef struct ganz_spans {
    int queries, keys;                      /* rows of q; rows of k and v */
    int segments;                           /* 0: use the lists */
    const int32_t *query_begin, *key_begin; /* (segments + 1) */
    int longest_query, longest_key;         /* of one segment, or of the lists: for launches and scratch */
    bool causal;
    const int32_t *list_begin; /* (queries + 1) into list */
    const int32_t *list;       /* key row numbers */
} ganz_spans;

/* What happens inside an attention of codes, kept for those who look. Cells of keys that a query does not see are left
 * as they are. */
typedef struct ganz_attention_trace {
    int keys;        /* cells of a line, at least as many as any query sees */
    int32_t *scores; /* (heads, queries, keys) sums of q times k */
    uint8_t *u;      /* (heads, queries, keys) codes of U */
    int32_t *sums;   /* (queries, heads * width) sums of U times v */
} ganz_attention_trace;

/* out = U v with U = softmax(q k^T * inv_root) over each query's span, head by head. */
typedef struct ganz_attention_call {
    ganz_spans see;
    int heads, width;     /* q, k, v, out have heads * width columns */
    ganz_operand q, k, v; /* values, or codes with scales */
    real inv_root;        /* 1 / sqrt(width) */
    const real *u_scale;  /* (1): U is rounded to unsigned codes of this scale (before its dropout); NULL: not */
    int u_max;            /* 2^bits - 1 */
    real *weights;   /* (queries, longest_key) added to: U, or its codes, over all heads; NULL: not wanted. CPU only */
    real *u_largest; /* (1) raised to the largest U seen (1 / smallest sum of exp); NULL: not wanted */
    const uint8_t *mask; /* (any, mask_side) dropout of U by [query_slot][key_slot], for all heads */
    int mask_side;
    real mask_scale;
    const int32_t *query_slot, *key_slot; /* (rows) lines and columns of the mask */
    ganz_matrix out;                      /* (queries, heads * width); data NULL where only codes are wanted */
    ganz_code_out codes;
    /* attention_codes: q, k, v are S8; the rest only where not NULL, all (1): largest |sum| of both products, codes of
     * U that were clipped, codes of U */
    int32_t *largest_qk, *largest_uv;
    int64_t *u_clipped, *u_codes;
    const ganz_attention_trace *trace; /* NULL: nobody looks */
    real *stats; /* (queries, heads, 2): largest score, sum of exp; kept for the backward; NULL: not wanted */
    /* backward: gradients of the values that q, k, v stand for; out_grad is overwritten where codes ask for it */
    ganz_matrix out_grad, q_grad, k_grad, v_grad; /* q, k, v: written */
    /* Where gradients of q, k, v pass, as in ganz_code_out, of their shapes; NULL: everywhere. Only on devices with
     * `makes_codes` */
    const uint8_t *q_inside, *k_inside, *v_inside;
    real *u_z_grad; /* (1) gradient of log2 of u_scale, added to; NULL: frozen */
} ganz_attention_call;

/* ---- loss --------------------------------------------------------------------------------------- */

/* Cross entropy with label smoothing over vocab - 1 other classes, minus its constant; or, with a teacher, the
 * divergence from the teacher's distribution. Logits are finite here. */
typedef struct ganz_loss_call {
    int rows, vocab;
    ganz_matrix logits;    /* (rows, vocab); becomes its gradient when want_grad */
    ganz_matrix taught;    /* (rows, vocab) a teacher's logits, of the type of logits; data NULL: labels teach */
    const int32_t *labels; /* (rows) */
    int pad;               /* rows with this label, or a negative one, do not count */
    real smoothing;
    real grad_scale;    /* usually 1 / tokens of the step */
    const float *share; /* (rows) the gradient of a row is multiplied by too; NULL: 1 */
    bool want_grad;
    double *sums; /* (3) on the device, added to: loss, rows whose best class is the label, rows counted */
} ganz_loss_call;

/* ---- quantization ------------------------------------------------------------------------------- */

/* codes = clip(rint(x * (1 / scale))), signed [-p, p] or unsigned [0, p]; 1 / scale is divided once, in REAL. */
typedef struct ganz_quantize_call {
    ganz_matrix x;     /* values */
    ganz_matrix codes; /* same shape; product type, S8 or U8 */
    const real *scale; /* (1) made by `scales` */
    int p;
    bool is_signed;
    int64_t *clipped; /* (1) count of clipped elements, added to; NULL */
    /* codes = clip(rint(x * column_inv + column_zero)), each column its own: (cols); NULL: one scale for all. Signed
     * S8, on a CPU, without a backward */
    const real *column_inv, *column_zero;
    /* backward: x_grad = code_grad inside the range, 0 outside; code_grad is the gradient of scale * code */
    ganz_matrix code_grad;
    ganz_matrix x_grad; /* may be the memory of code_grad */
    bool x_grad_add;
    real *z_grad; /* (1) gradient of log2 of scale, added to; NULL: frozen */
} ganz_quantize_call;

/* ---- parameters --------------------------------------------------------------------------------- */

/* Makes the operand of a weight from its master: a copy in the product type (p = 0), or codes clip(rint(w * (1 /
 * scale))) with scale = max|w| / p (1 where all is zero), or range / p. `power_of_two`: the next power of two from
 * there up. `values` (biases): codes turned back at once, code * scale in REAL. */
typedef struct ganz_refresh_item {
    const real *master; /* (count) */
    size_t count;
    void *copy; /* (count) */
    int8_t *
        bytes; /* (count) the same codes once more, a byte each, on a device that has `reads_bytes`; NULL: not wanted */
    real *scale; /* (1), written for codes; by row (rows) */
    int rows;    /* so many equal rows, each with a scale of its own; 0: one scale for all */
    int p;
    bool values;
    bool power_of_two;
    bool known;        /* by row: scale is there already, and is only read */
    const real *range; /* (1) on the device; NULL: the largest weight */
} ganz_refresh_item;

/* Learned scales of the rows of a weight: z_grad += the gradient of log2 of each, and grad, that of scale * code,
 * becomes that of the master: 0 where it lies outside of the range. */
typedef struct ganz_rows_grad_call {
    int rows, cols, p;
    const real *master, *scale; /* (rows, cols), (rows) */
    real *grad, *z_grad;        /* (rows, cols), (rows) */
} ganz_rows_grad_call;

/* One tensor of an update. Slots of Adafactor: rows + cols numbers for a matrix, else one per element; of Adam: two per
 * element. */
typedef struct ganz_update_item {
    real *value, *grad; /* (rows, cols); grad is zeroed by the update */
    real *slots;
    int rows, cols;
    bool matrix; /* rank 2 in Tensor2Tensor */
} ganz_update_item;

/* Adam: m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, w -= rate * m^ / (sqrt(v^) + epsilon), m^ and v^ divided by
 * 1 - b^step. */
typedef struct ganz_update_call {
    const ganz_update_item *items; /* on the host; the same array for the whole life of an optimizer */
    int count;
    double rate;                  /* learning rate of this step */
    double decay;                 /* Adafactor: 1 - (t+1)^-0.8 */
    double beta1, beta2, epsilon; /* Adam */
    int64_t step;                 /* Adam: from 1, for the bias correction */
} ganz_update_call;

/* Recurrent units, of each column for itself: c = s c' + (1 - s) value, s = 1 / (1 + e^-gate), and relu(c) is added.
 * The state of row i is row first + i of `states`. The one before, c', is that of the row before, none at position 0;
 * or, with lists, the last but one of its row's list, none where that has one. */
typedef struct ganz_recur_call {
    ganz_matrix value, gate; /* (rows, cols) REAL */
    ganz_matrix states;      /* (more rows, cols) REAL */
    int first;
    const int32_t *positions;         /* (rows) */
    const int32_t *list_begin, *list; /* (rows + 1), rows of states; NULL: rows are whole sentences, end to end */
    ganz_matrix add;                  /* (rows, cols) REAL */
} ganz_recur_call;

/* Candidates of one beam step: of each row the `k` largest logits, and its log-sum-exp. Logits of -infinity (banned
 * words) add nothing to the sum and come last. */
#define GANZ_NEVER (-1e30f)
typedef struct ganz_topk_call {
    ganz_matrix logits; /* (rows, vocab) */
    int k;
    float *value;     /* (rows, k) falling; ties to the lower index */
    int32_t *index;   /* (rows, k) */
    float *logsumexp; /* (rows) */
    int banned;       /* one more than the index whose logits count as GANZ_NEVER, and may be overwritten; 0: none */
} ganz_topk_call;

/* Weights (out, in) for integer products; input codes will be in [low, p], low -p or 0. */
typedef struct ganz_pack_call {
    const int8_t *codes; /* (out, in) in host memory */
    int out, in;
    int low, p;
    bool nibbles;     /* codes are within [-7, 7], and two are to lie in a byte */
    const real *zero; /* (in) in host memory, whole numbers: sums are those of input codes minus these. NULL: none. On a
                       * CPU only */
} ganz_pack_call;

/* ---- the table ---------------------------------------------------------------------------------- */

typedef struct ganz_backend ganz_backend;
struct ganz_backend {
    const char *name;
    ganz_type product; /* operands of float products */
    bool host;         /* device memory is ordinary memory */
    bool makes_codes;  /* norm, linear and attention write codes in passing */
    bool reads_bytes;  /* linear is faster where codes come as bytes too; who makes codes in passing writes them so */
    void *stream;      /* of CUDA, for libraries that put work behind that of the device; NULL elsewhere */

    void (*close)(ganz_backend *be);
    ganz_status (*alloc)(ganz_backend *be, void **memory, size_t bytes, ganz_error *err); /* GANZ_ALIGN, zeroed */
    void (*free)(ganz_backend *be, void *memory);
    void (*upload)(ganz_backend *be, void *to, const void *from, size_t bytes);   /* `from` may be reused at once */
    void (*download)(ganz_backend *be, void *to, const void *from, size_t bytes); /* waits */
    void (*copy)(ganz_backend *be, void *to, const void *from, size_t bytes);
    void (*zero)(ganz_backend *be, void *memory, size_t bytes);
    ganz_status (*sync)(ganz_backend *be, ganz_error *err); /* waits; reports failures since the last one */
    bool (*idle)(ganz_backend *be);                         /* whether sync would not wait; NULL: it never does */

    /* mask[i] = ganz_random_uniform(seed, stream, i) < keep */
    void (*mask)(ganz_backend *be, uint8_t *mask, int64_t count, uint64_t seed, uint64_t stream, float keep);

    void (*embed)(ganz_backend *be, const ganz_embed_call *c);
    void (*embed_grad)(ganz_backend *be, const ganz_embed_call *c);
    void (*norm)(ganz_backend *be, const ganz_norm_call *c);
    void (*norm_grad)(ganz_backend *be, const ganz_norm_call *c);
    void (*linear)(ganz_backend *be, const ganz_linear_call *c);
    void (*linear_grad)(ganz_backend *be, const ganz_linear_call *c);
    void (*attention)(ganz_backend *be, const ganz_attention_call *c);
    void (*attention_grad)(ganz_backend *be, const ganz_attention_call *c); /* segments only */
    void (*loss)(ganz_backend *be, const ganz_loss_call *c);
    void (*quantize)(ganz_backend *be, const ganz_quantize_call *c);
    void (*quantize_grad)(ganz_backend *be, const ganz_quantize_call *c);
    void (*largest)(ganz_backend *be, const ganz_matrix *x, real *largest); /* *largest = max(*largest, max|x|) */
    /* scale = 2^z * factor with z kept within -24 and 8; power_of_two: of the nearest whole z */
    void (*scales)(ganz_backend *be, const real *z, real *scale, int count, bool power_of_two, real factor);
    void (*refresh)(ganz_backend *be, const ganz_refresh_item *items, int count);
    void (*rows_grad)(ganz_backend *be, const ganz_rows_grad_call *c);
    void (*adafactor)(ganz_backend *be, const ganz_update_call *c);
    void (*adam)(ganz_backend *be, const ganz_update_call *c);
    void (*topk)(ganz_backend *be, const ganz_topk_call *c);
    void (*recur)(ganz_backend *be, const ganz_recur_call *c); /* NULL: not on this device */
    /* to = to * keep + from * (1 - keep) over a block: running averages of parameters */
    void (*average)(ganz_backend *be, real *to, const real *from, size_t count, double keep);
    /* to += from over a block: gradients of parts of a step; and to[c] += from[r][c] for c < cols <= 32, rows in their
     * order: their losses. One rounding each, so that the bits are those of any other device */
    void (*add)(ganz_backend *be, real *to, const real *from, size_t count);
    void (*add_rows)(ganz_backend *be, double *to, const double *from, int rows, int cols);

    /* Integer translation: all of these or none (NULL). Sums are exact; the arithmetic after them is that of the
     * float operations above on codes, so that both give the same bits. Forward only, no dropout. */
    size_t (*pack_bytes)(const ganz_backend *be, int out, int in, bool nibbles); /* 0: too large */
    /* Weights into a block of pack_bytes, aligned to GANZ_ALIGN. Which other backends read it:
     * ganz_cpu_backend_follow. */
    const ganz_packed *(*pack)(ganz_backend *be, void *block, const ganz_pack_call *c);
    /* Codes (in) of an output of packed weights, in ordinary memory. NULL where those are elsewhere. */
    void (*unpack)(const ganz_backend *be, const ganz_packed *packed, int row, int8_t *codes);
    void (*embed_codes)(ganz_backend *be, const ganz_embed_call *c);
    void (*norm_codes)(ganz_backend *be, const ganz_norm_call *c);
    void (*linear_codes)(ganz_backend *be, const ganz_linear_call *c);
    void (*attention_codes)(ganz_backend *be, const ganz_attention_call *c);

    /* Short steps that come again and again: all of these or none (NULL). Integer operations and topk between `record`
     * and `recorded` are kept under a number of an owner's, and run. `replay` runs what is kept, on the same memory, or
     * returns false where nothing is. All of a kind must have run before once. */
    bool (*replay)(ganz_backend *be, const void *owner, int number);
    void (*record)(ganz_backend *be);
    void (*recorded)(ganz_backend *be, const void *owner, int number);
    void (*forget)(ganz_backend *be, const void *owner); /* before that memory goes */
};

/* `threads` >= 1. The caller owns it and ends it by be->close(be). */
ganz_status ganz_cpu_backend_open(ganz_backend **be, int threads, ganz_error *err);
/* A CPU backend that was just opened: its float products are of numbers rounded to bfloat16 from now on, with the same
 * bits on all processors that can: those with AMX, and all where GANZ_FORCE_ISA is scalar. */
ganz_status ganz_cpu_backend_bf16(ganz_backend *be, ganz_error *err);
/* Two CPU backends: takes on the processor features of `packer`, and so reads the weights it packed. */
void ganz_cpu_backend_follow(ganz_backend *be, const ganz_backend *packer);
/* GANZ_EINVAL with a sentence if it cannot read weights that `packer` packed. */
ganz_status ganz_cpu_backend_reads(const ganz_backend *be, const ganz_backend *packer, ganz_error *err);

typedef enum ganz_precision { GANZ_FP32, GANZ_TF32, GANZ_BF16_PRODUCTS } ganz_precision;
/* GANZ_EUNSUPPORTED in builds without CUDA and on machines without a GPU. */
ganz_status ganz_cuda_backend_open(ganz_backend **be, int device, ganz_precision precision, ganz_error *err);
int ganz_cuda_devices(void); /* that this process sees; 0: none */

/* By name: device "cpu", "cuda" or "cuda:N" (NULL: cpu); precision of products "auto", "fp32", "tf32" or "bf16" (NULL:
 * auto), auto being fp32 on a CPU, which knows no tf32, and bf16 on a GPU. threads: of a CPU, 0: all cores. */
ganz_status ganz_device_open(ganz_backend **be, const char *device, const char *precision, int threads,
                             ganz_error *err);

#endif
