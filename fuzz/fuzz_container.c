/* Any bytes as a safetensors file: it is refused, or every tensor lies inside it, apart from all others, with
 * the size its shape says, and is found again by its name. */
#include <string.h>

#include "fuzz.h"
#include "model/container.h"

static void check_entry(const ganz_container *c, int i, const uint8_t *data, size_t size)
{
    const ganz_entry *const e = ganz_container_at(c, i);
    const uint8_t *const begin = e->data;
    FUZZ_EXPECT(begin >= data && begin <= data + size && e->bytes <= (size_t)(data + size - begin));
    size_t bytes = ganz_dtype_bytes(e->dtype);
    for (int d = 0; d < e->rank; d++) bytes *= (size_t)e->dims[d];
    FUZZ_EXPECT(bytes == e->bytes);
    FUZZ_EXPECT(ganz_container_find(c, e->name) == e);
    if (i > 0) {
        const ganz_entry *const before = ganz_container_at(c, i - 1);
        FUZZ_EXPECT((const uint8_t *)before->data + before->bytes == begin);
    }
    const ganz_entry *got;
    ganz_error err;
    if (ganz_container_get(c, e->name, GANZ_DTYPE_F32, 2, (int64_t[]){-1, 3}, &got, &err) == GANZ_OK)
        FUZZ_EXPECT(got == e);
}

static void read_file(const uint8_t *data, size_t size)
{
    ganz_container *c;
    ganz_error err;
    if (ganz_container_parse(&c, data, size, "fuzz", &err) != GANZ_OK) {
        FUZZ_EXPECT(c == NULL && strlen(err.message) < sizeof err.message);
        return;
    }
    for (int i = 0; i < ganz_container_count(c); i++) check_entry(c, i, data, size);
    int64_t number;
    double value;
    (void)ganz_container_get_int(c, "n", 0, 9, &number, &err);
    (void)ganz_container_get_real(c, "n", &value, &err);
    (void)ganz_container_verify(c, &err);
    ganz_container_close(&c);
}

/* The first byte decides: 255, the rest is a file; else it is a header with so many bytes of data behind it,
 * so that changes to the header are not lost on a wrong length. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const size_t rest = size - 1, file_bytes = data[0] == 255 ? rest : 8 + rest + data[0];
    uint8_t *const file = calloc(1, file_bytes ? file_bytes : 1);
    FUZZ_EXPECT(file);
    if (data[0] == 255) {
        memcpy(file, data + 1, rest);
    } else {
        for (int i = 0; i < 8; i++) file[i] = (uint8_t)((uint64_t)rest >> 8 * i);
        memcpy(file + 8, data + 1, rest);
    }
    read_file(file, file_bytes);
    free(file);
    return 0;
}
