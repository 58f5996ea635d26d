/* numpy's archives: a zip of .npy files, each a header that is a Python dictionary, and data. Stored members are used
 * where they lie, compressed ones are unpacked. */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "document/zip.h"
#include "import/formats.h"

static const ganz_zip_limits limits = {(size_t)4 << 30, GANZ_FOREIGN_TENSORS, 1024};

typedef struct job {
    ganz_zip *zip;
    const char *name;
    ganz_tensors *tensors;
    ganz_error *err;
} job;

static ganz_status broken(const job *j, const char *member, const char *what)
{
    return ganz_fail(j->err, GANZ_EFORMAT, "%s: %.80s: %s", j->name, member, what);
}

/* What follows "'key':" in the header; NULL: there is no such key. */
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *const at = strstr(header, quoted);
    return at ? at + strlen(quoted) + strspn(at + strlen(quoted), " ") : NULL;
}

static bool type_of(const char *descr, ganz_dtype *type)
{
    static const struct {
        const char *word;
        ganz_dtype type;
    } types[] = {{"'<f4'", GANZ_DTYPE_F32}, {"'<f2'", GANZ_DTYPE_F16}, {"'<f8'", GANZ_DTYPE_F64},
                 {"'|i1'", GANZ_DTYPE_I8},  {"'|u1'", GANZ_DTYPE_U8},  {"'<i2'", GANZ_DTYPE_I16},
                 {"'<i4'", GANZ_DTYPE_I32}, {"'<i8'", GANZ_DTYPE_I64}, {"'|b1'", GANZ_DTYPE_BOOL}};
    for (size_t i = 0; i < GANZ_COUNT(types); i++)
        if (strncmp(descr, types[i].word, strlen(types[i].word)) == 0) {
            *type = types[i].type;
            return true;
        }
    return false;
}

/* "(3, 4)", "(5,)" or "()". */
static bool read_shape(const char *at, ganz_foreign *t)
{
    if (*at++ != '(') return false;
    for (t->rank = 0;;) {
        at += strspn(at, " ,");
        if (*at == ')') return true;
        if (*at < '0' || *at > '9' || t->rank == GANZ_FOREIGN_RANK) return false;
        int64_t dim = 0;
        for (; *at >= '0' && *at <= '9'; at++)
            if (__builtin_mul_overflow(dim, 10, &dim) || __builtin_add_overflow(dim, *at - '0', &dim)) return false;
        t->dims[t->rank++] = dim;
    }
}

static ganz_status read_header(const job *j, const char *member, const char *header, ganz_foreign *t)
{
    const char *const descr = value_of(header, "descr"), *const order = value_of(header, "fortran_order"),
                      *const shape = value_of(header, "shape");
    if (!descr || !order || !shape || !read_shape(shape, t)) return broken(j, member, "its header is damaged");
    if (!type_of(descr, &t->dtype))
        return ganz_fail(j->err, GANZ_EUNSUPPORTED, "%s: %.80s has numbers of type %.8s", j->name, member, descr);
    if (strncmp(order, "False", 5) != 0 && t->rank > 1)
        return ganz_fail(j->err, GANZ_EUNSUPPORTED, "%s: %.80s has columns first (fortran_order)", j->name, member);
    return GANZ_OK;
}

/* Magic, version, length of the header (16 bits in version 1, else 32), header, data. */
static ganz_status read_array(const job *j, const char *member, const unsigned char *data, size_t bytes)
{
    char header[1024];
    if (bytes < 12 || memcmp(data, "\x93NUMPY", 6) != 0) return broken(j, member, "no array of numpy");
    const size_t wide = data[6] == 1 ? 2 : 4, begin = 8 + wide;
    size_t length = 0;
    for (size_t i = 0; i < wide; i++) length |= (size_t)data[8 + i] << (8 * i);
    if (length >= sizeof header || length > bytes - begin) return broken(j, member, "its header is damaged");
    memcpy(header, data + begin, length);
    header[length] = '\0';
    char name[GANZ_FOREIGN_NAME + 8];
    snprintf(name, sizeof name, "%s", member);
    const size_t n = strlen(name);
    if (n > 4 && strcmp(name + n - 4, ".npy") == 0) name[n - 4] = '\0';
    ganz_foreign t = {.name = name, .data = data + begin + length, .bytes = bytes - begin - length};
    GANZ_TRY(read_header(j, member, header, &t));
    return ganz_tensors_add(j->tensors, &t, j->err);
}

static ganz_status read_member(const job *j, int member)
{
    const char *const name = ganz_zip_name(j->zip, member);
    const unsigned char *data;
    size_t bytes;
    ganz_error why;
    ganz_status status = ganz_zip_claim(j->zip, member, &bytes, &why);
    if (status == GANZ_OK && ganz_zip_stored(j->zip, member)) status = ganz_zip_peek(j->zip, member, &data, &why);
    else if (status == GANZ_OK) {
        char *const room = ganz_tensors_block(j->tensors, bytes + 1);
        if (!room) return ganz_fail(j->err, GANZ_ENOMEM, "%s: out of memory", j->name);
        status = ganz_zip_read(j->zip, member, room, &why);
        data = (const unsigned char *)room;
    }
    if (status != GANZ_OK) return ganz_fail(j->err, status, "%s: %s", j->name, why.message);
    return read_array(j, name, data, bytes);
}

ganz_status ganz_read_npz(ganz_tensors *tensors, const void *data, size_t bytes, const char *name, ganz_error *err)
{
    job j = {.name = name, .tensors = tensors, .err = err};
    ganz_error why;
    ganz_status status = ganz_zip_open(&j.zip, data, bytes, &limits, &why);
    if (status != GANZ_OK) return ganz_fail(err, status, "%s: %s", name, why.message);
    for (int i = 0; i < ganz_zip_count(j.zip) && status == GANZ_OK; i++) status = read_member(&j, i);
    ganz_zip_close(&j.zip);
    return status;
}
