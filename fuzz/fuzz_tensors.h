/* What readers of foreign tensors promise, whatever the format. */
#ifndef GANZ_FUZZ_FUZZ_TENSORS_H
#define GANZ_FUZZ_FUZZ_TENSORS_H

#include "fuzz.h"
#include "import/formats.h"

typedef ganz_status (*fuzz_reader)(ganz_tensors *tensors, const uint8_t *data, size_t bytes, ganz_error *err);

static void fuzz_tensor(const ganz_tensors *tensors, const ganz_foreign *t)
{
    size_t count;
    float value[16];
    FUZZ_EXPECT(ganz_tensors_find(tensors, t->name) == t);
    FUZZ_EXPECT(ganz_foreign_count(t, &count) && count * ganz_dtype_bytes(t->dtype) == t->bytes);
    if (count > 0) ganz_foreign_values(t, count - 1, 1, value);
    if (count > 0) ganz_foreign_values(t, 0, count < 16 ? count : 16, value);
}

static void fuzz_tensors(fuzz_reader read, const uint8_t *data, size_t bytes)
{
    ganz_tensors tensors = {0};
    ganz_error err = {0};
    if (read(&tensors, data, bytes, &err) != GANZ_OK) FUZZ_EXPECT(err.message[0]);
    for (int i = 0; i < tensors.count; i++) fuzz_tensor(&tensors, &tensors.list[i]);
    ganz_tensors_close(&tensors);
}

#endif
