/* Protocol buffers are fields of a number, a kind and bytes; a message within a message is its bytes. The numbers of
 * the fields are those of onnx.proto. */
#include "export/onnx_write.h"

#include <stdio.h>
#include <string.h>

#include "ganz/io.h"
#include "text/tokenizer.h"

enum { VERSION = 8, OPERATORS = 17 /* of the format, and of the set of operators */ };
enum { VARINT = 0, BYTES = 2, WORD = 5 };
/* Fields: model, graph, node, attribute, tensor, value, in the order of the format. */
enum { MODEL_VERSION = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPERATORS = 8 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_CONSTANT = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OP = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_FLOAT = 2, ATTRIBUTE_INT = 3, ATTRIBUTE_INTS = 8, ATTRIBUTE_KIND = 20 };
enum { TENSOR_DIM = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9 };

/* ---- fields ------------------------------------------------------------------------------------- */

static void put(ganz_onnx *g, ganz_text *to, const void *bytes, size_t count)
{
    if (!g->failed && count > 0) g->failed = !ganz_text_append(to, bytes, count);
}

static void put_varint(ganz_onnx *g, ganz_text *to, uint64_t number)
{
    unsigned char bytes[10];
    size_t n = 0;
    for (; number >= 128; number >>= 7) bytes[n++] = (unsigned char)(number | 128);
    bytes[n++] = (unsigned char)number;
    put(g, to, bytes, n);
}

static void put_key(ganz_onnx *g, ganz_text *to, int field, int kind)
{
    put_varint(g, to, (uint64_t)(field << 3 | kind));
}

static void put_int(ganz_onnx *g, ganz_text *to, int field, int64_t number)
{
    put_key(g, to, field, VARINT);
    put_varint(g, to, (uint64_t)number);
}

static void put_bytes(ganz_onnx *g, ganz_text *to, int field, const void *bytes, size_t count)
{
    put_key(g, to, field, BYTES);
    put_varint(g, to, count);
    put(g, to, bytes, count);
}

static void put_string(ganz_onnx *g, ganz_text *to, int field, const char *text)
{
    put_bytes(g, to, field, text, strlen(text));
}

static void put_float(ganz_onnx *g, ganz_text *to, int field, float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    const unsigned char bytes[4] = {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                                    (unsigned char)(bits >> 24)};
    put_key(g, to, field, WORD);
    put(g, to, bytes, sizeof bytes);
}

/* A message that is whole goes into the one around it. */
static void put_message(ganz_onnx *g, ganz_text *to, int field, ganz_text *message)
{
    put_bytes(g, to, field, message->text, message->bytes);
    ganz_text_free(message);
}

/* ---- constants ---------------------------------------------------------------------------------- */

static ganz_onnx_value named(const char *name)
{
    ganz_onnx_value v;
    snprintf(v.name, sizeof v.name, "%s", name);
    return v;
}

ganz_onnx_value ganz_onnx_constant(ganz_onnx *g, const char *name, const ganz_onnx_array *a)
{
    ganz_text tensor = {0};
    size_t count = 1;
    for (int i = 0; i < a->rank; i++) {
        put_int(g, &tensor, TENSOR_DIM, a->dims[i]);
        count *= (size_t)a->dims[i];
    }
    put_int(g, &tensor, TENSOR_TYPE, a->type);
    put_string(g, &tensor, TENSOR_NAME, name);
    put_bytes(g, &tensor, TENSOR_RAW, a->data,
              count * (a->type == GANZ_ONNX_F32   ? 4
                       : a->type == GANZ_ONNX_I64 ? 8
                                                  : 1));
    put_message(g, &g->constants, GRAPH_CONSTANT, &tensor);
    return named(name);
}

static ganz_onnx_value next_value(ganz_onnx *g, const char *what)
{
    ganz_onnx_value v;
    snprintf(v.name, sizeof v.name, "%.40s_%d", what, g->values++);
    return v;
}

ganz_onnx_value ganz_onnx_number(ganz_onnx *g, float number)
{
    const ganz_onnx_value v = next_value(g, "number");
    return ganz_onnx_constant(g, v.name, &(ganz_onnx_array){GANZ_ONNX_F32, 0, {0}, &number});
}

ganz_onnx_value ganz_onnx_whole(ganz_onnx *g, int64_t number)
{
    const ganz_onnx_value v = next_value(g, "whole");
    return ganz_onnx_constant(g, v.name, &(ganz_onnx_array){GANZ_ONNX_I64, 0, {0}, &number});
}

/* ---- nodes -------------------------------------------------------------------------------------- */

static void put_attribute(ganz_onnx *g, ganz_text *node, const ganz_onnx_attribute *a)
{
    ganz_text attribute = {0};
    put_string(g, &attribute, ATTRIBUTE_NAME, a->name);
    if (a->kind == GANZ_ONNX_FLOAT) put_float(g, &attribute, ATTRIBUTE_FLOAT, a->real);
    if (a->kind == GANZ_ONNX_INT) put_int(g, &attribute, ATTRIBUTE_INT, a->whole[0]);
    for (int i = 0; a->kind == GANZ_ONNX_INTS && i < a->count; i++) put_int(g, &attribute, ATTRIBUTE_INTS, a->whole[i]);
    put_int(g, &attribute, ATTRIBUTE_KIND, a->kind);
    put_message(g, node, NODE_ATTRIBUTE, &attribute);
}

ganz_onnx_value ganz_onnx_node(ganz_onnx *g, const char *op, const ganz_onnx_value in[3],
                               const ganz_onnx_attribute *attributes)
{
    ganz_text node = {0};
    const ganz_onnx_value result = next_value(g, op);
    int count = 3;
    while (count > 0 && !in[count - 1].name[0]) count--;
    for (int i = 0; i < count; i++) put_string(g, &node, NODE_INPUT, in[i].name);
    put_string(g, &node, NODE_OUTPUT, result.name);
    put_string(g, &node, NODE_OP, op);
    for (; attributes && attributes->name; attributes++) put_attribute(g, &node, attributes);
    put_message(g, &g->nodes, GRAPH_NODE, &node);
    return result;
}

/* ---- inputs and outputs ------------------------------------------------------------------------- */

/* The name and type of a value: value { name, type { tensor { element, shape { dim { size or name } } } } } */
static void put_value(ganz_onnx *g, ganz_text *to, int field, const char *name, ganz_onnx_type type,
                      const ganz_onnx_shape *s)
{
    ganz_text shape = {0}, tensor = {0}, kind = {0}, value = {0};
    for (int i = 0; i < 2 && (s->name[i] || s->size[i]); i++) {
        ganz_text dim = {0};
        if (s->name[i]) put_string(g, &dim, 2, s->name[i]);
        else put_int(g, &dim, 1, s->size[i]);
        put_message(g, &shape, 1, &dim);
    }
    put_int(g, &tensor, 1, type);
    put_message(g, &tensor, 2, &shape);
    put_message(g, &kind, 1, &tensor);
    put_string(g, &value, 1, name);
    put_message(g, &value, 2, &kind);
    put_message(g, to, field, &value);
}

ganz_onnx_value ganz_onnx_input(ganz_onnx *g, const char *name, ganz_onnx_type type, const ganz_onnx_shape *shape)
{
    put_value(g, &g->inputs, GRAPH_INPUT, name, type, shape);
    return named(name);
}

void ganz_onnx_output(ganz_onnx *g, const char *name, const ganz_onnx_value *value, const ganz_onnx_shape *shape)
{
    ganz_text node = {0};
    put_string(g, &node, NODE_INPUT, value->name);
    put_string(g, &node, NODE_OUTPUT, name);
    put_string(g, &node, NODE_OP, "Identity");
    put_message(g, &g->nodes, GRAPH_NODE, &node);
    put_value(g, &g->outputs, GRAPH_OUTPUT, name, GANZ_ONNX_F32, shape);
}

/* ---- the file ----------------------------------------------------------------------------------- */

void ganz_onnx_free(ganz_onnx *g)
{
    ganz_text_free(&g->nodes);
    ganz_text_free(&g->constants);
    ganz_text_free(&g->inputs);
    ganz_text_free(&g->outputs);
}

/* All before the bytes of the graph, whose length they end with. */
static void make_head(ganz_onnx *g, ganz_text *head, const ganz_text *name)
{
    ganz_text operators = {0};
    put_int(g, head, MODEL_VERSION, VERSION);
    put_string(g, head, MODEL_PRODUCER, "ganz");
    put_int(g, &operators, 2, OPERATORS);
    put_message(g, head, MODEL_OPERATORS, &operators);
    put_key(g, head, MODEL_GRAPH, BYTES);
    put_varint(g, head, name->bytes + g->nodes.bytes + g->constants.bytes + g->inputs.bytes + g->outputs.bytes);
}

ganz_status ganz_onnx_save(ganz_onnx *g, const char *path, const char *name, ganz_error *err)
{
    ganz_text head = {0}, title = {0};
    ganz_output *out = NULL;
    ganz_status status;
    put_string(g, &title, GRAPH_NAME, name);
    make_head(g, &head, &title);
    const ganz_text *const parts[] = {&head, &g->nodes, &title, &g->constants, &g->inputs, &g->outputs};
    GANZ_CHECK(g->failed ? ganz_fail(err, GANZ_ENOMEM, "out of memory for %s", path) : GANZ_OK);
    GANZ_CHECK(ganz_output_open(&out, path, err));
    for (size_t i = 0; i < GANZ_COUNT(parts); i++)
        GANZ_CHECK(ganz_output_write(out, parts[i]->text, parts[i]->bytes, err));
    status = ganz_output_finish(&out, err);
out:
    if (out) ganz_output_abandon(&out);
    ganz_text_free(&head);
    ganz_text_free(&title);
    return status;
}
