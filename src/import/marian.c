/* Marian's .bin: counts and sizes of all items, their names, shapes and data, each end to end. Integer items of the
 * forks of Bergamot and Firefox end in the number that their codes are to be divided by. */
#include <string.h>

#include "base/io.h"
#include "import/formats.h"

enum { FLOAT32 = 0x404, FLOAT16 = 0x402, INT8 = 0x101, CODES8 = 0x4101, CODES16 = 0x4102 };
enum { MOST_RANK = 4 };

typedef struct item {
    uint64_t name_bytes, type, rank, bytes;
    const char *name;
    int64_t dims[MOST_RANK];
} item;

typedef struct job {
    ganz_reader r;
    const char *name;
    item *items;
    size_t count;
    ganz_tensors *tensors;
    ganz_error *err;
} job;

static ganz_status broken(const job *j, const char *what)
{
    return ganz_fail(j->err, GANZ_EFORMAT, "%s: %s", j->name, what);
}

static ganz_status read_sizes(job *j)
{
    const uint64_t version = ganz_read_u64(&j->r), count = ganz_read_u64(&j->r);
    if (j->r.failed || version != 1) return broken(j, "no model of Marian, or not of version 1");
    if (count == 0 || count > GANZ_FOREIGN_TENSORS) return broken(j, "the number of items makes no sense");
    j->items = ganz_alloc((size_t)count, sizeof *j->items);
    if (!j->items) return ganz_fail(j->err, GANZ_ENOMEM, "%s: out of memory", j->name);
    j->count = (size_t)count;
    for (size_t i = 0; i < j->count; i++) {
        item *const m = &j->items[i];
        m->name_bytes = ganz_read_u64(&j->r);
        m->type = ganz_read_u64(&j->r);
        m->rank = ganz_read_u64(&j->r);
        m->bytes = ganz_read_u64(&j->r);
        if (j->r.failed || m->rank > MOST_RANK || m->name_bytes == 0 || m->name_bytes > GANZ_FOREIGN_NAME ||
            m->bytes > j->r.bytes)
            return broken(j, "the sizes of an item make no sense");
    }
    return GANZ_OK;
}

static ganz_status read_names(job *j)
{
    for (size_t i = 0; i < j->count; i++) {
        item *const m = &j->items[i];
        m->name = ganz_read_bytes(&j->r, (size_t)m->name_bytes);
        if (!m->name || strnlen(m->name, (size_t)m->name_bytes) + 1 != m->name_bytes)
            return broken(j, "a name is damaged");
    }
    return GANZ_OK;
}

static ganz_status read_shapes(job *j)
{
    for (size_t i = 0; i < j->count; i++)
        for (uint64_t k = 0; k < j->items[i].rank; k++) {
            int32_t dim;
            const void *const at = ganz_read_bytes(&j->r, sizeof dim);
            if (!at) return broken(j, "a shape is cut short");
            memcpy(&dim, at, sizeof dim);
            if (dim < 0) return broken(j, "a shape has a negative number");
            j->items[i].dims[k] = dim;
        }
    const uint64_t gap = ganz_read_u64(&j->r);
    if (j->r.failed || gap > j->r.bytes || !ganz_read_bytes(&j->r, (size_t)gap))
        return broken(j, "the data begin beyond the end of the file");
    return GANZ_OK;
}

static bool type_of(const item *m, ganz_dtype *type)
{
    switch (m->type) {
    case FLOAT32: *type = GANZ_DTYPE_F32; return true;
    case FLOAT16: *type = GANZ_DTYPE_F16; return true;
    case INT8:
    case CODES8: *type = GANZ_DTYPE_I8; return true;
    case CODES16: *type = GANZ_DTYPE_I16; return true;
    default: return false;
    }
}

/* Matrices of codes lie (out, in), whatever their shape says; tables do not. */
static void turn(ganz_foreign *t)
{
    const size_t n = strlen(t->name);
    if (t->rank != 2 || (n >= 4 && strcmp(t->name + n - 4, "Wemb") == 0)) return;
    const int64_t rows = t->dims[0];
    t->dims[0] = t->dims[1];
    t->dims[1] = rows;
}

static ganz_status add_item(job *j, const item *m)
{
    ganz_foreign t = {.name = (char *)(uintptr_t)m->name, .rank = (int)m->rank};
    const unsigned char *const data = ganz_read_bytes(&j->r, (size_t)m->bytes);
    const bool codes = m->type == CODES8 || m->type == CODES16;
    size_t count;
    memcpy(t.dims, m->dims, sizeof m->dims);
    if (!data) return broken(j, "the data of an item are cut short");
    if (!type_of(m, &t.dtype))
        return ganz_fail(j->err, GANZ_EUNSUPPORTED, "%s: %.60s has type %#llx, made for one kind of processor", j->name,
                         m->name, (unsigned long long)m->type);
    if (!ganz_foreign_count(&t, &count) || !ganz_mul_size(count, ganz_dtype_bytes(t.dtype), &t.bytes) ||
        t.bytes > m->bytes || (codes && m->bytes - t.bytes < sizeof(float)))
        return ganz_fail(j->err, GANZ_EFORMAT, "%s: %.60s is larger than its data", j->name, m->name);
    t.data = data;
    if (codes) {
        float multiplier;
        memcpy(&multiplier, data + t.bytes, sizeof multiplier);
        if (!(multiplier > 0))
            return ganz_fail(j->err, GANZ_EFORMAT, "%s: %.60s has a scale that is not above 0", j->name, m->name);
        t.multiplier = (double)multiplier;
        turn(&t);
    }
    return ganz_tensors_add(j->tensors, &t, j->err);
}

static ganz_status read_all(job *j)
{
    GANZ_TRY(read_sizes(j));
    GANZ_TRY(read_names(j));
    GANZ_TRY(read_shapes(j));
    for (size_t i = 0; i < j->count; i++) GANZ_TRY(add_item(j, &j->items[i]));
    return GANZ_OK;
}

ganz_status ganz_read_marian(ganz_tensors *tensors, const void *data, size_t bytes, const char *name, ganz_error *err)
{
    job j = {.r = ganz_reader_over(data, bytes), .name = name, .tensors = tensors, .err = err};
    const ganz_status status = read_all(&j);
    ganz_free(j.items);
    return status;
}
