/* Any bytes as a checkpoint of TensorFlow: refused with a sentence, or every tensor lies where its size says and can be
 * read. Two bytes say how long the index is; what follows it are two files of data, halves of the rest. */
#include "fuzz.h"
#include "fuzz_tensors.h"

static ganz_status read_file(ganz_tensors *t, const uint8_t *data, size_t bytes, ganz_error *err)
{
    if (bytes < 2) return ganz_fail(err, GANZ_EFORMAT, "too short");
    const size_t wanted = (size_t)data[0] | (size_t)data[1] << 8, left = bytes - 2;
    const size_t index = wanted < left ? wanted : left, half = (left - index) / 2;
    const ganz_bytes shard[] = {{data + 2 + index, half}, {data + 2 + index + half, left - index - half}};
    const ganz_bundle bundle = {{data + 2, index}, shard, 2};
    return ganz_read_bundle(t, &bundle, "fuzz", err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_tensors(read_file, data, bytes);
    return 0;
}
