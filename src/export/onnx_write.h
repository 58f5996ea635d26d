/* ONNX files: a graph of nodes and constants, written as protocol buffers by hand. Values of the graph are known by
 * their names. Memory that runs out is remembered and told at the end. */
#ifndef GANZ_EXPORT_ONNX_WRITE_H
#define GANZ_EXPORT_ONNX_WRITE_H

#include "ganz/vocab.h"
#include "base/base.h"

/* Types of elements, by their numbers in the format. */
typedef enum ganz_onnx_type { GANZ_ONNX_F32 = 1, GANZ_ONNX_U8 = 2, GANZ_ONNX_I8 = 3, GANZ_ONNX_I64 = 7 } ganz_onnx_type;

/* An input, an output, a constant or the result of a node; no name: an argument that is left out. */
typedef struct ganz_onnx_value {
    char name[64];
} ganz_onnx_value;

/* A number of a node: one of the three. */
typedef struct ganz_onnx_attribute {
    const char *name; /* NULL ends a list */
    enum { GANZ_ONNX_FLOAT = 1, GANZ_ONNX_INT = 2, GANZ_ONNX_INTS = 7 } kind;
    float real;
    int64_t whole[3]; /* one, or `count` of them */
    int count;
} ganz_onnx_attribute;

typedef struct ganz_onnx {
    ganz_text nodes, constants, inputs, outputs; /* parts of the graph */
    int values;                                  /* results so far, for their names */
    bool failed;                                 /* memory is out */
} ganz_onnx;

void ganz_onnx_free(ganz_onnx *graph);

/* A shape of at most two dimensions: positive ones, and names of those that inputs decide; NULL ends it. */
typedef struct ganz_onnx_shape {
    const char *name[2];
    int64_t size[2]; /* where there is no name; 0: no such dimension */
} ganz_onnx_shape;
ganz_onnx_value ganz_onnx_input(ganz_onnx *graph, const char *name, ganz_onnx_type type, const ganz_onnx_shape *shape);
/* Gives the name of an output to a value. */
void ganz_onnx_output(ganz_onnx *graph, const char *name, const ganz_onnx_value *value, const ganz_onnx_shape *shape);

/* Numbers that the graph holds; rank 0: one number. They are copied. */
typedef struct ganz_onnx_array {
    ganz_onnx_type type;
    int rank;
    int64_t dims[2];
    const void *data;
} ganz_onnx_array;
ganz_onnx_value ganz_onnx_constant(ganz_onnx *graph, const char *name, const ganz_onnx_array *array);
/* A constant without a name that matters. */
ganz_onnx_value ganz_onnx_number(ganz_onnx *graph, float number);
ganz_onnx_value ganz_onnx_whole(ganz_onnx *graph, int64_t number);

/* A node with at most three inputs, those without a name at the end left out. attributes: up to one without a name, or
 * NULL. */
ganz_onnx_value ganz_onnx_node(ganz_onnx *graph, const char *op, const ganz_onnx_value in[3],
                               const ganz_onnx_attribute *attributes);

/* Writes the file, whole or not at all. */
ganz_status ganz_onnx_save(ganz_onnx *graph, const char *path, const char *name, ganz_error *err);

#endif
