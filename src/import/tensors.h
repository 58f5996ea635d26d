/* Tensors of other programs' files: what every reader of a format gives. Nothing is copied that lies in the bytes of a
 * file. */
#ifndef GANZ_IMPORT_TENSORS_H
#define GANZ_IMPORT_TENSORS_H

#include "model/container.h"

enum { GANZ_FOREIGN_TENSORS = 8192, GANZ_FOREIGN_NAME = 512, GANZ_FOREIGN_RANK = 8 }; /* most */

typedef struct ganz_foreign {
    char *name;
    ganz_dtype dtype;
    int rank;
    int64_t dims[GANZ_FOREIGN_RANK]; /* (rank), none negative */
    const unsigned char *data;       /* (bytes) of any alignment, rows first, little endian */
    size_t bytes;
    double multiplier; /* codes are to be divided by it; 0: they are not codes, or have a tensor of scales */
} ganz_foreign;

/* A list that owns names and the blocks it was given; data of tensors belong to those who brought them. Starts as
 * zeroes. */
typedef struct ganz_tensors {
    ganz_foreign *list;
    int count;
    size_t capacity;
    void **blocks;
    size_t block_count, block_capacity;
} ganz_tensors;

/* Adds one, whose name is copied; refuses a name given before, a shape that does not go with the bytes, and too many.
 */
ganz_status ganz_tensors_add(ganz_tensors *tensors, const ganz_foreign *tensor, ganz_error *err);
/* Memory that lives as long as the list; NULL: there is none. */
void *ganz_tensors_block(ganz_tensors *tensors, size_t bytes);
const ganz_foreign *ganz_tensors_find(const ganz_tensors *tensors, const char *name); /* NULL: none */
void ganz_tensors_close(ganz_tensors *tensors);

/* Elements of a shape; false: beyond what memory can hold. */
bool ganz_foreign_count(const ganz_foreign *tensor, size_t *count);
/* Elements [first, first + count) as numbers; only whole numbers and floating point of at most 64 bits. */
void ganz_foreign_values(const ganz_foreign *tensor, size_t first, size_t count, float *values);
/* The only element of a tensor, of any type; false: it has several. */
bool ganz_foreign_scalar(const ganz_foreign *tensor, double *value);

#endif
