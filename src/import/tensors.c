/* A list of foreign tensors, and their numbers as floats whatever they are kept as. */
#include "import/tensors.h"

#include <string.h>

bool ganz_foreign_count(const ganz_foreign *t, size_t *count)
{
    *count = 1;
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] < 0 || !ganz_mul_size(*count, (size_t)t->dims[i], count)) return false;
    return true;
}

const ganz_foreign *ganz_tensors_find(const ganz_tensors *tensors, const char *name)
{
    for (int i = 0; i < tensors->count; i++)
        if (strcmp(tensors->list[i].name, name) == 0) return &tensors->list[i];
    return NULL;
}

static ganz_status check(const ganz_tensors *tensors, const ganz_foreign *t, ganz_error *err)
{
    size_t count, bytes;
    if (tensors->count >= GANZ_FOREIGN_TENSORS)
        return ganz_fail(err, GANZ_ELIMIT, "more than %d tensors", GANZ_FOREIGN_TENSORS);
    if (t->rank > GANZ_FOREIGN_RANK || strlen(t->name) > GANZ_FOREIGN_NAME)
        return ganz_fail(err, GANZ_ELIMIT, "tensor %.60s has a name or a rank beyond the limits", t->name);
    if (!ganz_foreign_count(t, &count) || !ganz_mul_size(count, ganz_dtype_bytes(t->dtype), &bytes) ||
        bytes != t->bytes)
        return ganz_fail(err, GANZ_EFORMAT, "tensor %.60s has %zu bytes, which its shape does not", t->name, t->bytes);
    if (ganz_tensors_find(tensors, t->name))
        return ganz_fail(err, GANZ_EFORMAT, "two tensors are called %.60s", t->name);
    return GANZ_OK;
}

ganz_status ganz_tensors_add(ganz_tensors *tensors, const ganz_foreign *t, ganz_error *err)
{
    GANZ_TRY(check(tensors, t, err));
    char *const name = ganz_strdup(t->name);
    if (!name ||
        !ganz_grow((void **)&tensors->list, &tensors->capacity, (size_t)tensors->count + 1, sizeof *tensors->list)) {
        ganz_free(name);
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for a list of tensors");
    }
    tensors->list[tensors->count] = *t;
    tensors->list[tensors->count++].name = name;
    return GANZ_OK;
}

void *ganz_tensors_block(ganz_tensors *tensors, size_t bytes)
{
    if (!ganz_grow((void **)&tensors->blocks, &tensors->block_capacity, tensors->block_count + 1, sizeof(void *)))
        return NULL;
    void *const block = ganz_alloc_large(bytes ? bytes : 1);
    if (block) tensors->blocks[tensors->block_count++] = block;
    return block;
}

void ganz_tensors_close(ganz_tensors *tensors)
{
    for (int i = 0; i < tensors->count; i++) ganz_free(tensors->list[i].name);
    for (size_t i = 0; i < tensors->block_count; i++) ganz_free(tensors->blocks[i]);
    ganz_free(tensors->list);
    ganz_free(tensors->blocks);
    *tensors = (ganz_tensors){0};
}

/* ---- numbers ------------------------------------------------------------------------------------ */

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Half precision: numbers below 2^-14 have no hidden bit. */
static float from_half(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, fraction = h & 1023u;
    if (exponent == 31) return from_bits(sign | 0x7F800000u | fraction << 13);
    if (exponent > 0) return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    const float small = (float)fraction * 0x1p-24f;
    return sign ? -small : small;
}

#define COPY(type, expression)                   \
    for (size_t i = 0; i < count; i++) {         \
        type x;                                  \
        memcpy(&x, at + i * sizeof x, sizeof x); \
        values[i] = (expression);                \
    }                                            \
    break

void ganz_foreign_values(const ganz_foreign *t, size_t first, size_t count, float *values)
{
    const unsigned char *const at = t->data + first * ganz_dtype_bytes(t->dtype);
    switch (t->dtype) {
    case GANZ_DTYPE_F32: memcpy(values, at, count * sizeof *values); break;
    case GANZ_DTYPE_F64: COPY(double, (float)x);
    case GANZ_DTYPE_F16: COPY(uint16_t, from_half(x));
    case GANZ_DTYPE_BF16: COPY(uint16_t, from_bits((uint32_t)x << 16));
    case GANZ_DTYPE_I8: COPY(int8_t, (float)x);
    case GANZ_DTYPE_I16: COPY(int16_t, (float)x);
    case GANZ_DTYPE_I32: COPY(int32_t, (float)x);
    case GANZ_DTYPE_I64: COPY(int64_t, (float)x);
    case GANZ_DTYPE_U16: COPY(uint16_t, (float)x);
    case GANZ_DTYPE_U32: COPY(uint32_t, (float)x);
    case GANZ_DTYPE_U64: COPY(uint64_t, (float)x);
    case GANZ_DTYPE_BOOL:
    case GANZ_DTYPE_U8:
    default: COPY(uint8_t, (float)x);
    }
}

bool ganz_foreign_scalar(const ganz_foreign *t, double *value)
{
    size_t count;
    float number;
    if (!ganz_foreign_count(t, &count) || count != 1) return false;
    ganz_foreign_values(t, 0, 1, &number);
    *value = (double)number;
    return true;
}
