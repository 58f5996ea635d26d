/* Writes .npy files, straight to their names: what makes a folder of them whole is its index, written last. */
#include "export/npy.h"

#include <stdio.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ORDER ">"
#else
#define ORDER "<"
#endif
static const char *const names[] = {
    [GANZ_NPY_I8] = "|i1", [GANZ_NPY_U8] = "|u1", [GANZ_NPY_I32] = ORDER "i4", [GANZ_NPY_F32] = ORDER "f4"};

static size_t element_bytes(ganz_npy_type type) { return type == GANZ_NPY_I32 || type == GANZ_NPY_F32 ? 4 : 1; }

void ganz_npy_head(const ganz_npy *a, char head[GANZ_NPY_HEAD])
{
    char shape[48] = "", text[GANZ_NPY_HEAD];
    for (int i = 0; i < a->rank; i++) {
        const size_t n = strlen(shape);
        const char *const behind = a->rank == 1 ? "," : i + 1 < a->rank ? ", " : ""; /* as NumPy: others parse less */
        snprintf(shape + n, sizeof shape - n, "%d%s", a->dims[i], behind);
    }
    memset(head, ' ', GANZ_NPY_HEAD);
    memcpy(head, "\x93NUMPY\x01\0", 8);
    head[8] = GANZ_NPY_HEAD - 10; /* bytes that follow these two, the low one first */
    head[9] = 0;
    const int n =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", names[a->type], shape);
    memcpy(head + 10, text, (size_t)n);
    head[GANZ_NPY_HEAD - 1] = '\n';
}

static bool write_lines(FILE *file, const ganz_npy *a)
{
    const size_t cols = (size_t)a->dims[a->rank - 1], each = element_bytes(a->type);
    const size_t stride = (a->stride ? a->stride : cols) * each;
    size_t lines = 1;
    for (int i = 0; i + 1 < a->rank; i++) lines *= (size_t)a->dims[i];
    for (size_t i = 0; i < lines; i++)
        if (fwrite((const char *)a->data + i * stride, each, cols, file) != cols) return false;
    return true;
}

ganz_status ganz_npy_write(const char *path, const ganz_npy *array, long long *bytes, ganz_error *err)
{
    char head[GANZ_NPY_HEAD];
    FILE *const file = fopen(path, "wb");
    if (!file) return ganz_fail_errno(err, "write", path);
    ganz_npy_head(array, head);
    const bool good =
        fwrite(head, 1, GANZ_NPY_HEAD, file) == GANZ_NPY_HEAD && write_lines(file, array) && fflush(file) == 0;
    const ganz_status status = good ? GANZ_OK : ganz_fail_errno(err, "write", path);
    *bytes += ftell(file);
    if (fclose(file) != 0 && good) return ganz_fail_errno(err, "write", path);
    return status;
}
