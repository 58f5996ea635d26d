/* CTranslate2's model.bin: a header, variables end to end, and from version 3 on names that stand for other names. */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "import/formats.h"

enum { FIRST_VERSION = 1, LAST_VERSION = 6 };

typedef struct job {
    ganz_reader r;
    const char *name;
    int version;
    ganz_tensors *tensors;
    ganz_error *err;
} job;

static uint32_t read_number(ganz_reader *r, size_t bytes)
{
    const unsigned char *const at = ganz_read_bytes(r, bytes);
    uint32_t number = 0;
    for (size_t i = 0; at && i < bytes; i++) number |= (uint32_t)at[i] << (8 * i);
    return number;
}

static ganz_status broken(const job *j, const char *what)
{
    return ganz_fail(j->err, GANZ_EFORMAT, "%s: %s at byte %zu", j->name, what, j->r.at);
}

/* 16 bits of length, then that many bytes of which the last is 0. */
static ganz_status read_text(job *j, const char **text)
{
    const uint32_t length = read_number(&j->r, 2);
    const char *const at = ganz_read_bytes(&j->r, length);
    if (j->r.failed || length == 0 || at[length - 1] != '\0' || strlen(at) + 1 != length || length > GANZ_FOREIGN_NAME)
        return broken(j, "a name is damaged");
    *text = at;
    return GANZ_OK;
}

static bool type_of(uint32_t number, ganz_dtype *type)
{
    static const ganz_dtype types[] = {GANZ_DTYPE_F32, GANZ_DTYPE_I8,  GANZ_DTYPE_I16,
                                       GANZ_DTYPE_I32, GANZ_DTYPE_F16, GANZ_DTYPE_BF16};
    if (number >= GANZ_COUNT(types)) return false;
    *type = types[number];
    return true;
}

/* Before version 4 only the size of an item was said. */
static bool type_of_size(uint32_t bytes, ganz_dtype *type)
{
    *type = bytes == 1 ? GANZ_DTYPE_I8 : bytes == 2 ? GANZ_DTYPE_I16 : GANZ_DTYPE_F32;
    return bytes == 1 || bytes == 2 || bytes == 4;
}

static ganz_status read_variable(job *j)
{
    ganz_foreign t = {0};
    const char *name;
    GANZ_TRY(read_text(j, &name));
    t.name = (char *)(uintptr_t)name;
    t.rank = (int)read_number(&j->r, 1);
    if (t.rank > GANZ_FOREIGN_RANK) return broken(j, "a tensor has too many dimensions");
    for (int i = 0; i < t.rank; i++) t.dims[i] = read_number(&j->r, 4);
    const uint32_t kind = read_number(&j->r, 1);
    const bool known = j->version >= 4 ? type_of(kind, &t.dtype) : type_of_size(kind, &t.dtype);
    const uint32_t size = read_number(&j->r, 4);
    if (j->r.failed || !known) return broken(j, "a tensor has an unknown type");
    t.bytes = j->version >= 4 ? size : (size_t)size * kind;
    t.data = ganz_read_bytes(&j->r, t.bytes);
    if (j->r.failed) return broken(j, "a tensor is cut short");
    return ganz_tensors_add(j->tensors, &t, j->err);
}

/* Names of names are not followed: an alias names a variable. */
static ganz_status read_alias(job *j, int variables)
{
    const char *alias, *of;
    GANZ_TRY(read_text(j, &alias));
    GANZ_TRY(read_text(j, &of));
    const ganz_foreign *const found = ganz_tensors_find(j->tensors, of);
    if (!found || found - j->tensors->list >= variables)
        return ganz_fail(j->err, GANZ_EFORMAT, "%s: %.60s stands for %.60s, which is no variable", j->name, alias, of);
    ganz_foreign t = *found;
    t.name = (char *)(uintptr_t)alias;
    return ganz_tensors_add(j->tensors, &t, j->err);
}

static ganz_status read_header(job *j, ganz_ct2_file *file)
{
    const char *spec;
    *file = (ganz_ct2_file){.version = (int)read_number(&j->r, 4)};
    j->version = file->version;
    if (j->r.failed || j->version < FIRST_VERSION || j->version > LAST_VERSION)
        return ganz_fail(j->err, GANZ_EVERSION, "%s: no model of CTranslate2, or of a version beyond %d", j->name,
                         LAST_VERSION);
    if (j->version == 1) return GANZ_OK;
    GANZ_TRY(read_text(j, &spec));
    snprintf(file->spec, sizeof file->spec, "%s", spec);
    file->revision = (int)(read_number(&j->r, 4) & INT32_MAX);
    return GANZ_OK;
}

static ganz_status read_all(job *j, ganz_ct2_file *file)
{
    GANZ_TRY(read_header(j, file));
    const uint32_t variables = read_number(&j->r, 4);
    for (uint32_t i = 0; i < variables; i++) GANZ_TRY(read_variable(j));
    const int count = j->tensors->count;
    const uint32_t aliases = j->version >= 3 ? read_number(&j->r, 4) : 0;
    for (uint32_t i = 0; i < aliases; i++) GANZ_TRY(read_alias(j, count));
    return j->r.failed || j->r.at != j->r.bytes ? broken(j, "the file does not end where it should") : GANZ_OK;
}

ganz_status ganz_read_ctranslate2(ganz_tensors *tensors, ganz_ct2_file *file, const void *data, size_t bytes,
                                  const char *name, ganz_error *err)
{
    job j = {.r = ganz_reader_over(data, bytes), .name = name, .tensors = tensors, .err = err};
    return read_all(&j, file);
}
