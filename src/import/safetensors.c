/* Hugging Face's files are ganz's own container: its reader does it. */
#include "import/formats.h"

#include <string.h>

static ganz_status add_all(ganz_tensors *tensors, const ganz_container *file, ganz_error *err)
{
    for (int i = 0; i < ganz_container_count(file); i++) {
        const ganz_entry *const e = ganz_container_at(file, i);
        ganz_foreign t = {
            .name = (char *)(uintptr_t)e->name, .dtype = e->dtype, .rank = e->rank, .data = e->data, .bytes = e->bytes};
        memcpy(t.dims, e->dims, sizeof t.dims);
        GANZ_TRY(ganz_tensors_add(tensors, &t, err));
    }
    return GANZ_OK;
}

ganz_status ganz_read_safetensors(ganz_tensors *tensors, const void *data, size_t bytes, const char *name,
                                  ganz_error *err)
{
    ganz_container *file;
    GANZ_TRY(ganz_container_parse(&file, data, bytes, name, err));
    const ganz_status status = add_all(tensors, file, err);
    ganz_container_close(&file);
    return status;
}
