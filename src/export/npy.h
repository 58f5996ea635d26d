/* Arrays in files of NumPy's plain format, .npy version 1.0: a line that says type and shape, then the numbers, the
 * last index moving fastest. */
#ifndef GANZ_EXPORT_NPY_H
#define GANZ_EXPORT_NPY_H

#include "base/base.h"

typedef enum ganz_npy_type { GANZ_NPY_I8, GANZ_NPY_U8, GANZ_NPY_I32, GANZ_NPY_F32 } ganz_npy_type;

typedef struct ganz_npy {
    ganz_npy_type type;
    int rank; /* 1 to 3 */
    int dims[3];
    const void *data;
    size_t stride; /* elements from one line (last dimension) to the next; 0: they lie end to end */
} ganz_npy;

enum { GANZ_NPY_HEAD = 128 }; /* bytes before the numbers, a multiple of 64 as NumPy wants it */
/* What stands before the numbers. */
void ganz_npy_head(const ganz_npy *array, char head[GANZ_NPY_HEAD]);

/* Writes a file; *bytes grows by its size. An error may leave a part of it. */
ganz_status ganz_npy_write(const char *path, const ganz_npy *array, long long *bytes, ganz_error *err);

#endif
