/* Any bytes as a file of torch.save, as tensors alone or as a checkpoint: refused with a sentence, or every tensor lies
 * where its size says and can be read. */
#include "fuzz.h"
#include "fuzz_tensors.h"

static ganz_status read_file(ganz_tensors *t, const uint8_t *data, size_t bytes, ganz_error *err)
{
    return ganz_read_torch(t, NULL, data, bytes, "fuzz", err);
}

static ganz_status read_checkpoint(ganz_tensors *t, const uint8_t *data, size_t bytes, ganz_error *err)
{
    ganz_options options = {0};
    const ganz_status status = ganz_read_torch(t, &options, data, bytes, "fuzz", err);
    ganz_options_close(&options);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_tensors(read_file, data, bytes);
    fuzz_tensors(read_checkpoint, data, bytes);
    return 0;
}
