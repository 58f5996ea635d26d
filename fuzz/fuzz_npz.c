/* Any bytes as an archive of numpy: refused with a sentence, or every tensor lies where its size says and can be read.
 */
#include "fuzz.h"
#include "fuzz_tensors.h"

static ganz_status read_file(ganz_tensors *t, const uint8_t *data, size_t bytes, ganz_error *err)
{
    return ganz_read_npz(t, data, bytes, "fuzz", err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_tensors(read_file, data, bytes);
    return 0;
}
