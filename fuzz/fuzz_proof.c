/* Proofs of parts: what is read as one is within its bounds. */
#include <stdlib.h>
#include <string.h>

#include "bulk/bulk.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    ganz_proof proof;
    char *const text = malloc(bytes + 1);
    if (!text) return 0;
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    if (ganz_proof_parse(&proof, text)) {
        const ganz_part *const p = &proof.part;
        if (p->number < 1 || p->number > p->count || p->begin > p->end || p->end > p->input_bytes) abort();
    }
    free(text);
    return 0;
}
