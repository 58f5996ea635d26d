/* The parameters of a network by name, in one block, so that gradients, optimizer slots and files are blocks too. */
#ifndef GANZ_NN_PARAM_H
#define GANZ_NN_PARAM_H

#include "base/base.h"

typedef enum ganz_param_kind {
    GANZ_WEIGHT,    /* dense kernel (out, in): uniform +-sqrt(6 / (in + out)) */
    GANZ_EMBEDDING, /* (vocab, d): normal, deviation d^-0.5 */
    GANZ_TABLE,     /* target-space rows (32, d): uniform like a kernel; row 0 is used */
    GANZ_VECTOR,    /* (1, d), the decoder's start: 0 */
    GANZ_BIAS,      /* (1, out): 0 */
    GANZ_NORM_GAIN, /* (1, d): 1 */
    GANZ_NORM_BIAS, /* (1, d): 0 */
    GANZ_SCALE,     /* (1, 1): z = log2 of a learned scale */
    GANZ_ROW_SCALES /* (1, all rows of weights): the same of learned scales of weights; only while they are learned */
} ganz_param_kind;

typedef struct ganz_param {
    char name[48]; /* "enc.0.self.q.weight" */
    ganz_param_kind kind;
    int rows, cols;
    int site;      /* place of the site whose weight or bias it is; -1: none */
    size_t offset; /* in elements, in the block; a multiple of 64 unless it begins where the one before ends */
} ganz_param;

static inline size_t ganz_param_count(const ganz_param *p) { return (size_t)p->rows * (size_t)p->cols; }
/* Of rounding, and no part of a float model. */
static inline bool ganz_param_is_scale(const ganz_param *p)
{
    return p->kind == GANZ_SCALE || p->kind == GANZ_ROW_SCALES;
}
/* Rank 2 in Tensor2Tensor: factored by Adafactor. */
static inline bool ganz_param_is_matrix(const ganz_param *p)
{
    return p->kind == GANZ_WEIGHT || p->kind == GANZ_EMBEDDING || p->kind == GANZ_TABLE;
}

typedef struct ganz_params {
    ganz_param *list;
    int count;
    size_t capacity;
    size_t block; /* elements of the whole block, padding included */
} ganz_params;

/* Adds one; *index is its place in the list. `contiguous_with_previous`: starts right where the last one ended (q, k, v
 * of one layer are also one matrix). */
ganz_status ganz_params_add(ganz_params *params, const ganz_param *what, bool contiguous_with_previous, int *index,
                            ganz_error *err);
void ganz_params_free(ganz_params *params);
/* Numbers that FP32 training changes (no scales): 61,163,520 for Base with 33,288 entries. */
size_t ganz_params_total(const ganz_params *params);
/* Initial values into a host block, each tensor from its own stream of `seed`; scales start at 0. */
void ganz_params_init(const ganz_params *params, uint64_t seed, real *block);

#endif
