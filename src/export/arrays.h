/* The arrays of a model as other programs keep them: their names, their shapes, their order of entries. A list says
 * what there is; the numbers of each are made when its turn comes, floats in any case. */
#ifndef GANZ_EXPORT_ARRAYS_H
#define GANZ_EXPORT_ARRAYS_H

#include "import/naming.h"
#include "model/model.h"

enum { GANZ_ARRAYS_MOST = 4096 };

/* How rows of a table are ordered there. Ours begin with padding and the end mark. */
typedef struct ganz_row_order {
    int count;
    bool ours; /* the same */
    int pad;   /* else the end mark comes first, padding has this place; -1: there is none */
} ganz_row_order;
/* Our id of their row. */
int ganz_row_of(const ganz_row_order *order, int theirs);

typedef enum ganz_array_kind {
    GANZ_ARRAY_PARAM,       /* a parameter as it is, or zeros */
    GANZ_ARRAY_TABLE,       /* rows of a table, in their order */
    GANZ_ARRAY_LOGITS_BIAS, /* in their order; see the code for padding's */
    GANZ_ARRAY_POSITIONS    /* of the encoder (side 0) with the target space added to each row, or of the decoder */
} ganz_array_kind;

typedef struct ganz_array {
    char name[192];
    ganz_array_kind kind;
    int rank, rows, cols; /* as they are there; of vectors rows is 1, rank 1 or 2 */
    int param;            /* -1: zeros, or not needed */
    bool turned;          /* (in, out): columns of ours are rows there */
    int side;             /* of positions */
    ganz_row_order order; /* of tables and of the bias of the logits */
} ganz_array;

typedef struct ganz_arrays {
    const ganz_model *model;
    const ganz_naming *naming;
    int vector_rank; /* 1, or 2: vectors are (1, n) */
    ganz_array *list;
    int count;
    size_t capacity;
    ganz_error *err;
} ganz_arrays;

/* Adds weights, biases (zeros where we have none and they always do) and norms of all layers, by the naming. */
ganz_status ganz_arrays_layers(ganz_arrays *arrays);
ganz_status ganz_arrays_table(ganz_arrays *arrays, const char *name, int param, const ganz_row_order *order);
ganz_status ganz_arrays_logits_bias(ganz_arrays *arrays, const char *name, const ganz_row_order *order);
ganz_status ganz_arrays_positions(ganz_arrays *arrays, const char *name, int side, int rows);
void ganz_arrays_close(ganz_arrays *arrays);

/* The numbers (rows, cols) of one; *values are the caller's (ganz_free). */
ganz_status ganz_array_values(const ganz_arrays *arrays, const ganz_array *array, float **values);

#endif
