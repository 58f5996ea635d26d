/* Any bytes as a model of CTranslate2: refused with a sentence, or every tensor lies where its size says and can be
 * read. */
#include "fuzz.h"
#include "fuzz_tensors.h"

static ganz_status read_file(ganz_tensors *t, const uint8_t *data, size_t bytes, ganz_error *err)
{
    ganz_ct2_file file;
    return ganz_read_ctranslate2(t, &file, data, bytes, "fuzz", err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_tensors(read_file, data, bytes);
    return 0;
}
